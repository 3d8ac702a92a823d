//! Vertical partitions: the large columns of a table in items of their own, beside its other items. To the rest of a design
//! these are a table like others, of which only the mapping knows that it has the same rows.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_format::{free_name, has_word};
use dynafold_relational::catalog::{Catalog, ForeignKey, Table, TableName};
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
pub(crate) type Large = BTreeMap<TableName, BTreeSet<String>>;

/// Large columns of a table, apart from its others.
#[derive(Debug, Clone)]
pub(crate) struct Split {
    pub(crate) base: TableName,
    /// The columns that its own items are without.
    pub(crate) large: BTreeSet<String>,
    /// Those that the items apart have: the key, the large ones, and what reads want beside them.
    pub(crate) columns: BTreeSet<String>,
    /// Those that decide the keys of indexes in which both items of a row stand.
    keys: BTreeSet<String>,
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
    let each = large.iter().map(|(base, large)| {
        let table = catalog.table(base)?;
        let mut columns = large.clone();
        columns.extend(table.row_key().iter().cloned());
        let mut keys = BTreeSet::new();
        let is_twin = |read: &Read<'_, '_>, ask: &Ask<'_>| {
            let mut filters = ask.filters.iter();
            wants(ask, base, large)
                && may_be_twin(ask, catalog)
                && !filters.any(|filter| is_own(&filter.path, large))
                && !read.statement.strong
                && pays_as_twin(facts, (read, ask), large, writes.get(base), prices)
        };
        let asks = reads.iter().flat_map(|read| {
            let (twins, others): (Vec<&Ask<'_>>, Vec<_>) =
                read.asks.iter().partition(|ask| is_twin(read, ask));
            for ask in &twins {
                keys.extend(key_columns(ask));
                let compared = ask.filters.iter().map(|filter| filter.path.column.clone());
                columns.extend(compared);
                let required = own_required(ask, catalog).into_iter().flatten();
                columns.extend(required.map(|path| path.column));
            }
            // Other forms of the read are not needed then.
            if twins.is_empty() { others } else { Vec::new() }
        });
        for ask in asks.collect::<Vec<_>>() {
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
        let of_schema = |name: &str| TableName {
            schema: base.schema.clone(),
            name: name.to_owned(),
        };
        let name = of_schema(&free_name(&name, &|name| taken.contains(&of_schema(name))));
        taken.insert(name.clone());
        let (base, large) = (base.clone(), large.clone());
        let split = Split {
            base,
            large,
            columns,
            keys,
        };
        Some((name, split))
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
    let is_in_both = |path: &Path| path.steps.is_empty() && !large.contains(&path.column);
    is_one_row(ask)
        && ask.equal.len() == ask.root.row_key().len()
        && ask.range.is_none()
        && ask.filters.iter().all(|filter| is_in_both(&filter.path))
        && ask.when.is_empty()
        && !ask.computes
}

/// Whether one key of an index can find both items of a row for a read: it asks by columns of the row itself.
fn may_be_twin(ask: &Ask<'_>, catalog: &Catalog) -> bool {
    let filters = ask.filters.iter().map(|filter| &filter.path);
    ask.fetching().is_some()
        && !is_one_row(ask)
        && (ask.unsorted.is_some() || !limit_is_ambiguous(ask, catalog))
        && own_required(ask, catalog).is_some()
        && keys(ask).chain(filters).all(|path| path.steps.is_empty())
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
        for column in &mut table.columns {
            // The items of one row have one spelling of its key.
            column.insensitive &= !base.row_key().contains(&column.name);
        }
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

/// The reads, by the items: one by a row's key finds both, any other that wants large columns those apart alone, or both by an index.
pub(crate) fn apart<'c>(reads: &mut [Read<'_, 'c>], splits: &Splits, catalog: &'c Catalog) {
    for read in reads {
        read.asks.retain_mut(|ask| {
            let mut splits = splits.iter();
            let split = splits.find(|(_, split)| wants(ask, &split.base, &split.large));
            let table = split.and_then(|(name, split)| Some((split, catalog.table(name)?)));
            table.is_none_or(|(split, table)| put_apart(ask, split, table, catalog))
        });
    }
}

/// A read that wants large columns, by the items; not where another form of it is served.
fn put_apart<'c>(ask: &mut Ask<'c>, split: &Split, table: &'c Table, catalog: &Catalog) -> bool {
    let is_held = |(path, _): &(Path, String)| is_own(path, &split.columns);
    let is_large = |(path, _): &(Path, String)| is_own(path, &split.large);
    let is_alone = ask.children.is_empty() && ask.outputs.iter().all(is_held);
    if is_by_row(ask, &split.large) && !is_alone {
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
            is_same_row: true,
        });
        ask.order.clear();
        ask.limit = None;
        ask.is_page = false;
        return true;
    }
    if is_alone && is_by_row(ask, &split.large) || needs(ask).is_subset(&split.columns) {
        ask.root = table;
        return true;
    }
    if !may_be_twin(ask, catalog) || !key_columns(ask).is_subset(&split.keys) {
        return false;
    }
    let outputs = ask.outputs.extract_if(.., |one| is_large(one)).collect();
    let twin = Twin {
        table,
        outputs,
        large: split.large.clone(),
    };
    let required = own_required(ask, catalog).into_iter().flatten();
    ask.filters.extend(required.map(Filter::exists));
    ask.filters.sort();
    ask.required.clear();
    let is_held = are_filters_held(ask, &twin);
    ask.twin = Some(twin);
    ask.note(
        "each row has two items under the same index key: one with its large columns and one with the others. The application joins them by the row's key; a limit counts both items",
    );
    is_held
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
        let read = "-- bySlug (9000/s)\nSELECT * FROM docs WHERE slug = :slug;";
        let (text, ..) = proposed(read);
        assert!(!text.contains("items: [DOCS, DOCS_BODY]"), "{text}");
    }
}
