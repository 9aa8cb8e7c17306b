//! What there is, as plain maps: the shortest program that keeps the promises. A command on it is a function, so that every order
//! in which commands may have been carried out can be tried.

mod notes;
mod profile;
mod shelf;

use std::collections::BTreeMap;

use memlog_actors::api::error::Kind;

use super::{
    command::{Asked, Command, NAMESPACES, PROFILES, Word},
    ports::DAY,
};
pub(crate) use notes::{Note, Notes};
pub(crate) use profile::{Job, JobState, Link, Place, Profile, Said};
pub(crate) use shelf::{Book, Shelf, layer_of};

/// What the answer to a command must say.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    /// That it is done.
    Done,
    /// A record that is new or was.
    Record(Word),
    /// Nothing was stored: this one says it already.
    Duplicate(Word),
    /// Messages taken and known.
    Counts(u64, u64),
    /// A number at a place in the answer.
    Number(&'static str, u64),
    /// Two of them.
    Numbers([(&'static str, u64); 2]),
}

pub(crate) type Outcome = Result<Told, Kind>;

/// An answer that is kept for whoever asks again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    asked: Asked,
    at: i64,
    pub(crate) told: Told,
}

/// Everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    pub(crate) profiles: [Profile; PROFILES.len()],
    pub(crate) shelves: [Shelf; NAMESPACES.len()],
    pub(crate) notes: [Notes; NAMESPACES.len()],
    pub(crate) keys: BTreeMap<(usize, u64), Kept>,
}

impl World {
    /// Whether the gate lets it pass. It is asked first, also of what was done before.
    pub(crate) fn lets_in(&self, Asked { command, session, .. }: &Asked) -> Result<(), Kind> {
        session.map_or(Ok(()), |session| self.notes[command.namespace()].pass(session, command))
    }

    /// What a client hears who was let in, and whether it is told again.
    pub(crate) fn carry_out(&mut self, asked: &Asked, now: i64) -> (Outcome, bool) {
        let Asked { command, key, session } = asked;
        let key = key.map(|key| (command.namespace(), key));
        if let Some(kept) = key.and_then(|key| self.keys.get(&key)).filter(|kept| now < kept.at + DAY) {
            if kept.asked != *asked {
                return (Err(Kind::Conflict), false);
            }
            return (Ok(kept.told.clone()), true);
        }
        let outcome = self.apply(command, *session, now);
        if let (Some(key), Ok(told)) = (key, &outcome) {
            self.keys.insert(key, Kept { asked: asked.clone(), at: now, told: told.clone() });
        }
        (outcome, false)
    }

    fn apply(&mut self, command: &Command, session: Option<Word>, now: i64) -> Outcome {
        let ns = command.namespace();
        match command {
            Command::Create { .. }
            | Command::Adopt { .. }
            | Command::Rename { .. }
            | Command::Save { .. }
            | Command::ForgetEntry { .. }
            | Command::Trash { .. }
            | Command::Restore { .. }
            | Command::Purge { .. }
            | Command::Hire { .. }
            | Command::Engage { .. }
            | Command::Retitle { .. }
            | Command::Attach { .. }
            | Command::Write { .. }
            | Command::Dismiss { .. } => self.shelves[ns].apply(command, now),
            Command::AddKind { .. } | Command::Pin { .. } | Command::Edit { .. } | Command::Unpin { .. } => {
                self.notes[ns].apply(command)
            }
            Command::Post { .. } | Command::Move { .. } | Command::Strike { .. } => self.notes[ns].administer(command),
            Command::OpenEditor { .. } | Command::CloseEditor { .. } => self.notes[ns].in_the_editor(command, now),
            Command::Connect { .. } | Command::Load { .. } => self.notes[ns].in_a_session(command, session),
            _ => {
                let p = command.profile().unwrap_or_default();
                // What is refused has stored nothing.
                let mut after = self.profiles[p].clone();
                let outcome = after.apply(command, now);
                if outcome.is_ok() {
                    self.profiles[p] = after;
                }
                outcome
            }
        }
    }

    /// What may be left of a command whose answer nobody heard: nothing, all, or what it opened on its way.
    pub(crate) fn whatever_came_of(&self, asked: &Asked, let_in: bool, now: i64) -> Vec<Self> {
        let command = &asked.command;
        // A session that nobody is told of is nobody's.
        let unknown = matches!(command, Command::Connect { .. }) && asked.key.is_none();
        if unknown || !let_in {
            return vec![self.clone()];
        }
        let mut all = self.clone();
        // Refused, it has changed nothing.
        drop(all.carry_out(asked, now));
        let mut may = vec![self.clone(), all];
        let (opens, session) = match command {
            Command::AddSpeaker { p, .. } | Command::Open { p, .. } => (Some(*p), None),
            Command::Remember { p, session, .. } => (Some(*p), *session),
            Command::Ingest { p, session, .. } | Command::AddTurn { p, session, .. } => (Some(*p), Some(*session)),
            _ => (None, None),
        };
        if let Some(p) = opens {
            let mut opened = self.clone();
            opened.profiles[p].exists = true;
            may.push(opened.clone());
            if let Some(session) = session {
                opened.profiles[p].open_session(session);
                may.push(opened);
            }
        }
        may.dedup();
        may
    }

    /// The clock has moved.
    pub(crate) fn tick(&mut self, now: i64) {
        self.profiles.iter_mut().for_each(|profile| profile.tick(now));
        self.shelves.iter_mut().for_each(|shelf| shelf.tick(now));
        self.notes.iter_mut().for_each(|notes| notes.tick(now));
        self.keys.retain(|_, kept| now < kept.at + DAY);
    }

    /// Moments at which something ends by the clock.
    pub(crate) fn ends(&self) -> Vec<i64> {
        let profiles = self.profiles.iter().flat_map(Profile::ends);
        let shelves = self.shelves.iter().flat_map(Shelf::ends);
        let notes = self.notes.iter().flat_map(Notes::ends);
        profiles.chain(shelves).chain(notes).chain(self.keys.values().map(|kept| kept.at + DAY)).collect()
    }
}
