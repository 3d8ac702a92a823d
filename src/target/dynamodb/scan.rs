//! Scanning a table, or querying one partition, a page at a time: strongly consistent, retried here.

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::types::{ConsumedCapacity, ReturnConsumedCapacity};

use super::Dynamodb;
use super::read::{self, Fields};
use crate::item::Attribute;
use crate::mapping::model::Table;
use crate::target::{Key, Page, TargetError, Wanted};

/// Most items of a page. DynamoDB ends a page at a megabyte, which may be tens of thousands of small
/// items: as objects they are many times as large.
const PAGE: i32 = 2_000;

/// What a page of either operation holds.
struct Answer {
    items: Option<Vec<Fields>>,
    next: Option<Fields>,
    consumed: Option<ConsumedCapacity>,
}

impl Dynamodb {
    pub(super) async fn scan_page(
        &self,
        table: &Table,
        wanted: &Wanted,
        from: Option<Key>,
    ) -> Result<Page, TargetError> {
        let operation = match wanted.partition {
            Some(_) => "Query",
            None => "Scan",
        };
        let action = self.action(operation, &table.name);
        let start = from
            .map(|key| read::key_fields(table, &key))
            .transpose()
            .map_err(|error| action.garbled(&error))?;
        let projection = wanted.attributes.as_deref().map(Projection::new);
        let answer = match &wanted.partition {
            None => {
                let call = || self.scan_once(table, wanted, projection.as_ref(), start.as_ref());
                self.persist(&action, call).await?
            }
            Some(partition) => {
                let call =
                    || self.query_once(table, partition, projection.as_ref(), start.as_ref());
                self.persist(&action, call).await?
            }
        };
        let items = answer.items.ok_or_else(|| action.incomplete("Items"))?;
        let items = items.into_iter().map(|fields| read::item(table, fields));
        let next = answer
            .next
            .filter(|fields| !fields.is_empty())
            .map(|fields| read::key_of(table, fields));
        Ok(Page {
            items: items
                .collect::<Result<_, _>>()
                .map_err(|error| action.garbled(&error))?,
            next: next.transpose().map_err(|error| action.garbled(&error))?,
            units: answer.consumed.and_then(|all| all.capacity_units),
        })
    }

    async fn scan_once(
        &self,
        table: &Table,
        wanted: &Wanted,
        projection: Option<&Projection>,
        start: Option<&Fields>,
    ) -> Result<Answer, TargetError> {
        let action = self.action("Scan", &table.name);
        let mut request = self
            .data
            .scan()
            .table_name(&table.name)
            .consistent_read(true)
            .limit(PAGE)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .set_exclusive_start_key(start.cloned());
        if wanted.segments > 1 {
            request = request
                .segment(number(wanted.segment))
                .total_segments(number(wanted.segments));
        }
        if let Some(projection) = projection {
            request = request
                .projection_expression(&projection.expression)
                .set_expression_attribute_names(Some(projection.names.clone()));
        }
        let answer = request.send().await.map_err(|e| action.classify(&e))?;
        Ok(Answer {
            items: answer.items,
            next: answer.last_evaluated_key,
            consumed: answer.consumed_capacity,
        })
    }

    async fn query_once(
        &self,
        table: &Table,
        partition: &Attribute,
        projection: Option<&Projection>,
        start: Option<&Fields>,
    ) -> Result<Answer, TargetError> {
        let action = self.action("Query", &table.name);
        let value = read::scalar(partition).map_err(|error| action.garbled(&error))?;
        let mut names = projection.map_or_else(HashMap::new, |p| p.names.clone());
        names.insert("#partition".to_owned(), table.partition.name.to_string());
        let request = self
            .data
            .query()
            .table_name(&table.name)
            .consistent_read(true)
            .limit(PAGE)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression("#partition = :partition")
            .set_projection_expression(projection.map(|p| p.expression.clone()))
            .set_expression_attribute_names(Some(names))
            .expression_attribute_values(":partition", value)
            .set_exclusive_start_key(start.cloned());
        let answer = request.send().await.map_err(|e| action.classify(&e))?;
        Ok(Answer {
            items: answer.items,
            next: answer.last_evaluated_key,
            consumed: answer.consumed_capacity,
        })
    }
}

/// The attributes that are wanted, as an expression; their names may be reserved words.
struct Projection {
    expression: String,
    names: HashMap<String, String>,
}

impl Projection {
    fn new(attributes: &[Arc<str>]) -> Self {
        let places: Vec<String> = (0..attributes.len()).map(|n| format!("#a{n}")).collect();
        Self {
            expression: places.join(", "),
            names: places
                .into_iter()
                .zip(attributes.iter().map(ToString::to_string))
                .collect(),
        }
    }
}

fn number(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
