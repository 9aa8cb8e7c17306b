//! Milliseconds a text with every kernel of this processor, taken in turns in one run: `cargo bench --bench embed`.
//! The machine's other load hits all of them alike, so compare them with each other.

use std::time::Instant;

use memlog::embed::{Encoder, Kernel, ModelFolder};
use memlog_actors::port::{Embedder, Purpose};

const ROUNDS: usize = 150;

fn main() -> anyhow::Result<()> {
    let folder = match ModelFolder::find(None) {
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
    Ok(())
}
