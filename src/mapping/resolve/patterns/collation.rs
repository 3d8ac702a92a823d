//! Whether the relational query that a pattern replaces sorts text as DynamoDB does, by the bytes of
//! UTF-8. A `limit` cuts what is sorted otherwise at another place.

use std::ops::Range;

use super::bind::Binder;
use super::keys::Keys;
use crate::catalog::{DataType, Dbms};
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::resolve::anchor::Anchor;

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
        let Some((query, select)) = self
            .query
            .as_ref()
            .and_then(|query| Some((query, query.select()?)))
        else {
            return;
        };
        let mut terms = query.order.iter().flatten().filter_map(|key| {
            let column = key.column.as_ref()?;
            let collation = match &key.collation {
                Some(asked) => {
                    (!is_of_bytes(&asked.text, catalog.dbms)).then(|| asked.text.clone())
                }
                None => {
                    let (_, _, column) = select.origin(column, catalog)?;
                    let is_text =
                        matches!(column.data_type, DataType::Text { .. } | DataType::Dynamic);
                    column.collation.clone().filter(|_| is_text)
                }
            };
            let path = [&column.schema, &column.owner].into_iter().flatten();
            let path: Vec<&str> = path.chain([&column.name]).map(|name| &*name.text).collect();
            Some(Otherwise {
                span: key.span.clone(),
                written: path.join("."),
                collation: collation?,
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
