//! What a record takes of memory and disk, what an idle profile takes, and how soon what was saved is found.
//!
//! Memory is what the system says that this process has grown by; so this is measured before anything else.

use std::{sync::Arc, time::Instant};

use memlog_actors::{
    api::{
        profile::{Found, Ingest, Message, Remember, Search},
        record::ItemType,
    },
    bench::{Clusters, PROFILE, Random, Times, abreast, context, filled, options, record},
    system::System,
};

use super::{
    Bench,
    machine::resident_bytes,
    report::{BYTES, Figure, MS, Part},
    unmeasured,
};
use crate::cli::{eval::disk_bytes, fail::Fail};

/// Records of a profile that idles.
const RECORDS_EACH: usize = 10;

pub(super) async fn measure(bench: &Bench) -> Result<Part, Fail> {
    bench.note("memory and disk");
    let mut figures = records(bench).await?;
    figures.extend(idle(bench).await?);
    let about = "vectors of 384 dimensions and texts of 8 to 23 words; memory as the system counts it".to_owned();
    Ok(Part { name: "memory", about, counts: "records", figures, took_s: 0.0, charts: Vec::new() })
}

fn grown(before: Option<u64>, by: usize) -> Option<f64> {
    let (before, after) = (before?, resident_bytes()?);
    Some(after.saturating_sub(before) as f64 / by as f64)
}

async fn records(bench: &Bench) -> Result<Vec<Figure>, Fail> {
    let (size, folder) = (bench.scale.weighed, bench.temporary()?);
    let mut random = Random::new(11);
    let text: usize = (0..size).map(|at| record(at, &mut random).content.len()).sum();
    let text = text as f64 / size as f64;
    let before = resident_bytes();
    let (system, _) = filled(folder.path(), size).await.map_err(unmeasured)?;
    let mut figures = Vec::new();
    if let Some(bytes) = grown(before, size) {
        figures.push(Figure::new("memory a record, the actor's included", size, BYTES, bytes).beside("its text", text));
    }
    let views = system.health().views_bytes as f64 / size as f64;
    figures.push(Figure::new("its views, as the budget counts them", size, BYTES, views).beside("its text", text));
    figures.extend(found_at_once(&system, size, bench.scale.questions).await?);
    figures.push(made_and_found(&system, size, bench.scale.calls.min(bench.scale.questions)).await?);
    system.stop().await;
    drop(system);
    let bytes = disk_bytes(folder.path()) as f64 / size as f64;
    let least = text + 384.0 * 4.0;
    figures.push(Figure::new("disk a record", size, BYTES, bytes).beside("its text and its vector", least));
    Ok(figures)
}

/// Whether a hit says the word. It need not be the first: the stand-in finds texts alike that differ in a letter, or not, by chance.
fn holds(found: &Found, word: &str) -> bool {
    found.memories.iter().any(|hit| hit.content.as_ref().and_then(Option::as_ref).is_some_and(|it| it.contains(word)))
}

/// From a save to the search that finds it, one after the other.
async fn found_at_once(system: &System, size: usize, runs: usize) -> Result<Vec<Figure>, Fail> {
    let (mut saves, mut both) = (Vec::with_capacity(runs), Vec::with_capacity(runs));
    for run in 0..runs {
        let word = format!("quokka{run}");
        // Words that no other has: among many of one wording the stand-in's vectors, which know no words, decide.
        let content = format!("The {word} found burrow{run}.");
        let save = Remember { profile: PROFILE.to_owned(), content: content.clone(), ..Remember::default() };
        // All its words: by one alone, what the stand-in makes of it could outweigh it.
        let search = Search { profile: PROFILE.to_owned(), query: content, ..Search::default() };
        let began = Instant::now();
        system.profile_remember(&context(), save).await?;
        saves.push(began.elapsed());
        let found = system.profile_search(&context(), search).await?.reply;
        both.push(began.elapsed());
        if !holds(&found, &format!("{word} ")) {
            return Err(unmeasured("a search did not find what had just been saved"));
        }
    }
    let (saves, both) = (Times::new(saves), Times::new(both));
    let limit = saves.p50();
    Ok(vec![Figure::times("from a save to the search that has found it", size, &both).beside("the save", limit)])
}

/// From a message to the search that finds the memory made of it, one after the other; what is searched for is no message.
async fn made_and_found(system: &System, size: usize, runs: usize) -> Result<Figure, Fail> {
    let mut times = Vec::with_capacity(runs);
    for run in 0..runs {
        let word = format!("numbat{run}");
        let content = format!("My {word} sleeps in burrow{run}.");
        let message = Message { role: "user".to_owned(), content: content.clone(), ..Message::default() };
        let ingest = Ingest {
            profile: PROFILE.to_owned(),
            messages: vec![message],
            session_id: Some("shed".to_owned()),
            wait: Some(true),
            timeout_s: None,
        };
        let types = vec![ItemType::Memory, ItemType::Fact, ItemType::Event];
        let search = Search { profile: PROFILE.to_owned(), query: content, types: Some(types), ..Search::default() };
        let began = Instant::now();
        system.profile_ingest(&context(), ingest).await?;
        let found = system.profile_search(&context(), search).await?.reply;
        times.push(began.elapsed());
        if !holds(&found, &format!("{word} ")) {
            return Err(unmeasured("a search did not find the memory made of what had been ingested"));
        }
    }
    Ok(Figure::times("from a message to the search that has found its memory", size, &Times::new(times)))
}

/// Profiles with their actors awake and their views loaded, and again from a start at which nobody calls.
async fn idle(bench: &Bench) -> Result<Vec<Figure>, Fail> {
    let (profiles, folder) = (bench.scale.idle, bench.temporary()?);
    let start = || System::start(options(folder.path(), Some(Arc::new(Clusters::new(1)))));
    let before = resident_bytes();
    let system = start().await?;
    let mut random = Random::new(23);
    let records = (0..profiles * RECORDS_EACH).map(|at| Remember {
        profile: format!("p{}", at % profiles),
        speaker: None,
        session_id: None,
        ..record(at, &mut random)
    });
    abreast(&system, records).await?;
    let mut figures = Vec::new();
    let count = profiles * RECORDS_EACH;
    if let Some(bytes) = grown(before, profiles) {
        figures.push(Figure::new("memory a profile of ten, awake and loaded", count, BYTES, bytes));
    }
    system.stop().await;
    drop(system);
    let began = Instant::now();
    let system = start().await?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    figures.push(Figure::new("a start with all of them asleep", count, MS, took));
    system.stop().await;
    Ok(figures)
}
