//! Speakers as a client meets them: who may be named, whose words are whose in every read, and how a name goes.

use memlog_actors::{
    api::{AsOf, Error, Verb, audit, error::Kind, profile::*, record::Record, speaker},
    limits::Limits,
};
use serde_json::{Value, json};

use crate::support::{
    Nats,
    served::{Memlog, refused},
};

const TEAM: &str = "team";

pub(crate) async fn opened(limits: Limits) -> Option<(Nats, tempfile::TempDir, Memlog)> {
    let nats = Nats::start().await?;
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), nats.url(), limits).await;
    Some((nats, data, memlog))
}

fn adding(speaker: &str) -> speaker::Add {
    speaker::Add { profile: TEAM.to_owned(), speaker: speaker.to_owned() }
}

fn removing(speaker: &str) -> speaker::Remove {
    speaker::Remove { profile: TEAM.to_owned(), speaker: speaker.to_owned() }
}

pub(crate) fn listing() -> speaker::List {
    speaker::List { profile: TEAM.to_owned(), as_of: None }
}

pub(crate) fn said_by(speaker: &str) -> speaker::Memories {
    speaker::Memories { profile: TEAM.to_owned(), speaker: speaker.to_owned(), ..speaker::Memories::default() }
}

pub(crate) fn saying(speaker: Option<&str>, content: &str) -> Remember {
    let speaker = speaker.map(str::to_owned);
    Remember { profile: TEAM.to_owned(), content: content.to_owned(), speaker, ..Remember::default() }
}

pub(crate) fn searching(query: &str, speaker: Option<&str>) -> Search {
    let speaker = speaker.map(str::to_owned);
    Search { profile: TEAM.to_owned(), query: query.to_owned(), speaker, limit: Some(100), ..Search::default() }
}

fn recalling(query: &str, speaker: Option<&str>) -> Recall {
    let speaker = speaker.map(str::to_owned);
    Recall { profile: TEAM.to_owned(), query: query.to_owned(), speaker, ..Recall::default() }
}

fn message(speaker: Option<&str>, content: &str) -> Message {
    let speaker = speaker.map(str::to_owned);
    Message { role: "user".to_owned(), content: content.to_owned(), speaker, ..Message::default() }
}

pub(crate) fn conversation(session: &str, messages: Vec<Message>) -> Ingest {
    let session_id = Some(session.to_owned());
    Ingest { profile: TEAM.to_owned(), messages, session_id, wait: Some(true), timeout_s: None }
}

/// A call refused with this kind; its error, to look at the fields.
async fn refusal<V: Verb>(memlog: &Memlog, request: V, kind: Kind) -> Error
where
    V::Reply: std::fmt::Debug,
{
    let error = refused(memlog.call(request).await);
    assert_eq!(error.kind, kind, "{error}");
    error
}

async fn head(memlog: &Memlog) -> u64 {
    memlog.call(audit::Stats::default()).await.unwrap().head.seq
}

// The names that there may be, to the character, and the errors that clients branch on.
#[tokio::test(flavor = "multi_thread")]
async fn the_registry_takes_names_of_any_language_and_refuses_by_field() {
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    // Two ways to write é are one name, and so is one with white space around it; another casing is another person.
    let names = ["Bob", "bob", "さくら", "Иван", "하늘", "Jose\u{301}", "मीरा", "‏ליאור", &"さ".repeat(80)];
    for name in names {
        memlog.call(adding(name)).await.unwrap();
    }
    for known in [" Bob ", "José", "\u{3000}さくら\n"] {
        memlog.call(adding(known)).await.unwrap();
    }
    let listed = memlog.call(listing()).await.unwrap();
    let shown: Vec<&str> = listed.speakers.iter().map(|it| it.speaker.as_str()).collect();
    assert_eq!(shown[..6], ["Bob", "bob", "さくら", "Иван", "하늘", "José"]);
    assert_eq!((listed.count, listed.limit), (names.len() as u64, 50));

    for reserved in ["me", " me ", "Me", "ME", "mE"] {
        let error = refusal(&memlog, adding(reserved), Kind::InvalidRequest).await;
        assert_eq!((&error.fields["field"], &error.fields["speaker"]), (&json!("speaker"), &json!(reserved.trim())));
    }
    for casing in ["Me", "ME", " mE"] {
        refusal(&memlog, saying(Some(casing), "hello"), Kind::InvalidRequest).await;
        refusal(&memlog, searching("hello", Some(casing)), Kind::InvalidRequest).await;
        refusal(&memlog, recalling("hello", Some(casing)), Kind::InvalidRequest).await;
        refusal(&memlog, said_by(casing), Kind::InvalidRequest).await;
        refusal(&memlog, removing(casing), Kind::InvalidRequest).await;
    }
    let long = refusal(&memlog, adding(&"さ".repeat(81)), Kind::InvalidRequest).await;
    assert_eq!((&long.fields["field"], &long.fields["limit"]), (&json!("speaker"), &json!(80)));
    for wrong in ["", "  ", "\u{200b}", "a\u{7}b"] {
        refusal(&memlog, adding(wrong), Kind::InvalidRequest).await;
    }
    for stranger in ["BOB", "me", "Eve"] {
        let error = refusal(&memlog, removing(stranger), Kind::NotFound).await;
        assert_eq!(error.fields["speaker"], stranger);
    }
    assert_eq!(memlog.call(listing()).await.unwrap(), listed, "what was refused changed nothing");
    memlog.close().await;
}

// The limit stands at the registry alone: a full profile still takes every word of those who are in it.
#[tokio::test(flavor = "multi_thread")]
async fn the_limit_is_counted_on_add_alone_and_can_be_set() {
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    for number in 0..50 {
        memlog.call(adding(&format!("person {number}"))).await.unwrap();
    }
    let error = refusal(&memlog, adding("one more"), Kind::InvalidRequest).await;
    assert_eq!((&error.fields["speaker_limit"], &error.fields["field"]), (&json!(50), &json!("speaker")));
    memlog.call(adding("person 7")).await.unwrap();
    memlog.call(saying(Some("person 7"), "I grow beans")).await.unwrap();
    memlog.call(saying(Some("me"), "I will water the beans")).await.unwrap();
    let listed = memlog.call(listing()).await.unwrap();
    assert_eq!((listed.count, listed.limit), (50, 50), "'me' is not counted");
    assert!(listed.speakers.iter().all(|it| it.speaker != "me"));
    memlog.call(removing("person 7")).await.unwrap();
    memlog.call(adding("one more")).await.unwrap();
    // Elsewhere there is as much room again.
    memlog.call(speaker::Add { profile: "others".to_owned(), speaker: "Bob".to_owned() }).await.unwrap();
    memlog.close().await;

    let Some((_nats, _data, memlog)) = opened(Limits { speakers_max: 1, ..Limits::default() }).await else { return };
    memlog.call(adding("Bob")).await.unwrap();
    let error = refusal(&memlog, adding("Eve"), Kind::InvalidRequest).await;
    assert_eq!(error.fields["speaker_limit"], 1);
    assert_eq!(memlog.call(listing()).await.unwrap().limit, 1);
    memlog.close().await;
}

// A name that nobody registered stores nothing, not even the profile, and finds nothing: never a guess at who is meant.
#[tokio::test(flavor = "multi_thread")]
async fn an_unregistered_name_is_400_on_a_write_and_404_in_a_filter() {
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    let sent = || conversation("talk", vec![message(None, "hello"), message(Some("Eve"), "hi")]);
    for existing in [false, true] {
        if existing {
            memlog.call(adding("Bob")).await.unwrap();
        }
        let before = head(&memlog).await;
        for error in [
            refusal(&memlog, saying(Some("Eve"), "I grow beans"), Kind::InvalidRequest).await,
            refusal(
                &memlog,
                Remember { session_id: Some("new".to_owned()), ..saying(Some("Eve"), "x") },
                Kind::InvalidRequest,
            )
            .await,
            refusal(&memlog, sent(), Kind::InvalidRequest).await,
        ] {
            assert_eq!(error.fields["speaker"], "Eve", "{error:?}");
        }
        assert_eq!(head(&memlog).await, before, "nothing is stored");
    }
    let before = head(&memlog).await;
    for error in [
        refusal(&memlog, searching("beans", Some("Eve")), Kind::NotFound).await,
        refusal(&memlog, recalling("beans", Some("Eve")), Kind::NotFound).await,
        refusal(&memlog, said_by("Eve"), Kind::NotFound).await,
        refusal(&memlog, removing("Eve"), Kind::NotFound).await,
    ] {
        assert_eq!(error.fields["speaker"], "Eve", "{error:?}");
    }
    assert_eq!(head(&memlog).await, before);
    assert!(memlog.call(said_by("me")).await.unwrap().memories.is_empty(), "'me' needs no registration");
    memlog.close().await;
}

/// Whose words each of a list is, and its line.
fn lines(records: &[Record]) -> Vec<(Option<&str>, &str)> {
    records.iter().map(|it| (it.speaker.as_deref(), it.summary.as_deref().unwrap_or_default())).collect()
}

/// Every read that shows the record, and whose words each says they are.
async fn shown_as(memlog: &Memlog, id: &str, word: &str, as_of: Option<AsOf>) -> Vec<Option<String>> {
    let (profile, memory_id) = (TEAM.to_owned(), id.to_owned());
    let one = Memory { profile: profile.clone(), memory_id: memory_id.clone(), as_of };
    let mut shown = vec![memlog.call(one).await.unwrap().memory.speaker];
    let found = memlog.call(Search { as_of, ..searching(word, None) }).await.unwrap().memories;
    shown.push(found.into_iter().find(|hit| hit.id == id).expect("found").speaker);
    let recalled = memlog.call(Recall { as_of, ..recalling(word, None) }).await.unwrap();
    shown.push(recalled.candidates.into_iter().find(|it| it.id == id).expect("a candidate").speaker);
    let listed = memlog.call(Memories { profile: profile.clone(), as_of, ..Memories::default() }).await.unwrap();
    shown.push(listed.memories.into_iter().find(|it| it.id == id).expect("listed").speaker);
    let history = memlog.call(History { profile: profile.clone(), memory_id, as_of }).await.unwrap().events;
    shown.extend(history.into_iter().map(|it| it.speaker));
    let summary = memlog.call(Summary { profile, as_of, session_id: None }).await.unwrap().summary;
    let under = summary.lines().take_while(|line| !line.contains(word));
    shown.push(
        under.filter_map(|line| line.strip_prefix("### ")).last().map(str::to_owned).filter(|it| it != "Untagged"),
    );
    shown
}

// The tag lives in every read, goes with the registration, and is not brought back by the same name.
#[tokio::test(flavor = "multi_thread")]
async fn every_read_says_whose_words_they_are_until_the_name_is_removed() {
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    memlog.call(adding("Bob")).await.unwrap();
    let kept = memlog.call(saying(Some(" Bob"), "The deadline moved to zwanzig")).await.unwrap().memory;
    assert_eq!(kept.speaker.as_deref(), Some("Bob"));
    memlog.call(saying(None, "The office smells of paint")).await.unwrap();
    let sent =
        vec![message(Some("Bob"), "I promised einundzwanzig"), message(Some("me"), "I will send zweiundzwanzig")];
    memlog.call(conversation("talk", sent)).await.unwrap();
    let turn = AddTurn {
        profile: TEAM.to_owned(),
        user: "My desk is dreiundzwanzig".to_owned(),
        assistant: "Noted dreiundzwanzig".to_owned(),
        session_id: None,
    };
    let job_id = memlog.call(turn).await.unwrap().job_id;
    memlog.call(Wait { profile: TEAM.to_owned(), job_id, timeout_s: Some(60.0) }).await.unwrap();

    let bob = |times: usize| vec![Some("Bob".to_owned()); times];
    assert_eq!(shown_as(&memlog, &kept.id, "zwanzig", None).await, bob(6));
    // What is made of a message keeps its speaker; the message itself is listed under it as well.
    for (word, speaker) in [("einundzwanzig", Some("Bob")), ("zweiundzwanzig", Some("me")), ("dreiundzwanzig", None)] {
        let types = |types: Value| Search { types: serde_json::from_value(types).unwrap(), ..searching(word, None) };
        for types in [types(json!(["fact"])), types(json!(["message"]))] {
            let found = memlog.call(types).await.unwrap().memories;
            let right = found.iter().filter(|hit| hit.content.clone().flatten().unwrap_or_default().contains(word));
            let tags: Vec<_> = right.map(|hit| hit.speaker.as_deref()).collect();
            assert!(!tags.is_empty() && tags.iter().all(|tag| *tag == speaker), "{word}: {tags:?}");
        }
    }
    let mine = memlog.call(said_by("me")).await.unwrap().memories;
    assert_eq!(lines(&mine), [(Some("me"), "I will send zweiundzwanzig")], "untagged turns are nobody's");

    let correction = Supersede {
        profile: TEAM.to_owned(),
        memory_id: kept.id.clone(),
        content: "The deadline moved to dreissig".to_owned(),
        ..Supersede::default()
    };
    let new = memlog.call(correction).await.unwrap().memory;
    assert_eq!(new.speaker.as_deref(), Some("Bob"), "a correction keeps whose words they are");
    let then = head(&memlog).await;
    let count = |listed: speaker::Listed| listed.speakers.iter().map(|it| it.memories).collect::<Vec<_>>();
    assert_eq!(count(memlog.call(listing()).await.unwrap()), [2], "the corrected one is not counted");

    memlog.call(removing("Bob")).await.unwrap();
    for again in [false, true] {
        if again {
            memlog.call(adding("Bob")).await.unwrap();
            let page = memlog.call(said_by("Bob")).await.unwrap();
            assert!(page.memories.is_empty() && page.chunks == 0, "another Bob has said nothing yet");
            assert!(memlog.call(searching("dreissig", Some("Bob"))).await.unwrap().memories.is_empty());
            assert_eq!(count(memlog.call(listing()).await.unwrap()), [0]);
        }
        for as_of in [None, Some(AsOf::Seq(then))] {
            assert!(shown_as(&memlog, &new.id, "dreissig", as_of).await.iter().all(Option::is_none), "{as_of:?}");
        }
    }
    let past = speaker::Memories { as_of: Some(AsOf::Seq(then)), ..said_by("Bob") };
    assert_eq!(refusal(&memlog, past, Kind::NotFound).await.fields["speaker"], "Bob", "not in the past either");
    // The name is no word to be found by either: neither where it was a tag, nor in an answer.
    let named = memlog.call(searching("Bob", None)).await.unwrap().memories;
    assert!(named.is_empty(), "{named:?}");

    memlog.call(Forget { profile: TEAM.to_owned(), memory_id: new.id.clone() }).await.unwrap();
    let history = History { profile: TEAM.to_owned(), memory_id: new.id, as_of: None };
    assert!(memlog.call(history).await.unwrap().events.iter().all(|it| it.speaker.is_none()));
    memlog.close().await;
}

// A filter by speaker is never a match on the text, and passages, which several people said, carry no tag.
#[tokio::test(flavor = "multi_thread")]
async fn a_filter_returns_what_was_stored_under_the_tag_and_nothing_else() {
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    for name in ["Ana", "Bob"] {
        memlog.call(adding(name)).await.unwrap();
    }
    memlog.call(saying(Some("Ana"), "I keep bees on the roof")).await.unwrap();
    memlog.call(saying(Some("Bob"), "Ana keeps bees on the roof")).await.unwrap();
    memlog.call(saying(None, "Ana said that bees sting")).await.unwrap();
    let sent = vec![message(Some("Ana"), "The bees made honey"), message(Some("Bob"), "Are the bees loud, Ana?")];
    memlog.call(conversation("roof", sent)).await.unwrap();

    for query in ["bees", "Ana bees"] {
        let found = memlog.call(Search { expand: Some(true), ..searching(query, Some("Ana")) }).await.unwrap();
        let said: Vec<_> = found.memories.iter().map(|hit| hit.content.clone().flatten().unwrap()).collect();
        assert!(
            said.contains(&"I keep bees on the roof".to_owned()) && said.contains(&"The bees made honey".to_owned())
        );
        assert!(found.memories.iter().all(|hit| hit.speaker.as_deref() == Some("Ana")), "{said:?}");
        assert_eq!(found.passages, Some(vec![]), "a passage holds others' words as well");
        let recalled = memlog.call(recalling(query, Some("Ana"))).await.unwrap();
        assert!(recalled.count > 0 && recalled.candidates.iter().all(|it| it.speaker.as_deref() == Some("Ana")));
        assert!(!recalled.answer.contains("Bob"), "{}", recalled.answer);
    }
    let all = memlog.call(Search { expand: Some(true), ..searching("bees honey", None) }).await.unwrap();
    let passages = serde_json::to_value(all.passages.unwrap()).unwrap();
    assert_eq!(passages[0]["session_id"], "roof");
    assert!(passages[0].get("speaker").is_none());
    memlog.close().await;
}
