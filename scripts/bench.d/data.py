"""The rows, the same in PostgreSQL, MariaDB and SQLite, and the mappings over them.

Every value follows from the row's number alone, and rows from 1 to n are the same for every n.
"""

import csv
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORK = ROOT / "target" / "bench"
DATABASE = "dynafold_bench"

# The tables of events by how many of the rows they hold; one row shows what a load takes before any row.
TABLES = {"one": "single", "1x": "hundredth", "10x": "tenth", "100x": "events"}

POSTGRES = """
SET client_min_messages TO warning;
DROP TABLE IF EXISTS events, tenth, hundredth, single, customers, events_lines, tenth_lines, hundredth_lines, single_lines;
CREATE TABLE events (
    id bigint PRIMARY KEY,
    quantity integer NOT NULL,
    price numeric(12, 4) NOT NULL,
    code varchar(20) NOT NULL,
    note text,
    active boolean NOT NULL,
    occurred_at timestamptz NOT NULL,
    details jsonb NOT NULL
);
INSERT INTO events
SELECT i,
       i * 7919 % 100000,
       (i * 104729 % 100000000) / 10000.0,
       'C-' || lpad((i * 31 % 1000000)::text, 8, '0'),
       CASE WHEN i % 10 > 0 THEN 'Note "' || i || '": ' || md5(i::text) || ' \u00e9t\u00e9 ' || left(md5((-i)::text), (i % 32)::int) END,
       i % 3 = 0,
       timestamptz '2020-01-01 00:00:00+00' + i * interval '1.234567 s',
       jsonb_build_object(
           'color', (ARRAY['red', 'green', 'blue', 'black'])[1 + i % 4],
           'size', i % 50,
           'weight', (i % 1000) / 8.0,
           'tags', jsonb_build_array('t' || i % 7, 't' || i % 11))
FROM generate_series(1::bigint, {rows}) AS i;
CREATE TABLE customers (id integer PRIMARY KEY, name varchar(40) NOT NULL, country varchar(2) NOT NULL);
INSERT INTO customers SELECT i, 'Customer ' || i, (ARRAY['DE', 'FR', 'JP', 'US'])[1 + i % 4] FROM generate_series(0, 99999) AS i;
CREATE TABLE events_lines (
    event_id bigint NOT NULL, line integer NOT NULL, sku varchar(20) NOT NULL, amount numeric(12, 4) NOT NULL,
    PRIMARY KEY (event_id, line)
);
INSERT INTO events_lines
SELECT i, line, 'S-' || (i * 31 + line) % 10007, (i * 104729 % 1000000) / 10000.0
FROM generate_series(1::bigint, {rows}) AS i, generate_series(1::bigint, i % 3) AS line;
"""
PART = """
CREATE TABLE {table} (LIKE events INCLUDING ALL);
INSERT INTO {table} SELECT * FROM events WHERE id <= {rows} ORDER BY id;
CREATE TABLE {table}_lines (LIKE events_lines INCLUDING ALL);
INSERT INTO {table}_lines SELECT * FROM events_lines WHERE event_id <= {rows} ORDER BY event_id, line;
"""

# What the other two are filled with, as PostgreSQL writes it.
COPIED = {
    "events": "SELECT id, quantity, price, code, note, active::int, to_char(occurred_at AT TIME ZONE 'UTC', "
    "'YYYY-MM-DD HH24:MI:SS.US'), details FROM events ORDER BY id",
    "customers": "SELECT * FROM customers ORDER BY id",
    "events_lines": "SELECT * FROM events_lines ORDER BY event_id, line",
}
OTHERS = """
DROP TABLE IF EXISTS events; DROP TABLE IF EXISTS customers; DROP TABLE IF EXISTS events_lines;
CREATE TABLE events (
    id {integer} PRIMARY KEY NOT NULL, quantity integer NOT NULL, price {decimal} NOT NULL, code varchar(20) NOT NULL,
    note text, active boolean NOT NULL, occurred_at {time} NOT NULL, details json NOT NULL
);
CREATE TABLE customers (id integer PRIMARY KEY NOT NULL, name varchar(40) NOT NULL, country varchar(2) NOT NULL);
CREATE TABLE events_lines (
    event_id {integer} NOT NULL, line integer NOT NULL, sku varchar(20) NOT NULL, amount {decimal} NOT NULL,
    PRIMARY KEY (event_id, line)
);
"""

MAPPING = """\
dynafold: 1
table:
  name: bench
  key: {{ partition: PK, sort: SK }}
items:
  EVENT:
    from: {table}
    key: {{ PK: "CUSTOMER#{{quantity | pad(6)}}", SK: "EVENT#{{{sort}}}" }}
"""
# One row looked up, and of children none, one or two: one on average.
JOINED = """\
    join: {{ c: {{ table: customers, match: {{ id: quantity }} }} }}
    attributes:
      customer: "{{c.name}}"
      country: "{{c.country}}"
      lines:
        $embed: {table}_lines
        $match: {{ event_id: id }}
        $each: {{ line: "{{line}}", sku: "{{sku}}", amount: "{{amount}}" }}
"""
PROVED, UNPROVED = "id | pad(12)", "occurred_at"


def mapping(shape, size):
    """A mapping file: flat, unproved (of which no constraint says that no two rows have one key) or joined."""
    file = WORK / f"{shape}-{size}.yaml"
    text = MAPPING + (JOINED if shape == "joined" else "")
    file.write_text(text.format(table=TABLES[size], sort=UNPROVED if shape == "unproved" else PROVED))
    return file


def twenty(file):
    """A mapping of twenty item types."""
    head, item = MAPPING.format(table="events", sort=PROVED).split("  EVENT:\n")
    items = (f"  EVENT{n}:\n" + item.replace("EVENT#", f"EVENT{n}#") for n in range(20))
    file.write_text(head + "".join(items))
    return file


class Databases:
    """The servers of tests/servers, each with a database of ours."""

    def __init__(self):
        lines = subprocess.run([ROOT / "tests/servers", "start"], check=True, stdout=subprocess.PIPE, text=True).stdout
        server = {product: urllib.parse.urlsplit(url) for product, url in re.findall(r"DYNAFOLD_TEST_(\w+)=(\S+)", lines)}
        self.postgres, self.mariadb = server["POSTGRES"], server["MARIADB"]
        self.sqlite = WORK / "events.db"
        self.urls = {
            "postgres": self.postgres._replace(path="/" + DATABASE).geturl(),
            "mariadb": self.mariadb._replace(path="/" + DATABASE).geturl(),
            "sqlite": f"sqlite:{self.sqlite}",
        }
        # The passwords go by the environment, where other users do not see them.
        url = self.postgres
        self.environment = {
            **os.environ,
            "PGHOST": url.hostname, "PGPORT": str(url.port), "PGUSER": url.username, "PGPASSWORD": url.password,
            "PGDATABASE": DATABASE, "MYSQL_PWD": self.mariadb.password, "AWS_EC2_METADATA_DISABLED": "true",
        }
        self.psql_path = find_psql()
        self.versions = {"PostgreSQL": self.psql("postgres", "SHOW server_version").split()[0]}

    def of(self, product):
        """The environment of a process that reads one of them."""
        return {**self.environment, "DATABASE_URL": self.urls[product]}

    def fill(self, rows, products):
        print(f"filling {rows:,} rows", file=sys.stderr)
        if self.psql("postgres", f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'") == "":
            self.psql("postgres", f"CREATE DATABASE {DATABASE}")
        script = POSTGRES.format(rows=rows)
        for size, table in TABLES.items():
            if size != "100x":
                script += PART.format(table=table, rows=rows_of(size, rows))
        self.psql(DATABASE, script + "VACUUM ANALYZE;")
        for product in products - {"postgres"}:
            {"sqlite": self.fill_sqlite, "mariadb": self.fill_mariadb}[product]()

    def psql(self, database, sql):
        command = [self.psql_path, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database]
        run = subprocess.run(command, input=sql, env=self.environment, check=True, stdout=subprocess.PIPE, text=True)
        return run.stdout.strip()

    def copied(self, form):
        """The tables of PostgreSQL as files."""
        for table, query in COPIED.items():
            file = WORK / "copied"
            self.psql(DATABASE, f"\\copy ({query}) TO '{file}' ({form})")
            yield table, file
            file.unlink()

    def fill_sqlite(self):
        self.sqlite.unlink(missing_ok=True)
        connection = sqlite3.connect(self.sqlite)
        connection.executescript("PRAGMA journal_mode = OFF;" + OTHERS.format(integer="integer", decimal="decimal(12, 4)", time="datetime"))
        for table, file in self.copied(r"FORMAT csv, NULL '\N'"):
            with open(file, newline="") as text:
                rows = ([None if value == r"\N" else value for value in row] for row in csv.reader(text))
                first = next(rows)
                insert = f"INSERT INTO {table} VALUES ({', '.join('?' * len(first))})"
                connection.execute(insert, first)
                connection.executemany(insert, rows)
        connection.executescript("ANALYZE;")  # commits what came before
        connection.close()

    def fill_mariadb(self):
        url = self.mariadb
        client = shutil.which("mariadb") or shutil.which("mysql") or sys.exit("mariadb is missing: install MariaDB's client")
        command = [client, "--no-defaults", "--local-infile=1", "-N", "-B", f"-h{url.hostname}", f"-P{url.port}", f"-u{url.username}"]

        def run(sql):
            run = subprocess.run(command, input=sql, env=self.environment, check=True, stdout=subprocess.PIPE, text=True)
            return run.stdout.strip()

        tables = OTHERS.format(integer="bigint", decimal="decimal(12, 4)", time="datetime(6)")
        run(f"CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4; USE {DATABASE}; {tables}")
        for table, file in self.copied("FORMAT text"):
            run(f"USE {DATABASE}; LOAD DATA LOCAL INFILE '{file}' INTO TABLE {table} CHARACTER SET utf8mb4; ANALYZE TABLE {table};")
        self.versions["MariaDB"] = run("SELECT version()").split("-")[0]


def rows_of(size, rows):
    return {"one": 1, "1x": rows // 100, "10x": rows // 10, "100x": rows}[size]


def find_psql():
    servers = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/psql"))
    psql = shutil.which("psql") or (servers and str(servers[-1]))
    return psql or sys.exit("psql is missing: install PostgreSQL's client")
