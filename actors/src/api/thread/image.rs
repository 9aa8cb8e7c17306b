//! Images of a thread, alone or as parts of a message.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    super::{AsOf, Time, given::given, verb},
    DeletedOne, TtlAnchor,
};

/// What an image's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the types")]
pub enum Mime {
    #[serde(rename = "image/png")]
    Png,
    #[serde(rename = "image/jpeg")]
    Jpeg,
    #[serde(rename = "image/webp")]
    Webp,
}

/// `thread.add_image`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddImage {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// Base64 of at most 10 MiB; PNG, JPEG or WEBP, not animated.
    pub image: String,
    /// What it shows, which is what it is found by; a model is asked when left out or null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Found out when left out; must fit the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Mime>,
    /// 1 to 64 characters, unique in the profile; made when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_id: Option<String>,
    /// Must be the thread's, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Must be the thread's, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// At most 16,384 bytes of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// When it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Time>,
    /// At least 1; null is the maximum if there is one, else never; left out, the default.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub ttl_days: Option<Option<f64>>,
    /// `created_at` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_anchor: Option<TtlAnchor>,
}
verb!(AddImage, "thread", "add_image", ImageStored, thread_add_image);

/// Reply of `thread.add_image` and `thread.update_image`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImageStored {
    /// Its id.
    pub image_id: String,
    /// What was changed of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
}

/// `thread.list_images`: in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListImages {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// Only this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_id: Option<String>,
    /// Only what matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_filter: Option<Map<String, Value>>,
    /// Whether the bytes come along; needs `image_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_bytes: Option<bool>,
    /// 1 to 500, 20 by default; null lists all.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub limit: Option<Option<u64>>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}
verb!(ListImages, "thread", "list_images", Images, thread_list_images);

/// An image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// Its id.
    pub image_id: String,
    /// What its bytes are.
    pub mime_type: Mime,
    /// What it shows; null if nobody said.
    pub description: Option<String>,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Bytes.
    pub size: u64,
    /// The client's own.
    pub metadata: Map<String, Value>,
    /// When it was taken, else when it was stored.
    pub timestamp: Time,
    /// The message that it is a part of; null if it stands alone.
    pub message_id: Option<String>,
    /// From when on it is unreachable.
    pub expires_at: Option<Time>,
    /// Base64, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// Reply of `thread.list_images`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Images {
    /// In the order in which they were added.
    pub images: Vec<Image>,
}

/// `thread.update_image`: what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateImage {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// The image, which must be this thread's.
    pub image_id: String,
    /// Base64; then `mime_type` must be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Null asks a model for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub description: Option<Option<String>>,
    /// Must fit the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Mime>,
    /// In place of the old ones, not merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Null clears it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub timestamp: Option<Option<Time>>,
    /// At least 1; null is the maximum if there is one, else never. Not of an image in a message.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub ttl_days: Option<Option<f64>>,
    /// `created_at` by default; without `ttl_days` the default days count from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_anchor: Option<TtlAnchor>,
}
verb!(UpdateImage, "thread", "update_image", ImageStored, thread_update_image);

/// `thread.delete_image`: of an image that stands alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteImage {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// The image.
    pub image_id: String,
}
verb!(DeleteImage, "thread", "delete_image", DeletedOne, thread_delete_image);
