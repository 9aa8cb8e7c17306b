//! The embedders: all-MiniLM-L6-v2 for English, the default, and multilingual-e5-small for a hundred languages. Read from a
//! folder, quantised to int8 at load, run on the CPU.
//!
//! Both are BERTs of 384 dimensions, mean pooling, unit length. **A text is cut after 256 tokens** (some 190 words), as MiniLM was
//! trained, or after 512 with the other; whoever has more to say splits it first. Activations are quantised a token at a time,
//! products are summed in integers and the few float passes use neither fused multiply-add nor the platform's `libm`, so every
//! processor gives the very same vector: a view rebuilt elsewhere answers as it did before.
//!
//! `known` lists the models, `model` finds and checks their files, `tensors` and `packed` read them, `unigram` splits texts for
//! the multilingual one, `bert` is the network, `math` its float passes, `kernels` the loops written for particular processors. No
//! fetching, no cache of vectors, no knowledge of records here.

mod bert;
mod encoder;
mod kernels;
mod known;
mod math;
mod model;
mod packed;
mod tensors;
mod unigram;

#[cfg(test)]
mod tests;

pub use encoder::{Encoder, LoadError};
pub use kernels::Kernel;
pub use model::{Error, ModelFolder};
