//! What keeps expired items, as resources of a configuration.

use super::{Body, Hcl, expression};
use crate::document::export::archive::{
    BATCH, COLD_DAYS, FILTER, FUNCTION, GATHER_SECONDS, LOG_DAYS, MEMORY, QUEUE_SECONDS, RUNTIME,
    TIMEOUT_SECONDS,
};

/// The table's name as functions are called, cut so that a function's name has at most 64 letters.
const PLAIN: &str = r#"substr(replace(var.table_name, ".", "-"), 0, 47)"#;
/// A name of its own for each table: where its name was changed, a hash tells it from others.
const NAME: &str = r#"local.archive_plain == var.table_name ? "archive-${local.archive_plain}" : "archive-${local.archive_plain}-${substr(sha256(var.table_name), 0, 8)}""#;

pub(super) fn add(file: Body) -> Body {
    let named = Body::default()
        .put("archive_plain", expression(PLAIN))
        .put("archive_name", expression(NAME))
        .lines("archive_function", FUNCTION);
    let packed = Body::default()
        .put("type", "zip")
        .put(
            "output_path",
            Hcl::Template("${path.module}/archive.zip".to_owned()),
        )
        .block(
            "source",
            Body::default()
                .put("content", expression("local.archive_function"))
                .put("filename", "index.py"),
        );
    let file = file
        .comment("What expires: stream -> function -> bucket. The function is called only for what DynamoDB itself deleted.")
        .block("locals", named)
        .block(r#"data "archive_file" "archive""#, packed);
    let file = role(bucket(file));
    let file = file
        .comment("Says which records of the stream could not be kept for as long as it held them.")
        .block(
            r#"resource "aws_sqs_queue" "archive""#,
            Body::default()
                .put("name", expression("local.archive_name"))
                .put("message_retention_seconds", QUEUE_SECONDS)
                .put("sqs_managed_sse_enabled", true),
        )
        .block(
            r#"resource "aws_cloudwatch_log_group" "archive""#,
            Body::default()
                .put(
                    "name",
                    Hcl::Template("/aws/lambda/${local.archive_name}".to_owned()),
                )
                .put("retention_in_days", LOG_DAYS),
        );
    file.block(r#"resource "aws_lambda_function" "archive""#, function())
        .block(
            r#"resource "aws_lambda_event_source_mapping" "archive""#,
            source(),
        )
}

fn bucket(file: Body) -> Body {
    let of = || Body::default().put("bucket", expression("aws_s3_bucket.archive.id"));
    let encryption = Body::default().put("sse_algorithm", "AES256");
    let encryption = Body::default().block("apply_server_side_encryption_by_default", encryption);
    let colder = Body::default()
        .put("days", COLD_DAYS)
        .put("storage_class", "GLACIER");
    let rule = Body::default()
        .put("id", "colder")
        .put("status", "Enabled")
        .block("filter", Body::default())
        .block("transition", colder);
    file.block(
        r#"resource "aws_s3_bucket" "archive""#,
        Body::default().put("bucket_prefix", "archive-"),
    )
    .block(
        r#"resource "aws_s3_bucket_public_access_block" "archive""#,
        of().put("block_public_acls", true)
            .put("block_public_policy", true)
            .put("ignore_public_acls", true)
            .put("restrict_public_buckets", true),
    )
    .block(
        r#"resource "aws_s3_bucket_server_side_encryption_configuration" "archive""#,
        of().block("rule", encryption),
    )
    .block(
        r#"resource "aws_s3_bucket_lifecycle_configuration" "archive""#,
        of().block("rule", rule),
    )
}

fn object(members: Vec<(&str, Hcl)>) -> Hcl {
    let members = members.into_iter();
    Hcl::Object(
        members
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

fn document(statement: Vec<Hcl>) -> Hcl {
    Hcl::Json(Box::new(object(vec![
        ("Version", "2012-10-17".into()),
        ("Statement", Hcl::List(statement)),
    ])))
}

fn statement(sid: &str, actions: &[&str], resource: Hcl) -> Hcl {
    let actions = actions.iter().map(|action| (*action).into());
    object(vec![
        ("Sid", sid.into()),
        ("Effect", "Allow".into()),
        ("Action", Hcl::List(actions.collect())),
        ("Resource", resource),
    ])
}

fn role(file: Body) -> Body {
    let trust = object(vec![
        ("Effect", "Allow".into()),
        (
            "Principal",
            object(vec![("Service", "lambda.amazonaws.com".into())]),
        ),
        ("Action", "sts:AssumeRole".into()),
    ]);
    let template = |text: &str| Hcl::Template(text.to_owned());
    let statements = vec![
        statement(
            "ReadStream",
            &[
                "dynamodb:DescribeStream",
                "dynamodb:GetRecords",
                "dynamodb:GetShardIterator",
            ],
            expression("aws_dynamodb_table.table.stream_arn"),
        ),
        statement(
            "ListStreams",
            &["dynamodb:ListStreams"],
            template("${aws_dynamodb_table.table.arn}/stream/*"),
        ),
        statement(
            "Keep",
            &["s3:PutObject"],
            template("${aws_s3_bucket.archive.arn}/${var.table_name}/*"),
        ),
        statement(
            "TellWhatIsLost",
            &["sqs:SendMessage"],
            expression("aws_sqs_queue.archive.arn"),
        ),
        statement(
            "Log",
            &["logs:CreateLogStream", "logs:PutLogEvents"],
            template("${aws_cloudwatch_log_group.archive.arn}:*"),
        ),
    ];
    file.block(
        r#"resource "aws_iam_role" "archive""#,
        Body::default()
            .put("name_prefix", "archive-")
            .put("assume_role_policy", document(vec![trust])),
    )
    .block(
        r#"resource "aws_iam_role_policy" "archive""#,
        Body::default()
            .put("name", "archive")
            .put("role", expression("aws_iam_role.archive.id"))
            .put("policy", document(statements)),
    )
}

fn function() -> Body {
    let variables = object(vec![
        ("BUCKET", expression("aws_s3_bucket.archive.bucket")),
        ("PREFIX", Hcl::Template("${var.table_name}/".to_owned())),
    ]);
    Body::default()
        .put("function_name", expression("local.archive_name"))
        .put(
            "filename",
            expression("data.archive_file.archive.output_path"),
        )
        .put(
            "source_code_hash",
            expression("data.archive_file.archive.output_base64sha256"),
        )
        .put("runtime", RUNTIME)
        .put("handler", "index.handler")
        .put("timeout", TIMEOUT_SECONDS)
        .put("memory_size", MEMORY)
        .put("role", expression("aws_iam_role.archive.arn"))
        .block(
            "logging_config",
            Body::default().put("log_format", "Text").put(
                "log_group",
                expression("aws_cloudwatch_log_group.archive.name"),
            ),
        )
        .block("environment", Body::default().put("variables", variables))
}

fn source() -> Body {
    let filter = Body::default().put("pattern", FILTER);
    let failure = Body::default().put("destination_arn", expression("aws_sqs_queue.archive.arn"));
    let first = expression("aws_iam_role_policy.archive");
    Body::default()
        .put(
            "event_source_arn",
            expression("aws_dynamodb_table.table.stream_arn"),
        )
        .put(
            "function_name",
            expression("aws_lambda_function.archive.arn"),
        )
        .put("starting_position", "TRIM_HORIZON")
        .put("batch_size", BATCH)
        .put("maximum_batching_window_in_seconds", GATHER_SECONDS)
        .put("bisect_batch_on_function_error", true)
        .put("depends_on", Hcl::List(vec![first]))
        .block("filter_criteria", Body::default().block("filter", filter))
        .block(
            "destination_config",
            Body::default().block("on_failure", failure),
        )
}
