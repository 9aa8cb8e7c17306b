//! Ingest: what is new of a conversation is appended, and its extraction promised, in one batch.

use memlog_events::{
    batch::{Claim, Holder, ListKind, Listing, Outcome},
    code::RoleCode,
    event::{ByV1, Content, ExtractionRequestedV1, Facts, MessageAppendedContentV2, MessageAppendedV2},
    ids::{JobId, KeyPath, MessageId, Micros, Slot, SpeakerId},
};

use super::{Match, NewImage, Open, Thread, matched};
use crate::{
    domain::{Answered, Command, Decision, Fact, Inputs, Place, Rejection, by_alone, record::id_digest},
    limits::INGEST_MESSAGES_MAX,
};

/// A message that comes in.
#[derive(Clone, PartialEq, Debug)]
pub struct NewMessage {
    /// Who it is from.
    pub role: RoleCode,
    /// Whose words.
    pub speaker: Option<SpeakerId>,
    /// When it was said, if the client told.
    pub timestamp: Option<Micros>,
    /// How far the speaker's clock stood ahead of UTC. Not part of what makes two messages the same.
    pub offset_seconds: i32,
    /// Unreachable from here on.
    pub expires_at: Option<Micros>,
    /// What was said.
    pub content: MessageAppendedContentV2,
    /// The images among its parts.
    pub images: Vec<NewImage>,
}

impl NewMessage {
    fn known_by(&self, place: &Place, stream_slot: Slot, inputs: &dyn Inputs) -> Match {
        Match {
            digest: resend_digest(self, |parts| inputs.digest(stream_slot, parts)),
            id_digest: self.content.given_id.as_deref().map(|id| id_digest(place.scope_slot, id, inputs)),
        }
    }
}

/// What makes a message the same one when it is sent again: role, text, speaker and given timestamp, keyed by the caller.
pub fn resend_digest<T>(message: &NewMessage, keyed: impl FnOnce(&[&[u8]]) -> T) -> T {
    let speaker = message.speaker.map(|id| *id.0.as_bytes()).unwrap_or_default();
    let timestamp = message.timestamp.map_or([0; 9], |at| {
        let mut given = [1; 9];
        given[1..].copy_from_slice(&at.0.to_be_bytes());
        given
    });
    let role = message.content.custom_role.as_deref().unwrap_or_default();
    keyed(&[b"message", &[message.role.0], role.as_bytes(), &speaker, &timestamp, message.content.text.as_bytes()])
}

/// Whether a re-send is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Append {
    /// Only what the thread does not hold.
    News,
    /// All of it.
    All,
}

/// When memories are made from new messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extraction {
    /// Never.
    Off,
    /// From each batch.
    AtOnce,
    /// Once so many messages have come since the last time.
    Every(u32),
}

/// Takes a conversation in.
#[derive(Clone, PartialEq, Debug)]
pub struct Ingest {
    /// How the thread begins if it has not begun; none if it must have.
    pub open: Option<Open>,
    /// Keyed digest of the namespace, for the list of jobs.
    pub namespace_digest: [u8; 16],
    /// The messages, in order.
    pub messages: Vec<NewMessage>,
    /// Whether a re-send is looked for.
    pub append: Append,
    /// When memories are made from them.
    pub extraction: Extraction,
    /// Who sends them.
    pub by: ByV1,
}

/// What became of the messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ingested {
    /// Of all messages sent, in order, stored now or before.
    pub messages: Vec<MessageId>,
    /// How many were stored now.
    pub accepted: u64,
    /// The extraction, if anything was stored.
    pub job: Option<JobId>,
}

impl Answered for Ingested {
    fn outcome(&self) -> Outcome {
        let ids = self.messages.iter().map(|id| id.0).chain(self.job.map(|job| job.0));
        Outcome { ids: ids.collect(), numbers: vec![self.accepted, u64::from(self.job.is_some())] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        let [accepted, has_job] = outcome.numbers.as_slice() else {
            return None;
        };
        let mut ids = outcome.ids.clone();
        let job = if *has_job == 1 { Some(JobId(ids.pop()?)) } else { None };
        Some(Self { messages: ids.into_iter().map(MessageId).collect(), accepted: *accepted, job })
    }
}

impl Command<Thread> for Ingest {
    type Answer = Ingested;

    fn decide(&self, state: &Thread, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Ingested>, Rejection> {
        if state.deleted {
            return Err(Rejection::Gone);
        }
        let (mut decision, stream_slot) = match state.slot {
            Some(slot) => (Decision::nothing(()), slot),
            None => self.open.as_ref().ok_or(Rejection::Gone)?.begin(place, inputs),
        };
        let incoming: Vec<_> = self.messages.iter().map(|m| m.known_by(place, stream_slot, inputs)).collect();
        let known = match self.append {
            Append::News => matched(&state.messages, &incoming),
            Append::All => vec![None; incoming.len()],
        };
        let mut ids = Vec::with_capacity(known.len());
        let mut new = Vec::new();
        for ((message, by_what), known) in self.messages.iter().zip(&incoming).zip(known) {
            let id = known.unwrap_or_else(|| MessageId(inputs.uuid()));
            ids.push(id);
            if known.is_none() {
                let ordinal = (state.messages.len() + new.len()) as u32;
                new.push(id);
                message.appended(id, ordinal, by_what, stream_slot, place, inputs, &mut decision);
            }
        }
        let due = self.due(&new, state, inputs);
        let job = request(&due, self.namespace_digest, &self.by, stream_slot, place, inputs, &mut decision);
        let Decision { events, claims, listed, .. } = decision;
        let answer = Ingested { messages: ids, accepted: new.len() as u64, job };
        Ok(Decision { events, claims, listed, answer })
    }
}

impl Ingest {
    /// The messages to extract from now: those that came since the last time, if they are enough.
    fn due(&self, new: &[MessageId], state: &Thread, inputs: &dyn Inputs) -> Vec<MessageId> {
        let enough = match self.extraction {
            Extraction::Off => return Vec::new(),
            Extraction::AtOnce => 1,
            Extraction::Every(enough) => enough as usize,
        };
        let waiting = state.messages.get(state.unasked as usize..).unwrap_or_default();
        let waiting = waiting.iter().filter(|message| state.living(message.id, inputs.now()).is_some());
        let due: Vec<_> = waiting.map(|message| message.id).chain(new.iter().copied()).collect();
        if due.len() < enough || new.is_empty() { Vec::new() } else { due }
    }
}

/// Promises the extraction of these messages, in jobs of a size that a worker can be sent; the last of them, which is done last.
pub(super) fn request(
    messages: &[MessageId],
    namespace: [u8; 16],
    by: &ByV1,
    stream_slot: Slot,
    place: &Place,
    inputs: &mut dyn Inputs,
    decision: &mut Decision<()>,
) -> Option<JobId> {
    let some = messages.chunks(INGEST_MESSAGES_MAX);
    some.map(|some| request_one(some, namespace, by, stream_slot, place, inputs, decision)).last()
}

fn request_one(
    messages: &[MessageId],
    namespace: [u8; 16],
    by: &ByV1,
    stream_slot: Slot,
    place: &Place,
    inputs: &mut dyn Inputs,
    decision: &mut Decision<()>,
) -> JobId {
    let job = JobId(inputs.uuid());
    let facts = Facts::ExtractionRequested(ExtractionRequestedV1 { job, messages: messages.to_vec() });
    decision.events.push(Fact { facts, content: by_alone(by, place, stream_slot) });
    let keys = KeyPath { scope: place.scope_slot, stream: stream_slot, subject: Slot::NONE };
    decision.listed.push(Listing { namespace, kind: ListKind::Jobs, id: job.0, stream: place.key, keys });
    job
}

impl NewMessage {
    #[allow(clippy::too_many_arguments, reason = "all that one event and its claim are made of, used in one place")]
    fn appended(
        &self,
        message: MessageId,
        ordinal: u32,
        by_what: &Match,
        stream_slot: Slot,
        place: &Place,
        inputs: &mut dyn Inputs,
        decision: &mut Decision<()>,
    ) {
        let slot = inputs.slot();
        let keys = KeyPath { scope: place.scope_slot, stream: stream_slot, subject: slot };
        if let Some(digest) = by_what.id_digest {
            decision.claims.push(Claim::Take(digest, Holder { stream: place.key, id: message.0, keys }));
        }
        let facts = MessageAppendedV2 {
            message,
            slot,
            ordinal,
            role: self.role,
            digest: by_what.digest,
            id_digest: by_what.id_digest,
            speaker: self.speaker,
            timestamp: self.timestamp,
            offset_seconds: self.offset_seconds,
            expires_at: self.expires_at,
        };
        let content = Some((Content::MessageAppended(self.content.clone()), keys));
        decision.events.push(Fact { facts: Facts::MessageAppended(facts), content });
        for image in &self.images {
            image.added(Some(message), self.expires_at, stream_slot, place, inputs, decision);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        record::{Forget, NewRecord, Remember},
        testing::*,
    };

    #[test]
    fn a_first_conversation_opens_the_thread_and_promises_extraction() {
        let mut given = Story::<Thread>::new();
        let answer = given.do_(ingest("trip", &["hello", "I live in Lisbon"]));
        assert_eq!(given.names(), ["thread_created", "message_appended", "message_appended", "extraction_requested"]);
        assert_eq!((answer.accepted, answer.messages.len(), answer.job.is_some()), (2, 2, true));
    }

    #[test]
    fn sent_again_it_changes_nothing_and_grown_it_appends_the_end() {
        let mut given = Story::<Thread>::new();
        let first = given.do_(ingest("trip", &["a", "b"]));
        let again = given.do_(ingest("trip", &["a", "b"]));
        assert_eq!((again.accepted, again.job, &again.messages), (0, None, &first.messages));
        let grown = given.do_(ingest("trip", &["a", "b", "c"]));
        assert_eq!((grown.accepted, &grown.messages[..2]), (1, &first.messages[..]));
    }

    // What was forgotten in a living session keeps its place, or the next full re-send would bring its text back.
    #[test]
    fn a_forgotten_message_is_not_restored_by_a_resend() {
        let mut given = Story::<Thread>::new();
        let first = given.do_(ingest("trip", &["a", "b"]));
        let sources = vec![first.messages[0]];
        let record = given.do_(Remember { open: None, record: NewRecord { sources, ..record("a fact") } }).record;
        given.do_(Forget { record, holds: true, by: ByV1::default() });
        assert_eq!(given.do_(ingest("trip", &["a", "b"])).accepted, 0);
    }

    // A model that reads ten messages at once costs a tenth of one that reads each.
    #[test]
    fn extraction_waits_until_enough_has_come() {
        let every =
            |texts: &[&str]| Ingest { append: Append::All, extraction: Extraction::Every(3), ..ingest("trip", texts) };
        let mut given = Story::<Thread>::new();
        assert_eq!(given.do_(every(&["a", "b"])).job, None);
        let second = given.do_(every(&["c", "d"]));
        assert_eq!(given.state.jobs[&second.job.expect("enough")].1.len(), 4);
        assert_eq!(given.do_(every(&["e"])).job, None);
        let never = Ingest { extraction: Extraction::Off, ..every(&["f", "g", "h"]) };
        assert_eq!(given.do_(never).job, None);
        // What waits is not passed over by whoever does not wait.
        let at_once = given.do_(Ingest { extraction: Extraction::AtOnce, ..every(&["i"]) });
        assert_eq!(given.state.jobs[&at_once.job.expect("at once")].1.len(), 5);
    }

    // A job must fit into one message to a worker, however much has come together.
    #[test]
    fn what_waits_is_asked_for_in_jobs_of_a_bounded_size() {
        let mut given = Story::<Thread>::new();
        let texts: Vec<String> = (0..INGEST_MESSAGES_MAX).map(|n| n.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let every = |texts: &[&str]| Ingest {
            append: Append::All,
            extraction: Extraction::Every(INGEST_MESSAGES_MAX as u32),
            ..ingest("trip", texts)
        };
        assert_eq!(given.do_(every(&texts[1..])).job, None);
        let last = given.do_(every(&texts)).job.expect("enough");
        let sizes: Vec<usize> = given.state.jobs.values().map(|job| job.1.len()).collect();
        assert_eq!((sizes, given.state.jobs[&last].1.len()), (vec![500, 499], 499));
    }

    #[test]
    fn a_turn_is_always_appended() {
        let mut given = Story::<Thread>::new();
        given.do_(ingest("trip", &["ok", "ok"]));
        let turn = Ingest { append: Append::All, ..ingest("trip", &["ok", "ok"]) };
        assert_eq!(given.do_(turn).accepted, 2);
    }
}
