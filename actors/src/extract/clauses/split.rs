//! One sentence, two facts: cut where both sides are statements of their own and each can be read without the other.

use super::super::lex::{self, Kind, Token};
use super::super::{dates, filler, kind, verbs};
use crate::extract::language::Language;

mod shared;

/// A longer sentence is no speech, and weighing each of its joints would cost square time.
const TOKENS_MAX: usize = 300;

/// Words that make the left side need the right one ("I think that … and …").
const HANGING: &[&str] =
    &["if", "because", "when", "while", "whether", "unless", "between", "both", "than", "who", "which"];

/// Words with which no statement of its own begins.
#[rustfmt::skip]
const NO_SUBJECT: &[&str] = &[
    "in", "on", "at", "with", "for", "to", "from", "of", "by", "about", "after", "before", "since", "because", "which",
    "who", "whom", "whose", "that", "where", "when", "if", "as", "like", "than", "or", "nor", "not", "no", "never",
    "only", "just", "especially", "esp", "including", "plus", "maybe", "and", "but", "so", "a", "an", "too", "very",
    "please", "until", "till", "while", "though", "although", "both", "me", "him", "them", "us", "still", "also",
];

/// Pronouns that point back at the left side.
const POINTING: &[&str] =
    &["it", "it's", "its", "them", "him", "they", "they're", "those", "these", "there", "ones", "he", "she"];

/// The statements of one English sentence. A part may begin with a pronoun only when the part before it says who that is.
pub(in crate::extract) fn split(sentence: &str) -> Vec<String> {
    let tokens = lex::tokens(sentence);
    if tokens.len() > TOKENS_MAX || tokens.first().is_none_or(|first| subordinate(&first.lower)) {
        return vec![sentence.to_owned()];
    }
    let mut parts = Vec::new();
    let mut from = 0;
    // What a part that leaves its subject out shares with the one before.
    let mut lead = String::new();
    for i in 1..tokens.len() {
        let Some(skip) = joint(&tokens, i) else {
            continue;
        };
        if tokens[i].span.start < from || i + skip >= tokens.len() {
            continue;
        }
        let first = tokens.partition_point(|token| token.span.start < from);
        let sides = Sides { text: sentence, left: &tokens[first..i], right: &tokens[i + skip..], joint: &tokens[i] };
        // A part without a subject of its own has no more to share.
        let shared = if lead.is_empty() { shared::subject(&sides) } else { None };
        if sides.stand_apart() || shared.is_some() {
            let part = sentence[from..tokens[i].span.start].trim_end_matches(|c: char| c.is_whitespace() || c == ',');
            parts.push(format!("{lead}{part}"));
            from = tokens[i + skip].span.start;
            lead = shared.map_or_else(String::new, |subject| format!("{subject} "));
        }
    }
    parts.push(format!("{lead}{}", &sentence[from..]));
    parts
}

/// How many tokens join the two statements, if two can meet here.
fn joint(tokens: &[Token], i: usize) -> Option<usize> {
    let next = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let spaced_dash = || tokens[i].span.start > tokens[i - 1].span.end;
    match tokens[i].lower.as_str() {
        "and" | "but" if next(i + 1) == "also" => Some(2),
        "and" | "but" | ";" => Some(1),
        "," if matches!(next(i + 1), "and" | "but" | "so") => None,
        "," if matches!(next(i + 1), "also" | "plus") => Some(2),
        "," => Some(1),
        "-" | "–" | "—" if spaced_dash() => Some(1),
        _ => None,
    }
}

/// What stands on both sides of a joint.
struct Sides<'a> {
    text: &'a str,
    left: &'a [Token],
    right: &'a [Token],
    joint: &'a Token,
}

impl Sides<'_> {
    fn stand_apart(&self) -> bool {
        let loose = self.joint.is(",") || self.joint.kind == Kind::Mark;
        if rules(self.left) {
            // A rule keeps its reason; a second rule is one of its own.
            let whole = |side: &[Token]| side.iter().filter(|token| token.kind == Kind::Word).count() >= 3;
            // "From now on, …" only says when.
            let bare = kind::is_standing(&plain(self.left));
            return whole(self.left) && !bare && whole(self.right) && rules(self.right);
        }
        if loose && asks(self.right) {
            return stands_alone(self.text, self.left);
        }
        if !begins_clause(self.text, self.right) || !long_enough(self.right) {
            return false;
        }
        if orders(self.left) {
            // "Give me a recipe, I'm vegetarian": what is asked for now, and what will be true tomorrow.
            return loose && is_own(&self.right[0].lower) && !self.points_back();
        }
        stands_alone(self.text, self.left) && !self.hangs(loose) && !self.points_back() && !self.colours(loose)
    }

    /// "I cook because I like it and I save money" is one thought; behind a comma a new one begins.
    fn hangs(&self, loose: bool) -> bool {
        let comma = loose || self.text[..self.joint.span.start].trim_end().ends_with(',');
        self.left.iter().enumerate().any(|(i, token)| {
            let tied = HANGING.contains(&token.lower.as_str()) && !(comma && token.is("because"));
            let then = self.left.get(i + 1).map(|next| next.lower.as_str());
            let that = token.is("that")
                && i > 0
                && then.is_some()
                && !matches!(self.left[i - 1].lower.as_str(), "before" | "after" | "like");
            let until = matches!(token.lower.as_str(), "until" | "till")
                && then.is_some_and(|next| is_own(next) || POINTING.contains(&next));
            tied || that || until
        })
    }

    /// "… , my legs are dead", "… and I forgot everything": a few words that say how the first was, not something new.
    fn colours(&self, loose: bool) -> bool {
        let words = plain(self.right);
        let few = words.split(' ').count() <= 5;
        // "Emma hates peas, but she loves carrots" is one thing about Emma.
        let contrast = self.joint.is("but") && matches!(self.right[0].lower.as_str(), "he" | "she" | "he's" | "she's");
        let vague = ["anything", "everything", "nothing", "something"].iter().any(|word| lex::holds(&words, word));
        let named =
            self.right.iter().skip(1).any(|token| {
                token.kind == Kind::Number || self.text[token.span.clone()].starts_with(char::is_uppercase)
            });
        let mood = ["i feel", "i felt"].iter().any(|start| lex::opens_with(&words, start));
        contrast || few && !named && (vague || mood || loose && !filler::counts(&words))
    }

    /// Whether the right side needs the left one to be understood.
    fn points_back(&self) -> bool {
        let first = self.right[0].lower.as_str();
        let named = match first {
            "he" | "he's" | "she" | "she's" | "his" | "her" => person_in(self.text, self.left).is_some(),
            "they" | "they're" | "it" | "it's" | "their" | "its" => return true,
            _ => true,
        };
        let own = is_own(first) && !matches!(first, "my" | "our");
        let points = |(i, token): (usize, &Token)| {
            let last = self.right.get(i + 1).is_none_or(|next| next.kind == Kind::Mark);
            POINTING.contains(&token.lower.as_str())
                || own && matches!(token.lower.as_str(), "his" | "her" | "their")
                || last && matches!(token.lower.as_str(), "that" | "this" | "one" | "her")
        };
        !named || self.right.iter().enumerate().skip(1).take_while(|(_, token)| !token.is(";")).any(points)
    }
}

/// Who a "she" behind these words is: their subject when it is a person or a thing of the speaker's, else the one name in them.
pub(in crate::extract) fn person_in(text: &str, tokens: &[Token]) -> Option<String> {
    let first = tokens.first()?;
    let end = tokens.last()?.span.end;
    let capital = |token: &Token| text[token.span.clone()].starts_with(char::is_uppercase);
    let owned = matches!(first.lower.as_str(), "my" | "our");
    if owned
        || capital(first) && !is_own(&first.lower) && !NO_SUBJECT.contains(&first.lower.as_str()) && !first.is("the")
    {
        let verb = tokens.iter().skip(1).position(|token| verbs::is_finite(&token.lower))? + 1;
        // "My brother's a pilot": the verb hangs on its subject.
        let glued = tokens[verb].lower.ends_with("'s");
        let end = if glued { tokens[verb].span.end - "'s".len() } else { tokens[verb - 1].span.end };
        let subject = text.get(first.span.start..end)?;
        let simple = verb <= 5 && tokens[..verb].iter().all(|token| token.kind == Kind::Word && !token.is("and"));
        return simple.then(|| subject.to_owned());
    }
    super::super::turn::one_name(&text[first.span.start..end])
}

/// "I", "my", "we", "our" and what is glued to them.
fn is_own(word: &str) -> bool {
    matches!(word, "i" | "im" | "i'm" | "i've" | "i'll" | "i'd" | "my" | "we" | "we're" | "we've" | "we'll" | "our")
}

fn plain(tokens: &[Token]) -> String {
    let words: Vec<&str> = tokens.iter().filter(|t| t.kind != Kind::Mark).map(|t| t.lower.as_str()).collect();
    words.join(" ")
}

fn asks(tokens: &[Token]) -> bool {
    filler::asks(&plain(tokens))
}

fn rules(tokens: &[Token]) -> bool {
    kind::is_instruction(&plain(tokens), Language::English)
}

fn orders(tokens: &[Token]) -> bool {
    filler::is_request(&plain(tokens), Language::English)
}

/// "I forgot" says too little by itself; "I'm vegan" does not.
fn long_enough(tokens: &[Token]) -> bool {
    let words = tokens.iter().filter(|token| token.kind != Kind::Mark).count();
    let glued = tokens.first().is_some_and(|first| first.lower.contains('\''));
    words >= 3 || glued && words >= 2
}

/// Subject and verb are there, so nothing is torn apart ("my sister | and I live").
fn stands_alone(text: &str, tokens: &[Token]) -> bool {
    long_enough(tokens) && begins_clause(text, undated(text, tokens))
}

/// Without "yesterday", "on Monday", "since last week" in front.
fn undated<'a>(text: &str, tokens: &'a [Token]) -> &'a [Token] {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return tokens;
    };
    let offset = first.span.start;
    let lead = usize::from(matches!(first.lower.as_str(), "on" | "in" | "since" | "by" | "from"));
    let Some(found) = dates::find(&text[offset..last.span.end], jiff::civil::Date::ZERO) else {
        return tokens;
    };
    if tokens.get(lead).is_none_or(|token| token.span.start < offset + found.span.start) {
        return tokens;
    }
    let after = tokens.partition_point(|token| token.span.start < offset + found.span.end);
    let comma = usize::from(tokens.get(after).is_some_and(|token| token.is(",")));
    let daytime = usize::from(
        tokens.get(after).is_some_and(|t| matches!(t.lower.as_str(), "morning" | "evening" | "night" | "afternoon")),
    );
    &tokens[(after + comma + daytime).min(tokens.len())..]
}

/// Whether a subject and its verb stand at the beginning.
fn begins_clause(text: &str, tokens: &[Token]) -> bool {
    let Some(first) = tokens.first().filter(|token| token.kind == Kind::Word) else {
        return false;
    };
    let word = |i: usize| tokens.get(i).map_or("", |token| token.lower.as_str());
    let pronoun = matches!(
        word(0),
        "i" | "im"
            | "we"
            | "he"
            | "she"
            | "they"
            | "it"
            | "i'm"
            | "i've"
            | "i'll"
            | "we're"
            | "we've"
            | "we'll"
            | "he's"
            | "she's"
            | "it's"
            | "they're"
            | "there's"
            | "that's"
            | "someone"
            | "somebody"
            | "everyone"
            | "i'd"
    );
    if pronoun {
        return tokens.len() > 1 && !matches!(word(1), "and" | "or" | ",");
    }
    if NO_SUBJECT.contains(&word(0)) || verbs::is_verb(word(0)) && !word(0).ends_with('s') {
        return false;
    }
    let capital = text[first.span.clone()].starts_with(char::is_uppercase);
    let within = match word(0) {
        "my" | "our" | "the" | "his" | "her" | "their" | "one" | "this" => 6,
        _ if capital => 5,
        // "probation is six months", "results come on Friday"
        _ => 2,
    };
    let ends = |token: &Token| {
        token.kind == Kind::Mark && !token.is(".") && !token.is("(") && !token.is(")") && !token.is("/")
    };
    tokens[1..]
        .iter()
        .enumerate()
        .take(within)
        .take_while(|(_, token)| !ends(token) && !matches!(token.lower.as_str(), "to" | "that" | "who" | "which"))
        .any(|(i, token)| {
            let possessive = token.lower.ends_with("'s") && tokens.get(i + 2).is_none_or(ends);
            verbs::is_finite(&token.lower)
                && !possessive
                && (!NO_SUBJECT.contains(&word(i)) || verbs::is_adverb(word(i)) && within > 2)
                && (within > 2 || i == 0 || !NO_SUBJECT.contains(&word(1)))
                // What follows the verb of a bare noun shows that it is one.
                && (within > 2 || tokens.get(i + 2).is_some())
        })
}

fn subordinate(word: &str) -> bool {
    matches!(
        word,
        "if" | "when"
            | "while"
            | "because"
            | "although"
            | "though"
            | "as"
            | "after"
            | "before"
            | "once"
            | "unless"
            | "until"
            | "whenever"
            | "between"
            | "both"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // A split in the wrong place makes two wrong memories of one right one.
    #[test]
    fn sentences_split_only_where_both_sides_stand_alone() {
        for (text, parts) in [
            ("I'm vegetarian and I'm allergic to peanuts.", vec!["I'm vegetarian", "I'm allergic to peanuts."]),
            (
                "I prefer window seats, and I never check in luggage.",
                vec!["I prefer window seats", "I never check in luggage."],
            ),
            (
                "My bank is Millennium and my salary arrives on the 25th.",
                vec!["My bank is Millennium", "my salary arrives on the 25th."],
            ),
            ("My brother smokes but the dog sleeps a lot.", vec!["My brother smokes", "the dog sleeps a lot."]),
            ("I sold the car, parking is 200 a month here.", vec!["I sold the car", "parking is 200 a month here."]),
            (
                "My aunt Vera lives in Graz, she sells wine at the market.",
                vec!["My aunt Vera lives in Graz", "she sells wine at the market."],
            ),
            ("Give me a recipe, I'm vegetarian.", vec!["Give me a recipe", "I'm vegetarian."]),
            ("Always use metres, and answer in French.", vec!["Always use metres", "answer in French."]),
            ("Frida is eleven and needs drops at night.", vec!["Frida is eleven", "Frida needs drops at night."]),
            ("I live in Berlin and work at Siemens.", vec!["I live in Berlin", "I work at Siemens."]),
            ("I found a desk, how do I clean it", vec!["I found a desk", "how do I clean it"]),
        ] {
            assert_eq!(split(text), parts, "{text}");
        }
    }

    // What hangs together must stay together.
    #[test]
    fn sentences_whose_sides_need_each_other_stay_whole() {
        for text in [
            "My sister and I live in Rome.",
            "When I was ten and I lived in Rome, it rained.",
            "I cook because I like it and I save money.",
            "I bought bread, milk and cheese in town.",
            "I have a boat and I love it.",
            "I hate flying, so we take the ferry.",
            "Use metres, we have no rulers in feet.",
            "I called the office, they want the form.",
            "My passport runs out in May, so I need to renew it.",
            "I met Ann and Ben at the fair.",
            "I like to read and write at night.",
            "I went to Rome and bought a hat.",
            "My wife likes hikes and walks in the park.",
            "She thinks that I smoke and I drink.",
        ] {
            assert_eq!(split(text), [text], "{text}");
        }
    }
}
