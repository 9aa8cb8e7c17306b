//! What a profile is folded from, page by page: its events with their contents opened, and the vectors that the log keeps. Opening
//! takes as long as folding does, so for a large profile it happens on threads beside the one that folds.

use std::{sync::mpsc, thread::Scope as Threads};

use memlog_events::{
    event::Facts,
    ids::{Position, Scope},
    log::{EmbeddingKey, Error, Log, Sealed, Stored},
};

use super::{catalog::is_text, indexed::undamaged, indexing::WORD_PAGES_AHEAD, ordered::Ordered};

/// Events of a profile from which on threads help; for fewer they cost what they save.
pub(super) const BESIDE_FROM: usize = 1_000;
/// Pages of vectors that may be read before they are wanted, for they are wanted last: some 25 MB.
pub(super) const VECTOR_PAGES_AHEAD: usize = 16;
/// Vectors read from the log at once.
const PAGE_VECTORS: usize = 1_000;
/// Pages of events that may be opened before they are wanted: enough that whoever folds never waits for long.
pub(super) const EVENT_PAGES_AHEAD: usize = 2;
/// Events opened at once, and bytes of their contents, but for the last one.
const PAGE_EVENTS: usize = 256;
const PAGE_BYTES: usize = 1 << 20;

/// Vectors and what they are of.
pub(super) type Vectored = Vec<(EmbeddingKey, Vec<u8>)>;
/// Events and what they say; none of a text that is damaged.
pub(super) type Opened = Vec<(Stored, Option<Sealed>)>;
/// One after the other, until the end or an error.
pub(super) type Pages<'a, T> = Box<dyn Iterator<Item = Result<T, Error>> + 'a>;

/// The pages themselves, or as a thread reads so many of them ahead of who takes them.
pub(super) fn aside<'s, T: Send + 's>(
    ahead: Option<usize>,
    threads: &'s Threads<'s, '_>,
    pages: impl Iterator<Item = Result<T, Error>> + Send + 's,
) -> Pages<'s, T> {
    let Some(ahead) = ahead else { return Box::new(pages) };
    let (tell, told) = mpsc::sync_channel(ahead);
    threads.spawn(move || {
        for page in pages {
            let is_last = page.is_err();
            // Whoever folds may have given up.
            if tell.send(page).is_err() || is_last {
                return;
            }
        }
    });
    Box::new(told.into_iter())
}

/// An event's content; none of a text that is damaged, without which its profile can be folded. An image's bytes are read by whoever asks
/// for them, and by nobody else.
pub(super) fn opened(log: &Log, event: &Stored) -> Result<Option<Sealed>, Error> {
    match &event.facts {
        Facts::ImageStored(_) => Ok(Some(Sealed::None)),
        facts if is_text(facts) => undamaged(log, event),
        _ => log.open_content(event).map(Some),
    }
}

/// Events in order; what lies behind a position is not opened.
pub(super) struct OpenedPages<'a> {
    log: &'a Log,
    events: Ordered<'a>,
    until: Position,
}

impl<'a> OpenedPages<'a> {
    pub(super) fn new(log: &'a Log, events: Ordered<'a>, until: Position) -> Self {
        Self { log, events, until }
    }
}

impl Iterator for OpenedPages<'_> {
    type Item = Result<Opened, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut page, mut bytes) = (Opened::new(), 0);
        while page.len() < PAGE_EVENTS && bytes < PAGE_BYTES {
            let Some(event) = self.events.next() else { break };
            let read = event.and_then(|event| {
                let later = event.head.position > self.until;
                let sealed = if later { Some(Sealed::None) } else { opened(self.log, &event)? };
                Ok((event, sealed))
            });
            match read {
                Ok((event, sealed)) => {
                    bytes += event.head.content_bytes as usize;
                    page.push((event, sealed));
                }
                Err(error) => return Some(Err(error)),
            }
        }
        (!page.is_empty()).then_some(Ok(page))
    }
}

/// The most that pages of a profile with so many events and such contents take while its events are folded: the one that is being folded
/// and, if there are `many`, those that were read ahead and the one that is being read, and as texts those that wait to be indexed. Vectors
/// are then read ahead as well.
pub(super) fn pages_bytes(events: usize, content_bytes: usize, many: bool, dimensions: usize) -> usize {
    if !many {
        return content_bytes.min(PAGE_BYTES);
    }
    let vectors = if dimensions == 0 { 0 } else { events.min((VECTOR_PAGES_AHEAD + 2) * PAGE_VECTORS) };
    let vector = size_of::<(EmbeddingKey, Vec<u8>)>() + dimensions * size_of::<f32>();
    content_bytes.min((EVENT_PAGES_AHEAD + 2 + WORD_PAGES_AHEAD + 2) * PAGE_BYTES) + vectors * vector
}

/// All that the log keeps of a profile, of whichever model.
pub(super) struct VectorPages<'a> {
    log: &'a Log,
    scope: Scope,
    after: Option<EmbeddingKey>,
}

impl<'a> VectorPages<'a> {
    pub(super) fn new(log: &'a Log, scope: Scope) -> Self {
        Self { log, scope, after: None }
    }
}

impl Iterator for VectorPages<'_> {
    type Item = Result<Vectored, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let page = self.log.embeddings(self.scope, self.after, PAGE_VECTORS);
        if let Ok(page) = &page {
            self.after = Some(page.last()?.0);
        }
        Some(page)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{
        bench::{PROFILE, context, filled},
        system::System,
        view::{Model, State},
    };

    const RECORDS: usize = BESIDE_FROM + 200;

    async fn profile() -> (tempfile::TempDir, System) {
        let folder = tempfile::tempdir().expect("a folder");
        let (system, _) = filled(folder.path(), RECORDS).await.expect("filled");
        (folder, system)
    }

    // Threads only take work off who folds: what comes out is the same.
    #[tokio::test(flavor = "multi_thread")]
    async fn with_threads_beside_the_same_is_folded() {
        let (_folder, system) = profile().await;
        let place = system.inner.profile(&context(), PROFILE).expect("there");
        let (log, model) = (&system.inner.environment.log, system.inner.registry.embed().map(|embed| embed.model()));
        assert!(model.is_some());
        let folded = |many: bool, held: usize| {
            let state = State::fold_beside(log, &place, log.head(), model, held, many, &|_| true).expect("read");
            let state = state.expect("room");
            let terms = state.keyword.prepare("t1x1 t2x2 t3x3");
            let words = state.keyword.best(&terms, 50, &|_| true);
            let docs: Vec<_> = state.catalog.docs().map(|(doc, it)| (doc, it.id, it.asks)).collect();
            (docs, words, state.vectors.as_ref().map(|vectors| vectors.bytes()))
        };
        let alone = folded(false, usize::MAX);
        assert_eq!(alone.0.len(), RECORDS);
        assert_eq!(folded(true, usize::MAX), alone);
        // Read again one by one as well.
        assert_eq!(folded(true, 0), alone);
        system.stop().await;
    }

    // Whoever folds may give up at any page; the threads beside must end then, with pages left that nobody takes.
    #[tokio::test(flavor = "multi_thread")]
    async fn threads_end_when_there_is_no_more_room() {
        let (_folder, system) = profile().await;
        let place = system.inner.profile(&context(), PROFILE).expect("there");
        let (log, model): (_, Option<Model>) =
            (&system.inner.environment.log, system.inner.registry.embed().map(|embed| embed.model()));
        let mut asked_in_all = 0;
        for pages in 0.. {
            let asked = Cell::new(0);
            let room = |_| {
                asked.set(asked.get() + 1);
                asked.get() <= pages
            };
            let state = State::fold_beside(log, &place, log.head(), model, usize::MAX, true, &room).expect("read");
            asked_in_all = asked.get();
            if state.is_some() {
                break;
            }
            assert_eq!(asked_in_all, pages + 1, "it goes on without room");
        }
        assert!(asked_in_all > 5, "{asked_in_all}");
        system.stop().await;
    }
}
