//! The document as Markdown, for review in a pull request: the same mapping, schema and rows give the
//! same bytes.

mod figures;
mod items;
mod patterns;
mod text;

use super::definition::{Definition, Part, Warning};
use super::phrases::{self, SECTIONS, Section};
use crate::catalog::{TableName, mermaid};
use text::{code, prose, slug, table, text};

/// What a Markdown document begins with.
pub const MARKDOWN_MARKER: &str = "<!-- Written by `dynafold docs`";

/// The document as Markdown.
#[must_use]
pub fn markdown(definition: &Definition) -> String {
    let mut out = format!(
        "{MARKDOWN_MARKER} from {}. It is made again; edit the mapping instead. -->\n\n",
        definition.mapping.replace("--", "- -")
    );
    out.push_str(&format!("# DynamoDB table {}\n\n", code(&definition.table)));
    let facts = phrases::overview(definition);
    table(
        &mut out,
        &["", ""],
        facts
            .iter()
            .map(|(name, value)| vec![(*name).to_owned(), text(value)]),
    );
    for section in SECTIONS {
        out.push_str(&format!(
            "- [{}](#{})\n",
            section.title,
            slug(section.title)
        ));
    }
    out.push('\n');
    for section in SECTIONS {
        begin(&mut out, section);
        match section.anchor {
            "erd" => erd(&mut out, definition),
            "patterns" => patterns::patterns(&mut out, definition),
            "table" => items::places(&mut out, definition),
            "items" => items::item_types(&mut out, definition),
            "aggregate" => items::collections(&mut out, definition),
            "coverage" => coverage(&mut out, definition),
            "cost" => figures::figures(&mut out, definition),
            _ => warnings(&mut out, definition),
        }
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn begin(out: &mut String, section: Section) {
    out.push_str(&format!("## {}\n\n{}\n\n", section.title, section.intro));
}

/// The tables that the mapping or its foreign keys touch.
fn erd(out: &mut String, definition: &Definition) {
    let is_touched = |name: &TableName| {
        let mut sources = definition.sources.iter();
        sources.any(|source| source.id == *name && source.part != Part::Unread)
    };
    let mut shown = definition.catalog.clone();
    shown.tables.retain(|table| is_touched(&table.name));
    for table in &mut shown.tables {
        table.foreign_keys.retain(|key| is_touched(&key.references));
    }
    text::fenced(out, "mermaid", &mermaid(&shown));
    let others = definition
        .sources
        .iter()
        .filter(|source| source.part == Part::Unread);
    let others: Vec<String> = others.map(|source| code(&source.name)).collect();
    if !others.is_empty() {
        out.push_str(&format!(
            "Not read, and not drawn: {}.\n\n",
            others.join(", ")
        ));
    }
}

fn coverage(out: &mut String, definition: &Definition) {
    for source in &definition.sources {
        if source.part != Part::Read {
            continue;
        }
        let carried = source
            .columns
            .iter()
            .filter(|column| !column.carriers.is_empty());
        out.push_str(&format!(
            "<details><summary>{} — {} of {} carried</summary>\n\n",
            text(&source.name),
            carried.count(),
            phrases::number(source.columns.len(), "column"),
        ));
        let rows = source.columns.iter().map(|column| {
            let carriers = column.carriers.iter().map(|(item_type, attributes)| {
                let attributes: Vec<String> = attributes.iter().map(|name| code(name)).collect();
                format!("{}: {}", text(item_type), attributes.join(", "))
            });
            let carriers: Vec<String> = carriers.collect();
            vec![
                code(&column.name),
                text(&column.declared),
                match carriers.as_slice() {
                    [] if column.leads => "*nothing*; it leads to other rows".to_owned(),
                    [] => "*nothing*".to_owned(),
                    carriers => carriers.join("<br>"),
                },
            ]
        });
        table(out, &["Column", "Type", "Carried by"], rows);
        out.push_str("</details>\n\n");
    }
    let queried = definition.sources.iter();
    let queried = queried.filter(|source| source.part == Part::Queried);
    let queried: Vec<String> = queried.map(|source| code(&source.name)).collect();
    if !queried.is_empty() {
        out.push_str(&format!(
            "Queries of the mapping name these tables; which columns they take is not traced: {}.\n\n",
            queried.join(", ")
        ));
    }
    let unread = definition.sources.iter();
    let unread = unread.filter(|source| matches!(source.part, Part::Beside | Part::Unread));
    let unread: Vec<String> = unread
        .map(|source| match source.kind {
            Some(kind) => format!("{} ({kind})", code(&source.name)),
            None => code(&source.name),
        })
        .collect();
    if unread.is_empty() {
        out.push_str("Every other table is read.\n\n");
    } else {
        out.push_str(&format!(
            "From these tables nothing is read: {}.\n\n",
            unread.join(", ")
        ));
    }
}

fn warnings(out: &mut String, definition: &Definition) {
    let mut list = |title: &str, warnings: &[Warning]| {
        if warnings.is_empty() {
            out.push_str(&format!("{title}: none.\n\n"));
            return;
        }
        out.push_str(&format!("{title}:\n\n"));
        for warning in warnings {
            let place = format!("{}:{}:{}", definition.mapping, warning.line, warning.column);
            let label = match warning.label.as_str() {
                "" => String::new(),
                label => format!(" ({})", prose(label)),
            };
            let help = warning.help.as_ref();
            let help = help.map_or(String::new(), |help| {
                format!(" To mend it: {}.", prose(help))
            });
            out.push_str(&format!(
                "- {} at {}: {}{label}.{help}\n",
                code(&warning.code),
                code(&place),
                prose(&warning.message),
            ));
        }
        out.push('\n');
    };
    list("Open", &definition.warnings);
    list("Accepted by the mapping", &definition.accepted);
}
