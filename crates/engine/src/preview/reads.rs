//! What access patterns read of the items: the read units of partition key values, at the patterns' rates, and large items
//! of which a pattern needs little.

use std::collections::{BTreeMap, HashMap, HashSet};

use dynafold_dynamodb::{Attribute, Item, KeyAttribute, Projection, Table, write_units};
use dynafold_dynamodb::{BuildFingerprintHasher, partition_fingerprint};
use dynafold_format::{float, joined, whole};
use dynafold_mapping::PatternProof;
use dynafold_mapping::forecast::{LittleRead, RatedReads, ReadKey, WideItems};
use dynafold_mapping::model::{AccessPattern, Model};
use dynafold_sql::{Name, SelectOutput, SqlQuery};

use super::places::{NAMED_KEYS, key_text};
use super::sketch::Sketch;

/// Bytes that one read unit reads (limits.md 42).
const READ_UNIT: u64 = 4_096;
/// Most bytes that one request reads (limits.md 38).
const PAGE: u64 = 1 << 20;
/// Counters of the sketch of a pattern.
const COUNTERS: usize = 512;
/// Counters of the sketch of a place's bytes.
const PLACE_COUNTERS: usize = 4_096;
/// A pattern that needs no more than this part of an item's bytes needs little of it.
const LITTLE: u64 = 4;

/// What all patterns read.
#[derive(Debug)]
pub(super) struct ReadSurvey {
    rated: Vec<RatedPattern>,
    /// The partition key attributes of the table and of its global indexes.
    places: Vec<Vec<KeyAttribute>>,
    /// Bytes of partition key values, where a pattern reads all of them.
    bytes: Vec<Option<Sketch>>,
    needs: Vec<NeededBytes>,
    large: Vec<LargeItems>,
}

/// The items of a type that are larger than a read unit.
#[derive(Debug, Clone, Default)]
struct LargeItems {
    items: u64,
    bytes: u64,
    write_units: u64,
}

impl ReadSurvey {
    /// `served`: how each pattern is served. A pattern that is not among them is left aside.
    pub(super) fn new(model: &Model, served: &[PatternProof]) -> Self {
        let table = &model.table;
        let own = std::iter::once(vec![table.partition.clone()]);
        let global = table.indexes.iter().map(|index| index.partition.clone());
        let places: Vec<Vec<KeyAttribute>> = own.chain(global).collect();
        let known = model.patterns.iter().filter_map(|pattern| {
            let served = served.iter().find(|one| *one.pattern == *pattern.name)?;
            let item_types = model.item_types.iter();
            let finds = item_types.map(|item| served.finds.iter().any(|name| **name == *item.name));
            Some((pattern, finds.collect::<Vec<bool>>()))
        });
        let known: Vec<(&AccessPattern, Vec<bool>)> = known.collect();
        let rated: Vec<RatedPattern> = known
            .iter()
            .filter_map(|(pattern, finds)| {
                let asked = RatedPattern::of(pattern, table, finds)?;
                let fetched = pattern.fetch.then(|| asked.fetched());
                Some(fetched.into_iter().chain([asked]))
            })
            .flatten()
            .collect();
        let needs = known.into_iter();
        let needs = needs.filter_map(|(pattern, finds)| NeededBytes::of(pattern, table, finds));
        let bytes = (0..places.len()).map(|place| {
            let mut patterns = rated.iter();
            let is_read =
                patterns.any(|one| one.place == place && one.extent == ReadExtent::Partition);
            is_read.then(|| Sketch::new(PLACE_COUNTERS))
        });
        Self {
            bytes: bytes.collect(),
            needs: needs.collect(),
            large: vec![LargeItems::default(); model.item_types.len()],
            places,
            rated,
        }
    }

    /// Takes an item in. `held`: bytes of its entries in the indexes, the global ones first.
    pub(super) fn add(
        &mut self,
        item_type: usize,
        item: &Item,
        size: usize,
        held: &[Option<usize>],
    ) {
        let stored = |place: usize| match place.checked_sub(1) {
            None => Some(size),
            Some(index) => held.get(index).copied().flatten(),
        };
        for (place, (key, sketch)) in self.places.iter().zip(&mut self.bytes).enumerate() {
            if let (Some(sketch), Some(bytes)) = (sketch, stored(place)) {
                let values = || values(item, key);
                sketch.add(partition_fingerprint(values()), whole(bytes), || {
                    key_text(values())
                });
            }
        }
        for pattern in &mut self.rated {
            let found = stored(pattern.local.unwrap_or(pattern.asked_place));
            let read = found.map(|bytes| if pattern.is_fetch { size } else { bytes });
            let keys = [pattern.asked_place, pattern.place].map(|place| self.places.get(place));
            if let ([Some(asked), Some(key)], Some(bytes)) = (keys, read) {
                pattern.add(item_type, item, [asked, key], whole(bytes));
            }
        }
        if whole(size) <= READ_UNIT {
            return;
        }
        if let Some(large) = self.large.get_mut(item_type) {
            large.items += 1;
            large.bytes += whole(size);
            large.write_units += write_units(size);
        }
        for needs in &mut self.needs {
            needs.add(item_type, item);
        }
    }

    /// What is read a second of the table and of each global index; `None` where no pattern with a rate asks it.
    pub(super) fn rated(&self) -> Vec<Option<RatedReads>> {
        let places = self.bytes.iter().enumerate();
        let rated = places.map(|(place, bytes)| {
            let patterns: Vec<&RatedPattern> = self
                .rated
                .iter()
                .filter(|one| one.place == place && one.items > 0)
                .collect();
            (!patterns.is_empty()).then(|| rated_reads(&patterns, bytes.as_ref()))
        });
        rated.collect()
    }

    /// The item types whose bytes are mostly in large items of which a pattern needs little. `all`: items and bytes of each.
    pub(super) fn wide(&self, model: &Model, all: &[(u64, u64)]) -> Vec<WideItems> {
        let types = model
            .item_types
            .iter()
            .zip(&self.large)
            .zip(all)
            .enumerate();
        let wide = types.filter_map(|(at, ((item_type, large), (items, bytes)))| {
            let mean_bytes = large.bytes.checked_div(large.items)?;
            if large.bytes.saturating_mul(2) <= *bytes {
                return None;
            }
            let patterns: Vec<LittleRead> = self
                .needs
                .iter()
                .filter_map(|needs| needs.little(at, large))
                .collect();
            (!patterns.is_empty()).then(|| WideItems {
                item_type: item_type.name.to_string(),
                large: large.items,
                items: *items,
                mean_bytes,
                mean_write_units: large.write_units.div_ceil(large.items),
                patterns,
            })
        });
        wide.collect()
    }
}

fn values<'i>(item: &'i Item, key: &'i [KeyAttribute]) -> impl Iterator<Item = &'i Attribute> {
    key.iter().filter_map(|key| item.get(&key.name))
}

/// What one request of a pattern reads of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadExtent {
    /// One item.
    Item,
    /// Everything, up to a page.
    Partition,
    /// A part, of which no more is known.
    Part,
}

/// A pattern with a rate.
#[derive(Debug)]
struct RatedPattern {
    name: String,
    /// Requests a second, each of all shards.
    rate: f64,
    /// Read units for 4 KB.
    unit: f64,
    shards: u32,
    /// What is read, the table or a global index: 0, or the index's number from 1. A local index is in the table's partitions.
    place: usize,
    /// What is asked, as such a number: `place`, but for items that are fetched.
    asked_place: usize,
    /// Whether these are the reads of items that an index has found.
    is_fetch: bool,
    /// The local index, as such a number.
    local: Option<usize>,
    extent: ReadExtent,
    /// Whether every request asks the same partition key value, or all shards of it.
    asks_one_value: bool,
    /// The partition key value, where it is written out.
    constant: Option<String>,
    finds: Vec<bool>,
    /// Items that it may find, or, where it reads single items, their read units.
    asked: Sketch,
    items: u64,
}

impl RatedPattern {
    fn of(pattern: &AccessPattern, table: &Table, finds: &[bool]) -> Option<Self> {
        let at = |name: &str| table.all_indexes().position(|index| index.name == name);
        let index = match &pattern.index {
            Some(name) => Some(at(name)?),
            None => None,
        };
        let local = index.filter(|at| *at >= table.indexes.len());
        let place = index.filter(|_| local.is_none()).map_or(0, |at| at + 1);
        let partition = || pattern.partition.iter();
        let mut placeholders = partition().flat_map(|(_, template)| template.placeholders());
        let asks_one_value = placeholders.all(|one| one.place.column == AccessPattern::SHARD);
        let texts = partition().map(|(_, template)| template.prefix().0);
        let is_whole = pattern.sort.is_empty() && pattern.limit.is_none() && local.is_none();
        Some(Self {
            name: pattern.name.to_string(),
            rate: pattern.rate?,
            unit: pattern.read_unit(),
            shards: pattern.shards.unwrap_or(1),
            place,
            asked_place: place,
            is_fetch: false,
            local: local.map(|at| at + 1),
            extent: if pattern.is_whole_key() {
                ReadExtent::Item
            } else if is_whole {
                ReadExtent::Partition
            } else {
                ReadExtent::Part
            },
            asks_one_value,
            constant: (asks_one_value && pattern.shards.is_none()).then(|| joined(texts, " | ")),
            finds: finds.to_vec(),
            asked: Sketch::new(COUNTERS),
            items: 0,
        })
    }

    /// The reads of the items that it finds in an index, by the table's own key: one for each request, at least.
    fn fetched(&self) -> Self {
        Self {
            name: self.name.clone(),
            place: 0,
            is_fetch: true,
            extent: ReadExtent::Item,
            asks_one_value: false,
            constant: self.constant.clone(),
            finds: self.finds.clone(),
            asked: Sketch::new(COUNTERS),
            ..*self
        }
    }

    /// Takes an item in with the key that is asked and the one that is read.
    fn add(&mut self, item_type: usize, item: &Item, keys: [&[KeyAttribute]; 2], bytes: u64) {
        let [asked, key] = keys;
        let is_asked = |wanted: &String| *wanted == key_text(values(item, asked));
        if self.finds.get(item_type) != Some(&true) || !self.constant.as_ref().is_none_or(is_asked)
        {
            return;
        }
        self.items += 1;
        let weight = match self.extent {
            ReadExtent::Item => bytes.div_ceil(READ_UNIT),
            ReadExtent::Partition | ReadExtent::Part => 1,
        };
        let fingerprint = partition_fingerprint(values(item, key));
        self.asked
            .add(fingerprint, weight, || key_text(values(item, key)));
    }

    /// Read units a second of a partition key value, at least. `weight`: what the sketch has of it; `bytes`: its bytes.
    fn units(&self, weight: u64, bytes: u64) -> f64 {
        // Multiplied first, so that a value that has all gets exactly the rate.
        let asked = self.rate * self.unit;
        let shared = asked * float(weight) / float(self.items.max(1));
        let read = match self.extent {
            ReadExtent::Item => return shared,
            ReadExtent::Partition => bytes.min(PAGE).div_ceil(READ_UNIT).max(1),
            ReadExtent::Part => 1,
        };
        // All shards of a value are asked with it, and are about equally full.
        let each = if self.asks_one_value {
            asked
        } else {
            (shared * f64::from(self.shards)).min(asked)
        };
        each * float(read)
    }
}

/// The partition key values of one place with what patterns read of them.
fn rated_reads(patterns: &[&RatedPattern], bytes: Option<&Sketch>) -> RatedReads {
    let held = bytes.into_iter().flat_map(Sketch::held);
    let bytes: HashMap<u128, u64, BuildFingerprintHasher> =
        held.map(|key| (key.fingerprint, key.least)).collect();
    let mut keys: HashMap<u128, ReadKey, BuildFingerprintHasher> = HashMap::default();
    let mut error = 0.0;
    for pattern in patterns {
        if pattern.asked.error > 0 && !pattern.asks_one_value {
            error += pattern.units(pattern.asked.error, 0);
        }
        for held in pattern.asked.held() {
            let stored = bytes.get(&held.fingerprint).copied().unwrap_or(0);
            let units = pattern.units(held.least, stored);
            let key = keys.entry(held.fingerprint).or_insert_with(|| ReadKey {
                key: held.text.into(),
                units_per_second: 0.0,
                patterns: BTreeMap::new(),
            });
            key.units_per_second += units;
            *key.patterns.entry(pattern.name.clone()).or_default() += units;
        }
    }
    let mut keys: Vec<ReadKey> = keys.into_values().collect();
    keys.sort_by(|one, other| {
        let by_units = other.units_per_second.total_cmp(&one.units_per_second);
        by_units.then_with(|| one.key.cmp(&other.key))
    });
    keys.truncate(NAMED_KEYS);
    RatedReads { error, keys }
}

/// A pattern of which it is known what it needs of an item.
#[derive(Debug)]
struct NeededBytes {
    pattern: String,
    is_item: bool,
    unit: f64,
    finds: Vec<bool>,
    /// The attributes, those of the table's key among them.
    attributes: HashSet<String>,
    /// Columns of its SQL; attributes that are called so are needed too.
    columns: Vec<Name>,
    /// Their bytes in the large items of each type.
    bytes: Vec<u64>,
}

impl NeededBytes {
    /// `None` where whole items may be needed, or it is not known, or an index has less than the item and the rest is not fetched.
    fn of(pattern: &AccessPattern, table: &Table, finds: Vec<bool>) -> Option<Self> {
        let index = pattern.index.as_ref().and_then(|name| table.index(name));
        let has_part = index.is_some_and(|index| index.projection != Projection::All);
        if has_part && !pattern.fetch {
            return None;
        }
        let query = SqlQuery::read(pattern.sql.as_ref()?, None).ok()?;
        let outputs = query.select()?.outputs.iter().map(|output| match output {
            SelectOutput::One { name, .. } => name.as_ref(),
            SelectOutput::All | SelectOutput::AllOf(_) => None,
        });
        let outputs: Vec<_> = outputs.collect::<Option<_>>()?;
        let mut columns = Vec::new();
        let mut attributes: HashSet<String> = HashSet::new();
        for name in outputs {
            let called = pattern.answer.iter().filter(|(_, column)| name.is(column));
            let mut called = called
                // `PARCEL.no` is the attribute of one item type alone.
                .map(|(attribute, _)| attribute.rsplit('.').next().unwrap_or(attribute))
                .peekable();
            if called.peek().is_none() {
                columns.push(name.clone());
            }
            attributes.extend(called.map(str::to_owned));
        }
        let filtered = pattern.filter.iter().flat_map(|filter| &filter.names);
        attributes.extend(filtered.map(ToString::to_string));
        attributes.extend(table.key().map(|key| key.name.to_string()));
        Some(Self {
            pattern: pattern.name.to_string(),
            is_item: pattern.is_whole_key() || pattern.fetch,
            unit: pattern.read_unit(),
            bytes: vec![0; finds.len()],
            finds,
            attributes,
            columns,
        })
    }

    fn add(&mut self, item_type: usize, item: &Item) {
        if self.finds.get(item_type) != Some(&true) {
            return;
        }
        let needed = item.attributes.iter().filter(|(name, _)| {
            let mut columns = self.columns.iter();
            self.attributes.contains(&**name) || columns.any(|column| column.is(name))
        });
        let needed: usize = needed.map(|(name, value)| name.len() + value.size()).sum();
        if let Some(bytes) = self.bytes.get_mut(item_type) {
            *bytes += whole(needed);
        }
    }

    /// What it needs of the large items of a type, if that is little.
    fn little(&self, item_type: usize, large: &LargeItems) -> Option<LittleRead> {
        let bytes = *self.bytes.get(item_type)?;
        let is_found = self.finds.get(item_type) == Some(&true);
        if !is_found || bytes.saturating_mul(LITTLE) > large.bytes {
            return None;
        }
        let mean_bytes = bytes.div_ceil(large.items);
        // Items of a Query are added up before they are rounded.
        let units = |bytes: u64| {
            if self.is_item {
                self.unit * float(bytes.div_ceil(READ_UNIT))
            } else {
                self.unit * float(bytes) / float(READ_UNIT)
            }
        };
        Some(LittleRead {
            pattern: self.pattern.clone(),
            mean_bytes,
            read_units: units(large.bytes / large.items),
            read_units_apart: units(mean_bytes),
            write_units_apart: mean_bytes.div_ceil(1_024).max(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use dynafold_dynamodb::KeyType;
    use dynafold_mapping::model::{AttributeNode, FilterExpression, SortCondition, Template};
    use dynafold_testing::model::{key, template, users};

    use super::*;

    fn written(text: &str) -> Template {
        let AttributeNode::Template(written) = template(text) else {
            panic!("{text}");
        };
        written
    }

    /// A pattern that reads whole partitions, 100 times a second and eventually consistent, but for a change.
    fn pattern(name: &str, change: impl FnOnce(&mut AccessPattern)) -> AccessPattern {
        let mut pattern = AccessPattern {
            name: name.into(),
            description: None,
            items: Vec::new(),
            index: None,
            partition: vec![(key("PK", KeyType::S), written("{0}"))],
            sort: Vec::new(),
            order: vec![key("SK", KeyType::S)],
            descending: false,
            parameters: Vec::new(),
            shards: None,
            limit: None,
            filter: None,
            consistent: false,
            fetch: false,
            sql: None,
            origins: Vec::new(),
            answer: Vec::new(),
            rate: Some(100.0),
        };
        change(&mut pattern);
        pattern
    }

    /// What is read of the table, where partition key values have items of these sizes.
    fn rated(patterns: Vec<AccessPattern>, items: &[(&str, &[usize])]) -> RatedReads {
        let mut model = users();
        model.patterns = patterns;
        let served = model.patterns.iter().map(|pattern| PatternProof {
            pattern: pattern.name.to_string(),
            operation: "Query",
            fetches: false,
            index: None,
            condition: String::new(),
            finds: vec!["USER".to_owned()],
            partitions: 1,
            least_units: 0.5,
            most_units: None,
        });
        let served: Vec<PatternProof> = served.collect();
        let mut survey = ReadSurvey::new(&model, &served);
        for (partition, sizes) in items {
            for size in *sizes {
                let value = Attribute::S((*partition).into());
                let item = Item {
                    attributes: vec![("PK".into(), value)],
                };
                survey.add(0, &item, *size, &[]);
            }
        }
        survey.rated().swap_remove(0).unwrap()
    }

    #[test]
    fn a_query_reads_the_sum_of_a_partition_whatever_its_filter_leaves() {
        let filter = FilterExpression {
            text: "attribute_exists(#f0)".to_owned(),
            names: vec!["name".into()],
            values: Vec::new(),
            ranges: Vec::new(),
        };
        let sort = |condition| vec![(key("SK", KeyType::S), condition)];
        let patterns = vec![
            pattern("whole", |_| {}),
            pattern("strong", |one| one.consistent = true),
            pattern("filtered", |one| one.filter = Some(filter)),
            pattern("limited", |one| one.limit = Some(1)),
            pattern("part", |one| {
                one.sort = sort(SortCondition::BeginsWith(written("{1}")));
            }),
            pattern("item", |one| {
                one.sort = sort(SortCondition::Is(written("{1}")));
            }),
        ];
        let read = rated(patterns, &[("A", &[1_500, 1_500, 1_500]), ("B", &[9_000])]);
        let [a, b] = read.keys.as_slice() else {
            panic!("{read:?}");
        };
        let units = |all: [(&str, f64); 6]| {
            let all = all.map(|(name, units)| (name.to_owned(), units));
            BTreeMap::from(all)
        };
        // It has 3 of 4 items: 75 requests a second. 4,500 bytes are 2 read units, and 3 for items that are read one by one.
        // Of a part nothing is known but that a request takes one.
        assert_eq!((a.key.as_str(), a.units_per_second), ("A", 412.5));
        let wanted = units([
            ("whole", 75.0 * 2.0 * 0.5),
            ("strong", 75.0 * 2.0),
            ("filtered", 75.0 * 2.0 * 0.5),
            ("limited", 75.0 * 0.5),
            ("part", 75.0 * 0.5),
            ("item", 25.0 * 3.0 * 0.5),
        ]);
        assert_eq!(a.patterns, wanted);
        // 25 requests a second. 9,000 bytes are 3 read units.
        assert_eq!((b.key.as_str(), b.units_per_second), ("B", 212.5));
        let wanted = units([
            ("whole", 25.0 * 3.0 * 0.5),
            ("strong", 25.0 * 3.0),
            ("filtered", 25.0 * 3.0 * 0.5),
            ("limited", 25.0 * 0.5),
            ("part", 25.0 * 0.5),
            ("item", 25.0 * 3.0 * 0.5),
        ]);
        assert_eq!(b.patterns, wanted);
    }

    #[test]
    fn a_request_reads_a_megabyte_at_most() {
        let sizes = [400_000; 3];
        let read = rated(vec![pattern("whole", |_| {})], &[("A", &sizes)]);
        // 1 MB is 256 read units.
        let units = read.keys.iter().map(|key| key.units_per_second);
        assert_eq!(units.collect::<Vec<f64>>(), [100.0 * 256.0 * 0.5]);
    }
}
