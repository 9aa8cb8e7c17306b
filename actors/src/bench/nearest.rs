//! The plain ways to the nearest vectors, which the vector view is held beside: comparing all, and hnsw_rs as it comes.

use hnsw_rs::prelude::{Distance, Hnsw};

use super::Random;

/// Clusters of unit vectors that lean one way and differ in far fewer ways than there are dimensions, as sentences do. Cut off its
/// end for questions: neighbours in this order are of different clusters.
pub fn clustered(count: usize, dimensions: usize) -> Vec<Vec<f32>> {
    const WAYS: usize = 48;
    let mut random = Random::new(5);
    let lean = random.vector(dimensions);
    let ways: Vec<Vec<f32>> = (0..WAYS).map(|_| random.vector(dimensions)).collect();
    let centres: Vec<Vec<f32>> = (0..count / 100 + 1).map(|_| random.vector(WAYS)).collect();
    let mut one = |i: usize| {
        let own = random.vector(dimensions);
        let mut vector: Vec<f32> = own.iter().zip(&lean).map(|(own, lean)| 2.0 * own + 2.0 * lean).collect();
        for (way, centre) in ways.iter().zip(&centres[i * 7_919 % centres.len()]) {
            let much = centre + random.uniform() - 0.5 + random.uniform() - 0.5;
            vector.iter_mut().zip(way).for_each(|(part, way)| *part += much * way);
        }
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|part| *part /= length);
        vector
    };
    (0..count).map(&mut one).collect()
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    for (a, b) in one.chunks_exact(16).zip(other.chunks_exact(16)) {
        (0..16).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum()
}

/// The `count` nearest of those that `keep` lets through, by comparing all of them: the truth, and the bare scan.
pub fn exact(vectors: &[Vec<f32>], query: &[f32], count: usize, keep: &dyn Fn(u32) -> bool) -> Vec<u32> {
    let kept = (0..).zip(vectors).filter(|(doc, _)| keep(*doc));
    let mut all: Vec<(f32, u32)> = kept.map(|(doc, vector)| (dot(query, vector), doc)).collect();
    if all.len() > count {
        all.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0));
    }
    all.into_iter().take(count).map(|(_, doc)| doc).collect()
}

/// The share of the true ones that were found.
pub fn recall(truths: &[Vec<u32>], found: &[Vec<u32>]) -> f64 {
    let all: usize = truths.iter().map(Vec::len).sum();
    let hits = truths.iter().zip(found).map(|(truth, found)| truth.iter().filter(|doc| found.contains(doc)).count());
    hits.sum::<usize>() as f64 / all.max(1) as f64
}

/// Of unit vectors.
#[derive(Clone, Copy, Debug, Default)]
struct Cosine;

impl Distance<f32> for Cosine {
    fn eval(&self, one: &[f32], other: &[f32]) -> f32 {
        (1.0 - dot(one, other)).max(0.0)
    }
}

/// hnsw_rs over the unquantised vectors, with the neighbours and candidates that the view's graph has.
pub struct Graph(Hnsw<'static, f32, Cosine>);

impl Graph {
    /// Inserts all of them, on all cores.
    pub fn of(vectors: &[Vec<f32>]) -> Self {
        let graph = Hnsw::new(16, vectors.len(), 16, 100, Cosine);
        let numbered: Vec<(&Vec<f32>, usize)> = vectors.iter().zip(0..).collect();
        graph.parallel_insert(&numbered);
        Self(graph)
    }

    /// Some `count` near ones, of `candidates` (the library's `ef`) that were weighed.
    pub fn nearest(&self, query: &[f32], count: usize, candidates: usize) -> Vec<u32> {
        let found = self.0.search(query, count, candidates);
        found.into_iter().map(|neighbour| neighbour.d_id as u32).collect()
    }
}
