//! A profile: who speaks, what was said in which session, what is remembered of it, what still is to be.

mod thread;

use std::collections::BTreeMap;

use memlog_actors::api::error::Kind;

use super::{
    super::{
        command::{Command, FACT, Word},
        ports::DAY,
    },
    Outcome, Told,
};

/// The kind of a link that a record has to what it superseded: it has no name, and nobody takes it back.
pub(crate) const SUPERSEDED: usize = 3;

/// A speaker and its registration.
pub(crate) type Tag = (usize, u32);

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    /// None is the profile itself.
    pub(crate) place: Option<Place>,
    pub(crate) tag: Option<Tag>,
    pub(crate) says: Word,
    pub(crate) created: i64,
    pub(crate) expires: Option<i64>,
    pub(crate) source: Option<Word>,
    /// Said not to hold, whatever links say.
    pub(crate) invalid: bool,
    /// The same, because another has taken its place.
    pub(crate) superseded: bool,
    pub(crate) successor: Option<Word>,
}

/// Where something lies: a session that extracts, or a thread that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Session(usize),
    Thread(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) word: Word,
    pub(crate) says: Word,
    pub(crate) tag: Option<Tag>,
    pub(crate) role: &'static str,
    pub(crate) created: i64,
    expires: Option<i64>,
    /// It keeps its place.
    pub(crate) gone: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Image {
    pub(crate) word: Word,
    pub(crate) says: Word,
    pub(crate) place: Place,
    /// The message that it is part of.
    pub(crate) message: Option<Word>,
    pub(crate) created: i64,
    expires: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) source: Word,
    pub(crate) target: Word,
    pub(crate) kind: usize,
    /// The kind that it was made with, by which clients name it.
    pub(crate) named: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum JobState {
    Open,
    Done,
    Failed,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Job {
    pub(crate) session: usize,
    pub(crate) words: Vec<Word>,
    pub(crate) state: JobState,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Profile {
    pub(crate) exists: bool,
    pub(crate) speakers: BTreeMap<usize, u32>,
    registrations: u32,
    pub(crate) records: BTreeMap<Word, Record>,
    pub(crate) places: BTreeMap<Place, Vec<Said>>,
    pub(crate) jobs: Vec<Job>,
    /// The oldest first.
    pub(crate) images: Vec<Image>,
    /// The oldest first.
    pub(crate) links: Vec<Link>,
}

impl Profile {
    pub(super) fn apply(&mut self, command: &Command, now: i64) -> Outcome {
        match command {
            Command::AddSpeaker { who, .. } => {
                self.exists = true;
                if !self.speakers.contains_key(who) {
                    self.registrations += 1;
                    self.speakers.insert(*who, self.registrations);
                }
                Ok(Told::Done)
            }
            Command::RemoveSpeaker { who, .. } => self.speakers.remove(who).map(|_| Told::Done).ok_or(Kind::NotFound),
            Command::Remember { word, session, who, days, .. } => self.remember(*word, *session, *who, *days, now),
            Command::Supersede { old, word, .. } => self.supersede(*old, *word, now),
            Command::Forget { word, .. } => {
                let says = self.records.get(word).ok_or(Kind::NotFound)?.says;
                self.drop_record(*word);
                Ok(Told::Record(says))
            }
            Command::Ingest { session, said, .. } => self.ingest(*session, said, now),
            Command::AddTurn { session, words, .. } => {
                let place = self.open_session(*session);
                for (word, role) in words.iter().zip(["user", "assistant"]) {
                    self.say(place, Said { role, ..Said::new(*word, now) });
                }
                self.jobs.push(Job { session: *session, words: words.to_vec(), state: JobState::Open });
                Ok(Told::Counts(2, 0))
            }
            Command::DeleteSession { session, .. } => {
                self.drop_place(Place::Session(*session));
                Ok(Told::Done)
            }
            Command::Visit { .. } => {
                self.exists = true;
                Ok(Told::Done)
            }
            Command::DeleteProfile { .. } => {
                *self = Self::default();
                Ok(Told::Done)
            }
            Command::Retry { job, .. } => {
                let job = self.jobs.iter_mut().find(|it| it.words.contains(job)).ok_or(Kind::NotFound)?;
                if job.state != JobState::Failed {
                    return Err(Kind::Conflict);
                }
                job.state = JobState::Open;
                Ok(Told::Done)
            }
            _ => self.in_a_thread(command, now),
        }
    }

    fn remember(
        &mut self,
        word: Word,
        session: Option<usize>,
        who: Option<usize>,
        days: Option<i64>,
        now: i64,
    ) -> Outcome {
        if who.is_some_and(|who| !self.speakers.contains_key(&who)) {
            return Err(Kind::InvalidRequest);
        }
        self.exists = true;
        if self.says(word, who) {
            return Ok(Told::Duplicate(word));
        }
        let place = session.map(|session| self.open_session(session));
        let (tag, expires) = (self.tag(who), days.map(|days| now + days * DAY));
        self.records.insert(word, Record { place, tag, expires, ..Record::new(word, now) });
        Ok(Told::Record(word))
    }

    fn supersede(&mut self, old: Word, word: Word, now: i64) -> Outcome {
        let valid = self.is_valid(old);
        let record = self.records.get_mut(&old).ok_or(Kind::NotFound)?;
        if !valid {
            return Err(Kind::Conflict);
        }
        (record.superseded, record.successor) = (true, Some(word));
        let Record { place, tag, expires, .. } = *record;
        self.records.insert(word, Record { place, tag, expires, ..Record::new(word, now) });
        self.links.push(Link { source: word, target: old, kind: SUPERSEDED, named: SUPERSEDED });
        Ok(Told::Record(word))
    }

    fn ingest(&mut self, session: usize, sent: &[(Word, Option<usize>)], now: i64) -> Outcome {
        if sent.iter().any(|(_, who)| who.is_some_and(|who| !self.speakers.contains_key(&who))) {
            return Err(Kind::InvalidRequest);
        }
        let place = self.open_session(session);
        let held = &self.places[&place];
        let same = |said: &Said, (word, who): &(Word, Option<usize>)| {
            said.word == *word && said.role == "user" && said.tag == self.tag(*who)
        };
        let known = held.iter().zip(sent).take_while(|(said, sent)| same(said, sent)).count();
        let new: Vec<(Word, Option<Tag>)> = sent[known..].iter().map(|(word, who)| (*word, self.tag(*who))).collect();
        new.iter().for_each(|(word, tag)| self.say(place, Said { tag: *tag, ..Said::new(*word, now) }));
        if !new.is_empty() {
            let words = new.iter().map(|(word, _)| *word).collect();
            self.jobs.push(Job { session, words, state: JobState::Open });
        }
        Ok(Told::Counts(new.len() as u64, known as u64))
    }

    pub(crate) fn open_session(&mut self, session: usize) -> Place {
        self.exists = true;
        self.places.entry(Place::Session(session)).or_default();
        Place::Session(session)
    }

    fn say(&mut self, place: Place, said: Said) {
        self.places.entry(place).or_default().push(said);
    }

    fn is_in(&self, place: Place, word: Word) -> Result<(), Kind> {
        let there = self.records.get(&word).is_some_and(|record| record.place == Some(place));
        there.then_some(()).ok_or(Kind::NotFound)
    }

    fn tag(&self, who: Option<usize>) -> Option<Tag> {
        who.map(|who| (who, self.speakers.get(&who).copied().unwrap_or_default()))
    }

    /// The name that a reader sees.
    pub(crate) fn shown(&self, tag: Option<Tag>) -> Option<usize> {
        tag.filter(|(who, registration)| self.speakers.get(who) == Some(registration)).map(|(who, _)| who)
    }

    pub(crate) fn is_valid(&self, word: Word) -> bool {
        let holds = |record: &Record| !record.invalid && !record.superseded;
        self.records.get(&word).is_some_and(holds) && self.invalidator(word).is_none()
    }

    /// The record that took its place: the one it was superseded by, if that is still there, else what a link names.
    pub(crate) fn successor(&self, word: Word) -> Option<Word> {
        let record = self.records.get(&word)?;
        if record.superseded { record.successor } else { self.invalidator(word) }
    }

    fn invalidator(&self, word: Word) -> Option<Word> {
        let says_so = |link: &&Link| link.target == word && (link.kind < 2 || link.kind == SUPERSEDED);
        self.links.iter().find(says_so).map(|link| link.source)
    }

    /// The record that says this.
    pub(crate) fn saying(&self, word: Word) -> Option<Word> {
        self.records.iter().find(|(_, record)| record.says == word).map(|(record, _)| *record)
    }

    fn says(&self, word: Word, who: Option<usize>) -> bool {
        self.is_valid(word) && self.records.get(&word).is_some_and(|record| self.shown(record.tag) == who)
    }

    fn drop_record(&mut self, word: Word) {
        let Some(record) = self.records.remove(&word) else { return };
        self.links.retain(|link| link.source != word && link.target != word);
        self.records.values_mut().filter(|it| it.successor == Some(word)).for_each(|it| it.successor = None);
        if let (Some(source), Some(place)) = (record.source, record.place) {
            let held = self.places.get_mut(&place).into_iter().flatten();
            held.filter(|said| said.word == source).for_each(|said| said.gone = true);
        }
    }

    fn drop_place(&mut self, place: Place) {
        self.places.remove(&place);
        self.images.retain(|image| image.place != place);
        let gone = self.records.iter().filter(|(_, record)| record.place == Some(place)).map(|(word, _)| *word);
        gone.collect::<Vec<_>>().into_iter().for_each(|word| self.drop_record(word));
        if let Place::Session(session) = place {
            self.jobs.retain(|job| job.session != session);
        }
    }

    pub(super) fn tick(&mut self, now: i64) {
        let over = |expires: Option<i64>| expires.is_some_and(|at| at <= now);
        let gone = self.records.iter().filter(|(_, record)| over(record.expires)).map(|(word, _)| *word);
        gone.collect::<Vec<_>>().into_iter().for_each(|word| self.drop_record(word));
        self.places.values_mut().flatten().filter(|said| over(said.expires)).for_each(|said| said.gone = true);
        self.images.retain(|image| !over(image.expires));
    }

    pub(super) fn ends(&self) -> Vec<i64> {
        let records = self.records.values().filter_map(|record| record.expires);
        let said = self.places.values().flatten().filter_map(|said| said.expires);
        records.chain(said).chain(self.images.iter().filter_map(|image| image.expires)).collect()
    }

    /// A worker was given these messages.
    pub(crate) fn job_of(&self, words: &[Word]) -> Option<usize> {
        self.jobs.iter().position(|job| words.iter().any(|word| job.words.contains(word)))
    }

    /// Its result was left: each message that is still there is noted, once.
    pub(crate) fn extracted(&mut self, job: usize, words: &[Word], now: i64) {
        let session = self.jobs[job].session;
        if self.jobs[job].state != JobState::Open {
            return;
        }
        self.jobs[job].state = JobState::Done;
        for word in words {
            let held = self.places.get(&Place::Session(session)).into_iter().flatten();
            let Some(said) = held.clone().find(|said| said.word == *word && !said.gone) else { continue };
            if !self.says(word + FACT, self.shown(said.tag)) {
                let (place, tag) = (Some(Place::Session(session)), said.tag);
                let record = Record { place, tag, source: Some(*word), ..Record::new(word + FACT, now) };
                self.records.insert(word + FACT, record);
            }
        }
    }

    pub(crate) fn failed(&mut self, job: usize) {
        if self.jobs[job].state == JobState::Open {
            self.jobs[job].state = JobState::Failed;
        }
    }
}

impl Record {
    fn new(says: Word, created: i64) -> Self {
        let (place, tag, expires, source, successor) = (None, None, None, None, None);
        Self { place, tag, says, created, expires, source, invalid: false, superseded: false, successor }
    }
}

impl Said {
    fn new(word: Word, created: i64) -> Self {
        Self { word, says: word, tag: None, role: "user", created, expires: None, gone: false }
    }
}
