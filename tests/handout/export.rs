//! An export by many workers into S3: a plan names the place, workers upload the parts of their chunks, `finish` writes the manifest.

use std::process::Child;
use std::time::Duration;

use serde_json::Value;

use super::{Handed, Held, MAPPING, script};
use crate::routes::{s3, server};
use crate::support::cli::{Ran, ran, run};
use crate::support::postgres;

/// A bucket, and a prefix of it.
pub(super) struct Place {
    server: &'static str,
    bucket: String,
}

impl Place {
    /// `None` where there is no server.
    pub(super) fn new() -> Option<Self> {
        let server = server()?;
        let bucket = format!("handed-{:08x}", fastrand::u32(..));
        s3(server, "PUT", &format!("/{bucket}"), b"");
        Some(Self { server, bucket })
    }

    pub(super) fn to(&self) -> [String; 4] {
        let place = format!("s3://{}/x", self.bucket);
        ["--to", &place, "--endpoint-url", self.server].map(str::to_owned)
    }

    fn service(&self) -> [&str; 2] {
        ["--endpoint-url", self.server]
    }

    pub(super) fn names(&self) -> Vec<String> {
        let path = format!("/{}?list-type=2&prefix=x/", self.bucket);
        let found = String::from_utf8(s3(self.server, "GET", &path, b"")).unwrap();
        let keys = found.split("<Key>").skip(1);
        keys.map(|rest| rest.split("</Key>").next().unwrap().to_owned())
            .collect()
    }

    fn object(&self, name: &str) -> Vec<u8> {
        s3(self.server, "GET", &format!("/{}/{name}", self.bucket), b"")
    }

    fn uploads(&self) -> usize {
        let path = format!("/{}?uploads=", self.bucket);
        let found = String::from_utf8(s3(self.server, "GET", &path, b"")).unwrap();
        found.matches("<Upload>").count()
    }

    /// The lines of all parts, in their order as text.
    pub(super) fn lines(&self) -> Vec<String> {
        let manifest: Value = serde_json::from_slice(&self.object("x/manifest.json")).unwrap();
        let parts = manifest["parts"].as_array().unwrap().iter();
        let texts = parts.map(|part| {
            let part = self.object(&format!("x/{}", part["file"].as_str().unwrap()));
            String::from_utf8(zstd::decode_all(&part[..]).unwrap()).unwrap()
        });
        sorted(&texts.collect::<String>())
    }
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

impl Handed {
    fn planned_export(&self, place: &Place, further: &[&str]) -> Held {
        let to = place.to();
        let to: Vec<&str> = to.iter().map(String::as_str).collect();
        let mapping = self.text("m.yaml");
        let words = [&["plan", &mapping, "--hold"], &to[..], further].concat();
        self.holding(&mut self.command(&words))
    }

    fn exporter(&self, place: &Place, lines: &[String]) -> Child {
        let files = self.text("files");
        let words = [&["work", "--files", &files], &place.service()[..]].concat();
        Self::fed(&mut self.command(&words), lines)
    }

    fn verify_export(&self, place: &Place) -> Ran {
        let [_, to, ..] = place.to();
        let mapping = self.text("m.yaml");
        let words = [
            "verify",
            &mapping,
            "--against-export",
            &to,
            "--format",
            "json",
        ];
        run(&mut self.command(&[&words[..], &place.service()].concat()))
    }

    /// The lines of an export by one process.
    pub(super) fn lines_alone(&self) -> Vec<String> {
        let (mapping, to) = (self.text("m.yaml"), self.text("alone"));
        let words = ["export", &mapping, "--to", &to, "--compress", "none"];
        run(&mut self.command(&words)).exits(0);
        let parts = std::fs::read_dir(self.path("alone/data")).unwrap();
        let texts = parts.map(|part| std::fs::read_to_string(part.unwrap().path()).unwrap());
        sorted(&texts.collect::<String>())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_in_chunks_is_that_of_one_process_whoever_is_killed() {
    let Some(place) = Place::new() else { return };
    let database = postgres::Database::with(&script("postgres", 20_000)).await;
    let handed = Handed::new(database.url(), MAPPING);
    let held = handed.planned_export(&place, &["--chunk-rows", "2500"]);
    assert!(held.lines.len() > 4, "{}", held.lines.len());
    let mut killed = handed.exporter(&place, &held.lines);
    std::thread::sleep(Duration::from_millis(300));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let some = ran(handed.exporter(&place, &held.lines[..2]))
        .exits(0)
        .stdout;
    // Not whole: named, and no manifest.
    let early = handed.finish(&some, &place.service()).exits(1);
    assert!(early.stdout.contains("missing-chunks"), "{early:?}");
    assert!(!place.names().contains(&"x/manifest.json".to_owned()));
    let all = ran(handed.exporter(&place, &held.lines)).exits(0).stdout;
    // What is beside the parts would be imported too.
    let stray = format!("/{}/x/data/other.json", place.bucket);
    s3(place.server, "PUT", &stray, b"{}");
    let results = format!("{some}{all}");
    let unclosed = handed.finish(&results, &place.service()).exits(1);
    unclosed.says("data/other.json is not in the manifest");
    // The report of the load is not lost, and says nothing of a manifest.
    assert_eq!(unclosed.json()["total"]["written"], 20_003);
    assert!(unclosed.json().get("export").is_none());
    s3(place.server, "DELETE", &stray, b"");
    // Other bytes of the same number are not what the worker wrote, and the same bytes are, whoever puts them there.
    let part = (place.names().into_iter()).find(|name| name.contains("/data/"));
    let part = part.unwrap();
    let (bytes, path) = (place.object(&part), format!("/{}/{part}", place.bucket));
    s3(place.server, "PUT", &path, &vec![0; bytes.len()]);
    let unclosed = handed.finish(&results, &place.service()).exits(1);
    unclosed.says("does not hold what was written");
    s3(place.server, "PUT", &path, &bytes);
    let done = handed.finish(&results, &place.service()).exits(0).json();
    assert_eq!(done["total"]["written"], 20_003);
    assert_eq!(done["repeated"], 2);
    assert_eq!(done["keys"]["shared"], 0);
    held.end().exits(0);
    assert_eq!(place.uploads(), 0);
    assert!(place.names().contains(&"x/import-table.json".to_owned()));
    assert_eq!(place.lines(), handed.lines_alone());
    let verified = handed.verify_export(&place).exits(0).json();
    assert_eq!(verified["equal"], 20_003);
    // What is not as the source makes it is found in parts of chunks, too.
    database
        .run("UPDATE orders SET body = 'y' WHERE id = 7; DELETE FROM orders WHERE id = 8")
        .await;
    let verified = handed.verify_export(&place).exits(3).json();
    assert_eq!(verified["different"], 1);
    assert_eq!(verified["unexpected"], 1);
    // A place that holds something takes no other plan.
    let [_, to, ..] = place.to();
    let mapping = handed.text("m.yaml");
    let words = ["plan", &mapping, "--hold", "--to", &to];
    run(&mut handed.command(&[&words[..], &place.service()].concat()))
        .exits(1)
        .says("is not empty");
}

/// An import would read the parts of both.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_leaves_a_place_alone_that_holds_a_complete_export_meanwhile() {
    let Some(place) = Place::new() else { return };
    let database = postgres::Database::with(&script("postgres", 100)).await;
    let handed = Handed::new(database.url(), MAPPING);
    let held = handed.planned_export(&place, &[]);
    let (mapping, to) = (handed.text("m.yaml"), place.to());
    let to: Vec<&str> = to.iter().map(String::as_str).collect();
    run(&mut handed.command(&[&["export", &mapping], &to[..]].concat())).exits(0);
    let before = place.names();
    let failed = ran(handed.exporter(&place, &held.lines)).exits(1);
    failed.says("holds an export that is complete");
    assert_eq!(place.names(), before);
    held.end().exits(0);
    handed.verify_export(&place).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_share_a_key_across_workers_leave_an_export_without_a_manifest() {
    let Some(place) = Place::new() else { return };
    let database = postgres::Database::with(&script("postgres", 6_000)).await;
    // Two of one key in chunks far apart, and two in one chunk that make the same item.
    database
        .run("UPDATE orders SET number = 1000010 WHERE id = 5990; UPDATE orders SET number = 1000020 WHERE id = 21")
        .await;
    let handed = Handed::new(database.url(), MAPPING);
    let held = handed.planned_export(&place, &["--chunk-rows", "1000"]);
    let half = held.lines.len() / 2;
    let first = ran(handed.exporter(&place, &held.lines[..half])).exits(0);
    let second = ran(handed.exporter(&place, &held.lines[half..])).exits(0);
    let results = format!("{}{}", first.stdout, second.stdout);
    let source = handed.url.clone();
    let further = [&place.service()[..], &["--source", &source]].concat();
    let done = handed.finish(&results, &further).exits(3);
    assert_eq!(done.json()["keys"]["shared"], 2);
    assert!(
        done.stdout.contains("has the same key as ORDER"),
        "{done:?}"
    );
    assert!(!place.names().contains(&"x/manifest.json".to_owned()));
    held.end().exits(0);
    // A table's worker and an export's plan do not go together.
    let lines = &held_lines(&handed);
    ran(handed.worker(lines))
        .exits(1)
        .says("this plan exports to");
}

fn held_lines(handed: &Handed) -> Vec<String> {
    let text = std::fs::read_to_string(handed.path("plan.ndjson")).unwrap();
    text.lines().take(1).map(str::to_owned).collect()
}
