//! Whether two columns that a mapping matches can be equal at all: a number and a text cannot, and
//! each database has its own way of not saying so. And whether what is equal is the same in every plan.

use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, TypeFamily};

use crate::diagnostic::{Code, Diagnostic};
use crate::raw::Spanned;

const CONVERT: &str = "match columns of one type; a query can convert: from: { sql: SELECT …, CAST(… AS …) AS …, key: […] }";

/// What is wrong with matching `theirs` with `ours`, if they are of different kinds; `code` is that
/// of a match that is refused.
pub(super) fn mismatch(
    code: Code,
    (written, ours): (&Spanned<String>, &Column),
    theirs: &Column,
    catalog: &Catalog,
) -> Option<Diagnostic> {
    let strict = catalog.dbms == Dbms::Postgres;
    let depends = depends_on_plan(&ours.data_type, &theirs.data_type, catalog.dbms);
    if !depends && can_be_equal(&ours.data_type, &theirs.data_type, strict) {
        return None;
    }
    let kinds = format!(
        "`{}` is {}, and `{}` is {}",
        written.value, ours.declared, theirs.name, theirs.declared
    );
    let (code, message, help) = if depends {
        let message = format!(
            "{kinds}: the database compares them as doubles, so different numbers may be equal, and which rows match depends on whether it uses an index"
        );
        (code, message, CONVERT)
    } else if strict {
        let message = format!("{kinds}: the database does not compare them");
        (code, message, CONVERT)
    } else {
        (
            Code::UnprovenJoin,
            format!("{kinds}: the database converts them to compare them"),
            "a text that is not a number may be equal to 0, `07` to 7, and numbers of more than 15 digits to each other; match columns of one type",
        )
    };
    Some(Diagnostic::new(code, written.span.clone(), message).with_help(help))
}

/// Whether values of two types can be equal without one being converted. A strict database takes
/// neither a UUID nor an enum for text, nor a truth value for a number.
fn can_be_equal(one: &DataType, other: &DataType, strict: bool) -> bool {
    let is_unknown = |family| matches!(family, TypeFamily::Any | TypeFamily::Document);
    match (one.family(), other.family()) {
        (one, other) if is_unknown(one) || is_unknown(other) => true,
        (TypeFamily::Text, TypeFamily::Text) => {
            let is_own = |of: &DataType| matches!(of, DataType::Uuid | DataType::Enum { .. });
            !strict || one == other || !(is_own(one) || is_own(other))
        }
        (TypeFamily::Boolean, TypeFamily::Number) | (TypeFamily::Number, TypeFamily::Boolean) => {
            !strict
        }
        (one, other) => one == other,
    }
}

/// Whether it depends on the plan which values are equal. MySQL and MariaDB compare an exact number with a float as doubles.
/// But to find it by an index, they make the other value an exact number: of all numbers with one double they find only one.
/// Integers of 32 bits and decimals of 15 digits each have a double of their own. It is so of texts too, but such matches
/// are common, and only numbers of more than 15 digits are concerned: for them there is the warning that the database converts.
fn depends_on_plan(one: &DataType, other: &DataType, dbms: Dbms) -> bool {
    let is_wider = |of: &DataType| match of {
        DataType::Integer { bits, .. } => *bits > 32,
        DataType::Decimal { precision, .. } => precision.is_none_or(|digits| digits > 15),
        _ => false,
    };
    let is_float = |of: &DataType| matches!(of, DataType::Float { .. });
    matches!(dbms, Dbms::Mysql | Dbms::Mariadb)
        && (is_wider(one) && is_float(other) || is_wider(other) && is_float(one))
}
