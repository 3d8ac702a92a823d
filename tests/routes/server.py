"""ministack with the bulk operations that it lacks: a proxy before it, which answers StartBulkPutItems, DescribeBulkOperation
and CancelBulkOperation by itself and passes all else on. It prints its port, and ends when its standard input does.

    server.py MINISTACK

Requests to S3 that are signed as "local" (ministack checks no signature) are signed once more by botocore and compared.

MINISTACK is the program. Requests of bulk operations are held against the service model of botocore, where that knows them; the
first line of the output says whether it does. What goes wrong is chosen by the bucket's name: "failed" in it, "slow" (the
operation waits until it is cancelled), "bad" (each hundredth item is refused; of an import, the first object is damaged before
it begins), "lost" (the first answer to a start is lost), "shut" (while the bucket has an object `shut`, no export ends and no
operation starts), or "unconditional" (the header If-None-Match is not known). Puts go to ministack's PutItem with the condition
of their line, one by one. What is not modelled: performance tiers, ceilings, quotas, what DynamoDB does with a line that it cannot
read, and the true form of reports, of which no public example was found.
"""

import gzip
import hashlib
import http.client
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid

try:
    import botocore.auth
    import botocore.awsrequest
    import botocore.credentials
    import botocore.loaders
    import botocore.model
    import botocore.validate

    MODEL = botocore.model.ServiceModel(botocore.loaders.Loader().load_service_model("dynamodb", "service-2"))
    MODEL.operation_model("StartBulkPutItems")
except Exception:  # an older botocore, or none
    MODEL = None


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


BEHIND = free_port()
HOST = f"127.0.0.1:{BEHIND}"
AUTH = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/%s/aws4_request, SignedHeaders=host, Signature=0"
operations = {}
lock = threading.Lock()
lost = set()


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def behind(method, path, body=b"", headers=None):
    connection = http.client.HTTPConnection(HOST, timeout=60)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    data = answer.read()
    return answer, data


def dynamodb(operation, request):
    headers = {
        "X-Amz-Target": "DynamoDB_20120810." + operation,
        "Content-Type": "application/x-amz-json-1.0",
        "Authorization": AUTH % "dynamodb",
        "X-Amz-Date": "20260101T000000Z",
    }
    answer, data = behind("POST", "/", json.dumps(request).encode(), headers)
    found = json.loads(data or b"{}")
    if answer.status != 200:
        raise Refused(found.get("__type", "").split("#")[-1], found.get("message") or found.get("Message") or "")
    return found


def s3(method, bucket, key, body=b"", query=""):
    path = "/" + bucket + "/" + urllib.parse.quote(key) + query
    answer, data = behind(method, path, body, {"Authorization": AUTH % "s3", "X-Amz-Date": "20260101T000000Z"})
    if answer.status >= 300:
        raise Refused("S3", f"{method} {path}: {answer.status} {data[:200]!r}")
    return data


def keys(bucket, prefix):
    found = s3("GET", bucket, "", query="?list-type=2&max-keys=1000&prefix=" + urllib.parse.quote(prefix))
    return [part.split("</Key>")[0] for part in found.decode().split("<Key>")[1:]]


def held_against_model(operation, request):
    """Raises what the service's own model refuses: members, types, lengths, enums."""
    if MODEL is None:
        return
    shape = MODEL.operation_model(operation).input_shape
    report = botocore.validate.ParamValidator().validate(request, shape)
    if report.has_errors():
        raise Refused("ValidationException", report.generate_report())
    known(shape, request)


def known(shape, value, path=""):
    if shape.type_name == "structure":
        for name, inner in value.items():
            if name not in shape.members:
                raise Refused("ValidationException", f"there is no member {path}.{name}")
            known(shape.members[name], inner, f"{path}.{name}")
    elif shape.type_name == "list":
        for inner in value:
            known(shape.member, inner, path)
    elif getattr(shape, "enum", None) and value not in shape.enum:
        raise Refused("ValidationException", f"{value} at {path} is not one of {shape.enum}")


def start(request):
    held_against_model("StartBulkPutItems", request)
    bucket = request["InputS3Configuration"]["S3Bucket"]
    if "shut" in bucket and keys(bucket, "shut"):
        raise Refused("AccessDeniedException", "planted: the bucket is shut")
    table = dynamodb("DescribeTable", {"TableName": request["TableName"]})["Table"]
    token = request.get("ClientToken") or str(uuid.uuid4())
    with lock:
        for known in operations.values():
            if known["ClientToken"] == token:
                if known["request"] != request:
                    raise Refused("IdempotentParameterMismatchException", "the token was used with another request")
                return known
        arn = table["TableArn"] + "/bulk-operation/" + uuid.uuid4().hex
        operation = {
            "BulkOperationArn": arn,
            "BulkOperationStatus": "IN_PROGRESS",
            "TableDetails": [{"TableName": request["TableName"], "TableId": table.get("TableId")}],
            "ClientToken": token,
            "InputS3Configuration": request["InputS3Configuration"],
            "OutputS3Configuration": request["OutputS3Configuration"],
            "StartTime": int(time.time()),
            "ProcessedItemCount": 0,
            "FailedItemCount": 0,
            "ProcessedInputBytes": 0,
            "PerformanceTier": request.get("PerformanceTier", "STANDARD"),
            "request": request,
        }
        operations[arn] = operation
    threading.Thread(target=run, args=(operation,), daemon=True).start()
    return operation


def run(operation):
    try:
        load(operation)
    except Refused as error:
        end(operation, "FAILED", error.code, str(error))
    except Exception as error:  # noqa: BLE001: what is wrong with this server is shown by the test
        end(operation, "FAILED", "InternalServerError", repr(error))


def end(operation, status, code=None, message=None):
    with lock:
        operation["BulkOperationStatus"] = status
        operation["EndTime"] = int(time.time())
        if code:
            operation["FailureCode"], operation["FailureMessage"] = code, message


def load(operation):
    request = operation["request"]
    source, output = request["InputS3Configuration"], request["OutputS3Configuration"]
    fault = source["S3Bucket"]
    if "slow" in fault:
        while operation["BulkOperationStatus"] == "IN_PROGRESS":
            time.sleep(0.05)
        time.sleep(0.3)
        return end(operation, "CANCELLED", "UserCancelled", "the operation was cancelled on request")
    errors, conditions = [], []
    if "unsaid" in fault:
        errors.append({"key": "planted", "line": 7})
    for key in keys(source["S3Bucket"], source.get("S3KeyPrefix", "")):
        blob = s3("GET", source["S3Bucket"], key)
        operation["ProcessedInputBytes"] += len(blob)
        if source.get("InputCompressionType") == "GZIP":
            blob = gzip.decompress(blob)
        for number, line in enumerate(blob.decode().splitlines()):
            if "failed" in fault and operation["ProcessedItemCount"] == 10:
                raise Refused("S3AccessDenied", "access to the input was lost")
            operation["ProcessedItemCount"] += 1
            try:
                record = json.loads(line)
                item = record["Item"]
            except (ValueError, KeyError) as error:
                operation["FailedItemCount"] += 1
                errors.append({"key": key, "line": number, "errorMessage": str(error)})
                continue
            if "bad" in fault and operation["ProcessedItemCount"] % 100 == 0:
                operation["FailedItemCount"] += 1
                errors.append({"errorCode": "ValidationException", "errorMessage": "planted: the item is refused", "item": item})
                continue
            unknown = set(record) - {"Item", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"}
            if unknown:
                raise Refused("ValidationException", f"unknown members: {unknown}")
            try:
                dynamodb("PutItem", {"TableName": request["TableName"], **record})
            except Refused as error:
                if error.code == "ConditionalCheckFailedException":
                    names = {"PK", "SK"}
                    there = dynamodb("GetItem", {"TableName": request["TableName"], "Key": {n: item[n] for n in names}})
                    conditions.append({"attemptedItem": item, "existingItem": there.get("Item")})
                else:
                    operation["FailedItemCount"] += 1
                    errors.append({"errorCode": error.code, "errorMessage": str(error), "item": item})
    for kind, lines in (("ERROR", errors), ("CONDITION_CHECK_FAILURE", conditions)):
        if lines and kind in output["OutputType"]:
            text = "".join(json.dumps(line) + "\n" for line in lines)
            name = f"{output.get('S3KeyPrefix', '')}{kind.lower()}/00000.json.gz"
            s3("PUT", output.get("S3Bucket", source["S3Bucket"]), name, gzip.compress(text.encode()))
    s3("PUT", output.get("S3Bucket", source["S3Bucket"]), output.get("S3KeyPrefix", "") + "manifest.json", b"{}")
    end(operation, "COMPLETED_WITH_ERRORS" if operation["FailedItemCount"] else "COMPLETED")


def described(arn):
    with lock:
        found = operations.get(arn)
        if found is None:
            raise Refused("ResourceNotFoundException", f"there is no operation {arn}")
        return {name: value for name, value in found.items() if name != "request"}


def answer(operation, request):
    if operation == "StartBulkPutItems":
        return {"BulkOperationDescription": described(start(request)["BulkOperationArn"])}
    held_against_model(operation, request)
    arn = request["BulkOperationArn"]
    if operation == "CancelBulkOperation":
        described(arn)
        with lock:
            if operations[arn]["BulkOperationStatus"] == "IN_PROGRESS":
                operations[arn]["BulkOperationStatus"] = "CANCELLING"
        return {"BulkOperationArn": arn, "BulkOperationStatus": "CANCELLING"}
    return {"BulkOperationDescription": described(arn)}


def damage(request):
    """Replaces a line of the first object by none, and the key of another item by a number."""
    source = request["S3BucketSource"]
    key = keys(source["S3Bucket"], source["S3KeyPrefix"])[0]
    lines = gzip.decompress(s3("GET", source["S3Bucket"], key)).decode().splitlines()
    lines[3] = lines[3][:-9]
    item = json.loads(lines[5])
    item["Item"]["PK"] = {"N": "5"}
    lines[5] = json.dumps(item)
    s3("PUT", source["S3Bucket"], key, gzip.compress("\n".join(lines).encode()))


def is_signed_well(method, path, headers, body):
    """Whether a request to S3 has the signature that botocore gives it, and the hash of its body."""
    fields = dict(part.strip().split("=", 1) for part in headers["Authorization"].split(" ", 1)[1].split(","))
    key, _day, region, service, _end = fields["Credential"].split("/")
    if service != "s3" or key != "local" or MODEL is None:
        return True
    if headers["X-Amz-Content-SHA256"] != hashlib.sha256(body).hexdigest():
        return False
    names = fields["SignedHeaders"].split(";")
    if not all(name.lower() in names for name in headers if name.lower().startswith("x-amz-")):
        return False
    url = "http://" + headers["Host"] + path
    signed = {name: headers[name] for name in names}
    request = botocore.awsrequest.AWSRequest(method=method, url=url, data=body, headers=signed)
    request.context["timestamp"] = headers["X-Amz-Date"]
    auth = botocore.auth.S3SigV4Auth(botocore.credentials.Credentials("local", "local"), "s3", region)
    text = auth.string_to_sign(request, auth.canonical_request(request))
    return auth.signature(text, request) == fields["Signature"]


class Server(http.server.ThreadingHTTPServer):
    """Says nothing of clients that were killed or hung up."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        operation = (self.headers.get("X-Amz-Target") or "").split(".")[-1]
        if not is_signed_well(self.command, self.path, self.headers, body):
            operation = "Refused"
        bucket, _, key = self.path.lstrip("/").partition("/")
        if self.command == "PUT" and "shut" in bucket and key.endswith("import-table.json") and keys(bucket, "shut"):
            operation = "Denied"
        if "unconditional" in bucket and self.headers.get("If-None-Match"):
            operation = "Unknown"
        if operation in ("StartBulkPutItems", "DescribeBulkOperation", "CancelBulkOperation"):
            status, headers = 200, {"Content-Type": "application/x-amz-json-1.0"}
            try:
                data = json.dumps(answer(operation, json.loads(body))).encode()
                token = json.loads(body).get("ClientToken")
                if operation == "StartBulkPutItems" and b"lost" in body and token not in lost:
                    lost.add(token)
                    self.close_connection = True
                    self.connection.close()
                    return
            except Refused as error:
                status = 400
                data = json.dumps({"__type": "com.amazonaws.dynamodb.v20120810#" + error.code, "message": str(error)}).encode()
        elif operation == "Refused":
            status, headers = 403, {"Content-Type": "application/xml"}
            data = b"<Error><Code>SignatureDoesNotMatch</Code><Message>botocore signs otherwise</Message></Error>"
        elif operation == "Unknown":
            status, headers = 501, {"Content-Type": "application/xml"}
            data = b"<Error><Code>NotImplemented</Code><Message>planted: a header is not implemented</Message></Error>"
        elif operation == "Denied":
            status, headers = 403, {"Content-Type": "application/xml"}
            data = b"<Error><Code>AccessDenied</Code><Message>planted: the bucket is shut</Message></Error>"
        else:
            if operation == "ImportTable" and b"bad" in body:
                damage(json.loads(body))
            passed = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            found, data = behind(self.command, self.path, body, passed)
            status = found.status
            skipped = ("connection", "transfer-encoding", "content-length", "keep-alive")
            headers = {name: value for name, value in found.getheaders() if name.lower() not in skipped}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_any

    def log_message(self, *_):
        pass


def main():
    environment = {
        **os.environ,
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(BEHIND),
        "IOT_MTLS_ENABLED": "0",
    }
    quiet = subprocess.DEVNULL
    server = subprocess.Popen([sys.argv[1]], env=environment, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        for _ in range(600):
            try:
                behind("GET", "/_ministack/health")
                break
            except OSError:
                time.sleep(0.1)
        proxy = Server(("127.0.0.1", 0), Proxy)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        print("with the service model" if MODEL else "without the service model", flush=True)
        print(proxy.server_address[1], flush=True)
        sys.stdin.read()
    finally:
        server.kill()


main()
