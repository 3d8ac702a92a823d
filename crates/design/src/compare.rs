//! What a mapping costs under a workload: a proposal, or a design of anybody else. The report of a design has its costs from
//! here too, so that both are reckoned alike.

mod conditions;
mod held;
mod made;
mod read;
mod rows;
mod served;
#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use dynafold_dynamodb::Index;
use dynafold_dynamodb::price::Prices;
use dynafold_format::{float, has_word, rounded, text_if, whole};
use dynafold_mapping::model::{
    AccessPattern, AttributeNode, Expired, ItemType, Model, SortCondition, Template, TemplatePart,
};
use dynafold_mapping::template::{Filter, Placeholder};
use dynafold_relational::catalog::{Catalog, Column, Dbms, ForeignKey, ReferentialAction, Table};
use dynafold_relational::scan::{Scan, ScanColumn};
use dynafold_sql::{
    Comparator, Constant, ReadTable, SqlQuery, WriteKind, WriteStatement, constant, identifier,
    table, write_statement,
};
use serde::Serialize;

use crate::add_references;
use crate::ask::{Ask, Asked, Equal, FigureQuery, Value, When, as_said, ask, figure_query};
use crate::facts::{Facts, Met, entries_changed, leads_to, rows, taken_out};
use crate::observed::Observed;
use crate::path::{Path, Step};
use crate::pricing::{MONTH, fetched, read_units, write_units};
use crate::seconds::{SecondRequest, TwoRequests};
use crate::workload::Statement;
use crate::writes::{SaidValues, Values};
use crate::{
    SHORT, counter_as_update, is_simple, rows_written, said_values, with_own_names, written_table,
};
use conditions::compared_loosely;
use held::{Held, Rows, Way};
use made::key_values;
use read::selects_function;
use served::not_read;

/// Tables in a row over which deletes are followed: a schema may go round in a circle.
const CASCADES: u8 = 4;

/// What a mapping serves of a workload, and for how much.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PricedMapping {
    /// What it is called.
    pub mapping: String,
    /// The reads of the workload, by name.
    pub reads: Vec<PricedRead>,
    /// The statements of the workload that write, by name.
    pub writes: Vec<PricedWrite>,
    /// The statements of the workload that are neither, or write what the schema does not have: their costs are not known.
    pub not_priced: Vec<NotPriced>,
    /// Global indexes.
    pub indexes: u64,
    /// US dollars a month for reads.
    pub usd_reads: f64,
    /// US dollars a month for writes, those of indexes and copies included.
    pub usd_writes: f64,
    /// US dollars a month for storage, that of indexes included.
    pub usd_storage: f64,
    /// All of it.
    pub usd_month: f64,
    /// US dollars for one Scan of the whole table, eventually consistent.
    #[serde(skip)]
    pub usd_scan: f64,
}

/// A read of the workload in a mapping.
#[derive(Debug, Clone, Serialize)]
pub struct PricedRead {
    /// The statement's name.
    pub name: String,
    /// How an access pattern of that name serves it; `None` where none does.
    pub served: Option<PricedRequest>,
    /// Why none serves it.
    pub why_not: Option<String>,
}

/// A statement that writes.
#[derive(Debug, Clone, Serialize)]
pub struct PricedWrite {
    /// The statement's name.
    pub name: String,
    /// Write units of one: those of the indexes, of copies and of figures included.
    pub units: f64,
    /// US dollars a month, with the reads that find items whose key it does not say.
    pub usd_month: f64,
    /// Whether a key of the table or of an index finds its rows. Otherwise only a Scan does, which is not priced.
    pub has_key: bool,
    /// Whether keys find the items of other rows that hold columns of the row by a `join`.
    pub copies_have_key: bool,
    /// US dollars a month of that for copies in items of other tables.
    #[serde(skip)]
    pub(crate) usd_copies: f64,
}

/// A statement that is not priced.
#[derive(Debug, Clone, Serialize)]
pub struct NotPriced {
    /// The statement's name.
    pub name: String,
    /// Why it is not priced.
    pub why: String,
}

/// How an access pattern serves a read.
#[derive(Debug, Clone, Serialize)]
pub struct PricedRequest {
    /// The index; `None` for the table itself.
    pub index: Option<String>,
    /// How many requests.
    pub requests: u64,
    /// Those of them that then read items by the keys that the index has given, or parents by the references in the answer.
    pub fetches: u64,
    /// Items that one answer reads; `None` where its SQL is not understood, and one is reckoned.
    pub items: Option<f64>,
    /// Read units of one answer.
    pub units: f64,
    /// US dollars a month.
    pub usd_month: f64,
    /// Whether it is strongly consistent, where the workload asks for that.
    pub consistent: Option<bool>,
    /// The columns that the read asks for by values, and that the database compares by a collation, or without blanks at the end: keys
    /// and filters compare them byte by byte, and may find fewer rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub byte_by_byte: Vec<String>,
    /// The columns without which a `<>` of the filter takes items too, which SQL leaves out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with_absent: Vec<String>,
    /// Whether the read asks for a mean, and the answer has the sum and the count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub divides: bool,
    /// Whether the read skips rows by OFFSET, and the answer is the first page: each next page starts after the last item of the previous
    /// one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub first_page: bool,
}

impl PricedMapping {
    /// The writes whose rows, or whose copies in items of other rows, no key finds: the costs do not include their Scans.
    pub fn scans(&self) -> Vec<String> {
        let lost = self.writes.iter().filter_map(|write| {
            let name = &write.name;
            match (write.has_key, write.copies_have_key) {
                (false, _) => Some(name.clone()),
                (true, false) => Some(format!("{name} (for items of other rows)")),
                (true, true) => None,
            }
        });
        lost.collect()
    }
}

/// ` without the Scans of pay, close`; nothing where there are none.
pub fn without_scans(names: &[String]) -> String {
    text_if(
        !names.is_empty(),
        format!(" without the Scans of {}", names.join(", ")),
    )
}

impl PricedRequest {
    /// The table or the index, and how many requests that takes.
    pub fn request_text(&self) -> String {
        let place = self.index.as_deref().unwrap_or("the table");
        let first = times(self.requests.saturating_sub(self.fetches));
        match self.fetches {
            0 => format!("{first}{place}"),
            fetches => format!("{first}{place}, {}by key", times(fetches)),
        }
    }
}

/// So many times a request; nothing for one.
pub(crate) fn times(requests: u64) -> String {
    match requests {
        0 | 1 => String::new(),
        several => format!("{several} × "),
    }
}

/// Prices a mapping. An access pattern serves the statement of its name, where both read some table.
pub fn price<S: Borrow<Statement>>(
    name: &str,
    catalog: &Catalog,
    model: &Model,
    statements: &[S],
    prices: &Prices,
    observed: &Observed,
) -> PricedMapping {
    let mut catalog = catalog.clone();
    add_references(&mut catalog, statements, observed);
    let catalog = &catalog;
    let (mut asked, mut written, mut not_priced) = (Vec::new(), Vec::new(), Vec::new());
    for statement in statements {
        let statement: &Statement = statement.borrow();
        let why = if let Some(write) = write_statement(&statement.sql, catalog.dbms) {
            let write = Written::of(statement, write, catalog);
            write.map(|write| written.push(write)).err()
        } else {
            let why = not_read(&statement.sql, catalog.dbms);
            if why.is_none() {
                asked.push(statement);
            }
            why
        };
        not_priced.extend(why.map(|why| NotPriced {
            name: statement.name.clone(),
            why,
        }));
    }
    not_priced.sort_by(|a, b| a.name.cmp(&b.name));
    written.sort_by(|a, b| a.name.cmp(b.name));
    let priced = Priced::new(Facts { catalog, observed }, model, &written);
    let writes = written.iter().map(|one| priced.write(one, prices));
    let writes: Vec<PricedWrite> = writes.collect();
    let mut reads = Vec::new();
    for statement in asked {
        let rate = statement.rate.unwrap_or(1.0);
        let mut patterns = model.patterns.iter();
        let pattern = patterns.find(|pattern| *pattern.name == *statement.name);
        let two = TwoRequests::of_model(model, (catalog, observed), statement);
        let why_not = match pattern {
            None => Some("no access pattern has its name".to_owned()),
            Some(_) if two.is_some() => None,
            Some(pattern) => priced.lacks(pattern, statement),
        };
        let pattern = pattern.filter(|_| why_not.is_none());
        let served = pattern.map(|pattern| {
            let mut request = priced.read(pattern, statement);
            for second in two.iter().flat_map(|two| &two.seconds) {
                priced.add_second(&mut request, second);
            }
            let units = request.units * rate * MONTH;
            request.usd_month = prices.reads(units).unwrap_or_default();
            request.consistent = statement.strong.then_some(pattern.consistent);
            request
        });
        let name = statement.name.clone();
        reads.push(PricedRead {
            name,
            served,
            why_not,
        });
    }
    reads.sort_by(|a, b| a.name.cmp(&b.name));
    // In the order of their names, so that the statements' own does not matter. The sum of nothing is -0.0.
    let served = reads.iter().filter_map(|read| read.served.as_ref());
    let usd_reads = served.fold(0.0, |sum, served| sum + served.usd_month);
    let usd_writes = writes.iter().fold(0.0, |sum, write| sum + write.usd_month);
    let usd_storage = prices.storage(priced.stored()).unwrap_or_default();
    let scan = read_units(priced.scanned()) * 0.5;
    PricedMapping {
        mapping: name.to_owned(),
        reads,
        writes,
        not_priced,
        indexes: whole(model.table.indexes.len()),
        usd_reads,
        usd_writes,
        usd_storage,
        usd_month: usd_reads + usd_writes + usd_storage,
        usd_scan: prices.reads(scan).unwrap_or_default(),
    }
}

struct Priced<'d> {
    facts: Facts<'d>,
    model: &'d Model,
    types: Vec<ItemScan<'d>>,
    written: &'d [Written<'d>],
    /// The tables that queries within conditions read, by the condition.
    read_by: BTreeMap<&'d str, Vec<&'d Table>>,
}

/// An item type with the scan that gives its rows.
#[derive(Clone, Copy)]
struct ItemScan<'d> {
    item: &'d ItemType,
    scan: &'d Scan,
    /// The table of the rows; `None` of a query's.
    table: Option<&'d Table>,
}

/// A statement that writes.
struct Written<'w> {
    name: &'w str,
    /// How often it is sent a second.
    rate: f64,
    table: &'w Table,
    /// The rows that it writes.
    rows: f64,
    write: WriteStatement,
    said: SaidValues,
}

impl<'w> Written<'w> {
    /// Fails as [`written_table`] does.
    fn of(
        statement: &'w Statement,
        write: WriteStatement,
        catalog: &'w Catalog,
    ) -> Result<Self, String> {
        let table =
            written_table(&write, catalog).map_err(|refused| format!("it {}", refused.why))?;
        let write = with_own_names(write, table, catalog.dbms);
        let write = counter_as_update(write, table, catalog.dbms);
        Ok(Self {
            name: &statement.name,
            rate: statement.rate.unwrap_or(1.0),
            table,
            rows: rows_written(&write, table),
            said: said_values(&write, table, catalog.dbms),
            write,
        })
    }

    fn row(&self) -> RowWrite<'_> {
        RowWrite {
            table: self.table,
            kind: self.write.kind,
            columns: &self.write.columns,
            said: &self.said,
        }
    }
}

/// A row that a statement writes.
struct RowWrite<'w> {
    table: &'w Table,
    kind: WriteKind,
    /// The columns that an UPDATE sets; none where they are not known.
    columns: &'w [String],
    said: &'w SaidValues,
}

impl<'d> ItemScan<'d> {
    /// Whether its items are rows of a table.
    fn is_of(&self, table: &Table) -> bool {
        self.table.is_some_and(|own| own.name == table.name)
    }

    /// The conditions by which its items stand in an index. Keys of one condition are there together.
    fn conditions_of_index(&self, index: &Index) -> BTreeSet<&'d str> {
        let nodes = index.key().filter_map(|key| self.item.node(&key.name));
        let conditions = nodes.flat_map(|node| flags(node, self.scan));
        conditions.collect()
    }

    /// The values without which it lacks a key attribute.
    fn needed(&self, key: &str) -> impl Iterator<Item = &'d Placeholder> {
        let template = self.item.template(key).into_iter();
        let values = template.flat_map(Template::mandatory);
        values.filter(|value| !value.replaces_null())
    }

    /// Whether what is said gives a partition key. All shards are asked. One that all rows share finds them too, if they are all wanted
    /// or few.
    fn finds(&self, key: &str, is_said: &dyn Fn(&Placeholder) -> bool, takes_all: bool) -> bool {
        let template = self.item.template(key);
        let values = || template.into_iter().flat_map(Template::placeholders);
        self.item.node(key).is_some()
            && values().all(|value| value.shards().is_some() || is_said(value))
            && (takes_all || values().any(is_said))
    }

    /// Whether all of its rows with values in these columns have a key attribute, as far as they meet its condition.
    fn is_never_absent(&self, key: &str, columns: &[String]) -> bool {
        let Some(template) = self.item.template(key) else {
            return false;
        };
        let mut mandatory = template.mandatory();
        mandatory.all(|value| {
            let at = value.place.column;
            let name = self.scan.own_column(at);
            let column = name.and_then(|name| self.table?.column(name));
            let is_whole = value.place.path.is_empty()
                && (is_said(self.scan, at, columns) || column.is_some_and(Column::is_never_absent));
            value.replaces_null() || is_whole
        })
    }
}

impl RowWrite<'_> {
    fn sets(&self, column: &str) -> bool {
        is_named(self.columns, column)
    }

    /// Whether this, of an UPDATE, sets a column that one of these conditions names.
    fn decides(&self, conditions: &BTreeSet<&str>) -> bool {
        let mut conditions = conditions.iter();
        !self.columns.is_empty() && conditions.any(|condition| self.concerns(condition))
    }

    /// Whether it may change what a condition says, if that reads its table.
    fn concerns(&self, condition: &str) -> bool {
        let mut columns = self.columns.iter();
        self.kind != WriteKind::Update
            || self.columns.is_empty()
            || columns.any(|column| has_word(condition, column))
    }
}

impl<'d> Priced<'d> {
    fn new(facts: Facts<'d>, model: &'d Model, written: &'d [Written<'d>]) -> Self {
        let catalog = facts.catalog;
        let scans = model.passes.iter().map(|pass| &pass.scan);
        let conditions = scans.flat_map(|scan| {
            let flags = scan.columns.iter().filter_map(|column| match column {
                ScanColumn::Flag(condition) => Some(condition.as_str()),
                _ => None,
            });
            flags.chain(scan.conditions.iter().map(String::as_str))
        });
        let conditions = conditions.filter(|condition| !is_simple(condition));
        let read_by = conditions.map(|condition| {
            let sql = format!("SELECT 1 WHERE {condition}");
            let tables: Vec<&Table> = match SqlQuery::read(&sql, Some(catalog.dbms)) {
                Ok(query) => {
                    let tables = query.tables.iter();
                    let found = |read: &ReadTable| table(catalog, read.schema.as_ref(), &read.name);
                    tables.filter_map(found).collect()
                }
                // Of what is not understood each table may be read that it names.
                Err(_) => {
                    let tables = catalog.tables.iter();
                    let is_named = |table: &&Table| has_word(condition, &table.name.name);
                    tables.filter(is_named).collect()
                }
            };
            (condition, tables)
        });
        let types = model.item_types.iter().filter_map(|item| {
            let scan = &model.passes.get(item.pass)?.scan;
            let table = facts.table_of(scan);
            Some(ItemScan { item, scan, table })
        });
        Self {
            facts,
            model,
            types: types.collect(),
            written,
            read_by: read_by.collect(),
        }
    }

    /// Prices a statement that writes.
    fn write(&self, written: &Written<'_>, prices: &Prices) -> PricedWrite {
        let (table, write) = (written.table, &written.write);
        let (rate, rows) = (written.rate, written.rows);
        let row = written.row();
        let of_copies = rows * self.copies(&row);
        let mut units = of_copies + rows * self.own(&row);
        if write.kind == WriteKind::Delete {
            units += rows * self.cascaded(table, CASCADES);
        }
        let is_new = write.kind == WriteKind::Insert;
        let searches = !is_new && self.must_search(table, &write.columns, &write.found_by);
        let search = if searches {
            self.search(written)
        } else {
            Some(0.0)
        };
        let reads = rows * search.unwrap_or_default();
        let usd_month = prices.writes(units * rate * MONTH).unwrap_or_default()
            + prices.reads(reads * rate * MONTH).unwrap_or_default();
        PricedWrite {
            name: written.name.to_owned(),
            units,
            usd_month,
            has_key: search.is_some(),
            copies_have_key: self.copies_have_key(&row),
            usd_copies: prices.writes(of_copies * rate * MONTH).unwrap_or_default(),
        }
    }

    /// Adds a second request.
    fn add_second(&self, request: &mut PricedRequest, second: &SecondRequest) {
        let mut patterns = self.model.patterns.iter();
        let Some(pattern) = patterns.find(|pattern| *pattern.name == *second.statement.name) else {
            return;
        };
        let each = self.read(pattern, &second.statement);
        request.units += second.parents * each.units;
        // Half a unit reads 4 KB.
        let (_, batches) = fetched(second.parents, each.units * 2.0 * 4_096.0);
        request.requests += whole(rounded(batches));
        request.fetches += whole(rounded(batches));
    }

    /// The items of an item type.
    fn items(&self, one: ItemScan<'_>) -> f64 {
        let pass = self.model.passes.get(one.item.pass);
        let known = pass.and_then(|pass| pass.estimated_rows).map(float);
        let groups = || self.groups(one.scan, &|_| false);
        let counted = one.table.map(rows).or(known).or_else(groups);
        counted.unwrap_or(1_000.0) * self.made(one, &Values::new())
    }

    /// The share of rows with these values that make an item of this type: those that meet its `where`.
    fn made(&self, one: ItemScan<'_>, values: &Values) -> f64 {
        self.met(one, values).of_all()
    }

    /// How many rows with these values meet an item type's `where`.
    fn met(&self, one: ItemScan<'_>, values: &Values) -> Met {
        let condition = self.model.condition(one.item).zip(one.table);
        condition.map_or(Met::ALL, |(condition, table)| {
            self.facts.met(condition, one.scan, table, values)
        })
    }

    /// The groups that a scan gives figures of, with one value of those that are given; `None` where it gives none.
    fn groups(&self, scan: &Scan, is_given: &dyn Fn(&String) -> bool) -> Option<f64> {
        let figures = self.figures(scan)?;
        let base = self.facts.catalog.table(&figures.base)?;
        let values = |groups: &mut dyn Iterator<Item = &String>| {
            let values = groups.map(|group| self.facts.distinct(&Path::own(group), base));
            values.product::<f64>()
        };
        let all = values(&mut figures.groups.iter()).min(rows(base));
        let given = values(&mut figures.groups.iter().filter(|group| is_given(group)));
        Some((all / given).max(1.0))
    }

    /// The bytes of an item in the table, or in an index.
    fn bytes(&self, one: ItemScan<'_>, index: Option<&Index>) -> f64 {
        self.new_bytes(one, index, &Values::new())
    }

    /// The same of a new item whose row has these values: an attribute of NULL alone is not there.
    fn new_bytes(&self, one: ItemScan<'_>, index: Option<&Index>, values: &Values) -> f64 {
        let ItemScan { item, scan, .. } = one;
        let is_null = |node: &AttributeNode| {
            let single = node.template().and_then(Template::single);
            let single = single.filter(|one| !one.replaces_null());
            let value = single.and_then(|one| values.get(scan.own_column(one.place.column)?));
            matches!(value, Some(Constant::Null))
        };
        let nodes = item.attributes.iter();
        let nodes = nodes.filter(|(name, node)| self.holds(index, name) && !is_null(node));
        let each = nodes.map(|(name, node)| float(whole(name.len())) + self.node(node, scan));
        each.sum()
    }

    /// Whether the table, or an index, holds an attribute.
    fn holds(&self, index: Option<&Index>, name: &str) -> bool {
        index.is_none_or(|index| self.model.table.projects(index, name))
    }

    fn node(&self, node: &AttributeNode, scan: &Scan) -> f64 {
        let mut bytes = 0.0;
        node.visit(&mut |node| {
            bytes += match node {
                AttributeNode::Template(template) => self.template(template, scan),
                AttributeNode::Constant(_) => 8.0,
                AttributeNode::Map { members, spreads } => {
                    let names = members.iter().map(|(name, _)| float(whole(name.len())));
                    names.sum::<f64>() + 64.0 * float(whole(spreads.len()))
                }
                AttributeNode::Embed(embed) => {
                    let Some(ScanColumn::Embed(children)) = scan.columns.get(embed.column) else {
                        return;
                    };
                    let parents = self.facts.table_of(scan).map_or(1.0, rows);
                    let child = self.facts.table_of(&children.rows).map_or(1_000.0, rows);
                    child / parents * (self.node(&embed.each, &children.rows) + 4.0)
                }
                _ => 0.0,
            };
        });
        bytes
    }

    fn template(&self, template: &Template, scan: &Scan) -> f64 {
        let is_alone = template.single().is_some();
        let parts = template.flat().into_iter().map(|part| match part {
            TemplatePart::Text(text) => float(whole(text.len())),
            TemplatePart::Value(value) => {
                let own = self.column(value, scan).map(|(table, column)| {
                    if is_alone && value.filters.is_empty() {
                        self.facts.value(table, column)
                    } else {
                        self.facts.text(table, column)
                    }
                });
                let filters = value.filters.iter();
                filters.fold(own.unwrap_or(16.0), filtered)
            }
            TemplatePart::Optional(_) => 0.0,
        });
        parts.sum()
    }

    fn index(&self, name: Option<&str>) -> Option<&'d Index> {
        name.and_then(|name| self.model.table.index(name))
    }

    /// The item types that an access pattern answers.
    fn answered(&self, pattern: &AccessPattern) -> impl Iterator<Item = ItemScan<'d>> {
        let names = &pattern.items;
        let all = self.types.iter().copied();
        all.filter(move |one| names.is_empty() || names.contains(&one.item.name))
    }

    /// One request of an access pattern. What its key does not ask for is read in vain.
    fn read(&self, pattern: &AccessPattern, statement: &Statement) -> PricedRequest {
        let (catalog, observed) = (self.facts.catalog, self.facts.observed);
        // Literals of an access pattern are meant: its key has them, or its index the rows that meet them.
        let sql = pattern.sql.as_deref();
        let own = sql.and_then(|sql| as_said(sql, catalog, observed, false).ok());
        let of_statement = ask(&statement.sql, catalog, observed).unwrap_or_default();
        let asks = own.unwrap_or_else(|| of_statement.clone());
        let index = self.index(pattern.index.as_deref());
        let types: Vec<ItemScan<'_>> = self.answered(pattern).collect();
        // Figures that a query makes are items of their own.
        let is_query = |one: &ItemScan<'_>| one.scan.from.sql().is_some();
        let kept = types.first().filter(|_| types.iter().all(is_query));
        let main = asks.first().map(|ask| ask.root);
        let asked = AskedKey::of(pattern, &types, main);
        // Where a row has several items, a limit counts each.
        let is_main = |one: &&ItemScan<'_>| main.is_some_and(|main| one.is_of(main));
        let of_row = whole(types.iter().filter(is_main).count()).max(1);
        // Of a list either its value is in the key, or all of it in a filter.
        let has_values = sql.is_some_and(|sql| sql.contains(" IN ("));
        let has_list = has_values || asks.iter().any(|ask| ask.requests > 1);
        let is_chosen = |ask: &&Ask<'_>| asked.gives_all(ask, &[]);
        let chosen = asks.iter().filter(|_| has_list).find(is_chosen);
        let chosen = chosen.or(asks.first());
        let found = chosen.map(|ask| match kept {
            Some(one) if ask.computes => {
                let is_given = |group: &String| {
                    let mut equal = ask.equal.iter();
                    let equal = equal.find(|equal| equal.path == Path::own(group));
                    equal.is_some_and(|equal| asked.gives(equal))
                };
                let limit = pattern.limit.filter(|_| pattern.filter.is_none());
                let groups = self.groups(one.scan, &is_given);
                let all = groups.unwrap_or_else(|| {
                    let all = self.items(*one);
                    if ask.equal.is_empty() { all } else { 1.0 }
                });
                all.min(limit.map_or(f64::INFINITY, f64::from))
            }
            _ => self.found(ask, &asked, pattern, of_row),
        });
        let (mut items, mut bytes) = (0.0, 0.0);
        // Items that are then read by their keys: their units, their number and their bytes.
        let mut then = (0.0, 0.0, 0.0);
        for one in &types {
            let found = found.unwrap_or(1.0);
            let count = main.zip(one.table);
            let count = count.map_or(found, |(main, own)| self.beside(own, main, found));
            items += count;
            bytes += count * self.bytes(*one, index);
            if pattern.fetch {
                let limit = pattern.limit.map(|limit| u64::from(limit).div_ceil(of_row));
                let limit = limit.map_or(f64::INFINITY, float);
                let (count, each) = (count.min(limit), self.bytes(*one, None));
                let units = fetched(count, each).0;
                then = (then.0 + units, then.1 + count, then.2 + count * each);
            }
        }
        let fetches = fetched(then.1, then.2 / then.1.max(1.0)).1;
        let fetches = if pattern.fetch { fetches } else { 0.0 };
        for one in &self.types {
            if let Some((own, main)) = one.table.zip(main)
                && is_read_in_vain(one.item, pattern)
            {
                bytes += self.beside(own, main, found.unwrap_or(1.0)) * self.bytes(*one, index);
            }
        }
        let each = pattern.read_unit();
        let requests = float(u64::from(pattern.shards.unwrap_or(1)));
        let lists = chosen.map_or(1, |ask| ask.requests);
        let requests = requests * float(lists) * (bytes / 1_048_576.0).ceil().max(1.0);
        // The access pattern is asked again for each value of a list that its own SQL does not have.
        // What is neither in the key nor in a filter, the application asks of the answer.
        let is_asked = |ask: &&Ask<'_>| pattern.filter.is_some() || asked.gives_all(ask, &asks);
        let asked_for = |ask: &&Ask<'_>| !has_list && is_asked(ask);
        let times = of_statement.iter().filter(asked_for);
        let times = float(times.map(|ask| ask.requests).max().unwrap_or(1));
        let units = (read_units(bytes) * each).max(requests * each);
        PricedRequest {
            index: pattern.index.as_ref().map(ToString::to_string),
            requests: rounded((requests + fetches * float(lists)) * times),
            fetches: rounded(fetches * float(lists) * times),
            items: found.map(|_| items * times),
            units: (units + then.0 * 2.0 * each * float(lists)) * times,
            usd_month: 0.0,
            consistent: None,
            byte_by_byte: compared_loosely(&of_statement, catalog),
            with_absent: main.map_or_else(Vec::new, |main| self.absent(pattern, main)),
            divides: self.divides(pattern, statement, kept),
            first_page: is_first_page(pattern, &asks, &of_statement),
        }
    }

    /// Whether a statement asks for a mean, and SQL of an access pattern, or without it that of its items, for sums alone.
    fn divides(
        &self,
        pattern: &AccessPattern,
        statement: &Statement,
        kept: Option<&ItemScan<'_>>,
    ) -> bool {
        let has =
            |sql: &str, function: &str| selects_function(sql, function, self.facts.catalog.dbms);
        let of_items = kept.and_then(|one| one.scan.from.sql());
        let own = pattern.sql.as_deref().or(of_items);
        own.is_some_and(|own| has(&statement.sql, "avg") && has(own, "sum") && !has(own, "avg"))
    }

    /// The items that the key condition finds.
    fn found(
        &self,
        ask: &Ask<'d>,
        asked: &AskedKey<'_>,
        pattern: &AccessPattern,
        of_row: u64,
    ) -> f64 {
        let mut found = ask.clone();
        found.equal.retain(|equal| asked.gives(equal));
        // Names of its own, where there is no SQL that says what they are.
        if found.equal.is_empty() && !ask.children.is_empty() {
            found.equal.clone_from(&ask.equal);
        }
        if !asked.gives_range(ask) {
            found.range = None;
        }
        // A sparse index has the rows that meet the conditions which the filter does not ask for.
        let is_filter = |when: &When| {
            let mut filters = when.filter.iter();
            filters.any(|filter| asked.filters(&filter.path))
        };
        found.when.retain(|when| !is_filter(when));
        if pattern.sql.is_none() {
            // Other conditions of the read the application tests.
            let rows = self.rows_of(pattern, ask.root);
            let own = rows.iter().filter(|one| one.of.is_of(ask.root));
            let limited = |when: &When| own.clone().any(|one| one.limits(when));
            found.when.retain(limited);
            found
                .equal
                .retain(|equal| equal.when.as_ref().is_none_or(limited));
        }
        let all = self.facts.found_in_all(&found);
        let all = if pattern.is_whole_key() { 1.0 } else { all };
        // A filter reads on until the limit is full.
        let limit = pattern.limit.map(|limit| u64::from(limit).div_ceil(of_row));
        let limit = limit.or(ask.limit);
        let answered = self.facts.found_in_all(ask) * self.facts.passing_all(ask);
        let passing = match pattern.filter {
            Some(_) => (answered / all).min(1.0),
            None => 1.0,
        };
        all.min(limit.map_or(f64::INFINITY, float) / passing)
    }

    /// The items of a table that stand with so many of the one that is asked for: of its children their mean number, of its
    /// parents those that these items lead to.
    fn beside(&self, own: &Table, main: &Table, found: f64) -> f64 {
        if own.name == main.name {
            return found;
        }
        let mut keys = main.foreign_keys.iter();
        match keys.find(|key| key.references == own.name) {
            Some(key) => {
                let values = key.columns.iter();
                let values = values.map(|column| self.facts.distinct(&Path::own(column), main));
                let parents = values.product::<f64>().min(rows(own));
                (found * parents / rows(main)).max(1.0).min(found.max(1.0))
            }
            None => rows(own) / rows(main) * found,
        }
    }

    /// The figures that an item type holds, where a query over one table makes its items.
    fn figures(&self, scan: &Scan) -> Option<FigureQuery> {
        figure_query(scan.from.sql()?, self.facts.catalog, self.facts.observed)
    }

    /// Write units of the rows that the database deletes with a row, by ON DELETE CASCADE over so many tables in a row, or changes, by
    /// ON DELETE SET NULL and SET DEFAULT.
    fn cascaded(&self, table: &Table, further: u8) -> f64 {
        let Some(further) = further.checked_sub(1) else {
            return 0.0;
        };
        let deleted = self.facts.cascading(table).map(|(child, each)| {
            let row = RowWrite {
                table: child,
                kind: WriteKind::Delete,
                columns: &[],
                said: &SaidValues::default(),
            };
            each * (self.own(&row) + self.copies(&row) + self.cascaded(child, further))
        });
        let tables = self.facts.catalog.tables.iter();
        let changed = tables.filter(|child| child.is_stored()).map(|child| {
            let keys = child.foreign_keys.iter();
            let changed = keys.filter(|key| key.references == table.name && is_changed(key));
            let updates = changed.filter_map(|key| {
                let said = unset(key, child, self.facts.catalog.dbms);
                let columns: Vec<String> = said.after.keys().cloned().collect();
                let row = RowWrite {
                    table: child,
                    kind: WriteKind::Update,
                    columns: &columns,
                    said: &said,
                };
                // Rows without a parent stay as they are.
                let units =
                    || self.facts.referring(child, key) * (self.own(&row) + self.copies(&row));
                (!columns.is_empty()).then(units)
            });
            rows(child) / rows(table) * updates.sum::<f64>()
        });
        deleted.sum::<f64>() + changed.sum::<f64>()
    }

    /// Write units of one row in the table and its indexes, for its own items and those with figures of it.
    fn own(&self, row: &RowWrite<'_>) -> f64 {
        let items = self.types.iter().filter_map(|one| {
            let ItemScan { item, scan, table } = *one;
            if table.is_some_and(|own| own.name != row.table.name) {
                return None;
            }
            let figures = self.figures(scan).filter(|of| of.base == row.table.name);
            let changes = |held: &Held<'_>| match (held.table, &figures) {
                (Some(table), _) => {
                    held.copy.is_none() && *table == row.table.name && row.sets(held.column)
                }
                (None, Some(figures)) => !figures.groups.iter().any(|group| group == held.column),
                (None, None) => false,
            };
            let touched = |node: &AttributeNode| self.is_any(node, scan, &changes);
            let is_inside = || item.attributes.iter().any(|(_, node)| touched(node));
            let (before, after) = (&row.said.before, &row.said.after);
            let (times, new) = match (&figures, row.kind) {
                (Some(figures), kind) => (figures.times(kind, row.columns), None),
                (None, _) if table.is_none() => return None,
                (None, WriteKind::Insert) => (self.made(*one, after), Some(after)),
                (None, WriteKind::Delete) => (self.made(*one, before), Some(before)),
                (None, WriteKind::Update) => {
                    let met = [before, after].map(|values| self.met(*one, values));
                    let [was, is] = met.map(Met::of_all);
                    if was == 0.0 && is == 0.0 {
                        return None;
                    }
                    // Of an update that its `where` asks for, the item comes or goes.
                    let condition = self.model.condition(item).into_iter().collect();
                    if row.decides(&condition) && was.min(is) < 1.0 {
                        let stays = f64::from(u8::from(is_inside()));
                        let of_item = |values: &Values| self.met(*one, values);
                        let taken_out = || self.taken_out(scan, &condition, &of_item);
                        let times = entries_changed(met, stays, taken_out);
                        (times, Some(if is < was { before } else { after }))
                    } else if row.columns.is_empty() || is_inside() {
                        // Of an update whose columns are not known, the item itself is written. The row stays in its item type.
                        (was, None)
                    } else {
                        return None;
                    }
                }
            };
            let of_row = figures.is_none().then_some(row);
            Some(times * self.put(*one, new, (of_row, 1.0), &touched))
        });
        items.fold(0.0, |sum, units| sum + units)
    }

    /// Write units of one row in the table and its indexes, for the items of other rows: copies of a parent's columns, children in
    /// their parent, and those that a condition on the row decides about.
    fn copies(&self, row: &RowWrite<'_>) -> f64 {
        let items = self.types.iter().filter_map(|one| {
            let item = one.item;
            let ways = |node: &AttributeNode| self.ways(Some(node), *one, row);
            let nodes = item.attributes.iter();
            let mut all: BTreeMap<Option<Way>, f64> =
                nodes.flat_map(|(_, node)| ways(node)).collect();
            let touched = |node: &AttributeNode| !ways(node).is_empty();
            let by_where = self.ways(None, *one, row);
            // By its `where` an item comes or goes with all its entries.
            let (none, comes) = (Values::new(), !by_where.is_empty());
            all.extend(by_where);
            let nodes = item.attributes.iter().filter(|(_, node)| touched(node));
            let shares = nodes.map(|(_, node)| self.share_having(node, *one, row));
            let share = shares.fold(f64::from(u8::from(comes)), f64::max);
            let units = || self.put(*one, comes.then_some(&none), (None, share), &touched);
            (!all.is_empty()).then(|| all.values().sum::<f64>() * units())
        });
        items.fold(0.0, |sum, units| sum + units)
    }

    /// The share of the items that have an attribute which a write of another row changes: those that meet its condition, if that is
    /// about the item's own row alone.
    fn share_having(&self, node: &AttributeNode, one: ItemScan<'_>, row: &RowWrite<'_>) -> f64 {
        let scan = one.scan;
        let condition = match node {
            AttributeNode::When { flag, .. } => scan.columns.get(*flag),
            _ => None,
        };
        let is_own = |condition: &str| {
            let mut joins = scan.joins.iter();
            !row.concerns(condition) && !joins.any(|join| has_word(condition, &join.alias))
        };
        match (condition, one.table) {
            (Some(ScanColumn::Flag(condition)), Some(table)) if is_own(condition) => {
                let met = self.facts.met(condition, scan, table, &Values::new());
                met.of_all()
            }
            _ => 1.0,
        }
    }

    /// Whether a key finds the items of other rows that a write changes, by the references to the row or by its own columns.
    fn copies_have_key(&self, row: &RowWrite<'_>) -> bool {
        self.types.iter().all(|one| {
            let nodes = one.item.attributes.iter();
            let ways = nodes.flat_map(|(_, node)| self.ways(Some(node), *one, row));
            let mut joins = ways.filter_map(|(way, _)| match way {
                Some((0, join)) => join,
                _ => None,
            });
            joins.all(|join| self.has_way_back(*one, join))
        })
    }

    /// Whether keys find the items whose rows lead to a joined parent, and the rows of the parents between.
    fn has_way_back(&self, one: ItemScan<'_>, join: usize) -> bool {
        let is_found = |one: ItemScan<'_>, is_said: &dyn Fn(&Placeholder) -> bool| {
            let few = one.table.is_some_and(|table| rows(table) <= SHORT);
            let has_key = |key: &str| one.finds(key, is_said, few);
            let is_whole = |index: &Index| one.conditions_of_index(index).is_empty();
            self.is_found(&has_key, &is_whole)
        };
        let joins = &one.scan.joins;
        let Some(on) = joins.get(join).map(|join| &join.on) else {
            return true;
        };
        let way = way(one.scan, Some(join));
        let is_told = |value: &Placeholder| {
            let path = path(value, one.scan);
            path.is_some_and(|path| path.is_told_by(&way))
        };
        if is_found(one, &is_told) {
            return true;
        }
        let before = on.iter().find_map(|one| one.join);
        let Some(before) = before.filter(|before| *before < join) else {
            return false;
        };
        let ours: Vec<String> = on.iter().map(|one| one.ours.clone()).collect();
        let between = joins.get(before).map(|join| &join.table);
        let mut others = self.types.iter();
        others.any(|other| {
            let is_said = |value: &Placeholder| is_said(other.scan, value.place.column, &ours);
            other.scan.from.table() == between && is_found(*other, &is_said)
        }) && self.has_way_back(one, before)
    }

    /// Whether a partition key is said, of the table or of an index that has all items.
    fn is_found(&self, is_said: &dyn Fn(&str) -> bool, is_whole: &dyn Fn(&Index) -> bool) -> bool {
        let mut indexes = self.model.table.all_indexes();
        is_said(&self.model.table.partition.name)
            || indexes.any(|index| {
                is_whole(index) && index.partition.iter().all(|key| is_said(&key.name))
            })
    }

    /// By which ways a write of another row changes an attribute, or without one the item type's `where`, each with the number of items,
    /// about; `None` is the way of a query within a condition.
    fn ways(
        &self,
        node: Option<&AttributeNode>,
        one: ItemScan<'_>,
        row: &RowWrite<'_>,
    ) -> BTreeMap<Option<Way>, f64> {
        let mut ways = BTreeMap::new();
        // Rows that its `where` leaves out may come.
        let made = node.map_or_else(|| self.made(one, &Values::new()), |_| 1.0);
        let rows = Rows::of(one.scan, self.items(one) / made);
        let mut see = |held: Held<'_>| {
            let is_it = held.table == Some(&row.table.name);
            let copy = held.copy.filter(|copy| {
                is_it
                    && match row.kind {
                        WriteKind::Update => row.sets(held.column),
                        WriteKind::Insert | WriteKind::Delete => copy.may_come,
                    }
            });
            ways.extend(copy.map(|copy| (Some(copy.way), copy.items)));
        };
        let conditions = match node {
            Some(node) => {
                self.facts.each_column(node, rows, &mut see);
                flags(node, one.scan)
            }
            None => {
                let conditions = Vec::from_iter(self.model.condition(one.item));
                for condition in &conditions {
                    self.facts.each_in_condition(condition, rows, &mut see);
                }
                conditions
            }
        };
        let queried = conditions.iter();
        let queried = queried.filter_map(|condition| self.items_by_query(condition, one, row));
        ways.extend(queried.map(|items| (None, items)));
        ways
    }

    /// Whether a statement whose WHERE holds these columns of a table equal to something must find the items first: they do not
    /// say the table's own key of each item type that it writes.
    fn must_search(&self, table: &Table, columns: &[String], found_by: &[String]) -> bool {
        let mut items = self.items_written(table, columns);
        items.any(|one| {
            let nodes = self.model.table.key();
            let nodes = nodes.filter_map(|key| one.item.node(&key.name));
            let mut places = nodes.flat_map(AttributeNode::places);
            !places.all(|place| is_said(one.scan, place.column, found_by))
        })
    }

    /// Read units of the search, for one row; `None` where the statement gives a partition key of some item type that it writes neither
    /// in the table nor in an index, nor that of another item of the row, which stands beside it or holds what its key is made of. What
    /// writes all rows finds them by a key that all share, too.
    fn search(&self, written: &Written<'_>) -> Option<f64> {
        let (table, write) = (written.table, &written.write);
        let partition = &self.model.table.partition.name;
        let before = &written.said.before;
        let is_found = |one: ItemScan<'_>| {
            let takes_all = write.finds_all || rows(table) <= SHORT;
            let found_by = write.found_by.as_slice();
            let is_said = |value: &Placeholder| is_said(one.scan, value.place.column, found_by);
            let has_key = |key: &str| one.finds(key, &is_said, takes_all);
            // An index lacks the items without one of its key attributes.
            let is_whole = |index: &Index| {
                let mut conditions = one.conditions_of_index(index).into_iter();
                let mut key = index.key();
                conditions.all(|said| self.facts.is_surely_met(said, one.scan, table, before))
                    && key.all(|key| one.is_never_absent(&key.name, found_by))
            };
            self.is_found(&has_key, &is_whole)
        };
        let beside = |item: &ItemType| item.template(partition).map(ToString::to_string);
        let mut items = self.items_written(table, &write.columns);
        items.try_fold(0.5_f64, |most, one| {
            if is_found(one) {
                return Some(most);
            }
            let others = self.items_written(table, &[]);
            let units = others.filter(|other| is_found(*other)).filter_map(|other| {
                if beside(one.item).is_some_and(|own| beside(other.item) == Some(own)) {
                    return Some(0.5);
                }
                let read = || read_units(self.bytes(other, None)) * 0.5;
                self.says_key(other, one).then(read)
            });
            Some(most.max(units.reduce(f64::min)?))
        })
    }

    /// Whether each row has an item of the first type, which holds the columns that its key in the second one is made of.
    fn says_key(&self, other: ItemScan<'d>, one: ItemScan<'_>) -> bool {
        let is_there = self.model.condition(other.item).is_none()
            && other.item.explodes.is_empty()
            && other.item.expired == Expired::Load;
        let made = self.made_of(other, None);
        let keys = self.model.table.key();
        let templates = keys.filter_map(|key| one.item.template(&key.name));
        let values = templates.flat_map(Template::placeholders);
        let mut paths = values.map(|value| path(value, one.scan));
        is_there && paths.all(|path| path.is_some_and(|path| made.has(&[0], &path, true)))
    }

    /// The item types with the rows of a table that a statement writes: of an UPDATE those that have one of the columns that it
    /// sets.
    fn items_written(
        &self,
        table: &Table,
        columns: &[String],
    ) -> impl Iterator<Item = ItemScan<'d>> {
        let items = self.types.iter().copied();
        let own = items.filter(move |one| one.is_of(table));
        own.filter(move |one| {
            let is_set = |held: &Held<'_>| held.copy.is_none() && is_named(columns, held.column);
            let mut nodes = one.item.attributes.iter();
            columns.is_empty() || nodes.any(|(_, node)| self.is_any(node, one.scan, &is_set))
        })
    }

    /// Write units of an item in the table and its indexes: a new one, or one of which some attributes change by a write of its row, or of
    /// another one. `share`: of such items that have one of these attributes.
    fn put(
        &self,
        one: ItemScan<'_>,
        new: Option<&Values>,
        (row, share): (Option<&RowWrite<'_>>, f64),
        touched: &dyn Fn(&AttributeNode) -> bool,
    ) -> f64 {
        let is_new = new.is_some();
        let nothing = SaidValues::default();
        let said = row.map_or(&nothing, |row| row.said);
        let item = one.item;
        let changes = |name: &str| item.node(name).is_some_and(touched);
        // Without what a condition says.
        let is_set = |name: &str| item.node(name).is_some_and(|node| touched(node.inner()));
        // An item whose own key changes is deleted and put anew, with all its entries.
        let moves = !is_new && self.model.table.key().any(|key| changes(&key.name));
        // With NULL in its key there is none: it only goes, or comes.
        let moved = [&said.before, &said.after].map(|values| self.has_key_of_null(one, values));
        let moved = if moved.contains(&true) { 1.0 } else { 2.0 };
        let values = new.unwrap_or(&nothing.after);
        let each = write_units(self.new_bytes(one, None, values));
        let mut sum = each * if moves { moved } else { share };
        let before = self.entries(one, new.unwrap_or(&said.before));
        let after = self.entries(one, new.unwrap_or(&said.after));
        for ((index, before), (_, after)) in before.into_iter().zip(after) {
            let own = write_units(self.new_bytes(one, Some(index), values));
            let mut held = item
                .attributes
                .iter()
                .filter(|(name, _)| self.holds(Some(index), name) && !is_key(index, name));
            let stays = if moves {
                moved
            } else if index.key().any(|key| is_set(&key.name)) {
                2.0
            } else {
                f64::from(u8::from(held.any(|(_, node)| touched(node))))
            };
            sum += own
                * if is_new {
                    after.of_all()
                } else if index.key().any(|key| changes(&key.name)) {
                    entries_changed([before, after], stays, || {
                        row.map_or(0.0, |row| self.taken_out_of(one, index, row))
                    })
                } else {
                    before.of_all() * stays
                };
        }
        sum
    }

    /// Whether rows with these values make no item, since a column in the table's key is NULL.
    fn has_key_of_null(&self, one: ItemScan<'_>, values: &Values) -> bool {
        let keys = self.model.table.key();
        let mut needed = keys.flat_map(|key| one.needed(&key.name));
        needed.any(|value| {
            let own = one.scan.own_column(value.place.column);
            own.and_then(|name| values.get(name)) == Some(&Constant::Null)
        })
    }

    /// The share of the updates without a known value that take an item out of an index; 0 if this one sets no column of its condition.
    fn taken_out_of(&self, one: ItemScan<'_>, index: &Index, row: &RowWrite<'_>) -> f64 {
        let conditions = one.conditions_of_index(index);
        if !row.decides(&conditions) {
            return 0.0;
        }
        let met = |values: &Values| {
            let mut entries = self.entries(one, values).into_iter();
            let own = entries.find(|(found, _)| found.name == index.name);
            own.map_or(Met::ALL, |(_, met)| met)
        };
        self.taken_out(one.scan, &conditions, &met)
    }

    /// The share of the updates without a known value that take a scan's rows out of what `met` says, among those that decide about it.
    fn taken_out(
        &self,
        scan: &Scan,
        conditions: &BTreeSet<&str>,
        met: &dyn Fn(&Values) -> Met,
    ) -> f64 {
        let writes = self.written.iter().filter(|one| {
            scan.from.table() == Some(&one.table.name)
                && (one.write.kind != WriteKind::Update || one.row().decides(conditions))
        });
        let writes = writes.map(|one| {
            let said = [&one.said.before, &one.said.after];
            (one.write.kind, one.rate * one.rows, said.map(met))
        });
        taken_out(writes)
    }

    /// About how many items of an item type a row decides by a query within a condition; `None` where no query reads it.
    fn items_by_query(
        &self,
        condition: &str,
        one: ItemScan<'_>,
        row: &RowWrite<'_>,
    ) -> Option<f64> {
        let mut tables = self.read_by.get(condition).into_iter().flatten();
        if !row.concerns(condition)
            || !tables.any(|table| table.name == row.table.name)
            || self.is_left_out(condition, row)
        {
            return None;
        }
        let is_parent = one.table.is_some_and(|own| leads_to(own, row.table));
        let is_child = one.table.is_some_and(|own| leads_to(row.table, own));
        match (is_parent, is_child) {
            // A parent that comes or goes has no rows that lead to it.
            (true, false) if row.kind != WriteKind::Update => None,
            (false, true) => Some(1.0),
            _ => Some((self.items(one) / rows(row.table)).max(1.0)),
        }
    }

    /// Whether the query of an EXISTS leaves a row out, before it is written and after that.
    fn is_left_out(&self, condition: &str, row: &RowWrite<'_>) -> bool {
        let Facts { catalog, observed } = self.facts;
        let exists = condition.strip_prefix("NOT ").unwrap_or(condition);
        let query = exists.strip_prefix("EXISTS (");
        // A query within it may read the row too.
        let query = query.filter(|one| one.to_uppercase().matches("SELECT").count() == 1);
        let query = query.and_then(|one| one.strip_suffix(')'));
        let query = query.and_then(|one| SqlQuery::read(one, Some(catalog.dbms)).ok());
        let Some(select) = query.as_ref().and_then(SqlQuery::select) else {
            return false;
        };
        let is_own = select.relations.len() == 1
            && (select.table(0, catalog)).is_some_and(|table| table.name == row.table.name);
        let called = select.relations.first().and_then(|one| one.called.as_ref());
        let (true, Some(called), Some(key)) = (is_own, called, row.table.row_key().first()) else {
            return false;
        };
        let name = |name: &str| identifier(name, catalog.dbms);
        let (called, table) = (name(&called.text), name(&row.table.name.name));
        let conditions = select.conditions.iter().filter_map(|one| {
            let (key, one) = (name(key), &one.text);
            let rows = format!("SELECT {called}.* FROM {table} AS {called}");
            let sql = format!("{rows} WHERE {one} AND {called}.{key} = :key");
            let asks = ask(&sql, catalog, observed).ok()?;
            let found: Vec<When> = asks.last()?.conditions().cloned().collect();
            Some(found)
        });
        let conditions: Vec<Vec<When>> = conditions.collect();
        let is_out = |values: &Values| {
            let mut all = conditions.iter().flatten();
            all.any(|when| when.takes(values) == Some(false))
        };
        let (before, after) = (is_out(&row.said.before), is_out(&row.said.after));
        match row.kind {
            WriteKind::Insert => after,
            WriteKind::Update => before && after,
            WriteKind::Delete => before,
        }
    }

    /// The indexes that an item type stands in, each with how many of its items do whose rows have these values.
    fn entries(&self, one: ItemScan<'_>, values: &Values) -> Vec<(&'d Index, Met)> {
        let scan = one.scan;
        let indexes = self.model.table.indexes.iter().filter_map(|index| {
            let mut needed = BTreeMap::new();
            for key in index.key() {
                one.item.node(&key.name)?;
                let values = one.needed(&key.name);
                needed.extend(values.map(|value| (&value.place.written, value)));
            }
            let conditions = one.conditions_of_index(index);
            let met = conditions.iter().map(|condition| {
                one.table.map_or(Met::ALL, |table| {
                    self.facts.met(condition, scan, table, values)
                })
            });
            // What a condition asks for is counted by it.
            let is_asked = |value: &Placeholder| {
                let mut conditions = conditions.iter();
                let name = column_name(scan, value.place.column);
                name.is_some_and(|name| conditions.any(|condition| has_word(condition, name)))
            };
            let present = needed.into_values().filter(|value| !is_asked(value));
            let present = present.map(|value| self.present(value, one, values));
            Some((index, met.chain(present).fold(Met::ALL, Met::and)))
        });
        indexes.collect()
    }

    /// The column that a value has, with its table.
    fn column(&self, value: &Placeholder, scan: &Scan) -> Option<(&'d Table, &'d Column)> {
        let (table, name) = scan.origin(value.place.column)?;
        let table = self.facts.catalog.table(table)?;
        Some((table, table.column(name)?))
    }

    /// In how many rows a value is not NULL whose own table has these values.
    fn present(&self, value: &Placeholder, one: ItemScan<'_>, values: &Values) -> Met {
        let path = path(value, one.scan).zip(one.table);
        path.map_or(Met::ALL, |(path, table)| {
            self.facts.given(&path, table, values)
        })
    }

    /// Whether one of the columns that an attribute is made of is such.
    fn is_any(&self, node: &AttributeNode, scan: &Scan, is_it: &dyn Fn(&Held<'_>) -> bool) -> bool {
        let mut found = false;
        let rows = Rows::of(scan, 1.0);
        (self.facts).each_column(node, rows, &mut |held| found |= is_it(&held));
        found
    }

    /// Bytes of all items of the table, as a Scan reads them.
    fn scanned(&self) -> f64 {
        let items = self.types.iter().copied();
        let bytes = items.map(|one| self.items(one) * self.bytes(one, None));
        bytes.sum()
    }

    /// Bytes that are stored, with the 100 that DynamoDB adds to each item.
    fn stored(&self) -> f64 {
        let items = self.types.iter().map(|one| {
            let own = self.bytes(*one, None) + 100.0;
            let entries = self.entries(*one, &Values::new()).into_iter();
            let entries =
                entries.map(|(index, met)| (self.bytes(*one, Some(index)) + 100.0) * met.of_all());
            self.items(*one) * (own + entries.sum::<f64>())
        });
        items.sum()
    }
}

/// What a key condition asks for.
struct AskedKey<'p> {
    parameters: BTreeSet<&'p str>,
    /// The columns that are equal to a parameter, whatever it is called.
    equal: BTreeSet<Path>,
    /// Those of which it asks for a range or a beginning.
    ranged: BTreeSet<Path>,
    /// The columns that the filter asks for instead.
    filtered: BTreeSet<String>,
}

impl<'p> AskedKey<'p> {
    /// What a key condition asks for, also of the columns of a table; the filter is about attributes of these item types.
    fn of(pattern: &'p AccessPattern, types: &[ItemScan<'p>], main: Option<&Table>) -> Self {
        let parameters = pattern
            .placeholders()
            .filter_map(|one| pattern.parameters.get(one.place.column))
            .map(|parameter| &*parameter.name);
        let filtered = pattern.filter.iter().flat_map(|filter| &filter.names);
        let columns = filtered.flat_map(|name| {
            let nodes = types.iter().filter_map(|one| {
                let places = one.item.node(name)?.places();
                Some((one.scan, places))
            });
            nodes.flat_map(|(scan, places)| {
                let columns = places.into_iter();
                columns.filter_map(|place| column_name(scan, place.column))
            })
        });
        let (mut equal, mut ranged) = (BTreeSet::new(), BTreeSet::new());
        let is_main = |one: &&ItemScan<'_>| main.is_some_and(|main| one.is_of(main));
        for one in types.iter().filter(is_main) {
            for value in key_values(pattern, one.item) {
                let is_one = value.comparator == Comparator::Equal && !value.begins;
                let found = if is_one { &mut equal } else { &mut ranged };
                let column = path(value.placeholder, one.scan);
                found.extend(column.filter(|_| matches!(value.asked, Value::Parameter(_))));
            }
        }
        Self {
            parameters: parameters.collect(),
            equal,
            ranged,
            filtered: columns.map(str::to_owned).collect(),
        }
    }

    /// Whether it says what a column is equal to. A constant stands in the key, or its index has only rows with it, where the
    /// filter does not ask for the column.
    fn gives(&self, equal: &Equal) -> bool {
        match &equal.value {
            Asked::Parameter(name) => {
                self.parameters.contains(&**name) || self.equal.contains(&equal.path)
            }
            Asked::Constant(_) => !self.filters(&equal.path),
        }
    }

    /// Whether it says all that a read holds equal. `own`: the reads of the access pattern's SQL, which may name parameters otherwise.
    fn gives_all(&self, ask: &Ask<'_>, own: &[Ask<'_>]) -> bool {
        let own = || own.iter().flat_map(|ask| &ask.equal);
        let is_given = |equal: &Equal| {
            self.gives(equal) || own().any(|own| self.gives(own) && own.path == equal.path)
        };
        ask.equal.iter().all(is_given)
    }

    /// Whether it has a bound of a read's range.
    fn gives_range(&self, ask: &Ask<'_>) -> bool {
        let mut names = ask.range.iter().flat_map(|range| {
            let bounds = [&range.low, &range.high].into_iter().flatten();
            bounds.map(|(name, _)| name).chain(&range.prefix)
        });
        let mut columns = ask.range.iter().map(|range| &range.path);
        names.any(|name| self.parameters.contains(&**name))
            || columns.any(|path| self.ranged.contains(path))
    }

    fn filters(&self, path: &Path) -> bool {
        self.filtered.contains(&path.column)
    }
}

/// Whether the database changes a foreign key's columns when the parent is deleted.
fn is_changed(key: &ForeignKey) -> bool {
    matches!(
        key.on_delete,
        ReferentialAction::SetNull | ReferentialAction::SetDefault
    )
}

/// What a child's row has before and after the database changes a foreign key's columns: `SET NULL (…)` of PostgreSQL leaves some of
/// them, which may not be NULL.
fn unset(key: &ForeignKey, child: &Table, dbms: Dbms) -> SaidValues {
    let sets_default = key.on_delete == ReferentialAction::SetDefault;
    let mut said = SaidValues::default();
    for name in &key.columns {
        let column = child.column(name);
        let default = column.and_then(|column| column.default.as_deref());
        let value = match default.filter(|_| sets_default) {
            Some(default) => constant(default, dbms).unwrap_or(Constant::Other),
            None => Constant::Null,
        };
        if sets_default || column.is_some_and(|column| column.nullable) {
            said.before.insert(name.clone(), Constant::Other);
            said.after.insert(name.clone(), value);
        }
    }
    said
}

/// The column that a value has, as the rows of its scan lead to it.
fn path(value: &Placeholder, scan: &Scan) -> Option<Path> {
    let Some(ScanColumn::Column { join, name, .. }) = scan.columns.get(value.place.column) else {
        return None;
    };
    let (steps, column) = (way(scan, *join), name.clone());
    Some(Path { steps, column })
}

/// The way from the rows of a scan to a joined parent.
fn way(scan: &Scan, mut join: Option<usize>) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(parent) = join.and_then(|at| scan.joins.get(at)) {
        let pairs = || parent.on.iter();
        steps.push(Step {
            columns: pairs().map(|one| one.ours.clone()).collect(),
            table: parent.table.clone(),
            referenced: pairs().map(|one| one.theirs.clone()).collect(),
        });
        join = pairs().next().and_then(|one| one.join);
    }
    steps.reverse();
    steps
}

/// The name of a column of a scan, of whatever table.
fn column_name(scan: &Scan, column: usize) -> Option<&str> {
    match scan.columns.get(column) {
        Some(ScanColumn::Column { name, .. }) => Some(name),
        _ => None,
    }
}

/// Bytes of a text that a filter makes of one with so many.
fn filtered(bytes: f64, filter: &Filter) -> f64 {
    let count = |count: usize| float(whole(count));
    match filter {
        Filter::Truncate(most) => bytes.min(count(*most)),
        Filter::Hex => 2.0 * bytes,
        Filter::Base64 => 4.0 * (bytes / 3.0).ceil(),
        Filter::Uuid { .. } => 36.0,
        Filter::Date | Filter::Epoch => 10.0,
        Filter::EpochMs => 13.0,
        Filter::Shard(_) => 2.0,
        other => other.width().map_or(bytes, count),
    }
}

/// The conditions that decide whether an attribute, or a part of it, is there.
fn flags<'s>(node: &AttributeNode, scan: &'s Scan) -> Vec<&'s str> {
    let mut conditions = Vec::new();
    node.visit(&mut |node| {
        if let AttributeNode::When { flag, .. } = node
            && let Some(ScanColumn::Flag(condition)) = scan.columns.get(*flag)
        {
            conditions.push(condition.as_str());
        }
    });
    conditions
}

/// Whether an attribute is of an index's key.
fn is_key(index: &Index, name: &str) -> bool {
    index.key().any(|key| *key.name == *name)
}

/// Whether a column of a scan is one of these of its own table.
fn is_said(scan: &Scan, column: usize, columns: &[String]) -> bool {
    let own = scan.own_column(column);
    own.is_some_and(|name| is_named(columns, name))
}

/// Whether a column is one of these.
fn is_named(columns: &[String], name: &str) -> bool {
    columns.iter().any(|one| one.eq_ignore_ascii_case(name))
}

/// Whether a statement skips rows, of which an access pattern answers a page. `asks`: what its SQL asks, or without SQL the statement.
fn is_first_page(pattern: &AccessPattern, asks: &[Ask<'_>], of_statement: &[Ask<'_>]) -> bool {
    let is_page = |ask: &Ask<'_>| pattern.sql.is_some() && ask.limit.is_some();
    let skips = of_statement.iter().any(|ask| ask.clauses.skips);
    skips && (pattern.limit.is_some() || asks.iter().any(is_page))
}

/// Whether items of a type that is not answered stand between those that a key condition finds: a filter leaves them out.
fn is_read_in_vain(item: &ItemType, pattern: &AccessPattern) -> bool {
    if pattern.items.is_empty() || pattern.items.contains(&item.name) {
        return false;
    }
    let mut partition = pattern.partition.iter();
    let is_beside = partition.all(|(key, asked)| {
        item.template(&key.name).is_some_and(|made| {
            made.prefix().0 == asked.prefix().0 && made.parts.len() == asked.parts.len()
        })
    });
    let mut sort = pattern.sort.iter();
    is_beside
        && sort.all(|(key, condition)| match condition {
            SortCondition::BeginsWith(asked) => {
                let made = item.template(&key.name);
                made.is_some_and(|made| made.prefix().0.starts_with(&*asked.to_string()))
            }
            _ => false,
        })
}
