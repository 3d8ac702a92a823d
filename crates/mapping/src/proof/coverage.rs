//! Which columns are in items, and which tables are read.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_relational::catalog::{Catalog, Column, Dbms, Table, TableName};
use dynafold_relational::scan::{Relation, Scan, ScanColumn};

use super::Coverage;
use super::facts::{Covered, RelationKind};
use crate::model::{AttributeNode, ChildContainer, Explode, Placeholder, Template};
use crate::template::Filter;

/// The columns that items are made of, table by table; whether their values are in the items, or only a part of them.
type Used<'a> = BTreeMap<&'a TableName, BTreeMap<&'a str, Share>>;

/// How much of a column's value is in items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Share {
    /// A member of a document, the position in an array, or what `redact`, `shard`, `present`, `truncate` and a `map` with
    /// `*` leave.
    Part,
    Whole,
}

impl Share {
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
        let is_part = !placeholder.place.path.is_empty() || placeholder.filters.iter().any(hides);
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
        for (_, node) in &item.attributes {
            take(node, each.scan, &item.explodes, &mut used);
        }
        for place in &item.spreads {
            let share = part_if(!place.path.is_empty());
            column(each.scan, &item.explodes, place.column, share, &mut used);
        }
    }
    let mut coverage = Coverage::default();
    // A server of MySQL shows all of its databases, and most are somebody else's.
    let named: BTreeSet<&str> = catalog
        .tables
        .iter()
        .filter(|table| used.contains_key(&table.name) || in_query(table, covered))
        .map(|table| table.name.schema.as_str())
        .collect();
    let is_ours = |table: &Table| {
        !matches!(catalog.dbms, Dbms::Mysql | Dbms::Mariadb)
            || named.is_empty()
            || named.contains(table.name.schema.as_str())
    };
    for table in &catalog.tables {
        match used.get(&table.name) {
            // What a query takes of a table is not known.
            _ if !is_base(table, covered) && in_query(table, covered) => {}
            Some(columns) => add(table, columns, covered, catalog, &mut coverage),
            // Views repeat what their tables hold.
            None if table.is_stored() && is_ours(table) => {
                let name = catalog.display_name(&table.name);
                let mut above = catalog
                    .tables
                    .iter()
                    .filter(|above| above.heirs.contains(&table.name));
                match above.find(|above| used.contains_key(&above.name)) {
                    Some(above) => add_heir(&name, table, above, &mut coverage),
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

/// Foreign keys that are followed from one column: tables may refer to each other in a circle.
const MOST_PARENTS: usize = 8;

/// The column that a foreign key leads to.
fn parent_column<'c>(
    catalog: &'c Catalog,
    (table, column): &(&'c Table, &'c Column),
) -> Option<(&'c Table, &'c Column)> {
    table.foreign_keys.iter().find_map(|key| {
        let at = key.columns.iter().position(|own| *own == column.name)?;
        let parent = catalog.table(&key.references)?;
        Some((parent, parent.column(key.referenced_columns.get(at)?)?))
    })
}

/// The columns that the database numbers and keys hold, those of the table and its indexes, or foreign keys in them lead to.
pub(crate) fn numbered_keys(
    covered: &[Covered<'_>],
    catalog: &Catalog,
    table: &dynafold_dynamodb::Table,
) -> Vec<String> {
    let indexes = table.all_indexes().flat_map(dynafold_dynamodb::Index::key);
    let keys: BTreeSet<&str> = (table.key()).chain(indexes).map(|key| &*key.name).collect();
    let mut numbered = BTreeSet::new();
    for each in covered {
        let templates = keys
            .iter()
            .filter_map(|key| each.subject.item.template(key));
        for placeholder in templates.flat_map(Template::placeholders) {
            let origin = each.scan.origin(placeholder.place.column);
            let own = origin.and_then(|(table, name)| {
                let table = catalog.table(table)?;
                Some((table, table.column(name)?))
            });
            let all = std::iter::successors(own, |of| parent_column(catalog, of));
            let mut parents = all.take(MOST_PARENTS);
            let column = parents.find(|(_, column)| column.is_numbered());
            if let Some((table, column)) = column {
                numbered.insert(format!(
                    "{}.{}",
                    catalog.display_name(&table.name),
                    column.name
                ));
            }
        }
    }
    numbered.into_iter().collect()
}

fn add(
    table: &Table,
    used: &BTreeMap<&str, Share>,
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
    for column in &table.columns {
        coverage.columns += 1;
        let full = || format!("{name}.{}", column.name);
        match used.get(column.name.as_str()) {
            Some(Share::Whole) => coverage.in_items += 1,
            Some(Share::Part) => coverage.in_part.push(full()),
            None if is_omitted(&column.name) => coverage.omitted.push(full()),
            None => coverage.in_no_item.push(full()),
        }
    }
}

/// Adds a table whose rows are read with those of a table that it inherits from: its own columns are in no item.
fn add_heir(name: &str, table: &Table, above: &Table, coverage: &mut Coverage) {
    let own = table
        .columns
        .iter()
        .filter(|column| above.column(&column.name).is_none());
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

fn part_if(is_part: bool) -> Share {
    if is_part { Share::Part } else { Share::Whole }
}

/// Takes the columns of a node in.
fn take<'a>(node: &AttributeNode, scan: &'a Scan, explodes: &[Explode], used: &mut Used<'a>) {
    node.visit(&mut |node| match node {
        AttributeNode::Template(template) => {
            for placeholder in template.placeholders() {
                let (at, share) = (placeholder.place.column, Share::of(placeholder));
                column(scan, explodes, at, share, used);
            }
        }
        AttributeNode::Map { spreads, .. } => {
            for place in spreads {
                let share = part_if(!place.path.is_empty());
                column(scan, explodes, place.column, share, used);
            }
        }
        AttributeNode::Embed(embed) => {
            if let Some(ScanColumn::Embed(children)) = scan.columns.get(embed.column) {
                take(&embed.each, &children.rows, &[], used);
                if let ChildContainer::Map(template) = &embed.container {
                    for placeholder in template.placeholders() {
                        let (at, share) = (placeholder.place.column, Share::of(placeholder));
                        column(&children.rows, &[], at, share, used);
                    }
                }
            }
        }
        _ => {}
    });
}

/// Takes one column in. An element is of the column whose array is exploded.
fn column<'a>(scan: &'a Scan, explodes: &[Explode], at: usize, share: Share, used: &mut Used<'a>) {
    for explode in explodes {
        if explode.element == at || explode.index == at {
            let is_part = explode.index == at || !explode.array.path.is_empty();
            let share = share.min(part_if(is_part));
            return column(scan, explodes, explode.array.column, share, used);
        }
    }
    if let Some((table, name)) = scan.origin(at) {
        let known = used.entry(table).or_default().entry(name).or_insert(share);
        *known = share.max(*known);
    }
}
