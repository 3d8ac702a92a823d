//! Exports to S3: the objects are those that a folder would have, whatever is done to the process and to the bucket.

use std::process::Stdio;
use std::time::Duration;

use dynafold::target::ServiceOptions;
use dynafold::target::parts::{ExportPlace, Manifest};
use dynafold::target::s3::{Bucket, S3Location};
use serde_json::{Value, json};

use super::{Case, folder, lines};
use crate::support::cli::ran;
use crate::support::sqlite::settled;
use crate::support::wait::comes;

const NOW: [&str; 2] = ["--now", "2026-11-01T00:00:00Z"];

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_those_of_a_folder_and_other_things_are_refused() {
    let Some(case) = Case::new("export", 3_000, 10).await else {
        return;
    };
    let ran = case.export("a/b", &NOW).exits(0);
    ran.prints("3,003 items in 1 part");
    ran.prints("S3KeyPrefix=a/b/data/");
    assert_eq!(
        case.keys("a/b"),
        [
            "a/b/data/part-00000.json.zst",
            "a/b/import-table.json",
            "a/b/manifest.json"
        ]
    );
    assert_eq!(case.uploads(), 0);
    // The same bytes in a folder, and again under another prefix.
    let mapping = case.path("m.yaml");
    let (to, source) = (case.path("local"), case.source.url());
    let local = [
        "export",
        mapping.to_str().unwrap(),
        "--source",
        &source,
        "--to",
        to.to_str().unwrap(),
    ];
    crate::support::cli::dynafold(&[&local[..], &NOW].concat()).exits(0);
    let part = case.object("a/b/data/part-00000.json.zst");
    assert_eq!(
        part,
        std::fs::read(to.join("data/part-00000.json.zst")).unwrap()
    );
    case.export("again", &NOW).exits(0);
    assert_eq!(part, case.object("again/data/part-00000.json.zst"));
    // What stands there is never written to.
    case.export("a/b", &NOW)
        .exits(1)
        .says("holds an export that is complete");
    case.put("other/notes.txt", b"mine");
    case.export("other", &NOW)
        .exits(1)
        .says("holds `notes.txt`");
    case.put("parts/data/part-00000.json.zst", b"of another machine");
    case.export("parts", &NOW).exits(1).says("not begun here");
    let place = format!("s3://{}-none/x", case.bucket);
    case.run("export", &["--to", &place])
        .exits(1)
        .says("there is no such bucket (NoSuchBucket)");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_as_the_source_makes_it_is_found_in_s3() {
    let Some(case) = Case::new("verify", 300, 10).await else {
        return;
    };
    case.export("x", &["--compress", "none"]).exits(0);
    let place = case.place("x");
    let verify = |code: i32| {
        let ran = case.run("verify", &["--against-export", &place, "--format", "json"]);
        ran.exits(code).json()
    };
    assert_eq!(verify(0)["equal"], 303);
    let key = "x/data/part-00000.json";
    let whole = String::from_utf8(case.object(key)).unwrap();
    let line = whole
        .lines()
        .find(|line| line.contains("EVENT#000123"))
        .unwrap();
    case.put(key, whole.replace(&format!("{line}\n"), "").as_bytes());
    let found = verify(3);
    assert_eq!(
        (&found["equal"], &found["missing"]),
        (&json!(302), &json!(1)),
        "{found:#}"
    );
    case.put(key, whole.as_bytes());
    // An import would read it too.
    case.put(
        "x/data/part-00001.json",
        b"{\"Item\":{\"PK\":{\"S\":\"USER#1\"},\"SK\":{\"S\":\"USER\"}}}\n",
    );
    let found = verify(3);
    assert_eq!(
        found["changed_parts"],
        json!(["data/part-00001.json is not in the manifest"])
    );
    super::s3(
        &case.url,
        "DELETE",
        &format!("/{}/x/data/part-00001.json", case.bucket),
        b"",
    );
    case.put("x/import-table.json", b"{}");
    let found = verify(3);
    assert_eq!(
        found["changed_parts"],
        json!(["import-table.json is not what the mapping says"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn items_are_written_as_plain_json_for_people() {
    let Some(case) = Case::new("plain", 20, 10).await else {
        return;
    };
    case.export("x", &["--lines", "plain", "--compress", "none"])
        .exits(0);
    assert_eq!(
        case.keys("x"),
        ["x/data/part-00000.ndjson", "x/manifest.json"]
    );
    let text = String::from_utf8(case.object("x/data/part-00000.ndjson")).unwrap();
    let items: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(items.len(), 23);
    let ada = items
        .iter()
        .find(|item| item["PK"] == "USER#1" && item["SK"] == "USER")
        .unwrap();
    assert_eq!(
        (&ada["name"], &ada["id"]),
        (&json!("Ada \"Å\" \\"), &json!(1))
    );
    let place = case.place("x");
    case.run("verify", &["--against-export", &place])
        .exits(1)
        .says("does not hold the types");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_is_killed_resumes_to_the_same_objects_and_leaves_no_upload() {
    // Some twenty megabytes in one part: pieces of a multipart upload.
    let Some(case) = Case::new("killed", 6_000, 3_000).await else {
        return;
    };
    let how = [&NOW[..], &["--compress", "none"]].concat();
    let begun = std::time::Instant::now();
    case.export("whole", &how).exits(0);
    let took = begun.elapsed();
    let whole = case.object("whole/data/part-00000.json");
    assert!(whole.len() > 16 << 20, "{}", whole.len());
    let mut kills = 0;
    for round in 0..8 {
        let prefix = format!("killed-{round}");
        let place = case.place(&prefix);
        for _ in 0..3 {
            let mut command = case.command("export", &[&["--to", &place], &how[..]].concat());
            let mut child = command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(took.mul_f64(0.3 + 0.7 * fastrand::f64()));
            if child.try_wait().unwrap().is_some() {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
        }
        let ran = case.export(&prefix, &how);
        assert!(
            ran.code == 0 || ran.stderr.contains("complete"),
            "{}",
            ran.stderr
        );
        assert_eq!(
            case.keys(&prefix),
            ["data/part-00000.json", "import-table.json", "manifest.json"]
                .map(|name| format!("{prefix}/{name}"))
        );
        assert!(case.object(&format!("{prefix}/data/part-00000.json")) == whole);
        assert_eq!(case.uploads(), 0);
        if kills >= 12 {
            break;
        }
    }
    assert!(kills >= 4, "{kills}");
    // Killed between the last two objects: what an import is asked with is there, and no manifest.
    let place = case.place("last");
    let mut command = case.command("export", &[&["--to", &place], &how[..]].concat());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let is_begun = || {
        let kept = std::fs::read_dir(case.path(".dynafold"));
        kept.is_ok_and(|mut all| {
            all.any(|one| one.is_ok_and(|one| one.path().extension() == Some("export".as_ref())))
        })
    };
    assert!(comes(Duration::from_mins(1), is_begun));
    child.kill().unwrap();
    child.wait().unwrap();
    for one in std::fs::read_dir(case.path(".dynafold")).unwrap() {
        let path = one.unwrap().path();
        if path.extension() == Some("export".as_ref()) {
            std::fs::write(path.join("uploaded"), "").unwrap();
        }
    }
    case.put("last/import-table.json", b"{}");
    case.export("last", &how).exits(0);
    assert!(case.object("last/data/part-00000.json") == whole);
    let request: Value = serde_json::from_slice(&case.object("last/import-table.json")).unwrap();
    assert_eq!(request["InputCompressionType"], "NONE");
}

/// Two tables with expired rows, one of them with a row that makes no item.
async fn with_rejects() -> Option<Case> {
    let case = Case::new("shut", 1, 1).await?;
    case.source
        .run("CREATE TABLE u (id INTEGER PRIMARY KEY, ends INTEGER NOT NULL); INSERT INTO u VALUES (1, 4102444800), (2, 1000000000), (123456, 4102444800);
              CREATE TABLE v (id INTEGER PRIMARY KEY, ends INTEGER NOT NULL); INSERT INTO v VALUES (1, 4102444800);")
        .await;
    let mapping = "dynafold: 1
table: { name: app, key: { partition: PK }, ttl: ends }
items:
  U: { from: u, key: { PK: \"U#{id | pad(3)}\" }, expired: archive }
  V: { from: v, key: { PK: \"V#{id}\" }, expired: archive }
";
    std::fs::write(case.path("m.yaml"), mapping).unwrap();
    settled(&case.source.file());
    Some(case)
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_of_an_export_that_goes_on_are_where_it_says_whatever_other_exports_did() {
    let Some(case) = with_rejects().await else {
        return;
    };
    let how = ["--max-rejects", "5", "--format", "json"];
    case.shut();
    case.export("one", &how).exits(1).says("the bucket is shut");
    // Taken away, they are made again.
    std::fs::remove_file(case.rejects_file()).unwrap();
    let again = case.export("one", &how).exits(1);
    again.says("starting over: its rejects or its archive have been changed or deleted");
    case.open();
    case.export("two", &["--items", "V"]).exits(0);
    let ended = case.export("one", &how).exits(3);
    ended.says("resuming with the files of the export");
    let file = ended.json()["rejects_file"].as_str().unwrap().to_owned();
    ended.says(&format!("complete but for 1 rejected row; it is in {file}"));
    let rejects = lines(std::path::Path::new(&file));
    assert_eq!(rejects.len(), 1);
    assert_eq!(rejects[0]["row"]["id"], 123_456);
    // An export elsewhere has rejects of its own.
    case.export("three", &how).exits(3);
    assert_eq!(case.beside("rejects.ndjson").len(), 2);
}

/// Parts of two kinds would be read by an import, each with all items.
#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_goes_on_with_other_compression_starts_over() {
    let Some(case) = Case::new("shut", 20, 10).await else {
        return;
    };
    settled(&case.source.file());
    case.shut();
    case.export("x", &[]).exits(1);
    case.open();
    let ran = case.export("x", &["--compress", "gzip"]).exits(0);
    ran.says("starting over: --compress: gzip now, none then");
    assert_eq!(
        case.keys("x/data/"),
        ["x/data/part-00000.json.gz"],
        "{ran:?}"
    );
}

/// What an import would read too is refused before a part is uploaded.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_of_no_export_is_found_before_an_export_goes_on() {
    let Some(case) = Case::new("shut", 20, 10).await else {
        return;
    };
    settled(&case.source.file());
    case.shut();
    case.export("x", &[]).exits(1);
    case.open();
    // As the console makes a folder.
    for stray in ["x/data/", "x/data/part-00000.json/more"] {
        case.put(stray, b"");
        let ran = case.export("x", &[]).exits(1);
        ran.says("which does not belong to an export");
        assert!(!ran.stderr.contains("going on"), "{}", ran.stderr);
        let path = format!("/{}/{stray}", case.bucket);
        super::s3(&case.url, "DELETE", &path, b"");
    }
    case.export("x", &[]).exits(0);
}

/// An export that has begun on another machine, and what it finds of this one when it comes to its parts.
#[tokio::test(flavor = "multi_thread")]
async fn what_others_wrote_since_an_export_began_is_not_written_over() {
    let Some(case) = Case::new("meet", 60_000, 10).await else {
        return;
    };
    let mut other = Case::new("meet", 3, 10).await.unwrap();
    other.bucket.clone_from(&case.bucket);
    let begin = |prefix: &str| {
        let place = case.place(prefix);
        let mut command = case.command("export", &["--to", &place]);
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let begun = case.path(".dynafold").exists();
        assert!(!begun);
        let child = command.spawn().unwrap();
        assert!(comes(Duration::from_mins(1), || case
            .path(".dynafold")
            .exists()));
        child
    };
    let child = begin("whole");
    other.export("whole", &[]).exits(0);
    let whole = case.object("whole/data/part-00000.json.zst");
    ran(child).exits(1).says("holds an export that is complete");
    assert_eq!(case.object("whole/data/part-00000.json.zst"), whole);
    let place = other.place("whole");
    other.run("verify", &["--against-export", &place]).exits(0);
    // One that is not complete yet.
    std::fs::remove_dir_all(case.path(".dynafold")).unwrap();
    let child = begin("part");
    case.put("part/data/part-00000.json.zst", b"of another machine");
    ran(child).exits(1).says("not begun here");
    assert_eq!(
        case.object("part/data/part-00000.json.zst"),
        b"of another machine"
    );
}

/// Two that come to their ends at one time: the manifest of the first stays.
#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_is_not_written_over() {
    let Some(case) = Case::new("manifest", 3, 10).await else {
        return;
    };
    case.export("x", &[]).exits(0);
    let location = S3Location::parse(&case.place("x")).unwrap();
    let service = ServiceOptions {
        endpoint_url: Some(case.url.clone()),
        ..ServiceOptions::default()
    };
    let place = ExportPlace::Bucket(Bucket::open(location, &service).await.unwrap());
    let manifest = Manifest::read(&place).await.unwrap();
    let other = Manifest {
        items: 7,
        ..manifest.clone()
    };
    let refused = other.write(&place).await.unwrap_err().to_string();
    assert!(refused.contains("exists already"), "{refused}");
    assert_eq!(Manifest::read(&place).await.unwrap(), manifest);
    // As after an answer that was lost.
    manifest.write(&place).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_knows_no_condition_gets_the_manifest_all_the_same() {
    let Some(case) = Case::new("unconditional", 3, 10).await else {
        return;
    };
    case.export("x", &[]).exits(0);
    assert!(case.keys("x").contains(&"x/manifest.json".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_starts_over_leaves_the_archive_of_another() {
    let Some(case) = with_rejects().await else {
        return;
    };
    case.shut();
    case.export("one", &["--items", "V"]).exits(1);
    case.open();
    case.export("two", &["--max-rejects", "5"]).exits(3);
    let archive = case.beside("archive.ndjson");
    assert_eq!(archive.len(), 1, "{archive:?}");
    case.source
        .run("INSERT INTO v VALUES (2, 4102444800)")
        .await;
    settled(&case.source.file());
    let again = case.export("one", &["--items", "V"]).exits(0);
    again.says("starting over");
    assert_eq!(lines(&archive[0]).len(), 1);
}

/// Another server than the one of the other tests: what both take is no habit of one.
#[tokio::test(flavor = "multi_thread")]
async fn moto_takes_the_same_exports() {
    let Some(folder) = folder() else {
        return;
    };
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut child = std::process::Command::new(folder.join("venv/bin/moto_server"))
        .args(["-H", "127.0.0.1", "-p", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let answers = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    assert!(crate::support::wait::comes(
        std::time::Duration::from_mins(1),
        answers
    ));
    let url = format!("http://127.0.0.1:{port}");
    let work = async {
        let case = Case::at(url, "moto", 4_000, 3_000).await;
        let how = [&NOW[..], &["--compress", "none"]].concat();
        case.export("x", &how).exits(0);
        let place = case.place("x");
        let ran = case
            .run("verify", &["--against-export", &place, "--format", "json"])
            .exits(0);
        assert_eq!(ran.json()["equal"], 4_003);
    };
    let work = std::panic::AssertUnwindSafe(work);
    let done = futures_util::FutureExt::catch_unwind(work).await;
    child.kill().unwrap();
    child.wait().unwrap();
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}
