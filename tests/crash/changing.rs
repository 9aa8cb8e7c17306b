//! Another embedding model on the same folder: what was stored is embedded anew while searches and saves go on, and a process that
//! is killed in the middle of it leaves a folder that the next one goes on with.

use memlog_actors::api::profile::{self, Message};

use crate::{
    support::served::until,
    world::{Served, World},
};

const PROFILE: &str = "ann";
/// Some seconds of the second model where tests are compiled for speed, more elsewhere.
const MESSAGES: usize = 150;

async fn tell(served: &Served) {
    let topics = ["the balcony", "the neighbours", "a recipe for soup", "the bus to work", "a book", "the garden"];
    let message = |number: usize| Message {
        role: "user".to_owned(),
        content: match number {
            77 => "My sister Vera lives in Riga since last winter.".to_owned(),
            _ => format!("Note {number}: we talked about {} for a while.", topics[number % topics.len()]),
        },
        ..Message::default()
    };
    let messages = (0..MESSAGES).map(message).collect();
    let ingest = profile::Ingest { profile: PROFILE.to_owned(), messages, ..profile::Ingest::default() };
    served.call(ingest).await;
}

async fn remember(served: &Served, content: &str) {
    let remember =
        profile::Remember { profile: PROFILE.to_owned(), content: content.to_owned(), ..profile::Remember::default() };
    served.call(remember).await;
}

/// How a question was answered, and its first result. No search may fail, whatever the model does.
async fn asked(served: &Served, query: &str) -> (String, String) {
    let search = profile::Search { profile: PROFILE.to_owned(), query: query.to_owned(), ..profile::Search::default() };
    let found = served.call(search).await;
    let first = found.memories.first().and_then(|memory| memory.content.clone().flatten());
    (found.mode, first.unwrap_or_default())
}

async fn until_hybrid(served: &Served) {
    until("all is embedded anew", || async { asked(served, "Riga").await.0 == "hybrid" }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_model_outlives_kill_9() {
    let Some(mut world) = World::on_given_server().await else { return };
    if !world.bring_model() {
        return;
    }
    let served = world.serve().await;
    tell(&served).await;
    until_hybrid(&served).await;
    served.kill().await;

    if !world.bring_multilingual() {
        return;
    }
    let (mut news, mut modes) = (Vec::new(), Vec::new());
    for name in ["Ottilie", "Tomas"] {
        let served = world.serve().await;
        let (mode, first) = asked(&served, "Who lives in Riga?").await;
        assert!(first.contains("Vera"), "{first}");
        news.push(format!("The kettle came from {name}."));
        remember(&served, &news[news.len() - 1]).await;
        for news in &news {
            assert_eq!(asked(&served, news).await.1, *news, "{mode}");
        }
        modes.push(mode);
        served.kill().await;
    }
    assert_eq!(modes[0], "keyword", "the first kill came amid the embedding");
    let served = world.serve().await;
    until_hybrid(&served).await;
    for news in &news {
        assert_eq!(asked(&served, news).await.1, *news);
    }
    let (_, first) = asked(&served, "¿En qué ciudad vive su hermana?").await;
    assert!(first.contains("Vera"), "by meaning, across languages: {first}");
    served.stop().await;

    // And back: what the first model made is still there.
    assert!(world.bring_model());
    let served = world.serve().await;
    until_hybrid(&served).await;
    assert_eq!(asked(&served, &news[1]).await.1, news[1]);
    served.stop().await;
}
