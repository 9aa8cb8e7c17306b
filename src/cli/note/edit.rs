//! `memlog note edit`: the notes of a level in an editor, while nobody else changes any.

use std::{io::Write as _, time::Duration};

use memlog_actors::api::{
    error::Kind,
    note::{AdminList, AdminSave, EditorClose, EditorOpen, Level, MemoryLoad},
};

use super::{
    As,
    sheet::{self, Entry},
};
use crate::cli::{fail::Fail, notebook::editor, words};

/// What is edited.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// all, group or own
    #[arg(value_parser = words::name::<Level>)]
    level: Level,
    /// Of this group alone
    #[arg(long)]
    group: Option<String>,
    /// This login's own alone
    #[arg(long)]
    login: Option<String>,
}

/// How often the hold is renewed: it lasts a minute, so two may be lost.
const RENEW_EVERY: Duration = Duration::from_secs(20);
/// Notes loaded at once: so many of the largest fit into one reply.
const LOADED_AT_ONCE: usize = 10;

impl Args {
    pub(super) async fn run(self, who: &As<'_>) -> Result<(), Fail> {
        who.call(EditorOpen {}).await?;
        let edited = self.edit(who).await;
        // Whatever became of the editor, the notes are free again; why it failed is told first.
        let closed = who.call(EditorClose {}).await.map(drop);
        edited.and(closed)
    }

    async fn edit(&self, who: &As<'_>) -> Result<(), Fail> {
        let before = self.notes(who).await?;
        let text = sheet::write(self.level, &before);
        let after = in_editor(who, text.clone()).await?;
        let changed = match sheet::read(&after).map(|entries| sheet::changes(&before, entries)) {
            Ok(changed) => changed,
            Err((line, reason)) => {
                let file = kept(&after)?;
                return Err(Fail::Input { file, place: format!("line {line}"), reason });
            }
        };
        let count = changed.len();
        for entry in changed {
            if let Err(fail) = self.save(who, entry).await {
                who.shell.screen.note(&format!("what was written is kept in {}", kept(&after)?));
                return Err(fail);
            }
        }
        let what = match count {
            0 => "nothing changed".to_owned(),
            1 => "saved 1 note".to_owned(),
            count => format!("saved {count} notes"),
        };
        who.shell.screen.note(&what);
        Ok(())
    }

    async fn notes(&self, who: &As<'_>) -> Result<Vec<Entry>, Fail> {
        let Self { level, group, login } = self;
        let (group, login) = (group.clone(), login.clone());
        let listed = who.call(AdminList { level: Some(*level), group, login, ..AdminList::default() }).await?;
        let mut entries: Vec<Entry> = listed.notes.into_iter().map(Entry::from).collect();
        for some in entries.chunks_mut(LOADED_AT_ONCE) {
            let ids = some.iter().filter_map(|entry| entry.id).collect();
            let loaded = who.call(MemoryLoad { ids: Some(ids), ..MemoryLoad::default() }).await?;
            for full in loaded.notes {
                if let Some(entry) = some.iter_mut().find(|entry| entry.id == Some(full.note.id)) {
                    entry.body = full.body.unwrap_or_default();
                }
            }
        }
        Ok(entries)
    }

    async fn save(&self, who: &As<'_>, entry: Entry) -> Result<(), Fail> {
        let Entry { id, name, category, info, kind, group, login, body } = entry;
        let filled = |text: String| Some(text).filter(|text| !text.is_empty());
        who.call(AdminSave {
            id,
            level: Some(self.level),
            group: filled(group).or_else(|| self.group.clone().filter(|_| id.is_none())),
            login: filled(login).or_else(|| self.login.clone().filter(|_| id.is_none())),
            name: Some(name),
            category: Some(category),
            info: Some(info),
            kind_key: filled(kind),
            body: Some(body),
        })
        .await
        .map(drop)
    }
}

/// The text as the editor leaves it; while it is open the hold is renewed.
async fn in_editor(who: &As<'_>, text: String) -> Result<String, Fail> {
    let mut editing = tokio::task::spawn_blocking(move || editor::edited(&text));
    let mut renewing = tokio::time::interval(RENEW_EVERY);
    renewing.tick().await;
    let mut lost = None;
    loop {
        tokio::select! {
            edited = &mut editing => {
                let edited = edited.map_err(|_| Fail::Usage("the editor could not be run".to_owned()))??;
                return match lost {
                    None => Ok(edited),
                    Some(fail) => {
                        who.shell.screen.note(&format!("what was written is kept in {}", kept(&edited)?));
                        Err(fail)
                    }
                };
            }
            _ = renewing.tick() => {
                // Another holds them by now: what is saved over that one's work would be lost. Anything else may pass.
                if let Err(fail) = who.call(EditorOpen {}).await && fail.as_api().kind == Kind::Locked {
                    lost = Some(fail);
                }
            }
            // An interrupt is meant for the editor.
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}

/// What could not be saved must not be lost, either.
fn kept(text: &str) -> Result<String, Fail> {
    let folder = std::env::temp_dir();
    let made = tempfile::Builder::new().prefix("memlog-notes-").suffix(".html").tempfile();
    let mut file = made.map_err(Fail::file(&folder))?;
    file.write_all(text.as_bytes()).map_err(Fail::file(&folder))?;
    let (_, path) = file.keep().map_err(|error| Fail::File { path: folder, source: error.error })?;
    Ok(path.display().to_string())
}
