//! Profiles, speakers, threads: what others are in.

use serde_json::{Value, json};

use super::{
    super::{
        hand::{Command, Hand},
        tree::{fields, fields_mut, take, told},
    },
    command, metadata, profile_of, remove_thread,
};

/// Speakers of one client in one profile; all share its limit.
const SPEAKERS: usize = 2;
/// Threads of one client in one profile.
const THREADS: usize = 3;

pub(super) fn get(hand: &mut Hand) -> Option<Command> {
    let home = hand.home();
    Some(command("profile.get", vec![], json!({ "profile": home }), move |tree, _| {
        profile_of(tree, &home);
    }))
}

pub(super) fn delete(hand: &mut Hand) -> Option<Command> {
    if !hand.rarely(4) {
        return None;
    }
    let home = hand.home();
    hand.extracted.retain(|it| it.profile != home);
    Some(command("profile.delete", vec![], json!({ "profile": home }), move |tree, _| {
        take(&mut tree["profiles"], &home);
    }))
}

pub(super) fn add_speaker(hand: &mut Hand) -> Option<Command> {
    let (profile, word) = (hand.profile(), hand.word('p'));
    if fields(&hand.tree["profiles"][&profile]["speakers"]).count() >= SPEAKERS {
        return None;
    }
    let speaker = format!("Aunt {word}");
    let body = json!({ "profile": profile, "speaker": speaker });
    Some(command("speaker.add", vec![], body, move |tree, _| {
        profile_of(tree, &profile)["speakers"][&speaker] = json!({});
    }))
}

pub(super) fn remove_speaker(hand: &mut Hand) -> Option<Command> {
    let profile = hand.profile();
    let all = fields(&hand.tree["profiles"][&profile]["speakers"]).map(|(name, _)| name.clone()).collect();
    let speaker = hand.one(all)?;
    let body = json!({ "profile": profile, "speaker": speaker });
    Some(command("speaker.remove", vec![], body, move |tree, _| {
        let profile = profile_of(tree, &profile);
        take(&mut profile["speakers"], &speaker);
        let untag = |said: &mut Value| {
            if said["speaker"] == *speaker {
                said["speaker"] = Value::Null;
            }
        };
        fields_mut(&mut profile["records"]).for_each(|(_, record)| untag(record));
        for (_, thread) in fields_mut(&mut profile["threads"]) {
            thread["messages"].as_array_mut().into_iter().flatten().for_each(untag);
        }
    }))
}

pub(super) fn create_thread(hand: &mut Hand) -> Option<Command> {
    let (profile, word) = (hand.profile(), hand.word('t'));
    let of_its_own = |id: &String| id.starts_with("t-");
    if fields(&hand.tree["profiles"][&profile]["threads"]).filter(|(id, _)| of_its_own(id)).count() >= THREADS {
        return None;
    }
    let (id, owner, metadata) = (format!("t-{word}"), hand.rng.bool().then(|| hand.user()), metadata(hand));
    let body = json!({ "profile": profile, "thread_id": id, "user_id": owner, "metadata": metadata,
        "settings": { "extraction": { "enabled": false }, "retention": { "max_ttl_days": 900 } } });
    Some(command("thread.create", vec![], body, move |tree, reply| {
        let settings = told(reply, "/thread/settings");
        profile_of(tree, &profile)["threads"][&id] = json!({ "user_id": owner, "metadata": metadata, "messages": [],
            "images": {}, "links": {}, "settings": settings });
    }))
}

pub(super) fn delete_thread(hand: &mut Hand) -> Option<Command> {
    delete_with(hand, "thread.delete", "thread_id")
}

pub(super) fn delete_session(hand: &mut Hand) -> Option<Command> {
    delete_with(hand, "profile.delete_session", "session_id")
}

fn delete_with(hand: &mut Hand, verb: &'static str, field: &str) -> Option<Command> {
    let (profile, thread) = hand.one(hand.threads())?;
    hand.extracted.retain(|it| it.thread != thread);
    let body = json!({ "profile": profile, field: thread });
    Some(command(verb, vec![], body, move |tree, _| remove_thread(tree, &profile, &thread)))
}
