//! The view of a registry: every memory and agent of a namespace by name and id, what is attached, what lies in the trash.

use std::collections::{BTreeSet, HashMap};

use memlog_events::{
    event::{AgentCreatedV1, Content, Facts, MemoryCreatedV1},
    ids::{AgentId, Micros, Slot, StreamId, Version},
    log::{Error, Log, Sealed, Stored},
};
use uuid::Uuid;

use super::{
    Folded,
    order::{Order, Spot},
};

/// A memory, but for its entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Its id, and its notebook's stream.
    pub id: StreamId,
    /// Its slot.
    pub slot: Slot,
    /// The user whose it is.
    pub user: Option<String>,
    /// An agent's own has none.
    pub name: Option<String>,
    /// One line.
    pub description: Option<String>,
    /// The agent whose own it is.
    pub agent: Option<AgentId>,
    /// Whether it was made as an agent's own.
    pub was_own: bool,
    /// When.
    pub created_at: Micros,
    /// When its name or its description last changed, or it came back from the trash.
    pub updated_at: Micros,
    /// Since when it lies in the trash, and until when.
    pub trashed: Option<Trashed>,
}

/// A time in the trash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trashed {
    /// Since when.
    pub at: Micros,
    /// Until when.
    pub until: Micros,
}

/// An agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// The user whose it is.
    pub user: Option<String>,
    /// Its name.
    pub name: String,
    /// The event of the registry that has its instructions.
    pub instructions: Option<Version>,
    /// Its own memory.
    pub memory: StreamId,
    /// What it attaches besides, and whether it may write it.
    pub attached: Vec<(StreamId, bool)>,
    /// When.
    pub created_at: Micros,
    /// When it last changed.
    pub updated_at: Micros,
}

/// Whose, and what it is called.
type Owned = (Option<String>, String);

/// A namespace's registry as reads see it.
#[derive(Default)]
pub struct Roster {
    memories: HashMap<StreamId, Memory>,
    agents: HashMap<AgentId, Agent>,
    memory_names: HashMap<Owned, StreamId>,
    agent_names: HashMap<Owned, AgentId>,
    /// Each agent's own memory, also of those whose other traces are erased.
    own: HashMap<AgentId, StreamId>,
    attached: HashMap<StreamId, BTreeSet<AgentId>>,
    memory_order: Order,
    agent_order: Order,
    trash: Order,
    bytes: usize,
}

/// What a row costs besides its texts: the maps, the orders, the struct.
const ROW_BYTES: usize = 400;

impl Roster {
    /// A memory that is not in the trash.
    pub fn memory(&self, id: StreamId) -> Option<&Memory> {
        self.memories.get(&id).filter(|memory| memory.trashed.is_none())
    }

    /// A memory, in the trash or not.
    pub fn any(&self, id: StreamId) -> Option<&Memory> {
        self.memories.get(&id)
    }

    /// The memory that is or was an agent's own, also when both are gone.
    pub fn own_memory(&self, agent: AgentId) -> Option<StreamId> {
        self.own.get(&agent).copied()
    }

    /// The memory of that name and owner.
    pub fn memory_named(&self, user: Option<&str>, name: &str) -> Option<&Memory> {
        self.memory(*self.memory_names.get(&owned(user, name))?)
    }

    /// A memory in the trash whose time there is not over.
    pub fn in_trash(&self, id: StreamId, now: Micros) -> Option<(&Memory, Trashed)> {
        let memory = self.memories.get(&id)?;
        memory.trashed.filter(|trashed| trashed.until > now).map(|trashed| (memory, trashed))
    }

    /// An agent.
    pub fn agent(&self, id: AgentId) -> Option<&Agent> {
        self.agents.get(&id)
    }

    /// The agent of that name and owner.
    pub fn agent_named(&self, user: Option<&str>, name: &str) -> Option<&Agent> {
        self.agent(*self.agent_names.get(&owned(user, name))?)
    }

    /// The agents that attach a memory besides the one whose own it is, in the order of their creation.
    pub fn attached_to(&self, memory: StreamId) -> impl Iterator<Item = (&Agent, bool)> {
        let agents = self.attached.get(&memory).into_iter().flatten().filter_map(|id| self.agents.get(id));
        agents.filter_map(move |agent| {
            let (_, writes) = agent.attached.iter().find(|(id, _)| *id == memory)?;
            Some((agent, *writes))
        })
    }

    /// A page of named memories, newest first.
    pub fn memories(
        &self,
        owners: Option<&[Option<String>]>,
        before: Option<Spot>,
        limit: usize,
        keep: impl Fn(&Memory) -> bool,
    ) -> Vec<&Memory> {
        let get = |id: Uuid| self.memory(StreamId(id)).filter(|memory| memory.agent.is_none() && keep(memory));
        let page = self.memory_order.newest(owners, before, limit, |id| get(id).is_some());
        page.into_iter().filter_map(get).collect()
    }

    /// A page of agents, newest first.
    pub fn agents(
        &self,
        owners: Option<&[Option<String>]>,
        before: Option<Spot>,
        limit: usize,
        keep: impl Fn(&Agent) -> bool,
    ) -> Vec<&Agent> {
        let get = |id: Uuid| self.agent(AgentId(id)).filter(|agent| keep(agent));
        let page = self.agent_order.newest(owners, before, limit, |id| get(id).is_some());
        page.into_iter().filter_map(get).collect()
    }

    /// A page of one owner's trash, what was deleted last first.
    pub fn trash(
        &self,
        owner: &Option<String>,
        before: Option<Spot>,
        limit: usize,
        now: Micros,
    ) -> Vec<(&Memory, Trashed)> {
        let get = |id: Uuid| self.in_trash(StreamId(id), now);
        let owners = std::slice::from_ref(owner);
        let page = self.trash.newest(Some(owners), before, limit, |id| get(id).is_some());
        page.into_iter().filter_map(get).collect()
    }

    /// The ids of all memories that are not purged.
    pub fn all(&self) -> impl Iterator<Item = StreamId> {
        self.memories.keys().copied()
    }
}

fn owned(user: Option<&str>, name: &str) -> Owned {
    (user.map(str::to_owned), name.to_owned())
}

impl Folded for Roster {
    fn apply(&mut self, log: &Log, event: &Stored) -> Result<(), Error> {
        let content = match log.open_content(event)? {
            Sealed::Open(content) => Some(content),
            Sealed::Erased | Sealed::None => None,
        };
        let time = event.head.time;
        match (&event.facts, content) {
            // Without its content it was purged since, and never was.
            (Facts::MemoryCreated(e), Some(Content::MemoryCreated(content))) => {
                let (user, name, description) = (content.user_id, content.name, content.description);
                self.add_memory(e, user, (name, description), time);
            }
            (Facts::MemoryUpdated(e), Some(Content::MemoryUpdated(content))) => {
                self.rename(e.memory, content.name);
                self.change(e.memory, time, |memory| {
                    if let Some(description) = content.description {
                        memory.description = Some(description).filter(|text| !text.is_empty());
                    }
                });
            }
            (Facts::Trashed(e), _) => self.trash_memory(e.memory, Trashed { at: time, until: e.expires_at }),
            (Facts::Restored(e), _) => self.restore(e.memory, time),
            (Facts::Purged(e), _) => self.purge(e.memory),
            // Which memory is its own stays known: a repeat of what made it still says so.
            (Facts::AgentCreated(e), None) => self.own.extend([(e.agent, e.memory)]),
            (Facts::AgentCreated(e), Some(Content::AgentCreated(content))) => {
                let instructions = content.instructions.filter(|text| !text.is_empty());
                let instructions = instructions.map(|_| event.head.version);
                self.add_agent(e, content.user_id, content.name, instructions, time);
            }
            (Facts::AgentUpdated(e), Some(Content::AgentUpdated(content))) => {
                let instructions = content.instructions.map(|text| (!text.is_empty()).then_some(event.head.version));
                self.update_agent(e.agent, content.name, instructions, time);
            }
            (Facts::Attached(e), _) => self.attach(e.agent, &e.memories, time),
            (Facts::AgentDeleted(e), _) => self.remove_agent(e.agent),
            _ => {}
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Roster {
    fn add_memory(
        &mut self,
        e: &MemoryCreatedV1,
        user: Option<String>,
        (name, description): (Option<String>, Option<String>),
        at: Micros,
    ) {
        let description = description.filter(|text| !text.is_empty());
        self.bytes += ROW_BYTES + [&user, &name, &description].into_iter().flatten().map(String::len).sum::<usize>();
        self.memory_order.insert(user.as_ref(), (at, e.memory.0));
        let memory = Memory {
            id: e.memory,
            slot: e.slot,
            user,
            name,
            description,
            agent: e.agent,
            was_own: e.agent.is_some(),
            created_at: at,
            updated_at: at,
            trashed: None,
        };
        self.memories.insert(e.memory, memory);
        self.own.extend(e.agent.map(|agent| (agent, e.memory)));
        self.take_name(e.memory);
    }

    fn change(&mut self, memory: StreamId, time: Micros, change: impl FnOnce(&mut Memory)) {
        if let Some(memory) = self.memories.get_mut(&memory) {
            change(memory);
            memory.updated_at = time;
        }
    }

    fn take_name(&mut self, memory: StreamId) {
        let named = self.memories.get(&memory).and_then(|it| Some((it.user.clone(), it.name.clone()?)));
        if let Some(name) = named {
            self.memory_names.insert(name, memory);
        }
    }

    fn leave_name(&mut self, memory: StreamId) {
        let named = self.memories.get(&memory).and_then(|it| Some((it.user.clone(), it.name.clone()?)));
        if let Some(name) = named {
            self.memory_names.remove(&name);
        }
    }

    fn rename(&mut self, memory: StreamId, name: Option<String>) {
        if name.is_some() {
            self.leave_name(memory);
            if let Some(memory) = self.memories.get_mut(&memory) {
                memory.name = name;
            }
            self.take_name(memory);
        }
    }

    fn trash_memory(&mut self, memory: StreamId, trashed: Trashed) {
        self.leave_name(memory);
        if let Some(memory) = self.memories.get_mut(&memory) {
            memory.trashed = Some(trashed);
            self.trash.insert(memory.user.as_ref(), (trashed.at, memory.id.0));
            self.memory_order.remove(memory.user.as_ref(), (memory.created_at, memory.id.0));
        }
    }

    fn restore(&mut self, memory: StreamId, time: Micros) {
        let Some(found) = self.memories.get_mut(&memory) else { return };
        if let Some(trashed) = found.trashed.take() {
            self.trash.remove(found.user.as_ref(), (trashed.at, found.id.0));
            self.memory_order.insert(found.user.as_ref(), (found.created_at, found.id.0));
        }
        found.updated_at = time;
        self.take_name(memory);
    }

    fn purge(&mut self, memory: StreamId) {
        // One that is purged again in a restored copy was in no trash there: its name and its agents still know it.
        if self.memories.get(&memory).is_some_and(|it| it.trashed.is_none()) {
            self.leave_name(memory);
            for id in self.attached.remove(&memory).unwrap_or_default() {
                if let Some(agent) = self.agents.get_mut(&id) {
                    agent.attached.retain(|(other, _)| *other != memory);
                }
            }
        }
        let Some(gone) = self.memories.remove(&memory) else { return };
        match gone.trashed {
            Some(trashed) => self.trash.remove(gone.user.as_ref(), (trashed.at, gone.id.0)),
            None => self.memory_order.remove(gone.user.as_ref(), (gone.created_at, gone.id.0)),
        }
        self.bytes = self.bytes.saturating_sub(ROW_BYTES);
    }
}

impl Roster {
    fn add_agent(
        &mut self,
        e: &AgentCreatedV1,
        user: Option<String>,
        name: String,
        instructions: Option<Version>,
        at: Micros,
    ) {
        self.bytes += ROW_BYTES + name.len() + user.as_ref().map_or(0, String::len);
        self.agent_order.insert(user.as_ref(), (at, e.agent.0));
        self.agent_names.insert((user.clone(), name.clone()), e.agent);
        let (id, memory, attached) = (e.agent, e.memory, Vec::new());
        let agent = Agent { id, user, name, instructions, memory, attached, created_at: at, updated_at: at };
        self.agents.insert(e.agent, agent);
    }

    fn update_agent(
        &mut self,
        agent: AgentId,
        name: Option<String>,
        instructions: Option<Option<Version>>,
        time: Micros,
    ) {
        let Some(agent) = self.agents.get_mut(&agent) else { return };
        if let Some(name) = name {
            self.agent_names.remove(&owned(agent.user.as_deref(), &agent.name));
            agent.name = name;
            self.agent_names.insert(owned(agent.user.as_deref(), &agent.name), agent.id);
        }
        if let Some(instructions) = instructions {
            agent.instructions = instructions;
        }
        agent.updated_at = time;
    }

    fn attach(&mut self, id: AgentId, memories: &[(StreamId, bool)], time: Micros) {
        self.detach(id);
        let Some(agent) = self.agents.get_mut(&id) else { return };
        agent.attached = memories.to_vec();
        agent.updated_at = time;
        for (memory, _) in memories {
            self.attached.entry(*memory).or_default().insert(id);
        }
    }

    fn detach(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get_mut(&id) else { return };
        for (memory, _) in std::mem::take(&mut agent.attached) {
            if let Some(agents) = self.attached.get_mut(&memory) {
                agents.remove(&id);
                if agents.is_empty() {
                    self.attached.remove(&memory);
                }
            }
        }
    }

    fn remove_agent(&mut self, id: AgentId) {
        // If it is restored it is a memory like any other.
        if let Some(memory) = self.own.remove(&id).and_then(|own| self.memories.get_mut(&own)) {
            memory.agent = None;
        }
        self.detach(id);
        let Some(agent) = self.agents.remove(&id) else { return };
        self.agent_names.remove(&owned(agent.user.as_deref(), &agent.name));
        self.agent_order.remove(agent.user.as_ref(), (agent.created_at, id.0));
        self.bytes = self.bytes.saturating_sub(ROW_BYTES);
    }
}
