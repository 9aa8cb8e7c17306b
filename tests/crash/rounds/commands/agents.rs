//! Agents: of the account or of a user, with what they attach and a memory of their own.

use memlog_actors::api::error::Kind;
use serde_json::{Value, json};

use super::{
    super::{
        hand::{Command, Hand},
        tree::{fields, take, told},
    },
    command,
    notebooks::{self, as_user},
};

/// Agents of one client.
const AGENTS: usize = 2;

fn all(hand: &Hand) -> Vec<(String, Value)> {
    fields(&hand.tree["agents"]).map(|(name, agent)| (name.clone(), agent.clone())).collect()
}

/// Some notebooks that an agent of this owner may attach.
fn attachments(hand: &mut Hand, owner: &Value) -> Value {
    let mut memories = Vec::new();
    for (_, notebook) in notebooks::all(hand) {
        let of = &notebook["user_id"];
        if (of.is_null() || of == owner) && hand.rng.bool() {
            // A user's agent never writes what is the account's.
            let writes = of == owner && hand.rng.bool();
            memories.push(json!({ "memory": notebook["id"], "writes": writes }));
        }
    }
    json!(memories)
}

fn make(hand: &mut Hand, verb: &'static str, more: &Value) -> Option<Command> {
    if fields(&hand.tree["agents"]).count() >= AGENTS {
        return None;
    }
    let (name, word) = (format!("a-{}", hand.word('a')), hand.word('d'));
    let owner = if hand.rng.bool() { json!(hand.user()) } else { Value::Null };
    let (instructions, memories) = (format!("Be kind to {word}."), attachments(hand, &owner));
    let mut body = json!({ "name": name, "instructions": instructions, "memories": memories });
    fields(more).for_each(|(field, value)| body[field] = value.clone());
    Some(command(verb, as_user(&owner), body, move |tree, reply| {
        tree["agents"][&name] = json!({ "id": told(reply, "/agent/id"), "instructions": instructions,
            "memory_id": told(reply, "/agent/memory_id"), "memories": memories, "user_id": owner, "entries": {} });
    }))
}

pub(super) fn create(hand: &mut Hand) -> Option<Command> {
    if let Some((name, agent)) = hand.one(all(hand)).filter(|_| hand.rarely(5)) {
        let made = command("agent.create", as_user(&agent["user_id"]), json!({ "name": name }), |_, _| {});
        return Some(made.refused(Kind::Conflict));
    }
    make(hand, "agent.create", &json!({}))
}

pub(super) fn get(hand: &mut Hand) -> Option<Command> {
    make(hand, "agent.get", &json!({ "create_if_missing": true }))
}

pub(super) fn update(hand: &mut Hand) -> Option<Command> {
    let (name, agent) = hand.one(all(hand))?;
    let (mut new, mut renamed) = (agent.clone(), name.clone());
    let mut body = json!({ "id": agent["id"] });
    match hand.rng.u32(..3) {
        0 => {
            renamed = format!("a-{}", hand.word('a'));
            body["name"] = json!(renamed);
        }
        1 => {
            new["instructions"] = json!(format!("Be fair to {}.", hand.word('d')));
            body["instructions"] = new["instructions"].clone();
        }
        _ => {
            new["memories"] = attachments(hand, &agent["user_id"]);
            body["memories"] = new["memories"].clone();
        }
    }
    new["_was"] = json!(format!("{}{name}{}", agent["_was"], agent["instructions"]));
    Some(command("agent.update", as_user(&agent["user_id"]), body, move |tree, _| {
        take(&mut tree["agents"], &name);
        tree["agents"][&renamed] = new.clone();
    }))
}

/// Its own memory goes to the trash with it.
pub(super) fn delete(hand: &mut Hand) -> Option<Command> {
    let (name, agent) = hand.one(all(hand))?;
    let (id, owner) = (agent["memory_id"].as_str()?.to_owned(), agent["user_id"].clone());
    Some(command("agent.delete", as_user(&owner), json!({ "id": agent["id"] }), move |tree, _| {
        let agent = take(&mut tree["agents"], &name);
        tree["trash"][&id] = json!({ "kind": "agent_memory", "name": null,
            "_notebook": { "user_id": agent["user_id"], "entries": agent["entries"] } });
    }))
}
