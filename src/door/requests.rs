//! Requests by verb and outcome, and how long they took, for whoever watches the door. A verb's handles are looked up once, so
//! that counting a request is a few atomic additions.

use std::{sync::OnceLock, time::Duration};

use memlog_actors::api::Error;
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, core::Collector, proto::MetricFamily,
};

use super::{reply::KINDS, table::TABLE};

/// Upper bounds of the classes of a request's time, in seconds: reads take a millisecond, waits up to minutes.
const SECONDS: [f64; 15] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0];
/// The outcome of what was done.
pub(super) const OK: &str = "ok";
/// What stands for the verb of a request that names none.
const NO_VERB: &str = "unknown";

/// What became of the requests that were answered.
#[derive(Debug)]
pub(super) struct Requests {
    answered: IntCounterVec,
    seconds: HistogramVec,
    /// In the order of the table; the last one is for requests that name no verb.
    verbs: Vec<OnceLock<Verb>>,
}

#[derive(Debug)]
struct Verb {
    seconds: Histogram,
    done: IntCounter,
    /// In the order of [`KINDS`].
    refused: [OnceLock<IntCounter>; KINDS.len()],
}

impl Requests {
    pub(super) fn new() -> Self {
        let answered = Opts::new("memlog_requests_total", "Requests answered, by verb and outcome");
        let seconds = HistogramOpts::new("memlog_request_seconds", "From a request's arrival to its answer, by verb");
        let constant = "a name and labels that the tests have seen";
        Self {
            answered: IntCounterVec::new(answered, &["verb", "outcome"]).expect(constant),
            seconds: HistogramVec::new(seconds.buckets(SECONDS.to_vec()), &["verb"]).expect(constant),
            verbs: (0..=TABLE.rows().len()).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Counts one answered request of the verb at `place`, or of none.
    pub(super) fn count(&self, place: Option<usize>, took: Duration, refused: Option<&Error>) {
        let row = place.and_then(|place| TABLE.rows().get(place));
        let Some(verb) = self.verbs.get(place.unwrap_or(TABLE.rows().len())) else { return };
        let name = || row.map_or_else(|| NO_VERB.to_owned(), |row| format!("{row:?}"));
        let verb = verb.get_or_init(|| Verb {
            seconds: self.seconds.with_label_values(&[name()]),
            done: self.answered.with_label_values(&[name().as_str(), OK]),
            refused: [const { OnceLock::new() }; KINDS.len()],
        });
        verb.seconds.observe(took.as_secs_f64());
        let Some(error) = refused else { return verb.done.inc() };
        let counter = || self.answered.with_label_values(&[name().as_str(), error.kind.name()]);
        match KINDS.iter().position(|kind| *kind == error.kind) {
            Some(at) => verb.refused[at].get_or_init(counter).inc(),
            // A kind that has no place yet is slower to count, and not a success.
            None => counter().inc(),
        }
    }

    pub(super) fn families(&self) -> Vec<MetricFamily> {
        self.answered.collect().into_iter().chain(self.seconds.collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels come from the table and from the kinds of errors alone, whatever was asked.
    #[test]
    fn requests_are_counted_by_verb_and_outcome() {
        let requests = Requests::new();
        let place = TABLE.place("profile.get");
        requests.count(place, Duration::from_micros(700), None);
        requests.count(place, Duration::from_secs(120), Some(&Error::timeout("of a secret")));
        requests.count(None, Duration::ZERO, Some(&Error::invalid("verb", "no such verb: secret")));
        let text = prometheus::TextEncoder::new().encode_to_string(&requests.families()).unwrap();
        for line in [
            r#"memlog_requests_total{outcome="ok",verb="profile.get"} 1"#,
            r#"memlog_requests_total{outcome="timeout_error",verb="profile.get"} 1"#,
            r#"memlog_requests_total{outcome="invalid_request_error",verb="unknown"} 1"#,
            r#"memlog_request_seconds_bucket{verb="profile.get",le="0.001"} 1"#,
            r#"memlog_request_seconds_bucket{verb="profile.get",le="+Inf"} 2"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("secret"));
    }
}
