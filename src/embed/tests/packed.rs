//! A packed file must give the network the same numbers as a safetensors file would: so a tiny model is packed here, its matrices
//! written the other way as well, and both are read.

use std::path::Path;

use memlog_actors::port::{Embedder, Purpose};
use safetensors::tensor::{Dtype, TensorView, serialize_to_file};

use super::super::bert::{Bert, Config};
use super::super::known::PACKED;
use super::super::packed::Packed;
use super::super::tensors::Tensors;
use super::super::{Encoder, Kernel, ModelFolder};
use super::tiny::Noise;

const HIDDEN: usize = 32;
const WIDE: usize = 64;
const POSITIONS: usize = 512;
const PIECES: [&str; 8] = ["<s>", "<pad>", "</s>", "<unk>", "▁passage:", "▁", "cat", "s"];

/// A tensor: its name in a packed file, its name elsewhere, its shape, whether it is packed in blocks.
struct Made {
    short: String,
    long: String,
    shape: Vec<usize>,
    /// As the packed file holds it.
    packed: Vec<u8>,
    blocks: bool,
    values: Vec<f32>,
}

fn made(noise: &mut Noise, short: &str, long: &str, shape: &[usize], blocks: bool) -> Made {
    let count: usize = shape.iter().product();
    let (mut packed, mut values) = (Vec::new(), Vec::new());
    if blocks {
        for _ in 0..count / 32 {
            // 1/16 as an f16.
            packed.extend_from_slice(&0x2c00u16.to_le_bytes());
            let halves: Vec<u8> = (0..16).map(|_| (noise.next() >> 32) as u8).collect();
            values.extend(halves.iter().map(|byte| (f32::from(byte & 15) - 8.0) / 16.0));
            values.extend(halves.iter().map(|byte| (f32::from(byte >> 4) - 8.0) / 16.0));
            packed.extend(halves);
        }
    } else {
        let middle = if long.ends_with("LayerNorm.weight") { 1.0 } else { 0.0 };
        values.extend((0..count).map(|_| middle + noise.float(0.1)));
        packed.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
    Made { short: short.to_owned(), long: long.to_owned(), shape: shape.to_vec(), packed, blocks, values }
}

fn tensors() -> Vec<Made> {
    let mut noise = Noise(7);
    let mut all = Vec::new();
    let mut add = |short: &str, long: &str, shape: &[usize], blocks| {
        all.push(made(&mut noise, short, long, shape, blocks));
    };
    add("emb.word", "embeddings.word_embeddings.weight", &[PIECES.len(), HIDDEN], true);
    add("emb.pos", "embeddings.position_embeddings.weight", &[POSITIONS, HIDDEN], false);
    add("emb.type", "embeddings.token_type_embeddings.weight", &[2, HIDDEN], false);
    add("emb.ln.w", "embeddings.LayerNorm.weight", &[HIDDEN], false);
    add("emb.ln.b", "embeddings.LayerNorm.bias", &[HIDDEN], false);
    let parts = [
        ("q", "attention.self.query", HIDDEN, HIDDEN),
        ("k", "attention.self.key", HIDDEN, HIDDEN),
        ("v", "attention.self.value", HIDDEN, HIDDEN),
        ("ao", "attention.output.dense", HIDDEN, HIDDEN),
        ("fi", "intermediate.dense", WIDE, HIDDEN),
        ("fo", "output.dense", HIDDEN, WIDE),
    ];
    for layer in 0..2 {
        for (short, long, rows, columns) in parts {
            let (short, long) = (format!("l{layer}.{short}"), format!("encoder.layer.{layer}.{long}"));
            add(&format!("{short}.w"), &format!("{long}.weight"), &[rows, columns], true);
            add(&format!("{short}.b"), &format!("{long}.bias"), &[rows], false);
        }
        for (short, long) in [("aln", "attention.output.LayerNorm"), ("oln", "output.LayerNorm")] {
            let (short, long) = (format!("l{layer}.{short}"), format!("encoder.layer.{layer}.{long}"));
            add(&format!("{short}.w"), &format!("{long}.weight"), &[HIDDEN], false);
            add(&format!("{short}.b"), &format!("{long}.bias"), &[HIDDEN], false);
        }
    }
    all
}

/// The bytes before the tensors' own, if those begin at `begins`.
fn front(tensors: &[Made], begins: usize) -> Vec<u8> {
    let mut bytes = b"E5S1".to_vec();
    let number = |bytes: &mut Vec<u8>, number: usize| bytes.extend_from_slice(&(number as u32).to_le_bytes());
    let sizes = [1, HIDDEN, 2, 2, WIDE, PIECES.len(), POSITIONS, 2, 1e-12f32.to_bits() as usize, 32];
    for size in sizes.into_iter().chain([PIECES.len(), 0, 2, 1, 3]) {
        number(&mut bytes, size);
    }
    let pieces = PIECES.concat();
    bytes.extend_from_slice(&(pieces.len() as u64).to_le_bytes());
    let mut offset = 0;
    for length in PIECES.map(str::len).into_iter().chain([0]) {
        number(&mut bytes, offset);
        offset += length;
    }
    for score in [0.0, 0.0, 0.0, 0.0, -2.0, -3.0, -4.0, -5.0f32] {
        bytes.extend_from_slice(&score.to_le_bytes());
    }
    bytes.extend_from_slice(pieces.as_bytes());
    // One character is normalised: C to c.
    for part in [1, 9, 'C' as usize] {
        number(&mut bytes, part);
    }
    bytes.push(1);
    number(&mut bytes, 'c' as usize);
    number(&mut bytes, tensors.len());
    let mut begins = begins as u64;
    for tensor in tensors {
        bytes.extend_from_slice(&(tensor.short.len() as u16).to_le_bytes());
        bytes.extend_from_slice(tensor.short.as_bytes());
        bytes.push(u8::from(tensor.blocks));
        number(&mut bytes, tensor.values.len());
        for part in [begins, tensor.packed.len() as u64] {
            bytes.extend_from_slice(&part.to_le_bytes());
        }
        begins += tensor.packed.len() as u64;
    }
    bytes
}

fn write_packed(folder: &Path, tensors: &[Made]) {
    let length = front(tensors, 0).len();
    let mut bytes = front(tensors, length);
    tensors.iter().for_each(|tensor| bytes.extend_from_slice(&tensor.packed));
    std::fs::write(folder.join(PACKED), bytes).unwrap();
}

#[test]
fn both_kinds_of_file_give_the_same_network() {
    let (folder, tensors) = (tempfile::tempdir().unwrap(), tensors());
    write_packed(folder.path(), &tensors);
    let bytes: Vec<Vec<u8>> =
        tensors.iter().map(|it| it.values.iter().flat_map(|value| value.to_le_bytes()).collect()).collect();
    let views = tensors.iter().zip(&bytes);
    let views = views.map(|(it, bytes)| (&it.long, TensorView::new(Dtype::F32, it.shape.clone(), bytes).unwrap()));
    let file = folder.path().join("model.safetensors");
    serialize_to_file(views, None, &file).unwrap();

    let kernel = Kernel::best();
    let mut opened = Packed::open(&folder.path().join(PACKED)).unwrap();
    let packed = Bert::load(&mut opened.tensors, &opened.config, POSITIONS, kernel).unwrap();
    let plain = Bert::load(&mut Tensors::open(&file).unwrap(), &Config::bert(2, 1e-12), POSITIONS, kernel).unwrap();
    let ids = [0, 4, 5, 6, 7, 3, 2];
    assert_eq!(packed.run(&ids, &mut Default::default()), plain.run(&ids, &mut Default::default()));

    // The prefix is a piece of its own here, so a text without it would have other numbers.
    std::fs::remove_file(file).unwrap();
    let model = Encoder::load(&ModelFolder::unpinned(folder.path()).unwrap()).unwrap();
    assert_eq!(model.name(), "multilingual-e5-small");
    let expected = packed.run(&[0, 4, 5, 6, 7, 2], &mut Default::default());
    assert_eq!(model.embed("Cats", Purpose::Passage).unwrap(), expected);
    assert_ne!(model.embed("Cats", Purpose::Query).unwrap(), expected);
}

#[test]
fn a_file_that_is_not_whole_is_refused_with_a_reason() {
    let (folder, tensors) = (tempfile::tempdir().unwrap(), tensors());
    write_packed(folder.path(), &tensors);
    let file = folder.path().join(PACKED);
    let whole = std::fs::read(&file).unwrap();
    let refusal = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        Encoder::load(&ModelFolder::unpinned(folder.path()).unwrap()).err().unwrap().to_string()
    };
    assert!(refusal(b"not a model").ends_with("e5-small-q4.bin: it is not a packed model of version 1"));
    // Cut at any place, the front or the tensors: an error, never a panic or a model.
    for at in (5..whole.len()).step_by(997).chain([whole.len() - 1]) {
        assert!(refusal(&whole[..at]).contains("e5-small-q4.bin: "), "{at}");
    }
    let huge = [&whole[..44], &u32::MAX.to_le_bytes(), &whole[48..]].concat();
    assert!(refusal(&huge).contains("claims 4294967295"));
}
