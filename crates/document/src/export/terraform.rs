//! Terraform configurations for the provider hashicorp/aws.
//!
//! Keys of global indexes are `key_schema` blocks, which alone can say keys of several attributes;
//! the provider has them since 6.29. The table itself and local indexes keep `hash_key` and
//! `range_key`. What does not depend on the mapping stands in the files of `terraform/`, as the
//! configuration has it.

use dynafold_dynamodb::{Index, Projection, key_schema};

use super::hcl::{attribute, block, formatted, list, maybe, object, quoted};
use super::infrastructure::{Capacity, Infrastructure, Scaling, index_capacity};
use super::names::UniqueNames;
use super::{
    ARCHIVE_FUNCTION, Export, ExportError, ROLL_UP_FUNCTION, WARM_READ, WARM_WRITE, filled,
    indented,
};

/// What packs the functions.
const ARCHIVE_PROVIDER: &str = r#"
    archive = {
      source  = "hashicorp/archive"
      version = ">= 2.4.0"
    }
"#;
/// What has to be known where autoscaling changes the capacity of indexes.
const IGNORED: &str = "\
# Autoscaling changes the capacity. For indexes, Terraform can only ignore the whole block: to change an
# index, remove global_secondary_index from this list for one apply.
";

pub(super) fn write(wanted: &Infrastructure<'_>) -> Result<Export, ExportError> {
    refuse(wanted)?;
    let zips = wanted.archives || !wanted.roll_ups.is_empty();
    let provider = if zips { ARCHIVE_PROVIDER } else { "" };
    let head = [("archive", provider), ("table", &wanted.table.name)];
    let mut parts = vec![filled(include_str!("terraform/head.tf"), &head)];
    if wanted.scales() {
        parts.push(include_str!("terraform/pause.tf").to_owned());
    }
    let resource = r#"resource "aws_dynamodb_table" "table""#;
    parts.push(formatted(&block(resource, &table(wanted))));
    let scaled = scaled(wanted);
    let (own, others): (Vec<_>, Vec<_>) = scaled.iter().partition(|one| one.region.is_none());
    parts.extend(own.iter().map(|one| one.resources()));
    if stand_alone(wanted) {
        parts.push(formatted(&replicas(wanted, &own)));
    }
    parts.extend(others.iter().map(|one| one.resources()));
    if wanted.archives {
        let function = indented(ARCHIVE_FUNCTION, "    ");
        let archive = include_str!("terraform/archive.tf");
        parts.push(filled(archive, &[("function", &function)]));
        let query = [("name", super::athena_name(&wanted.table.name))];
        parts.push(filled(include_str!("terraform/athena.tf"), &query));
    }
    parts.extend(roll_ups(wanted));
    if let Some(backups) = &wanted.table.settings.backups {
        let values = [
            ("vault", super::vault_name(&wanted.table.name)),
            ("schedule", quoted(&backups.schedule)),
            ("days", backups.keep_days.to_string()),
        ];
        parts.push(filled(include_str!("terraform/backups.tf"), &values));
    }
    parts.push(include_str!("terraform/outputs.tf").to_owned());
    if wanted.stream.is_some() {
        parts.push(include_str!("terraform/outputs_stream.tf").to_owned());
    }
    if wanted.archives {
        parts.push(include_str!("terraform/outputs_archive.tf").to_owned());
    }
    Ok(Export {
        text: parts.join("\n"),
        warnings: wanted.warnings.clone(),
    })
}

/// The function that sums, and a schedule for each roll-up.
fn roll_ups(wanted: &Infrastructure<'_>) -> Vec<String> {
    if wanted.roll_ups.is_empty() {
        return Vec::new();
    }
    let function = [("function", indented(ROLL_UP_FUNCTION, "    "))];
    let mut parts = vec![filled(include_str!("terraform/roll_up.tf"), &function)];
    let mut names = UniqueNames::default();
    for roll_up in wanted.roll_ups {
        let values = [
            ("name", names.snake(&format!("roll_up_{}", roll_up.total))),
            ("description", quoted(&super::roll_up_description(roll_up))),
            ("schedule", quoted(&roll_up.schedule)),
            ("input", quoted(&wanted.roll_up_input(roll_up).to_string())),
        ];
        parts.push(filled(
            include_str!("terraform/roll_up_schedule.tf"),
            &values,
        ));
    }
    parts
}

/// Refuses what would fail when it is applied.
fn refuse(wanted: &Infrastructure<'_>) -> Result<(), ExportError> {
    let settings = &wanted.table.settings;
    // An index without a policy of its own has the table's.
    if stand_alone(wanted) && settings.autoscale.is_none() {
        return Err(ExportError::FixedReplicas);
    }
    match settings.warm_throughput {
        Some(warm) if warm.read < WARM_READ || warm.write < WARM_WRITE => {
            Err(ExportError::ColdThroughput {
                read: warm.read,
                write: warm.write,
            })
        }
        _ => Ok(()),
    }
}

fn table(wanted: &Infrastructure<'_>) -> String {
    let (table, settings) = (wanted.table, &wanted.table.settings);
    let units = table.billing.provisioned();
    let sort = table.sort.as_ref();
    let mut body = [
        attribute("name", "var.table_name"),
        attribute("billing_mode", quoted(table.billing.service_word())),
        maybe("read_capacity", units.map(|units| units.read)),
        maybe("write_capacity", units.map(|units| units.write)),
        attribute("hash_key", quoted(&table.partition.name)),
        maybe("range_key", sort.map(|key| quoted(&key.name))),
        maybe("stream_enabled", wanted.stream.map(|_| true)),
        maybe(
            "stream_view_type",
            wanted.stream.map(|view| quoted(view.service_word())),
        ),
        maybe(
            "table_class",
            settings.class.map(|class| quoted(class.service_word())),
        ),
        maybe("deletion_protection_enabled", settings.deletion_protection),
    ]
    .concat();
    let mut add = |head: &str, attributes: &[String]| body += &block(head, &attributes.concat());
    for key in &wanted.attributes {
        let kind = attribute("type", quoted(key.key_type.word()));
        add("attribute", &[attribute("name", quoted(&key.name)), kind]);
    }
    for index in &table.indexes {
        add("global_secondary_index", &global(wanted, index));
    }
    for index in &table.local_indexes {
        let range = index.sort.first().map(|key| quoted(&key.name));
        let local = [
            attribute("name", quoted(&index.name)),
            maybe("range_key", range),
            projected(&index.projection),
        ];
        add("local_secondary_index", &local);
    }
    if let Some(name) = &table.ttl {
        let ttl = [
            attribute("attribute_name", quoted(name)),
            attribute("enabled", true),
        ];
        add("ttl", &ttl);
    }
    if let Some(on) = settings.point_in_time_recovery {
        add("point_in_time_recovery", &[attribute("enabled", on)]);
    }
    if let Some(units) = settings.warm_throughput {
        let warm = [
            attribute("read_units_per_second", units.read),
            attribute("write_units_per_second", units.write),
        ];
        add("warm_throughput", &warm);
    }
    let within = settings.replicas.iter();
    for region in within.filter(|_| !stand_alone(wanted)) {
        let tags = (!settings.tags.is_empty()).then_some(true);
        let replica = [
            attribute("region_name", quoted(region)),
            maybe("point_in_time_recovery", settings.point_in_time_recovery),
            maybe("deletion_protection_enabled", settings.deletion_protection),
            maybe("propagate_tags", tags),
        ];
        add("replica", &replica);
    }
    body + &maybe("tags", tags(wanted)) + &lifecycle(wanted)
}

/// The tags of the table, and of a replica that stands alone.
fn tags(wanted: &Infrastructure<'_>) -> Option<String> {
    let tags = &wanted.table.settings.tags;
    (!tags.is_empty()).then(|| object(tags))
}

fn global(wanted: &Infrastructure<'_>, index: &Index) -> Vec<String> {
    let units = index_capacity(wanted.table, index);
    let mut body = vec![
        attribute("name", quoted(&index.name)),
        maybe("read_capacity", units.map(|units| units.read)),
        maybe("write_capacity", units.map(|units| units.write)),
        projected(&index.projection),
    ];
    for (name, role) in key_schema(&index.partition, &index.sort) {
        let key = attribute("attribute_name", quoted(name)) + &attribute("key_type", quoted(role));
        body.push(block("key_schema", &key));
    }
    body
}

fn projected(projected: &Projection) -> String {
    let (kind, names) = projected.service_words();
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let names = (!names.is_empty()).then(|| list(&names));
    attribute("projection_type", quoted(kind)) + &maybe("non_key_attributes", names)
}

/// A table that holds data is not destroyed on the way to another; what autoscaling moves is left
/// alone.
fn lifecycle(wanted: &Infrastructure<'_>) -> String {
    let mut body = attribute("prevent_destroy", true);
    let mut left = Vec::new();
    if wanted.scaling.iter().any(|scaling| scaling.index.is_none()) {
        left.extend(["read_capacity", "write_capacity"]);
    }
    if wanted.scaling.iter().any(|scaling| scaling.index.is_some()) {
        left.push("global_secondary_index");
        body += IGNORED;
    }
    if stand_alone(wanted) {
        left.push("replica");
    }
    let left: Vec<String> = left.into_iter().map(str::to_owned).collect();
    body += &maybe("ignore_changes", (!left.is_empty()).then(|| list(&left)));
    block("lifecycle", &body)
}

/// Whether replicas are resources of their own.
fn stand_alone(wanted: &Infrastructure<'_>) -> bool {
    !wanted.table.settings.replicas.is_empty() && wanted.table.billing.provisioned().is_some()
}

/// What a region's replica is called.
fn replica_name(region: &str) -> String {
    UniqueNames::default().snake(region)
}

/// Replicas of a table with provisioned capacity. DynamoDB makes them only where something scales
/// the table's writes, so they come after that, as resources of their own. On demand they stand in
/// the table.
fn replicas(wanted: &Infrastructure<'_>, own: &[&Scaled<'_>]) -> String {
    let settings = &wanted.table.settings;
    let writes = own
        .iter()
        .filter(|one| one.scaling.capacity == Capacity::Write);
    let mut first: Vec<String> = writes
        .map(|one| format!("aws_appautoscaling_policy.{}", one.name))
        .collect();
    let mut file = String::new();
    for region in &settings.replicas {
        let body = [
            attribute("region", quoted(region)),
            attribute("global_table_arn", "aws_dynamodb_table.table.arn"),
            maybe("point_in_time_recovery", settings.point_in_time_recovery),
            maybe("deletion_protection_enabled", settings.deletion_protection),
            maybe("tags", tags(wanted)),
            attribute("depends_on", list(&first)),
            block("lifecycle", &attribute("prevent_destroy", true)),
        ];
        let name = replica_name(region);
        let head = format!(r#"resource "aws_dynamodb_table_replica" "{name}""#);
        file += &block(&head, &body.concat());
        // DynamoDB makes one at a time.
        first = vec![format!("aws_dynamodb_table_replica.{name}")];
    }
    file
}

/// Capacity that is scaled somewhere.
struct Scaled<'m> {
    /// What its target and its policy are called.
    name: String,
    scaling: Scaling<'m>,
    /// The replica's; the table's own without it.
    region: Option<&'m str>,
}

/// All of it: that of the table's own region, then that of each replica.
fn scaled<'m>(wanted: &Infrastructure<'m>) -> Vec<Scaled<'m>> {
    let mut names = UniqueNames::default();
    let table = wanted.table;
    let replicas = table.settings.replicas.iter();
    let regions = std::iter::once(None).chain(replicas.map(|region| Some(region.as_str())));
    let all = regions.flat_map(|region| wanted.scaling.iter().map(move |one| (region, *one)));
    let named = all.map(|(region, scaling)| {
        let at = region.map_or_else(String::new, |region| format!("_{region}"));
        Scaled {
            name: names.snake(&(scaling.resource_name() + &at)),
            scaling,
            region,
        }
    });
    named.collect()
}

impl Scaled<'_> {
    /// Its target and its policy.
    fn resources(&self) -> String {
        let Self {
            name,
            scaling,
            region,
        } = self;
        let own = region.map(|region| format!("  region             = \"{region}\"\n"));
        let first = region.map(|region| {
            let replica = replica_name(region);
            format!("  depends_on         = [aws_dynamodb_table_replica.{replica}]\n")
        });
        let own = [
            ("name", name.as_str()),
            ("region", &own.unwrap_or_default()),
            ("first", &first.unwrap_or_default()),
        ];
        let template = filled(include_str!("terraform/scaling.tf"), &own);
        filled(&template, &scaling.template_values())
    }
}
