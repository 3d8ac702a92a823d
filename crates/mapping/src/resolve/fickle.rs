//! Whether what a pass reads depends on more than the rows of the snapshot: on the clock, on chance, on
//! who asks, on tables that have no snapshots.
//!
//! Chunks of such a pass are not skipped when a load goes on, although no row has changed since, and keys
//! that were compared in one reading of it are compared again in the next. Only what the snapshot holds still is
//! steady: columns that tables store, and conditions that compare them by operators and literals. What a function, a
//! cast, a view, a query, a generated column, a policy or a type that prints names gives is not
//! looked into: a name is not the function. What only looks fickle is read again for nothing.

use dynafold_relational::catalog::{Catalog, Dbms, Table, TableKind};
use dynafold_relational::scan::{Match, Relation, Scan, ScanColumn};
use dynafold_sql::{ColumnRef, Query, Read, reads_more, table};

/// Whether a scan depends on more than the rows of tables, as far as that is known.
pub(super) fn is_fickle(scan: &Scan, catalog: &Catalog) -> bool {
    let names = scan.tables();
    let tables = names.iter().map(|name| catalog.table(name));
    let tables: Option<Vec<&Table>> = tables.collect();
    let (Relation::Table(_), Some(tables)) = (&scan.from, tables) else {
        return true;
    };
    let flags = scan.columns.iter().filter_map(|column| match column {
        ScanColumn::Flag(sql) => Some(sql),
        _ => None,
    });
    let mut conditions = scan.conditions.iter().chain(flags).peekable();
    let is_conditional = conditions.peek().is_some();
    let is_read = |name: &str| {
        let is_it = |column: &ScanColumn| matches!(column, ScanColumn::Column { name: own, .. } if own == name);
        let embeds = scan.embeds().map(|(_, embed)| &embed.on);
        let mut matches = scan
            .joins
            .iter()
            .map(|join| &join.on)
            .chain(embeds)
            .flatten();
        // Which columns a condition names is not looked for.
        is_conditional
            || scan.columns.iter().any(is_it)
            || matches.any(|Match { ours, theirs, .. }| ours == name || theirs == name)
    };
    let is_steady = |table: &&Table| {
        let mut columns = table.columns.iter();
        let is_made = columns.any(|column| {
            (column.generated.is_some() || prints_names(&column.declared)) && is_read(&column.name)
        });
        stores(table) && !table.row_security && !is_made
    };
    !tables.iter().all(is_steady)
        || conditions.any(|sql| reads_more(sql, catalog.dbms))
        || scan
            .embeds()
            .any(|(_, embed)| is_fickle(&embed.rows, catalog))
}

/// Whether PostgreSQL looks up what it prints of a stored value: the names of tables and roles, the locale's currency.
fn prints_names(declared: &str) -> bool {
    let mut types = ["reg", "aclitem", "money"].into_iter();
    types.any(|name| declared.starts_with(name))
}

fn stores(table: &Table) -> bool {
    match table.kind {
        TableKind::Table | TableKind::Partitioned | TableKind::MaterializedView => !table.live,
        TableKind::View | TableKind::Foreign => false,
    }
}

/// Whether a pattern's query may give something else though no row has changed.
#[must_use]
pub fn is_fickle_query(query: &Query, catalog: &Catalog) -> bool {
    let is_stored =
        |read: &Read| table(catalog, read.schema.as_ref(), &read.name).is_some_and(stores);
    let is_own = |name: &String| catalog.own_functions.contains(name);
    let calls = |name: &ColumnRef| {
        let owner = name.owner.as_ref();
        let of_owner = |read: &&Read| owner.is_some_and(|owner| read.called.is(&owner.text));
        let mut tables = query.tables.iter().filter(of_owner);
        let has = |read: &Read| {
            let table = table(catalog, read.schema.as_ref(), &read.name);
            table.is_some_and(|table| table.column(&name.name.text).is_some())
        };
        tables.clone().next().is_some() && !tables.any(has)
    };
    !query.unsteady.is_empty()
        || !query.tables.iter().all(is_stored)
        || query.functions.iter().any(is_own)
        || catalog.dbms == Dbms::Postgres && query.qualified.iter().any(calls)
}

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::sample::shop;
    use dynafold_relational::catalog::{DataType, Dbms, TableName};

    use super::*;

    #[test]
    fn a_view_is_fickle_and_so_is_a_table_without_snapshots() {
        let of = |schema: &str, name: &str| {
            let name = TableName {
                schema: schema.to_owned(),
                name: name.to_owned(),
            };
            is_fickle(&Scan::of(Relation::Table(name), Vec::new()), &shop())
        };
        assert!(!of("public", "orders"));
        let mut live = shop();
        live.tables.iter_mut().for_each(|table| table.live = true);
        let orders = live.find("orders").unwrap().name.clone();
        assert!(is_fickle(
            &Scan::of(Relation::Table(orders), Vec::new()),
            &live
        ));
        assert!(of("public", "recent"));
        assert!(of("public", "nothing"));
    }
    #[test]
    fn what_is_made_as_it_is_read_is_fickle() {
        let mut catalog = shop();
        let orders = catalog.find("orders").unwrap().clone();
        let column = |name: &str| ScanColumn::Column {
            join: None,
            name: name.to_owned(),
            data_type: DataType::Boolean,
        };
        let of = |names: &[&str], condition: Option<&str>, catalog: &Catalog| {
            let columns = names.iter().map(|name| column(name)).collect();
            let mut scan = Scan::of(Relation::Table(orders.name.clone()), columns);
            scan.conditions = condition.into_iter().map(str::to_owned).collect();
            is_fickle(&scan, catalog)
        };
        assert!(!of(&["id", "placed_at"], Some("id > 5"), &catalog));
        let own = |catalog: &mut Catalog| {
            let columns = catalog
                .tables
                .iter_mut()
                .flat_map(|table| &mut table.columns);
            for column in columns.filter(|column| column.name == "placed_at") {
                column.generated = Some("floor(rand() * 300)".to_owned());
            }
        };
        own(&mut catalog);
        assert!(!of(&["id"], None, &catalog));
        assert!(of(&["id", "placed_at"], None, &catalog));
        assert!(of(&["id"], Some("id > 5"), &catalog));
        let mut catalog = shop();
        let tables = catalog.tables.iter_mut();
        for column in tables.flat_map(|table| &mut table.columns) {
            if column.name == "placed_at" {
                column.declared = "regclass".to_owned();
            }
        }
        assert!(!of(&["id"], None, &catalog));
        assert!(of(&["id", "placed_at"], None, &catalog));
        let query = Scan::of(
            Relation::Query("SELECT id FROM orders".to_owned()),
            Vec::new(),
        );
        assert!(is_fickle(&query, &shop()));
        let mut hidden = shop();
        hidden
            .tables
            .iter_mut()
            .for_each(|table| table.row_security = true);
        assert!(of(&["id"], None, &hidden));
    }

    #[test]
    fn a_function_of_the_databases_own_may_hide_behind_a_plain_name() {
        let query = Query::read("SELECT lower(email) FROM users", Some(Dbms::Postgres)).unwrap();
        let mut catalog = shop();
        assert!(!is_fickle_query(&query, &catalog));
        catalog.own_functions = vec!["lower".to_owned()];
        assert!(is_fickle_query(&query, &catalog));
    }
}
