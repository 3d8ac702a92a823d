//! Just enough of HTTP/1.1: requests with a length, and answers.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;

const HEAD: usize = 64 << 10;
/// BatchWriteItem's limit is 16 MB.
const BODY: usize = 17 << 20;

#[derive(Debug, Default)]
pub(crate) struct Request {
    /// `POST /path`.
    pub(crate) line: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// `name` in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|header| header.0 == name)
            .map(|header| header.1.as_str())
    }

    /// The operation without the service's prefix.
    pub(crate) fn operation(&self) -> &str {
        let target = self.header("x-amz-target").unwrap_or_default();
        target
            .split_once('.')
            .map_or("", |(_, operation)| operation)
    }
}

/// One connection, with what was read of the next request.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    read: Vec<u8>,
    part: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            read: Vec::new(),
            part: vec![0; HEAD],
        }
    }

    /// The next request; None where the client ends the connection.
    pub(crate) fn receive(&mut self) -> io::Result<Option<Request>> {
        let end = loop {
            if let Some(at) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if self.read.len() > HEAD {
                return Err(io::Error::other("the head is too long"));
            }
            if !self.more()? {
                return Ok(None);
            }
        };
        let head = self.read.get(..end).unwrap_or_default();
        let head = String::from_utf8_lossy(head).into_owned();
        let mut lines = head.lines();
        let first = lines.next().unwrap_or_default();
        let line = first.rsplit_once(' ').map_or(first, |(line, _)| line);
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
        let mut request = Request {
            line: line.to_owned(),
            headers: headers.collect(),
            body: Vec::new(),
        };
        let length = request.header("content-length").map(str::parse);
        let length = length.unwrap_or(Ok(0)).map_err(io::Error::other)?;
        if length > BODY {
            return Err(io::Error::other("the body is too long"));
        }
        while self.read.len() < end + length {
            if !self.more()? {
                return Ok(None);
            }
        }
        let rest = self.read.split_off(end + length);
        let mut body = std::mem::replace(&mut self.read, rest);
        body.drain(..end);
        request.body = body;
        Ok(Some(request))
    }

    fn more(&mut self) -> io::Result<bool> {
        let read = self.stream.read(&mut self.part)?;
        self.read.extend(self.part.get(..read).unwrap_or_default());
        Ok(read > 0)
    }

    /// Sends an answer; of a broken one, half of the body.
    pub(crate) fn send(
        &mut self,
        status: u16,
        body: &str,
        date: &str,
        half: bool,
    ) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(body.len() + 256);
        write!(
            bytes,
            "HTTP/1.1 {status} {}\r\ncontent-type: application/x-amz-json-1.0\r\ndate: {date}\r\n\
             content-length: {}\r\nx-amzn-requestid: 0\r\nx-amz-crc32: {}\r\n\r\n",
            phrase(status),
            body.len(),
            crc32fast::hash(body.as_bytes()),
        )?;
        let sent = if half { body.len() / 2 } else { body.len() };
        bytes.extend(body.as_bytes().get(..sent).unwrap_or_default());
        self.stream.write_all(&bytes)
    }

    /// Ends the connection so that the other side sees a reset.
    pub(crate) fn reset(&self) {
        let socket = socket2::SockRef::from(&self.stream);
        // Where this fails, the connection is merely closed.
        let _ = socket.set_linger(Some(std::time::Duration::ZERO));
    }
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Other",
    }
}
