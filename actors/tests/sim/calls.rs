//! How calls go out and what is heard of them.

use memlog_actors::{
    port::{Desk, ExtractFailed, Finding},
    system::System,
};
use memlog_events::ids::JobId;

use super::{
    command::{Heard, Ids, Word, word_of},
    plan::{Call, How},
    ports::found_in,
    send::send,
};

/// What a worker heard.
#[derive(Clone, Debug)]
pub(crate) enum Worked {
    /// The job needs no work.
    Moot,
    /// The node did not answer; before or after it had done what it was asked.
    Closed(Option<Vec<Word>>),
    /// The worker did with these messages what it meant to.
    Did(Vec<Word>),
    /// It keeps the result.
    Holds(JobId, Finding, Vec<Word>),
}

/// What came of a call.
#[derive(Clone, Debug)]
pub(crate) enum Answered {
    Client(Heard),
    Worker(Worked),
}

/// A result that was kept back.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) job: JobId,
    pub(crate) finding: Finding,
    pub(crate) words: Vec<Word>,
}

pub(crate) async fn make(system: System, call: Call, ids: &Ids, kept: Option<Kept>) -> Answered {
    match call {
        Call::Client(asked) => Answered::Client(send(system, asked, ids).await),
        Call::Worker { job, how } => Answered::Worker(work(&system, job, how).await),
        Call::Late(_) => {
            let Some(Kept { job, finding, words }) = kept else { return Answered::Worker(Worked::Moot) };
            let left = system.complete(job, finding).await;
            Answered::Worker(if left.is_ok() { Worked::Did(words) } else { Worked::Closed(Some(words)) })
        }
    }
}

async fn work(system: &System, job: JobId, how: How) -> Worked {
    let assignment = match system.fetch(job).await {
        Ok(Some(assignment)) => assignment,
        Ok(None) => return Worked::Moot,
        Err(_) => return Worked::Closed(None),
    };
    let words: Vec<Word> = assignment.work.turns.iter().filter_map(|turn| word_of(&turn.text)).collect();
    let finding = found_in(&assignment);
    let done = match how {
        How::Hold => return Worked::Holds(job, finding, words),
        How::Lost => Ok(()),
        How::Whole => system.complete(job, finding).await,
        How::Twice => {
            let (first, second) = tokio::join!(system.complete(job, finding.clone()), system.complete(job, finding));
            first.and(second)
        }
        How::Transient => system.fail(job, ExtractFailed::transient("away")).await.map(drop),
        How::Lasting => system.fail(job, ExtractFailed::lasting("refused")).await.map(drop),
        How::Malformed => {
            let mut finding = finding;
            finding.extracted.iter_mut().for_each(|it| it.sources = vec![usize::MAX]);
            // Where nothing is found there is nothing to be wrong.
            finding.extracted.extend((finding.messages.is_empty()).then(|| memlog_actors::port::Extracted {
                record_type: memlog_actors::port::RecordType::Fact,
                content: " ".to_owned(),
                summary: String::new(),
                timestamp: None,
                sources: Vec::new(),
                corrects: None,
            }));
            system.complete(job, finding).await
        }
    };
    if done.is_ok() { Worked::Did(words) } else { Worked::Closed(Some(words)) }
}
