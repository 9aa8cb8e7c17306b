//! The graph for large views: who is in it, who is not yet, and the thread that builds it. The graph itself is
//! `hnsw_rs`, behind [`Nearest`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::thread::JoinHandle;

use hnsw_rs::prelude::Hnsw;

use super::quantise::PreparedQuery;
use super::rows::Reader;

/// An approximate index over slots. It may answer slots that are dead by now, and never forgets one.
pub(super) trait Nearest: Send + Sync {
    /// Adds a slot; may run while others search.
    fn add(&self, slot: u32);
    /// Some `count` slots near the query, nearest first.
    fn nearest(&self, query: &PreparedQuery, count: usize) -> Vec<u32>;
    /// Whether the slot has nothing to add any more.
    fn is_wiped(&self, slot: u32) -> bool;
}

/// Neighbours of a point in a layer (twice as many in the lowest), and candidates looked at to choose them: the pair
/// that reached a recall of 0.95 to 0.97 on real sentences. More of either costs building time and memory.
const NEIGHBOURS: usize = 16;
const CANDIDATES: usize = 100;
/// All that the library knows; it draws the layers by itself.
const LAYERS: usize = 16;
/// Measured with these numbers: 3,900 bytes, less the 384 floats that a point held in that trial.
pub(super) const BYTES_PER_POINT: usize = 2_400;

struct HnswGraph(Hnsw<'static, u32, Reader>);

impl Nearest for HnswGraph {
    fn add(&self, slot: u32) {
        self.0.insert((&[slot], slot as usize));
    }

    fn nearest(&self, query: &PreparedQuery, count: usize) -> Vec<u32> {
        let found = self.0.search(&query.words(), count, count);
        found.into_iter().map(|neighbour| neighbour.d_id as u32).collect()
    }

    fn is_wiped(&self, slot: u32) -> bool {
        self.0.get_distance().is_wiped(slot)
    }
}

/// What a slot is to a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    #[default]
    Unknown,
    /// In the graph, or about to be: its row is shared and its number may not be used again.
    Member,
    /// Newer than the graph: scanned beside it.
    Fresh,
}

/// A graph and its bookkeeping.
pub(super) struct Side {
    pub(super) graph: Arc<dyn Nearest>,
    standing: Vec<Standing>,
    pub(super) members: usize,
    /// Members whose vector is gone.
    pub(super) dead: usize,
    /// Slots to scan beside the graph; some may be dead.
    pub(super) fresh: Vec<u32>,
}

impl Side {
    /// An empty graph that these slots will be members of.
    pub(super) fn new(reader: Reader, members: &[u32]) -> Self {
        let hnsw = Hnsw::new(NEIGHBOURS, members.len(), LAYERS, CANDIDATES, reader);
        let mut side =
            Self { graph: Arc::new(HnswGraph(hnsw)), standing: Vec::new(), members: 0, dead: 0, fresh: Vec::new() };
        side.enlist(members);
        side
    }

    /// Makes the slots members.
    pub(super) fn enlist(&mut self, slots: &[u32]) {
        for &slot in slots {
            *self.standing(slot) = Standing::Member;
        }
        self.members += slots.len();
    }

    fn standing(&mut self, slot: u32) -> &mut Standing {
        if self.standing.len() <= slot as usize {
            self.standing.resize(slot as usize + 1, Standing::Unknown);
        }
        &mut self.standing[slot as usize]
    }

    pub(super) fn is_member(&self, slot: u32) -> bool {
        self.standing.get(slot as usize) == Some(&Standing::Member)
    }

    /// A vector was written to the slot.
    pub(super) fn written(&mut self, slot: u32) {
        let standing = self.standing(slot);
        debug_assert_ne!(*standing, Standing::Member, "a member's number is not used again");
        if *standing == Standing::Unknown {
            *standing = Standing::Fresh;
            self.fresh.push(slot);
        }
    }

    /// Takes slots that died before they were added out of the fresh ones.
    pub(super) fn forget(&mut self, slots: &[u32]) {
        for &slot in slots {
            *self.standing(slot) = Standing::Unknown;
        }
    }

    /// The slot's vector is gone.
    pub(super) fn wiped(&mut self, slot: u32) {
        self.dead += usize::from(self.is_member(slot));
    }
}

/// What the background thread is at.
pub(super) enum Task {
    /// A new graph, with what is to be known about it.
    Build(Side),
    /// The first so many of the serving graph's fresh slots are being added to it.
    Extend(usize),
}

/// Work in the background.
pub(super) struct Job {
    pub(super) task: Task,
    done: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Job {
    /// Adds the slots to the graph on a thread of its own. `None` if the system gives no thread.
    pub(super) fn start(
        task: Task,
        graph: Arc<dyn Nearest>,
        slots: Vec<u32>,
        gate: Arc<RwLock<()>>,
        stop: Arc<AtomicBool>,
    ) -> Option<Self> {
        let done = Arc::new(AtomicBool::new(false));
        let signal = Arc::clone(&done);
        let work = move || {
            for slot in slots {
                // Opened for every slot: a removal waits for one insertion at most.
                let Ok(_open) = gate.read() else { return };
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                if !graph.is_wiped(slot) {
                    graph.add(slot);
                }
            }
            signal.store(true, Ordering::Release);
        };
        let thread = std::thread::Builder::new().name("memlog-graph".into()).spawn(work).ok()?;
        Some(Self { task, done, thread })
    }

    /// Whether all slots were added.
    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// Whether the thread came to an end, well or not.
    pub(super) fn is_over(&self) -> bool {
        self.is_done() || self.thread.is_finished()
    }

    /// Waits for the thread. The task, if it was done; `None` if the thread died.
    pub(super) fn finish(self) -> Option<Task> {
        let ended = self.thread.join().is_ok();
        (ended && self.done.load(Ordering::Acquire)).then_some(self.task)
    }
}
