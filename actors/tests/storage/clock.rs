//! A clock that jumps years ahead and comes back, and one that is set back: ids keep their order, reads follow the clock, and
//! nothing is erased for good by a moment in which it was wrong.

use memlog_actors::{
    api::{Caller, Context, audit, given::OneOrEach, profile::Remember, speaker, thread},
    limits::Limits,
    system::System,
};

use super::{until, world::*};

const YEARS: i64 = 3 * 365 * DAY_MICROS;

/// One whose entities sleep soon, so that a test sees when the housekeeping has been around.
fn world(clock_jump_wait_ms: u64) -> World {
    World { limits: Limits { clock_jump_wait_ms, entity_idle_ms_max: 1_000, ..Limits::default() }, ..World::new() }
}

fn for_a_day(content: &str) -> Remember {
    Remember { ttl_days: Some(1.0), ..remember(content) }
}

async fn shown(system: &System) -> usize {
    system.profile_memories(&acme(), list()).await.expect("listed").reply.memories.len()
}

async fn expired(system: &System) -> usize {
    let request = audit::Events { types: Some(vec!["expired".to_owned()]), ..audit::Events::default() };
    system.audit_events(&acme(), request).await.expect("told").reply.events.len()
}

/// The housekeeping puts what idles to sleep, and in the same look erases what is due: once it has done the first twice, it has done
/// the second.
async fn looked_after(world: &World, system: &System, speakers: [&str; 2]) {
    for speaker in speakers {
        let woken = speaker::Add { profile: ALICE.to_owned(), speaker: speaker.to_owned() };
        system.speaker_add(&acme(), woken).await.expect("woken");
        world.clock.forward(2_000_000);
        until("asleep", || async { system.load().actors[0].awake == 0 }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_jump_ahead_and_back_erases_nothing() {
    let mut world = world(600_000);
    let system = world.start().await;
    system.profile_remember(&acme(), for_a_day("The parking spot is 7")).await.expect("stored");
    let once = keyed("once");
    let first = system.profile_remember(&once, remember("Said once")).await.expect("stored").reply.memory.id;
    world.clock.forward(YEARS);
    assert_eq!(shown(&system).await, 1, "unreachable by the clock at once");
    looked_after(&world, &system, ["Ada", "Bob"]).await;
    assert_eq!(expired(&system).await, 0);
    // A client that tries again has waited for seconds and not for years.
    let again = system.profile_remember(&once, remember("Said once")).await.expect("again").reply.memory.id;
    assert_eq!((again, shown(&system).await), (first, 1));
    world.clock.forward(-YEARS);
    assert_eq!(shown(&system).await, 2, "and back with the clock");
    looked_after(&world, &system, ["Cid", "Dan"]).await;
    assert_eq!((shown(&system).await, expired(&system).await), (2, 0));
    // When its time is over for real, it goes.
    world.limits.clock_jump_wait_ms = 0;
    let system = world.restart(system).await;
    world.clock.forward(2 * DAY_MICROS);
    until("erased", || async { expired(&system).await == 1 }).await;
    assert_eq!(shown(&system).await, 1);
    let verified = system.audit_verify(&acme(), audit::Verify::default()).await.expect("verified").reply;
    assert!(verified.ok, "{verified:?}");
    system.stop().await;
}

/// All events together, as an export, and each on a page of its own, whose neighbours were not read; how many there are of one memory.
async fn all_that_is_told(system: &System) -> (String, usize) {
    let all = audit::Events { limit: Some(500), ..Default::default() };
    let events = system.audit_events(&acme(), all).await.expect("told").reply.events;
    let lines = system.audit_export(&acme(), audit::Export::default()).await.expect("exported").reply.lines;
    let mut alone = Vec::new();
    for event in &events {
        let page = audit::Events { from_seq: Some(event.seq), limit: Some(1), ..Default::default() };
        alone.extend(system.audit_events(&acme(), page).await.expect("told").reply.events);
    }
    assert_eq!(alone.len(), events.len());
    let of_it = audit::Events { record_id: Some("mem-walrus".to_owned()), ..Default::default() };
    let of_it = system.audit_events(&acme(), of_it).await.expect("told").reply.events.len();
    (format!("{events:?} {lines} {alone:?}"), of_it)
}

/// Ids that clients gave, and who wrote, are told of no event whose subject's time is over, whether or not it is erased yet.
#[tokio::test(flavor = "multi_thread")]
async fn no_event_names_what_has_expired() {
    let world = world(600_000);
    let system = world.start().await;
    let (profile, thread_id) = (ALICE.to_owned(), "desk".to_owned());
    let off = thread::ExtractionSettings { enabled: Some(false), ..Default::default() };
    let settings = Some(thread::Settings { extraction: Some(off), ..Default::default() });
    let create = thread::Create { profile, thread_id: Some(thread_id.clone()), settings, ..Default::default() };
    system.thread_create(&acme(), create).await.expect("created");
    let memory = |id: &str, days: Option<f64>| thread::AddMemory {
        profile: ALICE.to_owned(),
        thread_id: thread_id.clone(),
        content: format!("This is {id}"),
        memory_id: Some(id.to_owned()),
        ttl_days: Some(days),
        ..Default::default()
    };
    system.thread_add_memory(&acme(), memory("mem-heron", None)).await.expect("saved");
    let linked = thread::AddMemory {
        memory_id_to_link: Some("mem-heron".to_owned()),
        link_type: Some("supports".to_owned()),
        link_id: Some("link-walrus".to_owned()),
        ..memory("mem-walrus", Some(1.0))
    };
    let walrus = Caller { agent: None, user: Some("user-walrus".to_owned()), ..Caller::default() };
    system.thread_add_memory(&Context { caller: walrus, ..acme() }, linked).await.expect("saved");
    let relabelled = thread::UpdateRecordLink {
        profile: ALICE.to_owned(),
        thread_id: thread_id.clone(),
        relation_id: "link-walrus".to_owned(),
        relation_type: Some("refines".to_owned()),
        ..Default::default()
    };
    system.thread_update_record_link(&acme(), relabelled).await.expect("relabelled");
    let said = thread::NewMessage {
        role: "user".to_owned(),
        content: thread::Content::Text("The parking spot is 7".to_owned()),
        id: Some("msg-walrus".to_owned()),
        ..Default::default()
    };
    let said = thread::AddMessages {
        profile: ALICE.to_owned(),
        thread_id: thread_id.clone(),
        messages: vec![said],
        ttl_days: Some(OneOrEach::One(Some(1.0))),
        ..Default::default()
    };
    system.thread_add_messages(&acme(), said).await.expect("said");
    let names = ["mem-walrus", "link-walrus", "msg-walrus", "user-walrus"];
    let (before, of_it) = all_that_is_told(&system).await;
    assert!(names.iter().all(|name| before.contains(name)) && of_it > 0, "{before}");
    world.clock.forward(YEARS);
    let (after, of_it) = all_that_is_told(&system).await;
    assert!(!after.contains("walrus") && after.contains("mem-heron"), "{after}");
    assert_eq!((of_it, expired(&system).await), (0, 0), "and nothing is erased yet");
    world.clock.forward(-YEARS);
    let (again, _) = all_that_is_told(&system).await;
    assert!(names.iter().all(|name| again.contains(name)), "back with the clock: {again}");
    system.stop().await;
}

// A unit that restarts under a wrong clock, again and again, must not talk memlog into it.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_is_no_reason_to_believe_a_jump() {
    let world = world(600_000);
    let mut system = world.start().await;
    system.profile_remember(&acme(), for_a_day("The parking spot is 7")).await.expect("stored");
    world.clock.forward(YEARS);
    for turn in ["Ada", "Bob"] {
        system.profile_remember(&acme(), remember(&format!("{turn} wrote while it was wrong"))).await.expect("stored");
        system = world.restart(system).await;
        looked_after(&world, &system, [turn, &format!("{turn} again")]).await;
        assert_eq!(expired(&system).await, 0);
    }
    world.clock.forward(-YEARS);
    assert_eq!(shown(&system).await, 3);
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_back_leaves_ids_and_positions_in_order() {
    let world = world(600_000);
    let mut system = world.start().await;
    let first =
        system.profile_remember(&keyed("once"), remember("Said at first")).await.expect("stored").reply.memory.id;
    let mut ids = vec![first.clone()];
    for turn in 0..3 {
        for n in 0..3 {
            let said = remember(&format!("Said {n} in turn {turn}"));
            ids.push(system.profile_remember(&acme(), said).await.expect("stored").reply.memory.id);
        }
        // Hours, years, and a restart in between.
        world.clock.forward([-5 * 3_600_000_000, -YEARS, YEARS][turn]);
        if turn == 1 {
            system = world.restart(system).await;
        }
    }
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    let asked = audit::Events { limit: Some(500), ..audit::Events::default() };
    let events = system.audit_events(&acme(), asked).await.expect("told").reply.events;
    assert!(events.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    assert_eq!(shown(&system).await, ids.len());
    let again =
        system.profile_remember(&keyed("once"), remember("Said at first")).await.expect("again").reply.memory.id;
    assert_eq!(again, first, "hours before it was said it is still known");
    let verified = system.audit_verify(&acme(), audit::Verify::default()).await.expect("verified").reply;
    assert!(verified.ok, "{verified:?}");
    system.stop().await;
}
