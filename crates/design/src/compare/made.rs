//! What the values of items are made of: the rows that an item has values of, and the columns whose values it holds.

use std::collections::BTreeSet;

use dynafold_format::has_word;
use dynafold_mapping::model::{
    AttributeNode, ChildContainer, ItemType, Placeholder, RowDomains, Template, ValuePath,
};
use dynafold_mapping::template::Filter;
use dynafold_relational::catalog::{Table, TableName};
use dynafold_relational::scan::{Scan, ScanColumn};

use crate::path::{Path, Step};

/// A column, with the place of its rows among those that an item is made of.
type At<'s> = (usize, &'s str);

/// What an item type's own values are from: others may share its scan.
#[derive(Default)]
pub(super) struct MadeOf<'s> {
    /// The tables of its rows, of their parents and of embedded children, each as often as it is joined; `None` of a query. Its
    /// own rows come first.
    relations: Vec<Option<&'s TableName>>,
    /// Columns that joins and embeds hold equal.
    equal: Vec<[At<'s>; 2]>,
    /// The columns of which it has something.
    partial: BTreeSet<At<'s>>,
    /// Those whose whole values it has.
    whole: BTreeSet<At<'s>>,
    /// The conditions that decide which rows and attributes are there.
    conditions: Vec<&'s str>,
}

/// The place of a scan's rows, or of those of a join; `base`: that of the scan's rows.
fn place_of(base: usize, join: Option<usize>) -> usize {
    join.map_or(base, |at| base + 1 + at)
}

/// These columns with all that are equal to them.
fn with_equal<'e>(mut found: BTreeSet<At<'e>>, equal: &[[At<'e>; 2]]) -> BTreeSet<At<'e>> {
    loop {
        let before = found.len();
        for [one, other] in equal {
            if found.contains(one) || found.contains(other) {
                found.extend([*one, *other]);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

impl<'s> MadeOf<'s> {
    /// Of an item type in the table, or in an index that holds these attributes. `is_whole`: it holds those of documents too.
    pub(super) fn of(
        item: &'s ItemType,
        scan: &'s Scan,
        is_whole: bool,
        holds: &dyn Fn(&str) -> bool,
    ) -> Self {
        let mut made = Self::default();
        let base = made.add(scan);
        let attributes = item.attributes.iter().filter(|(name, _)| holds(name));
        for (_, node) in attributes {
            made.see(node, scan, base, Some(&item.domains));
        }
        let spreads = item.spreads.iter().filter(|_| is_whole);
        let arrays = item.explodes.iter().map(|explode| &explode.array);
        for place in spreads.chain(arrays) {
            made.hold(place, scan, base, true);
        }
        made.settled()
    }

    /// The same where a `where` decides which rows are there, and gives these columns of theirs one value.
    pub(super) fn decided_by(
        mut self,
        condition: &'s str,
        fixed: impl Iterator<Item = &'s str>,
    ) -> Self {
        self.conditions.push(condition);
        self.whole.extend(fixed.map(|column| (0, column)));
        self.settled()
    }

    /// Adds what joins and embeds hold equal to what it has.
    fn settled(mut self) -> Self {
        self.partial.extend(self.whole.iter().copied());
        self.partial = with_equal(self.partial, &self.equal);
        self.whole = with_equal(self.whole, &self.equal);
        self
    }

    /// Adds the rows of a scan and their parents; gives the place of the rows.
    fn add(&mut self, scan: &'s Scan) -> usize {
        let base = self.relations.len();
        self.relations.push(scan.from.table());
        for (at, join) in scan.joins.iter().enumerate() {
            self.relations.push(Some(&join.table));
            let parent = place_of(base, Some(at));
            self.equal.extend(join.on.iter().map(|one| {
                let ours = place_of(base, one.join);
                [(ours, one.ours.as_str()), (parent, one.theirs.as_str())]
            }));
        }
        base
    }

    /// Adds what an attribute is made of. `domains`: what is known of the rows' values; `None` of children.
    fn see(
        &mut self,
        node: &'s AttributeNode,
        scan: &'s Scan,
        base: usize,
        domains: Option<&RowDomains>,
    ) {
        node.visit(&mut |node| match node {
            AttributeNode::Template(template) => self.see_text(template, scan, base, domains),
            AttributeNode::Map { spreads, .. } => {
                for place in spreads {
                    self.hold(place, scan, base, true);
                }
            }
            AttributeNode::When { flag, .. } => {
                if let Some(ScanColumn::Flag(condition)) = scan.columns.get(*flag) {
                    self.conditions.push(condition);
                }
            }
            AttributeNode::Embed(embed) => {
                let Some(ScanColumn::Embed(children)) = scan.columns.get(embed.column) else {
                    return;
                };
                let rows = &children.rows;
                let child = self.add(rows);
                self.equal.extend(children.on.iter().map(|one| {
                    let ours = place_of(base, one.join);
                    [(ours, one.ours.as_str()), (child, one.theirs.as_str())]
                }));
                let conditions = rows.conditions.iter().map(String::as_str);
                self.conditions.extend(conditions);
                if let ChildContainer::Map(key) = &embed.container {
                    self.see_text(key, rows, child, None);
                }
                self.see(&embed.each, rows, child, None);
            }
            AttributeNode::Constant(_) | AttributeNode::List(_) | AttributeNode::Typed { .. } => {}
        });
    }

    fn see_text(
        &mut self,
        template: &Template,
        scan: &'s Scan,
        base: usize,
        domains: Option<&RowDomains>,
    ) {
        let recoverable = domains.map(|domains| domains.recoverable_placeholders(template));
        let is_recoverable = |value: &Placeholder| {
            let mut values = recoverable.iter().flatten();
            values.any(|one| std::ptr::eq(one.placeholder, value))
                && !value.filters.contains(&Filter::Pseudonym)
        };
        for value in template.placeholders() {
            let is_whole = value.filters.is_empty() || is_recoverable(value);
            self.hold(&value.place, scan, base, is_whole);
        }
    }

    fn hold(&mut self, place: &ValuePath, scan: &'s Scan, base: usize, is_whole: bool) {
        if let Some(ScanColumn::Column { join, name, .. }) = scan.columns.get(place.column) {
            let at = (place_of(base, *join), name.as_str());
            self.partial.insert(at);
            if is_whole && place.path.is_empty() {
                self.whole.insert(at);
            }
        }
    }

    /// The tables that its values are from.
    pub(super) fn tables(&self) -> BTreeSet<&'s TableName> {
        let places = self.partial.iter();
        let tables = places.filter_map(|(at, _)| self.relations.get(*at).copied().flatten());
        tables.collect()
    }

    /// Whether it has rows of a query, whose columns say nothing of tables.
    pub(super) fn has_query(&self) -> bool {
        self.relations.contains(&None)
    }

    /// Whether one of its conditions names a column.
    pub(super) fn decides(&self, column: &str) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|condition| has_word(condition, column))
    }

    /// Whether it has a column of a table's rows, or of parents by the way that leads to them. `is_whole`: as it is.
    pub(super) fn has(&self, root: &Table, path: &Path, is_whole: bool) -> bool {
        let held = if is_whole { &self.whole } else { &self.partial };
        let short = path.clone().shortened();
        [path, &short].into_iter().any(|path| {
            let mut ends = self.ends(&root.name, &path.steps).into_iter();
            ends.any(|at| held.contains(&(at, path.column.as_str())))
        })
    }

    /// Whether its rows are those of the parent at the end of a path, and have its column: beside the rows that lead to it.
    pub(super) fn is_parent_with(&self, root: &Table, path: &Path, is_whole: bool) -> bool {
        let held = if is_whole { &self.whole } else { &self.partial };
        path.steps.last().is_some_and(|step| {
            step.table != root.name
                && self.relations.first() == Some(&Some(&step.table))
                && held.contains(&(0, path.column.as_str()))
        })
    }

    /// Where a way from a table's rows ends: from its own rows if they are of that table.
    fn ends(&self, root: &TableName, steps: &[Step]) -> Vec<usize> {
        let of = |table: &TableName| -> Vec<usize> {
            let relations = self.relations.iter().enumerate();
            let found = relations.filter(|(_, one)| **one == Some(table));
            found.map(|(at, _)| at).collect()
        };
        let mut ends = of(root);
        if ends.first() == Some(&0) {
            ends.truncate(1);
        }
        for step in steps {
            let mut parents = of(&step.table);
            parents.retain(|parent| ends.iter().any(|from| self.leads(*from, step, *parent)));
            ends = parents;
        }
        ends
    }

    /// Whether rows lead to a parent by the columns of a step.
    fn leads(&self, from: usize, step: &Step, parent: usize) -> bool {
        let mut pairs = step.columns.iter().zip(&step.referenced);
        pairs.all(|(own, there)| {
            let ours = BTreeSet::from([(from, own.as_str())]);
            with_equal(ours, &self.equal).contains(&(parent, there.as_str()))
        })
    }
}
