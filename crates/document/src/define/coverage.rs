//! What becomes of the source's tables and columns.

use std::collections::BTreeSet;

use dynafold_format::{count, counted, each_once, has_word};
use dynafold_relational::catalog::{Catalog, Column, Table, TableName};
use dynafold_relational::scan::{Relation, Scan};

use super::items::DocumentedItemType;
use super::trace::OriginColumn;
use super::{DefinitionInputs, DocumentFacts, pattern_links};
use crate::tree::{
    About, DocBlock, DocRow, DocTable, SourceColumn, SourceTable, TableRole, TextLine, TextPiece,
    code, joined, link, plain,
};

/// The catalog without the schemas that the mapping does not touch: the document must not depend on which of those a login
/// can see.
pub(super) fn touched_catalog(inputs: &DefinitionInputs<'_>) -> Catalog {
    let catalog = inputs.catalog;
    let read = read_tables(inputs);
    let is_queried = |table: &Table| {
        let passes = inputs.model.passes.iter();
        let mut queries = passes.filter_map(|pass| pass.scan.from.sql());
        queries.any(|sql| has_word(sql, &table.name.schema) && mentions(sql, table))
    };
    let tables = catalog.tables.iter();
    let referenced: BTreeSet<&TableName> = tables
        .filter(|table| read.contains(&table.name))
        .flat_map(|table| table.foreign_keys.iter().map(|key| &key.references))
        .collect();
    let schemas: BTreeSet<&String> = read
        .iter()
        .map(|table| &table.schema)
        .chain(&catalog.search_path)
        .collect();
    let mut touched = catalog.clone();
    touched.tables.retain(|table| {
        schemas.contains(&table.name.schema)
            || referenced.contains(&table.name)
            || is_queried(table)
    });
    touched
}

/// The tables that passes read, their parents and children included.
fn read_tables<'g>(inputs: &DefinitionInputs<'g>) -> BTreeSet<&'g TableName> {
    let passes = inputs.model.passes.iter();
    passes.flat_map(|pass| pass.scan.tables()).collect()
}

/// What becomes of each table of `touched`, in the catalog's order.
pub(super) fn sources(
    inputs: &DefinitionInputs<'_>,
    touched: &Catalog,
    item_types: &[DocumentedItemType<'_>],
) -> Vec<SourceTable> {
    let read = read_tables(inputs);
    let neighbours = neighbours(touched, &read);
    let mut join_columns = BTreeSet::new();
    for pass in &inputs.model.passes {
        collect_join_columns(&pass.scan, &mut join_columns);
    }
    let is_queried =
        |from: &Relation, table: &Table| from.sql().is_some_and(|sql| mentions(sql, table));
    let source_table = |table: &Table| {
        let columns = table.columns.iter().map(|column| SourceColumn {
            name: column.name.clone(),
            declared: column.declared.clone(),
            leads: join_columns.contains(&(&table.name, column.name.as_str())),
            carriers: carriers(item_types, table, column),
        });
        let columns: Vec<SourceColumn> = columns.collect();
        let holders = item_types.iter().filter(|item| {
            let mut carried = columns.iter().flat_map(|column| &column.carriers);
            item.from().table() == Some(&table.name)
                || is_queried(item.from(), table)
                || carried.any(|(name, _)| **name == *item.model.name)
        });
        let holder_names: Vec<String> = holders.map(|item| item.model.name.to_string()).collect();
        let finds_some = |finds: &[String]| finds.iter().any(|name| holder_names.contains(name));
        let finders = (inputs.proofs.patterns.iter()).filter(|proof| finds_some(&proof.finds));
        let mut passes = inputs.model.passes.iter();
        SourceTable {
            id: table.name.clone(),
            name: inputs.catalog.display_name(&table.name),
            kind: (!table.is_stored()).then(|| table.kind.word()),
            rows: table.estimated_rows,
            role: if read.contains(&table.name) {
                TableRole::Read
            } else if passes.any(|pass| is_queried(&pass.scan.from, table)) {
                TableRole::Queried
            } else if neighbours.contains(&table.name) {
                TableRole::Beside
            } else {
                TableRole::Unread
            },
            patterns: finders.map(|proof| proof.pattern.clone()).collect(),
            partition: partition_prefix(inputs, item_types, table),
            item_types: holder_names,
            columns,
        }
    };
    touched.tables.iter().map(source_table).collect()
}

/// The tables that are not read, and that a foreign key connects with one that is.
fn neighbours<'g>(touched: &'g Catalog, read: &BTreeSet<&TableName>) -> BTreeSet<&'g TableName> {
    let references = touched.tables.iter().flat_map(|table| {
        let keys = table.foreign_keys.iter();
        keys.map(move |key| (&table.name, &key.references))
    });
    let neighbours =
        references.filter_map(
            |(from, to)| match (read.contains(from), read.contains(to)) {
                (true, false) => Some(to),
                (false, true) => Some(from),
                _ => None,
            },
        );
    neighbours.collect()
}

/// The item types that carry a column, each with the attributes that do.
fn carriers(
    item_types: &[DocumentedItemType<'_>],
    table: &Table,
    column: &Column,
) -> Vec<(String, Vec<String>)> {
    let carries =
        |from: &OriginColumn| from.id.as_ref() == Some(&table.name) && from.column == column.name;
    let carriers = item_types.iter().filter_map(|item| {
        let attributes = item.carriers(carries);
        (!attributes.is_empty()).then(|| (item.model.name.to_string(), attributes))
    });
    carriers.collect()
}

/// What the partition key of the items that are made of a table's rows begins with.
fn partition_prefix(
    inputs: &DefinitionInputs<'_>,
    item_types: &[DocumentedItemType<'_>],
    table: &Table,
) -> Option<String> {
    let mut item_types = item_types.iter();
    let item_type = item_types.find(|item| item.from().table() == Some(&table.name))?;
    let key = &inputs.model.table.partition.name;
    let (text, _) = item_type.model.template(key)?.prefix();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The columns of the tables that are read, and the tables that are not.
pub(super) fn section(facts: &DocumentFacts<'_>) -> Vec<DocBlock> {
    let with_role = |roles: &'static [TableRole]| {
        let sources = facts.sources.iter();
        sources.filter(move |source| roles.contains(&source.role))
    };
    let mut blocks: Vec<DocBlock> = with_role(&[TableRole::Read]).map(column_block).collect();
    let queried: Vec<TextLine> = with_role(&[TableRole::Queried])
        .map(|source| vec![code(&source.name)])
        .collect();
    if !queried.is_empty() {
        let title =
            "Queries of the mapping read these tables; it is not traced which of their columns:";
        blocks.push(DocBlock::paragraph(title));
        blocks.push(DocBlock::List(queried));
    }
    let unread = with_role(&[TableRole::Beside, TableRole::Unread]).map(|source| {
        let mut line = vec![code(&source.name)];
        line.extend(source.kind.map(|kind| plain(format!(" ({kind})"))));
        let rows = source.rows.map(count);
        line.extend(rows.map(|rows| plain(format!(", about {rows} rows"))));
        line
    });
    let unread: Vec<TextLine> = unread.collect();
    if unread.is_empty() {
        blocks.push(DocBlock::paragraph("Every other table is read."));
    } else {
        blocks.push(DocBlock::paragraph("Nothing is read from these:"));
        blocks.push(DocBlock::List(unread));
    }
    blocks
}

/// The columns of a table, and the attributes that carry each.
fn column_block(source: &SourceTable) -> DocBlock {
    let rows = source.columns.iter().map(|column| {
        let carriers = column.carriers.iter().map(|(item_type, attributes)| {
            vec![plain(format!("{item_type}: ")), code(attributes.join(", "))]
        });
        let carried = match (column.carriers.as_slice(), column.leads) {
            ([], true) => vec![TextPiece::Marked(
                "none",
                "nothing; it is used to find other rows".into(),
            )],
            ([], false) => vec![TextPiece::Marked("none", "nothing".into())],
            _ => joined(carriers, &TextPiece::Break),
        };
        let declared = TextPiece::Marked("type", column.declared.clone());
        DocRow::new(vec![vec![code(&column.name)], vec![declared], carried])
    });
    let table = DocTable::new(
        format!("Columns of {}", source.name),
        ["Column", "Type", "Carried by"],
        rows,
    );
    let columns = source.columns.iter();
    let carried = columns.filter(|column| !column.carriers.is_empty());
    let all = counted(source.columns.len(), "column");
    let summary = format!("{}: {} of {all} carried", source.name, carried.count());
    DocBlock::Folded(summary, vec![DocBlock::Table(table)])
}

/// What becomes of a table of the source.
pub(crate) fn table_usage(source: &SourceTable) -> Vec<DocBlock> {
    let rows = source.rows.map_or_else(String::new, |rows| {
        format!("about {}. ", counted(rows, "row"))
    });
    let usage = match source.role {
        TableRole::Read if source.item_types.is_empty() => {
            "Read only to find other rows; no item has its values."
        }
        TableRole::Read => "Its values are in these item types:",
        TableRole::Queried => {
            "Read by a query of the mapping. These item types are made from that query:"
        }
        TableRole::Beside => "Not read; a foreign key connects it with a table that is.",
        TableRole::Unread => "Not read.",
    };
    let mut blocks = vec![DocBlock::paragraph(rows + usage)];
    let item_types = source.item_types.iter().map(|name| {
        let carriers = source.columns.iter().flat_map(|column| &column.carriers);
        let own = carriers.filter(|(item_type, _)| item_type == name);
        let attributes = own.flat_map(|(_, attributes)| attributes);
        let attributes = each_once(attributes.map(String::as_str));
        let mut line = vec![link(About::ItemType, name)];
        if attributes.is_empty() {
            line.push(TextPiece::Sub(vec![plain("its columns are not traced")]));
        } else {
            line.extend([plain(": "), code(attributes.join(", "))]);
        }
        line
    });
    if !source.item_types.is_empty() {
        blocks.push(DocBlock::List(item_types.collect()));
    }
    if !source.patterns.is_empty() {
        let mut found = vec![plain("Found by ")];
        found.extend(pattern_links(&source.patterns));
        blocks.push(DocBlock::Paragraph(found));
    }
    blocks
}

/// Whether a query has the name of a stored table in it, and so may read it.
fn mentions(sql: &str, table: &Table) -> bool {
    table.is_stored() && has_word(sql, &table.name.name)
}

/// Collects the columns by which a scan finds parents and children.
fn collect_join_columns<'g>(scan: &'g Scan, columns: &mut BTreeSet<(&'g TableName, &'g str)>) {
    let base = scan.from.table();
    let table_of = |join: Option<usize>| match join {
        Some(join) => scan.joins.get(join).map(|join| &join.table),
        None => base,
    };
    let mut add = |table: Option<&'g TableName>, column: &'g str| {
        columns.extend(table.map(|table| (table, column)));
    };
    for join in &scan.joins {
        for on in &join.on {
            add(table_of(on.join), &on.ours);
            add(Some(&join.table), &on.theirs);
        }
    }
    for (_, embed) in scan.embeds() {
        let children = embed.rows.from.table();
        for on in &embed.on {
            add(table_of(on.join), &on.ours);
            add(children, &on.theirs);
        }
    }
    for (_, embed) in scan.embeds() {
        collect_join_columns(&embed.rows, columns);
    }
}
