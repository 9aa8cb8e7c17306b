//! Given, when, then: a stream that lives in memory, with a clock, ids and slots that count up.

use memlog_events::{
    code::{MimeCode, RoleCode, TypeCode},
    event::{ByV1, ImageAddedContentV1, ImageFormV1, MessageAppendedContentV2, SavedContentV1},
    ids::{Digest, ImageId, MessageId, Micros, Partition, Scope, Slot, StreamId, StreamKey},
};
use uuid::Uuid;

use super::{
    Aggregate, Command, Fact, Inputs, Place, Rejection,
    notebook::{EntryName, SaveEntry},
    notes::{Placing, Role, SaveNote, Texts},
    profile::Create,
    record::NewRecord,
    registry::{self, CreateAgent, CreateMemory, Registry},
    thread::{AddImage, Append, Extraction, Ingest, NewImage, NewMessage, Open, Thread},
};

struct Counting {
    now: i64,
    uuid: u128,
    slot: u64,
}

impl Inputs for Counting {
    fn now(&self) -> Micros {
        Micros(self.now)
    }

    fn uuid(&mut self) -> Uuid {
        self.uuid += 1;
        Uuid::from_u128(self.uuid)
    }

    fn slot(&mut self) -> Slot {
        self.slot += 1;
        Slot(self.slot)
    }

    fn digest(&self, slot: Slot, parts: &[&[u8]]) -> Digest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&slot.0.to_be_bytes());
        for part in parts {
            hasher.update(&(part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        Digest(*hasher.finalize().as_bytes())
    }
}

/// One stream's story.
pub(crate) struct Story<A> {
    /// What the events so far amount to.
    pub(crate) state: A,
    events: Vec<Fact>,
    inputs: Counting,
    place: Place,
}

impl<A: Aggregate> Story<A> {
    pub(crate) fn new() -> Self {
        let scope = Scope(Uuid::from_u128(1 << 64));
        let key = StreamKey { partition: Partition(0), scope, stream: StreamId(Uuid::from_u128(2 << 64)) };
        let inputs = Counting { now: 1_000_000, uuid: 100, slot: 10 };
        Self { state: A::default(), events: Vec::new(), inputs, place: Place { key, scope_slot: Slot(1) } }
    }

    pub(crate) fn now(&self) -> Micros {
        self.inputs.now()
    }

    pub(crate) fn advance(&mut self, micros: i64) {
        self.inputs.now += micros;
    }

    pub(crate) fn try_<C: Command<A>>(&mut self, command: C) -> Result<C::Answer, Rejection> {
        let decision = command.decide(&self.state, &self.place, &mut self.inputs)?;
        for event in &decision.events {
            self.state.evolve(&event.facts, self.inputs.now());
        }
        self.events.extend(decision.events);
        Ok(decision.answer)
    }

    /// What a command would answer; nothing happens.
    pub(crate) fn would<C: Command<A>>(&mut self, command: C) -> C::Answer {
        command.decide(&self.state, &self.place, &mut self.inputs).expect("accepted").answer
    }

    /// Of a statement, as records of this story have it.
    pub(crate) fn fingerprint(&self, normalised: &str) -> Digest {
        self.inputs.digest(self.place.scope_slot, &[b"statement", normalised.as_bytes()])
    }

    pub(crate) fn do_<C: Command<A>>(&mut self, command: C) -> C::Answer {
        self.try_(command).expect("accepted")
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.events.iter().map(|event| event.facts.name()).collect()
    }

    pub(crate) fn facts(&self) -> impl Iterator<Item = &memlog_events::event::Facts> {
        self.events.iter().map(|event| &event.facts)
    }

    pub(crate) fn events(&self) -> &[Fact] {
        &self.events
    }

    pub(crate) fn last(&self) -> &Fact {
        self.events.last().expect("something happened")
    }
}

pub(crate) fn create_profile() -> Create {
    Create {
        namespace: "acme".to_owned(),
        namespace_digest: [7; 16],
        name: "alice".to_owned(),
        name_digest: Digest([7; 32]),
        by: ByV1::default(),
    }
}

pub(crate) fn open(thread_id: &str) -> Open {
    Open {
        thread_id: thread_id.to_owned(),
        id_digest: Digest([8; 32]),
        derived: false,
        user_id: None,
        agent_id: None,
        metadata: "{}".to_owned(),
        settings: "{}".to_owned(),
        by: ByV1::default(),
    }
}

pub(crate) fn record(content: &str) -> NewRecord {
    NewRecord {
        record_type: TypeCode::FACT,
        speaker: None,
        timestamp: None,
        expires_at: None,
        sources: Vec::new(),
        job: None,
        content: SavedContentV1 {
            content: content.to_owned(),
            summary: content.to_owned(),
            metadata: "{}".to_owned(),
            given_id: None,
            user_id: None,
            agent_id: None,
            by: ByV1::default(),
        },
    }
}

pub(crate) fn message(text: &str) -> NewMessage {
    NewMessage {
        role: RoleCode::USER,
        speaker: None,
        timestamp: None,
        offset_seconds: 0,
        expires_at: None,
        images: Vec::new(),
        content: MessageAppendedContentV2 {
            text: text.to_owned(),
            parts: Vec::new(),
            given_id: None,
            custom_role: None,
            metadata: "{}".to_owned(),
            by: ByV1::default(),
        },
    }
}

pub(crate) fn ingest(thread_id: &str, texts: &[&str]) -> Ingest {
    Ingest {
        open: Some(open(thread_id)),
        namespace_digest: [7; 16],
        messages: texts.iter().map(|text| message(text)).collect(),
        append: Append::News,
        extraction: Extraction::AtOnce,
        by: ByV1::default(),
    }
}

pub(crate) fn entry(user: Option<&str>, name: &str) -> EntryName {
    EntryName { notebook: Slot(2), user: user.map(str::to_owned), name: name.to_owned() }
}

pub(crate) fn save(user: Option<&str>, name: &str) -> SaveEntry {
    SaveEntry {
        entry: entry(user, name),
        description: Some("How we write".to_owned()),
        content: "Warm and brief.".to_owned(),
        expected: None,
        by: ByV1::default(),
    }
}

/// A registry that has begun.
pub(crate) fn registry() -> Story<Registry> {
    let mut given = Story::new();
    given.do_(registry::Open {
        namespace: "acme".to_owned(),
        namespace_digest: [7; 16],
        claim: Digest([9; 32]),
        by: ByV1::default(),
    });
    given
}

pub(crate) fn create_memory(user: Option<&str>, name: &str) -> CreateMemory {
    let (name, user) = (name.to_owned(), user.map(str::to_owned));
    CreateMemory { name, description: None, user, adopt: false, by: ByV1::default() }
}

pub(crate) fn create_agent(user: Option<&str>, name: &str, memories: &[(Uuid, bool)]) -> CreateAgent {
    CreateAgent {
        name: name.to_owned(),
        instructions: None,
        memories: memories.iter().map(|(id, writes)| (StreamId(*id), *writes)).collect(),
        user: user.map(str::to_owned),
        adopt: false,
        by: ByV1::default(),
    }
}

pub(crate) fn new_image(number: u128) -> NewImage {
    let form = ImageFormV1 { mime: MimeCode::PNG, width: 1, height: 1, bytes: 3 };
    let content =
        ImageAddedContentV1 { description: None, metadata: "{}".to_owned(), given_id: None, by: ByV1::default() };
    let image = ImageId(Uuid::from_u128(number));
    NewImage { image, form, bytes: [1, 2, 3].into(), content, timestamp: None }
}

pub(crate) fn add_image(number: u128) -> AddImage {
    AddImage { image: new_image(number), expires_at: None }
}

/// A thread with one message that has one image.
pub(crate) fn given_message_with_image(given: &mut Story<Thread>) -> (MessageId, ImageId) {
    let image = new_image(9);
    let mut said = ingest("trip", &["look at my cat"]);
    said.messages[0].images = vec![image.clone()];
    (given.do_(said).messages[0], image.image)
}

/// A note of the login's own.
pub(crate) fn note(login: &str, role: Role) -> SaveNote {
    let text = |text: &str| Some(text.to_owned());
    SaveNote {
        note: None,
        role,
        login: text(login),
        placing: Placing::default(),
        kind_key: None,
        texts: Texts { name: text("tone"), category: None, info: None, body: text("<p>Warm.</p>") },
        by: ByV1::default(),
    }
}

/// Another text of a note.
pub(crate) fn change(number: u64, login: &str, role: Role) -> SaveNote {
    SaveNote { note: Some(number), ..note(login, role) }
}
