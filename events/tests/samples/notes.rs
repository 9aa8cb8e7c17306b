//! One of each frozen struct of notes.

use memlog_events::{code::*, event::*, ids::*};

use super::{by, slot, uuid};

pub(super) fn facts() -> Vec<(&'static str, Facts)> {
    let session = SessionId(uuid(30));
    let expires_at = Micros(1_700_000_000_000_001);
    vec![
        (
            "note_saved",
            Facts::NoteSaved(NoteSavedV1 {
                note: 260,
                slot: slot(30),
                level: LevelCode::GROUP,
                login: Some(Digest([30; 32])),
                group: Some(Digest([31; 32])),
                kind: KindCode::CRITICAL,
                admission: 261,
            }),
        ),
        ("note_removed", Facts::NoteRemoved(NoteRemovedV1 { note: 260, slot: slot(30) })),
        ("note_kind_added", Facts::NoteKindAdded(NoteKindAddedV1 { kind: KindCode(5), key_digest: Digest([32; 32]) })),
        (
            "session_connected",
            Facts::SessionConnected(SessionConnectedV1 {
                session,
                login: Some(Digest([33; 32])),
                ended: vec![SessionId(uuid(31)), SessionId(uuid(32))],
            }),
        ),
        ("notes_loaded", Facts::NotesLoaded(NotesLoadedV1 { session, notes: vec![(260, 261), (262, 263)] })),
        ("editor_opened", Facts::EditorOpened(EditorOpenedV1 { login: Some(Digest([34; 32])), expires_at })),
        ("editor_closed", Facts::EditorClosed(EditorClosedV1 { expires_at })),
    ]
}

pub(super) fn contents() -> Vec<(&'static str, Content)> {
    let text = |text: &str| Some(text.to_owned());
    vec![
        (
            "note_saved_content",
            Content::NoteSaved(NoteSavedContentV1 {
                name: text("refunds"),
                category: text("money"),
                info: text("When we pay back"),
                body: text("<p>Within <b>30</b> days, \u{8fd4}\u{91d1}.</p>"),
                readers: Some(ReadersV1 { group: text("sales"), login: text("ada") }),
                by: by(),
            }),
        ),
        (
            "note_kind_added_content",
            Content::NoteKindAdded(NoteKindAddedContentV1 {
                kind_key: "kLegal".to_owned(),
                title: "What the law asks".to_owned(),
                by: by(),
            }),
        ),
    ]
}
