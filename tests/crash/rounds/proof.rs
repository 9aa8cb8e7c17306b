//! What is proved besides the trees: no word that is gone is in any read, now or then, or in any file, and what is there is found.

use std::{collections::BTreeSet, path::PathBuf};

use fastrand::Rng;
use futures::{StreamExt, stream};
use serde_json::{Value, json};

use super::{
    commands::admin,
    fading,
    hand::{Hand, MARK, words},
    look::{READERS, Reader},
    tree::fields,
};
use crate::{grep::Needles, world::Served};

/// Things of one client that are searched for after a round.
const SOUGHT: usize = 4;

/// Every read that is not part of a look, so that each may show what it must not.
pub(super) async fn other_reads(reader: &Reader<'_>, hands: &[Hand]) {
    let asking = hands.iter().map(|hand| of_one(reader, hand));
    stream::iter(asking).buffer_unordered(READERS).for_each(|()| async {}).await;
    for verb in ["note.admin_list", "note.kinds"] {
        reader.get(verb, &admin("root"), json!({})).await;
    }
    reader.get("job.list", &[], json!({ "limit": 100 })).await;
}

/// The log as it is shown, exported, counted and verified, which holds no word at all.
pub(super) async fn whole_log(reader: &Reader<'_>) {
    let mut from = Some(0);
    while let Some(seq) = from {
        let page = reader.get("audit.events", &[], json!({ "from_seq": seq, "limit": 500 })).await;
        let last = page["events"].as_array().and_then(|events| events.last());
        from = last.map(|event| event["seq"].as_u64().expect("a position") + 1);
    }
    let mut from = json!(0);
    while !from.is_null() {
        let page = reader.get("audit.export", &[], json!({ "from_seq": from, "limit": 500 })).await;
        from = page["next_seq"].clone();
    }
    for verb in ["audit.stats", "audit.verify"] {
        reader.get(verb, &[], json!({})).await;
    }
}

async fn of_one(reader: &Reader<'_>, hand: &Hand) {
    let query = format!("{} collects stamps and keeps the old map", hand.user());
    for (profile, of_it) in fields(&hand.tree["profiles"]) {
        let asked = json!({ "profile": profile, "query": query, "include_invalid": true, "limit": 50 });
        reader.get("profile.search", &[], asked.clone()).await;
        reader.get("profile.recall", &[], asked).await;
        reader.get("profile.summary", &[], json!({ "profile": profile })).await;
        for (speaker, _) in fields(&of_it["speakers"]) {
            reader.get("speaker.memories", &[], json!({ "profile": profile, "speaker": speaker })).await;
        }
        for (_, record) in fields(&of_it["records"]).take(2) {
            reader.get("profile.history", &[], json!({ "profile": profile, "memory_id": record["id"] })).await;
        }
        for (thread, it) in fields(&of_it["threads"]).take(2) {
            let named = json!({ "profile": profile, "thread_id": thread });
            for verb in ["thread.get", "thread.get_context_card", "thread.get_summary"] {
                reader.get(verb, &[], named.clone()).await;
            }
            let asked = json!({ "profile": profile, "thread_id": thread, "query": query, "max_results": 50 });
            reader.get("thread.search", &[], asked).await;
            if let Some(message) = it["messages"].as_array().and_then(|all| all.last()) {
                let one = json!({ "profile": profile, "thread_id": thread, "message_id": message["id"] });
                reader.get("thread.get_message", &[], one).await;
            }
        }
    }
    let headers = [("Memlog-User", hand.user()), ("Memlog-Groups", hand.group())];
    for (_, notebook) in fields(&hand.tree["notebooks"]) {
        let asked = json!({ "id": notebook["id"], "query": query });
        reader.get("memory.search", &headers, asked).await;
    }
    for (_, agent) in fields(&hand.tree["agents"]) {
        let brief = json!({ "agent": agent["id"], "format": "markdown" });
        let headers = headers.iter().take(usize::from(!agent["user_id"].is_null()));
        reader.get("agent.brief", &headers.cloned().collect::<Vec<_>>(), brief).await;
    }
    reader.get("note.memory_list", &headers, json!({})).await;
}

/// Every word that was read belongs to something that lives.
pub(super) fn all_living(reader: &Reader<'_>, hands: &[Hand]) {
    let living: BTreeSet<String> = hands.iter().flat_map(Hand::living).collect();
    let replies = reader.replies.lock().unwrap();
    // A racer's are for ever, and what ends by the clock is looked after elsewhere.
    let others = [format!("{MARK}z"), fading::mark()];
    let gone = |word: &String| !living.contains(word) && !others.iter().any(|other| word.starts_with(other));
    if let Some(word) = words(&replies).into_iter().find(gone) {
        let line = replies.lines().find(|line| words(line).contains(&word)).unwrap_or_default();
        let hand = hands.iter().find(|hand| word[MARK.len()..].starts_with(hand.letter));
        let told = hand.map(Hand::told).unwrap_or_default();
        panic!("{word} is gone and is read as of {:?}: {line:.3000}\n{told}", reader.as_of);
    }
}

/// No file holds a word, living or gone: files receive sealed bytes alone.
pub(super) fn files_are_sealed(places: &[PathBuf]) {
    let mut needles = Needles::default();
    needles.add("a text", MARK);
    let found = needles.find(places);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// All that each client has is found by its word, or what is drawn of it.
pub(super) async fn is_found(served: &Served, hands: &[Hand], mut drawn_by: Option<Rng>) {
    let mut asked = Vec::new();
    for hand in hands {
        let mut of_it = things(hand);
        if let Some(rng) = &mut drawn_by {
            rng.shuffle(&mut of_it);
            of_it.truncate(SOUGHT);
        }
        asked.append(&mut of_it);
    }
    let reader = Reader::new(served, None);
    let (reader, letters) = (&reader, &asked);
    let asking = letters.iter().map(|(profile, id, text, types)| async move {
        let word = words(text).into_iter().next().unwrap_or_default();
        let body = json!({ "profile": profile, "query": word, "types": types, "include_invalid": true, "limit": 100 });
        let found = reader.get("profile.search", &[], body).await;
        let there = found["memories"].as_array().into_iter().flatten().any(|it| it["id"] == *id);
        assert!(there, "{id} of {profile:?}, {text:?}, {types}, is not found: {found}");
    });
    stream::iter(asking).buffer_unordered(READERS).for_each(|()| async {}).await;
}

/// What can be searched for: profile, id, a text of it, types.
fn things(hand: &Hand) -> Vec<(String, Value, String, Value)> {
    let mut all = Vec::new();
    for (profile, it) in fields(&hand.tree["profiles"]) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for (_, record) in fields(&it["records"]) {
            all.push((profile.clone(), record["id"].clone(), text(&record["content"]), json!([record["type"]])));
        }
        for (_, thread) in fields(&it["threads"]) {
            for message in thread["messages"].as_array().into_iter().flatten() {
                let of_text = message["content"].as_str().or_else(|| message["content"][0]["text"].as_str());
                let of_text = of_text.unwrap_or_default().to_owned();
                all.push((profile.clone(), message["id"].clone(), of_text, json!(["message"])));
            }
            for (id, image) in fields(&thread["images"]) {
                all.push((profile.clone(), json!(id), text(&image["description"]), json!(["image"])));
            }
        }
    }
    all
}
