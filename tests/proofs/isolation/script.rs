//! Every verb, as one owner plays it: what it writes, what it reads, and what it may see in the replies.

use serde_json::{Value, json};

/// In whose name a step is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// The actor's login, in its group.
    User,
    /// Nobody's: the account itself.
    Account,
    /// The login, as an administrator.
    Admin,
    /// An agent of the login.
    Agent,
    /// A session of the login.
    Session,
}

/// Whose marks may be in the reply, besides the namespace's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sees {
    /// All of the actor's.
    Own,
    /// The actor's, without what belongs to another user of its profile.
    Self_,
    /// The names of the actor, and no text of anybody.
    OwnNames,
    /// The names of all actors of the namespace, and no text of anybody.
    Names,
    /// All of the namespace.
    All,
}

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) verb: &'static str,
    pub(super) body: Value,
    pub(super) by: By,
    pub(super) sees: Sees,
    /// Names for values of the reply, by their pointers.
    pub(super) keep: Vec<(&'static str, &'static str)>,
    /// What the owner itself is answered.
    pub(super) code: u16,
    /// Whether it is idempotent under the actor's key.
    pub(super) keyed: bool,
}

fn step(verb: &'static str, body: Value) -> Step {
    Step { verb, body, by: By::User, sees: Sees::Own, keep: Vec::new(), code: 200, keyed: false }
}

impl Step {
    fn by(self, by: By) -> Self {
        Self { by, ..self }
    }

    fn sees(self, sees: Sees) -> Self {
        Self { sees, ..self }
    }

    fn keep(mut self, name: &'static str, pointer: &'static str) -> Self {
        self.keep.push((name, pointer));
        self
    }

    fn code(self, code: u16) -> Self {
        Self { code, ..self }
    }

    fn keyed(self) -> Self {
        Self { keyed: true, ..self }
    }

    /// About the actor's profile.
    fn of_profile(verb: &'static str, body: Value) -> Self {
        let mut body = body;
        body["profile"] = json!("$profile");
        step(verb, body)
    }

    /// About the actor's thread.
    fn of_thread(verb: &'static str, mut body: Value) -> Self {
        body["thread_id"] = json!("$thread");
        Self::of_profile(verb, body)
    }
}

/// Parts that may come in any order, each a story whose steps may not.
pub(super) fn parts() -> Vec<Vec<Step>> {
    vec![profile(), threads(), notebooks(), notes()]
}

/// What is done when all else is: it takes away what the others look at.
pub(super) fn end() -> Vec<Step> {
    let mut steps = vec![
        step("job.list", json!({})).by(By::Account).sees(Sees::Names),
        step("audit.events", json!({"limit": 500})).by(By::Account).sees(Sees::Names),
        step("audit.export", json!({})).by(By::Account).sees(Sees::Names),
        step("audit.stats", json!({})).by(By::Account).sees(Sees::Names),
        step("audit.verify", json!({})).by(By::Account).sees(Sees::Names),
        step("profile.list", json!({"limit": 500})).by(By::Account).sees(Sees::Names),
        step("memory.list", json!({"user_filter": "all", "limit": 500})).by(By::Account).sees(Sees::Names),
        step("note.admin_list", json!({})).by(By::Admin).sees(Sees::All),
    ];
    steps.extend(removals());
    steps
}

fn removals() -> Vec<Step> {
    let of = Step::of_profile;
    let thread = Step::of_thread;
    vec![
        thread("thread.delete_record_link", json!({"relation_id": "$relation"})),
        thread("thread.delete_memory", json!({"memory_id": "$m2"})),
        thread("thread.delete_message", json!({"message_id": "$tmsg2"})),
        thread("thread.delete_image", json!({"image_id": "$image"})),
        thread("thread.delete", json!({})),
        of("profile.forget", json!({"memory_id": "$memory2"})),
        of("profile.delete_session", json!({"session_id": "$sitting"})),
        of("speaker.remove", json!({"speaker": "$speaker"})),
        of("profile.search", json!({"query": "cat in Lisbon", "as_of": {"seq": "$seq"}})),
        step("memory.forget", json!({"id": "$book_id", "entry": "$entry"})),
        step("agent.delete", json!({"id": "$helper2_id"})),
        step("memory.delete", json!({"id": "$book2_id"})),
        step("trash.list", json!({})),
        step("trash.restore", json!({"id": "$book2_id"})),
        step("memory.delete", json!({"id": "$book2_id"})),
        step("trash.purge", json!({"id": "$book2_id"})),
        step("note.memory_remove", json!({"id": "$own_note"})),
        step("note.admin_remove", json!({"id": "$group_note"})).by(By::Admin),
        of("profile.delete", json!({})),
        of("profile.memories", json!({})).code(404),
    ]
}

fn profile() -> Vec<Step> {
    let of = Step::of_profile;
    let said = json!([{"role": "user", "content": "$said", "speaker": "$speaker", "id": "$message"}]);
    vec![
        of("profile.get", json!({})),
        of("speaker.add", json!({"speaker": "$speaker"})),
        of("profile.ingest", json!({"session_id": "$sitting", "messages": said, "wait": true})).keep("job", "/job_id"),
        of("profile.add_turn", json!({"session_id": "$sitting", "user": "$said2", "assistant": "$answer"})).keyed(),
        // The same again: nothing new for the owner, and no answer of it for anybody else.
        of("profile.add_turn", json!({"session_id": "$sitting", "user": "$said2", "assistant": "$answer"})).keyed(),
        of("profile.wait", json!({"job_id": "$job", "timeout_s": 60})),
        of("profile.wait", json!({"timeout_s": 60})),
        step("job.get", json!({"job_id": "$job"})).sees(Sees::OwnNames),
        of(
            "profile.remember",
            json!({"content": "$fact", "session_id": "$sitting", "speaker": "$speaker", "metadata": {"of": "$value"}}),
        )
        .keep("memory", "/memory/id"),
        of("profile.remember", json!({"content": "$common"})).keep("shared", "/memory/id"),
        of("profile.memory", json!({"memory_id": "$memory"})),
        of("profile.history", json!({"memory_id": "$memory"})),
        of("profile.search", json!({"query": "who adopted a cat in Lisbon", "expand": true, "include_invalid": true}))
            .keep("seq", "/seq"),
        of("profile.search", json!({"query": "dentist", "speaker": "$speaker", "metadata_filter": {"of": "$value"}})),
        of("profile.search", json!({"query": "when does the office close", "as_of": {"seq": "$seq"}})),
        of("profile.recall", json!({"query": "Who is the dentist of the family?", "thinking_level": "high"})),
        of("profile.memories", json!({"limit": 1})).keep("cursor", "/cursor"),
        of("profile.memories", json!({"limit": 500, "cursor": "$cursor"})),
        of("profile.memories", json!({"session_id": "$sitting"})),
        of("profile.summary", json!({})),
        of("profile.summary", json!({"session_id": "$sitting"})),
        of("speaker.list", json!({})),
        of("speaker.memories", json!({"speaker": "$speaker"})),
        of("profile.supersede", json!({"memory_id": "$memory", "content": "$fact2"})).keep("memory2", "/memory/id"),
        of("profile.ingest", json!({"session_id": "$sitting2", "messages": [{"role": "user", "content": "$lost"}]}))
            .keep("failed", "/job_id"),
        of("profile.wait", json!({"timeout_s": 60})),
        step("job.get", json!({"job_id": "$failed"})).sees(Sees::OwnNames),
        step("job.retry", json!({"job_id": "$failed"})).sees(Sees::OwnNames),
        of("profile.wait", json!({"timeout_s": 60})),
        of("job.list", json!({"state": "failed"})).sees(Sees::OwnNames),
        of("audit.events", json!({"limit": 500})).sees(Sees::OwnNames),
        of("audit.events", json!({"record_id": "$memory"})).sees(Sees::OwnNames),
        of("audit.export", json!({})).sees(Sees::OwnNames),
        of("profile.get", json!({})),
    ]
}

fn threads() -> Vec<Step> {
    let of = Step::of_profile;
    let thread = Step::of_thread;
    let said = json!([{"role": "user", "content": "$said3", "id": "$tmsg", "metadata": {"of": "$value"}},
        {"role": "friend", "content": "$said5", "id": "$tmsg2"}]);
    let link = json!({"source_record_id": "$m1", "source_record_type": "fact", "target_record_id": "$m2",
        "target_record_type": "fact", "relation_type": "supports", "metadata": {"of": "$value"}});
    let kin = json!([{"role": "user", "content": "$kin_said"}]);
    vec![
        thread("thread.create", json!({"user_id": "$uid", "agent_id": "$aid", "metadata": {"of": "$value"}})),
        of("thread.create", json!({"thread_id": "$kin_thread", "user_id": "$kin_uid", "agent_id": "$aid"})),
        thread("thread.add_messages", json!({"messages": said})),
        of("thread.add_messages", json!({"thread_id": "$kin_thread", "messages": kin})),
        thread("thread.wait_for_memory_extraction", json!({})),
        of("thread.wait_for_memory_extraction", json!({"thread_id": "$kin_thread"})),
        thread("thread.get", json!({})),
        of("thread.list", json!({})),
        of("thread.list", json!({"user_id": "$uid"})).sees(Sees::Self_),
        thread("thread.get_messages", json!({})).sees(Sees::Self_),
        thread("thread.get_message", json!({"message_id": "$tmsg"})).sees(Sees::Self_),
        thread("thread.update_message", json!({"message_id": "$tmsg", "content": "$said4"})),
        thread("thread.wait_for_memory_extraction", json!({})),
        thread("thread.add_memory", json!({"content": "$fact", "memory_type": "fact", "metadata": {"of": "$value"}}))
            .keep("m1", "/memory_id"),
        thread("thread.add_memory", json!({"content": "$fact3", "memory_type": "fact"})).keep("m2", "/memory_id"),
        of("thread.add_memory", json!({"thread_id": "$kin_thread", "content": "$kin_fact", "memory_type": "fact"})),
        thread("thread.update_memory", json!({"memory_id": "$m1", "metadata": {"now": "$value"}})),
        thread("thread.link_records", link).keep("relation", "/relation_id"),
        thread("thread.update_record_link", json!({"relation_id": "$relation", "metadata": {"of": "$value"}})),
        thread("thread.list_record_links", json!({"record_id": "$m1"})).sees(Sees::Self_),
        thread("thread.add_image", json!({"image": "$picture", "image_id": "$image", "description": "$note"})),
        thread("thread.update_image", json!({"image_id": "$image", "metadata": {"of": "$value"}})),
        thread("thread.list_images", json!({"image_id": "$image", "include_bytes": true})),
        thread("thread.search", json!({"query": "where is the key, and what is the password", "num_hops": 2}))
            .sees(Sees::Self_),
        thread("thread.search", json!({"query": "where is the key", "user_id": "$uid", "exact_thread_match": true}))
            .sees(Sees::Self_),
        thread("thread.get_context_card", json!({"max_recent_messages": 5})).sees(Sees::Self_),
        thread("thread.get_summary", json!({})).sees(Sees::Self_),
    ]
}

fn notebooks() -> Vec<Step> {
    let told = json!({"memory": "$firm_id", "writes": false});
    vec![
        step("memory.create", json!({"name": "$firm", "description": "$firm_page"}))
            .by(By::Account)
            .keep("firm_id", "/memory/id"),
        step(
            "memory.save",
            json!({"id": "$firm_id", "entry": "$firm_entry", "content": "$firm_page", "description": "$firm"}),
        )
        .by(By::Account),
        step(
            "memory.save",
            json!({"id": "$firm_id", "entry": "$own_entry", "content": "$page", "description": "$title"}),
        ),
        step("memory.read", json!({"id": "$firm_id", "entry": "$own_entry"})),
        step("memory.entries", json!({"id": "$firm_id"})).by(By::Account).sees(Sees::Names),
        step("memory.search", json!({"name": "$firm", "query": "closes refunds"})),
        step("memory.create", json!({"name": "$book", "description": "$book"})).keep("book_id", "/memory/id"),
        step("memory.create", json!({"name": "$book2", "description": "$book"})).keep("book2_id", "/memory/id"),
        step("memory.get", json!({"name": "$book"})),
        step("memory.get", json!({"id": "$book_id"})),
        step("memory.get", json!({"name": "$book", "create_if_missing": true})),
        step("memory.update", json!({"id": "$book_id", "description": "$book"})),
        step("memory.save", json!({"name": "$book", "entry": "$entry", "content": "$page", "description": "$title"})),
        step("memory.save", json!({"id": "$book_id", "entry": "$entry", "content": "$page2", "version": 1})),
        step("memory.read", json!({"id": "$book_id", "entry": "$entry"})),
        step("memory.history", json!({"id": "$book_id", "entry": "$entry"})),
        step("memory.entries", json!({"id": "$book_id"})),
        step("memory.search", json!({"id": "$book_id", "query": "refund"})),
        step("memory.list", json!({"limit": 500})),
        step("agent.create", json!({"name": "$helper", "instructions": "$fact", "memories": [told]}))
            .keep("agent", "/agent/id")
            .keep("agent_book", "/agent/memory_id"),
        step("agent.get", json!({"name": "$helper"})),
        step("agent.get", json!({"name": "$helper2", "create_if_missing": true})).keep("helper2_id", "/agent/id"),
        step("agent.update", json!({"id": "$agent", "instructions": "$fact2"})),
        step(
            "memory.save",
            json!({"id": "$agent_book", "entry": "$entry", "content": "$page", "description": "$title"}),
        )
        .by(By::Agent),
        step("agent.brief", json!({"agent": "$agent", "format": "markdown"})).by(By::Agent),
        step("agent.list", json!({})),
    ]
}

fn notes() -> Vec<Step> {
    let to_all = json!({"level": "all", "name": "$firm", "body": "$all_html"});
    let to_group = json!({"level": "group", "group": "$group", "name": "$title", "body": "$html"});
    vec![
        step("note.admin_save", to_all).by(By::Admin).keep("all_note", "/note/id"),
        step("note.admin_save", to_group).by(By::Admin).keep("group_note", "/note/id"),
        step("note.memory_save", json!({"name": "$title", "body": "$html", "info": "$fact"}))
            .keep("own_note", "/note/id"),
        step("note.memory_save", json!({"id": "$own_note", "body": "$html2"})),
        step("note.kind_add", json!({"kind_key": "$kind", "title": "$kind"})).by(By::Admin),
        step("note.kinds", json!({})),
        step("note.memory_list", json!({})),
        step("note.memory_load", json!({"ids": ["$all_note", "$group_note", "$own_note"], "format": "markdown"})),
        step("note.session_connect", json!({})).keep("session", "/session"),
        step("note.memory_load", json!({"critical": true})).by(By::Session),
        step("memory.list", json!({"limit": 500})).by(By::Session),
    ]
}

/// The lock of an editor is one for the whole namespace, so its steps are played by one actor while nobody else saves.
pub(super) fn editor() -> Vec<Step> {
    vec![
        step("note.editor_open", json!({})).by(By::Admin),
        step("note.editor_open", json!({})).by(By::Admin),
        step("note.editor_close", json!({})).by(By::Admin),
    ]
}
