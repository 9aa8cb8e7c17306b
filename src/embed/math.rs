//! The float passes between two matrix products, in plain Rust that any compiler can vectorise.
//!
//! Sums run over a fixed number of lanes, whatever the processor, and `exp` and `erf` are polynomials of our own: the
//! result does not depend on the width of the registers. `kernels` compiles these bodies once more for each instruction set.
//! Lengths are multiples of `LANES`; the loader refuses other shapes.

/// How many partial sums every reduction keeps.
pub(super) const LANES: usize = 16;

/// 1.5 * 2^23: adding it to a float below 2^22 rounds it to the nearest integer, kept in the low bits.
const ROUNDER: f32 = 12_582_912.0;

/// Sum of `f` over `values`, lane by lane.
#[inline(always)]
fn sum_of(values: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; LANES];
    for chunk in values.chunks_exact(LANES) {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += f(*value);
        }
    }
    lanes.iter().sum()
}

/// Largest `f(value)`, at least `floor`.
#[inline(always)]
fn max_of(values: &[f32], floor: f32, f: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [floor; LANES];
    for chunk in values.chunks_exact(LANES) {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            let value = f(*value);
            // Not `f32::max`, whose care for NaN costs two more instructions.
            *lane = if value > *lane { value } else { *lane };
        }
    }
    lanes.iter().fold(floor, |a, b| if *b > a { *b } else { a })
}

/// e^x for x <= 88, with a relative error below 2e-7; below -87 the result stays at e^-87.
/// Range reduction by ln 2 in two parts and the polynomial of Cephes' `expf`.
#[inline(always)]
#[allow(clippy::excessive_precision, reason = "the constants as Cephes prints them")]
fn exp(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let rounded = x * std::f32::consts::LOG2_E + ROUNDER;
    let n = rounded - ROUNDER;
    let r = x - n * 0.693_359_375 - n * -2.121_944_4e-4;
    let mut p = 1.987_569_15e-4;
    for c in [1.398_199_95e-3, 8.333_451_9e-3, 4.166_579_6e-2, 1.666_666_55e-1, 5.000_000_1e-1] {
        p = p * r + c;
    }
    let exponent = (rounded.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(127)) << 23;
    (p * r * r + r + 1.0) * f32::from_bits(exponent)
}

/// x * Phi(x), the exact form of GELU, with erf by Abramowitz and Stegun 7.1.26 (absolute error below 1.5e-7).
#[inline(always)]
pub(super) fn gelu(values: &mut [f32]) {
    for x in values {
        let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
        let t = 1.0 / (1.0 + 0.327_591_1 * z);
        let mut p = 1.061_405_4;
        for c in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
            p = p * t + c;
        }
        let erf = 1.0 - p * t * exp(-z * z);
        *x *= 0.5 * (1.0 + erf.copysign(*x));
    }
}

/// Writes `values / scale` rounded into -127..=127 and returns the scale. All zeros give scale zero.
#[inline(always)]
pub(super) fn quantise(values: &[f32], out: &mut [i8]) -> f32 {
    let max = max_of(values, 0.0, f32::abs);
    let inverse = if max > 0.0 { 127.0 / max } else { 0.0 };
    for (out, value) in out.iter_mut().zip(values) {
        *out = (value * inverse + ROUNDER).to_bits() as i8;
    }
    max / 127.0
}

/// Turns a row of integer sums back into floats: `sum * row scale * token scale + bias`.
#[inline(always)]
pub(super) fn dequantise(sums: &[i32], token_scale: f32, row_scales: &[f32], bias: &[f32], out: &mut [f32]) {
    for (((out, sum), scale), bias) in out.iter_mut().zip(sums).zip(row_scales).zip(bias) {
        *out = *sum as f32 * scale * token_scale + bias;
    }
}

/// Layer normalisation of `values + added`, in place.
#[inline(always)]
pub(super) fn add_normalise(values: &mut [f32], added: &[f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    for (value, added) in values.iter_mut().zip(added) {
        *value += added;
    }
    let count = values.len() as f32;
    let mean = sum_of(values, |x| x) / count;
    let variance = sum_of(values, |x| (x - mean) * (x - mean)) / count;
    let inverse = 1.0 / (variance + epsilon).sqrt();
    for ((value, weight), bias) in values.iter_mut().zip(weight).zip(bias) {
        *value = (*value - mean) * inverse * weight + bias;
    }
}

/// What `attend` needs to know about its input.
#[derive(Clone, Copy)]
pub(super) struct Heads {
    /// Length of a token's vector.
    pub(super) hidden: usize,
    /// How many heads share it.
    pub(super) heads: usize,
}

/// Softmax attention of every token to every token. `qkv` holds query, key and value of a token side by side (tokens x 3
/// hidden), `context` receives tokens x hidden; `keys` and `scores` are scratch.
#[inline(always)]
pub(super) fn attend(qkv: &[f32], shape: Heads, keys: &mut Vec<f32>, scores: &mut Vec<f32>, context: &mut [f32]) {
    let Heads { hidden, heads } = shape;
    let tokens = qkv.len() / (3 * hidden);
    let padded = tokens.next_multiple_of(LANES);
    let size = hidden / heads;
    let scale = 1.0 / (size as f32).sqrt();
    keys.clear();
    keys.resize(size * padded, 0.0);
    scores.clear();
    scores.resize(padded, 0.0);
    for head in 0..heads {
        // Keys lie transposed, so that a token's scores are sums over rows, without any horizontal addition.
        for (token, row) in qkv.chunks_exact(3 * hidden).enumerate() {
            for (d, key) in row[hidden + head * size..][..size].iter().enumerate() {
                keys[d * padded + token] = *key;
            }
        }
        for (row, context) in qkv.chunks_exact(3 * hidden).zip(context.chunks_exact_mut(hidden)) {
            score(&row[head * size..][..size], keys, scale, scores);
            softmax(scores, tokens);
            for (part, out) in context[head * size..][..size].chunks_exact_mut(LANES).enumerate() {
                let from = 2 * hidden + head * size + part * LANES;
                weigh(qkv, 3 * hidden, from, &scores[..tokens], out);
            }
        }
    }
}

/// Scaled products of one query with every transposed key.
#[inline(always)]
fn score(query: &[f32], keys: &[f32], scale: f32, scores: &mut [f32]) {
    let padded = scores.len();
    // Four sets of lanes at once where there are as many: one alone would wait for each addition to end.
    let (fours, ones) = scores.split_at_mut(padded / (4 * LANES) * (4 * LANES));
    let rest = fours.len();
    for (part, out) in fours.chunks_exact_mut(4 * LANES).enumerate() {
        score_part::<{ 4 * LANES }>(query, &keys[part * 4 * LANES..], padded, scale, out);
    }
    for (part, out) in ones.chunks_exact_mut(LANES).enumerate() {
        score_part::<LANES>(query, &keys[rest + part * LANES..], padded, scale, out);
    }
}

#[inline(always)]
fn score_part<const N: usize>(query: &[f32], keys: &[f32], padded: usize, scale: f32, out: &mut [f32]) {
    let mut lanes = [0.0f32; N];
    for (query, keys) in query.iter().zip(keys.chunks(padded)) {
        for (lane, key) in lanes.iter_mut().zip(&keys[..N]) {
            *lane += query * key;
        }
    }
    for (out, lane) in out.iter_mut().zip(lanes) {
        *out = lane * scale;
    }
}

/// Softmax over the first `tokens` scores; the padding after them becomes zero.
#[inline(always)]
fn softmax(scores: &mut [f32], tokens: usize) {
    scores[tokens..].fill(f32::MIN);
    let max = max_of(scores, f32::MIN, |x| x);
    for score in scores.iter_mut() {
        *score = exp(*score - max);
    }
    scores[tokens..].fill(0.0);
    let inverse = 1.0 / sum_of(scores, |x| x);
    for score in scores.iter_mut() {
        *score *= inverse;
    }
}

/// Adds up `LANES` columns of `rows`, beginning at column `from`, each row times its weight. Every fourth row goes into the
/// same sum, again so as not to wait.
#[inline(always)]
fn weigh(rows: &[f32], width: usize, from: usize, weights: &[f32], out: &mut [f32]) {
    let mut sums = [[0.0f32; LANES]; 4];
    for (rows, weights) in rows.chunks(4 * width).zip(weights.chunks(4)) {
        for ((row, weight), sum) in rows.chunks_exact(width).zip(weights).zip(&mut sums) {
            for (lane, value) in sum.iter_mut().zip(&row[from..][..LANES]) {
                *lane += weight * value;
            }
        }
    }
    for (lane, out) in out.iter_mut().enumerate() {
        *out = (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]);
    }
}

/// Scales `values` to unit length; all zeros stay.
pub(super) fn unit_length(values: &mut [f32]) {
    let length = sum_of(values, |x| x * x).sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|value| *value /= length);
    }
}

#[cfg(test)]
mod tests {
    //! `exp` and `erf` stand in for the platform's; a wrong digit in a constant would only show as slightly worse recall.
    use super::*;

    #[test]
    fn exp_is_close_to_the_platforms() {
        for step in -8600..=100 {
            let x = step as f32 / 100.0;
            let expected = f64::from(x).exp();
            let error = (f64::from(exp(x)) - expected).abs() / expected;
            assert!(error < 3e-7, "exp({x}) is off by {error}");
        }
        assert!(exp(f32::MIN) < 1e-37);
    }

    #[test]
    fn gelu_matches_published_values() {
        // x * Phi(x) from tables of the normal distribution.
        for (x, expected) in [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-1.0, -0.158_655_3),
            (2.0, 1.954_499_7),
            (-3.0, -0.004_049_7),
            (10.0, 10.0),
        ] {
            let mut values = [x];
            gelu(&mut values);
            assert!((values[0] - expected).abs() < 1e-6, "gelu({x}) = {}", values[0]);
        }
    }

    #[test]
    fn quantising_keeps_the_extremes_and_survives_zeros() {
        let mut values = [0.0f32; LANES];
        let mut out = [1i8; LANES];
        assert_eq!(quantise(&values, &mut out), 0.0);
        assert_eq!(out, [0; LANES]);
        values[0] = -2.0;
        values[1] = 1.0;
        assert_eq!(quantise(&values, &mut out), 2.0 / 127.0);
        assert_eq!((out[0], out[1]), (-127, 64));
    }
}
