//! Which item types an access pattern finds.
//!
//! Two questions, with two measures. A pattern *cannot* find an item type if no text at all fits
//! both, whatever the parameters and the columns hold. It *also* finds an item type if that is so
//! with ordinary values, which hold none of the marks that the templates set between values: else
//! every text could be in every other.

use dynafold_dynamodb::{Attribute, KeyAttribute, KeyType};

use super::apart::{begin_apart, beginning};
use super::domain::Domain;
use super::facts::ProofSubject;
use super::forms::{KnownTemplate, TextShape};
use super::meet::{CommonText, ProofBudget, meeting};
use super::text::literal;
use crate::model::{AttributeNode, Placeholder, SortCondition, Template, TemplatePart};

/// A key attribute that an item must have, with what an access pattern asks of it.
pub(crate) type KeyCondition<'a> = (&'a KeyAttribute, Option<SortCondition>);

/// Whether an access pattern finds an item type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reachability {
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
pub(crate) fn reach(
    subject: ProofSubject<'_>,
    conditions: &[KeyCondition<'_>],
    work: &mut ProofBudget,
) -> Reachability {
    let mut reach = Reachability::Yes;
    for (key, condition) in conditions {
        let Some(node) = subject.item.node(&key.name) else {
            if subject.item.spreads.is_empty() {
                return Reachability::Never;
            }
            continue;
        };
        let Some(condition) = condition.as_ref().filter(|_| key.key_type == KeyType::S) else {
            continue;
        };
        let node = node.inner();
        let is_apart = begin_apart(asked_beginning(condition), beginning(node));
        if is_apart || is_outside(condition, node) {
            return Reachability::Never;
        }
        if work.is_used_up() {
            reach = Reachability::Unknown;
            continue;
        }
        let Some(sides) = sides(subject, node, condition) else {
            continue;
        };
        match work.ask(|part| sides.map(|(asked, made)| meeting(&asked, &made, part))) {
            [CommonText::Nothing, _] => return Reachability::Never,
            [CommonText::Text(_), CommonText::Text(_)] => {}
            [CommonText::Text(_), CommonText::Nothing] if reach == Reachability::Yes => {
                reach = Reachability::Barely;
            }
            [CommonText::Text(_), CommonText::Nothing] => {}
            _ => reach = Reachability::Unknown,
        }
    }
    reach
}

/// The text that every value begins with which is asked for.
fn asked_beginning(condition: &SortCondition) -> &str {
    match condition {
        SortCondition::Is(template) | SortCondition::BeginsWith(template) => template.prefix().0,
        SortCondition::Between(low, high) => {
            let (low, high) = (low.prefix().0, high.prefix().0);
            let mut both = low.char_indices().zip(high.chars());
            let apart = both.find(|((_, a), b)| a != b);
            let end = apart.map_or(low.len().min(high.len()), |((at, _), _)| at);
            low.get(..end).unwrap_or_default()
        }
        _ => "",
    }
}

/// Whether every value of a key attribute is below or above all values of a range. DynamoDB compares UTF-8 bytes, as `str` does.
fn is_outside(condition: &SortCondition, node: &AttributeNode) -> bool {
    let (made, is_made_whole) = node.template().map_or(("", false), Template::prefix);
    let mut bounds = condition.bounds().into_iter();
    bounds.any(|bound| match bound.template.prefix() {
        (high, is_whole) if bound.is_upper => made > high && (is_whole || !made.starts_with(high)),
        (low, _) => made < low && (is_made_whole || !low.starts_with(made)),
    })
}

/// The texts that are asked for, with those that are made: all of them, and the ordinary ones.
fn sides(
    subject: ProofSubject<'_>,
    node: &AttributeNode,
    condition: &SortCondition,
) -> Option<[(Vec<TextShape>, Vec<TextShape>); 2]> {
    let bounds = Template { parts: Vec::new() };
    let (asked, open) = match condition {
        SortCondition::Is(template) => (template, false),
        SortCondition::BeginsWith(template) => (template, true),
        SortCondition::Between(..) => (&bounds, true),
        _ => return None,
    };
    let parameter = |_: &Placeholder| Domain::unknown("a parameter");
    let asked = KnownTemplate::new(asked, subject.time_zone, &parameter);
    let mut marks = marks(asked.template);
    let (made, plainly_made) = match node {
        AttributeNode::Template(template) => {
            let known = subject.known(template);
            marks.push_str(&self::marks(template));
            let plain = known.clone().without(&marks);
            (known.shapes, plain)
        }
        AttributeNode::Constant(Attribute::N(number)) => {
            let shape = vec![TextShape::of(&literal(number.as_str()))];
            (shape.clone(), shape)
        }
        _ => return None,
    };
    let (all, plain) = match condition {
        SortCondition::Between(..) => {
            let shape = vec![TextShape::of(&literal(asked_beginning(condition)))];
            (shape.clone(), shape)
        }
        _ => (asked.shapes.clone(), asked.without(&marks)),
    };
    Some([(all, made), (plain, plainly_made)].map(|(asked, made)| {
        let asked = asked.into_iter();
        let asked = asked.map(|shape| if open { shape.open() } else { shape });
        (asked.collect(), made)
    }))
}

/// What a template sets between values: letters of its text that are none of a word's.
fn marks(template: &Template) -> String {
    let texts = template.parts.iter().filter_map(|part| match part {
        TemplatePart::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let all = texts.flat_map(str::chars);
    all.filter(|c| !c.is_alphanumeric()).collect()
}
