//! In which languages people write here, for whoever chooses an embedding model. Counts only.

use memlog_events::{
    ids::Position,
    log::{Error as LogError, Log, Sealed},
};

use super::{
    System,
    lookup::{broken, panicked},
};
use crate::{api::Error, extract::is_english, view::indexed::words_of};

/// Events that are looked at, the newest: some hundred milliseconds.
const EVENTS_MAX: u64 = 2_000;

/// What the newest texts of all namespaces are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Languages {
    /// Messages and memories of which it can be told.
    pub told: u64,
    /// Those of them that are in English.
    pub english: u64,
}

impl System {
    /// Looks at the newest messages and memories.
    pub async fn languages(&self) -> Result<Languages, Error> {
        let log = self.inner.environment.log.clone();
        let looking = crate::blocking::run(move || newest(&log));
        looking.await.map_err(panicked)?.map_err(broken)
    }
}

fn newest(log: &Log) -> Result<Languages, LogError> {
    let mut at = Position(log.head().0.saturating_sub(EVENTS_MAX));
    let mut found = Languages::default();
    loop {
        let page = log.tail(at, EVENTS_MAX as usize)?;
        let Some(last) = page.last() else { return Ok(found) };
        at = last.head.position;
        for event in &page {
            let Sealed::Open(content) = log.open_content(event)? else { continue };
            if let Some(english) = words_of(&content).and_then(is_english) {
                found.told += 1;
                found.english += u64::from(english);
            }
        }
    }
}
