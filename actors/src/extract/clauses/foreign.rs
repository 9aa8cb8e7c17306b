//! Two facts in one sentence of another language: cut only at a word that sets one whole clause against another.

use super::super::language::Language;
use super::super::lex::{self, Kind};

/// A longer sentence is kept whole.
const SENTENCE_BYTES_MAX: usize = 2_000;

/// Verbs and their helpers by which a Spanish clause is known.
const SPANISH: &[&str] = &[
    "es", "son", "soy", "somos", "está", "están", "estoy", "estamos", "tengo", "tiene", "tienen", "tenemos", "vivo",
    "vive", "viven", "vivimos", "trabajo", "trabaja", "gusta", "gustan", "encanta", "encantan", "odio", "odia", "come",
    "como", "comen", "llamo", "llama", "llaman", "estudia", "estudio", "va", "voy", "van", "vamos", "juego", "juega",
    "quiero", "quiere", "puede", "puedo", "prefiero", "prefiere", "cuesta", "empieza", "termina", "sale", "llega",
    "fui", "fue", "fuimos", "hice", "necesito", "necesita", "debo", "uso", "usa", "hay", "era", "tuve", "tuvo", "bebo",
    "bebe", "cumple", "cumplen",
];

/// Spanish verbs of the first person, and helpers of it: their clause has its subject in it.
const OWN: &[&str] = &[
    "soy", "somos", "estoy", "estamos", "tengo", "tenemos", "vivo", "vivimos", "trabajo", "me", "nos", "le", "les",
    "odio", "llamo", "estudio", "voy", "vamos", "juego", "quiero", "puedo", "prefiero", "fui", "fuimos", "hice",
    "necesito", "debo", "uso", "tuve", "bebo", "no", "mi", "mis", "nuestro", "nuestra", "nuestros", "nuestras", "él",
    "ella", "yo",
];

/// The statements of one sentence.
pub(in crate::extract) fn split_foreign(sentence: &str, language: Language) -> Vec<&str> {
    let cut = match language {
        // No speech, and each of its joints would be weighed against all the rest.
        _ if sentence.len() > SENTENCE_BYTES_MAX => None,
        Language::Spanish => spanish(sentence),
        Language::Russian => russian(sentence),
        Language::Japanese => japanese(sentence),
        Language::Korean => korean(sentence),
        _ => None,
    };
    cut.map_or_else(|| vec![sentence], |(left, right)| vec![left, right])
}

fn spanish(sentence: &str) -> Option<(&str, &str)> {
    [" pero ", " y ", ", "].iter().find_map(|joint| {
        let (at, _) = sentence.match_indices(joint).find(|(at, _)| {
            let (left, right) = (&sentence[..*at], &sentence[at + joint.len()..]);
            // "Se llama Toby y tiene tres años": the second would not say who.
            let first = lex::plain(right);
            let whose = OWN.contains(&first.split(' ').next().unwrap_or("")) || *joint == " pero ";
            whose && spanish_clause(left, usize::MAX) && spanish_clause(right, 4)
        })?;
        Some((sentence[..at].trim_end_matches(','), &sentence[at + joint.len()..]))
    })
}

/// A verb among the first words, and no word before it that ties the clause to another.
fn spanish_clause(text: &str, within: usize) -> bool {
    let plain = lex::plain(text);
    let words: Vec<&str> = plain.split(' ').collect();
    let tied = ["que", "si", "porque", "cuando", "donde", "aunque", "quien", "como", "ya"].contains(&words[0]);
    let verb = |word: &&str| SPANISH.contains(word) || word.chars().count() > 3 && word.ends_with(['é', 'ó']);
    words.len() >= 2 && !tied && words.iter().take(within).any(verb)
}

fn russian(sentence: &str) -> Option<(&str, &str)> {
    [", а ", ", но ", ", и ", ", зато ", ", "].iter().find_map(|joint| {
        let (at, _) = sentence.match_indices(joint).find(|(at, _)| {
            let (left, right) = (&sentence[..*at], &sentence[at + joint.len()..]);
            russian_clause(left) && russian_clause(right)
        })?;
        Some((&sentence[..at], &sentence[at + joint.len()..]))
    })
}

fn russian_clause(text: &str) -> bool {
    const TIED: &[&str] = &[
        "что",
        "чтобы",
        "если",
        "когда",
        "потому",
        "так",
        "где",
        "как",
        "чем",
        "хотя",
        "пока",
        "который",
        "которая",
        "которое",
        "которые",
        "которого",
        "а",
        "но",
        "и",
        "или",
        "зачем",
        "почему",
        "раз",
    ];
    const ENDINGS: &[&str] = &[
        "ет",
        "ит",
        "ют",
        "ят",
        "ат",
        "ут",
        "ем",
        "им",
        "аю",
        "яю",
        "ую",
        "лю",
        "жу",
        "чу",
        "ал",
        "ала",
        "али",
        "ил",
        "ила",
        "или",
        "ел",
        "ела",
        "ели",
        "ул",
        "ула",
        "ули",
        "ся",
        "сь",
        "ать",
        "ить",
        "еть",
        "зовут",
        "лет",
    ];
    let plain = lex::plain(text);
    let words: Vec<&str> = plain.split(' ').collect();
    let verb = |word: &&str| {
        word.chars().count() > 3 && ENDINGS.iter().any(|end| word.ends_with(end))
            || matches!(*word, "ем" | "зовут" | "лет")
    };
    words.len() >= 2 && !TIED.contains(&words[0]) && words.iter().any(verb)
}

/// Behind a verb or です, these set two whole clauses against each other; the first keeps its ending but not the joint.
fn japanese(sentence: &str) -> Option<(&str, &str)> {
    const JOINTS: &[(&str, &str)] = &[
        ("ませんが、", "ません"),
        ("ますが、", "ます"),
        ("ですが、", "です"),
        ("ですけど、", "です"),
        ("けれども、", ""),
        ("けれど、", ""),
        ("けど、", ""),
    ];
    JOINTS.iter().find_map(|(joint, kept)| {
        let at = sentence.find(joint)?;
        let (left, right) = (&sentence[..at + kept.len()], &sentence[at + joint.len()..]);
        let whole = |text: &str| text.chars().count() >= 5;
        (whole(left) && whole(right)).then_some((left, right))
    })
}

fn korean(sentence: &str) -> Option<(&str, &str)> {
    let tokens = lex::tokens(sentence);
    let joint = tokens.iter().position(|token| token.kind == Kind::Word && token.lower.ends_with("지만"))?;
    let next = tokens.iter().skip(joint + 1).find(|token| token.kind == Kind::Word)?;
    (joint >= 1 && tokens.len() > joint + 2)
        .then(|| (&sentence[..tokens[joint].span.end], &sentence[next.span.start..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Half a thought is worse than a long one: only whole clauses are parted.
    #[test]
    fn whole_clauses_are_parted_and_lists_are_not() {
        for (text, language, parts) in [
            ("Soy sastre y mi hija vive en Cádiz", Language::Spanish, vec!["Soy sastre", "mi hija vive en Cádiz"]),
            ("Compré pan, leche y queso", Language::Spanish, vec!["Compré pan, leche y queso"]),
            ("Мама читает, а брат рисует", Language::Russian, vec!["Мама читает", "брат рисует"]),
            ("Купил хлеб, молоко и сыр", Language::Russian, vec!["Купил хлеб, молоко и сыр"]),
            ("Я думаю, что он знает", Language::Russian, vec!["Я думаю, что он знает"]),
            ("酒は飲みませんが、茶は好きです", Language::Japanese, vec!["酒は飲みません", "茶は好きです"]),
            ("魚は苦手ですが、寿司は好きです", Language::Japanese, vec!["魚は苦手です", "寿司は好きです"]),
            ("고기는 안 먹지만 생선은 먹어요", Language::Korean, vec!["고기는 안 먹지만", "생선은 먹어요"]),
            ("Ich trinke Tee, aber er trinkt Bier", Language::German, vec!["Ich trinke Tee, aber er trinkt Bier"]),
        ] {
            assert_eq!(split_foreign(text, language), parts, "{text}");
        }
    }
}
