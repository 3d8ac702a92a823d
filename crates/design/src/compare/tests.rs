//! What a mapping costs where its keys, its filters and its rows say that it is not what it seems.

use dynafold_dynamodb::price::{Prices, SHIPPED};
use dynafold_mapping::Described;
use dynafold_relational::catalog::{Catalog, TableKind};

use super::{PricedMapping, PricedRequest, price};
use crate::ask::figure_query;
use crate::observed::Observed;
use crate::traps::tests::{all_served, schema};
use crate::{conditions, conditions_of, modelled, workload};

/// A table and two indexes; behind them stand item types and access patterns.
const TABLE: &str = "dynafold: 1
table:
  name: app
  key: { partition: PK, sort: SK }
  indexes:
    GSI1: { partition: GSI1PK, sort: GSI1SK, project: keys }
    GSI2: { partition: GSI2PK, project: all }
";

/// The price of a mapping of tables as [`schema`] reads them.
fn priced(tables: &str, mapping: &str, sql: &str) -> PricedMapping {
    priced_with(tables, mapping, sql, &[])
}

/// The same where these conditions decide who is in its indexes, each counted with the share of a table's rows that meet it.
fn priced_with(
    tables: &str,
    mapping: &str,
    sql: &str,
    counted: &[(&str, &str, f64)],
) -> PricedMapping {
    priced_text(tables, &format!("{TABLE}{mapping}"), sql, counted)
}

/// The same of a whole mapping.
fn priced_text(
    tables: &str,
    text: &str,
    sql: &str,
    counted: &[(&str, &str, f64)],
) -> PricedMapping {
    let (catalog, mut limits) = schema(tables);
    let (model, ..) = modelled(text, &|_| None, &catalog, &Described::new()).unwrap();
    for (table, condition, share) in counted {
        let place = (
            catalog.find(table).unwrap().name.clone(),
            (*condition).to_owned(),
        );
        assert!(
            conditions_of(&model, &catalog).contains(&place),
            "{place:?}"
        );
        limits.observed.conditions.insert(place, *share);
    }
    let statements = workload::read(sql, catalog.dbms).unwrap();
    let prices = Prices::read(SHIPPED, None).unwrap();
    price("", &catalog, &model, &statements, &prices, &limits.observed)
}

/// The same where these columns describe the queries of the mapping.
fn priced_of(
    (catalog, observed): (&Catalog, &Observed),
    text: &str,
    described: &Described,
    sql: &str,
) -> PricedMapping {
    let (model, ..) = modelled(text, &|_| None, catalog, described).unwrap();
    let statements = workload::read(sql, catalog.dbms).unwrap();
    let prices = Prices::read(SHIPPED, None).unwrap();
    price("", catalog, &model, &statements, &prices, observed)
}

/// How its one read is served.
fn read(priced: &PricedMapping) -> &PricedRequest {
    priced.reads[0].served.as_ref().unwrap()
}

fn items(priced: &PricedMapping) -> f64 {
    read(priced).items.unwrap()
}

/// The units of its one write.
fn write(priced: &PricedMapping) -> f64 {
    priced.writes[0].units
}

/// Compares the units of each write.
fn assert_units(tables: &str, mapping: &str, writes: &[(&str, f64)]) {
    for (statement, units) in writes {
        let sql = format!("-- write (1/s)\n{statement};");
        let found = write(&priced(tables, mapping, &sql));
        assert!(
            (found - units).abs() < 0.01,
            "{statement}: {found} for {units}"
        );
    }
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.01, "{found} for {expected}");
}

const PARCELS: &str = "zones 10: id
    parcels 10000: id, zone_id @zones distinct=10, status text distinct=4, body longest=300, weight";
const IN_ZONE: &str =
    "-- inZone (1/s)\nSELECT id FROM parcels WHERE zone_id = :z AND status = 'in' AND weight <> 5;";

#[test]
fn a_constant_that_a_filter_asks_for_is_not_in_the_key() {
    let of = |key: &str, asked: &str| {
        let mapping = format!(
            "items:
  PARCEL:
    from: parcels
    key: {{ PK: \"Z#{{zone_id}}{key}\", SK: \"P#{{id}}\" }}
access_patterns:
  inZone: {{ items: [PARCEL], key: {{ PK: \"Z#{{z}}{asked}\" }}, filter: \"FILTER\" }}
"
        );
        move |filter: &str| {
            items(&priced(
                PARCELS,
                &mapping.replace("FILTER", filter),
                IN_ZONE,
            ))
        }
    };
    let in_filter = of("", "")("status = 'in' AND weight <> 5");
    assert_near(in_filter, 1000.0);
    let in_key = of("#{status}", "#in")("weight <> 5");
    assert_near(in_key, 250.0);
}

#[test]
fn what_the_application_leaves_out_is_read() {
    let of = |further: &str| {
        let mapping = format!(
            "items:
  PARCEL: {{ from: parcels, key: {{ PK: \"Z#{{zone_id}}\", SK: \"P#{{id}}\" }}{further} }}
access_patterns:
  inZone: {{ items: [PARCEL], key: {{ PK: \"Z#{{z}}\" }} }}
"
        );
        items(&priced(PARCELS, &mapping, IN_ZONE))
    };
    assert_near(of(""), 1000.0);
    assert_near(of(", where: \"status = 'in'\""), 250.0);
}

#[test]
fn a_sparse_index_has_what_its_filter_does_not_ask_for() {
    let mapping = "items:
  PARCEL:
    from: parcels
    key: { PK: \"P#{id}\", SK: P }
    attributes: { GSI2PK: { $value: \"Z#{zone_id}\", $when: \"weight = 5\" } }
access_patterns:
  inZone: { items: [PARCEL], index: GSI2, key: { GSI2PK: \"Z#{z}\" }, filter: \"status = 'in'\" }
";
    let sql = "-- inZone (1/s)\nSELECT id FROM parcels WHERE zone_id = :z AND status = 'in' AND weight = 5;";
    assert_near(items(&priced(PARCELS, mapping, sql)), 10.0);
}

#[test]
fn a_parent_counts_once_beside_its_children() {
    let tables = "orgs 1000: id, slug unique, text longest=500
        units 4000: id, org_id @orgs distinct=1000, name longest=40
        seats 500: id, org_id @orgs distinct=500";
    let mapping = "items:
  ORG: { from: orgs, key: { PK: \"ORG#{id}\", SK: A } }
  UNIT: { from: units, key: { PK: \"ORG#{org_id}\", SK: \"B#{id}\" } }
  SEAT: { from: seats, key: { PK: \"ORG#{org_id}\", SK: \"C#{id}\" } }
access_patterns:
  org: { items: [TYPES], key: { PK: \"ORG#{id}\" } }
";
    let of = |types: &str, sql: &str| {
        let mapping = mapping.replace("TYPES", types);
        items(&priced(tables, &mapping, sql))
    };
    for join in ["JOIN", "LEFT JOIN"] {
        let sql = format!(
            "-- org (1/s)\nSELECT o.*, u.name FROM orgs o {join} units u ON u.org_id = o.id WHERE o.id = :id;"
        );
        assert_near(of("ORG, UNIT", &sql), 5.0);
    }
    // Half of the parents have a child.
    let sql = "-- org (1/s)\nSELECT o.*, s.id AS seat FROM orgs o LEFT JOIN seats s ON s.org_id = o.id WHERE o.id = :id;";
    assert_near(of("ORG, SEAT", sql), 1.5);
}

const OF_ZONE: &str = "items:
  PARCEL:
    from: parcels
    key: { PK: \"Z#{zone_id}\", SK: \"P#{id}\" }
access_patterns:
  inZone: { items: [PARCEL], key: { PK: \"Z#{z}\" }, filter: \"status = 'in'\", limit: 10 }
";

#[test]
fn beside_a_limit_a_filter_reads_as_many_items_as_give_so_many() {
    let sql =
        "-- inZone (1/s)\nSELECT id FROM parcels WHERE zone_id = :z AND status = 'in' LIMIT 10;";
    let found = priced(PARCELS, OF_ZONE, sql);
    // A fourth of them passes.
    assert_near(items(&found), 40.0);
}

#[test]
fn what_the_application_sorts_is_read_whole() {
    // SQL that compares by bytes is not understood.
    let tables = "mysql\nusers 7200: id, domain text ci distinct=8 most=900, seen";
    let sql = "-- recent (5/s)\nSELECT id FROM users WHERE domain = :d ORDER BY seen DESC LIMIT 10;
-- see (200/s)\nUPDATE users SET seen = :at WHERE id = :id;";
    let (catalog, limits) = schema(tables);
    let found = all_served(&catalog, &limits, sql);
    let served = found.report.reads[0].served.as_ref().unwrap();
    // Those of 900 entries, not of 10.
    assert!(served.units > 5.0, "{served:?}");
}

#[test]
fn a_scan_for_a_write_reads_the_items_of_all_tables() {
    let tables = "waiting 300: player, mode distinct=3 most=100, rating
        matches 500000: id, map";
    let sql = "-- near (50/s)\nSELECT player, rating FROM waiting WHERE mode = :m AND rating BETWEEN :lo AND :hi ORDER BY rating;
-- leave (40/s)\nDELETE FROM waiting WHERE player = :p;
-- wait (40/s)\nINSERT INTO waiting (player, mode, rating) VALUES (:p, :m, :r);";
    let (catalog, limits) = schema(tables);
    let found = all_served(&catalog, &limits, sql);
    let sum = &found.report.sum;
    assert!(sum.without_scans_of.is_empty(), "{sum:?}");
}

#[test]
fn a_key_that_all_rows_share_finds_none_of_many() {
    let mapping = |key: &str| {
        format!(
            "items:\n  PARCEL:\n    from: parcels\n    key: {{ PK: {key}, SK: \"{{weight}}#{{id}}\" }}\n"
        )
    };
    let sql = "-- weigh (1/s)\nUPDATE parcels SET weight = :w WHERE id = :id;";
    let has_key =
        |tables: &str, key: &str, sql: &str| priced(tables, &mapping(key), sql).writes[0].has_key;
    assert!(has_key(PARCELS, "\"P#{id}\"", sql));
    assert!(!has_key(PARCELS, "PARCELS", sql));
    assert!(has_key(&PARCELS.replace("10000:", "90:"), "PARCELS", sql));
    // A write of all rows finds them by it.
    let all = "-- weigh (1/s)\nUPDATE parcels SET weight = :w;";
    assert!(has_key(PARCELS, "PARCELS", all));
    assert!(!has_key(PARCELS, "\"P#{id}\"", all));
    let index = mapping("\"P#{id}\"") + "    attributes: { GSI2PK: PARCELS }\n";
    assert!(priced(PARCELS, &index, all).writes[0].has_key);
    let sorted = |by: &str| {
        index.replace(
            "GSI2PK: PARCELS",
            &format!("GSI1PK: PARCELS, GSI1SK: \"{by}\""),
        )
    };
    assert!(priced(PARCELS, &sorted("B#{id}"), all).writes[0].has_key);
    let nullable = PARCELS.replace("body", "body null");
    assert!(!priced(&nullable, &sorted("B#{body}"), all).writes[0].has_key);
    let spread = index.replace("PARCELS", "\"P#{body | shard(4)}\"");
    assert!(priced(PARCELS, &spread, all).writes[0].has_key);
    assert!(!priced(&nullable, &spread, all).writes[0].has_key);
    let of_zone = "-- weigh (1/s)\nUPDATE parcels SET weight = :w WHERE zone_id = :z;";
    let by_zone = sorted("B#{body}").replace("GSI1PK: PARCELS", "GSI1PK: \"Z#{zone_id}\"");
    assert!(priced(PARCELS, &by_zone, of_zone).writes[0].has_key);
    assert!(!priced(&nullable, &by_zone, of_zone).writes[0].has_key);
}

#[test]
fn a_write_that_lists_keys_counts_as_their_rows() {
    let mapping = "items:
  PARCEL:
    from: parcels
    key: { PK: \"P#{id}\", SK: P }
";
    let writes = [
        ("UPDATE parcels SET weight = :w WHERE id = :a", 1.0),
        (
            "UPDATE parcels SET weight = :w WHERE id IN (:a, :b, :c)",
            3.0,
        ),
        (
            "UPDATE parcels SET weight = :w WHERE id IN (:a, :b) AND status IN ('in', 'out')",
            2.0,
        ),
        (
            "UPDATE parcels SET weight = :w WHERE status IN ('in', 'out')",
            1.0,
        ),
    ];
    assert_units(PARCELS, mapping, &writes);
}

#[test]
fn rows_without_a_key_are_neither_found_nor_in_its_index() {
    let tables = "orders 9000: id, coupon_id null distinct=300 present=900, state text, note";
    let mapping = "items:
  ORDER:
    from: orders
    key: { PK: \"O#{id}\", SK: O }
    attributes: { GSI1PK: \"C#{coupon_id}\", GSI1SK: \"O#{id}\" }
access_patterns:
  ofCoupon: { items: [ORDER], index: GSI1, key: { GSI1PK: \"C#{c}\" } }
";
    let sql = "-- ofCoupon (1/s)\nSELECT id FROM orders WHERE coupon_id = :c;
        -- place (1/s)\nINSERT INTO orders (id, coupon_id) VALUES (:id, :c);";
    let found = priced(tables, mapping, sql);
    assert_near(items(&found), 3.0);
    assert_near(write(&found), 1.1);
    // A column that the INSERT does not name is NULL.
    let without = sql.replace("(id, coupon_id) VALUES (:id, :c)", "(id) VALUES (:id)");
    assert_near(write(&priced(tables, mapping, &without)), 1.0);
    // NULL has an entry where something stands for it.
    let kept = mapping.replace("{coupon_id}", "{coupon_id | string | default(NONE)}");
    assert_near(write(&priced(tables, &kept, sql)), 2.0);
}

#[test]
fn rows_without_a_reference_are_not_in_an_index_by_the_parents_column() {
    let tables = "users 100: id, city text distinct=10
        orders 9000: id, user_id @users null distinct=100 present=900";
    let mapping = "items:
  ORDER:
    from: orders
    key: { PK: \"O#{id}\", SK: O }
    join: { u: user_id }
    attributes: { GSI2PK: \"C#{u.city}\" }
";
    let insert = "INSERT INTO orders (id, user_id) VALUES (:i, :u)";
    assert_units(tables, mapping, &[(insert, 1.1)]);
}

#[test]
fn a_padded_number_has_its_width_in_each_entry() {
    let tables = "stock 16000: id distinct=16000, house distinct=4";
    let mapping = "items:
  STOCK:
    from: stock
    key: { PK: \"S#{id}\", SK: S }
    attributes: { GSI1PK: \"H#{house}\", GSI1SK: \"{idPAD}\" }
access_patterns:
  ofHouse: { items: [STOCK], index: GSI1, key: { GSI1PK: \"H#{h}\" } }
";
    let sql = "-- ofHouse (1/s)\nSELECT id FROM stock WHERE house = :h;";
    let units = |pad: &str| read(&priced(tables, &mapping.replace("PAD", pad), sql)).units;
    // 4,000 entries with 30 and 20 bytes more.
    assert_near(units(" | pad(30)") - units(" | pad(20)"), 5.0);
}

#[test]
fn figures_of_one_group_are_those_that_its_rows_have() {
    let tables = "times 20000: id, worker distinct=4000, project distinct=300, minutes";
    let query =
        "SELECT worker, project, sum(minutes) AS minutes FROM times GROUP BY worker, project";
    let mapping = format!(
        "items:
  MINUTES:
    from: {{ sql: \"{query}\", key: [worker, project] }}
    key: {{ PK: \"W#{{worker}}\", SK: \"M#{{project}}\" }}
access_patterns:
  byProject: {{ items: [MINUTES], key: {{ PK: \"W#{{w}}\" }} }}
"
    );
    let (catalog, limits) = schema(tables);
    let columns = ["worker", "project", "minutes"];
    let columns = columns.map(|name| catalog.tables[0].column(name).unwrap().clone());
    let described = Described::from([(query.to_owned(), Ok(columns.to_vec()))]);
    let text = format!("{TABLE}{mapping}");
    let sql = "-- byProject (1/s)\nSELECT project, sum(minutes) AS minutes FROM times WHERE worker = :w GROUP BY project;";
    let found = priced_of((&catalog, &limits.observed), &text, &described, sql);
    assert_near(items(&found), 5.0);
}

#[test]
fn a_query_of_a_mapping_serves_the_figures_that_it_computes() {
    let all = "SELECT worker, project, sum(minutes) AS minutes, count(*) AS n FROM times GROUP BY worker, project";
    let found = |query: &str, read: &str| {
        let mapping = format!(
            "{TABLE}items:
  MINUTES:
    from: {{ sql: \"{query}\", key: [worker, project] }}
    key: {{ PK: \"W#{{worker}}\", SK: \"M#{{project}}\" }}
access_patterns:
  one: {{ items: [MINUTES], key: {{ PK: \"W#{{w}}\" }} }}
"
        );
        let tables = "times 20000: id, worker distinct=4000, project distinct=300, minutes";
        let (catalog, limits) = schema(tables);
        let names = ["worker", "project", "minutes", "n"].into_iter();
        let columns = names.filter(|name| {
            query.contains(&format!("{name},")) || query.contains(&format!("AS {name} "))
        });
        let columns = columns.map(|name| {
            let mut column = catalog.tables[0].columns[0].clone();
            column.name = name.to_owned();
            column
        });
        let described = Described::from([(query.to_owned(), Ok(columns.collect()))]);
        let sql = format!("-- one (1/s)\nSELECT {read};");
        let facts = (&catalog, &limits.observed);
        priced_of(facts, &mapping, &described, &sql).reads.remove(0)
    };
    for (selected, clauses, divides) in [
        ("project, sum(minutes)", "GROUP BY project", false),
        ("project, avg(minutes)", "GROUP BY project", true),
        ("count(minutes)", "AND project = :p", false),
        ("DISTINCT project", "", false),
    ] {
        let read = format!("{selected} FROM times WHERE worker = :w {clauses}");
        let served = found(all, &read).served;
        assert_eq!(served.map(|one| one.divides), Some(divides), "{read}");
    }
    let why = |query: &str, read: &str| found(query, read).why_not.unwrap_or_default();
    let of_query = "the query that makes its items is not known to give what the read asks for: give the access pattern the `sql` that it answers";
    for read in [
        "id, minutes FROM times WHERE worker = :w",
        "sum(minutes) FROM times WHERE worker = :w",
        "project, max(minutes) FROM times WHERE worker = :w GROUP BY project",
        "project, sum(minutes) FROM times WHERE worker = :w AND minutes > 5 GROUP BY project",
    ] {
        assert_eq!(why(all, read), of_query, "{read}");
    }
    // Rows are counted for each group, and the count is not selected.
    let sums = all.replace(", count(*) AS n", "");
    let read = "project, count(*) FROM times WHERE worker = :w GROUP BY project";
    assert_eq!(why(&sums, read), of_query);
    let read = "worker, sum(minutes) FROM times WHERE project = :p GROUP BY worker";
    assert_eq!(
        why(all, read),
        "its key asks for times.worker, which the read does not give"
    );
}

#[test]
fn items_of_a_view_serve_reads_of_the_view_alone() {
    let why = |read: &str| {
        let (mut catalog, limits) =
            schema("bids 100: id, lot distinct=10\n live 50: id, lot distinct=10");
        catalog.tables[1].kind = TableKind::View;
        let mapping = format!(
            "{TABLE}items:
  LIVE: {{ from: live, key: {{ PK: \"I#{{lot}}\", SK: \"B#{{id}}\" }} }}
access_patterns:
  one: {{ items: [LIVE], key: {{ PK: \"I#{{i}}\" }} }}
"
        );
        let sql = format!("-- one (1/s)\nSELECT {read};");
        let facts = (&catalog, &limits.observed);
        let mut found = priced_of(facts, &mapping, &Described::new(), &sql);
        found.reads.remove(0).why_not.unwrap_or_default()
    };
    assert_eq!(why("id FROM live WHERE lot = :i"), "");
    let lacked = "its items do not hold bids.id";
    assert_eq!(why("id FROM bids WHERE lot = :i"), lacked);
}

#[test]
fn a_write_searches_for_the_items_that_it_writes() {
    let tables = "people 1000: id, email unique, seen";
    let mapping = "items:
  PERSON: { from: people, key: { PK: \"P#{id}\", SK: P } }
  LOGIN: { from: people, key: { PK: \"E#{email}\", SK: E }, columns: [id, email], attributes: { GSI2PK: \"L#{id}\" } }
access_patterns:
  person: { items: [PERSON], key: { PK: \"P#{id}\", SK: P } }
";
    let of = |set: &str| {
        let sql = format!("-- update (1/s)\nUPDATE people SET {set} = :v WHERE id = :id;");
        let found = priced(tables, mapping, &sql);
        // Without what it writes.
        found.writes[0].usd_month - found.writes[0].units * 0.625 * 2.592
    };
    assert_near(of("seen"), 0.0);
    // That of the other item type is found first.
    assert_near(of("email"), 0.5 * 0.125 * 2.592);
}

#[test]
fn a_new_row_is_in_a_sparse_index_by_the_values_that_are_said() {
    let tables =
        "events 1000: id, owner null present=600 distinct=100, state text distinct=4 most=400";
    let mapping = "items:
  EVENT:
    from: events
    key: { PK: \"E#{id}\", SK: A }
    attributes: { GSI1PK: { $value: \"OPEN#{id}\", $when: \"state = 'open'\" }, GSI1SK: A, GSI2PK: \"O#{owner}\" }
access_patterns:
  event: { items: [EVENT], key: { PK: \"E#{id}\", SK: A } }
";
    let of = |values: &str| {
        let sql =
            format!("-- add (1/s)\nINSERT INTO events (id, state, owner) VALUES (:i, {values});");
        write(&priced(tables, mapping, &sql))
    };
    // In the table, in the sparse index, and in that of owners.
    assert_near(of(":s, :o"), 1.0 + 0.25 + 0.6);
    assert_near(of("'open', :o"), 2.6);
    assert_near(of("'shut', :o"), 1.6);
    assert_near(of("'shut', NULL"), 1.0);
    assert_near(of("'shut', 5"), 2.0);
    // Without a parameter they are examples.
    let sql = "-- add (1/s)\nINSERT INTO events (id, state, owner) VALUES (1, 'open', 5);";
    assert_near(write(&priced(tables, mapping, sql)), 1.85);
}

#[test]
fn an_update_is_in_a_sparse_index_by_the_values_that_are_said() {
    let tables = "events 1000: id, state text distinct=4 most=400, note text";
    let mapping = "items:
  EVENT:
    from: events
    key: { PK: \"E#{id}\", SK: A }
    attributes: { GSI2PK: { $value: \"OPEN#{id}\", $when: \"state = 'open'\" } }
access_patterns:
  event: { items: [EVENT], key: { PK: \"E#{id}\", SK: A } }
";
    let writes = [
        ("UPDATE events SET note = :n WHERE id = :i", 1.25),
        (
            "UPDATE events SET note = :n WHERE id = :i AND state = 'open'",
            2.0,
        ),
        (
            "UPDATE events SET note = :n WHERE id = :i AND state = 'late'",
            1.0,
        ),
        (
            "UPDATE events SET note = :n WHERE id = :i AND state IS NULL",
            1.0,
        ),
        // Literals without a parameter are examples.
        (
            "UPDATE events SET note = 'n' WHERE id = 7 AND state = 'open'",
            1.25,
        ),
        ("UPDATE events SET state = :s WHERE id = :i", 2.0),
        ("UPDATE events SET state = 'open' WHERE id = :i", 2.0),
        ("UPDATE events SET state = 'done' WHERE id = :i", 2.0),
        (
            "UPDATE events SET state = 'done' WHERE id = :i AND state = 'open'",
            2.0,
        ),
        (
            "UPDATE events SET state = 'open' WHERE id = :i AND state = 'late'",
            2.0,
        ),
        (
            "UPDATE events SET state = 'done' WHERE id = :i AND state = 'late'",
            1.0,
        ),
        ("DELETE FROM events WHERE id = :i", 1.25),
        ("DELETE FROM events WHERE id = :i AND state = 'open'", 2.0),
        ("DELETE FROM events WHERE id = :i AND state = 'late'", 1.0),
    ];
    assert_units(tables, mapping, &writes);
}

#[test]
fn a_change_of_a_rare_state_is_counted_where_the_state_is() {
    let tables = "events 1000: id, state text distinct=4 most=400, note text";
    let mapping = "items:
  EVENT:
    from: events
    key: { PK: \"E#{id}\", SK: A }
    attributes: { GSI2PK: { $value: \"OPEN#{id}\", $when: \"state = 'open'\" } }
access_patterns:
  event: { items: [EVENT], key: { PK: \"E#{id}\", SK: A } }
";
    let of = |others: &str| {
        let change = "-- a (1/s)\nUPDATE events SET state = :s WHERE id = :i;";
        let counted = [("events", "state = 'open'", 0.01)];
        write(&priced_with(
            tables,
            mapping,
            &format!("{change}\n{others}"),
            &counted,
        ))
    };
    assert_near(of(""), 1.02);
    // What others bring into the index, the update takes out of it.
    let add = |rate: &str, state: &str| {
        format!("-- b ({rate}/s)\nINSERT INTO events (id, state) VALUES (:i, '{state}');")
    };
    assert_near(of(&add("1", "open")), 2.0);
    assert_near(of(&add("0.5", "open")), 1.5);
    assert_near(of(&add("1", "done")), 1.02);
    for state in ["'done'", ":s"] {
        let finish = format!(
            "-- c (1/s)\nUPDATE events SET state = {state} WHERE id = :i AND state = 'open';"
        );
        assert_near(of(&format!("{}\n{finish}", add("1", "open"))), 1.02);
    }
}

#[test]
fn an_update_takes_a_row_out_of_an_index_that_has_all_rows() {
    let mapping = "items:
  EVENT:
    from: events
    key: { PK: \"E#{id}\", SK: A }
    attributes: { GSI2PK: { $value: \"OPEN#{id}\", $when: \"ended IS NULL\" } }
";
    let counted = [("events", "ended IS NULL", 1.0)];
    let sql = "-- a (1/s)\nUPDATE events SET ended = :t WHERE id = :i AND ended IS NULL;";
    let tables = "events 1000: id, ended null present=0";
    assert_near(write(&priced_with(tables, mapping, sql, &counted)), 2.0);
}

#[test]
fn an_update_of_the_key_and_the_condition_counts_the_entry_that_goes() {
    let tables = "events 1000: id, owner distinct=100, state text distinct=4";
    let of = |key: &str, sql: &str| {
        let mapping = format!(
            "items:
  EVENT:
    from: events
    key: {{ PK: \"{key}\", SK: \"N#{{id}}\" }}
    attributes: {{ GSI2PK: {{ $value: \"O#{{owner}}\", $when: \"state = 'open'\" }} }}
"
        );
        let counted = [("events", "state = 'open'", 0.01)];
        write(&priced_with(tables, &mapping, sql, &counted))
    };
    let done = "-- a (1/s)\nUPDATE events SET state = 'done', owner = :o WHERE id = :i;";
    assert_near(of("E#{id}", done), 2.0);
    // The item is deleted and put anew.
    assert_near(of("O#{owner}", done), 3.0);
    let add = "-- b (1/s)\nINSERT INTO events (id, owner, state) VALUES (:i, :o, 'open');";
    let both = "-- a (1/s)\nUPDATE events SET state = :s, owner = :o WHERE id = :i;";
    assert_near(of("E#{id}", &format!("{both}\n{add}")), 2.0);
    // One that changes the key alone takes no row out.
    let state = "-- a (1/s)\nUPDATE events SET state = :s WHERE id = :i;";
    let owner = "UPDATE events SET owner = :o WHERE id = :i;";
    let further = format!("{add}\n-- c (1/s)\n{owner}");
    assert_near(of("E#{id}", &format!("{state}\n{further}")), 2.0);
    let owner = format!("-- a (1/s)\n{owner}\n{add}");
    assert_near(of("E#{id}", &owner), 1.02);
}

#[test]
fn an_insert_says_the_constants_of_all_its_rows() {
    let mapping = "items:
  EVENT:
    from: events
    key: { PK: \"E#{id}\", SK: A }
    attributes: { GSI2PK: { $value: \"O#{id}\", $when: \"state = 'open'\" } }
";
    let counted = [("events", "state = 'open'", 0.01)];
    for (insert, units) in [
        ("(id, state) VALUES (:i, 'open')", 2.0),
        ("VALUES (:i, 'open')", 2.0),
        ("(id, state) VALUES (:i, 'open'), (:j, 'open')", 4.0),
        ("(id, state) VALUES (:i, 'open'), (:j, :s)", 2.02),
        ("(id, state) VALUES (:i, CAST('open' AS text))", 2.0),
        (
            "(id, state) VALUES (:i, 'done') ON CONFLICT (id) DO UPDATE SET state = 'open'",
            1.01,
        ),
    ] {
        let sql = format!("-- a (1/s)\nINSERT INTO events {insert};");
        let tables = "events 1000: id, state text distinct=4";
        assert_near(write(&priced_with(tables, mapping, &sql, &counted)), units);
    }
}

#[test]
fn an_update_gives_a_column_of_the_key_a_value() {
    let tables = "jobs 1000: id, worker null distinct=10 present=20, state text distinct=4";
    let of = |key: &str, statement: &str| {
        let mapping = format!(
            "items:
  JOB:
    from: jobs
    key: {{ PK: \"J#{{id}}\", SK: A }}
    attributes: {{ GSI2PK: {key} }}
"
        );
        let sql = format!("-- write (1/s)\nUPDATE jobs SET {statement};");
        write(&priced(tables, &mapping, &sql))
    };
    let all = "\"W#{worker}\"";
    assert_near(of(all, "worker = :w WHERE id = :i AND worker IS NULL"), 2.0);
    assert_near(of(all, "worker = NULL WHERE id = :i"), 2.0);
    let running = "{ $value: \"W#{worker}\", $when: \"state = 'run'\" }";
    let run = "state = 'run', worker = :w WHERE id = :i";
    assert_near(of(running, run), 2.0);
    // Only the key makes two entries of one.
    let not_run = "{ $value: \"J#{id}\", $when: \"state <> 'run'\" }";
    assert_near(of(not_run, "state = :s WHERE id = :i"), 2.0);
}

#[test]
fn a_column_of_a_parent_in_a_key_moves_the_entry() {
    let item = "    join: { z: zone_id }\n    attributes: { GSI2PK: \"Z#{z.name}\" }";
    let update = "UPDATE zones SET name = :n WHERE id = :id";
    assert_near(units_of(item, update), 300.0);
    let update = "UPDATE parcels SET zone_id = :z WHERE id = :id";
    assert_near(units_of(item, update), 3.0);
}

#[test]
fn a_delete_of_several_rows_cascades_from_each() {
    let item = "    join: { z: zone_id, r: z.region_id }\n    attributes: { region: \"{r.name}\" }";
    let of = |rows: &str| units_of(item, &format!("DELETE FROM regions WHERE id {rows}"));
    assert_near(of("= :a"), 1000.0);
    assert_near(of("IN (:a, :b)"), 2000.0);
}

#[test]
fn a_limit_counts_each_item_of_a_row() {
    let tables = "docs 1000: id, owner distinct=100 most=30, at, body text longest=9000";
    let mapping = "items:
  DOC: { from: docs, key: { PK: \"D#{id}\", SK: A }, omit: [body], attributes: { GSI1PK: \"O#{owner}\", GSI1SK: \"{at | ordered}#{id | pad(9)}\" } }
  BODY: { from: docs, key: { PK: \"D#{id}\", SK: B }, columns: [id, body], attributes: { GSI1PK: \"O#{owner}\", GSI1SK: \"{at | ordered}#{id | pad(9)}\" } }
access_patterns:
  ofOwner: { items: [DOC, BODY], index: GSI1, fetch: true, order: desc, limit: 10, key: { GSI1PK: \"O#{o}\" }, sql: \"SELECT * FROM docs WHERE owner = :o ORDER BY at DESC, id DESC LIMIT 5\" }
";
    let sql =
        "-- ofOwner (1/s)\nSELECT * FROM docs WHERE owner = :o ORDER BY at DESC, id DESC LIMIT 5;";
    let found = priced(tables, mapping, sql);
    assert_near(items(&found), 10.0);
    // The entries, five items of half a unit, and five of one and a half; two requests.
    assert_near(read(&found).units, 0.5 + 2.5 + 7.5);
    assert_eq!((read(&found).requests, read(&found).fetches), (2, 1));
}

#[test]
fn an_item_beside_one_that_a_key_finds_is_found() {
    let tables = "orgs 10: id\n    docs 1000: id, org_id @orgs distinct=10, body longest=3000";
    let mapping = "items:
  DOC: { from: docs, key: { PK: \"D#{id}\", SK: A }, omit: [body], attributes: { GSI2PK: \"O#{org_id}\" } }
  BODY: { from: docs, key: { PK: \"PLACE\", SK: B }, columns: [id, body] }
access_patterns:
  doc: { items: [DOC], key: { PK: \"D#{id}\", SK: A } }
";
    let sql = "-- remove (1/s)\nDELETE FROM docs WHERE org_id = :o;";
    let has_key = |place: &str| {
        let found = priced(tables, &mapping.replace("PLACE", place), sql);
        found.writes[0].has_key
    };
    assert!(has_key("D#{id}"));
    // The first item has the id, and not the body.
    assert!(has_key("B#{id}"));
    assert!(!has_key("B#{body}"));
}

const COPIED: &str = "regions 10: id, name text, hub_id @parcels null
    zones 100: id, region_id @regions set_null null distinct=10, status text distinct=2, name text
    parcels 10000: id, zone_id @zones distinct=100, before_id @parcels set_null null, state text distinct=4
    labels 20000: id, parcel_id @parcels distinct=10000, is_lost
    notes 500: parcel_id @parcels distinct=500, body text
    tags 500: id, parcel distinct=400, word text
    alerts 200: id, zone distinct=100, word text
    kinds 50: id, name text
    lots 5000: id, parcel @parcels distinct=2500, kind @kinds distinct=50";

/// The write units of a statement, with an item type of parcels that has this.
fn units_of(item: &str, statement: &str) -> f64 {
    let mapping = format!(
        "items:
  PARCEL:
    from: parcels
    key: {{ PK: \"P#{{id}}\", SK: P }}
{item}
access_patterns:
  parcel: {{ items: [PARCEL], key: {{ PK: \"P#{{id}}\", SK: P }} }}
"
    );
    write(&priced(
        COPIED,
        &mapping,
        &format!("-- write (1/s)\n{statement};"),
    ))
}

#[test]
fn what_a_condition_on_another_row_decides_is_written_with_that_row() {
    // Of a zone 100 parcels, each with its item and its entry.
    let item = "    join: { z: zone_id }
    attributes: { GSI2PK: { $value: \"Z#{zone_id}\", $when: \"z.status = 'open'\" } }";
    let by_zone = |statement: &str| units_of(item, statement);
    assert_near(
        by_zone("UPDATE zones SET status = :s WHERE id = :id"),
        200.0,
    );
    assert_near(by_zone("UPDATE zones SET name = :s WHERE id = :id"), 0.0);
    assert_near(by_zone("INSERT INTO zones (id) VALUES (:id)"), 0.0);
    // The same by a query.
    let item = "    attributes: { GSI2PK: { $value: \"Z#{zone_id}\", $when: \"EXISTS (SELECT 1 FROM zones z WHERE z.id = parcels.zone_id AND z.status = 'open')\" } }";
    let by_query = |statement: &str| units_of(item, statement);
    assert_near(
        by_query("UPDATE zones SET status = :s WHERE id = :id"),
        200.0,
    );
    assert_near(by_query("DELETE FROM zones WHERE id = :id"), 0.0);
    // A row that the query leaves out decides nothing.
    let shut = "UPDATE zones SET status = 'shut' WHERE id = :id";
    assert_near(by_query(shut), 200.0);
    assert_near(by_query(&format!("{shut} AND status = 'new'")), 0.0);
    assert_near(by_query(&format!("{shut} AND status = 'open'")), 200.0);
    let item = "    attributes: { GSI2PK: { $value: \"P#{id}\", $when: \"EXISTS (SELECT 1 FROM tags t WHERE t.parcel = parcels.id AND t.word = 'lost')\" } }";
    let tag = |word: &str| {
        units_of(
            item,
            &format!("INSERT INTO tags (id, parcel, word) VALUES (:i, :p, {word})"),
        )
    };
    assert_near(tag("'found'"), 0.0);
    assert_near(tag("'lost'"), tag(":w"));
    assert!(tag("'lost'") > 0.0);
    // Of a child one parcel.
    let item = "    attributes: { GSI2PK: { $value: \"P#{id}\", $when: \"EXISTS (SELECT 1 FROM labels l WHERE l.parcel_id = parcels.id AND l.is_lost)\" } }";
    let by_child = |statement: &str| units_of(item, statement);
    assert_near(
        by_child("UPDATE labels SET is_lost = :l WHERE id = :id"),
        2.0,
    );
    assert_near(
        by_child("INSERT INTO labels (id, parcel_id) VALUES (:id, :p)"),
        2.0,
    );
    // An attribute that no index has.
    let item = "    join: { z: zone_id }
    attributes: { is_open: { $value: \"y\", $when: \"z.status = 'open'\" } }";
    let update = "UPDATE zones SET status = :s WHERE id = :id";
    assert_near(units_of(item, update), 100.0);
}

#[test]
fn a_condition_on_a_parent_is_counted_over_the_parents() {
    let of = |when: &str, counted: &[(&str, &str, f64)]| {
        let mapping = format!(
            "items:
  PARCEL:
    from: parcels
    key: {{ PK: \"P#{{id}}\", SK: P }}
    join: {{ z: zone_id, r: z.region_id }}
    attributes: {{ GSI2PK: {{ $value: \"Z#{{zone_id}}\", $when: \"{when}\" }} }}
access_patterns:
  parcel: {{ items: [PARCEL], key: {{ PK: \"P#{{id}}\", SK: P }} }}
"
        );
        let sql = "-- add (1/s)\nINSERT INTO parcels (id, zone_id) VALUES (:i, :z);";
        write(&priced_with(COPIED, &mapping, sql, counted))
    };
    let of_zone = ("zones", "zones.status = 'open'", 0.3);
    assert_near(of("z.status = 'open'", &[]), 1.5);
    assert_near(of("z.status = 'open'", &[of_zone]), 1.3);
    let own = ("parcels", "parcels.state = 'in'", 0.5);
    let both = "z.status = 'open' AND parcels.state = 'in'";
    assert_near(of(both, &[of_zone, own]), 1.15);
}

#[test]
fn a_reference_on_the_way_to_a_copy_changes_it() {
    let item = "    join: { z: zone_id, r: z.region_id }\n    attributes: { region: \"{r.name}\" }";
    let of = |statement: &str| units_of(item, statement);
    assert_near(of("UPDATE regions SET name = :n WHERE id = :id"), 1000.0);
    assert_near(of("UPDATE zones SET region_id = :r WHERE id = :id"), 100.0);
    assert_near(of("UPDATE zones SET status = :s WHERE id = :id"), 0.0);
    assert_near(of("UPDATE parcels SET zone_id = :z WHERE id = :id"), 1.0);
    // The database sets the references to it to NULL.
    assert_near(of("DELETE FROM regions WHERE id = :id"), 1000.0);
    assert_near(of("DELETE FROM zones WHERE id = :id"), 0.0);
    // Under a condition alone.
    let item = "    columns: [state]
    join: { z: zone_id, r: z.region_id }
    attributes: { is_near: { $value: \"y\", $when: \"r.name = 'here'\" } }";
    let of = |statement: &str| units_of(item, statement);
    assert_near(of("UPDATE zones SET region_id = :r WHERE id = :id"), 100.0);
    assert_near(of("UPDATE parcels SET zone_id = :z WHERE id = :id"), 1.0);
}

#[test]
fn an_embedded_child_is_in_one_item() {
    let item =
        "    attributes: { tags: { $embed: tags, $match: { parcel: id }, $each: \"{word}\" } }";
    for statement in [
        "INSERT INTO tags (id, parcel, word) VALUES (:i, :p, :w)",
        "UPDATE tags SET word = :w WHERE id = :id",
        "DELETE FROM tags WHERE id = :id",
    ] {
        assert_near(units_of(item, statement), 1.0);
    }
    // A child that is found by another column is in the items of all rows that have it.
    let item = "    attributes: { alerts: { $embed: alerts, $match: { zone: zone_id }, $each: \"{word}\" } }";
    let update = "UPDATE alerts SET word = :w WHERE id = :id";
    assert_near(units_of(item, update), 100.0);
    // The parent of a child is in the items of its children.
    let item =
        "    attributes: { lots: { $embed: lots, $join: { k: kind }, $each: \"{k.name}\" } }";
    let update = "UPDATE kinds SET name = :n WHERE id = :id";
    assert_near(units_of(item, update), 100.0);
    assert_near(units_of(item, "INSERT INTO kinds (id) VALUES (:id)"), 0.0);
}

#[test]
fn a_row_of_columns_that_is_set_changes_its_copies() {
    let item = "    join: { z: zone_id }\n    attributes: { zone: \"{z.name}\" }";
    for values in ["(:n, :s)", "(SELECT name, :s FROM regions WHERE id = :r)"] {
        let update = format!("UPDATE zones SET (name, status) = {values} WHERE id = :id");
        assert_near(units_of(item, &update), 100.0);
    }
}

#[test]
fn an_item_comes_or_goes_by_its_where() {
    let by_parent = "    where: \"z.status = 'in'\"
    join: { z: zone_id }
    columns: [state]";
    let update = "UPDATE zones SET status = :s WHERE id = :id";
    assert_near(units_of(by_parent, update), 100.0);
    let by_own = "    where: \"zone_id <> 4\"
    columns: [state]";
    let update = "UPDATE parcels SET zone_id = :z WHERE id = :id";
    assert_near(units_of(by_own, update), 1.0);
    assert_near(units_of("    columns: [state]", update), 0.0);
    // As far as the statement says it.
    let only = "    where: \"state = 'in'\"";
    for (update, units) in [
        ("SET zone_id = :z WHERE id = :id AND state = 'in'", 1.0),
        ("SET zone_id = :z WHERE id = :id AND state = 'out'", 0.0),
        ("SET state = 'out' WHERE id = :id AND state = 'in'", 1.0),
        ("SET state = 'gone' WHERE id = :id AND state = 'out'", 0.0),
    ] {
        assert_near(units_of(only, &format!("UPDATE parcels {update}")), units);
    }
    // Of a rare state few, but as many go as come.
    let of = |others: &str| {
        let mapping = "items:
  PARCEL: { from: parcels, key: { PK: \"P#{id}\", SK: P }, where: \"state = 'in'\" }
access_patterns:
  parcel: { items: [PARCEL], key: { PK: \"P#{id}\", SK: P } }
";
        let change = "-- a (1/s)\nUPDATE parcels SET state = :s WHERE id = :id;";
        let counted = [("parcels", "state = 'in'", 0.01)];
        write(&priced_with(
            COPIED,
            mapping,
            &format!("{change}\n{others}"),
            &counted,
        ))
    };
    assert_near(of(""), 0.02);
    let add = "-- b (0.5/s)\nINSERT INTO parcels (id, state) VALUES (:i, 'in');";
    assert_near(of(add), 0.5);
}

#[test]
fn copies_have_a_key_where_one_finds_the_items_by_the_reference() {
    let has_key = |key: &str, further: &str, sql: &str| {
        let mapping = format!(
            "items:
  PARCEL:
    from: parcels
    key: {{ PK: \"{key}\", SK: \"P#{{id}}\" }}
    join: {{ z: zone_id, r: z.region_id }}
    attributes: {{ zone: \"{{z.name}}\", region: \"{{r.name}}\" }}
{further}
access_patterns:
  parcel: {{ items: [PARCEL], key: {{ PK: \"{}\" }} }}
",
            ["id", "zone_id", "z.name", "r.name"]
                .iter()
                .fold(key.to_owned(), |key, name| key
                    .replace(&format!("{{{name}}}"), "{i}"))
        );
        priced(COPIED, &mapping, &format!("-- write (1/s)\n{sql};")).writes[0].copies_have_key
    };
    let zone = "UPDATE zones SET name = :n WHERE id = :id";
    assert!(!has_key("P#{id}", "", zone));
    assert!(has_key("Z#{zone_id}", "", zone));
    assert!(has_key(
        "P#{id}",
        "",
        "UPDATE zones SET status = :s WHERE id = :id"
    ));
    // By way of the zones of the region.
    let region = "UPDATE regions SET name = :n WHERE id = :id";
    assert!(!has_key("Z#{zone_id}", "", region));
    let zones = "  ZONE: { from: zones, key: { PK: \"R#{region_id}\", SK: \"Z#{id}\" } }";
    assert!(has_key("Z#{zone_id}", zones, region));
    assert!(!has_key("P#{id}", zones, region));
    // By the row's own columns.
    assert!(has_key("Z#{z.name}", "", zone));
    assert!(!has_key("Z#{z.name}", "", region));
    assert!(has_key("R#{r.name}", "", region));
    assert!(!has_key("R#{r.name}", "", zone));
}

#[test]
fn a_new_item_has_no_bytes_of_a_column_that_is_null() {
    let tables = "docs 1000: id, body text null longest=3000";
    let of = |further: &str, values: &str| {
        let mapping = format!(
            "items:
  DOC: {{ from: docs, key: {{ PK: \"D#{{id}}\", SK: A }}{further} }}
access_patterns:
  doc: {{ items: [DOC], key: {{ PK: \"D#{{id}}\", SK: A }} }}
"
        );
        let sql = format!("-- add (1/s)\nINSERT INTO docs (id, body) VALUES (:i, {values});");
        write(&priced(tables, &mapping, &sql))
    };
    assert_near(of("", ":b"), 4.0 - 1.0);
    assert_near(of("", "NULL"), 1.0);
    // Rows that its `where` leaves out make none.
    let only = ", where: \"body IS NOT NULL\"";
    assert_near(of(only, "NULL"), 0.0);
    assert_near(of(only, "'x'"), 3.0);
}

#[test]
fn an_access_pattern_that_reads_no_children_does_not_serve_a_read_with_them() {
    let mapping = |sql: &str| {
        format!(
            "items:
  ZONE: {{ from: zones, key: {{ PK: \"Z#{{id}}\", SK: A }} }}
  PARCEL: {{ from: parcels, key: {{ PK: \"Z#{{zone_id}}\", SK: \"P#{{id}}\" }} }}
access_patterns:
  zone: {{ items: [ZONE, PARCEL], key: {{ PK: \"Z#{{z}}\" }}, sql: \"{sql}\" }}
"
        )
    };
    let both = "SELECT z.id, z.name, p.id AS parcel FROM zones z LEFT JOIN parcels p ON p.zone_id = z.id WHERE z.id = :z";
    let serves = |sql: &str| {
        let found = priced(COPIED, &mapping(sql), &format!("-- zone (1/s)\n{both};"));
        found.reads[0].served.is_some()
    };
    assert!(serves(both));
    assert!(!serves("SELECT id, name FROM zones WHERE id = :z"));
}

#[test]
fn a_parameter_may_have_another_name_in_the_access_pattern() {
    for name in ["a", "x"] {
        let mapping = format!(
            "items:
  PARCEL: {{ from: parcels, key: {{ PK: \"P#{{id}}\", SK: A }} }}
access_patterns:
  some: {{ items: [PARCEL], key: {{ PK: \"P#{{{name}}}\" }}, sql: \"SELECT * FROM parcels WHERE id = :{name}\" }}
"
        );
        let list = "-- some (1/s)\nSELECT * FROM parcels WHERE id IN (:a, :b, :c, :d);";
        let found = priced(COPIED, &mapping, list);
        let served = found.reads[0].served.as_ref();
        assert_eq!(served.map(|served| served.requests), Some(4), "{name}");
    }
}

#[test]
fn a_read_that_is_not_served_has_a_reason() {
    let mapping = "items:
  ZONE: { from: zones, key: { PK: \"Z#{id}\", SK: A } }
access_patterns:
  zone: { items: [ZONE], key: { PK: \"Z#{z}\" }, sql: \"SELECT id, name FROM zones WHERE id = :z\" }
";
    let why_not = |mapping: &str, read: &str| {
        let found = priced(COPIED, mapping, &format!("-- {read};"));
        assert_eq!(
            found.reads[0].served.is_some(),
            found.reads[0].why_not.is_none()
        );
        found.reads[0].why_not.clone().unwrap_or_default()
    };
    let why = |read: &str| why_not(mapping, read);
    let plain = "zone (1/s)\nSELECT id, name FROM zones WHERE id = :z";
    assert_eq!(why(plain), "");
    let open = mapping.replace("id = :z", "id = :z AND status <> 'shut'");
    assert_eq!(
        why_not(&open, plain),
        "the SQL of its access pattern has a condition on zones.status that the statement does not have"
    );
    for (read, reason) in [
        (
            "other (1/s)\nSELECT id FROM zones WHERE id = :z",
            "no access pattern has its name",
        ),
        (
            "zone (1/s)\nSELECT id FROM parcels WHERE id = :z",
            "the access pattern of its name reads other tables",
        ),
        (
            "zone (1/s)\nSELECT z.id, z.name, p.id AS parcel FROM zones z LEFT JOIN parcels p ON p.zone_id = z.id WHERE z.id = :z",
            "the SQL of its access pattern does not read parcels",
        ),
        (
            "zone (1/s)\nSELECT z.id, r.name FROM zones z JOIN regions r ON r.id = z.region_id WHERE z.id = :z",
            "the SQL of its access pattern does not select regions.name",
        ),
        (
            "zone (1/s)\nSELECT id FROM zones WHERE id = :z AND status = 'open'",
            "the SQL of its access pattern does not compare zones.status",
        ),
        // The application sees the name in the answer.
        (
            "zone (1/s)\nSELECT id FROM zones WHERE id = :z AND name = 'here'",
            "",
        ),
        (
            "zone (1/s)\nSELECT id FROM zones WHERE name = :n",
            "the SQL of its access pattern has a condition on zones.id that the statement does not have",
        ),
        (
            "zone (1/s)\nSELECT id, colour FROM zones WHERE id = :z",
            "it names the column `colour`, which none of its tables declares",
        ),
    ] {
        assert_eq!(why(read), reason, "{read}");
    }
}

#[test]
fn an_access_pattern_serves_no_read_of_a_table_in_a_subquery_that_it_does_not_read() {
    let why = |own: &str, read: &str| {
        let mapping = format!(
            "items:
  ZONE: {{ from: zones, key: {{ PK: \"Z#{{id}}\", SK: A }} }}
access_patterns:
  zone: {{ items: [ZONE], key: {{ PK: \"Z#{{z}}\" }}{own} }}
"
        );
        let found = priced(COPIED, &mapping, &format!("-- zone (1/s)\n{read};"));
        assert_eq!(
            found.reads[0].served.is_some(),
            found.reads[0].why_not.is_none()
        );
        found.reads[0].why_not.clone().unwrap_or_default()
    };
    let sql = |sql: &str| format!(", sql: \"{sql}\"");
    let plain = sql("SELECT id, name FROM zones WHERE id = :z");
    let exists = "SELECT id, name FROM zones z WHERE z.id = :z AND EXISTS (SELECT 1 FROM parcels p WHERE p.zone_id = z.id)";
    let by_driver = exists.replace(":z ", "$1 ");
    for read in [
        exists,
        by_driver.as_str(),
        "SELECT id, name, (SELECT count(*) FROM parcels p WHERE p.zone_id = z.id) AS parcels FROM zones z WHERE z.id = :z",
        "SELECT id, name FROM zones WHERE id IN (SELECT zone_id FROM parcels WHERE id = :z)",
        "SELECT id, name FROM zones WHERE id = :z UNION SELECT id, state FROM parcels WHERE id = :z",
        "SELECT x.id FROM (SELECT id FROM parcels WHERE id = :z) x",
        "WITH x AS (SELECT id FROM parcels WHERE id = :z) SELECT id FROM x",
        // Not in a subquery, but not understood.
        "SELECT z.id FROM zones z JOIN parcels p ON p.zone_id <> z.id WHERE z.id = :z",
    ] {
        let reason = "the SQL of its access pattern does not read parcels";
        assert_eq!(why(&plain, read), reason, "{read}");
    }
    assert_eq!(
        why("", exists),
        "its access pattern has no SQL that reads parcels"
    );
    assert_eq!(why(&sql(exists), exists), "");
    // Within its own table.
    let last = "SELECT id, name FROM zones WHERE id = :z AND id = (SELECT max(id) FROM zones)";
    for own in [plain.as_str(), ""] {
        assert_eq!(why(own, last), "");
    }
    let no_id = "its key asks for zones.id, which the read does not give";
    // Without SQL the items say which tables are read.
    for (read, reason) in [
        (
            "SELECT id FROM zones WHERE id = :z UNION ALL SELECT id FROM zones WHERE id = :z2 AND name = :z",
            "",
        ),
        // What is not understood has the values of the key all the same.
        (
            "SELECT id FROM zones WHERE id = :z UNION ALL SELECT id FROM zones WHERE name = :z",
            no_id,
        ),
        (
            "SELECT id FROM zones WHERE name LIKE '%' || :n || '%'",
            no_id,
        ),
        ("SELECT id FROM zones WHERE id = :z OR name = :n", no_id),
        (
            "SELECT id FROM zones WHERE id IN (:a, :b) AND name LIKE '%' || :n || '%'",
            "",
        ),
        (
            "WITH x AS (SELECT id FROM zones WHERE id = :z) SELECT id FROM x",
            "",
        ),
        (
            "SELECT id FROM parcels WHERE id = :z",
            "the access pattern of its name reads other tables",
        ),
        (
            "SELECT z.id, r.name FROM zones z JOIN regions r ON r.id = z.region_id WHERE z.id = :z",
            "its access pattern has no SQL that reads regions",
        ),
        (
            "SELECT z.id, p.id AS parcel FROM zones z LEFT JOIN parcels p ON p.zone_id = z.id WHERE z.id = :z",
            "its access pattern has no SQL that reads parcels",
        ),
    ] {
        assert_eq!(why("", read), reason, "{read}");
    }
    for (beside, verb) in [
        ("AND r.name > 'a'", "read regions"),
        ("ORDER BY r.name", "select regions.name"),
    ] {
        let read = format!(
            "SELECT z.id FROM zones z JOIN regions r ON r.id = z.region_id WHERE z.id = :z {beside}"
        );
        let reason = "its access pattern has no SQL that reads regions";
        assert_eq!(why("", &read), reason, "{read}");
        let reason = format!("the SQL of its access pattern does not {verb}");
        assert_eq!(why(&plain, &read), reason, "{read}");
    }
    // Without a FROM of its own.
    let is_there = "SELECT EXISTS (SELECT 1 FROM zones WHERE id = :z)";
    for own in [plain.as_str(), "", &sql(is_there)] {
        assert_eq!(why(own, is_there), "");
    }
}

#[test]
fn items_are_made_of_the_tables_that_they_join_and_ask() {
    let why = |item: &str| {
        let mapping = format!(
            "items:
  PARCEL:
    from: parcels
    key: {{ PK: \"P#{{id}}\", SK: A }}
{item}
access_patterns:
  parcel: {{ items: [PARCEL], key: {{ PK: \"P#{{p}}\" }} }}
"
        );
        let sql = "-- parcel (1/s)\nSELECT id FROM parcels WHERE id = :p AND zone_id IN (SELECT id FROM zones);";
        let found = priced(COPIED, &mapping, sql);
        found.reads[0].why_not.clone().unwrap_or_default()
    };
    let reason = "its access pattern has no SQL that reads zones";
    assert_eq!(why("    columns: [state]"), reason);
    assert_eq!(
        why("    join: { z: zone_id }\n    attributes: { zone: \"{z.name}\" }"),
        ""
    );
    // Another item type of one scan.
    assert_eq!(
        why("    columns: [state]
  OTHER:
    from: parcels
    join: { z: zone_id }
    key: { PK: \"O#{id}\", SK: A }
    attributes: { zone: \"{z.name}\" }"),
        reason
    );
    assert_eq!(why("    where: \"zone_id IN (SELECT id FROM zones)\""), "");
}

#[test]
fn an_index_serves_what_it_holds() {
    let why = |project: &str, attributes: &str, read: &str| {
        let table = TABLE.replace("project: keys", project);
        let mapping = format!(
            "{table}items:
  PARCEL:
    from: parcels
    key: {{ PK: \"P#{{id}}\", SK: P }}
    attributes: {{ {attributes} }}
access_patterns:
  inZone: {{ items: [PARCEL], index: GSI1, key: {{ GSI1PK: \"Z#{{z}}\" }} }}
"
        );
        let sql = format!("-- inZone (1/s)\nSELECT {read};");
        let fetched = mapping.replace("index: GSI1,", "index: GSI1, fetch: true,");
        let of = |text: &str| {
            priced_text(PARCELS, text, &sql, &[]).reads[0]
                .why_not
                .clone()
        };
        // An entry that is not there has no item.
        let is_left_out = attributes.contains("$when") && !read.contains("weight =");
        let left_out = is_left_out.then(|| LEFT_OUT.to_owned());
        assert_eq!(of(&fetched), left_out, "{read}");
        of(&mapping).unwrap_or_default()
    };
    let (keys, status) = ("project: keys", "project: [status]");
    let plain = "GSI1PK: \"Z#{zone_id}\", GSI1SK: \"W#{weight | pad(9)}\"";
    let sparse = "GSI1PK: { $value: \"Z#{zone_id}\", $when: \"weight = 5\" }, GSI1SK: \"B#{body}\"";
    let body = "the index GSI1 does not hold parcels.body";
    let of_status = "the index GSI1 does not hold parcels.status";
    let in_zone = "id FROM parcels WHERE zone_id = :z";
    for (project, attributes, read, reason) in [
        (keys, plain, format!("zone_id, weight, {in_zone}"), ""),
        (keys, plain, format!("body, {in_zone}"), body),
        (status, plain, format!("body, {in_zone}"), body),
        (keys, plain, format!("{in_zone} ORDER BY body"), body),
        (keys, plain, format!("{in_zone} AND status = :s"), of_status),
        (status, plain, format!("{in_zone} AND status = :s"), ""),
        // The condition decides which rows are there.
        (keys, sparse, format!("{in_zone} AND weight = 5"), ""),
        (
            keys,
            sparse,
            format!("weight, {in_zone}"),
            "the index GSI1 does not hold parcels.weight",
        ),
    ] {
        let found = why(project, attributes, &read);
        assert_eq!(found, reason, "{project} {attributes} {read}");
    }
}

#[test]
fn a_read_needs_more_of_a_parent_than_its_key() {
    let why = |item: &str, read: &str| {
        let mapping = format!(
            "items:
  ITEM: {{ {item} }}
access_patterns:
  one: {{ items: [ITEM], key: {{ PK: \"I#{{i}}\" }} }}
"
        );
        let found = priced(COPIED, &mapping, &format!("-- one (1/s)\nSELECT {read};"));
        found.reads[0].why_not.clone().unwrap_or_default()
    };
    let zone = "from: zones, key: { PK: \"I#{id}\", SK: A }";
    let of_region = "z.id FROM zones z JOIN regions r ON r.id = z.region_id WHERE z.id = :i AND";
    let regions = "its access pattern has no SQL that reads regions";
    for (condition, reason) in [
        ("r.name = :n", regions),
        ("r.name = 'here'", regions),
        ("r.id > 5", ""),
    ] {
        let read = format!("{of_region} {condition}");
        assert_eq!(why(zone, &read), reason, "{read}");
    }
    let parcel = "from: parcels, key: { PK: \"I#{id}\", SK: A }";
    // The key of the region is the reference of the zone.
    let copied = format!(
        "{parcel}, join: {{ z: zone_id, r: z.region_id }}, attributes: {{ region: \"{{r.id}}\" }}"
    );
    let read = "p.id, r.id AS region FROM parcels p JOIN zones z ON z.id = p.zone_id JOIN regions r ON r.id = z.region_id WHERE p.id = :i";
    assert_eq!(why(&copied, read), "");
    let spread = format!(
        "{parcel}, columns: [state], join: {{ n: {{ table: notes, match: {{ parcel_id: id }} }} }}, attributes: {{ $spread: \"n.body | json\" }}"
    );
    let read =
        "p.id, n.body FROM parcels p LEFT JOIN notes n ON n.parcel_id = p.id WHERE p.id = :i";
    assert_eq!(why(&spread, read), "");
    // The rows of one table that are in the items of another.
    let of_note = "body FROM notes WHERE parcel_id = :i";
    assert_eq!(why(&spread, of_note), "");
    let few = format!("{parcel}, columns: [state]");
    let read = "id, before_id FROM parcels WHERE id = :i";
    let reason = "its items do not hold parcels.before_id";
    assert_eq!(why(&few, read), reason);
}

const LEFT_OUT: &str = "the `where`, `explode` or `expired` of its items, or the condition of its index, may leave out rows that it asks for";

/// Why an access pattern `one` with these items and fields serves no read of that name; nothing if it does.
fn why_not(tables: &str, items: &str, pattern: &str, read: &str) -> String {
    let mapping = format!(
        "items:\n{items}\naccess_patterns:\n  one: {{ key: {{ PK: \"I#{{i}}\" }}, {pattern} }}\n"
    );
    let found = priced(tables, &mapping, &format!("-- one (1/s)\nSELECT {read};"));
    found.reads[0].why_not.clone().unwrap_or_default()
}

#[test]
fn a_parent_is_held_by_the_way_that_leads_to_it() {
    let tables = "payers 10: id, name text
        orders 100: id, payer_id @payers distinct=10, billed_id @payers distinct=10";
    let item = "  ORDER: { from: orders, key: { PK: \"I#{id}\", SK: A }, join: { p: billed_id }, attributes: { payer: \"{p.name}\" } }";
    let why = |way: &str| {
        let read =
            format!("o.id, p.name FROM orders o JOIN payers p ON p.id = o.{way} WHERE o.id = :i");
        why_not(tables, item, "items: [ORDER]", &read)
    };
    assert_eq!(why("billed_id"), "");
    assert_eq!(
        why("payer_id"),
        "its items do not hold payers.name by payer_id"
    );
}

#[test]
fn a_parent_is_beside_its_rows_where_each_value_of_the_key_is_that_of_both() {
    let tables = "zones 10: id, name text
        parcels 100: id, zone_id @zones distinct=10";
    let why = |zone: &str| {
        let items = format!(
            "  ZONE: {{ from: zones, key: {{ PK: \"{zone}\", SK: \"Z#{{id}}\" }}, columns: [name] }}
  PARCEL: {{ from: parcels, key: {{ PK: \"I#{{zone_id}}\", SK: \"P#{{id}}\" }} }}"
        );
        let read =
            "p.id, z.name FROM parcels p JOIN zones z ON z.id = p.zone_id WHERE p.zone_id = :i";
        why_not(tables, &items, "items: [ZONE, PARCEL]", read)
    };
    assert_eq!(why("I#{id}"), "");
    // The key of one zone is that of all.
    assert_eq!(why("I#7"), "its items do not hold zones.name by zone_id");
}

#[test]
fn an_embed_holds_the_columns_that_it_has() {
    let item = "  PARCEL: { from: parcels, key: { PK: \"I#{id}\", SK: A }, attributes: { labels: { $embed: labels, $each: \"{id}\" } } }";
    let why = |column: &str| {
        let read = format!(
            "p.id, l.{column} AS label FROM parcels p LEFT JOIN labels l ON l.parcel_id = p.id WHERE p.id = :i"
        );
        why_not(COPIED, item, "items: [PARCEL]", &read)
    };
    assert_eq!(why("id"), "");
    assert_eq!(why("is_lost"), "its items do not hold labels.is_lost");
}

#[test]
fn a_where_decides_about_the_items_of_its_own_type() {
    let why = |own: &str, other: &str, read: &str| {
        let items = format!(
            "  PARCEL: {{ from: parcels, key: {{ PK: \"I#{{id}}\", SK: A }}, columns: [zone_id]{own} }}
  OTHER: {{ from: parcels, key: {{ PK: \"O#{{id}}\", SK: A }}{other} }}"
        );
        let read = format!("{read} FROM parcels WHERE id = :i AND state = 'in'");
        why_not(COPIED, &items, "items: [PARCEL]", &read)
    };
    let (is_in, is_out) = (", where: \"state = 'in'\"", ", where: \"state = 'out'\"");
    let state = "its items do not hold parcels.state";
    assert_eq!(why("", is_in, "id"), state);
    assert_eq!(why(is_in, "", "id"), "");
    // All of them have one value.
    assert_eq!(why(is_in, "", "id, state"), "");
    let others = ", where: \"state <> 'out'\"";
    assert_eq!(why(others, "", "id, state"), state);
    assert_eq!(why(is_out, is_in, "id"), LEFT_OUT);
}

#[test]
fn a_filter_that_loses_something_holds_no_whole_value() {
    let why = |value: &str, read: &str| {
        let item = format!(
            "  PARCEL: {{ from: parcels, key: {{ PK: \"I#{{id}}\", SK: A }}, columns: [zone_id], attributes: {{ made: \"S#{{{value}}}\" }} }}"
        );
        let read = format!("{read} FROM parcels WHERE id = :i");
        why_not(COPIED, &item, "items: [PARCEL]", &read)
    };
    let state = "its items do not hold parcels.state";
    assert_eq!(why("state", "id, state"), "");
    assert_eq!(why("state | lower", "id, state"), state);
    assert_eq!(why("state | truncate(2)", "id, state"), state);
    assert_eq!(why("before_id | pad(9)", "id, before_id"), "");
}

#[test]
fn a_read_has_the_conditions_of_the_sql_that_serves_it() {
    let why = |own: &str, read: &str| {
        let item = "  ZONE: { from: zones, key: { PK: \"I#{id}\", SK: A } }";
        let own =
            format!("items: [ZONE], sql: \"SELECT id, region_id, status FROM zones WHERE {own}\"");
        why_not(COPIED, item, &own, &format!("id FROM zones WHERE {read}"))
    };
    let status = "the SQL of its access pattern has a condition on zones.status that the statement does not have";
    let open = "id = :i AND status = 'open'";
    let not_shut = "id = :i AND status <> 'shut'";
    for (own, read, reason) in [
        (open, open, ""),
        (open, "id = :i AND status = 'shut'", status),
        (open, "id = :i AND status IN ('open', 'shut')", status),
        (open, "id = :i AND status = :s", status),
        (not_shut, not_shut, ""),
        (not_shut, open, ""),
        (not_shut, "id = :i AND status = 'shut'", status),
        // One value does not serve a range.
        (
            "id = :i",
            "region_id = :r AND id >= :i",
            "the SQL of its access pattern has a condition on zones.id that the statement does not have",
        ),
        ("id = :i", "id IN (:a, :b)", ""),
    ] {
        assert_eq!(why(own, read), reason, "{own}: {read}");
    }
}

#[test]
fn literals_without_parameters_are_examples() {
    let item = "  PARCEL: { from: parcels, key: { PK: \"I#{id}\", SK: A } }";
    let own =
        "items: [PARCEL], sql: \"SELECT id, state FROM parcels WHERE id = :i AND state = 'in'\"";
    let why = |read: &str| why_not(COPIED, item, own, &format!("id FROM parcels WHERE {read}"));
    let state = "the SQL of its access pattern has a condition on parcels.state that the statement does not have";
    assert_eq!(why("id = 5 AND state = 'out'"), state);
    assert_eq!(
        why("id = 5 AND state = 'in'"),
        "without parameters, the literals of the statement count as examples, and meet no condition of its access pattern"
    );
    for read in ["id = :p AND state = 'in'", "id = $1 AND state = 'in'"] {
        assert_eq!(why(read), "", "{read}");
    }
}

#[test]
fn a_limit_cuts_no_rows_of_a_unique_key() {
    let why = |column: &str| {
        let tables = "orgs 100: id, slug unique, kind, state text";
        let item =
            format!("  ORG: {{ from: orgs, key: {{ PK: \"I#{{{column}}}\", SK: \"A#{{id}}\" }} }}");
        let own = format!(
            "items: [ORG], sql: \"SELECT id, state FROM orgs WHERE {column} = :i LIMIT 1\""
        );
        let read = format!("id FROM orgs WHERE {column} = :i AND state = 'open'");
        why_not(tables, &item, &own, &read)
    };
    assert_eq!(why("slug"), "");
    assert_eq!(
        why("kind"),
        "the SQL of its access pattern does not compare orgs.state"
    );
}

#[test]
fn a_column_is_held_by_the_joins_of_its_own_item_type() {
    let why = |of: &str, read: &str| {
        let key = |name: &str| {
            let begin = if name == of { "I" } else { "O" };
            format!("from: parcels, key: {{ PK: \"{begin}#{{id}}\", SK: A }}, columns: [state]")
        };
        let note = "join: { n: { table: notes, match: { parcel_id: id } } }, attributes: { note: \"{n.body}\" }";
        let (parcel, log) = (key("PARCEL"), key("LOG"));
        let items = format!("  PARCEL: {{ {parcel} }}\n  LOG: {{ {log}, {note} }}");
        why_not(COPIED, &items, &format!("items: [{of}]"), read)
    };
    let is_there = "id, state FROM parcels p WHERE id = :i AND EXISTS (SELECT 1 FROM notes n WHERE n.parcel_id = p.id)";
    assert_eq!(
        why("PARCEL", is_there),
        "its access pattern has no SQL that reads notes"
    );
    let of_note = "parcel_id FROM notes WHERE parcel_id = :i";
    assert_eq!(
        why("PARCEL", of_note),
        "the access pattern of its name reads other tables"
    );
    // Every note stands in the item of its parcel.
    assert_eq!(why("LOG", of_note), "");
    // A parcel may be without a note.
    let beside = "p.id, n.parcel_id AS note FROM parcels p LEFT JOIN notes n ON n.parcel_id = p.id WHERE p.id = :i";
    assert_eq!(
        why("LOG", beside),
        "its items do not hold notes.parcel_id by id"
    );
}

#[test]
fn a_condition_without_a_filter_leaves_rows_out_too() {
    let why = |tables: &str, own: &str, read: &str| {
        let item = "  ZONE: { from: zones, key: { PK: \"I#{id}\", SK: A } }";
        let own = format!("items: [ZONE], sql: \"SELECT * FROM zones WHERE id = :i{own}\"");
        let read = format!("id FROM zones WHERE id = :i{read}");
        why_not(tables, item, &own, &read)
    };
    let has = |condition: &str| {
        format!(
            "the SQL of its access pattern has a condition {condition} that the statement does not have"
        )
    };
    for own in ["lower(status) <> 'shut'", "status > 'm'"] {
        let and = format!(" AND {own}");
        assert_eq!(why(COPIED, &and, ""), has(&format!("`{own}`")));
        // In another order.
        let own = format!("{and} AND region_id = 5");
        assert_eq!(why(COPIED, &own, &format!(" AND region_id = 5{and}")), "");
    }
    let above = |read: &str| {
        let item = "  ZONE: { from: zones, key: { PK: \"I#{id}\", SK: A } }";
        let own = "items: [ZONE], filter: \"region_id > :r\", sql: \"SELECT * FROM zones WHERE id = :i AND region_id > :r\"";
        why_not(
            COPIED,
            item,
            own,
            &format!("id FROM zones WHERE id = :i{read}"),
        )
    };
    assert_eq!(above(""), has("on zones.region_id"));
    assert_eq!(above(" AND region_id >= :r"), "");
    let insensitive = COPIED.replace("status text", "status text ci");
    let not_shut = " AND status <> 'shut'";
    assert_eq!(why(&insensitive, not_shut, ""), has("`status <> 'shut'`"));
    let either = why(COPIED, " AND (status = 'open' OR name = 'here')", "");
    assert!(
        either.starts_with("the SQL of its access pattern, which is not its own, has an OR"),
        "{either}"
    );
}

#[test]
fn a_greatest_value_is_none_of_the_rows_without_one() {
    let why = |null: &str| {
        let tables = format!("bids 100: id, lot distinct=10, price{null}");
        let item = "  BID: { from: bids, key: { PK: \"I#{lot}\", SK: \"{price | pad(9)}#{id}\" } }";
        let own = "items: [BID], sql: \"SELECT max(price) FROM bids WHERE lot = :i\"";
        let read = "id, price FROM bids WHERE lot = :i ORDER BY price DESC LIMIT 1";
        why_not(&tables, item, own, read)
    };
    assert_eq!(why(""), "");
    // PostgreSQL sorts NULL before all others.
    assert_eq!(
        why(" null"),
        "the SQL of its access pattern leaves out rows without bids.price, which the statement does not"
    );
}

#[test]
fn sql_that_cuts_or_computes_serves_no_read_of_more_rows() {
    let tables = "bids 100: id, lot distinct=10, price";
    let item = "  BID: { from: bids, key: { PK: \"I#{lot}\", SK: \"{price | pad(9)}#{id}\" } }";
    let fewer = "the SQL of its access pattern may return fewer rows";
    let sorted = "id, price FROM bids WHERE lot = :i ORDER BY price DESC";
    let all = "id, price FROM bids WHERE lot = :i";
    let least = "id, price FROM bids WHERE lot = :i ORDER BY price";
    let of = |sql: &str, clause: &str| format!("{sql} {clause}");
    for (own, read, reason) in [
        (of(sorted, "LIMIT 1"), of(sorted, ""), fewer),
        (of(sorted, "LIMIT 1"), of(least, ""), fewer),
        (of(sorted, "LIMIT 5"), of(least, "LIMIT 5"), fewer),
        (of(sorted, "LIMIT 5"), of(sorted, "LIMIT 6"), fewer),
        (of(sorted, "LIMIT 5"), of(sorted, "LIMIT :n"), fewer),
        // The second page starts after the first one.
        (of(sorted, "LIMIT 5"), of(sorted, "LIMIT 5 OFFSET 5"), ""),
        (of(sorted, "LIMIT 5"), of(sorted, "LIMIT 4 OFFSET :o"), ""),
        (of(sorted, "LIMIT 5"), of(sorted, "LIMIT 6 OFFSET 5"), fewer),
        (of(sorted, "LIMIT 5"), of(sorted, "OFFSET 5"), fewer),
        (of(sorted, "LIMIT 5"), of(least, "LIMIT 5 OFFSET 5"), fewer),
        (of(sorted, "LIMIT 5 OFFSET 5"), of(sorted, "LIMIT 5"), fewer),
        (of(all, "LIMIT 5"), of(sorted, "LIMIT 5"), fewer),
        (of(sorted, "LIMIT 5"), of(sorted, "LIMIT 4"), ""),
        (of(sorted, "LIMIT 5"), of(all, "LIMIT 5"), ""),
        (of(sorted, ", id LIMIT 5"), of(sorted, "LIMIT 5"), ""),
        (
            of(sorted, "LIMIT 1"),
            "max(price) FROM bids WHERE lot = :i".into(),
            "",
        ),
        (
            of(least, "LIMIT 1"),
            "max(price) FROM bids WHERE lot = :i".into(),
            fewer,
        ),
        (
            "max(price) FROM bids WHERE lot = :i".into(),
            of(all, ""),
            fewer,
        ),
        (
            "count(*) FROM bids WHERE lot = :i".into(),
            of(all, ""),
            fewer,
        ),
        (
            "count(*) FROM bids WHERE lot = :i".into(),
            "count(*) FROM bids WHERE lot = :lot".into(),
            "",
        ),
        (of(sorted, ""), of(sorted, "LIMIT 5"), ""),
    ] {
        let pattern = format!("items: [BID], sql: \"SELECT {own}\"");
        assert_eq!(
            why_not(tables, item, &pattern, &read),
            reason,
            "{own}: {read}"
        );
    }
}

const BIDS: &str = "bids 100: id, lot distinct=10, price, state text distinct=4";
const BID: &str = "  BID: { from: bids, key: { PK: \"I#{lot}\", SK: \"{price | pad(9)}#{id}\" } }";

/// Compares why an access pattern with the first SQL does not serve the second; nothing if it does.
fn assert_of_bids(cases: &[(String, String, &str)]) {
    for (own, read, reason) in cases {
        let pattern = format!("items: [BID], sql: \"SELECT {own}\"");
        let found = why_not(BIDS, BID, &pattern, read);
        assert_eq!(found, *reason, "{own}: {read}");
    }
}

const FEWER: &str = "the SQL of its access pattern may return fewer rows";

/// What a read selects of the bids of a lot, and what it says behind its WHERE.
fn bids(selected: &str, clauses: &str) -> String {
    format!("{selected} FROM bids WHERE lot = :i {clauses}")
}

#[test]
fn a_greatest_value_is_not_the_least_one() {
    let greatest = bids("max(price)", "");
    assert_of_bids(&[
        (greatest.clone(), bids("min(price)", ""), FEWER),
        (bids("min(price)", ""), greatest.clone(), FEWER),
        (bids("id", "LIMIT 1"), greatest.clone(), FEWER),
        (greatest.clone(), greatest.replace(":i", ":lot"), ""),
        (
            greatest,
            bids("id, price", "ORDER BY price DESC LIMIT 1"),
            "",
        ),
    ]);
}

#[test]
fn rows_behind_a_limit_are_merged_and_compared_before_it() {
    let sorted = |clauses: &str| bids("id, price", &format!("{clauses} ORDER BY price DESC"));
    let five = sorted("") + " LIMIT 5";
    let below = sorted("AND price < :p") + " LIMIT 5";
    let price = "the SQL of its access pattern does not compare bids.price";
    assert_of_bids(&[
        (five.clone(), bids("count(*)", "LIMIT 1"), FEWER),
        (five.clone(), bids("DISTINCT state", "LIMIT 5"), FEWER),
        (sorted(""), bids("count(*)", "LIMIT 1"), ""),
        // The greatest of all are not the greatest below another.
        (five, below.clone(), price),
        (sorted(""), below, ""),
    ]);
}

#[test]
fn merged_rows_serve_only_a_read_that_merges_the_same() {
    let counts = |clauses: &str| bids("state, count(*) AS n", clauses);
    let of_states = "GROUP BY state";
    let grouped = counts(of_states);
    let most = counts("GROUP BY state ORDER BY n DESC LIMIT 3");
    let often = counts("GROUP BY state HAVING count(*) > 5");
    let all = bids("count(*)", "");
    let sum = bids("sum(price)", "");
    let states = bids("DISTINCT state", "");
    let lacks =
        |column: &str| format!("the SQL of its access pattern does not compare bids.{column}");
    let (price, id) = (lacks("price"), lacks("id"));
    assert_of_bids(&[
        (often, grouped.clone(), FEWER),
        (most.clone(), grouped.clone(), FEWER),
        (all.clone(), bids("count(*)", of_states), FEWER),
        (sum, bids("sum(price)", "AND price > :p"), price.as_str()),
        (
            bids("sum(price * 2)", ""),
            bids("sum(price * 3)", ""),
            FEWER,
        ),
        (states.clone(), bids("id, price", ""), FEWER),
        (
            states.clone(),
            bids("DISTINCT state", "AND id = :b"),
            id.as_str(),
        ),
        // What is not in the result cannot be left out or sorted by.
        (
            grouped.clone(),
            counts("GROUP BY state HAVING sum(price) > 5"),
            FEWER,
        ),
        (
            grouped.clone(),
            counts("GROUP BY state ORDER BY sum(price) LIMIT 3"),
            FEWER,
        ),
        (grouped.clone(), most.clone(), ""),
        (most.clone(), most.replace(":i", ":lot"), ""),
        // A column that is held to one value tells no groups apart.
        (counts("GROUP BY lot, state"), grouped.clone(), ""),
        (
            bids("lot, state, count(*) AS n", "GROUP BY lot, state"),
            grouped.clone(),
            "",
        ),
        (bids("DISTINCT lot, state", ""), states.clone(), ""),
        (counts("GROUP BY price, state"), grouped.clone(), FEWER),
        // Of a lot without bids there is one row of no figures without GROUP BY, and none with it.
        (bids("count(*)", "GROUP BY lot"), all.clone(), ""),
        (all.clone(), bids("count(*)", "GROUP BY lot"), ""),
        (grouped.clone(), grouped.replace(":i", ":lot"), ""),
        (states.clone(), states.replace(":i", ":lot"), ""),
        (bids("count(*) AS n", ""), all.clone(), ""),
        // What is computed of a figure is not the figure.
        (bids("count(*) > 0", ""), all.clone(), FEWER),
        (all.clone(), bids("count(*) > 0", ""), FEWER),
        (all, bids("COUNT(*)", ""), ""),
        (
            bids("sum(price * 2)", ""),
            "sum(price * 2) FROM bids WHERE lot = :lot".to_owned(),
            "",
        ),
        (
            bids("sum(bids.price * 2)", ""),
            "sum(b.price * 2) FROM bids b WHERE lot = :i".to_owned(),
            "",
        ),
        (bids("stddev_pop(price)", ""), bids("id, price", ""), FEWER),
        (
            bids("id, price", "ORDER BY id LIMIT 5"),
            bids("bool_or(price > 5)", "LIMIT 5"),
            FEWER,
        ),
    ]);
}

#[test]
fn merged_rows_are_the_same_whatever_the_tables_are_called() {
    let called = |selected: &str, clauses: &str| {
        format!("{selected} FROM bids b WHERE b.lot = :i {clauses}")
    };
    assert_of_bids(&[
        (
            bids("state, count(*)", "GROUP BY state"),
            called("b.state, count(*)", "GROUP BY b.state"),
            "",
        ),
        (
            bids("state, count(*)", "GROUP BY state ORDER BY state LIMIT 3"),
            called(
                "b.state, count(*)",
                "GROUP BY b.state ORDER BY b.state LIMIT 3",
            ),
            "",
        ),
        (
            bids("DISTINCT state", ""),
            called("DISTINCT b.state", ""),
            "",
        ),
        (
            bids("DISTINCT state", ""),
            called("DISTINCT b.price", ""),
            FEWER,
        ),
    ]);
}

#[test]
fn distinct_merges_no_rows_with_their_key() {
    let sorted = "ORDER BY price DESC LIMIT 5";
    assert_of_bids(&[
        (
            bids("id, price", sorted),
            bids("DISTINCT id, price", sorted),
            "",
        ),
        (
            bids("DISTINCT id, price", ""),
            bids("price", "AND price > 5"),
            "",
        ),
        (
            bids("id, price", sorted),
            bids("DISTINCT price", sorted),
            FEWER,
        ),
    ]);
}

#[test]
fn rows_that_are_cut_or_merged_are_those_of_the_same_conditions() {
    let other =
        "the SQL of its access pattern has other conditions, by which it cuts or merges rows";
    let why = |filter: &str, own: &str, read: &str| {
        let pattern = format!("items: [BID], filter: \"{filter}\", sql: \"SELECT {own}\"");
        why_not(BIDS, BID, &pattern, read)
    };
    let five = |clause: &str| bids("id, price", &format!("AND {clause} ORDER BY id LIMIT 5"));
    let count = |clause: &str| bids("count(*)", &format!("AND {clause}"));
    for (own, read, reason) in [
        ("price > :p", "price < :p", other),
        ("price > :p", "price >= :p", other),
        ("price > :p", "price > :low", ""),
        ("state <> :s", "state = :s", other),
        ("state = :s", "state = :t", ""),
    ] {
        for sql in [five(own), count(own)] {
            let asked = sql.replace(own, read);
            assert_eq!(why(own, &sql, &asked), reason, "{sql}: {asked}");
        }
    }
    // The figures of two lots are not those of one.
    let lots = "count(*) FROM bids WHERE lot IN (:a, :b)".to_owned();
    assert_of_bids(&[(bids("count(*)", ""), lots, other)]);
    let items = "  ZONE: { from: zones, key: { PK: \"I#{id}\", SK: A } }
  PARCEL: { from: parcels, key: { PK: \"I#{zone_id}\", SK: \"P#{id}\" } }";
    let why = |selected: &str, condition: &str, clauses: &str| {
        let sql = |condition: &str| {
            format!(
                "{selected} FROM zones z JOIN parcels p ON p.zone_id = z.id WHERE z.id = :i{condition}{clauses}"
            )
        };
        let own = format!("items: [ZONE, PARCEL], sql: \"SELECT {}\"", sql(""));
        why_not(COPIED, items, &own, &sql(condition))
    };
    let lacks = |column: &str| format!("the SQL of its access pattern does not compare {column}");
    let limit = " ORDER BY p.id LIMIT 5";
    assert_eq!(
        why("p.id, z.name", " AND z.name = :n", limit),
        lacks("zones.name")
    );
    assert_eq!(
        why("DISTINCT z.name, p.state", " AND p.state = :s", ""),
        lacks("parcels.state")
    );
}

#[test]
fn rows_that_are_no_items_are_not_served() {
    let why = |further: &str, read: &str| {
        let item =
            format!("  PARCEL: {{ from: parcels, key: {{ PK: \"I#{{id}}\", SK: A }}{further} }}");
        let read = format!("id FROM parcels WHERE id = :i{read}");
        why_not(COPIED, &item, "items: [PARCEL]", &read)
    };
    let is_in = ", where: \"state = 'in'\"";
    assert_eq!(why(is_in, ""), LEFT_OUT);
    assert_eq!(why(is_in, " AND state = :s"), LEFT_OUT);
    assert_eq!(why(is_in, " AND state = 'in'"), "");
    let is_not_out = ", where: \"state <> 'out'\"";
    assert_eq!(why(is_not_out, " AND state IN ('in', 'on')"), "");
    assert_eq!(why(is_not_out, " AND state IN ('in', 'out')"), LEFT_OUT);
    // NULL meets no comparison.
    let has_before = ", where: \"before_id IS NOT NULL\"";
    assert_eq!(why(has_before, ""), LEFT_OUT);
    assert_eq!(why(has_before, " AND before_id > :b"), "");
    assert_eq!(why(has_before, " AND before_id IS NULL"), LEFT_OUT);
    assert_eq!(why(", where: \"zone_id IS NOT NULL\"", ""), "");
    // Another item type has all rows.
    let all = ", where: \"state = 'in'\" }
  ALL: { from: parcels, key: { PK: \"I#{id}\", SK: B }";
    let item = format!("  PARCEL: {{ from: parcels, key: {{ PK: \"I#{{id}}\", SK: A }}{all} }}");
    let read = "id FROM parcels WHERE id = :i";
    assert_eq!(why_not(COPIED, &item, "items: [PARCEL, ALL]", read), "");
}

#[test]
fn rows_without_a_key_of_the_index_are_not_served() {
    let tables = "zones 10: id
    parcels 10000: id, zone_id @zones distinct=10, shipped null, state text null";
    let why = |key: &str, read: &str| {
        let item = format!(
            "  PARCEL: {{ from: parcels, key: {{ PK: \"P#{{id}}\", SK: A }}, join: {{ z: zone_id }}, attributes: {{ {key} }} }}"
        );
        let mapping = format!(
            "items:\n{item}\naccess_patterns:\n  one: {{ items: [PARCEL], index: GSI1, fetch: true, key: {{ GSI1PK: PARCELS }} }}\n"
        );
        let found = priced(tables, &mapping, &format!("-- one (1/s)\nSELECT {read};"));
        found.reads[0].why_not.clone().unwrap_or_default()
    };
    let shipped = "GSI1PK: PARCELS, GSI1SK: \"S#{shipped | pad(9)}\"";
    let list =
        |condition: &str| format!("id, shipped FROM parcels {condition} ORDER BY shipped LIMIT 10");
    assert_eq!(why(shipped, &list("")), LEFT_OUT);
    assert_eq!(why(shipped, &list("WHERE shipped IS NULL")), LEFT_OUT);
    for condition in [
        "WHERE shipped > :s",
        "WHERE shipped = :s",
        "WHERE shipped IS NOT NULL",
    ] {
        assert_eq!(why(shipped, &list(condition)), "", "{condition}");
    }
    let otherwise = "GSI1PK: PARCELS, GSI1SK: \"S#{state | default('-')}\"";
    assert_eq!(why(otherwise, &list("")), "");
    for id in ["id", "z.id", "zone_id"] {
        let id = format!("GSI1PK: PARCELS, GSI1SK: \"S#{{{id} | pad(9)}}\"");
        assert_eq!(why(&id, "id FROM parcels ORDER BY id LIMIT 10"), "");
    }
}

#[test]
fn rows_of_a_collection_are_read_by_the_key_of_their_parent() {
    let items = "  ZONE: { from: zones, key: { PK: \"I#{id}\", SK: A } }
  PARCEL: { from: parcels, key: { PK: \"I#{zone_id}\", SK: \"P#{id}\" } }";
    let own = "items: [ZONE, PARCEL], sql: \"SELECT z.*, p.* FROM zones z LEFT JOIN parcels p ON p.zone_id = z.id WHERE z.id = :i\"";
    let why = |read: &str| why_not(COPIED, items, own, read);
    let of_zone = "the SQL of its access pattern has a condition on zones.id that the statement does not have";
    assert_eq!(why("id FROM parcels WHERE state = :s"), of_zone);
    assert_eq!(why("id FROM parcels WHERE id = :p"), of_zone);
    assert_eq!(why("id FROM zones WHERE name = :n"), of_zone);
    for read in [
        "id FROM parcels WHERE zone_id = :z",
        "id FROM parcels WHERE zone_id = :z AND state = :s",
        "id FROM parcels WHERE zone_id = 5",
        "p.id FROM parcels p JOIN zones z ON z.id = p.zone_id WHERE z.id = :z",
        "p.id, z.name FROM zones z JOIN parcels p ON p.zone_id = z.id WHERE z.id = :z",
        "name FROM zones WHERE id = :z",
    ] {
        assert_eq!(why(read), "", "{read}");
    }
}

#[test]
fn a_read_gives_the_values_that_a_key_asks_for() {
    let why = |key: &str, further: &str, read: &str| {
        let item =
            format!("  ZONE: {{ from: zones, key: {{ PK: \"I#{{{key}}}\", SK: A }}{further} }}");
        why_not(COPIED, &item, "items: [ZONE]", read)
    };
    let by_name = "id, name FROM zones WHERE name = :n";
    assert_eq!(
        why("id", "", by_name),
        "its key asks for zones.id, which the read does not give"
    );
    assert_ne!(why("id", "", "id FROM zones WHERE id > :a"), "");
    assert_ne!(why("id", "", "id FROM zones"), "");
    assert_ne!(
        why("name", "", "id FROM zones WHERE lower(name) = lower(:n)"),
        ""
    );
    assert_eq!(
        why("id | pad(9)", "", "id FROM zones WHERE id > :a"),
        "its key asks for zones.id, which the read does not give"
    );
    for (key, read) in [
        ("name", by_name),
        ("id | pad(9)", "id FROM zones WHERE id = :a"),
        (
            "name | lower",
            "id FROM zones WHERE lower(name) = lower(:n)",
        ),
        ("id", "id FROM zones WHERE id IN (3, 17)"),
        ("id", "id FROM zones WHERE id IN (:a, :b) AND name = 'here'"),
        ("id", "id FROM zones WHERE id = 5"),
        (
            "region_id",
            "z.id FROM zones z JOIN regions r ON r.id = z.region_id WHERE r.id = :r",
        ),
    ] {
        assert_eq!(why(key, "", read), "", "{key}: {read}");
    }
    let open = ", where: \"status = 'open'\"";
    let read = "id FROM zones WHERE status = 'open'";
    assert_eq!(why("status", open, &format!("{read} AND id = :i")), "");
    let items = "  ZONE: { from: zones, key: { PK: \"I#{id}\", SK: A } }
  PARCEL: { from: parcels, key: { PK: \"I#{zone_id}\", SK: \"P#{id}\" } }";
    let of_zone =
        "z.id, p.id AS parcel FROM zones z LEFT JOIN parcels p ON p.zone_id = z.id WHERE z.";
    let both = |by: &str| {
        why_not(
            COPIED,
            items,
            "items: [ZONE, PARCEL]",
            &format!("{of_zone}{by}"),
        )
    };
    assert_eq!(both("id = :z"), "");
    let of_name = "p.id FROM parcels p JOIN zones z ON z.id = p.zone_id WHERE z.name = :n";
    assert_eq!(
        why_not(COPIED, items, "items: [ZONE, PARCEL]", of_name),
        "its key asks for parcels.zone_id, which the read does not give"
    );
}

#[test]
fn a_read_gives_the_constants_that_a_key_asks_for() {
    let tables = "bids 100: id, lot distinct=10, state text, is_late bool";
    let why = |made: &str, asked: &str, read: &str| {
        let mapping = format!(
            "items:
  BID: {{ from: bids, key: {{ PK: \"B#{{id}}\", SK: A }}, attributes: {{ GSI1PK: BIDS, GSI1SK: \"{made}\" }} }}
access_patterns:
  one: {{ items: [BID], index: GSI1, fetch: true, key: {{ GSI1PK: BIDS, GSI1SK: {asked} }} }}
"
        );
        let sql = format!("-- one (1/s)\nSELECT id FROM bids{read};");
        let found = priced(tables, &mapping, &sql);
        found.reads[0].why_not.clone().unwrap_or_default()
    };
    let state = "its key asks for bids.state, which the read does not give";
    let open = " WHERE lot = :l AND state = 'open'";
    for (made, asked) in [
        ("S#{state}", "\"S#open\""),
        ("S#{state}#{lot}", "\"S#open#{l}\""),
        ("S#{state}#{lot}", "{ begins_with: \"S#open#\" }"),
    ] {
        for read in [
            "",
            " WHERE lot = :l",
            " WHERE lot = :l AND state = :s",
            " WHERE lot = :l AND state = 'shut'",
        ] {
            assert_eq!(why(made, asked, read), state, "{asked} {read}");
        }
        assert_eq!(why(made, asked, open), "", "{asked}");
    }
    // The key has it as its filters make it.
    for (made, asked) in [
        ("S#{state | upper}", "\"S#OPEN\""),
        ("L#{lot | pad(9)}", "\"L#000000005\""),
        ("A#{is_late}", "\"A#true\""),
    ] {
        let and = |condition: &str| format!(" WHERE id > :b AND {condition}");
        let all = and("state = 'open' AND lot = 5 AND is_late = 1");
        let none = and("state = 'shut' AND lot = 6 AND is_late = 0");
        assert_eq!(why(made, asked, &all), "", "{asked}");
        assert_ne!(why(made, asked, &none), "", "{asked}");
    }
}

#[test]
fn a_read_that_skips_rows_is_told_that_the_answer_is_the_first_page() {
    let served = |pattern: &str, read: &str| {
        let mapping = format!(
            "items:
  BID: {{ from: bids, key: {{ PK: \"I#{{lot}}\", SK: \"{{id | pad(9)}}\" }} }}
access_patterns:
  one: {{ items: [BID], key: {{ PK: \"I#{{i}}\" }}{pattern} }}
"
        );
        let tables = "bids 100: id, lot distinct=10";
        let sql = format!("-- one (1/s)\nSELECT id FROM bids WHERE lot = :i ORDER BY id {read};");
        self::read(&priced(tables, &mapping, &sql)).first_page
    };
    let own = |clause: &str| {
        format!(", sql: \"SELECT id, lot FROM bids WHERE lot = :i ORDER BY id {clause}\"")
    };
    assert!(served(&own("LIMIT 5"), "LIMIT 5 OFFSET 5"));
    assert!(served(", limit: 5", "LIMIT 5 OFFSET :o"));
    assert!(!served(&own("LIMIT 5"), "LIMIT 5"));
    // Of all rows the application takes those that it wants.
    assert!(!served(&own(""), "LIMIT 5 OFFSET 5"));
}

#[test]
fn a_limit_or_a_filter_without_sql_leaves_rows_out() {
    let tables = "bids 100: id, lot distinct=10, state text, price";
    let why = |key: &str, pattern: &str, read: &str| {
        let item =
            format!("  BID: {{ from: bids, key: {{ PK: \"I#{{{key}}}\", SK: \"B#{{id}}\" }} }}");
        let pattern = format!("items: [BID], {pattern}");
        let read = format!("id FROM bids WHERE {key} = :i{read}");
        why_not(tables, &item, &pattern, &read)
    };
    let smaller = "its access pattern has a smaller `limit`";
    for (read, reason) in [
        ("", smaller),
        (" LIMIT 6", smaller),
        (" LIMIT 6 OFFSET 3", smaller),
        (" LIMIT 3 OFFSET 3", ""),
        (" LIMIT 5", ""),
    ] {
        assert_eq!(why("lot", "limit: 5", read), reason, "{read}");
    }
    assert_eq!(why("id", "limit: 1", ""), "");
    // The one row that is asked for may be none of the first.
    let one = " AND id = :b";
    let first = "its access pattern has a `limit`, and its items are not known to be the first rows of the read";
    assert_eq!(why("lot", "limit: 5", one), first);
    assert_eq!(why("lot", "limit: 5, filter: \"id = :b\"", one), "");
    let open = "filter: \"state = 'open'\"";
    let state = "its access pattern has a filter on state that the statement does not have";
    for (read, reason) in [
        ("", state),
        (" AND state = :s", state),
        (" AND state = 'shut'", state),
        (" AND state = 'open'", ""),
    ] {
        assert_eq!(why("lot", open, read), reason, "{read}");
    }
    let not_open = "filter: \"state <> 'open'\"";
    for (read, reason) in [
        ("", state),
        (" AND state = :s", state),
        (" AND state = 'open'", state),
        (" AND state = 'shut'", ""),
        (" AND state <> 'open'", ""),
    ] {
        assert_eq!(why("lot", not_open, read), reason, "{read}");
    }
    let given = "filter: \"state = :s\"";
    assert_eq!(why("lot", given, " AND state <> :s"), state);
    assert_eq!(why("lot", given, " AND state = :t"), "");
    assert_eq!(
        why(
            "lot",
            "filter: \"state = 'open' OR price > 5\"",
            " AND state = 'open'"
        ),
        "its access pattern has a filter that is not understood"
    );
    let above = "filter: \"price > :p\"";
    assert_ne!(why("lot", above, ""), "");
    assert_eq!(why("lot", above, " AND price > :p"), "");
}

#[test]
fn a_limit_beside_sql_leaves_rows_out_too() {
    let tables = "bids 100: id, lot distinct=10";
    let item = "  BID: { from: bids, key: { PK: \"I#{lot}\", SK: \"B#{id}\" } }";
    let smaller = "its access pattern has a smaller `limit`";
    for (own, read, reason) in [
        ("", "", smaller),
        ("", " LIMIT 6", smaller),
        ("", " LIMIT 5", ""),
        (" LIMIT 5", " LIMIT 5", ""),
    ] {
        let pattern = format!(
            "items: [BID], limit: 5, sql: \"SELECT id, lot FROM bids WHERE lot = :i{own}\""
        );
        let read = format!("id FROM bids WHERE lot = :i{read}");
        assert_eq!(
            why_not(tables, item, &pattern, &read),
            reason,
            "{own}: {read}"
        );
    }
}

#[test]
fn one_parameter_for_two_columns_serves_a_read_that_gives_them_one_value() {
    let tables = "bids 100: id, lot distinct=10, price";
    let item = "  BID: { from: bids, key: { PK: \"I#{lot}\", SK: \"B#{id}\" } }";
    let columns =
        "compares bids.lot and bids.price with one parameter, which the statement does not";
    for (pattern, reason) in [
        (
            "filter: \"(price = :i)\"",
            format!("its access pattern {columns}"),
        ),
        (
            "sql: \"SELECT id, lot, price FROM bids WHERE lot = :i AND price = :i\"",
            format!("the SQL of its access pattern {columns}"),
        ),
    ] {
        let why = |price: &str| {
            let read = format!("id FROM bids WHERE lot = :i AND price = {price}");
            why_not(tables, item, &format!("items: [BID], {pattern}"), &read)
        };
        assert_eq!(why(":i"), "", "{pattern}");
        assert_eq!(why(":p"), reason, "{pattern}");
    }
}

#[test]
fn rows_without_a_parent_are_told_from_those_with_one() {
    let tables = "payers 10: id, name text null
        orders 100: id, payer_id @payers null distinct=10";
    let why = |columns: &str, own: &str, read: &str| {
        let item = format!(
            "  ORDER: {{ from: orders, key: {{ PK: \"I#{{id}}\", SK: A }}, columns: [{columns}], join: {{ p: payer_id }}, attributes: {{ payer: \"{{p.name}}\" }} }}"
        );
        why_not(tables, &item, &format!("items: [ORDER]{own}"), read)
    };
    let sql = |selected: &str, join: &str| {
        format!(
            "{selected}, p.name FROM orders o {join} payers p ON p.id = o.payer_id WHERE o.id = :i"
        )
    };
    let (inner, outer) = (sql("o.id", "JOIN"), sql("o.id", "LEFT JOIN"));
    let reason = "its items do not hold payers.id by payer_id";
    for (columns, read, reason) in [
        ("id", &inner, reason),
        ("id, payer_id", &inner, ""),
        ("id", &outer, ""),
    ] {
        assert_eq!(why(columns, "", read), reason, "{columns}: {read}");
    }
    let lacks = "the SQL of its access pattern does not select payers.id by payer_id";
    let leaves_out = "the SQL of its access pattern leaves out rows without payers.id, which the statement does not";
    let with_reference = sql("o.id, o.payer_id", "LEFT JOIN");
    for (own, read, reason) in [
        (&outer, &inner, lacks),
        (&with_reference, &inner, ""),
        (&inner, &outer, leaves_out),
    ] {
        let own = format!(", sql: \"SELECT {own}\"");
        assert_eq!(why("id, payer_id", &own, read), reason, "{own}: {read}");
    }
}

#[test]
fn columns_that_equal_several_texts_are_named() {
    let tables = "mysql
        users 100: id, email text ci distinct=100, name text, code text char";
    let mapping = "items:
  USER: { from: users, key: { PK: \"I#{email}\", SK: \"U#{id}\" } }
access_patterns:
  one: { items: [USER], key: { PK: \"I#{e}\" } }
";
    let sql = "-- one (1/s)\nSELECT id FROM users WHERE email = :e AND name = :n AND code = :c;";
    let found = priced(tables, mapping, sql);
    // MySQL takes no account of blanks at the end of CHAR.
    assert_eq!(read(&found).byte_by_byte, ["users.code", "users.email"]);
}

#[test]
fn a_limit_without_sql_takes_the_first_rows_by_the_key() {
    let tables = "bids 100: id, lot distinct=10, state text, price";
    let why = |further: &str, read: &str| {
        let item = "  BID: { from: bids, key: { PK: \"I#{lot}\", SK: \"{price | pad(9)}#{id | pad(9)}\" } }";
        let pattern = format!("items: [BID], limit: 5{further}");
        why_not(tables, item, &pattern, read)
    };
    let first = "its access pattern has a `limit`, and its items are not known to be the first rows of the read";
    let read = |clauses: &str| format!("id FROM bids WHERE lot = :i {clauses} LIMIT 5");
    for (further, clauses, reason) in [
        ("", "", ""),
        ("", "ORDER BY price", ""),
        ("", "ORDER BY price, id", ""),
        ("", "ORDER BY price DESC", first),
        (", order: desc", "ORDER BY price DESC", ""),
        ("", "ORDER BY id", first),
        ("", "AND state = :s", first),
        (", filter: \"state = :s\"", "AND state = :s", ""),
        (", filter: \"price > :p\"", "AND price > :p", ""),
        (", filter: \"price > :p\"", "AND price < :p", first),
    ] {
        assert_eq!(why(further, &read(clauses)), reason, "{further} {clauses}");
    }
    for selected in ["count(*)", "DISTINCT state", "sum(price)"] {
        assert_eq!(why("", &bids(selected, "LIMIT 5")), first, "{selected}");
    }
    assert_eq!(why("", &bids("max(price)", "")), first);
    assert_eq!(why(", order: desc", &bids("max(price)", "")), "");
    assert_eq!(why("", &bids("min(price)", "")), "");
}

#[test]
fn a_padded_decimal_sorts_as_numbers_do() {
    let tables = "bids 100: id, lot distinct=10, price decimal";
    let item =
        "  BID: { from: bids, key: { PK: \"I#{lot}\", SK: \"B#{price | pad(10, 2)}#{id}\" } }";
    let read = bids("id, price", "ORDER BY price DESC LIMIT 5");
    let pattern = "items: [BID], order: desc, limit: 5";
    assert_eq!(why_not(tables, item, pattern, &read), "");
}

/// Why an access pattern `one` of bids whose sort key is made so, and asked for so, does not serve a read of a lot; nothing if it does.
fn why_not_in(made: &str, asked: &str, further: &str, clauses: &str) -> String {
    let mapping = format!(
        "items:
  BID: {{ from: bids, key: {{ PK: \"I#{{lot}}\", SK: \"{made}\" }} }}
access_patterns:
  one: {{ items: [BID], key: {{ PK: \"I#{{i}}\", SK: {asked} }}{further} }}
"
    );
    let sql = format!("-- one (1/s)\nSELECT {};", bids("id, price", clauses));
    let found = priced(BIDS, &mapping, &sql);
    found.reads[0].why_not.clone().unwrap_or_default()
}

const OUT_OF_RANGE: &str = "the range of its key may leave out rows that it asks for";

#[test]
fn a_range_of_the_key_leaves_rows_out() {
    let by_price = format!("{OUT_OF_RANGE}, by bids.price");
    let by_price = by_price.as_str();
    let by_state = format!("{OUT_OF_RANGE}, by bids.state");
    let by_state = by_state.as_str();
    let (behind, alone) = ("{price | pad(9)}#{id}", "{price | pad(9)}");
    let (state, upper) = ("S#{state}", "S#{state | upper}");
    for (made, asked, clauses, reason) in [
        (behind, "{ ge: \"000000005\" }", "", by_price),
        (behind, "{ ge: \"{p | pad(9)}\" }", "", by_price),
        (behind, "{ lt: \"{p | pad(9)}\" }", "", by_price),
        (
            behind,
            "{ between: [\"000000005\", \"000000009\"] }",
            "AND price >= 5",
            by_price,
        ),
        (behind, "{ begins_with: \"{p | pad(9)}\" }", "", by_price),
        (behind, "{ ge: \"{p | pad(9)}\" }", "AND price > :p", ""),
        (behind, "{ ge: \"000000005\" }", "AND price >= 5", ""),
        (behind, "{ ge: \"000000005\" }", "AND price > 5", ""),
        (behind, "{ ge: \"000000005\" }", "AND price = 5", ""),
        (behind, "{ ge: \"000000005\" }", "AND price = 7", ""),
        (behind, "{ ge: \"000000005\" }", "AND price = 4", by_price),
        (behind, "{ ge: \"000000005\" }", "AND price < 5", by_price),
        // The key goes on behind the price.
        (behind, "{ le: \"000000005\" }", "AND price <= 5", by_price),
        (behind, "{ le: \"000000005\" }", "AND price < 5", ""),
        (alone, "{ le: \"000000005\" }", "AND price <= 5", ""),
        (alone, "{ gt: \"000000005\" }", "AND price >= 5", by_price),
        // As text, 10 is less than 5.
        ("P{price}", "{ ge: \"P5\" }", "AND price >= 5", by_price),
        // What all keys begin with.
        ("B#{id}", "{ begins_with: \"B#\" }", "", ""),
        ("B#{id}", "{ between: [\"B#\", \"B~\"] }", "", ""),
        ("B#{id}", "{ ge: \"A\" }", "", ""),
        ("B", "{ lt: \"B\" }", "", OUT_OF_RANGE),
        (state, "{ begins_with: \"S#op\" }", "AND state = 'op'", ""),
        (state, "{ begins_with: \"S#op\" }", "AND state = 'open'", ""),
        (
            state,
            "{ begins_with: \"S#op\" }",
            "AND state = 'in'",
            by_state,
        ),
        (upper, "{ begins_with: \"S#OP\" }", "AND state = 'op'", ""),
        (
            upper,
            "{ begins_with: \"S#OP\" }",
            "AND state = 'OPEN'",
            by_state,
        ),
    ] {
        let found = why_not_in(made, asked, "", clauses);
        assert_eq!(found, reason, "{made} {asked} {clauses}");
    }
}

#[test]
fn a_limit_takes_the_first_rows_of_a_range_of_the_key() {
    let first = "its access pattern has a `limit`, and its items are not known to be the first rows of the read";
    let (behind, alone) = ("{price | pad(9)}#{id | pad(9)}", "{price | pad(9)}");
    let bounds = "{ between: [\"{p | pad(9)}\", \"{q | pad(9)}\"] }";
    let same = "{ between: [\"S#{s}#{p | pad(9)}\", \"S#{s}#{q | pad(9)}\"] }";
    let of_state = "S#{state}#{price | pad(9)}";
    let (low, low_in) = ("{ gt: \"{p | pad(9)}\" }", "{ ge: \"{p | pad(9)}\" }");
    let within = "AND price BETWEEN :p AND :q";
    for (made, asked, clauses, reason) in [
        (alone, low, "AND price > :p", ""),
        (alone, low, "AND price > :p ORDER BY price", ""),
        (alone, low, "AND price > :p ORDER BY price DESC", first),
        (alone, low, "AND price >= :p", first),
        (alone, low_in, "AND price >= :p", ""),
        (alone, low_in, "AND price > :p", first),
        // Behind the price stands more than nothing.
        (behind, low, "AND price >= :p", ""),
        (behind, low, "AND price > :p", first),
        (alone, bounds, within, ""),
        (behind, bounds, within, first),
        (
            of_state,
            same,
            "AND state = :s AND price BETWEEN :p AND :q",
            "",
        ),
        ("P{price}", "{ gt: \"P{p}\" }", "AND price > :p", first),
        // The state may be longer.
        (
            "S#{state}",
            "{ begins_with: \"S#op\" }",
            "AND state = 'op'",
            first,
        ),
        (
            "S#{state}#{id}",
            "{ begins_with: \"S#op#\" }",
            "AND state = 'op'",
            "",
        ),
    ] {
        let clauses = format!("{clauses} LIMIT 5");
        let found = why_not_in(made, asked, ", limit: 5", &clauses);
        assert_eq!(found, reason, "{made} {asked} {clauses}");
    }
}

#[test]
fn items_that_a_key_or_a_filter_leaves_out_hold_nothing() {
    let why = |further: &str, key: &str, filter: &str, read: &str| {
        let mapping = format!(
            "items:
  STATE: {{ from: parcels, key: {{ PK: \"I#{{id}}\", SK: A }}, columns: [state]{further} }}
  ZONE: {{ from: parcels, key: {{ PK: \"I#{{id}}\", SK: B }}, columns: [zone_id] }}
access_patterns:
  one: {{ key: {{ PK: \"I#{{i}}\"{key} }}{filter} }}
"
        );
        let sql =
            format!("-- one (1/s)\nSELECT {read} FROM parcels WHERE id = :i AND state = 'in';");
        let found = priced(COPIED, &mapping, &sql);
        found.reads[0].why_not.clone().unwrap_or_default()
    };
    let zone = "its items do not hold parcels.zone_id";
    let filter = ", items: [STATE, ZONE], filter: \"state = 'in'\"";
    let key = ", SK: { begins_with: A }";
    assert_eq!(why("", "", "", "id, zone_id"), "");
    for (key, filter) in [(key, ""), ("", filter)] {
        assert_eq!(why("", key, filter, "id"), "");
        assert_eq!(why("", key, filter, "id, zone_id"), zone);
        // The other item type has all rows, and is not found.
        let some = ", where: \"zone_id = 5\"";
        assert_eq!(why(some, key, filter, "id"), LEFT_OUT);
    }
}

#[test]
fn a_condition_that_may_mean_something_else_is_named() {
    let tables = "bids 100: id, lot distinct=10, rating mixed=3";
    let item = "  BID: { from: bids, key: { PK: \"I#{lot}\", SK: \"B#{id}\" } }";
    let read = "id FROM bids WHERE lot = :i AND rating <= 2";
    assert_eq!(
        why_not(tables, item, "items: [BID], filter: \"rating <= 2\"", read),
        "its access pattern has a filter on bids.rating, which rows that meet `rating <= 2` are not known to meet"
    );
}

#[test]
fn sql_that_compares_byte_by_byte_serves_an_equality() {
    let tables = "mysql
        users 100: id, email text ci distinct=100, name text";
    let why = |own: &str| {
        let item = "  USER: { from: users, key: { PK: \"I#{email}\", SK: \"U#{id}\" } }";
        let pattern = format!("items: [USER], sql: \"SELECT id, name FROM users WHERE {own}\"");
        why_not(tables, item, &pattern, "name FROM users WHERE email = :e")
    };
    for own in [
        "email COLLATE utf8mb4_0900_bin = :i",
        "CAST(CONVERT(users.email USING utf8mb4) AS BINARY) = CAST(:i AS BINARY)",
    ] {
        assert_eq!(why(own), "", "{own}");
    }
    // An order by bytes is not that of the column.
    for own in [
        "email COLLATE utf8mb4_unicode_ci = :i",
        "email = :i ORDER BY name COLLATE utf8mb4_0900_bin LIMIT 1",
    ] {
        assert_ne!(why(own), "", "{own}");
    }
}

#[test]
fn figures_are_the_same_whatever_says_whose_the_columns_are() {
    let sql = "SELECT avg(price), count(*) FROM bids WHERE lot = :i";
    let (catalog, limits) = schema(BIDS);
    let query = figure_query(sql, &catalog, &limits.observed).unwrap();
    let own = query.answer[0].replace("WHERE bids.lot", "WHERE lot");
    assert_ne!(own, query.answer[0]);
    let pattern = format!("items: [BID], sql: '{own}'");
    let read = sql.strip_prefix("SELECT ").unwrap();
    assert_eq!(why_not(BIDS, BID, &pattern, read), "");
}

#[test]
fn figures_may_stand_in_another_order_and_beside_others() {
    let why = |own: &str, read: &str| {
        let rest = "FROM bids WHERE lot = :i GROUP BY";
        let pattern = format!("items: [BID], sql: 'SELECT {own} {rest} lot, state'");
        let tables = "bids 100: id, lot distinct=10, price, state text";
        why_not(tables, BID, &pattern, &format!("{read} {rest} state, lot"))
    };
    for own in [
        "lot, state, count(*), sum(price)",
        "sum(price), count(*), state",
        "state, sum(price), max(id), count(*)",
    ] {
        assert_eq!(why(own, "state, count(*), sum(price)"), "", "{own}");
    }
    for own in ["state, count(*)", "DISTINCT count(*), state, sum(price)"] {
        assert_ne!(why(own, "state, count(*), sum(price)"), "", "{own}");
    }
}

#[test]
fn a_mean_is_a_sum_and_a_count() {
    let served = |null: &str, own: &str, read: &str| {
        let rest = "FROM bids WHERE lot = :i GROUP BY state";
        let tables = format!("bids 100: id, lot distinct=10, price{null}, state text");
        let mapping = format!(
            "items:
  BID: {{ from: bids, key: {{ PK: \"I#{{lot}}\", SK: \"B#{{id}}\" }} }}
access_patterns:
  one: {{ items: [BID], key: {{ PK: \"I#{{i}}\" }}, sql: 'SELECT {own} {rest}' }}
"
        );
        let sql = format!("-- one (1/s)\nSELECT {read} {rest};");
        let found = priced(&tables, &mapping, &sql).reads.remove(0);
        found.served.map(|served| served.divides)
    };
    let of_column = "state, sum(price), count(price)";
    let of_rows = "state, sum(price), count(*)";
    assert_eq!(served("", of_column, "state, avg(price)"), Some(true));
    assert_eq!(served("", of_rows, "state, avg(price) AS p"), Some(true));
    assert_eq!(served("", of_rows, "state, count(price)"), Some(false));
    assert_eq!(served("", of_column, "sum(price)"), Some(false));
    // Rows without a price count for no mean.
    assert_eq!(served(" null", of_column, "avg(price)"), Some(true));
    for read in ["avg(price)", "count(price)"] {
        assert_eq!(served(" null", of_rows, read), None, "{read}");
    }
    for own in [
        "state, sum(price)",
        "state, count(price)",
        "sum(id), count(price)",
        "sum(DISTINCT price), count(price)",
    ] {
        assert_eq!(served("", own, "avg(price)"), None, "{own}");
    }
    assert_eq!(served("", of_rows, "avg(DISTINCT price)"), None);
    assert_eq!(served("", "avg(price)", "avg(price)"), Some(false));
}

/// To DynamoDB, an item without the attribute differs from every value; to SQL, NULL does not.
#[test]
fn items_without_an_attribute_are_not_the_first_rows_of_a_read_of_others() {
    let why = |null: &str, filter: &str| {
        let tables = format!("bids 100: id, lot distinct=10, price, state text{null}");
        let pattern = format!("items: [BID], limit: 5, filter: \"{filter}\"");
        let read = bids("id", "AND state <> :s ORDER BY price LIMIT 5");
        why_not(&tables, BID, &pattern, &read)
    };
    assert_eq!(why("", "state <> :s"), "");
    assert_eq!(
        why(" null", "state <> :s"),
        "its access pattern has a `limit`, and its items are not known to be the first rows of the read"
    );
    assert_eq!(why(" null", "attribute_exists(state) AND state <> :s"), "");
}

#[test]
fn it_is_said_that_a_filter_takes_items_without_its_attribute() {
    let absent = |null: &str, filter: &str| {
        let tables = format!("bids 100: id, lot distinct=10, price, state text{null}");
        let mapping = format!(
            "items:\n{BID}\naccess_patterns:
  one: {{ items: [BID], key: {{ PK: \"I#{{i}}\" }}, filter: \"{filter}\" }}\n"
        );
        let sql = format!("-- one (1/s)\nSELECT {};", bids("id", "AND state <> :s"));
        read(&priced(&tables, &mapping, &sql)).with_absent.clone()
    };
    assert_eq!(absent(" null", "state <> :s"), ["bids.state"]);
    assert!(absent("", "state <> :s").is_empty());
    let exists = "attribute_exists(state) AND state <> :s";
    assert!(absent(" null", exists).is_empty());
}

#[test]
fn of_what_is_not_understood_all_rows_and_columns_are_asked() {
    let read = bids("id", "AND state LIKE '%' || :s || '%'");
    let why = |item: &str, pattern: &str| {
        let pattern = format!("items: [BID]{pattern}");
        why_not(BIDS, item, &pattern, &read)
    };
    let sql = |clauses: &str| format!(", sql: \"SELECT {}\"", bids("id, state", clauses));
    assert_eq!(why(BID, ""), "");
    assert_eq!(why(BID, &sql("")), "");
    let filter = ", filter: \"price > :p\"";
    assert_eq!(
        why(BID, filter),
        "its access pattern has a filter on price that the statement does not have"
    );
    assert_eq!(
        why(BID, &format!("{filter}{}", sql("AND price > :p"))),
        "the SQL of its access pattern has a condition on bids.price that the statement does not have"
    );
    let few = BID.replace("from: bids", "from: bids, columns: [price]");
    assert_eq!(why(&few, ""), "its items do not hold bids.state");
    // By what groups are made, left out and sorted.
    let few = "  BID: { from: bids, key: { PK: \"I#{lot}\", SK: \"B#{id}\" }, columns: [state] }";
    for clauses in [
        "GROUP BY price",
        "GROUP BY id HAVING max(price) > :p",
        "GROUP BY id ORDER BY max(price)",
    ] {
        let like = format!("AND state LIKE '%' || :s || '%' {clauses}");
        for read in [bids("id", &like), bids("count(*)", clauses)] {
            let found = why_not(BIDS, few, "items: [BID]", &read);
            assert_eq!(found, "its items do not hold bids.price", "{read}");
        }
    }
}

#[test]
fn what_sql_computes_of_literals_is_a_condition_like_a_literal() {
    let why = |own: &str, read: &str| {
        let pattern = format!("items: [BID], sql: \"SELECT {}\"", bids("id, price", own));
        why_not(BIDS, BID, &pattern, &bids("price", read))
    };
    let ten = "AND price > 2 * 5";
    assert_eq!(
        why(ten, "AND price > :p"),
        "the SQL of its access pattern has a condition `price > 2 * 5` that the statement does not have"
    );
    assert_eq!(why(ten, ten), "");
}

#[test]
fn a_condition_by_the_clock_is_met_by_the_same_condition_alone() {
    let tables = "bids 100: id, lot distinct=10, at time";
    let item = "  BID: { from: bids, key: { PK: \"I#{lot}\", SK: \"B#{id}\" } }";
    let day = "AND at > now() - INTERVAL '1 day'";
    let why = |read: &str| {
        let pattern = format!("items: [BID], sql: \"SELECT {}\"", bids("id, at", day));
        why_not(tables, item, &pattern, &bids("at", read))
    };
    assert_eq!(why(day), "");
    for other in ["AND at > :since", "AND at > now() - INTERVAL '2 days'"] {
        let lacked = why(other);
        let said = "the SQL of its access pattern has a condition `at > now()";
        assert!(lacked.starts_with(said), "{other}: {lacked}");
    }
}

#[test]
fn what_a_function_makes_of_a_column_is_no_value_of_the_key() {
    let why = |value: &str, condition: &str| {
        let item = format!("  ZONE: {{ from: zones, key: {{ PK: \"I#{{{value}}}\", SK: A }} }}");
        let read = format!("id FROM zones WHERE {condition} AND status LIKE '%' || :s || '%'");
        why_not(COPIED, &item, "items: [ZONE]", &read)
    };
    assert_eq!(
        why("name", "reverse(name) = :n"),
        "its key asks for zones.name, which the read does not give"
    );
    assert_eq!(why("name", "name = :n"), "");
    // Of a key that loses something any condition on the column is enough.
    assert_eq!(why("name | lower", "reverse(name) = :n"), "");
}

#[test]
fn each_select_of_a_union_is_a_read() {
    let why = |pattern: &str| {
        let item = "  ZONE: { from: zones, key: { PK: \"I#{name}\", SK: A } }";
        let read = "id FROM zones WHERE name = :i UNION ALL SELECT id FROM zones WHERE name = :n";
        why_not(COPIED, item, &format!("items: [ZONE]{pattern}"), read)
    };
    assert_eq!(why(""), "");
    assert_eq!(
        why(", filter: \"status = 'open'\""),
        "its access pattern has a filter on status that the statement does not have"
    );
    assert_eq!(
        why(", sql: \"SELECT id, name FROM zones WHERE name = :i AND status = 'open'\""),
        "the SQL of its access pattern has a condition on zones.status that the statement does not have"
    );
}

/// With `nulls: keep` each item has the attribute.
#[test]
fn no_filter_tells_by_an_attribute_whether_a_null_is_kept() {
    let why = |nulls: &str, filter: &str, clauses: &str| {
        let tables = "bids 100: id, lot distinct=10, price, state text null";
        let item = BID.replace("from: bids", &format!("from: bids, nulls: {nulls}"));
        let pattern = format!("items: [BID], {filter}");
        why_not(tables, &item, &pattern, &bids("id", clauses))
    };
    let missing = "filter: \"attribute_not_exists(state)\"";
    assert_eq!(why("omit", missing, "AND state IS NULL"), "");
    assert_eq!(
        why("keep", missing, "AND state IS NULL"),
        "its access pattern has a filter that is not understood"
    );
    // All rows are taken, and the application sees which have a state.
    let there = "filter: \"attribute_exists(state)\"";
    assert_eq!(why("keep", there, "AND state IS NOT NULL"), "");
    let first = "limit: 5, filter: \"attribute_exists(state) AND state <> :s\"";
    let clauses = "AND state <> :s ORDER BY price LIMIT 5";
    assert_eq!(why("omit", first, clauses), "");
    assert_eq!(
        why("keep", first, clauses),
        "its access pattern has a `limit`, and its items are not known to be the first rows of the read"
    );
}

#[test]
fn one_parameter_for_two_columns_serves_no_read_with_two() {
    let why = |of: &str, columns: &str| {
        format!("{of} compares {columns} with one parameter, which the statement does not")
    };
    let (own, own_sql) = ("its access pattern", "the SQL of its access pattern");
    let two = "bids.lot and bids.price";
    let read = |other: &str| bids("id, price", &format!("AND price = :{other}"));
    let filter = "items: [BID], filter: \"price = :i\"";
    let sql = format!("{filter}, sql: \"SELECT {}\"", read("i"));
    let count = "items: [BID], filter: \"price = :i\", sql: \"SELECT count(*) FROM bids WHERE lot = :i AND price = :i\"";
    for (pattern, of) in [(filter, own), (sql.as_str(), own_sql)] {
        let found = why_not(BIDS, BID, pattern, &read("p"));
        assert_eq!(found, why(of, two), "{pattern}");
        let same = read("i").replace(":i", ":a");
        assert_eq!(why_not(BIDS, BID, pattern, &same), "", "{pattern}");
    }
    let read = bids("count(*)", "AND price = :p");
    assert_eq!(why_not(BIDS, BID, count, &read), why(own_sql, two));
}

#[test]
fn one_parameter_for_two_bounds_of_a_column_serves_no_read_with_two() {
    let read =
        |selected: &str, high: &str| bids(selected, &format!("AND price BETWEEN :p AND :{high}"));
    let twice = "compares bids.price twice with one parameter, which the statement does not";
    for (by, selected, of) in [
        ("sql", "count(*)", "the SQL of its access pattern"),
        ("filter", "id", "its access pattern"),
    ] {
        let why = |own: &str, asked: &str| {
            let mut pattern = format!("items: [BID], filter: \"price BETWEEN :p AND :{own}\"");
            if by == "sql" {
                pattern += &format!(", sql: \"SELECT {}\"", read(selected, own));
            }
            why_not(BIDS, BID, &pattern, &read(selected, asked))
        };
        assert_eq!(why("p", "q"), format!("{of} {twice}"));
        for (own, asked) in [("p", "p"), ("q", "q"), ("q", "p")] {
            assert_eq!(why(own, asked), "", "{by}: {own}, {asked}");
        }
    }
    // Two lower bounds are one.
    let filter = "items: [BID], filter: \"price > :p AND price >= :p\"";
    assert_eq!(why_not(BIDS, BID, filter, &read("id", "q")), "");
}

#[test]
fn one_parameter_for_two_columns_of_the_key_serves_no_read_with_two() {
    let mapping = format!(
        "items:
{BID}
access_patterns:
  one: {{ items: [BID], key: {{ PK: \"I#{{i}}\", SK: {{ ge: \"{{i | pad(9)}}\" }} }} }}
"
    );
    let why = |low: &str| {
        let read = bids("id", &format!("AND price >= :{low}"));
        let found = priced(BIDS, &mapping, &format!("-- one (1/s)\nSELECT {read};"));
        found.reads[0].why_not.clone().unwrap_or_default()
    };
    assert_eq!(why("i"), "");
    assert_eq!(
        why("p"),
        "its access pattern compares bids.lot and bids.price with one parameter, which the statement does not"
    );
}

#[test]
fn rows_in_other_items_are_found_by_the_key_of_these() {
    let item = "  PARCEL: { from: parcels, key: { PK: \"I#{id}\", SK: A }, attributes: { labels: { $embed: labels, $each: \"{id}\" } } }";
    let why = |read: &str| {
        let read = format!("id FROM labels WHERE {read}");
        why_not(COPIED, item, "items: [PARCEL]", &read)
    };
    assert_eq!(why("parcel_id = :p"), "");
    assert_eq!(
        why("id = :l"),
        "its key asks for parcels.id, which the read does not give"
    );
}

#[test]
fn a_parent_under_another_key_is_not_beside_its_rows() {
    let why = |key: &str| {
        let items = format!(
            "  ZONE: {{ from: zones, key: {{ PK: \"I#{{{key}}}\", SK: \"A#{{id}}\" }} }}
  PARCEL: {{ from: parcels, key: {{ PK: \"I#{{zone_id}}\", SK: \"P#{{id}}\" }} }}"
        );
        let read =
            "p.id, z.name FROM parcels p JOIN zones z ON z.id = p.zone_id WHERE p.zone_id = :z";
        why_not(COPIED, &items, "items: [ZONE, PARCEL]", read)
    };
    assert_eq!(why("id"), "");
    assert_ne!(why("region_id"), "");
}

#[test]
fn a_parent_is_beside_its_rows_under_the_key_of_its_own_parent() {
    let tables = "zones 10: id, region_id distinct=3, name text
    parcels 100: id, zone_id @zones distinct=10";
    let why = |key: &str, asked: &str| {
        let mapping = format!(
            "items:
  ZONE: {{ from: zones, key: {{ PK: \"R#{{{key}}}\", SK: \"Z#{{id}}#A\" }} }}
  PARCEL: {{ from: parcels, join: {{ z: zone_id }}, key: {{ PK: \"R#{{z.region_id}}\", SK: \"Z#{{zone_id}}#P#{{id}}\" }} }}
access_patterns:
  one: {{ items: [ZONE, PARCEL], key: {{ PK: \"R#{{r}}\"{asked} }} }}
"
        );
        let sql = "-- one (1/s)\nSELECT p.id, z.name FROM parcels p JOIN zones z ON z.id = p.zone_id WHERE z.region_id = :r AND p.zone_id = :z;";
        let found = priced(tables, &mapping, sql);
        found.reads[0].why_not.clone().unwrap_or_default()
    };
    let name = "its items do not hold zones.name by zone_id";
    let begins = ", SK: { begins_with: \"Z#{z}\" }";
    let ranges = ", SK: { gt: \"Z#{z}\" }";
    for (key, asked, reason) in [
        ("region_id", "", ""),
        ("region_id", begins, ""),
        ("id", "", name),
        // A later item may be found without the first.
        ("region_id", ranges, name),
    ] {
        assert_eq!(why(key, asked), reason, "{key} {asked}");
    }
}

#[test]
fn a_value_under_a_condition_is_not_held() {
    let why = |attribute: &str, read: &str| {
        let item = format!(
            "  PARCEL: {{ from: parcels, key: {{ PK: \"I#{{id}}\", SK: A }}, columns: [id], attributes: {{ s: {attribute} }} }}"
        );
        why_not(COPIED, &item, "items: [PARCEL]", read)
    };
    let read = "id, state FROM parcels WHERE id = :i";
    let state = "its items do not hold parcels.state";
    assert_eq!(why("\"{state}\"", read), "");
    let some = "{ $value: \"{state}\", $when: \"zone_id = 5\" }";
    assert_eq!(why(some, read), state);
    assert_eq!(why(&format!("{{ state: {some} }}"), read), state);
}

#[test]
fn rows_that_make_no_item_are_not_served() {
    let tables = "orders 100: id, doc text, ends time null";
    let why = |sort: &str, further: &str| {
        let mapping = format!(
            "{}items:
  ORDER: {{ from: orders, key: {{ PK: \"I#{{id}}\", SK: \"{sort}\" }}, columns: [id]{further} }}
access_patterns:
  one: {{ items: [ORDER], key: {{ PK: \"I#{{i}}\" }} }}
",
            TABLE.replace("  indexes:", "  ttl: until\n  indexes:")
        );
        let sql = "-- one (1/s)\nSELECT id FROM orders WHERE id = :i;";
        let found = priced_text(tables, &mapping, sql, &[]);
        found.reads[0].why_not.clone().unwrap_or_default()
    };
    let until = ", attributes: { until: \"{ends | epoch}\" }";
    assert_eq!(why("A", until), "");
    assert_eq!(why("A", &format!(", expired: skip{until}")), LEFT_OUT);
    let parts = ", explode: { s: \"doc | json\" }";
    let place = "A#{s.$index | pad(3)}";
    assert_eq!(why(place, &format!("{parts}{until}")), LEFT_OUT);
}

#[test]
fn a_parent_beside_its_rows_is_held_by_the_key_that_they_share() {
    let tables = "payers 10: id, name text
        orders 100: id, payer_id @payers distinct=10, billed_id @payers distinct=10";
    let items = "  PAYER: { from: payers, key: { PK: \"I#{id}\", SK: A } }
  ORDER: { from: orders, key: { PK: \"I#{billed_id}\", SK: \"O#{id}\" } }";
    let why = |way: &str| {
        let read = format!(
            "p.*, o.id AS item FROM payers p JOIN orders o ON o.{way} = p.id WHERE p.id = :i"
        );
        why_not(tables, items, "items: [PAYER, ORDER]", &read)
    };
    assert_eq!(why("billed_id"), "");
    assert_ne!(why("payer_id"), "");
    // The same of children in the item.
    let items = "  PAYER: { from: payers, key: { PK: \"I#{id}\", SK: A }, attributes: { orders: { $embed: orders, $match: { billed_id: id }, $each: \"{id}\" } } }";
    let why = |way: &str| {
        let read = format!(
            "p.*, o.id AS item FROM payers p LEFT JOIN orders o ON o.{way} = p.id WHERE p.id = :i"
        );
        why_not(tables, items, "items: [PAYER]", &read)
    };
    assert_eq!(why("billed_id"), "");
    assert_eq!(
        why("payer_id"),
        "its items do not hold each row of orders by payer_id"
    );
}

#[test]
fn rows_that_other_items_copy_are_not_all_there() {
    let item = "  PARCEL: { from: parcels, key: { PK: \"I#{zone_id}\", SK: \"P#{id}\" }, join: { z: zone_id }, attributes: { zone: \"{z.name}\" } }";
    // A zone may be without parcels.
    assert_eq!(
        why_not(
            COPIED,
            item,
            "items: [PARCEL]",
            "name FROM zones WHERE id = :i"
        ),
        "its items do not hold each row of zones"
    );
    let why = |most: &str| {
        let item = format!(
            "  PARCEL: {{ from: parcels, key: {{ PK: \"I#{{id}}\", SK: A }}, attributes: {{ labels: {{ $embed: labels, $each: \"{{id}}\"{most} }} }} }}"
        );
        let read = "id FROM labels WHERE parcel_id = :i";
        why_not(COPIED, &item, "items: [PARCEL]", read)
    };
    assert_eq!(why(""), "");
    assert_eq!(
        why(", $where: \"is_lost = 0\""),
        "its items do not hold each row of labels"
    );
}

#[test]
fn values_whose_text_splits_in_two_ways_are_not_held() {
    let tables = "names 100: id, given text, family text, age";
    let why = |made: &str, read: &str| {
        let item = format!(
            "  NAME: {{ from: names, key: {{ PK: \"I#{{id}}\", SK: A }}, columns: [id], attributes: {{ made: \"{made}\" }} }}"
        );
        let read = format!("{read} FROM names WHERE id = :i");
        why_not(tables, &item, "items: [NAME]", &read)
    };
    assert_eq!(
        why("{given}#{family}", "given, family"),
        "its items do not hold names.given"
    );
    assert_eq!(why("{age}#{family}", "age, family"), "");
    assert_eq!(why("N#{family}", "family"), "");
}

#[test]
fn an_access_pattern_for_the_same_sql_serves_it() {
    let item =
        "  PARCEL: { from: parcels, key: { PK: \"I#{id}\", SK: A }, where: \"state = 'in'\" }";
    let sql = "SELECT id FROM parcels WHERE id = :i AND (state = 'in' OR zone_id = 5)";
    let own = format!("items: [PARCEL], sql: \"{sql}\"");
    let why = |read: &str| why_not(COPIED, item, &own, read);
    assert_eq!(
        why("id FROM parcels  WHERE id = :i\n AND (state = 'in' OR zone_id = 5)"),
        ""
    );
    assert_ne!(why("id FROM parcels WHERE id = :i"), "");
    // Without SQL of its own there is none that is the same.
    let read = "id FROM parcels WHERE id = :i";
    assert_eq!(why_not(COPIED, item, "items: [PARCEL]", read), LEFT_OUT);
}

#[test]
fn a_write_that_is_not_read_is_no_read() {
    let mapping = "items:
  ZONE: { from: zones, key: { PK: \"Z#{id}\", SK: A } }
access_patterns:
  zone: { items: [ZONE], key: { PK: \"Z#{z}\" }, sql: \"SELECT id, name FROM zones WHERE id = :z\" }
";
    let found = |sql: &str| priced(COPIED, mapping, &format!("-- zone (1/s)\n{sql};"));
    let neither = "it is neither a query nor an INSERT, UPDATE or DELETE of one table";
    for (write, reason) in [
        ("UPDATE zones SET WHERE id = :z", "its SQL cannot be read: "),
        (
            "WITH x AS (SELECT 1) UPDATE zones SET WHERE id = :z",
            "its SQL cannot be read: ",
        ),
        (
            "MERGE INTO zones z USING regions r ON r.id = z.region_id WHEN MATCHED THEN DELETE",
            neither,
        ),
        ("TRUNCATE TABLE zones", neither),
        (
            "WITH x AS (DELETE FROM zones WHERE id = $1 RETURNING id) SELECT id FROM x",
            "it has DELETE within a query",
        ),
        (
            "WITH n AS (SELECT id FROM zones FOR UPDATE SKIP LOCKED) UPDATE zones SET name = 'x' FROM n WHERE zones.id = n.id",
            "its SQL would lock rows: it has ",
        ),
        (
            "DELETE FROM elsewhere WHERE id = :z",
            "it writes elsewhere, which the schema does not have",
        ),
        (
            "UPDATE zones SET name = :n, gone = :g WHERE id = :z",
            "it sets the column `gone`, which the table zones does not have",
        ),
        (
            "INSERT INTO zones (id, gone) VALUES (:z, :g)",
            "it sets the column `gone`, which the table zones does not have",
        ),
    ] {
        let found = found(write);
        assert!(
            found.reads.is_empty() && found.writes.is_empty(),
            "{write}: {found:?}"
        );
        let not_priced = &found.not_priced[0];
        assert_eq!(not_priced.name, "zone");
        assert!(not_priced.why.starts_with(reason), "{}", not_priced.why);
    }
    // A read that cannot be read is one, but only its own SQL serves it.
    for (read, reason) in [
        ("SELECT id FROM zones WHERE", "its SQL cannot be read: "),
        (
            "WITH x AS (SELECT 1) SELECT id FROM zones WHERE FOR NO KEY UPDATE",
            "its SQL ",
        ),
        (
            "SELECT id FROM parcels WHERE id = :z FOR UPDATE",
            "its SQL would lock rows: it has FOR UPDATE",
        ),
    ] {
        let found = found(read);
        assert!(
            found.not_priced.is_empty() && found.reads[0].served.is_none(),
            "{read}"
        );
        let why = found.reads[0].why_not.as_ref().unwrap();
        assert!(why.starts_with(reason), "{why}");
    }
    let lock = "SELECT id, name FROM zones WHERE id = :z FOR UPDATE";
    let mapping = mapping.replace("SELECT id, name FROM zones WHERE id = :z", lock);
    let found = priced(COPIED, &mapping, &format!("-- zone (1/s)\n{lock};"));
    assert!(found.reads[0].served.is_some(), "{found:?}");
}

#[test]
fn a_with_of_a_write_that_depends_on_settings_is_no_read() {
    let mapping = "items:
  ZONE: { from: zones, key: { PK: \"Z#{id}\", SK: A } }
";
    let sql =
        "-- zone (1/s)\nWITH n AS (SELECT 1) UPDATE zones SET name = name || :n WHERE id = :z;";
    let found = priced(&format!("mysql\n{COPIED}"), mapping, sql);
    assert!(found.reads.is_empty(), "{found:?}");
    assert!(
        found.not_priced[0].why.starts_with("its SQL has `||`"),
        "{found:?}"
    );
}

#[test]
fn an_update_writes_one_item_of_types_that_share_the_rows() {
    let mapping = "items:
  IN: { from: parcels, key: { PK: \"P#{id}\", SK: A }, where: \"status = 'in'\" }
  OTHER: { from: parcels, key: { PK: \"P#{id}\", SK: B }, where: \"status <> 'in'\" }
";
    let writes = [
        ("UPDATE parcels SET zone_id = :z WHERE id = :id", 1.0),
        (
            "UPDATE parcels SET zone_id = :z WHERE id = :id AND status = 'in'",
            1.0,
        ),
        ("INSERT INTO parcels (id, status) VALUES (:id, :s)", 1.0),
        ("DELETE FROM parcels WHERE id = :id", 1.0),
    ];
    assert_units(PARCELS, mapping, &writes);
    // Of the counted share.
    let (only, _) = mapping.split_once("  OTHER").unwrap();
    let counted = [("parcels", "status = 'in'", 0.01)];
    let sql = "-- write (1/s)\nUPDATE parcels SET zone_id = :z WHERE id = :id;";
    assert_near(write(&priced_with(PARCELS, only, sql, &counted)), 0.01);
}

#[test]
fn an_item_is_written_once_for_a_copy_and_a_condition() {
    let item = "    join: { z: zone_id }
    attributes: { zone: \"{z.name}\", GSI2PK: { $value: \"Z#{zone_id}\", $when: \"z.status = 'open'\" } }";
    let update = "UPDATE zones SET name = :n, status = :s WHERE id = :id";
    assert_near(units_of(item, update), 200.0);
}

#[test]
fn a_reference_that_a_delete_sets_to_null_is_written() {
    let delete = "DELETE FROM parcels WHERE id = :id";
    assert_near(units_of("", delete), 2.0);
    assert_near(units_of("    columns: [state]", delete), 1.0);
}

#[test]
fn a_child_loses_its_reference_once() {
    let of = |reference: &str, pet: &str| {
        let tables = format!(
            "owners 100: id\n    pets 1000: id, owner_id @owners set_null {reference}, name text"
        );
        let mapping = format!(
            "items:
  OWNER: {{ from: owners, key: {{ PK: \"O#{{id}}\", SK: A }} }}
  PET: {{ from: pets, {pet} }}
"
        );
        let sql = "-- leave (1/s)\nDELETE FROM owners WHERE id = :id;";
        write(&priced(&tables, &mapping, sql))
    };
    // Besides the owner its ten pets, or two, of which each has an owner.
    let (ten, two) = ("null distinct=100", "null distinct=100 present=200");
    let item = "key: { PK: \"P#{id}\", SK: A }";
    assert_near(of(ten, item), 1.0 + 10.0);
    assert_near(of(two, item), 1.0 + 2.0);
    assert_near(of(ten, &format!("{item}, columns: [name]")), 1.0);
    // What may not be NULL stays.
    assert_near(of("distinct=100", item), 1.0);
    // The entry goes.
    let entry = format!("{item}, attributes: {{ GSI2PK: \"O#{{owner_id}}\" }}");
    assert_near(of(ten, &entry), 1.0 + 10.0 * 2.0);
    assert_near(of(two, &entry), 1.0 + 2.0 * 2.0);
    // An entry or an item with another key is deleted and put anew.
    let none = "O#{owner_id | string | default(NONE)}";
    let kept = format!("{item}, attributes: {{ GSI2PK: \"{none}\" }}");
    assert_near(of(two, &kept), 1.0 + 2.0 * 3.0);
    let moved = format!("key: {{ PK: \"{none}\", SK: \"P#{{id}}\" }}");
    assert_near(of(two, &moved), 1.0 + 2.0 * 2.0);
    // The item goes.
    let only = format!("{item}, where: \"owner_id IS NOT NULL\"");
    assert_near(of(two, &only), 1.0 + 2.0);
    let in_key = "key: { PK: \"O#{owner_id}\", SK: \"P#{id}\" }";
    assert_near(of(two, in_key), 1.0 + 2.0);
}

#[test]
fn an_item_whose_key_is_null_before_or_after_is_written_once() {
    let tables = "pets 1000: id, owner_id null, name text";
    let mapping = "items:
  PET: { from: pets, key: { PK: \"O#{owner_id}\", SK: \"P#{id}\" }, attributes: { GSI2PK: \"N#{name}\" } }
";
    let writes = [
        ("UPDATE pets SET owner_id = NULL WHERE id = :id", 2.0),
        (
            "UPDATE pets SET owner_id = :o WHERE id = :id AND owner_id IS NULL",
            2.0,
        ),
        ("UPDATE pets SET owner_id = :o WHERE id = :id", 4.0),
    ];
    assert_units(tables, mapping, &writes);
}

#[test]
fn a_delete_cascades_to_the_rows_that_refer_to_it_by_each_key() {
    let tables = "owners 100: id
        pets 1000: id, owner_id @owners cascade null distinct=100 present=200, keeper_id @owners cascade null distinct=100 present=500";
    let mapping = "items:
  OWNER: { from: owners, key: { PK: \"O#{id}\", SK: A } }
  PET: { from: pets, key: { PK: \"P#{id}\", SK: A } }
";
    let sql = "-- leave (1/s)\nDELETE FROM owners WHERE id = :id;";
    assert_near(write(&priced(tables, mapping, sql)), 1.0 + 2.0 + 5.0);
}

#[test]
fn a_write_of_a_view_is_not_priced() {
    let (mut catalog, limits) = schema(PARCELS);
    catalog.tables[0].kind = TableKind::View;
    let text = format!(
        "{TABLE}items:\n  PARCEL: {{ from: parcels, key: {{ PK: \"P#{{id}}\", SK: P }} }}\n"
    );
    let (model, ..) = modelled(&text, &|_| None, &catalog, &Described::new()).unwrap();
    let sql = "-- move (1/s)\nUPDATE zones SET id = :n WHERE id = :id;";
    let statements = workload::read(sql, catalog.dbms).unwrap();
    let prices = Prices::read(SHIPPED, None).unwrap();
    let observed = &limits.observed;
    let found = price("", &catalog, &model, &statements, &prices, observed);
    assert!(found.writes.is_empty());
    assert_eq!(found.not_priced[0].why, "it writes zones, which is a view");
}

#[test]
fn a_copy_in_the_same_table_is_written_besides_the_row() {
    let item = "    join: { b: before_id }\n    attributes: { before: \"{b.state}\" }";
    let of = |item: &str| units_of(item, "UPDATE parcels SET state = :s WHERE id = :id");
    assert_near(of(""), 1.0);
    assert_near(of(item), 2.0);
}

#[test]
fn a_joined_row_that_comes_or_goes_changes_the_item() {
    let item = "    join: { n: { table: notes, match: { parcel_id: id } } }
    attributes: { note: \"{n.body}\" }";
    let of = |statement: &str| units_of(item, statement);
    for statement in [
        "INSERT INTO notes (parcel_id, body) VALUES (:p, :b)",
        "UPDATE notes SET body = :b WHERE parcel_id = :p",
        "DELETE FROM notes WHERE parcel_id = :p",
    ] {
        assert_near(of(statement), 1.0);
    }
}

#[test]
fn a_key_asks_for_a_column_whatever_its_parameter_is_called() {
    let mapping = "items:
  PARCEL:
    from: parcels
    key: { PK: \"Z#{zone_id}\", SK: \"P#{id}\" }
access_patterns:
  inZone: { items: [PARCEL], key: { PK: \"Z#{zone}\" } }
";
    let sql = "-- inZone (1/s)\nSELECT id FROM parcels WHERE zone_id = :z;";
    assert_near(items(&priced(PARCELS, mapping, sql)), 1000.0);
    // The whole key finds one item, whatever is known of its columns.
    let one = mapping.replace("SK: \"P#{id}\"", "SK: P");
    let one = one.replace("\"Z#{zone}\"", "\"Z#{zone}\", SK: P");
    assert_near(items(&priced(PARCELS, &one, sql)), 1.0);
}

#[test]
fn a_text_behind_the_parameter_is_a_part_of_what_the_key_begins_with() {
    let of = |begin: &str, like: &str| {
        let sql = format!("SELECT id FROM files WHERE path LIKE :p || '{like}' ORDER BY path");
        let mapping = format!(
            "items:
  FILE: {{ from: files, key: {{ PK: F, SK: \"{{path}}\" }} }}
access_patterns:
  under:
    items: [FILE]
    key: {{ PK: F, SK: {{ begins_with: \"{begin}\" }} }}
    sql: \"{sql}\"
"
        );
        let sql = format!("-- under (1/s)\n{sql};");
        items(&priced("files 1000: id, path text unique", &mapping, &sql))
    };
    assert_near(of("{p}", "%"), 100.0);
    assert_near(of("{p}/", "/%"), 100.0);
}

#[test]
fn a_sparse_index_finds_the_rows_that_the_where_says_to_be_in_it() {
    let tables = "members 1000: id, project distinct=50, left_at null present=400, role distinct=4";
    let mapping = |when: &str| {
        format!(
            "items:
  MEMBER:
    from: members
    key: {{ PK: \"M#{{id}}\", SK: M }}
    attributes: {{ GSI2PK: {{ $value: \"P#{{project}}\", $when: \"{when}\" }} }}
"
        )
    };
    let has_key = |when: &str, condition: &str| {
        let sql =
            format!("-- change (1/s)\nUPDATE members SET role = :r WHERE project = :p{condition};");
        priced(tables, &mapping(when), &sql).writes[0].has_key
    };
    let both = "left_at IS NULL AND role = 1";
    for (when, condition, expected) in [
        ("left_at IS NULL", " AND left_at IS NULL", true),
        ("left_at IS NULL", "", false),
        ("left_at IS NULL", " AND left_at IS NOT NULL", false),
        (both, " AND left_at IS NULL AND role = 1", true),
        (both, " AND left_at IS NULL", false),
    ] {
        assert_eq!(has_key(when, condition), expected, "{when}: {condition}");
    }
}

#[test]
fn an_item_that_says_the_key_of_another_one_finds_it() {
    let tables = "people 1000: id, email text, bio text longest=6000, seen";
    let mapping = |held: &str, of: &str| {
        format!(
            "items:
  PERSON: {{ from: people, {of}key: {{ PK: \"P#{{id}}\", SK: P }}, columns: {held} }}
  LOGIN: {{ from: people, key: {{ PK: \"E#{{email | lower}}\", SK: E }}, columns: [id, email, seen] }}
"
        )
    };
    let of = |held: &str, of: &str| {
        let sql = "-- see (1/s)\nUPDATE people SET seen = :v WHERE id = :id;";
        priced(tables, &mapping(held, of), sql).writes.remove(0)
    };
    let whole = of("[id, email, bio]", "");
    assert!(whole.has_key);
    // A read of the first item, of more than 4 KB, beside the write of the second.
    let read = whole.usd_month - whole.units * 0.625 * 2.592;
    assert_near(read, 0.125 * 2.592);
    assert!(!of("[id, bio]", "").has_key);
    assert!(!of("[id, email, bio]", "where: seen = 5, ").has_key);
}

#[test]
fn the_condition_of_an_index_is_counted_for_the_report_too() {
    let tables = "events 1000000: id, owner distinct=50, kind text distinct=4, done bool, at";
    let sql = "-- list (90/s)
        SELECT id FROM events WHERE owner = :o AND kind IN ('a', 'b') AND done ORDER BY at DESC, id DESC LIMIT 3;
        -- event (9/s, strong)
        SELECT * FROM events WHERE id = :id;";
    let (catalog, limits) = schema(tables);
    let statements = workload::read(sql, catalog.dbms).unwrap();
    let counted = conditions(&catalog, &statements, &limits.observed);
    let text = all_served(&catalog, &limits, sql).mapping;
    let (model, ..) = modelled(&text, &|_| None, &catalog, &Described::new()).unwrap();
    let of_mapping = conditions_of(&model, &catalog);
    assert_eq!(of_mapping.len(), 1, "{text}");
    assert!(of_mapping.is_subset(&counted), "{of_mapping:?} {counted:?}");
}

#[test]
fn a_copy_in_the_key_of_a_sparse_index_alone_is_in_the_rows_of_that_index() {
    let of = |attributes: &str| {
        let mapping = format!(
            "items:
  PARCEL:
    from: parcels
    key: {{ PK: \"P#{{id}}\", SK: P }}
    join: {{ z: zone_id }}
    attributes: {{ {attributes} }}
"
        );
        let sql = "-- name (1/s)\nUPDATE zones SET name = :n WHERE id = :id;";
        let counted = [("parcels", "parcels.state = 'in'", 0.1)];
        write(&priced_with(COPIED, &mapping, sql, &counted))
    };
    let sparse = "GSI2PK: { $value: \"Z#{z.name}\", $when: \"parcels.state = 'in'\" }";
    // Of 100 parcels ten: the item, and two entries.
    assert_near(of(sparse), 30.0);
    assert_near(of(&format!("{sparse}, zone: \"{{z.name}}\"")), 120.0);
}

#[test]
fn a_counter_by_an_upsert_costs_what_its_update_costs() {
    let mapping = "items:
  DAY:
    from: days
    key: { PK: \"D#{id}\", SK: A }
    attributes: { GSI2PK: \"DAY#{day}\", GSI1PK: \"N#{n}\", GSI1SK: A }
";
    let insert = "INSERT INTO days (id, day, n) VALUES (:id, :day, 1)";
    let update = "UPDATE days SET n = n + 1 WHERE id = :id";
    let add = format!("{insert} ON CONFLICT (id) DO UPDATE SET n = days.n + 1");
    let set = format!("{insert} ON CONFLICT (id) DO UPDATE SET n = excluded.n");
    // Its key changes in one index, and what the other projects.
    for (statement, units) in [(update, 4.0), (&*add, 4.0), (&*set, 3.0), (insert, 3.0)] {
        assert_units("days 1000: id, day, n", mapping, &[(statement, units)]);
    }
    // Several rows, or those of a query, are new ones.
    let several = add.replace("1) ON", "1), (:id2, :day, 1) ON");
    assert_units("days 1000: id, day, n", mapping, &[(&several, 6.0)]);
}
