//! LoCoMo's JSON: a list of samples, each a conversation of two people over many sessions, with questions about it.
//!
//! One sample is one profile, named by its `sample_id`. A turn keeps its `dia_id`; its time is the session's plus one
//! second a turn, so that the order stays; a photo's caption is appended as `[photo: ...]`. Both people are speakers with
//! the role `user`.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
};

use jiff::{SignedDuration, Timestamp, fmt::strtime, tz::Offset};
use memlog_actors::{
    api::{Time, profile::Message},
    system::{check_message, check_names},
};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor},
};
use serde_json::Value;

use super::{
    Conversation, Session,
    sample::{Category, Question, Sample, turn},
};
use crate::cli::fail::Fail;

#[derive(Deserialize)]
struct RawSample {
    sample_id: String,
    #[serde(deserialize_with = "each_once")]
    conversation: BTreeMap<String, Value>,
    #[serde(default)]
    qa: Vec<RawQuestion>,
}

#[derive(Deserialize)]
struct RawTurn {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    blip_caption: Option<String>,
}

#[derive(Deserialize)]
struct RawQuestion {
    question: String,
    #[serde(default)]
    answer: Value,
    category: u32,
    #[serde(default)]
    evidence: Vec<String>,
}

/// A session that stands there twice would be lost once.
fn each_once<'de, D: Deserializer<'de>>(source: D) -> Result<BTreeMap<String, Value>, D::Error> {
    struct Once;

    impl<'de> Visitor<'de> for Once {
        type Value = BTreeMap<String, Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of sessions")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut fields = BTreeMap::new();
            while let Some((name, value)) = map.next_entry::<String, Value>()? {
                if fields.contains_key(&name) {
                    return Err(de::Error::custom(format!("{name} is there twice")));
                }
                fields.insert(name, value);
            }
            Ok(fields)
        }
    }

    source.deserialize_map(Once)
}

/// Reads all samples.
pub(in crate::cli) fn samples(text: &str, file: &str) -> Result<Vec<Sample>, Fail> {
    let wrong = |place: String, reason: String| Fail::Input { file: file.to_owned(), place, reason };
    let raw: Vec<RawSample> = serde_json::from_str(text)
        .map_err(|error| wrong(format!("line {}", error.line()), format!("not LoCoMo's JSON: {error}")))?;
    raw.into_iter()
        .map(|raw| {
            let id = raw.sample_id.clone();
            sample(raw).map_err(|(place, reason)| wrong(format!("{id}, {place}"), reason))
        })
        .collect()
}

fn sample(raw: RawSample) -> Result<Sample, (String, String)> {
    let mut conversation = Conversation { profile: Some(raw.sample_id.clone()), ..Conversation::default() };
    check_names(Some(&raw.sample_id), None).map_err(|error| ("sample_id".to_owned(), error.message))?;
    let mut numbers: Vec<u32> = raw.conversation.keys().filter_map(|key| number(key)).collect();
    numbers.sort_unstable();
    for number in numbers {
        let name = format!("session_{number}");
        let session = session(&raw.conversation, &name, &mut conversation)?;
        if !session.messages.is_empty() {
            conversation.sessions.push(session);
        }
    }
    let known: HashSet<&str> =
        conversation.sessions.iter().flat_map(|session| &session.messages).filter_map(|m| m.id.as_deref()).collect();
    let question = |(index, raw_question): (usize, RawQuestion)| Question {
        id: format!("{}/q{index}", raw.sample_id),
        text: raw_question.question,
        // Nobody expects the answer that a question of the adversarial kind leads astray to.
        answer: answer(raw_question.answer).filter(|_| Category::Numbered(raw_question.category).is_answerable()),
        category: Category::Numbered(raw_question.category),
        evidence: evidence(&raw_question.evidence, &known).iter().map(|id| turn(&raw.sample_id, id)).collect(),
    };
    let questions = raw.qa.into_iter().enumerate().map(question).collect();
    Ok(Sample { id: raw.sample_id, conversation, questions })
}

/// The number of a session's key. `session_05` and `session_+5` are not another way to write `session_5`, or it would be read twice.
fn number(key: &str) -> Option<u32> {
    let digits = key.strip_prefix("session_")?;
    digits.parse().ok().filter(|number: &u32| number.to_string() == digits)
}

/// Years and counts are numbers in the data.
pub(super) fn answer(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn session(
    fields: &BTreeMap<String, Value>,
    name: &str,
    conversation: &mut Conversation,
) -> Result<Session, (String, String)> {
    let turns: Vec<RawTurn> = serde_json::from_value(fields.get(name).cloned().unwrap_or_default())
        .map_err(|error| (name.to_owned(), error.to_string()))?;
    let date = fields.get(&format!("{name}_date_time")).and_then(Value::as_str).unwrap_or_default();
    let begin = moment(date).ok_or_else(|| (format!("{name}_date_time"), format!("not a time: `{date}`")))?;
    let mut session = Session::new(Some(name.to_owned()));
    for (index, turn) in turns.into_iter().enumerate() {
        let place = format!("{name}, turn {}", turn.dia_id);
        let content = match turn.blip_caption {
            Some(caption) => format!("{} [photo: {caption}]", turn.text).trim().to_owned(),
            None => turn.text,
        };
        if content.trim().is_empty() {
            return Err((place, "neither text nor a caption".to_owned()));
        }
        let seconds = SignedDuration::from_secs(i64::try_from(index).unwrap_or(i64::MAX));
        let timestamp = begin.checked_add(seconds).map_err(|error| (place.clone(), error.to_string()))?;
        conversation.meet(Some(&turn.speaker));
        let message = Message {
            role: "user".to_owned(),
            content,
            timestamp: Some(Time::from(timestamp).into()),
            speaker: Some(turn.speaker),
            id: Some(turn.dia_id),
        };
        check_message("", &message).map_err(|error| (place.clone(), error.message))?;
        session.push(message, place);
    }
    Ok(session)
}

/// `1:56 pm on 8 May, 2023`, taken as UTC: the data names no zone.
fn moment(text: &str) -> Option<Timestamp> {
    let time = strtime::parse("%I:%M %p on %d %B, %Y", text).ok()?;
    Offset::UTC.to_timestamp(time.to_datetime().ok()?).ok()
}

/// The data's evidence is untidy: several turns in one text (`D8:6; D9:17`), padded numbers (`D30:05`), a stray colon
/// (`D:11:26`), repetitions, and turns that do not exist. What is left is what the reference scorer's questions have.
fn evidence(raw: &[String], turns: &HashSet<&str>) -> Vec<String> {
    let mut found = Vec::new();
    for word in raw.iter().flat_map(|text| text.split([';', ' ', ','])) {
        let Some((session, turn)) =
            word.strip_prefix('D').and_then(|rest| rest.trim_start_matches(':').split_once(':'))
        else {
            continue;
        };
        let (Ok(session), Ok(turn)) = (session.parse::<u32>(), turn.parse::<u32>()) else { continue };
        let id = format!("D{session}:{turn}");
        if turns.contains(id.as_str()) && !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_SESSIONS: &str = r#"[{"sample_id": "talk-1",
      "conversation": {
        "speaker_a": "Ines", "speaker_b": "Tomas",
        "session_10_date_time": "12:05 am on 1 January, 2024",
        "session_10": [{"speaker": "Tomas", "dia_id": "D10:1", "text": "", "blip_caption": "a red kayak"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
          {"speaker": "Ines", "dia_id": "D2:1", "text": "I bought a kayak."},
          {"speaker": "Tomas", "dia_id": "D2:2", "text": "Show me!", "img_url": ["x"]}],
        "session_3_date_time": "2:00 pm on 9 May, 2023"},
      "qa": [
        {"question": "What did Ines buy?", "answer": "a kayak", "category": 4, "evidence": ["D2:1"]},
        {"question": "Which colour?", "answer": 7, "category": 1, "evidence": ["D:10:01; D2:1", "D2:1", "D", "D9:9"]},
        {"question": "Who sank?", "adversarial_answer": "Tomas", "category": 5, "evidence": []}]}]"#;

    // The numbering of sessions is not the alphabet's, empty sessions have a date alone, and a photo may have no text:
    // what the real file has, in two sessions of our own.
    #[test]
    fn a_sample_is_one_profile_with_its_sessions_in_order() {
        let sample = samples(TWO_SESSIONS, "talk.json").unwrap().remove(0);
        assert_eq!(sample.conversation.profile.as_deref(), Some("talk-1"));
        assert_eq!(sample.conversation.speakers, ["Ines", "Tomas"]);
        let told: Vec<_> = sample
            .conversation
            .sessions
            .iter()
            .flat_map(|session| session.messages.iter().map(|m| (session.id.as_deref(), m)))
            .map(|(session, m)| {
                format!(
                    "{} {} {}: {}",
                    session.unwrap(),
                    m.timestamp.unwrap(),
                    m.speaker.as_deref().unwrap(),
                    m.content
                )
            })
            .collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        session_2 2023-05-08T13:56:00Z Ines: I bought a kayak.
        session_2 2023-05-08T13:56:01Z Tomas: Show me!
        session_10 2024-01-01T00:05:00Z Tomas: [photo: a red kayak]
        ");
    }

    // The scorer's questions were tidied by these rules; a run scored here must be scored the same there.
    #[test]
    fn untidy_evidence_is_read_as_the_scorer_reads_it() {
        let sample = samples(TWO_SESSIONS, "talk.json").unwrap().remove(0);
        let evidence: Vec<_> = sample.questions.iter().map(|q| (q.id.as_str(), q.evidence.join(" "))).collect();
        assert_eq!(
            evidence,
            [
                ("talk-1/q0", "talk-1/D2:1".to_owned()),
                ("talk-1/q1", "talk-1/D10:1 talk-1/D2:1".to_owned()),
                ("talk-1/q2", String::new())
            ]
        );
    }

    // Years and counts are numbers in the data; what cannot be answered has no answer there.
    #[test]
    fn expected_answers_are_texts_whatever_the_data_has() {
        let sample = samples(TWO_SESSIONS, "talk.json").unwrap().remove(0);
        let answers: Vec<_> = sample.questions.iter().map(|q| q.answer.as_deref()).collect();
        assert_eq!(answers, [Some("a kayak"), Some("7"), None]);
    }

    #[test]
    fn errors_name_the_sample_and_the_place() {
        let broken = TWO_SESSIONS.replace("1:56 pm on 8 May, 2023", "some time in May");
        let error = samples(&broken, "talk.json").unwrap_err().to_string();
        assert_eq!(error, "talk.json, talk-1, session_2_date_time: not a time: `some time in May`");
        let twice = TWO_SESSIONS.replace("\"session_10\": [", "\"session_2\": [");
        assert!(samples(&twice, "talk.json").unwrap_err().to_string().contains("session_2 is there twice"));
        let padded = TWO_SESSIONS.replace("session_10", "session_02");
        assert_eq!(samples(&padded, "talk.json").unwrap()[0].conversation.sessions.len(), 1);
        assert!(samples("{}", "talk.json").unwrap_err().to_string().contains("not LoCoMo's JSON"));
    }
}
