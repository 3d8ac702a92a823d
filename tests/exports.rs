//! The exports of `docs`: of every worked example, judged by the tools of their formats; some of them
//! as a whole; what is refused, and what is warned of.

mod archive;
mod policies;
mod refused;
mod roll_up;
mod tenants;
mod whole;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dynafold::mapping::yaml::{YamlNode, parse};
use dynafold_testing::missing::{named_by, not_tested};
use serde_json::Value;

use crate::patterns::in_words_of;
use crate::support::cli::{Ran, command, run};
use crate::support::source::Source;

/// Every format, and how its file's name ends.
const FORMATS: [(&str, &str); 7] = [
    ("cloudformation", "cloudformation.yaml"),
    ("terraform", "tf"),
    ("workbench", "workbench.json"),
    ("iam-migration", "iam-migration.json"),
    ("iam-import", "iam-import.json"),
    ("iam-bulk", "iam-bulk.json"),
    ("iam-application", "iam-application.json"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a script beside these tests answers to an input, in JSON. `None` where its tools are not there.
fn answered_by(script: &str, input: &str) -> Option<Value> {
    let linters = linters()?;
    let mut python = Command::new(python(&linters))
        .arg(root().join("tests/exports").join(script))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = python.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let ran = python.wait_with_output().unwrap();
    assert!(ran.status.success());
    Some(serde_json::from_slice(&ran.stdout).unwrap())
}

/// Runs `docs` on a mapping. What it takes from the environment is awkward.
fn docs(mapping: &Path, url: &str, further: &[&str]) -> Ran {
    let first = ["docs", mapping.to_str().unwrap(), "--source", url];
    let mut command = command(&[&first, further].concat());
    command
        .env("AWKWARD_NAME", "it's ${y} a:b")
        .env("AWKWARD_TAG", r#"a "b" \ ${c} %{d} $${e} 안녕: #x"#);
    run(&mut command)
}

/// Makes every export of a mapping in a folder.
pub(crate) fn make(mapping: &Path, url: &str, folder: &Path) -> Ran {
    let folder = format!("{}/", folder.display());
    let formats = FORMATS.iter().flat_map(|(format, _)| ["--as", format]);
    let arguments: Vec<&str> = formats.chain(["-o", &folder]).collect();
    docs(mapping, url, &arguments).exits(0)
}

/// The folder of the linters.
pub(crate) fn linters() -> Option<PathBuf> {
    let kept = root().join("target/linters");
    let named = if std::env::var_os("DYNAFOLD_TEST_LINTERS").is_some() {
        named_by("DYNAFOLD_TEST_LINTERS", "exports by their linters")?.into()
    } else {
        kept
    };
    assert!(
        python(&named).is_file(),
        "there are no linters in {}: run tests/run, or set DYNAFOLD_TEST_LINTERS to none to go without",
        named.display()
    );
    Some(named)
}

pub(crate) fn python(linters: &Path) -> PathBuf {
    linters.join("venv/bin/python")
}

/// What the linters say of the exports in a folder; `None` where there are no linters.
fn judged(folder: &Path) -> Option<(bool, String)> {
    let linters = linters()?;
    let ran = Command::new(python(&linters))
        .arg(root().join("tests/exports/lint.py"))
        .args([folder, &linters])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    let missing = said
        .lines()
        .filter_map(|line| line.strip_prefix("NOT TESTED: "));
    for (what, why) in missing.filter_map(|line| line.split_once(", because ")) {
        not_tested(what, why);
    }
    Some((ran.status.success(), said))
}

/// Fails unless the linters find nothing in the exports of these mappings.
fn hold(folder: &Path, stems: &[&str]) {
    for stem in stems {
        for (_, ending) in FORMATS {
            let file = folder.join(format!("{stem}.{ending}"));
            assert!(file.is_file(), "{}", file.display());
        }
    }
    if let Some((well, said)) = judged(folder) {
        assert!(well, "{said}");
        let judged = said.lines().filter(|line| line.starts_with("judged "));
        assert_eq!(judged.count(), stems.len() * FORMATS.len(), "{said}");
    }
}

/// Fails unless every export of a mapping of ours passes its linters.
pub(crate) fn hold_mapping(name: &str, url: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mapping = root().join(format!("mappings/{name}.yaml"));
    make(&mapping, url, folder.path());
    hold(folder.path(), &[name]);
}

/// A mapping of these tests, and a database for it.
async fn bench(name: &str) -> (PathBuf, Source) {
    let mapping = root().join(format!("tests/exports/{name}.yaml"));
    (mapping, Source::on_sqlite("messages").await)
}

/// A template, without its functions' names: `!Ref Table` is `Table`.
pub(crate) fn template(text: &str) -> YamlNode {
    parse(text).unwrap_or_else(|fault| panic!("{fault:?}\n{text}"))
}

/// The node behind these keys.
pub(crate) fn at<'n>(node: &'n YamlNode, keys: &[&str]) -> &'n YamlNode {
    keys.iter().fold(node, |node, key| {
        node.get(key)
            .unwrap_or_else(|| panic!("no {key} of {keys:?}"))
    })
}

#[test]
fn the_files_of_job_arrays_pass_their_validators_which_find_faults() {
    let deploy = root().join("deploy");
    let files = [
        ("kubernetes/job.yaml", "backoffLimitPerIndex"),
        ("batch/job-definition.json", "resourceRequirements"),
    ];
    for (file, member) in files {
        let text = std::fs::read_to_string(deploy.join(file)).unwrap();
        let name = file.rsplit('/').next().unwrap();
        for (text, is_well) in [(text.clone(), true), (text.replace(member, "odd"), false)] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), text).unwrap();
            let Some((well, said)) = judged(folder.path()) else {
                return;
            };
            assert!(said.contains(&format!("judged {name}")), "{said}");
            assert_eq!(well, is_well, "{file}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_export_of_every_worked_example_passes_its_linters() {
    let (folder, mappings) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut stems = Vec::new();
    for (name, migration, _) in crate::patterns::EXAMPLES {
        let source = Source::on_sqlite(migration).await;
        let text = std::fs::read_to_string(root().join(format!("mappings/{name}.yaml"))).unwrap();
        let mapping = mappings.path().join(format!("{name}.yaml"));
        std::fs::write(&mapping, in_words_of("sqlite", &text)).unwrap();
        make(&mapping, &source.url(), folder.path());
        stems.push(*name);
    }
    hold(folder.path(), &stems);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_export_of_all_that_a_mapping_can_say_passes_its_linters() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["full", "global"] {
        let (mapping, source) = bench(name).await;
        make(&mapping, &source.url(), folder.path());
    }
    hold(folder.path(), &["full", "global"]);
}

#[test]
fn the_linters_find_a_fault_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let policy = |action: &str, condition: &str| {
        format!(
            r#"{{"Version": "2012-10-17", "Statement": [{{"Effect": "Allow", "Action": "{action}",
              "Resource": "arn:aws:dynamodb:*:*:table/x", "Condition": {condition}}}]}}"#
        )
    };
    let wrong = [
        "Resources: { Table: { Type: AWS::DynamoDB::Table, Properties: { Key: x } } }".to_owned(),
        "resource \"a\" \"b\" {\nx=1\n}\n".to_owned(),
        r#"{"ModelName": "x"}"#.to_owned(),
        policy("dynamodb:NoSuchAction", "{}"),
        policy("s3:NoSuchAction", "{}"),
        policy("logs:NoSuchAction", "{}"),
        policy(
            "dynamodb:Query",
            r#"{"StringLike": {"dynamodb:NoSuchKey": "x"}}"#,
        ),
    ];
    for ((_, ending), text) in FORMATS.iter().zip(wrong) {
        std::fs::write(folder.path().join(format!("wrong.{ending}")), text).unwrap();
    }
    let Some((well, said)) = judged(folder.path()) else {
        return;
    };
    assert!(!well, "{said}");
    for (_, ending) in FORMATS {
        let fault = format!("wrong.{ending}:");
        // Without Terraform nobody minds how a configuration is indented.
        let is_judged = ending != "tf" || run_terraform();
        assert!(!is_judged || said.contains(&fault), "{fault}\n{said}");
    }
}

fn run_terraform() -> bool {
    let mut version = Command::new("terraform");
    version
        .arg("version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}
