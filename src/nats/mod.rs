//! The NATS door and the nats-server that memlog can bring along. Nothing outside this folder names `async_nats`.

pub mod server;
