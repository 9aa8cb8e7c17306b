//! Threads, their messages, images, memories and links.

use base64::{Engine, engine::general_purpose::STANDARD};
use memlog_actors::{
    api::{
        Context,
        given::OneOrEach,
        record::{ItemType, Status},
        thread::{self, NewPart, PartType},
    },
    system::System,
};

use super::{
    super::command::{Command, Heard, Ids, KINDS, THREADS, Word, text},
    record_id, run,
};

fn message_id(word: Word) -> String {
    format!("m{word}")
}

fn relation_id(source: Word, target: Word, kind: usize) -> String {
    format!("l{source}-{target}-{kind}")
}

pub(super) async fn in_a_thread(
    system: &System,
    context: &Context,
    profile: String,
    command: Command,
    ids: &Ids,
) -> Heard {
    let thread_id = |thread: usize| THREADS[thread].to_owned();
    match command {
        Command::Open { thread, .. } => {
            let extraction = thread::ExtractionSettings { enabled: Some(false), ..Default::default() };
            let settings = Some(thread::Settings { extraction: Some(extraction), ..Default::default() });
            let (thread_id, nobody) = (Some(thread_id(thread)), Some(None));
            let (user_id, agent_id) = (nobody.clone(), nobody);
            run(
                system,
                context,
                thread::Create { profile, thread_id, user_id, agent_id, settings, ..Default::default() },
            )
            .await
        }
        Command::Say { thread, words, days, .. } => {
            let message = |word: &Word| thread::NewMessage {
                role: "user".to_owned(),
                content: thread::Content::Text(text(*word)),
                id: Some(message_id(*word)),
                ..Default::default()
            };
            let ttl_days = days.map(|days| OneOrEach::One(Some(days as f64)));
            let (thread_id, messages) = (thread_id(thread), words.iter().map(message).collect());
            run(system, context, thread::AddMessages { profile, thread_id, messages, ttl_days, ..Default::default() })
                .await
        }
        Command::Keep { thread, word, days, link, .. } => {
            let request = thread::AddMemory {
                profile,
                thread_id: thread_id(thread),
                content: text(word),
                memory_id: Some(format!("r{word}")),
                ttl_days: days.map(|days| Some(days as f64)),
                memory_id_to_link: link.map(|(target, _)| record_id(ids, target)),
                link_type: link.map(|(_, kind)| KINDS[kind].to_owned()),
                link_id: link.map(|(target, kind)| relation_id(word, target, kind)),
                ..Default::default()
            };
            run(system, context, request).await
        }
        Command::DropMessage { thread, word, .. } => {
            let (thread_id, message_id) = (thread_id(thread), message_id(word));
            run(system, context, thread::DeleteMessage { profile, thread_id, message_id, ..Default::default() }).await
        }
        Command::DropMemory { thread, word, .. } => {
            let (thread_id, memory_id) = (thread_id(thread), record_id(ids, word));
            run(system, context, thread::DeleteMemory { profile, thread_id, memory_id }).await
        }
        Command::DeleteThread { thread, .. } => {
            run(system, context, thread::Delete { profile, thread_id: thread_id(thread) }).await
        }
        command => of_changes(system, context, profile, command, ids).await,
    }
}

async fn of_changes(system: &System, context: &Context, profile: String, command: Command, ids: &Ids) -> Heard {
    let thread_id = |thread: usize| THREADS[thread].to_owned();
    match command {
        Command::Reword { thread, word, says, days, .. } => {
            let request = thread::UpdateMessage {
                profile,
                thread_id: thread_id(thread),
                message_id: message_id(word),
                content: says.map(|says| thread::Content::Text(text(says))),
                ttl_days: days.map(|days| Some(days as f64)),
                ..Default::default()
            };
            run(system, context, request).await
        }
        Command::Amend { thread, word, says, holds, days, .. } => {
            let request = thread::UpdateMemory {
                profile,
                thread_id: thread_id(thread),
                memory_id: record_id(ids, word),
                content: says.map(text),
                status: holds.map(|holds| if holds { Status::Valid } else { Status::Invalid }),
                ttl_days: days.map(|days| Some(days as f64)),
                ..Default::default()
            };
            run(system, context, request).await
        }
        command => of_images(system, context, profile, command, ids).await,
    }
}

async fn of_images(system: &System, context: &Context, profile: String, command: Command, ids: &Ids) -> Heard {
    let thread_id = |thread: usize| THREADS[thread].to_owned();
    let image_id = |image: Word| ids.images.get(&image).cloned().unwrap_or_else(|| format!("i{image}"));
    match command {
        Command::Show { thread, word, image, days, .. } => {
            let part =
                |part_type, text, bytes, description| NewPart { part_type, text, bytes, description, mime_type: None };
            let words = part(PartType::Text, Some(text(word)), None, None);
            let picture = part(PartType::Image, None, Some(STANDARD.encode(png_of(image))), Some(text(image)));
            let message = thread::NewMessage {
                role: "user".to_owned(),
                content: thread::Content::Parts(vec![words, picture]),
                id: Some(message_id(word)),
                ..Default::default()
            };
            let ttl_days = days.map(|days| OneOrEach::One(Some(days as f64)));
            let (thread_id, messages) = (thread_id(thread), vec![message]);
            run(system, context, thread::AddMessages { profile, thread_id, messages, ttl_days, ..Default::default() })
                .await
        }
        Command::Hang { thread, image, days, .. } => {
            let request = thread::AddImage {
                profile,
                thread_id: thread_id(thread),
                image: STANDARD.encode(png_of(image)),
                description: Some(text(image)),
                image_id: Some(format!("i{image}")),
                ttl_days: days.map(|days| Some(days as f64)),
                ..Default::default()
            };
            run(system, context, request).await
        }
        Command::Retake { thread, image, says, days, .. } => {
            let request = thread::UpdateImage {
                profile,
                thread_id: thread_id(thread),
                image_id: image_id(image),
                image: Some(STANDARD.encode(png_of(says))),
                mime_type: Some(thread::Mime::Png),
                description: Some(Some(text(says))),
                ttl_days: days.map(|days| Some(days as f64)),
                ..Default::default()
            };
            run(system, context, request).await
        }
        Command::TakeDown { thread, image, .. } => {
            let image_id = image_id(image);
            run(system, context, thread::DeleteImage { profile, thread_id: thread_id(thread), image_id }).await
        }
        command => of_links(system, context, profile, command, ids).await,
    }
}

/// A pixel, and beside it in the file what it tells of, so that its bytes are looked for on the disks as any text is.
fn png_of(word: Word) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.add_text_chunk("Title".to_owned(), text(word)).expect("a short text");
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(&[0]).expect("a pixel");
    writer.finish().expect("an end");
    bytes
}

async fn of_links(system: &System, context: &Context, profile: String, command: Command, ids: &Ids) -> Heard {
    let thread_id = |thread: usize| THREADS[thread].to_owned();
    match command {
        Command::Link { thread, source, target, kind, .. } => {
            let request = thread::LinkRecords {
                profile,
                thread_id: thread_id(thread),
                source_record_id: record_id(ids, source),
                source_record_type: ItemType::Memory,
                target_record_id: record_id(ids, target),
                target_record_type: ItemType::Memory,
                relation_type: KINDS[kind].to_owned(),
                opposite_relation_type: None,
                relation_id: Some(relation_id(source, target, kind)),
                timestamp: None,
                metadata: None,
            };
            run(system, context, request).await
        }
        Command::Unlink { thread, source, target, kind, .. } => {
            let (thread_id, relation_id) = (thread_id(thread), Some(relation_id(source, target, kind)));
            run(system, context, thread::DeleteRecordLink { profile, thread_id, relation_id, ..Default::default() })
                .await
        }
        Command::Relabel { thread, source, target, kind, to, .. } => {
            let request = thread::UpdateRecordLink {
                profile,
                thread_id: thread_id(thread),
                relation_id: relation_id(source, target, kind),
                relation_type: Some(KINDS[to].to_owned()),
                ..Default::default()
            };
            run(system, context, request).await
        }
        other => unreachable!("{other:?} is sent elsewhere"),
    }
}
