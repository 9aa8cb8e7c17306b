//! Images of a thread that no message holds.

use serde_json::json;

use super::{
    super::{
        hand::{Command, Hand},
        tree::{fields, take},
    },
    command, metadata, profile_of, sentence,
};
use crate::support::images;

/// Images of one client in one thread.
const IMAGES: usize = 2;
/// Some are files of their own, most lie in the log.
const SIDES: [u32; 4] = [2, 8, 24, 180];

/// The bytes of a new one, as requests carry them.
pub(super) fn picture(hand: &mut Hand) -> String {
    let side = SIDES[hand.rng.usize(..SIDES.len())];
    images::base64(&images::noise(side, side, hand.rng.u64(..)))
}

fn all(hand: &Hand) -> Vec<(String, String, String)> {
    let of = |(profile, thread): (String, String)| {
        let images = fields(&hand.thread(&profile, &thread)["images"]);
        images.map(|(id, _)| (profile.clone(), thread.clone(), id.clone())).collect::<Vec<_>>()
    };
    hand.threads().into_iter().flat_map(of).collect()
}

pub(super) fn add(hand: &mut Hand) -> Option<Command> {
    let (profile, thread) = hand.one(hand.threads())?;
    if fields(&hand.thread(&profile, &thread)["images"]).count() >= IMAGES {
        return None;
    }
    let word = hand.word('i');
    let (id, description) = (format!("i-{word}"), sentence(hand, &word));
    let (image, metadata) = (picture(hand), metadata(hand));
    let body = json!({ "profile": profile, "thread_id": thread, "image_id": id, "image": image,
        "description": description, "metadata": metadata });
    Some(command("thread.add_image", vec![], body, move |tree, _| {
        profile_of(tree, &profile)["threads"][&thread]["images"][&id] =
            json!({ "description": description, "metadata": metadata, "mime_type": "image/png", "image": image });
    }))
}

pub(super) fn update(hand: &mut Hand) -> Option<Command> {
    let (profile, thread, id) = hand.one(all(hand))?;
    let old = hand.thread(&profile, &thread)["images"][&id].clone();
    let mut new = old.clone();
    let mut body = json!({ "profile": profile, "thread_id": thread, "image_id": id });
    if hand.rng.bool() {
        new["image"] = json!(picture(hand));
        body["image"] = new["image"].clone();
        body["mime_type"] = json!("image/png");
    } else {
        let word = hand.word('v');
        new["description"] = json!(sentence(hand, &word));
        body["description"] = new["description"].clone();
    }
    new["_was"] = json!(format!("{}{}", old["_was"], old["description"]));
    Some(command("thread.update_image", vec![], body, move |tree, _| {
        profile_of(tree, &profile)["threads"][&thread]["images"][&id] = new.clone();
    }))
}

pub(super) fn delete(hand: &mut Hand) -> Option<Command> {
    let (profile, thread, id) = hand.one(all(hand))?;
    let body = json!({ "profile": profile, "thread_id": thread, "image_id": id });
    let made = command("thread.delete_image", vec![], body, move |tree, _| {
        take(&mut profile_of(tree, &profile)["threads"][&thread]["images"], &id);
    });
    Some(made.replying(json!({ "deleted": 1 })))
}
