//! A kernel that is off by one somewhere still finds similar texts, only worse. So each is compared with the portable one on
//! noise, in every combination of sizes that takes another path, and must be exactly equal.

use super::super::kernels::{self, Kernel, PANEL, Weights};
use super::super::math::Heads;
use super::tiny::Noise;

fn noise_i8(noise: &mut Noise, count: usize) -> Vec<i8> {
    (0..count).map(|_| (noise.next() % 255) as i32 as i8).map(|x| x.max(-127)).collect()
}

fn noise_f32(noise: &mut Noise, count: usize) -> Vec<f32> {
    (0..count).map(|_| noise.float(2.0)).collect()
}

fn product(kernel: Kernel, depth: usize, weights: &[i8], x: &[i8]) -> Vec<i32> {
    let weights = Weights::pack(kernel, depth, weights.to_vec());
    let mut out = vec![7; x.len() / depth * weights.rows()];
    weights.multiply(x, &mut out);
    out
}

#[test]
fn products_are_exactly_equal() {
    let mut noise = Noise(1);
    for (rows, depth) in [(PANEL, 32), (PANEL, 96), (3 * PANEL, 64), (2 * PANEL, 1536)] {
        for tokens in 0..=19 {
            let (weights, x) = (noise_i8(&mut noise, rows * depth), noise_i8(&mut noise, tokens * depth));
            let plain = |at: usize| -> i32 {
                let (x, w) = (&x[at / rows * depth..][..depth], &weights[at % rows * depth..][..depth]);
                x.iter().zip(w).map(|(x, w)| i32::from(*x) * i32::from(*w)).sum()
            };
            let expected: Vec<i32> = (0..tokens * rows).map(plain).collect();
            for kernel in Kernel::available() {
                assert_eq!(product(kernel, depth, &weights, &x), expected, "{} {rows}x{depth} {tokens}", kernel.name());
            }
        }
    }
}

#[test]
fn products_of_extremes_do_not_overflow() {
    let depth = 1536;
    for kernel in Kernel::available() {
        for (w, x) in [(127i8, 127i8), (127, -127), (-127, 127), (-127, -127), (0, -127)] {
            let out = product(kernel, depth, &vec![w; PANEL * depth], &vec![x; 3 * depth]);
            assert_eq!(out, vec![i32::from(w) * i32::from(x) * depth as i32; 3 * PANEL], "{}", kernel.name());
        }
    }
}

#[test]
fn float_passes_are_exactly_equal() {
    let mut noise = Noise(2);
    for width in [32, 384, 1536] {
        let [values, added, weight, bias] = [(); 4].map(|()| noise_f32(&mut noise, width));
        let sums: Vec<i32> = (0..width).map(|_| noise.next() as i32 >> 8).collect();
        let run = |kernel| {
            let mut gelu = values.clone();
            kernels::gelu(kernel, &mut gelu);
            let mut quantised = vec![0; width];
            let scale = kernels::quantise(kernel, &values, &mut quantised);
            let mut floats = vec![0.0; width];
            kernels::dequantise(kernel, &sums, scale, &weight, &bias, &mut floats);
            let mut normal = values.clone();
            kernels::add_normalise(kernel, &mut normal, &added, &weight, &bias, 1e-12);
            (gelu, quantised, scale, floats, normal)
        };
        for kernel in Kernel::available() {
            assert_eq!(run(kernel), run(Kernel::PORTABLE), "{} {width}", kernel.name());
        }
    }
}

#[test]
fn attention_is_exactly_equal() {
    let mut noise = Noise(3);
    let shape = Heads { hidden: 96, heads: 3 };
    for tokens in [1, 2, 15, 16, 17, 50] {
        let qkv = noise_f32(&mut noise, tokens * 3 * shape.hidden);
        let run = |kernel| {
            let mut context = vec![0.0; tokens * shape.hidden];
            kernels::attend(kernel, &qkv, shape, &mut Vec::new(), &mut Vec::new(), &mut context);
            context
        };
        for kernel in Kernel::available() {
            assert_eq!(run(kernel), run(Kernel::PORTABLE), "{} {tokens}", kernel.name());
        }
    }
}
