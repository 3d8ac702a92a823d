//! What a run reads: the passes, each in chunks that are read, folded and entered one by one.

use dynafold_mapping::model::{Model, Pass};
use dynafold_relational::catalog::Dbms;
use dynafold_relational::scan::{Range, RangeKey, Scan};
use dynafold_source::{Source, SourceError};
use serde::{Deserialize, Serialize};

/// One chunk: the part of the source that a ticket is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ChunkId {
    /// Index of the pass.
    pub(crate) pass: usize,
    /// Index of the chunk in its pass.
    pub(crate) chunk: usize,
}

/// Fewest and most rows of a chunk, as far as the database can tell.
const ROWS: std::ops::RangeInclusive<u64> = 10_000..=250_000;
/// Chunks that a table is cut into, between those bounds.
const CHUNKS: u64 = 64;

/// What one chunk reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChunkPart {
    /// All rows of the pass.
    Whole,
    /// The rows between two keys.
    Range(Range),
    /// No rows: children that find no parent are counted.
    Orphans,
}

/// The chunks of each pass.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ChunkPlan {
    pub(crate) passes: Vec<Vec<ChunkPart>>,
}

impl ChunkPlan {
    /// Cuts the passes of a mapping. `wanted`: about how many rows a chunk is to have, where the caller knows better.
    pub(crate) async fn cut(
        source: &mut dyn Source,
        model: &Model,
        wanted: Option<u64>,
    ) -> Result<Self, SourceError> {
        let mut passes = Vec::with_capacity(model.passes.len());
        for pass in &model.passes {
            if pass.item_types.is_empty() {
                // Left out by a selection.
                passes.push(Vec::new());
                continue;
            }
            let rows = wanted.unwrap_or_else(|| chunk(pass.estimated_rows));
            passes.push(parts(source, pass, rows).await?);
        }
        Ok(Self { passes })
    }

    /// Whether its ranges have all rows of another snapshot too. Places of rows live and die with theirs in
    /// PostgreSQL, and a row whose key has become NULL is in no range.
    pub(super) fn covers(&self, dbms: Dbms, passes: &[Pass]) -> bool {
        let mut both = self.passes.iter().zip(passes);
        self.passes.len() == passes.len()
            && both.all(|(parts, pass)| {
                let solid = &pass.never_null;
                parts.iter().all(|part| match part {
                    ChunkPart::Whole | ChunkPart::Orphans => true,
                    ChunkPart::Range(range) => match &range.by {
                        RangeKey::Key(columns) => {
                            columns.iter().all(|column| solid.contains(column))
                        }
                        RangeKey::Place => dbms != Dbms::Postgres,
                    },
                })
            })
    }

    /// Every pass as one chunk.
    pub(crate) fn whole(model: &Model) -> Self {
        let passes = model.passes.iter();
        // Those without item types are left out by a selection.
        let passes = passes.map(|pass| match &*pass.item_types {
            [] => Vec::new(),
            _ => vec![ChunkPart::Whole],
        });
        Self {
            passes: passes.collect(),
        }
    }

    /// Whether a chunk is one of its.
    pub(super) fn holds(&self, id: ChunkId) -> bool {
        let pass = self.passes.get(id.pass);
        pass.is_some_and(|parts| id.chunk < parts.len())
    }

    /// All chunks in order: neighbours in the list are neighbours in a table.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (ChunkId, &ChunkPart)> {
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
) -> Result<Vec<ChunkPart>, SourceError> {
    let ranges = source.cut(&pass.scan, wanted).await?;
    if ranges.len() < 2 {
        return Ok(vec![ChunkPart::Whole]);
    }
    let orphans = pass.scan.embeds().next().map(|_| ChunkPart::Orphans);
    Ok(ranges
        .into_iter()
        .map(ChunkPart::Range)
        .chain(orphans)
        .collect())
}

/// The scan that reads a part of a pass; `None` where no rows are read.
pub(crate) fn scan_of(pass: &Pass, part: &ChunkPart) -> Option<Scan> {
    let range = match part {
        ChunkPart::Whole => None,
        ChunkPart::Range(range) => Some(range.clone()),
        ChunkPart::Orphans => return None,
    };
    Some(Scan {
        range,
        ..pass.scan.clone()
    })
}

/// The item types that a run is about: those that a pass makes.
pub(crate) fn selected(model: &Model) -> Vec<bool> {
    let mut selected = vec![false; model.item_types.len()];
    for index in model.passes.iter().flat_map(|pass| &pass.item_types) {
        if let Some(selected) = selected.get_mut(*index) {
            *selected = true;
        }
    }
    selected
}

/// The item types that a selection leaves out and that may make a key of one that it does not, as indices.
pub(crate) fn rivals(model: &Model) -> Vec<usize> {
    let selected = selected(model);
    let is_selected = |index: usize| selected.get(index).copied().unwrap_or_default();
    let may_meet = |left_out: usize| match &model.unproved_pairs {
        None => true,
        Some(pairs) => pairs.iter().any(|[one, other]| {
            (*one == left_out && is_selected(*other)) || (*other == left_out && is_selected(*one))
        }),
    };
    let left_out = (0..model.item_types.len()).filter(|index| !is_selected(*index));
    left_out.filter(|index| may_meet(*index)).collect()
}

/// The names of these item types.
pub(crate) fn names(model: &Model, item_types: &[usize]) -> Vec<String> {
    let item_types = item_types
        .iter()
        .filter_map(|index| model.item_types.get(*index));
    item_types.map(|one| one.name.to_string()).collect()
}

/// What is said of item types whose keys were not compared.
pub(crate) fn not_compared(names: &[String]) -> String {
    format!("the keys of {} were not compared", names.join(", "))
}

#[cfg(test)]
mod tests {
    use dynafold_relational::scan::Relation;

    use super::*;

    #[test]
    fn rivals_are_left_out_and_may_make_keys_of_what_is_not() {
        use dynafold_testing::model::{item_type, model, pass};

        let made = |name: &str| item_type(name, 0, &[("PK", "{0}"), ("SK", "-")]);
        let passes = vec![pass("t", 2, &[0])];
        let mut model = model(passes, vec![made("A"), made("B"), made("C")]);
        for (pairs, expected) in [
            (Some(Vec::new()), Vec::new()),
            (Some(vec![[0, 2], [1, 2]]), vec!["C"]),
            (None, vec!["B", "C"]),
        ] {
            model.unproved_pairs = pairs;
            assert_eq!(names(&model, &rivals(&model)), expected);
        }
        model.passes[0].item_types = vec![0, 1, 2];
        assert!(rivals(&model).is_empty());
    }

    #[test]
    fn a_plan_holds_for_other_rows_only_where_its_ranges_have_them_all() {
        let range = |by: RangeKey| {
            ChunkPart::Range(Range {
                by,
                after: None,
                to: None,
            })
        };
        let key = || range(RangeKey::Key(vec!["id".to_owned()]));
        let plan = |parts: Vec<ChunkPart>| ChunkPlan {
            passes: vec![parts],
        };
        let pass = |never_null: &[&str]| Pass {
            scan: Scan::of(Relation::Query(String::new()), Vec::new()),
            name: String::new(),
            item_types: Vec::new(),
            fickle: false,
            estimated_rows: None,
            never_null: never_null.iter().map(|name| (*name).to_owned()).collect(),
            may_hide_rows: false,
            row_security: Vec::new(),
        };
        let (solid, none) = ([pass(&["id"])], [pass(&[])]);
        for (part, dbms, passes, covers) in [
            (key(), Dbms::Mysql, &solid[..], true),
            (key(), Dbms::Mysql, &none[..], false),
            (key(), Dbms::Mysql, &[][..], false),
            (range(RangeKey::Place), Dbms::Sqlite, &none[..], true),
            (range(RangeKey::Place), Dbms::Postgres, &solid[..], false),
            (ChunkPart::Whole, Dbms::Postgres, &none[..], true),
        ] {
            let plan = plan(vec![part]);
            assert_eq!(plan.covers(dbms, passes), covers, "{plan:?}");
        }
    }
}
