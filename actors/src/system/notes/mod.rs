//! `note.*`: what a login must know before it works, and the gate that stands in front of every other verb until it was read.
//!
//! `gate` is asked by `Verb::run`, so by every door; `reading` answers from the view of the notes, `saving` and `sessions` bring
//! changes to their stream; `body` reads the HTML of a note, `markdown` writes it for prompts.

mod body;
mod gate;
mod markdown;
mod reading;
mod saving;
mod sessions;
mod shown;

use std::sync::Arc;

use memlog_events::ids::StreamKey;

use super::{System, command::refused as refused_elsewhere, lookup::lock, notebooks::room::unread, past::Moment};
use crate::{
    api::{Context, Error, error::Kind},
    domain::{Place, Rejection},
    entity::Failure,
    limits::NOTE_KINDS_MAX,
    view::{
        notebook::View,
        notes::{Board, Reader},
    },
};

/// A rejection of the notes that means the same for every command.
pub(crate) fn refused(rejection: &Rejection) -> Error {
    match rejection {
        Rejection::NoNote => Error::new(Kind::NotFound, "no such note"),
        Rejection::NotesHeld => Error::new(Kind::Locked, "an editor holds the notes"),
        Rejection::NoKind => Error::invalid("kind_key", "no such kind of notes; note.kinds lists them"),
        Rejection::KindTaken => Error::new(Kind::Conflict, "there is a kind of that key").with("field", "kind_key"),
        Rejection::TooManyKinds => {
            let message = format!("a namespace adds at most {NOTE_KINDS_MAX} kinds of notes");
            Error::invalid("kind_key", message).with("limit", NOTE_KINDS_MAX)
        }
        Rejection::Misplaced("group") => {
            Error::invalid("group", "group goes with the level group, which must have one")
        }
        Rejection::Misplaced(field) => Error::invalid(field, format!("{field} goes with the level own")),
        Rejection::NoSession => Error::new(Kind::NotFound, "no such session"),
        _ => super::lookup::gone(),
    }
}

fn no_note(number: u64) -> Error {
    Error::new(Kind::NotFound, format!("no such note: {number}")).with("id", number)
}

/// Who asks, as the view of the notes knows readers.
fn reader(context: &Context) -> Reader<'_> {
    Reader { login: &context.caller.user, groups: &context.caller.groups }
}

fn administrators_only(context: &Context) -> Result<(), Error> {
    if context.caller.admin { Ok(()) } else { Err(Error::new(Kind::Permission, "this is an administrator's to do")) }
}

/// Namespaces whose place is kept in mind; what is dropped is looked up again.
const PLACES_MAX: usize = 100_000;

/// Notes at a moment. Who may read what is asked of now, also in a read of the past.
struct Seen {
    place: Place,
    now: Arc<View<Board>>,
    past: Option<Board>,
}

impl Seen {
    /// The notes that were asked about, and those of now.
    fn read<T>(&self, look: impl FnOnce(&Board, &Board) -> T) -> T {
        self.now.read(|now| look(self.past.as_ref().unwrap_or(now), now))
    }
}

impl System {
    /// Where a namespace's notes lie; none if nothing was ever created in it. Registries stay, so what was found once is.
    fn find_notes(&self, context: &Context) -> Result<Option<Place>, Error> {
        if let Some(place) = lock(&self.inner.places).get(&context.namespace) {
            return Ok(Some(*place));
        }
        let Some(registry) = self.inner.find_registry(context)? else { return Ok(None) };
        let place = of_registry(registry);
        let mut places = lock(&self.inner.places);
        if places.len() >= PLACES_MAX {
            places.clear();
        }
        places.insert(context.namespace.clone(), place);
        Ok(Some(place))
    }

    async fn open_notes(&self, context: &Context) -> Result<Place, Error> {
        match self.find_notes(context)? {
            Some(place) => Ok(place),
            None => Ok(of_registry(self.inner.open_registry(context).await?)),
        }
    }

    /// The view of the notes, with everything that was acknowledged before this call.
    async fn board(&self, place: &Place) -> Result<Arc<View<Board>>, Error> {
        self.inner.shelf.board(place.key, self.now()).await.map_err(unread)
    }

    async fn notes_at(&self, context: &Context, moment: Moment) -> Result<Option<Seen>, Error> {
        let Some(place) = self.find_notes(context)? else { return Ok(None) };
        let now = self.board(&place).await?;
        let past = match moment {
            Moment::Now => None,
            Moment::Past(at) => Some(self.inner.shelf.past(place.key, at).await.map_err(unread)?),
        };
        Ok(Some(Seen { place, now, past }))
    }

    /// Why a command on notes came to nothing: of a hold, who has it.
    async fn notes_refused(&self, place: &Place, number: Option<u64>, failure: Failure) -> Error {
        match failure {
            Failure::Rejected(Rejection::NoNote) => number.map_or_else(|| refused(&Rejection::NoNote), no_note),
            Failure::Rejected(Rejection::NotesHeld) => match self.board(place).await {
                Ok(board) => {
                    let holder = board.read(|board| board.last_editor().cloned()).flatten();
                    refused(&Rejection::NotesHeld).with("held_by", holder)
                }
                Err(error) => error,
            },
            other => refused_elsewhere(other),
        }
    }
}

fn of_registry(registry: Place) -> Place {
    let stream = registry.key.scope.notes_stream();
    Place { key: StreamKey { stream, ..registry.key }, scope_slot: registry.scope_slot }
}
