//! The table.

use super::replica;
use super::{
    Body, Hcl, Infrastructure, class, expression, key_schema, key_type, projection, view_type,
};
use crate::mapping::model::{Index, Projection};

/// What has to be known where autoscaling changes the capacity of indexes.
const IGNORED: &str = "\
Autoscaling moves the capacity. Terraform cannot leave alone that of an index without leaving alone the
whole index: to change one, take global_secondary_index out of the list for that apply.";

pub(super) fn body(wanted: &Infrastructure<'_>) -> Body {
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
        body = body.block("attribute", attribute.put("type", key_type(key)));
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
    for region in within.filter(|_| !replica::stand_alone(wanted)) {
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
pub(super) fn tags(wanted: &Infrastructure<'_>) -> Option<Hcl> {
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
    if replica::stand_alone(wanted) {
        left.push("replica");
    }
    if !left.is_empty() {
        let left = left.into_iter().map(expression);
        lifecycle = lifecycle.put("ignore_changes", Hcl::List(left.collect()));
    }
    body.block("lifecycle", lifecycle)
}
