//! Global indexes that the table lacks: what they cost, the question, and what is told while they are added.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;

use super::job::MigrateJob;
use crate::cli::failure::Failure;
use crate::cli::output::OutputStreams;
use crate::cli::target::{counted_samples, dollars};
use crate::cli::{format, prices};
use crate::dynamodb::price::Prices;
use crate::dynamodb::{STORED_OVERHEAD, Table, write_units};
use crate::item::IndexEntrySizes;
use crate::load::{self, FoundTable, IndexStep};
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::target::{IndexChange, Target};

/// Between two lines about an index that is being made, which takes minutes.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// The indexes of the mapping and of the table that are not the same, or were not before the run.
#[derive(Default)]
pub(super) struct TableIndexes {
    /// What becomes of them, which is known even of a run that is interrupted.
    all: Mutex<Vec<IndexReport>>,
}

/// What becomes of an index, for programs.
#[derive(Debug, Clone, Serialize)]
pub(super) struct IndexReport {
    name: String,
    state: IndexState,
    /// What it will hold of the rows that are loaded.
    #[serde(flatten)]
    estimate: Option<IndexEstimate>,
    /// How long the run has waited for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip)]
    since: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum IndexState {
    /// The table lacks it.
    ToAdd,
    /// It is being made.
    BeingMade,
    /// The run has waited until it could be queried.
    Added,
    /// The mapping does not have it, and it stays.
    OnlyInTable,
}

/// What an index will hold, from a sample of the rows.
#[derive(Debug, Clone, Default, Serialize)]
struct IndexEstimate {
    entries: u64,
    write_units: u64,
    /// Bytes that are billed as stored.
    stored_bytes: u64,
}

impl TableIndexes {
    /// Enters what was found, and asks before the table is changed; a plan is not asked about. Reads a sample of the
    /// rows if an index is lacking.
    pub(super) async fn look(
        &self,
        found: &FoundTable,
        job: &MigrateJob,
        target: &dyn Target,
        model: &Model,
        context: &Context,
        output: &OutputStreams,
    ) -> Result<(), Failure> {
        let names = &found.lacking;
        let estimates = if names.is_empty() {
            Vec::new()
        } else {
            estimates(&job.source, model, context, names).await?
        };
        let report = |name: &String, state, estimate| IndexReport {
            name: name.clone(),
            state,
            estimate,
            seconds: None,
            since: None,
        };
        let lacking = names.iter().zip(estimates);
        let lacking =
            lacking.map(|(name, estimate)| report(name, IndexState::ToAdd, Some(estimate)));
        let unready = found.unready.iter().filter(|index| {
            model.table.index(&index.name).is_some() && !names.contains(&index.name)
        });
        let unready = unready.map(|index| report(&index.name, IndexState::BeingMade, None));
        let others = found.others.iter();
        let others = others.map(|name| report(name, IndexState::OnlyInTable, None));
        *self.all.lock() = lacking.chain(unready).chain(others).collect();
        if names.is_empty() || job.arguments.plan {
            return Ok(());
        }
        let prices = target.is_billed().then(|| prices::of(target)).transpose()?;
        output.note(&self.cost(found, target, &model.table, prices.as_ref()));
        let what = format!("{} to the table `{}`", indexes(names), model.table.name);
        let why = format!("this adds {what} at {}", target.place());
        let question = format!("Add {what}?");
        OutputStreams::agree(job.arguments.yes, &why, &question, "nothing was done")
    }

    /// What adding them costs.
    fn cost(
        &self,
        found: &FoundTable,
        target: &dyn Target,
        table: &Table,
        prices: Option<&Prices>,
    ) -> String {
        let items = found.item_count.filter(|count| *count > 0);
        let items = items.map_or_else(String::new, |count| {
            format!(" (about {})", format::counted(count, "item"))
        });
        let mut lines = vec![format!(
            "{}: the table `{}`{items} lacks {} of the mapping",
            target.place(),
            table.name,
            indexes(&found.lacking),
        )];
        let all = self.all.lock();
        lines.extend(all.iter().filter_map(|index| {
            let estimate = index.estimate.as_ref()?;
            Some(format!("  {}: {}", index.name, estimate.text(prices)))
        }));
        lines.extend(prices.map(|prices| format!("  {}", prices.dated_source())));
        lines.join("\n")
    }

    /// The indexes that were agreed to be added.
    fn to_add(&self) -> Vec<String> {
        let all = self.all.lock();
        let lacking = all.iter().filter(|index| index.state == IndexState::ToAdd);
        lacking.map(|index| index.name.clone()).collect()
    }

    /// Adds what was agreed to, and waits for what the mapping has and is being made.
    pub(super) async fn add(
        &self,
        target: &dyn Target,
        table: &Table,
        output: &OutputStreams,
    ) -> Result<(), Failure> {
        let lines = IndexLines {
            table: &table.name,
            output,
            begun: Instant::now(),
            last: Mutex::new(None),
        };
        let progress = |step: &IndexStep| {
            self.enter(step);
            lines.show(step, self);
        };
        Ok(load::add_indexes(target, table, &self.to_add(), &progress).await?)
    }

    fn enter(&self, step: &IndexStep) {
        let (name, state) = match step {
            IndexStep::Asked(name) => (name, IndexState::BeingMade),
            IndexStep::Ready(name) => (name, IndexState::Added),
            IndexStep::Waiting(index) if index.change != IndexChange::Delete => {
                (&index.name, IndexState::BeingMade)
            }
            IndexStep::Waiting(_) | IndexStep::Busy => return,
        };
        let mut all = self.all.lock();
        if let Some(index) = all.iter_mut().find(|index| index.name == *name)
            && index.state != IndexState::OnlyInTable
        {
            let since = *index.since.get_or_insert_with(Instant::now);
            index.state = state;
            index.seconds = Some(since.elapsed().as_secs_f64());
        }
    }

    fn seconds(&self, name: &str) -> f64 {
        let all = self.all.lock();
        let index = all.iter().find(|index| index.name == name);
        index.and_then(|index| index.seconds).unwrap_or_default()
    }

    /// Whether a plan would change the table itself.
    pub(super) fn would_change(&self) -> bool {
        !self.to_add().is_empty()
    }

    /// What there is to say of them in a report for people.
    pub(super) fn lines(&self, plans: bool) -> Vec<String> {
        let all = self.all.lock();
        let line = |index: &IndexReport| {
            let name = &index.name;
            let estimate = || index.estimate.as_ref().map(|estimate| estimate.text(None));
            match index.state {
                IndexState::ToAdd if plans => Some(format!(
                    "plan: the global index {name} is to be added: {}",
                    estimate().unwrap_or_default()
                )),
                IndexState::ToAdd => Some(format!("the global index {name} was not added")),
                IndexState::BeingMade => Some(format!(
                    "the global index {name} is being made: the next `migrate` waits for it"
                )),
                IndexState::Added => Some(format!(
                    "the global index {name} was added in {}",
                    format::seconds(index.seconds.unwrap_or_default())
                )),
                // A warning has named it.
                IndexState::OnlyInTable => None,
            }
        };
        all.iter().filter_map(line).collect()
    }

    /// For programs.
    pub(super) fn reports(&self) -> Vec<IndexReport> {
        self.all.lock().clone()
    }
}

fn indexes(names: &[String]) -> String {
    let noun = if names.len() == 1 { "index" } else { "indexes" };
    format!("the global {noun} {}", names.join(", "))
}

impl IndexEstimate {
    /// What it is, and what it costs where that is known.
    fn text(&self, prices: Option<&Prices>) -> String {
        let written = prices.map_or_else(String::new, |prices| {
            let usd = dollars(prices.writes(format::float(self.write_units)));
            format!("{usd} on demand")
        });
        let stored = prices.map_or_else(String::new, |prices| {
            let usd = dollars(prices.storage(format::float(self.stored_bytes)));
            format!("{usd} a month")
        });
        format!(
            "about {}, {}{written}; {} of storage{stored}",
            format::counted_as(self.entries, "entry", "entries"),
            format::counted(self.write_units, "write unit"),
            format::bytes(self.stored_bytes),
        )
    }
}

/// What these global indexes will hold of the rows that are loaded.
async fn estimates(
    source: &str,
    model: &Model,
    context: &Context,
    names: &[String],
) -> Result<Vec<IndexEstimate>, Failure> {
    let sizes = IndexEntrySizes::of(&model.table);
    let mut all = vec![IndexEstimate::default(); names.len()];
    for counted in counted_samples(source, model, context).await? {
        // Where no row becomes an item, none has an entry.
        if counted.sample.items.is_empty() {
            continue;
        }
        let mut sampled = vec![IndexEstimate::default(); model.table.indexes.len()];
        for item in &counted.sample.items {
            let held = sizes.of_item(&item.item, item.size);
            for (index, held) in sampled.iter_mut().zip(held) {
                let Some(held) = held else { continue };
                index.entries += 1;
                index.write_units += write_units(held);
                index.stored_bytes += format::whole(held) + STORED_OVERHEAD;
            }
        }
        for (index, sampled) in model.table.indexes.iter().zip(sampled) {
            let at = names.iter().position(|name| *name == index.name);
            if let Some(estimate) = at.and_then(|at| all.get_mut(at)) {
                estimate.entries += counted.of_all(sampled.entries);
                estimate.write_units += counted.of_all(sampled.write_units);
                estimate.stored_bytes += counted.of_all(sampled.stored_bytes);
            }
        }
    }
    Ok(all)
}

/// Lines on stderr: one for each step, and one now and then while nothing changes.
struct IndexLines<'a> {
    table: &'a str,
    output: &'a OutputStreams,
    begun: Instant,
    /// What the last line said, and when.
    last: Mutex<Option<(String, Instant)>>,
}

impl IndexLines<'_> {
    fn show(&self, step: &IndexStep, indexes: &TableIndexes) {
        let table = self.table;
        match step {
            IndexStep::Asked(name) => {
                let line = format!("adding the global index {name} to the table `{table}`");
                self.output.note(&line);
            }
            IndexStep::Ready(name) => {
                let after = format::seconds(indexes.seconds(name));
                let line = format!("the global index {name} is ready, after {after}");
                self.output.note(&line);
            }
            IndexStep::Waiting(index) => self.wait(format!("waiting: {index}")),
            IndexStep::Busy => {
                self.wait(format!(
                    "waiting: another change of the table `{table}` is under way"
                ));
            }
        }
    }

    fn wait(&self, what: String) {
        let mut last = self.last.lock();
        let recent = last
            .as_ref()
            .is_some_and(|(said, when)| *said == what && when.elapsed() < LINE_EVERY);
        if !recent {
            let so_far = format::seconds(self.begun.elapsed().as_secs_f64());
            self.output.note(&format!("{what} ({so_far} so far)"));
            *last = Some((what, Instant::now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_has_a_price_where_writing_costs_money() {
        let estimate = IndexEstimate {
            entries: 1_000_000,
            write_units: 2_000_000,
            stored_bytes: 3_000_000_000,
        };
        let prices = r#"{ "date": "2026-01-01", "default_region": "here", "regions": { "here": {
            "usd_per_million_write_units": 0.5, "usd_per_gb_month": 0.25 } } }"#;
        let prices = Prices::read(prices, None).unwrap();
        assert_eq!(
            estimate.text(Some(&prices)),
            "about 1,000,000 entries, 2,000,000 write units, about 1.00 USD on demand; 2.79 GiB of storage, about 0.75 USD a month"
        );
        assert_eq!(
            estimate.text(None),
            "about 1,000,000 entries, 2,000,000 write units; 2.79 GiB of storage"
        );
    }
}
