//! What the values of items are made of: the rows that an item has values of, and the columns whose values it holds.

use std::collections::BTreeSet;

use dynafold_dynamodb::{Index, Projection};
use dynafold_format::has_word;
use dynafold_mapping::model::{
    AccessPattern, AttributeNode, ChildContainer, EmbedNode, ItemType, Placeholder, RowDomains,
    SortCondition, Template, TemplatePart, ValuePath,
};
use dynafold_mapping::template::Filter;
use dynafold_mapping::writing;
use dynafold_relational::catalog::{Catalog, TableName};
use dynafold_relational::scan::{Scan, ScanColumn};

use super::Priced;
use crate::ask::{Asked, ChildAsk};
use crate::path::{Path, Step};

/// A column, with the place of its rows among those that an item is made of.
type At<'s> = (usize, &'s str);

/// What an item type's own values are from: others may share its scan.
pub(super) struct MadeOf<'s> {
    catalog: &'s Catalog,
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

/// A value of the key that is asked for.
struct KeyValue<'s> {
    /// The number of the key attribute, and where the value begins in the text that is asked of it.
    place: (usize, usize),
    /// The column that it is from; `None` of a part of a document, say.
    at: Option<At<'s>>,
    filters: &'s [Filter],
    is_parameter: bool,
}

/// What an access pattern asks of a key.
#[derive(Default)]
pub(super) struct KeyAsked<'k> {
    /// The attributes that no item which it finds is without.
    present: Vec<&'k str>,
    /// Those of which it asks for one value, or that begin with one, with whether they only begin so.
    pub(super) fixed: Vec<(&'k str, &'k Template, bool)>,
    /// Whether it asks for a range.
    is_ranged: bool,
}

impl<'k> KeyAsked<'k> {
    /// `index`: the one that the access pattern asks.
    pub(super) fn of(pattern: &'k AccessPattern, index: Option<&'k Index>) -> Self {
        let partition = pattern.partition.iter();
        let partition = partition.map(|(key, asked)| (&*key.name, asked, false));
        let sort = pattern.sort.iter().filter_map(|(key, asked)| match asked {
            SortCondition::Is(asked) => Some((&*key.name, asked, false)),
            SortCondition::BeginsWith(asked) => Some((&*key.name, asked, true)),
            _ => None,
        });
        let present = index.into_iter().flat_map(Index::key);
        let fixed: Vec<_> = partition.chain(sort).collect();
        Self {
            present: present.map(|key| &*key.name).collect(),
            is_ranged: fixed.len() < pattern.partition.len() + pattern.sort.len(),
            fixed,
        }
    }
}

/// Stands for a parameter's value in the text of a key: no mapping has it.
const PARAMETER: char = '\0';

/// A value of a key that an access pattern holds to one value, a parameter's or a text.
pub(super) struct AskedValue<'t> {
    pub(super) placeholder: &'t Placeholder,
    pub(super) asked: Asked,
    /// Whether it only begins so.
    pub(super) begins: bool,
    /// Where it begins in the text that is asked for.
    begin: usize,
}

/// The values of a key that is made so which an access pattern holds to one value; `is_begun`: the key only begins so. A
/// parameter that goes through other filters than the value has no name.
pub(super) fn asked_of<'t>(
    made: &'t Template,
    asked: &Template,
    is_begun: bool,
) -> Vec<AskedValue<'t>> {
    let mut text = String::new();
    for part in asked.flat() {
        match part {
            TemplatePart::Text(own) => text.push_str(own),
            _ => text.push(PARAMETER),
        }
    }
    let given: Vec<&Placeholder> = asked.placeholders().collect();
    // `rest`: the text from a parameter on; `made`: the value that is held to it.
    let parameter = |rest: &str, made: &Placeholder| {
        let nth = given.len().checked_sub(rest.matches(PARAMETER).count());
        let own = nth.and_then(|nth| given.get(nth)).filter(|one| {
            one.filters.is_empty() || writing(&one.filters) == writing(&made.filters)
        });
        Asked::Parameter(own.map_or_else(String::new, |one| one.place.written.to_string()))
    };
    let (mut rest, mut found) = (text.as_str(), Vec::new());
    let mut parts = made.flat().into_iter().peekable();
    while let Some(part) = parts.next() {
        match part {
            TemplatePart::Text(own) if is_begun && own.starts_with(rest) => break,
            TemplatePart::Text(own) => rest = rest.strip_prefix(own.as_str()).unwrap_or(rest),
            TemplatePart::Value(placeholder) => {
                let begin = text.len() - rest.len();
                let value = |asked, begins| AskedValue {
                    placeholder,
                    asked,
                    begins,
                    begin,
                };
                let after = rest.strip_prefix(PARAMETER);
                if is_begun && after.unwrap_or(rest).is_empty() {
                    let asked = after.map(|_| parameter(rest, placeholder));
                    found.extend(asked.map(|asked| value(asked, true)));
                    break;
                }
                let asked = if let Some(after) = after {
                    let asked = parameter(rest, placeholder);
                    rest = after;
                    asked
                } else {
                    let end = match parts.peek() {
                        Some(TemplatePart::Text(next)) => rest.find(next.as_str()),
                        _ => None,
                    };
                    let (own, after) = rest.split_at(end.unwrap_or(rest.len()));
                    rest = after;
                    Asked::Constant(own.to_owned())
                };
                found.push(value(asked, false));
            }
            TemplatePart::Optional(_) => {}
        }
    }
    found
}

impl<'d> Priced<'d> {
    /// What an item type's own values are from, as far as the table, or an index, holds them. `key`: what is asked of the key.
    pub(super) fn made_of(
        &self,
        item: &'d ItemType,
        scan: &'d Scan,
        index: Option<&Index>,
        key: &KeyAsked<'_>,
    ) -> MadeOf<'d> {
        let is_whole = index.is_none_or(|index| index.projection == Projection::All);
        let holds = |name: &str| self.holds(index, name);
        let made = MadeOf::of(item, scan, self.facts.catalog, is_whole, &holds, key);
        let Some(condition) = self.model.condition(item) else {
            return made;
        };
        let table = self.table_of(&scan.from);
        let fixed = table.into_iter().flat_map(|table| {
            let conditions = self.facts.conditions(condition, scan, table);
            let filters = conditions.into_iter().filter_map(|when| when.filter);
            filters.filter_map(move |filter| {
                filter.own_value()?;
                Some(table.column(&filter.path.column)?.name.as_str())
            })
        });
        made.decided_by(condition, fixed)
    }
}

/// The place of a scan's rows, or of those of a join; `base`: that of the scan's rows.
fn place_of(base: usize, join: Option<usize>) -> usize {
    join.map_or(base, |at| base + 1 + at)
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
    /// Of an item type in the table, or in an index that holds these attributes. `is_whole`: it holds those of documents too. `key`: what
    /// is asked of the key.
    fn of(
        item: &'s ItemType,
        scan: &'s Scan,
        catalog: &'s Catalog,
        is_whole: bool,
        holds: &dyn Fn(&str) -> bool,
        key: &KeyAsked<'_>,
    ) -> Self {
        let mut made = Self {
            catalog,
            relations: Vec::new(),
            matched: Vec::new(),
            same: Vec::new(),
            cut: BTreeSet::new(),
            used: BTreeSet::new(),
            partial: BTreeSet::new(),
            whole: BTreeSet::new(),
            asked: None,
            is_ranged: key.is_ranged,
            conditions: Vec::new(),
        };
        let base = made.add(scan);
        let attributes = item.attributes.iter().filter(|(name, _)| holds(name));
        for (name, node) in attributes {
            made.see(node, scan, base, Some(&item.domains));
            if key.present.contains(&&**name) {
                made.see(node.inner(), scan, base, Some(&item.domains));
            }
        }
        let spreads = item.spreads.iter().filter(|_| is_whole);
        let arrays = item.explodes.iter().map(|explode| &explode.array);
        for place in spreads.chain(arrays) {
            made.hold(place, scan, base, true);
        }
        if !key.fixed.is_empty() {
            let keys = key.fixed.iter().enumerate();
            let values = keys.flat_map(|(nth, (name, asked, is_begun))| {
                let made = item.template(name).into_iter();
                let values = made.flat_map(move |made| asked_of(made, asked, *is_begun));
                // All shards are asked.
                let values = values.filter(|value| value.placeholder.shards().is_none());
                values.map(move |value| KeyValue {
                    place: (nth, value.begin),
                    at: column_at(&value.placeholder.place, scan, base),
                    filters: &value.placeholder.filters,
                    is_parameter: matches!(value.asked, Asked::Parameter(_)),
                })
            });
            made.asked = Some(values.collect());
        }
        made.settled()
    }

    /// The same where a `where` decides which rows are there, and gives these columns of theirs one value.
    fn decided_by(mut self, condition: &'s str, fixed: impl Iterator<Item = &'s str>) -> Self {
        self.conditions.push(condition);
        self.whole.extend(fixed.map(|column| (0, column)));
        self.settled()
    }

    /// Adds what joins and embeds say by what it has.
    fn settled(mut self) -> Self {
        self.partial.extend(self.whole.iter().copied());
        self.used.extend(self.partial.iter().map(|(at, _)| *at));
        // A join comes behind those that it is made from.
        for [(from, _), (to, _)] in self.matched.iter().rev() {
            if self.used.contains(to) {
                self.used.insert(*from);
            }
        }
        let is_used = |pair: &&[At<'s>; 2]| pair.iter().all(|(at, _)| self.used.contains(at));
        let same: Vec<[At<'s>; 2]> = self.same.iter().filter(is_used).copied().collect();
        self.partial = led_to(self.partial, &same);
        self.whole = led_to(self.whole, &same);
        self
    }

    /// Adds the rows of a scan and their parents; gives the place of the rows.
    fn add(&mut self, scan: &'s Scan) -> usize {
        let base = self.relations.len();
        self.relations.push(scan.from.table());
        for (at, join) in scan.joins.iter().enumerate() {
            self.relations.push(Some(&join.table));
            let parent = place_of(base, Some(at));
            let pairs = join.on.iter().map(|one| {
                let ours = place_of(base, one.join);
                [(ours, one.ours.as_str()), (parent, one.theirs.as_str())]
            });
            let pairs: Vec<[At<'s>; 2]> = pairs.collect();
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

    /// Adds what an attribute always has. `domains`: what is known of the rows' values; `None` of children.
    fn see(
        &mut self,
        node: &'s AttributeNode,
        scan: &'s Scan,
        base: usize,
        domains: Option<&RowDomains>,
    ) {
        match node {
            AttributeNode::Template(template) => self.see_text(template, scan, base, domains),
            AttributeNode::Map { members, spreads } => {
                for place in spreads {
                    self.hold(place, scan, base, true);
                }
                for (_, node) in members {
                    self.see(node, scan, base, domains);
                }
            }
            AttributeNode::List(nodes) => {
                for node in nodes {
                    self.see(node, scan, base, domains);
                }
            }
            AttributeNode::Typed { value, .. } => self.see(value, scan, base, domains),
            // Items whose rows do not meet it are without the value.
            AttributeNode::When { flag, .. } => {
                if let Some(ScanColumn::Flag(condition)) = scan.columns.get(*flag) {
                    self.conditions.push(condition);
                }
            }
            AttributeNode::Embed(embed) => self.see_children(embed, scan, base),
            AttributeNode::Constant(_) => {}
        }
    }

    fn see_children(&mut self, embed: &'s EmbedNode, scan: &'s Scan, base: usize) {
        let Some(ScanColumn::Embed(children)) = scan.columns.get(embed.column) else {
            return;
        };
        let (rows, child) = (&children.rows, self.relations.len());
        let pairs = children.on.iter().map(|one| {
            let ours = place_of(base, one.join);
            [(ours, one.ours.as_str()), (child, one.theirs.as_str())]
        });
        let pairs: Vec<[At<'s>; 2]> = pairs.collect();
        self.same.extend(&pairs);
        self.matched.extend(pairs);
        self.add(rows);
        if children.most.is_some() || !rows.conditions.is_empty() {
            self.cut.insert(child);
        }
        let conditions = rows.conditions.iter().map(String::as_str);
        self.conditions.extend(conditions);
        if let ChildContainer::Map(key) = &embed.container {
            self.see_text(key, rows, child, None);
        }
        self.see(&embed.each, rows, child, None);
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
            values.any(|one| one.from_every_text && std::ptr::eq(one.placeholder, value))
                && !value.filters.contains(&Filter::Pseudonym)
        };
        let is_alone = template.placeholders().count() == 1;
        for value in template.placeholders() {
            let is_whole = is_alone && value.filters.is_empty() || is_recoverable(value);
            self.hold(&value.place, scan, base, is_whole);
        }
    }

    fn hold(&mut self, place: &ValuePath, scan: &'s Scan, base: usize, is_whole: bool) {
        if let Some(at) = column_at(place, scan, base) {
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
        others: &[MadeOf<'_>],
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

    /// Whether its own rows have a column as it is, or a part of it where not `is_whole`.
    pub(super) fn has_own(&self, column: &str, is_whole: bool) -> bool {
        let held = if is_whole { &self.whole } else { &self.partial };
        held.contains(&(0, column))
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
            let (Some(at), Some((0, column))) = (ours.at, theirs.at) else {
                return false;
            };
            let led = led_to(BTreeSet::from([at]), &self.same);
            let has = |places: &[usize], column: &str| {
                let mut places = places.iter();
                places.any(|at| led.contains(&(*at, column)))
            };
            let mut pairs = step.referenced.iter().zip(&step.columns);
            let is_reference = pairs.any(|(there, ours)| there == column && has(&children, ours));
            writing(ours.filters) == writing(theirs.filters)
                && (is_reference || has(&parents, column))
        };
        let is_in = |place: (usize, usize), values: &[KeyValue<'_>]| {
            values.iter().any(|value| value.place == place)
        };
        // Of a parameter a text in the key of the parents is one value alone.
        let mut given = own.iter().filter(|ours| ours.is_parameter);
        !self.is_ranged
            && given.all(|ours| is_in(ours.place, theirs))
            && theirs.iter().all(|theirs| {
                let mut ours = own.iter().filter(|ours| ours.place == theirs.place);
                ours.any(|ours| is_same(ours, theirs))
            })
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
