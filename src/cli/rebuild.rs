//! `memlog rebuild`: every view anew from the log and the embedding cache.

use super::{Outcome, Shell, backend::Backend, fail::Fail, tables::pairs};

/// Nothing to say.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let Backend::Embedded(system) = &shell.backend else {
            return Err(Fail::Usage(
                "rebuild works on the data folder itself: stop the server, then memlog rebuild --data DIR".to_owned(),
            ));
        };
        let bar = shell.screen.progress(0, "rebuilding");
        let progress = |done, all| {
            bar.set_length(all);
            bar.set_position(done);
        };
        let rebuilt = system.rebuild(progress).await?;
        bar.finish_and_clear();
        shell.screen.reply(&rebuilt, |_, rebuilt| {
            pairs(&[
                ("profiles", rebuilt.profiles.to_string()),
                ("records", rebuilt.records.to_string()),
                ("messages", rebuilt.messages.to_string()),
                ("from the cache", format!("{} documents", rebuilt.documents_from_cache)),
                ("embedded anew", format!("{} documents", rebuilt.documents_embedded)),
                ("notebooks", format!("{}, {} entries", rebuilt.notebooks, rebuilt.entries)),
                ("still to embed", format!("{} documents", rebuilt.documents_pending)),
            ])
        })?;
        Ok(Outcome::Done)
    }
}
