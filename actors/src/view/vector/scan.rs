//! Comparing: the graph's candidates, or those that the codes choose, or all.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::quantise::{Codes, PreparedQuery};
use super::{NONE, Vectors};

/// Codes compared at a time: their distances fit the nearest cache.
const BLOCK: usize = 256;
/// What the distances say of a slot that is dead or filtered out.
const OUT: u16 = u16::MAX;
/// Slots looked at to guess how much a filter keeps.
const SAMPLE: usize = 256;
/// A filter that keeps at least this share of a sample is asked about the nearest alone, after everything was compared.
const ASKED_LAST_FROM: f32 = 0.2;
/// How many of a shortlist are compared once more with the unquantised query, at least, and for each wanted document.
const RESCORED: usize = 64;
const RESCORED_PER_HIT: usize = 4;

impl Vectors {
    /// Cosine of a slot with the unquantised query.
    pub(super) fn cosine(&self, query: &PreparedQuery, slot: u32) -> f32 {
        let (row, factor) = self.rows.row(slot);
        (self.rows.kernels.dot_f32)(&query.floats, row) * factor
    }

    /// The same by bytes alone: faster, and wrong in the fourth digit.
    fn rough_cosine(&self, query: &PreparedQuery, slot: u32) -> f32 {
        let (row, factor) = self.rows.row(slot);
        (self.rows.kernels.dot)(&query.bytes, row) as f32 * factor * query.factor
    }

    pub(super) fn scan(&self, query: &PreparedQuery, limit: usize, keep: &dyn Fn(u32) -> bool) -> Vec<(u32, f32)> {
        let share = self.sample(keep);
        let few = share * self.live as f32 <= self.limits.exact_to as f32;
        match &self.codes {
            Some(codes) if !few => self.scan_codes(codes, query, limit, keep, share),
            // The filter costs more than a comparison: where it lets most through, it is asked about the nearest alone.
            _ if share >= ASKED_LAST_FROM => self.scan_all(query, limit, keep),
            _ => {
                let mut kept = Kept::new(keep);
                let slots = (0..self.docs.len() as u32).filter(|slot| kept.keeps(self.docs[*slot as usize]));
                let slots = slots.collect();
                self.rank(query, slots, limit)
            }
        }
    }

    /// Compares everything, and then asks about the nearest until enough of them are kept.
    fn scan_all(&self, query: &PreparedQuery, limit: usize, keep: &dyn Fn(u32) -> bool) -> Vec<(u32, f32)> {
        let live = (0..self.docs.len() as u32).filter(|slot| self.docs[*slot as usize] != NONE);
        let mut rough: Vec<(u32, f32)> = live.map(|slot| (slot, self.rough_cosine(query, slot))).collect();
        let mut take = RESCORED.max(RESCORED_PER_HIT * limit);
        let (mut near, mut asked): (Vec<(u32, f32)>, usize) = (Vec::new(), 0);
        let mut kept = Kept::new(keep);
        loop {
            // The next nearest, as many again as are asked about already: a filter that keeps the farthest is met in few steps.
            let further = (2 * asked).max(2 * take).min(rough.len());
            if asked < further && further < rough.len() {
                rough[asked..].select_nth_unstable_by(further - asked, best_first);
            }
            near.extend(rough[asked..further].iter().filter(|(slot, _)| kept.keeps(self.docs[*slot as usize])));
            asked = further;
            if near.len() < take && asked < rough.len() {
                continue;
            }
            if take < near.len() {
                near.select_nth_unstable_by(take, best_first);
            }
            let best = self.fold(query, near.iter().take(take).map(|(slot, _)| *slot), limit);
            if best.len() >= limit || (asked >= rough.len() && take >= near.len()) {
                return best;
            }
            take *= 4;
        }
    }

    /// One pass over the codes, then the nearest of what is kept by exact comparison. The filter costs more than comparing codes, so
    /// it is asked from the nearest outwards, and no further than it takes; `share` is how much of all it is thought to keep.
    fn scan_codes(
        &self,
        codes: &Codes,
        query: &PreparedQuery,
        limit: usize,
        keep: &dyn Fn(u32) -> bool,
        share: f32,
    ) -> Vec<(u32, f32)> {
        let code: Vec<u64> = codes.code(&query.bytes, query.factor).collect();
        let mut distances = vec![OUT; self.docs.len()];
        let mut histogram = vec![0_usize; codes.words * 64 + 1];
        let blocks = distances.chunks_mut(BLOCK).zip(self.docs.chunks(BLOCK));
        for ((distances, docs), codes) in blocks.zip(codes.all.chunks(BLOCK * codes.words)) {
            (self.rows.kernels.hammings)(&code, codes, distances);
            for (distance, doc) in distances.iter_mut().zip(docs) {
                if *doc == NONE {
                    *distance = OUT;
                } else {
                    histogram[usize::from(*distance)] += 1;
                }
            }
        }
        let mut want = self.limits.shortlist.max(8 * limit);
        let mut shell = Shell::new(&distances, &self.docs, &histogram, keep);
        loop {
            shell.grow(want, share);
            let all = shell.is_whole() && shell.near.len() <= self.limits.exact_to.max(want);
            let reach = if all { OUT - 1 } else { reach(&shell.kept, want) };
            let slots = shell.near.iter().filter(|(distance, _)| *distance <= reach).map(|(_, slot)| *slot);
            let best = self.rank(query, slots.collect(), limit);
            // A document of many chunks may fill a shortlist: then a longer one.
            if all || best.len() >= limit {
                return best;
            }
            want *= 4;
        }
    }

    /// The best documents of some slots, all of them live and kept.
    fn rank(&self, query: &PreparedQuery, slots: Vec<u32>, limit: usize) -> Vec<(u32, f32)> {
        let mut take = RESCORED.max(RESCORED_PER_HIT * limit);
        if slots.len() <= take {
            return self.fold(query, slots.into_iter(), limit);
        }
        let mut rough: Vec<(u32, f32)> = slots.into_iter().map(|slot| (slot, self.rough_cosine(query, slot))).collect();
        loop {
            if take < rough.len() {
                rough.select_nth_unstable_by(take, best_first);
            }
            let best = self.fold(query, rough.iter().take(take).map(|(slot, _)| *slot), limit);
            if best.len() >= limit || take >= rough.len() {
                return best;
            }
            take *= 4;
        }
    }

    /// Documents by their best chunk. Each is scored over all its chunks: which of them led here, the codes and the graph
    /// choose roughly, and a document must not have another score than [`Vectors::similarity`] gives it.
    fn fold(&self, query: &PreparedQuery, slots: impl Iterator<Item = u32>, limit: usize) -> Vec<(u32, f32)> {
        let mut best: HashMap<u32, f32> = HashMap::new();
        for slot in slots {
            let doc = self.docs[slot as usize];
            best.entry(doc).or_insert_with(|| self.similarity(query, doc).unwrap_or(f32::NEG_INFINITY));
        }
        let mut best: Vec<(u32, f32)> = best.into_iter().collect();
        best.sort_unstable_by(best_first);
        best.truncate(limit);
        best
    }

    /// Asks the graph. `None` if there is none, or if a scan is sure to answer better: then the filter keeps little, or
    /// what it keeps lies beyond what the graph was asked for.
    pub(super) fn through_graph(
        &self,
        query: &PreparedQuery,
        limit: usize,
        keep: &dyn Fn(u32) -> bool,
    ) -> Option<Vec<(u32, f32)>> {
        let side = self.side()?;
        let kept = self.sample(keep);
        if kept * 100.0 < self.limits.hnsw_kept_percent as f32 || side.dead >= side.members {
            return None;
        }
        let alive = 1.0 - side.dead as f32 / side.members as f32;
        // More than is wanted, so that the dead, the filtered and second chunks displace nothing.
        let mut want = ((1.5 * limit as f32 + 10.0) / (kept * alive)) as usize;
        for _ in 0..2 {
            want = want.max(self.limits.hnsw_candidates);
            let found = side.graph.nearest(query, want);
            let last = found.iter().rev().find(|slot| self.docs[**slot as usize] != NONE)?;
            let horizon = self.rough_cosine(query, *last);
            let mut filter = Kept::new(keep);
            let slots = found.iter().chain(&side.fresh).copied();
            let slots = slots.filter(|slot| filter.keeps(self.docs[*slot as usize]));
            let best = self.rank(query, slots.collect(), limit);
            // What the graph did not show is farther than the last that it did show: only hits nearer than that are sure.
            if best.len() >= limit && best[limit - 1].1 >= horizon - ROUGH {
                return Some(best);
            }
            want *= 4;
        }
        None
    }

    /// The share of live slots that the filter keeps, guessed from some.
    fn sample(&self, keep: &dyn Fn(u32) -> bool) -> f32 {
        let mut kept = Kept::new(keep);
        // Steps of the golden ratio: even steps would meet only every other speaker of a dialogue.
        let slots = self.docs.len();
        let places = (0..SAMPLE.min(slots)).map(|i| ((i as u64 * 0x9E37_79B9) % (1 << 32) * slots as u64) >> 32);
        let live = places.map(|place| &self.docs[place as usize]).filter(|doc| **doc != NONE);
        let (all, through) = live.fold((0, 0), |(all, through), doc| (all + 1, through + u32::from(kept.keeps(*doc))));
        through as f32 / all.max(1) as f32
    }
}

/// What the codes say is near and the filter keeps, out to some distance.
struct Shell<'a> {
    distances: &'a [u16],
    docs: &'a [u32],
    /// Live slots by distance.
    histogram: &'a [usize],
    filter: Kept<'a>,
    /// Everything nearer than this was asked about.
    asked_to: u16,
    /// Distances and slots of those that are kept.
    near: Vec<(u16, u32)>,
    /// How many of them by distance.
    kept: Vec<usize>,
}

impl<'a> Shell<'a> {
    fn new(distances: &'a [u16], docs: &'a [u32], histogram: &'a [usize], keep: &'a dyn Fn(u32) -> bool) -> Self {
        let (filter, kept) = (Kept::new(keep), vec![0; histogram.len()]);
        Self { distances, docs, histogram, filter, asked_to: 0, near: Vec::new(), kept }
    }

    fn is_whole(&self) -> bool {
        usize::from(self.asked_to) >= self.histogram.len()
    }

    /// Asks outwards until so many are kept, or all were asked about.
    fn grow(&mut self, want: usize, share: f32) {
        let mut share = share;
        while self.near.len() < want && !self.is_whole() {
            let asked: usize = self.histogram[..usize::from(self.asked_to)].iter().sum();
            // A little more than should do, since going over all distances again costs more.
            let more = (1.25 * (want - self.near.len()) as f32 / share.max(0.001)) as usize + 1;
            let to = reach(self.histogram, asked + more).max(self.asked_to);
            for (slot, distance) in (0_u32..).zip(self.distances) {
                if (self.asked_to..=to).contains(distance) && self.filter.keeps(self.docs[slot as usize]) {
                    self.near.push((*distance, slot));
                    self.kept[usize::from(*distance)] += 1;
                }
            }
            self.asked_to = to + 1;
            share /= 2.0;
        }
    }
}

/// By how much a cosine of bytes with bytes may be off.
const ROUGH: f32 = 0.002;

/// A filter that asks once for neighbouring chunks of a document.
struct Kept<'a> {
    keep: &'a dyn Fn(u32) -> bool,
    last: (u32, bool),
}

impl<'a> Kept<'a> {
    fn new(keep: &'a dyn Fn(u32) -> bool) -> Self {
        Self { keep, last: (NONE, false) }
    }

    fn keeps(&mut self, doc: u32) -> bool {
        if doc != self.last.0 {
            self.last = (doc, doc != NONE && (self.keep)(doc));
        }
        self.last.1
    }
}

/// The distance within which at least `want` lie.
fn reach(histogram: &[usize], want: usize) -> u16 {
    let mut sum = 0;
    let place = histogram.iter().position(|count| {
        sum += count;
        sum >= want
    });
    place.unwrap_or(histogram.len()) as u16
}

fn best_first(a: &(u32, f32), b: &(u32, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}
