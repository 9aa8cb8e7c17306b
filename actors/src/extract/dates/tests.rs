//! Dates are judged from one Wednesday, 13 March 2024, as a calendar on the wall would.

use super::*;

fn said() -> Date {
    "2024-03-13".parse().unwrap()
}

fn range(text: &str) -> String {
    match find(text, said()) {
        Some(found) => format!("{}..{} {:?} [{}]", found.start, found.end, found.precision, &text[found.span.clone()]),
        None => "none".to_owned(),
    }
}

// Each phrase is one that people use; a wrong day is worse than none, since it is stored with the memory.
#[test]
fn phrases_name_the_days_people_mean() {
    for (text, expected) in [
        ("I went yesterday.", "2024-03-12..2024-03-13 Day [yesterday]"),
        ("the day before yesterday we met", "2024-03-11..2024-03-12 Day [the day before yesterday]"),
        ("see you tomorrow", "2024-03-14..2024-03-15 Day [tomorrow]"),
        ("It broke last week", "2024-03-04..2024-03-11 Week [last week]"),
        ("next weekend", "2024-03-23..2024-03-25 Week [next weekend]"),
        ("last month", "2024-02-01..2024-03-01 Month [last month]"),
        ("last year", "2023-01-01..2024-01-01 Year [last year]"),
        ("last summer", "2023-06-01..2023-09-01 Month [last summer]"),
        ("We met two weeks ago", "2024-02-25..2024-03-03 Week [two weeks ago]"),
        ("We met 3 days ago", "2024-03-10..2024-03-11 Day [3 days ago]"),
        ("It starts in two days", "2024-03-15..2024-03-16 Day [in two days]"),
        ("last Saturday", "2024-03-09..2024-03-10 Day [last Saturday]"),
        ("next Friday", "2024-03-22..2024-03-23 Day [next Friday]"),
        ("I need it on Friday", "2024-03-15..2024-03-16 Day [Friday]"),
        ("I bought it on Friday", "2024-03-08..2024-03-09 Day [Friday]"),
        ("on 7 May 2023", "2023-05-07..2023-05-08 Day [7 May 2023]"),
        ("May 7th, 2023 was", "2023-05-07..2023-05-08 Day [May 7th, 2023]"),
        ("the 7th of May", "2024-05-07..2024-05-08 Day [7th of May]"),
        ("We fly on May 7th", "2024-05-07..2024-05-08 Day [May 7th]"),
        ("in May 2023", "2023-05-01..2023-06-01 Month [May 2023]"),
        ("What happened in May?", "2023-05-01..2023-06-01 Month [May]"),
        ("in 2022", "2022-01-01..2023-01-01 Year [2022]"),
        ("Where did I go in 2022?", "2022-01-01..2023-01-01 Year [2022]"),
        ("2022", "2022-01-01..2023-01-01 Year [2022]"),
        ("the week before 9 June 2023", "2023-06-02..2023-06-09 Week [the week before 9 June 2023]"),
        ("The Friday before 15 July 2023", "2023-07-14..2023-07-15 Day [The Friday before 15 July 2023]"),
        ("2 days after May 7, 2023", "2023-05-09..2023-05-10 Day [2 days after May 7, 2023]"),
        ("due 2023-05-07T10:00", "2023-05-07..2023-05-08 Day [2023-05-07]"),
        ("2023年5月7日に行った", "2023-05-07..2023-05-08 Day [2023年5月7日]"),
        ("2023년 5월 7일에", "2023-05-07..2023-05-08 Day [2023년 5월 7일]"),
        ("2023年5月に", "2023-05-01..2023-06-01 Month [2023年5月]"),
        ("昨日行きました", "2024-03-12..2024-03-13 Day [昨日]"),
        ("Ayer fui al cine", "2024-03-12..2024-03-13 Day [Ayer]"),
        ("Я звонил вчера", "2024-03-12..2024-03-13 Day [вчера]"),
        ("¿Adónde fui el verano pasado?", "2023-06-01..2023-09-01 Month [el verano pasado]"),
        ("Где я был прошлой зимой?", "2023-12-01..2024-03-01 Month [прошлой зимой]"),
        ("작년 여름에 어디 갔어?", "2023-06-01..2023-09-01 Month [작년 여름]"),
        ("去年の冬に何をした?", "2023-12-01..2024-03-01 Month [去年の冬]"),
        ("去年どこに行った?", "2023-01-01..2024-01-01 Year [去年]"),
        ("¿Qué pasó en mayo de 2022?", "2022-05-01..2022-06-01 Month [mayo de 2022]"),
        ("El 21 de marzo de 2021 fue", "2021-03-21..2021-03-22 Day [21 de marzo de 2021]"),
        ("Где была Анна в мае 2022 года?", "2022-05-01..2022-06-01 Month [мае 2022]"),
        ("20 марта 2021 года", "2021-03-20..2021-03-21 Day [20 марта 2021]"),
    ] {
        assert_eq!(range(text), expected, "{text}");
    }
}

// A year that is only guessed must be known for a guess: who asks for May may mean another one.
#[test]
fn a_guessed_year_is_told_from_a_named_one() {
    for (text, yearly) in [
        ("What happened in May?", true),
        ("on May 7th", true),
        ("the 7th of May", true),
        ("en mayo", true),
        ("21 de marzo", true),
        ("20 марта", true),
        ("四月から", true),
        ("5月7日", true),
        ("5월 7일에", true),
        ("in May 2023", false),
        ("7 May 2023", false),
        ("last May", false),
        ("next May", false),
        ("en mayo de 2023", false),
        ("20 марта 2023", false),
        ("2023年5月", false),
        ("yesterday", false),
        ("in 2023", false),
        ("last summer", false),
    ] {
        assert_eq!(find(text, said()).map(|found| found.yearly), Some(yearly), "{text}");
    }
}

// Numbers and words that only look like dates must not move a memory in time.
#[test]
fn what_only_looks_like_a_date_is_none() {
    for text in [
        "It costs 2000 dollars",
        "We haven't talked in a few days",
        "mostly Thursday to Sunday",
        "a few years back",
        "you may 5",
        "every Friday",
        "the second Thursday",
        "version 1.2022.3",
        "I may go",
        "at 20:15",
        "part 2023-99-99",
        "they march on",
        "all mornings",
        "trabajo por la mañana",
        "",
        "$2022",
    ] {
        assert_eq!(range(text), "none", "{text}");
    }
}

// Questions may name two days; ranking wants both.
#[test]
fn all_dates_come_in_order() {
    let found = find_all("Between 7 May 2023 and 2023-06-01, and yesterday", said());
    let days: Vec<_> = found.iter().map(|found| found.at.to_string()).collect();
    assert_eq!(days, ["2023-05-07", "2023-06-01", "2024-03-12"]);
}

// The ends of the calendar are reachable by text, and must not panic.
#[test]
fn the_ends_of_the_calendar_are_safe() {
    for text in
        ["999 years ago", "in 999 years", "9999年12月31日", "0000-00-00", "9999-12-31", "the week after 9999-12-31"]
    {
        for at in [Date::MIN, Date::MAX, said()] {
            find_all(text, at);
        }
    }
}
