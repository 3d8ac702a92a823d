//! The job of deploy/spark on a real Spark: `local-cluster` with two workers in processes of their own, one of which is killed; speculation is on.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dynafold_testing::missing::named_by;

use super::export::Place;
use super::{Handed, MAPPING, script};
use crate::support::cli::{Ran, ran};
use crate::support::postgres;
use crate::support::sqlite::Database;

/// Python with pyspark, which tests/setup/spark.sh fetches.
fn python() -> Option<PathBuf> {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/spark/venv/bin/python");
    if std::env::var_os("DYNAFOLD_TEST_SPARK").is_some() {
        return named_by("DYNAFOLD_TEST_SPARK", "the job on Apache Spark").map(PathBuf::from);
    }
    assert!(
        kept.is_file(),
        "there is no pyspark in target/spark: run tests/run, or set DYNAFOLD_TEST_SPARK to none to go without"
    );
    Some(kept)
}

impl Handed {
    /// Runs the job. `kills`: on two workers in processes of their own, and its first task kills the executor that it is on.
    /// Otherwise in one process, which is quicker.
    fn spark(&self, python: &Path, kills: bool, to: &[String]) -> Ran {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let named = std::env::var_os("DYNAFOLD_TEST_PROGRAM");
        let mut program =
            PathBuf::from(named.unwrap_or_else(|| env!("CARGO_BIN_EXE_dynafold").into()));
        if kills {
            // A worker that, once, kills its executor after it has begun to load.
            let once = self.path("killer");
            std::fs::create_dir(&once).unwrap();
            let wrapper = once.join("dynafold");
            let marker = self.path("killed");
            let text = format!(
                "#!/bin/bash\nif [[ $1 == work ]] && mkdir {marker} 2>/dev/null; then\n  exec 3<&0; {program} \"$@\" <&3 & sleep 0.4; kill -9 $!\n  python=$PPID; daemon=$(ps -o ppid= -p $python); kill -9 $(ps -o ppid= -p $daemon)\n  exit 1\nfi\nexec {program} \"$@\"\n",
                marker = marker.display(),
                program = program.display()
            );
            std::fs::write(&wrapper, text).unwrap();
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
            program = wrapper;
        }
        let submit = python.with_file_name("spark-submit");
        let mut command = Command::new(submit);
        command
            .args([
                "--master",
                if kills {
                    "local-cluster[2,1,1024]"
                } else {
                    "local[2]"
                },
            ])
            .args([
                "--conf",
                "spark.speculation=true",
                "--conf",
                "spark.speculation.multiplier=1.1",
            ])
            .args([
                "--conf",
                "spark.speculation.quantile=0.2",
                "--conf",
                "spark.ui.enabled=false",
            ])
            .args([
                "--conf",
                "spark.sql.shuffle.partitions=2",
                "--conf",
                "spark.driver.memory=512m",
            ])
            .arg("--conf")
            .arg(format!("spark.local.dir={}", self.path("spark").display()))
            .arg(root.join("deploy/spark/dynafold_job.py"))
            .arg("--mapping")
            .arg(self.path("m.yaml"))
            .arg("--dynafold")
            .arg(program)
            .arg("--results")
            .arg(self.path("results"))
            .args(to)
            .args(["--slots", "2", "--chunk-rows", "2500"])
            .env("DATABASE_URL", &self.url)
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("AWS_REGION", "us-east-1")
            .env("PYSPARK_PYTHON", python)
            .env("SPARK_LOCAL_IP", "127.0.0.1")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        ran(command.spawn().unwrap())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_on_spark_survives_the_loss_of_a_worker_and_is_that_of_one_machine() {
    let Some(python) = python() else { return };
    let database = postgres::Database::with(&script("postgres", 20_000)).await;
    let handed = Handed::new(database.url(), MAPPING);
    let done = handed.spark(&python, true, &handed.target()).exits(0);
    assert!(
        handed.path("killed").is_dir(),
        "no worker was killed: {done:?}"
    );
    assert!(
        done.stdout
            .contains("20,003 keys of all chunks compared by the job"),
        "{done:?}"
    );
    assert!(
        done.stdout
            .contains("all chunks were read from one snapshot"),
        "{done:?}"
    );
    let (alone, _) = handed.alone().await;
    assert_eq!(handed.contents().await, alone);
    handed.verify().exits(0);
    // Rows of different chunks that share a key are named.
    database
        .run("UPDATE orders SET number = 1000010 WHERE id = 19990")
        .await;
    let other = Handed::new(database.url(), MAPPING);
    let found = other.spark(&python, false, &other.target()).exits(3);
    let named = r#"ORDER {"id":19990} has the same key as ORDER {"id":10}"#;
    // Spark hands on all that the driver's Python says on its standard output.
    assert!(found.stdout.contains(named), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_on_spark_survives_the_loss_of_a_worker_and_is_that_of_one_machine() {
    let (Some(python), Some(place)) = (python(), Place::new()) else {
        return;
    };
    let database = postgres::Database::with(&script("postgres", 20_000)).await;
    let handed = Handed::new(database.url(), MAPPING);
    let done = handed.spark(&python, true, &place.to()).exits(0);
    assert!(
        handed.path("killed").is_dir(),
        "no worker was killed: {done:?}"
    );
    assert!(done.stdout.contains("20,003 items in"), "{done:?}");
    assert_eq!(place.lines(), handed.lines_alone());
    // Rows of different chunks that share a key are named, and nothing can be imported.
    database
        .run("UPDATE orders SET number = 1000010 WHERE id = 19990")
        .await;
    let (other, place) = (Handed::new(database.url(), MAPPING), Place::new().unwrap());
    let found = other.spark(&python, false, &place.to()).exits(3);
    let named = r#"ORDER {"id":19990} has the same key as ORDER {"id":10}"#;
    assert!(found.stdout.contains(named), "{found:?}");
    assert!(
        !place
            .names()
            .iter()
            .any(|name| name.ends_with("/manifest.json")),
        "{:?}",
        place.names()
    );
}

/// Signs that a JSON text holds as they are, and that other programs take for the end of a line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejects_and_archived_items_come_whole_from_spark_and_are_where_the_report_says() {
    let Some(python) = python() else { return };
    let script = "CREATE TABLE tokens (id TEXT PRIMARY KEY, ends INTEGER NOT NULL, note TEXT);
         INSERT INTO tokens VALUES ('a\u{2028}b', 1000000000, 'x\u{85}y\u{2029}z'), ('fine', 4000000000, 'x'), ('bad\u{2028}', 4000000000, '');";
    let database = Database::new(script).await;
    let mapping = "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, ttl: ends }
items: { TOKEN: { from: tokens, key: { PK: \"T#{id}\", SK: \"{note}\" }, expired: archive } }
";
    let handed = Handed::new(database.url(), mapping);
    let further = ["--accept-inconsistent", "--max-rejects", "1"].map(str::to_owned);
    let to = [&handed.target()[..], &further].concat();
    let done = handed.spark(&python, false, &to).exits(3);
    for (kind, held) in [("rejects", "bad\u{2028}"), ("archive", "x\u{85}y\u{2029}z")] {
        let kept = std::fs::read_dir(handed.path("results")).unwrap();
        let mut kept = kept.map(|entry| entry.unwrap().path());
        let folder = kept.find(|path| path.to_str().unwrap().ends_with(&format!("-{kind}.ndjson")));
        let folder = folder.unwrap();
        let said = folder.to_str().unwrap();
        assert!(done.stdout.contains(said), "{said}: {done:?}");
        let mut parts = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension() == Some("txt".as_ref()));
        let text = std::fs::read_to_string(parts.next().unwrap()).unwrap();
        let lines: Vec<serde_json::Value> = text
            .split_terminator('\n')
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 1, "{text}");
        assert!(text.contains(held), "{text}");
    }
}
