//! How an entry is found: by the beginnings of its words, whatever the script.
//!
//! A text is brought to NFKC and lower case and cut into words by the Unicode rules, with dictionaries for scripts that put no
//! spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese). A word matches if it begins with a word of the query; in
//! those scripts also if it holds one of at least two characters, since dictionaries join what a reader would not (`ご返金`).

use std::{collections::BTreeSet, sync::LazyLock};

use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed, options::WordBreakInvariantOptions};
use unicode_normalization::UnicodeNormalization;

static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()));

/// A longer word (a key, a picture in base64) is cut here.
const WORD_CHARS_MAX: usize = 64;

/// The text as it is compared.
fn folded(text: &str) -> String {
    text.nfkc().flat_map(char::to_lowercase).collect()
}

/// The distinct words of a text, in order of the alphabet.
fn words(folded: &str) -> BTreeSet<Box<str>> {
    let mut found = BTreeSet::new();
    let ends: Vec<usize> = SEGMENTER.segment_str(folded).collect();
    for pair in ends.windows(2) {
        let word = &folded[pair[0]..pair[1]];
        if !word.contains(char::is_alphanumeric) {
            continue;
        }
        found.insert(cut(word));
        // `refund_policy` and `our.refunds` are one word to Unicode and two to people.
        if word.contains(is_joint) {
            let parts = word.split(is_joint).filter(|part| part.contains(char::is_alphanumeric));
            found.extend(parts.map(cut));
        }
    }
    found
}

fn is_joint(c: char) -> bool {
    !c.is_alphanumeric() && !unicode_normalization::char::is_combining_mark(c)
}

fn cut(word: &str) -> Box<str> {
    word.chars().take(WORD_CHARS_MAX).collect::<String>().into()
}

/// Whether a word is of a script whose words are not set apart by spaces.
fn is_spaceless(word: &str) -> bool {
    let spaceless = |c: char| {
        matches!(c as u32,
            0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF // Thai, Lao, Burmese, Khmer
            | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x31F0..=0x31FF // kana and iteration marks
            | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF) // ideographs
    };
    word.chars().next().is_some_and(spaceless)
}

/// The words of an entry, by where they stand.
#[derive(Debug)]
pub struct Words {
    name: Field,
    description: Field,
    content: Field,
}

#[derive(Debug)]
struct Field {
    words: Box<[Box<str>]>,
    /// The whole text, where the whole query may stand in it.
    text: Option<String>,
}

impl Field {
    fn of(text: &str, keep: bool) -> Self {
        let folded = folded(text);
        Self { words: words(&folded).into_iter().collect(), text: keep.then_some(folded) }
    }

    fn has(&self, query: &str) -> bool {
        let from = self.words.partition_point(|word| **word < *query);
        if self.words.get(from).is_some_and(|word| word.starts_with(query)) {
            return true;
        }
        let inside = is_spaceless(query) && query.chars().nth(1).is_some();
        inside && self.words.iter().any(|word| word.contains(query))
    }

    fn holds(&self, whole: &str) -> bool {
        self.text.as_ref().is_some_and(|text| text.contains(whole))
    }

    fn bytes(&self) -> usize {
        let words: usize = self.words.iter().map(|word| word.len() + size_of::<Box<str>>()).sum();
        words + self.text.as_ref().map_or(0, String::len)
    }
}

impl Words {
    /// Of an entry.
    pub fn of(name: &str, description: &str, content: &str) -> Self {
        Self {
            name: Field::of(name, true),
            description: Field::of(description, true),
            content: Field::of(content, false),
        }
    }

    /// Estimate of their memory.
    pub fn bytes(&self) -> usize {
        self.name.bytes() + self.description.bytes() + self.content.bytes()
    }
}

/// What somebody looks for.
#[derive(Debug)]
pub struct Query {
    whole: String,
    words: Vec<Box<str>>,
}

/// How well an entry matches: more words of the query first, then the whole query in name or description, then words in the
/// name, then in the description.
pub type Rank = (usize, bool, usize, usize);

impl Query {
    /// Reads a query.
    pub fn new(text: &str) -> Self {
        let whole = folded(text.trim());
        Self { words: words(&whole).into_iter().collect(), whole }
    }

    /// How well it matches; none if it does not.
    pub fn rank(&self, entry: &Words) -> Option<Rank> {
        let (mut any, mut named, mut described) = (0, 0, 0);
        for word in &self.words {
            let (name, description) = (entry.name.has(word), entry.description.has(word));
            named += usize::from(name);
            described += usize::from(description);
            any += usize::from(name || description || entry.content.has(word));
        }
        let whole = !self.whole.is_empty() && (entry.name.holds(&self.whole) || entry.description.holds(&self.whole));
        // The whole query holds all its words, also where it begins in the middle of one.
        let any = if whole { self.words.len().max(1) } else { any };
        (any > 0).then_some((any, whole, named, described))
    }
}

#[cfg(test)]
mod tests {
    use super::{Query, Words};

    fn finds(query: &str, content: &str) -> bool {
        Query::new(query).rank(&Words::of("", "", content)).is_some()
    }

    // The page's rule, word for word.
    #[test]
    fn words_are_found_by_their_beginnings_whatever_their_case() {
        for (query, content) in [
            ("refund", "Refunds within 30 days"),
            ("REFUND", "our refunds."),
            ("policy refund", "no refunds"),
            ("30", "within 30 days"),
            ("ver", "Été vert"),
            ("été", "E\u{301}te\u{301} vert"),
            ("возврат", "Возвраты за 30 дней"),
            ("환불", "환불은 30일 이내"),
            ("policy", "see refund_policy"),
            ("refunds", "read our.refunds first"),
        ] {
            assert!(finds(query, content), "{query} in {content}");
        }
        for (query, content) in [("fund", "refunds"), ("refunds", "a refund"), ("!?", "refund!?"), ("day", "Sunday")] {
            assert!(!finds(query, content), "{query} in {content}");
        }
    }

    // Without spaces every character would match everything, and a whole sentence nothing.
    #[test]
    fn chinese_japanese_and_thai_are_cut_into_words() {
        for (query, content) in [
            ("退款", "我们的退款流程很简单"),
            ("流程", "我们的退款流程很简单"),
            ("天气 退款", "我们的退款流程很简单"),
            ("返金", "返金ポリシーは30日以内です"),
            ("返金", "ご返金について"),
            ("ポリシー", "返金ポリシーは30日以内です"),
            ("เงิน", "นโยบายการคืนเงินภายใน 30 วัน"),
            ("คืนเงิน", "นโยบายการคืนเงินภายใน 30 วัน"),
        ] {
            assert!(finds(query, content), "{query} in {content}");
        }
        for (query, content) in [
            ("天气", "今天的退款"),
            ("京都", "東京都に住んでいます"),
            ("กิน", "นโยบายการคืนเงินภายใน 30 วัน"),
            ("วันเกิด", "นโยบายการคืนเงิน"),
        ] {
            assert!(!finds(query, content), "{query} in {content}");
        }
    }

    #[test]
    fn more_words_are_better_and_the_whole_query_is_all_of_them() {
        let rank = |query: &str, name: &str, description: &str, content: &str| {
            Query::new(query).rank(&Words::of(name, description, content))
        };
        let both = rank("refund policy", "a", "b", "The policy of refunds").expect("found");
        let one = rank("refund policy", "refund", "refund", "refund").expect("found");
        let whole = rank("refund policy", "a", "Our refund policy", "").expect("found");
        assert!(both > one && whole > both);
        // In the middle of a word, and with marks alone: there is no word that begins so.
        assert!(rank("fund", "refunds", "b", "c").is_some());
        assert!(rank("c++", "notes on c++", "b", "c").is_some());
        assert!(rank("+", "a", "b", "c+").is_none());
    }
}
