//! An endpoint that speaks just enough of DynamoDB's protocol, on the loopback interface.
//!
//! It remembers the tables that are made, so that one can be described, and takes every item
//! without looking at it. A thread for each connection, no more than [`CONNECTIONS`]; no body over
//! [`BODY`]. It prints its address and serves until it is killed.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::invalid;

const CONNECTIONS: usize = 512;
/// BatchWriteItem's limit is 16 MB.
const BODY: usize = 17 << 20;
const HEAD: usize = 64 << 10;
const PREFIX: &str = "DynamoDB_20120810.";

type Tables = Arc<Mutex<HashMap<String, Value>>>;

/// Serves on a free port; answers to writes are held back for `latency` milliseconds.
pub(crate) fn serve(latency: &str) -> io::Result<()> {
    let latency = latency.parse().map_err(|_| invalid("no milliseconds"))?;
    let latency = Duration::from_millis(latency);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut out = io::stdout().lock();
    writeln!(out, "http://{}", listener.local_addr()?)?;
    out.flush()?;
    let tables = Tables::default();
    // Each connection holds a clone.
    let open = Arc::new(());
    for stream in listener.incoming() {
        let stream = stream?;
        if Arc::strong_count(&open) > CONNECTIONS {
            continue;
        }
        let (tables, open) = (tables.clone(), open.clone());
        thread::spawn(move || {
            // A client that goes away is no matter.
            let _ = connection(&stream, &tables, latency);
            drop(open);
        });
    }
    Ok(())
}

fn connection(mut stream: &TcpStream, tables: &Tables, latency: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(HEAD);
    let mut answer = Vec::new();
    while let Some(head) = fill_until(stream, &mut buffer, head_end)? {
        let (operation, length) = {
            let text = String::from_utf8_lossy(buffer.get(..head).unwrap_or_default());
            let target = header(&text, "x-amz-target").unwrap_or_default();
            let operation = target.strip_prefix(PREFIX).unwrap_or_default().to_owned();
            let length = header(&text, "content-length").and_then(|text| text.parse().ok());
            (operation, length.unwrap_or(0))
        };
        if length > BODY {
            return Err(invalid("the body is too long"));
        }
        let end = head + length;
        let whole = |read: &[u8]| (read.len() >= end).then_some(end);
        if fill_until(stream, &mut buffer, whole)?.is_none() {
            return Ok(());
        }
        let body = buffer.get(head..end).unwrap_or_default();
        let (status, body) = respond(&operation, body, tables);
        if operation == "BatchWriteItem" && !latency.is_zero() {
            thread::sleep(latency);
        }
        buffer.drain(..end);
        answer.clear();
        write!(
            answer,
            "HTTP/1.1 {status}\r\ncontent-type: application/x-amz-json-1.0\r\n\
             content-length: {}\r\nx-amzn-requestid: 0\r\nx-amz-crc32: {}\r\n\r\n{body}",
            body.len(),
            crc32fast::hash(body.as_bytes()),
        )?;
        stream.write_all(&answer)?;
    }
    Ok(())
}

/// Reads until `found` says where; `None` where the client ends the connection before.
fn fill_until(
    mut stream: &TcpStream,
    buffer: &mut Vec<u8>,
    found: impl Fn(&[u8]) -> Option<usize>,
) -> io::Result<Option<usize>> {
    let mut part = vec![0; HEAD];
    loop {
        if let Some(at) = found(buffer) {
            return Ok(Some(at));
        }
        let read = stream.read(&mut part)?;
        if read == 0 || buffer.len() > HEAD + BODY {
            return Ok(None);
        }
        buffer.extend_from_slice(part.get(..read).unwrap_or_default());
    }
}

fn head_end(read: &[u8]) -> Option<usize> {
    let at = read.windows(4).position(|four| four == b"\r\n\r\n");
    at.map(|at| at + 4)
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut pairs = head.lines().filter_map(|line| line.split_once(':'));
    pairs
        .find(|(other, _)| other.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

fn respond(operation: &str, body: &[u8], tables: &Tables) -> (&'static str, String) {
    if operation == "BatchWriteItem" {
        return ("200 OK", "{\"UnprocessedItems\":{}}".to_owned());
    }
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let name = request.get("TableName").and_then(Value::as_str);
    let name = name.unwrap_or_default().to_owned();
    let mut tables = tables.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = match operation {
        "CreateTable" => {
            let made = description(request);
            tables.insert(name, made.clone());
            Some(json!({ "TableDescription": made }))
        }
        "DescribeTable" => tables.get(&name).map(|table| json!({ "Table": table })),
        "DescribeTimeToLive" => {
            Some(json!({ "TimeToLiveDescription": { "TimeToLiveStatus": "DISABLED" } }))
        }
        "UpdateTimeToLive" => {
            let said = request.get("TimeToLiveSpecification");
            Some(json!({ "TimeToLiveSpecification": said }))
        }
        _ => None,
    };
    match answer {
        Some(answer) => ("200 OK", answer.to_string()),
        None => (
            "400 Bad Request",
            json!({
                "__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",
                "message": "Requested resource not found",
            })
            .to_string(),
        ),
    }
}

/// What `DescribeTable` says of a table that was made as this request asks.
fn description(mut request: Value) -> Value {
    let billing = request.get("BillingMode").cloned().unwrap_or_default();
    let mut indexes = request.get("GlobalSecondaryIndexes").cloned();
    let each = indexes.as_mut().and_then(Value::as_array_mut);
    for index in each.into_iter().flatten().filter_map(Value::as_object_mut) {
        index.insert("IndexStatus".to_owned(), json!("ACTIVE"));
    }
    if let Some(table) = request.as_object_mut() {
        table.insert("TableStatus".to_owned(), json!("ACTIVE"));
        table.insert("ItemCount".to_owned(), json!(0));
        table.insert(
            "BillingModeSummary".to_owned(),
            json!({ "BillingMode": billing }),
        );
        if let Some(indexes) = indexes {
            table.insert("GlobalSecondaryIndexes".to_owned(), indexes);
        }
    }
    request
}
