//! The same in other languages, as far as a few words and endings tell it: questions, requests, wishes and cries.

use super::super::language::Language;
use super::super::lex::opens_with;
use super::lists;

/// Words with which a question opens, and which with no mark behind it can only ask or exclaim.
const OPENINGS: &[(Language, &[&str])] = &[
    (
        Language::Spanish,
        &[
            "qué",
            "cuál",
            "cuáles",
            "cuánto",
            "cuánta",
            "cuántos",
            "cuántas",
            "cuándo",
            "dónde",
            "cómo",
            "quién",
            "por qué",
            "con qué",
            "a qué",
            "de qué",
            "en qué",
            "para qué",
            "sabes",
            "puedes",
            "podrías",
            "crees que",
            "me puedes",
        ],
    ),
    (
        Language::Portuguese,
        &[
            "qual",
            "quais",
            "quanto",
            "quantos",
            "quantas",
            "quando é",
            "onde",
            "como faço",
            "por que",
            "o que",
            "você sabe",
            "pode me",
        ],
    ),
    (
        Language::French,
        &[
            "quel",
            "quelle",
            "quels",
            "quelles",
            "combien",
            "où",
            "pourquoi",
            "comment",
            "est-ce que",
            "qu'est-ce",
            "peux-tu",
            "qui",
        ],
    ),
    (
        Language::German,
        &[
            "was",
            "wie viel",
            "wie lange",
            "wie kann",
            "wie macht",
            "wie ist",
            "wo",
            "warum",
            "wann",
            "wer",
            "welche",
            "welcher",
            "welches",
            "kannst du",
            "können sie",
            "weißt du",
        ],
    ),
    (
        Language::Russian,
        &[
            "что",
            "как",
            "какой",
            "какая",
            "какое",
            "какие",
            "сколько",
            "где",
            "почему",
            "зачем",
            "кто",
            "куда",
            "чем",
            "откуда",
            "можешь",
            "можете",
            "можно ли",
            "стоит ли",
            "есть ли",
            "когда лучше",
            "когда можно",
        ],
    ),
];

/// Words that make such an opening a statement.
const TELLING: &[&str] = &["что касается", "как я", "как мы", "как обычно", "как всегда", "como siempre", "was mich"];

/// Whether a sentence without its mark asks; `bare` has no marks at its end.
pub(super) fn asks(bare: &str, plain: &str, language: Language) -> bool {
    let ends = |endings: &[&str]| endings.iter().any(|end| bare.ends_with(end));
    let has = |words: &[&str]| words.iter().any(|word| bare.contains(word));
    match language {
        Language::Japanese => {
            let statement = ends(&["です", "ます", "ました", "ません", "でした", "た", "る"]);
            ends(&["か", "かな", "かしら", "でしょう"])
                || !statement
                    && has(&[
                        "いくら",
                        "どこ",
                        "いつ",
                        "なぜ",
                        "どう",
                        "どんな",
                        "どれ",
                        "どちら",
                        "何を",
                        "何が",
                        "誰",
                    ])
        }
        Language::Korean => {
            ends(&["까", "까요", "나요", "니", "는지요", "인가요", "은가요", "는가요"]) || asking_word(plain)
        }
        Language::Chinese => {
            ends(&["吗", "呢", "么"]) || has(&["什么", "怎么", "多少", "哪里", "为什么"]) && !has(&["什么都", "没什么"])
        }
        _ => {
            let rest = ["а ", "и ", "ну ", "y ", "pero ", "e ", "et ", "und "]
                .iter()
                .find_map(|lead| plain.strip_prefix(lead));
            let plain = rest.unwrap_or(plain);
            !TELLING.iter().any(|start| plain.starts_with(start))
                && OPENINGS
                    .iter()
                    .filter(|(of, _)| *of == language)
                    .any(|(_, starts)| starts.iter().any(|start| opens_with(plain, start)))
        }
    }
}

/// A Korean word that asks, as a word of its own or with a particle.
fn asking_word(plain: &str) -> bool {
    const ASKING: &[&str] = &["뭐", "뭘", "무엇", "무슨", "어디", "왜", "어떻게", "어떤", "얼마", "누가", "누구"];
    const NOT_ASKING: &[&str] = &["누구나", "어디나", "어디든", "왜냐하면", "어떻게든"];
    plain.split(' ').any(|word| {
        ASKING.iter().any(|asking| word.starts_with(asking)) && !NOT_ASKING.iter().any(|other| word.starts_with(other))
    }) && !plain.contains("얼마 전")
}

/// Asks for something now rather than for ever.
pub(super) fn requests(plain: &str, polite: &str, language: Language) -> bool {
    let ends = |endings: &[&str]| endings.iter().any(|end| plain.ends_with(end));
    match language {
        Language::Spanish | Language::Portuguese | Language::French | Language::German | Language::Russian => {
            lists::FOREIGN_ORDERS.iter().any(|order| {
                opens_with(polite, order) || polite.strip_prefix("пожалуйста ").is_some_and(|p| opens_with(p, order))
            })
        }
        Language::Japanese => {
            let asked = [
                "教えて",
                "見せて",
                "書いて",
                "説明して",
                "まとめて",
                "訳して",
                "直して",
                "考えて",
                "作って",
                "調べて",
                "続けて",
            ];
            (ends(&["ください", "くれ", "ほしい", "お願いします", "ちょうだい"]) || ends(&asked))
                && !plain.contains("覚え")
        }
        Language::Korean => {
            ends(&["주세요", "줘", "주십시오", "줘요", "줄래요", "줄래", "해봐", "해 봐"]) && !plain.contains("기억")
        }
        Language::Chinese => {
            ["请帮", "帮我", "请写", "请解释", "请翻译", "告诉我", "给我"].iter().any(|start| plain.starts_with(start))
        }
        Language::English | Language::Unknown => false,
    }
}

/// Wishes and what-ifs.
pub(super) fn unreal(plain: &str, language: Language) -> bool {
    let words: Vec<&str> = plain.split(' ').collect();
    let starts = |openings: &[&str]| openings.iter().any(|start| opens_with(plain, start));
    let any = |endings: &[&str]| words.iter().any(|word| endings.iter().any(|end| word.ends_with(end)));
    match language {
        Language::Spanish => {
            starts(&["ojalá", "imagina", "imagínate", "supongamos", "y si"])
                || starts(&["si"])
                    && any(&["era", "eras", "ara", "aras", "iera", "iese", "ase", "eramos", "áramos", "iéramos"])
        }
        Language::Portuguese => {
            starts(&["tomara", "imagine", "e se", "quem me dera"]) || starts(&["se"]) && any(&["sse", "ssem"])
        }
        Language::French => {
            starts(&["imagine", "supposons", "et si"])
                || starts(&["si j'avais", "si j'étais", "si on avait", "si je pouvais"])
        }
        Language::German => {
            starts(&["angenommen", "stell dir vor", "was wäre", "hätte ich", "wäre ich"])
                || starts(&["wenn"]) && any(&["hätte", "hätten", "wäre", "wären", "würde", "könnte", "würden"])
        }
        Language::Russian => {
            starts(&["вот бы", "представь", "представим", "допустим", "предположим", "а если"])
                || words.contains(&"бы")
                    && !["хотел бы", "хотела бы", "хотели бы"].iter().any(|want| plain.contains(want))
        }
        Language::Japanese => {
            plain.starts_with("もし")
                || ["らいいのに", "ばいいのに", "ならなあ", "だろうに", "仮に"].iter().any(|end| plain.contains(end))
        }
        Language::Korean => {
            plain.ends_with("텐데")
                || plain.ends_with("텐데요")
                || plain.starts_with("만약")
                || plain.contains("면 좋겠")
        }
        Language::Chinese => plain.starts_with("如果") || plain.starts_with("要是") || plain.starts_with("假如"),
        Language::English | Language::Unknown => false,
    }
}

/// Only a feeling: two words, or a few letters where words are not spaced, with two marks of exclamation, or "qué …".
pub(super) fn cries(sentence: &str, plain: &str, language: Language) -> bool {
    let loud = sentence.ends_with("!!") || sentence.ends_with("！！");
    let few = match language {
        Language::Japanese | Language::Chinese => plain.chars().count() <= 6,
        Language::Unknown | Language::English => return false,
        _ => plain.split(' ').count() <= 2,
    };
    loud && few
}
