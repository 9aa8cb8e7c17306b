//! Speakers against a plain model, through NATS: whatever the order of adding, removing, adding again, saving, superseding
//! and forgetting, every read by person is what a plain list would say. The longer run, with conversations, the clock and
//! restarts, is in `actors/tests/model.rs`.

use memlog_actors::{
    api::{error::Kind, profile::*, speaker},
    limits::Limits,
};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use crate::{
    speakers::{listing, said_by, saying, searching},
    support::{
        Nats,
        served::{Memlog, refused},
    },
};

#[path = "../../actors/tests/model/plain.rs"]
#[allow(dead_code, reason = "shared with the model of the whole system, which uses the rest")]
mod plain;

use plain::Plain;

#[derive(Clone, Debug)]
enum Step {
    Add(u8),
    Remove(u8),
    Save(u8),
    Supersede(u8),
    Forget(u8),
}

/// The last one is never registered.
const NAMES: [&str; 5] = ["Bob", "bob", "さくら", "me", "Eve"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..3_u8).prop_map(Step::Add),
        2 => (0..3_u8).prop_map(Step::Remove),
        6 => (0..6_u8).prop_map(Step::Save),
        2 => any::<u8>().prop_map(Step::Supersede),
        2 => any::<u8>().prop_map(Step::Forget),
    ];
    proptest::collection::vec(step, 8..24)
}

struct Run<'a> {
    memlog: &'a Memlog,
    plain: Plain,
    words: u32,
}

/// No clock is moved here, so nothing expires.
const NOW: i64 = 0;

impl Run<'_> {
    async fn take(&mut self, step: Step) {
        let profile = "team".to_owned();
        match step {
            Step::Add(pick) => {
                let name = NAMES[pick as usize];
                self.memlog.call(speaker::Add { profile, speaker: name.to_owned() }).await.unwrap();
                self.plain.add_speaker(name);
            }
            Step::Remove(pick) => {
                let name = NAMES[pick as usize];
                let removed = self.memlog.call(speaker::Remove { profile, speaker: name.to_owned() }).await;
                assert_eq!(removed.is_ok(), self.plain.remove_speaker(name), "{removed:?}");
            }
            Step::Save(pick) => {
                self.words += 1;
                let (text, name) = (format!("tells of zq{}x", self.words), NAMES.get(pick as usize).copied());
                let known = name.is_none_or(|name| name == "me" || self.plain.is_registered(name));
                let saved = self.memlog.call(saying(name, &text)).await;
                if known {
                    let memory = saved.unwrap().memory;
                    assert_eq!(memory.speaker.as_deref(), name);
                    self.plain.save(memory.id, &text, None, name, None, Vec::new());
                } else {
                    let error = refused(saved);
                    assert_eq!((error.kind, error.fields["speaker"].as_str()), (Kind::InvalidRequest, name));
                }
            }
            Step::Supersede(pick) => {
                let valid = self.plain.pick(pick, NOW).filter(|line| !line.invalid).cloned();
                let Some(old) = valid else { return };
                self.words += 1;
                let (memory_id, content) = (old.id.clone(), format!("tells of zq{}x", self.words));
                let new = Supersede { profile, memory_id, content: content.clone(), ..Supersede::default() };
                let new = self.memlog.call(new).await.unwrap().memory;
                assert_eq!(new.speaker, self.plain.shown(&old), "a correction keeps whose words they are");
                self.plain.supersede(&old, new.id, &content, None);
            }
            Step::Forget(pick) => {
                let Some(line) = self.plain.pick(pick, NOW).cloned() else { return };
                self.memlog.call(Forget { profile, memory_id: line.id.clone() }).await.unwrap();
                self.plain.forget(&line);
            }
        }
    }

    /// All that holds, under whose words it is, and nothing else: nothing forgotten, superseded, or of another person.
    async fn compare_summary(&self) {
        let summary = Summary { profile: "team".to_owned(), session_id: None, as_of: None };
        let summary = self.memlog.call(summary).await.unwrap().summary;
        let valid = self.plain.lines.iter().filter(|line| !line.invalid);
        let mut wanted: Vec<_> = valid.map(|line| (self.plain.shown(line), line.text.clone())).collect();
        wanted.sort_unstable();
        assert_eq!(told(&summary), wanted, "{summary}");
    }

    async fn compare(&self) {
        if !self.plain.exists() {
            assert_eq!(refused(self.memlog.call(listing()).await).kind, Kind::NotFound);
            return;
        }
        let listed = self.memlog.call(listing()).await.unwrap();
        let told: Vec<_> = listed.speakers.into_iter().map(|it| (it.speaker, it.memories)).collect();
        assert_eq!(told, self.plain.registry(NOW));
        for name in NAMES {
            if name != "me" && !self.plain.is_registered(name) {
                for error in [
                    refused(self.memlog.call(said_by(name)).await),
                    refused(self.memlog.call(searching("tells", Some(name))).await),
                ] {
                    assert_eq!((error.kind, error.fields["speaker"].as_str()), (Kind::NotFound, Some(name)));
                }
                continue;
            }
            let theirs = self.plain.texts_of(name, NOW);
            let read = self.memlog.call(speaker::Memories { limit: Some(500), ..said_by(name) }).await.unwrap();
            let order: Vec<_> = self.plain.lines.iter().rev().filter(|line| theirs.contains_key(&line.id)).collect();
            let read: Vec<_> = read.memories.into_iter().map(|it| (it.id, it.speaker)).collect();
            let wanted: Vec<_> = order.iter().map(|line| (line.id.clone(), Some(name.to_owned()))).collect();
            assert_eq!(read, wanted);
            let found = self.memlog.call(searching("tells", Some(name))).await.unwrap().memories;
            let found: std::collections::BTreeMap<_, _> =
                found.into_iter().map(|hit| (hit.id, hit.content.flatten().unwrap())).collect();
            assert_eq!(found, theirs, "all and nothing but what {name} said");
        }
        self.compare_summary().await;
        let all = self.memlog.call(searching("tells", None)).await.unwrap().memories;
        for line in self.plain.lines.iter().filter(|line| !line.invalid) {
            let hit = all.iter().find(|hit| hit.id == line.id);
            assert_eq!(hit.map(|hit| hit.speaker.clone()), Some(self.plain.shown(line)), "{line:?}");
        }
    }
}

/// The lines of a summary above its last session, each with the person it stands under.
pub(crate) fn told(summary: &str) -> Vec<(Option<String>, String)> {
    let (mut person, mut told) = (None, Vec::new());
    for line in summary.lines().take_while(|line| *line != "## Last Session") {
        if line.starts_with("## ") {
            person = None;
        } else if let Some(name) = line.strip_prefix("### ") {
            person = Some(name.to_owned()).filter(|name| name != "Untagged");
        } else if let Some((text, _)) = line.strip_prefix("- ").and_then(|line| line.rsplit_once(" (")) {
            told.push((person.clone(), text.to_owned()));
        }
    }
    told.sort_unstable();
    told
}

#[test]
fn whatever_the_order_each_reads_as_a_plain_list_says() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let Some(nats) = runtime.block_on(Nats::start()) else { return };
    let config = Config { cases: 12, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let outcome = TestRunner::new(config).run(&steps(), |steps| {
        runtime.block_on(async {
            let data = tempfile::tempdir().unwrap();
            let memlog = Memlog::open(data.path(), nats.url(), Limits::default()).await;
            let mut run = Run { memlog: &memlog, plain: Plain::default(), words: 0 };
            for step in steps {
                run.take(step).await;
                run.compare().await;
            }
            memlog.close().await;
        });
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
