//! The postings: which documents hold a term, how often. Inserting and removing keep every statistic exact, so that an
//! index that has forgotten a document is the index that never had it.

use std::sync::Arc;

use super::analyse::{Kind, Piece, each_piece, word_terms};
use super::search::{Bm25, Terms};
use crate::view::HashMap;

/// One document of a term's list, which is ordered by document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) doc: u32,
    /// How often the document has the term; more than 65,535 times counts as that.
    pub(super) count: u16,
    /// The document's length in terms, cut at 65,535; here too so that ranking reads one list from end to end.
    pub(super) length: u16,
}

/// What is kept of a document: what must be found again to remove it.
#[derive(Debug)]
struct Entry {
    /// Its distinct terms.
    terms: Box<[u32]>,
    length: u16,
}

/// An inverted index over the texts of one profile, by document number.
#[derive(Debug, Default)]
pub struct Keyword {
    pub(super) bm25: Bm25,
    /// UTF-8 bytes rather than `str`, for a safe way to overwrite a word that is forgotten.
    dictionary: HashMap<Arc<[u8]>, u32>,
    /// By term: its key in the dictionary.
    names: Vec<Option<Arc<[u8]>>>,
    /// By term; an empty list is a free number.
    pub(super) postings: Vec<Vec<Posting>>,
    free: Vec<u32>,
    /// By document; documents are numbered densely.
    entries: Vec<Option<Entry>>,
    pub(super) documents: usize,
    /// Sum of all lengths.
    pub(super) length: u64,
    /// Kept up to date, since measuring walks everything.
    bytes: usize,
    /// Room for the terms of one text.
    scratch: Vec<u32>,
    /// While many texts come in: words as they stand in texts, and the terms of each.
    known: Option<Known>,
}

/// A term's number, and whether it counts as length.
type Counting = (u32, bool);

/// Words whose terms are remembered while many texts come in: some four megabytes at most, which are counted.
const KNOWN_MAX: usize = 50_000;
/// A longer word is hardly met again.
const KNOWN_WORD_BYTES_MAX: usize = 31;

/// A word and its length: one piece of memory, in the table itself, since nearly each word of a text is looked up.
type Word = [u8; KNOWN_WORD_BYTES_MAX + 1];

fn key_of(word: &str) -> Option<Word> {
    let mut key = [0; KNOWN_WORD_BYTES_MAX + 1];
    key.get_mut(..word.len()).filter(|_| word.len() <= KNOWN_WORD_BYTES_MAX)?.copy_from_slice(word.as_bytes());
    key[KNOWN_WORD_BYTES_MAX] = word.len() as u8;
    Some(key)
}

/// The terms of words as they stand in texts.
#[derive(Debug, Default)]
struct Known {
    terms: HashMap<Word, WordTerms>,
    /// Of terms that lie apart.
    bytes: usize,
}

/// The terms of one word.
#[derive(Debug)]
enum WordTerms {
    /// As nearly every word has.
    One(Counting),
    /// None or several.
    Others(Box<[Counting]>),
}

impl WordTerms {
    fn as_slice(&self) -> &[Counting] {
        match self {
            Self::One(term) => std::slice::from_ref(term),
            Self::Others(terms) => terms,
        }
    }
}

impl Known {
    fn add(&mut self, word: Word, terms: Vec<Counting>) {
        if self.terms.len() >= KNOWN_MAX {
            return;
        }
        let terms = if let [term] = terms[..] {
            WordTerms::One(term)
        } else {
            self.bytes += terms.len() * size_of::<Counting>();
            WordTerms::Others(terms.into())
        };
        self.terms.insert(word, terms);
    }

    fn clear(&mut self) {
        self.terms.clear();
        self.bytes = 0;
    }

    fn bytes(&self) -> usize {
        self.bytes + self.terms.capacity() * (size_of::<(Word, WordTerms)>() + 1)
    }
}

/// The counts of one text while it is being read.
struct Counted {
    terms: Vec<u32>,
    length: u32,
}

impl Counted {
    fn add(&mut self, (term, has_length): Counting) {
        self.length += u32::from(has_length);
        self.terms.push(term);
    }
}

impl Keyword {
    /// An empty index with the ranking that suits people's chat.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty index that ranks with other constants.
    pub fn with(bm25: Bm25) -> Self {
        Self { bm25, ..Self::default() }
    }

    /// Indexes the text as that document's, in place of an earlier one. A text without terms is a document of no
    /// length: nothing finds it, but it counts in the statistics.
    pub fn insert(&mut self, doc: u32, text: &str) {
        self.remove(doc);
        let mut counted = Counted { terms: std::mem::take(&mut self.scratch), length: 0 };
        each_piece(text, &mut |piece| match piece {
            Piece::Word(word) => self.count_word(word, &mut counted),
            Piece::Term(term, kind) => counted.add(self.counting(term, kind)),
        });
        let length = counted.length.min(u16::MAX.into()) as u16;
        counted.terms.sort_unstable();
        // To the letter as many as there are: no room is given back.
        let mut distinct = Vec::with_capacity(counted.terms.chunk_by(|a, b| a == b).count());
        for same in counted.terms.chunk_by(|a, b| a == b) {
            distinct.push(same[0]);
            let count = same.len().min(u16::MAX.into()) as u16;
            add(&mut self.postings[same[0] as usize], Posting { doc, count, length });
        }
        counted.terms.clear();
        self.scratch = counted.terms;
        self.documents += 1;
        self.length += u64::from(length);
        self.bytes += entry_bytes(distinct.len());
        let at = doc as usize;
        if self.entries.len() <= at {
            self.entries.resize_with(at + 1, || None);
        }
        self.entries[at] = Some(Entry { terms: distinct.into(), length });
    }

    /// Many texts are about to come in, most of whose words were in an earlier one: the terms of words are remembered until it is
    /// said that no more come.
    pub fn expect_many(&mut self, many: bool) {
        self.known = many.then(Known::default);
        self.scratch = Vec::new();
    }

    fn count_word(&mut self, word: &str, counted: &mut Counted) {
        let key = self.known.as_ref().and_then(|_| key_of(word));
        if let (Some(known), Some(key)) = (&self.known, &key)
            && let Some(terms) = known.terms.get(key)
        {
            terms.as_slice().iter().for_each(|term| counted.add(*term));
            return;
        }
        let mut terms = Vec::new();
        word_terms(word, &mut |term, kind| terms.push(self.counting(term, kind)));
        terms.iter().for_each(|term| counted.add(*term));
        if let (Some(known), Some(key)) = (&mut self.known, key) {
            known.add(key, terms);
        }
    }

    fn counting(&mut self, term: &str, kind: Kind) -> Counting {
        let id = match self.dictionary.get(term.as_bytes()) {
            Some(id) => *id,
            None => self.new_term(term),
        };
        (id, kind.has_length())
    }

    fn new_term(&mut self, term: &str) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.postings.push(Vec::new());
            self.names.push(None);
            (self.postings.len() - 1) as u32
        });
        let name: Arc<[u8]> = term.as_bytes().into();
        self.names[id as usize] = Some(Arc::clone(&name));
        self.dictionary.insert(name, id);
        self.bytes += term_bytes(term.len());
        id
    }

    /// Forgets the document. Terms that only it had leave the dictionary, and their letters the memory.
    pub fn remove(&mut self, doc: u32) {
        let Some(entry) = self.entries.get_mut(doc as usize).and_then(Option::take) else {
            return;
        };
        self.documents -= 1;
        self.length -= u64::from(entry.length);
        self.bytes -= entry_bytes(entry.terms.len());
        for term in entry.terms {
            let list = &mut self.postings[term as usize];
            if let Ok(at) = list.binary_search_by_key(&doc, |posting| posting.doc) {
                list.remove(at);
            }
            if list.is_empty() {
                *list = Vec::new();
                self.drop_term(term);
            } else if list.capacity() > 4 * list.len() {
                list.shrink_to(2 * list.len());
            }
        }
    }

    fn drop_term(&mut self, term: u32) {
        let Some(mut name) = self.names[term as usize].take() else {
            return;
        };
        self.dictionary.remove(&name);
        // The number will be another's.
        if let Some(known) = &mut self.known {
            known.clear();
        }
        self.free.push(term);
        self.bytes -= term_bytes(name.len());
        if let Some(letters) = Arc::get_mut(&mut name) {
            letters.fill(0);
            // Keeps the compiler from leaving out a write that nobody reads.
            std::hint::black_box(letters);
        }
    }

    /// A document's length in terms, cut at 65,535; 0 if it is not there.
    pub fn length(&self, doc: u32) -> u32 {
        let entry = self.entries.get(doc as usize).and_then(Option::as_ref);
        entry.map_or(0, |entry| u32::from(entry.length))
    }

    /// How many of a document's distinct terms a query asks for, and how many there are.
    pub fn overlap(&self, asked: &Terms, doc: u32) -> (usize, usize) {
        let entry = self.entries.get(doc as usize).and_then(Option::as_ref);
        let terms = entry.map_or(&[][..], |entry| &entry.terms);
        (asked.ids().filter(|term| terms.binary_search(term).is_ok()).count(), terms.len())
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// An estimate of the memory held, for the budget.
    pub fn bytes(&self) -> usize {
        let known = self.known.as_ref().map_or(0, Known::bytes);
        size_of::<Self>()
            + self.bytes
            + self.scratch.capacity() * size_of::<u32>()
            + known
            + self.entries.capacity() * size_of::<Option<Entry>>()
    }

    pub(super) fn term(&self, term: &str) -> Option<u32> {
        self.dictionary.get(term.as_bytes()).copied()
    }
}

/// New documents have the highest number, so this is nearly always a push.
fn add(list: &mut Vec<Posting>, posting: Posting) {
    match list.last() {
        Some(last) if last.doc > posting.doc => {
            let at = list.partition_point(|other| other.doc < posting.doc);
            list.insert(at, posting);
        }
        _ => list.push(posting),
    }
}

/// A posting with the slack of its list, and the term's number in the entry.
fn entry_bytes(distinct: usize) -> usize {
    distinct * (size_of::<Posting>() * 3 / 2 + size_of::<u32>())
}

/// The key with its allocation, its place in the table at the usual load, and its list's head.
fn term_bytes(letters: usize) -> usize {
    letters + 32 + (size_of::<(Arc<[u8]>, u32)>() + 1) * 3 / 2 + size_of::<Arc<[u8]>>() + size_of::<Vec<Posting>>()
}

#[cfg(test)]
impl Keyword {
    /// Terms of the dictionary and postings of all lists.
    pub(super) fn postings_held(&self) -> (usize, usize) {
        (self.dictionary.len(), self.postings.iter().map(Vec::len).sum())
    }

    /// Words whose terms are remembered.
    pub(super) fn words_known(&self) -> usize {
        self.known.as_ref().map_or(0, |known| known.terms.len())
    }
}
