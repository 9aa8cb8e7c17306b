//! Who decides, who remembers.

pub mod port;
pub mod recall;
pub mod view;
