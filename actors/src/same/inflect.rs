//! The five forms of an English verb.

/// Base, past, participle, of those that do not simply take -ed.
#[rustfmt::skip]
const IRREGULAR: &[[&str; 3]] = &[
    ["be", "was", "been"], ["become", "became", "become"], ["begin", "began", "begun"], ["bite", "bit", "bitten"],
    ["break", "broke", "broken"], ["bring", "brought", "brought"], ["build", "built", "built"], ["buy", "bought", "bought"],
    ["catch", "caught", "caught"], ["choose", "chose", "chosen"], ["come", "came", "come"], ["cost", "cost", "cost"],
    ["cut", "cut", "cut"], ["do", "did", "done"], ["draw", "drew", "drawn"], ["drink", "drank", "drunk"],
    ["drive", "drove", "driven"], ["eat", "ate", "eaten"], ["fall", "fell", "fallen"], ["feed", "fed", "fed"],
    ["feel", "felt", "felt"], ["fight", "fought", "fought"], ["find", "found", "found"], ["fly", "flew", "flown"],
    ["forget", "forgot", "forgotten"], ["get", "got", "got"], ["give", "gave", "given"], ["go", "went", "gone"],
    ["grow", "grew", "grown"], ["have", "had", "had"], ["hear", "heard", "heard"], ["hide", "hid", "hidden"],
    ["hit", "hit", "hit"], ["hold", "held", "held"], ["hurt", "hurt", "hurt"], ["keep", "kept", "kept"],
    ["know", "knew", "known"], ["lead", "led", "led"], ["leave", "left", "left"], ["lend", "lent", "lent"],
    ["let", "let", "let"], ["lose", "lost", "lost"], ["make", "made", "made"], ["mean", "meant", "meant"],
    ["meet", "met", "met"], ["pay", "paid", "paid"], ["put", "put", "put"], ["read", "read", "read"],
    ["ride", "rode", "ridden"], ["ring", "rang", "rung"], ["run", "ran", "run"], ["say", "said", "said"],
    ["see", "saw", "seen"], ["sell", "sold", "sold"], ["send", "sent", "sent"], ["set", "set", "set"],
    ["sew", "sewed", "sewn"], ["shake", "shook", "shaken"], ["shoot", "shot", "shot"], ["show", "showed", "shown"],
    ["sing", "sang", "sung"], ["sit", "sat", "sat"], ["sleep", "slept", "slept"], ["speak", "spoke", "spoken"],
    ["spend", "spent", "spent"], ["steal", "stole", "stolen"], ["sting", "stung", "stung"], ["swim", "swam", "swum"],
    ["take", "took", "taken"], ["teach", "taught", "taught"], ["tell", "told", "told"], ["think", "thought", "thought"],
    ["throw", "threw", "thrown"], ["understand", "understood", "understood"], ["wake", "woke", "woken"],
    ["wear", "wore", "worn"], ["win", "won", "won"], ["write", "wrote", "written"],
];

/// Base, third person, past, participle, -ing.
pub(super) fn forms(base: &str) -> [String; 5] {
    let third = match base {
        "be" => "is".to_owned(),
        "have" => "has".to_owned(),
        _ if ends_in_y(base) => format!("{}ies", &base[..base.len() - 1]),
        _ if ["s", "x", "z", "ch", "sh", "o"].iter().any(|end| base.ends_with(end)) => format!("{base}es"),
        _ => format!("{base}s"),
    };
    let doubled = if doubles(base) { format!("{base}{}", &base[base.len() - 1..]) } else { base.to_owned() };
    let past = match base {
        _ if base.ends_with('e') => format!("{base}d"),
        _ if ends_in_y(base) => format!("{}ied", &base[..base.len() - 1]),
        _ => format!("{doubled}ed"),
    };
    let ing = match base.strip_suffix('e') {
        Some(stem) if !base.ends_with("ee") && stem.len() > 1 => format!("{stem}ing"),
        _ => format!("{doubled}ing"),
    };
    match IRREGULAR.iter().find(|[irregular, _, _]| *irregular == base) {
        Some([_, past, participle]) => [base.to_owned(), third, (*past).to_owned(), (*participle).to_owned(), ing],
        None => [base.to_owned(), third, past.clone(), past, ing],
    }
}

/// The past of a participle: `bitten` gives `bit`; of a regular one itself. None of what is no participle.
pub(super) fn past_of(participle: &str) -> Option<&str> {
    let irregular = IRREGULAR.iter().find(|[_, _, known]| *known == participle);
    irregular.map(|[_, past, _]| *past).or_else(|| participle.ends_with("ed").then_some(participle))
}

/// What the participle and the -ing form of a verb have in common.
pub(super) fn stem(form: &str) -> &str {
    if let Some([base, _, _]) = IRREGULAR.iter().find(|[_, _, participle]| *participle == form) {
        return base.trim_end_matches('e');
    }
    let stem = form.strip_suffix("ing").or_else(|| form.strip_suffix("ed")).unwrap_or(form);
    stem.trim_end_matches('e')
}

fn ends_in_y(base: &str) -> bool {
    base.ends_with('y') && !["ay", "ey", "oy", "uy"].iter().any(|end| base.ends_with(end))
}

/// One short vowel before the last letter of a short verb: `plan`, `chat`, `stop`.
fn doubles(base: &str) -> bool {
    let letters: Vec<char> = base.chars().rev().collect();
    let vowel = |c: &char| "aeiou".contains(*c);
    matches!(letters[..], [last, middle, ..] if !vowel(&last) && !"wxy".contains(last) && vowel(&middle))
        && base.chars().filter(vowel).count() == 1
        && letters.get(2).is_some_and(|before| !vowel(before))
        || matches!(base, "prefer" | "admit" | "begin" | "forget")
}

#[cfg(test)]
mod tests {
    use super::*;

    // A wrong form here would write two different words as one.
    #[test]
    fn forms_are_those_of_the_language() {
        assert_eq!(forms("buy"), ["buy", "buys", "bought", "bought", "buying"]);
        assert_eq!(forms("study"), ["study", "studies", "studied", "studied", "studying"]);
        assert_eq!(forms("plan"), ["plan", "plans", "planned", "planned", "planning"]);
        assert_eq!(forms("choose"), ["choose", "chooses", "chose", "chosen", "choosing"]);
        assert_eq!(forms("need"), ["need", "needs", "needed", "needed", "needing"]);
        assert_eq!(forms("watch")[1], "watches");
        assert_eq!((past_of("bitten"), past_of("painted"), past_of("house")), (Some("bit"), Some("painted"), None));
        assert_eq!(stem("living"), stem("lived"));
        assert_eq!(stem("writing"), stem("written").trim_end_matches('e'));
    }
}
