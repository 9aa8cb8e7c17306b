//! The one table of verbs. It serves the door, `$SRV.INFO` and whatever else must know what there is. A new verb is a row
//! here, with `read` if it only answers, `question` if it asks a model in order to, and `command` if it appends: nothing else in the
//! door knows one verb from another.

use std::{collections::HashMap, fmt, sync::LazyLock};

use futures::{FutureExt, future::BoxFuture};
use memlog_actors::{
    api::{Answer, Context, Error, Verb, agent, audit, job, memory, note, profile, speaker, thread, trash},
    system::System,
};
use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
    forward_to_deserialize_any,
};

use super::decode::decode;

/// Whether a verb changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Answers from the log; a repeated call is a new question.
    Read,
    /// Appends to the log; idempotent under a key.
    Command,
}

/// An encoded reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// One JSON object.
    pub body: Vec<u8>,
    /// Whether an earlier reply is given again.
    pub replayed: bool,
}

/// A decoded request, whatever its type.
pub trait Call: Send {
    /// Whether it may take long by its nature, and so is counted apart from the others.
    fn waits(&self) -> bool;
    /// The profile that it is about; empty if it is about none.
    fn profile(&self) -> &str;
    /// Does it.
    fn run<'a>(self: Box<Self>, system: &'a System, context: &'a Context) -> BoxFuture<'a, Result<Reply, Error>>;
    /// The request as a client of this package would write it: what was understood, in bytes that mean the same.
    fn written(&self) -> Result<Vec<u8>, serde_json::Error>;
}

type Decode = Box<dyn Fn(&[u8]) -> Result<Box<dyn Call>, Error> + Send + Sync>;

/// One verb.
pub struct Row {
    /// The noun in its subject.
    pub noun: &'static str,
    /// The verb in its subject.
    pub verb: &'static str,
    /// Whether it changes anything.
    pub kind: Kind,
    /// Whether it is a read that asks a model, and so may wait for one as long as a model may take.
    pub asks_model: bool,
    /// One line for people.
    pub about: &'static str,
    /// The names of its request's fields.
    pub fields: &'static [&'static str],
    decode: Decode,
}

impl Row {
    /// Reads a request of this verb.
    pub fn decode(&self, body: &[u8]) -> Result<Box<dyn Call>, Error> {
        (self.decode)(body)
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.noun, self.verb)
    }
}

/// All verbs, in the order of the documentation.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Row>,
    places: HashMap<String, usize>,
}

impl Table {
    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The place in [`Table::rows`] of `noun.verb`.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }
}

/// The table.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let rows = rows();
    let places = rows.iter().enumerate().map(|(place, row)| (format!("{}.{}", row.noun, row.verb), place)).collect();
    Table { rows, places }
});

fn rows() -> Vec<Row> {
    let mut rows = profile_rows();
    rows.extend(notebook_rows());
    rows.extend(note_rows());
    rows.extend(log_rows());
    rows
}

fn profile_rows() -> Vec<Row> {
    vec![
        command::<profile::Get>("The profile with its counts; creates it if new"),
        read::<profile::List>("Profiles, newest first"),
        command::<profile::Delete>("Forgets a profile and all in it"),
        row::<profile::Ingest>(Kind::Command, "Stores a conversation and queues its extraction", |request| {
            request.wait == Some(true)
        }),
        command::<profile::AddTurn>("Appends what the user and the assistant said"),
        command::<profile::Remember>("Saves one memory, unless a valid one says the same"),
        question::<profile::Recall>("An answer with its sources"),
        question::<profile::Search>("Memories and messages, best first"),
        read::<profile::Memories>("A page of memories, newest first"),
        read::<profile::Memory>("One memory"),
        read::<profile::History>("The events of one memory, oldest first"),
        command::<profile::Supersede>("Puts a new memory in the place of an old one"),
        command::<profile::Forget>("Forgets a memory and its source messages for real"),
        command::<profile::DeleteSession>("Forgets a session"),
        read::<profile::Summary>("Markdown over everything stored"),
        row::<profile::Wait>(Kind::Read, "Waits until extraction accepted before is done", |_| true),
        command::<speaker::Add>("Registers a speaker"),
        read::<speaker::List>("Registered speakers"),
        command::<speaker::Remove>("Takes a speaker's name off everything"),
        read::<speaker::Memories>("What one speaker said, newest first"),
        command::<thread::Create>("Begins a thread, with its owner and its settings"),
        read::<thread::Get>("One thread"),
        read::<thread::List>("Threads, newest first"),
        command::<thread::Delete>("Forgets a thread and all in it"),
        row::<thread::AddMessages>(Kind::Command, "Appends messages and begins their extraction", |_| true),
        read::<thread::GetMessages>("Messages of a thread, in order"),
        read::<thread::GetMessage>("One message"),
        row::<thread::UpdateMessage>(Kind::Command, "Changes a message and extracts from it again", |_| true),
        row::<thread::DeleteMessage>(Kind::Command, "Forgets a message, and memories made from it alone", |_| true),
        command::<thread::AddMemory>("Saves a typed memory, perhaps with a link"),
        command::<thread::UpdateMemory>("Changes a memory"),
        row::<thread::DeleteMemory>(Kind::Command, "Forgets a memory; its messages stay", |_| true),
        command::<thread::LinkRecords>("Links two memories of a thread"),
        command::<thread::UpdateRecordLink>("Changes what a link says"),
        command::<thread::DeleteRecordLink>("Forgets a link"),
        read::<thread::ListRecordLinks>("The links of a memory, both ways"),
        question::<thread::Search>("Memories, messages and images in a scope, best first"),
        row::<thread::AddImage>(Kind::Command, "Stores an image of a thread", |it| it.description.is_none()),
        read::<thread::ListImages>("Images of a thread; bytes of one on request"),
        row::<thread::UpdateImage>(Kind::Command, "Changes an image", |it| it.description == Some(None)),
        command::<thread::DeleteImage>("Forgets an image that is no part of a message"),
        question::<thread::GetContextCard>("What an agent should know of a thread, as text for its prompt"),
        row::<thread::GetSummary>(Kind::Read, "What a thread has been about", |_| true),
        row::<thread::WaitForMemoryExtraction>(Kind::Read, "Waits until extraction accepted before is done", |_| true),
    ]
}

fn notebook_rows() -> Vec<Row> {
    vec![
        command::<memory::Create>("Creates an empty memory: a named notebook of entries"),
        command::<memory::Get>("A memory by id or name; creates it if asked to"),
        read::<memory::List>("Named memories, newest first"),
        command::<memory::Update>("Renames or describes a memory"),
        command::<memory::Delete>("Puts a memory into the trash"),
        command::<memory::Save>("Writes an entry: a new one, or a new version"),
        read::<memory::Read>("One entry in full"),
        command::<memory::Forget>("Forgets an entry with all its versions for real"),
        read::<memory::Entries>("The entries of one layer, by name, without contents"),
        read::<memory::Search>("Entries whose words begin with the query's, best first"),
        read::<memory::History>("Every version of an entry, oldest first"),
        command::<agent::Create>("Creates an agent with a memory of its own"),
        command::<agent::Get>("An agent by id or name; creates it if asked to"),
        command::<agent::Update>("Renames or instructs an agent, or changes what it attaches"),
        command::<agent::Delete>("Deletes an agent; its own memory goes to the trash"),
        read::<agent::List>("Agents, newest first"),
        read::<agent::Brief>("The names and descriptions of all entries that an agent can read"),
        read::<trash::List>("What was deleted in the last 30 days"),
        command::<trash::Restore>("Takes a memory out of the trash, with everything"),
        command::<trash::Purge>("Erases what lies in the trash for good"),
    ]
}

fn note_rows() -> Vec<Row> {
    vec![
        command::<note::SessionConnect>("A session, how many critical notes it must load, and the rules"),
        read::<note::MemoryList>("The notes that the caller reads, by level and category"),
        read::<note::MemoryLoad>("Notes in full, in order of precedence; they count as read"),
        command::<note::MemorySave>("Saves a note of the login's own"),
        command::<note::MemoryRemove>("Removes a note of the login's own for real"),
        read::<note::AdminList>("Everyone's notes"),
        command::<note::AdminSave>("Saves anyone's note"),
        command::<note::AdminRemove>("Removes anyone's note for real"),
        read::<note::Kinds>("The kinds of notes, and what they count as"),
        command::<note::KindAdd>("Adds a kind of notes"),
        command::<note::EditorOpen>("Holds the notes for 60 seconds, or 60 more"),
        command::<note::EditorClose>("Gives the notes back"),
    ]
}

fn log_rows() -> Vec<Row> {
    vec![
        read::<job::Get>("One extraction job"),
        read::<job::List>("Extraction jobs, newest first"),
        command::<job::Retry>("Queues a failed job again"),
        read::<audit::Events>("Events of the log without content, ascending"),
        read::<audit::Verify>("Checks every chain, hash and key of the log"),
        read::<audit::Export>("Events as JSON Lines"),
        read::<audit::Stats>("Counts and the head of the log"),
    ]
}

fn read<V: Verb>(about: &'static str) -> Row {
    row::<V>(Kind::Read, about, |_| false)
}

fn question<V: Verb>(about: &'static str) -> Row {
    Row { asks_model: true, ..read::<V>(about) }
}

fn command<V: Verb>(about: &'static str) -> Row {
    row::<V>(Kind::Command, about, |_| false)
}

fn row<V: Verb>(kind: Kind, about: &'static str, waits: fn(&V) -> bool) -> Row {
    let fields = fields_of::<V>();
    let decode: Decode = Box::new(move |body| {
        let request: V = decode(body)?;
        let profile = if fields.contains(&"profile") { profile_of(body) } else { String::new() };
        Ok(Box::new(Decoded { waits: waits(&request), profile, request }))
    });
    Row { noun: V::NOUN, verb: V::VERB, kind, asks_model: false, about, fields, decode }
}

/// The profile that a request names, which has been found to be well formed.
fn profile_of(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct About {
        profile: Option<String>,
    }
    serde_json::from_slice::<About>(body).ok().and_then(|about| about.profile).unwrap_or_default()
}

struct Decoded<V> {
    request: V,
    profile: String,
    waits: bool,
}

impl<V: Verb> Call for Decoded<V> {
    fn waits(&self) -> bool {
        self.waits
    }

    fn profile(&self) -> &str {
        &self.profile
    }

    fn run<'a>(self: Box<Self>, system: &'a System, context: &'a Context) -> BoxFuture<'a, Result<Reply, Error>> {
        async move {
            let Answer { reply, replayed } = self.request.run(system, context).await?;
            // Replies are structs with names for keys, which cannot fail to encode; a broken one must not pass for an answer.
            let body = serde_json::to_vec(&reply).map_err(|error| {
                tracing::error!(noun = V::NOUN, verb = V::VERB, %error, "a reply cannot be encoded");
                Error::unavailable("the reply could not be written", super::RESTART_RETRY_MS)
            })?;
            Ok(Reply { body, replayed })
        }
        .boxed()
    }

    fn written(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&self.request)
    }
}

/// The names of a request's fields, which serde's derive tells whoever pretends to read one.
fn fields_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    match T::deserialize(Probe) {
        Err(Probed(fields)) => fields,
        Ok(_) => &[],
    }
}

struct Probe;

#[derive(Debug, thiserror::Error)]
#[error("a probe holds no value")]
struct Probed(&'static [&'static str]);

impl de::Error for Probed {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(&[])
    }
}

impl<'de> Deserializer<'de> for Probe {
    type Error = Probed;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Probed> {
        Err(Probed(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Probed> {
        Err(Probed(fields))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, TABLE};

    /// A verb listed twice would answer for the other's request type.
    #[test]
    fn every_row_has_a_name_of_its_own() {
        for (place, row) in TABLE.rows().iter().enumerate() {
            assert_eq!(TABLE.place(&format!("{}.{}", row.noun, row.verb)), Some(place));
        }
    }

    /// One that waits for the model in the turns of plain reads would keep them all waiting.
    #[test]
    fn questions_are_the_reads_that_ask_a_model() {
        let asking: Vec<_> = TABLE.rows().iter().filter(|row| row.asks_model).map(|row| format!("{row:?}")).collect();
        assert_eq!(asking, ["profile.recall", "profile.search", "thread.search", "thread.get_context_card"]);
    }

    /// Discovery tells clients what to send; the names come from the structs, not from a second list.
    #[test]
    fn rows_know_their_requests() {
        let row = &TABLE.rows()[TABLE.place("profile.ingest").unwrap()];
        assert_eq!(row.fields, ["profile", "messages", "session_id", "wait", "timeout_s"]);
        assert_eq!(row.kind, Kind::Command);
        // It creates what it does not find, so a repeated one must not create it a second time.
        assert_eq!(TABLE.rows()[TABLE.place("profile.get").unwrap()].kind, Kind::Command);
        let waiting = row.decode(br#"{"profile":"a","messages":[],"wait":true}"#).unwrap();
        let swift = row.decode(br#"{"profile":"a","messages":[]}"#).unwrap();
        assert!(waiting.waits() && !swift.waits());
        assert_eq!(swift.profile(), "a");
    }
}
