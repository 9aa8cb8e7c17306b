//! The views that answer a search. Each is folded from the log, belongs to one profile, lives in memory and can be
//! thrown away. Nothing here decides anything, writes a file or knows an actor.

pub mod keyword;
pub mod vector;
