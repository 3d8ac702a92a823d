//! Items laid out by item collection, as the aggregate view of `NoSQL` Workbench shows them: partition
//! key, sort key, and each item's own attributes, names above values.

use unicode_width::UnicodeWidthStr as _;

use super::{life, rejected};
use crate::cli::cells::{fit, pad, shown, wrapped};
use crate::cli::format::{bytes, counted, grouped, one_line};
use crate::cli::output::OutputStreams;
use crate::dynamodb::{Attribute, Item, Table, sort_order};
use crate::preview::{ItemTypeSample, SampleItem};

/// The most terminal columns that a name or value of an attribute takes.
const MAX_ATTRIBUTE_WIDTH: usize = 40;
/// Terminal columns between two attributes.
const GAP: usize = 2;
const SEPARATOR: &str = " │ ";

/// The items with one partition key value, in the order of their sort keys.
type Collection<'s> = (&'s Attribute, Vec<(&'s ItemTypeSample, &'s SampleItem)>);

/// The items of all types, then a line for each type, then what was rejected.
pub(super) fn table(
    samples: &[ItemTypeSample],
    table: &Table,
    width: usize,
    output: &OutputStreams,
) -> String {
    let collections = collections(samples, table);
    let mut out = String::new();
    if !collections.is_empty() {
        let layout = Layout::new(&collections, table, width);
        out.push_str(&layout.draw(&collections, output));
        out.push('\n');
    }
    for sample in samples {
        let units: u64 = sample.items.iter().map(|item| item.units).sum();
        out.push_str(&format!(
            "{} from {}: {}, {}\n",
            sample.item_type,
            sample.from,
            counted(sample.items.len(), "item"),
            counted(units, "write unit"),
        ));
    }
    for sample in samples {
        for line in life(sample) {
            out.push_str(&line);
            out.push('\n');
        }
        for reject in &sample.rejects {
            out.push_str(&rejected(&sample.item_type, reject));
            out.push('\n');
        }
    }
    out
}

/// Groups items by partition key value, in the order in which each value first occurs.
fn collections<'s>(samples: &'s [ItemTypeSample], table: &Table) -> Vec<Collection<'s>> {
    let keyed = samples.iter().flat_map(|sample| {
        let items = sample.items.iter();
        items.filter_map(move |item| Some((item.item.get(&table.partition.name)?, (sample, item))))
    });
    let mut all = grouped(keyed);
    if let Some(sort) = &table.sort {
        for (_, items) in &mut all {
            items.sort_by(|(_, a), (_, b)| {
                sort_order(a.item.get(&sort.name), b.item.get(&sort.name))
            });
        }
    }
    all
}

/// The widths of the three columns, in terminal columns.
struct Layout<'t> {
    table: &'t Table,
    partition: usize,
    /// 0 without a sort key.
    sort: usize,
    attributes: usize,
}

impl<'t> Layout<'t> {
    fn new(collections: &[Collection<'_>], table: &'t Table, width: usize) -> Self {
        let width = width.max(40);
        let widest = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| text.width()).max().unwrap_or(0)
        };
        let partition_values = widest(
            &mut collections
                .iter()
                .flat_map(|(value, items)| [shown(Some(value)), summary(items)]),
        );
        let key_content = partition_values.max(table.partition.name.width());
        let items = || collections.iter().flat_map(|(_, items)| items);
        let described = widest(&mut items().map(|(sample, item)| description(sample, item)));
        let fitting = |content: usize, max: usize| content.min(max).max(8);
        let (partition, sort, separators) = match &table.sort {
            None => (fitting(key_content.max(described), width / 4), 0, 1),
            Some(key) => {
                let values = widest(&mut items().map(|(_, item)| shown(item.item.get(&key.name))));
                let content = values.max(described).max(key.name.width());
                let sort = fitting(content, width / 3);
                (fitting(key_content, width / 4), sort, 2)
            }
        };
        let used = partition + sort + SEPARATOR.width() * separators;
        Self {
            table,
            partition,
            sort,
            attributes: width.saturating_sub(used).max(12),
        }
    }

    fn draw(&self, collections: &[Collection<'_>], output: &OutputStreams) -> String {
        let mut out = String::new();
        let header = vec![self.table.partition.name.to_string()];
        let sort = self.table.sort.iter().map(|key| key.name.to_string());
        self.push_lines(
            &mut out,
            &header,
            &sort.collect::<Vec<_>>(),
            &["attributes".to_owned()],
        );
        for (value, items) in collections {
            out.push_str(&self.horizontal_rule());
            let mut partition = wrapped(&shown(Some(value)), self.partition);
            if self.sort > 0 {
                partition.push(summary(items));
            }
            for (sample, item) in items {
                // Only a collection's first item shows its partition key.
                let mut partition_lines = std::mem::take(&mut partition);
                let mut sort = Vec::new();
                let described = fit(&description(sample, item), self.sort.max(self.partition));
                match &self.table.sort {
                    Some(key) => {
                        sort = wrapped(&shown(item.item.get(&key.name)), self.sort);
                        sort.push(fit(&described, self.sort));
                    }
                    None => partition_lines.push(described),
                }
                let attributes = self.attribute_lines(&item.item, output);
                self.push_lines(&mut out, &partition_lines, &sort, &attributes);
            }
        }
        out
    }

    /// An item's attributes without the key, names above values, as many side by side as fit.
    fn attribute_lines(&self, item: &Item, output: &OutputStreams) -> Vec<String> {
        let max_width = MAX_ATTRIBUTE_WIDTH.min(self.attributes);
        let mut rows: Vec<(String, String)> = Vec::new();
        let mut used = 0;
        for (name, value) in &item.attributes {
            if self.table.is_key(name) {
                continue;
            }
            let (name, value) = (
                fit(&one_line(name), max_width),
                fit(&shown(Some(value)), max_width),
            );
            let width = name.width().max(value.width());
            match rows.last_mut() {
                Some((names, values)) if used + GAP + width <= self.attributes => {
                    pad(names, used + GAP);
                    pad(values, used + GAP);
                    names.push_str(&name);
                    values.push_str(&value);
                    used += GAP + width;
                }
                _ => {
                    rows.push((name, value));
                    used = width;
                }
            }
        }
        let lines = rows.iter().flat_map(|(names, values)| {
            let names = output.bold(names.trim_end());
            [names, values.trim_end().to_owned()]
        });
        lines.collect()
    }

    /// Appends the lines of the three columns, side by side.
    fn push_lines(
        &self,
        out: &mut String,
        partition: &[String],
        sort: &[String],
        attributes: &[String],
    ) {
        let lines = partition.len().max(sort.len()).max(attributes.len());
        let cell = |column: &[String], at: usize| column.get(at).cloned().unwrap_or_default();
        for at in 0..lines {
            let mut line = cell(partition, at);
            pad(&mut line, self.partition);
            if self.sort > 0 {
                line.push_str(SEPARATOR);
                line.push_str(&cell(sort, at));
                pad(&mut line, self.partition + SEPARATOR.width() + self.sort);
            }
            line.push_str(SEPARATOR);
            line.push_str(&cell(attributes, at));
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }

    fn horizontal_rule(&self) -> String {
        let mut line = "─".repeat(self.partition + 1);
        for column in [self.sort, self.attributes] {
            if column > 0 {
                let end = if column == self.sort { 2 } else { 1 };
                line.push('┼');
                line.push_str(&"─".repeat(column + end));
            }
        }
        line.push('\n');
        line
    }
}

/// The number of items in a collection, and their size.
fn summary(items: &[(&ItemTypeSample, &SampleItem)]) -> String {
    let size: usize = items.iter().map(|(_, item)| item.size).sum();
    format!("{}, {}", counted(items.len(), "item"), bytes(size))
}

/// An item's type, size and write units.
fn description(sample: &ItemTypeSample, item: &SampleItem) -> String {
    format!(
        "{}, {}, {}",
        sample.item_type,
        bytes(item.size),
        counted(item.units, "unit")
    )
}
