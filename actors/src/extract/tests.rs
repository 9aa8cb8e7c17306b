//! The extractor as a whole: judged by the labelled turns, told as stories, and fed what no person writes.

mod hostile;
mod labelled;
mod stories;
