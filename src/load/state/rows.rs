//! The rows of a state, and what they say.

use rusqlite::Row;
use rusqlite::types::Value;

use super::change::{Change, Fault};
use super::store::Store;
use super::table::{ANNEX, ATTEMPT, CHUNK, FACT, PASS, SELECTION, WORD};
use super::{
    Attempt, Chunk, ChunkDone, Done, Earlier, Ending, Extent, Fact, Ground, Identity, PassPlan,
    Selection, StateError,
};

type Changed = Result<(), Fault>;

const ENDING: &str = "ending";

/// The present time in UTC, as it is kept and shown.
pub(super) fn clock() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}

/// The rows of a run that has not begun.
pub(super) fn begin(
    change: &mut Change<'_>,
    identity: &Identity,
    selections: &[Selection],
    taken_over: Option<&Attempt>,
) -> Changed {
    if let Some(attempt) = taken_over {
        put_attempt(change, attempt)?;
    }
    for (number, fact) in identity.facts().iter().enumerate() {
        let row = [
            count(number),
            text(&fact.name),
            text(&fact.value),
            text(&fact.shown),
        ];
        change.put(FACT, &row)?;
    }
    selections
        .iter()
        .try_for_each(|selection| keep(change, selection))
}

pub(super) fn plan(change: &mut Change<'_>, passes: &[PassPlan]) -> Changed {
    change.clear(PASS)?;
    change.clear(CHUNK)?;
    for (pass, plan) in passes.iter().enumerate() {
        change.put(PASS, &[count(pass), text(&plan.name)])?;
        for (number, range) in plan.chunks.iter().enumerate() {
            let range = range.as_deref().map_or(Value::Null, text);
            let open = [Value::Null, Value::Null, Value::Null];
            let [attempt, books, finished] = open;
            let row = [count(pass), count(number), range, attempt, books, finished];
            change.put(CHUNK, &row)?;
        }
    }
    Ok(())
}

pub(super) fn begin_attempt(change: &mut Change<'_>, attempt: &Attempt) -> Changed {
    change.clear(WORD)?;
    put_attempt(change, attempt)
}

/// Of a run that has begun nothing an earlier one is taken over no more.
pub(super) fn forget_attempts(change: &mut Change<'_>) -> Changed {
    Ok(change.clear(ATTEMPT)?)
}

fn put_attempt(change: &mut Change<'_>, attempt: &Attempt) -> Changed {
    let row = [
        Value::from(attempt.number),
        attempt.stamp.as_deref().map_or(Value::Null, text),
        text(&attempt.now),
        text(attempt.ground.word()),
        text(&attempt.begun),
        attempt.table_id.as_deref().map_or(Value::Null, text),
    ];
    Ok(change.put(ATTEMPT, &row)?)
}

pub(super) fn chunks_done(
    change: &mut Change<'_>,
    attempt: u32,
    done: &[ChunkDone<'_>],
) -> Changed {
    let finished = clock();
    for done in done {
        let (pass, chunk) = (done.pass, done.chunk);
        let key = [count(pass), count(chunk)];
        let Some(range) = change.find(CHUNK, &key, |row| row.get::<_, Value>("range"))? else {
            return Err(Fault::State(StateError::Unplanned { pass, chunk }));
        };
        let [pass, chunk] = key;
        let attempt = Value::from(attempt);
        let row = [
            pass,
            chunk,
            range,
            attempt,
            text(done.books_json),
            text(&finished),
        ];
        change.put(CHUNK, &row)?;
        for (name, extent) in done.annexes {
            let length = Value::from(i64::try_from(extent.length).unwrap_or(i64::MAX));
            change.put(ANNEX, &[text(name), length, text(&extent.tail)])?;
        }
    }
    Ok(())
}

pub(super) fn forget_annexes(change: &mut Change<'_>) -> Changed {
    Ok(change.clear(ANNEX)?)
}

pub(super) fn note_table(change: &mut Change<'_>, attempt: u32, id: &str) -> Changed {
    let key = [Value::from(attempt)];
    let found = change.find(ATTEMPT, &key, |row| {
        let values = (0..5).map(|column| row.get::<_, Value>(column));
        values.collect::<Result<Vec<Value>, _>>()
    })?;
    if let Some(mut row) = found {
        row.push(text(id));
        change.put(ATTEMPT, &row)?;
    }
    Ok(())
}

pub(super) fn finish(
    change: &mut Change<'_>,
    ending: Ending,
    selection: Option<&Selection>,
) -> Changed {
    change.put(WORD, &[text(ENDING), text(ending.word())])?;
    selection.map_or(Ok(()), |selection| keep(change, selection))
}

pub(super) fn earlier(store: &Store) -> Result<Earlier, StateError> {
    let word = format!("select value from word where name = '{ENDING}'");
    let ending = store.read(&word, |row| row.get::<_, String>(0))?;
    Ok(Earlier {
        attempts: store.read("select * from attempt order by number", attempt)?,
        passes: store.read("select name from pass order by number", |row| row.get(0))?,
        annexes: store.read("select * from annex order by name", annex)?,
        ending: ending.first().map(|word| Ending::read(word)),
    })
}

pub(super) fn identity(store: &Store) -> Result<Identity, StateError> {
    let facts = store.read(
        "select name, value, shown from fact order by number",
        |row| {
            Ok(Fact {
                name: row.get(0)?,
                value: row.get(1)?,
                shown: row.get(2)?,
            })
        },
    )?;
    Ok(facts.into_iter().collect())
}

pub(super) fn selections(store: &Store) -> Result<Vec<Selection>, StateError> {
    store.read(
        "select place, selection from selection order by place",
        |row| {
            Ok(Selection {
                place: row.get(0)?,
                json: row.get(1)?,
            })
        },
    )
}

pub(super) fn chunks(store: &Store) -> Result<Vec<Chunk>, StateError> {
    store.read("select * from chunk order by pass, number", |row| {
        let attempt: Option<u32> = row.get("attempt")?;
        let done = attempt.map(|attempt| -> rusqlite::Result<Done> {
            Ok(Done {
                attempt,
                books: row.get("books")?,
                finished: row.get("finished")?,
            })
        });
        Ok(Chunk {
            pass: row.get("pass")?,
            chunk: row.get("number")?,
            range: row.get("range")?,
            done: done.transpose()?,
        })
    })
}

fn attempt(row: &Row<'_>) -> rusqlite::Result<Attempt> {
    Ok(Attempt {
        number: row.get("number")?,
        stamp: row.get("stamp")?,
        now: row.get("now")?,
        ground: Ground::read(&row.get::<_, String>("ground")?),
        begun: row.get("begun")?,
        table_id: row.get("table_id")?,
    })
}

fn annex(row: &Row<'_>) -> rusqlite::Result<(String, Extent)> {
    let extent = Extent {
        length: row.get("length")?,
        tail: row.get("tail")?,
    };
    Ok((row.get("name")?, extent))
}

fn keep(change: &mut Change<'_>, selection: &Selection) -> Changed {
    Ok(change.put(SELECTION, &[text(&selection.place), text(&selection.json)])?)
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn count(number: usize) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}
