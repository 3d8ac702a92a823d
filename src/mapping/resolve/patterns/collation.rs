//! Whether the relational query that a pattern replaces sorts text as DynamoDB does, by the bytes of
//! UTF-8. A `limit` cuts what is sorted otherwise at another place.

use std::ops::Range;

use super::bind::Binder;
use super::keys::Keys;
use crate::catalog::{DataType, Dbms};
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::resolve::anchor::Anchor;
use crate::mapping::resolve::insensitive::{folds, is_insensitive};
use crate::sql::Bound;

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

impl Binder<'_> {
    /// Tells of a parameter that the source compares without regard to case, accents or blanks, where the key holds the
    /// column as it is spelled.
    pub(super) fn insensitive(&mut self) {
        let (Some(query), Some(catalog)) = (&self.query, self.ground.catalog) else {
            return;
        };
        let Some(select) = query.select() else { return };
        let mut equal = query
            .comparisons
            .iter()
            .filter(|one| one.is_plain && one.bound == Bound::Equal);
        let found = equal.find_map(|one| {
            let at = self.parameters.find(&one.parameter)?;
            let (_, _, column) = select.origin(&one.column, catalog)?;
            let mut pairs = self.pairs.iter();
            let pair = pairs.find(|pair| pair.asked.place.column == at && !folds(&pair.made))?;
            is_insensitive(column).then_some((&one.column.name.text, pair))
        });
        let Some((column, pair)) = found else { return };
        let message = format!(
            "its SQL finds `{column}` without regard to case, accents or blanks at the end, and the key holds `{}` as it is spelled",
            pair.made_text()
        );
        let warning = Diagnostic::new(Code::InsensitiveKey, pair.span.clone(), message)
            .with_other(self.raw.name.span.clone(), "other spellings find nothing here")
            .with_help("write it `| lower` in the key and here, or ask an attribute of its own that is spelled one way; where callers spell it as the rows do: accept: [insensitive-key]");
        self.warnings.push(warning);
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
