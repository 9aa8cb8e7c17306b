//! `note.memory_list`, `note.memory_load`, `note.admin_list`, `note.kinds`.

use std::collections::BTreeSet;

use memlog_events::{code::KindCode, ids::SessionId};

use super::{
    super::{
        System,
        command::refused,
        lookup::{by, uuid},
        past::Moment,
        validate,
    },
    Seen, administrators_only, body, markdown, no_note, reader,
    shown::{kinds, level_code, listed},
};
use crate::{
    api::{
        Answer, Context, Error,
        agent::Format,
        error::Kind,
        note::{
            AdminList, AdminListed, Anyones, Full, Kinds, KindsListed, Level, Listed, Loaded, MemoryList, MemoryLoad,
        },
    },
    domain::notes::Load,
    limits::{CATEGORY_CHARS_MAX, NOTE_IDS_MAX, NOTES_LOADED_BYTES_MAX},
    view::notes::{Board, Note},
};

/// What a list shows; a kind that there is not is refused, so that a typo never becomes silence.
struct Filter<'a> {
    level: Option<Level>,
    category: Option<&'a str>,
    kind: Option<KindCode>,
}

impl<'a> Filter<'a> {
    fn of(board: &Board, level: Option<Level>, category: Option<&'a str>, key: Option<&str>) -> Result<Self, Error> {
        let known = |key: &str| {
            let added = || board.kinds.iter().find(|kind| kind.key == key).map(|kind| kind.code);
            let built_in = crate::domain::notes::built_in(key);
            built_in.or_else(added).ok_or_else(|| super::refused(&crate::domain::Rejection::NoKind))
        };
        Ok(Self { level, category, kind: key.map(known).transpose()? })
    }

    fn keeps(&self, note: &Note) -> bool {
        self.level.is_none_or(|level| note.level == level_code(level))
            && self.category.is_none_or(|category| note.category.as_deref() == Some(category))
            && self.kind.is_none_or(|kind| note.kind == kind)
    }
}

/// Refuses to look for what no note can have.
fn validate_filter(category: Option<&str>, kind_key: Option<&str>) -> Result<(), Error> {
    category.map_or(Ok(()), |category| validate::line("category", category, CATEGORY_CHARS_MAX))?;
    kind_key.map_or(Ok(()), |key| validate::token("kind_key", key))
}

/// Whether the caller may be shown a note of the asked time: it must have read it then, and read it still.
fn shows(context: &Context, asked: &Board, now: &Board, note: &Note) -> bool {
    let still = now.note(note.number).is_some_and(|note| now.reads(reader(context), note));
    still && asked.reads(reader(context), note)
}

impl System {
    /// `note.memory_list`
    pub async fn note_memory_list(&self, context: &Context, request: MemoryList) -> Result<Answer<Listed>, Error> {
        validate::context(&self.inner, context)?;
        let moment = self.moment(request.as_of)?;
        let MemoryList { level, category, kind_key, .. } = request;
        validate_filter(category.as_deref(), kind_key.as_deref())?;
        let show = |asked: &Board, now: &Board| {
            let filter = Filter::of(asked, level, category.as_deref(), kind_key.as_deref())?;
            let found = asked.of(reader(context)).filter(|note| filter.keeps(note) && shows(context, asked, now, note));
            let mut found: Vec<&Note> = found.collect();
            found.sort_unstable_by_key(|note| note.listed());
            Ok(found.into_iter().map(|note| listed(asked, note)).collect())
        };
        let notes = match self.notes_at(context, moment).await? {
            Some(seen) => seen.read(show)?,
            None => show(&Board::default(), &Board::default())?,
        };
        Ok(Answer::fresh(Listed { notes }))
    }

    /// `note.admin_list`
    pub async fn note_admin_list(&self, context: &Context, request: AdminList) -> Result<Answer<AdminListed>, Error> {
        validate::context(&self.inner, context)?;
        administrators_only(context)?;
        let moment = self.moment(request.as_of)?;
        let AdminList { level, category, kind_key, group, login, .. } = request;
        validate_filter(category.as_deref(), kind_key.as_deref())?;
        group.as_deref().map_or(Ok(()), |group| validate::caller("group", group))?;
        login.as_deref().map_or(Ok(()), |login| validate::caller("login", login))?;
        let show = |asked: &Board, _: &Board| {
            let filter = Filter::of(asked, level, category.as_deref(), kind_key.as_deref())?;
            let ours =
                |note: &&Note| (group.is_none() || note.group == group) && (login.is_none() || note.login == login);
            let mut found: Vec<&Note> = asked.all().filter(|note| filter.keeps(note)).filter(ours).collect();
            found.sort_unstable_by_key(|note| note.listed());
            let row = |note: &Note| Anyones { note: listed(asked, note), login: note.login.clone() };
            Ok(found.into_iter().map(row).collect())
        };
        let notes = match self.notes_at(context, moment).await? {
            Some(seen) => seen.read(show)?,
            None => show(&Board::default(), &Board::default())?,
        };
        Ok(Answer::fresh(AdminListed { notes }))
    }

    /// `note.kinds`
    pub async fn note_kinds(&self, context: &Context, request: Kinds) -> Result<Answer<KindsListed>, Error> {
        validate::context(&self.inner, context)?;
        let moment = self.moment(request.as_of)?;
        let kinds = match self.notes_at(context, moment).await? {
            Some(seen) => seen.read(|asked, _| kinds(Some(asked))),
            None => kinds(None),
        };
        Ok(Answer::fresh(KindsListed { kinds }))
    }

    /// `note.memory_load`
    pub async fn note_memory_load(&self, context: &Context, request: MemoryLoad) -> Result<Answer<Loaded>, Error> {
        validate::context(&self.inner, context)?;
        let ids = wanted(&request)?;
        let moment = self.moment(request.as_of)?;
        let Some(seen) = self.notes_at(context, moment).await? else {
            return match ids.and_then(|ids| ids.first().copied()) {
                Some(first) => Err(no_note(first)),
                None => Ok(Answer::fresh(Loaded { notes: Vec::new(), text: request.format.map(|_| String::new()) })),
            };
        };
        let rows = seen.read(|asked, now| {
            let mut notes = chosen(context, ids, asked, now)?;
            notes.sort_unstable_by_key(|note| note.precedence());
            Ok(notes.into_iter().map(|note| (note.clone(), listed(asked, note))).collect::<Vec<_>>())
        })?;
        let (mut notes, mut bytes) = (Vec::with_capacity(rows.len()), 0);
        for (note, shown) in &rows {
            // Removed between the two looks: it is not there.
            let body = self.note_body(&seen.place, note)?.ok_or_else(|| no_note(note.number))?;
            bytes += body.len();
            notes.push(Full { note: shown.clone(), body: Some(body), text: None });
        }
        if bytes > NOTES_LOADED_BYTES_MAX {
            let error = Error::past_limit("ids", NOTES_LOADED_BYTES_MAX as u64, "bytes of bodies at once");
            return Err(error);
        }
        let text = match request.format {
            Some(Format::Markdown) => Some(prompt(&mut notes)?),
            None => None,
        };
        if moment == Moment::Now {
            self.mark_read(context, &seen, &rows.iter().map(|(note, _)| note).collect::<Vec<_>>()).await?;
        }
        Ok(Answer::fresh(Loaded { notes, text }))
    }

    /// Remembers what the caller's session has read of the critical notes.
    async fn mark_read(&self, context: &Context, seen: &Seen, notes: &[&Note]) -> Result<(), Error> {
        let Some(session) = &context.caller.session else { return Ok(()) };
        let unknown = || Error::not_found("session", session);
        let id = SessionId(uuid(session).ok_or_else(unknown)?);
        let unread: BTreeSet<u64> = seen.now.read(|now| {
            let known = now.session(id).filter(|known| known.is_of(&context.caller.user)).ok_or_else(unknown)?;
            Ok::<_, Error>(notes.iter().filter(|note| known.has_to_read(note)).map(|note| note.number).collect())
        })?;
        if unread.is_empty() {
            return Ok(());
        }
        let notes = notes.iter().filter(|note| unread.contains(&note.number));
        let load =
            Load { session: id, notes: notes.map(|note| (note.number, note.admission)).collect(), by: by(context) };
        self.inner.notes.execute(seen.place, load, None).await.map(drop).map_err(refused)
    }
}

/// The numbers that are asked for, each once; none are all critical notes.
fn wanted(request: &MemoryLoad) -> Result<Option<&[u64]>, Error> {
    match (&request.ids, request.critical) {
        (Some(_), Some(true)) | (None, None | Some(false)) => {
            Err(Error::invalid("ids", "give either ids or critical: true"))
        }
        (None, Some(true)) => Ok(None),
        (Some(ids), _) if ids.is_empty() || ids.len() > NOTE_IDS_MAX => {
            Err(Error::invalid("ids", format!("ids must be 1 to {NOTE_IDS_MAX} numbers")).with("limit", NOTE_IDS_MAX))
        }
        (Some(ids), _) => Ok(Some(ids)),
    }
}

/// The notes to be loaded. An administrator may load anyone's by number; what is critical to it is what it reads itself.
fn chosen<'a>(context: &Context, ids: Option<&[u64]>, asked: &'a Board, now: &Board) -> Result<Vec<&'a Note>, Error> {
    let Some(ids) = ids else {
        let critical = asked.critical(reader(context)).into_iter().filter_map(|number| asked.note(number));
        return Ok(critical.filter(|note| shows(context, asked, now, note)).collect());
    };
    let unique: BTreeSet<u64> = ids.iter().copied().collect();
    let find = |number: u64| {
        let there = |note: &&Note| match context.caller.admin {
            true => now.note(note.number).is_some(),
            false => shows(context, asked, now, note),
        };
        asked.note(number).filter(there).ok_or_else(|| no_note(number))
    };
    unique.into_iter().map(find).collect()
}

/// All notes as one text, and each one's own.
fn prompt(notes: &mut [Full]) -> Result<String, Error> {
    let mut all = String::new();
    let mut section = None;
    for full in notes {
        let nodes = body::parse(full.body.as_deref().unwrap_or_default())
            .map_err(|error| Error::new(Kind::Unavailable, error.message))?;
        let text = markdown::body(&nodes);
        let note = &full.note;
        let heading = match (note.level, &note.group) {
            (Level::All, _) => "Notes for everyone".to_owned(),
            (Level::Group, group) => format!("Notes for {}", markdown::line(group.as_deref().unwrap_or_default())),
            (Level::Own, _) => "Own notes".to_owned(),
        };
        if section.as_ref() != Some(&heading) {
            all.push_str(&format!("{}## {heading}\n", if all.is_empty() { "" } else { "\n" }));
        }
        section = Some(heading);
        let name = markdown::line(note.name.as_deref().unwrap_or_default());
        all.push_str(&format!("\n### {name} ({})\n\n{text}\n", note.kind_key));
        full.text = Some(text);
    }
    Ok(all)
}
