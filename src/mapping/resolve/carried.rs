//! `columns` and `omit`: which columns an item type carries under their own names.

use std::ops::Range;
use std::sync::Arc;

use super::bind::Binder;
use super::place::unknown;
use super::scope::unknown_column;
use crate::catalog::{Column, DataType};
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::model::{Place, Placeholder};
use crate::mapping::raw::{RawItem, Spanned};

/// A column that `columns` asks for.
struct Chosen {
    /// The joined parent that it belongs to.
    alias: Option<String>,
    column: Column,
    /// How the mapping writes it.
    written: String,
    /// Where it was asked for.
    span: Range<usize>,
    /// Whether that was by its own name.
    by_name: bool,
}

impl Chosen {
    /// Whether its name asks for it; `*` does not ask for what is invisible, as in SQL.
    fn is_asked_for(&self) -> bool {
        !self.column.invisible || self.by_name
    }
}

impl Binder<'_> {
    /// The columns that are carried under their own names: attribute name, place, and where it was
    /// asked for. What is omitted is not read from the source either, unless something else asks
    /// for it.
    pub(super) fn carried(&mut self, raw: &RawItem) -> Vec<(Arc<str>, Placeholder, Range<usize>)> {
        let mut chosen = Vec::new();
        match &raw.columns {
            None => {
                let all = Spanned {
                    value: "*".to_owned(),
                    span: raw.name.span.clone(),
                };
                choose(None, self.scope.columns, &all, &mut chosen);
            }
            Some(names) => names.iter().for_each(|name| self.choose(name, &mut chosen)),
        }
        for name in raw.omit.iter().filter(|_| self.scope.known) {
            let names = || chosen.iter().map(|chosen| chosen.written.as_str());
            if names().all(|written| written != name.value) {
                let is_column = self
                    .scope
                    .columns
                    .iter()
                    .any(|column| column.name == name.value);
                let fault = unknown_column(name, &format!("`{}`", self.scope.written), names());
                self.diagnostics.push(if is_column {
                    Diagnostic {
                        message: format!("`{}` is not among the `columns` anyway", name.value),
                        ..fault
                    }
                    .with_help("take it out of `omit`")
                } else {
                    fault
                });
            }
        }
        let omitted = |chosen: &Chosen| raw.omit.iter().any(|name| name.value == chosen.written);
        chosen.retain(|chosen| !omitted(chosen));
        let (left_out, chosen): (Vec<_>, Vec<_>) = chosen
            .into_iter()
            .partition(|chosen| !chosen.is_asked_for());
        for left in left_out {
            let written = &left.written;
            if chosen.iter().any(|chosen| chosen.written == *written) {
                continue;
            }
            let message = format!("`{written}` is invisible, and `*` leaves it out");
            let help =
                format!("name it too, columns: [\"*\", {written}], or say omit: [{written}]");
            self.diagnostics
                .push(Diagnostic::new(Code::InvisibleColumn, left.span, message).with_help(help));
        }
        chosen
            .into_iter()
            .map(|chosen| self.carry(chosen))
            .collect()
    }

    fn choose(&mut self, name: &Spanned<String>, chosen: &mut Vec<Chosen>) {
        let scope = self.scope;
        if name.value == "*" {
            choose(None, scope.columns, name, chosen);
            return;
        }
        let mut columns = scope.columns.iter();
        if let Some(column) = columns.find(|column| column.name == name.value) {
            choose(None, std::slice::from_ref(column), name, chosen);
            return;
        }
        if let Some((alias, rest)) = name.value.split_once('.')
            && let Some(parent) = scope.parent(alias)
        {
            let columns = parent.table.columns.as_slice();
            match parent.table.column(rest) {
                Some(column) => choose(Some(alias), std::slice::from_ref(column), name, chosen),
                None if rest == "*" => choose(Some(alias), columns, name, chosen),
                None => {
                    let rest = Spanned {
                        value: rest.to_owned(),
                        span: name.span.clone(),
                    };
                    let names = columns.iter().map(|column| column.name.as_str());
                    self.diagnostics
                        .push(unknown_column(&rest, &format!("`{alias}`"), names));
                }
            }
            return;
        }
        if scope.known {
            let path: Vec<String> = name.value.split('.').map(str::to_owned).collect();
            self.base_column(&path, name.span.clone());
        } else {
            let column = unknown(&name.value);
            choose(None, std::slice::from_ref(&column), name, chosen);
        }
    }

    fn carry(&mut self, chosen: Chosen) -> (Arc<str>, Placeholder, Range<usize>) {
        let Chosen {
            alias,
            column,
            written,
            span,
            by_name: _,
        } = chosen;
        if column.data_type == DataType::Printed {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::PrintedType,
                    span.clone(),
                    format!(
                        "`{written}` ({}) is carried as text, as the database prints it",
                        column.declared
                    ),
                )
                .with_help(format!(
                    "leave it out if no access pattern needs it: omit: [{written}]"
                )),
            );
        }
        let placeholder = Placeholder {
            place: Place {
                column: self
                    .pass
                    .column(alias.as_deref(), &column.name, &column.data_type),
                path: Vec::new(),
                written: written.into(),
                is_json: false,
            },
            filters: Vec::new(),
            family: column.data_type.family(),
            escape: None,
        };
        (column.name.as_str().into(), placeholder, span)
    }
}

fn choose(
    alias: Option<&str>,
    columns: &[Column],
    name: &Spanned<String>,
    chosen: &mut Vec<Chosen>,
) {
    chosen.extend(columns.iter().map(|column| Chosen {
        alias: alias.map(str::to_owned),
        written: match alias {
            Some(alias) => format!("{alias}.{}", column.name),
            None => column.name.clone(),
        },
        column: column.clone(),
        span: name.span.clone(),
        by_name: name.value != "*" && !name.value.ends_with(".*"),
    }));
}
