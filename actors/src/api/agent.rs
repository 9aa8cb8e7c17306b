//! `agent.*`: agents, the memories that they attach, and what they are shown at the start of a turn.

use serde::{Deserialize, Serialize};

use super::{AsOf, Done, Time, verb};

/// A memory that an agent attaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// The memory's id.
    pub memory: String,
    /// Whether the agent may change it as well as read it; it may not when left out.
    #[serde(default)]
    pub writes: bool,
}

/// An agent that attaches a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedTo {
    /// The agent's id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether it may change the memory.
    pub writes: bool,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Its id: what `Memlog-Agent` names.
    pub id: String,
    /// Unique in its scope.
    pub name: String,
    /// What it is told to do.
    pub instructions: Option<String>,
    /// Its own memory, which it always reads and writes.
    pub memory_id: String,
    /// What it attaches besides, in order.
    pub memories: Vec<Attachment>,
    /// The user whose it is; null is the account.
    pub user_id: Option<String>,
    /// When it was created.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

/// `agent.create`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// 1 to 64 characters.
    pub name: String,
    /// What it is told to do, at most 32,768 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// At most 10, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memories: Option<Vec<Attachment>>,
}

/// A reply that is an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneAgent {
    /// The agent.
    pub agent: Agent,
}
verb!(Create, "agent", "create", OneAgent, agent_create);

/// `agent.get`: by `id` or by `name`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Creates it in the caller's own scope, if that has none of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_if_missing: Option<bool>,
    /// Of the one that is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Of the one that is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memories: Option<Vec<Attachment>>,
    /// Read it as it was; then nothing is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}
verb!(Get, "agent", "get", OneAgent, agent_get);

/// `agent.update`: what is left out is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Update {
    /// Its id.
    pub id: String,
    /// Its new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its new instructions; the empty string takes them away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// All that it attaches from here on, in order, at most 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memories: Option<Vec<Attachment>>,
}
verb!(Update, "agent", "update", OneAgent, agent_update);

/// `agent.delete`: its own memory goes to the trash with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// Its id.
    pub id: String,
}
verb!(Delete, "agent", "delete", Done, agent_delete);

/// `agent.list`: the caller's own and the account's, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// 1 to 500, 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `agent.list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// A page of them.
    pub agents: Vec<Agent>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
verb!(List, "agent", "list", Listed, agent_list);

/// How a brief is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Besides the entries a text for a prompt.
    Markdown,
}

/// `agent.brief`: the names and descriptions of every entry that an agent can read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Brief {
    /// The agent's id.
    pub agent: String,
    /// `markdown` adds `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// An entry that an agent can read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readable {
    /// The memory's id.
    pub memory: String,
    /// The entry's name.
    pub name: String,
    /// One line.
    pub description: String,
    /// The user whose layer it lies in; null is the account's.
    pub user_id: Option<String>,
}

/// Reply of `agent.brief`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Briefed {
    /// Of its own memory first, then of the attached in order; in each by name.
    pub entries: Vec<Readable>,
    /// The same for a prompt, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
verb!(Brief, "agent", "brief", Briefed, agent_brief);
