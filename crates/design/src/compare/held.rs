//! The columns that an attribute is made of, and how many items a write of another row changes by them.

use dynafold_format::has_word;
use dynafold_mapping::model::{AttributeNode, ChildContainer};
use dynafold_relational::catalog::{ForeignKey, Table, TableName};
use dynafold_relational::scan::{Embed, Join, Match, Scan, ScanColumn};

use super::flags;
use crate::facts::{self, Facts};
use crate::path::Path;

/// A column that an attribute is made of, or that a condition names.
pub(super) struct Held<'h> {
    /// Its table; `None` of a query's.
    pub(super) table: Option<&'h TableName>,
    pub(super) column: &'h str,
    /// Of a column of a parent or a child: what a write of its row changes.
    pub(super) copy: Option<Copied>,
}

/// What a write of a parent's or a child's row changes.
#[derive(Clone, Copy)]
pub(super) struct Copied {
    /// How the items have its columns.
    pub(super) way: Way,
    /// About how many items have them.
    pub(super) items: f64,
    /// Whether INSERT and DELETE of the row change items too: no foreign key of theirs leads to it.
    pub(super) may_come: bool,
}

/// How items have columns of another row: how deep the embed is, and by which join of its rows; of the children themselves by
/// none.
pub(super) type Way = (u8, Option<usize>);

/// The rows of a scan, in the items that are made of them.
#[derive(Clone, Copy)]
pub(super) struct Rows<'s> {
    scan: &'s Scan,
    /// About how many there are.
    count: f64,
    /// Of children: in how many items each of them is, about.
    in_items: Option<f64>,
    /// How deep they are embedded.
    depth: u8,
}

impl<'s> Rows<'s> {
    /// The rows of an item type.
    pub(super) fn of(scan: &'s Scan, count: f64) -> Self {
        Self {
            scan,
            count,
            in_items: None,
            depth: 0,
        }
    }
}

impl<'d> Facts<'d> {
    pub(super) fn table_of(&self, scan: &Scan) -> Option<&'d Table> {
        self.catalog.table(scan.from.table()?)
    }

    /// The table of a joined parent.
    fn parent(&self, scan: &Scan, join: usize) -> Option<&'d Table> {
        self.catalog.table(&scan.joins.get(join)?.table)
    }

    /// Calls `see` for each column that an attribute is made of, or that decides whether it is there: the row's own, those of parents
    /// with the references to them, those of children.
    pub(super) fn each_column(
        &self,
        node: &AttributeNode,
        rows: Rows<'_>,
        see: &mut dyn FnMut(Held<'_>),
    ) {
        for place in node.places() {
            if let Some(ScanColumn::Column { join, name, .. }) = rows.scan.columns.get(place.column)
            {
                self.each_on_way(name, *join, rows, see);
            }
        }
        for condition in flags(node, rows.scan) {
            self.each_in_condition(condition, rows, see);
        }
        node.visit(&mut |node| {
            let AttributeNode::Embed(embed) = node else {
                return;
            };
            let Some(ScanColumn::Embed(children)) = rows.scan.columns.get(embed.column) else {
                return;
            };
            let inner = self.embedded(rows, children);
            let order = children.order.iter();
            let order = order.filter_map(|(column, _)| inner.scan.own_column(*column));
            let matched = children.on.iter().map(|one| &*one.theirs);
            for column in matched.chain(order) {
                self.each_on_way(column, None, inner, see);
            }
            for one in &children.on {
                self.each_on_way(&one.ours, one.join, rows, see);
            }
            for condition in &inner.scan.conditions {
                self.each_in_condition(condition, inner, see);
            }
            if let ChildContainer::Map(key) = &embed.container {
                let key = AttributeNode::Template(key.clone());
                self.each_column(&key, inner, see);
            }
            self.each_column(&embed.each, inner, see);
        });
    }

    /// Calls `see` for the columns that a condition names, of the rows and of their parents, with the references to these. Not for
    /// those of queries within it.
    pub(super) fn each_in_condition(
        &self,
        condition: &str,
        rows: Rows<'_>,
        see: &mut dyn FnMut(Held<'_>),
    ) {
        let mut each = |table: Option<&Table>, join: Option<usize>| {
            let columns = table.into_iter().flat_map(|table| &table.columns);
            for column in columns.filter(|column| has_word(condition, &column.name)) {
                self.each_on_way(&column.name, join, rows, see);
            }
        };
        each(self.table_of(rows.scan), None);
        let joins = rows.scan.joins.iter().enumerate();
        for (at, join) in joins.filter(|(_, join)| has_word(condition, &join.alias)) {
            each(self.catalog.table(&join.table), Some(at));
        }
    }

    /// Calls `see` for a column of the rows, or of a parent of theirs with the references on the way to it.
    fn each_on_way(
        &self,
        column: &str,
        join: Option<usize>,
        rows: Rows<'_>,
        see: &mut dyn FnMut(Held<'_>),
    ) {
        let Some((at, join)) = join.and_then(|at| Some((at, rows.scan.joins.get(at)?))) else {
            see(Held {
                table: rows.scan.from.table(),
                column,
                copy: rows.in_items.map(|items| Copied {
                    way: (rows.depth, None),
                    items,
                    may_come: true,
                }),
            });
            return;
        };
        let copy = self.joined(rows, at);
        let theirs = join.on.iter().map(|one| &*one.theirs);
        for column in std::iter::once(column).chain(theirs) {
            see(Held {
                table: Some(&join.table),
                column,
                copy: Some(copy),
            });
        }
        for one in before(join, at) {
            self.each_on_way(&one.ours, one.join, rows, see);
        }
    }

    /// The rows of an embed.
    fn embedded<'s>(&self, rows: Rows<'_>, children: &'s Embed) -> Rows<'s> {
        let table = self.table_of(rows.scan);
        let ours: Vec<String> = children.on.iter().map(|one| one.ours.clone()).collect();
        let values = match (children.on.first(), table) {
            (Some(Match { join: Some(at), .. }), _) => {
                self.parent(rows.scan, *at).map_or(rows.count, facts::rows)
            }
            (Some(one), Some(table)) if !table.is_declared_unique(&ours, self.catalog.dbms) => {
                self.distinct(&Path::own(&one.ours), table)
            }
            _ => rows.count,
        };
        let parents = (rows.count / values).max(1.0);
        let child = self.table_of(&children.rows);
        Rows {
            scan: &children.rows,
            count: child.map_or(rows.count, facts::rows),
            in_items: Some(parents * rows.in_items.unwrap_or(1.0)),
            depth: rows.depth.saturating_add(1),
        }
    }

    /// What a write of a joined parent changes.
    fn joined(&self, rows: Rows<'_>, at: usize) -> Copied {
        let parent = self.parent(rows.scan, at);
        let mean = parent.map_or(1.0, |parent| (rows.count / facts::rows(parent)).max(1.0));
        let (mut is_single, mut may_come) = (true, None);
        let mut next = Some(at);
        while let Some((at, join)) = next.and_then(|at| Some((at, rows.scan.joins.get(at)?))) {
            next = before(join, at).find_map(|one| one.join);
            let child = match next {
                Some(at) => self.parent(rows.scan, at),
                None => self.table_of(rows.scan),
            };
            let ours: Vec<String> = join.on.iter().map(|one| one.ours.clone()).collect();
            is_single &=
                child.is_some_and(|child| child.is_declared_unique(&ours, self.catalog.dbms));
            let mut keys = child.into_iter().flat_map(|child| &child.foreign_keys);
            may_come = may_come.or(Some(!keys.any(|key| is_followed(key, join))));
        }
        Copied {
            way: (rows.depth, Some(at)),
            items: if is_single { 1.0 } else { mean } * rows.in_items.unwrap_or(1.0),
            may_come: may_come.unwrap_or(true),
        }
    }
}

/// What a join is made by that comes from the rows or from joins before it.
fn before(join: &Join, at: usize) -> impl Iterator<Item = &Match> {
    let on = join.on.iter();
    on.filter(move |one| one.join.is_none_or(|before| before < at))
}

/// Whether a join follows a foreign key.
fn is_followed(key: &ForeignKey, join: &Join) -> bool {
    let is_matched = |column: &String| {
        let mut on = join.on.iter();
        on.any(|one| one.ours == *column && key.referenced(column) == Some(&*one.theirs))
    };
    key.references == join.table && key.columns.iter().all(is_matched)
}
