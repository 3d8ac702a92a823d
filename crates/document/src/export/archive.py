import json
import os
from datetime import datetime, timezone

import boto3

s3 = boto3.client("s3")


def handler(event, context):
    """Keeps items that DynamoDB has deleted because they had expired."""
    records = event["Records"]
    lines = [
        json.dumps(
            record["dynamodb"]["OldImage"],
            ensure_ascii=False,
            separators=(",", ":"),
            sort_keys=True,
        )
        for record in records
    ]
    # A batch that comes again makes the same object again.
    first = records[0]
    second = first["dynamodb"]["ApproximateCreationDateTime"]
    day = datetime.fromtimestamp(second, timezone.utc).strftime("%Y/%m/%d")
    s3.put_object(
        Bucket=os.environ["BUCKET"],
        Key="{}{}/{}.ndjson".format(os.environ["PREFIX"], day, first["eventID"]),
        Body="".join(line + "\n" for line in lines).encode(),
        ContentType="application/x-ndjson",
    )
