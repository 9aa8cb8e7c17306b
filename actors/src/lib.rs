//! Who decides, who remembers.

pub mod port;
