//! What becomes of the source's tables and columns.

use std::collections::BTreeSet;

use dynafold_mapping::model::{Explode, Gather, Node, Template};
use dynafold_relational::catalog::{Catalog, Table, TableName};
use dynafold_relational::scan::{Relation, Scan, ScanColumn};

use super::super::definition::{ItemType, Origin, Part, Pattern, SourceColumn, SourceTable};
use super::Ground;

/// The catalog without schemas that the mapping has nothing to do with. A login may see the tables
/// of other databases, and another login others: they are nobody's affair who reads the document.
pub(super) fn own(ground: &Ground<'_>) -> Catalog {
    let catalog = ground.catalog;
    let passes = || ground.model.passes.iter();
    let read: BTreeSet<&TableName> = passes().flat_map(|pass| pass.scan.tables()).collect();
    let queried = |table: &Table| {
        passes().any(|pass| match &pass.scan.from {
            Relation::Query(sql) => holds(sql, &table.name.schema) && names(sql, table),
            Relation::Table(_) => false,
        })
    };
    let of_read = catalog.tables.iter();
    let referenced: BTreeSet<&TableName> = of_read
        .filter(|table| read.contains(&table.name))
        .flat_map(|table| table.foreign_keys.iter().map(|key| &key.references))
        .collect();
    let schemas: BTreeSet<&String> = read
        .iter()
        .map(|table| &table.schema)
        .chain(&catalog.search_path)
        .collect();
    let mut own = catalog.clone();
    own.tables.retain(|table| {
        schemas.contains(&table.name.schema) || referenced.contains(&table.name) || queried(table)
    });
    own
}

/// All tables of `own`, in the catalog's order.
pub(super) fn sources(
    ground: &Ground<'_>,
    own: &Catalog,
    item_types: &[ItemType],
    patterns: &[Pattern],
) -> Vec<SourceTable> {
    let passes = ground.model.passes.iter();
    let read: BTreeSet<&TableName> = passes.flat_map(|pass| pass.scan.tables()).collect();
    let passes = ground.model.passes.iter();
    let queries = passes.filter_map(|pass| match &pass.scan.from {
        Relation::Query(sql) => Some(sql.as_str()),
        Relation::Table(_) => None,
    });
    let queries: Vec<&str> = queries.collect();
    let mut leading = BTreeSet::new();
    for pass in &ground.model.passes {
        follow(&pass.scan, &mut leading);
    }
    let tables = &own.tables;
    let keys = || {
        tables.iter().flat_map(|table| {
            table
                .foreign_keys
                .iter()
                .map(move |key| (&table.name, &key.references))
        })
    };
    let beside: BTreeSet<&TableName> = keys()
        .filter_map(
            |(from, to)| match (read.contains(from), read.contains(to)) {
                (true, false) => Some(to),
                (false, true) => Some(from),
                _ => None,
            },
        )
        .collect();
    let carriers = |table: &TableName, column: &str| {
        let of = |item: &ItemType| {
            let attributes = item.attributes.iter().filter(|attribute| {
                let mut origins = attribute.origins.iter();
                origins.any(|from| from.id.as_ref() == Some(table) && from.column == column)
            });
            let names: Vec<String> = attributes.map(|each| each.name.clone()).collect();
            (!names.is_empty()).then(|| (item.name.clone(), names))
        };
        item_types.iter().filter_map(of).collect::<Vec<_>>()
    };
    let one = |table: &Table| {
        let columns: Vec<SourceColumn> = table
            .columns
            .iter()
            .map(|column| SourceColumn {
                name: column.name.clone(),
                declared: column.declared.clone(),
                leads: leading.contains(&(&table.name, column.name.as_str())),
                carriers: carriers(&table.name, &column.name),
            })
            .collect();
        let is_in = |item: &ItemType| {
            let carried = columns.iter().flat_map(|column| &column.carriers);
            let base =
                ground.model.item_types.iter().any(|each| {
                    *each.name == *item.name
                        && ground.model.passes.get(each.pass).is_some_and(|pass| {
                            pass.scan.from == Relation::Table(table.name.clone())
                        })
                });
            let queried = (item.query.as_ref()).is_some_and(|sql| names(sql, table));
            base || queried || carried.into_iter().any(|(name, _)| *name == item.name)
        };
        let within: Vec<String> = item_types
            .iter()
            .filter(|item| is_in(item))
            .map(|item| item.name.clone())
            .collect();
        let finding = patterns
            .iter()
            .filter(|pattern| pattern.finds.iter().any(|found| within.contains(found)));
        SourceTable {
            id: table.name.clone(),
            name: ground.catalog.display_name(&table.name),
            kind: (!table.is_stored()).then(|| table.kind.word()),
            rows: table.estimated_rows,
            part: if read.contains(&table.name) {
                Part::Read
            } else if queries.iter().any(|sql| names(sql, table)) {
                Part::Queried
            } else if beside.contains(&table.name) {
                Part::Beside
            } else {
                Part::Unread
            },
            patterns: finding.map(|pattern| pattern.name.clone()).collect(),
            item_types: within,
            columns,
        }
    };
    tables.iter().map(one).collect()
}

/// Whether a query holds a table's name, so that it may read it.
fn names(sql: &str, table: &Table) -> bool {
    table.is_stored() && holds(sql, &table.name.name)
}

/// Whether a query holds a name as a word.
fn holds(sql: &str, name: &str) -> bool {
    let (sql, name) = (sql.to_lowercase(), name.to_lowercase());
    let of_a_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    let mut places = sql.match_indices(&name);
    places.any(|(at, _)| {
        let before = sql.get(..at).and_then(|text| text.chars().next_back());
        let after = sql
            .get(at + name.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(of_a_word) && !after.is_some_and(of_a_word)
    })
}

/// The table that a scan reads, unless it is a query.
fn table_of(from: &Relation) -> Option<&TableName> {
    match from {
        Relation::Table(name) => Some(name),
        Relation::Query(_) => None,
    }
}

/// Takes the columns by which a scan finds parents and children.
fn follow<'g>(scan: &'g Scan, leading: &mut BTreeSet<(&'g TableName, &'g str)>) {
    let base = table_of(&scan.from);
    let of = |join: Option<usize>| match join {
        Some(join) => scan.joins.get(join).map(|join| &join.table),
        None => base,
    };
    let mut take = |table: Option<&'g TableName>, column: &'g str| {
        leading.extend(table.map(|table| (table, column)));
    };
    for join in &scan.joins {
        for on in &join.on {
            take(of(on.join), &on.ours);
            take(Some(&join.table), &on.theirs);
        }
    }
    for (_, embed) in scan.embeds() {
        let children = table_of(&embed.rows.from);
        for on in &embed.on {
            take(of(on.join), &on.ours);
            take(children, &on.theirs);
        }
    }
    for (_, embed) in scan.embeds() {
        follow(&embed.rows, leading);
    }
}

// Which columns a value is from: places of a row traced back through joins, elements and children.

/// Traces the places of one row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tracer<'g> {
    pub(super) catalog: &'g Catalog,
    pub(super) scan: &'g Scan,
    pub(super) explodes: &'g [Explode],
    /// How the mapping calls what is read.
    pub(super) name: &'g str,
}

impl<'g> Tracer<'g> {
    /// The columns that an attribute is made from, each once, in the order in which they are met.
    pub(super) fn of_node(&self, node: &Node) -> Vec<Origin> {
        let mut found = Vec::new();
        self.node(node, &mut found);
        found
    }

    fn node(&self, node: &Node, found: &mut Vec<Origin>) {
        node.visit(&mut |node| match node {
            Node::Template(template) => self.template(template, found),
            Node::Map { spreads, .. } => {
                for place in spreads {
                    self.take(place.column, found);
                }
            }
            Node::Embed(embed) => {
                if let Some(children) = self.children(embed.column) {
                    children.node(&embed.each, found);
                    if let Gather::Map(key) = &embed.gather {
                        children.template(key, found);
                    }
                }
            }
            Node::Constant(_) | Node::List(_) | Node::When { .. } | Node::Typed { .. } => {}
        });
    }

    fn template(&self, template: &Template, found: &mut Vec<Origin>) {
        for placeholder in template.placeholders() {
            self.take(placeholder.place.column, found);
        }
    }

    fn take(&self, column: usize, found: &mut Vec<Origin>) {
        if let Some(origin) = self.column(column)
            && !found.contains(&origin)
        {
            found.push(origin);
        }
    }

    /// The column that a place of the row is from.
    pub(super) fn column(&self, index: usize) -> Option<Origin> {
        let mut explodes = self.explodes.iter();
        if let Some(explode) = explodes.find(|explode| explode.element == index) {
            return self.column(explode.array.column);
        }
        let ScanColumn::Column { join, name, .. } = self.scan.columns.get(index)? else {
            return None;
        };
        let id = match join {
            Some(join) => Some(self.scan.joins.get(*join)?.table.clone()),
            None => table_of(&self.scan.from).cloned(),
        };
        let table = id.as_ref().and_then(|id| self.catalog.table(id));
        let column = table.and_then(|table| table.column(name));
        Some(Origin {
            table: match &id {
                Some(id) => self.catalog.display_name(id),
                None => self.name.to_owned(),
            },
            column: name.clone(),
            declared: column.map_or(String::new(), |column| column.declared.clone()),
            id,
        })
    }

    /// The tracer of an embed's children.
    pub(super) fn children(&self, column: usize) -> Option<Tracer<'g>> {
        let Some(ScanColumn::Embed(embed)) = self.scan.columns.get(column) else {
            return None;
        };
        Some(Tracer {
            scan: &embed.rows,
            explodes: &[],
            ..*self
        })
    }

    /// The SQL of a `$when`.
    pub(super) fn flag(&self, index: usize) -> &'g str {
        match self.scan.columns.get(index) {
            Some(ScanColumn::Flag(sql)) => sql,
            _ => "",
        }
    }
}
