//! Times on the wire: RFC 3339, UTC; one without a zone is UTC.

use std::fmt;

use jiff::{Timestamp, civil, fmt::temporal::Pieces, tz};
use memlog_events::ids::Micros;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An instant, to the microsecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Time(pub Micros);

impl Time {
    /// Reads RFC 3339; a text without a zone is UTC, a date alone is its midnight.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let zoned = || text.parse::<Timestamp>().ok();
        let local = || tz::Offset::UTC.to_timestamp(text.parse::<civil::DateTime>().ok()?).ok();
        zoned().or_else(local).map(Self::from).ok_or_else(|| unread(text))
    }

    /// As the library of dates knows it.
    pub fn timestamp(self) -> Timestamp {
        Timestamp::from_microsecond(self.0.0).unwrap_or_default()
    }
}

/// When something was said: an instant, and how far the speaker's clock stood ahead of UTC. Two of the same instant are equal,
/// wherever they were said: what is sent again in another zone's writing is the same message.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    /// The instant.
    pub time: Time,
    /// Of the speaker's clock; 0 is UTC, or no zone given.
    pub offset_seconds: i32,
}

impl Said {
    /// Reads what [`Time::parse`] reads, and keeps the offset.
    pub fn parse(text: &str) -> Result<Self, String> {
        let time = Time::parse(text)?;
        let pieces = Pieces::parse(text.trim()).ok();
        let offset = pieces.and_then(|pieces| pieces.to_numeric_offset());
        Ok(Self { time, offset_seconds: offset.map_or(0, tz::Offset::seconds) })
    }

    /// The day on the calendar of whoever said it.
    pub fn day(self) -> civil::Date {
        day_at(self.time.timestamp(), self.offset_seconds)
    }
}

/// The civil day of an instant where clocks stand so far ahead of UTC.
pub fn day_at(at: Timestamp, offset_seconds: i32) -> civil::Date {
    tz::Offset::from_seconds(offset_seconds).unwrap_or(tz::Offset::UTC).to_datetime(at).date()
}

impl PartialEq for Said {
    fn eq(&self, other: &Self) -> bool {
        self.time == other.time
    }
}

impl Eq for Said {}

impl From<Time> for Said {
    fn from(time: Time) -> Self {
        Self { time, offset_seconds: 0 }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match tz::Offset::from_seconds(self.offset_seconds) {
            Ok(offset) if self.offset_seconds != 0 => self.time.timestamp().display_with_offset(offset).fmt(f),
            _ => self.time.fmt(f),
        }
    }
}

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// What to say of a text that is no time, or one at an end of what can be counted.
fn unread(text: &str) -> String {
    // The years at the two ends are whole in the calendar, but not as instants in every zone.
    let at_an_end = |date: civil::Date| [civil::Date::MIN.year(), civil::Date::MAX.year()].contains(&date.year());
    match Pieces::parse(text) {
        Ok(pieces) if at_an_end(pieces.date()) => {
            format!("must be a time from {:.0} to {:.0}; this one is out of range", Timestamp::MIN, Timestamp::MAX)
        }
        _ => "must be an RFC 3339 time such as 2026-05-04T09:00:00Z (a date alone is its midnight, UTC)".to_owned(),
    }
}

impl From<Timestamp> for Time {
    fn from(stamp: Timestamp) -> Self {
        Self(Micros(stamp.as_microsecond()))
    }
}

impl From<Micros> for Time {
    fn from(micros: Micros) -> Self {
        Self(micros)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.timestamp().fmt(f)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// The moment a read of the past is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AsOf {
    /// As the log stood at this global position.
    Seq(u64),
    /// As the log stood at this time.
    Time(Time),
}

/// The two ways to write a moment.
const AS_OF_FORMS: &str = r#"{"seq": 10} or {"time": "2026-05-04T09:00:00Z"}"#;

/// By hand, so that whoever gets it wrong is shown the whole of what is right.
impl<'de> Deserialize<'de> for AsOf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Moment)
    }
}

struct Moment;

impl<'de> de::Visitor<'de> for Moment {
    type Value = AsOf;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(AS_OF_FORMS)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<AsOf, A::Error> {
        let wrong = || de::Error::custom(format!("must be {AS_OF_FORMS}"));
        let moment = match map.next_key::<String>()?.as_deref() {
            Some("seq") => AsOf::Seq(map.next_value()?),
            Some("time") => AsOf::Time(map.next_value()?),
            _ => return Err(wrong()),
        };
        if map.next_key::<de::IgnoredAny>()?.is_some() { Err(wrong()) } else { Ok(moment) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// People read what is said of a wrong time; the words of a parser help nobody.
    #[test]
    fn a_wrong_time_is_told_what_is_right() {
        for text in ["yesterday", "", "2026-13-01", "1780000000", "2026-05-04T25:00:00Z"] {
            let said = Time::parse(text).unwrap_err();
            assert!(said.starts_with("must be an RFC 3339 time such as"), "{text}: {said}");
        }
        for text in ["9999-12-31T23:59:59Z", "9999-12-31", "-009999-01-01"] {
            let said = Time::parse(text).unwrap_err();
            let range = "must be a time from -009999-01-02T01:59:59Z to 9999-12-30T22:00:00Z; this one is out of range";
            assert_eq!(said, range, "{text}");
        }
        assert_eq!(Time::parse("2026-05-04"), Time::parse("2026-05-04T02:00:00+02:00"));
    }

    // "Yesterday" is a day of the speaker's own calendar, and a client that passes messages on must not lose it.
    #[test]
    fn an_offset_is_kept_and_changes_no_instant() {
        let said = |text: &str| Said::parse(text).unwrap();
        let late = said("2026-03-13T23:30:00-05:00");
        assert_eq!((late.offset_seconds, late.time.to_string()), (-18_000, "2026-03-14T04:30:00Z".to_owned()));
        assert_eq!(late, said("2026-03-14T04:30:00Z"));
        let text = serde_json::to_string(&late).unwrap();
        assert_eq!(text, r#""2026-03-13T23:30:00-05:00""#);
        assert_eq!(serde_json::from_str::<Said>(&text).unwrap().offset_seconds, -18_000);
        for text in ["2026-03-13T23:30:00Z", "2026-03-13T23:30:00", "2026-03-13", "2026-03-13T23:30:00+00:00"] {
            assert_eq!((said(text).offset_seconds, Some(said(text).time)), (0, Time::parse(text).ok()), "{text}");
        }
    }

    #[test]
    fn moments_are_read_as_they_are_written() {
        for moment in [AsOf::Seq(10), AsOf::Time(Time::parse("2026-05-04T09:00:00Z").unwrap())] {
            let text = serde_json::to_string(&moment).unwrap();
            assert_eq!(serde_json::from_str::<AsOf>(&text).unwrap(), moment, "{text}");
        }
    }
}
