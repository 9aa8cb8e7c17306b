//! Trees of what is expected, and their comparison with what is read.

use serde_json::{Map, Value, json};

/// What only the reply that never came would have told.
pub(super) const UNTOLD: &str = "?";
/// Links whose target is invalid for as long as they live.
const INVALIDATING: [&str; 3] = ["supersedes", "refines", "duplicates"];

/// What a record or a note says, and whom it names.
const TEXTS: [&str; 10] =
    ["content", "summary", "speaker", "name", "category", "info", "body", "text", "group", "login"];

/// A profile in which nothing is.
pub(super) fn empty_profile() -> Value {
    json!({ "speakers": {}, "records": {}, "threads": {} })
}

/// The place in a reply, or what is untold.
pub(super) fn told(reply: &Value, pointer: &str) -> Value {
    reply.pointer(pointer).cloned().unwrap_or_else(|| json!(UNTOLD))
}

/// The fields of an object; none of what is no object.
pub(super) fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The fields of an object to change.
pub(super) fn fields_mut(value: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    value.as_object_mut().into_iter().flatten()
}

/// Takes a field out.
pub(super) fn take(value: &mut Value, key: &str) -> Value {
    value.as_object_mut().and_then(|fields| fields.remove(key)).unwrap_or_default()
}

fn is_hidden(key: &str) -> bool {
    key.starts_with('_')
}

/// Whether what is seen is what is expected, no more and no less; else every place where not.
pub(super) fn agrees(expected: &Value, seen: &Value) -> Result<(), String> {
    let mut all = Vec::new();
    differences(expected, seen, "", &mut all);
    if all.is_empty() { Ok(()) } else { Err(all.join("\n")) }
}

fn differences(expected: &Value, seen: &Value, at: &str, all: &mut Vec<String>) {
    match (expected, seen) {
        (Value::String(text), _) if text == UNTOLD => {}
        (Value::Object(expected), Value::Object(seen)) => {
            for (key, value) in expected.iter().filter(|(key, _)| !is_hidden(key)) {
                match seen.get(key) {
                    Some(seen) => differences(value, seen, &format!("{at}/{key}"), all),
                    None => all.push(format!("{at}/{key} is not there: {value}")),
                }
            }
            let more = seen.iter().filter(|(key, _)| !expected.contains_key(*key));
            all.extend(more.map(|(key, value)| format!("{at}/{key} should not be there: {value}")));
        }
        (Value::Array(expected), Value::Array(seen)) if expected.len() == seen.len() => {
            for (number, (expected, seen)) in expected.iter().zip(seen).enumerate() {
                differences(expected, seen, &format!("{at}/{number}"), all);
            }
        }
        _ if expected == seen => {}
        _ => all.push(format!("{at}: expected {expected}, found {seen}")),
    }
}

/// Whether a reply holds at least this.
pub(super) fn includes(pattern: &Value, reply: &Value) -> Result<(), String> {
    match pattern {
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| includes(value, &reply[key])),
        _ => agrees(pattern, reply),
    }
}

/// Whether a repeated reply is the first one, save for what was forgotten since: texts and names are null, what holds some is empty.
pub(super) fn repeats(first: &Value, again: &Value) -> Result<(), String> {
    match (first, again) {
        (Value::Object(fields), Value::Object(others)) if fields.len() == others.len() => {
            fields.iter().try_for_each(|(key, value)| {
                let of_it = &again[key];
                let forgotten = match of_it {
                    Value::Null => TEXTS.contains(&key.as_str()),
                    Value::Object(fields) => key == "metadata" && fields.is_empty(),
                    Value::Array(all) => key == "sources" && all.is_empty(),
                    _ => false,
                };
                if forgotten { Ok(()) } else { repeats(value, of_it).map_err(|at| format!("{key}: {at}")) }
            })
        }
        _ => agrees(first, again),
    }
}

/// What a command leaves that writes to a profile which is not there, and dies in between: an empty one, since a command of two
/// streams comes in two steps.
pub(super) fn halfway(before: &Value, after: &Value) -> Option<Value> {
    let (profile, _) = fields(&after["profiles"]).find(|(name, _)| before["profiles"].get(*name).is_none())?;
    let mut tree = before.clone();
    tree["profiles"][profile] = empty_profile();
    Some(tree)
}

/// Puts what was read in the place of what was untold.
pub(super) fn fill(expected: &mut Value, seen: &Value) {
    match (expected, seen) {
        (Value::Object(expected), Value::Object(seen)) => {
            for (key, value) in expected.iter_mut().filter(|(key, _)| !is_hidden(key)) {
                fill(value, &seen[key]);
            }
        }
        (Value::Array(expected), Value::Array(seen)) => {
            expected.iter_mut().zip(seen).for_each(|(expected, seen)| fill(expected, seen));
        }
        (expected, seen) if *expected == UNTOLD => *expected = seen.clone(),
        _ => {}
    }
}

/// What follows from the rest of a tree: who is invalid, which memory is attached, which session still has to read.
pub(super) fn settle(tree: &mut Value) {
    for (_, profile) in fields_mut(&mut tree["profiles"]) {
        let threads: Vec<Value> = fields(&profile["threads"]).map(|(_, thread)| thread["links"].clone()).collect();
        let links: Vec<&Value> = threads.iter().flat_map(|links| fields(links).map(|(_, link)| link)).collect();
        for (_, record) in fields_mut(&mut profile["records"]) {
            let replaced = links
                .iter()
                .any(|link| link["target"] == record["id"] && INVALIDATING.iter().any(|kind| link["type"] == *kind));
            let invalid = replaced || record["_invalid"] == true;
            record["status"] = json!(if invalid { "invalid" } else { "valid" });
        }
    }
    let agents = tree["agents"].clone();
    for (_, notebook) in fields_mut(&mut tree["notebooks"]) {
        let mut attached = Map::new();
        for (name, agent) in fields(&agents) {
            let of_it = agent["memories"].as_array().into_iter().flatten().find(|it| it["memory"] == notebook["id"]);
            attached.extend(of_it.map(|it| (name.clone(), it["writes"].clone())));
        }
        notebook["attached_to"] = Value::Object(attached);
    }
    let critical = fields(&tree["notes"]).filter(|(_, note)| note["kind_key"] == "kCritical");
    let critical: Vec<Value> = critical.map(|(_, note)| note["id"].clone()).collect();
    for (_, session) in fields_mut(&mut tree["sessions"]) {
        let read = session["_read"].as_array().cloned().unwrap_or_default();
        let mut unread: Vec<Value> = critical.iter().filter(|id| !read.contains(id)).cloned().collect();
        // A note of which nothing was heard is the newest.
        unread.sort_by_key(|id| id.as_u64().unwrap_or(u64::MAX));
        session["unread"] = Value::Array(unread);
    }
}

// A comparison that never disagrees would prove nothing.
#[test]
fn trees_differ_by_more_by_less_and_by_other_values() {
    let expected = json!({ "a": [{ "id": "?", "_hidden": 1, "b": 2 }] });
    agrees(&expected, &json!({ "a": [{ "id": 7, "b": 2 }] })).unwrap();
    for other in [
        json!({ "a": [] }),
        json!({ "a": [{ "id": 7, "b": 3 }] }),
        json!({ "a": [{ "id": 7 }] }),
        json!({ "a": [{ "id": 7, "b": 2, "c": 1 }] }),
        json!({ "a": [{ "id": 7, "b": 2 }, 1] }),
    ] {
        agrees(&expected, &other).unwrap_err();
    }
}

// Nor would a repeat that may leave out anything.
#[test]
fn a_repeat_leaves_out_what_was_forgotten_and_nothing_else() {
    let first =
        json!({ "memory": { "id": "a", "status": "valid", "content": "b", "metadata": { "c": 1 }, "sources": [2] } });
    repeats(&first, &first).unwrap();
    let mut again = first.clone();
    for (name, gone) in [("content", Value::Null), ("metadata", json!({})), ("sources", json!([]))] {
        again["memory"][name] = gone;
    }
    repeats(&first, &again).unwrap();
    for (name, wrong) in
        [("id", Value::Null), ("status", Value::Null), ("content", json!("other")), ("metadata", Value::Null)]
    {
        let mut again = again.clone();
        again["memory"][name] = wrong;
        repeats(&first, &again).unwrap_err();
    }
}
