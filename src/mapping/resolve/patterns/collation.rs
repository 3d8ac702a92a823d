//! Whether the relational query that a pattern replaces sorts text as DynamoDB does, by the bytes of
//! UTF-8. A `limit` cuts what is sorted otherwise at another place.

use std::ops::Range;

use super::bind::Binder;
use super::keys::Keys;
use crate::catalog::{Catalog, Column, DataType, Dbms, Table};
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::resolve::anchor::Anchor;
use crate::mapping::sql::{Sorted, order, tables};

/// A column that a query sorts otherwise.
struct Otherwise {
    span: Range<usize>,
    /// As the query names it.
    written: String,
    collation: String,
}

impl Binder<'_> {
    /// Tells of text that the source sorts otherwise. What the query does not plainly say is left
    /// to `verify`.
    pub(super) fn order(&mut self, keys: &Keys<'_>) {
        let (Some(sql), Some(catalog)) = (&self.raw.sql, self.ground.catalog) else {
            return;
        };
        // Without a sort key there is no order, and where the whole key is said one item comes back.
        if keys.sort.is_empty() {
            return;
        }
        let tables = own_tables(&sql.value, catalog);
        let terms = order(&sql.value, catalog.dbms).unwrap_or_default();
        let mut terms = terms.iter().filter_map(|term| {
            let column = term.column.as_ref()?;
            let collation = collation(column, &tables, catalog.dbms)?;
            let written = column.path.join(".");
            let span = column.span.clone();
            Some(Otherwise {
                span,
                written,
                collation,
            })
        });
        let Some(Otherwise {
            span,
            written,
            collation,
        }) = terms.next()
        else {
            return;
        };
        let outcome = match &self.raw.limit {
            Some(limit) => format!("with a limit of {} other items come back", limit.value),
            None => "the same items come back in another order".to_owned(),
        };
        let message = format!(
            "`{written}` is sorted by `{collation}`, and DynamoDB sorts by bytes: {outcome}"
        );
        self.warnings.push(
            Diagnostic::new(Code::TextOrder, Anchor::of(sql).range(&span), message)
                .with_other(
                    self.raw.name.span.clone(),
                    "this pattern answers in the order of bytes",
                )
                .with_help(mend(&written, &collation, catalog.dbms)),
        );
    }
}

/// The tables that a query itself reads, by what it calls them, where they are in the catalog.
fn own_tables<'c>(sql: &str, catalog: &'c Catalog) -> Vec<(String, &'c Table)> {
    let found = tables(sql, catalog.dbms).into_iter();
    let found = found.filter(|read| read.is_own).filter_map(|read| {
        let is_it = |table: &&Table| {
            let same = |own: &str, said: &String| own.eq_ignore_ascii_case(said);
            match read.path.as_slice() {
                [own] => {
                    same(&table.name.name, own) && catalog.search_path.contains(&table.name.schema)
                }
                [schema, own] => same(&table.name.name, own) && same(&table.name.schema, schema),
                _ => false,
            }
        };
        let table = catalog.tables.iter().find(is_it)?;
        Some((read.called, table))
    });
    found.collect()
}

/// The collation of a term, where it is not that of bytes.
fn collation(term: &Sorted, tables: &[(String, &Table)], dbms: Dbms) -> Option<String> {
    if let Some(asked) = &term.collation {
        return (!is_of_bytes(asked, dbms)).then(|| asked.clone());
    }
    let (owner, name) = match term.path.as_slice() {
        [name] => (None, name),
        [.., owner, name] => (Some(owner), name),
        [] => return None,
    };
    let of_owner = |(called, _): &&(String, &Table)| {
        owner.is_none_or(|owner| owner.eq_ignore_ascii_case(called))
    };
    let own = |column: &&Column| column.name.eq_ignore_ascii_case(name);
    let mut columns = tables
        .iter()
        .filter(of_owner)
        .filter_map(|(_, table)| table.columns.iter().find(own));
    let column = columns.next()?;
    let is_text = matches!(column.data_type, DataType::Text { .. } | DataType::Dynamic);
    column.collation.clone().filter(|_| is_text)
}

/// Whether a collation that a query asks for sorts by bytes.
fn is_of_bytes(name: &str, dbms: Dbms) -> bool {
    let name = name.to_ascii_lowercase();
    match dbms {
        Dbms::Postgres => matches!(
            name.as_str(),
            "c" | "posix" | "ucs_basic" | "c.utf8" | "c.utf-8" | "pg_c_utf8" | "pg_unicode_fast"
        ),
        Dbms::Mysql | Dbms::Mariadb => name.ends_with("_bin") || name == "binary",
        Dbms::Sqlite => name == "binary",
    }
}

/// How the query would sort as DynamoDB does.
fn mend(written: &str, collation: &str, dbms: Dbms) -> String {
    let term = match dbms {
        Dbms::Postgres if collation == "citext" => format!("{written}::text COLLATE \"C\""),
        Dbms::Postgres => format!("{written} COLLATE \"C\""),
        Dbms::Mysql | Dbms::Mariadb => match collation.split('_').next() {
            Some(charset @ ("utf8mb4" | "utf8mb3")) => format!("{written} COLLATE {charset}_bin"),
            _ => format!("CONVERT({written} USING utf8mb4) COLLATE utf8mb4_bin"),
        },
        Dbms::Sqlite if collation.starts_with("BINARY of") => {
            return "no collation of SQLite sorts such a database by the bytes of UTF-8; if that makes no difference: accept: [text-order]".to_owned();
        }
        Dbms::Sqlite => format!("{written} COLLATE BINARY"),
    };
    format!("say ORDER BY {term}; where another order is all right: accept: [text-order]")
}
