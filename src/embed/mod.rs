//! The default embedder: all-MiniLM-L6-v2, read from a folder, quantised to int8 at load and run on the CPU.
//!
//! English, 384 dimensions, mean pooling, unit length. **A text is cut after 256 tokens** (some 190 words), as the model
//! was trained; whoever has more to say splits it first. Activations are quantised a token at a time, products are summed
//! in integers and the few float passes use neither fused multiply-add nor the platform's `libm`, so every processor
//! gives the very same vector: a view rebuilt elsewhere answers as it did before.
//!
//! `model` finds and checks the files, `bert` is the network, `math` its float passes, `kernels` the loops written for
//! particular processors. No fetching, no cache of vectors, no knowledge of records here.

mod bert;
mod encoder;
mod kernels;
mod math;
mod model;
mod tensors;

#[cfg(test)]
mod tests;

pub use encoder::{LoadError, MiniLm, TOKENS_MAX};
pub use kernels::Kernel;
pub use model::{Error, ModelFolder};
