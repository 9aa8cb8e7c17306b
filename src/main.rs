//! memlog.
fn main() {}
