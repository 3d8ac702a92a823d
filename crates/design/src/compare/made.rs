//! What the values of items are made of: the rows that an item has values of, and the columns whose values it holds.

use std::collections::BTreeSet;

use dynafold_dynamodb::{Index, Projection};
use dynafold_format::has_word;
use dynafold_mapping::model::{
    AccessPattern, AttributeNode, ChildContainer, EmbedNode, ItemType, Placeholder, RowDomains,
    Template, TemplatePart, ValuePath,
};
use dynafold_mapping::template::Filter;
use dynafold_mapping::writing;
use dynafold_relational::catalog::{Catalog, TableName};
use dynafold_relational::scan::{Match, Scan, ScanColumn};
use dynafold_sql::Comparator;

use super::{ItemScan, Priced, is_key};
use crate::ask::{ChildAsk, Value};
use crate::path::{Path, Step};

/// A column, with the place of its rows among those that an item is made of.
type At<'s> = (usize, &'s str);

/// What an item type's own values are from: others may share its scan.
pub(super) struct MadeOf<'s> {
    catalog: &'s Catalog,
    scan: &'s Scan,
    /// The tables of its rows, of their parents and of embedded children, each as often as it is joined; `None` of a query. Its
    /// own rows come first.
    relations: Vec<Option<&'s TableName>>,
    /// Columns that joins and embeds match: first that of the rows which they are made from.
    matched: Vec<[At<'s>; 2]>,
    /// Columns of which the first says the second in all rows.
    same: Vec<[At<'s>; 2]>,
    /// The places of embedded children of which some are left out.
    cut: BTreeSet<usize>,
    /// The places of which it has something, and those on the way to them.
    used: BTreeSet<usize>,
    /// The columns of which it has something.
    partial: BTreeSet<At<'s>>,
    /// Those whose whole values it has.
    whole: BTreeSet<At<'s>>,
    /// The values that decide whether the key which is asked for finds it; `None` of a Scan.
    asked: Option<Vec<KeyValue<'s>>>,
    /// Whether that key asks for a range, in which the items beside one may not be.
    is_ranged: bool,
    /// The conditions that decide which rows and attributes are there.
    conditions: Vec<&'s str>,
}

/// A value of a key that an access pattern asks for.
pub(super) struct KeyValue<'t> {
    pub(super) placeholder: &'t Placeholder,
    /// `=`, or whether it asks for a lower or an upper bound.
    pub(super) comparator: Comparator,
    /// A text, or a parameter. One that goes through other filters than the value has no name.
    pub(super) asked: Value,
    /// Whether it only begins so.
    pub(super) begins: bool,
    /// Whether filters leave all of it.
    pub(super) is_exact: bool,
    /// The number of the key attribute, and where the value begins in the text that is asked of it.
    place: (usize, usize),
}

/// The values of an item type's key that an access pattern asks for. All shards are asked.
pub(super) fn key_values<'t>(pattern: &AccessPattern, item: &'t ItemType) -> Vec<KeyValue<'t>> {
    let mut found = Vec::new();
    for (nth, (key, operator, bounds)) in pattern.conditions().enumerate() {
        let Some(made) = item.template(&key.name) else {
            continue;
        };
        let exact = item.domains.recoverable_placeholders(made);
        for (bound, asked) in bounds.into_iter().enumerate() {
            let comparator = match operator {
                "=" | "begins_with" => Comparator::Equal,
                ">" | ">=" | "between" if bound == 0 => Comparator::GreaterOrEqual,
                _ => Comparator::LessOrEqual,
            };
            let mut add = |placeholder: &'t Placeholder, asked, begins, begin| {
                let mut exact = exact.iter();
                found.push(KeyValue {
                    placeholder,
                    comparator,
                    asked,
                    begins,
                    is_exact: placeholder.filters.is_empty()
                        || exact.any(|one| std::ptr::eq(one.placeholder, placeholder)),
                    place: (nth, begin),
                });
            };
            each_asked(made, asked, operator != "=", &mut add);
        }
    }
    found.retain(|value| value.placeholder.shards().is_none());
    found
}

/// Stands for a parameter's value in a text: no mapping has it.
pub(super) const PARAMETER: char = '\0';

/// The text that is asked of a key.
pub(super) fn asked_text(asked: &Template) -> String {
    let text = asked.flat().into_iter().map(|part| match part {
        TemplatePart::Text(own) => own.clone(),
        _ => PARAMETER.to_string(),
    });
    text.collect()
}

/// What the text that is asked of a key has in the place of one of its values, and what stands behind that. `next`: what the key goes on
/// with; `given`: the parameters that are left.
pub(super) fn asked_value<'t, 'a>(
    text: &'t str,
    placeholder: &Placeholder,
    next: Option<&TemplatePart>,
    given: &mut impl Iterator<Item = &'a Placeholder>,
) -> (Value, &'t str) {
    if let Some(after) = text.strip_prefix(PARAMETER) {
        let own = given.next().filter(|one| {
            one.filters.is_empty() || writing(&one.filters) == writing(&placeholder.filters)
        });
        let name = own.map_or_else(String::new, |one| one.place.written.to_string());
        return (Value::Parameter(name), after);
    }
    let end = match next {
        Some(TemplatePart::Text(next)) => text.find(next.as_str()),
        _ => None,
    };
    let (own, after) = text.split_at(end.unwrap_or(text.len()));
    let passed = own.matches(PARAMETER).count();
    given.take(passed).for_each(drop);
    (Value::Text(own.to_owned()), after)
}

/// Calls `add` for each value of a key that is made so: with what is asked of it, whether it only begins so, and where it begins in the
/// text that is asked for. `is_begun`: the key only begins so.
fn each_asked<'t>(
    made: &'t Template,
    asked: &Template,
    is_begun: bool,
    add: &mut dyn FnMut(&'t Placeholder, Value, bool, usize),
) {
    let text = asked_text(asked);
    let mut given = asked.placeholders();
    let mut rest = text.as_str();
    let mut parts = made.flat().into_iter().peekable();
    while let Some(part) = parts.next() {
        let placeholder = match part {
            TemplatePart::Text(own) if is_begun && own.starts_with(rest) => return,
            TemplatePart::Text(own) => {
                rest = rest.strip_prefix(own.as_str()).unwrap_or(rest);
                continue;
            }
            TemplatePart::Value(placeholder) => placeholder,
            TemplatePart::Optional(_) => continue,
        };
        if is_begun && rest.is_empty() {
            return;
        }
        let begin = text.len() - rest.len();
        let next = parts.peek().copied();
        let (value, after) = asked_value(rest, placeholder, next, &mut given);
        // What stands behind it belongs to the value if the key does not go on so.
        let ends =
            |next: &str| !after.is_empty() && (after.starts_with(next) || next.starts_with(after));
        let begins = is_begun
            && match next {
                Some(TemplatePart::Text(next)) => !ends(next.as_str()),
                Some(_) => after.is_empty(),
                None => true,
            };
        add(placeholder, value, begins, begin);
        if begins {
            return;
        }
        rest = after;
    }
}

impl<'d> Priced<'d> {
    /// What an item type's own values are from, as far as the items or the index that `pattern` asks hold them.
    pub(super) fn made_of(&self, one: ItemScan<'d>, pattern: Option<&AccessPattern>) -> MadeOf<'d> {
        let ItemScan { item, scan, .. } = one;
        let index = pattern.and_then(|one| self.index(one.index.as_deref()));
        let holder = index.filter(|_| pattern.is_some_and(|one| !one.fetch));
        let mut made = MadeOf {
            catalog: self.facts.catalog,
            scan,
            relations: Vec::new(),
            matched: Vec::new(),
            same: Vec::new(),
            cut: BTreeSet::new(),
            used: BTreeSet::new(),
            partial: BTreeSet::new(),
            whole: BTreeSet::new(),
            asked: None,
            is_ranged: false,
            conditions: Vec::new(),
        };
        made.add(scan);
        let row = Row {
            scan,
            base: 0,
            domains: Some(&item.domains),
        };
        let attributes = item.attributes.iter();
        for (name, node) in attributes.filter(|(name, _)| self.holds(holder, name)) {
            made.see(node, row);
            // No item in the index is without it.
            if index.is_some_and(|index| is_key(index, name)) {
                made.see(node.inner(), row);
            }
        }
        let is_whole = |index: &Index| index.projection == Projection::All;
        let spreads = item.spreads.iter().filter(|_| holder.is_none_or(is_whole));
        let arrays = item.explodes.iter().map(|explode| &explode.array);
        spreads
            .chain(arrays)
            .for_each(|place| made.hold(place, row, true));
        if let Some(pattern) = pattern.filter(|one| !one.partition.is_empty()) {
            let is_fixed = |one: &KeyValue<'_>| one.comparator == Comparator::Equal;
            let values = key_values(pattern, item).into_iter().filter(is_fixed);
            made.asked = Some(values.collect());
            let mut conditions = pattern.conditions();
            made.is_ranged = conditions.any(|(_, one, _)| !matches!(one, "=" | "begins_with"));
        }
        made.conditions.extend(self.model.condition(item));
        let fixed = self.fixed(one).into_iter();
        made.whole.extend(fixed.map(|column| (0, column)));
        made.settle();
        made
    }

    /// The columns of its own table that an item type's `where` holds to one constant.
    pub(super) fn fixed(&self, one: ItemScan<'d>) -> Vec<&'d str> {
        let Some((condition, table)) = self.model.condition(one.item).zip(one.table) else {
            return Vec::new();
        };
        let all = self.facts.conditions(condition, one.scan, table);
        let filters = all.into_iter().filter_map(|when| when.filter);
        let fixed = filters.filter_map(|filter| {
            filter.own_value()?;
            Some(table.column(&filter.path.column)?.name.as_str())
        });
        fixed.collect()
    }
}

/// The rows that attributes are made of.
#[derive(Clone, Copy)]
struct Row<'s> {
    scan: &'s Scan,
    /// Their place.
    base: usize,
    /// What is known of their values; `None` of children.
    domains: Option<&'s RowDomains>,
}

/// The place of a scan's rows, or of those of a join; `base`: that of the scan's rows.
fn place_of(base: usize, join: Option<usize>) -> usize {
    join.map_or(base, |at| base + 1 + at)
}

/// The columns that a join or an embed matches: first that of a scan's rows or of a join before, whose place is `base`.
fn pairs(on: &[Match], base: usize, to: usize) -> Vec<[At<'_>; 2]> {
    let pairs = on.iter().map(|one| {
        let ours = place_of(base, one.join);
        [(ours, one.ours.as_str()), (to, one.theirs.as_str())]
    });
    pairs.collect()
}

/// These columns with those that the pairs lead to, each from its first column to its second.
fn led_to<'e>(mut found: BTreeSet<At<'e>>, pairs: &[[At<'e>; 2]]) -> BTreeSet<At<'e>> {
    loop {
        let before = found.len();
        for [one, other] in pairs {
            if found.contains(one) {
                found.insert(*other);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

impl<'s> MadeOf<'s> {
    /// Adds what joins and embeds say by what it has.
    fn settle(&mut self) {
        self.partial.extend(&self.whole);
        self.used.extend(self.partial.iter().map(|(at, _)| *at));
        // A join comes behind those that it is made from.
        for [(from, _), (to, _)] in self.matched.iter().rev() {
            if self.used.contains(to) {
                self.used.insert(*from);
            }
        }
        let is_used = |pair: &[At<'s>; 2]| pair.iter().all(|(at, _)| self.used.contains(at));
        let same = self.same.iter().filter(|pair| is_used(pair)).copied();
        let same: Vec<[At<'s>; 2]> = same.collect();
        self.partial = led_to(std::mem::take(&mut self.partial), &same);
        self.whole = led_to(std::mem::take(&mut self.whole), &same);
    }

    /// Adds the rows of a scan and their parents; gives the place of the rows.
    fn add(&mut self, scan: &'s Scan) -> usize {
        let base = self.relations.len();
        self.relations.push(scan.from.table());
        for (at, join) in scan.joins.iter().enumerate() {
            self.relations.push(Some(&join.table));
            let parent = place_of(base, Some(at));
            let pairs = pairs(&join.on, base, parent);
            // Without a partner a row has NULL for it.
            if self.is_kept(&pairs, pairs.len() == 1) {
                self.same.extend(&pairs);
                self.same
                    .extend(pairs.iter().map(|[ours, theirs]| [*theirs, *ours]));
            }
            self.matched.extend(pairs);
        }
        base
    }

    /// Whether the database sees to it that rows have a partner, by pairs of columns, theirs first. `may_be_null`: or NULL for it.
    fn is_kept(&self, pairs: &[[At<'_>; 2]], may_be_null: bool) -> bool {
        let Some([(from, _), (to, _)]) = pairs.first() else {
            return false;
        };
        let table = |at: &usize| self.catalog.table((*self.relations.get(*at)?)?);
        let Some((child, parent)) = table(from).zip(table(to)) else {
            return false;
        };
        let own = pairs.iter().map(|[(_, own), _]| (*own).to_owned());
        let there = pairs.iter().map(|[_, (_, there)]| (*there).to_owned());
        let step = Step {
            columns: own.collect(),
            table: parent.name.clone(),
            referenced: there.collect(),
        };
        let is_there = |column: &String| child.column(column).is_some_and(|one| !one.nullable);
        pairs.iter().all(|[(at, _), _]| at == from)
            && (may_be_null || step.columns.iter().all(is_there))
            && step.is_enforced(child, self.catalog)
    }

    /// Adds what an attribute always has.
    fn see(&mut self, node: &'s AttributeNode, row: Row<'s>) {
        match node {
            AttributeNode::Template(template) => self.see_text(template, row),
            AttributeNode::Map { members, spreads } => {
                for place in spreads {
                    self.hold(place, row, true);
                }
                for (_, node) in members {
                    self.see(node, row);
                }
            }
            AttributeNode::List(nodes) => nodes.iter().for_each(|node| self.see(node, row)),
            AttributeNode::Typed { value, .. } => self.see(value, row),
            // Items whose rows do not meet it are without the value.
            AttributeNode::When { flag, .. } => {
                if let Some(ScanColumn::Flag(condition)) = row.scan.columns.get(*flag) {
                    self.conditions.push(condition);
                }
            }
            AttributeNode::Embed(embed) => self.see_children(embed, row),
            AttributeNode::Constant(_) => {}
        }
    }

    fn see_children(&mut self, embed: &'s EmbedNode, row: Row<'s>) {
        let Some(ScanColumn::Embed(children)) = row.scan.columns.get(embed.column) else {
            return;
        };
        let (scan, child) = (&children.rows, self.relations.len());
        let pairs = pairs(&children.on, row.base, child);
        self.same.extend(&pairs);
        self.matched.extend(pairs);
        self.add(scan);
        if children.most.is_some() || !scan.conditions.is_empty() {
            self.cut.insert(child);
        }
        let conditions = scan.conditions.iter().map(String::as_str);
        self.conditions.extend(conditions);
        let row = Row {
            scan,
            base: child,
            domains: None,
        };
        if let ChildContainer::Map(key) = &embed.container {
            self.see_text(key, row);
        }
        self.see(&embed.each, row);
    }

    fn see_text(&mut self, template: &Template, row: Row<'s>) {
        let recoverable = row
            .domains
            .map(|domains| domains.recoverable_placeholders(template));
        let is_recoverable = |value: &Placeholder| {
            let mut values = recoverable.iter().flatten();
            values.any(|one| one.from_every_text && std::ptr::eq(one.placeholder, value))
                && !value.filters.contains(&Filter::Pseudonym)
        };
        let is_alone = template.placeholders().count() == 1;
        for value in template.placeholders() {
            let is_whole = is_alone && value.filters.is_empty() || is_recoverable(value);
            self.hold(&value.place, row, is_whole);
        }
    }

    fn hold(&mut self, place: &ValuePath, row: Row<'s>, is_whole: bool) {
        if let Some(at) = column_at(place, row.scan, row.base) {
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

    /// Whether it has values of a table's rows.
    pub(super) fn has_some(&self, table: &TableName) -> bool {
        self.places(table).iter().any(|at| self.used.contains(at))
    }

    /// The places of all rows of a table: its own, or such as stand in the items of the rows that they refer to.
    pub(super) fn rows(&self, table: &TableName) -> Vec<usize> {
        let mut places = self.places(table);
        if places.first() == Some(&0) {
            places.truncate(1);
        }
        places.retain(|at| self.used.contains(at) && self.has_each(*at));
        places
    }

    /// The places of all children of a parent's row: in its item, or beside one of `others`.
    pub(super) fn children(
        &self,
        parent: &TableName,
        child: &ChildAsk<'_>,
        others: &[&MadeOf<'_>],
    ) -> Vec<usize> {
        let parents = self.places(parent);
        let mut places = self.places(&child.table.name);
        places.retain(|at| {
            let ends = self.ends(&[*at], &child.way);
            let is_inside = !self.cut.contains(at) && ends.iter().any(|end| parents.contains(end));
            let mut others = others.iter();
            is_inside || *at == 0 && others.any(|other| self.is_beside(&[0], &child.way, other))
        });
        places
    }

    /// Whether it has a column of rows at these places, or of parents by the way that leads to them. `is_whole`: as it is.
    pub(super) fn has(&self, rows: &[usize], path: &Path, is_whole: bool) -> bool {
        let held = if is_whole { &self.whole } else { &self.partial };
        let column = path.column.as_str();
        self.ends(rows, &path.steps).into_iter().any(|at| {
            // Rows that are there have what they are matched by.
            let mut matched = self.matched.iter();
            held.contains(&(at, column))
                || path.steps.is_empty()
                    && matched.any(|[ours, theirs]| *theirs == (at, column) && held.contains(ours))
        })
    }

    /// Whether the key that finds its rows at these places also finds the parents at the end of a way from them, as the rows of `parent`:
    /// what it asks of these are values of the rows too, in the same places of the key.
    pub(super) fn is_beside(&self, rows: &[usize], way: &[Step], parent: &MadeOf<'_>) -> bool {
        let Some((step, before)) = way.split_last() else {
            return false;
        };
        if rows.is_empty() || parent.relations.first() != Some(&Some(&step.table)) {
            return false;
        }
        let Some((own, theirs)) = self.asked.as_ref().zip(parent.asked.as_ref()) else {
            return true;
        };
        let (parents, children) = (self.ends(rows, way), self.ends(rows, before));
        let is_same = |ours: &KeyValue<'_>, theirs: &KeyValue<'_>| {
            let (Some(own), Some((0, column))) = (self.at(ours), parent.at(theirs)) else {
                return false;
            };
            let led = led_to(BTreeSet::from([own]), &self.same);
            let has = |places: &[usize], column: &str| {
                let mut places = places.iter();
                places.any(|at| led.contains(&(*at, column)))
            };
            let mut pairs = step.referenced.iter().zip(&step.columns);
            let is_reference = pairs.any(|(there, ours)| there == column && has(&children, ours));
            writing(&ours.placeholder.filters) == writing(&theirs.placeholder.filters)
                && (is_reference || has(&parents, column))
        };
        let is_in = |place: (usize, usize), values: &[KeyValue<'_>]| {
            values.iter().any(|value| value.place == place)
        };
        // Of a parameter a text in the key of the parents is one value alone.
        let is_parameter = |ours: &&KeyValue<'_>| matches!(ours.asked, Value::Parameter(_));
        let mut given = own.iter().filter(is_parameter);
        !self.is_ranged
            && given.all(|ours| is_in(ours.place, theirs))
            && theirs.iter().all(|theirs| {
                let mut ours = own.iter().filter(|ours| ours.place == theirs.place);
                ours.any(|ours| is_same(ours, theirs))
            })
    }

    /// The column that a value of its key is from; `None` of a part of a document, say.
    fn at(&self, value: &KeyValue<'_>) -> Option<At<'s>> {
        column_at(&value.placeholder.place, self.scan, 0)
    }

    fn places(&self, table: &TableName) -> Vec<usize> {
        let relations = self.relations.iter().enumerate();
        let found = relations.filter(|(_, one)| **one == Some(table));
        found.map(|(at, _)| at).collect()
    }

    /// Whether each row of a place's table stands in an item: by references to the item type's own rows that the database keeps.
    fn has_each(&self, at: usize) -> bool {
        let back = self.matched.iter().filter(|[_, (to, _)]| *to == at);
        let back: Vec<[At<'s>; 2]> = back.map(|[ours, theirs]| [*theirs, *ours]).collect();
        at == 0
            || !self.cut.contains(&at)
                && self.is_kept(&back, false)
                && back.iter().all(|[_, (before, _)]| self.has_each(*before))
    }

    /// The columns of a table whose values are those at the end of a path from its own rows, by what joins and embeds match.
    pub(super) fn matched_in(&self, table: &TableName, path: &Path) -> Vec<Path> {
        let ends = self.ends(&[0], &path.steps).into_iter();
        let ends = ends.map(|at| (at, path.column.as_str()));
        let found = led_to(ends.collect(), &self.matched_both()).into_iter();
        let places = self.places(table);
        let found = found.filter(|(at, _)| places.contains(at));
        found.map(|(_, column)| Path::own(column)).collect()
    }

    /// What joins and embeds match, in both directions.
    fn matched_both(&self) -> Vec<[At<'_>; 2]> {
        let both = self.matched.iter();
        let both = both.flat_map(|[ours, theirs]| [[*ours, *theirs], [*theirs, *ours]]);
        both.collect()
    }

    /// Where a way from rows at these places ends.
    fn ends(&self, rows: &[usize], way: &[Step]) -> Vec<usize> {
        let mut ends = rows.to_vec();
        for step in way {
            let mut parents = self.places(&step.table);
            parents.retain(|parent| ends.iter().any(|from| self.leads(*from, step, *parent)));
            ends = parents;
        }
        ends
    }

    /// Whether rows lead to a parent by the columns of a step.
    fn leads(&self, from: usize, step: &Step, parent: usize) -> bool {
        let both = self.matched_both();
        let mut pairs = step.columns.iter().zip(&step.referenced);
        pairs.all(|(own, there)| {
            let ours = BTreeSet::from([(from, own.as_str())]);
            led_to(ours, &both).contains(&(parent, there.as_str()))
        })
    }
}

/// The column that a value is from; `base`: the place of the scan's rows.
fn column_at<'s>(place: &ValuePath, scan: &'s Scan, base: usize) -> Option<At<'s>> {
    match scan.columns.get(place.column)? {
        ScanColumn::Column { join, name, .. } => Some((place_of(base, *join), name.as_str())),
        _ => None,
    }
}
