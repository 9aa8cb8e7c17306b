//! Remove: a note is gone with all it ever said. Its number is never used again.

use memlog_events::event::{ByV1, Facts, NoteRemovedV1};

use super::{Notes, Numbered, Role, login_digest, told};
use crate::domain::{Command, Decision, Inputs, Place, Rejection};

/// Removes a note.
#[derive(Clone, PartialEq, Debug)]
pub struct RemoveNote {
    /// Its number.
    pub note: u64,
    /// As whom.
    pub role: Role,
    /// Who removes it.
    pub login: Option<String>,
    /// The same, as events tell it.
    pub by: ByV1,
}

impl Command<Notes> for RemoveNote {
    type Answer = Numbered;

    fn decide(&self, state: &Notes, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Numbered>, Rejection> {
        let login = login_digest(self.login.as_ref(), place, inputs);
        state.may_change(self.role, login, inputs.now())?;
        let slot = state.changeable(self.note, self.role, login)?.slot;
        let facts = Facts::NoteRemoved(NoteRemovedV1 { note: self.note, slot });
        Ok(Decision::of(vec![told(facts, &self.by, place)], Numbered(self.note)))
    }
}
