//! CloudFormation templates: `AWS::DynamoDB::Table`, or `AWS::DynamoDB::GlobalTable` where there are
//! replicas, with what scales their capacity and keeps what expires. What does not depend on the mapping
//! stands in the files of `cloudformation/`, as the template has it; what does is written as JSON, which
//! YAML takes as it is.

use dynafold_dynamodb::{
    Index, Throughput, create_table_input, index_definition, without_null_and_empty,
};
use serde_json::{Value, json};

use super::infrastructure::{
    Capacity, Infrastructure, ScalingBounds, autoscale_policy, index_capacity,
};
use super::names::UniqueNames;
use super::{ARCHIVE_FUNCTION, Export, ExportError, ROLL_UP_FUNCTION, filled, indented};

/// Bytes of a template that CloudFormation takes without a bucket.
const MOST_INLINE_BYTES: usize = 51_200;
/// The template's comment on its parameter `PauseScaleIn`, where capacity follows the load.
const PAUSE_COMMENT: &str = "\
# Before an event that is to find its capacity ready, pause scaling in: update the stack with
# PauseScaleIn=true, raise the capacity, and set PauseScaleIn=false when the event is over.
";

pub(super) fn write(wanted: &Infrastructure<'_>) -> Result<Export, ExportError> {
    refuse_resolved(wanted)?;
    let name = wanted.table.name.as_str();
    let is_global = !wanted.table.settings.replicas.is_empty();
    let comment = if wanted.scales() { PAUSE_COMMENT } else { "" };
    let head = [("scaling", comment), ("table", name)];
    let mut text = filled(include_str!("cloudformation/head.yaml"), &head);
    if wanted.scales() {
        text.push_str(include_str!("cloudformation/pause.yaml"));
    }
    let (kind, properties) = if is_global {
        ("GlobalTable", global_table(wanted))
    } else {
        ("Table", merged([common(wanted), guards(wanted)]))
    };
    let table = [
        ("kind", kind.to_owned()),
        (
            "properties",
            block(&without_null_and_empty(&properties), "      "),
        ),
    ];
    text.push('\n');
    text.push_str(&filled(include_str!("cloudformation/table.yaml"), &table));
    if !is_global {
        push_scaling(&mut text, wanted);
    }
    if wanted.archives {
        let function = indented(ARCHIVE_FUNCTION, "          ");
        let archive = include_str!("cloudformation/archive.yaml");
        text.push_str(&filled(archive, &[("function", &function)]));
        let query = [("name", super::athena_name(name))];
        text.push_str(&filled(include_str!("cloudformation/athena.yaml"), &query));
    }
    push_roll_ups(&mut text, wanted);
    if let Some(backups) = &wanted.table.settings.backups {
        let values = [
            ("vault", super::vault_name(name)),
            ("schedule", inline(&json!(backups.schedule))),
            ("days", backups.keep_days.to_string()),
        ];
        text.push_str(&filled(
            include_str!("cloudformation/backups.yaml"),
            &values,
        ));
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
            "the table is a global table: create the stack in a region that has none of its replicas"
                .to_owned(),
        );
    }
    if text.len() > MOST_INLINE_BYTES {
        warnings.push(format!(
            "the template has {} bytes, and CloudFormation accepts {MOST_INLINE_BYTES} from a local file: use `aws cloudformation deploy --s3-bucket BUCKET`",
            text.len()
        ));
    }
    Ok(Export { text, warnings })
}

/// Refuses texts in whose place CloudFormation would put something else.
fn refuse_resolved(wanted: &Infrastructure<'_>) -> Result<(), ExportError> {
    let table = wanted.table;
    let roll_ups = wanted.roll_ups.iter().map(|roll_up| {
        let input = wanted.roll_up_input(roll_up).to_string();
        (
            input + &super::roll_up_description(roll_up),
            format!("the roll-up of `{}`", roll_up.total),
        )
    });
    let roll_ups: Vec<_> = roll_ups.collect();
    let attributes = wanted.attributes.iter().map(|key| key.name.as_ref());
    let indexes = table.all_indexes();
    let projected = indexes.flat_map(|index| index.projection.service_words().1);
    let names = attributes
        .chain(projected.map(String::as_str))
        .chain(table.ttl.as_deref());
    let named = names.map(|name| (name, format!("the attribute `{name}`")));
    let tags = table.settings.tags.iter().flat_map(|(key, value)| {
        [key, value].map(|text| (text.as_str(), format!("the tag `{key}`")))
    });
    let summed = roll_ups
        .iter()
        .map(|(text, what)| (text.as_str(), what.clone()));
    match named
        .chain(tags)
        .chain(summed)
        .find(|(text, _)| text.contains("{{resolve:"))
    {
        Some((_, what)) => Err(ExportError::Resolved { what }),
        None => Ok(()),
    }
}

/// What a table and a global table have alike: keys and indexes, as `CreateTable` has them too, and expiry.
fn common(wanted: &Infrastructure<'_>) -> Value {
    let ttl = wanted.table.ttl.as_ref();
    let further = json!({
        "TimeToLiveSpecification": ttl.map(|name| json!({ "AttributeName": name, "Enabled": true })),
        "StreamSpecification": wanted.stream.map(|view| json!({ "StreamViewType": view.service_word() })),
    });
    merged([create_table_input(wanted.table), further])
}

/// The tags, the class and the guards of a table, or of each replica.
fn guards(wanted: &Infrastructure<'_>) -> Value {
    let recovery = wanted.table.settings.point_in_time_recovery;
    let own = create_table_input(wanted.table);
    json!({
        "PointInTimeRecoverySpecification":
            recovery.map(|on| json!({ "PointInTimeRecoveryEnabled": on })),
        "DeletionProtectionEnabled": own.get("DeletionProtectionEnabled"),
        "TableClass": own.get("TableClass"),
        "Tags": own.get("Tags"),
    })
}

/// The longest JSON of a map or a list, in bytes, that stands on one line.
const MOST_LINE_BYTES: usize = 90;

/// The members of a map below each other, each with its value: as JSON, which YAML takes as it is, where
/// that is short.
fn block(map: &Value, indent: &str) -> String {
    let mut out = String::new();
    for (name, value) in map.as_object().into_iter().flatten() {
        let line = inline(value);
        match value {
            Value::Object(_) if line.len() > MOST_LINE_BYTES => {
                let members = block(value, &format!("{indent}  "));
                out.push_str(&format!("{indent}{name}:\n{members}"));
            }
            Value::Array(elements) if line.len() > MOST_LINE_BYTES => {
                out.push_str(&format!("{indent}{name}:\n"));
                for each in elements {
                    let short = inline(each);
                    // The first line of what is long stands behind the dash.
                    let long = block(each, &format!("{indent}    "));
                    let is_long = short.len() > MOST_LINE_BYTES && !long.is_empty();
                    let text = if is_long { long.trim() } else { &short };
                    out.push_str(&format!("{indent}  - {text}\n"));
                }
            }
            _ => out.push_str(&format!("{indent}{name}: {line}\n")),
        }
    }
    out
}

/// JSON on one line, of characters that every reader of YAML takes for themselves.
fn inline(value: &Value) -> String {
    let pretty = format!("{value:#}");
    let lines: Vec<&str> = pretty.lines().map(str::trim_start).collect();
    let mut out = String::new();
    for sign in lines.join(" ").chars() {
        if matches!(sign, ' '..='~') || sign.is_alphanumeric() {
            out.push(sign);
        } else {
            // YAML's own escape: JSON's knows no more than four digits.
            out.push_str(&format!("\\U{:08X}", u32::from(sign)));
        }
    }
    out
}

/// One map of several.
fn merged(maps: impl IntoIterator<Item = Value>) -> Value {
    let maps = maps.into_iter().filter_map(|map| match map {
        Value::Object(map) => Some(map),
        _ => None,
    });
    Value::Object(maps.flatten().collect())
}

/// The targets and policies that scale the capacity of a table in one region.
fn push_scaling(text: &mut String, wanted: &Infrastructure<'_>) {
    let mut names = UniqueNames::default();
    for scaling in &wanted.scaling {
        let words = scaling.resource_name();
        let own = [
            ("aim", names.camel(&format!("{words}-target"))),
            ("policy", names.camel(&format!("{words}-policy"))),
        ];
        let template = filled(include_str!("cloudformation/scaling.yaml"), &own);
        text.push_str(&filled(&template, &scaling.template_values()));
    }
}

/// The function that sums, and a schedule for each roll-up.
fn push_roll_ups(text: &mut String, wanted: &Infrastructure<'_>) {
    if wanted.roll_ups.is_empty() {
        return;
    }
    let function = [("function", indented(ROLL_UP_FUNCTION, "          "))];
    text.push_str(&filled(
        include_str!("cloudformation/roll_up.yaml"),
        &function,
    ));
    let mut names = UniqueNames::default();
    for roll_up in wanted.roll_ups {
        let input = wanted.roll_up_input(roll_up).to_string();
        let values = [
            (
                "name",
                names.camel(&format!("Roll-up-{}-schedule", roll_up.total)),
            ),
            (
                "description",
                inline(&json!(super::roll_up_description(roll_up))),
            ),
            ("schedule", inline(&json!(roll_up.schedule))),
            ("input", inline(&json!(input))),
        ];
        text.push_str(&filled(
            include_str!("cloudformation/roll_up_schedule.yaml"),
            &values,
        ));
    }
}

/// A table with replicas: writes are provisioned for all of them, reads for each.
fn global_table(wanted: &Infrastructure<'_>) -> Value {
    let throughput = "WriteProvisionedThroughputSettings";
    let indexes = wanted.table.indexes.iter().map(|index| {
        let units = index_capacity(wanted.table, index);
        let writes = units.map(|units| writes(wanted, Some(index), units));
        index_definition(index, &index.partition, (throughput, writes))
    });
    let own = std::iter::once(json!({ "Ref": "AWS::Region" }));
    let others = wanted.table.settings.replicas.iter();
    let regions = own.chain(others.map(|region| json!(region)));
    let further = json!({
        // Each replica has its own: `without_null_and_empty` leaves out what is null.
        "ProvisionedThroughput": null,
        "DeletionProtectionEnabled": null,
        "TableClass": null,
        "Tags": null,
        throughput: wanted.table.billing.provisioned().map(|units| writes(wanted, None, units)),
        "GlobalSecondaryIndexes": indexes.collect::<Value>(),
        "Replicas": regions.map(|region| replica(wanted, &region)).collect::<Value>(),
    });
    merged([common(wanted), further])
}

fn replica(wanted: &Infrastructure<'_>, region: &Value) -> Value {
    let indexes = wanted.table.indexes.iter().filter_map(|index| {
        let units = index_capacity(wanted.table, index)?;
        let reads = reads(wanted, Some(index), units);
        Some(json!({ "IndexName": index.name, "ReadProvisionedThroughputSettings": reads }))
    });
    let replica = json!({
        "Region": region,
        "ReadProvisionedThroughputSettings":
            wanted.table.billing.provisioned().map(|units| reads(wanted, None, units)),
        "GlobalSecondaryIndexes": indexes.collect::<Value>(),
    });
    merged([replica, guards(wanted)])
}

/// The service takes no write capacity that does not follow the load: one that stays as it is has
/// equal bounds.
fn writes(wanted: &Infrastructure<'_>, index: Option<&Index>, units: Throughput) -> Value {
    let settings = auto_scaling(wanted, index, Capacity::Write, units.write);
    json!({ "WriteCapacityAutoScalingSettings": settings })
}

fn reads(wanted: &Infrastructure<'_>, index: Option<&Index>, units: Throughput) -> Value {
    if autoscale_policy(wanted.table, index).is_none() {
        return json!({ "ReadCapacityUnits": units.read });
    }
    let settings = auto_scaling(wanted, index, Capacity::Read, units.read);
    json!({ "ReadCapacityAutoScalingSettings": settings })
}

fn auto_scaling(
    wanted: &Infrastructure<'_>,
    index: Option<&Index>,
    what: Capacity,
    first: u64,
) -> Value {
    let policy = autoscale_policy(wanted.table, index);
    let bounds = ScalingBounds::of(policy, first);
    json!({
        "MinCapacity": bounds.min,
        "MaxCapacity": bounds.max,
        "SeedCapacity": (what == Capacity::Write).then_some(first),
        "TargetTrackingScalingPolicyConfiguration": {
            "TargetValue": bounds.target_percent,
            "DisableScaleIn": policy.map(|_| json!({ "Ref": "PauseScaleIn" })),
        },
    })
}

#[cfg(test)]
mod tests {
    use dynafold_mapping::yaml::parse;
    use proptest::prelude::*;

    use super::*;

    /// What a reader of YAML makes of a text, as a value, a key and an element.
    fn read_back(text: &str) -> [String; 3] {
        let mut inner = json!([text]);
        inner = json!({ "alone": text, "list": inner });
        inner[format!("{text}!")] = json!("b");
        let document = format!("inner: {}\n", inline(&inner));
        let root = parse(&document).unwrap_or_else(|fault| panic!("{fault:?}\n{document}"));
        let inner = root.get("inner").unwrap();
        let list = inner.get("list").unwrap().elements();
        let key = inner.entries().last().unwrap().key.strip_suffix('!');
        [
            inner.get("alone").unwrap().text().unwrap().to_owned(),
            key.unwrap().to_owned(),
            list[0].text().unwrap().to_owned(),
        ]
    }

    #[test]
    fn no_text_is_read_as_something_else() {
        for text in [
            "",
            "yes",
            "12",
            "2026-01-01",
            "a: b",
            "a #b",
            "'\"\\",
            "a\nb\u{7f}",
            "${AWS::Region}",
            "안녕",
            "\u{85}\u{2028}\u{feff}🎲",
        ] {
            assert_eq!(read_back(text), [text; 3]);
        }
    }

    #[test]
    fn what_is_not_there_is_not_said() {
        let map = json!({ "A": null, "B": [], "C": [{ "D": 1, "E": null }], "F": { "Ref": "G" } });
        let expected = "C: [ { \"D\": 1 } ]\nF: { \"Ref\": \"G\" }\n";
        assert_eq!(block(&super::without_null_and_empty(&map), ""), expected);
    }

    #[test]
    fn what_is_long_has_lines_of_its_own() {
        let long = "x".repeat(80);
        let map = json!({ "A": { "B": [{ "C": long, "D": [1] }, { "E": 2 }, long] } });
        let expected = format!(
            "A:\n  B:\n    - C: \"{long}\"\n      D: [ 1 ]\n    - {{ \"E\": 2 }}\n    - \"{long}\"\n"
        );
        assert_eq!(block(&map, ""), expected);
    }

    proptest! {
        #[test]
        fn every_text_is_read_back_as_it_was(text in any::<String>()) {
            for found in read_back(&text) {
                prop_assert_eq!(&found, &text);
            }
        }
    }
}
