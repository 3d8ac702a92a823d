"""Sends requests, a line of JSON on stdin for each, to the endpoint that is named; prints how many items each found.

The SDK is that of the AWS CLI, and checks a request before it sends it, as `--cli-input-json` does.
"""

import base64
import json
import sys

import boto3

client = boto3.client(
    "dynamodb",
    endpoint_url=sys.argv[1],
    region_name="us-east-1",
    aws_access_key_id="local",
    aws_secret_access_key="local",
)


def binary(node):
    """Base64 as the bytes that the SDK takes."""
    if isinstance(node, dict):
        return {name: base64.b64decode(value) if name == "B" else binary(value) for name, value in node.items()}
    return node


for line in sys.stdin:
    call = json.loads(line)
    if call["operation"] == "GetItem":
        answer = client.get_item(**binary(call["request"]))
        print(1 if "Item" in answer else 0)
    else:
        print(client.query(**binary(call["request"]))["Count"])
