//! The pool that embeds, seen from outside: who is embedded first, what is remembered, and what happens when the model changes.

mod change;
mod pool;
mod world;
