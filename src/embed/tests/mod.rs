//! Whether the vectors are right: against a plain f32 network on a tiny random model, and on the real one where it is installed.

mod kernels;
mod multilingual;
mod packed;
mod real;
mod reference;
mod tiny;
