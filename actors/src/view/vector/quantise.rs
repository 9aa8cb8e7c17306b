//! From floats to bytes and bits.

/// A vector as it is compared and as the log keeps it: a byte a dimension, the largest part as 127. One without a direction (all zero,
/// or not finite) is all zero. Nothing prints it: a vector is as private as its text.
#[derive(Clone, PartialEq, Eq)]
pub struct Quantised(Box<[i8]>);

impl Quantised {
    /// Of a vector as a model gives it.
    pub fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |most, part| most.max(part.abs()));
        if largest == 0.0 || !vector.iter().all(|part| part.is_finite()) {
            return Self(vec![0; vector.len()].into());
        }
        Self(vector.iter().map(|part| (part / largest * 127.0).round() as i8).collect())
    }

    /// As the log keeps it.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|part| *part as u8).collect()
    }

    /// What the log keeps of a vector of that length, if it is one. Earlier versions kept floats, little-endian.
    pub fn from_bytes(bytes: &[u8], dimensions: usize) -> Option<Self> {
        if bytes.len() == dimensions {
            return Some(Self(bytes.iter().map(|byte| *byte as i8).collect()));
        }
        let (floats, rest) = bytes.as_chunks::<4>();
        let vector: Vec<f32> = floats.iter().map(|float| f32::from_le_bytes(*float)).collect();
        (rest.is_empty() && vector.len() == dimensions).then(|| Self::of(&vector))
    }

    /// How many dimensions it has.
    pub(super) fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// Writes it as a row, padded with zeros, and answers the factor that makes a dot product of such rows a cosine; 0 without a
    /// direction.
    pub(super) fn write(&self, row: &mut [i8]) -> f32 {
        let (parts, padding) = row.split_at_mut(self.0.len());
        parts.copy_from_slice(&self.0);
        padding.fill(0);
        let square: i32 = self.0.iter().map(|part| i32::from(*part) * i32::from(*part)).sum();
        if square == 0 { 0.0 } else { 1.0 / (square as f32).sqrt() }
    }
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
        let factor = Quantised::of(vector).write(&mut bytes);
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

/// Times eight bytes of 0 or 1, it has them as the bits of its highest byte.
const GATHER: u64 = 0x0102_0408_1020_4080;

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
        self.centre.as_chunks::<64>().0.iter().zip(row.as_chunks::<64>().0).map(move |(centre, row)| {
            // First a byte for each side, which processors compare side by side, then the bits of each eight of them.
            let sides: [u8; 64] = std::array::from_fn(|at| u8::from(f32::from(row[at]) * factor > centre[at]));
            let bits =
                sides.as_chunks::<8>().0.iter().map(|eight| u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56);
            bits.enumerate().fold(0, |word, (at, bits)| word | bits << (8 * at))
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

#[cfg(test)]
mod tests {
    use super::*;

    // Each bit is one dimension's, in their order, whichever way they are computed.
    #[test]
    fn a_code_says_on_which_side_each_dimension_lies() {
        let row = |seed: usize| -> Vec<i8> { (0..128).map(|at| ((at * seed + at * at) % 255) as i8).collect() };
        let codes = Codes::around([(&row(3)[..], 0.01), (&row(5)[..], 0.02)].into_iter(), 128);
        for seed in 0..50 {
            let row = row(seed);
            let words: Vec<u64> = codes.code(&row, 0.015).collect();
            assert_eq!(words.len(), 2);
            for (at, byte) in row.iter().enumerate() {
                assert_eq!(words[at / 64] >> (at % 64) & 1 == 1, f32::from(*byte) * 0.015 > codes.centre[at], "{at}");
            }
        }
    }

    // A folder of an earlier version has floats: they are the same rows, and nothing is embedded again for them.
    #[test]
    fn what_the_log_keeps_comes_back_in_either_form() {
        let vector = [0.25_f32, -1.0, 0.0, 0.5, 0.999];
        let quantised = Quantised::of(&vector);
        let floats: Vec<u8> = vector.iter().flat_map(|part| part.to_le_bytes()).collect();
        for bytes in [quantised.to_bytes(), floats] {
            assert!(Quantised::from_bytes(&bytes, 5).is_some_and(|it| it == quantised));
            // Another model's, or a part of one.
            assert!(Quantised::from_bytes(&bytes, 4).is_none());
            assert!(Quantised::from_bytes(&bytes[1..], 5).is_none());
        }
        let mut row = [7; 8];
        let factor = quantised.write(&mut row);
        assert_eq!(row, [32, -127, 0, 64, 127, 0, 0, 0]);
        let square: f32 = row.iter().map(|part| f32::from(*part).powi(2)).sum();
        assert!((factor * square.sqrt() - 1.0).abs() < 1e-6);
        for nothing in [[0.0; 5], [f32::NAN; 5], [f32::INFINITY; 5]] {
            assert_eq!(Quantised::of(&nothing).write(&mut row), 0.0);
            assert_eq!(row, [0; 8]);
        }
    }
}
