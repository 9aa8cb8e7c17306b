//! The model that people get. Skipped, and said so, where it is not installed (`deploy/fetch-model` installs it),
//! unless `MEMLOG_TEST_MODEL=required` says that it must be.

use std::path::Path;

use memlog_actors::port::{Embedder, Purpose};
use safetensors::SafeTensors;
use tokenizers::Tokenizer;

use super::super::{Encoder, ModelFolder};
use super::reference::{Reference, cosine, read};

const TEXTS: [&str; 8] = [
    "This is an example sentence",
    "Each sentence is converted",
    "Maria moved to Lisbon in March because her company opened an office there.",
    "Where does Maria live now?",
    "I'm allergic to peanuts, so please never suggest satay.",
    "ok",
    "Ёлка, naïve café & 東京 — 3.14159!",
    "We talked for a long time about the trip: first the train to Vienna, then two days of walking along the river, and in the \
     end the small hotel that Tom's sister runs with her husband, who used to cook on a ship and still makes soup for thirty.",
];

/// A model by name, and its folder; `variable` says whether it may be missing.
pub(super) fn installed(name: &str, variable: &str) -> Option<(ModelFolder, Encoder)> {
    match ModelFolder::find(Some(Path::new(name))) {
        Ok(folder) => {
            let model = Encoder::load(&folder).unwrap();
            Some((folder, model))
        }
        Err(error) => {
            let required = std::env::var_os(variable).is_some_and(|value| value == "required");
            assert!(!required, "{error}");
            println!("skipped: {error}");
            None
        }
    }
}

fn model() -> Option<(ModelFolder, Encoder)> {
    installed("minilm", "MEMLOG_TEST_MODEL")
}

#[test]
fn paraphrases_are_nearer_than_strangers() {
    let Some((_, model)) = model() else { return };
    let embed = |text| model.embed(text, Purpose::Passage).unwrap();
    let groups = [
        ["A man is playing a guitar.", "Someone plays the guitar.", "The dentist moved my appointment to Tuesday."],
        ["She adopted a kitten last week.", "Last week she took in a young cat.", "The server needs more memory."],
        ["How do I reset my password?", "I forgot my password, how can I change it?", "What is the capital of Norway?"],
    ];
    for [text, same, other] in groups {
        let (near, far) = (cosine(&embed(text), &embed(same)), cosine(&embed(text), &embed(other)));
        assert!(near > 0.6 && far < 0.3, "{text}: {near} against {far}");
    }
}

#[test]
fn vectors_agree_with_f32() {
    let Some((folder, model)) = model() else {
        return;
    };
    let bytes = read(folder.path());
    let reference = Reference { file: SafeTensors::deserialize(&bytes).unwrap(), heads: 12 };
    let mut tokenizer = Tokenizer::from_file(folder.path().join("tokenizer.json")).unwrap();
    tokenizer.with_padding(None);
    let mut worst: f32 = 1.0;
    for text in TEXTS {
        let expected = reference.embed(tokenizer.encode(text, true).unwrap().get_ids());
        let cosine = cosine(&model.embed(text, Purpose::Query).unwrap(), &expected);
        println!("{cosine:.5} {}", text.chars().take(40).collect::<String>());
        worst = worst.min(cosine);
    }
    assert!(worst > 0.985, "{worst}");
    // The first numbers that the model's authors publish for this sentence; they judge the reference itself.
    let published = [0.067_656_9, 0.063_495_9, 0.048_713_1, 0.079_304_9, 0.037_448_0];
    let example = reference.embed(tokenizer.encode(TEXTS[0], true).unwrap().get_ids());
    for (ours, theirs) in example.iter().zip(published) {
        assert!((ours - theirs).abs() < 1e-5, "{:?}", &example[..5]);
    }
}
