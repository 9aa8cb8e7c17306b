//! The child's life: start, wait until it accepts, start again when it dies, end. Every wait has a bound.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::sync::{oneshot, watch};

use super::config::Folder;
use super::{Error, RESTART_PAUSE_MAX, RESTART_PAUSE_MIN, START_MAX, STEADY_MIN, STOP_MAX, Status};

/// How often a condition outside this process is looked at while it is awaited.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// All that a start needs, kept for the next one.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) binary: PathBuf,
    pub(super) folder: Folder,
    /// 0 until the server has chosen one.
    pub(super) port: u16,
    /// Released when the supervisor ends, after the child.
    pub(super) _lock: File,
}

impl Launch {
    /// Starts the server and waits until it accepts connections. A chosen port is kept, so that clients find the next
    /// server where the last one was.
    pub(super) async fn start(&mut self) -> Result<Child, Error> {
        let mut child = self.spawn()?;
        let deadline = Instant::now() + START_MAX;
        loop {
            if let Some(status) = child.try_wait().map_err(|source| self.cannot_run(source))? {
                let said = self.last_words();
                // The server's words for it are the system's, which every platform spells so.
                let taken = self.port != 0 && said.contains("address already in use");
                return Err(if taken { Error::PortTaken { port: self.port } } else { Error::Ended { status, said } });
            }
            let announced = child.id().and_then(|pid| self.folder.announced_port(pid));
            if let Some(port) = announced
                && tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok()
            {
                self.port = port;
                return Ok(child);
            }
            if Instant::now() > deadline {
                end(&mut child).await;
                return Err(Error::NotReady { log: self.folder.log() });
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn spawn(&self) -> Result<Child, Error> {
        let failed = |source| Error::Folder { path: self.folder.0.clone(), source };
        self.folder.write_config(self.port).map_err(failed)?;
        self.folder.clear_ports().map_err(failed)?;
        let said = File::create(self.folder.start_log()).map_err(failed)?;
        Command::new(&self.binary)
            .arg("--config")
            .arg(self.folder.config())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            // A process group of its own: Ctrl-C reaches memlog alone, which finishes its work before it ends the
            // server that the work goes through.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| self.cannot_run(source))
    }

    fn cannot_run(&self, source: io::Error) -> Error {
        Error::Run { path: self.binary.clone(), source }
    }

    /// The last line of what the server wrote, for an error that a person can act on.
    fn last_words(&self) -> String {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let texts = [read(self.folder.start_log()), read(self.folder.log())];
        let line = texts.iter().find_map(|text| text.lines().rfind(|line| !line.trim().is_empty()));
        line.unwrap_or("(nothing)").to_owned()
    }
}

/// Keeps a server running until it is told to stop, or its owner is dropped.
pub(super) async fn supervise(
    mut launch: Launch,
    mut child: Child,
    status: watch::Sender<Status>,
    mut stop: oneshot::Receiver<()>,
) {
    let mut pause = RESTART_PAUSE_MIN;
    loop {
        let started = Instant::now();
        tokio::select! {
            exit = child.wait() => {
                let exit = exit.map_or_else(|error| error.to_string(), |exit| exit.to_string());
                tracing::warn!(%exit, "nats-server died and is started again");
            }
            _ = &mut stop => return end(&mut child).await,
        }
        status.send_modify(|status| status.pid = None);
        if started.elapsed() >= STEADY_MIN {
            pause = RESTART_PAUSE_MIN;
        }
        child = tokio::select! {
            child = start_again(&mut launch, &mut pause) => child,
            // A half-started child is killed by its drop.
            _ = &mut stop => return,
        };
        status.send_modify(|status| *status = Status { pid: child.id(), restarts: status.restarts + 1 });
    }
}

async fn start_again(launch: &mut Launch, pause: &mut Duration) -> Child {
    loop {
        tokio::time::sleep(*pause).await;
        *pause = (*pause * 2).min(RESTART_PAUSE_MAX);
        match launch.start().await {
            Ok(child) => return child,
            Err(error) => tracing::error!(%error, "nats-server could not be started again"),
        }
    }
}

/// Asks a child to end, waits, and kills it when it does not.
async fn end(child: &mut Child) {
    if let Some(pid) = child.id().and_then(to_pid) {
        signal(pid, Signal::TERM);
    }
    if tokio::time::timeout(STOP_MAX, child.wait()).await.is_err() {
        tracing::warn!("nats-server did not end when asked and is killed");
        if let Err(error) = child.kill().await {
            tracing::error!(%error, "nats-server could not be killed");
        }
    }
}

/// Ends the server of a memlog that was killed. Its number stands in the pid file; since numbers are used again, the
/// process must also have been started with this folder's configuration.
pub(super) async fn end_left_over(folder: &Folder) {
    let text = std::fs::read_to_string(folder.pid()).unwrap_or_default();
    let Some(pid) = text.trim().parse().ok().and_then(to_pid) else { return };
    if !runs(pid, folder) {
        return;
    }
    tracing::info!(pid = pid.as_raw_pid(), "ending a nats-server that an earlier memlog left behind");
    for how in [Signal::TERM, Signal::KILL] {
        signal(pid, how);
        let deadline = Instant::now() + STOP_MAX;
        while Instant::now() < deadline {
            if !runs(pid, folder) {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

fn to_pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

fn signal(pid: Pid, how: Signal) {
    if let Err(error) = kill_process(pid, how) {
        tracing::debug!(pid = pid.as_raw_pid(), %error, "nats-server took no signal; it has ended");
    }
}

/// Whether this process is a server of this folder. A dead one that nobody has collected has no command line.
fn runs(pid: Pid, folder: &Folder) -> bool {
    let number = pid.as_raw_pid();
    let command = std::fs::read(format!("/proc/{number}/cmdline")).or_else(|_| {
        // Systems without /proc have ps.
        let ps = std::process::Command::new("ps").args(["-o", "command=", "-p", &number.to_string()]).output();
        ps.map(|output| output.stdout)
    });
    let command = command.unwrap_or_default();
    String::from_utf8_lossy(&command).contains(&*folder.config().to_string_lossy())
}
