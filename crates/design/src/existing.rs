//! The keys of an existing mapping: which reads they serve, and by what key condition.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_dynamodb::{Index, KeyAttribute, KeyType};
use dynafold_format::text_if;
use dynafold_mapping::model::{AttributeNode, Expired, ItemType, Model};
use dynafold_mapping::scalar::{quoted, scalar};
use dynafold_mapping::template::{Filter, Placeholder, Template, TemplatePart};
use dynafold_relational::catalog::{Catalog, Column, DataType, Table, TableName, TypeFamily};
use dynafold_relational::scan::{Scan, ScanColumn};

use crate::ask::{Ask, Asked, ChildAsk, Equal, is_one_row};
use crate::names::{between, compared};
use crate::path::{Path, Step, is_loose};
use crate::written::{Held, Item, escaped, in_case};

/// An existing mapping, and the schema that it reads.
#[derive(Clone, Copy)]
pub(crate) struct Existing<'m> {
    pub(crate) model: &'m Model,
    pub(crate) catalog: &'m Catalog,
}

/// An item type with the table whose rows it is made of.
#[derive(Clone, Copy)]
pub(crate) struct TableItem<'m> {
    pub(crate) item: &'m ItemType,
    pub(crate) table: &'m Table,
    scan: &'m Scan,
    catalog: &'m Catalog,
}

/// A key of the table or of an index: its attributes, each with the template that makes it for one item type.
struct ItemKey<'m> {
    index: Option<&'m Index>,
    partition: Vec<(&'m KeyAttribute, &'m Template)>,
    sort: Vec<(&'m KeyAttribute, &'m Template)>,
}

/// How an existing key serves a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyCondition {
    /// The index; `None` for the table.
    pub(crate) index: Option<String>,
    /// The key condition of an access pattern, as YAML within braces.
    pub(crate) text: String,
    /// Whether the Query may also find items of types that the read does not ask for.
    pub(crate) finds_others: bool,
}

impl<'m> Existing<'m> {
    /// The item types that have all rows of their tables, the first of each table.
    pub(crate) fn whole(self) -> Vec<TableItem<'m>> {
        let mut found: Vec<TableItem<'m>> = Vec::new();
        for one in self.table_items() {
            let item = one.item;
            let is_whole = item.condition.is_none()
                && item.explodes.is_empty()
                && item.expired == Expired::Load;
            if is_whole && !found.iter().any(|known| known.table.name == one.table.name) {
                found.push(one);
            }
        }
        found
    }

    /// The tables that some item type is made of.
    pub(crate) fn tables(self) -> BTreeSet<TableName> {
        let tables = self.table_items().map(|one| one.table.name.clone());
        tables.collect()
    }

    /// The tables whose item types store NULL instead of leaving the attribute out.
    pub(crate) fn keeping_nulls(self) -> BTreeSet<TableName> {
        let keeping = self.table_items().filter(|one| one.item.keep_nulls);
        keeping.map(|one| one.table.name.clone()).collect()
    }

    /// The name of an item type that holds a column of the table and is none of those that [`Self::whole`] gives.
    pub(crate) fn other_holder(self, table: &TableName, column: &str) -> Option<&'m str> {
        let whole = self.whole();
        let is_first = |item: &ItemType| whole.iter().any(|one| one.item.name == item.name);
        let mut others = self.table_items().filter(|one| !is_first(one.item));
        let other = others.find(|one| {
            let mut places = (one.item.attributes.iter()).flat_map(|(_, node)| node.places());
            let is_column = |at: usize| {
                matches!(one.scan.columns.get(at),
                    Some(ScanColumn::Column { join: None, name, .. }) if name == column)
            };
            one.table.name == *table && places.any(|place| is_column(place.column))
        })?;
        Some(&other.item.name)
    }

    fn table_items(self) -> impl Iterator<Item = TableItem<'m>> {
        let items = self.model.item_types.iter();
        items.filter_map(move |item| self.table_item(item))
    }

    fn table_item(self, item: &'m ItemType) -> Option<TableItem<'m>> {
        let scan = &self.model.passes.get(item.pass)?.scan;
        Some(TableItem {
            item,
            table: self.catalog.table(scan.from.table()?)?,
            scan,
            catalog: self.catalog,
        })
    }

    /// The joins and attributes of the item types that have all rows. `aliases`: of an item type, by its name, the aliases of
    /// the parents that it looks up.
    pub(crate) fn items(self, aliases: &dyn Fn(&str) -> Vec<String>) -> BTreeMap<TableName, Item> {
        let item = |whole: &TableItem<'m>| {
            let own = aliases(&whole.item.name);
            let joins = whole.scan.joins.iter().enumerate();
            let joins = joins.filter(|(_, join)| own.contains(&join.alias));
            let joins = joins.filter_map(|(at, join)| Some((whole.way(at)?, join.alias.clone())));
            let joins = joins.collect();
            let item = Item {
                joins,
                copies: Vec::new(),
                held: Some(whole.held()),
            };
            (whole.table.name.clone(), item)
        };
        self.whole().iter().map(item).collect()
    }

    /// The keys of the mapping that serve a read, those of the table first.
    pub(crate) fn serving(self, ask: &Ask<'_>) -> Vec<KeyCondition> {
        let whole = self.whole();
        let Some(root) = whole.iter().find(|one| one.table.name == ask.root.name) else {
            return Vec::new();
        };
        let keys = self.keys(root);
        if ask.children.is_empty() {
            let rows = keys.iter().filter_map(|key| root.rows(ask, key));
            return rows.collect();
        }
        let collection = |key: &ItemKey<'m>| {
            let child = |asked: &ChildAsk<'_>| {
                let child = whole
                    .iter()
                    .find(|one| one.table.name == asked.table.name)?;
                let mut keys = self.keys(child).into_iter();
                let key = keys.find(|own| index_name(own.index) == index_name(key.index))?;
                Some((*child, key))
            };
            let children: Option<Vec<_>> = ask.children.iter().map(child).collect();
            root.collection(ask, key, &children?)
        };
        keys.iter().filter_map(collection).collect()
    }

    /// Whether the items of a type with the values that a read holds equal are in its order, as these attributes sort them; `descends`:
    /// backwards.
    pub(crate) fn is_in_order(
        self,
        item: &'m ItemType,
        key: &[KeyAttribute],
        ask: &Ask<'_>,
        descends: bool,
    ) -> bool {
        let Some(made) = self.table_item(item) else {
            return false;
        };
        let mut ordered = Vec::new();
        for attribute in key {
            let template = made.always(attribute);
            let given = template.and_then(|one| made.given_text(ask, one, &mut Vec::new()));
            let is_sorted = given
                .is_some_and(|(_, rest)| made.add_sorted_columns(attribute, rest, &mut ordered));
            if !is_sorted {
                break;
            }
        }
        ask.order.iter().all(|(_, down)| *down == descends) && sorts(ask, &ordered)
    }

    /// For each key, of the table or an index, those of the columns which the read holds equal that the key has: the read may ask
    /// for them alone, and leave the others to a filter.
    pub(crate) fn keepable(self, ask: &Ask<'_>) -> BTreeSet<Vec<Path>> {
        let whole = self.whole();
        let Some(root) = whole.iter().find(|one| one.table.name == ask.root.name) else {
            return BTreeSet::new();
        };
        let keys = self.keys(root).into_iter();
        let kept = keys.map(|key| {
            let all = key.partition.iter().chain(&key.sort);
            let placeholders = all.flat_map(|(_, template)| template.placeholders());
            let in_key: Vec<Path> = placeholders.filter_map(|one| root.path(one)).collect();
            let equal = ask.equal.iter().map(|equal| equal.path.clone());
            equal
                .filter(|path| in_key.contains(path))
                .collect::<Vec<Path>>()
        });
        kept.filter(|kept| !kept.is_empty()).collect()
    }

    /// The key of the table, and those of the indexes that hold all items of the type.
    fn keys(self, whole: &TableItem<'m>) -> Vec<ItemKey<'m>> {
        let table = &self.model.table;
        let own = (
            None,
            std::slice::from_ref(&table.partition),
            table.sort.as_slice(),
        );
        let indexes = table.all_indexes();
        let indexes = indexes.map(|index| (Some(index), &*index.partition, &*index.sort));
        let templates = |keys: &'m [KeyAttribute]| {
            let each = keys.iter().map(|key| Some((key, whole.always(key)?)));
            each.collect::<Option<Vec<_>>>()
        };
        let all = std::iter::once(own).chain(indexes);
        all.filter_map(|(index, partition, sort)| {
            Some(ItemKey {
                index,
                partition: templates(partition)?,
                sort: templates(sort)?,
            })
        })
        .collect()
    }
}

fn index_name(index: Option<&Index>) -> Option<&str> {
    index.map(|index| &*index.name)
}

impl<'m> TableItem<'m> {
    /// The template of a key attribute, if every item of the type has that attribute.
    fn always(&self, key: &KeyAttribute) -> Option<&'m Template> {
        let AttributeNode::Template(template) = self.item.node(&key.name)? else {
            return None;
        };
        let is_never_null = |part: &TemplatePart| match part {
            TemplatePart::Text(_) => true,
            TemplatePart::Optional(_) => false,
            TemplatePart::Value(value) => {
                value.replaces_null()
                    || self
                        .path(value)
                        .is_some_and(|path| !path.may_be_null(self.table, self.catalog))
            }
        };
        template.parts.iter().all(is_never_null).then_some(template)
    }

    /// The columns of its own table that a partition key is made of; `None` if the key is made of anything else too.
    pub(crate) fn own_partition(&self, key: &KeyAttribute) -> Option<BTreeSet<String>> {
        let columns = self.always(key)?.placeholders().map(|value| {
            let path = self.path(value)?;
            path.steps.is_empty().then_some(path.column)
        });
        columns.collect()
    }

    /// The column that a placeholder stands for; `None` for a part of a document.
    fn path(&self, value: &Placeholder) -> Option<Path> {
        let place = &value.place;
        if !place.path.is_empty() || place.is_json {
            return None;
        }
        let ScanColumn::Column { join, name, .. } = self.scan.columns.get(place.column)? else {
            return None;
        };
        let steps = join.map_or_else(|| Some(Vec::new()), |join| self.way(join))?;
        let column = name.clone();
        Some(Path { steps, column })
    }

    /// The steps from a row to the parent that a join looks up.
    fn way(&self, join: usize) -> Option<Vec<Step>> {
        let found = self.scan.joins.get(join)?;
        let first = found.on.first()?;
        if found.on.iter().any(|pair| pair.join != first.join) {
            return None;
        }
        let mut steps = match first.join {
            Some(before) if before < join => self.way(before)?,
            Some(_) => return None,
            None => Vec::new(),
        };
        let parent = self.catalog.table(&found.table)?;
        let pairs = found.on.iter();
        let pairs: Vec<(&str, &str)> = pairs.map(|one| (&*one.ours, &*one.theirs)).collect();
        let step = Step::by(parent, &pairs, self.catalog.dbms);
        steps.push(step);
        Some(steps)
    }

    /// The attributes of the item type. A column that several of them hold is found under its own name, if one has that.
    fn held(&self) -> Held {
        let mut held = Held::default();
        for (name, node) in &self.item.attributes {
            held.names.insert(name.to_string());
            let AttributeNode::Template(template) = node else {
                continue;
            };
            let only = template.single().filter(|value| value.filters.is_empty());
            let Some(path) = only.and_then(|value| self.path(value)) else {
                continue;
            };
            let known = held.columns.get(&path);
            if known.is_none() || path.column == **name {
                held.columns.insert(path, name.to_string());
            }
        }
        held
    }

    /// The column that a path ends at.
    fn column(&self, path: &Path) -> Option<&'m Column> {
        path.column_of(self.table, self.catalog)
    }

    /// The condition on a key that finds the rows of a read; `None` if the key does not serve it.
    fn rows(&self, ask: &Ask<'_>, key: &ItemKey<'m>) -> Option<KeyCondition> {
        if !ask.when.is_empty() {
            return None;
        }
        let mut used: Vec<&Path> = Vec::new();
        let mut text: Vec<String> = Vec::new();
        self.partition(ask, key, &mut used, &mut text)?;
        let mut is_range_served = ask.range.is_none();
        let mut ordered: Vec<Path> = Vec::new();
        for (at, &(attribute, template)) in key.sort.iter().enumerate() {
            let (begin, rest) = self.given_text(ask, template, &mut used)?;
            if rest.is_empty() {
                text.push(format!("{}: {}", scalar(&attribute.name), quoted(&begin)));
                continue;
            }
            let range = self.range_condition(ask, attribute, &begin, rest)?;
            is_range_served |= ask.range.is_some();
            if !range.is_empty() {
                text.push(format!("{}: {range}", scalar(&attribute.name)));
            }
            let further = key.sort.iter().skip(at + 1);
            let further = further.map(|&(key, template)| (key, &*template.parts));
            for (key, parts) in std::iter::once((attribute, rest)).chain(further) {
                if !self.add_sorted_columns(key, parts, &mut ordered) {
                    break;
                }
            }
            break;
        }
        let is_all_used = ask.equal.iter().all(|equal| used.contains(&&equal.path));
        let is_sorted = is_one_row(ask) || sorts(ask, &ordered);
        (is_all_used && is_range_served && is_sorted).then(|| KeyCondition {
            index: index_name(key.index).map(str::to_owned),
            text: text.join(", "),
            finds_others: false,
        })
    }

    /// The condition on a key that finds a parent and its children in one item collection; `None` if the key does not serve that.
    fn collection(
        &self,
        ask: &Ask<'_>,
        key: &ItemKey<'m>,
        children: &[(TableItem<'m>, ItemKey<'m>)],
    ) -> Option<KeyCondition> {
        let mut used: Vec<&Path> = Vec::new();
        let mut text: Vec<String> = Vec::new();
        self.partition(ask, key, &mut used, &mut text)?;
        if !ask.equal.iter().all(|equal| used.contains(&&equal.path)) {
            return None;
        }
        for (asked, (child, own)) in ask.children.iter().zip(children) {
            let mut pairs = key.partition.iter().zip(&own.partition);
            if !pairs.all(|((_, one), (_, other))| self.is_same(one, child, other, asked)) {
                return None;
            }
            let mut ordered: Vec<Path> = Vec::new();
            for &(key, template) in &own.sort {
                if !child.add_sorted_columns(key, &template.parts, &mut ordered) {
                    break;
                }
            }
            let is_wanted = |path: &&Path| !is_reference(path, asked);
            let wanted = asked.order.iter().map(|(path, _)| path).filter(is_wanted);
            let given = ordered.iter().filter(is_wanted);
            let is_sorted = wanted.clone().count() <= given.clone().count()
                && wanted.zip(given).all(|(one, other)| one == other);
            if !is_sorted || asked.order.iter().any(|(_, descends)| *descends) {
                return None;
            }
        }
        let templates =
            |key: &ItemKey<'m>| key.sort.first().map(|&(_, template)| template.prefix().0);
        let own = templates(key).unwrap_or_default();
        let prefix = children.iter().fold(own, |common, (_, key)| {
            let other = templates(key).unwrap_or_default();
            let same = common.char_indices().zip(other.chars());
            let end = same
                .take_while(|((_, one), other)| one == other)
                .map(|((at, one), _)| at + one.len_utf8())
                .last();
            common.get(..end.unwrap_or(0)).unwrap_or_default()
        });
        if let Some(&(attribute, _)) = key.sort.first().filter(|_| !prefix.is_empty()) {
            let begins = compared("begins_with", &escaped(prefix));
            text.push(format!("{}: {begins}", scalar(&attribute.name)));
        }
        Some(KeyCondition {
            index: index_name(key.index).map(str::to_owned),
            text: text.join(", "),
            finds_others: true,
        })
    }

    /// Whether the template of a child makes the same text as that of its parent, for every child of the parent.
    fn is_same(
        &self,
        own: &Template,
        child: &Self,
        other: &Template,
        asked: &ChildAsk<'_>,
    ) -> bool {
        own.parts.len() == other.parts.len()
            && own.parts.iter().zip(&other.parts).all(|parts| match parts {
                (TemplatePart::Text(one), TemplatePart::Text(other)) => one == other,
                (TemplatePart::Value(one), TemplatePart::Value(other)) => {
                    let (Some(parent), Some(reference)) = (self.path(one), child.path(other))
                    else {
                        return false;
                    };
                    let steps = asked.way.clone();
                    let column = parent.column;
                    let through = Path { steps, column };
                    parent.steps.is_empty()
                        && one.filters == other.filters
                        && through.spelled(child.table, self.catalog) == reference
                }
                _ => false,
            })
    }

    /// Adds the conditions on the partition key; `None` if the read does not give all of it.
    fn partition<'a>(
        &self,
        ask: &'a Ask<'_>,
        key: &ItemKey<'m>,
        used: &mut Vec<&'a Path>,
        text: &mut Vec<String>,
    ) -> Option<()> {
        for &(attribute, template) in &key.partition {
            let (begin, rest) = self.given_text(ask, template, used)?;
            if !rest.is_empty() {
                return None;
            }
            text.push(format!("{}: {}", scalar(&attribute.name), quoted(&begin)));
        }
        Some(())
    }

    /// The text of a template up to the first value that the read does not give, and the parts from that value on.
    fn given_text<'a>(
        &self,
        ask: &'a Ask<'_>,
        template: &'m Template,
        used: &mut Vec<&'a Path>,
    ) -> Option<(String, &'m [TemplatePart])> {
        let mut text = String::new();
        for (at, part) in template.parts.iter().enumerate() {
            match part {
                TemplatePart::Text(own) => text.push_str(&escaped(own)),
                TemplatePart::Value(value) => {
                    let path = self.path(value)?;
                    let Some(equal) = ask.equal.iter().find(|equal| equal.path == path) else {
                        return Some((text, template.parts.get(at..)?));
                    };
                    text.push_str(&self.equal_text(equal, value)?);
                    used.push(&equal.path);
                    // A text of any length must end visibly: at the end of the key, or before a `#`, which its values do not have.
                    let behind = template.parts.get(at + 1);
                    let has_end = value.escape.is_some()
                        || match behind {
                            None => true,
                            Some(TemplatePart::Text(text)) => text.starts_with('#'),
                            Some(_) => false,
                        };
                    if !has_end && self.column(&path).is_none_or(is_loose) {
                        return None;
                    }
                }
                TemplatePart::Optional(_) => return None,
            }
        }
        Some((text, &[]))
    }

    /// The value that a column is equal to, with the filters that the key's template has for the column.
    fn equal_text(&self, equal: &Equal, value: &Placeholder) -> Option<String> {
        let filters = self.filters(value, equal.folds)?;
        match &equal.value {
            Asked::Parameter(name) => {
                let filters = in_case(&filters, equal.folds, equal.folds_parameter);
                Some(format!("{{{name}{filters}}}"))
            }
            Asked::Constant(text) => {
                (filters.is_empty() && value.escape.is_none()).then(|| escaped(text))
            }
        }
    }

    /// The filters of a placeholder as text; `None` if they change the value in more than its form, or make it lower case where
    /// the read does not (`folds`), or the reverse.
    fn filters(&self, value: &Placeholder, folds: bool) -> Option<String> {
        let column = self.column(&self.path(value)?)?;
        let family = column.data_type.family();
        let is_integer = matches!(column.data_type, DataType::Integer { .. });
        let mut text = String::new();
        for filter in &value.filters {
            let keeps = match filter {
                Filter::Pad { scale: 0, .. } => is_integer,
                Filter::Ordered => family == TypeFamily::Number,
                Filter::Hex | Filter::Base64 => family == TypeFamily::Binary,
                Filter::Iso => matches!(column.data_type, DataType::Timestamp { .. }),
                Filter::String => true,
                Filter::Lower => folds,
                _ => false,
            };
            if !keeps {
                return None;
            }
            text.push_str(" | ");
            text.push_str(&filter.written());
        }
        let has_lower = value.filters.contains(&Filter::Lower);
        (has_lower == folds).then_some(text)
    }

    /// The condition on a sort key attribute that the read gives up to `rest`; an empty text if it asks for all values.
    fn range_condition(
        &self,
        ask: &Ask<'_>,
        attribute: &KeyAttribute,
        begin: &str,
        rest: &'m [TemplatePart],
    ) -> Option<String> {
        let Some(range) = &ask.range else {
            return Some(text_if(!begin.is_empty(), compared("begins_with", begin)));
        };
        let (TemplatePart::Value(value), behind) = rest.split_first()? else {
            return None;
        };
        let path = self.path(value)?;
        let mut ordered = Vec::new();
        self.add_sorted_columns(attribute, rest, &mut ordered);
        if path != range.path
            || range.folds
            || range.folds_parameter
            || ordered.first() != Some(&path)
        {
            return None;
        }
        let filters = self.filters(value, false)?;
        let text = |name: &str| format!("{begin}{{{name}{filters}}}");
        if let Some(name) = &range.prefix {
            let is_text = filters.is_empty() && value.escape.is_none();
            return is_text.then(|| compared("begins_with", &text(name)));
        }
        // If the key goes on behind the value, the next character after the one that ends the value sorts behind all items with it.
        let end = match behind.first() {
            None => String::new(),
            Some(TemplatePart::Text(after)) => next_character(after.chars().next()?)?.to_string(),
            Some(_) => return None,
        };
        let is_last = behind.is_empty();
        let bound = |(name, is_in): &(String, bool), ends_if: bool| {
            let end = text_if(*is_in == ends_if, &*end);
            (format!("{}{end}", text(name)), *is_in || !is_last)
        };
        let low = range.low.as_ref().map(|low| bound(low, false));
        let high = range.high.as_ref().map(|high| bound(high, true));
        // `between` includes its bounds. If the key ends with the value, an excluded bound is asked for by `gt` or `lt`.
        Some(match (low, high) {
            (Some((low, true)), Some((high, true))) => between(&low, &high),
            (Some((low, is_in)), None) if begin.is_empty() => {
                compared(if is_in { "ge" } else { "gt" }, &low)
            }
            (None, Some((high, is_in))) if begin.is_empty() => {
                compared(if is_in { "le" } else { "lt" }, &high)
            }
            (Some((low, true)), None) => between(&low, &end_of_prefix(begin)?),
            (None, Some((high, true))) => between(begin, &high),
            _ => return None,
        })
    }

    /// Adds the columns by which the text of a key attribute sorts as the database does, up to the first by which it does not.
    /// Returns whether it sorts so by all.
    fn add_sorted_columns(
        &self,
        attribute: &KeyAttribute,
        parts: &[TemplatePart],
        into: &mut Vec<Path>,
    ) -> bool {
        for (at, part) in parts.iter().enumerate() {
            let TemplatePart::Value(value) = part else {
                continue;
            };
            let path = self.path(value);
            let Some((path, column)) =
                path.and_then(|path| Some((path.clone(), self.column(&path)?)))
            else {
                return false;
            };
            let is_number = column.data_type.family() == TypeFamily::Number;
            let is_in_order = match (value.filters.as_slice(), &column.data_type) {
                ([Filter::Pad { .. }], DataType::Integer { .. } | DataType::Decimal { .. })
                | ([], DataType::Date | DataType::Timestamp { .. })
                | ([Filter::Iso], DataType::Timestamp { .. }) => true,
                ([Filter::Ordered], _) => is_number,
                ([], _) if is_number => parts.len() == 1 && attribute.key_type == KeyType::N,
                ([], _) => {
                    column.is_plain_text(self.catalog.dbms)
                        && !column.insensitive
                        && value.escape.is_none()
                        && at + 1 == parts.len()
                }
                _ => false,
            };
            if !is_in_order || path.may_be_null(self.table, self.catalog) {
                return false;
            }
            into.push(path);
        }
        true
    }
}

/// Whether a column of a child holds its parent's key.
fn is_reference(path: &Path, asked: &ChildAsk<'_>) -> bool {
    let [step] = asked.way.as_slice() else {
        return false;
    };
    path.steps.is_empty() && step.columns.contains(&path.column)
}

/// Whether items that are sorted by these columns are in the order that a read asks for.
fn sorts(ask: &Ask<'_>, ordered: &[Path]) -> bool {
    let wanted = ask.order.iter().map(|(path, _)| path);
    let wanted: Vec<&Path> = wanted.filter(|path| !ask.has_equal(path)).collect();
    let backwards = ask.order.first().is_some_and(|(_, descends)| *descends);
    (ask.unsortable.is_none() || ask.order.is_empty())
        && ask.order.iter().all(|(_, descends)| *descends == backwards)
        && wanted.len() <= ordered.len()
        && wanted
            .iter()
            .zip(ordered)
            .all(|(one, other)| **one == *other)
}

/// The character with the next code point; `None` for those that templates write doubled.
fn next_character(character: char) -> Option<char> {
    char::from_u32(u32::from(character).checked_add(1)?).filter(|next| !"{}[]".contains(*next))
}

/// The least text behind all that begin with `begin`; `None` if `begin` ends with a placeholder, a brace or a bracket.
fn end_of_prefix(begin: &str) -> Option<String> {
    let last = begin
        .chars()
        .next_back()
        .filter(|last| !"{}[]".contains(*last))?;
    let before = begin.strip_suffix(last)?;
    Some(format!("{before}{}", next_character(last)?))
}
