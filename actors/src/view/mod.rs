//! The views that answer a read. Each is folded from the log, belongs to one profile, lives in memory and can be
//! thrown away. Nothing here decides anything or knows an entity; the only rows written are embeddings, sealed.
//!
//! `projector` follows the log, `registry` knows which profiles are loaded and `budget` what they take, `profile` holds all views of
//! one, folded from the log as `ordered` reads, `reading` opens and `indexing` takes it apart, `embedding` makes vectors. `notebook` has
//! the views of registries and notebooks, `notes` that of notes; they belong to no profile.
//!
//! To add a view: a folder here and a field of [`State`], folded where the catalog is, in `profile`; it must drop what is erased, and
//! count its bytes.

mod budget;
pub mod catalog;
pub mod embedding;
pub mod indexed;
mod indexing;
pub mod keyword;
pub mod notebook;
pub mod notes;
mod ordered;
pub mod profile;
pub mod projector;
mod reading;
pub mod registry;
pub mod vector;

/// Views are maps of some ten thousand entries that are filled at once: the hash is seeded, and takes a third of the standard one's time.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

pub use notebook::Notebooks;
pub use profile::{Model, ProfileViews, State};
pub use registry::{NotLoaded, Registry};
