//! What a run reads: the passes, each in chunks that are read, folded and entered one by one.

use serde::{Deserialize, Serialize};

use super::state::PassPlan;
use super::ticket::ChunkId;
use crate::mapping::model::{Model, Pass};
use crate::source::{Range, Scan, Source, SourceError};

/// Fewest and most rows of a chunk, as far as the database can tell.
const ROWS: std::ops::RangeInclusive<u64> = 10_000..=250_000;
/// Chunks that a table is cut into, between those bounds.
const CHUNKS: u64 = 64;

/// What one chunk reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Part {
    /// All rows of the pass.
    Whole,
    /// The rows between two keys.
    Range(Range),
    /// No rows: children that find no parent are counted.
    Orphans,
}

/// The chunks of each pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Plan {
    pub(crate) passes: Vec<Vec<Part>>,
}

impl Plan {
    /// Cuts the passes of a mapping. `estimates`: about how many rows each has; `wanted`: about how
    /// many rows a chunk is to have, where the caller knows better.
    pub(crate) async fn cut(
        source: &mut dyn Source,
        model: &Model,
        estimates: &[Option<u64>],
        wanted: Option<u64>,
    ) -> Result<Self, SourceError> {
        let mut passes = Vec::with_capacity(model.passes.len());
        for (index, pass) in model.passes.iter().enumerate() {
            if pass.item_types.is_empty() {
                // Left out by a selection.
                passes.push(Vec::new());
                continue;
            }
            let rows = estimates.get(index).copied().flatten();
            passes.push(parts(source, pass, wanted.unwrap_or_else(|| chunk(rows))).await?);
        }
        Ok(Self { passes })
    }

    /// As the state keeps it.
    pub(crate) fn written(&self, model: &Model) -> Vec<PassPlan> {
        let passes = model.passes.iter().zip(&self.passes);
        let written = |part: &Part| match part {
            Part::Whole => None,
            part => serde_json::to_string(part).ok(),
        };
        passes
            .map(|(pass, parts)| PassPlan {
                name: pass.name.clone(),
                chunks: parts.iter().map(written).collect(),
            })
            .collect()
    }

    /// All chunks in order: neighbours in the list are neighbours in a table.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (ChunkId, &Part)> {
        self.passes.iter().enumerate().flat_map(|(pass, parts)| {
            let parts = parts.iter().enumerate();
            parts.map(move |(chunk, part)| (ChunkId { pass, chunk }, part))
        })
    }
}

/// Rows of a chunk, for a pass of so many rows.
fn chunk(rows: Option<u64>) -> u64 {
    let wanted = rows.unwrap_or(0) / CHUNKS;
    wanted.clamp(*ROWS.start(), *ROWS.end())
}

async fn parts(
    source: &mut dyn Source,
    pass: &Pass,
    wanted: u64,
) -> Result<Vec<Part>, SourceError> {
    let ranges = source.cut(&pass.scan, wanted).await?;
    if ranges.len() < 2 {
        return Ok(vec![Part::Whole]);
    }
    let orphans = pass.scan.embeds().next().map(|_| Part::Orphans);
    Ok(ranges.into_iter().map(Part::Range).chain(orphans).collect())
}

/// The scan that reads a part of a pass; `None` where no rows are read.
pub(crate) fn scan_of(pass: &Pass, part: &Part) -> Option<Scan> {
    let range = match part {
        Part::Whole => None,
        Part::Range(range) => Some(range.clone()),
        Part::Orphans => return None,
    };
    Some(Scan {
        range,
        ..pass.scan.clone()
    })
}
