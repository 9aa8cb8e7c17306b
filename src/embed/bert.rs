//! The network: BERT's encoder with int8 weights, from token numbers to one unit vector.

use serde::Deserialize;

use super::kernels::{self, Kernel, PANEL, Weights};
use super::math::{self, Heads, LANES};
use super::tensors::Source;

/// What `config.json` says and the weights do not. The defaults are all-MiniLM-L6-v2's.
#[derive(Deserialize)]
#[serde(default)]
pub(super) struct Config {
    num_attention_heads: usize,
    layer_norm_eps: f32,
    hidden_act: String,
    position_embedding_type: String,
}

impl Config {
    /// A BERT like the default one in all but the two.
    pub(super) fn bert(heads: usize, epsilon: f32) -> Config {
        Config { num_attention_heads: heads, layer_norm_eps: epsilon, ..Config::default() }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            num_attention_heads: 12,
            layer_norm_eps: 1e-12,
            hidden_act: "gelu".to_owned(),
            position_embedding_type: "absolute".to_owned(),
        }
    }
}

/// A matrix with one scale a row, and its bias.
struct Dense {
    /// What each input is multiplied by before it is quantised; empty for all ones.
    damping: Vec<f32>,
    weights: Weights,
    scales: Vec<f32>,
    bias: Vec<f32>,
}

/// Weight and bias of a layer normalisation.
struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

struct Layer {
    /// Query, key and value. Not stacked into one: balanced together they would lose most of what balancing gains.
    qkv: [Dense; 3],
    attention_out: Dense,
    attention_norm: Norm,
    up: Dense,
    down: Dense,
    output_norm: Norm,
}

/// The whole network, ready to run.
pub(super) struct Bert {
    kernel: Kernel,
    shape: Heads,
    epsilon: f32,
    /// One int8 row and one scale a word piece.
    words: Vec<i8>,
    word_scales: Vec<f32>,
    /// One row a position, the embedding of token type 0 already added.
    positions: Vec<f32>,
    embedding_norm: Norm,
    layers: Vec<Layer>,
}

/// What one run writes to; kept between runs, since asking the system for fresh pages takes longer than a short text.
#[derive(Default)]
pub(super) struct Scratch {
    hidden: Vec<f32>,
    qkv: Vec<f32>,
    context: Vec<f32>,
    keys: Vec<f32>,
    scores: Vec<f32>,
    row: Vec<f32>,
    quantised: Vec<i8>,
    scales: Vec<f32>,
    sums: Vec<i32>,
}

impl Bert {
    /// Reads the weights, quantising each matrix before the next one is read. Keeps `tokens_max` positions.
    pub(super) fn load(
        file: &mut dyn Source,
        config: &Config,
        tokens_max: usize,
        kernel: Kernel,
    ) -> Result<Bert, String> {
        let [vocabulary, hidden] = file.shape("embeddings.word_embeddings.weight")?;
        let heads = config.num_attention_heads;
        let fits = hidden.is_multiple_of(PANEL)
            && heads > 0
            && hidden.is_multiple_of(heads)
            && (hidden / heads).is_multiple_of(LANES);
        if !fits {
            return Err(format!("{hidden} dimensions in {heads} heads are not multiples of {PANEL} and {LANES}"));
        }
        if config.hidden_act != "gelu" || config.position_embedding_type != "absolute" {
            return Err(format!(
                "only gelu with absolute positions is known, not {} with {}",
                config.hidden_act, config.position_embedding_type
            ));
        }
        let (words, word_scales) = words(file, vocabulary, hidden, kernel)?;
        let positions = positions(file, hidden, tokens_max)?;
        let embedding_norm = norm(file, "embeddings.LayerNorm", hidden)?;
        let mut layers: Vec<Layer> = Vec::new();
        while file.has(&format!("encoder.layer.{}.attention.self.query.weight", layers.len())) {
            let before = layers.last().map_or(&embedding_norm, |layer| &layer.output_norm);
            let layer = layer(file, layers.len(), before, kernel)?;
            layers.push(layer);
        }
        if layers.is_empty() {
            return Err("it has no encoder layers".to_owned());
        }
        let shape = Heads { hidden, heads };
        Ok(Bert {
            kernel,
            shape,
            epsilon: config.layer_norm_eps,
            words,
            word_scales,
            positions,
            embedding_norm,
            layers,
        })
    }

    /// Length of a vector.
    pub(super) fn dimensions(&self) -> usize {
        self.shape.hidden
    }

    /// How many word pieces there are.
    pub(super) fn vocabulary(&self) -> usize {
        self.word_scales.len()
    }

    /// The mean over the tokens' last states, at unit length. Token numbers lie below `vocabulary`, and there are no more of
    /// them than positions; no token gives a zero vector.
    pub(super) fn run(&self, ids: &[u32], scratch: &mut Scratch) -> Vec<f32> {
        let hidden = self.shape.hidden;
        self.look_up(ids, scratch);
        for layer in &self.layers {
            self.attention(layer, scratch);
            self.feed_forward(layer, scratch);
        }
        let mut mean = vec![0.0f32; hidden];
        for row in scratch.hidden.chunks_exact(hidden) {
            mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value);
        }
        // The sum has the mean's direction.
        math::unit_length(&mut mean);
        mean
    }

    fn look_up(&self, ids: &[u32], scratch: &mut Scratch) {
        let hidden = self.shape.hidden;
        scratch.hidden.clear();
        scratch.hidden.resize(ids.len() * hidden, 0.0);
        let rows = scratch.hidden.chunks_exact_mut(hidden).zip(self.positions.chunks_exact(hidden));
        for (id, (row, position)) in ids.iter().zip(rows) {
            let id = *id as usize;
            let scale = self.word_scales[id];
            for (value, word) in row.iter_mut().zip(&self.words[id * hidden..][..hidden]) {
                *value = f32::from(*word) * scale;
            }
            let Norm { weight, bias } = &self.embedding_norm;
            kernels::add_normalise(self.kernel, row, position, weight, bias, self.epsilon);
        }
    }

    fn attention(&self, layer: &Layer, scratch: &mut Scratch) {
        let Scratch { hidden, qkv, context, keys, scores, row, quantised, scales, sums } = scratch;
        let width = self.shape.hidden;
        qkv.clear();
        qkv.resize(3 * hidden.len(), 0.0);
        for (part, dense) in layer.qkv.iter().enumerate() {
            self.quantise(hidden, dense, row, quantised, scales);
            dense.multiply(quantised, sums);
            let rows = qkv.chunks_exact_mut(3 * width).zip(sums.chunks_exact(width));
            for ((qkv, sums), scale) in rows.zip(&*scales) {
                dense.finish(self.kernel, sums, *scale, &mut qkv[part * width..][..width]);
            }
        }
        context.clear();
        context.resize(hidden.len(), 0.0);
        kernels::attend(self.kernel, qkv, self.shape, keys, scores, context);
        self.quantise(context, &layer.attention_out, row, quantised, scales);
        self.add(&layer.attention_out, &layer.attention_norm, quantised, scales, sums, row, hidden);
    }

    fn feed_forward(&self, layer: &Layer, scratch: &mut Scratch) {
        let Scratch { hidden, row, quantised, scales, sums, .. } = scratch;
        self.quantise(hidden, &layer.up, row, quantised, scales);
        let width = layer.up.multiply(quantised, sums);
        // Row by row, so that the widest activation of the network stays in the first cache.
        row.clear();
        row.resize(width, 0.0);
        quantised.clear();
        quantised.resize(sums.len(), 0);
        let rows = sums.chunks_exact(width).zip(quantised.chunks_exact_mut(width)).zip(scales.iter_mut());
        for ((sums, quantised), scale) in rows {
            layer.up.finish(self.kernel, sums, *scale, row);
            kernels::gelu(self.kernel, row);
            *scale = kernels::quantise(self.kernel, row, quantised);
        }
        self.add(&layer.down, &layer.output_norm, quantised, scales, sums, row, hidden);
    }

    /// Quantises every row of `values` as input of `dense`, each with its own scale.
    fn quantise(
        &self,
        values: &[f32],
        dense: &Dense,
        row: &mut Vec<f32>,
        quantised: &mut Vec<i8>,
        scales: &mut Vec<f32>,
    ) {
        let width = dense.weights.depth();
        quantised.clear();
        quantised.resize(values.len(), 0);
        scales.clear();
        for (mut values, quantised) in values.chunks_exact(width).zip(quantised.chunks_exact_mut(width)) {
            if !dense.damping.is_empty() {
                row.clear();
                row.extend(values.iter().zip(&dense.damping).map(|(value, damping)| value * damping));
                values = row;
            }
            scales.push(kernels::quantise(self.kernel, values, quantised));
        }
    }

    /// Runs the last matrix of a block and adds its result to the states, normalised.
    #[allow(clippy::too_many_arguments, reason = "parts of one scratch that the borrow checker must see apart")]
    fn add(
        &self,
        dense: &Dense,
        norm: &Norm,
        quantised: &[i8],
        scales: &[f32],
        sums: &mut Vec<i32>,
        row: &mut Vec<f32>,
        hidden: &mut [f32],
    ) {
        let width = dense.multiply(quantised, sums);
        row.clear();
        row.resize(width, 0.0);
        for ((hidden, sums), scale) in hidden.chunks_exact_mut(width).zip(sums.chunks_exact(width)).zip(scales) {
            dense.finish(self.kernel, sums, *scale, row);
            kernels::add_normalise(self.kernel, hidden, row, &norm.weight, &norm.bias, self.epsilon);
        }
    }
}

impl Dense {
    /// Integer sums of every token; returns how many a token has.
    fn multiply(&self, quantised: &[i8], sums: &mut Vec<i32>) -> usize {
        sums.clear();
        sums.resize(quantised.len() / self.weights.depth() * self.weights.rows(), 0);
        self.weights.multiply(quantised, sums);
        self.weights.rows()
    }

    fn finish(&self, kernel: Kernel, sums: &[i32], token_scale: f32, out: &mut [f32]) {
        kernels::dequantise(kernel, sums, token_scale, &self.scales, &self.bias, out);
    }
}

/// The table of word pieces, quantised some rows at a time: in f32 it is half of the file.
fn words(
    file: &mut dyn Source,
    vocabulary: usize,
    hidden: usize,
    kernel: Kernel,
) -> Result<(Vec<i8>, Vec<f32>), String> {
    const ROWS_AT_ONCE: usize = 1024;
    let mut words = vec![0; vocabulary * hidden];
    let mut scales = Vec::with_capacity(vocabulary);
    for (part, words) in words.chunks_mut(ROWS_AT_ONCE * hidden).enumerate() {
        let count = words.len() / hidden;
        let rows = file.rows("embeddings.word_embeddings.weight", [vocabulary, hidden], part * ROWS_AT_ONCE, count)?;
        for (row, word) in rows.chunks_exact(hidden).zip(words.chunks_exact_mut(hidden)) {
            scales.push(kernels::quantise(kernel, row, word));
        }
    }
    Ok((words, scales))
}

fn positions(file: &mut dyn Source, hidden: usize, tokens_max: usize) -> Result<Vec<f32>, String> {
    let name = "embeddings.position_embeddings.weight";
    let shape = file.shape(name)?;
    if shape[0] < tokens_max {
        return Err(format!("it has {} positions, fewer than {tokens_max}", shape[0]));
    }
    let mut positions = file.rows(name, [shape[0], hidden], 0, tokens_max)?;
    let types = "embeddings.token_type_embeddings.weight";
    let shape = file.shape(types)?;
    let first = file.rows(types, [shape[0], hidden], 0, 1)?;
    for row in positions.chunks_exact_mut(hidden) {
        row.iter_mut().zip(&first).for_each(|(value, first)| *value += first);
    }
    Ok(positions)
}

fn norm(file: &mut dyn Source, name: &str, length: usize) -> Result<Norm, String> {
    let weight = file.vector(&format!("{name}.weight"), length)?;
    let bias = file.vector(&format!("{name}.bias"), length)?;
    Ok(Norm { weight, bias })
}

/// Reads a matrix and its bias. `before` is the normalisation that its input comes from, if one does.
fn dense(
    file: &mut dyn Source,
    name: &str,
    shape: [usize; 2],
    before: Option<&Norm>,
    kernel: Kernel,
) -> Result<Dense, String> {
    let [rows, depth] = shape;
    let mut matrix = file.rows(&format!("{name}.weight"), shape, 0, rows)?;
    let bias = file.vector(&format!("{name}.bias"), rows)?;
    let damping = before.map(|norm| balance(&mut matrix, norm)).unwrap_or_default();
    let mut values = vec![0; matrix.len()];
    let rows = matrix.chunks_exact(depth).zip(values.chunks_exact_mut(depth));
    let scales = rows.map(|(row, values)| kernels::quantise(kernel, row, values)).collect();
    Ok(Dense { damping, weights: Weights::pack(kernel, depth, values), scales, bias })
}

/// Moves the spread of the inputs into the weights and returns what the inputs are to be multiplied by.
///
/// A few inputs are much larger than the rest, and one scale a token must hold them all. As in SmoothQuant (Xiao et al. 2023,
/// alpha 0.5), input j is divided and column j multiplied by sqrt(largest input / largest weight). The largest input is not
/// measured: a normalised value is rarely beyond 2.5, times its weight, plus its bias. Halves the error of the vectors.
fn balance(matrix: &mut [f32], norm: &Norm) -> Vec<f32> {
    let depth = norm.weight.len();
    let mut largest = vec![0.0f32; depth];
    for row in matrix.chunks_exact(depth) {
        largest.iter_mut().zip(row).for_each(|(largest, weight)| *largest = largest.max(weight.abs()));
    }
    let factor = |((largest, weight), bias): ((&f32, &f32), &f32)| {
        let factor = ((weight.abs() * 2.5 + bias.abs()) / largest).sqrt();
        if factor.is_normal() { factor } else { 1.0 }
    };
    let factors: Vec<f32> = largest.iter().zip(&norm.weight).zip(&norm.bias).map(factor).collect();
    for row in matrix.chunks_exact_mut(depth) {
        row.iter_mut().zip(&factors).for_each(|(weight, factor)| *weight *= factor);
    }
    factors.iter().map(|factor| 1.0 / factor).collect()
}

/// Reads one layer; `before` is the normalisation of what comes in.
fn layer(file: &mut dyn Source, number: usize, before: &Norm, kernel: Kernel) -> Result<Layer, String> {
    let hidden = before.weight.len();
    let name = |part: &str| format!("encoder.layer.{number}.{part}");
    let up = name("intermediate.dense");
    let [wide, _] = file.shape(&format!("{up}.weight"))?;
    if !wide.is_multiple_of(PANEL) {
        return Err(format!("{up} has {wide} rows, not a multiple of {PANEL}"));
    }
    let mut qkv =
        |part: &str| dense(file, &name(&format!("attention.self.{part}")), [hidden, hidden], Some(before), kernel);
    let qkv = [qkv("query")?, qkv("key")?, qkv("value")?];
    let attention_norm = norm(file, &name("attention.output.LayerNorm"), hidden)?;
    Ok(Layer {
        qkv,
        attention_out: dense(file, &name("attention.output.dense"), [hidden, hidden], None, kernel)?,
        up: dense(file, &up, [wide, hidden], Some(&attention_norm), kernel)?,
        attention_norm,
        down: dense(file, &name("output.dense"), [hidden, wide], None, kernel)?,
        output_norm: norm(file, &name("output.LayerNorm"), hidden)?,
    })
}
