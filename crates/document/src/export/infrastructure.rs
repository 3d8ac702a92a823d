//! What is to be there for a table to serve: plain data, in no format's words.
//!
//! The table is the one that `migrate` makes (`target::dynamodb::create`); what scales its capacity
//! and what keeps expired items stands beside it.

use dynafold_dynamodb::{Autoscale, Index, KeyAttribute, StreamView, Table, Throughput};
use dynafold_mapping::model::{Expired, Model, RollUp};
use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub(super) struct Infrastructure<'m> {
    pub(super) table: &'m Table,
    /// The key attributes of the table and its indexes, each once.
    pub(super) attributes: Vec<&'m KeyAttribute>,
    /// What the table's stream holds: what the mapping says, or what the archive needs.
    pub(super) stream: Option<StreamView>,
    /// What follows the load: the table first, then its indexes; reads before writes.
    pub(super) scaling: Vec<Scaling<'m>>,
    /// Whether what expires is kept in cold storage.
    pub(super) archives: bool,
    /// What is summed on a schedule.
    pub(super) roll_ups: &'m [RollUp],
    /// What has to be known, whatever the format.
    pub(super) warnings: Vec<String>,
}

/// Capacity of a table or an index that follows the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scaling<'m> {
    /// The index; the table itself without it.
    pub(super) index: Option<&'m str>,
    pub(super) what: Capacity,
    pub(super) bounds: ScalingBounds,
}

impl Scaling<'_> {
    /// What is scaled, as words from which each format makes a name: `Index-GSI1-Read`.
    pub(super) fn words(&self) -> String {
        let word = self.what.word();
        match self.index {
            None => format!("Table-{word}"),
            Some(index) => format!("Index-{index}-{word}"),
        }
    }

    /// Values for the placeholders of both formats' templates, such as `@min@`.
    pub(super) fn values(&self) -> [(&'static str, String); 6] {
        let (index, dimension) = match self.index {
            None => (String::new(), "table"),
            Some(index) => (format!("/index/{index}"), "index"),
        };
        [
            ("index", index),
            ("dimension", dimension.to_owned()),
            ("word", self.what.word().to_owned()),
            ("min", self.bounds.min.to_string()),
            ("max", self.bounds.max.to_string()),
            ("target", self.bounds.target.to_string()),
        ]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capacity {
    Read,
    Write,
}

impl Capacity {
    /// AWS's word, as in `ReadCapacityUnits`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::Write => "Write",
        }
    }
}

/// Within which bounds capacity moves, and what it aims at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScalingBounds {
    pub(super) min: u64,
    pub(super) max: u64,
    /// What is provisioned at first.
    pub(super) first: u64,
    /// Percent in use.
    pub(super) target: u64,
}

impl ScalingBounds {
    /// The policy's bounds around the first capacity; without a policy, equal bounds, between which
    /// capacity cannot move.
    pub(super) fn of(policy: Option<Autoscale>, first: u64) -> Self {
        /// Percent in use where capacity cannot move: the service asks for a target all the same.
        const UNMOVED: u64 = 70;
        match policy {
            Some(policy) => Self {
                min: policy.min.unwrap_or(first).min(first),
                // An index may begin with more than the table's policy allows.
                max: policy.max.max(first),
                first,
                target: policy.target,
            },
            None => Self {
                min: first,
                max: first,
                first,
                target: UNMOVED,
            },
        }
    }
}

impl<'m> Infrastructure<'m> {
    pub(super) fn of(model: &'m Model) -> Self {
        let table = &model.table;
        let mut warnings = Vec::new();
        let (stream, archives) = archive(model, &mut warnings);
        Self {
            table,
            attributes: table.key_attributes(),
            stream,
            scaling: scaling(table),
            archives,
            roll_ups: &model.roll_ups,
            warnings,
        }
    }

    /// What a schedule hands to the function that sums.
    pub(super) fn roll_up_input(&self, roll_up: &RollUp) -> Value {
        let key: Vec<&str> = self.table.key().map(|key| &*key.name).collect();
        json!({
            "key": key,
            "mark": &*roll_up.mark,
            "of": roll_up.of_mark,
            "begins": roll_up.mark_is_prefix,
            "total": roll_up.total_mark,
            "attribute": &*roll_up.attribute,
            "count": roll_up.counts_items,
            "cut": roll_up.cut,
            "around": roll_up.around,
        })
    }

    /// Whether capacity follows the load somewhere.
    pub(super) fn scales(&self) -> bool {
        !self.scaling.is_empty()
    }
}

/// The capacity of an index at first; `None` on demand.
pub(super) fn provisioned_of(table: &Table, index: &Index) -> Option<Throughput> {
    let of_table = table.billing.provisioned()?;
    Some(index.throughput.unwrap_or(of_table))
}

/// The policy of an index: its own, or the table's.
pub(super) fn policy(table: &Table, index: Option<&Index>) -> Option<Autoscale> {
    let own = index.and_then(|index| index.autoscale);
    own.or(table.settings.autoscale)
}

fn scaling(table: &Table) -> Vec<Scaling<'_>> {
    let of_table = (None, table.billing.provisioned());
    let indexes = table.indexes.iter();
    let of_indexes = indexes.map(|index| (Some(index), provisioned_of(table, index)));
    let mut scalings = Vec::new();
    for (index, provisioned) in std::iter::once(of_table).chain(of_indexes) {
        let (Some(units), Some(policy)) = (provisioned, policy(table, index)) else {
            continue;
        };
        for (what, first) in [(Capacity::Read, units.read), (Capacity::Write, units.write)] {
            scalings.push(Scaling {
                index: index.map(|index| index.name.as_str()),
                what,
                bounds: ScalingBounds::of(Some(policy), first),
            });
        }
    }
    scalings
}

/// The stream, and whether an archive is fed from it.
fn archive(model: &Model, warnings: &mut Vec<String>) -> (Option<StreamView>, bool) {
    let declared = model.table.settings.stream;
    let wanted = model
        .item_types
        .iter()
        .any(|item| item.expired == Expired::Archive);
    if !wanted {
        return (declared, false);
    }
    if let Some(view @ (StreamView::KeysOnly | StreamView::NewImage)) = declared {
        warnings.push(format!(
            "there is no archive of expired items: the table's stream (`{}`) does not contain deleted items; use `stream: old-image` or `new-and-old-images`",
            view.word()
        ));
        return (declared, false);
    }
    if !model.table.settings.replicas.is_empty() {
        warnings.push(
            "the archive gets only what expires in the table's own region, but a replica may delete an item first: create the archive's resources in each region"
                .to_owned(),
        );
    }
    (Some(declared.unwrap_or(StreamView::OldImage)), true)
}

/// The attributes of a key in order, each with DynamoDB's word for its role.
pub(super) fn key_schema<'k>(
    partition: &'k [KeyAttribute],
    sort: &'k [KeyAttribute],
) -> impl Iterator<Item = (&'k str, &'static str)> {
    let partition = partition.iter().map(|key| (key.name.as_ref(), "HASH"));
    partition.chain(sort.iter().map(|key| (key.name.as_ref(), "RANGE")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_capacity_lies_within_the_bounds() {
        let policy = |min| Autoscale {
            min,
            max: 100,
            target: 50,
        };
        let bounds = |policy, first| {
            let bounds = ScalingBounds::of(policy, first);
            (bounds.min, bounds.max, bounds.target)
        };
        assert_eq!(bounds(Some(policy(Some(5))), 20), (5, 100, 50));
        assert_eq!(bounds(Some(policy(None)), 20), (20, 100, 50));
        assert_eq!(bounds(Some(policy(Some(30))), 20), (20, 100, 50));
        assert_eq!(bounds(Some(policy(Some(5))), 200), (5, 200, 50));
        assert_eq!(bounds(None, 20), (20, 20, 70));
    }
}
