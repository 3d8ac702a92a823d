//! One table: its shape, its limits, and its rows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dynoxide::types::{AttributeValue, Item};
use xxhash_rust::xxh3::xxh3_64;

use super::bucket::Bucket;
use super::counts::TableCounts;
use super::gauge::{Gauge, Reason};
use super::image::{Charge, Image};
use super::parts::Load;
use super::schema::Schema;
use super::settings::{Billing, Settings};

/// Partitions that the counts name.
const NAMED_PARTITIONS: usize = 100;

/// An item's key: its hash first, as a Scan goes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowKey {
    pub(crate) hash: u64,
    pub(crate) partition: Box<str>,
    pub(crate) sort: Box<str>,
}

/// What is known of an item.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) image: Image,
    /// The item, where the map keeps it.
    pub(crate) json: Option<Box<str>>,
}

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) schema: Arc<Schema>,
    pub(crate) rows: BTreeMap<RowKey, Row>,
    pub(crate) on_demand: bool,
    gauge: Gauge,
    quota: Option<Bucket>,
    /// For each index; local ones have none.
    indexes: Vec<Option<Gauge>>,
}

impl RowKey {
    /// None where the key is not whole.
    pub(crate) fn of(schema: &Schema, item: &Item) -> Option<Self> {
        let text = |name: &String| item.get(name).and_then(AttributeValue::to_key_string);
        let partition = text(&schema.partition)?.into_boxed_str();
        let sort = schema.sort.as_ref();
        Some(Self {
            hash: xxh3_64(partition.as_bytes()),
            partition,
            sort: sort.map_or(Some(String::new()), text)?.into_boxed_str(),
        })
    }
}

impl Table {
    pub(crate) fn new(schema: Schema, settings: &Settings, now: Duration) -> Self {
        let on_demand = settings.billing.unwrap_or(schema.billing) == Billing::OnDemand;
        let limits = &settings.limits;
        let indexes = schema.indexes.iter().map(|index| {
            (!index.local).then(|| Gauge::of_index(limits, &schema, index, on_demand, now))
        });
        Self {
            rows: BTreeMap::new(),
            on_demand,
            gauge: Gauge::of_table(limits, &schema, on_demand, now),
            quota: limits
                .account_wcu
                .map(|wcu| Bucket::new(wcu, limits.burst_seconds, now)),
            indexes: indexes.collect(),
            schema: Arc::new(schema),
        }
    }

    /// Takes over the rows of the table as it was, whose indexes may have been others. A new index
    /// knows nothing of the items that are there already.
    pub(crate) fn inherit(&mut self, mut old: Self) {
        let indexes = self.schema.indexes.iter();
        let before: Vec<Option<usize>> = indexes
            .map(|index| {
                let mut all = old.schema.indexes.iter();
                all.position(|other| other.name == index.name)
            })
            .collect();
        for row in old.rows.values_mut() {
            row.image.reshape(&before);
        }
        self.rows = old.rows;
    }

    /// Takes a write, or says why not; then nothing is taken.
    pub(crate) fn admit(
        &mut self,
        now: Duration,
        key: &RowKey,
        charge: &Charge,
    ) -> Result<(), Vec<Reason>> {
        let mut reasons = Vec::new();
        let loads = self.loads(key, charge);
        self.gauge.refusals(now, &loads.0, &mut reasons);
        for (gauge, loads) in self.indexes.iter_mut().zip(&loads.1) {
            if let Some(gauge) = gauge.as_mut().filter(|_| !loads.is_empty()) {
                gauge.refusals(now, loads, &mut reasons);
            }
        }
        let quota = self.quota.as_mut();
        if quota.is_some_and(|quota| !quota.has(now, charge.total())) {
            reasons.push(Reason {
                reason: "TableWriteAccountLimitExceeded".to_owned(),
                resource: self.schema.arn.clone(),
            });
        }
        if !reasons.is_empty() {
            return Err(reasons);
        }
        self.take(now, key, charge);
        Ok(())
    }

    fn take(&mut self, now: Duration, key: &RowKey, charge: &Charge) {
        if let Some(quota) = &mut self.quota {
            quota.take(charge.total());
        }
        let loads = self.loads(key, charge);
        self.gauge.take(now, &loads.0);
        for (gauge, loads) in self.indexes.iter_mut().zip(&loads.1) {
            if let Some(gauge) = gauge {
                gauge.take(now, loads);
            }
        }
    }

    /// Undoes [`Table::admit`]: the write was not done after all.
    pub(crate) fn give_back(&mut self, now: Duration, key: &RowKey, charge: &Charge) {
        let mut negative = charge.clone();
        negative.table = -charge.table;
        for index in &mut negative.indexes {
            index.units = -index.units;
        }
        self.take(now, key, &negative);
    }

    /// The loads of the table with its local indexes, and of each index.
    fn loads<'k>(&self, key: &'k RowKey, charge: &Charge) -> (Vec<Load<'k>>, Vec<Vec<Load<'k>>>) {
        let mut own = Load {
            hash: key.hash,
            key: key.partition.split_once(':').map_or("", |(_, value)| value),
            units: charge.table,
        };
        let mut indexes = vec![Vec::new(); self.indexes.len()];
        for used in &charge.indexes {
            match (self.indexes.get(used.index), indexes.get_mut(used.index)) {
                (Some(Some(_)), Some(loads)) => loads.push(Load {
                    hash: used.partition,
                    key: "",
                    units: used.units,
                }),
                _ => own.units += used.units,
            }
        }
        (vec![own], indexes)
    }

    pub(crate) fn counts(&self) -> TableCounts {
        let parts = self.gauge.parts.as_ref();
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let indexes = self.schema.indexes.iter().zip(&self.indexes);
        let indexes = indexes.filter_map(|(index, gauge)| {
            let parts = gauge.as_ref()?.parts.as_ref()?;
            Some((index.name.clone(), parts.counts(NAMED_PARTITIONS)))
        });
        TableCounts {
            items: count(self.rows.len()),
            partitions: parts.map_or(0, |parts| count(parts.len())),
            splits: parts.map_or(0, super::parts::Parts::splits),
            busiest: parts.map_or(Vec::new(), |parts| parts.counts(NAMED_PARTITIONS)),
            indexes: indexes.collect(),
        }
    }

    pub(crate) fn reset_counts(&mut self) {
        let indexes = self.indexes.iter_mut().flatten();
        for gauge in indexes.chain([&mut self.gauge]) {
            if let Some(parts) = &mut gauge.parts {
                parts.reset_counts();
            }
        }
    }
}
