//! Which parent a table's items stand beside.

use std::cmp::Reverse;

use dynafold_relational::catalog::{Catalog, Column, ForeignKey, ReferentialAction, Table};

/// How a foreign key ties a row to its parent, the closest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tie {
    /// The row's own key holds the parent's; the place of its last column there.
    RowKey(usize),
    /// The row is deleted with its parent.
    Cascade,
    /// The row is numbered or named within its parent, by a unique key.
    UniqueKey,
    /// It cannot be NULL.
    Required,
}

/// The foreign key to the parent in whose partition a table's items stand, with that parent: one that is never NULL and
/// leads to the parent's key. See [`Tie`] for which comes first; of equal ones, a parent that gathers more rows, then the
/// key whose column comes first.
#[must_use]
pub fn owner<'t>(catalog: &'t Catalog, table: &'t Table) -> Option<(&'t ForeignKey, &'t Table)> {
    let keys = table.foreign_keys.iter();
    let owners = keys.filter_map(|key| {
        let parent = catalog.table(&key.references)?;
        let tie = leads_to_key(table, key, parent).then(|| tie(table, key))?;
        let is_owner =
            matches!(tie, Tie::RowKey(_)) || gathers_some(table, parent) && !is_audit(key);
        let gathered = Reverse(mean_children(table, parent));
        let position = |column: &Column| key.columns.contains(&column.name);
        let position = table.columns.iter().position(position);
        is_owner.then_some(((tie, gathered, position), key, parent))
    });
    let (_, key, parent) = owners.min_by_key(|(order, ..)| *order)?;
    Some((key, parent))
}

fn tie(table: &Table, key: &ForeignKey) -> Tie {
    let holds = |columns: &[String]| {
        let places = key.columns.iter();
        let places = places.map(|column| columns.iter().position(|other| other == column));
        places.collect::<Option<Vec<usize>>>()?.into_iter().max()
    };
    match holds(table.row_key()) {
        Some(last) => Tie::RowKey(last),
        None if key.on_delete == ReferentialAction::Cascade => Tie::Cascade,
        // A unique key that is the foreign key alone makes one child.
        None if (table.unique_keys.iter()).any(|unique| {
            unique.columns.len() > key.columns.len() && holds(&unique.columns).is_some()
        }) =>
        {
            Tie::UniqueKey
        }
        None => Tie::Required,
    }
}

/// Rows to one row of the parent, rounded down; none where the database does not know.
fn mean_children(table: &Table, parent: &Table) -> Option<u64> {
    Some(table.estimated_rows? / parent.estimated_rows?.max(1))
}

/// Whether a parent has some children and not too many: a short list, such as languages, would gather a large part of this
/// table in one partition, and a detail, such as an address, has one row for each.
fn gathers_some(table: &Table, parent: &Table) -> bool {
    let most = |mean| mean <= MOST_CHILDREN;
    let is_detail = table.estimated_rows.is_some_and(|rows| rows > 0)
        && parent.estimated_rows >= table.estimated_rows
        && parent.estimated_rows >= Some(TELLING);
    !is_detail && mean_children(table, parent).is_none_or(most)
}

/// Mean number of children that may stand beside a parent, where the key does not ask for it.
const MOST_CHILDREN: u64 = 100;

/// Rows of a parent from which their number tells something: in an example of three rows, everything has one row for each.
const TELLING: u64 = 10;

/// Whether a key says who made or changed a row, which tells nothing of where it belongs.
fn is_audit(key: &ForeignKey) -> bool {
    key.columns.iter().any(|column| {
        let column = column.to_lowercase();
        let column = column.strip_suffix("_id").unwrap_or(&column);
        column == "creator" || column.ends_with("_by") || column.ends_with("_creator")
    })
}

fn leads_to_key(table: &Table, key: &ForeignKey, parent: &Table) -> bool {
    // A declared key is taken to have no NULL, also in SQLite.
    let never_null = |name: &String| {
        let column = table.column(name);
        column.is_some_and(|column| !column.nullable) || table.primary_key.contains(name)
    };
    let of_parent = parent.readable
        && parent.is_stored()
        && !parent.row_key().is_empty()
        && parent.row_key().len() == key.referenced_columns.len()
        && (parent.row_key().iter()).all(|column| key.referenced_columns.contains(column));
    key.references != table.name && of_parent && key.columns.iter().all(never_null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dynafold_relational::catalog::{DataType, TableKind, TableName, UniqueKey, sample};

    fn name(of: &str) -> TableName {
        let schema = "main".to_owned();
        TableName {
            schema,
            name: of.to_owned(),
        }
    }

    /// A table with `id` and a required column for each foreign key, written `column>parent`.
    fn table(of: &str, rows: u64, keys: &[&str]) -> Table {
        let mut table = Table::new(name(of), TableKind::Table);
        let column = |name: &str| Column {
            nullable: false,
            ..Column::new(name.to_owned(), "int".to_owned(), DataType::Printed)
        };
        table.columns.push(column("id"));
        table.primary_key = vec!["id".to_owned()];
        table.estimated_rows = Some(rows);
        for key in keys {
            let (own, parent) = key.split_once('>').expect("column>parent");
            table.columns.push(column(own));
            table.foreign_keys.push(ForeignKey {
                name: own.to_owned(),
                columns: vec![own.to_owned()],
                references: name(parent),
                referenced_columns: vec!["id".to_owned()],
                ..ForeignKey::default()
            });
        }
        table
    }

    /// The owner's name, in a catalog of the table and its parents.
    fn owner_of(child: &Table, parents: &[Table]) -> Option<String> {
        let mut catalog = sample::shop();
        catalog.tables = parents.to_vec();
        catalog.tables.push(child.clone());
        owner(&catalog, child).map(|(_, parent)| parent.name.name.clone())
    }

    #[test]
    fn the_parent_in_the_row_key_owns_before_one_that_deletes_and_that_before_a_unique_key() {
        let parents = ["recording", "medium", "release"].map(|of| table(of, 100, &[]));
        let mut track = table(
            "track",
            1_000,
            &["recording>recording", "medium>medium", "release>release"],
        );
        assert_eq!(
            owner_of(&track, &parents).as_deref(),
            Some("recording"),
            "the first column"
        );
        let columns = vec!["medium".to_owned(), "id".to_owned()];
        track.unique_keys.push(UniqueKey {
            name: "u".to_owned(),
            columns,
            ..UniqueKey::default()
        });
        assert_eq!(owner_of(&track, &parents).as_deref(), Some("medium"));
        track.foreign_keys[2].on_delete = ReferentialAction::Cascade;
        assert_eq!(owner_of(&track, &parents).as_deref(), Some("release"));
        track.primary_key = vec!["recording".to_owned(), "id".to_owned()];
        assert_eq!(owner_of(&track, &parents).as_deref(), Some("recording"));
    }

    #[test]
    fn lists_details_and_those_who_made_a_row_own_nothing() {
        let list = table("language", 6, &[]);
        let detail = table("address", 1_003, &[]);
        let users = table("users", 20, &[]);
        let film = table(
            "film",
            1_000,
            &[
                "language>language",
                "address>address",
                "creator>users",
                "changed_by_id>users",
            ],
        );
        let parents = [list, detail, users];
        assert_eq!(owner_of(&film, &parents), None);
        let mut unknown = parents.to_vec();
        unknown[0].estimated_rows = None;
        assert_eq!(owner_of(&film, &unknown).as_deref(), Some("language"));
    }

    #[test]
    fn of_two_parents_the_one_that_gathers_more_owns() {
        let parents = [table("inventory", 4_581, &[]), table("customer", 599, &[])];
        let rental = table(
            "rental",
            16_044,
            &["inventory_id>inventory", "customer_id>customer"],
        );
        assert_eq!(owner_of(&rental, &parents).as_deref(), Some("customer"));
    }

    #[test]
    fn a_parent_that_a_row_can_do_without_owns_nothing() {
        let parents = [table("customer", 10, &[])];
        let mut orders = table("orders", 100, &["customer_id>customer"]);
        assert_eq!(owner_of(&orders, &parents).as_deref(), Some("customer"));
        orders.columns[1].nullable = true;
        assert_eq!(owner_of(&orders, &parents), None);
    }
}
