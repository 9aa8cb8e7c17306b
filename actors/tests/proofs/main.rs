//! What the system promises at its edges: many callers at once, repeats of what is gone, limits to the byte, erasure from
//! every file.

mod erasure;
mod feed;
mod jobs;
mod links;
mod once;
mod races;
mod rules;
mod threads;
mod trash;
#[allow(dead_code, reason = "shared with the model, which uses the rest")]
mod world;
