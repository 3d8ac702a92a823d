//! Reads the schema of a SQLite file.
//!
//! Each table is asked for by itself: the pragmas fail for a view whose table is gone and for a
//! virtual table whose module is not built in, and the rest of the schema must not go with them.
//!
//! A primary key holds NULL, any number of times, unless it is the rowid itself (then it has no index of
//! its own: `INTEGER PRIMARY KEY DESC` has one), or the table is STRICT or WITHOUT ROWID (then SQLite
//! says NOT NULL itself). A virtual table keeps what its module likes: its keys are none.

use std::path::Path;

use dynafold_relational::catalog::{
    Catalog, Check, Column, DataType, Dbms, Enforcement, ForeignKey, Index, ReferentialAction,
    Table, TableKind, TableName, Trigger, UniqueKey,
};
use dynafold_sql::definition;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Column as _, Executor as _, Row as _, SqlSafeStr as _, Statement as _};

use super::super::Dialect as _;
use super::decode::data_type;
use super::scan::{UTF8, in_backquotes};
use crate::dialect::alone;

/// The one schema: attached databases are none of ours.
const SCHEMA: &str = "main";
/// The collation that compares texts by their bytes.
const BINARY: &str = "BINARY";
/// Stands for an expression or a collation that SQLite does not tell.
const UNKNOWN: &str = "unknown";

pub(super) async fn read(connection: &mut SqliteConnection, file: &Path) -> sqlx::Result<Catalog> {
    let version = sqlx::query_scalar("SELECT sqlite_version()");
    let version = version.fetch_one(&mut *connection).await?;
    let objects = sqlx::query_as(include_str!("sql/objects.sql"));
    let objects: Vec<(String, String, Option<String>)> =
        objects.fetch_all(&mut *connection).await?;
    let mut tables = Vec::new();
    let mut notices = Vec::new();
    for (name, word, sql) in objects {
        let kind = match word.as_str() {
            "view" => TableKind::View,
            _ => TableKind::Table,
        };
        let mut table = Table::new(table_name(name), kind);
        let sql = sql.unwrap_or_default();
        if let Err(error) = read_table(connection, &mut table, &sql).await {
            // SQLite's words name tables and columns, never values.
            let why = error
                .as_database_error()
                .map_or_else(|| error.to_string(), |error| error.message().to_owned());
            notices.push(format!("`{}` cannot be read: {why}", table.name.name));
            table.readable = false;
        }
        if word == "virtual" {
            table.primary_key.clear();
            table.columns.iter_mut().for_each(|c| c.nullable = true);
        }
        tables.push(table);
    }
    resolve_parents(&mut tables);
    read_statistics(connection, &mut tables).await?;
    Ok(Catalog {
        dbms: Dbms::Sqlite,
        version,
        database: file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        search_path: vec![SCHEMA.to_owned()],
        own_functions: Vec::new(),
        own_operators: false,
        tables,
        notices,
    })
}

/// A row of `sql/columns.sql`.
type ColumnRow = (String, String, bool, Option<String>, i64, i64, bool);

/// A table's columns without their collations, and the columns of its primary key in their order.
type ColumnsAndKey = (Vec<Column>, Vec<String>);

async fn read_columns(
    connection: &mut SqliteConnection,
    table: &str,
) -> sqlx::Result<ColumnsAndKey> {
    let query = sqlx::query_as(include_str!("sql/columns.sql")).bind(table);
    let mut columns = Vec::new();
    let mut primary_key = Vec::new();
    for row in query.fetch_all(connection).await? {
        let (name, declared, not_null, default, place, hidden, is_rowid): ColumnRow = row;
        let rowid = place > 0 && is_rowid;
        if place > 0 {
            primary_key.push((place, name.clone()));
        }
        let type_name = declared.trim_end_matches("GENERATED ALWAYS").trim_end();
        columns.push(Column {
            // No pragma tells the expression.
            generated: matches!(hidden, 2 | 3).then(|| UNKNOWN.to_owned()),
            nullable: !not_null && !rowid,
            default,
            rowid,
            ..Column::new(name, type_name.to_owned(), data_type(&declared))
        });
    }
    primary_key.sort();
    let primary_key = primary_key.into_iter().map(|(_, name)| name);
    Ok((columns, primary_key.collect()))
}

/// Says how texts compare in the columns of a table.
async fn read_collations(connection: &mut SqliteConnection, table: &mut Table) -> sqlx::Result<()> {
    let encoding = sqlx::query_scalar("PRAGMA encoding").fetch_one(&mut *connection);
    let encoding: String = encoding.await?;
    let names = collations(connection, table).await;
    for (column, name) in table.columns.iter_mut().zip(names) {
        // Text may stand in a column of any type, and then its collation compares it.
        column.insensitive = name != BINARY;
        column.collation = match column.data_type {
            _ if column.insensitive => Some(name),
            DataType::Text { .. } | DataType::Dynamic if encoding != "UTF-8" => {
                Some(format!("{BINARY} of {encoding}"))
            }
            _ => None,
        };
        // Half a surrogate pair is no character of UTF-8: all of them are read as one.
        column.ambiguous_charset = (encoding != "UTF-8").then(|| encoding.clone());
    }
    Ok(())
}

/// The collations of a table's columns. Those that an application brings along are not there, so that SQLite
/// refuses a statement that needs one, and names it.
async fn collations(connection: &mut SqliteConnection, table: &Table) -> Vec<String> {
    let columns = table.columns.iter().map(|column| column.name.as_str());
    let columns: Vec<&str> = columns.collect();
    if let Ok(names) = compared(connection, &table.name, &columns).await {
        return names;
    }
    let mut names = Vec::new();
    for column in columns {
        names.extend(match compared(connection, &table.name, &[column]).await {
            Ok(names) => names,
            Err(error) => {
                let message = error.to_string();
                let own = message.split_once("no such collation sequence: ");
                vec![own.map_or(UNKNOWN, |(_, name)| name).to_owned()]
            }
        });
    }
    names
}

/// The collations by which SQLite would compare columns, as its own program for such a query says them: pragmas
/// tell those of indexes alone.
async fn compared(
    connection: &mut SqliteConnection,
    table: &TableName,
    columns: &[&str],
) -> sqlx::Result<Vec<String>> {
    let mut names = vec![UNKNOWN.to_owned(); columns.len()];
    let quoted: Vec<String> = columns.iter().map(|name| UTF8.quote(name)).collect();
    let sql = format!(
        "EXPLAIN SELECT 1 FROM {} GROUP BY {}",
        UTF8.table(table),
        quoted.join(", ")
    );
    let program = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(connection);
    for row in program.await? {
        // Such as `k(2,B,NOCASE)`. What a view compares within itself may look like it.
        let operand = match row.try_get::<&str, _>("opcode")? {
            "Compare" => row.try_get::<String, _>("p4")?,
            _ => continue,
        };
        let key = operand
            .strip_prefix("k(")
            .and_then(|key| key.strip_suffix(')'));
        let parts: Vec<&str> = key.unwrap_or_default().split(',').skip(1).collect();
        if parts.len() != columns.len() {
            continue;
        }
        for (name, part) in names.iter_mut().zip(parts) {
            match part {
                "B" if name == UNKNOWN => BINARY.clone_into(name),
                "B" => {}
                other => other.clone_into(name),
            }
        }
    }
    Ok(names)
}

/// Reads columns, constraints, triggers and the number of rows. `sql`: the statement that created the table or view.
async fn read_table(
    connection: &mut SqliteConnection,
    table: &mut Table,
    sql: &str,
) -> sqlx::Result<()> {
    (table.columns, table.primary_key) = read_columns(connection, &table.name.name).await?;
    let is_generated = |column: &&mut Column| column.generated.is_some();
    let mut expressions = None;
    for column in table.columns.iter_mut().filter(is_generated) {
        let expressions = expressions.get_or_insert_with(|| definition::generated_columns(sql));
        let own = |(name, _): &&(String, String)| name.eq_ignore_ascii_case(&column.name);
        if let Some((_, expression)) = expressions.iter().find(own) {
            column.generated = Some(expression.clone());
        }
    }
    read_collations(connection, table).await?;
    read_indexes(connection, table).await?;
    read_foreign_keys(connection, table).await?;
    if table.kind == TableKind::Table {
        table.checks = definition::check_constraints(sql).map(|checks| {
            let checks = checks.into_iter().map(|(name, expression)| Check {
                name: name.unwrap_or_default(),
                expression,
                enforcement: Enforcement::Enforced,
            });
            checks.collect()
        });
        for check in table.checks.iter().flatten() {
            let listed = definition::allowed_values(&check.expression, Dbms::Sqlite);
            let Some((name, values)) = listed else {
                continue;
            };
            let mut columns = table.columns.iter_mut();
            if let Some(column) = columns.find(|column| column.name.eq_ignore_ascii_case(&name)) {
                column.list(values);
            }
        }
        let names = sqlx::query_scalar(include_str!("sql/triggers.sql")).bind(&table.name.name);
        let names: Vec<String> = names.fetch_all(&mut *connection).await?;
        let triggers = names.into_iter().map(|name| Trigger {
            name,
            event: String::new(),
        });
        table.triggers = Some(triggers.collect());
        let sql = format!("SELECT count(*) FROM {}", UTF8.table(&table.name));
        let query = sqlx::query_scalar(AssertSqlSafe(sql)).persistent(false);
        let count: i64 = query.fetch_one(connection).await?;
        table.estimated_rows = u64::try_from(count).ok();
    }
    Ok(())
}

/// Adds how many different values columns have, where ANALYZE has run.
async fn read_statistics(
    connection: &mut SqliteConnection,
    tables: &mut [Table],
) -> sqlx::Result<()> {
    let is_there =
        sqlx::query_scalar("SELECT count(*) FROM main.sqlite_schema WHERE name = 'sqlite_stat1'");
    let is_there: i64 = is_there.fetch_one(&mut *connection).await?;
    if is_there == 0 {
        return Ok(());
    }
    let rows = sqlx::query_as(include_str!("sql/statistics.sql")).fetch_all(connection);
    let rows: Vec<(String, String, String)> = rows.await?;
    for (table, column, counted) in rows {
        let mut figures = counted.split(' ').map_while(|figure| figure.parse().ok());
        let (Some(rows), Some(alike)) = (figures.next(), figures.next()) else {
            continue;
        };
        let (rows, alike): (u64, u64) = (rows, alike);
        // The average is rounded, and so is this.
        let distinct = (rows + alike / 2).checked_div(alike);
        let mut tables = tables.iter_mut();
        let found = tables.find(|found| found.name.name == table);
        if let Some(column) = found.and_then(|table| table.column_mut(&column)) {
            column.distinct = distinct.filter(|values| *values > 0);
        }
    }
    Ok(())
}

/// A row of `sql/indexes.sql`.
type IndexRow = (
    String,
    bool,
    String,
    bool,
    i64,
    Option<String>,
    Option<String>,
    String,
);

async fn read_indexes(connection: &mut SqliteConnection, table: &mut Table) -> sqlx::Result<()> {
    let query = sqlx::query_as(include_str!("sql/indexes.sql")).bind(&table.name.name);
    let rows: Vec<IndexRow> = query.fetch_all(connection).await?;
    for parts in rows.chunk_by(|a, b| a.0 == b.0) {
        let Some((name, unique, origin, partial, .., sql, _)) = parts.first() else {
            continue;
        };
        let terms = sql.as_deref().map_or(Vec::new(), definition::index_terms);
        let (mut is_plain, mut coarse) = (!partial, false);
        let mut columns = Vec::new();
        for (at, (.., cid, column, _, collation)) in parts.iter().enumerate() {
            let own = column.as_deref().and_then(|name| table.column(name));
            let of_column = own.filter(|own| own.insensitive);
            let of_column_or_bytes = of_column.and_then(|own| own.collation.as_deref());
            let differs = !of_column_or_bytes
                .unwrap_or(BINARY)
                .eq_ignore_ascii_case(collation);
            is_plain &= column.is_some() && !(of_column.is_some() && differs);
            coarse |= of_column.is_none() && differs;
            columns.push(match (column, terms.get(at)) {
                (Some(column), _) => column.clone(),
                (None, _) if *cid == -1 => "rowid".to_owned(),
                (None, term) => term.cloned().unwrap_or_else(|| UNKNOWN.to_owned()),
            });
        }
        if origin != "pk" {
            let key = is_plain.then(|| UniqueKey {
                name: name.clone(),
                columns: columns.clone(),
                coarse,
                ..UniqueKey::default()
            });
            let condition = || sql.as_deref().and_then(definition::index_condition);
            let index = Index {
                name: name.clone(),
                columns,
                unique: *unique,
                condition: partial.then(|| condition().unwrap_or_else(|| UNKNOWN.to_owned())),
            };
            table.add_index(index, key);
        } else if is_plain {
            table.coarse_primary_key = coarse;
        } else {
            table.primary_key.clear();
        }
    }
    Ok(())
}

async fn read_foreign_keys(
    connection: &mut SqliteConnection,
    table: &mut Table,
) -> sqlx::Result<()> {
    let query = sqlx::query_as(include_str!("sql/foreign_keys.sql")).bind(&table.name.name);
    let rows: Vec<(i64, String, String, Option<String>, String, String)> =
        query.fetch_all(connection).await?;
    for parts in rows.chunk_by(|a, b| a.0 == b.0) {
        let columns: Vec<String> = parts.iter().map(|part| part.2.clone()).collect();
        let Some((_, referenced, _, _, on_delete, on_update)) = parts.first() else {
            continue;
        };
        table.foreign_keys.push(ForeignKey {
            name: format!("{}_{}_fkey", table.name.name, columns.join("_")),
            columns,
            references: table_name(referenced.clone()),
            referenced_columns: parts.iter().filter_map(|part| part.3.clone()).collect(),
            on_delete: ReferentialAction::read(on_delete),
            on_update: Some(ReferentialAction::read(on_update)),
            // A connection decides for all of its keys.
            enforcement: Enforcement::Enforced,
        });
    }
    table.foreign_keys.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(())
}

/// Writes each foreign key's parent as the parent itself is written: SQLite compares names without
/// regard to case, and leaves out the columns where they are the parent's primary key.
fn resolve_parents(tables: &mut [Table]) {
    let parents = tables.to_vec();
    for key in tables.iter_mut().flat_map(|table| &mut table.foreign_keys) {
        let name = &key.references.name;
        let mut named = parents.iter();
        let Some(parent) = named.find(|parent| parent.name.name.eq_ignore_ascii_case(name)) else {
            continue;
        };
        key.references = parent.name.clone();
        if key.referenced_columns.is_empty() {
            key.referenced_columns.clone_from(&parent.primary_key);
        }
        for referenced in &mut key.referenced_columns {
            let mut names = parent.columns.iter().map(|column| &column.name);
            if let Some(name) = names.find(|name| name.eq_ignore_ascii_case(referenced)) {
                referenced.clone_from(name);
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

/// The columns of a query that a scan will read. SQLite tells the base column where there is one, and that column's
/// declared type counts; what an expression gives is known only when the row is read. It renames columns of the same name.
pub(super) async fn describe(
    connection: &mut SqliteConnection,
    sql: &str,
) -> sqlx::Result<Vec<Column>> {
    let wrapped = format!("SELECT * FROM ({}\n)", alone(sql));
    describe_answer(connection, wrapped).await
}

/// Has SQLite prepare the query and reads what its columns are. A name in double quotes must be one.
pub(super) async fn describe_answer(
    connection: &mut SqliteConnection,
    sql: String,
) -> sqlx::Result<Vec<Column>> {
    let names = AssertSqlSafe(in_backquotes(&sql)).into_sql_str();
    connection.prepare(names).await?;
    let sql = AssertSqlSafe(sql).into_sql_str();
    let statement = connection.prepare(sql).await?;
    let mut columns = Vec::new();
    for column in statement.columns() {
        let name = column.name().to_owned();
        let mut described = Column::new(name, String::new(), DataType::Dynamic);
        if let Some(origin) = column.origin().table_column() {
            let (of_table, _) = read_columns(connection, &origin.table).await?;
            let base = of_table.into_iter().find(|c| *c.name == *origin.name);
            if let Some(base) = base {
                described.declared = base.declared;
                described.data_type = base.data_type;
            }
        }
        columns.push(described);
    }
    Ok(columns)
}
