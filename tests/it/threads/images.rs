//! Images: what is taken for one, what is shown of it, and that it goes for real.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::World;
use crate::support::{
    images::{JPEG, WEBP, WEBP_ANIMATED, base64, bytes, dot, noise, with_chunk},
    served::until,
};

impl World {
    /// Stores an image; its id.
    async fn picture(&self, bytes: &[u8], mut request: Value) -> String {
        request["image"] = json!(base64(bytes));
        self.ok("add_image", request).await["image_id"].as_str().unwrap().to_owned()
    }

    async fn pictures(&self, request: Value) -> Vec<Value> {
        self.ok("list_images", request).await["images"].as_array().unwrap().clone()
    }

    /// Files of contents that are too large for the log's own.
    pub(super) fn blobs(&self) -> Vec<PathBuf> {
        files(&self._data.path().join("blobs"))
    }

    /// Nothing of these is in any file, sealed ones included: what is sealed goes, too.
    pub(super) async fn is_gone_from_disk(&self, needles: &[&[u8]]) {
        until("blobs are gone", || async { self.blobs().is_empty() }).await;
        for file in files(self._data.path()) {
            let Ok(bytes) = std::fs::read(&file) else { continue };
            for needle in needles {
                assert!(!bytes.windows(needle.len()).any(|run| run == *needle), "in {}", file.display());
            }
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(path) = open.pop() {
        match std::fs::read_dir(&path) {
            Ok(entries) => open.extend(entries.map_while(Result::ok).map(|entry| entry.path())),
            Err(_) => found.extend(path.is_file().then_some(path)),
        }
    }
    found
}

fn ids(images: &[Value]) -> Vec<&str> {
    images.iter().map(|image| image["image_id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_comes_back_as_it_was_sent() {
    let Some(world) = World::open().await else { return };
    let png = noise(30, 20, 1);
    let request = json!({"image_id": "cat", "description": "a cat on a mat", "mime_type": "image/png", "user_id": "ann",
        "agent_id": "helper", "metadata": {"a": 1}, "timestamp": "2026-05-04T09:00:00Z"});
    assert_eq!(world.picture(&png, request).await, "cat");
    let shown = world.pictures(json!({})).await;
    let expected = json!({"image_id": "cat", "mime_type": "image/png", "description": "a cat on a mat", "width": 30,
        "height": 20, "size": png.len(), "metadata": {"a": 1}, "timestamp": "2026-05-04T09:00:00Z", "message_id": null,
        "expires_at": null});
    assert_eq!(shown, std::slice::from_ref(&expected));
    let with_bytes = world.pictures(json!({"image_id": "cat", "include_bytes": true})).await;
    assert_eq!(bytes(with_bytes[0]["image"].as_str().unwrap()), png);
    // Without an id, a description or a model: a new id, and nothing is said.
    for (of, mime) in [(JPEG, "image/jpeg"), (WEBP, "image/webp")] {
        let id = world.picture(&bytes(of), json!({})).await;
        let shown = world.pictures(json!({"image_id": id, "include_bytes": true})).await;
        assert_eq!((id.len(), &shown[0]["mime_type"], &shown[0]["description"]), (36, &json!(mime), &json!(null)));
        assert_eq!((&shown[0]["width"], &shown[0]["height"], &shown[0]["image"]), (&json!(24), &json!(16), &json!(of)));
        assert!(shown[0]["timestamp"].is_string(), "when it was stored");
    }
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_image_is_refused_by_its_field() {
    let Some(world) = World::open().await else { return };
    world.ok("add_memory", json!({"content": "x", "memory_id": "taken"})).await;
    let before = world.head().await;
    let png = dot(1);
    let mut bomb = png.clone();
    bomb[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    let gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x00;";
    for (image, limit) in [
        (String::new(), None),
        ("not base64".to_owned(), None),
        (base64(&png).trim_end_matches('=').to_owned() + "A", None),
        (format!("data:image/png;base64,{}", base64(&png)), None),
        (base64(gif), None),
        (base64(&png[..png.len() - 1]), None),
        (base64(&[&png[..], b"PK\x03\x04 another file"].concat()), None),
        (base64(&with_chunk(png.clone(), b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0])), None),
        (WEBP_ANIMATED.to_owned(), None),
        (base64(&bomb), Some(40_000_000)),
        (base64(&vec![0; (10 << 20) + 1]), Some(10 << 20)),
    ] {
        let (code, fields) = world.no("add_image", json!({"image": image})).await;
        assert_eq!((code, &fields["field"]), (400, &json!("image")), "{}", &image[..image.len().min(60)]);
        assert_eq!(fields.get("limit").and_then(Value::as_u64), limit);
    }
    for (field, value) in [
        ("mime_type", json!("image/jpeg")),
        ("mime_type", json!("image/gif")),
        ("description", json!(" ")),
        ("description", json!("x".repeat(32_769))),
        ("image_id", json!("")),
        ("user_id", json!("bob")),
        ("agent_id", json!("other")),
        ("metadata", json!({"a": "x".repeat(16_384)})),
        ("ttl_days", json!(0.5)),
        ("ttl_anchor", json!("timestamp")),
        ("size", json!(1)),
    ] {
        let mut request = json!({"image": base64(&png)});
        request[field] = value;
        world.bad("add_image", request, field).await;
    }
    let (code, fields) = world.no("add_image", json!({"image": base64(&png), "image_id": "taken"})).await;
    assert_eq!((code, &fields["existing_id"]), (409, &json!("taken")));
    assert_eq!(world.head().await, before, "nothing was stored");
    world.close().await;
}

// Ten mebibytes through the wire, the log, its blobs and back.
#[tokio::test(flavor = "multi_thread")]
async fn the_largest_image_fits() {
    let Some(world) = World::open().await else { return };
    let mut png = noise(1_900, 1_837, 3);
    let room = (10 << 20) - png.len() - 12;
    png = with_checked_chunk(png, b"tEXt", &[&b"k\0"[..], &vec![b'x'; room - 2]].concat());
    assert_eq!(png.len(), 10 << 20);
    let id = world.picture(&png, json!({"description": "noise"})).await;
    let shown = world.pictures(json!({"image_id": id, "include_bytes": true})).await;
    assert!(bytes(shown[0]["image"].as_str().unwrap()) == png);
    world.ok("delete_image", json!({"image_id": id})).await;
    world.is_gone_from_disk(&[]).await;
    world.close().await;
}

/// With the checksum that PNG wants of it.
fn with_checked_chunk(png: Vec<u8>, kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut crc = u32::MAX;
    for byte in kind.iter().chain(body) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let at = png.len() - 12 + 8 + body.len();
    let mut png = with_chunk(png, kind, body);
    png[at..at + 4].copy_from_slice(&(!crc).to_be_bytes());
    png
}

#[tokio::test(flavor = "multi_thread")]
async fn images_are_listed_in_order_by_id_and_metadata() {
    let Some(world) = World::open().await else { return };
    for number in 0..21 {
        world
            .picture(&dot(number), json!({"image_id": format!("i{number}"), "metadata": {"even": number % 2 == 0}}))
            .await;
    }
    let usual = world.pictures(json!({})).await;
    assert_eq!(
        (usual.len(), usual[0]["image_id"].as_str(), usual[19]["image_id"].as_str()),
        (20, Some("i0"), Some("i19"))
    );
    assert_eq!(world.pictures(json!({"limit": null})).await.len(), 21);
    assert_eq!(ids(&world.pictures(json!({"limit": 2})).await), ["i0", "i1"]);
    let even = world.pictures(json!({"metadata_filter": {"even": true}, "limit": null})).await;
    assert_eq!((even.len(), ids(&even)[1]), (11, "i2"));
    let odd = world.pictures(json!({"metadata_filter": {"even": {"$not": true}}, "limit": 1})).await;
    assert_eq!(ids(&odd), ["i1"]);
    assert_eq!(ids(&world.pictures(json!({"image_id": "i7"})).await), ["i7"]);
    assert!(world.pictures(json!({"image_id": "i7", "metadata_filter": {"even": true}})).await.is_empty());
    assert!(world.pictures(json!({"image_id": "nobody"})).await.is_empty());
    // Another thread's is not this one's.
    world.ok("create", json!({"thread_id": "u"})).await;
    assert!(world.pictures(json!({"thread_id": "u", "image_id": "i7", "include_bytes": true})).await.is_empty());
    world.bad("list_images", json!({"include_bytes": true}), "include_bytes").await;
    world.bad("list_images", json!({"limit": 0}), "limit").await;
    world.bad("list_images", json!({"limit": 501}), "limit").await;
    world.bad("list_images", json!({"metadata_filter": {"$any": 1}}), "metadata_filter").await;
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_updated_image_keeps_what_is_not_named_and_its_past() {
    let Some(world) = World::open().await else { return };
    let (old, new) = (noise(200, 150, 1), noise(180, 160, 2));
    let request = json!({"image_id": "i", "description": "a zebra", "metadata": {"a": 1, "b": 2}});
    world.picture(&old, request).await;
    let before = world.head().await;
    let stored_at = world.pictures(json!({})).await[0]["timestamp"].clone();
    world.ok("update_image", json!({"image_id": "i", "description": "an okapi", "metadata": {"a": 3}})).await;
    let shown = world.pictures(json!({"image_id": "i", "include_bytes": true})).await.remove(0);
    assert_eq!((&shown["description"], &shown["metadata"]), (&json!("an okapi"), &json!({"a": 3})));
    assert_eq!(shown["image"], json!(base64(&old)));
    let request =
        json!({"image_id": "i", "image": base64(&new), "mime_type": "image/png", "timestamp": "2026-05-04T09:00:00Z"});
    assert_eq!(world.ok("update_image", request).await, json!({"image_id": "i"}));
    let shown = world.pictures(json!({"image_id": "i", "include_bytes": true})).await.remove(0);
    assert_eq!(
        (&shown["width"], &shown["size"], &shown["description"]),
        (&json!(180), &json!(new.len()), &json!("an okapi"))
    );
    assert_eq!((&shown["image"], &shown["timestamp"]), (&json!(base64(&new)), &json!("2026-05-04T09:00:00Z")));
    world.ok("update_image", json!({"image_id": "i", "timestamp": null, "mime_type": "image/png"})).await;
    assert_eq!(world.pictures(json!({})).await[0]["timestamp"], stored_at);
    // The past shows what it was, and searches follow what it is.
    let past =
        world.pictures(json!({"image_id": "i", "include_bytes": true, "as_of": {"seq": before}})).await.remove(0);
    assert_eq!((&past["description"], &past["image"]), (&json!("a zebra"), &json!(base64(&old))));
    let found = |query: &str| world.ok("profile.search", json!({"query": query, "types": ["image"]}));
    assert_eq!(found("okapi").await["memories"][0]["id"], "i");
    let zebra = found("zebra").await;
    assert!(zebra["memories"].as_array().unwrap().iter().all(|hit| hit["content"] == "an okapi"), "{zebra}");
    // No model: a new caption is none, and the image is found by nothing.
    world.ok("update_image", json!({"image_id": "i", "description": null})).await;
    assert_eq!(world.pictures(json!({})).await[0]["description"], json!(null));
    assert_eq!(found("okapi").await["memories"], json!([]));
    world.bad("update_image", json!({"image_id": "i", "image": base64(&new)}), "mime_type").await;
    world.bad("update_image", json!({"image_id": "i", "mime_type": "image/webp"}), "mime_type").await;
    world.bad("update_image", json!({"image_id": "i", "image": "x", "mime_type": "image/png"}), "image").await;
    world.bad("update_image", json!({"image_id": "i", "description": ""}), "description").await;
    world.ok("create", json!({"thread_id": "u"})).await;
    for request in [json!({"image_id": "nobody"}), json!({"image_id": "i", "thread_id": "u"})] {
        assert_eq!(world.no("update_image", request).await.0, 404);
    }
    // Deleted, all that it ever was is gone.
    assert_eq!(world.blobs().len(), 2);
    assert_eq!(world.ok("delete_image", json!({"image_id": "i"})).await, json!({"deleted": 1}));
    for as_of in [json!(null), json!({"seq": before}), json!({"seq": world.head().await})] {
        assert!(world.pictures(json!({"as_of": as_of, "image_id": "i", "include_bytes": true})).await.is_empty());
    }
    world.is_gone_from_disk(&[&old[100..164], &new[100..164], b"zebra", b"okapi"]).await;
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_image_is_gone_and_its_id_free() {
    let Some(world) = World::open().await else { return };
    let small = dot(5);
    world.picture(&small, json!({"image_id": "i", "description": "Quagga in the fog"})).await;
    world.ok("create", json!({"thread_id": "u"})).await;
    for request in [json!({"image_id": "nobody"}), json!({"image_id": "i", "thread_id": "u"})] {
        assert_eq!(world.ok("delete_image", request).await, json!({"deleted": 0}));
    }
    assert_eq!(world.ok("delete_image", json!({"image_id": "i"})).await, json!({"deleted": 1}));
    assert_eq!(world.ok("delete_image", json!({"image_id": "i"})).await, json!({"deleted": 0}));
    assert_eq!(world.ok("profile.search", json!({"query": "quagga"})).await["memories"], json!([]));
    world.is_gone_from_disk(&[&small[30..60], b"Quagga"]).await;
    world.picture(&small, json!({"image_id": "i", "thread_id": "u"})).await;
    let (code, fields) = world.no("add_memory", json!({"content": "x", "memory_id": "i"})).await;
    assert_eq!((code, &fields["existing_id"]), (409, &json!("i")));
    // Another profile has ids of its own.
    world.ok("create", json!({"profile": "q"})).await;
    world.picture(&small, json!({"image_id": "i", "profile": "q"})).await;
    assert_eq!(world.pictures(json!({"profile": "q"})).await.len(), 1);
    // With its thread it goes, too.
    world.picture(&noise(200, 150, 9), json!({"profile": "q", "image_id": "large"})).await;
    assert_eq!(world.ok("delete", json!({"profile": "q"})).await["deleted"]["images"], 2);
    world.is_gone_from_disk(&[&noise(200, 150, 9)[100..164]]).await;
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_image_is_nowhere() {
    let settings = json!({"retention": {"default_ttl_days": 2, "max_ttl_days": 5}});
    let Some(world) = World::open_with(settings).await else { return };
    let large = noise(200, 150, 4);
    let long_ago = json!("2020-01-01T00:00:00Z");
    let cut = world
        .ok("add_image", json!({"image": base64(&large), "image_id": "i", "description": "a quokka", "ttl_days": 9}))
        .await;
    assert_eq!(cut["warnings"].as_array().map(Vec::len), Some(1), "{cut}");
    let days = |image: &Value| {
        let at = |name: &str| image[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        at("expires_at").duration_since(at("timestamp")).as_hours().saturating_add(12) / 24
    };
    assert_eq!(days(&world.pictures(json!({})).await[0]), 5);
    world.picture(&dot(1), json!({"image_id": "default"})).await;
    world.picture(&dot(2), json!({"image_id": "longest", "ttl_days": null})).await;
    let anchored =
        json!({"image_id": "anchored", "ttl_days": 3, "ttl_anchor": "timestamp", "timestamp": "2090-01-01T00:00:00Z"});
    world.picture(&dot(3), anchored).await;
    let shown = world.pictures(json!({})).await;
    assert_eq!(shown.iter().map(days).collect::<Vec<_>>(), [5, 2, 5, 3]);
    world.ok("update_image", json!({"image_id": "longest", "ttl_anchor": "created_at"})).await;
    assert_eq!(days(&world.pictures(json!({"image_id": "longest"})).await[0]), 2);
    // Its time is over from one call to the next: it is moved to long ago, and already over for one that comes in.
    let before = world.head().await;
    let over = json!({"image_id": "i", "timestamp": long_ago, "ttl_days": 1, "ttl_anchor": "timestamp"});
    world.ok("update_image", over).await;
    world
        .picture(&dot(6), json!({"image_id": "late", "timestamp": long_ago, "ttl_days": 1, "ttl_anchor": "timestamp"}))
        .await;
    for as_of in [json!(null), json!({"seq": before})] {
        let shown = world.pictures(json!({"as_of": as_of, "limit": null})).await;
        assert_eq!(ids(&shown), ["default", "longest", "anchored"]);
        let found = world.ok("profile.search", json!({"query": "quokka", "as_of": as_of})).await;
        assert_eq!(found["memories"], json!([]));
        let recalled = world.ok("profile.recall", json!({"query": "quokka", "as_of": as_of})).await;
        assert_eq!(recalled["count"], 0);
    }
    assert_eq!(world.no("update_image", json!({"image_id": "i", "ttl_days": null})).await.0, 404);
    assert_eq!(world.ok("delete_image", json!({"image_id": "i"})).await, json!({"deleted": 0}));
    world.is_gone_from_disk(&[&large[100..164], b"quokka"]).await;
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_about_images_repeated_under_a_key_are_done_once() {
    let Some(world) = World::open_with(json!({"retention": {"max_ttl_days": 3}})).await else { return };
    let add = json!({"profile": "p", "thread_id": "t", "image": base64(&dot(1)), "ttl_days": 4});
    let send = async |verb: &str, key: &str, request: &Value| -> Value {
        let subject = format!("memlog.v1.acme.thread.{verb}");
        let reply = world.memlog.send(&subject, &[("Nats-Msg-Id", key)], request.to_string()).await.unwrap();
        serde_json::from_slice(&reply).unwrap()
    };
    let first = send("add_image", "a", &add).await;
    assert!(first["warnings"].is_array());
    let image = first["image_id"].clone();
    let update = json!({"profile": "p", "thread_id": "t", "image_id": image, "description": "a dot", "ttl_days": 5});
    let delete = json!({"profile": "p", "thread_id": "t", "image_id": image});
    let missing = json!({"profile": "p", "thread_id": "t", "image_id": "later"});
    let replies = [
        first,
        send("update_image", "u", &update).await,
        send("delete_image", "d", &delete).await,
        send("delete_image", "m", &missing).await,
    ];
    assert_eq!((&replies[2], &replies[3]), (&json!({"deleted": 1}), &json!({"deleted": 0})));
    // One that came meanwhile was not there to be deleted then.
    world.picture(&dot(2), json!({"image_id": "later"})).await;
    let before = world.head().await;
    let again = [
        send("add_image", "a", &add).await,
        send("update_image", "u", &update).await,
        send("delete_image", "d", &delete).await,
        send("delete_image", "m", &missing).await,
    ];
    assert_eq!(again, replies);
    assert_eq!((world.head().await, world.pictures(json!({})).await.len()), (before, 1));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_found_as_an_image_and_is_no_record() {
    let Some(world) = World::open().await else { return };
    world.remember("Ann likes tea").await;
    let request =
        json!({"image_id": "i", "description": "A heron at the lake of Annecy", "metadata": {"place": "lake"}});
    world.picture(&dot(1), request).await;
    let found = world.ok("profile.search", json!({"query": "heron", "metadata_filter": {"place": "lake"}})).await;
    let hit = &found["memories"][0];
    assert_eq!((&hit["type"], &hit["id"], &hit["session_id"]), (&json!("image"), &json!("i"), &json!("t")));
    assert_eq!((&hit["content"], &hit["user_id"]), (&json!("A heron at the lake of Annecy"), &json!("ann")));
    let expanded = world.ok("profile.search", json!({"query": "heron", "types": ["image"], "expand": true})).await;
    assert_eq!((expanded["memories"].as_array().unwrap().len(), &expanded["passages"]), (1, &json!([])));
    for types in [json!(["message"]), json!(["fact", "memory"])] {
        let other = world.ok("profile.search", json!({"query": "heron", "types": types})).await;
        assert!(other["memories"].as_array().unwrap().iter().all(|hit| hit["type"] != "image"), "{other}");
    }
    let recalled = world.ok("profile.recall", json!({"query": "Where was the heron?"})).await;
    assert_eq!(recalled["candidates"][0]["type"], "image");
    assert!(recalled["answer"].as_str().unwrap().contains("lake of Annecy"), "{recalled}");
    for verb in ["profile.memory", "profile.forget"] {
        assert_eq!(world.no(verb, json!({"memory_id": "i"})).await.0, 404, "{verb}");
    }
    assert_eq!(world.no("profile.supersede", json!({"memory_id": "i", "content": "x"})).await.0, 404);
    assert_eq!(world.no("update_memory", json!({"memory_id": "i", "content": "x"})).await.0, 404);
    assert_eq!(world.no("get_message", json!({"message_id": "i"})).await.0, 404);
    assert_eq!(world.ok("delete_memory", json!({"memory_id": "i"})).await["deleted"], 0);
    assert_eq!(world.ok("delete_message", json!({"message_id": "i"})).await["deleted"], 0);
    assert_eq!(world.ok("profile.memories", json!({})).await["memories"].as_array().unwrap().len(), 1);
    let profile = world.ok("profile.get", json!({})).await["profile"].clone();
    assert_eq!((&profile["memories"], &profile["messages"]), (&json!(1), &json!(0)));
    let summary = world.ok("profile.summary", json!({})).await;
    assert!(summary["summary"].as_str().unwrap().contains("likes tea"));
    assert_eq!(world.pictures(json!({})).await.len(), 1);
    world.close().await;
}

// Whoever changes an image at the same time as another changes what the other left.
#[tokio::test(flavor = "multi_thread")]
async fn changes_at_once_are_made_one_after_the_other() {
    let Some(world) = World::open().await else { return };
    world.picture(&dot(1), json!({"image_id": "i", "description": "first", "metadata": {"n": 0}})).await;
    for round in 1..=8 {
        let (said, fields, bytes) = tokio::join!(
            world.ok("update_image", json!({"image_id": "i", "description": format!("said {round}")})),
            world.ok("update_image", json!({"image_id": "i", "metadata": {"n": round}})),
            world.ok(
                "update_image",
                json!({"image_id": "i", "image": base64(&noise(round, 1, 1)), "mime_type": "image/png"})
            ),
        );
        assert!([said, fields, bytes].iter().all(|reply| reply["image_id"] == "i"));
        let shown = world.pictures(json!({})).await.remove(0);
        assert_eq!(shown["description"], format!("said {round}"));
        assert_eq!((&shown["metadata"]["n"], &shown["width"]), (&json!(round), &json!(round)));
    }
    world.close().await;
}
