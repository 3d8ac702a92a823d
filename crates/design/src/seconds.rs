//! Second requests: what a read selects of a parent is read by the parent's key, which stands in the answer of the first request,
//! instead of from a copy beside the reference. Such a copy has to be written again with each change of the parent.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_format::{float, joined};
use dynafold_mapping::model::Model;
use dynafold_relational::catalog::{Catalog, Table, TableName};
use dynafold_sql::{identifier, table_reference};

use crate::Read;
use crate::ask::{Ask, Referred, referring};
use crate::facts::Facts;
use crate::observed::Observed;
use crate::path::Path;
use crate::pricing::Pricing;
use crate::workload::Statement;

/// US dollars a month that second requests have to save: an answer takes the time of two requests.
pub(crate) const SAVED: f64 = 25.0;

/// Copies of parents' columns that one statement has to change.
#[derive(Debug, Clone)]
pub(crate) struct CopiedColumns {
    /// The reads that have them, with the parent that a second request could read instead.
    pub(crate) reads: BTreeSet<(String, TableName)>,
    /// US dollars a month that the copies cost more than second requests.
    pub(crate) saved: f64,
}

/// The parents that second requests read, by the names of the reads.
pub(crate) type Referring = BTreeMap<String, BTreeSet<TableName>>;

/// Which second requests to try, for parents whose copies may cost more: first in all reads that select from such a parent, then in
/// the reads that have the copies, then for each of the `most` most expensive copies alone.
pub(crate) fn tried(
    copied: &[CopiedColumns],
    (catalog, observed): (&Catalog, &Observed),
    statements: &[Statement],
    most: usize,
) -> Vec<Referring> {
    let mut all = Referring::new();
    let mut each: Vec<Referring> = Vec::new();
    for copies in copied.iter().filter(|copies| copies.saved >= SAVED) {
        let mut one = Referring::new();
        for (read, parent) in &copies.reads {
            for reads in [&mut one, &mut all] {
                let parents = reads.entry(read.clone()).or_default();
                parents.insert(parent.clone());
            }
        }
        each.push(one);
    }
    let parents: BTreeSet<TableName> = all.values().flatten().cloned().collect();
    let further = statements
        .iter()
        .filter(|_| !parents.is_empty())
        .flat_map(|statement| {
            let asks = referring(&statement.sql, catalog, observed, &parents);
            let referred = asks.into_iter().flat_map(|ask| ask.referred);
            referred.map(|parent| (statement.name.clone(), parent.step.table))
        });
    let mut further_too = all.clone();
    for (read, parent) in further {
        further_too.entry(read).or_default().insert(parent);
    }
    each.truncate(most);
    let mut tried = Vec::new();
    for one in [further_too, all].into_iter().chain(each) {
        if !one.is_empty() && !tried.contains(&one) {
            tried.push(one);
        }
    }
    tried
}

/// Leaves what a read selects of these parents to second requests. The read stays as it is if that is not possible.
pub(crate) fn refer<'c>(
    read: &mut Read<'_, 'c>,
    catalog: &'c Catalog,
    observed: &Observed,
    parents: &BTreeSet<TableName>,
) {
    let mut asks = referring(&read.statement.sql, catalog, observed, parents);
    for ask in &mut asks {
        let named = ask.referred.iter().map(|parent| {
            let table = &parent.step.table.name;
            let columns = parent.step.columns.iter().map(|column| {
                let mut outputs = ask.outputs.iter();
                let output = outputs.find(|(path, _)| *path == Path::own(column));
                output.map_or(column.as_str(), |(_, name)| name)
            });
            let columns = joined(columns, ", ");
            format!(
                "{table} by {columns} ({})",
                second_name(read.statement, table)
            )
        });
        let named = joined(named, ", and of ");
        ask.note(format!(
            "two requests in a row: the second one reads the rows of {named}"
        ));
    }
    if !asks.is_empty() {
        read.asks = asks;
    }
}

/// How a mapping answers a statement by access patterns for two requests; nothing where it does not.
pub(crate) fn answered<'c>(
    model: &Model,
    catalog: &'c Catalog,
    observed: &Observed,
    statement: &Statement,
) -> Vec<Ask<'c>> {
    let parents = parents(model, catalog, statement);
    if parents.is_empty() {
        return Vec::new();
    }
    let seconds = added(
        catalog,
        observed,
        &[statement],
        &Referring::from([(statement.name.clone(), parents.clone())]),
    );
    let is_asked = |name: &str, sql: &str| {
        let mut patterns = model.patterns.iter().filter(|one| *one.name == *name);
        patterns.any(|one| {
            one.sql
                .as_deref()
                .is_some_and(|own| spaced(own) == spaced(sql))
        })
    };
    let mut asks = referring(&statement.sql, catalog, observed, &parents);
    let are_asked = !seconds.is_empty() && seconds.iter().all(|one| is_asked(&one.name, &one.sql));
    asks.retain(|ask| {
        let mut said = std::iter::once(&ask.sql).chain(&ask.unsorted);
        are_asked && said.any(|sql| is_asked(&statement.name, sql))
    });
    asks
}

/// SQL with each run of white space as one blank.
fn spaced(sql: &str) -> String {
    joined(sql.split_whitespace(), " ")
}

/// The second requests that the access patterns of a mapping are for.
pub(crate) fn of_model(
    model: &Model,
    catalog: &Catalog,
    observed: &Observed,
    statements: &[&Statement],
) -> Vec<Statement> {
    let wanted = statements.iter().filter_map(|statement| {
        let is_answered = !answered(model, catalog, observed, statement).is_empty();
        is_answered.then(|| (statement.name.clone(), parents(model, catalog, statement)))
    });
    added(catalog, observed, statements, &wanted.collect())
}

/// The parents that an access pattern reads for a statement, by its name.
fn parents(model: &Model, catalog: &Catalog, statement: &Statement) -> BTreeSet<TableName> {
    let is_read = |table: &&Table| {
        let name = second_name(statement, &table.name.name);
        model.patterns.iter().any(|pattern| *pattern.name == *name)
    };
    let parents = catalog.tables.iter().filter(is_read);
    parents.map(|table| table.name.clone()).collect()
}

/// What a second request is called.
fn second_name(statement: &Statement, parent: &str) -> String {
    let is_plain = |sign: char| sign.is_alphanumeric() || sign == '-';
    let parent = parent.replace(|sign| !is_plain(sign), "_");
    format!("{}_{parent}", statement.name)
}

/// The second requests, as statements: each reads one parent by its key. The rate is that of the first request times the parents that
/// it refers to.
pub(crate) fn added(
    catalog: &Catalog,
    observed: &Observed,
    statements: &[&Statement],
    wanted: &Referring,
) -> Vec<Statement> {
    let facts = Facts { catalog, observed };
    let mut found = Vec::new();
    for statement in statements {
        let Some(parents) = wanted.get(&statement.name) else {
            continue;
        };
        let asks = referring(&statement.sql, catalog, observed, parents);
        let Some(ask) = asks.first() else { continue };
        let own = ask.referred.iter().filter_map(|parent| {
            let table = catalog.table(&parent.step.table)?;
            let key = &parent.step.referenced;
            let further = parent.columns.iter().filter(|one| !key.contains(one));
            Some(Statement {
                name: second_name(statement, &table.name.name),
                rate: Some(Pricing::rate(statement) * found_parents(facts, ask, parent)),
                about: format!("the second request of {}", statement.name),
                sql: by_key(catalog, table, key, further),
                second_of: Some(statement.name.clone()),
                ..(*statement).clone()
            })
        });
        let own: Vec<Statement> = own.collect();
        let mut names: Vec<&String> = statements.iter().map(|one| &one.name).collect();
        names.extend(found.iter().chain(&own).map(|one: &Statement| &one.name));
        let is_new = names.iter().collect::<BTreeSet<_>>().len() == names.len();
        if is_new && own.len() == ask.referred.len() {
            found.extend(own);
        }
    }
    found
}

/// About how many parents the rows of an answer refer to, each counted once.
fn found_parents(facts: Facts<'_>, ask: &Ask<'_>, parent: &Referred) -> f64 {
    let rows = facts.answered(ask) * float(ask.requests);
    let distinct = parent.step.columns.iter().map(|column| {
        let path = Path::own(column);
        if ask.has_equal(&path) {
            1.0
        } else {
            facts.distinct(&path, ask.root)
        }
    });
    rows.min(distinct.product())
}

/// The query of columns of the row with this key.
fn by_key<'a>(
    catalog: &Catalog,
    table: &Table,
    key: &'a [String],
    further: impl Iterator<Item = &'a String>,
) -> String {
    let name = |name: &String| identifier(name, catalog.dbms);
    let is_plain = |column: &String| {
        let mut signs = column.chars();
        signs.all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
            && column.starts_with(|sign: char| sign.is_ascii_alphabetic())
    };
    let are_plain = key.iter().all(is_plain);
    let conditions = (1..).zip(key).map(|(at, column)| {
        let parameter = if are_plain {
            column.clone()
        } else {
            format!("p{at}")
        };
        format!("{} = :{parameter}", name(column))
    });
    format!(
        "SELECT {} FROM {} WHERE {}",
        joined(key.iter().chain(further).map(name), ", "),
        table_reference(catalog, &table.name),
        joined(conditions, " AND ")
    )
}

#[cfg(test)]
mod tests {
    use dynafold_dynamodb::price::{Prices, SHIPPED};

    use crate::traps::tests::schema;
    use crate::{Report, design, workload};

    const SHOP: &str = "shops 40: id, name text distinct=40, stock, code text unique
        orders 4000: id, shop_id @shops distinct=40 most=120, note text distinct=800 most=5";

    fn proposed(tables: &str, sql: &str) -> (String, Report) {
        let (catalog, limits) = schema(tables);
        let statements = workload::read(sql, catalog.dbms).unwrap();
        let prices = Prices::read(SHIPPED, None).unwrap();
        let found = design(&catalog, &statements, &prices, &limits);
        assert!(found.report.serves_all(), "{:#?}", found.report);
        (found.mapping, found.report)
    }

    /// The units of a statement that writes.
    fn units(report: &Report, name: &str) -> f64 {
        let mut writes = report.writes.iter();
        writes.find(|write| write.name == name).unwrap().units
    }

    const BOOK: &str = "-- book (100/s)\nUPDATE shops SET stock = stock - 1 WHERE id = :id;";

    #[test]
    fn a_parent_that_changes_all_the_time_is_read_by_a_second_request() {
        for read in [
            "SELECT o.id, o.note, s.name, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.id = :id",
            "SELECT o.*, s.stock FROM orders o LEFT JOIN shops s ON s.id = o.shop_id WHERE o.id = :id",
            "SELECT o.id, s.stock AS shop_id FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.note = :n ORDER BY o.id LIMIT 4",
        ] {
            let (mapping, report) = proposed(SHOP, &format!("{BOOK}\n-- seen (10/s)\n{read};"));
            assert!((units(&report, "book") - 1.0).abs() < 0.01, "{mapping}");
            assert!(mapping.contains("seen_shops:"), "{mapping}");
            assert!(report.sum.all < 185.0, "{report:#?}");
            let [read] = report.reads.as_slice() else {
                panic!("{report:#?}")
            };
            let served = read.served.as_ref().unwrap();
            assert_eq!((served.requests, served.fetches), (2, 1));
            let notes = served.notes.concat();
            assert!(notes.contains("shops by shop_id (seen_shops)"), "{notes}");
        }
    }

    #[test]
    fn the_second_request_is_counted_for_each_row_of_the_first() {
        let read = "SELECT o.id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.note = :n ORDER BY o.id LIMIT 4";
        let (_, report) = proposed(SHOP, &format!("{BOOK}\n-- seen (10/s)\n{read};"));
        // A page of an index, and four items.
        let units = report.reads[0].served.as_ref().unwrap().units;
        assert!((units - 0.5 - 4.0 * 0.5).abs() < 0.01, "{report:#?}");
    }

    #[test]
    fn the_second_request_is_counted_for_each_value_of_a_list_and_once_for_one_parent() {
        let one =
            "SELECT o.id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.note";
        for (read, units) in [
            (
                format!("{one} IN (:a, :b, :c)"),
                3.0 * 0.5 + 3.0 * 5.0 * 0.5,
            ),
            (format!("{one} = :n AND o.shop_id = :s"), 0.5 + 0.5 * 1.0),
        ] {
            let (mapping, report) = proposed(SHOP, &format!("{BOOK}\n-- seen (10/s)\n{read};"));
            assert!(mapping.contains("seen_shops:"), "{mapping}");
            let found = report.reads[0].served.as_ref().unwrap().units;
            assert!(
                (found - units).abs() < 0.3,
                "{found} for {units}: {mapping}"
            );
        }
    }

    #[test]
    fn a_parent_whose_large_columns_are_apart_is_read_by_a_second_request() {
        let tables = SHOP.replace("stock,", "stock, settings text longest=12000,");
        let sql = "-- head (800/s)\nSELECT id, name FROM shops WHERE id = :id;
            -- seen (10/s)\nSELECT o.id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.id = :id;";
        let (mapping, report) = proposed(&tables, &format!("{BOOK}\n{sql}"));
        assert!(mapping.contains("omit: [settings]"), "{mapping}");
        assert!(mapping.contains("seen_shops:"), "{mapping}");
        assert!((units(&report, "book") - 1.0).abs() < 0.01, "{mapping}");
    }

    #[test]
    fn the_reference_is_named_as_the_answer_has_it() {
        let read = "SELECT o.id, o.note AS shop_id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.note = :n";
        let (_, report) = proposed(SHOP, &format!("{BOOK}\n-- seen (10/s)\n{read};"));
        let notes = report.reads[0].served.as_ref().unwrap().notes.concat();
        assert!(
            notes.contains("shops by orders_shop_id (seen_shops)"),
            "{notes}"
        );
    }

    #[test]
    fn what_another_key_or_a_copy_finds_is_no_second_request() {
        let tables = "shops 40: id, name text distinct=40, stock, code text unique, tenant
            orders 4000: id, shop_id @shops distinct=40 most=120, note text distinct=800 most=5, tenant, code text distinct=40";
        for on in [
            "s.id = o.shop_id AND s.tenant = o.tenant WHERE o.id = :id",
            "s.code = o.code WHERE o.id = :id",
            "s.id = o.shop_id AND s.stock > 3 WHERE o.id = :id",
        ] {
            let read = format!("SELECT o.id, s.stock FROM orders o LEFT JOIN shops s ON {on}");
            let read = read.replace(
                "LEFT JOIN",
                if on.contains('>') {
                    "JOIN"
                } else {
                    "LEFT JOIN"
                },
            );
            let (mapping, report) = proposed(tables, &format!("{BOOK}\n-- seen (10/s)\n{read};"));
            assert!(!mapping.contains("seen_shops"), "{mapping}");
            // Who changes the parent is told of the copies.
            let warnings = report.warnings.iter().map(ToString::to_string);
            let warnings = warnings.collect::<Vec<_>>().concat();
            assert!(
                warnings.contains("copies to keep up to date: book"),
                "{warnings}"
            );
        }
    }

    #[test]
    fn copies_stay_where_they_cost_less() {
        for (writes, read) in [
            // Read more often than it changes.
            (
                "-- rename (0.01/s)\nUPDATE shops SET name = :n WHERE id = :id;",
                "SELECT o.id, s.name FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.id = :id",
            ),
            // Found by the copy.
            (
                BOOK,
                "SELECT o.id FROM orders o JOIN shops s ON s.id = o.shop_id WHERE s.code = :code AND o.note = :n",
            ),
            // What is different depends on the parent.
            (
                BOOK,
                "SELECT DISTINCT s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.note = :n",
            ),
        ] {
            let (mapping, report) = proposed(SHOP, &format!("{writes}\n-- seen (10/s)\n{read};"));
            assert!(!mapping.contains("seen_shops"), "{mapping}");
            assert_eq!(report.reads.len(), 1, "{report:#?}");
        }
    }
}
