//! Templates whose paths are bound to places of the row, and whose filters are read.

use std::sync::Arc;

use dynafold_relational::catalog::TypeFamily;
use dynafold_relational::value::{Text, Unfit, Value};

use percent_encoding::{percent_decode_str, percent_encode_byte};

use super::Filter;

/// A compiled template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The parts in order. A template of exactly one [`TemplatePart::Value`] keeps the value's type;
    /// any other makes text.
    pub parts: Vec<TemplatePart>,
}

impl Template {
    /// A template of one value and nothing around it.
    pub fn of(value: Placeholder) -> Self {
        let parts = vec![TemplatePart::Value(value)];
        Self { parts }
    }

    /// The values that the template takes, those of optional segments included.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.flat().into_iter().filter_map(TemplatePart::value)
    }

    /// The values that must not be NULL.
    pub fn mandatory(&self) -> impl Iterator<Item = &Placeholder> {
        self.parts.iter().filter_map(TemplatePart::value)
    }

    /// The text that every value of this template begins with, and whether that is all of it.
    pub fn prefix(&self) -> (&str, bool) {
        match self.parts.as_slice() {
            [] => ("", true),
            [TemplatePart::Text(text)] => (text, true),
            [TemplatePart::Text(text), ..] => (text, false),
            _ => ("", false),
        }
    }

    /// Whether all its values are one: each column in it is redacted, and NULL makes none.
    pub fn has_one_value(&self) -> bool {
        self.parts.iter().all(|part| match part {
            TemplatePart::Text(_) => true,
            // Members of documents have masks of several types.
            TemplatePart::Value(value) => value.is_redacted() && value.place.path.is_empty(),
            TemplatePart::Optional(_) => false,
        })
    }

    /// The one value that the template is; `None` where text or another value stands beside it.
    pub fn single(&self) -> Option<&Placeholder> {
        let [only] = self.parts.as_slice() else {
            return None;
        };
        only.value()
    }

    /// The parts with those of optional segments among them.
    pub fn flat(&self) -> Vec<&TemplatePart> {
        let parts = self.parts.iter().flat_map(|part| match part {
            TemplatePart::Optional(inner) => inner.as_slice(),
            part => std::slice::from_ref(part),
        });
        parts.collect()
    }

    /// The values that the template takes, to be changed.
    pub fn placeholders_mut(&mut self) -> impl Iterator<Item = &mut Placeholder> {
        let parts = self.parts.iter_mut().flat_map(|part| match part {
            TemplatePart::Optional(inner) => inner.as_mut_slice(),
            part => std::slice::from_mut(part),
        });
        parts.filter_map(|part| match part {
            TemplatePart::Value(placeholder) => Some(placeholder),
            _ => None,
        })
    }

    /// Whether a text of the template can be split into values in one way only, if these may be any texts: `a-b` can by
    /// `{x}-{y}`, `a-b-c` cannot.
    pub fn is_split_once(&self, text: &str) -> bool {
        let is_optional = |part: &&TemplatePart| matches!(part, TemplatePart::Optional(_));
        let segments = self.parts.iter().filter(is_optional).count();
        let ways = (0..=segments).map(|there| usize::from(self.splits(text, there)));
        ways.sum::<usize>() == 1
    }

    /// In how many ways a text can be split with so many optional segments: 0, 1, or 2 for any more.
    fn splits(&self, text: &str, mut there: usize) -> u8 {
        // For each place in the text: in how many ways the parts so far end there.
        let mut ends = vec![0; text.len() + 1];
        if let Some(start) = ends.first_mut() {
            *start = 1;
        }
        for part in &self.parts {
            let parts = match part {
                TemplatePart::Optional(_) if there == 0 => continue,
                TemplatePart::Optional(inner) => {
                    there -= 1;
                    inner.as_slice()
                }
                part => std::slice::from_ref(part),
            };
            for part in parts {
                ends = next_ends(part, text, &ends);
            }
        }
        ends.last().copied().unwrap_or_default()
    }

    /// The kind of value that comes out.
    pub fn family(&self) -> TypeFamily {
        self.single().map_or(TypeFamily::Text, |only| only.family)
    }
}

/// From the places where parts of a template may end in a text to those where the next part may.
fn next_ends(part: &TemplatePart, text: &str, ends: &[u8]) -> Vec<u8> {
    let mut next = vec![0; ends.len()];
    let mut so_far: u8 = 0;
    for (at, ways) in ends.iter().enumerate() {
        let Some(rest) = text.get(at..) else { continue };
        so_far = ways.saturating_add(so_far).min(2);
        let (place, ways) = match part {
            TemplatePart::Text(literal) if rest.starts_with(literal) => (at + literal.len(), *ways),
            TemplatePart::Text(_) => continue,
            _ => (at, so_far),
        };
        if let Some(place) = next.get_mut(place) {
            *place = ways;
        }
    }
    next
}

/// A part of a compiled template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePart {
    /// Text that stands for itself.
    Text(String),
    /// A value from the row.
    Value(Placeholder),
    /// An optional segment: left out, with all later ones, from the first whose value is NULL.
    Optional(Vec<TemplatePart>),
}

impl TemplatePart {
    /// The value that it is.
    pub(crate) fn value(&self) -> Option<&Placeholder> {
        match self {
            Self::Value(placeholder) => Some(placeholder),
            _ => None,
        }
    }
}

/// A value from the row, through filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    /// Where the value stands.
    pub place: ValuePath,
    /// The filters, in order.
    pub filters: Vec<Filter>,
    /// What kind of value comes out, as far as the column's type and the filters tell.
    pub family: TypeFamily,
    /// What is escaped in its text, after all filters: see `key_escape`.
    pub escape: Option<Arc<Escape>>,
}

impl Placeholder {
    /// A whole column as it is.
    pub fn of_column(column: usize, written: impl Into<Arc<str>>, family: TypeFamily) -> Self {
        Self {
            place: ValuePath::of_column(column, written),
            filters: Vec::new(),
            family,
            escape: None,
        }
    }

    /// The column whose values it takes whole and unchanged; `None` with filters, or for a member of a document.
    pub(crate) fn plain_column(&self) -> Option<usize> {
        let is_plain = self.filters.is_empty() && self.place.path.is_empty();
        is_plain.then_some(self.place.column)
    }

    /// Appends its text, escaped where it is.
    pub(crate) fn push(&self, out: &mut Text, text: &str) {
        match &self.escape {
            Some(escape) => escape.push(out, text),
            None => out.push_str(text),
        }
    }

    /// The text that it has escaped so; `None` where none is.
    pub(crate) fn unescaped(&self, text: &str) -> Option<String> {
        match &self.escape {
            Some(escape) => escape.undo(text),
            None => Some(text.to_owned()),
        }
    }

    /// Whether it is the same mask for all values, which is no empty text.
    pub fn is_redacted(&self) -> bool {
        matches!(self.filters.last(), Some(Filter::Redact))
    }

    /// The number of shards that its filters end in.
    pub fn shards(&self) -> Option<u32> {
        match self.filters.last() {
            Some(Filter::Shard(shards)) => Some(*shards),
            _ => None,
        }
    }

    /// Whether a filter writes values in one case, or as codes: all spellings of a value are one text then.
    pub fn has_one_spelling(&self) -> bool {
        let mut filters = self.filters.iter();
        filters.any(|filter| matches!(filter, Filter::Lower | Filter::Upper | Filter::Map { .. }))
    }

    /// Whether a filter puts something for NULL.
    pub fn replaces_null(&self) -> bool {
        let replaces =
            |filter: &Filter| matches!(filter, Filter::Default(_) | Filter::Present { .. });
        self.filters.iter().any(replaces)
    }
}

/// Where a value stands: a column, or a member of a document in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValuePath {
    /// Index into the row.
    pub column: usize,
    /// Members to go down into, for documents and composites.
    pub path: Vec<Arc<str>>,
    /// How the mapping writes it: `id`, `s.service`, `setting.color`.
    pub written: Arc<str>,
    /// Whether what stands there is text that holds JSON, of `explode` and `$spread`.
    pub is_json: bool,
}

impl ValuePath {
    /// A whole column.
    pub fn of_column(column: usize, written: impl Into<Arc<str>>) -> Self {
        Self {
            column,
            path: Vec::new(),
            written: written.into(),
            is_json: false,
        }
    }

    /// What stands there in a row. A missing member is NULL, and so is a member of anything but a map.
    ///
    /// # Errors
    ///
    /// What a member would be of, where it does not fit its column's type.
    pub(crate) fn find<'r>(&self, row: &'r [Value]) -> Result<&'r Value, &'r Unfit> {
        let mut value = row.get(self.column).unwrap_or(&Value::Null);
        for name in &self.path {
            value = match value {
                Value::Map(members) => members
                    .iter()
                    .find(|(member, _)| *member == **name)
                    .map_or(&Value::Null, |(_, member)| member),
                Value::Unfit(unfit) => return Err(unfit),
                _ => &Value::Null,
            };
        }
        Ok(value)
    }
}

impl Escape {
    /// What a template's values escape; `None` where nothing stands around its value, which then
    /// keeps its type and its text.
    pub fn of(template: &Template) -> Option<Self> {
        if let [] | [TemplatePart::Text(_) | TemplatePart::Value(_)] = template.parts.as_slice() {
            return None;
        }
        let flat = template.flat().into_iter();
        let texts = flat.filter_map(|part| match part {
            TemplatePart::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let mut characters: Vec<char> = texts.flat_map(str::chars).chain(['%']).collect();
        characters.sort_unstable();
        characters.dedup();
        Some(Self { characters })
    }
}

/// The characters that are escaped in the values of one template (`key_escape: percent`): a delimiter inside a value must
/// not make two different rows equal. Never empty: `%` is among them.
///
/// In a template with text around its values, `%` and every character of that text are escaped in the values: each of
/// their UTF-8 bytes becomes `%` and two upper-case hexadecimal digits. So a value never holds a character that stands for
/// itself in the template, and the text between two values tells where the one ends and the other begins. Decoding is
/// that of URLs.
///
/// Whoever asks for such a key has to escape as the item's template does: [`Escape::of`] is taken from the template that
/// made the key, never from the one that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escape {
    /// Sorted, each once.
    characters: Vec<char>,
}

impl Escape {
    /// Whether a character is escaped.
    pub fn has(&self, character: char) -> bool {
        self.characters.binary_search(&character).is_ok()
    }

    /// Appends a value's text, escaped.
    pub fn push(&self, out: &mut Text, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(|character| self.has(character)) {
            let (plain, from) = rest.split_at(at);
            out.push_str(plain);
            let Some(character) = from.chars().next() else {
                break;
            };
            let (escaped, after) = from.split_at(character.len_utf8());
            for byte in escaped.bytes() {
                out.push_str(percent_encode_byte(byte));
            }
            rest = after;
        }
        out.push_str(rest);
    }

    /// The value of which an escaped text is; `None` for one that no value has.
    pub fn undo(&self, escaped: &str) -> Option<String> {
        let value = percent_decode_str(escaped).decode_utf8().ok()?;
        let mut again = Text::new();
        self.push(&mut again, &value);
        (again == *escaped).then(|| value.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::TypeFamily;
    use proptest::prelude::*;

    use super::super::{Placeholder, Template, TemplatePart, ValuePath};
    use super::*;

    fn value() -> TemplatePart {
        TemplatePart::Value(Placeholder {
            place: ValuePath {
                column: 0,
                path: Vec::new(),
                written: "x".into(),
                is_json: false,
            },
            filters: Vec::new(),
            family: TypeFamily::Text,
            escape: None,
        })
    }

    fn template(parts: Vec<TemplatePart>) -> Template {
        Template { parts }
    }

    fn text(text: &str) -> TemplatePart {
        TemplatePart::Text(text.to_owned())
    }

    fn escaped(escape: &Escape, value: &str) -> Text {
        let mut out = Text::new();
        escape.push(&mut out, value);
        out
    }

    #[test]
    fn what_stands_for_itself_is_escaped_in_values_as_in_urls() {
        let escape = Escape::of(&template(vec![
            text("u#"),
            value(),
            TemplatePart::Optional(vec![text("é/"), value()]),
        ]))
        .unwrap();
        assert_eq!(escaped(&escape, "a#b"), "a%23b");
        assert_eq!(escaped(&escape, "100%"), "100%25");
        assert_eq!(escaped(&escape, "blue/é"), "bl%75e%2F%C3%A9");
        assert_eq!(
            escaped(&escape, "as it is: ñ 한국 😀"),
            "as it is: ñ 한국 😀"
        );
        assert_eq!(escaped(&escape, ""), "");
        for none in ["a#b", "%61", "%2f", "%2", "%", "%C3", "%+7"] {
            assert_eq!(escape.undo(none), None, "{none}");
        }
    }

    #[test]
    fn a_text_is_split_once_where_what_stands_between_values_is_in_none() {
        let pair = template(vec![text("P#"), value(), text("#"), value()]);
        let optional = |mark: &str| TemplatePart::Optional(vec![text(mark), value()]);
        let segments = template(vec![text("v"), optional("#"), optional("#")]);
        let closed = template(vec![value(), text("aa"), value()]);
        for (template, once, not) in [
            (&pair, "P#a#b P#a# P## P#é#한", "P#a#b#c P### P#a a#b"),
            (&segments, "v v#a v#", "v#a#b va"),
            (&closed, "xaay aa", "aaa xaaay x"),
            (&template(vec![value(), value()]), "", "ab a"),
        ] {
            let wrong = once
                .split_whitespace()
                .find(|one| !template.is_split_once(one));
            assert_eq!(wrong, None, "{template}");
            let wrong = not
                .split_whitespace()
                .find(|one| template.is_split_once(one));
            assert_eq!(wrong, None, "{template}");
        }
    }

    #[test]
    fn a_value_alone_and_text_alone_are_left_as_they_are() {
        for parts in [vec![], vec![value()], vec![text("USER#")]] {
            assert_eq!(Escape::of(&template(parts)), None);
        }
    }

    /// Values of a template `a#b[/c][/d]` that are likely to collide.
    fn values() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[ab#/%235Fé]{0,5}", 2..=4)
    }

    fn key(escape: &Escape, values: &[String]) -> Text {
        let mut out = Text::new();
        for (index, value) in values.iter().enumerate() {
            out.push_str(["", "#", "/", "/"][index]);
            escape.push(&mut out, value);
        }
        out
    }

    proptest! {
        #[test]
        fn different_values_never_make_one_key(a in values(), b in values()) {
            let optional = || TemplatePart::Optional(vec![text("/"), value()]);
            let parts = vec![value(), text("#"), value(), optional(), optional()];
            let escape = Escape::of(&template(parts)).unwrap();
            prop_assert_eq!(key(&escape, &a) == key(&escape, &b), a == b);
            for value in a {
                prop_assert_eq!(escape.undo(&escaped(&escape, &value)), Some(value));
            }
        }
    }
}
