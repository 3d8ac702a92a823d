//! What a filter makes of what is known of a value.

use dynafold_relational::value::{TimeKind, Value};
use jiff::tz::TimeZone;

use super::domain::{Domain, NUMBER_BYTES, ValueKind, anything};
use super::text::{CharRun, CharSet, TextForm, exactly, letters, like, literal, many, one, some};
use crate::template::{Filter, canonical};

impl Domain {
    /// The value after filters.
    pub(super) fn through_all(self, filters: &[Filter], time_zone: &TimeZone) -> Self {
        let filters = filters.iter();
        filters.fold(self, |value, filter| value.through(filter, time_zone))
    }

    /// The value after a filter.
    pub(super) fn through(self, filter: &Filter, time_zone: &TimeZone) -> Self {
        match filter {
            Filter::Pad { digits, scale } => self.into_digits(*digits, *scale),
            Filter::Desc { digits } => self.into_digits(*digits, 0),
            Filter::Ordered => ordered(self),
            Filter::Iso => {
                let digits = self.digits();
                let domain = self.in_utc("iso", time_zone);
                domain.into_time(TimeKind::Instant, digits).settled()
            }
            Filter::Date if matches!(self.kind, ValueKind::Time(TimeKind::Date, _)) => {
                self.settled()
            }
            Filter::Date => self
                .losing("`date` leaves the time of day out")
                .into_time(TimeKind::Date, Some(0))
                .settled(),
            Filter::Epoch => self.counted("epoch", 0, time_zone),
            Filter::EpochMs => self.counted("epoch_ms", 3, time_zone),
            Filter::Format(pattern) => {
                let form = written_by(pattern.as_str());
                self.losing("`format` may leave a part of the time out")
                    .into_text(vec![form])
            }
            Filter::Time(pattern) => self
                .losing("`time` may read two texts as one time")
                .into_time(pattern.kind(), None)
                .settled(),
            Filter::Plus(period) if period.is_fixed() => self.settled(),
            Filter::Plus(_) => self
                .losing("`plus` with months or years may turn two days into one")
                .settled(),
            Filter::Upper => self.in_case("upper", char::to_ascii_uppercase),
            Filter::Lower => self.in_case("lower", char::to_ascii_lowercase),
            Filter::Trim => self.trimmed(),
            Filter::Truncate(length) => self.truncated(*length),
            Filter::Replace { from, to } => self.replaced(from, to),
            Filter::Default(value) => self.defaulted(value),
            Filter::Present { yes, no } => {
                let forms = vec![constant(yes), constant(no)];
                let mut domain = self.losing("`present` keeps only whether there is a value");
                domain.nullable = false;
                domain.into_text(forms)
            }
            Filter::Map { codes, other } => self.mapped(codes, other.as_ref()),
            Filter::Shard(shards) => {
                let width = shards.saturating_sub(1).to_string().len();
                self.losing("`shard` gives many values the same number")
                    .into_digits(width, 0)
            }
            Filter::Hex => {
                let bytes = self.bytes.map(|bytes| bytes * 2);
                self.into_any_of(CharSet::hex(), bytes)
            }
            Filter::Base64 => {
                let bytes = self.bytes.map(|bytes| bytes.div_ceil(3) * 4);
                let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/=";
                let alphabet = CharSet::of(alphabet).or(CharSet::digits());
                self.into_any_of(alphabet, bytes)
            }
            Filter::Uuid { .. } => match self.kind {
                ValueKind::Binary | ValueKind::Uuid => self.into_uuid(),
                _ => self
                    .losing("`uuid` writes one UUID for texts in upper and in lower case")
                    .into_uuid(),
            },
            Filter::String => self.into_string(),
            Filter::Number => self.into_number(),
            Filter::Bool => {
                let forms = vec![literal("true"), literal("false")];
                let domain = self.losing("`bool` has only two results");
                domain.into_text(forms).of_kind(ValueKind::Boolean)
            }
            Filter::Binary => self.into_binary(),
            Filter::Json | Filter::Set => Self::unknown("a document's values are not known"),
            Filter::Redact => {
                Self::unknown("`redact` gives all values the same mask").keeping(self.nullable)
            }
            Filter::Pseudonym => self.pseudonym(),
        }
    }

    fn keeping(self, nullable: bool) -> Self {
        Self { nullable, ..self }
    }

    fn digits(&self) -> Option<u8> {
        match self.kind {
            ValueKind::Time(TimeKind::Date, _) => Some(0),
            ValueKind::Time(_, digits) => digits,
            _ => None,
        }
    }

    /// A time as a point in time. Where clocks are put forward two local times mean one.
    fn in_utc(self, filter: &str, time_zone: &TimeZone) -> Self {
        if matches!(self.kind, ValueKind::Time(TimeKind::Instant, _))
            || time_zone.to_fixed_offset().is_ok()
        {
            return self;
        }
        let zone = time_zone.iana_name().unwrap_or("the time zone");
        let loss = format!(
            "`{filter}` gives two local times the same instant when clocks go forward in {zone}"
        );
        self.losing(loss)
    }

    /// Seconds or milliseconds since 1970; `kept` is how many fractional digits stay.
    fn counted(self, filter: &'static str, kept: u8, time_zone: &TimeZone) -> Self {
        let fits = self.digits().is_some_and(|digits| digits <= kept);
        let mut domain = self.in_utc(filter, time_zone);
        if !fits {
            domain = domain.losing(format!("`{filter}` leaves fractional digits out"));
        }
        let digits = some(CharSet::digits());
        let forms = vec![digits.clone(), [literal("-"), digits].concat()];
        let domain = domain.of_kind(ValueKind::Number).in_forms(forms);
        domain.with_bytes(Some(16)).settled()
    }

    fn defaulted(self, value: &Value) -> Self {
        if !self.nullable && !self.unfit {
            return self;
        }
        // A default is perhaps no UUID: `pseudonym` treats it as other text.
        let kind = match self.kind {
            ValueKind::Uuid => ValueKind::Text,
            kind => kind,
        };
        let length = canonical(value).map_or(0, str::len);
        let bytes = self.bytes.map(|bytes| bytes.max(length));
        let mut domain = self.losing("`default` replaces NULL by what may also be a value");
        let mut forms = std::mem::take(&mut domain.forms);
        let form = constant(value);
        if !forms.contains(&form) {
            forms.push(form);
        }
        let domain = domain.into_text(forms).with_bytes(bytes);
        domain.of_kind(kind).keeping(false)
    }

    fn mapped(self, codes: &[(String, Value)], other: Option<&Value>) -> Self {
        let mut forms: Vec<TextForm> = codes.iter().map(|(_, code)| constant(code)).collect();
        let several = |form: &TextForm| forms.iter().filter(|other| *other == form).count() > 1;
        let repeated = forms.iter().any(several);
        let mut domain = self;
        if repeated || other.is_some() {
            domain = domain.losing("`map` gives several values the same code");
        }
        forms.extend(other.map(constant));
        forms.dedup();
        domain.into_text(forms)
    }

    fn into_string(self) -> Self {
        match self.kind {
            ValueKind::Text | ValueKind::Uuid => self,
            ValueKind::Number | ValueKind::Boolean | ValueKind::Time(..) if !self.unfit => {
                self.of_kind(ValueKind::Text)
            }
            // Of a number's column in SQLite, which may hold text: the text `inf` and what is infinite.
            ValueKind::Number if letters(&self.forms).allows('x') => {
                Self::unknown("two values may have the same text").keeping(self.nullable)
            }
            // What does not fit comes as the database prints it.
            ValueKind::Number | ValueKind::Boolean | ValueKind::Time(..) => {
                let domain = self.of_kind(ValueKind::Text).in_forms(anything());
                domain.with_bytes(None)
            }
            ValueKind::Binary | ValueKind::Other => {
                Self::unknown("two values may have the same text").keeping(self.nullable)
            }
        }
    }

    fn into_number(self) -> Self {
        match self.kind {
            ValueKind::Number if !letters(&self.forms).allows('x') => self,
            _ => {
                let domain = self
                    .losing("`number` reads 1 and 1.0 as the same number")
                    .in_forms(vec![some(CharSet::figures())])
                    .of_kind(ValueKind::Number)
                    .settled();
                domain.with_bytes(Some(NUMBER_BYTES))
            }
        }
    }

    fn into_binary(self) -> Self {
        match self.kind {
            // Text that may not fit is SQLite's.
            ValueKind::Text if self.unfit => {
                self.losing("SQLite keeps both text and bytes in such a column")
            }
            ValueKind::Binary | ValueKind::Text | ValueKind::Uuid => self,
            _ => Self::unknown("two values may have the same bytes").keeping(self.nullable),
        }
        .of_kind(ValueKind::Binary)
    }

    fn pseudonym(self) -> Self {
        let kind = self.kind;
        match kind {
            // A permutation of the whole numbers; others are refused.
            ValueKind::Number if !letters(&self.forms).allows('x') => {
                let form = [vec![many(CharSet::of("-"))], some(CharSet::digits())].concat();
                self.in_forms(vec![form]).with_bytes(Some(40)).settled()
            }
            ValueKind::Uuid => self.into_uuid(),
            _ => {
                let alphabet = CharSet::of("abcdefghijklmnopqrstuvwxyz-").or(CharSet::digits());
                // Of a value that may be a number too, as many as that has.
                let most = if kind == ValueKind::Other { 40 } else { 36 };
                let loss = if kind == ValueKind::Number {
                    "SQLite keeps text in such a column too, and `pseudonym` treats UUIDs in upper and in lower case as one"
                } else {
                    "`pseudonym` treats UUIDs in upper and in lower case as one"
                };
                self.losing(loss).into_any_of(alphabet, Some(most))
            }
        }
    }
}

/// A constant that a filter puts.
fn constant(value: &Value) -> TextForm {
    canonical(value).map_or_else(|| vec![many(CharSet::ANY)], literal)
}

/// `ordered` ends its text itself, in three ways.
fn ordered(domain: Domain) -> Domain {
    let with = |first: &str, last: &str| {
        let (exponent, digits) = (exactly(CharSet::digits(), 3), some(CharSet::digits()));
        [literal(first), exponent, digits, literal(last)].concat()
    };
    let forms = vec![literal("o"), with("p", "."), with("n", "~")];
    domain.into_text(forms).with_bytes(Some(43))
}

/// The texts that a strftime pattern writes, as far as its directives have one width.
fn written_by(pattern: &str) -> TextForm {
    let mut form = TextForm::new();
    let mut rest = pattern.chars();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            form.push(one(CharSet::one(letter)));
            continue;
        }
        match rest.next() {
            Some('Y' | 'G') => form.extend(like("0000")),
            Some('m' | 'd' | 'H' | 'I' | 'M' | 'S' | 'y' | 'C' | 'V' | 'U' | 'W') => {
                form.extend(like("00"));
            }
            Some('j') => form.extend(like("000")),
            Some('F') => form.extend(like("0000-00-00")),
            Some('T') => form.extend(like("00:00:00")),
            Some('R') => form.extend(like("00:00")),
            Some('%') => form.push(one(CharSet::one('%'))),
            // A fraction of zero is written as nothing.
            Some('.') => return vec![many(CharSet::ANY)],
            _ => return some(CharSet::ANY),
        }
    }
    form
}

// What the filters on text make of it.

impl Domain {
    pub(super) fn in_case(self, filter: &'static str, change: impl Fn(&char) -> char) -> Self {
        // A form with one case of each letter alone, as UUIDs and hexadecimal digits have it, only
        // changes its letters.
        let both = |letters: CharSet| {
            ('a'..='z').any(|c| letters.allows(c) && letters.allows(c.to_ascii_uppercase()))
        };
        let all = letters(&self.forms);
        if all.is_ascii() && self.forms.len() == 1 && !both(all) {
            let form = self.forms.iter().flatten().map(|stretch| CharRun {
                letters: (stretch.letters.ascii().map(|letter| change(&letter)))
                    .fold(CharSet::of(""), |all, letter| all.or(CharSet::one(letter))),
                repeated: stretch.repeated,
            });
            let forms = vec![form.collect()];
            let (kind, bytes) = (self.kind, self.bytes);
            return self.into_text(forms).of_kind(kind).with_bytes(bytes);
        }
        // No letter grows by more: ΐ has two bytes, and six in upper case.
        let bytes = self.bytes.map(|bytes| {
            if filter == "lower" {
                bytes * 3 / 2
            } else {
                bytes * 3
            }
        });
        self.losing(format!("`{filter}` makes texts that differ in case equal"))
            .into_any_of(CharSet::ANY, bytes)
    }

    pub(super) fn trimmed(self) -> Self {
        let spaces = letters(&self.forms);
        if spaces.is_ascii() && !spaces.ascii().any(char::is_whitespace) {
            return self;
        }
        let bytes = self.bytes;
        self.losing("`trim` makes texts that differ in white space equal")
            .into_any_of(spaces, bytes)
    }

    pub(super) fn truncated(self, length: usize) -> Self {
        if self.width().is_some_and(|width| width <= length) {
            return self;
        }
        let bytes = self.bytes.map_or(length * 4, |bytes| bytes.min(length * 4));
        let form = match self.forms.as_slice() {
            [form] if super::text::width(form).is_some() => {
                form.iter().copied().take(length).collect()
            }
            forms => vec![many(letters(forms))],
        };
        let domain = self.losing("`truncate` makes texts that begin alike equal");
        domain.into_text(vec![form]).with_bytes(Some(bytes))
    }

    pub(super) fn replaced(self, from: &str, to: &str) -> Self {
        let mut chars = from.chars();
        let single = chars.next().filter(|_| chars.next().is_none());
        // In a form of fixed letters, such as a UUID's hyphens, nothing is lost.
        if let (Some(letter), [form]) = (single, self.forms.as_slice()) {
            let known = form.iter().all(|stretch| {
                !stretch.repeated
                    && (stretch.letters.only() == Some(letter) || !stretch.letters.allows(letter))
            });
            if known {
                let changed = form.iter().flat_map(|stretch| {
                    if stretch.letters.only() == Some(letter) {
                        literal(to)
                    } else {
                        vec![*stretch]
                    }
                });
                let forms = vec![changed.collect()];
                return self.into_text(forms);
            }
        }
        let mut all = letters(&self.forms).or(CharSet::of(to));
        if !to.is_ascii() {
            all = all.or(CharSet::BEYOND_ASCII);
        }
        if let Some(letter) = single
            && !to.contains(letter)
        {
            all = all.without([letter]);
        }
        let bytes = self.bytes.filter(|_| to.len() <= from.len());
        self.losing("`replace` may make two texts equal")
            .into_any_of(all, bytes)
    }
}
