//! Which parent a table's items stand beside.

use std::cmp::Reverse;

use dynafold_relational::catalog::{
    Catalog, Column, ForeignKey, ReferentialAction, Table, TypeFamily,
};

use crate::names::words;

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
/// key whose column comes first. A list, such as types or languages, owns only what has nothing but its key; and a row that
/// has parts, such as an order with its lines, stands with them rather than beside a parent that it merely has to have.
pub(crate) fn owner<'t>(
    catalog: &'t Catalog,
    table: &'t Table,
) -> Option<(&'t ForeignKey, &'t Table)> {
    let keys = table.foreign_keys.iter();
    let owners = keys.filter_map(|key| {
        let parent = catalog.table(&key.references)?;
        let tie = leads_to_key(table, key, parent).then(|| tie(table, key))?;
        let is_list = is_list(parent) || !gathers_some(table, parent);
        let is_mere = tie == Tie::Required && has_parts(catalog, table);
        let is_owner = matches!(tie, Tie::RowKey(_)) || !is_list && !is_audit(key) && !is_mere;
        let gathered = Reverse(mean_children(table, parent));
        let position = |column: &Column| key.columns.contains(&column.name);
        let position = table.columns.iter().position(position);
        is_owner.then_some(((is_list, tie, gathered, position), key, parent))
    });
    let (_, key, parent) = owners.min_by_key(|(order, ..)| *order)?;
    Some((key, parent))
}

/// Whether rows of other tables are parts of a table's rows: their key holds its key, or they are deleted with them.
fn has_parts(catalog: &Catalog, table: &Table) -> bool {
    let others = catalog.tables.iter().filter(|one| one.name != table.name);
    let mut keys = others.flat_map(|child| child.foreign_keys.iter().map(move |key| (child, key)));
    keys.any(|(child, key)| {
        let leads_here = key.references == table.name && leads_to_key(child, key, table);
        leads_here && !is_audit(key) && tie(child, key) != Tie::Required
    })
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
    let most = |mean| mean <= MAX_CHILDREN;
    let is_detail = table.estimated_rows.is_some_and(|rows| rows > 0)
        && parent.estimated_rows >= table.estimated_rows
        && parent.estimated_rows >= Some(TELLING);
    !is_detail && mean_children(table, parent).is_none_or(most)
}

/// Mean number of children that may stand beside a parent, where the key does not ask for it.
const MAX_CHILDREN: u64 = 100;

/// Rows of a parent from which their number tells something: in an example of three rows, everything has one row for each.
const TELLING: u64 = 10;

/// Whether a table is called a list, and looks like one: a few columns, and no parents.
fn is_list(table: &Table) -> bool {
    const NAMES: &str = "type types kind kinds status statuses category categories language languages country countries currency currencies role roles tag tags lookup lookups code codes";
    let name = words(&table.name.name);
    let is_called_so = name
        .iter()
        .any(|word| NAMES.split(' ').any(|one| one == word));
    let is_small = table.estimated_rows.is_none_or(|rows| rows < 1_000);
    let is_time = |column: &&Column| column.data_type.family() == TypeFamily::Time;
    let columns = table.columns.iter().filter(|column| !is_time(column));
    is_called_so && is_small && columns.count() <= 5 && table.foreign_keys.iter().all(is_audit)
}

/// Whether a key says who made or changed a row, which tells nothing of where it belongs.
pub(crate) fn is_audit(key: &ForeignKey) -> bool {
    const DONE: [&str; 12] = [
        "create", "created", "insert", "inserted", "update", "updated", "modify", "modified",
        "change", "changed", "delete", "deleted",
    ];
    // Before `by` alone: the user of `added_user` is no maker. Who placed, booked or holds a row owns it.
    const DONE_BY: [&str; 11] = [
        "added", "entered", "edited", "removed", "archived", "voided", "retired", "approved",
        "rejected", "reviewed", "verified",
    ];
    const BY: [&str; 4] = ["creator", "modifier", "updater", "changer"];
    key.columns.iter().any(|column| {
        let words = words(column);
        let is_done = |word: &str| DONE.contains(&word) || DONE_BY.contains(&word);
        let is_maker =
            |word: &String| word.strip_suffix("by").is_some_and(is_done) || BY.contains(&&**word);
        let is_user = || words.iter().any(|word| word == "user");
        let mut pairs = words.iter().zip(words.iter().skip(1));
        pairs.any(|(done, by)| by == "by" && is_done(done))
            || words.iter().any(is_maker)
            || words.first().is_some_and(|word| DONE.contains(&&**word)) && is_user()
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
        assert_eq!(owner_of(&film, &unknown), None, "it is called a list");
        unknown[1].estimated_rows = None;
        assert_eq!(owner_of(&film, &unknown).as_deref(), Some("address"));
    }

    #[test]
    fn a_row_with_parts_stands_with_them() {
        let parents = [table("customer", 10, &[])];
        let orders = table("orders", 100, &["customer_id>customer"]);
        let mut line = table("line", 300, &["order_id>orders"]);
        let with = |line: &Table| [parents[0].clone(), line.clone()];
        let customer = Some("customer".to_owned());
        assert_eq!(owner_of(&orders, &with(&line)), customer);
        line.primary_key = vec!["order_id".to_owned(), "id".to_owned()];
        assert_eq!(owner_of(&orders, &with(&line)), None);
        let mut deleted = orders.clone();
        deleted.foreign_keys[0].on_delete = ReferentialAction::Cascade;
        assert_eq!(owner_of(&deleted, &with(&line)), customer);
    }

    #[test]
    fn a_list_owns_only_what_has_nothing_but_its_key() {
        let parents = [table("currency", 5, &[]), table("product", 50, &[])];
        let mut price = table("price", 200, &["code>currency", "product_id>product"]);
        price.primary_key = vec!["code".to_owned(), "product_id".to_owned()];
        assert_eq!(owner_of(&price, &parents).as_deref(), Some("product"));
        price.foreign_keys.pop();
        assert_eq!(owner_of(&price, &parents).as_deref(), Some("currency"));
        price.primary_key = vec!["id".to_owned()];
        price.foreign_keys[0].on_delete = ReferentialAction::Cascade;
        assert_eq!(owner_of(&price, &parents), None);
    }

    #[test]
    fn who_made_or_changed_a_row_is_told_by_words() {
        let of = |column: &str| {
            is_audit(&ForeignKey {
                columns: vec![column.to_owned()],
                ..ForeignKey::default()
            })
        };
        let audits = [
            "creator",
            "changed_by",
            "created_by_id",
            "CreatedByUserId",
            "modifiedBy",
            "updatedby",
            "row_creator",
            "create_user_id",
            "date_voided_by",
            "entered_by",
            "lastApprovedBy",
        ];
        for column in audits {
            assert!(of(column), "{column}");
        }
        for column in [
            "customer_id",
            "baby_id",
            "by_id",
            "create_order_id",
            "update_id",
            "lobby",
            "placed_by",
            "BookedByCustomerId",
            "held_by",
            "orderedby",
            "added_user_id",
        ] {
            assert!(!of(column), "{column}");
        }
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
