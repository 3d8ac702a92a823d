//! A mapping that was checked against a catalog: nothing in it can be invalid.
//!
//! Everything is compiled: a column is an index into the scan's row, a template is a list of parts, and a filter has its
//! arguments read. Folding a row looks nothing up by name.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter, Result, Write as _};
use std::sync::Arc;

pub use super::proof::{KeyTexts, RowDomains};
pub use super::template::{Placeholder, Template, TemplatePart, ValuePath};

use dynafold_dynamodb::{Attribute, DynamoType, KeyAttribute, Table};
use dynafold_relational::catalog::{TableName, TypeFamily};
use dynafold_relational::scan::Scan;
use dynafold_relational::value::TimeKind;

use super::template::Filter;

/// A whole mapping.
#[derive(Debug, Clone)]
pub struct Model {
    /// The table that is created and loaded.
    pub table: Table,
    /// The reads, in the order of the file; each serves one or more item types.
    pub passes: Vec<Pass>,
    /// The attribute that names the item type in every item; `None` with `type_attribute: false`.
    pub type_attribute: Option<Arc<str>>,
    /// The item types, in the order of the file.
    pub item_types: Vec<ItemType>,
    /// The pairs of item types, as indices into [`Model::item_types`], that may make one key: their templates do not show that
    /// they cannot. `None` if there are too many to compare: any two may.
    pub unproved_pairs: Option<Vec<[usize; 2]>>,
    /// The access patterns, in the order of the file.
    pub patterns: Vec<AccessPattern>,
    /// The sums that a scheduled function keeps, in the order of the file.
    pub roll_ups: Vec<RollUp>,
    /// The mapping's `description` of the table.
    pub description: Option<String>,
    /// The zone of times that have none, where a template converts them to UTC.
    pub time_zone: jiff::tz::TimeZone,
}

impl Model {
    /// The item type of a name.
    pub fn item_type(&self, name: &str) -> Option<&ItemType> {
        self.item_types.iter().find(|one| *one.name == *name)
    }

    /// The scan of each pass.
    pub fn scans(&self) -> Vec<&Scan> {
        self.passes.iter().map(|pass| &pass.scan).collect()
    }

    /// The names of the tables whose row security may hide rows from the database user, each once.
    pub fn row_security(&self) -> BTreeSet<&str> {
        let tables = self.passes.iter().flat_map(|pass| &pass.row_security);
        tables.map(String::as_str).collect()
    }

    /// Which columns of which tables `*` leaves out, because the database user may not read them, each table once.
    pub fn hidden_columns(&self) -> BTreeSet<&str> {
        let read = self.passes.iter().flat_map(|pass| &pass.item_types);
        let item_types = read.filter_map(|index| self.item_types.get(*index));
        let hidden = item_types.flat_map(|item| &item.hidden_columns);
        hidden.map(String::as_str).collect()
    }

    /// The SQL of an item type's `where`; `None` without one.
    pub fn condition(&self, item: &ItemType) -> Option<&str> {
        let scan = &self.passes.get(item.pass)?.scan;
        let at = item.condition?.checked_sub(scan.columns.len())?;
        scan.conditions.get(at).map(String::as_str)
    }

    /// The `write_rate` of each item type, in writes a second; `None` where the mapping gives none.
    pub fn write_rates(&self) -> Vec<Option<f64>> {
        let item_types = self.item_types.iter();
        item_types.map(|item_type| item_type.write_rate).collect()
    }

    /// Whether a template of an attribute uses this filter with these arguments.
    pub fn uses(&self, filter: &Filter) -> bool {
        let mut is_used = false;
        for (_, node) in self.item_types.iter().flat_map(|item| &item.attributes) {
            node.visit_values(&[], &mut |_, _, filters| {
                is_used |= filters.contains(filter);
            });
        }
        is_used
    }
}

/// One read of one relation, for all the item types that come from it.
#[derive(Debug, Clone)]
pub struct Pass {
    /// What is asked of the source.
    pub scan: Scan,
    /// The relation's name as the mapping writes it.
    pub name: String,
    /// The item types that come from it, as indices into [`Model::item_types`].
    pub item_types: Vec<usize>,
    /// Whether two reads may differ although no table of the snapshot has changed: SQL and views may use the clock, and some
    /// tables have no snapshots.
    pub fickle: bool,
    /// The database's estimate of its rows; `None` where it has none.
    pub estimated_rows: Option<u64>,
    /// The names of the columns that are never NULL.
    pub never_null: BTreeSet<String>,
    /// Whether a row may exist in the source although the scan does not return it: it reads or joins a view, a query, or a
    /// table with row security.
    pub may_hide_rows: bool,
    /// The tables it reads whose row security may hide rows from the database user, by the names in the mapping.
    pub row_security: Vec<String>,
}

/// One item type.
#[derive(Debug, Clone)]
pub struct ItemType {
    /// Its name in the mapping.
    pub name: Arc<str>,
    /// Index into [`Model::passes`].
    pub pass: usize,
    /// Index into the row of the boolean that is the result of this type's `where`; `None` without one.
    pub condition: Option<usize>,
    /// The columns that identify a source row in messages: names and indices into the row.
    pub row_key: Vec<(Arc<str>, usize)>,
    /// The arrays of which each element makes an item, from the outermost to the innermost.
    pub explodes: Vec<Explode>,
    /// The attributes: the table's key first, then the type attribute, the columns, and all others.
    pub attributes: Vec<(Arc<str>, AttributeNode)>,
    /// The JSON documents whose members become attributes of the item.
    pub spreads: Vec<ValuePath>,
    /// For each table of which `*` leaves out columns that the database user may not read: which, in words.
    pub hidden_columns: Vec<String>,
    /// Whether NULL columns are written as DynamoDB NULL instead of being left out.
    pub keep_nulls: bool,
    /// Whether rows whose items have expired are loaded.
    pub expired: Expired,
    /// The attributes that may be compressed if an item is too large, in this order, as many as are needed. Empty if such an
    /// item is rejected.
    pub compress: Vec<Arc<str>>,
    /// The texts that each key attribute can have, the partition key first.
    pub key_texts: Vec<KeyTexts>,
    /// What is known of the values of its rows, for reading them back from its attributes.
    pub domains: RowDomains,
    /// The mapping's `description` of the item type.
    pub description: Option<String>,
    /// Writes a second at peak in production, above zero; `None` where the mapping gives none.
    pub write_rate: Option<f64>,
}

/// What a load does with a row whose item has expired when the run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expired {
    /// It loads the row like any other.
    #[default]
    Load,
    /// It leaves the row out and counts it.
    Skip,
    /// It writes the item to the archive file instead of the table.
    Archive,
}

/// A sum that a scheduled function keeps: it adds up the items of one type that differ only in the shard of their partition
/// key, and writes the sum into the item of another type that has their key without the shard. It creates no item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollUp {
    /// The name of the item type that holds the sums.
    pub total: Arc<str>,
    /// The name of the item type that is summed.
    pub of: Arc<str>,
    /// The attribute that holds the sum.
    pub attribute: Arc<str>,
    /// Whether the sum is the number of items; otherwise it is the sum of their attributes of the same name.
    pub counts_items: bool,
    /// The schedule, as the scheduler of AWS reads it: `rate(5 minutes)`.
    pub schedule: String,
    /// The text attribute by which the function recognizes the items of both types.
    pub mark: Arc<str>,
    /// The value of that attribute in the items that are summed.
    pub of_mark: String,
    /// Whether `of_mark` is only the beginning of that value.
    pub mark_is_prefix: bool,
    /// The value of that attribute in the items that hold the sums.
    pub total_mark: String,
    /// How many characters to cut off the beginning and the end of a summed item's partition key.
    pub cut: [usize; 2],
    /// The texts to put in their places: the result is the partition key of the item with the sum.
    pub around: [String; 2],
}

impl ItemType {
    /// Whether its source rows have no key.
    pub fn is_keyless(&self) -> bool {
        self.key_columns() == 0
    }

    /// How many columns of the row key are columns of the row. The others are positions of exploded elements.
    pub fn key_columns(&self) -> usize {
        let position = |at: usize| self.explodes.iter().any(|explode| explode.index == at);
        let columns = self.row_key.iter().take_while(|(_, at)| !position(*at));
        columns.count()
    }

    /// The node of an attribute; `None` if the item type does not name it.
    pub fn node(&self, name: &str) -> Option<&AttributeNode> {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|(other, _)| **other == *name);
        found.map(|(_, node)| node)
    }

    /// Whether its items may expire: it has the table's TTL attribute, or a document may have a member of that name.
    pub fn may_expire(&self, table: &Table) -> bool {
        let ttl = table.ttl.as_deref();
        ttl.is_some_and(|ttl| self.node(ttl).is_some() || !self.spreads.is_empty())
    }

    /// The template of an attribute, also inside a condition or a type; `None` if it is not made from one.
    pub fn template(&self, name: &str) -> Option<&Template> {
        self.node(name)?.template()
    }

    /// The indices into the row of all embedded children.
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

/// The explosion of an array: each element makes an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explode {
    /// Where the array is in the row.
    pub array: ValuePath,
    /// Index into the row at which the element is put.
    pub element: usize,
    /// Index into the row at which the element's position is put, counted from 0.
    pub index: usize,
}

/// How an attribute's value is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeNode {
    /// From a template: text with placeholders, or one placeholder that keeps its type.
    Template(Template),
    /// A constant that is not text: a number or a boolean written plain in the YAML.
    Constant(dynafold_dynamodb::Attribute),
    /// As a map.
    Map {
        /// The names and values of its members.
        members: Vec<(Arc<str>, AttributeNode)>,
        /// The JSON documents whose members become members of the map.
        spreads: Vec<ValuePath>,
    },
    /// As a list of these elements.
    List(Vec<AttributeNode>),
    /// Only if a condition holds; otherwise the attribute is absent.
    When {
        /// Index into the row of the boolean that is the condition's result.
        flag: usize,
        /// How the value is made if it holds.
        value: Box<AttributeNode>,
    },
    /// As a value of one DynamoDB type; any other is an error.
    Typed {
        /// The type that the value must have.
        wanted: DynamoType,
        /// How the value is made.
        value: Box<AttributeNode>,
    },
    /// From the child rows of the row.
    Embed(Box<EmbedNode>),
}

/// Children inside their parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedNode {
    /// Index into the row of the list of child rows.
    pub column: usize,
    /// How the value of each child is made, over the child's row.
    pub each: AttributeNode,
    /// What the values are put into.
    pub container: ChildContainer,
    /// The child table's name as the mapping writes it.
    pub written: Arc<str>,
}

/// What the values of children are put into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildContainer {
    /// A list, empty without children.
    List,
    /// A set, absent without children.
    Set,
    /// A map, empty without children, whose members have names made by this template.
    Map(Template),
}

/// What [`AttributeNode::visit_values`] calls: the columns of the embeds, the value's place, and its filters.
type ValueVisitor<'v, 'n> = dyn FnMut(&[usize], &'n ValuePath, &'n [Filter]) + 'v;

impl AttributeNode {
    /// Visits this node and the nodes in it that are made from the same row, so not the nodes of children.
    pub fn visit<'n>(&'n self, visitor: &mut dyn FnMut(&'n Self)) {
        visitor(self);
        match self {
            Self::Template(_) | Self::Constant(_) | Self::Embed(_) => {}
            Self::Map { members, .. } => members.iter().for_each(|(_, node)| node.visit(visitor)),
            Self::List(nodes) => nodes.iter().for_each(|node| node.visit(visitor)),
            Self::When { value, .. } | Self::Typed { value, .. } => value.visit(visitor),
        }
    }

    /// Visits the values that it uses, of children too, without those of conditions: each with the columns of the embeds that
    /// it is in, its place, and the filters on it. A document that is spread has none.
    pub fn visit_values<'n>(&'n self, embeds: &[usize], visitor: &mut ValueVisitor<'_, 'n>) {
        self.visit(&mut |node| match node {
            Self::Template(template) => {
                for one in template.placeholders() {
                    visitor(embeds, &one.place, &one.filters);
                }
            }
            Self::Map { spreads, .. } => spreads.iter().for_each(|one| visitor(embeds, one, &[])),
            Self::Embed(embed) => {
                let embeds = [embeds, &[embed.column]].concat();
                embed.each.visit_values(&embeds, visitor);
                if let ChildContainer::Map(key) = &embed.container {
                    for one in key.placeholders() {
                        visitor(&embeds, &one.place, &one.filters);
                    }
                }
            }
            _ => {}
        });
    }

    /// The values of the row that it uses, without those of conditions and of children.
    pub fn places(&self) -> Vec<&ValuePath> {
        let mut found = Vec::new();
        self.visit(&mut |node| match node {
            Self::Template(template) => found.extend(template.placeholders().map(|one| &one.place)),
            Self::Map { spreads, .. } => found.extend(spreads),
            _ => {}
        });
        found
    }

    /// The places that it uses, as the mapping writes them, of children too, without those of conditions.
    pub fn all_places(&self) -> Vec<Arc<str>> {
        let mut found = Vec::new();
        self.visit_values(&[], &mut |_, place, _| found.push(place.written.clone()));
        found
    }

    /// The family of the values that it makes.
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
            Self::Embed(embed) => match embed.container {
                ChildContainer::List => TypeFamily::List,
                ChildContainer::Set => TypeFamily::Set,
                ChildContainer::Map(_) => TypeFamily::Map,
            },
        }
    }

    /// The family of the values that it makes; `None` if it depends on the row.
    pub(super) fn known_family(&self) -> Option<TypeFamily> {
        Some(self.family())
            .filter(|family| !matches!(family, TypeFamily::Any | TypeFamily::Document))
    }

    /// DynamoDB's name for the type of the value, as far as it is known. `of` gives the name for a family.
    pub fn type_name(&self, of: &dyn Fn(TypeFamily) -> &'static str) -> &'static str {
        match self {
            Self::When { value, .. } => value.type_name(of),
            Self::Typed { wanted, .. } => wanted.word(),
            node => of(node.family()),
        }
    }

    /// The node inside its conditions and types.
    pub fn inner(&self) -> &Self {
        match self {
            Self::When { value, .. } | Self::Typed { value, .. } => value.inner(),
            node => node,
        }
    }

    /// The template that it is made from, also inside a condition or a type.
    pub fn template(&self) -> Option<&Template> {
        match self.inner() {
            Self::Template(template) => Some(template),
            _ => None,
        }
    }

    /// The text that it is in every item; `None` where it is something else, or depends on the row.
    pub fn constant_text(&self) -> Option<String> {
        match self {
            Self::Template(template) => match template.prefix() {
                (text, true) => Some(text.to_owned()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The place whose value it is, always and unchanged; `None` where it is made from more, or under a condition.
    pub fn carried(&self) -> Option<&ValuePath> {
        match self {
            Self::Typed { value, .. } => value.carried(),
            Self::Template(template) => {
                let only = template.single()?;
                only.filters.is_empty().then_some(&only.place)
            }
            _ => None,
        }
    }
}

/// The family of the values of a DynamoDB type.
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

/// An access pattern: a request that the table serves. The templates in it are over parameters: [`ValuePath::column`] is an index into
/// [`AccessPattern::parameters`], or [`AccessPattern::SHARD`].
#[derive(Debug, Clone, PartialEq)]
pub struct AccessPattern {
    /// Its name in the mapping.
    pub name: Arc<str>,
    /// The mapping's `description` of the pattern.
    pub description: Option<String>,
    /// The names of the item types that it returns; empty if the mapping does not name them.
    pub items: Vec<Arc<str>>,
    /// The name of the index that is queried; `None` for the table.
    pub index: Option<Arc<str>>,
    /// The partition key attributes, each with the template of its value.
    pub partition: Vec<(KeyAttribute, Template)>,
    /// Conditions on the first of the sort key attributes, in their order; all but the last are
    /// equalities.
    pub sort: Vec<(KeyAttribute, SortCondition)>,
    /// All sort key attributes of the table or index: items are returned in their order.
    pub order: Vec<KeyAttribute>,
    /// Whether that order descends.
    pub descending: bool,
    /// The parameters whose values the caller gives.
    pub parameters: Vec<Parameter>,
    /// The number of shards of the partition key: each is queried with a request of its own.
    pub shards: Option<u32>,
    /// The most items that a call returns.
    pub limit: Option<u32>,
    /// The filter expression; `None` without one.
    pub filter: Option<FilterExpression>,
    /// Whether reads are strongly consistent.
    pub consistent: bool,
    /// Whether the items that the index finds are then read whole from the table, by their keys.
    pub fetch: bool,
    /// The SQL query that it replaces.
    pub sql: Option<String>,
    /// The mapping's `params`: where the values of parameters come from, also of those that only the SQL query has.
    pub origins: Vec<(Arc<str>, ParameterOrigin)>,
    /// The mapping's `answer`: attributes with the SQL columns of other names that they are compared with.
    pub answer: Vec<(String, String)>,
    /// Requests a second at peak; `None` where the mapping gives none.
    pub rate: Option<f64>,
}

impl AccessPattern {
    /// Stands for the shard's number in place of a parameter's index.
    pub const SHARD: usize = usize::MAX;

    /// Read units for 4 KB: half a unit where reads may be eventually consistent.
    pub fn read_unit(&self) -> f64 {
        if self.consistent { 1.0 } else { 0.5 }
    }

    /// Whether its key condition is the table's whole key, so that it finds at most one item.
    pub fn is_whole_key(&self) -> bool {
        let equal = self
            .sort
            .iter()
            .filter(|(_, condition)| condition.is_equality());
        self.index.is_none() && equal.count() == self.order.len()
    }

    /// The key condition: each key attribute with its operator and the templates of its values.
    pub fn conditions(
        &self,
    ) -> impl Iterator<Item = (&KeyAttribute, &'static str, Vec<&Template>)> {
        let partition = self.partition.iter();
        let partition = partition.map(|(key, template)| (key, "=", vec![template]));
        let sort = self.sort.iter();
        let sort = sort.map(|(key, asked)| (key, asked.operator(), asked.templates()));
        partition.chain(sort)
    }

    /// The templates of its key condition, each with its key attribute.
    pub fn templates(&self) -> impl Iterator<Item = (&KeyAttribute, &Template)> {
        let conditions = self.conditions();
        conditions.flat_map(|(key, _, all)| all.into_iter().map(move |one| (key, one)))
    }

    /// The placeholders of its key condition.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.templates()
            .flat_map(|(_, template)| template.placeholders())
    }

    /// The filter expression with names, parameters and constants in their places.
    pub fn filter_text(&self, constant: impl Fn(&Attribute) -> String) -> Option<String> {
        let filter = self.filter.as_ref()?;
        let value = |operand: &FilterOperand| match operand {
            FilterOperand::Constant(value) => constant(value),
            FilterOperand::Parameter(index) => {
                let parameter = self.parameters.get(*index);
                parameter.map_or(String::new(), |parameter| format!("{{{}}}", parameter.name))
            }
        };
        let named = |sign: &str, at: usize| match sign {
            "#f" => filter.names.get(at).map(ToString::to_string),
            _ => filter.values.get(at).map(value),
        };
        let mut text = String::new();
        let mut rest = filter.text.as_str();
        // What is put in is not looked into: a constant may hold `:f0`.
        while let Some(at) = rest.find(['#', ':']) {
            let (before, placed) = rest.split_at(at);
            let Some((sign, after)) = placed.split_at_checked(2) else {
                break;
            };
            let end = after.find(|c: char| !c.is_ascii_digit());
            let (number, after) = after.split_at(end.unwrap_or(after.len()));
            text.push_str(before);
            match number.parse().ok().and_then(|at| named(sign, at)) {
                Some(put) => text.push_str(&put),
                None => text.extend([sign, number]),
            }
            rest = after;
        }
        text.push_str(rest);
        Some(text)
    }
}

/// The condition on a sort key attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SortCondition {
    /// It equals this value.
    Is(Template),
    /// It begins with this text.
    BeginsWith(Template),
    /// It is between these values, both included.
    Between(Template, Template),
    /// It is less than this value.
    Less(Template),
    /// It is less than or equal to this value.
    LessOrEqual(Template),
    /// It is greater than this value.
    Greater(Template),
    /// It is greater than or equal to this value.
    GreaterOrEqual(Template),
}

/// A bound of the range that a condition asks for.
#[derive(Debug, Clone, Copy)]
pub struct RangeBound<'c> {
    /// The template of its value.
    pub template: &'c Template,
    /// Whether the range lies below it.
    pub is_upper: bool,
    /// Whether the range takes in what equals it.
    pub takes_in: bool,
}

impl SortCondition {
    /// Whether it is an equality.
    pub fn is_equality(&self) -> bool {
        matches!(self, Self::Is(_))
    }

    /// DynamoDB's operator: `=`, `begins_with`, `between`, `<`.
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

    /// The templates of its values: one, or two for `between`, the lower first.
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

    /// The bounds of the range that it asks for, the lower first. None where it asks for no range.
    pub fn bounds(&self) -> Vec<RangeBound<'_>> {
        let bound = |template, is_upper, takes_in| RangeBound {
            template,
            is_upper,
            takes_in,
        };
        match self {
            Self::Is(_) | Self::BeginsWith(_) => Vec::new(),
            Self::Between(low, high) => vec![bound(low, false, true), bound(high, true, true)],
            Self::Less(high) => vec![bound(high, true, false)],
            Self::LessOrEqual(high) => vec![bound(high, true, true)],
            Self::Greater(low) => vec![bound(low, false, false)],
            Self::GreaterOrEqual(low) => vec![bound(low, false, true)],
        }
    }

    /// Like [`SortCondition::templates`], mutable.
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

/// A parameter of an access pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the templates of the pattern.
    pub name: Arc<str>,
    /// How the caller's text is read.
    pub kind: ParameterKind,
    /// The default: a time relative to now. The template's one placeholder is the clock.
    pub from_clock: Option<Template>,
    /// Whether its kind depends on a schema, and the mapping was read without one.
    pub needs_schema: bool,
}

/// Where the values of a parameter come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterOrigin {
    /// A column of the source.
    Column {
        /// The table that has the values.
        table: TableName,
        /// The column's name.
        column: String,
    },
    /// A time relative to now. The template's one placeholder is the clock.
    Clock(Template),
}

/// How the text of a parameter is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// As text, unchanged.
    Text,
    /// As an exact number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// As a date or time, with the kind and the fractional digits of its column if they are known.
    Time(Option<(TimeKind, u8)>),
    /// As base64.
    Binary,
    /// As bytes in hexadecimal digits, which the filter `hex` writes.
    Hex,
}

impl ParameterKind {
    /// The placeholder for a value in a synopsis: `NUMBER`.
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

/// A DynamoDB filter expression, with placeholders for all names and values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterExpression {
    /// The expression: `#f0 = :f0 AND attribute_exists(#f1)`.
    pub text: String,
    /// The attribute names of `#f0`, `#f1`, and so on.
    pub names: Vec<Arc<str>>,
    /// The values of `:f0`, `:f1`, and so on.
    pub values: Vec<FilterOperand>,
    /// The values with which a BETWEEN begins; it ends with the value behind.
    pub ranges: Vec<usize>,
}

/// A value of a filter expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterOperand {
    /// The value of the parameter with this index.
    Parameter(usize),
    /// A constant of the mapping.
    Constant(Attribute),
}

/// One of the conditions that a filter expression connects by AND.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterCondition<'f> {
    /// The attribute.
    pub attribute: &'f str,
    /// `=`, `<>`, `<`, `<=`, `>`, `>=`, `BETWEEN`, `IN`, `begins_with`, `attribute_exists` or `attribute_not_exists`.
    pub operator: &'f str,
    /// What it is compared with.
    pub values: Vec<&'f FilterOperand>,
}

impl FilterExpression {
    /// The conditions that all hold of what it takes; `None` where one of them is anything else than an attribute beside values, such
    /// as an OR.
    pub fn conditions(&self) -> Option<Vec<FilterCondition<'_>>> {
        const SIGNS: [&str; 6] = ["=", "<>", "<", "<=", ">", ">="];
        let words: Vec<&str> = self.text.split_whitespace().collect();
        let (mut rest, mut found) = (words.as_slice(), Vec::new());
        loop {
            // With AND alone it does not matter what parentheses hold together.
            while let ["(", inner @ ..] = rest {
                rest = inner;
            }
            let (name, operator, values, mut behind): (_, _, Vec<&str>, &[&str]) = match rest {
                [exists, "(", name, ")", behind @ ..] if exists.starts_with("attribute_") => {
                    (name, *exists, Vec::new(), behind)
                }
                ["begins_with", "(", name, ",", value, ")", behind @ ..] => {
                    (name, "begins_with", vec![*value], behind)
                }
                [name, "BETWEEN", low, "AND", high, behind @ ..] => {
                    (name, "BETWEEN", vec![*low, *high], behind)
                }
                [name, "IN", "(", list @ ..] => {
                    let end = list.iter().position(|word| *word == ")")?;
                    let (values, behind) = list.split_at(end);
                    let values = values.iter().copied().filter(|word| *word != ",");
                    (name, "IN", values.collect(), behind.get(1..)?)
                }
                [name, sign, value, behind @ ..] if SIGNS.contains(sign) => {
                    (name, *sign, vec![*value], behind)
                }
                _ => return None,
            };
            let values = values.into_iter().map(|value| self.operand(value));
            found.push(FilterCondition {
                attribute: self.attribute(name)?,
                operator,
                values: values.collect::<Option<_>>()?,
            });
            while let [")", further @ ..] = behind {
                behind = further;
            }
            rest = match behind {
                [] => return Some(found),
                ["AND", further @ ..] => further,
                _ => return None,
            };
        }
    }

    fn attribute(&self, word: &str) -> Option<&str> {
        let at: usize = word.strip_prefix("#f")?.parse().ok()?;
        self.names.get(at).map(|name| &**name)
    }

    fn operand(&self, word: &str) -> Option<&FilterOperand> {
        let at: usize = word.strip_prefix(":f")?.parse().ok()?;
        self.values.get(at)
    }
}

/// As it is written in a mapping; with `{:#}`, without its filters.
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

#[cfg(test)]
mod tests {
    use super::{FilterExpression, FilterOperand};

    #[test]
    fn a_filter_is_taken_apart_where_all_of_it_must_hold() {
        let filter = |text: &str| FilterExpression {
            text: text.to_owned(),
            names: vec!["state".into(), "price".into()],
            values: (0..3).map(FilterOperand::Parameter).collect(),
            ranges: Vec::new(),
        };
        for (text, shown) in [
            (
                "#f0 = :f0 AND #f1 BETWEEN :f1 AND :f2",
                "state = 1, price BETWEEN 2",
            ),
            (
                "attribute_exists ( #f0 ) AND #f0 <> :f0",
                "state attribute_exists 0, state <> 1",
            ),
            ("begins_with ( #f0 , :f0 )", "state begins_with 1"),
            (
                "#f0 IN ( :f0 , :f1 ) AND #f1 > :f2",
                "state IN 2, price > 1",
            ),
            ("( #f0 = :f0 )", "state = 1"),
            (
                "( ( #f0 IN ( :f0 ) ) AND ( #f1 > :f1 AND #f1 < :f2 ) )",
                "state IN 1, price > 1, price < 1",
            ),
        ] {
            let filter = filter(text);
            let conditions = filter.conditions().unwrap().into_iter();
            let conditions = conditions.map(|one| {
                let values = one.values.len();
                format!("{} {} {values}", one.attribute, one.operator)
            });
            assert_eq!(conditions.collect::<Vec<_>>().join(", "), shown);
        }
        for text in [
            "#f0 = :f0 OR #f1 = :f1",
            "( #f0 = :f0 OR #f1 = :f1 ) AND #f0 = :f0",
            "( #f0 = :f0 ) OR ( #f1 = :f1 )",
            "NOT #f0 = :f0",
            "NOT ( #f0 = :f0 )",
            "size ( #f0 ) > :f0",
            "#f0.#f1 = :f0",
        ] {
            assert_eq!(filter(text).conditions(), None, "{text}");
        }
    }
}
