//! Vertical partitions: the large columns of a table in items of their own, beside its other items. To the rest of a design
//! these are a table like others, of which only the mapping knows that it has the same rows. A read that wants large and other
//! columns has several forms, of which the search takes the cheapest: both items under one partition key value, that of the row's
//! key or of another unique key; the items apart alone, with what else it wants; or both by an index and then by their keys.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_format::{free_name, has_word};
use dynafold_relational::catalog::{Catalog, Dbms, ForeignKey, Table, TableName};
use dynafold_sql::WriteKind;

use dynafold_dynamodb::price::Prices;

use crate::ask::{Ask, ChildAsk, Filter, Twin, by_filter, is_one_row, limit_is_ambiguous};
use crate::facts::Facts;
use crate::observed::{ColumnSample, Observed};
use crate::path::{Path, Step};
use crate::pricing::{IN_A_ROW, MONTH, Pricing, write_units};
use crate::writes::Writes;
use crate::{MANY, Read};

/// The large columns that are to have items of their own, by table.
pub(crate) type Large = BTreeMap<TableName, Apart>;

/// Large columns of a table that are to have items of their own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Apart {
    pub(crate) columns: BTreeSet<String>,
    /// Whether reads by a unique key get both items of a row only, so that those apart have none of the row's other columns for
    /// them.
    pub(crate) is_narrow: bool,
}

/// Large columns of a table, apart from its others.
#[derive(Debug, Clone)]
pub(crate) struct Split {
    pub(crate) base: TableName,
    /// The columns that its own items are without.
    pub(crate) large: BTreeSet<String>,
    /// Those that the items apart have: the keys, the large ones, and what reads want beside them.
    pub(crate) columns: BTreeSet<String>,
    /// Those that decide the keys of indexes in which both items of a row stand.
    keys: BTreeSet<String>,
    /// The unique keys besides the row's own by which reads find both items of a row.
    unique_keys: BTreeSet<Vec<String>>,
    /// Whether the items apart have columns for a read by one of these: without them it would find both items.
    pub(crate) is_wide: bool,
}

/// By what the tables of the items apart are called.
pub(crate) type Splits = BTreeMap<TableName, Split>;

/// Reads that take large columns of a row and ask for more than its key find all of its items by that. A filter asks for the rest
/// of each item; where updates set what it compares, which would then be in each item, the application does. By another unique key
/// that is a further form of the read.
pub(crate) fn by_row(
    reads: &mut [Read<'_, '_>],
    large: &Large,
    writes: &BTreeMap<TableName, Writes>,
    dbms: Dbms,
) {
    for read in reads {
        let by_own_key = read.asks.iter().find_map(|ask| {
            let by_row = ask.by_row.as_deref()?;
            let base = &by_row.root.name;
            let large = &large.get(base)?.columns;
            let filtered = with_filter(ask, large, writes.get(base), dbms);
            let found = filtered.unwrap_or_else(|| by_row.clone());
            wants(&found, base, large).then_some((found, true))
        });
        let by_unique_key = || {
            let mut asks = read.asks.iter().filter(|ask| !is_one_row(ask));
            asks.find_map(|ask| {
                let base = &ask.root.name;
                let apart = large.get(base)?;
                if finds_row(ask, &apart.columns, dbms) {
                    return None;
                }
                let filtered = with_filter(ask, &apart.columns, writes.get(base), dbms);
                let is_wanted = |found: &Ask<'_>| wants(found, base, &apart.columns);
                Some((filtered.filter(is_wanted)?, apart.is_narrow))
            })
        };
        match by_own_key.or_else(by_unique_key) {
            Some((found, true)) => read.asks = vec![found],
            Some((found, false)) => read.asks.push(found),
            None => {}
        }
    }
}

/// A read by a key of its row that asks for the rest by filters, where each item may have what they compare.
fn with_filter<'c>(
    ask: &Ask<'c>,
    large: &BTreeSet<String>,
    writes: Option<&Writes>,
    dbms: Dbms,
) -> Option<Ask<'c>> {
    let key = key_of(ask, dbms)?.iter().map(|column| Path::own(column));
    let key: Vec<Path> = key.collect();
    let found = by_filter(ask, &key, false).filter(|found| finds_row(found, large, dbms))?;
    let mut updates = writes.into_iter().flat_map(|writes| &writes.statements);
    let is_set = updates.any(|write| {
        let mut compared = found.filters.iter().map(|filter| &filter.path.column);
        write.kind == WriteKind::Update
            && (write.columns.is_empty() || compared.any(|one| write.columns.contains(one)))
    });
    (!is_set).then_some(found)
}

/// The splits; `None` where a read could not be served with them.
pub(crate) fn splits(
    facts: Facts<'_>,
    large: &Large,
    reads: &[Read<'_, '_>],
    writes: &BTreeMap<TableName, Writes>,
    prices: &Prices,
) -> Option<Splits> {
    let catalog = facts.catalog;
    let tables = catalog.tables.iter().map(|table| table.name.clone());
    let mut taken: BTreeSet<TableName> = tables.collect();
    let each = large.iter().map(|(base, apart)| {
        let table = catalog.table(base)?;
        let own = apart.columns.iter().chain(table.row_key());
        let mut split = Split {
            base: base.clone(),
            large: apart.columns.clone(),
            columns: own.cloned().collect(),
            keys: BTreeSet::new(),
            unique_keys: BTreeSet::new(),
            is_wide: false,
        };
        for read in reads {
            let writes = writes.get(base);
            split.add(read, apart.is_narrow, catalog, &|ask| {
                pays_as_twin(facts, (read, ask), &apart.columns, writes, prices)
            })?;
        }
        let name = apart
            .columns
            .iter()
            .fold(base.name.clone(), |name, one| format!("{name}_{one}"));
        let of_schema = |name: &str| TableName {
            schema: base.schema.clone(),
            name: name.to_owned(),
        };
        let name = of_schema(&free_name(&name, &|name| taken.contains(&of_schema(name))));
        taken.insert(name.clone());
        Some((name, split))
    });
    each.collect()
}

impl Split {
    /// Adds what the items apart need for a read. `pays`: whether reading both items of each row by an index costs less than to keep
    /// up to date in those apart what else it wants. `None` where it could not be served.
    fn add(
        &mut self,
        read: &Read<'_, '_>,
        is_narrow: bool,
        catalog: &Catalog,
        pays: &dyn Fn(&Ask<'_>) -> bool,
    ) -> Option<()> {
        let large = self.large.clone();
        let is_large = |(path, _): &(Path, String)| is_own(path, &large);
        let mut children = read.asks.iter().flat_map(|ask| &ask.children);
        if children.any(|child| child.table.name == self.base && child.outputs.iter().any(is_large))
        {
            return None;
        }
        let may_find_both = |ask: &Ask<'_>| {
            let mut filters = ask.filters.iter();
            may_be_twin(ask, catalog)
                && !filters.any(|filter| is_own(&filter.path, &large))
                && !read.statement.strong
        };
        let wanting = read.asks.iter();
        let wanting: Vec<&Ask<'_>> = wanting
            .filter(|ask| wants(ask, &self.base, &large))
            .collect();
        let mut others: Vec<&Ask<'_>> = Vec::new();
        let mut is_by_unique_key = false;
        for ask in wanting {
            if !finds_row(ask, &large, catalog.dbms) {
                others.push(ask);
                continue;
            }
            self.columns.extend(compared(ask));
            if may_find_both(ask) {
                self.keys.extend(key_columns(ask));
            }
            if !is_one_row(ask) {
                let key = key_of(ask, catalog.dbms)?;
                self.columns.extend(key.iter().cloned());
                self.unique_keys.insert(key.to_vec());
                is_by_unique_key = true;
                if !is_narrow && ask.children.is_empty() {
                    others.push(ask);
                }
            }
        }
        let (twins, others): (Vec<&Ask<'_>>, Vec<&Ask<'_>>) = others
            .into_iter()
            .partition(|ask| may_find_both(ask) && pays(ask));
        for ask in &twins {
            self.keys.extend(key_columns(ask));
            self.columns.extend(compared(ask));
            let required = own_required(ask, catalog).into_iter().flatten();
            self.columns.extend(required.map(|path| path.column));
        }
        // Other forms of the read are not needed then.
        for ask in others.into_iter().filter(|_| twins.is_empty()) {
            if !ask.children.is_empty() {
                return None;
            }
            self.columns.extend(needs(ask));
            self.is_wide |= is_by_unique_key;
        }
        Some(())
    }
}

/// The columns that a read's filters compare.
fn compared(ask: &Ask<'_>) -> impl Iterator<Item = String> {
    let filters = ask.filters.iter();
    filters.map(|filter| filter.path.column.clone())
}

/// Whether a path is one of these columns of the table itself.
fn is_own(path: &Path, columns: &BTreeSet<String>) -> bool {
    path.steps.is_empty() && columns.contains(&path.column)
}

/// The paths that a read takes of its item type.
fn paths<'a>(ask: &'a Ask<'_>) -> impl Iterator<Item = &'a Path> {
    let outputs = ask.outputs.iter().map(|(path, _)| path);
    outputs.chain(ask.compared())
}

/// Those by which it finds and sorts.
fn keys<'a>(ask: &'a Ask<'_>) -> impl Iterator<Item = &'a Path> {
    let equal = ask.equal.iter().map(|equal| &equal.path);
    let range = ask.range.iter().map(|range| &range.path);
    let order = ask.order.iter().map(|(path, _)| path);
    equal.chain(range).chain(order)
}

/// Whether a read takes large columns of a table.
fn wants(ask: &Ask<'_>, base: &TableName, large: &BTreeSet<String>) -> bool {
    let mut conditions = ask.when.iter();
    ask.root.name == *base
        && (paths(ask).any(|path| is_own(path, large))
            || conditions.any(|when| large.iter().any(|one| has_word(&when.said, one))))
}

/// The key by which a read finds one row: the row's own, or another that each row has.
fn key_of<'c>(ask: &Ask<'c>, dbms: Dbms) -> Option<&'c [String]> {
    let table = ask.root;
    let is_asked = |column: &String| {
        let is_there = || table.column(column).is_some_and(|one| !one.nullable);
        ask.has_equal(&Path::own(column)) && (table.row_key().contains(column) || is_there())
    };
    let unique = table.keys(dbms).map(|key| key.columns);
    let mut keys = std::iter::once(table.row_key()).chain(unique);
    keys.find(|key| !key.is_empty() && key.iter().all(is_asked))
}

/// Whether a read finds one row by a key that each row has, and asks for no more than what both items may have, which then stand
/// under that key.
fn finds_row(ask: &Ask<'_>, large: &BTreeSet<String>, dbms: Dbms) -> bool {
    let is_in_both = |path: &Path| path.steps.is_empty() && !large.contains(&path.column);
    let mut keys = ask.equal.iter().map(|equal| &equal.path);
    key_of(ask, dbms).is_some_and(|key| key.len() == ask.equal.len())
        && (is_one_row(ask) || keys.all(is_in_both))
        && ask.range.is_none()
        && ask.filters.iter().all(|filter| is_in_both(&filter.path))
        && ask.when.is_empty()
        && !ask.computes
}

/// Whether one key of an index can find both items of a row for a read: it asks by columns of the row itself.
fn may_be_twin(ask: &Ask<'_>, catalog: &Catalog) -> bool {
    ask.fetching().is_some()
        && (ask.unsorted.is_some() || !limit_is_ambiguous(ask, catalog))
        && own_required(ask, catalog).is_some()
        && ask.compared().all(|path| path.steps.is_empty())
        && ask.conditions().all(|when| when.parents.is_empty())
}

/// The references that are not NULL in the rows with the parents that a read requires: both items of a row have these. `None` where
/// more is to be asked.
fn own_required(ask: &Ask<'_>, catalog: &Catalog) -> Option<Vec<Path>> {
    let each = ask.required.iter().map(|path| match &*path.steps {
        [step] if step.is_enforced(ask.root, catalog) => match &*step.columns {
            [column] => Some(Path::own(column)),
            _ => None,
        },
        _ => None,
    });
    each.collect()
}

/// Whether reading both items costs less than to keep up to date in the large one what else the read wants.
fn pays_as_twin(
    facts: Facts<'_>,
    (read, ask): (&Read<'_, '_>, &Ask<'_>),
    large: &BTreeSet<String>,
    writes: Option<&Writes>,
    prices: &Prices,
) -> bool {
    let mut held = key_columns(ask);
    // Of few rows no key has the order, where that costs more.
    let all = Ask {
        limit: None,
        ..ask.clone()
    };
    if ask.unsorted.is_some() && facts.most_found(&all) <= MANY {
        let unsorted = Ask {
            order: Vec::new(),
            ..all
        };
        held = key_columns(&unsorted);
    }
    held.extend(large.iter().cloned());
    held.extend(ask.filters.iter().map(|filter| filter.path.column.clone()));
    let wanted = needs(ask);
    let updates = writes.into_iter().flat_map(|writes| &writes.statements);
    let saved = updates.filter(|write| {
        let mut set = write.columns.iter();
        write.kind == WriteKind::Update
            && set.clone().any(|column| wanted.contains(column))
            && !set.any(|column| held.contains(column))
    });
    let saved: f64 = saved.map(|write| write.rate).sum();
    let bytes = large
        .iter()
        .map(|column| facts.attribute(&Path::own(column), ask.root));
    let units = write_units(bytes.sum());
    let more = (1.0 + facts.answered(ask)) * 0.5 * Pricing::rate(read.statement);
    let more = prices.reads(more * MONTH).unwrap_or_default() + IN_A_ROW;
    prices.writes(saved * units * MONTH).unwrap_or_default() > more
}

/// The columns that decide where an index has a row.
fn key_columns(ask: &Ask<'_>) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = keys(ask).map(|path| path.column.clone()).collect();
    found.extend(condition_columns(ask));
    found
}

/// Whether a read that finds both items of a row finds both of each: by filters that both meet, and without a limit that may take one
/// of two items of equal rows.
pub(crate) fn finds_whole_rows(ask: &Ask<'_>, catalog: &Catalog) -> bool {
    let is_cut = ask.limit.is_some() && limit_is_ambiguous(ask, catalog);
    ask.twin
        .as_ref()
        .is_none_or(|twin| !is_cut && are_filters_held(ask, twin))
}

fn are_filters_held(ask: &Ask<'_>, twin: &Twin<'_>) -> bool {
    let mut filters = ask.filters.iter().map(|filter| &filter.path);
    filters.all(|path| {
        path.steps.is_empty()
            && twin.table.column(&path.column).is_some()
            && !twin.large.contains(&path.column)
    })
}

/// The columns of its table that a read needs in an item that is to answer it alone.
fn needs(ask: &Ask<'_>) -> BTreeSet<String> {
    let own = paths(ask).filter(|path| path.steps.is_empty());
    let mut found: BTreeSet<String> = own.map(|path| path.column.clone()).collect();
    for path in keys(ask) {
        let first = path.steps.first();
        found.extend(first.into_iter().flat_map(|step| step.columns.clone()));
    }
    found.extend(condition_columns(ask));
    found
}

/// The columns of its table that a read's conditions without parameters have.
fn condition_columns(ask: &Ask<'_>) -> impl Iterator<Item = String> {
    let columns = ask.root.columns.iter().filter(|column| {
        let mut conditions = ask.when.iter();
        conditions.any(|when| has_word(&when.said, &column.name))
    });
    columns.map(|column| column.name.clone())
}

/// The catalog with the tables of the items apart, each behind its table.
pub(crate) fn with_splits(catalog: &Catalog, splits: &Splits) -> Catalog {
    let mut with = catalog.clone();
    for (name, split) in splits {
        let place = with
            .tables
            .iter()
            .position(|table| table.name == split.base);
        let Some((place, base)) = place.zip(catalog.table(&split.base)) else {
            continue;
        };
        let is_held = |column: &String| split.columns.contains(column);
        let mut table = Table::new(name.clone(), base.kind);
        table.columns.clone_from(&base.columns);
        table.columns.retain(|column| is_held(&column.name));
        let unique = split.unique_keys.iter().map(Vec::as_slice);
        let of_row: Vec<&[String]> = std::iter::once(base.row_key()).chain(unique).collect();
        for column in &mut table.columns {
            // The items of one row have one spelling of its keys.
            column.insensitive &= !of_row.iter().any(|key| key.contains(&column.name));
        }
        table.primary_key = base.row_key().to_vec();
        let unique_keys = base.unique_keys.iter();
        let unique_keys = unique_keys.filter(|key| key.columns.iter().all(is_held));
        table.unique_keys = unique_keys.cloned().collect();
        table.foreign_keys = (of_row.into_iter())
            .map(|key| ForeignKey {
                columns: key.to_vec(),
                references: base.name.clone(),
                referenced_columns: key.to_vec(),
                ..ForeignKey::default()
            })
            .collect();
        let further = base.foreign_keys.iter();
        let further = further.filter(|key| key.columns.iter().all(is_held));
        table.foreign_keys.extend(further.cloned());
        table.estimated_rows = base.estimated_rows;
        with.tables.insert(place + 1, table);
    }
    with
}

/// What was counted, by the items: those of a table have no large columns any more.
pub(crate) fn observed(observed: &Observed, splits: &Splits) -> Observed {
    let mut found = observed.clone();
    for (name, split) in splits {
        for ((table, column), sample) in &observed.columns {
            if *table == split.base && split.columns.contains(column) {
                let place = (name.clone(), column.clone());
                found.columns.insert(place, *sample);
            }
        }
        for ((table, condition), share) in &observed.conditions {
            if *table == split.base {
                let place = (name.clone(), condition.clone());
                found.conditions.insert(place, *share);
            }
        }
        for column in &split.large {
            let place = (split.base.clone(), column.clone());
            let sample = found.columns.entry(place).or_default();
            *sample = ColumnSample {
                rows: sample.rows.max(1),
                longest: sample.longest,
                ..ColumnSample::default()
            };
        }
    }
    found
}

/// The reads, by the items.
pub(crate) fn apart<'c>(reads: &mut [Read<'_, 'c>], splits: &Splits, catalog: &'c Catalog) {
    for read in reads {
        let asks = std::mem::take(&mut read.asks).into_iter();
        let asks = asks.flat_map(|ask| {
            let mut splits = splits.iter();
            let split = splits.find(|(_, split)| wants(&ask, &split.base, &split.large));
            let table = split.and_then(|(name, split)| Some((split, catalog.table(name)?)));
            match table {
                Some((split, table)) => by_items(&ask, split, table, catalog),
                None => vec![ask],
            }
        });
        read.asks = asks.collect();
    }
}

/// The forms of a read that wants large columns, by the items; none where another form of it is served.
fn by_items<'c>(ask: &Ask<'c>, split: &Split, table: &'c Table, catalog: &Catalog) -> Vec<Ask<'c>> {
    let of_table = || Ask {
        root: table,
        ..ask.clone()
    };
    let is_held = |(path, _): &(Path, String)| is_own(path, &split.columns);
    let is_alone = ask.children.is_empty() && ask.outputs.iter().all(is_held);
    let is_by_key = finds_row(ask, &split.large, catalog.dbms);
    let is_by_own_key = is_by_key && is_one_row(ask);
    if is_by_own_key && is_alone {
        return vec![of_table()];
    }
    let mut found = Vec::new();
    if is_by_key {
        found.push(beside(ask, split, table));
    }
    let is_whole = ask.children.is_empty() && needs(ask).is_subset(&split.columns);
    if is_whole && !is_by_own_key {
        found.push(of_table());
    } else if may_be_twin(ask, catalog) && key_columns(ask).is_subset(&split.keys) {
        found.extend(as_twin(ask, split, table, catalog));
    }
    found
}

/// The same read of both items of its row, which stand beside each other under the key that it asks for.
fn beside<'c>(ask: &Ask<'c>, split: &Split, table: &'c Table) -> Ask<'c> {
    let mut found = ask.clone();
    let outputs = (found.outputs)
        .extract_if(.., |(path, _)| is_own(path, &split.large))
        .collect();
    let mut key = table.row_key().to_vec();
    let asked = ask.equal.iter().map(|equal| &equal.path.column);
    key.extend(asked.filter(|one| !table.row_key().contains(one)).cloned());
    found.children.push(ChildAsk {
        table,
        way: vec![Step {
            columns: key.clone(),
            table: split.base.clone(),
            referenced: key,
        }],
        outputs,
        order: Vec::new(),
        is_same_row: true,
    });
    found.order.clear();
    found.limit = None;
    found.is_page = false;
    found
}

/// The same read of both items of each row, which an index finds by one key; `None` where its filters would not find both.
fn as_twin<'c>(
    ask: &Ask<'c>,
    split: &Split,
    table: &'c Table,
    catalog: &Catalog,
) -> Option<Ask<'c>> {
    let mut found = ask.clone();
    let outputs = (found.outputs)
        .extract_if(.., |(path, _)| is_own(path, &split.large))
        .collect();
    let twin = Twin {
        table,
        outputs,
        large: split.large.clone(),
    };
    let required = own_required(ask, catalog).into_iter().flatten();
    found.filters.extend(required.map(Filter::exists));
    found.filters.sort();
    found.required.clear();
    let is_held = are_filters_held(&found, &twin);
    found.twin = Some(twin);
    found.note(
        "each row has two items under the same index key: one with its large columns and one with the others. The application joins them by the row's key; a limit counts both items",
    );
    is_held.then_some(found)
}

/// The writes, by the items: an update of large columns alone writes those apart alone.
pub(crate) fn add_writes(writes: &mut BTreeMap<TableName, Writes>, splits: &Splits) {
    for (name, split) in splits {
        let Some(base) = writes.get_mut(&split.base) else {
            continue;
        };
        let mut own = base.clone();
        // An update whose columns are not known may set any.
        let is_held = |one: &String| split.columns.contains(one) || split.keys.contains(one);
        let is_any = |columns: &[String]| columns.is_empty() || columns.iter().any(is_held);
        own.statements
            .retain(|write| write.kind != WriteKind::Update || is_any(&write.columns));
        base.statements.retain(|write| {
            let mut columns = write.columns.iter();
            write.kind != WriteKind::Update
                || write.columns.is_empty()
                || columns.any(|one| !split.large.contains(one))
        });
        for writes in [base, &mut own] {
            writes.all = writes.statements.iter().map(|write| write.rate).sum();
        }
        writes.insert(name.clone(), own);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::Report;
    use crate::traps::tests::{all_served, designed, schema};

    const DOCS: &str = "docs 1000: id, owner distinct=100 most=30, slug text unique, at, kind distinct=4 most=400, views, body text longest=9000";
    const GET: &str = "-- get (100/s)\nSELECT id, at FROM docs WHERE id = :id;
        -- view (100/s)\nUPDATE docs SET views = views + 1 WHERE id = :id;";

    /// The mapping, its report, and the write units of the counter.
    fn proposed(read: &str) -> (String, Report, f64) {
        proposed_of(DOCS, read)
    }

    fn proposed_of(tables: &str, read: &str) -> (String, Report, f64) {
        let (catalog, limits) = schema(tables);
        let found = all_served(&catalog, &limits, &format!("{GET}\n{read}"));
        let report = found.report;
        let units = report.writes.iter().find(|write| write.name == "view");
        let units = units.unwrap().units;
        (found.mapping, report, units)
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.01, "{found} for {expected}");
    }

    #[test]
    fn a_table_that_is_called_like_a_large_column_does_not_keep_it_beside_the_others() {
        let tables = format!("{DOCS}\ndocs_body 10: id, z");
        let (text, _, units) = proposed_of(&tables, "");
        assert!(text.contains("DOCS_BODY_2"), "{text}");
        assert_near(units, 1.0);
    }

    #[test]
    fn a_read_by_another_key_finds_both_items_of_a_row() {
        for (read, says) in [
            (
                "-- bySlug (1/s)\nSELECT * FROM docs WHERE slug = :slug;",
                "key: { GSI1PK: \"SLUG#{slug}\" }\n    fetch: true",
            ),
            (
                "-- ofOwner (1/s)\nSELECT * FROM docs WHERE owner = :o ORDER BY at DESC, id DESC LIMIT 5;",
                "order: desc\n    limit: 10\n    fetch: true",
            ),
            (
                "-- ofOwner (1/s)\nSELECT * FROM docs WHERE owner = :o ORDER BY views DESC LIMIT 5;",
                "key: { GSI1PK: \"OWNER#{o}\" }\n    fetch: true",
            ),
            (
                "-- ofOwner (1/s)\nSELECT * FROM docs WHERE owner = :o AND kind <> 3;",
                "$when: \"docs.kind <> 3\"\n      GSI1SK: \"{id | pad(20)}\"\n\naccess_patterns",
            ),
            (
                "-- ofOwner (1/s)\nSELECT * FROM docs WHERE owner = :o AND kind <> :k;",
                "filter: \"attribute_exists(kind) AND kind <> :k\"",
            ),
        ] {
            let (text, report, units) = proposed(read);
            assert!(text.contains(says), "{text}");
            assert!(text.contains("items: [DOCS, DOCS_BODY]"), "{text}");
            assert!(!text.contains("columns: [body, id, owner"), "{text}");
            assert_eq!(text.matches("write_rate").count(), 1, "{text}");
            // The counter alone, in no index.
            assert_near(units, 1.0);
            assert!(report.sum.all < 250.0, "{report:#?}");
        }
    }

    #[test]
    fn an_inner_join_by_a_reference_that_may_be_null_finds_both_items_of_a_row() {
        let owner = "owner @owners null present=900 distinct=100";
        let tables = DOCS.replace("owner distinct=100", owner);
        let tables = format!("owners 100: id, name text\n{tables}");
        let read = "-- bySlug (1/s)\nSELECT d.*, o.name FROM docs d JOIN owners o ON o.id = d.owner WHERE d.slug = :slug;";
        let (text, report, units) = proposed_of(&tables, read);
        assert!(text.contains("items: [DOCS, DOCS_BODY]"), "{text}");
        assert!(
            text.contains("filter: \"attribute_exists(owner)\""),
            "{text}"
        );
        assert_near(units, 1.0);
        assert!(report.sum.all < 250.0, "{report:#?}");
    }

    #[test]
    fn a_parent_with_its_children_is_read_without_its_large_columns() {
        let tables = format!("{DOCS}\nnotes 2000: no, doc_id @docs, note text");
        let reads = "-- full (40/s)\nSELECT * FROM docs WHERE id = :id;
            -- withNotes (200/s)\nSELECT d.id, d.at, n.no, n.note FROM docs d LEFT JOIN notes n ON n.doc_id = d.id WHERE d.id = :id;
            -- addNote (100/s)\nINSERT INTO notes (no, doc_id, note) VALUES (:n, :d, :t);";
        let (text, report, units) = proposed_of(&tables, reads);
        for part in [
            "SK: \"DOCS!DOCS_BODY#\"",
            "SK: \"DOCS#NOTES#{no",
            "SK: { between: [\"DOCS!\", \"DOCS#\"] }",
            "SK: { begins_with: \"DOCS#\" }",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_near(units, 1.0);
        let mut reads = report.reads.iter();
        let with_notes = reads.find(|read| read.name == "withNotes").unwrap();
        // Half a unit.
        assert_near(with_notes.served.as_ref().unwrap().usd_month, 32.4);
    }

    #[test]
    fn an_update_of_the_key_moves_both_entries_of_a_row() {
        let read = "-- ofOwner (1/s)\nSELECT * FROM docs WHERE owner = :o ORDER BY at DESC, id DESC LIMIT 5;
            -- move (10/s)\nUPDATE docs SET owner = :o WHERE id = :id;";
        let (text, report, _) = proposed(read);
        assert!(text.contains("items: [DOCS, DOCS_BODY]"), "{text}");
        // Two entries go and two come, and both items are written.
        let units = report.writes.iter().find(|write| write.name == "move");
        assert_near(units.unwrap().units, 4.0 + 1.0 + 9.0);
        let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
        let says = "move moves entries of GSI1 (64.80 USD a month)";
        assert!(warnings.concat().contains(says), "{warnings:#?}");
    }

    #[test]
    fn as_many_tables_as_save_something_have_their_large_columns_apart() {
        let mut tables = String::new();
        let mut sql = String::new();
        for at in 1..=6 {
            tables.push_str(&format!(
                "t{at} 400: id, title text, views, body text longest=9000\n"
            ));
            sql.push_str(&format!(
                "-- get{at} (100/s)\nSELECT id, title FROM t{at} WHERE id = :id;
                -- view{at} (100/s)\nUPDATE t{at} SET views = views + 1 WHERE id = :id;\n"
            ));
        }
        let (catalog, limits) = schema(&tables);
        let report = designed(&catalog, &limits, &sql).report;
        for write in &report.writes {
            assert_near(write.units, 1.0);
        }
    }

    #[test]
    fn keys_of_texts_are_those_of_both_items() {
        let tables = format!(
            "mysql\n{}",
            DOCS.replace("docs 1000: id,", "docs 1000: id text40 ci,")
        );
        let (text, _, units) = proposed_of(
            &tables,
            "-- body (1/s)\nSELECT body FROM docs WHERE id = :id;",
        );
        assert!(text.contains("DOCS_BODY#"), "{text}");
        assert_near(units, 1.0);
    }

    #[test]
    fn a_condition_names_a_column_in_any_case() {
        for column in ["body", "BODY"] {
            let read = format!(
                "-- bySlug (1/s)\nSELECT * FROM docs WHERE slug = :slug;
                -- ofOwner (1/s)\nSELECT id, at FROM docs WHERE owner = :o AND {column} IS NOT NULL;"
            );
            let (_, report, units) = proposed(&read);
            assert_near(units, 1.0);
            assert!(report.sum.all < 250.0, "{report:#?}");
        }
    }

    #[test]
    fn a_read_that_is_asked_more_often_than_what_it_wants_changes_finds_one_item() {
        let read = "-- ofOwner (9000/s)\nSELECT * FROM docs WHERE owner = :o;";
        let (text, ..) = proposed(read);
        assert!(!text.contains("items: [DOCS, DOCS_BODY]"), "{text}");
    }

    #[test]
    fn a_read_by_a_unique_key_that_is_asked_often_does_not_copy_what_changes_beside_the_large_columns()
     {
        let read = "-- bySlug (9000/s)\nSELECT * FROM docs WHERE slug = :slug;";
        let (text, _, units) = proposed(read);
        assert!(text.contains("items: [DOCS, DOCS_BODY]"), "{text}");
        assert!(text.contains("columns: [body, id, slug]"), "{text}");
        assert!(!text.contains("fetch: true"), "{text}");
        assert_near(units, 1.0);
    }

    /// Products whose pages are asked for by a unique key.
    const SHOP: &str = "products 1000: id, slug text unique, category distinct=50 most=40, name text, stock, about text longest=3000";
    const PAGE: &str = "-- page (200/s)\nSELECT * FROM products WHERE slug = :slug;";
    const OTHERS: &str =
        "-- ofCategory (20/s)\nSELECT slug, name FROM products WHERE category = :c ORDER BY id;
        -- sell (50/s)\nUPDATE products SET stock = stock - 1 WHERE id = :id;";

    /// The mapping, and the units of its reads and writes by their names.
    fn sold(tables: &str, sql: &str) -> (String, BTreeMap<String, f64>) {
        let (catalog, limits) = schema(tables);
        let found = all_served(&catalog, &limits, &format!("{sql}\n{OTHERS}"));
        let reads = found.report.reads.iter();
        let reads = reads.map(|read| (read.name.clone(), read.served.as_ref().unwrap().units));
        let writes = found.report.writes.iter();
        let writes = writes.map(|write| (write.name.clone(), write.units));
        (found.mapping, reads.chain(writes).collect())
    }

    #[test]
    fn both_items_of_a_row_stand_under_the_unique_key_by_which_they_are_asked() {
        let (text, units) = sold(SHOP, PAGE);
        for part in [
            "omit: [about]",
            "columns: [about, id, slug]",
            "key: { PK: \"SLUG#{slug}\", SK: \"PRODUCTS#\" }",
            "key: { PK: \"SLUG#{slug}\", SK: \"PRODUCTS#PRODUCTS_ABOUT#\" }",
            "items: [PRODUCTS, PRODUCTS_ABOUT]\n    key: { PK: \"SLUG#{slug}\", SK: { begins_with: \"PRODUCTS#\" } }",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // One request, for the price of one item.
        assert!(!text.contains("fetch: true"), "{text}");
        assert_near(units["page"], 0.5);
        assert_near(units["sell"], 1.0);
    }

    #[test]
    fn a_read_of_the_other_columns_by_the_unique_key_does_not_pay_for_the_large_ones() {
        let tables = SHOP.replace("slug text", "slug").replace("3000", "9000");
        let reads =
            format!("{PAGE}\n-- stock (400/s)\nSELECT id, stock FROM products WHERE slug = :slug;");
        for (dbms, parts) in [
            (
                "",
                [
                    "SK: \"PRODUCTS#PRODUCTS_ABOUT#\"",
                    "SK: { begins_with: \"PRODUCTS#\" }",
                    "items: [PRODUCTS]\n    key: { PK: \"SLUG#{slug}\", SK: \"PRODUCTS#\" }",
                ],
            ),
            // A unique key that a session may leave unchecked has the row's key behind it.
            (
                "mysql\n",
                [
                    "SK: \"PRODUCTS!PRODUCTS_ABOUT#{id",
                    "SK: { between: [\"PRODUCTS!\", \"PRODUCTS$\"] }",
                    "items: [PRODUCTS]\n    key: { PK: \"SLUG#{slug}\", SK: { begins_with: \"PRODUCTS#\" } }",
                ],
            ),
        ] {
            let (text, units) = sold(&format!("{dbms}{tables}"), &reads);
            for part in parts {
                assert!(text.contains(part), "{part}: {text}");
            }
            assert_near(units["page"], 1.5);
            assert_near(units["stock"], 0.5);
            assert_near(units["sell"], 1.0);
        }
    }

    #[test]
    fn what_a_read_asks_besides_the_unique_key_is_a_filter_on_both_items() {
        let page = PAGE.replace(":slug", ":slug AND category = :c");
        let (text, units) = sold(SHOP, &page);
        for part in [
            "columns: [about, category, id, slug]",
            "items: [PRODUCTS, PRODUCTS_ABOUT]\n    key: { PK: \"SLUG#{slug}\", SK: { begins_with: \"PRODUCTS#\" } }\n    filter: \"category = :c\"",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_near(units["page"], 0.5);
        assert_near(units["sell"], 1.0);
    }

    #[test]
    fn both_items_of_a_row_are_found_by_its_key_where_they_have_other_keys_in_the_table() {
        let (catalog, limits) = schema(SHOP);
        let sql = "-- page (10/s)\nSELECT * FROM products WHERE id = :id;
            -- ofCategory (300/s)\nSELECT id, name, stock FROM products WHERE category = :c ORDER BY id;
            -- sell (200/s)\nUPDATE products SET stock = stock - 1 WHERE id = :id;";
        let found = all_served(&catalog, &limits, sql);
        for part in [
            "key: { PK: \"CATEGORY#{category}\", SK: \"PRODUCTS#{id",
            "items: [PRODUCTS, PRODUCTS_ABOUT]\n    index: GSI1",
            "fetch: true",
        ] {
            assert!(found.mapping.contains(part), "{part}: {}", found.mapping);
        }
        // No index has what changes.
        assert_near(found.report.writes[0].units, 1.0);
    }

    #[test]
    fn large_columns_stay_where_reading_two_items_costs_more_than_writes_would_save() {
        // One item has less than 4 KB, and two have more.
        let tables = SHOP
            .replace("unique", "unique longest=200")
            .replace("3000", "3400");
        for (rate, is_apart) in [(5, false), (50, true)] {
            let (catalog, limits) = schema(&tables);
            let others = OTHERS.replace("50/s", &format!("{rate}/s"));
            let sql = format!("{PAGE}\n{others}");
            let text = all_served(&catalog, &limits, &sql).mapping;
            assert_eq!(text.contains("omit: [about]"), is_apart, "{text}");
        }
    }
}
