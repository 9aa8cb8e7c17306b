//! The whole of memlog but its doors: every verb of the API is a method here, one family a file.
//!
//! A command goes the way validate -> look up -> entity -> durable -> reply; a read goes validate -> views -> reply and never
//! wakes an entity.

mod audit;
pub mod backup;
mod bound;
mod catch_up;
mod command;
mod cursor;
pub(crate) mod duplicate;
mod feed;
pub mod filter;
mod find;
mod gate;
mod ingest;
mod jobs;
mod keeper;
mod languages;
mod load;
pub(crate) mod lookup;
mod memories;
mod notebooks;
mod notes;
mod over;
mod past;
mod profiles;
mod rebuild;
mod recall;
mod records;
pub(crate) mod remember;
mod saying;
mod search;
mod speakers;
mod start;
mod summary;
mod tally;
pub(crate) mod thread;
mod validate;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, atomic::AtomicU64},
};

pub use audit::verified;
pub use backup::Copied;
pub use feed::{Change, Feed};
pub use ingest::{check_message, check_names};
pub use languages::Languages;
pub use load::{Actors, Load};
use memlog_events::ids::{Digest, Position, Scope};
pub use rebuild::Rebuilt;
pub use start::StartError;
pub(crate) use thread::{SHORTENING_TOKENS_DEFAULT, inherits};
use tokio::{sync::watch, task::JoinSet};

use crate::{
    domain::{Place, notebook::Notebook, notes::Notes, profile::Profile, registry, thread::Thread},
    entity::{Directory, Environment},
    jobs::Promises,
    limits::Limits,
    port::{Clock, Embedder, Extractor, JobQueue, Narrator},
    view::{Notebooks, Registry, projector::Projector},
};
use gate::Gate;
use over::Due;
use saying::Sayings;
use tally::Tally;

/// What a system is started with.
pub struct Options {
    /// The folder of the log, the vault (unless `vault_dir`), and the blobs.
    pub data_dir: PathBuf,
    /// The folder of the vault.
    pub vault_dir: Option<PathBuf>,
    /// What an operator may set.
    pub limits: Limits,
    /// Without one, searches are by keyword.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Finds what is worth keeping.
    pub extractor: Arc<dyn Extractor>,
    /// Writes answers and summaries; without one the local texts do.
    pub narrator: Option<Arc<dyn Narrator>>,
    /// Where jobs go out to workers elsewhere; without one, `limits.workers` work in this process.
    pub queue: Option<Arc<dyn JobQueue>>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// How the system is.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Health {
    /// Whether it takes commands.
    pub ready: bool,
    /// Why not, if not.
    pub reason: Option<String>,
    /// The embedding model's name, if there is one.
    pub model: Option<String>,
    /// The log's head.
    pub seq: u64,
    /// Entities awake.
    pub entities_awake: u64,
    /// Profiles whose views are loaded.
    pub profiles_loaded: u64,
    /// Their memory.
    pub views_bytes: u64,
    /// Documents of loaded profiles that wait to be embedded.
    pub chunks_pending: u64,
    /// Questions that wait for the embedding model.
    pub questions_pending: u64,
    /// Whether what an earlier run left without a vector of this model, in whichever profile, is still being looked for or
    /// embedded.
    pub catching_up: bool,
    /// Jobs accepted and not done.
    pub jobs_open: u64,
}

/// The whole of memlog but its doors. Cheap to clone.
#[derive(Clone)]
pub struct System {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) environment: Arc<Environment>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) profiles: Directory<Profile>,
    pub(crate) threads: Directory<Thread>,
    pub(crate) registries: Directory<registry::Registry>,
    pub(crate) notebooks: Directory<Notebook>,
    pub(crate) notes: Directory<Notes>,
    /// The views of registries, notebooks and notes.
    pub(crate) shelf: Arc<Notebooks>,
    /// Where the notes of namespaces lie, as far as sessions have asked.
    places: Mutex<HashMap<String, Place>>,
    pub(crate) extractor: Arc<dyn Extractor>,
    pub(crate) narrator: Option<Arc<dyn Narrator>>,
    pub(crate) queue: Arc<dyn JobQueue>,
    projector: Arc<Projector>,
    /// Up to where the change feed has told, while there is one.
    fed: Arc<AtomicU64>,
    /// Events of each namespace, as far as somebody asked how many.
    tally: Mutex<Tally>,
    /// What was over when events were last told.
    due: Mutex<Option<Arc<Due>>>,
    /// The log's head, for who follows it.
    head: watch::Sender<Position>,
    /// Idempotency keys of commands under way: a twin waits for the first.
    keys: Gate<Digest>,
    /// Statements being saved: the same one waits for the first.
    pub(crate) statements: Gate<Digest>,
    /// The same, in other words.
    sayings: Sayings,
    /// Profiles in which a conversation without a session id looks for its session.
    sessions: Gate<Scope>,
    /// Ids that clients give on their way in: who gives the same one waits, and is refused before a batch of its is, which would
    /// take those of others behind it along.
    ids: Gate<Digest>,
    /// Things that are being changed: who changes the same one waits, and then sees what the first made of it.
    edits: Gate<uuid::Uuid>,
    /// What may be decoded of images at once.
    decoding: tokio::sync::Semaphore,
    /// Jobs accepted and not done.
    pub(crate) promises: Arc<Promises>,
    /// Namespaces by their digests, as far as callers have named them.
    namespaces: Mutex<HashMap<[u8; 16], String>>,
    tasks: Mutex<JoinSet<()>>,
    catching_up: watch::Sender<bool>,
    pub(crate) stopping: watch::Sender<bool>,
    listeners: Arc<start::Listeners>,
}

impl Inner {
    fn awake(&self) -> usize {
        self.profiles.awake()
            + self.threads.awake()
            + self.registries.awake()
            + self.notebooks.awake()
            + self.notes.awake()
    }
}

impl System {
    /// What an operator has set.
    pub fn limits(&self) -> &Limits {
        &self.inner.environment.limits
    }

    /// How it is.
    pub fn health(&self) -> Health {
        let inner = &self.inner;
        let stopping = *inner.stopping.borrow();
        let reason = if stopping { Some("shutting down".to_owned()) } else { self.unready() };
        Health {
            ready: reason.is_none(),
            reason,
            model: inner.registry.embed().map(|embed| embed.embedder().name().to_owned()),
            seq: inner.environment.log.head().0,
            entities_awake: inner.awake() as u64,
            profiles_loaded: inner.registry.loaded() as u64,
            views_bytes: inner.registry.bytes() + inner.shelf.bytes(),
            chunks_pending: inner.registry.pending(),
            questions_pending: inner.registry.embed().map_or(0, |embed| embed.questions()),
            catching_up: *inner.catching_up.borrow(),
            jobs_open: inner.promises.count(),
        }
    }
}
