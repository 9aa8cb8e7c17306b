//! The `memlog` command. All it does is in the library's `cli`; here are the runtime and the exit code.

use std::process::ExitCode;

use anyhow::Context as _;
use memlog::cli::Cli;

fn main() -> anyhow::Result<ExitCode> {
    let cli = match Cli::parse_from(std::env::args_os()) {
        Ok(cli) => cli,
        Err(usage) => return Ok(Cli::refuse(&usage, std::env::args_os())),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the threads that memlog runs on: is the limit of processes (ulimit -u) reached?")?;
    let ended = runtime.block_on(cli.run());
    // All that was accepted is stored by now; a call of a language model that is still under way is not waited for.
    runtime.shutdown_background();
    Ok(ended)
}
