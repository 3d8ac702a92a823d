//! Second requests: what a read selects of a parent is read by the parent's key, which stands in the answer of the first request,
//! instead of from a copy beside the reference. Such a copy has to be written again with each change of the parent.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_format::{float, free_name, joined};
use dynafold_mapping::model::Model;
use dynafold_relational::catalog::{Catalog, Dbms, Table, TableName};
use dynafold_sql::{Lists, identifier, parametrized, table_reference};

use crate::MANY;
use crate::ask::{Ask, Referred, ask, referring};
use crate::facts::Facts;
use crate::observed::Observed;
use crate::path::Path;
use crate::pricing::Pricing;
use crate::workload::Statement;

/// US dollars a month that second requests have to save to be proposed: an answer then takes the time of two requests.
pub(crate) const SAVED: f64 = 25.0;

/// Copies of parents' columns that make writes dearer.
#[derive(Debug, Clone)]
pub(crate) struct CopiedColumns {
    /// The reads that have them, with the parent that a second request could read instead.
    pub(crate) reads: BTreeSet<(String, TableName)>,
    /// US dollars a month that the copies cost more than second requests.
    pub(crate) saved: f64,
}

/// What second requests read, by the names of the reads.
pub(crate) type Referring = BTreeMap<String, SecondReads>;

/// What second requests read for one read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SecondReads {
    pub(crate) parents: BTreeSet<TableName>,
    /// Whether the read's conditions on these parents are left to the application, which tests them on what the second
    /// requests read.
    pub(crate) leaves_conditions: bool,
}

impl SecondReads {
    pub(crate) fn add(&mut self, other: Self) {
        self.parents.extend(other.parents);
        self.leaves_conditions |= other.leaves_conditions;
    }
}

/// The second requests to try, for parents whose copies may cost more: first in all reads that select from such a parent, then in
/// the reads that have the copies, then for each of the `most` most expensive copies alone. Each is tried with the conditions on
/// the parents left to the application first.
pub(crate) fn candidates(
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
                let second = reads.entry(read.clone()).or_default();
                second.parents.insert(parent.clone());
            }
        }
        each.push(one);
    }
    let parents = all.values().flat_map(|second| &second.parents);
    let parents: BTreeSet<TableName> = parents.cloned().collect();
    let further = statements
        .iter()
        .filter(|_| !parents.is_empty())
        .flat_map(|statement| {
            let asks = referring(&statement.sql, catalog, observed, &parents, false);
            let referred = asks.into_iter().flat_map(|ask| ask.referred);
            referred.map(|parent| (statement.name.clone(), parent.step.table))
        });
    let mut with_further = all.clone();
    for (read, parent) in further {
        let second = with_further.entry(read).or_default();
        second.parents.insert(parent);
    }
    each.truncate(most);
    let mut candidates = Vec::new();
    for wanted in [with_further, all].into_iter().chain(each) {
        let leaving = leaving_conditions(&wanted, (catalog, observed), statements);
        for candidate in [leaving, wanted] {
            if !candidate.is_empty() && !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
    }
    candidates
}

/// The same with the conditions on the parents left to the application, in the reads that are served so.
fn leaving_conditions(
    wanted: &Referring,
    (catalog, observed): (&Catalog, &Observed),
    statements: &[Statement],
) -> Referring {
    let mut found = wanted.clone();
    for statement in statements {
        if let Some(second) = found.get_mut(&statement.name) {
            let asks = referring(&statement.sql, catalog, observed, &second.parents, true);
            second.leaves_conditions = !asks.is_empty();
        }
    }
    found
}

/// A read by two requests in a row.
pub(crate) struct TwoRequests<'c> {
    /// The read's name.
    pub(crate) name: String,
    /// What the first request asks.
    pub(crate) asks: Vec<Ask<'c>>,
    /// The second ones: one for each parent.
    pub(crate) seconds: Vec<SecondRequest>,
}

/// A read of one parent by its key, which stands in the answer of a first request.
pub(crate) struct SecondRequest {
    /// At the rate of the first request times the parents that an answer refers to.
    pub(crate) statement: Statement,
    /// About how many parents an answer refers to, each counted once.
    pub(crate) parents: f64,
    /// How many of these reads are of the most frequent parent, a second.
    pub(crate) most_frequent: f64,
}

impl<'c> TwoRequests<'c> {
    /// Leaves what a read selects of these parents to second requests; `None` where that is not possible. `named` gives a second
    /// request its name, from the name made of the read and the parent, and from its SQL. `most_sorted`: rows that the application
    /// sorts at most.
    fn new(
        statement: &Statement,
        (catalog, observed): (&'c Catalog, &Observed),
        (second, most_sorted): (&SecondReads, f64),
        named: &mut dyn FnMut(&str, &str) -> Option<String>,
    ) -> Option<Self> {
        let (sql, leaves_conditions) = (&statement.sql, second.leaves_conditions);
        let mut asks = referring(sql, catalog, observed, &second.parents, leaves_conditions);
        let facts = Facts { catalog, observed };
        asks.retain(|ask| !ask.sorts || facts.most_found(ask) <= most_sorted);
        let ask = asks.first()?;
        let seconds = ask.referred.iter().map(|parent| {
            let table = catalog.table(&parent.step.table)?;
            let sql = by_key(catalog, table, parent);
            let (parents, most_frequent) = found_parents(facts, ask, parent);
            let rate = Pricing::rate(statement);
            let statement = Statement {
                name: named(&second_name(statement, table), &sql)?,
                rate: Some(rate * parents),
                about: format!("the second request of {}", statement.name),
                sql,
                ..statement.clone()
            };
            Some(SecondRequest {
                statement,
                parents,
                most_frequent: rate * most_frequent,
            })
        });
        let seconds: Vec<SecondRequest> = seconds.collect::<Option<_>>()?;
        for ask in &mut asks {
            let pairs = ask.referred.iter().zip(&seconds);
            let notes = pairs.map(|(parent, second)| second_note(catalog, ask, parent, second));
            for note in notes.collect::<Vec<_>>() {
                ask.note(note);
            }
        }
        Some(Self {
            name: statement.name.clone(),
            asks,
            seconds,
        })
    }

    /// How a mapping answers a statement by access patterns for two requests; `None` where it does not.
    pub(crate) fn of_model(
        model: &Model,
        of_rows: (&'c Catalog, &Observed),
        statement: &Statement,
    ) -> Option<Self> {
        let catalog = of_rows.0;
        let mut patterns = model.patterns.iter();
        let first = patterns.find(|pattern| *pattern.name == *statement.name)?;
        let first = normalized_sql(first.sql.as_deref()?);
        let others = model.patterns.iter();
        let others = others.filter(|one| one.name.starts_with(&*statement.name));
        let others: Vec<_> = others.filter(|one| *one.name != *statement.name).collect();
        if others.is_empty() {
            return None;
        }
        // Finds the access pattern whose name begins so: a number follows where the name was taken.
        let named = |name: &str, is_it: &dyn Fn(&str) -> bool| {
            let found = others.iter().find(|pattern| {
                let sql = pattern.sql.as_deref();
                pattern.name.starts_with(name) && sql.is_some_and(|sql| is_it(&normalized_sql(sql)))
            });
            found.map(|pattern| pattern.name.to_string())
        };
        let is_read = |table: &&Table| {
            let from = format!(" FROM {} WHERE ", table_reference(catalog, &table.name));
            named(&second_name(statement, table), &|sql| sql.contains(&from)).is_some()
        };
        let parents = catalog.tables.iter().filter(is_read);
        let parents: BTreeSet<TableName> = parents.map(|table| table.name.clone()).collect();
        [true, false].into_iter().find_map(|leaves_conditions| {
            let second = SecondReads {
                parents: parents.clone(),
                leaves_conditions,
            };
            let mut found = Self::new(
                statement,
                of_rows,
                (&second, f64::INFINITY),
                &mut |name, sql| {
                    // The mapping has the SQL of the ask, in which columns of some types are compared by other expressions.
                    let asks = ask(sql, catalog, of_rows.1).unwrap_or_default();
                    let asked = asks.iter().map(|ask| &*ask.sql);
                    let texts: Vec<String> = asked.chain([sql]).map(normalized_sql).collect();
                    named(name, &|own| texts.iter().any(|text| text == own))
                },
            )?;
            found.asks.retain(|ask| {
                let mut texts = std::iter::once(&ask.sql).chain(&ask.unsorted);
                texts.any(|sql| normalized_sql(sql) == first)
            });
            (!found.asks.is_empty()).then_some(found)
        })
    }
}

/// The reads that get the wanted parents by second requests. Each second request has a name that nothing else has.
pub(crate) fn two_requests<'c>(
    of_rows: (&'c Catalog, &Observed),
    statements: &[&Statement],
    wanted: &Referring,
) -> Vec<TwoRequests<'c>> {
    let mut taken: BTreeSet<String> = statements.iter().map(|one| one.name.clone()).collect();
    let reads = statements.iter().filter_map(|statement| {
        let second = wanted.get(&statement.name)?;
        TwoRequests::new(statement, of_rows, (second, MANY), &mut |name, _| {
            let name = free_name(name, &|name| taken.contains(name));
            taken.insert(name.clone());
            Some(name)
        })
    });
    reads.collect()
}

/// The access patterns of a mapping that are second requests of these reads.
pub fn second_requests(
    model: &Model,
    catalog: &Catalog,
    observed: &Observed,
    statements: &[Statement],
) -> BTreeSet<String> {
    let reads = statements
        .iter()
        .filter_map(|one| TwoRequests::of_model(model, (catalog, observed), one));
    let seconds = reads.flat_map(|read| read.seconds);
    seconds.map(|second| second.statement.name).collect()
}

/// SQL with each run of white space as one blank and without a semicolon, so that texts that differ in nothing else are equal.
pub(crate) fn normalized_sql(sql: &str) -> String {
    let sql = sql.trim().trim_end_matches(';');
    joined(sql.split_whitespace(), " ")
}

/// Whether SQL is that of a statement, or of one of the reads that it is served by.
pub(crate) fn is_sql_of<'a, 'c: 'a>(
    own: &str,
    statement: &Statement,
    dbms: Dbms,
    asks: impl IntoIterator<Item = &'a Ask<'c>>,
) -> bool {
    let own = normalized_sql(own);
    let prepared = parametrized(&statement.sql, dbms, Lists::Kept).ok();
    let by_row = |ask: &'a Ask<'c>| std::iter::once(ask).chain(ask.by_row.as_deref());
    let asks = asks.into_iter().flat_map(by_row);
    let asked = asks.flat_map(|ask| std::iter::once(&ask.sql).chain(&ask.unsorted));
    let prepared = prepared.iter().map(|prepared| &prepared.sql);
    let mut texts = std::iter::once(&statement.sql).chain(prepared).chain(asked);
    texts.any(|sql| normalized_sql(sql) == own)
}

/// The name of a second request, where it is free.
fn second_name(statement: &Statement, parent: &Table) -> String {
    let is_plain = |sign: char| sign.is_alphanumeric() || sign == '-';
    let parent = parent.name.name.replace(|sign| !is_plain(sign), "_");
    format!("{}_{parent}", statement.name)
}

/// What the note of a read says of one of its second requests.
fn second_note(
    catalog: &Catalog,
    ask: &Ask<'_>,
    parent: &Referred,
    second: &SecondRequest,
) -> String {
    let references: Vec<Path> = parent.references().collect();
    let outputs = ask.outputs.iter();
    let outputs = outputs.filter(|(path, _)| references.contains(path));
    format!(
        "two requests in a row: the answer has {} instead of {}. The application then reads that from {} with the access pattern {}, and takes NULL where it finds no row",
        joined(outputs.map(|(_, name)| name.as_str()), " and "),
        joined(parent.columns.iter().map(|(_, name)| name.as_str()), ", "),
        catalog.display_name(&parent.step.table),
        second.statement.name
    )
}

/// About how many parents the rows of an answer refer to, each counted once, and how often the most frequent one is among them.
fn found_parents(facts: Facts<'_>, ask: &Ask<'_>, parent: &Referred) -> (f64, f64) {
    let references: Vec<Path> = parent.references().collect();
    let is_given = |path: &Path| ask.has_equal(path);
    let mut rows = facts.answered(ask) * float(ask.requests);
    let distinct = references.iter().filter(|path| !is_given(path));
    let distinct = distinct.map(|path| facts.distinct(path, ask.root));
    let parents = rows.min(distinct.product());
    if references.iter().all(is_given) {
        rows = parents;
    }
    let shares = references
        .iter()
        .map(|path| facts.most_frequent(path, ask.root));
    (parents, (rows * shares.product::<f64>()).min(1.0))
}

/// The query that reads columns of a parent by its key. Each has its name in the answer, unless a column of the key has that name.
fn by_key(catalog: &Catalog, table: &Table, parent: &Referred) -> String {
    let key = &parent.step.referenced;
    let name = |name: &String| identifier(name, catalog.dbms);
    let further = parent.columns.iter().filter(|(one, _)| !key.contains(one));
    let further = further.map(|(column, known)| {
        if column == known || key.contains(known) {
            name(column)
        } else {
            format!("{} AS {}", name(column), name(known))
        }
    });
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
        joined(key.iter().map(name).chain(further), ", "),
        table_reference(catalog, &table.name),
        joined(conditions, " AND ")
    )
}

#[cfg(test)]
mod tests {
    use dynafold_dynamodb::price::{Prices, SHIPPED};
    use dynafold_mapping::Described;
    use dynafold_relational::catalog::TableName;

    use crate::traps::tests::{all_served, schema};
    use crate::{Report, ServedRead, modelled, price, workload};

    const SHOP: &str = "shops 40: id, name text distinct=40, stock, code text unique
        orders 4000: id, shop_id @shops distinct=40 most=120, note text distinct=800 most=5";

    fn proposed(tables: &str, sql: &str) -> (String, Report) {
        let (catalog, limits) = schema(tables);
        let found = all_served(&catalog, &limits, sql);
        (found.mapping, found.report)
    }

    /// Of the shops, whose stock is booked all the time, beside a read.
    fn seen(read: &str) -> (String, Report) {
        proposed(SHOP, &format!("{BOOK}\n-- seen (10/s)\n{read};"))
    }

    /// How the first read is served.
    fn first(report: &Report) -> &ServedRead {
        report.reads[0].served.as_ref().unwrap()
    }

    /// The units of a statement that writes.
    fn units(report: &Report, name: &str) -> f64 {
        let mut writes = report.writes.iter();
        writes.find(|write| write.name == name).unwrap().units
    }

    const BOOK: &str = "-- book (100/s)\nUPDATE shops SET stock = stock - 1 WHERE id = :id;";

    #[test]
    fn a_read_that_gains_nothing_keeps_its_copies() {
        // A desk for each shop: its copy costs one write of ten a second, and a second request three thousand reads.
        let tables = format!("{SHOP}\ndesks 40: id, shop_id @shops distinct=40 most=1");
        let sql = "-- book (10/s)\nUPDATE shops SET stock = :s WHERE id = :id;
            -- seen (10/s)\nSELECT o.id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.id = :id;
            -- desk (3000/s)\nSELECT d.id, s.stock FROM desks d JOIN shops s ON s.id = d.shop_id WHERE d.id = :id;";
        let (mapping, report) = proposed(&tables, sql);
        assert!(mapping.contains("seen_shops:"), "{mapping}");
        assert!(!mapping.contains("desk_shops:"), "{mapping}");
        assert!(report.sum.all < 600.0, "{report:#?}");
    }

    #[test]
    fn a_parent_that_changes_all_the_time_is_read_by_a_second_request() {
        for read in [
            "SELECT o.id, o.note, s.name, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.id = :id",
            "SELECT o.*, s.stock FROM orders o LEFT JOIN shops s ON s.id = o.shop_id WHERE o.id = :id",
            "SELECT o.id, s.stock AS shop_id FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.note = :n ORDER BY o.id LIMIT 4",
        ] {
            let (mapping, report) = seen(read);
            assert!((units(&report, "book") - 1.0).abs() < 0.01, "{mapping}");
            assert!(mapping.contains("seen_shops:"), "{mapping}");
            assert!(report.sum.all < 185.0, "{report:#?}");
            let [read] = report.reads.as_slice() else {
                panic!("{report:#?}")
            };
            let served = read.served.as_ref().unwrap();
            assert_eq!((served.requests, served.fetches), (2, 1));
            let notes = served.notes.concat();
            let said =
                "The application then reads that from shops with the access pattern seen_shops";
            assert!(notes.contains(said), "{notes}");
        }
    }

    #[test]
    fn the_application_sorts_by_what_a_second_request_reads() {
        let read = "SELECT o.id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.note = :n ORDER BY s.stock DESC, o.id LIMIT 2";
        let (mapping, report) = seen(read);
        assert!(mapping.contains("seen_shops:"), "{mapping}");
        assert!((units(&report, "book") - 1.0).abs() < 0.01, "{mapping}");
        let served = first(&report);
        let notes = served.notes.concat();
        assert!(
            notes.contains("the application sorts and applies the LIMIT"),
            "{notes}"
        );
        // All five rows with the note, and the shop of each.
        assert!((served.units - 0.5 - 5.0 * 0.5).abs() < 0.01, "{report:#?}");
        // The answers have everything that it sorts by.
        let further = read
            .replace("o.id, s.stock", "o.id")
            .replace("o.id LIMIT", "s.name, o.shop_id LIMIT");
        let further = further.replace("SELECT o.id", "SELECT o.id, s.stock");
        let (mapping, _) = seen(&further);
        let second = "SELECT \"id\", stock, \"name\" AS shops_name FROM shops";
        for said in [second, "SELECT o.\"id\", o.shop_id FROM"] {
            assert!(mapping.contains(said), "{mapping}");
        }
        // No two columns of them have one name.
        let named = read.replace("s.stock FROM", "s.stock AS note FROM");
        let named = named.replace("o.id LIMIT", "s.name, o.note LIMIT");
        let (mapping, _) = seen(&named);
        for said in [
            "o.note AS orders_note",
            "stock AS note, \"name\" AS shops_name",
        ] {
            assert!(mapping.contains(said), "{mapping}");
        }
        // Nobody sorts one row, or thousands.
        let one = read.replace("o.note = :n", "o.id = :id");
        let (mapping, report) = seen(&one);
        assert!(mapping.contains("seen_shops:"), "{mapping}");
        let notes = first(&report).notes.concat();
        assert!(!notes.contains("the application sorts"), "{notes}");
        let many = SHOP.replace("distinct=800 most=5", "distinct=2 most=3000");
        let (mapping, _) = proposed(&many, &format!("{BOOK}\n-- seen (10/s)\n{read};"));
        assert!(!mapping.contains("seen_shops:"), "{mapping}");
    }

    #[test]
    fn the_application_drops_rows_by_what_a_second_request_reads() {
        let read = |behind: &str| {
            let read = format!(
                "SELECT o.id, s.name FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.note = :n AND {behind}"
            );
            seen(&read)
        };
        for behind in [
            "s.stock > 0",
            "s.stock > :m",
            "s.stock <> 3 AND s.name <> 'x'",
        ] {
            let (mapping, report) = read(behind);
            let served = first(&report);
            let notes = served.notes.concat();
            assert!(
                notes.contains("the application drops the rows that do not meet"),
                "{notes}"
            );
            assert!((units(&report, "book") - 1.0).abs() < 0.01, "{mapping}");
            // All five rows with the note, and the shop of each.
            assert!((served.units - 0.5 - 5.0 * 0.5).abs() < 0.01, "{report:#?}");
            let second = "SELECT \"id\", \"name\", stock FROM shops";
            assert!(mapping.contains(second), "{mapping}");
            assert!(!mapping.contains("s.stock"), "{mapping}");
        }
        // With a LIMIT it would have to ask again.
        let (mapping, report) = read("s.stock > 0 ORDER BY o.id LIMIT 2");
        assert!(units(&report, "book") > 50.0, "{mapping}");
    }

    #[test]
    fn the_second_request_is_counted_for_each_row_of_the_first() {
        let read = "SELECT o.id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.note = :n ORDER BY o.id LIMIT 4";
        let (_, report) = seen(read);
        // A page of an index, and four items.
        let units = first(&report).units;
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
            let (mapping, report) = seen(&read);
            assert!(mapping.contains("seen_shops:"), "{mapping}");
            let found = first(&report).units;
            assert!(
                (found - units).abs() < 0.3,
                "{found} for {units}: {mapping}"
            );
        }
    }

    #[test]
    fn a_second_request_whose_name_is_taken_gets_another_one() {
        let read =
            "SELECT o.id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.id = :id";
        let other = "-- seen_shops (1/s)\nSELECT id FROM orders WHERE note = :n";
        let sql = format!("{BOOK}\n-- seen (10/s)\n{read};\n{other};");
        let (mapping, report) = proposed(SHOP, &sql);
        assert!(mapping.contains("seen_shops_2:"), "{mapping}");
        assert!((units(&report, "book") - 1.0).abs() < 0.01, "{mapping}");
        let fetches = |at: usize| report.reads[at].served.as_ref().unwrap().fetches;
        assert_eq!((fetches(0), fetches(1)), (1, 0), "{report:#?}");
    }

    /// Orders of a shop and a depot, both of which change all the time.
    const DEPOTS: &str = "y_z 40: id, stock
        z 40: id, stock
        orders 4000: id, shop @y_z distinct=40 most=120, depot @z distinct=40 most=120";
    const BOTH: &str = "-- book (100/s)\nUPDATE y_z SET stock = stock - 1 WHERE id = :id;
        -- move (100/s)\nUPDATE z SET stock = stock - 1 WHERE id = :id;";

    #[test]
    fn second_requests_of_two_reads_have_different_names() {
        let sql = format!(
            "{BOTH}
            -- x (10/s)\nSELECT o.id, s.stock FROM orders o JOIN y_z s ON s.id = o.shop WHERE o.id = :id;
            -- x_y (10/s)\nSELECT o.id, d.stock FROM orders o JOIN z d ON d.id = o.depot WHERE o.id = :id;"
        );
        let (mapping, report) = proposed(DEPOTS, &sql);
        assert!(mapping.contains("x_y_z:"), "{mapping}");
        assert!(mapping.contains("x_y_z_2:"), "{mapping}");
        for read in &report.reads {
            assert_eq!(read.served.as_ref().unwrap().fetches, 1, "{report:#?}");
        }
        assert!((units(&report, "book") - 1.0).abs() < 0.01, "{mapping}");
        assert!((units(&report, "move") - 1.0).abs() < 0.01, "{mapping}");
    }

    #[test]
    fn parents_of_one_name_in_two_schemas_are_read_by_second_requests() {
        let (mut catalog, mut limits) = schema(DEPOTS);
        let later = |name: &mut TableName| {
            if name.name == "z" {
                "later".clone_into(&mut name.schema);
            }
            if name.name != "orders" {
                "shops".clone_into(&mut name.name);
            }
        };
        for table in &mut catalog.tables {
            later(&mut table.name);
            table
                .foreign_keys
                .iter_mut()
                .for_each(|key| later(&mut key.references));
        }
        let samples = std::mem::take(&mut limits.observed.columns).into_iter();
        limits.observed.columns = samples
            .map(|((mut table, column), sample)| {
                later(&mut table);
                ((table, column), sample)
            })
            .collect();
        let read = "SELECT o.id, s.stock, d.stock AS there FROM orders o JOIN shops s ON s.id = o.shop JOIN later.shops d ON d.id = o.depot WHERE o.id = :id";
        let writes = BOTH.replace("y_z", "shops").replace(" z ", " later.shops ");
        let sql = format!("{writes}\n-- seen (10/s)\n{read};");
        let found = all_served(&catalog, &limits, &sql);
        assert!(found.mapping.contains("seen_shops:"), "{}", found.mapping);
        assert!(found.mapping.contains("seen_shops_2:"), "{}", found.mapping);
        let served = first(&found.report);
        assert_eq!((served.requests, served.fetches), (3, 2));
        let notes = served.notes.concat();
        assert!(
            notes.contains("there. The application then reads that from later.shops"),
            "{notes}"
        );
        assert!(
            (units(&found.report, "move") - 1.0).abs() < 0.01,
            "{}",
            found.mapping
        );
    }

    #[test]
    fn a_parent_of_a_parent_is_read_by_the_copy_of_its_reference() {
        let tables = "drivers 40: id, lat
            routes 400: id, driver_id @drivers distinct=40 most=12
            stops 40000: id, route_id @routes distinct=400 most=120";
        let sql = "-- ping (100/s)\nUPDATE drivers SET lat = :lat WHERE id = :id;
            -- seen (10/s)\nSELECT s.id, d.lat FROM stops s JOIN routes r ON r.id = s.route_id JOIN drivers d ON d.id = r.driver_id WHERE s.id = :id;";
        let (mapping, report) = proposed(tables, sql);
        assert!(mapping.contains("seen_drivers:"), "{mapping}");
        assert!((units(&report, "ping") - 1.0).abs() < 0.01, "{mapping}");
        let served = first(&report);
        assert_eq!(served.fetches, 1);
        let notes = served.notes.concat();
        assert!(
            notes.contains("the answer has driver_id instead of lat. The application then reads that from drivers"),
            "{notes}"
        );
    }

    #[test]
    fn what_a_read_filters_by_stays_a_copy_and_the_rest_is_read_by_a_second_request() {
        for behind in [
            "o.note = :n AND s.name > :m",
            "o.note = :n AND s.name <> 'x'",
        ] {
            let read = format!(
                "SELECT o.id, s.name, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE {behind}"
            );
            let (mapping, report) = seen(&read);
            assert!(mapping.contains("seen_shops:"), "{mapping}");
            assert!(mapping.contains(", stock FROM shops"), "{mapping}");
            assert!((units(&report, "book") - 1.0).abs() < 0.01, "{mapping}");
        }
    }

    #[test]
    fn a_large_parent_is_read_by_a_second_request_where_its_children_are_written_often() {
        let tables = "articles 500: id, title text distinct=500, body text longest=3000 distinct=500
            comments 50000: id, article_id @articles distinct=500 most=200, txt text distinct=50000";
        for (rate, is_second) in [(200, true), (1, false)] {
            let sql = format!(
                "-- add ({rate}/s)\nINSERT INTO comments (id, article_id, txt) VALUES (:id, :a, :t);
                -- seen (5/s)\nSELECT c.id, c.txt, a.title, a.body FROM comments c JOIN articles a ON a.id = c.article_id WHERE c.id = :id;"
            );
            let (mapping, report) = proposed(tables, &sql);
            assert_eq!(mapping.contains("seen_articles:"), is_second, "{mapping}");
            let each = if is_second { 1.0 } else { 4.0 };
            assert!((units(&report, "add") - each).abs() < 0.01, "{mapping}");
        }
    }

    #[test]
    fn the_columns_of_both_answers_are_called_as_in_the_sql() {
        for (columns, first, second) in [
            (
                "s.id, o.note, s.stock",
                "AS orders_id",
                "\"id\", stock FROM",
            ),
            (
                "o.id, s.stock AS shop_id, o.shop_id AS stock",
                "o.shop_id AS stock",
                "stock AS shop_id FROM",
            ),
            (
                "o.id, s.stock AS shop_id",
                "o.shop_id AS orders_shop_id",
                "stock AS shop_id FROM",
            ),
        ] {
            let read = format!(
                "SELECT {columns} FROM orders o LEFT JOIN shops s ON s.id = o.shop_id WHERE o.id = :id"
            );
            let (mapping, _) = seen(&read);
            assert!(mapping.contains("seen_shops:"), "{mapping}");
            assert!(mapping.contains(first), "{mapping}");
            assert!(mapping.contains(second), "{mapping}");
        }
    }

    #[test]
    fn a_second_request_is_one_by_the_key_of_the_table_whatever_else_reads_the_parent() {
        let sql = "-- shopst (50/s)\nSELECT * FROM shops WHERE code = :c;
            -- bystat (50/s)\nSELECT * FROM shops WHERE name = :n ORDER BY stock DESC LIMIT 5;
            -- seen (10/s)\nSELECT o.id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.id = :id;";
        let (mapping, report) = proposed(SHOP, &format!("{BOOK}\n{sql}"));
        assert!(mapping.contains("seen_shops:"), "{mapping}");
        assert!(units(&report, "book") < 10.0, "{mapping}");
    }

    #[test]
    fn a_parent_that_cannot_be_had_leaves_the_second_requests_of_others() {
        let tables = "pa 40: id, n
            pb 40: id, n, status distinct=4 most=20
            pc 40: id, n
            orders 4000: id, a @pa distinct=40 most=120, b @pb distinct=40 most=120, c @pc distinct=40 most=120";
        let of = |letter: &str| {
            let join = format!("JOIN p{letter} p ON p.id = o.{letter}");
            let distinct = if letter == "b" { "DISTINCT " } else { "" };
            format!(
                "-- u{letter} (100/s)\nUPDATE p{letter} SET n = n + 1 WHERE id = :id;
                -- r{letter} (10/s)\nSELECT {distinct}o.id, p.n FROM orders o {join} WHERE o.id = :id;\n"
            )
        };
        let (mapping, _) = proposed(tables, &["a", "b", "c"].map(of).concat());
        assert!(mapping.contains("ra_pa:"), "{mapping}");
        assert!(mapping.contains("rc_pc:"), "{mapping}");
    }

    #[test]
    fn a_mapping_without_the_second_request_does_not_serve_the_read() {
        let sql = format!(
            "{BOOK}\n-- seen (10/s)\nSELECT o.id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.id = :id;"
        );
        let (catalog, limits) = schema(SHOP);
        let found = all_served(&catalog, &limits, &sql);
        let statements = workload::read(&sql, catalog.dbms).unwrap();
        let prices = Prices::read(SHIPPED, None).unwrap();
        let (half, _) = found.mapping.split_once("  seen_shops:").unwrap();
        for (text, is_served) in [(&*found.mapping, true), (half, false)] {
            let (model, ..) = modelled(text, &|_| None, &catalog, &Described::new()).unwrap();
            let priced = price("", &catalog, &model, &statements, &prices, &limits.observed);
            assert_eq!(priced.reads[0].served.is_some(), is_served, "{text}");
        }
    }

    #[test]
    fn a_parent_that_most_rows_refer_to_is_a_hot_key() {
        for (sql, most, is_hot) in [
            ("o.id = :id", "most=3000", true),
            ("o.id = :id", "most=120", false),
            ("o.note = :n", "most=3000", true),
            ("o.note = :n", "most=120", false),
            ("o.shop_id = :s AND o.note = :n", "most=3000", true),
            ("o.shop_id = :s AND o.note = :n", "most=120", false),
        ] {
            let tables = SHOP.replace("most=120", most);
            let read = format!(
                "-- seen (20000/s)\nSELECT o.id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE {sql};"
            );
            let book = BOOK.replace("100/s", "3000/s");
            let (mapping, report) = proposed(&tables, &format!("{book}\n{read}"));
            assert!(mapping.contains("seen_shops:"), "{mapping}");
            let warnings = report.warnings.iter().map(ToString::to_string);
            let warning = warnings
                .filter(|one| one.contains("hot key"))
                .collect::<String>();
            let is_said = warning.contains("seen_shops (id in the table");
            assert_eq!(is_said, is_hot, "{sql}, {most}: {warning}");
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
        let (_, report) = seen(read);
        let notes = first(&report).notes.concat();
        assert!(
            notes.contains("the answer has orders_shop_id instead of stock. The application then reads that from shops"),
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
        ] {
            let read = format!("SELECT o.id, s.stock FROM orders o LEFT JOIN shops s ON {on}");
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
