"""The databases: make a world's schema, put in the rows that they let in, and read them back by plain SELECTs."""
import datetime
import os
import re
import sqlite3
import urllib.parse

from . import fold
from .fold import Time


def open_base(name, folder, worker):
    return {"sqlite": Sqlite, "postgres": Postgres, "mariadb": Mysql, "mysql": Mysql}[name](name, folder, worker)


def available(name):
    return name == "sqlite" or bool(os.environ.get(VARIABLES[name]))


VARIABLES = {"postgres": "DYNAFOLD_TEST_POSTGRES", "mariadb": "DYNAFOLD_TEST_MARIADB", "mysql": "DYNAFOLD_TEST_MYSQL"}


class Base:
    quote_mark = '"'

    def quote(self, name):
        return self.quote_mark + name.replace(self.quote_mark, self.quote_mark * 2) + self.quote_mark

    def create(self, world):
        """Makes everything. Rows that the database refuses are left out of the world."""
        self.begin()
        for statement in world.get("before", []):
            self.run(statement)
        for table in world["tables"]:
            self.run(self.table_sql(table))
            for index in table.get("indexes", []):
                self.run(index)
        self.unenforced(world, True)
        for table in world["tables"]:
            table["rows"] = [row for row in table["rows"] if self.insert(table, row)]
        self.unenforced(world, False)
        for statement in [view["create"] for view in world.get("views", [])] + world.get("after", []):
            self.run(statement)
        self.done(world)

    def unenforced(self, world, off):
        """Turns the enforcement of foreign keys off where the database lets one."""

    def done(self, world):
        """What has to happen after the schema stands."""

    def table_sql(self, table):
        lines = []
        inline = table.get("inline_key")
        for column in table["columns"]:
            line = f"{self.quote(column['name'])} {column['type']}"
            if column.get("collate"):
                line += f" {column['collate']}"
            if column.get("generated"):
                line += f" GENERATED ALWAYS AS ({column['generated']}) STORED"
            if inline and table["primary_key"] == [column["name"]]:
                line += " PRIMARY KEY" + (" DESC" if inline == "desc" else "")
            if not column.get("null", True):
                line += " NOT NULL"
            lines.append(line)
        names = {column["name"] for column in table["columns"]}
        deferrable = " DEFERRABLE" if table.get("deferrable") else ""
        if table.get("primary_key") and not inline and set(table["primary_key"]) <= names:
            lines.append(f"PRIMARY KEY ({self.names(table['primary_key'])}){deferrable}")
        for unique in table.get("unique", []):
            if set(unique) <= names:
                lines.append(f"UNIQUE ({self.names(unique)}){deferrable}")
        for key in table.get("foreign_keys", []):
            if set(key["columns"]) <= names and not key.get("after"):
                lines.append(f"FOREIGN KEY ({self.names(key['columns'])}) REFERENCES {self.quote(key['table'])} "
                             f"({self.names(key['to'])}) {key.get('suffix', '')}")
        return f"CREATE TABLE {self.quote(table['name'])} ({', '.join(lines)}) {table.get('options', '')}"

    def names(self, columns):
        return ", ".join(map(self.quote, columns))

    def insert_sql(self, table, row):
        columns = [column["name"] for column in table["columns"] if not column.get("generated")]
        return f"INSERT INTO {self.quote(table['name'])} ({self.names(columns)}) VALUES ({', '.join(row)})"

    def insert(self, table, row):
        return self.attempt(self.insert_sql(table, row))

    def cell(self, kind, value):
        """A value as the documentation says a column of this kind is taken, or the reject that it is."""
        try:
            return self.value(kind, value)
        except fold.Reject as reject:
            return reject

    def value(self, kind, value):
        if value is None:
            return None
        if isinstance(value, bool):
            return value
        if kind == "bool" and value in (0, 1):
            return bool(value)
        if isinstance(value, (int, float)) or type(value).__name__ == "Decimal":
            return fold.number(value)
        if isinstance(value, datetime.datetime):
            return Time(self.time_text(kind, value))
        if isinstance(value, datetime.date):
            return Time(value.isoformat())
        if isinstance(value, (bytes, memoryview)):
            return bytes(value)
        if isinstance(value, (str, list, dict)):
            return value
        return str(value)

    def literal(self, kind, value):
        """A SQL literal of a cell."""
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return ("1" if value else "0") if self.name != "postgres" else str(value).lower()
        if isinstance(value, bytes):
            return f"'\\x{value.hex()}'::bytea" if self.name == "postgres" else f"x'{value.hex()}'"
        if isinstance(value, Time):
            return "'" + self.time_literal(str(value)) + "'"
        if isinstance(value, str):
            text = value.replace("\\", "\\\\") if self.name in ("mariadb", "mysql") else value
            return "'" + text.replace("'", "''") + "'"
        return fold.plain(value)

    def time_literal(self, text):
        return text.replace("T", " ").rstrip("Z")


def like(pattern, value):
    """LIKE as SQLite has it unless built otherwise: some systems' own finds nothing in bytes, where Dynafold's finds text."""
    if pattern is None or value is None:
        return None
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    signs = {"%": ".*", "_": "."}
    return re.fullmatch("".join(signs.get(sign) or re.escape(sign) for sign in pattern), text, re.IGNORECASE | re.ASCII | re.DOTALL) is not None


class Sqlite(Base):
    def __init__(self, name, folder, worker):
        self.name, self.path, self.connection = name, os.path.join(folder, "source.db"), None

    @property
    def url(self):
        return "sqlite:" + self.path

    def begin(self):
        self.drop()
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        self.connection.execute("PRAGMA synchronous = OFF")
        self.connection.execute("PRAGMA journal_mode = MEMORY")
        self.connection.create_function("like", 2, like, deterministic=True)

    def drop(self):
        if self.connection:
            self.connection.close()
            self.connection = None
        if os.path.exists(self.path):
            os.remove(self.path)

    def run(self, sql):
        self.connection.execute(sql)

    def attempt(self, sql):
        try:
            self.connection.execute(sql)
            return True
        except sqlite3.Error:
            return False

    def select(self, sql):
        try:
            cursor = self.connection.execute(sql)
        except sqlite3.Error as error:
            raise fold.Unjudged(f"SELECT: {error}") from error
        return [each[0] for each in cursor.description], cursor.fetchall()

    def value(self, kind, value):
        if isinstance(value, str):
            if kind == "bool" and value.lower() in ("true", "false"):
                return value.lower() == "true"
            if kind == "date" and fold.is_date(value):
                return Time(value)
            if kind == "datetime" and fold.is_datetime(value):
                return Time(value.replace(" ", "T"))
            if kind in ("date", "datetime") and value != value.strip():
                raise fold.Unjudged("blanks around a time")
            if kind == "json":
                try:
                    return fold.document(value)
                except ValueError:
                    return value
            return value
        if isinstance(value, int) and kind == "bool" and value in (0, 1):
            return bool(value)
        if value is not None and not isinstance(value, (bytes, str)) and kind in ("date", "datetime", "json"):
            raise fold.Unjudged("a number in a column of times or documents")
        return super().value(kind, value)


class Postgres(Base):
    def __init__(self, name, folder, worker):
        import psycopg
        self.name, self.error = name, psycopg.Error
        url = os.environ[VARIABLES[name]]
        self.database = f"hunter_{os.getpid()}_{worker}"
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(f'CREATE DATABASE {self.database} LOCALE_PROVIDER icu ICU_LOCALE "en-US" TEMPLATE template0'
                          if admin.info.server_version >= 150000 else f"CREATE DATABASE {self.database}")
            if not admin.execute("SELECT 1 FROM pg_roles WHERE rolname = 'hunter_reader'").fetchone():
                try:
                    admin.execute("CREATE ROLE hunter_reader LOGIN PASSWORD 'reader'")
                except psycopg.Error:
                    pass    # another worker was faster
        parts = urllib.parse.urlsplit(url)
        self.admin_url = url
        self.own = urllib.parse.urlunsplit(parts._replace(path="/" + self.database))
        self.read = urllib.parse.urlunsplit(parts._replace(
            path="/" + self.database, netloc=f"hunter_reader:reader@{parts.hostname}:{parts.port}"))
        self.connection = psycopg.connect(self.own, autocommit=True, options="-c timezone=UTC")
        self.reader = psycopg.connect(self.read, autocommit=True, options="-c timezone=UTC")
        self.connection.execute("CREATE EXTENSION IF NOT EXISTS citext SCHEMA pg_catalog")
        self.connection.execute("CREATE COLLATION IF NOT EXISTS pg_catalog.loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
        import decimal
        import json
        from psycopg.types.json import set_json_loads
        set_json_loads(lambda data: json.loads(data, parse_int=decimal.Decimal, parse_float=decimal.Decimal))

    @property
    def url(self):
        return self.read

    def begin(self):
        self.connection.execute("SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public; "
                                "GRANT USAGE ON SCHEMA public TO hunter_reader")

    def unenforced(self, world, off):
        if world.get("unenforced"):
            self.connection.execute("SET session_replication_role = " + ("replica" if off else "origin"))

    def done(self, world):
        self.connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO hunter_reader; ANALYZE")

    def drop(self):
        import psycopg
        self.connection.close()
        self.reader.close()
        with psycopg.connect(self.admin_url, autocommit=True) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {self.database} WITH (FORCE)")

    def run(self, sql):
        self.connection.execute(sql)

    def attempt(self, sql):
        try:
            self.connection.execute(sql)
            return True
        except self.error:
            return False

    def select(self, sql):
        try:
            cursor = self.reader.execute(sql)
        except self.error as error:
            raise fold.Unjudged(f"SELECT: {error}") from error
        return [each.name for each in cursor.description], cursor.fetchall()

    def time_text(self, kind, value):
        if value.tzinfo:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
            return value.isoformat(timespec="seconds") + "Z"
        return value.isoformat(timespec="seconds")


class Mysql(Base):
    quote_mark = "`"

    def __init__(self, name, folder, worker):
        import pymysql
        self.name, self.error = name, pymysql.Error
        parts = urllib.parse.urlsplit(os.environ[VARIABLES[name]])
        self.database = f"hunter_{os.getpid()}_{worker}"
        self.connection = pymysql.connect(
            host=parts.hostname, port=parts.port, user=urllib.parse.unquote(parts.username),
            password=urllib.parse.unquote(parts.password or ""), charset="utf8mb4", autocommit=True)
        self.cursor = self.connection.cursor()
        self.url = urllib.parse.urlunsplit(parts._replace(path="/" + self.database))

    def begin(self):
        self.cursor.execute(f"DROP DATABASE IF EXISTS {self.database}")
        self.cursor.execute(f"CREATE DATABASE {self.database} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
        self.cursor.execute(f"USE {self.database}")
        self.cursor.execute("SET time_zone = '+00:00'")
        # `"` quotes names too, since the SQL of patterns and conditions is the same for all databases.
        self.cursor.execute("SET SESSION foreign_key_checks = 1, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'")

    def unenforced(self, world, off):
        if world.get("unenforced"):
            self.cursor.execute("SET SESSION foreign_key_checks = " + ("0" if off else "1"))

    def drop(self):
        self.cursor.execute(f"DROP DATABASE IF EXISTS {self.database}")
        self.connection.close()

    def run(self, sql):
        self.cursor.execute(sql)

    def attempt(self, sql):
        try:
            self.cursor.execute(sql)
            return True
        except self.error:
            return False

    def select(self, sql):
        try:
            self.cursor.execute(sql)
        except self.error as error:
            raise fold.Unjudged(f"SELECT: {error}") from error
        return [each[0] for each in self.cursor.description], self.cursor.fetchall()

    def value(self, kind, value):
        if kind == "json" and isinstance(value, str):
            return fold.document(value)
        return super().value(kind, value)

    def time_text(self, kind, value):
        return value.isoformat(timespec="seconds") + ("Z" if kind == "instant" else "")

