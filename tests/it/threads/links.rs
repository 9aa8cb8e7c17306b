//! Links: types and labels, one direction a pair, and what they say about validity.

use serde_json::{Value, json};

use super::World;

async fn two(world: &World) {
    for (id, text) in [("a", "lives in Porto"), ("b", "lives in Lisbon"), ("c", "has a cat")] {
        world.ok("add_memory", json!({"content": text, "memory_id": id, "memory_type": "fact"})).await;
    }
}

fn link(source: &str, target: &str, relation_type: &str) -> Value {
    json!({"source_record_id": source, "source_record_type": "fact", "target_record_id": target,
        "target_record_type": "fact", "relation_type": relation_type})
}

async fn status(world: &World, id: &str) -> Value {
    world.ok("profile.memory", json!({"memory_id": id})).await["memory"]["status"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn built_in_types_have_their_opposites_and_decide_validity() {
    let Some(world) = World::open().await else { return };
    two(&world).await;
    for (label, opposite, invalidates) in [
        ("supersedes", "is_superseded_by", true),
        ("contradicts", "contradicts", false),
        ("refines", "is_refined_by", true),
        ("supports", "is_supported_by", false),
        ("duplicates", "duplicates", true),
    ] {
        let made = world.ok("link_records", link("b", "a", label)).await;
        let expected = if invalidates { "invalid" } else { "valid" };
        assert_eq!(
            (status(&world, "a").await, status(&world, "b").await),
            (json!(expected), json!("valid")),
            "{label}"
        );
        let links = world.ok("list_record_links", json!({"record_id": "a"})).await["links"].clone();
        let seen = &links[0];
        assert_eq!((&seen["relation_id"], &seen["relation_type"]), (&made["relation_id"], &json!(opposite)));
        assert_eq!((&seen["direction"], &seen["source_record_id"]), (&json!("incoming"), &json!("b")));
        assert_eq!((&seen["target_record_type"], &seen["timestamp"]), (&json!("fact"), &json!(null)));
        let from = world.ok("list_record_links", json!({"record_id": "b"})).await["links"][0].clone();
        assert_eq!((&from["relation_type"], &from["direction"]), (&json!(label), &json!("outgoing")));
        // Setting it valid does not beat a link.
        world.ok("update_memory", json!({"memory_id": "a", "status": "valid"})).await;
        assert_eq!(status(&world, "a").await, json!(expected), "{label}");
        let deleted = world.ok("delete_record_link", json!({"relation_id": made["relation_id"]})).await;
        assert_eq!((&deleted["deleted"], status(&world, "a").await), (&json!(1), json!("valid")));
    }
    // A source that is gone says nothing any more.
    world.ok("link_records", link("b", "a", "refines")).await;
    world.ok("delete_memory", json!({"memory_id": "b"})).await;
    assert_eq!(status(&world, "a").await, json!("valid"));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_of_ones_own_read_the_same_or_as_told_from_the_other_end() {
    let Some(world) = World::open().await else { return };
    two(&world).await;
    let labels = |id: &'static str| {
        let world = &world;
        async move {
            let links = world.ok("list_record_links", json!({"record_id": id})).await["links"].clone();
            let links = links.as_array().unwrap().iter();
            links.map(|link| link["relation_type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        }
    };
    let mut with_opposite = link("b", "a", "mother of");
    with_opposite["opposite_relation_type"] = json!("child of");
    with_opposite["relation_id"] = json!("l");
    with_opposite["metadata"] = json!({"k": 1});
    with_opposite["timestamp"] = json!("2026-05-04");
    world.ok("link_records", with_opposite).await;
    world.ok("link_records", link("b", "a", "near")).await;
    assert_eq!(
        (labels("b").await, labels("a").await),
        (vec!["mother of".to_owned(), "near".to_owned()], vec!["child of".to_owned(), "near".to_owned()])
    );
    let updated = world.ok("update_record_link", json!({"relation_id": "l", "relation_type": "parent of"})).await;
    assert_eq!(
        (&updated["updated"], labels("b").await[0].as_str(), labels("a").await[0].as_str()),
        (&json!(1), "parent of", "child of")
    );
    let shown = world.ok("list_record_links", json!({"record_id": "a"})).await["links"][0].clone();
    assert_eq!((&shown["metadata"], &shown["timestamp"]), (&json!({"k": 1}), &json!("2026-05-04T00:00:00Z")));
    // To a built-in type: its own opposite; back to a custom one: that stays.
    world
        .ok(
            "update_record_link",
            json!({"relation_id": "l", "relation_type": "supersedes", "metadata": {}, "timestamp": null}),
        )
        .await;
    assert_eq!((labels("a").await[0].as_str(), status(&world, "a").await), ("is_superseded_by", json!("invalid")));
    world
        .bad("update_record_link", json!({"relation_id": "l", "opposite_relation_type": "x"}), "opposite_relation_type")
        .await;
    world.ok("update_record_link", json!({"relation_id": "l", "relation_type": "follows"})).await;
    assert_eq!((labels("b").await[0].as_str(), labels("a").await[0].as_str()), ("follows", "is_superseded_by"));
    assert_eq!(status(&world, "a").await, json!("valid"));
    world.ok("update_record_link", json!({"relation_id": "l", "opposite_relation_type": "leads"})).await;
    assert_eq!(labels("a").await[0], "leads");
    assert_eq!(world.ok("update_record_link", json!({"relation_id": "nobody"})).await, json!({"updated": 0}));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_linked_is_refused_and_changes_nothing() {
    let Some(world) = World::open().await else { return };
    two(&world).await;
    world.ok("create", json!({"thread_id": "other"})).await;
    world
        .ok("add_memory", json!({"thread_id": "other", "content": "x", "memory_id": "far", "memory_type": "fact"}))
        .await;
    let first = world.ok("link_records", link("b", "a", "supports")).await["relation_id"].clone();
    let own = world.ok("link_records", link("b", "a", "near")).await["relation_id"].clone();
    let message = world.say("hello there").await;
    let before = world.head().await;
    for (request, existing) in
        [(link("b", "a", "supports"), &first), (link("b", "a", "near"), &own), (link("a", "b", "contradicts"), &first)]
    {
        let (code, fields) = world.no("link_records", request.clone()).await;
        assert_eq!((code, &fields["existing_id"]), (409, existing), "{request}");
    }
    let (code, fields) = world.no("update_record_link", json!({"relation_id": own, "relation_type": "supports"})).await;
    assert_eq!((code, &fields["existing_id"]), (409, &first));
    for (source, target, field) in [
        ("far", "a", "source_record_id"),
        ("a", "far", "target_record_id"),
        ("a", "nobody", "target_record_id"),
        (&message, "a", "source_record_id"),
    ] {
        let (code, fields) = world.no("link_records", link(source, target, "supports")).await;
        assert!(code == 404 && fields.contains_key(field), "{source} {target}: {code} {fields:?}");
    }
    for (field, value) in [
        ("source_record_type", json!("task")),
        ("target_record_type", json!("message")),
        ("target_record_id", json!("b")),
        ("relation_type", json!("")),
        ("relation_type", json!("x".repeat(65))),
        ("opposite_relation_type", json!("is_refuted_by")),
        ("relation_id", json!("x".repeat(65))),
        ("strength", json!(1)),
    ] {
        let mut request = link("b", "c", "contradicts");
        request[field] = value;
        let named = if field == "target_record_id" { "target_record_id" } else { field };
        if field == "target_record_id" {
            request["target_record_type"] = json!("fact");
        }
        world.bad("link_records", request, named).await;
    }
    let mut taken = link("b", "c", "contradicts");
    taken["relation_id"] = json!("a");
    assert_eq!(world.no("link_records", taken).await.0, 409);
    assert_eq!(world.head().await, before);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_deleted_by_its_id_or_by_all_that_it_is() {
    let Some(world) = World::open().await else { return };
    two(&world).await;
    let made = world.ok("link_records", link("b", "a", "near")).await["relation_id"].clone();
    let mut reversed = link("a", "b", "near");
    assert_eq!(world.ok("delete_record_link", reversed.clone()).await["deleted"], 0);
    reversed["relation_id"] = made.clone();
    world.bad("delete_record_link", reversed, "source_record_id").await;
    world.bad("delete_record_link", json!({}), "source_record_id").await;
    let mut partly = link("b", "a", "near");
    partly.as_object_mut().unwrap().remove("target_record_type");
    world.bad("delete_record_link", partly, "target_record_type").await;
    assert_eq!(world.ok("delete_record_link", link("b", "a", "other")).await["deleted"], 0);
    assert_eq!(world.ok("delete_record_link", link("b", "a", "near")).await["deleted"], 1);
    assert_eq!(world.ok("delete_record_link", json!({"relation_id": made})).await["deleted"], 0);
    // Free again, in the other direction, too.
    world.ok("link_records", link("a", "b", "near")).await;
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_and_its_link_are_one_save() {
    let Some(world) = World::open().await else { return };
    world.ok("add_memory", json!({"content": "lives in Porto", "memory_id": "a", "user_id": "bob"})).await;
    let request = json!({"content": "lives in Lisbon", "memory_id": "b", "memory_id_to_link": "a", "link_type": "supersedes",
        "link_id": "l", "link_timestamp": "2026-05-04", "link_metadata": {"why": "moved"}});
    let added = world.ok("add_memory", request).await;
    assert_eq!((&added["link_id"], &added["memory"]["user_id"]), (&json!("l"), &json!("bob")));
    let old = world.ok("profile.memory", json!({"memory_id": "a"})).await["memory"].clone();
    assert_eq!((&old["status"], &old["superseded_by"]), (&json!("invalid"), &json!("b")));
    let shown = world.ok("list_record_links", json!({"record_id": "b"})).await["links"][0].clone();
    assert_eq!((&shown["metadata"], &shown["timestamp"]), (&json!({"why": "moved"}), &json!("2026-05-04T00:00:00Z")));
    let before = world.head().await;
    let taken =
        json!({"content": "x", "memory_id": "c", "memory_id_to_link": "a", "link_type": "supports", "link_id": "l"});
    let (code, fields) = world.no("add_memory", taken).await;
    assert_eq!((code, &fields["existing_id"]), (409, &json!("l")));
    let missing = json!({"content": "x", "memory_id": "c", "memory_id_to_link": "nobody", "link_type": "supports"});
    assert_eq!(world.no("add_memory", missing).await.0, 404);
    assert_eq!(world.head().await, before);
    world.close().await;
}

// Without a model only what is plain is linked, and only if it is asked for: nothing that may be news makes another invalid.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_plain_is_linked_without_a_model() {
    let Some(world) = World::open().await else { return };
    let add = |id: &str, content: &str, linking: bool| {
        let request = json!({"content": content, "memory_id": id, "autonomous_linking": linking});
        let world = &world;
        async move { world.ok("add_memory", request).await["memory"]["id"].clone() }
    };
    let links = |id: &str| {
        let request = json!({"record_id": id});
        let world = &world;
        async move {
            let links = world.ok("list_record_links", request).await["links"].clone();
            let links = links.as_array().unwrap().iter();
            links
                .map(|link| {
                    format!(
                        "{} {}",
                        link["relation_type"].as_str().unwrap(),
                        link["target_record_id"].as_str().unwrap()
                    )
                })
                .collect::<Vec<_>>()
        }
    };
    add("porto", "The user lives in Porto.", true).await;
    add("peanuts", "The user is allergic to peanuts.", true).await;
    add("again", "The user is allergic to peanuts", false).await;
    assert!(links("again").await.is_empty());
    world.ok("delete_memory", json!({"memory_id": "again"})).await;
    add("same", "The user has an allergy to peanuts.", true).await;
    assert_eq!(links("same").await, ["duplicates peanuts"]);
    add("shellfish", "The user is allergic to shellfish.", true).await;
    assert!(links("shellfish").await.is_empty());
    add("lisbon", "Actually, the user lives in Lisbon now.", true).await;
    assert_eq!(links("lisbon").await, ["supersedes porto"]);
    assert_eq!((status(&world, "porto").await, status(&world, "lisbon").await), (json!("invalid"), json!("valid")));
    // Nor is what another person said, in the same words.
    world.ok("speaker.add", json!({"speaker": "Bob"})).await;
    let theirs = json!({"content": "The user lives in Lisbon now.", "memory_id": "bobs", "speaker": "Bob", "autonomous_linking": true});
    world.ok("add_memory", theirs).await;
    let others = json!({"content": "The user lives in Lisbon now.", "memory_id": "eves", "user_id": "eve", "autonomous_linking": true});
    world.ok("add_memory", others).await;
    assert!(links("bobs").await.is_empty() && links("eves").await.is_empty());
    // Memories of another thread are never its ends.
    world.ok("create", json!({"thread_id": "other"})).await;
    world.ok("add_memory", json!({"thread_id": "other", "content": "The user is allergic to shellfish.", "memory_id": "far", "autonomous_linking": true})).await;
    let far = world.ok("list_record_links", json!({"thread_id": "other", "record_id": "far"})).await;
    assert!(far["links"].as_array().unwrap().is_empty());
    world.close().await;
}
