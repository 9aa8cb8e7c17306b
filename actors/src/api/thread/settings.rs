//! How a thread extracts, expires and searches: chosen when it is created, each part with a default.

use serde::{Deserialize, Serialize, de};

/// Whether messages are extracted from before the reply or after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractionMode {
    /// After it, by a worker.
    #[default]
    Background,
    /// Before it: the reply waits for the worker.
    Inline,
}

/// Which metadata of its source messages an extracted memory takes over. Where a memory has several sources, only what they agree
/// on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Inherit {
    /// All of it, or none.
    All(bool),
    /// These top-level keys.
    Keys(Vec<String>),
}

/// By hand, so that what is neither is told what is right.
impl<'de> Deserialize<'de> for Inherit {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Which;

        impl<'de> de::Visitor<'de> for Which {
            type Value = Inherit;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("true, false, or a list of keys")
            }

            fn visit_bool<E: de::Error>(self, all: bool) -> Result<Inherit, E> {
                Ok(Inherit::All(all))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut members: A) -> Result<Inherit, A::Error> {
                let mut keys = Vec::new();
                while let Some(key) = members.next_element()? {
                    keys.push(key);
                }
                Ok(Inherit::Keys(keys))
            }
        }

        deserializer.deserialize_any(Which)
    }
}

/// Of extraction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractionSettings {
    /// Whether memories are made from messages at all; true by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Background by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ExtractionMode>,
    /// How many of the newest messages, those to extract from included, are read for context; -1 (the default) leaves it to memlog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<i64>,
    /// How many new messages begin an extraction; -1 (the default) is each batch at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<i64>,
    /// Tokens of a model's prompt at most; 0 or less (the default) leaves it to the model's settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_limit: Option<i64>,
    /// What a model is told besides its own orders; at most 8,192 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
    /// True by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherit_message_metadata: Option<Inherit>,
    /// Whether a summary of the thread is kept; true by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<bool>,
    /// How many messages after the newest summary it is renewed; 0 or less (the default) is each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_frequency: Option<i64>,
}

/// Of expiry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionSettings {
    /// Days that what is added without `ttl_days` lives; for ever when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_ttl_days: Option<f64>,
    /// Days that anything lives at most; longer ones are cut to it, with a warning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ttl_days: Option<f64>,
}

/// Of searches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Tokens of all results at most; 0 or less, or left out, is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<i64>,
    /// Tokens of all results at which no further one is added; 0 or less, or left out, is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft_token_budget: Option<i64>,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Of extraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extraction: Option<ExtractionSettings>,
    /// Of expiry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<RetentionSettings>,
    /// Of searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchSettings>,
    /// Tokens of each message that a model is shown; longer ones are shortened for it. 0 or less, or left out, is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_message_tokens: Option<i64>,
    /// Tokens that a model is shown for the summary of a context card; 100,000 by default, 0 or less is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_card_token_limit: Option<i64>,
    /// Searches at once for the types of a context card; 5 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_card_type_search_concurrency: Option<i64>,
    /// Tokens of a long message that a model is shown in order to shorten it; 30,000 by default, 0 or less is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_shortening_input_token_limit: Option<i64>,
}
