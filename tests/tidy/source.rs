//! Just enough of Rust's grammar to tell code from comments and strings, and to measure functions.

/// One Rust file. `code` and `comments` have the length of the text, with blanks for what belongs to the other; what
/// stands inside string and character literals is in neither.
pub(crate) struct Source<'a> {
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) code: String,
    pub(crate) comments: String,
}

/// A function and how many lines it takes, signature and closing brace included.
#[derive(Debug, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) lines: usize,
}

impl<'a> Source<'a> {
    pub(crate) fn new(path: &'a str, text: &'a str) -> Self {
        let (code, comments) = split(text);
        Self { path, text, code, comments }
    }

    /// The lines of code that name this identifier, counted from 1.
    pub(crate) fn lines_naming(&self, word: &str) -> Vec<usize> {
        let names = |line: &str| identifiers(line).any(|other| other == word);
        self.code.lines().enumerate().filter(|(_, line)| names(line)).map(|(at, _)| at + 1).collect()
    }

    /// From which line on the file is test code: the first for a test file, else where its test module begins.
    pub(crate) fn tests_from(&self) -> Option<usize> {
        if self.is_test_file() {
            return Some(1);
        }
        let lines: Vec<&str> = self.code.lines().map(str::trim).collect();
        let opens_module =
            |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{');
        lines.windows(2).position(opens_module).map(|at| at + 1)
    }

    pub(crate) fn is_test_file(&self) -> bool {
        let in_tests = |folder: &str| self.path.starts_with(folder) || self.path.contains(&format!("/{folder}"));
        in_tests("tests/") || self.path.ends_with("/tests.rs")
    }

    pub(crate) fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = self.code[from..].find("fn ").map(|at| at + from) {
            from = at + 3;
            let starts_word = !self.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let name = identifiers(&self.code[from..]).next().unwrap_or_default();
            if !starts_word || !self.code[from..].trim_start().starts_with(name) || name.is_empty() {
                continue;
            }
            if let Some(end) = body_end(&self.code, from) {
                let line = self.code[..at].matches('\n').count() + 1;
                let lines = self.code[at..end].matches('\n').count() + 1;
                found.push(Function { name: name.to_owned(), line, lines });
            }
        }
        found
    }
}

pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Where the body of the function whose signature begins at `from` ends; none for a declaration without one.
fn body_end(code: &str, from: usize) -> Option<usize> {
    let (mut round, mut curly) = (0_usize, 0_usize);
    for (at, c) in code[from..].char_indices() {
        match c {
            '(' | '[' if curly == 0 => round += 1,
            ')' | ']' if curly == 0 => round = round.checked_sub(1)?,
            ';' if curly == 0 && round == 0 => return None,
            '{' if round == 0 => curly += 1,
            '}' if round == 0 && curly == 0 => return None,
            '}' if round == 0 => {
                curly -= 1;
                if curly == 0 {
                    return Some(from + at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The text as code and as comments.
fn split(text: &str) -> (String, String) {
    let (mut code, mut comments) = (String::new(), String::new());
    let mut rest = text;
    let mut after_word = false;
    while let Some(c) = rest.chars().next() {
        let (length, kind) = token(rest, c, after_word);
        for c in rest[..length].chars() {
            let blank = if c == '\n' { '\n' } else { ' ' };
            code.push(if kind == Kind::Code { c } else { blank });
            comments.push(if kind == Kind::Comment { c } else { blank });
        }
        after_word = kind == Kind::Code && (c.is_alphanumeric() || c == '_');
        rest = &rest[length..];
    }
    (code, comments)
}

#[derive(PartialEq, Clone, Copy)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// The length in bytes of what begins here, and what it is.
fn token(rest: &str, first: char, after_word: bool) -> (usize, Kind) {
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), Kind::Comment);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), Kind::Comment);
    }
    if first == '"' {
        return (1 + literal_end(&rest[1..], '"'), Kind::Literal);
    }
    if let Some(length) = raw_string(rest).filter(|_| !after_word) {
        return (length, Kind::Literal);
    }
    if first == '\'' && is_char_literal(rest) {
        return (1 + literal_end(&rest[1..], '\''), Kind::Literal);
    }
    (first.len_utf8(), Kind::Code)
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let (step, change) = match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        depth += change;
        at += step;
        if depth == 0 {
            break;
        }
    }
    at.min(rest.len())
}

fn literal_end(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        if !escaped && c == quote {
            return at + c.len_utf8();
        }
        escaped = !escaped && c == '\\';
    }
    rest.len()
}

/// The length of a raw string that begins here: `r`, any number of `#`, a quote, and as many `#` at its end.
fn raw_string(rest: &str) -> Option<usize> {
    let prefix = if rest.starts_with("br") || rest.starts_with("cr") { 2 } else { 1 };
    let after = rest.strip_prefix("br").or(rest.strip_prefix("cr")).or(rest.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(prefix + hashes + 1 + length)
}

/// A quote begins a character, not a lifetime, when a backslash follows or another quote comes right after one character.
fn is_char_literal(rest: &str) -> bool {
    let mut chars = rest.chars().skip(1);
    chars.next() == Some('\\') || chars.next() == Some('\'')
}

#[cfg(test)]
mod tests {
    // A wall that takes a comment for code, or loses count inside a string, fails honest work and passes the rest.
    use super::*;

    fn code(text: &str) -> String {
        split(text).0
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        assert_eq!(code("a // redb\nb").trim_end(), "a        \nb");
        assert_eq!(code("a /* x /* y */ z */ b").replace(' ', ""), "ab");
        assert_eq!(code(r##"f("redb \" {", r#"a " {"#, '{', '\'', b"x")"##).replace(' ', ""), "f(,,,,b)");
        assert_eq!(code("fn f<'a>(x: &'a str)"), "fn f<'a>(x: &'a str)");
        assert_eq!(code("for_r\"x\"").trim_end(), "for_r");
        assert_eq!(split("x // why\n").1.trim(), "// why");
    }

    #[test]
    fn identifiers_are_whole_words() {
        let source = Source::new("x.rs", "use redb::X;\nlet redb_like = 1; // redb\nf(redb)");
        assert_eq!(source.lines_naming("redb"), [1, 3]);
    }

    #[test]
    fn functions_are_measured_from_signature_to_closing_brace() {
        let text = "trait T { fn declared(&self); }\npub async fn long(\n  a: [u8; 3],\n) -> u8 {\n  if a { '}' }\n}\nfn s() {}";
        let found = Source::new("x.rs", text).functions();
        let expected = [("long", 2, 5), ("s", 7, 1)];
        let expected = expected.map(|(name, line, lines)| Function { name: name.into(), line, lines });
        assert_eq!(found, expected);
    }

    #[test]
    fn test_code_begins_with_the_test_module() {
        assert_eq!(Source::new("src/a.rs", "a\n#[cfg(test)]\nmod tests {\n}").tests_from(), Some(2));
        assert_eq!(Source::new("src/a.rs", "#[cfg(test)]\nmod tests;\nfn a() {}").tests_from(), None);
        assert_eq!(Source::new("src/a.rs", "a").tests_from(), None);
        assert_eq!(Source::new("events/tests/a.rs", "a").tests_from(), Some(1));
        assert_eq!(Source::new("src/nats/server/tests.rs", "a").tests_from(), Some(1));
    }
}
