//! A starter mapping from a schema: every table one item type, keys from primary keys, children
//! beside their parents by foreign key, and comments that say what to decide next.

mod names;
mod owner;

use std::fmt::Write as _;

use self::names::Names;
use self::owner::owner;
use super::template::{Argument, FilterCall, Literal, Segment, Written, WrittenPlaceholder};
use crate::catalog::{Catalog, Column, DataType, Family, ForeignKey, Table, TableKind, TableName};

/// Writes a mapping for a catalog, as YAML.
#[must_use]
pub fn starter(catalog: &Catalog) -> String {
    let is_base = |table: &&Table| matches!(table.kind, TableKind::Table | TableKind::Partitioned);
    let tables: Vec<&Table> = catalog.tables.iter().filter(is_base).collect();
    let names = Names::choose(catalog, &tables);
    let mut out = header(catalog, &names);
    let mut left: Vec<String> = Vec::new();
    let mut items = 0;
    for table in &tables {
        if !table.readable {
            left.push(format!("{}: the user may not read it", table.name));
        } else if table.row_key().is_empty() {
            left.push(format!(
                "{}: no primary or unique key tells its rows apart",
                catalog.display_name(&table.name)
            ));
        } else {
            item(&mut out, catalog, table, &names);
            items += 1;
        }
    }
    if items == 0 {
        out.push_str("  # No table has a key to begin with.\n");
    }
    for table in catalog.tables.iter().filter(|table| !is_base(table)) {
        left.push(format!(
            "{}: a view; its rows may stand in tables above",
            catalog.display_name(&table.name)
        ));
    }
    if !left.is_empty() {
        out.push_str("# Left out:\n");
        for line in left {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "#   {}", line.replace('\n', " "));
        }
        out.push('\n');
    }
    out.push_str(ACCESS_PATTERNS);
    out
}

const ACCESS_PATTERNS: &str =
    "# Who asks what? Write down every access pattern; each needs its partition key as a whole.
# access_patterns:
#   findUser:
#     key: { PK: \"USER#{userId}\" }
";

fn header(catalog: &Catalog, names: &Names) -> String {
    let mut table: String = catalog
        .database
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .split('.')
        .next()
        .unwrap_or_default()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '-'
            }
        })
        .collect();
    while table.len() < 3 {
        table.push('_');
    }
    table.truncate(200);
    let type_attribute = match names.type_attribute.as_str() {
        "_type" => String::new(),
        other => format!("  type_attribute: {other}\n"),
    };
    format!(
        "# A starter mapping, made from the schema of {dbms} `{database}`. It loads every table as it is.
# Next: write down the access patterns, then decide which items must stand together (one
# partition key), in which order (the sort key), and what the keys cannot serve (indexes).
# Ask `dynafold check` and `dynafold preview` after every change.
dynafold: 1

table:
  name: ${{TABLE_NAME:-{table}}}
  key: {{ partition: {partition}, sort: {sort} }}
  # indexes:
  #   GSI1: {{ partition: {sort}, sort: {partition} }}     # inverted: from a child to its parents
  billing: on-demand
{type_attribute}
items:
",
        dbms = catalog.dbms,
        database = catalog.database.replace('\n', " "),
        partition = names.partition,
        sort = names.sort,
    )
}

fn item(out: &mut String, catalog: &Catalog, table: &Table, names: &Names) {
    let name = names.item_type(&table.name);
    if let Some(comment) = &table.comment {
        let _ = writeln!(out, "  # {}", comment.replace(['\n', '\r'], " "));
    }
    let owner = owner(catalog, table);
    let mut join = String::new();
    let (partition, sort, why) = match owner {
        Some(key) => {
            let parent = names.item_type(&key.references);
            // In the order of the parent's own key, whatever the order of the foreign key.
            let ours = catalog
                .table(&key.references)
                .map_or(key.columns.clone(), |parent| {
                    parent
                        .row_key()
                        .iter()
                        .filter_map(|theirs| {
                            let at = key
                                .referenced_columns
                                .iter()
                                .position(|column| column == theirs)?;
                            key.columns.get(at).cloned()
                        })
                        .collect()
                });
            let rest: Vec<String> = table
                .row_key()
                .iter()
                .filter(|column| !ours.contains(column))
                .cloned()
                .collect();
            let spelled = spelled_by_parent(catalog, table, key);
            let partition = match &spelled {
                Some((alias, theirs)) => {
                    key_template(parent, theirs, theirs.row_key(), Some(alias), false)
                }
                None => key_template(parent, table, &ours, None, false),
            };
            if let Some((alias, _)) = &spelled {
                let columns: Vec<String> = key.columns.iter().map(|name| quoted(name)).collect();
                join = format!(
                    "    # Equal texts may be spelled otherwise here: the parent's spelling counts.\n    join: {{ {alias}: [{}] }}\n",
                    columns.join(", ")
                );
            }
            (
                partition,
                key_template(name, table, &rest, None, true),
                format!("  # beside its {parent}, in one item collection"),
            )
        }
        None => (
            key_template(name, table, table.row_key(), None, false),
            format!("{name}#"),
            String::new(),
        ),
    };
    let _ = writeln!(
        out,
        "  {}:\n    from: {}\n{join}    key: {{ {}: {}, {}: {} }}{why}\n",
        scalar(name),
        scalar(&written_name(catalog, &table.name)),
        names.partition,
        quoted(&partition),
        names.sort,
        quoted(&sort),
    );
}

/// The parent of a foreign key whose texts the database compares without regard to case, accents or
/// blanks, with an alias for it: a child's `de` is equal to the parent's `DE`, and to DynamoDB it is not.
fn spelled_by_parent<'c>(
    catalog: &'c Catalog,
    table: &Table,
    key: &ForeignKey,
) -> Option<(String, &'c Table)> {
    let parent = catalog.table(&key.references)?;
    let insensitive = |table: &Table, names: &[String]| {
        let mut columns = names.iter().filter_map(|name| table.column(name));
        columns.any(|column| column.insensitive)
    };
    if !insensitive(table, &key.columns) && !insensitive(parent, &key.referenced_columns) {
        return None;
    }
    let mut alias = "parent".to_owned();
    while table.name.name == alias || table.column(&alias).is_some() {
        alias.insert(0, '_');
    }
    Some((alias, parent))
}

/// `USER#{id}`, or `USER#{parent.id}` with an alias; in a sort key numbers are padded, so that their text sorts as they do.
fn key_template(
    name: &str,
    table: &Table,
    columns: &[String],
    alias: Option<&String>,
    sorts: bool,
) -> String {
    let mut segments = vec![Segment::Text(format!("{name}#"))];
    for (index, column) in columns
        .iter()
        .filter_map(|name| table.column(name))
        .enumerate()
    {
        if index > 0 {
            segments.push(Segment::Text("#".to_owned()));
        }
        segments.push(Segment::Placeholder(WrittenPlaceholder {
            path: alias.into_iter().chain([&column.name]).cloned().collect(),
            path_span: 0..0,
            filters: filters(column, sorts),
            span: 0..0,
        }));
    }
    Written { segments }.to_string()
}

fn filters(column: &Column, sorts: bool) -> Vec<FilterCall> {
    let call = |name: &str, arguments: &[&str]| FilterCall {
        name: name.to_owned(),
        arguments: arguments
            .iter()
            .map(|text| {
                Argument::Plain(Literal {
                    text: (*text).to_owned(),
                    quoted: false,
                })
            })
            .collect(),
        span: 0..0,
    };
    match (&column.data_type, column.data_type.family()) {
        (DataType::Integer { bits, .. }, _) if sorts => {
            let digits = match bits {
                0..=8 => "3",
                9..=16 => "5",
                17..=24 => "8",
                25..=32 => "10",
                _ => "20",
            };
            vec![call("pad", &[digits])]
        }
        (_, Family::Number) if sorts => vec![call("ordered", &[])],
        (_, Family::Binary) => vec![call("hex", &[])],
        (_, Family::List | Family::Map | Family::Set | Family::Document) => {
            vec![call("string", &[])]
        }
        _ => Vec::new(),
    }
}

/// A table's name as `from` takes it.
fn written_name(catalog: &Catalog, name: &TableName) -> String {
    if catalog
        .find(&name.name)
        .is_some_and(|found| &found.name == name)
    {
        return name.name.clone();
    }
    let part = |text: &str| {
        let plain = text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if plain {
            text.to_owned()
        } else {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
    };
    format!("{}.{}", part(&name.schema), part(&name.name))
}

/// A YAML scalar: plain where that is safe, else in double quotes.
pub(super) fn scalar(text: &str) -> String {
    let first = text
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let plain = first
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    let word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if plain && !word.contains(&text.to_lowercase().as_str()) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    // JSON's string literals are YAML's double-quoted ones.
    crate::value::quote(&mut out, text);
    out
}
