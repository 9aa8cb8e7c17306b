//! A query made of what was said last.

/// Messages, oldest first, as one query of at most so many bytes, oldest first too. The newest has the most room: half of what is
/// left goes to each message from the newest back, and what it does not need to those before it. None if they say nothing.
pub fn query_of(texts: &[String], bytes_max: usize) -> Option<String> {
    let mut parts = Vec::new();
    let mut left = bytes_max;
    let said: Vec<&str> = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
    for (back, text) in said.iter().rev().enumerate() {
        let last = back + 1 == said.len();
        let part = shortened(text, if last { left } else { left / 2 });
        if part.is_empty() {
            break;
        }
        // A line break between two.
        left = left.saturating_sub(part.len() + 1);
        parts.push(part);
    }
    parts.reverse();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// The beginning and the end of a text that is longer, for what it is about stands in one and what is asked in the other.
fn shortened(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let half = bytes_max.saturating_sub(1) / 2;
    let (mut end, mut begin) = (half, text.len() - half);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    while !text.is_char_boundary(begin) {
        begin += 1;
    }
    let (head, tail) = (&text[..end], &text[begin..]);
    // Between words, where there are any.
    let head = head.rfind(char::is_whitespace).map_or(head, |space| &head[..space]);
    let tail = tail.find(char::is_whitespace).map_or(tail, |space| &tail[space..]);
    format!("{} {}", head.trim(), tail.trim()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str], bytes_max: usize) -> Option<String> {
        query_of(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), bytes_max)
    }

    #[test]
    fn all_of_it_where_it_fits() {
        assert_eq!(of(&["I love pizza.", " ", "And Rome?"], 1_024).as_deref(), Some("I love pizza.\nAnd Rome?"));
        assert_eq!(of(&["", "\n"], 1_024), None);
        assert_eq!(of(&[], 1_024), None);
    }

    #[test]
    fn the_newest_has_the_most_room_and_no_limit_is_passed() {
        let long = "word ".repeat(1_000);
        let told = of(&["first words", &long, "Where is the station?"], 200).expect("a query");
        assert!(told.ends_with("\nWhere is the station?") && told.contains("word word") && told.len() <= 200, "{told}");
        let ends = format!("About the harbour. {} So when does it open?", "filler ".repeat(2_000));
        let told = of(&[&ends], 100).expect("a query");
        assert!(told.starts_with("About the harbour.") && told.ends_with("when does it open?"), "{told}");
        for bytes_max in 0..60 {
            let told = of(&[&"é".repeat(100), &"京都".repeat(40), &long], bytes_max).unwrap_or_default();
            assert!(told.len() <= bytes_max, "{bytes_max}: {}", told.len());
        }
    }
}
