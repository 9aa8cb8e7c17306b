//! What the gate of the notes costs a session that has passed it: the same call with a session and without one.
//!
//! Run with `cargo bench -p memlog-actors --bench gate`.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "it prints what it measures by the wall's clock")]

use std::{hint::black_box, sync::Arc, time::Instant};

use memlog_actors::{
    api::{Context, Verb, note},
    extract::Local,
    limits::Limits,
    port::Clock,
    system::{Options, System},
};

struct Wall;

impl Clock for Wall {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}

const CALLS: u32 = 100_000;

async fn nanos(system: &System, context: &Context) -> f64 {
    let mut best = f64::MAX;
    // The quietest of five on a machine that does other things as well.
    for _ in 0..5 {
        let began = Instant::now();
        for _ in 0..CALLS {
            black_box(note::Kinds::default().run(system, context).await.expect("passes"));
        }
        best = best.min(began.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }
    best
}

async fn measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options {
        data_dir: folder.path().to_owned(),
        vault_dir: None,
        limits: Limits::default(),
        embedder: None,
        extractor: Arc::new(Local),
        narrator: None,
        queue: None,
        clock: Arc::new(Wall),
    };
    let system = System::start(options).await.expect("started");
    let mut admin = Context { namespace: "acme".to_owned(), ..Context::default() };
    admin.caller.admin = true;
    let mut member = Context { namespace: "acme".to_owned(), ..Context::default() };
    member.caller.user = Some("ann".to_owned());
    let mut made = 0;
    for critical in [0, 10, 100] {
        while made < critical {
            made += 1;
            let text = || Some(format!("note {made}"));
            let save = note::AdminSave {
                level: Some(note::Level::All),
                name: text(),
                body: text(),
                kind_key: Some("kCritical".to_owned()),
                ..note::AdminSave::default()
            };
            save.run(&system, &admin).await.expect("saved");
        }
        let session = note::SessionConnect {}.run(&system, &member).await.expect("connected").reply.session;
        let mut gated = member.clone();
        gated.caller.session = Some(session);
        let load = note::MemoryLoad { critical: Some(true), ..note::MemoryLoad::default() };
        load.run(&system, &gated).await.expect("loaded");
        let (without, with) = (nanos(&system, &member).await, nanos(&system, &gated).await);
        println!(
            "{critical:>4} critical notes: {without:.0} ns without a session, {with:.0} ns with one, +{:.0} ns",
            with - without
        );
    }
    system.stop().await;
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(measure());
}
