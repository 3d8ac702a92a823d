//! Statements of our own, and the texts that the server answers.

use std::collections::HashMap;

use sqlx::mysql::{MySql, MySqlConnection, MySqlRow, MySqlStatement};
use sqlx::{
    AssertSqlSafe, Connection as _, Decode, Executor as _, Row as _, SqlSafeStr as _, ValueRef as _,
};

/// Statements that stay prepared.
pub(super) const STATEMENTS: usize = 256;

/// Has the server prepare a statement, of which it takes one only. Statements are closed many at a
/// time: the server does not answer that, and the network holds back what comes next for as long as
/// an acknowledgement takes, which is 40 ms.
pub(super) async fn prepare(
    connection: &mut MySqlConnection,
    sql: &str,
) -> sqlx::Result<MySqlStatement> {
    if connection.cached_statements_size() >= STATEMENTS {
        connection.clear_cached_statements().await?;
    }
    let sql = AssertSqlSafe(sql.to_owned()).into_sql_str();
    connection.prepare(sql).await
}

/// Runs a query of our own.
pub(super) async fn rows(
    connection: &mut MySqlConnection,
    sql: impl Into<String>,
) -> sqlx::Result<Vec<MySqlRow>> {
    sqlx::raw_sql(AssertSqlSafe(sql.into()))
        .fetch_all(connection)
        .await
}

/// Rows by the values in their first columns, whose order may be of a collation that mixes them. The groups are in the
/// order of their first rows.
pub(super) fn grouped(rows: &[MySqlRow], columns: usize) -> sqlx::Result<Vec<Vec<&MySqlRow>>> {
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<&MySqlRow>> = Vec::new();
    for row in rows {
        let key: sqlx::Result<Vec<_>> = (0..columns).map(|at| bytes(row, at)).collect();
        let place = *places.entry(key?).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    Ok(groups)
}

/// What the server sent for one column.
pub(super) fn bytes(row: &MySqlRow, index: usize) -> sqlx::Result<Option<&[u8]>> {
    let value = row.try_get_raw(index)?;
    if value.is_null() {
        return Ok(None);
    }
    let bytes = <&[u8] as Decode<MySql>>::decode(value);
    bytes.map(Some).map_err(sqlx::Error::Decode)
}

/// A column of such a query as text; NULL as empty.
pub(super) fn text(row: &MySqlRow, index: usize) -> sqlx::Result<String> {
    Ok(optional(row, index)?.unwrap_or_default())
}

/// A column of such a query as text.
pub(super) fn optional(row: &MySqlRow, index: usize) -> sqlx::Result<Option<String>> {
    let bytes = bytes(row, index)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}
