//! Conditions that leave items out after they were read.

use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, TypeFamily};
use dynafold_relational::value::Number;
use dynafold_sql::{Comparator, Condition, ConditionTest, Constant, Operand, OperandValue};

use super::sql::ignores_blanks;
use super::{Ask, Asked, Equal, Note, RangeAsk};
use crate::path::Path;

/// A condition on an attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Filter {
    pub(crate) path: Path,
    /// The condition, with `{}` where the attribute stands.
    pub(crate) text: String,
    /// The parameters in it.
    pub(crate) parameters: Vec<String>,
}

impl Filter {
    /// Whether it asks for an attribute to be there or not: one that is NULL may be there too.
    pub(crate) fn asks_existence(&self) -> bool {
        self.text.contains("attribute_exists(") || self.text.contains("attribute_not_exists(")
    }

    /// Whether it takes a value that a query says; `None` where that is not clear.
    pub(crate) fn takes(&self, value: &Constant) -> Option<bool> {
        let value = match value {
            Constant::Text(text) => Some(quoted(text)?),
            Constant::Number(number) => Some(Number::parse(number).ok()?.to_string()),
            Constant::Null => None,
            Constant::Other => return None,
        };
        let text = &*self.text;
        if !self.parameters.is_empty() || text.contains(" OR ") {
            return None;
        }
        match (text, value) {
            ("attribute_exists({})", value) => Some(value.is_some()),
            ("attribute_not_exists({})", value) => Some(value.is_none()),
            // NULL meets no comparison.
            (_, None) => (!text.contains("not_exists")).then_some(false),
            (_, Some(value)) => {
                // Between a text and a number the column decides.
                let is_text = |literal: &str| literal.starts_with(['"', '\'']);
                let literal = text.rsplit_once(" = ").or(text.rsplit_once("<> "));
                let literal = literal
                    .or(text.split_once("IN ("))
                    .map(|(_, literal)| literal);
                if literal.is_some_and(|literal| is_text(literal) != is_text(&value)) {
                    return None;
                }
                let other = text.strip_prefix("attribute_exists({}) AND {} <> ");
                let list = text.strip_prefix("{} IN (");
                let list = list.and_then(|list| list.strip_suffix(')'));
                let is_listed =
                    |list: &str| format!(", {list}, ").contains(&format!(", {value}, "));
                let one = text.strip_prefix("{} = ");
                one.map(|one| one == value)
                    .or_else(|| list.map(is_listed))
                    .or_else(|| other.map(|other| other != value))
            }
        }
    }

    /// Leaves out items without the attribute.
    pub(super) fn exists(path: Path) -> Self {
        Self {
            path,
            text: "attribute_exists({})".to_owned(),
            parameters: Vec::new(),
        }
    }
}

/// The same read with only these columns in its key, and with its range or without: all else is asked by a filter of the items
/// that the key finds. `None` where something cannot be.
pub(crate) fn by_filter<'c>(ask: &Ask<'c>, kept: &[Path], keeps_range: bool) -> Option<Ask<'c>> {
    if !ask.children.is_empty() {
        return None;
    }
    let mut found = ask.clone();
    found.equal.retain(|equal| kept.contains(&equal.path));
    let left = ask.equal.iter().filter(|equal| !kept.contains(&equal.path));
    for equal in left {
        found.filters.push(of_equal(equal)?);
    }
    for when in found.when.drain(..) {
        found.filters.push(when.filter?);
    }
    if !keeps_range && let Some(range) = found.range.take() {
        found.filters.push(of_range(&range)?);
    }
    found.filters.sort();
    found
        .notes
        .retain(|note| !matches!(note, Note::IndexHoldsOnly(_)));
    Some(found)
}

/// The same read with its constants asked by a filter; `None` where they cannot be.
pub(crate) fn without_constants<'c>(ask: &Ask<'c>) -> Option<Ask<'c>> {
    let is_constant = |equal: &Equal| matches!(equal.value, Asked::Constant(_));
    let constants = ask.equal.iter().filter(|equal| is_constant(equal));
    let filters: Option<Vec<Filter>> = constants.map(of_equal).collect();
    let mut found = ask.clone();
    found.filters.extend(filters?);
    found.filters.sort();
    found.equal.retain(|equal| !is_constant(equal));
    (found.filters == ask.filters || ask.children.is_empty()).then_some(found)
}

/// The same read of an index that has only rows with its constants; `None` without any.
pub(crate) fn by_index<'c>(ask: &Ask<'c>) -> Option<Ask<'c>> {
    let mut found = ask.clone();
    for equal in found.equal.extract_if(.., |equal| equal.when.is_some()) {
        let when = equal.when?;
        found.notes.push(Note::IndexHoldsOnly(when.said.clone()));
        found.when.push(when);
    }
    found.when.sort();
    (found.when != ask.when && !found.equal.is_empty()).then_some(found)
}

/// An equality as a filter.
pub(super) fn of_equal(equal: &Equal) -> Option<Filter> {
    let (text, parameters) = match &equal.value {
        Asked::Parameter(name) => (format!("{{}} = :{name}"), vec![name.clone()]),
        Asked::Constant(text) => (format!("{{}} = {}", quoted(text)?), Vec::new()),
    };
    let path = equal.path.clone();
    (!equal.folds && !equal.folds_parameter).then_some(Filter {
        path,
        text,
        parameters,
    })
}

/// A range as a filter.
pub(super) fn of_range(range: &RangeAsk) -> Option<Filter> {
    if range.folds || range.folds_parameter {
        return None;
    }
    let mut parts: Vec<String> = Vec::new();
    let mut parameters: Vec<String> = Vec::new();
    let bounds = [(&range.low, '>'), (&range.high, '<')];
    for (bound, sign) in bounds {
        if let Some((name, is_in)) = bound {
            let or_equal = if *is_in { "=" } else { "" };
            parts.push(format!("{{}} {sign}{or_equal} :{name}"));
            parameters.push(name.clone());
        }
    }
    if let Some(name) = &range.prefix {
        parts.push(format!("begins_with({{}}, :{name})"));
        parameters.push(name.clone());
    }
    Some(Filter {
        path: range.path.clone(),
        text: parts.join(" AND "),
        parameters,
    })
}

/// Values that the IN of a filter takes.
const IN_LIST: usize = 100;

/// A list of parameters as a filter.
pub(super) fn of_list(path: Path, list: &[Operand]) -> Option<Filter> {
    let names = list
        .iter()
        .map(|one| one.parameter().map(|name| format!(":{name}")));
    let names: Vec<String> = names.collect::<Option<_>>()?;
    let parameters = list.iter().filter_map(Operand::parameter);
    (names.len() <= IN_LIST).then(|| Filter {
        path,
        text: format!("{{}} IN ({})", names.join(", ")),
        parameters: parameters.map(str::to_owned).collect(),
    })
}

/// A condition without parameters as a filter, where it means the same: one column, and a constant of its type.
pub(super) fn of_condition(
    condition: &Condition,
    path: &Path,
    ask: &Ask<'_>,
    catalog: &Catalog,
) -> Option<Filter> {
    let column = path.column_of(ask.root, catalog)?;
    let text = match &condition.test {
        ConditionTest::Null { operand, negated } => {
            operand.column()?;
            if column.data_type.may_be_absent() {
                return None;
            }
            let not = if *negated { "" } else { "not_" };
            format!("attribute_{not}exists({{}})")
        }
        ConditionTest::Compare { left, op, right } => {
            left.column()?;
            let OperandValue::Constant(constant) = &right.value else {
                return None;
            };
            if !right.around.is_empty() {
                return None;
            }
            let value = value_of(constant, column, condition, catalog)?;
            // DynamoDB orders no booleans, and texts by their bytes.
            let family = column.data_type.family();
            let is_ordered = !matches!(family, TypeFamily::Text | TypeFamily::Boolean);
            if ignores_blanks(column, catalog.dbms) {
                return None;
            }
            match op {
                Comparator::Equal if !column.insensitive => format!("{{}} = {value}"),
                // What is not there differs from every value.
                Comparator::NotEqual if !column.insensitive => {
                    format!("attribute_exists({{}}) AND {{}} <> {value}")
                }
                Comparator::Less if is_ordered => format!("{{}} < {value}"),
                Comparator::LessOrEqual if is_ordered => format!("{{}} <= {value}"),
                Comparator::Greater if is_ordered => format!("{{}} > {value}"),
                Comparator::GreaterOrEqual if is_ordered => format!("{{}} >= {value}"),
                _ => return None,
            }
        }
        ConditionTest::In {
            operand,
            negated: false,
            list,
        } => {
            operand.column()?;
            let values = list.iter().map(|one| match &one.value {
                OperandValue::Constant(constant) if one.around.is_empty() => {
                    value_of(constant, column, condition, catalog)
                }
                _ => None,
            });
            let values: Vec<String> = values.collect::<Option<_>>()?;
            if column.insensitive || ignores_blanks(column, catalog.dbms) {
                return None;
            }
            format!("{{}} IN ({})", values.join(", "))
        }
        ConditionTest::Like {
            operand, pattern, ..
        } => {
            operand.column()?;
            let begin = prefix(pattern, &condition.text)?;
            let is_exact = column.is_plain_text(catalog.dbms) && !column.insensitive;
            // SQLite's LIKE takes no account of the case of ASCII letters.
            if !is_exact || ignores_blanks(column, catalog.dbms) || catalog.dbms == Dbms::Sqlite {
                return None;
            }
            format!("begins_with({{}}, {})", quoted(begin)?)
        }
        _ => return None,
    };
    Some(Filter {
        path: path.clone(),
        text,
        parameters: Vec::new(),
    })
}

/// What texts begin with that a constant pattern takes; `None` where it says more.
fn prefix<'p>(pattern: &'p Operand, said: &str) -> Option<&'p str> {
    let OperandValue::Constant(Constant::Text(text)) = &pattern.value else {
        return None;
    };
    let begin = text.strip_suffix('%')?;
    let is_plain = !begin.is_empty() && !begin.contains(['%', '_', '\\']);
    // Neither ILIKE nor an ESCAPE.
    let column = said.strip_suffix(&format!(" LIKE {}", quoted(text)?))?;
    (is_plain && !column.ends_with(" NOT")).then_some(begin)
}

/// A constant as a filter writes it, where the column has values of its type.
fn value_of(
    constant: &Constant,
    column: &Column,
    condition: &Condition,
    catalog: &Catalog,
) -> Option<String> {
    let family = column.data_type.family();
    match constant {
        Constant::Text(text) if is_value(text, column, catalog.dbms) => quoted(text),
        // Items have dates as every database writes them.
        Constant::Text(text) if column.data_type == DataType::Date && is_date(text) => quoted(text),
        Constant::Number(number)
            if matches!(
                column.data_type,
                DataType::Integer { .. } | DataType::Decimal { .. }
            ) && is_compared_exactly(number, column, catalog.dbms) =>
        {
            Some(Number::parse(number).ok()?.to_string())
        }
        Constant::Other if family == TypeFamily::Boolean => {
            let said = condition.text.to_lowercase();
            let is_true = said.ends_with("true");
            (is_true || said.ends_with("false")).then(|| is_true.to_string())
        }
        _ => None,
    }
}

/// Whether a text that a query says is equal to the same text of the column alone. MySQL takes labels of an enum for equal by its
/// collation.
pub(super) fn is_value(text: &str, column: &Column, dbms: Dbms) -> bool {
    match &column.data_type {
        DataType::Enum { values } => values.iter().any(|value| value == text),
        _ => column.is_plain_text(dbms),
    }
}

/// Whether a database compares a column with a number as it is written: MySQL takes `26` for the year 2026, and compares with a
/// number with an exponent as doubles.
fn is_compared_exactly(number: &str, column: &Column, dbms: Dbms) -> bool {
    match dbms {
        Dbms::Postgres => true,
        Dbms::Sqlite => is_of_sqlite(number),
        Dbms::Mysql | Dbms::Mariadb => {
            let is_year = column.declared.to_lowercase().starts_with("year");
            let is_short = number.parse::<u16>().is_ok_and(|year| year < 100);
            !(number.contains(['e', 'E']) || is_year && is_short)
        }
    }
}

/// Whether SQLite reads a number as it is written: a whole number of 64 bits, or a double. Any other one becomes the nearest double.
fn is_of_sqlite(number: &str) -> bool {
    let is_double = || {
        let double = Number::from_f64(number.parse().ok()?).ok()?;
        Some(Number::parse(number).ok()? == double)
    };
    number.parse::<i64>().is_ok() || is_double() == Some(true)
}

/// Whether a text is a date in the one form that sorts as dates do.
fn is_date(text: &str) -> bool {
    let is_in_place = |(at, sign): (usize, char)| match at {
        4 | 7 => sign == '-',
        _ => sign.is_ascii_digit(),
    };
    text.chars().count() == 10 && text.chars().enumerate().all(is_in_place)
}

/// A text as a filter writes it, which has no way to write a quote.
fn quoted(text: &str) -> Option<String> {
    let is_plain = !text.contains(|sign: char| sign == '\'' || sign.is_control());
    is_plain.then(|| format!("'{text}'"))
}

#[cfg(test)]
mod tests {
    use super::is_of_sqlite;

    #[test]
    fn a_number_that_sqlite_would_round_is_no_constant_of_a_filter() {
        for taken in [
            "5",
            "-9223372036854775808",
            "9223372036854775807",
            "0.1",
            "1e3",
        ] {
            assert!(is_of_sqlite(taken), "{taken}");
        }
        for rounded in [
            "-9223372036854775809",
            "9223372036854775809",
            "0.10000000000000000001",
            "9007199254740993.0",
        ] {
            assert!(!is_of_sqlite(rounded), "{rounded}");
        }
    }
}
