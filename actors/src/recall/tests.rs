//! Ranking as a client sees it: given these documents, when this is asked, then these come in this order.

use jiff::Timestamp;

use super::*;

mod records;
mod thought;

/// A corpus whose searches are word overlap and hand-given cosines, so that a story names the one thing it is about.
#[derive(Clone, Default)]
struct Toy {
    docs: Vec<Doc>,
    texts: Vec<String>,
    cosines: Vec<Option<f32>>,
    query: String,
    vectors: bool,
    hidden: Vec<u32>,
    links: Vec<(u32, u32)>,
    unread: bool,
}

impl Toy {
    fn asked(query: &str) -> Self {
        Toy { query: query.to_owned(), ..Toy::default() }
    }

    fn add(&mut self, doc: Doc, text: &str) -> u32 {
        let terms = crate::view::keyword::analyse::terms(text).len() as u32;
        self.docs.push(Doc { asks: asks(text), terms, ..doc });
        self.texts.push(text.to_owned());
        self.cosines.push(None);
        self.docs.len() as u32 - 1
    }

    fn say(&mut self, thread: u32, speaker: u32, day: &str, text: &str) -> u32 {
        let doc = Doc {
            thread: Some(thread),
            is_message: true,
            from_assistant: false,
            speaker: Some(speaker),
            at: at(day),
            asks: false,
            terms: 0,
            sources: vec![],
        };
        self.add(doc, text)
    }

    fn record(&mut self, sources: &[u32], text: &str) -> u32 {
        let first = self.docs[sources[0] as usize].clone();
        self.add(Doc { is_message: false, sources: sources.to_vec(), ..first }, text)
    }

    fn near(&mut self, doc: u32, cosine: f32) {
        self.vectors = true;
        self.cosines[doc as usize] = Some(cosine);
    }

    fn best(&self, limit: usize, score: impl Fn(u32) -> Option<f32>) -> Vec<Hit> {
        let all = (0..self.docs.len() as u32).filter(|doc| self.admits(*doc));
        let mut all: Vec<_> = all.filter_map(|doc| Some(Hit { doc, score: score(doc)? })).collect();
        all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        all.truncate(limit);
        all
    }

    /// What is listed, best first.
    fn ranked(&self) -> Vec<u32> {
        self.ranked_on(&[])
    }

    fn ranked_on(&self, dates: &[DateSpan]) -> Vec<u32> {
        self.hits(dates).iter().map(|hit| hit.doc).collect()
    }

    fn hits(&self, dates: &[DateSpan]) -> Vec<Hit> {
        rank(&Question { text: self.query.clone(), dates: dates.to_vec() }, self, Breadth::Low)
    }

    fn thought(&self, breadth: Breadth) -> Vec<u32> {
        let question = Question { text: self.query.clone(), dates: vec![] };
        let hits = rank(&question, self, breadth);
        assert!(hits.is_sorted_by(|one, next| one.score >= next.score), "scores order the hits: {hits:?}");
        hits.iter().map(|hit| hit.doc).collect()
    }
}

impl Corpus for Toy {
    fn doc(&self, doc: u32) -> Option<Doc> {
        self.docs.get(doc as usize).cloned()
    }

    fn admits(&self, doc: u32) -> bool {
        !self.hidden.contains(&doc)
    }

    fn beside(&self, doc: u32, offset: i32) -> Option<u32> {
        let thread = self.docs[doc as usize].thread;
        let turns: Vec<u32> = (0..self.docs.len() as u32)
            .filter(|it| self.docs[*it as usize].is_message && self.docs[*it as usize].thread == thread)
            .collect();
        let place = turns.iter().position(|it| *it == doc)? as i64 + i64::from(offset);
        turns.get(usize::try_from(place).ok()?).copied()
    }

    fn linked(&self, doc: u32) -> Vec<u32> {
        self.links.iter().filter(|link| link.0 == doc && self.admits(link.1)).map(|link| link.1).collect()
    }

    fn speakers(&self) -> Vec<(u32, String)> {
        vec![(0, "Ann".to_owned()), (1, "Bob".to_owned())]
    }

    fn texts(&self, docs: &[u32]) -> Vec<String> {
        docs.iter().map(|doc| self.texts[*doc as usize].clone()).collect()
    }

    fn offers(&self, doc: u32) -> Offers {
        let day = crate::extract::dates::day_of(self.docs[doc as usize].at);
        Offers::of(&self.texts[doc as usize], day)
    }

    fn rarity(&self, word: &str) -> f32 {
        let having = |text: &&String| text.contains(word);
        1.0 / (1 + self.texts.iter().filter(having).count()) as f32
    }

    fn with_words(&self, words: &str) -> Self {
        Toy { query: words.to_owned(), ..self.clone() }
    }

    fn keyword_best(&self, limit: usize) -> Vec<Hit> {
        self.best(limit, |doc| Some(self.keyword_score(doc)).filter(|score| *score > 0.0))
    }

    fn keyword_score(&self, doc: u32) -> f32 {
        let words = |text: &str| crate::view::keyword::analyse::terms(text);
        let asked = words(&self.query);
        words(&self.texts[doc as usize]).iter().filter(|word| asked.contains(word)).count() as f32
    }

    fn vector_best(&self, limit: usize) -> Option<Vec<Hit>> {
        self.vectors.then(|| self.best(limit, |doc| self.cosines[doc as usize]))
    }

    fn reads_question(&self) -> bool {
        !self.unread
    }

    fn cosine_floor(&self) -> f32 {
        MINILM_COSINE_FLOOR
    }

    fn vector_score(&self, doc: u32) -> Option<f32> {
        self.cosines[doc as usize]
    }
}

fn at(day: &str) -> Timestamp {
    format!("{day}T12:00:00Z").parse().unwrap()
}

fn span(start: &str, end: &str, precision: Precision) -> DateSpan {
    let midnight = |day: &str| format!("{day}T00:00:00Z").parse().unwrap();
    DateSpan { start: midnight(start), end: midnight(end), precision, yearly: false }
}

#[test]
fn nothing_that_matches_gives_nothing() {
    // Why: recall must be able to say "I do not know"; a nearest neighbour always exists, and means nothing when it is
    // far.
    let mut toy = Toy::asked("volcano eruption");
    let tea = toy.say(1, 0, "2024-01-01", "I like tea.");
    assert!(toy.ranked().is_empty());
    toy.near(tea, MINILM_COSINE_FLOOR - 0.01);
    assert!(toy.ranked().is_empty());
    toy.near(tea, MINILM_COSINE_FLOOR + 0.01);
    assert_eq!(toy.ranked(), [tea]);
    assert!(Toy::asked("anything").ranked().is_empty());
}

#[test]
fn what_matches_in_no_way_is_not_listed_beside_what_does() {
    // Why: in a small profile everything is a candidate; filling the page with the rest would bury the one answer.
    let mut toy = Toy::asked("tea");
    let tea = toy.say(1, 0, "2024-01-01", "I like tea.");
    let far = toy.say(2, 0, "2024-01-01", "My car broke down.");
    toy.near(tea, 0.6);
    toy.near(far, 0.1);
    assert_eq!(toy.ranked(), [tea]);
}

#[test]
fn both_legs_count_for_every_candidate() {
    // Why: a document that both legs like must beat one that only one leg loves.
    let mut toy = Toy::asked("Norwegian fjord cruise");
    let words = toy.say(1, 0, "2024-01-01", "The fjord cruise brochure");
    let both = toy.say(2, 0, "2024-01-01", "We took a cruise through a fjord");
    let meaning = toy.say(3, 0, "2024-01-01", "A boat trip up north");
    let neither = toy.say(4, 0, "2024-01-01", "Nothing");
    for (doc, cosine) in [(words, 0.3), (both, 0.7), (meaning, 0.7), (neither, 0.0)] {
        toy.near(doc, cosine);
    }
    assert_eq!(toy.ranked(), [both, meaning, words]);
}

#[test]
fn a_rare_word_is_found_among_many_that_are_near() {
    // Why: where all vectors are about equally near, being far says little, and the one text with the word is meant.
    let mut toy = Toy::asked("zirconium");
    for thread in 0..60 {
        let near = toy.say(thread, 0, "2024-01-01", "Something about metals");
        toy.near(near, 0.6 + 0.0001 * thread as f32);
    }
    let rare = toy.say(60, 0, "2024-01-01", "Zirconium it was");
    toy.near(rare, 0.05);
    assert_eq!(toy.ranked().first(), Some(&rare));
}

#[test]
fn an_answer_follows_its_question() {
    // Why: "Paris!" shares no word with "where did you go"; only its place tells. The same reply elsewhere stays out.
    let mut toy = Toy::asked("where was the summer holiday");
    toy.say(1, 0, "2024-01-01", "Paris, with the kids.");
    let question = toy.say(2, 1, "2024-01-01", "Where did you spend your summer holiday?");
    let reply = toy.say(2, 0, "2024-01-01", "Paris, with the kids.");
    toy.say(2, 1, "2024-01-01", "Nice.");
    assert_eq!(toy.ranked(), [question, reply]);
}

#[test]
fn a_turn_after_a_question_gains_more_than_one_after_a_statement() {
    // Why: the second 0.2 is for turns that ask.
    let mut toy = Toy::asked("summer holiday");
    toy.say(1, 1, "2024-01-01", "The summer holiday is near.");
    let after_statement = toy.say(1, 0, "2024-01-01", "Yes.");
    toy.say(2, 1, "2024-01-01", "How was the summer holiday?");
    let after_question = toy.say(2, 0, "2024-01-01", "Yes.");
    for thread in 3..12 {
        toy.say(thread, 1, "2024-01-01", "Rain over the summer.");
    }
    let ranked = toy.ranked();
    let place = |doc| ranked.iter().position(|it| *it == doc).unwrap();
    assert!(place(after_question) < place(after_statement));
}

#[test]
fn a_neighbour_outside_the_filter_helps_and_is_not_listed() {
    // Why: asked for Ann's words alone, Bob's question before them still tells which of them answer.
    let mut toy = Toy::asked("summer holiday plans");
    let other = toy.say(1, 0, "2024-01-01", "Holiday at last.");
    let question = toy.say(2, 1, "2024-01-01", "What are your summer holiday plans?");
    let reply = toy.say(2, 0, "2024-01-01", "A holiday in Paris.");
    toy.say(3, 0, "2024-01-01", "Tea.");
    toy.hidden = vec![question];
    // The hidden turn is no candidate of its own; it comes as the neighbour of one.
    assert_eq!(toy.ranked(), [reply, other]);
}

#[test]
fn a_speaker_named_alone_is_preferred() {
    // Why: "What does Bob cook?" asks Bob; with both named, or none, the words alone decide and ties go by document.
    let mut toy = Toy::asked("what does Bob cook");
    let ann = toy.say(1, 0, "2024-01-01", "I cook soup.");
    let bob = toy.say(2, 1, "2024-01-01", "I cook soup.");
    assert_eq!(toy.ranked(), [bob, ann]);
    for query in ["what do Ann and Bob cook", "who can cook"] {
        toy.query = query.to_owned();
        assert_eq!(toy.ranked(), [ann, bob], "{query}");
    }
}

#[test]
fn a_named_date_prefers_what_was_said_then() {
    // Why: temporal questions repeat the same words about many days.
    let mut toy = Toy::asked("what did we run");
    let winter = toy.say(1, 0, "2023-12-20", "We run today.");
    let year = toy.say(2, 0, "2024-11-20", "We run today.");
    let near = toy.say(3, 0, "2024-05-12", "We run today.");
    let day = toy.say(4, 0, "2024-05-08", "We run today.");
    assert_eq!(toy.ranked(), [winter, year, near, day]);
    assert_eq!(toy.ranked_on(&[span("2024-05-08", "2024-05-09", Precision::Day)]), [day, near, winter, year]);
    assert_eq!(toy.ranked_on(&[span("2024-05-01", "2024-06-01", Precision::Month)]), [near, day, winter, year]);
    assert_eq!(toy.ranked_on(&[span("2024-01-01", "2025-01-01", Precision::Year)]), [year, near, day, winter]);
}

#[test]
fn a_month_without_a_year_is_the_nearest_and_may_be_any() {
    // Why: "in May" is asked years later, too, and then of a May that only the conversation knows.
    let mut toy = Toy::asked("what did we run");
    let winter = toy.say(1, 0, "2023-12-20", "We run today.");
    let long_ago = toy.say(2, 0, "2021-05-03", "We run today.");
    let nearest = toy.say(3, 0, "2024-05-12", "We run today.");
    let may = span("2024-05-01", "2024-06-01", Precision::Month);
    assert_eq!(toy.ranked_on(&[DateSpan { yearly: true, ..may }]), [nearest, long_ago, winter]);
    assert_eq!(toy.ranked_on(&[may]), [nearest, winter, long_ago]);
    // A leap day has no like in other years; the last of February is near enough.
    let leap = DateSpan { yearly: true, ..span("2024-02-29", "2024-03-01", Precision::Day) };
    let mut toy = Toy::asked("what did we run");
    let (other, february) =
        (toy.say(1, 0, "2023-07-28", "We run today."), toy.say(2, 0, "2023-02-28", "We run today."));
    assert_eq!(toy.ranked_on(&[leap]), [february, other]);
}

#[test]
fn days_without_a_year_are_found_across_new_year() {
    // Why: a winter lies in two years, and who tells of New Year's Eve does so in the next.
    let ranked = |told: &str, span: DateSpan| {
        let mut toy = Toy::asked("what did we run");
        let other = toy.say(1, 0, "2021-07-20", "We run today.");
        let told = toy.say(2, 0, told, "We run today.");
        (toy.ranked_on(&[DateSpan { yearly: true, ..span }]), [told, other])
    };
    for (told, start, end, precision) in [
        ("2022-01-02", "2024-12-31", "2025-01-01", Precision::Day),
        ("2021-12-28", "2024-01-01", "2024-01-02", Precision::Day),
        ("2022-02-10", "2023-12-01", "2024-03-01", Precision::Month),
        ("2022-12-10", "2023-12-01", "2024-03-01", Precision::Month),
    ] {
        let (ranked, wanted) = ranked(told, span(start, end, precision));
        assert_eq!(ranked, wanted, "{told}");
    }
}

#[test]
fn a_session_that_matches_lifts_its_own() {
    // Why: of two equal remarks the one in the conversation about it is meant.
    let mut toy = Toy::asked("marathon training shoes");
    let stray = toy.say(1, 0, "2024-01-01", "New shoes.");
    let inside = toy.say(2, 0, "2024-01-01", "New shoes.");
    for text in ["Ok.", "Sure.", "Fine."] {
        toy.say(2, 1, "2024-01-01", text);
    }
    let best = toy.say(2, 0, "2024-01-01", "My marathon training starts.");
    let ranked = toy.ranked();
    let place = |doc| ranked.iter().position(|it| *it == doc).unwrap();
    assert_eq!(place(best), 0);
    assert!(place(inside) < place(stray), "{ranked:?}");
}

#[test]
fn what_the_person_said_comes_before_what_the_assistant_said() {
    // Why: long assistant texts match everything; but asked what it advised, the assistant's own words are the answer.
    let mut toy = Toy::asked("which running shoes");
    let theirs = toy.say(1, 0, "2024-01-01", "Running shoes by Acme.");
    let mine = toy.say(2, 0, "2024-01-01", "My running shoes are worn.");
    toy.docs[theirs as usize].from_assistant = true;
    toy.docs[theirs as usize].speaker = None;
    toy.say(3, 0, "2024-01-01", "Shoes.");
    assert_eq!(toy.ranked().first(), Some(&mine));
    toy.query = "which running shoes did you recommend".to_owned();
    assert_eq!(toy.ranked().first(), Some(&theirs));
}

#[test]
fn scores_are_stable_ordered_and_between_0_and_1() {
    // Why: pages are cut from this list; two asks must give one order, ties by document.
    let mut toy = Toy::asked("lake");
    for _ in 0..30 {
        toy.say(1, 0, "2024-01-01", "The lake.");
    }
    let unseen = toy.say(2, 0, "2024-01-01", "The lake.");
    let hits = toy.hits(&[]);
    assert_eq!(hits, toy.hits(&[]));
    assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score < 1.0));
    assert!(
        hits.windows(2)
            .all(|pair| pair[0].score > pair[1].score || (pair[0].score == pair[1].score && pair[0].doc < pair[1].doc))
    );
    assert!(hits.iter().any(|hit| hit.doc == unseen));
}

#[test]
fn a_date_or_a_number_answers_what_asks_for_it_and_a_question_answers_nothing() {
    // Why: of remarks that meet the same words, the one that has what is asked for is the answer.
    let mut toy = Toy::asked("when is the marathon");
    let plain = toy.say(1, 0, "2024-01-01", "The marathon is hard.");
    let dated = toy.say(2, 0, "2024-01-01", "The marathon is next week.");
    let counted = toy.say(3, 0, "2024-01-01", "The marathon has 9000 runners.");
    let asked = toy.say(4, 0, "2024-01-01", "The marathon, really?");
    let first = |toy: &Toy| toy.ranked()[0];
    assert_eq!(first(&toy), dated);
    toy.query = "how many run the marathon".to_owned();
    assert_eq!(first(&toy), counted);
    assert_eq!(toy.ranked().last(), Some(&asked));
    assert!(toy.ranked().contains(&plain));
}

#[test]
fn a_model_that_cannot_read_the_question_decides_little() {
    // Why: its vectors of another script say which letters two texts share; the words that match must outweigh them.
    let mut toy = Toy::asked("plans for Sunday");
    let words = toy.say(1, 0, "2024-01-01", "Plans: rowing, on Sunday.");
    let letters = toy.say(2, 0, "2024-01-01", "Sunday pans are planes.");
    for thread in 3..12 {
        let filler = toy.say(thread, 1, "2024-01-01", "Sunday.");
        toy.near(filler, 0.3);
    }
    toy.near(words, 0.3);
    toy.near(letters, 0.9);
    assert_eq!(toy.ranked()[0], letters);
    toy.unread = true;
    assert_eq!(toy.ranked()[0], words);
}

#[test]
fn a_document_that_is_gone_has_no_influence() {
    // Why: between the search and the ranking a document may expire; it must not come back as a hit or as a hint.
    struct Gone(Toy, u32);
    impl Corpus for Gone {
        fn doc(&self, doc: u32) -> Option<Doc> {
            if doc == self.1 { None } else { self.0.doc(doc) }
        }
        fn admits(&self, doc: u32) -> bool {
            self.0.admits(doc)
        }
        fn beside(&self, doc: u32, offset: i32) -> Option<u32> {
            self.0.beside(doc, offset)
        }
        fn linked(&self, doc: u32) -> Vec<u32> {
            self.0.linked(doc)
        }
        fn speakers(&self) -> Vec<(u32, String)> {
            self.0.speakers()
        }
        fn texts(&self, docs: &[u32]) -> Vec<String> {
            self.0.texts(docs)
        }
        fn offers(&self, doc: u32) -> Offers {
            self.0.offers(doc)
        }
        fn rarity(&self, word: &str) -> f32 {
            self.0.rarity(word)
        }
        fn with_words(&self, words: &str) -> Self {
            Gone(self.0.with_words(words), self.1)
        }
        fn keyword_best(&self, limit: usize) -> Vec<Hit> {
            self.0.keyword_best(limit)
        }
        fn keyword_score(&self, doc: u32) -> f32 {
            self.0.keyword_score(doc)
        }
        fn vector_best(&self, limit: usize) -> Option<Vec<Hit>> {
            self.0.vector_best(limit)
        }
        fn cosine_floor(&self) -> f32 {
            MINILM_COSINE_FLOOR
        }

        fn vector_score(&self, doc: u32) -> Option<f32> {
            self.0.vector_score(doc)
        }
    }
    let mut toy = Toy::asked("summer holiday");
    let question = toy.say(1, 1, "2024-01-01", "Where was the summer holiday?");
    toy.say(1, 0, "2024-01-01", "Paris.");
    let question_only = Question { text: toy.query.clone(), dates: vec![] };
    assert!(rank(&question_only, &Gone(toy, question), Breadth::Low).is_empty());
}
