//! The nats-server that memlog can bring along. It starts and ends a process; what goes over NATS is the door's
//! (`crate::door`), so nothing here knows a subject or a message.

pub mod server;
