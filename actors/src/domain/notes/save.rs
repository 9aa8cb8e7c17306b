//! Save: a note is new, or some of it changes.

use memlog_events::{
    code::{KindCode, LevelCode},
    event::{ByV1, Content, Facts, NoteSavedContentV1, NoteSavedV1, ReadersV1},
    ids::Digest,
};

use super::{Note, Notes, Numbered, Readers, Role, built_in, group_digest, kind_digest, login_digest};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Saves a note.
#[derive(Clone, PartialEq, Debug)]
pub struct SaveNote {
    /// Which one; none is a new one.
    pub note: Option<u64>,
    /// As whom.
    pub role: Role,
    /// Who saves it.
    pub login: Option<String>,
    /// Who is to read it; a member's are its own.
    pub placing: Placing,
    /// Its kind; a new one is `kDefault` unless this says otherwise.
    pub kind_key: Option<String>,
    /// What it says.
    pub texts: Texts,
    /// Who saves it, as events tell it.
    pub by: ByV1,
}

/// Who is to read a note. What is left out stays as it is; a new note is its saver's own.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Placing {
    /// The level.
    pub level: Option<LevelCode>,
    /// Its group, where the level asks for one.
    pub group: Option<String>,
    /// Whose own it is.
    pub login: Option<String>,
}

/// What a note says. What is left out stays as it is.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Texts {
    /// A short name.
    pub name: Option<String>,
    /// What it is grouped by; empty is nothing.
    pub category: Option<String>,
    /// One line; empty is none.
    pub info: Option<String>,
    /// Simple HTML.
    pub body: Option<String>,
}

/// Who reads it from now on; the words only if they change.
type Placed = (Readers, Option<ReadersV1>);

impl SaveNote {
    fn placed(&self, known: Option<&Note>, place: &Place, inputs: &dyn Inputs) -> Result<Placed, Rejection> {
        let Placing { level, group, login } = &self.placing;
        let before = known.map(|note| note.readers);
        let level = level.or(before.map(|it| it.level)).unwrap_or(LevelCode::OWN);
        let stays = before.filter(|it| it.level == level);
        if level != LevelCode::GROUP && group.is_some() {
            return Err(Rejection::Misplaced("group"));
        }
        if level != LevelCode::OWN && login.is_some() {
            return Err(Rejection::Misplaced("login"));
        }
        if let Some(before) = stays.filter(|_| group.is_none() && login.is_none()) {
            return Ok((before, None));
        }
        if level == LevelCode::GROUP && group.is_none() {
            return Err(Rejection::Misplaced("group"));
        }
        let owner = login.clone().or_else(|| self.login.clone()).filter(|_| level == LevelCode::OWN);
        let digest = |group: &String| group_digest(group, place, inputs);
        let readers =
            Readers { level, login: login_digest(owner.as_ref(), place, inputs), group: group.as_ref().map(digest) };
        Ok((readers, Some(ReadersV1 { group: group.clone(), login: owner })))
    }

    fn kind(
        &self,
        state: &Notes,
        known: Option<&Note>,
        place: &Place,
        inputs: &dyn Inputs,
    ) -> Result<KindCode, Rejection> {
        let Some(key) = &self.kind_key else { return Ok(known.map_or(KindCode::DEFAULT, |note| note.kind)) };
        let added = || state.kinds.get(&kind_digest(key, place, inputs)).copied();
        built_in(key).or_else(added).ok_or(Rejection::NoKind)
    }
}

impl Command<Notes> for SaveNote {
    type Answer = Numbered;

    fn decide(&self, state: &Notes, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Numbered>, Rejection> {
        let login: Option<Digest> = login_digest(self.login.as_ref(), place, inputs);
        state.may_change(self.role, login, inputs.now())?;
        let known = self.note.map(|note| state.changeable(note, self.role, login)).transpose()?;
        let kind = self.kind(state, known, place, inputs)?;
        let (readers, words) = self.placed(known, place, inputs)?;
        let note = self.note.unwrap_or(state.last_note + 1);
        if self.texts == Texts::default() && known.is_some_and(|it| it.kind == kind && it.readers == readers) {
            return Ok(Decision::nothing(Numbered(note)));
        }
        let stays = known.filter(|it| it.kind == kind && it.readers == readers);
        let admission = match stays {
            _ if kind != KindCode::CRITICAL => 0,
            Some(known) => known.admission,
            None => state.last_admission + 1,
        };
        let slot = known.map_or_else(|| inputs.slot(), |known| known.slot);
        let Readers { level, login, group } = readers;
        let facts = Facts::NoteSaved(NoteSavedV1 { note, slot, level, login, group, kind, admission });
        let Texts { name, category, info, body } = self.texts.clone();
        let content = NoteSavedContentV1 { name, category, info, body, readers: words, by: self.by.clone() };
        let content = super::sealed(Content::NoteSaved(content), slot, place);
        Ok(Decision::of(vec![Fact { facts, content }], Numbered(note)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        notes::RemoveNote,
        testing::{Story, change, note},
    };

    fn of_group(group: &str) -> Placing {
        Placing { level: Some(LevelCode::GROUP), group: Some(group.to_owned()), login: None }
    }

    // Whatever number a member sends, it reaches its own notes alone.
    #[test]
    fn a_member_reaches_its_own_alone() {
        let mut given = Story::<Notes>::new();
        let anns = given.do_(note("ann", Role::Member)).0;
        let all = Placing { level: Some(LevelCode::ALL), ..Placing::default() };
        let everyones = given.do_(SaveNote { placing: all, ..note("root", Role::Admin) }).0;
        for (who, number) in [("bob", anns), ("ann", everyones), ("ann", 99)] {
            assert_eq!(given.try_(change(number, who, Role::Member)).expect_err("refused"), Rejection::NoNote);
            let remove =
                RemoveNote { note: number, role: Role::Member, login: Some(who.to_owned()), by: ByV1::default() };
            assert_eq!(given.try_(remove).expect_err("refused"), Rejection::NoNote);
        }
        given.do_(change(anns, "ann", Role::Member));
        given.do_(change(anns, "root", Role::Admin));
        assert_eq!(given.names(), ["note_saved"; 4]);
    }

    // Numbers are in letters and in people's heads: one that was removed must not come to mean another note.
    #[test]
    fn numbers_are_never_used_again() {
        let mut given = Story::<Notes>::new();
        let last = (0..3).map(|_| given.do_(note("ann", Role::Member)).0).last().expect("three");
        let by = ByV1::default();
        given.do_(RemoveNote { note: last, role: Role::Member, login: Some("ann".to_owned()), by });
        assert_eq!(given.last().facts.erases().len(), 1);
        assert_eq!((last, given.do_(note("bob", Role::Member)).0), (3, 4));
    }

    // The text may change under a session that has read it; the kind and the readers may not.
    #[test]
    fn a_note_is_admitted_when_it_becomes_critical_or_gets_other_readers() {
        let mut given = Story::<Notes>::new();
        let critical = SaveNote { kind_key: Some("kCritical".to_owned()), ..note("root", Role::Admin) };
        let number = given.do_(critical).0;
        let change = |placing, kind_key: Option<&str>| SaveNote {
            placing,
            kind_key: kind_key.map(str::to_owned),
            ..change(number, "root", Role::Admin)
        };
        let mut admissions = Vec::new();
        for step in [
            change(Placing::default(), None),
            change(Placing::default(), Some("kCritical")),
            change(of_group("sales"), None),
            change(of_group("sales"), None),
            change(of_group("support"), None),
            change(Placing { level: Some(LevelCode::ALL), ..Placing::default() }, None),
            change(Placing { level: Some(LevelCode::OWN), ..Placing::default() }, None),
            change(Placing { login: Some("ann".to_owned()), ..Placing::default() }, None),
            change(Placing::default(), Some("kSkill")),
            change(Placing::default(), Some("kCritical")),
        ] {
            given.do_(step);
            admissions.push(given.state.notes[&number].admission);
        }
        assert_eq!(admissions, [1, 1, 2, 2, 3, 4, 5, 6, 0, 7]);
    }

    #[test]
    fn readers_and_kinds_must_make_sense() {
        let mut given = Story::<Notes>::new();
        let all = Placing { level: Some(LevelCode::ALL), ..Placing::default() };
        for (placing, field) in [
            (Placing { level: Some(LevelCode::GROUP), ..Placing::default() }, "group"),
            (Placing { group: Some("sales".to_owned()), ..all.clone() }, "group"),
            (Placing { login: Some("ann".to_owned()), ..all }, "login"),
            (Placing { login: Some("ann".to_owned()), ..of_group("sales") }, "login"),
        ] {
            let save = SaveNote { placing, ..note("root", Role::Admin) };
            assert_eq!(given.try_(save).expect_err("refused"), Rejection::Misplaced(field));
        }
        let unknown = SaveNote { kind_key: Some("kNone".to_owned()), ..note("root", Role::Admin) };
        assert_eq!(given.try_(unknown).expect_err("refused"), Rejection::NoKind);
        assert!(given.names().is_empty());
    }
}
