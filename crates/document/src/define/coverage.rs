//! What becomes of the source's tables and columns.

use std::collections::BTreeSet;

use dynafold_format::{count, counted, each_once, has_word};
use dynafold_relational::catalog::{Catalog, Table, TableName};
use dynafold_relational::scan::{Relation, Scan};

use super::items::DocumentedItemType;
use super::trace::OriginColumn;
use super::{DocumentFacts, Inputs, pattern_names};
use crate::tree::{
    About, DocBlock, DocRow, DocTable, SourceColumn, SourceTable, TableRole, TextLine, TextPiece,
    code, joined, link, plain,
};

/// The catalog without the schemas that the mapping does not touch: which of them a login can see must not change the document.
pub(super) fn touched_catalog(inputs: &Inputs<'_>) -> Catalog {
    let catalog = inputs.catalog;
    let passes = || inputs.model.passes.iter();
    let read: BTreeSet<&TableName> = passes().flat_map(|pass| pass.scan.tables()).collect();
    let queried = |table: &Table| {
        let mut queries = passes().filter_map(|pass| pass.scan.from.sql());
        queries.any(|sql| has_word(sql, &table.name.schema) && names(sql, table))
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
    inputs: &Inputs<'_>,
    own: &Catalog,
    item_types: &[DocumentedItemType<'_>],
) -> Vec<SourceTable> {
    let passes = inputs.model.passes.iter();
    let read: BTreeSet<&TableName> = passes.flat_map(|pass| pass.scan.tables()).collect();
    let mut leading = BTreeSet::new();
    for pass in &inputs.model.passes {
        collect_join_columns(&pass.scan, &mut leading);
    }
    let references = own.tables.iter().flat_map(|table| {
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
    let neighbours: BTreeSet<&TableName> = neighbours.collect();
    let is_queried =
        |from: &Relation, table: &Table| from.sql().is_some_and(|sql| names(sql, table));
    let key = &inputs.model.table.partition.name;
    let partition = |table: &Table| {
        let mut own = item_types.iter();
        let own = own.find(|item| item.from().table() == Some(&table.name))?;
        let (text, _) = own.model.template(key)?.prefix();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let one = |table: &Table| {
        let columns = table.columns.iter().map(|column| {
            let carriers = item_types.iter().filter_map(|item| {
                let carries = |from: &OriginColumn| {
                    from.id.as_ref() == Some(&table.name) && from.column == column.name
                };
                let names = item.carriers(carries);
                (!names.is_empty()).then(|| (item.model.name.to_string(), names))
            });
            SourceColumn {
                name: column.name.clone(),
                declared: column.declared.clone(),
                leads: leading.contains(&(&table.name, column.name.as_str())),
                carriers: carriers.collect(),
            }
        });
        let columns: Vec<SourceColumn> = columns.collect();
        let within = item_types.iter().filter(|item| {
            let mut carried = columns.iter().flat_map(|column| &column.carriers);
            item.from().table() == Some(&table.name)
                || is_queried(item.from(), table)
                || carried.any(|(name, _)| **name == *item.model.name)
        });
        let within: Vec<String> = within.map(|item| item.model.name.to_string()).collect();
        let mut patterns = Vec::new();
        for proof in &inputs.proofs.patterns {
            if proof.finds.iter().any(|name| within.contains(name)) {
                patterns.push(proof.pattern.clone());
            }
        }
        let mut passes = inputs.model.passes.iter();
        SourceTable {
            id: table.name.clone(),
            name: inputs.catalog.display_name(&table.name),
            kind: (!table.is_stored()).then(|| table.kind.word()),
            rows: table.estimated_rows,
            part: if read.contains(&table.name) {
                TableRole::Read
            } else if passes.any(|pass| is_queried(&pass.scan.from, table)) {
                TableRole::Queried
            } else if neighbours.contains(&table.name) {
                TableRole::Beside
            } else {
                TableRole::Unread
            },
            patterns,
            partition: partition(table),
            item_types: within,
            columns,
        }
    };
    own.tables.iter().map(one).collect()
}

/// The columns of the tables that are read, and the tables that are not.
pub(super) fn section(facts: &DocumentFacts<'_>) -> Vec<DocBlock> {
    let of = |parts: &'static [TableRole]| {
        let sources = facts.sources.iter();
        sources.filter(move |source| parts.contains(&source.part))
    };
    let mut blocks: Vec<DocBlock> = of(&[TableRole::Read]).map(columns).collect();
    let queried: Vec<TextLine> = of(&[TableRole::Queried])
        .map(|source| vec![code(&source.name)])
        .collect();
    if !queried.is_empty() {
        let title =
            "Queries of the mapping read these; which of their columns they use is not traced:";
        blocks.push(DocBlock::paragraph(title));
        blocks.push(DocBlock::List(queried));
    }
    let unread = of(&[TableRole::Beside, TableRole::Unread]).map(|source| {
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

/// The columns of a table, and what carries each.
fn columns(source: &SourceTable) -> DocBlock {
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
        &["Column", "Type", "Carried by"],
        rows.collect(),
    );
    let columns = source.columns.iter();
    let carried = columns.filter(|column| !column.carriers.is_empty());
    let all = counted(source.columns.len(), "column");
    let summary = format!("{}: {} of {all} carried", source.name, carried.count());
    DocBlock::Folded(summary, vec![DocBlock::Table(table)])
}

/// What becomes of a table of the source.
pub(crate) fn table_usage(source: &SourceTable) -> Vec<DocBlock> {
    let rows = source.rows;
    let rows = rows.map_or_else(String::new, |rows| {
        format!("about {}. ", counted(rows, "row"))
    });
    let usage = match source.part {
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
        let own = carriers.filter(|(of, _)| of == name);
        let attributes = each_once(own.flat_map(|(_, all)| all).map(String::as_str));
        let mut line = vec![link(About::ItemType, name)];
        if attributes.is_empty() {
            line.push(TextPiece::Sub(vec![plain("no column of it is traced")]));
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
        found.extend(pattern_names(&source.patterns));
        blocks.push(DocBlock::Paragraph(found));
    }
    blocks
}

/// Whether a query holds a table's name, so that it may read it.
fn names(sql: &str, table: &Table) -> bool {
    table.is_stored() && has_word(sql, &table.name.name)
}

/// Collects the columns by which a scan finds parents and children.
fn collect_join_columns<'g>(scan: &'g Scan, leading: &mut BTreeSet<(&'g TableName, &'g str)>) {
    let base = scan.from.table();
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
        let children = embed.rows.from.table();
        for on in &embed.on {
            take(of(on.join), &on.ours);
            take(children, &on.theirs);
        }
    }
    for (_, embed) in scan.embeds() {
        collect_join_columns(&embed.rows, leading);
    }
}
