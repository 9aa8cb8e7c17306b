//! How fast the search views are, side by side in one run: words by number of documents; vectors by exact scan, by codes
//! and by graph. Times depend on the machine, so read the ratios and the recall.
//!
//! `cargo bench -p memlog-actors --bench views [-- keyword | SIZE...]`; the sizes are those of the vector part, 1000 10000
//! 100000 by default. `memlog bench vectors` holds the view beside the plain ways.

use std::hint::black_box;
use std::time::Instant;

use memlog_actors::bench::{DIMENSIONS, Random, clustered, exact, recall};
use memlog_actors::same::{Author, Statement};
use memlog_actors::view::keyword::Keyword;
use memlog_actors::view::vector::{Limits, Vectors};

const QUERIES: usize = 50;

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|size| size.parse().ok()).collect();
    let words_only = std::env::args().any(|arg| arg == "keyword");
    if sizes.is_empty() {
        keyword();
        statements();
    }
    if sizes.is_empty() && !words_only {
        [1_000, 10_000, 100_000].into_iter().for_each(vector);
    }
    sizes.into_iter().for_each(vector);
}

/// What it costs to tell whether a statement is said already: read it, and compare it with one that differs in a word.
fn statements() {
    let text = "My sister moved to Lisbon in March because her company opened an office there";
    let [one, two] = [text, &text.replace("Lisbon", "Porto")].map(|text| Statement::new(text, Author::Anyone));
    let read = micros(500, |_| drop(black_box(Statement::new(text, Author::Anyone))));
    let compared = micros(500, |_| {
        black_box(one.says_the_same(&two));
    });
    println!("a statement of 14 words: read {read:.1} us, compared {compared:.1} us");
}

/// The median in microseconds, after one round to warm up.
fn micros(runs: usize, mut run: impl FnMut(usize)) -> f64 {
    (0..runs).for_each(&mut run);
    let mut times: Vec<f64> = (0..runs)
        .map(|i| {
            let start = Instant::now();
            run(i);
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn keyword() {
    println!("keyword: texts of 5 to 40 words, queries of 5 words");
    println!(
        "{:>8} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "docs", "insert us", "query us", "score us", "remove us", "bytes/doc"
    );
    for docs in [1_000, 10_000, 100_000] {
        let mut random = Random::new(1);
        let texts: Vec<String> = (0..docs).map(|i| random.text(5 + i % 36)).collect();
        let queries: Vec<String> =
            (0..200).map(|_| (0..5).map(|_| random.word(20.0)).collect::<Vec<_>>().join(" ")).collect();
        let mut view = Keyword::new();
        let start = Instant::now();
        for (doc, text) in (0..).zip(&texts) {
            view.insert(doc, text);
        }
        let insert = start.elapsed().as_secs_f64() * 1e6 / docs as f64;
        let query = micros(200, |i| {
            black_box(view.best(&view.prepare(&queries[i]), 50, &|_| true));
        });
        let terms = view.prepare(&queries[0]);
        let score = micros(200, |i| {
            black_box(view.score(&terms, i as u32));
        });
        let bytes = view.bytes() / docs;
        let start = Instant::now();
        (0..500_u32).for_each(|i| view.remove(i * (docs / 500) as u32));
        let remove = start.elapsed().as_secs_f64() * 1e6 / 500.0;
        println!("{docs:>8} {insert:>10.1} {query:>10.1} {score:>10.2} {remove:>10.1} {bytes:>10}");
    }
}

fn vector(size: usize) {
    let mut vectors = clustered(size + QUERIES, DIMENSIONS);
    let queries = vectors.split_off(size);
    let truths: Vec<Vec<u32>> = queries.iter().map(|query| exact(&vectors, query, 10, &|_| true)).collect();
    println!("vector: {size} chunks of {DIMENSIONS} dimensions, the best 10");
    println!(
        "{:>22} {:>10} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "", "query us", "x scan", "recall@10", "1 in 2 us", "1 in 100", "insert us", "bytes"
    );
    let exact = Limits { codes_from: usize::MAX, hnsw_from: usize::MAX, ..Limits::default() };
    let codes = Limits { codes_from: 1, ..exact };
    let graph = |hnsw_candidates| Limits { hnsw_from: size, hnsw_candidates, ..codes };
    let scan = measure("i8 scan", &mut filled(&vectors, exact), &queries, &truths, None);
    measure("1-bit codes, 400", &mut filled(&vectors, codes), &queries, &truths, Some(scan));
    let wide = Limits { shortlist: 1_600, ..codes };
    measure("1-bit codes, 1600", &mut filled(&vectors, wide), &queries, &truths, Some(scan));
    let mut built = filled(&vectors, graph(48));
    for (name, candidates) in [("graph, 48", 48), ("graph, 64", 64), ("graph, 128", 128)] {
        built.0.set_limits(graph(candidates));
        measure(name, &mut built, &queries, &truths, Some(scan));
    }
}

/// A view and what an insertion took.
fn filled(vectors: &[Vec<f32>], limits: Limits) -> (Vectors, f64) {
    let start = Instant::now();
    let mut view = Vectors::new(DIMENSIONS, limits);
    for (doc, vector) in (0..).zip(vectors) {
        view.insert(doc, 0, vector);
    }
    view.wait();
    (view, start.elapsed().as_secs_f64() * 1e6 / vectors.len() as f64)
}

fn measure(
    name: &str,
    (view, insert): &mut (Vectors, f64),
    queries: &[Vec<f32>],
    truths: &[Vec<u32>],
    scan: Option<f64>,
) -> f64 {
    let all = micros(QUERIES, |i| {
        black_box(view.nearest(&queries[i], 10, &|_| true));
    });
    let half = micros(QUERIES, |i| {
        black_box(view.nearest(&queries[i], 10, &|doc| doc % 2 == 0));
    });
    let few = micros(QUERIES, |i| {
        black_box(view.nearest(&queries[i], 10, &|doc| doc % 100 == 0));
    });
    let hits = |query: &Vec<f32>| view.nearest(query, 10, &|_| true).into_iter().map(|(doc, _)| doc).collect();
    let recall = recall(truths, &queries.iter().map(hits).collect::<Vec<_>>());
    let ratio = scan.map_or(1.0, |scan| all / scan);
    let bytes = view.bytes() / view.len();
    println!("{name:>22} {all:>10.1} {ratio:>8.2} {recall:>10.3} {half:>10.1} {few:>10.1} {insert:>10.1} {bytes:>10}");
    all
}
