//! What is to be there for a table to serve: plain data, in no format's words.
//!
//! The table is the one that `migrate` makes (`target::dynamodb::create`); what scales its capacity
//! and what keeps expired items stands beside it.

use dynafold_dynamodb::{Autoscale, Index, KeyAttribute, StreamView, Table, Throughput};
use dynafold_mapping::model::{Expired, Model};

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
    /// Words for what is scaled, to be made a name of: `Index-GSI1-Read`.
    pub(super) fn words(&self) -> String {
        let word = self.what.word();
        match self.index {
            None => format!("Table-{word}"),
            Some(index) => format!("Index-{index}-{word}"),
        }
    }

    /// What stands in the templates of both formats in place of `@names@`.
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
    /// Of a policy, or of capacity that stays as it is.
    pub(super) fn of(policy: Option<Autoscale>, first: u64) -> Self {
        /// Percent that capacity aims at which cannot move anyway.
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
            warnings,
        }
    }

    /// What the capacity of an index is at first; `None` on demand.
    pub(super) fn provisioned_of(&self, index: &Index) -> Option<Throughput> {
        let whole = self.table.billing.provisioned()?;
        Some(index.throughput.unwrap_or(whole))
    }

    /// Whether capacity follows the load somewhere.
    pub(super) fn scales(&self) -> bool {
        !self.scaling.is_empty()
    }
}

/// The policy of an index: its own, or the table's.
pub(super) fn policy(table: &Table, index: Option<&Index>) -> Option<Autoscale> {
    let own = index.and_then(|index| index.autoscale);
    own.or(table.settings.autoscale)
}

fn scaling(table: &Table) -> Vec<Scaling<'_>> {
    let Some(whole) = table.billing.provisioned() else {
        return Vec::new();
    };
    let of_table = (None, policy(table, None), whole);
    let of_indexes = table.indexes.iter().map(|index| {
        let units = index.throughput.unwrap_or(whole);
        (Some(index.name.as_str()), policy(table, Some(index)), units)
    });
    let all = std::iter::once(of_table).chain(of_indexes);
    let both = all.flat_map(|(index, policy, units)| {
        let one = move |what, first| {
            Some(Scaling {
                index,
                what,
                bounds: ScalingBounds::of(Some(policy?), first),
            })
        };
        [
            one(Capacity::Read, units.read),
            one(Capacity::Write, units.write),
        ]
    });
    both.flatten().collect()
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
