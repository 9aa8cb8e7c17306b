//! Idempotent repeats: the first answer again, nothing appended, whatever has gone since, also after a restart.

use memlog_actors::{
    api::{
        Answer, Error, agent,
        error::Kind,
        job, note,
        profile::*,
        record::Record,
        speaker,
        thread::{AddMemory, UpdateMemory},
        trash,
    },
    system::System,
};

use super::{
    threads::{changing, create, memory},
    world::*,
};

/// Answers to one round of every command, each under its own key.
#[derive(Debug, PartialEq)]
struct Round {
    got: Got,
    stored: Remembered,
    ingested: Ingested,
    turn: Ingested,
    superseded: OneMemory,
    added: speaker::Added,
    replayed: bool,
}

fn taken<T>(answer: Result<Answer<T>, Error>, replayed: &mut bool) -> T {
    let answer = answer.expect("answered");
    *replayed &= answer.replayed;
    answer.reply
}

fn supersede(id: &str) -> Supersede {
    let (profile, memory_id) = (ALICE.to_owned(), id.to_owned());
    Supersede { profile, memory_id, content: "Lives in Lisbon".to_owned(), ..Supersede::default() }
}

async fn round(system: &System, old: &str) -> Round {
    let mut replayed = true;
    let with_id = Message { id: Some("m-1".to_owned()), ..message("user", "I have a cat") };
    let get = Get { profile: ALICE.to_owned(), as_of: None };
    let turn = AddTurn {
        profile: ALICE.to_owned(),
        user: "hello".to_owned(),
        assistant: "hi".to_owned(),
        session_id: Some("turns".to_owned()),
    };
    let add = speaker::Add { profile: ALICE.to_owned(), speaker: "Bob".to_owned() };
    Round {
        got: taken(system.profile_get(&keyed("get"), get).await, &mut replayed),
        stored: taken(system.profile_remember(&keyed("remember"), remember("Runs on Sundays")).await, &mut replayed),
        ingested: taken(
            system.profile_ingest(&keyed("ingest"), ingest(Some("trip"), vec![with_id])).await,
            &mut replayed,
        ),
        turn: taken(system.profile_add_turn(&keyed("turn"), turn).await, &mut replayed),
        superseded: taken(system.profile_supersede(&keyed("supersede"), supersede(old)).await, &mut replayed),
        added: taken(system.speaker_add(&keyed("add"), add).await, &mut replayed),
        replayed,
    }
}

// The same answers word for word, though the profile has changed since, and also from another process.
#[tokio::test(flavor = "multi_thread")]
async fn every_command_is_answered_again_word_for_word() {
    let world = World::new();
    let system = world.start().await;
    let old = system.profile_remember(&acme(), remember("Lives in Porto")).await.expect("stored").reply.memory.id;
    let first = round(&system, &old).await;
    assert!(!first.replayed);
    system.profile_remember(&acme(), remember("Something else")).await.expect("stored");
    // What the first round queued must have left its events: they would look like a repeat's.
    let wait = Wait { profile: ALICE.to_owned(), ..Wait::default() };
    system.profile_wait(&acme(), wait).await.expect("done");
    let head = system.health().seq;
    let again = round(&system, &old).await;
    assert_eq!(again, Round { replayed: true, ..round(&system, &old).await });
    assert_eq!(Round { replayed: false, ..again }, first);
    let system = world.restart(system).await;
    assert_eq!(Round { replayed: false, ..round(&system, &old).await }, first);
    assert_eq!(system.health().seq, head, "a repeat appends nothing");
    system.stop().await;
}

// Forgotten, with its session deleted, or with the whole profile gone and another of that name begun: a repeat is still
// answered, in the names that the client knows, without a word of what is gone, and changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_after_everything_is_gone_is_still_answered() {
    let world = World::new();
    let system = world.start().await;
    let old = system.profile_remember(&acme(), remember("Lives in Porto")).await.expect("stored").reply.memory.id;
    let first = round(&system, &old).await;
    let remove = speaker::Remove { profile: ALICE.to_owned(), speaker: "Bob".to_owned() };
    system.speaker_remove(&keyed("remove"), remove.clone()).await.expect("removed");
    let gone = first.stored.memory.id.clone();
    system.profile_forget(&keyed("forget"), forget(&gone)).await.expect("forgotten");
    system.profile_delete_session(&keyed("session"), delete_session("trip")).await.expect("deleted");
    for stage in ["forgotten", "deleted", "begun again"] {
        match stage {
            "deleted" => drop(system.profile_delete(&keyed("delete"), delete()).await.expect("deleted")),
            "begun again" => drop(system.profile_remember(&acme(), remember("A new life")).await.expect("stored")),
            _ => {}
        }
        let head = system.health().seq;
        let again = round(&system, &old).await;
        assert!(again.replayed, "{stage}");
        let (memory, was) = (&again.stored.memory, &first.stored.memory);
        assert_eq!((&memory.id, &memory.content, &memory.summary), (&was.id, &Some(None), &None), "{stage}");
        assert_eq!(again.ingested.message_ids, ["m-1"], "{stage}");
        assert_eq!((&again.ingested.session_id[..], &again.turn.session_id[..]), ("trip", "turns"), "{stage}");
        assert_eq!(again.turn.message_ids, first.turn.message_ids, "{stage}");
        assert_eq!(again.superseded.memory.id, first.superseded.memory.id, "{stage}");
        assert_eq!(again.added.speaker.speaker, "Bob", "{stage}");
        let forgot = system.profile_forget(&keyed("forget"), forget(&gone)).await.expect("again");
        assert!(forgot.replayed && forgot.reply.memory.content == Some(None), "{stage}");
        assert!(system.speaker_remove(&keyed("remove"), remove.clone()).await.expect("again").replayed);
        assert!(
            system.profile_delete_session(&keyed("session"), delete_session("trip")).await.expect("again").replayed
        );
        assert_eq!(system.health().seq, head, "{stage}");
    }
    assert!(system.profile_delete(&keyed("delete"), delete()).await.expect("again").replayed);
    let listed = system.profile_memories(&acme(), list()).await.expect("the new one stays").reply.memories;
    assert_eq!(listed.len(), 1);
    system.stop().await;
}

// An id that the client gave goes with its record; a repeat of the forgetting names it all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_forgetting_is_answered_again_in_the_clients_names() {
    let world = World::new();
    let system = world.start().await;
    create(&system).await;
    system.thread_add_memory(&acme(), memory("mine", "Lives in Porto")).await.expect("stored");
    for replayed in [false, true] {
        let forgot = system.profile_forget(&keyed("forget"), forget("mine")).await.expect("forgotten");
        assert_eq!((forgot.replayed, &forgot.reply.memory.id[..]), (replayed, "mine"));
    }
    system.stop().await;
}

// An id that memlog gave may be asked for in any spelling; the first answer names it in one, and so does the second.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_spells_an_id_as_the_first_answer_did() {
    let world = World::new();
    let system = world.start().await;
    create(&system).await;
    let new = AddMemory { memory_id: None, ..memory("", "Lives in Porto") };
    let id = system.thread_add_memory(&acme(), new).await.expect("stored").reply.memory.id;
    let spellings: [fn(&str) -> String; 4] =
        [str::to_owned, str::to_uppercase, |id| id.replace('-', ""), |id| format!("{{{id}}}")];
    for spelt in spellings {
        let asked = spelt(&id);
        let change = UpdateMemory { content: Some(format!("Lives at {asked}")), ..changing(&asked) };
        let first = system.thread_update_memory(&keyed(&asked), change.clone()).await.expect("changed");
        let again = system.thread_update_memory(&keyed(&asked), change).await.expect("again");
        assert_eq!((first.replayed, again.replayed), (false, true), "{asked}");
        assert_eq!((&first.reply.memory.id, &first.reply), (&id, &again.reply), "{asked}");
    }
    for spelt in spellings {
        let stored = system.profile_remember(&acme(), remember("Runs on Sundays")).await.expect("stored");
        let id = stored.reply.memory.id;
        let asked = spelt(&id);
        let first = system.profile_forget(&keyed(&asked), forget(&asked)).await.expect("forgotten");
        let again = system.profile_forget(&keyed(&asked), forget(&asked)).await.expect("again");
        assert_eq!((first.replayed, again.replayed), (false, true), "{asked}");
        assert_eq!((&first.reply.memory.id, &again.reply.memory.id), (&id, &id), "{asked}");
    }
    system.stop().await;
}

// A deletion that found nothing was carried out all the same: its repeat must not delete what came later.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_of_nothing_is_not_carried_out_later() {
    let world = World::new();
    let system = world.start().await;
    system.profile_delete(&keyed("profile"), delete()).await.expect("nothing there");
    system.profile_delete_session(&keyed("early"), delete_session("trip")).await.expect("nothing there");
    system.profile_remember(&acme(), remember("Lives in Porto")).await.expect("stored");
    system.profile_delete_session(&keyed("late"), delete_session("trip")).await.expect("nothing there");
    let in_trip = Remember { session_id: Some("trip".to_owned()), ..remember("Packs light") };
    system.profile_remember(&acme(), in_trip).await.expect("stored");
    let system = world.restart(system).await;
    assert!(system.profile_delete(&keyed("profile"), delete()).await.expect("again").replayed);
    for key in ["early", "late"] {
        assert!(system.profile_delete_session(&keyed(key), delete_session("trip")).await.expect("again").replayed);
    }
    assert_eq!(system.profile_memories(&acme(), list()).await.expect("listed").reply.memories.len(), 2);
    system.stop().await;
}

// What has expired is not shown by a repeat, before it is erased as well as after.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_shows_nothing_of_what_has_expired() {
    let world = World::new();
    let system = world.start().await;
    let metadata = serde_json::json!({"where": "spot 7"}).as_object().cloned();
    let request = Remember { ttl_days: Some(1.0), metadata, ..remember("Parks at spot 7") };
    system.profile_remember(&keyed("park"), request.clone()).await.expect("stored");
    // The time to live began a few looks at the clock before the 24 hours of the key: between their ends the record is over
    // and its repeat is still known. Each repeat looks at the clock, so this walks through that moment.
    world.clock.forward(DAY_MICROS - 40);
    loop {
        let again = system.profile_remember(&keyed("park"), request.clone()).await.expect("answered");
        if !again.replayed {
            break;
        }
        let memory = again.reply.memory;
        if memory.content == Some(None) {
            assert!(memory.metadata.is_empty() && memory.summary.is_none(), "{memory:?}");
        }
    }
    system.stop().await;
}

// Failures are not kept: the same key works once its cause is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_not_kept() {
    let world = World::new();
    let system = world.start().await;
    let bob = Remember { speaker: Some("Bob".to_owned()), ..remember("Likes tea") };
    let refused = system.profile_remember(&keyed("bob"), bob.clone()).await.expect_err("unregistered");
    assert_eq!((refused.kind, refused.fields["speaker"].as_str()), (Kind::InvalidRequest, Some("Bob")));
    let with_bob = Message { speaker: Some("Bob".to_owned()), ..message("user", "I like tea") };
    let refused = system.profile_ingest(&acme(), ingest(None, vec![with_bob])).await.expect_err("unregistered");
    assert_eq!(refused.fields["speaker"].as_str(), Some("Bob"));
    let listed = system.profile_list(&acme(), List::default()).await.expect("listed").reply;
    assert!(listed.profiles.is_empty(), "a refused write has stored nothing, no profile either");
    let add = speaker::Add { profile: ALICE.to_owned(), speaker: "Bob".to_owned() };
    system.speaker_add(&acme(), add).await.expect("added");
    assert!(!system.profile_remember(&keyed("bob"), bob).await.expect("stored").replayed);
    system.stop().await;
}

// A retry under a key: asked again after the job is done, or gone with its session, it is not tried once more.
#[tokio::test(flavor = "multi_thread")]
async fn a_retry_is_not_repeated() {
    let mut world = World::new();
    world.extractor = std::sync::Arc::new(OneEach { failures: 1.into(), finally: true });
    let system = world.start().await;
    let request = ingest(Some("trip"), vec![message("user", "I have a cat")]);
    let reply = system.profile_ingest(&acme(), request).await.expect("ingested").reply;
    let job_id = reply.job_id.expect("a job");
    assert_eq!(reply.job_state, Some(job::State::Failed));
    let retry = job::Retry { job_id: job_id.clone() };
    let first = system.job_retry(&keyed("retry"), retry.clone()).await.expect("queued").reply.job;
    let wait = Wait { profile: ALICE.to_owned(), job_id: Some(job_id.clone()), timeout_s: None };
    system.profile_wait(&acme(), wait).await.expect("done");
    let again = system.job_retry(&keyed("retry"), retry.clone()).await.expect("again");
    assert!(again.replayed);
    assert_eq!((&again.reply.job.job_id, again.reply.job.state), (&first.job_id, job::State::Queued));
    let error = system.job_retry(&acme(), retry.clone()).await.expect_err("not failed");
    assert_eq!(error.kind, Kind::Conflict);
    system.profile_delete_session(&acme(), delete_session("trip")).await.expect("deleted");
    assert!(system.job_retry(&keyed("retry"), retry.clone()).await.expect("again").replayed);
    assert_eq!(system.job_retry(&acme(), retry).await.expect_err("gone").kind, Kind::NotFound);
    system.stop().await;
}

// A memory made from messages goes together with them, in one batch: the repeat is as of before all of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_of_forgetting_what_was_made_of_messages_hides_texts_and_invents_nothing() {
    let world = World::new();
    let system = world.start().await;
    system.profile_ingest(&acme(), ingest(Some("trip"), vec![message("user", "I have a cat")])).await.expect("stored");
    let wait = Wait { profile: ALICE.to_owned(), ..Wait::default() };
    system.profile_wait(&acme(), wait).await.expect("done");
    let made = system.profile_memories(&acme(), list()).await.expect("listed").reply.memories;
    let forget = forget(&made[0].id);
    let first = system.profile_forget(&keyed("forget"), forget.clone()).await.expect("forgotten").reply.memory;
    let again = system.profile_forget(&keyed("forget"), forget).await.expect("forgotten");
    let hidden = Record { summary: None, content: Some(None), sources: Vec::new(), ..first };
    assert_eq!((again.replayed, again.reply.memory), (true, hidden));
    system.stop().await;
}

// The id of an agent's own memory is no text: a client that asks again must get it even when agent and memory are gone for good.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_still_names_an_agents_own_memory_when_both_are_erased() {
    let world = World::new();
    let system = world.start().await;
    let create = agent::Create { name: "support".to_owned(), ..agent::Create::default() };
    let first = system.agent_create(&keyed("create"), create.clone()).await.expect("created").reply.agent;
    let update = agent::Update { id: first.id.clone(), memories: Some(Vec::new()), ..agent::Update::default() };
    system.agent_update(&keyed("update"), update.clone()).await.expect("updated");
    system.agent_delete(&acme(), agent::Delete { id: first.id.clone() }).await.expect("deleted");
    system.trash_purge(&acme(), trash::Purge { id: first.memory_id.clone() }).await.expect("purged");
    let system = world.restart(system).await;
    let created = system.agent_create(&keyed("create"), create).await.expect("again");
    let updated = system.agent_update(&keyed("update"), update).await.expect("again");
    for again in [created, updated] {
        assert!(again.replayed);
        let again = again.reply.agent;
        assert_eq!((&again.id, &again.memory_id), (&first.id, &first.memory_id));
    }
    system.stop().await;
}

// An agent that connects again because the answer was lost is told of as many notes as at first, whatever became of them.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_told_of_as_many_notes_again() {
    let world = World::new();
    let mut system = world.start().await;
    let save = |name: &str| note::MemorySave {
        name: Some(name.to_owned()),
        body: Some("<p>Read this</p>".to_owned()),
        kind_key: Some("kCritical".to_owned()),
        ..Default::default()
    };
    let first = system.note_memory_save(&acme(), save("first")).await.expect("saved").reply.note;
    let connect = async |system: &System| {
        let answer = system.note_session_connect(&keyed("hello"), note::SessionConnect {}).await.expect("connected");
        (answer.reply, answer.replayed)
    };
    let (told, _) = connect(&system).await;
    assert_eq!(told.critical, 1);
    system.note_memory_save(&acme(), save("second")).await.expect("saved");
    assert_eq!(connect(&system).await, (told.clone(), true));
    system.note_memory_remove(&acme(), note::MemoryRemove { id: first.note.id }).await.expect("removed");
    system = world.restart(system).await;
    assert_eq!(connect(&system).await, (told, true));
    system.stop().await;
}
