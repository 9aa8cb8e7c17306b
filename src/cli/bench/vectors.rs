//! The vector view alone: its best ten against a comparison of all, which is the truth, and against hnsw_rs as it comes.

use memlog_actors::{
    bench::{DIMENSIONS, Graph, alternately, clustered, exact, recall},
    view::vector::{Limits, Vectors},
};

use super::{
    Bench,
    plot::Chart,
    report::{Figure, Part, Reach},
    unmeasured,
};
use crate::cli::fail::Fail;

/// Hits.
const BEST: usize = 10;
/// The share of the true ten that has to be found.
const RECALL_MIN: f64 = 0.98;
/// Candidates weighed by a graph (hnsw_rs calls it `ef`): the first with which it finds enough is the one that is timed.
const CANDIDATES: [usize; 7] = [32, 64, 128, 256, 512, 1_024, 2_048];
/// A filter lets through one in so many.
const KEPT: [u32; 3] = [2, 100, 1_000];

pub(super) async fn measure(bench: &Bench) -> Result<Part, Fail> {
    let mut figures = Vec::new();
    let mut chart = Chart::new("vectors", "the best ten of so many vectors, median", "vectors", "ms");
    for size in bench.scale.vectors.clone() {
        bench.note(&format!("{size} vectors"));
        let runs = bench.scale.questions;
        let measured = tokio::task::spawn_blocking(move || among(size, runs)).await.map_err(unmeasured)?;
        for figure in &measured {
            let line = figure.what.split(',').next().unwrap_or_default();
            let is_limit = figure.limit.is_none() || line.starts_with("hnsw_rs");
            let name = if figure.what.contains("1 in") { figure.what.as_str() } else { line };
            chart.add(name, is_limit, size as f64, figure.median);
        }
        figures.extend(measured);
    }
    let about =
        format!("the best {BEST} of vectors of {DIMENSIONS} dimensions that lie in clusters as those of sentences do");
    Ok(Part { name: "vectors", about, counts: "vectors", figures, took_s: 0.0, charts: vec![chart] })
}

fn among(size: usize, runs: usize) -> Vec<Figure> {
    let mut vectors = clustered(size + runs, DIMENSIONS);
    let questions = vectors.split_off(size);
    let question = |run: usize| &questions[run % questions.len()];
    let truths: Vec<Vec<u32>> = questions.iter().map(|it| exact(&vectors, it, BEST, &|_| true)).collect();
    let mut view = Vectors::new(DIMENSIONS, Limits::default());
    for (doc, vector) in (0..).zip(&vectors) {
        view.insert(doc, 0, vector);
    }
    view.wait();
    let as_it_comes = shipped(&view, &questions, &truths, runs);
    let wanted = widened(&mut view, &questions, &truths);
    let graph = Graph::of(&vectors);
    let of_graph = |candidates: usize| -> Vec<Vec<u32>> {
        questions.iter().map(|it| graph.nearest(it, BEST, candidates)).collect()
    };
    let (candidates, found) = first_enough(&CANDIDATES, |candidates| recall(&truths, &of_graph(candidates)));

    let [scan, ours, theirs] = alternately(
        runs,
        [
            &mut |run| drop(std::hint::black_box(exact(&vectors, question(run), BEST, &|_| true))),
            &mut |run| drop(std::hint::black_box(view.nearest(question(run), BEST, &|_| true))),
            &mut |run| drop(std::hint::black_box(graph.nearest(question(run), BEST, candidates))),
        ],
    );
    let way = if view.has_graph() { format!("graph of {wanted}") } else { "scan".to_owned() };
    let mut figures = vec![
        Figure::times("comparing all", size, &scan),
        Figure::times(format!("hnsw_rs, ef {candidates}"), size, &theirs)
            .recalling(found)
            .beside("comparing all", scan.p50()),
        Figure::times(format!("the view, {way}"), size, &ours)
            .recalling(recall(&truths, &of_view(&view, &questions)))
            .beside("comparing all", scan.p50())
            .reaching(Reach::Recall(RECALL_MIN)),
    ];
    // Where that is enough, the row above is the same.
    figures.extend(as_it_comes.filter(|_| wanted != Limits::default().hnsw_candidates));
    figures.extend(KEPT.map(|one_in| filtered(&view, &vectors, &questions, one_in, runs)));
    figures
}

/// Both with a filter, whose truth is what is kept.
fn filtered(view: &Vectors, vectors: &[Vec<f32>], questions: &[Vec<f32>], one_in: u32, runs: usize) -> Figure {
    let keep = move |doc: u32| doc.is_multiple_of(one_in);
    let question = |run: usize| &questions[run % questions.len()];
    let [scan, ours] = alternately(
        runs,
        [&mut |run| drop(std::hint::black_box(exact(vectors, question(run), BEST, &keep))), &mut |run| {
            drop(std::hint::black_box(view.nearest(question(run), BEST, &keep)))
        }],
    );
    let truths: Vec<Vec<u32>> = questions.iter().map(|it| exact(vectors, it, BEST, &keep)).collect();
    let docs = |it: &Vec<f32>| view.nearest(it, BEST, &keep).into_iter().map(|(doc, _)| doc).collect();
    let found: Vec<Vec<u32>> = questions.iter().map(docs).collect();
    let name = format!("the view, 1 in {one_in} kept");
    Figure::times(name, vectors.len(), &ours)
        .recalling(recall(&truths, &found))
        .beside("comparing those", scan.p50())
        .reaching(Reach::Recall(RECALL_MIN))
}

fn of_view(view: &Vectors, questions: &[Vec<f32>]) -> Vec<Vec<u32>> {
    let docs = |it: &Vec<f32>| view.nearest(it, BEST, &|_| true).into_iter().map(|(doc, _)| doc).collect();
    questions.iter().map(docs).collect()
}

/// A view with a graph, as memlog has it unless told otherwise.
fn shipped(view: &Vectors, questions: &[Vec<f32>], truths: &[Vec<u32>], runs: usize) -> Option<Figure> {
    if !view.has_graph() {
        return None;
    }
    let question = |run: usize| &questions[run % questions.len()];
    let [times] =
        alternately(runs, [&mut |run| drop(std::hint::black_box(view.nearest(question(run), BEST, &|_| true)))]);
    let name = format!("the view as it comes, graph of {}", Limits::default().hnsw_candidates);
    Some(Figure::times(name, view.len(), &times).recalling(recall(truths, &of_view(view, questions))))
}

/// Has a view's graph weigh as many candidates as it takes to find enough, at least those it weighs by default, and tells how many.
fn widened(view: &mut Vectors, questions: &[Vec<f32>], truths: &[Vec<u32>]) -> usize {
    let least = Limits::default().hnsw_candidates;
    if !view.has_graph() {
        return least;
    }
    let from = CANDIDATES.partition_point(|candidates| *candidates < least);
    let (wanted, _) = first_enough(&CANDIDATES[from..], |hnsw_candidates| {
        view.set_limits(Limits { hnsw_candidates, ..Limits::default() });
        recall(truths, &of_view(view, questions))
    });
    view.set_limits(Limits { hnsw_candidates: wanted, ..Limits::default() });
    wanted
}

/// The first number of candidates with which enough is found, or the last, and what is found with it.
fn first_enough(all: &[usize], mut find: impl FnMut(usize) -> f64) -> (usize, f64) {
    let mut last = (0, 0.0);
    for candidates in all {
        last = (*candidates, find(*candidates));
        if last.1 >= RECALL_MIN {
            break;
        }
    }
    last
}
