//! `thread.get_context_card`: what an agent should know before it answers in a thread. No model is called but for the query's vector.

use std::collections::HashSet;

use super::{
    Here,
    messages::Bytes,
    no_thread,
    search::{Found, own_scope},
    settings,
    summary::text_of,
};
use crate::{
    api::{
        Answer, Context, Error,
        record::ItemType,
        thread::{ContextCard, GetContextCard, Message},
    },
    limits::{
        CARD_MESSAGES_DEFAULT, CARD_MESSAGES_MAX, CARD_RECENT_MAX, CARD_RESULTS_DEFAULT, HITS_MAX, QUERY_BYTES_MAX,
    },
    recall::{
        Breadth, Hit,
        asking::query_of,
        card::{Card, Said, card, fitting, tokens},
        topics::topics,
    },
    system::{
        System,
        find::{Filter, Prepared},
        lookup::panicked,
        search::messages_behind,
        validate,
    },
    view::State,
};

/// All that a card may have found: every type of record, and messages.
const TYPES: [ItemType; 8] = [
    ItemType::Memory,
    ItemType::Fact,
    ItemType::Event,
    ItemType::Instruction,
    ItemType::Task,
    ItemType::Guideline,
    ItemType::Preference,
    ItemType::Message,
];

/// What a request asks for, counted.
struct Plan {
    /// Newest messages that the query is made from.
    asking: usize,
    /// Newest messages that are shown.
    recent: usize,
    /// Newest messages that are looked at by nothing but that.
    except: usize,
    /// So many of each type at least.
    by_type: Vec<(ItemType, usize)>,
    /// So many in all.
    results: usize,
}

impl Plan {
    fn of(request: &GetContextCard) -> Result<Self, Error> {
        let asking = request.fallback_message_count.unwrap_or(CARD_MESSAGES_DEFAULT);
        let asking = validate::within("fallback_message_count", asking, 0, CARD_MESSAGES_MAX)?;
        let results = request.max_relevant_results.unwrap_or(CARD_RESULTS_DEFAULT);
        let results = validate::within("max_relevant_results", results, 0, HITS_MAX)?;
        let recent = request.max_recent_messages.unwrap_or(0);
        let recent = validate::within("max_recent_messages", recent, 0, CARD_RECENT_MAX)?;
        let except = request.except_last_messages.unwrap_or(0);
        let except = validate::within("except_last_messages", except, 0, CARD_RECENT_MAX)?;
        if except != 0 && recent != 0 && recent != except {
            let message = "with except_last_messages, max_recent_messages must be 0 or as many";
            return Err(Error::invalid("max_recent_messages", message).with("limit", except));
        }
        let field = "min_relevant_results_by_type";
        let asked = request.min_relevant_results_by_type.clone().unwrap_or_default();
        if asked.contains_key(&ItemType::Image) {
            return Err(Error::invalid(field, format!("{field} counts memories and messages, no images")));
        }
        let sum = asked.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
        let sum = validate::within(field, sum, 0, HITS_MAX)?;
        let by_type = asked.into_iter().filter(|(_, count)| *count > 0).map(|(it, count)| (it, count as usize));
        Ok(Self { asking, recent, except, by_type: by_type.collect(), results: results.max(sum) })
    }
}

/// The messages that a card looks at.
struct Newest {
    /// Those that the query is made from, in order.
    asking: Vec<u32>,
    /// Those that are shown, in order.
    recent: Vec<u32>,
    /// Those that nothing is to look at.
    excepted: HashSet<u32>,
}

impl System {
    /// `thread.get_context_card`
    pub async fn thread_get_context_card(
        &self,
        context: &Context,
        request: GetContextCard,
    ) -> Result<Answer<ContextCard>, Error> {
        let plan = Plan::of(&request)?;
        let filter = Filter {
            metadata: request.metadata_filter,
            include_invalid: request.include_invalid_results.unwrap_or(true),
            ..Filter::default()
        };
        filter.check()?;
        let here = self.in_thread_at(context, &request.profile, &request.thread_id, request.as_of).await?;
        let newest = self.newest(&here, &plan);
        let asking = self.messages(here.clone(), newest.asking.clone(), Bytes::None).await?;
        let texts: Vec<String> = spoken(&asking).map(text_of).collect();
        let settings = here.read(|_, thread| thread.settings.clone()).ok_or_else(|| no_thread(&request.thread_id))?;
        let found = self.relevant(&here, &plan, &newest, filter, &texts).await?;
        let (hard, soft) = settings::budgets(&settings, request.token_budget, request.soft_token_budget);
        let mut relevant: Vec<String> = found.iter().map(Found::formatted).collect();
        relevant.truncate(fitting(relevant.iter().map(|it| tokens(it)), hard, soft));
        let mut results: Vec<_> = found.into_iter().map(|found| found.result).collect();
        results.truncate(relevant.len());
        let topics = here.seen.read(|state| {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            topics(&texts, &|word| state.keyword.rarity(word))
        });
        let span = self.span(&here, plan.except, plan.asking);
        let summary = self.kept_and_since(&here, &span).await?;
        let recent = self.messages(here, newest.recent, Bytes::None).await?;
        let content = printed(&summary, &topics, &relevant, &recent);
        Ok(Answer::fresh(ContextCard { content, summary, topics, relevant_results: results, recent_messages: recent }))
    }

    fn newest(&self, here: &Here, plan: &Plan) -> Newest {
        let now = self.now();
        here.seen.read(|state| {
            let newest = state.catalog.messages_in(here.number, now).rev().map(|(doc, _)| doc);
            let most = (plan.except + plan.asking).max(plan.recent);
            let newest: Vec<u32> = newest.take(most).collect();
            let in_order = |docs: &[u32]| docs.iter().rev().copied().collect();
            let except = plan.except.min(newest.len());
            let asking = newest[except..].iter().take(plan.asking).copied().collect::<Vec<u32>>();
            Newest {
                asking: in_order(&asking),
                recent: in_order(&newest[..plan.recent.min(newest.len())]),
                excepted: newest[..except].iter().copied().collect(),
            }
        })
    }

    /// Those of the types that were asked for, then the best of all others. What the query is made from, and what the card shows
    /// anyway, is no news.
    async fn relevant(
        &self,
        here: &Here,
        plan: &Plan,
        newest: &Newest,
        filter: Filter,
        texts: &[String],
    ) -> Result<Vec<Found>, Error> {
        if plan.results == 0 {
            return Ok(Vec::new());
        }
        let prepared = match query_of(texts, QUERY_BYTES_MAX) {
            Some(query) => self.prepared(&here.seen, &query, None).await?,
            None => self.prepared_for_nothing(&here.seen),
        };
        let (scope, searches) = here
            .read(|_, thread| (own_scope(thread), settings::card_searches(&thread.settings)))
            .ok_or_else(super::super::lookup::gone)?;
        let search = Search {
            prepared,
            filter: Filter { scope, messages_of: Some(here.number), ..filter },
            excepted: newest.excepted.clone(),
            known: newest.asking.iter().chain(&newest.recent).copied().collect(),
            by_type: plan.by_type.clone(),
            results: plan.results,
            searches,
        };
        let (system, here) = (self.clone(), here.clone());
        let searching = move || {
            let hits = search.hits(&here)?;
            system.results(&here, &hits, None)
        };
        crate::blocking::run(searching).await.map_err(panicked)?
    }
}

/// One search for each type that was asked for, and one for the rest.
struct Search {
    prepared: Prepared,
    filter: Filter,
    excepted: HashSet<u32>,
    known: HashSet<u32>,
    by_type: Vec<(ItemType, usize)>,
    results: usize,
    /// At most so many at once.
    searches: usize,
}

impl Search {
    fn hits(&self, here: &Here) -> Result<Vec<Hit>, Error> {
        let mut hits = Vec::new();
        for some in self.by_type.chunks(self.searches) {
            hits.extend(self.each(here, some)?);
        }
        // Best first; what fills up has no score.
        hits.sort_by(|one, other| other.score.total_cmp(&one.score));
        let rest = self.results.saturating_sub(hits.len());
        here.seen.read(|state| {
            let mut except: HashSet<u32> = self.excepted.union(&self.known).copied().collect();
            except.extend(hits.iter().map(|hit| hit.doc));
            // A message is not told again beside what was made from it.
            except.extend(hits.iter().flat_map(|hit| messages_behind(state, hit.doc)));
            let filter = Filter { types: Some(TYPES.to_vec()), except, ..self.filter.clone() };
            hits.extend(self.prepared.best(state, &filter, Breadth::for_page(rest), rest)?);
            Ok(hits)
        })
    }

    fn each(&self, here: &Here, some: &[(ItemType, usize)]) -> Result<Vec<Hit>, Error> {
        let one = |(item, count): (ItemType, usize)| here.seen.read(|state| self.of_type(state, item, count));
        if let [only] = some {
            return one(*only);
        }
        let found: Vec<Result<Vec<Hit>, Error>> = std::thread::scope(|scope| {
            let searching: Vec<_> = some.iter().map(|it| scope.spawn(move || one(*it))).collect();
            let panicked = |_| Err(Error::unavailable("a search failed", super::super::lookup::RETRY_MS));
            searching.into_iter().map(|search| search.join().unwrap_or_else(panicked)).collect()
        });
        Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// The best of one type; where fewer answer, the newest of it fill up, for so many are wanted as there are.
    fn of_type(&self, state: &State, item: ItemType, count: usize) -> Result<Vec<Hit>, Error> {
        let but = |except: HashSet<u32>| Filter { types: Some(vec![item]), except, ..self.filter.clone() };
        let news = but(self.excepted.union(&self.known).copied().collect());
        let mut hits = self.prepared.best(state, &news, Breadth::for_page(count), count)?;
        if hits.len() < count {
            let mut except = self.excepted.clone();
            except.extend(hits.iter().map(|hit| hit.doc));
            hits.extend(self.prepared.newest(state, &but(except), count - hits.len())?);
        }
        Ok(hits)
    }
}

/// Standing orders ask nothing, unless nothing else was said.
fn spoken(messages: &[Message]) -> impl Iterator<Item = &Message> {
    let orders = messages.iter().all(|message| message.role == "system");
    messages.iter().filter(move |message| orders || message.role != "system")
}

fn printed(summary: &str, topics: &[String], relevant: &[String], recent: &[Message]) -> String {
    let texts: Vec<String> = recent.iter().map(text_of).collect();
    let recent = recent.iter().zip(&texts).map(|(message, text)| Said {
        role: &message.role,
        who: message.speaker.as_deref(),
        at: message.timestamp.timestamp(),
        text,
    });
    card(&Card { summary, topics, relevant, recent: &recent.collect::<Vec<_>>() })
}
