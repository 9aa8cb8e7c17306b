//! Calls of a model that belong together: repeated while that may help, within one deadline and one budget of tokens.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{
    breaker::Breaker,
    endpoint::{CallFailed, Endpoint},
    prompt::Asked,
    settings::{Format, Invalid, OutputField, Settings},
};

/// The first wait is at most this long; the bound doubles with each try.
const WAIT_FIRST_MAX: Duration = Duration::from_millis(500);
/// No wait of our own choice is longer.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// How many tokens so many bytes are: about 4 bytes each in English, fewer bytes in most other languages, where this is low.
pub(super) fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

/// What calls that belong together may still take.
#[derive(Debug)]
pub(super) struct Budget {
    until: Instant,
    tokens: u64,
    tries: u64,
}

impl Budget {
    pub(super) fn new(within: Duration, tokens: u64, tries: u64) -> Self {
        Self { until: Instant::now() + within, tokens, tries }
    }

    /// Whether so many tokens more are within it; it is asked before anything is sent.
    pub(super) fn holds(&self, tokens: u64) -> bool {
        tokens <= self.tokens
    }

    fn spend(&mut self, tokens: u64) -> Result<(), CallFailed> {
        let left = self.tokens.checked_sub(tokens).ok_or(CallFailed::lasting("token_budget"))?;
        self.tokens = left;
        Ok(())
    }
}

/// A model that can be asked.
pub(super) struct Client {
    endpoint: Endpoint,
    breaker: Breaker,
    call_max: Duration,
    format: Format,
    output_field: OutputField,
    output_tokens_max: u64,
}

impl Client {
    /// None if no model is to be used.
    pub(super) fn new(settings: &Settings) -> Result<Option<Self>, Invalid> {
        settings.check()?;
        let Some(endpoint) = Endpoint::new(settings)? else { return Ok(None) };
        Ok(Some(Self {
            endpoint,
            breaker: Breaker::new(settings.breaker_failures, Duration::from_secs(settings.breaker_pause_s)),
            call_max: Duration::from_secs(settings.call_s_max),
            format: settings.format,
            output_field: settings.output_field,
            output_tokens_max: settings.output_tokens_max,
        }))
    }

    /// What the model says to `data`.
    pub(super) fn ask(&self, asked: &Asked, data: &Value, budget: &mut Budget) -> Result<String, CallFailed> {
        self.send(&self.body(asked, &data.to_string().into()), budget)
    }

    /// What the model says to `data` and an image, which is a `data:` URL.
    pub(super) fn ask_about(
        &self,
        asked: &Asked,
        data: &Value,
        image: &str,
        budget: &mut Budget,
    ) -> Result<String, CallFailed> {
        let text = serde_json::json!({ "type": "text", "text": data.to_string() });
        let shown = serde_json::json!({ "type": "image_url", "image_url": { "url": image } });
        self.send(&self.body(asked, &Value::Array(vec![text, shown])), budget)
    }

    fn send(&self, body: &[u8], budget: &mut Budget) -> Result<String, CallFailed> {
        let call = |within: Duration, budget: &mut Budget| {
            budget.spend(tokens(body.len()))?;
            let pass = self.breaker.enter(Instant::now()).ok_or(CallFailed::passing(UNAVAILABLE))?;
            let answer = self.endpoint.complete(body, within);
            match &answer {
                Err(failed) if failed.transient => pass.failed(Instant::now()),
                Ok(_) | Err(_) => pass.succeeded(),
            }
            let answer = answer?;
            budget.spend(tokens(answer.len()))?;
            Ok(answer)
        };
        repeated(self.call_max, budget, call, wait)
    }

    fn body(&self, asked: &Asked, content: &Value) -> Vec<u8> {
        let (system, format) = match self.format {
            Format::JsonSchema => {
                let schema = serde_json::json!({ "name": asked.name, "strict": true, "schema": asked.schema });
                (asked.system.to_string(), serde_json::json!({ "type": "json_schema", "json_schema": schema }))
            }
            Format::JsonObject => {
                let told = format!("{}\n\nThe JSON schema of your answer: {}", asked.system, asked.schema);
                (told, serde_json::json!({ "type": "json_object" }))
            }
        };
        let mut body = serde_json::json!({
            "model": self.endpoint.model,
            "messages": [{ "role": "system", "content": system }, { "role": "user", "content": content }],
            "response_format": format,
        });
        let field = match self.output_field {
            OutputField::MaxTokens => "max_tokens",
            OutputField::MaxCompletionTokens => "max_completion_tokens",
        };
        body[field] = self.output_tokens_max.into();
        body.to_string().into_bytes()
    }
}

/// The code of a call that was not made because the endpoint rests.
pub(super) const UNAVAILABLE: &str = "llm_unavailable";

/// Calls until it succeeds, the failure is one that lasts, or the tries or the time are used up.
fn repeated(
    call_max: Duration,
    budget: &mut Budget,
    mut call: impl FnMut(Duration, &mut Budget) -> Result<String, CallFailed>,
    mut wait: impl FnMut(Duration),
) -> Result<String, CallFailed> {
    let mut tried = 0;
    loop {
        let left = budget.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(CallFailed::passing("llm_timeout"));
        }
        let failed = match call(left.min(call_max), budget) {
            Ok(answer) => return Ok(answer),
            Err(failed) => failed,
        };
        tried += 1;
        if !failed.transient || failed.code == UNAVAILABLE || tried >= budget.tries {
            return Err(failed);
        }
        let pause = pause(tried, failed.retry_after);
        // What cannot be waited for is not begun: the caller hears of it now.
        if Instant::now() + pause >= budget.until {
            return Err(failed);
        }
        wait(pause);
    }
}

/// Full jitter: anything up to a bound that doubles, so that many callers that failed together do not come back together. Not
/// before the endpoint wants to be asked again.
fn pause(tried: u64, retry_after: Option<Duration>) -> Duration {
    let most = WAIT_FIRST_MAX.saturating_mul(1 << (tried - 1).min(16)).min(WAIT_MAX);
    retry_after.unwrap_or_default() + most.mul_f64(fastrand::f64())
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long an endpoint is left alone is no condition that could be awaited"
)]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn story(answers: &[Result<&str, CallFailed>], budget: &mut Budget) -> (Result<String, CallFailed>, Vec<Duration>) {
        let mut answers = answers.iter();
        let mut waits = Vec::new();
        let call = |_: Duration, _: &mut Budget| answers.next().copied().expect("no further call").map(str::to_owned);
        let answer = repeated(HOUR, budget, call, |wait| waits.push(wait));
        (answer, waits)
    }

    const LIMITED: CallFailed =
        CallFailed { retry_after: Some(Duration::from_secs(9)), ..CallFailed::passing("llm_rate_limited") };
    const DOWN: CallFailed = CallFailed::passing("llm_unreachable");

    // What passes is tried again, not sooner than the endpoint asked for; what lasts is not.
    #[test]
    fn what_may_help_is_tried_again() {
        let mut budget = Budget::new(HOUR, 1_000, 3);
        let (answer, waits) = story(&[Err(DOWN), Err(LIMITED), Ok("right")], &mut budget);
        assert_eq!(answer, Ok("right".to_owned()));
        assert!(waits[0] <= WAIT_FIRST_MAX && waits[1] >= Duration::from_secs(9), "{waits:?}");
        assert_eq!(story(&[Err(DOWN), Err(DOWN), Err(DOWN)], &mut budget).0, Err(DOWN));
        let wrong = CallFailed::lasting("malformed_answer");
        assert_eq!(story(&[Err(wrong)], &mut budget).0, Err(wrong));
        let resting = CallFailed::passing(UNAVAILABLE);
        assert_eq!(story(&[Err(resting)], &mut budget).0, Err(resting));
    }

    // A wait that leads past the deadline is not begun.
    #[test]
    fn nothing_is_waited_for_that_comes_too_late() {
        let mut short = Budget::new(Duration::from_secs(5), 1_000, 3);
        assert_eq!(story(&[Err(LIMITED)], &mut short), (Err(LIMITED), Vec::new()));
        let mut over = Budget::new(Duration::ZERO, 1_000, 3);
        assert_eq!(story(&[], &mut over).0, Err(CallFailed::passing("llm_timeout")));
    }

    #[test]
    fn a_budget_is_spent_once() {
        let mut budget = Budget::new(HOUR, 10, 1);
        assert!(budget.holds(10) && !budget.holds(11));
        assert_eq!(budget.spend(6), Ok(()));
        assert_eq!(budget.spend(5), Err(CallFailed::lasting("token_budget")));
        assert_eq!(budget.spend(4), Ok(()));
    }

    // Endpoints differ in two fields; the schema reaches the model either way.
    #[test]
    fn an_endpoint_without_structured_output_is_told_the_schema() {
        let named =
            Settings { url: Some("http://h/v1".to_owned()), model: Some("m".to_owned()), ..Settings::default() };
        let other = (Format::JsonObject, OutputField::MaxCompletionTokens);
        let plain = Settings { format: other.0, output_field: other.1, ..named.clone() };
        let asked = super::super::prompt::classify();
        let body = |settings: &Settings| -> Value {
            let client = Client::new(settings).expect("valid").expect("named");
            serde_json::from_slice(&client.body(&asked, &Value::Null)).expect("JSON")
        };
        let (strict, plain) = (body(&named), body(&plain));
        assert_eq!(strict["response_format"]["json_schema"]["schema"], asked.schema);
        assert_eq!(
            (&strict["max_tokens"], &strict["messages"][0]["content"]),
            (&2_000.into(), &asked.system.as_ref().into())
        );
        assert_eq!(plain["response_format"], serde_json::json!({ "type": "json_object" }));
        assert!(plain["max_tokens"].is_null() && plain["max_completion_tokens"] == 2_000);
        assert!(plain["messages"][0]["content"].as_str().is_some_and(|it| it.contains(&asked.schema.to_string())));
    }
}
