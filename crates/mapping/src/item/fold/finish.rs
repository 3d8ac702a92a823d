//! What becomes of an item whose attributes are made: it has expired, it fits, it is made to fit,
//! or it is rejected.

use dynafold_dynamodb::{Attribute, Item, fingerprint, fingerprints};

use super::{Folded, Folder};
use crate::item::Expiry;
use crate::item::compress::{Shrunk, shrink};
use crate::item::fault::Reject;
use crate::item::limits::{Measure, TOO_LARGE};
use crate::model::{Expired, ItemType};

impl Folder {
    pub(super) fn finish(
        &self,
        item: Item,
        item_type: Option<&ItemType>,
    ) -> Result<Folded, Box<Reject>> {
        let clock = self.clock.as_ref();
        let expiry = clock.map_or(Expiry::Ahead, |clock| clock.judge(&item));
        let expired = item_type.map_or(Expired::Load, |item_type| item_type.expired);
        if expiry.is_past() && expired != Expired::Load {
            let measure = Measure {
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
            Ok(Shrunk {
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

    fn folded(&self, item: Item, measure: Measure, expiry: Expiry) -> Folded {
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
    #[must_use]
    pub fn key_of_reject(&self, reject: &Reject) -> Option<u128> {
        let (partition, sort) = self.key(reject.item_so_far.as_ref()?)?;
        (sort.is_some() || !self.limits.has_sort()).then(|| fingerprint(&partition, sort.as_ref()))
    }
}
