//! Whoever must not open a data folder is refused with a sentence, by the binary itself, and leaves it as it was: a second node
//! beside the first, and a memlog that is older than the log.

use std::{fs, path::Path, process::Output};

use memlog_actors::api::{audit, profile};

use crate::world::{Served, World};

/// Where the log says which reader it needs; the bytes of a row of redb's.
const NEEDS: &[u8] = b"min_reader";
/// A page of the log's file on this system.
const PAGE: usize = 4096;
/// What no reader of today is.
const LATER: u32 = 1_000;

async fn remember(served: &Served, content: &str) -> String {
    let remember =
        profile::Remember { profile: "ann".to_owned(), content: content.to_owned(), ..profile::Remember::default() };
    served.call(remember).await.memory.id
}

fn refused(output: &Output, sentence: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(sentence) && !said.contains("panicked"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_node_on_the_folder_is_refused_and_the_first_goes_on() {
    let Some(world) = World::on_given_server().await else { return };
    let served = world.serve().await;
    let before = remember(&served, "The ferns need water.").await;
    let url = world.nats().url();
    for words in [&["serve", "--nats", url][..], &["remember", "Ottilie has a kettle."]] {
        refused(&world.output(words).await, "in use by another process");
    }
    let after = remember(&served, "The dentist is on 14 June.").await;
    for memory_id in [before, after] {
        served.call(profile::Memory { profile: "ann".to_owned(), memory_id, as_of: None }).await;
    }
    let list = profile::Memories { profile: "ann".to_owned(), ..profile::Memories::default() };
    assert_eq!(served.call(list).await.memories.len(), 2, "the second stored nothing");
    let verified = served.call(audit::Verify::default()).await;
    assert!(verified.ok, "{:?}", verified.first_break);
    // Once the first is gone, another may.
    served.kill().await;
    world.serve().await.stop().await;
}

/// The places of the row's value in every page that holds it: the living one, and those that are free by now. A leaf of redb's
/// begins with its kind, a byte, and the number of pairs; the ends of the keys follow, the ends of the values, the keys, the values.
fn places(file: &[u8]) -> Vec<usize> {
    let number = |at: usize| file.get(at..at + 4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()) as usize);
    let mut found = Vec::new();
    for page in (0..file.len()).step_by(PAGE).filter(|page| file[*page] == 1) {
        let pairs = usize::from(u16::from_le_bytes([file[page + 2], file[page + 3]]));
        let end = |list: usize, pair: usize| number(page + 4 + (list * pairs + pair) * 4).unwrap_or_default();
        let mut begins = 4 + 8 * pairs;
        for pair in 0..pairs {
            let ends = end(0, pair);
            if file.get(page + begins..page + ends) == Some(NEEDS) {
                found.push(page + end(1, pair) - 4);
            }
            begins = ends.max(begins);
        }
    }
    found
}

/// Writes which reader the log needs; the one that it needed before.
fn needs(log: &Path, reader: u32) -> u32 {
    let mut file = fs::read(log).unwrap();
    let mut before = 0;
    for at in places(&file) {
        let place = &mut file[at..at + 4];
        before = u32::from_le_bytes((&*place).try_into().unwrap()).max(before);
        place.copy_from_slice(&reader.to_le_bytes());
    }
    assert!(before > 0, "the row was found");
    fs::write(log, file).unwrap();
    before
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_of_a_newer_memlog_is_refused_and_left_alone() {
    let world = World::on_no_server();
    world.done(&["remember", "The ferns need water."]).await;
    let whole = world.done(&["verify"]).await;
    let (log, vault) = (world.data().join("log.redb"), world.data().join("vault"));
    let reader = needs(&log, LATER);
    let sealed = fs::read(&vault).unwrap();
    let copy = world.beside("copy").to_string_lossy().into_owned();
    let all: [&[&str]; 6] = [
        &["serve", "--port", "0"],
        &["remember", "Ottilie has a kettle."],
        &["search", "ferns"],
        &["verify"],
        &["rebuild"],
        &["backup", copy.as_str()],
    ];
    for words in all {
        refused(&world.output(words).await, "use a newer memlog");
    }
    assert_eq!(fs::read(&vault).unwrap(), sealed, "the keys are as they were");

    // The newer one finds everything as it left it.
    assert_eq!(needs(&log, reader), LATER);
    let again = world.done(&["verify"]).await;
    assert_eq!((&again["ok"], &again["head"]), (&whole["ok"], &whole["head"]));
    let (_, found) = world.cli(&["search", "ferns"]).await;
    assert!(found.iter().any(|it| it.to_string().contains("The ferns need water.")), "{found:?}");
}
