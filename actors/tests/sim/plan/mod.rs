//! What is done next: mostly what can be done, now and then what cannot, and often what was done before.

mod space;

use memlog_events::ids::JobId;

use super::{
    command::{Asked, Command, FACT, Ids, KINDS, PROFILES, SESSIONS, SPEAKERS, THREADS, Word},
    plain::{JobState, Link, Place, Profile, World},
    ports::DAY,
    random::Random,
};

/// What a worker does with a job that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Whole,
    /// The result is left twice.
    Twice,
    /// It keeps the result to itself, for later.
    Hold,
    /// It dies.
    Lost,
    Transient,
    Lasting,
    Malformed,
}

/// Somebody who calls at the system's door.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    Client(Asked),
    Worker {
        job: JobId,
        how: How,
    },
    /// A result that was kept back, by its place among those.
    Late(usize),
}

/// What the plan is made from.
pub(crate) struct Plan<'a> {
    pub(crate) random: &'a mut Random,
    pub(crate) world: &'a World,
    pub(crate) ids: &'a Ids,
    pub(crate) next_word: &'a mut Word,
    pub(crate) now: i64,
}

impl Plan<'_> {
    fn word(&mut self) -> Word {
        *self.next_word += 1;
        *self.next_word
    }

    pub(crate) fn one(&mut self, of: usize) -> usize {
        self.random.below(of)
    }

    fn maybe(&mut self, of: usize) -> Option<usize> {
        if self.random.once_in(2) { Some(self.random.below(of)) } else { None }
    }

    fn days(&mut self) -> Option<i64> {
        if self.random.once_in(3) { Some(1 + self.random.below(3) as i64) } else { None }
    }

    /// Days from when it was said that end a while from now.
    fn more_days(&mut self, created: i64) -> Option<i64> {
        self.days().map(|days| (self.now - created) / DAY + 1 + days)
    }

    /// A speaker, seldom one that is not registered.
    fn speaker(&mut self, profile: &Profile) -> Option<usize> {
        let who = self.maybe(SPEAKERS.len())?;
        Some(who).filter(|who| profile.speakers.contains_key(who) || self.random.once_in(6))
    }

    fn record(&mut self, profile: &Profile, in_place: Option<Place>) -> Option<Word> {
        let told = |word: &&Word| self.ids.records.contains_key(*word);
        let lies = |word: &&Word| in_place.is_none() || profile.records[*word].place == in_place;
        let words: Vec<Word> = profile.records.keys().filter(told).filter(lies).copied().collect();
        self.random.pick(&words).copied()
    }

    pub(crate) fn command(&mut self) -> Option<Command> {
        match self.random.weighted(&[12, 14, 5, 4, 3]) {
            0 => self.of_a_profile(),
            1 => self.in_a_thread(),
            2 => self.on_the_shelf(),
            3 => self.of_agents(),
            _ => self.of_notes(),
        }
    }

    fn of_a_profile(&mut self) -> Option<Command> {
        let p = self.one(PROFILES.len());
        let profile = &self.world.profiles[p];
        Some(match self.random.weighted(&[6, 3, 15, 6, 9, 18, 6, 3, 1, 3, 1]) {
            0 => Command::AddSpeaker { p, who: self.one(SPEAKERS.len()) },
            1 => Command::RemoveSpeaker { p, who: self.one(SPEAKERS.len()) },
            2 => {
                let said = profile
                    .records
                    .iter()
                    .filter(|(word, record)| **word < FACT && !matches!(record.place, Some(Place::Thread(_))));
                let said: Vec<Word> = said.map(|(word, _)| *word).collect();
                let again = if self.random.once_in(5) { self.random.pick(&said).copied() } else { None };
                let word = again.unwrap_or_else(|| self.word());
                // One that is there and does not hold would be another record with the same words.
                let word =
                    if profile.records.contains_key(&word) && !profile.is_valid(word) { self.word() } else { word };
                let who = match profile.records.get(&word) {
                    Some(record) => profile.shown(record.tag),
                    None => self.speaker(profile),
                };
                Command::Remember { p, word, session: self.maybe(SESSIONS.len()), who, days: self.days() }
            }
            3 => Command::Supersede { p, old: self.record(profile, None)?, word: self.word() },
            4 => Command::Forget { p, word: self.record(profile, None)? },
            5 => self.ingest(p, profile),
            6 => Command::AddTurn { p, session: self.one(SESSIONS.len()), words: [self.word(), self.word()] },
            7 => Command::DeleteSession { p, session: self.one(SESSIONS.len()) },
            8 => Command::DeleteProfile { p },
            10 => Command::Visit { p },
            _ => {
                let failed = profile.jobs.iter().filter(|job| {
                    job.state == JobState::Failed || (job.state == JobState::Done && self.random.once_in(4))
                });
                let told = failed.filter_map(|job| job.words.iter().find(|word| self.ids.jobs.contains_key(*word)));
                let told: Vec<Word> = told.copied().collect();
                Command::Retry { p, job: *self.random.pick(&told)? }
            }
        })
    }

    fn ingest(&mut self, p: usize, profile: &Profile) -> Command {
        let session = self.one(SESSIONS.len());
        let mut said = Vec::new();
        if self.random.once_in(2) {
            let held = profile.places.get(&Place::Session(session)).into_iter().flatten();
            said.extend(held.take_while(|it| it.role == "user").map(|it| (it.word, it.tag.map(|(who, _)| who))));
            // A registration that ended makes another message of it.
            let registered = profile.places.get(&Place::Session(session)).into_iter().flatten();
            if registered.clone().any(|it| it.tag.is_some() && profile.shown(it.tag).is_none()) {
                said.clear();
            }
        }
        for _ in 0..1 + self.one(3) {
            said.push((self.word(), self.speaker(profile)));
        }
        Command::Ingest { p, session, said }
    }

    fn in_a_thread(&mut self) -> Option<Command> {
        // The fuller of two: most of what is done needs something to do it to.
        let some = [(); 2].map(|()| (self.one(PROFILES.len()), self.one(THREADS.len())));
        let fullness = |(p, thread): &(usize, usize)| {
            let records = self.world.profiles[*p].records.values();
            records.filter(|it| it.place == Some(Place::Thread(*thread))).count()
        };
        let (p, thread) = some.into_iter().max_by_key(fullness)?;
        let profile = &self.world.profiles[p];
        let place = Place::Thread(thread);
        let Some(held) = profile.places.get(&place).filter(|_| !self.random.once_in(20)) else {
            return Some(Command::Open { p, thread });
        };
        let kind = self.one(KINDS.len());
        Some(match self.random.weighted(&[4, 12, 8, 6, 2, 2, 1, 4, 3, 2, 16]) {
            0 => {
                let words = (0..1 + self.one(2)).map(|_| self.word()).collect();
                Command::Say { p, thread, words, days: self.days() }
            }
            1 => {
                let target = if self.random.once_in(2) { self.record(profile, Some(place)) } else { None };
                let link = target.map(|target| (target, kind));
                Command::Keep { p, thread, word: self.word(), days: self.days(), link }
            }
            2 => {
                let (source, target) = (self.record(profile, Some(place))?, self.record(profile, Some(place))?);
                Command::Link { p, thread, source, target, kind }
            }
            3 => {
                let lies = |word: &Word| profile.records.get(word).is_some_and(|record| record.place == Some(place));
                let ours = profile.links.iter().filter(|link| lies(&link.source) && link.named < KINDS.len());
                let Link { source, target, named: kind, .. } = *self.random.pick(&ours.copied().collect::<Vec<_>>())?;
                if self.random.once_in(2) {
                    return Some(Command::Relabel { p, thread, source, target, kind, to: self.one(KINDS.len()) });
                }
                Command::Unlink { p, thread, source, target, kind }
            }
            4 => Command::DropMessage { p, thread, word: self.random.pick(held)?.word },
            5 => Command::DropMemory { p, thread, word: self.record(profile, Some(place))? },
            7 => Command::Show { p, thread, word: self.word(), image: self.word(), days: self.days() },
            8 => Command::Hang { p, thread, image: self.word(), days: self.days() },
            9 => Command::TakeDown { p, thread, image: self.image(profile, place)?.0 },
            10 => self.changed(p, thread)?,
            _ => Command::DeleteThread { p, thread },
        })
    }

    /// One that has an id, and when it was shown.
    fn image(&mut self, profile: &Profile, place: Place) -> Option<(Word, i64)> {
        let told = profile.images.iter().filter(|it| it.place == place && self.ids.images.contains_key(&it.word));
        let told: Vec<_> = told.map(|image| (image.word, image.created)).collect();
        self.random.pick(&told).copied()
    }

    /// What is in a thread says something else, or for longer.
    fn changed(&mut self, p: usize, thread: usize) -> Option<Command> {
        let (profile, place) = (&self.world.profiles[p], Place::Thread(thread));
        Some(match self.random.weighted(&[3, 4, 2]) {
            0 => {
                let said = self.random.pick(&profile.places[&place])?;
                let (word, days) = (said.word, self.more_days(said.created));
                let says = if days.is_none() || self.random.once_in(2) { Some(self.word()) } else { None };
                Command::Reword { p, thread, word, says, days }
            }
            1 => {
                let word = self.record(profile, Some(place))?;
                let (says, days) = (self.random.once_in(2), self.more_days(profile.records[&word].created));
                let holds = if self.random.once_in(2) { Some(self.random.once_in(2)) } else { None };
                let says = if says || (days.is_none() && holds.is_none()) { Some(self.word()) } else { None };
                Command::Amend { p, thread, word, says, holds, days }
            }
            _ => {
                let (image, created) = self.image(profile, place)?;
                Command::Retake { p, thread, image, says: self.word(), days: self.more_days(created) }
            }
        })
    }

    pub(crate) fn how(&mut self) -> How {
        const HOWS: [How; 7] =
            [How::Whole, How::Twice, How::Hold, How::Lost, How::Transient, How::Lasting, How::Malformed];
        HOWS[self.random.weighted(&[6, 3, 3, 1, 2, 1, 1])]
    }
}
