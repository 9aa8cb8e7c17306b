//! How a command is sent, and what is heard.

mod space;
mod thread;

use memlog_actors::{
    api::{Context, Verb, job, profile, speaker},
    system::System,
};

use super::command::{Asked, Command, Heard, Ids, PROFILES, SESSIONS, SPEAKERS, Word, text};

/// The id of a record, also of one that is not known: then nothing has it.
fn record_id(ids: &Ids, word: Word) -> String {
    ids.records.get(&word).cloned().unwrap_or_else(|| format!("r{word}"))
}

async fn run<V: Verb>(system: &System, context: &Context, verb: V) -> Heard {
    let mut context = context.clone();
    if let Some(idempotency) = &mut context.idempotency {
        let body = serde_json::to_string(&verb).expect("JSON");
        idempotency.request = format!("{}.{} {body} {:?}", V::NOUN, V::VERB, context.caller).into();
    }
    let answer = verb.run(system, &context).await?;
    Ok((serde_json::to_value(answer.reply).expect("JSON"), answer.replayed))
}

fn said(role: &str, word: Word, who: Option<usize>) -> profile::Message {
    let speaker = who.map(|who| SPEAKERS[who].to_owned());
    profile::Message { role: role.to_owned(), content: text(word), speaker, ..Default::default() }
}

/// Sends it and waits for the answer.
pub(crate) async fn send(system: System, asked: Asked, ids: &Ids) -> Heard {
    let (context, command) = (asked.context(ids), asked.command);
    let (system, context) = (&system, &context);
    let profile = command.profile().map(|p| PROFILES[p].1.to_owned()).unwrap_or_default();
    match command {
        Command::AddSpeaker { who, .. } => {
            run(system, context, speaker::Add { profile, speaker: SPEAKERS[who].to_owned() }).await
        }
        Command::RemoveSpeaker { who, .. } => {
            run(system, context, speaker::Remove { profile, speaker: SPEAKERS[who].to_owned() }).await
        }
        Command::Remember { word, session, who, days, .. } => {
            let (content, speaker) = (text(word), who.map(|who| SPEAKERS[who].to_owned()));
            let (session_id, ttl_days) = (session.map(|at| SESSIONS[at].to_owned()), days.map(|days| days as f64));
            run(
                system,
                context,
                profile::Remember { profile, content, session_id, speaker, ttl_days, ..Default::default() },
            )
            .await
        }
        Command::Supersede { old, word, .. } => {
            let (memory_id, content) = (record_id(ids, old), text(word));
            run(system, context, profile::Supersede { profile, memory_id, content, ..Default::default() }).await
        }
        Command::Forget { word, .. } => {
            run(system, context, profile::Forget { profile, memory_id: record_id(ids, word) }).await
        }
        Command::Ingest { session, said: turns, .. } => {
            let messages = turns.into_iter().map(|(word, who)| said("user", word, who)).collect();
            let session_id = Some(SESSIONS[session].to_owned());
            run(system, context, profile::Ingest { profile, messages, session_id, ..Default::default() }).await
        }
        Command::AddTurn { session, words, .. } => {
            let [user, assistant] = words.map(text);
            let session_id = Some(SESSIONS[session].to_owned());
            run(system, context, profile::AddTurn { profile, user, assistant, session_id }).await
        }
        Command::DeleteSession { session, .. } => {
            let session_id = SESSIONS[session].to_owned();
            run(system, context, profile::DeleteSession { profile, session_id }).await
        }
        Command::Visit { .. } => run(system, context, profile::Get { profile, ..Default::default() }).await,
        Command::DeleteProfile { .. } => run(system, context, profile::Delete { profile }).await,
        Command::Retry { job, .. } => {
            let job_id = ids.jobs.get(&job).cloned().unwrap_or_default();
            run(system, context, job::Retry { job_id }).await
        }
        command if command.profile().is_none() => space::on_the_shelf(system, context, command, ids).await,
        command => thread::in_a_thread(system, context, profile, command, ids).await,
    }
}
