//! What an operator may set about the language model: the table `[llm]` of the configuration file, and over it `MEMLOG_LLM_*`
//! variables. Every bound is here, with its default, its unit last in its name, and its reason.

use std::fmt;

use serde::{Deserialize, Serialize};
use ureq::http::Uri;

/// The key of an endpoint. It is shown by nothing.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

/// Who extracts while the endpoint is not called because it keeps failing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// Nobody: such jobs fail, and can be retried.
    #[default]
    None,
    /// The local extractor.
    Local,
}

/// How the endpoint is told to answer in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// By a strict schema.
    #[default]
    JsonSchema,
    /// As any JSON object; the schema stands in the prompt.
    JsonObject,
}

/// The field that bounds the length of an answer; endpoints differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputField {
    /// What most know.
    #[default]
    MaxTokens,
    /// What OpenAI's reasoning models want instead.
    MaxCompletionTokens,
}

/// What an operator may set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The endpoint: its base, such as `http://127.0.0.1:8000/v1`, or all of `…/chat/completions`. None: no model is used.
    pub url: Option<String>,
    /// The model's name there.
    pub model: Option<String>,
    /// Sent as a bearer token.
    #[serde(skip_serializing)]
    pub key: Option<Key>,
    /// Who extracts while the endpoint rests.
    pub fallback: Fallback,
    /// How the endpoint is told to answer in JSON.
    pub format: Format,
    /// The field that bounds the length of an answer.
    pub output_field: OutputField,
    /// One call over HTTP: a slow local model takes this long for a full answer.
    pub call_s_max: u64,
    /// All calls and waits of one try of an extraction: whoever waits for the job waits for this.
    pub job_s_max: u64,
    /// The answer of a recall; past it the local answer is given. Clients of NATS wait some 30 s.
    pub answer_s_max: u64,
    /// The type of a memory that is saved without one; past it the local classification is taken.
    pub classify_s_max: u64,
    /// What an image shows; past it the image is stored without a description.
    pub caption_s_max: u64,
    /// Tries of one call when the failure is one that passes.
    pub tries_max: u64,
    /// The texts of one call, in tokens estimated as bytes / 4; a larger work is split by turns. Small models hold 8k in all.
    pub input_tokens_max: u64,
    /// The answer of one call.
    pub output_tokens_max: u64,
    /// All calls of one try of an extraction, what is sent and what is answered: a bound on what a job may cost.
    pub job_tokens_max: u64,
    /// Failures in a row after which the endpoint is not called for a while.
    pub breaker_failures: u64,
    /// How long it rests then; one call tries it again afterwards.
    pub breaker_pause_s: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            url: None,
            model: None,
            key: None,
            fallback: Fallback::None,
            format: Format::JsonSchema,
            output_field: OutputField::MaxTokens,
            call_s_max: 60,
            job_s_max: 300,
            answer_s_max: 10,
            classify_s_max: 3,
            caption_s_max: 15,
            tries_max: 3,
            input_tokens_max: 6_000,
            output_tokens_max: 2_000,
            job_tokens_max: 100_000,
            breaker_failures: 5,
            breaker_pause_s: 30,
        }
    }
}

/// A number, and what it may be.
struct Number {
    name: &'static str,
    least: u64,
    most: u64,
    of: fn(&mut Settings) -> &mut u64,
}

const NUMBERS: [Number; 11] = [
    Number { name: "call_s_max", least: 1, most: 600, of: |it| &mut it.call_s_max },
    Number { name: "job_s_max", least: 1, most: 3_600, of: |it| &mut it.job_s_max },
    Number { name: "answer_s_max", least: 1, most: 25, of: |it| &mut it.answer_s_max },
    Number { name: "classify_s_max", least: 1, most: 25, of: |it| &mut it.classify_s_max },
    Number { name: "caption_s_max", least: 1, most: 25, of: |it| &mut it.caption_s_max },
    Number { name: "tries_max", least: 1, most: 10, of: |it| &mut it.tries_max },
    Number { name: "input_tokens_max", least: 1_000, most: 1_000_000, of: |it| &mut it.input_tokens_max },
    Number { name: "output_tokens_max", least: 100, most: 100_000, of: |it| &mut it.output_tokens_max },
    Number { name: "job_tokens_max", least: 1_000, most: 10_000_000, of: |it| &mut it.job_tokens_max },
    Number { name: "breaker_failures", least: 1, most: 1_000, of: |it| &mut it.breaker_failures },
    Number { name: "breaker_pause_s", least: 1, most: 3_600, of: |it| &mut it.breaker_pause_s },
];

/// A setting with which nothing could work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} (llm.{field}): {reason}", variable(field))]
pub struct Invalid {
    /// Which.
    pub field: &'static str,
    /// What it has to be.
    pub reason: String,
}

impl Invalid {
    fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, reason: reason.into() }
    }
}

/// `call_s_max` is `MEMLOG_LLM_CALL_S_MAX`.
fn variable(field: &str) -> String {
    format!("MEMLOG_LLM_{}", field.to_uppercase())
}

impl Settings {
    /// With the variables that are set taken over what the file said. An empty one is not set.
    pub fn with_variables(mut self, read: impl Fn(&str) -> Option<String>) -> Result<Self, Invalid> {
        let read = |field: &str| read(&variable(field)).filter(|value| !value.is_empty());
        for (field, place) in [("url", &mut self.url), ("model", &mut self.model)] {
            *place = read(field).or(place.take());
        }
        self.key = read("key").map(Key).or(self.key.take());
        self.fallback = one_of("fallback", read("fallback"), self.fallback, "none or local")?;
        self.format = one_of("format", read("format"), self.format, "json_schema or json_object")?;
        let fields = "max_tokens or max_completion_tokens";
        self.output_field = one_of("output_field", read("output_field"), self.output_field, fields)?;
        for number in &NUMBERS {
            if let Some(value) = read(number.name) {
                let parsed = value.parse().map_err(|_| Invalid::new(number.name, "must be a whole number"))?;
                *(number.of)(&mut self) = parsed;
            }
        }
        Ok(self)
    }

    /// Refuses what could not work, by name.
    pub fn check(&self) -> Result<(), Invalid> {
        let mut copy = self.clone();
        for Number { name, least, most, of } in &NUMBERS {
            let value = *of(&mut copy);
            if !(least..=most).contains(&&value) {
                return Err(Invalid::new(name, format!("must be {least} to {most}")));
            }
        }
        self.address().map(drop)
    }

    /// Where and which: the URL of chat completions and the model's name, or none if no model is to be used.
    pub(super) fn address(&self) -> Result<Option<(String, String)>, Invalid> {
        let set =
            |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let (url, model) = match (set(&self.url), set(&self.model)) {
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(Invalid::new("model", "the endpoint is named and its model is not")),
            (None, Some(_)) => return Err(Invalid::new("url", "the model is named and its endpoint is not")),
            (Some(url), Some(model)) => (url, model),
        };
        let wanted = || Invalid::new("url", "one looks like http://127.0.0.1:8000/v1, and holds no user or password");
        let uri: Uri = url.parse().map_err(|_| wanted())?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or_else(wanted)?;
        let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme)).ok_or_else(wanted)?;
        let path = uri.path().trim_end_matches('/');
        let path = if path.ends_with(COMPLETIONS) { path.to_owned() } else { format!("{path}{COMPLETIONS}") };
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        Ok(Some((format!("{scheme}://{authority}{path}{query}"), model)))
    }

    /// The endpoint as people may see it: no key, and no query, which may hold one.
    pub fn shown(&self) -> Option<String> {
        let (url, _) = self.address().ok().flatten()?;
        Some(url.split('?').next().unwrap_or_default().to_owned())
    }

    /// Whether the key would travel where others can read it.
    pub fn key_in_plain(&self) -> bool {
        let Ok(Some((url, _))) = self.address() else { return false };
        self.key.is_some() && url.starts_with("http://") && !is_loopback(&url)
    }
}

/// The path below the base.
pub(super) const COMPLETIONS: &str = "/chat/completions";

/// Whether the endpoint is on this machine.
pub(super) fn is_loopback(url: &str) -> bool {
    let host = url.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned)).unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn one_of<T: serde::de::DeserializeOwned>(
    field: &'static str,
    value: Option<String>,
    or: T,
    which: &str,
) -> Result<T, Invalid> {
    let Some(value) = value else { return Ok(or) };
    serde_json::from_value(value.into()).map_err(|_| Invalid::new(field, format!("must be {which}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(url: &str) -> Settings {
        Settings { url: Some(url.to_owned()), model: Some("m".to_owned()), ..Settings::default() }
    }

    // Whoever copies the address out of a manual may have the base or all of it.
    #[test]
    fn the_base_and_the_whole_address_work() {
        for (url, expected) in [
            ("http://h:1/v1", "http://h:1/v1/chat/completions"),
            ("http://h:1/v1/", "http://h:1/v1/chat/completions"),
            ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
            ("https://h/x?api-version=1", "https://h/x/chat/completions?api-version=1"),
        ] {
            assert_eq!(named(url).address(), Ok(Some((expected.to_owned(), "m".to_owned()))));
        }
    }

    #[test]
    fn what_could_not_work_is_refused_by_name() {
        for url in ["h:1", "ftp://h/v1", "http://me:secret@h/v1", "http://"] {
            assert_eq!(named(url).check().map_err(|invalid| invalid.field), Err("url"), "{url}");
        }
        let alone = Settings { model: None, ..named("http://h/v1") };
        assert_eq!(alone.check().expect_err("no model").field, "model");
        let never = Settings { tries_max: 0, ..named("http://h/v1") };
        let told = "MEMLOG_LLM_TRIES_MAX (llm.tries_max): must be 1 to 10";
        assert_eq!(never.check().expect_err("no tries").to_string(), told);
        assert_eq!(Settings::default().check(), Ok(()));
        assert_eq!(Settings::default().address(), Ok(None));
    }

    #[test]
    fn variables_win_over_the_file() {
        let file = Settings { tries_max: 9, ..named("http://file/v1") };
        let read = |name: &str| match name {
            "MEMLOG_LLM_URL" => Some("http://variable/v1".to_owned()),
            "MEMLOG_LLM_FALLBACK" => Some("local".to_owned()),
            "MEMLOG_LLM_CALL_S_MAX" => Some("7".to_owned()),
            "MEMLOG_LLM_MODEL" => Some(String::new()),
            _ => None,
        };
        let both = file.clone().with_variables(read).expect("valid");
        let expected =
            Settings { fallback: Fallback::Local, call_s_max: 7, tries_max: 9, ..named("http://variable/v1") };
        assert_eq!(both, expected);
        let wrong = |name: &str| (name == "MEMLOG_LLM_FALLBACK").then(|| "remote".to_owned());
        assert_eq!(file.with_variables(wrong).expect_err("neither").field, "fallback");
    }

    // A key in a log or in the output of doctor is a key that is lost.
    #[test]
    fn a_key_is_shown_by_nothing() {
        let with_key = Settings { key: Some(Key("sk-secret".to_owned())), ..named("http://h/v1") };
        let shown = format!("{with_key:?} {}", serde_json::to_string(&with_key).expect("json"));
        assert!(!shown.contains("secret"), "{shown}");
        let in_query = named("http://h/v1?key=sk-secret");
        assert_eq!(in_query.shown().as_deref(), Some("http://h/v1/chat/completions"));
        assert!(with_key.key_in_plain());
        assert!(!Settings { url: Some("http://[::1]:9/v1".to_owned()), ..with_key }.key_in_plain());
    }
}
