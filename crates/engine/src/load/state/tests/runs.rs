//! Runs one after the other.

use super::*;

#[test]
fn what_was_done_is_told_to_the_run_that_goes_on() {
    let folder = folder();
    let path = path(&folder);
    let mut state = planned(&path);
    let rejects = CommittedExtent {
        length: 77,
        tail: String::from("abc"),
    };
    let extents = vec![(String::from("rejects"), rejects.clone())];
    state
        .chunks_done(
            vec![(chunk(0, 1), books(4)), (chunk(1, 0), books(5))],
            extents,
        )
        .unwrap();
    drop(state);

    let (state, earlier) = again(&path);
    assert_eq!(finished(&state), [(0, 1), (1, 0)]);
    assert_eq!(*state.planned(), plan(&[3, 1]));
    let made = state.done().values().map(|books| books[0].1.made);
    assert_eq!(made.collect::<Vec<_>>(), [4, 5]);
    assert_eq!(earlier.extents["rejects"], rejects);
    assert_eq!(earlier.now(), Some("2026-01-01T00:00:00Z"));
    assert_eq!(earlier.table_at_start(), TableAtStart::Empty);
    assert_eq!(earlier.table_id(), Some("an id"));
    assert_eq!(earlier.attempts[0].stamp.as_deref(), Some("lsn 7"));
}

#[test]
fn each_attempt_is_counted_and_the_first_ones_time_is_kept() {
    let folder = folder();
    let path = path(&folder);
    planned(&path).chunk_done(0, 0).unwrap();
    let (mut state, _) = again(&path);
    let second = attempt("2026-02-02T00:00:00Z", TableAtStart::Held);
    state.begin_attempt(second).unwrap();
    state.chunk_done(0, 2).unwrap();
    drop(state);
    let (state, earlier) = again(&path);
    assert_eq!(earlier.attempts.len(), 2);
    assert_eq!(earlier.now(), Some("2026-01-01T00:00:00Z"));
    assert_eq!(earlier.table_at_start(), TableAtStart::Empty);
    assert_eq!(finished(&state), [(0, 0), (0, 2)]);
}

#[test]
fn a_finished_run_makes_room_for_the_next_one() {
    let folder = folder();
    let path = path(&folder);
    let mut state = planned(&path);
    state.chunk_done(0, 0).unwrap();
    let selection = PruneSelection {
        place: String::from("shop@eu"),
        json: String::from("{\"items\":\"all\"}"),
    };
    state.complete(Some(selection.clone())).unwrap();
    drop(state);
    for _ in 0..2 {
        // Another identity is none of its business any more.
        let other = RunIdentity::new().plain("the table", "other");
        let Opened::New(state) = State::open(&path, &other, ResumeMode::Resume).unwrap() else {
            panic!("not new");
        };
        assert_eq!(*state.planned(), ChunkPlan::default());
        assert_eq!(finished(&state), []);
        assert_eq!(state.selection("shop@eu"), Some(&*selection.json));
        assert_eq!(state.selection("other"), None);
        drop(state);
        let peeked = super::super::selection(&path, "shop@eu");
        assert_eq!(peeked, Some(selection.json.clone()));
    }
}

#[test]
fn an_unfinished_run_of_something_else_is_not_gone_on_with() {
    let folder = folder();
    let path = path(&folder);
    drop(planned(&path));
    let other = RunIdentity::new()
        .with("the mapping", "77aa", "shop.yaml")
        .plain("--items", "USER");
    let error = State::open(&path, &other, ResumeMode::Resume).unwrap_err();
    let StateError::Differs { differences, .. } = &error else {
        panic!("{error}");
    };
    let words: Vec<_> = differences.iter().map(ChangedFact::to_string).collect();
    assert_eq!(
        words,
        [
            "the mapping (shop.yaml) has changed",
            "--items: USER now, none then",
            "the table: none now, shop then",
        ]
    );
    assert!(error.help().contains("--fresh"));
    assert_eq!(again(&path).1.attempts.len(), 1, "nothing was changed");
    let fresh = State::open(&path, &other, ResumeMode::Fresh).unwrap();
    assert!(matches!(fresh, Opened::New(_)));
    drop(fresh);
    assert!(
        matches!(open(&path).unwrap(), Opened::New(_)),
        "it had not begun"
    );
}

#[test]
fn fresh_forgets_what_is_done_and_keeps_what_was_written() {
    let folder = folder();
    let path = path(&folder);
    let selection = PruneSelection {
        place: String::from("shop"),
        json: String::from("{}"),
    };
    begin(&path).complete(Some(selection)).unwrap();
    let mut state = planned(&path);
    state.chunk_done(0, 0).unwrap();
    drop(state);
    let mended = RunIdentity::new()
        .with("the mapping", "77aa", "shop.yaml")
        .plain("the table", "shop");
    // Killed before it has begun, it takes over what it took over.
    for mode in [ResumeMode::Fresh, ResumeMode::Resume] {
        let Opened::Again(state, earlier) = State::open(&path, &mended, mode).unwrap() else {
            panic!("what was written is forgotten");
        };
        assert_eq!(finished(&state), []);
        assert_eq!(
            (earlier.table_at_start(), earlier.now()),
            (TableAtStart::Empty, None)
        );
        assert_eq!(state.selection("shop"), Some("{}"));
    }
    let Opened::Again(mut state, _) = State::open(&path, &mended, ResumeMode::Resume).unwrap()
    else {
        panic!("what was written is forgotten");
    };
    let now = "2026-03-03T00:00:00Z";
    state
        .begin_attempt(attempt(now, TableAtStart::Held))
        .unwrap();
    drop(state);
    let Opened::Again(mut state, earlier) =
        State::open(&path, &mended, ResumeMode::Resume).unwrap()
    else {
        panic!("not gone on with");
    };
    assert_eq!(
        (earlier.table_at_start(), earlier.now()),
        (TableAtStart::Empty, Some(now))
    );
    state.forget_attempts().unwrap();
    drop(state);
    assert!(matches!(
        State::open(&path, &mended, ResumeMode::Resume).unwrap(),
        Opened::New(_)
    ));
}

#[test]
fn nothing_is_taken_over_from_another_part_or_into_an_emptied_table() {
    let folder = folder();
    let path = path(&folder);
    drop(planned(&path));
    let part = identity().plain("--items", "USER");
    for (identity, mode) in [(part, ResumeMode::Fresh), (identity(), ResumeMode::Replace)] {
        assert!(matches!(
            State::open(&path, &identity, mode).unwrap(),
            Opened::New(_)
        ));
        drop(planned_again(&path, &identity));
    }
}

/// An unfinished run of something.
fn planned_again(path: &Path, identity: &RunIdentity) -> State {
    let Opened::New(mut state) = State::open(path, identity, ResumeMode::Resume).unwrap() else {
        panic!("not new");
    };
    state
        .begin_attempt(attempt("", TableAtStart::Empty))
        .unwrap();
    state
}

#[test]
fn an_earlier_plan_is_replaced_as_a_whole() {
    let folder = folder();
    let path = path(&folder);
    let mut state = planned(&path);
    state.chunk_done(0, 2).unwrap();
    state.plan(plan(&[2])).unwrap();
    assert_eq!(finished(&state), []);
    drop(state);
    let (state, _) = again(&path);
    assert_eq!(finished(&state), []);
    assert_eq!(*state.planned(), plan(&[2]));
}

#[test]
fn chunks_that_the_plan_does_not_have_undo_the_whole_report() {
    let folder = folder();
    let path = path(&folder);
    let mut state = planned(&path);
    let report = vec![(chunk(0, 0), books(1)), (chunk(4, 0), books(1))];
    let error = state.chunks_done(report, Vec::new()).unwrap_err();
    assert!(
        matches!(error, StateError::Unplanned { pass: 4, chunk: 0 }),
        "{error}"
    );
    assert!(state.chunk_done(0, 3).is_err());
    assert_eq!(finished(&state), []);
    state.chunks_done(Vec::new(), Vec::new()).unwrap();
    state.chunk_done(0, 0).unwrap();
    state.chunk_done(0, 0).unwrap();
    drop(state);
    assert_eq!(finished(&again(&path).0), [(0, 0)]);
}

#[test]
fn a_format_of_another_version_is_told_from_damage() {
    let folder = folder();
    let path = path(&folder);
    drop(planned(&path));
    std::fs::write(&path, log::first_line(9).0).unwrap();
    let error = open(&path).unwrap_err();
    let wanted = "has format 9; this version writes 1";
    assert!(error.to_string().contains(wanted), "{error}");
    assert!(matches!(
        State::open(&path, &identity(), ResumeMode::Fresh).unwrap(),
        Opened::New(_)
    ));
}

/// A state as this format writes it. Where it cannot be read any more, the format needs another number.
const WRITTEN: &str = include_str!("format_1.state");

#[test]
fn a_state_that_was_written_before_is_read() {
    let folder = folder();
    let path = path(&folder);
    std::fs::write(&path, WRITTEN).unwrap();
    let (state, earlier) = again(&path);
    assert_eq!(finished(&state), [(0, 0)]);
    assert_eq!((earlier.attempts.len(), earlier.extents.len()), (1, 1));
    assert_eq!(state.selection("shop"), Some("{}"));
    for line in WRITTEN.lines().skip(1) {
        let (_, json) = line.split_once(' ').unwrap();
        let entry: log::LogEntry = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&entry).unwrap(), json);
    }
}
