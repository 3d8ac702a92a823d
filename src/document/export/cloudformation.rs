//! CloudFormation templates: `AWS::DynamoDB::Table`, or `AWS::DynamoDB::GlobalTable` where there are
//! replicas, with what scales their capacity and keeps what expires.

mod archive;
mod global;
mod table;

use super::infrastructure::{
    Infrastructure, Scaling, class, key_schema, key_type, projection, view_type,
};
use super::names::Names;
use super::yaml::{Map, Yaml};
use super::{Export, ExportError};
use crate::mapping::model::{KeyAttribute, Projection};

/// Bytes of a template that CloudFormation takes without a bucket.
const INLINE: usize = 51_200;
/// What stands above the template.
const HEAD: &str = "\
# Written by `dynafold docs`: a change of the mapping makes it anew.
";
/// What has to be known where capacity follows the load.
const SCALING: &str = "\
# Before an event that is to find its capacity ready, pause scaling in: update the stack with
# PauseScaleIn=true, raise the capacity, and set PauseScaleIn=false when the event is over.
";

pub(super) fn write(wanted: &Infrastructure<'_>) -> Result<Export, ExportError> {
    refuse_resolved(wanted)?;
    let is_global = !wanted.table.settings.replicas.is_empty();
    let mut resources = if is_global {
        global::resources(wanted)
    } else {
        table::resources(wanted)
    };
    if wanted.archives {
        resources = resources.extend(archive::resources());
    }
    let has_targets = wanted.scales();
    let template = Map::default()
        .put("AWSTemplateFormatVersion", "2010-09-09")
        .put(
            "Description",
            format!(
                "The DynamoDB table {} and what belongs to it",
                wanted.table.name
            ),
        )
        .put("Parameters", parameters(wanted, has_targets))
        .put("Resources", resources)
        .put("Outputs", outputs(wanted));
    let scaling = if has_targets { SCALING } else { "" };
    let mut warnings = wanted.warnings.clone();
    if is_global {
        warnings.push(
            "the table is a global one: let the stack be in another region than its replicas"
                .to_owned(),
        );
    }
    let text = format!("{HEAD}{scaling}{}", template.document());
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

fn parameters(wanted: &Infrastructure<'_>, has_targets: bool) -> Map {
    let name = Map::default()
        .put("Type", "String")
        .put("Default", wanted.table.name.as_str())
        .put("Description", "The table's name")
        .put("AllowedPattern", "^[A-Za-z0-9_.-]{3,255}$");
    let pause = Map::default()
        .put("Type", "String")
        .put("Default", "false")
        .put("AllowedValues", vec!["true".into(), "false".into()])
        .put("Description", "Whether capacity only grows for now");
    let pause = has_targets.then_some(pause);
    Map::default()
        .put("TableName", name)
        .maybe("PauseScaleIn", pause)
}

fn outputs(wanted: &Infrastructure<'_>) -> Map {
    let output = |description: &str, value: Yaml| {
        Map::default()
            .put("Description", description)
            .put("Value", value)
    };
    let stream = wanted
        .stream
        .map(|_| output("The ARN of its stream", get("Table.StreamArn")));
    let archive = wanted
        .archives
        .then(|| output("Where expired items are kept", to("ArchiveBucket")));
    let lost = wanted
        .archives
        .then(|| output("Tells which records could not be kept", to("ArchiveQueue")));
    Map::default()
        .put("TableName", output("The table's name", to("Table")))
        .put("TableArn", output("The table's ARN", get("Table.Arn")))
        .maybe("StreamArn", stream)
        .maybe("ArchiveBucket", archive)
        .maybe("ArchiveQueue", lost)
}

/// What a table and a global table have alike: names, keys, expiry.
fn common(wanted: &Infrastructure<'_>) -> Map {
    let table = wanted.table;
    let definitions = wanted.attributes.iter().map(|key| {
        Map::default()
            .put("AttributeName", key.name.as_ref())
            .put("AttributeType", key_type(key))
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

fn resource(kind: &str, properties: Map) -> Map {
    let resource = Map::default().put("Type", kind);
    resource.put("Properties", properties)
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

fn get(attribute: &str) -> Yaml {
    Yaml::Tagged("GetAtt", attribute.to_owned())
}

fn sub(text: &str) -> Yaml {
    Yaml::Tagged("Sub", text.to_owned())
}

/// `None` for an empty list.
fn some(list: Vec<Yaml>) -> Option<Vec<Yaml>> {
    (!list.is_empty()).then_some(list)
}
