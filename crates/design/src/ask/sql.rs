//! The SQL of an access pattern, where it differs from the query in the workload.

use dynafold_format::free_name;
use dynafold_relational::catalog::{Column, Dbms, Table, in_byte_order};
use dynafold_sql::{
    ColumnRef, Comparator, Condition, ConditionTest, Constant, Operand, OperandValue, SortKey,
    identifier, literal, qualified, table_reference,
};

use super::{At, ChildAsk, Pair, REWRITE, Reading, Unserved, Ways, folds_case, unserved};
use crate::path::{Path, Step};

impl<'c> Reading<'c, '_> {
    /// The query written anew: without what the application computes, and with outer joins to children. `sorts`: with ORDER BY and
    /// LIMIT.
    pub(super) fn written(
        &self,
        root: usize,
        ways: &Ways,
        children: &[(usize, ChildAsk<'c>)],
        outputs: &[(Path, String)],
        sorts: bool,
    ) -> Result<String, Unserved> {
        let has_children = !children.is_empty();
        let selected = self.selected(ways, children, outputs);
        let joined = self.joined(root, ways, has_children)?;
        let mut text = format!("SELECT {} FROM {joined}", selected.join(", "));
        let conditions = self.conditions.iter().map(|condition| {
            let exact = self.exactly(condition, ways, has_children.then_some(root));
            let of_parent = || self.of_parent(condition, root).filter(|_| has_children);
            let written = exact.or_else(of_parent).or_else(|| self.aliased(condition));
            written.map_or_else(
                || unserved(format!("asks for `{}`", condition.text), REWRITE),
                Ok,
            )
        });
        let mut conditions: Vec<String> = conditions.collect::<Result<_, _>>()?;
        if let Some(((at, column), _)) = &self.extreme {
            conditions.push(format!("{} IS NOT NULL", self.column_of(*at, column)));
        }
        if !conditions.is_empty() {
            text.push_str(&format!(" WHERE {}", conditions.join(" AND ")));
        }
        let is_sorted = match children {
            _ if !sorts => false,
            [] => true,
            [(_, child)] => !child.order.is_empty(),
            _ => false,
        };
        let terms = self.sort_terms(root, ways);
        if is_sorted && !terms.is_empty() {
            text.push_str(&format!(" ORDER BY {}", terms.join(", ")));
        }
        if let (Some(rows), false) = self.most_rows()?
            && sorts
            && !has_children
        {
            text.push_str(&format!(" LIMIT {rows}"));
        }
        Ok(text)
    }

    /// What the query calls a relation.
    pub(super) fn alias(&self, at: usize) -> String {
        let relation = self.select.relations.get(at);
        let called = relation.and_then(|relation| relation.called.as_ref());
        called.map_or_else(String::new, |called| {
            identifier(&called.text, self.catalog.dbms)
        })
    }

    pub(super) fn column_of(&self, at: usize, column: &str) -> String {
        let column = identifier(column, self.catalog.dbms);
        format!("{}.{column}", self.alias(at))
    }

    fn selected(
        &self,
        ways: &Ways,
        children: &[(usize, ChildAsk<'c>)],
        outputs: &[(Path, String)],
    ) -> Vec<String> {
        let mut selected: Vec<String> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut add = |ways: &Ways, path: &Path, name: String, names: &mut Vec<String>| {
            let Some((at, column)) = at_end(ways, path) else {
                return;
            };
            let own = self.column_of(at, &column);
            selected.push(if path.column == name {
                own
            } else {
                format!("{own} AS {}", identifier(&name, self.catalog.dbms))
            });
            names.push(name);
        };
        for (path, name) in outputs {
            add(ways, path, name.clone(), &mut names);
        }
        let all = self.all_ways();
        for (at, child) in children {
            let Some(ways) = all.get(*at) else { continue };
            for (path, name) in &child.outputs {
                let name = child_name(&names, child.table, name);
                add(ways, path, name, &mut names);
            }
        }
        selected
    }

    /// The tables with their joins.
    fn joined(&self, root: usize, ways: &Ways, has_children: bool) -> Result<String, Unserved> {
        // Lists of children are joined to their parent, not to each other.
        let is_related = |one: usize, other: usize| {
            !has_children || self.leads(one, other) || self.leads(other, one)
        };
        let written = |(at, column): &At| self.column_of(*at, column);
        let mut text = self.from(root);
        let mut from = vec![root];
        loop {
            let mut rest = (0..self.tables.len()).filter(|at| !from.contains(at));
            let next = rest.find_map(|at| {
                let sides = self.pairs.iter().flat_map(Pair::sides);
                let sides =
                    sides.filter(|(a, b)| a.0 == at && from.contains(&b.0) && is_related(at, b.0));
                let on = sides.map(|(a, b)| format!("{} = {}", written(a), written(b)));
                let on: Vec<String> = on.collect();
                (!on.is_empty()).then_some((at, on))
            });
            let Some((at, on)) = next else { break };
            // A collection also has the rows that the query leaves out because they lack a parent.
            let lacked =
                |way: &[Step]| self.required_parent_column(self.tables.get(root)?, way, &[]);
            let may_lack = |way: &Vec<Step>| has_children && lacked(way).is_some();
            let is_outer = ways.get(&at).is_none_or(may_lack) || self.may_be_missing(at);
            let join = if is_outer { "LEFT JOIN" } else { "JOIN" };
            let (table, on) = (self.from(at), on.join(" AND "));
            text.push_str(&format!(" {join} {table} ON {on}"));
            from.push(at);
        }
        if from.len() != self.tables.len() {
            return unserved("joins tables without saying by which columns", REWRITE);
        }
        Ok(text)
    }

    /// The column that an answer has for a selected one: for a parent's key the child's reference.
    pub(super) fn answered_as(&self, ways: &Ways, asked: &At) -> At {
        let path = self.path(ways, asked.0, asked.1.clone());
        let found = path.and_then(|path| at_end(ways, &path));
        found.unwrap_or_else(|| asked.clone())
    }

    /// The column that the key has for a compared one.
    pub(super) fn compared_as(&self, ways: &Ways, asked: At) -> At {
        let path = self.compared_path(ways, asked.clone());
        let found = path.and_then(|path| at_end(ways, &path));
        found.unwrap_or(asked)
    }

    /// The terms of ORDER BY.
    fn sort_terms(&self, root: usize, ways: &Ways) -> Vec<String> {
        if self.extreme.is_some() {
            let terms = self.extreme_order(root).into_iter();
            let terms = terms.map(|((at, column), descends)| {
                let own = self.column_of(at, &column);
                let found = self.found(&(at, column));
                let exact = found.and_then(|(_, one)| by_bytes(one, &own, self.catalog.dbms));
                format!("{}{}", exact.unwrap_or(own), direction(descends))
            });
            return terms.collect();
        }
        let keys = self.query.order.iter().flatten();
        let sorted: Vec<(&SortKey, At)> = keys
            .filter_map(|key| Some((key, self.sort_column(key)?)))
            .collect();
        let is_folded = |(key, asked): &(&SortKey, At)| {
            let column = || self.tables.get(asked.0)?.column(&asked.1);
            key.in_lower.is_some() || self.is_folded(asked) && column().is_some_and(ignores_case)
        };
        let terms = sorted.iter().filter_map(|one @ (key, asked)| {
            let (at, column) = self.answered_as(ways, asked);
            let found = self.tables.get(at)?.column(&column)?;
            let own = in_lower(self.column_of(at, &column), is_folded(one));
            let own = by_bytes(found, &own, self.catalog.dbms).unwrap_or(own);
            Some(format!("{own}{}", direction(key.descending)))
        });
        let mut terms: Vec<String> = terms.collect();
        // Texts that are equal in lower case are sorted by the key.
        if self.is_by_key || sorted.iter().any(is_folded) {
            let rest = self.rest_of_key(root).into_iter();
            terms.extend(rest.map(|(column, descends)| {
                format!("{}{}", self.column_of(root, &column), direction(descends))
            }));
        }
        terms
    }

    /// A condition with the query's aliases before its columns.
    pub(super) fn aliased(&self, condition: &Condition) -> Option<String> {
        let owner = |owner: Option<&str>, name: &str| {
            let found = self.relation_of(owner, name)?;
            let called = self.select.relations.get(found)?.called.as_ref()?;
            Some(called.text.clone())
        };
        qualified(&condition.text, self.catalog.dbms, &owner)
    }

    /// The relation that a column of a condition is of.
    pub(super) fn relation_of(&self, owner: Option<&str>, name: &str) -> Option<usize> {
        match owner {
            Some(owner) => self.select.called(owner),
            None => self.tables.iter().position(|table| {
                let mut columns = table.columns.iter();
                columns.any(|column| column.name.eq_ignore_ascii_case(name))
            }),
        }
    }

    /// The root's column that the joins hold equal to a column, else that column.
    fn at_root(&self, at: At, root: Option<usize>) -> At {
        let mut equal = self.equal_to(&at).into_iter();
        root.and_then(|root| equal.find(|(at, _)| *at == root))
            .unwrap_or(at)
    }

    /// An equality of a collection's key, as a condition on the parent: on a child, it would leave out a parent without children.
    fn of_parent(&self, condition: &Condition, root: usize) -> Option<String> {
        let [left, right] = condition.equal()?;
        let (at, column) = self.at_root(self.column(left.column()?)?, Some(root));
        let value = match &right.value {
            OperandValue::Parameter(name) => format!(":{name}"),
            OperandValue::Constant(Constant::Text(text)) => literal(text, self.catalog.dbms),
            _ => return None,
        };
        (at == root && right.around.is_empty())
            .then(|| format!("{} = {value}", self.column_of(at, &column)))
    }

    /// A comparison written so that only the same bytes are equal; `None` where the database compares so by itself. `root`: the
    /// parent of an item collection.
    fn exactly(&self, condition: &Condition, ways: &Ways, root: Option<usize>) -> Option<String> {
        let stored = |asked: At| match root {
            Some(_) => self.at_root(asked, root),
            None => self.compared_as(ways, asked),
        };
        if let Some((operand, beginning)) = begins(condition) {
            let (at, name) = stored(self.column(column_in(operand)?)?);
            let own = self.column_of(at, &name);
            let [folds, folds_parameter] = self.folded(condition);
            let folded = |text: String| in_lower(text, folds);
            let begin = in_lower(format!(":{}", parameter_in(beginning)?), folds_parameter);
            // `_` and `%` in a parameter stand for themselves, as they do in a key.
            return Some(match self.catalog.dbms {
                Dbms::Postgres => {
                    let own = folded(format!("CAST({own} AS text)"));
                    format!("starts_with({own}, {begin})")
                }
                Dbms::Sqlite => {
                    let own = folded(own);
                    format!("substr({own}, 1, length({begin})) = {begin}")
                }
                Dbms::Mysql | Dbms::Mariadb => {
                    let own = mysql_bytes(&folded(own));
                    format!("LEFT({own}, OCTET_LENGTH({begin})) = CAST({begin} AS BINARY)")
                }
            });
        }
        if let Some((operand, bounds)) = bounds(condition) {
            let (at, name) = stored(self.column(operand.column()?)?);
            let found = self.tables.get(at)?.column(&name)?;
            let is_mysql = matches!(self.catalog.dbms, Dbms::Mysql | Dbms::Mariadb);
            let is_loose = found.insensitive || ignores_blanks(found, self.catalog.dbms);
            let own = mysql_bytes(&self.column_of(at, &name));
            let parts = bounds.iter().map(|(sign, bound)| {
                let parameter = bound.parameter()?;
                Some(format!("{own} {sign} CAST(:{parameter} AS BINARY)"))
            });
            let parts: Vec<String> = parts.collect::<Option<_>>()?;
            return (is_mysql && is_loose).then(|| parts.join(" AND "));
        }
        let [left, right] = condition.equal()?;
        let (at, name) = stored(self.column(column_in(left)?)?);
        let table = *self.tables.get(at)?;
        let found = table.column(&name)?;
        let dbms = self.catalog.dbms;
        let constant = text_constant(condition).map(|(_, text)| text);
        let constant = constant.filter(|text| self.is_key_constant(text, found));
        let value = match &right.value {
            OperandValue::Parameter(name) => format!(":{name}"),
            _ => literal(constant?, dbms),
        };
        if self.is_lower_enough(table, found) {
            return None;
        }
        let in_case = |operand: &Operand, text: String| match operand.around.as_slice() {
            [] => Some(text),
            _ => folds_case(operand).then(|| format!("lower({text})")),
        };
        let own = in_case(left, self.column_of(at, &name))?;
        let parameter = in_case(right, value)?;
        // PostgreSQL takes no account of blanks at the end of `character(n)`.
        if dbms == Dbms::Postgres && ignores_blanks(found, dbms) {
            return Some(format!(
                "{own} = {parameter} AND octet_length(CAST({parameter} AS text)) = octet_length({own})"
            ));
        }
        is_loose(found, dbms).then(|| match dbms {
            Dbms::Postgres => format!("CAST({own} AS text) COLLATE \"C\" = {parameter}"),
            Dbms::Sqlite => format!("{own} COLLATE BINARY = {parameter}"),
            Dbms::Mysql | Dbms::Mariadb => {
                format!("{} = CAST({parameter} AS BINARY)", mysql_bytes(&own))
            }
        })
    }

    /// Whether a column is equal to a text exactly where both are equal in lower case: under SQLite's NOCASE, which ignores the case of
    /// ASCII letters, and of PostgreSQL's citext, which compares by `lower`, if all values are ASCII.
    pub(super) fn is_lower_enough(&self, table: &Table, column: &Column) -> bool {
        let collation = column.collation.as_deref().unwrap_or_default();
        let is_nocase = match self.catalog.dbms {
            Dbms::Sqlite => collation.eq_ignore_ascii_case("NOCASE"),
            Dbms::Postgres => collation == "citext",
            Dbms::Mysql | Dbms::Mariadb => false,
        };
        is_nocase
            && self.observed.is_ascii(table, &column.name)
            && !self.observed.is_mixed(table, &column.name)
    }

    /// Whether the query asks for a prefix of a column's texts and ignores case.
    pub(super) fn is_folded(&self, of: &At) -> bool {
        self.conditions.iter().any(|condition| {
            let column = begins(condition).and_then(|(operand, _)| column_in(operand));
            column.and_then(|column| self.column(column)).as_ref() == Some(of)
                && self.folded(condition)[0]
        })
    }

    /// For a LIKE, whether the column, and whether the prefix, are compared in lower case: because the query says so, or because the
    /// database ignores case.
    pub(super) fn folded(&self, condition: &Condition) -> [bool; 2] {
        let Some((operand, beginning)) = begins(condition) else {
            return [false; 2];
        };
        let column = || {
            let (at, name) = self.column(column_in(operand)?)?;
            self.tables.get(at)?.column(&name)
        };
        let is_loose = self.catalog.dbms == Dbms::Sqlite
            || condition.text.contains(" ILIKE ")
            || column().is_some_and(ignores_case);
        [operand, beginning].map(|side| is_loose || folds_case(side))
    }

    /// The columns of comparisons in which the database takes different texts for equal.
    pub(super) fn compares_loosely(&self, ways: &Ways) -> Vec<String> {
        let loose = self.conditions.iter();
        let loose = loose.filter(|one| self.exactly(one, ways, None).is_some());
        let columns = loose.filter_map(|one| {
            let column = match bounds(one) {
                Some((operand, _)) => operand.column()?,
                None => column_in(one.equal()?[0])?,
            };
            Some(column.name.text.clone())
        });
        columns.collect()
    }

    /// A table in FROM, with its alias where it has one.
    pub(super) fn from(&self, at: usize) -> String {
        let (name, alias) = (self.table_name(at), self.alias(at));
        if name == alias {
            name
        } else {
            format!("{name} {alias}")
        }
    }

    pub(super) fn table_name(&self, at: usize) -> String {
        let table = self.tables.get(at);
        table.map_or_else(String::new, |table| {
            table_reference(self.catalog, &table.name)
        })
    }
}

/// The two sides of a LIKE that asks for a prefix and for nothing else: what is compared, and the prefix.
pub(super) fn begins(condition: &Condition) -> Option<(&Operand, &Operand)> {
    match &condition.test {
        ConditionTest::Like {
            operand,
            beginning: Some(beginning),
            ..
        } if !beginning.parameters().is_empty() => Some((operand, beginning)),
        _ => None,
    }
}

/// The parameter of an operand that is one, unchanged or in lower or upper case.
pub(super) fn parameter_in(operand: &Operand) -> Option<&str> {
    match &operand.value {
        OperandValue::Parameter(name) if operand.around.is_empty() || folds_case(operand) => {
            Some(name)
        }
        _ => None,
    }
}

/// The column of an operand that is one, unchanged or in lower or upper case.
pub(super) fn column_in(operand: &Operand) -> Option<&ColumnRef> {
    match &operand.value {
        OperandValue::Column(column) if operand.around.is_empty() || folds_case(operand) => {
            Some(column)
        }
        _ => None,
    }
}

/// A range of a column: what is compared, with each bound and its sign.
fn bounds(condition: &Condition) -> Option<(&Operand, Vec<(&'static str, &Operand)>)> {
    match &condition.test {
        ConditionTest::Compare { left, op, right } if op.is_range() => {
            Some((left, vec![(sign(*op), right)]))
        }
        ConditionTest::Between {
            operand,
            negated: false,
            low,
            high,
        } => Some((operand, vec![(">=", low), ("<=", high)])),
        _ => None,
    }
}

/// A comparator as SQL and filters write it.
pub(super) fn sign(comparator: Comparator) -> &'static str {
    match comparator {
        Comparator::Equal | Comparator::NotDistinct => "=",
        Comparator::NotEqual => "<>",
        Comparator::Less => "<",
        Comparator::LessOrEqual => "<=",
        Comparator::Greater => ">",
        Comparator::GreaterOrEqual => ">=",
    }
}

/// Whether comparisons ignore blanks at the end though the collation is exact: `ab` is equal to `ab `, and a key has one of the
/// two.
pub(super) fn ignores_blanks(column: &Column, dbms: Dbms) -> bool {
    match dbms {
        // The catalog gives a domain over character(n) the collation `bpchar`.
        Dbms::Postgres => {
            column.declared.starts_with("character(")
                || column.collation.as_deref() == Some("bpchar")
        }
        Dbms::Mysql | Dbms::Mariadb => column.declared.starts_with("char("),
        Dbms::Sqlite => false,
    }
}

/// The column and the text of a condition that holds one equal to the other.
pub(super) fn text_constant(condition: &Condition) -> Option<(&ColumnRef, &str)> {
    let [left, right] = condition.equal()?;
    match &right.value {
        OperandValue::Constant(Constant::Text(text)) if right.around.is_empty() => {
            Some((left.column()?, text))
        }
        _ => None,
    }
}

/// Whether comparisons ignore case. They do not under MySQL's collations `_bin`, `_cs` and `_cs_ks`, which may ignore accents or
/// blanks at the end, nor with `character` of PostgreSQL and RTRIM of SQLite, which ignore blanks at the end alone.
pub(crate) fn ignores_case(column: &Column) -> bool {
    // The catalog keeps no name of a collation that sorts by bytes.
    let collation = column.collation.as_deref();
    column.insensitive
        && collation.is_some_and(|name| {
            let name = name.trim_end_matches("_ks");
            let ignores_blanks_alone = name == "bpchar" || name.eq_ignore_ascii_case("RTRIM");
            !ignores_blanks_alone && !name.ends_with("_bin") && !name.ends_with("_cs")
        })
}

/// Whether a column is equal to more than one text: by its collation, by blanks at the end, or because PostgreSQL cuts what it compares
/// with `"char"` or `name` to their length, and MariaDB reads addresses.
pub(crate) fn is_loose(column: &Column, dbms: Dbms) -> bool {
    let is_other = match dbms {
        Dbms::Postgres => ["\"char\"", "name"].contains(&&*column.declared),
        // `10.0.0.1 ` is an address, too.
        Dbms::Mariadb => column.declared.starts_with("inet"),
        _ => false,
    };
    column.insensitive || is_other || ignores_blanks(column, dbms)
}

/// A column as a term of ORDER BY that sorts by bytes; `None` where the database does so by itself.
pub(super) fn by_bytes(column: &Column, written: &str, dbms: Dbms) -> Option<String> {
    let collation = column.collation.as_ref()?;
    Some(in_byte_order(written, collation, dbms))
}

/// The path's column, in the relation that its steps lead to.
fn at_end(ways: &Ways, path: &Path) -> Option<At> {
    let (at, _) = ways.iter().find(|(_, way)| **way == path.steps)?;
    Some((*at, path.column.clone()))
}

fn in_lower(text: String, folds: bool) -> String {
    if folds {
        format!("lower({text})")
    } else {
        text
    }
}

/// What stands behind a term of ORDER BY.
pub(super) fn direction(descends: bool) -> &'static str {
    if descends { " DESC" } else { "" }
}

/// The bytes of a text, in the SQL of MySQL and MariaDB.
pub(super) fn mysql_bytes(text: &str) -> String {
    format!("CAST(CONVERT({text} USING utf8mb4) AS BINARY)")
}

/// The name of a child's column in a result that has the names `taken` already.
pub(crate) fn child_name(taken: &[String], table: &Table, name: &str) -> String {
    let is_taken = |name: &str| taken.iter().any(|known| known == name);
    if is_taken(name) {
        free_name(&format!("{}_{name}", table.name.name), &is_taken)
    } else {
        name.to_owned()
    }
}
