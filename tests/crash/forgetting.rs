//! `kill -9` in the middle of forgetting: what was acknowledged is gone from every file and every read of the past, what
//! was not is there whole or gone whole, and the log still proves itself.

use std::{collections::BTreeSet, path::PathBuf};

use memlog::{
    client::{CallError, Client},
    embed::{Encoder, ModelFolder},
};
use memlog_actors::{
    api::{
        AsOf, Time, Verb, audit,
        error::Kind,
        profile::{self, Message},
        speaker, thread,
    },
    port::{Embedder, Purpose},
};
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    grep::Needles,
    support::images,
    world::{Served, World, call, random, unless_dead},
};

/// Of each kind.
const SECRETS: usize = 12;
/// Deaths, each amid the forgetting of its share.
const ROUNDS: usize = 6;
/// By then most of a share is forgotten.
const PINGS_MAX: usize = 90;
/// When all of it was said; the date is part of what is embedded.
const SAID: &str = "2023-05-08T12:00:00Z";
const SAID_IN_WORDS: &str = "8 May 2023";

/// What is asked for to forget it.
#[derive(Clone, Debug)]
enum Target {
    Memory(String),
    /// By its id, and which noise it is.
    Image(String, u64),
    Session(String),
    Profile,
}

/// Something to be forgotten.
#[derive(Clone, Debug)]
struct Secret {
    profile: String,
    target: Target,
    /// The word in all of its texts, names and metadata, and nowhere else.
    word: String,
    texts: Vec<String>,
}

fn time() -> Option<Time> {
    Some(serde_json::from_value(json!(SAID)).unwrap())
}

/// The word of secret number `number` of a kind.
fn word(kind: &str, number: usize) -> String {
    let letters = [number / 16, number % 16].map(|digit| char::from(b'a' + digit as u8));
    format!("{kind}{}{}vox", letters[0], letters[1])
}

/// A memory with metadata, saved as such.
async fn saved(served: &Served, number: usize) -> Secret {
    let word = word("Savedqu", number);
    let text = format!("{word} keeps the letters of 1951 in a blue tin.");
    let metadata = json!({ "place": format!("the attic of {word}") });
    let remember = profile::Remember {
        profile: "people".to_owned(),
        content: text.clone(),
        metadata: metadata.as_object().cloned(),
        timestamp: time(),
        ..Default::default()
    };
    let memory = served.call(remember).await.memory;
    Secret { profile: "people".to_owned(), target: Target::Memory(memory.id), word, texts: vec![text] }
}

/// A session with a word in its name, its messages, what was extracted from them, and a memory saved in it.
async fn session(served: &Served, profile: &str, word: &str) -> Vec<String> {
    let texts = [
        format!("My cousin {word} moved to Lima with her two dogs."),
        format!("Then {word} will need a new vet."),
        format!("{word} is allergic to penicillin."),
    ];
    let message = |role: &str, content: &String| Message {
        role: role.to_owned(),
        content: content.clone(),
        timestamp: time().map(Into::into),
        ..Default::default()
    };
    let ingest = profile::Ingest {
        profile: profile.to_owned(),
        messages: vec![message("user", &texts[0]), message("assistant", &texts[1])],
        session_id: Some(format!("session of {word}")),
        wait: Some(true),
        ..Default::default()
    };
    served.call(ingest).await;
    let remember = profile::Remember {
        profile: profile.to_owned(),
        content: texts[2].clone(),
        session_id: Some(format!("session of {word}")),
        timestamp: time(),
        ..Default::default()
    };
    served.call(remember).await;
    texts.to_vec()
}

/// An image whose bytes are a file of their own.
async fn pictured(served: &Served, number: usize) -> Secret {
    let (profile, thread_id) = ("pictures".to_owned(), "album".to_owned());
    if number == 0 {
        let create =
            thread::Create { profile: profile.clone(), thread_id: Some(thread_id.clone()), ..Default::default() };
        served.call(create).await;
    }
    let word = word("Shownqu", number);
    let text = format!("{word} in front of the lighthouse.");
    let add = thread::AddImage {
        profile: profile.clone(),
        thread_id,
        image: images::base64(&picture(number as u64)),
        description: Some(text.clone()),
        timestamp: time(),
        ..Default::default()
    };
    let image = served.call(add).await.image_id;
    Secret { profile, target: Target::Image(image, number as u64), word, texts: vec![text] }
}

fn picture(seed: u64) -> Vec<u8> {
    images::noise(200, 150, seed)
}

/// The image as it is read; none if it is not there.
async fn shown(client: &Client, profile: &str, image: &str, as_of: Option<AsOf>) -> Option<Vec<u8>> {
    let list = thread::ListImages {
        profile: profile.to_owned(),
        thread_id: "album".to_owned(),
        image_id: Some(image.to_owned()),
        include_bytes: Some(true),
        as_of,
        ..Default::default()
    };
    let mut found = call(client, None, &list).await.expect("the thread is there").reply.images;
    found.pop().map(|image| images::bytes(&image.image.expect("its bytes")))
}

async fn talk(served: &Served, number: usize) -> Secret {
    let word = word("Talkedqu", number);
    let texts = session(served, "talks", &word).await;
    let target = Target::Session(format!("session of {word}"));
    Secret { profile: "talks".to_owned(), target, word, texts }
}

/// A profile with the word in its name and in a speaker's.
async fn whole(served: &Served, number: usize) -> Secret {
    let word = word("Wholequ", number);
    let profile = format!("family of {word}");
    let speaker = format!("Uncle {word}");
    served.call(speaker::Add { profile: profile.clone(), speaker: speaker.clone() }).await;
    let mut texts = session(served, &profile, &word).await;
    let text = format!("{word} plays the viola.");
    let remember = profile::Remember {
        profile: profile.clone(),
        content: text.clone(),
        speaker: Some(speaker),
        timestamp: time(),
        ..Default::default()
    };
    served.call(remember).await;
    texts.push(text);
    Secret { profile, target: Target::Profile, word, texts }
}

/// The contents that a search for the secret's word finds, now or as of a position; no profile, no contents.
async fn found(client: &Client, secret: &Secret, as_of: Option<AsOf>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    // A message that a hit was made from is not listed beside it, so that both kinds are asked for.
    for types in [json!(["message"]), json!(["fact", "event", "instruction", "task"]), json!(["image"])] {
        let search = profile::Search {
            profile: secret.profile.clone(),
            query: secret.word.clone(),
            types: serde_json::from_value(types).unwrap(),
            limit: Some(100),
            // What was corrected meanwhile is to be forgotten all the same.
            include_invalid: Some(true),
            as_of,
            ..Default::default()
        };
        match call(client, None, &search).await {
            Ok(answer) => all.extend(answer.reply.memories.into_iter().filter_map(|memory| memory.content.flatten())),
            Err(CallError::Refused(error)) if error.kind == Kind::NotFound => {}
            Err(error) => panic!("{secret:?}: {error}"),
        }
    }
    all.retain(|text| text.contains(&secret.word));
    all
}

/// Whether it is there; a half of it fails.
async fn is_there(client: &Client, secret: &Secret) -> bool {
    let found = found(client, secret, None).await;
    if found.is_empty() {
        return false;
    }
    for text in &secret.texts {
        assert!(found.contains(text), "{secret:?} is there by half: {found:?}");
    }
    if let Target::Memory(id) = &secret.target {
        let read = profile::Memory { profile: secret.profile.clone(), memory_id: id.clone(), as_of: None };
        let memory = call(client, None, &read).await.expect("what is found is read").reply.memory;
        assert!(memory.metadata["place"].as_str().is_some_and(|place| place.contains(&secret.word)));
    }
    if let Target::Image(id, seed) = &secret.target {
        assert!(shown(client, &secret.profile, id, None).await == Some(picture(*seed)), "{secret:?} is there by half");
    }
    true
}

async fn forget(client: &Client, secret: &Secret) -> Result<(), CallError> {
    let profile = secret.profile.clone();
    match secret.target.clone() {
        Target::Memory(memory_id) => call(client, None, &profile::Forget { profile, memory_id }).await.map(drop),
        Target::Image(image_id, _) => {
            let thread_id = "album".to_owned();
            call(client, None, &thread::DeleteImage { profile, thread_id, image_id }).await.map(drop)
        }
        Target::Session(session_id) => {
            call(client, None, &profile::DeleteSession { profile, session_id }).await.map(drop)
        }
        Target::Profile => call(client, None, &profile::Delete { profile }).await.map(drop),
    }
}

/// Forgets all at once and kills after so many pings, which pass the time of a process that is busy with something else;
/// those that had a reply.
async fn forget_and_kill(served: Served, secrets: &[Secret], pings: usize) -> Vec<bool> {
    let mut under_way = JoinSet::new();
    for (at, secret) in secrets.iter().cloned().enumerate() {
        let (client, mut death) = (served.client(at), served.death());
        under_way.spawn(async move {
            let done = unless_dead(&mut death, forget(&client, &secret)).await;
            let done = done.map(|done| done.unwrap_or_else(|error| panic!("{secret:?}: {error}")));
            (at, done.is_some())
        });
    }
    let clock = served.client(secrets.len()).nats().clone();
    for _ in 0..pings {
        clock.request("$SRV.PING.memlog", "".into()).await.expect("memlog lives");
    }
    served.kill().await;
    let mut done = vec![false; secrets.len()];
    while let Some(ended) = under_way.join_next().await {
        let (at, acknowledged) = ended.unwrap();
        done[at] = acknowledged;
    }
    done
}

/// A reply as text; none if there is nothing to reply about.
async fn told<V: Verb>(client: &Client, request: V) -> String
where
    V::Reply: serde::Serialize,
{
    match call(client, None, &request).await {
        Ok(answer) => serde_json::to_string(&answer.reply).unwrap(),
        Err(CallError::Refused(error)) if error.kind == Kind::NotFound => String::new(),
        Err(error) => panic!("{}.{}: {error}", V::NOUN, V::VERB),
    }
}

/// Every read that is not a search, of the present and of the moment before anything was forgotten.
async fn all_reads(client: &Client, profiles: &BTreeSet<String>, before: AsOf) -> String {
    let mut all = String::new();
    for as_of in [None, Some(before)] {
        all += &told(client, profile::List { limit: Some(500), cursor: None, as_of }).await;
        for profile in profiles.iter().cloned() {
            let (query, as_of) = ("Who moved to Lima?".to_owned(), as_of);
            let recall = profile::Recall { profile: profile.clone(), query, as_of, ..Default::default() };
            let summary = profile::Summary { profile: profile.clone(), session_id: None, as_of };
            let memories = profile::Memories { profile, limit: Some(500), as_of, ..Default::default() };
            let parts = [told(client, recall).await, told(client, summary).await, told(client, memories).await];
            all.extend(parts);
        }
    }
    let mut from_seq = None;
    loop {
        let exported = call(client, None, &audit::Export { from_seq, ..Default::default() }).await.unwrap().reply;
        all += &exported.lines;
        from_seq = exported.next_seq;
        if from_seq.is_none() {
            return all;
        }
    }
}

/// What must be in no file once these are gone.
fn needles(gone: &[&Secret], model: Option<&Encoder>) -> Needles {
    let mut needles = Needles::default();
    for secret in gone {
        needles.add(secret.word.as_str(), secret.word.as_bytes());
        if let Target::Image(_, seed) = &secret.target {
            needles.add(format!("the bytes of {}", secret.word), &picture(*seed)[100..164]);
        }
        let Some(model) = model else { continue };
        // One a secret: the others of it were kept and erased in the same way.
        let text = format!("({SAID_IN_WORDS}): {}", secret.texts[0]);
        let vector = model.embed(&text, Purpose::Passage).unwrap();
        let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
        for part in bytes.chunks_exact(64) {
            needles.add(format!("the vector of {}", secret.word), part);
        }
    }
    needles
}

/// Every proof that these are gone.
async fn assert_gone(served: &Served, places: &[PathBuf], gone: &[&Secret], before: AsOf, model: Option<&Encoder>) {
    let client = served.client(0);
    for secret in gone {
        for as_of in [None, Some(before)] {
            assert_eq!(found(&client, secret, as_of).await, BTreeSet::new(), "{secret:?} as of {as_of:?}");
            if let Target::Memory(id) = &secret.target {
                let read = profile::Memory { profile: secret.profile.clone(), memory_id: id.clone(), as_of };
                assert_eq!(told(&client, read).await, "", "{secret:?} is read by its id");
            }
            if let Target::Image(id, _) = &secret.target {
                assert!(shown(&client, &secret.profile, id, as_of).await.is_none(), "{secret:?} is shown");
            }
        }
    }
    let profiles = gone.iter().map(|secret| secret.profile.clone()).collect();
    let told = all_reads(&client, &profiles, before).await;
    let mut findings = needles(gone, model).find(places);
    let still = gone.iter().filter(|secret| told.contains(&secret.word));
    findings.extend(still.map(|secret| format!("{} is in a reply", secret.word)));
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

async fn remember_all(served: &Served) -> Vec<Secret> {
    let mut secrets = Vec::new();
    for number in 0..SECRETS {
        let (one, two) = (saved(served, number).await, talk(served, number).await);
        secrets.extend([one, two, whole(served, number).await, pictured(served, number).await]);
    }
    for secret in &secrets {
        // A search waits for the vectors, so that there is something to erase.
        assert!(is_there(&served.client(0), secret).await, "{secret:?}");
    }
    secrets
}

fn model(found: bool) -> Option<Encoder> {
    found.then(|| Encoder::load(&ModelFolder::find(None).unwrap()).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_being_forgotten_when_the_process_died_is_forgotten() {
    let Some(mut world) = World::on_own_server().await else { return };
    let model = model(world.bring_model());
    let mut served = world.serve().await;
    let secrets = remember_all(&served).await;
    let before = AsOf::Seq(served.call(audit::Stats::default()).await.head.seq);
    let places: Vec<PathBuf> = [world.stores(), vec![world.log()]].concat();
    assert!(world.data().join("nats/jetstream").is_dir(), "JetStream's files are among those looked at");

    for part in secrets.chunks(secrets.len().div_ceil(ROUNDS)) {
        let done = forget_and_kill(served, part, random("pings before the kill", 0, PINGS_MAX)).await;
        served = world.serve().await;
        let (mut gone, mut left) = (Vec::new(), Vec::new());
        for (secret, acknowledged) in part.iter().zip(&done) {
            match is_there(&served.client(0), secret).await {
                true if *acknowledged => panic!("{secret:?} was acknowledged as forgotten"),
                true => left.push(secret),
                false => gone.push(secret),
            }
        }
        let acknowledged = done.iter().filter(|done| **done).count();
        eprintln!("{acknowledged} of {} acknowledged, {} still there", part.len(), left.len());
        assert_gone(&served, &places, &gone, before, model.as_ref()).await;
        for secret in left {
            forget(&served.client(0), secret).await.unwrap();
        }
    }
    let all: Vec<&Secret> = secrets.iter().collect();
    assert_gone(&served, &places, &all, before, model.as_ref()).await;
    let verified = served.call(audit::Verify::default()).await;
    assert!(verified.ok, "{:?}", verified.first_break);
    served.stop().await;
}
