//! Where a state can be, and what is in the way.

use std::error::Error as _;
use std::fs;
use std::io::ErrorKind;

use super::*;

fn refused(path: &Path) -> (StateError, Option<ErrorKind>) {
    let error = open(path).unwrap_err();
    let kind = match &error {
        StateError::Unwritable { cause, .. } => Some(cause.kind()),
        _ => None,
    };
    assert!(!error.help().is_empty());
    (error, kind)
}

#[test]
fn a_state_is_beside_its_mapping_and_out_of_the_repository() {
    assert_eq!(
        default_path(Path::new("a/shop.yaml")),
        Path::new("a/.dynafold/shop.state")
    );
    assert_eq!(
        default_path(Path::new("shop.v2.yaml")),
        Path::new(".dynafold/shop.v2.state")
    );
    let folder = folder();
    let path = default_path(&folder.path().join("shop.yaml"));
    drop(begin(&path));
    let note = folder.path().join(".dynafold/.gitignore");
    assert_eq!(fs::read_to_string(&note).unwrap(), "*\n");
    fs::write(&note, "mine").unwrap();
    drop(begin(&path));
    assert_eq!(fs::read_to_string(&note).unwrap(), "mine");
}

#[test]
fn a_folder_of_the_users_gets_no_note() {
    let folder = folder();
    drop(planned(&path(&folder)));
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["shop.state", "shop.state.lock"]);
}

#[test]
fn a_file_that_is_no_state_is_left_as_it_is() {
    let folder = folder();
    let path = folder.path().join("shop.yaml");
    fs::write(&path, "dynafold: 1").unwrap();
    let (error, _) = refused(&path);
    assert!(matches!(error, StateError::Foreign { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "dynafold: 1");

    let database = folder.path().join("shop.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute_batch("create table users (id integer)")
        .unwrap();
    drop(connection);
    let before = fs::read(&database).unwrap();
    assert!(matches!(refused(&database).0, StateError::Foreign { .. }));
    assert_eq!(fs::read(&database).unwrap(), before);

    let lock = folder.path().join("Cargo.lock");
    fs::write(&lock, "version = 4").unwrap();
    assert!(matches!(
        refused(&folder.path().join("Cargo")).0,
        StateError::Foreign { .. }
    ));
    assert_eq!(fs::read_to_string(&lock).unwrap(), "version = 4");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn a_state_that_was_copied_without_its_lock_is_known() {
    let folder = folder();
    let path = path(&folder);
    planned(&path).chunk_done(0, 0).unwrap();
    let copy = folder.path().join("copy.state");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(finished(&again(&copy).0), [(0, 0)]);
}

#[test]
fn an_empty_file_that_somebody_has_made_is_taken() {
    let folder = folder();
    let path = path(&folder);
    fs::write(&path, "").unwrap();
    drop(planned(&path));
    drop(again(&path));
}

/// A folder is not there, or is a file.
fn is_no_folder(kind: ErrorKind) -> bool {
    [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&kind)
}

#[test]
fn folders_in_the_way_and_folders_that_are_not_there_are_told() {
    let folder = folder();
    let (error, kind) = refused(folder.path());
    assert_eq!(kind, Some(ErrorKind::IsADirectory), "{error}");
    let (error, kind) = refused(&folder.path().join("no/shop.state"));
    assert!(kind.is_some_and(is_no_folder), "{error}");
    fs::write(folder.path().join("file"), "").unwrap();
    let (error, kind) = refused(&folder.path().join("file/shop.state"));
    assert!(kind.is_some_and(is_no_folder), "{error}");
    let (error, kind) = refused(&folder.path().join("file/.dynafold/shop.state"));
    assert!(kind.is_some_and(is_no_folder), "{error}");
    assert!(error.source().is_some());
    let lock = folder.path().join("shop.state.lock");
    fs::create_dir(&lock).unwrap();
    let (error, kind) = refused(&path(&folder));
    assert_eq!(kind, Some(ErrorKind::IsADirectory), "{error}");
}

#[test]
#[cfg(unix)]
fn a_link_to_a_state_has_the_states_own_lock() {
    let folder = folder();
    let path = path(&folder);
    let state = planned(&path);
    let link = folder.path().join("link.state");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(matches!(refused(&link).0, StateError::Held { .. }));
    drop(state);
    drop(again(&link));
}

#[test]
#[cfg(target_os = "linux")]
fn a_device_is_no_state() {
    let (error, _) = refused(Path::new("/dev/null"));
    assert!(matches!(error, StateError::Foreign { .. }), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_must_not_be_written_to_is_told() {
    // Not even root makes files there.
    let (error, kind) = refused(Path::new("/proc/self/shop.state"));
    assert!(kind.is_some(), "{error}");
}
