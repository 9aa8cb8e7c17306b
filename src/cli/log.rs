//! `memlog log`: the events, never their content.

use std::time::Duration;

use memlog_actors::{
    api::audit::{Event, Events, Stats},
    limits,
};
use memlog_events::event::KINDS;

use super::{Outcome, Shell, fail::Fail, tables};

/// How often `--follow` asks. Followers in a hurry subscribe to the change feed.
const FOLLOW_PAUSE: Duration = Duration::from_secs(1);

/// How many events are shown when nobody says how many.
const SHOWN: u64 = 20;

/// Which events. Of the whole namespace unless --profile names one; the newest ones, and with --from or --json those from
/// there on.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this record's, message's or job's
    #[arg(long, value_name = "ID")]
    record: Option<String>,
    /// Only these types, e.g. saved,forgot
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = event_type)]
    types: Vec<String>,
    /// From this position on [default: the newest events; with --json from the beginning]
    #[arg(long, value_name = "SEQ")]
    from: Option<u64>,
    /// At most so many [default: 20]
    #[arg(long, short = 'n', conflicts_with_all = ["all", "follow"])]
    limit: Option<u64>,
    /// All of them, page by page
    #[arg(long)]
    all: bool,
    /// All of them, then each as it comes; ends with Ctrl-C
    #[arg(long, short)]
    follow: bool,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let whole = self.all || self.follow;
        let limit = self.limit.unwrap_or(SHOWN);
        let newest = !whole && self.from.is_none() && !shell.screen.is_json();
        let mut request = Events {
            profile: shell.settings.profile_named.clone(),
            record_id: self.record,
            types: (!self.types.is_empty()).then_some(self.types),
            from_seq: self.from,
            limit: Some(if whole { limits::PAGE_MAX } else { limit }),
        };
        if newest {
            return print_newest(shell, request, limit).await;
        }
        if !whole {
            return print_page(shell, request, limit).await;
        }
        let mut last = None;
        loop {
            let mut page = shell.call(request.clone()).await?;
            let full = page.events.len() as u64 == limits::PAGE_MAX;
            // The next page starts where this one ended: positions have gaps, so nobody counts them on.
            page.events.retain(|event| Some(event.seq) > last);
            print(shell, &page.events, last.is_none() && !self.follow)?;
            last = page.events.last().map(|event| event.seq).or(last);
            request.from_seq = last.or(request.from_seq);
            if !full && !self.follow {
                return Ok(Outcome::Done);
            }
            if !full && interrupted(FOLLOW_PAUSE).await {
                return Ok(Outcome::Done);
            }
        }
    }
}

/// The name of an event's type; the error lists those that there are.
fn event_type(word: &str) -> Result<String, String> {
    if KINDS.iter().any(|(_, name)| *name == word) {
        return Ok(word.to_owned());
    }
    let names: Vec<_> = KINDS.iter().map(|(_, name)| *name).collect();
    Err(format!("no event type is called that; there are {}", names.join(", ")))
}

/// One page from a position on, and where the next one begins.
async fn print_page(shell: &Shell, mut request: Events, limit: u64) -> Result<Outcome, Fail> {
    // One event more than is shown tells whether there are more.
    request.limit = Some(if limit == 0 { 0 } else { limit + u64::from(limit < limits::PAGE_MAX) });
    let mut events = shell.call(request).await?.events;
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let next = match events.get(shown) {
        Some(next) => Some(next.seq),
        None if limit == limits::PAGE_MAX && events.len() == shown => events.last().map(|last| last.seq + 1),
        None => None,
    };
    events.truncate(shown);
    print(shell, &events, true)?;
    match next {
        Some(seq) if shell.screen.is_json() => shell.screen.note(&format!("more: --from {seq}")),
        Some(seq) => shell.screen.line(&format!("more: --from {seq}")),
        None => {}
    }
    Ok(Outcome::Done)
}

/// The last events, oldest first. The API reads forwards, so this looks back in growing steps until there are enough.
async fn print_newest(shell: &Shell, request: Events, limit: u64) -> Result<Outcome, Fail> {
    if limit == 0 || limit > limits::PAGE_MAX {
        return print_page(shell, request, limit).await;
    }
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let head = shell.call(Stats {}).await?.head.seq;
    let mut back = limit.saturating_mul(4);
    loop {
        let from = head.saturating_sub(back);
        let mut events = read_from(shell, &request, from).await?;
        if events.len() <= shown && from > 0 {
            back = back.saturating_mul(8);
            continue;
        }
        let before = events.len().saturating_sub(shown);
        events.drain(..before);
        print(shell, &events, true)?;
        if before > 0 {
            shell.screen.line("these are the newest; from the beginning: --from 0, all: --all");
        }
        return Ok(Outcome::Done);
    }
}

/// All events from a position to the end.
async fn read_from(shell: &Shell, request: &Events, from: u64) -> Result<Vec<Event>, Fail> {
    let mut events: Vec<Event> = Vec::new();
    let mut next = from;
    loop {
        let request = Events { from_seq: Some(next), limit: Some(limits::PAGE_MAX), ..request.clone() };
        let page = shell.call(request).await?.events;
        let full = page.len() as u64 == limits::PAGE_MAX;
        next = page.last().map_or(next, |last| last.seq + 1);
        events.extend(page);
        if !full {
            return Ok(events);
        }
    }
}

fn print(shell: &Shell, events: &[Event], even_if_empty: bool) -> Result<(), Fail> {
    if shell.screen.is_json() {
        return events.iter().try_for_each(|event| shell.screen.reply(event, |_, _| String::new()));
    }
    if !events.is_empty() || even_if_empty {
        shell.screen.line(&tables::page(tables::events(&shell.screen, events), None, "no events"));
    }
    Ok(())
}

/// Waits for the pause to pass or for Ctrl-C.
async fn interrupted(pause: Duration) -> bool {
    tokio::select! {
        signal = tokio::signal::ctrl_c() => signal.is_ok(),
        () = tokio::time::sleep(pause) => false,
    }
}
