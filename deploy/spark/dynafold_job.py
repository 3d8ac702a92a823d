"""Loads a relational database into one DynamoDB table, or into parts in S3, on Apache Spark 3.5 or 4, through `dynafold`.

    spark-submit dynafold_job.py --mapping shop.yaml --dynafold ./dynafold --results s3://bucket/runs --target dynamodb
    spark-submit dynafold_job.py --mapping shop.yaml --dynafold ./dynafold --results s3://bucket/runs --to s3://bucket/shop

The driver holds the snapshot (`dynafold plan --hold`); each task pipes the lines of some chunks through `dynafold
work`; Spark keeps what comes back, compares the keys of all chunks with its own shuffle, and `dynafold finish` ends
the load. A task that is retried or runs twice writes the same items, and Spark keeps one of its results.

The source is DATABASE_URL of the driver, or a secret of AWS Secrets Manager (--source-secret). Tasks get it with their
code, so that it is in no setting of Spark. Further arguments go to `dynafold plan`. See docs/spark.md.
"""

import argparse
import bisect
import collections
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from pyspark import SparkFiles
from pyspark.sql import SparkSession

# Of each chunk: what `work` answered, and what it left in files: keys of 16 bytes, and lines of rejects and archived items.
RESULTS = "chunk int, result string, keys binary, rejects binary, archive binary"
# Tasks for each slot, at most. Each starts a process that connects and reads the schema, so they are not too many; and what
# is lost with an executor is loaded again, so they are not too few.
TASKS = 8
# Bytes of a key: its fingerprint.
KEY = 16
# About how many keys one task compares; it takes some 100 bytes for each.
IN_A_BUCKET = 500_000
# Keys that are handed to `finish` by their chunks; more are counted.
NAMED = 1000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mapping", required=True, help="the mapping file, on the driver")
    parser.add_argument("--dynafold", required=True, help="the program, on the driver or at a URL that Spark reads")
    parser.add_argument("--results", required=True, help="a folder that driver and executors see, for what chunks come to")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--target", help="the table: dynamodb, or local:FILE")
    where.add_argument("--to", help="an empty prefix in S3 for parts of an export: s3://BUCKET/PREFIX")
    parser.add_argument("--endpoint-url")
    parser.add_argument("--region")
    parser.add_argument("--source-secret", help="the ARN of a secret whose text is the source's URL")
    parser.add_argument("--slots", type=int, help="tasks at one time, at most [default: the cores that Spark has]")
    parser.add_argument("--accept-inconsistent", action="store_true", help="for a source that shares no snapshot")
    known, for_plan = parser.parse_known_args()
    # AWS Glue adds arguments of its own.
    if "--JOB_NAME" in for_plan:
        at = for_plan.index("--JOB_NAME")
        del for_plan[at : at + 2]
    return known, for_plan


def source_url(secret):
    if secret is None:
        return os.environ["DATABASE_URL"]
    import boto3

    return boto3.client("secretsmanager").get_secret_value(SecretId=secret)["SecretString"]


def plan(program, given, for_plan, slots, environment):
    """Starts `plan`, which holds the snapshot until its standard input is closed, and reads the lines of the chunks."""
    way = "--accept-inconsistent" if given.accept_inconsistent else "--hold"
    command = [program, "plan", given.mapping, way, "--slots", str(slots), "--yes", *target(given), *service(given), *for_plan]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True, encoding="utf-8")
    lines = []
    for line in holder.stdout:
        lines.append(line.rstrip("\n"))
        if len(lines) == json.loads(line)["of"]:
            return holder, lines
    sys.exit(f"dynafold plan ended with {holder.wait()}")


def target(given):
    return ["--to", given.to] if given.to else ["--target", given.target]


def service(given):
    words = []
    for name, value in (("--endpoint-url", given.endpoint_url), ("--region", given.region)):
        words += [name, value] if value else []
    return words


def lines_of(text):
    """The lines of a text as the program ends them; a JSON text may hold what `splitlines` takes for an end."""
    return text.removesuffix("\n").split("\n") if text else []


def loader(program, words, environment):
    """The function that loads the chunks of a task."""

    def load(lines):
        mine = {name: value for name, value in os.environ.items() if not name.startswith("DYNAFOLD_")}
        path = program if os.path.exists(program) else SparkFiles.get(os.path.basename(program))
        with tempfile.TemporaryDirectory() as folder:
            command = [path, "work", "--files", folder, "--yes", *words]
            worker = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**mine, **environment}, text=True, encoding="utf-8"
            )
            try:
                answers, _ = worker.communicate("\n".join(lines) + "\n")
            finally:
                # A task that Spark ends takes its worker with it.
                worker.kill()
            for answer in lines_of(answers):
                result = json.loads(answer)
                done = result["outcome"].get("done")
                if done is None:
                    failed = result["outcome"]["failed"]
                    raise RuntimeError(f"chunk {result['chunk']}: {failed['message']}; {failed['causes']}; {failed['help']}")
                names = ((done["keys"] or {}).get("file"), done["rejects"], done["archive"])
                files = (bytearray(pathlib.Path(folder, name).read_bytes()) if name else None for name in names)
                yield (result["chunk"], answer, *files)
            if worker.returncode != 0:
                raise RuntimeError(f"dynafold work ended with {worker.returncode}")

    return load


class Keys:
    """The keys of a chunk in their order, as a sequence."""

    def __init__(self, content):
        self.content = content

    def __len__(self):
        return len(self.content) // KEY

    def __getitem__(self, index):
        return bytes(self.content[index * KEY : (index + 1) * KEY])

    def __iter__(self):
        return (key for (key,) in struct.iter_unpack(f"{KEY}s", self.content))


def compare_keys(results):
    """Compares the keys of all chunks, exactly; `None` where the schema proves that they differ."""
    keys = results.where("keys IS NOT NULL").select("chunk", "keys")
    total = keys.selectExpr("sum(length(keys))").first()[0]
    if total is None:
        return None
    buckets = total // KEY // IN_A_BUCKET + 1

    def cut(row):
        """The part of a chunk's keys that falls into each bucket: equal keys fall into one."""
        own, at = Keys(row["keys"]), 0
        for bucket in range(buckets):
            bound = ((bucket + 1) * 2 ** (8 * KEY) - 1) // buckets
            end = bisect.bisect_right(own, bound.to_bytes(KEY, "big"), at)
            if end > at:
                yield bucket, (row["chunk"], bytes(own.content[at * KEY : end * KEY]))
            at = end

    def compare(parts):
        """How many keys there are in a bucket, how many different ones, and the first that are shared."""
        parts, distinct = list(parts), set()
        for _, content in parts:
            distinct.update(Keys(content))
        every = sum(len(Keys(content)) for _, content in parts)
        shared = []
        if len(distinct) < every:
            times = collections.Counter(key for _, content in parts for key in Keys(content))
            first = sorted(key for key, items in times.items() if items > 1)[:NAMED]
            chunks = {key: set() for key in first}
            for chunk, content in parts:
                for key in Keys(content):
                    if key in chunks:
                        chunks[key].add(chunk)
            shared = [{"key": key.hex(), "items": times[key], "chunks": sorted(chunks[key])} for key in first]
        return every, len(distinct), shared

    compared = keys.rdd.flatMap(cut).groupByKey(buckets).mapValues(compare).values().collect()
    shared = [key for _, _, keys in compared for key in keys]
    return {
        "keys_compared": sum(every for every, _, _ in compared),
        "distinct_keys": sum(distinct for _, distinct, _ in compared),
        "shared_keys": shared[:NAMED],
    }


def finish(program, words, lines, results, compared, environment, keep):
    """Hands all results to `finish`, with the rejects and archived items of chunks, keeps what it gathers of these, prints its
    report, and gives its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "plan.ndjson").write_text("\n".join(lines) + "\n", encoding="utf-8")
        with open(folder / "results.ndjson", "w", encoding="utf-8") as out:
            for row in results.drop("keys").toLocalIterator():
                done = json.loads(row.result)["outcome"]["done"]
                for name, content in ((done["rejects"], row.rejects), (done["archive"], row.archive)):
                    if name:
                        (folder / name).write_bytes(content)
                out.write(row.result + "\n")
            if compared is not None:
                out.write(json.dumps({"run": json.loads(row.result)["run"], **compared}) + "\n")
        command = [program, "finish", "--plan", folder / "plan.ndjson", "--files", folder, *words, folder / "results.ndjson"]
        ended = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, encoding="utf-8")
        said = [ended.stdout, ended.stderr]
        try:
            for name in ("rejects.ndjson", "archive.ndjson"):
                if (folder / name).exists():
                    kept = keep(name, (folder / name).read_text(encoding="utf-8"))
                    said = [text.replace(str(folder / name), kept) for text in said]
        finally:
            for stream, text in zip((sys.stdout, sys.stderr), said):
                stream.flush()
                stream.buffer.write(text.encode())
                stream.flush()
        return ended.returncode


def main():
    given, for_plan = arguments()
    environment = {"DATABASE_URL": source_url(given.source_secret)}
    for name in ("DYNAFOLD_PSEUDONYM_KEY", "AWS_REGION"):
        if name in os.environ:
            environment[name] = os.environ[name]
    spark = SparkSession.builder.appName("dynafold").getOrCreate()
    context = spark.sparkContext
    context.addFile(given.dynafold)
    program = SparkFiles.get(os.path.basename(given.dynafold))
    own = {**os.environ, **environment}
    slots = given.slots or context.defaultParallelism
    holder, lines = plan(program, given, for_plan, slots, own)
    run = json.loads(lines[0])["run"]
    kept = f"{given.results.rstrip('/')}/{run}"
    # An export's place stands in each line of the plan.
    load = loader(program, service(given) if given.to else [*target(given), *service(given)], environment)
    loaded = context.parallelize(lines, min(len(lines), slots * TASKS)).mapPartitions(load)
    # Written by Spark's committers: of a task that ran twice one attempt is kept.
    spark.createDataFrame(loaded, RESULTS).write.mode("overwrite").parquet(kept)
    results = spark.read.schema(RESULTS).parquet(kept)
    compared = compare_keys(results)

    def keep(name, text):
        """Writes lines beside the results, and says where: the folder of `finish` goes with it."""
        path = f"{kept}-{name}"
        spark.createDataFrame([(line,) for line in lines_of(text)], "value string").coalesce(1).write.mode("overwrite").text(path)
        return path

    code = finish(program, service(given), lines, results, compared, own, keep)
    holder.stdin.close()
    held = holder.wait()
    spark.stop()
    if held != 0:
        sys.exit(f"the snapshot was not held to the end: dynafold plan ended with {held}")
    # 3: the load is complete, but rows were rejected or share keys.
    sys.exit(code)


if __name__ == "__main__":
    main()
