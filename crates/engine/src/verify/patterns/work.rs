//! One access pattern at work: its calls drawn, both sides asked, and what came of it.

use std::collections::BTreeSet;
use std::fmt;

use dynafold_format::with_causes;
use dynafold_mapping::access::plan;
use dynafold_mapping::claim::{Claim, ClaimVerdict};
use dynafold_mapping::item::Folder;
use dynafold_mapping::model::{AccessPattern, ItemType, Pass};
use dynafold_relational::catalog::{Column, Dbms};
use dynafold_source::{Source, SourceError, database_message};
use dynafold_sql::{InResult, ReadTable, RowLimit, SelectedColumn, SqlQuery, table};
use dynafold_target::{Target, answer};

use super::call::{DrawContext, DrawError, DrawReason, DrawnCall};
use super::columns::QueryResult;
use super::compare::{AnswerComparer, QueryOrder, Unaccounted};
use super::doubts::Doubts;
use super::draw::draw;
use super::kinds::kinds;
use super::origin::origins;
use super::projection::{ItemProjection, holds};
use super::reach::AskedKeys;
use super::report::{ComparedType, DifferentCall, PatternReport};
use super::shape::QueryShape;
use crate::load::{Cancel, Failure, ItemTypeMarks};
use crate::verify::deletes_expired;

/// What is to be proved.
pub struct Proving<'a> {
    /// The schema, the mapping and the run's clock.
    pub ground: DrawContext<'a>,
    /// What `check` claims of the item types that each pattern finds.
    pub finds: Vec<Claim>,
    /// The patterns that are asked about; all of them where none is named.
    pub names: &'a [String],
    /// About how many calls of each pattern.
    pub values: usize,
    /// Differences that are named, of each pattern and of each call.
    pub examples: usize,
    /// Stops the proof.
    pub cancel: &'a Cancel,
    /// Told which pattern is at work, of how many, and how many calls it takes.
    pub progress: &'a (dyn Fn(usize, usize, &str, usize) + Send + Sync),
}

impl fmt::Debug for Proving<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proving")
            .field("names", &self.names)
            .field("values", &self.values)
            .finish_non_exhaustive()
    }
}

/// The proof of one pattern.
pub(super) struct PatternProver<'w, 'a> {
    pub(super) proving: &'w Proving<'a>,
    pub(super) pattern: &'w AccessPattern,
    pub(super) report: PatternReport,
}

/// What was found of a pattern.
pub(super) struct PatternFindings {
    pub(super) verdict: ClaimVerdict,
    pub(super) because: String,
    /// Where it is proved if every item of the table is in the reach of the calls that were asked.
    pub(super) reach: Option<AskedKeys>,
    /// What is said of it where it is not.
    pub(super) agrees: ClaimVerdict,
}

/// Why a pattern's proof ends.
pub(super) enum ProofStop {
    /// It cannot be proved.
    Unproved(String),
    Failed(Failure),
}

impl<'a> PatternProver<'_, 'a> {
    /// Proves it. `report_calls`: how many calls it takes.
    pub(super) async fn prove(
        &mut self,
        source: &mut dyn Source,
        target: &dyn Target,
        report_calls: &(dyn Fn(usize) + Send + Sync),
    ) -> Result<PatternFindings, ProofStop> {
        let (ground, pattern) = (self.proving.ground, self.pattern);
        let query = self.query(source)?;
        let drawn = match draw(source, &ground, pattern, &query, self.proving.values).await {
            Ok(drawn) => drawn,
            Err(DrawError::Source(error)) => {
                return Err(refused("the source refuses to draw values", error));
            }
            Err(other) => return Err(ProofStop::Unproved(with_causes(&other))),
        };
        self.report.notes.extend(drawn.notes.iter().cloned());
        report_calls(drawn.calls.len());
        let Some(first) = drawn.calls.first() else {
            return Err(ProofStop::Unproved(
                "no values for a call could be drawn".to_owned(),
            ));
        };
        if query.sql.ends_in_comment() {
            let note = "a comment hides the end of its `sql`: YAML has folded the following lines into the line of the comment";
            self.report.notes.push(note.to_owned());
        }
        let sql = first.sql(&query.sql);
        let shape = self.shape(query, source, &sql).await?;
        let projections = self.projections(&shape)?;
        let owners = self.owners(&projections)?;
        let folder = Folder::new(ground.model, ground.context.clone());
        let judge = AnswerComparer {
            projections: &projections,
            owners: owners.as_ref(),
            folder: &folder,
            table: &ground.model.table,
            order: ordered(&shape),
            expires: deletes_expired(target, ground.model)
                .await
                .map_err(|error| ProofStop::Failed(error.into()))?,
            limited: pattern.limit.is_some() || shape.query.limit != RowLimit::None,
        };
        self.report.in_order = judge.order.is_some();
        self.limits(&shape.query);
        let types = projections.iter().map(|one| ComparedType {
            item_type: one.item.name.to_string(),
            compared: one.attributes(),
            not_compared: one.not_compared.clone(),
        });
        self.report.item_types = types.collect();
        let mut reach = AskedKeys::of(pattern);
        let mut unheld = Unaccounted::default();
        for call in &drawn.calls {
            self.call(
                call,
                &shape,
                &judge,
                &mut reach,
                &mut unheld,
                source,
                target,
            )
            .await?;
        }
        if self.report.differences > 0 {
            return Ok(self.differs(&shape, judge.order.as_ref()));
        }
        self.all_held(&projections, &shape.columns, &unheld)?;
        let mut doubts = unheld.doubts(self.report.rows);
        doubts.extend(reach.as_ref().err().cloned());
        let sides = Doubts {
            model: ground.model,
            pattern,
            finds: self.finds(),
            shape: &shape,
            types: &projections,
        };
        sides.add(&drawn, &mut doubts);
        let agrees = ClaimVerdict::Agrees {
            asked: drawn.asked,
            possible: drawn.possible,
        };
        let is_proved = doubts.is_empty();
        let seen = self.seen(&shape.query);
        Ok(PatternFindings {
            verdict: if is_proved {
                ClaimVerdict::Proved
            } else {
                agrees
            },
            because: if is_proved {
                format!("{seen}every call that finds a row or an item was asked and compared")
            } else {
                format!("{seen}{}", doubts.join("; "))
            },
            // Without parameters there is one call.
            reach: reach
                .ok()
                .filter(|_| is_proved && !pattern.parameters.is_empty()),
            agrees,
        })
    }

    fn differs(&mut self, shape: &QueryShape<'_>, order: Option<&QueryOrder>) -> PatternFindings {
        let notes = self.collations(shape);
        self.report.notes.extend(notes);
        if order.is_some_and(|order| !order.is_known) {
            let note = "its ORDER BY uses more than columns of the result: it is not known which rows are equal under it, so items must be in exactly the order of the SQL's answer";
            self.report.notes.push(note.to_owned());
        }
        PatternFindings {
            verdict: ClaimVerdict::Differs,
            because: format!(
                "{} of {} calls have different answers",
                self.report.different_calls, self.report.calls
            ),
            reach: None,
            agrees: ClaimVerdict::Differs,
        }
    }

    /// The collations by which the SQL finds other texts than the keys, where a variant of a value has another answer.
    fn collations(&self, shape: &QueryShape<'_>) -> Vec<String> {
        let mut examples = self.report.examples.iter();
        if examples.all(|call| call.drawn != DrawReason::Variant) {
            return Vec::new();
        }
        let parameters = self.pattern.parameters.iter();
        let compared = parameters.filter_map(|one| Some(shape.equal(&one.name)?.2));
        let compared = compared.filter(|column| column.insensitive);
        let note = |column: &Column| {
            let (name, collation) = (&column.name, column.collation.as_ref()?);
            Some(format!(
                "its SQL compares `{name}` by the collation `{collation}`, and DynamoDB compares keys by their bytes"
            ))
        };
        compared.filter_map(note).collect()
    }

    fn query(&self, source: &dyn Source) -> Result<SqlQuery, ProofStop> {
        let sql = self.pattern.sql.as_deref().unwrap_or_default();
        let query = SqlQuery::read(sql, Some(source.dbms()));
        query.map_err(|why| ProofStop::Unproved(format!("its `sql` {why}")))
    }

    /// Every row, every item and every column of the result is accounted for.
    fn all_held(
        &self,
        projections: &[ItemProjection<'_>],
        columns: &[Column],
        unheld: &Unaccounted,
    ) -> Result<(), ProofStop> {
        let mut whys = Vec::new();
        let used: BTreeSet<usize> = projections
            .iter()
            .flat_map(|one| one.used.iter().copied())
            .collect();
        let unused = columns
            .iter()
            .enumerate()
            .filter(|(at, _)| !used.contains(at));
        let unused: Vec<String> = unused
            .map(|(_, column)| format!("`{}`", column.name))
            .collect();
        if !unused.is_empty() {
            let what = match &self.pattern.index {
                Some(index) => format!("what the index `{index}` holds"),
                None => "the items".to_owned(),
            };
            whys.push(format!(
                "its `sql` selects {}, which is not compared with any attribute of {what}: leave it out, or name its attribute under `answer`",
                unused.join(", ")
            ));
        }
        if unheld.undecided > 0 {
            whys.push(format!(
                "{} of {} items may belong to rows of its `sql` that have NULL in their keys or do not show their item type",
                unheld.undecided, self.report.items
            ));
        }
        if unheld.perhaps_gone > 0 {
            let ttl = self.proving.ground.model.table.ttl.as_deref();
            whys.push(format!(
                "{} rows and items were not compared, since items may have expired: select what `{}` is made from, and without a limit",
                unheld.perhaps_gone,
                ttl.unwrap_or_default()
            ));
        }
        if self.report.rows == unheld.left_out && self.report.items == 0 {
            whys.push("no call found anything on either side: nothing was compared".to_owned());
        } else if unheld.left_out > 0 {
            whys.push(format!(
                "{} of {} rows of its `sql` do not have the whole key of a returned item and were not compared",
                unheld.left_out, self.report.rows
            ));
        }
        if whys.is_empty() {
            return Ok(());
        }
        Err(ProofStop::Unproved(whys.join("; ")))
    }

    /// What is known of the item types that its key finds.
    fn finds(&self) -> Option<&Claim> {
        let mut claims = self.proving.finds.iter();
        claims.find(|claim| claim.of.pattern.as_deref() == Some(&*self.pattern.name))
    }

    /// What a claim begins with where row security may hide rows of what the SQL reads; of a view, rows of any table.
    fn seen(&self, query: &SqlQuery) -> &'static str {
        let catalog = self.proving.ground.catalog;
        let is_hidden = |read: &ReadTable| match table(catalog, read.schema.as_ref(), &read.name) {
            Some(table) if table.is_stored() => table.row_security,
            _ => catalog.tables.iter().any(|table| table.row_security),
        };
        if query.tables.iter().any(is_hidden) {
            "of the rows that row security lets this reader see: "
        } else {
            ""
        }
    }

    /// Finds out, without reading rows, whether the pattern could be proved.
    pub(super) async fn foresee(&self, source: &mut dyn Source) -> Result<(), ProofStop> {
        let (ground, pattern) = (self.proving.ground, self.pattern);
        if pattern.sql.is_none() {
            return Ok(());
        }
        let query = self.query(source)?;
        if let Err(name) = origins(&ground, pattern, &query) {
            return Err(ProofStop::Unproved(DrawError::Unknown(name).to_string()));
        }
        // MySQL's bare NULL is binary, and takes the collation of no text.
        let null = match source.dbms() {
            Dbms::Mysql | Dbms::Mariadb => "CAST(NULL AS CHAR)",
            Dbms::Postgres | Dbms::Sqlite => "NULL",
        };
        let nothing = query.sql.fill(&|_| Some(null.to_owned()));
        let shape = self.shape(query, source, &nothing).await?;
        let projections = self.projections(&shape)?;
        self.owners(&projections).map(drop)
    }

    /// Its query with the columns that the source tells of it. `filled`: the query with something in the place of its
    /// parameters.
    async fn shape(
        &self,
        query: SqlQuery,
        source: &mut dyn Source,
        filled: &str,
    ) -> Result<QueryShape<'a>, ProofStop> {
        let columns = source.describe_answer(filled).await;
        let columns = columns.map_err(|error| refused("the source refuses its `sql`", error))?;
        Ok(QueryShape::new(query, self.proving.ground.catalog, columns))
    }

    /// The item types that come back, each held against the columns of the SQL.
    fn projections(&self, shape: &QueryShape<'a>) -> Result<Vec<ItemProjection<'a>>, ProofStop> {
        let (model, pattern) = (self.proving.ground.model, self.pattern);
        let is_given = |name: &str| {
            let mut columns = shape.columns.iter();
            columns.any(|column| column.name.eq_ignore_ascii_case(name))
        };
        for (attribute, column) in &pattern.answer {
            if !is_given(column) {
                return Err(ProofStop::Unproved(format!(
                    "its `answer` says that `{attribute}` is `{column}`, and its `sql` has no such column"
                )));
            }
        }
        let found = self.finds().map(|claim| &claim.of.item_types);
        let is_found = |item: &ItemType| {
            if pattern.items.is_empty() {
                found.is_none_or(|found| found.iter().any(|name| **name == *item.name))
            } else {
                pattern.items.contains(&item.name)
            }
        };
        let found = model.item_types.iter().filter(|item| is_found(item));
        let types: Vec<(&ItemType, &Pass)> = found
            .filter_map(|item| Some((item, model.passes.get(item.pass)?)))
            .collect();
        let result = QueryResult::new(shape, &types);
        let projections = types
            .iter()
            .map(|item| ItemProjection::new(model, pattern, *item, &result));
        let projections: Result<Vec<ItemProjection<'_>>, String> = projections.collect();
        let projections = projections.map_err(ProofStop::Unproved)?;
        if projections.is_empty() {
            return Err(ProofStop::Unproved("it finds no item type".to_owned()));
        }
        if projections.len() > 1 && result.told_by.is_none() && shape.query.selects.len() > 1 {
            return Err(ProofStop::Unproved(
                "its `sql` combines several SELECTs and does not say which item type a row has: select the item type's name as a constant, under the name of the type attribute".to_owned(),
            ));
        }
        Ok(projections)
    }

    /// What tells the item types apart; `None` where there is one, or their keys tell.
    fn owners(
        &self,
        projections: &[ItemProjection<'_>],
    ) -> Result<Option<ItemTypeMarks>, ProofStop> {
        let model = self.proving.ground.model;
        if projections.len() < 2 {
            return Ok(None);
        }
        let types = projections.iter().map(|one| one.item);
        let held = |name: &str| holds(&model.table, self.pattern, name);
        match ItemTypeMarks::among(types, &model.table, &held) {
            Ok(owners) => Ok(Some(owners)),
            // Whole keys tell too: an item is of the type whose key it has.
            Err(_) if projections.iter().all(|one| one.by_key) => Ok(None),
            Err(error) => Err(ProofStop::Unproved(format!(
                "{error}, and its `sql` does not give their whole keys"
            ))),
        }
    }

    /// Tells of limits that cut two answers otherwise.
    fn limits(&mut self, query: &SqlQuery) {
        let own = self.pattern.limit.map(u64::from);
        let note = match &query.limit {
            RowLimit::None if own.is_none() => return,
            RowLimit::Rows(rows) if own == Some(*rows) && self.report.in_order => return,
            RowLimit::None | RowLimit::Rows(_)
                if self.report.in_order || query.limit == RowLimit::None =>
            {
                let limit_text =
                    |limit: Option<u64>| limit.map_or("none".to_owned(), |rows| rows.to_string());
                let sql = match query.limit {
                    RowLimit::Rows(rows) => Some(rows),
                    _ => None,
                };
                format!(
                    "its limit is {}, and its SQL's limit is {}",
                    limit_text(own),
                    limit_text(sql)
                )
            }
            _ if !self.report.in_order => {
                "its SQL has a LIMIT and no ORDER BY: it may return any of the rows".to_owned()
            }
            _ => "the number of its SQL's LIMIT is not known".to_owned(),
        };
        self.report.notes.push(note);
    }

    /// Asks both sides for one call.
    #[expect(
        clippy::too_many_arguments,
        reason = "two sides, what is compared, and what comes of it"
    )]
    async fn call(
        &mut self,
        call: &DrawnCall,
        shape: &QueryShape<'_>,
        judge: &AnswerComparer<'_>,
        reach: &mut Result<AskedKeys, String>,
        unheld: &mut Unaccounted,
        source: &mut dyn Source,
        target: &dyn Target,
    ) -> Result<(), ProofStop> {
        let (ground, pattern) = (self.proving.ground, self.pattern);
        let rows = match source
            .ask(&call.sql(&shape.query.sql), &shape.columns)
            .await
        {
            Ok(rows) => rows,
            // It is no value of the column's type.
            Err(SourceError::Query { .. })
                if matches!(
                    call.why,
                    DrawReason::Variant | DrawReason::Absent | DrawReason::Beyond
                ) =>
            {
                return Ok(());
            }
            Err(error) => return Err(refused("the source refuses its `sql`", error)),
        };
        let may = kinds(source, ground.model, judge.projections, &rows).await;
        let may = may.map_err(|error| ProofStop::Failed(error.into()))?;
        let plan = plan(pattern, &call.values, ground.context)
            .map_err(|error| ProofStop::Unproved(with_causes(&error)))?;
        if let Ok(reach) = reach {
            reach.ask(&plan);
        }
        let answer = answer(target, &ground.model.table, &plan, true).await;
        let answer = answer.map_err(|error| ProofStop::Failed(error.into()))?;
        let report = &mut self.report;
        report.calls += 1;
        *report.drawn.entry(call.why).or_default() += 1;
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
                    parameters: call
                        .given
                        .iter()
                        .map(|(name, value)| (name.to_string(), value.clone()))
                        .collect(),
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
        unheld.left_out += judged.unheld.left_out;
        unheld.repeated += judged.unheld.repeated;
        unheld.undecided += judged.unheld.undecided;
        unheld.gone += judged.unheld.gone;
        unheld.perhaps_gone += judged.unheld.perhaps_gone;
        Ok(())
    }
}

/// A source that refuses a pattern's SQL says why; one that goes away ends the run.
fn refused(what: &str, error: SourceError) -> ProofStop {
    match error {
        SourceError::Query { cause, .. } | SourceError::Permission { cause, .. } => {
            ProofStop::Unproved(format!("{what}: {}", database_message(&cause)))
        }
        error => ProofStop::Failed(Failure::from(error)),
    }
}

/// What the SQL orders its rows by, as columns of the result.
fn ordered(shape: &QueryShape<'_>) -> Option<QueryOrder> {
    let terms = shape.query.order.as_ref()?;
    let found = terms.iter().map(|term| match &term.result {
        InResult::Number(number) => number.checked_sub(1).filter(|at| *at < shape.columns.len()),
        InResult::Named(name) => {
            let all = shape.columns.iter().enumerate();
            let mut named = all.filter(|(_, column)| column.name.eq_ignore_ascii_case(name));
            let first = named.next()?;
            named.next().is_none().then_some(first.0)
        }
        InResult::Expression => {
            let select = shape.query.select()?;
            let wanted = term.column.as_ref()?;
            let (of, _, column) = select.origin(wanted, shape.catalog)?;
            let is_it =
                |one: SelectedColumn<'_>| one.relation == of && one.column.name == column.name;
            let mut outputs = shape.outputs.iter();
            let found = outputs.position(|output| output.is_some_and(is_it))?;
            // A name alone may be another column of the result, as the database likes.
            let mut others = shape.columns.iter().enumerate();
            let is_hidden = others.any(|(at, other)| at != found && wanted.name.is(&other.name));
            (wanted.owner.is_some() || !is_hidden).then_some(found)
        }
    });
    let found: Vec<Option<usize>> = found.collect();
    Some(QueryOrder {
        is_known: found.iter().all(Option::is_some),
        columns: found.into_iter().flatten().collect(),
    })
}
