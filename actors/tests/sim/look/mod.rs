//! What can be read, in the words of the plain model.

mod notes;
mod shelf;

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use memlog_actors::{
    api::{
        Answer, AsOf, Error, Verb,
        error::Kind,
        job, profile,
        record::{Record, Status},
        speaker, thread,
    },
    system::System,
};

use super::{
    command::{ACCOUNT, Ids, PROFILES, SESSIONS, SPEAKERS, THREADS, Word, context, word_of},
    plain::{JobState, Place, Profile, Said},
};

pub(crate) use notes::board_of;
pub(crate) use shelf::{books_of, shelf_of};

/// A record as it is listed: what it says, speaker, place, successor.
type Line = (Word, Option<usize>, Option<Place>, Option<Word>);

/// A profile as it is read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Shown {
    exists: bool,
    speakers: Vec<usize>,
    valid: BTreeMap<Word, Line>,
    invalid: BTreeMap<Word, Line>,
    /// In order, each message with what it says.
    places: BTreeMap<Place, Vec<(Word, Word)>>,
    /// In order, each with what it says and the message that it is part of.
    images: BTreeMap<Place, Vec<(Word, Word, Option<Word>)>>,
    jobs: BTreeMap<JobState, usize>,
}

pub(crate) fn shown(profile: &Profile) -> Shown {
    let (mut valid, mut invalid) = (BTreeMap::new(), BTreeMap::new());
    for (word, it) in &profile.records {
        let line = (it.says, profile.shown(it.tag), it.place, profile.successor(*word));
        let lines = if profile.is_valid(*word) { &mut valid } else { &mut invalid };
        lines.insert(*word, line);
    }
    let mut speakers: Vec<_> = profile.speakers.iter().map(|(who, registration)| (*registration, *who)).collect();
    speakers.sort_unstable();
    let said = |held: &Vec<Said>| held.iter().filter(|said| !said.gone).map(|said| (said.word, said.says)).collect();
    let images = |place: &Place| {
        let there = profile.images.iter().filter(|image| image.place == *place);
        there.map(|image| (image.word, image.says, image.message)).collect()
    };
    let mut jobs = BTreeMap::new();
    profile.jobs.iter().for_each(|job| *jobs.entry(job.state).or_default() += 1);
    Shown {
        exists: profile.exists,
        speakers: speakers.into_iter().map(|(_, who)| who).collect(),
        valid,
        invalid,
        places: profile.places.iter().map(|(place, held)| (*place, said(held))).collect(),
        images: profile.places.keys().map(|place| (*place, images(place))).collect(),
        jobs,
    }
}

/// What is not there is not shown.
pub(crate) fn found<T>(answer: Result<Answer<T>, Error>) -> Result<Option<T>, Error> {
    match answer {
        Ok(answer) => Ok(Some(answer.reply)),
        Err(error) if error.kind == Kind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The word in an id that a client gave.
fn given(id: &str, kind: char) -> Option<Word> {
    id.strip_prefix(kind)?.parse().ok()
}

fn place_of(id: &str) -> Option<Place> {
    let session = SESSIONS.iter().position(|it| *it == id).map(Place::Session);
    session.or_else(|| THREADS.iter().position(|it| *it == id).map(Place::Thread))
}

/// Reads; what it learns of ids on its way it keeps.
pub(crate) struct Reader<'a> {
    pub(crate) system: &'a System,
    pub(crate) ids: &'a mut Ids,
    /// The word of every record and message that was ever seen.
    pub(crate) words: &'a mut BTreeMap<String, Word>,
}

impl Reader<'_> {
    async fn read<V: Verb>(&self, ns: usize, verb: V) -> Result<Option<V::Reply>, Error> {
        found(verb.run(self.system, &context(ns, ACCOUNT, None)).await)
    }

    pub(crate) async fn records(
        &self,
        p: usize,
        status: Status,
        as_of: Option<AsOf>,
    ) -> Result<Option<Vec<Record>>, Error> {
        let (ns, name) = PROFILES[p];
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let (profile, status) = (name.to_owned(), Some(status));
            let page = profile::Memories { profile, status, as_of, cursor, limit: Some(7), ..Default::default() };
            let Some(page) = self.read(ns, page).await? else { return Ok(None) };
            all.extend(page.memories);
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(Some(all));
            }
        }
    }

    /// The word of a record, read if it is new.
    async fn word(&mut self, p: usize, id: &str) -> Result<Word, Error> {
        if let Some(word) = given(id, 'r').or(self.words.get(id).copied()) {
            return Ok(word);
        }
        let word = self.says(p, id).await?;
        self.words.insert(id.to_owned(), word);
        Ok(word)
    }

    async fn says(&self, p: usize, id: &str) -> Result<Word, Error> {
        let (ns, name) = PROFILES[p];
        let read = self.read(ns, profile::Memory { profile: name.to_owned(), memory_id: id.to_owned(), as_of: None });
        let content = read.await?.and_then(|it| it.memory.content.flatten()).unwrap_or_default();
        Ok(word_of(&content).unwrap_or_else(|| panic!("{id}, which is listed, says {content:?}")))
    }

    async fn lines(&mut self, p: usize, status: Status) -> Result<Option<BTreeMap<Word, Line>>, Error> {
        let Some(records) = self.records(p, status, None).await? else { return Ok(None) };
        let mut lines = BTreeMap::new();
        for record in records {
            let word = self.word(p, &record.id).await?;
            self.ids.records.insert(word, record.id.clone());
            let successor = match &record.superseded_by {
                Some(id) => Some(self.word(p, id).await?),
                None => None,
            };
            let who = record.speaker.as_ref().and_then(|name| SPEAKERS.iter().position(|it| it == name));
            let place = record.session_id.as_deref().and_then(place_of);
            let says = if let Some(Place::Thread(_)) = place { self.says(p, &record.id).await? } else { word };
            let line = (says, who, place, successor);
            assert_eq!(lines.insert(word, line), None, "twice: {record:?}");
        }
        Ok(Some(lines))
    }

    async fn messages(&mut self, p: usize, thread: &str) -> Result<Vec<(Word, Word)>, Error> {
        let ((ns, name), thread_id) = (PROFILES[p], thread.to_owned());
        let all = thread::GetMessages { profile: name.to_owned(), thread_id, start: Some(0), ..Default::default() };
        let messages = self.read(ns, all).await?.map(|it| it.messages).unwrap_or_default();
        let mut held = Vec::new();
        for message in messages {
            let text = match message.content {
                thread::Content::Text(text) => text,
                thread::Content::Parts(parts) => {
                    let types: Vec<_> = parts.iter().map(|part| part.part_type).collect();
                    assert_eq!(types, [thread::PartType::Text, thread::PartType::Image], "{parts:?}");
                    parts[0].text.clone().unwrap_or_default()
                }
            };
            let says = word_of(&text).unwrap_or_else(|| panic!("a message says {text:?}"));
            let word = given(&message.id, 'm').unwrap_or(says);
            self.words.insert(message.id, word);
            held.push((word, says));
        }
        Ok(held)
    }

    /// Their bytes tell what is said of them.
    async fn images(&mut self, p: usize, thread: &str) -> Result<Vec<(Word, Word, Option<Word>)>, Error> {
        let (ns, name) = PROFILES[p];
        let list = thread::ListImages { profile: name.to_owned(), thread_id: thread.to_owned(), ..Default::default() };
        let all = self.read(ns, thread::ListImages { limit: Some(None), ..list.clone() }).await?;
        let mut images = Vec::new();
        for it in all.into_iter().flat_map(|it| it.images) {
            let says = word_of(&it.description.unwrap_or_default()).expect("a description has a word");
            let one =
                thread::ListImages { image_id: Some(it.image_id.clone()), include_bytes: Some(true), ..list.clone() };
            let bytes = self.read(ns, one).await?.and_then(|mut it| it.images.pop()?.image).unwrap_or_default();
            let bytes = STANDARD.decode(bytes).expect("base64");
            assert_eq!(word_of(&String::from_utf8_lossy(&bytes)), Some(says), "other bytes");
            // One whose id nobody knew says still what it did at first.
            let known = self.ids.images.iter().find(|(_, id)| **id == it.image_id).map(|(word, _)| *word);
            let word = given(&it.image_id, 'i').or(known).unwrap_or(says);
            self.ids.images.insert(word, it.image_id);
            images.push((word, says, it.message_id.map(|id| self.words[&id])));
        }
        Ok(images)
    }

    pub(crate) async fn profile(&mut self, p: usize) -> Result<Shown, Error> {
        let (ns, name) = PROFILES[p];
        let profile = || name.to_owned();
        let Some(valid) = self.lines(p, Status::Valid).await? else { return Ok(Shown::default()) };
        let invalid = self.lines(p, Status::Invalid).await?.unwrap_or_default();
        let mut shown = Shown { exists: true, valid, invalid, ..Shown::default() };
        let speakers = self.read(ns, speaker::List { profile: profile(), as_of: None }).await?;
        for it in speakers.into_iter().flat_map(|it| it.speakers) {
            shown.speakers.extend(SPEAKERS.iter().position(|name| *name == it.speaker));
        }
        let threads = self.read(ns, thread::List { profile: profile(), ..Default::default() }).await?;
        for it in threads.into_iter().flat_map(|it| it.threads) {
            let place = place_of(&it.thread_id).expect("a known thread");
            shown.places.insert(place, self.messages(p, &it.thread_id).await?);
            shown.images.insert(place, self.images(p, &it.thread_id).await?);
        }
        let jobs =
            self.read(ns, job::List { profile: Some(profile()), limit: Some(500), ..Default::default() }).await?;
        for it in jobs.into_iter().flat_map(|it| it.jobs) {
            let state = match it.state {
                job::State::Queued | job::State::Running => JobState::Open,
                job::State::Done => JobState::Done,
                job::State::Failed => JobState::Failed,
            };
            *shown.jobs.entry(state).or_default() += 1;
        }
        Ok(shown)
    }
}
