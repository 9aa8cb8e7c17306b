//! Notebooks: the account's with two layers, a user's with one; their entries, versions, and the trash.

use memlog_actors::api::error::Kind;
use serde_json::{Value, json};

use super::{
    super::{
        hand::{Command, Hand},
        tree::{fields, take, told},
    },
    command, sentence,
};

/// Notebooks of one client.
const NOTEBOOKS: usize = 3;
/// Entries of one layer.
const ENTRIES: usize = 3;

/// The header of who acts for this user; the account has none.
pub(super) fn as_user(user: &Value) -> Vec<(&'static str, String)> {
    user.as_str().map(|user| ("Memlog-User", user.to_owned())).into_iter().collect()
}

/// Notebooks with their names.
pub(super) fn all(hand: &Hand) -> Vec<(String, Value)> {
    fields(&hand.tree["notebooks"]).map(|(name, notebook)| (name.clone(), notebook.clone())).collect()
}

fn new(id: Value, description: &str, user: &Value) -> Value {
    json!({ "id": id, "description": description, "user_id": user, "entries": {}, "layer": {}, "attached_to": {} })
}

/// The name of a new one, its description and whose it is.
fn fresh(hand: &mut Hand) -> Option<(String, String, Value)> {
    if fields(&hand.tree["notebooks"]).count() >= NOTEBOOKS {
        return None;
    }
    let (name, word) = (format!("n-{}", hand.word('n')), hand.word('d'));
    let owner = if hand.rng.bool() { json!(hand.user()) } else { Value::Null };
    Some((name, format!("What {word} has to know."), owner))
}

pub(super) fn create(hand: &mut Hand) -> Option<Command> {
    if let Some((name, notebook)) = hand.one(all(hand)).filter(|_| hand.rarely(5)) {
        let made = command("memory.create", as_user(&notebook["user_id"]), json!({ "name": name }), |_, _| {});
        return Some(made.refused(Kind::Conflict));
    }
    let (name, description, owner) = fresh(hand)?;
    let body = json!({ "name": name, "description": description });
    Some(command("memory.create", as_user(&owner), body, move |tree, reply| {
        tree["notebooks"][&name] = new(told(reply, "/memory/id"), &description, &owner);
    }))
}

pub(super) fn get(hand: &mut Hand) -> Option<Command> {
    let (name, description, owner) = fresh(hand)?;
    let body = json!({ "name": name, "description": description, "create_if_missing": true });
    Some(command("memory.get", as_user(&owner), body, move |tree, reply| {
        tree["notebooks"][&name] = new(told(reply, "/memory/id"), &description, &owner);
    }))
}

pub(super) fn update(hand: &mut Hand) -> Option<Command> {
    let (name, notebook) = hand.one(all(hand))?;
    let mut body = json!({ "id": notebook["id"] });
    let (mut renamed, mut changed) = (name.clone(), notebook.clone());
    if hand.rng.bool() {
        renamed = format!("n-{}", hand.word('n'));
        body["name"] = json!(renamed);
    } else {
        changed["description"] = json!(format!("What {} should know.", hand.word('d')));
        body["description"] = changed["description"].clone();
    }
    changed["_was"] = json!(format!("{}{name}{}", notebook["_was"], notebook["description"]));
    Some(command("memory.update", as_user(&notebook["user_id"]), body, move |tree, _| {
        take(&mut tree["notebooks"], &name);
        tree["notebooks"][&renamed] = changed.clone();
    }))
}

pub(super) fn delete(hand: &mut Hand) -> Option<Command> {
    let (name, notebook) = hand.one(all(hand))?;
    let body = json!({ "id": notebook["id"] });
    let headers = as_user(&notebook["user_id"]);
    if fields(&notebook["attached_to"]).count() > 0 {
        return Some(command("memory.delete", headers, body, |_, _| {}).refused(Kind::Conflict));
    }
    Some(command("memory.delete", headers, body, move |tree, _| {
        let notebook = take(&mut tree["notebooks"], &name);
        let id = notebook["id"].as_str().expect("it is known").to_owned();
        tree["trash"][id] = json!({ "kind": "memory", "name": name, "_notebook": notebook });
    }))
}

/// What lies in the trash, with its id and whose it was.
fn trashed(hand: &Hand, kind: &str) -> Vec<(String, Value, Value)> {
    let of_kind = fields(&hand.tree["trash"]).filter(|(_, item)| kind.is_empty() || item["kind"] == kind);
    of_kind.map(|(id, item)| (id.clone(), item.clone(), item["_notebook"]["user_id"].clone())).collect()
}

pub(super) fn restore(hand: &mut Hand) -> Option<Command> {
    let (id, item, owner) = hand.one(trashed(hand, "memory"))?;
    let name = item["name"].as_str()?.to_owned();
    Some(command("trash.restore", as_user(&owner), json!({ "id": id }), move |tree, _| {
        take(&mut tree["trash"], &id);
        tree["notebooks"][&name] = item["_notebook"].clone();
    }))
}

pub(super) fn purge(hand: &mut Hand) -> Option<Command> {
    let (id, _, owner) = hand.one(trashed(hand, ""))?;
    Some(command("trash.purge", as_user(&owner), json!({ "id": id }), move |tree, _| {
        take(&mut tree["trash"], &id);
    }))
}

/// A layer that is written to: where in the tree, the notebook's id, and who writes.
struct Layer {
    path: String,
    id: Value,
    headers: Vec<(&'static str, String)>,
}

/// Any layer of a notebook or of an agent's own memory.
fn layer(hand: &mut Hand) -> Option<Layer> {
    if hand.rarely(4) {
        let agents = fields(&hand.tree["agents"]).map(|(name, agent)| (name.clone(), agent.clone())).collect();
        let (name, agent) = hand.one(agents)?;
        let mut headers = as_user(&agent["user_id"]);
        headers.push(("Memlog-Agent", agent["id"].as_str()?.to_owned()));
        return Some(Layer { path: format!("/agents/{name}/entries"), id: agent["memory_id"].clone(), headers });
    }
    let (name, notebook) = hand.one(all(hand))?;
    let own = notebook["user_id"].is_null() && hand.rng.bool();
    let (place, user) = if own { ("layer", json!(hand.user())) } else { ("entries", notebook["user_id"].clone()) };
    Some(Layer { path: format!("/notebooks/{name}/{place}"), id: notebook["id"].clone(), headers: as_user(&user) })
}

/// The version that an entry's next save gets: none is used twice, also after it was forgotten.
fn versions(tree: &Value, path: &str, entry: &str) -> Vec<Value> {
    let past = &tree.pointer(path).expect("a layer")["_past"][entry];
    let now = &tree.pointer(path).expect("a layer")[entry]["history"];
    let of = |all: &Value| all.as_array().cloned().unwrap_or_default();
    if now.is_array() { of(now) } else { of(past) }
}

pub(super) fn save(hand: &mut Hand) -> Option<Command> {
    let Layer { path, id, headers } = layer(hand)?;
    let shown = |(name, _): &(&String, &Value)| !name.starts_with('_');
    let there: Vec<String> = fields(hand.tree.pointer(&path)?).filter(shown).map(|(name, _)| name.clone()).collect();
    // A name that was used and forgotten, a new one, or one that is there.
    let past = fields(&hand.tree.pointer(&path)?["_past"]).map(|(name, _)| name.clone()).collect();
    let is_new = there.is_empty() || there.len() < ENTRIES && hand.rng.bool();
    let entry = match is_new {
        true if hand.rng.bool() => hand.one(past).unwrap_or_else(|| format!("e-{}", hand.word('e'))),
        true => format!("e-{}", hand.word('e')),
        false => hand.one(there)?,
    };
    let word = hand.word('v');
    let (content, mut history) = (sentence(hand, &word), versions(&hand.tree, &path, &entry));
    let old = hand.tree.pointer(&path)?[&entry].clone();
    let version = history.len() as u64 + 1;
    let mut body = json!({ "id": id, "entry": entry, "content": content });
    let described = !old["version"].is_u64() || hand.rarely(3);
    let description = if described { json!(format!("About {}", hand.word('d'))) } else { old["description"].clone() };
    if described {
        body["description"] = description.clone();
    }
    if old["version"].is_u64() && hand.rng.bool() {
        let stale = hand.rarely(3);
        body["version"] = json!(if stale { version + 3 } else { version - 1 });
        if stale {
            return Some(command("memory.save", headers, body, |_, _| {}).refused(Kind::Conflict));
        }
    }
    history.push(json!([version, content, description]));
    let reply = json!({ "entry": { "version": version, "content": content } });
    let made = command("memory.save", headers, body, move |tree, _| {
        let layer = tree.pointer_mut(&path).expect("a layer");
        layer[&entry] =
            json!({ "content": content, "description": description, "version": version, "history": history });
    });
    Some(made.replying(reply))
}

pub(super) fn forget(hand: &mut Hand) -> Option<Command> {
    let Layer { path, id, headers } = layer(hand)?;
    let shown = fields(hand.tree.pointer(&path)?).filter(|(name, _)| !name.starts_with('_'));
    let entry = hand.one(shown.map(|(name, _)| name.clone()).collect())?;
    let body = json!({ "id": id, "entry": entry });
    Some(command("memory.forget", headers, body, move |tree, _| {
        let layer = tree.pointer_mut(&path).expect("a layer");
        let old = take(layer, &entry);
        let past = old["history"].as_array().into_iter().flatten().map(|it| json!([it[0], null, null]));
        let past: Vec<Value> = past.collect();
        layer["_past"][&entry] = json!(past);
    }))
}
