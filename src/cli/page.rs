//! Which page of a list, the same flags for every list that has pages.

/// The flags.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Page {
    /// A page, 1 to 500 [default: 20]
    #[arg(long, short = 'n')]
    pub(super) limit: Option<u64>,
    /// Where the page before ended
    #[arg(long)]
    pub(super) cursor: Option<String>,
}
