//! What does not last: memories, messages and images that end by the clock some seconds after they were saved, whoever dies meanwhile.
//! From then on no read shows them, now or as of any time, and no repeat, search, restart or rebuild brings them back.

use std::{ops::Range, time::Duration};

use fastrand::Rng;
use futures::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};
use memlog::client::{CallError, Client};
use memlog_actors::{api::error::Kind, port::Clock};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::{
    Tally,
    hand::MARK,
    look::{READERS, Reader},
    wire::{Said, read, send},
};
use crate::{
    support::{images, served::Wall},
    world::{Served, unless_dead},
};

/// A profile and a thread of it; nothing else is in there, and nothing is made from it.
const PLACE: &str = "fading";
/// The shortest that the door takes. It counts from a timestamp, so that its end can be in some seconds all the same.
const TTL: SignedDuration = SignedDuration::from_hours(24);
/// How long a thing lives: some end before their process does, most while it is dead or after it is back.
const LIFE_MS: Range<u64> = 200..9_000;
/// Things of a round: enough for every kind at every moment.
const THINGS: usize = 24;
/// Things of earlier rounds that are looked for one by one; in what else is read all are.
const SOUGHT: usize = 12;

/// Something that ends.
pub(super) struct Thing {
    word: String,
    ends: Timestamp,
    said: Said,
    /// Whether it was acknowledged.
    heard: bool,
}

/// What every word of these begins with.
pub(super) fn mark() -> String {
    format!("{MARK}y")
}

fn word(round: usize, number: usize) -> String {
    let letters: String = format!("{round:04}{number:04}").bytes().map(|digit| char::from(digit + 49)).collect();
    format!("{}{letters}x", mark())
}

/// Makes the place.
pub(super) async fn open(served: &Served) {
    let settings = json!({ "extraction": { "enabled": false } });
    let body = json!({ "profile": PLACE, "thread_id": PLACE, "settings": settings });
    send(&served.client(0), &Said::new("thread.create", vec![], body)).await.unwrap();
}

fn thing(number: usize, word: String, rng: &mut Rng) -> Thing {
    let ends = Wall.now() + Duration::from_millis(rng.u64(LIFE_MS));
    let content = format!("{word} has the parking spot.");
    let mut body = json!({ "profile": PLACE, "thread_id": PLACE, "ttl_days": 1, "ttl_anchor": "timestamp" });
    let mut with =
        |fields: Value| body.as_object_mut().expect("an object").extend(fields.as_object().cloned().unwrap());
    let timestamp = (ends - TTL).to_string();
    let verb = match number % 3 {
        0 => {
            with(json!({ "content": content, "memory_id": format!("r-{word}"), "timestamp": timestamp }));
            "thread.add_memory"
        }
        1 => {
            let message =
                json!({ "role": "user", "content": content, "id": format!("m-{word}"), "timestamp": timestamp });
            with(json!({ "messages": [message] }));
            "thread.add_messages"
        }
        _ => {
            let image = images::base64(&images::noise(8, 8, rng.u64(..)));
            with(json!({ "image": image, "description": content, "image_id": format!("i-{word}"),
                "timestamp": timestamp }));
            "thread.add_image"
        }
    };
    let key = rng.bool().then(|| format!("key-{word}"));
    Thing { word, ends, said: Said { key, ..Said::new(verb, vec![], body) }, heard: false }
}

/// Saves them until the process dies, and then no more.
pub(super) async fn fade(
    client: Client,
    mut death: watch::Receiver<bool>,
    round: usize,
    mut rng: Rng,
    heard: mpsc::Sender<()>,
) -> Vec<Thing> {
    let mut all = Vec::new();
    for number in 0..THINGS {
        let mut it = thing(number, word(round, number), &mut rng);
        let answer = unless_dead(&mut death, send(&client, &it.said)).await;
        it.heard = matches!(answer, Some(Ok(_)));
        let over = match &answer {
            Some(Ok(_)) => false,
            Some(Err(CallError::Refused(error))) if error.kind == Kind::Unavailable => true,
            None | Some(Err(CallError::NobodyAnswers | CallError::Transport(_) | CallError::Silence(_))) => true,
            Some(Err(error)) => panic!("{:?}: {error}", it.said),
        };
        all.push(it);
        if over {
            break;
        }
        heard.try_send(()).unwrap_or_default();
    }
    all
}

impl Thing {
    fn is_over(&self, now: Timestamp) -> bool {
        now >= self.ends
    }

    /// Asks for it by its id and by its words; whether each shows it.
    async fn is_shown(&self, client: &Client) -> [bool; 2] {
        let id = |letter: char| json!(format!("{letter}-{}", self.word));
        let (verb, by_id) = match self.said.verb {
            "thread.add_memory" => ("profile.memory", json!({ "profile": PLACE, "memory_id": id('r') })),
            "thread.add_messages" => {
                ("thread.get_message", json!({ "profile": PLACE, "thread_id": PLACE, "message_id": id('m') }))
            }
            _ => ("thread.list_images", json!({ "profile": PLACE, "thread_id": PLACE, "image_id": id('i') })),
        };
        let by_words = json!({ "profile": PLACE, "query": self.word, "include_invalid": true, "limit": 100 });
        let mut shown = [false; 2];
        for (shown, (verb, body)) in shown.iter_mut().zip([(verb, by_id), ("profile.search", by_words)]) {
            *shown = read(client, verb, &[], body, None).await.to_string().contains(&self.word);
        }
        shown
    }

    async fn check(&self, client: &Client) -> (usize, usize) {
        let before = Wall.now();
        let shown = self.is_shown(client).await;
        let after = Wall.now();
        if self.is_over(before) {
            assert_eq!(shown, [false; 2], "{} ended at {} and is shown at {before}", self.said.body, self.ends);
            self.repeat(client).await;
            return (0, 1);
        }
        let lives = self.heard && !self.is_over(after);
        assert!(!lives || shown == [true; 2], "{} ends at {} and is gone at {after}", self.said.body, self.ends);
        (usize::from(lives), 0)
    }

    /// A repeat is told that it was done, and not what it said.
    async fn repeat(&self, client: &Client) {
        if !self.heard || self.said.key.is_none() {
            return;
        }
        let (reply, replayed) =
            send(client, &self.said).await.unwrap_or_else(|error| panic!("{:?}: {error}", self.said));
        assert!(replayed, "{:?}", self.said);
        assert!(!reply.to_string().contains("parking spot"), "{:?}: {reply}", self.said);
    }
}

/// Those of this round and some of those before are there until they end, and not from then on.
pub(super) async fn check(served: &Served, all: &[Thing], rng: &mut Rng, tally: &mut Tally) {
    let (before, last) = all.split_at(all.len().saturating_sub(THINGS));
    let mut sought: Vec<&Thing> = before.iter().collect();
    rng.shuffle(&mut sought);
    let sought = sought.into_iter().take(SOUGHT).chain(last);
    let checked = sought.enumerate().map(|(at, it)| async move { it.check(&served.client(at)).await });
    let checked: Vec<(usize, usize)> = stream::iter(checked).buffer_unordered(READERS).collect().await;
    for (living, over) in checked {
        tally.living += living;
        tally.over += over;
    }
}

/// Reads of the place, each of which may show what it must not.
pub(super) async fn reads(reader: &Reader<'_>) {
    let query = "who has the parking spot?";
    let of_profile = json!({ "profile": PLACE, "query": query, "include_invalid": true, "limit": 50 });
    let in_thread = json!({ "profile": PLACE, "thread_id": PLACE });
    reader.get("profile.search", &[], of_profile).await;
    reader.get("profile.recall", &[], json!({ "profile": PLACE, "query": query })).await;
    reader.get("profile.summary", &[], json!({ "profile": PLACE })).await;
    for verb in ["thread.get", "thread.get_context_card", "thread.get_summary"] {
        reader.get(verb, &[], in_thread.clone()).await;
    }
    let asked = json!({ "profile": PLACE, "thread_id": PLACE, "query": query, "max_results": 50 });
    reader.get("thread.search", &[], asked).await;
}

/// No reply holds what had ended before the first of them was asked for.
pub(super) fn none_is_read(reader: &Reader<'_>, all: &[Thing]) {
    let replies = reader.replies.lock().unwrap();
    for it in all.iter().filter(|it| it.is_over(reader.begun)) {
        if let Some(line) = replies.lines().find(|line| line.contains(&it.word)) {
            panic!("{} ended at {} and is read as of {:?}: {line:.3000}", it.said.body, it.ends, reader.as_of);
        }
    }
}
