//! The chosen design as a mapping: item types with their keys in the table and in indexes, copies, access patterns.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use dynafold_dynamodb::MAX_PROJECTED;
use dynafold_format::{free_name, joined, text_if};
use dynafold_mapping::scalar::{quoted, scalar};
use dynafold_mapping::template::Path as TemplatePath;
use dynafold_relational::catalog::{Catalog, DataType, Dbms, Table, TableName, TypeFamily};
use dynafold_sql::{WriteKind, identifier};

use crate::ask::{Ask, Asked, BY_JOIN, child_name, is_one_row};
use crate::facts::significant;
use crate::figures::KeptFigures;
use crate::has_items;
use crate::names::{MappingNames, between, compared, filter, written_name};
use crate::path::{Path, Step, is_loose};
use crate::pins::{Expiries, Pins};
use crate::pricing::{PROJECTED, is_moved};
use crate::splits::Splits;
use crate::structure::{KeyPart, Part, Structure, descends, own_part};
use crate::workload::Statement;
use crate::writes::{Write, Writes};

/// A read with the place that serves it.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'d, 'c> {
    pub(crate) statement: &'d Statement,
    pub(crate) ask: &'d Ask<'c>,
    pub(crate) structure: usize,
    pub(crate) part: usize,
    /// US dollars a month by the search.
    pub(crate) cost: f64,
    /// Whether it reads consistently, where that is asked for.
    pub(crate) is_consistent: bool,
}

impl<'d> Placed<'d, '_> {
    pub(crate) fn name(&self) -> &'d str {
        &self.statement.name
    }
}

/// All that a mapping is written from.
pub(crate) struct Writing<'d, 'c> {
    pub(crate) catalog: &'c Catalog,
    pub(crate) pins: &'d Pins,
    /// Which items expire, and by which column.
    pub(crate) expiries: &'d Expiries,
    pub(crate) names: &'d MappingNames,
    pub(crate) structures: &'d [Structure<'c>],
    /// 0 is the table's own key, from 1 on indexes.
    pub(crate) slots: &'d BTreeMap<usize, usize>,
    pub(crate) reads: &'d [Placed<'d, 'c>],
    /// What finds the rows of updates and deletes in an index; no access patterns of their own.
    pub(crate) found: &'d [Placed<'d, 'c>],
    pub(crate) header: String,
    pub(crate) not_served: &'d [String],
    /// Whether delimiters in values are escaped.
    pub(crate) escapes: bool,
    /// Figures that are kept in items of their own, by what their tables are called here.
    pub(crate) figures: &'d BTreeMap<TableName, KeptFigures>,
    /// Large columns that have items of their own, by what their tables are called here.
    pub(crate) splits: &'d Splits,
    /// The workload's writes.
    pub(crate) writes: &'d BTreeMap<TableName, Writes>,
    /// The indexes, from the first slot on.
    pub(crate) indexes: &'d [IndexNames],
    /// What the partition keys of each slot are called, with the structures that have them.
    pub(crate) labels: OnceCell<Labels>,
}

/// What partition keys are called, by their slot and structure.
pub(crate) type Labels = BTreeSet<(usize, usize, PartitionLabels)>;

/// What the values of a partition key are called.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PartitionLabels {
    labels: Vec<String>,
    /// The place of the first value that may hold `#`.
    open: Option<usize>,
}

impl PartitionLabels {
    /// Whether both may make one text: a value that holds `#` looks like all that may stand behind it.
    fn may_meet(&self, other: &Self) -> bool {
        let runs_into = |one: &Self, other: &Self| {
            let known = one.open.and_then(|at| one.labels.get(..=at));
            known.is_some_and(|known| other.labels.starts_with(known))
        };
        self.labels == other.labels || runs_into(self, other) || runs_into(other, self)
    }
}

/// How an index is called, and the attributes of its key.
#[derive(Debug, Clone)]
pub(crate) struct IndexNames {
    pub(crate) name: String,
    pub(crate) partition: String,
    pub(crate) sort: String,
    /// Whether items of a mapping stand in it already.
    pub(crate) is_shared: bool,
}

/// What U+0001 is for in a sort key.
const SORTS_FIRST: &str = "\\u0001 sorts before all other text: `Ann` before `Ann Lee`, NULL first";

/// The attributes that each index projects: `None` for all.
pub(crate) type Projected = BTreeMap<usize, Option<BTreeSet<String>>>;

/// What the reads of a design ask for, wherever they are served.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// By structure, the attributes that an index of it has to hold.
    pub(crate) attributes: BTreeMap<usize, BTreeSet<String>>,
    /// By item type, the copied columns with their attributes.
    copies: BTreeMap<TableName, Vec<(Path, String)>>,
}

impl Wanted {
    /// The copied columns in items of a table, with their attributes.
    pub(crate) fn copies_in(&self, table: &Table) -> impl Iterator<Item = &(Path, String)> {
        self.copies.get(&table.name).into_iter().flatten()
    }
}

/// What an item type has besides its own columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Item {
    /// Aliases of parents by the way to them, in the order in which they are first needed.
    pub(crate) joins: Vec<(Vec<Step>, String)>,
    /// Copied columns with their attributes and the reads that ask for them.
    pub(crate) copies: Vec<(Path, String, BTreeSet<String>)>,
    /// What an item type of a mapping that there is has already; `None` for one that carries all columns of its table.
    pub(crate) held: Option<Held>,
}

/// The attributes of an item type that there is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held {
    /// Those that are a column and nothing else.
    pub(crate) columns: BTreeMap<Path, String>,
    /// The names of all.
    pub(crate) names: BTreeSet<String>,
}

/// What a read gives.
pub(crate) struct Answer {
    /// Attributes that the SQL calls otherwise.
    answers: Vec<String>,
    /// Conditions on what is answered.
    pub(crate) filters: Vec<String>,
    /// The attributes that an index has to hold for it.
    attributes: BTreeSet<String>,
}

/// The partition key that stands for a part: what its values are called.
fn labels(
    part: &Part<'_>,
    structure: &Structure<'_>,
    names: &MappingNames,
    catalog: &Catalog,
) -> Vec<String> {
    let part = structure.keyed(part);
    if part.partition.is_empty() {
        let named = structure.named.as_deref().unwrap_or_default();
        return vec![format!("{}.{named}", names.item_type(&part.table.name))];
    }
    let label = |key: &KeyPart| {
        let (table, column) = key.path.concept(part.table, catalog);
        let is_key = catalog
            .table(&table)
            .is_some_and(|found| found.row_key().contains(&column));
        if is_key {
            names.item_type(&table).to_owned()
        } else {
            column.to_uppercase()
        }
    };
    let mut labels: Vec<String> = part.partition.iter().map(label).collect();
    if part.is_bare
        && let Some(first) = labels.first_mut()
    {
        // Items of no other type stand there.
        *first = format!("{}.{first}", names.item_type(&part.table.name));
    }
    labels
}

impl<'c> Writing<'_, 'c> {
    /// The structure and its part that has a table's items in a slot.
    fn place_of(&self, table: &Table, slot: usize) -> Option<(usize, usize)> {
        let mut here = self.slots.iter().filter(|(_, at)| **at == slot);
        here.find_map(|(at, _)| {
            let mut parts = self.structures.get(*at)?.parts.iter();
            Some((*at, parts.position(|part| part.table.name == table.name)?))
        })
    }

    /// Whether another item type has items under the same partition key values of a slot.
    fn is_shared(&self, slot: usize, structure: usize, part: &Part<'_>) -> bool {
        let Some(own) = self.structures.get(structure) else {
            return false;
        };
        // A sort key is never empty.
        let is_shared = self.index(slot).is_some_and(|index| index.is_shared);
        if own.is_collection() || slot == 0 || part.sort.is_empty() || is_shared {
            return true;
        }
        let label = self.partition_labels(own, part);
        let all = self.labels.get_or_init(|| self.all_labels());
        let others =
            |(at, one, _): &&(usize, usize, PartitionLabels)| *at == slot && *one != structure;
        all.iter()
            .filter(others)
            .any(|(.., other)| label.may_meet(other))
    }

    fn partition_labels(&self, structure: &Structure<'_>, part: &Part<'_>) -> PartitionLabels {
        let part = structure.keyed(part);
        let mut keys = part.partition.iter();
        let open = keys.position(|key| key.path.is_loose(part.table, self.catalog));
        PartitionLabels {
            labels: labels(part, structure, self.names, self.catalog),
            open: open.filter(|_| !self.escapes),
        }
    }

    fn all_labels(&self) -> Labels {
        let mut all = Labels::new();
        for (at, slot) in self.slots {
            let Some(structure) = self.structures.get(*at) else {
                continue;
            };
            for part in &structure.parts {
                all.insert((*slot, *at, self.partition_labels(structure, part)));
            }
        }
        all
    }

    /// A structure, and one of its parts.
    fn part(&self, at: usize, place: usize) -> Option<(&Structure<'c>, &Part<'c>)> {
        let structure = self.structures.get(at)?;
        let part = structure.parts.get(place)?;
        Some((structure, structure.keyed(part)))
    }

    /// What the sort key of a part begins with.
    fn prefix(&self, slot: usize, at: usize, place: usize) -> String {
        let Some((structure, part)) = self.part(at, place) else {
            return String::new();
        };
        if !self.is_shared(slot, at, part) {
            // Text alone may be empty, and a key may not.
            return match part.sort.as_slice() {
                [only] if only.path.is_loose(part.table, self.catalog) => {
                    String::from(if part.is_bare { "\u{1}" } else { "#" })
                }
                _ => String::new(),
            };
        }
        let own = self.sorted_name(&part.table.name);
        let parent = structure.parts.first();
        let parent = parent.filter(|_| place > 0 && !structure.is_twin);
        match parent.map(|parent| self.sorted_name(&parent.table.name)) {
            None => format!("{own}#"),
            // `!` sorts before `#`, and nothing stands between.
            Some(parent) if structure.stands_before(part) => format!("{parent}!{own}#"),
            Some(parent) => format!("{parent}#{own}#"),
        }
    }

    /// An item type's name as it stands in a sort key. Where keys are escaped, digits of the template's own text would be
    /// escaped in values too, and padded numbers would not sort any more: these digits are spelled.
    fn sorted_name(&self, table: &TableName) -> String {
        const DIGITS: [&str; 10] = [
            "ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE",
        ];
        let name = self.names.item_type(table);
        if !self.escapes {
            return name.to_owned();
        }
        let spelled = |c: char| {
            let digit = c
                .to_digit(10)
                .and_then(|digit| DIGITS.get(usize::try_from(digit).ok()?));
            digit.map_or_else(|| c.to_string(), |word| (*word).to_owned())
        };
        name.chars().map(spelled).collect()
    }

    /// What a column's values go through in a key.
    fn filters(&self, key: &KeyPart, table: &Table, sorts: bool) -> String {
        let Some((at, column)) = key.path.find(table, self.catalog) else {
            return String::new();
        };
        let is_id = at.row_key().contains(&column.name)
            || at
                .foreign_keys
                .iter()
                .any(|foreign| foreign.columns.contains(&column.name));
        let own = match &column.data_type {
            DataType::Integer { bits: 0..=32, .. } if sorts && key.reversed => " | desc(10)",
            DataType::Integer { .. } if sorts && key.reversed => " | desc(19)",
            // A number that is no key may be negative.
            DataType::Integer { unsigned, .. } if sorts && !is_id && !unsigned => " | ordered",
            DataType::Boolean => " | string",
            _ => filter(column, sorts),
        };
        format!("{own}{}", text_if(key.folds, " | lower"))
    }

    /// What stands for NULL in a sort key, where it sorts as the database sorts NULL.
    fn absent(&self, key: &KeyPart, table: &Table) -> &'static str {
        if !key.path.may_be_null(table, self.catalog) {
            return "";
        }
        let column = key.path.column_of(table, self.catalog);
        let family = column.map(|column| column.data_type.family());
        let is_text = column.is_some_and(is_loose);
        // Numbers that count down are sorted the other way, and so is what stands for NULL.
        let is_last = (self.catalog.dbms == Dbms::Postgres) != key.reversed;
        match (is_last, family) {
            (true, _) if is_text => " | default(\"\u{10ffff}\")",
            (_, _) if is_text => " | default(\"\u{1}\")",
            (true, Some(TypeFamily::Time)) => " | string | default(\"~\")",
            (true, _) => " | default(\"~\")",
            (_, Some(TypeFamily::Time)) => " | string | default(\"!\")",
            _ => " | default(\"!\")",
        }
    }

    fn partition(
        &self,
        structure: &Structure<'_>,
        part: &Part<'_>,
        value: &dyn Fn(&KeyPart, &str) -> String,
    ) -> String {
        let labels = labels(part, structure, self.names, self.catalog);
        let shard = part.shard_key().filter(|_| structure.shards > 1);
        let shard = shard.map(|key| value(&key, &format!(" | shard({})", structure.shards)));
        let shard = shard.map_or_else(String::new, |shard| format!(".{shard}"));
        if part.partition.is_empty() {
            return format!("{}{shard}", escaped(&labels.concat()));
        }
        let each = labels.iter().zip(&part.partition).map(|(label, key)| {
            format!(
                "{}#{}",
                escaped(label),
                value(key, &self.filters(key, part.table, false))
            )
        });
        format!("{}{shard}", joined(each, "#"))
    }

    /// The attribute that holds a column.
    fn attribute(
        &self,
        item: &mut Item,
        table: &Table,
        path: &Path,
        wanted: &str,
        read: &str,
    ) -> String {
        if let Some(held) = &item.held {
            if let Some(name) = held.columns.get(path) {
                return name.clone();
            }
        } else if path.steps.is_empty() {
            return path.column.clone();
        }
        if let Some((_, name, reads)) = item.copies.iter_mut().find(|(known, ..)| known == path) {
            reads.insert(read.to_owned());
            return name.clone();
        }
        let parent = path
            .steps
            .last()
            .map_or("", |step| step.table.name.as_str());
        let is_held = |name: &str| match &item.held {
            Some(held) => held.names.contains(name),
            None => table.columns.iter().any(|column| column.name == name),
        };
        let is_taken = |name: &str| {
            is_held(name)
                || item.copies.iter().any(|(_, known, _)| known == name)
                || self.is_other_output(table, path, name)
                || [
                    &self.names.partition,
                    &self.names.sort,
                    &self.names.type_attribute,
                    &self.names.ttl,
                ]
                .contains(&&name.to_owned())
                || name.starts_with("GSI")
        };
        let name = if is_taken(wanted) {
            free_name(&format!("{parent}_{}", path.column), &is_taken)
        } else {
            wanted.to_owned()
        };
        item.copies.push((
            path.clone(),
            name.clone(),
            BTreeSet::from([read.to_owned()]),
        ));
        name
    }

    /// Whether a read of an item type calls something else so: whoever reads the attribute would take it for that.
    fn is_other_output(&self, table: &Table, path: &Path, name: &str) -> bool {
        self.reads.iter().any(|read| {
            let ask = read.ask;
            // What stands beside it in one answer has names there too.
            ask.tables().any(|one| one.name == table.name)
                && ask.types().any(|(one, outputs)| {
                    let is_own = one.name == table.name;
                    let mut outputs = outputs.iter();
                    outputs.any(|(other, known)| known == name && !(is_own && other == path))
                })
        })
    }

    /// The index of a slot; `None` for the table.
    fn index(&self, slot: usize) -> Option<&IndexNames> {
        self.indexes.get(slot.checked_sub(1)?)
    }

    /// The attributes of a slot's key.
    pub(crate) fn key_names(&self, slot: usize) -> (String, String) {
        match self.index(slot) {
            None => (self.names.partition.clone(), self.names.sort.clone()),
            Some(index) => (index.partition.clone(), index.sort.clone()),
        }
    }

    /// An index as YAML, and the reads that it serves.
    pub(crate) fn index_entry(&self, slot: usize, projected: &Projected) -> (String, String) {
        let (partition, sort) = self.key_names(slot);
        let mut reads: Vec<&str> = Vec::new();
        for (structure, _) in self.slots.iter().filter(|(_, at)| **at == slot) {
            reads.extend(self.serves(*structure));
        }
        let project = match projected.get(&slot) {
            Some(Some(names)) if names.is_empty() => ", project: keys".to_owned(),
            Some(Some(names)) => {
                let names = joined(names.iter().map(|name| scalar(name)), ", ");
                format!(", project: [{names}]")
            }
            _ => String::new(),
        };
        let entry = format!("{{ partition: {partition}, sort: {sort}{project} }}");
        (entry, reads.join(", "))
    }

    /// The names of the reads that a structure serves.
    fn serves(&self, structure: usize) -> Vec<&str> {
        let reads = self.reads.iter().chain(self.found);
        let reads = reads.filter(|read| read.structure == structure);
        reads.map(Placed::name).collect()
    }

    /// What its reads ask for.
    pub(crate) fn wanted(&self) -> Wanted {
        let mut items: BTreeMap<TableName, Item> = BTreeMap::new();
        let reads = || self.reads.iter().chain(self.found);
        // The first time tells which copies there are.
        for read in reads() {
            self.answer(read, &mut items);
        }
        let mut attributes: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for read in reads() {
            let answer = self.answer(read, &mut items);
            let known = attributes.entry(read.structure).or_default();
            known.extend(answer.attributes);
        }
        let copies = items.into_iter().map(|(table, item)| {
            let copies = item.copies.into_iter();
            let copies = copies.map(|(path, attribute, _)| (path, attribute));
            (table, copies.collect::<Vec<_>>())
        });
        Wanted {
            attributes,
            copies: copies.collect(),
        }
    }

    /// The mapping, and the attributes that each index projects: `None` for all.
    pub(crate) fn mapping(&self) -> (String, Projected) {
        let mut items: BTreeMap<TableName, Item> = BTreeMap::new();
        let mut patterns = String::new();
        let mut projected = Projected::new();
        // The first time tells which copies there are.
        for read in self.reads.iter().chain(self.found) {
            self.pattern(read, &mut items, &mut projected);
        }
        for read in self.reads {
            let text = self.pattern(read, &mut items, &mut projected);
            patterns.push_str(&text);
        }
        within_limit(&mut projected, 0);
        let mut bodies = String::new();
        for table in self.catalog.tables.iter().filter(|table| has_items(table)) {
            let item = items.entry(table.name.clone()).or_default();
            bodies.push_str(&self.item(table, item));
        }
        let mut out = self.header.clone();
        let (partition, sort) = self.key_names(0);
        let _ = writeln!(out, "  key: {{ partition: {partition}, sort: {sort} }}");
        let most = self.slots.values().max().copied().unwrap_or(0);
        if most > 0 {
            out.push_str("  indexes:\n");
        }
        for slot in 1..=most {
            let (entry, reads) = self.index_entry(slot, &projected);
            let name = self.index(slot).map_or("", |index| &index.name);
            let _ = writeln!(out, "    # {reads}\n    {name}: {entry}");
        }
        out.push_str("  billing: on-demand\n");
        if !self.expiries.is_empty() {
            let _ = writeln!(out, "  ttl: {}", scalar(&self.names.ttl));
        }
        if self.escapes {
            out.push_str("  key_escape: percent    # some values contain `#`, which separates the parts of keys\n");
        }
        if self.names.type_attribute != "_type" {
            let _ = writeln!(out, "  type_attribute: {}", self.names.type_attribute);
        }
        out.push_str("\nitems:\n");
        out.push_str(&bodies);
        if !patterns.is_empty() {
            out.push_str("access_patterns:\n");
            out.push_str(&patterns);
        }
        if !self.not_served.is_empty() {
            out.push_str("# Not served by a Query:\n");
            for line in self.not_served {
                let _ = writeln!(out, "#   {}", line.replace(['\n', '\r'], " "));
            }
        }
        (out, projected)
    }

    /// An item type.
    pub(crate) fn item(&self, table: &Table, item: &mut Item) -> String {
        let name = self.names.item_type(&table.name);
        let (mut key, mut attributes) = (String::new(), String::new());
        for slot in 0..=self.slots.values().max().copied().unwrap_or(0) {
            match self.place_of(table, slot) {
                Some(place) if slot == 0 => key = self.slot_key(table, item, slot, place),
                Some(place) => attributes.push_str(&self.slot_key(table, item, slot, place)),
                None if slot == 0 => key = self.own_key(table, item),
                None => {}
            }
        }
        let copies: Vec<(Path, String, BTreeSet<String>)> = item.copies.clone();
        let mut copied = String::new();
        for (path, attribute, reads) in copies {
            let reference = reference(item, table, &path);
            let _ = writeln!(
                copied,
                "      {}: {}    # copied for {}",
                scalar(&attribute),
                quoted(&format!("{{{reference}}}")),
                joined(reads.iter().map(String::as_str), ", ")
            );
        }
        let mut attributes = copied + &attributes;
        if let Some(time) = self.expiry(table) {
            let ttl = scalar(&self.names.ttl);
            let _ = writeln!(
                attributes,
                "      {ttl}: {time}    # it expires then, as the workload says"
            );
        }
        let mut text = String::new();
        if let Some(comment) = &table.comment {
            let _ = writeln!(text, "  # {}", comment.replace(['\n', '\r'], " "));
        }
        let from = match self.figures.get(&table.name) {
            Some(figures) => {
                let _ = writeln!(
                    text,
                    "  # Each write of {} must update it.",
                    figures.of.base.name
                );
                let key = joined(table.row_key().iter().map(|one| scalar(one)), ", ");
                let sql = folded(&figures.sql).replacen("\n      ", "\n        ", 1);
                format!("\n      sql: {sql}\n      key: [{key}]")
            }
            None => format!(
                " {}",
                scalar(&written_name(self.catalog, self.rows_of(table)))
            ),
        };
        let _ = writeln!(text, "  {}:\n    from:{from}", scalar(name));
        let rate = self.write_rate(table);
        if rate > 0.0 {
            let _ = writeln!(text, "    write_rate: {}", significant(rate, 6));
        }
        if !item.joins.is_empty() {
            text.push_str("    join:\n");
            for (way, alias) in &item.joins {
                let _ = writeln!(
                    text,
                    "      {alias}: {}",
                    self.join(table, way, &item.joins)
                );
            }
        }
        text.push_str(&key);
        text.push_str(&self.carried(table));
        if !attributes.is_empty() {
            let _ = write!(text, "    attributes:\n{attributes}");
        }
        text.push('\n');
        text
    }

    /// The columns of an item type that it has, or leaves out, where it does not have all.
    fn carried(&self, table: &Table) -> String {
        let listed = |columns: &BTreeSet<&str>| joined(columns.iter().map(|one| scalar(one)), ", ");
        if let Some(split) = self.splits.get(&table.name) {
            let columns: BTreeSet<&str> = split.columns.iter().map(String::as_str).collect();
            return format!("    columns: [{}]\n", listed(&columns));
        }
        let splits = self.splits.values();
        let splits = splits.filter(|split| split.base == table.name);
        let large = splits.flat_map(|split| &split.large).map(String::as_str);
        // No attribute is without a name.
        let names = table.columns.iter().map(|column| column.name.as_str());
        let left_out: BTreeSet<&str> = large.chain(names.filter(|name| name.is_empty())).collect();
        text_if(
            !left_out.is_empty(),
            format!("    omit: [{}]\n", listed(&left_out)),
        )
    }

    /// Writes a second of an item type. Large columns apart are written by what sets one of them, or moves them in an index.
    fn write_rate(&self, table: &Table) -> f64 {
        let Some(writes) = self.writes.get(&table.name) else {
            return 0.0;
        };
        let Some(split) = self.splits.get(&table.name) else {
            return writes.all;
        };
        let structures = self.slots.keys().filter_map(|at| self.structures.get(*at));
        let parts = structures.flat_map(|one| one.parts.iter().map(move |part| (one, part)));
        let parts = parts.filter(|(_, part)| part.table.name == table.name);
        let parts: Vec<(&Structure<'_>, &Part<'_>)> = parts.collect();
        let is_written = |write: &&Write| {
            let mut set = write.columns.iter();
            write.kind != WriteKind::Update
                || write.columns.is_empty()
                || set.any(|column| split.columns.contains(column))
                || parts.iter().any(|(one, part)| is_moved(one, part, write))
        };
        let writes = writes.statements.iter().filter(is_written);
        writes.fold(0.0, |sum, write| sum + write.rate)
    }

    /// What the attribute is made of by which an item type's items expire, as YAML; none where they do not.
    fn expiry(&self, table: &Table) -> Option<String> {
        // The figures of rows that have expired stay.
        if self.figures.contains_key(&table.name) {
            return None;
        }
        let rows = self.rows_of(table);
        let time = self.expiries.get(rows)?;
        let seconds = match &self.catalog.table(rows)?.column(&time.column)?.data_type {
            DataType::Integer { .. } => String::new(),
            _ => match &time.after {
                Some(period) => format!(" | plus({period}) | epoch"),
                None => " | epoch".to_owned(),
            },
        };
        let reference = TemplatePath(std::slice::from_ref(&time.column)).to_string();
        Some(quoted(&format!("{{{reference}{seconds}}}")))
    }

    /// The table whose rows make the items.
    fn rows_of<'t>(&'t self, table: &'t Table) -> &'t TableName {
        let figures = self.figures.get(&table.name).map(|one| &one.of.base);
        let split = self.splits.get(&table.name).map(|one| &one.base);
        figures.or(split).unwrap_or(&table.name)
    }

    /// The key of an item type in a slot: that of the table, or attributes of an index.
    fn slot_key(
        &self,
        table: &Table,
        item: &mut Item,
        slot: usize,
        (at, place): (usize, usize),
    ) -> String {
        let Some((partition, sort, when)) = self.index_key(table, item, slot, (at, place)) else {
            return String::new();
        };
        let mut notes = Vec::new();
        let reads = self.serves(at).join(", ");
        if !reads.is_empty() {
            notes.push(reads.as_str());
        }
        let is_in_order = sort.contains("\\u0001");
        if is_in_order && slot == 0 {
            notes.push(SORTS_FIRST);
        }
        let sorts = text_if(is_in_order && slot > 0, format!("    # {SORTS_FIRST}"));
        let why = text_if(!notes.is_empty(), format!("    # {}", notes.join("; ")));
        let (partition_name, sort_name) = self.key_names(slot);
        match when {
            _ if slot == 0 => {
                format!("    key: {{ {partition_name}: {partition}, {sort_name}: {sort} }}{why}\n")
            }
            None => {
                format!(
                    "      {partition_name}: {partition}{why}\n      {sort_name}: {sort}{sorts}\n"
                )
            }
            Some(when) => format!(
                "      {partition_name}:{why}\n        $value: {partition}\n        $when: {when}\n      {sort_name}: {sort}{sorts}\n"
            ),
        }
    }

    /// What stands in the key attributes of a slot, and the condition of a sparse index, each as YAML.
    pub(crate) fn index_key(
        &self,
        table: &Table,
        item: &mut Item,
        slot: usize,
        (at, place): (usize, usize),
    ) -> Option<(String, String, Option<String>)> {
        let (structure, part) = self.part(at, place)?;
        let prefix = self.prefix(slot, at, place);
        let [partition, sort] = self.templates(table, item, (structure, part), &prefix);
        let when = structure.when.iter().map(|when| {
            let mut text = when.text.clone();
            for (place, way) in when.parents.iter().enumerate() {
                let alias = alias(item, table, way);
                let alias = identifier(&alias, self.catalog.dbms);
                text = text.replace(&format!("parent_{place}."), &format!("{alias}."));
            }
            text
        });
        let when: Vec<String> = when.collect();
        let when = (!when.is_empty()).then(|| quoted(&when.join(" AND ")));
        Some((partition, sort, when))
    }

    /// The key of an item type that no read asks for by the table's own key: beside its owner, or on its own.
    fn own_key(&self, table: &Table, item: &mut Item) -> String {
        let part = own_part(self.catalog, table, self.pins);
        let structure = Structure::of_parts(vec![part.clone()]);
        let prefix = format!("{}#", self.names.item_type(&table.name));
        let [partition, sort] = self.templates(table, item, (&structure, &part), &prefix);
        let (partition_name, sort_name) = (&self.names.partition, &self.names.sort);
        format!("    key: {{ {partition_name}: {partition}, {sort_name}: {sort} }}\n")
    }

    /// The templates of a part's partition key and sort key, as YAML. `prefix`: what the sort key begins with.
    fn templates(
        &self,
        table: &Table,
        item: &mut Item,
        (structure, part): (&Structure<'_>, &Part<'_>),
        prefix: &str,
    ) -> [String; 2] {
        let shard = part.shard_key();
        let keys = part.keys().chain(&shard);
        let references = keys.map(|key| (&key.path, reference(item, table, &key.path)));
        let references: BTreeMap<&Path, String> = references.collect();
        let reference = |key: &KeyPart| references.get(&key.path).cloned().unwrap_or_default();
        let partition = self.partition(structure, part, &|key, filters| {
            format!("{{{}{filters}}}", reference(key))
        });
        let values = part.sort.iter().map(|key| {
            let filters = self.filters(key, part.table, true);
            let absent = self.absent(key, part.table);
            format!("{{{}{filters}{absent}}}", reference(key))
        });
        let values: Vec<String> = values.collect();
        let mut sort = escaped(prefix);
        sort.push_str(&separated(&values, part, self.catalog));
        if part.is_ended {
            sort.push(part.separator(part.sort.len().saturating_sub(1), self.catalog));
        }
        [quoted(&partition), quoted(&sort)]
    }

    /// A join as YAML.
    pub(crate) fn join(
        &self,
        table: &Table,
        way: &[Step],
        joins: &[(Vec<Step>, String)],
    ) -> String {
        let Some((last, before)) = way.split_last() else {
            return String::new();
        };
        let alias = joins
            .iter()
            .find(|(known, _)| known == before)
            .map(|(_, alias)| alias.clone());
        let child = before
            .last()
            .map_or(Some(table), |step| self.catalog.table(&step.table));
        let own = |column: &String| match &alias {
            Some(alias) => format!("{alias}.{column}"),
            None => column.clone(),
        };
        let mut keys = child.into_iter().flat_map(|child| &child.foreign_keys);
        let is_declared = keys.any(|key| {
            key.references == last.table
                && key.columns == last.columns
                && key.referenced_columns == last.referenced
                && key.name != BY_JOIN
        });
        match last.columns.as_slice() {
            [column] if is_declared => scalar(&own(column)),
            columns => {
                let pairs = last.referenced.iter().zip(columns);
                let pairs = pairs
                    .map(|(there, column)| format!("{}: {}", scalar(there), scalar(&own(column))));
                format!(
                    "{{ table: {}, match: {{ {} }} }}",
                    scalar(&written_name(self.catalog, &last.table)),
                    joined(pairs, ", ")
                )
            }
        }
    }

    /// An access pattern.
    pub(crate) fn pattern(
        &self,
        read: &Placed<'_, 'c>,
        items: &mut BTreeMap<TableName, Item>,
        projected: &mut Projected,
    ) -> String {
        let ask = read.ask;
        let slot = self.slots.get(&read.structure).copied().unwrap_or(0);
        let Some((structure, part)) = self.part(read.structure, read.part) else {
            return String::new();
        };
        let mut answer = self.answer(read, items);
        if slot > 0 {
            let attributes = std::mem::take(&mut answer.attributes);
            match projected.entry(slot).or_insert(Some(BTreeSet::new())) {
                Some(names) if attributes.len() <= PROJECTED => names.extend(attributes),
                place => *place = None,
            }
        }
        let asked = |key: &KeyPart, filters: &str| {
            let mut equal = ask.equal.iter();
            let found = equal.find(|equal| equal.path == key.path && equal.folds == key.folds);
            found.map(|equal| match &equal.value {
                Asked::Parameter(name) => {
                    let filters = in_case(filters, equal.folds, equal.folds_parameter);
                    format!("{{{name}{filters}}}")
                }
                Asked::Constant(text) => escaped(text),
            })
        };
        let partition = self.partition(structure, part, &|key, filters| {
            // Only a shard is not said: all of them are asked.
            asked(key, filters).unwrap_or_else(|| format!("{{*{filters}}}"))
        });
        let (partition_name, sort_name) = self.key_names(slot);
        let mut key = format!("{partition_name}: {}", quoted(&partition));
        let prefix = self.prefix(slot, read.structure, read.part);
        let sort = if ask.children.is_empty() {
            self.sort_condition(ask, part, &prefix, &asked)
        } else {
            Some(children_condition(structure, ask, &escaped(&prefix)))
        };
        if let Some(sort) = sort {
            let _ = write!(key, ", {sort_name}: {sort}");
        }
        let index = self.index(slot).map(|index| &*index.name);
        self.pattern_lines(read, index, &key, &answer)
    }

    /// An access pattern with this key condition.
    pub(crate) fn pattern_lines(
        &self,
        read: &Placed<'_, 'c>,
        index: Option<&str>,
        key: &str,
        answer: &Answer,
    ) -> String {
        let ask = read.ask;
        let types = ask.tables();
        let types = types.map(|table| scalar(self.names.item_type(&table.name)));
        let mut text = format!("  {}:\n", scalar(read.name()));
        let about = &read.statement.about;
        if !about.is_empty() {
            let _ = writeln!(text, "    description: {}", quoted(about));
        }
        let _ = writeln!(text, "    items: [{}]", joined(types, ", "));
        if let Some(index) = index {
            let _ = writeln!(text, "    index: {}", scalar(index));
        }
        let _ = writeln!(text, "    key: {{ {key} }}");
        self.settings(&mut text, read, index.is_some(), answer);
        text
    }

    /// What an access pattern says besides its key.
    fn settings(
        &self,
        text: &mut String,
        read: &Placed<'_, 'c>,
        in_index: bool,
        Answer {
            answers, filters, ..
        }: &Answer,
    ) {
        let ask = read.ask;
        if descends(ask, self.catalog) && ask.children.is_empty() && !is_one_row(ask) {
            text.push_str("    order: desc\n");
        }
        if let Some(limit) = ask.limit.filter(|_| !is_one_row(ask) && !ask.is_page) {
            let limit = limit.saturating_mul(ask.items_of_row());
            let _ = writeln!(text, "    limit: {limit}");
        }
        if !filters.is_empty() {
            let filters = filters.join(" AND ");
            let why = if filters.contains("attribute_exists") {
                "    # attribute_exists: skips rows with NULL there or without that parent, like the SQL"
            } else {
                ""
            };
            let _ = writeln!(text, "    filter: {}{why}", quoted(&filters));
        }
        if read.statement.strong && !in_index {
            text.push_str("    consistent: true\n");
        }
        if ask.fetches {
            text.push_str("    fetch: true\n");
        }
        if let Some(rate) = read.statement.rate.filter(|rate| *rate > 0.0) {
            let _ = writeln!(text, "    rate: {}", significant(rate, 6));
        }
        let _ = writeln!(text, "    sql: {}", folded(&ask.sql));
        if !answers.is_empty() {
            let _ = writeln!(text, "    answer: {{ {} }}", answers.join(", "));
        }
        let mut asked: BTreeMap<&str, &Path> = BTreeMap::new();
        if let Some(range) = &ask.range {
            let bounds = [&range.low, &range.high].into_iter().flatten();
            let names = bounds.map(|(name, _)| name).chain(&range.prefix);
            asked.extend(names.map(|name| (&**name, &range.path)));
        }
        for filter in &ask.filters {
            let names = filter.test.parameters().into_iter();
            asked.extend(names.map(|name| (name, &filter.path)));
        }
        let params = asked.iter().filter_map(|(name, path)| {
            let (table, column) = path.find(ask.root, self.catalog)?;
            let table = written_name(self.catalog, self.rows_of(table));
            let column = if column.name.contains('.') {
                format!("\"{}\"", column.name)
            } else {
                column.name.clone()
            };
            let from = scalar(&format!("{table}.{column}"));
            Some(format!("{}: {from}", scalar(name)))
        });
        let params: Vec<String> = params.collect();
        if !params.is_empty() {
            let _ = writeln!(text, "    params: {{ {} }}", params.join(", "));
        }
    }

    /// The columns that item types of one answer have copies of: who reads the answer has to know whose a column is.
    fn copied_beside(
        &self,
        ask: &Ask<'c>,
        items: &BTreeMap<TableName, Item>,
    ) -> BTreeSet<(&'c TableName, &'c str)> {
        if ask.children.is_empty() {
            return BTreeSet::new();
        }
        let copies = ask
            .tables()
            .filter_map(|table| Some((table, items.get(&table.name)?)));
        let copies = copies.flat_map(|(table, item)| {
            let paths = item.copies.iter().map(|(path, ..)| path);
            paths.filter_map(move |path| path.find(table, self.catalog))
        });
        let copies = copies.map(|(table, column)| (&table.name, column.name.as_str()));
        copies.collect()
    }

    /// Puts what a read gives into its item types.
    pub(crate) fn answer(
        &self,
        read: &Placed<'_, 'c>,
        items: &mut BTreeMap<TableName, Item>,
    ) -> Answer {
        let ask = read.ask;
        let mut answers: Vec<String> = Vec::new();
        let mut filters: Vec<String> = Vec::new();
        let mut attributes: BTreeSet<String> = BTreeSet::new();
        // Those that a filter asks for.
        let mut filtered: BTreeSet<String> = BTreeSet::new();
        let mut result: Vec<String> = Vec::new();
        let several = !ask.children.is_empty() || ask.twin.is_some();
        let copied = self.copied_beside(ask, items);
        let is_copied = |table: &'c Table, path: &Path| {
            let found = path.find(table, self.catalog);
            found.is_some_and(|(table, column)| copied.contains(&(&table.name, &*column.name)))
        };
        let item = items.entry(ask.root.name.clone()).or_default();
        for (path, name) in &ask.outputs {
            let attribute = self.attribute(item, ask.root, path, name, read.name());
            if attribute != *name || ask.is_twice || is_copied(ask.root, path) {
                let own = if several {
                    self.of_type(ask.root, &attribute)
                } else {
                    attribute.clone()
                };
                answers.push(format!("{}: {}", scalar(&own), scalar(name)));
            }
            result.push(name.clone());
            attributes.insert(attribute);
        }
        for path in &ask.required {
            let item = items.entry(ask.root.name.clone()).or_default();
            let attribute = self.attribute(item, ask.root, path, &path.column, read.name());
            let exists = |name: &String| format!("attribute_exists({})", attribute_name(name));
            let mut each = vec![exists(&attribute)];
            filtered.insert(attribute.clone());
            attributes.insert(attribute);
            // The same row's other item says it too.
            let mut children = ask.children.iter();
            if let Some(child) = children.find(|one| self.splits.contains_key(&one.table.name)) {
                let item = items.entry(child.table.name.clone()).or_default();
                let other = self.attribute(item, child.table, path, &path.column, read.name());
                each.push(exists(&other));
                attributes.insert(other);
            }
            each.dedup();
            filters.push(match each.as_slice() {
                [only] => only.clone(),
                several => format!("({})", several.join(" OR ")),
            });
        }
        let item = items.entry(ask.root.name.clone()).or_default();
        // A copy of a parent's key stands for the reference that is selected too.
        for (path, attribute, _) in &item.copies {
            let short = path.clone().shortened();
            if ask.outputs.iter().any(|(known, _)| *known == short) {
                attributes.insert(attribute.clone());
            }
        }
        for filter in &ask.filters {
            let path = &filter.path;
            let attribute = self.attribute(item, ask.root, path, &path.column, read.name());
            filters.push(filter.test.text(&attribute_name(&attribute)));
            filtered.insert(attribute.clone());
            attributes.insert(attribute);
        }
        let parts = self
            .structures
            .get(read.structure)
            .map_or(0, |one| one.parts.len());
        if !ask.children.is_empty() && parts > 1 + ask.children.len() {
            filters.push(self.type_filter(ask));
            attributes.insert(self.names.type_attribute.clone());
        }
        for child in &ask.children {
            let item = items.entry(child.table.name.clone()).or_default();
            for (path, name) in &child.outputs {
                let asked = child_name(&result, child.table, name);
                let attribute = self.attribute(item, child.table, path, name, read.name());
                attributes.insert(attribute.clone());
                if attribute != asked || is_copied(child.table, path) {
                    let own = self.of_type(child.table, &attribute);
                    answers.push(format!("{}: {}", scalar(&own), scalar(&asked)));
                }
                result.push(asked);
            }
        }
        answers.extend(self.answers_of_twin(read, items));
        Answer {
            answers,
            filters,
            attributes: if ask.fetches { filtered } else { attributes },
        }
    }

    /// An attribute with its item type, as an answer of several types tells it.
    fn of_type(&self, table: &Table, attribute: &str) -> String {
        format!("{}.{attribute}", self.names.item_type(&table.name))
    }

    /// The condition that leaves out all but the item types of a read.
    pub(crate) fn type_filter(&self, ask: &Ask<'_>) -> String {
        let types = ask.tables();
        let types = types.map(|table| format!("'{}'", self.names.item_type(&table.name)));
        let own = attribute_name(&self.names.type_attribute);
        format!("{own} IN ({})", joined(types, ", "))
    }

    /// What the large columns of a row are called in the answer, where that is not what their attributes are.
    fn answers_of_twin(
        &self,
        read: &Placed<'_, 'c>,
        items: &mut BTreeMap<TableName, Item>,
    ) -> Vec<String> {
        let Some(twin) = &read.ask.twin else {
            return Vec::new();
        };
        let item = items.entry(twin.table.name.clone()).or_default();
        let named = twin.outputs.iter().filter_map(|(path, name)| {
            let attribute = self.attribute(item, twin.table, path, name, read.name());
            let own = self.of_type(twin.table, &attribute);
            (attribute != *name).then(|| format!("{}: {}", scalar(&own), scalar(name)))
        });
        named.collect()
    }

    /// What is asked of the sort key; nothing where the partition key says all.
    fn sort_condition(
        &self,
        ask: &Ask<'_>,
        part: &Part<'_>,
        prefix: &str,
        asked: &dyn Fn(&KeyPart, &str) -> Option<String>,
    ) -> Option<String> {
        let prefix = escaped(prefix);
        let given = part
            .sort
            .iter()
            .map_while(|key| asked(key, &self.filters(key, part.table, true)));
        let given: Vec<String> = given.collect();
        let known = given.len();
        let mut begin = format!("{prefix}{}", separated(&given, part, self.catalog));
        if known == part.sort.len() {
            if part.is_ended {
                begin.push(part.separator(known.saturating_sub(1), self.catalog));
            }
            return Some(quoted(&begin));
        }
        if known > 0 {
            begin.push(part.separator(known - 1, self.catalog));
        }
        let next = part.sort.get(known);
        let Some((range, key)) = ask
            .range
            .as_ref()
            .zip(next)
            .filter(|(range, key)| range.path == key.path)
        else {
            let is_known = !matches!(&*begin, "" | "#" | "\u{1}");
            return is_known.then(|| compared("begins_with", &begin));
        };
        let filters = self.filters(key, part.table, true);
        let value = |name: &str| format!("{begin}{{{name}{filters}}}");
        if let Some(name) = &range.prefix {
            let filters = in_case(&filters, range.folds, range.folds_parameter);
            let value = format!("{begin}{{{name}{filters}}}");
            return Some(compared("begins_with", &value));
        }
        // The sort key goes on behind the value with a separator, which the next sign ends.
        let behind = match part.separator(known, self.catalog) {
            _ if known + 1 == part.sort.len() && !part.is_ended => "",
            '#' => "$",
            '\u{1}' => "\u{2}",
            _ => "\u{3}",
        };
        let null = self.absent(key, part.table);
        let bound = |(name, is_in): &(String, bool), ends_if: bool| {
            format!("{}{}", value(name), text_if(*is_in == ends_if, behind))
        };
        let low = range.low.as_ref().map(|low| bound(low, false));
        let high = range.high.as_ref().map(|high| bound(high, true));
        let nulls_last = null.contains('~');
        // Of texts a filter leaves NULL out.
        let is_text = key.path.is_loose(part.table, self.catalog);
        let first = if null.is_empty() || nulls_last || is_text {
            begin.clone()
        } else {
            format!("{begin}!~")
        };
        let last = match (null.is_empty() || !nulls_last, begin.strip_suffix('#')) {
            (false, _) => Some(format!("{begin}~")),
            (true, Some(before)) => Some(format!("{before}$")),
            (true, None) => None,
        };
        Some(match (low, high, last) {
            (Some(low), Some(high), _) => between(&low, &high),
            (Some(low), None, Some(last)) => between(&low, &last),
            (Some(low), None, None) => compared("ge", &low),
            (None, Some(high), _) if !first.is_empty() => between(&first, &high),
            (None, Some(high), _) => compared("le", &high),
            (None, None, _) => return None,
        })
    }
}

/// What a read of a parent with its children asks of the sort key. `parent`: what the parent's begins with, and is, where the large
/// columns of its row stand before it.
fn children_condition(structure: &Structure<'_>, ask: &Ask<'_>, parent: &str) -> String {
    let mut before = structure.parts.iter();
    let before =
        before.any(|part| structure.stands_before(part) && structure.reads_child(ask, part));
    match parent.strip_suffix('#') {
        Some(name) if before => {
            let has_others = ask.children.iter().any(|child| !child.is_same_row);
            // `$` sorts behind `#`.
            let last = if has_others || structure.goes_on() {
                format!("{name}$")
            } else {
                parent.to_owned()
            };
            between(&format!("{name}!"), &last)
        }
        _ => compared("begins_with", parent),
    }
}

/// The alias of the parent that a way leads to; those on the way get theirs too.
fn alias(item: &mut Item, table: &Table, way: &[Step]) -> String {
    for length in 1..=way.len() {
        let Some(way) = way.get(..length) else {
            continue;
        };
        if item.joins.iter().any(|(known, _)| known == way) {
            continue;
        }
        let Some(last) = way.last() else { continue };
        // A table that refers to itself is called by the column.
        let base = if last.table == table.name {
            last.columns.concat()
        } else {
            last.table.name.clone()
        };
        let is_odd = |c: char| !c.is_ascii_alphanumeric();
        let base = base.replace(is_odd, "_").to_ascii_lowercase();
        let is_taken = |name: &str| {
            table
                .columns
                .iter()
                .any(|column| column.name.eq_ignore_ascii_case(name))
                || table.name.name.eq_ignore_ascii_case(name)
                || item.joins.iter().any(|(_, known)| known == name)
        };
        let row = format!("{base}_row");
        let name = if is_taken(&base) && !is_taken(&row) {
            row
        } else {
            free_name(&base, &is_taken)
        };
        item.joins.push((way.to_vec(), name));
    }
    let found = item.joins.iter().find(|(known, _)| known == way);
    found.map_or_else(String::new, |(_, alias)| alias.clone())
}

/// A column in a template.
pub(crate) fn reference(item: &mut Item, table: &Table, path: &Path) -> String {
    if path.steps.is_empty() {
        return TemplatePath(std::slice::from_ref(&path.column)).to_string();
    }
    let alias = alias(item, table, &path.steps);
    TemplatePath(&[alias, path.column.clone()]).to_string()
}

/// An attribute in a filter: in backquotes where it needs them.
pub(crate) fn attribute_name(name: &str) -> String {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_inner);
    if is_plain {
        name.to_owned()
    } else {
        format!("`{name}`")
    }
}

/// The parts of a sort key, with what stands between them.
fn separated(values: &[String], part: &Part<'_>, catalog: &Catalog) -> String {
    let mut text = String::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            text.push(part.separator(at - 1, catalog));
        }
        text.push_str(value);
    }
    text
}

/// SQL as a block of the mapping; in quotes where a line break is more than a blank.
fn folded(sql: &str) -> String {
    if sql.contains(['\n', '\r']) {
        quoted(sql)
    } else {
        format!(">-\n      {sql}")
    }
}

/// A text of a template: its own braces and brackets doubled.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('{', "{{")
        .replace('}', "}}")
        .replace('[', "[[")
        .replace(']', "]]")
}

/// Makes the indexes that name the most attributes hold all, until the names fit into what DynamoDB allows for a table.
/// `taken`: what its other indexes name.
pub(crate) fn within_limit(projected: &mut Projected, taken: usize) {
    let named = |names: &Option<BTreeSet<String>>| names.as_ref().map_or(0, BTreeSet::len);
    for names in projected.values_mut() {
        names.take_if(|names| names.len() > PROJECTED);
    }
    while taken + projected.values().map(named).sum::<usize>() > MAX_PROJECTED {
        match projected.values_mut().max_by_key(|names| named(names)) {
            Some(names) if names.is_some() => *names = None,
            _ => break,
        }
    }
}

/// The filters of a key as a parameter has them: whether the column is compared in lower case, and whether the parameter is.
pub(crate) fn in_case(filters: &str, folds: bool, folds_parameter: bool) -> String {
    match (folds, folds_parameter) {
        (true, false) => filters.replace(" | lower", ""),
        (false, true) => format!("{filters} | lower"),
        _ => filters.to_owned(),
    }
}
