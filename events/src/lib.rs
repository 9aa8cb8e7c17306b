//! What happened.
