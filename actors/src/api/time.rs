//! Times on the wire: RFC 3339, UTC; one without a zone is UTC.

use std::fmt;

use jiff::{Timestamp, civil, tz};
use memlog_events::ids::Micros;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An instant, to the microsecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Time(pub Micros);

impl Time {
    /// Reads RFC 3339; a text without a zone is UTC, a date alone is its midnight.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let stamp = match text.parse::<Timestamp>() {
            Ok(stamp) => stamp,
            Err(error) => text
                .parse::<civil::DateTime>()
                .ok()
                .and_then(|local| tz::Offset::UTC.to_timestamp(local).ok())
                .ok_or_else(|| format!("not an RFC 3339 time: {error}"))?,
        };
        Ok(stamp.into())
    }

    /// As the library of dates knows it.
    pub fn timestamp(self) -> Timestamp {
        Timestamp::from_microsecond(self.0.0).unwrap_or_default()
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AsOf {
    /// As the log stood at this global position.
    Seq(u64),
    /// As the log stood at this time.
    Time(Time),
}
