//! The door on NATS: takes requests from one subscription, answers each from a task of its own, and closes without
//! losing what it took.
//!
//! One subscription serves all verbs, unknown ones too: subscriptions of one queue group get a message each only when
//! exactly one of them matches, so a second one for what is unknown would steal from the known. Subjects with too few or
//! too many parts have subscriptions of their own, of which never two match one subject.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use async_nats::{Client, Message, RequestErrorKind, Subscriber, connection::State};
use futures::{StreamExt, stream};
use memlog_actors::{
    api::{Error as ApiError, check_namespace, error::Kind as ErrorKind},
    system::System,
};
use prometheus::proto::MetricFamily;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::timeout,
};
use tracing::{Instrument as _, Span, field::Empty};

use super::{
    PREFIX, SERVICE,
    calls::{Calls, CallsLoad, Phase, reached},
    connect::{self, Error, Link, Options},
    headers::{self, Address},
    ids::{REQUEST_ID, RequestIds},
    reply,
    requests::OK,
    service::Service,
    table::{Reply, TABLE},
};
use crate::nats::server::PAYLOAD_BYTES_MAX;

/// How long another memlog may take to say that it is there; a crashed one's subscriptions stay silent.
const OTHER_MAX: Duration = Duration::from_secs(1);
/// How long the own subscriptions may take to answer the first question.
const READY_MAX: Duration = Duration::from_secs(10);
/// How long calls that were cut off may take to say so, and the last replies to reach the server.
const FLUSH_MAX: Duration = Duration::from_secs(5);
/// Messages that may be on their way from the server when the door begins to close; see [`Station::drain`].
const ON_THE_WAY_MAX: u64 = 10_000;
/// What the rest of that number is filled up with: a subject of ours that is no verb and asks for no answer.
const FILLER: &str = "memlog.v1.-.door.closing";
/// Pauses between tries to open a connection that failed for good.
const AGAIN_MIN: Duration = Duration::from_millis(100);
const AGAIN_MAX: Duration = Duration::from_secs(5);

/// An open door. Dropped without [`NatsDoor::close`], it takes nothing more and abandons what is under way.
#[derive(Debug)]
pub struct NatsDoor {
    phase: watch::Sender<Phase>,
    listener: JoinHandle<()>,
    /// Ends when the listener and every call have ended.
    working: mpsc::Receiver<()>,
    watch: Watch,
}

/// What can be seen of an open door from outside.
#[derive(Clone)]
pub struct Watch {
    client: Current,
    lost: Arc<AtomicU64>,
    service: Arc<Service>,
    calls: Calls,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("lost", &self.lost()).finish_non_exhaustive()
    }
}

impl Watch {
    /// Whether the connection to the NATS server stands now.
    pub fn connected(&self) -> bool {
        current(&self.client).connection_state() == State::Connected
    }

    /// How many messages were lost because they came faster than they were read.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Calls under way.
    pub fn calls(&self) -> CallsLoad {
        self.calls.load()
    }

    /// Requests by verb and outcome.
    pub fn requests(&self) -> Vec<MetricFamily> {
        self.service.requests().families()
    }
}

/// The client that replies go through; another one after a connection that could not be kept.
type Current = Arc<RwLock<Client>>;

fn current(client: &Current) -> Client {
    client.read().unwrap_or_else(PoisonError::into_inner).clone()
}

impl NatsDoor {
    /// Connects, subscribes, and returns when requests arrive.
    pub async fn open(system: System, options: Options) -> Result<Self, Error> {
        let lost = Arc::new(AtomicU64::new(0));
        let Link { client, breaks, .. } = connect::connect(&options, lost.clone()).await?;
        refuse_another(&client).await?;
        warn_of_small_messages(client.max_payload());
        let (phase, phases) = watch::channel(Phase::Open);
        let (work, working) = mpsc::channel(1);
        let inbox = client.new_inbox();
        let id = inbox.rsplit('.').next().unwrap_or_default().to_owned();
        let station = Station {
            options,
            ids: Arc::new(RequestIds::new(&id)),
            calls: Calls::new(system, phases.clone()),
            service: Arc::new(Service::new(id, lost.clone())),
            client: Arc::new(RwLock::new(client.clone())),
            lost: lost.clone(),
            work,
        };
        let watch = Watch {
            client: station.client.clone(),
            lost,
            service: station.service.clone(),
            calls: station.calls.clone(),
        };
        let attached = station.attach(breaks).await?;
        let listener = tokio::spawn(station.listen(attached, phases));
        Ok(Self { phase, listener, working, watch })
    }

    /// What can be seen of it from outside.
    pub fn watch(&self) -> Watch {
        self.watch.clone()
    }

    /// Takes no more requests, finishes what was taken until `deadline` is over, tells the rest so, and disconnects.
    pub async fn close(mut self, deadline: Duration) {
        self.phase.send_replace(Phase::Closing);
        if timeout(deadline, self.finish()).await.is_err() {
            self.phase.send_replace(Phase::Cut);
            if timeout(FLUSH_MAX, self.finish()).await.is_err() {
                tracing::warn!("calls were under way when the door closed, and could not be told");
                self.listener.abort();
            }
        }
        let client = current(&self.watch.client);
        match timeout(FLUSH_MAX, client.flush()).await {
            Ok(Ok(())) => {}
            _ => tracing::warn!("the last replies may not have reached the NATS server"),
        }
        if let Err(error) = client.drain().await {
            tracing::debug!(%error, "the connection to NATS had ended before");
        }
    }

    async fn finish(&mut self) {
        while self.working.recv().await.is_some() {}
    }
}

/// Two with one name on one server would each get half of the requests, for two different logs.
async fn refuse_another(client: &Client) -> Result<(), Error> {
    match timeout(OTHER_MAX, client.request(format!("$SRV.PING.{SERVICE}"), "".into())).await {
        Ok(Ok(answer)) => {
            let told: serde_json::Value = serde_json::from_slice(&answer.payload).unwrap_or_default();
            Err(Error::Occupied(told["id"].as_str().unwrap_or("of unknown id").to_owned()))
        }
        Ok(Err(error)) if error.kind() != RequestErrorKind::NoResponders => Err(Error::Subscribe(error.to_string())),
        Ok(Err(_)) | Err(_) => Ok(()),
    }
}

/// Large requests fail at the client's side of such a server, where memlog cannot say why.
fn warn_of_small_messages(max_payload: usize) {
    if max_payload < PAYLOAD_BYTES_MAX {
        tracing::warn!(
            max_payload,
            "this NATS server carries no message above {max_payload} bytes, so large ingests and replies will be refused; \
             set max_payload: {PAYLOAD_BYTES_MAX} in its configuration, as deploy/nats.conf does"
        );
    }
}

/// Subjects that have fewer or more parts than a verb's; those of the change feed are not among them.
fn stray_subjects() -> impl Iterator<Item = String> {
    let nouns: BTreeSet<_> = TABLE.rows().iter().map(|row| row.noun).collect();
    let short = ["*", "*.*"].into_iter().map(|tail| format!("{PREFIX}.{tail}"));
    short.chain(nouns.into_iter().map(|noun| format!("{PREFIX}.*.{noun}.*.>")))
}

/// All that outlives one connection.
struct Station {
    options: Options,
    ids: Arc<RequestIds>,
    calls: Calls,
    service: Arc<Service>,
    client: Current,
    lost: Arc<AtomicU64>,
    /// Each call holds a clone; nothing is ever sent.
    work: mpsc::Sender<()>,
}

/// The subscriptions of one connection.
struct Attached {
    requests: Subscriber,
    /// How many requests came from it.
    taken: u64,
    /// How often its connection broke.
    breaks: Arc<AtomicU64>,
    discovery: JoinHandle<()>,
    strays: JoinHandle<()>,
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.discovery.abort();
        self.strays.abort();
    }
}

impl Station {
    async fn attach(&self, breaks: Arc<AtomicU64>) -> Result<Attached, Error> {
        let failed = |error: async_nats::SubscribeError| Error::Subscribe(error.to_string());
        let client = current(&self.client);
        let requests = client.queue_subscribe(format!("{PREFIX}.*.*.*"), SERVICE.to_owned()).await.map_err(failed)?;
        let questions = self.service.subscribe(&client).await.map_err(failed)?;
        let discovery = tokio::spawn(self.service.clone().serve(client.clone(), questions));
        let mut strays = Vec::new();
        for subject in stray_subjects() {
            strays.push(client.queue_subscribe(subject, SERVICE.to_owned()).await.map_err(failed)?);
        }
        let strays = tokio::spawn(refuse_strays(client.clone(), strays, self.ids.clone()));
        let attached = Attached { requests, taken: 0, breaks, discovery, strays };
        // The server works in order: when this is answered, the subscriptions before it stand.
        match timeout(READY_MAX, client.request(self.service.own_ping(), "".into())).await {
            Ok(Ok(_)) => Ok(attached),
            Ok(Err(error)) => Err(Error::Subscribe(error.to_string())),
            Err(_) => Err(Error::Subscribe("it took too long".to_owned())),
        }
    }

    async fn listen(self, mut attached: Attached, phases: watch::Receiver<Phase>) {
        while !self.take(&mut attached, &phases).await {
            tracing::error!("the connection to NATS broke for good; opening another one");
            match self.again(&phases).await {
                Some(again) => attached = again,
                None => return,
            }
        }
    }

    /// Takes requests until the subscription ends; whether that was the door's own wish.
    async fn take(&self, attached: &mut Attached, phases: &watch::Receiver<Phase>) -> bool {
        let mut draining = false;
        loop {
            tokio::select! {
                biased;
                () = reached(phases.clone(), Phase::Closing), if !draining => {
                    draining = true;
                    if !self.drain(attached).await {
                        return true;
                    }
                }
                request = attached.requests.next() => match request {
                    Some(request) => {
                        attached.taken += 1;
                        self.receive(request).await;
                    }
                    None => return draining,
                },
            }
        }
    }

    /// Ends the subscription without losing what the server has sent already; whether the connection still works.
    ///
    /// The library's drain forgets a subscription as soon as it has told the server, and with it the messages that come
    /// before the server hears of it. So both are told to end it after the same number of messages, a little ahead, and
    /// fillers make up that number. Once the two do not count alike, the library's way is the best there is.
    async fn drain(&self, attached: &mut Attached) -> bool {
        if attached.breaks.load(Ordering::Relaxed) + self.lost.load(Ordering::Relaxed) > 0 {
            return attached.requests.drain().await.is_ok();
        }
        let last = attached.taken + ON_THE_WAY_MAX;
        if attached.requests.unsubscribe_after(last).await.is_err() {
            return false;
        }
        let client = current(&self.client);
        tokio::spawn(async move {
            for _ in 0..ON_THE_WAY_MAX {
                if let Err(error) = client.publish(FILLER, "".into()).await {
                    return tracing::debug!(%error, "no more fillers are needed, or none can be sent");
                }
            }
        });
        true
    }

    /// Must be quick: what it does is done for one request after the other.
    async fn receive(&self, message: Message) {
        let came = Instant::now();
        if message.reply.as_ref().is_some_and(|to| !reply::may_answer(to)) {
            return self.leave_undone(&message, came).await;
        }
        let found = Address::parse(&message.subject).map(|address| (address, TABLE.place(address.name)));
        let Some((address, Some(place))) = found else {
            let error = match found.map(|(address, _)| check_namespace(address.namespace)) {
                Some(Err(error)) => error,
                _ => unknown(&message.subject),
            };
            return self.answerer(&message, None, came).send(Err(error)).await;
        };
        let row = &TABLE.rows()[place];
        let answerer = self.answerer(&message, Some(place), came);
        let admitted = self.calls.admit(address.namespace, message.payload.len()).and_then(|admitted| {
            let Message { subject, headers, payload, .. } = &message;
            let context = headers::context(subject, address.namespace, headers.as_ref(), payload, row.kind)?;
            Ok((admitted, context))
        });
        let (admitted, context) = match admitted {
            Ok(admitted) => admitted,
            Err(error) => return answerer.send(Err(error)).await,
        };
        let calls = self.calls.clone();
        let work = self.work.clone();
        tokio::spawn(async move {
            let span = answerer.span.clone();
            let result = calls.answer(admitted, row, context, message.payload).instrument(span).await;
            answerer.send(result).await;
            drop(work);
        });
    }

    /// Of a request whose answer would be an order in memlog's name. Nobody can be told but who reads the log; the subject that it asked
    /// for is the caller's word.
    async fn leave_undone(&self, message: &Message, came: Instant) {
        let place = Address::parse(&message.subject).and_then(|address| TABLE.place(address.name));
        let verb = place.map_or_else(|| "unknown".to_owned(), |place| format!("{:?}", TABLE.rows()[place]));
        tracing::warn!(
            verb,
            "a request asks for its answer on a subject of memlog's or of the NATS server's; it is not done"
        );
        let error =
            ApiError::invalid("reply", "no answer goes to subjects that begin with memlog. or $; nothing was done");
        let answerer = Answerer { reply: None, ..self.answerer(message, None, came) };
        answerer.send(Err(error)).await;
    }

    fn answerer(&self, message: &Message, place: Option<usize>, came: Instant) -> Answerer {
        let Self { client, service, .. } = self;
        let id = self.ids.of(message.headers.as_ref());
        let span = request_span(place, &id);
        Answerer {
            client: client.clone(),
            service: service.clone(),
            reply: message.reply.clone(),
            place,
            came,
            id,
            span,
        }
    }

    /// Another connection in the place of one that ended; none when the door closes meanwhile.
    async fn again(&self, phases: &watch::Receiver<Phase>) -> Option<Attached> {
        let mut pause = AGAIN_MIN;
        loop {
            match connect::connect(&self.options, self.lost.clone()).await {
                Ok(link) => {
                    *self.client.write().unwrap_or_else(PoisonError::into_inner) = link.client;
                    match self.attach(link.breaks).await {
                        Ok(attached) => return Some(attached),
                        Err(error) => tracing::error!(%error, "the door cannot be opened again"),
                    }
                }
                Err(error) => tracing::error!(%error, "the door cannot be opened again"),
            }
            if timeout(pause, reached(phases.clone(), Phase::Closing)).await.is_ok() {
                return None;
            }
            pause = (pause * 2).min(AGAIN_MAX);
        }
    }
}

/// Answers until the subscriptions end; no call comes this way, so nothing of it needs to be finished at the close.
async fn refuse_strays(client: Client, subscriptions: Vec<Subscriber>, ids: Arc<RequestIds>) {
    let mut strays = stream::select_all(subscriptions);
    while let Some(stray) = strays.next().await {
        let Some(reply) = stray.reply.filter(|to| reply::may_answer(to)) else { continue };
        let (mut outgoing, _) = reply::encode(Err(unknown(&stray.subject)), client.max_payload());
        outgoing.headers.insert(REQUEST_ID, ids.of(stray.headers.as_ref()));
        if let Err(error) = client.publish_with_headers(reply, outgoing.headers, outgoing.body).await {
            tracing::warn!(%error, "a request for no verb stays unanswered");
        }
    }
}

fn unknown(subject: &str) -> ApiError {
    let name = Address::parse(subject).map_or(subject, |address| address.name);
    ApiError::new(ErrorKind::InvalidRequest, format!("no such verb: {name}; $SRV.INFO.{SERVICE} lists all"))
        .with("field", "verb")
        .with("verb", name)
}

/// Where one answer goes.
struct Answerer {
    client: Current,
    service: Arc<Service>,
    reply: Option<async_nats::Subject>,
    place: Option<usize>,
    came: Instant,
    id: String,
    span: Span,
}

/// What is told of a request: which verb, which id, what became of it and when. Never who asked, nor for what.
fn request_span(place: Option<usize>, id: &str) -> Span {
    let row = place.and_then(|place| TABLE.rows().get(place));
    let (noun, verb) = row.map_or(("", "unknown"), |row| (row.noun, row.verb));
    tracing::info_span!("request", noun, verb, id, outcome = Empty, took_us = Empty)
}

impl Answerer {
    fn tell(&self, took: Duration, refused: Option<&ApiError>) {
        let outcome = refused.map_or(OK, |error| error.kind.name());
        self.span.record("outcome", outcome);
        self.span.record("took_us", u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        // The message of a failure may name what was asked for.
        self.span.in_scope(|| tracing::debug!("answered"));
    }

    async fn send(self, result: Result<Reply, ApiError>) {
        let client = current(&self.client);
        let (mut outgoing, refused) = reply::encode(result, client.max_payload());
        let took = self.came.elapsed();
        self.service.count(self.place, took, refused.as_ref());
        self.tell(took, refused.as_ref());
        if refused.is_some() {
            outgoing.headers.insert(REQUEST_ID, self.id.as_str());
        }
        // A publish asks for no answer; the command was done all the same.
        let Some(reply) = self.reply else { return };
        let sent = if outgoing.headers.is_empty() {
            client.publish(reply, outgoing.body).await
        } else {
            client.publish_with_headers(reply, outgoing.headers, outgoing.body).await
        };
        if let Err(error) = sent {
            tracing::warn!(%error, "an answer could not be sent");
        }
    }
}
