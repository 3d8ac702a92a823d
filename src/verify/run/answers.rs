//! Asking the table for a page of items, and judging what it answers.

use std::collections::HashMap;

use super::{Answered, Expected, Page, Run};
use crate::item::{Folder, Item, fingerprint, same_unpacked};
use crate::load::{Failure, json, raw, row_json};
use crate::mapping::model::Model;
use crate::target::{Key, Target};
use crate::verify::compare::compare;
use crate::verify::report::{Finding, FindingKind};

impl Run {
    /// Sends the page's request, when there are not too many under way.
    pub(super) async fn ask(&mut self) {
        let next = Page {
            number: self.page.number + 1,
            ..Page::default()
        };
        let page = std::mem::replace(&mut self.page, next);
        if page.items.is_empty() {
            return;
        }
        while self.requests.len() >= self.most_requests {
            self.answer().await;
        }
        let target = self.target.clone();
        let model = self.model.clone();
        let folder = self.sieve.folder.clone();
        self.requests.spawn(async move {
            let found = read(&*target, &model, &folder, &page.items).await;
            Answered { page, found }
        });
    }

    /// Takes one answer in; `false` when none is under way.
    pub(super) async fn answer(&mut self) -> bool {
        match self.requests.join_next().await {
            None => return false,
            Some(Err(_)) => {
                self.failure = Some(Failure::internal("a request's task died"));
            }
            Some(Ok(Answered { page, found })) => match found {
                Ok(found) => self.take(page, found),
                Err(failure) => {
                    self.failure.get_or_insert(failure);
                    self.count_uncompared(&page.items);
                }
            },
        }
        true
    }

    fn take(&mut self, page: Page, found: Vec<Option<Item>>) {
        for (place, (expected, found)) in page.items.into_iter().zip(found).enumerate() {
            let Some(books) = self.books.get_mut(expected.item_type) else {
                continue;
            };
            self.progress.written(expected.item_type, 1);
            let (kind, attributes) = match found {
                Some(found)
                    if expected.item.same(&found)
                        || same_unpacked(&expected.item, &found, &expected.compressed) =>
                {
                    books.equal += 1;
                    continue;
                }
                None if expected.may_be_gone => {
                    books.gone += 1;
                    continue;
                }
                Some(found) => {
                    books.different += 1;
                    (FindingKind::Different, compare(&expected.item, &found))
                }
                None => {
                    books.missing += 1;
                    (FindingKind::Missing, Vec::new())
                }
            };
            let item_type = self.model.item_types.get(expected.item_type);
            let finding = Finding {
                kind,
                item_type: item_type.map(|t| t.name.to_string()),
                row: item_type.map(|t| raw(row_json(t, &expected.row))),
                key: raw(json(&key_item(&self.model, &expected.item))),
                attributes,
            };
            self.note((page.number, place), finding);
        }
    }

    /// Keeps the first findings in the order of the rows, whatever the order of the answers.
    pub(super) fn note(&mut self, place: (usize, usize), finding: Finding) {
        self.findings.push((place, finding));
        if self.findings.len() >= self.most_findings.saturating_mul(2).max(64) {
            self.trim();
        }
    }

    pub(super) fn trim(&mut self) {
        self.findings.sort_by_key(|(place, _)| *place);
        self.findings.truncate(self.most_findings);
    }

    pub(super) fn set_aside(&mut self) {
        let items = std::mem::take(&mut self.page.items);
        self.count_uncompared(&items);
    }

    fn count_uncompared(&mut self, items: &[Expected]) {
        for item in items {
            if let Some(books) = self.books.get_mut(item.item_type) {
                books.uncompared += 1;
            }
        }
    }
}

/// Reads the table's items for a page, in the page's order.
async fn read(
    target: &dyn Target,
    model: &Model,
    folder: &Folder,
    items: &[Expected],
) -> Result<Vec<Option<Item>>, Failure> {
    let keys: Vec<Key> = items.iter().filter_map(|e| folder.key(&e.item)).collect();
    let read = target.read(&model.table, &keys).await;
    let read = read.map_err(|error| Failure::from(&error))?;
    let mut found: HashMap<u128, Item> = HashMap::with_capacity(read.len());
    for item in read {
        if let Some((partition, sort)) = folder.key(&item) {
            found.insert(fingerprint(&partition, sort.as_ref()), item);
        }
    }
    let in_order = items.iter().map(|e| found.remove(&e.fingerprint));
    Ok(in_order.collect())
}

/// An item's key as an item of its own.
fn key_item(model: &Model, item: &Item) -> Item {
    let is_key = |name: &str| {
        let table = &model.table;
        *table.partition.name == *name || table.sort.iter().any(|sort| *sort.name == *name)
    };
    let attributes = item.attributes.iter().filter(|(name, _)| is_key(name));
    Item {
        attributes: attributes.cloned().collect(),
    }
}
