//! Which of a pattern's item types a row of its SQL becomes, where several are made from one relation.
//!
//! The source is asked: for the rows of an answer it says which item types' `where` they meet.

use std::collections::HashSet;

use dynafold_mapping::model::{ItemType, Model};
use dynafold_relational::scan::{Scan, ScanColumn};
use dynafold_relational::value::Value;
use dynafold_source::{Row, Source, SourceError};
use futures_util::TryStreamExt as _;

use super::literal::literal;
use super::projection::Projection;

/// Rows that one statement asks for.
const ROWS: usize = 200;

/// For each projection, whether each row becomes an item of it; `None` where the row does not tell.
pub(super) async fn kinds(
    source: &mut dyn Source,
    model: &Model,
    projections: &[Projection],
    rows: &[Row],
) -> Result<Vec<Vec<Option<bool>>>, SourceError> {
    let mut all = vec![vec![Some(true); rows.len()]; projections.len()];
    for (at, projection) in projections.iter().enumerate() {
        let Some(item) = model.item_types.get(projection.item_type) else {
            continue;
        };
        let shares = projections.iter().enumerate().any(|(other, projection)| {
            let item_type = model.item_types.get(projection.item_type);
            other != at && item_type.is_some_and(|other| other.pass == item.pass)
        });
        if !shares || item.condition.is_none() {
            continue;
        }
        let keys: Vec<Option<Vec<Value>>> = rows
            .iter()
            .map(|row| projection.row_key(item, row))
            .map(|key| key.filter(|key| !key.iter().any(Value::is_null)))
            .collect();
        let met = met(source, model, item, &keys).await?;
        if let Some(may) = all.get_mut(at) {
            let is_told = projection.told_by.map(|_| true);
            *may = keys
                .iter()
                .map(|key| {
                    key.as_ref()
                        .map_or(is_told, |key| Some(met.contains(&told(key))))
                })
                .collect();
        }
    }
    Ok(all)
}

/// The keys of those rows that meet an item type's condition.
async fn met(
    source: &mut dyn Source,
    model: &Model,
    item: &ItemType,
    keys: &[Option<Vec<Value>>],
) -> Result<HashSet<String>, SourceError> {
    let mut met = HashSet::new();
    let Some(pass) = model.passes.get(item.pass) else {
        return Ok(met);
    };
    let columns: Vec<&ScanColumn> = item
        .row_key
        .iter()
        .take(item.key_columns())
        .filter_map(|(_, at)| pass.scan.columns.get(*at))
        .collect();
    let Some(condition) = model.condition(item) else {
        return Ok(met);
    };
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
        let scan = Scan {
            joins: pass.scan.joins.clone(),
            conditions: vec![some.join(" OR ")],
            ..Scan::of(pass.scan.from.clone(), outputs)
        };
        let mut chunks = source.scan(&scan);
        while let Some(chunk) = chunks.try_next().await? {
            for row in chunk.rows {
                if row.get(columns.len()) == Some(&Value::Bool(true)) {
                    met.insert(told(row.get(..columns.len()).unwrap_or_default()));
                }
            }
        }
    }
    Ok(met)
}

fn told(key: &[Value]) -> String {
    format!("{key:?}")
}
