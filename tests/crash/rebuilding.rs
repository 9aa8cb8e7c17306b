//! Every view is a fold of the log: dropped and folded again, without the model, it answers as before. The vectors come
//! from the log's own cache, which a killed process leaves as whole as the events.

use memlog_actors::api::{
    Time,
    profile::{self, Message},
};
use serde_json::{Value, json};

use crate::world::{Served, World};

const PROFILE: &str = "ann";
const QUESTIONS: [&str; 5] = [
    "Where does the sister live?",
    "What is growing on the balcony?",
    "When is the next appointment at the dentist?",
    "Who gave away the bicycle?",
    "kettle Ottilie",
];

fn time(text: &str) -> Option<Time> {
    Some(serde_json::from_value(json!(text)).unwrap())
}

/// Two conversations and some memories; how many messages and memories were said.
async fn tell(served: &Served) {
    let sessions = [
        (
            "2023-05-08T10:00:00Z",
            [
                "My sister Vera lives in Riga since last winter.",
                "I grow tomatoes and basil on the balcony.",
                "What did you do at the weekend?",
                "I gave my old bicycle to Tomas because the new one folds.",
            ],
        ),
        (
            "2023-06-01T18:30:00Z",
            [
                "The dentist wants to see me on 14 June.",
                "Vera visits us in August with the children.",
                "Please always answer in short sentences.",
                "I started to learn the cello with Mr Okafor.",
            ],
        ),
    ];
    for (number, (at, lines)) in sessions.into_iter().enumerate() {
        let message = |(turn, content): (usize, &str)| Message {
            role: ["user", "assistant"][turn % 2].to_owned(),
            content: content.to_owned(),
            timestamp: time(at).map(Into::into),
            ..Message::default()
        };
        let ingest = profile::Ingest {
            profile: PROFILE.to_owned(),
            messages: lines.into_iter().enumerate().map(message).collect(),
            session_id: Some(format!("talk-{number}")),
            wait: Some(true),
            ..profile::Ingest::default()
        };
        served.call(ingest).await;
    }
    for content in ["The kettle came from grandmother Ottilie.", "The ferns in the hall need water every Friday."] {
        let remember = profile::Remember {
            profile: PROFILE.to_owned(),
            content: content.to_owned(),
            timestamp: time("2023-06-02T09:00:00Z"),
            ..profile::Remember::default()
        };
        served.call(remember).await;
    }
}

/// Everything that is answered to the questions: texts, ids, order, scores, position, mode.
async fn answers(served: &Served) -> Vec<Value> {
    let mut all = Vec::new();
    for query in QUESTIONS {
        let recall = profile::Recall {
            profile: PROFILE.to_owned(),
            query: query.to_owned(),
            reference_date: time("2023-07-01T00:00:00Z").map(Into::into),
            ..profile::Recall::default()
        };
        let search =
            profile::Search { profile: PROFILE.to_owned(), query: query.to_owned(), ..profile::Search::default() };
        all.push(json!({ "recall": served.call(recall).await, "search": served.call(search).await }));
    }
    all
}

fn modes(answers: &[Value]) -> Vec<&str> {
    answers.iter().map(|answer| answer["recall"]["mode"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn views_rebuilt_without_the_model_answer_as_before() {
    let Some(mut world) = World::on_given_server().await else { return };
    let has_model = world.bring_model();
    let served = world.serve().await;
    tell(&served).await;
    // The answers waited for the vectors; a write after them takes them to the disk with it.
    answers(&served).await;
    served.call(profile::Get { profile: "ben".to_owned(), as_of: None }).await;
    let before = answers(&served).await;
    let mode = if has_model { "hybrid" } else { "keyword" };
    assert_eq!(modes(&before), [mode; QUESTIONS.len()]);
    served.kill().await;

    world.take_model_away();
    let without = world.done(&["rebuild"]).await;
    assert_eq!((&without["profiles"], &without["messages"]), (&json!(2), &json!(8)));
    assert!(without["records"].as_u64().unwrap() > 2, "{without}: two were saved, the others extracted");
    let served = world.serve().await;
    let by_keyword = answers(&served).await;
    assert_eq!(modes(&by_keyword), ["keyword"; QUESTIONS.len()], "it says that it looks at words alone");
    let kettle = &by_keyword[4]["recall"]["candidates"][0]["summary"];
    assert_eq!(kettle, "The kettle came from grandmother Ottilie.");
    served.stop().await;

    if has_model {
        world.bring_model();
        let with = world.done(&["rebuild"]).await;
        let documents = with["records"].as_u64().unwrap() + with["messages"].as_u64().unwrap();
        assert_eq!((&with["records"], &with["messages"]), (&without["records"], &without["messages"]));
        assert_eq!(with["documents_from_cache"], documents, "{with}: no document was given to the model again");
        assert_eq!((&with["documents_embedded"], &with["documents_pending"]), (&json!(0), &json!(0)), "{with}");
    }
    let served = world.serve().await;
    for ((before, after), question) in before.iter().zip(answers(&served).await).zip(QUESTIONS) {
        assert_eq!(before, &after, "{question}");
    }
    served.stop().await;
}
