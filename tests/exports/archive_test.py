"""Runs the archive's function, which stands on stdin, on a batch of a stream; prints what it has put into S3."""

import json
import os
import sys
import types

put = []
client = types.SimpleNamespace(put_object=lambda **arguments: put.append(arguments))
sys.modules["boto3"] = types.SimpleNamespace(client=lambda service: {"s3": client}[service])
os.environ.update(BUCKET="bucket", PREFIX="messages/")


def record(number, image):
    return {
        "eventID": f"event-{number}",
        "eventName": "REMOVE",
        "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
        "dynamodb": {
            "ApproximateCreationDateTime": 1577836800.0 + number,
            "SequenceNumber": str(number),
            "Keys": {},
            "OldImage": image,
        },
    }


event = {
    "Records": [
        record(1, {"SK": {"S": "a\n안녕"}, "PK": {"S": "USER#1"}, "blob": {"B": "AAEC"}}),
        record(2, {"PK": {"S": "USER#2"}, "expires_at": {"N": "1578441600"}}),
    ]
}
code = {}
exec(compile(sys.stdin.read(), "index.py", "exec"), code)
code["handler"](event, None)
code["handler"](event, None)
assert put[0] == put[1], "the same batch makes another object"
for arguments in put[:1]:
    arguments["Body"] = arguments["Body"].decode()
    print(json.dumps(arguments, sort_keys=True))
