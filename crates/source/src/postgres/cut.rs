//! Cuts tables, by a key or by their pages.

use async_trait::async_trait;
use dynafold_format::joined;
use dynafold_relational::catalog::TableName;
use dynafold_relational::scan::{Range, RangeKey, Relation, Scan};
use serde::Deserialize;
use serde_json::Value as Json;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _, ValueRef as _};

use super::error::ReadSubject;
use super::{Postgres, PostgresSql, error};
use crate::range::{Cutter, KeyColumnKind, RangeProbe};
use crate::{Dialect as _, Result, statement};

/// The first version that reads a range of `ctid` alone.
const READS_PLACES: i64 = 140_000;
/// Pages that are looked into to see how many rows there are on one.
const PAGES: i64 = 16;

/// Has the planner keep to indexes, as long as the transaction or its savepoint lasts. Every query of
/// ours wants few rows of a table, and its guess of how many would be wrong where the first column of
/// a key says little.
pub(super) const BY_INDEX: &str = "SET LOCAL enable_seqscan TO off;\n";
/// Leaves it to the planner again.
pub(super) const BY_ANY_WAY: &str = "SET LOCAL enable_seqscan TO DEFAULT;\n";
/// The same for a walk along an index.
const IN_ORDER: &str = "SET LOCAL enable_seqscan TO off; SET LOCAL enable_bitmapscan TO off; \
     SET LOCAL enable_sort TO off; SET LOCAL enable_incremental_sort TO off";

/// What `sql/key.sql` says.
#[derive(Deserialize)]
struct KeyFacts {
    kind: String,
    inherited: bool,
    pages: i64,
    version: i64,
    columns: Option<Vec<String>>,
    integers: Option<Vec<bool>>,
}

#[async_trait]
impl RangeProbe for Postgres {
    async fn ranges(&mut self, table: &TableName, rows: u64) -> Result<Vec<Range>> {
        self.open_snapshot().await?;
        self.step_aside().await?;
        let ranges = ranges(self, table, rows).await;
        self.step_back(ranges).await
    }

    async fn row(&mut self, sql: String, _: &[KeyColumnKind]) -> Result<Option<Vec<String>>> {
        self.ask(sql, &ReadSubject::Schema).await
    }

    async fn is_indexed(&mut self, part: &Scan) -> Result<bool> {
        if part.embeds().next().is_none() {
            return Ok(true);
        }
        self.step_aside().await?;
        let found = finds_children(self, part).await;
        self.step_back(found).await
    }
}

async fn ranges(source: &mut Postgres, table: &TableName, rows: u64) -> Result<Vec<Range>> {
    let sql = include_str!("sql/key.sql")
        .replace("{schema}", &PostgresSql.literal(&table.schema))
        .replace("{name}", &PostgresSql.literal(&table.name));
    let facts: Vec<KeyFacts> = source.entries(&sql).await?;
    let Some(facts) = facts.into_iter().next() else {
        return Ok(Vec::new());
    };
    // The keys of a table do not hold over those that inherit from it, nor do its indexes.
    if facts.inherited || !matches!(facts.kind.as_str(), "r" | "p" | "m") {
        return Ok(Vec::new());
    }
    if let (Some(columns), Some(integers)) = (facts.columns, facts.integers) {
        source.execute(IN_ORDER).await?;
        let kind = |integer| {
            if integer {
                KeyColumnKind::Integer
            } else {
                KeyColumnKind::Text
            }
        };
        let cutter = Cutter {
            dialect: &PostgresSql,
            table,
            by: RangeKey::Key(columns),
            kinds: integers.into_iter().map(kind).collect(),
        };
        return cutter.cut(source, rows).await;
    }
    if facts.kind == "p" || facts.version < READS_PLACES {
        return Ok(Vec::new());
    }
    source.execute(BY_INDEX).await?;
    pages(source, table, facts.pages, rows).await
}

/// Cuts a table by its pages, of which the fullest of some says how many rows are on one.
async fn pages(
    source: &mut Postgres,
    table: &TableName,
    pages: i64,
    rows: u64,
) -> Result<Vec<Range>> {
    let from = PostgresSql.table(table);
    let counts = (0..PAGES).map(|nth| {
        let page = pages.saturating_sub(1) * nth / (PAGES - 1);
        format!(
            "SELECT pg_catalog.count(*) FROM {from} WHERE ctid >= '({page},0)' AND ctid < '({},0)'",
            page + 1
        )
    });
    let counts = joined(counts, " UNION ALL ");
    let sql = format!("SELECT pg_catalog.max(n) FROM ({counts}) AS page (n)");
    let whole = Scan::of(Relation::Table(table.clone()), Vec::new());
    let fullest = source.ask(sql, &ReadSubject::Scan(&whole)).await?;
    let fullest = fullest.and_then(|row| row.first()?.parse::<u64>().ok());
    let step = rows.max(1).div_ceil(fullest.unwrap_or(1).max(1));
    let step = i64::try_from(step).unwrap_or(i64::MAX);
    let mut bounds = Vec::new();
    let mut page = step;
    while page < pages {
        // No row has the number zero, so a page begins behind it.
        bounds.push(vec![format!("({page},0)")]);
        page = page.saturating_add(step);
    }
    Ok(Range::between(&RangeKey::Place, bounds))
}

/// Whether a range's children are looked up along an index.
async fn finds_children(source: &mut Postgres, part: &Scan) -> Result<bool> {
    source.execute(BY_INDEX).await?;
    if part.has_foreign_sql() {
        source.prepare_here(part).await?;
    }
    let sql = format!("EXPLAIN (FORMAT JSON) {}", statement(&PostgresSql, part));
    let plan = source.ask(sql, &ReadSubject::Scan(part)).await?;
    let plan = plan.and_then(|row| serde_json::from_str(row.first()?).ok());
    let parents = parents(part);
    Ok(plan.is_some_and(|plan: Json| looks_up(&plan, &parents)))
}

/// The tables that are joined, and nowhere children: those may be read as a whole where the planner
/// thinks that cheaper than looking all rows up.
fn parents(scan: &Scan) -> Vec<&str> {
    let mut joined: Vec<&str> = scan.joins.iter().map(|j| j.table.name.as_str()).collect();
    let mut children = Vec::new();
    for (_, embed) in scan.embeds() {
        joined.extend(parents(&embed.rows));
        if let Relation::Table(name) = &embed.rows.from {
            children.push(name.name.as_str());
        }
    }
    joined.retain(|name| !children.contains(name));
    joined
}

/// Whether every table but these is read along an index. A partition goes by its own name.
fn looks_up(plan: &Json, parents: &[&str]) -> bool {
    match plan {
        Json::Array(nodes) => nodes.iter().all(|node| looks_up(node, parents)),
        Json::Object(node) => {
            let table = node.get("Relation Name").and_then(Json::as_str);
            let condition = ["Index Cond", "Recheck Cond", "TID Cond"];
            let found = table.is_none_or(|name| parents.contains(&name))
                || condition.iter().any(|name| node.contains_key(*name));
            let mut below = ["Plan", "Plans"].iter().filter_map(|name| node.get(*name));
            found && below.all(|node| looks_up(node, parents))
        }
        _ => true,
    }
}

impl Postgres {
    /// The first row of a query of ours, as it is printed. `None` also where a NULL is in it.
    pub(super) async fn ask(
        &mut self,
        sql: String,
        subject: &ReadSubject<'_>,
    ) -> Result<Option<Vec<String>>> {
        let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(&mut self.connection);
        let read = |rows: Vec<PgRow>| {
            let Some(row) = rows.first() else {
                return Ok(None);
            };
            let values = (0..row.len()).map(|index| {
                let raw = row.try_get_raw(index)?;
                if raw.is_null() {
                    return Ok(None);
                }
                let text = raw.as_str().map_err(sqlx::Error::Decode)?;
                Ok(Some(text.to_owned()))
            });
            values.collect()
        };
        let row = rows.await.and_then(read);
        row.map_err(|cause| error::query(cause, subject, &self.user))
    }
}
