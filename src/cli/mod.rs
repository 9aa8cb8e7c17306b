//! The command line: one command a file, each a client of the API like any other.
//!
//! A command works on a data folder in this process or, with `--nats`, through a server; it cannot tell which, since both
//! take the same requests (`backend`). No rule of memlog's lives here, and nothing here prints but `screen`.
//!
//! To add a command: a file with the name of the command that holds its `Args` and `run`, a variant of [`Command`] with one
//! line of help, and its arm in `run_in` (or in `run`, when it opens what it needs itself).

mod agent;
mod backend;
mod backup;
mod bench;
mod config;
mod demo;
mod doctor;
mod erasures;
mod eval;
mod fail;
mod filter;
mod forget;
mod history;
mod ingest;
mod input;
mod jobs;
mod log;
mod memories;
mod note;
mod notebook;
#[cfg(feature = "otlp")]
mod otlp;
mod page;
mod profiles;
mod rebuild;
mod recall;
mod remember;
mod screen;
mod search;
mod serve;
mod settings;
mod show;
mod speaker;
mod summary;
mod supersede;
mod tables;
mod tell;
mod thread;
mod verify;
mod words;
mod worker;

#[cfg(test)]
mod tests;

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, parser::ValueSource};

use backend::{Backend, Folder, Model};
use fail::Fail;
pub use input::{Format, messages};
use memlog_actors::api::{Context, Verb};
use screen::Screen;
use settings::{Globals, Settings};

/// What the exit codes say; the last words of `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  the request was refused or failed
  2  the command line, the configuration or an input file is wrong; nothing was stored
  3  verify: the log does not hold, or is not the one that was expected

Errors go to stderr; with --json as the API's error body, one line.
Settings: flags, then MEMLOG_* variables, then the configuration file (TOML).";

/// A memory server for AI agents: it remembers, answers with its sources, forgets for real, and can prove all three.
#[derive(Debug, Parser)]
#[command(name = "memlog", version, after_help = EXIT_CODES, max_term_width = 110)]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API over NATS
    Serve(serve::Args),
    /// Take extraction jobs from a server's queue; any number, on any host
    Worker(worker::Args),
    /// Play a conversation and watch what becomes of it: memories, answers, a proof of forgetting
    Demo(demo::Args),
    /// Read conversations from a file: JSON Lines of messages, or LoCoMo's JSON
    Ingest(ingest::Args),
    /// Store one memory
    Remember(remember::Args),
    /// Ask a question; answers with the sources
    Recall(recall::Args),
    /// Find memories and messages
    Search(search::Args),
    /// List memories, newest first
    Memories(memories::Args),
    /// Show one memory with all its fields
    Show(show::Args),
    /// Replace a memory by a newer statement
    Supersede(supersede::Args),
    /// Forget memories, a session or a whole profile, on disk and in the past, too
    Forget(forget::Args),
    /// List what happened to a memory
    History(history::Args),
    /// Summarise a profile or a session
    Summary(summary::Args),
    /// Add, list or remove speakers, or list what one of them said
    Speaker(speaker::Args),
    /// Write, read, find and share entries of named notebooks; the trash
    Notebook(notebook::Args),
    /// Notes that every session of a login must know: save, list, load, edit
    Note(note::Args),
    /// Agents, the notebooks that they read and write, and what they are shown
    Agent(agent::Args),
    /// Create, list, show, extend, search or delete threads; print their context cards and summaries
    Thread(thread::Args),
    /// List profiles
    Profiles(profiles::Args),
    /// Watch, list, look at, retry or wait for extraction jobs
    Jobs(jobs::Args),
    /// List the newest events of the log, without content; --from goes through it from a position on
    Log(log::Args),
    /// Check every chain, hash and key of the log
    Verify(verify::Args),
    /// Drop and rebuild every view from the log, without the model
    Rebuild(rebuild::Args),
    /// Copy the data folder, also while a server runs on it
    Backup(backup::Args),
    /// List what was forgotten since a backup, or forget it again in a restored one
    Erasures(erasures::Args),
    /// Check the installation and show the settings
    Doctor(doctor::Args),
    /// Measure recall on a data set, and compare runs
    Eval(eval::Args),
    /// Measure speed and size, each figure beside what the machine allows
    Bench(bench::Args),
}

/// How a command that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    /// The command worked, and what it looked at is not well.
    Unwell(u8),
}

/// All that a command works with.
struct Shell {
    backend: Backend,
    context: Context,
    settings: Settings,
    screen: Screen,
}

impl Shell {
    async fn call<V: Verb>(&self, request: V) -> Result<V::Reply, Fail> {
        self.backend.call(&self.context, request).await
    }

    /// The profile that the command is about.
    fn profile(&self) -> String {
        self.settings.profile()
    }
}

impl Cli {
    /// Reads a command line. The error is clap's: it knows how to print itself, help and version included.
    pub fn parse_from(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        let matches = command.try_get_matches_from_mut(words)?;
        let mut cli = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        let by_flag = |name| matches.value_source(name) == Some(ValueSource::CommandLine);
        cli.globals.data_by_flag = by_flag("data");
        cli.globals.nats_by_flag = by_flag("nats");
        Ok(cli)
    }

    /// Prints why a command line was not understood; the help and the version count as that, too.
    pub fn refuse(usage: &clap::Error, words: impl IntoIterator<Item = OsString>) -> ExitCode {
        let for_machines = usage.use_stderr() && words.into_iter().any(|word| word == "--json");
        if for_machines {
            let reason = usage.to_string();
            let reason = reason.split("\n\n").next().unwrap_or(&reason).trim_start_matches("error: ");
            let screen = Screen::new(true, screen::Color::Auto);
            screen.fail(&Fail::Usage(reason.to_owned()));
        } else if usage.print().is_err() {
            return ExitCode::FAILURE;
        }
        ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
    }

    /// Does what the command line says.
    pub async fn run(self) -> ExitCode {
        let screen = Screen::new(self.globals.json, self.globals.color);
        let outcome = match Settings::new(self.globals) {
            Ok(settings) => self.command.run(settings, screen).await,
            Err(fail) => Err(fail),
        };
        match outcome {
            Ok(Outcome::Done) => ExitCode::SUCCESS,
            Ok(Outcome::Unwell(code)) => ExitCode::from(code),
            Err(fail) => {
                screen.fail(&fail);
                ExitCode::from(fail.exit_code())
            }
        }
    }
}

impl Command {
    async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        // These open what they need themselves: a temporary folder, a server, or whatever is there to be examined.
        let command = match self {
            Self::Serve(args) => return args.run(settings, screen).await,
            Self::Worker(args) => return args.run(settings, screen).await,
            Self::Demo(args) => return args.run(settings, screen).await,
            Self::Backup(args) => return args.run(settings, screen).await,
            Self::Erasures(args) => return args.run(settings, screen).await,
            Self::Verify(args) => return args.run(settings, screen).await,
            Self::Doctor(args) => return args.run(settings, screen).await,
            Self::Eval(args) => return args.run(settings, screen).await,
            Self::Bench(args) => return args.run(settings, screen).await,
            other => other,
        };
        let backend = Backend::open(&settings, &screen, command.model(), command.folder()).await?;
        let shell = Shell { backend, context: settings.context(), settings, screen };
        let outcome = command.run_in(&shell).await;
        shell.backend.close().await;
        outcome
    }

    /// Reading what is stored, by id or in order, needs no model, and loading one takes longer than that.
    fn model(&self) -> Model {
        match self {
            Self::Memories(_) | Self::Show(_) | Self::History(_) | Self::Summary(_) | Self::Speaker(_) => Model::Unused,
            Self::Thread(args) if !args.searches() => Model::Unused,
            Self::Profiles(_) | Self::Log(_) | Self::Forget(_) => Model::Unused,
            Self::Notebook(_) | Self::Agent(_) | Self::Note(_) => Model::Unused,
            _ => Model::Used,
        }
    }

    /// Only what writes something new may begin a data folder.
    fn folder(&self) -> Folder {
        match self {
            Self::Ingest(_) | Self::Remember(_) => Folder::Made,
            Self::Speaker(args) if args.adds() => Folder::Made,
            Self::Notebook(args) if args.begins() => Folder::Made,
            Self::Agent(args) if args.begins() => Folder::Made,
            Self::Thread(args) if args.creates() => Folder::Made,
            Self::Note(args) if args.begins() => Folder::Made,
            _ => Folder::Needed,
        }
    }

    async fn run_in(self, shell: &Shell) -> Result<Outcome, Fail> {
        match self {
            Self::Ingest(args) => args.run(shell).await,
            Self::Remember(args) => args.run(shell).await,
            Self::Recall(args) => args.run(shell).await,
            Self::Search(args) => args.run(shell).await,
            Self::Memories(args) => args.run(shell).await,
            Self::Show(args) => args.run(shell).await,
            Self::Supersede(args) => args.run(shell).await,
            Self::Forget(args) => args.run(shell).await,
            Self::History(args) => args.run(shell).await,
            Self::Summary(args) => args.run(shell).await,
            Self::Speaker(args) => args.run(shell).await,
            Self::Notebook(args) => args.run(shell).await,
            Self::Agent(args) => args.run(shell).await,
            Self::Thread(args) => args.run(shell).await,
            Self::Note(args) => args.run(shell).await,
            Self::Profiles(args) => args.run(shell).await,
            Self::Jobs(args) => args.run(shell).await,
            Self::Log(args) => args.run(shell).await,
            Self::Rebuild(args) => args.run(shell).await,
            Self::Serve(_)
            | Self::Worker(_)
            | Self::Demo(_)
            | Self::Doctor(_)
            | Self::Eval(_)
            | Self::Bench(_)
            | Self::Backup(_)
            | Self::Erasures(_)
            | Self::Verify(_) => {
                unreachable!("these were run before a backend was opened")
            }
        }
    }
}
