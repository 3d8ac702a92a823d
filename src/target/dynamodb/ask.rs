//! Asking as an access pattern does: `GetItem`, or a page of a `Query`.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{ConsumedCapacity, ReturnConsumedCapacity};

use super::Dynamodb;
use super::convert::{self, Fields, NotAValue};
use crate::access::{Position, Query, Request};
use crate::mapping::model::Table;
use crate::target::{Asked, TargetError};

/// What either operation answers.
struct Answer {
    items: Vec<Fields>,
    next: Option<Fields>,
    consumed: Option<ConsumedCapacity>,
}

impl Dynamodb {
    pub(super) async fn ask_page(
        &self,
        table: &Table,
        request: &Request,
        from: Option<Position>,
    ) -> Result<Asked, TargetError> {
        let (action, answer) = match request {
            Request::Get { key, consistent } => {
                let action = self.action("GetItem", &table.name);
                let key = fields(key).map_err(|error| action.garbled(&error))?;
                let call = || self.get_once(table, &key, *consistent);
                (action, self.persist(&action, call).await?)
            }
            Request::Query(query) => {
                let action = self.action("Query", &table.name);
                let from = from.as_ref().map(fields).transpose();
                let from = from.map_err(|error| action.garbled(&error))?;
                let call = || self.ask_once(table, query, from.as_ref());
                (action, self.persist(&action, call).await?)
            }
        };
        let items = answer
            .items
            .into_iter()
            .map(|fields| convert::item(table, fields));
        let next = answer.next.filter(|fields| !fields.is_empty());
        let next = next.map(convert::members).transpose();
        Ok(Asked {
            items: items
                .collect::<Result<_, _>>()
                .map_err(|error| action.garbled(&error))?,
            next: next.map_err(|error| action.garbled(&error))?,
            units: answer.consumed.and_then(|all| all.capacity_units),
        })
    }

    async fn get_once(
        &self,
        table: &Table,
        key: &Fields,
        consistent: bool,
    ) -> Result<Answer, TargetError> {
        let action = self.action("GetItem", &table.name);
        let request = self
            .data
            .get_item()
            .table_name(&table.name)
            .set_key(Some(key.clone()))
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let answer = request.send().await.map_err(|e| action.classify(&e))?;
        Ok(Answer {
            items: answer.item.into_iter().collect(),
            next: None,
            consumed: answer.consumed_capacity,
        })
    }

    async fn ask_once(
        &self,
        table: &Table,
        query: &Query,
        from: Option<&Fields>,
    ) -> Result<Answer, TargetError> {
        let action = self.action("Query", &table.name);
        let values = query
            .values
            .iter()
            .map(|(place, value)| Ok((place.clone(), convert::value(value)?)));
        let values: HashMap<_, _> = values
            .collect::<Result<_, NotAValue>>()
            .map_err(|error| action.garbled(&error))?;
        let names = query.names.iter();
        let names = names.map(|(place, name)| (place.clone(), name.to_string()));
        let limit = query.limit.and_then(|limit| i32::try_from(limit).ok());
        let request = self
            .data
            .query()
            .table_name(&table.name)
            .set_index_name(query.index.as_ref().map(ToString::to_string))
            .key_condition_expression(&query.condition)
            .set_filter_expression(query.filter.clone())
            .set_expression_attribute_names(Some(names.collect()))
            .set_expression_attribute_values(Some(values))
            .scan_index_forward(!query.descending)
            .set_limit(limit)
            .consistent_read(query.consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .set_exclusive_start_key(from.cloned());
        let answer = request.send().await.map_err(|e| action.classify(&e))?;
        Ok(Answer {
            items: answer.items.ok_or_else(|| action.incomplete("Items"))?,
            next: answer.last_evaluated_key,
            consumed: answer.consumed_capacity,
        })
    }
}

fn fields(position: &Position) -> Result<Fields, NotAValue> {
    let fields = position.iter();
    let fields = fields.map(|(name, value)| Ok((name.to_string(), convert::scalar(value)?)));
    fields.collect()
}
