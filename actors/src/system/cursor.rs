//! Cursors: opaque to clients; they pin the position at which the first page was read.

use std::fmt;

use super::validate::parsed;
use crate::api::Error;

/// Where a page ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The position that all pages are true for.
    pub(crate) seq: u64,
    /// The last item's time.
    pub(crate) micros: i64,
    /// The last item's UUID.
    pub(crate) id: String,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v1.{:x}.{:x}.{}", self.seq, self.micros, self.id)
    }
}

impl Cursor {
    /// Reads one that was given out.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        Self::read(text).ok_or_else(|| Error::invalid("cursor", "cursor is not one that a page gave"))
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (version, seq, micros, id) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let whole = version == "v1" && parts.next().is_none();
        let micros = hex(micros)?.cast_signed();
        parsed::<uuid::Uuid>(Some(id)).filter(|_| whole)?;
        Some(Self { seq: hex(seq)?, micros, id: id.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn what_is_given_out_is_read_back_and_nothing_else() {
        let cursor = Cursor { seq: 77, micros: -5, id: "018f0000-0000-7000-8000-000000000000".to_owned() };
        assert_eq!(Cursor::parse(&cursor.to_string()).expect("read"), cursor);
        for wrong in ["", "v1", "v2.1.1.x", "v1.g.1.018f0000-0000-7000-8000-000000000000", "v1.1.1.nobody"] {
            assert!(Cursor::parse(wrong).is_err(), "{wrong}");
        }
    }
}
