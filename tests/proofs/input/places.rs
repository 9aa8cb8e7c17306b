//! The values in a request, each with its path, and values of a given size.

use serde_json::Value;

use super::rules;

/// A value in a request.
pub(super) struct Place {
    /// As an error names it: `messages[0].role`.
    pub(super) path: String,
    /// As the rules name it: `messages.role`.
    pub(super) rule: String,
    /// As a JSON pointer.
    pub(super) pointer: String,
}

impl Place {
    /// What lies in it under a name.
    pub(super) fn field(&self, name: &str) -> Self {
        let join = |path: &str, by: &str| if path.is_empty() { name.to_owned() } else { format!("{path}{by}{name}") };
        let pointer = format!("{}/{name}", self.pointer);
        Self { path: join(&self.path, "."), rule: join(&self.rule, "."), pointer }
    }

    fn item(&self, at: usize) -> Self {
        let pointer = format!("{}/{at}", self.pointer);
        Self { path: format!("{}[{at}]", self.path), rule: self.rule.clone(), pointer }
    }

    /// Whoever gets a moment wrong is shown the whole of it.
    pub(super) fn told(&self) -> String {
        match self.path.as_str() {
            "as_of.seq" | "as_of.time" => "as_of".to_owned(),
            path => path.to_owned(),
        }
    }
}

/// All values of a request but those under names of the client's own, and the request itself first.
pub(super) fn places(request: &Value) -> Vec<Place> {
    fn walk(value: &Value, place: Place, found: &mut Vec<Place>) {
        match value {
            Value::Object(fields) if !rules::is_open(&place.rule) => {
                fields.iter().for_each(|(name, value)| walk(value, place.field(name), found));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(at, item)| walk(item, place.item(at), found));
            }
            _ => {}
        }
        found.push(place);
    }
    let mut found = Vec::new();
    walk(request, Place { path: String::new(), rule: String::new(), pointer: String::new() }, &mut found);
    found.reverse();
    found
}

/// So many bytes, in characters of three.
pub(super) fn bytes(count: usize) -> String {
    format!("{}{}", "\u{20ac}".repeat(count / 3), "x".repeat(count % 3))
}

/// So many bytes of a note's body.
pub(super) fn html(count: usize) -> String {
    format!("<p>{}</p>", bytes(count - "<p></p>".len()))
}
