//! Which columns a value is from: places of a row traced back through joins, elements and children.

use dynafold_mapping::model::{AttributeNode, Explode};
use dynafold_relational::catalog::{Catalog, Column, DataType, TableName};
use dynafold_relational::scan::{Scan, ScanColumn};

use crate::tree::{TextLine, TextPiece, code, joined, plain};

/// A column that a value is from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct OriginColumn {
    /// The table, as people write it; the item type's query where it is read from one.
    pub(super) table: String,
    pub(super) column: String,
    /// Its type, in the database's words; empty where it is not known.
    pub(super) declared: String,
    /// The database's comment, and the values that an enum allows where its type does not list them.
    pub(super) meaning: String,
    /// The table in the catalog.
    pub(super) id: Option<TableName>,
}

/// Columns with their types, below each other.
pub(super) fn origins(origins: &[OriginColumn]) -> TextLine {
    let lines = origins.iter().map(|origin| {
        let mut line = vec![code(format!("{}.{}", origin.table, origin.column))];
        if !origin.declared.is_empty() {
            line.extend([
                plain(" "),
                TextPiece::Marked("type", origin.declared.clone()),
            ]);
        }
        if !origin.meaning.is_empty() {
            line.push(TextPiece::Sub(vec![plain(&origin.meaning)]));
        }
        line
    });
    joined(lines, &TextPiece::Break)
}

/// Traces the places of one row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tracer<'g> {
    pub(super) catalog: &'g Catalog,
    pub(super) scan: &'g Scan,
    pub(super) explodes: &'g [Explode],
    /// How the mapping calls what is read.
    pub(super) name: &'g str,
}

impl<'g> Tracer<'g> {
    /// The columns that an attribute is made from, each once, in the order in which they are met.
    pub(super) fn of_node(&self, node: &AttributeNode) -> Vec<OriginColumn> {
        let mut found = Vec::new();
        node.visit_values(&[], &mut |path, place, _| {
            let rows = self.within(path);
            let origin = rows.and_then(|rows| rows.column(place.column));
            found.extend(origin.filter(|origin| !found.contains(origin)));
        });
        found
    }

    /// The column that a place of the row is from.
    pub(super) fn column(&self, index: usize) -> Option<OriginColumn> {
        let mut explodes = self.explodes.iter();
        if let Some(explode) = explodes.find(|explode| explode.element == index) {
            return self.column(explode.array.column);
        }
        let ScanColumn::Column { join, name, .. } = self.scan.columns.get(index)? else {
            return None;
        };
        let id = match join {
            Some(join) => Some(self.scan.joins.get(*join)?.table.clone()),
            None => self.scan.from.table().cloned(),
        };
        let table = id.as_ref().and_then(|id| self.catalog.table(id));
        let column = table.and_then(|table| table.column(name));
        Some(OriginColumn {
            table: match &id {
                Some(id) => self.catalog.display_name(id),
                None => self.name.to_owned(),
            },
            column: name.clone(),
            declared: column.map_or(String::new(), |column| column.declared.clone()),
            meaning: column.map_or(String::new(), meaning),
            id,
        })
    }

    /// The tracer of the rows of an embed, like [`Scan::within`].
    pub(super) fn within(&self, path: &[usize]) -> Option<Tracer<'g>> {
        Some(Tracer {
            scan: self.scan.within(path)?,
            explodes: if path.is_empty() { self.explodes } else { &[] },
            ..*self
        })
    }

    /// The SQL of a `$when`.
    pub(super) fn flag(&self, index: usize) -> &'g str {
        match self.scan.columns.get(index) {
            Some(ScanColumn::Flag(sql)) => sql,
            _ => "",
        }
    }
}

/// A column's comment, and the values of its enum or of a CHECK; MySQL's declared type lists those of an enum already.
fn meaning(column: &Column) -> String {
    let domain = match &column.data_type {
        DataType::Enum { .. } if column.declared.starts_with("enum(") => None,
        DataType::Enum { values } => Some(format!("one of {}", values.join(", "))),
        _ if column.listed.is_empty() => None,
        _ => Some(format!("one of {} (CHECK)", column.listed.join(", "))),
    };
    let parts: Vec<String> = column.comment.clone().into_iter().chain(domain).collect();
    parts.join("; ")
}
