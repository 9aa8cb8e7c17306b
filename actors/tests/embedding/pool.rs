//! One bounded pool for questions and passages: saves never starve questions, questions never starve saves, and past the bound
//! a question is refused by name.

use memlog_actors::{
    api::{
        error::Kind,
        profile::{Recall, ThinkingLevel},
    },
    port::Purpose::{Passage, Query},
    system::System,
};
use tokio::task::JoinSet;

use crate::world::{Letters, World, acme, ask, mode, question, say, tell, until};

/// A profile to ask that has nothing to embed, and one whose passages fill the only thread.
async fn busy(world: &World, model: &std::sync::Arc<Letters>) -> System {
    let system = world.start(Some(model)).await;
    say(&system, "ann", "The cat is called Miso").await;
    assert_eq!(mode(&system, question("ann", "what?")).await, "hybrid");
    model.shut();
    tell(&system, "bulk", 0..40).await;
    // Whoever loads the views puts the profile in line.
    let views = memlog_actors::api::profile::Memories { profile: "bulk".to_owned(), ..Default::default() };
    system.profile_memories(&acme(), views).await.expect("listed");
    until("the first passage", || model.begun() == [Passage]).await;
    system
}

fn ask_many(system: &System, count: usize) -> JoinSet<String> {
    let mut asking = JoinSet::new();
    for number in 0..count {
        let system = system.clone();
        asking.spawn(async move { mode(&system, question("ann", &format!("question {number}?"))).await });
    }
    asking
}

// Whoever asks while a long conversation is being stored must not wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_waits_for_one_passage_at_most() {
    let (world, model) = (World::new(1), Letters::new(7));
    let system = busy(&world, &model).await;
    let mut asking = ask_many(&system, 1);
    until("the question in line", || system.health().questions_pending == 1).await;
    model.allow(Passage);
    until("the next text", || model.begun().len() == 2).await;
    assert_eq!(model.begun(), [Passage, Query], "39 passages were in line before it");
    model.allow(Query);
    assert_eq!(asking.join_next().await.expect("asked").expect("whole"), "hybrid");
    assert!(system.health().chunks_pending >= 38, "it did not wait for the others");
    model.open();
    system.stop().await;
}

// As many questions as come must leave something of the model's time to what is stored, or it would never be found by meaning.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_questions_lets_passages_through() {
    let (world, model) = (World::new(1), Letters::new(7));
    let system = busy(&world, &model).await;
    let asking = ask_many(&system, 100);
    until("all questions in line", || system.health().questions_pending == 100).await;
    model.open();
    assert!(asking.join_all().await.iter().all(|mode| mode == "hybrid"));
    let begun = model.begun();
    let runs = begun.split(|purpose| *purpose == Passage).map(<[_]>::len);
    assert_eq!(runs.clone().max(), Some(16), "{begun:?}");
    assert_eq!(runs.take(7).collect::<Vec<_>>(), [0, 16, 16, 16, 16, 16, 16]);
    until("the passages", || system.health().chunks_pending == 0).await;
    system.stop().await;
}

// With more than one thread a model that is busy with passages for minutes still answers at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_saves_leaves_a_thread_to_questions() {
    for threads in [2, 3, 5] {
        let (world, model) = (World::new(threads), Letters::new(7));
        let system = world.start(Some(&model)).await;
        say(&system, "ann", "The cat is called Miso").await;
        assert_eq!(mode(&system, question("ann", "what?")).await, "hybrid");
        model.shut_for_passages();
        for number in 0..2 * threads {
            say(&system, &format!("bulk-{number}"), "Harbours lie in the north").await;
        }
        until("passages under way", || model.count(Passage) == threads.div_ceil(2)).await;
        assert!(ask_many(&system, 20).join_all().await.iter().all(|mode| mode == "hybrid"));
        assert_eq!(model.count(Passage), threads.div_ceil(2), "no more than half of the threads, rounded up");
        model.open();
        system.stop().await;
    }
}

// A queue without a bound would take every client down with it; and who has gone away takes no place.
#[tokio::test(flavor = "multi_thread")]
async fn past_the_bound_a_question_is_refused() {
    let (mut world, model) = (World::new(1), Letters::new(7));
    world.limits.embed_queries_max = 2;
    let system = busy(&world, &model).await;
    let mut asking = ask_many(&system, 2);
    until("two in line", || system.health().questions_pending == 2).await;
    let refused = ask(&system, question("ann", "one more?")).await.expect_err("refused");
    assert_eq!(refused.kind, Kind::Unavailable);
    assert_eq!(
        (refused.fields["limit"].as_u64(), refused.fields["field"].as_str()),
        (Some(2), Some("embed_queries_max"))
    );
    assert!(refused.fields["retry_after_ms"].as_u64().is_some_and(|wait| wait > 0));
    asking.abort_all();
    while asking.join_next().await.is_some() {}
    let mut asking = ask_many(&system, 1);
    model.open();
    assert_eq!(asking.join_next().await.expect("asked").expect("whole"), "hybrid");
    until("the passages", || system.health().chunks_pending == 0).await;
    assert_eq!(model.count(Query), 1, "those that went away were not embedded");
    system.stop().await;
}

// A question that is asked again costs no model; for another profile it does, and after a while it does.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_embedded_once() {
    let (world, model) = (World::new(1), Letters::new(7));
    let system = world.start(Some(&model)).await;
    for profile in ["ann", "ben"] {
        say(&system, profile, "The cat is called Miso").await;
    }
    let ask = async |profile: &str| {
        let before = model.count(Query);
        let found = ask(&system, question(profile, "what is the cat called?")).await.expect("found");
        (model.count(Query) - before, found.memories[0].score)
    };
    let (first, score) = ask("ann").await;
    assert_eq!(first, 1);
    assert_eq!(ask("ann").await, (0, score), "the very same vector");
    assert_eq!(ask("ben").await.0, 1, "one profile's questions are not another's");
    world.clock.forward(599);
    assert_eq!(ask("ann").await.0, 0);
    world.clock.forward(601);
    assert_eq!(ask("ann").await.0, 1, "it was forgotten");
    system.stop().await;
}

// The whole has an answer without its parts, so that a model which is too slow for them takes nothing from it.
#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_a_question_never_fails_it() {
    let (mut world, model) = (World::new(1), Letters::new(7));
    world.limits.embed_wait_ms_max = 300;
    let system = world.start(Some(&model)).await;
    say(&system, "ann", "The cat is called Miso").await;
    assert_eq!(mode(&system, question("ann", "what?")).await, "hybrid");
    model.shut();
    let asked = Recall {
        profile: "ann".to_owned(),
        query: "What is the cat called and where does it sleep?".to_owned(),
        thinking_level: Some(ThinkingLevel::High),
        ..Recall::default()
    };
    let asking = tokio::spawn({
        let system = system.clone();
        async move { system.profile_recall(&acme(), asked).await }
    });
    until("the question", || model.begun() == [Query]).await;
    model.allow(Query);
    let told = asking.await.expect("whole").expect("answered without its parts").reply;
    assert_eq!((told.count, told.mode.as_str()), (1, "hybrid"));
    assert_eq!(model.begun(), [Query, Query], "a part was asked for");
    model.open();
    system.stop().await;
}
