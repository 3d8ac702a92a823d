//! Terraform configurations for the provider hashicorp/aws.
//!
//! Keys of global indexes are `key_schema` blocks, which alone can say keys of several attributes;
//! the provider has them since 6.29. The table itself and local indexes keep `hash_key` and
//! `range_key`. What does not depend on the mapping stands in the files of `terraform/`, as the
//! configuration has it.

use super::hcl::{Body, Hcl, expression};
use super::infrastructure::{
    Capacity, Infrastructure, Scaling, class, key_schema, projection, view_type,
};
use super::names::Names;
use super::{ARCHIVE_FUNCTION, Export, ExportError, WARM_READ, WARM_WRITE, filled, indented};
use crate::mapping::model::{Index, Projection};

/// What packs the archive's function.
const ARCHIVE_PROVIDER: &str = r#"
    archive = {
      source  = "hashicorp/archive"
      version = ">= 2.4.0"
    }
"#;
/// What has to be known where autoscaling changes the capacity of indexes.
const IGNORED: &str = "\
Autoscaling moves the capacity. Terraform cannot leave alone that of an index without leaving alone the
whole index: to change one, take global_secondary_index out of the list for that apply.";

pub(super) fn write(wanted: &Infrastructure<'_>) -> Result<Export, ExportError> {
    refuse(wanted)?;
    let provider = if wanted.archives {
        ARCHIVE_PROVIDER
    } else {
        ""
    };
    let head = [("archive", provider), ("table", &wanted.table.name)];
    let mut parts = vec![filled(include_str!("terraform/head.tf"), &head)];
    if wanted.scales() {
        parts.push(include_str!("terraform/pause.tf").to_owned());
    }
    let table = Body::default().block(r#"resource "aws_dynamodb_table" "table""#, table(wanted));
    parts.push(table.document());
    let scaled = scaled(wanted);
    let (own, others): (Vec<_>, Vec<_>) = scaled.iter().partition(|one| one.region.is_none());
    parts.extend(own.iter().map(|one| one.resources()));
    if stand_alone(wanted) {
        parts.push(replicas(wanted, &own).document());
    }
    parts.extend(others.iter().map(|one| one.resources()));
    if wanted.archives {
        let function = indented(ARCHIVE_FUNCTION, "    ");
        let archive = include_str!("terraform/archive.tf");
        parts.push(filled(archive, &[("function", &function)]));
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

fn table(wanted: &Infrastructure<'_>) -> Body {
    let (table, settings) = (wanted.table, &wanted.table.settings);
    let units = wanted.provisioned();
    let billing = if units.is_some() {
        "PROVISIONED"
    } else {
        "PAY_PER_REQUEST"
    };
    let mut body = Body::default()
        .put("name", expression("var.table_name"))
        .put("billing_mode", billing)
        .maybe("read_capacity", units.map(|units| units.read))
        .maybe("write_capacity", units.map(|units| units.write))
        .put("hash_key", &*table.partition.name)
        .maybe("range_key", table.sort.as_ref().map(|key| &*key.name))
        .maybe("stream_enabled", wanted.stream.map(|_| true))
        .maybe("stream_view_type", wanted.stream.map(view_type))
        .maybe("table_class", settings.class.map(class))
        .maybe("deletion_protection_enabled", settings.deletion_protection);
    for key in &wanted.attributes {
        let attribute = Body::default().put("name", &*key.name);
        body = body.block("attribute", attribute.put("type", key.key_type.word()));
    }
    for index in &table.indexes {
        body = body.block("global_secondary_index", global(wanted, index));
    }
    for index in &table.local_indexes {
        let range = index.sort.first().map(|key| &*key.name);
        let local = Body::default()
            .put("name", index.name.as_str())
            .maybe("range_key", range);
        body = body.block("local_secondary_index", projected(local, &index.projection));
    }
    if let Some(attribute) = &table.ttl {
        let ttl = Body::default().put("attribute_name", attribute.as_str());
        body = body.block("ttl", ttl.put("enabled", true));
    }
    if let Some(on) = settings.point_in_time_recovery {
        body = body.block("point_in_time_recovery", Body::default().put("enabled", on));
    }
    if let Some(units) = settings.warm_throughput {
        let warm = Body::default().put("read_units_per_second", units.read);
        let warm = warm.put("write_units_per_second", units.write);
        body = body.block("warm_throughput", warm);
    }
    let within = settings.replicas.iter();
    for region in within.filter(|_| !stand_alone(wanted)) {
        let tags = (!settings.tags.is_empty()).then_some(true);
        let replica = Body::default()
            .put("region_name", region.as_str())
            .maybe("point_in_time_recovery", settings.point_in_time_recovery)
            .maybe("deletion_protection_enabled", settings.deletion_protection)
            .maybe("propagate_tags", tags);
        body = body.block("replica", replica);
    }
    lifecycle(body.maybe("tags", tags(wanted)), wanted)
}

/// The tags of the table, and of a replica that stands alone.
fn tags(wanted: &Infrastructure<'_>) -> Option<Hcl> {
    let tags = wanted.table.settings.tags.iter();
    let tags: Vec<(String, Hcl)> = tags
        .map(|(key, value)| (key.clone(), value.as_str().into()))
        .collect();
    (!tags.is_empty()).then_some(Hcl::Object(tags))
}

fn global(wanted: &Infrastructure<'_>, index: &Index) -> Body {
    let units = wanted.provisioned_of(index);
    let body = Body::default()
        .put("name", index.name.as_str())
        .maybe("read_capacity", units.map(|units| units.read))
        .maybe("write_capacity", units.map(|units| units.write));
    let mut body = projected(body, &index.projection);
    for (name, role) in key_schema(&index.partition, &index.sort) {
        let key = Body::default().put("attribute_name", name);
        body = body.block("key_schema", key.put("key_type", role));
    }
    body
}

fn projected(body: Body, projected: &Projection) -> Body {
    let (kind, names) = projection(projected);
    let names = names.iter().map(|name| name.as_str().into());
    let names = Some(names.collect::<Vec<Hcl>>()).filter(|names| !names.is_empty());
    body.put("projection_type", kind)
        .maybe("non_key_attributes", names.map(Hcl::List))
}

/// A table that holds data is not destroyed on the way to another; what autoscaling moves is left
/// alone.
fn lifecycle(body: Body, wanted: &Infrastructure<'_>) -> Body {
    let mut lifecycle = Body::default().put("prevent_destroy", true);
    let of_table = wanted.scaling.iter().any(|scaling| scaling.index.is_none());
    let of_indexes = wanted.scaling.iter().any(|scaling| scaling.index.is_some());
    let mut left = Vec::new();
    if of_table {
        left.extend(["read_capacity", "write_capacity"]);
    }
    if of_indexes {
        left.push("global_secondary_index");
        lifecycle = lifecycle.comment(IGNORED);
    }
    if stand_alone(wanted) {
        left.push("replica");
    }
    if !left.is_empty() {
        let left = left.into_iter().map(expression);
        lifecycle = lifecycle.put("ignore_changes", Hcl::List(left.collect()));
    }
    body.block("lifecycle", lifecycle)
}

/// Whether replicas are resources of their own.
fn stand_alone(wanted: &Infrastructure<'_>) -> bool {
    !wanted.table.settings.replicas.is_empty() && wanted.provisioned().is_some()
}

/// What a region's replica is called.
fn replica_name(region: &str) -> String {
    Names::default().snake(region)
}

/// Replicas of a table with provisioned capacity. DynamoDB makes them only where something scales
/// the table's writes, so they come after that, as resources of their own. On demand they stand in
/// the table.
fn replicas(wanted: &Infrastructure<'_>, own: &[&Scaled<'_>]) -> Body {
    let settings = &wanted.table.settings;
    let writes = own.iter().filter(|one| one.scaling.what == Capacity::Write);
    let mut first: Vec<Hcl> = writes
        .map(|one| expression(format!("aws_appautoscaling_policy.{}", one.name)))
        .collect();
    let mut file = Body::default();
    for region in &settings.replicas {
        let body = Body::default()
            .put("region", region.as_str())
            .put(
                "global_table_arn",
                expression("aws_dynamodb_table.table.arn"),
            )
            .maybe("point_in_time_recovery", settings.point_in_time_recovery)
            .maybe("deletion_protection_enabled", settings.deletion_protection)
            .maybe("tags", tags(wanted))
            .put("depends_on", Hcl::List(first))
            .block("lifecycle", Body::default().put("prevent_destroy", true));
        let name = replica_name(region);
        file = file.block(
            format!(r#"resource "aws_dynamodb_table_replica" "{name}""#),
            body,
        );
        // DynamoDB makes one at a time.
        first = vec![expression(format!("aws_dynamodb_table_replica.{name}"))];
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
    let mut names = Names::default();
    let table = wanted.table;
    let replicas = table.settings.replicas.iter();
    let regions = std::iter::once(None).chain(replicas.map(|region| Some(region.as_str())));
    let all = regions.flat_map(|region| wanted.scaling.iter().map(move |one| (region, *one)));
    let named = all.map(|(region, scaling)| {
        let whose = scaling
            .index
            .map_or_else(|| "table".to_owned(), |index| format!("index_{index}"));
        let at = region.map_or_else(String::new, |region| format!("_{region}"));
        Scaled {
            name: names.snake(&format!("{whose}_{}{at}", scaling.what.word())),
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
        let (index, dimension) = match scaling.index {
            None => (String::new(), "table"),
            Some(index) => (format!("/index/{index}"), "index"),
        };
        let own = region.map(|region| format!("  region             = \"{region}\"\n"));
        let first = region.map(|region| {
            let replica = replica_name(region);
            format!("  depends_on         = [aws_dynamodb_table_replica.{replica}]\n")
        });
        let values = [
            ("name", name.as_str()),
            ("index", &index),
            ("dimension", dimension),
            ("word", scaling.what.word()),
            ("min", &scaling.bounds.min.to_string()),
            ("max", &scaling.bounds.max.to_string()),
            ("target", &scaling.bounds.target.to_string()),
            ("region", &own.unwrap_or_default()),
            ("first", &first.unwrap_or_default()),
        ];
        filled(include_str!("terraform/scaling.tf"), &values)
    }
}
