//! Processes that end at any moment, and processes that start together.
//!
//! This test binary starts itself; [`child`] is what the other process does.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::*;

/// Where the other process finds its state; without it [`child`] does nothing.
const STATE: &str = "DYNAFOLD_TEST_STATE";
const CHUNKS: usize = 2_000;

#[test]
#[ignore = "what the other process does"]
fn child() {
    let Some(path) = std::env::var_os(STATE) else {
        return;
    };
    // In one write each, so that a kill leaves no half line.
    let say = |line: &str| {
        let line = format!("\n{line}\n");
        std::io::stdout().write_all(line.as_bytes()).unwrap();
    };
    let mut extent = CommittedExtent::default();
    let (mut state, from) = match open(Path::new(&path)) {
        Ok(Opened::New(mut state)) => {
            state.plan(plan(&[CHUNKS])).unwrap();
            (state, 0)
        }
        Ok(Opened::Again(state, earlier)) => {
            if let Some((_, found)) = earlier.extents.into_iter().next() {
                extent = found;
            }
            let from = finished(&state).len();
            (state, from)
        }
        Ok(Opened::Damaged(_, what)) => return say(&format!("DAMAGED {what}")),
        Err(StateError::Held { pid, .. }) => return say(&format!("HELD {}", pid.unwrap_or(0))),
        Err(error) => return say(&format!("FAILED {error}")),
    };
    state
        .begin_attempt(attempt("", TableAtStart::Empty))
        .unwrap();
    let rejects = Path::new(&path).with_extension("rejects");
    let mut rejects = ResumableFile::resume(OutputFile::Rejects, &rejects, &extent).unwrap();
    say("OPEN 0");
    for at in from..CHUNKS {
        let extent = rejects
            .append_committed(b"{\"reject\":1}\n".as_slice())
            .unwrap();
        let extents = vec![(String::from("rejects"), extent)];
        state
            .chunks_done(vec![(chunk(0, at), books(5))], extents)
            .unwrap();
        say(&format!("DONE {at}"));
    }
}

#[test]
fn what_was_reported_before_a_kill_is_there_after_it() {
    let folder = folder();
    let path = path(&folder);
    let mut random = fastrand::Rng::new();
    let mut last = None;
    for round in 0..12 {
        let mut child = start(&path);
        let mut lines = said(&mut child);
        // Every other one is killed wherever it is, the rest in the midst of their reports.
        let heard = (round % 2 > 0).then(|| lines.find(|(word, _)| word != "OPEN"));
        sleep(Duration::from_millis(random.u64(0..60)));
        child.kill().unwrap();
        child.wait().unwrap();
        for (word, rest) in heard.flatten().into_iter().chain(lines) {
            assert!(word == "OPEN" || word == "DONE", "{word} {rest}");
            if word == "DONE" {
                last = last.max(rest.parse::<usize>().ok());
            }
        }
        if let Some(known) = last {
            let (state, _) = again(&path);
            let done = finished(&state);
            assert!(
                done.len() > known,
                "{known} was reported, {} are there",
                done.len()
            );
            assert!(done.iter().enumerate().all(|(at, chunk)| *chunk == (0, at)));
            assert!(done.len() <= known + 2, "one more at most was under way");
            let lines = std::fs::read_to_string(path.with_extension("rejects")).unwrap();
            assert!(lines.lines().count() >= done.len(), "no reject is lost");
            last = done.len().checked_sub(1);
        }
    }
    assert!(last.is_some(), "no child came so far as to report");
}

#[test]
fn of_processes_that_start_together_one_runs_and_the_others_are_told_which() {
    for _ in 0..5 {
        let folder = folder();
        let path = path(&folder);
        let mut children: Vec<Child> = (0..4).map(|_| start(&path)).collect();
        let mut output: Vec<_> = children.iter_mut().map(said).collect();
        let words: Vec<_> = output
            .iter_mut()
            .map(|lines| lines.next().unwrap())
            .collect();
        let winner = words
            .iter()
            .position(|(word, _)| word == "OPEN")
            .expect("one runs");
        let pid = children[winner].id().to_string();
        for (index, (word, rest)) in words.iter().enumerate() {
            assert!(
                index == winner || word == "HELD" && *rest == pid,
                "{words:?}"
            );
        }
        for mut child in children {
            let _ended = child.kill();
            child.wait().unwrap();
        }
        drop(again(&path));
    }
}

#[test]
fn a_second_start_is_refused_at_once_and_says_who_is_there() {
    let folder = folder();
    let path = path(&folder);
    let state = planned(&path);
    let begun = std::time::Instant::now();
    for mode in [ResumeMode::Resume, ResumeMode::Fresh] {
        let error = State::open(&path, &identity(), mode).unwrap_err();
        let words = error.to_string();
        let wanted = format!("shop.state: process {}", std::process::id());
        assert!(
            words.contains(&wanted) && words.contains(" since 20"),
            "{words}"
        );
    }
    assert!(begun.elapsed() < Duration::from_secs(1));
    drop(state);
    drop(again(&path));
}

fn start(path: &Path) -> Child {
    let module = module_path!().split_once("::").map_or("", |(_, rest)| rest);
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("{module}::child"),
            "--ignored",
            "--nocapture",
        ])
        .env(STATE, path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What a child says, to its end.
fn said(child: &mut Child) -> impl Iterator<Item = (String, String)> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.filter_map(|line| word(&line.unwrap()))
}

/// A line of a child, told from those of the test harness.
fn word(line: &str) -> Option<(String, String)> {
    let (word, rest) = line.split_once(' ')?;
    let ours = ["OPEN", "DONE", "HELD", "DAMAGED", "FAILED"].contains(&word);
    ours.then(|| (word.to_owned(), rest.to_owned()))
}
