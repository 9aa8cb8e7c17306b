//! The filter language over metadata: exact match, nested objects as subsets, `$array_contains`, `$array_contains_any`, `$not`.

use serde_json::{Map, Value};

use crate::api::Error;

/// Of what is no operator; the names of those that are end long before.
const OPERATOR_CHARS_SHOWN: usize = 40;

/// Refuses a filter that could not mean anything.
pub fn check(filter: &Map<String, Value>) -> Result<(), Error> {
    for (name, wanted) in filter {
        if name.starts_with('$') {
            return Err(unknown(name));
        }
        check_field(wanted)?;
    }
    Ok(())
}

fn check_field(wanted: &Value) -> Result<(), Error> {
    let Value::Object(fields) = wanted else { return Ok(()) };
    if !fields.keys().any(|name| name.starts_with('$')) {
        return check(fields);
    }
    for (name, operand) in fields {
        match name.as_str() {
            "$array_contains" => {}
            "$array_contains_any" if operand.is_array() => {}
            "$array_contains_any" => {
                return Err(Error::invalid("metadata_filter", "$array_contains_any takes a list"));
            }
            "$not" => check_field(operand)?,
            other => return Err(unknown(other)),
        }
    }
    Ok(())
}

fn unknown(name: &str) -> Error {
    let shown: String = name.chars().take(OPERATOR_CHARS_SHOWN).collect();
    Error::invalid("metadata_filter", format!("metadata_filter has no operator {shown:?} here"))
}

/// Whether metadata matches. Every field of the filter must; other fields do not matter.
pub fn matches(filter: &Map<String, Value>, metadata: Option<&Map<String, Value>>) -> bool {
    filter.iter().all(|(name, wanted)| field(wanted, metadata.and_then(|fields| fields.get(name))))
}

fn field(wanted: &Value, found: Option<&Value>) -> bool {
    let Value::Object(wanted_fields) = wanted else { return found.is_some_and(|found| same(wanted, found)) };
    if wanted_fields.keys().any(|name| name.starts_with('$')) {
        return wanted_fields.iter().all(|(name, operand)| operator(name, operand, found));
    }
    match found {
        Some(Value::Object(fields)) => matches(wanted_fields, Some(fields)),
        // A subset that only negates is matched by what is not there.
        None => !wanted_fields.is_empty() && matches(wanted_fields, None),
        Some(_) => false,
    }
}

fn operator(name: &str, operand: &Value, found: Option<&Value>) -> bool {
    let has = |wanted: &Value| {
        found.and_then(Value::as_array).is_some_and(|members| members.iter().any(|member| same(wanted, member)))
    };
    match (name, operand) {
        ("$array_contains", Value::Array(all)) => found.is_some_and(Value::is_array) && all.iter().all(has),
        ("$array_contains", one) => has(one),
        ("$array_contains_any", Value::Array(some)) => some.iter().any(has),
        ("$not", inner) => !field(inner, found),
        _ => false,
    }
}

/// Equality of JSON values; numbers by value, so that 1 is 1.0.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.is_f64() != b.is_f64() && a.as_f64() == b.as_f64()),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn says(filter: Value, metadata: Value) -> bool {
        let filter = filter.as_object().expect("a filter").clone();
        check(&filter).expect("a good filter");
        matches(&filter, metadata.as_object())
    }

    /// Each filter matches or does not; and `{"$not": ...}` around a field's expression is always the opposite.
    fn table(metadata: Value, rows: Vec<(Value, bool)>) {
        for (filter, expected) in rows {
            assert_eq!(says(filter.clone(), metadata.clone()), expected, "{filter}");
            let fields = filter.as_object().expect("a filter");
            if let [(name, inner)] = &fields.iter().collect::<Vec<_>>()[..] {
                let negated = json!({ (*name).clone(): { "$not": inner } });
                assert_eq!(says(negated.clone(), metadata.clone()), !expected, "{negated}");
            }
        }
    }

    // One row a rule of the language, with what it must not match beside what it must.
    #[test]
    fn the_language_row_by_row() {
        let chat = json!({"source": "chat", "n": 1, "tags": ["trip", "urgent"], "who": {"name": "Ana", "age": 3}, "nil": null});
        table(
            chat,
            vec![
                (json!({}), true),
                (json!({"source": "chat"}), true),
                (json!({"source": "mail"}), false),
                (json!({"source": "chat", "n": 2}), false),
                (json!({"n": 1.0}), true),
                (json!({"n": "1"}), false),
                (json!({"n": true}), false),
                (json!({"tags": ["trip", "urgent"]}), true),
                (json!({"tags": ["urgent", "trip"]}), false),
                (json!({"tags": ["trip"]}), false),
                (json!({"tags": "trip"}), false),
                (json!({"tags": {"$array_contains": "trip"}}), true),
                (json!({"tags": {"$array_contains": ["trip", "urgent"]}}), true),
                (json!({"tags": {"$array_contains": ["trip", "x"]}}), false),
                (json!({"tags": {"$array_contains_any": ["x", "trip"]}}), true),
                (json!({"tags": {"$array_contains_any": ["x", "y"]}}), false),
                (json!({"tags": {"$array_contains_any": []}}), false),
                (json!({"tags": {"$array_contains": "trip", "$not": {"$array_contains": "archived"}}}), true),
                (json!({"tags": {"$array_contains": "trip", "$not": {"$array_contains": "urgent"}}}), false),
                (json!({"source": {"$array_contains": "chat"}}), false),
                (json!({"source": {"$not": {"$not": "chat"}}}), true),
                (json!({"who": {"name": "Ana"}}), true),
                (json!({"who": {"name": {"$not": "Bob"}}}), true),
                (json!({"who": {"name": "Bob"}}), false),
                (json!({"who": {"name": "Ana", "age": 4}}), false),
            ],
        );
    }

    // Null is a value, and not the same as nothing; what is not there matches no positive expression, and every negated one.
    #[test]
    fn nulls_and_what_is_missing() {
        let metadata = json!({"nil": null, "who": {"nil": null}, "list": [null, 1]});
        table(
            metadata,
            vec![
                (json!({"nil": null}), true),
                (json!({"missing": null}), false),
                (json!({"missing": "x"}), false),
                (json!({"missing": {}}), false),
                (json!({"missing": {"name": "Ana"}}), false),
                (json!({"missing": {"name": {"$not": "Ana"}}}), true),
                (json!({"missing": {"$array_contains": "x"}}), false),
                (json!({"missing": {"$array_contains_any": ["x"]}}), false),
                (json!({"nil": {"$array_contains": null}}), false),
                (json!({"nil": {"name": "Ana"}}), false),
                (json!({"who": {"nil": null}}), true),
                (json!({"who": {"missing": null}}), false),
                (json!({"who": {"missing": {"$not": null}}}), true),
                (json!({"who": {"nil": {"$not": null}}}), false),
                (json!({"who": null}), false),
                (json!({"list": {"$array_contains": null}}), true),
                (json!({"list": {"$array_contains_any": [2, null]}}), true),
            ],
        );
        assert!(!matches(json!({"nil": null}).as_object().expect("a filter"), None));
        assert!(matches(json!({"nil": {"$not": null}}).as_object().expect("a filter"), None));
    }

    // Inside arrays a member is compared whole; operators reach inside nested objects, at any depth.
    #[test]
    fn nested_objects_and_arrays() {
        let metadata = json!({
            "trip": {"to": {"city": "Oslo", "tags": ["cold", "north"]}, "with": [{"name": "Ana", "age": 3}, ["a", "b"]]},
        });
        table(
            metadata,
            vec![
                (json!({"trip": {"to": {"city": "Oslo"}}}), true),
                (json!({"trip": {"to": {"city": "Oslo", "tags": {"$array_contains": "cold"}}}}), true),
                (json!({"trip": {"to": {"tags": {"$not": {"$array_contains_any": ["warm", "south"]}}}}}), true),
                (json!({"trip": {"to": {"tags": {"$not": {"$array_contains": ["cold", "north"]}}}}}), false),
                (json!({"trip": {"to": {"tags": {"$not": {"$array_contains": ["cold", "south"]}}}}}), true),
                (json!({"trip": {"to": "Oslo"}}), false),
                (json!({"trip": {"with": {"$array_contains": {"name": "Ana", "age": 3.0}}}}), true),
                (json!({"trip": {"with": {"$array_contains": {"name": "Ana"}}}}), false),
                (json!({"trip": {"with": {"$array_contains": [["a", "b"]]}}}), true),
                (json!({"trip": {"with": {"$array_contains": [["b", "a"]]}}}), false),
                (json!({"trip": {"to": {}}}), true),
            ],
        );
    }

    #[test]
    fn an_unknown_operator_is_refused() {
        for wrong in [
            json!({"$or": []}),
            json!({"a": {"$gt": 1}}),
            json!({"a": {"$array_contains_any": 1}}),
            json!({"a": {"b": {"$x": 1}}}),
            json!({"a": {"$not": {"$x": 1}}}),
            json!({"a": {"$array_contains": 1, "b": 2}}),
        ] {
            let error = check(wrong.as_object().expect("object")).expect_err("refused");
            assert_eq!(error.fields["field"], "metadata_filter", "{wrong}");
        }
    }
}
