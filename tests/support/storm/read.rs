//! Reads out of the map: items by key, segments of a Scan, and all of one partition by a Query.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::ops::Bound;

use dynoxide::types::Item;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::Answer;
use super::service::Service;
use super::table::{Row, RowKey, Table};
use super::validate;

/// A page of Scan and Query.
const PAGE: usize = 1 << 20;
const MOST_KEYS: usize = 100;

type Names = HashMap<String, String>;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Wanted<'b> {
    table_name: String,
    #[serde(borrow)]
    key: Option<&'b RawValue>,
    segment: Option<u64>,
    total_segments: Option<u64>,
    limit: Option<usize>,
    #[serde(borrow)]
    exclusive_start_key: Option<&'b RawValue>,
    projection_expression: Option<String>,
    key_condition_expression: Option<String>,
    filter_expression: Option<String>,
    index_name: Option<String>,
    scan_index_forward: Option<bool>,
    #[serde(default)]
    expression_attribute_names: Names,
    #[serde(default)]
    expression_attribute_values: Item,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct BatchGet<'b> {
    #[serde(borrow)]
    request_items: BTreeMap<String, OfTable<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct OfTable<'b> {
    #[serde(borrow)]
    keys: Vec<&'b RawValue>,
    projection_expression: Option<String>,
    #[serde(default)]
    expression_attribute_names: Names,
}

impl Service {
    /// Answers what [`super::engine::READS`] names.
    pub(crate) fn read(&self, operation: &str, body: &[u8]) -> Result<Answer, Answer> {
        if operation == "BatchGetItem" {
            return self.batch_get(body);
        }
        let wanted: Wanted<'_> = serde_json::from_slice(body)?;
        let state = self.state();
        let table = state.tables.get(&wanted.table_name);
        let table = table.ok_or_else(Answer::not_found)?;
        let shape = projection(
            wanted.projection_expression.as_deref(),
            &wanted.expression_attribute_names,
        );
        if let Some(key) = wanted.key {
            let found = table.rows.get(&key_of(table, key)?);
            let item = found.map(|row| shown(row, shape.as_deref()));
            let item = item.map_or(String::new(), |item| format!("\"Item\":{item}"));
            return Ok(Answer::good(format!("{{{item}}}")));
        }
        let (from, end) = wanted.bounds(table)?;
        Ok(page(table, from, &end, wanted.limit, shape.as_deref()))
    }

    fn batch_get(&self, body: &[u8]) -> Result<Answer, Answer> {
        let request: BatchGet<'_> = serde_json::from_slice(body)?;
        let number: usize = request.request_items.values().map(|of| of.keys.len()).sum();
        if number == 0 || number > MOST_KEYS {
            return Err(Answer::invalid("BatchGetItem takes 1 to 100 keys"));
        }
        let state = self.state();
        let mut tables = Vec::new();
        for (name, of) in &request.request_items {
            let table = state.tables.get(name).ok_or_else(Answer::not_found)?;
            let shape = projection(
                of.projection_expression.as_deref(),
                &of.expression_attribute_names,
            );
            let mut items = Vec::new();
            for key in &of.keys {
                let found = table.rows.get(&key_of(table, key)?);
                items.extend(found.map(|row| shown(row, shape.as_deref())));
            }
            tables.push(format!(
                "{}:[{}]",
                Value::from(name.as_str()),
                items.join(",")
            ));
        }
        let tables = tables.join(",");
        Ok(Answer::good(format!(
            "{{\"Responses\":{{{tables}}},\"UnprocessedKeys\":{{}}}}"
        )))
    }
}

/// Where a page ends at the latest.
enum End {
    Never,
    Hash(u64),
    Partition(Box<str>),
}

impl End {
    fn is_before(&self, key: &RowKey) -> bool {
        match self {
            Self::Never => false,
            Self::Hash(end) => key.hash >= *end,
            Self::Partition(partition) => key.partition != *partition,
        }
    }
}

impl Wanted<'_> {
    fn bounds(&self, table: &Table) -> Result<(Bound<RowKey>, End), Answer> {
        let only = |hash, partition: &str| RowKey {
            hash,
            partition: partition.into(),
            sort: "".into(),
        };
        let (first, end) = if let Some(condition) = &self.key_condition_expression {
            let item = self.partition(table, condition).ok_or_else(|| {
                Answer::invalid("this store answers a Query of one whole partition of the table")
            })?;
            let mut key = item;
            if let Some(sort) = &table.schema.sort {
                // Any sort key at all, to read the partition's hash.
                let text = dynoxide::AttributeValue::S("-".to_owned());
                key.insert(sort.clone(), text);
            }
            let key = RowKey::of(&table.schema, &key).ok_or_else(Answer::not_found)?;
            let end = End::Partition(key.partition.clone());
            (only(key.hash, &key.partition), end)
        } else {
            if self.index_name.is_some() || self.filter_expression.is_some() {
                return Err(Answer::invalid(
                    "this store scans whole tables without filters",
                ));
            }
            let (segment, of) = (self.segment.unwrap_or(0), self.total_segments.unwrap_or(1));
            let share = u64::MAX / of.max(1);
            let end = match segment + 1 {
                next if next < of => End::Hash(share * next),
                _ => End::Never,
            };
            (only(share.saturating_mul(segment), ""), end)
        };
        let from = match self.exclusive_start_key {
            Some(key) => Bound::Excluded(key_of(table, key)?),
            None => Bound::Included(first),
        };
        Ok((from, end))
    }

    /// The partition key of `#p = :p`.
    fn partition(&self, table: &Table, condition: &str) -> Option<Item> {
        let other = [&self.index_name, &self.filter_expression];
        if other.iter().any(|one| one.is_some()) || self.scan_index_forward == Some(false) {
            return None;
        }
        let (name, value) = condition.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let named = self.expression_attribute_names.get(name);
        let name = named.map_or(name, String::as_str);
        let value = self.expression_attribute_values.get(value)?.clone();
        (name == table.schema.partition).then(|| Item::from([(name.to_owned(), value)]))
    }
}

fn key_of(table: &Table, json: &RawValue) -> Result<RowKey, Answer> {
    let key: Item = serde_json::from_str(json.get())?;
    validate::keys(&table.schema, &key)?;
    let key = RowKey::of(&table.schema, &key);
    key.ok_or_else(|| Answer::invalid("The provided key element does not match the schema"))
}

/// The names that are asked for; None is all of them.
fn projection(expression: Option<&str>, names: &Names) -> Option<Vec<String>> {
    let parts = expression?.split(',').map(str::trim);
    let named = parts.map(|part| names.get(part).map_or(part, String::as_str));
    Some(named.map(str::to_owned).collect())
}

fn shown(row: &Row, shape: Option<&[String]>) -> String {
    let json = row.json.as_deref().unwrap_or("{}");
    let Some(names) = shape else {
        return json.to_owned();
    };
    let item: HashMap<String, &RawValue> = serde_json::from_str(json).unwrap_or_default();
    let parts = names.iter().filter_map(|name| {
        let value = item.get(name)?;
        Some(format!("{}:{value}", Value::from(name.as_str())))
    });
    format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
}

fn page(
    table: &Table,
    from: Bound<RowKey>,
    end: &End,
    limit: Option<usize>,
    shape: Option<&[String]>,
) -> Answer {
    let mut rows = table.rows.range((from, Bound::Unbounded)).peekable();
    let (mut items, mut count, mut bytes) = (String::new(), 0_usize, 0_usize);
    let mut last = None;
    while let Some((key, row)) = rows.next() {
        if end.is_before(key) {
            break;
        }
        if count > 0 {
            items.push(',');
        }
        items.push_str(&shown(row, shape));
        count += 1;
        bytes += row.image.size();
        let full = bytes >= PAGE || limit.is_some_and(|limit| count >= limit);
        if full && rows.peek().is_some_and(|(next, _)| !end.is_before(next)) {
            last = Some(row);
        }
        if full {
            break;
        }
    }
    let mut body = format!("{{\"Items\":[{items}],\"Count\":{count},\"ScannedCount\":{count}");
    if let Some(row) = last {
        let schema = &table.schema;
        let names: Vec<String> = [Some(&schema.partition), schema.sort.as_ref()]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        let key = shown(row, Some(&names));
        // Writing to a String cannot fail.
        let _ = write!(body, ",\"LastEvaluatedKey\":{key}");
    }
    body.push('}');
    Answer::good(body)
}
