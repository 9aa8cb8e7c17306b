//! What an agent may read and write, what it is shown at the start of a turn, and that it manages nothing.

use serde_json::{Value, json};

use super::{ACCOUNT, Served, names, text, user};

/// Whether an agent reads and writes a memory: the code of a refusal, or none.
async fn reach(served: &Served, caller: &super::Caller, memory: &str) -> [Option<u16>; 2] {
    let read = served.ask(caller, "memory.entries", json!({"id": memory})).await;
    let save = json!({"id": memory, "entry": "probe", "content": "x", "description": "x"});
    let saved = served.ask(caller, "memory.save", save).await;
    [read.err(), saved.err()].map(|error| error.map(|error| error.kind.code()))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_reads_what_it_attaches_and_writes_what_it_may() {
    let Some(served) = Served::start().await else { return };
    let (ann, bob) = (user("ann"), user("bob"));
    let [company, secret] = [served.memory(&ACCOUNT, "company").await, served.memory(&ACCOUNT, "secret").await];
    let diary = served.memory(&ann, "diary").await;
    let support = served.agent(&ACCOUNT, "support", json!([{"memory": company}])).await;
    let closer = served.agent(&ACCOUNT, "closer", json!([{"memory": company, "writes": true}])).await;
    let attach = json!([{"memory": company, "writes": false}, {"memory": diary, "writes": true}]);
    let anns = served.agent(&ann, "helper", attach).await;
    let [support, closer, anns_id] = [&support, &closer, &anns].map(|agent| text(agent, "id").to_owned());
    let own = text(&anns, "memory_id").to_owned();
    let (open, both) = ([None, None], [Some(403), Some(403)]);
    for (caller, memory, expected) in [
        (ACCOUNT.agent(&support), &company, [None, Some(403)]),
        (ann.clone().agent(&support), &company, [None, Some(403)]),
        (ACCOUNT.agent(&closer), &company, open),
        (ann.clone().agent(&closer), &company, open),
        (ACCOUNT.agent(&support), &secret, both),
        (ACCOUNT.agent(&support), &diary, both),
        // Another user's is not there, which is said before the question of what is attached.
        (bob.clone().agent(&support), &diary, [Some(404), Some(404)]),
        // A user's agent acts for that user, whether the header says so or not, and for nobody else.
        (ann.clone().agent(&anns_id), &diary, open),
        (ACCOUNT.agent(&anns_id), &diary, open),
        (ACCOUNT.agent(&anns_id), &company, [None, Some(403)]),
        (bob.clone().agent(&anns_id), &company, [Some(404), Some(404)]),
        (ann.clone().agent(&anns_id), &own, open),
        (ann.clone().agent(&support), &own, both),
        (ACCOUNT.agent("nobody"), &company, [Some(404), Some(404)]),
    ] {
        assert_eq!(reach(&served, &caller, memory).await, expected, "{caller:?} {memory}");
    }
    let lost = served.refuse(404, &ACCOUNT.agent("nobody"), "memory.list", json!({})).await;
    assert_eq!(lost.fields["agent"], "nobody");
    // What an agent writes for a user lies in that user's layer, and is the agent's by name.
    let probe = json!({"id": company, "entry": "probe"});
    let read = served.get(&ann, "memory.read", probe.clone()).await;
    assert_eq!(
        (&read["entry"]["user_id"], text(&read["entry"], "updated_by")),
        (&json!("ann"), &*format!("agent:{closer}"))
    );
    served.get(&ann.clone().agent(&closer), "memory.forget", probe.clone()).await;
    assert_eq!(served.get(&ann, "memory.read", probe).await["entry"]["user_id"], Value::Null);
    served.memlog.close().await;
}

// Whoever holds an agent's id could else give it more than it was given.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_manages_nothing_and_sees_itself_alone() {
    let Some(served) = Served::start().await else { return };
    let [company, secret] = [served.memory(&ACCOUNT, "company").await, served.memory(&ACCOUNT, "secret").await];
    let support = served.agent(&ACCOUNT, "support", json!([{"memory": company, "writes": true}])).await;
    let other = text(&served.agent(&ACCOUNT, "other", json!([])).await, "id").to_owned();
    let id = text(&support, "id");
    let acting = ACCOUNT.agent(id);
    served.get(&ACCOUNT, "memory.delete", json!({"id": secret})).await;
    for (verb, request) in [
        ("memory.create", json!({"name": "mine"})),
        ("agent.create", json!({"name": "mine"})),
        ("agent.update", json!({"id": id, "memories": [{"memory": secret, "writes": true}]})),
        ("agent.delete", json!({"id": other})),
        ("agent.get", json!({"id": other})),
        ("agent.brief", json!({"agent": other})),
        ("trash.list", json!({})),
        ("trash.restore", json!({"id": secret})),
        ("trash.purge", json!({"id": secret})),
    ] {
        served.refuse(403, &acting, verb, request).await;
    }
    served.refuse(404, &acting, "memory.get", json!({"name": "mine", "create_if_missing": true})).await;
    assert_eq!(
        served.refuse(409, &acting, "memory.delete", json!({"id": company})).await.fields["attached_to"][0]["id"],
        id
    );
    served.get(&acting, "agent.get", json!({"id": id})).await;
    let listed = served.get(&acting, "agent.list", json!({})).await;
    assert_eq!(listed["agents"].as_array().unwrap().len(), 1);
    let listed = served.get(&acting, "memory.list", json!({})).await;
    assert_eq!(
        listed["memories"].as_array().unwrap().iter().map(|it| &it["id"]).collect::<Vec<_>>(),
        [&json!(company)]
    );
    served.memlog.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_be_attached_depends_on_whose_it_is() {
    let Some(served) = Served::start().await else { return };
    let (ann, bob) = (user("ann"), user("bob"));
    let nowhere = "0198a000-0000-7000-8000-000000000001";
    // In a namespace in which nothing is yet, a refused command leaves nothing.
    served.refuse(404, &ACCOUNT, "agent.create", json!({"name": "a", "memories": [{"memory": nowhere}]})).await;
    assert_eq!(served.head().await, 0);
    let company = served.memory(&ACCOUNT, "company").await;
    let diary = served.memory(&ann, "diary").await;
    let anns = served.agent(&ann, "helper", json!([])).await;
    for (caller, memory, writes, code) in [
        (&ann, company.as_str(), true, 403),
        (&bob, diary.as_str(), false, 404),
        (&ACCOUNT, diary.as_str(), false, 403),
        (&ACCOUNT, nowhere, false, 404),
        (&ACCOUNT, "no-id", false, 404),
        (&bob, text(&anns, "memory_id"), false, 404),
    ] {
        let request = json!({"name": "probe", "memories": [{"memory": memory, "writes": writes}]});
        served.refuse(code, caller, "agent.create", request).await;
    }
    let own = json!({"id": anns["id"], "memories": [{"memory": anns["memory_id"]}]});
    assert_eq!(served.refuse(400, &ann, "agent.update", own).await.fields["field"], "memories");
    let typo = json!({"name": "probe", "memories": [{"memory": company, "write": true}]});
    assert_eq!(served.refuse(400, &ACCOUNT, "agent.create", typo).await.fields["field"], "memories[0].write");
    // Agents are unique in their scope, like memories, and out of other users' reach.
    served.refuse(409, &ann, "agent.create", json!({"name": "helper"})).await;
    served.agent(&bob, "helper", json!([])).await;
    for (verb, request) in [
        ("agent.get", json!({"id": anns["id"]})),
        ("agent.update", json!({"id": anns["id"], "name": "x"})),
        ("agent.delete", json!({"id": anns["id"]})),
    ] {
        served.refuse(404, &bob, verb, request).await;
    }
    assert_eq!(served.refuse(404, &bob, "agent.brief", json!({"agent": anns["id"]})).await.fields["agent"], anns["id"]);
    served.refuse(403, &ACCOUNT, "agent.brief", json!({"agent": anns["id"]})).await;
    served.refuse(403, &ACCOUNT, "agent.update", json!({"id": anns["id"], "name": "x"})).await;
    let shared = served.agent(&ACCOUNT, "support", json!([])).await;
    served.refuse(403, &ann, "agent.update", json!({"id": shared["id"], "name": "x"})).await;
    served.refuse(403, &ann, "agent.delete", json!({"id": shared["id"]})).await;
    assert_eq!(served.get(&ann, "agent.get", json!({"name": "support"})).await["agent"]["id"], shared["id"]);
    served.memlog.close().await;
}

// What an agent is shown before every turn: its own memory, then the attached in order, in both layers, with one line each.
#[tokio::test(flavor = "multi_thread")]
async fn a_brief_shows_all_that_an_agent_can_read_and_nothing_else() {
    let Some(served) = Served::start().await else { return };
    let (ann, bob) = (user("ann"), user("bob"));
    let [company, team] = [served.memory(&ACCOUNT, "company").await, served.memory(&ACCOUNT, "team").await];
    let attach = json!([{"memory": team}, {"memory": company, "writes": true}]);
    let support = served.agent(&ACCOUNT, "support", attach).await;
    let (id, own) = (text(&support, "id"), text(&support, "memory_id"));
    served.save(&ACCOUNT, &company, "tone", "Warm.").await;
    served.save(&ACCOUNT, &company, "hours", "Nine.").await;
    served.save(&ACCOUNT, &team, "who", "Us.").await;
    served.save(&ACCOUNT.agent(id), own, "todo", "Nothing.").await;
    let before = served.head().await;
    served.save(&ann.clone().agent(id), &company, "tone", "Dry.").await;
    served.save(&bob, &company, "allergy", "Nuts.").await;
    let brief = served.get(&ann, "agent.brief", json!({"agent": id, "format": "markdown"})).await;
    let shown: Vec<_> = brief["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(it, "memory"), text(it, "name"), &it["user_id"]))
        .collect();
    let (none, anns) = (Value::Null, json!("ann"));
    assert_eq!(
        shown,
        [
            (own, "todo", &none),
            (&team, "who", &none),
            (&company, "hours", &none),
            (&company, "tone", &anns),
            (&company, "tone", &none),
        ]
    );
    assert_eq!(
        text(&brief, "text"),
        "## own memory\n\n- **todo**: About todo\n\n## team\n\n- **who**: About who\n\n## company\n\n- **hours**: About hours\n\
         - **tone** (this user): About tone\n- **tone**: About tone\n"
    );
    let plain = served.get(&ACCOUNT, "agent.brief", json!({"agent": id})).await;
    assert_eq!(names(&plain), ["todo", "who", "hours", "tone"]);
    assert!(plain.get("text").is_none());
    let past = served.get(&ann, "agent.brief", json!({"agent": id, "as_of": {"seq": before}})).await;
    assert_eq!(past["entries"], plain["entries"]);
    // What is detached is gone from the brief and out of reach, of the past as well.
    served.get(&ACCOUNT, "agent.update", json!({"id": id, "memories": [{"memory": company}]})).await;
    let past = json!({"agent": id, "as_of": {"seq": before}});
    assert_eq!(names(&served.get(&ACCOUNT, "agent.brief", past).await), ["todo", "hours", "tone"]);
    let read = json!({"id": team, "entry": "who", "as_of": {"seq": before}});
    served.refuse(403, &ACCOUNT.agent(id), "memory.read", read.clone()).await;
    served.get(&ACCOUNT, "memory.read", read).await;
    served.memlog.close().await;
}
