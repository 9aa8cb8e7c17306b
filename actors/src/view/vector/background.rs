//! Starting, adopting and dropping graphs, always on the owner's own calls.

use std::sync::Arc;

use super::graph::{Job, Nearest, Side, Task};
use super::quantise::Codes;
use super::{NONE, Vectors};

impl Vectors {
    /// Waits until the background has nothing left to do and its work is in use; for tests, benchmarks and start-up.
    pub fn wait(&mut self) {
        while let Some(job) = self.job.take() {
            let task = job.finish();
            self.adopt(task);
            self.settle();
        }
    }

    /// Whether searches go through a graph.
    pub fn has_graph(&self) -> bool {
        self.side().is_some()
    }

    /// Whether a graph could not be built; scans answer instead, and no new one is tried while this view is loaded.
    pub fn graph_failed(&self) -> bool {
        self.graph_failed
    }

    /// All graphs that must hear of changes.
    pub(super) fn sides(&self) -> impl Iterator<Item = &Side> {
        let next = self.job.as_ref().and_then(|job| match &job.task {
            Task::Build(side) => Some(side),
            Task::Extend(_) => None,
        });
        self.graph.iter().chain(next)
    }

    fn sides_mut(&mut self) -> impl Iterator<Item = &mut Side> {
        let next = self.job.as_mut().and_then(|job| match &mut job.task {
            Task::Build(side) => Some(side),
            Task::Extend(_) => None,
        });
        self.graph.iter_mut().chain(next)
    }

    /// The graph to search: a finished one even before it is adopted, since a view that is only read adopts nothing.
    pub(super) fn side(&self) -> Option<&Side> {
        match self.job.as_ref() {
            Some(job) if job.is_done() => match &job.task {
                Task::Build(side) => Some(side),
                Task::Extend(_) => self.graph.as_ref(),
            },
            _ => self.graph.as_ref(),
        }
    }

    pub(super) fn written(&mut self, slot: u32) {
        self.sides_mut().for_each(|side| side.written(slot));
    }

    pub(super) fn wiped(&mut self, slot: u32) {
        self.sides_mut().for_each(|side| side.wiped(slot));
    }

    /// Called after every change: adopts what is finished, starts what is due.
    pub(super) fn settle(&mut self) {
        if self.codes.is_none() && self.live >= self.limits.codes_from {
            self.make_codes();
        }
        if self.job.as_ref().is_some_and(Job::is_over)
            && let Some(job) = self.job.take()
        {
            let task = job.finish();
            self.adopt(task);
        }
        if self.job.is_some() || self.graph_failed {
            return;
        }
        let Some(side) = &self.graph else {
            if self.live >= self.limits.hnsw_from {
                self.build();
            }
            return;
        };
        if self.live < self.limits.hnsw_from / 2 {
            self.replace_graph(None);
        } else if side.dead * 100 > side.members * self.limits.rebuild_dead_percent {
            self.build();
        } else if side.fresh.len() >= self.limits.join_from {
            self.extend();
        }
    }

    /// Codes for all; made once, when the view grows past the crossing, and kept from then on.
    fn make_codes(&mut self) {
        let live = || (0..self.docs.len() as u32).filter(|slot| self.docs[*slot as usize] != NONE);
        let mut codes = Codes::around(live().map(|slot| self.rows.row(slot)), self.rows.width());
        codes.all.resize(self.docs.len() * codes.words, 0);
        for slot in live() {
            let (row, factor) = self.rows.row(slot);
            codes.set(slot, row, factor);
        }
        self.codes = Some(codes);
    }

    fn build(&mut self) {
        let members: Vec<u32> = (0..self.docs.len() as u32).filter(|slot| self.docs[*slot as usize] != NONE).collect();
        let side = Side::new(self.rows.reader(), &members);
        self.rows.share(&members);
        let graph = Arc::clone(&side.graph);
        self.start(Task::Build(side), graph, members);
    }

    fn extend(&mut self) {
        let Some(side) = &mut self.graph else { return };
        let slots = side.fresh.clone();
        // Those that died meanwhile have their numbers in the free list: they stay out.
        let (alive, dead): (Vec<u32>, Vec<u32>) = slots.into_iter().partition(|slot| self.docs[*slot as usize] != NONE);
        side.forget(&dead);
        side.fresh.clone_from(&alive);
        side.enlist(&alive);
        self.rows.share(&alive);
        let graph = Arc::clone(&side.graph);
        self.start(Task::Extend(alive.len()), graph, alive);
    }

    fn start(&mut self, task: Task, graph: Arc<dyn Nearest>, slots: Vec<u32>) {
        self.job = Job::start(task, graph, slots, self.rows.gate(), Arc::clone(&self.stop));
        if self.job.is_none() {
            self.fail();
        }
    }

    fn adopt(&mut self, task: Option<Task>) {
        match task {
            Some(Task::Build(side)) => self.replace_graph(Some(side)),
            Some(Task::Extend(added)) => {
                if let Some(side) = &mut self.graph {
                    side.fresh.drain(..added);
                }
            }
            None => self.fail(),
        }
    }

    fn fail(&mut self) {
        self.graph_failed = true;
        self.replace_graph(None);
    }

    /// Changes the graph in use, and frees the slots that only the old one kept.
    fn replace_graph(&mut self, side: Option<Side>) {
        for slot in 0..self.docs.len() as u32 {
            let kept = side.as_ref().is_some_and(|side| side.is_member(slot));
            if self.rows.is_shared(slot) && !kept {
                self.rows.unshare(slot);
                if self.docs[slot as usize] == NONE {
                    self.free.push(slot);
                }
            }
        }
        if let Some(old) = std::mem::replace(&mut self.graph, side) {
            // Taking a large graph apart is slow; if there is no thread for it, it happens here.
            let apart = std::thread::Builder::new().name("memlog-graph-drop".into()).spawn(move || drop(old));
            drop(apart);
        }
    }
}
