//! The gate against a plain model: whatever is saved, moved, removed, loaded and connected in whatever order, a session has
//! exactly those notes to read that the rules of the API say.

use std::collections::{BTreeMap, BTreeSet};

use memlog_events::{
    code::{KindCode, LevelCode},
    event::ByV1,
    ids::{SessionId, Version},
};
use proptest::prelude::*;

use super::{Board, Reader};
use crate::domain::{
    notes::{Connect, Load, Notes, Placing, RemoveNote, Role, SaveNote, Texts},
    testing::Story,
};

const LOGINS: [&str; 2] = ["ann", "bob"];
const GROUPS: [&str; 2] = ["sales", "support"];

/// Who reads a note, in the words of the API.
#[derive(Clone, Copy, Debug, PartialEq)]
enum To {
    All,
    Group(usize),
    Own(usize),
}

#[derive(Clone, Debug)]
enum Step {
    Save { to: To, critical: bool },
    Change { pick: usize, to: Option<To>, critical: Option<bool> },
    Remove { pick: usize },
    Connect { login: usize, groups: Vec<usize> },
    Load { pick: usize, groups: Vec<usize>, first: Option<usize> },
}

fn to() -> impl Strategy<Value = To> {
    prop_oneof![Just(To::All), (0..2_usize).prop_map(To::Group), (0..2_usize).prop_map(To::Own)]
}

fn step() -> impl Strategy<Value = Step> {
    let groups = proptest::collection::vec(0..2_usize, 0..3);
    prop_oneof![
        3 => (to(), any::<bool>()).prop_map(|(to, critical)| Step::Save { to, critical }),
        4 => (any::<usize>(), proptest::option::of(to()), proptest::option::of(any::<bool>()))
            .prop_map(|(pick, to, critical)| Step::Change { pick, to, critical }),
        1 => any::<usize>().prop_map(|pick| Step::Remove { pick }),
        2 => (0..2_usize, groups.clone()).prop_map(|(login, groups)| Step::Connect { login, groups }),
        4 => (any::<usize>(), groups, proptest::option::of(0..3_usize))
            .prop_map(|(pick, groups, first)| Step::Load { pick, groups, first }),
    ]
}

/// What a person with pen and paper would know: each note, and which critical ones each session has crossed out.
#[derive(Default)]
struct Plain {
    notes: BTreeMap<u64, (To, bool)>,
    sessions: Vec<(SessionId, usize, BTreeSet<u64>)>,
}

impl Plain {
    fn unread(&self, session: usize, groups: &[usize]) -> BTreeSet<u64> {
        let (_, login, read) = &self.sessions[session];
        let mine = |to: To| match to {
            To::All => true,
            To::Group(group) => groups.contains(&group),
            To::Own(owner) => owner == *login,
        };
        let critical = self.notes.iter().filter(|(_, (to, critical))| *critical && mine(*to));
        critical.map(|(number, _)| *number).filter(|number| !read.contains(number)).collect()
    }

    /// What was not critical before, or not these readers', is to be read by everybody again.
    fn change(&mut self, number: u64, to: Option<To>, critical: Option<bool>) {
        let note = self.notes.get_mut(&number).expect("it is there");
        let before = *note;
        *note = (to.unwrap_or(before.0), critical.unwrap_or(before.1));
        if *note != before {
            for (_, _, read) in &mut self.sessions {
                read.remove(&number);
            }
        }
    }
}

struct Pair {
    story: Story<Notes>,
    board: Board,
    folded: usize,
    plain: Plain,
}

fn key(critical: bool) -> Option<String> {
    Some(if critical { "kCritical" } else { "kSkill" }.to_owned())
}

fn placing(to: To) -> Placing {
    match to {
        To::All => Placing { level: Some(LevelCode::ALL), ..Placing::default() },
        To::Group(group) => {
            Placing { level: Some(LevelCode::GROUP), group: Some(GROUPS[group].to_owned()), login: None }
        }
        To::Own(login) => Placing { level: Some(LevelCode::OWN), group: None, login: Some(LOGINS[login].to_owned()) },
    }
}

fn save(note: Option<u64>, to: Option<To>, kind_key: Option<String>) -> SaveNote {
    let texts = Texts { name: Some("n".to_owned()), body: Some("<p>b</p>".to_owned()), ..Texts::default() };
    let placing = to.map(placing).unwrap_or_default();
    SaveNote { note, role: Role::Admin, login: None, placing, kind_key, texts, by: ByV1::default() }
}

impl Pair {
    fn new() -> Self {
        Self { story: Story::new(), board: Board::default(), folded: 0, plain: Plain::default() }
    }

    fn picked(&self, pick: usize) -> Option<u64> {
        let numbers: Vec<_> = self.plain.notes.keys().copied().collect();
        (!numbers.is_empty()).then(|| numbers[pick % numbers.len()])
    }

    fn reader<'a>(login: &'a Option<String>, groups: &'a [String]) -> Reader<'a> {
        Reader { login, groups }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Save { to, critical } => {
                let number = self.story.do_(save(None, Some(to), key(critical))).0;
                self.plain.notes.insert(number, (to, critical));
            }
            Step::Change { pick, to, critical } => {
                let Some(number) = self.picked(pick) else { return };
                self.story.do_(save(Some(number), to, critical.and_then(key)));
                self.plain.change(number, to, critical);
            }
            Step::Remove { pick } => {
                let Some(number) = self.picked(pick) else { return };
                let (note, role, by) = (number, Role::Admin, ByV1::default());
                self.story.do_(RemoveNote { note, role, login: None, by });
                self.plain.notes.remove(&number);
            }
            Step::Connect { login, groups } => {
                let name = Some(LOGINS[login].to_owned());
                let by = ByV1 { user: name.clone(), agent: None };
                let named = groups.iter().map(|group| GROUPS[*group].to_owned()).collect();
                let connected = self.story.do_(Connect { login: name, groups: named, by });
                self.plain.sessions.push((SessionId(connected.session), login, BTreeSet::new()));
                let unread = self.plain.unread(self.plain.sessions.len() - 1, &groups).len() as u64;
                assert_eq!(connected.critical, Some(unread), "nothing is read yet");
            }
            Step::Load { pick, groups, first } => self.load(pick, &groups, first),
        }
        self.fold();
    }

    /// Loads the first so many of what is unread, or all of it.
    fn load(&mut self, pick: usize, groups: &[usize], first: Option<usize>) {
        if self.plain.sessions.is_empty() {
            return;
        }
        let at = pick % self.plain.sessions.len();
        let unread = self.plain.unread(at, groups);
        let numbers: Vec<u64> = unread.into_iter().take(first.unwrap_or(usize::MAX)).collect();
        let notes = numbers.iter().map(|number| (*number, self.board.note(*number).expect("known").admission));
        let (notes, session) = (notes.collect(), self.plain.sessions[at].0);
        self.story.do_(Load { session, notes, by: ByV1::default() });
        self.plain.sessions[at].2.extend(numbers);
    }

    fn fold(&mut self) {
        for event in self.story.events().iter().skip(self.folded) {
            self.folded += 1;
            let content = event.content.as_ref().map(|(content, _)| content.clone());
            self.board.fold(&event.facts, content, Version(self.folded as u64));
        }
    }

    fn compare(&self) {
        for (at, (session, login, _)) in self.plain.sessions.iter().enumerate() {
            for groups in [vec![], vec![0], vec![1], vec![1, 0, 1]] {
                let names: Vec<String> = groups.iter().map(|group: &usize| GROUPS[*group].to_owned()).collect();
                let login = Some(LOGINS[*login].to_owned());
                let known = self.board.session(*session).expect("it never ended");
                assert!(known.is_of(&login));
                let found = self.board.unread(known, Self::reader(&login, &names));
                let unique: BTreeSet<u64> = found.iter().copied().collect();
                assert_eq!(unique.len(), found.len(), "told twice");
                assert_eq!(unique, self.plain.unread(at, &groups));
            }
        }
        for note in self.board.all() {
            assert_eq!(note.kind == KindCode::CRITICAL, note.admission != 0);
        }
        assert_eq!(self.board.all().count(), self.plain.notes.len());
    }
}

proptest! {
    #[test]
    fn the_gate_says_what_the_rules_say(steps in proptest::collection::vec(step(), 1..60)) {
        let mut pair = Pair::new();
        for step in steps {
            pair.take(step);
            pair.compare();
        }
    }
}
