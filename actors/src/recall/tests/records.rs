//! Records beside the messages they were made from: one place in the list, whoever brought it there.

use super::*;

#[test]
fn a_record_stands_for_its_messages_with_the_better_score() {
    // Why: the same fact twice on a page is one fact less on it.
    let mut toy = Toy::asked("which cat did Ann adopt");
    let said = toy.say(1, 0, "2024-01-01", "I adopted a black cat, a cat called Tom.");
    let other = toy.say(2, 1, "2024-01-01", "A cat!");
    let record = toy.record(&[said], "Ann adopted a cat");
    assert_eq!(toy.ranked(), [record, other]);
    // Where records are filtered out the message is listed as itself.
    toy.hidden = vec![record];
    assert_eq!(toy.ranked(), [said, other]);
}

#[test]
fn a_record_inherits_what_its_message_gained_from_its_place() {
    // Why: extracted statements have no neighbours of their own.
    let mut toy = Toy::asked("where was the summer holiday");
    toy.say(1, 1, "2024-01-01", "Where did you spend your summer holiday?");
    let reply = toy.say(1, 0, "2024-01-01", "Paris, with the kids.");
    let holiday = toy.say(2, 0, "2024-01-01", "Holiday!");
    let record = toy.record(&[reply], "Ann's holiday was in Paris");
    let ranked = toy.ranked();
    let place = |doc| ranked.iter().position(|it| *it == doc);
    assert_eq!(place(reply), None);
    assert!(place(record) < place(holiday), "{ranked:?}");
}

#[test]
fn a_message_that_says_more_than_its_records_is_listed_instead_of_them() {
    // Why: extraction loses things; what it lost must still be found in the raw words.
    let mut toy = Toy::asked("violet umbrella left tram stop");
    let said = toy.say(1, 0, "2024-01-01", "I met Eve. I left my violet umbrella at the tram stop.");
    let record = toy.record(&[said], "Ann met Eve");
    for text in ["One stop.", "Two.", "Three.", "Four.", "Five."] {
        toy.say(2, 1, "2024-01-01", text);
    }
    let ranked = toy.ranked();
    assert_eq!(ranked[0], said);
    assert!(!ranked.contains(&record));
}

#[test]
fn several_records_of_one_message_do_not_crowd_the_page() {
    // Why: the best of them takes the message's score; the others stand on their own words, and a little back.
    let mut toy = Toy::asked("who adopted a cat");
    let said = toy.say(1, 0, "2024-01-01", "Ann adopted a cat, and the cat is black.");
    let best = toy.record(&[said], "Ann adopted a cat");
    let second = toy.record(&[said], "Ann's cat is black");
    let other = toy.say(2, 1, "2024-01-01", "I adopted a cat as well.");
    toy.say(3, 1, "2024-01-01", "Nothing.");
    assert_eq!(toy.ranked(), [best, other, second]);
}

#[test]
fn a_message_of_a_listed_record_is_never_listed_beside_it() {
    // Why: the wire promises it, whatever the scores; tried over many small worlds.
    for seed in 0..200_u32 {
        let mut toy = Toy::asked("red green blue cyan");
        let pick = |n: u32| {
            ["red", "green", "blue", "cyan", "none"]
                [(seed.wrapping_mul(n + 7).wrapping_mul(2_654_435_761) >> 13) as usize % 5]
        };
        let said: Vec<u32> =
            (0..6).map(|n| toy.say(n % 2, n % 2, "2024-01-01", &format!("{} {}", pick(n), pick(n + 9)))).collect();
        let records: Vec<u32> =
            (0..5).map(|n| toy.record(&[said[n], said[(n + seed as usize) % 6]], pick(n as u32 + 20))).collect();
        // The readings of more thought disagree on which of the two to list; and links lead to records of listed messages.
        for message in &said {
            toy.near(*message, 0.2 + (message.wrapping_mul(seed + 3) % 7) as f32 / 10.0);
        }
        toy.links = records.iter().map(|record| (records[seed as usize % 5], *record)).collect();
        for breadth in [Breadth::Low, Breadth::Wide, Breadth::Medium, Breadth::High] {
            let ranked = toy.thought(breadth);
            for record in records.iter().filter(|record| ranked.contains(record)) {
                for source in &toy.docs[*record as usize].sources {
                    assert!(!ranked.contains(source), "seed {seed}, {breadth:?}: {ranked:?}");
                }
            }
        }
    }
}
