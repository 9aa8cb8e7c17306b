//! What is known already: statements that repeat it are not made again, and statements that change it say so.

use std::collections::{HashMap, HashSet};

use rust_stemmers::{Algorithm, Stemmer};

use super::lex::{self, Kind, Token};
use super::verbs;
use crate::same::{Author, Statement};

/// Words that say nothing about what a statement is about.
#[rustfmt::skip]
const SMALL: &[&str] = &[
    "the", "a", "an", "is", "are", "was", "were", "be", "been", "am", "has", "have", "had", "do", "does", "did",
    "of", "to", "in", "on", "at", "for", "with", "by", "from", "and", "or", "but", "that", "this", "it", "its",
    "it's", "their", "they", "them", "his", "her", "she", "he", "i", "my", "me", "we", "our", "you", "your", "user",
    "user's", "now", "actually", "also", "just", "really", "very", "so", "there", "longer", "anymore", "not", "no",
    "never", "doesn't", "don't", "isn't", "aren't", "as", "will", "would", "instead", "currently", "any", "more",
    "say", "says",
];

/// Small words of other languages.
const OTHER_SMALL: &[&str] =
    &["el", "la", "los", "las", "un", "una", "en", "a", "de", "en", "в", "на", "с", "le", "les", "der", "die", "das"];

/// Different words for one relation, by stem.
const SAME: &[(&str, &str)] = &[
    ("move", "live"),
    ("reloc", "live"),
    ("job", "work"),
    ("favorit", "favourit"),
    ("start", "work"),
    ("employ", "work"),
];

/// Most entries that are looked at for one stem; without it a long system message and a long turn of the same few words cost
/// square time. Records come first, so only orders can be overlooked.
const PLACES_MAX: usize = 256;

/// The records and orders against which statements are held.
pub(super) struct Known {
    stemmer: Stemmer,
    /// Records, then orders, then what was found so far.
    entries: Vec<Entry>,
    /// Entries that something found since has taken the place of.
    outdated: HashSet<usize>,
    /// Stem to entries, so that a long list costs only what it shares with a statement.
    by_stem: HashMap<String, Vec<usize>>,
    records: usize,
    /// Where the orders end.
    given: usize,
}

struct Entry {
    stems: HashSet<String>,
    /// Those that do not only say when.
    core: HashSet<String>,
    negated: bool,
    /// Whom or what it is about: "user's cousin anna", not just the user.
    subject: Vec<String>,
    text: String,
    /// Whose words it is.
    by: Option<String>,
}

impl Known {
    /// `records` come first and keep their index; `orders` are sentences of system messages.
    /// `by` says whose the records are, as far as it goes.
    pub(super) fn new(records: &[String], by: &[Option<String>], orders: Vec<String>) -> Self {
        let mut known = Self {
            stemmer: Stemmer::create(Algorithm::English),
            entries: Vec::new(),
            outdated: HashSet::new(),
            by_stem: HashMap::new(),
            records: records.len(),
            given: records.len() + orders.len(),
        };
        for text in records.iter().cloned().chain(orders) {
            known.add(text);
        }
        for (entry, by) in known.entries.iter_mut().take(records.len()).zip(by) {
            entry.by.clone_from(by);
        }
        known
    }

    /// One more, found just now.
    pub(super) fn add(&mut self, text: String) {
        let entry = self.entry(text);
        for stem in &entry.stems {
            let places = self.by_stem.entry(stem.clone()).or_default();
            if places.len() < PLACES_MAX {
                places.push(self.entries.len());
            }
        }
        self.entries.push(entry);
    }

    /// What a memory's `corrects` is for an entry, which then can be corrected no more.
    pub(super) fn replace(&mut self, entry: usize) -> usize {
        self.outdated.insert(entry);
        if entry < self.records { entry } else { entry - (self.given - self.records) }
    }

    /// Entries that can be corrected: records, and what was found so far.
    fn current(&self) -> impl Iterator<Item = usize> {
        let recent = self.given.max(self.entries.len().saturating_sub(PLACES_MAX));
        (0..self.records).chain(recent..self.entries.len()).filter(|at| !self.outdated.contains(at))
    }

    fn is_current(&self, at: usize) -> bool {
        (at < self.records || at >= self.given) && !self.outdated.contains(&at)
    }

    /// Whether a record of the same speaker says this, or an order as good as says it. Of records only what is surely the same counts:
    /// the others would swallow news, and a memory that is there twice does less harm.
    pub(super) fn repeats(&self, statement: &str, speaker: Option<&str>) -> bool {
        let this = self.entry(statement.to_owned());
        let said = Statement::new(statement, Author::Anyone);
        // One word is too little to tell.
        let few = this.stems.len() < 2;
        self.shared(&this).into_iter().filter(|(at, _)| *at < self.given).any(|(at, shared)| {
            let that = &self.entries[at];
            if at < self.records {
                return that.by.as_deref() == speaker
                    && shared * 2 >= this.stems.len()
                    && Statement::new(&that.text, Author::Anyone).says_the_same(&said);
            }
            that.negated == this.negated
                && if few { that.stems == this.stems } else { shared * 10 >= this.stems.len() * 9 }
        })
    }

    /// The record that a statement with a word of correction replaces, when only one can be meant.
    pub(super) fn corrected(&self, statement: &str) -> Option<usize> {
        let plain = lex::plain(statement);
        let strong = lex::holds_any(&plain, &["now", "no longer", "anymore", "any more", "not"]);
        let this = self.entry(statement.to_owned());
        let mut best: Vec<(usize, usize)> = Vec::new();
        for (at, shared) in self.shared(&this) {
            let that = &self.entries[at];
            let shared = that.core.intersection(&this.core).count().min(shared);
            let all = that.core.union(&this.core).count();
            // What was said a moment ago is seldom taken back, and mostly only added to.
            let enough = if at < self.records { shared * 4 >= all } else { strong && shared * 2 >= all };
            if self.is_current(at) && enough && that.subject == this.subject {
                best.push((shared * 1000 / all.max(1), at));
            }
        }
        best.sort_unstable_by(|a, b| b.cmp(a));
        match best.as_slice() {
            [(_, at)] => Some(*at),
            [(first, at), (second, _), ..] if first > second => Some(*at),
            _ => None,
        }
    }

    /// The one record that holds the old value which a statement names, and is about the same besides.
    pub(super) fn holding(&self, old: &str, statement: &str) -> Option<usize> {
        let this = self.entry(statement.to_owned());
        let value = lex::plain(old);
        let words: Vec<&str> =
            value.split(' ').filter(|word| !SMALL.contains(word) && !OTHER_SMALL.contains(word)).collect();
        if words.is_empty() {
            return None;
        }
        let old_stems: HashSet<String> = words.iter().map(|word| self.stem(word)).collect();
        let mut best: Vec<(usize, usize)> = self
            .current()
            .filter_map(|at| {
                let that = &self.entries[at];
                let text = lex::plain(&that.text);
                let held = if old.is_ascii() {
                    old_stems.iter().all(|stem| that.stems.contains(stem))
                } else {
                    words.iter().all(|word| text.contains(word))
                };
                // Of languages without spaces whole runs are compared, which are never the same.
                let beside = that.stems.intersection(&this.stems).filter(|stem| !old_stems.contains(*stem)).count();
                let spaced = text.contains(' ') && old.is_ascii();
                (held && (beside > 0 || !spaced)).then_some((beside, at))
            })
            .collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        match best.as_slice() {
            [(_, at)] => Some(*at),
            [(first, at), (second, _), ..] if first > second => Some(*at),
            _ => None,
        }
    }

    /// "It's Porto now": the one record with one name or number in it, with the new one in its place.
    pub(super) fn filled(&self, value: &str, said_before: &str) -> Option<(usize, String)> {
        let before = self.entry(said_before.to_owned());
        let number = value.starts_with(|c: char| c.is_ascii_digit());
        let alone = self.current().count() == 1;
        let mut candidates = self.current().filter(|at| {
            alone
                || !said_before.is_empty()
                    && self.entries[*at].stems.intersection(&before.stems).count() * 2 > self.entries[*at].stems.len()
        });
        let at = candidates.next()?;
        if candidates.next().is_some() {
            return None;
        }
        let text = &self.entries[at].text;
        let tokens = lex::tokens(text);
        let slots: Vec<&Token> = tokens
            .iter()
            .skip(2)
            .filter(|t| {
                if number {
                    t.kind == Kind::Number
                } else {
                    text[t.span.clone()].starts_with(char::is_uppercase) && !t.is("i")
                }
            })
            .collect();
        let [slot] = slots.as_slice() else {
            return None;
        };
        Some((at, format!("{}{value}{}", &text[..slot.span.start], &text[slot.span.end..])))
    }

    fn shared(&self, this: &Entry) -> Vec<(usize, usize)> {
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for at in this.stems.iter().filter_map(|stem| self.by_stem.get(stem)).flatten() {
            *counts.entry(*at).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable();
        counts
    }

    fn entry(&self, text: String) -> Entry {
        let tokens = lex::tokens(&text);
        let words = || tokens.iter().filter(|t| t.kind != Kind::Mark);
        let stems: HashSet<String> =
            words().filter(|t| !SMALL.contains(&t.lower.as_str())).map(|t| self.stem(&t.lower)).collect();
        let timeless = unbracketed(&tokens).filter(|t| {
            let word = t.lower.as_str();
            !SMALL.contains(&word) && !TIMES.contains(&word) && !super::dates::names_time(word)
        });
        let core = timeless.map(|t| self.stem(&t.lower)).collect();
        let negated = words().any(|t| {
            matches!(t.lower.as_str(), "not" | "no" | "never" | "stopped" | "quit" | "нет" | "не")
                || t.lower.ends_with("n't")
        });
        let subject = subject(&tokens);
        Entry { stems, core, negated, subject, text, by: None }
    }

    fn stem(&self, word: &str) -> String {
        let stem = self.stemmer.stem(word.trim_end_matches("'s")).into_owned();
        SAME.iter().find(|(other, _)| *other == stem).map_or(stem, |(_, same)| (*same).to_owned())
    }
}

/// The words before the first verb, without what only colours it, in order of the alphabet: "Theo's swimming lessons" are
/// "swimming lessons for Theo".
fn subject(tokens: &[Token]) -> Vec<String> {
    // "The user says: We fly to Rome" is about them.
    let says = tokens.windows(2).take(6).position(|pair| pair[0].is("says") && pair[1].is(":"));
    let tokens = &tokens[says.map_or(0, |at| at + 2)..];
    let words = unbracketed(tokens).map(|token| token.lower.as_str());
    // "Bob's" is mostly whose, seldom "Bob is".
    let verb = |word: &str| {
        (verbs::is_verb(word) || verbs::is_finite(word) && word.ends_with('s')) && !word.ends_with("'s")
            || AUXILIARY.contains(&word)
    };
    let names =
        |word: &str| !matches!(word, "the" | "for" | "of") && !COLOUR.contains(&word) && !verbs::is_adverb(word);
    let mut subject: Vec<&str> = words.take_while(|word| !verb(word)).collect();
    // "Since last week the user is …": what stands in front says when.
    if let Some(at) = subject.iter().rposition(|word| matches!(*word, "user" | "user's"))
        && WHEN.contains(&subject[0])
    {
        subject.drain(..at);
    }
    let mut subject: Vec<String> =
        subject.into_iter().filter(|word| names(word)).map(|word| word.trim_end_matches("'s")).map(spoken).collect();
    subject.sort_unstable();
    subject
}

/// Words and numbers outside of brackets, in which dates are written out.
fn unbracketed(tokens: &[Token]) -> impl Iterator<Item = &Token> {
    let mut depth = 0_usize;
    tokens.iter().filter(move |token| {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && token.kind != Kind::Mark
    })
}

/// Words that only say when.
const TIMES: &[&str] = &[
    "since",
    "last",
    "next",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "today",
    "yesterday",
    "tomorrow",
    "ago",
    "days",
    "day",
    "morning",
    "evening",
    "night",
    "btw",
];

/// "We" and "our" are the user and others: the same to whom a record belongs.
fn spoken(word: &str) -> String {
    if matches!(word, "we" | "our" | "we're" | "we've") { "user".to_owned() } else { word.to_owned() }
}

/// Words with which a sentence says when, before it says who.
const WHEN: &[&str] = &[
    "since",
    "in",
    "on",
    "from",
    "last",
    "next",
    "this",
    "yesterday",
    "today",
    "tomorrow",
    "after",
    "before",
    "now",
    "as",
    "until",
];

/// Verbs that the list of verbs leaves out because they help others.
const AUXILIARY: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "will", "would", "can", "could", "must", "should", "does", "do",
    "did", "doesn't", "don't", "didn't", "isn't", "aren't", "wasn't", "weren't", "won't", "can't",
];

/// Words between a subject and its verb that do not name it.
const COLOUR: &[&str] = &["no", "longer", "not", "never", "now", "actually", "also", "just", "really", "currently"];

/// Whether the words announce that something is no longer as it was.
pub(super) fn is_correction(plain: &str) -> bool {
    const CUES: &[&str] = &[
        "actually",
        "no longer",
        "anymore",
        "any more",
        "changed my mind",
        "correction",
        "scratch that",
        "i meant",
        "instead",
        "not true",
        "now",
        "used to",
        "switched",
        "stopped",
        "these days",
        "moved",
        "as of",
        "after all",
        "turns out",
        "not anymore",
        "changed it",
        "upped",
        "became",
        "rather than",
        "en realidad",
        "ya no",
        "ahora",
        "al final",
        "на самом деле",
        "больше не",
        "уже не",
        "теперь",
        "вместо",
    ];
    lex::holds_any(plain, CUES)
        || ["実は", "今は", "もう", "やっぱり", "変更", "사실", "이제", "더 이상", "바뀌", "其实", "现在", "改成"]
            .iter()
            .any(|cue| plain.contains(cue))
}

/// The new value of "it's Porto now", "it's actually 14".
pub(super) fn new_value(statement: &str) -> Option<&str> {
    let tokens = lex::tokens(statement);
    let mut at = match (tokens.first()?.lower.as_str(), tokens.get(1).map(|t| t.lower.as_str())) {
        ("it's" | "that's", _) => 1,
        ("it" | "that", Some("is")) => 2,
        _ => return None,
    };
    while tokens.get(at).is_some_and(|t| matches!(t.lower.as_str(), "now" | "actually" | "in")) {
        at += 1;
    }
    let mut end = tokens.len();
    while end > at
        && (tokens[end - 1].kind == Kind::Mark
            || matches!(tokens[end - 1].lower.as_str(), "now" | "actually" | "instead" | "these" | "days"))
    {
        end -= 1;
    }
    let value = statement.get(tokens.get(at)?.span.start..tokens.get(end.checked_sub(1)?)?.span.end)?;
    let named = value.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
    (named && end - at <= 4).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(records: &[&str]) -> Known {
        Known::new(
            &records.iter().map(|r| (*r).to_owned()).collect::<Vec<_>>(),
            &[],
            vec!["The user works at Initech.".into()],
        )
    }

    // Recalled memories come back in the next turn; without this each would breed copies of itself.
    #[test]
    fn repetitions_are_recognised_in_other_words_of_the_same_stem() {
        let known = known(&["The user lives in Porto with their sister Ana.", "The user moved from Oslo to Bergen."]);
        assert!(known.repeats("The user lives in Porto with their sister Ana!", None));
        assert!(known.repeats("The user works at Initech.", None));
        for news in [
            "The user no longer lives in Porto with their sister Ana.",
            "The user lived in Porto with their sister Ana.",
            "The user lives in Lisbon with their sister Ana.",
            "The user moved from Bergen to Oslo.",
        ] {
            assert!(!known.repeats(news, None), "{news}");
        }
        assert!(!known.repeats("The user lives in Porto with their sister Ana.", Some("Bob")), "another's words");
    }

    // Superseding the wrong record hides the truth, so a doubt means none.
    #[test]
    fn a_correction_finds_the_one_record_it_can_mean() {
        let records = known(&["The user has a cat.", "The user lives in Lisbon.", "Bob lives in Rome."]);
        assert_eq!(records.corrected("The user lives in Porto now."), Some(1));
        assert_eq!(records.corrected("The user moved to Porto."), Some(1));
        assert_eq!(records.corrected("The user likes tea."), None);
        let twins = known(&["The user lives in Lisbon.", "The user lives in Rome."]);
        assert_eq!(twins.corrected("The user lives in Porto now."), None);
    }

    // The same news about somebody else is news.
    #[test]
    fn what_is_said_of_another_corrects_nothing() {
        for (record, statement) in [
            (
                "The user's cousin Anna moved to Lima with her two dogs.",
                "The user's cousin Berta moved to Lima with her two dogs.",
            ),
            ("The user's sister lives in Rome.", "The user's brother lives in Rome now."),
            ("The user lives in Rome.", "The user's brother lives in Oslo now."),
            ("The red car is in the garage now.", "The blue car is in the garage now."),
            ("Bob works at Initech.", "Alice works at Initech now."),
        ] {
            assert_eq!(known(&[record]).corrected(statement), None, "{record} / {statement}");
        }
        assert_eq!(
            known(&["The user's brother lives in Rome."]).corrected("The user's brother lives in Oslo now."),
            Some(0)
        );
    }

    // "It's Porto now" means nothing a week later.
    #[test]
    fn a_bare_new_value_takes_the_place_of_the_old() {
        assert_eq!(new_value("it's Porto now."), Some("Porto"));
        assert_eq!(new_value("it's hard now."), None);
        assert_eq!(
            known(&["The user lives in Lisbon."]).filled("Porto", ""),
            Some((0, "The user lives in Porto.".into()))
        );
        assert_eq!(known(&["The user lives in Lisbon.", "The user has a dog."]).filled("Porto", ""), None);
    }
}
