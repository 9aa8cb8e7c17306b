//! The vector view: the embeddings of one profile's documents, several chunks a document, nearest first by cosine.
//! It holds quantised vectors in memory alone; it never embeds, and never writes a vector to a file.
//!
//! While a profile is small, or a filter leaves little, all kept vectors are compared ([`scan`]). From
//! [`Limits::codes_from`] chunks 1-bit codes choose who is compared; from [`Limits::hnsw_from`] a graph does ([`graph`]),
//! built in the background while the scan goes on answering.

mod background;
mod graph;
mod kernels;
mod limits;
mod quantise;
mod rows;
mod scan;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use limits::Limits;
pub use quantise::{PreparedQuery, Quantised};

use graph::{Job, Side};
use quantise::Codes;
use rows::Owner;

/// No document, no slot.
const NONE: u32 = u32::MAX;

/// The vectors of one profile, by document number.
pub struct Vectors {
    dimensions: usize,
    limits: Limits,
    rows: Owner,
    /// By slot: whose chunk it holds, or [`NONE`].
    docs: Vec<u32>,
    /// By slot: which chunk of that document.
    chunks: Vec<u16>,
    /// By slot: the next slot of the same document.
    next: Vec<u32>,
    /// By document, numbered densely: its first slot.
    first: Vec<u32>,
    /// Slots to use again.
    free: Vec<u32>,
    live: usize,
    documents: usize,
    codes: Option<Codes>,
    /// The graph in use.
    graph: Option<Side>,
    job: Option<Job>,
    /// A graph's thread died: scans answer from then on, slower but right.
    graph_failed: bool,
    stop: Arc<AtomicBool>,
}

impl Vectors {
    /// An empty view for vectors of that length.
    pub fn new(dimensions: usize, limits: Limits) -> Self {
        Self {
            dimensions,
            limits,
            rows: Owner::new(dimensions),
            docs: Vec::new(),
            chunks: Vec::new(),
            next: Vec::new(),
            first: Vec::new(),
            free: Vec::new(),
            live: 0,
            documents: 0,
            codes: None,
            graph: None,
            job: None,
            graph_failed: false,
            stop: Arc::default(),
        }
    }

    /// Takes other crossings from the next change on, and other numbers of candidates at once.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Stores a chunk's vector, of any length but zero, in place of an earlier one of that chunk. A search sees it at
    /// once. Panics if the vector has other dimensions than the view: another model's vectors belong in another view.
    pub fn insert(&mut self, doc: u32, chunk: u16, vector: &[f32]) {
        self.insert_quantised(doc, chunk, &Quantised::of(vector));
    }

    /// The same with a vector that was quantised already.
    pub fn insert_quantised(&mut self, doc: u32, chunk: u16, vector: &Quantised) {
        assert_eq!(vector.dimensions(), self.dimensions, "a vector of another model");
        assert_ne!(doc, NONE, "the number that means no document");
        self.remove_chunk(doc, chunk);
        let slot = self.free.pop().unwrap_or(self.docs.len() as u32);
        if slot as usize == self.docs.len() {
            self.docs.push(NONE);
            self.chunks.push(0);
            self.next.push(NONE);
        }
        let mut bytes = vec![0; self.rows.width()];
        let factor = vector.write(&mut bytes);
        self.rows.write(slot, &bytes, factor);
        if let Some(codes) = &mut self.codes {
            codes.set(slot, &bytes, factor);
        }
        if self.first.len() <= doc as usize {
            self.first.resize(doc as usize + 1, NONE);
        }
        let head = &mut self.first[doc as usize];
        self.documents += usize::from(*head == NONE);
        self.next[slot as usize] = std::mem::replace(head, slot);
        self.docs[slot as usize] = doc;
        self.chunks[slot as usize] = chunk;
        self.live += 1;
        self.written(slot);
        self.settle();
    }

    /// Removes the document: from this moment no search answers it, and its bytes are overwritten in memory. While a
    /// graph is being built this waits for one insertion, some milliseconds at most.
    pub fn remove(&mut self, doc: u32) {
        let Some(head) = self.first.get_mut(doc as usize) else {
            return;
        };
        let mut slot = std::mem::replace(head, NONE);
        self.documents -= usize::from(slot != NONE);
        while slot != NONE {
            let next = self.next[slot as usize];
            self.release(slot);
            slot = next;
        }
        self.settle();
    }

    fn remove_chunk(&mut self, doc: u32, chunk: u16) {
        let slots: Vec<u32> = self.slots(doc).collect();
        let Some(at) = slots.iter().position(|slot| self.chunks[*slot as usize] == chunk) else {
            return;
        };
        let after = self.next[slots[at] as usize];
        match at.checked_sub(1) {
            Some(before) => self.next[slots[before] as usize] = after,
            None => self.first[doc as usize] = after,
        }
        self.documents -= usize::from(slots.len() == 1);
        self.release(slots[at]);
    }

    /// Wipes a slot that no document leads to any more.
    fn release(&mut self, slot: u32) {
        self.rows.wipe(slot);
        if let Some(codes) = &mut self.codes {
            codes.wipe(slot);
        }
        self.docs[slot as usize] = NONE;
        self.next[slot as usize] = NONE;
        self.live -= 1;
        self.wiped(slot);
        if !self.rows.is_shared(slot) {
            self.free.push(slot);
        }
    }

    fn slots(&self, doc: u32) -> impl Iterator<Item = u32> {
        let mut slot = self.first.get(doc as usize).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let this = slot;
            if this != NONE {
                slot = self.next[this as usize];
            }
            (this != NONE).then_some(this)
        })
    }

    /// Brings a query into the forms in which it is compared; for [`Vectors::similarity`] of many documents.
    pub fn prepare(&self, query: &[f32]) -> PreparedQuery {
        assert_eq!(query.len(), self.dimensions, "a query of another model");
        PreparedQuery::new(query, self.rows.width())
    }

    /// The `limit` nearest of the documents that `keep` lets through, best first, with the cosine of their best chunk;
    /// equal ones by document number. Fewer only if there are no more.
    pub fn nearest(&self, query: &[f32], limit: usize, keep: &dyn Fn(u32) -> bool) -> Vec<(u32, f32)> {
        self.nearest_to(&self.prepare(query), limit, keep)
    }

    /// [`Vectors::nearest`] for a query that is prepared already.
    pub fn nearest_to(&self, query: &PreparedQuery, limit: usize, keep: &dyn Fn(u32) -> bool) -> Vec<(u32, f32)> {
        if limit == 0 || self.live == 0 {
            return Vec::new();
        }
        self.through_graph(query, limit, keep).unwrap_or_else(|| self.scan(query, limit, keep))
    }

    /// The cosine of the document's best chunk; `None` if it has no vector. The same number that
    /// [`Vectors::nearest`] gives.
    pub fn similarity(&self, query: &PreparedQuery, doc: u32) -> Option<f32> {
        self.slots(doc).map(|slot| self.cosine(query, slot)).max_by(f32::total_cmp)
    }

    /// The number of documents that have a vector.
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether no document has a vector.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// The number of vectors.
    pub fn chunks(&self) -> usize {
        self.live
    }

    /// An estimate of what the vectors of a text of so many bytes will take, for the budget: one for each paragraph of it, and
    /// as much again since collections grow by doubling.
    pub fn bytes_of(&self, text_bytes: usize) -> u32 {
        const PARAGRAPH_BYTES: usize = 256;
        const BESIDES_BYTES: usize = 32;
        let all = (1 + text_bytes / PARAGRAPH_BYTES) * 2 * (self.rows.width() + BESIDES_BYTES);
        u32::try_from(all).unwrap_or(u32::MAX)
    }

    /// An estimate of the memory held, for the budget.
    pub fn bytes(&self) -> usize {
        let codes = self.codes.as_ref().map_or(0, |codes| codes.all.capacity() * size_of::<u64>());
        let points: usize = self.sides().map(|side| side.members).sum();
        let per_slot = self.rows.width() + size_of::<f32>() + size_of::<[u32; 2]>() + size_of::<u16>();
        size_of::<Self>()
            + self.docs.capacity() * per_slot
            + self.first.capacity() * size_of::<u32>()
            + codes
            + points * graph::BYTES_PER_POINT
    }
}

impl Drop for Vectors {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Vectors {
    /// Counts only: a vector is as private as its text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vectors")
            .field("documents", &self.documents)
            .field("chunks", &self.live)
            .finish_non_exhaustive()
    }
}
