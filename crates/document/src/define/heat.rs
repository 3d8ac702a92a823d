//! Which partition keys the declared rates fall on. Known where all rows were read.

use dynafold_dynamodb::price::{PARTITION_READS, PARTITION_WRITES};
use dynafold_format::{count, rounded};
use dynafold_mapping::forecast::{HOT_READS_HELP, PlaceForecast, ReadKey, TOO_FEW_ROWS};

use super::pattern_names;
use crate::phrases::units;
use crate::tree::{DocBlock, DocRow, DocTable, TextLine, TextPiece, code, plain, prose};

/// Hot keys of a place that are named.
pub(super) const NAMED: usize = 5;

/// The partition keys that are written and read most. `places`: of all rows; `None` where not all were read. `names_keys`:
/// whether keys may be named.
pub(super) fn blocks(places: Option<&[PlaceForecast]>, names_keys: bool) -> Vec<DocBlock> {
    let Some(places) = places else {
        let unknown = "Which partition keys these rates fall on is not known without `--all`.";
        return vec![DocBlock::Note(prose(unknown))];
    };
    let mut blocks = writes(places, names_keys);
    blocks.extend(reads(places, names_keys));
    blocks
}

fn writes(places: &[PlaceForecast], names_keys: bool) -> Vec<DocBlock> {
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
        let keys = rated.keys.iter().filter(|(_, rate)| *rate > 0.0);
        for (at, (key, rate)) in keys.take(NAMED).enumerate() {
            rows.push(DocRow::new(vec![
                vec![code(&place.name)],
                named(names_keys, at, key),
                rated_cell(*rate, PARTITION_WRITES),
            ]));
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let table = DocTable::new(
        "Partition keys that are written most, at the write rates",
        &["Place", "Partition key", "#Write units a second, at least"],
        rows,
    );
    let note = format!(
        "Each write counts as that of an item of its type taken at random.{}",
        approximate(error)
    );
    vec![DocBlock::Table(table), DocBlock::note(note)]
}

fn reads(places: &[PlaceForecast], names_keys: bool) -> Vec<DocBlock> {
    let mut rows = Vec::new();
    let mut error = 0.0_f64;
    let mut is_over = false;
    for place in places {
        let Some(reads) = &place.reads else { continue };
        error = error.max(reads.error);
        for (at, key) in reads.keys.iter().take(NAMED).enumerate() {
            is_over |= key.units_per_second > PARTITION_READS;
            rows.push(DocRow::new(vec![
                vec![code(&place.name)],
                named(names_keys, at, &key.key),
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
        &[
            "Place",
            "Partition key",
            "#Read units a second, at least",
            "Access patterns",
        ],
        rows,
    );
    let mut note = format!(
        "Each call counts as one for the partition key of an item that the pattern finds, taken at random.{}",
        approximate(error)
    );
    if is_over {
        note.push_str(&format!(
            " Where a partition cannot answer so much: {HOT_READS_HELP}."
        ));
    }
    vec![DocBlock::Table(table), DocBlock::note(note)]
}

/// A partition key, or its place in the order where it must not be shown.
fn named(names_keys: bool, at: usize, key: &str) -> TextLine {
    vec![if names_keys {
        TextPiece::Value(key.to_owned())
    } else {
        plain(format!("key {}", at + 1))
    }]
}

/// Units a second, and whether a partition takes so many.
fn rated_cell(rate: f64, most: f64) -> TextLine {
    let mut cell = vec![plain(units(rate))];
    if rate > most {
        let most = count(rounded(most));
        let over = format!("more than the {most} that a partition takes");
        cell.push(TextPiece::Sub(vec![plain(over)]));
    }
    cell
}

/// The access patterns that read a key, those that read most first.
fn by_patterns(key: &ReadKey) -> TextLine {
    let mut patterns: Vec<(&String, &f64)> = key.patterns.iter().collect();
    patterns.sort_by(|one, other| other.1.total_cmp(one.1));
    let names: Vec<&String> = patterns.into_iter().map(|(name, _)| name).collect();
    pattern_names(&names)
}

fn approximate(error: f64) -> String {
    if error > 0.0 {
        format!(
            " Figures are approximate: each key may have up to {} more.",
            units(error)
        )
    } else {
        String::new()
    }
}
