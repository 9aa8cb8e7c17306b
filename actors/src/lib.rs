//! Who decides, who remembers: the pure domain, the actors around it, the views, recall, and the ports that the doors fill.
//!
//! Knows no NATS, no HTTP, no bytes of the wire and no model file; those are the doors' business in the root package.

pub mod api;
pub mod domain;
pub mod entity;
pub mod extract;
pub(crate) mod jobs;
pub mod limits;
pub mod port;
pub mod recall;
pub mod system;
pub mod view;
