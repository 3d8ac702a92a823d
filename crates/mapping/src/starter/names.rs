//! The names of a starter mapping.

use dynafold_relational::catalog::{Catalog, Table, TableName};

/// The names that a mapping is made of, chosen so that they do not clash with columns.
pub(super) struct Names {
    pub(super) partition: String,
    pub(super) sort: String,
    pub(super) type_attribute: String,
    /// Item type names by table.
    item_types: Vec<(TableName, String)>,
}

impl Names {
    pub(super) fn choose(catalog: &Catalog, tables: &[&Table]) -> Self {
        let is_column = |name: &str| tables.iter().any(|table| table.column(name).is_some());
        let free = |wanted: &str| {
            let mut name = wanted.to_owned();
            while is_column(&name) {
                name.insert(0, '_');
            }
            name
        };
        let mut item_types: Vec<(TableName, String)> = Vec::new();
        // Tables that a bare name finds come first: theirs are the names that people know them by.
        let is_found = |table: &&&Table| catalog.find(&table.name.name) == Some(**table);
        let (found, others): (Vec<&Table>, Vec<&Table>) =
            tables.iter().partition(|table| is_found(table));
        for table in found.into_iter().chain(others) {
            let plain = upper(&table.name.name);
            let taken = |name: &str| item_types.iter().any(|(_, other)| other == name);
            let mut name = plain.clone();
            if taken(&name) {
                name = upper(&catalog.display_name(&table.name));
            }
            let mut number = 2;
            while taken(&name) {
                name = format!("{plain}_{number}");
                number += 1;
            }
            item_types.push((table.name.clone(), name));
        }
        Self {
            partition: free("PK"),
            sort: free("SK"),
            type_attribute: free("_type"),
            item_types,
        }
    }

    pub(super) fn item_type(&self, table: &TableName) -> &str {
        let found = self.item_types.iter().find(|(name, _)| name == table);
        found.map_or("ITEM", |(_, item_type)| item_type)
    }
}

/// An item type's name from a table's: upper case, other signs than letters and digits as `_`.
fn upper(name: &str) -> String {
    let sign = |c: char| if c.is_alphanumeric() { c } else { '_' };
    name.chars().map(sign).collect::<String>().to_uppercase()
}
