//! What a mapping calls its parts: the table, its keys, item types; and how keys, ranges and tables are written.

use dynafold_mapping::scalar::quoted;
use dynafold_relational::catalog::{Catalog, Column, DataType, Table, TableName, TypeFamily};

/// The names that a mapping is made of, chosen so that they do not clash with columns.
#[derive(Debug)]
pub(crate) struct MappingNames {
    /// The table's partition key.
    pub(crate) partition: String,
    pub(crate) sort: String,
    /// The name of the attribute that holds the item type.
    pub(crate) type_attribute: String,
    /// That of the one by which items expire.
    pub(crate) ttl: String,
    /// Item type names by table.
    item_types: Vec<(TableName, String)>,
}

impl MappingNames {
    pub(crate) fn choose(catalog: &Catalog, tables: &[&Table]) -> Self {
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
            ttl: free("ttl"),
            item_types,
        }
    }

    /// The same with the names that a mapping has. `known`: its item types by table; `taken`: the names of all.
    pub(crate) fn with(
        mut self,
        [partition, sort, type_attribute]: [&str; 3],
        known: &[(TableName, String)],
        taken: &[String],
    ) -> Self {
        partition.clone_into(&mut self.partition);
        sort.clone_into(&mut self.sort);
        type_attribute.clone_into(&mut self.type_attribute);
        for (table, name) in &mut self.item_types {
            match known.iter().find(|(of, _)| of == table) {
                Some((_, known)) => name.clone_from(known),
                None => {
                    while taken.contains(name) {
                        name.push('_');
                    }
                }
            }
        }
        self
    }

    /// The item type of a table.
    pub(crate) fn item_type(&self, table: &TableName) -> &str {
        let found = self.item_types.iter().find(|(name, _)| name == table);
        found.map_or("ITEM", |(_, item_type)| item_type)
    }
}

/// An item type's name from a table's: upper case, other signs than letters and digits as `_`.
fn upper(name: &str) -> String {
    let name = name.replace(|c: char| !c.is_alphanumeric(), "_");
    name.to_uppercase()
}

/// A name for a table that holds what is in the database, from the name of that.
pub(crate) fn table_name(catalog: &Catalog) -> String {
    let file = catalog.database.rsplit(['/', '\\']).next();
    let name = file.and_then(|file| file.split('.').next());
    let is_odd = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
    let mut table = name.unwrap_or_default().replace(is_odd, "-");
    while table.len() < 3 {
        table.push('_');
    }
    table.truncate(200);
    table
}

/// What makes a key's text of a column.
pub(crate) fn filter(column: &Column, sorts: bool) -> &'static str {
    match (&column.data_type, column.data_type.family()) {
        (DataType::Integer { bits, .. }, _) if sorts => match bits {
            0..=8 => " | pad(3)",
            9..=16 => " | pad(5)",
            17..=24 => " | pad(8)",
            25..=32 => " | pad(10)",
            _ => " | pad(20)",
        },
        (_, TypeFamily::Number) if sorts => " | ordered",
        (_, TypeFamily::Binary) => " | hex",
        (_, TypeFamily::List | TypeFamily::Map | TypeFamily::Set | TypeFamily::Document) => {
            " | string"
        }
        _ => "",
    }
}

/// A range of a sort key, bounds included.
pub(crate) fn between(low: &str, high: &str) -> String {
    format!("{{ between: [{}, {}] }}", quoted(low), quoted(high))
}

/// A table's name as `from` takes it.
pub(crate) fn written_name(catalog: &Catalog, name: &TableName) -> String {
    if catalog
        .find(&name.name)
        .is_some_and(|found| &found.name == name)
    {
        return name.name.clone();
    }
    let part = |text: &str| {
        let plain = text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if plain {
            text.to_owned()
        } else {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
    };
    format!("{}.{}", part(&name.schema), part(&name.name))
}
