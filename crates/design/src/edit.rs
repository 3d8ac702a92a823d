//! Additions to the text of a mapping: what is written there stays, comments too.

use std::ops::Range;

use dynafold_format::text_if;
use dynafold_mapping::scalar::scalar;
use dynafold_mapping::yaml::{YamlContent, YamlEntry, YamlNode, parse};

/// What is added to a map of the mapping.
#[derive(Debug, Clone)]
pub(crate) struct Addition {
    /// The maps that it stands in, from the top on; those that are not there are made.
    within: Vec<String>,
    key: String,
    entry: Entry,
}

/// An entry of a map.
#[derive(Debug, Clone)]
enum Entry {
    /// One line: its value as YAML, and what is said of it.
    Line { value: String, comment: String },
    /// Lines, the first of them indented by two, as a section of the mapping has them.
    Block(String),
}

/// Why a mapping cannot be added to where it is to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{within}` cannot be added to: {why}")]
pub(crate) struct Unwritable {
    within: String,
    why: &'static str,
}

impl Addition {
    /// A line.
    pub(crate) fn line(within: &[&str], key: &str, value: String, comment: String) -> Self {
        Self {
            within: within.iter().map(|name| (*name).to_owned()).collect(),
            key: key.to_owned(),
            entry: Entry::Line { value, comment },
        }
    }

    /// Lines of a section.
    pub(crate) fn block(section: &str, key: &str, lines: String) -> Self {
        Self {
            within: vec![section.to_owned()],
            key: key.to_owned(),
            entry: Entry::Block(lines),
        }
    }

    fn refused(&self, why: &'static str) -> Unwritable {
        let within = self.within.join(".");
        Unwritable { within, why }
    }

    /// The text with it.
    ///
    /// # Errors
    ///
    /// [`Unwritable`] where the map is written in a way that this does not understand.
    pub(crate) fn added(&self, text: &str) -> Result<String, Unwritable> {
        let root = parse(text).map_err(|_| self.refused("it is no YAML"))?;
        let mut map = &root;
        let mut missing: &[String] = &self.within;
        let mut empty: Option<(&YamlEntry, &YamlNode)> = None;
        while let Some((name, rest)) = missing.split_first() {
            let mut entries = map.entries().iter();
            let Some(entry) = entries.find(|entry| entry.key == *name) else {
                break;
            };
            missing = rest;
            if entry.value.is_empty() {
                empty = Some((entry, map));
                break;
            }
            map = &entry.value;
        }
        let (at, added) = match (&map.content, empty) {
            (_, Some((entry, around))) => {
                let indent = indent(text, around).ok_or_else(|| self.refused(ODD))?;
                let lines = self.lines(missing, indent + 2, "");
                (end_of_line(text, entry.key_span.end), lines)
            }
            (YamlContent::Map { flow: true, .. }, None) => self.in_braces(text, map, missing)?,
            (YamlContent::Map { entries, .. }, None) => {
                let indent = indent(text, map).ok_or_else(|| self.refused(ODD))?;
                // A join stands behind the table that it starts from.
                let is_join = missing.first().is_some_and(|name| name == "join");
                let from = entries.iter().find(|entry| is_join && entry.key == "from");
                let last = from.or(entries.last()).ok_or_else(|| self.refused(ODD))?;
                // A section of its own stands apart.
                let before = text_if(!missing.is_empty() && indent == 0, "\n");
                let lines = self.lines(missing, indent, &before);
                (end_of_line(text, last.value.span.end), lines)
            }
            _ => return Err(self.refused(ODD)),
        };
        let (before, after) = text.split_at_checked(at).ok_or_else(|| self.refused(ODD))?;
        // As the line before ends, so do those that are added.
        let is_crlf = match before.strip_suffix('\n') {
            Some(line) => line.ends_with('\r'),
            None => text.contains("\r\n"),
        };
        let is_within_line = !before.is_empty() && !before.ends_with('\n');
        let break_before = text_if(is_within_line && added.contains('\n'), "\n");
        let mut own = format!("{break_before}{added}");
        if is_crlf {
            own = own.replace('\n', "\r\n");
        }
        let whole = format!("{before}{own}{after}");
        if self.is_in(&whole) {
            Ok(whole)
        } else {
            Err(self.refused(ODD))
        }
    }

    /// Whether it is where it was to be.
    fn is_in(&self, text: &str) -> bool {
        let root = parse(text);
        let mut node = root.as_ref().ok();
        for name in self.within.iter().chain([&self.key]) {
            node = node.and_then(|node| node.get(name));
        }
        node.is_some()
    }

    /// Its lines in a block; those of the maps that are made for it first.
    fn lines(&self, missing: &[String], indent: usize, before: &str) -> String {
        let mut out = before.to_owned();
        let mut at = indent;
        for name in missing {
            out.push_str(&format!("{}{name}:\n", " ".repeat(at)));
            at += 2;
        }
        let own = " ".repeat(at);
        match &self.entry {
            Entry::Line { value, comment } => {
                let comment = text_if(!comment.is_empty(), format!("    # {comment}"));
                out.push_str(&format!("{own}{}: {value}{comment}\n", scalar(&self.key)));
            }
            Entry::Block(lines) => {
                for line in lines.lines() {
                    let line = line.strip_prefix("  ").unwrap_or(line);
                    if line.is_empty() {
                        out.push('\n');
                    } else {
                        out.push_str(&format!("{own}{line}\n"));
                    }
                }
            }
        }
        out
    }

    /// The same before the brace that ends a map.
    fn in_braces(
        &self,
        text: &str,
        map: &YamlNode,
        missing: &[String],
    ) -> Result<(usize, String), Unwritable> {
        let Entry::Line { value, .. } = &self.entry else {
            return Err(
                self.refused("it is written in braces `{ }`: write each entry on its own line")
            );
        };
        let inside = text
            .get(map.span.clone())
            .and_then(|map| map.strip_suffix('}'));
        let inside = inside.ok_or_else(|| self.refused(ODD))?;
        let end = map.span.start + inside.trim_end().len();
        let mut added = format!("{}: {value}", scalar(&self.key));
        for name in missing.iter().rev() {
            added = format!("{name}: {{ {added} }}");
        }
        let comma = if map.entries().is_empty() { " " } else { ", " };
        Ok((end, format!("{comma}{added}")))
    }
}

/// What editors of Windows put before the first line of a file.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

const ODD: &str = "write each entry on its own line";

/// How far the entries of a map stand in; `None` where something else stands before one.
fn indent(text: &str, map: &YamlNode) -> Option<usize> {
    let Range { start, .. } = map.entries().first()?.key_span.clone();
    let before = text.get(..start)?;
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let indent = before.get(line..)?;
    let indent = indent.strip_prefix(BYTE_ORDER_MARK).unwrap_or(indent);
    indent.chars().all(|c| c == ' ').then_some(indent.len())
}

/// The begin of the line behind the one in which something ends.
fn end_of_line(text: &str, end: usize) -> usize {
    let end = text
        .get(..end)
        .map_or(text.len(), |before| before.trim_end().len());
    let rest = text.get(end..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |at| end + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# mine
dynafold: 1
table:
    name: shop # the name
    key: { partition: PK, sort: SK }
items:
    # people
    USER:
        from: users
        key: { PK: \"USER#{id}\", SK: \"USER#\" }   # one
        attributes: { a: \"{b}\" }
    ORDER:
        from: orders
        key:
            PK: \"USER#{user_id}\"
            SK: \"ORDER#{id | pad(10)}\"

# the end
";

    fn added(text: &str, additions: &[Addition]) -> String {
        let mut text = text.to_owned();
        for addition in additions {
            text = addition.added(&text).unwrap();
        }
        text
    }

    #[test]
    fn what_is_written_stays_and_additions_stand_as_the_file_has_its_lines() {
        let line = |within: &[&str], key: &str, value: &str, comment: &str| {
            Addition::line(within, key, value.to_owned(), comment.to_owned())
        };
        let pattern = "  get:\n    items: [USER]\n    sql: >-\n      SELECT 1\n".to_owned();
        let text = added(
            TEXT,
            &[
                line(
                    &["table", "indexes"],
                    "GSI1",
                    "{ partition: A, sort: B }",
                    "get",
                ),
                line(&["items", "USER", "attributes"], "c", "\"{d}\"", "unseen"),
                line(&["items", "ORDER", "join"], "u", "user_id", ""),
                line(
                    &["items", "ORDER", "attributes"],
                    "name",
                    "\"{u.name}\"",
                    "copied for get",
                ),
                Addition::block("access_patterns", "get", pattern),
            ],
        );
        assert_eq!(
            text,
            "\
# mine
dynafold: 1
table:
    name: shop # the name
    key: { partition: PK, sort: SK }
    indexes:
      GSI1: { partition: A, sort: B }    # get
items:
    # people
    USER:
        from: users
        key: { PK: \"USER#{id}\", SK: \"USER#\" }   # one
        attributes: { a: \"{b}\", c: \"{d}\" }
    ORDER:
        from: orders
        join:
          u: user_id
        key:
            PK: \"USER#{user_id}\"
            SK: \"ORDER#{id | pad(10)}\"
        attributes:
          name: \"{u.name}\"    # copied for get

access_patterns:
  get:
    items: [USER]
    sql: >-
      SELECT 1

# the end
"
        );
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let now = lines(&text);
        let stays = |line: &String| line.contains("attributes: {") || now.contains(line);
        assert!(lines(TEXT).iter().all(stays));
    }

    #[test]
    fn a_byte_order_mark_and_line_ends_of_windows_stay_and_additions_end_so() {
        let additions = [
            Addition::line(
                &["table", "indexes"],
                "GSI1",
                "{ partition: A }".to_owned(),
                String::new(),
            ),
            Addition::block(
                "access_patterns",
                "get",
                "  get:\n    items: [USER]\n".to_owned(),
            ),
        ];
        let begin = TEXT.find("dynafold").unwrap();
        for text in [TEXT, &TEXT[begin..], TEXT.trim_end()] {
            let of_windows = |text: &str| text.replace('\n', "\r\n");
            let plain = added(text, &additions);
            assert_eq!(added(&of_windows(text), &additions), of_windows(&plain));
            let marked = format!("\u{feff}{text}");
            assert_eq!(added(&marked, &additions), format!("\u{feff}{plain}"));
        }
    }

    #[test]
    fn further_entries_follow_the_last_and_empty_sections_are_filled() {
        let pattern = |name: &str| {
            Addition::block(
                "access_patterns",
                name,
                format!("  {name}:\n    items: [USER]\n"),
            )
        };
        let text = "dynafold: 1\naccess_patterns: # none yet\n# end";
        assert_eq!(
            added(text, &[pattern("one"), pattern("two")]),
            "dynafold: 1\naccess_patterns: # none yet\n  one:\n    items: [USER]\n  two:\n    items: [USER]\n# end"
        );
        let refused = pattern("one").added("access_patterns: { a: { items: [X] } }");
        assert!(refused.unwrap_err().to_string().contains("in braces"));
    }
}
