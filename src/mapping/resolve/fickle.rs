//! Whether what a pass reads depends on more than the rows of the snapshot: on the clock, on chance, on
//! who asks, on tables that have no snapshots.
//!
//! Chunks of such a pass are not skipped when a load goes on, although no row has changed since, and keys
//! that were compared in one reading of it are compared again in the next. SQL is
//! taken to be fickle unless it was read whole, reads stored tables alone, and calls no function but a
//! few that are known. What only looks fickle is read again for nothing.

use crate::catalog::{Catalog, Dbms, Table, TableKind};
use crate::source::{Relation, Scan, ScanColumn};
use crate::sql::{Query, Read, Unread, table};

/// Whether a scan depends on more than the rows of tables, as far as that is known.
pub(super) fn is_fickle(scan: &Scan, catalog: &Catalog) -> bool {
    let flags = scan.columns.iter().filter_map(|column| match column {
        ScanColumn::Flag(sql) => Some(sql),
        _ => None,
    });
    let query = match &scan.from {
        Relation::Query(sql) => Some(sql),
        Relation::Table(_) => None,
    };
    let mut texts = scan.conditions.iter().chain(flags).chain(query);
    // What a view says is not known, nor what a foreign table stands for.
    scan.tables()
        .into_iter()
        .any(|name| !catalog.table(name).is_some_and(stores))
        || texts.any(|text| is_fickle_sql(text, catalog))
        || scan
            .embeds()
            .any(|(_, embed)| is_fickle(&embed.rows, catalog))
}

fn stores(table: &Table) -> bool {
    match table.kind {
        TableKind::Table | TableKind::Partitioned | TableKind::MaterializedView => !table.live,
        TableKind::View | TableKind::Foreign => false,
    }
}

/// Whether a query, or a condition, may give something else though no row has changed.
fn is_fickle_sql(text: &str, catalog: &Catalog) -> bool {
    let dbms = Some(catalog.dbms);
    let query = Query::read(text, dbms).or_else(|_| condition(text, dbms));
    query.map_or(true, |query| is_fickle_query(&query, catalog))
}

/// Whether a query may give something else though no row has changed.
pub(crate) fn is_fickle_query(query: &Query, catalog: &Catalog) -> bool {
    let is_stored =
        |read: &Read| table(catalog, read.schema.as_ref(), &read.name).is_some_and(stores);
    !query.unsteady.is_empty() || !query.tables.iter().all(is_stored)
}

fn condition(text: &str, dbms: Option<Dbms>) -> Result<Query, Unread> {
    Query::read(&format!("SELECT 1 WHERE {text}"), dbms)
}

/// Whether a condition may read other rows than the one that it is about: it has a query within it, calls a
/// function that is not known, or was not understood.
pub(crate) fn may_read_rows(text: &str, dbms: Dbms) -> bool {
    condition(text, Some(dbms)).map_or(true, |query| {
        !query.unsteady.is_empty() || !query.tables.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::TableName;
    use crate::catalog::sample::shop;

    #[test]
    fn a_condition_reads_other_rows_where_it_has_a_query_or_an_unknown_function() {
        let reads = |sql: &str| may_read_rows(sql, Dbms::Postgres);
        for sql in [
            "status = 'open' AND total > 10",
            "lower(email) LIKE 'a%' OR id IN (1, 2)",
        ] {
            assert!(!reads(sql), "{sql}");
        }
        for sql in [
            "EXISTS (SELECT 1 FROM orders o WHERE o.user_id = users.id)",
            "status = 'open' OR id = ANY (ARRAY(TABLE ids))",
            "total > (SELECT avg(total) FROM orders)",
            "may_see(id)",
            "id = ANY ((",
        ] {
            assert!(reads(sql), "{sql}");
        }
    }

    #[test]
    fn sql_over_rows_alone_is_steady() {
        for sql in [
            "status = 'open' AND total > 10",
            "lower(email) LIKE '%@example.com' OR (id IN (1, 2))",
            "created_at > TIMESTAMP '2026-01-01 00:00:00'",
            "coalesce(note, '')::varchar(20) <> '' AND date > '2026-01-01'",
            "EXISTS (SELECT 1 FROM public.orders o WHERE o.user_id = users.id)",
            "WITH big AS (SELECT * FROM orders) SELECT count(*) FROM big JOIN users USING (id)",
        ] {
            assert!(!is_fickle_sql(sql, &shop()), "{sql}");
        }
    }

    #[test]
    fn what_depends_on_the_clock_on_chance_or_on_who_asks_is_fickle() {
        for sql in [
            "created_at > now() - interval '1 hour'",
            "created_at > localtimestamp - interval '1 hour'",
            "created_at > LOCALTIME",
            "created_at > transaction_timestamp()",
            "created_at > statement_timestamp ( )",
            "timeofday() <> ''",
            "age(created_at) < interval '1 day'",
            "day = 'today'::date",
            "day > date 'yesterday'",
            "day = CURRENT_DATE",
            "at > sysdate(6)",
            "at > utc_timestamp",
            "unix_timestamp() > at",
            "at > datetime('now', '-1 day')",
            "strftime('%Y') = year",
            "date() > day",
            "random() < 0.5",
            "id > abs(random())",
            "key = gen_random_uuid()",
            "owner = current_user",
            "owner = user",
            "tenant = current_setting('app.tenant')",
            "is_recent(created_at)",
            "public.lower(name) = 'x'",
            "\"Is recent\"(created_at)",
            "is_recent/* */(created_at)",
            "id IN (SELECT id FROM recent)",
            "SELECT * FROM orders, recent",
            "SELECT * FROM elsewhere.newest",
            "SELECT * FROM orders TABLESAMPLE system (10)",
            "SELECT * FROM orders LIMIT 10",
        ] {
            assert!(is_fickle_sql(sql, &shop()), "{sql}");
        }
    }

    #[test]
    fn a_view_is_fickle_and_so_is_a_table_without_snapshots() {
        let of = |schema: &str, name: &str| {
            let name = TableName {
                schema: schema.to_owned(),
                name: name.to_owned(),
            };
            is_fickle(&Scan::of(Relation::Table(name), Vec::new()), &shop())
        };
        assert!(!of("public", "orders"));
        let mut live = shop();
        live.tables.iter_mut().for_each(|table| table.live = true);
        let orders = live.find("orders").unwrap().name.clone();
        assert!(is_fickle(
            &Scan::of(Relation::Table(orders), Vec::new()),
            &live
        ));
        assert!(is_fickle_sql("SELECT id FROM orders", &live));
        assert!(of("public", "recent"));
        assert!(of("public", "nothing"));
    }
}
