//! Which statements are reads, and which of them an access pattern serves.

use dynafold_format::has_word;
use dynafold_mapping::model::{AccessPattern, ItemType};
use dynafold_relational::catalog::{Catalog, Dbms, Table, TableKind, TableName};
use dynafold_relational::scan::{Scan, ScanColumn};
use dynafold_sql::{Lists, ReadTable, Select, SqlQuery, UnreadableSql, parametrized, table};

use super::Priced;
use crate::ask::{Ask, as_said, ask};
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

/// The tables that an item type's own values are from: others may share its scan.
fn made_of<'s>(item: &ItemType, scan: &'s Scan) -> Vec<&'s TableName> {
    let places = item.attributes.iter().flat_map(|(_, node)| node.places());
    let columns = places.map(|place| place.column).chain(item.embeds());
    let tables = columns.flat_map(|at| match scan.columns.get(at) {
        Some(ScanColumn::Column { join: Some(at), .. }) => scan
            .joins
            .get(*at)
            .map(|join| &join.table)
            .into_iter()
            .collect(),
        Some(ScanColumn::Embed(embed)) => embed.rows.tables(),
        _ => Vec::new(),
    });
    scan.from.table().into_iter().chain(tables).collect()
}

/// The paths to the values that a read selects, filters by or sorts by.
fn paths<'a>(asks: &'a [Ask<'_>]) -> impl Iterator<Item = &'a Path> {
    asks.iter().flat_map(|ask| {
        let filters = ask.filters.iter().map(|filter| &filter.path);
        let order = ask.order.iter().map(|(path, _)| path);
        let outputs = ask.outputs.iter().map(|(path, _)| path);
        outputs.chain(filters).chain(order)
    })
}

/// The parents of which a read needs more than their keys.
fn parents<'a>(asks: &'a [Ask<'_>]) -> impl Iterator<Item = &'a TableName> {
    let paths = paths(asks).filter(|path| !(*path).clone().shortened().steps.is_empty());
    let conditions = asks.iter().flat_map(|ask| &ask.when);
    let ways = conditions.flat_map(|when| &when.parents);
    let steps = paths.map(|path| &path.steps).chain(ways);
    steps.filter_map(|steps| Some(&steps.last()?.table))
}

impl<'d> Priced<'d> {
    /// The tables that the items of an access pattern are made of; in a mapping's own SQL, those that it names. `None` where one is
    /// a view, which may read any.
    fn of_items(&self, pattern: &AccessPattern) -> Option<Vec<&'d TableName>> {
        let items = self.answered(pattern);
        let scans = items.filter_map(|item| Some((item, self.scan(item)?)));
        let tables = scans.flat_map(|(item, scan)| {
            let sql = scan.foreign_sql();
            let own = match &*sql {
                [] => made_of(item, scan),
                // A condition may use any join.
                _ => scan.tables(),
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

    /// Why an access pattern does not serve a statement: that cannot be read and is not its SQL, or its SQL does not read the children or
    /// the table of a query within the statement, or does not select a column of a parent.
    pub(super) fn lacks(&self, pattern: &AccessPattern, statement: &Statement) -> Option<String> {
        let (catalog, observed) = (self.facts.catalog, self.facts.observed);
        let own = pattern.sql.as_deref();
        let query = match query(&statement.sql, catalog.dbms) {
            Ok(query) => query,
            Err(error) => {
                let sql = normalized_sql(&statement.sql);
                let is_same = own.is_some_and(|own| normalized_sql(own) == sql);
                return (!is_same).then(|| format!("its SQL {error}"));
            }
        };
        let own = own.and_then(|sql| as_said(sql, catalog, observed).ok());
        let asked = ask(&statement.sql, catalog, observed);
        let lacks = |what: &str| format!("the SQL of its access pattern does not {what}");
        let without =
            |table: &TableName| format!("its access pattern has no SQL that reads {}", table.name);
        if let Some(table) = self.table_not_read(pattern, &query, asked.is_ok()) {
            let with = |_: &str| lacks(&format!("read {}", table.name));
            return Some(pattern.sql.as_deref().map_or_else(|| without(&table), with));
        }
        let asked = asked.ok()?;
        if pattern.sql.is_none() {
            let of_items = self.of_items(pattern)?;
            let children = asked.iter().flat_map(|ask| &ask.children);
            let children = children.map(|child| &child.table.name);
            let mut read = children.chain(parents(&asked));
            let table = read.find(|table| !of_items.contains(table))?;
            return Some(without(table));
        }
        let own = own?;
        let has = |table: &Table| {
            let mut types = own.iter().flat_map(Ask::types);
            types.any(|(known, _)| known.name == table.name)
        };
        let mut children = asked.iter().flat_map(|ask| &ask.children);
        if let Some(child) = children.find(|child| !has(child.table)) {
            return Some(lacks(&format!("read {}", child.table.name.name)));
        }
        let is_list = |ask: &Ask<'_>| !ask.children.is_empty() || ask.computes;
        if own.iter().chain(&asked).any(is_list) {
            return None;
        }
        // A reference stands for the parent's key.
        let is_lacked = |path: &Path| {
            let end = |path: &Path| (path.steps.last().cloned(), path.column.clone());
            !path.clone().shortened().steps.is_empty()
                && !paths(&own).any(|known| end(known) == end(path))
        };
        if let Some(path) = paths(&asked).find(|path| is_lacked(path))
            && let Some(parent) = path.steps.last()
        {
            return Some(lacks(&format!(
                "select {}.{}",
                parent.table.name, path.column
            )));
        }
        let mut conditions = parents(&asked);
        let parent = conditions.find(|parent| !parents(&own).any(|own| own == *parent))?;
        Some(lacks(&format!("read {}", parent.name)))
    }
}
