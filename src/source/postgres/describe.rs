//! The columns of a query that a mapping brings, found without running it.

use futures_util::TryStreamExt as _;
use serde::Deserialize;
use sqlx::{AssertSqlSafe, Column as _, Row};

use super::Postgres;
use super::error::{self, Subject};
use super::types::Types;
use crate::catalog::Column;
use crate::source::SourceError;

/// A column that the query passes on from a table.
#[derive(Deserialize)]
struct Attribute {
    relation: i64,
    number: i64,
    #[serde(rename = "type")]
    oid: i64,
    modifier: i32,
    declared: String,
}

/// What the server says about a column of the result.
struct Output {
    name: String,
    oid: i64,
    origin: Option<(i64, i64)>,
}

/// Describes the columns of a query. Any of them may be NULL, as far as can be known here.
///
/// The result's description carries no declared lengths and digits; a column that comes from a
/// table unchanged has them there.
pub(super) async fn columns(source: &mut Postgres, sql: &str) -> Result<Vec<Column>, SourceError> {
    let outputs = outputs(source, sql).await?;
    let pairs: Vec<String> = (outputs.iter().filter_map(|output| output.origin))
        .map(|(relation, number)| format!("({relation}, {number})"))
        .collect();
    let attributes: Vec<Attribute> = if pairs.is_empty() {
        Vec::new()
    } else {
        let sql = include_str!("sql/attributes.sql").replace("{pairs}", &pairs.join(", "));
        source.entries(&sql).await?
    };
    let oids = (outputs.iter().map(|output| output.oid))
        .chain(attributes.iter().map(|attribute| attribute.oid));
    let types = Types::load(source, oids).await?;
    let column = |output: Output| {
        let attribute = (attributes.iter())
            .find(|attribute| output.origin == Some((attribute.relation, attribute.number)));
        let (declared, data_type) = match attribute {
            Some(found) => (
                found.declared.clone(),
                types.data_type(found.oid, found.modifier),
            ),
            None => (
                types.declared(output.oid).to_owned(),
                types.data_type(output.oid, -1),
            ),
        };
        Column::new(output.name, declared, data_type)
    };
    Ok(outputs.into_iter().map(column).collect())
}

/// Asks for one row of NULLs in the query's shape: a join on `false` has the server analyse the
/// query and leave it at that, and the row brings the description that no row would not.
async fn outputs(source: &mut Postgres, sql: &str) -> Result<Vec<Output>, SourceError> {
    let subject = Subject::Query(sql);
    let sql = format!(
        "SELECT q.* FROM (SELECT 1) AS one LEFT JOIN ({}\n) AS q ON false",
        sql.trim().trim_end_matches(';')
    );
    source.explain(&sql, &subject).await?;
    let mut rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch(&mut source.connection);
    let described = rows.try_next().await;
    let row = match described {
        Ok(row) => row,
        Err(cause) => return Err(error::query(cause, &subject, &source.user)),
    };
    let outputs = row.iter().flat_map(Row::columns);
    Ok(outputs
        .map(|column| Output {
            name: column.name().to_owned(),
            oid: column.type_info().oid().map_or(0, |oid| i64::from(oid.0)),
            origin: (column.relation_id().zip(column.relation_attribute_no()))
                .map(|(relation, number)| (i64::from(relation.0), i64::from(number))),
        })
        .collect())
}
