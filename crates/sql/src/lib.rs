//! What must be understood of SQL: the shape of a query, its joins and conditions, its order and its limit.
//!
//! [`Sql::read`] splits any piece of SQL into tokens: it finds the parameters, `:name`, and puts values in their place.
//! [`SqlQuery::read`] reads one query with `sqlparser`, in the database's dialect, and says of it:
//!
//! - [`SqlQuery::selects`]: its SELECTs, more than one with UNION, INTERSECT or EXCEPT ([`SqlQuery::set`] says how they are
//!   combined). Each has its relations with their joins, its result ([`SelectOutput`]), its conditions, and whether it groups.
//! - [`SqlQuery::order`], [`SqlQuery::limit`], [`SqlQuery::offset`]: those of the query itself, not of a subquery.
//! - [`SqlQuery::tables`] and [`SqlQuery::comparisons`]: those of the query and of all its subqueries.
//! - [`SqlQuery::strange`] and [`Select::strange`]: clauses that the parser read and that nothing here describes.
//!
//! A query is wholly understood if all its `strange` are empty, and if no [`ConditionTest::Other`], [`OperandValue::Expression`] or
//! [`RelationSource`] without a table stands in a part that the caller needs.
//!
//! SQL that is not one query which only reads is [`UnreadableSql`], with the reason. So is SQL whose meaning depends on the
//! server's settings: `||` of MySQL, `/*! … */`.
//!
//! [`parametrized`] puts parameters in the place of the literals that columns are compared with. [`write_statement`] reads what an
//! INSERT, UPDATE or DELETE changes. [`SqlQuery::order_decides`] says whether ORDER BY decides the place of each row, and
//! [`Select::origins`] from which column of which table each column of a result comes.
//!
//! Pure; it knows the database products and their catalogs, and nothing of mappings.

mod array;
mod bytes;
mod condition;
mod decided;
pub mod definition;
mod operand;
mod order;
mod origin;
mod owners;
mod parameters;
mod query;
mod select;
#[cfg(test)]
mod tests;
mod text;
mod writes;

pub use condition::{Comparator, Condition, ConditionTest};
pub use operand::{ColumnRef, Constant, Name, Operand, OperandValue, Wrapping};
pub use order::{InResult, SortKey};
pub use origin::{ColumnOrigin, SelectedColumn, table};
pub use owners::qualified;
pub use parameters::{Example, Lists, Parametrized, ValueList, parametrized};
pub use query::{
    Comparison, ParameterBound, ReadTable, RowLimit, SetOperation, SqlQuery, is_aggregate,
    names_row_of, with_large_stack,
};
pub use select::{RelationSource, Select, SelectOutput};
pub use text::{Sql, literal};
pub use writes::{WriteKind, WriteStatement, constant, is_now, unread_write, write_statement};

use dynafold_relational::catalog::{Catalog, Dbms, TableName};

/// Whether a name is a keyword of SQL in any dialect, and is therefore written in quotes.
pub fn is_keyword(name: &str) -> bool {
    let words = sqlparser::keywords::ALL_KEYWORDS;
    words.binary_search(&name.to_uppercase().as_str()).is_ok()
}

/// A name as SQL takes it: in quotes where it needs them.
pub fn identifier(name: &str, dbms: Dbms) -> String {
    let quote = match dbms {
        Dbms::Mysql | Dbms::Mariadb => '`',
        Dbms::Postgres | Dbms::Sqlite => '"',
    };
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(is_inner)
        && !is_keyword(name);
    if is_plain {
        return name.to_owned();
    }
    let doubled = name.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}

/// A table as SQL takes it: bare where the search path finds it, else with its schema.
pub fn table_reference(catalog: &Catalog, name: &TableName) -> String {
    let table = identifier(&name.name, catalog.dbms);
    if catalog.finds(name) {
        table
    } else {
        format!("{}.{table}", identifier(&name.schema, catalog.dbms))
    }
}

/// Whether a condition may depend on more than the columns of its row: it has a subquery, calls a function, casts, or was
/// not understood.
pub fn reads_more(text: &str, dbms: Dbms) -> bool {
    let query = SqlQuery::read(&format!("SELECT 1 WHERE {text}"), Some(dbms));
    query.map_or(true, |query| {
        query.calls || !query.unsteady.is_empty() || !query.tables.is_empty()
    })
}

/// Why SQL is not read as one query. Completes a sentence that begins with "its SQL".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableSql {
    /// When the parser refuses it.
    #[error("cannot be read: {0}")]
    Syntax(String),
    /// When its meaning depends on the server's settings.
    #[error("has `{0}`, whose meaning depends on the server's settings: {1}")]
    Ambiguous(String, &'static str),
    /// When it is another kind of statement, or no statement.
    #[error("is not a query: it does not begin with SELECT or WITH")]
    NoQuery,
    /// When it would change something.
    #[error("would write: it has {0}")]
    Writes(String),
    /// When it would lock rows.
    #[error("would lock rows: it has {0}")]
    Locks(String),
    /// When another statement follows.
    #[error("is more than one statement")]
    Several,
    /// When a parameter is written as drivers write it: `$1`, `?`, `@name`.
    #[error("has a parameter that is written `{0}`: write it `:name`")]
    Parameter(String),
}
