//! A language model behind any OpenAI-compatible chat endpoint: it extracts, classifies, summarises, answers and says what images show.
//!
//! What it says is never trusted: every answer must be JSON of our schema, and becomes records with sources or a failure
//! with a code. It is given no tools, and what people said reaches it as data inside one JSON message. No text of a person
//! or a model enters a log line or an error.
//!
//! The rooms: `settings` is what an operator may set; `endpoint` one call over HTTP; `breaker` lets a broken endpoint rest;
//! `client` repeats calls within a deadline and a budget; `prompt` what is asked; `decode` what is accepted; `split` makes
//! several calls of a large work; `model` fills the ports.

mod breaker;
mod client;
mod decode;
mod endpoint;
mod model;
mod prompt;
pub mod settings;
mod split;

use std::sync::Arc;

use memlog_actors::{
    extract,
    port::{Extractor, Narrator},
};

#[cfg(feature = "otlp")]
pub(crate) use endpoint::agent;
pub use endpoint::{Found, look};
pub use settings::{Invalid, Settings};

/// Who extracts, and who writes texts if anybody does.
pub type Ports = (Arc<dyn Extractor>, Option<Arc<dyn Narrator>>);

/// The model that the settings name; without one the local extractor, and local texts.
pub fn build(settings: &Settings) -> Result<Ports, Invalid> {
    Ok(match client::Client::new(settings)? {
        Some(client) => {
            let model = Arc::new(model::Model::new(client, settings));
            (Arc::<model::Model>::clone(&model), Some(model))
        }
        None => (Arc::new(extract::Local), None),
    })
}
