//! Request and reply through a nats-server of our own, against a responder that sends back an empty answer: what memlog adds to what
//! NATS takes. No model runs.

use std::time::{Duration, Instant};

use futures::StreamExt as _;
use memlog_actors::{
    api::{Verb, audit::Stats, profile},
    bench::{PROFILE, Random, Times, abreast, context, options, query, record},
};
use tokio::task::JoinHandle;

use super::{
    Bench,
    plot::Chart,
    report::{Figure, MS, Part, Reach},
    unmeasured,
};
use crate::{
    cli::fail::Fail,
    client::{CallError, Client},
    door::connect,
    nats::server,
    serve::{Nats, Options, Serving},
};

/// The subject of the responder that does nothing.
const EMPTY: &str = "memlog.bench.empty";
/// What memlog may add to a request and its reply, in milliseconds at the median.
const ADDED_MS_MAX: f64 = 0.3;
const CLOSE_MAX: Duration = Duration::from_secs(10);

/// A client of both.
struct Caller {
    client: Client,
    times: Vec<(&'static str, Vec<Duration>)>,
}

pub(super) async fn measure(bench: &Bench) -> Result<Part, Fail> {
    bench.note("requests through NATS");
    let folder = bench.temporary()?;
    let own = server::Options { binary: bench.nats_server.clone(), port: 0, ..server::Options::new(folder.path()) };
    let system = options(folder.path(), None);
    let serving = Serving::open(Options { system, nats: Nats::Own(own), workers: 0, replicas: 1 }).await;
    let serving = serving.map_err(unmeasured)?;
    let measured = called(bench, &serving).await;
    serving.close(CLOSE_MAX).await;
    let times = measured?;
    let (_, empty) = &times[0];
    let mut figures = vec![Figure::times(times[0].0, 1, empty)];
    for (name, times) in &times[1..] {
        let figure = Figure::times(*name, 1, times).beside("an empty responder", empty.p50());
        // A save waits for the disk, which `saves` holds it beside.
        let is_save = *name == SAVE;
        figures.push(if is_save { figure } else { figure.reaching(Reach::Over(ADDED_MS_MAX)) });
    }
    let mut chart = Chart::new("requests", "request and reply, the share of calls done in time", "ms", "percent");
    for (name, times) in &times {
        for share in [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99] {
            chart.add(name, *name == times_of_empty(), times.within(share), share * 100.0);
        }
    }
    let about = format!(
        "one request at a time on a profile of {} records, {MS} to the reply; by keyword, since no model runs",
        bench.scale.called_records
    );
    Ok(Part { name: "requests", about, counts: "in flight", figures, took_s: 0.0, charts: vec![chart] })
}

/// The name that the empty responder's row has.
fn times_of_empty() -> &'static str {
    "an empty responder"
}

const SAVE: &str = "profile.remember";

async fn called(bench: &Bench, serving: &Serving) -> Result<Vec<(&'static str, Times)>, Fail> {
    let mut random = Random::new(11);
    let records = (0..bench.scale.called_records).map(|at| profile::Remember {
        speaker: None,
        session_id: None,
        ..record(at, &mut random)
    });
    abreast(serving.system(), records).await?;
    let connection = connect::Options::url(serving.url());
    let responder = responder(&Client::connect(&connection).await.map_err(unmeasured)?).await?;
    let client = Client::connect(&connection).await.map_err(unmeasured)?;
    let mut caller = Caller { client, times: Vec::new() };
    let outcome = caller.rounds(bench.scale.calls).await;
    responder.abort();
    outcome?;
    Ok(caller.times.into_iter().map(|(name, times)| (name, Times::new(times))).collect())
}

/// Sends back `{}` to whoever asks.
async fn responder(client: &Client) -> Result<JoinHandle<()>, Fail> {
    let nats = client.nats().clone();
    let mut asked = nats.subscribe(EMPTY).await.map_err(unmeasured)?;
    nats.flush().await.map_err(unmeasured)?;
    Ok(tokio::spawn(async move {
        while let Some(message) = asked.next().await {
            let Some(reply) = message.reply else { continue };
            if nats.publish(reply, "{}".into()).await.is_err() {
                return;
            }
        }
    }))
}

impl Caller {
    /// Each verb once a round, after a quarter as many rounds that are not counted.
    async fn rounds(&mut self, rounds: usize) -> Result<(), Fail> {
        let name = || PROFILE.to_owned();
        for round in 0..rounds + rounds / 4 {
            if round == rounds / 4 {
                self.times.iter_mut().for_each(|(_, times)| times.clear());
            }
            let began = Instant::now();
            let payload = r#"{"profile":"bench"}"#.into();
            self.client.nats().request(EMPTY, payload).await.map_err(unmeasured)?;
            self.took(times_of_empty(), began.elapsed());
            self.call("audit.stats", Stats {}).await?;
            self.call("profile.get", profile::Get { profile: name(), as_of: None }).await?;
            let page = profile::Memories { profile: name(), ..profile::Memories::default() };
            self.call("profile.memories, 20 of them", page).await?;
            let search = profile::Search { profile: name(), query: query(round), ..profile::Search::default() };
            self.call("profile.search, 10 hits", search).await?;
            let recall = profile::Recall { profile: name(), query: query(round), ..profile::Recall::default() };
            self.call("profile.recall", recall).await?;
            let content = format!("The gate number {round} is painted green.");
            let save = profile::Remember { profile: "saved".to_owned(), content, ..profile::Remember::default() };
            self.call(SAVE, save).await?;
        }
        Ok(())
    }

    async fn call<V: Verb>(&mut self, name: &'static str, request: V) -> Result<(), Fail> {
        let began = Instant::now();
        self.client.call(&context(), &request).await.map_err(|error| match error {
            CallError::Refused(error) => Fail::Refused(error),
            other => unmeasured(other),
        })?;
        self.took(name, began.elapsed());
        Ok(())
    }

    fn took(&mut self, name: &'static str, time: Duration) {
        match self.times.iter_mut().find(|(other, _)| *other == name) {
            Some((_, times)) => times.push(time),
            None => self.times.push((name, vec![time])),
        }
    }
}
