//! A work that is larger than one call's input becomes several calls, cut between turns.

use std::ops::Range;

use memlog_actors::port::{Role, Turn, Work};
use serde_json::{Value, json};

use super::{client::tokens, prompt};

/// Messages before a part that are shown for context at least; as many as the work brings along, if those are more.
const BEFORE_MAX: usize = 10;

/// What one call looks at.
pub(super) struct Part {
    /// The user message.
    pub(super) data: Value,
    /// The numbers of the messages in it that may be cited.
    pub(super) messages: Vec<usize>,
    /// How many of the known records it shows, from the first.
    pub(super) known: usize,
}

/// The parts, in order; none if there is nothing to read. A turn that alone is larger than a call's input is a part by itself.
pub(super) fn parts(work: &Work, input_tokens_max: u64) -> Vec<Part> {
    // Half for the messages, a quarter each at most for what came before and for what is known.
    let ranges = ranges(&work.turns, input_tokens_max / 2);
    let known = prompt::known(work, input_tokens_max);
    let all: Vec<&Turn> = work.before.iter().chain(&work.turns).collect();
    let part = |range: Range<usize>| {
        let (begin, turns) = (work.before.len() + range.start, &work.turns[range.clone()]);
        // Standing orders are shown, and cannot be cited: nothing of them is a memory.
        let (orders, said): (Vec<_>, Vec<_>) =
            range.clone().zip(turns).partition(|(_, turn)| turn.role == Role::System);
        let looks_back = BEFORE_MAX.max(work.before.len());
        let before = all[begin.saturating_sub(looks_back)..begin].iter().copied();
        let before: Vec<&Turn> = before.chain(orders.into_iter().map(|(_, turn)| turn)).collect();
        let messages: Vec<Value> = said.iter().map(|(n, turn)| prompt::message(*n, turn)).collect();
        let earlier = prompt::earlier(before.into_iter(), input_tokens_max);
        Part {
            data: json!({ "earlier": earlier, "known": known, "messages": messages }),
            messages: said.into_iter().map(|(n, _)| n).collect(),
            known: known.len(),
        }
    };
    ranges.into_iter().map(part).filter(|part| !part.messages.is_empty()).collect()
}

fn ranges(turns: &[Turn], tokens_max: u64) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut filled = 0;
    for (at, turn) in turns.iter().enumerate() {
        let more = tokens(prompt::message(at, turn).to_string().len());
        match ranges.last_mut() {
            Some(last) if filled + more <= tokens_max => {
                last.end = at + 1;
                filled += more;
            }
            _ => {
                ranges.push(at..at + 1);
                filled = more;
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn turn(role: Role, text: &str) -> Turn {
        Turn { role, speaker: None, said_at: Timestamp::UNIX_EPOCH, offset_seconds: 0, text: text.to_owned() }
    }

    fn work(texts: &[&str]) -> Work {
        Work { turns: texts.iter().map(|text| turn(Role::User, text)).collect(), ..Work::default() }
    }

    // Every message is read once, whatever its size, and no call is larger than what the operator allowed but for one that
    // holds a single large message.
    #[test]
    fn a_large_work_is_cut_between_turns() {
        let long = "x".repeat(1_000);
        let huge = "y".repeat(30_000);
        let work = work(&[&long, &long, &long, &huge, "short", &long]);
        let parts = parts(&work, 1_200);
        let numbers: Vec<_> = parts.iter().map(|part| part.messages.clone()).collect();
        assert_eq!(numbers, [vec![0, 1], vec![2], vec![3], vec![4, 5]]);
        for part in parts.iter().filter(|part| part.messages != [3]) {
            assert!(tokens(part.data.to_string().len()) <= 1_200);
        }
        assert_eq!(
            parts[3].data["earlier"][0]["text"].as_str().map(str::len),
            Some(1_000),
            "what came before is context"
        );
    }

    #[test]
    fn standing_orders_are_shown_and_cannot_be_cited() {
        let mut work = work(&["I moved", "I like tea"]);
        work.turns.insert(1, turn(Role::System, "Be brief"));
        let parts = parts(&work, 6_000);
        assert_eq!((parts.len(), &parts[0].messages[..]), (1, &[0, 2][..]));
        assert_eq!(parts[0].data["earlier"][0]["text"], "Be brief");
        let orders = Work { turns: vec![turn(Role::System, "Be brief")], ..Work::default() };
        assert!(super::parts(&orders, 6_000).is_empty());
        assert!(super::parts(&Work::default(), 6_000).is_empty());
    }
}
