//! Figures that were counted elsewhere, as Prometheus has them.

use memlog_events::log::Spread;
use prometheus::proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType};

/// Labels of one figure.
pub(super) type Labels<'a> = &'a [(&'a str, &'a str)];

/// A value that goes up and down.
pub(super) fn gauge(name: &str, help: &str, value: impl Into<f64>) -> MetricFamily {
    gauges(name, help, [(&[] as Labels<'_>, value.into())])
}

/// The same, several by their labels.
pub(super) fn gauges<'a>(name: &str, help: &str, rows: impl IntoIterator<Item = (Labels<'a>, f64)>) -> MetricFamily {
    let rows = rows.into_iter().map(|(labels, value)| {
        let mut gauge = Gauge::default();
        gauge.set_value(value);
        let mut metric = labelled(labels);
        metric.set_gauge(gauge);
        metric
    });
    family(name, help, MetricType::GAUGE, rows.collect())
}

/// A value that only grows while the process lives.
pub(super) fn counter(name: &str, help: &str, value: u64) -> MetricFamily {
    counters(name, help, [(&[] as Labels<'_>, value)])
}

/// The same, several by their labels.
pub(super) fn counters<'a>(name: &str, help: &str, rows: impl IntoIterator<Item = (Labels<'a>, u64)>) -> MetricFamily {
    let rows = rows.into_iter().map(|(labels, value)| {
        let mut counter = Counter::default();
        counter.set_value(value as f64);
        let mut metric = labelled(labels);
        metric.set_counter(counter);
        metric
    });
    family(name, help, MetricType::COUNTER, rows.collect())
}

/// Values by classes, each of them times `unit`.
pub(super) fn spread(name: &str, help: &str, spread: &Spread, unit: f64) -> MetricFamily {
    let bucket = |(bound, count): &(u64, u64)| {
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(*bound as f64 * unit);
        bucket.set_cumulative_count(*count);
        bucket
    };
    let mut histogram = Histogram::default();
    histogram.set_bucket(spread.classes.iter().map(bucket).collect());
    histogram.set_sample_count(spread.count);
    histogram.set_sample_sum(spread.sum as f64 * unit);
    let mut metric = Metric::default();
    metric.set_histogram(histogram);
    family(name, help, MetricType::HISTOGRAM, vec![metric])
}

fn labelled(labels: Labels<'_>) -> Metric {
    let pair = |(name, value): &(&str, &str)| {
        let mut pair = LabelPair::default();
        pair.set_name((*name).to_owned());
        pair.set_value((*value).to_owned());
        pair
    };
    Metric::from_label(labels.iter().map(pair).collect())
}

fn family(name: &str, help: &str, kind: MetricType, metrics: Vec<Metric>) -> MetricFamily {
    let mut family = MetricFamily::default();
    family.set_name(name.to_owned());
    family.set_help(help.to_owned());
    family.set_field_type(kind);
    family.set_metric(metrics);
    family
}
