//! `note.memory_save`, `note.memory_remove`, `note.admin_save`, `note.admin_remove`.

use memlog_events::{
    code::{KindCode, LevelCode},
    event::Facts,
    ids::{Position, StreamKey, Version},
    log::Log,
};
use uuid::Uuid;

use super::{
    super::{
        System,
        command::{Before, Begun},
        lookup::{broken, by, gone, panicked},
        validate,
    },
    administrators_only, body,
    shown::{kind_key, level, level_code},
};
use crate::{
    api::{
        Answer, Context, Error,
        note::{AdminOne, AdminRemove, AdminSave, AnyonesFull, Full, MemoryRemove, MemorySave, Note, One},
    },
    domain::{
        Place, Rejection,
        notes::{Numbered, Placing, RemoveNote, Role, SaveNote, Texts},
    },
    entity::Failure,
    limits::{CATEGORY_CHARS_MAX, NOTE_NAME_CHARS_MAX},
    view::notes::Board,
};

/// A note and whose own it is.
type Shown = (Full, Option<String>);

fn one((note, _): Shown) -> One {
    One { note }
}

fn anyones((note, login): Shown) -> AdminOne {
    AdminOne { note: AnyonesFull { note, login } }
}

/// Events read at once.
const PAGE_EVENTS: usize = 500;

/// What the facts still say of a note whose texts are gone: as it was saved last, up to a position.
fn facts_of(log: &Log, key: StreamKey, number: u64, to: Position) -> Result<(LevelCode, KindCode), Error> {
    let (mut found, mut after) = (None, Version(0));
    loop {
        let page = log.stream(key, after, PAGE_EVENTS).map_err(broken)?;
        let Some(last) = page.last() else { return found.ok_or_else(gone) };
        after = last.head.version;
        for event in page {
            if event.head.position > to {
                return found.ok_or_else(gone);
            }
            if let Facts::NoteSaved(e) = &event.facts
                && e.note == number
            {
                found = Some((e.level, e.kind));
            }
        }
    }
}

impl System {
    /// `note.memory_save`
    pub async fn note_memory_save(&self, context: &Context, request: MemorySave) -> Result<Answer<One>, Error> {
        let MemorySave { id, name, category, info, kind_key, body } = request;
        let texts = Texts { name, category, info, body };
        let save = self.saving(context, (id, Role::Member), Placing::default(), kind_key, texts);
        Ok(map(self.save_note(context, save?).await?, one))
    }

    /// `note.admin_save`
    pub async fn note_admin_save(&self, context: &Context, request: AdminSave) -> Result<Answer<AdminOne>, Error> {
        validate::context(&self.inner, context)?;
        administrators_only(context)?;
        let AdminSave { id, level, group, login, name, category, info, kind_key, body } = request;
        if id.is_none() && level.is_none() {
            return Err(Error::invalid("level", "a new note needs a level: all, group or own"));
        }
        group.as_deref().map(|group| validate::caller("group", group)).transpose()?;
        login.as_deref().map(|login| validate::caller("login", login)).transpose()?;
        let placing = Placing { level: level.map(level_code), group, login };
        let texts = Texts { name, category, info, body };
        let save = self.saving(context, (id, Role::Admin), placing, kind_key, texts)?;
        Ok(map(self.save_note(context, save).await?, anyones))
    }

    /// The command, if its texts may be.
    fn saving(
        &self,
        context: &Context,
        (note, role): (Option<u64>, Role),
        placing: Placing,
        kind_key: Option<String>,
        mut texts: Texts,
    ) -> Result<SaveNote, Error> {
        validate::context(&self.inner, context)?;
        texts.name.as_deref().map(|name| validate::line("name", name, NOTE_NAME_CHARS_MAX)).transpose()?;
        validate::change_of("category", texts.category.as_deref(), CATEGORY_CHARS_MAX)?;
        validate::change("info", texts.info.as_deref())?;
        kind_key.as_deref().map(|key| validate::token("kind_key", key)).transpose()?;
        texts.body = texts.body.as_deref().map(body::checked).transpose()?;
        for (field, missing) in [("name", texts.name.is_none()), ("body", texts.body.is_none())] {
            if note.is_none() && missing {
                return Err(Error::invalid(field, format!("a new note needs a {field}")));
            }
        }
        let login = context.caller.user.clone();
        Ok(SaveNote { note, role, login, placing, kind_key, texts, by: by(context) })
    }

    async fn save_note(&self, context: &Context, save: SaveNote) -> Result<Answer<Shown>, Error> {
        let once = match self.begin::<Numbered>(context).await? {
            Begun::Before(before) => {
                let reply = self.note_before(context, &before).await?;
                return Ok(Answer { reply, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let place = match save.note {
            Some(number) => self.find_notes(context)?.ok_or_else(|| super::no_note(number))?,
            None => self.open_notes(context).await?,
        };
        let number = save.note;
        let _edit = match number {
            Some(number) => Some(self.inner.edits.enter(edited(&place.key, number)).await),
            None => None,
        };
        let saved = match self.inner.notes.execute(place, save, once.key).await {
            Ok(outcome) => outcome.answer.0,
            Err(failure) => return Err(self.notes_refused(&place, number, failure).await),
        };
        let board = self.board(&place).await?;
        // Removed again by somebody else already.
        let shown = board.read(|board| self.note_shown(&place, board, saved))?.ok_or_else(gone)?;
        Ok(Answer::fresh(shown))
    }

    fn note_shown(&self, place: &Place, board: &Board, number: u64) -> Result<Option<Shown>, Error> {
        let Some(note) = board.note(number) else { return Ok(None) };
        let full = self.note_in_full(place, board, note)?;
        Ok(full.map(|full| (full, note.login.clone())))
    }

    /// The note of a replayed reply, as it was then; of one that is gone what is no text.
    async fn note_before(&self, context: &Context, before: &Before<Numbered>) -> Result<Shown, Error> {
        let (place, number, at) = (self.open_notes(context).await?, before.answer.0, before.at);
        let past: Board = self.inner.shelf.past(place.key, at).await.map_err(super::unread)?;
        if let Some(shown) = self.note_shown(&place, &past, number)? {
            return Ok(shown);
        }
        let log = self.inner.environment.log.clone();
        let read = crate::blocking::run(move || facts_of(&log, place.key, number, at));
        let (of_level, of_kind) = read.await.map_err(panicked)??;
        let kind_key = kind_key(&past, of_kind);
        let note =
            Note { id: number, level: level(of_level), group: None, name: None, category: None, info: None, kind_key };
        Ok((Full { note, body: None, text: None }, None))
    }

    /// `note.memory_remove`
    pub async fn note_memory_remove(&self, context: &Context, request: MemoryRemove) -> Result<Answer<One>, Error> {
        Ok(map(self.remove_note(context, request.id, Role::Member).await?, one))
    }

    /// `note.admin_remove`
    pub async fn note_admin_remove(&self, context: &Context, request: AdminRemove) -> Result<Answer<AdminOne>, Error> {
        administrators_only(context)?;
        Ok(map(self.remove_note(context, request.id, Role::Admin).await?, anyones))
    }

    async fn remove_note(&self, context: &Context, number: u64, role: Role) -> Result<Answer<Shown>, Error> {
        validate::context(&self.inner, context)?;
        // Held to the end, or a twin would be told that there is no such note.
        let once = match self.begin::<Numbered>(context).await? {
            Begun::Before(before) => {
                let reply = self.note_before(context, &before).await?;
                return Ok(Answer { reply, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let place = self.find_notes(context)?.ok_or_else(|| super::no_note(number))?;
        // What it said is read before it is gone; nobody changes it in between.
        let _edit = self.inner.edits.enter(edited(&place.key, number)).await;
        let board = self.board(&place).await?;
        let shown = board.read(|board| self.note_shown(&place, board, number))?;
        let (login, by) = (context.caller.user.clone(), by(context));
        let removed = self.inner.notes.execute(place, RemoveNote { note: number, role, login, by }, once.key).await;
        match (removed, shown) {
            (Ok(_), Some(shown)) => {
                // It leaves the view now, and not when somebody next reads.
                self.board(&place).await?;
                Ok(Answer::fresh(shown))
            }
            (Ok(_), None) => Err(gone()),
            (Err(Failure::Rejected(Rejection::Gone)), _) => Err(super::no_note(number)),
            (Err(failure), _) => Err(self.notes_refused(&place, Some(number), failure).await),
        }
    }
}

fn map<T, U>(answer: Answer<T>, into: impl FnOnce(T) -> U) -> Answer<U> {
    Answer { reply: into(answer.reply), replayed: answer.replayed }
}

/// The key under which changes of one note wait for each other.
fn edited(notes: &StreamKey, number: u64) -> Uuid {
    Uuid::from_u128(notes.stream.0.as_u128() ^ u128::from(number))
}
