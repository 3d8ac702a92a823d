//! The document as Markdown, for review in a pull request. The same mapping, schema and rows give the same bytes. Text is
//! escaped, so that it shows as it is and breaks no table.

use dynafold_format::joined;
use dynafold_relational::catalog::{Catalog, TableName};

use super::definition::Definition;
use super::schema::mermaid;
use super::tree::{
    Article, DocBlock, DocTable, SourceTable, TableRole, TextLine, TextPiece, prose,
};

/// What a Markdown document begins with.
pub const MARKDOWN_MARKER: &str = "<!-- Written by `dynafold docs`";

/// The document as Markdown.
pub fn markdown(definition: &Definition) -> String {
    let mut out = format!(
        "{MARKDOWN_MARKER} from {}. It is generated: edit the mapping instead. -->\n\n# DynamoDB table {}\n\n",
        definition.mapping.replace("--", "- -"),
        code(&definition.table)
    );
    for section in &definition.sections {
        let title = section.title;
        out.push_str(&format!("- [{title}](#{})\n", slug(title)));
    }
    for section in &definition.sections {
        let intro = line(&prose(section.intro));
        out.push_str(&format!("\n## {}\n\n{intro}\n\n", section.title));
        write_blocks(&mut out, &section.blocks);
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

fn write_blocks(out: &mut String, blocks: &[DocBlock]) {
    for block in blocks {
        write_block(out, block);
    }
}

fn write_block(out: &mut String, block: &DocBlock) {
    match block {
        DocBlock::Drawing(catalog, sources) => write_erd(out, catalog, sources),
        DocBlock::Filter { .. } => {}
        DocBlock::Heading(title) => out.push_str(&format!("### {title}\n\n")),
        DocBlock::Subheading(title) => out.push_str(&format!("#### {title}\n\n")),
        DocBlock::Paragraph(text) | DocBlock::Note(text) => {
            out.push_str(&format!("{}\n\n", line(text)));
        }
        DocBlock::Facts(facts) => {
            for (name, fact) in facts {
                out.push_str(&format!("- {name}: {}\n", line(fact)));
            }
            out.push('\n');
        }
        DocBlock::List(lines) => {
            for item in lines {
                out.push_str(&format!("- {}\n", line(item)));
            }
            out.push('\n');
        }
        DocBlock::Table(rows) => write_table(out, rows),
        DocBlock::Views(_, views) => {
            for view in views {
                out.push_str(&format!("#### {}\n\n", text(&view.caption)));
                write_table(out, view);
            }
        }
        DocBlock::Code(language, text) => write_fenced(out, language, text),
        DocBlock::Folded(summary, within) => {
            out.push_str(&format!(
                "<details><summary>{}</summary>\n\n",
                text(summary)
            ));
            write_blocks(out, within);
            out.push_str("</details>\n\n");
        }
        DocBlock::Article(Article {
            link,
            blocks: within,
            ..
        }) => {
            let name = text(&link.name);
            out.push_str(&format!("### {} {name}\n\n", link.about.noun()));
            write_blocks(out, within);
        }
    }
}

/// A Mermaid diagram of the tables that are read or referred to, and the names of the others.
fn write_erd(out: &mut String, catalog: &Catalog, sources: &[SourceTable]) {
    let is_touched = |name: &TableName| {
        let mut sources = sources.iter();
        sources.any(|source| source.id == *name && source.role != TableRole::Unread)
    };
    let mut shown = catalog.clone();
    shown.tables.retain(|table| is_touched(&table.name));
    for table in &mut shown.tables {
        table.foreign_keys.retain(|key| is_touched(&key.references));
    }
    write_fenced(out, "mermaid", &mermaid(&shown));
    let unread = sources
        .iter()
        .filter(|source| source.role == TableRole::Unread);
    let names = joined(unread.map(|source| code(&source.name)), ", ");
    if !names.is_empty() {
        out.push_str(&format!("Not read, and not drawn: {names}.\n\n"));
    }
}

fn write_table(out: &mut String, table: &DocTable) {
    if table.columns.is_empty() {
        return;
    }
    let titles = table.columns.iter().map(|column| text(&column.title));
    write_row(out, titles);
    write_row(out, table.columns.iter().map(|_| "---".to_owned()));
    for row in table.rows.iter().chain(&table.sum) {
        // Markdown knows no cell that spans rows: below such a first cell stands an empty one.
        let below_span = (row.span == 0).then(String::new);
        write_row(
            out,
            below_span.into_iter().chain(row.cells.iter().map(line)),
        );
    }
    out.push('\n');
}

/// Writes a row of a table. A `|` is escaped within code too, as tables demand.
fn write_row(out: &mut String, cells: impl Iterator<Item = String>) {
    out.push('|');
    for cell in cells {
        out.push_str(&format!(" {} |", cell.replace('|', "\\|")));
    }
    out.push('\n');
}

fn line(pieces: &TextLine) -> String {
    pieces.iter().map(piece).collect()
}

fn piece(piece: &TextPiece) -> String {
    match piece {
        TextPiece::Text(plain) | TextPiece::Type(plain) | TextPiece::Marked(_, plain) => {
            text(plain)
        }
        TextPiece::Code(text) | TextPiece::Value(text) | TextPiece::TableOrIndex(text) => {
            code(text)
        }
        TextPiece::Sub(within) => format!(" – {}", line(within)),
        TextPiece::Link(link) => {
            let heading = format!("{} {}", link.about.noun(), link.name);
            format!("[{}](#{})", text(&link.name), slug(&heading))
        }
        TextPiece::Attributes(attributes) => {
            let lines = attributes.iter().map(|attribute| {
                format!("<br>{} {}", text(&attribute.name), code(&attribute.value))
            });
            lines.collect()
        }
        TextPiece::Break => "<br>".to_owned(),
    }
}

/// Text outside of code. Newlines and other control characters become spaces.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '$' => {
                out.push('\\');
                out.push(sign);
            }
            sign if sign.is_control() => out.push(' '),
            sign => out.push(sign),
        }
    }
    out
}

fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let plain = |sign: char| sign != '`' && !sign.is_control();
    if text.chars().all(plain) && text.trim() == text && !text.contains("\\|") {
        return format!("`{text}`");
    }
    // A code span in a table cannot hold a backquote, a newline or an escaped `|`.
    let mut out = String::from("<code>");
    for sign in text.chars() {
        match sign {
            sign if sign.is_alphanumeric() || " .,:;/=-\"'".contains(sign) => out.push(sign),
            '\n' => out.push_str("<br>"),
            sign if sign.is_control() => out.push(' '),
            sign => out.push_str(&format!("&#{};", u32::from(sign))),
        }
    }
    out.push_str("</code>");
    out
}

/// A block of code, with fences that are longer than any within it.
fn write_fenced(out: &mut String, language: &str, text: &str) {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    out.push_str(&format!(
        "{fence}{language}\n{}\n{fence}\n\n",
        text.trim_end()
    ));
}

/// The anchor that GitHub gives a heading.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter_map(|sign| match sign {
        ' ' => Some('-'),
        '-' | '_' => Some(sign),
        sign if sign.is_alphanumeric() => Some(sign),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::DocRow;

    #[test]
    fn text_and_code_are_escaped() {
        assert_eq!(
            text("a|b <i>*x*</i>\n_y_"),
            "a|b &lt;i&gt;\\*x\\*&lt;/i&gt; \\_y\\_"
        );
        assert_eq!(code("USER#{id}"), "`USER#{id}`");
        assert_eq!(code("a`<b>\n"), "<code>a&#96;&#60;b&#62;<br></code>");
        assert_eq!(code("a\\|b"), "<code>a&#92;&#124;b</code>");
        assert_eq!(code(""), "");
        assert_eq!(line(&prose("is `a_b` a_b?")), "is `a_b` a\\_b?");
    }

    #[test]
    fn a_pipe_within_a_cell_is_escaped() {
        let mut out = String::new();
        let rows = vec![DocRow::new(vec![vec![TextPiece::Code(
            "{a | pad(3)}".to_owned(),
        )]])];
        write_table(&mut out, &DocTable::new("", ["x"], rows));
        assert_eq!(out, "| x |\n| --- |\n| `{a \\| pad(3)}` |\n\n");
    }

    #[test]
    fn a_fence_is_longer_than_those_within() {
        let mut out = String::new();
        write_fenced(&mut out, "sql", "SELECT '```'");
        assert_eq!(out, "````sql\nSELECT '```'\n````\n\n");
    }

    #[test]
    fn anchors_are_those_of_github() {
        assert_eq!(slug("Item type `ORDER LINE`"), "item-type-order-line");
    }
}
