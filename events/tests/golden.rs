//! Bytes that a released version wrote, each frozen struct's in a file of its own, and one whole event.
//!
//! A struct that was changed, a number that moved, an encoding that means something else now: each would misread every
//! log in the world in silence. Here it fails. To add the files of new structs, run this test with
//! `MEMLOG_WRITE_GOLDEN=1`: it writes those that are missing and never overwrites one. Then commit them, and never
//! change them again.

mod samples;

use std::{fs, path::PathBuf};

use memlog_events::{
    code::StreamKind,
    codec,
    event::{Content, Facts, MessageAppendedContentV2, MessageAppendedV2, kind},
    head::{self, Head, Parts, Place},
    ids::*,
};
use samples::{contents, facts, uuid};

fn golden(name: &str, version: u16, now: &[u8]) -> Vec<u8> {
    frozen(&format!("golden/{name}.v{version}.bin"), now)
}

fn frozen(file: &str, now: &[u8]) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    if !path.exists() && std::env::var_os("MEMLOG_WRITE_GOLDEN").is_some() {
        fs::write(&path, now).unwrap();
    }
    fs::read(&path).unwrap_or_else(|_| panic!("{file} is missing: see the head of this file"))
}

#[test]
fn facts_of_every_version_are_read_as_they_were_written() {
    for (name, fact) in facts() {
        let (bytes, version) = (codec::encode_facts(&fact), codec::facts_version(&fact));
        let golden = golden(name, version, &bytes);
        assert_eq!(golden, bytes, "{name}: written differently");
        assert_eq!(codec::decode_facts(fact.kind(), version, &golden), Ok(fact), "{name}: read differently");
    }
}

#[test]
fn contents_of_every_version_are_read_as_they_were_written() {
    for (name, content) in contents() {
        let bytes = codec::encode_content(&content);
        let version = u16::from_le_bytes([bytes[3], bytes[4]]);
        let golden = golden(name, version, &bytes);
        assert_eq!(golden, bytes, "{name}: written differently");
        assert_eq!(codec::decode_content(&golden), Ok(content), "{name}: read differently");
    }
}

/// What the first release wrote is read as what it meant: a message whose speaker's clock nobody knew.
#[test]
fn facts_of_older_versions_are_lifted() {
    let (_, latest) = facts().remove(6);
    let Facts::MessageAppended(message) = latest else { panic!("the sample has moved") };
    let old = frozen("golden/message_appended.v1.bin", &[]);
    let lifted = codec::decode_facts(kind::MessageAppended, 1, &old);
    assert_eq!(lifted, Ok(Facts::MessageAppended(MessageAppendedV2 { offset_seconds: 0, ..message })));
}

/// A message of one text is what every message was before some had parts.
#[test]
fn contents_of_older_versions_are_lifted() {
    let message = contents().into_iter().find_map(|(_, content)| match content {
        Content::MessageAppended(message) => Some(message),
        _ => None,
    });
    let old = frozen("golden/message_appended_content.v1.bin", &[]);
    let lifted = codec::decode_content(&old);
    let expected = MessageAppendedContentV2 { parts: Vec::new(), ..message.expect("a sample") };
    assert_eq!(lifted, Ok(Content::MessageAppended(expected)));
}

/// A list of samples that forgot a kind would prove nothing about it.
#[test]
fn every_kind_has_a_sample() {
    let mut kinds: Vec<u16> = facts().iter().map(|(_, fact)| fact.kind()).collect();
    kinds.sort_unstable();
    let known: Vec<u16> = memlog_events::event::KINDS.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, known);
}

#[test]
fn a_whole_event_is_read_as_it_was_written() {
    let (_, fact) = facts().remove(6);
    // The struct's first version, which this event was written with.
    let facts_bytes = frozen("golden/message_appended.v1.bin", &[]);
    let sealed = b"stands for sealed bytes".to_vec();
    let slots = KeyPath { scope: Slot(16), stream: Slot(17), subject: Slot(1 << 40) };
    let head = Head {
        codec: facts_bytes[0],
        kind: fact.kind(),
        kind_version: 1,
        key: StreamKey { partition: Partition(63), scope: Scope(uuid(1)), stream: StreamId(uuid(2)) },
        stream_kind: StreamKind::THREAD,
        position: Position((1 << 53) - 1),
        version: Version(7),
        id: EventId(uuid(3)),
        time: Micros(-1),
        keys: slots,
        facts_bytes: facts_bytes.len() as u32,
        content_bytes: sealed.len() as u32,
        place: Place::Inline,
        nonce: [9; 12],
        content_hash: *blake3::hash(&sealed).as_bytes(),
    };
    let head_bytes = head.to_bytes(&facts_bytes);
    let chain = head::chain(&[5; 32], &[0; 32], &head_bytes, &facts_bytes);
    let event = [&head_bytes[..], &chain, &facts_bytes, &sealed].concat();

    let golden = frozen(&format!("event.v{}.bin", head::HEAD_VERSION), &event);
    assert_eq!(golden, event, "written differently");
    let parts = Parts::split(&golden).unwrap();
    assert_eq!((parts.head, parts.chain), (head, chain));
    assert_eq!((parts.facts, parts.sealed), (&facts_bytes[..], Some(&sealed[..])));
    let cut = Parts::split(&golden[..golden.len() - sealed.len()]).unwrap();
    assert_eq!((cut.head, cut.sealed), (head, None), "a content that was cut away");
}
