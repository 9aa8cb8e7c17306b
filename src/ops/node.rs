//! What there is to see of a server: its door, its log, what follows the log, its jobs, its models.

use memlog_actors::system::{Load, System};
use prometheus::proto::MetricFamily;

use super::{
    Unready, Watched,
    families::{Labels, counter, counters, gauge, gauges, spread},
    worker,
};
use crate::{door::Watch, jobs::WorkersWatch};

/// A server.
pub struct Node {
    /// What it serves.
    pub system: System,
    /// Through what.
    pub door: Watch,
    /// Workers of this process.
    pub workers: WorkersWatch,
}

impl Watched for Node {
    fn unready(&self) -> Vec<Unready> {
        let mut reasons = Vec::new();
        if !self.door.connected() {
            let reason = "the NATS server is not reached; what comes back by itself is tried again".to_owned();
            reasons.push(Unready { code: "nats_disconnected", reason });
        }
        reasons.extend(self.system.unready().map(|reason| Unready { code: "log_failed", reason }));
        reasons
    }

    fn families(&self) -> Vec<MetricFamily> {
        let load = self.system.load();
        let mut all = self.door();
        all.extend(log(&load));
        all.extend(views(&load));
        all.extend(actors(&load));
        all.extend(jobs(&load));
        all.extend(worker::families(&self.workers));
        all
    }
}

impl Node {
    fn door(&self) -> Vec<MetricFamily> {
        let calls = self.door.calls();
        let under_way =
            [(&[("kind", "working")][..], calls.working as f64), (&[("kind", "waiting")], calls.waiting as f64)];
        let mut all = self.door.requests();
        all.extend([
            gauge(
                "memlog_nats_connected",
                "Whether the connection to NATS stands",
                f64::from(u8::from(self.door.connected())),
            ),
            gauges(
                "memlog_requests_in_flight",
                "Calls under way: those that work, and apart from them those that wait by their nature",
                under_way,
            ),
            gauge("memlog_request_body_bytes", "Bodies of calls under way, to a KiB", calls.body_bytes as f64),
            counter("memlog_requests_shed_total", "Calls refused for want of room", calls.shed),
            counter(
                "memlog_requests_lost_total",
                "Messages of the NATS server that came faster than they were read",
                self.door.lost(),
            ),
        ]);
        all
    }
}

fn log(load: &Load) -> Vec<MetricFamily> {
    let log = &load.log;
    let files = [("log", log.log_bytes), ("vault", log.vault_bytes), ("blobs", log.blob_bytes)];
    let labels = files.map(|(file, _)| [("file", file)]);
    let files = labels.iter().zip(files).map(|(labels, (_, bytes))| (&labels[..] as Labels<'_>, bytes as f64));
    vec![
        gauge("memlog_log_position", "The log's head", load.head as f64),
        gauges("memlog_disk_bytes", "Files of the data folder", files),
        gauge("memlog_writer_queue_batches", "Batches that wait for the log's writer", log.queue_batches as f64),
        gauge("memlog_writer_queue_bytes", "Their bytes", log.queue_bytes as f64),
        spread("memlog_commit_seconds", "How long durable commits take, the sync included", &log.commit_micros, 1e-6),
        spread("memlog_commit_events", "Events of a commit", &log.commit_events, 1.0),
    ]
}

fn views(load: &Load) -> Vec<MetricFamily> {
    let labels: Vec<_> = load.lag.iter().map(|(view, _)| [("view", *view)]).collect();
    let lag = labels.iter().zip(&load.lag).map(|(labels, (_, lag))| (&labels[..] as Labels<'_>, *lag as f64));
    let views = &load.views;
    let memory =
        [(&[("what", "profiles")][..], views.bytes as f64), (&[("what", "notebooks")], load.notebooks_bytes as f64)];
    let budget = [
        (&[("what", "profiles")][..], load.views_bytes_max as f64),
        (&[("what", "notebooks")], load.notebooks_bytes_max as f64),
    ];
    let model = load.model.as_deref().unwrap_or("none");
    let loaded = f64::from(u8::from(load.model.is_some()));
    vec![
        gauges("memlog_view_lag_positions", "Positions that what follows the log is behind its head", lag),
        gauge(
            "memlog_vector_lag_documents",
            "Documents without a vector in the loaded profile that has the most of them",
            views.waiting_max as f64,
        ),
        gauge("memlog_embedding_queue_documents", "Documents that wait to be embedded", views.waiting as f64),
        gauge("memlog_profiles_loaded", "Profiles whose views are in memory", views.profiles as f64),
        gauges("memlog_views_bytes", "Memory of the views", memory),
        gauges("memlog_views_bytes_max", "The budget of that memory", budget),
        gauges("memlog_model_loaded", "The embedding model, 0 for none", [(&[("model", model)][..], loaded)]),
        gauge(
            "memlog_profiles_reembedding",
            "Loaded profiles that are embedded anew since the model was changed",
            views.reembedding as f64,
        ),
    ]
}

fn actors(load: &Load) -> Vec<MetricFamily> {
    let labels = load.actors.map(|actors| [("kind", actors.kind)]);
    let rows = || labels.iter().map(|labels| &labels[..] as Labels<'_>).zip(load.actors);
    vec![
        gauges("memlog_actors_awake", "Entities awake", rows().map(|(labels, it)| (labels, it.awake as f64))),
        counters(
            "memlog_actors_woken_total",
            "Entities woken; those not awake have gone to sleep again",
            rows().map(|(labels, it)| (labels, it.woken)),
        ),
    ]
}

fn jobs(load: &Load) -> Vec<MetricFamily> {
    let jobs = &load.jobs;
    let open = [
        (&[("state", "queued")][..], jobs.queued as f64),
        (&[("state", "running")], jobs.running as f64),
        (&[("state", "retrying")], jobs.retrying as f64),
    ];
    let ended = [(&[("outcome", "done")][..], jobs.done), (&[("outcome", "failed")], jobs.failed)];
    vec![
        gauges("memlog_jobs", "Open extraction jobs by state", open),
        counters("memlog_jobs_ended_total", "Extraction jobs that ended; the failed ones are dead letters", ended),
    ]
}
