//! What JetStream keeps: the work queue with its one consumer, and the dead letters.

use std::time::Duration;

use async_nats::jetstream::{
    Context,
    consumer::{self, AckPolicy, PullConsumer},
    stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream},
};

/// The work queue.
pub(super) const JOBS: &str = "memlog-jobs";
/// Its subject.
pub(super) const JOBS_SUBJECT: &str = "memlog.jobs.v1.extract";
/// Its consumer, which every worker pulls from.
pub(super) const WORKERS: &str = "workers";
/// Jobs that failed for good.
const DEAD: &str = "memlog-dead";
/// Their subjects, before the job's id.
pub(super) const DEAD_SUBJECTS: &str = "memlog.dead.v1";
/// How long dead letters stay; `job.list` shows the same for ever.
const DEAD_AGE_MAX: Duration = Duration::from_secs(30 * 24 * 3_600);
/// A job whose worker was silent for so long is delivered to another one; live workers say that they live every few seconds.
pub(super) const ACK_WAIT: Duration = Duration::from_secs(30);
/// A job handed out again within this time is recognised by its message id.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);
/// Jobs with workers, and pulls that wait, over all workers.
const WORKING_MAX: i64 = 10_000;

/// Both streams as they should be. Asking again changes nothing.
pub(super) async fn ensure(context: &Context, replicas: usize) -> Result<(), async_nats::Error> {
    let jobs = Config {
        name: JOBS.to_owned(),
        description: Some("memlog: ids of extraction jobs to be done".to_owned()),
        subjects: vec![JOBS_SUBJECT.to_owned()],
        retention: RetentionPolicy::WorkQueue,
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        duplicate_window: DUPLICATE_WINDOW,
        num_replicas: replicas,
        ..Config::default()
    };
    context.create_or_update_stream(jobs).await?;
    let workers = consumer::pull::Config {
        durable_name: Some(WORKERS.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        // The node counts tries and gives up; the queue goes on delivering until then.
        max_deliver: -1,
        max_ack_pending: WORKING_MAX,
        max_waiting: WORKING_MAX,
        ..consumer::pull::Config::default()
    };
    context.create_consumer_on_stream(workers, JOBS).await?;
    let dead = Config {
        name: DEAD.to_owned(),
        description: Some("memlog: ids and codes of extraction jobs that failed for good".to_owned()),
        subjects: vec![format!("{DEAD_SUBJECTS}.>")],
        retention: RetentionPolicy::Limits,
        storage: StorageType::File,
        max_messages_per_subject: 1,
        max_age: DEAD_AGE_MAX,
        num_replicas: replicas,
        ..Config::default()
    };
    context.create_or_update_stream(dead).await?;
    Ok(())
}

/// The queue as it stands.
pub(super) async fn look(context: &Context) -> Result<(Stream, PullConsumer), async_nats::Error> {
    let stream = context.get_stream(JOBS).await?;
    let consumer = stream.get_consumer(WORKERS).await?;
    Ok((stream, consumer))
}
