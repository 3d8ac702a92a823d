//! Which pairs of item types may have one key.
//!
//! Pairs of which a key attribute begins with different texts are apart: they are counted, not gone through. The others
//! are compared, as far as the work allows that is given to it.

use std::collections::HashMap;
use std::rc::Rc;

use super::facts::ProofSubject;
use super::forms::{TextShape, shapes};
use super::meet::{CommonText, ProofBudget, meeting};
use crate::model::{AttributeNode, Placeholder};

/// Pairs that are compared at most. Each has a claim: people read fewer.
pub(crate) const MOST_PAIRS: usize = 20_000;

/// What keeps two item types apart whose keys may begin with one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ApartReason {
    /// A key attribute has no text in common, for this reason.
    Form(String),
    /// Nothing: both make a key such as this.
    Not(String),
    /// It is not known: their templates are too large.
    Unknown,
}

/// Every pair of item types.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    /// How many have a key attribute that begins with different texts.
    pub by_beginning: usize,
    /// The others, by their places, the earlier item type first.
    pub compared: Vec<([usize; 2], ApartReason)>,
    /// How many of the others were not compared.
    pub left: usize,
}

impl Pairs {
    /// The pairs that nothing keeps apart as far as is known; `None` where some were not compared.
    pub(crate) fn unproved(&self) -> Option<Vec<[usize; 2]>> {
        let is_open = |apart: &ApartReason| !matches!(apart, ApartReason::Form(_));
        let open = self.compared.iter().filter(|(_, apart)| is_open(apart));
        (self.left == 0).then(|| open.map(|(pair, _)| *pair).collect())
    }
}

/// Compares the keys of item types; those of a faulty one are left out.
pub(crate) fn pairs(subjects: &[ProofSubject<'_>]) -> Pairs {
    let keys = subjects.iter().enumerate().filter_map(|(place, subject)| {
        let domain = |placeholder: &Placeholder| subject.domain(placeholder);
        let attributes = subject.key()?.into_iter();
        let attributes = attributes.map(|(name, node)| TypeKeyAttribute {
            name,
            node,
            beginning: beginning(node),
            shapes: shapes(node, subject.time_zone, &domain).into(),
        });
        let attributes = attributes.collect();
        Some(TypeKeys { place, attributes })
    });
    let keys: Vec<TypeKeys<'_>> = keys.collect();
    let attributes = keys.first().map_or(0, |keys| keys.attributes.len());
    let orders = (0..attributes).map(|attribute| Order::new(&keys, attribute));
    let Some(order) = orders.min_by_key(Order::count) else {
        return Pairs::default();
    };
    let mut pairs = Pairs {
        by_beginning: keys.len() * keys.len().saturating_sub(1) / 2,
        ..Pairs::default()
    };
    let mut compare = Compare {
        found: HashMap::new(),
        work: ProofBudget::all(),
    };
    order.walk(&mut |before, later| {
        for (_, earlier) in before {
            let mut beginnings = earlier.attributes.iter().zip(&later.attributes);
            if beginnings.any(|(a, b)| begin_apart(a.beginning, b.beginning)) {
                continue;
            }
            pairs.by_beginning -= 1;
            if pairs.compared.len() == MOST_PAIRS || compare.work.is_used_up() {
                pairs.left += 1;
                continue;
            }
            let mut both = [*earlier, later];
            both.sort_by_key(|keys| keys.place);
            let [a, b] = both;
            let apart = compare.apart(&a.attributes, &b.attributes);
            pairs.compared.push(([a.place, b.place], apart));
        }
    });
    pairs.compared.sort_by_key(|([a, b], _)| (*b, *a));
    pairs
}

/// An item type's key attributes.
struct TypeKeys<'t> {
    place: usize,
    attributes: Vec<TypeKeyAttribute<'t>>,
}

/// An item type, behind the text that a key attribute of its begins with.
type SortedType<'k, 't> = (&'k str, &'k TypeKeys<'t>);

/// Item types in the order of these texts.
struct Order<'k, 't>(Vec<SortedType<'k, 't>>);

impl<'k, 't> Order<'k, 't> {
    fn new(keys: &'k [TypeKeys<'t>], attribute: usize) -> Self {
        let beginning = |keys: &'k TypeKeys<'t>| {
            let attribute = keys.attributes.get(attribute);
            attribute.map_or("", |attribute| attribute.beginning)
        };
        let mut sorted: Vec<_> = keys.iter().map(|keys| (beginning(keys), keys)).collect();
        sorted.sort_by_key(|(text, _)| *text);
        Self(sorted)
    }

    /// How many pairs there are of which one text begins with the other.
    fn count(&self) -> usize {
        let mut count = 0;
        self.walk(&mut |before, _| count += before.len());
        count
    }

    /// Hands over each item type with all before it whose text its own begins with.
    fn walk(&self, act: &mut dyn FnMut(&[SortedType<'k, 't>], &'k TypeKeys<'t>)) {
        let mut before: Vec<SortedType<'k, 't>> = Vec::new();
        for (text, keys) in &self.0 {
            while before
                .pop_if(|(last, _)| !text.starts_with(*last))
                .is_some()
            {}
            act(&before, keys);
            before.push((text, keys));
        }
    }
}

/// A key attribute of an item type.
struct TypeKeyAttribute<'t> {
    name: &'t str,
    node: &'t AttributeNode,
    /// The text that it begins with in every item.
    beginning: &'t str,
    shapes: Rc<[TextShape]>,
}

/// Compares pairs. Attributes whose templates make the same texts are compared once.
struct Compare {
    found: HashMap<[Rc<[TextShape]>; 2], CommonText>,
    work: ProofBudget,
}

impl Compare {
    fn apart(&mut self, a: &[TypeKeyAttribute<'_>], b: &[TypeKeyAttribute<'_>]) -> ApartReason {
        let mut example = Vec::new();
        let mut is_known = true;
        for (a, b) in a.iter().zip(b) {
            let name = a.name;
            match self.common(a, b) {
                CommonText::Text(meeting) => example.push(format!("{name} `{}`", meeting.text)),
                CommonText::Unknown => is_known = false,
                CommonText::Nothing => {
                    let (a, b) = (form(a.node), form(b.node));
                    return ApartReason::Form(format!("no {name} is both `{a}` and `{b}`"));
                }
            }
        }
        if is_known {
            ApartReason::Not(example.join(", "))
        } else {
            ApartReason::Unknown
        }
    }

    fn common(&mut self, a: &TypeKeyAttribute<'_>, b: &TypeKeyAttribute<'_>) -> &CommonText {
        let work = &mut self.work;
        let pair = [a.shapes.clone(), b.shapes.clone()];
        let found = self.found.entry(pair);
        found.or_insert_with(|| work.ask(|part| meeting(&a.shapes, &b.shapes, part)))
    }
}

/// The text that a key attribute begins with in every item.
pub(super) fn beginning(node: &AttributeNode) -> &str {
    node.template().map_or("", |template| template.prefix().0)
}

pub(super) fn begin_apart(a: &str, b: &str) -> bool {
    !a.starts_with(b) && !b.starts_with(a)
}

fn form(node: &AttributeNode) -> String {
    match node.inner() {
        AttributeNode::Template(template) => format!("{template:#}"),
        AttributeNode::Constant(dynafold_dynamodb::Attribute::N(number)) => number.to_string(),
        _ => "…".to_owned(),
    }
}
