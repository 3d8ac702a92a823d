//! Finds stale items, which no row makes any more, and has them deleted where that is asked for.
//!
//! The table's keys are scanned, side by side in segments, and compared with those of the run: the
//! fingerprints of both go to sorted runs on disk, so that memory does not grow with the table. An
//! item is deleted only where its item type is one of the mapping's that the run was about, no row
//! makes its key, and what has become of its row is what was asked for. Items from elsewhere are never
//! touched. What earlier loads have done decides nothing: the same command does the same again.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Prune;
use super::deletions::Deletions;
use super::failure::Failure;
use super::halt::Cancel;
use super::owner::Owners;
use super::report::Left;
use super::rules::{Doing, EXPIRED, FILTERED, REJECTED, SENT};
use super::writer::Delivery;
use crate::item::{Attribute, Item, fingerprints, write_item};
use crate::mapping::model::Model;
use crate::proof::{Proof, ProofError};
use crate::target::{Page, Target, TargetError, Wanted};

/// Segments that are scanned side by side.
const SEGMENTS: u32 = 4;
/// Pages that wait to be taken in.
const PAGES_AHEAD: usize = 2;
/// Marks the locators of items that the table holds; those of rows are below.
const IN_TABLE: u64 = 1 << 63;
/// Stands for the item type of items from elsewhere.
pub(crate) const STRANGER: usize = usize::MAX;

/// What has become of the row of a stale item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stale {
    /// No row that was read makes its key.
    Gone,
    /// `where` leaves it out.
    Filtered,
    /// It makes no item that DynamoDB would take.
    Rejected,
    /// It has expired, and is not to be loaded.
    Expired,
}

/// Reads the table's keys.
pub(crate) struct Scan<'s> {
    pub(crate) target: &'s Arc<dyn Target>,
    pub(crate) model: &'s Arc<Model>,
    /// What tells the item types apart; without it every item is a stranger.
    pub(crate) owners: Option<&'s Owners>,
    /// Whether items from elsewhere are taken in too, as of the type [`STRANGER`].
    pub(crate) strangers: bool,
    /// The partition that the run is about.
    pub(crate) partition: Option<Attribute>,
    /// The run's clock, in seconds since 1970.
    pub(crate) now: i64,
    pub(crate) cancel: &'s Cancel,
}

/// An item of the table that no row makes.
#[derive(Debug)]
pub(crate) struct Stray {
    pub(crate) item_type: usize,
    /// Stands for its partition key, as in the items that are put.
    pub(super) partition: u64,
    /// Its key.
    pub(crate) json: String,
    /// What has become of its row.
    pub(crate) stale: Stale,
    /// Whether its TTL is over: DynamoDB deletes it when it comes to it.
    pub(crate) past: bool,
    /// Whether an attempt of this run has sent it.
    sent: bool,
}

/// The keys of the table on disk: each its item type, its partition and its JSON.
#[derive(Debug)]
pub(crate) struct Spool {
    file: BufWriter<File>,
    length: u64,
}

/// Why the comparison did not come to its end.
#[derive(Debug)]
pub(crate) enum Broken {
    Cancelled,
    Failed(Failure),
}

impl From<ProofError> for Broken {
    fn from(error: ProofError) -> Self {
        Self::Failed(Failure::new("keys", &error, Some(error.help())))
    }
}

impl From<std::io::Error> for Broken {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(Failure::scratch(&error))
    }
}

impl Spool {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(tempfile::tempfile()?),
            length: 0,
        })
    }

    /// Appends a key; gives its place.
    fn push(
        &mut self,
        item_type: usize,
        partition: u64,
        past: bool,
        json: &str,
    ) -> std::io::Result<u64> {
        let place = self.length;
        let head = [
            u32::try_from(item_type).unwrap_or(u32::MAX).to_le_bytes(),
            u32::try_from(json.len()).unwrap_or(u32::MAX).to_le_bytes(),
        ];
        self.file.write_all(head.as_flattened())?;
        self.file.write_all(&partition.to_le_bytes())?;
        self.file.write_all(&[u8::from(past)])?;
        self.file.write_all(json.as_bytes())?;
        self.length += u64::try_from(json.len() + 17).unwrap_or(u64::MAX);
        Ok(place)
    }

    fn reader(self) -> std::io::Result<BufReader<File>> {
        let file = self
            .file
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        Ok(BufReader::new(file))
    }
}

fn read_key(
    file: &mut BufReader<File>,
    place: u64,
    stale: Stale,
    sent: bool,
) -> std::io::Result<Stray> {
    file.seek(SeekFrom::Start(place))?;
    let mut number = || -> std::io::Result<usize> {
        let mut four = [0; 4];
        file.read_exact(&mut four)?;
        let number = u32::from_le_bytes(four);
        let number = usize::try_from(number).ok().filter(|_| number != u32::MAX);
        Ok(number.unwrap_or(STRANGER))
    };
    let (item_type, length) = (number()?, number()?);
    let mut partition = [0; 8];
    file.read_exact(&mut partition)?;
    let mut past = [0];
    file.read_exact(&mut past)?;
    let mut json = vec![0; length];
    file.read_exact(&mut json)?;
    Ok(Stray {
        item_type,
        partition: u64::from_le_bytes(partition),
        json: String::from_utf8(json).map_err(std::io::Error::other)?,
        stale,
        past: past != [0],
        sent,
    })
}

impl Scan<'_> {
    /// Adds the keys of the table's items to those of the run; `wanted` says of which item types.
    pub(crate) async fn read(self, keys: &mut Proof, wanted: &[bool]) -> Result<Spool, Broken> {
        let (sender, mut pages) = mpsc::channel(PAGES_AHEAD);
        let mut tasks = JoinSet::new();
        let segments = if self.partition.is_some() {
            1
        } else {
            SEGMENTS
        };
        for segment in 0..segments {
            let wanted = Wanted {
                segment,
                segments,
                partition: self.partition.clone(),
                ..self.wanted()
            };
            let (target, model) = (self.target.clone(), self.model.clone());
            tasks.spawn(scan(target, model, wanted, sender.clone()));
        }
        drop(sender);
        let mut spool = Spool::new()?;
        let mut json = String::new();
        loop {
            let page = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(Broken::Cancelled),
                page = pages.recv() => page,
            };
            let Some(page) = page else { return Ok(spool) };
            let page = page.map_err(|error| Broken::Failed(Failure::from(&error)))?;
            for item in page.items {
                let owner = self.owners.and_then(|owners| owners.owner(&item));
                if !owner.map_or(self.strangers, |owner| {
                    wanted.get(owner).copied().unwrap_or_default()
                }) {
                    continue;
                }
                let owner = owner.unwrap_or(STRANGER);
                let past = self.is_past(&item);
                let key = self.key(item);
                let mut values = key.attributes.iter().map(|(_, value)| value);
                let Some(partition) = values.next() else {
                    continue;
                };
                let (fingerprint, partition) = fingerprints(partition, values.next());
                json.clear();
                write_item(&mut json, &key);
                let place = spool.push(owner, partition, past, &json)?;
                keys.push(fingerprint, IN_TABLE | place)?;
            }
        }
    }

    /// What must be known of the items.
    fn wanted(&self) -> Wanted {
        let table = &self.model.table;
        let mut names: Vec<Arc<str>> = match self.owners {
            None => std::iter::once(&table.partition)
                .chain(&table.sort)
                .map(|key| key.name.clone())
                .collect(),
            Some(owners) => owners.attributes(),
        };
        if let Some(ttl) = &table.ttl
            && !names.iter().any(|name| **name == **ttl)
        {
            names.push(ttl.as_str().into());
        }
        Wanted {
            attributes: Some(names),
            ..Wanted::all()
        }
    }

    /// Whether an item's TTL is over.
    fn is_past(&self, item: &Item) -> bool {
        let ttl = self.model.table.ttl.as_ref().and_then(|ttl| item.get(ttl));
        matches!(ttl, Some(Attribute::N(number)) if number.to_i64().is_some_and(|at| at < self.now))
    }

    /// The key of an item, partition key first.
    fn key(&self, item: Item) -> Item {
        let table = &self.model.table;
        let names = std::iter::once(&table.partition).chain(&table.sort);
        let mut attributes = item.attributes;
        let values = names.filter_map(|key| {
            let at = attributes.iter().position(|(name, _)| *name == key.name)?;
            Some(attributes.swap_remove(at))
        });
        Item {
            attributes: values.collect(),
        }
    }
}

async fn scan(
    target: Arc<dyn Target>,
    model: Arc<Model>,
    wanted: Wanted,
    pages: mpsc::Sender<Result<Page, TargetError>>,
) {
    let mut from = None;
    loop {
        let page = target.scan(&model.table, &wanted, from.take()).await;
        from = page.as_ref().ok().and_then(|page| page.next.clone());
        if pages.send(page).await.is_err() || from.is_none() {
            return;
        }
    }
}

/// Compares the keys; `each` takes every item that no row makes, and says whether to go on. Gives how
/// many items several rows have written over each other. `forgotten`: the attempts whose rows came
/// again under another one.
pub(crate) async fn compare(
    keys: Proof,
    spool: Spool,
    forgotten: &HashSet<u64>,
    mut each: impl AsyncFnMut(Stray) -> bool,
) -> Result<u64, Broken> {
    let died = |_| Broken::Failed(Failure::internal("the comparison of keys died"));
    let mut groups = tokio::task::spawn_blocking(|| keys.finish())
        .await
        .map_err(died)??;
    let mut file = spool.reader()?;
    let mut overwritten = 0;
    loop {
        let (mut rows, mut place) = (0_u64, None);
        let (mut again, mut sent, mut stale) = (false, false, Stale::Gone);
        let found = groups.next_any(|locator| match locator {
            REJECTED => stale = Stale::Rejected,
            EXPIRED if stale != Stale::Rejected => stale = Stale::Expired,
            FILTERED if stale == Stale::Gone => stale = Stale::Filtered,
            EXPIRED | FILTERED => {}
            SENT => sent = true,
            place_in_table if place_in_table >= IN_TABLE => place = Some(place_in_table - IN_TABLE),
            read_again if forgotten.contains(&read_again) => again = true,
            _ => rows += 1,
        })?;
        if !found {
            return Ok(overwritten);
        }
        overwritten += rows.saturating_sub(1);
        if let Some(place) = place
            && rows == 0
            && !again
            && !each(read_key(&mut file, place, stale, sent)?).await
        {
            return Err(Broken::Cancelled);
        }
    }
}

/// What is looked for in the table, and what is done with it.
pub(super) struct Pruning<'p> {
    /// What is deleted; `None`: what an attempt of this run has sent, and nothing else.
    pub(super) prune: Option<&'p Prune>,
    /// What tells the item types apart. What this run has sent is known without.
    pub(super) owners: Option<&'p Owners>,
    /// The item types that are looked at.
    pub(super) wanted: &'p [bool],
    pub(super) partition: Option<Attribute>,
    pub(super) doing: Doing,
    pub(super) now: i64,
    pub(super) cancel: &'p Cancel,
}

/// Deletes what no row makes, or counts it where the run only plans. Gives the items that were written
/// over others, and what was left.
pub(super) async fn prune(
    delivery: &Arc<Delivery>,
    mut keys: Proof,
    pruning: Pruning<'_>,
) -> Result<(u64, Left), Broken> {
    let (model, cancel) = (&delivery.model, pruning.cancel);
    let scan = Scan {
        target: &delivery.target,
        model,
        owners: pruning.owners,
        strangers: pruning.prune.is_none(),
        partition: pruning.partition,
        now: pruning.now,
        cancel,
    };
    let spool = scan.read(&mut keys, pruning.wanted).await?;
    let mut deletions = Deletions::new(delivery, pruning.doing);
    let mut left = Left::default();
    let forgotten = delivery.ledger.forgotten();
    let compared = compare(keys, spool, &forgotten, async |stray| {
        let deletes = match pruning.prune {
            None => left.is_own(&stray, stray.sent),
            Some(prune) => left.asked_for(prune, model, &stray),
        };
        if deletes {
            deletions.delete(&stray).await;
        }
        !cancel.is_cancelled() && !delivery.halt.has_failed()
    })
    .await;
    deletions.end().await;
    compared.map(|overwritten| (overwritten, left))
}

impl Left {
    /// Whether an item is deleted where nobody has asked for it: only what the run has sent itself.
    fn is_own(&mut self, stray: &Stray, sent: bool) -> bool {
        let owned = stray.item_type != STRANGER;
        self.others += u64::from(!sent && owned);
        self.strangers += u64::from(sent && !owned);
        sent
    }

    /// Whether what has become of an item's row is what is asked for.
    fn asked_for(&mut self, prune: &Prune, model: &Model, stray: &Stray) -> bool {
        let selecting = || {
            let item_type = model.item_types.get(stray.item_type);
            item_type.is_none_or(|item_type| prune.selecting.contains(&*item_type.name))
        };
        let left = match stray.stale {
            Stale::Rejected => &mut self.rejected,
            Stale::Expired => &mut self.expired,
            _ if prune.filtered => return true,
            Stale::Filtered => &mut self.filtered,
            Stale::Gone if selecting() => &mut self.not_returned,
            Stale::Gone => return true,
        };
        *left += 1;
        false
    }
}

/// Looks for items that were written over another, where all were written already.
pub(super) async fn overwritten(keys: Proof, forgotten: &HashSet<u64>) -> Result<u64, Broken> {
    compare(keys, Spool::new()?, forgotten, async |_| true).await
}

/// The item types that a run is about: those that a pass makes.
pub(crate) fn selected(model: &Model) -> Vec<bool> {
    let mut selected = vec![false; model.item_types.len()];
    for index in model.passes.iter().flat_map(|pass| &pass.item_types) {
        if let Some(selected) = selected.get_mut(*index) {
            *selected = true;
        }
    }
    selected
}
