//! What more thought brings: a second reading, links, topics, parts.

use super::*;

#[test]
fn thought_brings_what_words_alone_do_not_and_keeps_what_stood_first() {
    // Why: a conclusion is said in other words elsewhere, and a link leads to what shares no word at all.
    let mut toy = Toy::asked("Ann holiday lake boat");
    let first = toy.say(1, 0, "2024-01-01", "A holiday by the lake, with a boat.");
    for thread in 2..12 {
        let filler = toy.say(thread, 1, "2024-01-01", "The lake boat holiday leaflet.");
        toy.near(filler, 0.2);
    }
    let sense = toy.say(12, 0, "2024-01-01", "Rowing calms me.");
    toy.near(first, 0.7);
    toy.near(sense, 0.65);
    let record = toy.record(&[first], "Ann spent a holiday by the lake with a boat");
    toy.near(record, 0.7);
    let lone = toy.say(13, 1, "2024-01-01", "Knees.");
    let linked = toy.record(&[lone], "Bob twisted his knee");
    toy.near(linked, 0.0);
    toy.links = vec![(record, linked)];
    let low = toy.ranked();
    assert!(!low.contains(&linked));
    for breadth in [Breadth::Medium, Breadth::High] {
        let hits = toy.thought(breadth);
        let place = |doc| hits.iter().position(|it| *it == doc).unwrap();
        assert_eq!(hits[0], record);
        assert!(place(sense) < 8 && place(linked) < 8, "{hits:?}");
        let mut once = hits.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), hits.len());
        // A filter holds for what links lead to, too.
        toy.hidden = vec![linked];
        assert!(!toy.thought(breadth).contains(&linked));
        toy.hidden.clear();
    }
}

#[test]
fn the_best_of_each_part_comes_after_what_answers_the_whole() {
    // Why: a question that needs two things found is answered by neither alone; and each thing is listed once.
    let mut toy = Toy::asked("holiday");
    let said: Vec<u32> = (0..8).map(|at| toy.say(at, 0, "2024-01-01", &format!("holiday {at}"))).collect();
    let (one, two) = (toy.say(20, 1, "2024-01-01", "Knees."), toy.say(21, 1, "2024-01-01", "Elbows."));
    let record = toy.record(&[one], "Bob has knees");
    let hit = |doc: &u32| Hit { doc: *doc, score: 0.5 };
    let whole: Vec<Hit> = said.iter().map(hit).collect();
    // Their scores are of other questions, and order nothing here.
    let high = |doc: u32| Hit { doc, score: 0.9 };
    let parts = [vec![high(record), high(said[0])], vec![high(said[1]), high(two), high(one)]];
    let hits = among_parts(&toy, &whole, &parts);
    let docs: Vec<u32> = hits.iter().map(|hit| hit.doc).collect();
    assert_eq!(docs[..4], said[..4]);
    assert_eq!(docs[4..7], [record, two, said[4]]);
    assert_eq!(docs.len(), 10, "the record stands for its message: {docs:?}");
    assert!(hits.is_sorted_by(|one, next| one.score >= next.score), "{hits:?}");
    // What answers a part alone is found, too.
    assert_eq!(among_parts(&toy, &[], &parts).first().map(|hit| hit.doc), Some(record));
}

#[test]
fn more_thought_follows_what_the_first_hits_tell_of() {
    // Why: who asks where somebody's grandmother is from may be answered where nobody speaks of grandmothers any more.
    let mut toy = Toy::asked("Where is Ann's grandmother from?");
    let first = toy.say(1, 0, "2024-01-01", "My grandmother is from Uppsala.");
    for thread in 2..12 {
        toy.say(thread, 0, "2024-01-02", "My grandmother is old.");
    }
    let told = toy.say(20, 0, "2024-01-03", "Uppsala has a cold winter, an old cathedral and a river.");
    let place = |page: Vec<u32>| page.iter().position(|doc| *doc == told);
    assert_eq!(place(toy.ranked()), None);
    for breadth in [Breadth::Medium, Breadth::High] {
        let thought = toy.thought(breadth);
        assert_eq!(thought[0], first);
        assert!(place(thought).is_some_and(|place| place < 8), "{breadth:?}");
    }
}
