//! The language model: whether one is set, whether it answers, and who else can read its key.

use serde_json::Value;

use super::Check;
use crate::{
    cli::settings::Settings,
    llm::{self, Found, settings::Fallback},
};

/// All that can be said about it. Asking it for its list of models costs nothing.
pub(super) async fn model(settings: &Settings) -> Vec<Check> {
    let of = settings.llm.clone();
    let looked = tokio::task::spawn_blocking(move || llm::look(&of)).await;
    let found = match looked {
        Ok(Ok(None)) => return vec![Check::ok(ABOUT, "none; memories, answers and summaries are made without one")],
        Ok(Ok(Some(found))) => found,
        Ok(Err(invalid)) => return vec![Check::fail(ABOUT, invalid.to_string(), "correct it, or unset it")],
        Err(error) => return vec![Check::fail(ABOUT, error.to_string(), "report it: it is a bug")],
    };
    let model = settings.llm.model.as_deref().unwrap_or_default();
    let url = settings.llm.shown().unwrap_or_default();
    let mut checks = vec![answering(model, &url, found, settings.llm.fallback)];
    if settings.llm.key_in_plain() {
        let todo = "use https, or an endpoint on this machine";
        checks.push(Check::warn(ABOUT, "its key and all texts travel unencrypted", todo));
    }
    checks.extend(readable_key(settings));
    checks
}

const ABOUT: &str = "llm";

fn answering(model: &str, url: &str, found: Found, fallback: Fallback) -> Check {
    let named = format!("{model} at {url}");
    match found {
        Found::Well => Check::ok(ABOUT, format!("{named} answers")),
        Found::Unlisted(status) => Check::ok(ABOUT, format!("{named} answers; it lists no models (status {status})")),
        Found::NoSuchModel => Check::warn(
            ABOUT,
            format!("{url} answers, and lists no model {model}"),
            "name one that it lists in MEMLOG_LLM_MODEL",
        ),
        Found::Unauthorized => Check::fail(ABOUT, format!("{named} does not take the key"), "set MEMLOG_LLM_KEY"),
        Found::Unreachable if fallback == Fallback::Local => {
            Check::warn(ABOUT, format!("{named} does not answer"), "until it does, memories are made without it")
        }
        Found::Unreachable => Check::fail(
            ABOUT,
            format!("{named} does not answer"),
            "start it or correct MEMLOG_LLM_URL; what failed meanwhile is done by `memlog jobs retry`",
        ),
    }
}

/// A key in a file that others may read is theirs as well.
#[cfg(unix)]
fn readable_key(settings: &Settings) -> Option<Check> {
    use std::os::unix::fs::PermissionsExt as _;
    let path = settings.config.as_deref().filter(|_| settings.llm_key_in_file)?;
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    let todo = format!("chmod 600 '{}'", path.display());
    let finding = format!("others on this machine may read its key in {}", path.display());
    (mode & 0o077 != 0).then(|| Check::warn(ABOUT, finding, todo))
}

#[cfg(not(unix))]
fn readable_key(_: &Settings) -> Option<Check> {
    None
}

/// The settings in force, without the key; none where no model is set.
pub(super) fn in_force(settings: &Settings) -> Option<Value> {
    let url = settings.llm.shown()?;
    let mut shown = serde_json::to_value(&settings.llm).ok()?;
    shown["url"] = url.into();
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::Level;

    // Without a fallback an endpoint that is away fails every job: that is no mere warning.
    #[test]
    fn an_endpoint_that_is_away_is_as_bad_as_what_comes_of_it() {
        let level = |fallback| answering("m", "http://h/v1", Found::Unreachable, fallback).level;
        assert_eq!((level(Fallback::None), level(Fallback::Local)), (Level::Fail, Level::Warn));
    }
}
