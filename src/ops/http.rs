//! The little HTTP that it takes: three pages, GET alone, a bounded number of connections that are not kept for nothing.

use std::{convert::Infallible, sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus::{TEXT_FORMAT, TextEncoder};
use serde_json::json;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
};

use super::Shared;

/// Connections at once: a few scrapers and probes; the rest wait in the system's own queue.
const CONNECTIONS_MAX: usize = 32;
/// How long a connection may take to ask, or stay without a question.
const ASK_MAX: Duration = Duration::from_secs(10);
/// How long one lasts at most: whoever looks every few seconds connects again.
const CONNECTION_MAX: Duration = Duration::from_secs(300);
/// Headers of a request that belongs here.
const HEADERS_MAX: usize = 64;
/// The pause after the system gave no connection: it has too many files open.
const AGAIN: Duration = Duration::from_millis(100);

type Page = Response<Full<Bytes>>;

/// Answers until it is told to close; questions under way are not waited for.
pub(super) async fn listen(listener: TcpListener, shared: Arc<Shared>, mut closed: watch::Receiver<bool>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            _ = closed.wait_for(|closed| *closed) => return,
            next = next => next,
        };
        match accepted {
            Ok((stream, _)) => {
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    // Also one that asks in time and then does not read its answer.
                    drop(tokio::time::timeout(CONNECTION_MAX, converse(stream, shared)).await);
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "the port of operators takes no connection");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(page(request.method(), request.uri().path(), shared).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(ASK_MAX).max_headers(HEADERS_MAX);
    if let Err(error) = server.serve_connection(TokioIo::new(stream), answer).await {
        tracing::debug!(%error, "a connection to the port of operators ended");
    }
}

async fn page(method: &Method, path: &str, shared: Arc<Shared>) -> Page {
    if !matches!(path, "/healthz" | "/readyz" | "/metrics") {
        return text(StatusCode::NOT_FOUND, "there are /healthz, /readyz and /metrics\n");
    }
    if !matches!(*method, Method::GET | Method::HEAD) {
        let mut page = text(StatusCode::METHOD_NOT_ALLOWED, "GET alone\n");
        page.headers_mut().insert(ALLOW, hyper::header::HeaderValue::from_static("GET, HEAD"));
        return page;
    }
    match path {
        "/healthz" => text(StatusCode::OK, "ok\n"),
        "/readyz" => {
            let reasons = shared.unready();
            let ready = reasons.is_empty();
            let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            let body = json!({ "ready": ready, "reasons": reasons });
            written(status, "application/json", format!("{body}\n"))
        }
        _ => metrics(shared).await,
    }
}

async fn metrics(shared: Arc<Shared>) -> Page {
    // Figures of thousands of profiles take a while to add up.
    let told = tokio::task::spawn_blocking(move || TextEncoder::new().encode_to_string(&shared.families())).await;
    match told {
        Ok(Ok(body)) => written(StatusCode::OK, TEXT_FORMAT, body),
        Ok(Err(error)) => {
            tracing::error!(%error, "metrics cannot be written");
            text(StatusCode::INTERNAL_SERVER_ERROR, "metrics cannot be written; the log says why\n")
        }
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "reading the metrics failed inside; the log says where\n"),
    }
}

fn text(status: StatusCode, body: &'static str) -> Page {
    written(status, "text/plain; charset=utf-8", body)
}

fn written(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Page {
    let mut page = Response::new(Full::new(body.into()));
    *page.status_mut() = status;
    let headers = page.headers_mut();
    headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    // A state of a moment ago is no state.
    headers.insert(CACHE_CONTROL, hyper::header::HeaderValue::from_static("no-store"));
    page
}
