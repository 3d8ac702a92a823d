//! What has to be written and deleted so that a table that was loaded by one mapping is that of another.

use serde::Serialize;

use super::made::Made;
use super::{ChangeKind, DiffSide, IndexDiff, ItemTypeDiff, UnitRange, find};
use crate::model::{Expired, ItemType, Model};

/// What has to be written and deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Migration {
    /// Why the table that is there cannot become that of the new mapping; `None` where it can.
    pub new_table: Option<String>,
    /// For each item type what becomes of its items, in the order of the diff.
    pub steps: Vec<MigrationStep>,
    /// The options with which `migrate` does it; `None` where nothing is to be written or deleted.
    pub options: Option<Vec<&'static str>>,
    /// Write units of all that is written and deleted; `None` where some rows are not counted.
    pub write_units: Option<UnitRange>,
}

/// What becomes of the items of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MigrationStep {
    /// The name of the item type.
    pub item_type: String,
    /// What is done.
    pub action: MigrationAction,
    /// About how many items are written at most; `None` where rows are not counted.
    pub write: Option<u64>,
    /// About how many items of the old mapping are stale then, at most; `None` where rows are not counted.
    pub stale: Option<u64>,
    /// What becomes of stale items.
    pub stale_items: StaleItems,
    /// Whether items of rows that have expired stay as they are: no load touches them, and DynamoDB deletes them only by the
    /// TTL that they hold.
    pub expired_stay: bool,
    /// Whether items may stay as they are because the new mapping rejects their rows. They are not counted as stale.
    pub rejected_stay: bool,
    /// The option of `migrate` that deletes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prune: Option<&'static str>,
    /// The item type that writes over the items of one that is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwritten_by: Option<String>,
    /// Of an item type that is the same: those that change and may make its keys, so that other rows of it may be loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<String>,
}

/// What is done with the items of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MigrationAction {
    /// Nothing: every row makes the same item, and no item type that changes may make its keys.
    Keep,
    /// All are written; none was there.
    Write,
    /// All are written under keys that are made otherwise.
    Rekey,
    /// They are written again under the same keys. Those that come out the same are not written with `--changes-only`.
    Update,
    /// No row makes them any more.
    Remove,
}

/// What becomes of stale items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StaleItems {
    /// There are none.
    None,
    /// They are deleted.
    Deleted,
    /// Those are deleted whose keys have the form of one of the new templates; the others stay.
    DeletedByForm,
    /// They stay: the new mapping does not recognise them.
    Stay,
    /// They are gone with the table, or stay in the old one.
    WithTable,
}

/// Two mappings with what was found of them.
pub(super) struct Subject<'d, 'm> {
    pub(super) old: DiffSide<'d>,
    pub(super) new: DiffSide<'d>,
    /// Whether stale items can be deleted under the new mapping.
    pub(super) prunes: bool,
    pub(super) before: &'d [Made<'m>],
    pub(super) after: &'d [Made<'m>],
    pub(super) item_types: &'d [ItemTypeDiff],
    pub(super) indexes: &'d [IndexDiff],
}

pub(super) fn migration(subject: &Subject<'_, '_>) -> Migration {
    let new_table = new_table(subject);
    let (diffs, anew) = (subject.item_types.iter(), new_table.is_some());
    let stepped = diffs.filter(|diff| !anew || diff.change != ChangeKind::Removed);
    let steps: Vec<_> = stepped.map(|diff| subject.step(diff, anew)).collect();
    Migration {
        options: options(subject, anew, &steps),
        write_units: subject.write_units(&steps),
        new_table,
        steps,
    }
}

/// Why the table that is there cannot become that of the new mapping.
fn new_table(subject: &Subject<'_, '_>) -> Option<String> {
    let (old, new) = (&subject.old.model.table, &subject.new.model.table);
    if old.name != new.name {
        return Some(format!(
            "the new mapping names another table, `{}`",
            new.name
        ));
    }
    if old.key_text() != new.key_text() {
        return Some("the key of a table cannot be changed".to_owned());
    }
    let changed = |index: &&IndexDiff| {
        let was_local = old.local_indexes.iter().any(|one| one.name == index.index);
        let only_capacity = index.changes.iter().all(|change| change.what == "capacity");
        let is_same = index.change == ChangeKind::Changed && only_capacity;
        (index.local || was_local) && index.change != ChangeKind::Same && !is_same
    };
    let index = subject.indexes.iter().find(changed)?;
    Some(format!(
        "the local index `{}` cannot be added, changed or removed in an existing table",
        index.index
    ))
}

fn options(
    subject: &Subject<'_, '_>,
    new_table: bool,
    steps: &[MigrationStep],
) -> Option<Vec<&'static str>> {
    if new_table {
        let is_another = subject.old.model.table.name != subject.new.model.table.name;
        return Some(if is_another {
            vec![]
        } else {
            vec!["--replace"]
        });
    }
    let writes = |step: &MigrationStep| step.write != Some(0);
    let prunes = steps.iter().filter_map(|step| step.prune);
    // The longer one deletes what the other does too.
    let prune = prunes.max_by_key(|option| option.len());
    let is_work = steps.iter().any(writes) || prune.is_some();
    is_work.then(|| ["--changes-only"].into_iter().chain(prune).collect())
}

impl Subject<'_, '_> {
    /// What becomes of the items of a type; `anew`: all is written into a table that is new.
    fn step(&self, diff: &ItemTypeDiff, anew: bool) -> MigrationStep {
        use MigrationAction::{Keep, Rekey, Remove, Update, Write};
        let name = &diff.item_type;
        let old_rows = Self::rows(self.old.model, name);
        let new_rows = Self::rows(self.new.model, name);
        let is_changed = diff.change == ChangeKind::Changed && !anew;
        let step = |action, write, stale, stale_items| MigrationStep {
            item_type: name.clone(),
            action,
            write,
            stale,
            stale_items,
            expired_stay: is_changed && self.skips_expired(name),
            rejected_stay: is_changed,
            prune: match stale_items {
                StaleItems::Deleted | StaleItems::DeletedByForm => Some(self.prune(diff)),
                _ => None,
            },
            overwritten_by: None,
            rivals: Vec::new(),
        };
        let same = |here, there| find(here, name).and_then(|made| self.same_items(made, there));
        let has_content_changes = !(diff.attributes.is_empty() && diff.others.is_empty());
        match diff.change {
            _ if anew => step(Write, new_rows, Some(0), StaleItems::WithTable),
            ChangeKind::Added => {
                let action = same(self.after, self.before).map_or(Write, |_| Update);
                step(action, new_rows, Some(0), StaleItems::None)
            }
            ChangeKind::Removed => match same(self.before, self.after) {
                Some(successor) => MigrationStep {
                    expired_stay: self.skips_expired(&successor),
                    rejected_stay: true,
                    overwritten_by: Some(successor),
                    ..step(Remove, Some(0), Some(0), StaleItems::None)
                },
                None => step(Remove, Some(0), old_rows, self.of_stale(name)),
            },
            _ if !diff.keys.is_empty() => step(Rekey, new_rows, old_rows, self.of_stale(name)),
            _ if !diff.rows.is_empty() => step(Update, new_rows, old_rows, self.of_stale(name)),
            _ if has_content_changes => step(Update, new_rows, Some(0), StaleItems::None),
            _ => match self.changed_rivals(name) {
                rivals if rivals.is_empty() => step(Keep, Some(0), Some(0), StaleItems::None),
                rivals => MigrationStep {
                    rivals,
                    ..step(Update, new_rows, Some(0), StaleItems::None)
                },
            },
        }
    }

    /// The item types that change and may make keys of this one, in either mapping. Rows of it that had lost a key to them
    /// may now have it, and others may lose theirs.
    fn changed_rivals(&self, name: &str) -> Vec<String> {
        let made = [find(self.before, name), find(self.after, name)];
        let is_rival = |other: &str| {
            let mut made = made.iter().flatten();
            made.any(|made| made.rivals.contains(&other))
        };
        let changed = self.item_types.iter();
        let changed =
            changed.filter(|diff| diff.change != ChangeKind::Same && is_rival(&diff.item_type));
        changed.map(|diff| diff.item_type.clone()).collect()
    }

    /// An item type of the other mapping, and of that alone, that makes the same keys of the same rows.
    fn same_items(&self, made: &Made<'_>, others: &[Made<'_>]) -> Option<String> {
        let is_one_sided = |other: &Made<'_>| {
            let name = &other.item_type.name;
            find(self.before, name).is_none() || find(self.after, name).is_none()
        };
        let mut others = others.iter().filter(|other| is_one_sided(other));
        // The names of the key attributes are the same: the table's key is.
        let found = others
            .find(|other| other.keys() == made.keys() && other.exact_rows() == made.exact_rows());
        found.map(|other| other.item_type.name.to_string())
    }

    /// Whether the new mapping leaves expired rows out.
    fn skips_expired(&self, name: &str) -> bool {
        let made = find(self.after, name);
        made.is_some_and(|made| made.item_type.expired != Expired::Load)
    }

    /// What becomes of items that no row makes any more. By a type attribute, the new mapping knows its own item types alone:
    /// items of others stay.
    fn of_stale(&self, name: &str) -> StaleItems {
        let (old, new) = (self.old.model, self.new.model);
        match (&old.type_attribute, &new.type_attribute) {
            _ if !self.prunes => StaleItems::Stay,
            (Some(was), Some(is)) if was == is && new.item_type(name).is_some() => {
                StaleItems::Deleted
            }
            (_, Some(_)) => StaleItems::Stay,
            (_, None) => self.by_form(name),
        }
    }

    /// The option that deletes stale items. `--prune` leaves those whose rows may be there and are not read.
    fn prune(&self, diff: &ItemTypeDiff) -> &'static str {
        let model = self.new.model;
        let item_type = model.item_type(&diff.item_type);
        let pass = item_type.and_then(|one| model.passes.get(one.pass));
        // Of an item type that is gone any pass may read the rows.
        let may_hide_rows = match pass {
            Some(pass) => pass.may_hide_rows,
            None => model.passes.iter().any(|pass| pass.may_hide_rows),
        };
        if may_hide_rows || !diff.rows.is_empty() {
            "--prune=filtered"
        } else {
            "--prune"
        }
    }

    /// Without a type attribute an item belongs to the mapping whose templates can make its key.
    fn by_form(&self, name: &str) -> StaleItems {
        let Some(old) = self.old.model.item_type(name) else {
            return StaleItems::Stay;
        };
        let meets = |new: &ItemType| {
            let mut keys = old.key_texts.iter().zip(&new.key_texts);
            keys.all(|(old, new)| old.meets(new))
        };
        if self.new.model.item_types.iter().any(meets) {
            StaleItems::DeletedByForm
        } else {
            StaleItems::Stay
        }
    }

    /// About how many items of a type there are at most, where the catalog counts rows.
    fn rows(model: &Model, name: &str) -> Option<u64> {
        let item_type = model.item_type(name)?;
        let pass = model.passes.get(item_type.pass)?;
        let is_counted =
            item_type.explodes.is_empty() && pass.scan.joins.iter().all(|join| join.is_single);
        pass.estimated_rows.filter(|_| is_counted)
    }

    /// Write units of all steps: the fewest where all of them are done to small items, and the most that they can take.
    fn write_units(&self, steps: &[MigrationStep]) -> Option<UnitRange> {
        let (mut least, mut most) = (0_u64, Some(0_u64));
        for step in steps {
            let (write, stale) = (step.write?, step.stale?);
            let mut all = self.item_types.iter();
            let diff = all.find(|diff| diff.item_type == step.item_type)?;
            let stale = step.prune.map_or(0, |_| stale);
            let (before, after) = (diff.units_before, diff.units_after);
            let fewest = |units: Option<UnitRange>| units.map_or(0, |units| units.least);
            // Of what is overwritten index entries may be deleted and written.
            let overwritten = match step.action {
                MigrationAction::Update => before.or(after),
                _ => None,
            };
            least += write.saturating_mul(fewest(after)) + stale.saturating_mul(fewest(before));
            let largest = |items: u64, units: Option<UnitRange>| match (items, units) {
                (0, _) | (_, None) => Some(0),
                (items, Some(units)) => Some(items.saturating_mul(units.most?)),
            };
            let all = largest(write, after)
                .zip(largest(write, overwritten))
                .zip(largest(stale, before))
                .map(|((written, overwritten), deleted)| {
                    written.saturating_add(overwritten).saturating_add(deleted)
                });
            most = most.zip(all).map(|(most, all)| most.saturating_add(all));
        }
        Some(UnitRange { least, most })
    }
}
