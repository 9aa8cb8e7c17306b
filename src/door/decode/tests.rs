//! Every way in which a body can be wrong, with the field that the client is told: clients branch on it.

use memlog_actors::api::{audit, error::Kind, profile};

use super::decode;

fn refused<T: serde::de::DeserializeOwned>(body: &str) -> (Option<String>, String) {
    let error = decode::<T>(body.as_bytes()).err().unwrap_or_else(|| panic!("accepted: {body}"));
    assert_eq!(error.kind, Kind::InvalidRequest, "{body}");
    (error.fields.get("field").and_then(|field| field.as_str()).map(str::to_owned), error.message)
}

#[test]
fn faults_of_an_ingest_name_their_field() {
    let message = r#"{"role":"user","content":"hello"}"#;
    for (body, field) in [
        (r#"{}"#.to_owned(), Some("messages")),
        (format!(r#"{{"messages":[{message}]}}"#), Some("profile")),
        (format!(r#"{{"profile":"a","messages":[{message}],"sesion_id":"s"}}"#), Some("sesion_id")),
        (format!(r#"{{"profile":7,"messages":[{message}]}}"#), Some("profile")),
        (format!(r#"{{"profile":null,"messages":[{message}]}}"#), Some("profile")),
        (format!(r#"{{"profile":"a","profile":"a","messages":[{message}]}}"#), Some("profile")),
        (format!(r#"{{"profile":"a","messages":{message}}}"#), Some("messages")),
        (
            format!(r#"{{"profile":"a","messages":[{message},{{"rol":"user","content":"x"}}]}}"#),
            Some("messages[1].rol"),
        ),
        (format!(r#"{{"profile":"a","messages":[{message},{{"role":"user"}}]}}"#), Some("messages[1].content")),
        (format!(r#"{{"profile":"a","messages":[{message},["user","hi"]]}}"#), Some("messages[1]")),
        (format!(r#"{{"profile":"a","messages":[{message},null]}}"#), Some("messages[1]")),
        (r#"{"profile":"a","messages":[{"role":"u","role":"v","content":"x"}]}"#.to_owned(), Some("messages[0].role")),
        (
            r#"{"profile":"a","messages":[{"role":"u","content":"x","timestamp":"soon"}]}"#.to_owned(),
            Some("messages[0].timestamp"),
        ),
        (format!(r#"{{"profile":"a","messages":[{message}],"wait":"yes"}}"#), Some("wait")),
        (format!(r#"{{"profile":"a","messages":[{message}],"timeout_s":"1"}}"#), Some("timeout_s")),
        (format!(r#"{{"profile":"a","messages":[{message}],"timeout_s":NaN}}"#), None),
        (format!(r#"{{"profile":"a","messages":[{message}]}} x"#), None),
        (format!(r#"[{message}]"#), None),
        (r#"["a"]"#.to_owned(), None),
        ("null".to_owned(), None),
        (" ".to_owned(), None),
        (r#"{"profile":"a""#.to_owned(), None),
        ("\"\u{0}\"".to_owned(), None),
    ] {
        // JSON objects have no order, so which of two missing fields is named first does not matter.
        let (found, _) = refused::<profile::Ingest>(&body);
        if body == "{}" {
            assert!(matches!(found.as_deref(), Some("messages" | "profile")));
        } else {
            assert_eq!(found.as_deref(), field, "{body}");
        }
    }
}

#[test]
fn faults_of_reads_name_their_field() {
    for (body, field) in [
        (r#"{"profile":"a","query":"q","as_of":{"sequence":1}}"#, "as_of"),
        (r#"{"profile":"a","query":"q","as_of":{"seq":-1}}"#, "as_of.seq"),
        (r#"{"profile":"a","query":"q","as_of":{"seq":1,"time":"2026-01-01T00:00:00Z"}}"#, "as_of"),
        (r#"{"profile":"a","query":"q","as_of":{"time":"yesterday"}}"#, "as_of.time"),
        (r#"{"profile":"a","query":"q","as_of":[1]}"#, "as_of"),
        (r#"{"profile":"a","query":"q","as_of":"seq"}"#, "as_of"),
        (r#"{"profile":"a","query":"q","limit":1.5}"#, "limit"),
        (r#"{"profile":"a","query":"q","limit":-1}"#, "limit"),
        (r#"{"profile":"a","query":"q","types":["fact","facts"]}"#, "types[1]"),
        (r#"{"profile":"a","query":"q","types":"fact"}"#, "types"),
        (r#"{"profile":"a","query":"q","metadata_filter":[]}"#, "metadata_filter"),
        (r#"{"profile":"a","query":"q","metadata_filter":{"a":{"b":[1,{"c":1,"c":2}]}}}"#, "metadata_filter.a.b[1].c"),
    ] {
        assert_eq!(refused::<profile::Search>(body).0.as_deref(), Some(field), "{body}");
    }
    assert_eq!(refused::<audit::Verify>(r#"{"expect":[1,"00"]}"#).0.as_deref(), Some("expect"));
    assert_eq!(refused::<audit::Verify>(r#"{"expect":{"seq":1,"hash":"00","x":1}}"#).0.as_deref(), Some("expect.x"));
}

/// The value of `as_of` is the one that clients cannot guess, so whoever gets it wrong is shown it.
#[test]
fn a_wrong_moment_is_shown_a_right_one() {
    let both = r#"{"seq":1,"time":"2026-01-01T00:00:00Z"}"#;
    for value in ["10", r#""12""#, r#""2000-01-01T00:00:00Z""#, "{}", both, "[1]", "true", r#"{"sequence":1}"#] {
        let (field, message) = refused::<profile::Get>(&format!(r#"{{"profile":"a","as_of":{value}}}"#));
        assert_eq!(field.as_deref(), Some("as_of"), "{value}");
        assert_eq!(message, r#"as_of must be {"seq": 10} or {"time": "2026-05-04T09:00:00Z"}"#, "{value}");
    }
    let (_, message) = refused::<profile::Get>(r#"{"profile":"a","as_of":{"time":"yesterday"}}"#);
    assert!(message.starts_with("as_of.time must be an RFC 3339 time such as "), "{message}");
}

/// One wording for every number that is none of ours, and none that says of it what is not so.
#[test]
fn wrong_numbers_are_told_alike() {
    for value in ["-1", "1.5", "1e30", "1000000000000000000000000000000", r#""5""#, "[]"] {
        let (_, message) = refused::<profile::Search>(&format!(r#"{{"profile":"a","query":"q","limit":{value}}}"#));
        assert_eq!(message, "limit must be a whole number", "{value}");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    // A lone continuation byte inside a string, and outside.
    for body in [&b"{\"profile\":\"\xbf\"}"[..], &b"\xff{}"[..]] {
        assert_eq!(decode::<profile::Get>(body).unwrap_err().kind, Kind::InvalidRequest);
    }
}

#[test]
fn nesting_is_bounded_and_never_ends_the_process() {
    let nested = |levels: usize| {
        let value = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"profile":"a","content":"c","metadata":{{"deep":{value}}}}}"#)
    };
    // The request and `metadata` are two levels.
    assert!(decode::<profile::Remember>(nested(62).as_bytes()).is_ok());
    let error = decode::<profile::Remember>(nested(63).as_bytes()).unwrap_err();
    assert_eq!(error.fields["limit"], 64);
    assert!(error.fields["field"].as_str().unwrap().starts_with("metadata.deep"), "{error:?}");
    for hostile in ["[".repeat(2_000_000), r#"{"a":"#.repeat(500_000)] {
        assert!(refused::<profile::Remember>(&hostile).0.is_some());
    }
}

#[test]
fn null_is_absent_for_what_may_be_left_out() {
    let full = r#"{"profile":"a","query":"q","limit":null,"types":null,"as_of":null,"metadata_filter":null}"#;
    let short = r#"{"profile":"a","query":"q"}"#;
    assert_eq!(decode::<profile::Search>(full.as_bytes()), decode::<profile::Search>(short.as_bytes()));
}

#[test]
fn an_empty_body_is_an_empty_object() {
    assert_eq!(decode::<audit::Stats>(b""), Ok(audit::Stats {}));
    assert_eq!(decode::<profile::List>(b""), Ok(profile::List::default()));
}

#[test]
fn good_requests_arrive_whole() {
    let body = r#"{"profile":"a","content":"c","type":"fact","ttl_days":3,"timestamp":"2026-07-01T00:00:00",
        "metadata":{"a":[1,-2,3.5,null,{"b":"ü"}]},"dedupe":false}"#;
    let request: profile::Remember = decode(body.as_bytes()).unwrap();
    assert_eq!(request.ttl_days, Some(3.0));
    assert_eq!(request.timestamp.unwrap().to_string(), "2026-07-01T00:00:00Z");
    assert_eq!(serde_json::to_value(request.metadata.unwrap()).unwrap()["a"][4]["b"], "ü");
    let request: profile::Memory = decode(br#"{"profile":"a","memory_id":"m","as_of":{"seq":12}}"#).unwrap();
    assert_eq!(request.as_of, Some(memlog_actors::api::AsOf::Seq(12)));
}

#[test]
fn messages_show_nothing_of_a_value() {
    let (_, message) = refused::<profile::Get>(r#"{"profile":["the secret"]}"#);
    assert!(!message.contains("secret"), "{message}");
    let (_, message) = refused::<profile::Recall>(r#"{"profile":"a","query":"q","thinking_level":"the secret"}"#);
    assert_eq!(message, "thinking_level: expected one of: low, medium, high");
    let (field, _) = refused::<profile::Get>(&format!(r#"{{"{}":1}}"#, "x".repeat(100_000)));
    assert!(field.unwrap().len() < 300);
}
