//! Notes as a client of any language meets them: who reads and writes which, in what order they weigh, the gate in front of every
//! verb, the editor's hold, and what is left of a note that was removed.

mod editor;
mod gate;
mod levels;
mod removed;

use std::sync::Arc;

use memlog::door::connect;
use memlog_actors::{api::Error, extract::Local, limits::Limits};
use serde_json::{Value, json};

use crate::support::{
    Nats,
    served::{Forward, Memlog, refused},
};

struct Served {
    memlog: Memlog,
    nats: Nats,
    data: tempfile::TempDir,
    clock: Arc<Forward>,
}

/// Who calls: headers beside the request.
#[derive(Clone, Debug, Default)]
struct Caller(Vec<(&'static str, String)>);

fn login(id: &str) -> Caller {
    Caller(vec![("Memlog-User", id.to_owned())])
}

fn admin() -> Caller {
    login("root").with("Memlog-Role", "admin")
}

impl Caller {
    fn with(&self, header: &'static str, value: &str) -> Self {
        let others = self.0.iter().filter(|(name, _)| *name != header).cloned();
        Self(others.chain([(header, value.to_owned())]).collect())
    }

    fn groups(&self, groups: &str) -> Self {
        self.with("Memlog-Groups", groups)
    }

    fn session(&self, session: &str) -> Self {
        self.with("Memlog-Session", session)
    }
}

impl Served {
    async fn start() -> Option<Self> {
        let nats = Nats::start().await?;
        let data = tempfile::tempdir().unwrap();
        let clock = Arc::new(Forward::default());
        let memlog = open(&nats, &data, &clock).await;
        Some(Self { memlog, nats, data, clock })
    }

    /// The same folder, opened again.
    async fn restart(self) -> Self {
        let Self { memlog, nats, data, clock } = self;
        memlog.close().await;
        let memlog = open(&nats, &data, &clock).await;
        Self { memlog, nats, data, clock }
    }

    async fn ask(&self, caller: &Caller, verb: &str, request: Value) -> Result<Value, Error> {
        let headers: Vec<_> = caller.0.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = self.memlog.send(&format!("memlog.v1.acme.{verb}"), &headers, request.to_string()).await;
        match answer {
            Ok(body) => Ok(serde_json::from_slice(&body).unwrap()),
            other => Err(refused(other)),
        }
    }

    /// An answer that must be one.
    async fn get(&self, caller: &Caller, verb: &str, request: Value) -> Value {
        let told = format!("{verb} {request} as {caller:?}");
        self.ask(caller, verb, request).await.unwrap_or_else(|error| panic!("{told}: {error:?}"))
    }

    /// A refusal with this code.
    async fn refuse(&self, code: u16, caller: &Caller, verb: &str, request: Value) -> Error {
        let told = format!("{verb} {request} as {caller:?}");
        match self.ask(caller, verb, request).await {
            Err(error) if error.kind.code() == code => error,
            other => panic!("{told}: not {code}: {other:?}"),
        }
    }

    /// A note of the caller's own; its number.
    async fn own(&self, caller: &Caller, name: &str) -> u64 {
        let request = json!({"name": name, "body": format!("<p>{name}</p>")});
        id(&self.get(caller, "note.memory_save", request).await["note"])
    }

    /// A note by an administrator; its number.
    async fn put(&self, name: &str, kind: &str, to: Value) -> u64 {
        let mut request = json!({"name": name, "body": format!("<p>{name}</p>"), "kind_key": kind});
        request.as_object_mut().unwrap().extend(to.as_object().unwrap().clone());
        id(&self.get(&admin(), "note.admin_save", request).await["note"])
    }

    async fn connect(&self, caller: &Caller) -> (Caller, u64) {
        let connected = self.get(caller, "note.session_connect", json!({})).await;
        assert!(connected["rules"].as_str().unwrap().contains("kCritical"));
        (caller.session(connected["session"].as_str().unwrap()), connected["critical"].as_u64().unwrap())
    }

    /// What a session has yet to load, as any verb tells it; nothing if the gate is open.
    async fn unread(&self, caller: &Caller) -> Vec<u64> {
        match self.ask(caller, "note.kinds", json!({})).await {
            Ok(_) => Vec::new(),
            Err(error) => {
                assert_eq!((error.kind.code(), error.kind.name()), (428, "critical_unread_error"), "{error:?}");
                error.fields["unread"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect()
            }
        }
    }

    async fn names(&self, caller: &Caller, verb: &str, request: Value) -> Vec<String> {
        let listed = self.get(caller, verb, request).await;
        let notes = listed["notes"].as_array().unwrap();
        notes.iter().map(|note| note["name"].as_str().unwrap().to_owned()).collect()
    }

    async fn head(&self) -> u64 {
        self.get(&admin(), "audit.stats", json!({})).await["head"]["seq"].as_u64().unwrap()
    }
}

async fn open(nats: &Nats, data: &tempfile::TempDir, clock: &Arc<Forward>) -> Memlog {
    let connection = connect::Options::url(nats.url());
    Memlog::open_timed(data.path(), connection, Limits::default(), None, Arc::new(Local), Arc::<Forward>::clone(clock))
        .await
}

fn id(note: &Value) -> u64 {
    note["id"].as_u64().unwrap_or_else(|| panic!("no id in {note}"))
}
