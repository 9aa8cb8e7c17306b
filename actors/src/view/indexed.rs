//! The text under which a document is found: who said it, when, and what. On real conversations the speaker is worth 17
//! points of vector recall and the date another 2; so both are part of what is indexed and embedded.

use std::fmt::Write;

use memlog_events::{
    event::{Content, MessageAppendedContentV2, SavedContentV1},
    ids::{StreamId, StreamKey},
    log::{Error, Log, Sealed, Stored},
};

use super::catalog::{Catalog, Doc, ThreadSummary};
use crate::{api::Time, domain::Place};

/// `Caroline (8 May 2023): I went to a support group`; without a shown speaker the date alone.
pub fn indexed_text(catalog: &Catalog, it: &Doc, text: &str) -> String {
    let mut out = String::new();
    write_indexed(&mut out, catalog, it, text);
    out
}

/// Writes it behind what is there.
pub(super) fn write_indexed(out: &mut String, catalog: &Catalog, it: &Doc, text: &str) {
    let date = Time(it.when()).timestamp();
    let date = date.strftime("%-d %B %Y");
    let written = match it.speaker.and_then(|id| catalog.speaker_name(id)) {
        Some(speaker) => write!(out, "{speaker} ({date}): {text}"),
        None => write!(out, "({date}): {text}"),
    };
    debug_assert!(written.is_ok(), "a string takes what it is given");
}

/// Words of a text that are embedded together; longer ones are split and found by their best part. Models of this size
/// read about 256 tokens and blur beyond a paragraph.
const CHUNK_WORDS_MAX: usize = 120;

/// The parts in which a text is embedded; each repeats who and when.
pub fn chunks(catalog: &Catalog, it: &Doc, text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    if words.len() <= CHUNK_WORDS_MAX {
        return vec![indexed_text(catalog, it, text)];
    }
    words.chunks(CHUNK_WORDS_MAX).map(|part| indexed_text(catalog, it, part.concat().trim_end())).collect()
}

/// A document's content as the log holds it; none if it is erased.
pub fn content_of(log: &Log, place: &Place, catalog: &Catalog, it: &Doc) -> Result<Option<Content>, Error> {
    Ok(contents_of(log, place, catalog, &[it])?.pop().flatten())
}

/// The same of several, which takes less than one after the other.
pub fn contents_of(log: &Log, place: &Place, catalog: &Catalog, docs: &[&Doc]) -> Result<Vec<Option<Content>>, Error> {
    let own = place.key.scope.own_stream();
    let at = |it: &&Doc| (StreamKey { stream: catalog.stream_of(it, own), ..place.key }, it.at);
    let events = log.each_at(&docs.iter().map(at).collect::<Vec<_>>())?;
    let content = |event: Option<Stored>| match event.map(|event| log.open_content(&event)).transpose()? {
        Some(Sealed::Open(content)) => Ok(Some(content)),
        Some(Sealed::Erased | Sealed::None) | None => Ok(None),
    };
    events.into_iter().map(content).collect()
}

/// What an event says; none if that is damaged, which the log of the process tells.
pub fn undamaged(log: &Log, event: &Stored) -> Result<Option<Sealed>, Error> {
    match log.open_content(event) {
        Err(error) if error.is_of_one() => {
            tracing::error!(%error, "a content is damaged; what does not need it goes on");
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// The contents of several documents, each with its own error if it is damaged.
pub fn each_of(
    log: &Log,
    place: &Place,
    catalog: &Catalog,
    docs: &[&Doc],
) -> Result<Vec<Result<Option<Content>, Error>>, Error> {
    let one = |it: &&Doc| match content_of(log, place, catalog, it) {
        Err(error) if !error.is_of_one() => Err(error),
        read => Ok(read.inspect_err(|error| tracing::error!(%error, "a text is damaged; the others are read"))),
    };
    match contents_of(log, place, catalog, docs) {
        Err(error) if error.is_of_one() => docs.iter().map(one).collect(),
        read => Ok(read?.into_iter().map(Ok).collect()),
    }
}

/// The same for a question, which is answered from the others when one of them is damaged.
pub fn undamaged_of(log: &Log, place: &Place, catalog: &Catalog, docs: &[&Doc]) -> Result<Vec<Option<Content>>, Error> {
    let all = each_of(log, place, catalog, docs)?;
    Ok(all.into_iter().map(|content| content.unwrap_or_default()).collect())
}

/// The text of a thread's summary; none if it is erased.
pub fn summary_text(log: &Log, place: &Place, stream: StreamId, it: ThreadSummary) -> Result<Option<String>, Error> {
    let Some(event) = log.at(StreamKey { stream, ..place.key }, it.at)? else { return Ok(None) };
    Ok(match log.open_content(&event)? {
        Sealed::Open(Content::Summarised(summary)) => Some(summary.text),
        _ => None,
    })
}

/// The words of a content: a record's, a message's, or what is said about an image.
pub fn words_of(content: &Content) -> Option<&str> {
    match content {
        Content::ImageAdded(image) | Content::ImageUpdated(image) => image.description.as_deref(),
        _ => saved(content).map(|it| &*it.content).or_else(|| said(content).map(|it| &*it.text)),
    }
}

/// A record's content, as it was saved or as it was changed.
pub fn saved(content: &Content) -> Option<&SavedContentV1> {
    match content {
        Content::Saved(saved) | Content::Updated(saved) => Some(saved),
        _ => None,
    }
}

/// A message's content, as it was appended or as it was changed.
pub fn said(content: &Content) -> Option<&MessageAppendedContentV2> {
    match content {
        Content::MessageAppended(said) | Content::MessageUpdated(said) => Some(said),
        _ => None,
    }
}
