//! A minimal client made by hand: rows in memory become DynamoDB JSON, batches of 25 are signed by
//! `aws-sigv4` and go over eight connections of `hyper`, with one request in flight on each.
//!
//! Nothing is sent again, no credentials are looked up, and no answer is read but for its status.

use std::fs;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::invalid;

const CONNECTIONS: usize = 8;
const BATCH: usize = 25;
const HEADERS: [(&str, &str); 2] = [
    ("content-type", "application/x-amz-json-1.0"),
    ("x-amz-target", "DynamoDB_20120810.BatchWriteItem"),
];

/// A value as a row has it.
enum Field {
    Text(String),
    Number(String),
    Bool(bool),
    Null,
    List(Vec<Field>),
    Map(Row),
}

type Row = Vec<(String, Field)>;

/// Sends `count` items, over and over those of a file of DynamoDB JSON lines, and prints the
/// seconds that this took without the reading of the file.
pub(crate) fn send(endpoint: &str, items: &str, count: &str) -> io::Result<()> {
    let count: usize = count.parse().map_err(|_| invalid("no number of items"))?;
    let text = fs::read_to_string(items)?;
    let rows = text.lines().map(|line| {
        let value: Value = serde_json::from_str(line)?;
        row(value).ok_or_else(|| invalid("an item is none"))
    });
    let rows = Arc::new(rows.collect::<io::Result<Vec<Row>>>()?);
    if rows.len() < BATCH {
        return Err(invalid("the file holds less than a batch"));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let begun = Instant::now();
    runtime.block_on(async {
        let connections: Vec<_> = (0..CONNECTIONS)
            .map(|first| {
                let mine = (first * BATCH..count).step_by(CONNECTIONS * BATCH);
                let (endpoint, rows) = (endpoint.to_owned(), rows.clone());
                tokio::spawn(async move {
                    let mut sender = connect(&endpoint).await?;
                    for start in mine {
                        let numbers = start..count.min(start + BATCH);
                        batch(&mut sender, &endpoint, &rows, numbers).await?;
                    }
                    Ok::<_, io::Error>(())
                })
            })
            .collect();
        for connection in connections {
            connection.await.map_err(io::Error::other)??;
        }
        Ok::<_, io::Error>(())
    })?;
    writeln!(io::stdout(), "{}", begun.elapsed().as_secs_f64())
}

async fn connect(endpoint: &str) -> io::Result<SendRequest<Full<Bytes>>> {
    let address = endpoint.strip_prefix("http://").unwrap_or(endpoint);
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    tokio::spawn(connection);
    Ok(sender)
}

async fn batch(
    sender: &mut SendRequest<Full<Bytes>>,
    endpoint: &str,
    rows: &[Row],
    numbers: std::ops::Range<usize>,
) -> io::Result<()> {
    let request = signed(endpoint, body(rows, numbers))?;
    sender.ready().await.map_err(io::Error::other)?;
    let answer = sender.send_request(request).await;
    let answer = answer.map_err(io::Error::other)?;
    if answer.status() != StatusCode::OK {
        return Err(invalid(format!("a batch was refused: {}", answer.status())));
    }
    let whole = answer.into_body().collect().await;
    whole.map(drop).map_err(io::Error::other)
}

/// A request for a batch, signed as AWS wants it (Signature Version 4).
fn signed(endpoint: &str, body: String) -> io::Result<Request<Full<Bytes>>> {
    let identity = Credentials::new("bench", "bench", None, None, "bench").into();
    let settings = SigningSettings::default();
    let params = SigningParams::builder()
        .identity(&identity)
        .region("us-east-1")
        .name("dynamodb")
        .time(SystemTime::now())
        .settings(settings)
        .build()
        .map_err(io::Error::other)?;
    let host = endpoint.strip_prefix("http://").unwrap_or(endpoint);
    let headers = HEADERS.into_iter().chain([("host", host)]);
    let body = Bytes::from(body);
    let signable = SignableRequest::new(
        "POST",
        endpoint,
        headers.clone(),
        SignableBody::Bytes(&body),
    )
    .map_err(io::Error::other)?;
    let signature = sign(signable, &params.into()).map_err(io::Error::other)?;
    let (instructions, _) = signature.into_parts();
    let mut request = Request::post("/");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let mut request = request.body(Full::new(body)).map_err(io::Error::other)?;
    instructions.apply_to_request_http1x(&mut request);
    Ok(request)
}

fn body(rows: &[Row], numbers: std::ops::Range<usize>) -> String {
    let mut out = String::with_capacity(16 << 10);
    out.push_str("{\"RequestItems\":{\"bench\":[");
    let first = numbers.start;
    for number in numbers {
        out.push_str(if number > first { "," } else { "" });
        out.push_str("{\"PutRequest\":{\"Item\":");
        if let Some(row) = rows.get(number % rows.len()) {
            members(&mut out, row);
        }
        out.push_str("}}");
    }
    out.push_str("]}}");
    out
}

fn members(out: &mut String, row: &[(String, Field)]) {
    out.push('{');
    for (index, (name, field)) in row.iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        quoted(out, name);
        out.push(':');
        write(out, field);
    }
    out.push('}');
}

fn write(out: &mut String, field: &Field) {
    match field {
        Field::Text(text) => {
            out.push_str("{\"S\":");
            quoted(out, text);
        }
        Field::Number(number) => {
            out.push_str("{\"N\":\"");
            out.push_str(number);
            out.push('"');
        }
        Field::Bool(true) => out.push_str("{\"BOOL\":true"),
        Field::Bool(false) => out.push_str("{\"BOOL\":false"),
        Field::Null => out.push_str("{\"NULL\":true"),
        Field::List(fields) => {
            out.push_str("{\"L\":[");
            for (index, field) in fields.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write(out, field);
            }
            out.push(']');
        }
        Field::Map(row) => {
            out.push_str("{\"M\":");
            members(out, row);
        }
    }
    out.push('}');
}

/// A JSON string. No value of the benchmark holds a control character.
fn quoted(out: &mut String, mut text: &str) {
    out.push('"');
    while let Some(at) = text.find(['"', '\\']) {
        let (before, from) = text.split_at(at);
        out.push_str(before);
        out.push('\\');
        let (escaped, rest) = from.split_at(1);
        out.push_str(escaped);
        text = rest;
    }
    out.push_str(text);
    out.push('"');
}

/// A row out of an item's JSON.
fn row(item: Value) -> Option<Row> {
    let Value::Object(attributes) = item else {
        return None;
    };
    let fields = attributes.into_iter();
    fields
        .map(|(name, value)| Some((name, field(value)?)))
        .collect()
}

fn field(attribute: Value) -> Option<Field> {
    let Value::Object(attribute) = attribute else {
        return None;
    };
    let (kind, value) = attribute.into_iter().next()?;
    Some(match (kind.as_str(), value) {
        ("S", Value::String(text)) => Field::Text(text),
        ("N", Value::String(number)) => Field::Number(number),
        ("BOOL", Value::Bool(yes)) => Field::Bool(yes),
        ("NULL", _) => Field::Null,
        ("L", Value::Array(all)) => Field::List(all.into_iter().map(field).collect::<Option<_>>()?),
        ("M", map) => Field::Map(row(map)?),
        _ => return None,
    })
}
