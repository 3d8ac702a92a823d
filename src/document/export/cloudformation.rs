//! CloudFormation templates: `AWS::DynamoDB::Table`, or `AWS::DynamoDB::GlobalTable` where there are
//! replicas, with what scales their capacity and keeps what expires. What does not depend on the mapping
//! stands in the files of `cloudformation/`, as the template has it.

use super::infrastructure::{
    Bounds, Capacity, Infrastructure, Scaling, class, key_schema, policy, projection, view_type,
};
use super::names::Names;
use super::yaml::{Map, Yaml, scalar};
use super::{ARCHIVE_FUNCTION, Export, ExportError, filled, indented};
use crate::mapping::model::{Index, KeyAttribute, Projection, Throughput};

/// Bytes of a template that CloudFormation takes without a bucket.
const INLINE: usize = 51_200;
/// What has to be known where capacity follows the load.
const SCALING: &str = "\
# Before an event that is to find its capacity ready, pause scaling in: update the stack with
# PauseScaleIn=true, raise the capacity, and set PauseScaleIn=false when the event is over.
";

pub(super) fn write(wanted: &Infrastructure<'_>) -> Result<Export, ExportError> {
    refuse_resolved(wanted)?;
    let name = wanted.table.name.as_str();
    let is_global = !wanted.table.settings.replicas.is_empty();
    let follows = if wanted.scales() { SCALING } else { "" };
    let head = [
        ("scaling", follows),
        ("table", name),
        ("name", &scalar(name)),
    ];
    let mut text = filled(include_str!("cloudformation/head.yaml"), &head);
    if wanted.scales() {
        text.push_str(include_str!("cloudformation/pause.yaml"));
    }
    let table = if is_global {
        kept("AWS::DynamoDB::GlobalTable", global_table(wanted))
    } else {
        kept("AWS::DynamoDB::Table", regional_table(wanted))
    };
    let resources = Map::default().put("Table", table);
    text.push('\n');
    text.push_str(&Map::default().put("Resources", resources).document());
    if !is_global {
        push_scaling(&mut text, wanted);
    }
    if wanted.archives {
        let function = indented(ARCHIVE_FUNCTION, "          ");
        let archive = include_str!("cloudformation/archive.yaml");
        text.push_str(&filled(archive, &[("function", &function)]));
    }
    text.push('\n');
    text.push_str(include_str!("cloudformation/outputs.yaml"));
    if wanted.stream.is_some() {
        text.push_str(include_str!("cloudformation/outputs_stream.yaml"));
    }
    if wanted.archives {
        text.push_str(include_str!("cloudformation/outputs_archive.yaml"));
    }
    let mut warnings = wanted.warnings.clone();
    if is_global {
        warnings.push(
            "the table is a global one: let the stack be in another region than its replicas"
                .to_owned(),
        );
    }
    if text.len() > INLINE {
        warnings.push(format!(
            "the template has {} bytes, and CloudFormation takes {INLINE} from a file: give `aws cloudformation deploy` an --s3-bucket",
            text.len()
        ));
    }
    Ok(Export { text, warnings })
}

/// Refuses texts in whose place CloudFormation would put something else.
fn refuse_resolved(wanted: &Infrastructure<'_>) -> Result<(), ExportError> {
    let table = wanted.table;
    let attributes = wanted.attributes.iter().map(|key| key.name.as_ref());
    let indexes = table.indexes.iter().chain(&table.local_indexes);
    let projected = indexes.flat_map(|index| match &index.projection {
        Projection::Include(names) => names.as_slice(),
        Projection::All | Projection::Keys => &[],
    });
    let names = attributes
        .chain(projected.map(String::as_str))
        .chain(table.ttl.as_deref());
    let named = names.map(|name| (name, format!("the attribute `{name}`")));
    let tags = table.settings.tags.iter().flat_map(|(key, value)| {
        [key, value].map(|text| (text.as_str(), format!("the tag `{key}`")))
    });
    match named
        .chain(tags)
        .find(|(text, _)| text.contains("{{resolve:"))
    {
        Some((_, what)) => Err(ExportError::Resolved { what }),
        None => Ok(()),
    }
}

/// What a table and a global table have alike: names, keys, expiry.
fn common(wanted: &Infrastructure<'_>) -> Map {
    let table = wanted.table;
    let definitions = wanted.attributes.iter().map(|key| {
        Map::default()
            .put("AttributeName", key.name.as_ref())
            .put("AttributeType", key.key_type.word())
            .into()
    });
    let billing = match wanted.provisioned() {
        None => "PAY_PER_REQUEST",
        Some(_) => "PROVISIONED",
    };
    let ttl = table.ttl.as_deref().map(|attribute| {
        Map::default()
            .put("AttributeName", attribute)
            .put("Enabled", true)
    });
    let stream = wanted
        .stream
        .map(|view| Map::default().put("StreamViewType", view_type(view)));
    Map::default()
        .put("TableName", to("TableName"))
        .put("AttributeDefinitions", definitions.collect::<Vec<Yaml>>())
        .put(
            "KeySchema",
            schema(
                std::slice::from_ref(&table.partition),
                table.sort.as_slice(),
            ),
        )
        .put("BillingMode", billing)
        .maybe("TimeToLiveSpecification", ttl)
        .maybe("StreamSpecification", stream)
        .maybe("LocalSecondaryIndexes", local_indexes(wanted))
        .maybe("WarmThroughput", warm(wanted))
}

fn warm(wanted: &Infrastructure<'_>) -> Option<Map> {
    wanted.table.settings.warm_throughput.map(|units| {
        Map::default()
            .put("ReadUnitsPerSecond", units.read)
            .put("WriteUnitsPerSecond", units.write)
    })
}

fn local_indexes(wanted: &Infrastructure<'_>) -> Option<Vec<Yaml>> {
    let table = wanted.table;
    let indexes = table.local_indexes.iter().map(|index| {
        let key = schema(std::slice::from_ref(&table.partition), &index.sort);
        index_of(&index.name, key, &index.projection).into()
    });
    some(indexes.collect())
}

/// What an index of either kind has.
fn index_of(name: &str, key: Vec<Yaml>, projected: &Projection) -> Map {
    let (kind, names) = projection(projected);
    let names = names.iter().map(|name| name.as_str().into());
    let projected = Map::default()
        .put("ProjectionType", kind)
        .maybe("NonKeyAttributes", some(names.collect()));
    Map::default()
        .put("IndexName", name)
        .put("KeySchema", key)
        .put("Projection", projected)
}

fn schema(partition: &[KeyAttribute], sort: &[KeyAttribute]) -> Vec<Yaml> {
    let elements = key_schema(partition, sort).map(|(name, role)| {
        Map::default()
            .put("AttributeName", name)
            .put("KeyType", role)
            .into()
    });
    elements.collect()
}

/// The tags, the class and the guards of a table, or of each replica.
fn guards(wanted: &Infrastructure<'_>) -> Map {
    let settings = &wanted.table.settings;
    let recovery = settings
        .point_in_time_recovery
        .map(|on| Map::default().put("PointInTimeRecoveryEnabled", on));
    let tags = settings.tags.iter().map(|(key, value)| {
        let tag = Map::default().put("Key", key.as_str());
        tag.put("Value", value.as_str()).into()
    });
    Map::default()
        .maybe("PointInTimeRecoverySpecification", recovery)
        .maybe("DeletionProtectionEnabled", settings.deletion_protection)
        .maybe("TableClass", settings.class.map(class))
        .maybe("Tags", some(tags.collect()))
}

/// A resource that outlives its stack, since it holds data.
fn kept(kind: &str, properties: Map) -> Map {
    Map::default()
        .put("Type", kind)
        .put("DeletionPolicy", "Retain")
        .put("UpdateReplacePolicy", "Retain")
        .put("Properties", properties)
}

/// What target tracking aims at.
fn tracking(scaling: Scaling<'_>) -> Map {
    Map::default()
        .put("TargetValue", scaling.bounds.target)
        .put("DisableScaleIn", to("PauseScaleIn"))
}

fn to(name: &str) -> Yaml {
    Yaml::Tagged("Ref", name.to_owned())
}

/// `None` for an empty list.
fn some(list: Vec<Yaml>) -> Option<Vec<Yaml>> {
    (!list.is_empty()).then_some(list)
}

/// A table in one region.
fn regional_table(wanted: &Infrastructure<'_>) -> Map {
    common(wanted)
        .maybe("ProvisionedThroughput", wanted.provisioned().map(units))
        .maybe("GlobalSecondaryIndexes", indexes(wanted))
        .extend(guards(wanted))
}

/// The targets and policies that scale the capacity of a table in one region.
fn push_scaling(text: &mut String, wanted: &Infrastructure<'_>) {
    let mut names = Names::default();
    for scaling in &wanted.scaling {
        let word = scaling.what.word();
        let (whose, index, dimension) = match scaling.index {
            None => ("Table".to_owned(), String::new(), "table"),
            Some(index) => (format!("Index-{index}"), format!("/index/{index}"), "index"),
        };
        let values = [
            ("aim", names.camel(&format!("{whose}-{word}-target"))),
            ("policy", names.camel(&format!("{whose}-{word}-policy"))),
            ("index", index),
            ("dimension", dimension.to_owned()),
            ("word", word.to_owned()),
            ("min", scaling.bounds.min.to_string()),
            ("max", scaling.bounds.max.to_string()),
            ("target", scaling.bounds.target.to_string()),
        ];
        let values = values
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        text.push_str(&filled(
            include_str!("cloudformation/scaling.yaml"),
            &values,
        ));
    }
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

/// A table with replicas: writes are provisioned for all of them, reads for each.
fn global_table(wanted: &Infrastructure<'_>) -> Map {
    let table = wanted.table;
    let writes = wanted
        .provisioned()
        .map(|units| writes(wanted, None, units));
    let own = std::iter::once(to("AWS::Region"));
    let others = table.settings.replicas.iter();
    let regions = own.chain(others.map(|region| region.as_str().into()));
    let replicas = regions.map(|region| replica(wanted, region).into());
    common(wanted)
        .maybe("WriteProvisionedThroughputSettings", writes)
        .maybe("GlobalSecondaryIndexes", global_indexes(wanted))
        .put("Replicas", replicas.collect::<Vec<Yaml>>())
}

fn global_indexes(wanted: &Infrastructure<'_>) -> Option<Vec<Yaml>> {
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
