//! The state as a load uses it.

mod annexes;
mod damage;
mod full;
mod kills;
mod places;
mod runs;

use std::path::{Path, PathBuf};

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn path(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("shop.state")
}

fn identity() -> Identity {
    Identity::new()
        .with("the mapping", "3f5a", "shop.yaml")
        .plain("the table", "shop")
}

fn open(path: &Path) -> Result<Opened, StateError> {
    State::open(path, &identity(), Mode::Resume)
}

fn begin(path: &Path) -> State {
    match open(path).unwrap() {
        Opened::New(state) => state,
        other => panic!("not new: {other:?}"),
    }
}

fn again(path: &Path) -> (State, Earlier) {
    match open(path).unwrap() {
        Opened::Again(state, earlier) => (state, earlier),
        other => panic!("not again: {other:?}"),
    }
}

fn pass(name: &str, chunks: usize) -> PassPlan {
    PassPlan {
        name: name.to_owned(),
        chunks: (0..chunks)
            .map(|chunk| Some(format!("[{chunk}]")))
            .collect(),
    }
}

/// A state with two passes, of which nothing is done.
fn planned(path: &Path) -> State {
    let mut state = begin(path);
    let whole = PassPlan {
        name: String::from("orders"),
        chunks: vec![None],
    };
    state.plan(&[pass("users", 3), whole]).unwrap();
    state
        .begin_attempt(Some("lsn 7"), "2026-01-01T00:00:00Z", Ground::Empty)
        .unwrap();
    state
}

fn done(pass: usize, chunk: usize) -> ChunkDone<'static> {
    ChunkDone {
        pass,
        chunk,
        books_json: r#"{"made":5}"#,
        annexes: &[],
    }
}

impl State {
    /// Reports one chunk.
    fn chunk_done(&mut self, done: &ChunkDone<'_>) -> Result<(), StateError> {
        self.chunks_done(std::slice::from_ref(done))
    }
}

/// Passes and chunks that are done.
fn finished(state: &State) -> Vec<(usize, usize)> {
    let chunks = state.chunks().unwrap().into_iter();
    let done = chunks.filter(|chunk| chunk.done.is_some());
    done.map(|chunk| (chunk.pass, chunk.chunk)).collect()
}
