//! Cuts tables: by the rowid, or by the primary key where that takes its place.

use async_trait::async_trait;
use dynafold_relational::catalog::TableName;
use dynafold_relational::scan::{Range, RangeKey, Scan};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Row as _};

use super::decode::{Stored, stored};
use super::scan::{UTF8, relation_name};
use super::{Sqlite, checked};
use crate::literal::{RangeLiteral, is_number};
use crate::range::{Cutter, KeyColumnKind, RangeProbe};
use crate::{Result, statement};

#[async_trait]
impl RangeProbe for Sqlite {
    async fn ranges(&mut self, table: &TableName, rows: u64) -> Result<Vec<Range>> {
        let cutter = cutter(&mut self.connection, table).await;
        match checked(&table.name, cutter)? {
            Some(cutter) => cutter.cut(self, rows).await,
            None => Ok(Vec::new()),
        }
    }

    async fn row(&mut self, sql: String, _: &[KeyColumnKind]) -> Result<Option<Vec<String>>> {
        let row = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_optional(&mut self.connection);
        let row = row
            .await
            .and_then(|row| row.as_ref().map_or(Ok(None), range_values));
        checked("the keys", row)
    }

    async fn is_indexed(&mut self, part: &Scan) -> Result<bool> {
        let found = finds_children(&mut self.connection, part).await;
        checked(relation_name(&part.from), found)
    }
}

/// Cuts by what a table's rows are ordered by in the file.
async fn cutter<'t>(
    connection: &mut SqliteConnection,
    table: &'t TableName,
) -> sqlx::Result<Option<Cutter<'t>>> {
    let parts = sqlx::query_as(include_str!("sql/key.sql")).bind(&table.name);
    let parts: Vec<(bool, bool, Option<String>, Option<i64>)> =
        parts.fetch_all(&mut *connection).await?;
    let Some(&(without_rowid, shadowed, _, descends)) = parts.first() else {
        return Ok(None);
    };
    let columns: Vec<String> = parts.into_iter().filter_map(|part| part.2).collect();
    let width = columns.len().max(1);
    let (by, kind) = match (without_rowid, descends) {
        // The primary key is the rowid by another name, and stays where the rowid may not.
        (false, None) if columns.len() == 1 => (RangeKey::Key(columns), KeyColumnKind::Integer),
        (false, _) if !shadowed => (RangeKey::Place, KeyColumnKind::Integer),
        (true, Some(0)) => (RangeKey::Key(columns), KeyColumnKind::Text),
        _ => return Ok(None),
    };
    let cutter = Cutter {
        dialect: &UTF8,
        table,
        kinds: vec![kind; width],
        by,
    };
    // A step must not sort the table.
    let plan = plan(connection, &cutter.next_bound(None, 1)).await?;
    let sorts = plan.iter().any(|line| line.contains("TEMP B-TREE"));
    Ok((!sorts).then_some(cutter))
}

async fn plan(connection: &mut SqliteConnection, sql: &str) -> sqlx::Result<Vec<String>> {
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
    let rows = sqlx::query(explain).persistent(false).fetch_all(connection);
    rows.await?.iter().map(|row| row.try_get(3)).collect()
}

/// Whether a range's children are looked up along an index.
async fn finds_children(connection: &mut SqliteConnection, part: &Scan) -> sqlx::Result<bool> {
    let mut children = Vec::new();
    if !part.embedded_tables(&mut children) {
        return Ok(false);
    }
    if children.is_empty() {
        return Ok(true);
    }
    let plan = plan(connection, &statement(&UTF8, part)).await?;
    Ok(plan.iter().all(|line| {
        let whole = line
            .strip_prefix("SCAN ")
            .or(line.strip_prefix("MATERIALIZE "));
        let made = line.contains("AUTOMATIC");
        !made && whole.is_none_or(|what| !children.iter().any(|child| names(what, child)))
    }))
}

/// Whether a line of a plan is about this table, or about rows that were put together before.
fn names(what: &str, child: &str) -> bool {
    let rest = what.strip_prefix(child);
    let word = what.split(' ').next().unwrap_or_default();
    let node = word
        .strip_prefix('e')
        .is_some_and(|rest| rest.parse::<usize>().is_ok());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) || (node && word != "e0")
}

/// A row's values as a range says them.
fn range_values(row: &SqliteRow) -> sqlx::Result<Option<Vec<String>>> {
    let values = (0..row.len()).map(|index| {
        let value = stored(row.try_get_raw(index)?).map_err(sqlx::Error::Decode)?;
        Ok(match value {
            Stored::Null => None,
            Stored::Integer(integer) => Some(integer.to_string()),
            // The shortest digits that are read back as the same; infinity has none.
            Stored::Real(real) => Some(format!("{real:e}")).filter(|digits| is_number(digits)),
            Stored::Text(bytes) => std::str::from_utf8(bytes).ok().map(RangeLiteral::text),
            Stored::Blob(bytes) => Some(RangeLiteral::bytes(bytes)),
        })
    });
    values.collect()
}
