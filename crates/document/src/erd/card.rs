//! A table as a box: which of its columns are shown, and how large that is.

use dynafold_format::counted_as;
use dynafold_relational::catalog::{Catalog, Column, Table};
use unicode_width::UnicodeWidthChar as _;

use super::TableDetail;

/// Font sizes, in pixels.
pub(super) const NAME: usize = 12;
pub(super) const COLUMN: usize = 11;
pub(super) const SMALL: usize = 9;

/// Heights and distances, in pixels.
pub(super) const HEAD: i32 = 22;
pub(super) const ROW: i32 = 16;
pub(super) const FOOT: i32 = 4;
pub(super) const SIDE: i32 = 8;
const BETWEEN: i32 = 10;
/// The widest that a name and a type are shown.
const NAME_ROOM: i32 = 168;
const TYPE_ROOM: i32 = 92;
const TITLE_ROOM: i32 = 220;

/// A row of a box.
pub(super) struct CardRow<'a> {
    pub(super) column: &'a Column,
    pub(super) keys: String,
    pub(super) name: String,
    pub(super) data_type: String,
}

pub(super) struct Card<'a> {
    pub(super) table: &'a Table,
    pub(super) detail: TableDetail,
    /// The name in full, and as it fits.
    pub(super) name: String,
    pub(super) title: String,
    /// What it is, where it is no table.
    pub(super) kind: &'static str,
    pub(super) rows: Vec<CardRow<'a>>,
    /// Columns that are not shown.
    pub(super) folded: Vec<&'a str>,
    /// How much of each row the marks of keys take.
    pub(super) keys_width: i32,
    pub(super) width: i32,
    pub(super) height: i32,
}

impl<'a> Card<'a> {
    /// Makes the box; of a table with more than `bound` columns keys are shown, and as many others
    /// as there is room for.
    pub(super) fn new(
        catalog: &Catalog,
        table: &'a Table,
        detail: TableDetail,
        bound: usize,
    ) -> Self {
        let is_key = |column: &Column| !catalog.keys_of(table, column).is_empty();
        let needed = table.columns.iter().filter(|column| is_key(column)).count();
        // One column is not folded: the line that says so would take its place.
        let all = table.columns.len() <= bound.max(needed) + 1;
        let mut others = bound.saturating_sub(needed);
        let mut rows = Vec::new();
        let mut folded = Vec::new();
        for column in &table.columns {
            let keys = catalog.keys_of(table, column).join(" ");
            if all || !keys.is_empty() || others > 0 {
                others = others.saturating_sub(usize::from(keys.is_empty()));
                rows.push(CardRow {
                    keys,
                    name: fit(&column.name, COLUMN, NAME_ROOM),
                    data_type: fit(&short_type(&column.declared), SMALL, TYPE_ROOM),
                    column,
                });
            } else {
                folded.push(column.name.as_str());
            }
        }
        let name = catalog.display_name(&table.name);
        let title = fit(&name, NAME, TITLE_ROOM);
        let kind = if table.is_stored() {
            ""
        } else {
            table.kind.word()
        };
        let keys_width = rows
            .iter()
            .map(|row| width(&row.keys, SMALL))
            .max()
            .unwrap_or(0);
        let keys_width = keys_width + if keys_width > 0 { 6 } else { 0 };
        let wide = |row: &CardRow| {
            keys_width + width(&row.name, COLUMN) + BETWEEN + width(&row.data_type, SMALL)
        };
        let head = width(&title, NAME) + BETWEEN + width(kind, SMALL);
        let more = keys_width + width(&more(folded.len()), SMALL);
        let inner = rows
            .iter()
            .map(wide)
            .chain([head, more, 80])
            .max()
            .unwrap_or(0);
        let lines = rows.len() + usize::from(!folded.is_empty());
        Self {
            table,
            detail,
            name,
            title,
            kind,
            keys_width,
            width: inner + 2 * SIDE,
            height: HEAD + ROW * i32::try_from(lines).unwrap_or(0) + FOOT,
            rows,
            folded,
        }
    }

    /// The middle of a column's row, from the box's top; of the head where the column is not shown.
    pub(super) fn row_of(&self, column: Option<&String>) -> i32 {
        let is = |row: &CardRow| Some(&row.column.name) == column;
        let found = self.rows.iter().zip(0..).find(|(row, _)| is(row));
        found.map_or(HEAD / 2, |(_, number)| HEAD + number * ROW + ROW / 2)
    }
}

/// The line that stands for columns that are not shown; nothing for none.
pub(super) fn more(count: usize) -> String {
    match count {
        0 => String::new(),
        count => format!("+ {}", counted_as(count, "more column", "more columns")),
    }
}

// Text in drawings: how wide it is, how it is cut, and how it is written into XML.
//
// The drawing is set in a monospace font, of which every reader's machine has another one. Widths
// are those of the widest in common use.

/// Thousandths of the font's size that a character of the font takes.
const ADVANCE: usize = 606;
/// The same for characters that come from some other font.
const FOREIGN: usize = 850;
const FOREIGN_WIDE: usize = 1250;

/// How wide a text is at a font size, both in pixels; rounded up.
pub(super) fn width(text: &str, size: usize) -> i32 {
    let thousandths: usize = text.chars().map(|c| advance(c) * size).sum();
    i32::try_from(thousandths.div_ceil(1000)).unwrap_or(i32::MAX)
}

fn advance(c: char) -> usize {
    if (' '..='\u{24f}').contains(&c) || matches!(c, '…' | '–') {
        return ADVANCE;
    }
    match c.width() {
        Some(0) => 0,
        Some(1) => FOREIGN,
        _ => FOREIGN_WIDE,
    }
}

/// The text, cut to a width and ended by `…` where it is wider.
pub(super) fn fit(text: &str, size: usize, room: i32) -> String {
    let text = text.replace(char::is_control, "\u{fffd}");
    if width(&text, size) <= room {
        return text;
    }
    let room = room - width("…", size);
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if width(&cut, size) > room {
            cut.pop();
            break;
        }
    }
    cut + "…"
}

/// Types whose full name is long, with the name in common use.
const SHORT_NAMES: [(&str, &str); 6] = [
    ("character varying", "varchar"),
    ("double precision", "double"),
    ("bit varying", "varbit"),
    ("character", "char"),
    ("integer", "int"),
    ("boolean", "bool"),
];

/// The same for words behind the name.
const SHORT_ENDS: [(&str, &str); 3] = [
    (" without time zone", ""),
    (" with time zone", "tz"),
    (" unsigned", " unsig."),
];

/// A type by its short name in common use. A type of the user's own keeps its name.
pub(super) fn short_type(declared: &str) -> String {
    let (word, rest) = declared.split_at(declared.find('(').unwrap_or(declared.len()));
    if word.contains('"') {
        return declared.to_owned();
    }
    // The values of an enum and the display width of a number would take too much room.
    // `tinyint(1)` of MySQL stays: it is a boolean.
    let after = rest.rsplit_once(')').map_or("", |(_, after)| after);
    let usual = match word {
        "enum" | "set" => word.to_owned(),
        _ if word.ends_with("int") && rest != "(1)" => format!("{word}{after}"),
        _ => declared.to_owned(),
    };
    // `integer_kind` is not an `integer`.
    let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
    let by_name = SHORT_NAMES.iter().find_map(|(long, short)| {
        let rest = usual.strip_prefix(*long)?;
        (!rest.starts_with(continues)).then(|| format!("{short}{rest}"))
    });
    let named = by_name.unwrap_or(usual);
    SHORT_ENDS
        .iter()
        .fold(named, |text, (long, short)| text.replace(long, short))
}
