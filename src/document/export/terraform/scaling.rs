//! Targets and policies that scale the table and its indexes, in its own region and in those of its
//! replicas: the same everywhere.

use super::{Body, Hcl, Infrastructure, Names, expression};
use crate::document::export::infrastructure::Scaling;

pub(super) fn add(mut file: Body, wanted: &Infrastructure<'_>) -> Body {
    let mut names = Names::default();
    let replicas = wanted.table.settings.replicas.iter();
    let regions = std::iter::once(None).chain(replicas.map(|region| Some(region.as_str())));
    for region in regions {
        for scaling in &wanted.scaling {
            file = scaled(file, &mut names, *scaling, region);
        }
    }
    file
}

fn scaled(file: Body, names: &mut Names, scaling: Scaling<'_>, region: Option<&str>) -> Body {
    let word = scaling.what.word();
    let (whose, place, dimension) = match scaling.index {
        None => (
            "table".to_owned(),
            "table/${aws_dynamodb_table.table.name}".to_owned(),
            "table",
        ),
        Some(index) => (
            format!("index_{index}"),
            format!("table/${{aws_dynamodb_table.table.name}}/index/{index}"),
            "index",
        ),
    };
    let at = region.map_or_else(String::new, |region| format!("_{region}"));
    let name = names.snake(&format!("{whose}_{word}{at}"));
    let target = Body::default()
        .maybe("region", region)
        .put("service_namespace", "dynamodb")
        .put("resource_id", Hcl::Template(place))
        .put(
            "scalable_dimension",
            format!("dynamodb:{dimension}:{word}CapacityUnits").as_str(),
        )
        .put("min_capacity", scaling.bounds.min)
        .put("max_capacity", scaling.bounds.max);
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
