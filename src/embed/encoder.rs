//! The embedder that the actors see: words in, one unit vector out.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use memlog_actors::port::{EmbedFailed, Embedder, Purpose};
use tokenizers::{Tokenizer, TruncationParams};

use super::bert::{Bert, Config, Scratch};
use super::kernels::Kernel;
use super::known::{Form, Known, PACKED, TOKENIZER, WEIGHTS};
use super::model::{self, ModelFolder};
use super::packed::Packed;
use super::tensors::Tensors;
use super::unigram::Unigram;

/// Bytes a token; only texts with more notice that what is beyond is not looked at. Keeps the splitting of a huge text short.
const TOKEN_BYTES_MAX: usize = 128;
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

/// How a text becomes the numbers of word pieces.
enum Splitter {
    WordPiece(Box<Tokenizer>),
    Unigram(Unigram),
}

/// A model on the CPU. Any number of threads may embed at once.
pub struct Encoder {
    known: &'static Known,
    bert: Bert,
    splitter: Splitter,
    fingerprint: u32,
    /// One for every thread that has embedded at the same time; at most 5 MB each for 256 tokens, 12 MB for 512.
    scratches: Mutex<Vec<Scratch>>,
}

impl Encoder {
    /// Loads a model for the fastest kernel that runs here.
    pub fn load(folder: &ModelFolder) -> Result<Encoder, LoadError> {
        Encoder::load_for(folder, Kernel::best())
    }

    /// Loads a model for one kernel. Which one changes the time, never the vectors.
    pub fn load_for(folder: &ModelFolder, kernel: Kernel) -> Result<Encoder, LoadError> {
        let known = folder.known();
        let (bert, splitter) = match known.form {
            Form::Safetensors => word_pieces(folder, kernel)?,
            Form::Packed => packed(folder, kernel)?,
        };
        let fingerprint = folder.fingerprint(ENCODER_VERSION);
        Ok(Encoder { known, bert, splitter, fingerprint, scratches: Mutex::default() })
    }

    /// Whether it has learnt English alone.
    pub fn is_english_only(&self) -> bool {
        self.known.english_only
    }

    /// The numbers of a text's word pieces, cut to what the model looks at.
    fn tokens(&self, text: &str, purpose: Purpose) -> Result<Vec<u32>, EmbedFailed> {
        let max = self.known.tokens_max;
        let mut end = text.len().min(max * TOKEN_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = format!("{}{}", self.known.prefix(purpose), &text[..end]);
        match &self.splitter {
            Splitter::Unigram(unigram) => Ok(unigram.encode(&text, max)),
            Splitter::WordPiece(tokenizer) => match tokenizer.encode_fast(text, true) {
                Ok(encoding) => Ok(encoding.get_ids().to_vec()),
                // The tokenizer's own message may quote the text, which must not reach a log.
                Err(_) => Err(EmbedFailed {
                    model: self.known.name.to_owned(),
                    reason: "the text could not be split into word pieces".to_owned(),
                }),
            },
        }
    }
}

/// Whether at least half of the letters are of the Latin alphabet.
fn is_mostly_latin(text: &str) -> bool {
    // Up to the end of Latin Extended-B.
    let (latin, other): (Vec<char>, Vec<char>) =
        text.chars().filter(|c| c.is_alphabetic()).partition(|c| (*c as u32) < 0x250);
    latin.len() >= other.len()
}

impl Embedder for Encoder {
    fn name(&self) -> &str {
        self.known.name
    }

    fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    fn dimensions(&self) -> usize {
        self.bert.dimensions()
    }

    fn cosine_floor(&self) -> f32 {
        self.known.cosine_floor
    }

    fn reads(&self, text: &str) -> bool {
        !self.known.english_only || is_mostly_latin(text)
    }

    fn embed(&self, text: &str, purpose: Purpose) -> Result<Vec<f32>, EmbedFailed> {
        let ids = self.tokens(text, purpose)?;
        // A panic elsewhere cannot harm what is only overwritten, so poisoning is no reason to stop.
        let lock = || self.scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = lock().pop().unwrap_or_default();
        let vector = self.bert.run(&ids, &mut scratch);
        lock().push(scratch);
        Ok(vector)
    }
}

/// Why a file of a folder will not do.
fn unusable(folder: &ModelFolder, name: &str) -> impl Fn(String) -> LoadError {
    let file = folder.path().join(name);
    move |reason| LoadError::Unusable { file: file.clone(), reason }
}

fn word_pieces(folder: &ModelFolder, kernel: Kernel) -> Result<(Bert, Splitter), LoadError> {
    let (known, bad) = (folder.known(), unusable(folder, WEIGHTS));
    let config = config(folder).map_err(unusable(folder, "config.json"))?;
    let mut weights = Tensors::open(&folder.path().join(WEIGHTS)).map_err(&bad)?;
    let bert = Bert::load(&mut weights, &config, known.tokens_max, kernel).map_err(&bad)?;
    let tokenizer = tokenizer(folder, bert.vocabulary()).map_err(unusable(folder, TOKENIZER))?;
    Ok((bert, Splitter::WordPiece(Box::new(tokenizer))))
}

fn packed(folder: &ModelFolder, kernel: Kernel) -> Result<(Bert, Splitter), LoadError> {
    let bad = unusable(folder, PACKED);
    let mut opened = Packed::open(&folder.path().join(PACKED)).map_err(&bad)?;
    let bert = Bert::load(&mut opened.tensors, &opened.config, folder.known().tokens_max, kernel).map_err(&bad)?;
    let (pieces, rows) = (opened.unigram.len(), bert.vocabulary());
    if pieces > rows {
        return Err(bad(format!("piece {} has no row among the {rows} of the weights", pieces - 1)));
    }
    Ok((bert, Splitter::Unigram(opened.unigram)))
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
    let mut tokenizer = Tokenizer::from_file(folder.path().join(TOKENIZER)).map_err(|error| error.to_string())?;
    let highest = tokenizer.get_vocab(true).values().max().copied().unwrap_or(0);
    if highest as usize >= vocabulary {
        return Err(format!("token {highest} has no row among the {vocabulary} of the weights"));
    }
    let cut = TruncationParams { max_length: folder.known().tokens_max, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(cut)).map_err(|error| error.to_string())?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

#[cfg(test)]
mod tests {
    use super::is_mostly_latin;

    #[test]
    fn letters_tell_what_a_model_of_english_has_not_learnt() {
        // Why: its vectors of other scripts would outweigh the words that match.
        for (text, latin) in
            [("What is on?", true), ("¿Qué tal?", true), ("42", true), ("Где Боб?", false), ("민준의 계획은?", false)]
        {
            assert_eq!(is_mostly_latin(text), latin, "{text}");
        }
    }
}
