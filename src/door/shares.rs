//! Who gets room while others flood: places among the calls under way, and turns to work.
//!
//! Both are shared the same way, by what is free (the dynamic thresholds of shared buffers: Choudhury and Hahne, 1998). A namespace
//! may take more only while it has less than a multiple of what would be left, so that alone it has nearly everything, together with
//! others a part, and whoever comes next always finds something. Nothing is set aside, and nothing is to be configured.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use memlog_actors::turns::Turns;
use tokio::sync::oneshot;

/// A namespace may have this many times what it leaves free: alone three quarters of all.
const FREE_TIMES: usize = 3;

/// Room of which every namespace may take a share: places of calls, or KiB of their bodies.
#[derive(Debug)]
pub(super) struct Room {
    max: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by: HashMap<String, Share>,
}

/// What a namespace has, and what of it is known to be of which profile.
#[derive(Debug, Default)]
struct Share {
    all: usize,
    by: HashMap<String, usize>,
}

/// A part of a room; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Part {
    room: Arc<Room>,
    namespace: String,
    profile: Option<String>,
    units: usize,
}

impl Room {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, taken: Mutex::default() })
    }

    /// Some of it, or none if that would be more than the namespace's share. Who has nothing yet may have whatever is free.
    pub(super) fn take(self: &Arc<Self>, namespace: &str, units: usize) -> Option<Part> {
        let mut taken = lock(&self.taken);
        let free = self.max.checked_sub(taken.all + units)? + units;
        let has = taken.by.get(namespace).map_or(0, |share| share.all);
        if has > 0 && has + units > FREE_TIMES.saturating_mul(free) {
            return None;
        }
        taken.all += units;
        taken.by.entry(namespace.to_owned()).or_default().all += units;
        Some(Part { room: Arc::clone(self), namespace: namespace.to_owned(), profile: None, units })
    }

    /// How much is taken.
    pub(super) fn taken(&self) -> u64 {
        lock(&self.taken).all as u64
    }
}

impl Part {
    /// The part is for this profile; none if that would be more than the profile's share of what its namespace may have.
    pub(super) fn of(mut self, profile: &str) -> Option<Self> {
        let room = Arc::clone(&self.room);
        let mut taken = lock(&room.taken);
        let free = room.max - taken.all;
        let share = taken.by.entry(self.namespace.clone()).or_default();
        let may = ((free + share.all) * FREE_TIMES).div_ceil(FREE_TIMES + 1);
        let left = (may + self.units).saturating_sub(share.all);
        let has = share.by.get(profile).copied().unwrap_or_default();
        if has > 0 && has + self.units > FREE_TIMES.saturating_mul(left) {
            drop(taken);
            return None;
        }
        *share.by.entry(profile.to_owned()).or_default() += self.units;
        self.profile = Some(profile.to_owned());
        drop(taken);
        Some(self)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut taken = lock(&self.room.taken);
        taken.all -= self.units;
        let Some(share) = taken.by.get_mut(&self.namespace) else { return };
        share.all -= self.units;
        if let Some(profile) = &self.profile
            && let Some(has) = share.by.get_mut(profile)
        {
            *has -= self.units;
            if *has == 0 {
                share.by.remove(profile);
            }
        }
        if share.all == 0 {
            taken.by.remove(&self.namespace);
        }
    }
}

/// Calls that work at once. What finds no place waits for its turn: namespaces take turns, and within each its profiles.
#[derive(Debug)]
pub(super) struct Lanes {
    max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    working: usize,
    by: HashMap<String, Working>,
    waiting: Turns<String, String, Waiting>,
}

#[derive(Debug, Default)]
struct Working {
    all: usize,
    by: HashMap<String, usize>,
}

#[derive(Debug)]
struct Waiting {
    namespace: String,
    profile: String,
    go: oneshot::Sender<Turn>,
}

/// A place in the line. Whoever gives it up is taken out, however long the others stand.
struct Place<'a> {
    lanes: &'a Lanes,
    namespace: String,
    profile: String,
    waits: bool,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.waits {
            lock(&self.lanes.state).waiting.retain_of(&self.namespace, &self.profile, |it| !it.go.is_closed());
        }
    }
}

/// A call's turn; dropping it lets the next one go.
#[derive(Debug)]
pub(super) struct Turn {
    lanes: Arc<Lanes>,
    namespace: String,
    profile: String,
}

impl State {
    /// The next that goes, if one may. Whatever is passed over has calls at work, so that no more is passed over than work at once, however
    /// many wait.
    fn next(&mut self, max: usize) -> Option<Waiting> {
        let free = max.saturating_sub(self.working);
        if free == 0 {
            return None;
        }
        let by = &self.by;
        // A namespace works on less than is free, a profile on less than its namespace leaves of that.
        let left = |namespace: &String| free.saturating_sub(by.get(namespace).map_or(0, |working| working.all));
        let has = |namespace: &String, profile: &String| by.get(namespace)?.by.get(profile).copied();
        let may = |namespace: &String, profile: &String, it: &Waiting| {
            it.go.is_closed() || has(namespace, profile).is_none_or(|has| has < left(namespace))
        };
        self.waiting.pop_where(|namespace| left(namespace) > 0, may)
    }

    fn begin(&mut self, namespace: &str, profile: &str) {
        self.working += 1;
        let working = self.by.entry(namespace.to_owned()).or_default();
        working.all += 1;
        *working.by.entry(profile.to_owned()).or_default() += 1;
    }

    fn end(&mut self, namespace: &str, profile: &str) {
        self.working -= 1;
        let Some(working) = self.by.get_mut(namespace) else { return };
        working.all -= 1;
        if let Some(has) = working.by.get_mut(profile) {
            *has -= 1;
            if *has == 0 {
                working.by.remove(profile);
            }
        }
        if working.all == 0 {
            self.by.remove(namespace);
        }
    }
}

impl Lanes {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, state: Mutex::default() })
    }

    /// Waits for a turn. Whoever stops waiting gives it up.
    pub(super) async fn turn(self: &Arc<Self>, namespace: &str, profile: &str) -> Turn {
        // Dropped after the receiver, whose end says who has gone.
        let mut place =
            Place { lanes: self, namespace: namespace.to_owned(), profile: profile.to_owned(), waits: true };
        let (go, gone) = oneshot::channel();
        let waiting = Waiting { namespace: place.namespace.clone(), profile: place.profile.clone(), go };
        lock(&self.state).waiting.push(place.namespace.clone(), place.profile.clone(), waiting);
        self.let_go();
        let turn = gone.await;
        place.waits = false;
        match turn {
            Ok(turn) => turn,
            // Nobody lets go of a sender without sending; were it so, a call more would work than should.
            Err(_) => {
                lock(&self.state).begin(namespace, profile);
                Turn { lanes: Arc::clone(self), namespace: namespace.to_owned(), profile: profile.to_owned() }
            }
        }
    }

    /// Lets those go who may.
    fn let_go(self: &Arc<Self>) {
        loop {
            let next = {
                let mut state = lock(&self.state);
                let Some(next) = state.next(self.max) else { return };
                if next.go.is_closed() {
                    continue;
                }
                state.begin(&next.namespace, &next.profile);
                next
            };
            let Waiting { namespace, profile, go } = next;
            // Who went away at this very moment drops the turn, and so lets the next one go.
            drop(go.send(Turn { lanes: Arc::clone(self), namespace, profile }));
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        lock(&self.lanes.state).end(&self.namespace, &self.profile);
        self.lanes.let_go();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    // One alone has nearly everything, and whoever comes next always finds room.
    #[test]
    fn nobody_takes_the_last_places() {
        let room = Room::new(1_024);
        let mut loud: Vec<_> = std::iter::from_fn(|| room.take("loud", 1)).collect();
        assert_eq!(loud.len(), 768);
        let second: Vec<_> = std::iter::from_fn(|| room.take("second", 1)).collect();
        assert_eq!(second.len(), 192);
        assert!(room.take("quiet", 1).is_some());
        loud.truncate(10);
        drop(second);
        assert_eq!(room.taken(), 10);
        assert_eq!(std::iter::from_fn(|| room.take("loud", 1)).collect::<Vec<_>>().len(), 758);
        // Nor one profile its namespace's.
        drop(std::mem::take(&mut loud));
        let of = |profile: &'static str| {
            let room = Arc::clone(&room);
            std::iter::from_fn(move || room.take("loud", 1)?.of(profile)).collect::<Vec<_>>()
        };
        let hot = of("hot");
        assert!((570..=580).contains(&hot.len()), "{}", hot.len());
        assert!(of("other").len() >= 100 && room.take("quiet", 1).is_some());
        drop(hot);
        assert_eq!(room.taken(), 0);
        // The smallest rooms are of use.
        assert!(Room::new(1).take("one", 1).is_some());
        let two = Room::new(2);
        let (one, another) = (two.take("one", 1), two.take("one", 1));
        assert!(one.is_some() && another.is_some() && two.take("two", 1).is_none());
        // The largest body there is finds room when nothing else is there, and leaves some.
        let bodies = Room::new(256);
        assert_eq!(std::iter::from_fn(|| bodies.take("loud", 32)).collect::<Vec<_>>().len(), 6);
        assert!(Room::new(10).take("one", 11).is_none());
    }

    /// Those who may go at once, of so many.
    fn gone(lanes: &Arc<Lanes>, namespace: &str, profile: &str, count: usize) -> Vec<Turn> {
        (0..count).filter_map(|_| lanes.turn(namespace, profile).now_or_never()).collect()
    }

    #[test]
    fn a_flood_leaves_turns_to_profiles_and_namespaces() {
        let lanes = Lanes::new(64);
        let hot = gone(&lanes, "loud", "hot", 1_000);
        assert_eq!(hot.len(), 22, "one profile, a third");
        let other = gone(&lanes, "loud", "other", 1_000);
        assert!(other.len() >= 5, "another of its namespace finds turns: {}", other.len());
        assert!(hot.len() + other.len() <= 32, "one namespace, half");
        assert!(gone(&lanes, "quiet", "one", 1_000).len() >= 10);
        drop((hot, other));
        assert_eq!(lock(&lanes.state).working, 0);
    }

    // The order in which a flood and one call after it are let go.
    #[tokio::test]
    async fn who_waits_goes_in_turn() {
        let lanes = Lanes::new(1);
        let held = lanes.turn("loud", "a").await;
        let (told, mut order) = tokio::sync::mpsc::channel(8);
        let mut tasks = tokio::task::JoinSet::new();
        for (namespace, profile) in [("loud", "a"), ("loud", "a"), ("loud", "b"), ("quiet", "c")] {
            let (lanes, told) = (Arc::clone(&lanes), told.clone());
            tasks.spawn(async move {
                let turn = lanes.turn(namespace, profile).await;
                told.send((namespace, profile)).await.unwrap();
                drop(turn);
            });
            tokio::task::yield_now().await;
        }
        while lock(&lanes.state).waiting.len() < 4 {
            tokio::task::yield_now().await;
        }
        // One who went away takes no turn along.
        let away = tokio::spawn({
            let lanes = Arc::clone(&lanes);
            async move { drop(lanes.turn("away", "d").await) }
        });
        while lock(&lanes.state).waiting.len() < 5 {
            tokio::task::yield_now().await;
        }
        away.abort();
        assert!(away.await.unwrap_err().is_cancelled());
        assert_eq!(lock(&lanes.state).waiting.len(), 4, "it stands in nobody's line");
        drop(held);
        tasks.join_all().await;
        drop(told);
        let mut went = Vec::new();
        while let Some(it) = order.recv().await {
            went.push(it);
        }
        assert_eq!(went, [("loud", "a"), ("quiet", "c"), ("loud", "b"), ("loud", "a")]);
        assert_eq!(lock(&lanes.state).working, 0);
    }
}
