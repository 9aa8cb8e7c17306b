//! Japanese, Korean and Chinese: compared as strings, since words are not apart; what is polite and who speaks left out.

use unicode_normalization::UnicodeNormalization;

use super::{Author, language::Eastern};

/// Whether two plain forms say the same.
pub(super) fn same(one: &str, two: &str, language: Eastern) -> bool {
    one == two || moved_time(one, two, language) || passive(one, two, language) || passive(two, one, language)
}

/// What is replaced, in order, wherever it stands.
#[rustfmt::skip]
const JAPANESE: &[(&str, &str)] = &[
    ("俺は", "私は"), ("僕は", "私は"), ("わたしは", "私は"), ("私たちは", "私達は"), ("んでます", "んでいます"), ("てます", "ています"),
    ("んでる", "んでいる"), ("てる", "ている"), ("ことを決めました", "のを決めました"), ("することにしました", "のを決めました"),
    ("するのを決めました", "を決めました"), ("ことに決めました", "のを決めました"), ("するを決め", "を決め"), ("購入しました", "買いました"),
    ("始めました", "開始しました"), ("スタートしました", "開始しました"), ("大好きです", "とても好きです"), ("すごく", "とても"),
    ("非常に", "とても"), ("父親", "父"), ("母親", "母"), ("お父さん", "父"), ("お母さん", "母"), ("おじいさん", "祖父"),
    ("おばあさん", "祖母"), ("医師", "医者"), ("携帯電話", "携帯"), ("自家用車", "車"), ("自動車", "車"), ("写真機", "カメラ"),
    ("毎日曜日", "日曜日ごと"), ("子ども", "子供"), ("こども", "子供"), ("アレルギーを持っています", "アレルギーがあります"),
    ("アレルギーです", "アレルギーがあります"), ("名前は", "名は"), ("ください", ""), ("下さい", ""), ("ちょうだい", ""),
    ("お願いします", ""), ("なければいけません", "なければなりません"), ("ないといけません", "なければなりません"), ("仕事をしています", "働いています"),
    ("勤務しています", "働いています"), ("勤めています", "働いています"), ("居住しています", "住んでいます"), ("暮らしています", "住んでいます"),
];

#[rustfmt::skip]
const KOREAN: &[(&str, &str)] = &[
    ("저는", "나는"), ("난 ", "나는 "), ("전 ", "나는 "), ("제가", "내가"), ("제 ", "내 "), ("저의", "내"), ("나의", "내"),
    ("구입했", "샀"), ("구매했", "샀"), ("구입하", "사"), ("결정을 내렸", "결정했"), ("결정을 했", "결정했"), ("거주하고 있", "살고 있"),
    ("해 주세요", "해"), ("해주세요", "해"), ("해 줘", "해"), ("해줘", "해"), ("해 주십시오", "해"), ("부탁드려요", ""), 
    ("합니다", "해"), ("해요", "해"), ("했습니다", "했어"), ("했어요", "했어"), ("입니다", "이야"), ("이에요", "이야"), ("예요", "이야"),
    ("습니다", "어"), ("아요", "아"), ("어요", "어"), ("여요", "여"), ("매일마다", "매일"), ("날마다", "매일"), ("의사 선생님", "의사"),
    ("어머니", "엄마"), ("아버지", "아빠"), ("핸드폰", "휴대폰"), ("휴대전화", "휴대폰"), ("알러지", "알레르기"), ("사진기", "카메라"),
];

#[rustfmt::skip]
const CHINESE: &[(&str, &str)] = &[
    ("没有", "没"), ("不用", "甭"), ("购买", "买"), ("单车", "自行车"),
    ("脚踏车", "自行车"), ("作了", "做了"), ("星期天", "星期日"), ("礼拜", "星期"), ("周日", "星期日"), ("周一", "星期一"),
    ("周二", "星期二"), ("周三", "星期三"), ("周四", "星期四"), ("周五", "星期五"), ("周六", "星期六"), ("天天", "每天"), ("每日", "每天"), ("爸爸", "父亲"),
    ("妈妈", "母亲"), ("大夫", "医生"), ("太太", "妻子"), ("老婆", "妻子"), ("老公", "丈夫"), ("先生", "丈夫"), ("计算机", "电脑"), ("的食物", "的"),
    ("的东西", "的"), ("居住在", "住在"), ("小孩", "孩子"), ("番茄", "西红柿"), ("现在", "目前"), ("非常", "很"), ("特别", "很"),
];

/// Said first or last to be polite.
const POLITE: [&str; 10] = ["どうか", "부디 ", "제발 ", "麻烦你", "请你", "請你", "请", "請", "谢谢", "拜托"];

/// Who speaks of himself, as another would write it.
const USERS: [&str; 6] = ["ユーザーは", "利用者は", "사용자는", "이용자는", "用户", "使用者"];

/// A statement without what says nothing.
pub(super) fn plain(text: &str, language: Eastern, author: Author) -> String {
    let mut text: String =
        text.nfkc().flat_map(char::to_lowercase).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let asks = text.contains('?');
    text.retain(|c| {
        !matches!(
            c,
            '、' | '。'
                | ','
                | '.'
                | '!'
                | '「'
                | '」'
                | '『'
                | '』'
                | '"'
                | '\''
                | '“'
                | '”'
                | '~'
                | '・'
                | ';'
                | ':'
                | '…'
        )
    });
    let mut text = text.trim();
    for polite in POLITE {
        text = text.strip_prefix(polite).unwrap_or(text);
        text = text.strip_suffix(polite.trim_end()).unwrap_or(text).trim();
    }
    let (me, table): (&str, _) = match language {
        Eastern::Japanese => ("私は", JAPANESE),
        Eastern::Korean => ("나는 ", KOREAN),
        _ => ("我", CHINESE),
    };
    let mut plain = match USERS.iter().find_map(|user| text.strip_prefix(user)) {
        Some(rest) if author == Author::Anyone => format!("{me}{}", rest.trim_start()),
        _ => text.to_owned(),
    };
    plain.push(' ');
    for (one, other) in table {
        plain = plain.replace(one, other);
    }
    if language == Eastern::Chinese {
        plain = decided(&plain);
    }
    let mut plain = digits(plain.trim(), language);
    if language == Eastern::Korean {
        plain = apart(&plain);
    } else {
        plain.retain(|c| c != ' ');
    }
    // In Japanese and Korean who speaks goes without saying.
    if language != Eastern::Chinese
        && let Some(rest) = plain.strip_prefix(me)
    {
        plain = rest.to_owned();
    }
    if language == Eastern::Japanese {
        plain = plain.strip_suffix("です").map_or(plain.clone(), |rest| format!("{rest}だ"));
    }
    if asks && !plain.contains('?') {
        plain.push('?');
    }
    plain
}

/// `做了换工作的决定` as `决定换工作`.
fn decided(text: &str) -> String {
    match text.split_once("做了").and_then(|(before, rest)| Some((before, rest.split_once("的决定")?))) {
        Some((before, (what, after))) => format!("{before}决定{what}{after}"),
        None => text.to_owned(),
    }
}

/// Digits and the counter after them are one word in Korean.
fn apart(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        let counted = out.ends_with(char::is_numeric) && COUNTERS.iter().any(|counter| word.starts_with(counter));
        if !out.is_empty() && !counted {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// What is counted with: only before these are characters numbers.
const COUNTERS: [&str; 44] = [
    "人", "つ", "回", "年", "月", "日", "時", "歳", "匹", "冊", "台", "個", "階", "杯", "本", "枚", "週", "円", "度",
    "个", "只", "条", "岁", "次", "点", "岁", "号", "天", "位", "张", "辆", "명", "마리", "번", "살", "개", "잔", "권",
    "대", "시", "달", "층", "주", "년",
];

const NUMBERS: [(&str, &str); 29] = [
    ("열", "10"),
    ("한", "1"),
    ("두", "2"),
    ("세", "3"),
    ("네", "4"),
    ("다섯", "5"),
    ("여섯", "6"),
    ("일곱", "7"),
    ("여덟", "8"),
    ("아홉", "9"),
    ("一", "1"),
    ("二", "2"),
    ("两", "2"),
    ("三", "3"),
    ("四", "4"),
    ("五", "5"),
    ("六", "6"),
    ("七", "7"),
    ("八", "8"),
    ("九", "9"),
    ("十", "10"),
    ("１", "1"),
    ("２", "2"),
    ("３", "3"),
    ("ふた", "2"),
    ("みっ", "3"),
    ("よっ", "4"),
    ("いつ", "5"),
    ("むっ", "6"),
];

/// A single number before a counter as a digit; of two in a row neither, since `二十` is not 2 and 10.
fn digits(text: &str, language: Eastern) -> String {
    let mut out = String::new();
    let mut rest = text;
    let korean = language == Eastern::Korean;
    while let Some(c) = rest.chars().next() {
        let begins_word = !korean || out.is_empty() || out.ends_with(' ');
        let alone =
            !out.chars().next_back().is_some_and(|before| NUMBERS.iter().any(|(word, _)| word.starts_with(before)));
        let found = NUMBERS.iter().find(|(word, _)| {
            let after =
                rest.strip_prefix(word).map(|after| if korean { after.strip_prefix(' ').unwrap_or("") } else { after });
            after.is_some_and(|after| COUNTERS.iter().any(|counter| after.starts_with(counter)))
        });
        match found.filter(|_| begins_word && alone) {
            Some((word, digit)) => {
                out.push_str(digit);
                rest = &rest[word.len()..];
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// Words of time that may stand at the front or after the subject.
#[rustfmt::skip]
const TIMES: &[&str] = &[
    "月曜日に", "火曜日に", "水曜日に", "木曜日に", "金曜日に", "土曜日に", "日曜日に", "毎日", "毎朝", "毎晩", "毎週", "毎月", "毎年", "今日", "明日", "昨日",
    "去年", "今年", "来年", "先週", "来週", "今は", "今朝", "今夜", "朝に", "夜に", "夏に", "冬に",
    "월요일마다", "화요일마다", "수요일마다", "목요일마다", "금요일마다", "토요일마다", "일요일마다", "월요일에", "화요일에", "수요일에", "목요일에", "금요일에",
    "토요일에", "일요일에", "매일", "매주", "매달", "매년", "오늘", "내일", "어제", "작년에", "올해", "내년에", "아침마다", "저녁마다", "지금",
    "星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日", "每天", "每周", "每月", "每年", "今天", "明天", "昨天", "去年", "今年", "明年", "早上",
    "晚上", "下午", "上午", "中午", "每天早上", "每天晚上", "目前",
];

/// One word of time stands elsewhere, and there is no other in the sentence that it could be confused with.
fn moved_time(one: &str, two: &str, language: Eastern) -> bool {
    let without = |text: &str| -> Option<(String, &'static str)> {
        let found: Vec<&&str> = TIMES.iter().filter(|time| text.contains(**time)).collect();
        let time = found.iter().max_by_key(|time| time.len())?;
        let others = found.iter().any(|other| !time.contains(**other));
        let once = text.matches(**time).count() == 1;
        let rest = text.replacen(**time, "", 1);
        let rest = if language == Eastern::Korean { apart(&rest) } else { rest };
        let me = if language == Eastern::Japanese { "私は" } else { "나는 " };
        let rest = rest.strip_prefix(me).filter(|_| language != Eastern::Chinese).map_or(rest.clone(), str::to_owned);
        (once && !others).then_some((rest, **time))
    };
    matches!((without(one), without(two)), (Some(one), Some(two)) if one == two)
}

/// In Chinese `B 被 A did` is `A did B`.
fn passive(one: &str, two: &str, language: Eastern) -> bool {
    if language != Eastern::Chinese {
        return false;
    }
    let mut parts = one.split('被');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(patient), Some(rest), None) if !patient.is_empty() => two.strip_suffix(patient) == Some(rest),
        _ => false,
    }
}
