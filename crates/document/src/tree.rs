//! The document as a tree of what a reader sees, made once and written in each form: [`super::html`] and
//! [`super::markdown`] know how each node is written there, and nothing of tables or item types.

use dynafold_format::each_once;
use dynafold_relational::catalog::{Catalog, TableName};

/// A part with a heading that the contents list.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) anchor: &'static str,
    pub(super) title: &'static str,
    /// What it is for, said to a reader who knows SQL.
    pub(super) intro: &'static str,
    pub(super) blocks: Vec<DocBlock>,
}

/// What stands below what is before it.
#[derive(Debug)]
pub(super) enum DocBlock {
    /// The drawing of the relational model, which each form makes in its own way, and what becomes of its tables.
    Drawing(Catalog, Vec<SourceTable>),
    /// A field by which a page filters the table that follows.
    Filter {
        /// Rows of the table.
        rows: usize,
        /// Words that find one of them.
        example: String,
    },
    Heading(String),
    Subheading(String),
    Paragraph(TextLine),
    /// A paragraph that says how to read what is beside it.
    Note(TextLine),
    /// Names, each with what is said of it.
    Facts(Vec<(&'static str, TextLine)>),
    List(Vec<TextLine>),
    Table(DocTable),
    /// Tables side by side, where there is room: what they are, and the tables.
    Views(&'static str, Vec<DocTable>),
    /// Code in a language.
    Code(&'static str, String),
    /// What a reader opens by its summary.
    Folded(String, Vec<DocBlock>),
    /// An item type or an access pattern.
    Article(Article),
}

impl DocBlock {
    pub(super) fn paragraph(text: impl Into<String>) -> Self {
        Self::Paragraph(vec![plain(text)])
    }

    pub(super) fn note(text: impl Into<String>) -> Self {
        Self::Note(vec![plain(text)])
    }
}

/// What is said of one item type or one access pattern.
#[derive(Debug)]
pub(super) struct Article {
    pub(super) link: ArticleLink,
    /// The tables of the source that its items are made from.
    pub(super) sources: Vec<String>,
    pub(super) blocks: Vec<DocBlock>,
}

#[derive(Debug, Default)]
pub(super) struct DocTable {
    pub(super) caption: String,
    /// What it is, where a page lays it out in a way of its own.
    pub(super) class: &'static str,
    pub(super) columns: Vec<DocColumn>,
    /// Whether the first cell of a row says what the row is about.
    pub(super) has_row_heads: bool,
    pub(super) rows: Vec<DocRow>,
    /// The sum below all rows.
    pub(super) sum: Option<DocRow>,
}

/// A column of a table.
#[derive(Debug)]
pub(super) struct DocColumn {
    pub(super) title: String,
    pub(super) is_number: bool,
}

/// A row of a table.
#[derive(Debug)]
pub(super) struct DocRow {
    pub(super) cells: Vec<TextLine>,
    /// How many rows the first cell spans; 0 where that of an earlier row reaches into this one,
    /// which then begins with the second cell.
    pub(super) span: usize,
    /// The tables of the source that it is about.
    pub(super) sources: Vec<String>,
    /// What a reader may filter by besides its text.
    pub(super) search: String,
}

impl DocRow {
    pub(super) fn new(cells: Vec<TextLine>) -> Self {
        Self {
            cells,
            span: 1,
            sources: Vec::new(),
            search: String::new(),
        }
    }
}

/// Pieces of text one after the other.
pub(super) type TextLine = Vec<TextPiece>;

/// A piece of text with what it means.
#[derive(Debug, Clone)]
pub(super) enum TextPiece {
    Text(String),
    Code(String),
    /// A value of a row.
    Value(String),
    Type(String),
    /// The name of the table or of an index.
    TableOrIndex(String),
    /// Text with the CSS class that the page shows it by. Plain text elsewhere.
    Marked(&'static str, String),
    /// What is said of the text before it.
    Sub(TextLine),
    Link(ArticleLink),
    /// An item, attribute by attribute.
    Attributes(Vec<ItemCell>),
    Break,
}

/// What has an article of its own.
#[derive(Debug, Clone)]
pub(super) struct ArticleLink {
    pub(super) about: About,
    pub(super) name: String,
}

impl ArticleLink {
    pub(super) fn new(about: About, name: &str) -> Self {
        let name = name.to_owned();
        Self { about, name }
    }
}

/// What an article is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum About {
    ItemType,
    Pattern,
}

impl About {
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::ItemType => "Item type",
            Self::Pattern => "Pattern",
        }
    }
}

impl DocTable {
    /// A table of which each row is about its first cell. A title with `#` before it is that of
    /// figures.
    pub(super) fn new<T: AsRef<str>>(
        caption: impl Into<String>,
        titles: impl IntoIterator<Item = T>,
        rows: impl IntoIterator<Item = DocRow>,
    ) -> Self {
        let columns = titles.into_iter().map(|title| DocColumn {
            title: title.as_ref().trim_start_matches('#').to_owned(),
            is_number: title.as_ref().starts_with('#'),
        });
        Self {
            caption: caption.into(),
            columns: columns.collect(),
            has_row_heads: true,
            rows: rows.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Items: a column for each attribute that one of them has.
    pub(super) fn of_items(caption: String, items: &[Vec<ItemCell>]) -> Self {
        let names = each_once(items.iter().flatten().map(|cell| cell.name.as_str()));
        let value = |item: &Vec<ItemCell>, name: &str| {
            let cell = item.iter().find(|cell| cell.name == name);
            cell.map_or(Vec::new(), |cell| {
                vec![TextPiece::Value(cell.value.clone())]
            })
        };
        let rows = items.iter().map(|item| {
            let cells = names.iter().map(|name| value(item, name));
            DocRow::new(cells.collect())
        });
        let columns = names.iter().map(|name| DocColumn {
            title: (*name).to_owned(),
            is_number: false,
        });
        Self {
            caption,
            columns: columns.collect(),
            rows: rows.collect(),
            ..Self::default()
        }
    }
}

/// Text as it is.
pub(super) fn plain(text: impl Into<String>) -> TextPiece {
    TextPiece::Text(text.into())
}

pub(super) fn code(text: impl Into<String>) -> TextPiece {
    TextPiece::Code(text.into())
}

/// Prose of ours, in which names stand between backticks.
pub(super) fn prose(prose: &str) -> TextLine {
    let parts = prose.split('`').enumerate();
    let parts = parts.filter(|(_, part)| !part.is_empty());
    parts
        .map(|(at, part)| if at % 2 == 0 { plain(part) } else { code(part) })
        .collect()
}

/// Lines as one, with something between them.
pub(super) fn joined(lines: impl IntoIterator<Item = TextLine>, between: &TextPiece) -> TextLine {
    let mut all = TextLine::new();
    for line in lines {
        if !all.is_empty() {
            all.push(between.clone());
        }
        all.extend(line);
    }
    all
}

/// The name of an item type or of an access pattern, leading to its article.
pub(super) fn link(about: About, name: &str) -> TextPiece {
    TextPiece::Link(ArticleLink::new(about, name))
}

/// Facts that are texts.
pub(super) fn texts(facts: impl IntoIterator<Item = (&'static str, String)>) -> DocBlock {
    let facts = facts.into_iter();
    DocBlock::Facts(
        facts
            .map(|(name, fact)| (name, vec![plain(fact)]))
            .collect(),
    )
}

/// An attribute of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemCell {
    /// The attribute's name.
    pub name: String,
    /// Its DynamoDB type.
    pub data_type: &'static str,
    /// Its value as people read it; the beginning where it is long.
    pub value: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceTable {
    /// Its name in the catalog.
    pub(crate) id: TableName,
    /// How people write its name.
    pub(crate) name: String,
    /// What kind of relation it is, unless it is a table.
    pub(crate) kind: Option<&'static str>,
    /// Rows, as the catalog estimates them.
    pub(crate) rows: Option<u64>,
    /// What the mapping does with it.
    pub(crate) role: TableRole,
    /// What the partition key of the items that are made of its rows begins with.
    pub(crate) partition: Option<String>,
    /// Item types that its values are in, in the order of the mapping.
    pub(crate) item_types: Vec<String>,
    /// Access patterns that find one of these.
    pub(crate) patterns: Vec<String>,
    pub(crate) columns: Vec<SourceColumn>,
}

/// What a mapping does with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableRole {
    /// Item types are made from its rows, or look into them.
    Read,
    /// A query of the mapping names it. What it takes is not traced.
    Queried,
    /// Nothing is read from it, but a foreign key leads from or to one that is read.
    Beside,
    /// Nothing is read from it.
    Unread,
}

/// A column of the source, and what carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceColumn {
    pub(crate) name: String,
    /// Its type, in the database's words.
    pub(crate) declared: String,
    /// Whether parents or children are found by it.
    pub(crate) leads: bool,
    /// Item types, each with the attributes that carry it.
    pub(crate) carriers: Vec<(String, Vec<String>)>,
}
