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
        if self.urgent.is_empty() || self.urgent.contains_key(&scope) {
            return false;
        }
        let waited_for =
            |views: &Arc<ProfileViews>| self.urgent.contains_key(&views.place.key.scope) && !views.is_released();
        self.stored.iter().chain(self.behind.iter()).any(waited_for)
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
            // All that was in line may have been released meanwhile.
            None => self.pop().map_or(Next::Nothing, Next::Question),
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
        if self.hurried < URGENT_IN_A_ROW && !self.urgent.is_empty() {
            // In turn: a search of the past, or of what is embedded anew, waits for what is behind.
            let lanes = if self.hurried.is_multiple_of(2) {
                [Lane::Stored, Lane::Behind]
            } else {
                [Lane::Behind, Lane::Stored]
            };
            for lane in lanes {
                if let Some(views) = self.take(lane, true) {
                    self.hurried += 1;
                    return Some((views, lane));
                }
            }
        }
        self.hurried = 0;
        let behind = self.stored.is_empty() || (self.turns >= TURNS_IN_A_ROW && !self.behind.is_empty());
        self.turns = if behind { 0 } else { self.turns + 1 };
        let lanes = if behind { [Lane::Behind, Lane::Stored] } else { [Lane::Stored, Lane::Behind] };
        lanes.into_iter().find_map(|lane| Some((self.take(lane, false)?, lane)))
    }

    /// The next in a lane; if it is `hurried`, that a search waits for. Views that are not kept up any more leave it in passing.
    fn take(&mut self, lane: Lane, hurried: bool) -> Option<Arc<ProfileViews>> {
        let urgent = &self.urgent;
        let waiting = match lane {
            Lane::Stored => &mut self.stored,
            Lane::Behind => &mut self.behind,
        };
        loop {
            let views = waiting.pop(|_, scope, _| !hurried || urgent.contains_key(scope))?;
            if !views.is_released() {
                return Some(views);
            }
            self.known.remove(&address(&views));
        }
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

#[cfg(test)]
mod tests {
    use memlog_events::ids::{Partition, Slot, StreamId, StreamKey};
    use uuid::Uuid;

    use super::*;
    use crate::{
        domain::Place,
        view::{
            State,
            budget::{Budget, Counted},
        },
    };

    fn views(profile: u128) -> Arc<ProfileViews> {
        let (scope, stream) = (Scope(Uuid::from_u128(profile)), StreamId(Uuid::from_u128(profile)));
        let place = Place { key: StreamKey { partition: Partition(0), scope, stream }, scope_slot: Slot(1) };
        Arc::new(ProfileViews::new(place, (State::new(None), Counted::nothing(&Budget::new(1_000)))))
    }

    // A profile that was dropped while it waited has nobody who waits for its vectors, and takes nobody's turn.
    #[test]
    fn who_was_released_leaves_the_line_in_passing() {
        let mut line = Line::new(1, 100);
        let (gone, waited_for, here) = (views(1), views(2), views(3));
        assert!(line.put(&gone, Lane::Stored) && line.put(&waited_for, Lane::Stored) && line.put(&here, Lane::Behind));
        line.hurry(waited_for.place.key.scope);
        assert!(line.is_urgent_but(here.place.key.scope));
        gone.release();
        waited_for.release();
        assert!(!line.is_urgent_but(here.place.key.scope));
        let Next::Turn(next, Lane::Behind) = line.next() else { panic!("one is left") };
        assert!(Arc::ptr_eq(&next, &here));
        assert!(!line.back(next, Lane::Behind));
        assert!(line.known.is_empty());
    }

    // What is not there any more must not keep a question from being answered.
    #[test]
    fn questions_go_on_when_all_else_was_released() {
        let mut line = Line::new(1, 100);
        let gone = views(1);
        let mut answers = Vec::new();
        for _ in 0..=QUESTIONS_IN_A_ROW {
            let (answer, answered) = oneshot::channel();
            let asked = Asked { text: "what?".to_owned(), purpose: Purpose::Query, answer };
            line.ask((Arc::clone(&gone.namespace), gone.place.key.scope), asked).expect("room");
            answers.push(answered);
        }
        assert!(line.put(&gone, Lane::Stored));
        gone.release();
        for _ in 0..=QUESTIONS_IN_A_ROW {
            assert!(matches!(line.next(), Next::Question(_)));
        }
        assert!(matches!(line.next(), Next::Nothing));
    }
}
