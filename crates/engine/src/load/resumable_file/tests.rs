//! Files of lines: cut off where they count, refused where they were changed.

use std::fs;

use super::*;

fn appended(path: &Path, lines: &[&str]) -> CommittedExtent {
    let mut file = ResumableFile::create(OutputFile::Rejects, path).unwrap();
    let mut extent = file.extent();
    for line in lines {
        extent = file.append_committed(line.as_bytes()).unwrap();
    }
    assert_eq!(file.extent(), extent);
    extent
}

#[test]
fn what_a_killed_run_wrote_beyond_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rejects.ndjson");
    let extent = appended(&path, &["a\n", "b\n"]);
    assert_eq!(extent.length, 4);
    let mut beyond = fs::OpenOptions::new().append(true).open(&path).unwrap();
    beyond.write_all(b"c\n{\"half").unwrap();
    let mut file = ResumableFile::resume(OutputFile::Rejects, &path, &extent).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\n");
    file.append_committed(b"d\n".as_slice()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\nd\n");
    drop(file);
    ResumableFile::resume(OutputFile::Rejects, &path, &CommittedExtent::default()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
}

#[test]
fn the_tail_is_the_same_however_the_lines_were_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.ndjson");
    let long = "x".repeat(5000);
    let one = appended(&path, &["ab", &long, "cd"]);
    let two = appended(&path, &[&format!("ab{long}"), "c", "d", ""]);
    assert_eq!(one, two);
    let mut pieces = ResumableFile::create(OutputFile::Rejects, &path).unwrap();
    let text = format!("ab{long}cd");
    let nothing: Box<dyn Read> = Box::new(io::empty());
    let pieces_of = text.as_bytes().chunks(1000);
    let in_pieces = pieces_of.fold(nothing, |before, piece| Box::new(before.chain(piece)));
    assert_eq!(pieces.append_committed(in_pieces).unwrap(), one);
    assert_eq!(
        ResumableFile::resume(OutputFile::Rejects, &path, &one)
            .unwrap()
            .extent(),
        one
    );
    assert_ne!(one, appended(&path, &["ab", &long, "ce"]));
}

#[test]
fn a_file_that_was_changed_meanwhile_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rejects.ndjson");
    let extent = appended(&path, &["a\n", "b\n"]);
    for (text, what) in [
        ("a\nx\nmore", "its end is different"),
        ("a\n", "it is shorter"),
    ] {
        fs::write(&path, text).unwrap();
        let error = ResumableFile::resume(OutputFile::Rejects, &path, &extent).unwrap_err();
        assert!(error.to_string().ends_with(what), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::remove_file(&path).unwrap();
    let error = ResumableFile::resume(OutputFile::Rejects, &path, &extent).unwrap_err();
    assert!(
        error.to_string().ends_with("it no longer exists"),
        "{error}"
    );
    assert!(!path.exists());
    ResumableFile::resume(OutputFile::Rejects, &path, &CommittedExtent::default()).unwrap();
    assert!(path.exists());
}

#[test]
fn a_folder_in_the_way_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for error in [
        ResumableFile::create(OutputFile::Rejects, folder.path()).unwrap_err(),
        ResumableFile::resume(
            OutputFile::Rejects,
            folder.path(),
            &CommittedExtent::default(),
        )
        .unwrap_err(),
    ] {
        assert!(matches!(error, Failure::File { .. }), "{error}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn devices_are_written_to_without_syncing_and_full_ones_are_told() {
    let mut null = ResumableFile::create(OutputFile::Rejects, Path::new("/dev/null")).unwrap();
    let extent = null.append_committed(b"a\n".as_slice()).unwrap();
    assert_eq!(extent.length, 2);
    ResumableFile::resume(OutputFile::Rejects, Path::new("/dev/null"), &extent).unwrap();

    let mut full = ResumableFile::create(OutputFile::Rejects, Path::new("/dev/full")).unwrap();
    let error = full.append_committed(b"a\n".as_slice()).unwrap_err();
    let Failure::File { cause, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(cause.kind(), ErrorKind::StorageFull);
    assert_eq!(full.extent().length, 0);
}

/// Lines that break off after a while.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is gone"))
    }
}

#[test]
fn lines_that_cannot_be_read_back_leave_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rejects.ndjson");
    let mut file = ResumableFile::create(OutputFile::Rejects, &path).unwrap();
    let extent = file.append_committed(b"a\n".as_slice()).unwrap();
    let error = file.append_committed(b"b\n".chain(Broken)).unwrap_err();
    assert!(matches!(error, Failure::Scratch(_)), "{error}");
    assert_eq!(file.extent(), extent);
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\n");
    let extent = file.append_committed(b"c\n".as_slice()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nc\n");
    drop(file);
    ResumableFile::resume(OutputFile::Rejects, &path, &extent).unwrap();
}
