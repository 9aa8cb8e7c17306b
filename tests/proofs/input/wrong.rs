//! Every kind of wrong value in every field of every verb, over the real door: each is refused as documented, with the field's name
//! where the text is JSON, and nothing is appended; afterwards every good request is answered.

use memlog::door::{DEPTH_MAX, table::Kind};
use serde_json::{Value, json};

use super::{
    places::{Place, bytes, html, places},
    requests::{self, Good},
    rules::{self, Text},
    sent::{Case, Expect, send},
    world::World,
};

/// Far past what any value is nested.
const LEVELS: usize = 200;
/// Of a request that is nothing but nesting.
const MEGABYTE: usize = 1 << 20;
/// What a value is replaced by where JSON has no way to write it.
const MARK: &str = "@@mark@@";
/// Fields without which another one of the request means nothing, in reads.
const TOGETHER: [(&str, &str); 2] = [("thread.list_images", "image_id"), ("speaker.memories", "before")];
/// Where a field is missing without which another one means nothing, that one is named, or the first of those that would do.
const NAMED_INSTEAD: [(&str, &str, &str); 5] = [
    ("thread.add_memory", "link_type", "memory_id_to_link"),
    ("thread.add_memory", "memory_id_to_link", "link_type"),
    ("thread.delete_record_link", "relation_id", "source_record_id"),
    ("note.memory_load", "critical", "ids"),
    ("memory.*", "name", "id"),
];

/// Cases of one good request.
struct Cases<'a> {
    good: &'a Good,
    cases: Vec<Case>,
}

impl Cases<'_> {
    fn add(&mut self, what: impl Into<String>, body: impl Into<Vec<u8>>, expect: Expect) {
        self.cases.push(Case { verb: self.good.name(), what: what.into(), body: body.into(), expect });
    }

    /// The request with another value there.
    fn with(&mut self, place: &Place, value: Value, expect: Expect) {
        let what = format!("{} = {}", place.path, shown(&value.to_string()));
        let mut request = self.good.request.clone();
        *request.pointer_mut(&place.pointer).expect("a place in the request") = value;
        self.add(what, request.to_string(), expect);
    }

    /// The request with these bytes for a value there.
    fn raw(&mut self, place: &Place, bytes: &[u8], expect: Expect) {
        let mut request = self.good.request.clone();
        *request.pointer_mut(&place.pointer).expect("a place in the request") = json!(MARK);
        let text = request.to_string();
        let (before, after) = text.split_once(&format!("\"{MARK}\"")).expect("the mark");
        let what = format!("{} = {}", place.path, shown(&bytes.escape_ascii().to_string()));
        self.add(what, [before.as_bytes(), bytes, after.as_bytes()].concat(), expect);
    }

    /// Texts that are none there.
    fn texts(&mut self, place: &Place, texts: &[&str]) {
        for text in texts {
            self.with(place, json!(text), Expect::Field(place.path.clone()));
        }
    }

    /// Numbers that are none there.
    fn numbers(&mut self, place: &Place, numbers: &[&str]) {
        for number in numbers {
            self.raw(place, number.as_bytes(), Expect::Field(place.path.clone()));
        }
    }

    fn is_required(&self, place: &Place) -> bool {
        self.good.required.contains(&place.rule.as_str()) && !place.path.ends_with(']')
    }
}

fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

/// What is wrong with a whole request.
fn of_the_request(cases: &mut Cases<'_>) {
    let text = cases.good.request.to_string();
    for (what, body) in [
        ("null", "null".to_owned()),
        ("an array", format!("[{text}]")),
        ("a number", "7".to_owned()),
        ("a text", "\"{}\"".to_owned()),
        ("white space", " \n".to_owned()),
        ("cut off", text[..text.len() - 1].to_owned()),
        ("two of them", format!("{text}{text}")),
        ("a comma too many", format!("{},}}", &text[..text.len() - 1])),
        ("a comment", format!("{text}// it")),
        ("a mark of byte order", format!("\u{feff}{text}")),
        ("not a number", "{\"profile\":NaN}".to_owned()),
    ] {
        cases.add(what, body, Expect::Refused);
    }
    cases.add("UTF-16", text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(), Expect::Refused);
    cases.add("1 MB of arrays", "[".repeat(MEGABYTE), Expect::Refused);
    cases.add("1 MB of objects", "{\"a\":".repeat(MEGABYTE / 5), Expect::Limit("a".to_owned(), DEPTH_MAX as u64));
    if let Some((name, value)) = cases.good.request.as_object().and_then(|fields| fields.iter().next()) {
        let twice = format!("{{\"{name}\":{value},{}", &text[1..]);
        cases.add(format!("{name} twice"), twice, Expect::Field(name.clone()));
    }
}

/// What is wrong with any value, whatever it should be.
fn of_any(cases: &mut Cases<'_>, place: &Place, value: &Value) {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    cases.raw(place, nested(LEVELS).as_bytes(), Expect::Limit(place.path.clone(), DEPTH_MAX as u64));
    let kinds = [json!(true), json!(7), json!("no such thing"), json!([[]]), json!({"no_such_field": 1})];
    for other in kinds.into_iter().filter(|other| !may_be(cases.good, place, value, other)) {
        cases.with(place, other, Expect::Field(place.told()));
    }
    if place.path.ends_with(']') {
        return;
    }
    let (parent, name) = place.pointer.rsplit_once('/').unwrap_or_default();
    let mut without = cases.good.request.clone();
    without.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(name);
    let what = format!("{} missing", place.path);
    if place.path.starts_with("as_of.") {
        cases.add(what, without.to_string(), Expect::Field("as_of".to_owned()));
        cases.with(place, Value::Null, Expect::Field("as_of".to_owned()));
    } else if cases.is_required(place) {
        let told = named_instead(cases.good, place);
        cases.add(what, without.to_string(), Expect::Field(told.clone()));
        cases.with(place, Value::Null, Expect::Field(told));
    } else if cases.good.row.kind == Kind::Read && !TOGETHER.contains(&(&cases.good.name(), &place.path)) {
        cases.add(what, without.to_string(), Expect::Answer);
        cases.with(place, Value::Null, Expect::Answer);
    }
}

fn named_instead(good: &Good, place: &Place) -> String {
    let verb = good.name();
    // Memories and agents go by either of two, but for the one that makes them.
    let by_name = matches!(good.row.noun, "memory" | "agent") && good.row.verb != "create";
    let verb = if by_name { "memory.*" } else { verb.as_str() };
    let instead = NAMED_INSTEAD.iter().find(|(of, field, _)| (*of, *field) == (verb, place.path.as_str()));
    instead.map_or_else(|| place.path.clone(), |(_, _, other)| (*other).to_owned())
}

/// Whether another kind of value means something there as well.
fn may_be(good: &Good, place: &Place, value: &Value, other: &Value) -> bool {
    let verb = good.name();
    match (place.rule.as_str(), other) {
        // One for all, or one for each.
        ("metadata", Value::Object(_)) | ("ttl_days", Value::Number(_)) => true,
        // One text, or its parts.
        ("content" | "messages.content", Value::String(_)) => true,
        ("settings.extraction.inherit_message_metadata", Value::Bool(_)) => true,
        // A label of the client's own, any event's name, and a name that there may be.
        _ if other.is_string() && value.is_string() => !matches!(rules::text(&verb, &place.rule), Some(Text::Formed)),
        _ if other.is_object() && rules::is_open(&place.rule) => place.rule != "min_relevant_results_by_type",
        _ => other.is_number() && value.is_number() || other.is_boolean() && value.is_boolean(),
    }
}

/// What JSON cannot say, in bytes and in escapes.
const NO_TEXTS: [&[u8]; 12] = [
    b"\"\xff\"",
    b"\"a\xc0\x80\"",
    b"\"\xed\xa0\x80\"",
    b"\"\xf4\x90\x80\x80\"",
    b"\"\xe2\x82\"",
    b"\"\0\"",
    br#""\ud800""#,
    br#""\udc00 a""#,
    br#""\ud800\ud800""#,
    br#""\ud83d\u0041""#,
    br#""\u12""#,
    br#""\x41""#,
];
const NO_FORMS: [&str; 9] =
    ["", " ", "\0", "\u{202e}fact", "FACT ", "2026-13-01T00:00:00Z", "+12026-01-01T00:00:00Z", "=", "{}"];
const NO_NAMES: [&str; 5] = ["\0", "a\u{7}b", "a\nb", "\u{9f}b", "\u{1b}[31m"];
const NO_TOKENS: [&str; 5] = ["\0", "a b", "\u{e9}", "\u{202e}a", "../a"];
const NO_HTML: [&str; 7] = [
    "<script>x</script>",
    "<p onclick=\"x\">x</p>",
    "<p>x",
    "x</p>",
    "<p><img src=x></p>",
    "<p>&lt;</b></p>",
    "<p>\u{0}</p>",
];
/// What nobody can see.
const BLANK: [&str; 3] = ["", " \t", "\u{200b}\u{feff}"];

fn of_a_text(cases: &mut Cases<'_>, place: &Place) {
    let rule = rules::text(&cases.good.name(), &place.rule);
    let rule = rule.unwrap_or_else(|| panic!("write a rule for {} {}", cases.good.name(), place.rule));
    NO_TEXTS.into_iter().for_each(|bytes| cases.raw(place, bytes, Expect::Refused));
    let long = |max: usize| Expect::Limit(place.path.clone(), max as u64);
    let may_be_blank = match rule {
        Text::Free(max) => {
            cases.with(place, json!(bytes(max + 1)), long(max));
            // The empty string takes away what is there.
            let emptied = cases.good.name() == "thread.update_message" && place.rule == "content";
            emptied || place.rule == "instructions" || place.rule.contains("settings")
        }
        Text::Html(max) => {
            cases.with(place, json!(html(max + 1)), long(max));
            cases.texts(place, &NO_HTML);
            false
        }
        Text::Name(max) => {
            cases.with(place, json!("\u{1f980}".repeat(max + 1)), long(max));
            cases.with(place, json!("x".repeat(MEGABYTE)), long(max));
            cases.texts(place, &NO_NAMES);
            matches!(place.rule.as_str(), "description" | "category" | "info")
        }
        Text::Token(max) => {
            cases.with(place, json!("x".repeat(max + 1)), long(max));
            cases.texts(place, &NO_TOKENS);
            false
        }
        Text::Formed => {
            cases.with(place, json!("x".repeat(MEGABYTE)), Expect::Field(place.path.clone()));
            cases.texts(place, &NO_FORMS);
            true
        }
    };
    if !may_be_blank {
        cases.texts(place, &BLANK);
    }
}

fn of_a_number(cases: &mut Cases<'_>, place: &Place) {
    let rule = rules::range(&cases.good.name(), &place.rule);
    let rule = rule.unwrap_or_else(|| panic!("write a range for {} {}", cases.good.name(), place.rule));
    for none in ["1e400", "01", "+1", "Infinity", "0x1"] {
        cases.raw(place, none.as_bytes(), Expect::Refused);
    }
    if rule.whole {
        cases.numbers(place, &["1.5", "1e2", "123456789012345678901234567890", "1e300", "18446744073709551616"]);
    }
    let below = [rule.min - 1.0, -1e18].into_iter().filter(|_| rule.min.is_finite());
    let above = [rule.max + 1.0, 1e18].into_iter().filter(|_| rule.max.is_finite());
    below.chain(above).for_each(|number| cases.numbers(place, &[&format!("{number:.0}")]));
}

fn wrong(good: &Good) -> Vec<Case> {
    let mut cases = Cases { good, cases: Vec::new() };
    of_the_request(&mut cases);
    for place in places(&good.request) {
        let value = good.request.pointer(&place.pointer).expect("a place in the request");
        if !place.path.is_empty() {
            of_any(&mut cases, &place, value);
        }
        match value {
            Value::Object(_) if rules::is_open(&place.rule) => {}
            Value::Object(_) => {
                let strange = place.field("no_such_field");
                let told = if place.path == "as_of" { place.path.clone() } else { strange.path };
                let mut request = good.request.clone();
                request.pointer_mut(&place.pointer).expect("a place")["no_such_field"] = json!(1);
                cases.add(format!("{told} added"), request.to_string(), Expect::Field(told));
            }
            Value::String(_) => of_a_text(&mut cases, &place),
            Value::Number(_) => of_a_number(&mut cases, &place),
            _ => {}
        }
    }
    cases.cases
}

#[tokio::test(flavor = "multi_thread")]
async fn every_wrong_value_of_every_verb_is_refused_by_name_and_stores_nothing() {
    let Some(world) = World::open().await else { return };
    let good = requests::all(&world.names);
    let mut head = world.head().await;
    let mut faults = Vec::new();
    let mut sent = 0;
    for good in &good {
        let cases = wrong(good);
        sent += cases.len();
        faults.extend(send(&world, cases).await);
        let now = world.head().await;
        if now != head {
            faults.push(format!("{}: something was stored", good.name()));
            head = now;
        }
    }
    println!("{sent} wrong requests of {} good ones", good.len());
    assert!(sent > 12_000, "only {sent} wrong requests were derived");
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    // What was refused was refused for what was wrong with it alone.
    for good in &good {
        let body = good.request.to_string().into();
        let case = Case { verb: good.name(), what: "a good request".to_owned(), body, expect: Expect::Answer };
        faults.extend(send(&world, vec![case]).await);
    }
    assert!(faults.is_empty(), "{} good requests\n{}", faults.len(), faults.join("\n"));
    assert_eq!(world.ask("audit.verify", json!({})).await["ok"], true);
    assert_eq!(world.memlog.client.nats().statistics().connects.load(std::sync::atomic::Ordering::Relaxed), 1);
    world.memlog.close().await;
}
