//! `memlog doctor`: looks at what memlog stands on, and says what to do about each thing that is not well.

mod host;
mod llm;

use std::path::Path;

pub(super) use host::file_system_of;

use memlog_actors::{api::audit::Stats, port::Embedder as _, system::Languages};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Outcome,
    backend::{self, Backend, Folder, Model},
    fail::Fail,
    screen::{BAD, DIM, GOOD, Screen, WARNING},
    settings::Settings,
    tables::pairs,
};
use crate::{
    door::connect,
    embed::{Encoder, LoadError},
};

/// Nothing to say.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// How well something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Level {
    Ok,
    Warn,
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    level: Level,
    about: &'static str,
    finding: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    todo: Option<String>,
}

impl Check {
    fn ok(about: &'static str, finding: impl Into<String>) -> Self {
        Self { level: Level::Ok, about, finding: finding.into(), todo: None }
    }

    fn warn(about: &'static str, finding: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { level: Level::Warn, about, finding: finding.into(), todo: Some(todo.into()) }
    }

    fn fail(about: &'static str, finding: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { level: Level::Fail, about, finding: finding.into(), todo: Some(todo.into()) }
    }
}

/// All findings, and the settings that they are about.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    /// Whether a server does the work, so that its limits are not these.
    remote: bool,
    settings: Value,
    checks: Vec<Check>,
    /// What no software can promise about erasure.
    limits_of_erasure: [&'static str; 4],
}

const LIMITS_OF_ERASURE: [&str; 4] = [
    "forgetting overwrites a key in place; on a copy-on-write file system, in a snapshot or in an SSD's spare cells an old copy of the key can outlive that",
    "a backup that holds both the log and the vault can read what was forgotten since: keep the vault's apart, and for a short time",
    "whoever was given a memory before (a model, a log of prompts, another system) still has it",
    "swap and core dumps may hold text that was in memory: encrypt swap, and switch core dumps off",
];

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        let model = backend::model(settings.model.as_deref());
        let mut checks = vec![found(&model), nats_server().await];
        checks.extend(llm::model(&settings).await);
        if settings.nats.is_none() {
            checks.extend(host::folder("data folder", &settings.data));
            checks.push(vault(&settings));
        }
        let (log, languages) = log(&settings, &screen).await;
        checks.push(log);
        let english_only = model.is_ok_and(|model| model.is_english_only());
        checks.extend(languages.filter(|_| english_only).and_then(foreign));
        let failed = checks.iter().any(|check| check.level == Level::Fail);
        let report = Report {
            version: env!("CARGO_PKG_VERSION"),
            remote: settings.nats.is_some(),
            settings: in_force(&settings),
            checks,
            limits_of_erasure: LIMITS_OF_ERASURE,
        };
        screen.reply(&report, |_, report| people(report))?;
        Ok(if failed { Outcome::Unwell(1) } else { Outcome::Done })
    }
}

fn in_force(settings: &Settings) -> Value {
    json!({
        "config": settings.config,
        "data": settings.data,
        "vault": settings.vault,
        "nats": settings.nats.as_ref().map(connect::Options::shown),
        "namespace": settings.namespace,
        "profile": settings.profile(),
        "user": settings.caller.user,
        "agent": settings.caller.agent,
        "model": settings.model,
        "llm": llm::in_force(settings),
        "limits": settings.limits,
    })
}

fn found(model: &Result<Encoder, LoadError>) -> Check {
    match model {
        Ok(model) => Check::ok("model", format!("{}, {} dimensions", model.name(), model.dimensions())),
        Err(error) => Check::warn("model", error.to_string(), "without it memlog works and searches by keyword alone"),
    }
}

/// Texts that tell of a folder; in fewer a greeting would decide.
const TOLD_MIN: u64 = 20;

/// The English model finds texts in other languages by their words alone, and nothing else says so.
fn foreign(Languages { told, english }: Languages) -> Option<Check> {
    let foreign = told - english;
    (told >= TOLD_MIN && 2 * foreign > told).then(|| {
        Check::warn(
            "languages",
            format!("{foreign} of the newest {told} texts are not in English, all that the model has learnt"),
            "deploy/fetch-model multilingual, then start with --model multilingual: it is a change in the background",
        )
    })
}

async fn nats_server() -> Check {
    match crate::nats::server::find(None).await {
        Ok(path) => Check::ok("nats-server", path.display().to_string()),
        Err(error) => Check::warn("nats-server", error.to_string(), "only `memlog serve` without --nats needs it"),
    }
}

fn vault(settings: &Settings) -> Check {
    let Some(vault) = &settings.vault else {
        return Check::warn(
            "vault",
            "in the data folder",
            "back it up apart from the log, or keep it elsewhere with --vault DIR from the start",
        );
    };
    match std::fs::metadata(vault) {
        Ok(found) if found.is_dir() => Check::ok("vault", vault.display().to_string()),
        Ok(_) => Check::fail("vault", format!("{} is no folder", vault.display()), "name a folder with --vault"),
        Err(_) if is_empty(&settings.data) => Check::ok("vault", format!("{}, not there yet", vault.display())),
        Err(error) => Check::fail(
            "vault",
            format!("{}: {error}", vault.display()),
            "without the vault nothing in the log can be read: mount it, or restore it",
        ),
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

/// Opens the log, or asks the server for its head.
async fn log(settings: &Settings, screen: &Screen) -> (Check, Option<Languages>) {
    if settings.nats.is_none() && is_empty(&settings.data) {
        return (Check::ok("log", "not there yet; the first write begins it"), None);
    }
    let backend = match Backend::open(settings, screen, Model::Unused, Folder::Needed).await {
        Ok(backend) => backend,
        Err(Fail::Start(error @ memlog_actors::system::StartError::InUse(_))) => {
            let todo = "`memlog doctor --nats URL` asks that process";
            return (Check::warn("log", error.to_string(), todo), None);
        }
        Err(fail) => {
            let todo = match &fail {
                Fail::Start(_) => {
                    "put right what it names; what is damaged comes back from a backup that verifies".to_owned()
                }
                other => other.hint().unwrap_or_else(|| "put right what it names".to_owned()),
            };
            return (Check::fail("log", fail.to_string(), todo), None);
        }
    };
    let counted = backend.call(&settings.context(), Stats {}).await;
    let languages = match &backend {
        Backend::Embedded(system) => system.languages().await.ok(),
        Backend::Remote(_) => None,
    };
    backend.close().await;
    let check = match counted {
        Ok(stats) => Check::ok(
            "log",
            format!(
                "{} events, {} profiles in namespace {}; head {}:{}",
                stats.events, stats.profiles, settings.namespace, stats.head.seq, stats.head.hash
            ),
        ),
        Err(fail) => Check::fail("log", fail.to_string(), "`memlog verify` says where"),
    };
    (check, languages)
}

fn people(report: &Report) -> String {
    let mut text = format!("memlog {} on {} {}\n\n", report.version, std::env::consts::OS, std::env::consts::ARCH);
    for check in &report.checks {
        let (style, word) = match check.level {
            Level::Ok => (GOOD, "ok  "),
            Level::Warn => (WARNING, "warn"),
            Level::Fail => (BAD, "FAIL"),
        };
        text += &format!("{style}{word}{style:#}  {:<12} {}\n", check.about, check.finding);
        if let Some(todo) = &check.todo {
            text += &format!("      {:<12} {DIM}-> {todo}{DIM:#}\n", "");
        }
    }
    text +=
        if report.remote { "\nsettings of this command; the server has its own\n" } else { "\nsettings in force\n" };
    let flat = flat(&report.settings);
    let flat: Vec<_> = flat.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    text += &pairs(&flat);
    text += "\nwhat forgetting cannot do\n";
    for limit in report.limits_of_erasure {
        text += &format!("- {limit}\n");
    }
    text
}

/// `limits.speakers_max` and the like; what is not set is left out.
fn flat(value: &Value) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Null => {}
            Value::Object(_) => {
                rows.extend(flat(value).into_iter().map(|(below, value)| (format!("{name}.{below}"), value)))
            }
            Value::String(text) => rows.push((name.clone(), text.clone())),
            other => rows.push((name.clone(), other.to_string())),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    // Whoever writes in another language finds little by meaning with the English model, and nothing else would tell.
    #[test]
    fn most_texts_in_other_languages_are_told_of() {
        let told = |told, english| foreign(Languages { told, english }).map(|check| check.finding);
        assert_eq!(told(19, 0), None, "too few to tell");
        assert_eq!(told(20, 10), None, "half of them is not most");
        let finding = told(20, 9).expect("told");
        assert!(finding.starts_with("11 of the newest 20 texts are not in English"), "{finding}");
    }
}
