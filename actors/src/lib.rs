//! Who decides, who remembers.

pub mod port;
pub mod view;
