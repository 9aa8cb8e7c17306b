//! The trash by a clock that the test moves: thirty days, and then no text, no name and no key of it is left, in any file.

use std::time::Duration;

use memlog_actors::{
    api::{AsOf, Caller, Context, agent, audit, error::Kind, memory, trash},
    system::System,
};

use super::{erasure::assert_nowhere, world::*};

fn ann() -> Context {
    let caller = Caller { user: Some("user-axolotl".to_owned()), ..Caller::default() };
    Context { caller, ..acme() }
}

async fn made(system: &System, name: &str) -> String {
    let request = memory::Create { name: name.to_owned(), description: Some("Of the narwhal".to_owned()) };
    system.memory_create(&ann(), request).await.expect("created").reply.memory.id
}

async fn saved(system: &System, id: &str, content: &str) {
    let request = memory::Save {
        id: Some(id.to_owned()),
        entry: "entry-quokka".to_owned(),
        content: content.to_owned(),
        description: Some("About marmalade".to_owned()),
        ..memory::Save::default()
    };
    system.memory_save(&ann(), request).await.expect("saved");
}

fn read(id: &str, as_of: Option<AsOf>) -> memory::Read {
    memory::Read { id: Some(id.to_owned()), entry: "entry-quokka".to_owned(), as_of, ..memory::Read::default() }
}

fn secrets() -> Vec<Vec<u8>> {
    let words = [
        "marmalade",
        "Velvet",
        "entry-quokka",
        "notebook-okapi",
        "other-ocelot",
        "narwhal",
        "user-axolotl",
        "agent-dodo",
        "acme",
    ];
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// Waits until so many memories are purged.
async fn purged(system: &System, count: usize) {
    let request = audit::Events { types: Some(vec!["purged".to_owned()]), ..audit::Events::default() };
    let asking = async {
        loop {
            let told = system.audit_events(&acme(), request.clone()).await.expect("told").reply.events;
            if told.len() >= count {
                return told;
            }
            tokio::task::yield_now().await;
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(60), asking).await.expect("the keeper purges");
    assert_eq!(told.len(), count);
}

async fn is_gone(system: &System, id: &str, moments: &[u64]) {
    for as_of in moments.iter().map(|seq| Some(AsOf::Seq(*seq))).chain([None]) {
        let error = system.memory_read(&ann(), read(id, as_of)).await.expect_err("gone");
        assert_eq!(error.kind, Kind::NotFound, "{as_of:?}");
        let list = memory::List { as_of, user_filter: None, ..memory::List::default() };
        let listed = system.memory_list(&ann(), list).await.expect("listed").reply.memories;
        assert!(listed.iter().all(|memory| memory.id != id), "{as_of:?}");
        let list = trash::List { as_of, ..trash::List::default() };
        let items = system.trash_list(&ann(), list).await.expect("listed").reply.items;
        assert!(items.iter().all(|item| item.id != id), "{as_of:?}");
    }
}

// What was restored in time stays; what was not is unreachable to the microsecond, erased soon after, and survives no restart.
#[tokio::test(flavor = "multi_thread")]
async fn after_thirty_days_nothing_of_it_is_left() {
    let world = World::new();
    let system = world.start().await;
    let (kept, gone) = (made(&system, "other-ocelot").await, made(&system, "notebook-okapi").await);
    let agent = agent::Create { name: "agent-dodo".to_owned(), ..agent::Create::default() };
    let agent = system.agent_create(&ann(), agent).await.expect("created").reply.agent;
    for id in [&kept, &gone, &agent.memory_id] {
        saved(&system, id, "Velvet marmalade").await;
        saved(&system, id, "Velvet marmalade for ever").await;
    }
    system.agent_delete(&ann(), agent::Delete { id: agent.id }).await.expect("deleted");
    for id in [&kept, &gone] {
        system.memory_delete(&ann(), memory::Delete { id: id.clone() }).await.expect("deleted");
    }
    let moments: Vec<u64> = (1..=system.health().seq).collect();
    system.trash_restore(&ann(), trash::Restore { id: kept.clone() }).await.expect("restored");
    world.clock.forward(30 * DAY_MICROS - 60_000_000);
    let items = system.trash_list(&ann(), trash::List::default()).await.expect("listed").reply.items;
    assert_eq!(items.len(), 2, "a minute is left");
    assert_eq!(items.iter().filter(|item| item.kind == trash::Kind::AgentMemory).count(), 1);
    world.clock.forward(60_000_000);
    let items = system.trash_list(&ann(), trash::List::default()).await.expect("listed").reply.items;
    assert!(items.is_empty(), "by the clock, whether or not the keeper was there");
    let error = system.trash_restore(&ann(), trash::Restore { id: gone.clone() }).await.expect_err("too late");
    assert_eq!(error.kind, Kind::NotFound);
    purged(&system, 2).await;
    for id in [&gone, &agent.memory_id] {
        is_gone(&system, id, &moments).await;
    }
    assert_nowhere(world.folder.path(), &secrets());
    let verified = system.audit_verify(&acme(), audit::Verify::default()).await.expect("verified").reply;
    assert!(verified.ok, "{verified:?}");
    let system = world.restart(system).await;
    is_gone(&system, &gone, &moments).await;
    let one = system.memory_read(&ann(), read(&kept, None)).await.expect("restored").reply.entry;
    assert_eq!((one.content.as_deref(), one.version), (Some("Velvet marmalade for ever"), 2));
    // Long after: what was restored does not expire for the time that it lay in the trash.
    world.clock.forward(400 * DAY_MICROS);
    system.memory_read(&ann(), read(&kept, None)).await.expect("still there");
    purged(&system, 2).await;
    system.stop().await;
}

// At once on request. A copy of the folder that was taken before shows that the key is what is gone, and an older vault put back
// beside a newer log is overwritten before anything is answered.
#[tokio::test(flavor = "multi_thread")]
async fn purged_on_request_and_forgotten_entries_are_gone_from_disk() {
    let world = World::new();
    let system = world.start().await;
    let id = made(&system, "notebook-okapi").await;
    saved(&system, &id, "Velvet marmalade").await;
    let other = made(&system, "other-ocelot").await;
    saved(&system, &other, "Velvet marmalade").await;
    let moments: Vec<u64> = (1..=system.health().seq).collect();
    let before = tempfile::tempdir().expect("a folder");
    super::erasure::copy(world.folder.path(), before.path());
    let forget =
        memory::Forget { id: Some(other.clone()), entry: "entry-quokka".to_owned(), ..memory::Forget::default() };
    system.memory_forget(&ann(), forget).await.expect("forgotten");
    system.memory_delete(&ann(), memory::Delete { id: id.clone() }).await.expect("deleted");
    system.trash_purge(&ann(), trash::Purge { id: id.clone() }).await.expect("purged");
    is_gone(&system, &id, &moments).await;
    assert_nowhere(world.folder.path(), &secrets());
    system.stop().await;
    drop(system);
    super::erasure::put_vault_back(before.path(), world.folder.path());
    let system = world.start().await;
    is_gone(&system, &id, &moments).await;
    for as_of in moments.iter().map(|seq| Some(AsOf::Seq(*seq))) {
        let error = system.memory_read(&ann(), read(&other, as_of)).await.expect_err("gone");
        assert_eq!(error.kind, Kind::NotFound);
    }
    let verified = system.audit_verify(&acme(), audit::Verify::default()).await.expect("verified").reply;
    assert!(verified.ok, "{verified:?}");
    system.stop().await;
}
