// The embedded default stands on this child: a user who gave no --nats must never see it. So it must come up on any
// free port, survive its own death and memlog's, and leave nothing running. These tests run the real binary, and say
// so when there is none.

use rustix::process::{Pid, Signal, kill_process};

use super::*;

async fn options() -> Option<(tempfile::TempDir, Options)> {
    if let Err(error) = find(None).await {
        let required = std::env::var("MEMLOG_TEST_NATS").is_ok_and(|value| value == "required");
        assert!(!required, "MEMLOG_TEST_NATS says that there is a nats-server: {error}");
        eprintln!("SKIPPED, nothing was tested: {error}");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new(folder.path().join("data"));
    Some((folder, options))
}

async fn pid_of(server: &NatsServer) -> Pid {
    let pid = server.status().wait_for(|status| status.pid.is_some()).await.unwrap().pid.unwrap();
    Pid::from_raw(pid.try_into().unwrap()).unwrap()
}

async fn pid_after_restart(server: &NatsServer, restarts: u32) -> Pid {
    server.status().wait_for(|status| status.restarts == restarts && status.pid.is_some()).await.unwrap();
    pid_of(server).await
}

#[tokio::test]
async fn it_serves_with_jetstream_and_the_large_payload() {
    let Some((_folder, options)) = options().await else { return };
    let server = NatsServer::start(options.clone()).await.unwrap();
    let client = async_nats::connect(server.url()).await.unwrap();
    assert_eq!(client.server_info().max_payload, PAYLOAD_BYTES_MAX);
    let stream = async_nats::jetstream::stream::Config { name: "kept".into(), ..Default::default() };
    async_nats::jetstream::new(client).create_stream(stream).await.unwrap();
    assert!(options.data.join("nats/jetstream").is_dir(), "JetStream's files belong into the data folder");
    server.stop().await;
}

#[tokio::test]
async fn a_killed_server_comes_back_at_the_same_address_with_its_streams() {
    let Some((_folder, options)) = options().await else { return };
    let server = NatsServer::start(options).await.unwrap();
    let url = server.url().to_owned();
    let stream = async_nats::jetstream::stream::Config { name: "kept".into(), ..Default::default() };
    let context = async_nats::jetstream::new(async_nats::connect(&url).await.unwrap());
    context.create_stream(stream).await.unwrap();

    let first = pid_of(&server).await;
    kill_process(first, Signal::KILL).unwrap();
    assert_ne!(pid_after_restart(&server, 1).await, first);

    let context = async_nats::jetstream::new(async_nats::connect(&url).await.unwrap());
    context.get_stream("kept").await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn stopping_waits_until_the_process_is_gone() {
    let Some((_folder, options)) = options().await else { return };
    let server = NatsServer::start(options).await.unwrap();
    let pid = pid_of(&server).await;
    server.stop().await;
    assert!(rustix::process::test_kill_process(pid).is_err(), "the server still runs");
}

#[tokio::test]
async fn a_left_over_of_a_killed_memlog_is_ended_and_a_live_one_is_left_alone() {
    let Some((_folder, options)) = options().await else { return };
    let server = NatsServer::start(options.clone()).await.unwrap();
    let error = NatsServer::start(options.clone()).await.unwrap_err();
    assert!(matches!(error, Error::InUse { .. }), "{error}");

    // A killed memlog leaves its child running and its lock free; here the child is a second server that was started
    // by hand with the same configuration, after the first one has ended in peace.
    server.stop().await;
    let folder = Folder(options.data.join("nats").canonicalize().unwrap());
    let binary = find(None).await.unwrap();
    let mut launch = Launch { binary, folder: folder.clone(), port: 0, _lock: File::create(folder.lock()).unwrap() };
    let mut left_over = launch.start().await.unwrap();
    assert_eq!(std::fs::read_to_string(folder.pid()).unwrap().trim(), left_over.id().unwrap().to_string());

    let server = NatsServer::start(options).await.unwrap();
    assert!(left_over.try_wait().unwrap().is_some(), "the left-over still runs");
    server.stop().await;
}

/// A second memlog on one machine meets this first; its user must learn which flag gets past it.
#[tokio::test]
async fn a_taken_port_is_told_with_the_way_out() {
    let Some((_folder, mut options)) = options().await else { return };
    let holder = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    options.port = holder.local_addr().unwrap().port();
    let error = NatsServer::start(options.clone()).await.unwrap_err();
    assert!(matches!(error, Error::PortTaken { port } if port == options.port), "{error}");
    assert!(error.to_string().contains("--port N"), "{error}");
}
