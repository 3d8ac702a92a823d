//! Looks at what the table holds before anything is written: only what differs is to be written.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::books::Failure;
use super::parcel::Origin;
use super::writer::Delivery;
use crate::item::{Expiry, Folded, Folder, Item, fingerprint, same_unpacked};
use crate::mapping::model::Table;
use crate::target::{Key, Target};

/// Keys that one request may ask for.
const KEYS: usize = 100;
/// Bytes of items after which a request is sent with fewer keys.
const BYTES: usize = 4 << 20;
/// Requests on their way, of one worker.
const REQUESTS: usize = 8;

/// What the table holds under an item's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// The item, as it should be; or it has expired and DynamoDB has deleted it already.
    Same,
    /// Another item.
    Different,
    /// Nothing.
    Missing,
}

/// An item that was looked for.
type Expected = (usize, Folded, Origin);

/// What came of a page: its items with what is known of them, or why there is nothing known.
pub(super) type Looked =
    Result<Vec<(usize, Folded, Origin, Known)>, (Vec<(usize, Origin)>, Failure)>;

/// Asks the table, a page at a time.
pub(super) struct Differ {
    target: Arc<dyn Target>,
    table: Arc<Table>,
    folder: Arc<Folder>,
    page: Vec<Expected>,
    bytes: usize,
    requests: JoinSet<Looked>,
}

impl Differ {
    pub(super) fn new(delivery: &Delivery, folder: Folder) -> Self {
        Self {
            target: delivery.target.clone(),
            table: Arc::new(delivery.model.table.clone()),
            folder: Arc::new(folder),
            page: Vec::new(),
            bytes: 0,
            requests: JoinSet::new(),
        }
    }

    /// Takes an item; `true` where the page is full and should be asked for.
    pub(super) fn push(&mut self, item_type: usize, folded: Folded, origin: Origin) -> bool {
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
        self.page.len() >= KEYS || self.bytes >= BYTES
    }

    /// Sends the page's request.
    pub(super) fn ask(&mut self) {
        if self.page.is_empty() {
            return;
        }
        self.bytes = 0;
        let page = std::mem::take(&mut self.page);
        let (target, table) = (self.target.clone(), self.table.clone());
        let folder = self.folder.clone();
        self.requests
            .spawn(async move { look(&*target, &table, &folder, page).await });
    }

    pub(super) fn is_full(&self) -> bool {
        self.requests.len() >= REQUESTS
    }

    pub(super) fn is_idle(&self) -> bool {
        self.page.is_empty() && self.requests.is_empty()
    }

    /// The next page that was answered; `None` where none is under way.
    pub(super) async fn next(&mut self) -> Option<Looked> {
        match self.requests.join_next().await? {
            Ok(looked) => Some(looked),
            Err(_) => Some(Err((
                Vec::new(),
                Failure::internal("a request's task died"),
            ))),
        }
    }
}

async fn look(target: &dyn Target, table: &Table, folder: &Folder, page: Vec<Expected>) -> Looked {
    let keys = page
        .iter()
        .filter_map(|(_, folded, _)| folder.key(&folded.item));
    let keys: Vec<Key> = keys.collect();
    let read = match target.read(table, &keys).await {
        Ok(read) => read,
        Err(error) => {
            let origins = page.into_iter().map(|(index, _, origin)| (index, origin));
            return Err((origins.collect(), Failure::from(&error)));
        }
    };
    let mut found: HashMap<u128, Item> = HashMap::with_capacity(read.len());
    for item in read {
        if let Some((partition, sort)) = folder.key(&item) {
            found.insert(fingerprint(&partition, sort.as_ref()), item);
        }
    }
    let known = page.into_iter().map(|(index, folded, origin)| {
        let known = match found.remove(&folded.fingerprint) {
            None if folded.expiry == Expiry::Past => Known::Same,
            None => Known::Missing,
            Some(item)
                if folded.item.same(&item)
                    || same_unpacked(&folded.item, &item, &folded.compressed) =>
            {
                Known::Same
            }
            Some(_) => Known::Different,
        };
        (index, folded, origin, known)
    });
    Ok(known.collect())
}
