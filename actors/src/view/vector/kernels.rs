//! The four inner loops of vector search, each in plain Rust and for the processors that most servers have. Which one
//! runs is decided once, by asking the processor.
// A function compiled for more than the base processor can only be called in an unsafe block; the table below is filled
// after the check that makes the call sound, and the loads stay inside slices whose lengths are asserted.
#![allow(unsafe_code)]

use std::sync::OnceLock;

/// Rows are padded with zeros to a multiple of this, so that no kernel has a remainder to treat.
pub(super) const PAD: usize = 64;

/// The loops, as this processor runs them best. Lengths must agree and, but for `hammings`, be multiples of [`PAD`].
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    /// Dot product; exact.
    pub(super) dot: fn(&[i8], &[i8]) -> i32,
    /// Dot product with an unquantised query.
    pub(super) dot_f32: fn(&[f32], &[i8]) -> f32,
    /// Bits that differ between the query's code and each of the codes that follow each other in the second slice.
    pub(super) hammings: fn(&[u64], &[u64], &mut [u16]),
}

/// This processor's kernels.
pub(super) fn kernels() -> Kernels {
    static CHOSEN: OnceLock<Kernels> = OnceLock::new();
    *CHOSEN.get_or_init(|| all().pop().unwrap_or(PLAIN))
}

const PLAIN: Kernels = Kernels { dot: dot_plain, dot_f32: dot_f32_plain, hammings: hammings_plain };

/// All sets that run here, the best last; tests compare them.
fn all() -> Vec<Kernels> {
    #[allow(unused_mut, reason = "there are others on x86 only")]
    let mut sets = vec![PLAIN];
    #[cfg(target_arch = "x86_64")]
    x86::add(&mut sets);
    sets
}

fn dot_plain(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

fn dot_f32_plain(query: &[f32], row: &[i8]) -> f32 {
    // Sixteen sums, so that a vectorising compiler may add side by side.
    let mut sums = [0.0_f32; 16];
    for (query, row) in query.chunks_exact(16).zip(row.chunks_exact(16)) {
        for lane in 0..16 {
            sums[lane] += query[lane] * f32::from(row[lane]);
        }
    }
    sums.iter().sum()
}

fn hammings_plain(query: &[u64], codes: &[u64], distances: &mut [u16]) {
    hammings_body(query, codes, distances);
}

#[inline(always)]
fn hammings_body(query: &[u64], codes: &[u64], distances: &mut [u16]) {
    match query.len() {
        // The common lengths (384, 768 and 1,024 dimensions) are unrolled.
        6 => hammings_of::<6>(query, codes, distances),
        12 => hammings_of::<12>(query, codes, distances),
        16 => hammings_of::<16>(query, codes, distances),
        words => {
            for (code, distance) in codes.chunks_exact(words).zip(distances) {
                *distance = query.iter().zip(code).map(|(a, b)| (a ^ b).count_ones() as u16).sum();
            }
        }
    }
}

#[inline(always)]
fn hammings_of<const WORDS: usize>(query: &[u64], codes: &[u64], distances: &mut [u16]) {
    let Some(query) = query.first_chunk::<WORDS>() else {
        return;
    };
    for (code, distance) in codes.as_chunks::<WORDS>().0.iter().zip(distances) {
        let mut bits = 0;
        for word in 0..WORDS {
            bits += (query[word] ^ code[word]).count_ones();
        }
        *distance = bits as u16;
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::is_x86_feature_detected as has;
    use std::arch::x86_64::*;

    use super::{Kernels, PAD, hammings_body};

    pub(super) fn add(sets: &mut Vec<Kernels>) {
        if !(has!("avx2") && has!("fma") && has!("popcnt")) {
            return;
        }
        // SAFETY (both sets): the features that each function is compiled for were just found.
        let avx2 = Kernels {
            dot: |a, b| unsafe { dot_avx2(a, b) },
            dot_f32: |query, row| unsafe { dot_f32_avx2(query, row) },
            hammings: |query, codes, distances| unsafe { hammings_popcnt(query, codes, distances) },
        };
        sets.push(avx2);
        if has!("avx512f") && has!("avx512bw") && has!("avx512vnni") {
            sets.push(Kernels {
                dot: |a, b| unsafe { dot_vnni(a, b) },
                dot_f32: |query, row| unsafe { dot_f32_avx512(query, row) },
                ..avx2
            });
        }
    }

    fn check(a: usize, b: usize) {
        assert!(a == b && a.is_multiple_of(PAD), "rows of {a} and {b}");
    }

    #[target_feature(enable = "avx2")]
    fn dot_avx2(a: &[i8], b: &[i8]) -> i32 {
        check(a.len(), b.len());
        let mut sum = _mm256_setzero_si256();
        for at in (0..a.len()).step_by(16) {
            // SAFETY: `at + 16` is within both slices, whose equal length is a multiple of 64.
            let (a, b) =
                unsafe { (_mm_loadu_si128(a.as_ptr().add(at).cast()), _mm_loadu_si128(b.as_ptr().add(at).cast())) };
            let products = _mm256_madd_epi16(_mm256_cvtepi8_epi16(a), _mm256_cvtepi8_epi16(b));
            sum = _mm256_add_epi32(sum, products);
        }
        let halves = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        let quarters = _mm_add_epi32(halves, _mm_shuffle_epi32(halves, 0b00_00_11_10));
        _mm_cvtsi128_si32(_mm_add_epi32(quarters, _mm_shuffle_epi32(quarters, 0b00_00_00_01)))
    }

    /// The instruction multiplies unsigned by signed: `a + 128` is made unsigned, and `128 * sum(b)` taken off again.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn dot_vnni(a: &[i8], b: &[i8]) -> i32 {
        check(a.len(), b.len());
        let flip = _mm512_set1_epi8(-128);
        let ones = _mm512_set1_epi8(1);
        let (mut sum, mut extra) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for at in (0..a.len()).step_by(64) {
            // SAFETY: `at + 64` is within both slices, whose equal length is a multiple of 64.
            let (a, b) = unsafe {
                (_mm512_loadu_si512(a.as_ptr().add(at).cast()), _mm512_loadu_si512(b.as_ptr().add(at).cast()))
            };
            sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(a, flip), b);
            extra = _mm512_dpbusd_epi32(extra, ones, b);
        }
        _mm512_reduce_add_epi32(_mm512_sub_epi32(sum, _mm512_slli_epi32(extra, 7)))
    }

    #[target_feature(enable = "avx2,fma")]
    fn dot_f32_avx2(query: &[f32], row: &[i8]) -> f32 {
        check(query.len(), row.len());
        let mut sums = [_mm256_setzero_ps(); 4];
        for at in (0..row.len()).step_by(32) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                let at = at + 8 * lane;
                // SAFETY: `at + 8` is within both slices, whose equal length is a multiple of 64.
                let (query, row) =
                    unsafe { (_mm256_loadu_ps(query.as_ptr().add(at)), _mm_loadl_epi64(row.as_ptr().add(at).cast())) };
                *sum = _mm256_fmadd_ps(query, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(row)), *sum);
            }
        }
        let [a, b, c, d] = sums;
        let sum = _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d));
        let halves = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
        let quarters = _mm_add_ps(halves, _mm_movehl_ps(halves, halves));
        _mm_cvtss_f32(_mm_add_ss(quarters, _mm_movehdup_ps(quarters)))
    }

    #[target_feature(enable = "avx512f")]
    fn dot_f32_avx512(query: &[f32], row: &[i8]) -> f32 {
        check(query.len(), row.len());
        let mut sums = [_mm512_setzero_ps(); 4];
        for at in (0..row.len()).step_by(64) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                let at = at + 16 * lane;
                // SAFETY: `at + 16` is within both slices, whose equal length is a multiple of 64.
                let (query, row) =
                    unsafe { (_mm512_loadu_ps(query.as_ptr().add(at)), _mm_loadu_si128(row.as_ptr().add(at).cast())) };
                *sum = _mm512_fmadd_ps(query, _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(row)), *sum);
            }
        }
        let [a, b, c, d] = sums;
        _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)))
    }

    #[target_feature(enable = "popcnt")]
    fn hammings_popcnt(query: &[u64], codes: &[u64], distances: &mut [u16]) {
        hammings_body(query, codes, distances);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // A kernel that is wrong in one lane only makes search a little worse, which nothing else would notice.
        #[test]
        fn every_kernel_agrees_with_the_plain_one(
            pads in 1_usize..7, words in 1_usize..20, codes in 0_usize..9, seed in any::<u64>()
        ) {
            let mut state = seed | 1;
            let mut next = || { state ^= state << 13; state ^= state >> 7; state ^= state << 17; state };
            let a: Vec<i8> = (0..pads * PAD).map(|_| next() as i8).collect();
            let b: Vec<i8> = (0..pads * PAD).map(|_| next() as i8).collect();
            let query: Vec<f32> = a.iter().map(|a| f32::from(*a) / 127.0).collect();
            let code: Vec<u64> = (0..words).map(|_| next()).collect();
            let list: Vec<u64> = (0..words * codes).map(|_| next()).collect();
            for set in all() {
                prop_assert_eq!((set.dot)(&a, &b), dot_plain(&a, &b));
                prop_assert_eq!((set.dot)(&[-128; PAD], &[-128; PAD]), 64 * 128 * 128);
                prop_assert!(((set.dot_f32)(&query, &b) - dot_f32_plain(&query, &b)).abs() < 0.05);
                let (mut given, mut plain) = (vec![0; codes], vec![0; codes]);
                (set.hammings)(&code, &list, &mut given);
                hammings_plain(&code, &list, &mut plain);
                prop_assert_eq!(given, plain);
            }
        }
    }
}
