//! A text in the user's own editor: `$VISUAL`, else `$EDITOR`.

use std::{
    ffi::OsString,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use crate::cli::fail::Fail;

/// The text as it was when the editor was closed. It lies in a file that only its owner may read, and that goes with the editor.
pub(in crate::cli) fn edited(text: &str) -> Result<String, Fail> {
    let editor = ["VISUAL", "EDITOR"].iter().find_map(std::env::var_os).filter(|editor| !editor.is_empty());
    let editor = editor.ok_or_else(|| {
        Fail::Usage("give a file, or - to read from stdin, or set EDITOR to write in an editor".to_owned())
    })?;
    let mut file = tempfile::Builder::new()
        .prefix("memlog-")
        .suffix(".md")
        .tempfile()
        .map_err(Fail::file(std::env::temp_dir()))?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(Fail::file(file.path()))?;
    run(&editor, file.path())?;
    // Editors put another file in its place, so it is opened by its name again.
    std::fs::read_to_string(file.path()).map_err(Fail::file(file.path()))
}

/// As git does it: the editor may come with words of its own, such as `code --wait`.
fn run(editor: &OsString, path: &Path) -> Result<(), Fail> {
    let mut script = editor.clone();
    script.push(" \"$@\"");
    let status = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(editor)
        .arg(path)
        .stdin(Stdio::inherit())
        .status()
        .map_err(Fail::file("sh"))?;
    match status.success() {
        true => Ok(()),
        false => Err(Fail::Usage(format!("the editor ended with {status}; nothing was stored"))),
    }
}
