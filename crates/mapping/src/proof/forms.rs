//! The texts that a whole template can make.

use dynafold_dynamodb::Attribute;
use jiff::tz::TimeZone;

use super::domain::Domain;
use super::text::{CharSet, TextForm, literal};
use crate::model::{AttributeNode, Placeholder, Template, TemplatePart};

/// A template's texts of one shape: which optional segments are there, and which of several texts
/// its values have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct TextShape {
    pub(super) pieces: Vec<ShapePiece>,
    /// Whether it stands for a template that has too many shapes: it has texts which the template cannot make.
    pub(super) is_vague: bool,
}

/// A piece of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ShapePiece {
    One(CharSet, Option<usize>),
    /// Any number of letters.
    Many(CharSet, Option<usize>),
    /// The beginning of the value of this number.
    Begin(usize),
    End(usize),
}

/// A value in a template, with what is known of it.
#[derive(Debug, Clone)]
pub(super) struct ValueUse<'t> {
    pub(super) placeholder: &'t Placeholder,
    pub(super) domain: Domain,
    /// Whether the value is in every text: it is mandatory, or neither it nor any other value of
    /// its and of earlier optional segments can be NULL.
    pub(super) certain: bool,
}

/// A template with what is known of its values.
#[derive(Debug, Clone)]
pub(super) struct KnownTemplate<'t> {
    pub(super) template: &'t Template,
    /// The values, in the order of the template.
    pub(super) uses: Vec<ValueUse<'t>>,
    /// How many optional segments are in every text.
    certain_segments: usize,
    pub(super) shapes: Vec<TextShape>,
}

/// Most shapes of one template; beyond it the texts of a value count as one.
const MAX_SHAPES: usize = 48;
/// Most pieces of all shapes of one template; beyond it any text may be of it.
const MAX_PIECES: usize = 100_000;

impl<'t> KnownTemplate<'t> {
    /// Takes a template apart. `domain` tells of the column at a placeholder's place.
    pub(super) fn new(
        template: &'t Template,
        time_zone: &TimeZone,
        domain: &dyn Fn(&Placeholder) -> Domain,
    ) -> Self {
        let mut known = Self {
            template,
            uses: Vec::new(),
            certain_segments: 0,
            shapes: Vec::new(),
        };
        let used = |placeholder: &'t Placeholder| ValueUse {
            placeholder,
            domain: domain(placeholder).through_all(&placeholder.filters, time_zone),
            certain: true,
        };
        let mut segments_are_certain = true;
        for part in &template.parts {
            match part {
                TemplatePart::Text(_) => {}
                TemplatePart::Value(placeholder) => known.uses.push(used(placeholder)),
                TemplatePart::Optional(inner) => {
                    let values = inner.iter().filter_map(TemplatePart::value);
                    let mut new: Vec<ValueUse<'t>> = values.map(used).collect();
                    segments_are_certain &= new.iter().all(|each| !each.domain.nullable);
                    for each in &mut new {
                        each.certain = segments_are_certain;
                    }
                    known.certain_segments += usize::from(segments_are_certain);
                    known.uses.extend(new);
                }
            }
        }
        known.escape();
        known.shapes = known.all_shapes();
        known
    }

    /// Whether a value is all of it.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.template.parts.as_slice(), [_]) && self.uses.len() == 1
    }

    /// With `key_escape` a value holds what is escaped only in the digits that stand for it.
    fn escape(&mut self) {
        let foreign = !format!("{:#}", self.template).is_ascii();
        let codes = CharSet::of("%0123456789ABCDEF");
        for each in &mut self.uses {
            let Some(escape) = &each.placeholder.escape else {
                continue;
            };
            let ascii = CharSet::ANY.ascii();
            let escaped: Vec<char> = ascii.filter(|letter| escape.has(*letter)).collect();
            for stretch in each.domain.forms.iter_mut().flatten() {
                let letters = stretch.letters;
                if escaped.iter().any(|letter| letters.allows(*letter))
                    || (foreign && !letters.is_ascii())
                {
                    let plain = stretch.letters.without(escaped.iter().copied());
                    stretch.letters = plain.or(codes);
                    stretch.repeated = true;
                }
            }
        }
    }

    fn all_shapes(&self) -> Vec<TextShape> {
        let optional = |part: &&TemplatePart| matches!(part, TemplatePart::Optional(_));
        let segments = self.template.parts.iter().filter(optional).count();
        let mut shapes: Vec<TextShape> = Vec::new();
        let mut pieces = 0;
        for there in self.certain_segments..=segments {
            let more = self.shapes_with(there);
            pieces += more.iter().map(|shape| shape.pieces.len()).sum::<usize>();
            if pieces > MAX_PIECES {
                let any = TextShape {
                    is_vague: true,
                    ..TextShape::default()
                };
                return vec![any.open()];
            }
            shapes.extend(more);
        }
        shapes
    }

    /// The shapes with just so many optional segments.
    fn shapes_with(&self, mut there: usize) -> Vec<TextShape> {
        let mut shapes = vec![TextShape::default()];
        let mut number = 0;
        for part in &self.template.parts {
            match part {
                TemplatePart::Optional(inner) if there == 0 => {
                    number += inner.iter().filter_map(TemplatePart::value).count();
                }
                part => {
                    there -= usize::from(matches!(part, TemplatePart::Optional(_)));
                    self.add(part, &mut number, &mut shapes);
                }
            }
        }
        shapes
    }

    fn add(&self, part: &TemplatePart, number: &mut usize, shapes: &mut Vec<TextShape>) {
        match part {
            TemplatePart::Text(text) => {
                let form = literal(text);
                for shape in shapes.iter_mut() {
                    shape.push(&form, None);
                }
            }
            TemplatePart::Value(_) => {
                let known = self.uses.get(*number);
                let mut forms: Vec<TextForm> = known
                    .map(|known| known.domain.forms.clone())
                    .unwrap_or_default();
                if forms.len() * shapes.len() > MAX_SHAPES {
                    forms = vec![vec![super::text::many(super::text::letters(&forms))]];
                }
                let before = std::mem::take(shapes);
                for form in forms {
                    shapes.extend(before.iter().map(|shape| {
                        let mut shape = shape.clone();
                        shape.push(&form, Some(*number));
                        shape
                    }));
                }
                *number += 1;
            }
            TemplatePart::Optional(inner) => {
                for part in inner {
                    self.add(part, number, shapes);
                }
            }
        }
    }
}

/// The texts that a key attribute can have; more perhaps, never less.
pub(super) fn shapes(
    node: &AttributeNode,
    time_zone: &TimeZone,
    domain: &dyn Fn(&Placeholder) -> Domain,
) -> Vec<TextShape> {
    match node.inner() {
        AttributeNode::Template(template) => KnownTemplate::new(template, time_zone, domain).shapes,
        AttributeNode::Constant(Attribute::N(number)) => {
            vec![TextShape::of(&literal(number.as_str()))]
        }
        _ => vec![TextShape::default().open()],
    }
}

impl TextShape {
    /// Texts of this form.
    pub(super) fn of(form: &TextForm) -> Self {
        let mut shape = Self::default();
        shape.push(form, None);
        shape
    }

    /// Whether the empty text is of this shape.
    pub(super) fn may_be_empty(&self) -> bool {
        if self.is_vague {
            return false;
        }
        let one = |piece: &ShapePiece| matches!(piece, ShapePiece::One(..));
        !self.pieces.iter().any(one)
    }

    fn push(&mut self, form: &TextForm, owner: Option<usize>) {
        self.pieces.extend(owner.map(ShapePiece::Begin));
        self.pieces.extend(form.iter().map(|stretch| {
            if stretch.repeated {
                ShapePiece::Many(stretch.letters, owner)
            } else {
                ShapePiece::One(stretch.letters, owner)
            }
        }));
        self.pieces.extend(owner.map(ShapePiece::End));
    }

    /// Whether it holds the value of this number.
    pub(super) fn has(&self, number: usize) -> bool {
        self.pieces.contains(&ShapePiece::Begin(number))
    }

    /// Texts of this shape with anything behind them.
    pub(super) fn open(mut self) -> Self {
        self.pieces.push(ShapePiece::Many(CharSet::ANY, None));
        self
    }

    /// The same texts as far as values begin with a letter or a digit, for examples that are easy
    /// to read.
    pub(super) fn without_empty_values(&self) -> Self {
        let mut pieces = Vec::with_capacity(self.pieces.len());
        for (at, piece) in self.pieces.iter().enumerate() {
            let begins = at
                .checked_sub(1)
                .and_then(|before| self.pieces.get(before))
                .is_some_and(|before| matches!(before, ShapePiece::Begin(_)));
            let ends = matches!(self.pieces.get(at + 1), Some(ShapePiece::End(_)));
            if let ShapePiece::Many(letters, owner) = *piece
                && begins
                && ends
            {
                pieces.push(ShapePiece::One(letters.plain(), owner));
            }
            pieces.push(*piece);
        }
        Self {
            pieces,
            is_vague: self.is_vague,
        }
    }
}

impl KnownTemplate<'_> {
    /// The first letter of the text behind a value; `None` where another value or nothing follows.
    pub(super) fn follows(&self, number: usize) -> Option<char> {
        let shape = self.shapes.last()?;
        let end = shape
            .pieces
            .iter()
            .position(|p| *p == ShapePiece::End(number))?;
        match shape.pieces.get(end + 1)? {
            ShapePiece::One(letters, None) => letters.only(),
            _ => None,
        }
    }

    /// The shapes with ordinary values: not empty, and without these letters in what may hold any.
    pub(super) fn without(mut self, marks: &str) -> Vec<TextShape> {
        for stretch in self
            .uses
            .iter_mut()
            .flat_map(|each| each.domain.forms.iter_mut())
            .flatten()
        {
            if stretch.repeated {
                stretch.letters = stretch.letters.without(marks.chars());
            }
        }
        let shapes = self.all_shapes();
        shapes.iter().map(TextShape::without_empty_values).collect()
    }
}
