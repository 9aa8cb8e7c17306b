//! Which worlds there may be after some calls at once: every order in which they may have been carried out, as far as it explains
//! what was heard.

use memlog_actors::api::{Error, error::Kind};
use serde_json::Value;

use super::{
    calls::{Answered, Worked},
    command::{Command, Word, text},
    plain::{JobState, Outcome, Told, World},
    plan::{Call, How},
};

/// A call, and what was heard of it; nothing if its caller had gone, or the machine.
pub(crate) struct Made {
    pub(crate) call: Call,
    pub(crate) answered: Option<Answered>,
    /// The messages of a worker's job, if anybody was ever told.
    pub(crate) words: Option<Vec<Word>>,
}

/// Every world that explains them.
pub(crate) fn explained(worlds: &[World], made: &[Made], now: i64, dead: bool) -> Vec<World> {
    let mut all: Vec<World> = Vec::new();
    for order in orders(made.len()) {
        let mut ways: Vec<Way> =
            worlds.iter().map(|world| Way::from(world.clone(), &vec![false; made.len()], made)).collect();
        for at in order {
            let on = |way: &Way| -> Vec<Way> {
                let next = after(&way.world, &made[at], way.let_in[at], now, dead, made.len() == 1);
                next.into_iter().map(|world| Way::from(world, &way.let_in, made)).collect()
            };
            ways = ways.iter().flat_map(on).collect();
            unique(&mut ways);
        }
        all.extend(ways.into_iter().map(|way| way.world));
        unique(&mut all);
    }
    all
}

/// A world on the way, and which calls the gate has let in until then: it is asked when a call comes, and the call's own turn may be
/// after that of another, which closes it again.
#[derive(PartialEq)]
struct Way {
    world: World,
    let_in: Vec<bool>,
}

impl Way {
    fn from(world: World, before: &[bool], made: &[Made]) -> Self {
        let lets_in =
            |one: &Made| if let Call::Client(asked) = &one.call { world.lets_in(asked).is_ok() } else { true };
        let let_in = made.iter().zip(before).map(|(one, before)| *before || lets_in(one)).collect();
        Self { world, let_in }
    }
}

fn unique<T: PartialEq>(all: &mut Vec<T>) {
    let mut kept: Vec<T> = Vec::new();
    for one in all.drain(..) {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    *all = kept;
}

fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1);
    let with = |order: &Vec<usize>| {
        let order = order.clone();
        (0..count).map(move |at| {
            let mut longer = order.clone();
            longer.insert(at, count - 1);
            longer
        })
    };
    shorter.iter().flat_map(with).collect()
}

fn after(world: &World, made: &Made, let_in: bool, now: i64, dead: bool, alone: bool) -> Vec<World> {
    match (&made.call, &made.answered) {
        (Call::Client(asked), None) => world.whatever_came_of(asked, let_in, now),
        (Call::Client(asked), Some(Answered::Client(heard))) => match heard {
            Err(Error { kind: Kind::Unavailable | Kind::Timeout, .. }) if dead => {
                world.whatever_came_of(asked, let_in, now)
            }
            // Shed, or what it was about went away meanwhile, perhaps only after it was done. With a key it is asked again, and says
            // which.
            Err(Error { kind: Kind::Unavailable, .. }) if !alone => world.whatever_came_of(asked, let_in, now),
            heard => {
                let refused =
                    world.lets_in(asked).err().filter(|kind| agrees(&asked.command, &Err(*kind), false, heard));
                let mut next = world.clone();
                let done = let_in.then(|| next.carry_out(asked, now));
                let done = done.filter(|(outcome, again)| agrees(&asked.command, outcome, *again, heard));
                refused.map(|_| world.clone()).into_iter().chain(done.map(|_| next)).collect()
            }
        },
        (call, answered) => worked(world, call, answered.as_ref(), made.words.as_deref(), now),
    }
}

fn agrees(command: &Command, outcome: &Outcome, replayed: bool, heard: &Result<(Value, bool), Error>) -> bool {
    match (outcome, heard) {
        (Err(kind), Err(error)) => *kind == error.kind,
        (Ok(told), Ok((reply, again))) => *again == replayed && tells(command, told, *again, reply),
        _ => false,
    }
}

fn tells(command: &Command, told: &Told, again: bool, reply: &Value) -> bool {
    let number = |at: &str| reply.pointer(at).and_then(Value::as_u64);
    let content = reply.pointer("/memory/content");
    let says = |word: Word| {
        let gone = again && content.is_none_or(Value::is_null);
        gone || content.and_then(Value::as_str) == Some(text(word).as_str())
    };
    let status = reply.get("status").and_then(Value::as_str);
    match told {
        Told::Done => true,
        Told::Record(word) => says(*word) && (!matches!(command, Command::Remember { .. }) || status == Some("stored")),
        Told::Duplicate(word) => says(*word) && status == Some("duplicate"),
        Told::Counts(accepted, duplicates) => {
            (number("/accepted"), number("/duplicates")) == (Some(*accepted), Some(*duplicates))
        }
        Told::Number(at, value) => number(at) == Some(*value),
        Told::Numbers(all) => all.iter().all(|(at, value)| number(at) == Some(*value)),
    }
}

/// A worker's call: what it has changed.
fn worked(world: &World, call: &Call, answered: Option<&Answered>, known: Option<&[Word]>, now: i64) -> Vec<World> {
    let how = if let Call::Worker { how, .. } = call { *how } else { How::Whole };
    let words = match answered {
        Some(Answered::Worker(Worked::Moot)) => {
            let open = known.is_some_and(|words| is_open(world, words)) && !matches!(call, Call::Late(_));
            return if open { Vec::new() } else { vec![world.clone()] };
        }
        Some(Answered::Worker(Worked::Did(words))) => return vec![changed(world, how, words, now)],
        Some(Answered::Worker(Worked::Holds(..))) => return vec![world.clone()],
        Some(Answered::Worker(Worked::Closed(words))) => words.as_deref().or(known),
        _ => known,
    };
    // Whether it arrived is not known, and perhaps not even which job it was.
    let jobs: Vec<Vec<Word>> = match words {
        Some(words) => vec![words.to_vec()],
        None => world.profiles.iter().flat_map(|it| it.jobs.iter().map(|job| job.words.clone())).collect(),
    };
    let mut may = vec![world.clone()];
    may.extend(jobs.iter().map(|words| changed(world, how, words, now)));
    may
}

fn is_open(world: &World, words: &[Word]) -> bool {
    world.profiles.iter().any(|it| it.job_of(words).is_some_and(|job| it.jobs[job].state == JobState::Open))
}

fn changed(world: &World, how: How, words: &[Word], now: i64) -> World {
    let mut next = world.clone();
    for profile in &mut next.profiles {
        let Some(job) = profile.job_of(words) else { continue };
        match how {
            How::Whole | How::Twice => profile.extracted(job, words, now),
            How::Lasting | How::Malformed => profile.failed(job),
            How::Hold | How::Lost | How::Transient => {}
        }
    }
    next
}
