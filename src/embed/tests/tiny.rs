//! A random BERT of two layers and 32 dimensions, written here, must give the same vectors as the reference: so that whoever has
//! no model installed still tests the encoder.

use std::collections::HashMap;
use std::path::Path;

use memlog_actors::port::{Embedder, Purpose};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize_to_file};
use tempfile::TempDir;

use super::super::known::MINILM;
use super::super::{Encoder, Kernel, ModelFolder};
use super::reference::{Reference, cosine, read};

const HIDDEN: usize = 32;
const WIDE: usize = 64;
const WORDS: [&str; 12] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sat", "on", "mat", "##s", "dog", "ran"];

/// A small generator of repeatable noise (xorshift), so that the model is the same in every run.
pub(super) struct Noise(pub(super) u64);

impl Noise {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Roughly normal around 0 with the given spread.
    pub(super) fn float(&mut self, spread: f32) -> f32 {
        let sum: f32 = (0..6).map(|_| (self.next() >> 40) as f32 / (1u64 << 24) as f32 - 0.5).sum();
        sum * spread * 1.414
    }
}

fn write_weights(folder: &Path, positions: usize) {
    let mut noise = Noise(42);
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    let mut add = |name: String, shape: &[usize], middle: f32, spread: f32| {
        let bytes =
            (0..shape.iter().product::<usize>()).flat_map(|_| (middle + noise.float(spread)).to_le_bytes()).collect();
        tensors.push((name, shape.to_vec(), bytes));
    };
    add("embeddings.word_embeddings.weight".into(), &[WORDS.len(), HIDDEN], 0.0, 1.0);
    add("embeddings.position_embeddings.weight".into(), &[positions, HIDDEN], 0.0, 0.3);
    add("embeddings.token_type_embeddings.weight".into(), &[2, HIDDEN], 0.0, 0.3);
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in ["encoder.layer.0", "encoder.layer.1"] {
        let square = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"];
        let mut shapes: Vec<(&str, usize, usize)> = square.iter().map(|name| (*name, HIDDEN, HIDDEN)).collect();
        shapes.extend([("intermediate.dense", WIDE, HIDDEN), ("output.dense", HIDDEN, WIDE)]);
        for (name, rows, columns) in shapes {
            add(format!("{layer}.{name}.weight"), &[rows, columns], 0.0, 0.2);
            add(format!("{layer}.{name}.bias"), &[rows], 0.0, 0.1);
        }
        norms.extend([format!("{layer}.attention.output.LayerNorm"), format!("{layer}.output.LayerNorm")]);
    }
    for name in norms {
        add(format!("{name}.weight"), &[HIDDEN], 1.0, 0.1);
        add(format!("{name}.bias"), &[HIDDEN], 0.0, 0.1);
    }
    let views =
        tensors.iter().map(|(name, shape, bytes)| (name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()));
    serialize_to_file(views, None, &folder.join("model.safetensors")).unwrap();
}

fn write_tokenizer(folder: &Path) {
    let vocabulary: HashMap<&str, usize> = WORDS.iter().enumerate().map(|(id, word)| (*word, id)).collect();
    let tokenizer = serde_json::json!({
        "version": "1.0",
        // As in the real file: both must be overridden.
        "truncation": {"max_length": 8, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary},
    });
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
}

/// A folder with the whole model.
fn tiny() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_weights(folder.path(), MINILM.tokens_max + 10);
    write_tokenizer(folder.path());
    std::fs::write(
        folder.path().join("config.json"),
        r#"{"num_attention_heads": 2, "layer_norm_eps": 1e-12, "hidden_size": 32}"#,
    )
    .unwrap();
    folder
}

fn load(folder: &TempDir, kernel: Kernel) -> Encoder {
    Encoder::load_for(&ModelFolder::unpinned(folder.path()).unwrap(), kernel).unwrap()
}

fn embed(model: &Encoder, text: &str) -> Vec<f32> {
    model.embed(text, Purpose::Passage).unwrap()
}

#[test]
fn vectors_agree_with_the_reference() {
    let folder = tiny();
    let bytes = read(folder.path());
    let reference = Reference { file: SafeTensors::deserialize(&bytes).unwrap(), heads: 2 };
    let model = load(&folder, Kernel::best());
    // The ids are written out, so that the tokenizer's settings are judged too.
    let texts: [(&str, &[u32]); 3] = [
        ("The cats sat on the mat", &[2, 4, 5, 9, 6, 7, 4, 8, 3]),
        ("dog", &[2, 10, 3]),
        ("a zebra ran", &[2, 1, 1, 11, 3]),
    ];
    for (text, ids) in texts {
        let vector = embed(&model, text);
        let cosine = cosine(&vector, &reference.embed(ids));
        assert!(cosine > 0.99 && cosine < 1.0001, "{text}: {cosine}");
    }
}

#[test]
fn every_kernel_gives_the_same_bits() {
    let folder = tiny();
    let expected = load(&folder, Kernel::PORTABLE);
    for kernel in Kernel::available() {
        let model = load(&folder, kernel);
        for words in [1, 2, 3, 7, 8, 9, 17, 40, 300] {
            let text = ["the dog ran on cats "; 60].concat().split_inclusive(' ').take(words).collect::<String>();
            assert_eq!(embed(&model, &text), embed(&expected, &text), "{} with {words} words", kernel.name());
        }
    }
}

#[test]
fn a_text_is_cut_after_256_tokens() {
    let folder = tiny();
    let model = load(&folder, Kernel::best());
    // Two of the 256 are the marks around the text.
    let longest = "cat ".repeat(MINILM.tokens_max - 2);
    assert_eq!(embed(&model, &(longest.clone() + "dog ran")), embed(&model, &longest));
    assert_ne!(embed(&model, &"cat ".repeat(MINILM.tokens_max - 3)), embed(&model, &longest));
    // A text that never ends costs no more than the bytes that can matter, wherever the cut falls in a character.
    assert_eq!(embed(&model, &"é".repeat(1 << 20)).len(), HIDDEN);
}

#[test]
fn a_text_without_words_has_a_unit_vector_too() {
    // The marks around nothing are two tokens; callers need not treat the empty text apart.
    let folder = tiny();
    let model = load(&folder, Kernel::best());
    for text in ["", "   \n\t", "\u{0}"] {
        let vector = embed(&model, text);
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
    }
}

#[test]
fn many_threads_get_what_one_gets() {
    let folder = tiny();
    let model = load(&folder, Kernel::best());
    let texts = ["the cat", "the dog ran on the mat", "", "cats"];
    let expected = texts.map(|text| embed(&model, text));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(texts.map(|text| embed(&model, text)), expected);
                }
            });
        }
    });
}

#[test]
fn the_fingerprint_follows_the_files() {
    let folder = tiny();
    let before = load(&folder, Kernel::best()).fingerprint();
    assert_eq!(load(&folder, Kernel::PORTABLE).fingerprint(), before, "the kernel changes nothing that is stored");
    let tokenizer = folder.path().join("tokenizer.json");
    std::fs::write(&tokenizer, std::fs::read_to_string(&tokenizer).unwrap().replace("dog", "cow")).unwrap();
    assert_ne!(load(&folder, Kernel::best()).fingerprint(), before);
}

#[test]
fn a_model_that_does_not_fit_is_refused_with_a_reason() {
    let refusal =
        |folder: &TempDir| Encoder::load(&ModelFolder::unpinned(folder.path()).unwrap()).err().unwrap().to_string();

    let folder = tiny();
    std::fs::write(folder.path().join("config.json"), r#"{"num_attention_heads": 5}"#).unwrap();
    assert!(refusal(&folder).contains("32 dimensions in 5 heads"));

    let folder = tiny();
    write_weights(folder.path(), 100);
    assert!(refusal(&folder).ends_with("model.safetensors: it has 100 positions, fewer than 256"));

    let folder = tiny();
    let tokenizer = folder.path().join("tokenizer.json");
    std::fs::write(&tokenizer, std::fs::read_to_string(&tokenizer).unwrap().replace("\"ran\":11", "\"ran\":12"))
        .unwrap();
    assert!(refusal(&folder).ends_with("tokenizer.json: token 12 has no row among the 12 of the weights"));

    let folder = tiny();
    std::fs::write(folder.path().join("model.safetensors"), "not a model, but longer than eight bytes").unwrap();
    assert!(refusal(&folder).contains("its header claims"));
}
