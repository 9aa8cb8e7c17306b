//! Just enough English verb knowledge to change the person of a sentence and to tell its time.

/// Past forms that do not end in "ed" (those that look like the present are left out of tense, see `SAME_IN_PAST`).
#[rustfmt::skip]
const IRREGULAR_PAST: &[&str] = &[
    "ate", "awoke", "became", "began", "bent", "bit", "blew", "bought", "broke", "brought", "built", "came",
    "caught", "chose", "did", "drank", "drew", "drove", "fell", "felt", "flew", "forgave", "forgot", "fought",
    "found", "froze", "gave", "got", "grew", "had", "heard", "held", "hid", "kept", "knew", "laid", "led", "left",
    "lent", "lost", "made", "meant", "met", "paid", "ran", "rang", "rode", "rose", "said", "sang", "sat", "saw",
    "sent", "shot", "slept", "sold", "spent", "spoke", "stole", "stood", "stuck", "struck", "swam", "swore",
    "taught", "thought", "threw", "told", "took", "tore", "understood", "was", "went", "were", "woke", "won", "wore",
    "wrote", "learnt", "dreamt", "spelt", "burnt", "ghosted",
];

/// Verbs whose past looks like their present.
const SAME_IN_PAST: &[&str] =
    &["bet", "cost", "cut", "hit", "hurt", "let", "put", "quit", "read", "set", "shut", "split", "spread"];

/// Present forms that only look like a past.
const NOT_PAST: &[&str] = &[
    "need", "feed", "speed", "bleed", "breed", "exceed", "proceed", "succeed", "embed", "shed", "wed", "indeed", "red",
    "bed",
];

/// Helpers that are the same for every person.
#[rustfmt::skip]
pub(super) const FIXED: &[&str] = &[
    "can", "can't", "cannot", "could", "couldn't", "did", "didn't", "had", "hadn't", "may", "might", "must",
    "mustn't", "shall", "should", "shouldn't", "was", "wasn't", "will", "won't", "would", "wouldn't", "ought",
    "used", "gotta", "gonna",
];

#[rustfmt::skip]
const ADVERBS: &[&str] = &[
    "also", "just", "still", "always", "never", "often", "sometimes", "now", "even", "only", "ever", "already",
    "almost", "once", "then", "rather", "quite", "kinda", "sort", "soon", "both", "mostly", "currently", "not",
    "too", "usually",
];

/// Everyday verbs in their base form: enough to know a second predicate ("and work at …") and an imperative when one stands there.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "attend", "bake", "believe", "belong", "brew", "build", "buy", "call", "care", "climb", "collect", "come",
    "commute", "cook", "cycle", "dance", "design", "develop", "dislike", "do", "drink", "drive", "earn", "eat",
    "enjoy", "exercise", "feel", "fly", "garden", "get", "go", "grow", "hate", "have", "help", "hike", "hope",
    "keep", "know", "lead", "learn", "like", "listen", "live", "look", "love", "make", "manage", "meditate", "miss",
    "need", "own", "paint", "play", "practice", "practise", "prefer", "raise", "read", "rent", "ride", "run",
    "share", "sing", "sleep", "speak", "spend", "study", "swim", "take", "teach", "train", "travel", "try", "use",
    "visit", "volunteer", "wake", "walk", "want", "watch", "wear", "work", "write",
];

/// More verbs that tell of things and people. Many are nouns as well, so they are believed only where a finite verb can stand.
#[rustfmt::skip]
const TELLING: &[&str] = &[
    "accept", "add", "agree", "allow", "arrive", "ask", "become", "begin", "belong", "break", "bring", "change", "charge",
    "close", "come", "contain", "cost", "count", "cover", "die", "end", "expect", "expire", "fall", "finish", "fit", "follow",
    "give", "handle", "happen", "hold", "include", "insist", "join", "kick", "land", "last", "leave", "lend", "lie", "lose",
    "mean", "meet", "move", "offer", "open", "order", "owe", "park", "pass", "pay", "pick", "point", "put", "reach",
    "refuse", "repair", "require", "rise", "say", "see", "seem", "sell", "send", "serve", "show", "sit", "smell", "smoke",
    "start", "stay", "stop", "suffer", "support", "taste", "tell", "think", "turn", "wait", "weigh", "win",
];

/// Those of them that are seldom anything else, so that they are believed without an "s": "results come", "shoes cost".
const PLURAL: &[&str] = &[
    "arrive", "become", "begin", "belong", "come", "cost", "expect", "follow", "happen", "leave", "say", "seem",
    "sell", "start", "think",
];

/// What can be the verb of "the …", "Tom …", "she …".
pub(super) fn is_finite(word: &str) -> bool {
    let base = |stem: &str| TELLING.binary_search(&stem).is_ok();
    is_verb(word)
        || PLURAL.contains(&word)
        || word.strip_suffix('s').is_some_and(base)
        || word.strip_suffix("es").is_some_and(base)
        || word.strip_suffix("ies").is_some_and(|stem| base(&format!("{stem}y")))
}

/// "really", "just", "still": words that may stand between "I" and its verb.
pub(super) fn is_adverb(word: &str) -> bool {
    ADVERBS.contains(&word)
        || (word.ends_with("ly")
            && word.len() > 4
            && !matches!(word, "apply" | "reply" | "rely" | "supply" | "multiply" | "family"))
}

/// A past form that can only be one.
pub(super) fn is_past(word: &str) -> bool {
    IRREGULAR_PAST.contains(&word)
        || (word.len() > 3 && word.ends_with("ed") && !word.contains('-') && !NOT_PAST.contains(&word))
}

/// The same form for every person and time, or a past.
pub(super) fn is_unchanged(word: &str) -> bool {
    FIXED.contains(&word) || SAME_IN_PAST.contains(&word) || is_past(word) || word.ends_with("ing")
}

/// An everyday verb in its base form.
pub(super) fn is_common(word: &str) -> bool {
    COMMON.binary_search(&word).is_ok()
}

/// Anything that can be a sentence's verb, as far as the lists go.
pub(super) fn is_verb(word: &str) -> bool {
    const BE: &[&str] = &[
        "am", "are", "is", "has", "have", "does", "do", "been", "isn't", "aren't", "hasn't", "don't", "doesn't",
        "haven't",
    ];
    BE.contains(&word)
        || is_unchanged(word) && !word.ends_with("ing")
        || is_common(word)
        || word.strip_suffix('s').is_some_and(is_common)
        || word.strip_suffix("es").is_some_and(is_common)
        || word.strip_suffix("ies").is_some_and(|stem| is_common(&format!("{stem}y")))
        || ["'m", "'s", "'re", "'ve", "'ll", "'d"].iter().any(|end| word.ends_with(end))
}

/// The form that goes with "she": love, loves; go, goes; try, tries.
pub(super) fn third_person(base: &str) -> String {
    match base {
        "am" => return "is".into(),
        "have" => return "has".into(),
        "haven't" => return "hasn't".into(),
        "do" => return "does".into(),
        "don't" => return "doesn't".into(),
        _ => {}
    }
    if let Some(stem) = base.strip_suffix('y')
        && !stem.ends_with(['a', 'e', 'i', 'o', 'u'])
    {
        return format!("{stem}ies");
    }
    let hisses = ["s", "x", "z", "ch", "sh", "o"].iter().any(|end| base.ends_with(end));
    format!("{base}{}", if hisses { "es" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    // The list is searched by halves, so its order is part of its meaning.
    #[test]
    fn common_verbs_are_in_order() {
        assert!(COMMON.is_sorted() && TELLING.is_sorted());
    }

    // A wrong ending makes every memory read badly, and is stored for good.
    #[test]
    fn verbs_take_the_third_person() {
        for (base, third) in [
            ("love", "loves"),
            ("go", "goes"),
            ("try", "tries"),
            ("play", "plays"),
            ("watch", "watches"),
            ("have", "has"),
            ("don't", "doesn't"),
        ] {
            assert_eq!(third_person(base), third);
        }
        assert!(is_past("went") && is_past("visited") && !is_past("need"));
    }
}
