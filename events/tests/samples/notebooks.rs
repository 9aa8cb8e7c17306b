//! One of each frozen struct of notebooks and registries.

use memlog_events::{event::*, ids::*};

use super::{by, slot, uuid};

fn memory() -> StreamId {
    StreamId(uuid(20))
}

fn agent() -> AgentId {
    AgentId(uuid(21))
}

fn digest(n: u8) -> Digest {
    Digest([n; 32])
}

pub(super) fn facts() -> Vec<(&'static str, Facts)> {
    let entry = EntryId(uuid(22));
    let (memory, agent) = (memory(), agent());
    let expires_at = Micros(1_700_000_000_000_000);
    vec![
        (
            "entry_saved",
            Facts::EntrySaved(EntrySavedV1 {
                entry,
                slot: slot(20),
                layer: Some(digest(20)),
                name_digest: digest(21),
                version: 259,
            }),
        ),
        ("entry_forgot", Facts::EntryForgot(EntryForgotV1 { entry, slot: slot(20) })),
        ("registry_created", Facts::RegistryCreated(RegistryCreatedV1 { slot: slot(21), namespace: [22; 16] })),
        (
            "memory_created",
            Facts::MemoryCreated(MemoryCreatedV1 {
                memory,
                slot: slot(22),
                owner: Some(digest(23)),
                agent: Some(agent),
                name_digest: Some(digest(24)),
            }),
        ),
        ("memory_updated", Facts::MemoryUpdated(MemoryUpdatedV1 { memory, name_digest: Some(digest(25)) })),
        ("trashed", Facts::Trashed(TrashedV1 { memory, ticket: slot(23), expires_at })),
        ("restored", Facts::Restored(RestoredV1 { memory, ticket: slot(23) })),
        ("purged", Facts::Purged(PurgedV1 { memory, slot: slot(22), ticket: slot(23) })),
        (
            "agent_created",
            Facts::AgentCreated(AgentCreatedV1 {
                agent,
                slot: slot(24),
                owner: Some(digest(26)),
                name_digest: digest(27),
                memory,
            }),
        ),
        ("agent_updated", Facts::AgentUpdated(AgentUpdatedV1 { agent, name_digest: Some(digest(28)) })),
        (
            "attached",
            Facts::Attached(AttachedV1 {
                agent,
                memories: vec![(memory, true), (StreamId(uuid(23)), false)],
                detached: vec![StreamId(uuid(24))],
            }),
        ),
        ("agent_deleted", Facts::AgentDeleted(AgentDeletedV1 { agent, slot: slot(24) })),
    ]
}

pub(super) fn contents() -> Vec<(&'static str, Content)> {
    let text = |text: &str| text.to_owned();
    vec![
        (
            "entry_saved_content",
            Content::EntrySaved(EntrySavedContentV1 {
                name: text("refunds"),
                description: Some(text("Our refund rules")),
                content: text("Within 30 days, \u{8fd4}\u{91d1}."),
                user_id: Some(text("ada")),
                by: by(),
            }),
        ),
        (
            "registry_created_content",
            Content::RegistryCreated(RegistryCreatedContentV1 { namespace: text("acme"), by: by() }),
        ),
        (
            "memory_created_content",
            Content::MemoryCreated(MemoryCreatedContentV1 {
                name: Some(text("company")),
                description: Some(text("What everyone should know")),
                user_id: Some(text("ada")),
                by: by(),
            }),
        ),
        (
            "memory_updated_content",
            Content::MemoryUpdated(MemoryUpdatedContentV1 {
                name: Some(text("handbook")),
                description: Some(text("")),
                by: by(),
            }),
        ),
        (
            "agent_created_content",
            Content::AgentCreated(AgentCreatedContentV1 {
                name: text("support"),
                instructions: Some(text("Answer billing questions.")),
                user_id: Some(text("ada")),
                by: by(),
            }),
        ),
        (
            "agent_updated_content",
            Content::AgentUpdated(AgentUpdatedContentV1 {
                name: Some(text("closer")),
                instructions: Some(text("Close deals.")),
                by: by(),
            }),
        ),
    ]
}
