//! The document as a page: one file that needs no network, can be read without its script, and
//! prints whole. Every text is escaped; the page forbids itself to load or to send anything.

use dynafold_format::{counted, grouped};
use dynafold_relational::catalog::{self, Catalog};
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::define::table_usage;
use super::definition::Definition;
use super::erd::{COLORS, TableDetail, draw};
use super::tree::{
    About, Article, ArticleLink, DocBlock, DocRow, DocTable, ItemCell, Section, SourceTable,
    TableRole, TextLine, TextPiece, prose,
};

/// What a page of the document has near its beginning.
pub const HTML_MARKER: &str = r#"<meta name="generator" content="dynafold docs">"#;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");
/// Nothing is loaded and nothing is sent: what rows hold can do no harm.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
     base-uri 'none'; form-action 'none'";
/// Most tables that are drawn though nothing touches them.
const DIMMED: usize = 60;
/// Widest drawing that can be read on a page that stands upright.
const UPRIGHT: u32 = 1_000;
/// Names with fewer characters are not broken.
const SHORT: usize = 18;
/// What of a name does not stand in an anchor as it is.
const ODD: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'-');

/// The document as one self-contained page.
pub fn html(definition: &Definition) -> String {
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                (PreEscaped(HTML_MARKER))
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (definition.table) " – DynamoDB table definition" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    p.kind { "DynamoDB table definition" }
                    h1 { (definition.table) }
                    div.tools hidden {
                        button #expand type="button" { "Expand all" }
                        button #theme type="button" { "Theme: system" }
                    }
                }
                (contents(&definition.sections))
                main #main tabindex="-1" {
                    @for each in &definition.sections { (section(each)) }
                }
                footer {
                    "Written by dynafold docs from " code { (definition.mapping) }
                    ". It is generated: edit the mapping instead."
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}

/// The table of contents.
fn contents(sections: &[Section]) -> Markup {
    let link = |block: &DocBlock| match block {
        DocBlock::Article(article) => Some(article.link.clone()),
        _ => None,
    };
    markup! {
        nav.contents aria-label="Contents" {
            ul {
                @for section in sections {
                    @let links: Vec<ArticleLink> = section.blocks.iter().filter_map(link).collect();
                    li {
                        a href={ "#" (section.anchor) } { (section.title) }
                        @if !links.is_empty() {
                            ul { @for link in links { li { (piece(&TextPiece::Link(link))) } } }
                        }
                    }
                }
            }
        }
    }
}

fn section(section: &Section) -> Markup {
    let title = format!("{}-title", section.anchor);
    markup! {
        section id=(section.anchor) aria-labelledby=(title) {
            h2 id=(title) { (section.title) }
            p.intro { (line(&prose(section.intro))) }
            (blocks(&section.blocks))
        }
    }
}

fn blocks(blocks: &[DocBlock]) -> Markup {
    markup! { @for each in blocks { (block(each)) } }
}

fn block(block: &DocBlock) -> Markup {
    markup! {
        @match block {
            DocBlock::Drawing(catalog, sources) => (erd(catalog, sources)),
            DocBlock::Filter { rows, example } => {
                p.filter hidden {
                    label for="filter" { "Filter" }
                    input #filter type="search" placeholder=(example) autocomplete="off"
                        aria-describedby="filter-count";
                    span #filter-count role="status" { (counted(*rows, "access pattern")) }
                }
            },
            DocBlock::Heading(title) => { h3 { (title) } },
            DocBlock::Subheading(title) => { h4 { (title) } },
            DocBlock::Paragraph(text) => { p { (line(text)) } },
            DocBlock::Note(text) => { p.note { (line(text)) } },
            DocBlock::Facts(facts) => {
                dl.facts { @for (name, fact) in facts { div { dt { (name) } dd { (line(fact)) } } } }
            },
            DocBlock::List(lines) => { ul { @for each in lines { li { (line(each)) } } } },
            DocBlock::Table(one) => (wide(&one.caption, &table(one))),
            DocBlock::Views(what, views) => {
                (wide(what, &markup! { div.views { @for view in views { (table(view)) } } }))
            },
            DocBlock::Code(_, text) => { pre tabindex="0" { code { (text) } } },
            // The script folds it away at first. Without it, and on paper, it is open.
            DocBlock::Folded(summary, within) => {
                details.fold open { summary { (summary) } (blocks(within)) }
            },
            DocBlock::Article(Article { link, sources, blocks: within }) => {
                article id=(id(link)) data-sources=(list(sources)) {
                    h3 { (name(&link.name)) }
                    (blocks(within))
                }
            },
        }
    }
}

/// Content that is wide: it scrolls by itself, with the keyboard too.
fn wide(label: &str, content: &Markup) -> Markup {
    markup! { div.wide role="region" aria-label=(label) tabindex="0" { (content) } }
}

fn table(table: &DocTable) -> Markup {
    markup! {
        table.(table.class)[!table.class.is_empty()] {
            caption { (table.caption) }
            thead {
                tr {
                    @for column in &table.columns {
                        th.number[column.is_number] scope="col" { (column.title) }
                    }
                }
            }
            tbody { @for each in &table.rows { (row(table, each)) } }
            @if let Some(sum) = &table.sum { tfoot { (row(table, sum)) } }
        }
    }
}

fn row(table: &DocTable, row: &DocRow) -> Markup {
    let sources = (!row.sources.is_empty()).then(|| list(&row.sources));
    let skipped = usize::from(row.span == 0);
    let rowspan = Some(row.span).filter(|span| *span > 1);
    let columns = table.columns.iter().enumerate().skip(skipped);
    markup! {
        tr data-sources=[sources] data-search=[Some(&row.search).filter(|text| !text.is_empty())] {
            @for ((at, column), cell) in columns.zip(&row.cells) {
                @if at == 0 && table.has_row_heads {
                    th scope=(if rowspan.is_some() { "rowgroup" } else { "row" }) rowspan=[rowspan] { (line(cell)) }
                } @else if column.is_number {
                    td.number data-label=(column.title) { (line(cell)) }
                } @else {
                    td { (line(cell)) }
                }
            }
        }
    }
}

fn line(pieces: &TextLine) -> Markup {
    markup! { @for each in pieces { (piece(each)) } }
}

fn piece(piece: &TextPiece) -> Markup {
    markup! {
        @match piece {
            TextPiece::Text(text) => (text),
            TextPiece::Code(text) => { code { (text) } },
            TextPiece::Value(text) => (value(text)),
            TextPiece::Type(kind) => { abbr.type title=(type_title(kind)) { (kind) } },
            TextPiece::TableOrIndex(text) => { span.place { (name(text)) } },
            TextPiece::Marked(class, text) => { span.(class) { (name(text)) } },
            TextPiece::Sub(within) => { " " span.sub { (line(within)) } },
            TextPiece::Link(link) => { a href={ "#" (id(link)) } { (name(&link.name)) } },
            TextPiece::Attributes(cells) => (attributes(cells)),
            TextPiece::Break => { br; },
        }
    }
}

/// A value of a row, which may break behind the signs that part its elements. What it holds of signs
/// that turn the writing round ends with it.
fn value(value: &str) -> Markup {
    let parts = broken(value, &|last, next| last == '#' && next != '#');
    markup! { bdi.value { (parts) } }
}

/// A name that may break between its words: `findUserByUserId` has five.
fn name(name: &str) -> Markup {
    let is_long = name.chars().count() > SHORT;
    let between =
        |last: char, next: char| (last.is_lowercase() && next.is_uppercase()) || last == '_';
    broken(name, &|last, next| is_long && between(last, next))
}

fn broken(text: &str, between: &dyn Fn(char, char) -> bool) -> Markup {
    let mut parts = vec![String::new()];
    let mut last = ' ';
    for sign in text.chars() {
        if between(last, sign) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(sign);
        }
        last = sign;
    }
    markup! {
        @for (at, part) in parts.iter().enumerate() {
            @if at > 0 { wbr; }
            (part)
        }
    }
}

/// An item's attributes, names above values.
fn attributes(cells: &[ItemCell]) -> Markup {
    markup! {
        @if cells.is_empty() {
            span.none { "no other attributes" }
        } @else {
            dl.attributes {
                @for cell in cells {
                    div {
                        dt { (cell.name) " " abbr.type title=(type_title(cell.data_type)) { (cell.data_type) } }
                        dd { bdi { (cell.value) } }
                    }
                }
            }
        }
    }
}

/// A DynamoDB type in words.
fn type_title(name: &str) -> &'static str {
    match name {
        "S" => "string",
        "N" => "number",
        "B" => "binary",
        "BOOL" => "boolean",
        "NULL" => "null",
        "L" => "list",
        "M" => "map",
        "SS" => "string set",
        "NS" => "number set",
        "BS" => "binary set",
        "set" => "set of what is in it",
        _ => "as the document has it",
    }
}

/// An anchor that stays when the mapping grows.
fn id(link: &ArticleLink) -> String {
    let what = match link.about {
        About::ItemType => "item",
        About::Pattern => "pattern",
    };
    format!("{what}-{}", utf8_percent_encode(&link.name, ODD))
}

/// Several names as a JSON list, for the script.
fn list(names: &[String]) -> String {
    serde_json::to_string(names).unwrap_or_default()
}

/// The ERD. Without the script the list below it says the same.
fn erd(catalog: &Catalog, sources: &[SourceTable]) -> Markup {
    markup! {
        @if !catalog.tables.is_empty() {
            @let drawing = drawn(catalog, sources);
            div.erd.broad[is_broad(&drawing)] { (PreEscaped(drawing)) }
            @let collections = collections(sources);
            @if !collections.is_empty() {
                p.note { "Tables of one colour have items whose partition keys begin alike: they may be one item collection." }
                ul.erd-colors {
                    @for (color, (partition, names)) in collections.iter().enumerate() {
                        li class={ "erd-color-" (color % COLORS) } {
                            "partition keys that begin with " (value(partition)) ": " (names.join(", "))
                        }
                    }
                }
            }
        }
        p.hint hidden { "Choose a table to see what becomes of it." }
        div.fates aria-live="polite" {
            @for source in sources.iter().filter(|source| is_drawn(source)) {
                div.fate data-fate=(source.id.to_string()) {
                    h3 { (source.name) }
                    (blocks(&table_usage(source)))
                }
            }
        }
    }
}

/// The drawing: what nothing touches is dimmed, and left out where there is much of it.
fn drawn(catalog: &Catalog, sources: &[SourceTable]) -> String {
    let untouched = sources
        .iter()
        .filter(|source| source.role == TableRole::Unread);
    let few = untouched.filter(|source| is_drawn(source)).count() <= DIMMED;
    let collections = collections(sources);
    let color = |source: &SourceTable| {
        let own = source.partition.as_deref();
        let color = collections.iter().position(|(text, _)| Some(*text) == own);
        color.map_or(TableDetail::Full, TableDetail::Colored)
    };
    let shown = |table: &catalog::Table| match sources.iter().find(|one| one.id == table.name) {
        Some(source) if !is_drawn(source) => TableDetail::Hidden,
        Some(source) if source.role == TableRole::Unread && few => TableDetail::Dimmed,
        Some(source) if source.role == TableRole::Unread => TableDetail::Hidden,
        Some(source) => color(source),
        None => TableDetail::Full,
    };
    draw(catalog, &shown)
}

/// The tables whose items stand under partition keys of one kind, by what these begin with; more than one table each.
fn collections(sources: &[SourceTable]) -> Vec<(&str, Vec<&str>)> {
    let named = sources.iter().filter_map(|source| {
        let partition = source.partition.as_deref()?;
        Some((partition, source.name.as_str()))
    });
    let mut found = grouped(named);
    found.retain(|(_, names)| names.len() > 1);
    found
}

/// Whether a drawing is printed larger on a page that lies than on one that stands upright.
fn is_broad(drawing: &str) -> bool {
    let first = |name: &str| -> Option<u32> {
        let text = drawing.split(name).nth(1)?;
        text.split('"').next()?.parse().ok()
    };
    match (first(" width=\""), first(" height=\"")) {
        (Some(width), Some(height)) => width > UPRIGHT && width * 5 > height * 7,
        _ => false,
    }
}

/// Views that nothing reads are left out.
fn is_drawn(source: &SourceTable) -> bool {
    source.kind.is_none() || source.role == TableRole::Read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_the_writing_round_ends_with_its_value() {
        let turned = "a\u{202e}b#c";
        let expected = "<bdi class=\"value\">a\u{202e}b#<wbr>c</bdi>";
        assert_eq!(value(turned).into_string(), expected);
    }
}
