//! From names to places: which stream is meant, and whether it is there.

use std::sync::{Mutex, MutexGuard, PoisonError};

use memlog_events::{
    batch::Holder,
    event::{ByV1, Facts},
    ids::{Digest, PARTITIONS, Partition, Scope, StreamId, StreamKey, Version},
    log::{self, Log, Stored},
};
use uuid::Uuid;

use super::{Inner, System};
use crate::{
    api::{Context, Error},
    domain::{Place, profile},
    entity::Failure,
};

/// Locks, also after a panic elsewhere: what these locks guard is whole between statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The event that an event's scope began with. It tells whose the scope is.
pub(crate) fn first_of_scope(log: &Log, event: &Stored) -> Result<Option<Stored>, log::Error> {
    let key = event.head.key;
    log.at(StreamKey { stream: key.scope.own_stream(), ..key }, Version(1))
}

/// The digest of the namespace in which a scope began with this.
pub(crate) fn namespace_begun(first: &Facts) -> Option<[u8; 16]> {
    match first {
        Facts::ProfileCreated(e) => Some(e.namespace),
        Facts::RegistryCreated(e) => Some(e.namespace),
        _ => None,
    }
}

/// The place of a stream whose name is held.
pub(crate) fn place_of(holder: &Holder) -> Place {
    Place { key: holder.stream, scope_slot: holder.keys.scope }
}

/// Who calls, as events remember it.
pub(crate) fn by(context: &Context) -> ByV1 {
    ByV1 { user: context.caller.user.clone(), agent: context.caller.agent.clone() }
}

/// A read or a write that failed below.
pub(crate) fn broken(error: impl std::fmt::Display) -> Error {
    Error::unavailable(format!("the log could not be read: {error}"), RETRY_MS)
}

/// A thread of work that ended early. A panic's message may hold content, so it stays with the process's own hook.
pub(crate) fn panicked<E: std::fmt::Debug>(_: E) -> Error {
    tracing::error!("a call panicked");
    Error::unavailable("memlog failed inside; its log says where", RETRY_MS)
}

/// When to try again what failed for a reason that passes.
pub(crate) const RETRY_MS: u64 = 500;
/// Namespaces kept in mind: some ten megabytes.
const NAMESPACES_KNOWN_MAX: usize = 100_000;

impl Inner {
    /// The keyed digest of a namespace, in rows that list what is in it.
    pub(crate) fn namespace(&self, context: &Context) -> [u8; 16] {
        let digest = self.environment.log.digest_names(&[b"namespace", context.namespace.as_bytes()]);
        let mut short = [0; 16];
        short.copy_from_slice(&digest.0[..16]);
        let mut known = lock(&self.namespaces);
        // Callers may name what they like; what is dropped here is known again when it is next named.
        if known.len() >= NAMESPACES_KNOWN_MAX && !known.contains_key(&short) {
            known.clear();
        }
        known.entry(short).or_insert_with(|| context.namespace.clone());
        short
    }

    /// A namespace's token, if a caller has named it since the start.
    pub(crate) fn namespace_token(&self, digest: &[u8; 16]) -> Option<String> {
        lock(&self.namespaces).get(digest).cloned()
    }

    fn profile_digest(&self, namespace: &str, name: &str) -> Digest {
        self.environment.log.digest_names(&[b"profile", namespace.as_bytes(), name.as_bytes()])
    }

    /// The profile of that name, if there is one.
    pub(crate) fn find_profile(&self, context: &Context, name: &str) -> Result<Option<Place>, Error> {
        let holder = self.environment.log.claim(self.profile_digest(&context.namespace, name)).map_err(broken)?;
        Ok(holder.as_ref().map(place_of))
    }

    /// The profile of that name; 404 if there is none.
    pub(crate) fn profile(&self, context: &Context, name: &str) -> Result<Place, Error> {
        self.find_profile(context, name)?.ok_or_else(|| Error::not_found("profile", name))
    }

    fn session_digest(&self, profile: &Place, session_id: &str) -> Result<Digest, Error> {
        let parts: [&[u8]; 2] = [b"thread", session_id.as_bytes()];
        let digest = self.environment.log.digest_in(profile.scope_slot, &parts).map_err(broken)?;
        digest.ok_or_else(gone)
    }

    /// Where a session lies, or is to lie, and its keyed digest.
    pub(crate) fn session(&self, profile: &Place, session_id: &str) -> Result<(Place, Digest), Error> {
        let digest = self.session_digest(profile, session_id)?;
        let place = match self.environment.log.claim(digest).map_err(broken)? {
            Some(holder) => place_of(&holder),
            None => self.thread_place(profile, StreamId(self.environment.uuid())),
        };
        Ok((place, digest))
    }

    /// A session that is there.
    pub(crate) fn find_session(&self, profile: &Place, session_id: &str) -> Result<Option<Place>, Error> {
        let digest = self.session_digest(profile, session_id)?;
        Ok(self.environment.log.claim(digest).map_err(broken)?.as_ref().map(place_of))
    }

    /// Refuses what is about a profile that was deleted meanwhile.
    pub(crate) fn profile_alive(&self, profile: &Place) -> Result<(), Error> {
        let keys = memlog_events::ids::KeyPath { scope: profile.scope_slot, ..Default::default() };
        if self.environment.log.alive(keys).map_err(broken)? { Ok(()) } else { Err(gone()) }
    }

    /// A stream of a profile.
    pub(crate) fn thread_place(&self, profile: &Place, stream: StreamId) -> Place {
        Place { key: StreamKey { stream, ..profile.key }, scope_slot: profile.scope_slot }
    }

    /// A place for a profile that is to be.
    fn new_place(&self, digest: &Digest) -> Result<Place, Error> {
        let scope = Scope(self.environment.uuid());
        let partition = Partition(u16::from_be_bytes([digest.0[0], digest.0[1]]) % PARTITIONS);
        let slots = self.environment.log.reserve(1).map_err(broken)?;
        let scope_slot = *slots.first().ok_or_else(gone)?;
        Ok(Place { key: StreamKey { partition, scope, stream: scope.own_stream() }, scope_slot })
    }
}

/// The profile went away between two steps; the next try finds it gone or new.
pub(crate) fn gone() -> Error {
    Error::unavailable("what the call is about was deleted meanwhile", RETRY_MS)
}

/// Profiles are created at the same time more often than deleted; a few tries settle it.
const TRIES: usize = 4;

impl System {
    /// The profile of that name, created if there is none.
    pub(crate) async fn open_profile(&self, context: &Context, name: &str) -> Result<Place, Error> {
        let inner = &self.inner;
        for _ in 0..TRIES {
            if let Some(place) = inner.find_profile(context, name)? {
                return Ok(place);
            }
            let name_digest = inner.profile_digest(&context.namespace, name);
            let place = inner.new_place(&name_digest)?;
            let create = profile::Create {
                namespace: context.namespace.clone(),
                namespace_digest: inner.namespace(context),
                name: name.to_owned(),
                name_digest,
                by: by(context),
            };
            match inner.profiles.execute(place, create, None).await {
                Ok(_) => return Ok(place),
                Err(Failure::Taken(holder)) => return Ok(place_of(&holder)),
                Err(Failure::Rejected(_)) => {}
                Err(failure) => return Err(super::command::refused(failure)),
            }
        }
        Err(gone())
    }
}

impl System {
    /// The same for a write that names speakers: refused before anything is created, since a new profile knows none.
    pub(crate) async fn open_profile_for<'a>(
        &self,
        context: &Context,
        name: &str,
        speakers: impl IntoIterator<Item = &'a str>,
    ) -> Result<Place, Error> {
        if let Some(place) = self.inner.find_profile(context, name)? {
            return Ok(place);
        }
        for speaker in speakers {
            super::speakers::registered_in(&crate::view::catalog::Catalog::default(), speaker)?;
        }
        self.open_profile(context, name).await
    }
}

/// A UUID from a client's text, if it is one in its usual form.
pub(crate) fn uuid(text: &str) -> Option<Uuid> {
    Uuid::try_parse(text).ok().filter(|_| text.len() == 36)
}
