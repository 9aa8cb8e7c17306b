//! Rounds of `kill -9` under every command there is, each round checked against a model of what was acknowledged.
//!
//! `MEMLOG_CRASH_ROUNDS=1000 cargo test --test crash rounds -- --nocapture` runs as long as told, `deploy/test --long 1000` too. A
//! folder lives through some rounds and is named by its seed. `MEMLOG_CRASH_SEED=<its seed>` repeats what is drawn: in each round
//! who dies, after how many replies, and the numbers by which each client chooses. The order in which clients are served, and so
//! where a death finds each of them, is the machine's. So a client sends the same commands for as long as it is answered the same: in
//! the first round as far as it comes, in a later one if the deaths before it left it the same things.
//!
//! - `commands/` draws: every writing verb of the door's table, each with what it does to a client's tree.
//! - `hand.rs` is a client: one command after the other, so that after a kill one is unknown at most.
//! - `tree.rs` is the model: JSON, and a comparison. `look.rs` reads the same trees through the door.
//! - `proof.rs`: words that are gone, files, searches. `story.rs`: the log, its chain and its feed. `races.rs`: who fights for a name.
//! - `fading.rs`: what ends by the clock meanwhile.
//! - `dying.rs`: how a process dies, and what dies with it.
//!
//! A new verb needs a row in `commands/mod.rs`; without it [`every_writing_verb_is_sent`] fails.

mod commands;
mod dying;
mod fading;
mod folder;
mod hand;
mod look;
mod proof;
mod races;
mod story;
mod tree;
mod wire;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    time::Instant,
};

use memlog::door::table::{Kind, TABLE};

use crate::world::random;

/// Without a wish.
const ROUNDS: usize = 50;
/// From so many on no verb is left to chance: the rarest is sent once in some four rounds.
const LONG: usize = 200;

/// What was done, to be told and to be counted.
#[derive(Default)]
pub(crate) struct Tally {
    rounds: usize,
    kills: BTreeMap<&'static str, usize>,
    acknowledged: BTreeMap<&'static str, usize>,
    unknown: usize,
    done: usize,
    reads: BTreeMap<String, usize>,
    events: usize,
    /// Things that were looked for before their time was over and after it.
    living: usize,
    over: usize,
}

impl Tally {
    fn told(&self, seconds: u64) -> String {
        let acknowledged: usize = self.acknowledged.values().sum();
        let reads: usize = self.reads.values().sum();
        format!(
            "{} rounds in {seconds} s: {acknowledged} commands acknowledged, {} under way at a death of which {} were done, \
             {} events, {reads} reads checked, {} looks at what had not ended yet and {} at what had; deaths {:?}",
            self.rounds, self.unknown, self.done, self.events, self.living, self.over, self.kills,
        )
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

fn verbs(kind: Kind) -> BTreeSet<String> {
    let of_kind = TABLE.rows().iter().filter(|row| row.kind == kind);
    of_kind.map(|row| format!("{}.{}", row.noun, row.verb)).collect()
}

/// A verb that changes something and that no round sends would not be proved.
#[test]
fn every_writing_verb_is_sent() {
    let sent: BTreeSet<String> = commands::ALL.iter().map(|(verb, ..)| (*verb).to_owned()).collect();
    let missing: Vec<_> = verbs(Kind::Command).difference(&sent).cloned().collect();
    assert!(missing.is_empty(), "no round sends {missing:?}: give it a row in tests/crash/rounds/commands/mod.rs");
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_of_kill_9_leave_what_was_acknowledged_and_nothing_else() {
    let wanted = number("MEMLOG_CRASH_ROUNDS").map_or(ROUNDS, |rounds| rounds as usize);
    let mut seed = number("MEMLOG_CRASH_SEED").unwrap_or_else(|| random("the first seed", 0, 1 << 31) as u64);
    let (mut tally, begun) = (Tally::default(), Instant::now());
    while tally.rounds < wanted {
        let rounds = folder::rounds(seed).min(wanted - tally.rounds);
        if !folder::live(seed, rounds, &mut tally).await {
            return;
        }
        eprintln!("folder {seed}, so far {}", tally.told(begun.elapsed().as_secs()));
        seed += 1;
    }
    eprintln!("{:?}", tally.acknowledged);
    if wanted >= LONG {
        let by: BTreeSet<String> = tally.acknowledged.keys().map(|verb| (*verb).to_owned()).collect();
        let never: Vec<_> = verbs(Kind::Command).difference(&by).cloned().collect();
        assert!(never.is_empty(), "never acknowledged: {never:?}");
    }
    if wanted >= ROUNDS {
        let read = tally.reads.keys().cloned().collect();
        let unread: Vec<_> = verbs(Kind::Read).difference(&read).cloned().collect();
        assert!(unread.is_empty(), "nothing forgotten was looked for in {unread:?}");
        assert!(tally.living > 0 && tally.over > 0, "nothing ended: {} and {}", tally.living, tally.over);
    }
}
