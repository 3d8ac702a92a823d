//! The partition keys that the declared rates load most. Known only if all rows were read.

use dynafold_dynamodb::price::{PARTITION_READS, PARTITION_WRITES};
use dynafold_format::{count, rounded, text_if};
use dynafold_mapping::forecast::{HOT_READS_HELP, HotKey, PlaceForecast, ReadKey, TOO_FEW_ROWS};

use super::pattern_links;
use crate::phrases::units;
use crate::tree::{DocBlock, DocRow, DocTable, TextLine, TextPiece, code, plain, prose};

/// The most keys that are named for one place.
const MAX_NAMED: usize = 5;
/// The smallest share of a place's write units that makes a key hot.
pub(super) const HOT_SHARE: f64 = 0.01;

/// The names of partition keys, the same in the whole document.
#[derive(Debug)]
pub(super) enum KeyNames {
    /// Each key is its own name.
    Shown,
    /// Keys that must not be shown. The first of them is `key 1`.
    Numbered(Vec<String>),
}

impl KeyNames {
    pub(super) fn of(places: &[PlaceForecast], names_keys: bool) -> Self {
        if names_keys {
            return Self::Shown;
        }
        let written = places.iter().flat_map(most_written).map(|(key, _)| key);
        let read = places.iter().flat_map(most_read).map(|read| &read.key);
        let hot = places.iter().flat_map(hot).map(|hot| &hot.key);
        let mut keys = Vec::new();
        for key in written.chain(read).chain(hot) {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        Self::Numbered(keys)
    }

    pub(super) fn name(&self, key: &str) -> String {
        match self {
            Self::Shown => key.to_owned(),
            Self::Numbered(keys) => {
                let at = keys.iter().position(|known| known == key);
                at.map_or_else(|| "a key".to_owned(), |at| format!("key {}", at + 1))
            }
        }
    }

    fn cell(&self, key: &str) -> TextLine {
        let name = self.name(key);
        vec![match self {
            Self::Shown => TextPiece::Value(name),
            Self::Numbered(_) => plain(name),
        }]
    }
}

/// The keys of a place that are written most, with their write units a second.
fn most_written(place: &PlaceForecast) -> impl Iterator<Item = &(String, f64)> {
    let keys = place.rated.iter().flat_map(|rated| &rated.keys);
    keys.filter(|(_, rate)| *rate > 0.0).take(MAX_NAMED)
}

fn most_read(place: &PlaceForecast) -> impl Iterator<Item = &ReadKey> {
    let keys = place.reads.iter().flat_map(|reads| &reads.keys);
    keys.take(MAX_NAMED)
}

/// The keys that take a large share of a place's write units.
pub(super) fn hot(place: &PlaceForecast) -> impl Iterator<Item = &HotKey> {
    let keys = place.hottest.iter().flat_map(|hottest| &hottest.keys);
    keys.take(MAX_NAMED)
        .take_while(|key| key.share >= HOT_SHARE)
}

/// The partition keys that are written and read most. `places`: of all rows; `None` where not all were read.
pub(super) fn blocks(places: Option<&[PlaceForecast]>, names: &KeyNames) -> Vec<DocBlock> {
    let Some(places) = places else {
        let unknown = "Which partition keys these rates fall on is not known without `--all`.";
        return vec![DocBlock::Note(prose(unknown))];
    };
    let mut blocks = writes(places, names);
    blocks.extend(reads(places, names));
    blocks
}

fn writes(places: &[PlaceForecast], names: &KeyNames) -> Vec<DocBlock> {
    let mut rows = Vec::new();
    let mut error = 0.0_f64;
    for place in places {
        let Some(rated) = &place.rated else { continue };
        error = error.max(rated.error);
        if rated.too_few_rows {
            rows.push(DocRow::new(vec![
                vec![code(&place.name)],
                vec![plain(TOO_FEW_ROWS)],
                Vec::new(),
            ]));
        }
        for (key, rate) in most_written(place) {
            rows.push(DocRow::new(vec![
                vec![code(&place.name)],
                names.cell(key),
                rated_cell(*rate, PARTITION_WRITES),
            ]));
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let table = DocTable::new(
        "Partition keys that are written most, at the write rates",
        ["Place", "Partition key", "#Write units a second, at least"],
        rows,
    );
    let note = format!(
        "Each write is counted as a write of a random item of its type.{}",
        approximate(error)
    );
    vec![DocBlock::Table(table), DocBlock::note(note)]
}

fn reads(places: &[PlaceForecast], names: &KeyNames) -> Vec<DocBlock> {
    let mut rows = Vec::new();
    let mut error = 0.0_f64;
    let mut is_over = false;
    for place in places {
        let Some(reads) = &place.reads else { continue };
        error = error.max(reads.error);
        for key in most_read(place) {
            is_over |= key.units_per_second > PARTITION_READS;
            rows.push(DocRow::new(vec![
                vec![code(&place.name)],
                names.cell(&key.key),
                rated_cell(key.units_per_second, PARTITION_READS),
                by_patterns(key),
            ]));
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let table = DocTable::new(
        "Partition keys that are read most, at the rates of the access patterns",
        [
            "Place",
            "Partition key",
            "#Read units a second, at least",
            "Access patterns",
        ],
        rows,
    );
    let mut note = format!(
        "Each call is counted at the partition key of a random item that the pattern finds.{}",
        approximate(error)
    );
    if is_over {
        note.push_str(&format!(
            " If a partition cannot answer that many reads: {HOT_READS_HELP}."
        ));
    }
    vec![DocBlock::Table(table), DocBlock::note(note)]
}

/// Units a second, with a remark if they are more than a partition takes, `most`.
fn rated_cell(rate: f64, most: f64) -> TextLine {
    let mut cell = vec![plain(units(rate))];
    if rate > most {
        let most = count(rounded(most));
        let over = format!("more than the {most} that a partition takes");
        cell.push(TextPiece::Sub(vec![plain(over)]));
    }
    cell
}

/// The access patterns that read a key, the one that reads most first.
fn by_patterns(key: &ReadKey) -> TextLine {
    let mut patterns: Vec<(&String, &f64)> = key.patterns.iter().collect();
    patterns.sort_by(|one, other| other.1.total_cmp(one.1));
    let names: Vec<&String> = patterns.into_iter().map(|(name, _)| name).collect();
    pattern_links(&names)
}

fn approximate(error: f64) -> String {
    let most = units(error);
    text_if(
        error > 0.0,
        format!(" Figures are approximate: each key may have up to {most} more."),
    )
}
