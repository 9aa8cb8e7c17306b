//! Reads a model packed into one file: sizes, a Unigram vocabulary, a directory, and tensors of f32 or 4 bits.
//!
//! Everything is little-endian. `E5S1`, version, then sizes; pieces as offsets, scores and bytes; a table that normalises single
//! characters; names and offsets of tensors. The matrices are GGML's Q4_0: blocks of 32 values along a row, an f16 scale, then 16
//! bytes whose low halves are the first 16 values and whose high halves the other 16, each 0 to 15 and standing for that minus 8.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::bert::Config;
use super::tensors::Source;
use super::unigram::{Marks, Unigram};

/// No count in a file may be larger; the model's vocabulary of 250,002 pieces is the largest.
const COUNT_MAX: usize = 1 << 20;
/// The longest name in the directory.
const NAME_BYTES_MAX: usize = 64;
/// Values a block, and its bytes.
const BLOCK: usize = 32;
const BLOCK_BYTES: usize = 18;

const F32: u8 = 0;
const Q4_0: u8 = 1;

/// An open packed model.
pub(super) struct Packed {
    file: File,
    hidden: usize,
    entries: HashMap<String, Entry>,
}

struct Entry {
    kind: u8,
    count: usize,
    begins: u64,
}

/// What a packed file holds besides its tensors.
pub(super) struct Opened {
    pub(super) tensors: Packed,
    pub(super) config: Config,
    pub(super) unigram: Unigram,
}

impl Packed {
    /// Opens a file and reads everything but its tensors.
    pub(super) fn open(path: &Path) -> Result<Opened, String> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let mut reader = Reader(BufReader::new(file));
        if reader.bytes(4)? != b"E5S1" || reader.u32()? != 1 {
            return Err("it is not a packed model of version 1".to_owned());
        }
        let hidden = reader.count()?;
        let (_layers, heads) = (reader.count()?, reader.count()?);
        for _ in ["inner width", "vocabulary", "positions", "token types"] {
            reader.count()?;
        }
        let config = Config::bert(heads, f32::from_bits(reader.u32()?));
        let block = reader.count()?;
        if block != BLOCK {
            return Err(format!("its blocks hold {block} values instead of {BLOCK}"));
        }
        let unigram = vocabulary(&mut reader)?;
        let mut entries = HashMap::new();
        for _ in 0..reader.count()? {
            let length = usize::from(reader.u16()?);
            if length > NAME_BYTES_MAX {
                return Err(format!("a tensor's name claims {length} bytes"));
            }
            let name = String::from_utf8_lossy(&reader.bytes(length)?).into_owned();
            let kind = reader.bytes(1)?[0];
            let (count, begins, _bytes) = (reader.u32()? as usize, reader.u64()?, reader.u64()?);
            entries.insert(name, Entry { kind, count, begins });
        }
        let file = reader.0.into_inner();
        Ok(Opened { tensors: Packed { file, hidden, entries }, config, unigram })
    }

    fn entry(&self, name: &str) -> Result<&Entry, String> {
        short(name).and_then(|short| self.entries.get(&short)).ok_or_else(|| format!("it has no tensor {name}"))
    }

    fn read(&mut self, name: &str, total: usize, first: usize, count: usize) -> Result<Vec<f32>, String> {
        let Entry { kind, count: held, begins } = *self.entry(name)?;
        if held != total {
            return Err(format!("{name} has {held} values instead of {total}"));
        }
        let (offset, length) = match kind {
            F32 => (first * 4, count * 4),
            Q4_0 if first.is_multiple_of(BLOCK) && count.is_multiple_of(BLOCK) => {
                (first / BLOCK * BLOCK_BYTES, count / BLOCK * BLOCK_BYTES)
            }
            _ => return Err(format!("{name} is of the unknown kind {kind}")),
        };
        let mut bytes = vec![0; length];
        let read = self.file.seek(SeekFrom::Start(begins + offset as u64));
        let read = read.and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|error| format!("{name} cannot be read: {error}"))?;
        if kind == F32 {
            return Ok(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect());
        }
        Ok(bytes.chunks_exact(BLOCK_BYTES).flat_map(unpack).collect())
    }
}

impl Source for Packed {
    fn has(&self, name: &str) -> bool {
        self.entry(name).is_ok()
    }

    /// The directory counts values; every matrix but the last of a layer has rows of the hidden width.
    fn shape(&self, name: &str) -> Result<[usize; 2], String> {
        let count = self.entry(name)?.count;
        if !count.is_multiple_of(self.hidden) {
            return Err(format!("{name} has {count} values, not rows of {}", self.hidden));
        }
        Ok([count / self.hidden, self.hidden])
    }

    fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>, String> {
        self.read(name, length, 0, length)
    }

    fn rows(&mut self, name: &str, shape: [usize; 2], first: usize, count: usize) -> Result<Vec<f32>, String> {
        self.read(name, shape[0] * shape[1], first * shape[1], count * shape[1])
    }
}

/// The file's name of a tensor.
fn short(name: &str) -> Option<String> {
    let name = name.replacen("embeddings.", "emb.", 1);
    let name = match name.strip_prefix("encoder.layer.") {
        Some(rest) => format!("l{rest}"),
        None => name,
    };
    // Longer names first: one is the end of another.
    const PARTS: [(&str, &str); 12] = [
        ("attention.self.query", "q"),
        ("attention.self.key", "k"),
        ("attention.self.value", "v"),
        ("attention.output.dense", "ao"),
        ("attention.output.LayerNorm", "aln"),
        ("intermediate.dense", "fi"),
        ("output.dense", "fo"),
        ("output.LayerNorm", "oln"),
        ("LayerNorm", "ln"),
        ("word_embeddings.weight", "word"),
        ("position_embeddings.weight", "pos"),
        ("token_type_embeddings.weight", "type"),
    ];
    let (part, abbreviated) = PARTS.iter().find(|(part, _)| name.contains(part))?;
    Some(name.replacen(part, abbreviated, 1).replace(".weight", ".w").replace(".bias", ".b"))
}

/// The 32 values of a block.
fn unpack(block: &[u8]) -> [f32; BLOCK] {
    let scale = half(u16::from_le_bytes([block[0], block[1]]));
    let mut values = [0.0; BLOCK];
    for (at, byte) in block[2..].iter().enumerate() {
        values[at] = (f32::from(byte & 15) - 8.0) * scale;
        values[at + BLOCK / 2] = (f32::from(byte >> 4) - 8.0) * scale;
    }
    values
}

/// An f16 as f32, by IEEE 754: 1 bit of sign, 5 of exponent, 10 of fraction.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    match exponent {
        0 => sign * fraction * 2.0f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2.0f32.powi(exponent - 15),
    }
}

fn vocabulary(reader: &mut Reader) -> Result<Unigram, String> {
    let count = reader.count()?;
    let [begin, end, padding, unknown] = [reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?];
    let bytes = reader.u64()? as usize;
    if bytes > COUNT_MAX * 16 {
        return Err(format!("its vocabulary claims {bytes} bytes"));
    }
    let offsets = (0..=count).map(|_| reader.u32()).collect::<Result<Vec<u32>, _>>()?;
    let scores = (0..count).map(|_| reader.u32().map(f32::from_bits)).collect::<Result<Vec<f32>, _>>()?;
    let bytes = reader.bytes(bytes)?;
    let (characters, _bytes) = (reader.count()?, reader.u32()?);
    let mut normal = HashMap::with_capacity(characters);
    for _ in 0..characters {
        let from = reader.character()?;
        let length = reader.bytes(1)?[0];
        let to = (0..length).map(|_| reader.character()).collect::<Result<String, _>>()?;
        normal.insert(from, to);
    }
    Unigram::new(bytes, offsets, scores, normal, Marks { begin, end, padding, unknown })
}

/// Numbers out of the front of a file.
struct Reader(BufReader<File>);

impl Reader {
    fn bytes(&mut self, count: usize) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    fn u16(&mut self) -> Result<u16, String> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    fn count(&mut self) -> Result<usize, String> {
        let count = self.u32()? as usize;
        if count > COUNT_MAX { Err(format!("it claims {count} of something")) } else { Ok(count) }
    }

    fn character(&mut self) -> Result<char, String> {
        let code = self.u32()?;
        char::from_u32(code).ok_or_else(|| format!("{code} is no character"))
    }
}

#[cfg(test)]
mod tests {
    //! Bits read the wrong way give vectors that look like vectors; so the smallest parts are pinned by hand.
    use super::*;

    #[test]
    fn halves_are_read_by_the_standard() {
        for (bits, value) in [(0x3c00, 1.0), (0xc000, -2.0), (0x3555, 0.333_251_95), (0x0001, 5.960_464_5e-8), (0, 0.0)]
        {
            assert_eq!(half(bits), value);
        }
    }

    #[test]
    fn a_block_holds_its_low_halves_first() {
        let mut block = [0x00; BLOCK_BYTES];
        block[..2].copy_from_slice(&0x3800u16.to_le_bytes());
        block[2] = 0xf9;
        let values = unpack(&block);
        assert_eq!((values[0], values[16], values[1]), (0.5, 3.5, -4.0));
    }

    #[test]
    fn every_tensor_of_the_network_has_its_short_name() {
        let name = |long| short(long).unwrap();
        assert_eq!(name("embeddings.word_embeddings.weight"), "emb.word");
        assert_eq!(name("embeddings.LayerNorm.bias"), "emb.ln.b");
        assert_eq!(name("encoder.layer.11.attention.output.LayerNorm.weight"), "l11.aln.w");
        assert_eq!(name("encoder.layer.0.attention.self.key.bias"), "l0.k.b");
        assert_eq!(name("encoder.layer.3.output.dense.weight"), "l3.fo.w");
        assert_eq!(short("pooler.dense.weight"), None);
    }
}
