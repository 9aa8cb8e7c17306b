//! Speakers in the model: the registry with its counts, each person's own memories page by page, searches for one person,
//! and names that nobody registered.

use memlog_actors::api::{
    AsOf,
    error::Kind,
    profile::{Remember, Search, Summary},
    record::Record,
    speaker,
};

use super::{
    Line, Run,
    world::{self, ALICE, acme, search},
};

impl Run {
    /// All that depends on who is registered, now and at an earlier moment.
    pub(super) async fn compare_speakers(&self, pick: u8) {
        self.compare_registry().await;
        let name = ["Bob", "bob", "さくら", "Иван", "me", "Eve"][pick as usize % 6];
        let registered = self.plain.speakers().contains_key(name);
        self.compare_said_by(name, registered, &self.plain.lines.clone(), None).await;
        self.compare_search_by(name, registered, pick).await;
        if !registered && name != "me" {
            self.write_as_stranger(name).await;
        }
        if let Some((seq, lines, speakers)) = self.moments.get(pick as usize % self.moments.len().max(1)) {
            // A registration that ended since is hidden there, and one that began since was not there.
            let then = speakers.get(name);
            let shown = then.is_some() && then == self.plain.speakers().get(name);
            let lines = self.plain.without_what_is_gone(lines.clone());
            self.compare_said_by(name, shown, &lines, Some(AsOf::Seq(*seq))).await;
        }
    }

    /// A summary tells what holds and nothing else, its last session included.
    pub(super) async fn compare_summary(&self) {
        let asked = Summary { profile: ALICE.to_owned(), ..Summary::default() };
        let summary = match self.system().profile_summary(&acme(), asked).await {
            Ok(summary) => summary.reply.summary,
            Err(error) => {
                assert!(error.kind == Kind::NotFound && !self.plain.exists(), "{error}");
                return;
            }
        };
        let now = self.now();
        let texts = self.plain.texts(now);
        let (known, last) = summary.split_once("\n## Last Session\n").expect("it has a last session");
        for line in self.plain.lines.iter().filter(|line| !line.invalid && line.is_alive(now)) {
            assert!(known.contains(&format!("- {} (", line.text)), "{line:?} is missing in {summary}");
        }
        for line in known.lines().chain(last.lines()).filter_map(|line| line.strip_prefix("- ")) {
            let there =
                texts.values().any(|text| line.starts_with(&format!("{text} (")) || line.ends_with(text.as_str()));
            assert!(there, "{line} is gone, and told in {summary}");
        }
    }

    async fn compare_registry(&self) {
        let list = speaker::List { profile: ALICE.to_owned(), as_of: None };
        let listed = match self.system().speaker_list(&acme(), list).await {
            Ok(listed) => listed.reply,
            Err(error) => {
                assert!(error.kind == Kind::NotFound && !self.plain.exists(), "{error}");
                return;
            }
        };
        let told: Vec<_> = listed.speakers.iter().map(|it| (it.speaker.clone(), it.memories)).collect();
        assert_eq!(told, self.plain.registry(self.now()));
        assert_eq!((listed.count, listed.limit), (told.len() as u64, 50));
    }

    async fn compare_said_by(&self, name: &str, registered: bool, lines: &[Line], as_of: Option<AsOf>) {
        let mut next =
            speaker::Memories { profile: ALICE.to_owned(), speaker: name.to_owned(), as_of, ..Default::default() };
        next.limit = Some(2);
        let mut read: Vec<Record> = Vec::new();
        loop {
            let page = match self.system().speaker_memories(&acme(), next.clone()).await {
                Ok(page) => page.reply,
                Err(error) => {
                    let unknown = self.plain.exists() && error.fields.get("speaker").is_some_and(|it| it == name);
                    let told = error.kind == Kind::NotFound
                        && (unknown && !registered && name != "me" || !self.plain.exists());
                    assert!(told, "{name} {as_of:?}: {error}");
                    return;
                }
            };
            assert!(registered || name == "me", "{name} is not registered {as_of:?}");
            // One sentence a memory, and one for each message that a memory was made from.
            let sentences: usize = page.memories.iter().map(|it| 1 + it.sources.len()).sum();
            assert_eq!((page.chunks, page.points_to_delete), (sentences as u64, sentences as u64));
            read.extend(page.memories);
            (next.before, next.skip_ids) = (page.next_before, Some(page.next_skip_ids));
            if next.before.is_none() {
                break;
            }
        }
        let now = self.now();
        let theirs =
            |line: &&Line| self.plain.shown(line).as_deref() == Some(name) && !line.invalid && line.is_alive(now);
        let wanted: Vec<_> =
            lines.iter().rev().filter(theirs).map(|line| (line.id.clone(), line.text.clone())).collect();
        let read: Vec<_> = read.into_iter().map(|it| (it.id, it.content.flatten().expect("content"))).collect();
        assert_eq!(read, wanted, "{name} {as_of:?}");
    }

    async fn compare_search_by(&self, name: &str, registered: bool, pick: u8) {
        let word = format!("zq{}x", u32::from(pick) % self.words.max(1) + 1);
        let asked = Search { speaker: Some(name.to_owned()), ..search(&word) };
        let found = match self.system().profile_search(&acme(), asked).await {
            Ok(found) => found.reply.memories,
            Err(error) => {
                assert!(
                    error.kind == Kind::NotFound && !(registered || name == "me") || !self.plain.exists(),
                    "{error}"
                );
                return;
            }
        };
        let now = self.now();
        let texts = self.plain.texts_of(name, now);
        for hit in &found {
            assert_eq!(hit.speaker.as_deref(), Some(name), "{hit:?}");
            assert_eq!(texts.get(&hit.id), hit.content.clone().flatten().as_ref(), "{hit:?}");
        }
        for any in self.plain.matching_of(name, &word, now) {
            assert!(found.iter().any(|hit| any.contains(&hit.id)), "{word} of {name} is not found: {any:?}");
        }
    }

    /// Refused, and the log stays where it was.
    async fn write_as_stranger(&self, name: &str) {
        let before = self.system().health().seq;
        let request = Remember { speaker: Some(name.to_owned()), ..world::remember("a stranger's words") };
        let error = self.system().profile_remember(&acme(), request).await.expect_err("nobody knows the name");
        assert_eq!((error.kind, error.fields["speaker"].as_str()), (Kind::InvalidRequest, Some(name)));
        assert_eq!(self.system().health().seq, before);
    }
}
