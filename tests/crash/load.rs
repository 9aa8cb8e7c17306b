//! Two hundred writers, what they heard, and the comparison of that with what is there.
//!
//! Every message and memory holds a word of its own, so that a search for it says how often it was stored.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, stream};
use memlog::client::{CallError, Client};
use memlog_actors::api::{
    error::Kind,
    job,
    profile::{self, AddTurn, Ingest, Ingested, Message, Remember, Remembered},
    record::{ItemType, Record, Status},
};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
};

use crate::world::{Served, call, unless_dead};

/// Writers at once.
pub(crate) const WRITERS: usize = 200;
/// They share so many profiles, and so their streams and their sessions.
const PROFILES: usize = 8;
/// Questions asked at once afterwards.
const READERS: usize = 32;

/// A command.
#[derive(Clone)]
enum Said {
    Remember(Remember),
    Ingest(Ingest),
    Turn(AddTurn),
}

/// Its reply.
#[derive(Clone, Debug, PartialEq)]
enum Heard {
    Remembered(Box<Remembered>),
    Ingested(Ingested),
}

/// One command of a load: what was said, under which idempotency key, and the reply if one came.
#[derive(Clone)]
pub(crate) struct Written {
    profile: String,
    said: Said,
    /// The words to find it by, one a message or memory.
    words: Vec<String>,
    key: Option<String>,
    heard: Option<Heard>,
}

/// How a command ended that has no reply.
#[derive(Debug)]
pub(crate) enum End {
    /// The process died first: it is done or not.
    Died,
    /// It reached nobody, so that nothing is stored.
    Unheard,
    /// It was refused, so that nothing is stored.
    Refused,
}

/// A word that no other text has; its last letter keeps it from being taken for an inflected one.
fn word(round: usize, writer: usize, turn: usize, part: usize) -> String {
    let mut number = ((round * WRITERS + writer) * 10_000 + turn) * 2 + part;
    let mut word = String::from("Q");
    while number > 0 {
        word.push(char::from(b'a' + (number % 16) as u8));
        number /= 16;
    }
    word + "x"
}

impl Written {
    /// The writer's command number `turn`; kinds and keys take turns.
    fn new(round: usize, writer: usize, turn: usize) -> Self {
        let profile = format!("profile-{}", writer % PROFILES);
        let [first, second] = [0, 1].map(|part| word(round, writer, turn, part));
        let told = format!("My neighbour {first} collects stamps from Norway.");
        let answered = format!("I will remember that {second} sold them in Oslo.");
        let key = (writer + turn).is_multiple_of(2).then(|| format!("key-{first}"));
        let (said, words) = match (writer / 2 + turn) % 3 {
            0 => {
                let remember = Remember { profile: profile.clone(), content: told, ..Remember::default() };
                (Said::Remember(remember), vec![first])
            }
            1 => {
                let message = |role: &str, content| Message { role: role.to_owned(), content, ..Message::default() };
                let messages = vec![message("user", told), message("assistant", answered)];
                let session_id = Some(format!("session-{first}"));
                let ingest = Ingest { profile: profile.clone(), messages, session_id, ..Ingest::default() };
                (Said::Ingest(ingest), vec![first, second])
            }
            _ => {
                let session_id = Some(format!("chat-{}", writer % 5));
                let turn = AddTurn { profile: profile.clone(), user: told, assistant: answered, session_id };
                (Said::Turn(turn), vec![first, second])
            }
        };
        Self { profile, said, words, key, heard: None }
    }

    /// Says it; the reply and whether it was given before.
    async fn say(&self, client: &Client) -> Result<(Heard, bool), CallError> {
        let key = self.key.as_deref();
        Ok(match &self.said {
            Said::Remember(request) => {
                let answer = call(client, key, request).await?;
                (Heard::Remembered(Box::new(answer.reply)), answer.replayed)
            }
            Said::Ingest(request) => {
                let answer = call(client, key, request).await?;
                (Heard::Ingested(answer.reply), answer.replayed)
            }
            Said::Turn(request) => {
                let answer = call(client, key, request).await?;
                (Heard::Ingested(answer.reply), answer.replayed)
            }
        })
    }

    /// Says it again after a restart: what is idempotent has the same outcome, stored before or not.
    async fn repeat(&mut self, client: &Client) {
        let by_content = matches!(self.said, Said::Ingest(_));
        if self.key.is_none() && !by_content {
            return;
        }
        let (heard, replayed) = self.say(client).await.unwrap_or_else(|error| panic!("{:?}: {error}", self.words));
        match &self.heard {
            Some(before) if self.key.is_some() => {
                assert!(replayed, "{:?} was acknowledged under a key", self.words);
                assert_eq!(&heard, before, "a repeat hears what was heard first");
            }
            Some(Heard::Ingested(before)) => {
                let Heard::Ingested(now) = &heard else { panic!("another reply") };
                assert_eq!((now.accepted, now.duplicates), (0, 2), "{:?}", self.words);
                assert_eq!((&now.message_ids, &now.session_id), (&before.message_ids, &before.session_id));
            }
            _ => self.heard = Some(heard),
        }
    }
}

/// Writes from all sides until the death of the process, or until everything is refused; `acknowledged` receives one
/// unit a reply. What was said, and how each writer ended.
pub(crate) async fn write(
    served: &Served,
    round: usize,
    acknowledged: mpsc::Sender<()>,
) -> JoinSet<(Vec<Written>, End)> {
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (client, death, acknowledged) = (served.client(writer), served.death(), acknowledged.clone());
        writers.spawn(write_one(client, death, (round, writer), acknowledged));
    }
    writers
}

async fn write_one(
    client: Client,
    mut death: watch::Receiver<bool>,
    (round, writer): (usize, usize),
    acknowledged: mpsc::Sender<()>,
) -> (Vec<Written>, End) {
    let mut all = Vec::new();
    for turn in 0.. {
        let mut written = Written::new(round, writer, turn);
        let heard = unless_dead(&mut death, written.say(&client)).await;
        match heard {
            Some(Ok((heard, replayed))) => {
                assert!(!replayed, "it is said for the first time");
                written.heard = Some(heard);
                all.push(written);
                // The channel is full, or closed, when the test has seen enough.
                acknowledged.try_send(()).unwrap_or_default();
            }
            Some(Err(CallError::NobodyAnswers)) => return (all, End::Unheard),
            Some(Err(CallError::Refused(error))) if error.kind == Kind::Unavailable => return (all, End::Refused),
            Some(Err(error)) => panic!("neither done nor refused: {error}"),
            None => {
                all.push(written);
                return (all, End::Died);
            }
        }
    }
    unreachable!("the turns do not end")
}

/// What is there of some commands, and how often.
pub(crate) async fn check(served: &Served, all: &[Written]) {
    let checks = stream::iter(all.iter().enumerate());
    checks.for_each_concurrent(READERS, |(at, written)| check_one(served.client(at), written)).await;
}

/// How many had a reply, and how many had none.
pub(crate) fn count(all: &[Written]) -> (usize, usize) {
    let acknowledged = all.iter().filter(|written| written.heard.is_some()).count();
    (acknowledged, all.len() - acknowledged)
}

/// Repeats all that is idempotent, and notes what was heard only now.
pub(crate) async fn repeat(served: &Served, all: &mut [Written]) {
    let repeats = stream::iter(all.iter_mut().enumerate());
    repeats
        .for_each_concurrent(READERS, |(at, written)| {
            let client = served.client(at);
            async move { written.repeat(&client).await }
        })
        .await;
}

/// The ids under which a word is found among records the client saved, or among messages.
async fn found(client: &Client, profile: &str, word: &str, types: &[ItemType]) -> Vec<String> {
    let search = profile::Search {
        profile: profile.to_owned(),
        query: word.to_owned(),
        types: Some(types.to_vec()),
        // A later text may have corrected it; it is there all the same.
        include_invalid: Some(true),
        ..profile::Search::default()
    };
    let found = call(client, None, &search).await;
    let found = match found {
        Ok(answer) => answer.reply.memories,
        // Nothing was ever stored in it.
        Err(CallError::Refused(error)) if error.kind == Kind::NotFound => return Vec::new(),
        Err(error) => panic!("search for {word}: {error}"),
    };
    let says = |record: &Record| record.content.clone().flatten().is_some_and(|text| text.contains(word));
    found.into_iter().filter(says).map(|record| record.id).collect()
}

async fn check_one(client: Client, written: &Written) {
    let Written { profile, words, heard, said, .. } = written;
    let expected: Option<Vec<String>> = heard.as_ref().map(|heard| match heard {
        Heard::Remembered(reply) => vec![reply.memory.id.clone()],
        Heard::Ingested(reply) => reply.message_ids.clone(),
    });
    let types: &[ItemType] = match said {
        Said::Remember(_) => &[ItemType::Fact, ItemType::Event, ItemType::Instruction, ItemType::Task],
        Said::Ingest(_) | Said::Turn(_) => &[ItemType::Message],
    };
    let mut there = Vec::new();
    for word in words {
        let mut ids = found(&client, profile, word, types).await;
        assert!(ids.len() <= 1, "{word} was stored {} times", ids.len());
        there.extend(ids.pop());
    }
    match expected {
        Some(ids) => assert_eq!(there, ids, "{words:?} was acknowledged"),
        None => assert!(there.is_empty() || there.len() == words.len(), "a half of {words:?} was stored"),
    }
    if let Some(Heard::Remembered(reply)) = heard {
        let read =
            profile::Memory { profile: profile.clone(), memory_id: reply.memory.id.clone(), ..Default::default() };
        let memory = call(&client, None, &read).await.expect("an acknowledged memory is read by its id").reply.memory;
        assert_eq!(memory, reply.memory, "it is what was acknowledged");
    }
}

/// Waits until every job is done and looks at whole profiles: each list, each count, each job's records.
pub(crate) async fn check_profiles(served: &Served, all: &[Written]) {
    for number in 0..PROFILES {
        let profile = format!("profile-{number}");
        let of_it: Vec<&Written> = all.iter().filter(|written| written.profile == profile).collect();
        served.call(profile::Wait { profile: profile.clone(), timeout_s: Some(60.0), job_id: None }).await;
        let listed = listed(served, &profile).await;
        let got = served.call(profile::Get { profile: profile.clone(), as_of: None }).await.profile;
        let valid = listed.values().filter(|record| record.status == Status::Valid).count();
        assert_eq!(got.memories, valid as u64, "{profile}: what is counted is listed");
        check_records(served, &of_it, &listed).await;
        let mut messages = 0;
        for written in of_it.iter().filter(|written| !matches!(written.said, Said::Remember(_))) {
            // What has no reply may have been stored; then its messages are counted, too.
            messages += match &written.heard {
                Some(_) => written.words.len(),
                None => found(&served.client(0), &profile, &written.words[0], &[ItemType::Message]).await.len() * 2,
            };
        }
        assert_eq!(got.messages, messages as u64, "{profile}: every message is there once");
    }
}

/// Every page of a profile's list, by id, of either status.
async fn listed(served: &Served, profile: &str) -> BTreeMap<String, Record> {
    let mut all = BTreeMap::new();
    for status in [Status::Valid, Status::Invalid] {
        let mut cursor = None;
        loop {
            let (profile, limit, status) = (profile.to_owned(), Some(100), Some(status));
            let page = served.call(profile::Memories { profile, limit, status, cursor, ..Default::default() }).await;
            for record in page.memories {
                let id = record.id.clone();
                assert!(all.insert(id.clone(), record).is_none(), "{id} is listed twice");
            }
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    all
}

/// A job accepted before a kill ends done, and what it made is made once.
async fn check_records(served: &Served, all: &[&Written], listed: &BTreeMap<String, Record>) {
    let mut by_source: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut said = BTreeSet::new();
    for (id, record) in listed {
        for source in &record.sources {
            by_source.entry(source).or_default().insert(id);
        }
        let once = said.insert((&record.summary, &record.sources));
        assert!(once, "{:?} was made twice", record.summary);
    }
    for written in all {
        match &written.heard {
            Some(Heard::Remembered(reply)) => {
                assert!(listed.contains_key(&reply.memory.id), "{:?} is listed", written.words);
            }
            Some(Heard::Ingested(reply)) => {
                let Some(job_id) = reply.job_id.clone() else { continue };
                let job = served.call(job::Get { job_id, as_of: None }).await.job;
                assert_eq!((job.state, &job.error), (job::State::Done, &None), "{:?}", written.words);
                let of_messages = reply.message_ids.iter().filter_map(|id| by_source.get(id.as_str())).flatten();
                let of_messages: BTreeSet<&str> = of_messages.copied().collect();
                let of_job: BTreeSet<&str> = job.records.iter().map(String::as_str).collect();
                assert!(of_job.is_subset(&of_messages), "{:?}: the job's records are listed", written.words);
                assert_eq!(of_job.len(), job.records.len(), "a job names each record once");
                assert_eq!(of_job, of_messages, "{:?}: nothing else was made of its messages", written.words);
            }
            None => {}
        }
    }
}
