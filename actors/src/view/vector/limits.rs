//! Where one way of searching takes over from another.

/// The crossings of [`super::Vectors`]. All counts are of chunks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// From here on a scan first compares 1-bit codes. Below, comparing the bytes of all is as fast, and exact.
    pub codes_from: usize,
    /// How many candidates the codes hand on to exact comparison, at least. 400 of 100,000 kept a recall of 0.987
    /// and with a filter of one in two 0.979.
    pub shortlist: usize,
    /// A filter that leaves no more than this is answered by exact comparison, codes or not.
    pub exact_to: usize,
    /// From here on a graph is built and asked. At 100,000 chunks it answers in two thirds of a scan's time (0.35 to
    /// 0.55 ms), at the price of five times the memory and a millisecond or two of building a chunk; a scan also deletes
    /// exactly and gets faster with a filter. The scan's time grows with the chunks, the graph's hardly: 200,000 is where,
    /// carried on from there, the graph should be more than twice as fast. That point itself was not measured.
    pub hnsw_from: usize,
    /// Candidates that a search of the graph weighs, at least; more find more and take longer.
    pub hnsw_candidates: usize,
    /// A filter that keeps fewer of a sample than this is answered by scanning what it keeps: the graph would have to
    /// walk through all that it does not.
    pub hnsw_kept_percent: usize,
    /// Newer vectors are scanned beside the graph until there are so many; then they are added to it.
    pub join_from: usize,
    /// When so many of the graph's members are dead it is built anew: they are walked through for nothing.
    pub rebuild_dead_percent: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            codes_from: 5_000,
            shortlist: 600,
            exact_to: 2_000,
            hnsw_from: 200_000,
            hnsw_candidates: 64,
            hnsw_kept_percent: 20,
            join_from: 4_096,
            rebuild_dead_percent: 20,
        }
    }
}
