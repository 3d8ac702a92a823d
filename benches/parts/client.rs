//! The least that a client can do: items that are JSON already are put into a body, which is signed
//! and sent over a few connections, one request in flight on each.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::thread;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::invalid;

const CONNECTIONS: usize = 8;
const BATCH: usize = 25;
const HOST: &str = "127.0.0.1";
const TYPE: &str = "application/x-amz-json-1.0";
const TARGET: &str = "DynamoDB_20120810.BatchWriteItem";
const SIGNED: &str = "content-type;host;x-amz-date;x-amz-target";
/// Nobody here looks at the clock.
const DATE: &str = "20260101";
const TIME: &str = "20260101T000000Z";

/// Sends `count` items, over and over those of a file of DynamoDB JSON lines.
pub(crate) fn send(endpoint: &str, items: &str, count: &str) -> io::Result<()> {
    let count: usize = count.parse().map_err(|_| invalid("no number of items"))?;
    let address = endpoint.strip_prefix("http://").unwrap_or(endpoint);
    let text = fs::read_to_string(items)?;
    let lines: Vec<&str> = text.lines().collect();
    let batches: Vec<&[&str]> = lines.chunks_exact(BATCH).collect();
    if batches.is_empty() {
        return Err(invalid("the file holds less than a batch"));
    }
    let requests = count.div_ceil(BATCH);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS)
            .map(|first| {
                let mine = (first..requests).step_by(CONNECTIONS);
                let batches = &batches;
                scope.spawn(move || connection(address, mine, batches))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|_| Err(invalid("a thread died")))
        })
    })
}

/// A request for a batch, signed as AWS wants it (Signature Version 4).
fn request(request: &mut Vec<u8>, items: &[&str]) -> io::Result<()> {
    let mut body = String::from("{\"RequestItems\":{\"bench\":[");
    for (index, item) in items.iter().enumerate() {
        body.push_str(if index > 0 { "," } else { "" });
        body.push_str("{\"PutRequest\":{\"Item\":");
        body.push_str(item);
        body.push_str("}}");
    }
    body.push_str("]}}");
    let canonical = format!(
        "POST\n/\n\ncontent-type:{TYPE}\nhost:{HOST}\nx-amz-date:{TIME}\nx-amz-target:{TARGET}\n\n\
         {SIGNED}\n{}",
        hex(&Sha256::digest(&body))
    );
    let scope = format!("{DATE}/us-east-1/dynamodb/aws4_request");
    let canonical = hex(&Sha256::digest(canonical));
    let mut key = b"AWS4bench".to_vec();
    let text = format!("AWS4-HMAC-SHA256\n{TIME}\n{scope}\n{canonical}");
    for part in [DATE, "us-east-1", "dynamodb", "aws4_request", &text] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(io::Error::other)?;
        mac.update(part.as_bytes());
        key = mac.finalize().into_bytes().to_vec();
    }
    request.clear();
    write!(
        request,
        "POST / HTTP/1.1\r\nhost: {HOST}\r\ncontent-type: {TYPE}\r\nx-amz-date: {TIME}\r\n\
         x-amz-target: {TARGET}\r\ncontent-length: {}\r\nauthorization: AWS4-HMAC-SHA256 \
         Credential=bench/{scope}, SignedHeaders={SIGNED}, Signature={}\r\n\r\n{body}",
        body.len(),
        hex(&key)
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
        text
    })
}

fn connection(
    address: &str,
    numbers: impl Iterator<Item = usize>,
    batches: &[&[&str]],
) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut answer = [0; 4096];
    let mut bytes = Vec::new();
    for (batch, items) in numbers.zip(batches.iter().cycle()) {
        request(&mut bytes, items)?;
        stream.write_all(&bytes)?;
        // The answer is small and comes in one piece.
        let read = stream.read(&mut answer)?;
        let answer = answer.get(..read).unwrap_or_default();
        if !answer.starts_with(b"HTTP/1.1 200") {
            return Err(invalid(format!("batch {batch} was refused")));
        }
    }
    Ok(())
}
