//! A disk that is full.

use std::fs;
use std::io::ErrorKind;
use std::process::Command;

use dynafold_testing::missing::not_tested;

use super::*;

/// A file system of its own, of 256 KiB.
struct Small(tempfile::TempDir);

impl Small {
    /// `None`, which is recorded, where no file system can be mounted.
    fn mount() -> Option<Self> {
        let small = Self(folder());
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=256k", "none"])
            .arg(small.0.path());
        let is_mounted = mount.output().is_ok_and(|mount| mount.status.success());
        if !is_mounted {
            not_tested("a full disk", "no file system can be mounted here");
        }
        is_mounted.then_some(small)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ended = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

fn is(error: &StateError, kind: ErrorKind) -> bool {
    matches!(error, StateError::Unwritable { cause, .. } if cause.kind() == kind)
}

#[test]
fn nothing_that_was_reported_on_a_full_disk_is_counted() {
    let Some(small) = Small::mount() else { return };
    let path = path(&small.0);
    let mut state = begin(&path);
    state.plan(plan(&[400])).unwrap();
    state
        .begin_attempt(attempt("", TableAtStart::Empty))
        .unwrap();
    let mut reported = 0;
    let error = loop {
        let mut books = books(5);
        books[0].1.from = "b".repeat(2000);
        match state.chunks_done(vec![(chunk(0, reported), books)], Vec::new()) {
            Ok(()) => reported += 1,
            Err(error) => break error,
        }
    };
    let full = |error: &StateError| is(error, ErrorKind::StorageFull);
    assert!(full(&error), "{error:?}");
    assert!(error.help().starts_with("free some disk space"));
    assert_eq!(finished(&state).len(), reported);
    assert!(
        full(&state.plan(plan(&[3000])).unwrap_err()),
        "the plan stands"
    );
    assert_eq!(finished(&state).len(), reported);
    drop(state);
    assert!(reported > 4, "{reported}");

    // Started again it goes on, or says once more that there is no room, but loses nothing.
    match open(&path) {
        Ok(Opened::Again(state, _)) => assert_eq!(finished(&state).len(), reported),
        other => assert!(full(&other.unwrap_err())),
    }

    let mut annex =
        ResumableFile::create(OutputFile::Rejects, &small.0.path().join("rejects")).unwrap();
    let mut lines = 0;
    while annex.append_committed([b'x'; 3000].as_slice()).is_ok() {
        lines += 1;
    }
    let length = fs::metadata(annex.path()).unwrap().len();
    assert_eq!((length, annex.extent().length), (lines * 3000, length));
    fs::remove_file(annex.path()).unwrap();
    let (mut state, _) = again(&path);
    assert_eq!(finished(&state).len(), reported);
    state.forget_extents().unwrap();
}

#[test]
fn a_state_is_not_begun_on_a_full_or_read_only_disk() {
    let Some(small) = Small::mount() else { return };
    let path = path(&small.0);
    fs::write(small.0.path().join("other"), vec![0; 250 * 1024]).unwrap();
    let error = open(&path).unwrap_err();
    assert!(is(&error, ErrorKind::StorageFull), "{error:?}");
    fs::remove_file(small.0.path().join("other")).unwrap();
    drop(planned(&path));
    let mut again = Command::new("mount");
    again.args(["-o", "remount,ro"]).arg(small.0.path());
    assert!(again.status().unwrap().success());
    for path in [path, small.0.path().join(".dynafold/new.state")] {
        let error = open(&path).unwrap_err();
        assert!(is(&error, ErrorKind::ReadOnlyFilesystem), "{error:?}");
    }
}
