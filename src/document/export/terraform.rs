//! Terraform configurations for the provider hashicorp/aws.
//!
//! Keys of global indexes are `key_schema` blocks, which alone can say keys of several attributes;
//! the provider has them since 6.29. The table itself and local indexes keep `hash_key` and
//! `range_key`.

mod archive;
mod replica;
mod scaling;
mod table;

use super::hcl::{Body, Hcl, expression};
use super::infrastructure::{Infrastructure, class, key_schema, key_type, projection, view_type};
use super::names::Names;
use super::{Export, ExportError, WARM_READ, WARM_WRITE};

/// The first version of the provider that has `key_schema`, and the first that may not.
const PROVIDER: &str = ">= 6.29.0, < 7.0.0";
const HEAD: &str = "Written by `dynafold docs`: a change of the mapping makes it anew.";

pub(super) fn write(wanted: &Infrastructure<'_>) -> Result<Export, ExportError> {
    refuse(wanted)?;
    let mut file = Body::default()
        .comment(HEAD)
        .block("terraform", versions(wanted))
        .block(
            r#"variable "table_name""#,
            Body::default()
                .put("description", "The table's name")
                .put("type", expression("string"))
                .put("default", wanted.table.name.as_str()),
        );
    if wanted.scales() {
        file = file
            .comment(
                "Before an event that is to find its capacity ready, apply with -var pause_scale_in=true and raise the\ncapacity; apply without it when the event is over.",
            )
            .block(
                r#"variable "pause_scale_in""#,
                Body::default()
                    .put("description", "Whether capacity only grows for now")
                    .put("type", expression("bool"))
                    .put("default", false),
            );
    }
    file = file.block(
        r#"resource "aws_dynamodb_table" "table""#,
        table::body(wanted),
    );
    file = scaling::add(file, wanted);
    if wanted.archives {
        file = archive::add(file);
    }
    Ok(Export {
        text: outputs(file, wanted).document(),
        warnings: wanted.warnings.clone(),
    })
}

/// Refuses what would fail when it is applied.
fn refuse(wanted: &Infrastructure<'_>) -> Result<(), ExportError> {
    let settings = &wanted.table.settings;
    // An index without a policy of its own has the table's.
    if replica::stand_alone(wanted) && settings.autoscale.is_none() {
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

fn versions(wanted: &Infrastructure<'_>) -> Body {
    let provider = |source: &str, version: &str| {
        Hcl::Object(vec![
            ("source".to_owned(), source.into()),
            ("version".to_owned(), version.into()),
        ])
    };
    let mut providers = Body::default().put("aws", provider("hashicorp/aws", PROVIDER));
    if wanted.archives {
        providers = providers.put("archive", provider("hashicorp/archive", ">= 2.4.0"));
    }
    Body::default()
        .put("required_version", ">= 1.5.0")
        .block("required_providers", providers)
}

fn outputs(file: Body, wanted: &Infrastructure<'_>) -> Body {
    let output = |description: &str, value: &str| {
        Body::default()
            .put("description", description)
            .put("value", expression(value))
    };
    let mut file = file
        .block(
            r#"output "table_name""#,
            output("The table's name", "aws_dynamodb_table.table.name"),
        )
        .block(
            r#"output "table_arn""#,
            output("The table's ARN", "aws_dynamodb_table.table.arn"),
        );
    if wanted.stream.is_some() {
        file = file.block(
            r#"output "stream_arn""#,
            output(
                "The ARN of its stream",
                "aws_dynamodb_table.table.stream_arn",
            ),
        );
    }
    if wanted.archives {
        file = file
            .block(
                r#"output "archive_bucket""#,
                output(
                    "Where expired items are kept",
                    "aws_s3_bucket.archive.bucket",
                ),
            )
            .block(
                r#"output "archive_queue""#,
                output(
                    "Tells which records could not be kept",
                    "aws_sqs_queue.archive.url",
                ),
            );
    }
    file
}
