//! Scanning a table, or querying one partition, a page at a time: strongly consistent, retried here.

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use dynafold_dynamodb::{Position, Query, Table};

use super::{Dynamodb, read};
use crate::{Page, Result, ScanRequest};

/// Most items of a page. DynamoDB ends a page at a megabyte, which may be tens of thousands of small
/// items: as objects they are many times as large.
const PAGE: u32 = 2_000;

impl Dynamodb {
    pub(super) async fn scan_page(
        &self,
        table: &Table,
        wanted: &ScanRequest,
        from: Option<Position>,
    ) -> Result<Page> {
        let Some(partition) = &wanted.partition else {
            return self.scan_segment(table, wanted, from).await;
        };
        let mut query = Query {
            index: None,
            condition: "#partition = :partition".to_owned(),
            filter: None,
            names: vec![("#partition".to_owned(), table.partition.name.clone())],
            values: vec![(":partition".to_owned(), partition.clone())],
            descending: false,
            limit: Some(PAGE),
            consistent: true,
        };
        // Names may be reserved words.
        let names = wanted.attributes.iter().flatten().enumerate();
        let names = names.map(|(at, name)| (format!("#a{at}"), name.clone()));
        query.names.extend(names);
        let projection = wanted.attributes.as_ref().map(|names| places(names.len()));
        self.query_page(table, &query, projection.as_deref(), from)
            .await
    }

    async fn scan_segment(
        &self,
        table: &Table,
        wanted: &ScanRequest,
        from: Option<Position>,
    ) -> Result<Page> {
        let action = self.action("Scan", &table.name);
        let from = from.as_ref().map(read::fields).transpose();
        let from = from.map_err(|error| action.garbled(error))?;
        let mut request = self
            .data
            .scan()
            .table_name(&table.name)
            .consistent_read(true)
            .limit(number(PAGE))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .set_exclusive_start_key(from);
        if wanted.segments > 1 {
            request = request
                .segment(number(wanted.segment))
                .total_segments(number(wanted.segments));
        }
        if let Some(names) = &wanted.attributes {
            request = request.projection_expression(places(names.len()));
            for (at, name) in names.iter().enumerate() {
                request = request.expression_attribute_names(format!("#a{at}"), &**name);
            }
        }
        let call = || async {
            let answer = request.clone().send().await;
            let answer = answer.map_err(|error| action.classify(error))?;
            let (items, next) = (answer.items, answer.last_evaluated_key);
            read::page(table, &action, items, next, answer.consumed_capacity)
        };
        self.persist(&action, call).await
    }
}

/// The places of so many attributes, as a projection expression.
fn places(attributes: usize) -> String {
    let places: Vec<String> = (0..attributes).map(|at| format!("#a{at}")).collect();
    places.join(", ")
}

fn number(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
