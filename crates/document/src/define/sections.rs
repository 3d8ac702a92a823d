//! What the document says, section by section.

use dynafold_format::counted;

use super::{
    DefinitionInputs, DocumentFacts, coverage, guarantees, items, overview, patterns, places,
    proposal,
};
use crate::definition::Warning;
use crate::tree::{DocBlock, Section, TextLine, TextPiece, code, plain, prose};

/// All sections in their order.
pub(super) fn sections(facts: &DocumentFacts<'_>) -> Vec<Section> {
    let mut sections = vec![
        Section {
            anchor: "overview",
            title: "Overview",
            intro: "What this DynamoDB table holds, which questions it answers, what it \
                    costs, and what is left to the application. Start with the access patterns if you want to know how to ask it.",
            blocks: overview::blocks(facts),
        },
        Section {
            anchor: "erd",
            title: "Relational model",
            intro: "The tables that the items are made from, with their foreign keys as the database declares \
                    them. Where it does not enforce a key (SQLite, `NOT VALID`), rows without a parent \
                    may exist. Tables that the mapping does not touch are dimmed or left out.",
            blocks: vec![DocBlock::Drawing(
                facts.catalog.clone(),
                facts.sources.clone(),
            )],
        },
        Section {
            anchor: "patterns",
            title: "Access patterns",
            intro: "The questions that this table answers, each with the SQL query that it replaces. A \
                    key condition reads like a WHERE clause: the partition key must be equal, the \
                    sort key may be a prefix or a range. There are no joins. A question that is \
                    not listed here may have no key or index that serves it.",
            blocks: patterns::table(facts),
        },
    ];
    if !facts.patterns.is_empty() {
        sections.push(Section {
            anchor: "pattern-details",
            title: "Each access pattern",
            intro: "Parameters, how it is asked, the SQL that it replaces, and a real answer.",
            blocks: patterns::articles(facts),
        });
    }
    sections.extend([
        Section {
            anchor: "table",
            title: "Table and indexes",
            intro: "One DynamoDB table holds all entities. Items with the same partition key are stored together, in the order of their sort keys; an index holds the same items under another key.",
            blocks: places::table(facts).into_iter().chain(items::merged(facts)).collect(),
        },
        Section {
            anchor: "items",
            title: "Item types",
            intro: "Rows become items. Each item type says which rows, how their keys are written ({…} is a column's value), and which attributes the items have.",
            blocks: items::articles(facts),
        },
        Section {
            anchor: "aggregate",
            title: "Item collections",
            intro: "The same items as they are grouped in the table and in each index. One Query reads items with the same partition key, in the order of their sort keys, where SQL would need a join.",
            blocks: places::collections(facts),
        },
        Section {
            anchor: "coverage",
            title: "Where the columns go",
            intro: "Each column of the relational model with the item types and attributes that carry it, and the columns that no item carries.",
            blocks: coverage::section(facts),
        },
        Section {
            anchor: "guarantees",
            title: "What your database guaranteed and this table does not",
            intro: "What the database guaranteed for the tables that the mapping reads, joins or embeds, and what takes its place. DynamoDB itself guarantees only that there is one item for each key, and that each item has its key attributes. Everything else holds only if the programs that write items see to it. Types and lengths are not listed: DynamoDB checks the type of key attributes only.",
            blocks: guarantees::section(facts),
        },
        Section {
            anchor: "cost",
            title: "Sizes, capacity and cost",
            intro: "DynamoDB bills what is read, written and stored, not servers. A read unit \
                    reads 4 KB (half a unit if it need not be strongly consistent), a write unit \
                    writes 1 KB, and each index that holds an item is written too.",
            blocks: facts.figures.section(facts),
        },
    ]);
    sections.extend(proposal::section(facts));
    sections.push(
        Section {
            anchor: "warnings",
            title: "Warnings",
            intro: "The warnings of `dynafold check`, and those that the mapping accepts, the most serious first.",
            blocks: warnings(facts.inputs),
        },
    );
    sections
}

fn warnings(inputs: &DefinitionInputs<'_>) -> Vec<DocBlock> {
    let lists = [
        ("Open", &inputs.warnings),
        ("Accepted by the mapping", &inputs.accepted),
    ];
    let mut blocks = Vec::new();
    for (title, warnings) in lists {
        blocks.push(DocBlock::Heading(title.to_owned()));
        if warnings.is_empty() {
            blocks.push(DocBlock::paragraph("None."));
        }
        for (risk, found) in overview::by_risk(warnings) {
            let number = counted(found.len(), "warning");
            blocks.push(DocBlock::Subheading(format!("{number} about {risk}")));
            let lines = found.into_iter().map(|each| warning(inputs, each));
            blocks.push(DocBlock::List(lines.collect()));
        }
    }
    blocks
}

fn warning(inputs: &DefinitionInputs<'_>, warning: &Warning) -> TextLine {
    let place = format!("{}:{}:{}", inputs.mapping, warning.line, warning.column);
    let mut line = vec![
        TextPiece::Marked("role", warning.code.clone()),
        plain(" at "),
        code(place),
        plain(": "),
    ];
    line.extend(prose(&warning.message));
    if !warning.label.is_empty() {
        line.push(plain(" ("));
        line.extend(prose(&warning.label));
        line.push(plain(")"));
    }
    if let Some(help) = &warning.help {
        line.extend([TextPiece::Break, plain("Help: ")]);
        line.extend(prose(help));
    }
    line
}
