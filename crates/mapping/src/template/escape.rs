//! `key_escape: percent`: a delimiter inside a value must not make two different rows equal.
//!
//! In a template with text around its values, `%` and every character of that text are escaped in
//! the values: each of their UTF-8 bytes becomes `%` and two upper-case hexadecimal digits. So a
//! value never holds a character that stands for itself in the template, and the text between two
//! values tells where the one ends and the other begins. Decoding is that of URLs.
//!
//! Whoever asks for such a key has to escape as the item's template does: [`Escape::of`] is taken
//! from the template that made the key, never from the one that asks.

use dynafold_relational::value::Text;

/// The characters that are escaped in the values of one template. Never empty: `%` is among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escape {
    /// Sorted, each once.
    pub(super) characters: Vec<char>,
}

impl Escape {
    /// Whether a character is escaped.
    #[must_use]
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
                out.push('%');
                out.push(digit(byte >> 4));
                out.push(digit(byte & 15));
            }
            rest = after;
        }
        out.push_str(rest);
    }

    /// The value of which an escaped text is; `None` for one that no value has.
    #[must_use]
    pub fn undo(&self, escaped: &str) -> Option<String> {
        let mut bytes = Vec::with_capacity(escaped.len());
        let mut rest = escaped;
        while let Some((plain, behind)) = rest.split_once('%') {
            bytes.extend(plain.bytes());
            let (digits, after) = behind.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after;
        }
        bytes.extend(rest.bytes());
        let value = String::from_utf8(bytes).ok()?;
        let mut again = Text::new();
        self.push(&mut again, &value);
        (again == *escaped).then_some(value)
    }
}

fn digit(half: u8) -> char {
    char::from_digit(u32::from(half), 16).map_or('0', |digit| digit.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::Family;
    use proptest::prelude::*;

    use super::super::{Part, Place, Placeholder, Template};
    use super::*;

    fn value() -> Part {
        Part::Value(Placeholder {
            place: Place {
                column: 0,
                path: Vec::new(),
                written: "x".into(),
                is_json: false,
            },
            filters: Vec::new(),
            family: Family::Text,
            escape: None,
        })
    }

    fn template(parts: Vec<Part>) -> Template {
        Template { parts }
    }

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
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
            Part::Optional(vec![text("é/"), value()]),
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
            let optional = || Part::Optional(vec![text("/"), value()]);
            let parts = vec![value(), text("#"), value(), optional(), optional()];
            let escape = Escape::of(&template(parts)).unwrap();
            prop_assert_eq!(key(&escape, &a) == key(&escape, &b), a == b);
            for value in a {
                prop_assert_eq!(escape.undo(&escaped(&escape, &value)), Some(value));
            }
        }
    }
}
