//! The columns of a query: SQLite tells the base column where there is one, and that column's
//! declared type counts. What an expression gives is known only when the row is read.

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Column as _, Executor as _, SqlSafeStr as _, Statement as _};

use super::catalog;
use crate::catalog::{Column, DataType};

/// Describes what a scan will read of the query: SQLite renames columns of the same name.
pub(super) async fn describe(
    connection: &mut SqliteConnection,
    sql: &str,
) -> Result<Vec<Column>, sqlx::Error> {
    let wrapped = format!("SELECT * FROM ({}\n)", sql.trim().trim_end_matches(';'));
    answer(connection, wrapped).await
}

/// Has SQLite prepare the query and reads what its columns are.
pub(super) async fn answer(
    connection: &mut SqliteConnection,
    sql: String,
) -> Result<Vec<Column>, sqlx::Error> {
    let sql = AssertSqlSafe(sql).into_sql_str();
    let statement = connection.prepare(sql).await?;
    let mut columns = Vec::new();
    for column in statement.columns() {
        let name = column.name().to_owned();
        let mut described = Column::new(name, String::new(), DataType::Dynamic);
        if let Some(origin) = column.origin().table_column() {
            let table = catalog::columns(connection, &origin.table, "").await?;
            let base = table.columns.into_iter().find(|c| *c.name == *origin.name);
            if let Some(base) = base {
                described.declared = base.declared;
                described.data_type = base.data_type;
            }
        }
        columns.push(described);
    }
    Ok(columns)
}
