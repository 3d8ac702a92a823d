//! YAML as people write it, in block style, for templates with CloudFormation's short functions.
//!
//! Whatever a text holds, a reader of YAML 1.1 and one of 1.2 get it back as it was: what either
//! could take for something else than text is quoted.

#[cfg(test)]
mod tests;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Yaml {
    /// A text.
    Text(String),
    /// A whole number.
    Number(u64),
    /// True or false.
    Bool(bool),
    /// A text with a tag: `!Ref Table`.
    Tagged(&'static str, String),
    /// A list.
    List(Vec<Yaml>),
    /// A map.
    Map(Map),
}

/// A map, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Map {
    entries: Vec<(String, Yaml)>,
}

impl Map {
    /// Adds an entry.
    pub(super) fn put(mut self, key: &str, value: impl Into<Yaml>) -> Self {
        self.entries.push((key.to_owned(), value.into()));
        self
    }

    /// Adds an entry where there is a value.
    pub(super) fn maybe(self, key: &str, value: Option<impl Into<Yaml>>) -> Self {
        match value {
            Some(value) => self.put(key, value),
            None => self,
        }
    }

    /// Adds the entries of another map.
    pub(super) fn extend(mut self, other: Self) -> Self {
        self.entries.extend(other.entries);
        self
    }

    /// The map as a document.
    pub(super) fn document(&self) -> String {
        let mut out = String::new();
        for (key, value) in &self.entries {
            write_entry(&mut out, key, value, 0);
        }
        out
    }
}

impl From<Map> for Yaml {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl From<&str> for Yaml {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Yaml {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Yaml {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Yaml {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<Vec<Self>> for Yaml {
    fn from(elements: Vec<Self>) -> Self {
        Self::List(elements)
    }
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

fn write_entry(out: &mut String, key: &str, value: &Yaml, depth: usize) {
    indent(out, depth);
    out.push_str(&scalar(key));
    out.push(':');
    write_value(out, value, depth);
}

/// Writes what stands behind a colon.
fn write_value(out: &mut String, value: &Yaml, depth: usize) {
    match value {
        Yaml::Map(map) if !map.entries.is_empty() => {
            out.push('\n');
            for (key, value) in &map.entries {
                write_entry(out, key, value, depth + 1);
            }
        }
        Yaml::List(elements) if !elements.is_empty() => {
            out.push('\n');
            for element in elements {
                write_element(out, element, depth + 1);
            }
        }
        short => out.push_str(&format!(" {}\n", inline(short))),
    }
}

/// Writes an element of a list: the first line of what it is stands behind the dash.
fn write_element(out: &mut String, element: &Yaml, depth: usize) {
    let mut block = String::new();
    match element {
        Yaml::Map(map) if !map.entries.is_empty() => {
            for (key, value) in &map.entries {
                write_entry(&mut block, key, value, depth + 1);
            }
        }
        short => {
            indent(&mut block, depth + 1);
            block.push_str(&format!("{}\n", inline(short)));
        }
    }
    indent(out, depth);
    out.push_str("- ");
    out.push_str(block.trim_start_matches(' '));
}

/// What fits on a line.
fn inline(value: &Yaml) -> String {
    match value {
        Yaml::Text(text) => scalar(text),
        Yaml::Number(number) => number.to_string(),
        Yaml::Bool(truth) => truth.to_string(),
        Yaml::Tagged(tag, text) => format!("!{tag} {}", scalar(text)),
        Yaml::List(elements) => {
            let elements: Vec<String> = elements.iter().map(inline).collect();
            format!("[{}]", elements.join(", "))
        }
        Yaml::Map(_) => "{}".to_owned(),
    }
}

/// A text as it stands in a line.
pub(super) fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let printable = |c: char| matches!(c, ' '..='~' | '\u{a1}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}');
    // Line separators count as line breaks in YAML 1.1.
    if text
        .chars()
        .all(|c| printable(c) && !matches!(c, '\u{2028}' | '\u{2029}'))
    {
        return format!("'{}'", text.replace('\'', "''"));
    }
    quoted(text)
}

/// A text between double quotes, with escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            c if u32::from(c) <= 0xffff => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// Whether a text is read as itself without quotes, in any place and by any reader.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 10] = [
        "true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan",
    ];
    let first = |c: char| c.is_ascii_alphabetic() || c == '/';
    let within = |c: char| c.is_ascii_alphanumeric() || "_./:$*()+' -".contains(c);
    text.starts_with(first)
        && text.chars().all(within)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}
