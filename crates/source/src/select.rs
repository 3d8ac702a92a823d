//! Writes the rows of one relation as a SELECT, the same shape for the three databases.

use std::fmt::Write as _;

use dynafold_format::joined;
use dynafold_relational::catalog::Dbms;
use dynafold_relational::scan::{Join, Match, Relation, Scan, ScanColumn};
use dynafold_sql::{Sql, names_row_of};

use super::dialect::Dialect;
use super::layout::ScanLayout;
use super::range;

/// One relation of a scan with its parents, from which columns can be asked.
///
/// The base table goes by its own name, a query by `q`, parents by their aliases: so conditions may
/// name columns as the mapping does. Where there are parents, a condition that names none of them is
/// put to the base relation alone, so that a column's name that a parent has too is not ambiguous. A
/// newline ends each condition, so that one that ends in a comment cannot swallow what follows.
struct Rows<'a> {
    dialect: &'a dyn Dialect,
    scan: &'a Scan,
    base: String,
    /// Whether rows that the scan does not want are left out.
    is_restricted: bool,
    /// The conditions and flags in the order of the scan, as they are asked for.
    flags: Vec<Flag>,
}

/// A condition that becomes a value of the row.
struct Flag {
    /// As the database is asked.
    sql: String,
    /// Whether it is put to the base relation before parents are joined.
    inner: bool,
}

impl Flag {
    /// 1, or 0 for false and NULL alike.
    fn value(&self) -> String {
        format!("CASE WHEN {} THEN 1 ELSE 0 END", self.sql)
    }
}

impl<'a> Rows<'a> {
    /// `restrict`: only of rows that the scan wants.
    fn new(dialect: &'a dyn Dialect, scan: &'a Scan, restrict: bool) -> Self {
        let base = match &scan.from {
            Relation::Table(name) => dialect.quote(&name.name),
            Relation::Query(_) => dialect.quote("q"),
        };
        let flags = scan.columns.iter().filter_map(|column| match column {
            ScanColumn::Flag(sql) => Some(sql),
            _ => None,
        });
        let flags = scan.conditions.iter().chain(flags).map(|sql| Flag {
            sql: dialect.condition(sql, scan.plain.contains(sql)),
            inner: !scan.joins.is_empty() && !names_one(sql, &scan.joins, dialect.dbms()),
        });
        Self {
            dialect,
            scan,
            base,
            is_restricted: restrict && !scan.keep_unmatched && !scan.conditions.is_empty(),
            flags: flags.collect(),
        }
    }

    fn inner_name(&self, index: usize) -> String {
        self.dialect.quote(&format!("dynafold_condition_{index}"))
    }

    /// One of the scan's conditions and flags as a value.
    fn flag(&self, index: usize) -> Option<String> {
        let flag = self.flags.get(index)?;
        let is_met = self.is_restricted && index == 0 && self.scan.conditions.len() == 1;
        Some(if is_met {
            "1".to_owned()
        } else if flag.inner {
            format!("{}.{}", self.base, self.inner_name(index))
        } else {
            flag.value()
        })
    }

    fn owner(&self, join: Option<usize>) -> String {
        join.and_then(|index| self.scan.joins.get(index))
            .map_or_else(|| self.base.clone(), |join| self.dialect.quote(&join.alias))
    }

    /// One of the scan's columns; `None` for what the database is not asked for.
    fn column(&self, index: usize) -> Option<String> {
        match self.scan.columns.get(index)? {
            ScanColumn::Column {
                join,
                name,
                data_type,
            } => {
                let qualified = format!("{}.{}", self.owner(*join), self.dialect.quote(name));
                Some(self.dialect.expression(&qualified, data_type))
            }
            ScanColumn::Flag(_) => {
                let before = self.scan.columns.get(..index)?.iter();
                let before = before.filter(|column| matches!(column, ScanColumn::Flag(_)));
                self.flag(self.scan.conditions.len() + before.count())
            }
            ScanColumn::Embed(_) | ScanColumn::Slot => None,
        }
    }

    /// A column of the base relation as it is stored: an index knows its order.
    fn stored(&self, index: usize) -> Option<String> {
        let name = self.dialect.quote(self.scan.own_column(index)?);
        Some(format!("{}.{name}", self.base))
    }

    /// A column of ours that something must be equal to, as it is stored.
    fn stored_column(&self, on: &Match) -> String {
        format!("{}.{}", self.owner(on.join), self.dialect.quote(&on.ours))
    }

    /// A column of the base relation, as it is stored.
    fn theirs(&self, on: &Match) -> String {
        format!("{}.{}", self.base, self.dialect.quote(&on.theirs))
    }

    /// 1 for the rows that the scan wants, 0 for those that it leaves out.
    fn wanted(&self) -> String {
        if self.is_restricted || self.scan.keep_unmatched {
            return "1".to_owned();
        }
        let flags = (0..self.scan.conditions.len()).filter_map(|index| self.flag(index));
        let flags: Vec<String> = flags.collect();
        match flags.as_slice() {
            [] => "1".to_owned(),
            [only] => only.clone(),
            several => format!("CASE WHEN 1 IN ({}) THEN 1 ELSE 0 END", several.join(", ")),
        }
    }

    /// The condition under which a row is wanted, where others are left out.
    fn any(&self) -> Option<String> {
        let all = self.flags.iter().take(self.scan.conditions.len());
        let any = all.enumerate().map(|(index, flag)| {
            if flag.inner {
                format!("{}.{} = 1", self.base, self.inner_name(index))
            } else {
                flag.sql.clone()
            }
        });
        self.is_restricted.then(|| joined(any, " OR "))
    }

    /// The statement that asks for these outputs.
    fn select(&self, outputs: &[String]) -> String {
        let from = self.dialect.relation(&self.scan.from);
        let base = &self.base;
        let range = self.scan.range.as_ref();
        let range = range.and_then(|range| range::condition(range, self.dialect, base));
        // The range comes first, and the others as one.
        let and = |others: Option<String>| match (&range, others) {
            (Some(range), Some(others)) => format!("\nWHERE {range} AND ({others})"),
            (Some(range), None) => format!("\nWHERE {range}"),
            (None, Some(others)) => format!("\nWHERE {others}"),
            (None, None) => String::new(),
        };
        // Where no condition names a parent, rows are left out before parents are looked up.
        let conditions = self.flags.iter().take(self.scan.conditions.len());
        let has_inner = self.flags.iter().any(|flag| flag.inner);
        let early = self.is_restricted && has_inner && conditions.clone().all(|flag| flag.inner);
        let restriction = self.any().filter(|_| !early);
        let mut sql = format!("SELECT {}", outputs.join(", "));
        // Writing to a String cannot fail.
        let _ = if has_inner {
            let rows = and(early.then(|| joined(conditions.map(|c| c.sql.clone()), " OR ")));
            // MySQL reads a derived table along no index for a value that is asked by a subquery.
            let is_asked = |name: &String| {
                let mut all = outputs.iter().chain(&restriction);
                all.any(|sql| sql.contains(name))
            };
            let flags = self.flags.iter().enumerate().filter_map(|(index, flag)| {
                let name = self.inner_name(index);
                (flag.inner && is_asked(&name)).then(|| format!(", {} AS {name}", flag.value()))
            });
            let flags: String = flags.collect();
            write!(
                sql,
                "\nFROM (SELECT {base}.*{flags}\nFROM {from} AS {base}{rows}) AS {base}"
            )
        } else {
            write!(sql, "\nFROM {from} AS {base}")
        };
        for join in &self.scan.joins {
            self.join(&mut sql, join);
        }
        sql.push_str(&if has_inner {
            restriction.map_or_else(String::new, |any| format!("\nWHERE {any}"))
        } else {
            and(restriction)
        });
        sql
    }

    fn join(&self, sql: &mut String, join: &Join) {
        let alias = self.dialect.quote(&join.alias);
        let on = join.on.iter().map(|on| {
            let theirs = self.dialect.quote(&on.theirs);
            format!("{alias}.{theirs} = {}", self.stored_column(on))
        });
        let on = joined(on, " AND ");
        let table = self.dialect.table(&join.table);
        // Writing to a String cannot fail.
        let _ = write!(sql, "\nLEFT JOIN {table} AS {alias} ON {on}");
    }
}

/// Gives the outputs of a statement their names: `c0`, `c1` and so on.
fn named(outputs: impl IntoIterator<Item = String>) -> Vec<String> {
    let outputs = outputs.into_iter().enumerate();
    let named: Vec<String> = outputs
        .map(|(index, output)| format!("{output} AS c{index}"))
        .collect();
    if named.is_empty() {
        return vec!["1 AS c0".to_owned()];
    }
    named
}

/// Whether a condition seems to name a parent or a column of one. One that only looks so, in a subquery say, still means the same, or
/// has a column's name that a parent has too, which the database refuses.
fn names_one(condition: &str, joins: &[Join], dbms: Dbms) -> bool {
    // What cannot be read may name any.
    let sql = Sql::read(condition, Some(dbms));
    sql.map_or(true, |sql| {
        let names =
            |join: &Join| sql.names_column_of(&join.alias) || names_row_of(&sql, &join.alias);
        joins.iter().any(names)
    })
}

/// Writes a scan as one statement.
///
/// Without embeds it is one SELECT. With embeds it is a UNION ALL of one part for the scan's own rows
/// and one for each embed, sorted by the scan's key and then by a tag: every parent comes before
/// its children, and these before the next parent. So one statement reads all from one
/// snapshot, the database does the sorting, and nobody holds more than one family.
///
/// A child carries the key of its parent as the parent's row has it, not its own reference: under a
/// collation the two may be equal and yet differ. A child that finds no parent has a negative tag.
pub fn statement(dialect: &dyn Dialect, scan: &Scan) -> String {
    let layout = ScanLayout::new(scan);
    let base = Rows::new(dialect, scan, true);
    if layout.tag.is_none() {
        let columns = (0..scan.columns.len()).filter_map(|index| base.column(index));
        let conditions = (0..scan.conditions.len()).filter_map(|index| base.flag(index));
        let mut sql = base.select(&named(columns.chain(conditions)));
        if let Some(limit) = scan.limit {
            let key = scan.key.iter().filter_map(|column| base.stored(*column));
            let key: Vec<String> = key.collect();
            if !key.is_empty() {
                sql.push_str(&format!("\nORDER BY {}", key.join(", ")));
            }
            sql.push_str(&format!("\nLIMIT {limit}"));
        }
        return sql;
    }
    let union = Union::new(dialect, scan, &layout);
    let parts = joined(
        (0..layout.nodes.len()).map(|node| union.part(node)),
        "\nUNION ALL\n",
    );
    let key = layout.nodes.first().map(|node| node.key.as_slice());
    let order: Vec<String> = key
        .unwrap_or_default()
        .iter()
        .chain(&layout.tag)
        .filter_map(|output| union.columns.get(*output))
        .map(|column| (column + 1).to_string())
        .collect();
    format!("{parts}\nORDER BY {}", order.join(", "))
}

/// A query that selects a scan's conditions as values from no rows, and counts the rows that this gives. More than 0 means that an
/// aggregate in a subquery, such as `max`, belongs to the scan's own SELECT, which would then give one row for the whole relation.
/// `None` where no condition has a subquery.
pub fn values_of_no_rows(dialect: &dyn Dialect, scan: &Scan) -> Option<String> {
    let counted = joined(counts_of_no_rows(dialect, scan, false), " + ");
    (!counted.is_empty()).then(|| format!("SELECT {counted} AS c0"))
}

/// What it adds, for a scan and its embeds, whose conditions leave rows out and are no values.
fn counts_of_no_rows(dialect: &dyn Dialect, scan: &Scan, is_embed: bool) -> Vec<String> {
    let rows = Rows::new(dialect, scan, is_embed);
    let no_values = if rows.is_restricted {
        scan.conditions.len()
    } else {
        0
    };
    let counted = [true, false].into_iter().filter_map(|inner| {
        let flags = rows.flags.iter().skip(no_values);
        let flags = flags.filter(|flag| flag.inner == inner);
        let flags = flags.filter(|flag| flag.sql.to_lowercase().contains("select"));
        let values: Vec<String> = flags.map(Flag::value).collect();
        let mut sql = format!(
            "SELECT {}\nFROM {} AS {}",
            named(values.iter().cloned()).join(", "),
            dialect.relation(&scan.from),
            rows.base
        );
        for join in scan.joins.iter().filter(|_| !inner) {
            rows.join(&mut sql, join);
        }
        let count = format!(
            "(SELECT {} FROM ({sql}\nWHERE 1 = 0) AS n)",
            dialect.count()
        );
        (!values.is_empty()).then_some(count)
    });
    let mut counted: Vec<String> = counted.collect();
    for column in &scan.columns {
        if let ScanColumn::Embed(embed) = column {
            counted.extend(counts_of_no_rows(dialect, &embed.rows, true));
        }
    }
    counted
}

/// Counts the children of a scan's embeds that find no parent, the scan's range left aside: rows of a node's number
/// and its orphans. With the embed's column for each node; `None` where a scan has no embeds.
pub(super) fn orphans(dialect: &dyn Dialect, scan: &Scan) -> Option<(String, Vec<usize>)> {
    let whole = Scan {
        range: None,
        ..scan.clone()
    };
    let layout = ScanLayout::new(&whole);
    layout.tag?;
    let union = Union::new(dialect, &whole, &layout);
    let counts = (1..layout.nodes.len()).map(|node| {
        let chain = union.chain(node);
        let children = union.derived(node, &chain);
        format!(
            "SELECT {node} AS c0, {} AS c1\nFROM {children}{}\nWHERE e0.wanted IS NULL",
            dialect.count(),
            union.parents(&chain, "LEFT JOIN")
        )
    });
    let sql = joined(counts, "\nUNION ALL\n");
    Some((sql, layout.nodes.iter().map(|node| node.root).collect()))
}

/// The parts of a statement.
struct Union<'a> {
    dialect: &'a dyn Dialect,
    scan: &'a Scan,
    layout: &'a ScanLayout<'a>,
    /// The column of each output.
    columns: Vec<usize>,
}

impl<'a> Union<'a> {
    fn new(dialect: &'a dyn Dialect, scan: &'a Scan, layout: &'a ScanLayout<'a>) -> Self {
        let columns = if dialect.shares_columns() {
            layout.shared_columns()
        } else {
            (0..layout.outputs.len()).collect()
        };
        Self {
            dialect,
            scan,
            layout,
            columns,
        }
    }

    /// The rows of one node, with the keys of the nodes above it.
    fn part(&self, node: usize) -> String {
        let chain = self.chain(node);
        let width = self.columns.iter().max().map_or(0, |last| last + 1);
        let outputs = (0..width).map(|column| self.column(column, &chain));
        let select = format!("SELECT {}", named(outputs).join(", "));
        if node != 0 && self.scan.range.is_some() {
            return self.ranged(&chain, &select);
        }
        let mut sql = format!("{select}\nFROM {}", self.derived(node, &chain));
        if node == 0 {
            if self.dialect.types_nulls() {
                for other in 1..self.layout.nodes.len() {
                    let derived = self.derived(other, &[other]);
                    sql.push_str(&format!("\nLEFT JOIN {derived} ON 1 = 0"));
                }
            }
            return sql;
        }
        // With a limit, whoever has no parent among the rows says nothing of the whole.
        let join = if self.scan.limit.is_some() {
            "JOIN"
        } else {
            "LEFT JOIN"
        };
        sql.push_str(&self.parents(&chain, join));
        if self.scan.limit.is_none() && Rows::new(self.dialect, self.scan, true).is_restricted {
            sql.push_str("\nWHERE e0.wanted IS NULL OR e0.wanted = 1");
        }
        sql
    }

    /// The rows of one node below the parents of a range: from these down, so that no children are
    /// read but theirs. Whoever has no parent among them says nothing of the whole.
    fn ranged(&self, chain: &[usize], select: &str) -> String {
        let mut sql = format!("{select}\nFROM {}", self.derived(0, chain));
        for pair in chain.windows(2).rev() {
            let [child, parent] = pair else { continue };
            let derived = self.derived(*child, chain);
            let name = format!("e{child}");
            let on = self.on(*child, *parent);
            sql.push('\n');
            sql.push_str(&self.dialect.children(&derived, &name, &on));
        }
        sql
    }

    /// Joins the rows above a node's.
    fn parents(&self, chain: &[usize], join: &str) -> String {
        let pairs = chain.iter().zip(chain.iter().skip(1));
        let joins = pairs.map(|(child, parent)| {
            let derived = self.derived(*parent, chain);
            format!("\n{join} {derived} ON {}", self.on(*child, *parent))
        });
        joins.collect()
    }

    /// What is equal between children and their parents.
    fn on(&self, child: usize, parent: usize) -> String {
        let matches = self
            .matches(child)
            .map(|index| format!("e{parent}.u{child}_{index} = e{child}.m{child}_{index}"));
        joined(matches, " AND ")
    }

    /// A node and all above it, the scan itself last.
    fn chain(&self, node: usize) -> Vec<usize> {
        let mut chain = vec![node];
        let mut at = node;
        while at != 0 {
            at = self.layout.nodes.get(at).map_or(0, |node| node.parent);
            chain.push(at);
        }
        chain
    }

    fn matches(&self, node: usize) -> std::ops::Range<usize> {
        let embed = self.layout.nodes.get(node).and_then(|node| node.embed);
        0..embed.map_or(0, |embed| embed.on.len())
    }

    /// What a part has in a column.
    fn column(&self, column: usize, chain: &[usize]) -> String {
        let own = chain.first().copied().unwrap_or_default();
        let is_here = |output: &usize| self.columns.get(*output) == Some(&column);
        if self.layout.tag.as_ref().is_some_and(is_here) {
            return match own {
                0 => "0".to_owned(),
                own => format!("CASE WHEN e0.wanted IS NULL THEN -{own} ELSE {own} END"),
            };
        }
        let cell = |index: usize| {
            let mut cells = self.layout.nodes.get(index)?.cells.iter();
            let found = cells.find(|(output, _)| is_here(output));
            found.map(|(output, _)| format!("e{index}.c{output}"))
        };
        let key = |index: usize| {
            let mut key = self.layout.nodes.get(index)?.key.iter();
            let found = key.find(|output| is_here(output));
            found.map(|output| format!("e{index}.c{output}"))
        };
        let above = chain.iter().skip(1);
        let held = cell(own).or_else(|| above.copied().find_map(key));
        let typed = || {
            let all =
                (own == 0 && self.dialect.types_nulls()).then_some(0..self.layout.nodes.len());
            all.into_iter().flatten().find_map(cell)
        };
        held.or_else(typed).unwrap_or_else(|| "NULL".to_owned())
    }

    /// A node's rows as a derived table: all columns where the part is of this node, the key
    /// alone where it is of one below, and what parents and children are matched by.
    fn derived(&self, index: usize, chain: &[usize]) -> String {
        let Some(node) = self.layout.nodes.get(index) else {
            return String::new();
        };
        let own = chain.first() == Some(&index);
        let is_base = index == 0;
        let part = self.scan.limit.is_some() || self.scan.range.is_some();
        let rows = Rows::new(self.dialect, node.scan, !is_base || own || part);
        let mut outputs = Vec::new();
        for (output, place) in &node.cells {
            if !own && !node.key.contains(output) {
                continue;
            }
            let beyond = place.checked_sub(node.scan.columns.len());
            let value = beyond.map_or_else(|| rows.column(*place), |nth| rows.flag(nth));
            outputs.extend(value.map(|value| format!("{value} AS c{output}")));
        }
        let below = chain.windows(2).find(|pair| pair.get(1) == Some(&index));
        if let Some([child, _]) = below
            && let Some(embed) = self.layout.nodes.get(*child).and_then(|node| node.embed)
        {
            let ours = embed.on.iter().enumerate();
            outputs.extend(
                ours.map(|(at, on)| format!("{} AS u{child}_{at}", rows.stored_column(on))),
            );
        }
        if let Some(embed) = node.embed {
            let theirs = embed.on.iter().enumerate();
            outputs.extend(theirs.map(|(at, on)| format!("{} AS m{index}_{at}", rows.theirs(on))));
        }
        if is_base && !own {
            outputs.push(format!("{} AS wanted", rows.wanted()));
        }
        let mut sql = rows.select(&outputs);
        if let Some(limit) = self.scan.limit.filter(|_| is_base) {
            let key: Vec<String> = node
                .scan
                .key
                .iter()
                .filter_map(|column| rows.column(*column))
                .collect();
            sql.push_str(&format!("\nORDER BY {}\nLIMIT {limit}", key.join(", ")));
        }
        format!("({sql}) AS e{index}")
    }
}

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::{DataType, TableName};
    use dynafold_relational::scan::{Embed, Join, Match, Relation, ScanColumn};

    use super::*;

    struct Plain;

    impl Dialect for Plain {
        fn dbms(&self) -> Dbms {
            Dbms::Sqlite
        }
    }

    fn table(name: &str) -> TableName {
        TableName {
            schema: "main".into(),
            name: name.into(),
        }
    }

    fn column(join: Option<usize>, name: &str) -> ScanColumn {
        ScanColumn::Column {
            join,
            name: name.into(),
            data_type: DataType::Text { max_chars: None },
        }
    }

    fn lines(conditions: &[&str]) -> Scan {
        Scan {
            from: Relation::Table(table("line")),
            columns: vec![column(Some(0), "title")],
            key: Vec::new(),
            joins: vec![Join {
                alias: "p".into(),
                table: table("product"),
                on: vec![Match {
                    join: None,
                    ours: "product_id".into(),
                    theirs: "id".into(),
                }],
                is_single: true,
            }],
            conditions: conditions.iter().map(|&c| c.to_owned()).collect(),
            plain: Vec::new(),
            keep_unmatched: false,
            limit: None,
            range: None,
        }
    }

    #[test]
    fn conditions_on_the_base_table_cannot_be_ambiguous() {
        let mut scan = lines(&["id > 3 -- mine"]);
        scan.limit = Some(5);
        assert_eq!(
            statement(&Plain, &scan),
            "SELECT \"p\".\"title\" AS c0, 1 AS c1\n\
             FROM (SELECT \"line\".*\nFROM \"main\".\"line\" AS \"line\"\nWHERE (id > 3 -- mine\n)) AS \"line\"\n\
             LEFT JOIN \"main\".\"product\" AS \"p\" ON \"p\".\"id\" = \"line\".\"product_id\"\nLIMIT 5"
        );
    }

    #[test]
    fn a_condition_that_names_a_parent_leaves_the_others_with_the_base_table() {
        let sql = statement(&Plain, &lines(&["P.title = 'x'", "id > 3"]));
        assert!(
            sql.ends_with("WHERE (P.title = 'x'\n) OR \"line\".\"dynafold_condition_1\" = 1"),
            "{sql}"
        );
        for condition in ["[p].title = 'x'", "'p'.title = 'x'", "p/**/.title = 'x'"] {
            let sql = statement(&Plain, &lines(&[condition]));
            assert!(sql.ends_with(&format!("WHERE ({condition}\n)")), "{sql}");
        }
    }

    #[test]
    fn a_range_leaves_out_rows_before_parents_are_joined_and_conditions_asked() {
        let mut scan = lines(&["id > 3 OR id = 1"]);
        scan.range = Some(dynafold_relational::scan::Range {
            by: dynafold_relational::scan::RangeKey::Key(vec!["a".into(), "b".into()]),
            after: Some(vec!["1".into(), "'x'".into()]),
            to: None,
        });
        let sql = statement(&Plain, &scan);
        let wanted = "WHERE (\"line\".\"a\", \"line\".\"b\") > (1, 'x') AND \
             ((id > 3 OR id = 1\n))) AS \"line\"\nLEFT JOIN";
        assert!(sql.contains(wanted), "{sql}");
    }

    fn orders() -> Scan {
        let mut children = lines(&[]);
        children.columns = vec![column(None, "no")];
        children.joins.clear();
        Scan {
            from: Relation::Table(table("order")),
            columns: vec![
                column(None, "id"),
                ScanColumn::Embed(Box::new(Embed {
                    rows: children,
                    on: vec![Match {
                        join: None,
                        ours: "id".into(),
                        theirs: "order_id".into(),
                    }],
                    order: Vec::new(),
                    most: None,
                })),
            ],
            key: vec![0],
            joins: Vec::new(),
            conditions: vec!["open".into()],
            plain: Vec::new(),
            keep_unmatched: false,
            limit: None,
            range: None,
        }
    }

    #[test]
    fn children_come_behind_their_parents() {
        assert_eq!(
            statement(&Plain, &orders()),
            "SELECT e0.c0 AS c0, e0.c1 AS c1, 0 AS c2, NULL AS c3\n\
             FROM (SELECT \"order\".\"id\" AS c0, 1 AS c1\n\
             FROM \"main\".\"order\" AS \"order\"\nWHERE (open\n)) AS e0\n\
             UNION ALL\n\
             SELECT e0.c0 AS c0, NULL AS c1, CASE WHEN e0.wanted IS NULL THEN -1 ELSE 1 END AS c2, e1.c3 AS c3\n\
             FROM (SELECT \"line\".\"no\" AS c3, \"line\".\"order_id\" AS m1_0\n\
             FROM \"main\".\"line\" AS \"line\") AS e1\n\
             LEFT JOIN (SELECT \"order\".\"id\" AS c0, \"order\".\"id\" AS u1_0, CASE WHEN (open\n) THEN 1 ELSE 0 END AS wanted\n\
             FROM \"main\".\"order\" AS \"order\") AS e0 ON e0.u1_0 = e1.m1_0\n\
             WHERE e0.wanted IS NULL OR e0.wanted = 1\n\
             ORDER BY 1, 3"
        );
    }

    struct Untyped;

    impl Dialect for Untyped {
        fn dbms(&self) -> Dbms {
            Dbms::Postgres
        }

        fn shares_columns(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_condition_may_name_a_parent_as_a_row_in_postgresql() {
        let outside = |condition: &str| {
            let sql = statement(&Untyped, &lines(&[condition]));
            sql.ends_with(&format!("WHERE ({condition}\n)"))
        };
        for condition in [
            "p IS NULL",
            "row_to_json(P) IS NOT NULL",
            "p.* IS NULL",
            "(\"p\").title = 'x'",
        ] {
            assert!(outside(condition), "{condition}");
        }
        for condition in [
            "id IN (SELECT x FROM p)",
            "EXISTS (SELECT 1 FROM a AS p)",
            "\"P\" IS NULL",
            "x = 'p'",
        ] {
            assert!(!outside(condition), "{condition}");
        }
    }

    #[test]
    fn children_stand_in_the_columns_of_their_parents_where_these_have_no_type() {
        let sql = statement(&Untyped, &orders());
        let heads: Vec<&str> = sql.lines().filter(|l| l.contains(" AS c2")).collect();
        assert_eq!(
            heads,
            [
                "SELECT e0.c0 AS c0, e0.c1 AS c1, 0 AS c2",
                "SELECT e0.c0 AS c0, e1.c3 AS c1, CASE WHEN e0.wanted IS NULL THEN -1 ELSE 1 END AS c2",
            ]
        );
        assert!(sql.ends_with("ORDER BY 1, 3"), "{sql}");
    }
}
