//! Sentences out of a message: code, quotations, headings and tables fall away, abbreviations and numbers hold together.

/// A token longer than this is data (a key, an encoded file), not speech.
const WORD_BYTES_MAX: usize = 256;

/// Titles and abbreviations whose full stop ends no sentence.
#[rustfmt::skip]
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "vs", "etc", "e.g", "i.e", "approx", "no", "nr", "dept",
    "inc", "ltd", "tel", "fig", "av", "sra", "dra", "bzw", "z.b", "т.е", "ул", "г",
];

/// The sentences of a message, trimmed, in order.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, line) in prose(text).iter().enumerate() {
        // "Summarise this: …", "Can you check this mail?", "Dear team,": the rest of the message is another text.
        if at > 0 && opens_letter(line) || sentences(line, &mut out) || hands_over(line) {
            break;
        }
    }
    out
}

/// A salutation on a line of its own.
fn opens_letter(line: &str) -> bool {
    let short = line.split_whitespace().count() <= 5 && line.ends_with(',');
    short
        && [
            "Hi ",
            "Hello ",
            "Dear ",
            "Hey ",
            "Hola ",
            "Estimad",
            "Querid",
            "Liebe",
            "Sehr geehrte",
            "Cher ",
            "Chère ",
            "Bonjour ",
        ]
        .iter()
        .any(|start| line.starts_with(start))
}

/// A request that ends its line and speaks of a text that can only follow.
fn hands_over(line: &str) -> bool {
    let plain = super::lex::plain(line);
    let asks = line.ends_with(['?', ':']) || super::filler::is_request(&plain, super::language::Language::English);
    let things = [
        "email",
        "mail",
        "text",
        "message",
        "paragraph",
        "letter",
        "essay",
        "code",
        "error",
        "article",
        "draft",
        "poem",
        "log",
        "snippet",
        "function",
        "query",
        "story",
    ];
    let words: Vec<&str> = plain.split(' ').collect();
    let this = words.windows(2).any(|pair| matches!(pair[0], "this" | "following") && things.contains(&pair[1]));
    let announced = line.ends_with(':')
        && ["here is ", "here's ", "this is ", "below ", "see below"].iter().any(|start| plain.starts_with(start));
    asks && this || announced
}

/// Lines of speech, with hard-wrapped lines joined.
fn prose(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut fenced = false;
    let mut open = false;
    for line in text.split(['\n', '\r', '\u{2028}', '\u{2029}']) {
        let trimmed = line.trim_matches(|c: char| c.is_whitespace() || c.is_control());
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
            open = false;
            continue;
        }
        let quoted = trimmed.starts_with('>')
            || trimmed.starts_with('|')
            || trimmed.starts_with("# ")
            || trimmed.starts_with("##");
        if fenced || quoted || trimmed.is_empty() {
            open = false;
            continue;
        }
        let (item, marked) = unlisted(trimmed);
        let continues = open && !marked && item.chars().next().is_some_and(char::is_lowercase);
        match lines.last_mut() {
            Some(last) if continues => {
                last.push(' ');
                last.push_str(item);
            }
            _ => lines.push(item.to_owned()),
        }
        open = !item.ends_with(['.', '!', '?', '。', '！', '？', ':', '…']);
    }
    lines
}

/// Without the bullet or number of a list item.
fn unlisted(line: &str) -> (&str, bool) {
    for bullet in ["- ", "* ", "+ ", "• ", "– ", "— "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return (rest.trim_start_matches("[ ] ").trim_start_matches("[x] ").trim(), true);
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&digits)
        && let Some(rest) = line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") "))
    {
        return (rest.trim(), true);
    }
    (line, false)
}

/// Adds a line's sentences; true when what follows is pasted text.
fn sentences(line: &str, out: &mut Vec<String>) -> bool {
    let mut start = 0;
    let mut walk = Walk { line, at: 0, unquoted: 0 };
    while let Some(end) = walk.next_end() {
        let sentence = &line[start..end];
        if let Some(request) = pasting(sentence) {
            push(request, out);
            return true;
        }
        push(sentence, out);
        start = end;
    }
    if let Some(request) = pasting(&line[start..]) {
        push(request, out);
        return true;
    }
    push(&line[start..], out);
    false
}

fn push(sentence: &str, out: &mut Vec<String>) {
    let sentence = sentence.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    if sentence.is_empty()
        || mostly_quoted(sentence)
        || sentence.split_whitespace().any(|word| word.len() > WORD_BYTES_MAX && word.is_ascii())
    {
        return;
    }
    out.push(sentence.replace(['*', '\0'], "").replace("__", ""));
}

/// The part up to the colon when it announces a text that is not the speaker's own.
fn pasting(sentence: &str) -> Option<&str> {
    #[rustfmt::skip]
    const ORDERS: &[&str] = &[
        "rewrite", "summarize", "summarise", "translate", "proofread", "correct", "review", "explain", "fix",
        "improve", "check", "edit", "shorten", "paraphrase", "analyze", "analyse", "classify", "here is the",
        "here's the", "here is an", "here's an", "here is my", "here's my", "here is what", "here's what", "below is", "the following", "resume", "traduce", "переведи", "перепиши",
    ];
    let colon = sentence
        .find(':')
        .filter(|at| sentence[at + 1..].is_empty() || sentence[at + 1..].starts_with([' ', '"', '“']))?;
    let head = super::lex::plain(&sentence[..colon]);
    let head = head
        .strip_prefix("please ")
        .or_else(|| head.strip_prefix("can you "))
        .or_else(|| head.strip_prefix("could you "))
        .unwrap_or(&head);
    let head = head.strip_prefix("please ").unwrap_or(head);
    ORDERS.iter().any(|order| super::lex::opens_with(head, order)).then(|| &sentence[..=colon])
}

/// Most of it stands in quotation marks: somebody else's words.
fn mostly_quoted(sentence: &str) -> bool {
    let mut inside = 0;
    let mut open: Option<(char, usize)> = None;
    for (at, c) in sentence.char_indices() {
        match open {
            Some((close, from)) if c == close => {
                inside += at - from;
                open = None;
            }
            None => open = closing(c).map(|close| (close, at)),
            Some(_) => {}
        }
    }
    inside * 5 > sentence.len() * 3
}

fn closing(c: char) -> Option<char> {
    Some(match c {
        '"' => '"',
        '“' => '”',
        '„' => '“',
        '«' => '»',
        '「' => '」',
        '『' => '』',
        _ => return None,
    })
}

/// Walks over a line once and stops at the ends of sentences.
struct Walk<'a> {
    line: &'a str,
    at: usize,
    /// Up to here it is known that an opened quotation is never closed.
    unquoted: usize,
}

impl Walk<'_> {
    fn next_end(&mut self) -> Option<usize> {
        while let Some(c) = self.line[self.at..].chars().next() {
            let here = self.at;
            self.at += c.len_utf8();
            if let Some(close) = closing(c)
                && self.at > self.unquoted
            {
                match self.line[self.at..].find(close) {
                    Some(length) => {
                        let inside_ends = self.line[..self.at + length].ends_with(['.', '!', '?', '。', '！', '？']);
                        self.at += length + close.len_utf8();
                        let next = self.line[self.at..].trim_start();
                        if inside_ends
                            && self.line[self.at..].starts_with(char::is_whitespace)
                            && next.chars().next().is_some_and(char::is_uppercase)
                        {
                            return Some(self.at);
                        }
                    }
                    // One failed search is enough for the whole line, or a line of quotes would take square time.
                    None => self.unquoted = self.line.len(),
                }
                continue;
            }
            if self.ends_at(here, c) {
                return Some(self.at);
            }
        }
        None
    }

    /// Whether this mark ends a sentence; takes in the marks and closers that follow it.
    fn ends_at(&mut self, here: usize, c: char) -> bool {
        let wide = matches!(c, '。' | '！' | '？' | '．' | '।' | '؟' | '۔');
        if !wide && !matches!(c, '.' | '!' | '?' | '…') {
            return false;
        }
        let rest = &self.line[self.at..];
        let trailing = rest
            .find(|c: char| !matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | ')' | '’' | '\'' | '）'))
            .unwrap_or(rest.len());
        let after = &rest[trailing..];
        let next = after.trim_start().chars().next();
        if !wide && !after.is_empty() && !after.starts_with(char::is_whitespace) {
            // "3.5", "e.g.", "example.com" go on; "Yes!No" and an emoji right behind end.
            let ends =
                c != '.' && c != '…' || after.chars().next().is_some_and(|c| !c.is_alphanumeric() && !c.is_ascii());
            self.at += if ends { trailing } else { 0 };
            return ends;
        }
        let soft = c == '.' || c == '…';
        if soft && next.is_some_and(char::is_lowercase) && !wide {
            return false;
        }
        if c == '.' && trailing == 0 && next.is_some() && abbreviated(&self.line[..here]) {
            return false;
        }
        self.at += trailing;
        true
    }
}

/// Whether a full stop after this text belongs to an abbreviation or an initial.
fn abbreviated(head: &str) -> bool {
    // An abbreviation is short: looking further back would make long words without spaces cost square time.
    let mut from = head.len().saturating_sub(24);
    while !head.is_char_boundary(from) {
        from += 1;
    }
    let tail = &head[from..];
    let word = tail.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or(tail);
    let mut chars = word.chars();
    let initial = chars.next().is_some_and(|c| c.is_uppercase() && c != 'I') && chars.next().is_none();
    initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Two statements glued together, or one torn apart, are wrong for ever after: this is where it is decided.
    #[test]
    fn sentences_end_where_people_end_them() {
        for (text, expected) in [
            ("I saw Dr. Chen. She is nice!", vec!["I saw Dr. Chen.", "She is nice!"]),
            ("It costs 3.50 at example.com today.", vec!["It costs 3.50 at example.com today."]),
            ("Really?! Yes... I mean it", vec!["Really?!", "Yes...", "I mean it"]),
            ("京都です。いいですか？はい！", vec!["京都です。", "いいですか？", "はい！"]),
            ("Vivo en Madrid. ¿Y tú?", vec!["Vivo en Madrid.", "¿Y tú?"]),
            ("- buy milk\n- call Ann\n1. rest", vec!["buy milk", "call Ann", "rest"]),
            ("I moved to a very\nquiet town.", vec!["I moved to a very quiet town."]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    // What others wrote, and code, say nothing about the speaker.
    #[test]
    fn code_quotes_and_pasted_text_fall_away() {
        assert_eq!(split("Look:\n```\nI live in Rome.\n```\nDone."), ["Look:", "Done."]);
        assert_eq!(split("Is this mail ok?\n\nI am ill.\nKate"), ["Is this mail ok?"]);
        assert_eq!(split("I wrote to her.\nHi Ann,\nI am ill."), ["I wrote to her."]);
        assert_eq!(split("> I love it.\nMe not."), ["Me not."]);
        assert_eq!(split("She said: \"I am leaving. My last day is Monday.\""), Vec::<String>::new());
        assert_eq!(split("Please translate this: I live in Rome. I am old."), ["Please translate this:"]);
        assert_eq!(split("```\nnever closed\nI live in Rome."), Vec::<String>::new());
    }
}
