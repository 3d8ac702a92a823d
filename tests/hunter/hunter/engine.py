"""The DynamoDB side: what a table holds, and changes to it that the program knows nothing of."""
import base64
import json
import os
import sqlite3

from . import fold


class Embedded:
    """The embedded engine's file: a SQLite database with a table of items as DynamoDB JSON."""
    kind = "local"

    def __init__(self, folder, table):
        self.path, self.table = os.path.join(folder, "table.ddb"), table
        self.arguments = ["--target", "local:" + self.path]

    def drop(self):
        for end in ("", "-wal", "-shm"):
            if os.path.exists(self.path + end):
                os.remove(self.path + end)

    def items(self):
        if not os.path.exists(self.path):
            return []
        with sqlite3.connect(self.path) as file:
            if not file.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [self.table]).fetchone():
                return []
            found = file.execute(f'SELECT item_json FROM "{self.table}"').fetchall()
        return [{name: fold.read(value) for name, value in json.loads(text).items()} for text, in found]

    def where(self, item):
        return json.dumps({name: fold.write(value) for name, value in item.items()})

    def row(self, file, keys):
        for rowid, text in file.execute(f'SELECT rowid, item_json FROM "{self.table}"'):
            item = json.loads(text)
            if all(fold.read(item[name]) == value for name, value in keys.items()):
                return rowid, item
        raise KeyError(keys)

    def delete(self, keys):
        with sqlite3.connect(self.path) as file:
            file.execute(f'DELETE FROM "{self.table}" WHERE rowid = ?', [self.row(file, keys)[0]])

    def put(self, item, keys):
        with sqlite3.connect(self.path) as file:
            text = json.dumps({name: fold.write(value) for name, value in item.items()})
            size = fold.size(item)
            try:
                rowid, _ = self.row(file, {name: item[name] for name in keys})
                file.execute(f'UPDATE "{self.table}" SET item_json = ?, item_size = ? WHERE rowid = ?', [text, size, rowid])
            except KeyError:
                pk = "S:" + item[keys[0]][1]
                sk = "S:" + item[keys[1]][1] if len(keys) > 1 else ""
                prefix = file.execute(f'SELECT hash_prefix FROM "{self.table}" WHERE pk = ?', [pk]).fetchone()
                file.execute(f'INSERT INTO "{self.table}" (pk, sk, item_json, item_size, hash_prefix) VALUES (?, ?, ?, ?, ?)',
                             [pk, sk, text, size, prefix[0] if prefix else "000000"])


class DynamoDbLocal:
    """DynamoDB Local, by boto3."""
    kind = "dynamodb-local"
    clients = {}

    def __init__(self, folder, table):
        endpoint = os.environ["DYNAFOLD_TEST_DYNAMODB"]
        self.table = table
        self.arguments = ["--target", "dynamodb", "--endpoint-url", endpoint, "--region", "us-east-1", "--yes"]
        if endpoint not in self.clients:
            import boto3
            self.clients[endpoint] = boto3.client(
                "dynamodb", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="hunter", aws_secret_access_key="hunter")
        self.client = self.clients[endpoint]

    def drop(self):
        try:
            self.client.delete_table(TableName=self.table)
        except self.client.exceptions.ResourceNotFoundException:
            pass

    def items(self):
        try:
            pages = list(self.client.get_paginator("scan").paginate(TableName=self.table, ConsistentRead=True))
        except self.client.exceptions.ResourceNotFoundException:
            return []
        return [{name: fold.read(value) for name, value in item.items()} for page in pages for item in page["Items"]]

    def delete(self, keys):
        self.client.delete_item(TableName=self.table, Key={name: raw(value) for name, value in keys.items()})

    def put(self, item, keys):
        self.client.put_item(TableName=self.table, Item={name: raw(value) for name, value in item.items()})


def raw(pair):
    """DynamoDB JSON with bytes as boto3 takes them."""
    def unpack(value):
        (kind, inner), = value.items()
        if kind == "B":
            return {"B": base64.b64decode(inner)}
        if kind == "L":
            return {"L": [unpack(each) for each in inner]}
        if kind == "M":
            return {"M": {name: unpack(each) for name, each in inner.items()}}
        return value
    return unpack(fold.write(pair))


ENGINES = {"local": Embedded, "dynamodb-local": DynamoDbLocal}
