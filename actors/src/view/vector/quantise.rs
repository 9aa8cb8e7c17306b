//! From floats to bytes and bits.

/// Writes the vector as bytes, its largest part as 127, and answers the factor that makes a dot product of such rows a
/// cosine. A vector without a direction (all zero, or not finite) becomes zeros and the factor 0.
pub(super) fn to_bytes(vector: &[f32], bytes: &mut [i8]) -> f32 {
    bytes.fill(0);
    let largest = vector.iter().fold(0.0_f32, |most, part| most.max(part.abs()));
    if largest == 0.0 || !vector.iter().all(|part| part.is_finite()) {
        return 0.0;
    }
    let mut square = 0;
    for (byte, part) in bytes.iter_mut().zip(vector) {
        *byte = (part / largest * 127.0).round() as i8;
        square += i32::from(*byte) * i32::from(*byte);
    }
    1.0 / (square as f32).sqrt()
}

/// A query in the three forms in which it meets the rows.
#[derive(Clone, Debug)]
pub struct PreparedQuery {
    /// Of length 1, padded.
    pub(super) floats: Vec<f32>,
    pub(super) bytes: Vec<i8>,
    /// Of the bytes.
    pub(super) factor: f32,
}

impl PreparedQuery {
    pub(super) fn new(vector: &[f32], width: usize) -> Self {
        let mut bytes = vec![0; width];
        let factor = to_bytes(vector, &mut bytes);
        let mut floats = vec![0.0; width];
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        if factor > 0.0 && length > 0.0 && length.is_finite() {
            for (float, part) in floats.iter_mut().zip(vector) {
                *float = part / length;
            }
        }
        Self { floats, bytes, factor }
    }

    /// The form that a graph takes: four bytes a word, and the factor's bits.
    pub(super) fn words(&self) -> Vec<u32> {
        let (quads, _) = self.bytes.as_chunks::<4>();
        let words = quads.iter().map(|quad| u32::from_ne_bytes(quad.map(|byte| byte as u8)));
        words.chain([self.factor.to_bits()]).collect()
    }
}

/// One bit a dimension: on which side of the centre a vector lies. Codes that differ in few bits belong to vectors with
/// a small angle, seen from the centre; without it a model whose vectors all lean one way (e5) would waste its bits.
pub(super) struct Codes {
    /// Mean of the unit vectors that were there when the codes were made, padded to whole words.
    centre: Vec<f32>,
    pub(super) words: usize,
    /// By slot.
    pub(super) all: Vec<u64>,
}

impl Codes {
    /// Codes around the mean of `rows`.
    pub(super) fn around<'a>(rows: impl Iterator<Item = (&'a [i8], f32)>, width: usize) -> Self {
        let (mut centre, mut count) = (vec![0.0; width], 0_u32);
        for (row, factor) in rows {
            count += 1;
            for (sum, byte) in centre.iter_mut().zip(row) {
                *sum += f32::from(*byte) * factor;
            }
        }
        centre.iter_mut().for_each(|sum| *sum /= count.max(1) as f32);
        Self { centre, words: width / 64, all: Vec::new() }
    }

    pub(super) fn code(&self, row: &[i8], factor: f32) -> impl Iterator<Item = u64> {
        self.centre.chunks_exact(64).zip(row.chunks_exact(64)).map(move |(centre, row)| {
            let sides = centre.iter().zip(row).map(|(centre, byte)| f32::from(*byte) * factor > *centre);
            sides.enumerate().fold(0, |word, (bit, above)| word | u64::from(above) << bit)
        })
    }

    pub(super) fn set(&mut self, slot: u32, row: &[i8], factor: f32) {
        let at = slot as usize * self.words;
        if self.all.len() < at + self.words {
            self.all.resize(at + self.words, 0);
        }
        let code: Vec<u64> = self.code(row, factor).collect();
        self.all[at..at + self.words].copy_from_slice(&code);
    }

    pub(super) fn wipe(&mut self, slot: u32) {
        if let Some(code) = self.all.chunks_exact_mut(self.words).nth(slot as usize) {
            code.fill(0);
        }
    }
}
