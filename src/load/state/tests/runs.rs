//! Runs one after the other.

use super::*;

#[test]
fn what_was_done_is_told_to_the_run_that_goes_on() {
    let folder = folder();
    let path = path(&folder);
    let mut state = planned(&path);
    let rejects = Extent {
        length: 77,
        tail: String::from("abc"),
    };
    let annexes = [("rejects", rejects.clone())];
    state
        .chunks_done(&[
            done(0, 1),
            ChunkDone {
                annexes: &annexes,
                ..done(1, 0)
            },
        ])
        .unwrap();
    state.note_table("one").unwrap();
    state.note_table("two").unwrap();
    drop(state);

    let (state, earlier) = again(&path);
    assert_eq!(finished(&state), [(0, 1), (1, 0)]);
    assert_eq!(earlier.passes, ["users", "orders"]);
    assert_eq!(earlier.annexes, [(String::from("rejects"), rejects)]);
    assert_eq!(earlier.now(), Some("2026-01-01T00:00:00Z"));
    assert_eq!(earlier.ground(), Ground::Empty);
    assert_eq!(earlier.ending, None);
    let attempt = &earlier.attempts[0];
    assert_eq!(
        (attempt.number, attempt.stamp.as_deref()),
        (1, Some("lsn 7"))
    );
    assert_eq!(attempt.table_id.as_deref(), Some("two"));
    let chunks = state.chunks().unwrap();
    assert_eq!(chunks.len(), 4);
    assert_eq!(
        (chunks[2].range.as_deref(), &chunks[2].done),
        (Some("[2]"), &None)
    );
    let whole = chunks[3].done.as_ref().unwrap();
    assert_eq!((whole.attempt, whole.books.as_str()), (1, r#"{"made":5}"#));
    assert_eq!((chunks[3].pass, &chunks[3].range), (1, &None));
}

#[test]
fn each_attempt_is_counted_and_the_first_ones_time_is_kept() {
    let folder = folder();
    let path = path(&folder);
    planned(&path).chunk_done(&done(0, 0)).unwrap();
    let (mut state, _) = again(&path);
    assert_eq!(
        state
            .begin_attempt(None, "2026-02-02T00:00:00Z", Ground::Held)
            .unwrap(),
        2
    );
    state.chunk_done(&done(0, 2)).unwrap();
    state.finish(Ending::Unfinished, None).unwrap();
    drop(state);
    let (state, earlier) = again(&path);
    assert_eq!(earlier.attempts.len(), 2);
    assert_eq!(earlier.now(), Some("2026-01-01T00:00:00Z"));
    assert_eq!(earlier.ground(), Ground::Empty);
    assert_eq!(earlier.ending, Some(Ending::Unfinished));
    let attempts = state.chunks().unwrap().into_iter();
    let attempts: Vec<_> = attempts
        .map(|chunk| chunk.done.map(|done| done.attempt))
        .collect();
    assert_eq!(attempts, [Some(1), None, Some(2), None]);
}

#[test]
fn a_third_attempt_that_is_killed_has_no_ending() {
    let folder = folder();
    let path = path(&folder);
    let mut state = planned(&path);
    state.finish(Ending::Unfinished, None).unwrap();
    state.begin_attempt(None, "", Ground::Held).unwrap();
    drop(state);
    assert_eq!(again(&path).1.ending, None);
}

#[test]
fn a_finished_run_makes_room_for_the_next_one() {
    let folder = folder();
    let path = path(&folder);
    let mut state = planned(&path);
    state.chunk_done(&done(0, 0)).unwrap();
    let selection = Selection {
        place: String::from("shop@eu"),
        json: String::from("{\"items\":\"all\"}"),
    };
    state.finish(Ending::Complete, Some(&selection)).unwrap();
    drop(state);
    for _ in 0..2 {
        // Another identity is none of its business any more.
        let other = Identity::new().plain("the table", "other");
        let Opened::New(state) = State::open(&path, &other, Mode::Resume).unwrap() else {
            panic!("not new");
        };
        assert_eq!(state.chunks().unwrap(), []);
        assert_eq!(
            state.selection("shop@eu").unwrap(),
            Some(selection.json.clone())
        );
        assert_eq!(state.selection("other").unwrap(), None);
    }
}

#[test]
fn an_unfinished_run_of_something_else_is_not_gone_on_with() {
    let folder = folder();
    let path = path(&folder);
    drop(planned(&path));
    let other = Identity::new()
        .with("the mapping", "77aa", "shop.yaml")
        .plain("--items", "USER");
    let error = State::open(&path, &other, Mode::Resume).unwrap_err();
    let StateError::Differs { differences, .. } = &error else {
        panic!("{error}");
    };
    let words: Vec<_> = differences.iter().map(Difference::to_string).collect();
    assert_eq!(
        words,
        [
            "the mapping (shop.yaml) is not as it was",
            "--items was not given and is USER",
            "the table was shop and is not given",
        ]
    );
    assert!(error.help().contains("--fresh"));
    assert_eq!(again(&path).1.attempts.len(), 1, "nothing was changed");
    let fresh = State::open(&path, &other, Mode::Fresh).unwrap();
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
    let mut state = planned(&path);
    state.chunk_done(&done(0, 0)).unwrap();
    let selection = Selection {
        place: String::from("shop"),
        json: String::from("{}"),
    };
    state.finish(Ending::Unfinished, Some(&selection)).unwrap();
    drop(state);
    let mended = Identity::new()
        .with("the mapping", "77aa", "shop.yaml")
        .plain("the table", "shop");
    // Killed before it has begun, it takes over what it took over.
    for mode in [Mode::Fresh, Mode::Resume] {
        let Opened::Again(state, earlier) = State::open(&path, &mended, mode).unwrap() else {
            panic!("what was written is forgotten");
        };
        assert_eq!(finished(&state), []);
        assert_eq!((earlier.ground(), earlier.now()), (Ground::Empty, None));
        assert_eq!(state.selection("shop").unwrap().as_deref(), Some("{}"));
    }
    let Opened::Again(mut state, _) = State::open(&path, &mended, Mode::Resume).unwrap() else {
        panic!("what was written is forgotten");
    };
    let now = "2026-03-03T00:00:00Z";
    assert_eq!(state.begin_attempt(None, now, Ground::Held).unwrap(), 2);
    drop(state);
    let Opened::Again(mut state, earlier) = State::open(&path, &mended, Mode::Resume).unwrap()
    else {
        panic!("not gone on with");
    };
    assert_eq!(
        (earlier.ground(), earlier.now()),
        (Ground::Empty, Some(now))
    );
    state.forget_attempts().unwrap();
    drop(state);
    assert!(matches!(
        State::open(&path, &mended, Mode::Resume).unwrap(),
        Opened::New(_)
    ));
}

#[test]
fn nothing_is_taken_over_from_another_part_or_into_an_emptied_table() {
    let folder = folder();
    let path = path(&folder);
    drop(planned(&path));
    let part = identity().plain("--items", "USER");
    for (identity, mode) in [(part, Mode::Fresh), (identity(), Mode::Replace)] {
        assert!(matches!(
            State::open(&path, &identity, mode).unwrap(),
            Opened::New(_)
        ));
        drop(planned_again(&path, &identity));
    }
}

/// An unfinished run of something.
fn planned_again(path: &Path, identity: &Identity) -> State {
    let Opened::New(mut state) = State::open(path, identity, Mode::Resume).unwrap() else {
        panic!("not new");
    };
    state.begin_attempt(None, "", Ground::Empty).unwrap();
    state
}

#[test]
fn an_earlier_plan_is_replaced_as_a_whole() {
    let folder = folder();
    let path = path(&folder);
    let mut state = planned(&path);
    state.chunk_done(&done(0, 2)).unwrap();
    state.plan(&[pass("users", 2)]).unwrap();
    assert_eq!(finished(&state), []);
    assert_eq!(state.chunks().unwrap().len(), 2);
    drop(state);
    assert_eq!(again(&path).1.passes, ["users"]);
}

#[test]
fn chunks_that_the_plan_does_not_have_undo_the_whole_report() {
    let folder = folder();
    let path = path(&folder);
    let mut state = planned(&path);
    let error = state.chunks_done(&[done(0, 0), done(4, 0)]).unwrap_err();
    assert!(
        matches!(error, StateError::Unplanned { pass: 4, chunk: 0 }),
        "{error}"
    );
    assert_eq!(finished(&state), []);
    state.chunks_done(&[]).unwrap();
    state.chunk_done(&done(0, 0)).unwrap();
    state.chunk_done(&done(0, 0)).unwrap();
    drop(state);
    assert_eq!(finished(&again(&path).0), [(0, 0)]);
}

#[test]
fn a_format_of_another_version_is_told_from_damage() {
    let folder = folder();
    let path = path(&folder);
    drop(planned(&path));
    store::pretend_format(&path, 9);
    let error = open(&path).unwrap_err();
    let wanted = "has format 9; this version writes 2";
    assert!(error.to_string().contains(wanted), "{error}");
    assert!(matches!(
        State::open(&path, &identity(), Mode::Fresh).unwrap(),
        Opened::New(_)
    ));
}
