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
        let few = || self.sample(keep) * self.live as f32 <= self.limits.exact_to as f32;
        match &self.codes {
            Some(codes) if !few() => self.scan_codes(codes, query, limit, keep),
            _ => {
                let mut kept = Kept::new(keep);
                let slots = (0..self.docs.len() as u32).filter(|slot| kept.keeps(self.docs[*slot as usize]));
                let slots = slots.collect();
                self.rank(query, slots, limit)
            }
        }
    }

    /// One pass over the codes of what is kept, then the nearest of them by exact comparison.
    fn scan_codes(
        &self,
        codes: &Codes,
        query: &PreparedQuery,
        limit: usize,
        keep: &dyn Fn(u32) -> bool,
    ) -> Vec<(u32, f32)> {
        let code: Vec<u64> = codes.code(&query.bytes, query.factor).collect();
        let mut distances = vec![OUT; self.docs.len()];
        let mut histogram = vec![0_usize; codes.words * 64 + 1];
        let mut kept = Kept::new(keep);
        let blocks = distances.chunks_mut(BLOCK).zip(self.docs.chunks(BLOCK));
        for ((distances, docs), codes) in blocks.zip(codes.all.chunks(BLOCK * codes.words)) {
            (self.rows.kernels.hammings)(&code, codes, distances);
            for (distance, doc) in distances.iter_mut().zip(docs) {
                if kept.keeps(*doc) {
                    histogram[usize::from(*distance)] += 1;
                } else {
                    *distance = OUT;
                }
            }
        }
        let total: usize = histogram.iter().sum();
        let mut want = self.limits.shortlist.max(8 * limit);
        loop {
            let all = total <= self.limits.exact_to.max(want);
            let reach = if all { OUT - 1 } else { reach(&histogram, want) };
            let slots = (0_u32..).zip(&distances).filter(|(_, distance)| **distance <= reach);
            let best = self.rank(query, slots.map(|(slot, _)| slot).collect(), limit);
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
