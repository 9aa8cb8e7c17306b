//! A stand-in for a language model's endpoint: enough of HTTP/1.1 and of chat completions on a loopback port, in threads of its
//! own. It plays what a script tells it: right by default, or slow, wrong, cut off, rate-limited, refusing or silent.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

/// The name of the model that it says to be.
pub const MODEL: &str = "stand-in";
/// Calls that are kept to be looked at; a measurement makes many more.
const CALLS_KEPT: usize = 10_000;

/// One chat completion that was asked for.
#[derive(Clone, Debug)]
pub struct Call {
    /// The whole request.
    pub body: Value,
    /// The bearer token, if one was sent.
    pub bearer: Option<String>,
}

impl Call {
    /// The name of the schema: `memories`, `type`, `summary`, `answer`, `questions`, `links`, `shortened`, `caption`, ...
    pub fn asked(&self) -> &str {
        self.body["response_format"]["json_schema"]["name"].as_str().unwrap_or_default()
    }

    /// The instructions.
    pub fn system(&self) -> &str {
        self.body["messages"][0]["content"].as_str().unwrap_or_default()
    }

    /// The data, which is the one user message, or the text of the one that has an image, too.
    pub fn data(&self) -> Value {
        let content = &self.body["messages"][1]["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str());
        serde_json::from_str(text.unwrap_or_default()).unwrap_or_default()
    }

    /// The image, as a `data:` URL.
    pub fn image(&self) -> &str {
        self.body["messages"][1]["content"][1]["image_url"]["url"].as_str().unwrap_or_default()
    }
}

/// What it does with a call.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The model says this, and is done.
    Says(String),
    /// The model says this, and stops for that reason.
    Stops(String, &'static str),
    /// The model refuses.
    Refuses,
    /// The endpoint answers with a status and a header `Retry-After`.
    Status(u16, Option<u64>),
    /// The endpoint's answer is no chat completion.
    Raw(&'static str),
    /// The connection breaks in the middle of the answer.
    Breaks(String),
    /// The connection breaks before the answer.
    Drops,
    /// No answer, for as long as the stand-in stands.
    Hangs,
}

/// What is said to this call by a model that does as it is asked: each message of a person is a fact.
pub fn right(call: &Call) -> Reply {
    let data = call.data();
    let said = |list: &str| data[list].as_array().cloned().unwrap_or_default();
    let answer = match call.asked() {
        "memories" => {
            let people = said("messages").into_iter().filter(|message| message["role"] != "assistant");
            let fact = |message: Value| {
                json!({ "type": "fact", "content": noted(message["text"].as_str().unwrap_or_default()), "date": null,
                    "sources": [message["n"]], "corrects": null })
            };
            json!({ "memories": people.map(fact).collect::<Vec<_>>() })
        }
        "type" => json!({ "type": "task" }),
        "questions" => json!({ "questions": [] }),
        "links" => json!({ "links": [] }),
        "shortened" => {
            let text = data["text"].as_str().unwrap_or_default();
            json!({ "text": format!("In short: {}", text.chars().take(20).collect::<String>()) })
        }
        "summary" => {
            let texts: Vec<_> =
                said("messages").iter().map(|it| it["text"].as_str().unwrap_or_default().to_owned()).collect();
            let previous = data["previous"].as_str().unwrap_or("Summary:");
            json!({ "summary": format!("{previous} {}", texts.join("; ")) })
        }
        "answer" => {
            let best = said("sources").into_iter().take(1);
            let cited =
                best.map(|source| json!({ "text": format!("It says {}", source["text"]), "sources": [source["n"]] }));
            json!({ "sentences": cited.collect::<Vec<_>>() })
        }
        "caption" => json!({ "description": format!("A picture of {} bytes", call.image().len()) }),
        other => panic!("nothing is known of {other:?}"),
    };
    Reply::Says(answer.to_string())
}

/// The memory that [`right`] makes of a message.
pub fn noted(text: &str) -> String {
    format!("Noted: {text}")
}

type Script = Box<dyn FnMut(&Call) -> Reply + Send>;

/// The stand-in; it goes when it is dropped.
pub struct StandIn {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Mutex<Script>,
    calls: Mutex<Vec<Call>>,
    latency: Mutex<Duration>,
    /// Told under `latency`, so that whoever waits there hears of it.
    stopped: AtomicBool,
    stop: Condvar,
}

impl StandIn {
    /// One that is right.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            script: Mutex::new(Box::new(right)),
            calls: Mutex::default(),
            latency: Mutex::default(),
            stopped: AtomicBool::new(false),
            stop: Condvar::new(),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                if accepting.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                // Who called is gone when this fails, and has seen it.
                std::thread::spawn(move || shared.serve(connection).ok());
            }
        });
        Self { address, shared }
    }

    /// Where it is, as `MEMLOG_LLM_URL` wants it.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// From now on this is what it does.
    pub fn play(&self, script: impl FnMut(&Call) -> Reply + Send + 'static) {
        *self.shared.script.lock().unwrap() = Box::new(script);
    }

    /// From now on each answer takes so long.
    pub fn latency(&self, latency: Duration) {
        *self.shared.latency.lock().unwrap() = latency;
    }

    /// What it was asked, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.calls.lock().unwrap().clone()
    }

    /// What it was asked of one kind.
    pub fn calls_of(&self, asked: &str) -> Vec<Call> {
        self.calls().into_iter().filter(|call| call.asked() == asked).collect()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let latency = self.shared.latency.lock().unwrap_or_else(|broken| broken.into_inner());
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.shared.stop.notify_all();
        drop(latency);
        // Wakes who accepts.
        drop(TcpStream::connect(self.address));
    }
}

/// An address at which nobody listens.
pub fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    format!("http://{}/v1", listener.local_addr().expect("an address"))
}

impl Shared {
    /// One connection: requests one after the other until it is closed.
    fn serve(&self, connection: TcpStream) -> std::io::Result<()> {
        connection.set_nodelay(true)?;
        let mut writing = connection.try_clone()?;
        let mut reading = BufReader::new(connection);
        while let Some((path, call)) = request(&mut reading)? {
            if path.ends_with("/models") {
                answer(&mut writing, 200, None, json!({ "data": [{ "id": MODEL }] }).to_string().as_bytes(), 0)?;
                continue;
            }
            let reply = (self.script.lock().unwrap())(&call);
            let mut calls = self.calls.lock().unwrap();
            if calls.len() < CALLS_KEPT {
                calls.push(call);
            }
            drop(calls);
            let latency = *self.latency.lock().unwrap();
            self.wait(latency);
            match reply {
                Reply::Says(content) => answer(&mut writing, 200, None, &completion(&content, "stop"), 0)?,
                Reply::Stops(content, reason) => answer(&mut writing, 200, None, &completion(&content, reason), 0)?,
                Reply::Refuses => {
                    let message =
                        json!({ "role": "assistant", "content": null, "refusal": "I cannot help with that." });
                    let body = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] });
                    answer(&mut writing, 200, None, body.to_string().as_bytes(), 0)?;
                }
                Reply::Status(status, retry_after) => {
                    answer(&mut writing, status, retry_after, br#"{"error":{"message":"no"}}"#, 0)?;
                }
                Reply::Raw(body) => answer(&mut writing, 200, None, body.as_bytes(), 0)?,
                Reply::Breaks(content) => {
                    let body = completion(&content, "stop");
                    return answer(&mut writing, 200, None, &body[..body.len() / 2], body.len() - body.len() / 2);
                }
                Reply::Drops => return Ok(()),
                Reply::Hangs => self.wait(Duration::from_secs(3_600)),
            }
        }
        Ok(())
    }

    /// As long as that, or until the stand-in goes.
    fn wait(&self, for_so_long: Duration) {
        let latency = self.latency.lock().unwrap();
        let stands = |_: &mut Duration| !self.stopped.load(Ordering::SeqCst);
        drop(self.stop.wait_timeout_while(latency, for_so_long, stands).unwrap());
    }
}

/// The next request's path and body; none once the other side is done.
fn request(reading: &mut BufReader<TcpStream>) -> std::io::Result<Option<(String, Call)>> {
    let mut line = String::new();
    if reading.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut bearer) = (0, None);
    loop {
        let mut header = String::new();
        reading.read_line(&mut header)?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().expect("a length"),
            "authorization" => bearer = value.trim().strip_prefix("Bearer ").map(str::to_owned),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reading.read_exact(&mut body)?;
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).expect("the request is JSON") };
    Ok(Some((path, Call { body, bearer })))
}

fn completion(content: &str, finish_reason: &str) -> Vec<u8> {
    let message = json!({ "role": "assistant", "content": content });
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish_reason });
    json!({ "id": "1", "object": "chat.completion", "model": MODEL, "choices": [choice] }).to_string().into_bytes()
}

/// `missing` bytes are announced and never sent.
fn answer(
    writing: &mut TcpStream,
    status: u16,
    retry_after: Option<u64>,
    body: &[u8],
    missing: usize,
) -> std::io::Result<()> {
    let retry = retry_after.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
    let length = body.len() + missing;
    let head =
        format!("HTTP/1.1 {status} S\r\ncontent-type: application/json\r\n{retry}content-length: {length}\r\n\r\n");
    writing.write_all(&[head.as_bytes(), body].concat())
}
