//! Reads out of the map: items by key, segments of a Scan, and all of one partition by a Query.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::ops::Bound;

use dynoxide::types::Item;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::ServiceAnswer;
use super::service::Service;
use super::table::{Row, RowKey, Table};
use super::validate;

/// Bytes of a page of Scan and Query.
const PAGE: usize = 1 << 20;
/// Keys of a `BatchGetItem`.
const MOST_KEYS: usize = 100;

type Names = HashMap<String, String>;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ReadRequest<'b> {
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
    request_items: BTreeMap<String, TableKeys<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TableKeys<'b> {
    #[serde(borrow)]
    keys: Vec<&'b RawValue>,
    projection_expression: Option<String>,
    #[serde(default)]
    expression_attribute_names: Names,
}

impl Service {
    /// Answers what [`super::engine::READS`] names.
    pub(crate) fn read(
        &self,
        operation: &str,
        body: &[u8],
    ) -> Result<ServiceAnswer, ServiceAnswer> {
        if operation == "BatchGetItem" {
            return self.batch_get(body);
        }
        let request: ReadRequest<'_> = serde_json::from_slice(body)?;
        let state = self.state();
        let table = state
            .tables
            .get(&request.table_name)
            .ok_or_else(ServiceAnswer::not_found)?;
        let names = projection(
            request.projection_expression.as_deref(),
            &request.expression_attribute_names,
        );
        if let Some(key) = request.key {
            let found = table.rows.get(&key_of(table, key)?);
            let member = found.map_or(String::new(), |row| {
                format!("\"Item\":{}", item_json(row, names.as_deref()))
            });
            return Ok(ServiceAnswer::good(format!("{{{member}}}")));
        }
        let (from, end) = request.bounds(table)?;
        Ok(page(table, from, &end, request.limit, names.as_deref()))
    }

    fn batch_get(&self, body: &[u8]) -> Result<ServiceAnswer, ServiceAnswer> {
        let request: BatchGet<'_> = serde_json::from_slice(body)?;
        let number: usize = request.request_items.values().map(|of| of.keys.len()).sum();
        if number == 0 || number > MOST_KEYS {
            return Err(ServiceAnswer::invalid("BatchGetItem takes 1 to 100 keys"));
        }
        let state = self.state();
        let mut tables = Vec::new();
        for (name, of) in &request.request_items {
            let table = state
                .tables
                .get(name)
                .ok_or_else(ServiceAnswer::not_found)?;
            let names = projection(
                of.projection_expression.as_deref(),
                &of.expression_attribute_names,
            );
            let mut items = Vec::new();
            for key in &of.keys {
                let found = table.rows.get(&key_of(table, key)?);
                items.extend(found.map(|row| item_json(row, names.as_deref())));
            }
            tables.push(format!(
                "{}:[{}]",
                Value::from(name.as_str()),
                items.join(",")
            ));
        }
        let tables = tables.join(",");
        Ok(ServiceAnswer::good(format!(
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
    /// Whether the key lies behind the end.
    fn is_before(&self, key: &RowKey) -> bool {
        match self {
            Self::Never => false,
            Self::Hash(end) => key.hash >= *end,
            Self::Partition(partition) => key.partition != *partition,
        }
    }
}

impl ReadRequest<'_> {
    /// Where the answer begins, and where it ends at the latest.
    fn bounds(&self, table: &Table) -> Result<(Bound<RowKey>, End), ServiceAnswer> {
        let (first, end) = match &self.key_condition_expression {
            Some(condition) => self.partition_bounds(table, condition)?,
            None => self.segment_bounds()?,
        };
        let from = match self.exclusive_start_key {
            Some(key) => Bound::Excluded(key_of(table, key)?),
            None => Bound::Included(first),
        };
        Ok((from, end))
    }

    fn partition_bounds(
        &self,
        table: &Table,
        condition: &str,
    ) -> Result<(RowKey, End), ServiceAnswer> {
        let mut key = self.partition(table, condition).ok_or_else(|| {
            ServiceAnswer::invalid("this store answers a Query of one whole partition of the table")
        })?;
        if let Some(sort) = &table.schema.sort {
            // Any sort key at all, to read the partition's hash.
            let text = dynoxide::AttributeValue::S("-".to_owned());
            key.insert(sort.clone(), text);
        }
        let any = RowKey::of(&table.schema, &key).ok_or_else(ServiceAnswer::not_found)?;
        let end = End::Partition(any.partition.clone());
        Ok((least_key(any.hash, &any.partition), end))
    }

    fn segment_bounds(&self) -> Result<(RowKey, End), ServiceAnswer> {
        if self.index_name.is_some() || self.filter_expression.is_some() {
            return Err(ServiceAnswer::invalid(
                "this store scans whole tables without filters",
            ));
        }
        let (segment, of) = (self.segment.unwrap_or(0), self.total_segments.unwrap_or(1));
        let share = u64::MAX / of.max(1);
        let end = match segment + 1 {
            next if next < of => End::Hash(share * next),
            _ => End::Never,
        };
        Ok((least_key(share.saturating_mul(segment), ""), end))
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

/// The least key of a hash, or of a partition.
fn least_key(hash: u64, partition: &str) -> RowKey {
    RowKey {
        hash,
        partition: partition.into(),
        sort: "".into(),
    }
}

fn key_of(table: &Table, json: &RawValue) -> Result<RowKey, ServiceAnswer> {
    let key: Item = serde_json::from_str(json.get())?;
    validate::keys(&table.schema, &key)?;
    RowKey::of(&table.schema, &key)
        .ok_or_else(|| ServiceAnswer::invalid("The provided key element does not match the schema"))
}

/// The names that are asked for; None is all of them.
fn projection(expression: Option<&str>, names: &Names) -> Option<Vec<String>> {
    let parts = expression?.split(',').map(str::trim);
    let named = parts.map(|part| names.get(part).map_or(part, String::as_str));
    Some(named.map(str::to_owned).collect())
}

/// `names`: the attributes that are asked for.
fn item_json(row: &Row, names: Option<&[String]>) -> String {
    let json = row.json.as_deref().unwrap_or("{}");
    let Some(names) = names else {
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
    names: Option<&[String]>,
) -> ServiceAnswer {
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
        items.push_str(&item_json(row, names));
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
        let key_names: Vec<String> = [Some(&schema.partition), schema.sort.as_ref()]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        let key = item_json(row, Some(&key_names));
        // Writing to a String cannot fail.
        let _ = write!(body, ",\"LastEvaluatedKey\":{key}");
    }
    body.push('}');
    ServiceAnswer::good(body)
}
