//! Connect: a login gets a session.

use memlog_events::{
    batch::Outcome,
    code::LevelCode,
    event::{ByV1, Facts, SessionConnectedV1},
    ids::{Digest, SessionId},
};
use uuid::Uuid;

use super::{Notes, group_digest, login_digest, told};
use crate::{
    domain::{Answered, Command, Decision, Inputs, Place, Rejection},
    limits::SESSIONS_MAX,
};

/// Gives out a session.
#[derive(Clone, PartialEq, Debug)]
pub struct Connect {
    /// Who connects.
    pub login: Option<String>,
    /// Its groups.
    pub groups: Vec<String>,
    /// The same, as events tell it.
    pub by: ByV1,
}

/// The session that was given out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Connected {
    /// Its id.
    pub session: Uuid,
    /// The critical notes that it had to read then; none if an earlier version of memlog gave it out.
    pub critical: Option<u64>,
}

impl Answered for Connected {
    fn outcome(&self) -> Outcome {
        Outcome { ids: vec![self.session], numbers: self.critical.into_iter().collect() }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match (outcome.ids.as_slice(), outcome.numbers.as_slice()) {
            ([id], []) => Some(Self { session: *id, critical: None }),
            ([id], [critical]) => Some(Self { session: *id, critical: Some(*critical) }),
            _ => None,
        }
    }
}

impl Connect {
    /// How many critical notes it reads.
    fn critical(&self, state: &Notes, login: Option<Digest>, place: &Place, inputs: &dyn Inputs) -> u64 {
        let groups: Vec<_> = self.groups.iter().map(|group| Some(group_digest(group, place, inputs))).collect();
        let critical = state.notes.values().filter(|note| note.admission > 0).map(|note| note.readers);
        let read = critical.filter(|readers| match readers.level {
            LevelCode::ALL => true,
            LevelCode::GROUP => groups.contains(&readers.group),
            _ => readers.login == login,
        });
        read.count() as u64
    }
}

impl Command<Notes> for Connect {
    type Answer = Connected;

    fn decide(&self, state: &Notes, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Connected>, Rejection> {
        let login = login_digest(self.login.as_ref(), place, inputs);
        // Their ids are UUIDv7: the first are the oldest.
        let living = state.logins.get(&login);
        let surplus = living.map_or(0, |living| (living.len() + 1).saturating_sub(SESSIONS_MAX));
        let ended = living.into_iter().flatten().take(surplus).copied().collect();
        let session = SessionId(inputs.uuid());
        let facts = Facts::SessionConnected(SessionConnectedV1 { session, login, ended });
        let critical = Some(self.critical(state, login, place, inputs));
        Ok(Decision::of(vec![told(facts, &self.by, place)], Connected { session: session.0, critical }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::Story;

    fn connect(login: &str) -> Connect {
        Connect { login: Some(login.to_owned()), groups: Vec::new(), by: ByV1::default() }
    }

    // Sessions never end by themselves; a login that connects for ever must not fill the memory, nor end another's.
    #[test]
    fn a_logins_oldest_session_ends_when_it_has_too_many() {
        let mut given = Story::<Notes>::new();
        let bobs = given.do_(connect("bob"));
        let first = given.do_(connect("ann"));
        for _ in 1..SESSIONS_MAX {
            given.do_(connect("ann"));
        }
        assert!(given.state.sessions.contains_key(&SessionId(first.session)));
        given.do_(connect("ann"));
        assert!(!given.state.sessions.contains_key(&SessionId(first.session)));
        assert!(given.state.sessions.contains_key(&SessionId(bobs.session)));
        assert_eq!(given.state.sessions.len(), SESSIONS_MAX + 1);
    }
}
