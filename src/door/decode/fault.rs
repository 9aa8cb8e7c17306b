//! What is wrong with a request, and where.

use std::fmt::{self, Display};

use memlog_actors::api::{Error, error::Kind};
use serde::de::{self, Expected, Unexpected};

/// A field's path in an error: deep ones are cut, since a path is as long as the client makes it.
const PATH_CHARS_MAX: usize = 200;
/// A message of a type's own parser.
const MESSAGE_CHARS_MAX: usize = 200;

#[derive(Debug)]
enum Step {
    Name(String),
    Index(usize),
}

/// A fault and the way to it, innermost step first.
#[derive(Debug)]
pub(super) struct Fault {
    path: Vec<Step>,
    message: String,
    limit: Option<u64>,
}

impl Fault {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { path: Vec::new(), message: message.into(), limit: None }
    }

    pub(super) fn past(limit: usize, message: impl Into<String>) -> Self {
        Self { limit: Some(limit as u64), ..Self::new(message) }
    }

    /// The fault lies under this name.
    pub(super) fn under(mut self, name: &str) -> Self {
        self.path.push(Step::Name(name.chars().take(PATH_CHARS_MAX).collect()));
        self
    }

    /// The fault lies in this item.
    pub(super) fn at(mut self, index: usize) -> Self {
        self.path.push(Step::Index(index));
        self
    }

    fn field(&self) -> String {
        let mut field = String::new();
        for step in self.path.iter().rev() {
            match step {
                Step::Name(name) if field.is_empty() => field.push_str(name),
                Step::Name(name) => field.extend([".", name]),
                Step::Index(index) => field.push_str(&format!("[{index}]")),
            }
        }
        cut(&field, PATH_CHARS_MAX)
    }
}

fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let error = if fault.path.is_empty() {
            Self::new(Kind::InvalidRequest, fault.message)
        } else {
            let field = fault.field();
            // A message that begins with its verb reads on after the field's name, as the rules about values do.
            let link = if fault.message.starts_with("must be ") { "" } else { ":" };
            Self::invalid(&field, format!("{field}{link} {}", fault.message))
        };
        match fault.limit {
            Some(limit) => error.with("limit", limit),
            None => error,
        }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// What a value is, in JSON's words and without its content.
fn kind(unexpected: &Unexpected<'_>) -> &'static str {
    match unexpected {
        Unexpected::Bool(_) => "a boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "an integer",
        Unexpected::Float(_) => "a number with a fraction",
        Unexpected::Char(_) | Unexpected::Str(_) => "a string",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "an array",
        Unexpected::Map => "an object",
        _ => "another value",
    }
}

/// What a value must be, where that says it all: a number past every limit has no fraction, though it is none of ours.
fn must(expected: &dyn Expected) -> Option<String> {
    let text = expected.to_string();
    match text.as_str() {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => {
            Some("must be a whole number".to_owned())
        }
        // A type that shows how it is written.
        text if text.starts_with('{') => Some(format!("must be {text}")),
        _ => None,
    }
}

/// Rust's names for what serde expects are not a client's.
fn wanted(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "f32" | "f64" => "a number".to_owned(),
        "a map" => "an object".to_owned(),
        "a sequence" => "an array".to_owned(),
        "struct" => "an object".to_owned(),
        text if text.starts_with("struct ") => "an object".to_owned(),
        text if text.starts_with("enum ") || text.contains("variant") => "one of the documented values".to_owned(),
        _ => text,
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

impl de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(cut(&message.to_string(), MESSAGE_CHARS_MAX))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let said = || format!("expected {}, not {}", wanted(expected), kind(&unexpected));
        Self::new(must(expected).unwrap_or_else(said))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(must(expected).unwrap_or_else(|| format!("expected {}", wanted(expected))))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("expected one of: {}", listed(expected)))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("no such field; there are: {}", listed(expected))).under(field)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new("this field is required").under(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new("given twice").under(field)
    }
}
