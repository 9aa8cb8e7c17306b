//! `memlog verify`: whether every chain, hash and key of the log holds. Exit code 3 when not.

use memlog_actors::{
    api::audit::{Head, Verified, Verify},
    system::verified,
};
use memlog_events::log::Reason;

use super::{
    Outcome,
    backend::{Backend, Folder, Model, needed},
    backup::on_log,
    fail::Fail,
    screen::{BAD, GOOD, Screen},
    settings::Settings,
    words,
};

/// The exit code of a log that does not hold.
const BROKEN: u8 = 3;

/// What to do about a log that does not hold.
const RESTORE: &str = "stop writing, keep a copy of the data folder, and restore the last backup that verifies";

/// Against what.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A head that an earlier verify printed: proves that nothing was cut or rolled back since
    #[arg(long, value_name = "SEQ:HASH", value_parser = words::head)]
    expect: Option<Head>,
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        let verified = if settings.nats.is_some() {
            let backend = Backend::open(&settings, &screen, Model::Unused, Folder::Needed).await?;
            let verified = backend.call(&settings.context(), Verify { expect: self.expect }).await;
            backend.close().await;
            verified?
        } else {
            needed(&settings.data)?;
            let expect = self.expect;
            on_log(&settings, move |log| verified(log, expect.as_ref()).map_err(|error| error.message)).await?
        };
        screen.reply(&verified, people)?;
        Ok(if verified.ok { Outcome::Done } else { Outcome::Unwell(BROKEN) })
    }
}

/// The finding, and the head to keep.
pub(super) fn people(_: &Screen, verified: &Verified) -> String {
    let Verified { events, head: Head { seq, hash }, .. } = verified;
    match &verified.first_break {
        Some(at) if at.reason == Reason::Expected.to_string() => format!(
            "{BAD}not the expected log{BAD:#}: this head is not in it. It was cut or rolled back, or the head was copied wrongly\nhead {seq}:{hash}"
        ),
        Some(at) if at.stream.is_empty() => format!("{BAD}broken{BAD:#}: {}\n{RESTORE}", at.reason),
        Some(at) => {
            format!("{BAD}broken{BAD:#}: stream {}, version {}: {}\n{RESTORE}", at.stream, at.version, at.reason)
        }
        None if verified.ok => format!(
            "{GOOD}ok{GOOD:#}: {events} events checked\nhead {seq}:{hash}\nkeep it elsewhere: memlog verify --expect {seq}:{hash} proves later that nothing was cut"
        ),
        None => format!("{BAD}broken{BAD:#}: the log does not hold\nhead {seq}:{hash}"),
    }
}
