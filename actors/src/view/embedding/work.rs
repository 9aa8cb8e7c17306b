//! What the threads of the pool do.

use std::sync::{Arc, PoisonError, atomic::Ordering};

use memlog_events::{
    event::Content,
    log::{EmbeddingKey, EmbeddingRow},
};

use super::{
    super::{
        indexed::{chunks, content_of, words_of},
        profile::{Finished, Pending, ProfileViews},
        vector::Quantised,
    },
    EmbedQueue, NotEmbedded,
    line::{Asked, Lane, Next},
};
use crate::port::Purpose;

/// Documents of one profile that are embedded before the next profile has its turn.
const TURN_DOCS: usize = 16;

impl EmbedQueue {
    pub(super) fn work(&self) {
        loop {
            match self.next() {
                Next::Question(asked) => self.answer(asked),
                Next::Turn(views, lane) => self.turn(views, lane),
                Next::Nothing | Next::Closed => return,
            }
        }
    }

    /// The same a piece at a time, between which others have theirs.
    pub(super) async fn work_in_turn(self: Arc<Self>) {
        loop {
            let next = self.line().next();
            match next {
                Next::Question(asked) => self.answer(asked),
                Next::Turn(views, lane) => self.turn(views, lane),
                Next::Nothing => self.woken.notified().await,
                Next::Closed => return,
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until there is something to do, or an end.
    fn next(&self) -> Next {
        let mut line = self.line();
        loop {
            match line.next() {
                Next::Nothing => line = self.wake.wait(line).unwrap_or_else(PoisonError::into_inner),
                next => return next,
            }
        }
    }

    fn answer(&self, Asked { text, purpose, answer }: Asked) {
        let embedded = self.embed(&text, purpose);
        // Nobody to hear it: the caller went away.
        drop(answer.send(embedded));
    }

    /// A model that panics on one text must not end the thread, or whoever waits would wait for ever.
    fn embed(&self, text: &str, purpose: Purpose) -> Result<Vec<f32>, NotEmbedded> {
        let embed = || self.embedder.embed(text, purpose);
        let embedded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(embed));
        Ok(embedded.map_err(|_| NotEmbedded::Panicked)??)
    }

    fn turn(&self, views: Arc<ProfileViews>, lane: Lane) {
        let (mut done, mut rows, mut taken) = (Vec::new(), Vec::new(), 0);
        for _ in 0..TURN_DOCS {
            let (pending, off) = views.take_pending(1);
            taken += off;
            for (finished, kept) in pending.iter().filter_map(|it| self.embed_safely(&views, it)) {
                done.push(finished);
                rows.extend(kept);
            }
            if off == 0 || self.is_cut_short(&views) {
                break;
            }
        }
        if let Err(error) = self.log.put_embeddings(&rows) {
            self.unkept.fetch_add(done.len() as u64, Ordering::SeqCst);
            tracing::warn!(%error, "vectors were not kept; they will be made again at the next load");
        }
        views.finish(done, taken, self.model);
        if self.line().back(views, lane) {
            self.wake_one();
        }
    }

    /// Documents can be long: whoever is waited for elsewhere does not wait for a whole turn of them.
    fn is_cut_short(&self, views: &ProfileViews) -> bool {
        let line = self.line();
        line.is_closed() || views.is_released() || line.is_urgent_but(views.place.key.scope)
    }

    /// A document that makes a thread panic must not end it, nor keep its profile in line for ever.
    fn embed_safely(&self, views: &ProfileViews, it: &Pending) -> Option<(Finished, Vec<EmbeddingRow>)> {
        let embed = || self.embed_doc(views, it);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(embed)).unwrap_or_else(|_| {
            tracing::error!(doc = it.doc, "embedding a document panicked; it is found by its words alone");
            None
        })
    }

    /// None if the document is gone, or the model failed on it.
    fn embed_doc(&self, views: &ProfileViews, it: &Pending) -> Option<(Finished, Vec<EmbeddingRow>)> {
        let (key, texts) = {
            let state = views.read();
            let doc = state.catalog.doc(it.doc)?.clone();
            let content: Content = content_of(&self.log, &views.place, &state.catalog, &doc).ok()??;
            (state.key_of(it.doc, 0, self.model)?, chunks(&state.catalog, &doc, words_of(&content)?))
        };
        let (mut chunks, mut rows) = (Vec::new(), Vec::new());
        for (chunk, text) in (0_u16..).zip(&texts) {
            let key = EmbeddingKey { chunk, ..key };
            let vector = match self.kept(key) {
                Some(vector) => vector,
                None => {
                    let vector = Quantised::of(&self.embed_passage(text)?);
                    rows.push(EmbeddingRow { key, keys: it.keys, vector: vector.to_bytes() });
                    vector
                }
            };
            chunks.push((chunk, vector));
        }
        Some((Finished { doc: it.doc, key, chunks }, rows))
    }

    /// The same text may have been embedded for other views of the profile: those of a past, or those that caught up.
    fn kept(&self, key: EmbeddingKey) -> Option<Quantised> {
        Quantised::from_bytes(&self.log.embedding(key).ok()??, self.model.dimensions)
    }

    fn embed_passage(&self, text: &str) -> Option<Vec<f32>> {
        loop {
            // The lock is let go before the model is asked.
            let Some(asked) = self.line().question() else { break };
            self.answer(asked);
        }
        match self.embed(text, Purpose::Passage) {
            Ok(vector) => Some(vector),
            Err(NotEmbedded::Panicked) => {
                tracing::error!("the embedding model panicked; a document is found by its words alone");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "a document is found by its words alone");
                None
            }
        }
    }
}
