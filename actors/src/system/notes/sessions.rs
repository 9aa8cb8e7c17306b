//! `note.session_connect`, `note.editor_open`, `note.editor_close`, `note.kind_add`.

use super::{
    super::{
        System,
        command::{Begun, refused},
        lookup::by,
        validate,
    },
    administrators_only, reader,
};
use crate::{
    api::{
        Answer, Context, Done, Error,
        note::{Connected as Session, EditorClose, EditorOpen, Held as Hold, Kind, KindAdd, OneKind, SessionConnect},
    },
    domain::notes::{AddKind, CloseEditor, Connect, Connected, Held, Numbered, OpenEditor},
    limits::NOTE_KIND_TITLE_CHARS_MAX,
    view::notes::Board,
};

/// What an agent is told when it connects.
const RULES: &str = "\
Notes are the memory that every session of a login shares, whatever agent it runs in.

- Load the critical notes first: `memory_load` with `critical: true`. Until that is done, every command but `memory_list` and \
`memory_load` is refused, and so it is again when a critical note is added.
- Send the session's id with every call.
- Levels: `all` notes are for everyone, `group` notes for the logins of a group, `own` notes for this login alone.
- Kinds: `kCritical` must be observed in every session, `kDirect` is a directive from the user, `kSkill` says how to work with \
this person, `kDefault` is everything else.
- Where notes disagree, the level goes first (all, group, own), and within it the kind (critical, direct, skill, default).
- `memory_list` shows what there is, `memory_load` what it says. `memory_save` and `memory_remove` reach own notes alone; the others are \
an administrator's. While an administrator edits the notes, both are refused: try again later.
- The body of a note is simple HTML: `p`, `ul`, `li`, `b`, `code`.
";

impl System {
    /// `note.session_connect`
    pub async fn note_session_connect(&self, context: &Context, _: SessionConnect) -> Result<Answer<Session>, Error> {
        validate::context(&self.inner, context)?;
        let session = |session: Connected, critical| Session {
            session: session.session.to_string(),
            critical,
            rules: RULES.to_owned(),
        };
        let once = match self.begin::<Connected>(context).await? {
            Begun::Before(before) => {
                let critical = match before.answer.critical {
                    Some(critical) => critical,
                    None => {
                        let place = self.open_notes(context).await?;
                        let past: Board = self.inner.shelf.past(place.key, before.at).await.map_err(super::unread)?;
                        past.critical(reader(context)).len() as u64
                    }
                };
                return Ok(Answer { reply: session(before.answer, critical), replayed: true });
            }
            Begun::Now(once) => once,
        };
        let place = self.open_notes(context).await?;
        let groups = reader(context).groups.to_vec();
        let command = Connect { login: context.caller.user.clone(), groups, by: by(context) };
        let connected = self.inner.notes.execute(place, command, once.key).await.map_err(refused)?.answer;
        Ok(Answer::fresh(session(connected, connected.critical.unwrap_or_default())))
    }

    /// `note.editor_open`
    pub async fn note_editor_open(&self, context: &Context, _: EditorOpen) -> Result<Answer<Hold>, Error> {
        validate::context(&self.inner, context)?;
        administrators_only(context)?;
        let login = context.caller.user.clone();
        let hold = |held: Held| Hold { held_by: login.clone(), expires_at: held.0.into() };
        let once = match self.begin::<Held>(context).await? {
            Begun::Before(before) => return Ok(Answer { reply: hold(before.answer), replayed: true }),
            Begun::Now(once) => once,
        };
        let place = self.open_notes(context).await?;
        let command = OpenEditor { login: login.clone(), by: by(context) };
        match self.inner.notes.execute(place, command, once.key).await {
            Ok(outcome) => Ok(Answer::fresh(hold(outcome.answer))),
            Err(failure) => Err(self.notes_refused(&place, None, failure).await),
        }
    }

    /// `note.editor_close`
    pub async fn note_editor_close(&self, context: &Context, _: EditorClose) -> Result<Answer<Done>, Error> {
        validate::context(&self.inner, context)?;
        administrators_only(context)?;
        let once = match self.begin::<()>(context).await? {
            Begun::Before(_) => return Ok(Answer { reply: Done {}, replayed: true }),
            Begun::Now(once) => once,
        };
        let place = self.open_notes(context).await?;
        let command = CloseEditor { login: context.caller.user.clone(), by: by(context) };
        match self.inner.notes.execute(place, command, once.key).await {
            Ok(_) => Ok(Answer::fresh(Done {})),
            Err(failure) => Err(self.notes_refused(&place, None, failure).await),
        }
    }

    /// `note.kind_add`
    pub async fn note_kind_add(&self, context: &Context, request: KindAdd) -> Result<Answer<OneKind>, Error> {
        validate::context(&self.inner, context)?;
        administrators_only(context)?;
        let KindAdd { kind_key, title } = request;
        validate::token("kind_key", &kind_key)?;
        validate::line("title", &title, NOTE_KIND_TITLE_CHARS_MAX)?;
        // Nobody changes a kind, so the reply is what was asked for.
        let kind = Kind { kind_key: kind_key.clone(), title: title.clone(), counts_as: "kDefault".to_owned() };
        let once = match self.begin::<Numbered>(context).await? {
            Begun::Before(_) => return Ok(Answer { reply: OneKind { kind }, replayed: true }),
            Begun::Now(once) => once,
        };
        let place = self.open_notes(context).await?;
        let command = AddKind { kind_key, title, by: by(context) };
        self.inner.notes.execute(place, command, once.key).await.map_err(refused)?;
        Ok(Answer::fresh(OneKind { kind }))
    }
}
