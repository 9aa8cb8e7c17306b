//! Finding a nats-server that is new enough. Looks and asks for a version; starts nothing that stays.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::Error;

/// Older servers ignore in silence what they do not know (per-key TTL, atomic batches, multi-filter consumers), so
/// they would pass a start and fail in use.
pub const VERSION_MIN: Version = Version { major: 2, minor: 12, patch: 0 };

/// The environment variable that names the binary.
pub const BINARY_VARIABLE: &str = "MEMLOG_NATS_SERVER";

const BINARY_NAME: &str = "nats-server";

/// A released version of nats-server; a pre-release counts as the release that it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Counted up when clients break.
    pub major: u64,
    /// Counted up with features.
    pub minor: u64,
    /// Counted up with repairs.
    pub patch: u64,
}

impl Version {
    /// Reads the output of `nats-server --version`, which is `nats-server: v2.15.1`.
    pub fn parse(output: &str) -> Option<Self> {
        let number = output.trim().rsplit_once('v')?.1;
        let release = number.split(['-', '+']).next()?;
        let mut parts = release.split('.').map(|part| part.parse().ok());
        let version = Self { major: parts.next()??, minor: parts.next()??, patch: parts.next()?? };
        parts.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The binary to run: the one that was named, else the first that is new enough on `PATH` or in memlog's cache folder.
/// A named binary is taken or refused, never replaced by another one.
pub async fn find(named: Option<&Path>) -> Result<PathBuf, Error> {
    if let Some(path) = named {
        return accept(path.to_owned(), "--nats-server").await;
    }
    if let Some(path) = std::env::var_os(BINARY_VARIABLE).filter(|value| !value.is_empty()) {
        return accept(path.into(), BINARY_VARIABLE).await;
    }
    let mut refused = None;
    for path in candidates(std::env::var_os("PATH").as_deref(), cached()) {
        match check(&path).await {
            Ok(()) => return Ok(path),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or(Error::NotFound))
}

/// Where `deploy/fetch-nats-server` installs: `$MEMLOG_CACHE/bin`, else `memlog/bin` in the user's cache folder.
pub fn cached() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("MEMLOG_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("memlog")))
        .or_else(|| set("HOME").map(|folder| folder.join(".cache/memlog")))?;
    Some(cache.join("bin").join(BINARY_NAME))
}

fn candidates(path: Option<&OsStr>, cached: Option<PathBuf>) -> impl Iterator<Item = PathBuf> {
    let folders: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    folders.into_iter().map(|folder| folder.join(BINARY_NAME)).chain(cached).filter(|path| path.is_file())
}

async fn accept(path: PathBuf, named_by: &'static str) -> Result<PathBuf, Error> {
    if !path.is_file() {
        return Err(Error::NamedMissing { path, named_by });
    }
    check(&path).await?;
    Ok(path)
}

async fn check(path: &Path) -> Result<(), Error> {
    let failed = |source| Error::Run { path: path.to_owned(), source };
    let output =
        tokio::process::Command::new(path).arg("--version").stdin(Stdio::null()).output().await.map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout);
    match Version::parse(&text) {
        Some(found) if found >= VERSION_MIN => Ok(()),
        Some(found) => Err(Error::TooOld { path: path.to_owned(), found }),
        None => Err(Error::NotNats { path: path.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    // A too old server passes its start and fails later in ways that look like memlog's own faults, so the version
    // gate must read every form that releases print.
    use super::*;

    fn version(major: u64, minor: u64, patch: u64) -> Version {
        Version { major, minor, patch }
    }

    #[test]
    fn versions_are_read_as_releases_print_them() {
        assert_eq!(Version::parse("nats-server: v2.15.1\n"), Some(version(2, 15, 1)));
        assert_eq!(Version::parse("nats-server: v2.12.0-RC.3"), Some(version(2, 12, 0)));
        assert_eq!(Version::parse("nats-server: v2.12.3+build"), Some(version(2, 12, 3)));
        for other in ["", "nats-server", "v", "nats-server: v2.12", "v2.x.1", "v1.2.3.4"] {
            assert_eq!(Version::parse(other), None, "{other}");
        }
    }

    #[test]
    fn versions_compare_by_number_not_by_text() {
        assert!(version(2, 9, 10) < VERSION_MIN);
        assert!(version(2, 12, 0) >= VERSION_MIN);
        assert!(version(3, 0, 0) >= VERSION_MIN);
    }

    #[test]
    fn the_path_is_searched_in_order_and_the_cache_last() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let folder = folder.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join(BINARY_NAME), "").unwrap();
            folder
        };
        let (first, second, cache) = (place("first"), place("second"), place("cache"));
        let path = std::env::join_paths([&first, &folder.path().join("absent"), &second]).unwrap();
        let found: Vec<_> = candidates(Some(&path), Some(cache.join(BINARY_NAME))).collect();
        assert_eq!(found, [first, second, cache].map(|folder| folder.join(BINARY_NAME)));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_named_binary_is_refused_with_the_reason() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old");
        std::fs::write(&path, "#!/bin/sh\necho 'nats-server: v2.9.10'\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let error = find(Some(&path)).await.unwrap_err();
        assert!(matches!(error, Error::TooOld { found, .. } if found == version(2, 9, 10)), "{error}");
        let error = find(Some(&folder.path().join("absent"))).await.unwrap_err();
        assert!(matches!(error, Error::NamedMissing { .. }), "{error}");
    }
}
