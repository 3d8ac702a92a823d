//! A starter mapping from a schema: every table one item type, keys from primary keys, children
//! beside their parents by foreign key, and comments that say what to decide next.

mod owner;

use std::fmt::Write as _;

use dynafold_relational::catalog::{
    Catalog, Column, DataType, Dbms, ForeignKey, Table, TableName, TypeFamily,
};

pub use self::owner::owner;
use super::template::Path;

/// A starter mapping.
#[derive(Debug)]
pub struct Starter {
    /// The mapping, as YAML.
    pub text: String,
    /// Tables and views that are not in it, each with why.
    pub left_out: Vec<String>,
}

/// Writes a mapping for a catalog.
#[must_use]
pub fn starter(catalog: &Catalog) -> Starter {
    let is_base = |table: &&Table| table.is_stored();
    let tables: Vec<&Table> = catalog.tables.iter().filter(is_base).collect();
    let names = StarterNames::choose(catalog, &tables);
    let mut out = header(catalog, &names);
    let mut left: Vec<String> = Vec::new();
    let mut patterns = String::new();
    let mut unserved: Vec<String> = Vec::new();
    let mut items = 0;
    for table in &tables {
        if !table.readable {
            left.push(format!("{}: the user may not read it", table.name));
        } else if table.row_key().is_empty() {
            let name = catalog.display_name(&table.name);
            left.push(format!(
                "{name}: no primary or unique key identifies its rows"
            ));
        } else {
            let pattern = item(&mut out, catalog, table, &names);
            patterns.push_str(&pattern);
            for key in other_parents(catalog, table) {
                unserved.push(format!(
                    "{} by {} (of {})",
                    catalog.display_name(&table.name),
                    key.columns.join(", "),
                    catalog.display_name(&key.references),
                ));
            }
            items += 1;
        }
    }
    if items == 0 {
        out.push_str("  # No table has a key to start from.\n");
    }
    for table in catalog.tables.iter().filter(|table| !is_base(table)) {
        left.push(format!(
            "{}: a view; its rows may be in tables above",
            catalog.display_name(&table.name)
        ));
    }
    for line in left.iter_mut().chain(&mut unserved) {
        *line = line.replace(['\n', '\r'], " ");
    }
    list(&mut out, "Left out:", &left);
    if !left.is_empty() {
        out.push('\n');
    }
    out.push_str(ACCESS_PATTERNS);
    out.push_str(&patterns);
    list(
        &mut out,
        "No key serves these: each needs an index if you need it.",
        &unserved,
    );
    Starter {
        text: out,
        left_out: left,
    }
}

/// Lines as a comment under a title; nothing where there are none.
fn list(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# {title}");
    for line in lines {
        let _ = writeln!(out, "#   {line}");
    }
}

const ACCESS_PATTERNS: &str =
    "# Who asks what? Each access pattern needs its partition key as a whole.
# The keys above serve these: keep those that are asked, and write down all others.
# access_patterns:
";

/// The foreign keys by which no item of a table is found.
fn other_parents<'t>(
    catalog: &'t Catalog,
    table: &'t Table,
) -> impl Iterator<Item = &'t ForeignKey> {
    let owner = owner(catalog, table);
    table
        .foreign_keys
        .iter()
        .filter(move |key| owner.is_none_or(|(owner, _)| owner.columns != key.columns))
}

fn header(catalog: &Catalog, names: &StarterNames) -> String {
    let file = catalog.database.rsplit(['/', '\\']).next();
    let name = file.and_then(|file| file.split('.').next());
    let is_odd = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
    let mut table = name.unwrap_or_default().replace(is_odd, "-");
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
# Next: write down the access patterns, then decide which items belong together (one
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

/// Writes an item type. Gives the access pattern that its key serves, as a comment.
fn item(out: &mut String, catalog: &Catalog, table: &Table, names: &StarterNames) -> String {
    let name = names.item_type(&table.name);
    if let Some(comment) = &table.comment {
        let _ = writeln!(out, "  # {}", comment.replace(['\n', '\r'], " "));
    }
    let owner = owner(catalog, table);
    let mut join = String::new();
    let called = table.name.name.as_str();
    let (partition, sort, why, asked) = match owner {
        Some((key, theirs)) => {
            let parent = names.item_type(&key.references);
            // In the order of the parent's own key, whatever the order of the foreign key.
            let ours = |own: &String| {
                let mut referenced = key.referenced_columns.iter();
                key.columns
                    .get(referenced.position(|column| column == own)?)
            };
            let ours = theirs.row_key().iter().filter_map(ours);
            let ours: Vec<String> = ours.cloned().collect();
            let rest = table.row_key().iter();
            let rest: Vec<String> = rest.filter(|own| !ours.contains(own)).cloned().collect();
            let spelled = spelled_by_parent(theirs, table, key);
            let (partition, asked) = match &spelled {
                Some(alias) => (
                    key_template(parent, theirs, theirs.row_key(), Some(alias), false),
                    key_template(parent, theirs, theirs.row_key(), None, false),
                ),
                None => {
                    let template = key_template(parent, table, &ours, None, false);
                    (template.clone(), template)
                }
            };
            if let Some(alias) = &spelled {
                let columns: Vec<String> = key.columns.iter().map(|name| quoted(name)).collect();
                join = format!(
                    "    # Equal texts may be spelled otherwise here: the parent's spelling counts.\n    join: {{ {alias}: [{}] }}\n",
                    columns.join(", ")
                );
            }
            let why = if self::owner(catalog, theirs).is_none() {
                format!("  # beside its {parent}, in one item collection")
            } else {
                format!("  # those of one {parent} in one item collection")
            };
            let sort = if rest.is_empty() {
                quoted(&format!("{name}#"))
            } else {
                format!("{{ begins_with: {} }}", quoted(&format!("{name}#")))
            };
            // A parent's spelling is not what the column holds.
            let by = if spelled.is_none() { ours } else { Vec::new() };
            let asked = (
                format!("{called}_of_{}", key.references.name),
                quoted(&asked),
                sort,
                by,
            );
            (
                partition,
                key_template(name, table, &rest, None, true),
                why,
                asked,
            )
        }
        None => {
            let partition = key_template(name, table, table.row_key(), None, false);
            let sort = format!("{name}#");
            let by = table.row_key().join("_");
            let asked = (
                format!("{called}_by_{by}"),
                quoted(&partition),
                quoted(&sort),
                table.row_key().to_vec(),
            );
            (partition, sort, String::new(), asked)
        }
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
    commented(catalog, table, names, asked)
}

/// An access pattern as a comment: its name, what is asked for under the keys, and the columns of its SQL.
fn commented(
    catalog: &Catalog,
    table: &Table,
    names: &StarterNames,
    parts: (String, String, String, Vec<String>),
) -> String {
    let name = names.item_type(&table.name);
    let (pattern, partition, sort, by) = parts;
    let sql = sql(catalog, table, &by).map(|sql| format!("#     sql: {}\n", quoted(&sql)));
    format!(
        "#   {}:\n#     items: [{}]\n#     key: {{ {}: {partition}, {}: {sort} }}\n{}",
        scalar(&pattern),
        scalar(name),
        names.partition,
        names.sort,
        sql.unwrap_or_default(),
    )
}

/// The SQL that a pattern answers; `None` where a name would need more than quotes.
fn sql(catalog: &Catalog, table: &Table, by: &[String]) -> Option<String> {
    let is_word = |name: &str| {
        let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(is_inner)
    };
    let quote = match catalog.dbms {
        Dbms::Mysql | Dbms::Mariadb => '`',
        Dbms::Postgres | Dbms::Sqlite => '"',
    };
    let identifier = |name: &str| {
        if dynafold_sql::is_keyword(name) {
            format!("{quote}{name}{quote}")
        } else {
            name.to_owned()
        }
    };
    let name = table.name.name.as_str();
    let is_found = catalog
        .find(name)
        .is_some_and(|found| found.name == table.name);
    let are_words = is_word(name) && by.iter().all(|column| is_word(column));
    if by.is_empty() || !is_found || !are_words {
        return None;
    }
    let each = by.iter();
    let each = each.map(|column| format!("{} = :{column}", identifier(column)));
    let each: Vec<String> = each.collect();
    Some(format!(
        "SELECT * FROM {} WHERE {}",
        identifier(name),
        each.join(" AND ")
    ))
}

/// An alias for the parent of a foreign key whose texts the database compares without regard to case, accents or
/// blanks: a child's `de` is equal to the parent's `DE`, and to DynamoDB it is not.
fn spelled_by_parent(parent: &Table, table: &Table, key: &ForeignKey) -> Option<String> {
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
    Some(alias)
}

/// `USER#{id}`, or `USER#{parent.id}` with an alias; in a sort key numbers are padded, so that their text sorts as they do.
fn key_template(
    name: &str,
    table: &Table,
    columns: &[String],
    alias: Option<&String>,
    sorts: bool,
) -> String {
    let columns = columns.iter().filter_map(|name| table.column(name));
    let values = columns.map(|column| {
        let path: Vec<String> = alias.into_iter().chain([&column.name]).cloned().collect();
        format!("{{{}{}}}", Path(&path), filter(column, sorts))
    });
    format!("{name}#{}", values.collect::<Vec<_>>().join("#"))
}

/// What makes a key's text of a column.
#[must_use]
pub fn filter(column: &Column, sorts: bool) -> &'static str {
    match (&column.data_type, column.data_type.family()) {
        (DataType::Integer { bits, .. }, _) if sorts => match bits {
            0..=8 => " | pad(3)",
            9..=16 => " | pad(5)",
            17..=24 => " | pad(8)",
            25..=32 => " | pad(10)",
            _ => " | pad(20)",
        },
        (_, TypeFamily::Number) if sorts => " | ordered",
        (_, TypeFamily::Binary) => " | hex",
        (_, TypeFamily::List | TypeFamily::Map | TypeFamily::Set | TypeFamily::Document) => {
            " | string"
        }
        _ => "",
    }
}

/// A table's name as `from` takes it.
#[must_use]
pub fn written_name(catalog: &Catalog, name: &TableName) -> String {
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
#[must_use]
pub fn scalar(text: &str) -> String {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = begins && text.chars().all(is_inner);
    let word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if plain && !word.contains(&text.to_lowercase().as_str()) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// A YAML scalar in double quotes.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    // JSON's string literals are YAML's double-quoted ones.
    dynafold_relational::value::quote(&mut out, text);
    out
}

/// The names that a mapping is made of, chosen so that they do not clash with columns.
#[derive(Debug)]
pub struct StarterNames {
    /// The table's partition key.
    pub partition: String,
    /// Its sort key.
    pub sort: String,
    /// The type attribute.
    pub type_attribute: String,
    /// Item type names by table.
    item_types: Vec<(TableName, String)>,
}

impl StarterNames {
    /// Chooses them.
    #[must_use]
    pub fn choose(catalog: &Catalog, tables: &[&Table]) -> Self {
        let is_column = |name: &str| tables.iter().any(|table| table.column(name).is_some());
        let free = |wanted: &str| {
            let mut name = wanted.to_owned();
            while is_column(&name) {
                name.insert(0, '_');
            }
            name
        };
        let mut item_types: Vec<(TableName, String)> = Vec::new();
        // Tables that a bare name finds come first: theirs are the names that people know them by.
        let is_found = |table: &&&Table| catalog.find(&table.name.name) == Some(**table);
        let (found, others): (Vec<&Table>, Vec<&Table>) =
            tables.iter().partition(|table| is_found(table));
        for table in found.into_iter().chain(others) {
            let plain = upper(&table.name.name);
            let taken = |name: &str| item_types.iter().any(|(_, other)| other == name);
            let mut name = plain.clone();
            if taken(&name) {
                name = upper(&catalog.display_name(&table.name));
            }
            let mut number = 2;
            while taken(&name) {
                name = format!("{plain}_{number}");
                number += 1;
            }
            item_types.push((table.name.clone(), name));
        }
        Self {
            partition: free("PK"),
            sort: free("SK"),
            type_attribute: free("_type"),
            item_types,
        }
    }

    /// The item type of a table.
    #[must_use]
    pub fn item_type(&self, table: &TableName) -> &str {
        let found = self.item_types.iter().find(|(name, _)| name == table);
        found.map_or("ITEM", |(_, item_type)| item_type)
    }
}

/// An item type's name from a table's: upper case, other signs than letters and digits as `_`.
#[must_use]
pub fn upper(name: &str) -> String {
    let sign = |c: char| if c.is_alphanumeric() { c } else { '_' };
    name.chars().map(sign).collect::<String>().to_uppercase()
}
