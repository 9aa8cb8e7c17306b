//! Whatever goes in comes out, and whatever else comes in is refused: bincode alone would read a cut or padded body as
//! if nothing were wrong.

mod samples;

use memlog_events::{
    code::RoleCode,
    codec::{self, Error},
    event::*,
    ids::*,
};
use proptest::{collection::vec, option::of, prelude::*};
use uuid::Uuid;

prop_compose! {
    fn message()(
        ids in any::<[u128; 2]>(),
        numbers in any::<(u64, u32, u8)>(),
        digests in (any::<[u8; 32]>(), of(any::<[u8; 32]>())),
        times in (of(any::<i64>()), any::<i32>(), of(any::<i64>())),
        said in any::<bool>(),
    ) -> Facts {
        Facts::MessageAppended(MessageAppendedV2 {
            message: MessageId(Uuid::from_u128(ids[0])),
            slot: Slot(numbers.0),
            ordinal: numbers.1,
            role: RoleCode(numbers.2),
            digest: Digest(digests.0),
            id_digest: digests.1.map(Digest),
            speaker: said.then_some(SpeakerId(Uuid::from_u128(ids[1]))),
            timestamp: times.0.map(Micros),
            offset_seconds: times.1,
            expires_at: times.2.map(Micros),
        })
    }
}

prop_compose! {
    fn forgot()(
        record in any::<u128>(),
        slot in any::<u64>(),
        messages in vec(any::<(u128, u64)>(), 0..20),
        relations in vec(any::<(u128, u64)>(), 0..20),
    ) -> Facts {
        Facts::Forgot(ForgotV1 {
            record: RecordId(Uuid::from_u128(record)),
            slot: Slot(slot),
            messages: messages.into_iter().map(|(id, s)| (MessageId(Uuid::from_u128(id)), Slot(s))).collect(),
            relations: relations.into_iter().map(|(id, s)| (RelationId(Uuid::from_u128(id)), Slot(s))).collect(),
        })
    }
}

prop_compose! {
    fn content()(text in any::<String>(), metadata in any::<String>(), names in any::<[Option<String>; 4]>()) -> Content {
        let [given_id, custom_role, user, agent] = names;
        Content::MessageAppended(MessageAppendedContentV2 {
            text, parts: Vec::new(), given_id, custom_role, metadata, by: ByV1 { user, agent },
        })
    }
}

proptest! {
    #[test]
    fn facts_come_back_as_they_were(facts in prop_oneof![message(), forgot()]) {
        let bytes = codec::encode_facts(&facts);
        prop_assert_eq!(codec::decode_facts(facts.kind(), codec::facts_version(&facts), &bytes), Ok(facts));
    }

    #[test]
    fn contents_come_back_as_they_were(content in content()) {
        prop_assert_eq!(codec::decode_content(&codec::encode_content(&content)), Ok(content));
    }

    #[test]
    fn noise_is_refused_and_never_panics(kind in any::<u16>(), version in any::<u16>(), bytes in vec(any::<u8>(), 0..200)) {
        drop(codec::decode_facts(kind, version, &bytes));
        drop(codec::decode_facts(kind % 40, 1 + version % 2, &[&[1], &bytes[..]].concat()));
        drop(codec::decode_content(&bytes));
        drop(codec::decode_content(&[&[1, 12, 0, 1, 0], &bytes[..]].concat()));
    }
}

#[test]
fn a_body_cut_or_padded_anywhere_is_refused() {
    for (name, facts) in samples::facts() {
        let (bytes, version) = (codec::encode_facts(&facts), codec::facts_version(&facts));
        for length in 0..bytes.len() {
            assert!(codec::decode_facts(facts.kind(), version, &bytes[..length]).is_err(), "{name} cut at {length}");
        }
        let padded = [&bytes[..], &[0]].concat();
        assert_eq!(codec::decode_facts(facts.kind(), version, &padded), Err(Error::LeftOver(1)), "{name}");
    }
    for (name, content) in samples::contents() {
        let bytes = codec::encode_content(&content);
        for length in 0..bytes.len() {
            assert!(codec::decode_content(&bytes[..length]).is_err(), "{name} cut at {length}");
        }
    }
}

#[test]
fn what_a_later_version_wrote_is_refused_by_name() {
    let (_, facts) = samples::facts().remove(0);
    let mut bytes = codec::encode_facts(&facts);
    assert_eq!(codec::decode_facts(1, 2, &bytes), Err(Error::Unknown { kind: 1, version: 2 }));
    assert_eq!(codec::decode_facts(999, 1, &bytes), Err(Error::Unknown { kind: 999, version: 1 }));
    bytes[0] = 2;
    assert_eq!(codec::decode_facts(1, 1, &bytes), Err(Error::Codec(2)));
}

/// A length inside a damaged body must not make the decoder reserve memory for it.
#[test]
fn an_absurd_length_is_refused_without_reserving_memory() {
    let absurd = [&[1][..], &[0; 16], &[0; 8], &u64::MAX.to_le_bytes()].concat();
    assert_eq!(codec::decode_facts(24, 1, &absurd), Err(Error::Damaged));
}

/// Eight bytes of length before each id would be a tenth of the log.
#[test]
fn ids_are_sixteen_bare_bytes() {
    let facts = Facts::SpeakerRemoved(SpeakerRemovedV1 { speaker: SpeakerId(samples::uuid(4)) });
    assert_eq!(codec::encode_facts(&facts), [&[1][..], &[4; 16]].concat());
}
