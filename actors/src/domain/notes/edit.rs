//! Edit: an administrator holds the notes, so that nobody else changes them under the editor. The hold is a lease: an editor that
//! crashed cannot keep it.

use memlog_events::{
    batch::Outcome,
    event::{ByV1, EditorClosedV1, EditorOpenedV1, Facts},
    ids::Micros,
};

use super::{Notes, login_digest, told};
use crate::{
    domain::{Answered, Command, Decision, Inputs, Place, Rejection},
    limits::EDITOR_LEASE_S,
};

/// Opens the hold, or renews it.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenEditor {
    /// Who holds it.
    pub login: Option<String>,
    /// The same, as events tell it.
    pub by: ByV1,
}

/// Until when it is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held(pub Micros);

impl Answered for Held {
    fn outcome(&self) -> Outcome {
        Outcome { ids: Vec::new(), numbers: vec![self.0.0.cast_unsigned()] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match (outcome.ids.as_slice(), outcome.numbers.as_slice()) {
            ([], [until]) => Some(Self(Micros(until.cast_signed()))),
            _ => None,
        }
    }
}

impl Command<Notes> for OpenEditor {
    type Answer = Held;

    fn decide(&self, state: &Notes, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Held>, Rejection> {
        let login = login_digest(self.login.as_ref(), place, inputs);
        if state.editor(inputs.now()).is_some_and(|editor| editor.login != login) {
            return Err(Rejection::NotesHeld);
        }
        let expires_at = Micros(inputs.now().0.saturating_add(EDITOR_LEASE_S * 1_000_000));
        let facts = Facts::EditorOpened(EditorOpenedV1 { login, expires_at });
        Ok(Decision::of(vec![told(facts, &self.by, place)], Held(expires_at)))
    }
}

/// Gives the hold back; one that ran out is no more.
#[derive(Clone, PartialEq, Debug)]
pub struct CloseEditor {
    /// Who held it.
    pub login: Option<String>,
    /// The same, as events tell it.
    pub by: ByV1,
}

impl Command<Notes> for CloseEditor {
    type Answer = ();

    fn decide(&self, state: &Notes, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        let login = login_digest(self.login.as_ref(), place, inputs);
        match state.editor(inputs.now()) {
            None => Ok(Decision::nothing(())),
            Some(editor) if editor.login != login => Err(Rejection::NotesHeld),
            Some(editor) => {
                let facts = Facts::EditorClosed(EditorClosedV1 { expires_at: editor.expires_at });
                Ok(Decision::of(vec![told(facts, &self.by, place)], ()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        notes::{RemoveNote, Role},
        testing::{Story, note},
    };

    fn open(login: &str) -> OpenEditor {
        OpenEditor { login: Some(login.to_owned()), by: ByV1::default() }
    }

    fn close(login: &str) -> CloseEditor {
        CloseEditor { login: Some(login.to_owned()), by: ByV1::default() }
    }

    const LEASE: i64 = EDITOR_LEASE_S * 1_000_000;

    // Two people who edit the same notes would each undo what the other did.
    #[test]
    fn one_holds_the_notes_and_the_others_wait() {
        let mut given = Story::<Notes>::new();
        let anns = given.do_(note("ann", Role::Member)).0;
        assert_eq!(given.do_(open("root")).0.0, given.now().0 + LEASE);
        let remove =
            |login: &str, role| RemoveNote { note: anns, role, login: Some(login.to_owned()), by: ByV1::default() };
        for (login, role) in [("ann", Role::Member), ("root", Role::Member), ("boss", Role::Admin)] {
            assert_eq!(given.try_(note(login, role)).expect_err("refused"), Rejection::NotesHeld);
            assert_eq!(given.try_(remove(login, role)).expect_err("refused"), Rejection::NotesHeld);
        }
        assert_eq!(given.try_(open("boss")).expect_err("refused"), Rejection::NotesHeld);
        assert_eq!(given.try_(close("boss")).expect_err("refused"), Rejection::NotesHeld);
        given.do_(note("root", Role::Admin));
        given.do_(close("root"));
        given.do_(close("boss"));
        given.do_(remove("ann", Role::Member));
        assert_eq!(given.names().last(), Some(&"note_removed"));
    }

    // Whoever crashed with an open editor does not come back to close it.
    #[test]
    fn a_hold_ends_by_itself_unless_it_is_renewed() {
        let mut given = Story::<Notes>::new();
        given.do_(open("root"));
        given.advance(LEASE - 1);
        given.do_(open("root"));
        given.advance(LEASE - 1);
        assert_eq!(given.try_(note("ann", Role::Member)).expect_err("refused"), Rejection::NotesHeld);
        given.advance(1);
        given.do_(note("ann", Role::Member));
        given.do_(open("boss"));
    }

    // A clock that was years ahead for a moment must not lock everybody out for years.
    #[test]
    fn a_hold_of_a_clock_that_was_set_back_is_none() {
        let mut given = Story::<Notes>::new();
        given.do_(open("root"));
        given.advance(-LEASE);
        assert_eq!(
            given.try_(open("boss")).expect_err("refused"),
            Rejection::NotesHeld,
            "a little back it still holds"
        );
        given.advance(-1);
        given.do_(open("boss"));
        assert_eq!(given.try_(open("root")).expect_err("refused"), Rejection::NotesHeld);
    }
}
