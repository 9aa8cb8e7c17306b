//! What the clock says is over and nobody has erased yet: no event tells more of it than it will once it is erased.
//!
//! Mostly there is nothing, for the housekeeping looks twice a second. After a jump of the clock there may be a great deal, for
//! minutes. So it is looked for once for each head of the log, and of the log only what the links of a page need is read.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use memlog_events::{
    event::Facts,
    ids::{Micros, Position, RecordId, RelationId, Slot, StreamKey, Version},
    log::{Error, Log, Stored},
};

/// Events read at once.
const PAGE_EVENTS: usize = 1_000;

/// Subjects whose time is over, as of a head of the log.
#[derive(Debug)]
pub(super) struct Due {
    head: Position,
    since: Micros,
    /// When the next one joins them.
    until: Option<Micros>,
    slots: HashSet<Slot>,
    streams: HashSet<StreamKey>,
}

impl Due {
    fn at(log: &Log, now: Micros) -> Result<Self, Error> {
        // Looked at first: what is appended meanwhile is looked for again by whoever comes next.
        let head = log.head();
        let (slots, streams) = log.due(now, usize::MAX)?.into_iter().map(|(_, key, slot)| (slot, key)).unzip();
        Ok(Self { head, since: now, until: log.next_due_after(now)?, slots, streams })
    }

    /// What is over now: as it was found before, if that is so still.
    pub(super) fn now(found: &mut Option<Arc<Self>>, log: &Log, now: Micros) -> Result<Arc<Self>, Error> {
        let head = log.head();
        let is_so = |it: &Self| it.head == head && it.since <= now && it.until.is_none_or(|until| now < until);
        if let Some(due) = found.as_ref().filter(|due| is_so(due)) {
            return Ok(Arc::clone(due));
        }
        let due = Arc::new(Self::at(log, now)?);
        *found = Some(Arc::clone(&due));
        Ok(due)
    }
}

/// What is not to be told of the events of one request.
pub(super) struct Over<'a> {
    log: &'a Log,
    due: Arc<Due>,
    /// How far the streams in which something is over are known.
    known: HashMap<StreamKey, Version>,
    records: HashSet<RecordId>,
    /// A link goes with either of its ends.
    links: HashSet<RelationId>,
}

impl<'a> Over<'a> {
    pub(super) fn new(log: &'a Log, due: Arc<Due>) -> Self {
        Self { log, due, known: HashMap::new(), records: HashSet::new(), links: HashSet::new() }
    }

    /// Whether some of what lies up to there was appended after what is over was looked for.
    pub(super) fn is_behind(&self, at: Position) -> bool {
        self.due.head < at
    }

    /// Whether more is over by now than was when it was looked for.
    pub(super) fn is_old(&self, now: Micros) -> bool {
        self.due.until.is_some_and(|until| until <= now)
    }

    /// Gets to know what must be known of some events before they are told. The ends of a link were saved before it in its stream,
    /// so that whoever comes by all events of a stream in their order reads none of them again.
    pub(super) fn learn(&mut self, events: &[Stored]) -> Result<(), Error> {
        let due = Arc::clone(&self.due);
        for event in events.iter().filter(|event| due.streams.contains(&event.head.key)) {
            let (key, version) = (event.head.key, event.head.version);
            let known = self.known.get(&key).copied().unwrap_or_default();
            if version.0 == known.0 + 1 {
                self.note(event);
            } else if version > known && matches!(event.facts, Facts::Linked(_) | Facts::Relinked(_)) {
                self.read(key, known, version)?;
            }
        }
        Ok(())
    }

    fn read(&mut self, key: StreamKey, after: Version, until: Version) -> Result<(), Error> {
        let mut at = after;
        while at < until {
            let page = self.log.stream(key, at, PAGE_EVENTS)?;
            let Some(last) = page.last() else { break };
            at = last.head.version;
            page.iter().for_each(|event| self.note(event));
        }
        Ok(())
    }

    fn note(&mut self, event: &Stored) {
        match &event.facts {
            Facts::Saved(e) if self.due.slots.contains(&e.slot) => {
                self.records.insert(e.record);
            }
            Facts::Linked(e) if [e.source, e.target].iter().any(|end| self.records.contains(end)) => {
                self.links.insert(e.relation);
            }
            _ => {}
        }
        self.known.insert(event.head.key, event.head.version);
    }

    /// Whether nothing is told of an event's words; it was learnt before.
    pub(super) fn hides(&self, event: &Stored) -> bool {
        let of_link = match &event.facts {
            Facts::Linked(e) => self.links.contains(&e.relation),
            Facts::Relinked(e) => self.links.contains(&e.relation),
            _ => false,
        };
        of_link || self.due.slots.contains(&event.head.keys.subject)
    }
}

#[cfg(test)]
mod tests {
    use memlog_events::{event::Facts, log::Log};

    use super::{super::System, *};
    use crate::{
        api::thread::{AddMemory, Create, ExtractionSettings, Settings},
        bench::{PROFILE, context, options},
    };

    const LATER: Micros = Micros(i64::MAX / 2);

    /// A thread with a memory that stays, and on it, some others in between, the links of three that end.
    async fn linked(system: &System, thread_id: &str) {
        let (profile, thread_id) = (PROFILE.to_owned(), thread_id.to_owned());
        let off = ExtractionSettings { enabled: Some(false), ..ExtractionSettings::default() };
        let settings = Some(Settings { extraction: Some(off), ..Settings::default() });
        let create = Create { profile, thread_id: Some(thread_id.clone()), settings, ..Create::default() };
        system.thread_create(&context(), create).await.expect("created");
        let memory = |id: &str, days: Option<f64>| AddMemory {
            profile: PROFILE.to_owned(),
            thread_id: thread_id.clone(),
            content: format!("This is {id}"),
            memory_id: Some(format!("{thread_id}-{id}")),
            ttl_days: Some(days),
            ..AddMemory::default()
        };
        let link = |id: &str, days| AddMemory {
            memory_id_to_link: Some(format!("{thread_id}-heron")),
            link_type: Some("supports".to_owned()),
            link_id: Some(format!("{thread_id}-of-{id}")),
            ..memory(id, days)
        };
        let stays = [memory("heron", None), link("stork", None)];
        for memory in stays.into_iter().chain(["a", "b", "c"].map(|id| link(id, Some(1.0)))) {
            system.thread_add_memory(&context(), memory).await.expect("saved");
        }
    }

    /// Which links are hidden when events come by so many at once, and which streams were looked at.
    fn hidden(log: &Log, due: &Arc<Due>, events: &[Stored], at_once: usize) -> (Vec<RelationId>, usize) {
        let mut over = Over::new(log, Arc::clone(due));
        let mut hidden = Vec::new();
        for page in events.chunks(at_once) {
            over.learn(page).expect("read");
            hidden.extend(page.iter().filter(|event| over.hides(event)).filter_map(|event| match &event.facts {
                Facts::Linked(e) => Some(e.relation),
                _ => None,
            }));
        }
        (hidden, over.known.len())
    }

    // Right after the clock has jumped over many lives every page of events would take as long as all that is over is to read.
    #[tokio::test(flavor = "multi_thread")]
    async fn only_what_the_links_of_a_page_need_is_read() {
        let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let system = System::start(options(folder.path(), None)).await.expect("started");
        let bare = System::start(options(other.path(), None)).await.expect("started");
        for n in 0..5 {
            linked(&system, &format!("desk-{n}")).await;
        }
        let (log, nothing) = (&system.inner.environment.log, &bare.inner.environment.log);
        let events = log.tail(Position(0), PAGE_EVENTS).expect("read");
        let due = Arc::new(Due::at(log, LATER).expect("read"));
        assert_eq!((due.slots.len(), due.streams.len()), (15, 5));
        // Who comes by all of them reads nothing again: it is the same where nothing could be read.
        let (all, streams) = hidden(log, &due, &events, usize::MAX);
        assert_eq!((all.len(), streams), (15, 5));
        assert_eq!(hidden(nothing, &due, &events, 1), (all.clone(), 5));
        // A page for itself: a link's stream is read, and no other.
        let is_link = |event: &&Stored| matches!(event.facts, Facts::Linked(_));
        let each: Vec<_> = events.iter().filter(is_link).map(std::slice::from_ref).collect();
        let alone: Vec<_> = each.iter().map(|link| hidden(log, &due, link, 1)).collect();
        assert_eq!(alone.iter().flat_map(|(links, _)| links.clone()).collect::<Vec<_>>(), all);
        assert!(alone.iter().all(|(_, streams)| *streams == 1));
        let rest: Vec<_> = events.iter().filter(|event| !is_link(event) && event.head.version > Version(1)).collect();
        assert!(rest.iter().all(|event| hidden(log, &due, std::slice::from_ref(*event), 1).1 == 0));
        system.stop().await;
        bare.stop().await;
    }

    // It is found once for all pages, and again when something was appended or the time of something more is over.
    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_over_is_looked_for_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let system = System::start(options(folder.path(), None)).await.expect("started");
        linked(&system, "desk").await;
        let log = &system.inner.environment.log;
        let mut found = None;
        let mut now = |now: Micros| Due::now(&mut found, log, now).expect("read");
        let none = now(Micros(0));
        assert!(none.slots.is_empty());
        let first = none.until.expect("something ends");
        assert!(Arc::ptr_eq(&none, &now(Micros(first.0 - 1))));
        assert_eq!(now(first).slots.len(), 1);
        let all = now(LATER);
        assert!(all.slots.len() == 3 && Arc::ptr_eq(&all, &now(Micros(LATER.0 + 1))));
        assert!(now(Micros(first.0 - 1)).slots.is_empty(), "the clock went back");
        let all = now(LATER);
        linked(&system, "chair").await;
        let more = now(LATER);
        assert_eq!((all.slots.len(), more.slots.len(), more.head), (3, 6, log.head()));
        system.stop().await;
    }
}
