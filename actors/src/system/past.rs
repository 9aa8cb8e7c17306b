//! Reads of now and of the past through one door.

use std::sync::Arc;

use memlog_events::ids::Position;

use super::{
    System,
    cursor::Cursor,
    lookup::{RETRY_MS, broken},
};
use crate::{
    api::{AsOf, Error},
    domain::Place,
    view::{NotLoaded, ProfileViews, State, embedding::NotEmbedded},
};

/// What a read is true for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    /// The log's head when the read arrived.
    Now,
    /// A position of the past.
    Past(Position),
}

impl Moment {
    /// The position that the further pages of a list are pinned to; 0 if they may be read as of their own time.
    pub(crate) fn pinned(self) -> u64 {
        match self {
            Self::Now => 0,
            Self::Past(position) => position.0,
        }
    }
}

/// Views at a moment.
#[derive(Clone)]
pub(crate) enum Seen {
    /// Of now.
    Present(Arc<ProfileViews>),
    /// Of the past; they never change but for vectors that were missing.
    Past(Arc<ProfileViews>),
}

impl Seen {
    /// Reads; keep it short.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        let (Self::Present(views) | Self::Past(views)) = self;
        look(&views.read())
    }
}

impl System {
    /// The moment that a request asks about. A position that has not been yet is refused.
    pub(crate) fn moment(&self, as_of: Option<AsOf>) -> Result<Moment, Error> {
        let log = &self.inner.environment.log;
        match as_of {
            None => Ok(Moment::Now),
            Some(AsOf::Seq(seq)) if seq > log.head().0 => {
                let head = log.head().0;
                Err(Error::invalid("as_of", format!("as_of.seq is past the log's head {head}")).with("limit", head))
            }
            Some(AsOf::Seq(seq)) => Ok(self.moment_at(Position(seq))),
            Some(AsOf::Time(time)) => Ok(self.moment_at(log.position_at(time.0).map_err(broken)?)),
        }
    }

    /// The moment of a page: the one that its cursor is pinned to, else the one asked about.
    pub(crate) fn moment_of(&self, cursor: Option<&Cursor>, as_of: Option<AsOf>) -> Result<Moment, Error> {
        match cursor.map(|cursor| cursor.seq) {
            Some(0) => Ok(Moment::Now),
            Some(seq) => Ok(self.moment_at(Position(seq))),
            None => self.moment(as_of),
        }
    }

    /// The same, by position.
    pub(crate) fn moment_at(&self, position: Position) -> Moment {
        if position >= self.inner.environment.log.head() { Moment::Now } else { Moment::Past(position) }
    }

    /// The position that a moment stands for.
    pub(crate) fn position_of(&self, moment: Moment) -> Position {
        match moment {
            Moment::Now => self.inner.registry.head(),
            Moment::Past(position) => position,
        }
    }

    /// A profile's views at a moment.
    pub(crate) async fn views_at(&self, place: Place, moment: Moment) -> Result<Seen, Error> {
        match moment {
            Moment::Now => Ok(Seen::Present(self.views(place).await?)),
            Moment::Past(position) => {
                Ok(Seen::Past(self.inner.registry.past(place, position).await.map_err(not_loaded)?))
            }
        }
    }

    /// A profile's views as of now.
    pub(crate) async fn views(&self, place: Place) -> Result<Arc<ProfileViews>, Error> {
        self.inner.registry.present(place, self.now()).await.map_err(not_loaded)
    }
}

/// Views that are not to be had, as an error of the API.
pub(crate) fn not_loaded(error: NotLoaded) -> Error {
    match &error {
        NotLoaded::Budget { budget } => {
            Error::unavailable(error.to_string(), RETRY_MS).with("field", "memory_budget_bytes").with("limit", *budget)
        }
        NotLoaded::Log(_) | NotLoaded::Late => Error::unavailable(error.to_string(), RETRY_MS),
    }
}

/// A question that has no vector, as an error of the API.
pub(crate) fn not_embedded(error: NotEmbedded) -> Error {
    let unavailable = Error::unavailable(error.to_string(), RETRY_MS);
    match error {
        NotEmbedded::Full { limit } => unavailable.with("field", "embed_queries_max").with("limit", limit),
        _ => unavailable,
    }
}
