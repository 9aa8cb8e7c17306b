//! The embedder that the actors see: words in, one unit vector out.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use memlog_actors::port::{EmbedFailed, Embedder, Purpose};
use tokenizers::{Tokenizer, TruncationParams};

use super::bert::{Bert, Config, Scratch};
use super::kernels::Kernel;
use super::model::{self, ModelFolder, NAME};

/// Word pieces of a text that are looked at, the two marks around it included: what the model was trained with.
pub const TOKENS_MAX: usize = 256;
/// Bytes of a text that are looked at; only texts of more than 128 bytes a token notice. Keeps the splitting of a huge text short.
const TEXT_BYTES_MAX: usize = TOKENS_MAX * 128;
/// Goes up whenever the same files could give another vector; part of the fingerprint, so that cached vectors are not mixed.
const ENCODER_VERSION: u32 = 1;

/// Why a model could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The files are not there or not the right ones.
    #[error(transparent)]
    Folder(#[from] model::Error),
    /// A file is not what the encoder understands.
    #[error("cannot use {}: {reason}", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
}

/// all-MiniLM-L6-v2 on the CPU. Any number of threads may embed at once.
pub struct MiniLm {
    bert: Bert,
    tokenizer: Tokenizer,
    fingerprint: u32,
    /// One for every thread that has embedded at the same time; at most 5 MB each.
    scratches: Mutex<Vec<Scratch>>,
}

impl MiniLm {
    /// Loads a model for the fastest kernel that runs here.
    pub fn load(folder: &ModelFolder) -> Result<MiniLm, LoadError> {
        MiniLm::load_for(folder, Kernel::best())
    }

    /// Loads a model for one kernel. Which one changes the time, never the vectors.
    pub fn load_for(folder: &ModelFolder, kernel: Kernel) -> Result<MiniLm, LoadError> {
        let unusable = |name: &str, reason| LoadError::Unusable { file: folder.path().join(name), reason };
        let config = config(folder).map_err(|reason| unusable("config.json", reason))?;
        let bert = Bert::load(&folder.path().join(model::WEIGHTS), &config, TOKENS_MAX, kernel);
        let bert = bert.map_err(|reason| unusable(model::WEIGHTS, reason))?;
        let tokenizer = tokenizer(folder, bert.vocabulary()).map_err(|reason| unusable(model::TOKENIZER, reason))?;
        let fingerprint = folder.fingerprint(ENCODER_VERSION);
        Ok(MiniLm { bert, tokenizer, fingerprint, scratches: Mutex::default() })
    }

    /// The numbers of a text's word pieces, cut to `TOKENS_MAX`.
    fn tokens(&self, text: &str) -> Result<Vec<u32>, EmbedFailed> {
        let mut end = text.len().min(TEXT_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        match self.tokenizer.encode_fast(text, true) {
            Ok(encoding) => Ok(encoding.get_ids().to_vec()),
            // The tokenizer's own message may quote the text, which must not reach a log.
            Err(_) => Err(EmbedFailed {
                model: NAME.to_owned(),
                reason: "the text could not be split into word pieces".to_owned(),
            }),
        }
    }
}

impl Embedder for MiniLm {
    fn name(&self) -> &str {
        NAME
    }

    fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    fn dimensions(&self) -> usize {
        self.bert.dimensions()
    }

    /// This model knows no prefixes: a question and a passage with the same words get the same vector.
    fn embed(&self, text: &str, _purpose: Purpose) -> Result<Vec<f32>, EmbedFailed> {
        let ids = self.tokens(text)?;
        // A panic elsewhere cannot harm what is only overwritten, so poisoning is no reason to stop.
        let lock = || self.scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = lock().pop().unwrap_or_default();
        let vector = self.bert.run(&ids, &mut scratch);
        lock().push(scratch);
        Ok(vector)
    }
}

/// Reads `config.json`; without one the defaults hold, which are this model's.
fn config(folder: &ModelFolder) -> Result<Config, String> {
    match std::fs::read(folder.path().join("config.json")) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Config::default()),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads the tokenizer. The file asks for 128 tokens, padded to that length; neither is wanted.
fn tokenizer(folder: &ModelFolder, vocabulary: usize) -> Result<Tokenizer, String> {
    let mut tokenizer =
        Tokenizer::from_file(folder.path().join(model::TOKENIZER)).map_err(|error| error.to_string())?;
    let highest = tokenizer.get_vocab(true).values().max().copied().unwrap_or(0);
    if highest as usize >= vocabulary {
        return Err(format!("token {highest} has no row among the {vocabulary} of the weights"));
    }
    let cut = TruncationParams { max_length: TOKENS_MAX, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(cut)).map_err(|error| error.to_string())?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}
