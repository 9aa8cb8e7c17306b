//! Text that no person writes. Extraction runs on whatever a client sends.

use proptest::prelude::*;

use super::super::*;

fn read(text: &str) -> Vec<Extracted> {
    let turn = |role| Turn {
        role,
        speaker: Some("Zoë’s 🦊".into()),
        said_at: "2024-03-13T10:00:00Z".parse().unwrap(),
        offset_seconds: 0,
        text: text.to_owned(),
    };
    let work = Work {
        turns: vec![turn(Role::User), turn(Role::Assistant), turn(Role::System)],
        before: Vec::new(),
        known: vec![text.chars().take(500).collect()],
        ..Work::default()
    };
    let memories = Local.extract(&work).unwrap();
    let (_, summary) = Local.classify(text);
    for memory in &memories {
        assert!(memory.content.len() <= CONTENT_BYTES_MAX && !memory.content.trim().is_empty());
        assert!(memory.summary.chars().count() <= 120 && !memory.summary.contains(['\n', '\r']));
    }
    assert!(summary.chars().count() <= 120 && !summary.contains(['\n', '\r']));
    memories
}

// A message may hold 32,768 bytes of anything; none of it may stop a worker or make it run for minutes.
#[test]
fn floods_of_every_kind_are_survived() {
    for piece in [
        "a",
        "I ",
        "my ",
        "\"",
        "“",
        "( ",
        ". ",
        "? ",
        "```\n",
        "> ",
        "> a\n",
        "- a\n",
        "1. a\n",
        "and I am ",
        "2024-",
        "2024年",
        "yesterday ",
        "May 7 ",
        "\0",
        "\u{301}",
        "\u{202e}שלום ",
        "مرحبا ",
        "👨‍👩‍👧‍👦",
        "京都。",
        "か？",
        "ㅋ",
        "İ",
        "ß",
        "ﬁ",
        "\u{2028}",
        "a.b.",
        "I'm vegetarian and I'm allergic to nuts; ",
        "Dr. ",
        "the week before ",
        "well, ",
        "hey ",
        "😀",
        "«",
        "I work at A. ",
        "I go, ",
        "the cat is here and ",
        "I am 8, not 9, ",
        "The port of A is not 1, it's 2. ",
        "Pedro es alto, ",
        "Он читает, ",
        "肉は嫌いですけど、",
    ] {
        read(&piece.repeat(CONTENT_BYTES_MAX / piece.len()));
    }
}

// White space and control characters say nothing.
#[test]
fn blank_gives_nothing() {
    for text in ["", " ", "\n\n", "\0\0", "\u{3000}", "\u{200b}", "```\n```", "...", "?!", "👍"] {
        assert_eq!(read(text), Vec::new(), "{text:?}");
    }
}

// Names and dates written out must not push a record over its limit.
#[test]
fn content_keeps_its_limit() {
    let memories = read(&format!("I met {}", "me yesterday and ".repeat(1_900)));
    assert_eq!(memories.len(), 1);
    assert!(memories[0].content.len() > 32_000);
}

proptest! {
    // Byte offsets are everywhere in here; one that falls inside a character panics.
    #[test]
    fn any_text_is_survived(text in "(?s).{0,200}") {
        read(&text);
    }

    // The same with pieces that the rules look for.
    #[test]
    fn any_mix_of_cues_is_survived(pieces in prop::collection::vec(prop::sample::select(vec![
        "I", "I'm", "my", "and", "but", ",", ".", "?", "!", ":", "\"", "「", "」", "it's", "Porto", "now", "actually", "May", "7", "th", "2023", "年", "月", "日", "-", "last", "week", "before", "the",
        "昨日", "İ", "é", "\n", "> ", "always", "remind me", "to", "ago", "two", "days", "in", "Dr", "She", "Ann", "’", "'", " ", "if", "you",
    ]), 0..40), spaced in any::<bool>()) {
        read(&pieces.join(if spaced { " " } else { "" }));
    }
}
