//! Figures for operators: how much waits, how far what follows the log is behind it, what lies in memory. Numbers alone, and
//! none of them by profile, namespace or user: who may look here may see nothing of anybody's.

use std::sync::atomic::Ordering;

use memlog_events::{ids::Position, log};

use super::System;
use crate::{jobs::JobCounts, view::registry::Loaded};

/// Entities of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actors {
    /// Which.
    pub kind: &'static str,
    /// Awake now.
    pub awake: u64,
    /// Woken since the start; those not awake have gone to sleep again.
    pub woken: u64,
}

/// How the system is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The log.
    pub log: log::Load,
    /// Its head.
    pub head: u64,
    /// Entities by kind.
    pub actors: [Actors; 5],
    /// Positions that each follower of the log is behind its head. Views of notebooks and notes are caught up by whoever reads
    /// them, and so are never behind for anybody.
    pub lag: Vec<(&'static str, u64)>,
    /// The views of profiles.
    pub views: Loaded,
    /// The memory that they may take.
    pub views_bytes_max: u64,
    /// The memory of the views of registries, notebooks and notes.
    pub notebooks_bytes: u64,
    /// What that may be.
    pub notebooks_bytes_max: u64,
    /// Extraction jobs.
    pub jobs: JobCounts,
    /// The embedding model's name, if there is one.
    pub model: Option<String>,
}

impl System {
    /// How it is doing. Looks at every loaded profile, so for once in some seconds, on a thread that may block.
    pub fn load(&self) -> Load {
        let inner = &self.inner;
        let log = &inner.environment.log;
        // Followers first: they may be told of what comes after the head that is read here, and are then not behind.
        let (views, jobs, fed) = (inner.projector.at(), inner.promises.at(), inner.fed.load(Ordering::Relaxed));
        let head = log.head();
        let behind = |at: Position| head.0.saturating_sub(at.0);
        let limits = &inner.environment.limits;
        let actors = |kind, awake: usize, woken| Actors { kind, awake: awake as u64, woken };
        Load {
            log: log.load(),
            head: head.0,
            actors: [
                actors("profile", inner.profiles.awake(), inner.profiles.woken()),
                actors("thread", inner.threads.awake(), inner.threads.woken()),
                actors("registry", inner.registries.awake(), inner.registries.woken()),
                actors("notebook", inner.notebooks.awake(), inner.notebooks.woken()),
                actors("notes", inner.notes.awake(), inner.notes.woken()),
            ],
            lag: vec![
                // Folded together, an event at a time.
                ("catalog", behind(views)),
                ("keyword", behind(views)),
                ("links", behind(views)),
                ("jobs", behind(jobs)),
                ("feed", behind(Position(fed))),
            ],
            views: inner.registry.figures(),
            views_bytes_max: limits.memory_budget_bytes,
            notebooks_bytes: inner.shelf.bytes(),
            notebooks_bytes_max: limits.notebooks_budget_bytes,
            jobs: inner.promises.counts(),
            model: inner.registry.embed().map(|embed| embed.embedder().name().to_owned()),
        }
    }

    /// Why it takes no commands, if it does not.
    pub fn unready(&self) -> Option<String> {
        let inner = &self.inner;
        if *inner.stopping.borrow() {
            return Some("memlog is shutting down".to_owned());
        }
        let log = &inner.environment.log;
        match log.failure() {
            Some(reason) => Some(format!("nothing can be stored for now, reads go on: {reason}")),
            None => (!log.ready()).then(|| "the log is closed".to_owned()),
        }
    }
}
