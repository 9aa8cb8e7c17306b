//! One of each frozen struct, every field filled. Never change one that has a golden file.

mod notebooks;
mod notes;

use memlog_events::{code::*, event::*, ids::*};
use uuid::Uuid;

/// Ids that are easy to see in a dump.
pub(crate) fn uuid(n: u8) -> Uuid {
    Uuid::from_bytes([n; 16])
}

fn by() -> ByV1 {
    ByV1 { user: Some("ada".into()), agent: Some("helper \u{1F331}".into()) }
}

fn slot(n: u64) -> Slot {
    Slot(1_000 + n)
}

/// Facts by the name of their struct.
pub(crate) fn facts() -> Vec<(&'static str, Facts)> {
    let mut all = people();
    all.extend(records());
    all.extend(jobs());
    all.extend(images());
    all.extend(notebooks::facts());
    all.extend(notes::facts());
    all
}

fn people() -> Vec<(&'static str, Facts)> {
    vec![
        ("profile_created", Facts::ProfileCreated(ProfileCreatedV1 { slot: slot(1), namespace: [1; 16] })),
        ("profile_deleted", Facts::ProfileDeleted(ProfileDeletedV1 { slot: slot(1) })),
        (
            "speaker_added",
            Facts::SpeakerAdded(SpeakerAddedV1 {
                speaker: SpeakerId(uuid(4)),
                slot: slot(2),
                name_digest: Digest([2; 32]),
            }),
        ),
        ("speaker_removed", Facts::SpeakerRemoved(SpeakerRemovedV1 { speaker: SpeakerId(uuid(4)) })),
        ("thread_created", Facts::ThreadCreated(ThreadCreatedV1 { slot: slot(3), derived: true })),
        ("thread_deleted", Facts::ThreadDeleted(ThreadDeletedV1 { slot: slot(3) })),
        (
            "message_appended",
            Facts::MessageAppended(MessageAppendedV2 {
                message: MessageId(uuid(5)),
                slot: slot(4),
                ordinal: 258,
                role: RoleCode::ASSISTANT,
                digest: Digest([6; 32]),
                id_digest: Some(Digest([7; 32])),
                speaker: Some(SpeakerId::ME),
                timestamp: Some(Micros(1_700_000_000_000_000)),
                offset_seconds: -18_000,
                expires_at: None,
            }),
        ),
        (
            "message_deleted",
            Facts::MessageDeleted(MessageDeletedV1 {
                messages: vec![(MessageId(uuid(5)), slot(4)), (MessageId(uuid(6)), slot(5))],
            }),
        ),
        ("summarised", Facts::Summarised(SummarisedV1 { slot: slot(8), job: JobId(uuid(11)), through: 258 })),
        ("summary_erased", Facts::SummaryErased(SummaryErasedV1 { slot: slot(8) })),
        (
            "message_updated",
            Facts::MessageUpdated(MessageUpdatedV1 {
                message: MessageId(uuid(5)),
                slot: slot(4),
                digest: Digest([13; 32]),
                expires_at: Some(Micros(99)),
                expires_before: None,
            }),
        ),
    ]
}

fn records() -> Vec<(&'static str, Facts)> {
    let (record, other) = (RecordId(uuid(8)), RecordId(uuid(9)));
    let relation = RelationId(uuid(10));
    let (messages, relations) = (vec![(MessageId(uuid(5)), slot(4))], vec![(relation, slot(7))]);
    vec![
        (
            "saved",
            Facts::Saved(SavedV1 {
                record,
                slot: slot(6),
                record_type: TypeCode::PREFERENCE,
                speaker: Some(SpeakerId(uuid(4))),
                timestamp: Some(Micros(-5)),
                expires_at: Some(Micros(i64::MAX)),
                sources: vec![MessageId(uuid(5)), MessageId(uuid(6))],
                job: Some(JobId(uuid(11))),
                fingerprint: Digest([12; 32]),
                id_digest: None,
            }),
        ),
        ("superseded", Facts::Superseded(SupersededV1 { old: record, new: other })),
        (
            "linked",
            Facts::Linked(LinkedV1 {
                relation,
                slot: slot(7),
                link: LinkCode::REFINES,
                source: record,
                target: other,
                timestamp: Some(Micros(77)),
            }),
        ),
        ("unlinked", Facts::Unlinked(UnlinkedV1 { relation, slot: slot(7) })),
        (
            "forgot",
            Facts::Forgot(ForgotV1 { record, slot: slot(6), messages: messages.clone(), relations: relations.clone() }),
        ),
        ("expired", Facts::Expired(ExpiredV1 { records: vec![(record, slot(6))], messages, relations })),
        (
            "updated",
            Facts::Updated(UpdatedV1 {
                record,
                slot: slot(6),
                timestamp: None,
                expires_at: Some(Micros(98)),
                expires_before: Some(Micros(97)),
                fingerprint: Digest([14; 32]),
            }),
        ),
        ("status_set", Facts::StatusSet(StatusSetV1 { record, valid: true })),
        (
            "relinked",
            Facts::Relinked(RelinkedV1 {
                relation,
                slot: slot(7),
                link: LinkCode::CUSTOM,
                timestamp: Some(Micros(78)),
            }),
        ),
    ]
}

fn images() -> Vec<(&'static str, Facts)> {
    let image = ImageId(uuid(12));
    let form = ImageFormV1 { mime: MimeCode::WEBP, width: 640, height: 480, bytes: 70_000 };
    vec![
        (
            "image_added",
            Facts::ImageAdded(ImageAddedV1 {
                image,
                slot: slot(9),
                message: Some(MessageId(uuid(5))),
                form,
                timestamp: Some(Micros(1)),
                expires_at: Some(Micros(2)),
                id_digest: Some(Digest([15; 32])),
            }),
        ),
        ("image_stored", Facts::ImageStored(ImageStoredV1 { image, slot: slot(9) })),
        (
            "image_updated",
            Facts::ImageUpdated(ImageUpdatedV1 {
                image,
                slot: slot(9),
                form,
                timestamp: None,
                expires_at: None,
                expires_before: Some(Micros(2)),
            }),
        ),
        ("image_deleted", Facts::ImageDeleted(ImageDeletedV1 { images: vec![(image, slot(9))] })),
    ]
}

fn jobs() -> Vec<(&'static str, Facts)> {
    let job = JobId(uuid(11));
    vec![
        (
            "extraction_requested",
            Facts::ExtractionRequested(ExtractionRequestedV1 { job, messages: vec![MessageId(uuid(5))] }),
        ),
        (
            "extraction_completed",
            Facts::ExtractionCompleted(ExtractionCompletedV1 {
                job,
                records: vec![RecordId(uuid(8))],
                attempts: 2,
                dropped: 1,
            }),
        ),
        (
            "extraction_failed",
            Facts::ExtractionFailed(ExtractionFailedV1 { job, code: "malformed_answer".into(), attempts: 5 }),
        ),
    ]
}

/// Contents by the name of their struct.
pub(crate) fn contents() -> Vec<(&'static str, Content)> {
    let mut all = people_and_records();
    all.extend(notebooks::contents());
    all.extend(notes::contents());
    all
}

fn people_and_records() -> Vec<(&'static str, Content)> {
    let text = |text: &str| text.to_owned();
    vec![
        ("by_content", Content::By(ByContentV1 { by: ByV1::default() })),
        (
            "profile_created_content",
            Content::ProfileCreated(ProfileCreatedContentV1 { namespace: text("team"), name: text("ada"), by: by() }),
        ),
        ("speaker_added_content", Content::SpeakerAdded(SpeakerAddedContentV1 { name: text("Zo\u{eb}"), by: by() })),
        (
            "thread_created_content",
            Content::ThreadCreated(ThreadCreatedContentV1 {
                thread_id: text("monday"),
                user_id: Some(text("ada")),
                agent_id: None,
                metadata: text(r#"{"a":1}"#),
                settings: text("{}"),
                by: by(),
            }),
        ),
        ("message_appended_content", Content::MessageAppended(message())),
        ("message_updated_content", Content::MessageUpdated(message())),
        (
            "summarised_content",
            Content::Summarised(SummarisedContentV1 { text: text("Ada talked about cats."), by: by() }),
        ),
        ("saved_content", Content::Saved(saved())),
        ("updated_content", Content::Updated(saved())),
        ("linked_content", Content::Linked(linked())),
        ("relinked_content", Content::Relinked(linked())),
        ("image_added_content", Content::ImageAdded(image())),
        ("image_updated_content", Content::ImageUpdated(image())),
        (
            "image_stored_content",
            Content::ImageStored(ImageStoredContentV1 { bytes: vec![0x89, 0x50, 0x4e, 0x47], by: by() }),
        ),
    ]
}

fn message() -> MessageAppendedContentV2 {
    let text = PartV1 { part: PartId(uuid(13)), text: Some("\u{732b}".to_owned()), image: None };
    let image = PartV1 { part: PartId(uuid(12)), text: None, image: Some(ImageId(uuid(12))) };
    MessageAppendedContentV2 {
        text: "\u{732b}\u{304c}\u{597d}\u{304d}".to_owned(),
        parts: vec![text, image],
        given_id: Some("m-1".to_owned()),
        custom_role: Some("narrator".to_owned()),
        metadata: "{}".to_owned(),
        by: by(),
    }
}

fn saved() -> SavedContentV1 {
    SavedContentV1 {
        content: "Ada likes cats.".to_owned(),
        summary: "likes cats".to_owned(),
        metadata: "{}".to_owned(),
        given_id: None,
        user_id: None,
        agent_id: Some("helper".to_owned()),
        by: by(),
    }
}

fn linked() -> LinkedContentV1 {
    LinkedContentV1 {
        label: Some("mother of".to_owned()),
        opposite: Some("child of".to_owned()),
        metadata: "{}".to_owned(),
        given_id: Some("r-1".to_owned()),
        by: by(),
    }
}

fn image() -> ImageAddedContentV1 {
    ImageAddedContentV1 {
        description: Some("a cat on a roof".to_owned()),
        metadata: r#"{"a":1}"#.to_owned(),
        given_id: Some("i-1".to_owned()),
        by: by(),
    }
}
