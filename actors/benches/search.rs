//! How long `profile.search` takes in a whole system, from the call to the reply, without a network and beyond what the model
//! takes for the question: a stand-in gives vectors that lie in clusters as those of sentences do, in no time. Each row is a
//! filter, the sizes side by side in one run. Last, what it takes to catch up after the model was changed, beyond the model.
//!
//! `cargo bench -p memlog-actors --bench search [-- SIZE...]`; 10000 and 100000 by default. `memlog bench search` asks the same.

use std::{sync::Arc, time::Instant};

use memlog_actors::{
    api::profile::{Recall, Remember, Search},
    bench::{Clusters, PROFILE, Random, Times, abreast, context, filled, filters, options, query, record},
    system::System,
};

const RUNS: usize = 300;

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000] } else { sizes };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut systems = Vec::new();
        for size in sizes {
            let folder = tempfile::tempdir().expect("a folder");
            let (system, rate) = filled(folder.path(), size).await.expect("filled");
            println!("{size} records saved and indexed, {rate:.0}/s");
            systems.push((size, (folder, system)));
        }
        println!("{:>44} {:>9} {:>8} {:>8}", "ms", "records", "p50", "p99");
        for filter in filters() {
            for (size, (_, system)) in &systems {
                told(filter.name, *size, &times(|run| search(system, &filter.request, run)).await);
            }
        }
        for (size, (_, system)) in &systems {
            told("recall, a short answer", *size, &times(|run| recall(system, run)).await);
        }
        for (_, (_, system)) in systems {
            system.stop().await;
        }
        caught_up().await;
    });
}

/// Profiles that nobody uses, and memories in each.
const COLD: (usize, usize) = (2_000, 20);

/// Another model, and then the first again, which has all its vectors and finds nothing to do.
async fn caught_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let (profiles, each) = COLD;
    let system = start(&folder, 1).await;
    let mut random = Random::new(17);
    let records = (0..profiles * each).map(|at| Remember {
        profile: format!("p{}", at % profiles),
        speaker: None,
        session_id: None,
        ..record(at, &mut random)
    });
    abreast(&system, records).await.expect("saved");
    system.stop().await;
    drop(system);
    for (name, fingerprint) in [("embedded anew", 2), ("nothing to do", 1), ("walked already", 1)] {
        let system = start(&folder, fingerprint).await;
        let began = Instant::now();
        while system.health().catching_up {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        let took = began.elapsed().as_secs_f64();
        println!("{profiles} cold profiles of {each} memories, {name}: {took:.2} s, 0.5 of it before it begins");
        system.stop().await;
    }
}

async fn start(folder: &tempfile::TempDir, fingerprint: u32) -> System {
    System::start(options(folder.path(), Some(Arc::new(Clusters::new(fingerprint))))).await.expect("started")
}

async fn search(system: &System, request: &Search, run: usize) -> usize {
    let request = Search { query: query(run), ..request.clone() };
    system.profile_search(&context(), request).await.expect("found").reply.memories.len()
}

async fn recall(system: &System, run: usize) -> usize {
    let request = Recall { profile: PROFILE.to_owned(), query: query(run), ..Recall::default() };
    system.profile_recall(&context(), request).await.expect("recalled").reply.answer.len()
}

/// Of each run, after one round of other questions to warm up.
async fn times<F: Future<Output = usize>>(run: impl Fn(usize) -> F) -> Times {
    for at in 0..RUNS {
        std::hint::black_box(run(RUNS + at).await);
    }
    let mut times = Vec::with_capacity(RUNS);
    for at in 0..RUNS {
        let begin = Instant::now();
        std::hint::black_box(run(at).await);
        times.push(begin.elapsed());
    }
    Times::new(times)
}

fn told(name: &str, size: usize, times: &Times) {
    println!("{name:>44} {size:>9} {:>8.2} {:>8.2}", times.p50(), times.p99());
}
