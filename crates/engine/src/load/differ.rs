//! Looks at what the table holds, a page of items at a time: before anything is written, where only
//! what differs is to be written, and for `verify`.

use std::collections::HashMap;
use std::sync::Arc;

use dynafold_dynamodb::{Attribute, Item, Table, fingerprint};
use dynafold_mapping::item::{Expiry, Folded, Folder, is_past, same_unpacked};
use dynafold_mapping::model::Model;
use dynafold_target::{ItemKey, Target, TargetError};
use jiff::Timestamp;
use tokio::task::JoinSet;

use super::ending::RunHalt;
use super::failure::Failure;

/// Keys that one `BatchGetItem` takes.
const MOST_KEYS: usize = 100;
/// Bytes of made items after which a page is sent with fewer keys, well below the 16 MB that one
/// `BatchGetItem` answers with.
const PAGE_BYTES: usize = 4 << 20;
/// Requests on their way, of one worker of a load.
pub(super) const REQUESTS: usize = 8;

/// What the table holds under an item's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownItem {
    /// The item, as it should be; or it has expired and DynamoDB has deleted it already.
    Same,
    Different,
    Missing,
}

/// Says what is known of an item of a type, from what the table holds under its key.
pub(crate) type ClassifyItem<K> = Arc<dyn Fn(usize, &Folded, Option<Item>) -> K + Send + Sync>;

/// An item that was looked for, and where it comes from.
type LookedUpItem<O> = (usize, Folded, O);

/// What came of a page of items.
pub(crate) enum PageLookup<O, K> {
    /// The items, each with what is known of it.
    Known(Vec<(usize, Folded, O, K)>),
    /// Nothing is known of them.
    Unknown {
        /// Their item types and origins.
        origins: Vec<(usize, O)>,
        /// Why; `None` where the run was ending already.
        failure: Option<Failure>,
    },
}

/// Reads from the table what it holds under the keys of made items.
pub(crate) struct DifferenceReader<O, K> {
    target: Arc<dyn Target>,
    table: Arc<Table>,
    folder: Arc<Folder>,
    classify: ClassifyItem<K>,
    most_requests: usize,
    halt: RunHalt,
    page: Vec<LookedUpItem<O>>,
    bytes: usize,
    requests: JoinSet<PageLookup<O, K>>,
}

impl<O: Send + 'static, K: Send + 'static> DifferenceReader<O, K> {
    pub(crate) fn new(
        target: Arc<dyn Target>,
        table: &Table,
        folder: Folder,
        classify: ClassifyItem<K>,
        most_requests: usize,
        halt: RunHalt,
    ) -> Self {
        Self {
            target,
            table: Arc::new(table.clone()),
            folder: Arc::new(folder),
            classify,
            most_requests,
            halt,
            page: Vec::new(),
            bytes: 0,
            requests: JoinSet::new(),
        }
    }

    /// Takes an item, and sends the page's request where it is full.
    pub(crate) fn push(&mut self, item_type: usize, folded: Folded, origin: O) {
        let key = folded.fingerprint;
        // No request may ask for one key twice.
        if self
            .page
            .iter()
            .any(|(_, other, _)| other.fingerprint == key)
        {
            self.send_page();
        }
        self.bytes += folded.size;
        self.page.push((item_type, folded, origin));
        if self.page.len() >= MOST_KEYS || self.bytes >= PAGE_BYTES {
            self.send_page();
        }
    }

    /// Asks the table for the items of the page, if there are any.
    pub(crate) fn send_page(&mut self) {
        if self.page.is_empty() {
            return;
        }
        self.bytes = 0;
        let page = std::mem::take(&mut self.page);
        let (target, table) = (self.target.clone(), self.table.clone());
        let (folder, classify) = (self.folder.clone(), self.classify.clone());
        let halt = self.halt.clone();
        self.requests.spawn(async move {
            look_up(&*target, &table, &folder, &*classify, &halt, page).await
        });
    }

    /// Waits for a page, but only while the most requests allowed are on their way.
    pub(crate) async fn next_if_full(&mut self) -> Option<PageLookup<O, K>> {
        if self.requests.len() < self.most_requests {
            return None;
        }
        self.next().await
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.page.is_empty() && self.requests.is_empty()
    }

    /// The next page that was answered; `None` where none is under way.
    pub(crate) async fn next(&mut self) -> Option<PageLookup<O, K>> {
        let answered = self.requests.join_next().await?;
        Some(answered.unwrap_or_else(|_| PageLookup::Unknown {
            origins: Vec::new(),
            failure: Some(Failure::Internal("a request's task died")),
        }))
    }
}

async fn look_up<O, K>(
    target: &dyn Target,
    table: &Table,
    folder: &Folder,
    classify: &(dyn Fn(usize, &Folded, Option<Item>) -> K + Send + Sync),
    halt: &RunHalt,
    page: Vec<LookedUpItem<O>>,
) -> PageLookup<O, K> {
    let keys: Vec<ItemKey> = page
        .iter()
        .filter_map(|(_, folded, _)| folder.key(&folded.item))
        .collect();
    let answer = tokio::select! {
        biased;
        answer = target.read(table, &keys, true) => answer.map_err(|error| Some(Failure::from(error))),
        () = halt.closed() => Err(None),
    };
    let items = match answer {
        Ok(page) => page.items,
        Err(failure) => {
            let origins = page.into_iter().map(|(index, _, origin)| (index, origin));
            let origins = origins.collect();
            return PageLookup::Unknown { origins, failure };
        }
    };
    let mut found: HashMap<u128, Item> = HashMap::with_capacity(items.len());
    for item in items {
        if let Some((partition, sort)) = folder.key(&item) {
            found.insert(fingerprint(&partition, sort.as_ref()), item);
        }
    }
    let classified = page.into_iter().map(|(index, folded, origin)| {
        let known = classify(index, &folded, found.remove(&folded.fingerprint));
        (index, folded, origin, known)
    });
    PageLookup::Known(classified.collect())
}

/// Whether the table's item is the one that was made, compressed attributes by what is in them.
pub(crate) fn is_same(folded: &Folded, item: &Item) -> bool {
    folded.item.same(item) || same_unpacked(&folded.item, item, &folded.compressed)
}

/// Whether DynamoDB deletes the table's expired items: its TTL is on, and of the mapping's attribute. Not if `now`, the run's
/// clock, is ahead of this machine's: what expires between the two is still in the table.
pub(crate) async fn deletes_expired(
    target: &dyn Target,
    model: &Model,
    now: Timestamp,
) -> Result<bool, TargetError> {
    if model.table.ttl.is_none() || !target.deletes_expired() || now > Timestamp::now() {
        return Ok(false);
    }
    let there = target.describe(&model.table.name).await?;
    Ok(there.is_some_and(|there| there.table.ttl == model.table.ttl))
}

/// Whether DynamoDB may have deleted an item by now, where it deletes expired items: its TTL, this moment, is over, be it
/// since the run began. `expiry`: what it was by the run's clock.
pub(crate) fn may_be_deleted(moment: &Attribute, expiry: Expiry) -> bool {
    expiry != Expiry::TooOld && is_past(moment, Timestamp::now().as_second())
}

/// What a load has to know of an item. `expires`: whether the table's expired items are deleted, so that one that is missing
/// needs no item.
pub(super) fn classify_for_load(folded: &Folded, found: Option<&Item>, expires: bool) -> KnownItem {
    match found {
        None if expires && folded.expiry == Expiry::Past => KnownItem::Same,
        None => KnownItem::Missing,
        Some(item) if is_same(folded, item) => KnownItem::Same,
        Some(_) => KnownItem::Different,
    }
}

#[cfg(test)]
mod tests {
    use dynafold_mapping::model::Expired;

    use super::*;

    #[test]
    fn an_item_is_written_unless_the_table_holds_it_or_dynamodb_has_deleted_it_as_expired() {
        let item = |text: &str| Item {
            attributes: vec![("PK".into(), Attribute::S(text.into()))],
        };
        let folded = |expiry| Folded {
            item: item("a"),
            size: 3,
            units: 1,
            fingerprint: 0,
            partition: 0,
            expiry,
            expired: Expired::Load,
            compressed: Vec::new(),
        };
        let (same, different) = (item("a"), item("b"));
        for (expiry, found, known) in [
            (Expiry::Ahead, None, KnownItem::Missing),
            (Expiry::Ahead, Some(&same), KnownItem::Same),
            (Expiry::Ahead, Some(&different), KnownItem::Different),
            (Expiry::Past, None, KnownItem::Same),
            (Expiry::Past, Some(&different), KnownItem::Different),
            // DynamoDB deletes neither of these.
            (Expiry::TooOld, None, KnownItem::Missing),
            (Expiry::Milliseconds, None, KnownItem::Missing),
        ] {
            let folded = folded(expiry);
            let of_table = |expires| classify_for_load(&folded, found, expires);
            assert_eq!(of_table(true), known, "{expiry:?} {found:?}");
            // A table whose TTL is off keeps what has expired.
            let kept = found.map_or(KnownItem::Missing, |_| known);
            assert_eq!(of_table(false), kept, "{expiry:?} {found:?}");
        }
    }
}
