//! What a profile holds, as plain lists: the shortest program that keeps the promises.

use std::collections::BTreeMap;

/// A record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) session: Option<String>,
    /// A registration: a name and its number.
    pub(crate) tag: Option<(String, u32)>,
    pub(crate) expires: Option<i64>,
    pub(crate) sources: Vec<String>,
    pub(crate) invalid: bool,
    pub(crate) superseded_by: Option<String>,
}

impl Line {
    pub(crate) fn is_alive(&self, now: i64) -> bool {
        self.expires.is_none_or(|at| at > now)
    }
}

/// A message on its way in.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) id: Option<String>,
    pub(crate) text: String,
    pub(crate) speaker: Option<String>,
    /// The id it has if it is held already.
    pub(crate) known: Option<String>,
}

#[derive(Clone, Debug)]
struct Said {
    id: String,
    given: Option<String>,
    role: &'static str,
    text: String,
    tag: Option<(String, u32)>,
    gone: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Plain {
    /// Oldest first.
    pub(crate) lines: Vec<Line>,
    threads: BTreeMap<String, Vec<Said>>,
    speakers: BTreeMap<String, u32>,
    registrations: u32,
    written: bool,
}

impl Plain {
    pub(crate) fn exists(&self) -> bool {
        self.written
    }

    pub(crate) fn counts(&self, now: i64) -> (u64, u64, u64, u64) {
        let valid = self.lines.iter().filter(|line| line.is_alive(now) && !line.invalid).count();
        let messages = self.threads.values().flatten().filter(|said| !said.gone).count();
        (valid as u64, messages as u64, self.threads.len() as u64, self.speakers.len() as u64)
    }

    pub(crate) fn is_registered(&self, name: &str) -> bool {
        self.speakers.contains_key(name)
    }

    /// Who is registered, and as which registration.
    pub(crate) fn speakers(&self) -> &BTreeMap<String, u32> {
        &self.speakers
    }

    /// The registry as it is listed: in order of registration, with the valid memories under each.
    pub(crate) fn registry(&self, now: i64) -> Vec<(String, u64)> {
        let mut names: Vec<_> = self.speakers.iter().map(|(name, number)| (*number, name.clone())).collect();
        names.sort_unstable();
        let valid = |name: &String| {
            let theirs = |line: &&Line| self.shown(line).as_ref() == Some(name) && !line.invalid && line.is_alive(now);
            self.lines.iter().filter(theirs).count() as u64
        };
        names.into_iter().map(|(_, name)| (name.clone(), valid(&name))).collect()
    }

    pub(crate) fn add_speaker(&mut self, name: &str) {
        self.written = true;
        if !self.is_registered(name) {
            self.registrations += 1;
            self.speakers.insert(name.to_owned(), self.registrations);
        }
    }

    pub(crate) fn remove_speaker(&mut self, name: &str) -> bool {
        self.speakers.remove(name).is_some()
    }

    fn tag(&self, name: Option<&str>) -> Option<(String, u32)> {
        name.map(|name| (name.to_owned(), self.speakers.get(name).copied().unwrap_or_default()))
    }

    fn is_of(&self, tag: Option<&(String, u32)>, speaker: Option<&str>) -> bool {
        speaker.is_none_or(|name| tag.is_some_and(|tag| tag.0 == name && self.is_shown(tag)))
    }

    fn is_shown(&self, tag: &(String, u32)) -> bool {
        tag.0 == "me" || self.speakers.get(&tag.0) == Some(&tag.1)
    }

    /// The speaker that a reader sees.
    pub(crate) fn shown(&self, line: &Line) -> Option<String> {
        line.tag.clone().filter(|tag| self.is_shown(tag)).map(|tag| tag.0)
    }

    /// A valid record that says it under the same name, if there is one.
    pub(crate) fn saying(&self, text: &str, speaker: Option<&str>, now: i64) -> Option<String> {
        let same = |line: &&Line| {
            line.text == text && !line.invalid && line.is_alive(now) && self.shown(line).as_deref() == speaker
        };
        self.lines.iter().find(same).map(|line| line.id.clone())
    }

    pub(crate) fn save(
        &mut self,
        id: String,
        text: &str,
        session: Option<&str>,
        speaker: Option<&str>,
        expires: Option<i64>,
        sources: Vec<String>,
    ) {
        self.written = true;
        if let Some(session) = session {
            self.open(session);
        }
        let (tag, session) = (self.tag(speaker), session.map(str::to_owned));
        let (text, invalid, superseded_by) = (text.to_owned(), false, None);
        self.lines.push(Line { id, text, session, tag, expires, sources, invalid, superseded_by });
    }

    pub(crate) fn supersede(&mut self, old: &Line, id: String, text: &str, expires: Option<i64>) {
        assert!(!old.invalid, "superseded though it does not hold");
        assert_eq!(old.expires, expires, "the time to live is kept");
        for line in self.lines.iter_mut().filter(|line| line.id == old.id) {
            (line.invalid, line.superseded_by) = (true, Some(id.clone()));
        }
        let text = text.to_owned();
        self.lines.push(Line { id, text, sources: Vec::new(), ..old.clone() });
    }

    /// The record that took its place, if that one is still there.
    pub(crate) fn successor(&self, line: &Line, now: i64) -> Option<String> {
        self.successor_in(&self.lines, line, now)
    }

    pub(crate) fn successor_in(&self, lines: &[Line], line: &Line, now: i64) -> Option<String> {
        let named = line.superseded_by.as_ref()?;
        lines.iter().find(|other| other.id == *named && other.is_alive(now)).map(|other| other.id.clone())
    }

    pub(crate) fn forget(&mut self, gone: &Line) {
        self.lines.retain(|line| line.id != gone.id);
        for said in self.threads.values_mut().flatten() {
            said.gone |= gone.sources.contains(&said.id);
        }
    }

    pub(crate) fn delete_session(&mut self, session: &str) {
        if self.threads.remove(session).is_some() {
            self.lines.retain(|line| line.session.as_deref() != Some(session));
        }
    }

    pub(crate) fn open(&mut self, session: &str) {
        self.written = true;
        self.threads.entry(session.to_owned()).or_default();
    }

    pub(crate) fn append(&mut self, session: &str, id: String, sent: &Sent) {
        self.append_as("user", session, id, sent);
    }

    pub(crate) fn append_as(&mut self, role: &'static str, session: &str, id: String, sent: &Sent) {
        let tag = self.tag(sent.speaker.as_deref());
        let said = Said { id, given: sent.id.clone(), role, text: sent.text.clone(), tag, gone: false };
        self.threads.entry(session.to_owned()).or_default().push(said);
    }

    pub(crate) fn sessions(&self) -> Vec<String> {
        self.threads.iter().filter(|(_, held)| !held.is_empty()).map(|(id, _)| id.clone()).collect()
    }

    /// The whole session as it would be sent again, as far as it is the user's; one with turns of the assistant is not.
    pub(crate) fn held(&self, session: &str) -> Vec<Sent> {
        let held = self.threads.get(session).map(Vec::as_slice).unwrap_or_default();
        held.iter().take_while(|said| said.role == "user").map(again).collect()
    }

    /// The whole session, if it is the user's alone: only then does it begin what is sent.
    pub(crate) fn whole(&self, session: &str) -> Vec<Sent> {
        let held = self.threads.get(session).map(Vec::as_slice).unwrap_or_default();
        if held.iter().all(|said| said.role == "user") { self.held(session) } else { Vec::new() }
    }

    /// Its last messages, two at least.
    pub(crate) fn window(&self, session: &str) -> Vec<Sent> {
        let held = self.threads.get(session).map(Vec::as_slice).unwrap_or_default();
        let last: Vec<_> = held.iter().rev().take(3).take_while(|said| said.role == "user").collect();
        if last.len() < 2 { Vec::new() } else { last.into_iter().rev().map(again).collect() }
    }

    /// One message that has an id of the client's own.
    pub(crate) fn one_with_id(&self, session: &str) -> Vec<Sent> {
        let held = self.threads.get(session).map(Vec::as_slice).unwrap_or_default();
        held.iter().rev().filter(|said| said.role == "user" && said.given.is_some()).take(1).map(again).collect()
    }

    /// Whether each is tagged as it was: a registration that ended makes another message of it.
    pub(crate) fn can_be_sent_again(&self, sent: &[Sent]) -> bool {
        let held: Vec<&Said> = self.threads.values().flatten().collect();
        sent.iter().all(|it| {
            let said = held.iter().find(|said| Some(&said.id) == it.known.as_ref());
            said.is_none_or(|said| said.tag.as_ref().is_none_or(|tag| self.is_shown(tag)))
        })
    }

    /// The last message of that text: its id and the name it is shown under.
    pub(crate) fn message(&self, session: &str, text: &str) -> Option<(String, Option<String>)> {
        let said = self.threads.get(session)?.iter().rev().find(|said| said.text == text)?;
        Some((said.id.clone(), said.tag.clone().filter(|tag| self.is_shown(tag)).map(|tag| tag.0)))
    }

    /// Of these messages, those that are there.
    pub(crate) fn living(&self, ids: &[String]) -> Vec<String> {
        let held: Vec<&Said> = self.threads.values().flatten().filter(|said| !said.gone).collect();
        ids.iter().filter(|id| held.iter().any(|said| said.id == **id)).cloned().collect()
    }

    /// What was there at an earlier moment and is still not gone.
    pub(crate) fn without_what_is_gone(&self, mut lines: Vec<Line>) -> Vec<Line> {
        lines.retain(|line| self.lines.iter().any(|now| now.id == line.id));
        lines
    }

    pub(crate) fn pick(&self, pick: u8, now: i64) -> Option<&Line> {
        let alive: Vec<_> = self.lines.iter().filter(|line| line.is_alive(now)).collect();
        alive.get(pick as usize % alive.len().max(1)).copied()
    }

    /// Messages that a search may find: not those of which only records were kept that were superseded since.
    fn answering(&self) -> impl Iterator<Item = &Said> {
        let corrected = |said: &Said| {
            let mut made = self.lines.iter().filter(|line| line.sources.contains(&said.id)).peekable();
            made.peek().is_some() && made.all(|line| line.invalid)
        };
        self.threads.values().flatten().filter(move |said| !said.gone && !corrected(said))
    }

    /// Everything that a search may find, by id.
    pub(crate) fn texts(&self, now: i64) -> BTreeMap<String, String> {
        self.findable(None, now)
    }

    /// The same of one person's.
    pub(crate) fn texts_of(&self, speaker: &str, now: i64) -> BTreeMap<String, String> {
        self.findable(Some(speaker), now)
    }

    fn findable(&self, speaker: Option<&str>, now: i64) -> BTreeMap<String, String> {
        let records = self.lines.iter().filter(|line| line.is_alive(now) && !line.invalid);
        let records = records.filter(|line| self.is_of(line.tag.as_ref(), speaker));
        let records = records.map(|line| (line.id.clone(), line.text.clone()));
        let said = self.answering().filter(|said| self.is_of(said.tag.as_ref(), speaker));
        records.chain(said.map(|said| (said.id.clone(), said.text.clone()))).collect()
    }

    /// What a search by a word must find: records, or the messages that they were made from, and other messages.
    pub(crate) fn matching(&self, word: &str, now: i64) -> Vec<Vec<String>> {
        self.found(None, word, now)
    }

    /// The same of one person's.
    pub(crate) fn matching_of(&self, speaker: &str, word: &str, now: i64) -> Vec<Vec<String>> {
        self.found(Some(speaker), word, now)
    }

    fn found(&self, speaker: Option<&str>, word: &str, now: i64) -> Vec<Vec<String>> {
        let says = |text: &str| text.split(' ').any(|it| it == word);
        let valid = self.lines.iter().filter(|line| line.is_alive(now) && !line.invalid && says(&line.text));
        let records: Vec<&Line> = valid.filter(|line| self.is_of(line.tag.as_ref(), speaker)).collect();
        let made = |id: &String| records.iter().any(|line| line.sources.contains(id));
        let said = self.answering().filter(|said| says(&said.text) && !made(&said.id));
        let said = said.filter(|said| self.is_of(said.tag.as_ref(), speaker));
        let records = records.iter().map(|line| std::iter::once(&line.id).chain(&line.sources).cloned().collect());
        records.chain(said.map(|said| vec![said.id.clone()])).collect()
    }
}

fn again(said: &Said) -> Sent {
    let speaker = said.tag.clone().map(|tag| tag.0);
    Sent { id: said.given.clone(), text: said.text.clone(), speaker, known: Some(said.id.clone()) }
}
