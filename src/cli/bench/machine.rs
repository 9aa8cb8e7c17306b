//! The machine that was measured on: without it no figure says anything.

use std::{fs, io::Write as _, path::Path, time::Instant};

use memlog_actors::bench::Times;
use serde::Serialize;

use crate::{
    cli::{doctor::file_system_of, fail::Fail},
    embed::Kernel,
};

/// Bytes that a sync is tried with: a page.
const PAGE_BYTES: usize = 4_096;

/// What can be told of it. What the system does not say is none.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Machine {
    pub(super) system: String,
    pub(super) cores: usize,
    pub(super) processor: Option<String>,
    /// The widest instructions that the embedding model finds.
    pub(super) kernel: &'static str,
    pub(super) memory_bytes: Option<u64>,
    /// Of the folder that is measured in.
    pub(super) file_system: Option<String>,
    /// Appending a page to a file and making it durable, in milliseconds, and what 99 in 100 take.
    pub(super) sync_ms: f64,
    pub(super) sync_ms_p99: f64,
    /// Processes that wanted the processors in the minute before: more than what memlog asks for is other load.
    pub(super) load_before: Option<f64>,
}

impl Machine {
    /// Looks at it, and tries `syncs` syncs in a folder.
    pub(super) fn look(folder: &Path, syncs: usize) -> Result<Self, Fail> {
        let load_before = load();
        let times = sync_times(folder, syncs).map_err(Fail::file(folder))?;
        Ok(Self {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            processor: line_of("/proc/cpuinfo", "model name"),
            kernel: Kernel::available().last().map_or("portable", |kernel| kernel.name()),
            memory_bytes: kilobytes_of("/proc/meminfo", "MemTotal"),
            file_system: file_system_of(folder),
            sync_ms: times.p50(),
            sync_ms_p99: times.p99(),
            load_before,
        })
    }

    /// In a line.
    pub(super) fn told(&self) -> String {
        let memory = self.memory_bytes.map_or_else(String::new, |bytes| format!(", {} GB", bytes >> 30));
        let processor =
            self.processor.as_ref().map_or_else(String::new, |name| format!(" of {name} ({})", self.kernel));
        let load = self.load_before.map_or_else(String::new, |load| format!(", load {load:.1} before it began"));
        format!(
            "{}, {} cores{processor}{memory}; {}, a synced page takes {:.2} ms, 99 in 100 at most {:.2} ms{load}",
            self.system,
            self.cores,
            self.file_system.as_deref().unwrap_or("an unknown file system"),
            self.sync_ms,
            self.sync_ms_p99
        )
    }

    /// Of which nothing is known.
    #[cfg(test)]
    pub(super) fn unknown() -> Self {
        Self {
            system: "linux x86_64".to_owned(),
            cores: 2,
            processor: None,
            kernel: "portable",
            memory_bytes: None,
            file_system: None,
            sync_ms: 0.15,
            sync_ms_p99: 4.0,
            load_before: None,
        }
    }
}

fn sync_times(folder: &Path, syncs: usize) -> std::io::Result<Times> {
    let mut file = tempfile::tempfile_in(folder)?;
    let mut times = Vec::with_capacity(syncs);
    for _ in 0..syncs {
        let began = Instant::now();
        file.write_all(&[7; PAGE_BYTES])?;
        file.sync_data()?;
        times.push(began.elapsed());
    }
    Ok(Times::new(times))
}

/// Processes that want the processors, over the last minute.
fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// What stands behind the colon of the first line that begins so.
fn line_of(path: &str, begin: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(begin))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn kilobytes_of(path: &str, begin: &str) -> Option<u64> {
    let kilobytes: u64 = line_of(path, begin)?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The memory that this process has at the moment, in bytes; none where the system does not say.
pub(super) fn resident_bytes() -> Option<u64> {
    kilobytes_of("/proc/self/status", "VmRSS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_tells_what_a_sync_takes() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::look(folder.path(), 3).unwrap();
        assert!(machine.cores > 0 && machine.sync_ms_p99 >= machine.sync_ms);
        assert!(machine.told().contains("a synced page takes"));
    }
}
