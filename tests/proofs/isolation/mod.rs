//! Nothing of one namespace, profile or user reaches another, whatever is asked; and nobody's load keeps another from being answered.
//!
//! Whatever is written carries a mark of its owner, so that a leak names its source. `script` holds every verb of the table once at
//! least; who adds a verb adds a step there, or `strangers` fails. `world` plays steps through the real door. `tenants` tries the
//! permissions that `deploy` hands out, `crowds` and `budget` what one caller may take from the others.

mod budget;
mod crowds;
mod script;
mod strangers;
mod tenants;
mod world;
