//! How large an item and its keys can be, by the limits of columns, and what writing one costs.

use dynafold_dynamodb::{KeyAttribute, KeyType, MAX_ITEM_BYTES, max_key_bytes, write_units};
use dynafold_relational::catalog::DataType;
use dynafold_relational::value::Value;

use super::domain::ValueKind;
use super::facts::ProofSubject;
use super::forms::{KnownTemplate, TextShape, ValueUse};
use super::indexes::{conditions, key_attributes};
use super::{KeySize, SizeProof, Writes};
use crate::diagnostic::Code;
use crate::model::{AttributeNode, Template, TemplatePart, ValuePath};
use crate::scalar::quoted;
use crate::template::{Filter, canonical};

/// Most bytes of a number: a sign, 38 digits two in a byte, one for each side of the point, one more.
const NUMBER: usize = 22;
/// Columns that are named where an item can grow too large.
const NAMED_COLUMNS: usize = 3;

/// Bytes with what they come from.
#[derive(Debug, Default, Clone)]
struct TracedBytes {
    bytes: usize,
    without_limit: Vec<String>,
    /// Columns with their bytes.
    columns: Vec<(String, usize)>,
}

impl TracedBytes {
    fn of(bytes: usize) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }

    fn unlimited(what: impl Into<String>) -> Self {
        Self {
            without_limit: vec![what.into()],
            ..Self::default()
        }
    }

    fn column(written: &str, bytes: Option<usize>) -> Self {
        match bytes {
            None => Self::unlimited(format!("`{written}`")),
            Some(bytes) => Self {
                bytes,
                columns: vec![(format!("`{written}`"), bytes)],
                ..Self::default()
            },
        }
    }

    fn and(mut self, other: Self) -> Self {
        self.bytes = self.bytes.saturating_add(other.bytes);
        for what in other.without_limit {
            if !self.without_limit.contains(&what) {
                self.without_limit.push(what);
            }
        }
        self.columns.extend(other.columns);
        self
    }

    fn most(&self) -> Option<usize> {
        self.without_limit.is_empty().then_some(self.bytes)
    }
}

/// Most bytes of an attribute that carries a column as it is, its name left out.
pub(crate) fn column_bytes(data_type: &DataType, text: Option<usize>) -> Option<usize> {
    match data_type {
        DataType::Integer { bits, unsigned } => {
            let digits = match bits {
                0..=8 => 3,
                9..=16 => 5,
                17..=32 => 10,
                _ => 20_usize,
            };
            Some(1 + digits.div_ceil(2) + usize::from(!unsigned))
        }
        DataType::Decimal {
            precision: Some(precision),
            ..
        } => usize::try_from(*precision)
            .ok()
            .map(|digits| NUMBER.min(3 + digits.div_ceil(2) + 1)),
        DataType::Decimal { .. } | DataType::Float { .. } => Some(NUMBER),
        DataType::Boolean => Some(1),
        _ => text,
    }
}

/// How large an item of an item type can be, and what writing it costs.
pub(crate) fn size(subject: ProofSubject<'_>) -> SizeProof {
    let table = subject.table;
    let whole = weight(subject, &|_| true);
    let mut writes = Writes {
        indexes: Vec::new(),
        sparse_indexes: Vec::new(),
        least_units: 1,
        most_units: whole.most().map(write_units),
    };
    for index in table.all_indexes() {
        let Some(conditions) = conditions(subject, index) else {
            continue;
        };
        if conditions.is_empty() {
            writes.indexes.push(index.name.clone());
            writes.least_units += 1;
        } else {
            writes.sparse_indexes.push(index.name.clone());
        }
        let held = weight(subject, &|name| table.projects(index, name));
        let units = held.most().map(write_units);
        writes.most_units = writes.most_units.zip(units).map(|(all, more)| all + more);
    }
    let most_bytes = whole.most();
    let mut largest = Vec::new();
    if most_bytes.is_some_and(|most| most > MAX_ITEM_BYTES) {
        largest = heaviest(whole.columns);
    }
    SizeProof {
        item_type: subject.item.name.to_string(),
        most_bytes,
        without_limit: whole.without_limit,
        largest,
        keys: key_sizes(subject),
        writes,
    }
}

fn key_sizes(subject: ProofSubject<'_>) -> Vec<KeySize> {
    let keys = key_attributes(subject.table).into_iter();
    let sizes = keys.filter_map(|(key, is_sort)| {
        let template = subject.item.template(&key.name);
        let template = template.filter(|_| key.key_type == KeyType::S)?;
        let text = text_bytes(&subject.known(template));
        Some(KeySize {
            attribute: key.name.to_string(),
            bytes: text.bytes,
            without_limit: text.without_limit,
            allowed: max_key_bytes(is_sort),
        })
    });
    sizes.collect()
}

fn weight(subject: ProofSubject<'_>, wanted: &dyn Fn(&str) -> bool) -> TracedBytes {
    let attributes = subject.item.attributes.iter();
    let held = attributes.filter(|(name, _)| wanted(name));
    let held = held.map(|(name, node)| TracedBytes::of(name.len()).and(value(subject, node)));
    let spreads = subject.item.spreads.iter().map(spread);
    held.chain(spreads)
        .fold(TracedBytes::default(), TracedBytes::and)
}

fn spread(place: &ValuePath) -> TracedBytes {
    TracedBytes::column(&place.written, None)
}

fn value(subject: ProofSubject<'_>, node: &AttributeNode) -> TracedBytes {
    match node {
        AttributeNode::Template(template) => of_template(subject, template),
        AttributeNode::Constant(constant) => TracedBytes::of(constant.size()),
        AttributeNode::Map { members, spreads } => {
            let members = members
                .iter()
                .map(|(name, node)| TracedBytes::of(name.len() + 1).and(value(subject, node)));
            members
                .chain(spreads.iter().map(spread))
                .fold(TracedBytes::of(3), TracedBytes::and)
        }
        AttributeNode::List(nodes) => nodes
            .iter()
            .map(|node| TracedBytes::of(1).and(value(subject, node)))
            .fold(TracedBytes::of(3), TracedBytes::and),
        AttributeNode::When { value: inner, .. } | AttributeNode::Typed { value: inner, .. } => {
            value(subject, inner)
        }
        AttributeNode::Embed(embed) => {
            TracedBytes::unlimited(format!("the rows of {}", embed.written))
        }
    }
}

fn of_template(subject: ProofSubject<'_>, template: &Template) -> TracedBytes {
    let known = subject.known(template);
    if let ([TemplatePart::Value(placeholder)], [only]) =
        (template.parts.as_slice(), known.uses.as_slice())
    {
        let column = placeholder.plain_column();
        let bytes = match column.and_then(|at| subject.facts.columns.get(at)) {
            Some(column) => column.bytes,
            None => match only.domain.kind {
                ValueKind::Number => Some(NUMBER),
                ValueKind::Boolean => Some(1),
                _ => only.domain.bytes,
            },
        };
        // A constant of a filter keeps its own type, and NULL may be written as such.
        let constants = placeholder.filters.iter().filter_map(largest_constant);
        let least = constants.max().unwrap_or_default().max(1);
        let bytes = bytes.map(|bytes| bytes.max(least));
        return TracedBytes::column(&placeholder.place.written, bytes);
    }
    text_bytes(&known)
}

/// Most bytes of a template's text: its values one after the other, and the text between them.
fn text_bytes(known: &KnownTemplate<'_>) -> TracedBytes {
    let values = known
        .uses
        .iter()
        .map(|each| TracedBytes::column(&each.placeholder.place.written, escaped(each)));
    values.fold(TracedBytes::of(literals(known.template)), TracedBytes::and)
}

/// Bytes of the largest constant that a filter may put in a value's place.
fn largest_constant(filter: &Filter) -> Option<usize> {
    let size = |value: &Value| match value {
        Value::Number(number) => number.size(),
        value => canonical(value).map_or(1, str::len),
    };
    filter.constants().into_iter().map(size).max()
}

/// Escaping makes three bytes of one at worst.
fn escaped(each: &ValueUse<'_>) -> Option<usize> {
    let times = if each.placeholder.escape.is_some() {
        3
    } else {
        1
    };
    each.domain.bytes.map(|bytes| bytes.saturating_mul(times))
}

fn literals(template: &Template) -> usize {
    let length = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => text.len(),
        _ => 0,
    };
    template.flat().into_iter().map(length).sum()
}

/// What the text of a key attribute may be that DynamoDB refuses, by the limits of columns: empty, or too long. Each with
/// its code, what is wrong and how to mend it. Columns without a limit are not told of.
pub(crate) fn refused(
    subject: ProofSubject<'_>,
    key: &KeyAttribute,
    is_sort: bool,
    is_never_empty: bool,
) -> Vec<(Code, String, String)> {
    let (mut refused, name) = (Vec::new(), &key.name);
    let template = subject.item.template(&key.name);
    let Some(template) = template.filter(|_| key.key_type == KeyType::S) else {
        return refused;
    };
    let known = subject.known(template);
    if let Some(text) = known.uses.first()
        && known.shapes.iter().any(TextShape::may_be_empty)
        && !text.placeholder.is_redacted()
        && !is_never_empty
    {
        let column = &text.placeholder.place.written;
        let message = format!(
            "if `{column}` is empty text, the key `{name}` is empty and DynamoDB refuses the item: the row is rejected"
        );
        let help = if subject.table.is_key(name) {
            format!("put text around it, or leave such rows out: where: {column} <> ''")
        } else {
            format!(
                "put text around it, or leave such rows out of the index with this under `attributes`: {name}: {{ $value: {}, $when: \"{column} <> ''\" }}",
                quoted(&text.placeholder.to_string())
            )
        };
        refused.push((Code::EmptyKey, message, help));
    }
    let (text, most) = (text_bytes(&known), max_key_bytes(is_sort));
    if let Some(bytes) = text.most().filter(|bytes| *bytes > most) {
        let message = format!(
            "the key `{name}` may have {bytes} bytes by its columns' limits; DynamoDB allows {most}"
        );
        let columns = heaviest(text.columns).join(", ");
        let help = format!(
            "shorten {columns} with `truncate(n)`, or leave it out; a longer key rejects its row"
        );
        refused.push((Code::LongKey, message, help));
    }
    refused
}

fn heaviest(mut columns: Vec<(String, usize)>) -> Vec<String> {
    columns.sort_by(|(_, a), (_, b)| b.cmp(a));
    columns.truncate(NAMED_COLUMNS);
    columns.into_iter().map(|(name, _)| name).collect()
}
