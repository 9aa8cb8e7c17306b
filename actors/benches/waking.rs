//! The first search of a profile that nobody has asked since the start, in a whole system without a network: all of it is read, opened
//! and folded before it answers. `memlog bench replay` measures the same beside a scan of the rows.
//!
//! `cargo bench -p memlog-actors --bench waking [-- SIZE...]`; 1000 and 10000 by default.

use std::{sync::Arc, time::Instant};

use memlog_actors::{
    api::profile::Search,
    bench::{Clusters, PROFILE, Times, context, filled, options, query},
    system::System,
};

const RUNS: usize = 21;

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000] } else { sizes };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        println!("{:>9} {:>9} {:>9}  ms", "records", "p50", "p99");
        for size in sizes {
            let folder = tempfile::tempdir().expect("a folder");
            let (system, _) = filled(folder.path(), size).await.expect("filled");
            system.stop().await;
            drop(system);
            let mut wakings = Vec::new();
            for run in 0..RUNS {
                let system =
                    System::start(options(folder.path(), Some(Arc::new(Clusters::new(1))))).await.expect("it starts");
                let request = Search { profile: PROFILE.to_owned(), query: query(run), ..Search::default() };
                let began = Instant::now();
                let found = system.profile_search(&context(), request).await.expect("found").reply;
                wakings.push(began.elapsed());
                assert!(!found.memories.is_empty(), "a profile that was just woken found nothing");
                system.stop().await;
            }
            let times = Times::new(wakings);
            println!("{size:>9} {:>9.1} {:>9.1}", times.p50(), times.p99());
        }
    });
}
