//! A DynamoDB that misbehaves: an HTTP endpoint on 127.0.0.1 that enforces limits, accepts batches in
//! part, loses answers, stalls, and counts what it did.
//!
//! It stands on the embedded engine, or on a map where the engine is too slow. It runs on threads of
//! its own, so that a test may pause its runtime's clock or block its only thread. Decisions follow
//! from the seed and the numbers of requests; with several connections the numbers follow from the
//! order of arrival, and limits from the time.
//!
//! It writes no item to a disk, checks no signature, and listens nowhere but on the loopback
//! interface. The tests use it, and `examples/rehearse.rs`, through which anybody can.

mod answer;
mod arguments;
mod bucket;
mod consumed;
mod counts;
mod engine;
mod fault;
mod gauge;
mod http;
mod identity;
mod image;
mod parts;
mod read;
mod schema;
mod serve;
mod service;
mod settings;
mod table;
mod validate;
mod write;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(crate) use arguments::Arguments;
pub(crate) use counts::Counts;
pub(crate) use settings::*;

use serve::Server;
use service::Service;

/// The endpoint; it ends when it is dropped.
pub(crate) struct Storm {
    service: Arc<Service>,
    server: Server,
}

impl Storm {
    /// Starts on the settings' port.
    pub(crate) fn start(settings: Settings) -> io::Result<Self> {
        let settings = settings.checked().map_err(io::Error::other)?;
        let port = settings.port;
        let service = Arc::new(Service::new(settings).map_err(io::Error::other)?);
        let server = Server::start(port, &service)?;
        Ok(Self { service, server })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    pub(crate) fn counts(&self) -> Counts {
        self.service.counts()
    }

    /// From now on these hold. Faults and events count from here on; the port and the store stay.
    #[cfg(test)]
    pub(crate) fn set(&self, settings: Settings) {
        self.service.set(settings);
    }

    /// Counts from here on.
    #[cfg(test)]
    pub(crate) fn reset(&self) {
        self.service.reset();
    }

    /// Closes all connections, and gives the last counts.
    pub(crate) fn stop(mut self) -> Counts {
        self.end();
        self.counts()
    }

    fn end(&mut self) {
        self.service.stopped.store(true, Ordering::SeqCst);
        self.server.stop();
    }
}

impl Drop for Storm {
    fn drop(&mut self) {
        self.end();
    }
}
