//! Takes apart the text that made a table or an index. SQLite keeps the expressions of generated
//! columns and of indexes nowhere else. The text has been parsed by SQLite before, so looking at
//! parentheses and commas outside of quotes is enough.

use super::scan::SqliteDialect;
use crate::source::Dialect as _;

/// The expression of a generated column, which only the table's own text tells.
pub(super) fn generation_expression(sql: &str, column: &str) -> String {
    let definition = definition(sql, column).unwrap_or_default();
    let mut groups = groups(definition).into_iter();
    let expression = groups.find_map(|(start, end)| {
        let before = definition.get(..start)?.trim_end().to_ascii_uppercase();
        before
            .ends_with(" AS")
            .then(|| definition.get(start + 1..end))
            .flatten()
    });
    expression.unwrap_or("unknown").trim().to_owned()
}

/// The collation that a column of a table is declared with, without quotes.
pub(super) fn collation_name(sql: &str, column: &str) -> Option<String> {
    let is_table = sql
        .get(..12)
        .is_some_and(|head| head.eq_ignore_ascii_case("CREATE TABLE"));
    let definition = definition(sql, column).filter(|_| is_table)?;
    let inner = groups(definition);
    let is_outer = |at: usize| inner.iter().all(|(start, end)| at < *start || at > *end);
    let begins = |at: usize| {
        let word = definition.get(at..at + 7);
        let after = definition.get(at + 7..).unwrap_or_default();
        is_outer(at)
            && word.is_some_and(|word| word.eq_ignore_ascii_case("COLLATE"))
            && after.starts_with(char::is_whitespace)
    };
    let (at, _) = outside_quotes(definition).find(|(at, _)| begins(*at))?;
    let rest = definition.get(at + 7..)?.trim_start();
    let quotes = ['"', '\'', '`', '[', ']'];
    let name = rest.split(|c: char| c.is_whitespace() || c == ',').next()?;
    Some(name.trim_matches(quotes).to_owned())
}

/// What a table's text says of one column.
fn definition<'s>(sql: &'s str, column: &str) -> Option<&'s str> {
    let quoted = [
        SqliteDialect.quote(column),
        format!("`{}`", column.replace('`', "``")),
        format!("[{column}]"),
    ];
    terms(sql).into_iter().map(without_comment).find(|term| {
        let starts = |name: &str| {
            let (head, tail) = term.split_at_checked(name.len()).unwrap_or_default();
            head.eq_ignore_ascii_case(name) && tail.starts_with(char::is_whitespace)
        };
        starts(column) || quoted.iter().any(|name| starts(name))
    })
}

/// The text from where it says something.
fn without_comment(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let end = match text.get(..2) {
            Some("--") => "\n",
            Some("/*") => "*/",
            _ => return text,
        };
        text = text.split_once(end).map_or("", |(_, rest)| rest);
    }
}

/// What stands between the commas of the first parentheses: a table's columns, an index's terms.
pub(super) fn terms(sql: &str) -> Vec<&str> {
    let Some(&(start, end)) = groups(sql).first() else {
        return Vec::new();
    };
    let mut terms = Vec::new();
    let (mut depth, mut from) = (0_u32, start + 1);
    for (at, byte) in outside_quotes(sql).filter(|(at, _)| (start + 1..end).contains(at)) {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                terms.extend(sql.get(from..at).map(str::trim));
                from = at + 1;
            }
            _ => {}
        }
    }
    terms.extend(sql.get(from..end).map(str::trim));
    terms
}

/// The outermost pairs of parentheses, by their places.
fn groups(sql: &str) -> Vec<(usize, usize)> {
    let mut groups = Vec::new();
    let mut open = Vec::new();
    for (at, byte) in outside_quotes(sql) {
        match byte {
            b'(' => open.push(at),
            b')' => {
                let start = open.pop();
                groups.extend(start.filter(|_| open.is_empty()).map(|start| (start, at)));
            }
            _ => {}
        }
    }
    groups
}

/// The bytes of a SQL text that stand in no quotes and no comment, with their places.
fn outside_quotes(sql: &str) -> impl Iterator<Item = (usize, u8)> {
    let bytes = sql.as_bytes();
    let mut closing: &[u8] = b"";
    let mut skip_to = 0;
    bytes.iter().enumerate().filter_map(move |(at, &byte)| {
        let rest = bytes.get(at..).unwrap_or_default();
        if at < skip_to {
            return None;
        }
        if !closing.is_empty() {
            if rest.starts_with(closing) {
                skip_to = at + closing.len();
                closing = b"";
            }
            return None;
        }
        closing = match rest {
            [b'\'', ..] => b"'",
            [b'"', ..] => b"\"",
            [b'`', ..] => b"`",
            [b'[', ..] => b"]",
            [b'-', b'-', ..] => b"\n",
            [b'/', b'*', ..] => b"*/",
            _ => return Some((at, byte)),
        };
        skip_to = at + 1;
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expression_of_a_generated_column_is_found_in_the_text() {
        let sql = "CREATE TABLE t(a INT, -- AS (no),\n \"b c\" TEXT DEFAULT '),(' GENERATED ALWAYS \
                   AS (a || ')' || (a + 1)) STORED, [d] AS (a), PRIMARY KEY (a))";
        assert_eq!(generation_expression(sql, "b c"), "a || ')' || (a + 1)");
        assert_eq!(generation_expression(sql, "D"), "a");
        assert_eq!(generation_expression(sql, "a"), "unknown");
    }

    #[test]
    fn the_collation_of_a_column_is_found_in_the_text() {
        let sql = "CREATE TABLE t(a TEXT COLLATE NOCASE, \"b c\" TEXT DEFAULT ' collate x' NOT NULL \
                   collate \"RTRIM\" UNIQUE, d TEXT CHECK (d COLLATE NOCASE > 'a'), e TEXT)";
        let of = |column| collation_name(sql, column);
        assert_eq!(of("a").as_deref(), Some("NOCASE"));
        assert_eq!(of("b c").as_deref(), Some("RTRIM"));
        assert_eq!((of("d"), of("e")), (None, None));
        assert_eq!(
            collation_name("CREATE VIEW v AS SELECT (a COLLATE NOCASE)", "a"),
            None
        );
    }

    #[test]
    fn the_terms_of_an_index_are_told_apart() {
        let sql = "CREATE INDEX i ON \"t(\" (a, lower(b, 'x,y') DESC, c) WHERE a IN (1, 2)";
        assert_eq!(terms(sql), ["a", "lower(b, 'x,y') DESC", "c"]);
    }
}
