//! Notes as clients see them.

use memlog_events::{
    code::{KindCode, LevelCode},
    event::Content,
    log::Sealed,
};

use super::super::{System, lookup::broken};
use crate::{
    api::{
        Error,
        note::{Full, Kind, Level, Note},
    },
    domain::{Place, notes::counts_as},
    view::notes::{self as view, Board},
};

/// The kinds that every namespace has, by weight.
const BUILT_IN: [(KindCode, &str, &str); 4] = [
    (KindCode::CRITICAL, "kCritical", "What must be observed in every session"),
    (KindCode::DIRECT, "kDirect", "A directive from the user"),
    (KindCode::SKILL, "kSkill", "How to work with this person"),
    (KindCode::DEFAULT, "kDefault", "Everything else"),
];

/// A level as it is stored.
pub(super) fn level_code(level: Level) -> LevelCode {
    match level {
        Level::All => LevelCode::ALL,
        Level::Group => LevelCode::GROUP,
        Level::Own => LevelCode::OWN,
    }
}

/// A level as clients name it.
pub(super) fn level(code: LevelCode) -> Level {
    match code {
        LevelCode::ALL => Level::All,
        LevelCode::GROUP => Level::Group,
        _ => Level::Own,
    }
}

fn built_in_key(code: KindCode) -> Option<&'static str> {
    BUILT_IN.iter().find(|(built_in, _, _)| *built_in == code).map(|(_, key, _)| *key)
}

/// What a kind is called.
pub(super) fn kind_key(board: &Board, code: KindCode) -> String {
    let added = || board.kinds.iter().find(|kind| kind.code == code).map(|kind| kind.key.clone());
    built_in_key(code).map(str::to_owned).or_else(added).unwrap_or_default()
}

/// All kinds.
pub(super) fn kinds(board: Option<&Board>) -> Vec<Kind> {
    let kind = |key: &str, title: &str, code| Kind {
        kind_key: key.to_owned(),
        title: title.to_owned(),
        counts_as: built_in_key(counts_as(code)).unwrap_or_default().to_owned(),
    };
    let added = board.into_iter().flat_map(|board| &board.kinds);
    let built_in = BUILT_IN.iter().map(|(code, key, title)| kind(key, title, *code));
    built_in.chain(added.map(|it| kind(&it.key, &it.title, it.code))).collect()
}

/// A note as lists show it.
pub(super) fn listed(board: &Board, note: &view::Note) -> Note {
    Note {
        id: note.number,
        level: level(note.level),
        group: note.group.clone(),
        name: Some(note.name.clone()),
        category: note.category.clone(),
        info: note.info.clone(),
        kind_key: kind_key(board, note.kind),
    }
}

impl System {
    /// What a note says; none if it was removed meanwhile.
    pub(super) fn note_body(&self, place: &Place, note: &view::Note) -> Result<Option<String>, Error> {
        let log = &self.inner.environment.log;
        let Some(event) = log.at(place.key, note.body).map_err(broken)? else { return Ok(None) };
        Ok(match log.open_content(&event).map_err(broken)? {
            Sealed::Open(Content::NoteSaved(content)) => content.body,
            _ => None,
        })
    }

    /// A note with its body.
    pub(super) fn note_in_full(&self, place: &Place, board: &Board, note: &view::Note) -> Result<Option<Full>, Error> {
        let body = self.note_body(place, note)?;
        Ok(body.map(|body| Full { note: listed(board, note), body: Some(body), text: None }))
    }
}
