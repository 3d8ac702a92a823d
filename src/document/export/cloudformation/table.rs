//! A table in one region, and the targets and policies that scale it.

use super::{
    Infrastructure, Map, Names, Scaling, Yaml, common, guards, index_of, kept, resource, schema,
    some, sub, to, tracking,
};
use crate::mapping::model::Throughput;

pub(super) fn resources(wanted: &Infrastructure<'_>) -> Map {
    let properties = common(wanted)
        .maybe("ProvisionedThroughput", wanted.provisioned().map(units))
        .maybe("GlobalSecondaryIndexes", indexes(wanted))
        .extend(guards(wanted));
    let mut resources = Map::default().put("Table", kept("AWS::DynamoDB::Table", properties));
    let mut names = Names::default();
    for scaling in &wanted.scaling {
        resources = scaled(resources, &mut names, *scaling);
    }
    resources
}

fn indexes(wanted: &Infrastructure<'_>) -> Option<Vec<Yaml>> {
    let indexes = wanted.table.indexes.iter().map(|index| {
        let key = schema(&index.partition, &index.sort);
        index_of(&index.name, key, &index.projection)
            .maybe(
                "ProvisionedThroughput",
                wanted.provisioned_of(index).map(units),
            )
            .into()
    });
    some(indexes.collect())
}

fn units(units: Throughput) -> Map {
    Map::default()
        .put("ReadCapacityUnits", units.read)
        .put("WriteCapacityUnits", units.write)
}

/// Adds a target and its policy.
fn scaled(resources: Map, names: &mut Names, scaling: Scaling<'_>) -> Map {
    let word = scaling.what.word();
    let (whose, place, dimension) = match scaling.index {
        None => ("Table".to_owned(), "table/${Table}".to_owned(), "table"),
        Some(index) => (
            format!("Index-{index}"),
            format!("table/${{Table}}/index/{index}"),
            "index",
        ),
    };
    let target_name = names.camel(&format!("{whose}-{word}-target"));
    let policy_name = names.camel(&format!("{whose}-{word}-policy"));
    let target = Map::default()
        .put("ServiceNamespace", "dynamodb")
        .put("ResourceId", sub(&place))
        .put(
            "ScalableDimension",
            format!("dynamodb:{dimension}:{word}CapacityUnits"),
        )
        .put("MinCapacity", scaling.bounds.min)
        .put("MaxCapacity", scaling.bounds.max);
    let metric = format!("DynamoDB{word}CapacityUtilization");
    let metric = Map::default().put("PredefinedMetricType", metric);
    let configuration = Map::default().put("PredefinedMetricSpecification", metric);
    let policy = Map::default()
        .put("PolicyName", policy_name.as_str())
        .put("PolicyType", "TargetTrackingScaling")
        .put("ScalingTargetId", to(&target_name))
        .put(
            "TargetTrackingScalingPolicyConfiguration",
            configuration.extend(tracking(scaling)),
        );
    resources
        .put(
            &target_name,
            resource("AWS::ApplicationAutoScaling::ScalableTarget", target),
        )
        .put(
            &policy_name,
            resource("AWS::ApplicationAutoScaling::ScalingPolicy", policy),
        )
}
