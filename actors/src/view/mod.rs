//! The views that answer a read. Each is folded from the log, belongs to one profile, lives in memory and can be
//! thrown away. Nothing here decides anything or knows an entity; the only rows written are embeddings, sealed.

pub mod catalog;
pub mod embedding;
pub mod indexed;
pub mod keyword;
pub mod profile;
pub mod projector;
pub mod registry;
pub mod vector;

pub use profile::{Model, ProfileViews, State};
pub use registry::{NotLoaded, Registry};
