//! Notes: a login's own, a group's and everyone's, kinds, sessions before the gate, the editor.

use memlog_actors::api::error::Kind;
use serde_json::{Value, json};

use super::{
    super::{
        hand::{Command, Hand},
        tree::{fields, take, told},
    },
    command,
};

/// Notes of one client.
const NOTES: usize = 6;
/// Kinds that one client adds; they are for ever.
const KINDS: usize = 2;
/// Sessions of one client.
const SESSIONS: usize = 3;

fn member(hand: &Hand) -> Vec<(&'static str, String)> {
    vec![("Memlog-User", hand.user()), ("Memlog-Groups", hand.group())]
}

pub(in super::super) fn admin(user: &str) -> Vec<(&'static str, String)> {
    vec![("Memlog-User", user.to_owned()), ("Memlog-Role", "admin".to_owned())]
}

/// Notes that the login may change itself, or the others.
fn all(hand: &Hand, own: bool) -> Vec<(String, Value)> {
    let kept = fields(&hand.tree["notes"]).filter(|(_, note)| (note["level"] == "own") == own);
    kept.map(|(name, note)| (name.clone(), note.clone())).collect()
}

/// A new note or a change of an old one: the request, its name before and after, and how it looks then.
fn written(hand: &mut Hand, level: &str, old: Option<(String, Value)>) -> (Value, Option<String>, String, Value) {
    let word = hand.word('v');
    let body = format!("<p>Ask <b>{word}</b> first.</p>");
    if let Some((name, mut note)) = old {
        note["_was"] = json!(format!("{}{name}{}", note["_was"], note["body"]));
        note["body"] = json!(body);
        let mut request = json!({ "id": note["id"], "body": body });
        let mut renamed = name.clone();
        if hand.rarely(3) {
            renamed = format!("note of {}", hand.word('o'));
            request["name"] = json!(renamed);
        }
        return (request, Some(name), renamed, note);
    }
    let name = format!("note of {}", hand.word('o'));
    let own: Vec<Value> = fields(&hand.tree["kinds"]).map(|(key, _)| json!(key)).collect();
    let mut kinds: Vec<Value> = ["kDefault", "kDirect", "kSkill"].map(|kind| json!(kind)).into();
    // A critical one for everyone would close every client's gate.
    kinds.extend((level != "all").then(|| json!("kCritical")));
    kinds.extend(own);
    let kind = hand.one(kinds).expect("there are some");
    let (category, info) = (format!("about {word}"), format!("seen by {word}"));
    let request = json!({ "name": name, "body": body, "category": category, "info": info, "kind_key": kind });
    let mut note = request.clone();
    take(&mut note, "name");
    note["id"] = json!("?");
    note["level"] = json!(level);
    (request, None, name, note)
}

fn save_with(
    verb: &'static str,
    headers: Vec<(&'static str, String)>,
    (request, old, name, note): (Value, Option<String>, String, Value),
) -> Command {
    let made = command(verb, headers, request, move |tree, reply| {
        let mut note = note.clone();
        if note["id"] == "?" {
            note["id"] = told(reply, "/note/id");
        }
        old.iter().for_each(|old| drop(take(&mut tree["notes"], old)));
        tree["notes"][&name] = note;
    });
    made.replying(json!({ "note": {} }))
}

/// A session whose gate is open or shut, if the client has one.
fn session(hand: &mut Hand, open: bool) -> Option<String> {
    let gate = |session: &Value| session["unread"].as_array().is_some_and(Vec::is_empty) == open;
    let all = fields(&hand.tree["sessions"]).filter(|(_, session)| gate(session));
    let all = all.map(|(id, _)| id.clone()).collect();
    hand.one(all)
}

pub(super) fn save(hand: &mut Hand) -> Option<Command> {
    let mut headers = member(hand);
    // Before the gate nothing is done; behind it everything.
    let open = !hand.rarely(4);
    let session = session(hand, open);
    let shut = session.is_some() && !open;
    headers.extend(session.map(|session| ("Memlog-Session", session)));
    let old = hand.one(all(hand, true)).filter(|_| hand.rng.bool());
    if old.is_none() && fields(&hand.tree["notes"]).count() >= NOTES {
        return None;
    }
    let mut written = written(hand, "own", old);
    written.3["login"] = json!(hand.user());
    let made = save_with("note.memory_save", headers, written);
    Some(if shut { made.refused(Kind::CriticalUnread) } else { made })
}

pub(super) fn admin_save(hand: &mut Hand) -> Option<Command> {
    let level = ["all", "group", "own"][hand.rng.usize(..3)];
    let own = level == "own";
    let old = hand.one(all(hand, own)).filter(|_| hand.rng.bool());
    if old.is_none() && fields(&hand.tree["notes"]).count() >= NOTES {
        return None;
    }
    let is_new = old.is_none();
    let mut written = written(hand, level, old);
    if is_new {
        let (field, whose) = if own { ("login", hand.user()) } else { ("group", hand.group()) };
        written.0["level"] = json!(level);
        if level != "all" {
            written.0[field] = json!(whose);
            written.3[field] = json!(whose);
        }
    }
    Some(save_with("note.admin_save", admin("root"), written))
}

fn remove_with(
    hand: &mut Hand,
    verb: &'static str,
    headers: Vec<(&'static str, String)>,
    from: Vec<(String, Value)>,
) -> Option<Command> {
    let (name, note) = hand.one(from)?;
    Some(command(verb, headers, json!({ "id": note["id"] }), move |tree, _| {
        take(&mut tree["notes"], &name);
    }))
}

pub(super) fn remove(hand: &mut Hand) -> Option<Command> {
    remove_with(hand, "note.memory_remove", member(hand), all(hand, true))
}

pub(super) fn admin_remove(hand: &mut Hand) -> Option<Command> {
    let from = [all(hand, true), all(hand, false)].concat();
    remove_with(hand, "note.admin_remove", admin("root"), from)
}

pub(super) fn add_kind(hand: &mut Hand) -> Option<Command> {
    let kinds: Vec<String> = fields(&hand.tree["kinds"]).map(|(key, _)| key.clone()).collect();
    if kinds.len() >= KINDS {
        let body = json!({ "kind_key": hand.one(kinds), "title": "again" });
        return Some(command("note.kind_add", admin("root"), body, |_, _| {}).refused(Kind::Conflict));
    }
    let (word, title) = (hand.word('q'), hand.word('d'));
    let (key, title) = (format!("k{word}"), format!("As {title} likes it"));
    Some(command("note.kind_add", admin("root"), json!({ "kind_key": key, "title": title }), move |tree, _| {
        tree["kinds"][&key] = json!({ "title": title, "counts_as": "kDefault" });
    }))
}

pub(super) fn connect(hand: &mut Hand) -> Option<Command> {
    if fields(&hand.tree["sessions"]).count() >= SESSIONS {
        return None;
    }
    Some(command("note.session_connect", member(hand), json!({}), |tree, reply| {
        // One whose name was never heard is of no use to anybody.
        if let Some(session) = reply["session"].as_str() {
            tree["sessions"][session] = json!({ "unread": [], "_read": [] });
        }
    }))
}

/// It reads, and what it has read is remembered of the session.
pub(super) fn load(hand: &mut Hand) -> Option<Command> {
    let session = session(hand, false)?;
    let unread = hand.tree["sessions"][&session]["unread"].clone();
    let mut headers = member(hand);
    headers.push(("Memlog-Session", session.clone()));
    Some(command("note.memory_load", headers, json!({ "critical": true }), move |tree, _| {
        let read = tree["sessions"][&session]["_read"].as_array_mut().expect("a list");
        read.extend(unread.as_array().into_iter().flatten().cloned());
    }))
}

/// The first client's alone: while one is open, the others' logins write no notes.
pub(super) fn open_editor(hand: &mut Hand) -> Option<Command> {
    (hand.letter == 'a').then(|| command("note.editor_open", admin("root"), json!({}), |_, _| {}))
}

pub(super) fn close_editor(hand: &mut Hand) -> Option<Command> {
    (hand.letter == 'a').then(|| command("note.editor_close", admin("root"), json!({}), |_, _| {}))
}
