//! Exports to S3, and the loads that DynamoDB does itself from there, against servers that speak the protocols of both:
//! ministack behind `routes/server.py`, which has the bulk operations too, and moto.
//!
//! Neither models quotas, throttling, regions or the speed of an import. ministack's import goes on behind a line that it cannot
//! read, where DynamoDB abandons the object.

mod bulk;
mod export;
mod import;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;

use dynafold_testing::missing::{named_by, not_tested};

use crate::exports;
use crate::support::cli::{Ran, command, run};
use crate::support::sqlite::Database;

const MAPPING: &str = "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, ttl: ends, tags: { team: shop }, indexes: { byKind: { partition: kind, sort: SK, project: keys } } }
items:
  USER:
    from: users
    key: { PK: \"USER#{id}\", SK: USER }
  EVENT:
    from: events
    key: { PK: \"USER#{user_id}\", SK: \"EVENT#{id | pad(6)}\" }
";

/// Users, and so many events of so many characters.
fn script(events: u64, length: u64) -> String {
    format!(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);
         CREATE TABLE events (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, kind TEXT NOT NULL, body TEXT, ends INTEGER);
         INSERT INTO users VALUES (1, 'Ada \"Å\" \\'), (2, NULL), (3, 'Eve');
         WITH RECURSIVE n(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM n WHERE id < {events})
         INSERT INTO events SELECT id, 1 + id % 3, 'k' || (id % 7), printf('%.*c', {length} + id % 90, 'x'), 4102444800 FROM n;"
    )
}

/// The folder of the servers that pip installs.
fn folder() -> Option<PathBuf> {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/aws");
    let what = "exports to S3 and routes against servers from PyPI";
    if std::env::var_os("DYNAFOLD_TEST_AWS").is_some() {
        return named_by("DYNAFOLD_TEST_AWS", what).map(PathBuf::from);
    }
    if kept.join("venv/bin/ministack").is_file() {
        return Some(kept);
    }
    not_tested(what, "there are none in target/aws: tests/run fetches them");
    None
}

/// A server on a port, which ends with this process.
struct Server {
    url: String,
    _child: Child,
    _input: ChildStdin,
}

/// ministack with bulk operations; one for all tests.
pub(crate) fn server() -> Option<&'static str> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let folder = folder()?;
        // The linters' botocore knows the model of bulk operations, ministack's does not yet.
        let linters = exports::linters().map(|linters| exports::python(&linters));
        let python = linters.unwrap_or_else(|| folder.join("venv/bin/python"));
        let mut child = Command::new(python)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/routes/server.py"))
            .arg(folder.join("venv/bin/ministack"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let model = lines.next().unwrap().unwrap();
        if model != "with the service model" {
            not_tested(
                "bulk operations by the service model",
                "no botocore that knows them is there",
            );
        }
        let port = lines.next().unwrap().unwrap();
        Some(Server {
            url: format!("http://127.0.0.1:{port}"),
            _input: child.stdin.take().unwrap(),
            _child: child,
        })
    });
    server.as_ref().map(|server| server.url.as_str())
}

/// Sends a request to a server and gives its answer's body.
fn http(url: &str, method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = head.split(' ').nth(1).unwrap();
    assert!(
        status.starts_with('2'),
        "{method} {path}: {head}\n{}",
        String::from_utf8_lossy(&answer[end..])
    );
    answer.split_off(end + 4)
}

/// How requests of these tests are signed: nobody checks.
fn signature(service: &str) -> String {
    format!(
        "Authorization: AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0\r\nX-Amz-Date: 20260101T000000Z\r\n"
    )
}

pub(crate) fn s3(url: &str, method: &str, path: &str, body: &[u8]) -> Vec<u8> {
    http(url, method, path, &signature("s3"), body)
}

fn dynamodb(url: &str, operation: &str, body: &serde_json::Value) -> serde_json::Value {
    let headers = format!(
        "{}X-Amz-Target: DynamoDB_20120810.{operation}\r\nContent-Type: application/x-amz-json-1.0\r\n",
        signature("dynamodb")
    );
    serde_json::from_slice(&http(
        url,
        "POST",
        "/",
        &headers,
        body.to_string().as_bytes(),
    ))
    .unwrap()
}

/// A source, a mapping of a table of its own, and a bucket of its own.
struct Case {
    source: Database,
    url: String,
    bucket: String,
    table: String,
}

/// The lines of a file, in JSON.
fn lines(file: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

impl Case {
    /// `name`: of the bucket, which chooses what goes wrong. `None` where there are no servers.
    async fn new(name: &str, events: u64, length: u64) -> Option<Self> {
        let url = server()?.to_owned();
        Some(Self::at(url, name, events, length).await)
    }

    async fn at(url: String, name: &str, events: u64, length: u64) -> Self {
        let source = Database::new(&script(events, length)).await;
        let own = format!("{name}-{:08x}", fastrand::u32(..));
        let mapping = MAPPING.replace("name: app", &format!("name: app-{own}"));
        std::fs::write(source.folder().join("m.yaml"), mapping).unwrap();
        s3(&url, "PUT", &format!("/{own}"), b"");
        Self {
            source,
            url,
            table: format!("app-{own}"),
            bucket: own,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.source.folder().join(name)
    }

    /// A command on the mapping and its source.
    fn command(&self, name: &str, further: &[&str]) -> Command {
        let mapping = self.path("m.yaml");
        let source = self.source.url();
        let first = [
            name,
            mapping.to_str().unwrap(),
            "--source",
            &source,
            "--endpoint-url",
            &self.url,
        ];
        command(&[&first, further].concat())
    }

    fn run(&self, name: &str, further: &[&str]) -> Ran {
        run(&mut self.command(name, further))
    }

    fn place(&self, prefix: &str) -> String {
        format!("s3://{}/{prefix}", self.bucket)
    }

    fn export(&self, prefix: &str, further: &[&str]) -> Ran {
        let place = self.place(prefix);
        self.run("export", &[&["--to", &place], further].concat())
    }

    /// `migrate` by a route.
    fn route(&self, kind: &str, further: &[&str]) -> Ran {
        run(&mut self.route_command(kind, further))
    }

    fn route_command(&self, kind: &str, further: &[&str]) -> Command {
        let route = format!("{kind}:{}", self.place("load"));
        self.command(
            "migrate",
            &[&["--target", "dynamodb", "--route", &route], further].concat(),
        )
    }

    /// The keys of the objects below a prefix.
    fn keys(&self, prefix: &str) -> Vec<String> {
        let found = s3(
            &self.url,
            "GET",
            &format!("/{}?list-type=2&prefix={prefix}", self.bucket),
            b"",
        );
        let found = String::from_utf8(found).unwrap();
        let keys = found.split("<Key>").skip(1);
        keys.map(|rest| rest.split("</Key>").next().unwrap().to_owned())
            .collect()
    }

    fn object(&self, key: &str) -> Vec<u8> {
        s3(&self.url, "GET", &format!("/{}/{key}", self.bucket), b"")
    }

    /// Runs a command as another account, which may use the bucket. ministack takes a key of twelve digits for the account.
    fn elsewhere(&self, mut command: Command) -> Ran {
        let policy = serde_json::json!({ "Version": "2012-10-17", "Statement": [{
            "Effect": "Allow", "Principal": "*", "Action": "s3:*",
            "Resource": [format!("arn:aws:s3:::{}", self.bucket), format!("arn:aws:s3:::{}/*", self.bucket)],
        }] });
        let path = format!("/{}?policy=", self.bucket);
        s3(&self.url, "PUT", &path, policy.to_string().as_bytes());
        command.env("AWS_ACCESS_KEY_ID", "222233334444");
        run(command.env("AWS_SECRET_ACCESS_KEY", "test"))
    }

    fn put(&self, key: &str, body: &[u8]) {
        s3(&self.url, "PUT", &format!("/{}/{key}", self.bucket), body);
    }

    /// Uploads that have not come to their end.
    fn uploads(&self) -> usize {
        let found = s3(&self.url, "GET", &format!("/{}?uploads=", self.bucket), b"");
        String::from_utf8(found)
            .unwrap()
            .matches("<Upload>")
            .count()
    }

    /// The files beside the mapping whose names end so.
    fn beside(&self, ending: &str) -> Vec<PathBuf> {
        let all = std::fs::read_dir(self.source.folder()).unwrap();
        let all = all.map(|entry| entry.unwrap().path());
        all.filter(|path| path.to_str().unwrap().ends_with(ending))
            .collect()
    }

    /// The rejects file of the only place that there is.
    fn rejects_file(&self) -> PathBuf {
        let mut files = self.beside("rejects.ndjson");
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    /// The lines of the rejects file.
    fn rejects(&self) -> Vec<serde_json::Value> {
        lines(&self.rejects_file())
    }

    /// An export cannot end until the bucket is opened again.
    fn shut(&self) {
        self.put("shut", b"");
    }

    fn open(&self) {
        s3(&self.url, "DELETE", &format!("/{}/shut", self.bucket), b"");
    }

    /// Items of the table.
    fn count(&self) -> u64 {
        let found = dynamodb(
            &self.url,
            "Scan",
            &serde_json::json!({ "TableName": self.table, "Select": "COUNT" }),
        );
        found["Count"].as_u64().unwrap()
    }
}
