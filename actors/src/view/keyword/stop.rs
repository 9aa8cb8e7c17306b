//! The words that are never indexed: so common that they carry no meaning and cost the most.
//!
//! English in full; of Russian and Spanish only words that mean nothing in English ("son" and "la" stay, for Los
//! Angeles is somebody's home). What is missing here is merely slow: BM25 gives a common word next to no weight.

use std::{collections::HashSet, sync::LazyLock};

use foldhash::fast::RandomState;

/// English, folded and without apostrophes.
const ENGLISH: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "me",
    "more",
    "most",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "same",
    "she",
    "should",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "very",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

/// Russian, with "ё" written "е": the words of the usual lists, with pronouns in every case, for a question has another case than its answer;
/// without those that are names as well, as "том" and "сам" are; "ли" stays, for every second question has it.
#[rustfmt::skip]
const RUSSIAN: &[&str] = &[
    "а", "без", "будем", "будет", "будешь", "буду", "будут", "бы", "бывает", "был", "была", "были", "было", "быть",
    "в", "вам", "вами", "вас", "ваш", "ваша", "ваше", "ваши", "ведь", "во", "вот", "впрочем", "все", "всего", "всем",
    "всеми", "всему", "всех", "всю", "вы", "где", "да", "даже", "для", "до", "другая", "другие", "других", "другого",
    "другое", "другой", "другом", "его", "ее", "ей", "ему", "если", "есть", "еще", "ею", "же", "за", "зачем", "здесь",
    "и", "из", "или", "им", "ими", "их", "к", "как", "какая", "какие", "каким", "какими", "каких", "какого", "какое",
    "какой", "каком", "какому", "какую", "кем", "ко", "когда", "кого", "ком", "кому", "конечно", "которая",
    "которого", "которое", "котором", "которому", "которую", "которые", "который", "которым", "которыми", "которых",
    "кто", "куда", "ли", "либо", "между", "меня", "мне", "мной", "мое", "моего", "моей", "моему", "может", "можно",
    "мои", "моим", "моих", "мой", "мою", "моя", "мы", "на", "над", "наконец", "нами", "нас", "наш", "наша", "наше",
    "нашего", "нашей", "наши", "не", "него", "нее", "ней", "нему", "нет", "ни", "нибудь", "ним", "ними", "них",
    "ничего", "но", "ну", "о", "об", "однако", "он", "она", "они", "оно", "опять", "от", "откуда", "перед", "по",
    "под", "после", "потом", "потому", "почему", "почти", "при", "про", "ради", "разве", "с", "сама", "сами",
    "само", "свое", "своего", "своей", "своему", "свои", "своим", "своими", "своих", "свой", "свою", "своя", "себе",
    "себя", "сколько", "со", "собой", "совсем", "та", "так", "такая", "такие", "таких", "такого", "такое", "такой",
    "там", "твое", "твои", "твой", "твоя", "те", "тебе", "тебя", "тем", "теми", "тех", "то", "тобой", "тогда", "того",
    "тоже", "той", "только", "тому", "тот", "ту", "туда", "тут", "ты", "у", "уже", "хоть", "чего", "чей",
    "чем", "чему", "через", "что", "чтоб", "чтобы", "чуть", "чьи", "чья", "эта", "эти", "этим", "этими", "этих",
    "это", "этого", "этой", "этом", "этому", "этот", "эту", "я", "является",
];

/// Spanish, folded; without what is a word or a name elsewhere.
const SPANISH: &[&str] = &[
    "al", "como", "cuando", "de", "del", "donde", "el", "ella", "en", "entre", "esta", "este", "esto", "hay", "las",
    "los", "mas", "muy", "para", "pero", "por", "porque", "que", "se", "sobre", "su", "sus", "tambien", "una", "unas",
    "uno", "unos", "y",
];

/// Every word of a text is looked for here.
static WORDS: LazyLock<HashSet<&str, RandomState>> =
    LazyLock::new(|| [ENGLISH, RUSSIAN, SPANISH].into_iter().flatten().copied().collect());
/// Bytes of the longest of them.
const WORD_BYTES_MAX: usize = 24;

/// Whether a folded, lower-case word is left out of the index and of queries.
pub(super) fn is_stop(word: &str) -> bool {
    word.len() <= WORD_BYTES_MAX && WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    // One word too long would silently be indexed.
    #[test]
    fn the_lists_are_in_order_and_every_word_of_them_is_found() {
        for list in [ENGLISH, RUSSIAN, SPANISH] {
            assert!(list.is_sorted(), "{list:?}");
            assert!(list.iter().all(|word| is_stop(word)), "{list:?}");
        }
    }

    #[test]
    fn common_words_go_and_names_stay() {
        assert!(is_stop("the") && is_stop("yourselves") && is_stop("это") && is_stop("una"));
        assert!(!is_stop("la") && !is_stop("son") && !is_stop("caroline"));
        assert!(["том", "сам"].iter().all(|name| !is_stop(name)));
    }
}
