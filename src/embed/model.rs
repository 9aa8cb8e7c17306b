//! Finds a model's files and makes sure that they are the pinned ones. Nothing is fetched here; `deploy/fetch-model` does that.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use super::known::{ALL, Form, Known, MINILM, PACKED, WEIGHTS};

/// Remembers which files were found good. Hashing 91 MB takes 0.2 s, too much for every run of a command line.
const STAMP: &str = "verified";

/// Why there is no usable model.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is not there.
    #[error("the embedding model is missing: no {} (expected sha256 {expected}). Get it with: {command}", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// Its sha256.
        expected: &'static str,
        /// What to run.
        command: String,
    },
    /// A file is not the pinned one.
    #[error("the embedding model is damaged: {} has sha256 {found}, expected {expected}. Get it again with: {command}", file.display())]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// What it has.
        found: String,
        /// What it should have.
        expected: &'static str,
        /// What to run.
        command: String,
    },
    /// A file is there and cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Nothing says where to look.
    #[error("cannot tell where the embedding model is: set MEMLOG_MODEL_DIR, MEMLOG_CACHE or HOME")]
    Nowhere,
}

/// A folder whose files have been checked.
#[derive(Clone, Debug)]
pub struct ModelFolder {
    path: PathBuf,
    known: &'static Known,
    /// sha256 of each file, in hexadecimal.
    hashes: Vec<String>,
}

impl ModelFolder {
    /// The pinned model that `wanted` names (`minilm`, `multilingual`, or a folder), else the one in `MEMLOG_MODEL_DIR`, else
    /// the default. A model by name is in `MEMLOG_MODEL_DIR`, else under `models` in `MEMLOG_CACHE`, `$XDG_CACHE_HOME/memlog`
    /// or `~/.cache/memlog`.
    pub fn find(wanted: Option<&Path>) -> Result<ModelFolder, Error> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let (known, path) = chosen(wanted, variable)?;
        let command = match standard_folder(known, variable) {
            Some(standard) if standard == path => known.fetch.to_owned(),
            _ => format!("MEMLOG_MODEL_DIR='{}' {}", path.display(), known.fetch),
        };
        check_pinned(known, &path, &command)?;
        Ok(ModelFolder { path, known, hashes: known.pinned.iter().map(|(_, hash)| (*hash).to_owned()).collect() })
    }

    /// Any model of the same architecture, its files taken as they are: for tests, and for a model trained further.
    pub fn unpinned(path: &Path) -> Result<ModelFolder, Error> {
        let known = held(path);
        let hash =
            |name| sha256(&path.join(name)).map_err(|source| Error::Unreadable { file: path.join(name), source });
        let hashes = known.pinned.iter().map(|(name, _)| hash(name)).collect::<Result<_, _>>()?;
        Ok(ModelFolder { path: path.to_path_buf(), known, hashes })
    }

    /// Where the files are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which model it is.
    pub(super) fn known(&self) -> &'static Known {
        self.known
    }

    /// Changes with every file and with `encoder_version`.
    pub(super) fn fingerprint(&self, encoder_version: u32) -> u32 {
        let mut hasher = Sha256::new();
        for hash in &self.hashes {
            hasher.update(hash.as_bytes());
        }
        hasher.update(encoder_version.to_le_bytes());
        let digest = hasher.finalize();
        u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]])
    }
}

/// Which model is meant, and where it should be.
fn chosen(
    wanted: Option<&Path>,
    variable: impl Fn(&str) -> Option<PathBuf> + Copy,
) -> Result<(&'static Known, PathBuf), Error> {
    let folder = |path: &PathBuf| named(path).is_none();
    let known = wanted.and_then(named);
    let path = wanted.map(Path::to_path_buf).filter(folder);
    // Both are one setting, so the variable may hold a name as well.
    let path = path.or_else(|| variable("MEMLOG_MODEL_DIR").filter(folder));
    let known = known.or_else(|| path.as_deref().map(held)).unwrap_or(&MINILM);
    let path = path.or_else(|| standard_folder(known, variable)).ok_or(Error::Nowhere)?;
    Ok((known, path))
}

/// The model that goes by a name.
fn named(name: &Path) -> Option<&'static Known> {
    ALL.into_iter().find(|known| name.as_os_str() == known.name || name.as_os_str() == known.alias)
}

/// The model whose files a folder holds; the default, if it holds none, so that an error names that.
fn held(folder: &Path) -> &'static Known {
    let packed = ALL.into_iter().find(|known| known.form == Form::Packed && folder.join(PACKED).is_file());
    packed.filter(|_| !folder.join(WEIGHTS).is_file()).unwrap_or(&MINILM)
}

/// Where `deploy/fetch-model` puts a model when nothing else is said.
fn standard_folder(known: &Known, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let cache = variable("MEMLOG_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|cache| cache.join("memlog")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache/memlog")));
    cache.map(|cache| cache.join("models").join(known.name))
}

fn check_pinned(known: &Known, folder: &Path, command: &str) -> Result<(), Error> {
    let mut stamp = String::new();
    for &(name, expected) in known.pinned {
        let file = folder.join(name);
        match state(&file) {
            Ok(state) => stamp += &format!("{name} {state} {expected}\n"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Missing { file, expected, command: command.to_owned() });
            }
            Err(source) => return Err(Error::Unreadable { file, source }),
        }
    }
    let stamp_file = folder.join(STAMP);
    if fs::read_to_string(&stamp_file).is_ok_and(|known| known == stamp) {
        return Ok(());
    }
    for &(name, expected) in known.pinned {
        let file = folder.join(name);
        let found = sha256(&file).map_err(|source| Error::Unreadable { file: file.clone(), source })?;
        if found != expected {
            return Err(Error::Corrupt { file, found, expected, command: command.to_owned() });
        }
    }
    // A folder that cannot be written to, or a stamp torn by a crash, only means that the files are hashed again.
    if let Err(error) = fs::write(&stamp_file, stamp) {
        tracing::debug!(%error, "the check of the model cannot be remembered");
    }
    Ok(())
}

/// Size and time of change, as the stamp keeps them.
fn state(file: &Path) -> io::Result<String> {
    let metadata = fs::metadata(file)?;
    let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} {}", metadata.len(), changed.as_nanos()))
}

/// The sha256 of a file, in hexadecimal.
fn sha256(file: &Path) -> io::Result<String> {
    let mut file = File::open(file)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    //! A person who has no model, or half of one, must learn from the message alone which file is wrong and what to run.
    use super::super::known::TOKENIZER;
    use super::*;

    #[test]
    fn a_missing_file_is_named_with_its_hash_and_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let error = ModelFolder::find(Some(folder.path())).unwrap_err().to_string();
        let dir = folder.path().display();
        assert_eq!(
            error,
            format!(
                "the embedding model is missing: no {dir}/model.safetensors (expected sha256 {}). \
                 Get it with: MEMLOG_MODEL_DIR='{dir}' deploy/fetch-model",
                MINILM.pinned[0].1
            )
        );
    }

    #[test]
    fn a_damaged_file_is_named_with_both_hashes() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(WEIGHTS), "half a model").unwrap();
        fs::write(folder.path().join(TOKENIZER), "{}").unwrap();
        let error = check_pinned(&MINILM, folder.path(), "deploy/fetch-model").unwrap_err().to_string();
        let found = sha256(&folder.path().join(WEIGHTS)).unwrap();
        let expected = MINILM.pinned[0].1;
        assert!(error.contains(&format!("model.safetensors has sha256 {found}, expected {expected}")), "{error}");
        assert!(error.ends_with("Get it again with: deploy/fetch-model"), "{error}");
        assert!(!folder.path().join(STAMP).exists(), "a bad model must not be remembered as good");
    }

    #[test]
    fn a_stamp_of_another_state_of_the_files_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let mut stamp = String::new();
        for (name, expected) in MINILM.pinned {
            let file = folder.path().join(name);
            fs::write(&file, "pretends to be good").unwrap();
            stamp += &format!("{name} {} {expected}\n", state(&file).unwrap());
        }
        fs::write(folder.path().join(STAMP), stamp).unwrap();
        check_pinned(&MINILM, folder.path(), "").expect("the stamp saves the hashing");
        fs::write(folder.path().join(TOKENIZER), "was changed since").unwrap();
        check_pinned(&MINILM, folder.path(), "").unwrap_err();
    }

    #[test]
    fn the_standard_folder_follows_the_variables_in_order() {
        let with = |set: &[(&str, &str)]| {
            let set: Vec<(String, String)> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            standard_folder(&MINILM, move |name| {
                set.iter().find(|(key, _)| key == name).map(|(_, value)| PathBuf::from(value))
            })
        };
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("HOME", "/h")]), Some(PathBuf::from("/h/.cache/memlog/models/all-MiniLM-L6-v2")));
        assert_eq!(
            with(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]),
            Some(PathBuf::from("/x/memlog/models/all-MiniLM-L6-v2"))
        );
        assert_eq!(
            with(&[("XDG_CACHE_HOME", "/x"), ("MEMLOG_CACHE", "/m")]),
            Some(PathBuf::from("/m/models/all-MiniLM-L6-v2"))
        );
    }

    // Whoever asks for a model by name must never be given another, wherever the variables point.
    #[test]
    fn a_name_or_a_folder_chooses_the_model() {
        let with = |wanted: Option<&str>, folder: Option<&Path>| {
            let folder = folder.map(Path::to_path_buf);
            let variable = |name: &str| match name {
                "MEMLOG_MODEL_DIR" => folder.clone(),
                "MEMLOG_CACHE" => Some(PathBuf::from("/c")),
                _ => None,
            };
            let (known, path) = chosen(wanted.map(Path::new), variable).unwrap();
            (known.name, path)
        };
        let cached = |name: &str| Path::new("/c/models").join(name);
        assert_eq!(with(None, None), ("all-MiniLM-L6-v2", cached("all-MiniLM-L6-v2")));
        for name in ["multilingual", "multilingual-e5-small"] {
            assert_eq!(with(Some(name), None), ("multilingual-e5-small", cached("multilingual-e5-small")));
        }
        let name = Path::new("multilingual");
        assert_eq!(with(Some("multilingual"), Some(name)), ("multilingual-e5-small", cached("multilingual-e5-small")));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_path_buf();
        let text = path.to_str();
        assert_eq!(with(text, None), ("all-MiniLM-L6-v2", path.clone()));
        assert_eq!(with(Some("multilingual"), Some(&path)), ("multilingual-e5-small", path.clone()));
        fs::write(path.join(PACKED), "any").unwrap();
        assert_eq!(with(text, None), ("multilingual-e5-small", path.clone()));
        assert_eq!(with(None, Some(&path)), ("multilingual-e5-small", path.clone()));
        assert_eq!(with(Some("minilm"), Some(&path)), ("all-MiniLM-L6-v2", path.clone()));
    }

    #[test]
    fn sha256_is_the_standard_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("abc");
        fs::write(&file, "abc").unwrap();
        assert_eq!(sha256(&file).unwrap(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
