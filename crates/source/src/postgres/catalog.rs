//! Reads the schema, in eight queries however many tables there are.
//!
//! The system catalog is open to everyone, so a user who may only SELECT sees as much as the owner.
//! What the user may not read is listed as such, or named in the notices.

use std::collections::HashMap;

use dynafold_format::{float, rounded};
use dynafold_relational::catalog::{
    Catalog, Column, Dbms, ForeignKey, Index, Table, TableKind, UniqueKey,
};
use dynafold_sql::definition;
use serde::Deserialize;

use super::error::ReadSubject;
use super::types::UsedTypes;
use super::{Postgres, PostgresSql, error};
use crate::{Dialect as _, Result};

/// The oldest version that is tested.
const OLDEST: i64 = 130_000;

#[derive(Deserialize)]
struct SessionEntry {
    version_number: i64,
    /// The catalog, as yet without tables.
    #[serde(flatten)]
    catalog: Catalog,
}

#[derive(Deserialize)]
struct TableEntry {
    oid: i64,
    /// Whether every column may be read.
    whole: bool,
    /// False for a materialized view without data, which cannot be read.
    populated: bool,
    /// The table, as yet without what belongs to it.
    #[serde(flatten)]
    table: Table,
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
    /// How many values there are, in `pg_stats`' way: below zero, as a share of the rows.
    n_distinct: Option<f64>,
    /// Which share of the rows has NULL.
    null_frac: Option<f64>,
    /// The expressions of the CHECKs that are about it alone.
    checks: Vec<String>,
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
    /// Whether it takes more for equal than its columns do.
    coarse: bool,
    /// Whether NULLs are equal in it.
    nulls_equal: bool,
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
    let user = PostgresSql.quote(&source.user);
    let Some(session) = session.into_iter().next() else {
        return Err(error::query(
            sqlx::Error::RowNotFound,
            &ReadSubject::Schema,
            &source.user,
        ));
    };
    let mut catalog = session.catalog;
    if session.version_number < OLDEST {
        catalog.notices.push(format!(
            "PostgreSQL {} is older than version 13, the oldest that is supported",
            catalog.version
        ));
    }
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
    for TableEntry {
        oid,
        whole,
        populated,
        mut table,
    } in tables
    {
        warn(&table, populated, &user, &mut catalog.notices);
        let columns = columns.remove(&oid).unwrap_or_default().into_iter();
        let (open, shut): (Vec<_>, Vec<_>) =
            columns.partition(|column| column.readable || whole || !table.readable);
        let names: Vec<String> = shut.into_iter().map(|shut| shut.column.name).collect();
        table.hidden_columns = (!names.is_empty()).then_some(names);
        if let Some(hidden) = table.hidden_in_words() {
            catalog.notices.push(format!(
                "{} has {hidden}; ask for GRANT SELECT ON {} TO {user}",
                table.name,
                PostgresSql.table(&table.name)
            ));
        }
        let rows = table.estimated_rows;
        let columns = open.into_iter().map(|open| column(open, &types, rows));
        table.columns = columns.collect();
        let mut foreign_keys = foreign_keys.remove(&oid).unwrap_or_default();
        foreign_keys.retain(|key| table.shows(&key.columns));
        table.foreign_keys = foreign_keys;
        let indexes = indexes.remove(&oid).unwrap_or_default().into_iter();
        for entry in indexes {
            if !table.shows(&entry.index.columns) {
                continue;
            }
            if entry.is_primary {
                table.primary_key = entry.index.columns;
                table.lax_primary_key = entry.lax;
            } else {
                let key = entry.plain.then(|| UniqueKey {
                    name: entry.index.name.clone(),
                    columns: entry.index.columns.clone(),
                    lax: entry.lax,
                    nulls_equal: entry.nulls_equal,
                    coarse: entry.coarse,
                });
                table.add_index(entry.index, key);
            }
        }
        catalog.tables.push(table);
    }
    catalog.tables.sort_by(|a, b| a.name.cmp(&b.name));
    catalog.notices.sort();
    Ok(catalog)
}

fn grouped<T>(entries: Vec<OfRelation<T>>) -> HashMap<i64, Vec<T>> {
    let mut groups: HashMap<i64, Vec<T>> = HashMap::new();
    for OfRelation { relation, part } in entries {
        groups.entry(relation).or_default().push(part);
    }
    groups
}

/// Says what may be missing of a table's rows.
fn warn(table: &Table, populated: bool, user: &str, notices: &mut Vec<String>) {
    let name = &table.name;
    if table.row_security {
        notices.push(if table.kind == TableKind::View {
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
    if !populated {
        notices.push(format!(
            "{name} has no data and cannot be read: REFRESH MATERIALIZED VIEW {} first",
            PostgresSql.table(name)
        ));
    }
}

fn column(entry: ColumnEntry, types: &UsedTypes, rows: Option<u64>) -> Column {
    let distinct = entry.n_distinct.and_then(|values| match values {
        share if share < 0.0 => Some(rounded(-share * float(rows?))),
        values => Some(rounded(values)),
    });
    let nulls = entry.null_frac.zip(rows);
    let mut column = Column {
        data_type: types.data_type(entry.oid, entry.modifier),
        prints_names: types.prints_names(entry.oid),
        distinct: distinct.filter(|values| *values > 0),
        nulls: nulls.map(|(share, rows)| rounded(share * float(rows))),
        ..entry.column
    };
    for check in &entry.checks {
        if let Some((_, values)) = definition::allowed_values(check, Dbms::Postgres) {
            column.list(values);
        }
    }
    column
}
