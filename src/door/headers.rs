//! Subject and headers to the context of a call: which tenant, who calls, under which idempotency key.

use async_nats::HeaderMap;
use memlog_actors::api::{Caller, Context, Error, Idempotency, check_namespace};

use super::{
    CALLER_CHARS_MAX, GROUPS_MAX, KEY_BYTES_MAX, PREFIX,
    ids::{self, REQUEST_ID},
    table::Kind,
};

/// The user acted for.
pub const USER: &str = "Memlog-User";
/// The agent that calls.
pub const AGENT: &str = "Memlog-Agent";
/// The user's groups, separated by commas.
pub const GROUPS: &str = "Memlog-Groups";
/// `admin` or `member`.
pub const ROLE: &str = "Memlog-Role";
/// The session of the notes' gate.
pub const SESSION: &str = "Memlog-Session";
/// The idempotency key.
pub const KEY: &str = "Nats-Msg-Id";
/// On a reply: it was given before.
pub const REPLAYED: &str = "Memlog-Replayed";
/// What all of memlog's own headers begin with.
const OURS: &str = "memlog-";

/// A subject of the API, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// The tenant; not checked yet.
    pub namespace: &'a str,
    /// `noun.verb`.
    pub name: &'a str,
}

impl<'a> Address<'a> {
    /// Reads `memlog.v1.<namespace>.<noun>.<verb>`.
    pub fn parse(subject: &'a str) -> Option<Self> {
        let rest = subject.strip_prefix(PREFIX)?.strip_prefix('.')?;
        let (namespace, name) = rest.split_once('.')?;
        Some(Self { namespace, name })
    }
}

/// The context of a call. `body` and `subject` bind an idempotency key to what it was first used for.
pub fn context(
    subject: &str,
    namespace: &str,
    headers: Option<&HeaderMap>,
    body: &[u8],
    kind: Kind,
) -> Result<Context, Error> {
    check_namespace(namespace)?;
    let (caller, key) = match headers {
        Some(headers) => read(headers)?,
        None => (Caller::default(), None),
    };
    let idempotency = match (kind, key) {
        (Kind::Command, Some(key)) => {
            let request = bound(subject, body, &caller);
            Some(Idempotency { key, request })
        }
        _ => None,
    };
    Ok(Context { namespace: namespace.to_owned(), caller, idempotency })
}

/// Names are compared without case, and unknown ones of ours are refused: a header that is silently not
/// understood would make a user's call the account's.
fn read(headers: &HeaderMap) -> Result<(Caller, Option<String>), Error> {
    let mut caller = Caller::default();
    let mut key = None;
    let mut seen = Vec::new();
    for (name, values) in headers.iter() {
        let given: &str = name.as_ref();
        let known = [USER, AGENT, GROUPS, ROLE, SESSION, KEY, REQUEST_ID]
            .into_iter()
            .find(|known| known.eq_ignore_ascii_case(given));
        let Some(name) = known else {
            if given.get(..OURS.len()).is_some_and(|start| start.eq_ignore_ascii_case(OURS)) {
                let shown: String = given.chars().take(CALLER_CHARS_MAX).collect();
                return Err(Error::invalid(&shown, format!("no such header: {shown}")));
            }
            continue;
        };
        let [value] = values.as_slice() else { return Err(Error::invalid(name, format!("{name} is given twice"))) };
        if seen.contains(&name) {
            return Err(Error::invalid(name, format!("{name} is given twice")));
        }
        seen.push(name);
        let value = value.as_str().trim();
        match name {
            USER => caller.user = Some(identity(name, value)?),
            AGENT => caller.agent = Some(identity(name, value)?),
            SESSION => caller.session = Some(identity(name, value)?),
            GROUPS => caller.groups = groups(value)?,
            ROLE => caller.admin = admin(value)?,
            // The door knows it already; one that is none is refused.
            REQUEST_ID => drop(ids::checked(value)?),
            _ => key = Some(idempotency_key(value)?),
        }
    }
    Ok((caller, key))
}

fn identity(name: &'static str, value: &str) -> Result<String, Error> {
    if value.is_empty() {
        return Err(Error::invalid(name, format!("{name} is empty; leave it out instead")));
    }
    if value.chars().nth(CALLER_CHARS_MAX).is_some() {
        return Err(Error::past_limit(name, CALLER_CHARS_MAX as u64, "characters"));
    }
    if value.chars().any(char::is_control) {
        return Err(Error::invalid(name, format!("{name} has a control character")));
    }
    Ok(value.to_owned())
}

fn groups(value: &str) -> Result<Vec<String>, Error> {
    let groups: Vec<_> =
        value.split(',').map(str::trim).filter(|group| !group.is_empty()).take(GROUPS_MAX + 1).collect();
    if groups.len() > GROUPS_MAX {
        return Err(Error::past_limit(GROUPS, GROUPS_MAX as u64, "groups"));
    }
    groups.into_iter().map(|group| identity(GROUPS, group)).collect()
}

fn admin(value: &str) -> Result<bool, Error> {
    match value {
        "admin" => Ok(true),
        "member" => Ok(false),
        _ => Err(Error::invalid(ROLE, format!("{ROLE} is admin or member"))),
    }
}

fn idempotency_key(value: &str) -> Result<String, Error> {
    if value.is_empty() {
        return Err(Error::invalid(KEY, format!("{KEY} is empty; leave it out instead")));
    }
    if value.len() > KEY_BYTES_MAX {
        return Err(Error::past_limit(KEY, KEY_BYTES_MAX as u64, "bytes"));
    }
    Ok(value.to_owned())
}

/// Subject, body and caller as bytes in which no two different calls are alike: every part has its length before it.
fn bound(subject: &str, body: &[u8], caller: &Caller) -> Vec<u8> {
    let optional =
        |value: &Option<String>| value.as_ref().map_or_else(|| vec![0], |value| [&[1], value.as_bytes()].concat());
    let mut parts = vec![
        subject.as_bytes().to_vec(),
        optional(&caller.user),
        optional(&caller.agent),
        optional(&caller.session),
        vec![u8::from(caller.admin)],
        (caller.groups.len() as u64).to_be_bytes().to_vec(),
    ];
    parts.extend(caller.groups.iter().map(|group| group.as_bytes().to_vec()));
    let mut bytes = Vec::with_capacity(body.len() + 512);
    for part in parts.iter().map(Vec::as_slice).chain([body]) {
        bytes.extend((part.len() as u64).to_be_bytes());
        bytes.extend(part);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, *value);
        }
        map
    }

    fn call(pairs: &[(&str, &str)], body: &[u8], kind: Kind) -> Result<Context, Error> {
        context("memlog.v1.acme.profile.get", "acme", Some(&headers(pairs)), body, kind)
    }

    /// Whoever is told a fault branches on the header's name.
    #[test]
    fn faults_name_their_header() {
        let long = "x".repeat(CALLER_CHARS_MAX + 1);
        let key = "x".repeat(KEY_BYTES_MAX + 1);
        let many = vec!["g"; GROUPS_MAX + 1].join(",");
        for (pairs, field) in [
            (vec![("Memlog-Role", "root")], ROLE),
            (vec![("Memlog-Role", "")], ROLE),
            (vec![("Memlog-User", "")], USER),
            (vec![("memlog-user", "")], USER),
            (vec![("Memlog-User", "a"), ("Memlog-User", "b")], USER),
            (vec![("Memlog-User", "a"), ("memlog-user", "b")], USER),
            (vec![("Memlog-Agent", "a\u{7}")], AGENT),
            (vec![("Memlog-Session", &long)], SESSION),
            (vec![("Memlog-Groups", &many)], GROUPS),
            (vec![("Memlog-Groups", &long)], GROUPS),
            (vec![("Memlog-Usr", "a")], "Memlog-Usr"),
            (vec![("Memlog-Request-Id", "two words")], REQUEST_ID),
            (vec![("Memlog-Request-Id", "a"), ("memlog-request-id", "a")], REQUEST_ID),
            (vec![("Nats-Msg-Id", "")], KEY),
            (vec![("Nats-Msg-Id", &key)], KEY),
        ] {
            let error = call(&pairs, b"", Kind::Read).unwrap_err();
            assert_eq!((error.kind.code(), &error.fields["field"]), (400, &field.into()), "{pairs:?}");
        }
    }

    #[test]
    fn a_caller_arrives_whole() {
        let pairs = [
            ("memlog-user", " ann "),
            ("Memlog-Agent", "helper"),
            ("Memlog-Groups", "red, blue,,"),
            ("Memlog-Role", "admin"),
            ("Memlog-Session", "s"),
            ("Traceparent", "of somebody else"),
        ];
        let caller = call(&pairs, b"", Kind::Read).unwrap().caller;
        assert_eq!(caller.user.as_deref(), Some("ann"));
        assert_eq!(caller.agent.as_deref(), Some("helper"));
        assert_eq!(caller.groups, ["red", "blue"]);
        assert!(caller.admin);
        assert_eq!(caller.session.as_deref(), Some("s"));
        assert_eq!(context("s", "acme", None, b"", Kind::Read).unwrap().caller, Caller::default());
    }

    /// A read under a key is a new question each time; a command is bound to all that makes it another command.
    #[test]
    fn a_key_binds_commands_to_subject_body_and_caller() {
        let key = ("Nats-Msg-Id", "k");
        assert_eq!(call(&[key], b"x", Kind::Read).unwrap().idempotency, None);
        assert_eq!(call(&[], b"x", Kind::Command).unwrap().idempotency, None);
        let request = |pairs: &[(&str, &str)], body: &[u8]| {
            let idempotency = call(&[&[key], pairs].concat(), body, Kind::Command).unwrap().idempotency.unwrap();
            assert_eq!(idempotency.key, "k");
            idempotency.request
        };
        let all = [
            request(&[], b"x"),
            request(&[], b"y"),
            request(&[("Memlog-User", "ann")], b"x"),
            request(&[("Memlog-Agent", "ann")], b"x"),
            request(&[("Memlog-Role", "admin")], b"x"),
            request(&[("Memlog-Groups", "a,b")], b"x"),
            request(&[("Memlog-Groups", "ab")], b"x"),
        ];
        // A repeat is another request for the same command.
        assert_eq!(request(&[("Memlog-Request-Id", "r-2")], b"x"), all[0]);
        for (place, one) in all.iter().enumerate() {
            assert!(all[place + 1..].iter().all(|other| other != one), "{place}");
        }
        assert_eq!(request(&[], b"x"), all[0]);
        assert_eq!(request(&[("Memlog-Role", "member")], b"x"), all[0]);
    }

    #[test]
    fn subjects_are_taken_apart() {
        let found = Address::parse("memlog.v1.acme.profile.get").unwrap();
        assert_eq!(found, Address { namespace: "acme", name: "profile.get" });
        for other in ["memlog.v1.acme", "memlog.v1acme.profile.get", "memlog.v2.acme.profile.get", "memlog.v1"] {
            assert_eq!(Address::parse(other), None, "{other}");
        }
    }
}
