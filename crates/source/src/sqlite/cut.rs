//! Cuts tables: by the rowid, or by the primary key where that takes its place.

use async_trait::async_trait;
use dynafold_relational::catalog::TableName;
use dynafold_relational::scan::{Range, RangeKey, Relation, Scan};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Row as _};

use super::decode::{Stored, stored};
use super::scan::{UTF8, object};
use super::{Sqlite, fault};
use crate::literal::{Literal, is_number};
use crate::range::{Cutter, KeyColumnKind, RangeProbe};
use crate::{Result, statement};

/// Cuts a scan's table.
pub(super) async fn cut(source: &mut Sqlite, scan: &Scan, rows: u64) -> Result<Vec<Range>> {
    let Relation::Table(table) = &scan.from else {
        return Ok(Vec::new());
    };
    if scan.limit.is_some() {
        return Ok(Vec::new());
    }
    let key = key(&mut source.connection, table).await;
    let key = key.map_err(|cause| fault(object(&scan.from), cause))?;
    let Some((by, kinds)) = key else {
        return Ok(Vec::new());
    };
    let cutter = Cutter {
        dialect: &UTF8,
        table,
        by,
        kinds,
    };
    let sorts = sorts(&mut source.connection, cutter.step(None, rows.max(1))).await;
    if sorts.map_err(|cause| fault(object(&scan.from), cause))? {
        return Ok(Vec::new());
    }
    let ranges = cutter.cut(source, rows).await?;
    let middle = ranges.get(ranges.len() / 2).filter(|_| ranges.len() > 1);
    let Some(middle) = middle.filter(|_| scan.embeds().next().is_some()) else {
        return Ok(ranges);
    };
    let found = finds_children(&mut source.connection, scan, middle).await;
    let found = found.map_err(|cause| fault(object(&scan.from), cause))?;
    Ok(if found { ranges } else { Vec::new() })
}

/// What a table's rows are ordered by in the file.
async fn key(
    connection: &mut SqliteConnection,
    table: &TableName,
) -> sqlx::Result<Option<(RangeKey, Vec<KeyColumnKind>)>> {
    let found = sqlx::query(include_str!("sql/place.sql")).bind(&table.name);
    let Some(found) = found.fetch_optional(&mut *connection).await? else {
        return Ok(None);
    };
    if found.try_get::<String, _>(0)? != "table" {
        return Ok(None);
    }
    let has_rowid = found.try_get::<i64, _>(1)? == 0;
    let shadowed = found.try_get::<i64, _>(2)? > 0;
    let parts = sqlx::query(include_str!("sql/key.sql")).bind(&table.name);
    let parts = parts.fetch_all(connection).await?;
    let mut columns = Vec::new();
    let mut descends = None;
    for part in &parts {
        columns.push(part.try_get::<String, _>(0)?);
        descends = part.try_get::<Option<i64>, _>(2)?;
    }
    Ok(match (has_rowid, descends) {
        // The primary key is the rowid by another name, and stays where the rowid may not.
        (true, None) if columns.len() == 1 => {
            Some((RangeKey::Key(columns), vec![KeyColumnKind::Integer]))
        }
        (true, _) if !shadowed => Some((RangeKey::Place, vec![KeyColumnKind::Integer])),
        (false, Some(0)) => {
            let kinds = columns.iter().map(|_| KeyColumnKind::Text).collect();
            Some((RangeKey::Key(columns), kinds))
        }
        _ => None,
    })
}

/// Whether SQLite would sort for this query.
async fn sorts(connection: &mut SqliteConnection, sql: String) -> sqlx::Result<bool> {
    let plan = plan(connection, &sql).await?;
    Ok(plan.iter().any(|line| line.contains("TEMP B-TREE")))
}

async fn plan(connection: &mut SqliteConnection, sql: &str) -> sqlx::Result<Vec<String>> {
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
    let rows = sqlx::query(explain).persistent(false).fetch_all(connection);
    rows.await?.iter().map(|row| row.try_get(3)).collect()
}

/// Whether a range's children are looked up along an index.
async fn finds_children(
    connection: &mut SqliteConnection,
    scan: &Scan,
    range: &Range,
) -> sqlx::Result<bool> {
    let mut part = scan.clone();
    part.range = Some(range.clone());
    let mut children = Vec::new();
    if !scan.embedded_tables(&mut children) {
        return Ok(false);
    }
    let plan = plan(connection, &statement(&UTF8, &part)).await?;
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

#[async_trait]
impl RangeProbe for Sqlite {
    async fn row(&mut self, sql: String, _: &[KeyColumnKind]) -> Result<Option<Vec<String>>> {
        let row = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_optional(&mut self.connection);
        let row = row
            .await
            .and_then(|row| row.as_ref().map_or(Ok(None), range_values));
        row.map_err(|cause| fault("the keys".to_owned(), cause))
    }
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
            Stored::Text(bytes) => std::str::from_utf8(bytes).ok().map(Literal::text),
            Stored::Blob(bytes) => Some(Literal::bytes(bytes)),
        })
    });
    values.collect()
}
