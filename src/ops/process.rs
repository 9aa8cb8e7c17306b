//! What every process of memlog has: a version, and its memory where the system tells it.

use prometheus::proto::MetricFamily;

use super::families::{gauge, gauges};

/// The figures of this process.
pub(super) fn families() -> Vec<MetricFamily> {
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    let mut all = vec![gauges("memlog_build_info", "Which memlog this is", [(&version[..], 1.0)])];
    all.extend(resident_bytes().map(|bytes| {
        gauge("process_resident_memory_bytes", "Resident memory, the page cache of mapped files included", bytes as f64)
    }));
    all
}

/// Linux alone tells it in a file.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    /// A test binary is some megabytes, and no machine has a terabyte for it.
    #[test]
    fn the_memory_is_told() {
        let bytes = super::resident_bytes().expect("Linux tells it");
        assert!((1 << 20..1 << 40).contains(&bytes), "{bytes}");
    }
}
