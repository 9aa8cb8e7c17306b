//! Whole-system proofs: the binary, and memlog through a real NATS server.

mod cli;
