//! Text in drawings: how wide it is, how it is cut, and how it is written into XML.
//!
//! The drawing is set in a monospace font, of which every reader's machine has another one. Widths
//! are those of the widest in common use.

use unicode_width::UnicodeWidthChar as _;

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
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
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

/// A type as it is usually said, where the database's own word is long.
pub(super) fn short_type(declared: &str) -> String {
    let (word, rest) = declared.split_at(declared.find('(').unwrap_or(declared.len()));
    // What stands in the brackets: the list of an enum and the display width of a number say
    // nothing about a row that is worth the room; MySQL's tinyint(1) is a truth value.
    let after = rest.split_once(')').map_or("", |(_, after)| after);
    match word {
        "enum" | "set" => return word.to_owned(),
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" if rest != "(1)" => {
            return format!("{word}{}", after.replace(" unsigned", " unsig."));
        }
        _ => {}
    }
    let (word, zone) = match declared.strip_suffix(" without time zone") {
        Some(word) => (word, ""),
        None => match declared.strip_suffix(" with time zone") {
            Some(word) => (word, "tz"),
            None => (declared, ""),
        },
    };
    let usual = [
        ("character varying", "varchar"),
        ("double precision", "double"),
        ("bit varying", "varbit"),
        ("character", "char"),
        ("integer", "int"),
        ("boolean", "bool"),
    ];
    let short = usual.into_iter().find_map(|(long, usual)| {
        let rest = word.strip_prefix(long)?;
        (!rest.starts_with(char::is_alphanumeric)).then(|| format!("{usual}{rest}"))
    });
    short.unwrap_or_else(|| word.to_owned()) + zone
}

/// The text with what XML would read as its own replaced; what XML cannot hold becomes `\u{fffd}`.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
