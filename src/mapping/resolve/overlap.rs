//! Whether two templates could make the same text.
//!
//! A template is read as a row of pieces: letters that stand for themselves, and values of which
//! the last filter tells what letters they can have, and of some how many. A value without such a
//! filter can be any text, whatever its column's declared type: `SQLite` stores text in numbers.
//!
//! So `ALBUM#{a | pad(5)}` and `ALBUM#{a | pad(5)}#TRACK#{t}` are apart, since only one of them has
//! more after five digits.

use crate::mapping::model::{Part, Placeholder, Template};
use crate::mapping::template::Filter;

/// One letter of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letter {
    /// This one.
    Is(char),
    /// 0 to 9.
    Digit,
    /// One that a date, a time of day or a number has.
    Figure,
    /// One that hexadecimal digits and UUIDs have.
    Hex,
    /// Any.
    Any,
}

impl Letter {
    fn allows(self, letter: char) -> bool {
        match self {
            Self::Is(this) => this == letter,
            Self::Digit => letter.is_ascii_digit(),
            Self::Figure => letter.is_ascii_digit() || "+-.:TZ".contains(letter),
            Self::Hex => letter.is_ascii_hexdigit() || letter == '-',
            Self::Any => true,
        }
    }

    /// Whether one letter is allowed by both. All kinds have the digits in common.
    fn meets(self, other: Self) -> bool {
        match (self, other) {
            (Self::Is(letter), other) | (other, Self::Is(letter)) => other.allows(letter),
            _ => true,
        }
    }
}

/// Every letter of the kinds that are not any.
const FIGURES: &str = "0123456789+-.:TZabcdefABCDEF";

/// A piece of a text: one letter, or any number of them.
#[derive(Debug, Clone, Copy)]
struct Piece {
    letter: Letter,
    repeated: bool,
}

impl Piece {
    fn one(letter: Letter) -> Self {
        Self {
            letter,
            repeated: false,
        }
    }

    fn many(letter: Letter) -> Self {
        Self {
            letter,
            repeated: true,
        }
    }
}

/// Whether some values make both templates the same text.
pub(super) fn may_be_equal(a: &Template, b: &Template) -> bool {
    let others = variants(b);
    variants(a)
        .iter()
        .any(|a| others.iter().any(|b| overlap(a, b)))
}

/// The texts that a template can make: one for each number of optional segments that are there.
fn variants(template: &Template) -> Vec<Vec<Piece>> {
    let optional = |part: &&Part| matches!(part, Part::Optional(_));
    let segments = template.parts.iter().filter(optional).count();
    let with = |there: usize| {
        let mut left = there;
        let mut pieces = Vec::new();
        for part in &template.parts {
            match part {
                Part::Optional(_) if left == 0 => {}
                Part::Optional(inner) => {
                    left -= 1;
                    add_all(inner, &mut pieces);
                }
                part => add(part, &mut pieces),
            }
        }
        pieces
    };
    (0..=segments).map(with).collect()
}

fn add(part: &Part, pieces: &mut Vec<Piece>) {
    match part {
        Part::Text(text) => pieces.extend(text.chars().map(|c| Piece::one(Letter::Is(c)))),
        Part::Value(placeholder) => value(placeholder, pieces),
        Part::Optional(inner) => add_all(inner, pieces),
    }
}

fn add_all(parts: &[Part], pieces: &mut Vec<Piece>) {
    for part in parts {
        add(part, pieces);
    }
}

fn value(placeholder: &Placeholder, pieces: &mut Vec<Piece>) {
    let digits = |count: usize| std::iter::repeat_n(Piece::one(Letter::Digit), count);
    if placeholder
        .escape
        .as_ref()
        .is_some_and(|escape| FIGURES.chars().any(|c| escape.has(c)))
    {
        // What is escaped in it is none of the letters below.
        pieces.push(Piece::many(Letter::Any));
        return;
    }
    match placeholder.filters.last() {
        Some(Filter::Pad {
            digits: before,
            scale,
        }) => {
            pieces.extend(digits(*before));
            if *scale > 0 {
                pieces.push(Piece::one(Letter::Is('.')));
                pieces.extend(digits(*scale));
            }
        }
        Some(Filter::Desc { digits: count }) => pieces.extend(digits(*count)),
        Some(Filter::Shard(_)) => pieces.push(Piece::many(Letter::Digit)),
        Some(Filter::Date | Filter::Iso | Filter::Epoch | Filter::EpochMs) => {
            pieces.push(Piece::many(Letter::Figure));
        }
        Some(Filter::Hex | Filter::Uuid { .. }) => pieces.push(Piece::many(Letter::Hex)),
        _ => pieces.push(Piece::many(Letter::Any)),
    }
}

/// Whether one text fits both: goes through both at once, as two automata.
fn overlap(a: &[Piece], b: &[Piece]) -> bool {
    let mut open = vec![(a, b)];
    let mut seen = Vec::new();
    while let Some((a, b)) = open.pop() {
        if seen.contains(&(a.len(), b.len())) {
            continue;
        }
        seen.push((a.len(), b.len()));
        let (first, second) = (a.split_first(), b.split_first());
        if first.is_none() && second.is_none() {
            return true;
        }
        if let Some((piece, rest)) = first
            && piece.repeated
        {
            open.push((rest, b));
        }
        if let Some((piece, rest)) = second
            && piece.repeated
        {
            open.push((a, rest));
        }
        if let (Some((x, after_x)), Some((y, after_y))) = (first, second)
            && x.letter.meets(y.letter)
        {
            open.push((
                if x.repeated { a } else { after_x },
                if y.repeated { b } else { after_y },
            ));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Family;
    use crate::mapping::model::Place;
    use crate::mapping::template::{self, Escape, Segment};

    fn template(text: &str) -> Template {
        fn part(segment: &Segment) -> Part {
            match segment {
                Segment::Text(text) => Part::Text(text.clone()),
                Segment::Placeholder(written) => Part::Value(Placeholder {
                    place: Place {
                        column: 0,
                        path: Vec::new(),
                        written: "x".into(),
                    },
                    filters: written
                        .filters
                        .iter()
                        .map(|call| Filter::compile(call).unwrap())
                        .collect(),
                    family: Family::Any,
                    escape: None,
                }),
                Segment::Optional(inner) => Part::Optional(inner.iter().map(part).collect()),
            }
        }
        let written = template::parse(text).unwrap();
        Template {
            parts: written.segments.iter().map(part).collect(),
        }
    }

    #[test]
    fn templates_are_apart_when_no_text_fits_both() {
        let apart = [
            ("ORDER", "LINE"),
            ("ORDER", "ORDER#LINE#{x}"),
            ("USER#{x}", "ORDER#{x}"),
            ("ALBUM#{x | pad(5)}", "ALBUM#{x | pad(5)}#TRACK#{x}"),
            ("ALBUM#{x | pad(5)}", "ALBUM#{x | pad(6)}"),
            ("{x | pad(5)}", "{x | pad(5, 2)}"),
            (
                "I#{x | date}#{x | pad(6)}",
                "I#{x | date}#{x | pad(6)}#LINE#{x | pad(3)}",
            ),
            ("I#{x | desc(3)}", "I#{x | desc(3)}#"),
            ("I#{x | hex}", "I#{x | hex}#{x}"),
            ("KR[#{x | pad(2)}]", "KR#{x | pad(2)}#{x | pad(2)}"),
            ("{x}#A", "{x}#B"),
        ];
        for (a, b) in apart {
            assert!(!may_be_equal(&template(a), &template(b)), "{a} {b}");
            assert!(!may_be_equal(&template(b), &template(a)), "{b} {a}");
        }
    }

    #[test]
    fn templates_may_be_equal_when_values_can_hold_what_the_other_has() {
        let equal = [
            ("ORDER", "ORDER"),
            ("A#{x}", "A#{x}"),
            ("A#{x}", "A#{x}#B#{x}"),
            ("A#{x | pad(5)}", "A#{x}"),
            ("A#{x | pad(5)}", "A#0000{x | pad(1)}"),
            ("A#{x | pad(5) | replace(0, '0#')}", "A#{x | pad(5)}#{x}"),
            ("A#{x | date}", "A#{x | pad(4)}-{x | pad(2)}-{x | pad(2)}"),
            ("KR[#{x | pad(2)}][#{x | pad(2)}]", "KR#{x | pad(2)}"),
            ("KR[#{x}]", "KR"),
            ("{x}A", "B{x}"),
        ];
        for (a, b) in equal {
            assert!(may_be_equal(&template(a), &template(b)), "{a} {b}");
            assert!(may_be_equal(&template(b), &template(a)), "{b} {a}");
        }
    }

    #[test]
    fn an_escaped_value_is_no_longer_of_its_filters_letters() {
        let mut escaped = template("1{x | pad(2)}");
        let escape = Escape::of(&escaped).map(std::sync::Arc::new);
        for part in &mut escaped.parts {
            if let Part::Value(placeholder) = part {
                placeholder.escape.clone_from(&escape);
            }
        }
        let other = template("1%31{x | pad(1)}");
        assert!(may_be_equal(&escaped, &other));
        assert!(!may_be_equal(&template("1{x | pad(2)}"), &other));
    }
}
