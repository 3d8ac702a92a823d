//! Cuts tables by their keys.

use async_trait::async_trait;
use dynafold_relational::catalog::{DataType, Dbms, TableName};
use dynafold_relational::scan::{Range, RangeKey, Relation, Scan};
use dynafold_relational::value::{Time, TimeError, TimeKind};
use sqlx::Row as _;
use sqlx::mysql::{MySqlConnection, MySqlRow};

use super::Mysql;
use super::decode::data_type;
use super::dialect::MysqlDialect;
use super::error::relation_name;
use super::statement::{bytes, grouped, optional, prepare, rows, text};
use crate::literal::RangeLiteral;
use crate::range::{Cutter, KeyColumnKind, RangeProbe};
use crate::{Dialect as _, Result, statement};

/// Children that may be read for every range, where the server would rather do that.
const FEW: u64 = 1000;

#[async_trait]
impl RangeProbe for Mysql {
    async fn ranges(&mut self, table: &TableName, rows: u64) -> Result<Vec<Range>> {
        let catalog = self.catalog.as_ref();
        // One statement sees one state of a table without snapshots. Of several a row that moves would be in two.
        if (catalog.and_then(|catalog| catalog.table(table))).is_some_and(|table| table.live) {
            return Ok(Vec::new());
        }
        let cutter = cutter(&mut self.connection, table).await;
        match self.server.checked(table.to_string(), cutter)? {
            Some(cutter) => cutter.cut(self, rows).await,
            None => Ok(Vec::new()),
        }
    }

    async fn row(&mut self, sql: String, kinds: &[KeyColumnKind]) -> Result<Option<Vec<String>>> {
        let rows = rows(&mut self.connection, sql).await;
        let row = rows.and_then(|rows| match rows.first() {
            Some(row) => range_values(row, kinds),
            None => Ok(None),
        });
        self.server.checked("the keys", row)
    }

    async fn is_indexed(&mut self, part: &Scan) -> Result<bool> {
        let found = finds(self, part).await;
        self.server.checked(relation_name(&part.from), found)
    }
}

/// Cuts by the first key that is in the order of what its columns print.
async fn cutter<'t>(
    connection: &mut MySqlConnection,
    table: &'t TableName,
) -> sqlx::Result<Option<Cutter<'t>>> {
    let literal = |text: &str| MysqlDialect.literal(&RangeLiteral::text(text));
    let sql = include_str!("sql/key.sql")
        .replace("{schema}", &literal(&table.schema))
        .replace("{name}", &literal(&table.name));
    let parts = rows(connection, sql).await?;
    for parts in grouped(&parts, 1)? {
        let mut columns = Vec::new();
        let mut kinds = Vec::new();
        for part in &parts {
            let is_usable = text(part, 3)? == "1";
            columns.extend(optional(part, 1)?.filter(|_| is_usable));
            kinds.extend(optional(part, 2)?.and_then(|declared| kind(&declared)));
        }
        if columns.len() == parts.len() && kinds.len() == parts.len() {
            return Ok(Some(Cutter {
                dialect: &MysqlDialect,
                table,
                by: RangeKey::Key(columns),
                kinds,
            }));
        }
    }
    Ok(None)
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
async fn finds(source: &mut Mysql, part: &Scan) -> sqlx::Result<bool> {
    let sql = statement(&MysqlDialect, part);
    // SQL from outside: preparing takes one statement only.
    prepare(&mut source.connection, &sql).await?;
    let mut children = Vec::new();
    if let Relation::Table(table) = &part.from {
        children.push(table.name.as_str());
    }
    if !part.embedded_tables(&mut children) {
        return Ok(false);
    }
    let explain = match source.server.dbms {
        Dbms::Mariadb => "EXPLAIN",
        _ => "EXPLAIN FORMAT=TRADITIONAL",
    };
    let plan = rows(&mut source.connection, format!("{explain} {sql}")).await?;
    for row in &plan {
        let column = |name: &str| {
            let mut columns = row.columns().iter().map(sqlx::Column::name);
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

/// A row's values as a range says them.
fn range_values(row: &MySqlRow, kinds: &[KeyColumnKind]) -> sqlx::Result<Option<Vec<String>>> {
    let values = kinds.iter().enumerate().map(|(index, kind)| {
        Ok(match kind {
            KeyColumnKind::Bytes => bytes(row, index)?.map(RangeLiteral::bytes),
            KeyColumnKind::Text => optional(row, index)?
                .filter(|text| is_comparable(text))
                .map(|text| RangeLiteral::text(&text)),
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
