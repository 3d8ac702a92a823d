//! The books: what became of every row and every item. They must add up.

use std::collections::BTreeMap;

use dynafold_mapping::item::Expiry;
use dynafold_mapping::model::Model;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Adds the numbers of one struct to those of another, field by field.
macro_rules! add_fields {
    ($to:ident += $of:ident: $($field:ident),+) => { $($to.$field += $of.$field;)+ };
}
pub(crate) use add_fields;

/// How many rows of an item type were read, and how many made no item or several.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowCounts {
    pub(crate) rows_read: u64,
    pub(crate) filtered: u64,
    /// Rows of which no element became an item.
    pub(crate) empty: u64,
    /// Elements beyond the first of their rows.
    pub(crate) expanded: u64,
    /// Children of embeds whose parent is missing or not read.
    pub(crate) orphans: u64,
    /// Children of embeds beyond their `$limit`.
    pub(crate) cut: u64,
}

/// The books of one item type.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Books {
    /// The item type's name.
    pub item_type: String,
    /// The relation that its rows are read from, as the mapping names it.
    pub from: String,
    /// Rows of that relation.
    pub rows_read: u64,
    /// Rows left out by the item type's `where`.
    pub filtered: u64,
    /// Rows and elements left out because their items have expired.
    pub expired: u64,
    /// Rows and elements whose items went to the archive file because they have expired.
    pub archived: u64,
    /// Rows of which no element became an item, because the arrays to explode are empty or NULL.
    pub empty: u64,
    /// Elements beyond the first of their rows, where rows are exploded.
    pub expanded: u64,
    /// Children of embeds whose parent is missing or not read.
    pub orphans: u64,
    /// Children of embeds beyond their `$limit`.
    pub cut: u64,
    /// Rows and elements that became no item, and items that the service refused to take or to
    /// delete.
    pub rejected: u64,
    /// Of those, the items that the service refused to take.
    pub rejected_by_service: u64,
    /// The rejects by their codes.
    pub rejects_by_code: BTreeMap<String, u64>,
    /// Items that rows were folded into; those that the service refused count too.
    pub made: u64,
    /// Items that the target has confirmed as written.
    pub written: u64,
    /// Items that the table already held in the same version; they were not written again.
    pub unchanged: u64,
    /// Items that a plan would write.
    pub planned: u64,
    /// Of the items written or planned, those of which the table held another version, where the table was read.
    pub changed: u64,
    /// Items deleted because no row makes them any more; with a plan, those that it would delete.
    pub deleted: u64,
    /// Items that the service refused to delete; they count as rejected too.
    pub undeleted: u64,
    /// Items made that were not confirmed as written before the run ended.
    pub unwritten: u64,
    /// Bytes of the items made, as DynamoDB counts them.
    pub bytes: u64,
    /// Write capacity units of the items made, index entries included, by their sizes.
    pub write_units: u64,
    /// Of the items made, those with attributes that were compressed.
    pub compressed: u64,
    /// Of the items made, those that have expired: DynamoDB will delete them.
    pub made_expired: u64,
    /// Of the items made, those that expired more than five years ago: DynamoDB never deletes
    /// them.
    pub made_too_old: u64,
    /// Of the items made, those whose TTL is in milliseconds: DynamoDB never deletes them.
    pub made_in_milliseconds: u64,
    /// The largest item made.
    pub largest: Option<LargestItem>,
}

/// The largest item of an item type.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LargestItem {
    /// Its bytes, as DynamoDB counts them.
    pub bytes: u64,
    /// The row it was made from: row key columns and their values.
    pub row: Box<RawValue>,
}

impl Books {
    /// Whether every row and every item is accounted for.
    pub fn balances(&self) -> bool {
        let refused = self.rejected_by_service + self.undeleted;
        let rejected_at_fold = self.rejected.checked_sub(refused);
        let by_code: u64 = self.rejects_by_code.values().sum();
        rejected_at_fold.is_some_and(|at_fold| {
            self.rows_read + self.expanded
                == self.filtered + self.empty + self.expired + self.archived + at_fold + self.made
                && self.made
                    == self.written
                        + self.unchanged
                        + self.planned
                        + self.rejected_by_service
                        + self.unwritten
                && self.rejected == by_code
        })
    }

    /// Empty books of an item type.
    pub(super) fn of(model: &Model, index: usize) -> Self {
        let item_type = model.item_types.get(index);
        let pass = item_type.and_then(|item_type| model.passes.get(item_type.pass));
        Self {
            item_type: item_type.map_or_else(String::new, |item_type| item_type.name.to_string()),
            from: pass.map(|pass| pass.name.clone()).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Adds the counts of some rows.
    pub(super) fn count_rows(&mut self, counts: &RowCounts) {
        add_fields!(self += counts: rows_read, filtered, empty, expanded, orphans, cut);
    }

    /// All of them together.
    pub(super) fn sum(all: &[Self]) -> Self {
        let mut sum = Self::default();
        for books in all {
            sum.add(books);
        }
        sum
    }

    pub(super) fn reject(&mut self, code: &str) {
        self.rejected += 1;
        *self.rejects_by_code.entry(code.to_owned()).or_default() += 1;
    }

    /// Adds other books of the same item type, and keeps the larger of the two largest items.
    pub(super) fn merge(&mut self, other: Self) {
        self.add(&other);
        if let Some(theirs) = other.largest
            && self
                .largest
                .as_ref()
                .is_none_or(|mine| theirs.bytes > mine.bytes)
        {
            self.largest = Some(theirs);
        }
    }

    /// Counts an item by its TTL.
    pub(super) fn count_expiry(&mut self, expiry: Expiry) {
        match expiry {
            Expiry::Ahead => {}
            Expiry::Past => self.made_expired += 1,
            Expiry::TooOld => self.made_too_old += 1,
            Expiry::Milliseconds => self.made_in_milliseconds += 1,
        }
    }

    /// Mean bytes of an item; 0 without items.
    pub fn mean_bytes(&self) -> u64 {
        self.bytes.checked_div(self.made).unwrap_or(0)
    }

    /// Adds the numbers of another item type's books, without the largest item.
    pub fn add(&mut self, other: &Self) {
        add_fields!(
            self += other:
            rows_read, filtered, expired, archived, empty, expanded, orphans, cut, rejected,
            rejected_by_service
        );
        for (code, count) in &other.rejects_by_code {
            *self.rejects_by_code.entry(code.clone()).or_default() += count;
        }
        add_fields!(
            self += other:
            made, written, unchanged, planned, changed, deleted, undeleted, unwritten, bytes,
            write_units, compressed, made_expired, made_too_old, made_in_milliseconds
        );
    }
}

/// Remarks on TTLs that DynamoDB will not treat as the user may expect: one for each item type and kind.
pub(super) fn ttl_remarks(all: &[Books]) -> Vec<String> {
    let mut remarks = Vec::new();
    for books in all {
        let of_type = [
            (
                books.made_expired,
                "had already expired; DynamoDB deletes such items again, and `expired: skip` leaves them out",
            ),
            (
                books.made_too_old,
                "expired more than five years ago; DynamoDB never deletes such items, and `expired: skip` leaves them out",
            ),
            (
                books.made_in_milliseconds,
                "with a TTL in milliseconds; DynamoDB reads seconds, as `epoch` gives them, and never deletes such items",
            ),
        ];
        for (items, text) in of_type.into_iter().filter(|(items, _)| *items > 0) {
            let plural = if items == 1 { "" } else { "s" };
            remarks.push(format!("{}: {items} item{plural} {text}", books.item_type));
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Rows: 10 + 2 = 1 + 1 + 1 + 1 + 1 rejected at the fold + 7 made. Items: 7 = 2 + 1 + 2 + 1 refused + 1.
    fn balanced() -> Value {
        json!({
            "rows_read": 10, "expanded": 2,
            "filtered": 1, "empty": 1, "expired": 1, "archived": 1, "made": 7,
            "rejected": 3, "rejected_by_service": 1, "undeleted": 1,
            "rejects_by_code": { "duplicate-key": 3 },
            "written": 2, "unchanged": 1, "planned": 2, "unwritten": 1,
        })
    }

    fn balances(books: Value) -> bool {
        serde_json::from_value::<Books>(books).unwrap().balances()
    }

    #[test]
    fn books_balance_only_if_every_row_and_item_is_accounted_for() {
        assert!(balances(balanced()));
        let numbers = balanced();
        let numbers = numbers.as_object().unwrap();
        for (name, number) in numbers.iter().filter(|(_, value)| value.is_u64()) {
            let mut one_more = balanced();
            one_more[name] = json!(number.as_u64().unwrap() + 1);
            assert!(!balances(one_more), "{name}");
        }
        let mut two_codes = balanced();
        two_codes["rejects_by_code"]["item-too-large"] = json!(1);
        assert!(!balances(two_codes));
        // More items refused than rejected.
        assert!(!balances(
            json!({ "rejected_by_service": 1, "rows_read": 1, "made": 1 })
        ));
    }

    #[test]
    fn adding_books_forgets_no_number() {
        let mut ones = serde_json::to_value(Books::default()).unwrap();
        for value in ones.as_object_mut().unwrap().values_mut() {
            if value.is_u64() {
                *value = json!(1);
            }
        }
        ones["rejects_by_code"] = json!({ "duplicate-key": 1 });
        let books: Books = serde_json::from_value(ones).unwrap();
        let mut sum = books.clone();
        sum.add(&books);
        let sum = serde_json::to_value(sum).unwrap();
        assert_eq!(sum["rejects_by_code"], json!({ "duplicate-key": 2 }));
        for (name, value) in sum.as_object().unwrap() {
            assert!(!value.is_u64() || *value == 2, "{name}");
        }
    }

    #[test]
    fn merging_books_keeps_the_largest_item() {
        let books = |bytes: Option<u64>| Books {
            largest: bytes.map(|bytes| LargestItem {
                bytes,
                row: RawValue::from_string("{}".to_owned()).unwrap(),
            }),
            ..Books::default()
        };
        for (mine, theirs, kept) in [
            (None, None, None),
            (None, Some(5), Some(5)),
            (Some(5), None, Some(5)),
            (Some(5), Some(6), Some(6)),
            (Some(6), Some(5), Some(6)),
        ] {
            let mut merged = books(mine);
            merged.merge(books(theirs));
            assert_eq!(merged.largest.map(|item| item.bytes), kept);
        }
    }

    #[test]
    fn unexpected_ttls_are_remarked_on_by_item_type() {
        let books = |item_type: &str, made_expired, made_in_milliseconds| Books {
            item_type: item_type.to_owned(),
            made_expired,
            made_in_milliseconds,
            ..Books::default()
        };
        let remarks = ttl_remarks(&[books("a", 1, 2), books("b", 0, 0)]);
        assert_eq!(remarks.len(), 2);
        assert!(remarks[0].starts_with("a: 1 item had already expired;"));
        assert!(remarks[1].starts_with("a: 2 items with a TTL in milliseconds;"));
    }
}
