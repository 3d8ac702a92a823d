//! The fold: one row becomes one item of one item type.
//!
//! The mapping is compiled already; a row costs no lookup by name and no parse. What comes out has
//! passed every limit of DynamoDB that can be known without asking it, or is a [`Reject`].

use std::borrow::Cow;
use std::sync::Arc;

use dynafold_dynamodb::{Attribute, DigestKey, DynamoType, Item, fingerprint, fingerprints};
use dynafold_relational::value::{Text, Value, parse_document};

use super::compress::{CompressedItem, shrink};
use super::expiry::ExpiryClock;
use super::fault::{Fault, KEY_NULL, Reject};
use super::limits::{ItemLimits, ItemMeasure, TOO_LARGE};
use super::sink::{Part, Sink, Values};
use super::write_plan::WritePlan;
use super::{Expiry, evaluate, to_attribute};
use crate::model::{AttributeNode, Expired, ItemType, Model, Placeholder, Template, ValuePath};
use crate::template::Context;

/// Makes items from rows. Pure: the same row gives the same item.
#[derive(Debug, Clone)]
pub struct Folder {
    pub(super) types: Vec<ItemType>,
    /// How items of each type are written, where they can be.
    pub(super) plans: Vec<Option<WritePlan>>,
    pub(super) limits: ItemLimits,
    pub(super) context: Context,
    /// `None` where the table has no TTL.
    clock: Option<ExpiryClock>,
}

/// An item that DynamoDB will take, and what it measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded {
    /// The item.
    pub item: Item,
    /// Bytes that DynamoDB counts against the 400 KB.
    pub size: usize,
    /// Write capacity units, those of index entries included.
    pub units: u64,
    /// 128 bits that stand for the key.
    pub fingerprint: u128,
    /// 64 bits that stand for the partition key.
    pub partition: u64,
    /// What its TTL attribute says, by the run's clock.
    pub expiry: Expiry,
    /// What becomes of it because it has expired; [`Expired::Load`] for all others. An item that
    /// is not to be loaded was not held against DynamoDB's limits.
    pub expired: Expired,
    /// The attributes that were compressed, because it was too large otherwise.
    pub compressed: Vec<Arc<str>>,
}

/// A row does not make an attribute: a value does not pass a filter. What is wrong with it is not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedAttribute;

impl Folder {
    /// Prepares the fold for a mapping.
    pub fn new(model: &Model, context: Context) -> Self {
        let ttl = model.table.ttl.as_ref();
        let limits = ItemLimits::new(&model.table);
        let item_types = model.item_types.iter();
        let plans =
            item_types.map(|item_type| WritePlan::new(item_type, &limits, ttl.map(|x| &**x)));
        Self {
            types: model.item_types.clone(),
            plans: plans.collect(),
            limits,
            clock: ttl.map(|ttl| ExpiryClock::new(ttl, context.now)),
            context,
        }
    }

    /// Has [`Self::write`] make digests of whole items under a key ([`DigestKey::item`]).
    pub fn with_digests(mut self, key: DigestKey) -> Self {
        for (item_type, plan) in self.types.iter().zip(&mut self.plans) {
            if let Some(plan) = plan {
                plan.set_digest_key(item_type, key);
            }
        }
        self
    }

    /// Makes the item of one item type (an index into the model's) from a row of its pass.
    ///
    /// # Errors
    ///
    /// [`Reject`] when the row has no item that DynamoDB would take.
    pub fn fold(&self, item_type: usize, row: &[Value]) -> Result<Folded, Box<Reject>> {
        let mut item = Item::default();
        let item_type = self.types.get(item_type);
        match item_type.map_or(Ok(()), |item_type| self.fill(&mut item, item_type, row)) {
            Ok(()) => self.finish(item, item_type),
            Err(fault) => Err(Box::new(fault.reject(item))),
        }
    }

    /// The key of an item: partition, and sort where the table has one.
    pub fn key(&self, item: &Item) -> Option<(Attribute, Option<Attribute>)> {
        let (partition, sort) = self.limits.key(item);
        Some((partition?.clone(), sort.cloned()))
    }

    /// Bytes of an item's entry in each index, the global ones first, in the order of the table's
    /// description; `None` where the index does not hold the item. `size` is the item's.
    pub fn entries<'a>(
        &'a self,
        item: &'a Item,
        size: usize,
    ) -> impl Iterator<Item = Option<usize>> + 'a {
        self.limits.entries(item, size)
    }

    /// What one attribute is for a row, by what it is made from.
    ///
    /// # Errors
    ///
    /// [`RefusedAttribute`] where the row does not make it.
    pub fn attribute(
        &self,
        node: &AttributeNode,
        row: &[Value],
        keep_null: bool,
    ) -> Result<Option<Attribute>, RefusedAttribute> {
        self.node(&mut Values, node, row, keep_null)
            .map_err(|_| RefusedAttribute)
    }

    fn fill(&self, item: &mut Item, item_type: &ItemType, row: &[Value]) -> Result<(), Fault> {
        item.attributes.reserve_exact(item_type.attributes.len());
        // Never for keys, where DynamoDB refuses NULL.
        let keep_null = |name: &str| item_type.keep_nulls && !self.limits.is_key(name);
        // The first fault, which tells of the others.
        let mut faulty: Option<Fault> = None;
        for (name, node) in &item_type.attributes {
            let fault = match self.node(&mut Values, node, row, keep_null(name)) {
                Ok(Some(value)) => {
                    item.attributes.push((name.clone(), value));
                    continue;
                }
                Ok(None) if self.limits.is_table_key(name) => null_key(node),
                Ok(None) => continue,
                Err(fault) => fault,
            };
            let fault = fault.at(name);
            faulty = Some(match faulty {
                None => fault,
                Some(first) => first.and(&fault),
            });
        }
        if let Some(fault) = faulty {
            return Err(fault);
        }
        let declared = |name: &str| item_type.node(name).is_some();
        let spreads = &item_type.spreads;
        spread(&mut item.attributes, spreads, row, &declared, &keep_null)
    }

    pub(super) fn node<S: Sink>(
        &self,
        sink: &mut S,
        node: &AttributeNode,
        row: &[Value],
        keep_null: bool,
    ) -> Part<S> {
        match node {
            AttributeNode::Template(template) => self.template(sink, template, row, keep_null),
            AttributeNode::Constant(constant) => Ok(Some(sink.attribute(Cow::Borrowed(constant)))),
            AttributeNode::List(nodes) => {
                let mut list = sink.list();
                for (index, node) in nodes.iter().enumerate() {
                    let made =
                        sink.element(&mut list, |sink| self.node(sink, node, row, keep_null));
                    made.map_err(|fault| fault.at(&index.to_string()))?;
                }
                Ok(Some(sink.end_list(list)))
            }
            AttributeNode::Map { members, spreads } if spreads.is_empty() => {
                let mut map = sink.map();
                for (name, node) in members {
                    let made =
                        sink.member(&mut map, name, |sink| self.node(sink, node, row, keep_null));
                    made.map_err(|fault| fault.at(name))?;
                }
                Ok(Some(sink.end_map(map)))
            }
            AttributeNode::Map { members, spreads } => {
                let made = self.spread_map(members, spreads, row, keep_null)?;
                Ok(Some(sink.attribute(Cow::Owned(made))))
            }
            AttributeNode::When { flag, value } => match row.get(*flag) {
                Some(Value::Bool(true)) => self.node(sink, value, row, keep_null),
                _ => Ok(None),
            },
            AttributeNode::Typed { wanted, value } => {
                let made = self.node(sink, value, row, keep_null)?;
                typed(*wanted, made.as_ref().map(S::type_name))?;
                Ok(made)
            }
            AttributeNode::Embed(embed) => self.embed(sink, embed, row, keep_null),
        }
    }

    /// A map to which the members of documents come: no two may have one name.
    fn spread_map(
        &self,
        nodes: &[(Arc<str>, AttributeNode)],
        spreads: &[ValuePath],
        row: &[Value],
        keep_null: bool,
    ) -> Result<Attribute, Fault> {
        let mut made = Vec::with_capacity(nodes.len());
        for (name, node) in nodes {
            let value = self.node(&mut Values, node, row, keep_null);
            if let Some(value) = value.map_err(|fault| fault.at(name))? {
                made.push((name.clone(), value));
            }
        }
        let declared = |name: &str| nodes.iter().any(|(other, _)| other.as_ref() == name);
        spread(&mut made, spreads, row, &declared, &|_| keep_null)?;
        Ok(Attribute::M(made))
    }

    fn template<S: Sink>(
        &self,
        sink: &mut S,
        template: &Template,
        row: &[Value],
        keep_null: bool,
    ) -> Part<S> {
        // A column carried as it is: no text is made and the value is taken from the row.
        if let Some(column) = template.single().and_then(Placeholder::plain_column) {
            let value = row.get(column).unwrap_or(&Value::Null);
            return sink.value(Cow::Borrowed(value), keep_null);
        }
        let value = evaluate(template, row, &self.context)?;
        sink.value(Cow::Owned(value), keep_null)
    }
}

/// The document at a place; NULL where a member on the way is missing.
pub fn find<'r>(place: &ValuePath, row: &'r [Value]) -> Cow<'r, Value> {
    match place.find(row) {
        Ok(Value::Text(text)) if place.is_json => Cow::Owned(
            parse_document(text).unwrap_or_else(|error| Value::unfit(text, error.reason())),
        ),
        Ok(value) => Cow::Borrowed(value),
        Err(unfit) => Cow::Owned(Value::Unfit(Box::new(unfit.clone()))),
    }
}

/// Adds the members of documents to what is declared; a name that is there already is a fault.
fn spread(
    made: &mut Vec<(Arc<str>, Attribute)>,
    places: &[ValuePath],
    row: &[Value],
    declared: &dyn Fn(&str) -> bool,
    keep_null: &dyn Fn(&str) -> bool,
) -> Result<(), Fault> {
    let mut before: Vec<Text> = Vec::new();
    let first = made.len();
    for place in places {
        let document = find(place, row);
        let members = members(place, &document)?;
        for (name, value) in members {
            // A declared attribute clashes even where its column is NULL: otherwise the name
            // would mean two things in one table.
            if declared(name) || before.contains(name) {
                return Err(Fault::new(
                    "attribute-clash",
                    "a member of the spread document has the name of another attribute",
                )
                .help("carry the document as one attribute, or rename the other attribute")
                .at(name));
            }
            let attribute = to_attribute(value, keep_null(name));
            if let Some(attribute) = attribute.map_err(|error| Fault::from(error).at(name))? {
                made.push((Arc::from(name.as_str()), attribute));
            }
        }
        if places.len() > 1 {
            before.extend(members.iter().map(|(name, _)| name.clone()));
        }
    }
    // Databases keep the members of JSON objects in orders of their own.
    if let Some(added) = made.get_mut(first..) {
        added.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    Ok(())
}

/// The members that a spread adds; none for NULL.
fn members<'d>(place: &ValuePath, document: &'d Value) -> Result<&'d [(Text, Value)], Fault> {
    match document {
        Value::Null => Ok(&[]),
        Value::Map(members) => Ok(members),
        Value::Unfit(unfit) => Err(Fault::from(unfit.why).at(&place.written)),
        other => Err(Fault::new(
            "spread-not-an-object",
            format!(
                "`$spread: {}` found {} and needs an object",
                place.written,
                other.kind()
            ),
        )
        .help("write the column as one attribute, without `$spread`, or leave such rows out with `where`")),
    }
}

fn null_key(node: &AttributeNode) -> Fault {
    let columns: Vec<&str> = match node {
        AttributeNode::Template(template) => {
            let values = template.mandatory();
            values.map(|value| &*value.place.written).collect()
        }
        _ => Vec::new(),
    };
    let message = match columns.as_slice() {
        [] => "the key attribute is NULL".to_owned(),
        [column] => format!("the key attribute is NULL because `{column}` is"),
        several => format!(
            "the key attribute is NULL because `{}` is",
            several.join("` or `")
        ),
    };
    Fault::new(KEY_NULL, message).help("leave such rows out with `where`, or use `| default(x)`")
}

/// Whether an attribute has the type that `$type` asks for.
fn typed(wanted: DynamoType, made: Option<&'static str>) -> Result<(), Fault> {
    let name = wanted.word();
    match made {
        None | Some("NULL") => Ok(()),
        Some(made) if made == name => Ok(()),
        Some(made) => Err(Fault::new(
            "wrong-type",
            format!("the value has the type {made}, not {name}"),
        )
        .help("convert it with a filter, or remove `$type`")),
    }
}

// What becomes of an item whose attributes are made: it has expired, it fits, it is made to fit, or it is rejected.

impl Folder {
    /// What the run's clock makes of a value of the TTL attribute.
    pub fn expiry(&self, moment: &Attribute) -> Expiry {
        let clock = self.clock.as_ref();
        clock.map_or(Expiry::Ahead, |clock| clock.judge_moment(moment))
    }

    fn finish(&self, item: Item, item_type: Option<&ItemType>) -> Result<Folded, Box<Reject>> {
        let clock = self.clock.as_ref();
        let expiry = clock.map_or(Expiry::Ahead, |clock| clock.judge(&item));
        let expired = item_type.map_or(Expired::Load, |item_type| item_type.expired);
        if expiry.is_past() && expired != Expired::Load {
            let measure = ItemMeasure {
                size: item.size(),
                units: 0,
            };
            return Ok(Folded {
                expired,
                ..self.folded(item, measure, expiry)
            });
        }
        let fault = match self.limits.check(&item) {
            Ok(measure) => return Ok(self.folded(item, measure, expiry)),
            Err(fault) => fault,
        };
        let names = item_type.map_or(&[][..], |item_type| &item_type.compress);
        if names.is_empty() || !fault.is(TOO_LARGE) {
            return Err(Box::new(fault.reject(item)));
        }
        match shrink(&item, names, &self.limits, fault) {
            Ok(CompressedItem {
                item,
                measure,
                compressed,
            }) => Ok(Folded {
                compressed,
                ..self.folded(item, measure, expiry)
            }),
            Err(fault) => Err(Box::new(fault.reject(item))),
        }
    }

    fn folded(&self, item: Item, measure: ItemMeasure, expiry: Expiry) -> Folded {
        let (partition, sort) = self.limits.key(&item);
        let (fingerprint, partition) = fingerprints(partition.unwrap_or(&Attribute::Null), sort);
        Folded {
            fingerprint,
            partition,
            size: measure.size,
            units: measure.units,
            item,
            expiry,
            expired: Expired::Load,
            compressed: Vec::new(),
        }
    }

    /// The key of an item that was rejected, where it got as far.
    pub fn key_of_reject(&self, reject: &Reject) -> Option<u128> {
        let (partition, sort) = self.key(reject.item_so_far.as_ref()?)?;
        (sort.is_some() || !self.limits.has_sort()).then(|| fingerprint(&partition, sort.as_ref()))
    }
}
