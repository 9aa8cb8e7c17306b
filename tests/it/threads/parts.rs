//! Images as parts of messages: they come, change and go with the message.

use serde_json::{Value, json};

use super::World;
use crate::support::{
    images::{JPEG, base64, dot, noise, with_chunk},
    served::until,
};

fn image(bytes: &[u8], description: &str) -> Value {
    json!({"type": "image", "bytes": base64(bytes), "description": description})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

impl World {
    /// Adds one message of these parts and waits for its extraction.
    async fn show(&self, id: &str, parts: Value) {
        let message = json!({"role": "user", "id": id, "content": parts});
        self.ok("add_messages", json!({"messages": [message]})).await;
        self.ok("wait_for_memory_extraction", json!({})).await;
    }

    async fn parts(&self, id: &str, request: Value) -> Vec<Value> {
        let mut request = request;
        request["message_id"] = json!(id);
        self.ok("get_message", request).await["message"]["content"].as_array().unwrap().clone()
    }

    async fn images(&self) -> Vec<Value> {
        self.ok("list_images", json!({"limit": null})).await["images"].as_array().unwrap().clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_come_back_in_order_and_bytes_on_request() {
    let Some(world) = World::open().await else { return };
    let (cat, dog) = (noise(200, 150, 1), noise(20, 10, 2));
    let photo = json!({"type": "image", "bytes": JPEG, "mime_type": "image/jpeg"});
    world.show("m", json!([text("look at"), image(&cat, "a cat"), text("and at"), image(&dog, "a dog"), photo])).await;
    let parts = world.parts("m", json!({})).await;
    let types: Vec<_> = parts.iter().map(|part| part["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["text", "image", "text", "image", "image"]);
    assert_eq!((&parts[2]["text"], &parts[3]["description"]), (&json!("and at"), &json!("a dog")));
    assert_eq!((&parts[1]["mime_type"], &parts[4]["mime_type"]), (&json!("image/png"), &json!("image/jpeg")));
    assert_eq!(parts[4]["description"], json!(null));
    assert!(parts.iter().all(|part| part.get("bytes").is_none() && part["id"].as_str().unwrap().len() == 36));
    let some = world.parts("m", json!({"included_image_ids": [parts[3]["id"], "unrelated", parts[0]["id"]]})).await;
    let with_bytes: Vec<_> = some.iter().map(|part| part.get("bytes").cloned()).collect();
    assert_eq!(with_bytes, [None, None, None, Some(json!(base64(&dog))), None]);
    let all = world.ok("get_messages", json!({"include_image_bytes": true})).await;
    assert_eq!(all["messages"][0]["content"][1]["bytes"], json!(base64(&cat)));
    let none = world.ok("get_messages", json!({})).await;
    assert!(none["messages"][0]["content"][1].get("bytes").is_none());
    // They are images of the thread as well, found by what is on them.
    let images = world.images().await;
    assert_eq!((images.len(), &images[0]["message_id"], &images[0]["image_id"]), (3, &json!("m"), &parts[1]["id"]));
    let found = world.ok("profile.search", json!({"query": "cat", "types": ["image"], "expand": true})).await;
    assert_eq!(found["memories"][0]["id"], parts[1]["id"]);
    assert_eq!(found["passages"][0]["message_ids"], json!(["m"]));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_image_refuses_the_whole_batch_by_its_field() {
    let Some(world) = World::open().await else { return };
    let before = world.head().await;
    let good = image(&dot(1), "a dot");
    let animated = with_chunk(dot(1), b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]);
    for (part, field) in [
        (json!({"type": "image", "bytes": "?"}), "messages[1].content[1].bytes"),
        (json!({"type": "image", "bytes": base64(&dot(1)[..60])}), "messages[1].content[1].bytes"),
        (json!({"type": "image", "bytes": base64(&animated)}), "messages[1].content[1].bytes"),
        (json!({"type": "image", "bytes": JPEG, "mime_type": "image/webp"}), "messages[1].content[1].mime_type"),
        (json!({"type": "image", "bytes": JPEG, "description": ""}), "messages[1].content[1].description"),
    ] {
        let first = json!({"role": "user", "content": [good.clone()]});
        let second = json!({"role": "user", "content": [text("x"), part]});
        world.bad("add_messages", json!({"messages": [first, second]}), field).await;
    }
    assert_eq!(world.head().await, before, "nothing was stored");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_in_a_message_is_changed_and_deleted_through_the_message() {
    let Some(world) = World::open().await else { return };
    let (cat, dog) = (noise(200, 150, 1), noise(210, 150, 2));
    world.show("m", json!([text("my Quagga"), image(&cat, "a quagga")])).await;
    let before = world.head().await;
    let id = world.images().await[0]["image_id"].clone();
    let (code, fields) = world.no("delete_image", json!({"image_id": id})).await;
    assert_eq!((code, &fields["attached_to"]), (409, &json!("m")));
    world.bad("update_image", json!({"image_id": id, "ttl_days": 3}), "ttl_days").await;
    world.bad("update_image", json!({"image_id": id, "ttl_days": null}), "ttl_days").await;
    world.bad("update_image", json!({"image_id": id, "ttl_anchor": "created_at"}), "ttl_anchor").await;
    world.ok("update_image", json!({"image_id": id, "description": "a zebra"})).await;
    assert_eq!(world.parts("m", json!({})).await[1]["description"], "a zebra");
    // Its time is the message's.
    world.ok("update_message", json!({"message_id": "m", "ttl_days": 3})).await;
    let message = world.ok("get_message", json!({"message_id": "m"})).await["message"].clone();
    assert!(message["expires_at"].is_string());
    assert_eq!(world.images().await[0]["expires_at"], message["expires_at"]);
    // Metadata alone leaves the parts; other content replaces them, and the old image is gone from the past, too.
    world.ok("update_message", json!({"message_id": "m", "metadata": {"a": 1}})).await;
    assert_eq!(world.parts("m", json!({"included_image_ids": [id]})).await[1]["bytes"], json!(base64(&cat)));
    let content = json!([image(&dog, "a dingo"), text("my dog")]);
    world.ok("update_message", json!({"message_id": "m", "content": content})).await;
    let parts = world.parts("m", json!({})).await;
    assert_eq!((&parts[0]["description"], &parts[1]["text"]), (&json!("a dingo"), &json!("my dog")));
    let images = world.images().await;
    assert_eq!((images.len(), &images[0]["message_id"], images[0]["image_id"] != id), (1, &json!("m"), true));
    assert_eq!(images[0]["expires_at"], message["expires_at"]);
    let past = world.ok("list_images", json!({"as_of": {"seq": before}})).await;
    assert_eq!(past["images"], json!([]));
    until("one blob is left", || async { world.blobs().len() == 1 }).await;
    // A text in place of parts takes the rest.
    world.ok("update_message", json!({"message_id": "m", "content": "no picture"})).await;
    assert!(world.images().await.is_empty());
    world.is_gone_from_disk(&[&cat[100..164], &dog[100..164], b"dingo"]).await;
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn images_go_with_their_message() {
    let Some(world) = World::open().await else { return };
    let of = |seed| noise(200, 150, seed);
    // Deleted.
    world.show("deleted", json!([text("one"), image(&of(1), "an ocelot")])).await;
    world.ok("delete_message", json!({"message_id": "deleted"})).await;
    assert!(world.images().await.is_empty());
    world.is_gone_from_disk(&[&of(1)[100..164], b"ocelot"]).await;
    // Forgotten with the memory that was made from it.
    world.show("forgotten", json!([text("two swans"), image(&of(2), "an ibis")])).await;
    let made = world.ok("profile.search", json!({"query": "swans", "types": ["fact"]})).await;
    world.ok("profile.forget", json!({"memory_id": made["memories"][0]["id"]})).await;
    assert!(world.images().await.is_empty());
    world.is_gone_from_disk(&[&of(2)[100..164], b"ibis"]).await;
    // Expired with it.
    let message = json!({"role": "user", "content": [image(&of(3), "an emu")], "timestamp": "2020-01-01T00:00:00Z"});
    let request = json!({"messages": [message], "ttl_days": 1, "ttl_anchor": "timestamp"});
    world.ok("add_messages", request).await;
    assert!(world.images().await.is_empty());
    assert_eq!(world.ok("profile.search", json!({"query": "emu"})).await["memories"], json!([]));
    world.is_gone_from_disk(&[&of(3)[100..164]]).await;
    // With the whole thread.
    world.show("last", json!([image(&of(4), "a gnu")])).await;
    assert_eq!(world.ok("delete", json!({})).await["deleted"]["images"], 1);
    world.is_gone_from_disk(&[&of(4)[100..164]]).await;
    world.close().await;
}

// A picture without words says nothing that a memory could be made of.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_images_alone_is_kept_and_nothing_is_made_of_it() {
    let Some(world) = World::open().await else { return };
    world.show("m", json!([image(&dot(1), "a lonely dot")])).await;
    assert_eq!(world.parts("m", json!({})).await.len(), 1);
    assert_eq!(world.ok("profile.memories", json!({})).await["memories"], json!([]));
    assert_eq!(world.ok("job.list", json!({"state": "failed"})).await["jobs"], json!([]));
    world.close().await;
}
