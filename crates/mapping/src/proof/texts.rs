//! The texts that a key attribute of an item type can have: what tells its items from those of others.

use std::collections::HashSet;
use std::fmt::LowerExp;
use std::str::FromStr;

use dynafold_dynamodb::Attribute;
use dynafold_relational::catalog::{DataType, Dbms};
use dynafold_relational::value::Number;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::domain::Domain;
use super::facts::{ColumnFact, ProofSubject};
use super::forms::{ShapePiece, TextShape, shapes};
use super::meet::{CommonText, ProofBudget, meeting};
use super::text::{CharSet, is_literal, letters};
use crate::model::{AttributeNode, Placeholder, Template};
use crate::template::Filter;

/// The texts that a key attribute of an item type can have; more perhaps, never less.
#[derive(Debug, Clone)]
pub struct KeyTexts {
    /// Where a number is written with figures.
    narrow: Known,
    /// With all that a column of numbers may hold: SQLite keeps text in it too.
    wide: Known,
    /// Whether a text that fits is one that it can have.
    is_clear: bool,
}

#[derive(Debug, Clone)]
struct Known {
    shapes: Vec<TextShape>,
    /// Of each value which texts of its forms it has.
    exact: Vec<Exact>,
}

impl KeyTexts {
    /// As far as what makes the attribute tells, whatever its columns hold.
    pub fn of(node: &AttributeNode) -> Self {
        Self::with(node, &TimeZone::UTC, &|_| {
            (Domain::unknown("nothing is known about it"), None)
        })
    }

    /// `of`: what is known of a placeholder's value, and its column where it is all of one.
    fn with<'t>(
        node: &AttributeNode,
        zone: &TimeZone,
        of: &dyn Fn(&Placeholder) -> (Domain, Option<&'t ColumnFact>),
    ) -> Self {
        let values = || node.template().into_iter().flat_map(Template::placeholders);
        let known = |domain: &dyn Fn(&Placeholder) -> Domain| {
            let exact = values().map(|one| Exact {
                kind: Kind::of(&one.filters, &domain(one), of(one).1, zone),
                value: one.clone(),
            });
            Known {
                shapes: shapes(node, zone, domain),
                exact: exact.collect(),
            }
        };
        let is_unclear = |one: &Placeholder| {
            let (domain, column) = of(one);
            column.is_some_and(|column| column.unclear)
                || !is_known(&one.filters, domain.in_figures(), column, zone)
        };
        Self {
            narrow: known(&|placeholder| of(placeholder).0.in_figures()),
            wide: known(&|placeholder| of(placeholder).0),
            is_clear: !values().any(is_unclear),
        }
    }

    /// Whether it is known to the letter which texts it can have: no value is of a type whose texts only the database knows,
    /// or goes through filters that make fewer texts than its forms say.
    pub fn is_clear(&self) -> bool {
        self.is_clear
    }

    /// Whether a key attribute can have this value, where numbers are written with figures.
    pub fn can_be(&self, value: &Attribute) -> bool {
        self.narrow.takes(value)
    }

    /// Whether a key attribute can have this value, whatever SQLite keeps in columns of numbers.
    pub fn may_be(&self, value: &Attribute) -> bool {
        self.wide.takes(value)
    }

    /// Whether an item of a type whose key attributes have these texts has this key for sure: what it holds of one column
    /// is of one value.
    pub fn own(texts: &[Self], key: &[&Attribute]) -> bool {
        let both = || texts.iter().zip(key);
        if !both().all(|(texts, value)| texts.is_clear() && texts.can_be(value)) {
            return false;
        }
        let exact: Vec<&Exact> = texts.iter().flat_map(|one| &one.narrow.exact).collect();
        let mut later = exact.iter().enumerate();
        let is_twice = later.any(|(at, one)| {
            let mut others = exact.iter().skip(at + 1);
            others.any(|other| one.is_of_place(other))
        });
        let may_be_odd = |value: &&Attribute| match value {
            Attribute::S(text) => text.contains([' ', '\0']),
            _ => false,
        };
        if !is_twice && !key.iter().any(may_be_odd) {
            return true;
        }
        let mut readings: Vec<Vec<Option<&str>>> = vec![Vec::new()];
        for (texts, value) in both() {
            let found = texts.narrow.readings(value);
            let joined = readings.iter().flat_map(|before| {
                let behind = found
                    .iter()
                    .map(|one| [before.as_slice(), one.as_slice()].concat());
                behind.collect::<Vec<_>>()
            });
            readings = joined.collect();
        }
        let is_sure = |reading: &Vec<Option<&str>>| {
            let mut read = reading.iter().zip(&exact);
            let is_odd = read.any(|(text, exact)| text.is_some_and(|text| exact.is_odd(text)));
            !is_odd && agrees(&exact, reading)
        };
        readings.iter().any(is_sure)
    }

    /// Whether an item of such a type may have this key.
    pub fn may_own(texts: &[Self], key: &[&Attribute]) -> bool {
        let mut both = texts.iter().zip(key);
        both.all(|(texts, value)| texts.may_be(value))
    }

    /// Whether two key attributes can have one text.
    pub fn meets(&self, other: &Self) -> bool {
        let (own, theirs) = (&self.narrow.shapes, &other.narrow.shapes);
        meeting(own, theirs, &mut ProofBudget::one()) != CommonText::Nothing
    }
}

impl Known {
    fn takes(&self, value: &Attribute) -> bool {
        let text = match value {
            Attribute::S(text) => text.as_str(),
            Attribute::N(number) => number.as_str(),
            Attribute::B(bytes) => {
                let mut exact = self.exact.iter();
                return exact.all(|exact| exact.allows_bytes(bytes));
            }
            _ => return true,
        };
        self.shapes.iter().any(|shape| {
            let mut reading = ShapeReading::new(shape, text, &self.exact, 1);
            reading.fits(0, 0, 0);
            !reading.found.is_empty()
        })
    }

    /// What a key attribute may hold of each value: the first readings, as many as are looked at.
    fn readings<'v>(&self, value: &'v Attribute) -> Vec<Vec<Option<&'v str>>> {
        let text = match value {
            Attribute::S(text) => &**text,
            Attribute::N(number) => number.as_str(),
            // Nothing is read in bytes.
            Attribute::B(_) => return vec![vec![None; self.exact.len()]],
            _ => return Vec::new(),
        };
        let mut found: Vec<Vec<Option<&str>>> = Vec::new();
        for shape in self.shapes.iter().filter(|shape| !shape.is_vague) {
            let mut reading = ShapeReading::new(shape, text, &self.exact, MAX_READINGS);
            reading.fits(0, 0, 0);
            for one in reading.found {
                if !found.contains(&one) && found.len() < MAX_READINGS {
                    found.push(one);
                }
            }
        }
        found
    }
}

/// Most readings of a key attribute that are looked at.
const MAX_READINGS: usize = 32;

/// Whether what a key holds of one column is of one value, as far as that is known.
fn agrees(values: &[&Exact], reading: &[Option<&str>]) -> bool {
    values.iter().all(|one| {
        let both = values.iter().zip(reading);
        let of_one = both.filter(|(other, _)| one.is_of_place(other));
        let texts: Vec<(&[Filter], Option<String>)> = of_one
            .map(|(each, text)| {
                let text = text.and_then(|text| each.value.unescaped(text));
                (each.value.filters.as_slice(), text)
            })
            .collect();
        let mut known = texts.iter();
        match known.find_map(|(filters, text)| whole(filters, text.as_deref()?)) {
            Some(value) => texts.iter().all(|(filters, text)| {
                let text = text.as_deref();
                match filters {
                    [Filter::Shard(shards)] => {
                        text == Some(Filter::shard_of(&value, *shards).as_str())
                    }
                    _ => text.and_then(|text| whole(filters, text)).as_ref() == Some(&value),
                }
            }),
            None => texts.iter().all(|other| texts.first() == Some(other)),
        }
    })
}

/// The value of which a text is, where filters keep all of it.
fn whole(filters: &[Filter], text: &str) -> Option<String> {
    match filters {
        [] => Some(text.to_owned()),
        [Filter::Pad { scale: 0, .. }] => text.parse::<i128>().ok().map(|one| one.to_string()),
        _ => None,
    }
}

/// A text that is read as one of a shape.
struct ShapeReading<'r, 't> {
    pieces: &'r [ShapePiece],
    text: &'t str,
    exact: &'r [Exact],
    /// What does not fit: each is looked at once.
    failed: HashSet<(usize, usize, usize)>,
    /// What is read of each value so far.
    read: Vec<Option<&'t str>>,
    /// The readings found, and the most that are looked for.
    found: Vec<Vec<Option<&'t str>>>,
    most: usize,
}

impl<'r, 't> ShapeReading<'r, 't> {
    fn new(shape: &'r TextShape, text: &'t str, exact: &'r [Exact], most: usize) -> Self {
        Self {
            pieces: &shape.pieces,
            text,
            exact,
            failed: HashSet::new(),
            read: vec![None; exact.len()],
            found: Vec::new(),
            most,
        }
    }

    /// Reads the text from `at` on as the pieces from `place` on; whether enough is found. `begun`: where the value began.
    fn fits(&mut self, place: usize, at: usize, begun: usize) -> bool {
        let Some(piece) = self.pieces.get(place) else {
            if at == self.text.len() {
                self.found.push(self.read.clone());
            }
            return self.found.len() >= self.most;
        };
        let found = self.found.len();
        if self.failed.contains(&(place, at, begun)) {
            return false;
        }
        let letter = self.text.get(at..).and_then(|rest| rest.chars().next());
        let behind = |letters: &CharSet| {
            let letter = letter.filter(|letter| letters.allows(*letter));
            letter.map(|letter| at + letter.len_utf8())
        };
        let fits = match piece {
            ShapePiece::Begin(_) => self.fits(place + 1, at, at),
            ShapePiece::End(number) => {
                let value = self.text.get(begun..at).unwrap_or_default();
                let exact = self.exact.get(*number);
                if let Some(read) = self.read.get_mut(*number) {
                    *read = Some(value);
                }
                exact.is_none_or(|exact| exact.allows(value)) && self.fits(place + 1, at, 0)
            }
            ShapePiece::One(letters, _) => {
                behind(letters).is_some_and(|behind| self.fits(place + 1, behind, begun))
            }
            ShapePiece::Many(letters, _) => {
                self.fits(place + 1, at, begun)
                    || behind(letters).is_some_and(|behind| self.fits(place, behind, begun))
            }
        };
        if self.found.len() == found {
            self.failed.insert((place, at, begun));
        }
        fits
    }
}

/// The texts of an item type's key attributes, partition key first.
pub(crate) fn key_texts(subject: ProofSubject<'_>) -> Vec<KeyTexts> {
    let keys = subject.key().unwrap_or_default().into_iter();
    let known = |placeholder: &Placeholder| {
        let column = subject.facts.columns.get(placeholder.place.column);
        let column = column.filter(|_| placeholder.place.path.is_empty());
        (subject.domain(placeholder), column)
    };
    keys.map(|(_, node)| KeyTexts::with(node, subject.time_zone, &known))
        .collect()
}

/// Which texts of its forms a value has: its forms are wider, which is safe for what must not meet, and not for
/// what is deleted.
#[derive(Debug, Clone)]
struct Exact {
    kind: Kind,
    value: Placeholder,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Any,
    /// Those of whole numbers from `least` to `most`, with zeros before them where they are `padded`.
    Whole {
        least: i128,
        most: i128,
        padded: bool,
    },
    /// A point in time in milliseconds or seconds, which a column tells in such steps.
    Steps {
        step: i64,
        per_second: i64,
    },
    /// A number as it is written, with no more digits before the point and behind it.
    Number {
        whole: usize,
        fraction: usize,
    },
    /// A float of so many bits, as it is written.
    Float(u8),
    /// A date, or a date and a time of the day: of a column of this database, where that is known.
    Moment(Option<Dbms>),
    /// No more letters; with `fixed` no fewer either.
    Text {
        most: u64,
        fixed: bool,
    },
    /// One of these.
    Label(Vec<String>),
    /// No more bytes; with `fixed` no fewer either.
    Bytes {
        most: u64,
        fixed: bool,
    },
}

/// A number of any length.
const ANY_NUMBER: Kind = Kind::Number {
    whole: usize::MAX,
    fraction: usize::MAX,
};

impl Exact {
    /// Whether both are of one column or member.
    fn is_of_place(&self, other: &Self) -> bool {
        let (own, other) = (&self.value.place, &other.value.place);
        own.column == other.column && own.path == other.path
    }

    /// Whether a text of the value's forms is one that it has.
    fn allows(&self, text: &str) -> bool {
        let text = self.value.unescaped(text);
        text.is_some_and(|text| self.kind.allows(&text))
    }

    /// Whether not every database has such a text: MySQL and MariaDB cut blanks at the end of a CHAR, and PostgreSQL has no NUL.
    /// Only a `character(n)` of PostgreSQL is filled with blanks.
    fn is_odd(&self, text: &str) -> bool {
        let is_fixed = matches!(self.kind, Kind::Text { fixed: true, .. });
        text.ends_with(' ') && !is_fixed || text.contains('\0')
    }

    /// Whether bytes are a value of it, where it is a whole attribute.
    fn allows_bytes(&self, bytes: &[u8]) -> bool {
        let Kind::Bytes { most, fixed } = self.kind else {
            return true;
        };
        fits(bytes.len(), most, fixed)
    }
}

/// Whether it is known to the letter which texts a value can have. Its forms alone are wider. `domain`: of the column.
fn is_known(
    filters: &[Filter],
    domain: Domain,
    column: Option<&ColumnFact>,
    zone: &TimeZone,
) -> bool {
    // A time zone leaves some times out, and a date is midnight there.
    let is_loose = match (filters, column.and_then(|column| column.data_type.as_ref())) {
        ([Filter::Iso], Some(DataType::Date)) => true,
        ([Filter::Epoch | Filter::EpochMs], Some(DataType::Date))
        | (
            [Filter::Epoch | Filter::EpochMs | Filter::Iso | Filter::Date],
            Some(DataType::Timestamp { zone: false, .. }),
        ) => *zone != TimeZone::UTC,
        _ => false,
    };
    if is_loose {
        return false;
    }
    if Kind::of(filters, &domain, column, zone) != Kind::Any {
        return true;
    }
    let forms = domain.through_all(filters, zone).forms;
    if forms.iter().all(|form| is_literal(form)) {
        return true;
    }
    match column.and_then(|column| column.data_type.as_ref()) {
        None | Some(DataType::Text { .. }) => filters.is_empty(),
        Some(DataType::Binary { .. }) => matches!(filters, [] | [Filter::Uuid { .. }]),
        Some(DataType::Uuid) => {
            let keeps = |filter: &Filter| {
                matches!(
                    filter,
                    Filter::Upper | Filter::Lower | Filter::String | Filter::Uuid { .. }
                )
            };
            filters.iter().all(keeps)
        }
        _ => false,
    }
}

fn fits(length: usize, most: u64, fixed: bool) -> bool {
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    length == most || length < most && !fixed
}

impl Kind {
    fn of(
        filters: &[Filter],
        domain: &Domain,
        column: Option<&ColumnFact>,
        zone: &TimeZone,
    ) -> Self {
        let data_type = column.and_then(|column| column.data_type.as_ref());
        let bounds = column.and_then(|column| column.bounds.as_ref());
        if column.is_some_and(|column| column.unclear) {
            return Self::Any;
        }
        if let ([], Some(bounds)) = (filters, bounds) {
            let fixed = bounds.fixed;
            match data_type {
                Some(&DataType::Text {
                    max_chars: Some(most),
                }) => {
                    return Self::Text { most, fixed };
                }
                Some(&DataType::Binary {
                    max_bytes: Some(most),
                }) => {
                    return Self::Bytes { most, fixed };
                }
                Some(DataType::Enum { values }) => {
                    let mut labels = values.clone();
                    // What MySQL puts for a value that is none of them.
                    labels.extend((bounds.dbms != Dbms::Postgres).then(String::new));
                    return Self::Label(labels);
                }
                _ => {}
            }
        }
        if let [Filter::Shard(shards)] = filters {
            return Self::Whole {
                least: 0,
                most: i128::from(*shards) - 1,
                padded: true,
            };
        }
        // SQLite's columns of numbers hold text too.
        if letters(&domain.forms).allows('x') {
            return Self::Any;
        }
        let is_moment = |data_type: &&DataType| {
            matches!(data_type, DataType::Date | DataType::Timestamp { .. })
        };
        let moment = data_type.filter(is_moment);
        let padded = match filters {
            [] => false,
            [Filter::Pad { scale: 0, .. }] => true,
            [filter @ (Filter::Epoch | Filter::EpochMs)] => {
                let per_second = if *filter == Filter::Epoch { 1 } else { 1000 };
                let step = match data_type {
                    Some(DataType::Date) if *zone == TimeZone::UTC => 86_400 * per_second,
                    Some(DataType::Date) => per_second,
                    Some(DataType::Timestamp { digits, .. }) => {
                        (per_second / 10_i64.pow(u32::from(*digits).min(3))).max(1)
                    }
                    _ => return Self::Any,
                };
                return Self::Steps { step, per_second };
            }
            // A date as it is may be one that MySQL keeps and no calendar has.
            [Filter::Date] if data_type == Some(&DataType::Date) => {
                return Self::Moment(bounds.map(|bounds| bounds.dbms));
            }
            [Filter::Date | Filter::Iso] => {
                return Self::Moment(moment.and(bounds).map(|_| Dbms::Postgres));
            }
            _ => return Self::Any,
        };
        match data_type {
            Some(DataType::Integer { bits, unsigned }) => {
                let bits = u32::from(*bits).clamp(1, 64);
                let (least, most) = if *unsigned {
                    (0, (1 << bits) - 1)
                } else {
                    (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
                };
                Self::Whole {
                    least,
                    most,
                    padded,
                }
            }
            Some(DataType::Decimal {
                precision: Some(precision),
                scale: Some(scale),
            }) if !padded && bounds.is_some() => {
                let whole = i64::from(*precision) - i64::from(*scale);
                Self::Number {
                    whole: usize::try_from(whole).unwrap_or(0),
                    fraction: usize::try_from(*scale).unwrap_or(0),
                }
            }
            Some(DataType::Decimal { .. }) if !padded => ANY_NUMBER,
            Some(DataType::Float { bits }) if !padded => Self::Float(*bits),
            _ if moment.is_some() && !padded => Self::Moment(bounds.map(|bounds| bounds.dbms)),
            _ => Self::Any,
        }
    }

    fn allows(&self, text: &str) -> bool {
        match *self {
            Self::Any | Self::Bytes { .. } => true,
            Self::Whole {
                least,
                most,
                padded,
            } => {
                let number = text.parse::<i128>();
                number.is_ok_and(|number| {
                    (least..=most).contains(&number) && (padded || number.to_string() == text)
                })
            }
            Self::Steps { step, per_second } => text.parse::<i64>().is_ok_and(|number| {
                // The years 1 to 9999.
                (-62_135_596_800..=253_402_300_799).contains(&number.div_euclid(per_second))
                    && number % step == 0
                    && number.to_string() == text
            }),
            Self::Number { whole, fraction } => Number::parse(text).is_ok_and(|number| {
                let (before, behind) = number.parts();
                let before = before.trim_start_matches('0');
                number.as_str() == text && before.len() <= whole && behind.len() <= fraction
            }),
            Self::Float(32) => is_float::<f32>(text, 9),
            Self::Float(_) => is_float::<f64>(text, 17),
            Self::Moment(dbms) => is_moment(text, dbms),
            Self::Text { most, fixed } => fits(text.chars().count(), most, fixed),
            Self::Label(ref labels) => labels.iter().any(|label| label == text),
        }
    }
}

/// Whether a float is written so: as the shortest text that reads back as it, or, where that lies in the middle between
/// two floats, which PostgreSQL does not write, as the nearest of more digits. No database writes more than `most`.
fn is_float<F: FromStr + LowerExp>(text: &str, most: usize) -> bool {
    let Ok(float) = text.parse::<F>() else {
        return false;
    };
    let digits = text.replace(['-', '.'], "").trim_matches('0').len();
    let rounded = format!("{float:.*e}", digits.saturating_sub(1));
    let mut written = [format!("{float:e}"), rounded].into_iter();
    digits <= most
        && written.any(|one| Number::parse(&one).is_ok_and(|number| number.as_str() == text))
}

/// Whether month, day and clock are within their bounds. MySQL and MariaDB keep the 31st of any month; of what is no
/// column of times it is not known who has written it.
fn is_moment(text: &str, dbms: Option<Dbms>) -> bool {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i16>().ok();
    let part = |from: usize, least: i16, most: i16| {
        let part = number(from, from + 2);
        text.len() <= from || part.is_some_and(|part| (least..=most).contains(&part))
    };
    let is_day = || {
        let small = |from| i8::try_from(number(from, from + 2)?).ok();
        let day = (|| Date::new(number(0, 4)?, small(5)?, small(8)?).ok())();
        day.is_some()
    };
    let (hour, second) = if dbms.is_some() { (23, 59) } else { (24, 60) };
    text.get(..4).is_some_and(|year| year != "0000")
        && part(5, 1, 12)
        && part(8, 1, 31)
        && part(11, 0, hour)
        && part(14, 0, 59)
        && part(17, 0, second)
        && (dbms != Some(Dbms::Postgres) || is_day())
}

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::TypeFamily;

    use super::*;

    #[test]
    fn only_texts_that_a_value_makes_are_its_own() {
        let int = |padded| Kind::Whole {
            least: -(1 << 31),
            most: (1 << 31) - 1,
            padded,
        };
        let decimal = |whole, fraction| Kind::Number { whole, fraction };
        for (kind, own, others) in [
            (
                int(false),
                "0 7 -7 2147483647",
                "007 -0 00 2147483648 99999999999999",
            ),
            (int(true), "0000000007 2147483647", "9999999999"),
            (ANY_NUMBER, "0.5 -1.25 100", "00.50 1.500 ...#1 1-1 -"),
            (
                decimal(4, 2),
                "0 9999.99 -0.01 1.5",
                "10000 1.555 20260101123456 1.50",
            ),
            (decimal(0, 3), "0.125 0", "1 1.5 0.1234"),
            (
                Kind::Float(32),
                "16777216 0.1 -1.5 0 340282350000000000000000000000000000000 2097152.2",
                "16777217 0.123456789 0.10 1e5 340282350000000000000000000000000000001",
            ),
            (
                Kind::Float(64),
                // PostgreSQL writes the second, others the first.
                "100000000000000000000000 99999999999999990000000 0.1",
                "9007199254740993 0.1000000000000000055",
            ),
            (
                Kind::Moment(Some(Dbms::Mysql)),
                "2026-01-31 2026-02-31 2026-01-31T23:59:59.000001Z",
                "2026-13-45 0000-00-00 2026-01-32 2026-01-31T25:00:00 2026-01-31T24:00:00",
            ),
            (
                Kind::Moment(Some(Dbms::Postgres)),
                "2026-01-31 2024-02-29 2026-01-31T23:59:59.000001Z",
                "2026-02-30 2023-02-29 2026-04-31T00:00:00 2026-01-01T23:59:60.000000",
            ),
            (
                Kind::Moment(None),
                "2026-02-31T24:00:00 2026-01-31T23:59:60",
                "2026-13-01 2026-01-31T23:60:00",
            ),
            (
                Kind::Text {
                    most: 3,
                    fixed: false,
                },
                "abc ab äöü",
                "abcd settings",
            ),
            (
                Kind::Text {
                    most: 3,
                    fixed: true,
                },
                "abc äöü",
                "ab abcd",
            ),
            (
                Kind::Label(vec!["open".to_owned(), "done".to_owned()]),
                "open done",
                "opendone settings",
            ),
        ] {
            let wrong = own.split(' ').find(|text| !kind.allows(text));
            assert_eq!(wrong, None, "{kind:?}");
            let allowed = others.split(' ').find(|text| kind.allows(text));
            assert_eq!(allowed, None, "{kind:?}");
        }
    }

    #[test]
    fn bytes_are_as_many_as_the_type_has() {
        let exact = |fixed| Exact {
            kind: Kind::Bytes { most: 4, fixed },
            value: Placeholder::of_column(0, "b", TypeFamily::Binary),
        };
        for (bytes, varying, fixed) in [
            (&b"abcd"[..], true, true),
            (b"ab", true, false),
            (b"settings", false, false),
        ] {
            assert_eq!(exact(false).allows_bytes(bytes), varying, "{bytes:?}");
            assert_eq!(exact(true).allows_bytes(bytes), fixed, "{bytes:?}");
        }
    }
}
