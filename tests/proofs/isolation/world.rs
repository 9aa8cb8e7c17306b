//! Who writes and who reads, what their words are marked with, and how a reply is held against another.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_nats::{HeaderMap, Request};
use memlog::door::connect;
use memlog_actors::limits::Limits;
use serde_json::{Map, Value, json};

use super::script::{By, Step};
use crate::support::{
    Nats,
    images::{base64, dot},
    served::{Fickle, Memlog, UNREADABLE, Words},
};

/// What every mark begins and ends with; between them are [`INNER`] letters without `q` and `z`.
const OPEN: &str = "zq";
const CLOSE: &str = "qz";
const INNER: usize = 6;

/// Numbers that seem to be random and are the same for the same seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// A word that nobody else writes.
    fn mark(&mut self) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnprstvwx";
        let inner: String = (0..INNER).map(|_| char::from(LETTERS[self.below(LETTERS.len())])).collect();
        // Read backwards it must be another one.
        let first = char::from(LETTERS[self.below(LETTERS.len() / 2)]);
        let last = char::from(LETTERS[LETTERS.len() / 2 + self.below(LETTERS.len() / 2)]);
        format!("{OPEN}{first}{}{last}{CLOSE}", &inner[1..INNER - 1])
    }
}

/// The marks in a text.
pub(super) fn marks(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let length = OPEN.len() + INNER + CLOSE.len();
    let starts = text.match_indices(OPEN).map(|(at, _)| at);
    starts.filter_map(|at| text.get(at..at + length)).filter(|mark| mark.ends_with(CLOSE)).map(str::to_owned).collect()
}

/// The same word backwards between the same ends: as long, as many of each letter, and nobody's.
pub(super) fn backwards(text: &str) -> String {
    marks(text).into_iter().fold(text.to_owned(), |text, mark| {
        let inner: String = mark[OPEN.len()..OPEN.len() + INNER].chars().rev().collect();
        text.replace(&mark, &format!("{OPEN}{inner}{CLOSE}"))
    })
}

/// What an owner's words are marked with.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    /// What the whole namespace may know.
    pub(super) namespace: String,
    /// Names: the account and administrators see them in lists.
    pub(super) name: String,
    /// Texts: nobody else's.
    pub(super) text: String,
    /// Texts of another user of the same profile.
    pub(super) kin: String,
}

/// One who writes and reads: a login with a profile of its own, in a namespace that others share.
#[derive(Clone, Debug)]
pub(super) struct Actor {
    pub(super) namespace: String,
    pub(super) marks: Marks,
    /// What the script calls `$name`.
    pub(super) env: BTreeMap<String, Value>,
}

impl Actor {
    pub(super) fn new(dice: &mut Dice, namespace: &str, number: usize) -> Self {
        let of_all = marks(namespace).pop_first().expect("a namespace is marked");
        let marks = Marks { namespace: of_all, name: dice.mark(), text: dice.mark(), kin: dice.mark() };
        let env = env(dice, &marks, number);
        Self { namespace: namespace.to_owned(), marks, env }
    }

    /// One in a namespace of its own.
    pub(super) fn apart(dice: &mut Dice, number: usize) -> Self {
        let namespace = format!("ns-{}", dice.mark());
        Self::new(dice, &namespace, number)
    }

    fn filled(&self, template: &Value) -> Value {
        match template {
            Value::String(text) => match text.strip_prefix('$') {
                Some(name) => self.env.get(name).cloned().unwrap_or_else(|| panic!("nothing is called {name}")),
                None => template.clone(),
            },
            Value::Array(members) => members.iter().map(|member| self.filled(member)).collect(),
            Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), self.filled(value))).collect(),
            other => other.clone(),
        }
    }

    fn text(&self, name: &str) -> String {
        self.env.get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("no text is called {name}")).to_owned()
    }

    fn headers(&self, by: By) -> Vec<(&'static str, String)> {
        let login = ("Memlog-User", self.text("login"));
        match by {
            By::User => vec![login, ("Memlog-Groups", self.text("group"))],
            By::Account => Vec::new(),
            By::Admin => vec![login, ("Memlog-Role", "admin".to_owned())],
            By::Agent => vec![login, ("Memlog-Agent", self.text("agent"))],
            By::Session => vec![login, ("Memlog-Groups", self.text("group")), ("Memlog-Session", self.text("session"))],
        }
    }
}

/// The names and texts of an actor.
fn env(dice: &mut Dice, marks: &Marks, number: usize) -> BTreeMap<String, Value> {
    let Marks { namespace, name, text, kin } = marks;
    let names =
        ["login", "profile", "group", "sitting", "sitting2", "thread", "kin_thread", "message", "tmsg", "tmsg2"]
            .into_iter()
            .chain(["image", "book", "book2", "helper", "helper2", "key"])
            .map(|it| (it, format!("{it}-{name}")));
    let texts = [
        ("speaker", format!("Ann {text}")),
        ("uid", format!("uid-{text}")),
        ("aid", format!("aid-{text}")),
        ("kin_uid", format!("uid-{kin}")),
        ("said", format!("I adopted a cat called {text} in Lisbon last week.")),
        ("said2", format!("My sister {text} works at the harbour.")),
        ("said3", format!("The key of the cellar hangs behind {text}.")),
        ("said4", format!("The key of the attic hangs behind {text}.")),
        ("said5", format!("We meet {text} on Thursdays in the library.")),
        ("kin_said", format!("The key of the safe hangs behind {kin}.")),
        ("kin_fact", format!("The password of the safe is {kin}.")),
        ("answer", format!("Say hello to {text} from me.")),
        ("fact", format!("The dentist of the family is called {text}.")),
        ("fact2", format!("The dentist has moved away from {text}.")),
        ("fact3", format!("The plumber of the house is called {text}.")),
        ("lost", format!("{UNREADABLE} {text}")),
        ("note", format!("A picture of {text}")),
        ("value", text.clone()),
        ("name_mark", name.clone()),
        ("kin_mark", kin.clone()),
        ("entry", format!("entry-{text}")),
        ("own_entry", format!("own-{text}")),
        ("page", format!("Refunds go to {text} within a month.")),
        ("page2", format!("Refunds go to {text} within a week.")),
        ("html", format!("<p>Never ring at {text}</p>")),
        ("html2", format!("<p>Ring at {text} only</p>")),
        ("title", format!("of {text}")),
    ];
    // What belongs to the namespace: others of it may read it, and several actors write it.
    let shared = [
        ("firm", format!("firm{number}-{namespace}")),
        ("namespace_mark", namespace.clone()),
        ("firm_entry", format!("rule-{namespace}")),
        ("firm_page", format!("All of {namespace} closes at noon.")),
        ("all_html", format!("<p>For all of {namespace}</p>")),
        ("kind", format!("kind{number}{namespace}")),
    ];
    let common = [("common", "The office closes at six on Fridays.".to_owned())];
    let all = names.chain(texts).chain(shared).chain(common);
    let mut env: BTreeMap<String, Value> = all.map(|(key, value)| (key.to_owned(), value.into())).collect();
    env.insert("picture".to_owned(), base64(&dot(dice.below(1 << 20) as u64)).into());
    env
}

/// What came back.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    /// 200, or a failure's code.
    pub(super) code: u16,
    pub(super) body: Value,
    /// Header and body as they came.
    pub(super) raw: String,
}

/// A memlog with a real nats-server.
pub(super) struct World {
    pub(super) memlog: Memlog,
    pub(super) nats: Nats,
    pub(super) data: tempfile::TempDir,
}

impl World {
    pub(super) async fn start(limits: Limits) -> Option<Self> {
        Some(Self::open(Nats::start().await?, tempfile::tempdir().unwrap(), limits).await)
    }

    /// The same on what another has left.
    pub(super) async fn open(nats: Nats, data: tempfile::TempDir, limits: Limits) -> Self {
        let embedder = Arc::new(Words(Arc::default()));
        let extractor = Arc::new(Fickle::default());
        let options = connect::Options::url(nats.url());
        let memlog = Memlog::open_with(data.path(), options, limits, Some(embedder), extractor).await;
        Self { memlog, nats, data }
    }

    pub(super) async fn ask(
        &self,
        namespace: &str,
        verb: &str,
        headers: &[(&'static str, String)],
        body: &Value,
    ) -> Reply {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.as_str());
        }
        let request = Request::new().headers(map).payload(body.to_string().into()).timeout(None);
        let subject = format!("memlog.v1.{namespace}.{verb}");
        let message = self.memlog.client.nats().send_request(subject, request).await.expect("an answer");
        let mut raw = String::new();
        let mut code = 200;
        for (name, values) in message.headers.iter().flat_map(HeaderMap::iter) {
            let (name, value) = (name.to_string(), values[0].as_str());
            match name.as_str() {
                "Nats-Service-Error-Code" => code = value.parse().unwrap(),
                "Memlog-Request-Id" => continue,
                _ => {}
            }
            raw.push_str(&format!("{name}: {value}\n"));
        }
        raw.push_str(std::str::from_utf8(&message.payload).unwrap());
        Reply { code, body: serde_json::from_slice(&message.payload).unwrap(), raw }
    }

    /// One step of an actor: what was asked, and what came back.
    pub(super) async fn play(&self, actor: &Actor, step: &Step) -> (Value, Reply) {
        let body = actor.filled(&step.body);
        let mut headers = actor.headers(step.by);
        if step.keyed {
            headers.push(("Nats-Msg-Id", actor.text("key")));
        }
        let reply = self.ask(&actor.namespace, step.verb, &headers, &body).await;
        (body, reply)
    }
}

/// Fields that differ between any two calls: positions, scores, cursors.
const PASSING: [&str; 9] =
    ["seq", "score", "similarity", "next_seq", "cursor", "head", "stream", "expires_at", "next_skip_ids"];

/// A reply as it would be had every name, text and id of `env` been another.
pub(super) fn plain(reply: &Reply, env: &BTreeMap<String, Value>) -> Value {
    let mut names: Vec<(&str, &str)> =
        env.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
    // A name in another goes after it.
    names.sort_by_key(|(name, value)| (std::cmp::Reverse(value.len()), *name));
    let body = plained("", &reply.body, &names);
    json!({"code": reply.code, "body": if reply.code == 200 { body } else { unnumbered(body) }})
}

/// A refusal without the numbers in its words: notes are asked for by number.
fn unnumbered(value: Value) -> Value {
    match value {
        Value::String(text) => {
            let words = text.split(' ').map(|word| if word.parse::<u64>().is_ok() { "#" } else { word });
            words.collect::<Vec<_>>().join(" ").into()
        }
        Value::Array(members) => members.into_iter().map(unnumbered).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, unnumbered(value))).collect(),
        other => other,
    }
}

fn plained(key: &str, value: &Value, names: &[(&str, &str)]) -> Value {
    match value {
        _ if PASSING.contains(&key) && !value.is_null() => json!("#"),
        // Of the export: a JSON object a line.
        Value::String(text) if key == "lines" => {
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
            plained("", &Value::Array(lines.collect()), names)
        }
        Value::String(text) => plain_text(text, names).into(),
        // Equals come in the order of their ids, which are made anew with each call.
        Value::Array(members) => {
            let mut members: Vec<_> = members.iter().map(|member| plained(key, member, names)).collect();
            members.sort_by_cached_key(Value::to_string);
            members.into()
        }
        Value::Object(fields) => {
            let each = fields.iter().map(|(key, value)| (plain_text(key, names), plained(key, value, names)));
            Value::Object(each.collect::<Map<_, _>>())
        }
        // Notes are numbered, `audit.verify` counts the whole log, and a memory the entries of all its layers; what else is a number is
        // no name.
        Value::Number(_) if ["id", "note", "unread", "events", "entry_count"].contains(&key) => "#".into(),
        other => other.clone(),
    }
}

fn plain_text(text: &str, names: &[(&str, &str)]) -> String {
    let named = names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(value, &format!("${name}")));
    // What is made anew with each call.
    let fresh = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        uuid::Uuid::try_parse(word).is_ok() || word.parse::<jiff::Timestamp>().is_ok()
    };
    if fresh(&named) {
        return "#".to_owned();
    }
    let words: Vec<_> = named.split(' ').map(|word| if fresh(word) { "#" } else { word }).collect();
    words.join(" ")
}

/// The value at a pointer of a reply, for the script's later steps.
pub(super) fn kept(step: &Step, reply: &Reply) -> Vec<(String, Value)> {
    let found = step.keep.iter().map(|(name, pointer)| {
        let value =
            reply.body.pointer(pointer).unwrap_or_else(|| panic!("{} gave no {pointer}: {}", step.verb, reply.raw));
        ((*name).to_owned(), value.clone())
    });
    found.collect()
}
