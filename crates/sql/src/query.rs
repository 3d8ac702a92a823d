//! One query as a whole.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use dynafold_relational::catalog::Dbms;
use sqlparser::ast::{
    self, BinaryOperator, Expr, LimitClause, ObjectName, SetExpr, SetOperator, SetQuantifier,
    Statement, TableFactor, Visit, Visitor,
};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::UnreadableSql;
use super::condition::{Comparator, ConditionTest, comparison};
use super::operand::{ColumnRef, Constant, Name, Operand, OperandValue, has_expression, names};
use super::order::{SortKey, order};
use super::select::{Select, SelectOutput};
use super::text::{DEPTH, Sql, dialect, is_word};

/// The stack of the thread that reads a query, in bytes. What `a OR b OR …` is read into is as deep as it is long, and
/// the parser, which walks it, does not limit that.
const STACK: usize = 512 << 20;

/// The most words and signs that a query is read with: what comes of them fits on that stack.
const WORDS: usize = 50_000;

/// Functions that give the same for the same in all databases, where they are the database's own. Of all others nothing is
/// known.
pub(super) const STEADY: &str = include_str!("steady_functions.txt");

/// Those of [`STEADY`] that PostgreSQL does not have: a function of this name is one that somebody made.
const NOT_OF_POSTGRES: [&str; 6] = ["if", "ifnull", "iif", "instr", "json_extract", "typeof"];

/// Those of [`STEADY`] that MySQL and MariaDB do not have.
const NOT_OF_MYSQL: [&str; 3] = ["iif", "starts_with", "typeof"];

/// More of them that both MySQL and MariaDB have. Functions of time are none: MySQL reads a TIMESTAMP in the session's zone, and adds
/// today's date to a TIME.
const OF_MYSQL: &str = "\
    ascii bin bit_count bit_length ceiling concat_ws conv crc32 elt export_set field find_in_set \
    from_base64 hex inet6_aton inet6_ntoa inet_aton inet_ntoa is_ipv4 is_ipv6 isnull json_array \
    json_contains json_contains_path json_depth json_keys json_length json_object json_quote \
    json_search json_type json_valid json_value lcase locate lpad make_set mid oct ord pow power \
    repeat reverse rpad sha2 space sqrt strcmp substring substring_index to_base64 truncate ucase \
    unhex";

/// More of MySQL. Since 9.6 it has no MD5 and SHA1 of its own.
const OF_MYSQL_ALONE: &str = "bin_to_uuid is_uuid uuid_to_bin";

/// More of MariaDB.
const OF_MARIADB_ALONE: &str = "md5 sha sha1";

/// More of PostgreSQL: all are IMMUTABLE there, in each version from 13.
const OF_POSTGRES: &str = "\
    array_length array_position ascii bit_length btrim cardinality ceiling chr decode div encode \
    family host initcap json_array_length json_extract_path json_extract_path_text json_typeof \
    jsonb_array_length jsonb_extract_path jsonb_extract_path_text jsonb_typeof lpad masklen md5 \
    num_nonnulls num_nulls pow power regexp_match regexp_replace repeat reverse rpad \
    sha256 split_part sqrt string_to_array strpos substring to_hex translate trunc";

/// More of SQLite.
const OF_SQLITE: &str = "\
    ceiling char concat_ws format glob hex json json_array json_array_length json_object json_quote \
    json_type json_valid pow power printf quote sqrt substring trunc unhex unicode";

/// What is more of one database or two.
#[cfg(test)]
pub(super) const OF_SOME: [&str; 5] = [
    OF_MYSQL,
    OF_MYSQL_ALONE,
    OF_MARIADB_ALONE,
    OF_POSTGRES,
    OF_SQLITE,
];

/// Functions that give all rows of a statement one value where their arguments do, besides those of [`is_steady`]: the clock as
/// it stood when the statement began, who asks, and what is computed of these. Of all others it is not known: `random()`,
/// `gen_random_uuid()` and `nextval('s')` give each row its own.
pub(super) const ONE_TO_A_STATEMENT: &str = include_str!("statement_functions.txt");

/// Functions that make one value of several rows, in any of the databases.
const AGGREGATES: &str = include_str!("aggregate_functions.txt");

/// Whether a function, in lower case, makes one value of several rows.
pub fn is_aggregate(function: &str) -> bool {
    let own = function.rsplit('.').next();
    own.is_some_and(|own| is_listed(AGGREGATES, own))
}

/// Whether a function gives all rows of a statement one value where its arguments do.
pub(crate) fn gives_one_value(function: &str, dbms: Dbms) -> bool {
    is_steady(function, Some(dbms)) || is_listed(ONE_TO_A_STATEMENT, function)
}

/// Whether a function is the database's own and gives the same for the same. To SQLite nobody adds functions: they would be the
/// connection's.
fn is_steady(function: &str, dbms: Option<Dbms>) -> bool {
    let (others, more): (&[&str], &[&str]) = match dbms {
        Some(Dbms::Postgres) => (&NOT_OF_POSTGRES, &[OF_POSTGRES]),
        Some(Dbms::Mysql) => (&NOT_OF_MYSQL, &[OF_MYSQL, OF_MYSQL_ALONE]),
        Some(Dbms::Mariadb) => (&NOT_OF_MYSQL, &[OF_MYSQL, OF_MARIADB_ALONE]),
        Some(Dbms::Sqlite) => (&[], &[OF_SQLITE]),
        None => (&[], &[]),
    };
    let is_common = is_listed(STEADY, function) && !others.contains(&function);
    is_common || more.iter().any(|list| is_listed(list, function))
}

fn is_listed(functions: &str, function: &str) -> bool {
    functions.split_whitespace().any(|one| one == function)
}

/// One query that only reads.
#[derive(Debug, Clone, Default)]
pub struct SqlQuery {
    /// Its text, with the parameters.
    pub sql: Sql,
    /// Its SELECTs: one, or those that are put together; none where it is `VALUES` or `TABLE`, which `strange` names.
    pub selects: Vec<Select>,
    /// How they are put together.
    pub set: SetOperation,
    /// Its own ORDER BY; `None` where it promises no order.
    pub order: Option<Vec<SortKey>>,
    /// How many rows it gives at most.
    pub limit: RowLimit,
    /// How many it skips.
    pub offset: RowLimit,
    /// All tables that it reads, those of queries within it too.
    pub tables: Vec<ReadTable>,
    /// What its parameters are compared with, wherever they stand.
    pub comparisons: Vec<Comparison>,
    /// The queries of its WITH.
    pub with: Vec<Name>,
    /// What was read and is told nowhere else, in words of SQL.
    pub strange: Vec<&'static str>,
    /// What may make it answer otherwise over the same rows, in words of SQL: the clock, chance, who asks.
    pub unsteady: Vec<String>,
    /// The functions that it calls, as it names them.
    pub functions: Vec<String>,
    /// What it names as columns of a table that it says: in PostgreSQL `t.f` may call a function too.
    pub qualified: Vec<ColumnRef>,
    /// The columns that it does something with, in lower case: not those that it only gives as they are.
    pub used: Vec<String>,
    /// Whether anything is made otherwise than by operators from columns and literals: by a function, a cast.
    pub calls: bool,
    /// Whether any of that is none of the functions and casts that give the same for the same.
    pub calls_unknown: bool,
}

/// How SELECTs are put together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SetOperation {
    /// There is one.
    #[default]
    One,
    /// UNION ALL alone.
    UnionAll,
    /// UNION, EXCEPT, INTERSECT, or several kinds.
    Other,
}

/// A number of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RowLimit {
    /// None is said.
    #[default]
    None,
    /// So many.
    Rows(u64),
    /// As the caller says.
    Parameter(String),
    /// A number that is not plain to see.
    Unknown,
}

/// A table that a query reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadTable {
    /// What the query calls it.
    pub called: Name,
    /// Its schema, where it is said.
    pub schema: Option<Name>,
    /// The table's name, as the query writes it.
    pub name: Name,
}

/// A parameter with the column that it is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The parameter's name, without the colon.
    pub parameter: String,
    /// The column that it is compared with.
    pub column: ColumnRef,
    /// How the two stand.
    pub bound: ParameterBound,
    /// Whether both stand there as they are, without functions or casts.
    pub is_plain: bool,
}

/// How a parameter stands to the column that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterBound {
    /// They are equal.
    Equal,
    /// The column is not below it; whether it may be equal.
    Low(bool),
    /// The column is not above it; whether it may be equal.
    High(bool),
    /// Otherwise: LIKE, unequal.
    Other,
}

impl ParameterBound {
    /// The same bound, but of a comparison that is negated.
    fn unless(self, negated: bool) -> Self {
        if negated { Self::Other } else { self }
    }
}

impl SqlQuery {
    /// Reads one query. Without a product as most of them understand it.
    ///
    /// # Errors
    ///
    /// [`UnreadableSql`] when it is not one query that only reads, or the parser does not take it.
    pub fn read(text: &str, dbms: Option<Dbms>) -> Result<Self, UnreadableSql> {
        let sql = Sql::read(text, dbms)?;
        if let Some(refusal) = sql.refusal() {
            return Err(refusal);
        }
        let syntax = |message: &str| UnreadableSql::Syntax(message.to_owned());
        if sql.tokens().len() > WORDS {
            return Err(syntax("it is too long"));
        }
        on_large_stack(move || parsed(sql)).unwrap_or_else(|| Err(syntax("the parser failed")))
    }

    /// The one SELECT that it is; `None` where it is put together of several.
    pub fn select(&self) -> Option<&Select> {
        match self.selects.as_slice() {
            [one] if self.set == SetOperation::One => Some(one),
            _ => None,
        }
    }

    /// Whether rows that equal a parameter are taken in, where the query has it as the upper or the lower bound of a
    /// range; `None` where that is not plain to see.
    pub fn takes_in(&self, parameter: &str, upper: bool) -> Option<bool> {
        let parameters = self.sql.parameters().iter();
        let uses = parameters.filter(|one| one.name == parameter);
        let mut bounds = self.comparisons.iter();
        let bound = bounds.find(|one| one.parameter == parameter)?.bound;
        // Used twice, it may be meant twice.
        match (uses.count(), bound) {
            (1, ParameterBound::Low(equal)) if !upper => Some(equal),
            (1, ParameterBound::High(equal)) if upper => Some(equal),
            _ => None,
        }
    }
}

thread_local! {
    /// Whether this thread was started by [`with_large_stack`].
    static IS_LARGE: Cell<bool> = const { Cell::new(false) };
}

/// What something gives that goes down into a tree of any depth; nothing where it fails.
pub(super) fn on_large_stack<T: Send + 'static>(
    act: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if IS_LARGE.get() {
        return catch_unwind(AssertUnwindSafe(act)).ok();
    }
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(act);
    thread.ok()?.join().ok()
}

/// Does what reads many statements in one thread, whose stack is large enough for each of them: otherwise each has a thread of
/// its own, which takes longer than to read it.
pub fn with_large_stack<T: Send>(act: impl Fn() -> T + Send + Sync) -> T {
    let in_thread = || {
        IS_LARGE.set(true);
        act()
    };
    let done = std::thread::scope(|scope| {
        // Twice as large: what calls the reader stands there too.
        let thread = std::thread::Builder::new().stack_size(2 * STACK);
        Some(thread.spawn_scoped(scope, in_thread).ok()?.join())
    });
    match done {
        Some(Ok(done)) => done,
        Some(Err(panic)) => resume_unwind(panic),
        None => act(),
    }
}

/// Whether a condition names a row of a table that is called so as a whole, as PostgreSQL lets it: `p IS NULL`, `row_to_json(p)`. No
/// column may be called so.
pub fn names_row_of(condition: &Sql, table: &str) -> bool {
    fn is_it(name: &str, quote: Option<char>, table: &str) -> bool {
        match quote {
            Some(_) => name == table,
            None => name.to_lowercase() == table,
        }
    }
    let is_word = |token: &TokenWithSpan| matches!(&token.token, Token::Word(word) if is_it(&word.value, word.quote_style, table));
    let tokens = condition.tokens();
    if condition.dbms() != Some(Dbms::Postgres)
        || tokens.len() > WORDS
        || !tokens.iter().any(is_word)
    {
        return false;
    }
    let (tokens, table) = (tokens.to_vec(), table.to_owned());
    let is_named = on_large_stack(move || {
        let dialect = dialect(Some(Dbms::Postgres));
        let parser = Parser::new(dialect.as_ref()).with_recursion_limit(DEPTH);
        let read = parser.with_tokens_with_locations(tokens).parse_expr();
        let is_row = |one: &Expr| matches!(one, Expr::Identifier(name) if is_it(&name.value, name.quote_style, &table));
        read.is_ok_and(|read| has_expression(&read, is_row))
    });
    is_named.unwrap_or(false)
}

fn parsed(sql: Sql) -> Result<SqlQuery, UnreadableSql> {
    let dialect = dialect(sql.dbms());
    let (has_only, tokens) = without_only(&sql);
    let parser = Parser::new(dialect.as_ref()).with_recursion_limit(DEPTH);
    let mut parser = parser.with_tokens_with_locations(tokens);
    let mut statements = parser.parse_statements().map_err(syntax)?;
    let statement = match (statements.pop(), statements.pop()) {
        (Some(statement), None) => statement,
        (None, _) => return Err(UnreadableSql::NoQuery),
        _ => return Err(UnreadableSql::Several),
    };
    let Statement::Query(query) = &statement else {
        return Err(UnreadableSql::NoQuery);
    };
    let refusal = refused_binary(&sql, query);
    let read = SqlQuery {
        sql,
        ..SqlQuery::default()
    };
    let mut whole = QueryFacts {
        read,
        refusal,
        scopes: Vec::new(),
    };
    let _ = query.visit(&mut whole);
    let QueryFacts {
        mut read, refusal, ..
    } = whole;
    if let Some(refusal) = refusal {
        return Err(refusal);
    }
    read.outermost(query);
    for output in read.selects.iter().flat_map(|select| &select.outputs) {
        let SelectOutput::One { value, .. } = output else {
            continue;
        };
        let name = value.column().map(|column| column.name.text.to_lowercase());
        if let Some(at) = name.and_then(|name| read.used.iter().position(|used| *used == name)) {
            read.used.swap_remove(at);
        }
    }
    if has_only {
        read.strange.push("ONLY");
    }
    Ok(read)
}

/// Why a query with MySQL's operator BINARY is not read: the parser takes all that follows for its operand, the AND behind a
/// comparison too.
pub(super) fn refused_binary(sql: &Sql, query: &ast::Query) -> Option<UnreadableSql> {
    let mut pairs = sql.signs().zip(sql.signs().skip(1));
    let is_operator =
        pairs.any(|(before, token)| is_word(token, "binary") && !is_word(before, "as"));
    let is_wide = |expression: &Expr| match expression {
        Expr::Cast {
            expr,
            data_type: ast::DataType::Binary(None),
            ..
        } => !matches!(
            &**expr,
            Expr::Identifier(_)
                | Expr::CompoundIdentifier(_)
                | Expr::Value(_)
                | Expr::Nested(_)
                | Expr::Function(_)
        ),
        _ => false,
    };
    (is_operator && has_expression(query, is_wide)).then(|| {
        let why = "it is not clear where the operand of its operator BINARY ends: write CAST(… AS BINARY)";
        UnreadableSql::Syntax(why.to_owned())
    })
}

/// Whether ONLY stands before a table, which the parser takes for a table, and what is left without it.
fn without_only(sql: &Sql) -> (bool, Vec<TokenWithSpan>) {
    let (mut has_only, mut left) = (false, Vec::new());
    let mut before_table = false;
    for token in sql.tokens() {
        if before_table && sql.dbms() == Some(Dbms::Postgres) && is_word(&token.token, "only") {
            has_only = true;
            continue;
        }
        if !matches!(token.token, Token::Whitespace(_)) {
            let sign = &token.token;
            before_table = *sign == Token::Comma || is_word(sign, "from") || is_word(sign, "join");
        }
        left.push(token.clone());
    }
    (has_only, left)
}

/// What the parser says, without the place.
fn syntax(error: ParserError) -> UnreadableSql {
    let message = match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
        ParserError::RecursionLimitExceeded => "it is nested too deeply".to_owned(),
    };
    let place = message.rfind(" at Line: ").unwrap_or(message.len());
    UnreadableSql::Syntax(message.get(..place).unwrap_or_default().to_owned())
}

impl SqlQuery {
    /// The query itself, without parentheses around it.
    fn outermost(&mut self, query: &ast::Query) {
        let own = [
            ("SETTINGS", query.settings.is_some()),
            ("FORMAT", query.format_clause.is_some()),
            ("FOR", query.for_clause.is_some()),
            ("|>", !query.pipe_operators.is_empty()),
        ];
        let there = own.into_iter().filter(|(_, is_there)| *is_there);
        self.strange.extend(there.map(|(what, _)| what));
        let is_bare =
            query.order_by.is_none() && query.limit_clause.is_none() && query.fetch.is_none();
        if let (SetExpr::Query(inner), true) = (&*query.body, is_bare) {
            return self.outermost(inner);
        }
        self.body(&query.body);
        self.limits(query);
        let Some(by) = &query.order_by else { return };
        let first = self.selects.first();
        let outputs: Vec<SelectOutput> = first.map_or(Vec::new(), |select| select.outputs.clone());
        let of = self.select().filter(|_| self.with.is_empty());
        match order(by, &outputs, of, &self.sql) {
            Some(keys) => self.order = Some(keys),
            None => self.strange.push("ORDER BY of another kind"),
        }
    }

    fn body(&mut self, body: &SetExpr) {
        let mut rest = vec![body];
        while let Some(next) = rest.pop() {
            match next {
                SetExpr::Select(select) => {
                    let select = Select::of(select, &self.with, &self.sql);
                    self.selects.push(select);
                }
                SetExpr::SetOperation {
                    left,
                    op,
                    set_quantifier,
                    right,
                } => {
                    let all = *op == SetOperator::Union && *set_quantifier == SetQuantifier::All;
                    self.set = match (all, &self.set) {
                        (true, SetOperation::One | SetOperation::UnionAll) => {
                            SetOperation::UnionAll
                        }
                        _ => SetOperation::Other,
                    };
                    rest.push(right);
                    rest.push(left);
                }
                SetExpr::Query(inner) => {
                    if inner.order_by.is_some()
                        || inner.limit_clause.is_some()
                        || inner.fetch.is_some()
                    {
                        self.strange.push("ORDER BY or LIMIT within another");
                    }
                    rest.push(&inner.body);
                }
                SetExpr::Values(_) => self.strange.push("VALUES"),
                _ => self.strange.push("a query of another kind"),
            }
        }
    }

    fn limits(&mut self, query: &ast::Query) {
        let rows = |expression: &Expr| {
            let Operand { value, around } = Operand::of(expression, &self.sql);
            match value {
                OperandValue::Parameter(name) if around.is_empty() => RowLimit::Parameter(name),
                // SQLite takes a negative number for none.
                OperandValue::Constant(Constant::Number(number))
                    if around.is_empty()
                        && self.sql.dbms() == Some(Dbms::Sqlite)
                        && number.starts_with('-') =>
                {
                    RowLimit::None
                }
                OperandValue::Constant(Constant::Number(number)) if around.is_empty() => {
                    number.parse().map_or(RowLimit::Unknown, RowLimit::Rows)
                }
                _ => RowLimit::Unknown,
            }
        };
        match &query.limit_clause {
            None => {}
            Some(LimitClause::LimitOffset {
                limit,
                offset,
                limit_by,
            }) => {
                self.limit = limit.as_ref().map_or(RowLimit::None, rows);
                let offset = offset.as_ref().map(|offset| &offset.value);
                self.offset = offset.map_or(RowLimit::None, rows);
                if !limit_by.is_empty() {
                    self.limit = RowLimit::Unknown;
                }
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
                self.limit = rows(limit);
                self.offset = rows(offset);
            }
        }
        if let Some(fetch) = &query.fetch {
            self.limit = match &fetch.quantity {
                _ if fetch.with_ties || fetch.percent || self.limit != RowLimit::None => {
                    RowLimit::Unknown
                }
                Some(quantity) => rows(quantity),
                None => RowLimit::Rows(1),
            };
        }
    }
}

/// Whether a word that looks like a column's name gives the time, the user or a variable: no column can be called so without
/// quotes, since the database reserves the word.
fn is_of_the_session(word: &str, dbms: Option<Dbms>) -> bool {
    let is_mysql = matches!(dbms, None | Some(Dbms::Mysql | Dbms::Mariadb));
    let is_postgres = matches!(dbms, None | Some(Dbms::Postgres));
    match word {
        "current_date" | "current_time" | "current_timestamp" => true,
        "current_role" | "current_user" | "localtime" | "localtimestamp" => is_mysql || is_postgres,
        "current_catalog" | "current_schema" | "session_user" | "system_user" | "user" => {
            is_postgres
        }
        "sysdate" | "utc_date" | "utc_time" | "utc_timestamp" => is_mysql,
        _ => is_mysql && word.starts_with('@'),
    }
}

/// Whether a cast gives the same at any time. The text `today` is another date each day, MySQL adds the date of the day to
/// a time of the day, and the types of names are looked up. A literal is looked at on its own.
fn keeps_still(operand: &Expr, data_type: &ast::DataType) -> bool {
    use ast::DataType as Type;
    match data_type {
        Type::Array(ast::ArrayElemTypeDef::SquareBracket(element, _)) => {
            keeps_still(operand, element)
        }
        Type::Custom(..) | Type::Regclass | Type::Unspecified | Type::Array(_) => false,
        Type::Date
        | Type::Date32
        | Type::Time(..)
        | Type::Datetime(_)
        | Type::Timestamp(..)
        | Type::TimestampNtz(_) => matches!(operand, Expr::Value(_)),
        _ => true,
    }
}

/// Whether the database itself makes the value, of the parts of the expression: what a function, a cast or an operator of
/// somebody's makes is as its author likes. PostgreSQL calls a function also as if it were a column, `t.f`.
fn is_plain(expression: &Expr, dbms: Option<Dbms>) -> bool {
    match expression {
        Expr::CompoundIdentifier(_) => dbms != Some(Dbms::Postgres),
        Expr::BinaryOp { op, .. } => !matches!(
            op,
            BinaryOperator::Custom(_) | BinaryOperator::PGCustomBinaryOperator(_)
        ),
        Expr::Identifier(_)
        | Expr::Value(_)
        | Expr::TypedString(_)
        | Expr::UnaryOp { .. }
        | Expr::Nested(_)
        | Expr::Tuple(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::InList { .. }
        | Expr::Between { .. }
        | Expr::Like { .. } => true,
        _ => false,
    }
}

/// What is gathered of all of a query, and what stops it from being read.
struct QueryFacts {
    read: SqlQuery,
    refusal: Option<UnreadableSql>,
    /// The queries around a place, outermost first.
    scopes: Vec<QueryScope>,
}

/// A query that is being visited.
struct QueryScope {
    /// The queries of its WITH, which hide tables of their names.
    with: Vec<Name>,
    /// Whether each of these is known in all of them.
    is_recursive: bool,
    /// How many queries within it were begun: those of its WITH come first.
    begun: usize,
}

impl Visitor for QueryFacts {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        let text = statement.to_string();
        let verb = text.split_whitespace().next().unwrap_or_default();
        self.refusal = Some(UnreadableSql::Writes(verb.to_uppercase()));
        ControlFlow::Break(())
    }

    fn pre_visit_select(&mut self, select: &ast::Select) -> ControlFlow<()> {
        if select.into.is_some() {
            self.refusal = Some(UnreadableSql::Writes("INTO".to_owned()));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<()> {
        if let Some(lock) = query.locks.first() {
            self.refusal = Some(UnreadableSql::Locks(lock.to_string()));
            return ControlFlow::Break(());
        }
        let with = query.with.iter().flat_map(|with| &with.cte_tables);
        let with = with.map(|with| Name::of(&with.alias.name, self.read.sql.dbms()));
        let with: Vec<Name> = with.collect();
        self.read.with.extend(with.iter().cloned());
        if let Some(around) = self.scopes.last_mut() {
            around.begun += 1;
        }
        // In SQLite the word RECURSIVE decides nothing.
        let is_recursive = self.read.sql.dbms() == Some(Dbms::Sqlite)
            || query.with.as_ref().is_some_and(|with| with.recursive);
        self.scopes.push(QueryScope {
            with,
            is_recursive,
            begun: 0,
        });
        // Without a whole order, any rows may be the first.
        if query.limit_clause.is_some() || query.fetch.is_some() {
            self.read.unsteady.push("LIMIT".to_owned());
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &ast::Query) -> ControlFlow<()> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table {
            name,
            alias,
            args: None,
            ..
        } = factor
        {
            self.table(name, alias.as_ref());
        }
        let is_plain = matches!(
            factor,
            TableFactor::Table {
                args: None,
                sample: None,
                ..
            } | TableFactor::Derived { .. }
                | TableFactor::NestedJoin { .. }
        );
        if !is_plain {
            self.read.unsteady.push(factor.to_string());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        if let Some(test) = comparison(expression, &self.read.sql) {
            self.compared(&test);
        }
        let word = match expression {
            Expr::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                self.read.functions.push(name.clone());
                (!is_steady(&name, self.read.sql.dbms())).then(|| format!("{name}()"))
            }
            Expr::Identifier(name) => {
                let word = name.value.to_lowercase();
                self.read.used.push(word.clone());
                let dbms = self.read.sql.dbms();
                (name.quote_style.is_none() && is_of_the_session(&word, dbms)).then_some(word)
            }
            Expr::Cast {
                expr, data_type, ..
            } if !keeps_still(expr, data_type) => Some(expression.to_string()),
            // A part of a moment is that in the session's time zone, like what the functions of time give.
            Expr::Extract { .. } => Some(expression.to_string()),
            Expr::CompoundIdentifier(parts) => {
                let last = parts.last().map(|part| part.value.to_lowercase());
                self.read.used.extend(last);
                // `@@global.x` of MySQL is a variable.
                let is_variable = parts
                    .first()
                    .is_some_and(|part| part.value.starts_with('@'));
                let column = ColumnRef::of(parts, &self.read.sql).filter(|_| !is_variable);
                let word = column.is_none().then(|| expression.to_string());
                self.read.qualified.extend(column);
                word
            }
            _ => None,
        };
        let is_call = matches!(expression, Expr::Function(_) | Expr::Cast { .. });
        let is_known = is_call && word.is_none();
        self.read.unsteady.extend(word);
        let is_plain = is_plain(expression, self.read.sql.dbms());
        self.read.calls |= !is_plain;
        self.read.calls_unknown |= !is_plain && !is_known;
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, value: &ast::ValueWithSpan) -> ControlFlow<()> {
        // PostgreSQL and SQLite read these as times. Printed, a tab of `E'\tnow'` would be a letter.
        let text = value.clone().into_string().unwrap_or_default();
        let text = text.to_lowercase();
        let times = ["now", "today", "tomorrow", "yesterday"];
        let mut words = text.split(|letter: char| !letter.is_alphabetic());
        if words.any(|word| times.contains(&word)) {
            self.read.unsteady.push(value.to_string().to_lowercase());
        }
        ControlFlow::Continue(())
    }
}

impl QueryFacts {
    /// Whether a name is that of a query of a WITH here: within one of these, of an earlier one, unless they are recursive.
    fn is_hidden(&self, table: &Name) -> bool {
        let innermost = self.scopes.len().saturating_sub(1);
        let mut scopes = self.scopes.iter().enumerate();
        scopes.any(|(at, scope)| {
            let all = scope.with.len();
            let is_within = at < innermost && scope.begun <= all && !scope.is_recursive;
            let known = if is_within {
                scope.begun.saturating_sub(1)
            } else {
                all
            };
            let mut names = scope.with.iter().take(known);
            names.any(|name| name.is(&table.text))
        })
    }

    fn table(&mut self, name: &ObjectName, alias: Option<&ast::TableAlias>) {
        let dbms = self.read.sql.dbms();
        let (schema, own) = match names(name, dbms).as_deref() {
            Some([own]) if self.is_hidden(own) => return,
            Some([own]) => (None, own.clone()),
            Some([schema, own]) => (Some(schema.clone()), own.clone()),
            _ => {
                self.read.unsteady.push(name.to_string());
                return;
            }
        };
        let called = alias.map(|alias| Name::of(&alias.name, dbms));
        self.read.tables.push(ReadTable {
            called: called.unwrap_or_else(|| own.clone()),
            schema,
            name: own,
        });
    }

    /// Adds what a condition compares parameters with.
    fn compared(&mut self, test: &ConditionTest) {
        match test {
            ConditionTest::Compare { left, op, right } => {
                let bound = match op {
                    Comparator::Equal | Comparator::NotDistinct => ParameterBound::Equal,
                    Comparator::Greater => ParameterBound::Low(false),
                    Comparator::GreaterOrEqual => ParameterBound::Low(true),
                    Comparator::Less => ParameterBound::High(false),
                    Comparator::LessOrEqual => ParameterBound::High(true),
                    Comparator::NotEqual => ParameterBound::Other,
                };
                self.add(left, right, bound);
            }
            ConditionTest::Between {
                operand,
                negated,
                low,
                high,
            } => {
                self.add(operand, low, ParameterBound::Low(true).unless(*negated));
                self.add(operand, high, ParameterBound::High(true).unless(*negated));
            }
            ConditionTest::In {
                operand,
                negated,
                list,
            } => {
                for one in list {
                    self.add(operand, one, ParameterBound::Equal.unless(*negated));
                }
            }
            ConditionTest::Like {
                operand, pattern, ..
            } => {
                self.add(operand, pattern, ParameterBound::Other);
            }
            ConditionTest::Null { .. } | ConditionTest::Using(_) | ConditionTest::Other(_) => {}
        }
    }

    fn add(&mut self, operand: &Operand, with: &Operand, bound: ParameterBound) {
        let [column] = operand.columns() else { return };
        let is_plain = operand.column().is_some() && with.parameter().is_some();
        let found = with.parameters().iter().map(|parameter| Comparison {
            parameter: parameter.clone(),
            column: column.clone(),
            bound,
            is_plain,
        });
        self.read.comparisons.extend(found);
    }
}
