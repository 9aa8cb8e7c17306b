//! What only looks like punctuation or spelling: signs, decimals, addresses, symbols, and letters whose case tells. A statement that
//! differs from another in one of these is news, however alike the two read.

/// What of a text must be the same in another one for the two to say the same.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// Numbers with something inside or before them: `2.5`, `3-9`, `-50`, `10:30`.
    numbers: Vec<String>,
    /// Pieces with a symbol that is no punctuation: `j.doe@x.com`, `a*b`, `!=`.
    symbols: Vec<String>,
    /// Addresses, and names of hosts and files.
    dotted: Vec<String>,
}

/// Symbols that never only end or join a phrase.
const SYMBOLS: &str = "@*=<>#^\\|~_+";
/// What may stand inside a number.
const INSIDE: &str = ".,:~/-–\u{2212}";

impl Marks {
    pub(super) fn of(text: &str) -> Self {
        let trimmed = |word: &str| -> String {
            let edge = |c: char| !c.is_alphanumeric() && !SYMBOLS.contains(c);
            // "!=" is all symbol.
            if word.chars().any(char::is_alphanumeric) { word.trim_matches(edge).to_owned() } else { word.to_owned() }
        };
        let words = || text.split_whitespace().map(trimmed).filter(|word| !word.is_empty());
        let dots = |word: &String| {
            let mut parts = word.split(['.', '-']);
            let letters = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric()) && part.len() > 1;
            word.contains('.')
                && word.is_ascii()
                && parts.all(letters)
                && !word.bytes().all(|c| c.is_ascii_digit() || c == b'.')
        };
        let mut marks = Self {
            numbers: numbers(text),
            symbols: words().filter(|word| word.contains(|c| SYMBOLS.contains(c))).collect(),
            dotted: words().filter(dots).collect(),
        };
        for list in [&mut marks.numbers, &mut marks.symbols, &mut marks.dotted] {
            list.sort_unstable();
        }
        marks
    }
}

/// Runs of digits with what stands inside them, and a sign in front.
fn numbers(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if !chars[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let begin = at;
        while at < chars.len() && (chars[at].is_ascii_digit() || INSIDE.contains(chars[at])) {
            at += 1;
        }
        let mut end = at;
        while INSIDE.contains(chars[end - 1]) {
            end -= 1;
        }
        let run: String = chars[begin..end].iter().collect();
        // "2,000" and "2000" are one number.
        let run = if is_grouped(&run) { run.replace(',', "") } else { run };
        let sign =
            chars[..begin].iter().rev().take(2).take_while(|c| "-−$€£(".contains(**c)).any(|c| "-−".contains(*c));
        let inside = run.chars().any(|c| !c.is_ascii_digit());
        let apart = begin < 2
            || !(chars[begin - 1].is_alphanumeric() || chars[begin - 1] == '-' && chars[begin - 2].is_alphanumeric());
        if inside || (sign && apart) {
            found.push(if sign && apart { format!("-{run}") } else { run });
        }
    }
    found
}

fn is_grouped(run: &str) -> bool {
    let mut parts = run.split(',');
    let first =
        parts.next().is_some_and(|part| (1..=3).contains(&part.len()) && part.bytes().all(|c| c.is_ascii_digit()));
    run.contains(',') && first && parts.all(|part| part.len() == 3 && part.bytes().all(|c| c.is_ascii_digit()))
}

/// Whether two texts have a word in letters of another case where that may be another word: "Turkey" and "turkey", "mW" and "MW". The
/// first word tells nothing, nor does a text that has no capitals at all, or nothing else.
pub(super) fn differ_in_case(one: &str, two: &str) -> bool {
    fn words(text: &str) -> Vec<&str> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).skip(1).collect()
    }
    let cased = |words: &[&str]| {
        let capital = |word: &&str| word.chars().any(char::is_uppercase) && *word != "I";
        let small = |word: &&str| word.chars().any(char::is_lowercase);
        words.iter().any(capital) && words.iter().any(small)
    };
    let (ones, twos) = (words(one), words(two));
    if !cased(&ones) || !cased(&twos) {
        return false;
    }
    let unlike = |word: &&str, others: &[&str]| {
        let lower = word.to_lowercase();
        !others.contains(word) && others.iter().any(|other| other.to_lowercase() == lower)
    };
    ones.iter().any(|word| unlike(word, &twos)) || twos.iter().any(|word| unlike(word, &ones))
}

#[cfg(test)]
mod tests {
    use super::super::{Author, says_the_same};

    // Each of these pairs was once taken for one statement. Who acts on the wrong one takes ten times the dose.
    #[test]
    fn signs_decimals_addresses_and_capitals_are_news() {
        for (stored, new) in [
            ("I live at 12 Oak Rd.", "I live at 12 Oak St."),
            ("薬は2.5ミリ飲みます", "薬は25ミリ飲みます"),
            ("体温は38.5度です", "体温は385度です"),
            ("Trabajo en el turno de la tarde", "Trabajo en el turno de la noche"),
            ("The balance is $-50", "The balance is $50"),
            ("The condition is x != 0", "The condition is x = 0"),
            ("My email is j.doe@x.com", "My email is jdoe@x.com"),
            ("My page is my-site.com", "My page is mysite.com"),
            ("I am away 3-9 June", "I am away 3, 9 June"),
            ("The password is a*b*c", "The password is abc"),
            ("Bob flew to Turkey with Ann", "Bob flew to turkey with Ann"),
            ("My 20 friends bought cars", "My friends bought 20 cars"),
            ("Ann told me yesterday he resigned", "Ann told me he resigned yesterday"),
        ] {
            assert!(!says_the_same(stored, new, Author::Anyone), "{stored} / {new}");
            assert!(!says_the_same(new, stored, Author::Anyone), "{new} / {stored}");
        }
    }

    #[test]
    fn ways_of_writing_are_not() {
        for (stored, new) in [
            ("I earn 2,000 euros a month", "I earn 2000 euros a month"),
            ("i have three children", "I have 3 children."),
            ("My dog is called Rex!", "my dog is called Rex"),
        ] {
            assert!(says_the_same(stored, new, Author::Anyone), "{stored} / {new}");
        }
    }
}
