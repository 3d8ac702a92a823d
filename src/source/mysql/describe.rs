//! The columns of a query, as far as the driver tells them.
//!
//! The driver tells the base column where there is one, and the catalog knows all about that. Of an
//! expression it tells the type without its fractional digits, so times get six; and it says
//! `binary` of text in a binary collation, so the server is asked. Every column counts as nullable,
//! because the driver keeps that to itself.

use sqlx::mysql::MySqlConnection;
use sqlx::{Column as _, Statement as _, TypeInfo as _};

use super::catalog::{rows, text};
use super::decode::data_type;
use super::scan::{MysqlDialect, prepare};
use crate::catalog::{Catalog, Column, Table};
use crate::source::Dialect as _;

/// Describes what a scan will read of the query: the server fails where two columns have one name.
pub(super) async fn describe(
    connection: &mut MySqlConnection,
    catalog: &Catalog,
    sql: &str,
) -> Result<Vec<Column>, sqlx::Error> {
    let alone = sql.trim().trim_end_matches(';');
    prepare(connection, &format!("SELECT * FROM ({alone}\n) AS q")).await?;
    answer(connection, catalog, sql).await
}

/// Has the server prepare the query and reads what its columns are. Preparing takes one statement
/// only.
pub(super) async fn answer(
    connection: &mut MySqlConnection,
    catalog: &Catalog,
    sql: &str,
) -> Result<Vec<Column>, sqlx::Error> {
    let sql = sql.trim().trim_end_matches(';');
    let statement = prepare(connection, sql).await?;
    let mut columns = Vec::new();
    for column in statement.columns() {
        let origin = column.origin();
        let base = origin.table_column().and_then(|origin| {
            let named = |table: &&Table| table.name.to_string() == *origin.table;
            catalog.tables.iter().find(named)?.column(&origin.name)
        });
        let declared = match base {
            Some(base) => base.declared.clone(),
            None => expression_type(column.type_info().name()).to_owned(),
        };
        let of_base = |base: &Column| base.data_type.clone();
        let data_type = base.map_or_else(|| data_type(&declared), of_base);
        columns.push(Column {
            ambiguous_charset: base.and_then(|base| base.ambiguous_charset.clone()),
            collation: base.and_then(|base| base.collation.clone()),
            ..Column::new(column.name().to_owned(), declared, data_type)
        });
    }
    find_text(connection, sql, &mut columns).await?;
    Ok(columns)
}

/// The driver's word for an expression's type, as `information_schema` would write it.
fn expression_type(name: &str) -> &str {
    match name {
        "BOOLEAN" => "tinyint(1)",
        "TIME" => "time(6)",
        "DATETIME" => "datetime(6)",
        "TIMESTAMP" => "timestamp(6)",
        "ENUM" | "NULL" => "varchar",
        "TINYTEXT" | "MEDIUMTEXT" | "LONGTEXT" => "text",
        "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" | "BINARY" | "VARBINARY" => "blob",
        name => name,
    }
}

/// Asks for the character sets of the expressions that the driver calls binary.
async fn find_text(
    connection: &mut MySqlConnection,
    sql: &str,
    columns: &mut [Column],
) -> Result<(), sqlx::Error> {
    let unsure = |column: &Column| column.declared.eq_ignore_ascii_case("blob");
    let asked: Vec<String> = columns
        .iter()
        .filter(|column| unsure(column))
        .map(|column| format!("CHARSET(q.{})", MysqlDialect.quote(&column.name)))
        .collect();
    if asked.is_empty() {
        return Ok(());
    }
    // The join yields one row and reads none.
    let sql = format!(
        "SELECT {} FROM (SELECT 1) AS one LEFT JOIN ({sql}\n) AS q ON FALSE",
        asked.join(", ")
    );
    let rows = rows(connection, sql).await?;
    let unsure = columns.iter_mut().filter(|column| unsure(column));
    for (index, column) in unsure.enumerate() {
        let charset = rows.first().map(|row| text(row, index)).transpose()?;
        if charset.is_some_and(|charset| charset != "binary") {
            "text".clone_into(&mut column.declared);
            column.data_type = data_type("text");
        }
    }
    Ok(())
}
