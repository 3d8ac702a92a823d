//! Whether two item types may have one key.

use super::facts::Subject;
use super::forms::{Known, Shape};
use super::meet::meeting;
use super::text::literal;
use super::{World, written};
use crate::item::Attribute;
use crate::mapping::model::{Node, Table};

/// What keeps two item types apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mapping) enum Apart {
    /// A key attribute begins with different texts.
    Beginning,
    /// A key attribute has no text in common, for this reason.
    Form(String),
    /// Nothing: both make a key such as this.
    Not(String),
}

/// Compares the keys of two item types; `None` where one of them is faulty.
pub(in crate::mapping) fn apart(
    a: Subject<'_>,
    b: Subject<'_>,
    table: &Table,
    world: &World,
) -> Option<Apart> {
    let keys = a.key(table)?.into_iter().zip(b.key(table)?);
    let keys: Vec<_> = keys.collect();
    let by_beginning = keys
        .iter()
        .any(|((_, x), (_, y))| begin_apart(&beginning(x), &beginning(y)));
    if by_beginning {
        return Some(Apart::Beginning);
    }
    let mut example = Vec::new();
    for ((name, x), (_, y)) in keys {
        match meeting(&shapes(a, x, world), &shapes(b, y, world)) {
            Some(meeting) => example.push(format!("{name} `{}`", meeting.text)),
            None => {
                let because = format!("no {name} is both `{}` and `{}`", form(x), form(y));
                return Some(Apart::Form(because));
            }
        }
    }
    Some(Apart::Not(example.join(", ")))
}

/// The text that a key attribute begins with in every item.
fn beginning(node: &Node) -> String {
    match node {
        Node::Template(template) => template.prefix().0.to_owned(),
        _ => String::new(),
    }
}

fn begin_apart(a: &str, b: &str) -> bool {
    !a.starts_with(b) && !b.starts_with(a)
}

fn shapes(subject: Subject<'_>, node: &Node, world: &World) -> Vec<Shape> {
    match node {
        Node::Template(template) => {
            Known::new(template, world, &|placeholder| subject.domain(placeholder)).shapes
        }
        Node::Constant(Attribute::N(number)) => vec![Shape::of(&literal(number.as_str()))],
        _ => vec![Shape::default().open()],
    }
}

fn form(node: &Node) -> String {
    match node {
        Node::Template(template) => written(template),
        Node::Constant(Attribute::N(number)) => number.to_string(),
        _ => "…".to_owned(),
    }
}
