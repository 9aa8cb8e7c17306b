//! Duplicates and news as a client meets them: through NATS, with every field of the reply.

use memlog_actors::{
    api::{
        profile::{Remember, Remembered, Stored},
        speaker,
    },
    limits::Limits,
};

use crate::support::{Nats, served::Memlog};

async fn say(memlog: &Memlog, speaker: Option<&str>, content: &str) -> Remembered {
    let (profile, speaker) = ("ann".to_owned(), speaker.map(str::to_owned));
    memlog.call(Remember { profile, content: content.to_owned(), speaker, ..Remember::default() }).await.unwrap()
}

/// A client acts on `status` and `duplicate_of`; news that is answered with them is lost for good.
#[tokio::test(flavor = "multi_thread")]
async fn news_is_stored_and_a_repetition_names_what_is_there() {
    let Some(nats) = Nats::start().await else { return };
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), nats.url(), Limits::default()).await;
    memlog.call(speaker::Add { profile: "ann".to_owned(), speaker: "Bob".to_owned() }).await.unwrap();
    let first = say(&memlog, None, "I am allergic to peanuts").await;
    for news in [
        "I am allergic to shellfish",
        "I moved to Porto",
        "I moved to Lisbon",
        "I drink coffee",
        "I no longer drink coffee",
    ] {
        let reply = say(&memlog, None, news).await;
        assert_eq!((reply.status, reply.duplicate_of), (Stored::Stored, None), "{news}");
    }
    let again = say(&memlog, None, "I have an allergy to peanuts.").await;
    assert_eq!((again.status, again.duplicate_of.as_ref()), (Stored::Duplicate, Some(&first.memory.id)));
    assert!(again.similarity.is_some_and(|it| (0.0..=1.0).contains(&it)) && again.note.is_some());
    assert_eq!(again.memory.id, first.memory.id);
    let another = say(&memlog, Some("Bob"), "I am allergic to peanuts").await;
    assert_eq!(another.status, Stored::Stored, "the same words of another person are news");
    memlog.close().await;
}
