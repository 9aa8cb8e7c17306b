//! The keyword view of a profile while it is folded. Taking texts apart takes longer than all else, so for a large profile it happens on
//! a thread beside the one that folds.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread::{Scope as Threads, ScopedJoinHandle},
};

use super::keyword::Keyword;

/// What changes in the keyword view, in order.
#[derive(Default)]
pub(super) struct Changes {
    /// All texts of these, one behind the other: one piece of memory, since another thread lets go of it.
    texts: String,
    each: Vec<(u32, Option<Range<usize>>)>,
}

impl Changes {
    /// A document has another text, which `write` writes.
    pub(super) fn put(&mut self, doc: u32, write: impl FnOnce(&mut String)) {
        let from = self.texts.len();
        write(&mut self.texts);
        self.each.push((doc, Some(from..self.texts.len())));
    }

    /// A document is gone.
    pub(super) fn remove(&mut self, doc: u32) {
        self.each.push((doc, None));
    }
}

impl Keyword {
    pub(super) fn apply(&mut self, changes: &Changes) {
        for (doc, text) in &changes.each {
            match text {
                Some(text) => self.insert(*doc, &changes.texts[text.clone()]),
                None => self.remove(*doc),
            }
        }
    }
}

/// Pages of changes that may wait for the thread. Words take longest, so whoever folds goes ahead of them and has put the vectors in
/// place by the time the last word is; what waits is counted in `pages_bytes`.
pub(super) const WORD_PAGES_AHEAD: usize = 16;

/// A keyword view that grows.
pub(super) enum Indexing<'s> {
    /// Here.
    Here(Keyword),
    /// On a thread of its own, which says how many bytes it has got.
    Beside { tell: SyncSender<Changes>, bytes: Arc<AtomicUsize>, thread: ScopedJoinHandle<'s, Keyword> },
}

impl<'s> Indexing<'s> {
    /// Begins with nothing; on a thread if there are `many` documents.
    pub(super) fn new(many: bool, threads: &'s Threads<'s, '_>) -> Self {
        let mut keyword = Keyword::new();
        if !many {
            return Self::Here(keyword);
        }
        keyword.expect_many(true);
        let (tell, told) = sync_channel::<Changes>(WORD_PAGES_AHEAD);
        let bytes = Arc::<AtomicUsize>::default();
        let grown = Arc::clone(&bytes);
        let thread = threads.spawn(move || {
            for page in told {
                keyword.apply(&page);
                grown.store(keyword.bytes(), Ordering::Relaxed);
            }
            keyword.expect_many(false);
            keyword
        });
        Self::Beside { tell, bytes, thread }
    }

    /// In the order in which they came.
    pub(super) fn take(&mut self, page: Changes) {
        match self {
            Self::Here(keyword) => keyword.apply(&page),
            // A thread that is gone has panicked, which its end tells.
            Self::Beside { tell, .. } => drop(tell.send(page)),
        }
    }

    /// An estimate of what it holds, a page or two behind.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Here(keyword) => keyword.bytes(),
            Self::Beside { bytes, .. } => bytes.load(Ordering::Relaxed),
        }
    }

    /// The whole view, once all is in it.
    pub(super) fn end(self) -> Keyword {
        match self {
            Self::Here(keyword) => keyword,
            Self::Beside { tell, thread, .. } => {
                drop(tell);
                thread.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
            }
        }
    }
}
