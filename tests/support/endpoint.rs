//! A scripted HTTP endpoint: one step for each request, the last one for all that follow.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What to do with a request.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Answers with a status and a body.
    Answer(u16, String),
    /// Answers with an error of the service.
    Error(u16, &'static str, &'static str),
    /// Closes the connection without a word.
    Hangup,
    Reset,
    /// Says that more follows, and closes.
    CutOff,
    Stall,
    /// Answers a byte every ten seconds.
    Trickle,
    /// Answers without end.
    Endless,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|header| header.0 == name)
            .map(|header| header.1.as_str())
    }

    /// The operation without the service's prefix.
    pub(crate) fn operation(&self) -> &str {
        let target = self.header("x-amz-target").unwrap();
        target.split_once('.').unwrap().1
    }
}

/// The endpoint; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    server: JoinHandle<()>,
}

impl Endpoint {
    pub(crate) async fn start(steps: impl Into<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (steps, seen) = (Arc::new(steps.into()), Arc::clone(&requests));
        let server = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, Arc::clone(&steps), Arc::clone(&seen)));
            }
        });
        Self {
            url,
            requests,
            server,
        }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(stream: TcpStream, steps: Arc<Vec<Step>>, seen: Arc<Mutex<Vec<Request>>>) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = receive(&mut stream).await {
        let step = {
            let mut seen = seen.lock().unwrap();
            let index = seen.len().min(steps.len() - 1);
            seen.push(request);
            steps[index].clone()
        };
        let (status, body) = match step {
            Step::Answer(status, body) => (status, body),
            Step::Error(status, code, text) => (
                status,
                serde_json::json!({
                    "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"),
                    "message": text,
                })
                .to_string(),
            ),
            Step::Hangup => return,
            Step::Reset => {
                stream.get_ref().set_zero_linger().unwrap();
                return;
            }
            Step::CutOff => {
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"Unproc")
                    .await;
                return;
            }
            Step::Endless => {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\ntransfer-encoding: chunked\r\n\r\n";
                let mut bytes = head.as_bytes().to_vec();
                while stream.write_all(&bytes).await.is_ok() {
                    bytes = format!("10000\r\n{}\r\n", " ".repeat(0x10000)).into_bytes();
                }
                return;
            }
            Step::Stall => {
                return std::future::pending().await;
            }
            Step::Trickle => {
                let begun = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n";
                let mut next = begun.as_bytes();
                while stream.write_all(next).await.is_ok() {
                    next = b" ";
                    tokio::time::sleep(Duration::from_secs(10)).await;
                }
                return;
            }
        };
        let answer = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn receive(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        let (name, value) = match line.trim_end() {
            "" => break,
            header => header.split_once(':')?,
        };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|header| header.0 == "content-length")?;
    let mut body = vec![0; length.1.parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request {
        headers,
        body: String::from_utf8(body).ok()?,
    })
}
