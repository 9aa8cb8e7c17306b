//! Recall's answer without a language model: the fewest stored sentences that answer, each with who, when and the
//! number of its candidate. Every word between the quotes or before the brackets is stored text; nothing is made up.

use jiff::{Timestamp, civil::Date};

use super::quotable::{Asked, CANDIDATES_MAX, Sentence, pool, same};
use super::words::{day, one_line};
use crate::extract::{dates, shown};
use crate::port::{self, RecordType};

/// Longer sentences are cut; whoever needs the whole text has the candidate.
const SENTENCE_CHARS_MAX: usize = 400;
/// A narrator's sentences are cut later.
const TOLD_CHARS_MAX: usize = 1_000;
/// How much standing first among the candidates counts, against 1 for all the question's words.
const RANK_WEIGHT: f32 = 1.0;
/// How much a sentence counts for saying what the question does not: an echo of the question answers nothing.
const NEWS_WEIGHT: f32 = 0.2;
/// More words of its own than this do not make it better.
const NEWS_MAX: usize = 6;
/// How much having what the question asks for counts: a date for "when", a number for "how many".
const OFFER_WEIGHT: f32 = 0.5;
/// How much being said by whom the question names counts: what others say of it mostly repeats it.
const THEIRS_WEIGHT: f32 = 0.3;
/// A word of the question that an earlier sentence met counts this much: lists ("which pets?") go on, repetitions fade.
const MET_BEFORE: f32 = 0.75;

/// One ranked candidate, best first in its list.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The record's or message's id.
    pub id: String,
    /// Its full text.
    pub text: String,
    /// The record's one line; empty for a raw message.
    pub summary: String,
    /// Who said it: the speaker's name, for an untagged message its role.
    pub speaker: Option<String>,
    /// When it was said, or happened if that is known.
    pub said_at: Timestamp,
    /// When its words were said, if days in them count from it; none where they were dated when it was made.
    pub counts_from: Option<Date>,
    /// `None` for a raw message.
    pub record_type: Option<RecordType>,
    /// The message that a record was made from: what the record leaves out can be quoted from there, under the same number.
    pub message: Option<Box<Candidate>>,
}

/// How much to say: the wire's `response_length`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// One sentence.
    Short,
    /// At most three sentences.
    #[default]
    Medium,
    /// At most eight sentences.
    Long,
}

impl Length {
    /// The bound.
    pub fn sentences_max(self) -> usize {
        match self {
            Length::Short => 1,
            Length::Medium => 3,
            Length::Long => 8,
        }
    }

    /// A further sentence must meet the question with this part of the first one's weight, or it is about something
    /// else.
    fn share_min(self) -> f32 {
        match self {
            Length::Short | Length::Medium => 0.4,
            Length::Long => 0.25,
        }
    }
}

/// The answer, a line for each candidate quoted, the best sentence's first; empty without candidates. `[n]` is the n-th
/// candidate, counted from 1.
pub fn answer(question: &str, candidates: &[Candidate], length: Length) -> String {
    let mut asked = Asked::of(question);
    let pool = pool(question, &mut asked, candidates);
    let rarity = rarity(&asked, &pool);
    let quotable = || pool.iter().filter(|sentence| !sentence.repeats);
    let weight = |sentence: &Sentence<'_>| sentence.meets.iter().map(|word| rarity[*word as usize]).sum::<f32>();
    let mut said: Vec<&Sentence<'_>> = Vec::new();
    let mut covered = vec![false; rarity.len()];
    while said.len() < length.sentences_max() {
        let needed = said.first().map_or(0.0, |first| length.share_min() * weight(first));
        let next = quotable()
            .filter(|sentence| weight(sentence) >= needed)
            .filter(|sentence| !said.iter().any(|other| same(&sentence.words, &other.words)))
            .map(|sentence| (worth(sentence, &asked, &covered, &rarity), sentence))
            // The first of equals: candidates are in order, and so are their sentences.
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some((_, sentence)) = next else { break };
        sentence.meets.iter().for_each(|word| covered[*word as usize] = true);
        said.push(sentence);
    }
    let mut lines: Vec<Vec<&Sentence<'_>>> = Vec::new();
    for sentence in said {
        match lines.iter_mut().find(|line| std::ptr::eq(line[0].candidate, sentence.candidate)) {
            Some(line) => line.push(sentence),
            None => lines.push(vec![sentence]),
        }
    }
    lines.into_iter().map(cite).collect::<Vec<_>>().join("\n")
}

/// What each word of the question weighs: one that few of the sentences have says more. The weights add up to 1.
fn rarity(asked: &Asked, pool: &[Sentence<'_>]) -> Vec<f32> {
    let weigh = |word: u32| {
        let having = pool.iter().filter(|sentence| sentence.meets.contains(&word)).count() as f32;
        (1.0 + (pool.len() as f32 + 1.0) / (having + 1.0)).ln()
    };
    let weights: Vec<f32> = (0..asked.count).map(weigh).collect();
    let sum: f32 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum.max(f32::MIN_POSITIVE)).collect()
}

/// The question's words that it meets, those met before a little less, and the place of its candidate.
fn worth(sentence: &Sentence<'_>, asked: &Asked, covered: &[bool], rarity: &[f32]) -> f32 {
    let meets = sentence.meets.iter().map(|word| {
        let weight = rarity[*word as usize];
        if covered[*word as usize] { MET_BEFORE * weight } else { weight }
    });
    let place = 1.0 - sentence.from as f32 / CANDIDATES_MAX as f32;
    let own = sentence.words.len() - asked.met(&sentence.words).len();
    let news = own.min(NEWS_MAX) as f32 / NEWS_MAX as f32;
    let offers = if sentence.offers { OFFER_WEIGHT } else { 0.0 };
    let theirs = if sentence.theirs { THEIRS_WEIGHT } else { 0.0 };
    meets.sum::<f32>() + RANK_WEIGHT * place + NEWS_WEIGHT * news + offers + theirs
}

/// Sentences of one candidate, in the order of its text. A record's stand as they are; a message's are quoted, for their
/// "I" and "yesterday" need who and when.
fn cite(mut line: Vec<&Sentence<'_>>) -> String {
    line.sort_unstable_by_key(|sentence| sentence.at);
    let mut text = String::new();
    let mut before = None;
    for sentence in &line {
        match before {
            None => {}
            Some(before) if before + 1 == sentence.at => text.push(' '),
            Some(_) => text.push_str(" … "),
        }
        text.push_str(&uncited(&one_line(sentence.text, SENTENCE_CHARS_MAX)));
        before = Some(sentence.at);
    }
    let (number, candidate) = (line[0].from + 1, line[0].candidate);
    let (day, dated) = (day(candidate.said_at), dated(&line));
    let who = candidate.speaker.as_deref().map(|who| uncited(&one_line(who, SENTENCE_CHARS_MAX)));
    match (candidate.record_type, who) {
        (Some(_), Some(who)) => format!("{} ({who}, {day}){dated} [{number}]", text.trim_end_matches(['.', '。'])),
        (Some(_), None) => format!("{} ({day}){dated} [{number}]", text.trim_end_matches(['.', '。'])),
        (None, Some(who)) => format!("{who}, {day}: “{text}”{dated} [{number}]"),
        (None, None) => format!("{day}: “{text}”{dated} [{number}]"),
    }
}

/// The days that the sentences name by how far they are, as dates: nobody has to count back from when it was said.
fn dated(line: &[&Sentence<'_>]) -> String {
    let mut days = Vec::new();
    for sentence in line {
        let Some(day) = sentence.candidate.counts_from else { continue };
        let named = dates::find_all(sentence.text, day).into_iter().filter(|found| !found.absolute);
        let told = |found: dates::Found| {
            let words = uncited(&one_line(&sentence.text[found.span.clone()], SENTENCE_CHARS_MAX));
            format!("{words}: {}", shown(&found))
        };
        days.extend(named.map(told));
    }
    if days.is_empty() { String::new() } else { format!(" ({})", days.join(", ")) }
}

/// Sentences that a narrator wrote, in the form of ours: one a line, each with the numbers of its candidates.
pub fn told(sentences: &[port::Sentence]) -> String {
    let line = |sentence: &port::Sentence| {
        let numbers: String = sentence.sources.iter().map(|at| format!("[{}]", at + 1)).collect();
        format!("{} {numbers}", uncited(&one_line(&sentence.text, TOLD_CHARS_MAX)))
    };
    sentences.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Stored text cannot pass for a citation: `[2]` becomes `(2)`.
fn uncited(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        out.push_str(&rest[..open]);
        let inside = &rest[open + 1..];
        let digits = inside.len() - inside.trim_start_matches(|c: char| c.is_numeric() || c == ' ').len();
        rest = match inside[digits..].strip_prefix(']') {
            Some(after) if digits > 0 => {
                out.push('(');
                out.push_str(&inside[..digits]);
                out.push(')');
                after
            }
            _ => {
                out.push('[');
                inside
            }
        };
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: &str) -> Timestamp {
        format!("{day}T13:56:00Z").parse().unwrap()
    }

    fn message(speaker: &str, day: &str, text: &str) -> Candidate {
        Candidate {
            id: text.len().to_string(),
            text: text.to_owned(),
            summary: String::new(),
            speaker: (!speaker.is_empty()).then(|| speaker.to_owned()),
            said_at: at(day),
            counts_from: Some(dates::day_of(at(day))),
            record_type: None,
            message: None,
        }
    }

    fn record(speaker: &str, day: &str, text: &str) -> Candidate {
        Candidate {
            record_type: Some(RecordType::Event),
            counts_from: None,
            summary: text.to_owned(),
            ..message(speaker, day, text)
        }
    }

    #[test]
    fn a_short_answer_is_the_one_sentence_with_who_and_when() {
        // Why: the answer must be checkable at a glance, without a model that could embellish it.
        let candidates = [
            message("Melanie", "2023-05-08", "How was it? I am swamped with the kids."),
            record("Caroline", "2023-05-08", "Caroline went to the LGBTQ support group on 7 May 2023."),
        ];
        let said = answer("When did Caroline go to the LGBTQ support group?", &candidates, Length::Short);
        assert_eq!(said, "Caroline went to the LGBTQ support group on 7 May 2023 (Caroline, 8 May 2023) [2]");
    }

    #[test]
    fn a_message_is_quoted_sentence_by_sentence() {
        // Why: "I" and "yesterday" mean nothing without the speaker and the day.
        let candidates =
            [message("Caroline", "2023-05-08", "Hey Mel! I went to a support group yesterday. What about you?")];
        let said = answer("Who went to a support group?", &candidates, Length::Short);
        assert_eq!(said, "Caroline, 8 May 2023: “I went to a support group yesterday.” (yesterday: 7 May 2023) [1]");
    }

    #[test]
    fn what_is_said_twice_is_answered_once() {
        // Why: a record and a remark that repeat each other are one fact.
        let candidates = [
            record("Ann", "2024-01-01", "Ann adopted a black cat called Tom."),
            message("Ann", "2024-01-01", "I adopted a black cat called Tom!"),
            record("Ann", "2024-02-01", "Ann adopted a dog called Rex."),
        ];
        let said = answer("Which pets has Ann adopted?", &candidates, Length::Medium);
        assert_eq!(said.lines().count(), 2, "{said}");
        assert!(said.contains("Tom") && said.contains("Rex"));
    }

    #[test]
    fn what_a_record_leaves_out_is_quoted_from_its_message() {
        // Why: a record is one statement of a message; the answer may stand in the sentence beside it, and must not be said twice.
        let text = "I adopted a cat called Miso. The vet on Rua Augusta says that she is three.";
        let miso = Candidate {
            message: Some(Box::new(message("Ann", "2024-01-01", text))),
            ..record("Ann", "2024-01-01", "Ann adopted a cat called Miso.")
        };
        let told = answer("What does the vet say of the cat?", std::slice::from_ref(&miso), Length::Medium);
        assert_eq!(
            told,
            "Ann, 1 January 2024: “The vet on Rua Augusta says that she is three.” [1]\n\
             Ann adopted a cat called Miso (Ann, 1 January 2024) [1]"
        );
        let told = answer("Which cat did Ann adopt?", &[miso], Length::Short);
        assert_eq!(told, "Ann adopted a cat called Miso (Ann, 1 January 2024) [1]");
    }

    #[test]
    fn a_record_that_answers_is_quoted_and_not_its_message_at_length() {
        // Why: the message says the same in more words, and only what is asked for is worth them.
        let text = "Yesterday, after the long drive in the rain, I finally adopted a cat called Miso from seven!";
        let miso = Candidate {
            message: Some(Box::new(message("Ann", "2024-01-02", text))),
            ..record("Ann", "2024-01-02", "Ann adopted a cat called Miso (1 January 2024).")
        };
        let asked = |question| answer(question, std::slice::from_ref(&miso), Length::Short);
        assert_eq!(
            asked("What is the cat called?"),
            "Ann adopted a cat called Miso (1 January 2024) (Ann, 2 January 2024) [1]"
        );
        assert!(asked("Was it a long drive to the cat?").contains("in the rain"));
    }

    #[test]
    fn each_length_keeps_its_bound() {
        // Why: response_length is a promise to the client.
        let names = ["Oslo", "Rome", "Paris", "Lima", "Cairo", "Delhi", "Tokyo", "Quito", "Accra", "Minsk"];
        let candidates: Vec<_> =
            names.iter().map(|city| record("Ann", "2024-01-01", &format!("Ann visited {city}."))).collect();
        for (length, max) in [(Length::Short, 1), (Length::Medium, 3), (Length::Long, 8)] {
            assert_eq!(answer("Which cities has Ann visited?", &candidates, length).lines().count(), max);
        }
    }

    #[test]
    fn what_the_question_asks_for_decides_between_equals() {
        // Why: "when" wants a date, "how many" a number, "who" a name, "why" a reason; the same words without one are talk.
        let said = [
            message("Ann", "2024-01-10", "The hike to the lake was lovely."),
            message("Bob", "2024-01-11", "The hike to the lake was last Saturday."),
            message("Cy", "2024-01-12", "We hiked to the lake because of the ice, some say, the hike."),
            message("Dee", "2024-01-13", "On the hike to the lake we were seven."),
            message("Eve", "2024-01-14", "The lovely hike to the lake was led by Olga."),
        ];
        for (question, part) in [
            ("When was the hike to the lake?", "(last Saturday: 6 January 2024)"),
            ("How many were on the hike to the lake?", "we were seven"),
            ("Who led the hike to the lake?", "by Olga"),
            ("Why the hike to the lake?", "because of the ice"),
            ("What did Ann say of the hike to the lake?", "was lovely"),
        ] {
            let told = answer(question, &said, Length::Short);
            assert!(told.contains(part), "{question} {told}");
        }
    }

    #[test]
    fn sentences_of_one_message_share_its_line_in_its_order() {
        // Why: who and when once is enough; and a gap must be seen, or two sentences could say what nobody said.
        let text = "Rex is our dog. It rained. Tom is our cat. The cat is old.";
        let told =
            answer("Which pets, a dog or a cat, are ours?", &[message("Ann", "2024-01-01", text)], Length::Medium);
        assert_eq!(told, "Ann, 1 January 2024: “Rex is our dog. … Tom is our cat. The cat is old.” [1]");
    }

    #[test]
    fn days_count_from_when_the_words_were_said_or_not_at_all() {
        // Why: a record tells of an event's day; "yesterday" in it counts from another one, which nobody knows.
        let told = |counts_from| {
            let candidate = Candidate { counts_from, ..record("", "2024-01-10", "The boiler broke yesterday.") };
            answer("When did the boiler break?", &[candidate], Length::Short)
        };
        assert_eq!(told(None), "The boiler broke yesterday (10 January 2024) [1]");
        assert_eq!(
            told(Some(dates::day_of(at("2024-01-10")))),
            "The boiler broke yesterday (10 January 2024) (yesterday: 9 January 2024) [1]"
        );
    }

    #[test]
    fn no_candidates_no_answer() {
        // Why: nothing matches means an empty answer, never a guess.
        assert_eq!(answer("What?", &[], Length::Long), "");
        assert_eq!(answer("What?", &[message("", "2024-01-01", "🙂 ...")], Length::Long), "");
    }

    #[test]
    fn stored_text_cannot_forge_lines_or_citations() {
        // Why: a message may be hostile; the frame around it is ours alone.
        let candidates = [message("", "2024-01-01", "The safe code is 7 [2]\u{2028}and \u{202E}code more [ 3 ] [a] [")];
        let said = answer("What is the safe code?", &candidates, Length::Long);
        assert_eq!(said, "1 January 2024: “The safe code is 7 (2) and code more ( 3 ) [a] [” [1]");
        assert!(!said.contains('\u{202E}'));
        let long = [record("", "2024-01-01", &"word ".repeat(5_000))];
        assert!(answer("word", &long, Length::Short).chars().count() < SENTENCE_CHARS_MAX + 40);
    }

    #[test]
    fn other_scripts_are_answered_too() {
        // Why: words are found in every language, so answers are as well.
        let candidates = [
            message("田中", "2024-01-01", "おはよう。今日はいい天気。"),
            message("田中", "2024-01-02", "昨日、東京で黒い猫を買いました。名前はまだない。"),
        ];
        let said = answer("東京で何を買った?", &candidates, Length::Short);
        assert_eq!(said, "田中, 2 January 2024: “昨日、東京で黒い猫を買いました。” (昨日: 1 January 2024) [2]");
    }

    #[test]
    fn a_narrator_cannot_forge_lines_or_citations_either() {
        // Why: what a model writes may have been put into its mouth by a stored text.
        let sentence =
            |text: &str, sources: &[usize]| port::Sentence { text: text.to_owned(), sources: sources.to_vec() };
        let said = told(&[sentence("Ann moved [9]\nto Porto.", &[0, 2]), sentence("Bob\u{202E} stayed.", &[1])]);
        assert_eq!(said, "Ann moved (9) to Porto. [1][3]\nBob stayed. [2]");
    }
}
