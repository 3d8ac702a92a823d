//! Which columns are in items, and which tables are read.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_relational::catalog::{Catalog, Dbms, Table, TableName};
use dynafold_relational::scan::{Relation, Scan, ScanColumn};

use super::Coverage;
use super::facts::{Covered, RelationKind};
use crate::model::{AttributeNode, ChildContainer, Explode, Placeholder, Template, ValuePath};
use crate::template::Filter;

/// The columns that items are made of, table by table; whether their values are in the items, or only a part of them.
type Used<'a> = BTreeMap<&'a TableName, BTreeMap<&'a str, UsedPart>>;

/// How much of a column's value is in items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum UsedPart {
    /// A member of a document, the position in an array, or what `redact`, `shard`, `present`, `truncate` and a `map` with
    /// `*` leave.
    Part,
    Whole,
}

impl UsedPart {
    fn of(placeholder: &Placeholder) -> Self {
        let hides = |filter: &Filter| {
            matches!(
                filter,
                Filter::Redact
                    | Filter::Shard(_)
                    | Filter::Present { .. }
                    | Filter::Truncate(_)
                    | Filter::Map { other: Some(_), .. }
            )
        };
        Self::part_if(!placeholder.place.path.is_empty() || placeholder.filters.iter().any(hides))
    }

    fn part_if(is_part: bool) -> Self {
        if is_part { Self::Part } else { Self::Whole }
    }
}

/// Counts the columns of the tables that the mapping uses.
pub(crate) fn coverage(covered: &[Covered<'_>], catalog: &Catalog) -> Coverage {
    let mut used = Used::new();
    for each in covered {
        for table in each.scan.tables() {
            used.entry(table).or_default();
        }
        let item = &each.subject.item;
        let mut recorder = Recorder {
            scan: each.scan,
            explodes: &item.explodes,
            used: &mut used,
        };
        for (_, node) in &item.attributes {
            recorder.record_node(node);
        }
        for place in &item.spreads {
            recorder.record_document(place);
        }
    }
    let mut coverage = Coverage::default();
    // MySQL lists every database of the server; count only those that the mapping reads.
    let is_read = |table: &&Table| used.contains_key(&table.name) || in_query(table, covered);
    let read = catalog.tables.iter().filter(is_read);
    let used_schemas: BTreeSet<&str> = read.map(|table| table.name.schema.as_str()).collect();
    let is_in_scope = |table: &Table| {
        !matches!(catalog.dbms, Dbms::Mysql | Dbms::Mariadb)
            || used_schemas.is_empty()
            || used_schemas.contains(table.name.schema.as_str())
    };
    for table in &catalog.tables {
        match used.get(&table.name) {
            // Which columns a query reads is not known.
            _ if !is_base(table, covered) && in_query(table, covered) => {}
            Some(columns) => add_table(table, columns, covered, catalog, &mut coverage),
            // Views repeat what their tables hold.
            None if table.is_stored() && is_in_scope(table) => {
                let name = catalog.display_name(&table.name);
                let is_read_through = |parent: &&Table| {
                    parent.heirs.contains(&table.name) && used.contains_key(&parent.name)
                };
                match catalog.tables.iter().find(is_read_through) {
                    Some(parent) => add_inheriting_table(&name, table, parent, &mut coverage),
                    None => coverage.unused_tables.push(name),
                }
            }
            None => {}
        }
    }
    let queries = covered.iter().filter(|c| {
        matches!(
            c.subject.facts.origin,
            RelationKind::Query | RelationKind::Unknown
        )
    });
    coverage.queries = queries.map(|c| c.subject.item.name.to_string()).collect();
    coverage
}

fn add_table(
    table: &Table,
    used: &BTreeMap<&str, UsedPart>,
    covered: &[Covered<'_>],
    catalog: &Catalog,
    coverage: &mut Coverage,
) {
    let name = catalog.display_name(&table.name);
    let is_omitted = |column: &str| {
        covered.iter().any(|each| {
            each.scan.from == Relation::Table(table.name.clone()) && each.omitted.contains(&column)
        })
    };
    if catalog.may_hide_names(table) {
        coverage.hiding_names.push(name.clone());
    }
    let shown = table.columns.iter().map(|column| &column.name);
    for column in shown.chain(table.hidden_columns.iter().flatten()) {
        coverage.columns += 1;
        let full = || format!("{name}.{column}");
        match used.get(column.as_str()) {
            Some(UsedPart::Whole) => coverage.in_items += 1,
            Some(UsedPart::Part) => coverage.in_part.push(full()),
            None if is_omitted(column) => coverage.omitted.push(full()),
            None => coverage.in_no_item.push(full()),
        }
    }
}

/// Adds a table whose rows are read through the table it inherits from. Its own columns are in no item.
fn add_inheriting_table(name: &str, table: &Table, parent: &Table, coverage: &mut Coverage) {
    let own = table
        .columns
        .iter()
        .filter(|column| parent.column(&column.name).is_none());
    for column in own {
        coverage.columns += 1;
        coverage.in_no_item.push(format!("{name}.{}", column.name));
    }
}

fn is_base(table: &Table, covered: &[Covered<'_>]) -> bool {
    let mut scans = covered.iter().map(|each| each.scan);
    scans.any(|scan| matches!(&scan.from, Relation::Table(name) if *name == table.name))
}

/// Whether a query holds a table's name, so that it may read it.
fn in_query(table: &Table, covered: &[Covered<'_>]) -> bool {
    let name = table.name.name.to_lowercase();
    let mut queries = covered.iter().filter_map(|each| each.scan.from.sql());
    queries.any(|sql| sql.to_lowercase().contains(&name))
}

/// Records which columns of one scan are used.
struct Recorder<'a, 'u> {
    scan: &'a Scan,
    explodes: &'u [Explode],
    used: &'u mut Used<'a>,
}

impl Recorder<'_, '_> {
    /// Records the columns that a node uses.
    fn record_node(&mut self, node: &AttributeNode) {
        node.visit(&mut |node| match node {
            AttributeNode::Template(template) => self.record_template(template),
            AttributeNode::Map { spreads, .. } => {
                for place in spreads {
                    self.record_document(place);
                }
            }
            AttributeNode::Embed(embed) => {
                if let Some(ScanColumn::Embed(children)) = self.scan.columns.get(embed.column) {
                    let mut of_children = Recorder {
                        scan: &children.rows,
                        explodes: &[],
                        used: self.used,
                    };
                    of_children.record_node(&embed.each);
                    if let ChildContainer::Map(template) = &embed.container {
                        of_children.record_template(template);
                    }
                }
            }
            _ => {}
        });
    }

    fn record_template(&mut self, template: &Template) {
        for placeholder in template.placeholders() {
            self.record_column(placeholder.place.column, UsedPart::of(placeholder));
        }
    }

    fn record_document(&mut self, place: &ValuePath) {
        self.record_column(place.column, UsedPart::part_if(!place.path.is_empty()));
    }

    /// Records one column. An exploded element counts as the array's column.
    fn record_column(&mut self, at: usize, part: UsedPart) {
        let mut explodes = self.explodes.iter();
        if let Some(explode) = explodes.find(|one| one.element == at || one.index == at) {
            let is_part = explode.index == at || !explode.array.path.is_empty();
            let part = part.min(UsedPart::part_if(is_part));
            return self.record_column(explode.array.column, part);
        }
        if let Some((table, name)) = self.scan.origin(at) {
            let columns = self.used.entry(table).or_default();
            let known = columns.entry(name).or_insert(part);
            *known = part.max(*known);
        }
    }
}
