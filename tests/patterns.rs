//! The worked examples: exact items from every database, in every engine.

use dynafold::target::{TargetSpec, connect};

use crate::support::cli::{command, dynafold, run};
use crate::support::contents::{canonical, contents, sorted};
use crate::support::source::Source;

const MAPPING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/personalization.yaml");
const GOLDEN: &str = include_str!("patterns/personalization.ndjson");

#[tokio::test]
async fn pattern_1_gives_the_same_bytes_from_every_database() {
    let mut first: Option<String> = None;
    for source in Source::everywhere("personalization").await {
        let url = source.url();
        let ran = dynafold(&[
            "preview",
            MAPPING,
            "--source",
            &url,
            "--limit",
            "100",
            "--format",
            "dynamodb-json",
        ])
        .exits(0);
        let lines = sorted(ran.stdout.lines().map(str::to_owned).collect());
        assert_eq!(
            *first.get_or_insert_with(|| lines.clone()),
            lines,
            "{}",
            source.product()
        );
        let items = ran
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(canonical(items), GOLDEN, "{}", source.product());
        source.drop().await;
    }
}

#[tokio::test]
async fn pattern_1_loads_and_verifies_from_every_database_into_every_engine() {
    let endpoint = std::env::var("DYNAFOLD_TEST_DYNAMODB")
        .expect("DYNAFOLD_TEST_DYNAMODB is not set: run tests/run");
    for source in Source::everywhere("personalization").await {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("portal.ddb");
        let local = format!("local:{}", file.display());
        let table = format!("pattern-1-{}-{}", source.product(), std::process::id());
        let url = source.url();
        let with = |command_name: &str, target: &[&str]| {
            let mut arguments = vec![command_name, MAPPING, "--source", &url, "--format", "json"];
            arguments.extend(target);
            run(command(&arguments).env("TABLE_NAME", &table))
                .exits(0)
                .json()
        };
        let remote = ["--target", "dynamodb", "--endpoint-url", &endpoint];
        for target in [&["--target", &local][..], &remote] {
            let report = with("migrate", target);
            assert_eq!(report["outcome"]["state"], "complete");
            assert_eq!(report["balanced"], true);
            assert_eq!(report["total"]["written"], 16);
            let report = with("verify", target);
            assert_eq!(report["outcome"]["state"], "equal", "{report:#}");
            assert_eq!(report["total"]["equal"], 16);
        }
        let spec = TargetSpec::parse(&local, None, None, None).unwrap();
        let target = connect(&spec).await.unwrap();
        assert_eq!(
            contents(target.as_ref(), &table).await,
            GOLDEN,
            "{}",
            source.product()
        );
        source.drop().await;
    }
}
