"""Runs the function of a roll-up on a table of DynamoDB Local, as its schedule would, after items were put.

Reads JSON on stdin: `code`, `event`, `endpoint`, `table`, and the items to put. Prints what the function returned, and the
attribute of every total.
"""

import contextlib
import json
import os
import sys

call = json.load(sys.stdin)
os.environ.update(
    TABLE=call["table"],
    AWS_ENDPOINT_URL_DYNAMODB=call["endpoint"],
    AWS_DEFAULT_REGION="us-east-1",
    AWS_ACCESS_KEY_ID="local",
    AWS_SECRET_ACCESS_KEY="local",
)
code = {}
exec(compile(call["code"], "index.py", "exec"), code)
client = code["dynamodb"]
for item in call["puts"]:
    client.put_item(TableName=call["table"], Item=item)
# A page of a few items: the function has to read several.
scan = client.get_paginator("scan")
pages = []


class SmallPages:
    def paginate(self, **arguments):
        for page in scan.paginate(**arguments, PaginationConfig={"PageSize": 3}):
            pages.append(page)
            yield page


client.get_paginator = lambda operation: {"scan": SmallPages()}[operation]
event = call["event"]
with contextlib.redirect_stdout(sys.stderr):
    done = code["handler"](event, None)
    again = code["handler"](event, None)
assert again == {**done, "changed": 0}, "another run changes something"
assert len(pages) > 2, "one page is no test"
totals = {
    item[event["key"][0]]["S"]: item
    for page in scan.paginate(TableName=call["table"])
    for item in page["Items"]
    if item[event["mark"]]["S"] == event["total"]
}
print(json.dumps({"done": done, "totals": {key: item.get(event["attribute"]) for key, item in totals.items()}}))
