//! Which statements are reads, and which of them an access pattern serves.

use std::collections::BTreeSet;

use dynafold_dynamodb::Index;
use dynafold_format::has_word;
use dynafold_mapping::model::{AccessPattern, AttributeNode, Expired, ItemType};
use dynafold_mapping::template::Placeholder;
use dynafold_relational::catalog::{Catalog, Dbms, Table, TableKind, TableName};
use dynafold_relational::scan::Scan;
use dynafold_sql::{
    Lists, ReadTable, Select, SelectOutput, SqlQuery, UnreadableSql, parametrized, table,
};

use super::columns::{
    conditions, gives, is_one_value, meets, meets_filter, named, place, present, requires,
    split_parameter, takes_same_rows, tells_parent, values,
};
use super::lacked::{cuts_more, returns_fewer};
use super::made::{KeyAsked, MadeOf};
use super::{Priced, conditions_of_index, path};
use crate::ask::{
    Ask, Asked, ChildAsk, Equal, Test, When, as_said, ask, figure_query, is_one_row, unknown_column,
};
use crate::counted::without_prefix;
use crate::facts::Facts;
use crate::path::Path;
use crate::seconds::{is_sql_of, normalized_sql};
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

/// All rows of a table in words, or all children of a parent's row.
fn each_row(table: &Table, child: Option<&ChildAsk<'_>>) -> String {
    let way = child.and_then(|child| child.way.first());
    let way = way.map(|step| format!(" by {}", step.columns.join(", ")));
    format!("each row of {}{}", table.name.name, way.unwrap_or_default())
}

/// Whether a path ends at no more than a key that stands in the row itself.
fn is_own(path: &Path) -> bool {
    path.clone().shortened().steps.is_empty()
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

/// What tells the SQL of an access pattern from a read: a condition that the read does not have; one that the SQL does not have, of a
/// column that it does not select either; or any other one, where the SQL cuts or merges rows. `said`: the read, its literals meant.
fn other_conditions(
    facts: Facts<'_>,
    own: &[Ask<'_>],
    asked: &[Ask<'_>],
    said: &[Ask<'_>],
) -> Option<String> {
    let root = &asked.first()?.root.name;
    let is_cut =
        |ask: &Ask<'_>| (ask.limit.is_some() || ask.clauses.skips) && !facts.asks_for_key(ask);
    let decides = own.iter().any(|ask| ask.merges() || is_cut(ask));
    let lacked = if own.iter().chain(asked).any(|ask| ask.root.name != *root) {
        missing_elsewhere(facts, own, asked, said)
    } else {
        let known: BTreeSet<_> = own.iter().flat_map(|ask| columns(ask, true)).collect();
        let given: BTreeSet<_> = asked.iter().flat_map(|ask| columns(ask, false)).collect();
        let mut compared = given.iter().filter(|(table, _)| !decides && table == root);
        if let Some((table, column)) = compared.find(|column| !known.contains(*column)) {
            let name = &table.name;
            return Some(sql_lacks(&format!("compare {name}.{column}")));
        }
        let missing = own
            .iter()
            .map(|ask| missing(facts, &reads(asked, said, root), ask));
        let missing: Option<Vec<String>> = missing.collect();
        missing.and_then(|missing| missing.into_iter().next())
    };
    lacked.or_else(|| other_rows(own, asked, said).filter(|_| decides))
}

/// That a read asks for other rows than the SQL of an access pattern, by a column that this does not compare, or otherwise.
fn other_rows(own: &[Ask<'_>], asked: &[Ask<'_>], said: &[Ask<'_>]) -> Option<String> {
    // The merged rows of several requests are not those of one.
    let is_same = |read: &Ask<'_>| {
        let mut own = own.iter();
        own.any(|own| {
            takes_same_rows(own, read) && (!own.merges() || own.requests == read.requests)
        })
    };
    if asked.iter().chain(said).any(is_same) {
        return None;
    }
    let places = |ask: &Ask<'_>| {
        let paths = conditions(ask).map(|path| path.clone().shortened());
        let places = paths.map(|path| {
            let (table, column) = place(ask.root, &path);
            (table.clone(), column.to_owned())
        });
        places.collect::<Vec<_>>()
    };
    let known: Vec<_> = own.iter().flat_map(places).collect();
    let mut compared = asked.iter().flat_map(places);
    let other = compared.find(|column| !known.contains(column));
    Some(other.map_or_else(
        || OTHER_ROWS.to_owned(),
        |(table, column)| sql_lacks(&format!("compare {}.{column}", table.name)),
    ))
}

/// The ways to read a table that a read has, also with its literals meant.
fn reads<'a, 'c>(asked: &'a [Ask<'c>], said: &'a [Ask<'c>], root: &TableName) -> Vec<&'a Ask<'c>> {
    let reads = asked.iter().chain(said);
    reads.filter(|ask| ask.root.name == *root).collect()
}

/// A condition of the SQL of an access pattern, `ask`, that a read does not have.
fn missing(facts: Facts<'_>, reads: &[&Ask<'_>], ask: &Ask<'_>) -> Option<String> {
    let equal = ask.equal.iter();
    let equal = equal.filter(|equal| matches!(equal.value, Asked::Parameter(_)));
    let is_given = |equal: &Equal| reads.iter().any(|one| gives(one, &equal.path, equal.folds));
    let equal = equal.filter(|equal| !is_given(equal));
    let is_compared = |path: &&Path| {
        let mut paths = reads.iter().flat_map(|one| conditions(one));
        paths.any(|known| is_one_value(known, path))
    };
    let range = ask.range.iter().map(|range| &range.path);
    let range = range.filter(|path| !is_compared(path));
    let filters = ask.filters.iter();
    let filters = filters.filter(|filter| !meets_filter(facts, reads, ask.root, filter));
    let paths = equal.map(|equal| &equal.path).chain(range);
    let mut paths = paths.chain(filters.map(|filter| &filter.path));
    let column = |path: &Path| {
        let (table, column) = place(ask.root, path);
        format!("{}.{column}", table.name)
    };
    if let Some(path) = paths.next() {
        return Some(sql_has(&format!("on {}", column(path))));
    }
    if let Some(columns) = split_parameter(ask.root, &values(ask), reads) {
        return Some(format!(
            "the SQL of its access pattern compares {columns} with one parameter, which the statement does not"
        ));
    }
    let leaves_out = |path: &Path| {
        let column = column(path);
        format!(
            "the SQL of its access pattern leaves out rows without {column}, which the statement does not"
        )
    };
    let is_required = |path: &&Path| {
        let mut reads = reads.iter();
        reads.any(|read| requires(read, &path.steps, facts))
    };
    if let Some(path) = ask.required.iter().find(|path| !is_required(path)) {
        return Some(leaves_out(path));
    }
    let mut conditions = ask.conditions();
    let when = conditions.find(|when| !meets(facts, reads, ask.root, when))?;
    Some(match &when.filter {
        Some(filter) if filter.test == Test::Exists => leaves_out(&filter.path),
        Some(filter) => sql_has(&format!("on {}", column(&filter.path))),
        None => sql_has(&format!("`{}`", when.said)),
    })
}

/// The same where access pattern and read ask for the rows of several tables: one way that has them all is enough.
fn missing_elsewhere(
    facts: Facts<'_>,
    own: &[Ask<'_>],
    asked: &[Ask<'_>],
    said: &[Ask<'_>],
) -> Option<String> {
    let pairs = asked
        .iter()
        .flat_map(|one| own.iter().map(move |own| (one.root, own)));
    let missing = pairs.map(|(root, own)| {
        let reads = reads(asked, said, &root.name);
        match seen_from(own, root) {
            Some(own) => missing(facts, &reads, &own),
            None => {
                let path = conditions(own).next()?;
                let (table, column) = place(own.root, path);
                Some(sql_has(&format!("on {}.{column}", table.name)))
            }
        }
    });
    let missing: Option<Vec<String>> = missing.collect();
    missing?.into_iter().next()
}

/// The conditions of a read as the rows of another table lead to them: its children, or a parent. `None` where they do not.
fn seen_from<'c>(ask: &Ask<'c>, root: &'c Table) -> Option<Ask<'c>> {
    let child = ask
        .children
        .iter()
        .find(|child| child.table.name == root.name);
    let seen = |path: &Path| {
        let mut path = path.clone();
        if ask.root.name == root.name {
            return Some(path);
        }
        if let Some(child) = child {
            path.steps.splice(0..0, child.way.iter().cloned());
            return Some(path);
        }
        let first = path.steps.first();
        if first.is_some_and(|step| step.table == root.name) {
            path.steps.remove(0);
            return Some(path);
        }
        let mut keys = ask
            .root
            .foreign_keys
            .iter()
            .filter(|key| key.references == root.name);
        let column = keys.find_map(|key| {
            let mut pairs = key.columns.iter().zip(&key.referenced_columns);
            pairs.find_map(|(ours, theirs)| (*ours == path.column).then_some(theirs))
        });
        column
            .filter(|_| first.is_none())
            .map(|column| Path::own(column))
    };
    let mut found = ask.clone();
    found.root = root;
    let equal = found.equal.iter_mut().map(|one| &mut one.path);
    let range = found.range.iter_mut().map(|one| &mut one.path);
    let filters = found.filters.iter_mut().map(|one| &mut one.path);
    let when = found
        .when
        .iter_mut()
        .filter_map(|one| Some(&mut one.filter.as_mut()?.path));
    let required = found.required.iter_mut();
    let paths = equal.chain(range).chain(filters).chain(when);
    for path in paths.chain(required) {
        *path = seen(path)?;
    }
    for filter in found
        .equal
        .iter_mut()
        .filter_map(|one| one.when.as_mut()?.filter.as_mut())
    {
        filter.path = seen(&filter.path)?;
    }
    Some(found)
}

/// A column by which a read leaves out rows without a parent, where the SQL of an access pattern, `own`, neither leaves them out nor
/// shows which these are. One way to read it that does without is enough.
fn parent_not_shown(facts: Facts<'_>, own: &[Ask<'_>], asked: &[Ask<'_>]) -> Option<String> {
    let lacked = |read: &Ask<'_>| {
        let is_shown = |path: &&Path| {
            let mut own = own.iter().filter(|own| own.root.name == read.root.name);
            own.any(|own| {
                let is_selected = |path: &Path| {
                    let mut outputs = own.outputs.iter();
                    outputs.any(|(known, _)| known == path)
                };
                requires(own, &path.steps, facts)
                    || tells_parent(read.root, &path.steps, facts, &is_selected)
            })
        };
        let path = read.required.iter().find(|path| !is_shown(path))?;
        Some(sql_lacks(&format!("select {}", named(read.root, path))))
    };
    let lacked: Option<Vec<String>> = asked.iter().map(lacked).collect();
    lacked?.into_iter().next()
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
    /// Whether the items of an access pattern, or its index, may leave out rows that a read asks for; `said`: the read, its literals
    /// meant. One way to read it that has all rows is enough.
    fn leaves_out(&self, pattern: &AccessPattern, asked: &[Ask<'_>], said: &[Ask<'_>]) -> bool {
        let index = self.index(pattern.index.as_deref());
        let items = self.answered(pattern);
        let items = items.filter_map(|item| Some((item, self.scan(item)?)));
        let items: Vec<(&ItemType, &Scan)> = items.collect();
        let takes_all = |item: &ItemType, scan: &Scan| {
            let table = self.table_of(&scan.from);
            let reads = asked.iter().chain(said);
            let reads = reads.filter(|ask| table.is_some_and(|table| table.name == ask.root.name));
            let reads: Vec<&Ask<'_>> = reads.collect();
            let of_index = index.map(|index| conditions_of_index(item, scan, index));
            let of_index = of_index.into_iter().flatten();
            let mut conditions = of_index.chain(self.model.condition(item));
            conditions.all(|condition| {
                table.is_some_and(|table| {
                    let known = self.facts.conditions(condition, scan, table);
                    let is_met = |when: &When| meets(self.facts, &reads, table, when);
                    !known.is_empty() && known.iter().all(is_met)
                })
            })
        };
        let is_in_index = |item: &ItemType, scan: &Scan| {
            let table = self.table_of(&scan.from);
            let reads = asked.iter().chain(said);
            let reads = reads.filter(|ask| table.is_some_and(|table| table.name == ask.root.name));
            let present: Vec<&Path> = reads.flat_map(|ask| present(ask)).collect();
            let is_there = |node: &AttributeNode| {
                let mut is_there = true;
                node.visit(&mut |node| {
                    if let (AttributeNode::Template(template), Some(table)) = (node, table) {
                        let mut mandatory = template.mandatory();
                        is_there &= mandatory.all(|one| {
                            one.replaces_null() || self.is_always(one, scan, table, &present)
                        });
                    }
                });
                is_there
            };
            let mut keys = index.into_iter().flat_map(Index::key);
            keys.all(|key| item.node(&key.name).is_some_and(is_there))
        };
        let are_all_there = |table: &Table| {
            let is_own = |scan: &Scan| scan.from.table() == Some(&table.name);
            let has_own = items.iter().any(|(_, scan)| is_own(scan));
            let mut items = items.iter();
            items.any(|(item, scan)| {
                // Rows without elements make no item.
                let is_each = item.explodes.is_empty() && item.expired == Expired::Load;
                (is_own(scan) || !has_own)
                    && is_each
                    && is_in_index(item, scan)
                    && takes_all(item, scan)
            })
        };
        !asked.is_empty() && !asked.iter().any(|ask| ask.tables().all(are_all_there))
    }

    /// Whether a value of a key is in all rows of a table, or in those that a read takes, which has these columns' values.
    fn is_always(
        &self,
        value: &Placeholder,
        scan: &Scan,
        table: &Table,
        present: &[&Path],
    ) -> bool {
        let catalog = self.facts.catalog;
        let is_always = |path: Path| {
            let column = path.column_of(table, catalog);
            let is_whole = column.is_some_and(|column| !column.data_type.may_be_absent());
            is_whole && !path.may_be_null(table, catalog)
                || present.iter().any(|known| is_one_value(known, &path))
        };
        // What is no column is no value of the database.
        value.place.path.is_empty() && path(value, scan).is_none_or(is_always)
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
        let key = KeyAsked::of(pattern, index);
        let index = index.filter(|_| !pattern.fetch);
        let items = self.answered(pattern);
        let made = items.map(|item| Some(self.made_of(item, self.scan(item)?, index, &key)));
        let made: Vec<MadeOf<'_>> = made.collect::<Option<_>>()?;
        if made.iter().any(MadeOf::has_query) {
            return None;
        }
        let decides = |path: &Path| made.iter().any(|one| one.decides(&path.column));
        let is_selected = |path: &Path| {
            let has = |output: &SelectOutput| match output {
                SelectOutput::One { value, .. } => {
                    let columns = value.columns();
                    columns.iter().any(|one| one.name.is(&path.column))
                }
                SelectOutput::All | SelectOutput::AllOf(_) => true,
            };
            select.is_none_or(|select| select.outputs.iter().any(has))
        };
        let lacked = |ask: &Ask<'_>| {
            // What is compared in lower case may be held so.
            let is_whole = |path: &Path| {
                let equal = ask.equal.iter().map(|equal| (&equal.path, equal.folds));
                let range = ask.range.iter().map(|range| (&range.path, range.folds));
                let mut folded = equal.chain(range);
                !folded.any(|(known, folds)| folds && known == path)
            };
            let rows = |one: &MadeOf<'_>, child: Option<&ChildAsk<'_>>| match child {
                Some(child) => one.children(&ask.root.name, child, &made),
                None => one.rows(&ask.root.name),
            };
            let is_held = |child: Option<&ChildAsk<'_>>, path: &Path, is_whole: bool| {
                let root = child.map_or(ask.root, |child| child.table);
                let is_of_parent = path
                    .steps
                    .last()
                    .is_some_and(|step| step.table != root.name);
                let in_parent = |parent: &MadeOf<'_>| {
                    let is_beside =
                        |one: &MadeOf<'_>| one.is_beside(&rows(one, child), &path.steps, parent);
                    is_of_parent
                        && parent.has_own(&path.column, is_whole)
                        && made.iter().any(is_beside)
                };
                let in_rows = |one: &MadeOf<'_>| one.has(&rows(one, child), path, is_whole);
                made.iter().any(|one| in_rows(one) || in_parent(one))
            };
            for child in std::iter::once(None).chain(ask.children.iter().map(Some)) {
                let root = child.map_or(ask.root, |child| child.table);
                let outputs = child.map_or(&ask.outputs, |child| &child.outputs);
                if made.iter().any(|one| one.has_some(&root.name))
                    && made.iter().all(|one| rows(one, child).is_empty())
                {
                    return Some(each_row(root, child));
                }
                let lacks = |path: &&Path| {
                    // A read has its key among its outputs in any case.
                    let is_key = path.steps.is_empty() && root.row_key().contains(&path.column);
                    let selected = is_selected(path);
                    (!is_key || selected) && !is_held(child, path, selected || is_whole(path))
                };
                if let Some(path) = outputs.iter().map(|(path, _)| path).find(lacks) {
                    return Some(named(root, path));
                }
            }
            let lacks = |path: &Path| !is_held(None, path, is_whole(path));
            let order = ask.order.iter().filter(|_| !is_one_row(ask));
            let mut order = order.map(|(path, _)| path);
            if let Some(path) = order.find(|path| lacks(path)) {
                return Some(named(ask.root, path));
            }
            let own = ask.clauses.compared.iter();
            let own = own.filter(|(table, _)| *table == ask.root.name);
            let own = own.map(|(_, column)| Path::own(column));
            let mut compared = conditions(ask).cloned().chain(own);
            if let Some(path) = compared.find(|path| lacks(path) && !decides(path)) {
                return Some(named(ask.root, &path));
            }
            let has = |path: &Path| is_held(None, path, false);
            let is_told = |path: &&Path| tells_parent(ask.root, &path.steps, self.facts, &has);
            let path = ask.required.iter().find(|path| !is_told(path))?;
            Some(named(ask.root, path))
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
                let made = self.made_of(item, scan, None, &KeyAsked::default());
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

    /// Whether an access pattern is for a statement's own SQL, or for that by which `design` serves it.
    pub(super) fn has_sql_of(&self, pattern: &AccessPattern, statement: &Statement) -> bool {
        let (catalog, observed) = (self.facts.catalog, self.facts.observed);
        pattern.sql.as_deref().is_some_and(|own| {
            let asks = ask(&statement.sql, catalog, observed).unwrap_or_default();
            let figures = figure_query(&statement.sql, catalog, observed);
            let mut figures = figures.iter().flat_map(|query| &query.answer);
            is_sql_of(own, statement, catalog.dbms, &asks)
                || figures.any(|sql| normalized_sql(sql) == normalized_sql(own))
        })
    }

    /// Why an access pattern for other SQL, or for none, does not serve a statement: that cannot be read, or names a column that no
    /// table has, or the SQL reads less or other rows, or is not understood, or the items or their index do not hold what the statement
    /// needs.
    pub(super) fn lacks(&self, pattern: &AccessPattern, statement: &Statement) -> Option<String> {
        let (catalog, observed) = (self.facts.catalog, self.facts.observed);
        let own = pattern.sql.as_deref();
        let query = match query(&statement.sql, catalog.dbms) {
            Ok(query) => query,
            Err(error) => return Some(format!("its SQL {error}")),
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
            return Some(format!("it {why}"));
        };
        let select = query.select();
        let relations = select.map_or(0, |select| select.relations.len());
        if query.tables.len() > relations {
            // Its conditions have columns of the queries within it too.
            for ask in &mut asked {
                ask.clauses.compared.clear();
            }
        }
        // Literals of a statement without parameters are examples.
        let are_meant = !query.sql.parameters().is_empty();
        let said = are_meant.then(|| as_said(&statement.sql, catalog, observed));
        let said = said.and_then(Result::ok).unwrap_or_default();
        let lacked = match own {
            None => self
                .table_lacked(pattern, &asked)
                .or_else(|| self.key_not_given(pattern, &asked, &said))
                .or_else(|| self.cut_off(pattern, &query, &asked, &said))
                .or_else(|| self.filtered_out(pattern, &asked, &said))
                .or_else(|| self.parameter_split(pattern, &asked, &said)),
            Some(own) => match as_said(own, catalog, observed) {
                Ok(asks) => lacked_by_sql(self.facts, &asks, &asked, &said).or_else(|| {
                    let own = self::query(own, catalog.dbms).ok()?;
                    if returns_fewer(self.facts, (&own, &asks), (&query, &asked)) {
                        return Some(FEWER.to_owned());
                    }
                    let cuts = cuts_more(pattern, &own, &asks);
                    cuts.then(|| self.cut_off(pattern, &query, &asked, &said))?
                }),
                Err(unserved) => Some(format!(
                    "the SQL of its access pattern, which is not its own, {}",
                    unserved.why
                )),
            },
        };
        lacked
            .or_else(|| self.not_held(pattern, &asked, select))
            .or_else(|| {
                let leaves_out = self.leaves_out(pattern, &asked, &said);
                leaves_out.then(|| LEFT_OUT.to_owned())
            })
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

/// Why an access pattern serves no read of rows of which some may be no items of it.
const LEFT_OUT: &str = "the `where`, `explode` or `expired` of its items, or the condition of its index, may leave out rows that it asks for";

const OTHER_ROWS: &str =
    "the SQL of its access pattern has other conditions, by which it cuts or merges rows";

const FEWER: &str = "the SQL of its access pattern returns fewer rows";

fn sql_lacks(what: &str) -> String {
    format!("the SQL of its access pattern does not {what}")
}

fn sql_has(condition: &str) -> String {
    format!(
        "the SQL of its access pattern has a condition {condition} that the statement does not have"
    )
}

fn without_sql(table: &TableName) -> String {
    format!("its access pattern has no SQL that reads {}", table.name)
}

/// What the SQL of an access pattern, `own`, lacks for a read; `said`: the read, its literals meant.
fn lacked_by_sql(
    facts: Facts<'_>,
    own: &[Ask<'_>],
    asked: &[Ask<'_>],
    said: &[Ask<'_>],
) -> Option<String> {
    let has = |table: &Table| {
        let mut types = own.iter().flat_map(Ask::types);
        types.any(|(known, _)| known.name == table.name)
    };
    let mut children = asked.iter().flat_map(|ask| &ask.children);
    if let Some(child) = children.find(|child| !has(child.table)) {
        return Some(sql_lacks(&format!("read {}", child.table.name.name)));
    }
    let others = other_conditions(facts, own, asked, said);
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
    if let Some(parent) = conditions.find(|parent| !parents(own).any(|own| own == *parent)) {
        return Some(sql_lacks(&format!("read {}", parent.name)));
    }
    parent_not_shown(facts, own, asked)
}
