//! Sizes, capacity and cost: from all rows, or estimated.

use dynafold_dynamodb::price::{Monthly, Prices, Rates, Route, RouteKind, monthly, routes};
use dynafold_dynamodb::{STORED_OVERHEAD, Table};
use dynafold_format::{bytes, count, counted, float};
use dynafold_mapping::forecast::{PlaceForecast, WIDE_ITEMS_HELP, WideItems, load_demand};
use dynafold_mapping::item::DUPLICATE_KEY;
use dynafold_mapping::model::ItemType;

use super::heat::{self, HOT_SHARE, KeyNames};
use super::places::places;
use super::{DocumentFacts, ForecastTotals, patterns};
use crate::phrases::{self, cost, dollars, units, with_lower_bound_sign};
use crate::tree::{DocBlock, DocRow, DocTable, TextPiece, code, plain, prose, texts};

/// Shown where the mapping declares no rates.
const NO_RATES: &str = "The mapping declares no rates. With `rate` on an access pattern \
    (calls a second) and `write_rate` on an item type (writes a second) this shows what a month \
    costs.";

/// The sizes, writes and hot keys of the table.
pub(super) struct Figures {
    pub(super) basis: Basis,
    /// The item types, in the order of the mapping.
    pub(super) item_types: Vec<TypeFigures>,
    /// The totals of the table and its indexes, in the order of [`names`]; empty where not all of them are known.
    pub(super) places: Vec<PlaceForecast>,
    /// The write units a second of the table and its indexes, at the declared rates.
    pub(super) writes: Vec<f64>,
    /// The item types with a write rate of which no item was read. Each write counts as one unit of the table.
    pub(super) unread_writes: Vec<String>,
    /// Bytes of all items as DynamoDB JSON, where all rows were read.
    pub(super) import_bytes: Option<u64>,
    /// Sentences about hot partition keys, each with the table or index that it is about.
    pub(super) hot: Vec<(String, String)>,
    /// Large items of which access patterns need little.
    pub(super) wide: Vec<WideItems>,
    /// How partition keys are called.
    pub(super) key_names: KeyNames,
}

/// The basis of the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    AllRows,
    /// The catalog's counts of rows times the mean of the first rows.
    Estimate,
    /// Nothing was read.
    Nothing,
}

/// The figures of an item type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TypeFigures {
    pub(super) name: String,
    pub(super) items: Option<u64>,
    /// Whether `items` is an upper bound: a condition leaves out an unknown number of rows.
    pub(super) at_most: bool,
    /// Whether `items` is estimated from the first rows, some of which became no item.
    pub(super) about: bool,
    /// Rows that are rejected; known where all rows were read.
    pub(super) rejected: u64,
    /// The rejected rows that share a key with an earlier row. Sizes and write units count them.
    pub(super) sharing: u64,
    /// Mean bytes of an item.
    pub(super) mean_bytes: Option<u64>,
    /// Bytes of all items.
    pub(super) bytes: Option<u64>,
    /// Write units to load all items, index entries included.
    pub(super) write_units: Option<u64>,
}

/// The declared rates at the table or at an index.
#[derive(Debug)]
pub(super) struct SteadyPlace {
    name: String,
    /// Units a second.
    pub(super) rates: Rates,
    pub(super) cost: Monthly,
    /// Whether reads, and with them the cost, are lower bounds.
    pub(super) reads_at_least: bool,
    /// Whether writes, and with them the cost, are lower bounds.
    pub(super) writes_at_least: bool,
}

impl SteadyPlace {
    /// The sum of all places.
    pub(super) fn sum(steady: &[Self]) -> Self {
        Self {
            name: "all".to_owned(),
            rates: Rates {
                reads: steady.iter().map(|place| place.rates.reads).sum(),
                writes: steady.iter().map(|place| place.rates.writes).sum(),
            },
            cost: Monthly::sum(steady.iter().map(|place| place.cost)),
            reads_at_least: steady.iter().any(|place| place.reads_at_least),
            writes_at_least: steady.iter().any(|place| place.writes_at_least),
        }
    }

    /// Whether the cost is a lower bound.
    pub(super) fn cost_at_least(&self) -> bool {
        self.reads_at_least || self.writes_at_least
    }
}

impl Figures {
    /// The figures of all rows. `names_keys`: whether keys may be shown.
    pub(super) fn of_all(
        totals: ForecastTotals<'_>,
        item_types: &[ItemType],
        names_keys: bool,
    ) -> Self {
        let made = totals.item_types.iter().map(|each| each.made);
        let (unread_writes, unread_rate) = unread_types(item_types, made);
        let item_types = totals.item_types.iter().map(|each| TypeFigures {
            name: each.item_type.clone(),
            items: Some(each.made),
            at_most: false,
            about: false,
            rejected: each.rejected,
            sharing: each
                .rejects_by_code
                .get(DUPLICATE_KEY)
                .copied()
                .unwrap_or(0),
            mean_bytes: (each.made > 0).then(|| each.mean_bytes()),
            bytes: Some(each.bytes),
            write_units: Some(each.write_units),
        });
        let mut figures = Self {
            basis: Basis::AllRows,
            item_types: item_types.collect(),
            places: totals.places.to_vec(),
            writes: Vec::new(),
            unread_writes,
            import_bytes: Some(totals.import_bytes),
            hot: Vec::new(),
            wide: totals.wide.to_vec(),
            key_names: KeyNames::of(totals.places, names_keys),
        };
        for place in totals.places {
            let rated = place.rated.as_ref();
            let writes = rated.map_or(0.0, |rated| rated.units_per_second);
            figures.writes.push(writes);
            let sentences = hot_keys(place, &figures.key_names).into_iter();
            let hot = sentences.map(|sentence| (place.name.clone(), sentence));
            figures.hot.extend(hot);
        }
        if let Some(table) = figures.writes.first_mut() {
            *table += unread_rate;
        }
        figures
    }

    /// How many items there are.
    pub(super) fn items(&self) -> Option<String> {
        let all: Option<u64> = self.item_types.iter().map(|each| each.items).sum();
        Some(format!("{}{}", self.about(), count(all?)))
    }

    /// The words before a sum over all items; none if it is exact.
    pub(super) fn about(&self) -> &'static str {
        match self.basis {
            Basis::AllRows => "",
            _ if self.item_types.iter().any(|each| each.at_most) => "at most about ",
            _ => "about ",
        }
    }

    /// The bytes that are billed as storage, indexes included; `None` if they are unknown.
    pub(super) fn stored_bytes(&self) -> Option<u64> {
        let places = self.places.iter();
        let stored = places.map(|place| place.bytes + STORED_OVERHEAD * place.items);
        (!self.places.is_empty()).then(|| stored.sum())
    }

    /// The ways to load all items; none if their write units are unknown. An import is left out if its bytes are unknown.
    pub(super) fn loads(&self, table: &Table, prices: &Prices) -> Vec<Route> {
        if self.places.iter().all(|place| place.write_units == 0) {
            return Vec::new();
        }
        let demand = load_demand(&self.places, table, self.import_bytes.unwrap_or(0));
        let mut all = routes(&demand, prices);
        all.retain(|route| match route.route {
            RouteKind::ImportFromS3 => self.import_bytes.is_some(),
            // A bulk put loads a table that exists already.
            RouteKind::BulkFromS3 => false,
            _ => true,
        });
        all
    }

    pub(super) fn section(&self, facts: &DocumentFacts<'_>) -> Vec<DocBlock> {
        let prices = facts.inputs.prices;
        let table = &facts.inputs.model.table;
        let mut blocks = vec![DocBlock::Note(prose(self.basis_note()))];
        blocks.extend(self.rejected_note());
        blocks.push(self.item_type_sizes());
        if !self.places.is_empty() {
            blocks.push(self.place_sizes(table));
            blocks.extend(self.costs(prices));
        }
        blocks.extend(self.load_ways(table, prices));
        blocks.push(DocBlock::Heading("At the declared rates".to_owned()));
        let steady = self.steady(facts);
        if steady.is_empty() {
            blocks.push(DocBlock::Paragraph(prose(NO_RATES)));
        } else {
            blocks.push(DocBlock::Table(rates(&steady)));
            let mut patterns = facts.patterns.iter();
            if patterns.any(|pattern| pattern.model.rate.is_some()) {
                let reads = patterns::reads(facts);
                blocks.extend(reads.map(|reads| DocBlock::Note(prose(&reads))));
            }
            blocks.extend(self.unread_note());
            let places = (self.basis == Basis::AllRows).then_some(self.places.as_slice());
            blocks.extend(heat::blocks(places, &self.key_names));
        }
        blocks.push(DocBlock::Heading("How a rate becomes a bill".to_owned()));
        let lines = arithmetic(prices).map(|line| vec![plain(line)]);
        blocks.push(DocBlock::List(lines.collect()));
        blocks.push(DocBlock::note(phrases::prices(prices)));
        if !self.hot.is_empty() {
            blocks.extend(self.hot_partitions());
        }
        if !self.wide.is_empty() {
            blocks.extend(self.large_items());
        }
        blocks
    }

    /// What the figures are made from.
    fn basis_note(&self) -> &'static str {
        match self.basis {
            Basis::AllRows if self.item_types.iter().any(|each| each.sharing > 0) => {
                "Every row was read: counts of items are exact. Sizes and write units also count the rows \
                 that are rejected because they share a key with another."
            }
            Basis::AllRows => "Every row was read: items, sizes and write units are exact.",
            Basis::Estimate => {
                "Estimates: the database's own counts of rows times the mean size of the first rows. \
                 `dynafold docs --all` reads every row."
            }
            Basis::Nothing => {
                "No rows were read: counts are the catalog's, and sizes are not known. With --source, the document has them."
            }
        }
    }

    /// The rows that became no item, if all rows were read and there are any.
    fn rejected_note(&self) -> Option<DocBlock> {
        let with_rejects = self.item_types.iter().filter(|each| each.rejected > 0);
        let rejected: Vec<String> = with_rejects
            .map(|each| format!("{} of {}", counted(each.rejected, "row"), each.name))
            .collect();
        (!rejected.is_empty()).then(|| {
            DocBlock::Note(prose(&format!(
                "Rejected rows, which make no item: {}. `dynafold preview --all` says why.",
                rejected.join(", ")
            )))
        })
    }

    fn item_type_sizes(&self) -> DocBlock {
        let known = |figure: Option<String>| {
            let unknown = TextPiece::Marked("none", "not known".to_owned());
            vec![figure.map_or(unknown, TextPiece::Text)]
        };
        let rows = self.item_types.iter().map(|each| {
            DocRow::new(vec![
                vec![plain(&each.name)],
                known(each.count()),
                known(each.mean_bytes.map(bytes)),
                known(each.bytes.map(bytes)),
                known(each.write_units.map(count)),
            ])
        });
        DocBlock::Table(DocTable::new(
            "Item types",
            [
                "Item type",
                "#Items",
                "#Mean size",
                "#Size",
                "#Write units to load",
            ],
            rows,
        ))
    }

    fn place_sizes(&self, table: &Table) -> DocBlock {
        let rows = names(table).into_iter().zip(&self.places);
        let rows = rows.map(|(name, place)| {
            DocRow::new(vec![
                vec![plain(name)],
                vec![plain(count(place.items))],
                vec![plain(bytes(place.bytes))],
                vec![plain(count(place.write_units))],
            ])
        });
        DocBlock::Table(DocTable::new(
            "Table and indexes",
            ["Holds", "#Items", "#Size", "#Write units to load"],
            rows,
        ))
    }

    fn costs(&self, prices: &Prices) -> Option<DocBlock> {
        let stored = self.stored_bytes()?;
        let units: u64 = self.places.iter().map(|place| place.write_units).sum();
        let load = cost(prices.writes(float(units)));
        let storage = cost(prices.storage(float(stored)));
        Some(texts([
            (
                "Loading, once",
                format!("{load} on demand, for {} write units", count(units)),
            ),
            (
                "Storage",
                format!("{storage} a month for {}, indexes included", bytes(stored)),
            ),
        ]))
    }

    /// The ways to load all items, with what each costs and how long it takes.
    fn load_ways(&self, table: &Table, prices: &Prices) -> Vec<DocBlock> {
        let all = self.loads(table, prices);
        if all.is_empty() {
            return Vec::new();
        }
        let rows = all.iter().map(|route| {
            let seconds = route.seconds.map(phrases::duration);
            DocRow::new(vec![
                vec![plain(route.route.words())],
                vec![plain(seconds.unwrap_or_else(|| "not promised".to_owned()))],
                vec![plain(cost(route.usd))],
                vec![plain(route.limited.words().unwrap_or_default())],
            ])
        });
        let table = DocTable::new(
            "Ways to load all items, once",
            ["Load", "#At best", "#Cost", "Limited by"],
            rows,
        );
        let mut note =
            "Durations are those of writers that never pause; reading the source may take longer."
                .to_owned();
        if self.basis != Basis::AllRows {
            note.push_str(" The hottest partition key, which may make a load longer, is not known without `--all`.");
        }
        vec![DocBlock::Table(table), DocBlock::Note(prose(&note))]
    }

    /// The item types whose writes are counted without knowing their sizes.
    fn unread_note(&self) -> Option<DocBlock> {
        (!self.unread_writes.is_empty()).then(|| {
            DocBlock::note(format!(
                "No item of {} was read: each write is counted as one write unit of the table, the least that it can take.",
                self.unread_writes.join(", ")
            ))
        })
    }

    fn hot_partitions(&self) -> [DocBlock; 3] {
        let what = "Partition keys that take a large share of the writes. One partition key can take about 1,000 write units a second.";
        let lines = self.hot.iter().map(|(place, sentence)| {
            vec![code(place), plain(": "), TextPiece::Value(sentence.clone())]
        });
        [
            DocBlock::Heading("Hot partitions".to_owned()),
            DocBlock::paragraph(what),
            DocBlock::List(lines.collect()),
        ]
    }

    fn large_items(&self) -> [DocBlock; 3] {
        let line = |name: &str, rest: String| vec![code(name), plain(rest)];
        let lines = self.wide.iter().flat_map(|wide| {
            let sizes = line(&wide.item_type, format!(": {}", wide.sizes()));
            let reads = wide.patterns.iter();
            let needs = reads.map(|read| line(&read.pattern, format!(" {}", wide.need(read))));
            std::iter::once(sizes).chain(needs)
        });
        [
            DocBlock::Heading("Large items of which an access pattern needs little".to_owned()),
            DocBlock::List(lines.collect()),
            DocBlock::note(format!("A way out: {WIDE_ITEMS_HELP}.")),
        ]
    }

    /// The declared rates of the table and of each global index that has any. Local indexes share the
    /// table's capacity.
    pub(super) fn steady(&self, facts: &DocumentFacts<'_>) -> Vec<SteadyPlace> {
        let table = &facts.inputs.model.table;
        let all_names = names(table);
        let is_global = |name: &str| table.indexes.iter().any(|index| index.name == name);
        // The table or index that provides the capacity.
        let provider = |name: &str| {
            if is_global(name) {
                name.to_owned()
            } else {
                table.name.clone()
            }
        };
        let mut steady = Vec::new();
        for name in all_names.iter().filter(|name| provider(name) == **name) {
            let mut rates = Rates {
                reads: 0.0,
                writes: 0.0,
            };
            for (user, units) in all_names.iter().zip(&self.writes) {
                if provider(user) == *name {
                    rates.writes += units;
                }
            }
            let mut reads_at_least = false;
            for pattern in &facts.patterns {
                let user = pattern.proof.index.as_deref().unwrap_or(&table.name);
                if let Some(rate) = pattern.model.rate
                    && provider(user) == *name
                {
                    rates.reads += rate * pattern.units.usual();
                    reads_at_least |= pattern.units.at_least;
                }
            }
            if rates.reads + rates.writes > 0.0 {
                steady.push(SteadyPlace {
                    name: name.clone(),
                    rates,
                    cost: monthly(rates, facts.inputs.prices),
                    reads_at_least,
                    writes_at_least: !self.unread_writes.is_empty(),
                });
            }
        }
        steady
    }
}

/// The declared rates as a table, and their sum.
fn rates(steady: &[SteadyPlace]) -> DocTable {
    let row = |place: &SteadyPlace| {
        let figure =
            |at_least: bool, text: &str| vec![plain(with_lower_bound_sign(at_least, text))];
        let at_least = place.cost_at_least();
        DocRow::new(vec![
            vec![plain(&place.name)],
            figure(place.reads_at_least, &units(place.rates.reads)),
            figure(place.writes_at_least, &units(place.rates.writes)),
            figure(at_least, &cost(place.cost.on_demand_usd)),
            figure(at_least, &cost(place.cost.provisioned_usd)),
        ])
    };
    let titles = [
        "Place",
        "#Read units a second",
        "#Write units a second",
        "#On demand, a month",
        "#Provisioned, a month",
    ];
    let (caption, rows) = ("The declared rates, all month", steady.iter().map(row));
    let mut table = DocTable::new(caption, titles, rows);
    table.sum = Some(row(&SteadyPlace::sum(steady)));
    table
}

impl TypeFigures {
    /// How many items a type has, where that is known.
    fn count(&self) -> Option<String> {
        let items = count(self.items?);
        Some(match (self.at_most, self.about) {
            (true, true) => format!("at most about {items}"),
            (true, false) => format!("at most {items}"),
            (false, true) => format!("about {items}"),
            (false, false) => items,
        })
    }
}

/// The item types with a write rate and no items, and the sum of their rates.
pub(super) fn unread_types(
    item_types: &[ItemType],
    items: impl Iterator<Item = u64>,
) -> (Vec<String>, f64) {
    let mut names = Vec::new();
    let mut sum = 0.0;
    for (item_type, items) in item_types.iter().zip(items) {
        if let (Some(rate), 0) = (item_type.write_rate, items) {
            names.push(item_type.name.to_string());
            sum += rate;
        }
    }
    (names, sum)
}

/// Sentences about the heaviest partition keys of a place; none if it is empty or they are unknown.
fn hot_keys(place: &PlaceForecast, names: &KeyNames) -> Vec<String> {
    let Some(hottest) = place.hottest.as_ref().filter(|_| place.items > 0) else {
        return Vec::new();
    };
    let sentences = heat::hot(place).map(|key| {
        let name = names.name(&key.key);
        let units = if key.most > key.least {
            format!("at least {}, at most {}", count(key.least), count(key.most))
        } else {
            count(key.least)
        };
        let share = key.share * 100.0;
        format!("{name}: {share:.1} % of the write units ({units})")
    });
    let mut lines: Vec<String> = sentences.collect();
    if hottest.error > 0 {
        let next = hottest.keys.get(lines.len());
        let most = next.map_or(0, |key| key.most).max(hottest.others_at_most);
        let which = if lines.is_empty() {
            "no key"
        } else {
            "no other key"
        };
        lines.push(format!("{which} has more than {} write units", count(most)));
    } else if lines.is_empty() {
        lines.push(format!(
            "no key takes {:.0} % of the write units",
            HOT_SHARE * 100.0
        ));
    }
    let distinct = hottest.distinct;
    lines.extend(distinct.map(|keys| format!("{} in all", counted(keys, "partition key"))));
    lines
}

/// How a rate becomes a bill, with the prices that are used.
fn arithmetic(prices: &Prices) -> impl Iterator<Item = String> {
    let usd = &prices.usd;
    let month = |reads, writes| monthly(Rates { reads, writes }, prices);
    let line = |unit: &str, million: Option<f64>, hour: Option<f64>, cost: Monthly| {
        Some(format!(
            "1 {unit} unit a second, all month: on demand 1 × 3,600 × 24 × 30 = 2,592,000 units × \
             ${} a million = {}; provisioned 1 × 24 × 30 = 720 hours × ${} = {}. On \
             demand is cheaper while the mean load is below {:.0} % of the peak.",
            million?,
            dollars(cost.on_demand_usd?),
            hour?,
            dollars(cost.provisioned_usd?),
            cost.on_demand_below()? * 100.0,
        ))
    };
    [
        line(
            "read",
            usd.usd_per_million_read_units,
            usd.usd_per_read_unit_hour,
            month(1.0, 0.0),
        ),
        line(
            "write",
            usd.usd_per_million_write_units,
            usd.usd_per_write_unit_hour,
            month(0.0, 1.0),
        ),
    ]
    .into_iter()
    .flatten()
}

/// The names of the table, its global indexes, its local ones.
pub(super) fn names(table: &Table) -> Vec<String> {
    places(table).map(|place| place.name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use dynafold_mapping::forecast::{HeaviestKeys, HotKey, PlaceKind};

    use super::*;

    /// The sentences about keys with these write units, of 1,000 in all; each key may have up to `error` more.
    fn sentences(weights: &[u64], error: u64) -> Vec<String> {
        let keys = weights.iter().map(|least| HotKey {
            key: format!("K{least}"),
            least: *least,
            most: least + error,
            share: float(*least) / 1_000.0,
        });
        let place = PlaceForecast {
            name: "shop".to_owned(),
            kind: PlaceKind::Table,
            items: 1_000,
            bytes: 1_000,
            write_units: 1_000,
            hottest: Some(HeaviestKeys {
                total: 1_000,
                error,
                distinct: (error == 0).then_some(1),
                keys: keys.collect(),
                others_at_most: error,
            }),
            rated: None,
            reads: None,
        };
        hot_keys(&place, &KeyNames::Shown)
    }

    #[test]
    fn keys_from_one_percent_on_are_named() {
        assert_eq!(
            sentences(&[160, 9], 0),
            [
                "K160: 16.0 % of the write units (160)",
                "1 partition key in all"
            ]
        );
        assert_eq!(
            sentences(&[160, 9], 5),
            [
                "K160: 16.0 % of the write units (at least 160, at most 165)",
                "no other key has more than 14 write units"
            ]
        );
        assert_eq!(
            sentences(&[9], 0),
            [
                "no key takes 1 % of the write units",
                "1 partition key in all"
            ]
        );
    }
}
