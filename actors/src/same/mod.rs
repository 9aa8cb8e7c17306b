//! When two statements say the same, so that the second need not be stored. Pure: two texts go in, a yes or a no comes out; no
//! model, no clock, no log and no profile enters here.
//!
//! Nearness of vectors finds what may be a duplicate and must never decide: "allergic to shellfish" lies next to "allergic to
//! peanuts", and "no longer drinks coffee" next to "drinks coffee". So each statement is brought into a plain form (`plain`): words
//! that carry no meaning are left out, and what is written in several ways (`three` and 3, `can't` and `cannot`, `purchase` and
//! `buy`, `I` and `the user`) is written in one. The two plain forms must then be equal word for word, up to the few changes of
//! order that keep the meaning (`order`, `voice`). A number, a name, a negation, a tense or an object that differs is left over and
//! makes the answer no, and so does every word that the lists here have never seen in the other's place. To lose a duplicate costs
//! a line; to lose news costs trust.
//!
//! `language` tells which lists hold, `english`, `european` and `eastern` are the lists, `grammar` is what no list can say of English. To teach it a phrase, add it to a list: a
//! line there must hold in every sentence, since nothing else will check it.

mod eastern;
mod english;
mod european;
mod grammar;
mod inflect;
mod language;
mod lists;
mod marks;
mod order;
mod plain;
mod voice;

#[cfg(test)]
mod tests;

use language::Language;
use marks::Marks;

/// Longer texts are compared to the letter alone: what is said in several sentences is rarely said again in the same ones.
const WORDS_MAX: usize = 60;
const BYTES_MAX: usize = 600;

/// A text that says the same has at least one in so many of its terms in common with the statement and what could stand for its words;
/// of the labelled pairs each has, and most have half. Terms beside these: who said it and when, the small words of a short statement in a
/// language whose are indexed, and accented words, which are two.
const SHARED_ONE_IN: usize = 3;
const TERMS_BESIDE: usize = 7;

/// Who a statement is from; it decides whom "I" and "the user" mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// Nobody in particular: then "I" is the user, as agents write either.
    Anyone,
    /// A registered speaker, or the agent itself: then "the user" may be somebody else.
    Speaker,
}

/// A statement, read once and compared as often as need be.
#[derive(Debug)]
pub struct Statement {
    text: String,
    author: Author,
    language: Language,
    form: Form,
    marks: Marks,
}

#[derive(Debug)]
enum Form {
    /// Too long to be compared otherwise than to the letter.
    Long,
    Alphabetic(plain::Form),
    Eastern(String),
}

impl Statement {
    /// Reads a text.
    pub fn new(text: &str, author: Author) -> Self {
        Self::in_language(text, author, language::of(text))
    }

    fn in_language(text: &str, author: Author, language: Language) -> Self {
        let form = match language {
            _ if text.len() > BYTES_MAX => Form::Long,
            Language::Alphabetic(lists) => plain::form(text, lists, author).map_or(Form::Long, Form::Alphabetic),
            Language::Eastern(language) => Form::Eastern(eastern::plain(text, language, author)),
        };
        Self { text: text.to_owned(), author, language, form, marks: Marks::of(text) }
    }

    /// Whether the two say the same. Both are from the same speaker.
    pub fn says_the_same(&self, other: &Self) -> bool {
        if self.marks != other.marks || marks::differ_in_case(&self.text, &other.text) {
            return false;
        }
        if self.language != other.language {
            return self.says_the_same_in_one_language(other);
        }
        match (&self.form, &other.form, self.language) {
            (Form::Alphabetic(one), Form::Alphabetic(two), Language::Alphabetic(lists)) => plain::same(one, two, lists),
            (Form::Eastern(one), Form::Eastern(two), Language::Eastern(language)) => eastern::same(one, two, language),
            _ => false,
        }
    }

    /// Whether a text could say the same that has so many terms, of which so many are in [`Statement::in_other_words`]. Told without
    /// reading it; of languages without spaces, whose terms are no words, nothing is told.
    pub fn may_be_said_in(&self, shared: usize, terms: usize) -> bool {
        matches!(self.form, Form::Eastern(_)) || SHARED_ONE_IN * shared + TERMS_BESIDE >= terms
    }

    /// The text, and after it whatever else could stand for its words: what a search by words for the same statement asks.
    pub fn in_other_words(&self) -> String {
        match (&self.form, self.language) {
            (Form::Alphabetic(form), Language::Alphabetic(lists)) => {
                format!("{} {}", self.text, plain::other_words(form, lists).join(" "))
            }
            _ => self.text.clone(),
        }
    }

    /// A short statement may have no small word that tells its language; the other one then does.
    fn says_the_same_in_one_language(&self, other: &Self) -> bool {
        // Some words are the same in most duplicates; statements in two languages need not be read again.
        let [one, two]: [Vec<&str>; 2] = [self, other].map(|it| it.text.split_whitespace().collect());
        let shared = one.iter().filter(|word| two.contains(word)).count();
        if shared * 3 < one.len().min(two.len()) {
            return false;
        }
        // Joined in an order of their own, so that it does not matter which is asked.
        let (first, last) = if self.text < other.text { (self, other) } else { (other, self) };
        let language = language::of(&format!("{} {}", first.text, last.text));
        let [one, two] = [self, other].map(|it| Self::in_language(&it.text, it.author, language));
        one.says_the_same(&two)
    }
}

/// Whether `new` says nothing that `stored` does not say, nor the other way round. Both are from the same speaker.
pub fn says_the_same(stored: &str, new: &str, author: Author) -> bool {
    Statement::new(stored, author).says_the_same(&Statement::new(new, author))
}
