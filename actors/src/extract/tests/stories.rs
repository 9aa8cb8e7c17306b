//! Small talks and what is remembered of them.

use super::super::*;

fn said(role: Role, speaker: Option<&str>, text: &str) -> Turn {
    Turn {
        role,
        speaker: speaker.map(str::to_owned),
        said_at: "2024-03-13T10:00:00Z".parse().unwrap(),
        offset_seconds: 0,
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
    let memories =
        Local.extract(&Work { turns, before: vec![user("I live in Lisbon.")], known, ..Work::default() }).unwrap();
    assert_eq!((memories[0].content.as_str(), memories[0].corrects), ("The user lives in Porto.", Some(1)));
    let unclear = Work { turns: vec![user("Actually it's Porto now.")], ..Work::default() };
    assert_eq!(contents(&unclear), Vec::<String>::new());
}

// A conversation may come in whole: what it takes back itself is replaced, too, and what it only adds to is not.
#[test]
fn a_change_of_mind_in_the_same_conversation_names_what_it_replaces() {
    let told = |turns: &[&str], known: &[&str]| {
        let turns = turns.iter().map(|text| user(text)).collect();
        let known = known.iter().map(|&text| text.to_owned()).collect();
        let memories = Local.extract(&Work { turns, known, ..Work::default() }).unwrap();
        memories.into_iter().map(|memory| (memory.content, memory.corrects)).collect::<Vec<_>>()
    };
    let (lisbon, porto) = ("The user lives in Lisbon.".to_owned(), "The user lives in Porto.".to_owned());
    assert_eq!(
        told(&["I live in Lisbon.", "Actually it's Porto now."], &[]),
        [(lisbon.clone(), None), (porto.clone(), Some(0))]
    );
    let behind = told(&["I live in Lisbon.", "Actually it's Porto now."], &["The user has a dog.", "The user sings."]);
    assert_eq!(behind, [(lisbon, None), (porto, Some(2))], "counted behind what is known");
    let ports = told(&["The API listens on port 8080.", "btw the API listens on port 9090 now, not 8080."], &[]);
    assert_eq!(ports[1].1, Some(0));
    let added = told(&["I love hiking in the Alps.", "I actually love my new boots."], &[]);
    assert!(added.iter().all(|(_, corrects)| corrects.is_none()), "{added:?}");
}

// "Yesterday" is a day on the calendar of whoever says it, and times are shown in UTC.
#[test]
fn days_are_those_of_the_speakers_own_clock() {
    let late = |text: &str, said_at: &str, hours: i32| {
        let turn = Turn { said_at: said_at.parse().unwrap(), offset_seconds: hours * 3600, ..user(text) };
        Local.extract(&Work { turns: vec![turn], ..Work::default() }).unwrap().remove(0)
    };
    for (text, said_at, hours, day, shown) in [
        ("I saw Ann yesterday.", "2026-03-14T04:30:00Z", -5, "2026-03-12T00:00:00Z", "12 March 2026"),
        ("I saw Ann yesterday.", "2026-03-14T04:30:00Z", 0, "2026-03-13T00:00:00Z", "13 March 2026"),
        ("Tonight at 9 I play chess with Ann.", "2026-03-14T01:30:00Z", -5, "2026-03-13T00:00:00Z", "13 March 2026"),
        ("I met Ann today.", "2026-03-13T20:00:00Z", 9, "2026-03-14T00:00:00Z", "14 March 2026"),
        ("I met Ann today.", "2026-03-13T20:00:00Z", 2, "2026-03-13T20:00:00Z", "13 March 2026"),
    ] {
        let memory = late(text, said_at, hours);
        assert_eq!(memory.timestamp, Some(day.parse().unwrap()), "{text} {hours}");
        assert!(memory.content.contains(shown), "{}", memory.content);
    }
}

// Lists show summaries: whatever the memory is of, and however it was written, one line.
#[test]
fn every_summary_is_one_line() {
    let turns = vec![
        user("My flat is in Porto\nand it is small."),
        user("I moved here last week."),
        user("Always answer in French."),
        user("Remind me to call Ann on Monday."),
        user("Mi perro se llama Toby."),
        said(Role::Assistant, None, "I'll send you the list tomorrow."),
    ];
    let memories = Local.extract(&Work { turns, ..Work::default() }).unwrap();
    let types: HashSet<_> = memories.iter().map(|memory| memory.record_type).collect();
    assert_eq!(types.len(), 4, "{memories:?}");
    for memory in memories {
        let line = !memory.summary.trim().is_empty() && memory.summary.lines().count() == 1;
        assert!(line && memory.summary.chars().count() <= 120, "{memory:?}");
    }
}

// What might be, what others wrote and what a machine prints is nobody's life.
#[test]
fn what_ifs_quotations_and_code_give_nothing() {
    for text in [
        "If I lived in Rome I would buy a scooter.",
        "Suppose I had two dogs.",
        "> I live in Rome.",
        "He said: \"I live in Rome and I have two dogs.\"",
        "```\nlet city = \"I live in Rome\";\n```",
        "Error: user lives in cache",
        "Translate this: I live in Rome.",
        "Ojalá tuviera dos perros.",
        "Если бы я жил в Риме, я бы завёл собаку.",
    ] {
        assert_eq!(contents(&Work { turns: vec![user(text)], ..Work::default() }), Vec::<String>::new(), "{text}");
    }
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
    for text in [
        "Mieszkam w Krakowie od trzech lat.",
        "أعيش في القاهرة مع عائلتي.",
        "ฉันอาศัยอยู่ที่กรุงเทพฯ",
        "Üç yıldır Ankara'da yaşıyorum.",
        "Ninaishi Mombasa na mama yangu.",
        "मैं अपने भाई के साथ पुणे में रहता हूँ।",
        "Minulla on kaksi koiraa ja kissa.",
        "Ik woon in Utrecht met mijn vriendin.",
        "Tôi sống ở Hà Nội với gia đình.",
        "Εργάζομαι ως νοσοκόμα στην Πάτρα.",
    ] {
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
