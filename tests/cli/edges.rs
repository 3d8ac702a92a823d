//! The edges of the system: few file descriptors, and files that others may not read.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::support::cli::{command, run};
use crate::support::sqlite::Database;

const SCRIPT: &str = "CREATE TABLE u (id INTEGER PRIMARY KEY, n TEXT, ends INTEGER);
    INSERT INTO u VALUES (1, 'a', 1), (2, 'b', 4000000000), (3, '', 4000000000);";
const MAPPING: &str = "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, ttl: ends }
items:
  U:
    from: u
    key: { PK: \"{n}\", SK: \"{id | pad(10)}\" }
    expired: archive
access_patterns:
  p: { key: { PK: \"{n}\" } }
";

/// A prepared command, run by a shell that first says this.
fn behind(first: &str, folder: &Path, arguments: &[&str]) -> crate::support::cli::Ran {
    let program = command(arguments);
    let mut shell = Command::new("bash");
    shell
        .args(["-c", &format!("{first}; exec \"$0\" \"$@\"")])
        .arg(program.get_program())
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    run(&mut shell)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn few_file_descriptors_are_an_error_and_no_panic() {
    let database = Database::new(SCRIPT).await;
    let (folder, url) = (database.folder(), database.url());
    std::fs::write(folder.join("m.yaml"), MAPPING).unwrap();
    let source = ["--source", url.as_str()];
    let target = ["--target", "local:t.ddb"];
    let commands: Vec<Vec<&str>> = vec![
        [&["inspect"][..], &source].concat(),
        [&["init", "-o", "-"][..], &source].concat(),
        [&["check", "m.yaml", "--format", "json"][..], &source].concat(),
        [&["preview", "m.yaml", "--all"][..], &source].concat(),
        [
            &["migrate", "m.yaml", "--append", "--fresh"][..],
            &source,
            &target,
        ]
        .concat(),
        [&["verify", "m.yaml"][..], &source, &target].concat(),
        [&["query", "m.yaml", "p", "--param", "n=a"][..], &target].concat(),
        [&["docs", "m.yaml", "-o", "-", "--as", "html"][..], &source].concat(),
        vec!["schema"],
        vec!["demo", "d"],
    ];
    for descriptors in [4, 6, 8, 10, 16, 19, 22, 28] {
        for arguments in &commands {
            let ran = behind(&format!("ulimit -n {descriptors}"), &folder, arguments);
            let what = format!("{descriptors} {arguments:?}: {ran:?}");
            assert!(
                !ran.stderr.contains("panicked") && [0, 1, 3].contains(&ran.code),
                "{what}"
            );
            if (5..=16).contains(&descriptors) {
                assert_eq!(ran.code, 1, "{what}");
                let reported = "error: cannot open 16 files\n  because: Too many open files";
                assert!(ran.stderr.contains(reported), "{what}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_hold_rows_are_their_owners_alone() {
    let database = Database::new(SCRIPT).await;
    let (folder, url) = (database.folder(), database.url());
    std::fs::write(folder.join("m.yaml"), MAPPING).unwrap();
    let before: Vec<_> = files(&folder);
    let source = ["--source", url.as_str()];
    let own = [
        "--target",
        "local:t.ddb",
        "--rejects",
        "r.ndjson",
        "--archive",
        "a.ndjson",
        "--state",
        "s.state",
        "--max-rejects",
        "9",
        "--one-pass",
    ];
    behind(
        "umask 0",
        &folder,
        &[&["migrate", "m.yaml"][..], &source, &own].concat(),
    )
    .exits(3);
    let preview = ["preview", "m.yaml", "--format", "ndjson", "-o", "p.ndjson"];
    behind("umask 0", &folder, &[&preview[..], &source].concat()).exits(3);
    let all = ["preview", "m.yaml", "--all", "--rejects", "q.ndjson"];
    behind("umask 0", &folder, &[&all[..], &source].concat()).exits(3);
    let made: Vec<_> = files(&folder)
        .into_iter()
        .filter(|file| !before.contains(file))
        .collect();
    for name in [
        "t.ddb", "r.ndjson", "a.ndjson", "s.state", "p.ndjson", "q.ndjson",
    ] {
        assert!(
            made.iter().any(|file| file.ends_with(name)),
            "{name}: {made:?}"
        );
    }
    for file in made.iter().filter(|file| !file.ends_with(".gitignore")) {
        let mode = std::fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

const DOCUMENTS: &str = r#"CREATE TABLE d (id INTEGER PRIMARY KEY, t TEXT, j JSON);
    INSERT INTO d VALUES (1, '{"a": 1, "list": [{"n": 1}, {"n": 2}]}', '{"a": 1}'),
        (2, '{"a": 1, "a": 2}', '{"a": 1, "a": 2}'), (3, 'no', 'no'), (4, '[7]', '[7]');"#;

fn mapping(items: &str) -> String {
    format!(
        "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK, sort: SK }} }}\nitems:\n{items}"
    )
}

/// The items and the rejects of a mapping, by their keys.
fn sampled(folder: &Path, url: &str, items: &str) -> (Vec<String>, String) {
    std::fs::write(folder.join("d.yaml"), mapping(items)).unwrap();
    let path = folder.join("d.yaml").display().to_string();
    let arguments = [
        "preview",
        &path,
        "--source",
        url,
        "--format",
        "dynamodb-json",
    ];
    let ran = crate::support::cli::dynafold(&arguments);
    assert!([0, 3].contains(&ran.code), "{ran:?}");
    (ran.stdout.lines().map(str::to_owned).collect(), ran.stderr)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_that_a_column_keeps_as_text_is_spread_and_exploded_where_the_mapping_says_so() {
    let database = Database::new(DOCUMENTS).await;
    let (folder, url) = (database.folder(), database.url());
    let key = "    from: d\n    columns: []\n    key: { PK: \"D#{id}\", SK: ";
    let spread =
        format!("  D:\n{key}D }}\n    where: id = 1\n    attributes: {{ $spread: t | json }}\n");
    let (items, _) = sampled(&folder, &url, &spread);
    assert_eq!(
        items,
        [
            r#"{"PK":{"S":"D#1"},"SK":{"S":"D"},"_type":{"S":"D"},"a":{"N":"1"},"list":{"L":[{"M":{"n":{"N":"1"}}},{"M":{"n":{"N":"2"}}}]}}"#
        ]
    );
    let spread = spread.replace("    where: id = 1\n", "");
    let (items, said) = sampled(&folder, &url, &spread);
    assert_eq!(items.len(), 1, "{items:?}");
    for (row, why) in [
        ("2", "[unfit-value]"),
        ("3", "[unfit-value]"),
        ("4", "[spread-not-an-object]"),
    ] {
        let reported = said
            .lines()
            .find(|line| line.contains(&format!("\"id\":{row}")))
            .unwrap_or_default();
        assert!(reported.contains(why), "{row}: {said}");
    }
    let explode = format!(
        "  D:\n{key}\"{{e.$index | pad(2)}}\" }}\n    explode: {{ e: t | json }}\n    attributes: {{ e: \"{{e}}\" }}\n"
    );
    let (items, said) = sampled(&folder, &url, &explode);
    assert_eq!(
        items,
        [r#"{"PK":{"S":"D#4"},"SK":{"S":"00"},"_type":{"S":"D"},"e":{"N":"7"}}"#],
        "{said}"
    );
    for wrong in ["t | upper", "t | json | json", "t"] {
        for text in [
            spread.replace("t | json", wrong),
            explode.replace("t | json", wrong),
        ] {
            std::fs::write(folder.join("w.yaml"), mapping(&text)).unwrap();
            let path = folder.join("w.yaml").display().to_string();
            let ran = crate::support::cli::dynafold(&["check", &path, "--source", &url]).exits(1);
            assert!(ran.stdout.contains("json"), "{wrong}: {}", ran.stdout);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_with_a_member_named_twice_or_too_deep_is_unfit_and_other_text_is_text() {
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let rows = format!(
        "{DOCUMENTS} INSERT INTO d VALUES (5, '', '{}'), (6, '', '{}'), (7, '', '{}');",
        deep(40),
        deep(101),
        deep(5_000)
    );
    let database = Database::new(&rows).await;
    let (folder, url) = (database.folder(), database.url());
    let items = "  D:\n    from: d\n    columns: [j]\n    key: { PK: \"D#{id}\", SK: D }\n";
    let path = folder.join("d.yaml");
    std::fs::write(&path, mapping(items)).unwrap();
    let path = path.display().to_string();
    let arguments = [
        "preview",
        &path,
        "--source",
        &url,
        "--format",
        "dynamodb-json",
        "--limit",
        "9",
    ];
    let ran = crate::support::cli::dynafold(&arguments).exits(3);
    let (items, said): (Vec<&str>, _) = (ran.stdout.lines().collect(), ran.stderr.as_str());
    let of = |id: u32| items.iter().find(|item| item.contains(&format!("D#{id}")));
    assert!(of(3).unwrap().contains(r#""j":{"S":"no"}"#), "{items:?}");
    assert!(
        of(1).is_some() && of(4).is_some() && items.len() == 3,
        "{items:?}"
    );
    for (row, code, why) in [
        (2, "unfit-value", "has a member twice"),
        (5, "nested-too-deep", "32"),
        (6, "unfit-value", "is nested deeper than the 32 levels"),
        (7, "unfit-value", "is nested deeper than the 32 levels"),
    ] {
        let reported = said
            .lines()
            .find(|line| line.contains(&format!("\"id\":{row}")))
            .unwrap_or_default();
        assert!(
            reported.contains(code) && reported.contains(why),
            "{row}: {said}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_in_hexadecimal_digits_is_asked_for_by_them() {
    let database = Database::new(
        "CREATE TABLE b (id BLOB PRIMARY KEY NOT NULL); INSERT INTO b VALUES (x'0a1bff00');",
    )
    .await;
    let (folder, url) = (database.folder(), database.url());
    let text = mapping(
        "  B:\n    from: b\n    key: { PK: \"B#{id | hex}\", SK: B }\naccess_patterns:\n  p: { key: { PK: \"B#{id | hex}\", SK: B } }\n",
    );
    std::fs::write(folder.join("m.yaml"), text).unwrap();
    let (mapping, target) = (
        folder.join("m.yaml").display().to_string(),
        format!("local:{}", folder.join("t.ddb").display()),
    );
    crate::support::cli::dynafold(&["migrate", &mapping, "--source", &url, "--target", &target])
        .exits(0);
    for id in ["0a1bff00", "0A1BFF00"] {
        let asked = [
            "query", &mapping, "p", "--id", id, "--target", &target, "--format", "json",
        ];
        let found = crate::support::cli::dynafold(&asked).exits(0).json();
        assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found}");
    }
    let asked = ["query", &mapping, "p", "--id", "ChvA", "--target", &target];
    let refused = crate::support::cli::dynafold(&asked);
    assert!(
        refused.code != 0 && refused.stderr.contains("hexadecimal digits"),
        "{refused:?}"
    );
    let help = crate::support::cli::dynafold(&["query", &mapping, "p", "--help"]).exits(0);
    assert!(
        help.stdout.contains("<HEX>") || help.stdout.contains("hexadecimal"),
        "{}",
        help.stdout
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_unfit_column_of_a_row_is_told_at_once() {
    let script = "CREATE TABLE n (id INTEGER PRIMARY KEY, a NUMERIC, b NUMERIC, c TEXT);
        INSERT INTO n VALUES (1, 9e999, -9e999, NULL);";
    let database = Database::new(script).await;
    let (folder, url) = (database.folder(), database.url());
    let (items, said) = sampled(
        &folder,
        &url,
        "  N:\n    from: n\n    key: { PK: \"N#{id}\", SK: \"{c}\" }\n    columns: [a, b]\n",
    );
    assert!(items.is_empty());
    let reported = said
        .lines()
        .find(|line| line.contains("rejected"))
        .unwrap_or_default();
    assert!(
        reported.contains("`SK`")
            && reported.contains("and `a`: ")
            && reported.contains("and `b`: "),
        "{said}"
    );
}

/// A URL is easily given where none belongs, and its password then stands in what clap and we say of it.
#[test]
fn a_url_in_the_wrong_place_is_not_shown_with_its_password() {
    let url = "postgres://me:SeKrEt@db.example/shop";
    let format = ["inspect", "--format", url];
    let catalog = ["check", "mappings/orders.yaml", "--catalog", url];
    let json = ["inspect", "--format", "json", url];
    let all: [&[&str]; 6] = [
        &[url],
        &["inspect", url],
        &["check", url],
        &format,
        &catalog,
        &json,
    ];
    for arguments in all {
        let output = command(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert!(
            !output.status.success() && !text.contains("SeKrEt"),
            "{arguments:?}: {text}"
        );
    }
}
