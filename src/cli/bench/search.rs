//! `profile.search` and `profile.recall` in a whole system, with the ranking and all filters, from the call to the reply: no network,
//! and a stand-in for the model whose own time is shown and taken off.

use std::time::{Duration, Instant};

use memlog_actors::{
    api::profile::{Recall, Search},
    bench::{Clusters, Filter, PROFILE, Times, context, filled, filters, query},
    port::{Embedder as _, Purpose},
    system::System,
};

use super::{
    Bench,
    plot::Chart,
    report::{A_SECOND, Figure, Part, Reach},
    unmeasured,
};
use crate::cli::fail::Fail;

/// What a search may take beyond the embedding of its question, at the median: records, milliseconds.
const REACHES: [(usize, f64); 2] = [(10_000, 3.0), (100_000, 10.0)];
/// What says how fast a search is as it usually comes.
const PLAIN: &str = "no filter, 10 results";

pub(super) async fn measure(bench: &Bench) -> Result<Part, Fail> {
    let mut figures = Vec::new();
    let mut chart = Chart::new("search", "profile.search, median", "records", "ms");
    let embedding = embedding(bench.scale.questions);
    for size in &bench.scale.records {
        bench.note(&format!("search among {size} records"));
        let folder = bench.temporary()?;
        let (system, rate) = filled(folder.path(), *size).await.map_err(unmeasured)?;
        figures.push(Figure::new("saved, embedded and indexed", *size, A_SECOND, rate));
        for Filter { name, request } in filters() {
            let times = times(bench.scale.questions, async |run| searched(&system, &request, run).await).await?;
            let beside = Figure::times(name, *size, &times).beside("the stand-in's embedding", embedding.p50());
            // The stand-in makes a hash: how many times as long a search takes says nothing.
            let figure = Figure { times_the_limit: None, ..beside };
            let reach = REACHES.iter().find(|(at, _)| at == size && name == PLAIN);
            chart.add(name, false, *size as f64, times.p50());
            figures.push(reach.map_or(figure.clone(), |(_, most)| figure.reaching(Reach::Over(*most))));
        }
        let times = times(bench.scale.questions, async |run| recalled(&system, run).await).await?;
        figures.push(Figure::times("profile.recall, low", *size, &times));
        system.stop().await;
    }
    let about = "from the call to the reply in this process, with the whole ranking; a stand-in embeds".to_owned();
    Ok(Part { name: "search", about, counts: "records", figures, took_s: 0.0, charts: vec![chart] })
}

/// What the stand-in itself takes.
fn embedding(runs: usize) -> Times {
    let model = Clusters::new(1);
    Times::new((0..runs).map(|run| {
        let (query, began) = (query(run), Instant::now());
        drop(std::hint::black_box(model.embed(&query, Purpose::Query)));
        began.elapsed()
    }))
}

/// Of each run, after as many others to warm up.
async fn times(runs: usize, run: impl AsyncFn(usize) -> Result<Duration, Fail>) -> Result<Times, Fail> {
    for at in 0..runs {
        run(runs + at).await?;
    }
    let mut times = Vec::with_capacity(runs);
    for at in 0..runs {
        times.push(run(at).await?);
    }
    Ok(Times::new(times))
}

async fn searched(system: &System, request: &Search, run: usize) -> Result<Duration, Fail> {
    let request = Search { query: query(run), ..request.clone() };
    let began = Instant::now();
    std::hint::black_box(system.profile_search(&context(), request).await?);
    Ok(began.elapsed())
}

async fn recalled(system: &System, run: usize) -> Result<Duration, Fail> {
    let request = Recall { profile: PROFILE.to_owned(), query: query(run), ..Recall::default() };
    let began = Instant::now();
    std::hint::black_box(system.profile_recall(&context(), request).await?);
    Ok(began.elapsed())
}
