//! Threads: their messages, images, memories and links, and how they change.

use memlog_actors::api::error::Kind;

use super::{
    super::{
        super::{
            command::{Command, Word},
            ports::DAY,
        },
        Outcome, Told,
    },
    Image, Link, Place, Profile, Record, SUPERSEDED, Said,
};

impl Profile {
    pub(super) fn in_a_thread(&mut self, command: &Command, now: i64) -> Outcome {
        if let Command::Open { thread, .. } = command {
            if self.places.contains_key(&Place::Thread(*thread)) {
                return Err(Kind::Conflict);
            }
            self.exists = true;
            self.places.insert(Place::Thread(*thread), Vec::new());
            return Ok(Told::Done);
        }
        let (Command::Say { thread, .. }
        | Command::Keep { thread, .. }
        | Command::Link { thread, .. }
        | Command::Unlink { thread, .. }
        | Command::Show { thread, .. }
        | Command::Hang { thread, .. }
        | Command::TakeDown { thread, .. }
        | Command::DropMessage { thread, .. }
        | Command::DropMemory { thread, .. }
        | Command::Reword { thread, .. }
        | Command::Amend { thread, .. }
        | Command::Relabel { thread, .. }
        | Command::Retake { thread, .. }
        | Command::DeleteThread { thread, .. }) = command
        else {
            unreachable!("{command:?} is carried out elsewhere")
        };
        let place = Place::Thread(*thread);
        let held = self.places.get_mut(&place).ok_or(Kind::NotFound)?;
        match command {
            Command::Keep { word, days, link, .. } => {
                if let Some((target, _)) = link {
                    self.is_in(place, *target)?;
                }
                if self.records.contains_key(word) {
                    return Err(Kind::Conflict);
                }
                let expires = days.map(|days| now + days * DAY);
                self.records.insert(*word, Record { place: Some(place), expires, ..Record::new(*word, now) });
                self.links.extend(link.map(|(target, kind)| Link { source: *word, target, kind, named: kind }));
                Ok(Told::Record(*word))
            }
            Command::Link { source, target, kind, .. } => self.link(place, (*source, *target, *kind)),
            Command::Unlink { source, target, kind, .. } => {
                let at = self.named(*source, *target, *kind);
                let there = at.map(|at| self.links.remove(at)).is_some();
                Ok(Told::Number("/deleted", there.into()))
            }
            Command::DropMessage { word, .. } => {
                let said = held.iter_mut().find(|said| said.word == *word && !said.gone);
                let there = said.map(|said| said.gone = true).is_some();
                self.images.retain(|image| image.message != Some(*word));
                Ok(Told::Number("/deleted", there.into()))
            }
            Command::DropMemory { word, .. } => {
                let there = self.is_in(place, *word).is_ok();
                if there {
                    self.drop_record(*word);
                }
                Ok(Told::Number("/deleted", there.into()))
            }
            Command::DeleteThread { .. } => {
                let messages = held.iter().filter(|said| !said.gone).count() as u64;
                let images = self.images.iter().filter(|image| image.place == place).count() as u64;
                self.drop_place(place);
                Ok(Told::Numbers([("/deleted/messages", messages), ("/deleted/images", images)]))
            }
            _ => self.said_and_shown(place, command, now),
        }
    }

    fn said_and_shown(&mut self, place: Place, command: &Command, now: i64) -> Outcome {
        let expires = |days: &Option<i64>| days.map(|days| now + days * DAY);
        let held = &self.places[&place];
        let is_said = |word: &Word| held.iter().any(|said| !said.gone && said.word == *word);
        match command {
            Command::Say { words, days, .. } => {
                if words.iter().any(is_said) {
                    return Err(Kind::Conflict);
                }
                let expires = expires(days);
                words.iter().for_each(|word| self.say(place, Said { expires, ..Said::new(*word, now) }));
                Ok(Told::Done)
            }
            Command::Show { word, image, days, .. } => {
                if is_said(word) {
                    return Err(Kind::Conflict);
                }
                let (expires, message) = (expires(days), Some(*word));
                self.say(place, Said { expires, ..Said::new(*word, now) });
                self.images.push(Image { word: *image, says: *image, place, message, created: now, expires });
                Ok(Told::Done)
            }
            Command::Hang { image, days, .. } => {
                if self.images.iter().any(|it| it.word == *image) {
                    return Err(Kind::Conflict);
                }
                let (expires, message) = (expires(days), None);
                self.images.push(Image { word: *image, says: *image, place, message, created: now, expires });
                Ok(Told::Done)
            }
            Command::TakeDown { image, .. } => {
                let at = self.images.iter().position(|it| it.word == *image && it.place == place);
                if at.is_some_and(|at| self.images[at].message.is_some()) {
                    return Err(Kind::Conflict);
                }
                let there = at.map(|at| self.images.remove(at)).is_some();
                Ok(Told::Number("/deleted", there.into()))
            }
            other => self.changed(place, other),
        }
    }

    /// What is said again counts its days from when it was said first.
    fn changed(&mut self, place: Place, command: &Command) -> Outcome {
        let later = |created: i64, days: &Option<i64>| days.map(|days| created + days * DAY);
        match command {
            Command::Reword { word, says, days, .. } => {
                let held = self.places.get_mut(&place).into_iter().flatten();
                let said = held.into_iter().find(|said| said.word == *word && !said.gone).ok_or(Kind::NotFound)?;
                said.says = says.unwrap_or(said.says);
                said.expires = later(said.created, days).or(said.expires);
                let expires = said.expires;
                if says.is_some() {
                    self.images.retain(|image| image.message != Some(*word));
                }
                let images = self.images.iter_mut().filter(|image| image.message == Some(*word));
                images.for_each(|image| image.expires = expires);
                Ok(Told::Done)
            }
            Command::Amend { word, says, holds, days, .. } => {
                self.is_in(place, *word)?;
                let record = self.records.get_mut(word).ok_or(Kind::NotFound)?;
                record.says = says.unwrap_or(record.says);
                record.expires = later(record.created, days).or(record.expires);
                if let Some(holds) = holds {
                    record.invalid = !holds;
                    record.superseded &= !holds;
                }
                Ok(Told::Record(record.says))
            }
            Command::Relabel { source, target, kind, to, .. } => {
                let Some(at) = self.named(*source, *target, *kind) else { return Ok(Told::Number("/updated", 0)) };
                let mut others = self.links.iter().enumerate().filter(|(other, _)| *other != at);
                if others.any(|(_, link)| link.says(*source, *target, *to)) {
                    return Err(Kind::Conflict);
                }
                self.links[at].kind = *to;
                Ok(Told::Number("/updated", 1))
            }
            Command::Retake { image, says, days, .. } => {
                let mut images = self.images.iter_mut();
                let image = images.find(|it| it.word == *image && it.place == place).ok_or(Kind::NotFound)?;
                if image.message.is_some() && days.is_some() {
                    return Err(Kind::InvalidRequest);
                }
                image.says = *says;
                image.expires = later(image.created, days).or(image.expires);
                Ok(Told::Done)
            }
            other => unreachable!("{other:?} is carried out elsewhere"),
        }
    }

    /// The link that clients call so.
    fn named(&self, source: Word, target: Word, kind: usize) -> Option<usize> {
        let called = |link: &Link| (link.source, link.target, link.named) == (source, target, kind);
        self.links.iter().position(called)
    }

    fn link(&mut self, place: Place, (source, target, kind): (Word, Word, usize)) -> Outcome {
        self.is_in(place, source)?;
        self.is_in(place, target)?;
        if source == target {
            return Err(Kind::InvalidRequest);
        }
        let reverse = self.links.iter().any(|link| (link.source, link.target) == (target, source));
        let again = self.links.iter().any(|link| link.says(source, target, kind));
        if reverse || again || self.named(source, target, kind).is_some() {
            return Err(Kind::Conflict);
        }
        self.links.push(Link { source, target, kind, named: kind });
        Ok(Told::Done)
    }
}

impl Link {
    /// Whether it says just that.
    fn says(&self, source: Word, target: Word, kind: usize) -> bool {
        let same = self.kind == kind || (kind == 0 && self.kind == SUPERSEDED);
        (self.source, self.target) == (source, target) && same
    }
}
