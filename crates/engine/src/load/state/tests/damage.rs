//! Files that a power cut, a bad disk or somebody's hand has changed.
//!
//! The property: whatever happens to the bytes, what a state says is done was done, with the
//! books that were reported, or it says that it is damaged.

use std::collections::BTreeMap;
use std::fs;

use fastrand::Rng;

use super::*;

/// Everything that was ever reported done, with the figures of all the books it had.
type Reported = BTreeMap<ChunkId, Vec<u64>>;

#[test]
fn what_a_damaged_state_says_is_done_was_done() {
    let rounds = if cfg!(debug_assertions) { 30 } else { 400 };
    let mut seen = [0_u32; 3];
    for seed in 0..rounds {
        let mut random = Rng::with_seed(seed);
        let folder = in_memory();
        let path = path(&folder);
        let (state, reported) = history(&path, &mut random);
        drop(state);
        let image = fs::read(&path).unwrap();
        for round in 0..30 {
            let folder = in_memory();
            let copy = super::path(&folder);
            fs::write(with_suffix(&copy, ".lock"), "").unwrap();
            let mut image = image.clone();
            // Once in a while as it is.
            if round > 0 && random.u8(..8) > 0 {
                damage(&mut image, &mut random);
            }
            fs::write(&copy, image).unwrap();
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
    state_file::set_aside(&path).unwrap();
    let Opened::Damaged(state, _) = open(&path).unwrap() else {
        panic!("it is forgotten that there was a run");
    };
    // Killed before it has begun an attempt.
    drop(state);
    let (state, earlier) = again(&path);
    assert_eq!(finished(&state), []);
    assert_eq!(
        (earlier.table_at_start(), earlier.now()),
        (TableAtStart::Held, None)
    );
    assert!(with_suffix(&path, ".damaged-1").exists());
}

/// A folder in memory where there is such a place: thousands of syncs take minutes on a disk.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| folder())
}

/// Opens a state and holds what it says against what was reported.
fn check(path: &Path, reported: &Reported) -> usize {
    match open(path).unwrap() {
        Opened::Damaged(state, _) => {
            assert_eq!(finished(&state), []);
            0
        }
        Opened::Again(state, _) => {
            for (id, books) in state.done() {
                assert!(reported[id].contains(&books[0].1.made), "{id:?}");
            }
            1
        }
        Opened::New(state) => {
            assert_eq!(finished(&state), []);
            2
        }
    }
}

/// Runs that plan, report, are killed, go on, begin anew.
fn history(path: &Path, random: &mut Rng) -> (State, Reported) {
    let mut reported = Reported::new();
    let mut sizes = vec![3, 1];
    let mut state = planned(path);
    for step in 0..random.u64(1..120) {
        match random.u8(..40) {
            0 => {
                sizes = (0..random.usize(1..4))
                    .map(|_| random.usize(0..50))
                    .collect();
                state.plan(plan(&sizes)).unwrap();
            }
            1 => {
                drop(state);
                (state, _) = again(path);
                state
                    .begin_attempt(attempt("", TableAtStart::Held))
                    .unwrap();
            }
            2 => {
                // All that was done before must never come back.
                state.complete(None).unwrap();
                drop(state);
                reported.clear();
                state = planned(path);
                sizes = vec![3, 1];
            }
            3 => state
                .begin_attempt(attempt(
                    &"t".repeat(random.usize(..9000)),
                    TableAtStart::Held,
                ))
                .unwrap(),
            _ => {
                let pass = random.usize(..sizes.len());
                if sizes[pass] == 0 {
                    continue;
                }
                let id = chunk(pass, random.usize(..sizes[pass]));
                let mut books = books(step);
                books[0].1.from = "b".repeat(random.usize(..2000));
                state.chunks_done(vec![(id, books)], Vec::new()).unwrap();
                reported.entry(id).or_default().push(step);
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
fn lines_that_were_changed_by_hand_break_their_seals() {
    type Change = fn(&mut Vec<String>);
    let changes: [(&str, Change); 6] = [
        ("another chunk", |lines| {
            lines[4] = lines[4].replace("\"chunk\":0", "\"chunk\":1");
        }),
        ("a line less", |lines| drop(lines.remove(4))),
        ("a line twice", |lines| lines.insert(4, lines[4].clone())),
        ("two lines changed about", |lines| lines.swap(4, 5)),
        ("another fact", |lines| {
            lines[1] = lines[1].replace("shop", "shot");
        }),
        ("another format", |lines| {
            lines[0] = lines[0].replace("state 1", "state 9");
        }),
    ];
    for (what, change) in changes {
        let folder = folder();
        let path = path(&folder);
        let mut state = planned(&path);
        for chunk in 0..3 {
            state.chunk_done(0, chunk).unwrap();
        }
        drop(state);
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        change(&mut lines);
        let changed = lines.join("\n") + "\n";
        assert_ne!(changed, text, "{what}");
        fs::write(&path, changed).unwrap();
        let opened = open(&path).unwrap();
        assert!(matches!(opened, Opened::Damaged(..)), "{what}: {opened:?}");
    }
}

#[test]
fn a_last_line_that_is_not_whole_never_counted() {
    let folder = folder();
    let path = path(&folder);
    let mut state = planned(&path);
    state.chunk_done(0, 0).unwrap();
    let whole = fs::read(&path).unwrap();
    state.chunk_done(0, 1).unwrap();
    drop(state);
    let longer = fs::read(&path).unwrap();
    for end in whole.len()..longer.len() {
        fs::write(&path, &longer[..end]).unwrap();
        let (mut state, _) = again(&path);
        assert_eq!(finished(&state), [(0, 0)], "{end}");
        // The next line takes its place, be it shorter or longer.
        state.forget_extents().unwrap();
        state.chunk_done(0, 2).unwrap();
        drop(state);
        assert_eq!(finished(&again(&path).0), [(0, 0), (0, 2)], "{end}");
    }
    let mut zeros = whole.clone();
    zeros.resize(longer.len(), 0);
    fs::write(&path, zeros).unwrap();
    assert_eq!(finished(&again(&path).0), [(0, 0)]);
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
        assert!(what.contains("does not begin like a state file"), "{what}");
        state
            .begin_attempt(attempt("", TableAtStart::Held))
            .unwrap();
        state.complete(None).unwrap();
        let aside = with_suffix(&path, &format!(".damaged-{number}"));
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
fn what_a_killed_begin_leaves_is_cleared_away() {
    let folder = folder();
    let path = path(&folder);
    fs::write(with_suffix(&path, ".new"), "half").unwrap();
    drop(planned(&path));
    assert!(!with_suffix(&path, ".new").exists());
    assert_eq!(again(&path).1.attempts.len(), 1);
}

fn with_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
