//! The proof of one access pattern: its calls are drawn, the source and the table are asked, and the answers compared.

use std::fmt;

use dynafold_format::with_causes;
use dynafold_mapping::access::plan;
use dynafold_mapping::claim::{Claim, ClaimVerdict};
use dynafold_mapping::item::Folder;
use dynafold_mapping::model::{AccessPattern, ItemType, Pass};
use dynafold_relational::catalog::{Column, Dbms};
use dynafold_source::{Source, SourceError, database_message};
use dynafold_sql::{InResult, ReadTable, RowLimit, SelectedColumn, SqlQuery, table};
use dynafold_target::{Target, TargetErrorKind, answer};

use super::call::{DrawContext, DrawError, DrawReason, DrawnCall, DrawnCalls};
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
use crate::load::{Cancel, Failure, ItemTypeMarks, deletes_expired};

/// The input of a proof of access patterns.
pub struct Proving<'a> {
    /// The schema, the mapping and the run's clock.
    pub draw_context: DrawContext<'a>,
    /// The claims of `check` about the item types that each pattern finds.
    pub finds: Vec<Claim>,
    /// The names of the patterns to prove; empty for all of them.
    pub names: &'a [String],
    /// About how many calls are drawn for each pattern.
    pub values: usize,
    /// How many differing calls of a pattern, and how many differences of a call, are reported as examples.
    pub examples: usize,
    /// Stops the proof.
    pub cancel: &'a Cancel,
    /// Called before the calls of a pattern: its number from 1, the number of patterns, its name, the number of calls.
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

/// The result of a pattern's proof.
pub(super) struct PatternFindings {
    pub(super) verdict: ClaimVerdict,
    pub(super) because: String,
    /// The keys that the calls have asked for: the proof holds only if they reach every item of the table. `None` if that
    /// need not be checked.
    pub(super) reach: Option<AskedKeys>,
    /// The verdict if they do not.
    pub(super) agrees: ClaimVerdict,
}

/// What is known after some of a pattern's calls were asked.
struct AskedCalls {
    /// The keys that were asked for; `Err` with the reason if they cannot be told.
    reach: Result<AskedKeys, String>,
    unaccounted: Unaccounted,
}

/// Why a pattern's proof ends.
pub(super) enum ProofStop {
    /// It cannot be proved, for this reason.
    Unproved(String),
    /// The source or the target failed.
    Failed(Failure),
}

impl<'a> PatternProver<'_, 'a> {
    /// Proves it. `report_calls` is called once, with the number of calls.
    pub(super) async fn prove(
        &mut self,
        source: &mut dyn Source,
        target: &dyn Target,
        report_calls: &(dyn Fn(usize) + Send + Sync),
    ) -> Result<PatternFindings, ProofStop> {
        let (draw_context, pattern) = (self.proving.draw_context, self.pattern);
        let query = self.query(source)?;
        let drawn = match draw(source, &draw_context, pattern, &query, self.proving.values).await {
            Ok(drawn) => drawn,
            Err(DrawError::Source(error)) => {
                return Err(refused("the source refuses to draw values", error));
            }
            Err(other) => return Err(ProofStop::Unproved(with_causes(&other))),
        };
        self.report.notes.extend(drawn.notes.iter().cloned());
        report_calls(drawn.calls.len());
        let Some(first) = drawn.calls.first() else {
            let mut reasons = vec!["no values for a call could be drawn".to_owned()];
            reasons.extend(drawn.doubts());
            return Err(ProofStop::Unproved(reasons.join("; ")));
        };
        if query.sql.ends_in_comment() {
            let note = "a comment hides the end of its `sql`: YAML has folded the following lines into the line of the comment, which `sql: |` prevents";
            self.report.notes.push(note.to_owned());
        }
        let sql = first.sql(&query.sql);
        let shape = self.shape(query, source, &sql).await?;
        let projections = self.projections(&shape)?;
        let owners = self.owners(&projections)?;
        let held = |name: &str| holds(&draw_context.model.table, pattern, name);
        let all = draw_context.model.item_types.iter();
        let marks = ItemTypeMarks::among(all, draw_context.model, &held).ok();
        let folder = Folder::new(draw_context.model, draw_context.context.clone());
        let comparer = AnswerComparer {
            projections: &projections,
            owners: owners.as_ref(),
            folder: &folder,
            model: draw_context.model,
            marks: marks.as_ref(),
            order: ordered(&shape),
            expires: deletes_expired(target, draw_context.model, draw_context.context.now)
                .await
                .map_err(|error| ProofStop::Failed(error.into()))?,
            limited: pattern.limit.is_some() || shape.query.limit != RowLimit::None,
            cut: match shape.query.limit {
                RowLimit::None => None,
                _ if shape.query.order_decides(shape.catalog) => None,
                RowLimit::Rows(rows) => Some(rows),
                RowLimit::Parameter(_) | RowLimit::Unknown => Some(0),
            },
        };
        self.report.in_order = comparer.order.is_some();
        self.note_limits(&shape.query);
        let types = projections.iter().map(|one| ComparedType {
            item_type: one.item.name.to_string(),
            compared: one.attributes(),
            not_compared: one.not_compared.clone(),
        });
        self.report.item_types = types.collect();
        let mut asked = AskedCalls {
            reach: AskedKeys::of(pattern),
            unaccounted: Unaccounted::default(),
        };
        for call in &drawn.calls {
            self.ask(call, &shape, &comparer, &mut asked, source, target)
                .await?;
        }
        if self.report.differences > 0 {
            return Ok(self.differs(&shape, comparer.order.as_ref()));
        }
        self.require_all_compared(&projections, &shape.columns, &asked.unaccounted)?;
        Ok(self.conclude(&drawn, &shape, &projections, asked))
    }

    /// The verdict on a pattern of which every call has agreed.
    fn conclude(
        &self,
        drawn: &DrawnCalls,
        shape: &QueryShape<'a>,
        projections: &[ItemProjection<'a>],
        asked: AskedCalls,
    ) -> PatternFindings {
        let pattern = self.pattern;
        let mut doubts = asked.unaccounted.doubts(self.report.rows);
        doubts.extend(asked.reach.as_ref().err().cloned());
        let sides = Doubts {
            model: self.proving.draw_context.model,
            pattern,
            finds: self.finds(),
            shape,
            types: projections,
        };
        sides.add(drawn, &mut doubts);
        let agrees = ClaimVerdict::Agrees {
            asked: drawn.asked,
            possible: drawn.possible,
        };
        let is_proved = doubts.is_empty();
        let prefix = self.row_security_prefix(&shape.query);
        PatternFindings {
            verdict: if is_proved {
                ClaimVerdict::Proved
            } else {
                agrees
            },
            because: if is_proved {
                format!("{prefix}every call that finds a row or an item was asked and compared")
            } else {
                format!("{prefix}{}", doubts.join("; "))
            },
            // A pattern without parameters has one call, which was asked.
            reach: asked
                .reach
                .ok()
                .filter(|_| is_proved && !pattern.parameters.is_empty()),
            agrees,
        }
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

    /// A note for each collation that explains a difference: the SQL finds a text that is written otherwise, and the key does
    /// not. Empty if no call with such a variant differs.
    fn collations(&self, shape: &QueryShape<'_>) -> Vec<String> {
        let mut examples = self.report.examples.iter();
        if examples.all(|call| call.drawn != DrawReason::Variant) {
            return Vec::new();
        }
        let parameters = self.pattern.parameters.iter();
        let columns = parameters
            .filter_map(|one| Some(shape.equal(&one.name)?.2))
            .filter(|column| column.insensitive);
        let note = |column: &Column| {
            let (name, collation) = (&column.name, column.collation.as_ref()?);
            Some(format!(
                "its SQL compares `{name}` by the collation `{collation}`, and DynamoDB compares keys by their bytes"
            ))
        };
        columns.filter_map(note).collect()
    }

    fn query(&self, source: &dyn Source) -> Result<SqlQuery, ProofStop> {
        let sql = self.pattern.sql.as_deref().unwrap_or_default();
        let query = SqlQuery::read(sql, Some(source.dbms()));
        query.map_err(|why| ProofStop::Unproved(format!("its `sql` {why}")))
    }

    /// # Errors
    ///
    /// [`ProofStop::Unproved`] if a row, an item or a column of the answers was not compared.
    fn require_all_compared(
        &self,
        projections: &[ItemProjection<'_>],
        columns: &[Column],
        unaccounted: &Unaccounted,
    ) -> Result<(), ProofStop> {
        let mut reasons = Vec::new();
        let named = |is: &dyn Fn(usize) -> bool| {
            let columns = columns.iter().enumerate().filter(|(at, _)| is(*at));
            let names: Vec<String> = columns.map(|(_, one)| format!("`{}`", one.name)).collect();
            (!names.is_empty()).then(|| names.join(", "))
        };
        let is_used = |at: usize| projections.iter().any(|one| one.used.contains(&at));
        let is_part = |at: usize| projections.iter().any(|one| one.lossy.contains(&at));
        if let Some(unused) = named(&|at| !is_used(at) && !is_part(at)) {
            let what = match &self.pattern.index {
                Some(index) if !self.pattern.fetch => format!("what the index `{index}` holds"),
                _ => "the items".to_owned(),
            };
            reasons.push(format!(
                "its `sql` selects {unused}, but no attribute of {what} is compared with this: leave it out, or write under `answer` which attribute holds it"
            ));
        }
        let is_lost = |at: usize| unaccounted.lost.contains(&at) || !is_used(at) && is_part(at);
        if let Some(lost) = named(&is_lost) {
            reasons.push(format!(
                "its `sql` selects {lost}, whose values cannot all be read back from the items: leave it out, or give the items an attribute of it"
            ));
        }
        if unaccounted.undecided > 0 {
            reasons.push(format!(
                "{} of {} items may belong to rows of its `sql` that do not show which item is theirs: they have NULL in their keys, do not show their item type, or can only be told apart by a text that can be split in two ways",
                unaccounted.undecided, self.report.items
            ));
        }
        if unaccounted.perhaps_expired > 0 {
            let ttl = self.proving.draw_context.model.table.ttl.as_deref();
            reasons.push(format!(
                "{} rows and items were not compared, because items may have expired: select the columns from which `{}` is made, and use no limit",
                unaccounted.perhaps_expired,
                ttl.unwrap_or_default()
            ));
        }
        if unaccounted.tied > 0 {
            let why = if self.report.in_order {
                "its LIMIT cuts between rows that are equal under its ORDER BY"
            } else {
                "its SQL has a LIMIT and no ORDER BY: it may return any of the rows"
            };
            reasons.push(format!(
                "{why}, and {} rows and items were not compared",
                unaccounted.tied
            ));
        }
        if unaccounted.left_out > 0 {
            reasons.push(format!(
                "{} of {} rows of its `sql` do not show which item is theirs, and were not compared",
                unaccounted.left_out, self.report.rows
            ));
        } else if self.report.rows == unaccounted.gone && self.report.items == 0 {
            reasons.push("no call found anything on either side: nothing was compared".to_owned());
        }
        if reasons.is_empty() {
            return Ok(());
        }
        reasons.extend(unaccounted.doubts(self.report.rows));
        Err(ProofStop::Unproved(reasons.join("; ")))
    }

    /// The claim of `check` about the item types that the pattern finds.
    fn finds(&self) -> Option<&Claim> {
        let mut claims = self.proving.finds.iter();
        claims.find(|claim| claim.of.pattern.as_deref() == Some(&*self.pattern.name))
    }

    /// The restriction that a claim begins with if row security may hide rows from the SQL. A view may read any table, so any
    /// table with row security counts for it.
    fn row_security_prefix(&self, query: &SqlQuery) -> &'static str {
        let catalog = self.proving.draw_context.catalog;
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

    /// Checks, without reading rows, whether the pattern could be proved.
    pub(super) async fn check_provable(&self, source: &mut dyn Source) -> Result<(), ProofStop> {
        let (draw_context, pattern) = (self.proving.draw_context, self.pattern);
        if pattern.sql.is_none() {
            return Ok(());
        }
        let query = self.query(source)?;
        if let Err(name) = origins(&draw_context, pattern, &query) {
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

    /// The query with the columns that the source describes. `filled`: the query with values in the places of its parameters.
    async fn shape(
        &self,
        query: SqlQuery,
        source: &mut dyn Source,
        filled: &str,
    ) -> Result<QueryShape<'a>, ProofStop> {
        let columns = source.describe_answer(filled).await;
        let columns = columns.map_err(|error| refused("the source refuses its `sql`", error))?;
        Ok(QueryShape::new(
            query,
            self.proving.draw_context.catalog,
            columns,
        ))
    }

    /// The item types that the pattern returns, each with the columns of the SQL that its attributes are compared with.
    fn projections(&self, shape: &QueryShape<'a>) -> Result<Vec<ItemProjection<'a>>, ProofStop> {
        let (model, pattern) = (self.proving.draw_context.model, self.pattern);
        let has_column = |name: &str| {
            let mut columns = shape.columns.iter();
            columns.any(|column| column.name.eq_ignore_ascii_case(name))
        };
        for (attribute, column) in &pattern.answer {
            if !has_column(column) {
                return Err(ProofStop::Unproved(format!(
                    "its `answer` maps `{attribute}` to the column `{column}`, which its `sql` does not select"
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
        let projections: Result<Vec<ItemProjection<'_>>, String> = types
            .iter()
            .map(|item| ItemProjection::new(model, pattern, *item, &result))
            .collect();
        let projections = projections.map_err(ProofStop::Unproved)?;
        if projections.is_empty() {
            return Err(ProofStop::Unproved("it finds no item type".to_owned()));
        }
        if projections.len() > 1 && result.type_column.is_none() && shape.query.selects.len() > 1 {
            return Err(ProofStop::Unproved(
                "its `sql` combines several SELECTs and does not say which item type a row has: select the item type's name as a constant, under the name of the type attribute".to_owned(),
            ));
        }
        Ok(projections)
    }

    /// The marks by which an item's type is known; `None` for a single type, and where the whole keys show it.
    fn owners(
        &self,
        projections: &[ItemProjection<'_>],
    ) -> Result<Option<ItemTypeMarks>, ProofStop> {
        let model = self.proving.draw_context.model;
        if projections.len() < 2 {
            return Ok(None);
        }
        let types = projections.iter().map(|one| one.item);
        let held = |name: &str| holds(&model.table, self.pattern, name);
        match ItemTypeMarks::among(types, model, &held) {
            Ok(owners) => Ok(Some(owners)),
            // An item is of the type whose whole key it has.
            Err(_) if projections.iter().all(|one| one.by_key) => Ok(None),
            Err(error) => Err(ProofStop::Unproved(format!(
                "{error}, and its `sql` does not give their whole keys"
            ))),
        }
    }

    /// Notes limits by which the two answers may hold different rows.
    fn note_limits(&mut self, query: &SqlQuery) {
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

    /// Asks the source and the table for one call, and compares their answers.
    async fn ask(
        &mut self,
        call: &DrawnCall,
        shape: &QueryShape<'_>,
        comparer: &AnswerComparer<'_>,
        asked: &mut AskedCalls,
        source: &mut dyn Source,
        target: &dyn Target,
    ) -> Result<(), ProofStop> {
        let (draw_context, pattern) = (self.proving.draw_context, self.pattern);
        let rows = match source
            .ask(&call.sql(&shape.query.sql), &shape.columns)
            .await
        {
            Ok(rows) => rows,
            // The database refuses a drawn value that is not of the column's type: no row has it.
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
        let row_types = kinds(source, draw_context.model, comparer.projections, &rows)
            .await
            .map_err(|error| ProofStop::Failed(error.into()))?;
        let plan = plan(pattern, &call.values, draw_context.context)
            .map_err(|error| ProofStop::Unproved(with_causes(&error)))?;
        if let Ok(reach) = &mut asked.reach {
            reach.ask(&plan);
        }
        let answered = answer(target, &draw_context.model.table, &plan, true)
            .await
            .map_err(|error| match error.kind {
                TargetErrorKind::Refused => {
                    ProofStop::Unproved(format!("DynamoDB refuses a call: {}", with_causes(&error)))
                }
                _ => ProofStop::Failed(error.into()),
            })?;
        let report = &mut self.report;
        report.calls += 1;
        *report.drawn.entry(call.why).or_default() += 1;
        report.rows += rows.len();
        report.items += answered.items.len();
        if let Some(units) = answered.units {
            *report.read_units.get_or_insert(0.0) += units;
        }
        report.empty_calls += usize::from(rows.is_empty() && answered.items.is_empty());
        let differences =
            comparer.compare_answers(&rows, &row_types, &answered.items, &mut asked.unaccounted);
        if !differences.is_empty() {
            report.different_calls += 1;
            report.differences += differences.len();
            if report.examples.len() < self.proving.examples {
                report.examples.push(DifferentCall {
                    parameters: call
                        .given
                        .iter()
                        .map(|(name, value)| (name.to_string(), value.clone()))
                        .collect(),
                    drawn: call.why,
                    rows: rows.len(),
                    items: answered.items.len(),
                    differences: differences.len(),
                    examples: differences
                        .into_iter()
                        .take(self.proving.examples)
                        .collect(),
                });
            }
        }
        Ok(())
    }
}

/// A source that refuses a pattern's SQL leaves the pattern unproved; any other error of the source ends the run.
fn refused(what: &str, error: SourceError) -> ProofStop {
    match error {
        SourceError::Query { cause, .. } | SourceError::Permission { cause, .. } => {
            ProofStop::Unproved(format!("{what}: {}", database_message(&cause)))
        }
        error => ProofStop::Failed(Failure::from(error)),
    }
}

/// The ORDER BY of the SQL as columns of the result; `None` without one.
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
