//! Binds paths: the names in a template become places in the row.

use std::ops::Range;
use std::sync::Arc;

use super::bind::Binder;
use super::scope::{Element, unknown_column};
use crate::catalog::{Column, DataType, Family};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::mapping::model::Place;
use crate::mapping::raw::Spanned;

impl Binder<'_> {
    /// Binds a path: a column, `alias.column`, and members below either.
    pub(super) fn place(&mut self, path: &[String], span: Range<usize>) -> Option<(Place, Family)> {
        let first = path.first()?;
        let written: Arc<str> = path.join(".").into();
        if let Some(element) = self.scope.element(first) {
            return self.element_place(element, path, written, span);
        }
        if path.iter().any(|part| part == "$index") {
            let message = format!("`{first}` is no element of an array that is exploded");
            self.diagnostics.push(
                Diagnostic::new(Code::UnknownAlias, span, message)
                    .with_help(format!("declare it: explode: {{ {first}: array_column }}")),
            );
            return None;
        }
        if first == "*" {
            self.diagnostics.push(
                Diagnostic::new(Code::Template, span, "`*` stands for no value of the row")
                    .with_help(
                        "in an item's key say which value picks the shard: {id | shard(20)}",
                    ),
            );
            return None;
        }
        let scope = self.scope;
        let (alias, column, members) = match (scope.parent(first), path.get(1)) {
            (Some(parent), Some(name)) => {
                let column = parent.table.column(name).cloned();
                if column.is_none() {
                    let name = Spanned {
                        value: name.clone(),
                        span: span.clone(),
                    };
                    let names = parent
                        .table
                        .columns
                        .iter()
                        .map(|column| column.name.as_str());
                    self.diagnostics
                        .push(unknown_column(&name, &format!("`{first}`"), names));
                }
                (
                    Some(first.as_str()),
                    column?,
                    path.get(2..).unwrap_or_default(),
                )
            }
            _ => (
                None,
                self.base_column(path, span.clone())?,
                path.get(1..).unwrap_or_default(),
            ),
        };
        let family = self.member_family(&column, members, &written, span)?;
        let place = Place {
            column: self.pass.column(alias, &column.name, &column.data_type),
            path: members
                .iter()
                .map(|member| member.as_str().into())
                .collect(),
            written,
            is_json: false,
        };
        Some((place, family))
    }

    /// What a member of a column is; `None` where there is no such member.
    fn member_family(
        &mut self,
        column: &Column,
        members: &[String],
        written: &str,
        span: Range<usize>,
    ) -> Option<Family> {
        let mut data_type = Some(&column.data_type);
        for member in members {
            data_type = match data_type {
                Some(DataType::Composite { fields }) => {
                    match fields.iter().find(|f| &f.0 == member) {
                        Some((_, field)) => Some(field),
                        None => {
                            let name = Spanned {
                                value: member.clone(),
                                span: span.clone(),
                            };
                            let names = fields.iter().map(|field| field.0.as_str());
                            self.diagnostics
                                .push(unknown_column(&name, "the composite", names));
                            return None;
                        }
                    }
                }
                Some(
                    DataType::Json | DataType::Hstore | DataType::Range { .. } | DataType::Dynamic,
                )
                | None => None,
                Some(other) => {
                    self.diagnostics.push(
                        Diagnostic::new(
                            Code::UnknownColumn,
                            span,
                            format!("`{written}`: {} has no members", other.family().name()),
                        )
                        .with_help("only JSON columns, composites, hstore and ranges have members"),
                    );
                    return None;
                }
            };
        }
        Some(data_type.map_or(Family::Any, DataType::family))
    }

    /// Binds an exploded element, its position, or a member of it.
    fn element_place(
        &mut self,
        element: &Element,
        path: &[String],
        written: Arc<str>,
        span: Range<usize>,
    ) -> Option<(Place, Family)> {
        let is_index = path.get(1).is_some_and(|part| part == "$index");
        let (column, family, members) = if is_index {
            (element.index, Family::Number, path.get(2..))
        } else {
            (element.value, element.family, path.get(1..))
        };
        let members = members.unwrap_or_default();
        let may_have = matches!(family, Family::Any | Family::Document | Family::Map);
        if !members.is_empty() && !may_have {
            let message = format!("`{written}`: {} has no members", family.name());
            self.diagnostics
                .push(Diagnostic::new(Code::UnknownColumn, span, message));
            return None;
        }
        let family = if members.is_empty() {
            family
        } else {
            Family::Any
        };
        let path = members.iter().map(|member| member.as_str().into());
        let place = Place {
            column,
            path: path.collect(),
            written,
            is_json: false,
        };
        Some((place, family))
    }

    pub(super) fn base_column(&mut self, path: &[String], span: Range<usize>) -> Option<Column> {
        let first = path.first()?;
        if let Some(column) = self
            .scope
            .columns
            .iter()
            .find(|column| &column.name == first)
        {
            return Some(column.clone());
        }
        if self.scope.broken.contains(first) && path.len() > 1 {
            return None;
        }
        if !self.scope.known {
            return Some(unknown(first));
        }
        let aliases = self.scope.joins.iter().map(|parent| parent.alias.as_str());
        if path.len() > 1 {
            let help = match nearest(first, aliases.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it: join: {{ {first}: foreign_key_column }}"),
            };
            self.diagnostics.push(
                Diagnostic::new(
                    Code::UnknownAlias,
                    span,
                    format!(
                        "`{first}` is neither a column of `{}` nor a joined alias",
                        self.scope.written
                    ),
                )
                .with_help(help),
            );
        } else {
            let name = Spanned {
                value: first.clone(),
                span,
            };
            let names = self.scope.columns.iter().map(|column| column.name.as_str());
            let relation = format!("`{}`", self.scope.written);
            self.diagnostics
                .push(unknown_column(&name, &relation, names));
        }
        None
    }
}

/// A column of a query whose columns are not known.
pub(super) fn unknown(name: &str) -> Column {
    Column::new(name.to_owned(), String::new(), DataType::Dynamic)
}
