//! A read whose rows are those of one item type.

use std::collections::BTreeSet;

use dynafold_format::{free_name, joined};
use dynafold_relational::catalog::{Catalog, Column, ForeignKey, Table, TypeFamily};
use dynafold_sql::{
    ColumnRef, Condition, ConditionTest, Operand, OperandValue, RowLimit, SqlQuery, Wrapping,
    identifier, is_aggregate,
};

use super::sql::{ignores_blanks, is_loose};
use super::{
    Ask, At, COMPUTED, Filter, Note, RangeAsk, Reading, Referred, Unserved, Ways, When, distinct,
    functions, is_one_row, note_names, selected_values,
};
use crate::path::{Path, Step};

/// Why a column that is compared in lower case is not sorted as it is.
const IN_LOWER: &str = "the key has it in lower case";

impl<'c> Reading<'c, '_> {
    /// Reads of a query that joins `root` only with its parents: one for each range that the sort key could serve, and one with all
    /// ranges as filters.
    pub(super) fn reads_of_rows(&self, root: usize, ways: &Ways) -> Result<Vec<Ask<'c>>, Unserved> {
        if self.leaves_conditions && self.left_of_parents.is_empty() {
            return self.leaving_conditions(root, ways);
        }
        let mut ask = self.bare(root)?;
        let ranges = self.conditions(root, ways, &mut ask)?;
        let changes = [
            self.set_outputs(ways, &mut ask)?,
            self.set_order(ways, &mut ask)?,
            self.leave_conditions_out(ways, &mut ask),
            self.note_differences(root, ways, &mut ask),
            self.is_rewritten(ways, &ask),
        ];
        self.leave_out_null(&mut ask);
        self.require_parents(ways, &mut ask);
        ask.is_twice = self.twice().is_some();
        if changes.contains(&true) {
            let is_sorted = !ask.computes && !ask.sorts;
            ask.sql = self.written(root, ways, &[], &ask.outputs, is_sorted)?;
        }
        if !ask.order.is_empty() {
            let unsorted = self.written(root, ways, &[], &ask.outputs, false);
            ask.unsorted = unsorted.ok();
        }
        // The notes on second requests are for this read.
        if ask.referred.is_empty() {
            ask.by_row = self.by_row(root, ways, &ask).map(Box::new);
        }
        Ok(range_variants(&ask, &ranges, self.catalog))
    }

    /// The same reads without the conditions on parents that second requests read: the application holds them against the answers.
    fn leaving_conditions(&self, root: usize, ways: &Ways) -> Result<Vec<Ask<'c>>, Unserved> {
        let is_of_parent = |column: &&ColumnRef| {
            let at = self.column(column).map(|(at, _)| at);
            let parent = at.filter(|at| *at != root && ways.contains_key(at));
            let parent = parent.and_then(|at| self.tables.get(at));
            parent.is_some_and(|parent| self.referred.contains(&parent.name))
        };
        let is_left = |condition: &&&Condition| {
            let columns = condition.columns().unwrap_or_default();
            let is_key = condition.equal().is_some() && condition.has_parameters();
            !columns.is_empty()
                && !is_key
                && columns.iter().all(is_of_parent)
                && is_plain(&condition.test)
                && self.paths(ways, condition).is_some_and(|paths| {
                    let mut paths = paths.iter();
                    paths.all(|path| !path.steps.is_empty())
                })
        };
        let (left_of_parents, conditions): (Vec<&Condition>, Vec<&Condition>) =
            self.conditions.iter().partition(is_left);
        let is_paged = self.query.limit != RowLimit::None || self.query.offset != RowLimit::None;
        if left_of_parents.is_empty() || is_paged {
            return Ok(Vec::new());
        }
        let paths = left_of_parents.iter().map(|one| self.paths(ways, one));
        let paths: Vec<Path> = paths.flatten().flatten().collect();
        let alone = Self {
            conditions,
            left_of_parents,
            ..self.clone()
        };
        let mut found = alone.reads_of_rows(root, ways)?;
        found.retain(|ask| {
            let is_read = |path: &Path| ask.referred.iter().any(|one| one.reads(path));
            paths.iter().all(is_read)
        });
        for ask in &mut found {
            ask.clauses = self.clauses(root);
            let said = alone.left_of_parents.iter().map(|one| &*one.text);
            let as_database = self.as_database(ask.root, &paths);
            ask.note(format!(
                "after the second request, the application drops the rows that do not meet `{}`{as_database}",
                joined(said, " AND ")
            ));
        }
        Ok(found)
    }

    /// The same read by its row's key alone; `None` where it asks for nothing else, or for what the application cannot tell from
    /// the answer.
    fn by_row(&self, root: usize, ways: &Ways, ask: &Ask<'c>) -> Option<Ask<'c>> {
        let is_row = is_one_row(ask) && !ask.computes && self.extreme.is_none();
        let is_key = |condition: &&&Condition| {
            let asked = condition.fixed().and_then(|column| self.column(column));
            let path = asked.and_then(|asked| self.compared_path(ways, asked));
            path.is_some_and(|path| {
                path.steps.is_empty() && ask.root.row_key().contains(&path.column)
            })
        };
        let (key, left_out): (Vec<&Condition>, Vec<&Condition>) =
            self.conditions.iter().partition(is_key);
        if !is_row || left_out.is_empty() || !self.prepared.lists.is_empty() {
            return None;
        }
        let mut told = left_out.iter().map(|one| self.paths(ways, one));
        let is_told = told.all(|paths| paths.is_some());
        let alone = Self {
            conditions: key,
            left_out,
            ..self.clone()
        };
        let mut found = alone.reads_of_rows(root, ways).ok()?.pop()?;
        found.clauses = ask.clauses.clone();
        let is_alone = found.equal.len() == ask.root.row_key().len() && found.when.is_empty();
        (is_alone && is_told).then_some(found)
    }

    /// Notes the conditions that the application holds against the answer, and adds their columns to the outputs. Returns whether
    /// there are any.
    fn leave_conditions_out(&self, ways: &Ways, ask: &mut Ask<'c>) -> bool {
        let said = self.left_out.iter().map(|condition| &*condition.text);
        let said = joined(said, " AND ");
        let paths = self.left_out.iter().filter_map(|one| self.paths(ways, one));
        let paths: BTreeSet<Path> = paths.flatten().collect();
        let what = "what the application compares";
        self.select_more(ask.root, &paths, what, (&mut ask.outputs, &mut ask.notes));
        if !said.is_empty() {
            let as_database = self.as_database(ask.root, &paths);
            ask.note(format!(
                "the request finds the row by its key alone: the application drops the row unless `{said}`{as_database}"
            ));
        }
        !said.is_empty()
    }

    /// How the application compares columns, behind what it is told to compare.
    fn as_database<'p>(
        &self,
        root: &Table,
        paths: impl IntoIterator<Item = &'p Path>,
    ) -> &'static str {
        let columns = paths.into_iter();
        let mut columns = columns.filter_map(|path| path.column_of(root, self.catalog));
        let is_special =
            |column: &Column| is_loose(column, self.catalog.dbms) || column.collation.is_some();
        if columns.any(is_special) {
            ", with texts compared as the database compares them"
        } else {
            ""
        }
    }

    /// The columns of a condition that the application can hold against a row of the answer; `None` where it cannot.
    fn paths(&self, ways: &Ways, condition: &Condition) -> Option<Vec<Path>> {
        let has_query = matches!(&condition.test, ConditionTest::Other(one) if one.has_query);
        let columns = condition.columns()?.into_iter();
        let paths = columns.map(|column| {
            let (at, column) = self.column(column)?;
            self.path(ways, at, column)
        });
        let is_plain = !has_query && !condition.compares_query();
        paths.collect::<Option<_>>().filter(|_| is_plain)
    }

    /// Sets the order, or that the application computes figures, which have none. Returns whether columns were added to the
    /// outputs.
    fn set_order(&self, ways: &Ways, ask: &mut Ask<'c>) -> Result<bool, Unserved> {
        if let Some(figures) = self.figures() {
            ask.limit = None;
            ask.computes = true;
            ask.note(format!(
                "it {figures}: the application computes this from the items that it reads"
            ));
            let names = self.figure_columns(|table, column, is_sorted| {
                // Such values are equal where their texts are.
                let of_text = [TypeFamily::Text, TypeFamily::Time, TypeFamily::Binary];
                let is_sorted_otherwise = is_sorted
                    && of_text.contains(&column.data_type.family())
                    && self.unsortable(table, &Path::own(&column.name)).is_some();
                column.insensitive || column.collation.is_some() || is_sorted_otherwise
            });
            note_names(&mut ask.notes, &names, |name| {
                format!(
                    "the database may not compare values of {name} byte by byte: the application must compare them as the database does"
                )
            });
            let names =
                self.figure_columns(|table, column, _| self.observed.is_mixed(table, &column.name));
            note_names(&mut ask.notes, &names, |name| {
                format!(
                    "some values of {name} are not of its type: the application must compute as SQLite does, whose sum() and avg() take a text for the number that it begins with, or for 0"
                )
            });
        } else {
            ask.order = self.order(ways)?;
            if ask.requests > 1 && ask.limit.is_some() {
                let merge = "each request returns its own page: the application merges the pages";
                ask.notes.push(Note::Merge(merge));
            } else if ask.requests > 1 && !ask.order.is_empty() {
                let merge = "each request sorts its own rows: the application merges them";
                ask.notes.push(Note::Merge(merge));
            }
            self.leave_order_of_parents(ask);
        }
        let mut order = ask.order.iter().filter(|_| !is_one_row(ask));
        let unsortable = order.find_map(|(path, _)| self.unsortable(ask.root, path));
        if let Some(column) = &unsortable {
            ask.note(format!(
                "its SQL sorts by {column}: the application must sort as the database does"
            ));
        }
        let otherwise = self.sorted_otherwise().filter(|_| !is_one_row(ask));
        if let Some(column) = &otherwise {
            ask.note(format!(
                "its SQL sorts {column}: the application must sort in that order"
            ));
        }
        ask.unsortable = unsortable.or(otherwise).or_else(|| {
            let column = self.sorted_in_case().filter(|_| !is_one_row(ask))?;
            Some(format!(
                "{column} in a case-sensitive order, but {IN_LOWER}"
            ))
        });
        Ok(self.answer_order(ask))
    }

    /// Has the application sort where a second request reads what the read sorts by. The answers have all columns of the order.
    fn leave_order_of_parents(&self, ask: &mut Ask<'c>) {
        let is_read = |ask: &Ask<'_>, path: &Path| ask.referred.iter().any(|one| one.reads(path));
        if !ask.order.iter().any(|(path, _)| is_read(ask, path)) {
            return;
        }
        if is_one_row(ask) {
            ask.order.clear();
            return;
        }
        let (further, of_parents): (Vec<_>, Vec<_>) =
            (ask.order.clone().into_iter()).partition(|(path, _)| {
                let mut parents = ask.referred.iter();
                !parents.any(|parent| parent.leads_to(path)) || !self.refers_to(ask, path)
            });
        for (path, _) in of_parents {
            if !is_read(ask, &path) {
                let name = self.name_with_table(ask.root, &path);
                let name = free_name(&name, &|name| is_named(ask, name));
                refer(path, name, &mut ask.referred);
            }
        }
        for (path, _) in &further {
            let is_known = ask.outputs.iter().any(|(known, _)| known == path);
            if !is_known && is_named(ask, &path.column) {
                let name = self.name_with_table(ask.root, path);
                let name = free_name(&name, &|name| is_named(ask, name));
                ask.outputs.push((path.clone(), name));
            }
        }
        ask.order = further;
        self.answer_order(ask);
        ask.leave_order();
    }

    /// Notes how the answer differs from the database's. Returns whether texts are compared or sorted differently.
    fn note_differences(&self, root: usize, ways: &Ways, ask: &mut Ask<'c>) -> bool {
        let tie_breakers = self.rest_of_key(root).into_iter();
        let tie_breakers = tie_breakers.filter(|_| self.is_by_key);
        let tie_breakers: Vec<String> = tie_breakers.map(|(column, _)| column).collect();
        note_names(&mut ask.notes, &tie_breakers, |key| {
            format!(
                "its SQL also sorts by the key, so that LIMIT always returns the same rows: {key}"
            )
        });
        if let Some(mut note) = self.distinct_note() {
            if ask.limit.is_some() {
                note.push_str(", until it has enough rows");
            }
            ask.note(note);
        }
        ask.notes.extend(self.loose_groups().map(Note::Text));
        if self.select.is_collated {
            ask.note("its SQL compares texts under COLLATE: the application must compare them as the database does");
        }
        let respelled = self.respelled_columns(ways);
        let compared = self.compares_loosely(ways);
        let sorted = self.collated_order(ask);
        let notes = &mut ask.notes;
        let noted = [
            note_names(notes, &respelled, |names| {
                format!(
                    "the join compares columns by a collation, so their texts may differ, for example in case. The item stores only one of them ({names}): results, comparisons and order use that text"
                )
            }),
            note_names(notes, &compared, |names| {
                format!(
                    "DynamoDB compares {names} byte by byte: if case, accents or trailing blanks must not matter, store it in one form, such as lower case"
                )
            }),
            note_names(notes, &sorted, |names| {
                format!("DynamoDB sorts {names} by bytes, not by the database's collation")
            }),
        ];
        noted.contains(&true)
    }

    /// Whether the read asks in other words than the query, whatever its outputs are.
    fn is_rewritten(&self, ways: &Ways, ask: &Ask<'c>) -> bool {
        let sorted = self.query.order.iter().flatten();
        let mut sorted = sorted.filter_map(|key| self.sort_column(key));
        let mut conditions = self.conditions.iter();
        // A LIMIT that is no number makes a page.
        ask.is_page
            || ask.computes
            || self.query.offset != RowLimit::None
            || self.extreme.is_some()
            || self.is_shortened
            || self.select.distinct
            || sorted.any(|at| self.answered_as(ways, &at) != at)
            || conditions.any(|condition| matches!(condition.test, ConditionTest::Like { .. }))
    }

    /// Leaves out rows without a parent, as an inner join does. A column of the parent that is equal to something already excludes them.
    fn require_parents(&self, ways: &Ways, ask: &mut Ask<'c>) {
        for (at, way) in ways {
            let mut equal = ask.equal.iter();
            let is_there = equal.any(|equal| equal.path.steps.starts_with(way));
            if !is_there && !self.may_be_missing(*at) {
                let required = self.required_parent_column(ask.root, way, &ask.outputs);
                ask.required.extend(required);
            }
        }
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

    /// Adds sort columns to the outputs of one item type.
    pub(super) fn select_order(
        &self,
        root: &Table,
        order: &[(Path, bool)],
        outputs: &mut Vec<(Path, String)>,
        notes: &mut Vec<Note>,
    ) -> bool {
        let paths = order.iter().map(|(path, _)| path);
        self.select_more(root, paths, "what it sorts by", (outputs, notes))
    }

    /// Adds columns to the outputs of one item type. Returns whether any was added.
    fn select_more<'p>(
        &self,
        root: &Table,
        paths: impl IntoIterator<Item = &'p Path>,
        what: &str,
        (outputs, notes): (&mut Vec<(Path, String)>, &mut Vec<Note>),
    ) -> bool {
        let mut added: Vec<String> = Vec::new();
        for path in paths {
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
            format!("its SQL also selects {what}: {added}")
        })
    }

    /// What DISTINCT leaves to the application.
    pub(super) fn distinct_note(&self) -> Option<String> {
        let note = match &self.select.distinct_on {
            Some(by) => {
                format!("the application must do DISTINCT ON ({by}): keep the first row for each value")
            }
            None => "the application must do DISTINCT: remove rows that are equal in the columns of the SELECT"
                .to_owned(),
        };
        self.select.distinct.then_some(note)
    }

    /// A note that GROUP BY or DISTINCT merges texts that a collation considers equal.
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
        let names = by.iter().filter(is_loose).map(|(_, name)| name.as_str());
        let names: BTreeSet<&str> = names.collect();
        (!names.is_empty()).then(|| {
            format!(
                "in GROUP BY and DISTINCT, the database treats texts of {} that differ in case, accents or trailing blanks as equal. DynamoDB does not: the application must compare them as the database does",
                joined(names, ", ")
            )
        })
    }

    /// Such columns of figures that depend on the values, as `max` and `count(DISTINCT …)` do. `is_such` also gets whether
    /// more of the values counts than which are equal.
    fn figure_columns(&self, is_such: impl Fn(&Table, &Column, bool) -> bool) -> Vec<String> {
        let compared = selected_values(self.select).filter(|value| match value.around.as_slice() {
            [] => matches!(value.value, OperandValue::Expression(_)),
            [Wrapping::Function(name)] => name != "count",
            _ => true,
        });
        let columns = compared.flat_map(|value| {
            let mut names = functions(value).into_iter();
            let is_sorted = names.any(|name| name != "count" && is_aggregate(&name));
            let columns = value.columns().iter();
            columns.map(move |column| (column, is_sorted))
        });
        let columns = columns.filter_map(|(column, is_sorted)| {
            let (at, name) = self.column(column)?;
            let table = self.tables.get(at)?;
            is_such(table, table.column(&name)?, is_sorted).then_some(name)
        });
        let names: BTreeSet<String> = columns.collect();
        names.into_iter().collect()
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
    fn set_outputs(&self, ways: &Ways, ask: &mut Ask<'c>) -> Result<bool, Unserved> {
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
            if self.refers_to(ask, &path) {
                refer(path, name, &mut ask.referred);
                continue;
            }
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
        let left = self.left_of_parents.iter();
        let left = left.filter_map(|condition| self.paths(ways, condition));
        for path in left.flatten() {
            let is_read = ask.referred.iter().any(|parent| parent.reads(&path));
            if !is_read && self.refers_to(ask, &path) {
                let is_taken = |name: &str| {
                    outputs.iter().any(|(_, known)| known == name) || is_named(ask, name)
                };
                let name = free_name(&path.column, &is_taken);
                refer(path, name, &mut ask.referred);
            }
        }
        if is_renamed {
            ask.note("columns whose name is already taken are prefixed with their table's name");
        }
        if computes && self.extreme.is_none() {
            ask.note(COMPUTED);
        }
        let is_missing = |path: &Path| !outputs.iter().any(|(known, _)| known == path);
        let is_missing_column = |column: &&str| is_missing(&Path::own(column));
        let key = ask.root.row_key().iter().map(String::as_str);
        let missing: Vec<&str> = key.filter(is_missing_column).collect();
        let references = ask.referred.iter().flat_map(Referred::references);
        let references: BTreeSet<Path> = references.filter(is_missing).collect();
        let own = missing.iter().map(|column| Path::own(column));
        let own: Vec<Path> = own.collect();
        let references = references.into_iter().filter(|path| !own.contains(path));
        for path in own.iter().cloned().chain(references) {
            let mut names = outputs.iter().map(|(_, name)| name);
            let is_taken = names.any(|name| *name == path.column) || is_named(ask, &path.column);
            let name = if is_taken {
                self.name_with_table(ask.root, &path)
            } else {
                path.column.clone()
            };
            outputs.push((path, name));
        }
        note_names(&mut ask.notes, &missing, |key| {
            format!("its SQL also selects the key: {key}")
        });
        let all = outputs.len();
        ask.outputs = distinct(outputs, &mut ask.notes);
        let has_constants = self.constant_outputs().next().is_some();
        let refers = !ask.referred.is_empty();
        let is_changed = computes || is_renamed || has_constants || !missing.is_empty() || refers;
        Ok(is_changed || ask.outputs.len() < all)
    }

    /// Whether a second request reads a column of a parent: the reference is the parent's key and no more, letter for letter, and no
    /// condition has the column. The application may sort by it.
    fn refers_to(&self, ask: &Ask<'c>, path: &Path) -> bool {
        let Some((step, before)) = path.steps.split_last() else {
            return false;
        };
        let place = (step.table.clone(), path.column.clone());
        let child = self.table_at(ask.root, before);
        let parent = self.catalog.table(&step.table);
        let parent = parent.filter(|parent| self.referred.contains(&parent.name));
        let is_exact = |table: &Table, column: &String| {
            let column = table.column(column);
            column.is_some_and(|one| !one.insensitive && !ignores_blanks(one, self.catalog.dbms))
        };
        let is_plain = !self.select.distinct && self.figures().is_none() && self.twice().is_none();
        is_plain
            && self.extreme.is_none()
            && !ask.clauses.compared.contains(&place)
            && child.is_some_and(|child| step.columns.iter().all(|column| is_exact(child, column)))
            && parent.is_some_and(|parent| {
                let mut key = step.referenced.iter();
                step.referenced.len() == parent.row_key().len()
                    && key.all(|one| parent.row_key().contains(one) && is_exact(parent, one))
            })
    }

    /// Columns of the order that the database sorts by a collation, DynamoDB by bytes.
    fn collated_order(&self, ask: &Ask<'c>) -> Vec<String> {
        // What does not sort like its text is sorted by the application.
        let is_sorted = |path: &Path| self.unsortable(ask.root, path).is_none();
        // Of equal greatest values the key takes one, whatever its order.
        let asked = self.extreme.as_ref().map_or(usize::MAX, |_| 1);
        let order = ask.order.iter().take(asked).filter(|_| !is_one_row(ask));
        let order = order.filter(|(path, _)| is_sorted(path));
        let columns = order.filter_map(|(path, _)| path.column_of(ask.root, self.catalog));
        let collated = columns.filter(|column| column.collation.is_some());
        collated.map(|column| column.name.clone()).collect()
    }

    /// Columns whose text the table stores in another column's spelling, because a collation considers the two equal.
    fn respelled_columns(&self, ways: &Ways) -> Vec<String> {
        let outputs = self.outputs().unwrap_or_default().into_iter();
        let sorted = self.query.order.iter().flatten();
        let sorted = sorted.filter_map(|key| self.sort_column(key));
        let answered = outputs.map(|(at, ..)| at).chain(sorted).map(|queried| {
            let stored = self.answered_as(ways, &queried);
            (queried, stored)
        });
        let conditions = self.conditions.iter().filter_map(|one| one.columns());
        let columns = conditions.flatten().filter_map(|one| self.column(one));
        let compared = columns.map(|queried| (queried.clone(), self.compared_as(ways, queried)));
        let respelled = answered.chain(compared).filter(|(queried, stored)| {
            let (at, name) = queried;
            let column = self.tables.get(*at).and_then(|table| table.column(name));
            column.is_some_and(|column| column.insensitive) && stored != queried
        });
        let written = |(at, name): At| self.column_of(at, &name);
        let names = respelled
            .map(|(queried, stored)| format!("`{}` for `{}`", written(stored), written(queried)));
        let names: BTreeSet<String> = names.collect();
        names.into_iter().collect()
    }

    /// A column's name behind that of its table, for an output whose own name is taken.
    fn name_with_table(&self, root: &Table, path: &Path) -> String {
        let found = path.find(root, self.catalog);
        let table = found.map_or(root, |(table, _)| table);
        format!("{}_{}", table.name.name, path.column)
    }

    /// A column of a parent that is NULL only if the row has no such parent; `None` if every row has one.
    pub(super) fn required_parent_column(
        &self,
        root: &Table,
        way: &[Step],
        outputs: &[(Path, String)],
    ) -> Option<Path> {
        let (step, before) = way.split_last()?;
        let mut columns = step.columns.iter().map(|column| Path::of(before, column));
        let may_lack = columns.any(|path| path.may_be_null(root, self.catalog));
        if !may_lack && self.is_enforced(root, step, before) {
            return None;
        }
        let parent = self.catalog.table(&step.table)?;
        // A column that is an output anyway; or else the parent's key, read from the parent and not from the child's reference.
        let mut of_parent = outputs.iter().filter(|(path, _)| path.steps == way);
        let sure = of_parent.find(|(path, _)| {
            let column = parent.column(&path.column);
            column.is_some_and(Column::is_never_absent)
        });
        let column = match sure {
            Some((path, _)) => &path.column,
            None => step.referenced.first()?,
        };
        Some(Path::of(way, column))
    }

    /// Whether a row's reference always leads to a parent.
    pub(super) fn is_enforced(&self, root: &Table, step: &Step, before: &[Step]) -> bool {
        let child = self.table_at(root, before);
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
        step.foreign_key(self.table_at(root, before)?)
    }

    /// The table that a way leads to.
    fn table_at<'t>(&self, root: &'t Table, before: &[Step]) -> Option<&'t Table>
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
pub(crate) fn limit_is_ambiguous(ask: &Ask<'_>, catalog: &Catalog) -> bool {
    // Parsing is slow, and most SQL has no LIMIT.
    let sql = ask.sql.to_ascii_uppercase();
    if !sql.contains("LIMIT") && !sql.contains("FETCH") {
        return false;
    }
    let Ok(query) = SqlQuery::read(&ask.sql, Some(catalog.dbms)) else {
        return false;
    };
    query.limit != RowLimit::None && query.order.is_some() && !query.order_decides(catalog)
}

/// Notes that a LIMIT may cut between rows that are equal in the read's order, so that database and table may return different rows.
pub(crate) fn note_ties(ask: &mut Ask<'_>, catalog: &Catalog) {
    if !limit_is_ambiguous(ask, catalog) {
        return;
    }
    let known = ask.order.iter().map(|(path, _)| path);
    let known: Vec<&Path> = known
        .chain(ask.equal.iter().map(|equal| &equal.path))
        .collect();
    let key = ask.root.row_key().iter();
    let missing = key.filter(|column| !known.contains(&&Path::own(column)));
    let missing = joined(missing.map(String::as_str), ", ");
    let mut note = "rows may tie in the ORDER BY: with the LIMIT, the database and the table may return different rows, and `verify --patterns` then says `not proved`".to_owned();
    if !missing.is_empty() {
        note.push_str(&format!(
            "; to prevent that, add the key to ORDER BY ({missing})"
        ));
    }
    ask.note(note);
}

/// Whether a condition compares a column as it is with values: any application can do that.
fn is_plain(test: &ConditionTest) -> bool {
    let is_value = |operand: &Operand| operand.columns().is_empty() && !operand.is_computed();
    match test {
        ConditionTest::Compare { left, right, .. } => left.column().is_some() && is_value(right),
        ConditionTest::Between {
            operand, low, high, ..
        } => operand.column().is_some() && is_value(low) && is_value(high),
        ConditionTest::In { operand, list, .. } => {
            operand.column().is_some() && list.iter().all(is_value)
        }
        ConditionTest::Null { operand, .. } => operand.column().is_some(),
        _ => false,
    }
}

/// Whether the answer of one of its requests has a column of this name.
fn is_named(ask: &Ask<'_>, name: &str) -> bool {
    let second = ask.referred.iter().flat_map(|parent| &parent.columns);
    let second = second.map(|(_, known)| known);
    let mut names = ask.outputs.iter().map(|(_, known)| known).chain(second);
    names.any(|known| known == name)
}

/// Adds a column of a parent to what a second request reads.
fn refer(path: Path, name: String, referred: &mut Vec<Referred>) {
    let Path {
        steps: mut before,
        column,
    } = path;
    let Some(step) = before.pop() else { return };
    let mut known = referred.iter_mut();
    match known.find(|parent| parent.step == step && parent.before == before) {
        Some(known) if known.has(&column) => {}
        Some(known) => known.columns.push((column, name)),
        None => referred.push(Referred {
            before,
            step,
            columns: vec![(column, name)],
        }),
    }
}

/// The variants of a read: each with one of its ranges in the key and the others as filters, and one with all as filters.
fn range_variants<'c>(ask: &Ask<'c>, ranges: &[RangeAsk], catalog: &Catalog) -> Vec<Ask<'c>> {
    let places = (0..ranges.len()).map(Some).chain([None]);
    let each = places.filter_map(|place| {
        let mut variant = ask.clone();
        for (at, range) in ranges.iter().enumerate() {
            if Some(at) == place {
                variant.range = Some(range.clone());
                // The placeholder for NULL in the key sorts among the texts.
                if range.path.is_loose(ask.root, catalog)
                    && range.path.may_be_null(ask.root, catalog)
                {
                    variant.filters.push(Filter::exists(range.path.clone()));
                }
            } else {
                variant.filters.push(super::filter::of_range(range)?);
            }
        }
        variant.filters.sort();
        Some(variant)
    });
    each.collect()
}
