//! A read whose rows are those of one item type.

use std::collections::BTreeMap;

use dynafold_format::joined;
use dynafold_relational::catalog::{Catalog, ForeignKey, Table};
use dynafold_sql::{ConditionTest, RowLimit, SqlQuery, identifier};

use super::{
    Ask, At, Filter, Note, RangeAsk, Reading, Unserved, When, distinct, free_name, is_one_row,
    note_names,
};
use crate::path::{Path, Step};

/// Why a column that is compared in lower case is not sorted as it is.
const IN_LOWER: &str = "the key has it in lower case";

impl<'c> Reading<'c, '_> {
    /// The reads of a query whose other relations are all parents of `root`: one for each range that the key may take, and
    /// one for none.
    pub(super) fn rows(
        &self,
        root: usize,
        ways: &BTreeMap<usize, Vec<Step>>,
    ) -> Result<Vec<Ask<'c>>, Unserved> {
        let mut ask = self.bare(root)?;
        let ranges = self.conditions(root, ways, &mut ask)?;
        let mut is_changed = self.set_outputs(ways, &mut ask)?;
        let figures = self.figures();
        ask.order = match &figures {
            Some(_) => Vec::new(),
            None => self.order(ways)?,
        };
        if let Some(figures) = figures {
            ask.limit = None;
            ask.computes = true;
            ask.note(format!(
                "it {figures}: the application computes this from the items that it reads"
            ));
        }
        let mut order = ask.order.iter().filter(|_| !is_one_row(&ask));
        ask.unsortable = order
            .find_map(|(path, _)| self.unsortable(ask.root, path))
            .or_else(|| {
                let column = self.sorted_in_case().filter(|_| !is_one_row(&ask))?;
                Some(format!("{column} with regard to case, and {IN_LOWER}"))
            });
        is_changed |= self.answer_order(&mut ask);
        let decides: Vec<String> = self
            .deciding_key(root)
            .into_iter()
            .map(|one| one.0)
            .collect();
        note_names(&mut ask.notes, &decides, |key| {
            format!(
                "its SQL sorts by the key too, so that its LIMIT takes the same of equal rows: {key}"
            )
        });
        if let Some(mut note) = self.distinct_note() {
            if ask.limit.is_some() {
                note.push_str(", and stops after as many others as it wants");
            }
            ask.note(note);
        }
        ask.notes.extend(self.loose_groups().map(Note::Text));
        let limits = !matches!(self.query.limit, RowLimit::None | RowLimit::Rows(_));
        let mut sorted = self.query.order.iter().flatten();
        is_changed |= sorted.any(|key| {
            let at = self.sort_column(key);
            at.is_some_and(|at| self.answered_as(ways, &at) != at)
        });
        let mut conditions = self.conditions.iter();
        is_changed |=
            conditions.any(|condition| matches!(condition.test, ConditionTest::Like { .. }));
        is_changed |= self.note_spelling(ways, &mut ask);
        is_changed |= self.note_bytes(ways, &mut ask)
            || ask.is_page
            || ask.computes
            || limits
            || self.query.offset != RowLimit::None
            || self.extreme.is_some()
            || self.select.distinct;
        self.leave_out_null(&mut ask);
        // An inner join leaves out rows without the parent; a column of the parent that is equal to something does so already.
        for (at, way) in ways {
            let mut equal = ask.equal.iter();
            let is_there = equal.any(|equal| equal.path.steps.starts_with(way));
            if !is_there && !self.may_be_missing(*at) {
                let required = self.required(ask.root, way, &ask.outputs);
                ask.required.extend(required);
            }
        }
        ask.is_twice = self.twice().is_some();
        if is_changed {
            ask.sql = self.written(root, ways, &[], &ask.outputs, &[], !ask.computes)?;
        }
        if !ask.order.is_empty() {
            let unsorted = self.written(root, ways, &[], &ask.outputs, &[], false);
            ask.unsorted = unsorted.ok();
        }
        Ok(by_range(&ask, &ranges, self.catalog))
    }

    /// Adds the columns that the read sorts by to its outputs: without them, rows that are equal in the order cannot be told
    /// from others. Returns whether any was added.
    fn answer_order(&self, ask: &mut Ask<'c>) -> bool {
        if is_one_row(ask) {
            return false;
        }
        let Ask {
            root,
            order,
            outputs,
            notes,
            ..
        } = ask;
        self.select_order(root, order, outputs, notes)
    }

    /// The same of an item type.
    pub(super) fn select_order(
        &self,
        root: &Table,
        order: &[(Path, bool)],
        outputs: &mut Vec<(Path, String)>,
        notes: &mut Vec<Note>,
    ) -> bool {
        let mut added: Vec<String> = Vec::new();
        for (path, _) in order {
            if outputs.iter().any(|(known, _)| known == path) {
                continue;
            }
            let is_taken = |name: &str| outputs.iter().any(|(_, known)| known == name);
            let name = if is_taken(&path.column) {
                free_name(&self.name_with_table(root, path), &is_taken)
            } else {
                path.column.clone()
            };
            added.push(name.clone());
            outputs.push((path.clone(), name));
        }
        note_names(notes, &added, |added| {
            format!("its SQL also selects what it sorts by: {added}")
        })
    }

    /// What DISTINCT leaves to the application.
    pub(super) fn distinct_note(&self) -> Option<String> {
        let note = match &self.select.distinct_on {
            Some(by) => format!(
                "of rows that are equal in what DISTINCT ON names ({by}) the application keeps the first"
            ),
            None => "the application drops rows that are equal in what DISTINCT selects".to_owned(),
        };
        self.select.distinct.then_some(note)
    }

    /// That GROUP BY or DISTINCT takes different texts for one, where a collation does.
    pub(super) fn loose_groups(&self) -> Option<String> {
        let select = self.select;
        let (grouped, on) = (&select.grouped_by, &select.distinct_on);
        let is_named = |name: &str| {
            let is_sign = |sign: char| !sign.is_alphanumeric() && sign != '_';
            let mut words = on.iter().flat_map(|on| on.split(is_sign));
            words.any(|word| word.eq_ignore_ascii_case(name))
        };
        let by: Vec<At> = match grouped {
            Some(by) if select.groups => by.iter().filter_map(|one| self.column(one)).collect(),
            _ if select.groups || select.distinct => {
                let outputs = self.outputs().unwrap_or_default().into_iter();
                let all = outputs.map(|(at, ..)| at);
                all.filter(|(_, name)| on.is_none() || is_named(name))
                    .collect()
            }
            _ => return None,
        };
        let is_loose = |(at, name): &&At| {
            let column = self.tables.get(*at).and_then(|table| table.column(name));
            column.is_some_and(|column| column.insensitive)
        };
        let mut names: Vec<&str> = by
            .iter()
            .filter(is_loose)
            .map(|(_, name)| &**name)
            .collect();
        names.sort_unstable();
        names.dedup();
        (!names.is_empty()).then(|| {
            format!(
                "the database takes texts of {} that differ in case, accents or blanks at the end for one where it groups, and the table has them apart: the application has to compare them as the database does",
                names.join(", ")
            )
        })
    }

    /// Leaves rows with NULL out of a read for the greatest or the least value: NULL is neither.
    fn leave_out_null(&self, ask: &mut Ask<'c>) {
        let Some((path, _)) = ask.order.first().filter(|_| self.extreme.is_some()) else {
            return;
        };
        if !path.may_be_null(ask.root, self.catalog) {
            return;
        }
        let filter = Filter::exists(path.clone());
        if path.steps.is_empty() {
            let own = identifier(&path.column, self.catalog.dbms);
            let table = identifier(&ask.root.name.name, self.catalog.dbms);
            let text = format!("{table}.{own} IS NOT NULL");
            ask.when.push(When {
                said: format!("{own} IS NOT NULL"),
                text,
                parents: Vec::new(),
                filter: Some(filter),
            });
        } else {
            ask.filters.push(filter);
        }
    }

    /// Sets the outputs of the read: the selected columns, and the key, by which the rows of the answer are told apart. Returns
    /// whether the outputs differ from what the query selects.
    fn set_outputs(
        &self,
        ways: &BTreeMap<usize, Vec<Step>>,
        ask: &mut Ask<'c>,
    ) -> Result<bool, Unserved> {
        let mut outputs = Vec::new();
        let (mut computes, mut is_renamed) = (false, false);
        for ((at, column), name, is_computed) in self.outputs()? {
            // By the table that it is selected from, though another column may be equal to it.
            let table = self.tables.get(at).unwrap_or(&ask.root);
            let with_table = format!("{}_{column}", table.name.name);
            let Some(path) = self.path(ways, at, column) else {
                continue;
            };
            computes |= is_computed;
            let is_taken = |name: &str| {
                let mut known = outputs.iter();
                known.any(|(other, known): &(Path, String)| known == name && *other != path)
            };
            let name = if is_taken(&name) {
                is_renamed = true;
                with_table
            } else {
                name
            };
            outputs.push((path, name));
        }
        if is_renamed {
            ask.note("columns of the same name get the names of their tables in front");
        }
        if computes && self.extreme.is_none() {
            ask.note("the answer has the columns of the computation, and the application computes");
        }
        let is_missing =
            |column: &&str| !outputs.iter().any(|(path, _)| *path == Path::own(column));
        let key = ask.root.row_key().iter().map(String::as_str);
        let missing: Vec<&str> = key.filter(is_missing).collect();
        for column in &missing {
            let is_taken = outputs.iter().any(|(_, known)| known == column);
            let path = Path::own(column);
            let name = if is_taken {
                self.name_with_table(ask.root, &path)
            } else {
                (*column).to_owned()
            };
            outputs.push((path, name));
        }
        note_names(&mut ask.notes, &missing, |key| {
            format!("its SQL also selects the key: {key}")
        });
        let all = outputs.len();
        ask.outputs = distinct(outputs, &mut ask.notes);
        let has_constants = self.constant_outputs().next().is_some();
        let is_changed = computes || is_renamed || has_constants || !missing.is_empty();
        Ok(is_changed || ask.outputs.len() < all)
    }

    /// Notes the texts that the table compares and sorts by their bytes, and the database by a collation. Returns whether
    /// there are any.
    fn note_bytes(&self, ways: &BTreeMap<usize, Vec<Step>>, ask: &mut Ask<'c>) -> bool {
        let compared = self.compares_loosely(ways);
        let has_compared = note_names(&mut ask.notes, &compared, |names| {
            format!(
                "{names} is compared by its bytes: write it in one form, such as lower case, where case, accents or blanks at the end must not count"
            )
        });
        let sorted: Vec<String> = ask
            .order
            .iter()
            .filter(|_| !is_one_row(ask))
            .filter_map(|(path, _)| {
                let column = path.column_of(ask.root, self.catalog)?;
                column.collation.as_ref().map(|_| column.name.clone())
            })
            .collect();
        let has_sorted = note_names(&mut ask.notes, &sorted, |names| {
            format!("{names} is sorted by its bytes, not by the collation of the database")
        });
        has_compared || has_sorted
    }

    /// Notes the parent's texts for which the table has those of the child, that a collation takes for equal. Returns whether there are
    /// any.
    fn note_spelling(&self, ways: &BTreeMap<usize, Vec<Step>>, ask: &mut Ask<'c>) -> bool {
        let outputs = self.outputs().unwrap_or_default().into_iter();
        let sorted = self.query.order.iter().flatten();
        let sorted = sorted.filter_map(|key| self.sort_column(key));
        let told = outputs.map(|(at, ..)| at).chain(sorted).map(|asked| {
            let held = self.answered_as(ways, &asked);
            (asked, held)
        });
        let compared = self.conditions.iter().filter_map(|one| one.columns());
        let compared = compared.flatten().filter_map(|column| self.column(column));
        let compared = compared.map(|asked| (asked.clone(), self.compared_as(ways, asked)));
        let mut names: Vec<String> = told
            .chain(compared)
            .filter(|((at, name), held)| {
                let column = self.tables.get(*at).and_then(|table| table.column(name));
                column.is_some_and(|column| column.insensitive) && held != &(*at, name.clone())
            })
            .map(|(asked, held)| {
                let [asked, held] = [asked, held].map(|(at, name)| self.column_of(at, &name));
                format!("`{held}` for `{asked}`")
            })
            .collect();
        names.sort();
        names.dedup();
        note_names(&mut ask.notes, &names, |names| {
            format!(
                "of columns that the join takes for equal by a collation, the table has one: {names}: it is answered, compared and sorted as that one spells it"
            )
        })
    }

    /// A column's name behind that of its table, for an output whose own name is taken.
    fn name_with_table(&self, root: &Table, path: &Path) -> String {
        let found = path.find(root, self.catalog);
        let table = found.map_or(root, |(table, _)| table);
        format!("{}_{}", table.name.name, path.column)
    }

    /// A column of a parent that is NULL only if the row has no such parent; `None` if every row has one.
    pub(super) fn required(
        &self,
        root: &Table,
        way: &[Step],
        outputs: &[(Path, String)],
    ) -> Option<Path> {
        let (step, before) = way.split_last()?;
        let may_lack = step.columns.iter().any(|column| {
            let (steps, column) = (before.to_vec(), column.clone());
            Path { steps, column }.may_be_null(root, self.catalog)
        });
        if !may_lack && self.is_enforced(root, step, before) {
            return None;
        }
        let parent = self.catalog.table(&step.table)?;
        // A column that is an output anyway; or else the parent's key, read from the parent and not from the child's reference.
        let mut of_parent = outputs.iter().filter(|(path, _)| path.steps == way);
        let sure = of_parent.find(|(path, _)| {
            let column = parent.column(&path.column);
            column.is_some_and(|column| !column.nullable && !column.data_type.may_be_absent())
        });
        Some(Path {
            steps: way.to_vec(),
            column: match sure {
                Some((path, _)) => path.column.clone(),
                None => step.referenced.first()?.clone(),
            },
        })
    }

    /// Whether a row's reference always leads to a parent.
    pub(super) fn is_enforced(&self, root: &Table, step: &Step, before: &[Step]) -> bool {
        let child = self.child(root, before);
        child.is_some_and(|child| step.is_enforced(child, self.catalog))
    }

    /// The foreign key that a step follows.
    pub(super) fn foreign_key<'t>(
        &self,
        root: &'t Table,
        step: &Step,
        before: &[Step],
    ) -> Option<&'t ForeignKey>
    where
        'c: 't,
    {
        step.foreign_key(self.child(root, before)?)
    }

    /// The table that a way leads to.
    fn child<'t>(&self, root: &'t Table, before: &[Step]) -> Option<&'t Table>
    where
        'c: 't,
    {
        match before.last() {
            Some(step) => self.catalog.table(&step.table),
            None => Some(root),
        }
    }
}

/// Whether a LIMIT may cut between rows that are equal under the order of a read.
pub(super) fn is_cut(ask: &Ask<'_>, catalog: &Catalog) -> bool {
    // To read SQL takes time, and most has no limit.
    let sql = ask.sql.to_ascii_uppercase();
    if !sql.contains("LIMIT") && !sql.contains("FETCH") {
        return false;
    }
    let Ok(query) = SqlQuery::read(&ask.sql, Some(catalog.dbms)) else {
        return false;
    };
    let is_cut = query.limit != RowLimit::None && query.order.is_some();
    is_cut && !query.order_decides(catalog)
}

/// Notes that rows may be equal under the order of a read with a LIMIT: the database may answer with one, the table with another.
pub(crate) fn note_ties(ask: &mut Ask<'_>, catalog: &Catalog) {
    if !is_cut(ask, catalog) {
        return;
    }
    let known = ask.order.iter().map(|(path, _)| path);
    let known: Vec<&Path> = known
        .chain(ask.equal.iter().map(|equal| &equal.path))
        .collect();
    let key = ask.root.row_key().iter();
    let missing = key.filter(|column| !known.contains(&&Path::own(column)));
    let missing = joined(missing.map(String::as_str), ", ");
    let mut note = "rows may be equal under its ORDER BY, and of these its LIMIT may take others than the table, which `verify --patterns` does not compare".to_owned();
    if !missing.is_empty() {
        note.push_str(&format!(": add the key to ORDER BY ({missing})"));
    }
    ask.note(note);
}

/// The variants of a read: each with one of its ranges in the key and the others as filters, and one with all as filters.
fn by_range<'c>(ask: &Ask<'c>, ranges: &[RangeAsk], catalog: &Catalog) -> Vec<Ask<'c>> {
    let places = (0..ranges.len()).map(Some).chain([None]);
    let each = places.filter_map(|place| {
        let mut found = ask.clone();
        for (at, range) in ranges.iter().enumerate() {
            if Some(at) == place {
                found.range = Some(range.clone());
                // What stands for NULL in the key is among the texts.
                if range.path.is_loose(ask.root, catalog)
                    && range.path.may_be_null(ask.root, catalog)
                {
                    found.filters.push(Filter::exists(range.path.clone()));
                }
            } else {
                found.filters.push(super::filter::of_range(range)?);
            }
        }
        found.filters.sort();
        Some(found)
    });
    each.collect()
}
