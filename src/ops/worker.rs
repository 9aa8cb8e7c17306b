//! What there is to see of workers: their jobs, and whether they reach NATS.

use prometheus::proto::MetricFamily;

use super::{
    Unready, Watched,
    families::{Labels, counters, gauge, spread},
};
use crate::jobs::WorkersWatch;

/// A process that is nothing but workers.
pub struct WorkerProcess(pub WorkersWatch);

impl Watched for WorkerProcess {
    fn unready(&self) -> Vec<Unready> {
        let lost = || Unready { code: "nats_disconnected", reason: "the NATS server is not reached".to_owned() };
        if self.0.connected() { Vec::new() } else { vec![lost()] }
    }

    fn families(&self) -> Vec<MetricFamily> {
        let connected = f64::from(u8::from(self.0.connected()));
        let mut all = vec![gauge("memlog_nats_connected", "Whether the connection to NATS stands", connected)];
        all.extend(families(&self.0));
        all
    }
}

/// The figures of workers, in a process of their own or in a server.
pub(super) fn families(workers: &WorkersWatch) -> Vec<MetricFamily> {
    let load = workers.load();
    let outcomes = [("settled", load.settled), ("again", load.again), ("dropped", load.dropped)];
    let labels = outcomes.map(|(outcome, _)| [("outcome", outcome)]);
    let rows = labels.iter().zip(outcomes).map(|(labels, (_, count))| (&labels[..] as Labels<'_>, count));
    vec![
        gauge("memlog_worker_parallel", "Jobs that this process does at once", load.parallel as f64),
        gauge("memlog_worker_jobs_running", "Jobs in this process's hands", load.running as f64),
        counters(
            "memlog_worker_jobs_total",
            "Jobs that left this process's hands: settled, to be tried again, or dropped with their worker",
            rows,
        ),
        spread("memlog_worker_job_seconds", "How long a job was in this process's hands", &load.millis, 0.001),
    ]
}
