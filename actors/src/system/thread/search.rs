//! `thread.search`: the search of a profile, from a thread's point of view. What is left out of its scope is the thread's own.

use memlog_events::code::RoleCode;

use super::{Here, settings};
use crate::{
    api::{
        Answer, Context, Error,
        record::{ItemType, Linked, Record, Status},
        thread::{Results, Scope, Search, SearchResult},
    },
    limits::{HITS_DEFAULT, HITS_MAX, HOPS_MAX, LINKED_DEFAULT, LINKED_MAX, TYPES_MAX},
    recall::{
        Breadth, Hit,
        card::{self, fitting, tokens},
    },
    system::{
        System,
        find::{self, Asked, Filter, Must, Within},
        lookup::{broken, panicked},
        records::Shown,
        search::Follow,
        summary::role_name,
        validate,
    },
    view::{
        State, catalog,
        indexed::{content_of, said},
    },
};

impl System {
    /// `thread.search`
    pub async fn thread_search(&self, context: &Context, request: Search) -> Result<Answer<Results>, Error> {
        validate::query(&request.query)?;
        let limit = validate::within("max_results", request.max_results.unwrap_or(HITS_DEFAULT), 1, HITS_MAX)?;
        let hops = validate::within("num_hops", request.num_hops.unwrap_or(0), 0, HOPS_MAX)?;
        let linked = request.max_linked_results.unwrap_or(LINKED_DEFAULT);
        let linked = validate::within("max_linked_results", linked, 0, LINKED_MAX)?;
        validate::list("record_types", request.record_types.as_ref(), TYPES_MAX)?;
        let scope = scope_of(&request)?;
        let filter = Filter {
            types: request.record_types,
            metadata: request.metadata_filter,
            include_invalid: request.include_invalid_results.unwrap_or(true),
            ..Filter::default()
        };
        filter.check()?;
        let here = self.in_thread_at(context, &request.profile, &request.thread_id, request.as_of).await?;
        let (scope, (hard, soft)) = here
            .read(|_, thread| {
                let budgets = settings::budgets(&thread.settings, request.token_budget, request.soft_token_budget);
                (resolved(scope, thread), budgets)
            })
            .ok_or_else(|| super::no_thread(&request.thread_id))?;
        let filter = Filter { scope: scope.clone(), ..filter };
        let asked = Asked {
            query: request.query,
            parts: None,
            filter,
            breadth: Breadth::for_page(limit),
            limit,
            reference: None,
        };
        let answered = self.ask_views(here.seen.clone(), asked, here.promised.0, Vec::new()).await?;
        let follow = here.seen.read(|state| {
            let within = Within::new(&state.catalog, &scope);
            (hops > 0).then_some(Follow { hops: hops as u32, limit: linked, within })
        });
        let (system, hits) = (self.clone(), answered.hits);
        let reading = move || system.results(&here, &hits, follow.as_ref());
        let mut results = crate::blocking::run(reading).await.map_err(panicked)??;
        let fit = fitting(results.iter().map(|result| tokens(&result.formatted())), hard, soft);
        results.truncate(fit);
        let results = results.into_iter().map(|result| result.result).collect();
        Ok(Answer::fresh(Results { results, seq: answered.seq, mode: answered.mode.to_owned() }))
    }

    /// What is behind hits; what was erased since is left out. Blocking. The views are looked at a hit at a time: who holds them for
    /// long holds up every reader that waits for its own write.
    pub(super) fn results(&self, here: &Here, hits: &[Hit], follow: Option<&Follow>) -> Result<Vec<Found>, Error> {
        let found = hits.iter().map(|hit| here.seen.read(|state| self.result(here, state, *hit, follow)));
        found.filter_map(Result::transpose).collect()
    }

    fn result(&self, here: &Here, state: &State, hit: Hit, follow: Option<&Follow>) -> Result<Option<Found>, Error> {
        let (place, now) = (&here.profile, self.now());
        let Some(record) = self.record(place, state, hit.doc, Shown::Undamaged, now)? else { return Ok(None) };
        let linked = follow.map(|follow| self.linked(place, state, hit.doc, follow, now)).transpose()?;
        let role = match record.item_type {
            ItemType::Message if record.speaker.is_none() => self.role_of(here, state, hit.doc)?,
            _ => None,
        };
        Ok(Some(Found { result: shown(record, hit.score, linked), role }))
    }

    /// The role of a message's sender, also of one of the client's own.
    fn role_of(&self, here: &Here, state: &State, doc: u32) -> Result<Option<String>, Error> {
        let Some(it) = state.catalog.doc(doc) else { return Ok(None) };
        if it.role != RoleCode::CUSTOM {
            return Ok(Some(role_name(it.role).to_owned()));
        }
        let log = &self.inner.environment.log;
        let content = content_of(log, &here.profile, &state.catalog, it).map_err(broken)?;
        Ok(content.as_ref().and_then(said).and_then(|said| said.custom_role.clone()))
    }
}

/// A result, and what a card says of it besides.
pub(super) struct Found {
    pub(super) result: SearchResult,
    /// Of a message without a speaker.
    role: Option<String>,
}

impl Found {
    /// What a card prints for it.
    pub(super) fn formatted(&self) -> String {
        let result = &self.result;
        card::formatted(&card::Entry {
            kind: result.record_type.name(),
            at: result.timestamp.timestamp(),
            holds: result.status == Status::Valid,
            who: result.speaker.as_deref().or(self.role.as_deref()),
            text: &result.content,
            linked: result.linked.iter().flatten().map(linked).collect(),
        })
    }
}

fn shown(record: Record, score: f32, linked: Option<Vec<Linked>>) -> SearchResult {
    SearchResult {
        id: record.id,
        record_type: record.item_type,
        content: record.content.flatten().unwrap_or_default(),
        score,
        user_id: record.user_id,
        agent_id: record.agent_id,
        thread_id: record.session_id,
        speaker: record.speaker,
        metadata: record.metadata,
        status: record.status,
        timestamp: record.timestamp,
        linked,
    }
}

fn linked(it: &Linked) -> card::Linked<'_> {
    let (label, kind, who, text) = (&it.relation_type, it.record_type.name(), it.speaker.as_deref(), &it.content);
    card::Linked { label, kind, who, text }
}

/// The scope that a request names, in whichever of its two ways.
fn scope_of(request: &Search) -> Result<Scope, Error> {
    let single = Scope {
        user_id: request.user_id.clone(),
        agent_id: request.agent_id.clone(),
        thread_id: request.scope_thread_id.clone(),
        exact_user_match: request.exact_user_match,
        exact_agent_match: request.exact_agent_match,
        exact_thread_match: request.exact_thread_match,
    };
    let (scope, names) = match &request.scope {
        Some(_) if single != Scope::default() => {
            let message = "scope stands for the single fields (user_id, agent_id, scope_thread_id, exact_*): give one or the others";
            return Err(Error::invalid("scope", message));
        }
        Some(scope) => (scope.clone(), ["scope.user_id", "scope.agent_id", "scope.thread_id"]),
        None => (single, ["user_id", "agent_id", "scope_thread_id"]),
    };
    for (name, id) in names.into_iter().zip([&scope.user_id, &scope.agent_id, &scope.thread_id]) {
        id.as_ref().and_then(Option::as_deref).map_or(Ok(()), |id| validate::id(name, id))?;
    }
    Ok(scope)
}

/// What is left out is the thread's own; without an exact match the value does not matter.
fn resolved(scope: Scope, thread: &catalog::Thread) -> find::Scope {
    let must = |exact: bool, value: Option<Option<String>>, own: Option<&String>| match exact {
        true => Must::Be(value.unwrap_or_else(|| own.cloned())),
        false => Must::BeAnything,
    };
    find::Scope {
        user: must(scope.exact_user_match.unwrap_or(true), scope.user_id, thread.user_id.as_ref()),
        agent: must(scope.exact_agent_match.unwrap_or(true), scope.agent_id, thread.agent_id.as_ref()),
        thread: must(scope.exact_thread_match.unwrap_or(false), scope.thread_id, Some(&thread.thread_id)),
    }
}

/// The scope of a search that names none.
pub(super) fn own_scope(thread: &catalog::Thread) -> find::Scope {
    resolved(Scope::default(), thread)
}
