//! The keyword view as recall sees it.

use proptest::prelude::*;

use super::{Bm25, Keyword};

fn index(texts: &[&str]) -> Keyword {
    let mut keyword = Keyword::new();
    for (doc, text) in texts.iter().enumerate() {
        keyword.insert(doc as u32, text);
    }
    keyword
}

fn found(keyword: &Keyword, query: &str) -> Vec<u32> {
    let terms = keyword.prepare(query);
    keyword.best(&terms, 10, &|_| true).into_iter().map(|(doc, _)| doc).collect()
}

// People remember in their own language; each of these is a way that word splitting made for English fails.
#[test]
fn every_language_finds_its_own() {
    let keyword = index(&[
        "我昨天在北京买了一只猫",
        "昨日、東京で黒い猫を買いました",
        "어제 서울에서 고양이를 샀어요",
        "Вчера я купила чёрную кошку в Москве",
        "Ayer compré una gata en Córdoba",
        "เมื่อวานฉันซื้อแมวที่กรุงเทพ",
        "Yesterday Caroline’s sister bought a cat",
        "Die Straße führt über München",
    ]);
    for (query, doc) in [
        ("北京", 0),
        ("東京で買った", 1),
        ("고양이", 2),
        ("кошка", 3),
        ("черная", 3),
        ("Cordoba compre", 4),
        ("CÓRDOBA", 4),
        ("แมว", 5),
        ("Caroline", 6),
        ("buying cats", 6),
        ("munchen", 7),
        ("strasse", 7),
    ] {
        assert_eq!(found(&keyword, query).first(), Some(&doc), "{query}");
    }
    // One ideograph is a word, and both languages have it.
    assert_eq!(found(&keyword, "猫").len(), 2);
}

#[test]
fn who_types_the_accent_gets_the_accented_word_first() {
    let keyword = index(&["resume the work", "my résumé is long", "resume resume"]);
    assert_eq!(found(&keyword, "résumé")[0], 1);
    assert_eq!(found(&keyword, "resume").len(), 3);
}

// The three rules of BM25: rare words count more, repeating counts less and less, long texts are held back.
#[test]
fn bm25_orders() {
    let keyword = index(&[
        "lake house sunrise painting",
        "lake lake lake house house",
        "lake sunrise",
        "lake sunrise and many other things happened that day near town, people talked walked and went home early",
        "house",
    ]);
    assert_eq!(found(&keyword, "sunrise")[0], 2);
    assert_eq!(found(&keyword, "painting lake")[0], 0);
    assert_eq!(found(&keyword, "sunrise").last(), Some(&3));
    let once = keyword.score(&keyword.prepare("lake"), 2);
    let thrice = keyword.score(&keyword.prepare("lake"), 1);
    assert!(thrice > once && thrice < 2.2 * once);
    assert!(Bm25::default().k1 > 0.0);
}

#[test]
fn stop_words_alone_find_nothing() {
    let keyword = index(&["what is it to you", "the lake"]);
    assert!(keyword.prepare("what is the").is_empty());
    assert!(found(&keyword, "what is the").is_empty());
    assert_eq!(found(&keyword, "what is the lake"), [1]);
}

// Filters applied after the top k are the fault that this design is against: Alice would be told that she said nothing.
#[test]
fn one_document_of_alice_among_ten_thousand_better_ones() {
    let mut keyword = Keyword::new();
    for doc in 0..10_000 {
        let text = if doc == 5_000 { "I once saw a lake, then rain, then snow, then more rain" } else { "lake lake" };
        keyword.insert(doc, text);
    }
    let terms = keyword.prepare("lake");
    let asked = std::cell::Cell::new(0);
    let hits = keyword.best(&terms, 3, &|doc| {
        asked.set(asked.get() + 1);
        doc == 5_000
    });
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0], (5_000, keyword.score(&terms, 5_000)));
    // Without a filter that refuses, the filter is asked next to nothing.
    asked.set(0);
    keyword.best(&terms, 3, &|_| {
        asked.set(asked.get() + 1);
        true
    });
    assert!(asked.get() < 10, "asked {}", asked.get());
}

#[test]
fn a_filter_may_ask_the_view_itself() {
    let keyword = index(&["lake house", "lake"]);
    let terms = keyword.prepare("lake");
    let hits = keyword.best(&terms, 5, &|doc| keyword.best(&terms, 1, &|_| true)[0].0 == doc);
    assert_eq!(hits.len(), 1);
}

/// Everything the index says, by name and not by number, since numbers are reused.
fn statistics(keyword: &Keyword, vocabulary: &[&str], docs: u32) -> Vec<String> {
    let mut all = vec![format!("{} {} {:?}", keyword.len(), keyword.length, keyword.postings_held())];
    for word in vocabulary {
        let terms = keyword.prepare(word);
        let scores: Vec<f32> = (0..docs).map(|doc| keyword.score(&terms, doc)).collect();
        all.push(format!("{word} {} {scores:?} {:?}", terms.len(), keyword.best(&terms, 100, &|_| true)));
    }
    all
}

const VOCABULARY: &[&str] = &["lake", "house", "painting", "кошка", "猫", "東京", "résumé", "3.14", "the"];

// A profile of endless words must not take memory that nobody counts, nor one forgotten text slow down all that follow.
#[test]
fn remembered_words_are_short_and_counted_and_go_on_being_remembered() {
    let mut keyword = Keyword::new();
    keyword.expect_many(true);
    keyword.insert(0, "lake house");
    assert_eq!(keyword.words_known(), 2);
    keyword.insert(1, &"x".repeat(1_000));
    assert_eq!(keyword.words_known(), 2, "a long word");
    keyword.remove(0);
    assert_eq!(keyword.words_known(), 0, "the numbers of its terms are free");
    keyword.insert(0, "lake house");
    assert_eq!(keyword.words_known(), 2);
    let folding = keyword.bytes();
    keyword.expect_many(false);
    assert!(folding > keyword.bytes() + "lakehouse".len());
}

proptest! {
    // A deleted message must not be provable from what is left, and must not shift anybody's ranking.
    #[test]
    fn removing_is_never_having_inserted(
        steps in prop::collection::vec((0_u32..12, prop::option::weighted(0.7, prop::collection::vec(0..VOCABULARY.len(), 0..8))), 0..60),
        many in any::<bool>(),
    ) {
        let mut lived = Keyword::new();
        // Remembered words may change nothing but the time it takes.
        lived.expect_many(many);
        let mut last: [Option<String>; 12] = Default::default();
        for (doc, words) in steps {
            last[doc as usize] = words.map(|words| words.iter().map(|w| VOCABULARY[*w]).collect::<Vec<_>>().join(" "));
            match &last[doc as usize] {
                Some(text) => lived.insert(doc, text),
                None => lived.remove(doc),
            }
        }
        let mut fresh = Keyword::new();
        for (doc, text) in last.iter().enumerate() {
            if let Some(text) = text {
                fresh.insert(doc as u32, text);
            }
        }
        prop_assert_eq!(statistics(&lived, VOCABULARY, 12), statistics(&fresh, VOCABULARY, 12));
        for doc in 0..12 {
            lived.remove(doc);
        }
        prop_assert!(lived.is_empty() && lived.postings_held() == (0, 0) && lived.length == 0);
    }
}
