//! Files that a power cut, a bad disk or somebody's hand has changed.
//!
//! The property: whatever happens to the bytes, what a state says is done was done, with the
//! books that were reported, or it says that it is damaged.

use std::collections::BTreeMap;
use std::fs;

use fastrand::Rng;

use super::*;

/// The files of a state that can be damaged, by what follows its name.
const FILES: [&str; 2] = ["", "-wal"];

/// Everything that was ever reported done: pass, chunk and range with all the books it had.
type Reported = BTreeMap<(usize, usize, Option<String>), Vec<String>>;

#[test]
fn what_a_damaged_state_says_is_done_was_done() {
    let rounds = if cfg!(debug_assertions) { 10 } else { 400 };
    let mut seen = [0_u32; 3];
    for seed in 0..rounds {
        let mut random = Rng::with_seed(seed);
        let folder = in_memory();
        let path = path(&folder);
        let (state, reported) = history(&path, &mut random);
        // As a kill leaves it, with the log beside it, or as a whole end does.
        let open = random.bool();
        let state = Some(state).filter(|_| open);
        let images = FILES.map(|end| fs::read(with(&path, end)).unwrap_or_default());
        drop(state);
        for round in 0..30 {
            let folder = in_memory();
            let copy = super::path(&folder);
            fs::write(with(&copy, ".lock"), "").unwrap();
            for (end, image) in FILES.iter().zip(&images) {
                let mut image = image.clone();
                // Once in a while as it is.
                if round > 0 && random.u8(..4) > 0 {
                    damage(&mut image, &mut random);
                }
                if end.is_empty() || !image.is_empty() {
                    fs::write(with(&copy, end), image).unwrap();
                }
            }
            seen[check(&copy, &reported)] += 1;
        }
    }
    assert!(
        seen.iter().all(|count| *count > 0),
        "damaged, again, new: {seen:?}"
    );
}

#[test]
fn a_run_that_is_killed_while_a_damaged_state_is_set_aside_finds_it_again() {
    let folder = folder();
    let path = path(&folder);
    drop(planned(&path));
    fs::write(&path, vec![7; 4096]).unwrap();
    // Killed behind each step: the names are there, the new state is not.
    place::set_aside(&path).unwrap();
    let Opened::Damaged(state, _) = open(&path).unwrap() else {
        panic!("it is forgotten that there was a run");
    };
    // Killed before it has begun an attempt.
    drop(state);
    let (state, earlier) = again(&path);
    assert_eq!(state.chunks().unwrap(), []);
    assert_eq!((earlier.ground(), earlier.now()), (Ground::Held, None));
    assert!(with(&path, ".damaged-1").exists());
}

/// A folder in memory where there is such a place: thousands of syncs take minutes on a disk.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| folder())
}

/// Opens a state and holds what it says against what was reported.
fn check(path: &Path, reported: &Reported) -> usize {
    match open(path).unwrap() {
        Opened::Damaged(state, _) => {
            assert_eq!(state.chunks().unwrap(), []);
            0
        }
        Opened::Again(state, _) => {
            for chunk in state.chunks().unwrap() {
                if let Some(done) = &chunk.done {
                    let books = &reported[&(chunk.pass, chunk.chunk, chunk.range.clone())];
                    assert!(books.contains(&done.books), "{chunk:?}");
                }
            }
            1
        }
        Opened::New(state) => {
            assert_eq!(state.chunks().unwrap(), []);
            2
        }
    }
}

/// Runs that plan, report, are killed, go on, begin anew.
fn history(path: &Path, random: &mut Rng) -> (State, Reported) {
    let mut reported = Reported::new();
    let mut sizes = vec![3, 1];
    let mut state = planned(path);
    let whole = |chunk: usize, pass: usize| (pass == 0).then(|| format!("[{chunk}]"));
    let mut range: Box<dyn Fn(usize, usize) -> Option<String>> = Box::new(whole);
    for step in 0..random.usize(1..120) {
        match random.u8(..40) {
            0 => {
                sizes = (0..random.usize(1..4))
                    .map(|_| random.usize(0..50))
                    .collect();
                let passes: Vec<PassPlan> = sizes.iter().map(|chunks| pass("p", *chunks)).collect();
                state.plan(&passes).unwrap();
                range = Box::new(|chunk, _| Some(format!("[{chunk}]")));
            }
            1 => {
                drop(state);
                (state, _) = again(path);
                state.begin_attempt(None, "", Ground::Held).unwrap();
            }
            2 => {
                // All that was done before must never come back.
                state.finish(Ending::Complete, None).unwrap();
                drop(state);
                reported.clear();
                state = planned(path);
                sizes = vec![3, 1];
                range = Box::new(whole);
            }
            3 => state.note_table(&"t".repeat(random.usize(..9000))).unwrap(),
            _ => {
                let pass = random.usize(..sizes.len());
                if sizes[pass] == 0 {
                    continue;
                }
                let chunk = random.usize(..sizes[pass]);
                let books = format!(
                    "{{\"step\":{step},\"more\":\"{}\"}}",
                    "b".repeat(random.usize(..2000))
                );
                let report = ChunkDone {
                    pass,
                    chunk,
                    books_json: &books,
                    annexes: &[],
                };
                state.chunk_done(&report).unwrap();
                reported
                    .entry((pass, chunk, range(chunk, pass)))
                    .or_default()
                    .push(books);
            }
        }
    }
    (state, reported)
}

fn damage(image: &mut Vec<u8>, random: &mut Rng) {
    if image.is_empty() {
        return;
    }
    let place = random.usize(..image.len());
    let length = random.usize(1..=(image.len() - place).min(9000));
    let part = place..place + length;
    match random.u8(..6) {
        0 => image.truncate(place),
        1 => image[place] ^= 1 << random.u8(..8),
        2 => image[part].fill(0),
        3 => image[part]
            .iter_mut()
            .for_each(|byte| *byte = random.u8(..)),
        // A page in another one's place.
        4 => {
            let (from, to) = (
                place / 4096 * 4096,
                random.usize(..image.len()) / 4096 * 4096,
            );
            let page = image[from..(from + 4096).min(image.len())].to_vec();
            let end = (to + page.len()).min(image.len());
            image[to..end].copy_from_slice(&page[..end - to]);
        }
        _ => image.clear(),
    }
}

#[test]
fn rows_that_were_changed_by_hand_break_the_seal() {
    for statement in [
        "update chunk set attempt = 1, books = '{}', finished = ''",
        "delete from chunk where number = 1",
        "insert into attempt values (7, null, '', 'empty', '', null)",
        "update fact set value = 'x'",
        "update seal set rows = rows + 1",
        "update format set number = 9",
        "create table more (x)",
        "drop table annex",
    ] {
        let folder = folder();
        let path = path(&folder);
        drop(planned(&path));
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch(statement)
            .unwrap();
        let opened = open(&path).unwrap();
        assert!(
            matches!(opened, Opened::Damaged(..)),
            "{statement}: {opened:?}"
        );
    }
}

#[test]
fn a_damaged_state_is_set_aside_each_time_under_a_name_of_its_own() {
    let folder = folder();
    let path = path(&folder);
    for number in 1..4 {
        drop(planned(&path));
        let text = format!("garbage {number}");
        fs::write(&path, &text).unwrap();
        let Opened::Damaged(mut state, what) = open(&path).unwrap() else {
            panic!("not damaged");
        };
        assert!(what.contains("not a database"), "{what}");
        state.begin_attempt(None, "", Ground::Held).unwrap();
        state.finish(Ending::Complete, None).unwrap();
        let aside = with(&path, &format!(".damaged-{number}"));
        assert_eq!(fs::read_to_string(aside).unwrap(), text);
    }
}

#[test]
fn a_state_that_was_emptied_is_damaged_and_one_that_was_removed_is_new() {
    let folder = folder();
    let path = path(&folder);
    drop(planned(&path));
    fs::write(&path, "").unwrap();
    assert!(matches!(open(&path).unwrap(), Opened::Damaged(..)));
    fs::remove_file(&path).unwrap();
    assert!(matches!(open(&path).unwrap(), Opened::New(_)));
}

#[test]
fn a_log_without_its_file_is_damage_and_is_never_taken_for_a_new_ones() {
    let folder = folder();
    let path = path(&folder);
    let mut state = planned(&path);
    state.chunk_done(&done(0, 0)).unwrap();
    let log = fs::read(with(&path, "-wal")).unwrap();
    assert!(!log.is_empty());
    drop(state);
    fs::remove_file(&path).unwrap();
    fs::write(with(&path, "-wal"), log).unwrap();
    let Opened::Damaged(state, what) = open(&path).unwrap() else {
        panic!("not damaged");
    };
    assert_eq!(what, "its file is gone");
    assert_eq!(state.chunks().unwrap(), []);
    assert!(with(&path, ".damaged-1-wal").exists());
}

#[test]
fn what_a_killed_begin_leaves_is_cleared_away() {
    let folder = folder();
    let path = path(&folder);
    fs::write(with(&path, ".new"), "half").unwrap();
    fs::write(with(&path, ".new-wal"), "half").unwrap();
    drop(planned(&path));
    assert!(!with(&path, ".new").exists() && !with(&path, ".new-wal").exists());
    assert_eq!(again(&path).1.attempts.len(), 1);
}

fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
