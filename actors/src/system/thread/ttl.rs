//! How long what is added to a thread lives: its days, what they count from, the thread's default and its maximum.

use memlog_events::ids::Micros;

use crate::{
    api::{
        Error,
        thread::{RetentionSettings, TtlAnchor},
    },
    limits::TTL_DAYS_MAX,
};

const DAY_MICROS: f64 = 86_400e6;

/// What a request says about a time to live. The outer option is whether it says anything, the inner one whether it names days.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ttl {
    /// Days; null is the maximum if there is one, else never.
    pub(crate) days: Option<Option<f64>>,
    /// What they count from.
    pub(crate) anchor: Option<TtlAnchor>,
}

/// What days may count from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anchors {
    /// When it was, or is now, stored.
    pub(crate) created_at: Micros,
    /// The time that the client gave it.
    pub(crate) timestamp: Option<Micros>,
}

impl Ttl {
    /// From when on something new is unreachable. Longer than the maximum is cut to it; [`warnings`] says so.
    pub(crate) fn of_new(self, retention: &RetentionSettings, from: Anchors) -> Result<Option<Micros>, Error> {
        let from = self.start(from)?;
        let longest = retention.max_ttl_days;
        let days = match self.days {
            None => retention.default_ttl_days.or(longest),
            Some(None) => longest,
            Some(Some(days)) => Some(longest.map_or(checked(days)?, |longest| days.min(longest))),
        };
        Ok(days.map(|days| after(from, days)))
    }

    /// The same of something that is there already; none if nothing is said, and it stays as it is.
    pub(crate) fn of_old(self, retention: &RetentionSettings, from: Anchors) -> Result<Option<Option<Micros>>, Error> {
        if self == Self::default() {
            return Ok(None);
        }
        self.of_new(retention, from).map(Some)
    }

    fn start(self, from: Anchors) -> Result<Micros, Error> {
        match (self.anchor.unwrap_or_default(), from.timestamp) {
            (TtlAnchor::CreatedAt, _) => Ok(from.created_at),
            (TtlAnchor::Timestamp, Some(timestamp)) => Ok(timestamp),
            (TtlAnchor::Timestamp, None) => {
                Err(Error::invalid("ttl_anchor", "ttl_anchor is timestamp, and there is no timestamp"))
            }
        }
    }
}

/// Refuses days that are none.
pub(crate) fn checked(days: f64) -> Result<f64, Error> {
    if days.is_finite() && (1.0..=TTL_DAYS_MAX).contains(&days) {
        return Ok(days);
    }
    let message = format!("ttl_days must be 1 to {TTL_DAYS_MAX} days");
    Err(Error::invalid("ttl_days", message).with("limit", if days < 1.0 { 1.0 } else { TTL_DAYS_MAX }))
}

/// What is told of days that were cut to the maximum; none if none were.
pub(crate) fn warnings(days: impl IntoIterator<Item = f64>, longest: Option<f64>) -> Option<Vec<String>> {
    let longest = longest?;
    let mut warnings = Vec::new();
    for days in days.into_iter().filter(|days| *days > longest) {
        let warning = format!("ttl_days of {days} was cut to the thread's maximum of {longest} days");
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    (!warnings.is_empty()).then_some(warnings)
}

/// The latest instant that can be shown is as good as never.
fn after(from: Micros, days: f64) -> Micros {
    #[allow(clippy::cast_possible_truncation, reason = "at most a hundred years in microseconds")]
    let at = from.0.saturating_add((days * DAY_MICROS) as i64);
    Micros(at.min(jiff::Timestamp::MAX.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: Anchors = Anchors { created_at: Micros(0), timestamp: Some(Micros(1_000)) };
    const DAY: i64 = 86_400_000_000;

    fn of(ttl: Ttl, default: Option<f64>, max: Option<f64>) -> (Option<i64>, usize) {
        let retention = RetentionSettings { default_ttl_days: default, max_ttl_days: max };
        let at = ttl.of_new(&retention, FROM).expect("accepted");
        (at.map(|at| at.0), warnings(ttl.days.flatten(), max).map_or(0, |warnings| warnings.len()))
    }

    // Each row of the rules: left out, null, a number, each with and without a default and a maximum.
    #[test]
    fn days_defaults_and_the_maximum() {
        let (left_out, null) = (Ttl::default(), Ttl { days: Some(None), anchor: None });
        let days = |days| Ttl { days: Some(Some(days)), anchor: None };
        assert_eq!(of(left_out, None, None), (None, 0));
        assert_eq!(of(left_out, Some(3.0), None), (Some(3 * DAY), 0));
        assert_eq!(of(left_out, None, Some(9.0)), (Some(9 * DAY), 0));
        assert_eq!(of(null, Some(3.0), None), (None, 0));
        assert_eq!(of(null, Some(3.0), Some(9.0)), (Some(9 * DAY), 0));
        assert_eq!(of(days(2.0), Some(3.0), Some(9.0)), (Some(2 * DAY), 0));
        assert_eq!(of(days(12.0), Some(3.0), Some(9.0)), (Some(9 * DAY), 1));
        let anchored = Ttl { anchor: Some(TtlAnchor::Timestamp), ..days(1.0) };
        assert_eq!(of(anchored, None, None), (Some(DAY + 1_000), 0));
        assert_eq!(
            of(Ttl { anchor: Some(TtlAnchor::Timestamp), ..left_out }, Some(3.0), None).0,
            Some(3 * DAY + 1_000)
        );
    }

    #[test]
    fn what_is_no_time_to_live_is_refused() {
        let refused =
            |ttl: Ttl, from: Anchors| ttl.of_new(&RetentionSettings::default(), from).expect_err("refused").fields;
        for days in [0.0, 0.99, -1.0, 36_501.0, f64::NAN] {
            assert_eq!(refused(Ttl { days: Some(Some(days)), anchor: None }, FROM)["field"], "ttl_days", "{days}");
        }
        let anchored = Ttl { days: Some(Some(1.0)), anchor: Some(TtlAnchor::Timestamp) };
        assert_eq!(refused(anchored, Anchors { timestamp: None, ..FROM })["field"], "ttl_anchor");
    }

    #[test]
    fn left_out_of_a_change_nothing_changes() {
        let of_old = |ttl: Ttl| ttl.of_old(&RetentionSettings::default(), FROM).expect("accepted");
        assert_eq!(of_old(Ttl::default()), None);
        assert_eq!(of_old(Ttl { days: Some(None), anchor: None }), Some(None));
        assert_eq!(of_old(Ttl { days: None, anchor: Some(TtlAnchor::CreatedAt) }), Some(None));
    }
}
