//! Which pairs of item types may have one key.
//!
//! Pairs of which a key attribute begins with different texts are apart: they are counted, not gone through. The others
//! are compared, as far as the work allows that is given to it.

use std::collections::HashMap;

use super::facts::Subject;
use super::forms::{Known, Shape};
use super::meet::{Common, Work, meeting};
use super::text::literal;
use super::{World, written};
use crate::item::Attribute;
use crate::mapping::model::{Node, Table};

/// Pairs that are compared at most. Each has a claim: people read fewer.
pub(in crate::mapping) const MOST_PAIRS: usize = 20_000;

/// What keeps two item types apart whose keys may begin with one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mapping) enum Apart {
    /// A key attribute has no text in common, for this reason.
    Form(String),
    /// Nothing: both make a key such as this.
    Not(String),
    /// It is not known: their templates are too large.
    Unknown,
}

/// Every pair of item types.
#[derive(Debug, Default)]
pub(in crate::mapping) struct Pairs {
    /// How many have a key attribute that begins with different texts.
    pub(in crate::mapping) by_beginning: usize,
    /// The others, by their places, the earlier item type first.
    pub(in crate::mapping) compared: Vec<([usize; 2], Apart)>,
    /// How many of the others were not compared.
    pub(in crate::mapping) left: usize,
}

/// Compares the keys of item types; those of a faulty one are left out.
pub(in crate::mapping) fn pairs(subjects: &[Subject<'_>], table: &Table, world: &World) -> Pairs {
    let keys = subjects.iter().enumerate().filter_map(|(place, subject)| {
        let nodes = subject.key(table)?.into_iter();
        let nodes = nodes.map(|(name, node)| (&**name, node)).collect();
        Some(Keys {
            place,
            subject: *subject,
            nodes,
        })
    });
    let keys: Vec<Keys<'_>> = keys.collect();
    let attributes = keys.first().map_or(0, |keys| keys.nodes.len());
    let orders = (0..attributes).map(|attribute| Order::new(&keys, attribute));
    let Some(order) = orders.min_by_key(Order::count) else {
        return Pairs::default();
    };
    let mut pairs = Pairs {
        by_beginning: keys.len() * keys.len().saturating_sub(1) / 2,
        ..Pairs::default()
    };
    let mut compare = Compare {
        world,
        classes: HashMap::new(),
        shapes: Vec::new(),
        known: HashMap::new(),
        found: HashMap::new(),
        work: Work::all(),
    };
    order.each(&mut |a, b| {
        let beginnings = a.nodes.iter().zip(&b.nodes);
        let mut beginnings = beginnings.map(|((_, x), (_, y))| (beginning(x), beginning(y)));
        if beginnings.any(|(x, y)| begin_apart(x, y)) {
            return;
        }
        pairs.by_beginning -= 1;
        if pairs.compared.len() == MOST_PAIRS || compare.work.is_used_up() {
            pairs.left += 1;
            return;
        }
        let [a, b] = if a.place < b.place { [a, b] } else { [b, a] };
        let apart = compare.apart(a, b);
        pairs.compared.push(([a.place, b.place], apart));
    });
    pairs.compared.sort_by_key(|([a, b], _)| (*b, *a));
    pairs
}

/// An item type's key attributes.
struct Keys<'t> {
    place: usize,
    subject: Subject<'t>,
    nodes: Vec<(&'t str, &'t Node)>,
}

/// An item type, behind the text that a key attribute of its begins with.
type Sorted<'k, 't> = (&'t str, &'k Keys<'t>);

/// Item types in the order of these texts.
struct Order<'k, 't> {
    sorted: Vec<Sorted<'k, 't>>,
}

impl<'k, 't> Order<'k, 't> {
    fn new(keys: &'k [Keys<'t>], attribute: usize) -> Self {
        let beginning = |keys: &Keys<'t>| {
            let node = keys.nodes.get(attribute);
            node.map_or("", |(_, node)| beginning(node))
        };
        let mut sorted: Vec<_> = keys.iter().map(|keys| (beginning(keys), keys)).collect();
        sorted.sort_by_key(|(text, _)| *text);
        Self { sorted }
    }

    fn count(&self) -> usize {
        let mut count = 0;
        self.walk(&mut |before, _| count += before.len());
        count
    }

    /// Hands over each pair of which one text begins with the other.
    fn each(&self, act: &mut dyn FnMut(&'k Keys<'t>, &'k Keys<'t>)) {
        self.walk(&mut |before, keys| before.iter().for_each(|(_, earlier)| act(earlier, keys)));
    }

    /// Hands over each item type with all before it whose text its own begins with.
    fn walk(&self, act: &mut dyn FnMut(&[Sorted<'k, 't>], &'k Keys<'t>)) {
        let mut before: Vec<(&str, &Keys<'_>)> = Vec::new();
        for (text, keys) in &self.sorted {
            while before
                .last()
                .is_some_and(|(last, _)| !text.starts_with(last))
            {
                before.pop();
            }
            act(&before, keys);
            before.push((text, keys));
        }
    }
}

/// Compares pairs. Item types whose templates make the same texts are compared once.
struct Compare<'w> {
    world: &'w World,
    classes: HashMap<Vec<Shape>, usize>,
    shapes: Vec<Vec<Shape>>,
    /// The class of each item type's key attributes.
    known: HashMap<usize, Vec<usize>>,
    found: HashMap<(usize, usize), Common>,
    work: Work,
}

impl Compare<'_> {
    fn apart(&mut self, a: &Keys<'_>, b: &Keys<'_>) -> Apart {
        let (x, y) = (self.classes_of(a), self.classes_of(b));
        let mut example = Vec::new();
        let mut is_known = true;
        for (((name, a), (_, b)), pair) in a.nodes.iter().zip(&b.nodes).zip(x.into_iter().zip(y)) {
            match self.common(pair) {
                Common::Text(meeting) => example.push(format!("{name} `{}`", meeting.text)),
                Common::Unknown => is_known = false,
                Common::Nothing => {
                    let because = format!("no {name} is both `{}` and `{}`", form(a), form(b));
                    return Apart::Form(because);
                }
            }
        }
        if is_known {
            Apart::Not(example.join(", "))
        } else {
            Apart::Unknown
        }
    }

    fn common(&mut self, pair: (usize, usize)) -> &Common {
        let (shapes, work) = (&self.shapes, &mut self.work);
        self.found.entry(pair).or_insert_with(|| {
            let (Some(a), Some(b)) = (shapes.get(pair.0), shapes.get(pair.1)) else {
                return Common::Unknown;
            };
            let mut part = work.part();
            let found = meeting(a, b, &mut part);
            work.give_back(&part);
            found
        })
    }

    fn classes_of(&mut self, keys: &Keys<'_>) -> Vec<usize> {
        if let Some(classes) = self.known.get(&keys.place) {
            return classes.clone();
        }
        let mut classes = Vec::new();
        for (_, node) in &keys.nodes {
            let shapes = shapes(keys.subject, node, self.world);
            let next = self.shapes.len();
            let class = *self.classes.entry(shapes).or_insert_with_key(|shapes| {
                self.shapes.push(shapes.clone());
                next
            });
            classes.push(class);
        }
        self.known.insert(keys.place, classes.clone());
        classes
    }
}

/// The text that a key attribute begins with in every item.
pub(super) fn beginning(node: &Node) -> &str {
    match node {
        Node::Template(template) => template.prefix().0,
        _ => "",
    }
}

pub(super) fn begin_apart(a: &str, b: &str) -> bool {
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
