//! What the database guarantees of the tables that are used, and what takes its place.

use dynafold_format::{count, counted};
use dynafold_mapping::guarantee::{Guarantee, Guarantees, KeptBy};

use super::DocumentFacts;
use crate::tree::{DocBlock, DocRow, DocTable, TextPiece, code, plain, prose};

/// What may take the place of a guarantee, what asks most of the application first.
const ALL: [KeptBy; 5] = [
    KeptBy::Application,
    KeptBy::GuardItem,
    KeptBy::ConditionCheck,
    KeptBy::Item,
    KeptBy::Key,
];

/// All guarantees, table by table.
pub(super) fn section(facts: &DocumentFacts<'_>) -> Vec<DocBlock> {
    let all = &facts.inputs.proofs.guarantees;
    let mut blocks = vec![DocBlock::paragraph(format!("{}.", summary(all)))];
    let tables = all.guarantees.chunk_by(|a, b| a.table == b.table);
    blocks.extend(tables.map(|of_table| folded(facts, of_table)));
    if !all.not_read.is_empty() {
        let missing = "Not read, so that there may be more:";
        blocks.push(DocBlock::paragraph(missing));
        let missing = all.not_read.iter().map(|missing| prose(missing));
        blocks.push(DocBlock::List(missing.collect()));
    }
    blocks
}

/// How many there are, by what takes their place.
pub(super) fn summary(all: &Guarantees) -> String {
    let found = all.guarantees.as_slice();
    if found.is_empty() {
        return if all.not_read.is_empty() {
            "None: no table of the mapping has a guarantee".to_owned()
        } else {
            "None was found, and not all was read".to_owned()
        };
    }
    let tables = found.chunk_by(|a, b| a.table == b.table).count();
    format!(
        "{} of {}, to be kept: {}",
        counted(found.len(), "guarantee"),
        counted(tables, "table"),
        by_kept(found)
    )
}

/// How many guarantees are kept by what.
fn by_kept(guarantees: &[Guarantee]) -> String {
    let parts = ALL.iter().filter_map(|kept| {
        let all = guarantees.iter();
        let number = all.filter(|one| one.kept_by == *kept).count();
        (number > 0).then(|| format!("{} by {}", count(number), kept.words()))
    });
    let parts: Vec<String> = parts.collect();
    parts.join(", ")
}

/// The guarantees of one table.
fn folded(facts: &DocumentFacts<'_>, of_table: &[Guarantee]) -> DocBlock {
    let name = of_table.first().map_or("", |first| first.table.as_str());
    let sources = facts.sources_of(|source| source.name == name);
    let rows = of_table.iter().map(|one| {
        let mut declared = vec![code(&one.declared)];
        if let Some(name) = &one.name {
            declared.push(TextPiece::Sub(vec![plain(name)]));
        }
        if let Some(doubt) = &one.doubt {
            let mut line = vec![plain("in the database: ")];
            line.extend(prose(doubt));
            declared.push(TextPiece::Sub(line));
        }
        let kept = TextPiece::Marked("role", one.kept_by.words().to_owned());
        DocRow {
            sources: sources.clone(),
            ..DocRow::new(vec![declared, vec![kept], prose(&one.how)])
        }
    });
    let table = DocTable::new(
        format!("Guarantees of {name}"),
        ["In the database", "What takes its place", "How"],
        rows,
    );
    let summary = format!("{name}: {}", by_kept(of_table));
    DocBlock::Folded(summary, vec![DocBlock::Table(table)])
}
