//! The quantised vectors: one byte a dimension and one factor a row, held once, by everything that compares them.
//!
//! The owner (a view) reads and writes; a graph that is built or extended in the background reads the rows that were
//! shared with it. Three rules keep a row from being written while it is read:
//!
//! 1. The owner writes through `&mut self` and reads through `&self`. A search on the graph runs inside such a `&self`.
//! 2. The background thread compares only rows that were shared with it, and only while it holds the gate for reading.
//! 3. The owner holds the gate for writing while it writes a row that is shared.
// The rules span two threads and a library's callback, which the borrow checker cannot follow, and a lock for each
// comparison would cost as much as the comparison.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, RwLock};

use hnsw_rs::prelude::Distance;

use super::kernels::{Kernels, PAD, kernels};

/// Rows of the first block; every further block has twice as many as the one before.
const FIRST_BLOCK: usize = 64;
/// Enough for 2^31 rows.
const BLOCKS: usize = 26;

/// A cache line of a row.
#[repr(C, align(64))]
struct Line(UnsafeCell<[i8; PAD]>);

struct Block {
    lines: Box<[Line]>,
    /// By row: what makes the dot product of two rows their cosine, as the bits of an `f32`. 0.0 is a row without a vector.
    factors: Box<[AtomicU32]>,
}

/// Rows that never move, so that others may read some while the owner adds more.
struct Rows {
    lines_per_row: usize,
    blocks: [OnceLock<Block>; BLOCKS],
}

// SAFETY: the cells are written by the rules at the head of this file; the rest is Sync by itself.
unsafe impl Sync for Rows {}

impl Rows {
    fn place(slot: u32) -> (usize, usize) {
        let at = slot as usize + FIRST_BLOCK;
        let block = (at / FIRST_BLOCK).ilog2() as usize;
        (block, at - (FIRST_BLOCK << block))
    }

    fn block(&self, slot: u32) -> (&Block, usize) {
        let (block, row) = Self::place(slot);
        let block = self.blocks[block].get_or_init(|| Block {
            lines: zeroed((FIRST_BLOCK << block) * self.lines_per_row),
            factors: (0..FIRST_BLOCK << block).map(|_| AtomicU32::new(0)).collect(),
        });
        (block, row)
    }

    /// # Safety
    /// Nobody writes the row while the slice lives.
    unsafe fn row(&self, slot: u32) -> (&[i8], f32) {
        let (block, row) = self.block(slot);
        let lines = &block.lines[row * self.lines_per_row..][..self.lines_per_row];
        // SAFETY: the lines follow each other and have no padding; the caller keeps writers away.
        let bytes = unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * PAD) };
        (bytes, f32::from_bits(block.factors[row].load(Relaxed)))
    }

    /// # Safety
    /// Nobody else reads or writes the row meanwhile.
    unsafe fn write(&self, slot: u32, bytes: &[i8], factor: f32) {
        let (block, row) = self.block(slot);
        let lines = &block.lines[row * self.lines_per_row..][..self.lines_per_row];
        for (line, bytes) in lines.iter().zip(bytes.chunks_exact(PAD)) {
            // SAFETY: the caller has the row to itself, and the chunk has the line's length.
            unsafe { (*line.0.get()).copy_from_slice(bytes) };
        }
        block.factors[row].store(factor.to_bits(), Relaxed);
    }
}

/// Memory that the system only hands out when it is touched: a block may be half empty.
fn zeroed(lines: usize) -> Box<[Line]> {
    let Ok(layout) = Layout::array::<Line>(lines) else { panic!("{lines} lines are more than there is memory") };
    assert!(lines > 0, "a row has at least one line");
    // SAFETY: the layout is not empty, zeros are a valid line, and the box frees with the same layout.
    unsafe {
        let first = alloc_zeroed(layout).cast::<Line>();
        if first.is_null() {
            handle_alloc_error(layout);
        }
        Box::from_raw(std::ptr::slice_from_raw_parts_mut(first, lines))
    }
}

/// The view's end: it alone writes.
pub(super) struct Owner {
    rows: Arc<Rows>,
    gate: Arc<RwLock<()>>,
    /// By slot: whether a graph may read the row.
    shared: Vec<bool>,
    zeros: Vec<i8>,
    pub(super) kernels: Kernels,
}

impl Owner {
    pub(super) fn new(dimensions: usize) -> Self {
        let lines_per_row = dimensions.div_ceil(PAD).max(1);
        let rows = Rows { lines_per_row, blocks: [const { OnceLock::new() }; BLOCKS] };
        Self {
            rows: Arc::new(rows),
            gate: Arc::default(),
            shared: Vec::new(),
            zeros: vec![0; lines_per_row * PAD],
            kernels: kernels(),
        }
    }

    /// Bytes of a row, padding included.
    pub(super) fn width(&self) -> usize {
        self.zeros.len()
    }

    /// A row and its factor.
    pub(super) fn row(&self, slot: u32) -> (&[i8], f32) {
        // SAFETY: rule 1.
        unsafe { self.rows.row(slot) }
    }

    pub(super) fn write(&mut self, slot: u32, bytes: &[i8], factor: f32) {
        let _closed = self.is_shared(slot).then(|| self.gate.write());
        // SAFETY: `&mut self` keeps other owners' reads away (rule 1), the gate those of graphs (rule 3).
        unsafe { self.rows.write(slot, bytes, factor) };
    }

    /// Overwrites the row with zeros.
    pub(super) fn wipe(&mut self, slot: u32) {
        let zeros = std::mem::take(&mut self.zeros);
        self.write(slot, &zeros, 0.0);
        self.zeros = zeros;
    }

    pub(super) fn is_shared(&self, slot: u32) -> bool {
        self.shared.get(slot as usize).copied().unwrap_or(false)
    }

    /// From now on graphs may read these rows.
    pub(super) fn share(&mut self, slots: &[u32]) {
        for &slot in slots {
            if self.shared.len() <= slot as usize {
                self.shared.resize(slot as usize + 1, false);
            }
            self.shared[slot as usize] = true;
        }
    }

    /// No graph knows this row any more.
    pub(super) fn unshare(&mut self, slot: u32) {
        if let Some(shared) = self.shared.get_mut(slot as usize) {
            *shared = false;
        }
    }

    /// The other end, for a graph.
    pub(super) fn reader(&self) -> Reader {
        Reader { rows: Arc::clone(&self.rows), kernels: self.kernels }
    }

    /// What the background thread holds for reading while it compares.
    pub(super) fn gate(&self) -> Arc<RwLock<()>> {
        Arc::clone(&self.gate)
    }
}

/// The distance of a graph whose points are slots: a point is one word, its slot, and a query is the words of its
/// quantised bytes and its factor. So the graph holds no second copy of a vector, and wiping a row wipes all there is.
pub(super) struct Reader {
    rows: Arc<Rows>,
    kernels: Kernels,
}

impl Reader {
    fn resolve<'a>(&'a self, point: &'a [u32]) -> (&'a [i8], f32) {
        match point {
            // SAFETY: graphs are used inside an owner's `&self` (rule 1) or with the gate held (rule 2).
            [slot] => unsafe { self.rows.row(*slot) },
            [query @ .., factor] => {
                // SAFETY: words have no padding, any bits are an `i8`, and its alignment is the smallest.
                let bytes = unsafe { std::slice::from_raw_parts(query.as_ptr().cast(), size_of_val(query)) };
                (bytes, f32::from_bits(*factor))
            }
            [] => (&[], 0.0),
        }
    }

    /// Whether the row has a vector; a wiped one has none.
    pub(super) fn is_wiped(&self, slot: u32) -> bool {
        let (block, row) = self.rows.block(slot);
        block.factors[row].load(Relaxed) == 0
    }
}

impl Distance<u32> for Reader {
    /// `1 - cosine`, never below zero, which the graph asserts.
    fn eval(&self, a: &[u32], b: &[u32]) -> f32 {
        let ((a, a_factor), (b, b_factor)) = (self.resolve(a), self.resolve(b));
        let cosine = (self.kernels.dot)(a, b) as f32 * a_factor * b_factor;
        (1.0 - cosine).max(0.0)
    }
}
