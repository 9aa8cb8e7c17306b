//! Where weights come from, and the safetensors file among those: read tensor by tensor, so that the f32 weights (91 MB) are
//! never in memory as a whole.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::Metadata;

/// The header may not be longer than this; the model's is 11 KB.
const HEADER_BYTES_MAX: u64 = 1 << 20;

/// A file of weights, by the names that BERT's authors gave them.
pub(super) trait Source {
    /// Whether there is a tensor of that name.
    fn has(&self, name: &str) -> bool;

    /// Rows and columns of a matrix.
    fn shape(&self, name: &str) -> Result<[usize; 2], String>;

    /// A vector of exactly `length` numbers.
    fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>, String>;

    /// A part of a matrix of exactly `shape`: `count` rows from row `first`, one after the other.
    fn rows(&mut self, name: &str, shape: [usize; 2], first: usize, count: usize) -> Result<Vec<f32>, String>;
}

/// An open safetensors file.
pub(super) struct Tensors {
    file: File,
    data_begins: u64,
    metadata: Metadata,
}

impl Tensors {
    /// Opens a file and reads its header.
    pub(super) fn open(path: &Path) -> Result<Tensors, String> {
        let mut file = File::open(path).map_err(|error| error.to_string())?;
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(|error| error.to_string())?;
        let length = u64::from_le_bytes(length);
        if length > HEADER_BYTES_MAX {
            return Err(format!("its header claims {length} bytes"));
        }
        let mut header = vec![0; length as usize];
        file.read_exact(&mut header).map_err(|error| error.to_string())?;
        let metadata =
            serde_json::from_slice(&header).map_err(|error| format!("its header is not safetensors: {error}"))?;
        Ok(Tensors { file, data_begins: 8 + length, metadata })
    }

    fn read(&mut self, name: &str, shape: &[usize], first: usize, count: usize) -> Result<Vec<f32>, String> {
        let info = self.metadata.info(name).ok_or_else(|| format!("it has no tensor {name}"))?;
        if info.shape != shape || info.dtype != Dtype::F32 {
            return Err(format!("{name} is {:?} {:?}, expected F32 {shape:?}", info.dtype, info.shape));
        }
        let begin = self.data_begins + (info.data_offsets.0 + first * 4) as u64;
        let mut bytes = vec![0; count * 4];
        let read = self.file.seek(SeekFrom::Start(begin)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|error| format!("{name} cannot be read: {error}"))?;
        Ok(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }
}

impl Source for Tensors {
    fn has(&self, name: &str) -> bool {
        self.metadata.info(name).is_some()
    }

    fn shape(&self, name: &str) -> Result<[usize; 2], String> {
        let info = self.metadata.info(name).ok_or_else(|| format!("it has no tensor {name}"))?;
        match info.shape[..] {
            [rows, columns] => Ok([rows, columns]),
            _ => Err(format!("{name} has {} dimensions instead of 2", info.shape.len())),
        }
    }

    fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>, String> {
        self.read(name, &[length], 0, length)
    }

    fn rows(&mut self, name: &str, shape: [usize; 2], first: usize, count: usize) -> Result<Vec<f32>, String> {
        self.read(name, &shape, first * shape[1], count * shape[1])
    }
}
