use std::sync::Arc;

use dynafold::load::{LoadOptions, Outcome};
use dynafold::mapping::model::{Expired, Model};
use dynafold::value::Value;
use tempfile::tempdir;

use super::{load, load_until, options};
use crate::support::faults::{FakeSource, FakeTarget};
use dynafold_testing::model::{item_type, model, number, pass, relation, text};

/// Rows that ended in 1969, but for every tenth.
fn source(rows: i64) -> FakeSource {
    let row = |id: i64| -> Vec<Value> {
        let ends = if id % 10 == 0 { 1 } else { -1 };
        vec![number(id), number(ends), text(&"x".repeat(100))]
    };
    FakeSource::default().with(&relation("sessions"), (0..rows).map(row).collect())
}

fn archiving() -> Model {
    let attributes = [("PK", "{0}#"), ("SK", "-"), ("ends", "{1}"), ("a", "{2}")];
    let mut sessions = item_type("SESSION", 0, &attributes);
    sessions.expired = Expired::Archive;
    let mut model = model(vec![pass("sessions", 3, &[0])], vec![sessions]);
    model.table.ttl = Some("ends".to_owned());
    model
}

fn archive(folder: &std::path::Path) -> LoadOptions {
    LoadOptions {
        archive_file: folder.join("archive.ndjson"),
        ..options(folder, Some(0))
    }
}

#[tokio::test]
async fn what_has_expired_is_in_the_archive_and_nowhere_else() {
    let folder = tempdir().unwrap();
    let target = Arc::new(FakeTarget::willing());
    let report = load(source(1000), target, archiving(), archive(folder.path())).await;
    assert!(matches!(report.outcome, Outcome::Complete), "{report:?}");
    assert_eq!((report.total.archived, report.total.written), (900, 100));
    let file = report.archive_file.unwrap();
    assert_eq!(file, folder.path().join("archive.ndjson"));
    let text = std::fs::read_to_string(file).unwrap();
    assert_eq!(text.lines().count(), 900);
    assert!(text.starts_with(r#"{"PK":{"S":"1#"},"SK":{"S":"-"},"ends":{"N":"-1"}"#));
}

#[tokio::test]
async fn an_archive_of_another_load_is_not_taken_for_that_of_one_that_archives_nothing() {
    let folder = tempdir().unwrap();
    let earlier = "{\"PK\":{\"S\":\"earlier\"}}\n";
    let file = folder.path().join("archive.ndjson");
    for held in ["", earlier] {
        std::fs::write(&file, held).unwrap();
        let target = Arc::new(FakeTarget::willing());
        // The first row has not expired.
        let report = load(source(1), target, archiving(), archive(folder.path())).await;
        assert!(matches!(report.outcome, Outcome::Complete), "{report:?}");
        assert_eq!((report.total.archived, &report.archive_file), (0, &None));
        let mut warnings = report.warnings.iter();
        let is_reported = warnings.any(|said| said.contains("is not of this load"));
        assert_eq!(is_reported, !held.is_empty(), "{:?}", report.warnings);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), held);
    }
}

#[tokio::test]
async fn a_run_that_is_cut_short_leaves_an_earlier_archive_as_it_was() {
    let folder = tempdir().unwrap();
    let earlier = "{\"PK\":{\"S\":\"earlier\"}}\n";
    let file = folder.path().join("archive.ndjson");
    std::fs::write(&file, earlier).unwrap();
    let mut source = source(1000);
    source.breaks_after = Some(3);
    let target = Arc::new(FakeTarget::willing());
    let report = load(source, target, archiving(), archive(folder.path())).await;
    assert!(matches!(report.outcome, Outcome::Failed(_)), "{report:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), earlier);
    assert_ne!(report.archive_file, Some(file));
}

#[tokio::test(start_paused = true)]
async fn what_a_report_counts_as_archived_is_in_the_file_that_it_names() {
    let folder = tempdir().unwrap();
    let mut source = source(1000);
    source.stalls_after = Some(3);
    let cancel = dynafold::load::Cancel::default();
    let wish = cancel.clone();
    tokio::spawn(async move {
        // The clock is paused: it goes on when nothing else can.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        wish.cancel();
    });
    let target = Arc::new(FakeTarget::willing());
    let options = archive(folder.path());
    let report = load_until(source, target, archiving(), options, cancel).await;
    assert!(matches!(report.outcome, Outcome::Interrupted), "{report:?}");
    // Of a chunk that was not read to its end: it comes again, and what is there is cut off.
    let part = report.archive_file.unwrap();
    assert_eq!(part, folder.path().join("archive.ndjson.part"));
    let lines = std::fs::read_to_string(part).unwrap().lines().count();
    assert_eq!((report.total.archived, lines), (27, 27));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_ends_the_run_and_the_books_are_true() {
    let folder = tempdir().unwrap();
    let mut options = archive(folder.path());
    options.archive_file = "/dev/full".into();
    let target = Arc::new(FakeTarget::willing());
    let cancel = dynafold::load::Cancel::default();
    let report = load_until(source(1000), target, archiving(), options, cancel).await;
    let Outcome::Failed(failure) = &report.outcome else {
        panic!("{report:?}");
    };
    assert_eq!(failure.code(), "archive-file");
    assert_eq!(report.archive_file, None, "it holds no line");
}
