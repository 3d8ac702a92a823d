//! Statements of a workload: what columns are compared with becomes a parameter.

use dynafold_relational::catalog::Dbms;
use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, JoinConstraint,
    JoinOperator, SetExpr, Statement, UnaryOperator, Value, visit_expressions_mut,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::UnreadableSql;
use super::array::Array;
use super::bytes::compare_plainly;
use super::definition::literal_text;
use super::operand::{FOLDS, concatenation, has_expression, only_argument, placeholder};
use super::query::{gives_one_value, on_large_stack, refused_binary};
use super::text::{Sql, expression, is_hexadecimal, statements, unescaped};

/// A query whose literals are parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parametrized {
    /// The query, as the parser writes it.
    pub sql: String,
    /// The values that stood there.
    pub examples: Vec<Example>,
    /// Columns that were compared with a list, by IN or by OR, and are compared with one parameter now.
    pub lists: Vec<ValueList>,
    /// Parameters in the place of what the query computes of no column: the parameter, and what stood there.
    pub computed: Vec<(String, String)>,
    /// Whether its literals are meant, because it has parameters of its own.
    pub keeps_literals: bool,
}

/// A list that a column was compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueList {
    /// The parameter that stands in its place.
    pub parameter: String,
    /// Its values as the query writes them; none where it is an array that the application passes as one parameter.
    pub values: Vec<String>,
}

/// What becomes of a list of values or parameters that a column is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lists {
    /// It stays as it is.
    Kept,
    /// Its literals become parameters.
    Parameters,
    /// One comparison with one parameter stands in its place.
    Split,
    /// It stays as it is, and so does every literal, and what is computed of literals alone. What compares byte by byte for an equality
    /// becomes a plain one.
    Said,
    /// The same, but one parameter stands in the place of a list of parameters.
    SplitParameters,
}

/// The value that stood in a query where a parameter stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The parameter.
    pub parameter: String,
    /// The value as text.
    pub value: String,
}

/// Puts a parameter in the place of each literal that a column is compared with in WHERE and ON, also within `lower` and `upper`,
/// and of each value that is computed of no column and is the same for all rows (`:at + 60`, `now() - interval '1 day'`, not
/// `random()`). `= ANY(array)` and equalities of one column that OR connects become an IN, and of an IN with a list becomes what
/// `lists` says.
/// Literals stay where the query has parameters already: there they are meant. Parameters as drivers write them, `$1`
/// and `?`, are called like the column that they are compared with, and `:p1` where they are compared with none.
///
/// # Errors
///
/// [`UnreadableSql`] where it is not one query that the parser takes.
pub fn parametrized(text: &str, dbms: Dbms, lists: Lists) -> Result<Parametrized, UnreadableSql> {
    let (named, drivers) = with_named_parameters(text, dbms)?;
    let sql = Sql::read(&named, Some(dbms))?;
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
        if let Some(refusal) = refused_binary(&sql, &query) {
            return Err(refusal);
        }
        let is_said = matches!(lists, Lists::Said | Lists::SplitParameters);
        if is_said {
            compare_plainly(&mut query, dbms);
        }
        let mut taken = BTreeSet::new();
        let names = sql.parameters().iter().map(|one| one.name.clone());
        let repeated: BTreeSet<String> = names.filter(|name| !taken.insert(name.clone())).collect();
        let mut into = Replacing {
            dbms,
            lists,
            is_said,
            taken,
            repeated,
            numbers: BTreeMap::new(),
            drivers,
            renamed: BTreeMap::new(),
            done: Parametrized {
                keeps_literals: has_parameters || is_said,
                ..Parametrized::default()
            },
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
                into.beginnings(condition);
                into.condition(condition);
            }
        }
        let renamed = |name: &str| {
            let found = into.renamed.get(name).map(String::as_str);
            found.unwrap_or(name).to_owned()
        };
        let _: ControlFlow<()> = visit_expressions_mut(&mut query, |expression| {
            if let Expr::Value(value) = expression
                && let Value::Placeholder(name) = &mut value.value
                && let Some(own) = name.strip_prefix(':')
            {
                *name = format!(":{}", renamed(own));
            }
            ControlFlow::Continue(())
        });
        for list in &mut into.done.lists {
            list.parameter = renamed(&list.parameter);
        }
        into.done.sql = query.to_string();
        Ok(into.done)
    })
    .unwrap_or_else(|| Err(failed()))
}

/// The same with `:p1` in the place of parameters as drivers write them, and these names.
fn with_named_parameters(text: &str, dbms: Dbms) -> Result<(String, Vec<String>), UnreadableSql> {
    let mut named = text.to_owned();
    let mut names = Vec::new();
    let foreign = Sql::read(text, Some(dbms))?.foreign_parameters();
    for (at, parameter) in foreign.iter().enumerate().rev() {
        let name = match parameter.name.trim_start_matches(['$', '?', ':', '@']) {
            "" => format!("p{}", at + 1),
            number => format!("p{number}"),
        };
        named.replace_range(parameter.span.clone(), &format!(":{name}"));
        names.push(name);
    }
    Ok((named, names))
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
    lists: Lists,
    /// Whether what the query computes of no column and no parameter is meant.
    is_said: bool,
    /// The names of parameters that there are.
    taken: BTreeSet<String>,
    /// Those that stand in several places.
    repeated: BTreeSet<String>,
    /// By column, the number of the last parameter that was called after it.
    numbers: BTreeMap<String, u32>,
    /// Parameters that a driver wrote without a name.
    drivers: Vec<String>,
    /// What they are called.
    renamed: BTreeMap<String, String>,
    done: Parametrized,
}

impl Replacing {
    /// The parts that hold at once; of what stands under OR or NOT only a list of values of one column.
    fn condition(&mut self, expression: &mut Expr) {
        if let Some(list) = either(expression, self.dbms) {
            *expression = list;
        }
        if let Some(same) = without_not(expression, self.dbms) {
            *expression = same;
        }
        self.array(expression);
        match expression {
            Expr::Nested(inner) => self.condition(inner),
            Expr::BinaryOp {
                left,
                op: BinaryOperator::Or,
                right,
            } if !matches!(self.lists, Lists::Kept | Lists::Said) => {
                // One request for each value would find the rows of the other parts each time.
                let lists = self.lists;
                self.lists = Lists::Parameters;
                self.condition(left);
                self.condition(right);
                self.lists = lists;
            }
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
            } if !matches!(self.lists, Lists::Kept | Lists::Said) => {
                let (column, values) = (expr.clone(), list.clone());
                self.list(column, values, expression);
            }
            Expr::BinaryOp { left, op, right } => {
                let [suffix, turned] = match op {
                    BinaryOperator::Eq => ["", ""],
                    BinaryOperator::Lt | BinaryOperator::LtEq => ["_until", "_from"],
                    BinaryOperator::Gt | BinaryOperator::GtEq => ["_from", "_until"],
                    _ => return,
                };
                if let Some(column) = column(left) {
                    self.value(right, &format!("{column}{suffix}"));
                } else if let Some(column) = column(right) {
                    self.value(left, &format!("{column}{turned}"));
                }
            }
            Expr::Between {
                expr,
                negated: false,
                low,
                high,
            } => {
                if let Some(column) = column(expr) {
                    self.value(low, &format!("{column}_from"));
                    self.value(high, &format!("{column}_until"));
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
                    self.rename(pattern, &column);
                    if !self.done.keeps_literals {
                        self.prefix(pattern, &column);
                    }
                }
            }
            _ => {}
        }
    }

    /// `column = ANY(array)` becomes the IN that it is. Of an array that is a parameter each request has one value.
    fn array(&mut self, expression: &mut Expr) {
        let Some(array) = Array::of(expression, self.dbms) else {
            return;
        };
        if !array.is_parameter {
            let are_examples =
                !self.done.keeps_literals && matches!(self.lists, Lists::Split | Lists::Parameters);
            if are_examples || !array.has_typed_texts {
                *expression = array.into_list();
            }
            return;
        }
        let splits = self.splits(array.values.first());
        let column = column(&array.left).filter(|_| splits);
        if let Some((column, right)) = column.zip(array.values.into_iter().next())
            && let Some(parameter) = placeholder(&right)
        {
            self.rename(&right, &column);
            *expression = Expr::BinaryOp {
                left: array.left,
                op: BinaryOperator::Eq,
                right: Box::new(right),
            };
            let values = Vec::new();
            self.done.lists.push(ValueList { parameter, values });
        }
    }

    /// Whether one value stands in the place of a list. A parameter that stands elsewhere too would have that value there as well.
    fn splits(&self, first: Option<&Expr>) -> bool {
        let first = first.and_then(placeholder);
        let is_repeated = first.is_some_and(|name| self.repeated.contains(&name));
        matches!(self.lists, Lists::Split | Lists::SplitParameters) && !is_repeated
    }

    /// `a%` becomes a parameter with the percent sign behind it.
    fn prefix(&mut self, pattern: &mut Expr, column: &str) {
        let Some(pattern) = folded(pattern) else {
            return;
        };
        let text = text(pattern, self.dbms);
        let prefix = text.as_deref().and_then(|text| text.strip_suffix('%'));
        let is_plain = |one: &&str| !one.is_empty() && !one.contains(['%', '_', '\\']);
        let Some(prefix) = prefix.filter(is_plain) else {
            return;
        };
        let parameter = self.name(column);
        if let Some(read) = concatenated(&format!(":{parameter}"), "%", self.dbms) {
            *pattern = read;
            let value = prefix.to_owned();
            self.taken.insert(parameter.clone());
            self.done.examples.push(Example { parameter, value });
        }
    }

    /// `:p || '/%'` becomes one parameter with the percent sign behind it: who asks puts the constant behind the value.
    fn beginnings(&mut self, condition: &mut Expr) {
        match condition {
            Expr::Nested(inner) => self.beginnings(inner),
            Expr::BinaryOp {
                left,
                op: BinaryOperator::And | BinaryOperator::Or,
                right,
            } => {
                self.beginnings(left);
                self.beginnings(right);
            }
            Expr::Like { expr, pattern, .. } | Expr::ILike { expr, pattern, .. } => {
                let wanted = column(expr);
                let value = wanted.as_ref().and_then(|_| beginning(pattern, self.dbms));
                if let Some((name, value)) = wanted.map(|one| self.name(&one)).zip(value)
                    && let Some(read) = concatenated(&format!(":{name}"), "%", self.dbms)
                {
                    **pattern = read;
                    self.taken.insert(name.clone());
                    self.done.computed.push((name, value.to_string()));
                }
            }
            _ => {}
        }
    }

    fn list(&mut self, left: Box<Expr>, mut list: Vec<Expr>, whole: &mut Expr) {
        let Some(column) = column(&left) else { return };
        let are_values = list.iter().all(|one| {
            placeholder(one).is_some()
                || !self.done.keeps_literals && text(one, self.dbms).is_some()
        });
        if !are_values {
            return;
        }
        let values = list.iter().map(ToString::to_string).collect();
        if let Some(first) = list.first() {
            self.rename(first, &column);
        }
        let splits = self.splits(list.first());
        if splits {
            list.truncate(1);
        }
        for one in list.iter_mut().filter(|one| placeholder(one).is_none()) {
            self.literal_as(one, &column);
        }
        let first = list.first().filter(|_| splits);
        if let Some((right, parameter)) = first.and_then(|one| Some((one, placeholder(one)?))) {
            *whole = Expr::BinaryOp {
                left,
                op: BinaryOperator::Eq,
                right: Box::new(right.clone()),
            };
            self.done.lists.push(ValueList { parameter, values });
        } else {
            *whole = Expr::InList {
                expr: left,
                list,
                negated: false,
            };
        }
    }

    /// Calls a parameter that a driver wrote like the column that it is compared with.
    fn rename(&mut self, at: &Expr, wanted: &str) {
        let inner = match at {
            Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => Some(&**inner),
            Expr::Function(function) => only_argument(function),
            _ => None,
        };
        if let Some(inner) = inner {
            self.rename(inner, wanted);
        } else if let Expr::Value(value) = at
            && let Value::Placeholder(name) = &value.value
            && let Some(own) = name.strip_prefix(':').map(str::to_owned)
            && self.drivers.contains(&own)
            && !self.renamed.contains_key(&own)
        {
            let name = self.name(wanted);
            self.taken.insert(name.clone());
            self.renamed.insert(own, name);
        }
    }

    /// What a column is compared with.
    fn value(&mut self, at: &mut Expr, wanted: &str) {
        self.rename(at, wanted);
        if is_computed(at, self.dbms) {
            let has_parameter = has_expression(&*at, |one| placeholder(one).is_some());
            if self.is_said && !has_parameter {
                return;
            }
            let name = self.name(wanted);
            let expression = at.to_string();
            *at = Expr::Value(Value::Placeholder(format!(":{name}")).into());
            self.taken.insert(name.clone());
            self.done.computed.push((name, expression));
        } else if let Some(literal) = folded(at)
            && !self.done.keeps_literals
        {
            self.literal_as(literal, wanted);
        }
    }

    /// Puts a parameter in the place of a literal; leaves anything else.
    fn literal_as(&mut self, at: &mut Expr, wanted: &str) {
        let Some(value) = text(at, self.dbms) else {
            return;
        };
        let parameter = self.name(wanted);
        *at = Expr::Value(Value::Placeholder(format!(":{parameter}")).into());
        self.taken.insert(parameter.clone());
        self.done.examples.push(Example { parameter, value });
    }

    /// A name that no other parameter has, made of a column's.
    fn name(&mut self, column: &str) -> String {
        let mut plain = column.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        // `now` is the clock of the run.
        if plain == "now" || plain.starts_with(|c: char| c.is_ascii_digit()) {
            plain.insert(0, '_');
        }
        let number = self.numbers.entry(plain.clone()).or_insert(1);
        let mut name = plain.clone();
        while self.taken.contains(&name) {
            *number += 1;
            name = format!("{plain}_{number}");
        }
        name
    }
}

/// The condition that holds where NOT of another does, and of NULL as little as that: `NOT a = b` as `a <> b`.
fn without_not(expression: &Expr, dbms: Dbms) -> Option<Expr> {
    let Expr::UnaryOp {
        op: UnaryOperator::Not,
        expr,
    } = expression
    else {
        return None;
    };
    let mut inner = either(plain(expr), dbms).unwrap_or_else(|| plain(expr).clone());
    match &mut inner {
        Expr::BinaryOp { op, .. } => *op = opposite(op)?,
        // NOT of ANY is not ANY of NOT.
        Expr::Like { any: true, .. } | Expr::ILike { any: true, .. } => return None,
        Expr::InList { negated, .. }
        | Expr::Between { negated, .. }
        | Expr::Like { negated, .. }
        | Expr::ILike { negated, .. } => *negated = !*negated,
        Expr::IsNull(of) => inner = Expr::IsNotNull(of.clone()),
        Expr::IsNotNull(of) => inner = Expr::IsNull(of.clone()),
        _ => return None,
    }
    Some(inner)
}

/// The comparison that holds where another one does not.
fn opposite(op: &BinaryOperator) -> Option<BinaryOperator> {
    Some(match op {
        BinaryOperator::Eq => BinaryOperator::NotEq,
        BinaryOperator::NotEq => BinaryOperator::Eq,
        BinaryOperator::Lt => BinaryOperator::GtEq,
        BinaryOperator::LtEq => BinaryOperator::Gt,
        BinaryOperator::Gt => BinaryOperator::LtEq,
        BinaryOperator::GtEq => BinaryOperator::Lt,
        _ => return None,
    })
}

/// What a text begins with that a pattern of a parameter and a constant takes, whose only `%` is at its end.
fn beginning(pattern: &Expr, dbms: Dbms) -> Option<Expr> {
    let (left, right) = concatenation(pattern)?;
    // In what is computed, a `_` or `\` may be a sign of the pattern.
    let parameter = placeholder(folded_value(left))?;
    let said = text(right, dbms)?;
    let constant = said.strip_suffix('%').filter(|one| !one.is_empty())?;
    let is_plain = !constant.contains(['%', '_', '\\']) && !parameter.is_empty();
    let value = concatenated(&left.to_string(), constant, dbms).filter(|_| is_plain)?;
    is_computed(&value, dbms).then_some(value)
}

/// What stands in `lower` or `upper`, and in parentheses; other expressions as they are.
fn folded_value(expression: &Expr) -> &Expr {
    match expression {
        Expr::Nested(inner) => folded_value(inner),
        Expr::Function(function) if FOLDS.contains(&&*function.name.to_string().to_lowercase()) => {
            only_argument(function).map_or(expression, folded_value)
        }
        other => other,
    }
}

/// An expression with a text behind it.
fn concatenated(left: &str, text: &str, dbms: Dbms) -> Option<Expr> {
    let text = crate::literal(text, dbms);
    let with = match dbms {
        Dbms::Mysql | Dbms::Mariadb => format!("concat({left}, {text})"),
        Dbms::Postgres | Dbms::Sqlite => format!("{left} || {text}"),
    };
    expression(&with, dbms)
}

/// An expression without the parentheses around it.
fn plain(expression: &Expr) -> &Expr {
    match expression {
        Expr::Nested(inner) => plain(inner),
        other => other,
    }
}

/// What stands in `lower` or `upper`, or the expression itself.
fn folded(expression: &mut Expr) -> Option<&mut Expr> {
    let Expr::Function(function) = expression else {
        return Some(expression);
    };
    let name = function.name.to_string().to_lowercase();
    let FunctionArguments::List(list) = &mut function.args else {
        return None;
    };
    match list.args.as_mut_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(inner))] if FOLDS.contains(&&*name) => {
            Some(inner)
        }
        _ => None,
    }
}

/// Equalities of one column that OR connects, as an IN with their values: parameters, texts or numbers, and not several of these.
fn either(expression: &Expr, dbms: Dbms) -> Option<Expr> {
    fn gathered<'e>(expression: &'e Expr, into: &mut Vec<(&'e Expr, &'e Expr)>) -> Option<()> {
        match expression {
            Expr::Nested(inner) => gathered(inner, into),
            Expr::BinaryOp {
                left,
                op: BinaryOperator::Or,
                right,
            } => {
                gathered(left, into)?;
                gathered(right, into)
            }
            Expr::BinaryOp {
                left,
                op: BinaryOperator::Eq,
                right,
            } => {
                into.push(match column(left) {
                    Some(_) => (&**left, &**right),
                    None => (&**right, &**left),
                });
                Some(())
            }
            Expr::InList {
                expr,
                list,
                negated: false,
            } => {
                into.extend(list.iter().map(|one| (&**expr, one)));
                Some(())
            }
            _ => None,
        }
    }
    let Expr::BinaryOp {
        op: BinaryOperator::Or,
        ..
    } = expression
    else {
        return None;
    };
    let mut pairs = Vec::new();
    gathered(expression, &mut pairs)?;
    let (first, value) = *pairs.first()?;
    column(first)?;
    let kind = |value: &Expr| match value {
        Expr::Value(value) => Some(std::mem::discriminant(&value.value)),
        _ => None,
    };
    let kind_of_first = kind(value)?;
    let is_value = |value: &Expr| placeholder(value).is_some() || text(value, dbms).is_some();
    let is_alike = pairs.iter().all(|(one, value)| {
        one.to_string() == first.to_string()
            && kind(value) == Some(kind_of_first)
            && is_value(value)
    });
    is_alike.then(|| Expr::InList {
        expr: Box::new(first.clone()),
        list: pairs.iter().map(|(_, value)| (*value).clone()).collect(),
        negated: false,
    })
}

/// Whether texts of a type of PostgreSQL are compared without case, or without blanks at the end.
fn is_compared_otherwise(data_type: &str, dbms: Dbms) -> bool {
    let name = data_type
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .split('(')
        .next()
        .unwrap_or_default()
        .trim()
        .trim_matches('"')
        .to_lowercase();
    dbms == Dbms::Postgres && ["citext", "bpchar", "char", "character"].contains(&&*name)
}

/// Whether it is computed of no column, once for all rows: neither a literal or a parameter, nor one of them in lower case.
fn is_computed(expression: &Expr, dbms: Dbms) -> bool {
    struct Columns(Dbms);
    impl sqlparser::ast::Visitor for Columns {
        type Break = ();
        fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
            match expression {
                // A collation is that of the comparison, and so is the type of texts without case.
                Expr::Collate { .. } => ControlFlow::Break(()),
                Expr::Cast { data_type, .. }
                    if is_compared_otherwise(&data_type.to_string(), self.0) =>
                {
                    ControlFlow::Break(())
                }
                Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
                Expr::Function(function)
                    if !gives_one_value(&function.name.to_string().to_lowercase(), self.0) =>
                {
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            }
        }
        fn pre_visit_query(&mut self, _: &sqlparser::ast::Query) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let is_plain = match expression {
        Expr::Nested(inner) => !is_computed(inner, dbms),
        Expr::Value(_) => true,
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            FOLDS.contains(&&*name) || matches!(&*name, "any" | "all" | "some")
        }
        Expr::AnyOp { .. } | Expr::AllOp { .. } | Expr::Tuple(_) | Expr::Array(_) => true,
        other => text(other, dbms).is_some(),
    };
    !is_plain && sqlparser::ast::Visit::visit(expression, &mut Columns(dbms)).is_continue()
}

/// The name of the column that an expression is, maybe in a function of one argument.
fn column(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Nested(inner) => column(inner),
        Expr::Identifier(name) => Some(name.value.clone()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|part| part.value.clone()),
        Expr::Function(function) => column(only_argument(function)?),
        _ => None,
    }
}

/// The text of a literal; `None` of NULL, of what is none, and of hexadecimal digits, which are a number or bytes.
fn text(expression: &Expr, dbms: Dbms) -> Option<String> {
    let literal = |value: &Value| match value {
        Value::HexStringLiteral(_) => None,
        Value::Number(number, _) if is_hexadecimal(number) => None,
        Value::SingleQuotedString(text) | Value::NationalStringLiteral(text) => {
            Some(unescaped(text, '\'', Some(dbms)))
        }
        Value::DoubleQuotedString(text) => Some(unescaped(text, '"', Some(dbms))),
        other => literal_text(other),
    };
    match expression {
        Expr::Nested(inner) => text(inner, dbms),
        Expr::Value(value) => literal(&value.value),
        Expr::TypedString(typed) => literal(&typed.value.value),
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => Some(format!("-{}", text(expr, dbms)?)),
        // `lower('X')` is compared as it is.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_beside_columns_become_parameters() {
        let read = |sql: &str| {
            let read = parametrized(sql, Dbms::Postgres, Lists::Split).unwrap();
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
        let lists = parametrized(
            "SELECT 1 FROM t WHERE c IN (1, 2)",
            Dbms::Mysql,
            Lists::Split,
        )
        .unwrap();
        let values = |list: &ValueList| format!("{}: {}", list.parameter, list.values.join(" "));
        let lists: Vec<String> = lists.lists.iter().map(values).collect();
        assert_eq!(lists, ["c: 1 2"]);
        let whole = parametrized(
            "SELECT 1 FROM t WHERE c IN (1, 2)",
            Dbms::Mysql,
            Lists::Kept,
        )
        .unwrap();
        assert!(whole.lists.is_empty() && whole.sql.ends_with("IN (1, 2)"));
        // What is computed of no column is handed in; a text in lower case is not, and drivers' parameters get names.
        let computed = |sql: &str| {
            let read = parametrized(sql, Dbms::Postgres, Lists::Split).unwrap();
            (read.sql, read.computed)
        };
        let (sql, handed) = computed(
            "SELECT 1 FROM t WHERE a > now() - interval '1 day' AND b = $1 + 60 AND lower(c) = lower($2) AND d = e + 1",
        );
        assert_eq!(
            sql,
            "SELECT 1 FROM t WHERE a > :a_from AND b = :b AND lower(c) = lower(:c) AND d = e + 1"
        );
        let handed: Vec<String> = handed
            .into_iter()
            .map(|(name, text)| format!("{name}={text}"))
            .collect();
        assert_eq!(handed, ["a_from=now() - INTERVAL '1 day'", "b=:p1 + 60"]);
        // What may be another value for each row is no value that could be handed in.
        for drawn in [
            "a > random()",
            "a > 1 + random()",
            "a = gen_random_uuid()",
            "a = nextval('s')",
            "a BETWEEN random() AND clock_timestamp()",
            "a > app.limit_of(5)",
            // PostgreSQL has no function of this name: it is somebody's.
            "a = space(5)",
            "a = CAST('x' AS \"citext\")",
            "a = CAST('x' AS bpchar(5))",
            "a = 'x'::character(5)",
        ] {
            let sql = format!("SELECT 1 FROM t WHERE {drawn}");
            assert_eq!(computed(&sql).1, [], "{drawn}");
        }
        let drivers = "SELECT a, ? FROM t WHERE b = ? AND c IN (?, ?) AND d >= ? AND d < ? LIMIT ?";
        let read = parametrized(drivers, Dbms::Mysql, Lists::Split).unwrap();
        assert_eq!(
            read.sql,
            "SELECT a, :p1 FROM t WHERE b = :b AND c = :c AND d >= :d_from AND d < :d_until LIMIT :p7"
        );
        assert_eq!(values(&read.lists[0]), "c: :p3 :p4");
    }

    #[test]
    fn what_is_computed_of_literals_is_meant_where_these_are() {
        for (said, parameter) in [
            ("a > 2 * 5", "a > :a_from"),
            ("a > now() - INTERVAL '1 day'", "a > :a_from"),
            ("a > :x + 5", "a > :a_from"),
        ] {
            let sql = format!("SELECT 1 FROM t WHERE b = :b AND {said}");
            let read = |lists| {
                let read = parametrized(&sql, Dbms::Postgres, lists).unwrap().sql;
                read.split_once(" AND ").unwrap().1.to_owned()
            };
            assert_eq!(read(Lists::Split), parameter);
            let is_meant = !said.contains(':');
            for lists in [Lists::Said, Lists::SplitParameters] {
                assert_eq!(read(lists) == said, is_meant, "{said}");
            }
        }
    }

    #[test]
    fn what_is_said_of_one_column_is_one_list() {
        let either = |condition: &str, lists: Lists| {
            let sql = format!("SELECT 1 FROM t WHERE {condition}");
            let read = parametrized(&sql, Dbms::Sqlite, lists).unwrap().sql;
            read.split_once(" WHERE ").unwrap().1.to_owned()
        };
        for (said, split, whole) in [
            ("c = 1 OR c = 2 OR 3 = c", "c = :c", "c IN (:c, :c_2, :c_3)"),
            (
                "(c = 1 OR (c IN (2, 3))) AND d = 4",
                "(c = :c) AND d = :d",
                "(c IN (:c, :c_2, :c_3)) AND d = :d",
            ),
            ("c = :x OR c = :y", "c = :x", "c IN (:x, :y)"),
            (
                "c IN (:x, :y) AND d IN (:x, :y)",
                "c IN (:x, :y) AND d IN (:x, :y)",
                "c IN (:x, :y) AND d IN (:x, :y)",
            ),
            ("c = :x OR c = 1", "c = :x OR c = 1", "c = :x OR c = 1"),
            ("c = 1 OR d = 1", "c = :c OR d = :d", "c = :c OR d = :d"),
            (
                "c IS NULL OR c > 4 OR c IN (1, 2)",
                "c IS NULL OR c > :c_from OR c IN (:c, :c_2)",
                "c IS NULL OR c > :c_from OR c IN (:c, :c_2)",
            ),
            (
                "NOT c = 1 AND NOT (d < 2)",
                "c <> 1 AND d >= :d_from",
                "c <> 1 AND d >= :d_from",
            ),
            (
                "NOT (c IS NULL) AND NOT (d BETWEEN 1 AND 2)",
                "c IS NOT NULL AND d NOT BETWEEN 1 AND 2",
                "c IS NOT NULL AND d NOT BETWEEN 1 AND 2",
            ),
            // A collation is the comparison's, and no value of the application's.
            (
                "c = 'x' COLLATE NOCASE",
                "c = 'x' COLLATE NOCASE",
                "c = 'x' COLLATE NOCASE",
            ),
            (
                "c = :x AND (d = 1 OR d = 2)",
                "c = :x AND (d IN (1, 2))",
                "c = :x AND (d IN (1, 2))",
            ),
            (
                "lower(c) = lower('A')",
                "lower(c) = lower(:c)",
                "lower(c) = lower(:c)",
            ),
        ] {
            assert_eq!(either(said, Lists::Split), split, "{said}");
            assert_eq!(either(said, Lists::Parameters), whole, "{said}");
        }
    }

    #[test]
    fn an_array_is_a_list() {
        let read = |condition: &str, lists: Lists| {
            let sql = format!("SELECT 1 FROM t WHERE {condition}");
            let read = parametrized(&sql, Dbms::Postgres, lists).unwrap();
            let condition = read.sql.split_once(" WHERE ").unwrap().1.to_owned();
            (condition, read.lists)
        };
        for (said, split, whole) in [
            ("c = ANY($1)", "c = :c", "c = ANY(:p1)"),
            ("c = ANY(:ids)", "c = :ids", "c = ANY(:ids)"),
            (
                "c = ANY(:ids) AND d = ANY(:ids)",
                "c = ANY(:ids) AND d = ANY(:ids)",
                "c = ANY(:ids) AND d = ANY(:ids)",
            ),
            ("c = SOME('{1, 2}')", "c = :c", "c IN (:c, :c_2)"),
            ("c = ANY(ARRAY['a', 'b'])", "c = :c", "c IN (:c, :c_2)"),
            ("c = ANY(ARRAY[:x, :y])", "c = :x", "c IN (:x, :y)"),
            (
                "d = :d AND c = ANY('{1,2}')",
                "d = :d AND c IN ('1', '2')",
                "d = :d AND c IN ('1', '2')",
            ),
            // A text of a type that is said is compared as that type says.
            (
                "d = :d AND c = ANY(ARRAY['a'])",
                "d = :d AND c = ANY(ARRAY['a'])",
                "d = :d AND c = ANY(ARRAY['a'])",
            ),
            (
                "c = ANY('{1,NULL}')",
                "c = ANY('{1,NULL}')",
                "c = ANY('{1,NULL}')",
            ),
            ("c > ANY(:ids)", "c > ANY(:ids)", "c > ANY(:ids)"),
        ] {
            assert_eq!(read(said, Lists::Split).0, split, "{said}");
            assert_eq!(read(said, Lists::Parameters).0, whole, "{said}");
        }
        let list = ValueList {
            parameter: "c".to_owned(),
            values: Vec::new(),
        };
        assert_eq!(
            read("c = ANY($1::int[])", Lists::Split),
            ("c = :c".to_owned(), vec![list])
        );
    }

    #[test]
    fn not_of_any_is_not_any_of_not() {
        for said in ["NOT (c LIKE ANY (:list))", "NOT (c ILIKE ANY (:list))"] {
            let sql = format!("SELECT 1 FROM t WHERE {said}");
            let read = parametrized(&sql, Dbms::Postgres, Lists::Split).unwrap();
            assert_eq!(read.sql, sql);
        }
    }

    #[test]
    fn literals_are_written_as_they_are_said() {
        use Dbms::{Mariadb, Mysql, Postgres, Sqlite};
        let owner = |_: Option<&str>, _: &str| Some("t".to_owned());
        for (dbms, said) in [
            (
                Mysql,
                r"t.a = 'a\\q' AND t.b <> 'it\'s' AND t.c LIKE 'x\_%'",
            ),
            (Mariadb, r"t.a IN ('\b', '\n', 'a''b', '\\''', '''''')"),
            (Mysql, "t.n = 0x1F OR t.n = X'1F' OR t.n = 0xF"),
            (
                Postgres,
                r"t.a = 'a\''b' AND t.b = 'a''''b' AND t.c = E'a\nb'",
            ),
            (Postgres, r#"t.a LIKE 'a!%' ESCAPE '!' AND t."b""c" = '\'"#),
            (
                Sqlite,
                "t.n = 0x10 AND t.m IN (0x1, 1e1, .5) AND t.b = X'1F'",
            ),
        ] {
            let again = crate::qualified(said, dbms, &owner);
            assert_eq!(again.as_deref(), Some(said), "{dbms:?}");
            let sql = format!("SELECT a FROM t WHERE t.id = :id AND ({said})");
            let read = parametrized(&sql, dbms, Lists::Split).unwrap();
            assert_eq!(read.sql, sql, "{dbms:?}");
        }
        // What stands in a text is read all the same; digits of another kind are no example.
        let examples = |sql: &str, dbms| {
            let read = parametrized(sql, dbms, Lists::Split).unwrap();
            let examples = read.examples.iter();
            let all: Vec<String> = examples.map(|one| one.value.clone()).collect();
            (read.sql, all)
        };
        let (_, of_mysql) = examples(
            r"SELECT a FROM t WHERE a = 'it\'s \\ \n' AND b = 'a''b'",
            Mysql,
        );
        assert_eq!(of_mysql, ["it's \\ \n", "a'b"]);
        let (_, of_postgres) = examples(r"SELECT a FROM t WHERE a = 'it''s \ '", Postgres);
        assert_eq!(of_postgres, [r"it's \ "]);
        let (sql, none) = examples("SELECT a FROM t WHERE n = 0x10 AND b > X'1F'", Sqlite);
        assert_eq!(none, Vec::<String>::new());
        assert!(sql.ends_with("WHERE n = 0x10 AND b > X'1F'"), "{sql}");
    }

    #[test]
    fn a_constant_behind_a_parameter_belongs_to_the_value_unless_more_is_computed() {
        let read = |pattern: &str| {
            let sql = format!("SELECT a FROM t WHERE a LIKE {pattern}");
            let read = parametrized(&sql, Dbms::Sqlite, Lists::Split).unwrap();
            read.computed
                .into_iter()
                .map(|(_, value)| value)
                .collect::<Vec<_>>()
        };
        assert_eq!(read(":p || '/%'"), [":p || '/'"]);
        assert_eq!(read("(lower(:p) || '/%')"), ["lower(:p) || '/'"]);
        for pattern in [
            ":p || '_' || '/%'",
            "'_' || :p || '/%'",
            "replace(:p, '_', '') || '/%'",
            ":p || '_%'",
            ":p || '%'",
        ] {
            assert!(read(pattern).is_empty(), "{pattern}");
        }
    }
}
