//! `audit.*`: the log itself, never its content.

use std::collections::BTreeMap;

use memlog_events::{
    event::{Content, Facts, KINDS},
    ids::{Position, Scope},
    log::{Log, Report, Sealed, Stored},
};
use uuid::Uuid;

use super::{
    System,
    lookup::{broken, first_of_scope, lock, namespace_begun, panicked},
    over::{Due, Over},
    validate,
};
use crate::{
    api::{
        Answer, Context, Error,
        audit::{Break, Counted, Event, Events, EventsPage, Export, Exported, Head, Stats, Verified, Verify},
        author,
    },
    domain::Place,
    limits::{PAGE_MAX, TYPES_MAX},
    view::indexed::undamaged,
};

/// Which events are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) record_id: Option<String>,
    pub(crate) types: Option<Vec<String>>,
    pub(crate) from: Position,
    pub(crate) until: Option<Position>,
}

/// Events read at once when the whole log is searched.
const PAGE_EVENTS: usize = 1_000;

/// What is known of scopes while events are told: the names of profiles, and whether they are this namespace's.
struct Names<'a> {
    log: &'a Log,
    namespace: [u8; 16],
    known: BTreeMap<Scope, Known>,
}

/// Whose events lie in a scope.
#[derive(Clone)]
enum Known {
    /// Another namespace's.
    Foreign,
    /// A profile's of this name, if it is not gone.
    Profile(Option<String>),
    /// The namespace's registry and its notebooks.
    Registry,
}

impl Names<'_> {
    /// None if the event is another namespace's; the profile's name if it is one's that is not gone.
    fn of(&mut self, event: &Stored) -> Result<Option<Option<String>>, Error> {
        Ok(match self.known(event)? {
            Known::Foreign => None,
            Known::Profile(name) => Some(name),
            Known::Registry => Some(None),
        })
    }

    fn known(&mut self, event: &Stored) -> Result<Known, Error> {
        let scope = event.head.key.scope;
        if let Some(known) = self.known.get(&scope) {
            return Ok(known.clone());
        }
        let first = first_of_scope(self.log, event).map_err(broken)?;
        let own = first.filter(|first| namespace_begun(&first.facts) == Some(self.namespace));
        let found = match own {
            None => Known::Foreign,
            Some(first) => match (&first.facts, self.log.open_content(&first).map_err(broken)?) {
                (_, Sealed::Open(Content::ProfileCreated(content))) => Known::Profile(Some(content.name)),
                (Facts::ProfileCreated(_), _) => Known::Profile(None),
                _ => Known::Registry,
            },
        };
        self.known.insert(scope, found.clone());
        Ok(found)
    }
}

impl System {
    /// None yet, as of now.
    fn ids(&self) -> Result<Ids<'_>, Error> {
        let log = &self.inner.environment.log;
        let due = Due::now(&mut lock(&self.inner.due), log, self.now()).map_err(broken)?;
        Ok(Ids { log, given: BTreeMap::new(), over: Over::new(log, due) })
    }

    fn names<'a>(&'a self, context: &Context) -> Names<'a> {
        Names { log: &self.inner.environment.log, namespace: self.inner.namespace(context), known: BTreeMap::new() }
    }

    /// `audit.events`
    pub async fn audit_events(&self, context: &Context, request: Events) -> Result<Answer<EventsPage>, Error> {
        validate::context(&self.inner, context)?;
        let limit = validate::page(request.limit)?;
        validate::list("types", request.types.as_ref(), TYPES_MAX)?;
        for (at, kind) in request.types.iter().flatten().enumerate() {
            if !KINDS.iter().any(|(_, name)| name == kind) {
                let field = format!("types[{at}]");
                return Err(Error::invalid(&field, format!("{field} is no type of event")));
            }
        }
        request.profile.as_deref().map_or(Ok(()), validate::profile)?;
        request.record_id.as_deref().map_or(Ok(()), |id| validate::id("record_id", id))?;
        let filter = Filter {
            record_id: request.record_id,
            types: request.types,
            from: Position(request.from_seq.unwrap_or(0)),
            until: None,
        };
        let events = self.events(context, request.profile.as_deref(), filter, limit).await?;
        Ok(Answer::fresh(EventsPage { events }))
    }

    async fn events(
        &self,
        context: &Context,
        profile: Option<&str>,
        filter: Filter,
        limit: usize,
    ) -> Result<Vec<Event>, Error> {
        if let Some(name) = profile {
            validate::profile(name)?;
            let place = self.inner.profile(context, name)?;
            return self.profile_events(place, filter, limit).await;
        }
        let (system, context) = (self.clone(), context.clone());
        let told = crate::blocking::run(move || system.all_events(&context, &filter, limit)).await;
        told.map_err(panicked)?
    }

    /// Ascending events of one profile, found where it lies.
    pub(crate) async fn profile_events(&self, place: Place, filter: Filter, limit: usize) -> Result<Vec<Event>, Error> {
        let system = self.clone();
        let told = crate::blocking::run(move || {
            let log = &system.inner.environment.log;
            let all: Result<Vec<Stored>, _> = log.scope(place.key.partition, place.key.scope).collect();
            let mut all = all.map_err(broken)?;
            all.sort_unstable_by_key(|event| event.head.position);
            let name = all.first().map(|first| log.open_content(first)).transpose().map_err(broken)?;
            let name = match name {
                Some(Sealed::Open(Content::ProfileCreated(content))) => Some(content.name),
                _ => None,
            };
            let mut ids = system.ids()?;
            ids.learn(&all)?;
            let mut events = Vec::new();
            for event in &all {
                if events.len() == limit {
                    break;
                }
                events.extend(system.tell(event, &filter, name.clone(), &ids)?);
            }
            Ok(events)
        });
        told.await.map_err(panicked)?
    }

    fn all_events(&self, context: &Context, filter: &Filter, limit: usize) -> Result<Vec<Event>, Error> {
        let log = &self.inner.environment.log;
        let mut names = self.names(context);
        let mut at = Position(filter.from.0.saturating_sub(1));
        let (mut ids, mut events) = (self.ids()?, Vec::new());
        loop {
            let page = log.tail(at, PAGE_EVENTS).map_err(broken)?;
            let Some(last) = page.last() else { return Ok(events) };
            at = last.head.position;
            if ids.over.is_behind(at) || ids.over.is_old(self.now()) {
                ids = self.ids()?;
            }
            ids.learn(&page)?;
            for event in &page {
                if let Some(name) = names.of(event)? {
                    events.extend(self.tell(event, filter, name, &ids)?);
                }
                if events.len() == limit {
                    return Ok(events);
                }
            }
        }
    }

    /// One event without content, if the filter lets it through.
    fn tell(
        &self,
        event: &Stored,
        filter: &Filter,
        profile: Option<String>,
        ids: &Ids<'_>,
    ) -> Result<Option<Event>, Error> {
        let position = event.head.position;
        let name = event.facts.name();
        let wanted = position >= filter.from
            && filter.until.is_none_or(|until| position <= until)
            && filter.types.as_ref().is_none_or(|types| types.iter().any(|it| it == name));
        if !wanted {
            return Ok(None);
        }
        let subjects = subjects(event).into_iter().map(|id| ids.shown(id));
        let subjects: Vec<String> = note(event).map(|number| number.to_string()).into_iter().chain(subjects).collect();
        if let Some(asked) = &filter.record_id
            && !subjects.contains(asked)
        {
            return Ok(None);
        }
        // An image's bytes are not read for the name in them, which stands in the event beside it, too.
        let content = match &event.facts {
            Facts::ImageStored(_) => Sealed::None,
            _ if ids.over.hides(event) => Sealed::None,
            // Damage is for who reads the words, and for `audit.verify`, to tell.
            _ => undamaged(&self.inner.environment.log, event).map_err(broken)?.unwrap_or(Sealed::None),
        };
        let by = match &content {
            Sealed::Open(content) => Some(author(content.by())),
            _ => None,
        };
        Ok(Some(Event {
            seq: position.0,
            event_type: name.to_owned(),
            at: event.head.time.into(),
            by,
            profile,
            stream: event.head.key.stream.to_string(),
            version: event.head.version.0,
            record_id: subjects.into_iter().next(),
        }))
    }

    /// `audit.verify`
    pub async fn audit_verify(&self, context: &Context, request: Verify) -> Result<Answer<Verified>, Error> {
        validate::context(&self.inner, context)?;
        let log = self.inner.environment.log.clone();
        let verified = crate::blocking::run(move || {
            let expect = request.expect.as_ref().map(expected).transpose()?;
            Ok(told(log.verify(expect).map_err(broken)?))
        })
        .await;
        verified.map_err(panicked)?.map(Answer::fresh)
    }

    /// `audit.export`
    pub async fn audit_export(&self, context: &Context, request: Export) -> Result<Answer<Exported>, Error> {
        validate::context(&self.inner, context)?;
        let limit = validate::page(Some(request.limit.unwrap_or(PAGE_MAX)))?;
        request.profile.as_deref().map_or(Ok(()), validate::profile)?;
        let filter = Filter { from: Position(request.from_seq.unwrap_or(0)), ..Filter::default() };
        let mut events = self.events(context, request.profile.as_deref(), filter, limit + 1).await?;
        let next_seq = (events.len() > limit).then(|| events[limit].seq);
        events.truncate(limit);
        let mut lines = String::new();
        for event in &events {
            lines += &serde_json::to_string(event).map_err(broken)?;
            lines.push('\n');
        }
        Ok(Answer::fresh(Exported { lines, next_seq }))
    }

    /// `audit.stats`
    pub async fn audit_stats(&self, context: &Context, _: Stats) -> Result<Answer<Counted>, Error> {
        validate::context(&self.inner, context)?;
        let (system, context) = (self.clone(), context.clone());
        let counted = crate::blocking::run(move || system.count(&context)).await;
        counted.map_err(panicked)?.map(Answer::fresh)
    }

    fn count(&self, context: &Context) -> Result<Counted, Error> {
        let (log, namespace) = (&self.inner.environment.log, self.inner.namespace(context));
        let (counts, head) = lock(&self.inner.tally).of(log, &namespace).map_err(broken)?;
        let of = |name: &str| counts.get(name).copied().unwrap_or_default();
        Ok(Counted {
            events: counts.values().sum(),
            profiles: of("profile_created").saturating_sub(of("profile_deleted")),
            by_type: counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
            head: shown_head(head),
        })
    }
}

/// Ids that clients gave, by the UUID that events carry.
struct Ids<'a> {
    log: &'a Log,
    given: BTreeMap<Uuid, String>,
    over: Over<'a>,
}

impl Ids<'_> {
    /// Those of some events, before these are told.
    fn learn(&mut self, events: &[Stored]) -> Result<(), Error> {
        self.over.learn(events).map_err(broken)?;
        self.given.clear();
        for event in events.iter().filter(|event| !self.over.hides(event)) {
            let given = match &event.facts {
                Facts::Saved(e) if e.id_digest.is_some() => e.record.0,
                Facts::MessageAppended(e) if e.id_digest.is_some() => e.message.0,
                Facts::ImageAdded(e) if e.id_digest.is_some() => e.image.0,
                Facts::Linked(e) => e.relation.0,
                _ => continue,
            };
            let id = match undamaged(self.log, event).map_err(broken)? {
                Some(Sealed::Open(Content::Saved(content))) => content.given_id,
                Some(Sealed::Open(Content::MessageAppended(content))) => content.given_id,
                Some(Sealed::Open(Content::ImageAdded(content))) => content.given_id,
                Some(Sealed::Open(Content::Linked(content))) => content.given_id,
                _ => None,
            };
            self.given.extend(id.map(|id| (given, id)));
        }
        Ok(())
    }

    fn shown(&self, id: Uuid) -> String {
        self.given.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

/// What an event is about, the first of which is shown.
fn subjects(event: &Stored) -> Vec<Uuid> {
    match &event.facts {
        Facts::EntrySaved(e) => vec![event.head.key.stream.0, e.entry.0],
        Facts::EntryForgot(e) => vec![event.head.key.stream.0, e.entry.0],
        Facts::MemoryCreated(e) => vec![e.memory.0],
        Facts::MemoryUpdated(e) => vec![e.memory.0],
        Facts::Trashed(e) => vec![e.memory.0],
        Facts::Restored(e) => vec![e.memory.0],
        Facts::Purged(e) => vec![e.memory.0],
        Facts::AgentCreated(e) => vec![e.agent.0, e.memory.0],
        Facts::AgentUpdated(e) => vec![e.agent.0],
        Facts::Attached(e) => {
            let memories = e.memories.iter().map(|(memory, _)| memory).chain(&e.detached);
            std::iter::once(e.agent.0).chain(memories.map(|memory| memory.0)).collect()
        }
        Facts::AgentDeleted(e) => vec![e.agent.0],
        Facts::SessionConnected(e) => vec![e.session.0],
        Facts::NotesLoaded(e) => vec![e.session.0],
        Facts::Saved(e) => vec![e.record.0],
        Facts::Superseded(e) => vec![e.old.0, e.new.0],
        Facts::Linked(e) => vec![e.source.0, e.target.0],
        Facts::Unlinked(e) => vec![e.relation.0],
        Facts::Forgot(e) => std::iter::once(e.record.0).chain(e.messages.iter().map(|message| message.0.0)).collect(),
        Facts::Expired(e) => {
            let records = e.records.iter().map(|record| record.0.0);
            records.chain(e.messages.iter().map(|message| message.0.0)).collect()
        }
        Facts::MessageAppended(e) => vec![e.message.0],
        Facts::MessageUpdated(e) => vec![e.message.0],
        Facts::Updated(e) => vec![e.record.0],
        Facts::StatusSet(e) => vec![e.record.0],
        Facts::Relinked(e) => vec![e.relation.0],
        Facts::ImageAdded(e) => vec![e.image.0],
        Facts::ImageStored(e) => vec![e.image.0],
        Facts::ImageUpdated(e) => vec![e.image.0],
        Facts::ImageDeleted(e) => e.images.iter().map(|image| image.0.0).collect(),
        Facts::MessageDeleted(e) => e.messages.iter().map(|message| message.0.0).collect(),
        Facts::ExtractionRequested(e) => vec![e.job.0],
        Facts::ExtractionCompleted(e) => vec![e.job.0],
        Facts::ExtractionFailed(e) => vec![e.job.0],
        Facts::Summarised(e) => vec![e.job.0],
        Facts::ProfileCreated(_)
        | Facts::ProfileDeleted(_)
        | Facts::SpeakerAdded(_)
        | Facts::SpeakerRemoved(_)
        | Facts::ThreadCreated(_)
        | Facts::ThreadDeleted(_)
        | Facts::SummaryErased(_)
        | Facts::RegistryCreated(_)
        | Facts::NoteSaved(_)
        | Facts::NoteRemoved(_)
        | Facts::NoteKindAdded(_)
        | Facts::EditorOpened(_)
        | Facts::EditorClosed(_) => Vec::new(),
    }
}

/// The number of the note that an event is about; notes have no other id.
fn note(event: &Stored) -> Option<u64> {
    match &event.facts {
        Facts::NoteSaved(e) => Some(e.note),
        Facts::NoteRemoved(e) => Some(e.note),
        _ => None,
    }
}

/// Whether every chain, hash, key and page of a log holds. It works on the log alone: a system on it would go on with its jobs and erase what
/// has expired, and a backup that was written to takes no list of erasures any more.
///
/// # Errors
/// An expected head that is none; a log that cannot be read.
pub fn verified(log: &Log, expect: Option<&Head>) -> Result<Verified, Error> {
    Ok(told(log.verify_pages(expect.map(expected).transpose()?).map_err(broken)?))
}

fn told(report: Report) -> Verified {
    let first_break = report.first_break.map(|it| Break {
        stream: it.stream.map(|key| key.stream.to_string()).unwrap_or_default(),
        version: it.version.0,
        reason: it.reason.to_string(),
    });
    let (ok, events, head) = (first_break.is_none(), report.events, shown_head(report.head));
    Verified { ok, events, head, first_break }
}

fn shown_head((position, hash): (Position, [u8; 32])) -> Head {
    Head { seq: position.0, hash: blake3::Hash::from_bytes(hash).to_hex().to_string() }
}

fn expected(head: &Head) -> Result<(Position, [u8; 32]), Error> {
    let hash = blake3::Hash::from_hex(&head.hash)
        .map_err(|_| Error::invalid("expect.hash", "expect.hash must be 64 hex digits").with("limit", 64))?;
    Ok((Position(head.seq), *hash.as_bytes()))
}
