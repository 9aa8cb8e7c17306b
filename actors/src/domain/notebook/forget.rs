//! Forget: an entry is gone with all its versions; its next one will be a later version all the same.

use memlog_events::event::{ByV1, EntryForgotV1, Facts};

use super::{EntryName, Notebook};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Forgets an entry.
#[derive(Clone, PartialEq, Debug)]
pub struct ForgetEntry {
    /// Which one.
    pub entry: EntryName,
    /// The version that it must still be at.
    pub expected: Option<u64>,
    /// Who forgets it.
    pub by: ByV1,
}

impl Command<Notebook> for ForgetEntry {
    type Answer = ();

    fn decide(&self, state: &Notebook, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        let known = state.names.get(&self.entry.at(inputs)).copied().unwrap_or_default();
        let (entry, slot) = known.living.ok_or(Rejection::NoEntry)?;
        if self.expected.is_some_and(|expected| expected != known.version) {
            return Err(Rejection::VersionMoved(Some(known.version)));
        }
        let facts = Facts::EntryForgot(EntryForgotV1 { entry, slot });
        Ok(Decision::of(vec![Fact { facts, content: self.entry.by(&self.by, place) }], ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::{Story, entry, save};

    fn forget(user: Option<&str>, expected: Option<u64>) -> ForgetEntry {
        ForgetEntry { entry: entry(user, "tone"), expected, by: ByV1::default() }
    }

    #[test]
    fn one_event_one_slot_and_only_at_the_version_that_was_seen() {
        let mut given = Story::<Notebook>::new();
        given.do_(save(None, "tone"));
        given.do_(save(None, "tone"));
        assert_eq!(given.try_(forget(None, Some(1))).expect_err("refused"), Rejection::VersionMoved(Some(2)));
        assert_eq!(given.try_(forget(Some("ann"), None)).expect_err("refused"), Rejection::NoEntry);
        given.do_(forget(None, Some(2)));
        assert_eq!(given.last().facts.erases().len(), 1);
        assert_eq!(given.try_(forget(None, None)).expect_err("refused"), Rejection::NoEntry);
    }
}
