//! Links between two memories of a thread.

use serde_json::{Value, json};

use super::{
    super::{
        hand::{Command, Hand},
        tree::{fields, take},
    },
    command, profile_of,
};

pub(super) const TYPES: [&str; 6] = ["supports", "contradicts", "refines", "duplicates", "supersedes", "cites"];

/// Links, each with its profile, its thread and its id.
fn all(hand: &Hand) -> Vec<(String, String, String)> {
    let of = |(profile, thread): (String, String)| {
        let links = fields(&hand.thread(&profile, &thread)["links"]);
        links.map(|(id, _)| (profile.clone(), thread.clone(), id.clone())).collect::<Vec<_>>()
    };
    hand.threads().into_iter().flat_map(of).collect()
}

pub(super) fn link(hand: &mut Hand) -> Option<Command> {
    let (profile, source) = hand.one(hand.records(|record| !record["session_id"].is_null()))?;
    let thread = source["session_id"].as_str()?.to_owned();
    let links = hand.thread(&profile, &thread)["links"].clone();
    let ends = |link: &Value, one: &Value, other: &Value| link["source"] == *one && link["target"] == *other;
    let free = |target: &Value| {
        let linked = |link: &Value| ends(link, &source["id"], target) || ends(link, target, &source["id"]);
        *target != source["id"] && !fields(&links).any(|(_, link)| linked(link))
    };
    let others = fields(&hand.tree["profiles"][&profile]["records"]);
    let others = others.filter(|(_, other)| other["session_id"] == *thread && free(&other["id"]));
    let others: Vec<Value> = others.map(|(_, other)| other.clone()).collect();
    let target = hand.one(others)?;
    let (word, kind) = (hand.word('l'), TYPES[hand.rng.usize(..TYPES.len())]);
    let (id, metadata) = (format!("l-{word}"), json!({ "why": word }));
    let body = json!({ "profile": profile, "thread_id": thread, "relation_id": id, "relation_type": kind,
        "source_record_id": source["id"], "source_record_type": source["type"], "target_record_id": target["id"],
        "target_record_type": target["type"], "metadata": metadata });
    Some(command("thread.link_records", vec![], body, move |tree, _| {
        profile_of(tree, &profile)["threads"][&thread]["links"][&id] =
            json!({ "source": source["id"], "target": target["id"], "type": kind, "metadata": metadata });
    }))
}

pub(super) fn update(hand: &mut Hand) -> Option<Command> {
    let (profile, thread, id) = hand.one(all(hand))?;
    let metadata = json!({ "why": hand.word('l') });
    let body = json!({ "profile": profile, "thread_id": thread, "relation_id": id, "metadata": metadata });
    let made = command("thread.update_record_link", vec![], body, move |tree, _| {
        let link = &mut profile_of(tree, &profile)["threads"][&thread]["links"][&id];
        link["_was"] = json!(format!("{}{}", link["_was"], link["metadata"]));
        link["metadata"] = metadata.clone();
    });
    Some(made.replying(json!({ "updated": 1 })))
}

pub(super) fn delete(hand: &mut Hand) -> Option<Command> {
    let (profile, thread, id) = hand.one(all(hand))?;
    let body = json!({ "profile": profile, "thread_id": thread, "relation_id": id });
    let made = command("thread.delete_record_link", vec![], body, move |tree, _| {
        take(&mut profile_of(tree, &profile)["threads"][&thread]["links"], &id);
    });
    Some(made.replying(json!({ "deleted": 1 })))
}
