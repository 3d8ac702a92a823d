//! Vertical partitions: the large columns of a table in items of their own, beside its other items. To the rest of a design
//! these are a table like others, of which only the mapping knows that it has the same rows.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_format::has_word;
use dynafold_relational::catalog::{Catalog, ForeignKey, Table, TableName};
use dynafold_sql::WriteKind;

use crate::Read;
use crate::ask::{Ask, ChildAsk, by_filter};
use crate::observed::{ColumnSample, Observed};
use crate::path::{Path, Step};
use crate::writes::Writes;

/// The large columns that are to have items of their own, by table.
pub(crate) type Large = BTreeMap<TableName, BTreeSet<String>>;

/// Large columns of a table, apart from its others.
#[derive(Debug, Clone)]
pub(crate) struct Split {
    pub(crate) base: TableName,
    /// The columns that its own items are without.
    pub(crate) large: BTreeSet<String>,
    /// Those that the items apart have: the key, the large ones, and what reads want beside them.
    pub(crate) columns: BTreeSet<String>,
}

/// By what the tables of the items apart are called.
pub(crate) type Splits = BTreeMap<TableName, Split>;

/// Reads that take large columns of a row and ask for more than its key find all of its items by that. A filter asks for the rest
/// of each item; where updates set what it compares, which would then be in each item, the application does.
pub(crate) fn by_row(
    reads: &mut [Read<'_, '_>],
    large: &Large,
    writes: &BTreeMap<TableName, Writes>,
) {
    for read in reads {
        let found = read.asks.iter().find_map(|ask| {
            let by_row = ask.by_row.as_deref()?;
            let base = &by_row.root.name;
            let large = large.get(base)?;
            let filtered = with_filter(ask, large, writes.get(base));
            let found = filtered.unwrap_or_else(|| by_row.clone());
            wants(&found, base, large).then_some(found)
        });
        if let Some(found) = found {
            read.asks = vec![found];
        }
    }
}

/// A read by its row's key that asks for the rest by filters, where each item may have what they compare.
fn with_filter<'c>(
    ask: &Ask<'c>,
    large: &BTreeSet<String>,
    writes: Option<&Writes>,
) -> Option<Ask<'c>> {
    let key = ask.root.row_key().iter().map(|column| Path::own(column));
    let key: Vec<Path> = key.collect();
    let found = by_filter(ask, &key, false).filter(|found| is_by_row(found, large))?;
    let mut updates = writes.into_iter().flat_map(|writes| &writes.statements);
    let is_set = updates.any(|write| {
        let mut compared = found.filters.iter().map(|filter| &filter.path.column);
        write.kind == WriteKind::Update
            && (write.columns.is_empty() || compared.any(|one| write.columns.contains(one)))
    });
    (!is_set).then_some(found)
}

/// The splits; `None` where a read could not be served with them.
pub(crate) fn splits(catalog: &Catalog, large: &Large, reads: &[Read<'_, '_>]) -> Option<Splits> {
    let each = large.iter().map(|(base, large)| {
        let table = catalog.table(base)?;
        let mut columns = large.clone();
        columns.extend(table.row_key().iter().cloned());
        for ask in reads.iter().flat_map(|read| &read.asks) {
            let is_large = |(path, _): &(Path, String)| is_own(path, large);
            let is_child = |child: &ChildAsk<'_>| child.table.name == *base;
            let mut children = ask.children.iter().filter(|child| is_child(child));
            let is_wanted = wants(ask, base, large);
            let is_apart = is_wanted && !is_by_row(ask, large);
            if children.any(|child| child.outputs.iter().any(is_large))
                || is_apart && !ask.children.is_empty()
            {
                return None;
            }
            if is_apart {
                columns.extend(needs(ask));
            } else if is_wanted {
                let compared = ask.filters.iter().map(|filter| filter.path.column.clone());
                columns.extend(compared);
            }
        }
        let name = large
            .iter()
            .fold(base.name.clone(), |name, one| format!("{name}_{one}"));
        let name = TableName {
            schema: base.schema.clone(),
            name,
        };
        let (base, large) = (base.clone(), large.clone());
        let split = Split {
            base,
            large,
            columns,
        };
        catalog.find(&name.name).is_none().then_some((name, split))
    });
    each.collect()
}

/// Whether a path is one of these columns of the table itself.
fn is_own(path: &Path, columns: &BTreeSet<String>) -> bool {
    path.steps.is_empty() && columns.contains(&path.column)
}

/// The paths that a read takes of its item type.
fn paths<'a>(ask: &'a Ask<'_>) -> impl Iterator<Item = &'a Path> {
    let outputs = ask.outputs.iter().map(|(path, _)| path);
    let filters = ask.filters.iter().map(|filter| &filter.path);
    outputs.chain(filters).chain(keys(ask))
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

/// Whether a read finds one row by its key, and asks for no more than what both items may have, which then stand under it.
fn is_by_row(ask: &Ask<'_>, large: &BTreeSet<String>) -> bool {
    let key = ask.root.row_key();
    let is_in_both = |path: &Path| path.steps.is_empty() && !large.contains(&path.column);
    let is_key = |column: &String| {
        let mut equal = ask.equal.iter();
        equal.any(|equal| equal.path == Path::own(column) && !equal.folds)
    };
    !key.is_empty()
        && ask.equal.len() == key.len()
        && key.iter().all(is_key)
        && ask.range.is_none()
        && ask.filters.iter().all(|filter| is_in_both(&filter.path))
        && ask.when.is_empty()
        && !ask.computes
}

/// The columns of its table that a read needs in an item that is to answer it alone.
fn needs(ask: &Ask<'_>) -> BTreeSet<String> {
    let own = paths(ask).filter(|path| path.steps.is_empty());
    let mut found: BTreeSet<String> = own.map(|path| path.column.clone()).collect();
    for path in keys(ask) {
        let first = path.steps.first();
        found.extend(first.into_iter().flat_map(|step| step.columns.clone()));
    }
    let columns = ask.root.columns.iter().filter(|column| {
        let mut conditions = ask.when.iter();
        conditions.any(|when| has_word(&when.said, &column.name))
    });
    found.extend(columns.map(|column| column.name.clone()));
    found
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
        table.primary_key = base.row_key().to_vec();
        table.unique_keys.clone_from(&base.unique_keys);
        table
            .unique_keys
            .retain(|key| key.columns.iter().all(is_held));
        table.foreign_keys.push(ForeignKey {
            columns: base.row_key().to_vec(),
            references: base.name.clone(),
            referenced_columns: base.row_key().to_vec(),
            ..ForeignKey::default()
        });
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

/// The reads, by the items: one by a row's key finds both, any other that wants large columns those apart alone.
pub(crate) fn apart<'c>(reads: &mut [Read<'_, 'c>], splits: &Splits, catalog: &'c Catalog) {
    for ask in reads.iter_mut().flat_map(|read| &mut read.asks) {
        let mut splits = splits.iter();
        let split = splits.find(|(_, split)| wants(ask, &split.base, &split.large));
        let Some((split, table)) =
            split.and_then(|(name, split)| Some((split, catalog.table(name)?)))
        else {
            continue;
        };
        let is_held = |(path, _): &(Path, String)| is_own(path, &split.columns);
        let is_alone = ask.children.is_empty() && ask.outputs.iter().all(is_held);
        if is_alone || !is_by_row(ask, &split.large) {
            ask.root = table;
            continue;
        }
        let is_large = |(path, _): &(Path, String)| is_own(path, &split.large);
        let outputs = ask.outputs.extract_if(.., |one| is_large(one)).collect();
        let key = table.row_key().to_vec();
        ask.children.push(ChildAsk {
            table,
            way: vec![Step {
                columns: key.clone(),
                table: split.base.clone(),
                referenced: key,
            }],
            outputs,
            order: Vec::new(),
        });
        ask.order.clear();
        ask.limit = None;
        ask.is_page = false;
    }
}

/// The writes, by the items: an update of large columns alone writes those apart alone.
pub(crate) fn add_writes(writes: &mut BTreeMap<TableName, Writes>, splits: &Splits) {
    for (name, split) in splits {
        let Some(base) = writes.get_mut(&split.base) else {
            continue;
        };
        let mut own = base.clone();
        // An update whose columns are not known may set any.
        let is_any = |columns: &[String]| {
            columns.is_empty() || columns.iter().any(|one| split.columns.contains(one))
        };
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
