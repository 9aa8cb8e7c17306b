//! The passive as the active: `this picture was painted by my sister` as `my sister painted this picture`.

use super::{english::ENGLISH, inflect, lists::Lists};

/// A statement, and the same in the active if it is in the passive and names the doer: in every way its verb may be written.
pub(super) fn readings(words: Vec<String>, lists: &Lists) -> Vec<Vec<String>> {
    let mut readings = Vec::new();
    for (helper, active) in lists.passive {
        let helper: Vec<&str> = helper.split(' ').collect();
        readings.extend(active_of(&words, &helper, active, lists).into_iter().flatten());
    }
    readings.push(words);
    readings
}

fn active_of(words: &[String], helper: &[&str], active: &str, lists: &Lists) -> Option<Vec<Vec<String>>> {
    let at =
        words.windows(helper.len()).position(|window| window.iter().zip(helper).all(|(word, part)| word == part))?;
    let after = at + helper.len();
    let by = words.iter().position(|word| lists.by.contains(&word.as_str())).filter(|by| *by >= after)?;
    let (patient, between, tail) = (&words[..at], &words[after..by], &words[by + 1..]);
    let helper = (!active.is_empty()).then(|| active.to_owned());
    if VERB_LAST.contains(&lists.name) {
        let (verb, doer) = tail.split_last()?;
        if patient.is_empty() || doer.is_empty() {
            return None;
        }
        let helper = helper.as_slice();
        return Some(vec![[doer, helper, patient, between, std::slice::from_ref(verb)].concat()]);
    }
    // The doer ends where the next part begins.
    let begins =
        |word: &String| [lists.openers, lists.times, lists.clauses].iter().any(|list| list.contains(&word.as_str()));
    let (doer, rest) = tail.split_at(tail.iter().position(begins).unwrap_or(tail.len()));
    let (participle, extra) = between.split_first()?;
    if extra.first().is_some_and(|word| !lists.openers.contains(&word.as_str())) {
        return None;
    }
    if patient.is_empty() || doer.is_empty() {
        return None;
    }
    let verbs = verbs(participle, active, lists.name);
    Some(verbs.into_iter().map(|verb| [doer, helper.as_slice(), &[verb], patient, extra, rest].concat()).collect())
}

/// Languages whose participle stands at the end.
const VERB_LAST: [&str; 1] = ["German"];

/// What a participle may be in the active.
fn verbs(participle: &str, active: &str, language: &str) -> Vec<String> {
    let endings: &[(&str, &str)] = match language {
        _ if language == ENGLISH.name && active.is_empty() => {
            return inflect::past_of(participle).map(str::to_owned).into_iter().collect();
        }
        "French" => &[("es", ""), ("e", ""), ("s", "")],
        "Italian" => &[("a", "o"), ("i", "o"), ("e", "o")],
        "Spanish" => &[
            ("ado", "ó"),
            ("ada", "ó"),
            ("ados", "ó"),
            ("adas", "ó"),
            ("ido", "ió"),
            ("ida", "ió"),
            ("idos", "ió"),
            ("idas", "ió"),
            ("uido", "uyó"),
            ("uida", "uyó"),
            ("uidos", "uyó"),
            ("uidas", "uyó"),
            ("crito", "cribió"),
            ("crita", "cribió"),
            ("hecho", "hizo"),
            ("hecha", "hizo"),
            ("puesto", "puso"),
            ("puesta", "puso"),
            ("roto", "rompió"),
            ("rota", "rompió"),
        ],
        "Portuguese" => &[
            ("ado", "ou"),
            ("ada", "ou"),
            ("ados", "ou"),
            ("adas", "ou"),
            ("ido", "eu"),
            ("ida", "eu"),
            ("idos", "eu"),
            ("idas", "eu"),
            ("ido", "iu"),
            ("ida", "iu"),
            ("ído", "iu"),
            ("ída", "iu"),
            ("feito", "fez"),
            ("feita", "fez"),
            ("escrito", "escreveu"),
            ("escrita", "escreveu"),
        ],
        _ => &[],
    };
    let changed =
        endings.iter().filter_map(|(from, to)| participle.strip_suffix(from).map(|stem| format!("{stem}{to}")));
    std::iter::once(participle.to_owned()).chain(changed).collect()
}
