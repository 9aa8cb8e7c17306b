//! What a profile is folded from, page by page: its events with their contents opened, and the vectors that the log keeps. Opening
//! takes as long as folding does, so for a large profile it happens on threads beside the one that folds.

use std::{sync::mpsc, thread::Scope as Threads};

use memlog_events::{
    event::Facts,
    ids::{Position, Scope},
    log::{EmbeddingKey, Error, Log, Sealed, Stored},
};

use super::{catalog::said, ordered::Ordered};
use crate::recall::Says;

/// Events of a profile from which on threads help; for fewer they cost what they save.
pub(super) const BESIDE_FROM: usize = 1_000;
/// Pages that may be read before they are wanted: some 25 MB of vectors.
const PAGES_AHEAD: usize = 16;
/// Vectors read from the log at once.
const PAGE_VECTORS: usize = 1_000;
/// Events opened at once.
const PAGE_EVENTS: usize = 256;

/// Vectors and what they are of.
pub(super) type Vectored = Vec<(EmbeddingKey, Vec<u8>)>;
/// Events, what they say, and what that has to offer.
pub(super) type Opened = Vec<(Stored, Sealed, Says)>;
/// One after the other, until the end or an error.
pub(super) type Pages<'a, T> = Box<dyn Iterator<Item = Result<T, Error>> + 'a>;

/// The pages themselves, or, if there are `many`, as a thread reads them ahead of who takes them.
pub(super) fn aside<'s, T: Send + 's>(
    many: bool,
    threads: &'s Threads<'s, '_>,
    pages: impl Iterator<Item = Result<T, Error>> + Send + 's,
) -> Pages<'s, T> {
    if !many {
        return Box::new(pages);
    }
    let (tell, told) = mpsc::sync_channel(PAGES_AHEAD);
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

/// An event's content. An image's bytes are read by whoever asks for them, and by nobody else.
pub(super) fn opened(log: &Log, event: &Stored) -> Result<Sealed, Error> {
    match event.facts {
        Facts::ImageStored(_) => Ok(Sealed::None),
        _ => log.open_content(event),
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
        let (log, until) = (self.log, self.until);
        let open = |event: Result<Stored, Error>| {
            let event = event?;
            let sealed = if event.head.position > until { Sealed::None } else { opened(log, &event)? };
            let says = said(&event, &sealed);
            Ok((event, sealed, says))
        };
        let page: Result<Opened, Error> = self.events.by_ref().take(PAGE_EVENTS).map(open).collect();
        match page {
            Ok(page) if page.is_empty() => None,
            page => Some(page),
        }
    }
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
