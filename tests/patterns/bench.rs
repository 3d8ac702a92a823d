//! An example at work: loaded, verified, compared and asked.

use std::collections::BTreeSet;
use std::path::PathBuf;

use aws_sdk_dynamodb::Client;
use dynafold::target::{ServiceOptions, TargetSpec, connect};

use crate::support::books::hold_compared;
use crate::support::cli::{Ran, command, run};
use crate::support::contents::{canonical, contents, sorted};
use crate::support::source::Source;
use crate::support::{dynamodb_local, embedded};

use super::example::Example;
use super::proved;

/// A folder with the mapping, and a source.
pub(super) struct Bench<'e> {
    example: &'e Example,
    folder: tempfile::TempDir,
    source: String,
    product: &'static str,
    /// The table's name; DynamoDB Local is shared by all tests.
    pub(super) table: String,
}

impl<'e> Bench<'e> {
    pub(super) fn new(example: &'e Example, source: &Source) -> Self {
        let (name, product) = (example.name, source.product());
        let bench = Self {
            example,
            folder: tempfile::tempdir().unwrap(),
            source: source.url(),
            product,
            table: format!("{name}-{product}-{}", std::process::id()),
        };
        let mapping = proved::in_words_of(product, &example.mapping);
        std::fs::write(bench.path("mapping.yaml"), mapping).unwrap();
        bench
    }

    /// A file in the folder, which has what a run leaves beside its mapping.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command on the mapping and the source.
    pub(super) fn run(&self, name: &str, further: &[&str]) -> Ran {
        let mapping = self.path("mapping.yaml");
        let mut arguments = vec![name, mapping.to_str().unwrap(), "--source", &self.source];
        if let Some(now) = self.example.now.as_deref().filter(|_| name != "check") {
            arguments.extend(["--now", now]);
        }
        arguments.extend(further);
        run(command(&arguments).env("TABLE_NAME", &self.table))
    }

    /// Runs a command against the embedded engine.
    pub(super) fn run_embedded(&self, name: &str, further: &[&str]) -> Ran {
        let target = format!("local:{}", self.path("table.ddb").display());
        let arguments = ["--target", &target, "--format", "json"];
        self.run(name, &[&arguments, further].concat())
    }

    /// A client of the embedded engine.
    pub(super) fn embedded(&self) -> Client {
        embedded::client(&self.path("table.ddb"))
    }

    /// What the table in the embedded engine holds, in canonical form.
    pub(super) async fn contents(&self) -> String {
        let file = Some(self.path("table.ddb"));
        self.contents_of(TargetSpec::Local { file }).await
    }

    /// The codes of what `check` warns of, but for what only more rows bring: some databases count
    /// them later, or never.
    pub(super) fn warnings(&self) -> BTreeSet<String> {
        let report = self.run("check", &["--format", "json"]).exits(0).json();
        let warnings = report["diagnostics"].as_array().unwrap().iter();
        let codes = warnings.map(|warning| warning["code"].as_str().unwrap().to_owned());
        codes.filter(|code| code != "single-partition").collect()
    }

    /// Holds what `check` proves of the example on PostgreSQL, whose schema tells the most, against
    /// what it proved before.
    pub(super) fn hold_proofs(&self) {
        if self.product != "postgres" {
            return;
        }
        let said = self.run("check", &["--proofs"]).exits(0).stdout;
        let proofs: Vec<&str> = said
            .lines()
            .skip_while(|line| !line.starts_with("keys "))
            .take_while(|line| !line.is_empty())
            .collect();
        assert!(!proofs.is_empty(), "{said}");
        insta::assert_snapshot!(
            format!("proofs_of_{}", self.example.name),
            proofs.join("\n")
        );
    }

    /// Holds the preview against the items, and returns its bytes.
    pub(super) fn hold_preview(&self) -> String {
        let arguments = ["--limit", "100", "--format", "dynamodb-json"];
        let lines = self.run("preview", &arguments).exits(0).stdout;
        let items = lines.lines();
        let items = items.map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(canonical(items), self.example.golden, "{}", self.product);
        sorted(lines.lines().map(str::to_owned).collect())
    }

    /// Loads into the embedded engine, verifies, compares and asks.
    pub(super) async fn hold_embedded(&self) {
        self.hold_reports(
            &self.run_embedded("migrate", &[]),
            &self.run_embedded("verify", &[]),
        );
        assert_eq!(
            self.contents().await,
            self.example.golden,
            "{}",
            self.product
        );
        self.ask(&self.embedded()).await;
        let target = format!("local:{}", self.path("table.ddb").display());
        self.query(&["--target", &target]);
    }

    /// Loads into DynamoDB Local, verifies, compares and asks.
    pub(super) async fn hold_dynamodb_local(&self) {
        self.hold_remote(&[]).await;
    }

    /// The same, with further options for the load.
    pub(super) async fn hold_remote(&self, further: &[&str]) {
        let endpoint = dynamodb_local::endpoint();
        let remote = ["--target", "dynamodb", "--endpoint-url", &endpoint];
        let arguments = [&remote[..], &["--format", "json"]].concat();
        self.hold_reports(
            &self.run("migrate", &[&arguments, further].concat()),
            &self.run("verify", &arguments),
        );
        let arguments = [&arguments[..], &["--patterns"]].concat();
        self.hold_answers(&self.run("verify", &arguments));
        let spec = TargetSpec::Dynamodb(ServiceOptions {
            endpoint_url: Some(endpoint.clone()),
            ..ServiceOptions::default()
        });
        assert_eq!(
            self.contents_of(spec).await,
            self.example.golden,
            "{}",
            self.product
        );
        self.ask(&dynamodb_local::client()).await;
        self.query(&[&remote[..], &["--source", &self.source]].concat());
        dynamodb_local::delete_table(&self.table).await;
    }

    /// Holds what is claimed of the answers of the access patterns.
    pub(super) fn hold_answers(&self, ran: &Ran) {
        // Collations of theirs take other cases, accents and blanks for the same text.
        let is_insensitive = ["mysql", "mariadb"].contains(&self.product);
        proved::hold(self.example, ran, is_insensitive);
    }

    /// Holds the books of a load, and the comparison that followed.
    fn hold_reports(&self, loaded: &Ran, verified: &Ran) {
        assert_eq!(
            (loaded.code, verified.code),
            (0, 0),
            "{loaded:?}\n{verified:?}"
        );
        self.example.hold_books(&loaded.json());
        let report = verified.json();
        assert_eq!(report["outcome"]["state"], "equal", "{report:#}");
        hold_compared(&report);
        let items = self.example.golden.lines().count();
        assert_eq!(report["total"]["equal"], items, "{report:#}");
    }

    async fn contents_of(&self, spec: TargetSpec) -> String {
        let target = connect(&spec).await.unwrap();
        contents(target.as_ref(), &self.table).await
    }

    /// Asks every access pattern by `query`, without the source unless it is named.
    fn query(&self, further: &[&str]) {
        let mapping = self.path("mapping.yaml");
        for case in &self.example.cases {
            case.hold_query(self.example, &|arguments| {
                let first = ["query", mapping.to_str().unwrap()];
                let mut all = [&first, arguments, further].concat();
                if let Some(now) = &self.example.now {
                    all.extend(["--now", now]);
                }
                run(command(&all).env("TABLE_NAME", &self.table))
            });
        }
    }

    async fn ask(&self, client: &Client) {
        for case in &self.example.cases {
            case.hold(self.example, client, &self.table).await;
        }
    }
}
