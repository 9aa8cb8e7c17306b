//! Load: a session has read notes. Only critical ones are worth remembering.

use memlog_events::{
    event::{ByV1, Facts, NotesLoadedV1},
    ids::SessionId,
};

use super::{Notes, told};
use crate::domain::{Command, Decision, Inputs, Place, Rejection};

/// Marks critical notes as read.
#[derive(Clone, PartialEq, Debug)]
pub struct Load {
    /// By whom.
    pub session: SessionId,
    /// The notes, each with the admission that was read.
    pub notes: Vec<(u64, u64)>,
    /// Whose session it is.
    pub by: ByV1,
}

impl Command<Notes> for Load {
    type Answer = ();

    fn decide(&self, state: &Notes, place: &Place, _: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        let session = state.sessions.get(&self.session).ok_or(Rejection::NoSession)?;
        // Admitted again since it was read: it is to be read again.
        let current = |note: u64, admission| state.notes.get(&note).is_some_and(|it| it.admission == admission);
        let news = self.notes.iter().copied().filter(|(note, admission)| {
            *admission != 0 && current(*note, *admission) && session.read.get(note) != Some(admission)
        });
        let notes: Vec<_> = news.collect();
        if notes.is_empty() {
            return Ok(Decision::nothing(()));
        }
        let facts = Facts::NotesLoaded(NotesLoadedV1 { session: self.session, notes });
        Ok(Decision::of(vec![told(facts, &self.by, place)], ()))
    }
}
