//! What memories, agents and the trash are, in as few words as possible: vectors and maps, and the code that a refusal must have.

use std::collections::BTreeMap;

/// A user; none is the account.
pub(crate) type User = Option<usize>;

/// Who calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) user: User,
    /// Of those that were ever created.
    pub(crate) agent: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) name: Option<usize>,
    pub(crate) owner: User,
    /// The living agent whose own it is.
    pub(crate) own_of: Option<usize>,
    /// When it is purged.
    pub(crate) trashed: Option<i64>,
    pub(crate) purged: bool,
    pub(crate) layers: Layers,
}

/// By layer and name.
pub(crate) type Layers = BTreeMap<(User, usize), Entry>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) version: u64,
    /// The text, and which entry it is of: one saved again after it was forgotten is another.
    pub(crate) living: Option<(String, u64)>,
    /// All texts that there were, each with its entry.
    pub(crate) versions: Vec<(String, u64)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) name: usize,
    pub(crate) owner: User,
    pub(crate) own: usize,
    pub(crate) attached: Vec<(usize, bool)>,
    pub(crate) deleted: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Plain {
    pub(crate) memories: Vec<Memory>,
    pub(crate) agents: Vec<Agent>,
    entries: u64,
}

pub(crate) type Code = Result<(), u16>;

impl Plain {
    /// The user that a call acts for.
    pub(crate) fn acting(&self, who: Who) -> Result<User, u16> {
        let Some(agent) = who.agent.map(|agent| &self.agents[agent]) else { return Ok(who.user) };
        let foreign = agent.owner.is_some() && who.user.is_some() && agent.owner != who.user;
        if agent.deleted || foreign { Err(404) } else { Ok(agent.owner.or(who.user)) }
    }

    fn there(&self, memory: usize) -> bool {
        let memory = &self.memories[memory];
        memory.trashed.is_none() && !memory.purged
    }

    fn writes(&self, who: Who, memory: usize) -> Option<bool> {
        let Some(agent) = who.agent.map(|agent| &self.agents[agent]) else { return Some(true) };
        let attached = agent.attached.iter().find(|(id, _)| *id == memory).map(|(_, writes)| *writes);
        if agent.own == memory { Some(true) } else { attached }
    }

    /// Whether the memory is there for who calls.
    pub(crate) fn finds(&self, who: Who, memory: usize) -> Code {
        let user = self.acting(who)?;
        let owner = self.memories[memory].owner;
        if !self.there(memory) || (owner.is_some() && user.is_some() && owner != user) {
            return Err(404);
        }
        self.writes(who, memory).map(drop).ok_or(403)
    }

    pub(crate) fn reads(&self, who: Who, memory: usize) -> Code {
        self.finds(who, memory)?;
        let owner = self.memories[memory].owner;
        if owner.is_none() || owner == self.acting(who)? { Ok(()) } else { Err(403) }
    }

    fn may_write(&self, who: Who, memory: usize) -> Code {
        self.reads(who, memory)?;
        if self.writes(who, memory) == Some(true) { Ok(()) } else { Err(403) }
    }

    /// The layers that a caller reads, in their order.
    pub(crate) fn layers(&self, user: User, memory: usize) -> Vec<User> {
        if user.is_some() && self.memories[memory].owner.is_none() { vec![user, None] } else { vec![user] }
    }

    pub(crate) fn save(&mut self, who: Who, memory: usize, name: usize, text: &str, seen: Option<u64>) -> Code {
        self.may_write(who, memory)?;
        let layer = self.acting(who)?;
        self.entries += 1;
        let new = self.entries;
        let entry = self.memories[memory].layers.entry((layer, name)).or_default();
        if seen.is_some_and(|seen| entry.living.is_none() || seen != entry.version) {
            return Err(409);
        }
        let id = entry.living.as_ref().map_or(new, |living| living.1);
        entry.version += 1;
        entry.living = Some((text.to_owned(), id));
        entry.versions.push((text.to_owned(), id));
        Ok(())
    }

    pub(crate) fn forget(&mut self, who: Who, memory: usize, name: usize, seen: Option<u64>) -> Code {
        self.may_write(who, memory)?;
        let layer = self.acting(who)?;
        let entry = self.memories[memory].layers.get_mut(&(layer, name)).filter(|entry| entry.living.is_some());
        let entry = entry.ok_or(404_u16)?;
        if seen.is_some_and(|seen| seen != entry.version) {
            return Err(409);
        }
        entry.living = None;
        Ok(())
    }

    fn named(&self, owner: User, name: usize) -> Option<usize> {
        let same =
            |(id, memory): &(usize, &Memory)| self.there(*id) && (memory.owner, memory.name) == (owner, Some(name));
        self.memories.iter().enumerate().find(same).map(|(id, _)| id)
    }

    pub(crate) fn create(&mut self, who: Who, name: usize) -> Code {
        let owner = self.acting(who)?;
        if who.agent.is_some() {
            return Err(403);
        }
        if self.named(owner, name).is_some() {
            return Err(409);
        }
        self.memories.push(Memory { name: Some(name), owner, ..Memory::default() });
        Ok(())
    }

    fn attached(&self, memory: usize) -> bool {
        let attaches = |agent: &Agent| !agent.deleted && agent.attached.iter().any(|(id, _)| *id == memory);
        self.agents.iter().any(attaches)
    }

    pub(crate) fn delete(&mut self, who: Who, memory: usize, until: i64) -> Code {
        self.finds(who, memory)?;
        let by_account = who.agent.is_none() && who.user.is_none();
        if !by_account {
            if self.memories[memory].owner != self.acting(who)? {
                return Err(403);
            }
            self.may_write(who, memory)?;
        }
        if self.memories[memory].own_of.is_some() || self.attached(memory) {
            return Err(409);
        }
        self.memories[memory].trashed = Some(until);
        Ok(())
    }

    /// Whether it lies in the trash of who calls.
    fn thrown_away(&self, who: Who, memory: usize) -> Code {
        let user = self.acting(who)?;
        if who.agent.is_some() {
            return Err(403);
        }
        let found = &self.memories[memory];
        if found.trashed.is_some() && !found.purged && found.owner == user { Ok(()) } else { Err(404) }
    }

    pub(crate) fn restore(&mut self, who: Who, memory: usize) -> Code {
        self.thrown_away(who, memory)?;
        let found = &self.memories[memory];
        if found.name.is_some_and(|name| self.named(found.owner, name).is_some()) {
            return Err(409);
        }
        self.memories[memory].trashed = None;
        Ok(())
    }

    pub(crate) fn purge(&mut self, who: Who, memory: usize) -> Code {
        self.thrown_away(who, memory)?;
        self.memories[memory].purged = true;
        Ok(())
    }

    /// Purges by the clock.
    pub(crate) fn tick(&mut self, now: i64) {
        for memory in &mut self.memories {
            memory.purged |= memory.trashed.is_some_and(|until| until <= now);
        }
    }

    fn may_attach(&self, owner: User, own: Option<usize>, memories: &[(usize, bool)]) -> Code {
        for (id, writes) in memories {
            if !self.there(*id) {
                return Err(404);
            }
            if own == Some(*id) {
                return Err(400);
            }
            match (owner, self.memories[*id].owner) {
                (mine, its) if mine == its => {}
                (Some(_), None) if !writes => {}
                (Some(_), Some(_)) => return Err(404),
                _ => return Err(403),
            }
        }
        Ok(())
    }

    pub(crate) fn create_agent(&mut self, who: Who, name: usize, memories: &[(usize, bool)]) -> Code {
        let owner = self.acting(who)?;
        if who.agent.is_some() {
            return Err(403);
        }
        if self.agents.iter().any(|agent| !agent.deleted && (agent.owner, agent.name) == (owner, name)) {
            return Err(409);
        }
        self.may_attach(owner, None, memories)?;
        let (own, attached) = (self.memories.len(), memories.to_vec());
        self.memories.push(Memory { owner, own_of: Some(self.agents.len()), ..Memory::default() });
        self.agents.push(Agent { name, owner, own, attached, deleted: false });
        Ok(())
    }

    /// Whether who calls may change an agent.
    fn changes(&self, who: Who, agent: usize, deletes: bool) -> Code {
        let user = self.acting(who)?;
        if who.agent.is_some() {
            return Err(403);
        }
        let found = &self.agents[agent];
        if found.deleted || (found.owner.is_some() && user.is_some() && found.owner != user) {
            return Err(404);
        }
        if found.owner == user || (deletes && user.is_none()) { Ok(()) } else { Err(403) }
    }

    pub(crate) fn attach(&mut self, who: Who, agent: usize, memories: &[(usize, bool)]) -> Code {
        self.changes(who, agent, false)?;
        let found = &self.agents[agent];
        self.may_attach(found.owner, Some(found.own), memories)?;
        self.agents[agent].attached = memories.to_vec();
        Ok(())
    }

    pub(crate) fn delete_agent(&mut self, who: Who, agent: usize, until: i64) -> Code {
        self.changes(who, agent, true)?;
        let own = self.agents[agent].own;
        if self.attached(own) {
            return Err(409);
        }
        self.agents[agent].deleted = true;
        (self.memories[own].own_of, self.memories[own].trashed) = (None, Some(until));
        Ok(())
    }
}

impl Plain {
    /// What a user reads of a memory now, by name, the layers in their order: the text and its entry.
    pub(crate) fn readable(&self, user: User, memory: usize) -> BTreeMap<usize, Vec<(User, String, u64)>> {
        let mut found: BTreeMap<usize, Vec<(User, String, u64)>> = BTreeMap::new();
        for layer in self.layers(user, memory) {
            for ((of, name), entry) in &self.memories[memory].layers {
                if let Some((text, id)) = entry.living.as_ref().filter(|_| *of == layer) {
                    found.entry(*name).or_default().push((layer, text.clone(), *id));
                }
            }
        }
        found
    }

    /// Whether an entry was forgotten since, or its memory is not there any more.
    pub(crate) fn lives(&self, memory: usize, entry: u64) -> bool {
        let living = |it: &Entry| it.living.as_ref().is_some_and(|(_, id)| *id == entry);
        self.there(memory) && self.memories[memory].layers.values().any(living)
    }
}
