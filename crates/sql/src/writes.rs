//! What an INSERT, UPDATE or DELETE changes.

use std::ops::ControlFlow;

use dynafold_relational::catalog::Dbms;
use sqlparser::ast::{
    Assignment, AssignmentTarget, BinaryOperator, ConflictTarget, Delete, Expr, FromTable, Insert,
    ObjectName, OnConflictAction, OnInsert, SetExpr, SqliteOnConflict, Statement, TableFactor,
    TableObject, TableWithJoins, Update, Value, visit_expressions_mut,
};
use sqlparser::tokenizer::Token;

use super::array::with_lists;
use super::condition::{Condition, conditions};
use super::operand::{
    ColumnRef, Constant, Expression, Name, Operand, OperandValue, Wrapping, arguments,
    has_expression, names, only_argument, placeholder,
};
use super::query::on_large_stack;
use super::text::{Sql, expression, statements};

/// How a statement writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteKind {
    /// `INSERT` or `REPLACE`.
    Insert,
    /// `UPDATE`.
    Update,
    /// `DELETE`.
    Delete,
}

/// A statement that writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteStatement {
    /// Whether it inserts, updates or deletes.
    pub kind: WriteKind,
    /// The schema of its table, where it is said.
    pub schema: Option<Name>,
    /// Its table.
    pub table: Name,
    /// The rows that an INSERT names; `None` where a query gives them. 1 of an UPDATE and a DELETE, whose rows nobody has counted.
    pub rows: Option<u64>,
    /// Whether an INSERT computes a number from the greatest one: `max(no) + 1`.
    pub numbers: bool,
    /// The columns that an UPDATE sets, or an INSERT where its row is there, but for `a = a`.
    pub columns: Vec<String>,
    /// Those that it computes from what they were, as an INSERT does where its row is there: `n = n + 1`. Not those that may keep
    /// what they were: `n = coalesce(:n, n)`.
    pub from_itself: Vec<String>,
    /// Of an INSERT that changes or replaces a row that is there, the columns of ON CONFLICT; none where it does not name them.
    pub upserts_by: Option<Vec<String>>,
    /// The constants, by column, that an UPDATE sets, or that an INSERT gives to all of its rows. None where the statement has no
    /// parameter: then its constants are examples.
    pub values: Vec<(String, Constant)>,
    /// Those of an INSERT that names no column, in the order of its table's columns.
    pub in_order: Vec<Option<Constant>>,
    /// The columns that an INSERT names, or sets where its row is there: others get their defaults. None where it gives all in their order.
    pub inserted: Option<Vec<String>>,
    /// Whether it is an UPDATE or DELETE without a WHERE.
    pub finds_all: bool,
    /// The columns of its table that its WHERE holds equal to something, or to one of a list: as they are, or in lower or upper case.
    pub found_by: Vec<String>,
    /// Those that it holds equal to the time or the date at which it runs (`day = CURRENT_DATE`), or to which an INSERT that names its
    /// columns gives that in all of its rows.
    pub now: Vec<String>,
    /// The values that the WHERE of a statement over one table holds columns equal to beside parameters, NULL too, by column.
    pub found_values: Vec<(String, Constant)>,
    /// Those with a list, each with how many values it has; 0 where it is an array that the application passes as one parameter.
    pub listed: Vec<(String, usize)>,
    /// The columns of its table that its WHERE holds below something that is no column, alone or in an expression.
    pub below: Vec<String>,
}

/// Why [`write_statement`] does not read a statement that changes several tables, a MERGE or a TRUNCATE; `None` of any other, also
/// of one that the parser does not take. Completes a sentence that begins with "it".
pub fn unread_write(text: &str, dbms: Dbms) -> Option<&'static str> {
    let sql = Sql::read(text, Some(dbms)).ok()?;
    let tokens = sql.tokens().iter().map(|one| &one.token);
    let word = |token: &Token| match token {
        Token::Word(word) => Some(word.value.to_ascii_lowercase()),
        _ => None,
    };
    let first = tokens.clone().find_map(word)?;
    let set = tokens
        .clone()
        .position(|token| word(token).as_deref() == Some("set"));
    // The parser does not take `UPDATE a, b SET …` of MySQL.
    let is_listed = set.is_some_and(|set| {
        let before = tokens.take(set);
        let mut names = before.take_while(|token| **token != Token::LParen);
        names.any(|token| *token == Token::Comma)
    });
    let may_be_read = ["update", "delete"].contains(&&*first);
    let is_read =
        may_be_read && on_large_stack(move || statements(&sql, dbms).is_ok()) == Some(true);
    match &*first {
        "update" if is_listed || is_read => Some(
            "updates several tables at once, joins others by a comma, or names a column without its table",
        ),
        "delete" if is_read => {
            Some("deletes from several tables at once, or is a DELETE that is not understood")
        }
        "merge" => Some("is a MERGE, which is not read"),
        "truncate" => Some("deletes all rows of a table at once (TRUNCATE)"),
        _ => None,
    }
}

/// Reads an INSERT, UPDATE or DELETE of one table, which may join others; `None` for anything else, and where the parser does not
/// take it.
pub fn write_statement(text: &str, dbms: Dbms) -> Option<WriteStatement> {
    let sql = Sql::read(text, Some(dbms)).ok()?;
    on_large_stack(move || {
        let mut statements = statements(&sql, dbms).ok()?;
        let statement = statements.pop().filter(|_| statements.is_empty())?;
        let is_meant = has_expression(&statement, |part| placeholder(part).is_some());
        let mut computed = Vec::new();
        let mut upserts_by = None;
        let mut rows = Some(1);
        let mut numbers = false;
        let mut inserts = InsertedColumns::default();
        let (kind, (table, called), columns, condition) = match &statement {
            Statement::Insert(insert) => match &insert.table {
                TableObject::TableName(name) => {
                    rows = match insert.source.as_deref().map(|query| &*query.body) {
                        Some(SetExpr::Values(values)) => u64::try_from(values.rows.len()).ok(),
                        Some(_) => None,
                        None => Some(1),
                    };
                    numbers = has_expression(&insert.source, is_next_number);
                    inserts = InsertedColumns::of(insert, is_meant, &sql);
                    let set = upserted(insert, &sql);
                    computed = from_itself(&set, inserted_as(insert, &sql).as_ref(), &sql);
                    upserts_by = self::upserts_by(insert, dbms);
                    let set = set.into_iter().map(|(name, _)| name.text).collect();
                    (WriteKind::Insert, (name, None), set, None)
                }
                _ => return None,
            },
            Statement::Update(update) => {
                let assignments = update.assignments.iter();
                let set = assignments.flat_map(|one| assigned(one, &sql));
                let set: Vec<(Name, Option<&Expr>)> = set.collect();
                let table = updated(update, &sql)?;
                computed = from_itself(&set, table.1.as_ref(), &sql);
                let said = set.iter().filter(|_| is_meant);
                let said = said.filter_map(|(name, value)| {
                    let value = Operand::of((*value)?, &sql);
                    Some((name.text.clone(), value.constant()?.clone()))
                });
                inserts.values = said.collect();
                let set = set.into_iter().map(|(name, _)| name.text).collect();
                (WriteKind::Update, table, set, update.selection.as_ref())
            }
            Statement::Delete(delete) => {
                let table = deleted(delete, &sql)?;
                let condition = delete.selection.as_ref();
                (WriteKind::Delete, table, Vec::new(), condition)
            }
            _ => return None,
        };
        let held = condition.map(|condition| conditions(&with_lists(condition, dbms), &sql));
        let held = || held.iter().flatten();
        let is_own = |column: &&ColumnRef| is_of(column, called.as_ref());
        let name = |column: &ColumnRef| column.name.text.clone();
        let found_by = |one: &Condition| one.found_by_value().filter(is_own).map(name);
        let held_now = |one: &Condition| {
            let [column, value] = one.equal()?;
            let column = column.column().filter(is_own).map(name);
            column.filter(|_| value.is_now())
        };
        let listed = |condition: &Condition| {
            let (_, list) = condition.listed()?;
            Some((found_by(condition)?, list.len()))
        };
        let below = |one: &Condition| one.below().filter(is_own).map(name);
        let said = |condition: &Condition| {
            let (column, value) = condition.said()?;
            Some((name(column), value))
        };
        let is_of_one = is_meant && is_of_one_table(&statement);
        let mut parts = names(table, Some(dbms))?;
        let table = parts.pop()?;
        Some(WriteStatement {
            kind,
            schema: parts.pop(),
            table,
            rows,
            numbers,
            columns,
            from_itself: computed,
            upserts_by,
            values: inserts.values,
            in_order: inserts.in_order,
            inserted: inserts.named,
            finds_all: kind != WriteKind::Insert && condition.is_none(),
            found_by: held().filter_map(found_by).collect(),
            now: (inserts.now.into_iter())
                .chain(held().filter_map(held_now))
                .collect(),
            found_values: held().filter(|_| is_of_one).filter_map(said).collect(),
            listed: held().filter_map(listed).collect(),
            below: held().filter_map(below).collect(),
        })
    })
    .flatten()
}

/// The columns that are set to what is computed from what they were, in the table that is called so.
fn from_itself(set: &[(Name, Option<&Expr>)], called: Option<&Name>, sql: &Sql) -> Vec<String> {
    let own = set.iter().filter(|(name, value)| {
        let value = value.map(without_new_values);
        let computed = value.filter(|value| !is_chosen(value));
        let of = computed.map(|value| Expression::of(&value, sql));
        let mut columns = of.iter().flat_map(|of| &of.columns);
        columns.any(|one| one.name.is(&name.text) && is_of(one, called))
    });
    own.map(|(name, _)| name.text.clone()).collect()
}

/// The same without MySQL's `VALUES(column)`, which is the value of the new row.
fn without_new_values(value: &Expr) -> Expr {
    let mut value = value.clone();
    let _: ControlFlow<()> = visit_expressions_mut(&mut value, |part| {
        if let Expr::Function(function) = part
            && function.name.to_string().eq_ignore_ascii_case("values")
        {
            *part = Expr::Value(Value::Null.into());
        }
        ControlFlow::Continue(())
    });
    value
}

/// Functions that give one of their arguments as it is, behind so many that are conditions.
const CHOICES: [(&str, usize); 5] = [
    ("coalesce", 0),
    ("if", 1),
    ("ifnull", 0),
    ("iif", 1),
    ("last_insert_id", 0),
];

/// Whether a value is one of others as it is, so that a column keeps what it was or gets something else: `coalesce(:a, a)`.
fn is_chosen(value: &Expr) -> bool {
    match value {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) => true,
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => is_chosen(inner),
        Expr::Function(function) => {
            let name = function.name.to_string();
            let mut choices = CHOICES.iter();
            let choice = choices.find(|(choice, _)| name.eq_ignore_ascii_case(choice));
            let values = arguments(function);
            choice.is_some_and(|(_, conditions)| {
                values.len() > *conditions && values.into_iter().skip(*conditions).all(is_chosen)
            })
        }
        Expr::Case {
            conditions,
            else_result,
            ..
        } => {
            let results = conditions.iter().map(|one| &one.result);
            results.chain(else_result.as_deref()).all(is_chosen)
        }
        _ => false,
    }
}

/// What an INSERT calls its table.
fn inserted_as(insert: &Insert, sql: &Sql) -> Option<Name> {
    let alias = insert.table_alias.as_ref();
    let alias = alias.map(|alias| Name::of(&alias.alias, sql.dbms()));
    alias.or_else(|| match &insert.table {
        TableObject::TableName(name) => names(name, sql.dbms())?.pop(),
        _ => None,
    })
}

/// The columns by which an upsert says that its row is there, as [`WriteStatement`] has them.
fn upserts_by(insert: &Insert, dbms: Dbms) -> Option<Vec<String>> {
    let replaces = insert.replace_into || insert.or == Some(SqliteOnConflict::Replace);
    match &insert.on {
        Some(OnInsert::OnConflict(conflict)) => {
            let updates = matches!(conflict.action, OnConflictAction::DoUpdate(_));
            let columns = match &conflict.conflict_target {
                Some(ConflictTarget::Columns(columns)) => columns.as_slice(),
                _ => &[],
            };
            let columns = columns
                .iter()
                .map(|column| Name::of(column, Some(dbms)).text);
            updates.then(|| columns.collect())
        }
        Some(OnInsert::DuplicateKeyUpdate(_)) => Some(Vec::new()),
        _ => replaces.then(Vec::new),
    }
}

/// Whether a column may be of the table that is called so: no other stands before it.
fn is_of(column: &ColumnRef, called: Option<&Name>) -> bool {
    let owner = column.owner.as_ref().zip(called);
    owner.is_none_or(|(owner, called)| owner.is(&called.text))
}

/// Whether an UPDATE or DELETE names no other table, whose columns its WHERE may mean.
fn is_of_one_table(statement: &Statement) -> bool {
    match statement {
        Statement::Update(update) => update.from.is_none() && update.table.joins.is_empty(),
        Statement::Delete(delete) => delete.using.is_none() && delete.tables.is_empty(),
        _ => false,
    }
}

/// The column that is set by a name in a SET or in an INSERT's list, and whether only a field of it is set: PostgreSQL has no
/// table's name there.
fn set_column(name: &ObjectName, dbms: Option<Dbms>) -> Option<(Name, bool)> {
    let mut parts = names(name, dbms)?;
    let is_field = dbms == Some(Dbms::Postgres) && parts.len() > 1;
    if is_field {
        parts.truncate(1);
    }
    Some((parts.pop()?, is_field))
}

/// The columns that an assignment sets, each with its value; without one if a query or a function gives the values of several,
/// or if only a field is set.
fn assigned<'s>(assignment: &'s Assignment, sql: &Sql) -> Vec<(Name, Option<&'s Expr>)> {
    let value = &assignment.value;
    let pairs: Vec<(&ObjectName, Option<&Expr>)> = match (&assignment.target, value) {
        (AssignmentTarget::ColumnName(column), _) => vec![(column, Some(value))],
        (AssignmentTarget::Tuple(columns), Expr::Tuple(values))
            if columns.len() == values.len() =>
        {
            columns.iter().zip(values.iter().map(Some)).collect()
        }
        (AssignmentTarget::Tuple(columns), _) => {
            let value = Some(value).filter(|_| columns.len() == 1);
            columns.iter().map(|column| (column, value)).collect()
        }
    };
    let named = pairs.into_iter().filter_map(|(column, value)| {
        let (name, is_field) = set_column(column, sql.dbms())?;
        Some((name, value.filter(|_| !is_field)))
    });
    let changed = named.filter(|(name, value)| {
        let value = value.map(|value| Operand::of(value, sql));
        let itself = value.as_ref().and_then(Operand::column);
        itself.is_none_or(|column| column.owner.is_some() || !column.name.is(&name.text))
    });
    changed.collect()
}

/// What an INSERT says of its columns, as [`WriteStatement`] has it.
#[derive(Default)]
struct InsertedColumns {
    named: Option<Vec<String>>,
    values: Vec<(String, Constant)>,
    in_order: Vec<Option<Constant>>,
    now: Vec<String>,
}

impl InsertedColumns {
    /// `is_meant`: whether its constants are no examples.
    fn of(insert: &Insert, is_meant: bool, sql: &Sql) -> Self {
        let rows = inserted_rows(insert, sql);
        let by_place = same_constants(&rows).into_iter();
        let by_place = by_place.filter(|_| is_meant);
        let upserted = upserted(insert, sql);
        let mut found = Self::default();
        if let Some(named) = inserted_columns(insert, sql.dbms()) {
            let names = named.iter().map(|(name, _)| name.text.clone());
            let mut columns: Vec<String> = names.collect();
            let is_now = |place: usize| {
                let mut values = rows.iter().map(|row| row.get(place));
                !rows.is_empty() && values.all(|value| value.is_some_and(Operand::is_now))
            };
            let now = named.iter().enumerate();
            let now = now.filter(|(place, (_, is_field))| !is_field && is_now(*place));
            found.now = now.map(|(_, (name, _))| name.text.clone()).collect();
            let said = named
                .into_iter()
                .zip(by_place)
                .filter(|((_, is_field), _)| !is_field)
                .map(|((name, _), value)| (name.text, value));
            let stays = |(name, value): &(String, Constant)| {
                let mut set = upserted.iter().filter(|(set, _)| set.is(name));
                set.all(|(_, given)| {
                    given.is_some_and(|given| gives_same(&Operand::of(given, sql), name, value))
                })
            };
            let said = said.filter_map(|(name, value)| Some((name, value?)));
            found.values = said.filter(stays).collect();
            columns.extend(upserted.iter().map(|(set, _)| set.text.clone()));
            found.named = Some(columns);
        } else if upserted.is_empty() {
            found.in_order = by_place.collect();
        }
        found
    }
}

/// The values of an INSERT, row by row.
fn inserted_rows(insert: &Insert, sql: &Sql) -> Vec<Vec<Operand>> {
    let rows: Vec<Vec<&Expr>> = match insert.source.as_deref().map(|query| &*query.body) {
        Some(SetExpr::Values(values)) => {
            let rows = values.rows.iter();
            rows.map(|row| row.content.iter().collect()).collect()
        }
        Some(_) => Vec::new(),
        None => vec![insert.assignments.iter().map(|one| &one.value).collect()],
    };
    let read = |row: Vec<&Expr>| -> Vec<Operand> {
        let values = row.into_iter();
        values.map(|value| Operand::of(value, sql)).collect()
    };
    rows.into_iter().map(read).collect()
}

/// The constants that all rows of an INSERT have, by their places.
fn same_constants(rows: &[Vec<Operand>]) -> Vec<Option<Constant>> {
    let said = |row: &Vec<Operand>| -> Vec<Option<Constant>> {
        let values = row.iter().map(|value| value.constant().cloned());
        values.collect()
    };
    let mut rows = rows.iter().map(said);
    let first = rows.next().unwrap_or_default();
    rows.fold(first, |all, row| {
        let both = all.into_iter().zip(row);
        both.map(|(one, other)| one.filter(|one| other.as_ref() == Some(one)))
            .collect()
    })
}

/// Whether an upsert gives a column of a row that is there the value that a new row gets.
fn gives_same(given: &Operand, name: &str, value: &Constant) -> bool {
    match (&given.value, given.around.as_slice()) {
        (OperandValue::Column(column), []) => {
            let is_new = |owner: &Name| owner.is("excluded");
            column.name.is(name) && column.owner.as_ref().is_some_and(is_new)
        }
        (OperandValue::Column(column), [Wrapping::Function(function)]) => {
            function == "values" && column.name.is(name)
        }
        _ => given.constant() == Some(value),
    }
}

/// The columns that an INSERT sets where its row is there already.
fn upserted<'s>(insert: &'s Insert, sql: &Sql) -> Vec<(Name, Option<&'s Expr>)> {
    let assignments = match &insert.on {
        Some(OnInsert::DuplicateKeyUpdate(assignments)) => assignments.as_slice(),
        Some(OnInsert::OnConflict(conflict)) => match &conflict.action {
            OnConflictAction::DoUpdate(update) => update.assignments.as_slice(),
            OnConflictAction::DoNothing => &[],
        },
        _ => &[],
    };
    let assignments = assignments.iter();
    assignments.flat_map(|one| assigned(one, sql)).collect()
}

/// The columns that an INSERT names, in `(a, b)` or in `SET a = 1, b = 2`, and whether it sets only a field of each.
fn inserted_columns(insert: &Insert, dbms: Option<Dbms>) -> Option<Vec<(Name, bool)>> {
    let set = insert.assignments.iter().map(|one| match &one.target {
        AssignmentTarget::ColumnName(name) => Some(name),
        AssignmentTarget::Tuple(_) => None,
    });
    let columns = insert.columns.iter().map(Some).chain(set);
    let named = columns.map(|name| set_column(name?, dbms));
    let named: Vec<(Name, bool)> = named.collect::<Option<_>>()?;
    (!named.is_empty()).then_some(named)
}

/// The constant that an expression is, such as the default of a column: `'open'::state`.
pub fn constant(expression: &str, dbms: Dbms) -> Option<Constant> {
    operand(expression, dbms)?.constant().cloned()
}

/// Whether an expression, such as the default of a column, is the time or the date at which a statement runs: `CURRENT_DATE`.
pub fn is_now(expression: &str, dbms: Dbms) -> bool {
    operand(expression, dbms).is_some_and(|value| value.is_now())
}

fn operand(expression: &str, dbms: Dbms) -> Option<Operand> {
    let (text, sql) = (
        expression.to_owned(),
        Sql::read(expression, Some(dbms)).ok()?,
    );
    on_large_stack(move || Some(Operand::of(&self::expression(&text, dbms)?, &sql))).flatten()
}

/// Whether it is a sum with the greatest value of a column.
fn is_next_number(expression: &Expr) -> bool {
    let is_greatest = |part: &Expr| match part {
        Expr::Function(function) if function.name.to_string().eq_ignore_ascii_case("max") => {
            matches!(
                only_argument(function),
                Some(Expr::Identifier(_) | Expr::CompoundIdentifier(_))
            )
        }
        _ => false,
    };
    let is_sum = matches!(
        expression,
        Expr::BinaryOp {
            op: BinaryOperator::Plus,
            ..
        }
    );
    is_sum && has_expression(expression, is_greatest)
}

/// A table that a statement names, and what the statement calls it.
type NamedTable<'s> = (&'s ObjectName, Option<Name>);

fn named<'s>(table: &'s TableFactor, sql: &Sql) -> Option<NamedTable<'s>> {
    let TableFactor::Table { name, alias, .. } = table else {
        return None;
    };
    let alias = alias.as_ref();
    let alias = alias.map(|alias| Name::of(&alias.name, sql.dbms()));
    Some((name, alias.or_else(|| names(name, sql.dbms())?.pop())))
}

/// The table that is called so, among these and those that are joined to them.
fn table_called<'s>(
    wanted: &Name,
    from: impl IntoIterator<Item = &'s TableWithJoins>,
    sql: &Sql,
) -> Option<NamedTable<'s>> {
    let all = from.into_iter().flat_map(|one| {
        let joined = one.joins.iter().map(|join| &join.relation);
        std::iter::once(&one.relation).chain(joined)
    });
    let mut all = all.filter_map(|table| named(table, sql));
    all.find(|(_, called)| called.as_ref().is_some_and(|one| one.is(&wanted.text)))
}

/// The table whose columns an UPDATE sets; `None` where it sets those of several, or joins others and sets a column without its table.
fn updated<'s>(update: &'s Update, sql: &Sql) -> Option<NamedTable<'s>> {
    let first = named(&update.table.relation, sql)?;
    if update.table.joins.is_empty() {
        return Some(first);
    }
    let owner = |one: &Assignment| match &one.target {
        AssignmentTarget::ColumnName(column) => {
            let mut parts = names(column, sql.dbms())?;
            parts.pop();
            parts.pop()
        }
        AssignmentTarget::Tuple(_) => None,
    };
    let owners = update.assignments.iter().map(owner);
    let owners: Vec<Name> = owners.collect::<Option<_>>()?;
    let (wanted, others) = owners.split_first()?;
    let is_one = others.iter().all(|other| other.is(&wanted.text));
    table_called(wanted, [&update.table], sql).filter(|_| is_one)
}

/// The table whose rows a DELETE takes; `None` where it takes those of several.
fn deleted<'s>(delete: &'s Delete, sql: &Sql) -> Option<NamedTable<'s>> {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let wanted = match (delete.tables.as_slice(), from.as_slice()) {
        ([], [only]) => named(&only.relation, sql)?.1?,
        ([one], _) => names(one, sql.dbms())?.pop()?,
        _ => return None,
    };
    // `DELETE FROM o USING orders o …` of MySQL says behind USING what it calls so.
    let all = delete.using.iter().flatten().chain(from);
    table_called(&wanted, all, sql)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_writes_names_its_table() {
        let read = |sql: &str| {
            write_statement(sql, Dbms::Postgres)
                .map(|read| (read.kind, read.table.text, read.columns.join(" ")))
        };
        let expected =
            |kind, table: &str, columns: &str| Some((kind, table.to_owned(), columns.to_owned()));
        assert_eq!(
            read("INSERT INTO s.t (a) VALUES (:a)"),
            expected(WriteKind::Insert, "t", "")
        );
        assert_eq!(
            read("UPDATE t SET a = 1, b = :b WHERE c = 2"),
            expected(WriteKind::Update, "t", "a b")
        );
        assert_eq!(
            read("DELETE FROM t WHERE a = 1"),
            expected(WriteKind::Delete, "t", "")
        );
        assert_eq!(read("SELECT 1"), None);
        let rows = |sql: &str| write_statement(sql, Dbms::Mysql).unwrap().rows;
        assert_eq!(rows("INSERT INTO t (a) VALUES (1), (2), (:a)"), Some(3));
        assert_eq!(rows("INSERT INTO t SET a = 1"), Some(1));
        assert_eq!(rows("REPLACE INTO t SELECT * FROM s"), None);
        assert_eq!(rows("DELETE FROM t"), Some(1));
        for of_field in [
            "UPDATE t SET a.city = 'x' WHERE id = :id",
            "INSERT INTO t (a.city, a.zip) VALUES ('x', :zip)",
        ] {
            let of_field = write_statement(of_field, Dbms::Postgres).unwrap();
            assert!(of_field.columns.iter().all(|column| column == "a"));
            assert!(of_field.values.is_empty());
        }
        let finds_all = |sql: &str| write_statement(sql, Dbms::Mysql).unwrap().finds_all;
        assert!(finds_all("UPDATE t SET a = :a"));
        assert!(!finds_all("DELETE FROM t WHERE a > 1"));
        assert!(!finds_all("INSERT INTO t (a) VALUES (:a)"));
        let of_list = "DELETE FROM t WHERE a = :a AND b IN (:b, :c) AND d NOT IN (1, 2)";
        let of_list = write_statement(of_list, Dbms::Mysql).unwrap();
        assert_eq!(of_list.found_by, ["a", "b"]);
        assert_eq!(of_list.listed, [("b".to_owned(), 2)]);
        let counts = "UPDATE t SET a = a + 1, b = coalesce(t.b, 0) + :n, c = d + 1 WHERE id = 2";
        let counts = write_statement(counts, Dbms::Postgres).unwrap();
        assert_eq!(counts.from_itself, ["a", "b"]);
        let numbers = |sql: &str| write_statement(sql, Dbms::Sqlite).unwrap().numbers;
        for sql in [
            "INSERT INTO t (no) VALUES ((SELECT coalesce(max(no), 0) + 1 FROM t))",
            "INSERT INTO t (id, no) SELECT :id, 1 + max(no) FROM t WHERE a = :a",
        ] {
            assert!(numbers(sql), "{sql}");
        }
        for sql in [
            "INSERT INTO t (no) VALUES (:no + 1)",
            "INSERT INTO t (no) SELECT max(no) FROM s",
        ] {
            assert!(!numbers(sql), "{sql}");
        }
        let below = |condition: &str| {
            let sql = format!("DELETE FROM t WHERE a = 1 AND {condition}");
            write_statement(&sql, Dbms::Postgres).unwrap().below
        };
        for condition in [
            "b < :x",
            "now() >= t.b",
            "b + interval '1 day' <= now()",
            "now() - interval '1 day' > date(b)",
        ] {
            assert_eq!(below(condition), ["b"], "{condition}");
        }
        for condition in ["b > :x", "b < c", "b = :x", "(b < :x OR c > :x)"] {
            assert!(below(condition).is_empty(), "{condition}");
        }
    }

    #[test]
    fn the_columns_that_get_the_time_of_the_statement_are_known() {
        let now = |sql: &str, dbms| write_statement(sql, dbms).unwrap().now.join(" ");
        for (dbms, sql, expected) in [
            (
                Dbms::Postgres,
                "INSERT INTO t (a, b, c, d, e) VALUES (CURRENT_DATE, now()::date, :c, now() - :d, date('2026-01-01'))",
                "a b",
            ),
            (
                Dbms::Postgres,
                "INSERT INTO t (a, b) VALUES (CURRENT_DATE, CURRENT_DATE), (CURRENT_DATE, :b)",
                "a",
            ),
            (
                Dbms::Postgres,
                "UPDATE t SET n = n + 1 WHERE day = CURRENT_DATE AND a = :a AND b < now()",
                "day",
            ),
            (
                Dbms::Mysql,
                "INSERT INTO t SET a = CURDATE(), b = date(now())",
                "a b",
            ),
            (
                Dbms::Sqlite,
                "INSERT INTO t (a, b) VALUES (date('now'), 'now')",
                "a",
            ),
            (Dbms::Postgres, "INSERT INTO t (a) SELECT CURRENT_DATE", ""),
        ] {
            assert_eq!(now(sql, dbms), expected, "{sql}");
        }
        assert!(is_now("CURRENT_DATE", Dbms::Postgres));
        assert!(!is_now("'2026-01-01'::date", Dbms::Postgres));
    }

    #[test]
    fn a_write_with_joins_is_one_of_the_table_that_it_changes() {
        use Dbms::{Mysql, Postgres};
        let read = |sql: &str, dbms| {
            let read = write_statement(sql, dbms)?;
            let found_by = read.found_by.join(" ");
            Some(format!("{} by {found_by}", read.table.text))
        };
        for (dbms, sql, expected) in [
            (
                Mysql,
                "UPDATE a JOIN b ON b.id = a.b SET b.x = 1 WHERE b.c = 2 AND a.d = 3",
                "b by c",
            ),
            (
                Mysql,
                "UPDATE a o JOIN b ON b.id = o.b SET o.x = 1, o.y = 2 WHERE o.c = 2",
                "a by c",
            ),
            (
                Postgres,
                "UPDATE a SET x = 1 FROM b WHERE b.id = a.b AND b.c = 2 AND d = 3",
                "a by d",
            ),
            (
                Mysql,
                "DELETE b FROM a JOIN b ON b.id = a.b WHERE b.c = 2 AND a.d = 3",
                "b by c",
            ),
            (
                Mysql,
                "DELETE o FROM a o JOIN b ON b.id = o.b WHERE o.c = 2",
                "a by c",
            ),
            (
                Mysql,
                "DELETE FROM o USING a o JOIN b ON b.id = o.b WHERE o.c = 2",
                "a by c",
            ),
            (
                Postgres,
                "DELETE FROM a USING b WHERE b.id = a.b AND b.c = 2",
                "a by ",
            ),
            (Postgres, "DELETE FROM a WHERE c = ANY($1)", "a by c"),
            (
                Postgres,
                "DELETE FROM a WHERE c = d + 1 AND e IN (f, 2)",
                "a by ",
            ),
            // Of the value of a day no key has the time.
            (
                Postgres,
                "DELETE FROM a WHERE date(c) = :c AND lower(d) = lower(:d) AND e = abs(:e)",
                "a by d e",
            ),
        ] {
            assert_eq!(read(sql, dbms).as_deref(), Some(expected), "{sql}");
        }
        for sql in [
            "UPDATE a JOIN b ON b.id = a.b SET a.x = 1, b.x = 1",
            "UPDATE a, b SET a.x = 1 WHERE b.id = a.b",
            "UPDATE a JOIN b ON b.id = a.b SET x = 1 WHERE a.c = 2",
            "DELETE a, b FROM a JOIN b ON b.id = a.b",
        ] {
            assert_eq!(read(sql, Mysql), None, "{sql}");
            let why = unread_write(sql, Mysql).unwrap_or_default();
            assert!(why.contains("several tables at once"), "{sql}: {why}");
        }
        // The parser says what is wrong.
        for sql in [
            "SELECT 1",
            "UPDATE t SET a = 1, b = 2 WHERE",
            "UPDATE t JOIN (SELECT a, b FROM s) q ON q.a = t.a SET t.b = 1 WHERE",
            "UPDATE t WHERE a IN (1, 2)",
            "DELETE FROM t WHERE",
            "INSERT INTO t (a) VALUES",
        ] {
            assert_eq!(unread_write(sql, Mysql), None, "{sql}");
        }
        let of_array = "DELETE FROM a WHERE c = ANY($1) AND d = ANY('{1,2}')";
        let of_array = write_statement(of_array, Postgres).unwrap();
        let listed = [("c".to_owned(), 0), ("d".to_owned(), 2)];
        assert_eq!(of_array.listed, listed);
    }

    #[test]
    fn an_insert_says_the_constants_of_its_rows() {
        let values = |sql: &str| write_statement(sql, Dbms::Postgres).unwrap().values;
        assert_eq!(
            values("INSERT INTO t (a, b, c, d) VALUES ('x', $1, NULL, lower('Y'))"),
            [
                ("a".to_owned(), Constant::Text("x".to_owned())),
                ("c".to_owned(), Constant::Null)
            ]
        );
        assert_eq!(values("INSERT INTO t (a) VALUES ('x')"), []);
        let inserted = |sql: &str| write_statement(sql, Dbms::Mysql).unwrap().inserted;
        let named = Some(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(inserted("INSERT INTO t (a, b) VALUES ('x', 'y')"), named);
        assert_eq!(inserted("INSERT INTO t SET a = 1, b = :b"), named);
        assert_eq!(inserted("INSERT INTO t VALUES ('x', 'y')"), None);
        let a = ("a".to_owned(), Constant::Text("x".to_owned()));
        for (sql, said) in [
            ("INSERT INTO t (a, b) VALUES ('x', :b), ('y', :c)", false),
            (
                "INSERT INTO t (a, b) VALUES ('x', :b), ('x'::text, :c)",
                true,
            ),
            (
                "INSERT INTO t (a, b) VALUES ('x', :b) ON CONFLICT (b) DO UPDATE SET a = 'y'",
                false,
            ),
            (
                "INSERT INTO t (a, b) VALUES ('x', :b) ON CONFLICT (b) DO UPDATE SET c = 'y'",
                true,
            ),
            (
                "INSERT INTO t (a, b) VALUES ('x', :b) ON CONFLICT (b) DO UPDATE SET a = excluded.a",
                true,
            ),
            (
                "INSERT INTO t (a, b) VALUES ('x', :b) ON CONFLICT (b) DO UPDATE SET a = excluded.b",
                false,
            ),
            ("INSERT INTO t VALUES ('x', :b)", false),
        ] {
            let expected: &[(String, Constant)] = if said { std::slice::from_ref(&a) } else { &[] };
            assert_eq!(values(sql), expected, "{sql}");
        }
        let values = "INSERT INTO t (a, b) VALUES ('x', :b) ON DUPLICATE KEY UPDATE a = VALUES(a)";
        let values = write_statement(values, Dbms::Mysql).unwrap().values;
        assert_eq!(values, std::slice::from_ref(&a));
        let in_order = |sql: &str| write_statement(sql, Dbms::Mysql).unwrap().in_order;
        assert_eq!(
            in_order("INSERT INTO t VALUES ('x', :b), ('x', 'c')"),
            [Some(a.1), None]
        );
        assert_eq!(in_order("INSERT INTO t VALUES ('x')"), []);
    }

    #[test]
    fn an_update_sets_the_columns_of_its_tuples() {
        for (set, columns) in [
            ("(a, b) = (b + 1, b + 1), c = 2", "a b c, from itself b"),
            ("(a, b) = (SELECT a, b FROM s)", "a b, from itself "),
            ("(a) = (a + 1)", "a, from itself a"),
            ("a = a, (b, c) = (b, a)", "c, from itself "),
            ("a = s.a", "a, from itself "),
            ("a = t.a + 1", "a, from itself a"),
            ("a = coalesce(:a, t.a), b = t.b", "a b, from itself "),
            (
                "a = CASE WHEN b > :b THEN a ELSE (:a)::int END",
                "a, from itself ",
            ),
            ("a = CASE WHEN b THEN a + 1 ELSE a END", "a, from itself a"),
            ("a = greatest(a, :a)", "a, from itself a"),
        ] {
            let sql = format!("UPDATE t SET {set} WHERE id = :id");
            let read = write_statement(&sql, Dbms::Postgres).unwrap();
            let own = read.from_itself.join(" ");
            let found = format!("{}, from itself {own}", read.columns.join(" "));
            assert_eq!(found, columns, "{set}");
        }
    }

    #[test]
    fn an_upsert_says_what_it_computes_and_by_what_its_row_is_there() {
        use Dbms::{Mysql, Postgres, Sqlite};
        for (dbms, rest, own, by) in [
            (
                Postgres,
                "ON CONFLICT (a) DO UPDATE SET n = t.n + 1",
                "n",
                Some("a"),
            ),
            (
                Sqlite,
                "ON CONFLICT (a, b) DO UPDATE SET n = n + excluded.n",
                "n",
                Some("a b"),
            ),
            (
                Postgres,
                "ON CONFLICT (a) DO UPDATE SET n = excluded.n + 1",
                "",
                Some("a"),
            ),
            (
                Postgres,
                "ON CONFLICT ON CONSTRAINT k DO UPDATE SET n = 2",
                "",
                Some(""),
            ),
            (Postgres, "ON CONFLICT (a) DO NOTHING", "", None),
            (
                Mysql,
                "ON DUPLICATE KEY UPDATE n = n + VALUES(n)",
                "n",
                Some(""),
            ),
            (
                Mysql,
                "ON DUPLICATE KEY UPDATE n = VALUES(n) + 1",
                "",
                Some(""),
            ),
            (
                Mysql,
                "ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = IF(VALUES(a) > a, VALUES(n), n)",
                "",
                Some(""),
            ),
            (Postgres, "", "", None),
        ] {
            let sql = format!("INSERT INTO t (a, b, n) VALUES (:a, :b, 1) {rest}");
            let read = write_statement(&sql, dbms).unwrap();
            assert_eq!(read.from_itself.join(" "), own, "{sql}");
            let found = read.upserts_by.map(|columns| columns.join(" "));
            assert_eq!(found.as_deref(), by, "{sql}");
        }
        let aliased =
            "INSERT INTO t AS o (a, n) VALUES (:a, 1) ON CONFLICT (a) DO UPDATE SET n = o.n + 1";
        assert_eq!(
            write_statement(aliased, Postgres).unwrap().from_itself,
            ["n"]
        );
        for (dbms, replaces) in [
            (Mysql, "REPLACE INTO t (a, n) VALUES (:a, 1)"),
            (Sqlite, "INSERT OR REPLACE INTO t (a, n) VALUES (:a, 1)"),
        ] {
            let read = write_statement(replaces, dbms).unwrap();
            assert_eq!(read.upserts_by, Some(Vec::new()), "{replaces}");
        }
    }

    #[test]
    fn a_write_says_values_beside_parameters() {
        let text = |column: &str, text: &str| (column.to_owned(), Constant::Text(text.to_owned()));
        let moves = "UPDATE t SET a = 'x', (b, c) = ('y', :c), d = d WHERE id = :id AND a = 'z' AND e IS NULL AND f <> 1";
        let moves = write_statement(moves, Dbms::Postgres).unwrap();
        assert_eq!(moves.values, [text("a", "x"), text("b", "y")]);
        let null = ("e".to_owned(), Constant::Null);
        assert_eq!(moves.found_values, [text("a", "z"), null]);
        let cast =
            "DELETE FROM t WHERE id = :id AND a::text = 'z'::text AND b::date = '2026-01-01'";
        let cast = write_statement(cast, Dbms::Postgres).unwrap();
        assert_eq!(cast.found_values, [text("a", "z")]);
        for sql in [
            "DELETE FROM t WHERE id = 1 AND a = 'z'",
            "DELETE FROM t USING s WHERE s.id = :id AND a = 'z'",
            "UPDATE t SET b = :b FROM s WHERE s.id = t.id AND a = 'z'",
            "DELETE FROM t WHERE id = :id AND (a = 'z' OR b = 'z')",
        ] {
            let read = write_statement(sql, Dbms::Postgres).unwrap();
            assert_eq!(read.found_values, [], "{sql}");
        }
    }
}
