"""The script that people write for this job: SQLAlchemy reads, boto3's batch_writer writes.

python sqlalchemy_boto3.py URL ENDPOINT ROWS
"""

import sys
from decimal import Decimal

import boto3
from sqlalchemy import MetaData, Table, create_engine, select


def attribute(value):
    """boto3 takes no floats: numbers inside JSON documents become decimals."""
    if isinstance(value, float):
        return Decimal(str(value))
    if isinstance(value, dict):
        return {name: attribute(member) for name, member in value.items()}
    if isinstance(value, list):
        return [attribute(element) for element in value]
    return value


def main(url, endpoint, rows):
    engine = create_engine(url)
    events = Table("events", MetaData(), autoload_with=engine)
    table = boto3.resource(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="bench",
        aws_secret_access_key="bench",
    ).Table("bench")
    with engine.connect() as connection, table.batch_writer() as batch:
        query = select(events).where(events.c.id <= rows)
        for row in connection.execution_options(yield_per=1000).execute(query).mappings():
            item = {
                "PK": f"CUSTOMER#{row['quantity']:06}",
                "SK": f"EVENT#{row['id']:012}",
                "_type": "EVENT",
                "occurred_at": row["occurred_at"].isoformat(),
            }
            for name in ("id", "quantity", "price", "code", "note", "active", "details"):
                if row[name] is not None:
                    item[name] = attribute(row[name])
            batch.put_item(Item=item)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
