//! What a mapping calls its parts: the table, its keys, item types; and how keys, ranges and tables are written.

use dynafold_format::free_name;
use dynafold_mapping::scalar::quoted;
use dynafold_relational::catalog::{Catalog, Column, DataType, Table, TableName, TypeFamily};

/// The names that a mapping is made of, chosen so that they do not clash with columns.
#[derive(Debug)]
pub(crate) struct MappingNames {
    /// The table's partition key.
    pub(crate) partition: String,
    pub(crate) sort: String,
    /// The attribute that names the item type.
    pub(crate) type_attribute: String,
    /// The attribute with the time at which an item expires.
    pub(crate) ttl: String,
    /// The item type of each table.
    item_types: Vec<(TableName, String)>,
}

impl MappingNames {
    /// Those of a new mapping.
    pub(crate) fn choose(catalog: &Catalog) -> Self {
        let tables = || catalog.tables.iter().filter(|table| table.is_stored());
        let is_column = |name: &str| tables().any(|table| table.column(name).is_some());
        let free = |wanted: &str| {
            let mut name = wanted.to_owned();
            while is_column(&name) {
                name.insert(0, '_');
            }
            name
        };
        let mut item_types: Vec<(TableName, String)> = Vec::new();
        // Tables that are found without their schema choose first: their bare names are known to people.
        let (found, others): (Vec<&Table>, Vec<&Table>) =
            tables().partition(|table| catalog.finds(&table.name));
        for table in found.into_iter().chain(others) {
            let bare = in_capitals(&table.name.name);
            let is_taken = |name: &str| item_types.iter().any(|(_, other)| other == name);
            let with_schema = in_capitals(&catalog.display_name(&table.name));
            let name = if is_taken(&bare) && !is_taken(&with_schema) {
                with_schema
            } else {
                free_name(&bare, &is_taken)
            };
            item_types.push((table.name.clone(), name));
        }
        Self {
            partition: free("PK"),
            sort: free("SK"),
            type_attribute: free("_type"),
            ttl: free("ttl"),
            item_types,
        }
    }

    /// The names of an existing mapping, and new ones for what it lacks. `known`: its item types by table; `taken`: the names of all.
    pub(crate) fn with(
        mut self,
        [partition, sort, type_attribute]: [&str; 3],
        known: &[(TableName, String)],
        taken: &[String],
    ) -> Self {
        partition.clone_into(&mut self.partition);
        sort.clone_into(&mut self.sort);
        type_attribute.clone_into(&mut self.type_attribute);
        for (table, name) in &mut self.item_types {
            match known.iter().find(|(of, _)| of == table) {
                Some((_, known)) => name.clone_from(known),
                None => {
                    while taken.contains(name) {
                        name.push('_');
                    }
                }
            }
        }
        self
    }

    /// The item type of a table.
    pub(crate) fn item_type(&self, table: &TableName) -> &str {
        let found = self.item_types.iter().find(|(name, _)| name == table);
        found.map_or("ITEM", |(_, item_type)| item_type)
    }
}

/// A name in capitals, with `_` for everything but letters and digits.
fn in_capitals(name: &str) -> String {
    let name = name.replace(|c: char| !c.is_alphanumeric(), "_");
    name.to_uppercase()
}

/// The name of the DynamoDB table, made from that of the database: 3 to 200 characters that DynamoDB takes.
pub(crate) fn table_name(catalog: &Catalog) -> String {
    let file = catalog.database.rsplit(['/', '\\']).next();
    let name = file.and_then(|file| file.split('.').next());
    let is_odd = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
    let mut table = name.unwrap_or_default().replace(is_odd, "-");
    while table.len() < 3 {
        table.push('_');
    }
    table.truncate(200);
    table
}

/// The filter by which a key's template writes a column. `sorts`: its text has to sort as its values do.
pub(crate) fn filter(column: &Column, sorts: bool) -> &'static str {
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

/// A condition on a sort key by an operator with one value, as YAML.
pub(crate) fn compared(operator: &str, value: &str) -> String {
    format!("{{ {operator}: {} }}", quoted(value))
}

/// A condition on a sort key by a range that includes its bounds, as YAML.
pub(crate) fn between(low: &str, high: &str) -> String {
    format!("{{ between: [{}, {}] }}", quoted(low), quoted(high))
}

/// A table's name as `from` of an item type takes it.
pub(crate) fn written_name(catalog: &Catalog, name: &TableName) -> String {
    if catalog.finds(name) {
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

/// The words of a name, in lower case: `changed` and `by` of `changed_by` and `ChangedBy`. A run of digits is a word.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = '_';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_alphanumeric() {
            let ends_capitals = letters.peek().is_some_and(|next| next.is_lowercase());
            let is_capital = letter.is_uppercase() && (last.is_lowercase() || ends_capitals);
            let begins = is_capital || last.is_numeric() != letter.is_numeric();
            if begins || !last.is_alphanumeric() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        last = letter;
    }
    words
}

/// Whether one of the terms, which blanks separate, is a word of the name, or several of its words written as one: `firstname` of
/// `first_name`.
pub(crate) fn has_term(name: &str, terms: &str) -> bool {
    let words = words(name);
    let rests = (0..words.len()).filter_map(|from| words.get(from..));
    let mut runs = rests.flat_map(|rest| {
        rest.iter().scan(String::new(), |run, word| {
            run.push_str(word);
            Some(run.clone())
        })
    });
    runs.any(|run| terms.split(' ').any(|term| term == run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_where_words_begin() {
        for (name, said) in [
            ("changed_by", "changed by"),
            ("ChangedBy", "changed by"),
            ("memberID", "member id"),
            ("SSNNumber2", "ssn number 2"),
            ("address2line", "address 2 line"),
            ("businessname", "businessname"),
            ("\u{dc}berNr", "\u{fc}ber nr"),
        ] {
            assert_eq!(words(name).join(" "), said, "{name}");
        }
        let terms = "ssn firstname";
        for name in [
            "ssn",
            "FirstName",
            "the_first_name_2",
            "firstname",
            "userSSN",
        ] {
            assert!(has_term(name, terms), "{name}");
        }
        for name in ["businessname", "first", "first_of_name", "firstnames"] {
            assert!(!has_term(name, terms), "{name}");
        }
    }
}
