//! Finds the parent that a `join` names by its foreign key.

use std::ops::Range;

use super::scope::{Parent, unknown_column};
use crate::catalog::{Catalog, ForeignKey, Table};
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::raw::RawJoin;
use crate::source::Join;

pub(super) fn find_parent<'a>(
    raw: &RawJoin,
    base: &Table,
    catalog: &'a Catalog,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Parent<'a>> {
    let before = diagnostics.len();
    check_join_names(raw, base, diagnostics);
    if diagnostics.len() > before {
        return None;
    }
    let place = raw
        .columns
        .first()
        .map_or(&raw.alias.span, |column| &column.span)
        .clone();
    let fault = |message: String| Diagnostic::new(Code::Join, place.clone(), message);
    let key = match foreign_key(raw, base) {
        Ok(key) => key,
        Err((message, help)) => {
            diagnostics.push(fault(message).with_help(help));
            return None;
        }
    };
    let Some(table) = catalog.table(&key.references) else {
        diagnostics.push(
            Diagnostic::new(
                Code::UnreadableTable,
                place,
                format!(
                    "the foreign key leads to `{}`, which the user cannot see",
                    key.references
                ),
            )
            .with_help("grant the user SELECT on it"),
        );
        return None;
    };
    if !table.is_unique(&key.referenced_columns) {
        diagnostics.push(
            fault(format!(
                "the foreign key leads to columns of `{}` that are not unique",
                table.name.name
            ))
            .with_help("a row could have several parents; join in `from: { sql: … }` instead"),
        );
        return None;
    }
    let may_be_null = |name: &String| base.column(name).is_none_or(|column| column.nullable);
    let on = key
        .columns
        .iter()
        .cloned()
        .zip(key.referenced_columns.iter().cloned());
    Some(Parent {
        join: Join {
            alias: raw.alias.value.clone(),
            table: table.name.clone(),
            on: on.collect(),
        },
        table,
        optional: key.columns.iter().any(may_be_null),
    })
}

fn check_join_names(raw: &RawJoin, base: &Table, diagnostics: &mut Vec<Diagnostic>) {
    let names = base.columns.iter().map(|column| column.name.as_str());
    let unknown = raw
        .columns
        .iter()
        .filter(|column| base.column(&column.value).is_none());
    for wrong in unknown {
        diagnostics.push(match wrong.value.split_once('.') {
            Some((alias, _)) => chained(wrong.span.clone(), alias),
            None => unknown_column(wrong, &format!("`{}`", base.name.name), names.clone()),
        });
    }
    if raw.alias.value == base.name.name || base.column(&raw.alias.value).is_some() {
        diagnostics.push(
            Diagnostic::new(
                Code::Join,
                raw.alias.span.clone(),
                format!(
                    "the alias `{}` is a name of `{}` already",
                    raw.alias.value, base.name.name
                ),
            )
            .with_help("choose another alias"),
        );
    }
}

/// The one foreign key on just these columns, or what is wrong and how to mend it.
fn foreign_key<'t>(raw: &RawJoin, base: &'t Table) -> Result<&'t ForeignKey, (String, String)> {
    let wanted: Vec<&str> = raw
        .columns
        .iter()
        .map(|column| column.value.as_str())
        .collect();
    let fits = |key: &&ForeignKey| {
        key.columns.len() == wanted.len()
            && key
                .columns
                .iter()
                .all(|column| wanted.contains(&column.as_str()))
    };
    let written = wanted.join(", ");
    let mut fitting = base.foreign_keys.iter().filter(fits);
    let Some(key) = fitting.next() else {
        let declared = base.foreign_keys.iter().map(|key| key.columns.join(", "));
        let declared: Vec<String> = declared.collect();
        return Err((
            format!("`{written}` is no foreign key of `{}`", base.name.name),
            if declared.is_empty() {
                format!("`{}` declares no foreign keys", base.name.name)
            } else {
                format!("its foreign keys are on {}", declared.join("; "))
            },
        ));
    };
    match fitting.find(|other| other.references != key.references) {
        Some(other) => Err((
            format!(
                "`{written}` belongs to two foreign keys, to `{}` and to `{}`",
                key.references, other.references
            ),
            "join in `from: { sql: … }` instead".to_owned(),
        )),
        None => Ok(key),
    }
}

fn chained(span: Range<usize>, alias: &str) -> Diagnostic {
    Diagnostic::new(
        Code::NotYet,
        span,
        "joins chained through an alias are part of the language, but not of this version of Dynafold",
    )
    .with_help(format!("join from the table itself, or from `{alias}` in `from: {{ sql: … }}`"))
}
