//! Good requests: of every verb at least one, and every field in at least one of them. They lie in a text that the fuzz targets
//! begin with as well, a line each: the verb, the fields that it cannot do without, the request. A value that begins with `$` stands
//! for something that the test made before.

use std::collections::BTreeMap;

use memlog::door::table::{Row, TABLE};
use serde_json::Value;

/// The lines.
pub(crate) const TEXT: &str = include_str!("../../fuzz/seeds/requests.txt");

/// What stands behind the names that begin with `$`.
pub(crate) type Names = BTreeMap<String, Value>;

/// A good request.
pub(crate) struct Good {
    pub(crate) row: &'static Row,
    /// `messages.role` is the role of each message.
    pub(crate) required: Vec<&'static str>,
    pub(crate) request: Value,
}

impl Good {
    /// `noun.verb`.
    pub(crate) fn name(&self) -> String {
        format!("{:?}", self.row)
    }
}

/// All of them, in an order in which they can be done.
pub(crate) fn all(names: &Names) -> Vec<Good> {
    let parts = TEXT.lines().map(|line| {
        let mut parts = line.splitn(3, ' ');
        let mut part = || parts.next().expect("a verb, its required fields, a request");
        (part(), part(), part())
    });
    let good = parts.map(|(name, required, request)| {
        let row = &TABLE.rows()[TABLE.place(name).unwrap_or_else(|| panic!("no such verb: {name}"))];
        let mut request = serde_json::from_str(request).unwrap_or_else(|error| panic!("{name}: {error}"));
        named(&mut request, names);
        Good { row, required: required.split(',').filter(|name| *name != "-").collect(), request }
    });
    good.collect()
}

fn named(value: &mut Value, names: &Names) {
    match value {
        Value::String(text) if text.starts_with('$') => {
            *value = names.get(&text[1..]).unwrap_or_else(|| panic!("{text} stands for nothing")).clone();
        }
        Value::Array(items) => items.iter_mut().for_each(|item| named(item, names)),
        // The operators of filters begin alike.
        Value::Object(fields) => fields.values_mut().for_each(|value| named(value, names)),
        _ => {}
    }
}

/// A verb that nobody sends a good request to is one whose refusals nobody has seen.
#[test]
fn every_field_of_every_verb_is_in_a_good_request() {
    let mut missing = Vec::new();
    for row in TABLE.rows() {
        let name = format!("{row:?}");
        let lines = TEXT.lines().filter(|line| line.split(' ').next() == Some(&name));
        let requests: Vec<Value> =
            lines.map(|line| serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap()).collect();
        if requests.is_empty() {
            missing.push(name.clone());
        }
        let unsent = row.fields.iter().filter(|field| !requests.iter().any(|request| request.get(field).is_some()));
        missing.extend(unsent.map(|field| format!("{name} {field}")));
    }
    assert!(missing.is_empty(), "add to tests/fuzz/seeds/requests.txt: {}", missing.join(", "));
}
