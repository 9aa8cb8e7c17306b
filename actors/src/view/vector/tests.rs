//! Both sides of each crossing against brute force over floats, and deletions against a plain model.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{Limits, NONE, Vectors};

/// Everything by exact scan.
const EXACT: Limits = Limits {
    codes_from: usize::MAX,
    shortlist: 400,
    exact_to: 0,
    hnsw_from: usize::MAX,
    hnsw_candidates: 64,
    hnsw_kept_percent: 20,
    join_from: 256,
    rebuild_dead_percent: 20,
};

/// Codes from the first vector on.
const CODES: Limits = Limits { codes_from: 1, ..EXACT };

/// A graph as soon as the tests' data is in.
const GRAPH: Limits = Limits { hnsw_from: 1_500, ..CODES };

/// Random numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        // xorshift64*; three summed are near enough to a normal distribution.
        let mut sum = 0.0;
        for _ in 0..3 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            sum += (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1 << 23) as f32 - 1.0;
        }
        sum
    }

    fn vector(&mut self, dimensions: usize) -> Vec<f32> {
        (0..dimensions).map(|_| self.next()).collect()
    }
}

/// Vectors as those of real models: in clusters, all leaning one way, and with far fewer ways to differ than dimensions.
fn clustered(count: usize, dimensions: usize, seed: u64) -> Vec<Vec<f32>> {
    const WAYS: usize = 24;
    let mut random = Random(seed);
    let lean = random.vector(dimensions);
    let ways: Vec<Vec<f32>> = (0..WAYS).map(|_| random.vector(dimensions)).collect();
    let centres: Vec<Vec<f32>> = (0..count / 40 + 1).map(|_| random.vector(WAYS)).collect();
    let one = |i: usize| {
        let mut vector: Vec<f32> =
            random.vector(dimensions).iter().zip(&lean).map(|(own, lean)| own + 2.0 * lean).collect();
        for (way, centre) in ways.iter().zip(&centres[i * 7919 % centres.len()]) {
            let much = centre + random.next();
            vector.iter_mut().zip(way).for_each(|(part, way)| *part += much * way);
        }
        vector
    };
    (0..count).map(one).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

fn filled(vectors: &[Vec<f32>], limits: Limits) -> Vectors {
    let mut view = Vectors::new(vectors[0].len(), limits);
    for (doc, vector) in vectors.iter().enumerate() {
        view.insert(doc as u32, 0, vector);
    }
    view.wait();
    view
}

/// The share of the true ten nearest kept documents that the view finds, over the queries.
fn recall(view: &Vectors, vectors: &[Vec<f32>], queries: &[Vec<f32>], keep: &dyn Fn(u32) -> bool) -> f32 {
    let mut found = 0;
    for query in queries {
        let mut truth: Vec<(u32, f32)> = (0..)
            .zip(vectors)
            .filter(|(doc, _)| keep(*doc))
            .map(|(doc, vector)| (doc, cosine(query, vector)))
            .collect();
        truth.sort_by(|a, b| b.1.total_cmp(&a.1));
        let hits = view.nearest(query, 10, keep);
        assert_eq!(hits.len(), 10);
        assert!(hits.iter().all(|(doc, _)| keep(*doc)));
        found += truth[..10].iter().filter(|(doc, _)| hits.iter().any(|(hit, _)| hit == doc)).count();
    }
    found as f32 / (10 * queries.len()) as f32
}

fn assert_shared<T: Send + Sync>() {}

// The crossings are limits, so the answers on both sides of each must be the same but for what the faster way may miss.
#[test]
fn both_sides_of_each_crossing_agree_with_brute_force() {
    assert_shared::<Vectors>();
    let mut vectors = clustered(2_020, 192, 7);
    let queries = vectors.split_off(2_000);
    for (limits, graph, least) in [(EXACT, false, 0.98), (CODES, false, 0.98), (GRAPH, true, 0.9)] {
        let view = filled(&vectors, limits);
        assert_eq!(view.has_graph(), graph);
        for (name, keep) in
            [("all", &(|_| true) as &dyn Fn(u32) -> bool), ("half", &|doc| doc % 2 == 0), ("few", &|doc| doc % 50 == 0)]
        {
            let recall = recall(&view, &vectors, &queries, keep);
            assert!(recall >= least, "recall {recall} with {name} kept, {limits:?}");
        }
    }
}

// Ranking fuses both legs for every candidate of either: the number must not depend on who found the candidate.
#[test]
fn similarity_is_what_nearest_says() {
    let vectors = clustered(500, 96, 3);
    let view = filled(&vectors, CODES);
    let query = view.prepare(&vectors[7]);
    for (doc, score) in view.nearest_to(&query, 20, &|_| true) {
        assert_eq!(view.similarity(&query, doc), Some(score));
        assert!((score - cosine(&vectors[7], &vectors[doc as usize])).abs() < 0.01);
    }
    assert_eq!(view.similarity(&query, 9_999), None);
}

// Filters applied after the top k are the fault that this design is against.
#[test]
fn one_document_of_alice_among_ten_thousand_nearer_ones() {
    let near = clustered(1, 32, 5).remove(0);
    let mut random = Random(11);
    let far: Vec<f32> = near.iter().map(|part| -part).collect();
    // Building a graph is slow unoptimised, so there it is fewer.
    for (limits, others) in [(EXACT, 10_000), (CODES, 10_000), (GRAPH, 3_000)] {
        let mut view = Vectors::new(32, limits);
        for doc in 0..others {
            let vector: Vec<f32> = near.iter().map(|part| part + 0.3 * random.next()).collect();
            view.insert(doc, 0, if doc == 1_000 { &far } else { &vector });
        }
        view.wait();
        let hits = view.nearest(&near, 3, &|doc| doc == 1_000);
        assert_eq!(hits.iter().map(|hit| hit.0).collect::<Vec<_>>(), [1_000]);
        // A filter that keeps a lot, all of it far away, must not fool the graph either.
        let hits = view.nearest(&far, 3, &|doc| doc != 1_000);
        assert_eq!(hits.len(), 3);
    }
}

// What a filter keeps may lie farthest from the question: then all the others are asked about first, and nothing is lost by it.
#[test]
fn a_filter_that_keeps_the_farthest_is_answered_as_by_brute_force() {
    let mut vectors = clustered(4_003, 192, 31);
    let queries = vectors.split_off(4_000);
    // The codes choose as many as are kept, so that they decide nothing.
    for limits in [EXACT, Limits { shortlist: 2_000, ..CODES }] {
        let view = filled(&vectors, limits);
        for query in &queries {
            let prepared = view.prepare(query);
            let mut truth: Vec<(u32, f32)> =
                (0..4_000).filter_map(|doc| Some((doc, view.similarity(&prepared, doc)?))).collect();
            truth.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let farthest = truth.split_off(2_800);
            let keep: std::collections::HashSet<u32> = farthest.iter().map(|(doc, _)| *doc).collect();
            assert_eq!(view.nearest_to(&prepared, 10, &|doc| keep.contains(&doc)), farthest[..10], "{limits:?}");
        }
    }
}

// One long document must not take all the places: documents count, not chunks.
#[test]
fn a_document_of_many_chunks_takes_one_place() {
    let base = clustered(1, 64, 9).remove(0);
    let mut random = Random(13);
    for limits in [EXACT, Limits { shortlist: 10, ..CODES }, Limits { shortlist: 10, hnsw_from: 500, ..CODES }] {
        let mut view = Vectors::new(64, limits);
        for chunk in 0..1_000 {
            let vector: Vec<f32> = base.iter().map(|part| part + 0.1 * random.next()).collect();
            view.insert(0, chunk, &vector);
        }
        for doc in 1..4 {
            view.insert(doc, 0, &random.vector(64));
        }
        view.wait();
        assert_eq!((view.len(), view.chunks()), (4, 1_003));
        let hits = view.nearest(&base, 4, &|_| true);
        assert_eq!(hits.len(), 4);
        assert_eq!(hits[0].0, 0);
        view.remove(0);
        assert_eq!((view.len(), view.chunks()), (3, 3));
    }
}

// "Thanks!" is said ten thousand times; a graph of equal points must still lead out of them.
#[test]
fn a_crowd_of_equal_vectors_hides_nobody() {
    let mut vectors = clustered(2_020, 64, 17);
    let queries = vectors.split_off(2_000);
    let same = vectors[0].clone();
    for vector in vectors.iter_mut().step_by(2) {
        vector.clone_from(&same);
    }
    let view = filled(&vectors, GRAPH);
    assert!(view.has_graph());
    let recall = recall(&view, &vectors, &queries, &|_| true);
    assert!(recall >= 0.9, "{recall}");
}

// The graph cannot delete, so it carries its dead along until it is built anew, and what is newer is scanned beside it.
#[test]
fn the_graph_lives_through_growth_death_and_rebuilding() {
    let mut vectors = clustered(3_020, 64, 23);
    let queries = vectors.split_off(3_000);
    let mut view = filled(&vectors[..2_000], GRAPH);
    for (doc, vector) in (2_000..).zip(&vectors[2_000..]) {
        view.insert(doc, 0, vector);
        // At once, whatever the background is doing.
        assert_eq!(view.nearest(vector, 1, &|_| true)[0].0, doc);
    }
    view.wait();
    assert!(recall(&view, &vectors, &queries, &|_| true) >= 0.9);
    // Up to just below the rebuild the dead stay in the graph, and displace nobody.
    let gone = |doc: u32| doc.is_multiple_of(6);
    (0..3_000).filter(|doc| gone(*doc)).for_each(|doc| view.remove(doc));
    assert!(view.graph.as_ref().is_some_and(|side| side.dead > 450));
    assert_tidy(&view);
    assert!(recall(&view, &vectors, &queries, &|doc| !gone(doc)) >= 0.9);
    (0..3_000).filter(|doc| doc % 5 == 0).for_each(|doc| view.remove(doc));
    view.wait();
    assert!(view.graph.as_ref().is_some_and(|side| side.dead * 5 <= side.members));
    assert!(recall(&view, &vectors, &queries, &|doc| !gone(doc) && doc % 5 != 0) >= 0.9);
    assert_tidy(&view);
    // Small again: no graph, and every slot is free to be used.
    (0..2_700).for_each(|doc| view.remove(doc));
    view.wait();
    assert!(!view.has_graph());
    assert_eq!(view.free.len() + view.live, view.docs.len());
    assert_tidy(&view);
}

// A profile that is only read must get its graph too, and readers must not stand in the builder's way, nor it in theirs.
#[test]
fn readers_go_on_while_the_graph_is_built_and_then_use_it() {
    let vectors = clustered(1_600, 64, 29);
    let mut view = Vectors::new(64, GRAPH);
    for (doc, vector) in (0..).zip(&vectors) {
        view.insert(doc, 0, vector);
    }
    let view = &view;
    std::thread::scope(|scope| {
        for reader in 0..2 {
            let mine = vectors.iter().enumerate().skip(reader).step_by(16);
            scope.spawn(move || {
                for (doc, vector) in mine.cycle().take(400) {
                    assert_eq!(view.nearest(vector, 3, &|_| true)[0].0, doc as u32);
                }
            });
        }
    });
    while !view.has_graph() {
        std::thread::yield_now();
    }
    assert!(view.job.is_some(), "nobody has adopted it yet");
    assert_eq!(view.nearest(&vectors[5], 3, &|_| true)[0].0, 5);
}

/// What must hold at any time: dead slots hold nothing, and no slot is both free and known to a graph.
fn assert_tidy(view: &Vectors) {
    for (slot, doc) in (0_u32..).zip(&view.docs) {
        if *doc == NONE {
            let (row, factor) = view.rows.row(slot);
            assert!(row.iter().all(|byte| *byte == 0) && factor == 0.0, "slot {slot} holds a vector");
            if let Some(codes) = &view.codes {
                let at = slot as usize * codes.words;
                assert!(codes.all[at..at + codes.words].iter().all(|word| *word == 0), "slot {slot} holds a code");
            }
        }
    }
    assert!(view.free.iter().all(|slot| !view.rows.is_shared(*slot) && view.docs[*slot as usize] == NONE));
    assert_eq!(view.docs.iter().filter(|doc| **doc != NONE).count(), view.live);
}

// A graph may lead to a document by any of its chunks; its score is that of the best one all the same.
#[test]
fn a_document_is_scored_by_its_best_chunk_however_it_was_found() {
    let mut view = Vectors::new(16, SMALL);
    for doc in 0..60_u32 {
        for chunk in 0..3_u16 {
            view.insert(doc, chunk, &Random(u64::from(doc) * 3 + u64::from(chunk) + 1).vector(16));
        }
    }
    view.wait();
    assert!(view.has_graph());
    for seed in 1_000..1_200 {
        let query = Random(seed).vector(16);
        let prepared = view.prepare(&query);
        for (doc, score) in view.nearest(&query, 5, &|_| true) {
            assert_eq!(Some(score), view.similarity(&prepared, doc), "document {doc} of query {seed}");
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u32, u16, u64),
    Remove(u32),
    /// So many documents at once, to reach the crossings.
    Many(u32, u32, u64),
    RemoveMany(u32, u32),
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0_u32..60, 0_u16..3, 1_u64..u64::MAX).prop_map(|(doc, chunk, seed)| Step::Insert(doc, chunk, seed)),
        3 => (0_u32..60).prop_map(Step::Remove),
        2 => (0_u32..60, 1_u32..40, 1_u64..u64::MAX).prop_map(|(from, count, seed)| Step::Many(from, count, seed)),
        1 => (0_u32..60, 1_u32..40).prop_map(|(from, count)| Step::RemoveMany(from, count)),
        2 => Just(Step::Wait),
    ];
    prop::collection::vec(step, 1..60)
}

const SMALL: Limits = Limits {
    codes_from: 20,
    shortlist: 8,
    exact_to: 6,
    hnsw_from: 40,
    hnsw_candidates: 16,
    hnsw_kept_percent: 20,
    join_from: 8,
    rebuild_dead_percent: 20,
};

type Model = HashMap<u32, HashMap<u16, Vec<f32>>>;

fn apply(step: &Step, view: &mut Vectors, model: &mut Model) {
    let mut put = |view: &mut Vectors, doc, chunk, seed| {
        let vector = Random(seed).vector(16);
        view.insert(doc, chunk, &vector);
        model.entry(doc).or_default().insert(chunk, vector);
    };
    match *step {
        Step::Insert(doc, chunk, seed) => put(view, doc, chunk, seed),
        Step::Many(from, count, seed) => {
            (from..from + count).for_each(|doc| put(view, doc, 0, seed ^ u64::from(doc) << 20 | 1))
        }
        Step::Remove(doc) => {
            view.remove(doc);
            model.remove(&doc);
        }
        Step::RemoveMany(from, count) => {
            for doc in from..from + count {
                view.remove(doc);
                model.remove(&doc);
            }
        }
        Step::Wait => view.wait(),
    }
}

fn check(view: &Vectors, model: &Model, keep: &dyn Fn(u32) -> bool) {
    let query = Random(99).vector(16);
    let truth = |doc: u32| {
        let chunks = model.get(&doc).unwrap_or_else(|| panic!("document {doc} was deleted"));
        chunks.values().map(|vector| cosine(&query, vector)).max_by(f32::total_cmp).unwrap()
    };
    let all = view.nearest(&query, 1_000, keep);
    assert_eq!(all.len(), model.keys().filter(|doc| keep(**doc)).count());
    let some = view.nearest(&query, 5, keep);
    assert_eq!(some.len(), all.len().min(5));
    for (doc, score) in all.iter().chain(&some) {
        assert!(keep(*doc) && (score - truth(*doc)).abs() < 0.03, "document {doc}: {score} and {}", truth(*doc));
    }
    assert!(all.is_sorted_by(|a, b| a.1 >= b.1) && some.is_sorted_by(|a, b| a.1 >= b.1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    // The promise: what is deleted is never answered again, and what is there is found, whatever the background does.
    #[test]
    fn deleted_is_gone_and_kept_is_found_whatever_the_order(steps in steps()) {
        let (mut view, mut model) = (Vectors::new(16, SMALL), Model::new());
        for step in &steps {
            apply(step, &mut view, &mut model);
            check(&view, &model, &|_| true);
            check(&view, &model, &|doc| doc % 3 == 0);
            assert_tidy(&view);
        }
        prop_assert_eq!(view.len(), model.len());
        prop_assert_eq!(view.chunks(), model.values().map(HashMap::len).sum::<usize>());
    }
}
