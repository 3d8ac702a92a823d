//! The state as a load uses it.

mod damage;
mod full;
mod kills;
mod runs;
mod state_files;

use std::path::{Path, PathBuf};

use super::*;
use crate::load::failure::OutputFile;
use crate::load::plan::ChunkPart;
use crate::load::resumable_file::ResumableFile;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn path(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("shop.state")
}

fn identity() -> RunIdentity {
    RunIdentity::new()
        .with("the mapping", "3f5a", "shop.yaml")
        .plain("the table", "shop")
}

fn open(path: &Path) -> Result<Opened, StateError> {
    State::open(path, &identity(), ResumeMode::Resume)
}

fn begin(path: &Path) -> State {
    match open(path).unwrap() {
        Opened::New(state) => state,
        other => panic!("not new: {other:?}"),
    }
}

fn again(path: &Path) -> (State, EarlierRun) {
    match open(path).unwrap() {
        Opened::Again(state, earlier) => (state, earlier),
        other => panic!("not again: {other:?}"),
    }
}

/// A plan with so many chunks in each pass.
fn plan(chunks: &[usize]) -> ChunkPlan {
    let passes = chunks.iter().map(|chunks| vec![ChunkPart::Whole; *chunks]);
    ChunkPlan {
        passes: passes.collect(),
    }
}

fn attempt(now: &str, table_at_start: TableAtStart) -> RunAttempt {
    RunAttempt {
        stamp: None,
        now: now.to_owned(),
        table_at_start,
        table_id: None,
    }
}

/// A state with two passes, of which nothing is done.
fn planned(path: &Path) -> State {
    let mut state = begin(path);
    state.plan(plan(&[3, 1])).unwrap();
    state
        .begin_attempt(RunAttempt {
            stamp: Some(String::from("lsn 7")),
            table_id: Some(String::from("an id")),
            ..attempt("2026-01-01T00:00:00Z", TableAtStart::Empty)
        })
        .unwrap();
    state
}

fn chunk(pass: usize, chunk: usize) -> ChunkId {
    ChunkId { pass, chunk }
}

/// The books of a chunk that has made so many items.
fn books(made: u64) -> ChunkBooks {
    let books = Books {
        made,
        ..Books::default()
    };
    vec![(0, books)]
}

impl State {
    fn chunk_done(&mut self, pass: usize, chunk: usize) -> Result<(), StateError> {
        let id = ChunkId { pass, chunk };
        self.chunks_done(vec![(id, books(5))], Vec::new())
    }
}

/// Passes and chunks that are done.
fn finished(state: &State) -> Vec<(usize, usize)> {
    let done = state.done().keys();
    done.map(|id| (id.pass, id.chunk)).collect()
}
