//! A mapping that was checked against a catalog: nothing in it can be invalid.
//!
//! Everything is compiled: a column is an index into the scan's row, a template a list of parts, a
//! filter a value with its arguments read. Folding a row looks nothing up by name.

mod pattern;
mod settings;
mod shown;
mod table;

pub use pattern::{
    AccessPattern, FilterExpression, Operand, Origin, Parameter, ParameterKind, SortCondition,
};
pub use settings::{Autoscale, Settings, StreamView, TableClass};
pub use table::{Billing, Index, KeyAttribute, KeyType, Projection, Table, Throughput};

use std::sync::Arc;

pub use super::proof::Texts;
use super::template::{Escape, Filter};
use crate::catalog::Family;
use crate::source::Scan;

/// A whole mapping.
#[derive(Debug, Clone)]
pub struct Model {
    /// The table to be made and filled.
    pub table: Table,
    /// The reads, in the order of the file; each serves one or more item types.
    pub passes: Vec<Pass>,
    /// The item types, in the order of the file.
    pub item_types: Vec<ItemType>,
    /// The access patterns, in the order of the file.
    pub patterns: Vec<AccessPattern>,
    /// What times without a zone mean when UTC is asked for.
    pub time_zone: jiff::tz::TimeZone,
}

impl Model {
    /// What is read of the source.
    pub fn scans(&self) -> Vec<&Scan> {
        self.passes.iter().map(|pass| &pass.scan).collect()
    }

    /// Whether any template uses a filter.
    #[must_use]
    pub fn uses(&self, filter: &Filter) -> bool {
        fn within(node: &Node, filter: &Filter) -> bool {
            let has = |template: &Template| {
                let mut placeholders = template.placeholders();
                placeholders.any(|placeholder| placeholder.filters.contains(filter))
            };
            let mut found = false;
            node.visit(&mut |node| {
                found |= match node {
                    Node::Template(template) => has(template),
                    Node::Embed(embed) => {
                        within(&embed.each, filter)
                            || matches!(&embed.gather, Gather::Map(key) if has(key))
                    }
                    _ => false,
                };
            });
            found
        }
        let attributes = self.item_types.iter().flat_map(|item| &item.attributes);
        attributes.into_iter().any(|(_, node)| within(node, filter))
    }
}

/// One read of one relation, for all the item types that come from it.
#[derive(Debug, Clone)]
pub struct Pass {
    /// What is asked of the source.
    pub scan: Scan,
    /// How people call the relation, as the mapping writes it.
    pub name: String,
    /// Indices into [`Model::item_types`].
    pub item_types: Vec<usize>,
    /// Whether two readings of it may differ though no table of the snapshot has changed: SQL may ask for
    /// the time, and a view may; some tables have no snapshots.
    pub fickle: bool,
}

/// One item type.
#[derive(Debug, Clone)]
pub struct ItemType {
    /// Its name in the mapping.
    pub name: Arc<str>,
    /// Index into [`Model::passes`].
    pub pass: usize,
    /// Index into the row of the boolean that says whether the row meets this type's `where`.
    pub condition: Option<usize>,
    /// What tells source rows apart in messages: column names and indices into the row.
    pub row_key: Vec<(Arc<str>, usize)>,
    /// The arrays of which each element makes an item, from the outermost on.
    pub explodes: Vec<Explode>,
    /// The attributes, the table's key first, then the type attribute, columns, and the rest.
    pub attributes: Vec<(Arc<str>, Node)>,
    /// Documents whose members become attributes too.
    pub spreads: Vec<Place>,
    /// Whether NULL columns are written as DynamoDB NULL instead of being left out.
    pub keep_nulls: bool,
    /// What becomes of rows whose items have expired already.
    pub expired: Expired,
    /// Attributes that are compressed, in this order and as many as are needed, where an item is
    /// too large; none where such an item is rejected.
    pub compress: Vec<Arc<str>>,
    /// The texts that its items' keys can have, partition key first.
    pub key_texts: Vec<Texts>,
    /// Writes a second at peak in production, above zero; `None` where the mapping does not say.
    pub write_rate: Option<f64>,
}

/// What becomes of a row whose item has expired when the run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expired {
    /// It is loaded like any other.
    #[default]
    Load,
    /// It is left out and counted.
    Skip,
    /// Its item goes to the archive file instead of the table.
    Archive,
}

impl ItemType {
    /// Whether nothing tells its source rows apart: what they are read from has no key.
    #[must_use]
    pub fn is_keyless(&self) -> bool {
        self.key_columns() == 0
    }

    /// How many columns of the row key are the row's own; behind them come the positions of
    /// elements.
    #[must_use]
    pub fn key_columns(&self) -> usize {
        let position = |at: usize| self.explodes.iter().any(|explode| explode.index == at);
        let columns = self.row_key.iter().take_while(|(_, at)| !position(*at));
        columns.count()
    }

    /// The places of the embeds in the row.
    #[must_use]
    pub fn embeds(&self) -> Vec<usize> {
        let mut found = Vec::new();
        for (_, node) in &self.attributes {
            node.visit(&mut |node| {
                if let Node::Embed(embed) = node {
                    found.push(embed.column);
                }
            });
        }
        found
    }
}

/// An array of which each element makes an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explode {
    /// The array.
    pub array: Place,
    /// The place of the row that takes the element.
    pub element: usize,
    /// The place of the row that takes its position, from 0.
    pub index: usize,
}

/// What an attribute is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A template.
    Template(Template),
    /// A constant that is not text: a number or a boolean written plain in the YAML.
    Constant(crate::item::Attribute),
    /// A nested map.
    Map {
        /// The members.
        members: Vec<(Arc<str>, Node)>,
        /// Documents whose members become members too.
        spreads: Vec<Place>,
    },
    /// A nested list.
    List(Vec<Node>),
    /// A value that is there only where a condition holds.
    When {
        /// Index into the row of the boolean.
        flag: usize,
        /// The value.
        value: Box<Node>,
    },
    /// A value that must be of one DynamoDB type.
    Typed {
        /// The type.
        wanted: DynamoType,
        /// The value.
        value: Box<Node>,
    },
    /// Children.
    Embed(Box<EmbedNode>),
}

/// DynamoDB's types, but for NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DynamoType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
    /// Boolean.
    Bool,
    /// String set.
    Ss,
    /// Number set.
    Ns,
    /// Binary set.
    Bs,
    /// List.
    L,
    /// Map.
    M,
}

impl DynamoType {
    /// DynamoDB's word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::N => "N",
            Self::B => "B",
            Self::Bool => "BOOL",
            Self::Ss => "SS",
            Self::Ns => "NS",
            Self::Bs => "BS",
            Self::L => "L",
            Self::M => "M",
        }
    }
}

/// Children inside their parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedNode {
    /// The place in the row of the children, a list of their rows.
    pub column: usize,
    /// What becomes of each; its places are those of a child's row.
    pub each: Node,
    /// What they stand in.
    pub gather: Gather,
    /// How the mapping calls the child table.
    pub written: Arc<str>,
}

/// What children stand in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gather {
    /// A list, empty without children.
    List,
    /// A set, absent without children.
    Set,
    /// A map, empty without children, whose members have names made by this template.
    Map(Template),
}

impl Node {
    /// Visits this node and those within it that see the same row: not those of children.
    pub fn visit<'n>(&'n self, visitor: &mut dyn FnMut(&'n Self)) {
        visitor(self);
        match self {
            Self::Template(_) | Self::Constant(_) | Self::Embed(_) => {}
            Self::Map { members, .. } => members.iter().for_each(|(_, node)| node.visit(visitor)),
            Self::List(nodes) => nodes.iter().for_each(|node| node.visit(visitor)),
            Self::When { value, .. } | Self::Typed { value, .. } => value.visit(visitor),
        }
    }
}

/// A compiled template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The parts in order. A template of exactly one [`Part::Value`] keeps the value's type;
    /// any other makes text.
    pub parts: Vec<Part>,
}

impl Template {
    /// The values that the template takes, those of optional segments included.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        let parts = self.parts.iter().flat_map(|part| match part {
            Part::Optional(inner) => inner.as_slice(),
            part => std::slice::from_ref(part),
        });
        parts.filter_map(|part| match part {
            Part::Value(placeholder) => Some(placeholder),
            _ => None,
        })
    }

    /// The values that must not be NULL.
    pub fn mandatory(&self) -> impl Iterator<Item = &Placeholder> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(placeholder) => Some(placeholder),
            _ => None,
        })
    }

    /// The text that every value of this template begins with, and whether that is all of it.
    #[must_use]
    pub fn prefix(&self) -> (&str, bool) {
        match self.parts.as_slice() {
            [] => ("", true),
            [Part::Text(text)] => (text, true),
            [Part::Text(text), ..] => (text, false),
            _ => ("", false),
        }
    }

    /// The kind of value that comes out.
    #[must_use]
    pub fn family(&self) -> Family {
        match self.parts.as_slice() {
            [Part::Value(placeholder)] => placeholder.family,
            _ => Family::Text,
        }
    }
}

/// A part of a compiled template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text that stands for itself.
    Text(String),
    /// A value from the row.
    Value(Placeholder),
    /// An optional segment: left out, with all later ones, from the first whose value is NULL.
    Optional(Vec<Part>),
}

/// A value from the row, through filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    /// Where the value stands.
    pub place: Place,
    /// The filters, in order.
    pub filters: Vec<Filter>,
    /// What kind of value comes out, as far as the column's type and the filters tell.
    pub family: Family,
    /// What is escaped in its text, after all filters: see `key_escape`.
    pub escape: Option<Arc<Escape>>,
}

impl Placeholder {
    /// Whether a filter puts something for NULL.
    #[must_use]
    pub fn replaces_null(&self) -> bool {
        let replaces =
            |filter: &Filter| matches!(filter, Filter::Default(_) | Filter::Present { .. });
        self.filters.iter().any(replaces)
    }
}

/// Where a value stands: a column, or a member of a document in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Index into the row.
    pub column: usize,
    /// Members to go down into, for documents and composites.
    pub path: Vec<Arc<str>>,
    /// How the mapping writes it: `id`, `s.service`, `setting.color`.
    pub written: Arc<str>,
    /// Whether what stands there is text that holds JSON, of `explode` and `$spread`.
    pub is_json: bool,
}
