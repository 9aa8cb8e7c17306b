//! Search by the page's rule, in every script.

use serde_json::json;

use super::{ACCOUNT, Served, names, user};

#[tokio::test(flavor = "multi_thread")]
async fn any_word_that_begins_so_finds_and_more_words_are_better() {
    let Some(served) = Served::start().await else { return };
    let id = served.memory(&ACCOUNT, "company").await;
    let save = |entry: &str, about: &str, content: &str| json!({"id": id, "entry": entry, "description": about, "content": content});
    for request in [
        save("refunds", "Money back", "Within 30 days, to the original card."),
        save("tone", "How we write", "Never promise a refund. The policy is on the page."),
        save("policy", "All our refund policies", "See the handbook."),
        save("holidays", "When we are closed", "In August."),
        save("中文", "退款政策", "我们的退款流程很简单，三十天内退款。"),
        save("日本語", "返金について", "返金ポリシーは30日以内です。"),
        save("ไทย", "นโยบาย", "นโยบายการคืนเงินภายใน 30 วัน"),
        save("по-русски", "Возвраты", "Деньги вернём за 30 дней."),
    ] {
        served.get(&ACCOUNT, "memory.save", request).await;
    }
    for (query, expected) in [
        ("refund", vec!["refunds", "policy", "tone"]),
        ("REFUND policy", vec!["policy", "tone", "refunds"]),
        ("holiday august", vec!["holidays"]),
        ("how we", vec!["tone", "holidays"]),
        // In the middle of a word only if it is the whole query, and in name or description.
        ("olid", vec!["holidays"]),
        ("riginal", vec![]),
        ("流程", vec!["中文"]),
        ("退款", vec!["中文"]),
        ("天气", vec![]),
        ("返金", vec!["日本語"]),
        ("ポリシー", vec!["日本語"]),
        ("เงิน", vec!["ไทย"]),
        ("กิน", vec![]),
        ("возврат", vec!["по-русски"]),
        ("деньги", vec!["по-русски"]),
        ("zebra", vec![]),
    ] {
        let found = served.get(&ACCOUNT, "memory.search", json!({"name": "company", "query": query})).await;
        assert_eq!(names(&found), expected, "{query}");
        assert!(found["entries"].as_array().unwrap().iter().all(|entry| entry["content"].is_string()));
    }
    let one = served.get(&ACCOUNT, "memory.search", json!({"id": id, "query": "refund", "limit": 1})).await;
    assert_eq!(names(&one), ["refunds"]);
    // What was searched once is searched anew when it changes, and not found when it is forgotten, in the past as well.
    let before = served.head().await;
    served.save(&ACCOUNT, &id, "tone", "Warm.").await;
    served.get(&ACCOUNT, "memory.forget", json!({"id": id, "entry": "refunds"})).await;
    let found = served.get(&ACCOUNT, "memory.search", json!({"id": id, "query": "refund"})).await;
    assert_eq!(names(&found), ["policy"]);
    let past = json!({"id": id, "query": "refund", "as_of": {"seq": before}});
    assert_eq!(names(&served.get(&ACCOUNT, "memory.search", past.clone()).await), ["policy", "tone"]);
    assert_eq!(names(&served.get(&user("ann"), "memory.search", past).await), ["policy", "tone"]);
    served.memlog.close().await;
}
