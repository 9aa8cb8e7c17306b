//! What a model says about images: asked when nobody said it, checked, and never a reason to lose the image.

use base64::{Engine, engine::general_purpose::STANDARD};
use memlog_actors::{
    api::thread::{AddImage, AddMessages, Content, Create, ListImages, NewMessage, NewPart, PartType, UpdateImage},
    system::System,
};

use super::{ALICE, World, acme};
use crate::support::{
    images::{base64, dot},
    llm::Reply,
};

async fn begin(system: &System) {
    let create = Create { profile: ALICE.to_owned(), thread_id: Some("t".to_owned()), ..Create::default() };
    system.thread_create(&acme(), create).await.expect("a thread");
}

async fn add(system: &System, bytes: &[u8], description: Option<&str>) -> String {
    let request = AddImage {
        profile: ALICE.to_owned(),
        thread_id: "t".to_owned(),
        image: base64(bytes),
        description: description.map(str::to_owned),
        ..AddImage::default()
    };
    system.thread_add_image(&acme(), request).await.expect("stored").reply.image_id
}

async fn described(system: &System, image_id: &str) -> Option<String> {
    let request = ListImages {
        profile: ALICE.to_owned(),
        thread_id: "t".to_owned(),
        image_id: Some(image_id.to_owned()),
        ..ListImages::default()
    };
    let mut images = system.thread_list_images(&acme(), request).await.expect("listed").reply.images;
    images.pop().expect("the image").description
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_says_what_an_image_shows_when_nobody_did() {
    let world = World::new();
    let system = world.start().await;
    begin(&system).await;
    let bytes = dot(1);
    let image = add(&system, &bytes, None).await;
    let url = format!("data:image/png;base64,{}", STANDARD.encode(&bytes));
    assert_eq!(described(&system, &image).await, Some(format!("A picture of {} bytes", url.len())));
    let calls = world.llm.calls_of("caption");
    assert_eq!((calls.len(), calls[0].image()), (1, url.as_str()));
    assert!(!calls[0].system().contains(&url), "the image is data");
    // Said by the client, nobody is asked; null asks again.
    let told = add(&system, &bytes, Some("a dot")).await;
    assert_eq!((described(&system, &told).await.as_deref(), world.llm.calls_of("caption").len()), (Some("a dot"), 1));
    let null = UpdateImage {
        profile: ALICE.to_owned(),
        thread_id: "t".to_owned(),
        image_id: told.clone(),
        description: Some(None),
        ..UpdateImage::default()
    };
    system.thread_update_image(&acme(), null).await.expect("updated");
    assert!(described(&system, &told).await.is_some_and(|said| said.starts_with("A picture")));
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_in_a_message_is_captioned_too() {
    let world = World::new();
    let system = world.start().await;
    begin(&system).await;
    let part = NewPart {
        part_type: PartType::Image,
        text: None,
        bytes: Some(base64(&dot(1))),
        mime_type: None,
        description: None,
    };
    let message = NewMessage { role: "user".to_owned(), content: Content::Parts(vec![part]), ..NewMessage::default() };
    let request = AddMessages {
        profile: ALICE.to_owned(),
        thread_id: "t".to_owned(),
        messages: vec![message],
        ..AddMessages::default()
    };
    system.thread_add_messages(&acme(), request).await.expect("added");
    let list = ListImages { profile: ALICE.to_owned(), thread_id: "t".to_owned(), ..ListImages::default() };
    let images = system.thread_list_images(&acme(), list).await.expect("listed").reply.images;
    assert!(images[0].description.is_some());
    system.stop().await;
}

// Whatever the model does, the image is there.
#[tokio::test(flavor = "multi_thread")]
async fn a_caption_that_fails_is_none_and_the_image_is_stored() {
    let mut world = World::new();
    (world.settings.caption_s_max, world.settings.breaker_failures) = (1, 100);
    let system = world.start().await;
    begin(&system).await;
    let long = format!(r#"{{"description":"{}"}}"#, "x ".repeat(400));
    for reply in [
        Reply::Hangs,
        Reply::Status(400, None),
        Reply::Status(503, None),
        Reply::Refuses,
        Reply::Drops,
        Reply::Raw("<html>"),
        Reply::Says("a dot".to_owned()),
        Reply::Says(r#"{"description":" "}"#.to_owned()),
        Reply::Says(r#"{"description":"a dot","admin":true}"#.to_owned()),
        Reply::Says(long),
    ] {
        let played = reply.clone();
        world.llm.play(move |_| played.clone());
        let image = add(&system, &dot(1), None).await;
        assert_eq!(described(&system, &image).await, None, "{reply:?}");
    }
    // Lines and control characters of a model's are none of ours.
    world.llm.play(|_| Reply::Says(r#"{"description":"a dot\n# and\tmore"}"#.to_owned()));
    let image = add(&system, &dot(1), None).await;
    assert_eq!(described(&system, &image).await.as_deref(), Some("a dot # and more"));
    system.stop().await;
}
