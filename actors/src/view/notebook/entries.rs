//! The view of a notebook: each layer's entries by name, with the places of their versions in the log.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use memlog_events::{
    event::{Content, EntrySavedContentV1, EntrySavedV1, Facts},
    ids::{Digest, EntryId, Micros, Version},
    log::{Error, Log, Sealed, Stored},
};

use super::{Folded, words::Words};
use crate::{api::author, domain::notebook::Address};

/// An entry as it is now, but for its text.
#[derive(Debug)]
pub struct Entry {
    /// The entry.
    pub id: EntryId,
    /// The user whose layer it lies in.
    pub user: Option<String>,
    /// Its name.
    pub name: String,
    /// One line.
    pub description: String,
    /// Its version.
    pub version: u64,
    /// The event of the stream that has its text.
    pub at: Version,
    /// When that was saved.
    pub updated_at: Micros,
    /// By whom.
    pub updated_by: String,
    /// The words by which it is found, once it was searched.
    words: OnceLock<Words>,
}

impl Entry {
    /// The words by which it is found; none if its text is gone. `content` is asked for until it was once there.
    pub fn words<E>(
        &self,
        content: impl FnOnce() -> Result<Option<String>, E>,
        searched_bytes: &AtomicUsize,
    ) -> Result<Option<&Words>, E> {
        if self.words.get().is_none() {
            let Some(content) = content()? else { return Ok(None) };
            let words = Words::of(&self.name, &self.description, &content);
            let bytes = words.bytes();
            if self.words.set(words).is_ok() {
                searched_bytes.fetch_add(bytes, Ordering::Relaxed);
            }
        }
        Ok(self.words.get())
    }

    fn searched_bytes(&self) -> usize {
        self.words.get().map_or(0, Words::bytes)
    }
}

/// A version of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// 1, 2, 3, ...
    pub version: u64,
    /// Which entry's: a name forgotten and saved again is another's.
    pub entry: EntryId,
    /// The event of the stream that has its text.
    pub at: Version,
    /// The event that has its description: an earlier one if it kept what was there.
    pub described: Version,
    /// When it was saved.
    pub saved_at: Micros,
}

#[derive(Default)]
struct Line {
    versions: Vec<Kept>,
    living: Option<Arc<Entry>>,
}

#[derive(Default)]
struct Layer {
    lines: HashMap<Digest, Line>,
    by_name: BTreeMap<String, Digest>,
}

/// A notebook's entries as reads see them.
#[derive(Default)]
pub struct Entries {
    layers: HashMap<Option<Digest>, Layer>,
    /// Of all entries that ever were.
    ever: HashMap<EntryId, Address>,
    living: usize,
    /// When anything in it last changed.
    pub updated_at: Option<Micros>,
    bytes: usize,
    /// What the words of searched entries take; counted up by readers.
    searched_bytes: Arc<AtomicUsize>,
}

/// What an entry costs besides its texts.
const ENTRY_BYTES: usize = 400;
/// What a version costs.
const VERSION_BYTES: usize = 64;

impl Entries {
    /// The entry of that place.
    pub fn get(&self, (layer, name): Address) -> Option<&Arc<Entry>> {
        self.layers.get(&layer)?.lines.get(&name)?.living.as_ref()
    }

    /// All versions of that place, forgotten ones, too, oldest first.
    pub fn versions(&self, (layer, name): Address) -> &[Kept] {
        let line = self.layers.get(&layer).and_then(|layer| layer.lines.get(&name));
        line.map_or(&[], |line| &line.versions)
    }

    /// A layer's entries by name.
    pub fn layer(&self, layer: Option<Digest>) -> impl Iterator<Item = &Arc<Entry>> {
        let layer = self.layers.get(&layer);
        layer
            .into_iter()
            .flat_map(|layer| layer.by_name.values().filter_map(|name| layer.lines.get(name)?.living.as_ref()))
    }

    /// A version of an entry, forgotten or not.
    pub fn kept(&self, entry: EntryId, version: u64) -> Option<Kept> {
        let (layer, name) = self.ever.get(&entry)?;
        let line = self.layers.get(layer)?.lines.get(name)?;
        let at = line.versions.binary_search_by_key(&version, |kept| kept.version).ok()?;
        Some(line.versions[at])
    }

    /// How many entries there are in all layers.
    pub fn count(&self) -> usize {
        self.living
    }

    /// Where readers count what the words of searched entries take.
    pub fn searched_bytes(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.searched_bytes)
    }

    fn save(&mut self, e: &EntrySavedV1, content: Option<EntrySavedContentV1>, event: &Stored) {
        let (at, time) = (event.head.version, event.head.time);
        self.bytes += VERSION_BYTES;
        self.updated_at = Some(time);
        let layer = self.layers.entry(e.layer).or_default();
        let line = layer.lines.entry(e.name_digest).or_default();
        let own = content.as_ref().is_none_or(|content| content.description.is_some());
        let before = line.versions.last().filter(|before| !own && before.entry == e.entry);
        let described = before.map_or(at, |before| before.described);
        self.ever.insert(e.entry, (e.layer, e.name_digest));
        line.versions.push(Kept { version: e.version, entry: e.entry, at, described, saved_at: time });
        // Without its content it was forgotten since: its versions stay, and nothing of what they said.
        let Some(content) = content else { return };
        let before = line.living.take();
        let searched = before.as_ref().map_or(0, |before| before.searched_bytes());
        self.searched_bytes.fetch_sub(searched, Ordering::Relaxed);
        let kept = || before.as_ref().map(|before| before.description.clone());
        let description = content.description.or_else(kept).unwrap_or_default();
        if before.is_none() {
            layer.by_name.insert(content.name.clone(), e.name_digest);
            self.living += 1;
            self.bytes += ENTRY_BYTES + content.name.len() + description.len();
        }
        line.living = Some(Arc::new(Entry {
            id: e.entry,
            user: content.user_id,
            name: content.name,
            description,
            version: e.version,
            at,
            updated_at: time,
            updated_by: author(&content.by),
            words: OnceLock::new(),
        }));
    }

    fn forget(&mut self, entry: EntryId, time: Micros) {
        self.updated_at = Some(time);
        let Some((layer, name)) = self.ever.get(&entry) else { return };
        let Some(layer) = self.layers.get_mut(layer) else { return };
        // Without its content it never lived here.
        let living = layer.lines.get_mut(name).and_then(|line| line.living.take_if(|living| living.id == entry));
        if let Some(gone) = living {
            self.living -= 1;
            self.searched_bytes.fetch_sub(gone.searched_bytes(), Ordering::Relaxed);
            layer.by_name.remove(&gone.name);
            self.bytes = self.bytes.saturating_sub(ENTRY_BYTES + gone.name.len() + gone.description.len());
        }
    }
}

impl Folded for Entries {
    fn apply(&mut self, log: &Log, event: &Stored) -> Result<(), Error> {
        match &event.facts {
            Facts::EntrySaved(e) => {
                let content = match log.open_content(event)? {
                    Sealed::Open(Content::EntrySaved(content)) => Some(content),
                    _ => None,
                };
                self.save(e, content, event);
            }
            Facts::EntryForgot(e) => self.forget(e.entry, event.head.time),
            _ => {}
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.bytes + self.searched_bytes.load(Ordering::Relaxed)
    }
}
