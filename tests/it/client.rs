//! The proof that the wire is enough: a client in another language, with `nats-py` and the documented API alone.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use memlog_actors::limits::Limits;
use tokio::process::Command;

use crate::support::{Nats, served::Memlog};

/// Set to `required` by `deploy/test` when it has `nats-py`, so that the test can then not be skipped unseen.
const PYTHON_CLIENT_VARIABLE: &str = "MEMLOG_TEST_PYTHON";

/// `MEMLOG_PYTHON`, else the one in the search path.
fn python() -> PathBuf {
    std::env::var_os("MEMLOG_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from)
}

async fn has_nats_py(python: &Path) -> bool {
    let import = Command::new(python).args(["-c", "import nats"]).stderr(Stdio::null()).status().await;
    import.is_ok_and(|status| status.success())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_python_client_needs_only_nats_py_and_the_documentation() {
    let Some(nats) = Nats::start().await else { return };
    let python = python();
    if !has_nats_py(&python).await {
        let required = std::env::var(PYTHON_CLIENT_VARIABLE).is_ok_and(|value| value == "required");
        assert!(!required, "{PYTHON_CLIENT_VARIABLE} says that {} has nats-py", python.display());
        eprintln!("SKIPPED, nothing was tested: {} cannot import nats; pip install nats-py", python.display());
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), nats.url(), Limits::default()).await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/client.py");
    let output = Command::new(python).arg(script).arg(nats.url()).output().await.expect("the script runs");
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    memlog.close().await;
}
