//! The phrases, all in lower case and without marks. Longer ones need no order: the longest that fits is taken.

/// English openings of a question that may lack its mark.
#[rustfmt::skip]
pub(super) const ASKING: &[&str] = &[
    "what is", "what's", "what are", "what do", "what does", "what did", "what would", "what should", "what can",
    "what kind", "how do", "how does", "how did", "how can", "how is", "how are", "how's", "how about", "how much",
    "how many", "how long", "how often", "how should", "how would", "what about", "what if", "why is", "why are",
    "why do", "why does", "why did", "why don't", "where is", "where are", "where do", "where can", "where should",
    "when is", "when do", "when does", "when should", "who is", "who are", "who's", "which is", "which one",
    "which are", "can you", "could you", "would you", "will you", "do you", "did you", "are you", "have you",
    "is there", "are there", "is it", "is that", "is this", "can i", "could i", "may i", "should i", "do i", "am i",
    "can we", "could we", "should we", "any idea", "any tips", "any advice", "any suggestions", "does it",
    "does that", "does anyone", "don't you", "isn't it", "aren't you",
];

/// Subjects of a question, behind its verb.
#[rustfmt::skip]
pub(super) const ASKED: &[&str] = &[
    "i", "you", "u", "we", "he", "she", "it", "they", "there", "this", "that", "these", "those", "the", "a", "an", "my", "your",
    "our", "his", "her", "their", "anyone", "anybody", "someone", "somebody", "everyone", "people",
];

/// Behind "what" or "how" these tell instead of asking.
pub(super) const TOLD: &[&str] =
    &["i", "i'm", "i've", "we", "we're", "he", "she", "they", "my", "our", "matters", "happened", "ever"];

/// Verbs that change places with the subject of a question.
pub(super) const INVERTING: &[&str] =
    &["is", "are", "was", "were", "do", "does", "did", "should", "can", "could", "will", "would", "have", "has"];

/// What "any" asks for.
pub(super) const ANY: &[&str] = &[
    "ideas",
    "idea",
    "tips",
    "tip",
    "advice",
    "suggestions",
    "suggestion",
    "recommendations",
    "recommendation",
    "good",
    "chance",
    "thoughts",
    "way",
    "news",
    "updates",
    "other",
    "recipes",
    "places",
    "books",
];

/// Numbers in words: what is counted is said of something.
pub(super) const NUMBERS: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty",
    "thirty", "forty", "fifty", "hundred", "thousand", "half", "twice",
];

/// What is written for everybody.
pub(super) const SOURCES: &[&str] = &[
    "article",
    "study",
    "studies",
    "paper",
    "post",
    "video",
    "report",
    "blog",
    "website",
    "site",
    "tutorial",
    "docs",
    "documentation",
    "manual",
    "ad",
    "tweet",
    "thread",
    "author",
    "book",
    "newspaper",
    "wikipedia",
    "magazine",
    "podcast",
];

/// How such a source speaks.
pub(super) const CLAIMING: &[&str] = &[
    "says",
    "say",
    "said",
    "claims",
    "claim",
    "claimed",
    "states",
    "stated",
    "reports",
    "suggests",
    "suggest",
    "argues",
    "recommends",
    "explains",
    "shows",
    "show",
    "found",
    "writes",
];

/// Whole sentences that begin so are thanks.
#[rustfmt::skip]
pub(super) const THANKS: &[&str] = &[
    "thank god", "thank goodness",
    "thanks", "thank you", "thx", "many thanks", "cheers", "much appreciated", "i appreciate it",
    "i really appreciate", "i appreciate your", "gracias", "muchas gracias", "mil gracias", "te agradezco",
    "спасибо", "большое спасибо", "благодарю", "merci", "danke", "vielen dank", "obrigado", "obrigada",
    "muito obrigado", "muito obrigada", "감사합니다", "고맙습니다", "고마워", "고마워요", "정말 감사합니다", "정말 고마워요",
];

/// Thanks of languages without spaces, anywhere in the sentence.
pub(super) const UNSPACED_THANKS: &[&str] =
    &["ありがとう", "感謝します", "助かりました", "谢谢", "謝謝", "多谢", "感谢"];

/// Phrases of which small talk is made.
#[rustfmt::skip]
pub(super) const SMALL_TALK: &[&str] = &[
    "hi", "hello", "hey", "hiya", "hi there", "hello there", "hey there", "good morning", "good afternoon",
    "good evening", "good night", "morning", "good to see you", "nice to meet you", "long time no see", "bye",
    "bye bye", "goodbye", "see you", "see you later", "see you soon", "see ya", "talk to you soon",
    "talk to you later", "talk soon", "take care", "have a nice day", "have a great day", "have a good one",
    "have a great weekend", "good luck", "ok", "okay", "ok then", "k", "great", "good", "perfect", "cool", "nice",
    "awesome", "amazing", "wonderful", "fantastic", "excellent", "brilliant", "lovely", "sweet", "sure",
    "sure thing", "yes", "yeah", "yep", "yup", "no", "nope", "nah", "right", "exactly", "absolutely", "definitely",
    "totally", "of course", "agreed", "got it", "understood", "makes sense", "sounds good", "sounds great",
    "will do", "no worries", "no problem", "you're welcome", "my pleasure", "wow", "oh", "oh no", "ah", "aw", "aww",
    "hmm", "hm", "um", "uh", "well", "lol", "haha", "hahaha", "ha", "omg", "yay", "congrats", "congratulations",
    "happy birthday", "please", "sorry", "maybe", "perhaps", "me too", "same here", "same", "not yet", "not really",
    "i see", "i agree", "i know", "i understand", "i think so", "i guess", "i don't know", "that's it", "never mind",
    "nevermind", "done", "so", "then", "again", "all good", "totally agree", "true", "indeed", "all right",
    "alright", "fine", "there", "everyone", "guys", "mate", "dear", "also", "and", "hola", "buenos días",
    "buenas tardes", "buenas noches", "buenas", "qué tal", "adiós", "hasta luego", "hasta mañana", "hasta pronto",
    "nos vemos", "chao", "vale", "perfecto", "genial", "claro", "bien", "muy bien", "de acuerdo", "entendido", "sí",
    "de nada", "por favor", "estupendo", "qué bien", "olá", "oi", "bom dia", "boa tarde", "boa noite", "tchau",
    "até logo", "até amanhã", "tudo bem", "perfeito", "claro que sim", "sim", "não", "ótimo", "certo", "entendi",
    "bonjour", "bonsoir", "bonne nuit", "salut", "coucou", "au revoir", "à bientôt", "à demain", "d'accord",
    "parfait", "super", "oui", "non", "bien sûr", "très bien", "de rien", "bonne journée", "hallo", "guten morgen",
    "guten tag", "guten abend", "gute nacht", "servus", "moin", "tschüss", "tschüs", "auf wiedersehen", "bis bald",
    "bis morgen", "bis später", "gut", "sehr gut", "alles klar", "in ordnung", "ja", "nein", "genau", "prima",
    "bitte", "gern geschehen", "verstanden", "klar", "привет", "здравствуйте", "здравствуй", "доброе утро",
    "добрый день", "добрый вечер", "доброй ночи", "спокойной ночи", "пока", "до свидания", "до встречи", "до завтра",
    "хорошо", "понял", "поняла", "понятно", "ясно", "ладно", "да", "нет", "отлично", "супер", "круто", "окей", "ок",
    "конечно", "пожалуйста", "всего доброго", "не за что", "здорово", "договорились", "こんにちは", "こんばんは", "おはようございます",
    "おはよう", "おやすみなさい", "おやすみ", "さようなら", "またね", "また明日", "じゃあね", "では", "はい", "いいえ", "うん", "ええ", "わかりました", "分かりました",
    "了解です", "了解しました", "了解", "承知しました", "なるほど", "そうですね", "そうです", "すごい", "すごいですね", "いいですね", "お疲れ様です", "お疲れ様でした",
    "よろしくお願いします", "よろしくお願いいたします", "どういたしまして", "すみません", "はじめまして", "大丈夫です", "안녕하세요", "안녕", "안녕히 가세요", "안녕히 계세요",
    "안녕히 주무세요", "잘 자", "잘 자요", "잘 가", "네", "예", "응", "아니요", "아니", "알겠습니다", "알겠어요", "알았어", "알았어요", "좋아요", "좋아",
    "좋습니다", "그래요", "그래", "물론이죠", "천만에요", "반갑습니다", "반가워요", "수고하세요", "죄송합니다", "정말", "정말요", "와", "대박", "ㅋㅋ", "ㅎㅎ", "你好",
    "您好", "早上好", "晚上好", "下午好", "晚安", "再见", "拜拜", "好的", "好", "明白了", "知道了", "没问题", "没关系", "不客气", "是的", "对", "嗯", "哈哈",
    "太好了", "不好意思", "可以", "nvm", "ty", "thx", "thanks", "np", "fair enough", "moving on", "you're a lifesaver", "no rush",
    "see you all", "good point", "gracias", "eso es todo", "nada más", "madre mía", "ya está", "listo", "anda", "pues", "bueno",
    "спс", "спасибо", "благодарю", "ага", "угу", "ну", "так", "точно", "именно", "дальше", "давай", "давайте", "вот", "это точно",
    "ничего", "неважно", "ありがと", "どうも", "それな", "やった", "かわいい", "いいね", "そうだね", "おっけー", "ok", "넵", "넹", "맞아요", "맞아",
    "고마워요", "고마워", "고맙습니다", "감사합니다", "감사해요", "너무 귀여워요", "귀여워요", "하하", "헐", "오", "아하", "굿", "哈哈哈", "谢谢",
];

/// First words of a request to do something now.
#[rustfmt::skip]
pub(super) const ORDERS: &[&str] = &[
    "write", "rewrite", "explain", "summarize", "summarise", "tell", "give", "show", "help", "translate", "fix",
    "make", "create", "generate", "find", "list", "draft", "check", "look", "let", "let's", "compare", "describe",
    "suggest", "recommend", "search", "proofread", "correct", "improve", "convert", "calculate", "continue", "try",
    "read", "review", "analyze", "analyse", "debug", "run", "refactor", "add", "remove", "change", "open", "send",
    "play", "go", "come", "wait", "stop", "imagine", "provide", "see", "think", "take", "guess", "enjoy", "keep",
    "feel", "hang", "hold", "shorten", "paraphrase", "undo", "redo", "merge", "revert", "retry", "repeat", "rename", "delete",
    "replace", "insert", "sort", "sum", "split", "expand", "rephrase", "outline", "brainstorm", "define", "elaborate", "simplify",
    "polish", "tweak", "adjust", "paste", "skip", "ignore", "forget", "swap", "test", "deploy", "commit", "push", "print",
    "visualize", "visualise", "optimize", "optimise", "build", "design", "plan", "teach", "quiz", "roleplay", "answer", "name", "use", "pick",
];

/// The same in other languages, as far as the form is a clear imperative.
#[rustfmt::skip]
pub(super) const FOREIGN_ORDERS: &[&str] = &[
    "dame", "dime", "escribe", "explica", "explícame", "traduce", "resume", "ayúdame", "muéstrame", "busca",
    "cuéntame", "puedes", "podrías", "hazme", "corrige", "напиши", "напишите", "объясни", "объясните", "расскажи",
    "расскажите", "переведи", "переведите", "помоги", "помогите", "покажи", "покажите", "дай", "сделай", "найди",
    "посоветуй", "подскажи", "скажи", "проверь", "explique", "explique-moi", "écris", "écrivez", "traduis",
    "traduisez", "donne-moi", "donnez-moi", "aide-moi", "aidez-moi", "dis-moi", "montre-moi", "résume", "schreib",
    "schreibe", "erkläre", "erklär", "übersetze", "übersetz", "gib mir", "hilf mir", "zeig mir", "sag mir", "fasse",
    "escreva", "explica-me", "traduza", "resuma", "me ajude", "me dê", "me diga", "mostre",
];

/// English openings of what is not so.
#[rustfmt::skip]
pub(super) const HYPOTHETICAL: &[&str] = &[
    "if", "imagine", "suppose", "supposing", "what if", "let's say", "say i", "say we", "i wish", "i would", "i'd",
    "we'd", "we would", "assuming", "in theory", "it would", "it'd", "maybe", "perhaps", "i might", "we might",
    "in an ideal world", "ideally", "had i", "had we", "had they", "were i to", "were we to", "i could", "worst case",
    "best case", "might be", "could be", "i wonder", "i was wondering", "i'm wondering", "if only", "pretend",
];

/// English openings of a reaction.
#[rustfmt::skip]
pub(super) const REACTIONS: &[&str] = &[
    "that's", "that is", "that sounds", "that looks", "that must", "that would", "that does", "sounds", "looks",
    "what a", "what an", "how cool", "how nice", "how lovely", "how exciting", "wow", "glad", "so glad", "i'm glad",
    "i'm so glad", "i'm really glad", "happy for", "i'm happy for", "i'm so happy for", "good luck", "congrats",
    "congratulations", "good for you", "good job", "great job", "great question", "good question", "good point",
    "i agree", "i totally agree", "i completely agree", "totally agree", "i see", "i understand", "i think so",
    "i don't think so", "i guess", "i suppose", "i hope", "hope", "i'm sorry", "sorry", "so sorry", "i'm so proud",
    "i'm proud of you", "i'm so proud of you", "i'm really proud of you", "so proud", "i don't know", "i dunno",
    "i have no idea", "no idea", "i'm not sure", "not sure", "let me know", "let's", "let us", "take care",
    "talk to you", "see you", "have a", "have fun", "me too", "same here", "you're", "you are", "you", "you'd",
    "you have", "you must", "you've", "you can", "you could", "you did", "you do", "you look", "you really",
    "you always", "you'll", "you will", "your", "yours", "no worries", "no problem", "no doubt", "no doubts",
    "i can't believe", "can't believe", "i can't wait", "can't wait", "i bet", "i know", "i get it", "i get that",
    "i feel you", "i hear you", "love that", "love it", "love this", "love your", "loving", "i love it",
    "i love that", "i love this", "i love your", "here is", "here's", "here are", "here you", "as an ai",
    "just kidding", "just curious", "feel free", "of course", "by the way", "keep it up", "keep going", "way to go",
    "welcome back", "nice work", "well done", "this looks", "this sounds", "it sounds", "it looks", "it seems",
    "seems", "i'm here for you", "i'm just curious", "i have a question", "i have another question",
    "quick question", "one more question", "i need help", "i need your help", "i'm asking", "never mind",
    "nevermind", "i mean", "great to", "nice to", "good to", "so cool", "so nice", "too bad", "it's amazing how", "it's awesome how", "it's great to", "it's nice to", "it's so nice to", "it's good to", "it's great how", "i'm hoping so", "rock on", "i'm here",
    "i remember you", "i can see", "i appreciate", "appreciate", "i'm so happy to", "i'm happy to",
    "i'm happy that you", "i'll let you", "i'll keep you", "i'll give it", "i will give it", "i'll check",
    "i'll definitely check", "i'll try", "i'm stoked", "i won't let", "awesome to", "great hearing", "long time",
    "those were", "those both", "keep it", "never give up", "don't give up", "just do it", "we can", "we could",
    "it must", "that would", "no wonder", "you're right", "go for it", "fingers crossed", "remember", "don't worry",
    "exactly what", "still not", "still broken", "still the same", "still getting", "still doesn't", "still no", "same error",
    "same problem", "same issue", "same thing", "not working", "doesn't work", "didn't work", "that worked", "it worked",
    "got it working", "i'll think about", "i will think about", "as you said", "as you say", "like you said", "as i mentioned",
    "as i said", "like i said", "i meant the", "hopefully", "long day", "my bad", "i was thinking of you",
    "i told you", "i already told you", "as if", "i can imagine", "i can only imagine", "i've got your", "i have a few", "enjoy", "best of luck", "every little",
    "there you", "reminds me", "makes me", "so true", "such a", "can you", "hang in",
];

/// How one person pushes another: no orders for an agent.
pub(super) const PUSHING: &[&str] = &[
    "never",
    "always",
    "don't",
    "do not",
    "keep",
    "just",
    "stop",
    "use",
    "make sure",
    "remember",
    "try",
    "go",
    "come",
    "be",
    "avoid",
];
