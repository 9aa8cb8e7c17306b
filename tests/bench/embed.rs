//! Milliseconds a text with every kernel of this processor, taken in turns in one run: `cargo bench --bench embed`, or
//! `cargo bench --bench embed -- multilingual` for the other model. Then a search with a new question and with one asked again.
//! The machine's other load hits all of them alike, so compare them with each other.

use std::{path::Path, sync::Arc, time::Instant};

use memlog::embed::{Encoder, Kernel, ModelFolder};
use memlog_actors::{
    api::{Context, profile},
    extract::Local,
    limits::Limits,
    port::{Clock, Embedder, Purpose},
    system::{Options, System},
};

const ROUNDS: usize = 150;

fn main() -> anyhow::Result<()> {
    let wanted = std::env::args().nth(1).filter(|word| !word.starts_with('-'));
    let folder = match ModelFolder::find(wanted.as_deref().map(Path::new)) {
        Ok(folder) => folder,
        Err(error) => {
            println!("nothing measured: {error}");
            return Ok(());
        }
    };
    let sentence = "Maria moved to Lisbon in March for her work.".to_owned();
    let paragraph = [sentence.as_str(); 6].join(" ");
    let page = [sentence.as_str(); 30].join(" ");
    let texts = [("12 tokens", sentence), ("62 tokens", paragraph), ("256 tokens", page)];

    let mut models = Vec::new();
    for kernel in Kernel::available() {
        let begin = Instant::now();
        models.push((kernel, Encoder::load_for(&folder, kernel)?));
        println!("{:12} loaded in {:.0} ms", kernel.name(), begin.elapsed().as_secs_f64() * 1e3);
    }
    println!("{:12} {:>12} {:>10} {:>10}", "kernel", "text", "median ms", "best ms");
    for (name, text) in &texts {
        let mut times = vec![Vec::new(); models.len()];
        for _ in 0..ROUNDS / (1 + text.len() / 200) {
            for ((_, model), times) in models.iter().zip(&mut times) {
                let begin = Instant::now();
                std::hint::black_box(model.embed(text, Purpose::Query)?);
                times.push(begin.elapsed().as_secs_f64() * 1e3);
            }
        }
        for ((kernel, _), times) in models.iter().zip(&mut times) {
            times.sort_by(f64::total_cmp);
            println!("{:12} {name:>12} {:10.2} {:10.2}", kernel.name(), times[times.len() / 2], times[0]);
        }
    }
    let model = Arc::new(Encoder::load(&folder)?);
    tokio::runtime::Runtime::new()?.block_on(asked_again(model))
}

/// The whole search, so that the model's share of it shows.
async fn asked_again(model: Arc<dyn Embedder>) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let options = Options {
        data_dir: folder.path().to_owned(),
        vault_dir: None,
        limits: Limits::default(),
        embedder: Some(model),
        extractor: Arc::new(Local),
        narrator: None,
        queue: None,
        clock: Arc::new(Wall),
    };
    let system = System::start(options).await?;
    let (context, profile) = (Context { namespace: "acme".to_owned(), ..Context::default() }, "bench".to_owned());
    for number in 0..100 {
        let content = format!("Maria moved to Lisbon for her work number {number}.");
        let dedupe = Some(false);
        let remember = profile::Remember { profile: profile.clone(), content, dedupe, ..Default::default() };
        system.profile_remember(&context, remember).await?;
    }
    println!("{:>25} {:>10}", "search of 100 memories", "median ms");
    for name in ["a new question", "asked again"] {
        let mut times = Vec::with_capacity(ROUNDS);
        for number in 0..ROUNDS {
            let query = format!("Where did Maria move for her work number {number}?");
            let search = profile::Search { profile: profile.clone(), query, ..Default::default() };
            let begin = Instant::now();
            std::hint::black_box(system.profile_search(&context, search).await?);
            times.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!("{name:>25} {:10.2}", times[times.len() / 2]);
    }
    system.stop().await;
    Ok(())
}

struct Wall;

impl Clock for Wall {
    #[expect(clippy::disallowed_methods, reason = "a measurement runs by the wall's clock")]
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}
