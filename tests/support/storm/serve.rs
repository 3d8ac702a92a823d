//! Connections: a thread for each, on the loopback interface only.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::counts::RequestEnd;
use super::http::{Connection, Request};
use super::identity;
use super::service::{Reply, ReplyKind, Service};
use super::settings::Settings;

/// More connections are closed at once.
const MOST: usize = 1_024;
/// How often somebody who waits looks whether the client is still there.
const LOOK: Duration = Duration::from_millis(100);
const GARBAGE: &str = "<html><body>Proxy error</body></html>";

type Open = Arc<Mutex<HashMap<u64, TcpStream>>>;

/// Accepts connections until the service is stopped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    open: Open,
    acceptor: Option<thread::JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(port: u16, service: &Arc<Service>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let open = Open::default();
        let (all, service) = (Arc::clone(&open), Arc::clone(service));
        let acceptor = thread::Builder::new().spawn(move || accept(&listener, &all, &service))?;
        Ok(Self {
            address,
            open,
            acceptor: Some(acceptor),
        })
    }

    /// Closes everything. The service has been told that it is stopped.
    pub(crate) fn stop(&mut self) {
        // Wakes the acceptor up.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        for stream in lock(&self.open).values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn lock(open: &Open) -> std::sync::MutexGuard<'_, HashMap<u64, TcpStream>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, open: &Open, service: &Arc<Service>) {
    for (number, stream) in (0..).zip(listener.incoming()) {
        if service.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else {
            thread::sleep(LOOK);
            continue;
        };
        let Ok(copy) = stream.try_clone() else {
            continue;
        };
        let mut all = lock(open);
        if all.len() >= MOST {
            continue;
        }
        all.insert(number, copy);
        drop(all);
        let (open, service) = (Arc::clone(open), Arc::clone(service));
        // Where there is no thread to be had, the connection is closed.
        let _ = thread::Builder::new().spawn(move || {
            // A client that goes away is no matter.
            let _ = serve(stream, &service);
            // With the last copy, a reset goes out.
            lock(&open).remove(&number);
        });
    }
}

fn serve(stream: TcpStream, service: &Service) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut connection = Connection::new(stream);
    while let Some(request) = connection.receive()? {
        if let Some((status, body)) = control(&request, service) {
            let date = identity::date(identity::clock(0));
            connection.send(status, &body, &date, false)?;
            continue;
        }
        service.in_flight.fetch_add(1, Ordering::Relaxed);
        let reply = service.handle(&request);
        let stays = wait(&connection.stream, service, reply.wait);
        service.in_flight.fetch_sub(1, Ordering::Relaxed);
        conclude(service, request.operation(), &reply, stays);
        let skew = service.active().settings.clock_skew_seconds;
        let date = identity::date(identity::clock(skew));
        match reply.how {
            ReplyKind::Answer(answer) if stays => {
                connection.send(answer.status, &answer.body, &date, false)?;
            }
            ReplyKind::Garbage if stays => connection.send(200, GARBAGE, &date, false)?,
            ReplyKind::Half(answer) => {
                return connection.send(answer.status, &answer.body, &date, true);
            }
            ReplyKind::Reset => {
                connection.reset();
                return Ok(());
            }
            _ => return Ok(()),
        }
    }
    Ok(())
}

fn conclude(service: &Service, operation: &str, reply: &Reply, stays: bool) {
    let (ending, reported) = match &reply.how {
        ReplyKind::Answer(answer) if stays => match &answer.code {
            Some(code) => (RequestEnd::Error(code), answer.written),
            None => (RequestEnd::Answered, answer.written),
        },
        _ => (RequestEnd::Unanswered, 0),
    };
    let mut state = service.state();
    state.recorder.ended(operation, &ending);
    state
        .recorder
        .untold(reply.written.saturating_sub(reported));
}

/// Waits; false where the client has gone meanwhile.
fn wait(stream: &TcpStream, service: &Service, long: Duration) -> bool {
    if long < LOOK {
        thread::sleep(long);
        return true;
    }
    let end = Instant::now() + long;
    let mut stays = true;
    loop {
        let left = end.saturating_duration_since(Instant::now()).min(LOOK);
        if left.is_zero() || !stays || service.stopped.load(Ordering::Relaxed) {
            break;
        }
        let _ = stream.set_read_timeout(Some(left));
        match stream.peek(&mut [0]) {
            Ok(0) => stays = false,
            Ok(_) => thread::sleep(left),
            Err(error) => {
                use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
                stays = matches!(error.kind(), Interrupted | TimedOut | WouldBlock);
            }
        }
    }
    let _ = stream.set_read_timeout(None);
    stays
}

/// What is under `/__storm/`, for whoever runs the rehearsal.
fn control(request: &Request, service: &Service) -> Option<(u16, String)> {
    let done = || Some((200, json!({ "done": true }).to_string()));
    let shown = |json: serde_json::Result<String>| Some((200, json.unwrap_or_default()));
    match request.line.as_str() {
        "GET /__storm/counts" => shown(serde_json::to_string_pretty(&service.counts())),
        "GET /__storm/settings" => shown(serde_json::to_string_pretty(&service.active().settings)),
        "POST /__storm/reset" => {
            service.reset();
            done()
        }
        "POST /__storm/settings" => match Settings::read(&String::from_utf8_lossy(&request.body)) {
            Ok(settings) => {
                service.set(settings);
                done()
            }
            Err(error) => Some((400, json!({ "error": error }).to_string())),
        },
        line if line.contains(" /__storm/") => Some((
            404,
            json!({ "error": "GET counts, GET or POST settings, POST reset" }).to_string(),
        )),
        _ => None,
    }
}
