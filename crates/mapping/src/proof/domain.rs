//! What is known of a value: the texts it can have, and whether two values may have one text.

use std::borrow::Cow;

use dynafold_format::each_once;
use dynafold_relational::catalog::{DataType, Dbms};
use dynafold_relational::value::TimeKind;

use super::text::{CharSet, TextForm, exactly, letters, like, literal, many, one, some};

/// What is known of a value on its way through filters.
#[derive(Debug, Clone)]
pub(crate) struct Domain {
    pub(super) kind: ValueKind,
    /// The texts that it can have inside a template; more perhaps, never less.
    pub(super) forms: Vec<TextForm>,
    /// Why two different values of the column may have become one; `None` where they stay two.
    pub(super) loss: Option<Cow<'static, str>>,
    /// Whether the column may hold what does not fit its type: NaN, a zero date.
    pub(super) unfit: bool,
    /// Whether it may be NULL.
    pub(super) nullable: bool,
    /// Most bytes of its text, where there is a limit.
    pub(super) bytes: Option<usize>,
}

/// The kinds of value that filters treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Number,
    Text,
    Uuid,
    Boolean,
    /// A time, with its fractional digits where the column has one number of them.
    Time(TimeKind, Option<u8>),
    Binary,
    Other,
}

/// Most bytes of a number's text: a sign, 38 digits, a point, and zeros around them.
pub(super) const NUMBER_BYTES: usize = 170;
const UUID: &str = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const DATE: &str = "0000-00-00";

impl Domain {
    fn new(kind: ValueKind, forms: Vec<TextForm>, bytes: Option<usize>) -> Self {
        Self {
            kind,
            forms,
            loss: None,
            unfit: false,
            nullable: true,
            bytes,
        }
    }

    /// A value of which nothing is known.
    pub(crate) fn unknown(loss: impl Into<Cow<'static, str>>) -> Self {
        Self::of_any_type().losing(loss)
    }

    /// A value of a view or a query of SQLite: of any type. Nothing is said of loss, since no key of such a
    /// relation is a fact.
    pub(crate) fn of_any_type() -> Self {
        Self::new(ValueKind::Other, anything(), None).unfit()
    }

    /// Text of which nothing is known but, perhaps, its length.
    fn text(max_chars: Option<u64>) -> Self {
        let chars = max_chars.and_then(|chars| usize::try_from(chars).ok());
        let bytes = chars.map(|chars| chars.saturating_mul(4));
        Self::new(ValueKind::Text, anything(), bytes)
    }

    /// The same, with a reason why different values may have become one. The first reason stays.
    pub(super) fn losing(mut self, loss: impl Into<Cow<'static, str>>) -> Self {
        self.loss.get_or_insert_with(|| loss.into());
        self
    }

    fn unfit(mut self) -> Self {
        self.unfit = true;
        self
    }

    /// What passed a filter that refuses values that do not fit.
    pub(super) fn settled(mut self) -> Self {
        self.unfit = false;
        self
    }

    /// The same as a value of another kind.
    pub(super) fn of_kind(self, kind: ValueKind) -> Self {
        Self { kind, ..self }
    }

    /// The same, written with so many bytes at most.
    pub(super) fn with_bytes(self, bytes: Option<usize>) -> Self {
        Self { bytes, ..self }
    }

    /// The same, written in these forms.
    pub(super) fn in_forms(self, forms: Vec<TextForm>) -> Self {
        Self { forms, ..self }
    }

    /// What a column's type tells. `declared` is the type in the database's words.
    pub(crate) fn of(data_type: &DataType, declared: &str, dbms: Dbms, nullable: bool) -> Self {
        let domain = match dbms {
            Dbms::Sqlite => Self::of_sqlite(data_type),
            Dbms::Postgres | Dbms::Mysql | Dbms::Mariadb => Self::typed(data_type, declared, dbms),
        };
        // A document may be `null`, which is NULL when it is read.
        let nullable = nullable || *data_type == DataType::Json;
        Self { nullable, ..domain }
    }

    /// SQLite keeps any value in any column. A column of whole numbers holds numbers, and text
    /// that does not look like one; what other declared types hold is read in several ways, so
    /// that two stored values may be one.
    fn of_sqlite(data_type: &DataType) -> Self {
        match data_type {
            // What is not UTF-8 does not fit.
            DataType::Text { .. } => Self::text(None).unfit(),
            DataType::Integer { .. } => Self::new(ValueKind::Number, anything(), None).unfit(),
            DataType::Binary { .. } => {
                Self::unknown("SQLite keeps both text and bytes in such a column")
                    .of_kind(ValueKind::Binary)
            }
            _ => Self::unknown("SQLite keeps values of any type in such a column"),
        }
    }

    /// What a column's type tells where the database keeps to it.
    pub(super) fn typed(data_type: &DataType, declared: &str, dbms: Dbms) -> Self {
        let figures = |bytes| {
            Self::new(
                ValueKind::Number,
                vec![some(CharSet::figures())],
                Some(bytes),
            )
        };
        match data_type {
            DataType::Integer { unsigned, .. } => {
                let digits = some(CharSet::digits());
                let negative = [literal("-"), digits.clone()].concat();
                let forms = if *unsigned {
                    vec![digits]
                } else {
                    vec![digits, negative]
                };
                let domain = Self::new(ValueKind::Number, forms, Some(20));
                if declared.eq_ignore_ascii_case("year(2)") {
                    domain.losing("a year of two digits may stand for several years")
                } else {
                    domain
                }
            }
            DataType::Decimal { precision, scale } => {
                let digits = precision.and_then(|precision| {
                    let (precision, scale) = (i32::try_from(precision).ok()?, scale.unwrap_or(0));
                    // Digits before the point, which may be more than are kept, and behind it.
                    let before = precision.saturating_sub(scale).max(1);
                    usize::try_from(before.saturating_add(scale.max(0))).ok()
                });
                let bytes = digits.map(|digits| digits.saturating_add(2));
                figures(bytes.unwrap_or(NUMBER_BYTES).min(NUMBER_BYTES)).unfit()
            }
            DataType::Float { .. } => figures(NUMBER_BYTES).unfit().losing("a float is not exact"),
            DataType::Boolean => {
                let forms = vec![literal("true"), literal("false")];
                Self::new(ValueKind::Boolean, forms, Some(5)).unfit()
            }
            DataType::Text { max_chars } => Self::text(*max_chars),
            DataType::Enum { values } => Self::one_of(values, dbms),
            DataType::Uuid => Self::new(ValueKind::Uuid, vec![like(UUID)], Some(36)),
            DataType::Date | DataType::Timestamp { .. } => {
                let (kind, digits) = data_type.time().unwrap_or((TimeKind::Timestamp, 0));
                Self::new(ValueKind::Other, Vec::new(), None)
                    .into_time(kind, Some(digits))
                    .unfit()
            }
            DataType::Time { digits, zone } => {
                let (kind, forms) = if *zone {
                    (
                        TimeKind::TimeOfDayWithOffset,
                        vec![some(CharSet::figures())],
                    )
                } else if dbms == Dbms::Postgres {
                    (TimeKind::TimeOfDay, vec![clock("", *digits, "")])
                } else {
                    // A span of time: -838:59:59 to 838:59:59.
                    let forms = ["", "0", "-", "-0"].map(|before| clock(before, *digits, ""));
                    (TimeKind::TimeOfDay, forms.into())
                };
                Self::new(ValueKind::Time(kind, Some(*digits)), forms, Some(32)).unfit()
            }
            DataType::Binary { max_bytes } => {
                let bytes = max_bytes.and_then(|bytes| usize::try_from(bytes).ok());
                let domain = Self::new(ValueKind::Binary, anything(), bytes);
                // Of a domain only its name is declared, and it may be one of bits.
                let whole = declared == "bytea" || declared.starts_with("bit(");
                if dbms == Dbms::Postgres && !whole {
                    domain.losing("bits are filled up to whole bytes")
                } else {
                    domain
                }
            }
            DataType::Json
            | DataType::Hstore
            | DataType::Array { .. }
            | DataType::Composite { .. }
            | DataType::Range { .. }
            | DataType::Set { .. } => Self::unknown("a document's values are not known"),
            DataType::Interval | DataType::Printed | DataType::Dynamic => {
                Self::unknown("nothing is known about its text")
            }
        }
    }

    /// One of these labels.
    fn one_of(labels: &[String], dbms: Dbms) -> Self {
        let is_mysql = matches!(dbms, Dbms::Mysql | Dbms::Mariadb);
        // `information_schema` writes `?` for letters beyond the first 65,536.
        let vague = |letter: char| is_mysql && letter == '?';
        let mut forms: Vec<TextForm> = labels.iter().map(|label| literal(label)).collect();
        if is_mysql {
            // What is put for a value that is none of them, and is kept apart from an empty label.
            forms.push(TextForm::new());
        }
        let all = forms.len();
        let mut distinct = each_once(forms);
        let twice = distinct.len() < all;
        if labels.iter().any(|label| label.contains(vague)) {
            distinct = anything();
        } else if distinct.len() > 8 {
            distinct = vec![vec![many(letters(&distinct))]];
        }
        let width = |letter: char| if vague(letter) { 4 } else { letter.len_utf8() };
        let longest = labels
            .iter()
            .map(|label| label.chars().map(width).sum())
            .max();
        let domain = Self::new(ValueKind::Text, distinct, longest);
        if twice {
            domain.losing("two of its values have the same text")
        } else {
            domain
        }
    }

    /// The same value as a time of this kind.
    pub(super) fn into_time(self, kind: TimeKind, digits: Option<u8>) -> Self {
        let end = if kind == TimeKind::Instant { "Z" } else { "" };
        let (form, bytes) = match (kind, digits) {
            (TimeKind::Date, _) => (like(DATE), 10),
            (TimeKind::Timestamp | TimeKind::Instant, Some(digits)) => {
                (clock(&format!("{DATE}T"), digits, end), 30)
            }
            _ => (some(CharSet::figures()), 40),
        };
        let domain = self.of_kind(ValueKind::Time(kind, digits));
        domain.in_forms(vec![form]).with_bytes(Some(bytes))
    }

    /// The same value as text of just these forms.
    pub(super) fn into_text(mut self, forms: Vec<TextForm>) -> Self {
        let fixed = |form: &TextForm| form.iter().all(|stretch| !stretch.repeated);
        if forms.iter().all(fixed) {
            self.bytes = forms.iter().map(|form| 4 * form.len()).max();
            if letters(&forms).is_ascii() {
                self.bytes = forms.iter().map(Vec::len).max();
            }
        } else {
            // How many bytes the value had before says nothing of this text.
            self.bytes = None;
        }
        self.of_kind(ValueKind::Text).in_forms(forms).settled()
    }

    /// The same value as text of any number of these letters, with so many bytes at most.
    pub(super) fn into_any_of(self, letters: CharSet, bytes: Option<usize>) -> Self {
        self.into_text(vec![vec![many(letters)]]).with_bytes(bytes)
    }

    /// The same, where a number is written as one: SQLite keeps text in columns of numbers too.
    pub(crate) fn in_figures(mut self) -> Self {
        if self.kind == ValueKind::Number {
            let figures = CharSet::of("0123456789-.");
            let all = self.forms.iter_mut().flatten();
            all.for_each(|stretch| stretch.letters = stretch.letters.and(figures));
        }
        self
    }

    /// Most bytes of its text, where there is a limit.
    pub(crate) fn bytes(&self) -> Option<usize> {
        self.bytes
    }

    /// How many letters its text has, if that is always the same.
    pub(super) fn width(&self) -> Option<usize> {
        let mut widths = self.forms.iter().map(|form| super::text::width(form));
        let first = widths.next()??;
        widths.all(|width| width == Some(first)).then_some(first)
    }

    /// `pad`, `desc`: digits of one width.
    pub(super) fn into_digits(self, digits: usize, scale: usize) -> Self {
        let mut form = exactly(CharSet::digits(), digits);
        if scale > 0 {
            form.push(one(CharSet::one('.')));
            form.extend(exactly(CharSet::digits(), scale));
        }
        self.into_text(vec![form])
    }

    pub(super) fn into_uuid(self) -> Self {
        self.into_text(vec![like(UUID)]).of_kind(ValueKind::Uuid)
    }
}

/// Any text.
pub(super) fn anything() -> Vec<TextForm> {
    vec![vec![many(CharSet::ANY)]]
}

/// The form of a time of day, with what stands around it.
fn clock(before: &str, digits: u8, behind: &str) -> TextForm {
    let fraction = match usize::from(digits) {
        0 => String::new(),
        digits => format!(".{}", "0".repeat(digits)),
    };
    like(&format!("{before}00:00:00{fraction}{behind}"))
}
