//! Targets and policies that scale the table and its indexes, in its own region and in those of its
//! replicas: the same everywhere.

use super::{Body, Hcl, Infrastructure, Names, expression, replica};
use crate::document::export::infrastructure::{Capacity, Scaling};

/// Capacity that is scaled somewhere.
struct Scaled<'m> {
    /// What its target and its policy are called.
    name: String,
    scaling: Scaling<'m>,
    /// The replica's; the table's own without it.
    region: Option<&'m str>,
}

pub(super) fn add(file: Body, wanted: &Infrastructure<'_>) -> Body {
    let scaled = scaled(wanted);
    let (own, others): (Vec<_>, Vec<_>) = scaled.iter().partition(|one| one.region.is_none());
    let file = own.into_iter().fold(file, resources);
    let file = replica::add(file, wanted);
    others.into_iter().fold(file, resources)
}

/// The policies that scale the writes of the table and its indexes in their own region.
pub(super) fn write_policies(wanted: &Infrastructure<'_>) -> impl Iterator<Item = String> {
    let own = scaled(wanted)
        .into_iter()
        .filter(|one| one.region.is_none());
    let writes = own.filter(|one| one.scaling.what == Capacity::Write);
    writes.map(|one| one.name)
}

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

fn resources(file: Body, scaled: &Scaled<'_>) -> Body {
    let (name, scaling, region) = (&scaled.name, scaled.scaling, scaled.region);
    let word = scaling.what.word();
    let (place, dimension) = match scaling.index {
        None => (String::new(), "table"),
        Some(index) => (format!("/index/{index}"), "index"),
    };
    let place = format!("table/${{aws_dynamodb_table.table.name}}{place}");
    let first = region.map(|region| {
        let replica = replica::name(region);
        Hcl::List(vec![expression(format!(
            "aws_dynamodb_table_replica.{replica}"
        ))])
    });
    let target = Body::default()
        .maybe("region", region)
        .put("service_namespace", "dynamodb")
        .put("resource_id", Hcl::Template(place))
        .put(
            "scalable_dimension",
            format!("dynamodb:{dimension}:{word}CapacityUnits").as_str(),
        )
        .put("min_capacity", scaling.bounds.min)
        .put("max_capacity", scaling.bounds.max)
        .maybe("depends_on", first);
    let of = |attribute: &str| expression(format!("aws_appautoscaling_target.{name}.{attribute}"));
    let metric = format!("DynamoDB{word}CapacityUtilization");
    let tracking = Body::default()
        .put("target_value", scaling.bounds.target)
        .put("disable_scale_in", expression("var.pause_scale_in"))
        .block(
            "predefined_metric_specification",
            Body::default().put("predefined_metric_type", metric.as_str()),
        );
    let policy = Body::default()
        .maybe("region", region)
        .put("name", name.as_str())
        .put("policy_type", "TargetTrackingScaling")
        .put("service_namespace", of("service_namespace"))
        .put("resource_id", of("resource_id"))
        .put("scalable_dimension", of("scalable_dimension"))
        .block("target_tracking_scaling_policy_configuration", tracking);
    file.block(
        format!(r#"resource "aws_appautoscaling_target" "{name}""#),
        target,
    )
    .block(
        format!(r#"resource "aws_appautoscaling_policy" "{name}""#),
        policy,
    )
}
