//! Which item types an access pattern finds.
//!
//! Two questions, with two measures. A pattern *cannot* find an item type if no text at all fits
//! both, whatever the parameters and the columns hold. It *also* finds an item type if that is so
//! with ordinary values, which hold none of the marks that the templates set between values: else
//! every text could be in every other.

use super::World;
use super::apart::{begin_apart, beginning};
use super::domain::Domain;
use super::facts::Subject;
use super::forms::{Known, Shape};
use super::meet::{Common, Work, meeting};
use super::text::literal;
use crate::item::Attribute;
use crate::mapping::model::{KeyAttribute, KeyType, Node, Part, Template};

/// What an access pattern asks of one key attribute.
#[derive(Debug, Clone)]
pub(in crate::mapping) enum Condition {
    /// That it is this text.
    Is(Template),
    /// That it begins with this one.
    BeginsWith(Template),
    /// That it is within bounds; the text that both bounds begin with.
    Within(String),
    /// Nothing but that it is there.
    Any,
}

/// Whether an access pattern finds an item type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mapping) enum Reach {
    /// Whatever the values are, it does not.
    Never,
    /// With odd values alone.
    Barely,
    /// With ordinary values.
    Yes,
    /// It is not known: the templates are too large, or too many, to be compared.
    Unknown,
}

/// Whether conditions on key attributes find items of an item type.
pub(in crate::mapping) fn reach(
    subject: Subject<'_>,
    conditions: &[(&KeyAttribute, Condition)],
    world: &World,
    work: &mut Work,
) -> Reach {
    let mut reach = Reach::Yes;
    for (key, condition) in conditions {
        let Some(node) = subject.node(&key.name) else {
            if subject.item.spreads.is_empty() {
                return Reach::Never;
            }
            continue;
        };
        if key.key_type != KeyType::S || matches!(condition, Condition::Any) {
            continue;
        }
        let node = node.inner();
        if begin_apart(condition.beginning(), beginning(node)) {
            return Reach::Never;
        }
        if work.is_used_up() {
            reach = Reach::Unknown;
            continue;
        }
        let sides = Sides::new(subject, node, condition, world);
        let Some(sides) = sides else { continue };
        let mut part = work.part();
        let all = meeting(&sides.asked, &sides.made, &mut part);
        let plain = meeting(&sides.plainly_asked, &sides.plainly_made, &mut part);
        work.give_back(&part);
        match (all, plain) {
            (Common::Nothing, _) => return Reach::Never,
            (Common::Text(_), Common::Text(_)) => {}
            (Common::Text(_), Common::Nothing) if reach == Reach::Yes => reach = Reach::Barely,
            (Common::Text(_), Common::Nothing) => {}
            _ => reach = Reach::Unknown,
        }
    }
    reach
}

impl Condition {
    /// The text that every value begins with which it asks for.
    fn beginning(&self) -> &str {
        match self {
            Self::Is(template) | Self::BeginsWith(template) => template.prefix().0,
            Self::Within(text) => text,
            Self::Any => "",
        }
    }
}

/// The texts that are asked for and those that are made, all of them and the ordinary ones.
struct Sides {
    asked: Vec<Shape>,
    made: Vec<Shape>,
    plainly_asked: Vec<Shape>,
    plainly_made: Vec<Shape>,
}

impl Sides {
    fn new(
        subject: Subject<'_>,
        node: &Node,
        condition: &Condition,
        world: &World,
    ) -> Option<Self> {
        let parameter = || Domain::unknown("a parameter");
        let bounds = Template { parts: Vec::new() };
        let (asked, open) = match condition {
            Condition::Is(template) => (template, false),
            Condition::BeginsWith(template) => (template, true),
            Condition::Within(_) | Condition::Any => (&bounds, true),
        };
        let asked = Known::new(asked, world, &|_| parameter());
        let mut marks = marks(asked.template);
        let (made, plainly_made) = match node {
            Node::Template(template) => {
                let known = Known::new(template, world, &|p| subject.domain(p));
                marks.push_str(&self::marks(template));
                let plain = known.clone().without(&marks);
                (known.shapes, plain)
            }
            Node::Constant(Attribute::N(number)) => {
                let shape = Shape::of(&literal(number.as_str()));
                (vec![shape.clone()], vec![shape])
            }
            _ => return None,
        };
        let opened = |shapes: Vec<Shape>| -> Vec<Shape> {
            let shapes = shapes.into_iter();
            shapes
                .map(|shape| if open { shape.open() } else { shape })
                .collect()
        };
        let (all, plain) = match condition {
            Condition::Within(text) => {
                let shape = vec![Shape::of(&literal(text))];
                (shape.clone(), shape)
            }
            _ => (asked.shapes.clone(), asked.without(&marks)),
        };
        Some(Self {
            asked: opened(all),
            made,
            plainly_asked: opened(plain),
            plainly_made,
        })
    }
}

/// What a template sets between values: letters of its text that are none of a word's.
fn marks(template: &Template) -> String {
    let texts = template.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let all = texts.flat_map(str::chars);
    all.filter(|c| !c.is_alphanumeric()).collect()
}
