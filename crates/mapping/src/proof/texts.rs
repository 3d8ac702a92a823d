//! The texts that a key attribute of an item type can have: what tells its items from those of others.

use std::collections::HashSet;

use dynafold_dynamodb::Attribute;
use jiff::tz::TimeZone;

use super::domain::Domain;
use super::exact::Exact;
use super::facts::{ColumnFact, Subject};
use super::forms::{Piece, Shape, shapes};
use super::letters::Letters;
use super::meet::{Common, Work, meeting};
use crate::model::{Node, Placeholder, Template};

/// The texts that a key attribute of an item type can have; more perhaps, never less.
#[derive(Debug, Clone)]
pub struct Texts {
    /// Where a number is written with figures.
    narrow: Known,
    /// With all that a column of numbers may hold: SQLite keeps text in it too.
    wide: Known,
    /// Whether more is known of it than its form.
    is_clear: bool,
}

#[derive(Debug, Clone)]
struct Known {
    shapes: Vec<Shape>,
    /// Of each value which texts of its forms it has.
    exact: Vec<Exact>,
}

impl Texts {
    /// As far as what makes the attribute tells, whatever its columns hold.
    #[must_use]
    pub fn of(node: &Node) -> Self {
        Self::with(node, &TimeZone::UTC, &|_| {
            (Domain::unknown("nothing is known of it"), None)
        })
    }

    /// `of`: what is known of a placeholder's value, and its column where it is all of one.
    fn with<'t>(
        node: &Node,
        zone: &TimeZone,
        of: &dyn Fn(&Placeholder) -> (Domain, Option<&'t ColumnFact>),
    ) -> Self {
        let known = |domain: &dyn Fn(&Placeholder) -> Domain| Known {
            shapes: shapes(node, zone, domain),
            exact: node.template().map_or(Vec::new(), |template| {
                let exact = |one: &Placeholder| Exact::of(one, &domain(one), of(one).1);
                template.placeholders().map(exact).collect()
            }),
        };
        let is_unclear = |one: &Placeholder| of(one).1.is_some_and(|column| column.unclear);
        let mut values = node.template().into_iter().flat_map(Template::placeholders);
        Self {
            narrow: known(&|placeholder| of(placeholder).0.in_figures()),
            wide: known(&|placeholder| of(placeholder).0),
            is_clear: !values.any(is_unclear),
        }
    }

    /// Whether no value of it is of a type whose texts only the database knows.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        self.is_clear
    }

    /// Whether a key attribute can have this value, where numbers are written with figures.
    #[must_use]
    pub fn can_be(&self, value: &Attribute) -> bool {
        self.narrow.takes(value)
    }

    /// Whether a key attribute can have this value, whatever SQLite keeps in columns of numbers.
    #[must_use]
    pub fn may_be(&self, value: &Attribute) -> bool {
        self.wide.takes(value)
    }

    /// Whether two key attributes can have one text.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let (own, theirs) = (&self.narrow.shapes, &other.narrow.shapes);
        meeting(own, theirs, &mut Work::one()) != Common::Nothing
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
            let mut reading = Reading {
                pieces: &shape.pieces,
                text,
                exact: &self.exact,
                failed: HashSet::new(),
            };
            reading.fits(0, 0, 0)
        })
    }
}

/// A text that is read as one of a shape.
struct Reading<'r> {
    pieces: &'r [Piece],
    text: &'r str,
    exact: &'r [Exact],
    /// What does not fit: each is looked at once.
    failed: HashSet<(usize, usize, usize)>,
}

impl Reading<'_> {
    /// Whether the text from `at` on fits the pieces from `place` on. `begun`: where the value began.
    fn fits(&mut self, place: usize, at: usize, begun: usize) -> bool {
        let Some(piece) = self.pieces.get(place) else {
            return at == self.text.len();
        };
        if self.failed.contains(&(place, at, begun)) {
            return false;
        }
        let letter = self.text.get(at..).and_then(|rest| rest.chars().next());
        let behind = |letters: &Letters| {
            let letter = letter.filter(|letter| letters.allows(*letter));
            letter.map(|letter| at + letter.len_utf8())
        };
        let fits = match piece {
            Piece::Begin(_) => self.fits(place + 1, at, at),
            Piece::End(number) => {
                let value = self.text.get(begun..at).unwrap_or_default();
                let exact = self.exact.get(*number);
                exact.is_none_or(|exact| exact.allows(value)) && self.fits(place + 1, at, 0)
            }
            Piece::One(letters, _) => {
                behind(letters).is_some_and(|behind| self.fits(place + 1, behind, begun))
            }
            Piece::Many(letters, _) => {
                self.fits(place + 1, at, begun)
                    || behind(letters).is_some_and(|behind| self.fits(place, behind, begun))
            }
        };
        if !fits {
            self.failed.insert((place, at, begun));
        }
        fits
    }
}

/// The texts of an item type's key attributes, partition key first.
pub(crate) fn key_texts(subject: Subject<'_>) -> Vec<Texts> {
    let keys = subject.key().unwrap_or_default().into_iter();
    let known = |placeholder: &Placeholder| {
        let domain = subject.domain(placeholder);
        let column = subject.facts.columns.get(placeholder.place.column);
        if column.is_some_and(|column| column.rowid) {
            return (domain.in_figures(), column);
        }
        (domain, column.filter(|_| placeholder.place.path.is_empty()))
    };
    keys.map(|(_, node)| Texts::with(node, subject.time_zone, &known))
        .collect()
}
