//! Reads the schema, in eight queries however many tables there are.
//!
//! The system catalog is open to everyone, so a user who may only SELECT sees as much as the owner.
//! What the user may not read is listed as such, or named in the notices.

use std::collections::HashMap;

use dynafold_relational::catalog::{
    Catalog, Column, Dbms, ForeignKey, Index, Table, TableKind, TableName,
};
use serde::Deserialize;

use super::types::UsedTypes;
use super::{Postgres, PostgresSql};
use crate::{Dialect as _, Result};

/// The oldest version that is tested.
const OLDEST: i64 = 130_000;

#[derive(Deserialize)]
struct SessionEntry {
    version: String,
    version_number: i64,
    database: String,
    search_path: Vec<String>,
    own_functions: Vec<String>,
    own_operators: bool,
}

#[derive(Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a row as sql/tables.sql gives it"
)]
struct TableEntry {
    oid: i64,
    #[serde(flatten)]
    name: TableName,
    kind: String,
    /// Whether every column may be read.
    whole: bool,
    /// Whether any column may be read.
    readable: bool,
    row_security: bool,
    /// False for a materialized view without data, which cannot be read.
    populated: bool,
    /// Whether other tables inherit from it; partitions do not count.
    inherited: bool,
    /// Whether rows of it are a foreign table's.
    live: bool,
    comment: Option<String>,
    estimated_rows: Option<u64>,
    estimated_bytes: Option<u64>,
}

#[derive(Deserialize)]
struct HiddenEntry {
    schema: String,
    tables: u64,
}

/// What belongs to a relation.
#[derive(Deserialize)]
struct OfRelation<T> {
    relation: i64,
    #[serde(flatten)]
    part: T,
}

#[derive(Deserialize)]
struct ColumnEntry {
    #[serde(rename = "type")]
    oid: i64,
    modifier: i32,
    readable: bool,
    #[serde(flatten)]
    column: Column,
}

#[derive(Deserialize)]
struct IndexEntry {
    is_primary: bool,
    /// Over columns alone, and over all rows.
    plain: bool,
    /// Whether equal values may be in it.
    lax: bool,
    #[serde(flatten)]
    index: Index,
}

/// Puts the relations that are listed before a query about them.
macro_rules! about_relations {
    ($file:literal) => {
        concat!(include_str!("sql/relation.sql"), include_str!($file))
    };
}

/// Reads the catalog, within a transaction that stands.
pub(super) async fn read(source: &mut Postgres) -> Result<Catalog> {
    let session: Vec<SessionEntry> = source.entries(include_str!("sql/session.sql")).await?;
    let tables: Vec<TableEntry> = source.entries(about_relations!("sql/tables.sql")).await?;
    let hidden: Vec<HiddenEntry> = source.entries(about_relations!("sql/hidden.sql")).await?;
    let columns: Vec<OfRelation<ColumnEntry>> =
        source.entries(about_relations!("sql/columns.sql")).await?;
    let indexes: Vec<OfRelation<IndexEntry>> =
        source.entries(about_relations!("sql/indexes.sql")).await?;
    let foreign_keys: Vec<OfRelation<ForeignKey>> = source
        .entries(about_relations!("sql/foreign_keys.sql"))
        .await?;
    let types = UsedTypes::load(source, columns.iter().map(|column| column.part.oid)).await?;

    let session = session.into_iter().next();
    let mut catalog = Catalog {
        dbms: Dbms::Postgres,
        version: String::new(),
        database: String::new(),
        search_path: Vec::new(),
        own_functions: Vec::new(),
        own_operators: false,
        tables: Vec::with_capacity(tables.len()),
        notices: Vec::new(),
    };
    if let Some(session) = session {
        if session.version_number < OLDEST {
            catalog.notices.push(format!(
                "PostgreSQL {} is older than version 13, the oldest that is supported",
                session.version
            ));
        }
        catalog.version = session.version;
        catalog.database = session.database;
        catalog.search_path = session.search_path;
        catalog.own_functions = session.own_functions;
        catalog.own_operators = session.own_operators;
    }
    let user = PostgresSql.quote(&source.user);
    catalog.notices.extend(hidden.iter().map(|hidden| {
        format!(
            "no permission on schema {}: its tables ({}) are hidden; ask for GRANT USAGE ON SCHEMA \
             {} TO {user}",
            hidden.schema,
            hidden.tables,
            PostgresSql.quote(&hidden.schema)
        )
    }));
    let mut columns = grouped(columns);
    let mut indexes = grouped(indexes);
    let mut foreign_keys = grouped(foreign_keys);
    for entry in tables {
        let parts = Parts {
            columns: columns.remove(&entry.oid).unwrap_or_default(),
            indexes: indexes.remove(&entry.oid).unwrap_or_default(),
            foreign_keys: foreign_keys.remove(&entry.oid).unwrap_or_default(),
        };
        let table = table(entry, parts, &types, &user, &mut catalog.notices);
        catalog.tables.push(table);
    }
    catalog.tables.sort_by(|a, b| a.name.cmp(&b.name));
    catalog.notices.sort();
    Ok(catalog)
}

/// What belongs to one table.
struct Parts {
    columns: Vec<ColumnEntry>,
    indexes: Vec<IndexEntry>,
    foreign_keys: Vec<ForeignKey>,
}

fn grouped<T>(entries: Vec<OfRelation<T>>) -> HashMap<i64, Vec<T>> {
    let mut groups: HashMap<i64, Vec<T>> = HashMap::new();
    for OfRelation { relation, part } in entries {
        groups.entry(relation).or_default().push(part);
    }
    groups
}

fn table(
    entry: TableEntry,
    parts: Parts,
    types: &UsedTypes,
    user: &str,
    notices: &mut Vec<String>,
) -> Table {
    let name = entry.name;
    if entry.row_security {
        notices.push(if entry.kind == "v" {
            format!(
                "row-level security may hide rows of tables behind the view {name}: they are not read"
            )
        } else {
            format!(
                "row-level security is active on {name}: rows that its policies hide from {user} \
                 are not read"
            )
        });
    }
    if !entry.populated {
        notices.push(format!(
            "{name} has no data and cannot be read: REFRESH MATERIALIZED VIEW {} first",
            PostgresSql.table(&name)
        ));
    }
    let mut columns = parts.columns;
    let mut closed = Vec::new();
    if entry.readable && !entry.whole {
        let (open, shut) = columns.into_iter().partition(|column| column.readable);
        columns = open;
        closed.extend(shut.into_iter().map(|shut: ColumnEntry| shut.column.name));
        notices.push(format!(
            "no permission on columns of {name}: {} are hidden; ask for GRANT SELECT ON {} TO {user}",
            closed.join(", "),
            PostgresSql.table(&name)
        ));
    }
    // A key of which a column is hidden cannot be used.
    let usable = |names: &[String]| !names.iter().any(|name| closed.contains(name));
    let mut table = Table {
        readable: entry.readable,
        inherited: entry.inherited,
        live: entry.live,
        row_security: entry.row_security,
        columns: columns.into_iter().map(|c| column(c, types)).collect(),
        foreign_keys: (parts.foreign_keys.into_iter())
            .filter(|key| usable(&key.columns))
            .collect(),
        comment: entry.comment,
        estimated_rows: entry.estimated_rows,
        estimated_bytes: entry.estimated_bytes,
        ..Table::new(name, kind(&entry.kind))
    };
    let indexes = parts.indexes.into_iter();
    for entry in indexes.filter(|entry| usable(&entry.index.columns)) {
        if entry.is_primary {
            table.primary_key = entry.index.columns;
            table.lax_primary_key = entry.lax;
        } else {
            table.add_index(entry.index, entry.plain, entry.lax);
        }
    }
    table
}

fn kind(letter: &str) -> TableKind {
    match letter {
        "p" => TableKind::Partitioned,
        "v" => TableKind::View,
        "m" => TableKind::MaterializedView,
        "f" => TableKind::Foreign,
        _ => TableKind::Table,
    }
}

fn column(entry: ColumnEntry, types: &UsedTypes) -> Column {
    Column {
        data_type: types.data_type(entry.oid, entry.modifier),
        prints_names: types.prints_names(entry.oid),
        ..entry.column
    }
}
