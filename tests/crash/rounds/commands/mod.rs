//! Every writing verb of the door, each as one command drawn from what a client owns, with what it does to its tree.
//!
//! A new verb is a row in [`ALL`]: a function that draws a request and says how the tree looks once it is acknowledged.

mod agents;
mod images;
mod links;
mod memories;
mod messages;
mod notebooks;
mod notes;
mod profiles;
mod records;

pub(super) use messages::POISON;
pub(super) use notes::admin;

use memlog_actors::api::error::Kind;
use serde_json::{Value, json};

use super::{
    hand::{Command, Hand, SHARED},
    tree::{self, fields},
    wire::Said,
};

/// Draws a command; none if there is nothing that it could be about.
type Draw = fn(&mut Hand) -> Option<Command>;
/// What it is drawn under, how often beside the others, and how.
type Row = (&'static str, u32, Draw);

/// Everything that is sent. The first word is the verb that its commands send.
pub(super) const ALL: &[Row] = &[
    ("profile.get", 1, profiles::get),
    ("profile.delete", 1, profiles::delete),
    ("profile.ingest", 6, messages::ingest),
    ("profile.add_turn", 3, messages::add_turn),
    ("profile.remember", 8, records::remember),
    ("profile.supersede", 4, records::supersede),
    ("profile.forget", 5, records::forget),
    ("profile.delete_session", 1, profiles::delete_session),
    ("speaker.add", 2, profiles::add_speaker),
    ("speaker.remove", 1, profiles::remove_speaker),
    ("thread.create", 4, profiles::create_thread),
    ("thread.delete", 1, profiles::delete_thread),
    ("thread.add_messages", 6, messages::add),
    ("thread.update_message", 4, messages::update),
    ("thread.delete_message", 3, messages::delete),
    ("thread.add_memory", 8, memories::add),
    ("thread.update_memory", 4, memories::update),
    ("thread.delete_memory", 3, memories::delete),
    ("thread.link_records", 5, links::link),
    ("thread.update_record_link", 2, links::update),
    ("thread.delete_record_link", 2, links::delete),
    ("thread.add_image", 4, images::add),
    ("thread.update_image", 2, images::update),
    ("thread.delete_image", 2, images::delete),
    ("memory.create", 3, notebooks::create),
    ("memory.get", 1, notebooks::get),
    ("memory.update", 2, notebooks::update),
    ("memory.delete", 2, notebooks::delete),
    ("memory.save", 9, notebooks::save),
    ("memory.forget", 3, notebooks::forget),
    ("trash.restore", 2, notebooks::restore),
    ("trash.purge", 2, notebooks::purge),
    ("agent.create", 3, agents::create),
    ("agent.get", 1, agents::get),
    ("agent.update", 3, agents::update),
    ("agent.delete", 2, agents::delete),
    ("note.session_connect", 1, notes::connect),
    ("note.memory_load", 3, notes::load),
    ("note.memory_save", 5, notes::save),
    ("note.memory_remove", 2, notes::remove),
    ("note.admin_save", 5, notes::admin_save),
    ("note.admin_remove", 2, notes::admin_remove),
    ("note.kind_add", 1, notes::add_kind),
    ("note.editor_open", 1, notes::open_editor),
    ("note.editor_close", 2, notes::close_editor),
    ("job.retry", 2, messages::retry),
];

/// One of them; none if this one has nothing to work on.
pub(super) fn draw(hand: &mut Hand) -> Option<Command> {
    let all: u32 = ALL.iter().map(|(_, weight, _)| weight).sum();
    let mut at = hand.rng.u32(..all);
    let row = ALL.iter().find(|(_, weight, _)| {
        let here = at < *weight;
        at = at.saturating_sub(*weight);
        here
    });
    row.and_then(|(_, _, draw)| draw(hand))
}

/// A command of a caller.
fn command(
    verb: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Value,
    effect: impl Fn(&mut Value, &Value) + Send + Sync + 'static,
) -> Command {
    let said = Said::new(verb, headers, body);
    Command { said, effect: Box::new(effect), refused: None, reply: json!({}) }
}

impl Command {
    /// The same, whose reply must hold this.
    fn replying(self, reply: Value) -> Self {
        Self { reply, ..self }
    }

    /// The same, to be refused.
    fn refused(self, kind: Kind) -> Self {
        Self { refused: Some(kind), ..self }
    }
}

/// What may stand for a thing of a text.
fn sentence(hand: &mut Hand, word: &str) -> String {
    let things = ["spare key", "blue lamp", "old map", "sewing box", "garden hose"];
    let places = ["in the cellar", "on the shelf", "behind the door", "at the office", "in the attic"];
    let (thing, place) = (things[hand.rng.usize(..5)], places[hand.rng.usize(..5)]);
    format!("{word} keeps the {thing} {place}.")
}

/// Metadata, which is a text as well.
fn metadata(hand: &mut Hand) -> Value {
    let (word, level) = (hand.word('d'), hand.rng.u32(..5));
    json!({ "place": format!("the house of {word}"), "level": level })
}

impl Hand {
    /// One of the two profiles that it writes to.
    fn profile(&mut self) -> String {
        if self.rng.bool() { SHARED.to_owned() } else { self.home() }
    }

    /// A registered speaker of a profile, or none.
    fn speaker(&mut self, profile: &str) -> Value {
        let all = fields(&self.tree["profiles"][profile]["speakers"]).map(|(name, _)| json!(name)).collect();
        if self.rng.bool() { self.one(all).unwrap_or_default() } else { Value::Null }
    }

    /// Threads, with the name of their profile.
    fn threads(&self) -> Vec<(String, String)> {
        let of = |(profile, it): (&String, &Value)| {
            fields(&it["threads"]).map(|(thread, _)| (profile.clone(), thread.clone())).collect::<Vec<_>>()
        };
        fields(&self.tree["profiles"]).flat_map(of).collect()
    }

    /// Records that hold for `so`, with the name of their profile.
    fn records(&self, so: impl Fn(&Value) -> bool) -> Vec<(String, Value)> {
        let of = |(profile, it): (&String, &Value)| {
            let kept = fields(&it["records"]).filter(|(_, record)| so(record));
            kept.map(|(_, record)| (profile.clone(), record.clone())).collect::<Vec<_>>()
        };
        fields(&self.tree["profiles"]).flat_map(of).collect()
    }

    /// What a thread is in the tree.
    fn thread(&self, profile: &str, thread: &str) -> &Value {
        &self.tree["profiles"][profile]["threads"][thread]
    }
}

/// A profile of a tree, made if need be.
fn profile_of<'t>(tree: &'t mut Value, profile: &str) -> &'t mut Value {
    let place = &mut tree["profiles"][profile];
    if place.is_null() {
        *place = tree::empty_profile();
    }
    place
}

/// A thread of a tree, opened as a session if need be.
fn session_of<'t>(tree: &'t mut Value, profile: &str, thread: &str) -> &'t mut Value {
    let place = &mut profile_of(tree, profile)["threads"][thread];
    if place.is_null() {
        *place = json!({ "user_id": tree::UNTOLD, "metadata": {}, "messages": [], "images": {}, "links": {},
            "_said": [] });
    }
    place
}

/// Takes records out of a profile, and the links that end at them.
fn remove_records(profile: &mut Value, gone: impl Fn(&Value) -> bool) {
    let Some(records) = profile["records"].as_object_mut() else { return };
    let ids: Vec<Value> = records.values().filter(|record| gone(record)).map(|record| record["id"].clone()).collect();
    records.retain(|_, record| !gone(record));
    for (_, thread) in tree::fields_mut(&mut profile["threads"]) {
        let links = thread["links"].as_object_mut();
        if let Some(links) = links {
            links.retain(|_, link| !ids.contains(&link["source"]) && !ids.contains(&link["target"]));
        }
    }
}

/// Takes a thread out of a tree, and its records.
fn remove_thread(tree: &mut Value, profile: &str, thread: &str) {
    let Some(place) = tree["profiles"].get_mut(profile) else { return };
    remove_records(place, |record| record["session_id"] == thread);
    tree::take(&mut place["threads"], thread);
}
