//! "I" becomes who spoke: "I'm keen on my job", said by Caroline, is "Caroline is keen on their job".

use super::lex::{self, Kind, Token};
use super::verbs;

/// Rewrites the first person singular of an English statement. `None` when there is none in it.
pub(super) fn third(text: &str, name: &str) -> Option<String> {
    let tokens = lex::tokens(text);
    let mut out = String::with_capacity(text.len() + name.len() * 2);
    let mut copied = 0;
    let mut named = false;
    // Whether the last verb took an "s", so that "and work" must follow it.
    let mut present = false;
    let mut i = 0;
    while i < tokens.len() {
        let token = &tokens[i];
        let mut put = |to: String, last: usize| {
            out.push_str(&text[copied..token.span.start]);
            out.push_str(&to);
            copied = tokens[last].span.end;
        };
        if !stands_alone(text, &tokens, i) {
            i += 1;
            continue;
        }
        if let Some(subject) = Subject::read(&tokens, i) {
            let plural = named || subject.joined;
            // "Her sister and they" would be nobody: a joined speaker is named again.
            let who = if named && !subject.joined { "they".to_owned() } else { name.to_owned() };
            put(join(&who, subject.helper(&tokens, i, named)), i);
            if let Some(at) = subject.verb(&tokens, i) {
                let changed = conjugate(&tokens[at].lower, plural);
                present = changed.is_some() && !plural;
                if let Some(changed) = changed {
                    out.push_str(&text[copied..tokens[at].span.start]);
                    out.push_str(&changed);
                    copied = tokens[at].span.end;
                    i = at;
                }
            }
            named = true;
        } else if let Some(form) = object(&token.lower, name, named) {
            put(form, i);
            named = true;
        } else if present && second_verb(&tokens, i) {
            put(verbs::third_person(&token.lower), i);
        } else if matches!(token.lower.as_str(), "to" | "can" | "will" | "that" | "because" | "when" | ";") {
            present = false;
        }
        i += 1;
    }
    if !named {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(capitalised(&out))
}

/// What a Roman one stands behind.
const NUMBERED: [&str; 18] = [
    "war", "type", "phase", "part", "grade", "class", "stage", "level", "chapter", "volume", "act", "title",
    "category", "tier", "section", "unit", "mark", "bipolar",
];

/// Whether a word that may be a pronoun can be one: it is no part of an address, a file name or a code, no number, and not quoted.
fn stands_alone(text: &str, tokens: &[Token], i: usize) -> bool {
    let token = &tokens[i];
    if !matches!(token.lower.as_str(), "i" | "me" | "my" | "mine" | "myself") {
        return true;
    }
    let (before, behind) = (&text[..token.span.start], &text[token.span.end..]);
    let glue = |c: char| matches!(c, '@' | '/' | '\\' | '_' | '=' | '&' | '+' | '#' | '~' | '%') || c.is_ascii_digit();
    let mut after = behind.chars();
    let (first, second) = (after.next(), after.next());
    let joined = matches!(first, Some('.' | '-' | ':' | '?')) && second.is_some_and(char::is_alphanumeric);
    if before.ends_with(glue) || before.ends_with('-') || behind.starts_with(glue) || joined {
        return false;
    }
    let quoted = before.matches('"').count() % 2 == 1
        || before.rfind('\u{201c}').is_some_and(|at| !before[at..].contains('\u{201d}'));
    if quoted {
        return false;
    }
    match &text[token.span.clone()] {
        "I" => i == 0 || !NUMBERED.contains(&tokens[i - 1].lower.as_str()),
        // Other languages have a word like this; of the English one a verb follows.
        "i" => tokens.get(i + 1).is_none_or(|next| {
            let next = next.lower.as_str();
            verbs::is_verb(next)
                || verbs::is_past(next)
                || verbs::is_adverb(next)
                || verbs::FIXED.contains(&next)
                || FOLLOWS.contains(&next)
        }),
        _ => true,
    }
}

/// What may follow "I", besides verbs.
const FOLLOWS: [&str; 14] =
    ["no", "not", "am", "was", "have", "had", "do", "did", "never", "also", "just", "really", "always", "wanna"];

/// With the "I" that everyday speech leaves out: "Been rehearsing", "Gonna try", "Had a hard day", "Still trying to".
pub(super) fn with_subject(text: &str) -> Option<String> {
    const DOING: &[&str] = &[
        "trying",
        "looking",
        "thinking",
        "planning",
        "hoping",
        "considering",
        "learning",
        "working",
        "getting",
        "enjoying",
        "saving",
        "training",
        "studying",
    ];
    let tokens = lex::tokens(text);
    let first = tokens.first()?;
    let second = tokens.get(1).map_or("", |token| token.lower.as_str());
    let finite = || {
        tokens.iter().skip(1).take(8).any(|token| {
            matches!(
                token.lower.as_str(),
                "is" | "are"
                    | "was"
                    | "can"
                    | "has"
                    | "makes"
                    | "helps"
                    | "gives"
                    | "sounds"
                    | "looks"
                    | "feels"
                    | "means"
            ) || token.lower.ends_with("'s")
        })
    };
    let start = match first.lower.as_str() {
        "been" if !matches!(second, "a" | "an" | "so" | "too" | "quite") => "I've ",
        "gonna" if second != "be" => "I'm ",
        "still" | "also" if second.ends_with("ing") => "I'm ",
        "just" if verbs::is_past(second) => "I ",
        "won't" | "haven't" | "didn't" | "couldn't" | "can't" if !matches!(second, "you" | "wait" | "believe") => "I ",
        "need" if matches!(second, "a" | "an" | "some" | "my" | "new") => "I ",
        "hate" | "prefer" | "live" | "own"
            if !lex::plain(text).ends_with(" please") && !matches!(second, "" | "that" | "it" | "this" | "your") =>
        {
            "I "
        }
        word if DOING.contains(&word) && second != "at" && !finite() => "I'm ",
        // "Deployed by Ann" is no "I deployed".
        word if verbs::is_past(word)
            && !matches!(word, "was" | "were" | "did" | "based" | "said" | "called")
            && !matches!(second, "by" | "i" | "we" | "you" | "they" | "he" | "she" | "it") =>
        {
            "I "
        }
        _ => return None,
    };
    let mut chars = text.chars();
    let lowered: String = chars.next()?.to_lowercase().chain(chars).collect();
    Some(format!("{start}{lowered}"))
}

/// "you" becomes the one spoken to, in what an assistant promises.
pub(super) fn second(text: &str, name: &str) -> String {
    let mut out = String::with_capacity(text.len() + name.len());
    let mut copied = 0;
    for token in lex::tokens(text) {
        let form = match token.lower.as_str() {
            "you" => name.to_owned(),
            "your" | "yours" => format!("{name}'s"),
            _ => continue,
        };
        out.push_str(&text[copied..token.span.start]);
        out.push_str(&form);
        copied = token.span.end;
    }
    out.push_str(&text[copied..]);
    out
}

/// First letter in upper case.
pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// "I" with what is glued to it.
struct Subject {
    /// What stood behind the apostrophe.
    glued: &'static str,
    /// Part of "my sister and I": the verb is already plural.
    joined: bool,
    /// Part of "should I": the verb stays as it is.
    inverted: bool,
}

impl Subject {
    fn read(tokens: &[Token], i: usize) -> Option<Self> {
        let glued = match tokens[i].lower.as_str() {
            "i" => "",
            "i'm" | "im" => "m",
            "i've" => "ve",
            "i'll" => "ll",
            "i'd" => "d",
            _ => return None,
        };
        // "i.e." and "(i)" are no person.
        if glued.is_empty()
            && tokens
                .get(i + 1)
                .is_some_and(|next| (next.is(".") && tokens.get(i + 2).is_some_and(|t| t.is("e"))) || next.is(")"))
        {
            return None;
        }
        let before = if i == 0 { "" } else { tokens[i - 1].lower.as_str() };
        // "My best friend and I", "Tom and I", but not "Rock on and I".
        let owned = matches!(tokens[0].lower.as_str(), "my" | "our" | "his" | "her" | "the") && i < 7;
        let noun_before = i >= 2 && tokens[i - 2].kind == Kind::Word && (owned || i == 2);
        Some(Self {
            glued,
            joined: before == "and" && noun_before && !tokens[..i - 1].iter().any(|t| verbs::is_verb(&t.lower)),
            inverted: verbs::FIXED.contains(&before) || matches!(before, "do" | "am" | "have"),
        })
    }

    /// "'m" is "is", or "'re" behind "they".
    fn helper(&self, tokens: &[Token], i: usize, named: bool) -> &'static str {
        match (self.glued, named) {
            ("m", true) => "are",
            ("m", false) => "is",
            ("ve", true) => "have",
            ("ve", false) => "has",
            ("ll", _) => "will",
            ("d", _) => match tokens.get(i + 1).map(|t| t.lower.as_str()) {
                Some(next) if next == "been" || next == "better" || verbs::is_past(next) => "had",
                _ => "would",
            },
            _ => "",
        }
    }

    /// The verb that must agree.
    fn verb(&self, tokens: &[Token], i: usize) -> Option<usize> {
        if !self.glued.is_empty() || self.inverted || self.joined {
            return None;
        }
        let mut at = i + 1;
        at += if tokens.get(at).is_some_and(|t| t.is("no")) && tokens.get(at + 1).is_some_and(|t| t.is("longer")) {
            2
        } else {
            0
        };
        while tokens.get(at).is_some_and(|token| verbs::is_adverb(&token.lower)) {
            at += 1;
        }
        tokens.get(at).filter(|token| token.kind == Kind::Word && token.lower.is_ascii()).map(|_| at)
    }
}

fn join(who: &str, helper: &str) -> String {
    if helper.is_empty() { who.to_owned() } else { format!("{who} {helper}") }
}

/// The form that agrees with a name, or with "they"; `None` if nothing changes.
fn conjugate(verb: &str, plural: bool) -> Option<String> {
    match (verb, plural) {
        ("am", true) => return Some("are".into()),
        ("was", true) => return Some("were".into()),
        ("wasn't", true) => return Some("weren't".into()),
        (_, true) => return None,
        _ => {}
    }
    let unchanged =
        verbs::is_unchanged(verb) || matches!(verb, "and" | "or" | "who" | "that" | "to" | "in" | "is" | "are" | "has");
    (!unchanged).then(|| verbs::third_person(verb))
}

/// "and work at …" after a verb that took an "s".
fn second_verb(tokens: &[Token], i: usize) -> bool {
    i > 0
        && matches!(tokens[i - 1].lower.as_str(), "and" | "but")
        && verbs::is_common(&tokens[i].lower)
        && tokens.get(i + 1).is_some_and(|t| t.kind != Kind::Mark)
}

/// me, my, mine, myself.
fn object(word: &str, name: &str, named: bool) -> Option<String> {
    Some(match (word, named) {
        ("my", false) | ("mine", false) => format!("{name}'s"),
        ("my", true) => "their".into(),
        ("mine", true) => "theirs".into(),
        ("me", false) => name.to_owned(),
        ("me", true) => "them".into(),
        ("myself", false) => name.to_owned(),
        ("myself", true) => "themselves".into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Everyday speech leaves the subject out; a memory without one is nobody's.
    #[test]
    fn a_missing_subject_is_put_back() {
        for (said, whole) in [
            ("Been rehearsing hard.", Some("I've been rehearsing hard.")),
            ("Gonna make a plan.", Some("I'm gonna make a plan.")),
            ("Had a tough time.", Some("I had a tough time.")),
            ("Trying to eat healthier.", Some("I'm trying to eat healthier.")),
            ("Working out is fun.", None),
            ("The tap leaks.", None),
        ] {
            assert_eq!(with_subject(said).as_deref(), whole, "{said}");
        }
    }

    // Memories are read months later by somebody else: "I" would be anyone, and bad grammar looks like a bad memory.
    #[test]
    fn the_first_person_becomes_the_speaker() {
        for (said, kept) in [
            ("I love my job.", "Caroline loves their job."),
            ("My job is fun.", "Caroline's job is fun."),
            ("I'm keen on counseling.", "Caroline is keen on counseling."),
            (
                "I really don't like fish and I never eat it.",
                "Caroline really doesn't like fish and they never eat it.",
            ),
            ("I live in Berlin and work at Siemens.", "Caroline lives in Berlin and works at Siemens."),
            ("I like to read and write.", "Caroline likes to read and write."),
            ("I went home.", "Caroline went home."),
            ("I no longer work there.", "Caroline no longer works there."),
            ("I've been there and I'll go again.", "Caroline has been there and they will go again."),
            ("My sister and I live in Rome.", "Caroline's sister and Caroline live in Rome."),
            ("They gave me a book.", "They gave Caroline a book."),
            ("I\u{2019}d been ill.", "Caroline had been ill."),
            ("I was born in Rome, where I was happy.", "Caroline was born in Rome, where they were happy."),
            ("yesterday I cooked", "Yesterday Caroline cooked"),
        ] {
            assert_eq!(third(said, "Caroline").as_deref(), Some(kept), "{said}");
        }
        assert_eq!(third("The tap leaks, i.e. drips.", "Caroline"), None);
    }

    // An address that was rewritten is lost, and nobody can tell.
    #[test]
    fn what_only_looks_like_a_pronoun_stays() {
        for (said, kept) in [
            ("My email is me@anna.dev.", "Caroline's email is me@anna.dev."),
            ("My plate number is ME-42.", "Caroline's plate number is ME-42."),
            ("My settings are in my.cnf.", "Caroline's settings are in my.cnf."),
            ("My site is https://a.com/?me=1&my=2.", "Caroline's site is https://a.com/?me=1&my=2."),
            ("My disk has I/O errors.", "Caroline's disk has I/O errors."),
            ("My aunt has Type I diabetes.", "Caroline's aunt has Type I diabetes."),
            ("My song is \"I Will Survive\".", "Caroline's song is \"I Will Survive\"."),
        ] {
            assert_eq!(third(said, "Caroline").as_deref(), Some(kept), "{said}");
        }
        for untouched in ["World War I started in 1914.", "Mam kota i psa."] {
            assert_eq!(third(untouched, "Caroline"), None, "{untouched}");
        }
        assert_eq!(third("I have a dog.", "the user").as_deref(), Some("The user has a dog."));
    }
}
