//! Each section once, with tiny sizes: that it measures what it says and prints it. Times are nobody's business here.

use clap::ValueEnum as _;

use super::*;
use report::{markdown, people};

fn bench() -> (tempfile::TempDir, Bench) {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench {
        scale: Scale::tiny(),
        folder: folder.path().to_owned(),
        nats_server: None,
        screen: Screen::new(true, crate::cli::screen::Color::Never),
    };
    (folder, bench)
}

/// The rows of a section; what each measured is above nothing.
async fn rows(section: Section) -> Vec<String> {
    let (folder, bench) = bench();
    let report = bench.report(&[section]).await.unwrap();
    let [part] = &report.sections[..] else { panic!("one section") };
    for figure in &part.figures {
        // What the process has grown by may be nothing: it had room left.
        let is_growth = figure.what.starts_with("memory a ");
        assert!(is_growth || figure.median > 0.0, "{figure:?}");
        assert!(figure.p99.is_none_or(|p99| p99 >= figure.median), "{figure:?}");
        assert!(figure.limit.as_ref().is_none_or(|limit| limit.value > 0.0), "{figure:?}");
        assert!(figure.recall.is_none_or(|recall| (0.5..=1.0).contains(&recall)), "{figure:?}");
    }
    for page in [people(&Screen::plain(), &report), markdown(&report)] {
        assert!(part.figures.iter().all(|figure| page.contains(&figure.what)), "{page}");
    }
    draw(&report, folder.path()).unwrap();
    for chart in &part.charts {
        let svg = fs::read_to_string(folder.path().join(format!("{}.svg", chart.name))).unwrap();
        assert!(chart.lines.iter().all(|line| svg.contains(&line.name)), "{svg}");
    }
    // What it measured with is gone.
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().filter(|it| it.path().is_dir()).collect();
    assert!(left.is_empty(), "{left:?}");
    part.figures.iter().map(|figure| format!("{} {} {}", figure.what, figure.at, figure.unit)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_weighs_records_and_idle_profiles() {
    insta::assert_snapshot!("memory", rows(Section::Memory).await.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn saves_are_held_beside_redb_alone() {
    insta::assert_snapshot!("saves", rows(Section::Saves).await.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_held_beside_an_empty_responder() {
    if std::env::var("MEMLOG_TEST_NATS").is_ok_and(|value| value == "required")
        || crate::nats::server::find(None).await.is_ok()
    {
        insta::assert_snapshot!("requests", rows(Section::Requests).await.join("\n"));
    } else {
        eprintln!("SKIPPED, nothing was tested: no nats-server");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_are_held_beside_plain_ways() {
    insta::assert_snapshot!("vectors", rows(Section::Vectors).await.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_are_measured_with_every_filter() {
    insta::assert_snapshot!("search", rows(Section::Search).await.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn replays_are_held_beside_a_scan() {
    insta::assert_snapshot!("replay", rows(Section::Replay).await.join("\n"));
}

// Somebody without a nats-server still gets the other figures.
#[tokio::test(flavor = "multi_thread")]
async fn a_section_that_cannot_be_measured_takes_no_other_along() {
    let (_folder, mut bench) = bench();
    bench.nats_server = Some("/nowhere/nats-server".into());
    let report = bench.report(&[Section::Replay, Section::Requests]).await.unwrap();
    assert_eq!(report.sections.iter().map(|part| part.name).collect::<Vec<_>>(), ["replay"]);
    assert!(report.left_out[0].starts_with("requests: --nats-server names /nowhere"), "{:?}", report.left_out);
    assert!(bench.report(&[Section::Requests]).await.is_err());
}

#[test]
fn every_section_can_be_named() {
    for section in Section::value_variants() {
        let name = section.to_possible_value().unwrap().get_name().to_owned();
        let words = ["memlog", "bench", &name, "--quick", "--svg", "plots", "--markdown"].map(Into::into);
        assert!(crate::cli::Cli::parse_from(words).is_ok(), "{name}");
    }
    let both = ["memlog", "bench", "--quick", "--full"].map(Into::into);
    assert!(crate::cli::Cli::parse_from(both).is_err());
}
