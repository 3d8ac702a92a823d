//! The fold straight into text: one row becomes the DynamoDB JSON of one item, measured on the way.
//!
//! Values are made of keys and of the moment of expiry alone, since something is decided on these.
//! What a row makes that is no plain item (it is rejected, compressed, or has expired) is not said
//! here: [`Folder::fold`] says it, from the values.

use std::borrow::Cow;

use dynafold_dynamodb::{Attribute, fingerprints};
use dynafold_relational::value::Value;

use super::Expiry;
use super::fold::{Folded, Folder};
use super::limits::ItemMeasure;
use super::sink::{Json, Sink as _, Values};
use crate::model::Expired;

/// Where items are written, one after the other.
#[derive(Debug, Default)]
pub struct ItemText {
    /// The last item's DynamoDB JSON.
    pub json: String,
    /// Bytes of each of the item type's attributes; `None` for those that are absent.
    sizes: Vec<Option<usize>>,
}

/// What is known of an item, apart from what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemFacts {
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
    /// 128 bits that stand for all that it holds, under the key of [`Folder::with_digests`]; 0 without one.
    pub digest: u128,
}

impl Folded {
    /// What is known of it; no digest is made.
    pub fn facts(&self) -> ItemFacts {
        ItemFacts {
            size: self.size,
            units: self.units,
            fingerprint: self.fingerprint,
            partition: self.partition,
            expiry: self.expiry,
            digest: 0,
        }
    }
}

impl Folder {
    /// Writes the item of one item type (an index into the model's) from a row of its pass, in the place of the item
    /// before it. `None` where [`Self::fold`] has to say what becomes of the row.
    pub fn write(&self, item_type: usize, row: &[Value], text: &mut ItemText) -> Option<ItemFacts> {
        let (item_type, plan) = (self.types.get(item_type)?, self.plans.get(item_type)?);
        let plan = plan.as_ref()?;
        let ItemText { json, sizes } = text;
        json.clear();
        sizes.clear();
        let mut sink = Json::new(json);
        let mut item = sink.item();
        let mut keys: [Option<Attribute>; 2] = [None, None];
        let mut expiry = Expiry::Ahead;
        let attributes = item_type.attributes.iter().zip(&plan.attributes);
        for (at, ((name, node), planned)) in attributes.enumerate() {
            let known = Some(&planned.name);
            let keep_null = planned.keep_null;
            let added = if planned.is_plain() {
                let write = |sink: &mut Json<'_>| self.node(sink, node, row, keep_null);
                sink.add(&mut item, name, known, write)
            } else {
                let value = self.node(&mut Values, node, row, keep_null).ok()?;
                if let Some(value) = &value {
                    if !planned.fits(value) {
                        return None;
                    }
                    if planned.is_expiry {
                        expiry = self.expiry(value);
                    }
                }
                let write = |sink: &mut Json<'_>| {
                    let value = value.as_ref().map(Cow::Borrowed);
                    Ok(value.map(|value| sink.attribute(value)))
                };
                let added = sink.add(&mut item, name, known, write);
                if let Some(key) = plan.keys.iter().position(|key| *key == at) {
                    *keys.get_mut(key)? = value;
                }
                added
            };
            sizes.push(added.ok()?);
        }
        sink.end_item();
        if !sink.is_sound() || (expiry.is_past() && item_type.expired != Expired::Load) {
            return None;
        }
        let [partition, sort] = keys;
        if sort.is_none() && self.limits.has_sort() {
            return None;
        }
        let measure = self
            .limits
            .measure(item.size, plan.index_entries(sizes, item.size));
        let ItemMeasure { size, units } = measure.ok()?;
        let (fingerprint, partition) = fingerprints(&partition?, sort.as_ref());
        Some(ItemFacts {
            size,
            units,
            fingerprint,
            partition,
            expiry,
            digest: item.digest,
        })
    }
}
