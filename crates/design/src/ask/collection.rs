//! A read that gives one parent with its children: an item collection.

use super::{Ask, At, COMPUTED, ChildAsk, Note, Reading, SEVERAL, Unserved, distinct, unserved};
use crate::path::{Path, Step};
use dynafold_format::joined;
use dynafold_relational::catalog::{Table, TableName};
use dynafold_sql::ColumnRef;

/// What is said of children that come in another order than the query's.
pub(crate) const CHILDREN_BY_KEY: &str =
    "the children come in the order of their keys: sort in the application";

impl<'c> Reading<'c, '_> {
    /// The parent with its children, where the parent is one row, by its key; `None` where the query is no such read.
    pub(super) fn collection(
        &self,
        parent: usize,
        is_list: bool,
    ) -> Result<Option<Ask<'c>>, Unserved> {
        let ways = self.all_ways();
        let Some((&table, own)) = self.tables.get(parent).zip(ways.get(parent)) else {
            return Ok(None);
        };
        let children = self.children(parent);
        let mut ask = self.bare(parent)?;
        let ranges = match self.conditions(parent, own, &mut ask) {
            Ok(ranges) if !children.is_empty() => ranges,
            _ => return Ok(None),
        };
        let is_asked = |column: &String| ask.has_equal(&Path::own(column));
        let mut equal = ask.equal.iter();
        let folds = equal.any(|equal| equal.folds || equal.folds_parameter);
        let is_there = |column: &String| {
            let is_key = table.row_key().contains(column);
            is_key || table.column(column).is_some_and(|column| !column.nullable)
        };
        // By the row's key, or by another that each row has.
        let unique = table.keys(self.catalog.dbms).map(|key| key.columns);
        let mut known = std::iter::once(table.row_key()).chain(unique);
        let key = known.find(|key| {
            let is_whole = key.len() == ask.equal.len() && !key.is_empty();
            is_whole && key.iter().all(|one| is_asked(one) && is_there(one))
        });
        let Some(key) = key.filter(|_| !folds) else {
            return Ok(None);
        };
        let of_children = children.iter().filter_map(|child| ways.get(*child));
        let all: Vec<_> = of_children.chain([own]).collect();
        self.refuse_further(&all)?;
        for child in &children {
            self.refuse_strangers(parent, *child, key)?;
        }
        if ask.limit.take().is_some() {
            ask.is_page = false;
            ask.note("the request returns all children: the application applies the LIMIT");
        }
        if !ranges.is_empty() || !ask.when.is_empty() || !ask.filters.is_empty() {
            let why = format!(
                "reads one {} with its children, and has conditions besides the key",
                table.name.name
            );
            let instead = "leave these conditions out, and filter in the application";
            return unserved(why, instead);
        }
        let outputs = self.outputs()?;
        // A parent of which nothing but the key is selected is no item of the answer, unless it has a row without children too.
        let is_beyond =
            |(at, column): &At| own.contains_key(at) && !(*at == parent && key.contains(column));
        let is_extreme = self.extreme.is_some();
        let is_outer = !is_extreme && children.iter().any(|child| self.may_be_missing(*child));
        if !is_outer && !outputs.iter().any(|(at, ..)| is_beyond(at)) {
            return Ok(None);
        }
        // What lists gather of the children has a note of its own.
        let mut computed = outputs.iter().filter(|(.., is_computed)| *is_computed);
        if !is_extreme && computed.any(|((at, _), ..)| !is_list || own.contains_key(at)) {
            ask.note(COMPUTED);
        }
        let Some(mut of_children) = self.bare_children(parent, &children) else {
            return Ok(None);
        };
        self.refuse_orphans(&of_children)?;
        ask.outputs = keys(table);
        for ((at, column), name, _) in outputs {
            if let Some(path) = self.shortest(own, (at, column.clone()), false) {
                ask.outputs.push((path, name));
                continue;
            }
            // Its own, or that of the nearest child that leads to it.
            let nearest = of_children.iter_mut().filter_map(|(child, asked)| {
                let ways = ways.get(*child)?;
                Some((ways.get(&at)?.len(), ways, asked))
            });
            let of = nearest.min_by_key(|(length, ..)| *length);
            let path = of.and_then(|(_, ways, asked)| {
                Some((self.shortest(ways, (at, column), false)?, asked))
            });
            if let Some((path, asked)) = path {
                asked.outputs.push((path, name));
            }
        }
        ask.outputs = distinct(ask.outputs, &mut ask.notes);
        for (_, child) in &mut of_children {
            child.outputs = distinct(std::mem::take(&mut child.outputs), &mut ask.notes);
        }
        self.sort_only_child(table, &mut of_children);
        for (_, child) in &mut of_children {
            self.select_order(
                child.table,
                &child.order,
                &mut child.outputs,
                &mut ask.notes,
            );
        }
        ask.sql = self.written(parent, own, &of_children, &ask.outputs, true)?;
        if of_children.iter().any(|(_, child)| !child.order.is_empty()) {
            let unsorted = self.written(parent, own, &of_children, &ask.outputs, false);
            ask.unsorted = unsorted.ok();
        }
        ask.children = of_children.into_iter().map(|(_, child)| child).collect();
        self.note_collection_differences(&mut ask, &children, is_list);
        self.note_missing(&mut ask, parent, &children);
        Ok(Some(ask))
    }

    /// The relations that lead to this one, where they lead to all others; none where one that is no parent does not.
    fn children(&self, parent: usize) -> Vec<usize> {
        let all = 0..self.tables.len();
        let is_own = |at: &usize| self.leads(parent, *at);
        let is_led_to = |at: usize| all.clone().any(|one| one != at && self.leads(one, at));
        let is_lowest = |at: &usize| !is_own(at) && !is_led_to(*at);
        let mut lowest = all.clone().filter(is_lowest);
        let lead_here = lowest.all(|child| self.leads(child, parent));
        let is_child = |at: &usize| !is_own(at) && self.leads(*at, parent);
        let children: Vec<usize> = all.clone().filter(is_child).collect();
        let leads_to = |at: usize| children.iter().any(|child| self.leads(*child, at));
        let are_all = all.clone().all(|at| is_own(&at) || leads_to(at));
        if lead_here && are_all {
            children
        } else {
            Vec::new()
        }
    }

    /// The way from a relation to a parent, a parent of its parents, or itself.
    fn way(&self, from: usize, to: usize) -> Option<&Vec<Step>> {
        self.all_ways().get(from)?.get(&to)
    }

    pub(super) fn leads(&self, from: usize, to: usize) -> bool {
        self.way(from, to).is_some()
    }

    /// Refuses children that stand in the collection of another parent than the query gives them to, or of none.
    fn refuse_strangers(
        &self,
        parent: usize,
        child: usize,
        key: &[String],
    ) -> Result<(), Unserved> {
        let tables = self.tables.get(parent).zip(self.tables.get(child));
        let Some(((of, table), way)) = tables.zip(self.way(child, parent)) else {
            return Ok(());
        };
        for (at, step) in way.iter().enumerate() {
            let before = way.get(..at).unwrap_or_default();
            if self.foreign_key(table, step, before).is_none() {
                let why = format!(
                    "joins {} to {} on columns that are not a foreign key",
                    table.name.name, step.table.name
                );
                let instead = "declare the foreign key, or send one Query for each table";
                return unserved(why, instead);
            }
        }
        let is_same = |column: &String| {
            let own = Path::of(way, column).spelled(table, self.catalog);
            own.concept(table, self.catalog) == Path::own(column).concept(of, self.catalog)
        };
        if !key.iter().all(is_same) {
            let why = format!(
                "finds {} by one key, but {} refers to another key of it",
                of.name.name, table.name.name
            );
            return unserved(why, SEVERAL);
        }
        Ok(())
    }

    /// Refuses children of which some were found without a parent: the collection has them, and the SQL does not.
    fn refuse_orphans(&self, children: &[(usize, ChildAsk<'c>)]) -> Result<(), Unserved> {
        let is_found = |counted: &(TableName, String)| {
            let share = self.observed.conditions.get(counted);
            share.is_some_and(|share| *share > 0.0)
        };
        for (_, child) in children {
            let orphans = child.orphans(self.catalog).filter(is_found);
            if let (Some((of, _)), Some(step)) = (orphans, child.way.last()) {
                let (of, parent) = (&of.name, &step.table.name);
                let why = format!(
                    "reads one {parent} with its children, and some rows of {of} refer to a {parent} that is missing: the answer would include them"
                );
                return unserved(why, "delete these rows, or send one Query for each table");
            }
        }
        Ok(())
    }

    /// The children with their keys; `None` where one has none, or is of the parent's own table.
    fn bare_children(
        &self,
        parent: usize,
        children: &[usize],
    ) -> Option<Vec<(usize, ChildAsk<'c>)>> {
        let of = self.tables.get(parent)?;
        let child = |at: &usize| {
            let table = *self.tables.get(*at)?;
            let is_told_apart = !table.row_key().is_empty() && table.name != of.name;
            is_told_apart.then_some((
                *at,
                ChildAsk {
                    table,
                    way: self.way(*at, parent)?.clone(),
                    outputs: keys(table),
                    order: Vec::new(),
                    is_same_row: false,
                },
            ))
        };
        children.iter().map(child).collect()
    }

    /// One list of children keeps the query's order, where it goes upwards.
    fn sort_only_child(&self, parent: &Table, children: &mut [(usize, ChildAsk<'c>)]) {
        let [(at, child)] = children else { return };
        let ways = self.all_ways().get(*at);
        let order = ways.and_then(|ways| self.order(ways).ok());
        let order = order.filter(|order| order.iter().all(|(_, descends)| !descends));
        let is_parents = |path: &Path| {
            let found = path.find(child.table, self.catalog);
            found.is_some_and(|(of, _)| of.name == parent.name)
        };
        let order = order
            .into_iter()
            .flatten()
            .filter(|(path, _)| !is_parents(path));
        let order: Vec<(Path, bool)> = order.collect();
        let mut paths = order.iter().map(|(path, _)| path);
        let is_sorted = paths.all(|path| self.unsortable(child.table, path).is_none());
        if is_sorted && self.sorted_otherwise().is_none() {
            child.order = order;
        }
    }

    fn note_collection_differences(&self, ask: &mut Ask<'c>, children: &[usize], is_list: bool) {
        let names = ask.children.iter().map(|child| &*child.table.name.name);
        let names = joined(names, " or ");
        // A condition on a child leaves the parent out, too, if it has none.
        let is_of_child = |one: &ColumnRef| {
            let found = self.column(one);
            found.is_some_and(|(at, _)| children.contains(&at))
        };
        let columns = self.conditions.iter().filter_map(|one| one.columns());
        if columns.flatten().any(is_of_child) || !children.iter().all(|at| self.may_be_missing(*at))
        {
            ask.note(format!(
                "the answer also has rows of {} that have no row in {names}",
                ask.root.name.name
            ));
        }
        let differences = self.distinct_note().into_iter().chain(self.loose_groups());
        ask.notes.extend(differences.map(Note::Text));
        let is_sorted = ask.children.iter().any(|child| !child.order.is_empty());
        if self.query.order.is_some() && !is_sorted {
            ask.note(CHILDREN_BY_KEY);
        }
        if is_list {
            ask.note("the application builds the lists from the returned items");
        }
    }

    /// Notes the rows that the collection has, and an inner join would leave out.
    fn note_missing(&self, ask: &mut Ask<'c>, parent: usize, children: &[usize]) {
        let mut notes: Vec<String> = Vec::new();
        let note = |one: &str, lacks: &str| {
            format!("the answer also has rows of {one} that have no row in {lacks}")
        };
        for from in std::iter::once(&parent).chain(children) {
            let own = self.all_ways().get(*from);
            let Some((table, own)) = self.tables.get(*from).zip(own) else {
                continue;
            };
            for (at, way) in own {
                // What leads to the parent, and beyond it, is the parent's.
                let is_beyond = *from != parent && self.leads(parent, *at) && *at != parent;
                let lacks = self.required_parent_column(table, way, &[]);
                let Some((step, before)) = way.split_last().filter(|_| !is_beyond) else {
                    continue;
                };
                let one = &table.name.name;
                if *at == parent {
                    // A child without a parent stands under the key all the same.
                    let is_kept = self.is_enforced(table, step, before);
                    if !is_kept {
                        let included = note(one, &step.table.name);
                        notes.push(format!("{included}; its SQL does not return them"));
                    }
                } else if lacks.is_some() && !self.may_be_missing(*at) {
                    notes.push(note(one, &step.table.name));
                }
            }
        }
        notes.dedup();
        ask.notes.extend(notes.into_iter().map(Note::Text));
    }
}

/// The columns that tell a table's rows apart.
fn keys(table: &Table) -> Vec<(Path, String)> {
    let columns = table.row_key().iter();
    let keys = columns.map(|column| (Path::own(column), column.clone()));
    keys.collect()
}
