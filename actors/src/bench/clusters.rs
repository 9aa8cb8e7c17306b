//! A stand-in for an embedding model: what it takes is next to nothing, so that a measurement shows what memlog takes.

use super::Random;
use crate::port::{EmbedFailed, Embedder, Purpose};

/// As the shipped models have.
pub const DIMENSIONS: usize = 384;
/// What records are about; each has words of its own.
pub const TOPICS: usize = 400;

/// Texts of one topic lie near each other, all of them lean one way, and each has something of its own, as sentences do.
pub struct Clusters {
    fingerprint: u32,
    lean: Vec<f32>,
    topics: Vec<Vec<f32>>,
}

impl Clusters {
    /// Another fingerprint passes for another model.
    pub fn new(fingerprint: u32) -> Self {
        let mut random = Random::new(5);
        Self {
            fingerprint,
            lean: random.vector(DIMENSIONS),
            topics: (0..TOPICS).map(|_| random.vector(DIMENSIONS)).collect(),
        }
    }
}

impl Embedder for Clusters {
    fn name(&self) -> &str {
        "clusters"
    }

    fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, text: &str, _: Purpose) -> Result<Vec<f32>, EmbedFailed> {
        let topic = text.split_whitespace().find_map(|word| word.strip_prefix('t')?.split_once('x')?.0.parse().ok());
        let topic: &[f32] = &self.topics[topic.unwrap_or(0) % TOPICS];
        let mut random = Random::new(text.bytes().fold(7, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte)));
        let own = || 1.5 * (2.0 * random.uniform() - 1.0);
        let mut vector: Vec<f32> = std::iter::repeat_with(own).take(DIMENSIONS).collect();
        for ((part, topic), lean) in vector.iter_mut().zip(topic).zip(&self.lean) {
            *part += topic + lean;
        }
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|part| *part /= length);
        Ok(vector)
    }
}
