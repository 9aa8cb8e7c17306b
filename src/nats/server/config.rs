//! What memlog's own nats-server is told, and the files of its folder. Writes text; starts nothing.

use std::io;
use std::path::{Path, PathBuf};

/// The largest message in bytes: an ingest of 500 messages of 32,768 bytes fits as UTF-8. A client that writes every
/// character as `\u` and four digits may need up to 49 MB for it, and sends fewer messages at a time.
/// `deploy/nats.conf` says the same to a server that memlog does not start itself.
pub const PAYLOAD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The server's log is rotated at this size, so that a long life does not fill the disk.
const LOG_BYTES_MAX: usize = 16 * 1024 * 1024;
const LOG_FILES_MAX: usize = 3;

/// The files of `DATA/nats/`, all of them this child's own.
#[derive(Debug, Clone)]
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn config(&self) -> PathBuf {
        self.0.join("nats.conf")
    }
    pub(super) fn pid(&self) -> PathBuf {
        self.0.join("nats.pid")
    }
    /// Held locked by the memlog that runs the child, so that a second one never stops it as a left-over.
    pub(super) fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }
    pub(super) fn log(&self) -> PathBuf {
        self.0.join("nats.log")
    }
    /// What the server says before it has opened its log: a refused configuration, mostly.
    pub(super) fn start_log(&self) -> PathBuf {
        self.0.join("start.log")
    }

    /// Writes the configuration; port 0 lets the server choose a free one.
    pub(super) fn write_config(&self, port: u16) -> io::Result<()> {
        std::fs::write(self.config(), self.render(port))
    }

    /// The port that the server listens on, once it accepts connections: it then writes a file named after itself
    /// and its process, which lists its addresses.
    pub(super) fn announced_port(&self, pid: u32) -> Option<u16> {
        let suffix = format!("_{pid}.ports");
        let file = self.ports_files().find(|path| path.to_string_lossy().ends_with(&suffix))?;
        let text = std::fs::read_to_string(file).ok()?;
        let ports: serde_json::Value = serde_json::from_str(&text).ok()?;
        let address = ports.get("nats")?.get(0)?.as_str()?;
        address.rsplit_once(':')?.1.parse().ok()
    }

    /// A killed server leaves its ports file; a later process of the same number would be taken for ready by it.
    pub(super) fn clear_ports(&self) -> io::Result<()> {
        self.ports_files().try_for_each(std::fs::remove_file)
    }

    fn ports_files(&self) -> impl Iterator<Item = PathBuf> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "ports"))
    }

    fn render(&self, port: u16) -> String {
        let listen = if port == 0 { -1 } else { i32::from(port) };
        format!(
            "# Written by memlog at every start; changes here are lost. A server with a configuration of your own is\n\
             # used with `memlog serve --nats URL`.\n\
             host: \"127.0.0.1\"\n\
             port: {listen}\n\
             max_payload: {PAYLOAD_BYTES_MAX}\n\
             pid_file: {pid}\n\
             ports_file_dir: {folder}\n\
             log_file: {log}\n\
             logfile_size_limit: {LOG_BYTES_MAX}\n\
             logfile_max_num: {LOG_FILES_MAX}\n\
             jetstream {{\n    store_dir: {store}\n}}\n",
            pid = quoted(&self.pid()),
            folder = quoted(&self.0),
            log = quoted(&self.log()),
            store = quoted(&self.0.join("jetstream")),
        )
    }
}

/// A path as a string of nats-server's configuration language, where a backslash escapes.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    // A folder name with a quote or a space must not change what the server is told, and the two configurations of
    // the project must not drift apart.
    use super::*;

    #[test]
    fn paths_stay_paths() {
        let text = Folder(PathBuf::from("/tmp/a \"b\" \\c")).render(0);
        assert!(text.contains("store_dir: \"/tmp/a \\\"b\\\" \\\\c/jetstream\"\n"), "{text}");
        assert!(text.contains("port: -1\n"), "{text}");
    }

    #[test]
    fn the_shipped_configuration_allows_the_same_payload() {
        let shipped = include_str!("../../../deploy/nats.conf");
        assert!(shipped.contains(&format!("\nmax_payload: {PAYLOAD_BYTES_MAX}\n")));
    }

    #[test]
    fn only_the_own_process_announces_a_port() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder(place.path().to_owned());
        std::fs::write(place.path().join("nats-server_7.ports"), r#"{"nats":["nats://127.0.0.1:4333"]}"#).unwrap();
        assert_eq!(folder.announced_port(7), Some(4333));
        assert_eq!(folder.announced_port(77), None);
        folder.clear_ports().unwrap();
        assert_eq!(folder.announced_port(7), None);
    }
}
