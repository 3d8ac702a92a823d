//! The resources that a table needs, as plain data independent of the output format.
//!
//! The table is the one that `migrate` makes by the crate `dynafold-target`. Auto scaling and the archive of
//! expired items are described here too.

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
    /// Auto-scaled capacity: the table first, then its indexes; reads before writes.
    pub(super) scaling: Vec<Scaling<'m>>,
    /// Whether expired items are archived.
    pub(super) archives: bool,
    /// What is summed on a schedule.
    pub(super) roll_ups: &'m [RollUp],
    /// Warnings that hold for every format.
    pub(super) warnings: Vec<String>,
}

/// Auto scaling of one capacity of the table or of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scaling<'m> {
    /// The index; `None` for the table.
    pub(super) index: Option<&'m str>,
    pub(super) capacity: Capacity,
    pub(super) bounds: ScalingBounds,
}

impl Scaling<'_> {
    /// Words from which each format makes a resource name: `Index-GSI1-Read`.
    pub(super) fn resource_name(&self) -> String {
        let word = self.capacity.word();
        match self.index {
            None => format!("Table-{word}"),
            Some(index) => format!("Index-{index}-{word}"),
        }
    }

    /// Values for the placeholders of both formats' templates, such as `@min@`.
    pub(super) fn template_values(&self) -> [(&'static str, String); 6] {
        let (index, dimension) = match self.index {
            None => (String::new(), "table"),
            Some(index) => (format!("/index/{index}"), "index"),
        };
        [
            ("index", index),
            ("dimension", dimension.to_owned()),
            ("word", self.capacity.word().to_owned()),
            ("min", self.bounds.min.to_string()),
            ("max", self.bounds.max.to_string()),
            ("target", self.bounds.target_percent.to_string()),
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

/// The bounds and the target of auto scaling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScalingBounds {
    pub(super) min: u64,
    pub(super) max: u64,
    /// Target utilization in percent.
    pub(super) target_percent: u64,
}

impl ScalingBounds {
    /// The policy's bounds around the initial capacity; without a policy, equal bounds, between which
    /// capacity cannot move.
    pub(super) fn of(policy: Option<Autoscale>, initial: u64) -> Self {
        /// Target utilization in percent for fixed capacity: the API requires one.
        const FIXED_CAPACITY_TARGET: u64 = 70;
        let least = policy.and_then(|policy| policy.min);
        Self {
            min: least.map_or(initial, |least| least.min(initial)),
            // An index may begin with more than the table's policy allows.
            max: policy.map_or(initial, |policy| policy.max.max(initial)),
            target_percent: policy.map_or(FIXED_CAPACITY_TARGET, |policy| policy.target),
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

    /// The input of the scheduled roll-up function.
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

    /// Whether any capacity is auto-scaled.
    pub(super) fn scales(&self) -> bool {
        !self.scaling.is_empty()
    }
}

/// The initial capacity of an index; `None` for on-demand billing.
pub(super) fn index_capacity(table: &Table, index: &Index) -> Option<Throughput> {
    let of_table = table.billing.provisioned()?;
    Some(index.throughput.unwrap_or(of_table))
}

/// The policy of an index: its own, or the table's.
pub(super) fn autoscale_policy(table: &Table, index: Option<&Index>) -> Option<Autoscale> {
    let own = index.and_then(|index| index.autoscale);
    own.or(table.settings.autoscale)
}

fn scaling(table: &Table) -> Vec<Scaling<'_>> {
    let of_table = (None, table.billing.provisioned());
    let indexes = table.indexes.iter();
    let of_indexes = indexes.map(|index| (Some(index), index_capacity(table, index)));
    let mut scalings = Vec::new();
    for (index, provisioned) in std::iter::once(of_table).chain(of_indexes) {
        let (Some(units), Some(policy)) = (provisioned, autoscale_policy(table, index)) else {
            continue;
        };
        for (capacity, initial) in [(Capacity::Read, units.read), (Capacity::Write, units.write)] {
            scalings.push(Scaling {
                index: index.map(|index| index.name.as_str()),
                capacity,
                bounds: ScalingBounds::of(Some(policy), initial),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_capacity_lies_within_the_bounds() {
        let policy = |min| Autoscale {
            min,
            max: 100,
            target: 50,
        };
        let bounds = |policy, initial| {
            let bounds = ScalingBounds::of(policy, initial);
            (bounds.min, bounds.max, bounds.target_percent)
        };
        assert_eq!(bounds(Some(policy(Some(5))), 20), (5, 100, 50));
        assert_eq!(bounds(Some(policy(None)), 20), (20, 100, 50));
        assert_eq!(bounds(Some(policy(Some(30))), 20), (20, 100, 50));
        assert_eq!(bounds(Some(policy(Some(5))), 200), (5, 200, 50));
        assert_eq!(bounds(None, 20), (20, 20, 70));
    }
}
