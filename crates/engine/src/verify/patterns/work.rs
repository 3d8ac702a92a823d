//! One access pattern at work: its calls drawn, both sides asked, and what came of it.

use std::collections::BTreeSet;

use dynafold_mapping::access::plan;
use dynafold_mapping::claim::{Claim, Verdict};
use dynafold_mapping::item::Folder;
use dynafold_mapping::model::{AccessPattern, ItemType, ParameterKind, Placeholder, Template};
use dynafold_mapping::template::Filter;
use dynafold_mapping::{aligned, is_fickle_query, writing};
use dynafold_relational::catalog::{Column, DataType, Dbms, TableName};
use dynafold_relational::scan::{Relation, ScanColumn};
use dynafold_source::{Source, SourceError};
use dynafold_sql::{InResult, Limit, Query, Read, table};
use dynafold_target::{Target, answer};

use super::call::{Call, DrawError, Drawn, Why};
use super::compare::{Judge, Order, Unheld};
use super::draw::draw;
use super::further::Keyed;
use super::kinds::kinds;
use super::made::{holds, keys};
use super::origin::origins;
use super::projection::Projection;
use super::proving::Proving;
use super::reach::Reach;
use super::report::{ComparedType, DifferentCall, PatternReport};
use super::result::{ResultOf, bases};
use super::shape::{Shape, is_exact};
use super::stop::{Stop, refused};
use crate::load::{Failure, Owners};

/// The proof of one pattern.
pub(super) struct Work<'w, 'a> {
    pub(super) proving: &'w Proving<'a>,
    pub(super) pattern: &'w AccessPattern,
    pub(super) report: PatternReport,
}

/// What was found of a pattern.
pub(super) struct Found {
    pub(super) verdict: Verdict,
    pub(super) because: String,
    /// Where it is proved if every item of the table is in the reach of the calls that were asked.
    pub(super) reach: Option<Reach>,
    /// What is said of it where it is not.
    pub(super) agrees: Verdict,
}

impl Work<'_, '_> {
    /// Proves it. `told`: how many calls it takes.
    pub(super) async fn prove(
        &mut self,
        source: &mut dyn Source,
        target: &dyn Target,
        told: &(dyn Fn(usize) + Send + Sync),
    ) -> Result<Found, Stop> {
        let (ground, pattern) = (self.proving.ground, self.pattern);
        let query = self.query(source)?;
        let drawn = match draw(source, &ground, pattern, &query, self.proving.values).await {
            Ok(drawn) => drawn,
            Err(DrawError::Source(error)) => {
                return Err(refused("the source refuses to draw values", &error));
            }
            Err(other) => return Err(Stop::Unproved(other.to_string())),
        };
        self.report.notes.extend(drawn.notes.iter().cloned());
        told(drawn.calls.len());
        let Some(first) = drawn.calls.first() else {
            return Err(Stop::Unproved("no call of it could be drawn".to_owned()));
        };
        if query.sql.ends_in_comment() {
            let note = "a comment ends its `sql`, which is one line: what YAML has folded into that line behind it is not asked";
            self.report.notes.push(note.to_owned());
        }
        let described = source.describe_answer(&first.sql(&query.sql)).await;
        let columns = described.map_err(|error| refused("the source refuses its `sql`", &error))?;
        let shape = Shape::new(query, ground.catalog, &columns);
        let projections = self.projections(&shape, &columns)?;
        let owners = self.owners(&projections)?;
        let folder = Folder::new(ground.model, ground.context.clone());
        let judge = Judge {
            projections: &projections,
            owners: owners.as_ref(),
            folder: &folder,
            table: &ground.model.table,
            order: ordered(&shape.query, &columns),
        };
        self.report.in_order = judge.order.is_some();
        self.limits(&shape.query);
        let types = projections.iter().map(|one| ComparedType {
            item_type: one.name.to_string(),
            compared: one.attributes(),
            not_compared: one.not_compared.clone(),
        });
        self.report.item_types = types.collect();
        let mut reach = Reach::of(pattern);
        let mut unheld = Unheld::default();
        for call in &drawn.calls {
            self.call(
                call,
                &shape,
                &columns,
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
        self.all_held(&projections, &columns, &unheld)?;
        let mut doubts = Vec::new();
        if unheld.repeated > 0 {
            doubts.push(format!(
                "{} of {} rows of its SQL say nothing of items that other rows do not say",
                unheld.repeated, self.report.rows
            ));
        }
        doubts.extend(reach.as_ref().err().cloned());
        let doubts = self.doubts(&shape, &drawn, &projections, doubts);
        let agrees = Verdict::Agrees {
            asked: drawn.asked,
            possible: drawn.possible,
        };
        let is_proved = doubts.is_empty();
        let seen = self.seen(&shape.query);
        Ok(Found {
            verdict: if is_proved { Verdict::Proved } else { agrees },
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

    fn differs(&mut self, shape: &Shape<'_>, order: Option<&Order>) -> Found {
        let notes = self.collations(shape);
        self.report.notes.extend(notes);
        if order.is_some_and(|order| !order.is_known) {
            let note = "its ORDER BY is not made of columns of the result alone: rows that are equal under it are not told, and have to stand as they do in the SQL's answer";
            self.report.notes.push(note.to_owned());
        }
        Found {
            verdict: Verdict::Differs,
            because: format!(
                "{} of {} calls have another answer",
                self.report.different_calls, self.report.calls
            ),
            reach: None,
            agrees: Verdict::Differs,
        }
    }

    /// The collations by which the SQL finds other texts than the keys, where a variant of a value has another answer.
    fn collations(&self, shape: &Shape<'_>) -> Vec<String> {
        let mut examples = self.report.examples.iter();
        if examples.all(|call| call.drawn != Why::Variant) {
            return Vec::new();
        }
        let parameters = self.pattern.parameters.iter();
        let compared = parameters.filter_map(|one| Some(shape.equal(&one.name)?.2));
        let compared = compared.filter(|column| column.insensitive);
        let note = |column: &Column| {
            let (name, collation) = (&column.name, column.collation.as_ref()?);
            Some(format!(
                "its SQL compares `{name}` by the collation `{collation}`, and a key is equal to the same bytes alone"
            ))
        };
        compared.filter_map(note).collect()
    }

    fn query(&self, source: &dyn Source) -> Result<Query, Stop> {
        let sql = self.pattern.sql.as_deref().unwrap_or_default();
        let query = Query::read(sql, Some(source.dbms()));
        query.map_err(|why| Stop::Unproved(format!("its `sql` {why}")))
    }

    /// Every row, every item and every column of the result is accounted for.
    fn all_held(
        &self,
        projections: &[Projection],
        columns: &[Column],
        unheld: &Unheld,
    ) -> Result<(), Stop> {
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
                "its `sql` gives {}, which is compared with no attribute of {what}: leave it out, or say under `answer` which attribute it is",
                unused.join(", ")
            ));
        }
        if unheld.undecided > 0 {
            whys.push(format!(
                "{} of {} items may be those of rows of its `sql` whose keys hold NULL, or do not tell their item type",
                unheld.undecided, self.report.items
            ));
        }
        if self.report.rows == unheld.left_out && self.report.items == 0 {
            whys.push("no call found anything on either side: nothing was compared".to_owned());
        } else if unheld.left_out > 0 {
            whys.push(format!(
                "{} of {} rows of its `sql` hold no whole key of an item that comes back, and were compared with nothing",
                unheld.left_out, self.report.rows
            ));
        }
        if whys.is_empty() {
            return Ok(());
        }
        Err(Stop::Unproved(whys.join("; ")))
    }

    /// Why a call that was not asked may have another answer; nothing where every possible call was.
    fn doubts(
        &self,
        shape: &Shape<'_>,
        drawn: &Drawn,
        projections: &[Projection],
        mut doubts: Vec<String>,
    ) -> Vec<String> {
        let (ground, pattern) = (&self.proving.ground, self.pattern);
        let dbms = ground.catalog.dbms;
        doubts.extend(drawn.doubts());
        let names: BTreeSet<&str> = shape
            .query
            .sql
            .parameters()
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        let mut relations: Vec<(&TableName, usize)> = Vec::new();
        let mut bound: Vec<(usize, &str)> = Vec::new();
        for name in &names {
            let Some((at, table, column)) = shape.equal(name) else {
                doubts.push(format!(
                    "its SQL does not ask that a column be equal to `:{name}`"
                ));
                continue;
            };
            let own = pattern.parameters.iter().find(|one| *one.name == **name);
            let is_kind = matches!(
                (own.map(|one| one.kind), &column.data_type),
                (Some(ParameterKind::Number), DataType::Integer { .. })
                    | (Some(ParameterKind::Text), DataType::Text { .. })
            );
            if own.is_none() {
                doubts.push(format!("`{name}` is a parameter of its SQL alone"));
            } else if !is_kind || !is_exact(table, column, dbms) {
                doubts.push(format!(
                    "`{}` may be equal to other values than its own text",
                    column.name
                ));
            }
            if relations
                .iter()
                .any(|(of, other)| **of == table.name && *other != at)
            {
                doubts.push(format!("its SQL reads `{}` twice", table.name.name));
            }
            if bound.contains(&(at, column.name.as_str())) {
                doubts.push(format!(
                    "several parameters are compared with `{}`",
                    column.name
                ));
            }
            bound.push((at, &column.name));
            relations.push((&table.name, at));
            let drawn_from = drawn.origins.iter().find(|(other, ..)| **other == **name);
            if drawn_from.is_none_or(|(_, of, from)| *of != table.name || *from != column.name) {
                doubts.push(format!(
                    "values of `{name}` were not drawn from `{}`",
                    column.name
                ));
            }
        }
        let own = pattern
            .parameters
            .iter()
            .filter(|one| !names.contains(&*one.name));
        doubts.extend(own.map(|one| format!("`{}` is no parameter of its SQL", one.name)));
        doubts.extend(shape.chance().map(str::to_owned));
        if is_fickle_query(&shape.query, ground.catalog) {
            let mut doubt = "its SQL may answer otherwise at another time".to_owned();
            let mut functions = shape.query.functions.iter();
            let own = functions.find(|name| ground.catalog.own_functions.contains(name));
            if let Some(word) = shape.query.unsteady.first().or(own) {
                doubt.push_str(&format!(", by `{word}`"));
            }
            doubts.push(doubt);
        }
        if self.may_expire(projections) {
            doubts.push("its items expire".to_owned());
        }
        if projections.iter().any(Projection::may_lack) {
            doubts.push(
                "an item may lack what a document gives under the name of a column".to_owned(),
            );
        }
        doubts.dedup();
        let surplus = self.surplus(shape, projections, doubts.is_empty());
        doubts.extend(surplus);
        doubts.extend(self.others(projections));
        doubts
    }

    /// What is known of the item types that its key finds.
    fn finds(&self) -> Option<&Claim> {
        let mut claims = self.proving.finds.iter();
        claims.find(|claim| claim.of.pattern.as_deref() == Some(&*self.pattern.name))
    }

    /// Why its key may find items of other types than those that come back.
    fn others(&self, projections: &[Projection]) -> Option<String> {
        let claim = self.finds()?;
        let is_other = |name: &&String| projections.iter().all(|one| *one.name != ***name);
        let others: Vec<&str> = claim
            .of
            .item_types
            .iter()
            .filter(is_other)
            .map(String::as_str)
            .collect();
        if others.is_empty() {
            return (!claim.is_proved()).then(|| claim.because.clone());
        }
        Some(format!("its key finds {} too", others.join(", ")))
    }

    /// What one side says and the other does not. `is_sure`: there is no other doubt.
    fn surplus(&self, shape: &Shape<'_>, projections: &[Projection], is_sure: bool) -> Vec<String> {
        let further = self.further(shape, projections);
        // Where there is a doubt already, the SQL may say in other words what the key says.
        let left_out = if is_sure && further.is_empty() {
            self.left_out(shape, projections)
        } else {
            Vec::new()
        };
        let all = [
            ("its SQL says more than the key", further),
            ("rows of its SQL may be left out of the items by", left_out),
            (
                "its SQL does not say what the item type's `where` or `$when` does",
                self.unsaid(shape, projections),
            ),
        ];
        let said = all.into_iter().filter(|(_, what)| !what.is_empty());
        said.map(|(begin, what)| format!("{begin}: {}", what.join(", ")))
            .collect()
    }

    /// What the SQL says beyond the pattern and the item types' own conditions.
    fn further(&self, shape: &Shape<'_>, projections: &[Projection]) -> Vec<String> {
        let ground = &self.proving.ground;
        let conditions: Vec<Vec<&str>> = projections
            .iter()
            .map(|one| self.conditions(one.item_type))
            .collect();
        let types = projections
            .iter()
            .filter_map(|one| ground.model.item_types.get(one.item_type));
        let bases = bases(shape, types.clone(), ground);
        let keyed: Vec<Keyed<'_>> = types.clone().map(|item| self.keyed(item)).collect();
        let needed = self.needed(types);
        shape.further(&conditions, &bases, &needed, &keyed, ground.catalog.dbms)
    }

    /// Columns of the item types' own tables without which none of them has the keys that the pattern asks for.
    pub(super) fn needed<'m>(&'m self, types: impl Iterator<Item = &'m ItemType>) -> Vec<&'m str> {
        let (model, pattern) = (&self.proving.ground.model, self.pattern);
        let needed = |item: &'m ItemType| -> Vec<&'m str> {
            let keys = keys(&model.table, pattern);
            let made = keys.filter_map(|key| item.template(&key.name));
            let values = made.flat_map(Template::mandatory);
            let values = values.filter(|value| !value.replaces_null());
            values
                .filter_map(|value| self.own_column(item, value))
                .collect()
        };
        let mut all = types.map(needed);
        let mut found = all.next().unwrap_or_default();
        all.for_each(|other| found.retain(|name| other.contains(name)));
        found
    }

    /// What the pattern's key condition has of an item type.
    pub(super) fn keyed<'m>(&'m self, item: &'m ItemType) -> Keyed<'m> {
        let (model, pattern) = (&self.proving.ground.model, self.pattern);
        let scan = model.passes.get(item.pass).map(|pass| &pass.scan);
        let sides = pattern.templates().filter_map(|(key, asked)| {
            let made = item.template(&key.name)?;
            Some(aligned(asked, made).pairs)
        });
        let pairs = sides.flatten().filter_map(|(_, asked, made)| {
            let (as_asked, as_made) = (writing(&asked.filters), writing(&made.filters));
            // Of a number it makes no difference who writes zeros before it.
            let is_alike = as_asked == as_made
                || matches!((&*as_asked, &*as_made), ([], [Filter::Pad { .. }]));
            let is_it = is_alike && made.place.path.is_empty();
            let parameter = pattern.parameters.get(asked.place.column)?;
            let column = self.own_column(item, made).filter(|_| is_it)?;
            Some((&*parameter.name, column))
        });
        Keyed {
            pairs: pairs.collect(),
            table: scan.and_then(|scan| match &scan.from {
                Relation::Table(table) => Some(table),
                Relation::Query(_) => None,
            }),
        }
    }

    /// The column of an item type's own table that a value of it is taken from.
    fn own_column<'m>(&'m self, item: &ItemType, value: &Placeholder) -> Option<&'m str> {
        let pass = self.proving.ground.model.passes.get(item.pass)?;
        match pass.scan.columns.get(value.place.column)? {
            ScanColumn::Column {
                join: None, name, ..
            } => Some(name),
            _ => None,
        }
    }

    /// Whether an item type has the TTL attribute.
    fn may_expire(&self, projections: &[Projection]) -> bool {
        let model = self.proving.ground.model;
        let Some(ttl) = &model.table.ttl else {
            return false;
        };
        projections.iter().any(|projection| {
            let item = model.item_types.get(projection.item_type);
            let mut attributes = item.into_iter().flat_map(|item| &item.attributes);
            // A document may give it too.
            attributes.any(|(name, _)| **name == **ttl) || !projection.spreads.is_empty()
        })
    }

    /// What a claim begins with where row security may hide rows of what the SQL reads; of a view, rows of any table.
    fn seen(&self, query: &Query) -> &'static str {
        let catalog = self.proving.ground.catalog;
        let is_hidden = |read: &Read| match table(catalog, read.schema.as_ref(), &read.name) {
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
    pub(super) async fn foresee(&self, source: &mut dyn Source) -> Result<(), Stop> {
        let (ground, pattern) = (self.proving.ground, self.pattern);
        if pattern.sql.is_none() {
            return Ok(());
        }
        let query = self.query(source)?;
        if let Err(name) = origins(&ground, pattern, &query) {
            return Err(Stop::Unproved(DrawError::Unknown(name).to_string()));
        }
        // MySQL's bare NULL is binary, and takes the collation of no text.
        let null = match source.dbms() {
            Dbms::Mysql | Dbms::Mariadb => "CAST(NULL AS CHAR)",
            Dbms::Postgres | Dbms::Sqlite => "NULL",
        };
        let nothing = query.sql.fill(&|_| Some(null.to_owned()));
        let columns = source.describe_answer(&nothing).await;
        let columns = columns.map_err(|error| refused("the source refuses its `sql`", &error))?;
        let shape = Shape::new(query, ground.catalog, &columns);
        let projections = self.projections(&shape, &columns)?;
        self.owners(&projections).map(drop)
    }

    /// The item types that come back, each held against the columns of the SQL.
    fn projections(&self, shape: &Shape<'_>, columns: &[Column]) -> Result<Vec<Projection>, Stop> {
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
        let found = self.finds().map(|claim| &claim.of.item_types);
        let is_found = |item: &ItemType| {
            if pattern.items.is_empty() {
                found.is_none_or(|found| found.iter().any(|name| **name == *item.name))
            } else {
                pattern.items.contains(&item.name)
            }
        };
        let types = ground.model.item_types.iter().enumerate();
        let types = types.filter(|(_, item)| is_found(item));
        let types: Vec<usize> = types.map(|(at, _)| at).collect();
        let own = types
            .iter()
            .filter_map(|at| ground.model.item_types.get(*at));
        let result = ResultOf::new(shape, columns, &own.collect::<Vec<_>>(), ground);
        let told_by = result.told_by;
        let projections = types
            .iter()
            .map(|at| Projection::new(ground, pattern, *at, &result));
        let projections: Result<Vec<Projection>, String> = projections.collect();
        let projections = projections.map_err(Stop::Unproved)?;
        if projections.is_empty() {
            return Err(Stop::Unproved("it finds no item type".to_owned()));
        }
        if projections.len() > 1 && told_by.is_none() && shape.query.selects.len() > 1 {
            return Err(Stop::Unproved(
                "its `sql` puts several SELECTs together and does not say of which item type a row is: select the item type's name as a constant, under the name of the type attribute".to_owned(),
            ));
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
        let held = |name: &str| holds(&model.table, self.pattern, name);
        match Owners::among(types, &model.table, &held) {
            Ok(owners) => Ok(Some(owners)),
            // Whole keys tell too: an item is of the type whose key it has.
            Err(_) if projections.iter().all(|one| one.by_key) => Ok(None),
            Err(error) => Err(Stop::Unproved(format!(
                "{error}, and its `sql` does not give their whole keys"
            ))),
        }
    }

    /// Tells of limits that cut two answers otherwise.
    fn limits(&mut self, query: &Query) {
        let own = self.pattern.limit.map(u64::from);
        let note = match &query.limit {
            Limit::None if own.is_none() => return,
            Limit::Rows(rows) if own == Some(*rows) && self.report.in_order => return,
            Limit::None | Limit::Rows(_) if self.report.in_order || query.limit == Limit::None => {
                let told =
                    |limit: Option<u64>| limit.map_or("none".to_owned(), |rows| rows.to_string());
                let sql = match query.limit {
                    Limit::Rows(rows) => Some(rows),
                    _ => None,
                };
                format!(
                    "its limit is {}, and that of its SQL {}",
                    told(own),
                    told(sql)
                )
            }
            _ if !self.report.in_order => {
                "its SQL has a LIMIT and no ORDER BY: which rows come back is chance".to_owned()
            }
            _ => "its SQL has a LIMIT whose number is not plain to see".to_owned(),
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
        call: &Call,
        shape: &Shape<'_>,
        columns: &[Column],
        judge: &Judge<'_>,
        reach: &mut Result<Reach, String>,
        unheld: &mut Unheld,
        source: &mut dyn Source,
        target: &dyn Target,
    ) -> Result<(), Stop> {
        let (ground, pattern) = (self.proving.ground, self.pattern);
        let rows = match source.ask(&call.sql(&shape.query.sql), columns).await {
            Ok(rows) => rows,
            // It is no value of the column's type.
            Err(SourceError::Query { .. })
                if matches!(call.why, Why::Variant | Why::Absent | Why::Beyond) =>
            {
                return Ok(());
            }
            Err(error) => return Err(refused("the source refuses its `sql`", &error)),
        };
        let may = kinds(source, ground.model, judge.projections, &rows).await;
        let may = may.map_err(|error| Stop::Failed(Failure::from(&error)))?;
        let plan = plan(pattern, &call.values, ground.context)
            .map_err(|error| Stop::Unproved(error.to_string()))?;
        if let Ok(reach) = reach {
            reach.ask(&plan);
        }
        let answer = answer(target, &ground.model.table, &plan, true).await;
        let answer = answer.map_err(|error| Stop::Failed(Failure::from(&error)))?;
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
        Ok(())
    }
}

/// What the SQL orders its rows by, as columns of the result.
fn ordered(query: &Query, columns: &[Column]) -> Option<Order> {
    let terms = query.order.as_ref()?;
    let found = terms.iter().map(|term| match &term.result {
        InResult::Number(number) => number.checked_sub(1).filter(|at| *at < columns.len()),
        InResult::Named(name) => {
            let all = columns.iter().enumerate();
            let mut named = all.filter(|(_, column)| column.name.eq_ignore_ascii_case(name));
            let first = named.next()?;
            named.next().is_none().then_some(first.0)
        }
        InResult::Expression => None,
    });
    let found: Vec<Option<usize>> = found.collect();
    Some(Order {
        is_known: found.iter().all(Option::is_some),
        columns: found.into_iter().flatten().collect(),
    })
}
