//! Which of a pattern's item types a row of its SQL becomes, where several are made from one relation.
//!
//! The source is asked: for the rows of an answer it says which item types' `where` they meet.

use std::collections::HashSet;

use dynafold_mapping::model::Model;
use dynafold_relational::scan::{Scan, ScanColumn};
use dynafold_relational::value::Value;
use dynafold_source::{Row, Source, SourceError};
use futures_util::TryStreamExt as _;

use super::projection::ItemProjection;
use super::values::literal;

/// Rows that one statement asks for.
const ROWS: usize = 200;

/// For each projection, whether each row becomes an item of it; `None` where the row does not tell.
pub(super) async fn kinds(
    source: &mut dyn Source,
    model: &Model,
    projections: &[ItemProjection<'_>],
    rows: &[Row],
) -> Result<Vec<Vec<Option<bool>>>, SourceError> {
    let mut all = vec![vec![Some(true); rows.len()]; projections.len()];
    for (at, projection) in projections.iter().enumerate() {
        let item = projection.item;
        let mut others = projections
            .iter()
            .filter(|other| other.item.pass == item.pass);
        let is_alone = others.nth(1).is_none();
        let Some(condition) = model.condition(item).filter(|_| !is_alone) else {
            continue;
        };
        let keys: Vec<Option<Vec<Value>>> = rows
            .iter()
            .map(|row| projection.row_key(row))
            .map(|key| key.filter(|key| !key.iter().any(Value::is_null)))
            .collect();
        let met = met(source, projection, condition, &keys).await?;
        if let Some(may) = all.get_mut(at) {
            let without_key = projection.type_column.map(|_| true);
            *may = keys
                .iter()
                .map(|key| {
                    key.as_ref()
                        .map_or(without_key, |key| Some(met.contains(&key_text(key))))
                })
                .collect();
        }
    }
    Ok(all)
}

/// The keys of those rows that meet an item type's condition.
async fn met(
    source: &mut dyn Source,
    projection: &ItemProjection<'_>,
    condition: &str,
    keys: &[Option<Vec<Value>>],
) -> Result<HashSet<String>, SourceError> {
    let mut met = HashSet::new();
    let (item, scan) = (projection.item, &projection.pass.scan);
    let own = item.row_key.iter().take(item.key_columns());
    let columns: Vec<&ScanColumn> = own.filter_map(|(_, at)| scan.columns.get(*at)).collect();
    let (dbms, dialect) = (source.dbms(), source.dialect());
    let one = |key: &Vec<Value>| {
        let pairs = columns.iter().zip(key).map(|(column, value)| {
            let ScanColumn::Column { name, .. } = column else {
                return None;
            };
            let value = literal(value, dbms, dialect)?;
            Some(format!("{} = {value}", dialect.quote(name)))
        });
        let pairs: Option<Vec<String>> = pairs.collect();
        Some(format!("({})", pairs?.join(" AND ")))
    };
    let mut wanted: Vec<String> = keys.iter().flatten().filter_map(one).collect();
    wanted.sort_unstable();
    wanted.dedup();
    for some in wanted.chunks(ROWS) {
        let mut outputs: Vec<ScanColumn> = columns.iter().map(|column| (*column).clone()).collect();
        outputs.push(ScanColumn::Flag(condition.to_owned()));
        let keys = some.join(" OR ");
        let lookup = Scan {
            joins: scan.joins.clone(),
            plain: scan.plain.iter().chain([&keys]).cloned().collect(),
            conditions: vec![keys],
            ..Scan::of(scan.from.clone(), outputs)
        };
        let mut chunks = source.scan(&lookup);
        while let Some(chunk) = chunks.try_next().await? {
            for row in chunk.rows {
                if row.get(columns.len()) == Some(&Value::Bool(true)) {
                    met.insert(key_text(row.get(..columns.len()).unwrap_or_default()));
                }
            }
        }
    }
    Ok(met)
}

fn key_text(key: &[Value]) -> String {
    format!("{key:?}")
}
