//! Save: an entry gets a new version, and begins with its first.

use memlog_events::{
    batch::Outcome,
    event::{ByV1, Content, EntrySavedContentV1, EntrySavedV1, Facts},
    ids::{EntryId, KeyPath, StreamId},
};

use super::{EntryName, Notebook};
use crate::domain::{Answered, Command, Decision, Fact, Inputs, Place, Rejection};

/// Writes an entry.
#[derive(Clone, PartialEq, Debug)]
pub struct SaveEntry {
    /// Which one.
    pub entry: EntryName,
    /// One line; a new entry must have it, an old one keeps what it has.
    pub description: Option<String>,
    /// Markdown.
    pub content: String,
    /// The version that it must still be at.
    pub expected: Option<u64>,
    /// Who saves it.
    pub by: ByV1,
}

/// What was saved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SavedEntry {
    /// The memory.
    pub memory: StreamId,
    /// The entry.
    pub entry: EntryId,
    /// Its version now.
    pub version: u64,
}

impl Answered for SavedEntry {
    fn outcome(&self) -> Outcome {
        Outcome { ids: vec![self.memory.0, self.entry.0], numbers: vec![self.version] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match (outcome.ids.as_slice(), outcome.numbers.as_slice()) {
            ([memory, entry], [version]) => {
                Some(Self { memory: StreamId(*memory), entry: EntryId(*entry), version: *version })
            }
            _ => None,
        }
    }
}

impl Command<Notebook> for SaveEntry {
    type Answer = SavedEntry;

    fn decide(
        &self,
        state: &Notebook,
        place: &Place,
        inputs: &mut dyn Inputs,
    ) -> Result<Decision<SavedEntry>, Rejection> {
        let (layer, name_digest) = self.entry.at(inputs);
        let known = state.names.get(&(layer, name_digest)).copied().unwrap_or_default();
        if self.expected.is_some_and(|expected| known.living.is_none() || expected != known.version) {
            return Err(Rejection::VersionMoved(known.living.map(|_| known.version)));
        }
        if known.living.is_none() && self.description.is_none() {
            return Err(Rejection::NotDescribed);
        }
        let (entry, slot) = known.living.unwrap_or_else(|| (EntryId(inputs.uuid()), inputs.slot()));
        let version = known.version + 1;
        let keys = KeyPath { scope: place.scope_slot, stream: self.entry.notebook, subject: slot };
        let content = EntrySavedContentV1 {
            name: self.entry.name.clone(),
            description: self.description.clone(),
            content: self.content.clone(),
            user_id: self.entry.user.clone(),
            by: self.by.clone(),
        };
        let facts = Facts::EntrySaved(EntrySavedV1 { entry, slot, layer, name_digest, version });
        let fact = Fact { facts, content: Some((Content::EntrySaved(content), keys)) };
        Ok(Decision::of(vec![fact], SavedEntry { memory: place.key.stream, entry, version }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        notebook::ForgetEntry,
        testing::{Story, entry, save},
    };

    // An agent that read version 1 must not overwrite what another one wrote since.
    #[test]
    fn a_stale_version_changes_nothing() {
        let mut given = Story::<Notebook>::new();
        let first = given.do_(save(None, "tone"));
        let second = given.do_(SaveEntry { description: None, expected: Some(1), ..save(None, "tone") });
        assert_eq!((first.entry, first.version, second.version), (second.entry, 1, 2));
        let stale = SaveEntry { expected: Some(1), ..save(None, "tone") };
        assert_eq!(given.try_(stale).expect_err("refused"), Rejection::VersionMoved(Some(2)));
        let nowhere = SaveEntry { expected: Some(1), ..save(None, "prices") };
        assert_eq!(given.try_(nowhere).expect_err("refused"), Rejection::VersionMoved(None));
        assert_eq!(given.names(), ["entry_saved", "entry_saved"]);
    }

    // A version that was seen once must never mean another text.
    #[test]
    fn versions_only_grow_also_across_forgetting() {
        let mut given = Story::<Notebook>::new();
        let first = given.do_(save(None, "tone"));
        given.do_(ForgetEntry { entry: entry(None, "tone"), expected: None, by: ByV1::default() });
        let undescribed = SaveEntry { description: None, ..save(None, "tone") };
        assert_eq!(given.try_(undescribed).expect_err("refused"), Rejection::NotDescribed);
        let again = given.do_(save(None, "tone"));
        assert_eq!(again.version, 2);
        assert_ne!(again.entry, first.entry);
    }

    #[test]
    fn each_user_and_the_account_have_an_entry_of_that_name() {
        let mut given = Story::<Notebook>::new();
        let all = [None, Some("ann"), Some("bob")].map(|user| given.do_(save(user, "tone")));
        assert_eq!(all.map(|saved| saved.version), [1, 1, 1]);
        assert!(all[0].entry != all[1].entry && all[1].entry != all[2].entry);
        assert_eq!(given.state.names.len(), 3);
    }
}
