//! The published limits, counted to the byte: what is as long or as large as it may be is taken, and one more is refused with the
//! limit.

use memlog_actors::limits::{
    ATTACHED_MAX, INGEST_MESSAGES_MAX, INHERITED_KEYS_MAX, METADATA_BYTES_MAX, NOTE_IDS_MAX, PARTS_MAX, SKIP_IDS_MAX,
    TYPES_MAX,
};
use serde_json::{Value, json};

use super::{
    places::{Place, bytes, html, places},
    requests::{self, Good},
    rules::{self, Text},
    sent::{Case, Expect, send},
    world::World,
};

/// The longest lists.
const LISTS: [(&str, &str, usize); 13] = [
    ("profile.ingest", "messages", INGEST_MESSAGES_MAX),
    ("thread.add_messages", "messages", INGEST_MESSAGES_MAX),
    ("thread.add_messages", "messages.content", PARTS_MAX),
    ("speaker.memories", "skip_ids", SKIP_IDS_MAX),
    ("note.memory_load", "ids", NOTE_IDS_MAX),
    ("agent.create", "memories", ATTACHED_MAX),
    ("agent.update", "memories", ATTACHED_MAX),
    ("profile.search", "types", TYPES_MAX),
    ("profile.recall", "types", TYPES_MAX),
    ("thread.search", "record_types", TYPES_MAX),
    ("audit.events", "types", TYPES_MAX),
    ("thread.get_message", "included_image_ids", PARTS_MAX),
    ("thread.create", "settings.extraction.inherit_message_metadata", INHERITED_KEYS_MAX),
];

fn case(good: &Good, place: &Place, what: String, value: Value, expect: Expect) -> Case {
    let mut request = good.request.clone();
    *request.pointer_mut(&place.pointer).expect("a place in the request") = value;
    // What a request says of each message it says of all of them here, however many there are.
    for each in ["metadata", "ttl_days", "ttl_anchor"] {
        if place.rule == "messages" && request[each].is_array() {
            request[each] = request[each][0].clone();
        }
    }
    Case { verb: good.name(), what: format!("{} {what}", place.path), body: request.to_string().into(), expect }
}

/// As much as there may be, and one more.
fn at_the_limit(good: &Good, place: &Place, value: &Value) -> Vec<Case> {
    let within = || Expect::WithinLimit(place.path.clone());
    let past = |limit: usize| Expect::Limit(place.path.clone(), limit as u64);
    let one = |what: String, value, expect| case(good, place, what, value, expect);
    let verb = good.name();
    match value {
        Value::String(_) => match rules::text(&verb, &place.rule) {
            Some(Text::Free(max)) => vec![one(format!("of {max} bytes"), json!(bytes(max)), within())],
            Some(Text::Html(max)) => vec![one(format!("of {max} bytes"), json!(html(max)), within())],
            Some(Text::Name(max)) => {
                vec![one(format!("of {max} characters"), json!("\u{1f980}".repeat(max)), within())]
            }
            Some(Text::Token(max)) => vec![one(format!("of {max} characters"), json!("x".repeat(max)), within())],
            _ => Vec::new(),
        },
        Value::Number(_) => {
            let range = rules::range(&verb, &place.rule).expect("a range");
            // Where there is no end, the largest number that can be written must do no harm.
            let least = if range.min.is_finite() { format!("{:.0}", range.min) } else { i64::MIN.to_string() };
            let most = match (range.max.is_finite(), range.min.is_finite()) {
                (true, _) => format!("{:.0}", range.max),
                (false, true) => u64::MAX.to_string(),
                (false, false) => i64::MAX.to_string(),
            };
            let number = |text: &str| serde_json::from_str(text).expect("a number");
            // Nothing is read as of what is yet to come.
            let at_most = if place.path == "as_of.seq" { Expect::Field("as_of".to_owned()) } else { within() };
            [(least, within()), (most, at_most)]
                .map(|(end, expect)| one(format!("= {end}"), number(&end), expect))
                .into()
        }
        Value::Object(_) if rules::is_open(&place.rule) && place.rule != "min_relevant_results_by_type" => {
            let sized = |count: usize| json!({ "k": "x".repeat(count - json!({ "k": "" }).to_string().len()) });
            let max = METADATA_BYTES_MAX;
            vec![
                one(format!("of {max} bytes"), sized(max), within()),
                one(format!("of {max} bytes and one"), sized(max + 1), past(max)),
            ]
        }
        Value::Array(items) => {
            let longest = LISTS.iter().find(|(of, rule, _)| (*of, *rule) == (verb.as_str(), place.rule.as_str()));
            let Some((_, _, max)) = longest else { return Vec::new() };
            let many = |count: usize| json!(vec![items[0].clone(); count]);
            let needs_one = matches!(place.rule.as_str(), "messages" | "messages.content" | "ids");
            // A list of the same id ten times is refused in another way, and not for its length.
            vec![
                one(format!("of {max}"), many(*max), within()),
                one(format!("of {max} and one"), many(max + 1), past(*max)),
                one("empty".to_owned(), json!([]), if needs_one { past(*max) } else { within() }),
            ]
        }
        _ => Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_are_counted_to_the_byte() {
    let Some(world) = World::open().await else { return };
    let mut faults = Vec::new();
    let mut sent = 0;
    let mut lists = Vec::new();
    for good in requests::all(&world.names) {
        for place in places(&good.request) {
            let value = good.request.pointer(&place.pointer).expect("a place in the request");
            let cases = at_the_limit(&good, &place, value);
            sent += cases.len();
            if value.is_array() && !cases.is_empty() {
                lists.push((good.name(), place.rule.clone()));
            }
            faults.extend(send(&world, cases).await);
        }
    }
    println!("{sent} requests at a limit");
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    let unseen = LISTS.iter().find(|(verb, rule, _)| !lists.contains(&((*verb).to_owned(), (*rule).to_owned())));
    assert_eq!(unseen, None, "no good request has this list");
    assert_eq!(world.ask("audit.verify", json!({})).await["ok"], true);
    world.memlog.close().await;
}
