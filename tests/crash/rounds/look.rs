//! All that is there, read through the door, as one tree a client: lists, single reads, links, histories, gates.

use std::{collections::BTreeMap, sync::Mutex};

use futures::{StreamExt, stream};
use jiff::Timestamp;
use memlog::client::CallError;
use memlog_actors::port::Clock;
use serde_json::{Map, Value, json};

use super::{
    Tally,
    commands::admin,
    hand::{Extracted, Hand, MARK, SHARED},
    tree::{empty_profile, fields},
    wire::{Said, read, send},
};
use crate::{support::served::Wall, world::Served};

/// Questions asked at once.
pub(super) const READERS: usize = 24;
/// The longest page.
const PAGE: u64 = 500;

/// What was seen.
#[derive(Default)]
pub(super) struct Seen {
    /// By client.
    pub(super) trees: BTreeMap<char, Value>,
    /// What extraction made, by client.
    pub(super) extracted: BTreeMap<char, Vec<Extracted>>,
    /// Its texts: profile, text, sources. None is made twice of the same.
    pub(super) texts: Vec<(String, String, String)>,
    /// By profile: what is counted, and what there is of it.
    pub(super) counts: Vec<(String, Value, Value)>,
}

/// Whose a text is: the letter after the mark, which is in every name, id and text.
fn owner(text: &str) -> Option<char> {
    text.split_once(MARK).and_then(|(_, rest)| rest.chars().next())
}

/// The first word of a text.
fn word(text: &str) -> &str {
    let at = text.find(MARK).unwrap_or_default();
    text[at..].split(|char: char| !char.is_ascii_alphabetic()).next().unwrap_or_default()
}

fn pick(value: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| ((*name).to_owned(), value[*name].clone())).collect::<Map<_, _>>().into()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A reader at one position, or of the present, which keeps every reply.
pub(super) struct Reader<'s> {
    pub(super) served: &'s Served,
    pub(super) as_of: Option<u64>,
    pub(super) replies: Mutex<String>,
    pub(super) begun: Timestamp,
}

impl<'s> Reader<'s> {
    pub(super) fn new(served: &'s Served, as_of: Option<u64>) -> Self {
        Self { served, as_of, replies: Mutex::default(), begun: Wall.now() }
    }

    /// A reply; null if there is no such thing.
    pub(super) async fn get(&self, verb: &'static str, headers: &[(&'static str, String)], body: Value) -> Value {
        let client = self.served.client(body.to_string().len());
        let reply = read(&client, verb, headers, body, self.as_of).await;
        self.replies.lock().unwrap().push_str(&format!("{verb} {reply}\n"));
        reply
    }

    /// Counts its questions.
    pub(super) fn count(&self, tally: &mut Tally) {
        for line in self.replies.lock().unwrap().lines() {
            let verb = line.split(' ').next().unwrap_or_default();
            *tally.reads.entry(verb.to_owned()).or_default() += 1;
        }
    }

    /// Answers to many questions, in any order.
    async fn each<T, F: Future<Output = T>>(&self, all: impl Iterator<Item = F>) -> Vec<T> {
        stream::iter(all).buffer_unordered(READERS).collect().await
    }

    /// Everything that is there.
    pub(super) async fn look(&self, hands: &[Hand]) -> Seen {
        let mut seen = Seen::default();
        for hand in hands {
            let empty = json!({ "profiles": { SHARED: empty_profile() }, "notebooks": {}, "agents": {}, "trash": {},
                "notes": {}, "kinds": {}, "sessions": {} });
            seen.trees.insert(hand.letter, empty);
        }
        let listed = self.get("profile.list", &[], json!({ "limit": PAGE })).await;
        for profile in self.each(list(&listed["profiles"]).map(|it| self.profile(it))).await {
            profile.into_seen(&mut seen);
        }
        let of_hands = self.each(hands.iter().map(|hand| self.notebooks(hand))).await;
        for (letter, part) in of_hands.into_iter().flatten() {
            for (place, things) in fields(&part) {
                for (name, thing) in fields(things) {
                    seen.trees.get_mut(&letter).expect("a client")[place][name] = thing.clone();
                }
            }
        }
        self.notes(hands, &mut seen).await;
        seen
    }

    async fn profile(&self, counted: &Value) -> OneProfile {
        let name = counted["name"].as_str().expect("a name").to_owned();
        let speakers = self.get("speaker.list", &[], json!({ "profile": name })).await;
        let mut ids = Vec::new();
        let mut valid = 0;
        for status in ["valid", "invalid"] {
            let body = json!({ "profile": name, "status": status, "limit": PAGE });
            let page = self.get("profile.memories", &[], body).await;
            valid += if status == "valid" { list(&page["memories"]).count() } else { 0 };
            ids.extend(list(&page["memories"]).map(|memory| memory["id"].clone()));
        }
        let one = |id: Value| self.get("profile.memory", &[], json!({ "profile": &name, "memory_id": id }));
        let records = self.each(ids.into_iter().map(one)).await;
        let threads = self.get("thread.list", &[], json!({ "profile": name, "limit": PAGE })).await;
        let threads = self.each(list(&threads["threads"]).map(|thread| self.thread(&name, thread, &records))).await;
        let counted = pick(counted, &["memories", "messages", "sessions", "speakers"]);
        let messages: usize = threads.iter().map(|(_, thread)| list(&thread["messages"]).count()).sum();
        let there = json!({ "memories": valid, "messages": messages, "sessions": threads.len(),
            "speakers": list(&speakers["speakers"]).count() });
        OneProfile { name, speakers, records, threads, counts: (counted, there) }
    }

    async fn thread(&self, profile: &str, thread: &Value, records: &[Value]) -> (String, Value) {
        let id = thread["thread_id"].as_str().expect("an id").to_owned();
        let named = json!({ "profile": profile, "thread_id": id });
        let body = json!({ "profile": profile, "thread_id": id, "start": 0, "end": -1, "include_image_bytes": true });
        let messages = self.get("thread.get_messages", &[], body).await;
        let messages: Vec<Value> = list(&messages["messages"]).map(message).collect();
        let mut images = Map::new();
        let all = self.get("thread.list_images", &[], named).await;
        for image in list(&all["images"]).filter(|image| image["message_id"].is_null()) {
            let body =
                json!({ "profile": profile, "thread_id": id, "image_id": image["image_id"], "include_bytes": true });
            let one = self.get("thread.list_images", &[], body).await;
            let one = pick(&one["images"][0], &["description", "metadata", "mime_type", "image"]);
            images.insert(image["image_id"].as_str().expect("an id").to_owned(), one);
        }
        let mut links = Map::new();
        for record in records.iter().map(|it| &it["memory"]).filter(|it| it["session_id"] == *id) {
            let body = json!({ "profile": profile, "thread_id": id, "record_id": record["id"] });
            let of_it = self.get("thread.list_record_links", &[], body).await;
            for link in list(&of_it["links"]).filter(|link| link["direction"] == "outgoing") {
                let relation = link["relation_id"].as_str().expect("an id").to_owned();
                // One that a correction made has no name that a client gave.
                if owner(&relation).is_some() {
                    let seen = json!({ "source": link["source_record_id"], "target": link["target_record_id"],
                        "type": link["relation_type"], "metadata": link["metadata"] });
                    links.insert(relation, seen);
                }
            }
        }
        let mut seen = json!({ "user_id": thread["user_id"], "metadata": thread["metadata"], "messages": messages,
            "images": images, "links": links });
        if id.starts_with("t-") {
            seen["settings"] = thread["settings"].clone();
        }
        (id, seen)
    }

    /// The notebooks, agents and trash of a user and of the account; the account's belong to whoever is named in them.
    async fn notebooks(&self, hand: &Hand) -> Vec<(char, Value)> {
        let mut all = Vec::new();
        // Each client looks at its own things of the account.
        for user in [None, Some(hand.user())] {
            let headers: Vec<_> = user.iter().map(|user| ("Memlog-User", user.clone())).collect();
            let mine = |text: &Value| owner(text.as_str().unwrap_or_default()) == Some(hand.letter);
            let (mut notebooks, mut agents, mut trash) = (json!({}), json!({}), json!({}));
            let own = user.as_ref().map_or(json!("none"), |user| json!(user));
            let page = self.get("memory.list", &headers, json!({ "limit": PAGE, "user_filter": own })).await;
            for it in list(&page["memories"]).filter(|it| mine(&it["name"]) && it["user_id"] == json!(user)) {
                let mut seen = pick(it, &["id", "description", "user_id"]);
                seen["entries"] = self.entries(&it["id"], &headers).await;
                seen["layer"] = json!({});
                if user.is_none() {
                    seen["layer"] = self.entries(&it["id"], &[("Memlog-User", hand.user())]).await;
                }
                let attached = list(&it["attached_to"]).map(|to| (to["name"].as_str().unwrap_or_default(), to));
                let attached = attached.map(|(name, to)| (name.to_owned(), to["writes"].clone()));
                seen["attached_to"] = Value::Object(attached.collect());
                notebooks[it["name"].as_str().expect("a name")] = seen;
            }
            let page = self.get("agent.list", &headers, json!({ "limit": PAGE })).await;
            for it in list(&page["agents"]).filter(|it| mine(&it["name"]) && it["user_id"] == json!(user)) {
                let mut seen = pick(it, &["id", "instructions", "memory_id", "memories", "user_id"]);
                seen["entries"] = self.entries(&it["memory_id"], &headers).await;
                agents[it["name"].as_str().expect("a name")] = seen;
            }
            let page = self.get("trash.list", &headers, json!({ "limit": PAGE })).await;
            for it in list(&page["items"]) {
                let id = it["id"].as_str().expect("an id");
                // An agent's own memory has no name; whose it was, its client knows.
                let known = hand.knows_trashed(id);
                if mine(&it["name"]) || it["name"].is_null() && known {
                    trash[id] = pick(it, &["kind", "name"]);
                }
            }
            all.push((hand.letter, json!({ "notebooks": notebooks, "agents": agents, "trash": trash })));
        }
        all
    }

    async fn entries(&self, id: &Value, headers: &[(&'static str, String)]) -> Value {
        let page = self.get("memory.entries", headers, json!({ "id": id })).await;
        let mut all = Map::new();
        for entry in list(&page["entries"]) {
            let named = json!({ "id": id, "entry": entry["name"] });
            let content = self.get("memory.read", headers, named.clone()).await["entry"]["content"].clone();
            let history = self.get("memory.history", headers, named).await;
            let of = |it: &Value| json!([it["version"], it["content"], it["description"]]);
            let history: Vec<Value> = list(&history["versions"]).map(of).collect();
            let seen = json!({ "content": content, "description": entry["description"], "version": entry["version"],
                "history": history });
            all.insert(entry["name"].as_str().expect("a name").to_owned(), seen);
        }
        Value::Object(all)
    }

    async fn notes(&self, hands: &[Hand], seen: &mut Seen) {
        let all = self.get("note.admin_list", &admin("root"), json!({})).await;
        let kinds = self.get("note.kinds", &admin("root"), json!({})).await;
        for hand in hands {
            let tree = seen.trees.get_mut(&hand.letter).expect("a client");
            let mine = |text: &Value| owner(text.as_str().unwrap_or_default()) == Some(hand.letter);
            let headers = [("Memlog-User", hand.user()), ("Memlog-Groups", hand.group())];
            let notes: Vec<&Value> = list(&all["notes"]).filter(|note| mine(&note["name"])).collect();
            let ids: Vec<&Value> = notes.iter().map(|note| &note["id"]).collect();
            let mut bodies = json!({});
            if !ids.is_empty() {
                bodies = self.get("note.memory_load", &headers, json!({ "ids": ids })).await;
            }
            for note in notes {
                let mut seen = pick(note, &["id", "level", "category", "info", "kind_key"]);
                let whose = ["group", "login"].into_iter().filter(|name| !note[*name].is_null());
                whose.for_each(|name| seen[name] = note[name].clone());
                let body = list(&bodies["notes"]).find(|it| it["id"] == note["id"]);
                seen["body"] = body.map_or(Value::Null, |it| it["body"].clone());
                tree["notes"][note["name"].as_str().expect("a name")] = seen;
            }
            for kind in list(&kinds["kinds"]).filter(|kind| mine(&kind["kind_key"])) {
                tree["kinds"][kind["kind_key"].as_str().expect("a key")] = pick(kind, &["title", "counts_as"]);
            }
            for (session, _) in fields(&hand.tree["sessions"]) {
                tree["sessions"][session] = json!({ "unread": self.unread(&headers, session).await });
            }
        }
    }

    /// What a session still has to read: what any call of it is refused with.
    async fn unread(&self, headers: &[(&'static str, String)], session: &str) -> Value {
        let headers = [headers, &[("Memlog-Session", session.to_owned())]].concat();
        match send(&self.served.client(0), &Said::new("note.kinds", headers, json!({}))).await {
            Ok(_) => json!([]),
            Err(CallError::Refused(error)) if error.fields.contains_key("unread") => {
                let mut unread: Vec<u64> = list(&error.fields["unread"]).filter_map(Value::as_u64).collect();
                unread.sort_unstable();
                json!(unread)
            }
            Err(error) => panic!("the gate of {session}: {error}"),
        }
    }
}

/// One profile as it was read.
struct OneProfile {
    name: String,
    speakers: Value,
    records: Vec<Value>,
    threads: Vec<(String, Value)>,
    counts: (Value, Value),
}

impl OneProfile {
    /// Shares it out among the clients.
    fn into_seen(self, seen: &mut Seen) {
        let name = self.name.as_str();
        if name != SHARED {
            let Some(letter) = owner(name) else { return };
            let tree = seen.trees.get_mut(&letter).unwrap_or_else(|| panic!("nobody made the profile {name:?}"));
            tree["profiles"][name] = empty_profile();
        }
        let mut place = |text: &str, what: &Value, of: &str, key: &str| {
            let letter = owner(text).unwrap_or_else(|| panic!("nobody said {what}"));
            let tree = seen.trees.get_mut(&letter).unwrap_or_else(|| panic!("nobody said {what}"));
            tree["profiles"][name][of][key] = what.clone();
        };
        for speaker in list(&self.speakers["speakers"]) {
            let text = speaker["speaker"].as_str().expect("a name");
            place(text, &json!({}), "speakers", text);
        }
        for (id, thread) in &self.threads {
            place(id, thread, "threads", id);
        }
        for record in self.records.iter().map(|it| &it["memory"]).filter(|it| !it.is_null()) {
            let text = record["content"].as_str().unwrap_or_default();
            if text.is_empty() {
                continue;
            }
            let (key, thread) = (word(text), record["session_id"].as_str().unwrap_or_default());
            if list(&record["sources"]).next().is_none() && key.chars().nth(MARK.len() + 1) != Some('m') {
                let fields = ["id", "type", "content", "status", "metadata", "speaker", "session_id", "version"];
                let mut it = pick(record, &fields);
                it["expires"] = json!(!record["expires_at"].is_null());
                place(text, &it, "records", key);
                continue;
            }
            let sources = list(&record["sources"]).filter_map(|id| Some(id.as_str()?.to_owned())).collect();
            seen.texts.push((name.to_owned(), text.to_owned(), record["sources"].to_string()));
            let (profile, thread) = (name.to_owned(), thread.to_owned());
            let id = record["id"].as_str().expect("an id").to_owned();
            let letter = owner(text).unwrap_or_else(|| panic!("nobody said {text:?}"));
            seen.extracted.entry(letter).or_default().push(Extracted { profile, thread, id, sources });
        }
        seen.counts.push((self.name, self.counts.0, self.counts.1));
    }
}

fn message(message: &Value) -> Value {
    let mut seen = pick(message, &["id", "role", "metadata", "speaker"]);
    let part = |part: &Value| match part["type"].as_str() {
        Some("image") => pick(part, &["type", "bytes", "mime_type", "description"]),
        _ => pick(part, &["type", "text"]),
    };
    seen["content"] = match message["content"].as_array() {
        Some(parts) => parts.iter().map(part).collect::<Vec<_>>().into(),
        None => message["content"].clone(),
    };
    seen
}
