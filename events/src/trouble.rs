//! What is said of a disk that does not do what it is asked, in words for whoever has to do something about it.

use std::io::{Error, ErrorKind};

/// One sentence that names the disk and what is the matter with it.
pub(crate) fn told(disk: &str, error: &Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            format!("{disk} is full: {error}")
        }
        ErrorKind::ReadOnlyFilesystem => format!("{disk} is read-only: {error}"),
        _ => format!("{disk} failed: {error}"),
    }
}
