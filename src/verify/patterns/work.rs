//! One access pattern at work: its calls drawn, both sides asked, and what came of it.

use std::collections::{BTreeMap, HashSet};

use super::compare::{Judge, Order};
use super::draw::{Call, DrawError, Drawn, Why, draw};
use super::kinds::kinds;
use super::made::holds;
use super::origin::origins;
use super::projection::Projection;
use super::prove::Proving;
use super::report::{ComparedType, DifferentCall, PatternReport, PatternState};
use super::stop::{Stop, refused};
use crate::access::plan;
use crate::catalog::{Column, Dbms};
use crate::item::Folder;
use crate::load::{Failure, Owners};
use crate::mapping::model::{AccessPattern, ItemType};
use crate::mapping::sql::{Limit, OrderKey, ends_in_comment, fill, limit, order, refusal};
use crate::source::Source;
use crate::target::{Target, answer};

/// The proof of one pattern.
pub(super) struct Work<'w, 'a> {
    pub(super) proving: &'w Proving<'a>,
    pub(super) pattern: &'w AccessPattern,
    pub(super) report: PatternReport,
}

impl Work<'_, '_> {
    /// Proves it. `told`: how many calls it takes.
    pub(super) async fn prove(
        &mut self,
        source: &mut dyn Source,
        target: &dyn Target,
        told: &(dyn Fn(usize) + Send + Sync),
    ) -> Result<(), Stop> {
        let (ground, pattern, dbms) = (self.proving.ground, self.pattern, source.dbms());
        let Some(sql) = pattern.sql.as_deref() else {
            self.report.state = PatternState::WithoutSql;
            return Ok(());
        };
        if let Some(why) = refusal(sql, dbms) {
            return Err(Stop::Unproved(why));
        }
        let drawn = match draw(source, &ground, pattern, self.proving.values).await {
            Ok(drawn) => drawn,
            Err(DrawError::Source(error)) => {
                return Err(refused("the source refuses to draw values", &error));
            }
            Err(other) => return Err(Stop::Unproved(other.to_string())),
        };
        let Drawn {
            calls,
            is_partial,
            notes,
        } = drawn;
        self.report.notes.extend(notes);
        told(calls.len());
        let Some(first) = calls.first() else {
            return Err(Stop::Unproved("no call of it could be drawn".to_owned()));
        };
        if ends_in_comment(sql, dbms) {
            let note = "a comment ends its `sql`, which is one line: what YAML has folded into that line behind it is not asked";
            self.report.notes.push(note.to_owned());
        }
        let described = source.describe_answer(&first.sql(sql, dbms)).await;
        let columns = described.map_err(|error| refused("the source refuses its `sql`", &error))?;
        self.told_of_names(&columns);
        let projections = self.projections(&columns)?;
        let owners = self.owners(&projections)?;
        let folder = Folder::new(ground.model, ground.context.clone());
        let judge = Judge {
            projections: &projections,
            owners: owners.as_ref(),
            folder: &folder,
            table: &ground.model.table,
            order: ordered(sql, dbms, &columns),
        };
        self.report.in_order = judge.order.is_some();
        self.limits(sql, dbms);
        self.told_of(&projections, &columns);
        let mut left_out = 0;
        let mut why: BTreeMap<Why, usize> = BTreeMap::new();
        for call in &calls {
            *why.entry(call.why).or_default() += 1;
            left_out += self
                .call(call, sql, &columns, &judge, source, target)
                .await?;
        }
        self.report.all_values = !is_partial
            && why
                .keys()
                .all(|why| matches!(why, Why::All | Why::Absent | Why::Beyond));
        self.report.drawn = why;
        if left_out > 0 {
            self.report.notes.push(format!(
                "{left_out} rows of its `sql` hold no source key of an item type and were left out"
            ));
        }
        if self.report.differences > 0 {
            if judge.order.as_ref().is_some_and(|order| !order.is_known) {
                let note = "its ORDER BY is not made of columns of the result alone: rows that are equal under it are not told, and have to stand as they do in the SQL's answer";
                self.report.notes.push(note.to_owned());
            }
            self.report.state = PatternState::Different;
            return Ok(());
        }
        if self.report.rows == left_out && self.report.items == 0 {
            let why = "no call found anything on either side: nothing was compared";
            return Err(Stop::Unproved(why.to_owned()));
        }
        self.report.state = PatternState::Proved;
        Ok(())
    }

    /// Finds out, without reading rows, whether the pattern could be proved.
    pub(super) async fn foresee(&self, source: &mut dyn Source) -> Result<(), Stop> {
        let (ground, pattern, dbms) = (self.proving.ground, self.pattern, source.dbms());
        let Some(sql) = pattern.sql.as_deref() else {
            return Ok(());
        };
        if let Some(why) = refusal(sql, dbms) {
            return Err(Stop::Unproved(why));
        }
        if let Err(name) = origins(&ground, pattern) {
            return Err(Stop::Unproved(DrawError::Unknown(name).to_string()));
        }
        let nothing = fill(sql, dbms, &|_| Some("NULL".to_owned()));
        let columns = source.describe_answer(&nothing).await;
        let columns = columns.map_err(|error| refused("the source refuses its `sql`", &error))?;
        self.owners(&self.projections(&columns)?).map(drop)
    }

    /// The item types that come back, each held against the columns of the SQL.
    fn projections(&self, columns: &[Column]) -> Result<Vec<Projection>, Stop> {
        let (ground, pattern) = (&self.proving.ground, self.pattern);
        let given = |name: &str| {
            let fits = |column: &&Column| column.name.eq_ignore_ascii_case(name);
            columns.iter().filter(fits).count()
        };
        for (attribute, column) in &pattern.answer {
            if given(column) == 0 {
                return Err(Stop::Unproved(format!(
                    "its `answer` says that `{attribute}` is `{column}`, and its `sql` has no such column"
                )));
            }
        }
        let found = self.proving.finds.get(&*pattern.name);
        let is_found = |item: &ItemType| {
            if pattern.items.is_empty() {
                found.is_none_or(|found| found.iter().any(|name| **name == *item.name))
            } else {
                pattern.items.contains(&item.name)
            }
        };
        let types = ground.model.item_types.iter().enumerate();
        let types = types.filter(|(_, item)| is_found(item));
        let projections = types.map(|(at, _)| Projection::new(ground, pattern, at, columns));
        let projections: Result<Vec<Projection>, String> = projections.collect();
        let projections = projections.map_err(Stop::Unproved)?;
        if projections.is_empty() {
            return Err(Stop::Unproved("it finds no item type".to_owned()));
        }
        Ok(projections)
    }

    /// What tells the item types apart; `None` where there is one, or their keys tell.
    fn owners(&self, projections: &[Projection]) -> Result<Option<Owners>, Stop> {
        let model = self.proving.ground.model;
        if projections.len() < 2 {
            return Ok(None);
        }
        let types = projections
            .iter()
            .filter_map(|one| model.item_types.get(one.item_type));
        let held = |name: &str| holds(model, self.pattern, name);
        match Owners::among(types, &model.table, &held) {
            Ok(owners) => Ok(Some(owners)),
            // Whole keys tell too: an item is of the type whose key it has.
            Err(_) if projections.iter().all(|one| one.by_key) => Ok(None),
            Err(error) => Err(Stop::Unproved(format!(
                "{error}, and its `sql` does not give their whole keys"
            ))),
        }
    }

    fn told_of(&mut self, projections: &[Projection], columns: &[Column]) {
        let used: HashSet<usize> = projections
            .iter()
            .flat_map(|one| one.used.iter().copied())
            .collect();
        let unused = columns
            .iter()
            .enumerate()
            .filter(|(at, _)| !used.contains(at));
        self.report.unused_columns = unused.map(|(_, column)| column.name.clone()).collect();
        let types = projections.iter().map(|one| ComparedType {
            item_type: one.name.to_string(),
            compared: one.attributes(),
            not_compared: one.not_compared.clone(),
        });
        self.report.item_types = types.collect();
    }

    /// Tells of names that several columns have.
    fn told_of_names(&mut self, columns: &[Column]) {
        let mut twice: Vec<&str> = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            let earlier = columns
                .iter()
                .take(at)
                .any(|other| other.name == column.name);
            if earlier && !twice.contains(&column.name.as_str()) {
                twice.push(&column.name);
            }
        }
        if !twice.is_empty() {
            self.report.notes.push(format!(
                "its SQL gives several columns the name {}, and none of them is compared",
                twice.join(", ")
            ));
        }
    }

    /// Tells of limits that cut two answers otherwise.
    fn limits(&mut self, sql: &str, dbms: Dbms) {
        let note = match (limit(sql, dbms), self.pattern.limit) {
            (Limit::None, None) => return,
            (Limit::Rows(_) | Limit::Unknown, _) if !self.report.in_order => {
                "its SQL has a LIMIT and no ORDER BY: which rows come back is chance".to_owned()
            }
            (Limit::Rows(rows), Some(limit)) if rows == u64::from(limit) => return,
            (Limit::Unknown, _) => {
                "its SQL has a LIMIT whose number is not plain to see".to_owned()
            }
            (sql, own) => {
                let told =
                    |limit: Option<u64>| limit.map_or("none".to_owned(), |rows| rows.to_string());
                let sql = match sql {
                    Limit::Rows(rows) => Some(rows),
                    Limit::None | Limit::Unknown => None,
                };
                format!(
                    "its limit is {}, and that of its SQL {}",
                    told(own.map(u64::from)),
                    told(sql)
                )
            }
        };
        self.report.notes.push(note);
    }

    /// Asks both sides for one call. Gives how many rows were left out.
    async fn call(
        &mut self,
        call: &Call,
        sql: &str,
        columns: &[Column],
        judge: &Judge<'_>,
        source: &mut dyn Source,
        target: &dyn Target,
    ) -> Result<usize, Stop> {
        let (ground, pattern) = (self.proving.ground, self.pattern);
        let rows = source.ask(&call.sql(sql, source.dbms()), columns).await;
        let rows = rows.map_err(|error| refused("the source refuses its `sql`", &error))?;
        let may = kinds(source, ground.model, judge.projections, &rows).await;
        let may = may.map_err(|error| Stop::Failed(Failure::from(&error)))?;
        let plan = plan(pattern, &call.values, ground.context)
            .map_err(|error| Stop::Unproved(error.to_string()))?;
        let answer = answer(target, &ground.model.table, &plan, true).await;
        let answer = answer.map_err(|error| Stop::Failed(Failure::from(&error)))?;
        let report = &mut self.report;
        report.calls += 1;
        report.rows += rows.len();
        report.items += answer.items.len();
        if let Some(units) = answer.units {
            *report.read_units.get_or_insert(0.0) += units;
        }
        report.empty_calls += usize::from(rows.is_empty() && answer.items.is_empty());
        let judged = judge.judge(&rows, &may, &answer.items);
        if !judged.examples.is_empty() {
            report.different_calls += 1;
            report.differences += judged.examples.len();
            if report.examples.len() < self.proving.examples {
                report.examples.push(DifferentCall {
                    parameters: given(call),
                    drawn: call.why,
                    rows: rows.len(),
                    items: answer.items.len(),
                    differences: judged.examples.len(),
                    examples: judged
                        .examples
                        .into_iter()
                        .take(self.proving.examples)
                        .collect(),
                });
            }
        }
        Ok(judged.left_out)
    }
}

fn given(call: &Call) -> BTreeMap<String, String> {
    let given = call.given.iter();
    given
        .map(|(name, value)| (name.to_string(), value.clone()))
        .collect()
}

/// What the SQL orders its rows by, as columns of the result.
fn ordered(sql: &str, dbms: Dbms, columns: &[Column]) -> Option<Order> {
    let terms = order(sql, dbms)?;
    let found = terms.iter().map(|term| match &term.key {
        OrderKey::Number(number) => number.checked_sub(1).filter(|at| *at < columns.len()),
        OrderKey::Column(name) => {
            let all = columns.iter().enumerate();
            let mut named = all.filter(|(_, column)| column.name.eq_ignore_ascii_case(name));
            let first = named.next()?;
            named.next().is_none().then_some(first.0)
        }
        OrderKey::Expression => None,
    });
    let found: Vec<Option<usize>> = found.collect();
    Some(Order {
        is_known: found.iter().all(Option::is_some),
        columns: found.into_iter().flatten().collect(),
    })
}
