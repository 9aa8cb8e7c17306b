//! The models that memlog knows by name: which files are theirs, and how each wants to be asked. A model is added here and in
//! `deploy/fetch-model`, which fetches what is pinned here.

use memlog_actors::{port::Purpose, recall::MINILM_COSINE_FLOOR};

/// A model's weights and, in one file or another, its word pieces.
pub(super) const WEIGHTS: &str = "model.safetensors";
pub(super) const TOKENIZER: &str = "tokenizer.json";
pub(super) const PACKED: &str = "e5-small-q4.bin";

/// How a model's files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// f32 weights in a safetensors file, word pieces and `config.json` beside it.
    Safetensors,
    /// 4-bit weights and a Unigram vocabulary in one file.
    Packed,
}

/// A model that memlog knows.
#[derive(Debug)]
pub(super) struct Known {
    /// Its own name, and its folder's.
    pub(super) name: &'static str,
    /// What people call it on the command line.
    pub(super) alias: &'static str,
    /// How its files are read.
    pub(super) form: Form,
    /// Files and their sha256.
    pub(super) pinned: &'static [(&'static str, &'static str)],
    /// What fetches it.
    pub(super) fetch: &'static str,
    /// Word pieces of a text that are looked at, the two marks around it included.
    pub(super) tokens_max: usize,
    /// Whether it has learnt English alone.
    pub(super) english_only: bool,
    /// What goes before a question and before a passage.
    before: [&'static str; 2],
    /// Cosine of a question and a passage from which they may be about the same though they share no word.
    pub(super) cosine_floor: f32,
}

impl Known {
    /// What the model wants before a text.
    pub(super) fn prefix(&self, purpose: Purpose) -> &'static str {
        match purpose {
            Purpose::Query => self.before[0],
            Purpose::Passage => self.before[1],
        }
    }
}

/// The default: English, small and quick. `config.json` is not pinned: its few values are checked against the weights.
pub(super) const MINILM: Known = Known {
    name: "all-MiniLM-L6-v2",
    alias: "minilm",
    form: Form::Safetensors,
    pinned: &[
        (WEIGHTS, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        (TOKENIZER, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    ],
    fetch: "deploy/fetch-model",
    tokens_max: 256,
    english_only: true,
    before: ["", ""],
    cosine_floor: MINILM_COSINE_FLOOR,
};

/// A hundred languages in one space: a question finds its answer in another language. Its cosines lie high and close together:
/// on four conversations of LoCoMo the nearest of a conversation's own turns was at 0.811 or above for each of 379 questions
/// (median 0.858), and below 0.80 for nearly half of them when they were asked of a stranger's conversation.
pub(super) const MULTILINGUAL: Known = Known {
    name: "multilingual-e5-small",
    alias: "multilingual",
    form: Form::Packed,
    pinned: &[(PACKED, "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f")],
    fetch: "deploy/fetch-model multilingual",
    tokens_max: 512,
    english_only: false,
    before: ["query: ", "passage: "],
    cosine_floor: 0.80,
};

/// All of them, the default first.
pub(super) const ALL: [&Known; 2] = [&MINILM, &MULTILINGUAL];
