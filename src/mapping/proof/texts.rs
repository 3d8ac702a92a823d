//! The texts that a key attribute of an item type can have: what tells its items from those of others.

use super::World;
use super::domain::Domain;
use super::facts::{Subject, inner};
use super::forms::{Known, Shape};
use super::meet::{Common, Work, meeting};
use super::text::literal;
use crate::item::Attribute;
use crate::mapping::model::{Node, Placeholder, Table};

/// The texts that a key attribute of an item type can have; more perhaps, never less, save that a
/// number is written with figures: SQLite keeps other text in such columns too.
#[derive(Debug, Clone)]
pub struct Texts {
    shapes: Vec<Shape>,
}

impl Texts {
    /// As far as what makes the attribute tells, whatever its columns hold.
    #[must_use]
    pub fn of(node: &Node) -> Self {
        let world = World {
            time_zone: jiff::tz::TimeZone::UTC,
        };
        Self::with(node, &world, &|_| Domain::unknown("nothing is known of it"))
    }

    fn with(node: &Node, world: &World, domain: &dyn Fn(&Placeholder) -> Domain) -> Self {
        let shapes = match inner(node) {
            Node::Template(template) => Known::new(template, world, domain).shapes,
            Node::Constant(Attribute::N(number)) => vec![Shape::of(&literal(number.as_str()))],
            _ => vec![Shape::default().open()],
        };
        Self { shapes }
    }

    /// Whether a key attribute can have this value.
    #[must_use]
    pub fn can_be(&self, value: &Attribute) -> bool {
        match value {
            Attribute::S(text) => self.shapes.iter().any(|shape| shape.takes(text)),
            Attribute::N(number) => self.shapes.iter().any(|shape| shape.takes(number.as_str())),
            // What bytes say is not known as text.
            _ => true,
        }
    }

    /// Whether two key attributes can have one text.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        meeting(&self.shapes, &other.shapes, &mut Work::one()) != Common::Nothing
    }
}

/// The texts of an item type's key attributes, partition key first.
pub(in crate::mapping) fn key_texts(
    subject: Subject<'_>,
    table: &Table,
    world: &World,
) -> Vec<Texts> {
    let keys = subject.key(table).unwrap_or_default().into_iter();
    let domain = |placeholder: &Placeholder| subject.domain(placeholder).in_figures();
    keys.map(|(_, node)| Texts::with(node, world, &domain))
        .collect()
}
