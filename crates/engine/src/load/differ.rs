//! Looks at what the table holds, a page of items at a time: before anything is written, where only
//! what differs is to be written, and for `verify`.

use std::collections::HashMap;
use std::sync::Arc;

use dynafold_dynamodb::{Item, Table, fingerprint};
use dynafold_mapping::item::{Expiry, Folded, Folder, same_unpacked};
use dynafold_target::{ItemKey, Target};
use tokio::task::JoinSet;

use super::ending::RunHalt;
use super::failure::Failure;

/// Keys that one request may ask for.
const KEYS: usize = 100;
/// Bytes of items after which a request is sent with fewer keys.
const BYTES: usize = 4 << 20;
/// Requests on their way, of one worker of a load.
pub(super) const REQUESTS: usize = 8;

/// What the table holds under an item's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownItem {
    /// The item, as it should be; or it has expired and DynamoDB has deleted it already.
    Same,
    Different,
    /// Nothing.
    Missing,
}

/// Says what is known of an item of a type, from what the table holds under its key.
pub(crate) type ClassifyItem<K> = Arc<dyn Fn(usize, &Folded, Option<Item>) -> K + Send + Sync>;

/// An item that was looked for, and where it comes from.
type LookedUpItem<O> = (usize, Folded, O);

/// What came of a page: its items with what is known of them, or why there is nothing known; no
/// failure where the run's caller waits no longer.
pub(crate) type LookupResult<O, K> =
    Result<Vec<(usize, Folded, O, K)>, (Vec<(usize, O)>, Option<Failure>)>;

/// Asks the table, a page at a time.
pub(crate) struct DifferenceReader<O, K> {
    target: Arc<dyn Target>,
    table: Arc<Table>,
    folder: Arc<Folder>,
    judge: ClassifyItem<K>,
    most_requests: usize,
    halt: RunHalt,
    page: Vec<LookedUpItem<O>>,
    bytes: usize,
    requests: JoinSet<LookupResult<O, K>>,
}

impl<O: Send + 'static, K: Send + 'static> DifferenceReader<O, K> {
    pub(crate) fn new(
        target: Arc<dyn Target>,
        table: &Table,
        folder: Folder,
        judge: ClassifyItem<K>,
        most_requests: usize,
        halt: RunHalt,
    ) -> Self {
        Self {
            target,
            table: Arc::new(table.clone()),
            folder: Arc::new(folder),
            judge,
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
            self.ask();
        }
        self.bytes += folded.size;
        self.page.push((item_type, folded, origin));
        if self.page.len() >= KEYS || self.bytes >= BYTES {
            self.ask();
        }
    }

    /// Sends the page's request.
    pub(crate) fn ask(&mut self) {
        if self.page.is_empty() {
            return;
        }
        self.bytes = 0;
        let page = std::mem::take(&mut self.page);
        let (target, table) = (self.target.clone(), self.table.clone());
        let (folder, judge) = (self.folder.clone(), self.judge.clone());
        let halt = self.halt.clone();
        self.requests
            .spawn(async move { look(&*target, &table, &folder, &*judge, &halt, page).await });
    }

    /// The next page that was answered, where as many are under way as may be.
    pub(crate) async fn overdue(&mut self) -> Option<LookupResult<O, K>> {
        if self.requests.len() < self.most_requests {
            return None;
        }
        self.next().await
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.page.is_empty() && self.requests.is_empty()
    }

    /// The next page that was answered; `None` where none is under way.
    pub(crate) async fn next(&mut self) -> Option<LookupResult<O, K>> {
        match self.requests.join_next().await? {
            Ok(looked) => Some(looked),
            Err(_) => Some(Err((
                Vec::new(),
                Some(Failure::Internal("a request's task died")),
            ))),
        }
    }
}

async fn look<O, K>(
    target: &dyn Target,
    table: &Table,
    folder: &Folder,
    judge: &(dyn Fn(usize, &Folded, Option<Item>) -> K + Send + Sync),
    halt: &RunHalt,
    page: Vec<LookedUpItem<O>>,
) -> LookupResult<O, K> {
    let keys = page
        .iter()
        .filter_map(|(_, folded, _)| folder.key(&folded.item));
    let keys: Vec<ItemKey> = keys.collect();
    let read = tokio::select! {
        biased;
        read = target.read(table, &keys) => read.map_err(|error| Some(Failure::from(error))),
        () = halt.closed() => Err(None),
    };
    let read = match read {
        Ok(read) => read,
        Err(failure) => {
            let origins = page.into_iter().map(|(index, _, origin)| (index, origin));
            return Err((origins.collect(), failure));
        }
    };
    let mut found: HashMap<u128, Item> = HashMap::with_capacity(read.len());
    for item in read {
        if let Some((partition, sort)) = folder.key(&item) {
            found.insert(fingerprint(&partition, sort.as_ref()), item);
        }
    }
    let known = page.into_iter().map(|(index, folded, origin)| {
        let known = judge(index, &folded, found.remove(&folded.fingerprint));
        (index, folded, origin, known)
    });
    Ok(known.collect())
}

/// Whether the table's item is the one that was made, compressed attributes by what is in them.
pub(crate) fn is_same(folded: &Folded, item: &Item) -> bool {
    folded.item.same(item) || same_unpacked(&folded.item, item, &folded.compressed)
}

/// What a load has to know of an item.
pub(super) fn known(folded: &Folded, found: Option<&Item>) -> KnownItem {
    match found {
        None if folded.expiry == Expiry::Past => KnownItem::Same,
        None => KnownItem::Missing,
        Some(item) if is_same(folded, item) => KnownItem::Same,
        Some(_) => KnownItem::Different,
    }
}
