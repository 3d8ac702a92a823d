//! What keeps expired items, as resources of a template.

use super::{Map, Yaml, get, kept, resource, sub, to};
use crate::document::export::archive::{
    BATCH, COLD_DAYS, FILTER, FUNCTION, GATHER_SECONDS, LOG_DAYS, MEMORY, QUEUE_SECONDS, RUNTIME,
    TIMEOUT_SECONDS,
};

pub(super) fn resources() -> Map {
    Map::default()
        .explained(
            "What expires: stream -> function -> bucket. The function is called only for what DynamoDB itself deleted.",
            "ArchiveBucket",
            kept("AWS::S3::Bucket", bucket()),
        )
        .explained(
            "Says which records of the stream could not be kept for as long as it held them.",
            "ArchiveQueue",
            kept("AWS::SQS::Queue", queue()),
        )
        .put("ArchiveLogs", logs())
        .put("ArchiveRole", resource("AWS::IAM::Role", role()))
        .put("ArchiveFunction", resource("AWS::Lambda::Function", function()))
        .put("ArchiveSource", resource("AWS::Lambda::EventSourceMapping", source()))
}

fn bucket() -> Map {
    let encryption = Map::default().put("SSEAlgorithm", "AES256");
    let encryption = Map::default().put("ServerSideEncryptionByDefault", encryption);
    let blocked = Map::default()
        .put("BlockPublicAcls", true)
        .put("BlockPublicPolicy", true)
        .put("IgnorePublicAcls", true)
        .put("RestrictPublicBuckets", true);
    let colder = Map::default()
        .put("StorageClass", "GLACIER")
        .put("TransitionInDays", COLD_DAYS);
    let rule = Map::default()
        .put("Id", "colder")
        .put("Status", "Enabled")
        .put("Transitions", vec![colder.into()]);
    Map::default()
        .put(
            "BucketEncryption",
            Map::default().put("ServerSideEncryptionConfiguration", vec![encryption.into()]),
        )
        .put("PublicAccessBlockConfiguration", blocked)
        .put(
            "LifecycleConfiguration",
            Map::default().put("Rules", vec![rule.into()]),
        )
}

fn queue() -> Map {
    Map::default()
        .put("MessageRetentionPeriod", QUEUE_SECONDS)
        .put("SqsManagedSseEnabled", true)
}

/// Goes with its stack: what it says is of no use without the function.
fn logs() -> Map {
    Map::default()
        .put("Type", "AWS::Logs::LogGroup")
        .put("DeletionPolicy", "Delete")
        .put("UpdateReplacePolicy", "Delete")
        .put(
            "Properties",
            Map::default().put("RetentionInDays", LOG_DAYS),
        )
}

fn statement(sid: &str, actions: &[&str], resources: Yaml) -> Yaml {
    let actions: Vec<Yaml> = actions.iter().map(|action| (*action).into()).collect();
    Map::default()
        .put("Sid", sid)
        .put("Effect", "Allow")
        .put("Action", actions)
        .put("Resource", resources)
        .into()
}

fn role() -> Map {
    let trust = Map::default()
        .put("Effect", "Allow")
        .put(
            "Principal",
            Map::default().put("Service", "lambda.amazonaws.com"),
        )
        .put("Action", "sts:AssumeRole");
    let statements = vec![
        statement(
            "ReadStream",
            &[
                "dynamodb:DescribeStream",
                "dynamodb:GetRecords",
                "dynamodb:GetShardIterator",
            ],
            get("Table.StreamArn"),
        ),
        statement(
            "ListStreams",
            &["dynamodb:ListStreams"],
            sub("${Table.Arn}/stream/*"),
        ),
        statement(
            "Keep",
            &["s3:PutObject"],
            sub("${ArchiveBucket.Arn}/${TableName}/*"),
        ),
        statement(
            "TellWhatIsLost",
            &["sqs:SendMessage"],
            get("ArchiveQueue.Arn"),
        ),
        statement(
            "Log",
            &["logs:CreateLogStream", "logs:PutLogEvents"],
            get("ArchiveLogs.Arn"),
        ),
    ];
    let document = |statements: Vec<Yaml>| {
        Map::default()
            .put("Version", "2012-10-17")
            .put("Statement", statements)
    };
    let policy = Map::default()
        .put("PolicyName", "archive")
        .put("PolicyDocument", document(statements));
    Map::default()
        .put("AssumeRolePolicyDocument", document(vec![trust.into()]))
        .put("Policies", vec![policy.into()])
}

fn function() -> Map {
    let variables = Map::default()
        .put("BUCKET", to("ArchiveBucket"))
        .put("PREFIX", sub("${TableName}/"));
    Map::default()
        .put("Description", sub("Keeps what expires in ${TableName}"))
        .put("Runtime", RUNTIME)
        .put("Handler", "index.handler")
        .put("Timeout", TIMEOUT_SECONDS)
        .put("MemorySize", MEMORY)
        .put("Role", get("ArchiveRole.Arn"))
        .put(
            "LoggingConfig",
            Map::default().put("LogGroup", to("ArchiveLogs")),
        )
        .put("Environment", Map::default().put("Variables", variables))
        .put(
            "Code",
            Map::default().put("ZipFile", Yaml::Lines(FUNCTION.to_owned())),
        )
}

fn source() -> Map {
    let failure = Map::default().put("Destination", get("ArchiveQueue.Arn"));
    let filter = Map::default().put("Pattern", FILTER);
    Map::default()
        .put("EventSourceArn", get("Table.StreamArn"))
        .put("FunctionName", to("ArchiveFunction"))
        .put("StartingPosition", "TRIM_HORIZON")
        .put("BatchSize", BATCH)
        .put("MaximumBatchingWindowInSeconds", GATHER_SECONDS)
        .put("BisectBatchOnFunctionError", true)
        .put(
            "FilterCriteria",
            Map::default().put("Filters", vec![filter.into()]),
        )
        .put(
            "DestinationConfig",
            Map::default().put("OnFailure", failure),
        )
}
