//! Messages of a thread.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

use super::{
    super::{
        AsOf, Said, Time,
        given::{OneOrEach, given},
        verb,
    },
    Mime,
};

/// What a time to live counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TtlAnchor {
    /// When it is stored.
    #[default]
    CreatedAt,
    /// The time that it tells of, which then must be given.
    Timestamp,
}

/// A part of a message that comes in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewPart {
    /// What it is.
    #[serde(rename = "type")]
    pub part_type: PartType,
    /// A text's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// An image's: base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// An image's; found out when left out, and must fit the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Mime>,
    /// What an image shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartType {
    /// Words.
    Text,
    /// A picture.
    Image,
}

/// What a message says: a text, or texts and images in order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content<P> {
    /// A text.
    Text(String),
    /// Parts, at least one.
    Parts(Vec<P>),
}

impl<P> Default for Content<P> {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// By hand, so that a fault inside a part keeps its place.
impl<'de, P: Deserialize<'de>> Deserialize<'de> for Content<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<P>(std::marker::PhantomData<P>);

        impl<'de, P: Deserialize<'de>> de::Visitor<'de> for Either<P> {
            type Value = Content<P>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a list of parts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Content<P>, E> {
                Ok(Content::Text(text.to_owned()))
            }

            fn visit_string<E: de::Error>(self, text: String) -> Result<Content<P>, E> {
                Ok(Content::Text(text))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut members: A) -> Result<Content<P>, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = members.next_element()? {
                    parts.push(part);
                }
                Ok(Content::Parts(parts))
            }
        }

        deserializer.deserialize_any(Either(std::marker::PhantomData))
    }
}

/// A message that comes in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// `user`, `assistant`, `system`, or a name of the client's own of at most 64 characters.
    pub role: String,
    /// At most 32,768 bytes of text, not blank.
    pub content: Content<NewPart>,
    /// 1 to 64 characters, unique in the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Said>,
    /// At most 16,384 bytes of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// A registered speaker, or `me`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
}

/// `thread.add_messages`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddMessages {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// 1 to 500.
    pub messages: Vec<NewMessage>,
    /// In place of the messages' own: one for all, or one for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<OneOrEach<Option<Map<String, Value>>>>,
    /// At least 1; null is the maximum if there is one, else never; left out, the default.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "each")]
    pub ttl_days: Option<OneOrEach<Option<f64>>>,
    /// `created_at` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_anchor: Option<OneOrEach<TtlAnchor>>,
}

/// Null is a value here, not an absent one.
fn each<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<OneOrEach<Option<f64>>>, D::Error> {
    OneOrEach::deserialize(deserializer).map(Some)
}

/// Reply of `thread.add_messages`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessagesAdded {
    /// Of all of them, in order.
    pub message_ids: Vec<String>,
    /// The extraction, if one was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// What was changed of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
}
verb!(AddMessages, "thread", "add_messages", MessagesAdded, thread_add_messages);

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its id; an image's is that of the image.
    pub id: String,
    /// What it is.
    #[serde(rename = "type")]
    pub part_type: PartType,
    /// A text's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// An image's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Mime>,
    /// What an image shows; null if nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub description: Option<Option<String>>,
    /// An image's, base64, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The client's id if it gave one, else a UUIDv7.
    pub id: String,
    /// Who it is from.
    pub role: String,
    /// What it says.
    pub content: Content<Part>,
    /// When it was said, else when it was stored.
    pub timestamp: Time,
    /// The client's own.
    pub metadata: Map<String, Value>,
    /// Whose words, if tagged.
    pub speaker: Option<String>,
    /// From when on it is unreachable.
    pub expires_at: Option<Time>,
    /// When it was stored.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

/// `thread.get_messages`: in order of arrival. With neither `start` nor `end` the newest 100.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetMessages {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// The first, from 0; from the first when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<i64>,
    /// The first that is not shown; null or -1 is to the end.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub end: Option<Option<i64>>,
    /// Whether the bytes of images come along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_image_bytes: Option<bool>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `thread.get_messages`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Messages {
    /// In order of arrival.
    pub messages: Vec<Message>,
}
verb!(GetMessages, "thread", "get_messages", Messages, thread_get_messages);

/// `thread.get_message`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetMessage {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// The message.
    pub message_id: String,
    /// Images whose bytes come along; others than the message's are passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub included_image_ids: Option<Vec<String>>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `thread.get_message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneMessage {
    /// The message.
    pub message: Message,
}
verb!(GetMessage, "thread", "get_message", OneMessage, thread_get_message);

/// `thread.update_message`: what is left out stays; a new content is extracted from again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateMessage {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// The message.
    pub message_id: String,
    /// In place of the old one; the empty string empties it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content<NewPart>>,
    /// In place of the old ones, not merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// At least 1; null is the maximum if there is one, else never.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub ttl_days: Option<Option<f64>>,
    /// `created_at` by default; without `ttl_days` the default days count from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_anchor: Option<TtlAnchor>,
}

/// Reply of `thread.update_message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageUpdated {
    /// The message.
    pub message_id: String,
    /// The extraction, if one was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// What was changed of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
}
verb!(UpdateMessage, "thread", "update_message", MessageUpdated, thread_update_message);

/// `thread.delete_message`: waits for extraction accepted before, up to 300 seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteMessage {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// The message.
    pub message_id: String,
    /// Whether memories made from it alone go with it; true by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cascade: Option<bool>,
    /// Whether to change nothing and only say what would go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<bool>,
}

/// Reply of `thread.delete_message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageDeleted {
    /// 0 or 1.
    pub deleted: u64,
    /// Memories that went, or would go, with it.
    pub memories_forgotten: Vec<String>,
}
verb!(DeleteMessage, "thread", "delete_message", MessageDeleted, thread_delete_message);
