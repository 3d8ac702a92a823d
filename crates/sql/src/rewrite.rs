//! Statements of a workload: literals become parameters, and what a statement writes is told.

use dynafold_relational::catalog::Dbms;
use sqlparser::ast::{
    AssignmentTarget, BinaryOperator, Expr, FromTable, Ident, JoinConstraint, JoinOperator,
    ObjectName, SetExpr, Statement, TableFactor, TableObject, TableWithJoins, UnaryOperator, Value,
    VisitMut, VisitorMut,
};
use sqlparser::parser::Parser;
use std::ops::ControlFlow;

use super::UnreadableSql;
use super::operand::{Name, names};
use super::query::on_large_stack;
use super::text::{Sql, dialect};

/// A query whose literals are parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parametrized {
    /// The query, as the parser writes it.
    pub sql: String,
    /// The values that stood there.
    pub examples: Vec<Example>,
    /// Columns that were compared with a list by IN, and are compared with one parameter now: the parameter, and how many
    /// values the list had.
    pub lists: Vec<(String, usize)>,
}

/// The value that stood in a query where a parameter stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The parameter.
    pub parameter: String,
    /// The value as text.
    pub value: String,
}

/// Puts a parameter in the place of each literal that a column is compared with in WHERE and ON, and one comparison in the
/// place of each IN with a list. Literals stay where the query has parameters already: there they are meant.
///
/// # Errors
///
/// [`UnreadableSql`] where it is not one query that the parser takes.
pub fn parametrized(text: &str, dbms: Dbms) -> Result<Parametrized, UnreadableSql> {
    let sql = Sql::read(text, Some(dbms))?;
    if let Some(refusal) = sql.refusal() {
        return Err(refusal);
    }
    let has_parameters = !sql.parameters().is_empty();
    let failed = || UnreadableSql::Syntax("the parser failed".to_owned());
    on_large_stack(move || {
        let mut statements = statements(&sql, dbms)?;
        let statement = statements.pop().filter(|_| statements.is_empty());
        let Some(Statement::Query(mut query)) = statement else {
            return Err(UnreadableSql::NoQuery);
        };
        let mut into = Replacing {
            dbms,
            keeps_literals: has_parameters,
            done: Parametrized::default(),
        };
        if let SetExpr::Select(select) = &mut *query.body {
            for from in &mut select.from {
                for join in &mut from.joins {
                    if let Some(condition) = condition_of(&mut join.join_operator) {
                        into.condition(condition);
                    }
                }
            }
            if let Some(condition) = &mut select.selection {
                into.condition(condition);
            }
        }
        into.done.sql = query.to_string();
        Ok(into.done)
    })
    .unwrap_or_else(|| Err(failed()))
}

fn statements(sql: &Sql, dbms: Dbms) -> Result<Vec<Statement>, UnreadableSql> {
    let dialect = dialect(Some(dbms));
    let parser = Parser::new(dialect.as_ref()).with_recursion_limit(128);
    let mut parser = parser.with_tokens_with_locations(sql.tokens().to_vec());
    let read = parser.parse_statements();
    read.map_err(|error| UnreadableSql::Syntax(error.to_string()))
}

fn condition_of(join: &mut JoinOperator) -> Option<&mut Expr> {
    match join {
        JoinOperator::Join(JoinConstraint::On(condition))
        | JoinOperator::Inner(JoinConstraint::On(condition)) => Some(condition),
        _ => None,
    }
}

struct Replacing {
    dbms: Dbms,
    keeps_literals: bool,
    done: Parametrized,
}

impl Replacing {
    /// The parts that hold at once; nothing of what stands under OR or NOT.
    fn condition(&mut self, expression: &mut Expr) {
        match expression {
            Expr::Nested(inner) => self.condition(inner),
            Expr::BinaryOp {
                left,
                op: BinaryOperator::And,
                right,
            } => {
                self.condition(left);
                self.condition(right);
            }
            Expr::InList {
                expr,
                list,
                negated: false,
            } => self.list(expr.clone(), list.clone(), expression),
            _ if self.keeps_literals => {}
            Expr::BinaryOp { left, op, right } => {
                let suffix = match op {
                    BinaryOperator::Eq => "",
                    BinaryOperator::Lt | BinaryOperator::LtEq => "_until",
                    BinaryOperator::Gt | BinaryOperator::GtEq => "_from",
                    _ => return,
                };
                if let Some(column) = column(left) {
                    self.literal(right, &format!("{column}{suffix}"));
                } else if let Some(column) = column(right) {
                    let suffix = match suffix {
                        "_until" => "_from",
                        "_from" => "_until",
                        other => other,
                    };
                    self.literal(left, &format!("{column}{suffix}"));
                }
            }
            Expr::Between {
                expr,
                negated: false,
                low,
                high,
            } => {
                if let Some(column) = column(expr) {
                    self.literal(low, &format!("{column}_from"));
                    self.literal(high, &format!("{column}_until"));
                }
            }
            Expr::Like {
                expr,
                pattern,
                negated: false,
                any: false,
                escape_char: None,
            } => {
                if let Some(column) = column(expr) {
                    self.prefix(pattern, &column);
                }
            }
            _ => {}
        }
    }

    /// `a%` becomes a parameter with the percent sign behind it.
    fn prefix(&mut self, pattern: &mut Expr, column: &str) {
        let Some(text) = text(pattern) else { return };
        let Some(prefix) = text.strip_suffix('%') else {
            return;
        };
        if prefix.is_empty() || prefix.contains(['%', '_', '\\']) {
            return;
        }
        let name = self.name(column);
        let with = match self.dbms {
            Dbms::Mysql | Dbms::Mariadb => format!("concat(:{name}, '%')"),
            Dbms::Postgres | Dbms::Sqlite => format!(":{name} || '%'"),
        };
        if let Some(read) = expression(&with, self.dbms) {
            *pattern = read;
            let value = prefix.to_owned();
            let parameter = name;
            self.done.examples.push(Example { parameter, value });
        }
    }

    fn list(&mut self, left: Box<Expr>, list: Vec<Expr>, whole: &mut Expr) {
        let Some(column) = column(&left) else { return };
        let are_values = list.iter().all(|one| match one {
            Expr::Value(value) => match &value.value {
                Value::Placeholder(_) => true,
                _ => !self.keeps_literals,
            },
            _ => false,
        });
        if !are_values {
            return;
        }
        let count = list.len();
        let Some(mut first) = list.into_iter().next() else {
            return;
        };
        let parameter = match &first {
            Expr::Value(value) => match &value.value {
                Value::Placeholder(name) => name.trim_start_matches(':').to_owned(),
                _ => {
                    let name = self.name(&column);
                    self.literal_as(&mut first, name.clone());
                    name
                }
            },
            _ => return,
        };
        *whole = Expr::BinaryOp {
            left,
            op: BinaryOperator::Eq,
            right: Box::new(first),
        };
        self.done.lists.push((parameter, count));
    }

    fn literal(&mut self, at: &mut Expr, wanted: &str) {
        if text(at).is_some() {
            let name = self.name(wanted);
            self.literal_as(at, name);
        }
    }

    fn literal_as(&mut self, at: &mut Expr, name: String) {
        let Some(value) = text(at) else { return };
        *at = Expr::Value(Value::Placeholder(format!(":{name}")).into());
        let parameter = name;
        self.done.examples.push(Example { parameter, value });
    }

    /// A name that no other parameter has, made of a column's.
    fn name(&self, column: &str) -> String {
        let sign = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut plain: String = column.chars().map(sign).collect();
        // `now` is the clock of the run.
        if plain == "now" || plain.starts_with(|c: char| c.is_ascii_digit()) {
            plain.insert(0, '_');
        }
        let is_taken = |name: &str| {
            let mut examples = self.done.examples.iter();
            examples.any(|example| example.parameter == name)
        };
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        names.find(|name| !is_taken(name)).unwrap_or(plain)
    }
}

fn expression(text: &str, dbms: Dbms) -> Option<Expr> {
    let sql = Sql::read(text, Some(dbms)).ok()?;
    let dialect = dialect(Some(dbms));
    let parser = Parser::new(dialect.as_ref());
    let mut parser = parser.with_tokens_with_locations(sql.tokens().to_vec());
    parser.parse_expr().ok()
}

/// The name of the column that an expression is, maybe in a function of one argument.
fn column(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Nested(inner) => column(inner),
        Expr::Identifier(name) => Some(name.value.clone()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|part| part.value.clone()),
        Expr::Function(function) => match super::operand::arguments(function).as_slice() {
            [one] => column(one),
            _ => None,
        },
        _ => None,
    }
}

/// The text of a literal; `None` of NULL and of what is none.
fn text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Nested(inner) => text(inner),
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => Some(number.clone()),
            Value::Boolean(value) => Some(value.to_string()),
            Value::Null | Value::Placeholder(_) => None,
            other => other.clone().into_string(),
        },
        Expr::TypedString(typed) => typed.value.value.clone().into_string(),
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => Some(format!("-{}", text(expr)?)),
        // `lower('X')` is compared as it is.
        Expr::Function(_) => None,
        _ => None,
    }
}

/// A condition in which columns go by other owners. `owner`: of a column's owner, `None` where it has none, and its name,
/// the owner that it gets. Columns in queries within it are asked about too where they have an owner, and stay otherwise.
/// Gives `None` where it cannot be read.
#[must_use]
pub fn qualified(
    condition: &str,
    dbms: Dbms,
    owner: &dyn Fn(Option<&str>, &str) -> Option<String>,
) -> Option<String> {
    struct Renaming<'o> {
        owner: &'o dyn Fn(Option<&str>, &str) -> Option<String>,
        depth: usize,
    }
    impl VisitorMut for Renaming<'_> {
        type Break = ();
        fn pre_visit_query(&mut self, _: &mut sqlparser::ast::Query) -> ControlFlow<()> {
            self.depth += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &mut sqlparser::ast::Query) -> ControlFlow<()> {
            self.depth -= 1;
            ControlFlow::Continue(())
        }
        fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
            let (said, name) = match expression {
                Expr::Identifier(name) if self.depth == 0 => (None, name.clone()),
                Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                    [owner, name] => (Some(owner.value.clone()), name.clone()),
                    _ => return ControlFlow::Continue(()),
                },
                _ => return ControlFlow::Continue(()),
            };
            if let Some(owner) = (self.owner)(said.as_deref(), &name.value) {
                *expression = Expr::CompoundIdentifier(vec![Ident::new(owner), name]);
            }
            ControlFlow::Continue(())
        }
    }
    let mut read = expression(condition, dbms)?;
    let mut renaming = Renaming { owner, depth: 0 };
    let _ = read.visit(&mut renaming);
    Some(read.to_string())
}

/// How a statement writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteKind {
    /// INSERT, REPLACE.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

/// A statement that writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteStatement {
    /// How.
    pub kind: WriteKind,
    /// The schema of its table, where it is said.
    pub schema: Option<Name>,
    /// Its table.
    pub table: Name,
    /// The columns that an UPDATE sets.
    pub columns: Vec<String>,
}

/// Reads an INSERT, UPDATE or DELETE of one table; `None` for anything else, and where the parser does not take it.
#[must_use]
pub fn write_statement(text: &str, dbms: Dbms) -> Option<WriteStatement> {
    let sql = Sql::read(text, Some(dbms)).ok()?;
    on_large_stack(move || {
        let mut statements = statements(&sql, dbms).ok()?;
        let statement = statements.pop().filter(|_| statements.is_empty())?;
        let (kind, table, columns) = match &statement {
            Statement::Insert(insert) => match &insert.table {
                TableObject::TableName(name) => (WriteKind::Insert, name, Vec::new()),
                _ => return None,
            },
            Statement::Update(update) => {
                let set = update.assignments.iter();
                let set = set.filter_map(|one| match &one.target {
                    AssignmentTarget::ColumnName(name) => names(name, Some(dbms))?.pop(),
                    AssignmentTarget::Tuple(_) => None,
                });
                let set = set.map(|name| name.text).collect();
                (WriteKind::Update, named(&update.table)?, set)
            }
            Statement::Delete(delete) => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) =
                    &delete.from;
                (WriteKind::Delete, named(from.first()?)?, Vec::new())
            }
            _ => return None,
        };
        let mut parts = names(table, Some(dbms))?;
        let table = parts.pop()?;
        Some(WriteStatement {
            kind,
            schema: parts.pop(),
            table,
            columns,
        })
    })
    .flatten()
}

fn named(table: &TableWithJoins) -> Option<&ObjectName> {
    match &table.relation {
        TableFactor::Table { name, .. } => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_beside_columns_become_parameters() {
        let read = |sql: &str| {
            let read = parametrized(sql, Dbms::Postgres).unwrap();
            let examples = read.examples.iter();
            let examples = examples.map(|one| format!("{}={}", one.parameter, one.value));
            (read.sql.clone(), examples.collect::<Vec<_>>().join(" "))
        };
        let (sql, examples) = read(
            "SELECT a FROM t JOIN u ON u.id = t.u AND u.kind = 'k' WHERE t.a=148 AND (d >= '2022-03-01' AND \
             d < DATE '2022-05-01') AND NOT EXISTS (SELECT 1 FROM v WHERE v.x = 3) AND b IS NULL LIMIT 20",
        );
        assert_eq!(
            sql,
            "SELECT a FROM t JOIN u ON u.id = t.u AND u.kind = :kind WHERE t.a = :a AND (d >= :d_from AND d < :d_until) \
             AND NOT EXISTS (SELECT 1 FROM v WHERE v.x = 3) AND b IS NULL LIMIT 20"
        );
        assert_eq!(
            examples,
            "kind=k a=148 d_from=2022-03-01 d_until=2022-05-01"
        );
        // Beside a parameter a literal is meant; a prefix keeps its percent sign; of a list one is asked.
        assert_eq!(
            read("SELECT 1 FROM t WHERE a = :x AND b = 1").0,
            "SELECT 1 FROM t WHERE a = :x AND b = 1"
        );
        let (sql, examples) =
            read("SELECT 1 FROM t WHERE a LIKE 'ab%' AND b LIKE '%x' AND c IN (1, 2)");
        assert_eq!(
            sql,
            "SELECT 1 FROM t WHERE a LIKE :a || '%' AND b LIKE '%x' AND c = :c"
        );
        assert_eq!(examples, "a=ab c=1");
        let lists = parametrized("SELECT 1 FROM t WHERE c IN (1, 2)", Dbms::Mysql).unwrap();
        assert_eq!(lists.lists, [("c".to_owned(), 2)]);
    }

    #[test]
    fn a_statement_that_writes_names_its_table() {
        let read = |sql: &str| {
            write_statement(sql, Dbms::Postgres)
                .map(|read| (read.kind, read.table.text, read.columns.join(" ")))
        };
        let told =
            |kind, table: &str, columns: &str| Some((kind, table.to_owned(), columns.to_owned()));
        assert_eq!(
            read("INSERT INTO s.t (a) VALUES (:a)"),
            told(WriteKind::Insert, "t", "")
        );
        assert_eq!(
            read("UPDATE t SET a = 1, b = :b WHERE c = 2"),
            told(WriteKind::Update, "t", "a b")
        );
        assert_eq!(
            read("DELETE FROM t WHERE a = 1"),
            told(WriteKind::Delete, "t", "")
        );
        assert_eq!(read("SELECT 1"), None);
    }

    #[test]
    fn columns_of_a_condition_get_other_owners() {
        let owner = |owner: Option<&str>, _: &str| {
            matches!(owner, Some("i") | None).then(|| "inventory".to_owned())
        };
        let condition = "NOT EXISTS (SELECT 1 FROM rental r WHERE r.x = i.x AND y IS NULL)";
        assert_eq!(
            qualified(condition, Dbms::Postgres, &owner).as_deref(),
            Some("NOT EXISTS (SELECT 1 FROM rental r WHERE r.x = inventory.x AND y IS NULL)")
        );
        assert_eq!(
            qualified("a IS NULL", Dbms::Postgres, &owner).as_deref(),
            Some("inventory.a IS NULL")
        );
    }
}
