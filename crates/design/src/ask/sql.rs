//! The SQL of an answer, where it is other than the query's own.

use dynafold_format::free_name;
use dynafold_relational::catalog::{Column, Dbms, Table, sorted_by_bytes};
use dynafold_sql::{
    ColumnRef, Comparator, Condition, ConditionTest, Constant, Operand, OperandValue, SortKey,
    identifier, literal, qualified, table_reference,
};

use super::{At, ChildAsk, Pair, REWRITE, Reading, Unserved, Ways, folds_case, unserved};
use crate::path::{Path, Step};

impl<'c> Reading<'c, '_> {
    /// The query of an answer, written anew: without what the application computes, and with outer joins to children.
    pub(super) fn written(
        &self,
        root: usize,
        ways: &Ways,
        children: &[(usize, ChildAsk<'c>)],
        outputs: &[(Path, String)],
        all: &[Ways],
        sorts: bool,
    ) -> Result<String, Unserved> {
        let selected = self.selected(ways, children, outputs, all);
        let joined = self.joined(root, ways, !children.is_empty(), all)?;
        let mut text = format!("SELECT {} FROM {joined}", selected.join(", "));
        let conditions = self.conditions.iter().map(|condition| {
            let of_parent = || self.of_parent(condition, root);
            let exact = self.exactly(condition, ways, (!children.is_empty()).then_some(root));
            let moved = exact.or_else(|| of_parent().filter(|_| !children.is_empty()));
            let written = moved.or_else(|| self.aliased(condition));
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
            && children.is_empty()
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
        format!(
            "{}.{}",
            self.alias(at),
            identifier(column, self.catalog.dbms)
        )
    }

    fn selected(
        &self,
        ways: &Ways,
        children: &[(usize, ChildAsk<'c>)],
        outputs: &[(Path, String)],
        all: &[Ways],
    ) -> Vec<String> {
        let mut selected: Vec<String> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut add = |ways: &Ways, path: &Path, name: String, names: &mut Vec<String>| {
            let mut known = ways.iter();
            let Some((at, _)) = known.find(|(_, way)| **way == path.steps) else {
                return;
            };
            let own = self.column_of(*at, &path.column);
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
    fn joined(
        &self,
        root: usize,
        ways: &Ways,
        has_children: bool,
        all: &[Ways],
    ) -> Result<String, Unserved> {
        // Two lists of children are held against the parent, not against each other.
        let is_related = |one: usize, other: usize| {
            let leads =
                |from: usize, to: usize| all.get(from).is_some_and(|ways| ways.contains_key(&to));
            !has_children || leads(one, other) || leads(other, one)
        };
        let mut text = self.from(root);
        let mut from = vec![root];
        loop {
            let mut rest = (0..self.tables.len()).filter(|at| !from.contains(at));
            let next = rest.find_map(|at| {
                let sides = self.pairs.iter().flat_map(Pair::sides);
                let sides =
                    sides.filter(|(a, b)| a.0 == at && from.contains(&b.0) && is_related(at, b.0));
                let on = sides.map(|(a, b)| {
                    format!(
                        "{} = {}",
                        self.column_of(a.0, &a.1),
                        self.column_of(b.0, &b.1)
                    )
                });
                let on: Vec<String> = on.collect();
                (!on.is_empty()).then_some((at, on))
            });
            let Some((at, on)) = next else { break };
            // Of a collection nothing is left out.
            let lacks = |way: &Vec<Step>| {
                let table = self.tables.get(root);
                has_children
                    && table
                        .is_some_and(|table| self.required_parent_column(table, way, &[]).is_some())
            };
            let is_outer = ways.get(&at).is_none_or(lacks) || self.may_be_missing(at);
            let join = if is_outer { "LEFT JOIN" } else { "JOIN" };
            text.push_str(&format!(
                " {join} {} ON {}",
                self.from(at),
                on.join(" AND ")
            ));
            from.push(at);
        }
        if from.len() != self.tables.len() {
            return unserved("joins tables without saying by which columns", REWRITE);
        }
        Ok(text)
    }

    /// The column as which another one is answered: a parent's key is that of the child's reference.
    pub(super) fn answered_as(&self, ways: &Ways, asked: &At) -> At {
        let path = self.path(ways, asked.0, asked.1.clone());
        let found = path.and_then(|path| {
            let mut relations = ways.iter();
            let (at, _) = relations.find(|(_, way)| **way == path.steps)?;
            Some((*at, path.column))
        });
        found.unwrap_or_else(|| asked.clone())
    }

    /// The column that the key has for one that a condition compares.
    pub(super) fn compared_as(&self, ways: &Ways, asked: At) -> At {
        let found = self.compared_path(ways, asked.clone()).and_then(|path| {
            let (at, _) = ways.iter().find(|(_, way)| **way == path.steps)?;
            Some((*at, path.column))
        });
        found.unwrap_or(asked)
    }

    fn sort_terms(&self, root: usize, ways: &Ways) -> Vec<String> {
        if let Some(((at, column), is_greatest)) = &self.extreme {
            let key = self
                .tables
                .get(root)
                .map_or(&[][..], |table| table.row_key());
            let key = key
                .iter()
                .map(|column| (root, column))
                .filter(|one| *one != (*at, column));
            let key = key.map(|(at, column)| (at, column, *is_greatest != self.is_first_key));
            let all = std::iter::once((*at, column, *is_greatest)).chain(key);
            return all
                .map(|(at, column, descends)| {
                    let direction = if descends { " DESC" } else { "" };
                    let own = self.column_of(at, column);
                    let found = self.tables.get(at).and_then(|table| table.column(column));
                    let by_bytes = found.and_then(|one| by_bytes(one, &own, self.catalog.dbms));
                    format!("{}{direction}", by_bytes.unwrap_or(own))
                })
                .collect();
        }
        let keys = self.query.order.iter().flatten();
        let sorted: Vec<(&SortKey, At)> = keys
            .filter_map(|key| Some((key, self.sort_column(key)?)))
            .collect();
        let is_folded = |(key, asked): &(&SortKey, At)| {
            let column = || self.tables.get(asked.0)?.column(&asked.1);
            key.in_lower.is_some() || self.is_folded(asked) && column().is_some_and(ignores_case)
        };
        let direction = |descends: bool| if descends { " DESC" } else { "" };
        let terms = sorted.iter().filter_map(|one @ (key, asked)| {
            let (at, column) = self.answered_as(ways, asked);
            let found = self.tables.get(at)?.column(&column)?;
            let mut own = self.column_of(at, &column);
            if is_folded(one) {
                own = format!("lower({own})");
            }
            let own = by_bytes(found, &own, self.catalog.dbms).unwrap_or(own);
            Some(format!("{own}{}", direction(key.descending)))
        });
        let mut terms: Vec<String> = terms.collect();
        // Of texts that are equal in lower case the key decides.
        let rest = if sorted.iter().any(is_folded) {
            self.rest_of_key(root)
        } else {
            self.deciding_key(root)
        };
        terms.extend(rest.into_iter().map(|(column, descends)| {
            format!("{}{}", self.column_of(root, &column), direction(descends))
        }));
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

    /// The column of the root that a column is held equal to, or itself.
    fn at_root(&self, at: At, root: Option<usize>) -> At {
        let mut equal = self.equal_to(&at).into_iter();
        root.and_then(|root| equal.find(|(at, _)| *at == root))
            .unwrap_or(at)
    }

    /// An equality of a collection's key, said of the parent: said of a child, it would leave out a parent without children.
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

    /// An equality with a parameter that holds for the same bytes alone, where the column's collation takes other texts for
    /// equal too.
    fn exactly(&self, condition: &Condition, ways: &Ways, root: Option<usize>) -> Option<String> {
        let place = |asked: At| match root {
            Some(_) => self.at_root(asked, root),
            None => self.compared_as(ways, asked),
        };
        if let Some((operand, beginning)) = begins(condition) {
            let (at, name) = place(self.column(column_in(operand)?)?);
            let own = self.column_of(at, &name);
            let [folds, folds_parameter] = self.folded(condition);
            let in_lower = |text: String, folds: bool| {
                if folds {
                    format!("lower({text})")
                } else {
                    text
                }
            };
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
                    let own = folded(own);
                    format!(
                        "LEFT(CAST(CONVERT({own} USING utf8mb4) AS BINARY), OCTET_LENGTH({begin})) = CAST({begin} AS BINARY)"
                    )
                }
            });
        }
        if let Some((operand, bounds)) = bounds(condition) {
            let (at, name) = place(self.column(operand.column()?)?);
            let found = self.tables.get(at)?.column(&name)?;
            let is_mysql = matches!(self.catalog.dbms, Dbms::Mysql | Dbms::Mariadb);
            let is_loose = found.insensitive || ignores_blanks(found, self.catalog.dbms);
            let own = self.column_of(at, &name);
            let own = format!("CAST(CONVERT({own} USING utf8mb4) AS BINARY)");
            let parts = bounds.iter().map(|(sign, bound)| {
                let parameter = bound.parameter()?;
                Some(format!("{own} {sign} CAST(:{parameter} AS BINARY)"))
            });
            let parts: Vec<String> = parts.collect::<Option<_>>()?;
            return (is_mysql && is_loose).then(|| parts.join(" AND "));
        }
        let [left, right] = condition.equal()?;
        let (at, name) = place(self.column(column_in(left)?)?);
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
                format!(
                    "CAST(CONVERT({own} USING utf8mb4) AS BINARY) = CAST({parameter} AS BINARY)"
                )
            }
        })
    }

    /// Whether a column is equal to a text where both are so in lower case: SQLite's NOCASE takes the case of ASCII letters alone out,
    /// and there are no others.
    pub(super) fn is_lower_enough(&self, table: &Table, column: &Column) -> bool {
        let is_nocase = column
            .collation
            .as_ref()
            .is_some_and(|name| name.eq_ignore_ascii_case("NOCASE"));
        self.catalog.dbms == Dbms::Sqlite
            && is_nocase
            && self.observed.is_ascii(table, &column.name)
            && !self.observed.is_mixed(table, &column.name)
    }

    /// Whether the query asks for the beginning of a column's texts without regard to case.
    pub(super) fn is_folded(&self, of: &At) -> bool {
        self.conditions.iter().any(|condition| {
            let column = begins(condition).and_then(|(operand, _)| column_in(operand));
            column.and_then(|column| self.column(column)).as_ref() == Some(of)
                && self.folded(condition)[0]
        })
    }

    /// Of a LIKE, whether the column and what it begins with are compared in lower case: as both say, or because the database
    /// takes no account of case.
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

    /// The columns that it compares by a collation that takes different texts for equal.
    pub(super) fn compares_loosely(&self, ways: &Ways) -> Vec<String> {
        let named = self
            .conditions
            .iter()
            .filter(|one| self.exactly(one, ways, None).is_some());
        let columns = named.filter_map(|one| {
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

/// The two sides of a LIKE that asks for what texts begin with and for no more.
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

/// The parameter that an operand is, as it is or in lower case.
pub(super) fn parameter_in(operand: &Operand) -> Option<&str> {
    match &operand.value {
        OperandValue::Parameter(name) if operand.around.is_empty() || folds_case(operand) => {
            Some(name)
        }
        _ => None,
    }
}

/// The column that an operand is, as it is or in lower case.
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
        ConditionTest::Compare { left, op, right } => {
            let sign = match op {
                Comparator::Less => "<",
                Comparator::LessOrEqual => "<=",
                Comparator::Greater => ">",
                Comparator::GreaterOrEqual => ">=",
                _ => return None,
            };
            Some((left, vec![(sign, right)]))
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

/// Whether a comparison takes no account of blanks at the end, though its collation is exact: `ab` is equal to `ab `, and a key
/// has one of them.
pub(super) fn ignores_blanks(column: &Column, dbms: Dbms) -> bool {
    match dbms {
        // A domain over character(n) has that for a collation.
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

/// Whether the database takes no account of case. MySQL's collations `_bin`, `_cs` and `_cs_ks` do, though texts may be equal but for
/// accents or blanks at the end, and `character` of PostgreSQL and RTRIM of SQLite, which ignore blanks at the end alone.
pub(crate) fn ignores_case(column: &Column) -> bool {
    // Of one in the order of bytes the catalog does not keep the name.
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
pub(super) fn is_loose(column: &Column, dbms: Dbms) -> bool {
    let is_other = match dbms {
        Dbms::Postgres => ["\"char\"", "name"].contains(&&*column.declared),
        // `10.0.0.1 ` is an address, too.
        Dbms::Mariadb => column.declared.starts_with("inet"),
        _ => false,
    };
    column.insensitive || is_other || ignores_blanks(column, dbms)
}

/// A column's values as a database sorts them by their bytes, where it does not by itself.
pub(super) fn by_bytes(column: &Column, written: &str, dbms: Dbms) -> Option<String> {
    let collation = column.collation.as_ref()?;
    Some(sorted_by_bytes(written, collation, dbms))
}

/// What a child's column is called in a result that has these names already.
pub(crate) fn child_name(taken: &[String], table: &Table, name: &str) -> String {
    let is_taken = |name: &str| taken.iter().any(|known| known == name);
    if is_taken(name) {
        free_name(&format!("{}_{name}", table.name.name), &is_taken)
    } else {
        name.to_owned()
    }
}
