//! What measurements are made of: made-up records, a stand-in for an embedding model, the plain ways of doing what a view does, and
//! medians. For `actors/benches` and `memlog bench`, so that both measure the same; nothing that serves uses it.
//!
//! Nothing here measures by itself. What is made up is the same in every run: it comes from seeds.

mod clusters;
mod load;
mod nearest;
mod random;
mod times;

pub use clusters::{Clusters, DIMENSIONS, TOPICS};
pub use load::{Filter, PROFILE, Wall, abreast, context, filled, filters, options, query, record};
pub use nearest::{Graph, clustered, exact, recall};
pub use random::Random;
pub use times::{Times, alternately, rate};
