//! `thread.*`: one file a family of verbs. `thread_id` is only the address: every verb but `create` and `list` on a thread that
//! is not there is 404.
//!
//! Who changes something reads it, works out what it is to be, and brings that to the thread; `Inner::edits` keeps two from doing so
//! to the same thing at once.

mod answer;
mod card;
mod changes;
mod content;
mod images;
mod links;
mod memories;
mod messages;
mod pictures;
mod relating;
mod search;
pub(crate) mod settings;
mod summary;
mod threads;
mod ttl;
mod wait;

use memlog_events::ids::{Digest, Position, StreamKey};
pub(super) use pictures::permits;
pub(crate) use settings::{SHORTENING_TOKENS_DEFAULT, extraction_of, inherits, is_inline, retention};
pub(crate) use ttl::{Anchors, Ttl, warnings};

use uuid::Uuid;

use super::{System, gate::Pass, lookup::broken, past::Moment, past::Seen, validate};
use crate::{
    api::{AsOf, Context, Error, thread::Settings},
    domain::Place,
    view::{State, catalog},
};

/// A thread that is there, and the views it was found in.
#[derive(Clone)]
pub(super) struct Here {
    /// The profile.
    pub(super) profile: Place,
    /// The thread's own stream.
    pub(super) place: Place,
    /// Its number in the catalog.
    pub(super) number: u32,
    /// The views.
    pub(super) seen: Seen,
    /// What the views are true for.
    pub(super) moment: Moment,
    /// A position up to which they have everything.
    pub(super) promised: Position,
}

impl Here {
    /// Reads the views; keep it short.
    pub(super) fn read<T>(&self, look: impl FnOnce(&State, &catalog::Thread) -> T) -> Option<T> {
        self.seen.read(|state| state.catalog.thread(self.number).map(|thread| look(state, thread)))
    }
}

/// What is said of a thread that is not there.
pub(super) fn no_thread(thread_id: &str) -> Error {
    Error::not_found("thread_id", thread_id)
}

impl System {
    /// Checks what every verb has in common, and finds the thread as of now.
    pub(super) async fn in_thread(&self, context: &Context, profile: &str, thread_id: &str) -> Result<Here, Error> {
        self.in_thread_at(context, profile, thread_id, None).await
    }

    /// The same at a moment.
    pub(super) async fn in_thread_at(
        &self,
        context: &Context,
        profile: &str,
        thread_id: &str,
        as_of: Option<AsOf>,
    ) -> Result<Here, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(profile)?;
        validate::id("thread_id", thread_id)?;
        let moment = self.moment(as_of)?;
        let profile = self.inner.profile(context, profile)?;
        self.here(profile, thread_id, moment).await
    }

    /// The settings of a session; those of one that is to be opened are the defaults.
    pub(super) async fn settings_of_session(&self, profile: &Place, session_id: &str) -> Result<Settings, Error> {
        let views = self.views(*profile).await?;
        let state = views.read();
        let thread = state.catalog.session(session_id).and_then(|number| state.catalog.thread(number));
        Ok(thread.map(|thread| thread.settings.clone()).unwrap_or_default())
    }

    /// Waits for whoever gives one of the same ids just now. The passes to hold until the command is through; or whose one of the
    /// ids is already.
    pub(super) async fn with_ids<'a>(
        &self,
        profile: &Place,
        given: impl IntoIterator<Item = &'a str>,
    ) -> Result<Result<Vec<Pass<'_, Digest>>, Uuid>, Error> {
        let log = &self.inner.environment.log;
        let mut ids = Vec::new();
        for id in given {
            ids.extend(log.digest_in(profile.scope_slot, &[b"id", id.as_bytes()]).map_err(broken)?);
        }
        let passes = self.inner.ids.enter_all(ids.clone()).await;
        for id in ids {
            if let Some(holder) = log.claim(id).map_err(broken)? {
                return Ok(Err(holder.id));
            }
        }
        Ok(Ok(passes))
    }

    /// Finds a thread of a profile.
    pub(super) async fn here(&self, profile: Place, thread_id: &str, moment: Moment) -> Result<Here, Error> {
        // Before the views are read: what comes later is not promised.
        let promised = self.position_of(moment);
        let seen = self.views_at(profile, moment).await?;
        let found = seen.read(|state| {
            let number = state.catalog.session(thread_id)?;
            Some((number, state.catalog.thread(number)?.stream))
        });
        let (number, stream) = found.ok_or_else(|| no_thread(thread_id))?;
        let place = Place { key: StreamKey { stream, ..profile.key }, ..profile };
        Ok(Here { profile, place, number, seen, moment, promised })
    }
}
