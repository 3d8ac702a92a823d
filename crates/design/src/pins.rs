//! What the comments of a workload fix: which items stand in the item collections of which parent (`keep`), and which items
//! expire (`expires`).

use std::collections::BTreeMap;

use dynafold_relational::catalog::{Catalog, DataType, TableName};

use crate::workload::{Expiry, Pin};

/// The pinned tables, each with the columns that hold the key of its parent; each parent with its own key.
pub type Pins = BTreeMap<TableName, Vec<String>>;

/// Why no proposal can follow a pin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{child}` cannot be kept beside `{parent}`: {why}")]
pub struct RefusedPin {
    line: usize,
    child: String,
    parent: String,
    why: &'static str,
}

/// Checks pins against the schema.
///
/// # Errors
///
/// [`RefusedPin`] when a table or a foreign key is missing, a row may be without its parent, or two pins contradict each
/// other.
pub fn pinned(catalog: &Catalog, pins: &[Pin]) -> Result<Pins, RefusedPin> {
    let mut found = Pins::new();
    for pin in pins {
        let refused = |why: &'static str| RefusedPin {
            line: pin.line,
            child: pin.child.clone(),
            parent: pin.parent.clone(),
            why,
        };
        let tables = catalog.find(&pin.child).zip(catalog.find(&pin.parent));
        let (child, parent) =
            tables.ok_or_else(|| refused("the schema does not have both tables"))?;
        let mut keys = child.foreign_keys.iter();
        let key = keys.find(|key| {
            let mut own = parent.row_key().iter();
            key.references == parent.name
                && own.all(|column| key.referenced_columns.contains(column))
        });
        let key = key.ok_or_else(|| refused("no foreign key refers to the parent's key"))?;
        let columns = parent.row_key().iter().filter_map(|column| {
            let mut pairs = key.referenced_columns.iter().zip(&key.columns);
            pairs
                .find(|(there, _)| *there == column)
                .map(|(_, own)| own.clone())
        });
        let columns: Vec<String> = columns.collect();
        let mut nullable = columns.iter().filter_map(|name| child.column(name));
        let is_key = |name: &String| child.row_key().contains(name);
        if nullable.any(|column| column.nullable && !is_key(&column.name)) {
            return Err(refused(
                "the foreign key may be NULL, and a row without a parent would have no place",
            ));
        }
        let known = found
            .entry(child.name.clone())
            .or_insert_with(|| columns.clone());
        if *known != columns {
            return Err(refused(
                "another `keep` line already puts it beside another table, or puts another table beside it",
            ));
        }
        let own = found
            .entry(parent.name.clone())
            .or_insert_with(|| parent.row_key().to_vec());
        if *own != parent.row_key() {
            return Err(refused(
                "another `keep` line puts the parent itself beside another table",
            ));
        }
    }
    Ok(found)
}

/// The tables whose items expire, each with the column that holds the time.
pub type Expiries = BTreeMap<TableName, Expires>;

/// When the items of a table expire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expires {
    /// The column with the time.
    pub column: String,
    /// How long after that time, as the filter `plus` takes it; `None` for that time itself.
    pub after: Option<String>,
}

/// Why items cannot expire by that column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{table}` cannot expire by `{column}`: {why}")]
pub struct RefusedExpiry {
    line: usize,
    table: String,
    column: String,
    why: &'static str,
}

/// Checks against the schema what a workload says of items that expire.
///
/// # Errors
///
/// [`RefusedExpiry`] where the column is not there, or holds no times.
pub fn expiring(catalog: &Catalog, expiries: &[Expiry]) -> Result<Expiries, RefusedExpiry> {
    let mut found = Expiries::new();
    for expiry in expiries {
        let refused = |why: &'static str| RefusedExpiry {
            line: expiry.line,
            table: expiry.table.clone(),
            column: expiry.column.clone(),
            why,
        };
        let table = catalog
            .find(&expiry.table)
            .filter(|table| table.is_stored());
        let table = table.ok_or_else(|| refused("the schema does not have that table"))?;
        let mut columns = table.columns.iter();
        let column = columns.find(|column| column.name.eq_ignore_ascii_case(&expiry.column));
        let column = column.ok_or_else(|| refused("the table does not have that column"))?;
        let is_time = matches!(
            column.data_type,
            DataType::Date | DataType::Timestamp { .. } | DataType::Integer { .. }
        );
        if !is_time {
            return Err(refused(
                "it holds neither times nor whole numbers (seconds since 1970)",
            ));
        }
        if expiry.after.is_some() && matches!(column.data_type, DataType::Integer { .. }) {
            return Err(refused(
                "a period cannot be added to a column of whole numbers: add a column with the time at which the row expires",
            ));
        }
        if table.row_key().is_empty() {
            return Err(refused("no key identifies its rows, so it has no items"));
        }
        if found.contains_key(&table.name) {
            return Err(refused("two `expires` lines name it"));
        }
        let expires = Expires {
            column: column.name.clone(),
            after: expiry.after.clone(),
        };
        found.insert(table.name.clone(), expires);
    }
    Ok(found)
}
