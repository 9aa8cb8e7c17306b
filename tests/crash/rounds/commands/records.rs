//! Memories of a profile: remembered, superseded, forgotten.

use serde_json::{Value, json};

use super::{
    super::{
        hand::{Command, Extracted, Hand},
        tree::{fields, told},
    },
    command, metadata, profile_of, remove_records, sentence, session_of,
};

/// Memories of one client in one profile.
const RECORDS: usize = 10;
pub(super) const TYPES: [&str; 7] = ["memory", "fact", "event", "instruction", "task", "guideline", "preference"];

pub(super) fn is_full(hand: &Hand, profile: &str) -> bool {
    fields(&hand.tree["profiles"][profile]["records"]).count() >= RECORDS
}

pub(super) fn remember(hand: &mut Hand) -> Option<Command> {
    let (profile, word) = (hand.profile(), hand.word('r'));
    if is_full(hand, &profile) {
        return None;
    }
    let (content, metadata) = (sentence(hand, &word), metadata(hand));
    let (kind, speaker) = (TYPES[hand.rng.usize(..7)], hand.speaker(&profile));
    let session = hand.rarely(4).then(|| super::messages::session(hand, &profile));
    let days = hand.rarely(4).then_some(30);
    let mut body = json!({ "profile": profile, "content": content, "type": kind, "metadata": metadata });
    for (name, value) in [("speaker", &speaker), ("session_id", &json!(session)), ("ttl_days", &json!(days))] {
        if !value.is_null() {
            body[name] = value.clone();
        }
    }
    let reply = json!({ "status": "stored", "memory": { "content": content } });
    let made = command("profile.remember", vec![], body, move |tree, reply| {
        if let Some(session) = &session {
            session_of(tree, &profile, session);
        }
        profile_of(tree, &profile)["records"][&word] = json!({ "id": told(reply, "/memory/id"), "type": kind,
            "content": content, "metadata": metadata, "speaker": speaker, "session_id": session,
            "expires": days.is_some(), "version": 1, "_key": word });
    });
    Some(made.replying(reply))
}

pub(super) fn supersede(hand: &mut Hand) -> Option<Command> {
    let valid = |record: &Value| record["status"] == "valid" && record["session_id"].is_null();
    let (profile, old) = hand.one(hand.records(valid))?;
    if is_full(hand, &profile) {
        return None;
    }
    let word = hand.word('r');
    let (content, key) = (sentence(hand, &word), old["_key"].as_str()?.to_owned());
    let body = json!({ "profile": profile, "memory_id": old["id"], "content": content });
    Some(command("profile.supersede", vec![], body, move |tree, reply| {
        let records = &mut profile_of(tree, &profile)["records"];
        records[&key]["_invalid"] = json!(true);
        records[&key]["version"] = json!(records[&key]["version"].as_u64().expect("it is known") + 1);
        let mut new = old.clone();
        for (name, value) in [("id", told(reply, "/memory/id")), ("content", json!(content)), ("_key", json!(word))] {
            new[name] = value;
        }
        new["_invalid"] = json!(false);
        new["version"] = json!(1);
        records[&word] = new;
    }))
}

/// One that was saved, or one that extraction made, whose messages go too.
pub(super) fn forget(hand: &mut Hand) -> Option<Command> {
    if hand.rng.bool() && !hand.extracted.is_empty() {
        let at = hand.rng.usize(..hand.extracted.len());
        let it = hand.extracted.swap_remove(at);
        // What else was made of them would stay, without its sources.
        let shared = |other: &Extracted| other.sources.iter().any(|id| it.sources.contains(id));
        let edited = |message: &Value| !message["_was"].is_null() && it.sources.iter().any(|id| message["id"] == **id);
        let messages = &hand.thread(&it.profile, &it.thread)["messages"];
        if hand.extracted.iter().any(shared) || messages.as_array().into_iter().flatten().any(edited) {
            return None;
        }
        let body = json!({ "profile": it.profile, "memory_id": it.id });
        return Some(command("profile.forget", vec![], body, move |tree, _| {
            let thread = session_of(tree, &it.profile, &it.thread);
            let messages = thread["messages"].as_array_mut();
            messages.into_iter().for_each(|all| {
                all.retain(|message| !it.sources.iter().any(|id| message["id"] == **id));
            });
        }));
    }
    let (profile, record) = hand.one(hand.records(|_| true))?;
    let body = json!({ "profile": profile, "memory_id": record["id"] });
    let reply = json!({ "memory": { "content": record["content"], "metadata": record["metadata"] } });
    let made = command("profile.forget", vec![], body, move |tree, _| {
        remove_records(profile_of(tree, &profile), |other| other["id"] == record["id"]);
    });
    Some(made.replying(reply))
}
