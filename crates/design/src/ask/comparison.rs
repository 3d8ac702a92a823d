//! Whether a database compares values as DynamoDB compares their texts in keys: by bytes. A read is served only if two values are equal
//! in the database exactly where their texts in a key are the same.

use dynafold_format::{joined, text_if};
use dynafold_relational::catalog::{Column, DataType, Dbms, Table, TypeFamily};

use super::sql::ignores_blanks;
use super::{MATERIALIZE, Unserved, unserved};
use crate::observed::Observed;

/// Refuses a join if values of the two columns may be equal and have different texts in a key, or differ and have the same text.
pub(super) fn refuse_join(
    one: (&Table, &Column),
    other: (&Table, &Column),
    dbms: Dbms,
) -> Result<(), Unserved> {
    if is_one_text(one.1, other.1, dbms) {
        return Ok(());
    }
    let described = |(table, column): (&Table, &Column)| {
        let declared = match column.declared.as_str() {
            "" => "no type",
            declared => declared,
        };
        let parts = std::iter::once(declared).chain(column.collation.as_deref());
        let (table, column) = (&table.name.name, &column.name);
        format!("`{table}.{column}` ({})", joined(parts, ", "))
    };
    let why = format!(
        "joins {} to {}, but the database does not compare them as DynamoDB compares keys (byte by byte)",
        described(one),
        described(other)
    );
    unserved(why, "give both columns one type and one collation")
}

/// Refuses to compare a column with a parameter if values of the column may be equal and have different texts in a key, or differ and
/// have the same text. A collation is no reason to refuse: the SQL that `verify --patterns` compares asks for the same bytes.
pub(super) fn refuse_value(
    table: &Table,
    column: &Column,
    observed: &Observed,
    dbms: Dbms,
) -> Result<(), Unserved> {
    let is_mysql = matches!(dbms, Dbms::Mysql | Dbms::Mariadb);
    let (why, instead) = match &column.data_type {
        _ if observed.is_mixed(table, &column.name) => why_mixed(column),
        DataType::Dynamic if !observed.is_of_one_kind(table, &column.name) => (
            "which has no type: 1 and '1' differ in the database but give the same key",
            ONE_KIND,
        ),
        // A parameter is a double, which is seldom equal to the nearest value of 32 bits.
        DataType::Float { bits: 32 } if is_mysql => (
            "which the database compares as a double: a stored 0.1 does not equal the parameter 0.1",
            "make it DOUBLE or DECIMAL",
        ),
        // PostgreSQL compares these by their areas, and paths by the number of their points.
        DataType::Printed if ["box", "circle", "path"].contains(&&*column.declared) => {
            (SEVERAL_TEXTS, MATERIALIZE)
        }
        DataType::Set { .. } => (
            "which a key holds as a list, and the database compares as one text",
            MATERIALIZE,
        ),
        // `declared` of a domain is its name alone: it may be a domain over bit strings.
        DataType::Binary { .. } if dbms == Dbms::Postgres && column.declared != "bytea" => (
            "which a key holds as whole bytes: 10 and 100 give the same key",
            MATERIALIZE,
        ),
        data_type if !has_one_text(data_type) => (SEVERAL_TEXTS, MATERIALIZE),
        _ => return Ok(()),
    };
    let (name, declared) = (&column.name, &column.declared);
    let in_brackets = text_if(!declared.is_empty(), format!(" ({declared})"));
    let why = format!("compares {name}{in_brackets}, {why}");
    unserved(why, instead)
}

/// What is mixed in a column of SQLite, and the way out.
pub(crate) fn why_mixed(column: &Column) -> (&'static str, &'static str) {
    match column.data_type.family() {
        TypeFamily::Number => ("which holds values that are not numbers", ONE_TYPE),
        TypeFamily::Boolean => ("which holds values other than 0 and 1", ONE_TYPE),
        TypeFamily::Binary => ("which holds values that are not BLOBs", ONE_TYPE),
        TypeFamily::Time => (
            "which holds values that are not of its type, times in several forms, or more fractional digits than it declares: the database compares them as they are stored",
            ONE_FORM,
        ),
        _ => (
            "which holds texts in some rows and other values in others, or BLOBs",
            ONE_KIND,
        ),
    }
}

/// Refuses a prefix or the lower case of a column whose text in a key is not the text that the database computes with: of numbers, times
/// and addresses, and of `character(n)` in PostgreSQL, which computes without the blanks at the end that the key has. `said`: the words
/// of the query.
pub(super) fn refuse_computed(column: &Column, said: &str, dbms: Dbms) -> Result<(), Unserved> {
    let is_address = dbms == Dbms::Mariadb && column.declared.starts_with("inet");
    let is_no_text = matches!(
        column.data_type.family(),
        TypeFamily::Number | TypeFamily::Boolean | TypeFamily::Time
    );
    if is_no_text || is_address {
        let declared = &column.declared;
        let why = format!("asks for `{said}`, but the column is {declared}, not text");
        return unserved(why, MATERIALIZE);
    }
    if dbms != Dbms::Postgres || !ignores_blanks(column, dbms) {
        return Ok(());
    }
    let why = format!(
        "asks for `{said}`: the {} column is padded with blanks in the key, but compared here without them",
        column.declared
    );
    unserved(why, "make the column character varying or text")
}

const SEVERAL_TEXTS: &str = "in which values with different texts can be equal";
const ONE_KIND: &str = "declare a type for the column and convert all its values to it";
const ONE_TYPE: &str =
    "convert all values of the column to its declared type, or declare the type that they have";
const ONE_FORM: &str = "store all its times in one form, such as `2026-01-31 10:00:00`, in UTC, with as many fractional digits as the column declares; or declare the type that the values have, such as INTEGER for seconds since 1970, or TEXT for `2026-01-31T10:00:00.000Z`";

/// Whether equal values of a type have one text. A day is equal to 24 hours as an interval, and 1 to 1.0 in JSON.
fn has_one_text(data_type: &DataType) -> bool {
    !matches!(
        data_type,
        DataType::Interval
            | DataType::Json
            | DataType::Array { .. }
            | DataType::Composite { .. }
            | DataType::Hstore
            | DataType::Range { .. }
    )
}

/// Whether values of two columns are equal exactly where their texts are, apart from what one collation of both takes for equal.
fn is_one_text(one: &Column, other: &Column, dbms: Dbms) -> bool {
    use DataType::{Decimal, Dynamic, Enum, Float, Integer, Text};
    match (&one.data_type, &other.data_type) {
        // A YEAR is also equal to a number of two digits.
        (Integer { .. } | Decimal { .. }, Integer { .. } | Decimal { .. }) => {
            let is_year = |column: &Column| column.declared.starts_with("year");
            is_year(one) == is_year(other)
        }
        (Float { bits }, Float { bits: others }) => bits == others,
        // SQLite compares whole numbers and doubles exactly; others make doubles of both.
        (Float { .. }, Integer { .. } | Decimal { .. })
        | (Integer { .. } | Decimal { .. }, Float { .. }) => dbms == Dbms::Sqlite,
        (Text { .. }, Text { .. }) => is_one_collation(one, other, dbms),
        (Enum { values }, Enum { values: others }) => values == others,
        (Dynamic, _) | (_, Dynamic) => false,
        (kind, others) if kind.time().is_some() => kind.time() == others.time(),
        (kind, others) => {
            std::mem::discriminant(kind) == std::mem::discriminant(others) && has_one_text(kind)
        }
    }
}

/// Whether two columns of texts take the same texts for equal. A type that is no plain text, such as citext, inet or `character(n)`,
/// compares in its own way.
fn is_one_collation(one: &Column, other: &Column, dbms: Dbms) -> bool {
    let are_plain = one.is_plain_text(dbms) && other.is_plain_text(dbms);
    let name = |column: &Column| column.collation.as_ref().map(|name| name.to_lowercase());
    one.insensitive == other.insensitive
        && (are_plain || one.declared == other.declared)
        && (!one.insensitive || name(one) == name(other))
}
