//! Spans to a collector by OTLP, where `OTEL_EXPORTER_OTLP_ENDPOINT` names one. The variables are OpenTelemetry's own:
//! `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*`.
//!
//! HTTP with protobuf, over the client that calls language models, so that the feature brings no second one.

use std::{pin::Pin, time::Duration};

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    trace::{SdkTracerProvider, Tracer},
};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

use crate::llm;

/// How long a collector may take for one batch of spans.
const EXPORT_MAX: Duration = Duration::from_secs(10);
/// An answer of a collector says what it did not take; it has no reason to be long.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// The way to the collector. Dropped, it sends what is left.
#[derive(Debug)]
pub(super) struct Spans(SdkTracerProvider);

impl Spans {
    /// To the collector at `endpoint`, as the variable names it.
    pub(super) fn to(endpoint: &str) -> Result<Self, String> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_http_client(Poster(llm::agent(endpoint)))
            .build()
            .map_err(|error| error.to_string())?;
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("memlog");
        }
        let provider = SdkTracerProvider::builder().with_resource(resource.build()).with_batch_exporter(exporter);
        Ok(Self(provider.build()))
    }

    /// What hands spans over.
    pub(super) fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> OpenTelemetryLayer<S, Tracer> {
        // Places in the source are no news to a collector, and threads change within a request.
        let layer = tracing_opentelemetry::layer().with_tracer(self.0.tracer("memlog"));
        layer.with_location(false).with_threads(false).with_tracked_inactivity(false)
    }
}

impl Drop for Spans {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown() {
            tracing::warn!(%error, "the last spans may not have reached the collector");
        }
    }
}

/// Posts one batch. Blocks: the exporter has a thread of its own.
#[derive(Debug)]
struct Poster(ureq::Agent);

impl HttpClient for Poster {
    fn send_bytes<'life0, 'async_trait>(
        &'life0 self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move { self.post(request) })
    }
}

impl Poster {
    fn post(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let mut post = self.0.post(head.uri);
        for (name, value) in &head.headers {
            post = post.header(name, value);
        }
        let sent = post.config().timeout_global(Some(EXPORT_MAX)).build().send(&body[..]);
        let (head, mut body) = sent?.into_parts();
        let body = body.with_config().limit(ANSWER_BYTES_MAX).read_to_vec()?;
        Ok(Response::from_parts(head, body.into()))
    }
}
