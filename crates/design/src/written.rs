//! The chosen design as a mapping: item types with their keys in the table and in indexes, copies, access patterns.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use dynafold_mapping::starter::{StarterNames, filter, quoted, scalar, written_name};
use dynafold_mapping::template::Path as TemplatePath;
use dynafold_relational::catalog::{Catalog, DataType, Dbms, Table, TableName, TypeFamily};

use crate::ask::{Ask, Asked, child_name, is_one_row};
use crate::path::{Path, Step};
use crate::pricing::Writes;
use crate::structure::{KeyPart, Part, Structure, descends, is_loose, own_part};

/// A read with the place that serves it.
pub(crate) struct Placed<'d, 'c> {
    /// The name of the statement.
    pub(crate) name: &'d str,
    pub(crate) about: &'d str,
    pub(crate) rate: Option<f64>,
    pub(crate) strong: bool,
    pub(crate) ask: &'d Ask<'c>,
    pub(crate) structure: usize,
    pub(crate) part: usize,
}

/// All that a mapping is written from.
pub(crate) struct Writing<'d, 'c> {
    pub(crate) catalog: &'c Catalog,
    pub(crate) names: &'d StarterNames,
    pub(crate) structures: &'d [Structure<'c>],
    /// 0 is the table's own key, from 1 on indexes.
    pub(crate) slots: &'d BTreeMap<usize, usize>,
    pub(crate) reads: &'d [Placed<'d, 'c>],
    pub(crate) header: String,
    pub(crate) not_served: &'d [String],
    /// Whether delimiters in values are escaped.
    pub(crate) escapes: bool,
    /// The workload's writes.
    pub(crate) writes: &'d BTreeMap<TableName, Writes>,
    /// What stands before the names of the keys of indexes.
    pub(crate) index_prefix: String,
}

/// What an item type has besides its own columns.
#[derive(Default)]
struct Item {
    /// Aliases of parents by the way to them, in the order in which they are first needed.
    joins: Vec<(Vec<Step>, String)>,
    /// Copied columns with their attributes and the reads that ask for them.
    copies: Vec<(Path, String, BTreeSet<String>)>,
}

/// What a read gives.
struct Answer {
    /// Attributes that the SQL calls otherwise.
    answers: Vec<String>,
    /// Conditions on what is answered.
    filters: Vec<String>,
    /// The attributes of the item type that is read, or of the parent.
    attributes: BTreeSet<String>,
}

/// The partition key that stands for a part: what its values are called.
fn labels(
    part: &Part<'_>,
    structure: &Structure<'_>,
    names: &StarterNames,
    catalog: &Catalog,
) -> Vec<String> {
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
    part.partition.iter().map(label).collect()
}

impl<'c> Writing<'_, 'c> {
    fn parts(
        &self,
        slot: usize,
    ) -> impl Iterator<Item = (usize, usize, &Structure<'c>, &Part<'c>)> {
        let here = self.slots.iter().filter(move |(_, at)| **at == slot);
        here.filter_map(|(structure, _)| Some((*structure, self.structures.get(*structure)?)))
            .flat_map(|(at, structure)| {
                structure
                    .parts
                    .iter()
                    .enumerate()
                    .map(move |(place, part)| (at, place, structure, part))
            })
    }

    /// Whether another item type has items under the same partition key values of a slot.
    fn is_shared(&self, slot: usize, structure: usize, part: &Part<'_>) -> bool {
        let Some(own) = self.structures.get(structure) else {
            return false;
        };
        // A sort key is never empty.
        if own.parts.len() > 1 || slot == 0 || part.sort.is_empty() {
            return true;
        }
        let label = labels(part, own, self.names, self.catalog);
        self.parts(slot).any(|(at, _, other, part)| {
            at != structure && labels(part, other, self.names, self.catalog) == label
        })
    }

    /// What the sort key of a part begins with.
    fn prefix(&self, slot: usize, at: usize, place: usize) -> String {
        let Some(structure) = self.structures.get(at) else {
            return String::new();
        };
        let Some(part) = structure.parts.get(place) else {
            return String::new();
        };
        if !self.is_shared(slot, at, part) {
            // Text alone may be empty, and a key may not.
            return match part.sort.as_slice() {
                [only]
                    if only
                        .path
                        .find(part.table, self.catalog)
                        .is_some_and(|(_, column)| is_loose(column)) =>
                {
                    "#".to_owned()
                }
                _ => String::new(),
            };
        }
        let first = structure
            .parts
            .first()
            .map(|part| self.names.item_type(&part.table.name));
        match (place, first) {
            (0, _) | (_, None) => format!("{}#", self.names.item_type(&part.table.name)),
            (_, Some(first)) => format!("{first}#{}#", self.names.item_type(&part.table.name)),
        }
    }

    /// What a column's values go through in a key.
    fn filters(&self, key: &KeyPart, table: &Table, sorts: bool) -> String {
        let Some((at, column)) = key.path.find(table, self.catalog) else {
            return String::new();
        };
        let mut filters = String::new();
        let is_id = at.row_key().contains(&column.name)
            || at
                .foreign_keys
                .iter()
                .any(|foreign| foreign.columns.contains(&column.name));
        match (&column.data_type, column.data_type.family()) {
            (DataType::Integer { bits, .. }, _) if sorts && key.reversed => {
                filters.push_str(if *bits <= 32 {
                    " | desc(10)"
                } else {
                    " | desc(19)"
                });
            }
            // A number that is no key may be negative.
            (
                DataType::Integer {
                    unsigned: false, ..
                },
                _,
            ) if sorts && !is_id => filters.push_str(" | ordered"),
            (_, TypeFamily::Boolean) => filters.push_str(" | string"),
            _ => filters.push_str(filter(column, sorts)),
        }
        if key.folds {
            filters.push_str(" | lower");
        }
        filters
    }

    /// What stands for NULL in a sort key, where it sorts as the database sorts NULL.
    fn absent(&self, key: &KeyPart, table: &Table) -> &'static str {
        if !key.path.may_be_null(table, self.catalog) {
            return "";
        }
        let family = key
            .path
            .find(table, self.catalog)
            .map(|(_, column)| column.data_type.family());
        let is_text = key
            .path
            .find(table, self.catalog)
            .is_some_and(|(_, column)| is_loose(column));
        match (self.catalog.dbms, family) {
            (Dbms::Postgres, _) if is_text => " | default(\"\u{10ffff}\")",
            (_, _) if is_text => " | default(\"\u{1}\")",
            (Dbms::Postgres, Some(TypeFamily::Time)) => " | string | default(\"~\")",
            (Dbms::Postgres, _) => " | default(\"~\")",
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
        if part.partition.is_empty() {
            return escaped(&labels.concat());
        }
        let each = labels.iter().zip(&part.partition).map(|(label, key)| {
            format!(
                "{}#{}",
                escaped(label),
                value(key, &self.filters(key, part.table, false))
            )
        });
        each.collect::<Vec<_>>().join("#")
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
        if path.steps.is_empty() {
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
        let is_taken = |name: &str| {
            table.columns.iter().any(|column| column.name == name)
                || item.copies.iter().any(|(_, known, _)| known == name)
                || [
                    &self.names.partition,
                    &self.names.sort,
                    &self.names.type_attribute,
                ]
                .contains(&&name.to_owned())
                || name.starts_with("GSI")
        };
        let others = (2..).map(|number| format!("{parent}_{}_{number}", path.column));
        let mut names = [wanted.to_owned(), format!("{parent}_{}", path.column)]
            .into_iter()
            .chain(others);
        let name = names.find(|name| !is_taken(name)).unwrap_or_default();
        item.copies.push((
            path.clone(),
            name.clone(),
            BTreeSet::from([read.to_owned()]),
        ));
        name
    }

    /// The attributes of a slot's key.
    pub(crate) fn key_names(&self, slot: usize) -> (String, String) {
        match slot {
            0 => (self.names.partition.clone(), self.names.sort.clone()),
            slot => (
                format!("{}GSI{slot}PK", self.index_prefix),
                format!("{}GSI{slot}SK", self.index_prefix),
            ),
        }
    }

    /// The names of the reads that a structure serves.
    fn serves(&self, structure: usize) -> Vec<&str> {
        let reads = self.reads.iter().filter(|read| read.structure == structure);
        reads.map(|read| read.name).collect()
    }

    /// The mapping.
    pub(crate) fn mapping(&self) -> String {
        let mut items: BTreeMap<TableName, Item> = BTreeMap::new();
        let mut patterns = String::new();
        let mut projected: BTreeMap<usize, Option<BTreeSet<String>>> = BTreeMap::new();
        for read in self.reads {
            let text = self.pattern(read, &mut items, &mut projected);
            patterns.push_str(&text);
        }
        let mut bodies = String::new();
        for table in &self.catalog.tables {
            if table.is_stored() && table.readable && !table.row_key().is_empty() {
                let item = items.entry(table.name.clone()).or_default();
                let text = self.item(table, item);
                bodies.push_str(&text);
            }
        }
        let mut out = self.header.clone();
        let (partition, sort) = self.key_names(0);
        let _ = writeln!(out, "  key: {{ partition: {partition}, sort: {sort} }}");
        let most = self.slots.values().max().copied().unwrap_or(0);
        if most > 0 {
            out.push_str("  indexes:\n");
        }
        for slot in 1..=most {
            let (partition, sort) = self.key_names(slot);
            let mut reads: Vec<&str> = Vec::new();
            for (structure, _) in self.slots.iter().filter(|(_, at)| **at == slot) {
                reads.extend(self.serves(*structure));
            }
            let project = match projected.get(&slot) {
                Some(Some(names)) if names.len() <= 20 => {
                    let names: Vec<String> = names.iter().map(|name| scalar(name)).collect();
                    if names.is_empty() {
                        ", project: keys".to_owned()
                    } else {
                        format!(", project: [{}]", names.join(", "))
                    }
                }
                _ => String::new(),
            };
            let _ = writeln!(
                out,
                "    # {}\n    GSI{slot}: {{ partition: {partition}, sort: {sort}{project} }}",
                reads.join(", ")
            );
        }
        out.push_str("  billing: on-demand\n");
        if self.escapes {
            out.push_str("  key_escape: percent    # some values hold `#`, which stands between the parts of keys\n");
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
        out
    }

    fn item(&self, table: &Table, item: &mut Item) -> String {
        let name = self.names.item_type(&table.name);
        let (mut key, mut attributes) = (String::new(), String::new());
        for slot in 0..=self.slots.values().max().copied().unwrap_or(0) {
            let here = self
                .parts(slot)
                .filter(|(.., part)| part.table.name == table.name);
            let here = here.map(|(at, place, ..)| (at, place)).next();
            match here {
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
            let reads: Vec<&str> = reads.iter().map(String::as_str).collect();
            let _ = writeln!(
                copied,
                "      {}: {}    # copied for {}",
                scalar(&attribute),
                quoted(&format!("{{{reference}}}")),
                reads.join(", ")
            );
        }
        let attributes = copied + &attributes;
        let mut text = String::new();
        if let Some(comment) = &table.comment {
            let _ = writeln!(text, "  # {}", comment.replace(['\n', '\r'], " "));
        }
        let _ = writeln!(
            text,
            "  {}:\n    from: {}",
            scalar(name),
            scalar(&written_name(self.catalog, &table.name))
        );
        if let Some(rate) = self
            .writes
            .get(&table.name)
            .filter(|writes| writes.all > 0.0)
        {
            let _ = writeln!(text, "    write_rate: {}", rate.all);
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
        if !attributes.is_empty() {
            let _ = write!(text, "    attributes:\n{attributes}");
        }
        text.push('\n');
        text
    }

    /// The key of an item type in a slot: that of the table, or attributes of an index.
    fn slot_key(
        &self,
        table: &Table,
        item: &mut Item,
        slot: usize,
        (at, place): (usize, usize),
    ) -> String {
        let structure = self.structures.get(at);
        let Some((structure, part)) = structure.and_then(|one| Some((one, one.parts.get(place)?)))
        else {
            return String::new();
        };
        let keys = part.partition.iter().chain(&part.sort);
        let references: BTreeMap<Path, String> = keys
            .map(|key| (key.path.clone(), reference(item, table, &key.path)))
            .collect();
        let reference = |key: &KeyPart| references.get(&key.path).cloned().unwrap_or_default();
        let partition = quoted(&self.partition(structure, part, &|key, filters| {
            format!("{{{}{filters}}}", reference(key))
        }));
        let sort = quoted(&self.sort_template(slot, at, place, &reference));
        let reads = self.serves(at);
        let why = if reads.is_empty() {
            String::new()
        } else {
            format!("    # {}", reads.join(", "))
        };
        let (partition_name, sort_name) = self.key_names(slot);
        if slot == 0 {
            return format!(
                "    key: {{ {partition_name}: {partition}, {sort_name}: {sort} }}{why}\n"
            );
        }
        if structure.when.is_empty() {
            return format!(
                "      {partition_name}: {partition}{why}\n      {sort_name}: {sort}\n"
            );
        }
        let when = structure.when.iter().map(|when| {
            let mut text = when.text.clone();
            for (place, way) in when.parents.iter().enumerate() {
                let alias = alias(item, table, way);
                text = text.replace(&format!("parent_{place}."), &format!("{alias}."));
            }
            text
        });
        let when: Vec<String> = when.collect();
        format!(
            "      {partition_name}:{why}\n        $value: {partition}\n        $when: {}\n      {sort_name}: {sort}\n",
            quoted(&when.join(" AND "))
        )
    }

    /// The key of an item type that no read asks for by the table's own key: beside its owner, or on its own.
    fn own_key(&self, table: &Table, item: &mut Item) -> String {
        let part = own_part(self.catalog, table);
        let structure = Structure {
            parts: vec![part.clone()],
            when: Vec::new(),
            named: None,
        };
        let references: BTreeMap<Path, String> = part
            .partition
            .iter()
            .chain(&part.sort)
            .map(|key| (key.path.clone(), reference(item, table, &key.path)))
            .collect();
        let reference = |key: &KeyPart| references.get(&key.path).cloned().unwrap_or_default();
        let partition = self.partition(&structure, &part, &|key, filters| {
            format!("{{{}{filters}}}", reference(key))
        });
        let sort: Vec<String> = part
            .sort
            .iter()
            .map(|key| format!("{{{}{}}}", reference(key), self.filters(key, table, true)))
            .collect();
        let sort = format!(
            "{}#{}",
            escaped(self.names.item_type(&table.name)),
            sort.join("#")
        );
        format!(
            "    key: {{ {}: {}, {}: {} }}\n",
            self.names.partition,
            quoted(&partition),
            self.names.sort,
            quoted(&sort)
        )
    }

    fn sort_template(
        &self,
        slot: usize,
        at: usize,
        place: usize,
        value: &dyn Fn(&KeyPart) -> String,
    ) -> String {
        let Some(part) = self.structures.get(at).and_then(|one| one.parts.get(place)) else {
            return String::new();
        };
        let values: Vec<String> = part
            .sort
            .iter()
            .map(|key| {
                format!(
                    "{{{}{}{}}}",
                    value(key),
                    self.filters(key, part.table, true),
                    self.absent(key, part.table)
                )
            })
            .collect();
        {
            let mut text = escaped(&self.prefix(slot, at, place));
            text.push_str(&joined(&values, part, self.catalog));
            if part.is_ended {
                text.push(part.separator(part.sort.len().saturating_sub(1), self.catalog));
            }
            text
        }
    }

    fn join(&self, table: &Table, way: &[Step], joins: &[(Vec<Step>, String)]) -> String {
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
        });
        match last.columns.as_slice() {
            [column] if is_declared => scalar(&own(column)),
            columns => {
                let pairs = last.referenced.iter().zip(columns);
                let pairs: Vec<String> = pairs
                    .map(|(there, column)| format!("{}: {}", scalar(there), scalar(&own(column))))
                    .collect();
                format!(
                    "{{ table: {}, match: {{ {} }} }}",
                    scalar(&written_name(self.catalog, &last.table)),
                    pairs.join(", ")
                )
            }
        }
    }

    fn pattern(
        &self,
        read: &Placed<'_, 'c>,
        items: &mut BTreeMap<TableName, Item>,
        projected: &mut BTreeMap<usize, Option<BTreeSet<String>>>,
    ) -> String {
        let ask = read.ask;
        let slot = self.slots.get(&read.structure).copied().unwrap_or(0);
        let Some(structure) = self.structures.get(read.structure) else {
            return String::new();
        };
        let Some(part) = structure.parts.get(read.part) else {
            return String::new();
        };
        let Answer {
            answers,
            filters,
            attributes,
        } = self.answer(read, items);
        if slot > 0 {
            let place = projected
                .entry(slot)
                .or_insert_with(|| Some(BTreeSet::new()));
            let is_whole = !ask.children.is_empty()
                || attributes.len() * 2 > ask.root.columns.len() && attributes.len() > 8;
            match place {
                Some(names) if !is_whole => names.extend(attributes),
                place => *place = None,
            }
        }
        let asked = |key: &KeyPart, filters: &str| {
            let mut equal = ask.equal.iter();
            let found = equal.find(|equal| equal.path == key.path && equal.folds == key.folds);
            found.map(|equal| match &equal.value {
                Asked::Parameter(name) if equal.folds && !equal.folds_parameter => {
                    format!("{{{name}{}}}", filters.replace(" | lower", ""))
                }
                Asked::Parameter(name) => format!("{{{name}{filters}}}"),
                Asked::Constant(text) => escaped(text),
            })
        };
        let partition = self.partition(structure, part, &|key, filters| {
            asked(key, filters).unwrap_or_default()
        });
        let (partition_name, sort_name) = self.key_names(slot);
        let mut key = format!("{partition_name}: {}", quoted(&partition));
        if let Some(sort) = self.sort_condition(
            ask,
            part,
            &self.prefix(slot, read.structure, read.part),
            &asked,
        ) {
            let _ = write!(key, ", {sort_name}: {sort}");
        }
        let types = std::iter::once(ask.root).chain(ask.children.iter().map(|child| child.table));
        let types: Vec<String> = types
            .map(|table| scalar(self.names.item_type(&table.name)))
            .collect();
        let mut text = format!("  {}:\n", scalar(read.name));
        if !read.about.is_empty() {
            let _ = writeln!(text, "    description: {}", quoted(read.about));
        }
        let _ = writeln!(text, "    items: [{}]", types.join(", "));
        if slot > 0 {
            let _ = writeln!(text, "    index: GSI{slot}");
        }
        let _ = writeln!(text, "    key: {{ {key} }}");
        self.settings(&mut text, read, slot, &filters, &answers);
        text
    }

    /// What an access pattern says besides its key.
    fn settings(
        &self,
        text: &mut String,
        read: &Placed<'_, 'c>,
        slot: usize,
        filters: &[String],
        answers: &[String],
    ) {
        let ask = read.ask;
        if descends(ask, self.catalog) && ask.children.is_empty() && !is_one_row(ask) {
            text.push_str("    order: desc\n");
        }
        if let Some(limit) = ask.limit.filter(|_| !is_one_row(ask)) {
            let _ = writeln!(text, "    limit: {limit}");
        }
        if !filters.is_empty() {
            let _ = writeln!(text, "    filter: {}", quoted(&filters.join(" AND ")));
        }
        if read.strong && slot == 0 {
            text.push_str("    consistent: true\n");
        }
        if let Some(rate) = read.rate.filter(|rate| *rate > 0.0) {
            let _ = writeln!(text, "    rate: {rate}");
        }
        let _ = writeln!(text, "    sql: >-\n      {}", ask.sql.replace('\n', " "));
        if !answers.is_empty() {
            let _ = writeln!(text, "    answer: {{ {} }}", answers.join(", "));
        }
        if let Some(range) = &ask.range
            && let Some((table, column)) = range.path.find(ask.root, self.catalog)
        {
            let bounds = [&range.low, &range.high]
                .into_iter()
                .flatten()
                .map(|(name, _)| name);
            let from = scalar(&format!(
                "{}.{}",
                written_name(self.catalog, &table.name),
                column.name
            ));
            let params: Vec<String> = bounds
                .chain(&range.prefix)
                .map(|name| format!("{}: {from}", scalar(name)))
                .collect();
            let _ = writeln!(text, "    params: {{ {} }}", params.join(", "));
        }
    }

    /// Puts what a read gives into its item types.
    fn answer(&self, read: &Placed<'_, 'c>, items: &mut BTreeMap<TableName, Item>) -> Answer {
        let ask = read.ask;
        let mut answers: Vec<String> = Vec::new();
        let mut filters: Vec<String> = Vec::new();
        let mut attributes: BTreeSet<String> = BTreeSet::new();
        let mut result: Vec<String> = Vec::new();
        let item = items.entry(ask.root.name.clone()).or_default();
        for (path, name) in &ask.outputs {
            let attribute = self.attribute(item, ask.root, path, name, read.name);
            if attribute != *name {
                let own = if ask.children.is_empty() {
                    String::new()
                } else {
                    format!("{}.", self.names.item_type(&ask.root.name))
                };
                answers.push(format!(
                    "{}: {}",
                    scalar(&format!("{own}{attribute}")),
                    scalar(name)
                ));
            }
            result.push(name.clone());
            attributes.insert(attribute);
        }
        for path in &ask.required {
            let attribute = self.attribute(item, ask.root, path, &path.column, read.name);
            filters.push(format!("attribute_exists({attribute})"));
            attributes.insert(attribute);
        }
        for child in &ask.children {
            let item = items.entry(child.table.name.clone()).or_default();
            let before = result.clone();
            for (path, name) in &child.outputs {
                let asked = child_name(&before, child.table, name);
                let attribute = self.attribute(item, child.table, path, name, read.name);
                if attribute != asked {
                    let own = self.names.item_type(&child.table.name);
                    answers.push(format!(
                        "{}: {}",
                        scalar(&format!("{own}.{attribute}")),
                        scalar(&asked)
                    ));
                }
                result.push(asked);
            }
        }
        Answer {
            answers,
            filters,
            attributes,
        }
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
        if !ask.children.is_empty() {
            return Some(format!("{{ begins_with: {} }}", quoted(&prefix)));
        }
        let given = part
            .sort
            .iter()
            .map_while(|key| asked(key, &self.filters(key, part.table, true)));
        let given: Vec<String> = given.collect();
        let known = given.len();
        let mut begin = format!("{prefix}{}", joined(&given, part, self.catalog));
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
            return (!begin.is_empty() && begin != "#")
                .then(|| format!("{{ begins_with: {} }}", quoted(&begin)));
        };
        let filters = self.filters(key, part.table, true);
        let value = |name: &str| format!("{begin}{{{name}{filters}}}");
        if let Some(name) = &range.prefix {
            return Some(format!("{{ begins_with: {} }}", quoted(&value(name))));
        }
        // The sort key goes on behind the value with a separator, which the next sign ends.
        let behind = match part.separator(known, self.catalog) {
            _ if known + 1 == part.sort.len() && !part.is_ended => "",
            '#' => "$",
            _ => "\u{2}",
        };
        let null = self.absent(key, part.table);
        let low = range.low.as_ref().map(|(name, is_in)| {
            let text = value(name);
            if *is_in {
                text
            } else {
                format!("{text}{behind}")
            }
        });
        let high = range.high.as_ref().map(|(name, is_in)| {
            let text = value(name);
            if *is_in {
                format!("{text}{behind}")
            } else {
                text
            }
        });
        let nulls_last = null.contains('~');
        let first = if null.is_empty() || nulls_last {
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
            (Some(low), Some(high), _) => {
                format!("{{ between: [{}, {}] }}", quoted(&low), quoted(&high))
            }
            (Some(low), None, Some(last)) => {
                format!("{{ between: [{}, {}] }}", quoted(&low), quoted(&last))
            }
            (Some(low), None, None) => format!("{{ ge: {} }}", quoted(&low)),
            (None, Some(high), _) if !first.is_empty() => {
                format!("{{ between: [{}, {}] }}", quoted(&first), quoted(&high))
            }
            (None, Some(high), _) => format!("{{ le: {} }}", quoted(&high)),
            (None, None, _) => return None,
        })
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
        let sign = |c: char| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        };
        // A table that refers to itself is called by the column.
        let base = if last.table == table.name {
            last.columns.concat()
        } else {
            last.table.name.clone()
        };
        let base: String = base.chars().map(sign).collect();
        let is_taken = |name: &str| {
            table
                .columns
                .iter()
                .any(|column| column.name.eq_ignore_ascii_case(name))
                || table.name.name.eq_ignore_ascii_case(name)
                || item.joins.iter().any(|(_, known)| known == name)
        };
        let others = (2..).map(|number| format!("{base}_{number}"));
        let mut names = [base.clone(), format!("{base}_row")]
            .into_iter()
            .chain(others);
        let name = names.find(|name| !is_taken(name)).unwrap_or_default();
        item.joins.push((way.to_vec(), name));
    }
    let found = item.joins.iter().find(|(known, _)| known == way);
    found.map_or_else(String::new, |(_, alias)| alias.clone())
}

/// A column in a template.
fn reference(item: &mut Item, table: &Table, path: &Path) -> String {
    if path.steps.is_empty() {
        return TemplatePath(std::slice::from_ref(&path.column)).to_string();
    }
    let alias = alias(item, table, &path.steps);
    TemplatePath(&[alias, path.column.clone()]).to_string()
}

/// The parts of a sort key, with what stands between them.
fn joined(values: &[String], part: &Part<'_>, catalog: &Catalog) -> String {
    let mut text = String::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            text.push(part.separator(at - 1, catalog));
        }
        text.push_str(value);
    }
    text
}

/// A text of a template: its own braces and brackets doubled.
fn escaped(text: &str) -> String {
    text.replace('{', "{{")
        .replace('}', "}}")
        .replace('[', "[[")
        .replace(']', "]]")
}
