//! Who is next: questions before passages, profiles that a search waits for before others, what was stored before what is only
//! caught up with. A flood of questions lets passages through, and a flood of saves what is caught up with. Among equals
//! namespaces take turns, and within each its profiles: whoever asks or saves a thousand times holds up another by one turn.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use memlog_events::ids::Scope;
use tokio::sync::oneshot;

use super::{super::profile::ProfileViews, NotEmbedded};
use crate::{port::Purpose, turns::Turns};

/// Questions answered between two passages while passages wait: under a flood of questions a passage still has some
/// twentieth of the model's time.
const QUESTIONS_IN_A_ROW: usize = 16;
/// Turns of profiles that are in use between two of what is only caught up with.
const TURNS_IN_A_ROW: usize = 8;
/// Turns of profiles that searches wait for between two that have nothing but their place in line: under a flood of searches, each
/// with something stored before it, the others go on.
const URGENT_IN_A_ROW: usize = 8;

/// Whose a question or a document is: the address of the profile in the log, and its namespace.
pub(super) type Owner = (Arc<str>, Scope);

/// A text that somebody waits for.
pub(super) struct Asked {
    pub(super) text: String,
    pub(super) purpose: Purpose,
    /// Closed once the caller has gone away.
    pub(super) answer: oneshot::Sender<Result<Vec<f32>, NotEmbedded>>,
}

/// Why a profile is in line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    /// It is in use, and something was stored in it.
    Stored,
    /// It is only being caught up with.
    Behind,
}

/// What a thread does next.
pub(super) enum Next {
    /// Answers somebody.
    Question(Asked),
    /// Embeds some documents of a profile, then calls [`Line::back`].
    Turn(Arc<ProfileViews>, Lane),
    /// Waits to be woken.
    Nothing,
    /// Ends.
    Closed,
}

pub(super) struct Line {
    asked: Turns<Arc<str>, Scope, Asked>,
    asked_max: usize,
    /// Questions since the last passage.
    in_a_row: usize,
    /// Profiles that have something to embed and that nobody works on.
    stored: Turns<Arc<str>, Scope, Arc<ProfileViews>>,
    behind: Turns<Arc<str>, Scope, Arc<ProfileViews>>,
    /// Turns since the last of those behind.
    turns: usize,
    /// Turns in a row of profiles that searches wait for.
    hurried: usize,
    /// Views in line or being worked on, by their address: a profile that is loaded anew has others.
    known: HashSet<usize>,
    /// Profiles that searches wait for, and how many.
    urgent: HashMap<Scope, usize>,
    /// Threads that embed passages.
    storing: usize,
    storing_max: usize,
    closed: bool,
}

impl Line {
    /// Half of the threads embed passages, so that the others answer at once and leave the processor to everybody else; a
    /// single one does both in turn.
    pub(super) fn new(threads: usize, asked_max: usize) -> Self {
        Self {
            asked: Turns::default(),
            asked_max,
            in_a_row: 0,
            stored: Turns::default(),
            behind: Turns::default(),
            turns: 0,
            hurried: 0,
            known: HashSet::new(),
            urgent: HashMap::new(),
            storing: 0,
            storing_max: threads.div_ceil(2),
            closed: false,
        }
    }

    pub(super) fn ask(&mut self, (namespace, scope): Owner, asked: Asked) -> Result<(), NotEmbedded> {
        if self.closed {
            return Err(NotEmbedded::Closed);
        }
        if self.asked.len() >= self.asked_max {
            self.asked.retain(|asked| !asked.answer.is_closed());
        }
        if self.asked.len() >= self.asked_max {
            return Err(NotEmbedded::Full { limit: self.asked_max as u64 });
        }
        self.asked.push(namespace, scope, asked);
        Ok(())
    }

    /// Whether a thread is to be woken for it.
    pub(super) fn put(&mut self, views: &Arc<ProfileViews>, lane: Lane) -> bool {
        if self.closed {
            views.end_embedding();
            return false;
        }
        let new = self.known.insert(address(views));
        if new {
            self.join(lane, Arc::clone(views));
        }
        new
    }

    pub(super) fn hurry(&mut self, scope: Scope) {
        *self.urgent.entry(scope).or_default() += 1;
    }

    pub(super) fn calm(&mut self, scope: Scope) {
        if let Some(waiting) = self.urgent.get_mut(&scope) {
            *waiting -= 1;
            if *waiting == 0 {
                self.urgent.remove(&scope);
            }
        }
    }

    /// Whether a search waits for another profile than this, and nobody works on that one.
    pub(super) fn is_urgent_but(&self, scope: Scope) -> bool {
        let waited_for = |views: &Arc<ProfileViews>| self.urgent.contains_key(&views.place.key.scope);
        !self.urgent.contains_key(&scope) && self.stored.iter().chain(self.behind.iter()).any(waited_for)
    }

    fn join(&mut self, lane: Lane, views: Arc<ProfileViews>) {
        self.lane(lane).push(Arc::clone(&views.namespace), views.place.key.scope, views);
    }

    pub(super) fn questions(&self) -> usize {
        self.asked.len()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn next(&mut self) -> Next {
        if self.closed {
            return Next::Closed;
        }
        self.forget_released();
        let may_store = self.storing < self.storing_max && !(self.stored.is_empty() && self.behind.is_empty());
        if (!may_store || self.in_a_row < QUESTIONS_IN_A_ROW)
            && let Some(asked) = self.pop()
        {
            return Next::Question(asked);
        }
        match self.turn() {
            Some((views, lane)) => {
                self.storing += 1;
                Next::Turn(views, lane)
            }
            None => Next::Nothing,
        }
    }

    /// A question to be answered before the next passage; without one, that passage may go.
    pub(super) fn question(&mut self) -> Option<Asked> {
        let asked = if self.in_a_row < QUESTIONS_IN_A_ROW { self.pop() } else { None };
        if asked.is_none() {
            self.in_a_row = 0;
        }
        asked
    }

    /// Whoever went away meanwhile needs no answer.
    fn pop(&mut self) -> Option<Asked> {
        while let Some(asked) = self.asked.pop(|_, _, _| true) {
            if !asked.answer.is_closed() {
                self.in_a_row += 1;
                return Some(asked);
            }
        }
        None
    }

    fn turn(&mut self) -> Option<(Arc<ProfileViews>, Lane)> {
        if self.storing >= self.storing_max {
            return None;
        }
        if self.hurried < URGENT_IN_A_ROW {
            // In turn: a search of the past, or of what is embedded anew, waits for what is behind.
            let lanes = if self.hurried.is_multiple_of(2) {
                [Lane::Stored, Lane::Behind]
            } else {
                [Lane::Behind, Lane::Stored]
            };
            for lane in lanes {
                if let Some(views) = self.next_hurried(lane) {
                    self.hurried += 1;
                    return Some((views, lane));
                }
            }
        }
        self.hurried = 0;
        let behind = self.stored.is_empty() || (self.turns >= TURNS_IN_A_ROW && !self.behind.is_empty());
        self.turns = if behind { 0 } else { self.turns + 1 };
        let lane = if behind { Lane::Behind } else { Lane::Stored };
        self.lane(lane).pop(|_, _, _| true).map(|views| (views, lane))
    }

    /// The next in a lane that a search waits for.
    fn next_hurried(&mut self, lane: Lane) -> Option<Arc<ProfileViews>> {
        let urgent = &self.urgent;
        let lane = match lane {
            Lane::Stored => &mut self.stored,
            Lane::Behind => &mut self.behind,
        };
        lane.pop(|_, scope, _| urgent.contains_key(scope))
    }

    /// A turn has ended. Whether a thread is to be woken, since the profile is in line again.
    pub(super) fn back(&mut self, views: Arc<ProfileViews>, lane: Lane) -> bool {
        self.storing -= 1;
        // Looked at under the lock of the line: whoever adds a document now either is seen here or puts the profile in again.
        if self.closed {
            views.end_embedding();
        } else if views.has_queued() && !views.is_released() {
            self.join(lane, views);
        } else {
            self.known.remove(&address(&views));
        }
        !(self.stored.is_empty() && self.behind.is_empty())
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
        drop(self.asked.drain());
        for views in self.stored.drain().chain(self.behind.drain()) {
            views.end_embedding();
        }
    }

    /// Views that are not kept up any more would only take memory here.
    fn forget_released(&mut self) {
        for lane in [&mut self.stored, &mut self.behind] {
            if !lane.iter().any(|views| views.is_released()) {
                continue;
            }
            let known = &mut self.known;
            lane.retain(|views| {
                let released = views.is_released();
                if released {
                    known.remove(&address(views));
                }
                !released
            });
        }
    }

    fn lane(&mut self, lane: Lane) -> &mut Turns<Arc<str>, Scope, Arc<ProfileViews>> {
        match lane {
            Lane::Stored => &mut self.stored,
            Lane::Behind => &mut self.behind,
        }
    }
}

/// Of views that somebody holds, so that no others can have the same.
fn address(views: &Arc<ProfileViews>) -> usize {
    Arc::as_ptr(views).addr()
}
