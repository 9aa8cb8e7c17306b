//! A thread's settings: checked when it is created, shown with their defaults.

use serde_json::{Map, Value};

use crate::{
    api::{
        Error,
        thread::{ExtractionMode, ExtractionSettings, Inherit, RetentionSettings, SearchSettings, Settings},
    },
    domain::thread::Extraction,
    limits::{INGEST_MESSAGES_MAX, INHERITED_KEYS_MAX, INSTRUCTIONS_BYTES_MAX, METADATA_BYTES_MAX},
};

/// Tokens that a model is shown for the summary of a context card.
pub(crate) const CARD_TOKENS_DEFAULT: i64 = 100_000;
/// Searches at once for the types of a context card.
const CARD_SEARCHES_DEFAULT: i64 = 5;
/// The most of them.
const CARD_SEARCHES_MAX: i64 = 64;
/// Tokens of a long message that a model is shown in order to shorten it.
pub(crate) const SHORTENING_TOKENS_DEFAULT: i64 = 30_000;

/// Refuses settings that could not mean anything.
pub(super) fn check(settings: &Settings) -> Result<(), Error> {
    if let Some(extraction) = &settings.extraction {
        check_extraction(extraction)?;
    }
    if let Some(retention) = &settings.retention {
        check_retention(retention)?;
    }
    let searches = settings.context_card_type_search_concurrency.unwrap_or(CARD_SEARCHES_DEFAULT);
    within("settings.context_card_type_search_concurrency", searches, 1, CARD_SEARCHES_MAX)
}

fn check_extraction(extraction: &ExtractionSettings) -> Result<(), Error> {
    let most = INGEST_MESSAGES_MAX as i64;
    for (name, value) in [("window", extraction.window), ("frequency", extraction.frequency)] {
        if let Some(value) = value.filter(|value| *value != -1) {
            within(&format!("settings.extraction.{name}"), value, 1, most)
                .map_err(|error| Error { message: format!("{}, or -1", error.message), ..error })?;
        }
    }
    if let Some(text) = &extraction.custom_instructions
        && text.len() > INSTRUCTIONS_BYTES_MAX
    {
        let field = "settings.extraction.custom_instructions";
        return Err(Error::past_limit(field, INSTRUCTIONS_BYTES_MAX as u64, "bytes"));
    }
    if let Some(Inherit::Keys(keys)) = &extraction.inherit_message_metadata {
        let field = "settings.extraction.inherit_message_metadata";
        if keys.len() > INHERITED_KEYS_MAX {
            return Err(Error::past_limit(field, INHERITED_KEYS_MAX as u64, "keys"));
        }
        // No metadata has a longer one.
        if let Some(at) = keys.iter().position(|key| key.len() > METADATA_BYTES_MAX) {
            return Err(Error::past_limit(&format!("{field}[{at}]"), METADATA_BYTES_MAX as u64, "bytes"));
        }
    }
    Ok(())
}

fn check_retention(retention: &RetentionSettings) -> Result<(), Error> {
    let named = |name: &'static str, days: Option<f64>| match days {
        Some(days) => super::ttl::checked(days).map(drop).map_err(|error| {
            let field = format!("settings.retention.{name}");
            let message = error.message.replace("ttl_days", &field);
            Error { message, ..error }.with("field", field)
        }),
        None => Ok(()),
    };
    named("default_ttl_days", retention.default_ttl_days)?;
    named("max_ttl_days", retention.max_ttl_days)?;
    if let (Some(usual), Some(longest)) = (retention.default_ttl_days, retention.max_ttl_days)
        && usual > longest
    {
        let field = "settings.retention.default_ttl_days";
        return Err(Error::invalid(field, format!("{field} must not be above max_ttl_days")).with("limit", longest));
    }
    Ok(())
}

fn within(field: &str, value: i64, min: i64, max: i64) -> Result<(), Error> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(Error::invalid(field, format!("{field} must be {min} to {max}"))
        .with("limit", if value < min { min } else { max }))
}

/// Settings with every default that has a value filled in.
pub(crate) fn filled(settings: &Settings) -> Settings {
    let extraction = settings.extraction.clone().unwrap_or_default();
    Settings {
        extraction: Some(ExtractionSettings {
            enabled: extraction.enabled.or(Some(true)),
            mode: extraction.mode.or(Some(ExtractionMode::Background)),
            window: extraction.window.or(Some(-1)),
            frequency: extraction.frequency.or(Some(-1)),
            token_limit: extraction.token_limit.or(Some(-1)),
            custom_instructions: extraction.custom_instructions,
            inherit_message_metadata: extraction.inherit_message_metadata.or(Some(Inherit::All(true))),
            summary: extraction.summary.or(Some(true)),
            summary_frequency: extraction.summary_frequency.or(Some(-1)),
        }),
        retention: Some(settings.retention.clone().unwrap_or_default()),
        search: Some(settings.search.clone().unwrap_or_default()),
        max_message_tokens: settings.max_message_tokens.or(Some(-1)),
        context_card_token_limit: settings.context_card_token_limit.or(Some(CARD_TOKENS_DEFAULT)),
        context_card_type_search_concurrency: settings
            .context_card_type_search_concurrency
            .or(Some(CARD_SEARCHES_DEFAULT)),
        message_shortening_input_token_limit: settings
            .message_shortening_input_token_limit
            .or(Some(SHORTENING_TOKENS_DEFAULT)),
    }
}

/// When memories are made from what is added to a thread with these settings.
pub(crate) fn extraction_of(settings: &Settings) -> Extraction {
    let extraction = settings.extraction.as_ref();
    if extraction.and_then(|it| it.enabled) == Some(false) {
        return Extraction::Off;
    }
    match extraction.and_then(|it| it.frequency) {
        Some(every) if every > 1 => Extraction::Every(u32::try_from(every).unwrap_or(u32::MAX)),
        _ => Extraction::AtOnce,
    }
}

/// The metadata that a memory takes over from the messages it was made from: of what the thread lets it inherit, all that
/// its sources agree on.
pub(crate) fn inherits(settings: &Settings, sources: &[Option<&Map<String, Value>>]) -> Map<String, Value> {
    let chosen = settings.extraction.as_ref().and_then(|it| it.inherit_message_metadata.clone());
    let may = |key: &String| match &chosen {
        None => true,
        Some(Inherit::All(all)) => *all,
        Some(Inherit::Keys(keys)) => keys.contains(key),
    };
    let Some((Some(first), others)) = sources.split_first() else { return Map::new() };
    let agreed = |(key, value): &(&String, &Value)| {
        may(key) && others.iter().all(|other| other.is_some_and(|fields| fields.get(*key) == Some(*value)))
    };
    first.iter().filter(agreed).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Whether the reply waits for the extraction.
pub(crate) fn is_inline(settings: &Settings) -> bool {
    settings.extraction.as_ref().and_then(|it| it.mode) == Some(ExtractionMode::Inline)
}

/// Whether what a model wrote about the thread is kept.
pub(crate) fn keeps_summary(settings: &Settings) -> bool {
    settings.extraction.as_ref().and_then(|it| it.summary) != Some(false)
}

/// How many messages after the newest summary it is renewed; at least 1.
pub(crate) fn summary_frequency(settings: &Settings) -> u64 {
    let every = settings.extraction.as_ref().and_then(|it| it.summary_frequency).unwrap_or(-1);
    u64::try_from(every).unwrap_or(1).max(1)
}

/// Searches at once for the types of a context card.
pub(crate) fn card_searches(settings: &Settings) -> usize {
    let searches = settings.context_card_type_search_concurrency.unwrap_or(CARD_SEARCHES_DEFAULT);
    usize::try_from(searches).unwrap_or(1).max(1)
}

/// How long what is added lives.
pub(crate) fn retention(settings: &Settings) -> RetentionSettings {
    settings.retention.clone().unwrap_or_default()
}

/// The budgets of a search: the request's own, else the thread's; 0 or less is none.
pub(crate) fn budgets(settings: &Settings, hard: Option<i64>, soft: Option<i64>) -> (Option<u64>, Option<u64>) {
    let SearchSettings { token_budget, soft_token_budget } = settings.search.clone().unwrap_or_default();
    let positive =
        |budget: Option<i64>| budget.and_then(|budget| u64::try_from(budget).ok()).filter(|budget| *budget > 0);
    (positive(hard.or(token_budget)), positive(soft.or(soft_token_budget)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(settings: serde_json::Value) -> String {
        let settings: Settings = serde_json::from_value(settings).expect("settings");
        check(&settings).expect_err("refused").fields["field"].as_str().expect("a field").to_owned()
    }

    #[test]
    fn memories_inherit_what_their_sources_agree_on() {
        use serde_json::json;
        let fields = |value: Value| value.as_object().expect("an object").clone();
        let (one, two) = (fields(json!({"a": 1, "b": 2, "c": [1]})), fields(json!({"a": 1, "b": 3, "c": [1]})));
        let of = |inherit: Value, sources: &[Option<&Map<String, Value>>]| {
            let settings: Settings =
                serde_json::from_value(json!({"extraction": {"inherit_message_metadata": inherit}})).expect("settings");
            Value::Object(inherits(&settings, sources))
        };
        assert_eq!(of(json!(true), &[Some(&one)]), json!({"a": 1, "b": 2, "c": [1]}));
        assert_eq!(of(json!(true), &[Some(&one), Some(&two)]), json!({"a": 1, "c": [1]}));
        assert_eq!(of(json!(["a", "b"]), &[Some(&one), Some(&two)]), json!({"a": 1}));
        assert_eq!(of(json!(false), &[Some(&one)]), json!({}));
        assert_eq!(of(json!(true), &[Some(&one), None]), json!({}));
        assert_eq!(Value::Object(inherits(&Settings::default(), &[Some(&one)])), json!({"a": 1, "b": 2, "c": [1]}));
    }

    #[test]
    fn what_could_not_work_is_named() {
        use serde_json::json;
        for (settings, field) in [
            (json!({"extraction": {"window": 0}}), "settings.extraction.window"),
            (json!({"extraction": {"frequency": 501}}), "settings.extraction.frequency"),
            (
                json!({"extraction": {"custom_instructions": "x".repeat(8_193)}}),
                "settings.extraction.custom_instructions",
            ),
            (json!({"retention": {"max_ttl_days": 0.5}}), "settings.retention.max_ttl_days"),
            (json!({"retention": {"default_ttl_days": 9, "max_ttl_days": 8}}), "settings.retention.default_ttl_days"),
            (json!({"context_card_type_search_concurrency": 0}), "settings.context_card_type_search_concurrency"),
        ] {
            assert_eq!(refused(settings), field);
        }
        assert_eq!(check(&Settings::default()), Ok(()));
        assert_eq!(check(&filled(&Settings::default())), Ok(()));
    }
}
