//! Which statements are reads, and which of them an access pattern serves.

use std::collections::BTreeSet;

use dynafold_format::{each_once, has_word, joined, whole};
use dynafold_mapping::model::AccessPattern;
use dynafold_relational::catalog::{Dbms, Table, TableKind, TableName};
use dynafold_sql::{
    Comparator, Condition, Lists, ReadTable, Select, SelectOutput, SqlQuery, UnreadableSql,
    identifier, parametrized, table, table_reference,
};

use super::Priced;
use super::conditions::{
    By, ColumnTest, LEFT_OUT, Taken, UNKNOWN_FILTER, named, place, tells_parent,
};
use super::made::MadeOf;
use super::read::{Read, Way, query};
use super::rows::ItemRows;
use crate::ask::{Ask, ChildAsk, Test, as_said, ask, figure_query, is_one_row, unknown_column};
use crate::counted::without_prefix;
use crate::existing::Existing;
use crate::facts::Facts;
use crate::path::Path;
use crate::seconds::{is_sql_of, normalized_sql};
use crate::workload::Statement;

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

/// The first lack; `None` if one way to serve a read lacks nothing.
fn unless_one_serves(lacks: impl Iterator<Item = Option<String>>) -> Option<String> {
    let all: Option<Vec<String>> = lacks.collect();
    all?.into_iter().next()
}

impl<'d> Priced<'d> {
    /// Why an access pattern does not serve a statement. One for the statement's own SQL does. Any other does not if the statement cannot
    /// be read, or names a column that no table has; if the SQL, or without it the key, the filter and the `limit`, take less or other
    /// rows, or are not understood; or if the items or their index do not hold what the statement needs.
    pub(super) fn lacks(&self, pattern: &AccessPattern, statement: &Statement) -> Option<String> {
        let Facts { catalog, observed } = self.facts;
        if self.has_sql_of(pattern, statement) {
            return None;
        }
        let query = match query(&statement.sql, catalog.dbms) {
            Ok(query) => query,
            Err(error) => return Some(format!("its SQL {error}")),
        };
        let asked = ask(&statement.sql, catalog, observed);
        let table = self.table_lacked(pattern, &query, asked.as_deref().ok());
        let Ok(asked) = asked else {
            let unknown = || unknown_column(&statement.sql, catalog, observed);
            return table
                .or_else(|| Some(format!("it {}", unknown()?)))
                .or_else(|| {
                    let mut selects = query.selects.iter();
                    selects.find_map(|select| match self.wider(&query, select) {
                        Some(sql) => {
                            let name = statement.name.clone();
                            let wider = Statement {
                                name,
                                sql,
                                ..Statement::default()
                            };
                            self.lacks(pattern, &wider)
                        }
                        None => self.key_lacked(pattern, select),
                    })
                });
        };
        // Literals of a statement without parameters are examples.
        let are_meant = !query.sql.parameters().is_empty();
        let meant = as_said(&statement.sql, catalog, observed, true).unwrap_or_default();
        let relations = query.select().map_or(0, |select| select.relations.len());
        let [asked, meant] = [asked, meant].map(|mut asks| {
            if query.tables.len() > relations {
                // Its conditions have columns of the queries within it too.
                let clauses = asks.iter_mut().map(|ask| &mut ask.clauses);
                clauses.for_each(|clauses| clauses.compared.clear());
            }
            asks
        });
        if table.is_some() {
            return table;
        }
        if are_meant {
            return self.lacks_for(pattern, &Read::new(query, asked, meant));
        }
        let lacks = |asks: Vec<Ask<'d>>| {
            let read = Read::new(query.clone(), asks, Vec::new());
            self.lacks_for(pattern, &read)
        };
        let lacked = lacks(asked)?;
        let is_meant = !meant.is_empty() && lacks(meant).is_none();
        is_meant.then(|| EXAMPLES.to_owned()).or(Some(lacked))
    }

    /// A read of all rows, with all columns that it names, that a SELECT of a statement which is not understood may take of one table: by
    /// those of its conditions that are understood. `None` where the statement reads anything else.
    fn wider(&self, query: &SqlQuery, select: &Select) -> Option<String> {
        let Facts { catalog, observed } = self.facts;
        let [relation] = select.relations.as_slice() else {
            return None;
        };
        if query.tables.len() != query.selects.len() {
            return None;
        }
        let read = select.table(0, catalog)?;
        let table = table_reference(catalog, &read.name);
        let called = identifier(&relation.called.as_ref()?.text, catalog.dbms);
        let outputs = select.outputs.iter().flat_map(|output| match output {
            SelectOutput::One { value, .. } => value.columns(),
            SelectOutput::All | SelectOutput::AllOf(_) => &[],
        });
        let has_all = |output: &SelectOutput| !matches!(output, SelectOutput::One { .. });
        let compared = select.conditions.iter().filter_map(Condition::columns);
        let sorted = query.order.iter().flatten();
        let sorted = sorted.flat_map(|key| key.column.iter().chain(&key.columns));
        let merged = select.merged_by.iter().chain(sorted);
        // The others are names of the result's.
        let merged = merged.filter(|one| read.columns.iter().any(|own| one.name.is(&own.name)));
        let named = outputs.chain(compared.flatten()).chain(merged);
        let named = named.map(|column| identifier(&column.name.text, catalog.dbms));
        let every = select.outputs.iter().any(has_all).then(|| "*".to_owned());
        let columns = joined(each_once(named).into_iter().chain(every), ", ");
        let mut wider = Err(format!("SELECT {columns} FROM {table} AS {called} WHERE "));
        for condition in &select.conditions {
            let sql = match &wider {
                Err(begin) => format!("{begin}{}", condition.text),
                Ok(sql) => format!("{sql} AND {}", condition.text),
            };
            if ask(&sql, catalog, observed).is_ok() {
                wider = Ok(sql);
            } else if condition.found_by().is_some() {
                // A key may find rows by it all the same.
                return None;
            }
        }
        wider.ok()
    }

    /// That a SELECT of a statement which is not understood reads one table without a value for a column of which a key asks for one.
    fn key_lacked(&self, pattern: &AccessPattern, select: &Select) -> Option<String> {
        let catalog = self.facts.catalog;
        let table = select.table(0, catalog)?;
        if select.relations.len() > 1 {
            return None;
        }
        // What a function makes of a column is a value of a key alone that loses something too.
        let given = select.conditions.iter().filter_map(|condition| {
            let (_, _, column) = select.origin(condition.found_by()?, catalog)?;
            let mut sides = condition.operands().into_iter();
            let is_plain = sides.any(|side| side.column().is_some());
            Some((column.name.as_str(), is_plain))
        });
        let given: Vec<(&str, bool)> = given.collect();
        let is_missing = |test: &&ColumnTest<'_>| {
            let is_one = matches!(test.test, Test::Compare(Comparator::Equal, _));
            let column = test.path.column.as_str();
            let mut given = given.iter();
            test.by == By::Key
                && is_one
                && test.path.steps.is_empty()
                && !given.any(|(name, is_plain)| *name == column && (*is_plain || test.folds))
        };
        let rows = self.rows_of(pattern, table);
        let own = rows.iter().filter(|one| one.of.is_of(table));
        unless_one_serves(own.map(|one| {
            let mut tests = one.asked.tests.iter();
            Some(tests.find(is_missing)?.lacked(table))
        }))
    }

    /// Why an access pattern does not serve a read of the same tables.
    fn lacks_for(&self, pattern: &AccessPattern, read: &Read<'d>) -> Option<String> {
        let own = match pattern.sql.as_deref().map(|sql| self.own_read(sql)) {
            Some(Err(why)) => return Some(why),
            own => own.and_then(Result::ok),
        };
        let root = read.ways.first().map(|way| way.ask.root);
        let rows = root.map(|root| self.rows_of(pattern, root));
        let rows = rows.unwrap_or_default();
        let other_rows = match &own {
            Some(own) => lacked_by_sql(self.facts, own, read),
            None => self.not_asked(pattern, &rows, read),
        };
        other_rows
            .or_else(|| self.cut_off(pattern, own.as_ref(), &rows, read))
            .or_else(|| self.not_held(pattern, &rows, read))
            .or_else(|| self.left_out(&rows, read, own.is_some()))
    }

    /// The SQL of an access pattern that is not the statement's own; fails if it is not understood.
    fn own_read(&self, sql: &str) -> Result<Read<'d>, String> {
        let Facts { catalog, observed } = self.facts;
        let of = |why: &str| format!("the SQL of its access pattern, which is not its own, {why}");
        let asks = as_said(sql, catalog, observed, true).map_err(|unserved| of(&unserved.why))?;
        let said = parametrized(sql, catalog.dbms, Lists::Said);
        let query = said.and_then(|said| query(&said.sql, catalog.dbms));
        let query = query.map_err(|error| of(&error.to_string()))?;
        Ok(Read::new(query, asks, Vec::new()))
    }

    /// Whether an access pattern is for a statement's own SQL, or for that by which `design` serves it.
    fn has_sql_of(&self, pattern: &AccessPattern, statement: &Statement) -> bool {
        let (catalog, observed) = (self.facts.catalog, self.facts.observed);
        pattern.sql.as_deref().is_some_and(|own| {
            let asks = ask(&statement.sql, catalog, observed).unwrap_or_default();
            let figures = figure_query(&statement.sql, catalog, observed);
            let mut figures = figures.iter().flat_map(|query| &query.answer);
            is_sql_of(own, statement, catalog.dbms, &asks)
                || figures.any(|sql| normalized_sql(sql) == normalized_sql(own))
        })
    }

    /// A table, however a statement names it.
    fn name_of(&self, read: &ReadTable) -> TableName {
        let found = table(self.facts.catalog, read.schema.as_ref(), &read.name);
        let unknown = || TableName {
            schema: String::new(),
            name: read.name.text.clone(),
        };
        found.map_or_else(unknown, |found| found.name.clone())
    }

    /// The tables that an access pattern reads: those of its SQL, where that is not understood each that it names, and without SQL
    /// those of its items. `None` where it may read any.
    fn tables_of(&self, pattern: &AccessPattern) -> Option<Vec<TableName>> {
        let catalog = self.facts.catalog;
        let Some(sql) = pattern.sql.as_deref() else {
            return Some(self.of_items(pattern)?.into_iter().cloned().collect());
        };
        Some(match query(sql, catalog.dbms) {
            Ok(query) => query.tables.iter().map(|read| self.name_of(read)).collect(),
            Err(_) => {
                let names = catalog.tables.iter().map(|table| &table.name);
                let named = names.filter(|name| has_word(sql, &name.name));
                named.cloned().collect()
            }
        })
    }

    /// The tables that the items of an access pattern are made of; in a mapping's own SQL, those that it names. `None` where one is
    /// a view, which may read any.
    fn of_items(&self, pattern: &AccessPattern) -> Option<Vec<&'d TableName>> {
        let tables = self.answered(pattern).flat_map(|one| {
            let scan = one.scan;
            let sql = scan.foreign_sql();
            let own: Vec<&TableName> = if sql.is_empty() {
                let made = self.made_of(one, None);
                scan.from.table().into_iter().chain(made.tables()).collect()
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

    /// A table that a statement reads and an access pattern does not: all of a FROM, one of a query within it, or one of which the
    /// statement needs rows. Without SQL, each parent of which it needs more than the key; `asked`: the statement, if it is understood.
    fn table_lacked(
        &self,
        pattern: &AccessPattern,
        query: &SqlQuery,
        asked: Option<&[Ask<'_>]>,
    ) -> Option<String> {
        let own = self.tables_of(pattern)?;
        let has_sql = pattern.sql.is_some();
        let is_lacked = |name: &TableName| !own.contains(name);
        let select = query.select();
        let relations = select.map_or(0, |select| select.relations.len());
        let from = (0..relations).map(|at| Some(&select?.table(at, self.facts.catalog)?.name));
        let all: Vec<TableName> = query.tables.iter().map(|read| self.name_of(read)).collect();
        // Without a FROM, those of the queries within it.
        let main: Option<Vec<&TableName>> = match (select, relations) {
            (None, _) => None,
            (Some(_), 0) => Some(all.iter().collect()),
            _ => from.clone().collect(),
        };
        if main.is_some_and(|main| main.into_iter().all(is_lacked)) {
            return Some("the access pattern of its name reads other tables".to_owned());
        }
        let from: Vec<&TableName> = from.flatten().filter(|_| asked.is_some()).collect();
        let within = all.iter().filter(|name| !from.contains(name));
        let asks = asked.unwrap_or_default();
        let children = asks.iter().flat_map(|ask| &ask.children);
        let children = children.map(|child| &child.table.name);
        let parents = parents(asks.iter()).filter(|_| !has_sql);
        let mut needed = within.chain(children).chain(parents);
        let lacked = &needed.find(|name| is_lacked(name))?.name;
        Some(if has_sql {
            sql_lacks(&format!("read {lacked}"))
        } else {
            format!("its access pattern has no SQL that reads {lacked}")
        })
    }

    /// That the key or the filter of an access pattern without SQL asks for what a read does not give. One item type of the read's table,
    /// or else one whose items hold its rows, is enough.
    fn not_asked(
        &self,
        pattern: &AccessPattern,
        rows: &[ItemRows<'d>],
        read: &Read<'d>,
    ) -> Option<String> {
        unless_one_serves(read.ways.iter().map(|way| {
            let root = way.ask.root;
            let reads = read.of_table(&root.name, self.facts);
            let has_own = rows.iter().any(|one| one.of.is_of(root));
            let holds_rows = |one: &&ItemRows<'d>| {
                one.of.is_of(root)
                    || !has_own && one.made.has_some(&root.name)
                    || self.has_figures(one, read)
            };
            let found: Vec<&ItemRows<'d>> = rows.iter().filter(holds_rows).collect();
            if found.is_empty() && rows.iter().any(|one| one.made.has_query()) {
                return Some(OF_QUERY.to_owned());
            }
            let lacked = unless_one_serves(found.iter().map(|one| one.lacks(root, &reads)));
            // Each table's items meet a filter by attributes of their own.
            let is_one = pattern.filter.is_none() || way.ask.tables().count() == 1;
            lacked.or_else(|| (!is_one).then(|| UNKNOWN_FILTER.to_owned()))
        }))
    }

    /// Whether items hold all columns of a query of figures, which has those that a read asks for.
    fn has_figures(&self, one: &ItemRows<'d>, read: &Read<'_>) -> bool {
        let Facts { catalog, observed } = self.facts;
        let scan = one.of.scan;
        let Some((figures, sql)) = self.figures(scan).zip(scan.from.sql()) else {
            return false;
        };
        let query = query(sql, catalog.dbms).ok();
        let outputs = query.as_ref().and_then(SqlQuery::select);
        let outputs = outputs.map_or(&[][..], |select| select.outputs.as_slice());
        let is_held = |output: &SelectOutput| matches!(output, SelectOutput::One { name: Some(name), .. } if one.made.has(&[0], &Path::own(&name.text), false));
        let is_given = |group: &String| {
            outputs.iter().any(|output| {
                matches!(output, SelectOutput::One { name: Some(name), value } if name.is(group)
                    && value.column().is_some_and(|column| column.name.is(group)))
            })
        };
        let asked = figure_query(&read.query.sql.fill(&|_| None), catalog, observed);
        let table = catalog.table(&figures.base);
        asked
            .zip(table)
            .is_some_and(|(asked, table)| figures.has(&asked, table))
            && outputs.iter().all(is_held)
            && figures.groups.iter().all(is_given)
    }

    /// That an access pattern leaves out, by its `limit`, rows that a read asks for, if its SQL returns them.
    fn cut_off(
        &self,
        pattern: &AccessPattern,
        own: Option<&Read<'_>>,
        rows: &[ItemRows<'d>],
        read: &Read<'_>,
    ) -> Option<String> {
        let most = u64::from(pattern.limit?);
        let is_cut = own.is_none_or(|own| own.most().is_none_or(|rows| rows > most));
        let has_one = |one: &ItemRows<'d>| one.has_one(self.facts.catalog.dbms);
        let finds_one = match own {
            Some(own) => own.finds_one(self.facts),
            None => rows.iter().all(has_one),
        };
        if !is_cut || finds_one && (1..=most).contains(&whole(rows.len())) {
            return None;
        }
        let is_of_one = read.finds_one(self.facts);
        if !is_of_one && read.most().is_none_or(|wanted| wanted > most) {
            return Some("its access pattern has a smaller `limit`".to_owned());
        }
        let existing = Existing {
            model: self.model,
            catalog: self.facts.catalog,
        };
        let is_in_order = |one: &ItemRows<'d>, ask: &Ask<'_>| {
            existing.is_in_order(one.of.item, &pattern.order, ask, pattern.descending)
        };
        let takes_first = |way: &Way<'_>| {
            let mut ask = way.ask.clone();
            ask.order = read.order(way).to_vec();
            // A range takes the same rows where the key sorts its column as the database does.
            let are_sorted = |one: &ItemRows<'d>| {
                one.ranges().all(|path| {
                    let mut ask = ask.clone();
                    ask.order = vec![(path.clone(), pattern.descending)];
                    is_in_order(one, &ask)
                })
            };
            let mut all = rows.iter();
            self.takes_no_others(rows, &ask, &way.taken)
                && all.all(|one| is_in_order(one, &ask) && are_sorted(one))
        };
        (!read.all().any(takes_first)).then(|| NOT_FIRST.to_owned())
    }

    /// That items, or entries of the index, may be missing for rows that a read asks for. Without SQL, the key and the filter take the
    /// rows of the same item type.
    fn left_out(&self, rows: &[ItemRows<'d>], read: &Read<'d>, has_sql: bool) -> Option<String> {
        let is_met = |there: &Taken<'_>| {
            let reads = read.of_table(&there.root.name, self.facts);
            reads.unmet(there, "").is_none()
        };
        let are_all_there = |root: &Table, table: &Table| {
            let reads = read.of_table(&root.name, self.facts);
            let is_found = |one: &ItemRows<'d>| {
                has_sql || !one.of.is_of(root) || one.lacks(root, &reads).is_none()
            };
            let has_own = rows.iter().any(|one| one.of.is_of(table));
            let mut own = rows.iter().filter(|one| one.of.is_of(table) || !has_own);
            own.any(|one| is_met(&one.there) && is_found(one))
        };
        let is_served = |way: &Way<'d>| {
            let mut tables = way.ask.tables();
            tables.all(|table| are_all_there(way.ask.root, table))
        };
        let is_left_out = !read.ways.is_empty() && !read.ways.iter().any(is_served);
        is_left_out.then(|| LEFT_OUT.to_owned())
    }

    /// That the items of an access pattern, or its index, do not hold a column that a read needs.
    fn not_held(
        &self,
        pattern: &AccessPattern,
        rows: &[ItemRows<'d>],
        read: &Read<'_>,
    ) -> Option<String> {
        let has_sql = pattern.sql.is_some();
        // What the mapping's own SQL or a view gives, the SQL of the access pattern says.
        let is_made =
            || self.of_items(pattern).is_none() || rows.iter().any(|one| one.made.has_query());
        if has_sql && is_made() {
            return None;
        }
        let column = unless_one_serves(read.ways.iter().map(|way| {
            let root = way.ask.root;
            let reads = read.of_table(&root.name, self.facts);
            let is_figure = |one: &ItemRows<'d>| {
                self.has_figures(one, read) && one.lacks(root, &reads).is_none()
            };
            if rows.iter().any(is_figure) {
                return None;
            }
            // Without SQL, each item type is found by itself. A filter takes none that it is not known to take.
            let is_read = |one: &&ItemRows<'d>| {
                let is_another = !one.of.is_of(root) && pattern.filter.is_none();
                has_sql || is_another || one.lacks(root, &reads).is_none()
            };
            let rows: Vec<&ItemRows<'d>> = rows.iter().filter(is_read).collect();
            let children = way.ask.children.iter().map(Some);
            let mut types = std::iter::once(None).chain(children);
            types.find_map(|child| self.column_lacked(&rows, read, way, child))
        }))?;
        Some(match pattern.index.as_deref().filter(|_| !pattern.fetch) {
            Some(index) => format!("the index {index} does not hold {column}"),
            None => format!("its items do not hold {column}"),
        })
    }

    /// A column that a way to read needs of its own rows, or of children, and that no items hold. Which rows are there a condition of the
    /// mapping may decide instead.
    fn column_lacked(
        &self,
        rows: &[&ItemRows<'d>],
        read: &Read<'_>,
        way: &Way<'_>,
        child: Option<&ChildAsk<'_>>,
    ) -> Option<String> {
        let ask = &way.ask;
        let root = child.map_or(ask.root, |child| child.table);
        let made: Vec<&MadeOf<'_>> = rows.iter().map(|one| &one.made).collect();
        let places = made.iter().map(|one| match child {
            Some(child) => one.children(&ask.root.name, child, &made),
            None => one.rows(&root.name),
        });
        let places: Vec<(&MadeOf<'_>, Vec<usize>)> = made.iter().copied().zip(places).collect();
        let has_some = made.iter().any(|one| one.has_some(&root.name));
        if has_some && places.iter().all(|(_, places)| places.is_empty()) {
            let way = child.and_then(|child| child.way.first());
            let way = way.map(|step| format!(" by {}", step.columns.join(", ")));
            let way = way.unwrap_or_default();
            return Some(format!("each row of {}{way}", root.name.name));
        }
        let is_held = |path: &Path, is_whole: bool| {
            let is_parent = path
                .steps
                .last()
                .is_some_and(|step| step.table != root.name);
            let in_parent = |parent: &MadeOf<'_>| {
                let mut beside = places.iter();
                is_parent
                    && parent.has(&[0], &Path::own(&path.column), is_whole)
                    && beside.any(|(one, places)| one.is_beside(places, &path.steps, parent))
            };
            let mut all = places.iter();
            all.any(|(one, places)| one.has(places, path, is_whole) || in_parent(one))
        };
        // What is compared in lower case may be held so.
        let is_whole = |path: &Path| {
            let mut tests = way.taken.tests.iter();
            !tests.any(|one| one.folds && one.path == *path)
        };
        let outputs = child.map_or(&ask.outputs, |child| &child.outputs);
        let mut outputs = outputs.iter().map(|(path, _)| path);
        let lacked = outputs.find(|path| {
            // A read has its key among its outputs in any case.
            let is_key = path.steps.is_empty() && root.row_key().contains(&path.column);
            let selected = selects(&read.query, path);
            (!is_key || selected) && !is_held(path, selected || is_whole(path))
        });
        if lacked.is_some() || child.is_some() {
            return lacked.map(|path| named(root, path));
        }
        let order = ask.order.iter().filter(|_| !is_one_row(ask));
        let order = order.map(|(path, _)| (path.clone(), false));
        let compared = ask.clauses.compared.iter();
        let compared = compared.filter(|(table, _)| *table == root.name);
        let compared = compared.map(|(_, column)| Path::own(column));
        let compared = way.taken.paths().cloned().chain(compared);
        let mut needed = order.chain(compared.map(|path| (path, true)));
        let decides = |path: &Path| made.iter().any(|one| one.decides(&path.column));
        let lacked = needed.find(|(path, may_decide)| {
            !(is_held(path, is_whole(path)) || *may_decide && decides(path))
        });
        if let Some((path, _)) = lacked {
            return Some(named(root, &path));
        }
        let has = |path: &Path| is_held(path, false);
        let is_told = |path: &&Path| tells_parent(root, &path.steps, self.facts, &has);
        let path = ask.required.iter().find(|path| !is_told(path))?;
        Some(named(root, path))
    }
}

/// Whether a query may select the column at the end of a path.
fn selects(query: &SqlQuery, path: &Path) -> bool {
    let has = |output: &SelectOutput| match output {
        SelectOutput::One { value, .. } => {
            let mut columns = value.columns().iter();
            columns.any(|one| one.name.is(&path.column))
        }
        SelectOutput::All | SelectOutput::AllOf(_) => true,
    };
    let select = query.select();
    select.is_none_or(|select| select.outputs.iter().any(has))
}

/// Why an access pattern without SQL serves no read by items that a query makes.
const OF_QUERY: &str = "the query that makes its items is not known to give what the read asks for: give the access pattern the `sql` that it answers";

/// Why an access pattern with a `limit` serves no read that may want other rows.
const NOT_FIRST: &str = "its access pattern has a `limit`, and its items are not known to be the first rows of the read";

const OTHER_ROWS: &str =
    "the SQL of its access pattern has other conditions, by which it cuts or merges rows";

const FEWER: &str = "the SQL of its access pattern may return fewer rows";

/// Why an access pattern does not serve a read that it would serve with parameters.
const EXAMPLES: &str = "without parameters, the literals of the statement count as examples, and meet no condition of its access pattern";

fn sql_lacks(what: &str) -> String {
    format!("the SQL of its access pattern does not {what}")
}

/// What the SQL of an access pattern, `own`, lacks for a read.
fn lacked_by_sql(facts: Facts<'_>, own: &Read<'_>, read: &Read<'_>) -> Option<String> {
    let decides = own.asks().any(|ask| {
        let is_cut = ask.limit.is_some() || ask.clauses.skips;
        ask.merges() || is_cut && !facts.asks_for_key(ask)
    });
    let others = decides && !own.takes_same(read);
    let fewer = || own.may_return_fewer(read, facts).then(|| FEWER.to_owned());
    not_compared(own, read, decides, others)
        .or_else(|| condition_lacked(facts, own, read))
        .or_else(|| others.then(|| OTHER_ROWS.to_owned()))
        .or_else(|| parent_lacked(facts, own, read))
        .or_else(fewer)
}

/// A column that a read compares, and SQL does not, nor selects it. Where the SQL cuts or merges rows (`decides`), it has to compare the
/// columns itself if it takes `others`.
fn not_compared(own: &Read<'_>, read: &Read<'_>, decides: bool, others: bool) -> Option<String> {
    let root = &read.ways.first()?.ask.root.name;
    let mut all = own.ways.iter().chain(&read.ways);
    let has_one_root = all.all(|way| way.ask.root.name == *root);
    let applies = if decides { others } else { has_one_root };
    if !applies {
        return None;
    }
    let columns = |way: &Way<'_>, selects: bool| {
        let outputs = way.ask.outputs.iter().filter(|_| selects);
        let paths = way.taken.paths().chain(outputs.map(|(path, _)| path));
        let places = paths.map(|path| {
            let path = path.clone().shortened();
            let (table, column) = place(way.ask.root, &path);
            (table.clone(), column.to_owned())
        });
        let compared = way.ask.clauses.compared.iter();
        let compared = compared.filter(|(table, _)| *table == way.ask.root.name);
        places.chain(compared.cloned()).collect::<BTreeSet<_>>()
    };
    let of = |read: &Read<'_>, selects: bool| -> BTreeSet<_> {
        let ways = read.ways.iter();
        ways.flat_map(|way| columns(way, selects)).collect()
    };
    let (known, given) = (of(own, !decides), of(read, false));
    let mut compared = given.iter().filter(|(table, _)| decides || table == root);
    let (table, column) = compared.find(|column| !known.contains(*column))?;
    Some(sql_lacks(&format!("compare {}.{column}", table.name)))
}

/// A condition of SQL that a read does not have. One way in which the read has them all is enough.
fn condition_lacked(facts: Facts<'_>, own: &Read<'_>, read: &Read<'_>) -> Option<String> {
    let pairs = read.ways.iter();
    let pairs = pairs.flat_map(|way| own.ways.iter().map(move |own| (way.ask.root, own)));
    unless_one_serves(pairs.map(|(root, own)| match seen_from(own, root) {
        Some(own) => {
            let reads = read.of_table(&root.name, facts);
            reads.unmet(&own, "the SQL of its access pattern")
        }
        None => Some(own.taken.tests.first()?.lacked(own.ask.root)),
    }))
}

/// The rows that a way takes as those of another table lead to them: its children, or a parent. `None` where they do not.
fn seen_from<'c>(way: &Way<'c>, root: &'c Table) -> Option<Taken<'c>> {
    let mut taken = way.taken.clone();
    if way.ask.root.name == root.name {
        return Some(taken);
    }
    taken.root = root;
    let mut children = way.ask.children.iter();
    let child = children.find(|child| child.table.name == root.name);
    let keys = way.ask.root.foreign_keys.iter();
    let keys = keys.filter(|key| key.references == root.name);
    let paths = taken.tests.iter_mut().map(|one| &mut one.path);
    for path in paths.chain(&mut taken.required) {
        let first = path.steps.first();
        if let Some(child) = child {
            path.steps.splice(0..0, child.way.iter().cloned());
        } else if first.is_some_and(|step| step.table == root.name) {
            path.steps.remove(0);
        } else if first.is_none() {
            path.column = keys
                .clone()
                .find_map(|key| key.referenced(&path.column))?
                .to_owned();
        } else {
            return None;
        }
    }
    Some(taken)
}

/// What SQL lacks of the parents of which a read needs more than the key, or by which it leaves out rows. Not of reads with children, and
/// of figures.
fn parent_lacked(facts: Facts<'_>, own: &Read<'_>, read: &Read<'_>) -> Option<String> {
    let is_list = |ask: &Ask<'_>| !ask.children.is_empty() || ask.computes;
    if own.asks().chain(read.asks()).any(is_list) {
        return None;
    }
    // A reference stands for the parent's key.
    let end = |path: &Path| {
        let short = path.clone().shortened();
        (short.steps.last().cloned(), short.column)
    };
    let known: Vec<_> = own.asks().flat_map(paths).map(end).collect();
    let mut needed = read.asks().flat_map(paths).filter(|path| !is_own(path));
    if let Some(path) = needed.find(|path| !known.contains(&end(path)))
        && let Some(parent) = path.steps.last()
    {
        let column = &path.column;
        return Some(sql_lacks(&format!("select {}.{column}", parent.table.name)));
    }
    let known: Vec<&TableName> = parents(own.asks()).collect();
    if let Some(parent) = parents(read.asks()).find(|parent| !known.contains(parent)) {
        return Some(sql_lacks(&format!("read {}", parent.name)));
    }
    // The rows are told from others where the SQL leaves them out too, or shows which these are.
    unless_one_serves(read.ways.iter().map(|way| {
        let root = way.ask.root;
        let is_shown = |path: &&Path| {
            let mut own = own.ways.iter().filter(|own| own.ask.root.name == root.name);
            own.any(|own| {
                let is_selected = |path: &Path| {
                    let mut outputs = own.ask.outputs.iter();
                    outputs.any(|(known, _)| known == path)
                };
                own.taken.requires(&path.steps, facts)
                    || tells_parent(root, &path.steps, facts, &is_selected)
            })
        };
        let path = way.ask.required.iter().find(|path| !is_shown(path))?;
        Some(sql_lacks(&format!("select {}", named(root, path))))
    }))
}

/// Whether a path ends at no more than a key that stands in the row itself.
fn is_own(path: &Path) -> bool {
    path.clone().shortened().steps.is_empty()
}

/// The paths to the values that a read selects, or by which it finds, leaves out and sorts rows.
fn paths<'a>(ask: &'a Ask<'_>) -> impl Iterator<Item = &'a Path> {
    let outputs = ask.outputs.iter().map(|(path, _)| path);
    outputs.chain(ask.compared())
}

/// The parents of which a read needs more than their keys.
fn parents<'a, 'c: 'a>(
    asks: impl Iterator<Item = &'a Ask<'c>>,
) -> impl Iterator<Item = &'a TableName> {
    asks.flat_map(|ask| {
        let ways = ask.when.iter().filter(|when| {
            let filter = when.filter.as_ref();
            filter.is_none_or(|filter| !is_own(&filter.path))
        });
        let ways = ways.flat_map(|when| &when.parents);
        let steps = paths(ask).filter(|path| !is_own(path));
        let steps = steps.map(|path| &path.steps).chain(ways);
        steps.filter_map(|steps| Some(&steps.last()?.table))
    })
}
