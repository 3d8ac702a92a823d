//! Conditions that leave items out after they were read.

use std::fmt;

use dynafold_format::{joined, text_if};
use dynafold_relational::catalog::{Column, DataType, Dbms, TypeFamily};
use dynafold_relational::value::Number;
use dynafold_sql::{Comparator, Condition, ConditionTest, Constant, Operand, OperandValue};

use super::sql::{ignores_blanks, sign};
use super::{Ask, Asked, Equal, Note, RangeAsk, When};
use crate::path::Path;

/// A condition on an attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Filter {
    pub(crate) path: Path,
    pub(crate) test: Test,
}

impl Filter {
    /// Leaves out items without the attribute.
    pub(crate) fn exists(path: Path) -> Self {
        let test = Test::Exists;
        Self { path, test }
    }

    /// The constant to which it holds a column of the row itself; `None` where it takes other values too.
    pub(crate) fn own_value(&self) -> Option<Constant> {
        let constant = match &self.test {
            Test::Missing => Constant::Null,
            Test::Compare(Comparator::Equal, Value::Text(text)) => Constant::Text(text.clone()),
            Test::Compare(Comparator::Equal, Value::Number(number)) => {
                Constant::Number(number.to_string())
            }
            Test::Compare(Comparator::Equal, Value::Boolean(value)) => Constant::Boolean(*value),
            _ => return None,
        };
        self.path.steps.is_empty().then_some(constant)
    }
}

/// What a filter asks of its attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Test {
    /// It is there.
    Exists,
    /// It is not there.
    Missing,
    /// It is there, and compares so.
    Compare(Comparator, Value),
    /// It begins with a text.
    BeginsWith(Value),
    /// It is one of these, or there and none of them.
    In { list: Vec<Value>, negated: bool },
    /// All of these hold.
    All(Vec<Test>),
    /// One of these holds.
    Any(Vec<Test>),
}

/// What a filter compares with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    /// By its name, without the colon.
    Parameter(String),
    /// A text without a quote, which a filter has no way to write.
    Text(String),
    Number(Number),
    Boolean(bool),
}

impl Test {
    /// Its expression, of an attribute with this name.
    pub(crate) fn text(&self, name: &str) -> String {
        match self {
            Self::Exists => format!("attribute_exists({name})"),
            Self::Missing => format!("attribute_not_exists({name})"),
            // What is not there differs from every value.
            Self::Compare(Comparator::NotEqual, value) => {
                format!("attribute_exists({name}) AND {name} <> {value}")
            }
            Self::Compare(comparator, value) => format!("{name} {} {value}", sign(*comparator)),
            Self::BeginsWith(value) => format!("begins_with({name}, {value})"),
            Self::In { list, negated } => {
                let list = joined(list.iter().map(Value::to_string), ", ");
                let not = text_if(*negated, format!("attribute_exists({name}) AND NOT "));
                format!("{not}{name} IN ({list})")
            }
            Self::All(tests) => joined(tests.iter().map(|test| test.text(name)), " AND "),
            Self::Any(tests) => {
                let texts = tests.iter().map(|test| test.text(name));
                let texts = texts.map(|text| {
                    if text.contains(" AND ") {
                        format!("({text})")
                    } else {
                        text
                    }
                });
                format!("({})", joined(texts, " OR "))
            }
        }
    }

    /// The names of the parameters in it.
    pub(crate) fn parameters(&self) -> Vec<&str> {
        let values = self.values().into_iter();
        let names = values.filter_map(|value| match value {
            Value::Parameter(name) => Some(&**name),
            Value::Text(_) | Value::Number(_) | Value::Boolean(_) => None,
        });
        names.collect()
    }

    /// The same test, whatever its parameters are called.
    pub(crate) fn unnamed(&self) -> Self {
        let value = |value: &Value| match value {
            Value::Parameter(_) => Value::Parameter(String::new()),
            value => value.clone(),
        };
        let tests = |tests: &[Self]| tests.iter().map(Self::unnamed).collect();
        match self {
            Self::Exists | Self::Missing => self.clone(),
            Self::Compare(comparator, one) => Self::Compare(*comparator, value(one)),
            Self::BeginsWith(one) => Self::BeginsWith(value(one)),
            Self::In { list, negated } => Self::In {
                list: list.iter().map(value).collect(),
                negated: *negated,
            },
            Self::All(all) => Self::All(tests(all)),
            Self::Any(any) => Self::Any(tests(any)),
        }
    }

    fn values(&self) -> Vec<&Value> {
        match self {
            Self::Exists | Self::Missing => Vec::new(),
            Self::Compare(_, value) | Self::BeginsWith(value) => vec![value],
            Self::In { list, .. } => list.iter().collect(),
            Self::All(tests) | Self::Any(tests) => tests.iter().flat_map(Self::values).collect(),
        }
    }

    /// Whether it asks for an attribute to be there or not: one that is NULL may be there too.
    pub(crate) fn asks_existence(&self) -> bool {
        match self {
            Self::Exists | Self::Missing => true,
            Self::Compare(comparator, _) => *comparator == Comparator::NotEqual,
            Self::BeginsWith(_) => false,
            Self::In { negated, .. } => *negated,
            Self::All(tests) | Self::Any(tests) => tests.iter().any(Self::asks_existence),
        }
    }

    /// Whether it takes only the values that it names.
    pub(crate) fn gives_values(&self) -> bool {
        matches!(
            self,
            Self::Compare(Comparator::Equal, _) | Self::In { negated: false, .. }
        )
    }

    /// Whether all values that pass it are known to pass another one.
    pub(crate) fn implies(&self, other: &Self) -> bool {
        let takes = |value: &Value| other.takes_value(Some(value)) == Some(true);
        self == other
            || *other == Self::Exists && self.takes_value(None) == Some(false)
            || match self {
                Self::Compare(Comparator::Equal, value) => takes(value),
                Self::In {
                    list,
                    negated: false,
                } => list.iter().all(takes),
                _ => false,
            }
    }

    /// Whether it takes a value that a query says; `None` where that is not clear.
    pub(crate) fn takes(&self, value: &Constant) -> Option<bool> {
        match value {
            Constant::Null => self.takes_value(None),
            Constant::Other => None,
            Constant::Text(text) => self.takes_value(Some(&Value::Text(text.clone()))),
            Constant::Boolean(value) => self.takes_value(Some(&Value::Boolean(*value))),
            Constant::Number(number) => {
                self.takes_value(Some(&Value::Number(Number::parse(number).ok()?)))
            }
        }
    }

    fn takes_value(&self, value: Option<&Value>) -> Option<bool> {
        match (self, value) {
            (Self::Exists, value) => Some(value.is_some()),
            (Self::Missing, value) => Some(value.is_none()),
            (Self::All(tests), value) => all(tests.iter().map(|test| test.takes_value(value))),
            (Self::Any(tests), value) => {
                let none = all(tests.iter().map(|test| Some(!test.takes_value(value)?)));
                none.map(|none| !none)
            }
            // NULL meets no comparison.
            (_, None) => Some(false),
            (Self::Compare(comparator, other), Some(value)) => value.compares(*comparator, other),
            (Self::BeginsWith(Value::Text(begin)), Some(Value::Text(text))) => {
                Some(text.starts_with(begin))
            }
            (Self::BeginsWith(_), _) => None,
            (Self::In { list, negated }, Some(value)) => {
                let equals = |other| value.compares(Comparator::NotEqual, other);
                all(list.iter().map(equals)).map(|is_none| is_none == *negated)
            }
        }
    }
}

/// Whether all hold; `None` where that is not clear.
fn all(each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let each: Vec<Option<bool>> = each.collect();
    if each.contains(&Some(false)) {
        Some(false)
    } else {
        each.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
    }
}

impl Value {
    /// A text, where a filter can write it.
    fn text(text: &str) -> Option<Self> {
        let is_plain = !text.contains(|sign: char| sign == '\'' || sign.is_control());
        is_plain.then(|| Self::Text(text.to_owned()))
    }

    /// How it compares with another; `None` where that is not clear, as between types: there the column decides.
    fn compares(&self, comparator: Comparator, other: &Self) -> Option<bool> {
        let order = match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.cmp(other),
            // The database has its own order of texts.
            (Self::Text(_), Self::Text(_)) | (Self::Boolean(_), Self::Boolean(_))
                if !comparator.is_range() =>
            {
                self.cmp(other)
            }
            _ => return None,
        };
        Some(match comparator {
            Comparator::Equal | Comparator::NotDistinct => order.is_eq(),
            Comparator::NotEqual => order.is_ne(),
            Comparator::Less => order.is_lt(),
            Comparator::LessOrEqual => order.is_le(),
            Comparator::Greater => order.is_gt(),
            Comparator::GreaterOrEqual => order.is_ge(),
        })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(name) => write!(out, ":{name}"),
            Self::Text(text) => write!(out, "'{text}'"),
            Self::Number(number) => write!(out, "{number}"),
            Self::Boolean(value) => write!(out, "{value}"),
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
    add_equal(&mut found, left)?;
    for when in found.when.drain(..) {
        found.filters.push(when.filter.clone()?);
        found.filtered.push(when);
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

/// The same read with its constants asked by a filter, but those that may stand in a key; `None` where they cannot be.
pub(crate) fn without_constants<'c>(
    ask: &Ask<'c>,
    may_stand: impl Fn(&str) -> bool,
) -> Option<Ask<'c>> {
    let is_moved =
        |equal: &Equal| matches!(&equal.value, Asked::Constant(text) if !may_stand(text));
    let constants = ask.equal.iter().filter(|equal| is_moved(equal));
    let mut found = ask.clone();
    add_equal(&mut found, constants)?;
    found.filters.sort();
    found.equal.retain(|equal| !is_moved(equal));
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

/// Asks equalities by filters; `None` where one cannot be.
fn add_equal<'e>(ask: &mut Ask<'_>, equal: impl Iterator<Item = &'e Equal>) -> Option<()> {
    for equal in equal {
        let filter = of_equal(equal)?;
        ask.filtered.extend(equal.when.clone().map(|when| When {
            filter: Some(filter.clone()),
            ..when
        }));
        ask.filters.push(filter);
    }
    Some(())
}

/// An equality as a filter.
pub(super) fn of_equal(equal: &Equal) -> Option<Filter> {
    let value = match &equal.value {
        Asked::Parameter(name) => Value::Parameter(name.clone()),
        Asked::Constant(text) => Value::text(text)?,
    };
    (!equal.folds && !equal.folds_parameter).then(|| Filter {
        path: equal.path.clone(),
        test: Test::Compare(Comparator::Equal, value),
    })
}

/// A range as a filter.
pub(super) fn of_range(range: &RangeAsk) -> Option<Filter> {
    (!range.folds && !range.folds_parameter).then(|| Filter {
        path: range.path.clone(),
        test: range.test(),
    })
}

impl RangeAsk {
    /// The range as a test, whether the column is compared in lower case or not.
    pub(crate) fn test(&self) -> Test {
        let low = [Comparator::Greater, Comparator::GreaterOrEqual];
        let high = [Comparator::Less, Comparator::LessOrEqual];
        let bounds = [(&self.low, low), (&self.high, high)].into_iter();
        let bounds = bounds.filter_map(|(bound, [without, with])| {
            let (name, is_in) = bound.as_ref()?;
            let comparator = if *is_in { with } else { without };
            Some(Test::Compare(comparator, Value::Parameter(name.clone())))
        });
        let prefix = self.prefix.iter();
        let prefix = prefix.map(|name| Test::BeginsWith(Value::Parameter(name.clone())));
        Test::All(bounds.chain(prefix).collect())
    }
}

/// Values that the IN of a filter takes.
const IN_LIST: usize = 100;

/// A list of parameters as a filter, or all values but them.
pub(super) fn of_list(path: Path, list: &[Operand], negated: bool) -> Option<Filter> {
    let names = list.iter().map(Operand::parameter);
    let list = names.map(|name| Some(Value::Parameter(name?.to_owned())));
    let list: Vec<Value> = list.collect::<Option<_>>()?;
    (list.len() <= IN_LIST).then_some(Filter {
        path,
        test: Test::In { list, negated },
    })
}

/// What a condition without parameters asks of its one column, where a filter means the same: that it has a constant of its type.
pub(super) fn of_condition(condition: &Condition, column: &Column, dbms: Dbms) -> Option<Test> {
    let constant = |operand: &Operand| match &operand.value {
        OperandValue::Constant(constant) if operand.around.is_empty() => {
            value_of(constant, column, dbms)
        }
        _ => None,
    };
    let is_exact = !column.insensitive;
    let is_padded = ignores_blanks(column, dbms);
    let (operand, is_asked, test) = match &condition.test {
        ConditionTest::Null { operand, negated } => {
            let is_told = !column.data_type.may_be_absent();
            let test = if *negated {
                Test::Exists
            } else {
                Test::Missing
            };
            (operand, is_told, test)
        }
        ConditionTest::Compare { left, op, right } => {
            // DynamoDB orders no booleans, and texts by their bytes.
            let family = column.data_type.family();
            let is_ordered = !matches!(family, TypeFamily::Text | TypeFamily::Boolean);
            let is_asked = match op {
                Comparator::Equal | Comparator::NotEqual => is_exact,
                Comparator::NotDistinct => false,
                _ => is_ordered,
            };
            let test = Test::Compare(*op, constant(right)?);
            (left, is_asked && !is_padded, test)
        }
        ConditionTest::In {
            operand,
            negated,
            list,
        } => {
            let list: Vec<Value> = list.iter().map(constant).collect::<Option<_>>()?;
            let is_asked = list.len() <= IN_LIST && is_exact && !is_padded;
            let negated = *negated;
            (operand, is_asked, Test::In { list, negated })
        }
        ConditionTest::Like {
            operand, pattern, ..
        } => {
            let begin = Value::text(prefix(pattern, &condition.text)?)?;
            let is_plain = column.is_plain_text(dbms) && is_exact && !is_padded;
            // SQLite's LIKE takes no account of the case of ASCII letters.
            let is_asked = is_plain && dbms != Dbms::Sqlite;
            (operand, is_asked, Test::BeginsWith(begin))
        }
        ConditionTest::Other(_) => {
            let is_true = alone(&condition.text, column)?;
            return Some(Test::Compare(Comparator::Equal, Value::Boolean(is_true)));
        }
        _ => return None,
    };
    operand.column().filter(|_| is_asked).map(|_| test)
}

/// What a condition asks of a boolean column that is nothing but the column, `paid`, or NOT of it.
fn alone(said: &str, column: &Column) -> Option<bool> {
    let negated = said.strip_prefix("NOT ");
    let name = negated.unwrap_or(said);
    let is_name = |c: char| c.is_alphanumeric() || "_.\"`".contains(c);
    let last = name.rsplit('.').next()?.trim_matches(['"', '`']);
    let is_column = name.chars().all(is_name) && last.eq_ignore_ascii_case(&column.name);
    let is_boolean = column.data_type.family() == TypeFamily::Boolean;
    (is_column && is_boolean).then_some(negated.is_none())
}

/// What texts begin with that a constant pattern takes; `None` where it says more.
fn prefix<'p>(pattern: &'p Operand, said: &str) -> Option<&'p str> {
    let OperandValue::Constant(Constant::Text(text)) = &pattern.value else {
        return None;
    };
    let begin = text.strip_suffix('%')?;
    let is_plain = !begin.is_empty() && !begin.contains(['%', '_', '\\']);
    // Neither ILIKE nor an ESCAPE.
    let column = said.strip_suffix(&format!(" LIKE {}", Value::text(text)?))?;
    (is_plain && !column.ends_with(" NOT")).then_some(begin)
}

/// A constant that a filter can compare with, where the column has values of its type.
fn value_of(constant: &Constant, column: &Column, dbms: Dbms) -> Option<Value> {
    match constant {
        Constant::Text(text) if is_value(text, column, dbms) => Value::text(text),
        // Items have dates as every database writes them.
        Constant::Text(text) if column.data_type == DataType::Date && is_date(text) => {
            Value::text(text)
        }
        Constant::Number(number)
            if matches!(
                column.data_type,
                DataType::Integer { .. } | DataType::Decimal { .. }
            ) && is_compared_exactly(number, column, dbms) =>
        {
            Some(Value::Number(Number::parse(number).ok()?))
        }
        // Other values are no booleans, and refused. In PostgreSQL a boolean compares with no number.
        Constant::Number(number) if column.data_type == DataType::Boolean => match &**number {
            "0" => Some(Value::Boolean(false)),
            "1" => Some(Value::Boolean(true)),
            _ => None,
        },
        Constant::Boolean(value) if column.data_type.family() == TypeFamily::Boolean => {
            Some(Value::Boolean(*value))
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

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::{Column, DataType};
    use dynafold_relational::value::Number;
    use dynafold_sql::{Comparator, Constant};

    use super::{Test, Value, alone, is_of_sqlite};

    #[test]
    fn a_filter_takes_a_value_or_not_or_it_is_not_clear() {
        let text = |text: &str| Value::Text(text.to_owned());
        let number = |number: &str| Value::Number(Number::parse(number).unwrap());
        let list = |negated| Test::In {
            list: vec![text("open"), text("paid")],
            negated,
        };
        let (is, above) = (Comparator::Equal, Comparator::Greater);
        let is_open = Test::Compare(is, text("open"));
        let is_true = Test::Compare(is, Value::Boolean(true));
        let is_any = Test::Compare(is, Value::Parameter("any".to_owned()));
        let is_more = Test::Compare(above, number("1.50"));
        let begins = Test::BeginsWith(text("op"));
        let either = Test::Any(vec![is_any.clone(), is_open.clone()]);
        let both = Test::All(vec![is_any.clone(), is_open.clone()]);
        let said = |value: &str| Constant::Text(value.to_owned());
        let counted = |value: &str| Constant::Number(value.to_owned());
        let (yes, no, unclear) = (Some(true), Some(false), None);
        for (test, value, takes) in [
            (&Test::Exists, &Constant::Other, unclear),
            (&Test::Exists, &said(""), yes),
            (&Test::Exists, &Constant::Null, no),
            (&Test::Missing, &Constant::Null, yes),
            (&Test::Missing, &said("open"), no),
            (&is_open, &said("open"), yes),
            (&is_open, &said("Open"), no),
            (&is_open, &counted("1"), unclear),
            (&is_any, &said("open"), unclear),
            (&is_any, &Constant::Null, no),
            (&is_true, &Constant::Boolean(true), yes),
            (&is_true, &Constant::Boolean(false), no),
            (&is_true, &counted("1"), unclear),
            (&is_more, &counted("1.5"), no),
            (&is_more, &counted("1.51"), yes),
            (&Test::Compare(above, text("a")), &said("b"), unclear),
            (&begins, &said("open"), yes),
            (&begins, &said("paid"), no),
            (&list(false), &said("paid"), yes),
            (&list(false), &said("lost"), no),
            (&list(false), &counted("1"), unclear),
            (&list(true), &said("paid"), no),
            (&list(true), &said("lost"), yes),
            (&list(true), &Constant::Null, no),
            (&either, &said("open"), yes),
            (&either, &said("lost"), unclear),
            (&both, &said("open"), unclear),
            (&both, &said("lost"), no),
        ] {
            let shown = test.text("a");
            assert_eq!(test.takes(value), takes, "{shown} of {value:?}");
        }
    }

    #[test]
    fn a_boolean_column_alone_is_compared_with_true() {
        let of = |data_type| Column::new("paid".to_owned(), String::new(), data_type);
        for (said, expected) in [
            ("paid", Some(true)),
            ("o.paid", Some(true)),
            ("NOT o.\"paid\"", Some(false)),
            ("o.paid IS NOT TRUE", None),
            ("NOT NOT paid", None),
            ("-o.paid", None),
            ("coalesce(o.paid, false)", None),
        ] {
            assert_eq!(alone(said, &of(DataType::Boolean)), expected, "{said}");
        }
        // MySQL takes every number but 0 for true.
        let number = DataType::Decimal {
            precision: None,
            scale: None,
        };
        assert_eq!(alone("paid", &of(number)), None);
    }

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
