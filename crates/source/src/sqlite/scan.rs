//! How SQLite writes SQL, and rows of which it is said what disagrees with their declared types.

use dynafold_relational::catalog::{DataType, Dbms};
use dynafold_relational::scan::{Range, Relation, Scan};
use dynafold_relational::value::Value;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::decode::{decode, stored};
use crate::Dialect;
use crate::layout::{OutputColumn, ScanLayout};

/// SQLite's SQL, for a file in UTF-8 or in UTF-16. On the way from UTF-16 to UTF-8 half a surrogate pair would
/// become another character together with what follows; alone at the end it becomes what is no UTF-8.
#[derive(Debug, Clone, Copy)]
pub(super) struct SqliteDialect {
    pub(super) is_utf16: bool,
}

/// What counts where no value is read.
pub(super) const UTF8: SqliteDialect = SqliteDialect { is_utf16: false };

impl Dialect for SqliteDialect {
    fn dbms(&self) -> Dbms {
        Dbms::Sqlite
    }

    fn shares_columns(&self) -> bool {
        true
    }

    fn condition(&self, condition: &str, plain: bool) -> String {
        let _ = plain;
        format!("({}\n)", in_backquotes(condition))
    }

    fn expression(&self, column: &str, data_type: &DataType) -> String {
        let read = match data_type {
            // A document may be stored in SQLite's binary form, which only SQLite reads. What is
            // neither text nor that form comes as it is stored.
            DataType::Json => format!(
                "CASE WHEN typeof({column}) = 'blob' AND json_valid({column}, 8) \
                 THEN json({column}) ELSE {column} END"
            ),
            _ => column.to_owned(),
        };
        if !self.is_utf16 {
            return read;
        }
        format!(
            "CASE WHEN typeof({column}) = 'text' AND replace({column}, 'x', 'x') <> {column} COLLATE BINARY \
             THEN CAST(x'D8D8' AS TEXT) ELSE {read} END"
        )
    }
}

/// Writes the names in double quotes in backquotes: SQLite takes a name in double quotes that is no column for a text, and
/// one in backquotes for a column that is missing.
pub(super) fn in_backquotes(sql: &str) -> String {
    let mut written = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let (token, after) = rest.split_at(token_len(rest, first));
        match token
            .strip_prefix('"')
            .and_then(|name| name.strip_suffix('"'))
        {
            Some(name) => {
                let name = name.replace("\"\"", "\"").replace('`', "``");
                written.extend(["`", &name, "`"]);
            }
            None => written.push_str(token),
        }
        rest = after;
    }
    written
}

/// Bytes of what comes first: something in quotes, a comment, or one character. What is not ended goes to the end.
fn token_len(sql: &str, first: char) -> usize {
    let to = |start: usize, end: &str| {
        let found = sql.get(start..).and_then(|text| text.find(end));
        found.map_or(sql.len(), |at| start + at + end.len())
    };
    match first {
        '"' => {
            let mut end = to(1, "\"");
            while sql.get(end..).is_some_and(|rest| rest.starts_with('"')) {
                end = to(end + 1, "\"");
            }
            end
        }
        // A quote within is doubled: two of them follow one another.
        '\'' => to(1, "'"),
        '`' => to(1, "`"),
        '[' => to(1, "]"),
        '-' if sql.starts_with("--") => to(2, "\n"),
        '/' if sql.starts_with("/*") => to(2, "*/"),
        other => other.len_utf8(),
    }
}

/// Values that were not as their column's declared type says, counted for each column and each part
/// of the table.
#[derive(Debug, Default)]
pub(super) struct Disagreements(Vec<Disagreement>);

#[derive(Debug, Default)]
struct Disagreement {
    object: String,
    column: String,
    /// What the declared type says.
    kind: &'static str,
    /// The part of the base relation that was read.
    range: Option<Range>,
    count: u64,
}

impl Disagreement {
    /// Whether both are of one column.
    fn is_of(&self, other: &Self) -> bool {
        self.column == other.column && self.object == other.object
    }
}

impl Disagreements {
    /// Starts counting for a scan's outputs and forgets what an earlier scan found in the same columns
    /// of the same part: keys are proved by reading what is loaded after that. Returns the index of
    /// the first column's counter.
    pub(super) fn start(&mut self, scan: &Scan) -> usize {
        let range = scan.range.as_ref();
        let counter = |output: &OutputColumn<'_>| {
            let Some((scan, join, name)) = output.column else {
                return Disagreement::default();
            };
            let parent = join.and_then(|join| scan.joins.get(join));
            Disagreement {
                object: parent
                    .map_or_else(|| relation_name(&scan.from), |join| join.table.name.clone()),
                column: name.to_owned(),
                kind: output.data_type.family().name(),
                range: range.cloned(),
                count: 0,
            }
        };
        let outputs = ScanLayout::new(scan).outputs;
        let fresh: Vec<Disagreement> = outputs.iter().map(counter).collect();
        self.0.retain(|old| {
            let again = |new: &Disagreement| new.is_of(old) && new.range == old.range;
            old.count > 0 && !fresh.iter().any(again)
        });
        let first = self.0.len();
        self.0.extend(fresh);
        first
    }

    /// Reads a value of a scan's row, and counts it in this counter where it is not as declared.
    pub(super) fn cell(
        &mut self,
        row: &SqliteRow,
        column: usize,
        data_type: &DataType,
        counter: usize,
    ) -> sqlx::Result<(Value, usize)> {
        let (value, bytes, agrees) = read(row, column, data_type)?;
        if !agrees && let Some(counter) = self.0.get_mut(counter) {
            counter.count += 1;
        }
        Ok((value, bytes))
    }

    /// One line for each column in which something was found. A value that is read several times, for each child of a parent,
    /// counts each time.
    pub(super) fn lines(&self) -> Vec<String> {
        let found = self.0.iter().filter(|column| column.count > 0);
        let mut columns: Vec<(&Disagreement, u64)> = Vec::new();
        for part in found {
            match columns.iter_mut().find(|(column, _)| column.is_of(part)) {
                Some((_, count)) => *count += part.count,
                None => columns.push((part, part.count)),
            }
        }
        columns
            .into_iter()
            .map(|(column, count)| {
                let (are, they) = if count == 1 {
                    ("value read is", "it was")
                } else {
                    ("values read are", "they were")
                };
                format!(
                    "column `{}` of {}: {count} {are} not {}, although the column is declared so; {they} read as stored",
                    column.column,
                    column.object,
                    column.kind,
                )
            })
            .collect()
    }
}

/// A relation as messages name it.
pub(super) fn relation_name(from: &Relation) -> String {
    match from {
        Relation::Table(name) => name.name.clone(),
        Relation::Query(_) => "the mapping's query".to_owned(),
    }
}

/// Reads a value, and says about how many bytes it has.
pub(super) fn cell(
    row: &SqliteRow,
    at: usize,
    data_type: &DataType,
) -> sqlx::Result<(Value, usize)> {
    read(row, at, data_type).map(|(value, bytes, _)| (value, bytes))
}

/// Reads a value, says its bytes, and whether it is as its type says.
fn read(row: &SqliteRow, at: usize, data_type: &DataType) -> sqlx::Result<(Value, usize, bool)> {
    let stored = stored(row.try_get_raw(at)?).map_err(sqlx::Error::Decode)?;
    let (value, agrees) = decode(stored, data_type);
    Ok((value, stored.size(), agrees))
}
