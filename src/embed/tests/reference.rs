//! BERT's forward pass in plain f32, as the papers write it: slow, short, and independent of everything that it judges.

use std::path::Path;

use safetensors::SafeTensors;

pub(super) struct Reference<'a> {
    pub(super) file: SafeTensors<'a>,
    pub(super) heads: usize,
}

/// Rows of numbers.
type Rows = Vec<Vec<f32>>;

pub(super) fn read(folder: &Path) -> Vec<u8> {
    std::fs::read(folder.join("model.safetensors")).unwrap()
}

impl Reference<'_> {
    fn tensor(&self, name: &str) -> Vec<f32> {
        let data = self.file.tensor(name).unwrap().data().to_vec();
        data.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    fn dense(&self, name: &str, x: &Rows) -> Rows {
        let (weight, bias) = (self.tensor(&format!("{name}.weight")), self.tensor(&format!("{name}.bias")));
        let row = |x: &Vec<f32>| {
            let dot = |w: &[f32]| w.iter().zip(x).map(|(w, x)| w * x).sum::<f32>();
            weight.chunks_exact(x.len()).zip(&bias).map(|(w, b)| dot(w) + b).collect()
        };
        x.iter().map(row).collect()
    }

    fn norm(&self, name: &str, x: &Rows) -> Rows {
        let (weight, bias) = (self.tensor(&format!("{name}.weight")), self.tensor(&format!("{name}.bias")));
        let row = |x: &Vec<f32>| {
            let mean = x.iter().sum::<f32>() / x.len() as f32;
            let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / x.len() as f32;
            x.iter().zip(&weight).zip(&bias).map(|((x, w), b)| (x - mean) / (variance + 1e-12).sqrt() * w + b).collect()
        };
        x.iter().map(row).collect()
    }

    fn attention(&self, layer: &str, x: &Rows) -> Rows {
        let [q, k, v] = ["query", "key", "value"].map(|part| self.dense(&format!("{layer}.attention.self.{part}"), x));
        let size = x[0].len() / self.heads;
        let mut context = vec![vec![0.0; x[0].len()]; x.len()];
        for (i, context) in context.iter_mut().enumerate() {
            for head in 0..self.heads {
                let part = head * size..(head + 1) * size;
                let dot =
                    |k: &Vec<f32>| q[i][part.clone()].iter().zip(&k[part.clone()]).map(|(q, k)| q * k).sum::<f32>();
                let weights: Vec<f32> = k.iter().map(|k| (dot(k) / (size as f32).sqrt()).exp()).collect();
                let total: f32 = weights.iter().sum();
                for (weight, v) in weights.iter().zip(&v) {
                    for d in part.clone() {
                        context[d] += weight / total * v[d];
                    }
                }
            }
        }
        context
    }

    pub(super) fn embed(&self, ids: &[u32]) -> Vec<f32> {
        let words = self.tensor("embeddings.word_embeddings.weight");
        let positions = self.tensor("embeddings.position_embeddings.weight");
        let types = self.tensor("embeddings.token_type_embeddings.weight");
        let hidden = self.tensor("embeddings.LayerNorm.weight").len();
        let at = |(p, id): (usize, &u32)| {
            (0..hidden).map(|d| words[*id as usize * hidden + d] + positions[p * hidden + d] + types[d]).collect()
        };
        let mut x: Rows = ids.iter().enumerate().map(at).collect();
        x = self.norm("embeddings.LayerNorm", &x);
        for number in 0.. {
            let layer = format!("encoder.layer.{number}");
            if self.file.tensor(&format!("{layer}.output.dense.weight")).is_err() {
                break;
            }
            let attended = self.dense(&format!("{layer}.attention.output.dense"), &self.attention(&layer, &x));
            x = self.norm(&format!("{layer}.attention.output.LayerNorm"), &sum(&x, &attended));
            let mut wide = self.dense(&format!("{layer}.intermediate.dense"), &x);
            wide.iter_mut().flatten().for_each(|x| *x = gelu(*x));
            x = self.norm(
                &format!("{layer}.output.LayerNorm"),
                &sum(&x, &self.dense(&format!("{layer}.output.dense"), &wide)),
            );
        }
        let mean: Vec<f32> = (0..hidden).map(|d| x.iter().map(|row| row[d]).sum::<f32>() / x.len() as f32).collect();
        let length = mean.iter().map(|x| x * x).sum::<f32>().sqrt();
        mean.iter().map(|x| x / length).collect()
    }
}

fn sum(a: &Rows, b: &Rows) -> Rows {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

/// GELU with erf from its Taylor series, which converges well where it matters; beyond 4 the function is flat.
fn gelu(x: f32) -> f32 {
    let z = f64::from(x) / std::f64::consts::SQRT_2;
    let mut erf = z.signum();
    if z.abs() < 4.0 {
        let (mut term, mut sum) = (z, z);
        for n in 1..80 {
            term *= -z * z / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        erf = sum * 2.0 / std::f64::consts::PI.sqrt();
    }
    (f64::from(x) * 0.5 * (1.0 + erf)) as f32
}

pub(super) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
