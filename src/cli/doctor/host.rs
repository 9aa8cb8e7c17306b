//! The folder and the machine under it: may it be written, who else may read it, what file system, how much room.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::Check;

/// Below this a busy log can fill the disk before anybody looks.
const FREE_BYTES_MIN: u64 = 1 << 30;
/// File systems that write a changed block elsewhere and may keep the old one.
const COPY_ON_WRITE: [&str; 7] = ["btrfs", "zfs", "overlay", "bcachefs", "apfs", "aufs", "nilfs2"];
/// Their locks and syncs are not what a log can rest on.
const REMOTE: [&str; 6] = ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"];

/// All that can be said about a folder.
pub(super) fn folder(about: &'static str, path: &Path) -> Vec<Check> {
    let Some(there) = path.ancestors().find(|ancestor| ancestor.exists()) else {
        return vec![Check::fail(about, format!("{} cannot be reached", path.display()), "name another with --data")];
    };
    let mut checks = Vec::new();
    if there == path {
        checks.push(writable(about, path));
        checks.extend(private(path));
    } else {
        checks.push(Check::ok(about, format!("{}, not there yet; the first write makes it", path.display())));
    }
    checks.push(file_system(there));
    checks.push(room(there));
    checks
}

/// Tries it: permissions, read-only mounts and quotas cannot be told from the mode.
fn writable(about: &'static str, path: &Path) -> Check {
    let probe = path.join(".doctor");
    match fs::File::create_new(&probe).and_then(|_| fs::remove_file(&probe)) {
        Ok(()) => Check::ok(about, format!("{}, writable", path.display())),
        Err(error) => Check::fail(
            about,
            format!("{} cannot be written: {error}", path.display()),
            "run as its owner, or name another with --data",
        ),
    }
}

#[cfg(unix)]
fn private(path: &Path) -> Option<Check> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path).ok()?.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        Check::warn(
            "permissions",
            format!("others on this machine may open {} (mode {:o})", path.display(), mode & 0o777),
            format!("chmod 700 '{}'", path.display()),
        )
    })
}

#[cfg(not(unix))]
fn private(_: &Path) -> Option<Check> {
    None
}

fn file_system(path: &Path) -> Check {
    judge(file_system_of(path).as_deref())
}

/// The kind of file system that a folder lies on, where that can be told.
pub(in crate::cli) fn file_system_of(path: &Path) -> Option<String> {
    let full = path.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    kind_at(&mounts, &full)
}

fn judge(kind: Option<&str>) -> Check {
    match kind {
        None => Check::warn(
            "file system",
            "cannot tell which",
            "on a copy-on-write one (btrfs, zfs, apfs) an overwritten key may survive in an old block",
        ),
        Some(kind) if COPY_ON_WRITE.contains(&kind) => Check::warn(
            "file system",
            format!("{kind} writes changed blocks elsewhere: an overwritten key may survive in an old one"),
            "put the vault on ext4 or xfs with --vault DIR",
        ),
        Some(kind) if REMOTE.contains(&kind) => Check::fail(
            "file system",
            format!("{kind} is a network's: its locks and syncs are not safe"),
            "use a local disk",
        ),
        Some(kind @ ("tmpfs" | "ramfs")) => Check::warn(
            "file system",
            format!("{kind} is memory: a restart empties it"),
            "use a disk for what is to last",
        ),
        Some(kind) => Check::ok("file system", kind),
    }
}

/// The kind of the mount that holds `path`, from the text of `/proc/self/mountinfo`.
fn kind_at(mounts: &str, path: &Path) -> Option<String> {
    let mount = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let point = PathBuf::from(before.split(' ').nth(4)?.replace("\\040", " "));
        path.starts_with(&point).then(|| (point.components().count(), after.split(' ').next().map(str::to_owned)))
    };
    // Of several on the same point the last one covers the others; `max_by_key` takes the last of equals.
    mounts.lines().filter_map(mount).max_by_key(|(depth, _)| *depth)?.1
}

fn room(path: &Path) -> Check {
    // `df` is everywhere where memlog runs, and asking the system itself would take unsafe code.
    let output = Command::new("df").arg("-Pk").arg(path).output().ok();
    let free = output.and_then(|output| free_bytes(&String::from_utf8_lossy(&output.stdout)));
    match free {
        None => Check::warn("disk space", "cannot tell", "see to it that there is room"),
        Some(free) if free < FREE_BYTES_MIN => Check::warn(
            "disk space",
            format!("{} MB free", free >> 20),
            "make room: past the end nothing more is stored",
        ),
        Some(free) => Check::ok("disk space", format!("{:.1} GB free", free as f64 / f64::from(1 << 30))),
    }
}

/// The fourth column of `df -Pk`, in bytes.
fn free_bytes(output: &str) -> Option<u64> {
    let kilobytes: u64 = output.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::{super::Level, *};

    const MOUNTS: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:30 / /srv rw - btrfs /dev/sdb rw
41 22 0:31 / /srv/my\\040disk rw shared:2 master:1 - xfs /dev/sdc rw
42 40 0:32 / /srv/net rw - nfs4 host:/x rw";

    // Erasure rests on the file system; the warning must be about the one that holds the folder and not about its parent's.
    #[test]
    fn the_nearest_mount_decides() {
        let kind = |path: &str| kind_at(MOUNTS, Path::new(path)).unwrap();
        assert_eq!(
            [kind("/home/x"), kind("/srv/x"), kind("/srv/my disk/x"), kind("/srvx")],
            ["ext4", "btrfs", "xfs", "ext4"]
        );
        let level = |path: &str| judge(kind_at(MOUNTS, Path::new(path)).as_deref()).level;
        assert_eq!([level("/home"), level("/srv"), level("/srv/net")], [Level::Ok, Level::Warn, Level::Fail]);
        assert_eq!(judge(None).level, Level::Warn);
    }

    #[test]
    fn free_space_is_read_from_df() {
        let output = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/sda1 100 40 60 40% /\n";
        assert_eq!(free_bytes(output), Some(60 * 1024));
        assert_eq!(free_bytes("df: no such file\n"), None);
    }

    #[test]
    fn a_folder_that_is_not_there_yet_is_judged_by_where_it_will_be() {
        let folder = tempfile::tempdir().unwrap();
        let checks = super::folder("data folder", &folder.path().join("a/b"));
        assert_eq!(checks[0].level, Level::Ok);
        assert!(checks[0].finding.contains("not there yet"));
    }
}
