//! A read that gives one parent with its children: an item collection.

use std::collections::BTreeMap;

use dynafold_relational::catalog::Table;
use dynafold_sql::RowLimit;

use super::{Ask, At, ChildAsk, Reading, Unserved, distinct, unserved};
use crate::path::{Path, Step};

/// The ways from each relation to its parents.
type Ways = [BTreeMap<usize, Vec<Step>>];

impl<'c> Reading<'c, '_> {
    /// The parent with its children, where the parent is one row, by its key; `None` where the query is no such read.
    pub(super) fn collection(
        &self,
        parent: usize,
        ways: &Ways,
        is_list: bool,
    ) -> Result<Option<Ask<'c>>, Unserved> {
        let Some((&table, own)) = self.tables.get(parent).zip(ways.get(parent)) else {
            return Ok(None);
        };
        let children = self.children(parent, own, ways);
        let mut ask = self.bare(parent)?;
        if children.is_empty() || self.conditions(parent, own, &mut ask).is_err() {
            return Ok(None);
        }
        let key = table.row_key();
        let is_asked = |column: &String| {
            ask.equal
                .iter()
                .any(|equal| equal.path == Path::own(column))
        };
        if key.is_empty() || ask.equal.len() != key.len() || !key.iter().all(is_asked) {
            return Ok(None);
        }
        if ask.range.is_some() || !ask.when.is_empty() || self.query.limit != RowLimit::None {
            return unserved(
                format!(
                    "reads one {} with its children, and asks for more than its key",
                    table.name.name
                ),
                "leave that out, and filter in the application",
            );
        }
        let outputs = self.outputs()?;
        // A parent of which nothing but the key is selected is no item of the answer.
        let is_beyond =
            |(at, column): &At| own.contains_key(at) && !(*at == parent && key.contains(column));
        if !outputs.iter().any(|(at, ..)| is_beyond(at)) {
            return Ok(None);
        }
        let Some(mut of_children) = self.bare_children(parent, &children, ways) else {
            return Ok(None);
        };
        ask.outputs = keys(table);
        for ((at, column), name, _) in outputs {
            if let Some(way) = own.get(&at) {
                let steps = way.clone();
                ask.outputs.push((Path { steps, column }.shortened(), name));
                continue;
            }
            // Its own, or that of the nearest child that leads to it.
            let nearest = of_children.iter_mut().filter_map(|(child, asked)| {
                let way = ways.get(*child)?.get(&at)?;
                Some((way.clone(), asked))
            });
            let of = nearest.min_by_key(|(way, _)| way.len());
            if let Some((steps, asked)) = of {
                asked
                    .outputs
                    .push((Path { steps, column }.shortened(), name));
            }
        }
        ask.outputs = distinct(ask.outputs);
        for (_, child) in &mut of_children {
            child.outputs = distinct(std::mem::take(&mut child.outputs));
        }
        self.sort_only_child(table, &mut of_children, ways);
        ask.sql = self.written(parent, own, &of_children, &ask.outputs, ways)?;
        ask.children = of_children.into_iter().map(|(_, child)| child).collect();
        self.note_differences(&mut ask, &children, is_list);
        Ok(Some(ask))
    }

    /// The relations that lead to this one, where they lead to all others; none where one that is no parent does not.
    fn children(&self, parent: usize, own: &BTreeMap<usize, Vec<Step>>, ways: &Ways) -> Vec<usize> {
        let leads =
            |from: usize, to: usize| ways.get(from).is_some_and(|ways| ways.contains_key(&to));
        let all = 0..self.tables.len();
        let is_lowest = |at: &usize| {
            !own.contains_key(at) && !all.clone().any(|other| other != *at && leads(other, *at))
        };
        let lead_here = all
            .clone()
            .filter(is_lowest)
            .all(|child| leads(child, parent));
        let is_child = |at: &usize| !own.contains_key(at) && leads(*at, parent);
        let children: Vec<usize> = all.clone().filter(is_child).collect();
        let are_all = all
            .clone()
            .all(|at| own.contains_key(&at) || children.iter().any(|child| leads(*child, at)));
        if lead_here && are_all {
            children
        } else {
            Vec::new()
        }
    }

    /// The children with their keys; `None` where one has none, or is of the parent's own table.
    fn bare_children(
        &self,
        parent: usize,
        children: &[usize],
        ways: &Ways,
    ) -> Option<Vec<(usize, ChildAsk<'c>)>> {
        let of = self.tables.get(parent)?;
        let child = |at: &usize| {
            let table = *self.tables.get(*at)?;
            let is_told_apart = !table.row_key().is_empty() && table.name != of.name;
            is_told_apart.then_some((
                *at,
                ChildAsk {
                    table,
                    way: ways.get(*at)?.get(&parent)?.clone(),
                    outputs: keys(table),
                    order: Vec::new(),
                },
            ))
        };
        children.iter().map(child).collect()
    }

    /// One list of children keeps the query's order, where it goes upwards.
    fn sort_only_child(&self, parent: &Table, children: &mut [(usize, ChildAsk<'c>)], ways: &Ways) {
        let [(at, child)] = children else { return };
        let order = ways.get(*at).and_then(|ways| self.order(ways).ok());
        let order = order.filter(|order| order.iter().all(|(_, descends)| !descends));
        let is_parents = |path: &Path| {
            let found = path.find(child.table, self.catalog);
            found.is_some_and(|(of, _)| of.name == parent.name)
        };
        let order = order
            .into_iter()
            .flatten()
            .filter(|(path, _)| !is_parents(path));
        child.order = order.collect();
    }

    fn note_differences(&self, ask: &mut Ask<'c>, children: &[usize], is_list: bool) {
        let names: Vec<&str> = ask
            .children
            .iter()
            .map(|child| &*child.table.name.name)
            .collect();
        let is_outer = |at: &usize| {
            let relation = self.select.relations.get(*at);
            relation.is_some_and(|relation| relation.may_be_missing)
        };
        if !children.iter().all(is_outer) {
            let note = format!(
                "the answer has the {} itself also where it has no {}",
                ask.root.name.name,
                names.join(" and no ")
            );
            ask.notes.push(note);
        }
        let is_sorted = ask.children.iter().any(|child| !child.order.is_empty());
        if self.query.order.is_some() && !is_sorted {
            let note = "the children come in the order of their keys: sort in the application";
            ask.notes.push(note.to_owned());
        }
        if is_list {
            let note = "the lists are made by the application, of the items that come";
            ask.notes.push(note.to_owned());
        }
    }
}

/// The columns that tell a table's rows apart.
fn keys(table: &Table) -> Vec<(Path, String)> {
    let columns = table.row_key().iter();
    columns
        .map(|column| (Path::own(column), column.clone()))
        .collect()
}
