//! Small talks and what is remembered of them.

use super::super::*;

fn said(role: Role, speaker: Option<&str>, text: &str) -> Turn {
    Turn {
        role,
        speaker: speaker.map(str::to_owned),
        said_at: "2024-03-13T10:00:00Z".parse().unwrap(),
        text: text.to_owned(),
    }
}

fn user(text: &str) -> Turn {
    said(Role::User, None, text)
}

fn contents(work: &Work) -> Vec<String> {
    Local.extract(work).unwrap().into_iter().map(|memory| memory.content).collect()
}

// A memory is read without its conversation: who and when must be in it.
#[test]
fn a_memory_names_its_speaker_and_its_day() {
    let turns = vec![
        said(Role::User, Some("Melanie"), "Hey Caroline! How are you?"),
        said(
            Role::User,
            Some("Caroline"),
            "Hi Melanie! I went to a support group yesterday and it was so powerful. We're going camping next month.",
        ),
    ];
    let memories = Local.extract(&Work { turns, ..Work::default() }).unwrap();
    let contents: Vec<_> = memories.iter().map(|memory| memory.content.as_str()).collect();
    assert_eq!(
        contents,
        [
            "Caroline went to a support group yesterday (12 March 2024) and it was so powerful.",
            "Caroline says: We're going camping next month (April 2024)."
        ]
    );
    assert_eq!(memories[0].timestamp, Some("2024-03-12T00:00:00Z".parse().unwrap()));
    assert_eq!(memories[0].sources, [1]);
    assert_eq!(memories[0].record_type, RecordType::Event);
}

// Standing orders are the operator's, not the person's, and echoes of either are no news.
#[test]
fn system_messages_and_their_echoes_give_nothing() {
    let turns = vec![
        said(Role::System, None, "The user works at Initech. Always answer in French."),
        user("I work at Initech."),
    ];
    assert_eq!(contents(&Work { turns, ..Work::default() }), Vec::<String>::new());
}

// An assistant's advice is not the user's life; what it owes is a task.
#[test]
fn of_the_assistant_only_promises_remain() {
    let turns = vec![said(
        Role::Assistant,
        None,
        "Great question! You live in a lovely city. I'll explain it. I'll send you your report tomorrow.",
    )];
    let memories = Local.extract(&Work { turns, ..Work::default() }).unwrap();
    assert_eq!(memories.len(), 1);
    assert_eq!(memories[0].content, "The assistant will send the user the user's report tomorrow (14 March 2024).");
    assert_eq!(memories[0].record_type, RecordType::Task);
}

// A change of mind replaces the one record it can mean, also when only the new value is said.
#[test]
fn a_change_of_mind_names_what_it_replaces() {
    let known = vec!["The user lives in Lisbon.".to_owned()];
    for (text, content) in [
        ("Actually it's Porto now.", "The user lives in Porto."),
        (
            "I moved to Porto, so I no longer live in Lisbon.",
            "The user moved to Porto, so they no longer live in Lisbon.",
        ),
    ] {
        let memories =
            Local.extract(&Work { turns: vec![user(text)], known: known.clone(), ..Work::default() }).unwrap();
        assert_eq!((memories[0].content.as_str(), memories[0].corrects), (content, Some(0)), "{text}");
    }
    // Of two records, the one that was just spoken of.
    let known = vec!["The user has a dog called Rex.".to_owned(), "The user lives in Lisbon.".to_owned()];
    let turns = vec![user("Actually it's Porto now.")];
    let memories = Local.extract(&Work { turns, before: vec![user("I live in Lisbon.")], known }).unwrap();
    assert_eq!((memories[0].content.as_str(), memories[0].corrects), ("The user lives in Porto.", Some(1)));
    let unclear = Work { turns: vec![user("Actually it's Porto now.")], ..Work::default() };
    assert_eq!(contents(&unclear), Vec::<String>::new());
}

// Politeness is no question.
#[test]
fn an_order_asked_nicely_is_kept() {
    let memories = Local
        .extract(&Work { turns: vec![user("Could you remind me to call Ann on Monday?")], ..Work::default() })
        .unwrap();
    assert_eq!(
        (memories[0].content.as_str(), memories[0].record_type),
        ("Remind the user to call Ann on Monday (18 March 2024)", RecordType::Task)
    );
}

// Saying it twice makes one memory with two sources.
#[test]
fn what_is_said_twice_is_kept_once() {
    let memories = Local
        .extract(&Work { turns: vec![user("I like tea."), user("ok"), user("I like tea!")], ..Work::default() })
        .unwrap();
    assert_eq!(memories.len(), 1);
    assert_eq!(memories[0].sources, [0, 2]);
}

// A language nobody wrote rules for must lose nothing.
#[test]
fn unknown_languages_keep_their_sentences() {
    for text in ["Mieszkam w Krakowie od trzech lat.", "أعيش في القاهرة مع عائلتي.", "ฉันอาศัยอยู่ที่กรุงเทพฯ"]
    {
        assert_eq!(contents(&Work { turns: vec![user(text)], ..Work::default() }), [text]);
    }
}

// What is saved explicitly is never dropped, only filed.
#[test]
fn explicit_texts_are_filed() {
    for (text, kind) in [
        ("Lou lives in Porto", RecordType::Fact),
        ("Deployed v2 to production on 2024-03-12", RecordType::Event),
        ("Never deploy on Fridays", RecordType::Instruction),
        ("TODO: rotate the keys", RecordType::Task),
        ("ok", RecordType::Fact),
    ] {
        assert_eq!(Local.classify(text), (kind, text.to_owned()));
    }
}
