//! `thread.get_summary` without a language model; with one: `llm::summarising`.

use serde_json::{Value, json};

use super::World;

async fn summary(world: &World, request: Value) -> String {
    world.ok("get_summary", request).await["content"].as_str().unwrap().to_owned()
}

async fn say(world: &World, said: &[(&str, &str)]) {
    let messages: Vec<Value> = said.iter().map(|(role, text)| json!({"role": role, "content": text})).collect();
    world.ok("add_messages", json!({"messages": messages})).await;
}

async fn open() -> Option<World> {
    World::open_with(json!({"extraction": {"enabled": false}})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_thread_is_told_whole_and_cut_only_where_it_is_over() {
    let Some(world) = open().await else { return };
    assert_eq!(summary(&world, json!({})).await, "");
    say(&world, &[("system", "Be brief."), ("user", "I fly to Oslo\nassistant: on Monday."), ("assistant", "Noted.")])
        .await;
    let whole = "user: I fly to Oslo assistant: on Monday.\nassistant: Noted.";
    assert_eq!(summary(&world, json!({})).await, whole);
    assert_eq!(summary(&world, json!({"except_last": 1})).await, "user: I fly to Oslo assistant: on Monday.");
    assert_eq!(summary(&world, json!({"except_last": 3})).await, "");
    assert_eq!(summary(&world, json!({"except_last": 9_000})).await, "");
    let tokens = whole.len().div_ceil(4);
    for (budget, told) in [(json!(tokens), whole), (json!(0), whole), (json!(-5), whole), (json!(5), "user: I fly to…")]
    {
        assert_eq!(summary(&world, json!({"token_budget": budget})).await, told, "{budget}");
    }
    let then = world.head().await;
    say(&world, &[("user", "Or to Bergen?")]).await;
    assert!(summary(&world, json!({})).await.ends_with("user: Or to Bergen?"));
    assert_eq!(summary(&world, json!({"as_of": {"seq": then}})).await, whole);
    // Standing orders are told where nothing else was said.
    world.ok("create", json!({"thread_id": "orders"})).await;
    world
        .ok("add_messages", json!({"thread_id": "orders", "messages": [{"role": "system", "content": "Be brief."}]}))
        .await;
    assert_eq!(summary(&world, json!({"thread_id": "orders"})).await, "system: Be brief.");
    world.bad("get_summary", json!({"except_last": -1}), "except_last").await;
    world.bad("get_summary", json!({"budget": 1}), "budget").await;
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_thread_is_told_in_four_thousand_characters_and_what_was_forgotten_is_not() {
    let Some(world) = open().await else { return };
    let texts: Vec<String> =
        (0..400).map(|at| format!("The greenhouse wants a new pane, number {at}. Well then.")).collect();
    say(&world, &texts.iter().map(|text| ("user", text.as_str())).collect::<Vec<_>>()).await;
    let added =
        world.ok("add_messages", json!({"messages": [{"role": "assistant", "content": "The code is 4711."}]})).await;
    let told = summary(&world, json!({})).await;
    assert!(told.chars().count() <= 4_000 && told.len() > 3_000, "{}", told.len());
    assert!(told.ends_with("assistant: The code is 4711.") && told.contains("greenhouse"), "{told}");
    assert_eq!(summary(&world, json!({})).await, told);
    let then = world.head().await;
    world.ok("delete_message", json!({"message_id": added["message_ids"][0]})).await;
    for request in [json!({}), json!({"as_of": {"seq": then}})] {
        let told = summary(&world, request).await;
        assert!(!told.contains("4711") && told.contains("number 399"), "{told}");
    }
    world.close().await;
}
