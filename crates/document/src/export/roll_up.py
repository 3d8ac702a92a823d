import json
import os
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow

import boto3

dynamodb = boto3.client("dynamodb")
TABLE = os.environ["TABLE"]
# The digits of DynamoDB's numbers: a sum that has more fails and is not rounded.
EXACT = Context(prec=38, traps=[Inexact, InvalidOperation, Overflow])


def handler(event, context):
    """Sums sharded items into the items that are there for their sums; makes no item."""
    key, mark, attribute = event["key"], event["mark"], event["attribute"]
    (start, end), (before, after) = event["cut"], event["around"]
    names = dict.fromkeys([*key, mark, attribute])
    names = {name: "#{}".format(at) for at, name in enumerate(names)}
    is_one = "begins_with({}, :of)" if event["begins"] else "{} = :of"
    pages = dynamodb.get_paginator("scan").paginate(
        TableName=TABLE,
        ProjectionExpression=", ".join(names.values()),
        FilterExpression=(is_one + " OR {} = :total").format(names[mark], names[mark]),
        ExpressionAttributeNames={sign: name for name, sign in names.items()},
        ExpressionAttributeValues={":of": {"S": event["of"]}, ":total": {"S": event["total"]}},
    )
    sums, totals, changed = {}, [], 0
    for page in pages:
        for item in page["Items"]:
            if item[mark]["S"] == event["total"]:
                totals.append(item)
                continue
            shard = item[key[0]]["S"]
            of = before + shard[start : len(shard) - end] + after
            one = {"N": "1"} if event["count"] else item.get(attribute, {"NULL": True})
            if "NULL" not in one:
                sums[of] = EXACT.add(sums.get(of, Decimal(0)), Decimal(one["N"]))
    for item in totals:
        of, held = item[key[0]]["S"], item.get(attribute, {}).get("N")
        if held is None and of not in sums and not event["count"]:
            continue  # The sum of no values is no 0: SQL's is NULL.
        total = sums.pop(of, Decimal(0))
        if held is not None and Decimal(held) == total:
            continue
        try:
            dynamodb.update_item(
                TableName=TABLE,
                Key={name: item[name] for name in key},
                UpdateExpression="SET #sum = :sum",
                ConditionExpression="attribute_exists(#key)",
                ExpressionAttributeNames={"#sum": attribute, "#key": key[0]},
                ExpressionAttributeValues={":sum": {"N": str(total)}},
            )
            changed += 1
        except dynamodb.exceptions.ConditionalCheckFailedException:
            pass  # It was deleted in the meantime.
    done = {"totals": len(totals), "changed": changed, "without_total": len(sums)}
    print(json.dumps(done))
    return done
