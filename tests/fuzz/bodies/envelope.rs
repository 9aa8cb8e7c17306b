//! Stored events: the head, its checksum, and the two halves behind it. What decodes is written again as the same bytes, or it is of
//! an older version and is lifted once and for all; a changed byte is noticed.

use memlog_events::{
    codec,
    event::KINDS,
    head::{FACTS_AT, HEAD_BYTES, Head, Parts, Place},
};

/// Versions of one kind that are tried; more than any has.
const VERSIONS_MAX: u16 = 4;

/// A stored event. Its checksum is also put right, since no mutation hits upon one and what lies behind would never be reached.
pub fn envelope(bytes: &[u8]) {
    if let Ok(parts) = Parts::split(bytes) {
        whole(&parts, bytes);
    }
    let Ok(head) = Head::parse(bytes) else {
        assert!(Parts::split(bytes).is_err(), "taken apart without a head");
        return;
    };
    let bodies = bytes.get(FACTS_AT..).unwrap_or_default();
    let (facts, sealed) = bodies.split_at(bodies.len().min(head.facts_bytes as usize));
    let length = |part: &[u8]| u32::try_from(part.len()).expect("inputs are small");
    let head = Head { facts_bytes: length(facts), content_bytes: length(sealed), ..head };
    let front = head.to_bytes(facts);
    let chain = bytes.get(HEAD_BYTES..FACTS_AT).unwrap_or(&[7; 32]);
    let event = [&front[..], chain, facts, sealed].concat();
    match Parts::split(&event) {
        Ok(parts) => whole(&parts, &event),
        Err(error) => assert!(!sealed.is_empty() && head.place != Place::Inline, "{error}: {head:?}"),
    }
}

fn whole(parts: &Parts<'_>, event: &[u8]) {
    assert_eq!(parts.head.to_bytes(parts.facts)[..], event[..HEAD_BYTES], "the head is written differently");
    let rest = [&parts.chain[..], parts.facts, parts.sealed.unwrap_or_default()].concat();
    assert_eq!(rest, event[HEAD_BYTES..], "bytes that belong to nothing");
    // Heads and facts are under the checksum; the chain that lies between them is checked with its key, elsewhere.
    let under: Vec<_> = (0..HEAD_BYTES).chain(FACTS_AT..FACTS_AT + parts.facts.len()).collect();
    let at = under[usize::from(event[HEAD_BYTES - 1]) % under.len()];
    let mut changed = event.to_vec();
    changed[at] ^= 1 << (event[HEAD_BYTES - 2] % 8);
    assert!(Parts::split(&changed).is_err(), "a change of byte {at} was not noticed");
    facts(parts.head.kind, parts.head.kind_version, parts.facts);
    parts.sealed.map(content);
}

/// One half of an event by itself, of whatever kind it may be.
pub fn event(bytes: &[u8]) {
    content(bytes);
    for (kind, _) in KINDS {
        (0..=VERSIONS_MAX).for_each(|version| facts(*kind, version, bytes));
    }
}

fn facts(kind: u16, version: u16, bytes: &[u8]) {
    let Ok(facts) = codec::decode_facts(kind, version, bytes) else { return };
    assert_eq!(facts.kind(), kind);
    assert!(codec::reader_of(kind, version) >= 1);
    let (latest, written) = (codec::facts_version(&facts), codec::encode_facts(&facts));
    assert!(version <= latest, "version {version} of kind {kind} is read and not written");
    if version == latest {
        assert_eq!(written, bytes, "facts of kind {kind} are written differently");
    } else {
        assert_eq!(codec::decode_facts(kind, latest, &written).as_ref(), Ok(&facts), "kind {kind} changes when lifted");
    }
}

fn content(bytes: &[u8]) {
    let Ok(content) = codec::decode_content(bytes) else { return };
    let written = codec::encode_content(&content);
    assert_eq!(written[..3], bytes[..3], "a content of another kind");
    if written[3..5] == bytes[3..5] {
        assert_eq!(written, bytes, "a content is written differently");
    } else {
        assert_eq!(codec::decode_content(&written).as_ref(), Ok(&content), "a content changes when lifted");
    }
}
