//! Binds paths: the names in a template become places in the row.

use std::ops::Range;
use std::sync::Arc;

use dynafold_relational::catalog::{Column, DataType, Family};

use super::bind::Binder;
use super::scope::{Element, unknown_column};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::model::Place;

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
            let help = format!("declare it: explode: {{ {first}: array_column }}");
            self.tell(Code::UnknownAlias, span, message, help);
            return None;
        }
        if first == "*" {
            let message = "`*` stands for no value of the row";
            let help = "in an item's key say which value picks the shard: {id | shard(20)}";
            self.tell(Code::Template, span, message, help);
            return None;
        }
        let scope = self.scope;
        let (alias, column, members) = match (scope.parent(first), path.get(1)) {
            (Some(parent), Some(name)) => {
                let Some(column) = parent.table.column(name).cloned() else {
                    self.diagnostics.push(parent.lacks(name, span));
                    return None;
                };
                let members = path.get(2..).unwrap_or_default();
                (Some(first.as_str()), column, members)
            }
            _ => (
                None,
                self.base_column(path, span.clone())?,
                path.get(1..).unwrap_or_default(),
            ),
        };
        let family = self.member_family(&column, members, &written, span)?;
        let column = self.pass.column(alias, &column.name, &column.data_type);
        Some((member(column, members, written), family))
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
                            let names = fields.iter().map(|field| field.0.as_str());
                            let fault = unknown_column(member, span, "the composite", names);
                            self.diagnostics.push(fault);
                            return None;
                        }
                    }
                }
                Some(
                    DataType::Json | DataType::Hstore | DataType::Range { .. } | DataType::Dynamic,
                )
                | None => None,
                Some(other) => {
                    let message = format!("`{written}`: {} has no members", other.family().name());
                    let help = "only JSON columns, composites, hstore and ranges have members";
                    self.tell(Code::UnknownColumn, span, message, help);
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
        Some((member(column, members, written), family))
    }

    pub(super) fn base_column(&mut self, path: &[String], span: Range<usize>) -> Option<Column> {
        let first = path.first()?;
        if let Some(column) = self.scope.base(first) {
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
            let declare = format!("declare it: join: {{ {first}: foreign_key_column }}");
            let help = match nearest(first, aliases.clone()) {
                Some(near) => format!("did you mean `{near}`? Else {declare}"),
                None => declare,
            };
            let message = format!(
                "`{first}` is neither a column of `{}` nor a joined alias",
                self.scope.written
            );
            self.tell(Code::UnknownAlias, span, message, help);
        } else {
            self.diagnostics.push(self.scope.lacks(first, span));
        }
        None
    }
}

/// The place of a column, or of a member of it.
fn member(column: usize, path: &[String], written: Arc<str>) -> Place {
    Place {
        path: path.iter().map(|name| name.as_str().into()).collect(),
        ..Place::of_column(column, written)
    }
}

/// A column of a query whose columns are not known.
pub(super) fn unknown(name: &str) -> Column {
    Column::new(name.to_owned(), String::new(), DataType::Dynamic)
}
