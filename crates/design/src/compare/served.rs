//! Which statements are reads, and which of them an access pattern serves.

use std::collections::BTreeSet;

use dynafold_dynamodb::{Index, Projection};
use dynafold_format::has_word;
use dynafold_mapping::model::{AccessPattern, AttributeNode, ItemType};
use dynafold_relational::catalog::{Catalog, Dbms, Table, TableKind, TableName};
use dynafold_relational::scan::{Scan, ScanColumn};
use dynafold_sql::{
    Lists, ReadTable, Select, SelectOutput, SqlQuery, UnreadableSql, parametrized, table,
};

use super::Priced;
use crate::ask::{Ask, as_said, ask, is_one_row, unknown_column};
use crate::counted::without_prefix;
use crate::path::Path;
use crate::seconds::normalized_sql;
use crate::workload::Statement;

/// Reads a query, also one with parameters as drivers write them: `$1`, `?`.
fn query(sql: &str, dbms: Dbms) -> Result<SqlQuery, UnreadableSql> {
    match SqlQuery::read(sql, Some(dbms)) {
        Err(UnreadableSql::Parameter(_)) => {
            let named = parametrized(sql, dbms, Lists::Kept)?;
            SqlQuery::read(&named.sql, Some(dbms))
        }
        read => read,
    }
}

/// Why a statement that is not read as a write is no read either; `None` of a read, also of one that is not understood.
pub(super) fn not_read(sql: &str, dbms: Dbms) -> Option<String> {
    let error = query(sql, dbms).err()?;
    let sql = without_prefix(sql).to_lowercase();
    let words = sql.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let first = words.first().copied().unwrap_or_default();
    // FOR UPDATE and FOR NO KEY UPDATE lock what a query reads.
    let is_write = |pair: &[&str]| match pair {
        [_, "insert" | "delete" | "merge"] => true,
        [before, "update"] => !["for", "key"].contains(before),
        _ => false,
    };
    let is_no_read = matches!(error, UnreadableSql::Writes(_))
        || first == "with" && words.windows(2).any(is_write)
        || !["select", "with", "values", "table"].contains(&first);
    is_no_read.then(|| match error {
        UnreadableSql::NoQuery => {
            "it is neither a query nor an INSERT, UPDATE or DELETE of one table".to_owned()
        }
        UnreadableSql::Writes(what) => format!("it has {what} within a query"),
        error => format!("its SQL {error}"),
    })
}

/// The tables of a FROM; `None` of what is no table of the schema.
fn in_from<'c>(select: &Select, catalog: &'c Catalog) -> impl Iterator<Item = Option<&'c Table>> {
    (0..select.relations.len()).map(move |at| select.table(at, catalog))
}

/// A column, with its table.
type Place<'p> = (&'p TableName, &'p str);

/// What the values of items are from.
#[derive(Default)]
struct MadeOf<'s> {
    columns: Vec<Place<'s>>,
    /// The tables of children.
    children: Vec<&'s TableName>,
}

/// A column of a scan's rows, with those that its joins hold equal to it.
fn equal_columns(scan: &Scan, at: usize) -> Vec<Place<'_>> {
    let Some(ScanColumn::Column { join, name, .. }) = scan.columns.get(at) else {
        return Vec::new();
    };
    let mut equal = vec![(*join, name.as_str())];
    let mut next = 0;
    while let Some(&(place, name)) = equal.get(next) {
        let joins = scan.joins.iter().enumerate();
        let pairs = joins.flat_map(|(at, join)| join.on.iter().map(move |one| (Some(at), one)));
        for (at, one) in pairs {
            let (ours, theirs) = ((one.join, one.ours.as_str()), (at, one.theirs.as_str()));
            let other = match (place, name) {
                it if it == ours => theirs,
                it if it == theirs => ours,
                _ => continue,
            };
            if !equal.contains(&other) {
                equal.push(other);
            }
        }
        next += 1;
    }
    let table = |place: Option<usize>| match place {
        Some(at) => scan.joins.get(at).map(|join| &join.table),
        None => scan.from.table(),
    };
    let places = equal.into_iter();
    places
        .filter_map(|(at, name)| Some((table(at)?, name)))
        .collect()
}

/// The table and the column that a path ends at.
fn place<'p>(root: &'p Table, path: &'p Path) -> Place<'p> {
    let step = path.steps.last();
    let table = step.map_or(&root.name, |step| &step.table);
    (table, path.column.as_str())
}

/// Whether a path ends at no more than a key that stands in the row itself.
fn is_own(path: &Path) -> bool {
    path.clone().shortened().steps.is_empty()
}

/// The paths by which a read finds rows and leaves them out.
fn conditions<'a>(ask: &'a Ask<'_>) -> impl Iterator<Item = &'a Path> {
    let equal = ask.equal.iter().map(|equal| &equal.path);
    let range = ask.range.iter().map(|range| &range.path);
    let when = ask.when.iter().filter_map(|when| when.filter.as_ref());
    let filters = ask.filters.iter().chain(when).map(|filter| &filter.path);
    equal.chain(range).chain(filters)
}

/// The columns that a read compares, and with `selects` those that it selects.
fn columns(ask: &Ask<'_>, selects: bool) -> BTreeSet<(TableName, String)> {
    let outputs = ask.outputs.iter().filter(|_| selects);
    let paths = conditions(ask).chain(outputs.map(|(path, _)| path));
    let paths = paths.flat_map(|path| [path.clone(), path.clone().shortened()]);
    let places = paths.map(|path| {
        let (table, column) = place(ask.root, &path);
        (table.clone(), column.to_owned())
    });
    places.chain(ask.clauses.compared.iter().cloned()).collect()
}

/// What tells the SQL of an access pattern from a read of the same table: a condition that it does not have, of a column that it does
/// not select either or after a LIMIT; or one that the read does not have.
fn other_conditions(own: &[Ask<'_>], asked: &[Ask<'_>]) -> Option<String> {
    let root = &asked.first()?.root.name;
    if own.iter().chain(asked).any(|ask| ask.root.name != *root) {
        return None;
    }
    let is_cut = |ask: &Ask<'_>| ask.limit.is_some() && !is_one_row(ask);
    let selects = !own.iter().any(is_cut);
    let known = own.iter().flat_map(|ask| columns(ask, selects));
    // `max(column)` asks for a value, as the order does.
    let sorted = own.iter().flat_map(|ask| &ask.clauses.sorted).cloned();
    let known: BTreeSet<_> = known.chain(sorted).collect();
    let given: BTreeSet<_> = asked.iter().flat_map(|ask| columns(ask, false)).collect();
    let mut compared = given.iter().filter(|(table, _)| table == root);
    if let Some((table, column)) = compared.find(|column| !known.contains(*column)) {
        let name = &table.name;
        return Some(sql_lacks(&format!("compare {name}.{column}")));
    }
    let is_given = |path: &Path, ask: &Ask<'_>| {
        let short = path.clone().shortened();
        let mut places = [place(ask.root, path), place(ask.root, &short)].into_iter();
        places.any(|(table, column)| given.contains(&(table.clone(), column.to_owned())))
    };
    let missing = |ask: &Ask<'_>| {
        let equal = ask.equal.iter().map(|equal| &equal.path);
        let when = ask.when.iter().filter_map(|when| when.filter.as_ref());
        let mut paths = equal.chain(when.map(|filter| &filter.path));
        let path = paths.find(|path| !is_given(path, ask))?;
        let (table, column) = place(ask.root, path);
        Some(format!(
            "the SQL of its access pattern asks for {}.{column}, which it does not compare",
            table.name
        ))
    };
    let missing: Option<Vec<String>> = own.iter().map(missing).collect();
    missing?.into_iter().next()
}

/// The paths to the values that a read selects, or by which it finds, leaves out and sorts rows.
fn paths<'a>(asks: &'a [Ask<'_>]) -> impl Iterator<Item = &'a Path> {
    asks.iter().flat_map(|ask| {
        let outputs = ask.outputs.iter().map(|(path, _)| path);
        outputs.chain(ask.compared())
    })
}

/// The parents of which a read needs more than their keys.
fn parents<'a>(asks: &'a [Ask<'_>]) -> impl Iterator<Item = &'a TableName> {
    let paths = paths(asks).filter(|path| !is_own(path));
    let conditions = asks.iter().flat_map(|ask| &ask.when);
    let conditions = conditions.filter(|when| {
        let filter = when.filter.as_ref();
        filter.is_none_or(|filter| !is_own(&filter.path))
    });
    let ways = conditions.flat_map(|when| &when.parents);
    let steps = paths.map(|path| &path.steps).chain(ways);
    steps.filter_map(|steps| Some(&steps.last()?.table))
}

impl<'d> Priced<'d> {
    /// What an item type's own values are from, as far as the table, or an index, holds them: others may share its scan.
    fn made_of<'s>(&self, item: &ItemType, scan: &'s Scan, index: Option<&Index>) -> MadeOf<'s> {
        let mut made = MadeOf::default();
        let is_whole = index.is_none_or(|index| index.projection == Projection::All);
        let attributes = item.attributes.iter();
        let attributes = attributes.filter(|(name, _)| self.holds(index, name));
        let mut places: Vec<usize> = Vec::new();
        for (_, node) in attributes {
            places.extend(node.places().into_iter().map(|place| place.column));
            node.visit(&mut |node| {
                if let AttributeNode::Embed(embed) = node
                    && let Some(ScanColumn::Embed(embed)) = scan.columns.get(embed.column)
                {
                    made.children.extend(embed.rows.tables());
                }
            });
        }
        let spreads = item.spreads.iter().filter(|_| is_whole);
        let arrays = item.explodes.iter().map(|explode| &explode.array);
        places.extend(spreads.chain(arrays).map(|place| place.column));
        let columns = places.into_iter().flat_map(|at| equal_columns(scan, at));
        made.columns = columns.collect();
        made
    }

    /// A column that a read needs and the items of an access pattern do not hold, or its index does not; `None` where one way to read
    /// it does without. Which rows are there a condition of the mapping may decide instead.
    fn not_held(
        &self,
        pattern: &AccessPattern,
        asked: &[Ask<'_>],
        select: Option<&Select>,
    ) -> Option<String> {
        self.of_items(pattern)?;
        let index = self.index(pattern.index.as_deref());
        let index = index.filter(|_| !pattern.fetch);
        let items = self.answered(pattern);
        let items = items.map(|item| Some((item, self.scan(item)?)));
        let items: Vec<(&ItemType, &Scan)> = items.collect::<Option<_>>()?;
        let is_query = |scan: &Scan| {
            let mut embeds = scan.embeds();
            scan.from.sql().is_some() || embeds.any(|(_, embed)| embed.rows.from.sql().is_some())
        };
        if items.iter().any(|(_, scan)| is_query(scan)) {
            return None;
        }
        let made = items.iter();
        let made = made.map(|(item, scan)| self.made_of(item, scan, index));
        let made: Vec<MadeOf<'_>> = made.collect();
        let is_held = |root: &Table, path: &Path| {
            let short = path.clone().shortened();
            let mut places = [place(root, path), place(root, &short)].into_iter();
            places.any(|at| {
                let mut made = made.iter();
                made.any(|one| one.columns.contains(&at) || one.children.contains(&at.0))
            })
        };
        let decides = |path: &Path| {
            let mut sql = items.iter().flat_map(|(_, scan)| scan.foreign_sql());
            sql.any(|sql| has_word(sql, &path.column))
        };
        // A read has its key among its outputs in any case.
        let is_selected = |root: &Table, path: &Path| {
            let is_key = path.steps.is_empty() && root.row_key().contains(&path.column);
            let has = |output: &SelectOutput| match output {
                SelectOutput::One { value, .. } => {
                    let columns = value.columns();
                    columns.iter().any(|one| one.name.is(&path.column))
                }
                SelectOutput::All | SelectOutput::AllOf(_) => true,
            };
            !is_key || select.is_none_or(|select| select.outputs.iter().any(has))
        };
        let lacked = |ask: &Ask<'_>| {
            let name = |root: &Table, path: &Path| {
                let (table, column) = place(root, path);
                format!("{}.{column}", table.name)
            };
            for (root, outputs) in ask.types() {
                let mut paths = outputs.iter().map(|(path, _)| path);
                let path = paths.find(|path| is_selected(root, path) && !is_held(root, path));
                if let Some(path) = path {
                    return Some(name(root, path));
                }
            }
            let order = ask.order.iter().filter(|_| !is_one_row(ask));
            let mut order = order.map(|(path, _)| path);
            if let Some(path) = order.find(|path| !is_held(ask.root, path)) {
                return Some(name(ask.root, path));
            }
            let own = ask.clauses.compared.iter();
            let own = own.filter(|(table, _)| *table == ask.root.name);
            let own = own.map(|(_, column)| Path::own(column));
            let mut compared = conditions(ask).cloned().chain(own);
            let path = compared.find(|path| !is_held(ask.root, path) && !decides(path))?;
            Some(name(ask.root, &path))
        };
        let lacked: Option<Vec<String>> = asked.iter().map(lacked).collect();
        let column = lacked?.into_iter().next()?;
        Some(match index {
            Some(index) => format!("the index {} does not hold {column}", index.name),
            None => format!("its items do not hold {column}"),
        })
    }

    /// The tables that the items of an access pattern are made of; in a mapping's own SQL, those that it names. `None` where one is
    /// a view, which may read any.
    fn of_items(&self, pattern: &AccessPattern) -> Option<Vec<&'d TableName>> {
        let items = self.answered(pattern);
        let scans = items.filter_map(|item| Some((item, self.scan(item)?)));
        let tables = scans.flat_map(|(item, scan)| {
            let sql = scan.foreign_sql();
            let own: Vec<&TableName> = if sql.is_empty() {
                let made = self.made_of(item, scan, None);
                let tables = made.columns.iter().map(|(table, _)| *table);
                let tables = tables.chain(made.children);
                scan.from.table().into_iter().chain(tables).collect()
            } else {
                // A condition may use any join.
                scan.tables()
            };
            let named = self.facts.catalog.tables.iter().map(|table| &table.name);
            let named = named.filter(move |name| sql.iter().any(|sql| has_word(sql, &name.name)));
            own.into_iter().chain(named)
        });
        let is_stored = |name: &&TableName| {
            let table = self.facts.catalog.table(name);
            !table.is_some_and(|table| {
                matches!(table.kind, TableKind::View | TableKind::MaterializedView)
            })
        };
        tables.map(|name| Some(name).filter(is_stored)).collect()
    }

    /// Whether the SQL of an access pattern, or without it its items, and a statement have no table in common, and so nothing but
    /// their name. SQL that is not understood may read any.
    pub(super) fn asks_other_tables(&self, pattern: &AccessPattern, statement: &Statement) -> bool {
        let catalog = self.facts.catalog;
        let tables = |sql: &str| {
            let query = query(sql, catalog.dbms).ok()?;
            let select = query.select()?;
            // Without a FROM, those of the queries within it.
            let within = query.tables.iter().filter(|_| select.relations.is_empty());
            let within = within.map(|read| table(catalog, read.schema.as_ref(), &read.name));
            let tables = in_from(select, catalog).chain(within);
            let names = tables.map(|table| table.map(|table| &table.name));
            names.collect::<Option<Vec<&TableName>>>()
        };
        let own = pattern.sql.as_deref();
        let own = own.map_or_else(|| self.of_items(pattern), tables);
        own.zip(tables(&statement.sql))
            .is_some_and(|(own, asked)| !own.iter().any(|one| asked.contains(one)))
    }

    /// A table that a statement reads, and the SQL of an access pattern does not, or without it no item: one of a query within the
    /// statement, or any if the statement is not understood.
    fn table_not_read(
        &self,
        pattern: &AccessPattern,
        asked: &SqlQuery,
        is_understood: bool,
    ) -> Option<TableName> {
        let catalog = self.facts.catalog;
        let name = |read: &ReadTable| {
            let found = table(catalog, read.schema.as_ref(), &read.name);
            let unknown = || TableName {
                schema: String::new(),
                name: read.name.text.clone(),
            };
            found.map_or_else(unknown, |found| found.name.clone())
        };
        let own = pattern.sql.as_deref();
        let own = own.map(|sql| (sql, query(sql, catalog.dbms).ok()));
        let of_items = self.of_items(pattern);
        let select = asked.select().filter(|_| is_understood);
        let is_in_from = |wanted: &TableName| {
            let mut tables = select.into_iter().flat_map(|one| in_from(one, catalog));
            tables.any(|table| table.is_some_and(|table| table.name == *wanted))
        };
        let is_read = |wanted: &TableName| match &own {
            Some((_, Some(query))) => query.tables.iter().any(|read| name(read) == *wanted),
            // SQL that is not understood may read each table that it names.
            Some((sql, None)) => has_word(sql, &wanted.name),
            None => of_items.as_ref().is_none_or(|own| own.contains(&wanted)),
        };
        let mut tables = asked.tables.iter().map(name);
        tables.find(|table| !is_in_from(table) && !is_read(table))
    }

    /// Why an access pattern does not serve a statement: that cannot be read and is not its SQL, or names a column that no table has, or
    /// its SQL reads less or other rows, or its items or its index do not hold what the statement needs.
    pub(super) fn lacks(&self, pattern: &AccessPattern, statement: &Statement) -> Option<String> {
        let (catalog, observed) = (self.facts.catalog, self.facts.observed);
        let own = pattern.sql.as_deref();
        let sql = normalized_sql(&statement.sql);
        let is_same = own.is_some_and(|own| normalized_sql(own) == sql);
        let query = match query(&statement.sql, catalog.dbms) {
            Ok(query) => query,
            Err(error) => return (!is_same).then(|| format!("its SQL {error}")),
        };
        let asked = ask(&statement.sql, catalog, observed);
        if let Some(table) = self.table_not_read(pattern, &query, asked.is_ok()) {
            return Some(match own {
                Some(_) => sql_lacks(&format!("read {}", table.name)),
                None => without_sql(&table),
            });
        }
        let Ok(mut asked) = asked else {
            let why = unknown_column(&statement.sql, catalog, observed)?;
            return (!is_same).then(|| format!("it {why}"));
        };
        let select = query.select();
        let relations = select.map_or(0, |select| select.relations.len());
        if query.tables.len() > relations {
            // Its conditions have columns of the queries within it too.
            for ask in &mut asked {
                ask.clauses.compared.clear();
            }
        }
        let lacked = match own {
            None => self.table_lacked(pattern, &asked),
            Some(_) if is_same => None,
            Some(own) => {
                let own = as_said(own, catalog, observed);
                own.ok().and_then(|own| lacked_by_sql(&own, &asked))
            }
        };
        lacked.or_else(|| self.not_held(pattern, &asked, select))
    }

    /// That an access pattern without SQL has no items of a table that a read needs.
    fn table_lacked(&self, pattern: &AccessPattern, asked: &[Ask<'_>]) -> Option<String> {
        let of_items = self.of_items(pattern)?;
        let children = asked.iter().flat_map(|ask| &ask.children);
        let children = children.map(|child| &child.table.name);
        let mut read = children.chain(parents(asked));
        let table = read.find(|table| !of_items.contains(table))?;
        Some(without_sql(table))
    }
}

fn sql_lacks(what: &str) -> String {
    format!("the SQL of its access pattern does not {what}")
}

fn without_sql(table: &TableName) -> String {
    format!("its access pattern has no SQL that reads {}", table.name)
}

/// What the SQL of an access pattern, `own`, lacks for a read.
fn lacked_by_sql(own: &[Ask<'_>], asked: &[Ask<'_>]) -> Option<String> {
    let has = |table: &Table| {
        let mut types = own.iter().flat_map(Ask::types);
        types.any(|(known, _)| known.name == table.name)
    };
    let mut children = asked.iter().flat_map(|ask| &ask.children);
    if let Some(child) = children.find(|child| !has(child.table)) {
        return Some(sql_lacks(&format!("read {}", child.table.name.name)));
    }
    let others = other_conditions(own, asked);
    let is_list = |ask: &Ask<'_>| !ask.children.is_empty() || ask.computes;
    if others.is_some() || own.iter().chain(asked).any(is_list) {
        return others;
    }
    // A reference stands for the parent's key.
    let end = |path: &Path| {
        let short = path.clone().shortened();
        (short.steps.last().cloned(), short.column)
    };
    let is_lacked = |path: &Path| !is_own(path) && !paths(own).any(|known| end(known) == end(path));
    if let Some(path) = paths(asked).find(|path| is_lacked(path))
        && let Some(parent) = path.steps.last()
    {
        let column = &path.column;
        return Some(sql_lacks(&format!("select {}.{column}", parent.table.name)));
    }
    let mut conditions = parents(asked);
    let parent = conditions.find(|parent| !parents(own).any(|own| own == *parent))?;
    Some(sql_lacks(&format!("read {}", parent.name)))
}
