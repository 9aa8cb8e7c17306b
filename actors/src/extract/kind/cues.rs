//! The phrases by which types are known, in lower case and without marks.

/// Openings of an English rule for the agent, "please" taken off.
#[rustfmt::skip]
pub(super) const RULES: &[&str] = &[
    "always", "never", "from now on", "from here on", "going forward", "in the future", "in future", "call me",
    "address me", "refer to me", "don't", "do not", "don't ever", "stop", "avoid", "use", "make sure", "be sure to",
    "keep your", "keep the", "keep answers", "keep replies", "keep it", "be concise", "be brief", "be direct",
    "answer in", "answer me", "answer with", "answer always", "respond in", "respond with", "respond to", "reply in",
    "reply with", "reply to", "speak to me", "speak in", "talk to me", "write in", "write all", "write every",
    "i want you to", "i need you to", "i'd like you to", "you should always", "you should never", "you must", "you must never",
    "prefer", "default to", "assume", "only use", "only answer", "treat", "format", "answer without", "reply without",
    "answer only", "reply only", "answer like", "answer as", "respond without", "respond only", "respond as", "write without",
    "write only", "speak like", "speak as", "talk like", "keep all", "keep every", "no more", "only give", "only show",
    "only suggest", "only recommend", "stick to", "refrain from",
];

/// Words that make an order of the moment a rule: "show amounts in euros, always", "give me only …".
pub(super) const STANDING: &[&str] = &[
    "only",
    "always",
    "never",
    "from now on",
    "every time",
    "each time",
    "whenever",
    "by default",
    "in general",
    "at all times",
    "in future",
    "in the future",
    "no longer",
    "anymore",
    "any more",
    "when i",
    "when we",
    "if i ask",
    "as a rule",
];

/// Verbs by which an agent serves: with "only" or "no …" in it, an order with them is a rule.
pub(super) const SERVING: &[&str] = &[
    "give",
    "show",
    "tell",
    "suggest",
    "recommend",
    "list",
    "use",
    "write",
    "explain",
    "answer",
    "reply",
    "respond",
    "keep",
    "make",
    "translate",
    "summarize",
    "summarise",
    "format",
    "include",
    "start",
    "end",
    "begin",
    "run",
    "check",
    "add",
    "let",
    "send",
];

/// Openings that look like rules and are not.
#[rustfmt::skip]
pub(super) const NOT_RULES: &[&str] = &[
    "don't worry", "don't know", "don't think", "don't you", "don't get me wrong", "don't mind", "don't mention it",
    "do not worry", "never mind", "never been", "never had", "never have", "never did", "never heard", "never thought", "always wanted",
    "always loved", "always liked", "always been", "don't forget", "don't let me forget", "do not forget", "use it",
    "use the first", "use the second", "use the third", "use the last", "use the other", "use this", "use that", "use option",
    "stop it", "never again", "don't be", "don't give up", "always happy", "always a pleasure", "never give",
    "keep it up", "keep it going", "stop being", "don't stop", "never stop",
];

/// Openings of an English task.
pub(super) const TASK_OPENINGS: &[&str] = &[
    "remind me",
    "todo",
    "to do",
    "to-do",
    "don't forget to",
    "do not forget to",
    "don't let me forget",
    "remember to",
    "action item",
    "next step",
    "don't forget",
    "dont forget",
    "do not forget",
    "todos",
    "to dos",
    "to-dos",
    "reminder",
    "need to",
    "needa",
    "gotta",
    "have to",
    "must",
    "got to",
];

/// Phrases of duty anywhere in an English statement.
pub(super) const DUTIES: &[&str] = &[
    "i need to",
    "i still need to",
    "i have to",
    "i still have to",
    "i must",
    "i should",
    "i've got to",
    "i gotta",
    "i ought to",
    "i'm supposed to",
    "we need to",
    "we have to",
    "we must",
    "we should",
    "we've got to",
    "we still need to",
    "we still have to",
    "we gotta",
    "someone has to",
    "somebody has to",
    "someone needs to",
    "user needs to",
    "user has to",
    "user must",
    "needs to be done",
    "has to be done",
    "my task is",
    "remind me to",
    "on my to-do list",
    "on my todo list",
];

/// Phrases with the words of duty that mean none.
pub(super) const NOT_TASKS: &[&str] = &[
    "have to say",
    "have to admit",
    "must say",
    "must admit",
    "need to know",
    "should say",
    "should mention",
    "should have",
    "must have",
    "should note",
    "should add",
    "have to agree",
    "need to vent",
    "need to ask",
    "should know",
    "must be",
    "should be fine",
    "should probably mention",
    "we should talk",
    "we should catch up",
    "we should hang out",
    "we should totally",
];

/// What a person says they will do and owes then.
pub(super) const COMMITMENTS: &[&str] = &[
    "send", "call", "finish", "submit", "pay", "buy", "book", "email", "prepare", "fix", "bring", "order", "pick",
    "return", "renew", "schedule", "deliver", "review",
];

/// What an assistant can owe. "Explain", "help" and "keep in mind" are done at once or never.
#[rustfmt::skip]
pub(super) const PROMISES: &[&str] = &[
    "send", "remind", "check", "look", "prepare", "book", "schedule", "follow", "get", "email", "call", "update",
    "notify", "order", "buy", "reserve", "arrange", "draft", "deliver", "share", "post", "finish", "ping", "alert",
    "message", "forward", "report", "investigate", "file", "create", "set", "track", "monitor", "renew", "cancel",
    "compile", "write", "put", "add", "make", "run", "test", "fix", "plan", "research", "collect", "gather", "bring", "call",
    "upload", "deploy", "publish", "translate", "sort", "clean", "move", "rewrite", "contact", "ask", "confirm", "find",
];

/// What is promised and done in the same breath, or never.
#[rustfmt::skip]
pub(super) const AT_ONCE: &[&str] = &[
    "explain", "help", "keep", "be", "try", "do", "assume", "show", "give", "use", "start", "remember", "note", "need", "stop",
    "answer", "walk", "go", "take", "tell", "say", "guess", "think", "have", "see", "know", "respond", "reply", "wait", "admit",
];

/// Past forms that tell a state or a saying, not a happening.
#[rustfmt::skip]
pub(super) const STATES: &[&str] = &[
    "was", "were", "had", "used", "felt", "thought", "knew", "wanted", "needed", "liked", "loved", "hated",
    "preferred", "called", "named", "based", "said", "told", "meant", "interested", "excited", "tired", "scared",
    "worried", "married", "allergic", "supposed", "kept", "believed", "seemed", "looked", "understood", "understand",
    "enjoyed", "stressed", "located", "gifted", "talented", "related", "did", "made",
];

/// Rules in other languages: how the sentence starts, and what it must hold besides.
#[rustfmt::skip]
pub(super) const FOREIGN_RULES: &[(&str, &str)] = &[
    ("a partir de ahora", ""), ("de ahora en adelante", ""), ("siempre", "responde"), ("siempre", "usa"),
    ("responde", ""), ("contesta", ""), ("respóndeme", ""), ("contéstame", ""), ("nunca uses", ""), ("no uses", ""),
    ("usa siempre", ""), ("llámame", ""), ("háblame", ""), ("всегда", "й"), ("всегда", "те"), ("отвечай", ""),
    ("отвечайте", ""), ("никогда не", "й"), ("называй меня", ""), ("зови меня", ""), ("с этого момента", ""),
    ("впредь", ""), ("используй", ""), ("пиши", ""), ("не используй", ""), ("обращайся", ""),
    ("à partir de maintenant", ""), ("désormais", ""), ("réponds", ""), ("répondez", ""), ("appelle-moi", ""),
    ("appelez-moi", ""), ("utilise toujours", ""), ("n'utilise jamais", ""), ("ab jetzt", ""), ("ab sofort", ""),
    ("antworte", ""), ("antworten sie", ""), ("nenn mich", ""), ("nenne mich", ""), ("verwende", ""),
    ("benutze", ""), ("a partir de agora", ""), ("responda", ""), ("me chame de", ""), ("use sempre", ""),
    ("nunca use", ""), ("não use", ""), ("必ず", "ください"), ("いつも", "ください"), ("常に", "ください"), ("今後", "ください"),
    ("これから", "ください"), ("ないでください", ""), ("と呼んで", ""), ("絶対に", "ください"), ("必ず", "して"), ("항상", "세요"), ("항상", "줘"),
    ("언제나", "세요"), ("앞으로", "세요"), ("앞으로", "줘"), ("절대", "마"), ("지 마세요", ""), ("라고 불러", ""), ("이라고 불러", ""),
    ("항상", "주십시오"), ("请用", ""), ("请总是", ""), ("请始终", ""), ("以后请", ""), ("从现在起", ""), ("从现在开始", ""), ("请叫我", ""),
    ("叫我", ""), ("请不要", ""), ("永远不要", ""), ("总是用", ""), ("no me recomiendes", ""), ("no me des", ""),
    ("no pongas", ""), ("no hagas", ""), ("no escribas", ""), ("no respondas", ""), ("no me hables", ""), ("no incluyas", ""),
    ("no me sugieras", ""), ("escribe siempre", ""), ("habla", "como"), ("trátame", ""), ("tutéame", ""), ("не пиши", ""),
    ("не предлагай", ""), ("не советуй", ""), ("не отвечай", ""), ("говори", ""), ("не пишите", ""), ("отвечай только", ""),
    ("обращайтесь", ""), ("ないで", "答え"), ("ないで", "書い"), ("ないで", "使"), ("使わないで", ""), ("しないで", ""), ("やめてください", ""),
    ("で答えて", ""), ("で書いて", ""), ("で話して", ""), ("で返事して", ""), ("短く答え", ""), ("簡潔に", "て"), ("지 말고", "대답"),
    ("지 말고", "써"), ("지 말고", "말해"), ("쓰지 말", ""), ("지 마", ""), ("로 써", ""), ("로 대답", ""), ("로 답", ""), ("로 말해", ""),
    ("짧게", "대답"), ("짧게", "답"), ("간단히", "답"), ("반말로", ""), ("존댓말로", ""),
];

/// Tasks in other languages.
#[rustfmt::skip]
pub(super) const FOREIGN_TASKS: &[&str] = &[
    "recuérdame", "tengo que", "debo", "no olvides", "no te olvides", "no me dejes olvidar", "hay que",
    "tenemos que", "necesito comprar", "necesito llamar", "напомни", "напомните", "мне нужно", "мне надо",
    "нам нужно", "нам надо", "не забудь", "не забыть", "я должен", "я должна", "мы должны", "rappelle-moi",
    "rappelez-moi", "je dois", "il faut que je", "n'oublie pas", "nous devons", "on doit", "erinnere mich",
    "erinnern sie mich", "ich muss", "wir müssen", "vergiss nicht", "me lembre", "lembre-me", "lembra-me", "preciso",
    "não esqueça", "temos que", "tenho que", "リマインド", "思い出させ", "しなければ", "忘れないで", "しないといけ", "する必要があり", "なければなりません",
    "なきゃ", "잊지 말", "해야 해", "해야 합", "해야 돼", "해야 한다", "리마인드", "상기시켜", "해야해", "해야 돼요",
    "해야 해요", "提醒我", "我需要", "别忘", "我得", "我必须", "我们需要", "不要忘", "no me olvide", "hay que comprar",
    "me toca", "надо", "нужно", "необходимо", "не забывай", "忘れないように", "ないといけない", "なくちゃ", "なければならない",
    "ないとだめ", "必要がある", "잊지 않게", "야 돼", "야 해", "야 합", "야 한", "야 되", "야겠", "라고 알려", "다고 알려", "라고 얘기해",
];

/// Promises in other languages.
#[rustfmt::skip]
pub(super) const FOREIGN_PROMISES: &[&str] = &[
    "te enviaré", "te recordaré", "le enviaré", "le recordaré", "te avisaré", "te mandaré", "я напомню", "я пришлю",
    "я отправлю", "я сообщу", "je vous enverrai", "je t'enverrai", "je vous rappellerai", "je te rappellerai",
    "ich schicke dir", "ich schicke ihnen", "ich erinnere dich", "ich werde dich erinnern", "ich sende",
    "vou te enviar", "vou te lembrar", "enviarei", "リマインドします", "お送りします", "送ります", "お知らせします", "보내 드리겠습니다", "보내드리겠습니다",
    "알려 드리겠습니다", "알려드리겠습니다", "알려 드릴게요", "알려드릴게요", "我会提醒", "我会发", "我会通知", "보내 드릴게요", "보내드릴게요",
    "준비해 드릴게요", "준비하겠습니다", "확인해 보겠습니다", "보내겠습니다", "お届けします", "ご連絡します", "確認します", "準備します", "作成します",
    "пришлю", "напомню", "отправлю", "сообщу", "подготовлю", "проверю", "составлю", "позвоню", "закажу", "te preparo", "te envío",
    "te mando", "te aviso", "te lo envío", "prepararé", "enviaré", "revisaré", "avisaré", "haré", "reservaré", "je prépare",
    "je préparerai", "j'enverrai", "je vérifierai", "ich bereite", "ich prüfe", "ich melde mich", "ich schaue", "prepararei",
    "verificarei", "vou preparar", "vou verificar",
];
