//! Which auto-increment columns are in keys.

use std::collections::BTreeSet;

use dynafold_relational::catalog::{Catalog, Column, Table};

use super::facts::Covered;
use crate::model::Template;

/// Foreign keys may form a cycle.
const MAX_FOREIGN_KEY_STEPS: usize = 8;

/// The column that a foreign key leads to.
fn parent_column<'c>(
    catalog: &'c Catalog,
    (table, column): &(&'c Table, &'c Column),
) -> Option<(&'c Table, &'c Column)> {
    table.foreign_keys.iter().find_map(|key| {
        let referenced = key.referenced(&column.name)?;
        let parent = catalog.table(&key.references)?;
        Some((parent, parent.column(referenced)?))
    })
}

/// Auto-increment columns in the keys of the table or of an index, directly or behind a foreign key.
pub(crate) fn numbered_keys(
    covered: &[Covered<'_>],
    catalog: &Catalog,
    table: &dynafold_dynamodb::Table,
) -> Vec<String> {
    let keys = table.key_attributes();
    let mut numbered = BTreeSet::new();
    for each in covered {
        let templates = keys
            .iter()
            .filter_map(|key| each.subject.item.template(&key.name));
        for placeholder in templates.flat_map(Template::placeholders) {
            let origin = each.scan.origin(placeholder.place.column);
            let own = origin.and_then(|(table, name)| {
                let table = catalog.table(table)?;
                Some((table, table.column(name)?))
            });
            let all = std::iter::successors(own, |of| parent_column(catalog, of));
            let mut parents = all.take(MAX_FOREIGN_KEY_STEPS);
            let column = parents.find(|(_, column)| column.is_numbered());
            if let Some((table, column)) = column {
                numbered.insert(format!(
                    "{}.{}",
                    catalog.display_name(&table.name),
                    column.name
                ));
            }
        }
    }
    numbered.into_iter().collect()
}
