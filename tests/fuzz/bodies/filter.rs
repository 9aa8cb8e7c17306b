//! The filter language over metadata: a filter and metadata, a line each. The laws of the language hold for whatever it accepts.

use memlog_actors::system::filter::{check, matches};
use serde_json::{Map, Value, json};

type Fields = Map<String, Value>;

/// A filter, and metadata that it is asked about.
pub fn filter(bytes: &[u8]) {
    let mut lines = bytes.splitn(2, |byte| *byte == b'\n');
    let mut object = || serde_json::from_slice::<Fields>(lines.next().unwrap_or_default()).ok();
    let Some(filter) = object() else { return };
    let metadata = object();
    if let Err(error) = check(&filter) {
        assert_eq!(error.fields["field"], "metadata_filter", "{error}");
        assert!(bytes.contains(&b'$'), "refused without an operator: {error}");
        return;
    }
    laws(&filter, metadata.as_ref());
    laws(&filter, None);
    // Without an operator metadata is a filter, and describes itself.
    if check(&filter).is_ok() && !has_operator(&filter) {
        assert!(matches(&filter, Some(&filter)), "does not match itself");
    }
}

/// A filter is all of its fields, and `$not` is always the opposite.
fn laws(filter: &Fields, metadata: Option<&Fields>) {
    let mut all = true;
    for (name, wanted) in filter {
        let holds = |wanted: Value| {
            let one: Fields = [(name.clone(), wanted)].into_iter().collect();
            check(&one).expect("a part of what is a filter is one");
            matches(&one, metadata)
        };
        let alone = holds(wanted.clone());
        assert_eq!(holds(json!({ "$not": wanted })), !alone, "{name}");
        assert_eq!(holds(json!({ "$not": { "$not": wanted } })), alone, "{name}");
        all &= alone;
    }
    assert_eq!(matches(filter, metadata), all, "a filter is not all of its fields");
}

fn has_operator(fields: &Fields) -> bool {
    let inside = |value: &Value| value.as_object().is_some_and(has_operator);
    fields.iter().any(|(name, value)| name.starts_with('$') || inside(value))
}
