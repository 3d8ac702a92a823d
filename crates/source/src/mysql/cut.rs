//! Cuts tables by their keys.

use async_trait::async_trait;
use dynafold_relational::catalog::{DataType, Dbms, TableName};
use dynafold_relational::scan::{Range, RangeKey, Relation, Scan};
use dynafold_relational::value::{Time, TimeError, TimeKind};
use sqlx::Row as _;
use sqlx::mysql::MySqlRow;

use super::Mysql;
use super::decode::data_type;
use super::dialect::MysqlDialect;
use super::scan::object;
use super::statement::{bytes, optional, prepare, rows, text};
use crate::literal::Literal;
use crate::range::{Cutter, KeyColumnKind, RangeProbe};
use crate::{Dialect as _, Result, statement};

/// Children that may be read for every range, where the server would rather do that.
const FEW: u64 = 1000;

/// The columns of a key, and what they hold.
type CutKey = (Vec<String>, Vec<KeyColumnKind>);

/// Cuts a scan's table.
pub(super) async fn cut(source: &mut Mysql, scan: &Scan, wanted: u64) -> Result<Vec<Range>> {
    let Relation::Table(table) = &scan.from else {
        return Ok(Vec::new());
    };
    let found = source.catalog.as_ref().and_then(|catalog| {
        let mut tables = catalog.tables.iter();
        tables.find(|found| found.name == *table)
    });
    // One statement sees one state of a table without snapshots. Of several a row that moves would be in two.
    if scan.limit.is_some() || found.is_some_and(|found| found.live) {
        return Ok(Vec::new());
    }
    let key = key(source, table).await;
    let key = key.map_err(|cause| source.server.fault(object(&scan.from), cause))?;
    let Some((columns, kinds)) = key else {
        return Ok(Vec::new());
    };
    let cutter = Cutter {
        dialect: &MysqlDialect,
        table,
        by: RangeKey::Key(columns),
        kinds,
    };
    let ranges = cutter.cut(source, wanted).await?;
    let middle = ranges.get(ranges.len() / 2).filter(|_| ranges.len() > 1);
    let Some(middle) = middle else {
        return Ok(ranges);
    };
    let found = finds(source, scan, table, middle).await;
    let found = found.map_err(|cause| source.server.fault(object(&scan.from), cause))?;
    Ok(if found { ranges } else { Vec::new() })
}

/// The first key that is in the order of what its columns print.
async fn key(source: &mut Mysql, table: &TableName) -> sqlx::Result<Option<CutKey>> {
    let literal = |text: &str| MysqlDialect.literal(&Literal::text(text));
    let sql = include_str!("sql/key.sql")
        .replace("{schema}", &literal(&table.schema))
        .replace("{name}", &literal(&table.name));
    let parts = rows(&mut source.connection, sql).await?;
    let mut keys: Vec<(String, Option<CutKey>)> = Vec::new();
    for part in &parts {
        let name = text(part, 0)?;
        if keys.last().is_none_or(|(last, _)| *last != name) {
            keys.push((name, Some((Vec::new(), Vec::new()))));
        }
        let Some((_, key)) = keys.last_mut() else {
            continue;
        };
        let usable = text(part, 3)? == "1";
        let column = optional(part, 1)?.filter(|_| usable);
        let kind = optional(part, 2)?.and_then(|declared| kind(&declared));
        match (key.as_mut(), column, kind) {
            (Some((columns, kinds)), Some(column), Some(kind)) => {
                columns.push(column);
                kinds.push(kind);
            }
            _ => *key = None,
        }
    }
    Ok(keys.into_iter().find_map(|(_, key)| key))
}

/// What a column of a key holds; `None` where its order or its equality is not that of what it
/// prints: an ENUM's order is of its numbers, a FLOAT is not equal to its digits.
fn kind(declared: &str) -> Option<KeyColumnKind> {
    match data_type(declared) {
        DataType::Integer { .. } => Some(KeyColumnKind::Integer),
        DataType::Boolean if !declared.starts_with("bit") => Some(KeyColumnKind::Integer),
        DataType::Decimal { .. } => Some(KeyColumnKind::Number),
        DataType::Binary { .. } if !declared.starts_with("bit") => Some(KeyColumnKind::Bytes),
        DataType::Text { .. }
        | DataType::Uuid
        | DataType::Date
        | DataType::Time { .. }
        | DataType::Timestamp { .. } => Some(KeyColumnKind::Text),
        _ => None,
    }
}

/// Whether a range's rows and their children are looked up along an index.
async fn finds(
    source: &mut Mysql,
    scan: &Scan,
    table: &TableName,
    range: &Range,
) -> sqlx::Result<bool> {
    let mut part = scan.clone();
    part.range = Some(range.clone());
    let sql = statement(&MysqlDialect, &part);
    // SQL from outside: preparing takes one statement only.
    prepare(&mut source.connection, &sql).await?;
    let mut children = vec![table.name.as_str()];
    if !scan.embedded_tables(&mut children) {
        return Ok(false);
    }
    let explain = match source.server.dbms {
        Dbms::Mariadb => "EXPLAIN",
        _ => "EXPLAIN FORMAT=TRADITIONAL",
    };
    let plan = rows(&mut source.connection, format!("{explain} {sql}")).await?;
    for row in &plan {
        let column = |name: &str| {
            let columns = row.columns().iter();
            let mut columns = columns.map(sqlx::Column::name);
            columns.position(|column| column.eq_ignore_ascii_case(name))
        };
        let (Some(table), Some(access), Some(read)) =
            (column("table"), column("type"), column("rows"))
        else {
            return Ok(false);
        };
        let whole = ["ALL", "index"].contains(&text(row, access)?.as_str());
        let derived = text(row, table)?.starts_with('<');
        let child = children.contains(&text(row, table)?.as_str());
        let many = text(row, read)?.parse::<u64>().unwrap_or_default() > FEW;
        if whole && many && (child || derived) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[async_trait]
impl RangeProbe for Mysql {
    async fn row(&mut self, sql: String, kinds: &[KeyColumnKind]) -> Result<Option<Vec<String>>> {
        let rows = rows(&mut self.connection, sql).await;
        let row = rows.and_then(|rows| match rows.first() {
            Some(row) => range_values(row, kinds),
            None => Ok(None),
        });
        row.map_err(|cause| self.server.fault("the keys".to_owned(), cause))
    }
}

/// A row's values as a range says them.
fn range_values(row: &MySqlRow, kinds: &[KeyColumnKind]) -> sqlx::Result<Option<Vec<String>>> {
    let values = kinds.iter().enumerate().map(|(index, kind)| {
        Ok(match kind {
            KeyColumnKind::Bytes => bytes(row, index)?.map(Literal::bytes),
            KeyColumnKind::Text => optional(row, index)?
                .filter(|text| is_comparable(text))
                .map(|text| Literal::text(&text)),
            KeyColumnKind::Integer | KeyColumnKind::Number => optional(row, index)?,
        })
    });
    values.collect()
}

/// Whether MySQL compares with this text: with a zero date it does not, though a column may hold one.
fn is_comparable(text: &str) -> bool {
    let day = text.get(..10).unwrap_or(text);
    Time::from_sql(day, TimeKind::Date, 0) != Err(TimeError::Zero)
}
