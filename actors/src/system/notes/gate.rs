//! The gate: until a session has loaded every critical note that it may read, it does nothing else.

use memlog_events::ids::SessionId;

use super::{
    super::{System, lookup::uuid, validate},
    reader,
};
use crate::api::{Context, Error, Needs, Passed, error::Kind};

impl System {
    /// Lets a call pass or refuses it. A call without a session passes; what a session that read everything pays is two lookups and
    /// one for each critical note, all in memory.
    pub(crate) async fn pass(&self, context: &Context, needs: Needs) -> Result<Passed, Error> {
        let Some(session) = context.caller.session.as_ref().filter(|_| needs != Needs::Nothing) else {
            return Ok(Passed::given());
        };
        validate::context(&self.inner, context)?;
        let unknown = || Error::not_found("session", session);
        let id = SessionId(uuid(session).ok_or_else(unknown)?);
        let place = self.find_notes(context)?.ok_or_else(unknown)?;
        let board = self.board(&place).await?;
        board.read(|board| {
            let known = board.session(id).ok_or_else(unknown)?;
            if !known.is_of(&context.caller.user) {
                return Err(Error::new(Kind::Permission, "the session is another login's"));
            }
            let unread = match needs {
                Needs::AllRead => board.unread(known, reader(context)),
                Needs::Nothing | Needs::Session => Vec::new(),
            };
            if unread.is_empty() {
                return Ok(Passed::given());
            }
            let message = "load the critical notes first: note.memory_load with these ids, or with critical: true";
            Err(Error::new(Kind::CriticalUnread, message).with("unread", unread))
        })
    }
}
