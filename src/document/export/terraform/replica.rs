//! Replicas of a table with provisioned capacity. DynamoDB makes them only where something scales the
//! table's writes, so they come after that, as resources of their own. On demand they stand in the
//! table.

use super::scaling::write_policies;
use super::{Body, Hcl, Infrastructure, Names, expression, table};

/// Whether replicas are resources of their own.
pub(super) fn stand_alone(wanted: &Infrastructure<'_>) -> bool {
    !wanted.table.settings.replicas.is_empty() && wanted.provisioned().is_some()
}

/// What a region's replica is called.
pub(super) fn name(region: &str) -> String {
    Names::default().snake(region)
}

pub(super) fn add(mut file: Body, wanted: &Infrastructure<'_>) -> Body {
    if !stand_alone(wanted) {
        return file;
    }
    let settings = &wanted.table.settings;
    let mut first: Vec<Hcl> = write_policies(wanted)
        .map(|name| expression(format!("aws_appautoscaling_policy.{name}")))
        .collect();
    for region in &settings.replicas {
        let body = Body::default()
            .put("region", region.as_str())
            .put(
                "global_table_arn",
                expression("aws_dynamodb_table.table.arn"),
            )
            .maybe("point_in_time_recovery", settings.point_in_time_recovery)
            .maybe("deletion_protection_enabled", settings.deletion_protection)
            .maybe("tags", table::tags(wanted))
            .put("depends_on", Hcl::List(first))
            .block("lifecycle", Body::default().put("prevent_destroy", true));
        let name = name(region);
        file = file.block(
            format!(r#"resource "aws_dynamodb_table_replica" "{name}""#),
            body,
        );
        // DynamoDB makes one at a time.
        first = vec![expression(format!("aws_dynamodb_table_replica.{name}"))];
    }
    file
}
