//! The demo's last act: a secret is forgotten, and looked for everywhere it could still be.

use std::path::Path;

use memlog_actors::api::{
    AsOf,
    audit::{Stats, Verify},
    profile::{Forget, Search},
    record::{ItemType, Record},
};
use serde::Serialize;

use super::{Demo, script};
use crate::cli::{fail::Fail, tables};

/// What was looked for, and where.
#[derive(Debug, Serialize)]
struct Proof {
    /// Hits of the search with the word in them, afterwards.
    found_now: usize,
    /// The same as of the position before the forgetting.
    found_in_the_past: usize,
    /// Files of the data folder that were read.
    files: u64,
    /// Their bytes.
    bytes: u64,
    /// Those with the word in them.
    files_with_it: Vec<String>,
    /// Whether the log still verifies.
    verified: bool,
}

impl Demo {
    /// Forgets the secret and proves it; says whether every proof held.
    pub(super) async fn forget(&self) -> Result<bool, Fail> {
        let before = self.call(Stats {}).await?.head.seq;
        let hits = self.hits(None).await?;
        let named = match hits.len() {
            1 => "1 hit names".to_owned(),
            count => format!("{count} hits name"),
        };
        self.heading("forget", &format!("{} - {named} the {}", script::SECRET, script::SECRET_WORD));
        let records: Vec<&Record> = hits.iter().filter(|hit| hit.item_type != ItemType::Message).collect();
        for record in &records {
            let (profile, memory_id) = (self.profile.clone(), record.id.clone());
            let forgotten = self.call(Forget { profile, memory_id }).await?;
            self.step("forget", &forgotten, |forgotten| {
                let memory = &forgotten.memory;
                format!(
                    "forgot {}: {} (and its messages: {})",
                    memory.id,
                    tables::said(memory),
                    memory.sources.join(" ")
                )
            })?;
        }
        let proof = self.proof(before).await?;
        self.step("proof", &proof, |proof| people(proof, before))?;
        Ok(proof.found_now == 0 && proof.found_in_the_past == 0 && proof.files_with_it.is_empty() && proof.verified)
    }

    /// Everything that a search for the secret finds and that has its word in it.
    async fn hits(&self, as_of: Option<AsOf>) -> Result<Vec<Record>, Fail> {
        let request = Search {
            profile: self.profile.clone(),
            query: format!("{} {}", script::SECRET, script::SECRET_WORD),
            limit: Some(100),
            include_invalid: Some(true),
            as_of,
            ..Search::default()
        };
        let mut hits = self.call(request).await?.memories;
        hits.retain(|hit| hit.content.as_ref().and_then(Option::as_deref).is_some_and(has_word));
        Ok(hits)
    }

    async fn proof(&self, before: u64) -> Result<Proof, Fail> {
        let mut proof = Proof {
            found_now: self.hits(None).await?.len(),
            found_in_the_past: self.hits(Some(AsOf::Seq(before))).await?.len(),
            files: 0,
            bytes: 0,
            files_with_it: Vec::new(),
            verified: self.call(Verify::default()).await?.ok,
        };
        look_through(&self.settings.data, &mut proof)?;
        if let Some(vault) = &self.settings.vault {
            look_through(vault, &mut proof)?;
        }
        Ok(proof)
    }
}

fn has_word(text: &str) -> bool {
    text.to_lowercase().contains(script::SECRET_WORD)
}

/// Reads every file below a folder and notes those with the word in them, in whatever case.
fn look_through(folder: &Path, proof: &mut Proof) -> Result<(), Fail> {
    for entry in std::fs::read_dir(folder).map_err(Fail::file(folder))? {
        let path = entry.map_err(Fail::file(folder))?.path();
        if path.is_dir() {
            look_through(&path, proof)?;
            continue;
        }
        let bytes = std::fs::read(&path).map_err(Fail::file(&path))?;
        proof.files += 1;
        proof.bytes += bytes.len() as u64;
        let word = script::SECRET_WORD.as_bytes();
        if bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word)) {
            proof.files_with_it.push(path.display().to_string());
        }
    }
    Ok(())
}

fn people(proof: &Proof, before: u64) -> String {
    let Proof { files, bytes, .. } = proof;
    let kilobytes = bytes / 1024;
    [
        script::checked(proof.found_now == 0, "no search finds it any more"),
        script::checked(proof.found_in_the_past == 0, &format!("nor one as of seq {before}, when it was still known")),
        script::checked(
            proof.files_with_it.is_empty(),
            &format!("no file of the data folder has the word in it ({files} files, {kilobytes} KB); it was only ever sealed there, and the key is overwritten"),
        ),
        script::checked(proof.verified, "and the log still verifies, the forgotten event included"),
    ]
    .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{demo::CONVERSATION, input::jsonl};

    // The proof is only worth something if one message alone has the word, and if looking through files can find it.
    #[test]
    fn one_message_has_the_secret_and_the_look_through_would_find_it() {
        let conversation = jsonl::conversation(CONVERSATION, "conversation.jsonl").unwrap();
        let told = conversation.sessions.iter().flat_map(|session| &session.messages);
        assert_eq!(told.filter(|message| has_word(&message.content)).count(), 1);

        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("below")).unwrap();
        std::fs::write(folder.path().join("below/file"), b"\0\x01FlowerPot\xff").unwrap();
        std::fs::write(folder.path().join("other"), b"flower pot").unwrap();
        let mut proof =
            Proof { found_now: 0, found_in_the_past: 0, files: 0, bytes: 0, files_with_it: Vec::new(), verified: true };
        look_through(folder.path(), &mut proof).unwrap();
        assert_eq!((proof.files, proof.files_with_it.len()), (2, 1));
    }
}
