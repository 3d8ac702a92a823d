//! What the comments of a workload fix: which items stand in the item collections of which parent (`keep`), and which items
//! expire (`expires`).

use std::collections::BTreeMap;

use dynafold_relational::catalog::{Catalog, DataType, TableName};

use crate::workload::{Expiry, Pin};

/// The pinned tables, each with the columns that hold the key of its parent; each parent with its own key.
pub type Pins = BTreeMap<TableName, Vec<String>>;

/// Why no proposal can follow a pin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}: `{}` cannot be kept beside `{}`: {why}", .pin.line, .pin.child, .pin.parent)]
pub struct RefusedPin {
    pin: Pin,
    why: &'static str,
}

/// Checks pins against the schema.
///
/// # Errors
///
/// [`RefusedPin`] when a table or a foreign key is missing, a row may be without its parent, or two pins contradict each
/// other.
pub fn check_pins(catalog: &Catalog, pins: &[Pin]) -> Result<Pins, RefusedPin> {
    let mut found = Pins::new();
    for pin in pins {
        let refused = |why: &'static str| RefusedPin {
            pin: pin.clone(),
            why,
        };
        let tables = catalog.find(&pin.child).zip(catalog.find(&pin.parent));
        let (child, parent) =
            tables.ok_or_else(|| refused("the schema does not have both tables"))?;
        let keys = child.foreign_keys.iter();
        let mut keys = keys.filter(|key| key.references == parent.name);
        let columns = keys.find_map(|key| {
            let own = |column: &String| {
                let mut pairs = key.referenced_columns.iter().zip(&key.columns);
                let (_, own) = pairs.find(|(referenced, _)| *referenced == column)?;
                Some(own.clone())
            };
            let columns = parent.row_key().iter().map(own);
            columns.collect::<Option<Vec<String>>>()
        });
        let columns =
            columns.ok_or_else(|| refused("no foreign key refers to the parent's key"))?;
        let may_be_null = |name: &String| {
            let column = child.column(name);
            !child.row_key().contains(name) && column.is_some_and(|column| column.nullable)
        };
        if columns.iter().any(may_be_null) {
            return Err(refused(
                "the foreign key may be NULL, and a row without a parent would have no place",
            ));
        }
        let known = found.entry(child.name.clone());
        if *known.or_insert_with(|| columns.clone()) != columns {
            return Err(refused(
                "another `keep` line already puts it beside another table, or puts another table beside it",
            ));
        }
        let known = found.entry(parent.name.clone());
        if *known.or_insert_with(|| parent.row_key().to_vec()) != parent.row_key() {
            return Err(refused(
                "another `keep` line puts the parent itself beside another table",
            ));
        }
    }
    Ok(found)
}

/// The tables whose items expire, and when.
pub type Expiries = BTreeMap<TableName, ExpiryTime>;

/// When the items of a table expire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiryTime {
    /// The column with a time, or with seconds since 1970.
    pub column: String,
    /// How long after that time, as the filter `plus` takes it; `None` for that time itself.
    pub after: Option<String>,
}

/// Why items cannot expire by a column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}: `{}` cannot expire by `{}`: {why}", .expiry.line, .expiry.table, .expiry.column)]
pub struct RefusedExpiry {
    expiry: Expiry,
    why: &'static str,
}

/// Checks against the schema what a workload says of items that expire.
///
/// # Errors
///
/// [`RefusedExpiry`] when the table or the column is missing, the column does not hold times, the table has no key, or two
/// lines name one table.
pub fn check_expiries(catalog: &Catalog, expiries: &[Expiry]) -> Result<Expiries, RefusedExpiry> {
    let mut found = Expiries::new();
    for expiry in expiries {
        let refused = |why: &'static str| RefusedExpiry {
            expiry: expiry.clone(),
            why,
        };
        let table = catalog
            .find(&expiry.table)
            .filter(|table| table.is_stored());
        let table = table.ok_or_else(|| refused("the schema does not have that table"))?;
        let mut columns = table.columns.iter();
        let column = columns.find(|column| column.name.eq_ignore_ascii_case(&expiry.column));
        let column = column.ok_or_else(|| refused("the table does not have that column"))?;
        let is_integer = matches!(column.data_type, DataType::Integer { .. });
        let is_time = matches!(
            column.data_type,
            DataType::Date | DataType::Timestamp { .. }
        );
        if !is_time && !is_integer {
            return Err(refused(
                "it holds neither times nor whole numbers (seconds since 1970)",
            ));
        }
        if is_integer && expiry.after.is_some() {
            return Err(refused(
                "a period cannot be added to a column of whole numbers: add a column with the time at which the row expires",
            ));
        }
        if table.row_key().is_empty() {
            return Err(refused("no key identifies its rows, so it has no items"));
        }
        let time = ExpiryTime {
            column: column.name.clone(),
            after: expiry.after.clone(),
        };
        if found.insert(table.name.clone(), time).is_some() {
            return Err(refused("two `expires` lines name it"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::sample::shop;

    use super::*;

    fn pin(child: &str, parent: &str) -> Pin {
        Pin {
            child: child.to_owned(),
            parent: parent.to_owned(),
            line: 7,
        }
    }

    #[test]
    fn pins_that_contradict_the_schema_or_each_other_are_refused() {
        let mut catalog = shop();
        let (lines, orders) = (pin("Order Details", "orders"), pin("orders", "users"));
        let told = check_pins(&catalog, std::slice::from_ref(&orders)).unwrap_err();
        assert_eq!(
            told.to_string(),
            "line 7: `orders` cannot be kept beside `users`: the foreign key may be NULL, and a row without a parent would have no place"
        );
        for table in &mut catalog.tables {
            table.columns.iter_mut().for_each(|c| c.nullable = false);
        }
        let kept = check_pins(&catalog, std::slice::from_ref(&lines)).unwrap();
        let kept: Vec<&[String]> = kept.values().map(Vec::as_slice).collect();
        assert_eq!(kept, [["Order ID"], ["id"]]);
        for (pins, why) in [
            (
                [lines.clone(), orders.clone()],
                "puts another table beside it",
            ),
            (
                [orders, lines],
                "puts the parent itself beside another table",
            ),
        ] {
            let told = check_pins(&catalog, &pins).unwrap_err().to_string();
            assert!(told.ends_with(why), "{told}");
        }
    }
}
