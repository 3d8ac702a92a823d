//! The public databases in the folder that `DYNAFOLD_DATASETS` names, each loaded into a throwaway
//! database as the folder's README says. Nothing of them is in this repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use dynafold_testing::missing::named_by;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, MySqlConnection, PgConnection};

use super::{mysql, postgres};

pub(crate) fn folder() -> Option<PathBuf> {
    assert!(
        std::env::var_os("DYNAFOLD_DATASETS").is_some(),
        "DYNAFOLD_DATASETS is not set: run tests/run, or set it to the folder of the datasets, or to `none` to go \
         without them"
    );
    let named = named_by("DYNAFOLD_DATASETS", "the datasets")?;
    let folder = PathBuf::from(named);
    assert!(
        folder.is_dir(),
        "DYNAFOLD_DATASETS names no folder: {}",
        folder.display()
    );
    Some(folder)
}

/// A dataset in a database.
pub(crate) enum Dataset {
    /// A file that is read where it lies.
    Sqlite(PathBuf),
    Postgres(postgres::Database),
    Mysql(&'static str, mysql::Database),
}

impl Dataset {
    /// A SQLite file of the folder.
    pub(crate) fn sqlite(folder: &Path, file: &str) -> Self {
        Self::Sqlite(folder.join(file))
    }

    /// A dump, in a PostgreSQL database.
    pub(crate) async fn postgres(folder: &Path, file: &str) -> Self {
        let database = postgres::Database::create().await;
        let unpacked = Command::new("zcat")
            .arg("-f")
            .arg(folder.join(file))
            .output()
            .unwrap();
        assert!(unpacked.status.success(), "{file}");
        let dump = String::from_utf8(unpacked.stdout).unwrap();
        let mut connection = PgConnection::connect(&database.url()).await.unwrap();
        restore(&mut connection, &dump).await;
        connection.close().await.unwrap();
        Self::Postgres(database)
    }

    /// Dumps that make a database `named`, on every MySQL and MariaDB server that there is.
    pub(crate) async fn mysql(
        folder: &Path,
        files: &[&str],
        named: &str,
        before: &str,
    ) -> Vec<Self> {
        let mut all = Vec::new();
        for (product, server) in mysql::servers() {
            let database = mysql::Database::new(&server).await;
            for file in files {
                database.load(&folder.join(file), named, before);
            }
            all.push(Self::Mysql(product, database));
        }
        all
    }

    pub(crate) fn product(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgres",
            Self::Mysql(product, _) => product,
        }
    }

    /// The URL that a user would give.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(file) => format!("sqlite:{}", file.display()),
            Self::Postgres(database) => database.url(),
            Self::Mysql(_, database) => database.url().to_string(),
        }
    }

    /// What the database itself answers to a query for one number.
    pub(crate) async fn number(&self, sql: &str) -> u64 {
        let sql = AssertSqlSafe(sql.to_owned());
        let number: i64 = match self {
            Self::Sqlite(file) => {
                let options = SqliteConnectOptions::new().filename(file).immutable(true);
                let mut connection: SqliteConnection = options.connect().await.unwrap();
                let query = sqlx::query_scalar(sql);
                query.fetch_one(&mut connection).await.unwrap()
            }
            Self::Postgres(database) => {
                let mut connection = PgConnection::connect(&database.url()).await.unwrap();
                let query = sqlx::query_scalar(sql);
                query.fetch_one(&mut connection).await.unwrap()
            }
            Self::Mysql(_, database) => {
                let url = database.url();
                let mut connection = MySqlConnection::connect(url.as_str()).await.unwrap();
                let query = sqlx::query_scalar(sql);
                query.fetch_one(&mut connection).await.unwrap()
            }
        };
        number.try_into().unwrap()
    }

    /// How many base tables, views, primary keys and foreign keys there are, as the database itself
    /// counts them. Partitions are no tables of their own.
    pub(crate) async fn figures(&self) -> [u64; 4] {
        let queries = match self {
            Self::Sqlite(_) => SQLITE_FIGURES,
            Self::Postgres(_) => POSTGRES_FIGURES,
            Self::Mysql(..) => MYSQL_FIGURES,
        };
        let mut figures = [0; 4];
        for (figure, query) in figures.iter_mut().zip(queries) {
            *figure = self.number(query).await;
        }
        figures
    }

    pub(crate) async fn drop(self) {
        if let Self::Mysql(_, database) = self {
            database.drop().await;
        }
    }
}

const SQLITE_FIGURES: [&str; 4] = [
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
    "SELECT count(*) FROM sqlite_schema WHERE type = 'view'",
    "SELECT count(DISTINCT s.name) FROM sqlite_schema s, pragma_table_info(s.name) c
     WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite%' AND c.pk > 0",
    "SELECT count(*) FROM (SELECT DISTINCT s.name, f.id
     FROM sqlite_schema s, pragma_foreign_key_list(s.name) f WHERE s.type = 'table')",
];

/// A foreign key that partitions declare, each for itself, counts once for their table.
const POSTGRES_FIGURES: [&str; 4] = [
    "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace
     AND relkind IN ('r', 'p') AND NOT relispartition",
    "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm')",
    "SELECT count(*) FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE k.contype = 'p' AND c.relnamespace = 'public'::regnamespace AND NOT c.relispartition",
    "SELECT count(DISTINCT (coalesce(i.inhparent, k.conrelid), k.confrelid, k.conkey))
     FROM pg_constraint k LEFT JOIN pg_inherits i ON i.inhrelid = k.conrelid
     WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace",
];

const MYSQL_FIGURES: [&str; 4] = [
    "SELECT count(*) FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'",
    "SELECT count(*) FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()",
    "SELECT count(*) FROM information_schema.TABLE_CONSTRAINTS
     WHERE TABLE_SCHEMA = DATABASE() AND CONSTRAINT_TYPE = 'PRIMARY KEY'",
    "SELECT count(*) FROM information_schema.TABLE_CONSTRAINTS
     WHERE TABLE_SCHEMA = DATABASE() AND CONSTRAINT_TYPE = 'FOREIGN KEY'",
];

/// Runs what `pg_dump` wrote: statements, and rows between `COPY … FROM stdin;` and `\.`.
async fn restore(connection: &mut PgConnection, dump: &str) {
    let mut lines = dump.split_inclusive('\n');
    let mut statements = String::new();
    while let Some(line) = lines.next() {
        if line.starts_with("COPY ") && line.trim_end().ends_with("FROM stdin;") {
            execute(connection, &std::mem::take(&mut statements)).await;
            let mut copy = connection.copy_in_raw(line).await.unwrap();
            let rows: String = lines.by_ref().take_while(|row| *row != "\\.\n").collect();
            copy.send(rows.as_bytes()).await.unwrap();
            copy.finish().await.unwrap();
        } else if !is_for_another_database(line) {
            statements.push_str(line);
        }
    }
    execute(connection, &statements).await;
}

/// Chinook's script makes its database itself and goes there.
fn is_for_another_database(line: &str) -> bool {
    ["DROP DATABASE ", "CREATE DATABASE ", "\\c "]
        .iter()
        .any(|start| line.starts_with(start))
}

async fn execute(connection: &mut PgConnection, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(connection)
        .await;
    if let Err(error) = done {
        panic!("{error}\n{sql:.400}");
    }
}
