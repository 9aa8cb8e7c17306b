//! `agent.brief`: what an agent is shown at the start of every turn, so it is made from the views alone, without a text being read.

use memlog_events::ids::StreamId;

use super::{
    super::{System, past::Moment, validate},
    room::{Asked, Room},
};
use crate::{
    api::{
        Answer, Context, Error,
        agent::{Brief, Briefed, Format, Readable},
        error::Kind,
    },
    view::notebook::{Agent, Memory, Roster},
};

impl System {
    /// `agent.brief`
    pub async fn agent_brief(&self, context: &Context, request: Brief) -> Result<Answer<Briefed>, Error> {
        validate::context(&self.inner, context)?;
        let asked = Asked::by_id("agent", &request.agent)?;
        let moment = self.moment(request.as_of)?;
        let missing = |_| Error::not_found("agent", &request.agent);
        let room = self.room(context).await?.ok_or_else(|| missing(()))?;
        let past = self.past_roster(&room.place, moment).await?;
        let (agent, memories) = room
            .roster
            .read(|now| {
                let agent = room.acting.agent(past.as_ref().unwrap_or(now), asked)?;
                if agent.user.is_some() && agent.user != room.acting.user {
                    let message = "a user's agent is briefed only acting for that user";
                    return Err(Error::new(Kind::Permission, message));
                }
                let memories = readable(&agent, past.as_ref(), now);
                Ok((agent, memories))
            })
            .map_err(|error| if error.kind == Kind::NotFound { missing(()) } else { error })?;
        let mut entries = Vec::new();
        let mut text = request.format.map(|Format::Markdown| String::new());
        for memory in &memories {
            let from = entries.len();
            self.brief_of(&room, memory, moment, &mut entries).await?;
            if let Some(text) = &mut text {
                write_section(text, &agent, memory, &entries[from..]);
            }
        }
        Ok(Answer::fresh(Briefed { entries, text }))
    }

    /// By name; where both layers have one, the user's before the account's.
    async fn brief_of(
        &self,
        room: &Room,
        memory: &Memory,
        moment: Moment,
        into: &mut Vec<Readable>,
    ) -> Result<(), Error> {
        let layers = room.acting.layers(memory).into_iter();
        let layers: Vec<_> = layers.map(|user| self.layer(memory.slot, user.as_ref())).collect::<Result<_, _>>()?;
        let seen = self.entries_at(&room.notebook(memory.id), moment).await?;
        let (id, from) = (memory.id.to_string(), into.len());
        seen.read(|entries| {
            let all = layers.iter().flat_map(|layer| entries.layer(*layer));
            into.extend(all.map(|entry| Readable {
                memory: id.clone(),
                name: entry.name.clone(),
                description: entry.description.clone(),
                user_id: entry.user.clone(),
            }));
        });
        // Each layer is in order already, and a stable sort leaves the user's first.
        into[from..].sort_by(|one, other| one.name.cmp(&other.name));
        Ok(())
    }
}

/// Its own memory, then the attached in order: those of then that it may read now.
fn readable(agent: &Agent, past: Option<&Roster>, now: &Roster) -> Vec<Memory> {
    let current = now.agent(agent.id);
    let allowed = |id: &StreamId| {
        current.is_some_and(|agent| agent.memory == *id || agent.attached.iter().any(|(other, _)| other == id))
    };
    let ids = std::iter::once(agent.memory).chain(agent.attached.iter().map(|(id, _)| *id));
    let there = ids.filter(|id| allowed(id) && now.memory(*id).is_some());
    there.filter_map(|id| past.unwrap_or(now).memory(id).cloned()).collect()
}

/// A memory's part of the text for a prompt.
fn write_section(text: &mut String, agent: &Agent, memory: &Memory, entries: &[Readable]) {
    if entries.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let name = match &memory.name {
        Some(name) if agent.memory != memory.id => name.clone(),
        _ if agent.memory == memory.id => "own memory".to_owned(),
        _ => memory.id.to_string(),
    };
    let about = memory.description.as_ref().map(|description| format!(": {description}")).unwrap_or_default();
    text.push_str(&format!("## {name}{about}\n\n"));
    let layered = memory.user.is_none();
    for entry in entries {
        let mark = if layered && entry.user_id.is_some() { " (this user)" } else { "" };
        text.push_str(&format!("- **{}**{mark}: {}\n", entry.name, entry.description));
    }
}
