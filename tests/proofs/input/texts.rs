//! Texts that are legal and strange come back as they were sent: scripts from right to left with their marks, letters built of
//! several characters, what no font shows. In a text of the client's own control characters are legal, too; in a name they are not,
//! which `wrong` sees to.

use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization as _;

use super::world::World;

/// Legal in every text and every name.
const TEXTS: [&str; 10] = [
    "\u{627}\u{644}\u{642}\u{647}\u{648}\u{629} \u{62c}\u{627}\u{647}\u{632}\u{629}\u{60c} 3 \u{623}\u{643}\u{648}\u{627}\u{628}",
    "\u{5e9}\u{5c1}\u{5b8}\u{5dc}\u{5d5}\u{5b9}\u{5dd}",
    "\u{202e}evil\u{202c} \u{2066}a\u{2069} \u{200f}b\u{200e} \u{061c}c",
    "e\u{301}cole A\u{30a} n\u{303} \u{1100}\u{1161}\u{11a8} q\u{307}\u{323}",
    "Z\u{351}\u{36b}\u{343}\u{36a}\u{302}a\u{348}\u{345}l\u{331}g\u{321}o\u{489}",
    "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{1f1f5}\u{1f1f9} \u{1f44d}\u{1f3fd} \u{2764}\u{fe0f}",
    "\u{915}\u{94d}\u{937}\u{93f} \u{ba8}\u{bbf} \u{e01}\u{e47} \u{1019}\u{103c}\u{1014}\u{103a}",
    "\u{fffe}\u{ffff} \u{10ffff} \u{e000} \u{fffd} x",
    "a\"b\\c</p>&amp;'{}[]$not %00 ../.. \u{b4}",
    "\u{feff}b\u{ad}\u{200b}\u{2060}\u{180e}c\u{3164}\u{115f}",
];

/// Legal in a text alone.
const CONTROLS: [&str; 4] =
    ["a\u{0}b", "\u{0}", "a\r\nb\tc\u{b}\u{c}", "\u{1}\u{1b}[31mred\u{7f}\u{85}\u{9f}\u{2028}x"];

/// Something that is stored and shown: the request that stores it, where its reply has the id, the request that reads it, and where
/// that reply shows it. `$text` is the text, `$new` an id that was never used, `$id` what was stored.
type Kept = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

const OF_ANN: &str = r#""profile":"ann""#;

/// Texts that are kept as they are.
const KEPT: [Kept; 16] = [
    (
        "profile.remember",
        r#"{"profile":"ann","content":"$text","dedupe":false}"#,
        "/memory/id",
        "profile.memory",
        r#"{"profile":"ann","memory_id":"$id"}"#,
        "/memory/content",
    ),
    (
        "profile.remember",
        r#"{"profile":"ann","content":"$new","metadata":{"a":{"b":["$text"]}},"dedupe":false}"#,
        "/memory/id",
        "profile.memory",
        r#"{"profile":"ann","memory_id":"$id"}"#,
        "/memory/metadata/a/b/0",
    ),
    (
        "profile.supersede",
        r#"{"profile":"ann","memory_id":"$old","content":"$text"}"#,
        "/memory/id",
        "profile.memory",
        r#"{"profile":"ann","memory_id":"$id"}"#,
        "/memory/content",
    ),
    (
        "profile.ingest",
        r#"{"profile":"ann","messages":[{"role":"user","content":"$text"}],"session_id":"$new"}"#,
        "/session_id",
        "thread.get_messages",
        r#"{"profile":"ann","thread_id":"$id"}"#,
        "/messages/0/content",
    ),
    (
        "profile.add_turn",
        r#"{"profile":"ann","user":"$text","assistant":"a","session_id":"$new"}"#,
        "/session_id",
        "thread.get_messages",
        r#"{"profile":"ann","thread_id":"$id"}"#,
        "/messages/0/content",
    ),
    (
        "profile.add_turn",
        r#"{"profile":"ann","user":"u","assistant":"$text","session_id":"$new"}"#,
        "/session_id",
        "thread.get_messages",
        r#"{"profile":"ann","thread_id":"$id"}"#,
        "/messages/1/content",
    ),
    (
        "thread.add_messages",
        r#"{"profile":"ann","thread_id":"talk","messages":[{"role":"user","content":"$text"}]}"#,
        "/message_ids/0",
        "thread.get_message",
        r#"{"profile":"ann","thread_id":"talk","message_id":"$id"}"#,
        "/message/content",
    ),
    (
        "thread.add_messages",
        r#"{"profile":"ann","thread_id":"talk","messages":[{"role":"user","content":[{"type":"text","text":"$text"}]}]}"#,
        "/message_ids/0",
        "thread.get_message",
        r#"{"profile":"ann","thread_id":"talk","message_id":"$id"}"#,
        "/message/content/0/text",
    ),
    (
        "thread.update_message",
        r#"{"profile":"ann","thread_id":"talk","message_id":"m-1","content":"$text"}"#,
        "/message_id",
        "thread.get_message",
        r#"{"profile":"ann","thread_id":"talk","message_id":"$id"}"#,
        "/message/content",
    ),
    (
        "thread.add_memory",
        r#"{"profile":"ann","thread_id":"talk","content":"$text"}"#,
        "/memory_id",
        "profile.memory",
        r#"{"profile":"ann","memory_id":"$id"}"#,
        "/memory/content",
    ),
    (
        "thread.update_memory",
        r#"{"profile":"ann","thread_id":"talk","memory_id":"r-1","content":"$text"}"#,
        "/memory_id",
        "profile.memory",
        r#"{"profile":"ann","memory_id":"$id"}"#,
        "/memory/content",
    ),
    (
        "thread.create",
        r#"{"profile":"ann","thread_id":"$new","settings":{"extraction":{"custom_instructions":"$text"}}}"#,
        "/thread/thread_id",
        "thread.get",
        r#"{"profile":"ann","thread_id":"$id"}"#,
        "/thread/settings/extraction/custom_instructions",
    ),
    (
        "thread.add_image",
        r#"{"profile":"ann","thread_id":"talk","image":"$png","description":"$text"}"#,
        "/image_id",
        "thread.list_images",
        r#"{"profile":"ann","thread_id":"talk","image_id":"$id"}"#,
        "/images/0/description",
    ),
    (
        "thread.update_record_link",
        r#"{"profile":"ann","thread_id":"talk","relation_id":"l-1","metadata":{"a":"$text"}}"#,
        "",
        "thread.list_record_links",
        r#"{"profile":"ann","thread_id":"talk","record_id":"r-3"}"#,
        "/links/0/metadata/a",
    ),
    (
        "memory.save",
        r#"{"name":"company","entry":"$new","content":"$text","description":"d"}"#,
        "/entry/name",
        "memory.read",
        r#"{"name":"company","entry":"$id"}"#,
        "/entry/content",
    ),
    (
        "agent.create",
        r#"{"name":"$new","instructions":"$text"}"#,
        "/agent/id",
        "agent.get",
        r#"{"id":"$id"}"#,
        "/agent/instructions",
    ),
];

/// Names and ids.
const NAMES: [Kept; 20] = [
    ("profile.get", r#"{"profile":"$text"}"#, "/profile/name", "profile.get", r#"{"profile":"$id"}"#, "/profile/name"),
    (
        "thread.create",
        r#"{"profile":"ann","thread_id":"$text"}"#,
        "/thread/thread_id",
        "thread.get",
        r#"{"profile":"ann","thread_id":"$id"}"#,
        "/thread/thread_id",
    ),
    (
        "thread.create",
        r#"{"profile":"ann","thread_id":"$new","user_id":"$text"}"#,
        "/thread/thread_id",
        "thread.get",
        r#"{"profile":"ann","thread_id":"$id"}"#,
        "/thread/user_id",
    ),
    (
        "thread.create",
        r#"{"profile":"ann","thread_id":"$new","agent_id":"$text"}"#,
        "/thread/thread_id",
        "thread.get",
        r#"{"profile":"ann","thread_id":"$id"}"#,
        "/thread/agent_id",
    ),
    (
        "thread.create",
        r#"{"profile":"ann","thread_id":"$new","settings":{"extraction":{"inherit_message_metadata":["$text"]}}}"#,
        "/thread/thread_id",
        "thread.get",
        r#"{"profile":"ann","thread_id":"$id"}"#,
        "/thread/settings/extraction/inherit_message_metadata/0",
    ),
    (
        "thread.add_messages",
        r#"{"profile":"ann","thread_id":"talk","messages":[{"role":"$text","content":"c"}]}"#,
        "/message_ids/0",
        "thread.get_message",
        r#"{"profile":"ann","thread_id":"talk","message_id":"$id"}"#,
        "/message/role",
    ),
    (
        "thread.add_messages",
        r#"{"profile":"ann","thread_id":"talk","messages":[{"role":"user","content":"c","id":"m$text"}]}"#,
        "/message_ids/0",
        "thread.get_message",
        r#"{"profile":"ann","thread_id":"talk","message_id":"$id"}"#,
        "/message/id",
    ),
    (
        "thread.add_memory",
        r#"{"profile":"ann","thread_id":"talk","content":"c","memory_id":"r$text"}"#,
        "/memory_id",
        "profile.memory",
        r#"{"profile":"ann","memory_id":"$id"}"#,
        "/memory/id",
    ),
    (
        "thread.add_memory",
        r#"{"profile":"ann","thread_id":"talk","content":"c","user_id":"$text"}"#,
        "/memory_id",
        "profile.memory",
        r#"{"profile":"ann","memory_id":"$id"}"#,
        "/memory/user_id",
    ),
    (
        "thread.add_image",
        r#"{"profile":"ann","thread_id":"talk","image":"$png","description":"d","image_id":"i$text"}"#,
        "/image_id",
        "thread.list_images",
        r#"{"profile":"ann","thread_id":"talk","image_id":"$id"}"#,
        "/images/0/image_id",
    ),
    (
        "thread.update_record_link",
        r#"{"profile":"ann","thread_id":"talk","relation_id":"l-1","relation_type":"$text"}"#,
        "",
        "thread.list_record_links",
        r#"{"profile":"ann","thread_id":"talk","record_id":"r-3"}"#,
        "/links/0/relation_type",
    ),
    (
        "memory.create",
        r#"{"name":"$new","description":"$text"}"#,
        "/memory/id",
        "memory.get",
        r#"{"id":"$id"}"#,
        "/memory/description",
    ),
    (
        "memory.save",
        r#"{"name":"company","entry":"$text","content":"c","description":"d"}"#,
        "/entry/name",
        "memory.read",
        r#"{"name":"company","entry":"$id"}"#,
        "/entry/name",
    ),
    (
        "memory.save",
        r#"{"name":"company","entry":"$new","content":"c","description":"$text"}"#,
        "/entry/name",
        "memory.read",
        r#"{"name":"company","entry":"$id"}"#,
        "/entry/description",
    ),
    ("agent.create", r#"{"name":"$text"}"#, "/agent/id", "agent.get", r#"{"id":"$id"}"#, "/agent/name"),
    (
        "note.memory_save",
        r#"{"name":"$text","body":"<p>x</p>"}"#,
        "/note/id",
        "note.memory_load",
        r#"{"ids":["$id"]}"#,
        "/notes/0/name",
    ),
    (
        "note.memory_save",
        r#"{"name":"n","body":"<p>x</p>","category":"$text"}"#,
        "/note/id",
        "note.memory_load",
        r#"{"ids":["$id"]}"#,
        "/notes/0/category",
    ),
    (
        "note.memory_save",
        r#"{"name":"n","body":"<p>x</p>","info":"$text"}"#,
        "/note/id",
        "note.memory_load",
        r#"{"ids":["$id"]}"#,
        "/notes/0/info",
    ),
    (
        "note.kind_add",
        r#"{"kind_key":"$new","title":"$text"}"#,
        "/kind/kind_key",
        "note.kinds",
        r#"{}"#,
        "/kinds/-/title",
    ),
    (
        "speaker.add",
        r#"{"profile":"ann","speaker":"$text"}"#,
        "/speaker/speaker",
        "speaker.list",
        r#"{"profile":"ann"}"#,
        "/speakers/-/speaker",
    ),
];

fn filled(value: &mut Value, by: &[(&str, &Value)]) {
    match value {
        Value::String(text) => {
            if let Some((_, other)) = by.iter().find(|(name, _)| text == name) {
                *value = (*other).clone();
            } else if let Some((before, _)) = text.split_once("$text") {
                let given = by.iter().find(|(name, _)| *name == "$text").and_then(|(_, text)| text.as_str());
                *value = json!(format!("{before}{}", given.unwrap_or_default()));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| filled(item, by)),
        Value::Object(fields) => fields.values_mut().for_each(|value| filled(value, by)),
        _ => {}
    }
}

fn request(text: &str, by: &[(&str, &Value)]) -> Value {
    let mut request = serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    filled(&mut request, by);
    request
}

/// What a reply shows; `-` is the last item of a list.
fn at(told: &Value, pointer: &str) -> Value {
    match pointer.split_once("/-") {
        Some((list, rest)) => {
            let last = told.pointer(list).and_then(Value::as_array).and_then(|items| items.last());
            last.and_then(|item| item.pointer(rest)).cloned().unwrap_or_default()
        }
        None => told.pointer(pointer).cloned().unwrap_or_default(),
    }
}

async fn comes_back(world: &World, kept: &Kept, text: &str, new: usize) -> Option<String> {
    let (write, stored, id, read, asked, shown) = *kept;
    let (text, new) = (json!(text), json!(format!("new-{new}")));
    let mut by = vec![("$text", &text), ("$new", &new), ("$png", &world.names["png"])];
    let old;
    if stored.contains("$old") {
        let old_one = request(&format!(r#"{{{OF_ANN},"content":"$new","dedupe":false}}"#), &by);
        old = world.ask("profile.remember", old_one).await["memory"]["id"].clone();
        by.push(("$old", &old));
    }
    let told = world.ask(write, request(stored, &by)).await;
    let id = at(&told, id);
    by.push(("$id", &id));
    let told = world.ask(read, request(asked, &by)).await;
    // A name that has something before the text is shown with it.
    let mut expected = json!("$text");
    if let Some((_, end)) = stored.split_once("$text").map(|(before, _)| before.rsplit_once('"').unwrap_or_default()) {
        expected = json!(format!("{end}$text"));
    }
    filled(&mut expected, &by);
    if write == "speaker.add" {
        // People's names are stored composed, so that two ways to write one are one person.
        let name = expected.as_str().unwrap_or_default().trim().nfc().collect::<String>();
        expected = json!(name);
    }
    let found = at(&told, shown);
    (found != expected).then(|| format!("{write}, {read}{shown}: {found} and not {expected}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn strange_texts_come_back_as_they_were_sent() {
    let Some(world) = World::open().await else { return };
    let mut faults = Vec::new();
    let mut new = 0;
    for (rows, texts) in [(&KEPT[..], [&TEXTS[..], &CONTROLS[..]].concat()), (&NAMES[..], TEXTS.to_vec())] {
        for kept in rows {
            for text in &texts {
                new += 1;
                let blank = text.chars().all(char::is_control);
                if !blank {
                    faults.extend(comes_back(&world, kept, text, new).await);
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    world.memlog.close().await;
}
