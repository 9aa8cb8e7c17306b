//! What is found across streams: who holds a name, what a namespace lists, which command was carried out, what is due.

use std::collections::BTreeSet;

use redb::ReadableTable;
use uuid::Uuid;

use super::{
    Core, Error, Log,
    limits::{HOUR_MICROS, REMEMBERED_HOURS},
    lock, rows,
    tables::Reading,
};
use crate::{
    batch::{Holder, ListKind, Listing, Remembered},
    ids::{Digest, Micros, Slot, StreamKey},
};

impl Log {
    /// Who holds a name, if all the slots the holder lives by are alive.
    pub fn claim(&self, name: Digest) -> Result<Option<Holder>, Error> {
        self.0.core.guarded(|| {
            let core = &self.0.core;
            let row = core.read()?.claims()?.get_owned(&name.0)?;
            let holder = row.map(|row| rows::holder_of(row.value()));
            match holder {
                Some(holder) if core.vault.alive(holder.keys)? => Ok(Some(holder)),
                _ => Ok(None),
            }
        })
    }

    /// What a namespace lists, newest first, older than `before`; what is dead is passed over.
    pub fn listed(
        &self,
        namespace: [u8; 16],
        kind: ListKind,
        before: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Listing>, Error> {
        self.0.core.guarded(|| {
            let core = &self.0.core;
            let mut out = Vec::new();
            let from = rows::listing_key(namespace, kind, Uuid::nil());
            let mut to = rows::listing_key(namespace, kind, before.unwrap_or(Uuid::max()));
            // Dead rows can be many, so even this walk is made in pages.
            loop {
                let table = core.read()?.listed()?;
                let mut seen = 0;
                for row in table.range::<&[u8; 33]>(&from..&to)?.rev().take(core.limits.page_events_max) {
                    let (key, row) = row?;
                    seen += 1;
                    to = *key.value();
                    let listing = rows::listing_of(kind, key.value(), row.value());
                    if core.vault.alive(listing.keys)? {
                        out.push(listing);
                        if out.len() == limit {
                            return Ok(out);
                        }
                    }
                }
                if seen == 0 {
                    return Ok(out);
                }
            }
        })
    }

    /// The command that was carried out under this key in the last 24 hours.
    pub fn remembered(&self, key: Digest, now: Micros) -> Result<Option<Remembered>, Error> {
        self.0.core.guarded(|| remembered(&self.0.core, key, now))
    }

    /// Subjects whose time is over and that are still alive, soonest first.
    pub fn due(&self, now: Micros, limit: usize) -> Result<Vec<(Micros, StreamKey, Slot)>, Error> {
        self.0.core.guarded(|| {
            let core = &self.0.core;
            let mut out = Vec::new();
            // Rows of the dead are passed over here and removed by `sweep`.
            for row in core.read()?.expiry()?.iter()? {
                let (key, row) = row?;
                let (at, stream, keys) = rows::expiry_of(key.value(), row.value());
                if at > now || out.len() == limit {
                    break;
                }
                if core.vault.alive(keys)? {
                    out.push((at, stream, keys.subject));
                }
            }
            Ok(out)
        })
    }

    /// When the next subject's time is over, dead or alive.
    pub fn next_due(&self) -> Result<Option<Micros>, Error> {
        self.0.core.guarded(|| {
            let expiry = self.0.core.read()?.expiry()?;
            let first = expiry.first()?;
            Ok(first.map(|(key, row)| rows::expiry_of(key.value(), row.value()).0))
        })
    }

    /// When the first subject's time is over whose time is not over yet, dead or alive.
    pub fn next_due_after(&self, now: Micros) -> Result<Option<Micros>, Error> {
        self.0.core.guarded(|| {
            let expiry = self.0.core.read()?.expiry()?;
            let from = rows::expiry_from(Micros(now.0.saturating_add(1)));
            let next = expiry.range::<&[u8; 50]>(&from..)?.next().transpose()?;
            Ok(next.map(|(key, row)| rows::expiry_of(key.value(), row.value()).0))
        })
    }

    /// Removes a step's worth of rows that mean nothing any more: idempotency hours that are over, expiry rows of the
    /// dead. Returns how many; call again while it is not 0.
    pub fn sweep(&self, now: Micros) -> Result<usize, Error> {
        self.0.core.guarded(|| {
            let core = &self.0.core;
            let oldest = oldest_hour(now);
            let (expired, expiring) = (expired_hours(core, oldest), dead_expiries(core, now)?);
            if !expired && expiring.is_empty() {
                return Ok(0);
            }
            let removed = core.quick(|tables| {
                let to = rows::idempotency_key(oldest, Digest([0; 32]));
                let range = ..&to;
                let mut keys: Vec<[u8; 40]> = Vec::new();
                for row in tables.idempotency.range::<&[u8; 40]>(range)?.take(core.limits.step_rows_max) {
                    keys.push(*row?.0.value());
                }
                for key in &keys {
                    tables.idempotency.remove(key)?;
                }
                for key in &expiring {
                    tables.expiry.remove(key)?;
                }
                Ok((keys.len(), keys.len() < core.limits.step_rows_max))
            })?;
            if removed.1 {
                lock(&core.hours).retain(|hour| *hour >= oldest);
            }
            Ok(removed.0 + expiring.len())
        })
    }
}

fn oldest_hour(now: Micros) -> i64 {
    now.0.div_euclid(HOUR_MICROS) - REMEMBERED_HOURS
}

fn expired_hours(core: &Core, oldest: i64) -> bool {
    lock(&core.hours).first().is_some_and(|hour| *hour < oldest)
}

/// Expiry rows up to `now` whose subject is dead already.
fn dead_expiries(core: &Core, now: Micros) -> Result<Vec<[u8; 50]>, Error> {
    let mut dead = Vec::new();
    for row in core.read()?.expiry()?.iter()?.take(core.limits.step_rows_max) {
        let (key, row) = row?;
        let (at, _, keys) = rows::expiry_of(key.value(), row.value());
        if at > now {
            break;
        }
        if !core.vault.alive(keys)? {
            dead.push(*key.value());
        }
    }
    Ok(dead)
}

/// See [`Log::remembered`].
pub(super) fn remembered(core: &Core, key: Digest, now: Micros) -> Result<Option<Remembered>, Error> {
    find(&core.read()?.idempotency()?, &hours_for(core, now), key, now)
}

/// The hours that may hold a row remembered at `now`, newest first. Clocks step back, so later ones count too.
pub(super) fn hours_for(core: &Core, now: Micros) -> Vec<i64> {
    lock(&core.hours).range(oldest_hour(now)..).rev().copied().collect()
}

/// Finds a remembered command.
pub(super) fn find(
    table: &impl ReadableTable<&'static [u8; 40], &'static [u8]>,
    hours: &[i64],
    key: Digest,
    now: Micros,
) -> Result<Option<Remembered>, Error> {
    for hour in hours {
        if let Some(row) = table.get(&rows::idempotency_key(*hour, key))? {
            let found = rows::remembered_of(key, row.value())?;
            let until = found.row.time.0.saturating_add(REMEMBERED_HOURS * HOUR_MICROS);
            return Ok((now.0 < until).then_some(found));
        }
    }
    Ok(None)
}

/// The hours that have rows, found by leaping from one to the next.
pub(super) fn hours_present(txn: &Reading) -> Result<BTreeSet<i64>, Error> {
    let table = txn.idempotency()?;
    let mut hours = BTreeSet::new();
    let mut from = [0; 40];
    while let Some(row) = table.range::<&[u8; 40]>(&from..)?.next() {
        let hour = rows::hour_of(row?.0.value());
        hours.insert(hour);
        from = rows::idempotency_key(hour + 1, Digest([0; 32]));
    }
    Ok(hours)
}
