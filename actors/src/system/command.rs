//! What all commands share: idempotency, and how a failure below becomes an error of the API.

use memlog_events::{
    batch::Remembered,
    ids::{Micros, Partition, Position, Scope, Slot, StreamKey},
};

use super::{
    System,
    gate::Pass,
    lookup::{RETRY_MS, broken},
};
use crate::{
    api::{Context, Error, error::Kind},
    domain::{Aggregate, Answered, Command, Decision, Inputs, Place, Rejection},
    entity::{Failure, Key},
};

/// A command's idempotency while it is carried out.
pub(crate) struct Once<'a> {
    /// What the row is written under, if the client gave a key.
    pub(crate) key: Option<Key>,
    // Twins wait for it.
    _pass: Option<Pass<'a, memlog_events::ids::Digest>>,
}

/// An answer given before, and what it is true for.
pub(crate) struct Before<T> {
    /// The answer.
    pub(crate) answer: T,
    /// Where the first command's batch went.
    pub(crate) at: Position,
    /// When.
    pub(crate) time: Micros,
}

/// Whether a command is carried out or was already.
pub(crate) enum Begun<'a, T> {
    /// It is to be carried out.
    Now(Once<'a>),
    /// It was.
    Before(Before<T>),
}

impl System {
    /// Finds whether the client's key was used before; another command under the same key is a conflict.
    pub(crate) async fn begin<T: Answered>(&self, context: &Context) -> Result<Begun<'_, T>, Error> {
        let Some(idempotency) = &context.idempotency else { return Ok(Begun::Now(Once { key: None, _pass: None })) };
        let log = &self.inner.environment.log;
        let namespace = context.namespace.as_bytes();
        let key = log.digest_names(&[b"command", namespace, idempotency.key.as_bytes()]);
        let request = log.digest_names(&[b"request", namespace, &idempotency.request]);
        let pass = self.inner.keys.enter(key).await;
        // A clock that jumped ahead has not let a day go by.
        match log.remembered(key, self.inner.environment.believed()).map_err(broken)? {
            Some(remembered) => Ok(Begun::Before(again(&remembered, request)?)),
            None => Ok(Begun::Now(Once { key: Some(Key { key, request }), _pass: Some(pass) })),
        }
    }

    /// Writes down that a command was answered which had nothing to do and no stream to do it in: a repeat must do nothing
    /// again, whatever is there by then.
    pub(crate) async fn nothing_to_do(&self, once: &Once<'_>) -> Result<(), Error> {
        if once.key.is_none() {
            return Ok(());
        }
        let scope = Scope(self.inner.environment.uuid());
        let key = StreamKey { partition: Partition(0), scope, stream: scope.own_stream() };
        let place = Place { key, scope_slot: Slot::NONE };
        self.inner.profiles.execute(place, Note(()), once.key).await.map_err(refused)?;
        Ok(())
    }

    /// Now.
    pub(crate) fn now(&self) -> Micros {
        self.inner.environment.now()
    }
}

fn again<T: Answered>(remembered: &Remembered, request: memlog_events::ids::Digest) -> Result<Before<T>, Error> {
    let answer = T::from_outcome(&remembered.row.outcome).filter(|_| remembered.row.request == request);
    match answer {
        Some(answer) => Ok(Before { answer, at: remembered.committed.last, time: remembered.row.time }),
        None => Err(Error::new(Kind::Conflict, "this Nats-Msg-Id came with another subject, body or caller before")
            .with("field", "Nats-Msg-Id")),
    }
}

/// Writes down an answer that changes nothing, so that a repeat of the command gets it again.
#[derive(Clone, Debug)]
pub(crate) struct Note<T>(pub(crate) T);

impl<A: Aggregate, T: Answered> Command<A> for Note<T> {
    type Answer = T;

    fn decide(&self, _: &A, _: &Place, _: &mut dyn Inputs) -> Result<Decision<T>, Rejection> {
        Ok(Decision::nothing(self.0.clone()))
    }
}

/// A failure that means the same for every command. What is particular to one is handled before.
pub(crate) fn refused(failure: Failure) -> Error {
    match failure {
        Failure::Rejected(Rejection::Gone) => super::lookup::gone(),
        Failure::Rejected(Rejection::NoRecord) => Error::new(Kind::NotFound, "no such memory"),
        Failure::Rejected(Rejection::Superseded(by)) => {
            let error = Error::new(Kind::Conflict, "the memory does not hold any more");
            by.into_iter().fold(error, |error, by| error.with("superseded_by", by.to_string()))
        }
        Failure::Rejected(Rejection::IdTaken(id)) => Error::taken("id", id.to_string()),
        Failure::Taken(holder) => Error::taken("id", holder.id.to_string()),
        Failure::Rejected(Rejection::SpeakerLimit(limit)) => {
            let message = format!("this profile already has {limit} registered speakers; remove one first");
            Error::invalid("speaker", message).with("speaker_limit", limit)
        }
        Failure::Rejected(Rejection::NoSpeaker) => Error::new(Kind::NotFound, "no such speaker"),
        Failure::Rejected(Rejection::NoJob) => Error::new(Kind::NotFound, "no such job"),
        Failure::Rejected(Rejection::NotFailed) => {
            Error::new(Kind::Conflict, "only a failed job can be tried again").with("field", "job_id")
        }
        Failure::Rejected(Rejection::NoMessage) => Error::new(Kind::NotFound, "no such message"),
        Failure::Rejected(Rejection::NoImage) => Error::new(Kind::NotFound, "no such image"),
        Failure::Rejected(Rejection::Attached(message)) => {
            Error::new(Kind::Conflict, "the image is part of a message; change or delete that")
                .with("attached_to", message.to_string())
        }
        Failure::Rejected(Rejection::AlreadyLinked(relation)) => Error::taken("relation_id", relation.to_string()),
        Failure::Rejected(Rejection::LinkedToItself) => {
            Error::invalid("target_record_id", "a record cannot be linked to itself")
        }
        Failure::Rejected(
            rejection @ (Rejection::NoMemory
            | Rejection::NoAgent
            | Rejection::NoEntry
            | Rejection::NameTaken(_)
            | Rejection::VersionMoved(_)
            | Rejection::NotDescribed
            | Rejection::AttachedBy(_)
            | Rejection::OwnMemory(_)
            | Rejection::NotYours),
        ) => super::notebooks::refused(&rejection),
        Failure::Rejected(
            rejection @ (Rejection::NoNote
            | Rejection::NotesHeld
            | Rejection::NoKind
            | Rejection::KindTaken
            | Rejection::TooManyKinds
            | Rejection::Misplaced(_)
            | Rejection::NoSession),
        ) => super::notes::refused(&rejection),
        Failure::Replayed(_) => {
            Error::unavailable("a command with the same Nats-Msg-Id was carried out at the same moment", RETRY_MS)
        }
        Failure::TooLarge(reason) => Error::invalid("messages", format!("too much for one batch: {reason}")),
        Failure::Unavailable(reason) => Error::unavailable(reason, RETRY_MS),
    }
}
