//! Reads the schema of a SQLite file.
//!
//! Each table is asked for by itself: the pragmas fail for a view whose table is gone and for a
//! virtual table whose module is not built in, and the rest of the schema must not go with them.
//!
//! A primary key holds NULL, any number of times, unless it is the rowid itself (then it has no index of
//! its own: `INTEGER PRIMARY KEY DESC` has one), or the table is STRICT or WITHOUT ROWID (then SQLite
//! says NOT NULL itself). A virtual table keeps what its module likes: its keys are none.

use std::path::Path;

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Column as _, Executor as _, Row as _, SqlSafeStr as _, Statement as _};

use super::super::Dialect as _;
use super::decode::data_type;
use super::scan::SqliteDialect;
use crate::catalog::{
    Catalog, Column, DataType, Dbms, ForeignKey, Index, Key, Table, TableKind, TableName,
};

/// The one schema: attached databases are none of ours.
const SCHEMA: &str = "main";

/// Reads everything.
pub(super) async fn read(
    connection: &mut SqliteConnection,
    file: &Path,
) -> Result<Catalog, sqlx::Error> {
    let row = sqlx::query("SELECT sqlite_version()").fetch_one(&mut *connection);
    let version = text(&row.await?, 0)?;
    let objects = sqlx::query(include_str!("sql/objects.sql"));
    let mut tables = Vec::new();
    let mut notices = Vec::new();
    for object in objects.fetch_all(&mut *connection).await? {
        let kind = if text(&object, 1)? == "view" {
            TableKind::View
        } else {
            TableKind::Table
        };
        let mut table = Table::new(table_name(text(&object, 0)?), kind);
        let sql = text(&object, 2)?;
        let is_virtual = text(&object, 1)? == "virtual";
        if let Err(error) = complete(connection, &mut table, &sql).await {
            // SQLite's words name tables and columns, never values.
            let why = error
                .as_database_error()
                .map_or_else(|| error.to_string(), |error| error.message().to_owned());
            notices.push(format!("`{}` cannot be read: {why}", table.name.name));
            table.readable = false;
        }
        if is_virtual {
            table.primary_key.clear();
            table.columns.iter_mut().for_each(|c| c.nullable = true);
        }
        tables.push(table);
    }
    resolve_parents(&mut tables);
    Ok(Catalog {
        dbms: Dbms::Sqlite,
        version,
        database: file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        search_path: vec![SCHEMA.to_owned()],
        tables,
        notices,
    })
}

/// The columns of a table, and those of its primary key.
pub(super) struct Columns {
    pub(super) columns: Vec<Column>,
    primary_key: Vec<String>,
}

/// Reads one table's columns. `sql` is the text that made it, for the generated columns.
pub(super) async fn columns(
    connection: &mut SqliteConnection,
    table: &str,
    sql: &str,
) -> Result<Columns, sqlx::Error> {
    let encoding = sqlx::query("PRAGMA encoding").fetch_one(&mut *connection);
    let encoding = text(&encoding.await?, 0)?;
    let query = sqlx::query(include_str!("sql/columns.sql")).bind(table);
    let mut columns = Vec::new();
    let mut primary_key = Vec::new();
    for row in query.fetch_all(connection).await? {
        let name = text(&row, 0)?;
        let declared = text(&row, 1)?;
        let place: i64 = row.try_get(4)?;
        let is_rowid = row.try_get::<i64, _>(6)? == 1;
        if place > 0 {
            primary_key.push((place, name.clone()));
        }
        let generated = matches!(row.try_get::<i64, _>(5)?, 2 | 3);
        let data_type = data_type(&declared);
        let is_text = matches!(data_type, DataType::Text { .. } | DataType::Dynamic);
        let collation = collation(sql, &name, &encoding);
        // Text may stand in a column of any type, and then its collation compares it.
        let insensitive = (collation.as_deref()).is_some_and(|name| !name.starts_with("BINARY"));
        columns.push(Column {
            insensitive,
            // Half a surrogate pair is no character of UTF-8: all of them are read as one.
            ambiguous_charset: (encoding != "UTF-8").then(|| encoding.clone()),
            collation: collation.filter(|_| is_text || insensitive),
            generated: generated.then(|| generation_expression(sql, &name)),
            nullable: row.try_get::<i64, _>(2)? == 0 && !(place > 0 && is_rowid),
            default: row.try_get(3)?,
            rowid: place > 0 && is_rowid,
            ..Column::new(
                name,
                declared
                    .trim_end_matches("GENERATED ALWAYS")
                    .trim_end()
                    .to_owned(),
                data_type,
            )
        });
    }
    primary_key.sort();
    Ok(Columns {
        columns,
        primary_key: primary_key.into_iter().map(|(_, name)| name).collect(),
    })
}

/// The collation of a column, where it does not order text by the bytes of UTF-8. That of a view's
/// column is not told.
fn collation(sql: &str, column: &str, encoding: &str) -> Option<String> {
    match collation_name(sql, column) {
        Some(name) if !name.eq_ignore_ascii_case("binary") => Some(name),
        _ if encoding != "UTF-8" => Some(format!("BINARY of {encoding}")),
        _ => None,
    }
}

async fn complete(
    connection: &mut SqliteConnection,
    table: &mut Table,
    sql: &str,
) -> Result<(), sqlx::Error> {
    let found = columns(connection, &table.name.name, sql).await?;
    table.columns = found.columns;
    table.primary_key = found.primary_key;
    read_indexes(connection, table).await?;
    read_foreign_keys(connection, table).await?;
    if table.kind == TableKind::Table {
        let count = format!("SELECT count(*) FROM {}", SqliteDialect.table(&table.name));
        let row = sqlx::raw_sql(AssertSqlSafe(count))
            .fetch_one(connection)
            .await?;
        table.estimated_rows = u64::try_from(row.try_get::<i64, _>(0)?).ok();
    }
    Ok(())
}

async fn read_indexes(
    connection: &mut SqliteConnection,
    table: &mut Table,
) -> Result<(), sqlx::Error> {
    let query = sqlx::query(include_str!("sql/indexes.sql")).bind(&table.name.name);
    let mut indexes: Vec<(Index, bool)> = Vec::new();
    for row in query.fetch_all(connection).await? {
        let column: Option<String> = row.try_get(5)?;
        let own = column.as_deref().and_then(|name| table.column(name));
        let coll = text(&row, 7)?;
        let compares_as_column = own.is_none_or(|own| {
            let name = own.collation.as_deref().unwrap_or_default();
            !own.insensitive || name.eq_ignore_ascii_case(&coll)
        });
        if text(&row, 2)? == "pk" {
            if !compares_as_column {
                table.primary_key.clear();
            }
            continue;
        }
        let name = text(&row, 0)?;
        let sql = text(&row, 6)?;
        if indexes.last().is_none_or(|(index, _)| index.name != name) {
            let plain = row.try_get::<i64, _>(3)? == 0;
            let index = Index {
                name,
                columns: Vec::new(),
                unique: row.try_get::<i64, _>(1)? == 1,
            };
            indexes.push((index, plain));
        }
        let Some((index, plain)) = indexes.last_mut() else {
            continue;
        };
        *plain &= column.is_some() && compares_as_column;
        index.columns.push(column.unwrap_or_else(|| {
            let terms = terms(&sql);
            let term = terms.get(index.columns.len()).copied();
            term.unwrap_or("rowid").to_owned()
        }));
    }
    for (index, plain) in indexes {
        if plain && index.unique {
            table.unique_keys.push(Key {
                name: index.name,
                columns: index.columns,
            });
        } else {
            table.indexes.push(index);
        }
    }
    Ok(())
}

async fn read_foreign_keys(
    connection: &mut SqliteConnection,
    table: &mut Table,
) -> Result<(), sqlx::Error> {
    let query = sqlx::query(include_str!("sql/foreign_keys.sql")).bind(&table.name.name);
    let mut last = None;
    for row in query.fetch_all(connection).await? {
        let id: i64 = row.try_get(0)?;
        if last.replace(id) != Some(id) {
            table.foreign_keys.push(ForeignKey {
                name: String::new(),
                columns: Vec::new(),
                references: table_name(text(&row, 1)?),
                referenced_columns: Vec::new(),
            });
        }
        if let Some(key) = table.foreign_keys.last_mut() {
            key.columns.push(text(&row, 2)?);
            key.referenced_columns
                .extend(row.try_get::<Option<String>, _>(3)?);
        }
    }
    for key in &mut table.foreign_keys {
        key.name = format!("{}_{}_fkey", table.name.name, key.columns.join("_"));
    }
    table.foreign_keys.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(())
}

/// Writes each foreign key's parent as the parent itself is written: SQLite compares names without
/// regard to case, and leaves out the columns where they are the parent's primary key.
fn resolve_parents(tables: &mut [Table]) {
    let parents: Vec<(TableName, Vec<String>, Vec<String>)> = tables
        .iter()
        .map(|table| {
            let columns = table.columns.iter().map(|column| column.name.clone());
            (
                table.name.clone(),
                columns.collect(),
                table.primary_key.clone(),
            )
        })
        .collect();
    for key in tables.iter_mut().flat_map(|table| &mut table.foreign_keys) {
        let same =
            |(name, ..): &&(TableName, _, _)| name.name.eq_ignore_ascii_case(&key.references.name);
        let Some((name, columns, primary_key)) = parents.iter().find(same) else {
            continue;
        };
        key.references = name.clone();
        if key.referenced_columns.is_empty() {
            key.referenced_columns.clone_from(primary_key);
        }
        for referenced in &mut key.referenced_columns {
            if let Some(column) = columns.iter().find(|c| c.eq_ignore_ascii_case(referenced)) {
                referenced.clone_from(column);
            }
        }
    }
}

fn table_name(name: String) -> TableName {
    TableName {
        schema: SCHEMA.to_owned(),
        name,
    }
}

fn text(row: &SqliteRow, index: usize) -> Result<String, sqlx::Error> {
    Ok(row.try_get::<Option<String>, _>(index)?.unwrap_or_default())
}

// Takes apart the text that made a table or an index. SQLite keeps the expressions of generated
// columns and of indexes nowhere else. The text has been parsed by SQLite before, so looking at
// parentheses and commas outside of quotes is enough.

/// The expression of a generated column, which only the table's own text tells.
pub(super) fn generation_expression(sql: &str, column: &str) -> String {
    let definition = definition(sql, column).unwrap_or_default();
    let mut groups = groups(definition).into_iter();
    let expression = groups.find_map(|(start, end)| {
        let before = definition.get(..start)?.trim_end().to_ascii_uppercase();
        before
            .ends_with(" AS")
            .then(|| definition.get(start + 1..end))
            .flatten()
    });
    expression.unwrap_or("unknown").trim().to_owned()
}

/// The collation that a column of a table is declared with, without quotes.
pub(super) fn collation_name(sql: &str, column: &str) -> Option<String> {
    let is_table = sql
        .get(..12)
        .is_some_and(|head| head.eq_ignore_ascii_case("CREATE TABLE"));
    let definition = definition(sql, column).filter(|_| is_table)?;
    let inner = groups(definition);
    let is_outer = |at: usize| inner.iter().all(|(start, end)| at < *start || at > *end);
    let begins = |at: usize| {
        let word = definition.get(at..at + 7);
        let after = definition.get(at + 7..).unwrap_or_default();
        is_outer(at)
            && word.is_some_and(|word| word.eq_ignore_ascii_case("COLLATE"))
            && after.starts_with(char::is_whitespace)
    };
    let (at, _) = outside_quotes(definition).find(|(at, _)| begins(*at))?;
    let rest = definition.get(at + 7..)?.trim_start();
    let quotes = ['"', '\'', '`', '[', ']'];
    let name = rest.split(|c: char| c.is_whitespace() || c == ',').next()?;
    Some(name.trim_matches(quotes).to_owned())
}

/// What a table's text says of one column.
fn definition<'s>(sql: &'s str, column: &str) -> Option<&'s str> {
    let quoted = [
        SqliteDialect.quote(column),
        format!("`{}`", column.replace('`', "``")),
        format!("[{column}]"),
    ];
    terms(sql).into_iter().map(without_comment).find(|term| {
        let starts = |name: &str| {
            let (head, tail) = term.split_at_checked(name.len()).unwrap_or_default();
            head.eq_ignore_ascii_case(name) && tail.starts_with(char::is_whitespace)
        };
        starts(column) || quoted.iter().any(|name| starts(name))
    })
}

/// The text from where it says something.
fn without_comment(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let end = match text.get(..2) {
            Some("--") => "\n",
            Some("/*") => "*/",
            _ => return text,
        };
        text = text.split_once(end).map_or("", |(_, rest)| rest);
    }
}

/// What stands between the commas of the first parentheses: a table's columns, an index's terms.
pub(super) fn terms(sql: &str) -> Vec<&str> {
    let Some(&(start, end)) = groups(sql).first() else {
        return Vec::new();
    };
    let mut terms = Vec::new();
    let (mut depth, mut from) = (0_u32, start + 1);
    for (at, byte) in outside_quotes(sql).filter(|(at, _)| (start + 1..end).contains(at)) {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                terms.extend(sql.get(from..at).map(str::trim));
                from = at + 1;
            }
            _ => {}
        }
    }
    terms.extend(sql.get(from..end).map(str::trim));
    terms
}

/// The outermost pairs of parentheses, by their places.
fn groups(sql: &str) -> Vec<(usize, usize)> {
    let mut groups = Vec::new();
    let mut open = Vec::new();
    for (at, byte) in outside_quotes(sql) {
        match byte {
            b'(' => open.push(at),
            b')' => {
                let start = open.pop();
                groups.extend(start.filter(|_| open.is_empty()).map(|start| (start, at)));
            }
            _ => {}
        }
    }
    groups
}

/// The bytes of a SQL text that stand in no quotes and no comment, with their places.
fn outside_quotes(sql: &str) -> impl Iterator<Item = (usize, u8)> {
    let bytes = sql.as_bytes();
    let mut closing: &[u8] = b"";
    let mut skip_to = 0;
    bytes.iter().enumerate().filter_map(move |(at, &byte)| {
        let rest = bytes.get(at..).unwrap_or_default();
        if at < skip_to {
            return None;
        }
        if !closing.is_empty() {
            if rest.starts_with(closing) {
                skip_to = at + closing.len();
                closing = b"";
            }
            return None;
        }
        closing = match rest {
            [b'\'', ..] => b"'",
            [b'"', ..] => b"\"",
            [b'`', ..] => b"`",
            [b'[', ..] => b"]",
            [b'-', b'-', ..] => b"\n",
            [b'/', b'*', ..] => b"*/",
            _ => return Some((at, byte)),
        };
        skip_to = at + 1;
        None
    })
}

// The columns of a query: SQLite tells the base column where there is one, and that column's
// declared type counts. What an expression gives is known only when the row is read.

/// Describes what a scan will read of the query: SQLite renames columns of the same name.
pub(super) async fn describe(
    connection: &mut SqliteConnection,
    sql: &str,
) -> Result<Vec<Column>, sqlx::Error> {
    let wrapped = format!("SELECT * FROM ({}\n)", sql.trim().trim_end_matches(';'));
    answer(connection, wrapped).await
}

/// Has SQLite prepare the query and reads what its columns are.
pub(super) async fn answer(
    connection: &mut SqliteConnection,
    sql: String,
) -> Result<Vec<Column>, sqlx::Error> {
    let sql = AssertSqlSafe(sql).into_sql_str();
    let statement = connection.prepare(sql).await?;
    let mut columns = Vec::new();
    for column in statement.columns() {
        let name = column.name().to_owned();
        let mut described = Column::new(name, String::new(), DataType::Dynamic);
        if let Some(origin) = column.origin().table_column() {
            let table = self::columns(connection, &origin.table, "").await?;
            let base = table.columns.into_iter().find(|c| *c.name == *origin.name);
            if let Some(base) = base {
                described.declared = base.declared;
                described.data_type = base.data_type;
            }
        }
        columns.push(described);
    }
    Ok(columns)
}

#[cfg(test)]
mod definition_tests {
    use super::*;

    #[test]
    fn the_expression_of_a_generated_column_is_found_in_the_text() {
        let sql = "CREATE TABLE t(a INT, -- AS (no),\n \"b c\" TEXT DEFAULT '),(' GENERATED ALWAYS \
                   AS (a || ')' || (a + 1)) STORED, [d] AS (a), PRIMARY KEY (a))";
        assert_eq!(generation_expression(sql, "b c"), "a || ')' || (a + 1)");
        assert_eq!(generation_expression(sql, "D"), "a");
        assert_eq!(generation_expression(sql, "a"), "unknown");
    }

    #[test]
    fn the_collation_of_a_column_is_found_in_the_text() {
        let sql = "CREATE TABLE t(a TEXT COLLATE NOCASE, \"b c\" TEXT DEFAULT ' collate x' NOT NULL \
                   collate \"RTRIM\" UNIQUE, d TEXT CHECK (d COLLATE NOCASE > 'a'), e TEXT)";
        let of = |column| collation_name(sql, column);
        assert_eq!(of("a").as_deref(), Some("NOCASE"));
        assert_eq!(of("b c").as_deref(), Some("RTRIM"));
        assert_eq!((of("d"), of("e")), (None, None));
        assert_eq!(
            collation_name("CREATE VIEW v AS SELECT (a COLLATE NOCASE)", "a"),
            None
        );
    }

    #[test]
    fn the_terms_of_an_index_are_told_apart() {
        let sql = "CREATE INDEX i ON \"t(\" (a, lower(b, 'x,y') DESC, c) WHERE a IN (1, 2)";
        assert_eq!(terms(sql), ["a", "lower(b, 'x,y') DESC", "c"]);
    }
}
