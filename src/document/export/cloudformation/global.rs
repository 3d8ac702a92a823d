//! A table with replicas: writes are provisioned for all of them, reads for each.

use super::{
    Infrastructure, Map, Scaling, Yaml, common, guards, index_of, kept, schema, some, to, tracking,
};
use crate::document::export::infrastructure::{Bounds, Capacity, policy};
use crate::mapping::model::{Index, Throughput};

pub(super) fn resources(wanted: &Infrastructure<'_>) -> Map {
    let table = wanted.table;
    let writes = wanted
        .provisioned()
        .map(|units| writes(wanted, None, units));
    let own = std::iter::once(to("AWS::Region"));
    let others = table.settings.replicas.iter();
    let regions = own.chain(others.map(|region| region.as_str().into()));
    let replicas = regions.map(|region| replica(wanted, region).into());
    let properties = common(wanted)
        .maybe("WriteProvisionedThroughputSettings", writes)
        .maybe("GlobalSecondaryIndexes", indexes(wanted))
        .put("Replicas", replicas.collect::<Vec<Yaml>>());
    Map::default().put("Table", kept("AWS::DynamoDB::GlobalTable", properties))
}

fn indexes(wanted: &Infrastructure<'_>) -> Option<Vec<Yaml>> {
    let indexes = wanted.table.indexes.iter().map(|index| {
        let key = schema(&index.partition, &index.sort);
        let units = wanted.provisioned_of(index);
        let writes = units.map(|units| writes(wanted, Some(index), units));
        index_of(&index.name, key, &index.projection)
            .maybe("WriteProvisionedThroughputSettings", writes)
            .into()
    });
    some(indexes.collect())
}

fn replica(wanted: &Infrastructure<'_>, region: Yaml) -> Map {
    let reads_of = |index: Option<&Index>, units: Option<Throughput>| {
        units.map(|units| reads(wanted, index, units))
    };
    let indexes = wanted.table.indexes.iter().filter_map(|index| {
        let reads = reads_of(Some(index), wanted.provisioned_of(index))?;
        let index = Map::default().put("IndexName", index.name.as_str());
        let index = index.put("ReadProvisionedThroughputSettings", reads);
        Some(index.into())
    });
    Map::default()
        .put("Region", region)
        .maybe(
            "ReadProvisionedThroughputSettings",
            reads_of(None, wanted.provisioned()),
        )
        .maybe("GlobalSecondaryIndexes", some(indexes.collect()))
        .extend(guards(wanted))
}

/// The service takes no write capacity that does not follow the load: one that stays as it is has
/// equal bounds.
fn writes(wanted: &Infrastructure<'_>, index: Option<&Index>, units: Throughput) -> Map {
    let settings = follows(wanted, index, Capacity::Write, units.write);
    Map::default().put("WriteCapacityAutoScalingSettings", settings)
}

fn reads(wanted: &Infrastructure<'_>, index: Option<&Index>, units: Throughput) -> Map {
    if policy(wanted.table, index).is_none() {
        return Map::default().put("ReadCapacityUnits", units.read);
    }
    let settings = follows(wanted, index, Capacity::Read, units.read);
    Map::default().put("ReadCapacityAutoScalingSettings", settings)
}

fn follows(wanted: &Infrastructure<'_>, index: Option<&Index>, what: Capacity, first: u64) -> Map {
    let policy = policy(wanted.table, index);
    let scaling = Scaling {
        index: index.map(|index| index.name.as_str()),
        what,
        bounds: Bounds::of(policy, first),
    };
    let aim = match policy {
        Some(_) => tracking(scaling),
        None => Map::default().put("TargetValue", scaling.bounds.target),
    };
    let seed = (what == Capacity::Write).then_some(first);
    Map::default()
        .put("MinCapacity", scaling.bounds.min)
        .put("MaxCapacity", scaling.bounds.max)
        .maybe("SeedCapacity", seed)
        .put("TargetTrackingScalingPolicyConfiguration", aim)
}
