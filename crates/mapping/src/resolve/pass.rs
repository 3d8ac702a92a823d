//! Gathers item types into passes: one read of a relation for all that come from it.

use std::collections::BTreeSet;

use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, Table, TableKind, TableName};
use dynafold_relational::scan::{Embed, Join, Match, Relation, Scan, ScanColumn};
use dynafold_sql::{ColumnRef, ReadTable, SqlQuery, reads_more, table};

use super::scope::{ColumnPair, JoinUniqueness, Scope};
use crate::model::{ItemType, Pass};

/// The passes of a mapping, while its item types are resolved.
#[derive(Debug, Default)]
pub(super) struct Passes {
    passes: Vec<PassBuilder>,
}

/// A pass on its way, or the rows of an embed.
#[derive(Debug)]
pub(super) struct PassBuilder {
    /// What is read so far. Rows that meet no condition are left out.
    pub(super) scan: Scan,
    name: String,
}

impl Passes {
    /// Finds the pass that reads a scope's relation, or begins one. Two item types share a pass
    /// unless they call different parents by one alias.
    pub(super) fn join(&mut self, scope: &Scope<'_>) -> usize {
        let found = self.passes.iter().position(|pass| pass.fits(scope));
        let at = found.unwrap_or(self.passes.len());
        match self.passes.get_mut(at) {
            Some(pass) => pass.join_parents(scope),
            None => self.passes.push(PassBuilder::new(scope)),
        }
        at
    }

    pub(super) fn get(&mut self, index: usize) -> Option<&mut PassBuilder> {
        self.passes.get_mut(index)
    }

    /// The scan of a pass as it is so far.
    pub(super) fn so_far(&self, index: usize) -> Option<&Scan> {
        Some(&self.passes.get(index)?.scan)
    }

    /// Completes the passes and the item types' places in them.
    pub(super) fn finish(self, item_types: &mut [ItemType], catalog: &Catalog) -> Vec<Pass> {
        let complete = |(index, pass): (usize, PassBuilder)| {
            let mut members = Vec::new();
            let mut keep_unmatched = false;
            let own = item_types.iter_mut().enumerate();
            for (member, item) in own.filter(|(_, item)| item.pass == index) {
                members.push(member);
                match &mut item.condition {
                    // Conditions stand behind the columns in every row.
                    Some(condition) => *condition += pass.scan.columns.len(),
                    None => keep_unmatched = true,
                }
            }
            let scan = Scan {
                keep_unmatched,
                ..pass.scan
            };
            Pass {
                fickle: is_fickle(&scan, catalog),
                estimated_rows: base(&scan, catalog).and_then(|table| table.estimated_rows),
                never_null: never_null(&scan, catalog),
                may_hide_rows: may_hide_rows(&scan, catalog),
                row_security: row_security(&scan, catalog),
                scan,
                name: pass.name,
                item_types: members,
            }
        };
        self.passes.into_iter().enumerate().map(complete).collect()
    }

    /// The alias of a parent that a pass joins by these columns: whose, ours, theirs.
    pub(super) fn joined(
        &self,
        pass: usize,
        table: &TableName,
        by: &[(Option<&str>, &str, &str)],
    ) -> Option<&str> {
        let pass = self.passes.get(pass)?;
        let is_on = |on: &Match| by.contains(&(pass.owner(on), &on.ours, &on.theirs));
        let mut found = pass.scan.joins.iter().filter(|join| join.table == *table);
        let found = found.find(|join| join.on.len() == by.len() && join.on.iter().all(is_on))?;
        Some(&found.alias)
    }

    /// Whether a pass has a joined parent of this alias.
    pub(super) fn has_alias(&self, pass: usize, alias: &str) -> bool {
        let pass = self.passes.get(pass);
        pass.is_some_and(|pass| pass.join(alias).is_some())
    }
}

impl PassBuilder {
    /// The rows of a scope's relation with its parents.
    pub(super) fn new(scope: &Scope<'_>) -> Self {
        let mut new = Self {
            scan: Scan::of(scope.from.clone(), Vec::new()),
            name: scope.written.clone(),
        };
        new.join_parents(scope);
        new
    }

    /// Whether it reads a scope's relation, and calls no other parent by an alias of the scope.
    fn fits(&self, scope: &Scope<'_>) -> bool {
        let is_same = |(on, other): (&Match, &ColumnPair)| {
            let is_one = on.ours == other.ours && on.theirs == other.theirs;
            is_one && self.owner(on) == other.owner.as_deref()
        };
        self.scan.from == scope.from
            && scope.joins.iter().all(|parent| {
                let mut joins = self.scan.joins.iter();
                let join = joins.find(|join| join.alias == parent.alias);
                join.is_none_or(|join| {
                    join.table == parent.table.name
                        && join.on.len() == parent.on.len()
                        && join.on.iter().zip(&parent.on).all(is_same)
                })
            })
    }

    /// Joins the parents of a scope that are not joined yet, each before those that it leads to.
    fn join_parents(&mut self, scope: &Scope<'_>) {
        for parent in &scope.joins {
            if self.join(&parent.alias).is_none() {
                self.scan.joins.push(Join {
                    alias: parent.alias.clone(),
                    table: parent.table.name.clone(),
                    on: self.matches(&parent.on),
                    is_single: parent.uniqueness == JoinUniqueness::Enforced,
                });
            }
        }
    }

    /// A scan of the same relation and parents with one condition and no columns.
    pub(super) fn alone(&self, condition: &str) -> Scan {
        Scan {
            joins: self.scan.joins.clone(),
            conditions: vec![condition.to_owned()],
            ..Scan::of(self.scan.from.clone(), Vec::new())
        }
    }

    /// Matches with aliases as places among the joins.
    pub(super) fn matches(&self, on: &[ColumnPair]) -> Vec<Match> {
        on.iter()
            .map(|on| Match {
                join: on.owner.as_deref().and_then(|alias| self.join(alias)),
                ours: on.ours.clone(),
                theirs: on.theirs.clone(),
            })
            .collect()
    }

    fn join(&self, alias: &str) -> Option<usize> {
        self.scan.joins.iter().position(|join| join.alias == alias)
    }

    /// The alias of the parent whose column a match takes; `None` for the base relation's.
    fn owner(&self, on: &Match) -> Option<&str> {
        Some(&self.scan.joins.get(on.join?)?.alias)
    }

    /// The places of the row so far, each with the alias of the parent that it is a column of.
    pub(super) fn places(&self) -> impl Iterator<Item = (&ScanColumn, Option<&str>)> {
        self.scan.columns.iter().map(|column| {
            let join = match column {
                ScanColumn::Column { join, .. } => *join,
                _ => None,
            };
            let join = join.and_then(|join| self.scan.joins.get(join));
            (column, join.map(|join| join.alias.as_str()))
        })
    }

    /// The index of a column in the row, asked for if nobody has yet. `alias` names the parent.
    pub(super) fn column(
        &mut self,
        alias: Option<&str>,
        name: &str,
        data_type: &DataType,
    ) -> usize {
        self.find(alias, name).unwrap_or_else(|| {
            let join = alias.and_then(|alias| self.join(alias));
            self.push(ScanColumn::Column {
                join,
                name: name.to_owned(),
                data_type: data_type.clone(),
            })
        })
    }

    /// The index of a column that somebody has asked for.
    pub(super) fn find(&self, alias: Option<&str>, name: &str) -> Option<usize> {
        let wanted = match alias {
            Some(alias) => Some(self.join(alias)?),
            None => None,
        };
        let mut columns = self.scan.columns.iter();
        columns.position(|column| {
            matches!(column, ScanColumn::Column { join, name: other, .. }
                if *join == wanted && other == name)
        })
    }

    /// The place of a condition's value that leaves out no row.
    pub(super) fn flag(&mut self, sql: &str) -> usize {
        self.shared(ScanColumn::Flag(sql.to_owned()))
    }

    /// The place of children.
    pub(super) fn embed(&mut self, embed: Embed) -> usize {
        self.shared(ScanColumn::Embed(Box::new(embed)))
    }

    /// A new place that the source leaves alone.
    pub(super) fn slot(&mut self) -> usize {
        self.push(ScanColumn::Slot)
    }

    fn shared(&mut self, column: ScanColumn) -> usize {
        let found = self.scan.columns.iter().position(|other| *other == column);
        found.unwrap_or_else(|| self.push(column))
    }

    fn push(&mut self, column: ScanColumn) -> usize {
        self.scan.columns.push(column);
        self.scan.columns.len() - 1
    }

    /// Notes that an index answers a condition as an expression does.
    pub(super) fn plain(&mut self, sql: &str) {
        if !self.scan.plain.iter().any(|other| other == sql) {
            self.scan.plain.push(sql.to_owned());
        }
    }

    /// The number of a condition among the pass's conditions.
    pub(super) fn condition(&mut self, sql: &str) -> usize {
        let found = self.scan.conditions.iter().position(|other| other == sql);
        found.unwrap_or_else(|| {
            self.scan.conditions.push(sql.to_owned());
            self.scan.conditions.len() - 1
        })
    }
}

/// The table that a scan reads, where it reads one.
fn base<'c>(scan: &Scan, catalog: &'c Catalog) -> Option<&'c Table> {
    catalog.table(scan.from.table()?)
}

/// The columns in which its table never has NULL.
fn never_null(scan: &Scan, catalog: &Catalog) -> BTreeSet<String> {
    let columns = base(scan, catalog).map_or(&[][..], |table| &table.columns);
    let solid = columns.iter().filter(|column| !column.nullable);
    solid.map(|column| column.name.clone()).collect()
}

/// Whether its rows come from what may leave rows out that are there, or are joined to such: queries, views, and
/// tables of which row security may hide rows.
fn may_hide_rows(scan: &Scan, catalog: &Catalog) -> bool {
    let is_whole = |table: &Table| table.is_stored() && !table.row_security;
    let mut parents = scan.joins.iter().map(|join| &join.table);
    !base(scan, catalog).is_some_and(is_whole)
        || !parents.all(|name| catalog.table(name).is_some_and(is_whole))
}

/// The tables of which row security may hide rows from it, by the names that people write; of a view it is known itself whether
/// row security lies behind it. Of SQL that may read other rows, a condition among it, it is not known which tables it reads.
pub(super) fn row_security(scan: &Scan, catalog: &Catalog) -> Vec<String> {
    let reads = |table: &&Table| {
        let is_it = |name: &TableName| *name == table.name || catalog.table(name).is_none();
        let mut sql = scan.foreign_sql().into_iter();
        scan.tables().into_iter().any(is_it) || sql.any(|sql| may_read_tables(sql, catalog))
    };
    let hidden = catalog.tables.iter().filter(|table| table.row_security);
    let names = hidden
        .filter(reads)
        .map(|table| catalog.display_name(&table.name));
    names.collect()
}

/// Whether SQL of the mapping may read tables: it is a query, has one within it, or calls what may be somebody's own function.
fn may_read_tables(sql: &str, catalog: &Catalog) -> bool {
    let query = SqlQuery::read(&format!("SELECT 1 WHERE {sql}"), Some(catalog.dbms));
    query.map_or(true, |query| {
        let mut functions = query.functions.iter();
        let mut is_own = || functions.any(|name| catalog.own_functions.contains(name));
        query.calls_unknown
            || !query.unsteady.is_empty()
            || !query.tables.is_empty()
            || query.calls && (catalog.own_operators || is_own())
    })
}

/// Whether what a pass reads depends on more than the rows of the snapshot: on the clock, on chance, on who asks, on
/// tables that have no snapshots.
///
/// Chunks of such a pass are not skipped when a load goes on, although no row has changed since, and keys that were
/// compared in one reading of it are compared again in the next. Only what the snapshot holds still is steady: columns
/// that tables store, and conditions that compare them by operators and literals. What a function, a cast, a view, a
/// query, a generated column, a policy or a type that prints names gives is not looked into: a name is not the function.
/// What only looks fickle is read again for nothing.
fn is_fickle(scan: &Scan, catalog: &Catalog) -> bool {
    let names = scan.tables();
    let tables: Option<Vec<&Table>> = names.iter().map(|name| catalog.table(name)).collect();
    let (Relation::Table(_), Some(tables)) = (&scan.from, tables) else {
        return true;
    };
    let flags = scan.columns.iter().filter_map(|column| match column {
        ScanColumn::Flag(sql) => Some(sql),
        _ => None,
    });
    let mut conditions = scan.conditions.iter().chain(flags).peekable();
    let is_conditional = conditions.peek().is_some();
    let is_matched = |name: &str| {
        let embeds = scan.embeds().map(|(_, embed)| &embed.on);
        let joins = scan.joins.iter().map(|join| &join.on);
        let mut matches = joins.chain(embeds).flatten();
        // Which columns a condition names is not looked for.
        is_conditional || matches.any(|Match { ours, theirs, .. }| ours == name || theirs == name)
    };
    let is_read = |name: &str| {
        let is_it = |column: &ScanColumn| matches!(column, ScanColumn::Column { name: own, .. } if own == name);
        is_matched(name) || scan.columns.iter().any(is_it)
    };
    let is_steady = |table: &&Table| {
        let mut columns = table.columns.iter();
        let is_made = columns.any(|column| {
            (column.generated.is_some() || column.prints_names) && is_read(&column.name)
                || takes_the_date(column, catalog.dbms) && is_matched(&column.name)
        });
        stores(table) && !table.row_security && !is_made
    };
    !tables.iter().all(is_steady)
        || conditions.any(|sql| catalog.own_operators || reads_more(sql, catalog.dbms))
        || scan
            .embeds()
            .any(|(_, embed)| is_fickle(&embed.rows, catalog))
}

/// Whether a comparison with a column may take the date of the day: of MySQL's times of the day with points in time, of
/// PostgreSQL's times of the day with an offset with those without one.
fn takes_the_date(column: &Column, dbms: Dbms) -> bool {
    match column.data_type {
        DataType::Time { zone, .. } => zone || matches!(dbms, Dbms::Mysql | Dbms::Mariadb),
        _ => false,
    }
}

fn stores(table: &Table) -> bool {
    match table.kind {
        TableKind::Table | TableKind::Partitioned | TableKind::MaterializedView => !table.live,
        TableKind::View | TableKind::Foreign => false,
    }
}

/// Because of what a pattern's query may give something else though no row has changed; `None` where it gives the same.
pub fn fickle_part(query: &SqlQuery, catalog: &Catalog) -> Option<String> {
    let table_of = |read: &ReadTable| table(catalog, read.schema.as_ref(), &read.name);
    let is_own = |name: &&String| catalog.own_functions.contains(*name);
    let calls = |name: &&ColumnRef| {
        let owner = name.owner.as_ref();
        let of_owner = |read: &&ReadTable| owner.is_some_and(|owner| read.called.is(&owner.text));
        let mut tables = query.tables.iter().filter(of_owner);
        let has = |read: &ReadTable| {
            table_of(read).is_some_and(|table| table.column(&name.name.text).is_some())
        };
        tables.clone().next().is_some() && !tables.any(has)
    };
    let clock = |read: &ReadTable| {
        let mut columns = table_of(read)?.columns.iter();
        columns.find(|column| {
            let is_used = query.used.contains(&column.name.to_lowercase());
            is_used && takes_the_date(column, catalog.dbms)
        })
    };
    let own = || query.functions.iter().find(is_own);
    let unstored = || {
        let mut tables = query.tables.iter();
        tables.find(|read| !table_of(read).is_some_and(stores))
    };
    let called = || {
        let mut qualified = query.qualified.iter();
        qualified.find(|name| catalog.dbms == Dbms::Postgres && calls(name))
    };
    let first = query.unsteady.first();
    let name = first
        .or_else(own)
        .or_else(|| Some(&unstored()?.name.text))
        .or_else(|| Some(&query.tables.iter().find_map(clock)?.name))
        .or_else(|| Some(&called()?.name.text));
    let operators = || {
        catalog
            .own_operators
            .then(|| "operators or casts that users have defined".to_owned())
    };
    name.map(|name| format!("`{name}`")).or_else(operators)
}

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::sample::shop;
    use dynafold_relational::catalog::{DataType, Dbms, TableName};

    use super::*;

    #[test]
    fn a_view_is_fickle_and_so_is_a_table_without_snapshots() {
        let of = |schema: &str, name: &str| {
            let name = TableName {
                schema: schema.to_owned(),
                name: name.to_owned(),
            };
            is_fickle(&Scan::of(Relation::Table(name), Vec::new()), &shop())
        };
        assert!(!of("public", "orders"));
        let mut live = shop();
        live.tables.iter_mut().for_each(|table| table.live = true);
        let orders = live.find("orders").unwrap().name.clone();
        assert!(is_fickle(
            &Scan::of(Relation::Table(orders), Vec::new()),
            &live
        ));
        assert!(of("public", "recent"));
        assert!(of("public", "nothing"));
    }
    #[test]
    fn what_is_made_as_it_is_read_is_fickle() {
        let mut catalog = shop();
        let orders = catalog.find("orders").unwrap().clone();
        let column = |name: &str| ScanColumn::Column {
            join: None,
            name: name.to_owned(),
            data_type: DataType::Boolean,
        };
        let of = |names: &[&str], condition: Option<&str>, catalog: &Catalog| {
            let columns = names.iter().map(|name| column(name)).collect();
            let mut scan = Scan::of(Relation::Table(orders.name.clone()), columns);
            scan.conditions = condition.into_iter().map(str::to_owned).collect();
            is_fickle(&scan, catalog)
        };
        assert!(!of(&["id", "placed_at"], Some("id > 5"), &catalog));
        let own = |catalog: &mut Catalog| {
            let columns = catalog
                .tables
                .iter_mut()
                .flat_map(|table| &mut table.columns);
            for column in columns.filter(|column| column.name == "placed_at") {
                column.generated = Some("floor(rand() * 300)".to_owned());
            }
        };
        own(&mut catalog);
        assert!(!of(&["id"], None, &catalog));
        assert!(of(&["id", "placed_at"], None, &catalog));
        assert!(of(&["id"], Some("id > 5"), &catalog));
        let mut catalog = shop();
        let tables = catalog.tables.iter_mut();
        for column in tables.flat_map(|table| &mut table.columns) {
            if column.name == "placed_at" {
                column.prints_names = true;
            }
        }
        assert!(!of(&["id"], None, &catalog));
        assert!(of(&["id", "placed_at"], None, &catalog));
        let mut catalog = shop();
        catalog.own_operators = true;
        assert!(!of(&["id"], None, &catalog));
        assert!(of(&["id"], Some("id > 5"), &catalog));
        let query = Scan::of(
            Relation::Query("SELECT id FROM orders".to_owned()),
            Vec::new(),
        );
        assert!(is_fickle(&query, &shop()));
        let mut hidden = shop();
        hidden
            .tables
            .iter_mut()
            .for_each(|table| table.row_security = true);
        assert!(of(&["id"], None, &hidden));
    }

    #[test]
    fn a_time_of_the_day_that_is_compared_may_take_the_date_of_the_day() {
        let mut catalog = shop();
        let orders = catalog
            .tables
            .iter_mut()
            .find(|table| table.name.name == "orders")
            .unwrap();
        orders.columns[1].name = "opens".to_owned();
        let clock = |zone| DataType::Time { digits: 0, zone };
        orders.columns[1].data_type = clock(false);
        let scan = Scan {
            conditions: vec!["placed_at < opens".to_owned()],
            ..Scan::of(Relation::Table(orders.name.clone()), Vec::new())
        };
        let is_fickle_sql = |sql: &str, catalog: &Catalog| {
            fickle_part(&SqlQuery::read(sql, Some(catalog.dbms)).unwrap(), catalog).is_some()
        };
        let used = "SELECT opens FROM orders WHERE placed_at < opens";
        for (dbms, zone, fickle) in [
            (Dbms::Mysql, false, true),
            (Dbms::Mariadb, false, true),
            (Dbms::Postgres, false, false),
            (Dbms::Postgres, true, true),
        ] {
            catalog.dbms = dbms;
            let mut columns = catalog
                .tables
                .iter_mut()
                .flat_map(|table| &mut table.columns);
            columns
                .find(|column| column.name == "opens")
                .unwrap()
                .data_type = clock(zone);
            assert_eq!(is_fickle_sql(used, &catalog), fickle, "{dbms:?}");
            assert_eq!(is_fickle(&scan, &catalog), fickle, "{dbms:?}");
            let given = "SELECT opens FROM orders WHERE id = 7";
            assert!(!is_fickle_sql(given, &catalog), "{dbms:?}");
        }
    }

    #[test]
    fn a_cast_to_a_time_may_read_today() {
        let is_fickle = |sql: &str| {
            let query = SqlQuery::read(sql, Some(Dbms::Postgres)).unwrap();
            fickle_part(&query, &shop()).is_some()
        };
        for (condition, fickle) in [
            ("placed_at <= status::date", true),
            ("placed_at <= CAST(status AS timestamp)", true),
            ("placed_at <= ('to' || 'day')::date", true),
            ("placed_at <= '2026-01-01'::date", false),
            ("placed_at <= 'today'::date", true),
            ("id = status::int", false),
            ("id::text = '7'", false),
            ("status::regclass = 'orders'::regclass", true),
        ] {
            let sql = format!("SELECT id FROM orders WHERE {condition}");
            assert_eq!(is_fickle(&sql), fickle, "{condition}");
        }
    }

    #[test]
    fn a_function_of_the_databases_own_may_hide_behind_a_plain_name() {
        let query = SqlQuery::read("SELECT lower(email) FROM users", Some(Dbms::Postgres)).unwrap();
        let mut catalog = shop();
        assert_eq!(fickle_part(&query, &catalog), None);
        catalog.own_functions = vec!["lower".to_owned()];
        assert_eq!(fickle_part(&query, &catalog).as_deref(), Some("`lower`"));
        let mut catalog = shop();
        catalog.own_operators = true;
        assert!(fickle_part(&query, &catalog).is_some());
        let mut catalog = shop();
        catalog
            .tables
            .iter_mut()
            .for_each(|table| table.live = true);
        assert_eq!(fickle_part(&query, &catalog).as_deref(), Some("`users`"));
    }
}
