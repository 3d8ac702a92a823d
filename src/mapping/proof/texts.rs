//! The texts that a key attribute of an item type can have: what tells its items from those of others.

use jiff::tz::TimeZone;

use super::domain::Domain;
use super::facts::Subject;
use super::forms::{Shape, shapes};
use super::meet::{Common, Work, meeting};
use crate::item::Attribute;
use crate::mapping::model::{Node, Placeholder};

/// The texts that a key attribute of an item type can have; more perhaps, never less.
#[derive(Debug, Clone)]
pub struct Texts {
    /// Where a number is written with figures.
    shapes: Vec<Shape>,
    /// With all that a column of numbers may hold: SQLite keeps text in it too.
    wide: Vec<Shape>,
}

impl Texts {
    /// As far as what makes the attribute tells, whatever its columns hold.
    #[must_use]
    pub fn of(node: &Node) -> Self {
        Self::with(node, &TimeZone::UTC, &|_| {
            Domain::unknown("nothing is known of it")
        })
    }

    fn with(node: &Node, zone: &TimeZone, domain: &dyn Fn(&Placeholder) -> Domain) -> Self {
        Self {
            shapes: shapes(node, zone, &|placeholder| domain(placeholder).in_figures()),
            wide: shapes(node, zone, domain),
        }
    }

    /// Whether a key attribute can have this value, where numbers are written with figures.
    #[must_use]
    pub fn can_be(&self, value: &Attribute) -> bool {
        takes(&self.shapes, value)
    }

    /// Whether a key attribute can have this value, whatever SQLite keeps in columns of numbers.
    #[must_use]
    pub fn may_be(&self, value: &Attribute) -> bool {
        takes(&self.wide, value)
    }

    /// Whether two key attributes can have one text.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        meeting(&self.shapes, &other.shapes, &mut Work::one()) != Common::Nothing
    }
}

fn takes(shapes: &[Shape], value: &Attribute) -> bool {
    match value {
        Attribute::S(text) => shapes.iter().any(|shape| shape.takes(text)),
        Attribute::N(number) => shapes.iter().any(|shape| shape.takes(number.as_str())),
        // What bytes say is not known as text.
        _ => true,
    }
}

/// The texts of an item type's key attributes, partition key first.
pub(in crate::mapping) fn key_texts(subject: Subject<'_>) -> Vec<Texts> {
    let keys = subject.key().unwrap_or_default().into_iter();
    let domain = |placeholder: &Placeholder| {
        let domain = subject.domain(placeholder);
        let column = subject.facts.columns.get(placeholder.place.column);
        if column.is_some_and(|column| column.rowid) {
            return domain.in_figures();
        }
        domain
    };
    keys.map(|(_, node)| Texts::with(node, subject.time_zone, &domain))
        .collect()
}
