//! The doors: what turns NATS, HTTP, JSON, the command line and model files into calls of `memlog-actors`. No rule about
//! memories lives here, and nothing outside this package knows that these technologies exist.

pub mod cli;
pub mod client;
pub mod door;
pub mod embed;
pub mod nats;
pub mod serve;
