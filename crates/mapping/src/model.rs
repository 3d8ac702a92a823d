//! A mapping that was checked against a catalog: nothing in it can be invalid.
//!
//! Everything is compiled: a column is an index into the scan's row, a template a list of parts, a
//! filter a value with its arguments read. Folding a row looks nothing up by name.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter, Result, Write as _};
use std::sync::Arc;

pub use super::proof::KeyTexts;
pub use super::template::{Placeholder, Template, TemplatePart, ValuePath};

use dynafold_dynamodb::{Attribute, DynamoType, KeyAttribute, Table};
use dynafold_relational::catalog::{TableName, TypeFamily};
use dynafold_relational::scan::Scan;
use dynafold_relational::value::TimeKind;

use super::template::Filter;

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
    /// What is summed on a schedule, in the order of the file.
    pub roll_ups: Vec<RollUp>,
    /// What the table holds, in the words of the mapping.
    pub description: Option<String>,
    /// What times without a zone mean when UTC is asked for.
    pub time_zone: jiff::tz::TimeZone,
}

impl Model {
    /// What is read of the source.
    #[must_use]
    pub fn scans(&self) -> Vec<&Scan> {
        self.passes.iter().map(|pass| &pass.scan).collect()
    }

    /// The tables of which row security may hide rows from the reader, each once.
    #[must_use]
    pub fn row_security(&self) -> BTreeSet<&str> {
        let tables = self.passes.iter().flat_map(|pass| &pass.row_security);
        tables.map(String::as_str).collect()
    }

    /// The `where` of an item type.
    #[must_use]
    pub fn condition(&self, item: &ItemType) -> Option<&str> {
        let scan = &self.passes.get(item.pass)?.scan;
        let at = item.condition?.checked_sub(scan.columns.len())?;
        scan.conditions.get(at).map(String::as_str)
    }

    /// Writes a second of each item type, where the mapping says them.
    #[must_use]
    pub fn write_rates(&self) -> Vec<Option<f64>> {
        let item_types = self.item_types.iter();
        item_types.map(|item_type| item_type.write_rate).collect()
    }

    /// Whether any template uses a filter.
    #[must_use]
    pub fn uses(&self, filter: &Filter) -> bool {
        fn within(node: &AttributeNode, filter: &Filter) -> bool {
            let has = |template: &Template| {
                let mut placeholders = template.placeholders();
                placeholders.any(|placeholder| placeholder.filters.contains(filter))
            };
            let mut found = false;
            node.visit(&mut |node| {
                found |= match node {
                    AttributeNode::Template(template) => has(template),
                    AttributeNode::Embed(embed) => {
                        within(&embed.each, filter)
                            || matches!(&embed.gather, ChildContainer::Map(key) if has(key))
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
    /// About how many rows it reads, where the database says so.
    pub estimated_rows: Option<u64>,
    /// The columns in which its table never has NULL.
    pub never_null: BTreeSet<String>,
    /// Whether its rows come from a view, a query or a table with row security, or are joined to one: a row that it does
    /// not return may be there still.
    pub selects: bool,
    /// The tables of which row security may hide rows from the reader, by the names that people write.
    pub row_security: Vec<String>,
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
    pub attributes: Vec<(Arc<str>, AttributeNode)>,
    /// Documents whose members become attributes too.
    pub spreads: Vec<ValuePath>,
    /// Whether NULL columns are written as DynamoDB NULL instead of being left out.
    pub keep_nulls: bool,
    /// What becomes of rows whose items have expired already.
    pub expired: Expired,
    /// Attributes that are compressed, in this order and as many as are needed, where an item is
    /// too large; none where such an item is rejected.
    pub compress: Vec<Arc<str>>,
    /// The texts that its items' keys can have, partition key first.
    pub key_texts: Vec<KeyTexts>,
    /// What it holds, in the words of the mapping.
    pub description: Option<String>,
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

/// What a scheduled function sums: the items of one type that are spread over shards, into one item for each key that they
/// share but for the shard. The function writes the sum into items that are there, and makes none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollUp {
    /// The item type that holds the sums.
    pub total: Arc<str>,
    /// The item type that is summed.
    pub of: Arc<str>,
    /// The attribute that holds the sum.
    pub attribute: Arc<str>,
    /// Whether it is the number of the items; otherwise the sum of their attribute of the same name.
    pub counts: bool,
    /// When, as the scheduler of AWS reads it: `rate(5 minutes)`.
    pub schedule: String,
    /// The attribute that tells the items of both types from all others, a text.
    pub mark: Arc<str>,
    /// What it is in the items that are summed.
    pub of_mark: String,
    /// Whether it only begins with that.
    pub begins: bool,
    /// What it is in the items that hold the sums.
    pub total_mark: String,
    /// Characters at the beginning and at the end of the partition key of an item that is summed, of which the key of its
    /// total has none.
    pub cut: [usize; 2],
    /// What the key of the total has in their places.
    pub around: [String; 2],
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

    /// What an attribute is made from.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&AttributeNode> {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|(other, _)| **other == *name);
        found.map(|(_, node)| node)
    }

    /// The template that an attribute is made from, whatever condition or type goes with it.
    #[must_use]
    pub fn template(&self, name: &str) -> Option<&Template> {
        self.node(name)?.template()
    }

    /// The places of the embeds in the row.
    #[must_use]
    pub fn embeds(&self) -> Vec<usize> {
        let mut found = Vec::new();
        for (_, node) in &self.attributes {
            node.visit(&mut |node| {
                if let AttributeNode::Embed(embed) = node {
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
    pub array: ValuePath,
    /// The place of the row that takes the element.
    pub element: usize,
    /// The place of the row that takes its position, from 0.
    pub index: usize,
}

/// What an attribute is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeNode {
    /// A template.
    Template(Template),
    /// A constant that is not text: a number or a boolean written plain in the YAML.
    Constant(dynafold_dynamodb::Attribute),
    /// A nested map.
    Map {
        /// The members.
        members: Vec<(Arc<str>, AttributeNode)>,
        /// Documents whose members become members too.
        spreads: Vec<ValuePath>,
    },
    /// A nested list.
    List(Vec<AttributeNode>),
    /// A value that is there only where a condition holds.
    When {
        /// Index into the row of the boolean.
        flag: usize,
        /// The value.
        value: Box<AttributeNode>,
    },
    /// A value that must be of one DynamoDB type.
    Typed {
        /// The type.
        wanted: DynamoType,
        /// The value.
        value: Box<AttributeNode>,
    },
    /// Children.
    Embed(Box<EmbedNode>),
}

/// Children inside their parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedNode {
    /// The place in the row of the children, a list of their rows.
    pub column: usize,
    /// What becomes of each; its places are those of a child's row.
    pub each: AttributeNode,
    /// What they stand in.
    pub gather: ChildContainer,
    /// How the mapping calls the child table.
    pub written: Arc<str>,
}

/// What children stand in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildContainer {
    /// A list, empty without children.
    List,
    /// A set, absent without children.
    Set,
    /// A map, empty without children, whose members have names made by this template.
    Map(Template),
}

impl AttributeNode {
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

    /// The places of the row that it takes, but for those of conditions and children.
    #[must_use]
    pub fn places(&self) -> Vec<&ValuePath> {
        let mut found = Vec::new();
        self.visit(&mut |node| match node {
            Self::Template(template) => found.extend(template.placeholders().map(|one| &one.place)),
            Self::Map { spreads, .. } => found.extend(spreads),
            _ => {}
        });
        found
    }

    /// The kind of value that it makes.
    #[must_use]
    pub fn family(&self) -> TypeFamily {
        match self {
            Self::Template(template) => template.family(),
            Self::Constant(Attribute::N(_)) => TypeFamily::Number,
            Self::Constant(Attribute::S(_)) => TypeFamily::Text,
            Self::Constant(_) => TypeFamily::Boolean,
            Self::Map { .. } => TypeFamily::Map,
            Self::List(_) => TypeFamily::List,
            Self::When { value, .. } => value.family(),
            Self::Typed { wanted, .. } => family_of(*wanted),
            Self::Embed(embed) => match embed.gather {
                ChildContainer::List => TypeFamily::List,
                ChildContainer::Set => TypeFamily::Set,
                ChildContainer::Map(_) => TypeFamily::Map,
            },
        }
    }

    /// The same; `None` when only the rows tell.
    pub(super) fn known_family(&self) -> Option<TypeFamily> {
        Some(self.family())
            .filter(|family| !matches!(family, TypeFamily::Any | TypeFamily::Document))
    }

    /// The letters of DynamoDB's type for what it makes, as far as they are known; `of` says them for a
    /// kind of value.
    pub fn type_name(&self, of: &dyn Fn(TypeFamily) -> &'static str) -> &'static str {
        match self {
            Self::When { value, .. } => value.type_name(of),
            Self::Typed { wanted, .. } => wanted.word(),
            node => of(node.family()),
        }
    }

    /// A node without what says when it is there and of which type it is.
    #[must_use]
    pub fn inner(&self) -> &Self {
        match self {
            Self::When { value, .. } | Self::Typed { value, .. } => value.inner(),
            node => node,
        }
    }

    /// The template that it is made from, whatever condition or type goes with it.
    #[must_use]
    pub fn template(&self) -> Option<&Template> {
        match self.inner() {
            Self::Template(template) => Some(template),
            _ => None,
        }
    }
}

/// The kind of value that a DynamoDB type holds.
pub(super) fn family_of(wanted: DynamoType) -> TypeFamily {
    match wanted {
        DynamoType::S => TypeFamily::Text,
        DynamoType::N => TypeFamily::Number,
        DynamoType::B => TypeFamily::Binary,
        DynamoType::Bool => TypeFamily::Boolean,
        DynamoType::Ss | DynamoType::Ns | DynamoType::Bs => TypeFamily::Set,
        DynamoType::L => TypeFamily::List,
        DynamoType::M => TypeFamily::Map,
    }
}

// Access patterns: what a table is asked, as it was checked.

/// An access pattern. Its templates are over parameters: [`ValuePath::column`] is an index into
/// [`AccessPattern::parameters`], or [`AccessPattern::SHARD`].
#[derive(Debug, Clone, PartialEq)]
pub struct AccessPattern {
    /// Its name in the mapping.
    pub name: Arc<str>,
    /// What it is for.
    pub description: Option<String>,
    /// The item types that are returned; empty where the mapping does not say.
    pub items: Vec<Arc<str>>,
    /// The index that is asked; the table itself without it.
    pub index: Option<Arc<str>>,
    /// The partition key attributes, each with what it equals.
    pub partition: Vec<(KeyAttribute, Template)>,
    /// Conditions on the first of the sort key attributes, in their order; all but the last are
    /// equalities.
    pub sort: Vec<(KeyAttribute, SortCondition)>,
    /// All sort key attributes of what is asked: the order in which items come.
    pub order: Vec<KeyAttribute>,
    /// Whether that order descends.
    pub descending: bool,
    /// What the caller gives.
    pub parameters: Vec<Parameter>,
    /// How many shards of the partition key are asked, each by a request of its own.
    pub shards: Option<u32>,
    /// Most items of an answer.
    pub limit: Option<u32>,
    /// What leaves items out after they were read.
    pub filter: Option<FilterExpression>,
    /// Whether reads are strongly consistent.
    pub consistent: bool,
    /// The relational query that it replaces.
    pub sql: Option<String>,
    /// Where values of parameters come from, as `params` says it; of those that the relational query
    /// alone has too.
    pub origins: Vec<(Arc<str>, ParameterOrigin)>,
    /// Attributes with the SQL columns that they are called otherwise.
    pub answer: Vec<(String, String)>,
    /// Requests a second at peak.
    pub rate: Option<f64>,
}

impl AccessPattern {
    /// The place of the shard's number, which no caller gives.
    pub const SHARD: usize = usize::MAX;

    /// Whether it names the table's whole key: one item at most can come back.
    #[must_use]
    pub fn is_whole_key(&self) -> bool {
        let equal = self
            .sort
            .iter()
            .filter(|(_, condition)| condition.is_equality());
        self.index.is_none() && equal.count() == self.order.len()
    }

    /// What is asked of each key attribute: how it is compared, and with what.
    pub fn conditions(
        &self,
    ) -> impl Iterator<Item = (&KeyAttribute, &'static str, Vec<&Template>)> {
        let partition = self.partition.iter();
        let partition = partition.map(|(key, template)| (key, "=", vec![template]));
        let sort = self.sort.iter();
        let sort = sort.map(|(key, asked)| (key, asked.operator(), asked.templates()));
        partition.chain(sort)
    }

    /// The templates of its key condition, each with the key attribute that it is held against.
    pub fn templates(&self) -> impl Iterator<Item = (&KeyAttribute, &Template)> {
        let conditions = self.conditions();
        conditions.flat_map(|(key, _, all)| all.into_iter().map(move |one| (key, one)))
    }

    /// The values that its key condition takes.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.templates()
            .flat_map(|(_, template)| template.placeholders())
    }
}

/// What is asked of a sort key attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SortCondition {
    /// That it is this.
    Is(Template),
    /// That it begins with this.
    BeginsWith(Template),
    /// That it is between these two, both included.
    Between(Template, Template),
    /// That it is less.
    Less(Template),
    /// That it is less or equal.
    LessOrEqual(Template),
    /// That it is greater.
    Greater(Template),
    /// That it is greater or equal.
    GreaterOrEqual(Template),
}

impl SortCondition {
    /// Whether it is an equality.
    #[must_use]
    pub fn is_equality(&self) -> bool {
        matches!(self, Self::Is(_))
    }

    /// The word or the sign for it.
    #[must_use]
    pub fn operator(&self) -> &'static str {
        match self {
            Self::Is(_) => "=",
            Self::BeginsWith(_) => "begins_with",
            Self::Between(..) => "between",
            Self::Less(_) => "<",
            Self::LessOrEqual(_) => "<=",
            Self::Greater(_) => ">",
            Self::GreaterOrEqual(_) => ">=",
        }
    }

    /// Its templates, in the order in which they are written.
    #[must_use]
    pub fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Is(one)
            | Self::BeginsWith(one)
            | Self::Less(one)
            | Self::LessOrEqual(one)
            | Self::Greater(one)
            | Self::GreaterOrEqual(one) => vec![one],
            Self::Between(low, high) => vec![low, high],
        }
    }

    /// The same, to be changed.
    pub fn templates_mut(&mut self) -> Vec<&mut Template> {
        match self {
            Self::Is(one)
            | Self::BeginsWith(one)
            | Self::Less(one)
            | Self::LessOrEqual(one)
            | Self::Greater(one)
            | Self::GreaterOrEqual(one) => vec![one],
            Self::Between(low, high) => vec![low, high],
        }
    }
}

/// What a caller gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// How its text is read.
    pub kind: ParameterKind,
    /// What it is without a caller's word: a moment that is counted from the clock. Its one place
    /// is the clock.
    pub from_clock: Option<Template>,
    /// Whether only a schema tells how it is read, and there was none.
    pub needs_schema: bool,
}

/// Where the values of a parameter come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterOrigin {
    /// A column of the source.
    Column {
        /// The table.
        table: TableName,
        /// The column.
        column: String,
    },
    /// A moment that is counted from the clock. Its one place is the clock.
    Clock(Template),
}

/// How the text of a parameter is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// As it is.
    Text,
    /// As an exact number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// As a date or time; of a column's kind and fractional digits, where they are known.
    Time(Option<(TimeKind, u8)>),
    /// As base64.
    Binary,
    /// Bytes as hexadecimal digits, which `hex` makes of them.
    Hex,
}

impl ParameterKind {
    /// The word for it where a value stands in a synopsis.
    #[must_use]
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Text => "TEXT",
            Self::Number => "NUMBER",
            Self::Boolean => "BOOL",
            Self::Time(Some((TimeKind::Date, _))) => "DATE",
            Self::Time(_) => "TIME",
            Self::Binary => "BASE64",
            Self::Hex => "HEX",
        }
    }
}

/// A filter expression in DynamoDB's words, every name and value replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterExpression {
    /// The expression: `#f0 = :f0 AND attribute_exists(#f1)`.
    pub text: String,
    /// What `#f0` and so on stand for.
    pub names: Vec<Arc<str>>,
    /// What `:f0` and so on stand for.
    pub values: Vec<Operand>,
}

/// A value of a filter expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// The parameter of this index.
    Parameter(usize),
    /// A constant.
    Constant(Attribute),
}

// Compiled templates as people write them; with `#` as people read them, without filters.

impl Display for Template {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.parts.iter().try_for_each(|part| part.fmt(f))
    }
}

impl Display for TemplatePart {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Value(placeholder) => placeholder.fmt(f),
            Self::Optional(inner) => {
                f.write_char('[')?;
                inner.iter().try_for_each(|part| part.fmt(f))?;
                f.write_char(']')
            }
        }
    }
}

impl Display for Placeholder {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{{{}", self.place.written)?;
        let is_shown = !f.alternate();
        for filter in self.filters.iter().filter(|_| is_shown) {
            write!(f, " | {}", filter.written())?;
        }
        f.write_char('}')
    }
}
