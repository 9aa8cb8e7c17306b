//! The change feed: every committed event, without content.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use memlog_events::{
    batch::ListKind,
    code::StreamKind,
    event::{Content, Facts},
    ids::{Position, Scope, StreamKey, Version},
    log::{Error, Log, Sealed, Stored},
};
use tokio::sync::watch;

use super::{System, lookup::first_of_scope};
use crate::api::Time;

/// One event for the change feed, without content.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Change {
    /// For the subject, not the body.
    #[serde(skip)]
    pub namespace: String,
    /// `profile`, `thread`, ...; for the subject.
    #[serde(skip)]
    pub stream_kind: &'static str,
    /// The event's type.
    #[serde(rename = "type")]
    pub event_type: &'static str,
    /// Its position.
    pub seq: u64,
    /// When.
    pub at: Time,
    /// Its stream.
    pub stream: String,
    /// Its place there.
    pub version: u64,
}

/// Follows the log for the change feed.
pub struct Feed {
    system: System,
    /// Up to where it has told, for who watches.
    told: Arc<AtomicU64>,
    head: watch::Receiver<Position>,
    at: Position,
    waiting: VecDeque<Stored>,
    namespaces: HashMap<Scope, String>,
}

/// The row of the checkpoint.
const CHECKPOINT: &str = "feed";
/// The row that says that a feed began: a checkpoint of 0 is also that of a log that never had one.
const BEGAN: &str = "feed.began";
/// Events read at once.
const PAGE_EVENTS: usize = 500;
/// Positions between which the checkpoint is written. After a crash more of them may be told again: it is written for the page before,
/// lasts from the next sync on, and a feed that catches up begins there anew.
const CHECKPOINT_EVERY: u64 = 1_000;

impl System {
    /// All events after the feed's checkpoint, then each as it is committed. A log's first feed begins at its head.
    pub fn feed(&self) -> Feed {
        let log = &self.inner.environment.log;
        let at = begun(log).unwrap_or_else(|error| {
            tracing::warn!(%error, "where the change feed stood cannot be read; it begins at the head of the log");
            log.head()
        });
        let head = self.inner.head.subscribe();
        let told = Arc::clone(&self.inner.fed);
        told.store(at.0, Ordering::Relaxed);
        Feed { system: self.clone(), told, head, at, waiting: VecDeque::new(), namespaces: HashMap::new() }
    }
}

/// Where the feed goes on. The first one notes that it began, so that what is committed from then on is told also after a crash that
/// comes before the first checkpoint. A checkpoint without that note is of a version that did not make it.
fn begun(log: &Log) -> Result<Position, Error> {
    let at = log.checkpoint(CHECKPOINT)?;
    if log.checkpoint(BEGAN)? > Position(0) {
        return Ok(at);
    }
    let at = if at > Position(0) { at } else { log.head() };
    log.set_checkpoint(CHECKPOINT, at)?;
    log.set_checkpoint(BEGAN, Position(1))?;
    Ok(at)
}

impl Feed {
    /// The next committed event; none when the system stops.
    pub async fn next(&mut self) -> Option<Change> {
        let mut stopping = self.system.inner.stopping.subscribe();
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.told.store(event.head.position.0, Ordering::Relaxed);
                match self.change(&event) {
                    Ok(Some(change)) => return Some(change),
                    Ok(None) => continue,
                    Err(error) => tracing::error!(%error, "an event could not be told to the change feed"),
                }
                continue;
            }
            if let Err(error) = self.read().await {
                tracing::error!(%error, "the change feed could not read the log; it goes on with the next commit");
            }
            if self.waiting.is_empty() {
                let at = self.at;
                tokio::select! {
                    moved = self.head.wait_for(|head| *head > at) => { moved.ok()?; }
                    _ = stopping.wait_for(|stopping| *stopping) => return None,
                }
            }
        }
    }

    /// Notes that all that [`Feed::next`] gave has been told, so that the next feed does not tell it again.
    pub async fn note(&self) {
        let (log, told) = (self.system.inner.environment.log.clone(), self.told.load(Ordering::Relaxed));
        let noted = crate::blocking::run(move || log.set_checkpoint(CHECKPOINT, Position(told))).await;
        if let Ok(Err(error)) = noted {
            tracing::warn!(%error, "some events will be told to the change feed again");
        }
    }

    async fn read(&mut self) -> Result<(), Error> {
        let log = self.system.inner.environment.log.clone();
        let at = self.at;
        let read = crate::blocking::run(move || {
            let page = log.tail(at, PAGE_EVENTS)?;
            let last = page.last().map(|event| event.head.position);
            // What was read before this page has been told.
            if last.is_some_and(|last| last.0 / CHECKPOINT_EVERY > at.0 / CHECKPOINT_EVERY) {
                log.set_checkpoint(CHECKPOINT, at)?;
            }
            Ok::<_, Error>(page)
        });
        let page = read.await.unwrap_or(Ok(Vec::new()))?;
        self.at = page.last().map_or(self.at, |event| event.head.position);
        self.waiting.extend(page);
        Ok(())
    }

    /// None if the profile's namespace is not known any more: it was deleted before this feed began, and nobody has named its
    /// namespace since, in which no other profile lives.
    fn change(&mut self, event: &Stored) -> Result<Option<Change>, Error> {
        let Some(namespace) = self.namespace(event)? else { return Ok(None) };
        Ok(Some(Change {
            namespace,
            stream_kind: kind_name(event.head.stream_kind),
            event_type: event.facts.name(),
            seq: event.head.position.0,
            at: event.head.time.into(),
            stream: event.head.key.stream.to_string(),
            version: event.head.version.0,
        }))
    }

    /// The namespace of a profile that is gone: named by a caller since the start, or by a profile of it that lives.
    fn token(&self, namespace: &[u8; 16]) -> Result<Option<String>, Error> {
        let inner = &self.system.inner;
        if let Some(known) = inner.namespace_token(namespace) {
            return Ok(Some(known));
        }
        let log = &inner.environment.log;
        let mut before = None;
        loop {
            let page = log.listed(*namespace, ListKind::Profiles, before, PAGE_PROFILES)?;
            let Some(last) = page.last() else { return Ok(None) };
            before = Some(last.id);
            for other in page {
                match namespace_in(log, other.stream) {
                    Ok(Some(token)) => return Ok(Some(token)),
                    // It was deleted since it was listed.
                    Ok(None) => {}
                    Err(error) => {
                        tracing::warn!(%error, "a profile does not tell its namespace; the next one is asked")
                    }
                }
            }
        }
    }

    fn namespace(&mut self, event: &Stored) -> Result<Option<String>, Error> {
        let scope = event.head.key.scope;
        if let Some(known) = self.namespaces.get(&scope) {
            return Ok(Some(known.clone()));
        }
        let inner = &self.system.inner;
        let found = match first_of_scope(&inner.environment.log, event)? {
            Some(first) => match (&first.facts, inner.environment.log.open_content(&first)?) {
                (_, Sealed::Open(Content::ProfileCreated(content))) => Some(content.namespace),
                (_, Sealed::Open(Content::RegistryCreated(content))) => Some(content.namespace),
                (Facts::ProfileCreated(e), _) => self.token(&e.namespace)?,
                _ => None,
            },
            None => None,
        };
        if self.namespaces.len() >= KNOWN_MAX {
            self.namespaces.clear();
        }
        // One that is not known may still be named.
        if let Some(token) = &found {
            self.namespaces.insert(scope, token.clone());
        }
        Ok(found)
    }
}

/// The namespace that a profile's first event names; none if that is sealed.
fn namespace_in(log: &Log, profile: StreamKey) -> Result<Option<String>, Error> {
    let Some(first) = log.at(profile, Version(1))? else { return Ok(None) };
    match log.open_content(&first)? {
        Sealed::Open(Content::ProfileCreated(content)) => Ok(Some(content.namespace)),
        _ => Ok(None),
    }
}

/// Profiles asked at once for the namespace they share.
const PAGE_PROFILES: usize = 10;

/// Profiles whose namespace is kept in mind.
const KNOWN_MAX: usize = 10_000;

fn kind_name(kind: StreamKind) -> &'static str {
    match kind {
        StreamKind::PROFILE => "profile",
        StreamKind::THREAD => "thread",
        StreamKind::NOTEBOOK => "notebook",
        _ => "registry",
    }
}
