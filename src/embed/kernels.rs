//! The loops written for particular processors: the int8 matrix product, and the float passes of `math` compiled once more
//! with wider registers. Every kernel gives exactly what the portable one gives.
//!
//! The one file of this crate with unsafe code: calling a function compiled for an instruction set that the processor
//! was asked for at run time is unsafe in Rust, and so is a load through a pointer, without which bounds checks cost a third of the time.
#![allow(unsafe_code)]

use super::math::{self, Heads};

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Rows of a weight matrix that lie interleaved: 32 rows x 4 columns fill two 512-bit registers.
pub(super) const PANEL: usize = 32;

/// The instruction set that the encoder runs on. Values exist only for sets that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
}

impl Kernel {
    /// Plain Rust; runs everywhere.
    pub const PORTABLE: Kernel = Kernel(Set::Portable);

    /// All that run here, the slowest first.
    pub fn available() -> Vec<Kernel> {
        let mut kernels = vec![Kernel::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                kernels.push(Kernel(Set::Avx2));
            }
            let vnni = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vnni");
            if vnni {
                kernels.push(Kernel(Set::Avx512Vnni));
            }
        }
        kernels
    }

    /// The fastest that runs here.
    pub fn best() -> Kernel {
        Kernel::available().pop().unwrap_or(Kernel::PORTABLE)
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512Vnni => "avx512-vnni",
        }
    }
}

/// 64 bytes that begin at a cache line, so that no load touches two.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([i8; 64]);

/// An int8 matrix, laid out as its kernel reads it.
pub(super) struct Weights {
    depth: usize,
    rows: usize,
    layout: Layout,
}

/// How the values lie, which says also who reads them.
enum Layout {
    /// Row after row, for the portable kernel: compilers know how to vectorise that.
    Rows(Vec<i8>),
    /// Panels of 32 rows, interleaved by fours, so that sums end up side by side in a register.
    #[cfg(target_arch = "x86_64")]
    Avx2(Vec<Line>),
    /// The same plus 128, since this instruction multiplies unsigned by signed.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni(Vec<Line>),
}

impl Weights {
    /// Packs `row_major`, rows of `depth` values in -127..=127. Panics unless rows are whole panels and depth a multiple of 32;
    /// the loader has checked both.
    pub(super) fn pack(kernel: Kernel, depth: usize, row_major: Vec<i8>) -> Weights {
        let rows = row_major.len() / depth;
        assert!(depth.is_multiple_of(32) && rows.is_multiple_of(PANEL) && rows * depth == row_major.len());
        let layout = match kernel.0 {
            Set::Portable => Layout::Rows(row_major),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => Layout::Avx2(panels(depth, &row_major, 0)),
            // Flipping the top bit adds 128 to a value read as unsigned.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512Vnni => Layout::Avx512Vnni(panels(depth, &row_major, i8::MIN)),
        };
        Weights { depth, rows, layout }
    }

    /// Rows of the matrix: the length of a result.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of the matrix: the length of an input.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// `out[token][row] = sum over columns of weight[row][column] * x[token][column]`, exactly. Inputs lie in -127..=127.
    pub(super) fn multiply(&self, x: &[i8], out: &mut [i32]) {
        let tokens = x.len() / self.depth;
        assert!(tokens * self.depth == x.len() && out.len() == tokens * self.rows);
        match &self.layout {
            Layout::Rows(weights) => multiply_portable(weights, self.depth, x, out),
            // SAFETY: only a `Kernel` of this set packs this layout, and it exists only where `available` found the features.
            #[cfg(target_arch = "x86_64")]
            Layout::Avx2(lines) => unsafe { multiply_avx2(lines, self.depth, x, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Layout::Avx512Vnni(lines) => unsafe { multiply_vnni(lines, self.depth, x, out) },
        }
    }
}

fn multiply_portable(weights: &[i8], depth: usize, x: &[i8], out: &mut [i32]) {
    let rows = weights.len() / depth;
    for (row, weights) in weights.chunks_exact(depth).enumerate() {
        for (token, x) in x.chunks_exact(depth).enumerate() {
            out[token * rows + row] = weights.iter().zip(x).map(|(w, x)| i32::from(*w) * i32::from(*x)).sum();
        }
    }
}

/// Stores 32 rows x 4 columns together, row after row, each value with the bits of `flip` turned over.
#[cfg(target_arch = "x86_64")]
fn panels(depth: usize, row_major: &[i8], flip: i8) -> Vec<Line> {
    let mut lines = vec![Line([0; 64]); row_major.len() / 64];
    for (at, value) in row_major.iter().enumerate() {
        let (row, column) = (at / depth, at % depth);
        let to = row / PANEL * PANEL * depth + column / 4 * PANEL * 4 + row % PANEL * 4 + column % 4;
        lines[to / 64].0[to % 64] = value ^ flip;
    }
    lines
}

/// Calls `$tile::<N>` for every group of at most `$most` tokens of every panel. `$excess` is what to take off each token's sums.
#[cfg(target_arch = "x86_64")]
macro_rules! for_each_tile {
    ($lines:ident, $depth:ident, $x:ident, $out:ident, $tile:ident, $excess:expr, [$most:literal $(, $fewer:literal)*]) => {{
        let excess: &[i32] = $excess;
        let tokens = $x.len() / $depth;
        let rows = $lines.len() * 64 / $depth;
        for (panel, lines) in $lines.chunks_exact($depth / 2).enumerate() {
            let mut token = 0;
            while token < tokens {
                let x = &$x[token * $depth..];
                let out = &mut $out[token * rows + panel * PANEL..];
                let excess = excess.get(token..).unwrap_or_default();
                match tokens - token {
                    $($fewer => $tile::<$fewer>(lines, $depth, x, rows, out, excess),)*
                    _ => $tile::<$most>(lines, $depth, x, rows, out, excess),
                }
                token += $most.min(tokens - token);
            }
        }
    }};
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn multiply_vnni(lines: &[Line], depth: usize, x: &[i8], out: &mut [i32]) {
    // Weights are stored plus 128, which adds 128 times the sum of the token's inputs to every result.
    let excess: Vec<i32> = x.chunks_exact(depth).map(|x| 128 * x.iter().map(|x| i32::from(*x)).sum::<i32>()).collect();
    for_each_tile!(lines, depth, x, out, tile_vnni, &excess, [8, 1, 2, 3, 4, 5, 6, 7]);
}

/// One panel times `T` tokens: `T` x 2 registers of 16 sums each.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn tile_vnni<const T: usize>(panel: &[Line], depth: usize, x: &[i8], rows: usize, out: &mut [i32], excess: &[i32]) {
    assert!(panel.len() * 2 == depth && x.len() >= T * depth && out.len() >= (T - 1) * rows + PANEL);
    let mut sums = [[_mm512_setzero_si512(); 2]; T];
    for (sums, excess) in sums.iter_mut().zip(excess) {
        *sums = [_mm512_set1_epi32(-excess); 2];
    }
    for (step, pair) in panel.chunks_exact(2).enumerate() {
        // SAFETY: a `Line` is 64 bytes long and aligned to 64.
        let weights =
            unsafe { [_mm512_load_si512(pair[0].0.as_ptr().cast()), _mm512_load_si512(pair[1].0.as_ptr().cast())] };
        for (t, sums) in sums.iter_mut().enumerate() {
            // SAFETY: step < depth / 4, so these four bytes end within token t's row, and x holds T rows (asserted above).
            let four = unsafe { x.as_ptr().add(t * depth + step * 4).cast::<i32>().read_unaligned() };
            let four = _mm512_set1_epi32(four);
            sums[0] = _mm512_dpbusd_epi32(sums[0], weights[0], four);
            sums[1] = _mm512_dpbusd_epi32(sums[1], weights[1], four);
        }
    }
    for (t, sums) in sums.iter().enumerate() {
        let out = &mut out[t * rows..][..PANEL];
        // SAFETY: `out` is 32 numbers of 4 bytes: two unaligned stores of 64 bytes.
        unsafe {
            _mm512_storeu_si512(out.as_mut_ptr().cast(), sums[0]);
            _mm512_storeu_si512(out.as_mut_ptr().add(16).cast(), sums[1]);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn multiply_avx2(lines: &[Line], depth: usize, x: &[i8], out: &mut [i32]) {
    for_each_tile!(lines, depth, x, out, tile_avx2, &[], [2, 1]);
}

/// One panel times `T` tokens: `T` x 4 registers of 8 sums each.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn tile_avx2<const T: usize>(panel: &[Line], depth: usize, x: &[i8], rows: usize, out: &mut [i32], _excess: &[i32]) {
    assert!(panel.len() * 2 == depth && x.len() >= T * depth && out.len() >= (T - 1) * rows + PANEL);
    let ones = _mm256_set1_epi16(1);
    let mut sums = [[_mm256_setzero_si256(); 4]; T];
    for (step, pair) in panel.chunks_exact(2).enumerate() {
        let mut fours = [_mm256_setzero_si256(); T];
        for (t, four) in fours.iter_mut().enumerate() {
            // SAFETY: step < depth / 4, so these four bytes end within token t's row, and x holds T rows (asserted above).
            *four = _mm256_set1_epi32(unsafe { x.as_ptr().add(t * depth + step * 4).cast::<i32>().read_unaligned() });
        }
        for quarter in 0..4 {
            // SAFETY: a `Line` is 64 bytes long and aligned to 64: two aligned halves of 32 bytes.
            let weights = unsafe { _mm256_load_si256(pair[quarter / 2].0.as_ptr().add(quarter % 2 * 32).cast()) };
            for (sums, four) in sums.iter_mut().zip(&fours) {
                // The instruction wants unsigned times signed: |x| times w with the sign of x. Two products of at most 127 * 127
                // stay below 2^15, so nothing saturates.
                let products = _mm256_maddubs_epi16(_mm256_abs_epi8(*four), _mm256_sign_epi8(weights, *four));
                sums[quarter] = _mm256_add_epi32(sums[quarter], _mm256_madd_epi16(products, ones));
            }
        }
    }
    for (t, sums) in sums.iter().enumerate() {
        let out = &mut out[t * rows..][..PANEL];
        for (quarter, sum) in sums.iter().enumerate() {
            // SAFETY: `out` is 32 numbers of 4 bytes: four unaligned stores of 32 bytes.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(quarter * 8).cast(), *sum) };
        }
    }
}

/// Makes a function that runs a body of `math` compiled for the kernel's registers.
macro_rules! widened {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?) => {
        $(#[$doc])*
        pub(super) fn $name(kernel: Kernel, $($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2($($arg: $type),*) $(-> $result)? {
                math::$name($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            fn avx512($($arg: $type),*) $(-> $result)? {
                math::$name($($arg),*)
            }
            match kernel.0 {
                Set::Portable => math::$name($($arg),*),
                // SAFETY: a `Kernel` of this set exists only where `available` found the features.
                #[cfg(target_arch = "x86_64")]
                Set::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Set::Avx512Vnni => unsafe { avx512($($arg),*) },
            }
        }
    };
}

widened!(
    /// See `math::gelu`.
    gelu(values: &mut [f32])
);
widened!(
    /// See `math::quantise`.
    quantise(values: &[f32], out: &mut [i8]) -> f32
);
widened!(
    /// See `math::dequantise`.
    dequantise(sums: &[i32], token_scale: f32, row_scales: &[f32], bias: &[f32], out: &mut [f32])
);
widened!(
    /// See `math::add_normalise`.
    add_normalise(values: &mut [f32], added: &[f32], weight: &[f32], bias: &[f32], epsilon: f32)
);
widened!(
    /// See `math::attend`.
    attend(qkv: &[f32], shape: Heads, keys: &mut Vec<f32>, scores: &mut Vec<f32>, context: &mut [f32])
);
