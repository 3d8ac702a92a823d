//! Tables that are proposed from a schema alone, as `init` does, and for statements.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

use std::time::{Duration, Instant};

use dynafold_design::{
    Alternative, ColumnSample, Design, Limits, Observed, ReadReport, Report, conditions, design,
    guess, workload,
};
use dynafold_dynamodb::price::{Prices, SHIPPED};
use dynafold_mapping::{Described, Proofs, Raw, Resolution, resolve};
use dynafold_relational::catalog::sample::shop;
use dynafold_relational::catalog::{
    Catalog, Column, DataType, Dbms, Enforcement, ForeignKey, ReferentialAction, Table, TableKind,
    TableName, UniqueKey,
};
use dynafold_testing::spent;

fn proposed(catalog: &Catalog) -> String {
    let prices = Prices::read(SHIPPED, None).unwrap();
    design(catalog, &guess(catalog), &prices, &Limits::default()).mapping
}

fn served(catalog: &Catalog, statements: &str) -> (String, Report) {
    let found = designed(catalog, &Limits::default(), statements);
    (found.mapping, found.report)
}

fn designed(catalog: &Catalog, limits: &Limits, statements: &str) -> Design {
    let prices = Prices::read(SHIPPED, None).unwrap();
    let statements = workload::read(statements, catalog.dbms).unwrap();
    design(catalog, &statements, &prices, limits)
}

/// The shop with the types of its columns.
fn typed_shop() -> Catalog {
    let mut catalog = shop();
    for column in catalog
        .tables
        .iter_mut()
        .flat_map(|table| &mut table.columns)
    {
        column.data_type = match column.declared.as_str() {
            "bigint" | "smallint" => DataType::Integer {
                bits: 64,
                unsigned: false,
            },
            "timestamp with time zone" => DataType::Timestamp {
                digits: 6,
                zone: true,
            },
            "text" | "varchar(255)" => DataType::Text { max_chars: None },
            _ => DataType::Decimal {
                precision: None,
                scale: None,
            },
        };
        if matches!(column.data_type, DataType::Text { .. }) {
            "text".clone_into(&mut column.declared);
        }
    }
    catalog
}

fn read<'r>(report: &'r Report, name: &str) -> &'r ReadReport {
    let mut reads = report.reads.iter();
    reads.find(|read| read.name == name).unwrap()
}

/// What is to be known of a statement that is served.
fn notes(report: &Report, name: &str) -> String {
    let read = read(report, name);
    let served = read.served.as_ref();
    served
        .unwrap_or_else(|| panic!("{read:#?}"))
        .notes
        .join("; ")
}

/// What `check` says of a mapping, in which it finds no error.
#[track_caller]
fn checked(text: &str, catalog: &Catalog) -> Resolution {
    let (raw, faults) = Raw::read(text, &|_| None);
    let resolution = resolve(&raw.unwrap(), faults, catalog, &Described::new());
    assert!(
        resolution.model.is_some(),
        "{:#?}\n{text}",
        resolution.diagnostics
    );
    resolution
}

fn column(name: &str, data_type: DataType) -> Column {
    Column {
        nullable: false,
        ..Column::new(name.to_owned(), String::new(), data_type)
    }
}

/// A schema of so many tables as companies have them: lists, things of their own, children of up to four parents, N:M, and
/// two columns everywhere that say who made and changed a row.
fn company(count: usize) -> Catalog {
    let mut random = fastrand::Rng::with_seed(7);
    let mut catalog = shop();
    let whole = DataType::Integer {
        bits: 32,
        unsigned: false,
    };
    let text = DataType::Text {
        max_chars: Some(80),
    };
    let time = DataType::Timestamp {
        digits: 0,
        zone: false,
    };
    let called = |name: String| TableName {
        schema: catalog.search_path[0].clone(),
        name,
    };
    let mut tables: Vec<Table> = Vec::new();
    let mut parents: Vec<TableName> = Vec::new();
    for number in 0..count {
        let name = called(format!("t{number:03}"));
        let mut table = Table::new(name.clone(), TableKind::Table);
        table.columns = vec![column("id", whole.clone()), column("name", text.clone())];
        table.primary_key = vec!["id".to_owned()];
        let kind = random.f64();
        let mut refer = |table: &mut Table, own: String, to: &TableName| {
            let mut column = column(&own, whole.clone());
            column.nullable = random.f64() < 0.3;
            table.columns.push(column);
            table.foreign_keys.push(ForeignKey {
                name: own.clone(),
                columns: vec![own],
                references: to.clone(),
                referenced_columns: vec!["id".to_owned()],
                on_delete: if random.f64() < 0.2 {
                    ReferentialAction::Cascade
                } else {
                    ReferentialAction::NoAction
                },
                ..ForeignKey::default()
            });
        };
        let near = parents.len().saturating_sub(40);
        for (step, parent) in parents[near..].iter().rev().enumerate() {
            let is_one = match kind {
                _ if kind < 0.2 => false,
                _ if kind < 0.6 => step % 17 == 3,
                _ => step % 11 == 5,
            };
            if is_one {
                refer(&mut table, format!("{}_id", parent.name), parent);
            }
        }
        if let Some(first) = parents.first() {
            refer(&mut table, "created_by".to_owned(), first);
            refer(&mut table, "modified_by".to_owned(), first);
        }
        if kind > 0.9
            && let [one, other, ..] = &table.foreign_keys[..]
        {
            table.primary_key = [one, other].map(|key| key.columns[0].clone()).to_vec();
        } else if kind < 0.1 {
            table.unique_keys.push(UniqueKey {
                name: "by_name".to_owned(),
                columns: vec!["name".to_owned()],
                ..UniqueKey::default()
            });
        }
        table.columns.push(column("created_at", time.clone()));
        for more in 0..random.usize(0..16) {
            table
                .columns
                .push(column(&format!("c{more}"), text.clone()));
        }
        tables.push(table);
        parents.push(name);
    }
    catalog.tables = tables;
    catalog
}

#[test]
fn what_is_proposed_for_five_hundred_tables_passes_check_and_takes_seconds() {
    let catalog = company(500);
    let (begun, clock) = (spent(), Instant::now());
    let text = proposed(&catalog);
    let took = spent()
        .zip(begun)
        .and_then(|(end, begun)| end.checked_sub(begun));
    let took = took.unwrap_or_else(|| clock.elapsed());
    let resolution = checked(&text, &catalog);
    let keys_differ = resolution.proofs.as_ref().is_some_and(Proofs::keys_differ);
    assert!(keys_differ);
    // Without optimisation, on a busy machine; a program that is shipped takes a tenth.
    assert!(took < Duration::from_mins(2), "{took:?}");
}

#[test]
fn what_is_proposed_for_a_small_schema_is_as_reviewed() {
    let catalog = shop();
    let text = proposed(&catalog);
    checked(&text, &catalog);
    insta::assert_snapshot!(text);
}

#[test]
fn item_types_are_called_first_after_the_tables_that_bare_names_find() {
    let mut catalog = shop();
    let name = "orders";
    let mut other = catalog.find(name).unwrap().clone();
    other.name.schema = "A first schema".to_owned();
    other.foreign_keys.clear();
    catalog.tables.insert(0, other);
    let text = proposed(&catalog);
    checked(&text, &catalog);
    let item_type = format!("  {}:\n    from: {name}\n", name.to_uppercase());
    assert!(text.contains(&item_type), "{text}");
}

#[test]
fn a_limit_that_may_cut_between_equal_rows_is_announced_with_the_key_that_decides() {
    let catalog = typed_shop();
    let (text, report) = served(
        &catalog,
        "-- ties (1/s)
        SELECT id, placed_at FROM orders WHERE user_id = :u ORDER BY placed_at DESC LIMIT 5;
        -- byKey (1/s)
        SELECT id, placed_at FROM orders WHERE user_id = :u ORDER BY placed_at DESC, id DESC LIMIT 5;
        -- unique (1/s)
        SELECT id, email FROM users ORDER BY email LIMIT 5;
        -- joined (1/s)
        SELECT o.id, u.email FROM orders o JOIN users u ON u.id = o.user_id WHERE u.email = :e ORDER BY o.placed_at LIMIT 5;
        -- latest (1/s)
        SELECT max(placed_at) FROM orders WHERE user_id = :u;
        -- lines (1/s)
        SELECT no FROM \"Order Details\" WHERE \"Order ID\" = :o ORDER BY no LIMIT 5;
        -- all (1/s)
        SELECT id FROM orders WHERE user_id = :u ORDER BY placed_at;",
    );
    checked(&text, &catalog);
    let ties = notes(&report, "ties");
    assert!(
        ties.contains("rows may tie in the ORDER BY") && ties.contains("ORDER BY (id)"),
        "{ties}"
    );
    for name in ["joined", "byKey", "unique", "latest", "lines", "all"] {
        let notes = notes(&report, name);
        assert!(!notes.contains("may be equal"), "{name}: {notes}");
    }
}

/// So many rows may be fewer that differ.
#[test]
fn of_rows_that_distinct_drops_no_limit_is_left_in_the_access_pattern() {
    let mut catalog = typed_shop();
    // No item is kept for each of its values.
    column_of_orders(&mut catalog, "placed_at").data_type = DataType::Float { bits: 64 };
    let (text, report) = served(
        &catalog,
        "-- days (1/s)
        SELECT DISTINCT placed_at FROM orders WHERE user_id = :u ORDER BY placed_at LIMIT 3;
        -- latest (1/s)
        SELECT DISTINCT ON (user_id) user_id, id FROM orders WHERE placed_at = :t ORDER BY user_id, id;",
    );
    let latest = notes(&report, "latest");
    assert!(
        latest.contains("must do DISTINCT ON (user_id): keep the first row for each value"),
        "{latest}"
    );
    assert!(
        notes(&report, "days").contains("until it has enough rows"),
        "{text}"
    );
    assert!(
        !text.contains("limit: 3") && !text.contains("LIMIT 3"),
        "{text}"
    );
}

/// The SQL of each selects the name of a user, and each index holds that of its own.
#[test]
fn indexes_that_hold_columns_of_different_parents_of_one_table_pass_check() {
    let mut catalog = typed_shop();
    let orders = orders(&mut catalog);
    let mut seller = orders.column("user_id").unwrap().clone();
    seller.name = "seller_id".to_owned();
    let mut key = orders.foreign_keys[0].clone();
    key.columns = vec![seller.name.clone()];
    key.name = "orders_seller_fkey".to_owned();
    orders.foreign_keys.push(key);
    let kind = column("kind", DataType::Text { max_chars: Some(9) });
    orders.columns.extend([seller, kind]);
    let (text, report) = served(
        &catalog,
        "-- byKind (1/s)
        SELECT o.id, u.email AS buyer FROM orders o LEFT JOIN users u ON u.id = o.user_id WHERE o.kind = :k;
        -- byTime (1/s)
        SELECT o.id, u.email AS seller FROM orders o LEFT JOIN users u ON u.id = o.seller_id WHERE o.placed_at = :t;
        -- get (9/s)
        SELECT * FROM orders WHERE id = :id;",
    );
    assert!(report.indexes.len() > 1, "{text}");
    checked(&text, &catalog);
}

#[test]
fn of_one_statement_nothing_is_said_that_belongs_to_others() {
    let catalog = typed_shop();
    let (_, report) = served(
        &catalog,
        "-- getOrder (1/s)
        SELECT * FROM orders WHERE id = :id;
        -- getUser (1/s)
        SELECT * FROM users WHERE email = :email;
        -- ofUser (1/s, strong)
        SELECT * FROM orders WHERE user_id = :u;
        -- setEmail (9/s)
        UPDATE users SET email = :email WHERE id = :id;",
    );
    let said = |report: &Report| -> Vec<String> {
        report.warnings.iter().map(ToString::to_string).collect()
    };
    let whole = said(&report).join("\n");
    assert!(whole.contains("personal data in keys: getUser"), "{whole}");
    assert!(whole.contains("NULL in keys: ofUser"), "{whole}");
    let names = ["getOrder", "getUser", "ofUser", "setEmail"];
    for name in names {
        let only = report.clone().for_statement(name);
        let text = format!("{only:?}");
        for other in names.into_iter().filter(|other| *other != name) {
            // As a whole word.
            let mut words = text.split(|sign: char| !sign.is_alphanumeric());
            assert!(words.all(|word| word != other), "{name}: {text}");
        }
    }
    let only = report.clone().for_statement("getUser");
    let said = said(&only);
    assert!(
        said.iter()
            .any(|one| one.starts_with("personal data in keys: getUser (email)")),
        "{said:#?}"
    );
}

#[test]
fn no_two_columns_of_an_answer_have_one_name() {
    let mut catalog = typed_shop();
    let mut tables = catalog.tables.iter_mut();
    let users = tables.find(|table| table.name.name == "users").unwrap();
    let mut boss = users.column("id").unwrap().clone();
    "boss".clone_into(&mut boss.name);
    users.columns.push(boss);
    let (text, _) = served(
        &catalog,
        "-- bosses (1/s)
        SELECT o.id, a.id, b.id, c.id, a.boss FROM orders o JOIN users a ON a.id = o.user_id JOIN users b ON b.id = a.boss JOIN users c ON c.id = b.boss WHERE o.placed_at = :t;
        -- family (1/s)
        SELECT u.id, u.email AS name, u.boss AS name, o.id AS name, o.placed_at AS name FROM users u LEFT JOIN orders o ON o.user_id = u.id WHERE u.id = :u;",
    );
    let queries = text
        .lines()
        .filter(|line| line.trim_start().starts_with("SELECT "));
    let mut count = 0;
    for query in queries {
        let (outputs, _) = query.split_once(" FROM ").unwrap();
        let last = |output: &str| output.split(['.', ' ']).next_back().unwrap().to_owned();
        let mut names: Vec<String> = outputs.split(", ").map(last).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "{query}");
        count += 1;
    }
    assert_eq!(count, 2, "{text}");
}

/// The shop with a text in its orders.
fn shop_with_kinds() -> Catalog {
    let mut catalog = typed_shop();
    let kind = Column {
        declared: "text".to_owned(),
        ..column("kind", DataType::Text { max_chars: None })
    };
    orders(&mut catalog).columns.push(kind);
    for table in &mut catalog.tables {
        table.estimated_rows = Some(1_000);
    }
    catalog
}

fn orders(catalog: &mut Catalog) -> &mut Table {
    let mut tables = catalog.tables.iter_mut();
    tables.find(|table| table.name.name == "orders").unwrap()
}

fn column_of_orders<'c>(catalog: &'c mut Catalog, name: &str) -> &'c mut Column {
    let mut columns = orders(catalog).columns.iter_mut();
    columns.find(|column| column.name == name).unwrap()
}

#[test]
fn a_constant_pattern_beside_parameters_is_served_and_others_say_what_they_are() {
    let catalog = shop_with_kinds();
    for (pattern, said) in [
        ("'web-%'", "begins_with(kind, 'web-')"),
        ("'%web%'", "LIKE '%web%'"),
        ("'a_%'", "LIKE 'a_%'"),
    ] {
        let sql = format!(
            "-- all (1/s)\nSELECT id, kind FROM orders WHERE user_id = :u;
            -- meant (1/s)\nSELECT id, kind FROM orders WHERE user_id = :u AND kind LIKE {pattern};"
        );
        let (text, report) = served(&catalog, &sql);
        checked(&text, &catalog);
        assert!(report.reads[0].served.is_some(), "{report:#?}");
        assert!(text.contains(said), "{pattern}: {text}");
    }
    for (condition, said) in [
        ("kind LIKE :k", "may match inside texts"),
        ("kind LIKE '%b'", "matches inside texts"),
        ("kind LIKE 'a%b'", "more than a prefix"),
        ("kind || 'x' LIKE :k || '%'", "which is computed"),
    ] {
        let sql = format!("-- read (1/s)\nSELECT id FROM orders WHERE {condition};");
        let (_, report) = served(&catalog, &sql);
        let why = report.reads[0].why_not.clone().unwrap_or_default();
        assert!(why.contains(said), "{condition}: {why}");
    }
}

#[test]
fn a_constant_behind_a_parameter_is_passed_with_it() {
    let mut catalog = shop_with_kinds();
    for (dbms, pattern, passed) in [
        (Dbms::Postgres, ":k || '/%'", ":k || '/'"),
        (Dbms::Mysql, "concat(:k, '/%')", "concat(:k, '/')"),
    ] {
        catalog.dbms = dbms;
        let sql = format!("-- below (1/s)\nSELECT id, kind FROM orders WHERE kind LIKE {pattern};");
        let (text, report) = served(&catalog, &sql);
        assert!(report.reads[0].served.is_some(), "{report:#?}");
        let said = format!("the application computes `{passed}` and passes it as `kind`");
        assert!(notes(&report, "below").contains(&said), "{report:#?}");
        checked(&text, &catalog);
    }
    catalog.dbms = Dbms::Postgres;
    for pattern in [":k || '/_%'", ":k || '%/%'", "'%' || :k || '/%'"] {
        let sql = format!("-- below (1/s)\nSELECT id FROM orders WHERE kind LIKE {pattern};");
        let why = why_not(&served(&catalog, &sql).1);
        assert!(why.contains("matches inside texts"), "{pattern}: {why}");
    }
}

#[test]
fn no_column_becomes_one_of_the_table_in_a_subquery() {
    let catalog = shop();
    let read = |inner: &str| {
        let sql = format!(
            "-- latest (1/s)\nSELECT o.id FROM orders o WHERE o.user_id = :u AND o.placed_at = (SELECT max(placed_at) FROM {inner});"
        );
        served(&catalog, &sql)
    };
    let (text, _) = read("orders WHERE user_id = o.user_id");
    assert!(
        text.contains("FROM orders inner_orders WHERE user_id = orders.user_id"),
        "{text}"
    );
    let (text, _) = read("orders i WHERE i.user_id = o.user_id");
    assert!(text.contains("i.user_id = orders.user_id"), "{text}");
}

#[test]
fn what_neither_counts_nor_groups_is_not_read_from_figures() {
    let mut catalog = shop_with_kinds();
    orders(&mut catalog).estimated_rows = Some(1_000_000);
    let (text, report) = served(
        &catalog,
        "-- plain (50/s)\nSELECT kind FROM orders WHERE kind = :kind;
        -- two (50/s)\nSELECT kind, user_id FROM orders WHERE kind = :kind AND user_id = :u;",
    );
    assert!(!text.contains("GROUP BY"), "{text}");
    for name in ["plain", "two"] {
        let notes = notes(&report, name);
        assert!(!notes.contains("aggregates"), "{name}: {notes}");
    }
}

#[test]
fn aggregates_of_a_computed_group_are_said_to_need_all_that_no_item_keeps() {
    let mut catalog = shop_with_kinds();
    catalog.dbms = Dbms::Postgres;
    orders(&mut catalog).estimated_rows = Some(100_000_000);
    let float = typed("double precision", DataType::Float { bits: 64 });
    let name = "kind".to_owned();
    *column_of_orders(&mut catalog, "kind") = Column { name, ..float };
    let computed = "they are grouped by a computed value";
    for (figure, said) in [
        ("count(*)", computed.to_owned()),
        ("sum(kind)", format!("{computed}, and the sum of `kind`")),
    ] {
        let sql = format!(
            "-- perDay (40/s)\nSELECT date_trunc('day', placed_at) AS day, {figure} FROM orders WHERE user_id = :u GROUP BY 1;"
        );
        let (_, report) = served(&catalog, &sql);
        let why = report.reads[0].why_not.clone().unwrap_or_default();
        assert!(why.contains(&said), "{figure}: {why}");
    }
}

#[test]
fn figures_are_kept_by_columns_whose_equal_values_have_one_text_in_a_key() {
    let (digits, zone) = (6, true);
    let time = DataType::Timestamp { digits, zone };
    let bytes = |declared: &str| typed(declared, DataType::Binary { max_bytes: Some(1) });
    let loose = ": values of `kind` (double precision) may be equal though their texts in a key differ, so the aggregates cannot be kept";
    for (dbms, column, said) in [
        (Dbms::Postgres, typed("uuid", DataType::Uuid), ""),
        (Dbms::Postgres, typed("boolean", DataType::Boolean), ""),
        (
            Dbms::Postgres,
            typed("timestamp(6) with time zone", time),
            "",
        ),
        (Dbms::Postgres, text("character(4)"), "is padded with"),
        (Dbms::Mysql, text("char(36)"), "has no"),
        (Dbms::Mysql, bytes("bit(8)"), ""),
        (Dbms::Postgres, bytes("bytea"), ""),
        (
            Dbms::Postgres,
            typed("double precision", DataType::Float { bits: 64 }),
            loose,
        ),
    ] {
        let mut catalog = shop_with_kinds();
        catalog.dbms = dbms;
        orders(&mut catalog).estimated_rows = Some(100_000_000);
        let declared = column.declared.clone();
        let name = "kind".to_owned();
        *column_of_orders(&mut catalog, "kind") = Column { name, ..column };
        let (mapping, report) = served(
            &catalog,
            "-- q (40/s)\nSELECT count(*) AS n FROM orders WHERE kind = :k;",
        );
        let why = why_not(&report);
        if said == loose {
            assert!(why.contains(said), "{declared}: {why}");
            continue;
        }
        assert_eq!(why, "", "{declared}");
        assert!(mapping.contains("GROUP BY"), "{declared}: {mapping}");
        let notes = notes(&report, "q");
        let is_told = notes.contains(&format!("kind {said} blanks"));
        assert_eq!(is_told, !said.is_empty(), "{declared}: {notes}");
    }
}

#[test]
fn what_counts_or_omits_scans_says_so() {
    let (_, report) = served(
        &shop_with_kinds(),
        "-- get (9/s)\nSELECT id, kind FROM orders WHERE id = :id;
        -- clear (1/s)\nDELETE FROM orders WHERE kind = :kind;",
    );
    let said = "USD a month on demand without the Scans of clear: reads";
    assert!(report.sum.text().contains(said), "{}", report.sum.text());
    let get = report.clone().for_statement("get").sum.text();
    assert!(!get.contains("Scan"), "{get}");
    let clear = report.for_statement("clear").sum.text();
    assert!(clear.contains(said), "{clear}");
    let fewer = Alternative {
        indexes: 2,
        usd_month: Some(553.06),
        unserved: Vec::new(),
        not_consistent: 0,
        with_scans_of: vec!["move".to_owned(), "drop".to_owned()],
    };
    let said = "Each dropped index counts as 1 USD saved, which AWS does not charge. The Scans of move, drop are included";
    assert!(
        fewer.rejection_text().contains(said),
        "{}",
        fewer.rejection_text()
    );
}

#[test]
fn the_way_out_of_exists_and_of_locks_is_theirs() {
    let of = |sql: &str| why_not(&served(&shop_with_kinds(), sql).1);
    let known = of(
        "-- known (1/s)\nSELECT id, EXISTS (SELECT 1 FROM users u WHERE u.id = orders.user_id) AS known FROM orders WHERE id = :id;",
    );
    assert!(
        known.contains("selects whether a subquery finds rows; instead: leave it out, and send the subquery as a statement of its own"),
        "{known}"
    );
    let locked = of("-- locked (1/s)\nSELECT id, kind FROM orders WHERE id = :id FOR UPDATE;");
    assert!(
        locked.contains(
            "it has FOR UPDATE; instead: read without the lock, and write with a condition"
        ),
        "{locked}"
    );
    let unread = of("-- unread (1/s)\nSELECT id FROM orders WHERE id = = :id;");
    assert!(unread.contains("line numbers count"), "{unread}");
    let unread = of("-- unread (1/s)\nSELECT id FROM orders WHERE (id = :id;");
    assert!(!unread.contains("line numbers count"), "{unread}");
}

#[test]
fn a_figure_that_is_selected_twice_is_in_the_item_once_under_the_name_that_is_asked_for() {
    let mut catalog = shop_with_kinds();
    orders(&mut catalog).estimated_rows = Some(1_000_000);
    let (text, report) = served(
        &catalog,
        "-- figures (50/s)\nSELECT kind, avg(user_id) AS a, sum(user_id) AS s, sum(user_id) AS t FROM orders WHERE kind = :kind GROUP BY kind;",
    );
    assert!(text.contains("GROUP BY"), "{text}");
    assert!(
        text.contains("sum(orders.user_id) AS s, count(orders.user_id) AS count_user_id FROM"),
        "{text}"
    );
    let notes = notes(&report, "figures");
    assert!(notes.contains("`t` has the same value as `s`"), "{notes}");
    // An alias may be what the item calls the figure anyway.
    let (text, report) = served(
        &catalog,
        "-- figures (50/s)\nSELECT kind, sum(user_id) AS sum_user_id, sum(user_id) AS t FROM orders WHERE kind = :kind GROUP BY kind;",
    );
    assert!(text.contains("AS sum_user_id FROM"), "{text}");
    let notes = self::notes(&report, "figures");
    assert!(
        notes.contains("`t` has the same value as `sum_user_id`"),
        "{notes}"
    );
}

#[test]
fn no_figure_is_read_without_a_condition_of_its_query() {
    let mut catalog = shop_with_kinds();
    catalog.dbms = Dbms::Postgres;
    orders(&mut catalog).estimated_rows = Some(1_000_000);
    for inner in [
        "SELECT avg(user_id) FROM orders",
        "SELECT count(users) FROM users",
    ] {
        let sql = format!(
            "-- figures (50/s)\nSELECT kind, count(*) AS c FROM orders WHERE kind = :k AND user_id > ({inner}) GROUP BY kind;
            -- rows (50/s)\nSELECT id FROM orders WHERE kind = :k AND user_id > ({inner});"
        );
        let (text, report) = served(&catalog, &sql);
        assert!(!text.contains("count(*)"), "{text}");
        for read in &report.reads {
            let is_whole = text.split("sql:").any(|sql| sql.contains(inner));
            assert!(read.served.is_none() || is_whole, "{text}");
        }
    }
}

#[test]
fn figures_of_texts_that_the_database_compares_by_a_collation_are_noted() {
    let mut catalog = shop_with_kinds();
    column_of_orders(&mut catalog, "kind").insensitive = true;
    let (_, report) = served(
        &catalog,
        "-- extremes (5/s)\nSELECT max(kind) AS a, min(kind) AS b FROM orders WHERE user_id = :u;
        -- distinct (5/s)\nSELECT count(DISTINCT kind) AS c FROM orders WHERE user_id = :u;
        -- counted (5/s)\nSELECT count(kind) AS c, max(user_id) AS m FROM orders WHERE user_id = :u;",
    );
    let extremes = notes(&report, "extremes");
    assert!(
        extremes.contains("it computes max(), min(): "),
        "{extremes}"
    );
    for (name, is_noted) in [("extremes", true), ("distinct", true), ("counted", false)] {
        let notes = notes(&report, name);
        assert_eq!(
            notes.contains("may not compare values of kind byte by byte"),
            is_noted,
            "{name}: {notes}"
        );
    }
}

#[test]
fn figures_of_values_of_several_types_are_noted() {
    let mut catalog = tables_of(&[("marks", 50, &["id", "owner", "score"])]);
    catalog.dbms = Dbms::Sqlite;
    let sql = "-- total (5/s)\nSELECT sum(score) AS s, max(id) AS m FROM marks WHERE owner = :o;";
    for mixed in [0, 3] {
        let mut limits = observed(&catalog, ("marks", "score"), [50, 10, 9]);
        for sample in limits.observed.columns.values_mut() {
            sample.mixed = mixed;
        }
        let (report, _) = warned(&catalog, sql, &limits);
        let notes = notes(&report, "total");
        let said = "some values of score are not of its type";
        assert_eq!(notes.contains(said), mixed > 0, "{notes}");
    }
}

#[test]
fn what_a_database_sorts_otherwise_than_its_text_is_asked_of_no_sort_key() {
    let labels = ["sick", "parental"].map(str::to_owned).into();
    let named = typed("enum('sick','parental')", DataType::Enum { values: labels });
    let collation = Some("utf8mb4_0900_ai_ci".to_owned());
    let named = Column { collation, ..named };
    let time = DataType::Time {
        digits: 0,
        zone: false,
    };
    for (dbms, column, is_sorted) in [
        (Dbms::Postgres, typed("uuid", DataType::Uuid), true),
        (Dbms::Mariadb, typed("uuid", DataType::Uuid), false),
        (Dbms::Mariadb, text("inet6"), false),
        (Dbms::Mysql, typed("time", time), false),
        (Dbms::Mysql, named, false),
    ] {
        let mut catalog = shop_with_kinds();
        catalog.dbms = dbms;
        let said = format!("kind ({}), whose values do not sort", column.declared);
        let name = "kind".to_owned();
        *column_of_orders(&mut catalog, "kind") = Column { name, ..column };
        let (_, report) = served(
            &catalog,
            "-- above (5/s)\nSELECT id, kind FROM orders WHERE user_id = :u AND kind > :k;
            -- last (5/s)\nSELECT max(kind) AS last FROM orders WHERE user_id = :u;
            -- both (5/s)\nSELECT min(kind) AS a, max(kind) AS b FROM orders WHERE user_id = :u;
            -- orNone (5/s)\nSELECT coalesce(max(kind), 'none') AS last FROM orders WHERE user_id = :u;
            -- sorted (5/s)\nSELECT id, kind FROM orders WHERE user_id = :u ORDER BY kind;",
        );
        let why = |name: &str| read(&report, name).why_not.clone().unwrap_or_default();
        let refused = why("above").contains(&format!("asks for a range of {said}"));
        assert_eq!(refused, !is_sorted, "{dbms:?}: {}", why("above"));
        let sorted = notes(&report, "sorted");
        let is_told = sorted.contains(&format!("its SQL sorts by {said}"));
        assert_eq!(is_told, !is_sorted, "{dbms:?}: {sorted}");
        assert!(!sorted.contains("by bytes"), "{dbms:?}: {sorted}");
        for name in ["last", "both", "orNone"] {
            let notes = notes(&report, name);
            let is_told = notes.contains("may not compare values of kind byte by byte");
            assert_eq!(is_told, !is_sorted, "{dbms:?} {name}: {notes}");
        }
    }
}

#[test]
fn a_constant_stands_in_a_filter_where_both_sides_read_it_alike() {
    let whole = DataType::Integer {
        bits: 16,
        unsigned: true,
    };
    let decimal = DataType::Decimal {
        precision: Some(30),
        scale: Some(20),
    };
    let states = DataType::Enum {
        values: vec!["open".to_owned(), "closed".to_owned()],
    };
    let text = DataType::Text { max_chars: None };
    for (dbms, declared, data_type, condition, filter) in [
        (Dbms::Postgres, "text", &text, "kind <> 'it''s'", ""),
        (Dbms::Postgres, "text", &text, "kind <> E'a\\nb'", ""),
        (Dbms::Postgres, "text", &text, "kind LIKE 'it''s%'", ""),
        (Dbms::Postgres, "text", &text, "kind = 'it''s'", ""),
        (Dbms::Sqlite, "integer", &whole, "kind > .5", "kind > 0.5"),
        (Dbms::Sqlite, "integer", &whole, "kind > 5.", "kind > 5"),
        (Dbms::Postgres, "numeric", &decimal, "kind < 1e200", ""),
        (
            Dbms::Postgres,
            "numeric",
            &decimal,
            "kind = 0.1e0",
            "kind = 0.1",
        ),
        (
            Dbms::Mariadb,
            "decimal(30,20)",
            &decimal,
            "kind = 0.1e0",
            "",
        ),
        (
            Dbms::Mariadb,
            "decimal(30,20)",
            &decimal,
            "kind = 0.1",
            "kind = 0.1",
        ),
        (Dbms::Mysql, "enum", &states, "kind <> 'CLOSED'", ""),
        (Dbms::Mysql, "enum", &states, "kind = 'CLOSED'", ""),
        (
            Dbms::Mysql,
            "enum",
            &states,
            "kind <> 'closed'",
            "kind <> 'closed'",
        ),
        (Dbms::Mysql, "year", &whole, "kind = 26", ""),
        (Dbms::Mysql, "year", &whole, "kind = 2026", "kind = 2026"),
        (
            Dbms::Mysql,
            "smallint unsigned",
            &whole,
            "kind = 26",
            "kind = 26",
        ),
    ] {
        let mut catalog = shop_with_kinds();
        catalog.dbms = dbms;
        let kind = column_of_orders(&mut catalog, "kind");
        kind.data_type = data_type.clone();
        declared.clone_into(&mut kind.declared);
        let (text, _) = served(
            &catalog,
            &format!(
                "-- all (90/s)\nSELECT id, kind FROM orders WHERE user_id = :u;
                -- some (1/s)\nSELECT id, kind FROM orders WHERE user_id = :u AND {condition};"
            ),
        );
        checked(&text, &catalog);
        let filters = text.lines().filter(|line| line.contains("filter:"));
        let filters: Vec<&str> = filters.collect();
        if filter.is_empty() {
            assert_eq!(filters, Vec::<&str>::new(), "{declared}: {condition}");
            assert!(
                !text.contains("CLOSED#") && !text.contains("#CLOSED\""),
                "{text}"
            );
        } else {
            let is_there = filters.iter().any(|line| line.contains(filter));
            assert!(is_there, "{declared}: {condition}: {filters:?}\n{text}");
        }
    }
}

#[test]
fn a_reference_that_is_not_enforced_may_lead_nowhere() {
    let by_email = "-- by_email (50/s)
        SELECT o.id, o.kind, u.email FROM orders o JOIN users u ON u.id = o.user_id WHERE u.email = :email;";
    let in_order = "-- in_order (1/s)
        SELECT o.id, o.kind, u.email FROM orders o LEFT JOIN users u ON u.id = o.user_id WHERE o.kind = :kind ORDER BY u.email, o.id;";
    for (dbms, enforcement, may_lack) in [
        (Dbms::Postgres, Enforcement::Enforced, false),
        (Dbms::Postgres, Enforcement::NotValid, true),
        (Dbms::Postgres, Enforcement::NotEnforced, true),
        (Dbms::Sqlite, Enforcement::Enforced, true),
    ] {
        let mut catalog = shop_with_kinds();
        catalog.dbms = dbms;
        catalog
            .tables
            .retain(|table| ["orders", "users"].contains(&&*table.name.name));
        for table in &mut catalog.tables {
            for key in &mut table.foreign_keys {
                key.enforcement = enforcement;
            }
            for own in &mut table.columns {
                own.nullable = false;
            }
            table.unique_keys.clear();
            table.estimated_rows = Some(3);
        }
        // The table's own key does not take for granted that there is a parent.
        let (text, _) = served(&catalog, by_email);
        let mut keys = text.lines().filter(|line| line.contains("key: { PK:"));
        let is_home = keys.any(|line| line.contains("{users.email"));
        assert_eq!(is_home, !may_lack, "{dbms:?} {enforcement:?}: {text}");
        // What is equal to a parent's column has that parent.
        assert!(!text.contains("attribute_exists"), "{text}");
        // Nor does one that sorts.
        for table in &mut catalog.tables {
            table.estimated_rows = Some(1_000_000);
        }
        let (text, _) = served(&catalog, in_order);
        let mut sorted = text.lines().filter(|line| line.contains("SK: \""));
        let key = sorted.find(|line| line.contains("{users.email"));
        let key = key.unwrap_or_else(|| panic!("{text}"));
        let stands_for_null = key.contains("default");
        assert_eq!(
            stands_for_null, may_lack,
            "{dbms:?} {enforcement:?}: {text}"
        );
    }
}

#[test]
fn no_range_of_booleans_is_asked_of_a_table() {
    let mut catalog = shop_with_kinds();
    column_of_orders(&mut catalog, "kind").data_type = DataType::Boolean;
    let (text, report) = served(
        &catalog,
        "-- by_parameter (1/s)
        SELECT id FROM orders WHERE user_id = :user AND kind > :kind;
        -- by_constant (1/s)
        SELECT id FROM orders WHERE user_id = :user AND kind >= true;
        -- equal (1/s)
        SELECT id FROM orders WHERE user_id = :user AND kind = :kind;",
    );
    let why_not = |name: &str| read(&report, name).why_not.as_deref().unwrap_or_default();
    let why = why_not("by_parameter");
    assert!(why.contains("range of booleans"), "{why}");
    assert_eq!(why_not("equal"), "");
    let mut filters = text.lines().filter(|line| line.contains("filter:"));
    assert!(filters.all(|line| !line.contains('>')), "{text}");
}

#[test]
fn a_column_that_is_left_out_is_not_called_an_alias() {
    let (_, report) = served(
        &typed_shop(),
        "-- read (1/s)
        SELECT o.id, o.user_id, u.id AS uid FROM orders o JOIN users u ON u.id = o.user_id WHERE o.id = :id;",
    );
    let notes = notes(&report, "read");
    assert!(notes.contains("`uid` (equal to `user_id`)"), "{notes}");
}

#[test]
fn groups_by_a_collation_are_named() {
    let mut catalog = shop_with_kinds();
    let reads = "-- groups (1/s)
        SELECT kind, count(*) FROM orders WHERE user_id = :u GROUP BY kind;
        -- distinct (1/s)
        SELECT DISTINCT kind FROM orders WHERE user_id = :u;
        -- first (1/s)
        SELECT DISTINCT ON (kind) kind, id FROM orders WHERE user_id = :u ORDER BY kind, id;
        -- other (1/s)
        SELECT DISTINCT placed_at FROM orders WHERE user_id = :u;";
    let said = "texts of kind that differ in case";
    let (_, report) = served(&catalog, reads);
    let all = ["groups", "distinct", "first", "other"];
    assert!(all.iter().all(|name| !notes(&report, name).contains(said)));
    column_of_orders(&mut catalog, "kind").insensitive = true;
    let (_, report) = served(&catalog, reads);
    for name in all {
        let notes = notes(&report, name);
        assert_eq!(notes.contains(said), name != "other", "{name}: {notes}");
    }
}

#[test]
fn a_collection_is_found_with_its_children() {
    let mut catalog = typed_shop();
    for table in &mut catalog.tables {
        let is_child = table.name.name == "orders";
        table.estimated_rows = Some(if is_child { 3_000 } else { 1_000 });
    }
    let (_, report) = served(
        &catalog,
        "-- whole (1/s)
        SELECT u.id, u.email, o.id AS oid, o.placed_at FROM users u LEFT JOIN orders o ON o.user_id = u.id WHERE u.id = :u;
        -- one (1/s)
        SELECT id, email FROM users WHERE id = :u;",
    );
    let found = |name: &str| read(&report, name).served.as_ref().unwrap().found;
    // A user and three orders.
    assert!((found("whole") - 4.0).abs() < 0.01, "{}", found("whole"));
    assert!((found("one") - 1.0).abs() < 0.01, "{}", found("one"));
}

#[test]
fn a_type_that_cuts_what_it_is_compared_with_is_compared_by_its_text() {
    let mut catalog = shop_with_kinds();
    "\"char\"".clone_into(&mut column_of_orders(&mut catalog, "kind").declared);
    let (text, report) = served(
        &catalog,
        "-- read (1/s)\nSELECT id, kind FROM orders WHERE kind = :k;
        -- other (1/s)\nSELECT id FROM orders WHERE user_id = :u AND kind <> :k;",
    );
    let notes = notes(&report, "read");
    assert!(
        notes.contains("DynamoDB compares kind byte by byte"),
        "{notes}"
    );
    assert!(text.contains("AS text) COLLATE \"C\" = :k"), "{text}");
    assert!(
        report.reads.iter().any(|read| read.why_not.is_some()),
        "{report:#?}"
    );
}

#[test]
fn literals_of_one_column_are_a_list_of_examples() {
    let catalog = shop_with_kinds();
    let served = |condition: &str| {
        let sql = format!("-- get (50/s)\nSELECT id, kind FROM orders WHERE {condition};");
        let (text, report) = served(&catalog, &sql);
        checked(&text, &catalog);
        assert!(!text.contains("$when"), "{condition}: {text}");
        let notes = notes(&report, "get");
        let served = report.reads[0].served.clone().unwrap();
        (served.requests, served.units, text, notes)
    };
    for (condition, parameter, named) in [
        ("id IN (:a, :b, :c, :d)", "a", "`:a`, `:b`, `:c`, `:d`"),
        ("id IN (3, 17, 200, 411)", "id", "`3`, `17`, `200`, `411`"),
        (
            "id = 3 OR id = 17 OR (id IN (200) OR 411 = id)",
            "id",
            "`3`, `17`, `200`, `411`",
        ),
        (
            "kind IN ('a', 'b', 'c', 'd')",
            "kind",
            "`'a'`, `'b'`, `'c'`, `'d'`",
        ),
    ] {
        let (requests, units, _, notes) = served(condition);
        assert_eq!((requests, units), (4, 2.0), "{condition}");
        let said =
            format!("one request for each distinct value among {named}, passed as `{parameter}`");
        assert!(notes.contains(&said), "{condition}: {notes}");
    }
    // Beside a key it is asked by a filter in one request, where that costs less.
    let (requests, _, text, _) = served("user_id = 7 AND kind IN ('a', 'b')");
    assert_eq!(requests, 1);
    assert!(
        text.contains("filter: \"kind IN (:kind, :kind_2)\""),
        "{text}"
    );
    // Figures of a list are those of all of its values.
    let counted = "-- count (50/s)\nSELECT count(*) FROM orders WHERE orders.kind IN ('a', 'b');";
    let mut large = catalog.clone();
    orders(&mut large).estimated_rows = Some(1_000_000);
    let (text, report) = self::served(&large, counted);
    assert_eq!(report.reads[0].served.as_ref().unwrap().requests, 1);
    assert!(text.contains("WHERE orders.kind IN ('a', 'b')"), "{text}");
}

#[test]
fn a_literal_in_lower_case_is_an_example() {
    let catalog = typed_shop();
    let (text, _) = served(
        &catalog,
        "-- get (50/s)\nSELECT * FROM users WHERE lower(email) = lower('A@EX.com');",
    );
    assert!(!text.contains("$when"), "{text}");
    assert!(text.contains("EMAIL#{email | lower}"), "{text}");
    assert!(text.contains("lower(email) = lower(:email)"), "{text}");
}

/// Orders of SQLite with a text that stands before a delimiter and holds it, and times as text, counted in all rows.
fn orders_of_sqlite() -> (Catalog, Limits) {
    let mut catalog = shop_with_kinds();
    catalog.dbms = Dbms::Sqlite;
    let text = |name: &str| Column {
        declared: "TEXT".to_owned(),
        ..column(name, DataType::Text { max_chars: None })
    };
    orders(&mut catalog)
        .columns
        .extend([text("ordered_on"), text("code")]);
    let mut limits = Limits::default();
    let table = catalog.find("orders").unwrap();
    for own in &table.columns {
        let is_time = own.name == "ordered_on";
        let sample = ColumnSample {
            rows: 1_000,
            present: 1_000,
            distinct: 50,
            bytes: 10_000,
            chars: 10_000,
            most: 200,
            unescaped: if is_time { 1_000 } else { 0 },
            is_all: true,
            ..ColumnSample::default()
        };
        let place = (table.name.clone(), own.name.clone());
        limits.observed.columns.insert(place, sample);
    }
    (catalog, limits)
}

fn served_within(catalog: &Catalog, limits: &Limits, statements: &str) -> (String, Report) {
    let found = designed(catalog, limits, statements);
    checked(&found.mapping, catalog);
    (found.mapping, found.report)
}

#[test]
fn escaped_keys_sort_the_texts_that_they_leave_as_they_are() {
    let (mut catalog, mut limits) = orders_of_sqlite();
    orders(&mut catalog).estimated_rows = Some(4_000);
    let orders = catalog.find("orders").unwrap().name.clone();
    limits.delimited = [
        (orders.clone(), "kind".to_owned()),
        (orders, "code".to_owned()),
    ]
    .into();
    let sql = "-- byTime (30/s)
        SELECT id, ordered_on FROM orders WHERE kind = :k AND ordered_on >= :a AND ordered_on < :b ORDER BY ordered_on;
        -- byCode (30/s)
        SELECT id, code FROM orders WHERE code > :k ORDER BY code;
        -- get (30/s)
        SELECT id FROM orders WHERE code = :c;";
    let (text, report) = served_within(&catalog, &limits, sql);
    let is_served = |name: &str| read(&report, name).served.is_some();
    assert!(text.contains("key_escape: percent"), "{text}");
    assert!(is_served("byTime") && is_served("get"), "{report:#?}");
    // Texts sort by a key without words, but no range of it is asked for.
    let by_code = read(&report, "byCode").served.as_ref().unwrap();
    assert!((by_code.found - 4_000.0).abs() < 1.0, "{text}");
    assert!(text.contains("filter: \"code > :k\""), "{text}");
    assert!(notes(&report, "byTime").contains("the bounds of ordered_on must not contain"));
    let named: Vec<String> = (report.warnings.iter())
        .map(|one| format!("{one:?}"))
        .filter(|one| one.contains("delimiter in values"))
        .collect();
    assert!(named.concat().contains("orders.code"), "{named:?}");
}

#[test]
fn what_is_computed_and_compared_with_a_constant_decides_who_is_in_an_index() {
    let (catalog, limits) = orders_of_sqlite();
    let sql = "-- dark (9/s)\nSELECT id FROM orders WHERE user_id = :u AND json_extract(code, '$.x') = 'dark';";
    let (text, _) = served_within(&catalog, &limits, sql);
    assert!(text.contains("$when"), "{text}");
}

#[test]
fn a_constant_that_no_key_escapes_stays_in_keys_where_others_are_escaped() {
    let (catalog, mut limits) = orders_of_sqlite();
    let orders = catalog.find("orders").unwrap().name.clone();
    limits.delimited = [(orders, "code".to_owned())].into();
    for (constant, stands) in [("web", true), ("Web", false), ("web_2", false)] {
        let sql = format!(
            "-- one (60/s)\nSELECT id FROM orders WHERE kind = '{constant}' AND user_id = :u ORDER BY ordered_on DESC, id DESC LIMIT 20;
            -- any (30/s)\nSELECT id FROM orders WHERE kind = :k AND user_id = :u ORDER BY ordered_on DESC, id DESC LIMIT 20;"
        );
        let (text, _) = served_within(&catalog, &limits, &sql);
        assert!(text.contains("key_escape: percent"), "{text}");
        let is_in_key = text.contains(&format!("#{constant}"));
        assert_eq!(is_in_key, stands, "{constant}: {text}");
    }
}

#[test]
fn a_filter_and_an_index_compete_by_price() {
    let (catalog, limits) = orders_of_sqlite();
    // Up to 200 items have one value: that is no reason for an index which each write pays for.
    let sql = "-- all (30/s)
        SELECT id, ordered_on FROM orders WHERE user_id = :u ORDER BY ordered_on;
        -- some (5/s)
        SELECT id, ordered_on FROM orders WHERE user_id = :u AND kind = :k ORDER BY ordered_on;
        -- new (1000/s)
        INSERT INTO orders (id, user_id, kind, ordered_on) VALUES (:id, :u, :k, :o);";
    let (text, _) = served_within(&catalog, &limits, sql);
    assert!(text.contains("filter: \"kind = :k\""), "{text}");
}

#[test]
fn the_greatest_value_is_one_item_of_the_key_of_another_read() {
    let catalog = shop_with_kinds();
    let (text, report) = served(
        &catalog,
        "-- history (30/s)\nSELECT id, placed_at FROM orders WHERE user_id = :u ORDER BY placed_at DESC, id LIMIT 20;
        -- latest (40/s)\nSELECT max(placed_at) FROM orders WHERE user_id = :u;
        -- new (9/s)\nINSERT INTO orders (id) VALUES (:id);",
    );
    let pattern = text.split("  latest:").nth(1).unwrap();
    assert!(pattern.contains("limit: 1\n"), "{text}");
    assert_eq!(report.indexes.len(), 1, "{text}");
    let notes = notes(&report, "latest");
    assert!(!notes.contains("the application"), "{notes}");
}

#[test]
fn the_greatest_value_is_found_whatever_the_order_of_the_key() {
    let mut catalog = shop_with_kinds();
    catalog.dbms = Dbms::Mariadb;
    let name = "id".to_owned();
    let id = typed("uuid", DataType::Uuid);
    *column_of_orders(&mut catalog, "id") = Column { name, ..id };
    let (text, report) = served(
        &catalog,
        "-- latest (40/s)\nSELECT max(placed_at) FROM orders WHERE user_id = :u;",
    );
    assert!(
        text.contains("ORDER BY orders.placed_at DESC LIMIT 1"),
        "{text}"
    );
    let notes = notes(&report, "latest");
    assert!(!notes.contains("the application"), "{notes}");
}

#[test]
fn a_column_without_case_is_asked_in_lower_case_where_all_is_ascii() {
    for (dbms, collation) in [(Dbms::Sqlite, "NOCASE"), (Dbms::Postgres, "citext")] {
        let (mut catalog, mut limits) = orders_of_sqlite();
        catalog.dbms = dbms;
        let kind = column_of_orders(&mut catalog, "kind");
        kind.insensitive = true;
        kind.collation = Some(collation.to_owned());
        let sql = "-- byKind (30/s)\nSELECT id FROM orders WHERE kind = 'web';";
        let (text, report) = served_within(&catalog, &limits, sql);
        assert!(text.contains("{kind | lower}"), "{text}");
        assert!(text.contains("WHERE kind = :kind"), "{text}");
        assert!(!notes(&report, "byKind").contains("byte by byte"), "{text}");
        // Of other letters SQLite keeps the case.
        for sample in limits.observed.columns.values_mut() {
            sample.bytes += 1;
        }
        let (text, report) = served_within(&catalog, &limits, sql);
        assert!(!text.contains("| lower"), "{text}");
        assert!(notes(&report, "byKind").contains("byte by byte"), "{text}");
    }
}

/// MySQL's binary collations keep case apart, and leave blanks at the end out of account.
#[test]
fn a_binary_collation_that_ignores_blanks_keeps_case() {
    let mut catalog = shop_with_kinds();
    catalog.dbms = Dbms::Mysql;
    let reads = "-- begins (30/s)
        SELECT id, kind FROM orders WHERE kind LIKE 'we%' ORDER BY kind;";
    for (collation, folds) in [
        (None, false),
        (Some("latin1_bin"), false),
        (Some("utf8mb4_0900_ai_ci"), true),
    ] {
        let kind = column_of_orders(&mut catalog, "kind");
        kind.insensitive = true;
        kind.collation = collation.map(str::to_owned);
        let (text, _) = served(&catalog, reads);
        assert_eq!(text.contains("lower"), folds, "{collation:?}: {text}");
    }
}

#[test]
fn sql_that_is_written_anew_says_which_of_equal_rows_its_limit_takes() {
    let catalog = shop_with_kinds();
    let (text, report) = served(
        &catalog,
        "-- latest (30/s)\nSELECT kind FROM orders WHERE user_id = :u ORDER BY placed_at DESC LIMIT 20;",
    );
    assert!(
        text.contains(r#"ORDER BY orders.placed_at DESC, orders."id" LIMIT 20"#),
        "{text}"
    );
    let notes = notes(&report, "latest");
    assert!(notes.contains("also sorts by the key"), "{notes}");
    assert!(!notes.contains("may be equal"), "{notes}");
}

/// Tables with rows, each column a whole number, with the primary key first. A name with `@` refers to the table behind it.
fn tables_of(tables: &[(&str, u64, &[&str])]) -> Catalog {
    let mut catalog = shop();
    let schema = catalog.search_path[0].clone();
    let whole = DataType::Integer {
        bits: 64,
        unsigned: false,
    };
    let called = |name: &str| TableName {
        schema: schema.clone(),
        name: name.to_owned(),
    };
    catalog.tables = tables
        .iter()
        .map(|(name, rows, columns)| {
            let mut table = Table::new(called(name), TableKind::Table);
            table.estimated_rows = Some(*rows);
            for said in *columns {
                let (own, parent) = said.split_once('@').unwrap_or((said, ""));
                table.columns.push(column(own, whole.clone()));
                if !parent.is_empty() {
                    table.foreign_keys.push(ForeignKey {
                        name: own.to_owned(),
                        columns: vec![own.to_owned()],
                        references: called(parent),
                        referenced_columns: vec!["id".to_owned()],
                        ..ForeignKey::default()
                    });
                }
            }
            table.primary_key = vec![table.columns[0].name.clone()];
            table
        })
        .collect();
    catalog
}

/// Limits with what was counted of one column.
fn observed(catalog: &Catalog, column: (&str, &str), counts: [u64; 3]) -> Limits {
    let mut limits = Limits::default();
    observe(&mut limits, catalog, column, counts);
    limits
}

/// What was counted of a column: rows, different values, and the rows with the most frequent one.
fn observe(limits: &mut Limits, catalog: &Catalog, column: (&str, &str), counts: [u64; 3]) {
    let mut tables = catalog.tables.iter();
    let table = tables.find(|table| table.name.name == column.0).unwrap();
    let [rows, distinct, most] = counts;
    let sample = ColumnSample {
        rows,
        present: rows,
        distinct,
        most,
        bytes: rows * 4,
        is_all: true,
        ..ColumnSample::default()
    };
    let place = (table.name.clone(), column.1.to_owned());
    limits.observed.columns.insert(place, sample);
}

fn warned(catalog: &Catalog, statements: &str, limits: &Limits) -> (Report, Vec<String>) {
    let report = designed(catalog, limits, statements).report;
    let warnings = report.warnings.iter().map(ToString::to_string).collect();
    (report, warnings)
}

fn units(report: &Report, name: &str) -> f64 {
    let mut writes = report.writes.iter();
    writes.find(|write| write.name == name).unwrap().units
}

#[test]
fn copies_do_not_stand_in_an_index_that_projects_their_name_for_others() {
    let catalog = tables_of(&[
        ("items", 1_000, &["id", "x", "y", "price"]),
        ("watches", 20_000, &["id", "item_id@items", "owner"]),
        ("sellers", 1_000, &["id", "nick", "price"]),
    ]);
    let reads = "-- item (900/s)\nSELECT * FROM items WHERE id = :id;
        -- byX (500/s)\nSELECT id, price FROM items WHERE x = :x;
        -- byY (500/s)\nSELECT id FROM items WHERE y = :y;
        -- watch (200000/s)\nSELECT w.id, i.price FROM watches w JOIN items i ON i.id = w.item_id WHERE w.id = :id;
        -- watchersOf (100/s)\nSELECT id, owner FROM watches WHERE owner = :o;
        -- raise (50/s)\nUPDATE items SET price = :p WHERE id = :id;";
    let (report, _) = warned(&catalog, reads, &Limits::default());
    // One has the watches by item: it finds the copies.
    assert_eq!(report.indexes.len(), 3, "{report:#?}");
    // The item, its entry for byX, and the copies, which no index holds.
    assert!((units(&report, "raise") - 22.0).abs() < 0.01, "{report:#?}");
    // Where there is no such index beside it, one more pays.
    let reads = reads.replace("-- byY (500/s)\nSELECT id FROM items WHERE y = :y;", "");
    let (report, _) = warned(&catalog, &reads, &Limits::default());
    assert_eq!(report.indexes.len(), 3, "{report:#?}");
    assert!((units(&report, "raise") - 22.0).abs() < 0.01, "{report:#?}");
}

#[test]
fn children_beside_their_parent_stand_as_another_read_of_them_sorts_them() {
    let catalog = tables_of(&[
        ("sellers", 1_000, &["id", "nick"]),
        ("items", 20_000, &["id", "seller@sellers", "state", "ends"]),
    ]);
    let reads = "-- page (100/s)\nSELECT s.id, s.nick, i.id AS item, i.state FROM sellers s LEFT JOIN items i ON i.seller = s.id WHERE s.id = :id;
        -- inState (60/s)\nSELECT id, ends FROM items WHERE seller = :s AND state = :st ORDER BY ends;
        -- list (20/s)\nINSERT INTO items (id, seller, state, ends) VALUES (:i, :s, :st, :e);";
    let (text, report) = served(&catalog, reads);
    assert!(report.indexes.is_empty(), "{text}");
    assert!(report.serves_all(), "{report:#?}");
    let key = "SK: \"SELLERS#ITEMS#{state | ordered}#{ends | ordered}#{id | pad(20)}\"";
    assert!(text.contains(key), "{text}");
    // Children that are to come in an order of their own are sorted by that.
    let sorted = reads.replace("WHERE s.id = :id;", "WHERE s.id = :id ORDER BY i.id;");
    let (text, _) = served(&catalog, &sorted);
    assert!(text.contains("SELLERS#ITEMS#{id | pad(20)}"), "{text}");
}

#[test]
fn a_write_whose_rows_no_key_finds_is_named_and_not_priced_as_found() {
    let catalog = tables_of(&[("users", 1_000, &["id", "code", "name"])]);
    let reads = "-- login (100/s, strong)\nSELECT id, name FROM users WHERE code = :c;
        -- rename (40/s)\nUPDATE users SET name = :n WHERE id = :id;
        -- recode (1/s)\nUPDATE users SET name = :n WHERE code = :c;";
    let limits = Limits {
        indexes: 0,
        ..Limits::default()
    };
    let (report, warnings) = warned(&catalog, reads, &limits);
    let lost = |warning: &&String| warning.starts_with("no key finds the rows: rename:");
    assert!(
        warnings.iter().any(|warning| lost(&warning)),
        "{warnings:#?}"
    );
    let rename = report.writes.iter().find(|write| write.name == "rename");
    let alone = units(&report, "rename") * 40.0 * 2.592 * 0.625;
    assert!(
        (rename.unwrap().usd_month - alone).abs() < 0.01,
        "{report:#?}"
    );
    // `check --guarantees` is pointed to for the key that is unique no more.
    let insert = format!("{reads}\n-- add (1/s)\nINSERT INTO users (id) VALUES (:id);");
    let (_, warnings) = warned(&catalog, &insert, &limits);
    let is_lost = |warning: &&String| warning.starts_with("unique: users(id):");
    assert!(
        warnings.iter().any(|warning| is_lost(&warning)),
        "{warnings:#?}"
    );
}

#[test]
fn a_row_is_found_by_the_writes_that_give_its_key() {
    let catalog = tables_of(&[("orders", 50_000, &["id", "tracking", "status"])]);
    let reads = "-- track (1/s)\nSELECT id, status FROM orders WHERE tracking = :t;
        -- set (80/s)\nUPDATE orders SET status = :s WHERE id = :o;";
    // Of many rows with one number, the read would cost less by the table's own key.
    let (_, warnings) = warned(&catalog, reads, &Limits::default());
    let is_lost = |warning: &String| warning.starts_with("no key finds the rows");
    assert!(!warnings.iter().any(is_lost), "{warnings:#?}");
    let limits = observed(&catalog, ("orders", "tracking"), [50_000, 50_000, 1]);
    let (mapping, _) = served_within(&catalog, &limits, reads);
    assert!(mapping.contains("key: { PK: \"ORDERS#{id}\""), "{mapping}");
    // Where a read has to be consistent, the writes find their row by an index of keys.
    let strong = reads.replace("(1/s)", "(1/s, strong)");
    let (mapping, report) = served(&catalog, &strong);
    assert!(
        mapping.contains("# set\n    GSI1: { partition: GSI1PK, sort: GSI1SK, project: keys }"),
        "{mapping}"
    );
    assert!(
        mapping.contains("GSI1PK: \"ORDERS#{id}\"    # set"),
        "{mapping}"
    );
    assert!(!mapping.contains("\n  set:"), "{mapping}");
    assert_eq!(report.reads.len(), 1, "{report:#?}");
    let resolution = checked(&mapping, &catalog);
    assert!(
        resolution.diagnostics.is_empty(),
        "{:#?}",
        resolution.diagnostics
    );
}

#[test]
fn a_row_whose_key_is_in_lower_case_too_is_found_by_the_writes_that_say_its_text() {
    let mut catalog = tables_of(&[("meters", 5_500, &["org", "metric", "bucket", "amount"])]);
    catalog.dbms = Dbms::Sqlite;
    let table = &mut catalog.tables[0];
    table.columns[2] = text("text");
    "bucket".clone_into(&mut table.columns[2].name);
    table.primary_key = ["org", "metric", "bucket"].map(str::to_owned).to_vec();
    let mut limits = Limits::default();
    for (column, values) in [("org", 60), ("metric", 3), ("bucket", 720)] {
        let counts = [5_500, values, 0];
        observe(&mut limits, &catalog, ("meters", column), counts);
    }
    for sample in limits.observed.columns.values_mut() {
        sample.chars = sample.bytes;
    }
    let (mapping, report) = served_within(
        &catalog,
        &limits,
        "-- usage (10/s)\nSELECT bucket, amount FROM meters WHERE org = :o AND metric = :m AND bucket LIKE :day || '%' ORDER BY bucket;
        -- count (1500/s)\nUPDATE meters SET amount = amount + :n WHERE org = :o AND metric = :m AND bucket = :b;",
    );
    assert!(mapping.contains("{bucket | lower}"), "{mapping}");
    assert!(!mapping.contains("GSI1"), "{mapping}");
    assert!((units(&report, "count") - 1.0).abs() < 0.01);
}

#[test]
fn a_key_that_is_hot_for_its_most_frequent_value_is_not_that_of_the_table() {
    let catalog = tables_of(&[("items", 10_000, &["id", "owner", "n"])]);
    let reads = "-- ofOwner (1/s)\nSELECT id FROM items WHERE owner = :o;
        -- count (2000/s)\nUPDATE items SET n = :n WHERE owner = :o AND id = :i;";
    let limits = observed(&catalog, ("items", "owner"), [10_000, 100, 150]);
    let (mapping, _) = served_within(&catalog, &limits, reads);
    assert!(
        mapping.contains("key: { PK: \"OWNER#{owner}\""),
        "{mapping}"
    );
    let limits = observed(&catalog, ("items", "owner"), [10_000, 100, 6_000]);
    let (mapping, _) = served_within(&catalog, &limits, reads);
    assert!(mapping.contains("key: { PK: \"ITEMS#{id}\""), "{mapping}");
}

#[test]
fn rates_have_the_digits_that_count() {
    let catalog = tables_of(&[("items", 10_000, &["id", "n"])]);
    let reads = "-- one (0.02/s)\nSELECT n FROM items WHERE id = :i;
        -- add (0.1/s)\nINSERT INTO items (id) VALUES (:i);
        -- set (0.1/s)\nUPDATE items SET n = :n WHERE id = :i;
        -- drop (0.01/s)\nDELETE FROM items WHERE id = :i;";
    let (mapping, report) = served(&catalog, reads);
    assert!(mapping.contains("write_rate: 0.21\n"), "{mapping}");
    let drop = report.writes.iter().find(|write| write.name == "drop");
    assert!(drop.unwrap().table_row().contains(&"0.01/s".to_owned()));
}

#[test]
fn texts_of_ascii_are_equal_in_upper_case_as_in_lower_case() {
    let (catalog, mut limits) = orders_of_sqlite();
    let sql = "-- any (9/s)\nSELECT id FROM orders WHERE upper(code) = upper(:code);";
    for sample in limits.observed.columns.values_mut() {
        (sample.chars, sample.is_all) = (sample.bytes, true);
    }
    let (mapping, report) = served_within(&catalog, &limits, sql);
    assert!(mapping.contains("{code | lower}"), "{mapping} {report:#?}");
}

#[test]
fn an_index_projects_a_copy_by_its_name_for_all_items_that_have_an_attribute_of_that_name() {
    let catalog = tables_of(&[
        ("rooms", 100, &["id", "name"]),
        ("visits", 20_000, &["id", "room_id@rooms", "day"]),
        ("beds", 1_000, &["id", "ward", "room"]),
    ]);
    let reads = "-- visit (900/s, strong)\nSELECT * FROM visits WHERE id = :id;
        -- bed (900/s, strong)\nSELECT * FROM beds WHERE id = :id;
        -- visitsOn (100/s)\nSELECT v.id, r.name AS room FROM visits v JOIN rooms r ON r.id = v.room_id WHERE v.day = :d;
        -- bedsOf (100/s)\nSELECT id FROM beds WHERE ward = :w;
        -- move (50/s)\nUPDATE beds SET room = :r WHERE id = :id;";
    let (report, _) = warned(&catalog, reads, &Limits::default());
    assert!((units(&report, "move") - 1.0).abs() < 0.01, "{report:#?}");
}

#[test]
fn an_index_projects_by_name_if_its_attributes_are_no_more_than_it_names() {
    let catalog = tables_of(&[
        (
            "a",
            1_000,
            &[
                "id", "x", "z", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9",
            ],
        ),
        (
            "b",
            1_000,
            &[
                "id", "y", "p_id@p", "name", "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7",
            ],
        ),
        ("p", 1_000, &["id", "name"]),
    ]);
    let reads = "-- byX (300/s)\nSELECT id, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 FROM a WHERE x = :x;
        -- byY (300/s)\nSELECT b.id, b.name, p.name AS p_name, d0, d1, d2, d3, d4, d5, d6, d7 FROM b JOIN p ON p.id = b.p_id WHERE y = :y;
        -- one (300/s)\nSELECT z FROM a WHERE id = :id;
        -- other (300/s)\nSELECT d0 FROM b WHERE id = :id;
        -- set (900/s)\nUPDATE a SET z = :z WHERE id = :id;";
    let (report, _) = warned(&catalog, reads, &Limits::default());
    assert!((units(&report, "set") - 1.0).abs() < 0.01, "{report:#?}");
}

#[test]
fn a_hot_key_is_that_of_the_most_frequent_value_with_all_that_stands_under_it() {
    let catalog = tables_of(&[
        ("meters", 60, &["id", "value"]),
        ("readings", 2_500, &["id", "meter_id@meters", "value"]),
    ]);
    let limits = observed(&catalog, ("readings", "meter_id"), [2_500, 60, 1_100]);
    let reads = "-- meter (10/s)\nSELECT id, value FROM meters WHERE id = :id;
        -- last (300/s, strong)\nSELECT id, value FROM readings WHERE meter_id = :m ORDER BY id DESC LIMIT 5;
        -- bump (1500/s)\nUPDATE meters SET value = value + 1 WHERE id = :id;
        -- add (2200/s)\nINSERT INTO readings (id, meter_id, value) VALUES (:i, :m, :v);";
    let (_, warnings) = warned(&catalog, reads, &limits);
    let hot = warnings.iter().find(|one| one.starts_with("hot key:"));
    let hot = hot.unwrap_or_else(|| panic!("{warnings:#?}"));
    assert!(
        hot.contains(
            "add and bump and last and meter (meter_id in the table: about 1628 write units"
        ) || hot.contains("(id in the table: about 1628 write units"),
        "{hot}"
    );
    // No write reaches this key: only its reads are named.
    let rare = "-- some (1000000/s)\nSELECT id, value FROM readings WHERE meter_id = :m;";
    let (_, warnings) = warned(&catalog, rare, &limits);
    let hot = warnings.iter().find(|one| one.starts_with("hot key:"));
    let hot = hot.unwrap();
    assert!(hot.contains(" read units a second)"), "{hot}");
    assert!(!hot.contains("about 0"), "{hot}");
}

#[test]
fn lists_are_unbounded_by_what_is_known() {
    let catalog = tables_of(&[("events", 5_000, &["id", "kind", "no", "at", "size"])]);
    let mut limits = observed(&catalog, ("events", "kind"), [5_000, 100, 80]);
    observe(&mut limits, &catalog, ("events", "no"), [5_000, 5_000, 1]);
    let reads = "-- ofKind (5/s)\nSELECT id, at FROM events WHERE kind = :k ORDER BY at;
        -- byNo (5/s)\nSELECT id FROM events WHERE no = :n;
        -- since (5/s)\nSELECT id FROM events WHERE kind = :k AND at > :a ORDER BY at;
        -- add (1000/s)\nINSERT INTO events (id) VALUES (:id);";
    let (_, warnings) = warned(&catalog, reads, &limits);
    let lists: Vec<&String> = warnings
        .iter()
        .filter(|one| one.starts_with("unbounded list:"))
        .collect();
    assert_eq!(lists.len(), 1, "{warnings:#?}");
    assert!(
        lists[0].contains("ofKind (up to 80 items now,"),
        "{lists:#?}"
    );
    assert!(lists[0].contains("since (about 8 items now,"), "{lists:#?}");
    assert!(!lists[0].contains("byNo"), "{lists:#?}");
}

#[test]
fn a_sparse_index_by_other_rows_says_so_and_costs_what_they_cause() {
    let catalog = tables_of(&[("files", 2_000, &["id", "owner", "version"])]);
    let reads = "-- newest (5/s)
        SELECT id, version FROM files f WHERE owner = :o AND version = (SELECT max(version) FROM files g WHERE g.owner = f.owner);
        -- add (5/s)\nINSERT INTO files (id, owner, version) VALUES (:i, :o, :v);";
    let (report, _) = warned(&catalog, reads, &Limits::default());
    let said = notes(&report, "newest");
    assert!(said.contains("depends on other rows"), "{said}");
    assert!(said.contains("the estimate assumes a tenth"), "{said}");
    assert!(units(&report, "add") > 3.0, "{report:#?}");
}

#[test]
fn copies_say_how_many_there_are_at_most_and_whether_a_key_finds_them() {
    let catalog = tables_of(&[
        ("users", 400, &["id", "name"]),
        ("notes", 800, &["id", "author@users", "size"]),
    ]);
    let limits = observed(&catalog, ("notes", "author"), [800, 400, 278]);
    let reads = "-- note (50/s)\nSELECT n.id, n.size, u.name FROM notes n JOIN users u ON u.id = n.author WHERE n.id = :id;
        -- rename (0.1/s)\nUPDATE users SET name = :n WHERE id = :id;";
    let (_, warnings) = warned(&catalog, reads, &limits);
    let said = "rename changes users.name: copies in about 2 items of notes (up to 278";
    let copies = |warnings: &[String], said: &str| warnings.iter().any(|one| one.contains(said));
    assert!(
        copies(&warnings, &format!("{said}, no key finds them) cost")),
        "{warnings:#?}"
    );
    let listed = format!("{reads}\n-- ofAuthor (9/s)\nSELECT id FROM notes WHERE author = :a;");
    let (_, warnings) = warned(&catalog, &listed, &limits);
    assert!(copies(&warnings, &format!("{said}) cost")), "{warnings:#?}");
}

#[test]
fn rows_of_several_columns_are_not_served_as_an_index_of_their_own() {
    let catalog = tables_of(&[("notes", 800, &["id", "author", "size"])]);
    for condition in [
        "(id, author) IN ((1, 2), (3, 4))",
        "(id, author) = (:i, :a)",
    ] {
        let reads = format!("-- both (5/s)\nSELECT id, size FROM notes WHERE {condition};");
        let (_, report) = served(&catalog, &reads);
        let why = why_not(&report);
        assert!(why.contains("compares several columns at once"), "{why}");
    }
}

#[test]
fn a_condition_on_a_parent_is_counted_in_the_parents_rows() {
    let catalog = tables_of(&[
        ("shops", 40, &["id", "stock"]),
        ("orders", 4_000, &["id", "shop_id@shops", "size"]),
    ]);
    let read = "-- ofSize (5/s)\nSELECT o.id FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.size = :n AND s.stock > 0;";
    let statements = workload::read(read, catalog.dbms).unwrap();
    let counted = conditions(&catalog, &statements, &Observed::default());
    let [counted] = Vec::from_iter(counted).try_into().unwrap();
    assert_eq!(
        counted,
        (catalog.tables[0].name.clone(), "shops.stock > 0".to_owned())
    );
    let found = |share: f64| {
        let mut limits = Limits::default();
        limits.observed.conditions.insert(counted.clone(), share);
        let (report, _) = warned(&catalog, read, &limits);
        report.reads[0].served.as_ref().unwrap().found
    };
    let ratio = found(0.9) / found(0.3);
    assert!((ratio - 3.0).abs() < 0.1, "{ratio}");
}

#[test]
fn a_condition_that_is_always_true_is_dropped() {
    let catalog = tables_of(&[("notes", 800, &["id", "author", "size"])]);
    let reads = "-- ofAuthor (5/s)\nSELECT id, size FROM notes WHERE 1 = 1 AND author = :a;";
    let (mapping, report) = served(&catalog, reads);
    assert!(report.serves_all(), "{report:#?}");
    assert!(!mapping.contains("1 = 1"), "{mapping}");
    let false_one = reads.replace("1 = 1", "1 = 2");
    let (_, report) = served(&catalog, &false_one);
    assert!(!report.serves_all(), "{report:#?}");
}

#[test]
fn a_page_that_the_application_sorts_is_said_once() {
    let mut catalog = tables_of(&[("notes", 800, &["id", "author", "title"])]);
    catalog.tables[0].columns[2].data_type = DataType::Text { max_chars: None };
    let reads = "-- page (5/s)\nSELECT id, title FROM notes WHERE author = :a ORDER BY title, id DESC LIMIT 10 OFFSET 20;";
    let (report, warnings) = warned(&catalog, reads, &Limits::default());
    let notes = notes(&report, "page");
    assert!(notes.contains("the application sorts"), "{notes}");
    assert!(!notes.contains("LastEvaluatedKey"), "{notes}");
    let offset = warnings.iter().find(|one| one.starts_with("OFFSET: page"));
    assert!(offset.unwrap().contains("no key sorts"), "{warnings:#?}");
}

#[test]
fn a_column_called_like_a_unique_one_of_another_table_may_be_a_reference() {
    let mut catalog = tables_of(&[
        ("tenants", 20, &["id", "code"]),
        ("accounts", 800, &["id", "tenant_code"]),
    ]);
    catalog.tables[0].unique_keys.push(UniqueKey {
        columns: vec!["code".to_owned()],
        ..UniqueKey::default()
    });
    let reads = "-- ofTenant (5/s)\nSELECT id FROM accounts WHERE tenant_code = :c;";
    let (_, warnings) = warned(&catalog, reads, &Limits::default());
    let said = "no declared reference: accounts.tenant_code:";
    assert!(
        warnings.iter().any(|one| one.starts_with(said)),
        "{warnings:#?}"
    );
}

/// Children `c` that refer to parents `p` by `of_p`, which has one type and the parents' `id` another.
fn joined_by(dbms: Dbms, own: &Column, parents: &Column) -> Catalog {
    let mut catalog = tables_of(&[("p", 10, &["id", "nm"]), ("c", 1_000, &["id", "of_p@p"])]);
    catalog.dbms = dbms;
    let called = |name: &str, column: &Column| Column {
        name: name.to_owned(),
        ..column.clone()
    };
    catalog.tables[0].columns[0] = called("id", parents);
    catalog.tables[1].columns[1] = called("of_p", own);
    catalog
}

fn typed(declared: &str, data_type: DataType) -> Column {
    Column {
        declared: declared.to_owned(),
        ..column("", data_type)
    }
}

fn text(declared: &str) -> Column {
    typed(declared, DataType::Text { max_chars: None })
}

fn collated(declared: &str, collation: &str) -> Column {
    Column {
        insensitive: true,
        collation: Some(collation.to_owned()),
        ..text(declared)
    }
}

fn whole_numbers(declared: &str) -> Column {
    let (bits, unsigned) = (32, false);
    typed(declared, DataType::Integer { bits, unsigned })
}

fn floats(declared: &str, bits: u8) -> Column {
    typed(declared, DataType::Float { bits })
}

/// Why the first statement is not served; nothing where it is.
fn why_not(report: &Report) -> String {
    report.reads[0].not_served().unwrap_or_default()
}

#[test]
fn a_join_is_served_where_both_columns_compare_as_their_texts() {
    let joins = |(dbms, own, parents): (Dbms, Column, Column)| {
        let catalog = joined_by(dbms, &own, &parents);
        let sql = "-- get (9/s)\nSELECT c.id, p.nm FROM c JOIN p ON p.id = c.of_p WHERE p.id = :x;";
        let (_, report) = served(&catalog, sql);
        let told = format!("{dbms:?} {} {}", own.declared, parents.declared);
        (told, why_not(&report))
    };
    let date = typed("date", DataType::Date);
    let (digits, zone) = (6, false);
    let time = typed("timestamp", DataType::Timestamp { digits, zone });
    for differing in [
        (Dbms::Mysql, text("varchar(5)"), whole_numbers("int")),
        (Dbms::Mysql, whole_numbers("year"), whole_numbers("int")),
        (Dbms::Postgres, text("cidr"), text("inet")),
        (Dbms::Mysql, floats("float", 32), floats("double", 64)),
        (
            Dbms::Postgres,
            floats("float8", 64),
            whole_numbers("bigint"),
        ),
        (
            Dbms::Postgres,
            text("character varying(10)"),
            text("character(6)"),
        ),
        (Dbms::Postgres, text("character(8)"), text("character(6)")),
        (Dbms::Postgres, text("text"), collated("citext", "en_US")),
        (Dbms::Postgres, date, time),
        (Dbms::Sqlite, text("TEXT"), collated("TEXT", "NOCASE")),
        (
            Dbms::Sqlite,
            collated("TEXT", "RTRIM"),
            collated("TEXT", "NOCASE"),
        ),
        (
            Dbms::Sqlite,
            typed("", DataType::Dynamic),
            whole_numbers("INTEGER"),
        ),
    ] {
        let (told, why) = joins(differing);
        assert!(why.contains("joins `p.id`"), "{told}: {why}");
        assert!(why.contains("give both columns one type"), "{told}: {why}");
    }
    let decimal = typed(
        "numeric(10,2)",
        DataType::Decimal {
            precision: None,
            scale: None,
        },
    );
    for alike in [
        (
            Dbms::Postgres,
            whole_numbers("int"),
            whole_numbers("bigint"),
        ),
        (Dbms::Postgres, decimal, whole_numbers("bigint")),
        (Dbms::Postgres, text("text"), text("character varying(10)")),
        (Dbms::Postgres, text("character(6)"), text("character(6)")),
        (
            Dbms::Postgres,
            collated("citext", "en_US"),
            collated("citext", "en_US"),
        ),
        (
            Dbms::Mysql,
            collated("varchar(5)", "utf8mb4_general_ci"),
            collated("char(5)", "utf8mb4_general_ci"),
        ),
        (
            Dbms::Sqlite,
            collated("TEXT", "NOCASE"),
            collated("TEXT", "nocase"),
        ),
        (Dbms::Sqlite, floats("REAL", 64), whole_numbers("INTEGER")),
    ] {
        let (told, why) = joins(alike);
        assert_eq!(why, "", "{told}");
    }
}

#[test]
fn a_column_is_compared_with_a_parameter_where_equal_values_have_one_text() {
    let read = |dbms, column: &Column, condition: &str, is_mixed| {
        let catalog = joined_by(dbms, column, &whole_numbers("int"));
        let mut limits = Limits::default();
        if let Some(mixed) = is_mixed {
            observe(&mut limits, &catalog, ("c", "of_p"), [1_000, 50, 30]);
            let sample = limits.observed.columns.values_mut().next().unwrap();
            sample.mixed = mixed;
        }
        let sql = format!("-- get (9/s)\nSELECT id, of_p FROM c WHERE {condition};");
        why_not(&warned(&catalog, &sql, &limits).0)
    };
    let dynamic = typed("", DataType::Dynamic);
    let float = floats("float", 32);
    let interval = typed("interval", DataType::Interval);
    let json = typed("jsonb", DataType::Json);
    let areas = typed("box", DataType::Printed);
    let padded = text("character(6)");
    let (several, mixed_kinds) = ("different texts can be equal", "holds texts in some rows");
    for (dbms, column, condition, mixed, reason) in [
        (Dbms::Sqlite, &dynamic, "of_p = :x", None, "has no type"),
        (Dbms::Sqlite, &dynamic, "of_p = :x", Some(3), mixed_kinds),
        (
            Dbms::Sqlite,
            &text("TEXT"),
            "of_p = :x",
            Some(3),
            mixed_kinds,
        ),
        (Dbms::Mysql, &float, "of_p = :x", None, "as a double"),
        (
            Dbms::Mariadb,
            &float,
            "id = :i AND of_p > :x",
            None,
            "as a double",
        ),
        (
            Dbms::Mysql,
            &float,
            "id = :i AND of_p <> :x",
            None,
            "as a double",
        ),
        (
            Dbms::Mysql,
            &float,
            "id = :i AND of_p IN (:x, :y)",
            None,
            "as a double",
        ),
        (Dbms::Postgres, &interval, "of_p = :x", None, several),
        (Dbms::Postgres, &areas, "of_p = :x", None, several),
        (Dbms::Postgres, &json, "of_p = :x", None, several),
        (
            Dbms::Postgres,
            &padded,
            "of_p LIKE :x || '%'",
            None,
            "padded with blanks",
        ),
        (
            Dbms::Postgres,
            &padded,
            "lower(of_p) = :x",
            None,
            "padded with blanks",
        ),
    ] {
        let why = read(dbms, column, condition, mixed);
        assert!(why.contains(reason), "{dbms:?} {condition}: {why}");
    }
    for (dbms, column, condition, mixed) in [
        (Dbms::Sqlite, &dynamic, "of_p = :x", Some(0)),
        (Dbms::Postgres, &padded, "of_p = :x", None),
        (Dbms::Postgres, &text("text"), "of_p LIKE :x || '%'", None),
        (Dbms::Mysql, &floats("double", 64), "of_p = :x", None),
    ] {
        let why = read(dbms, column, condition, mixed);
        assert_eq!(why, "", "{dbms:?} {condition}");
    }
}

#[test]
fn values_that_are_not_of_their_columns_type_or_form_are_compared_with_nothing() {
    let (digits, zone) = (0, false);
    let times = typed("timestamp", DataType::Timestamp { digits, zone });
    let bytes = typed("blob", DataType::Binary { max_bytes: None });
    for (column, reason) in [
        (times, "times in several forms"),
        (typed("boolean", DataType::Boolean), "other than 0 and 1"),
        (bytes, "values that are not BLOBs"),
        (whole_numbers("integer"), "values that are not numbers"),
    ] {
        let catalog = joined_by(Dbms::Sqlite, &column, &whole_numbers("integer"));
        for condition in ["of_p = :x", "id = :i AND of_p <> :x"] {
            for mixed in [0, 3] {
                let mut limits = observed(&catalog, ("c", "of_p"), [1_000, 50, 30]);
                for sample in limits.observed.columns.values_mut() {
                    sample.mixed = mixed;
                }
                let sql = format!("-- get (9/s)\nSELECT id, of_p FROM c WHERE {condition};");
                let why = why_not(&warned(&catalog, &sql, &limits).0);
                assert_eq!(why.contains(reason), mixed > 0, "{condition}: {why}");
            }
        }
    }
}

#[test]
fn the_greatest_and_the_least_text_are_those_by_bytes() {
    let mut catalog = tables_of(&[("p", 10, &["id", "nm"])]);
    catalog.dbms = Dbms::Sqlite;
    catalog.tables[0].columns[1] = Column {
        name: "nm".to_owned(),
        ..collated("TEXT", "NOCASE")
    };
    catalog.tables[0].columns[0] = Column {
        name: "id".to_owned(),
        ..collated("TEXT", "NOCASE")
    };
    let (text, report) = served(
        &catalog,
        "-- last (9/s)\nSELECT max(nm) AS nm FROM p;\n-- first (9/s)\nSELECT min(nm) AS nm FROM p;",
    );
    for order in ["nm COLLATE BINARY DESC", "nm COLLATE BINARY, "] {
        assert!(text.contains(order), "{text}");
    }
    // Nobody asked for an order of the key.
    let notes = notes(&report, "last");
    assert!(notes.contains("DynamoDB sorts nm by bytes"), "{notes}");
}

#[test]
fn a_child_that_spells_its_parent_otherwise_is_compared_and_sorted_as_announced() {
    let both = collated("TEXT", "NOCASE");
    let catalog = joined_by(Dbms::Sqlite, &both, &both);
    let (text, report) = served(
        &catalog,
        "-- byParent (9/s)
        SELECT c.id, p.id AS code FROM c JOIN p ON p.id = c.of_p WHERE p.id = :x;
        -- sorted (9/s)
        SELECT c.id, p.nm FROM c JOIN p ON p.id = c.of_p WHERE p.nm = :x ORDER BY p.id, c.id;",
    );
    assert!(text.contains("c.of_p COLLATE BINARY = :x"), "{text}");
    for name in ["byParent", "sorted"] {
        let notes = notes(&report, name);
        let told = notes.contains("`c.of_p` for `p.\"id\"`");
        assert!(told, "{name}: {notes}");
    }
}

#[test]
fn an_item_type_that_keeps_null_serves_no_filter_that_asks_whether_an_attribute_exists() {
    let mut catalog = tables_of(&[("c", 1_000, &["id", "kind", "score"])]);
    catalog.tables[0].columns[2].nullable = true;
    let base = |nulls: &str| {
        format!(
            "dynafold: 1
table: {{ name: app, key: {{ partition: PK, sort: SK }} }}
items:
  C: {{ from: c, key: {{ PK: \"C#{{id}}\", SK: C }}{nulls} }}
access_patterns:
  one: {{ items: [C], key: {{ PK: \"C#{{id}}\", SK: C }}, sql: \"SELECT * FROM c WHERE id = :id\" }}
"
        )
    };
    let sql = "-- other (9/s)\nSELECT id, score FROM c WHERE id = :id AND score <> 3;
        -- without (9/s)\nSELECT id, score FROM c WHERE kind = :k AND score IS NULL;";
    let statements = workload::read(sql, catalog.dbms).unwrap();
    let prices = Prices::read(SHIPPED, None).unwrap();
    let updated = |nulls: &str| {
        let mapping = dynafold_design::Mapping {
            text: &base(nulls),
            variables: &|_| None,
            described: &Described::new(),
        };
        let limits = Limits::default();
        dynafold_design::update(&mapping, &catalog, &statements, &prices, &limits).unwrap()
    };
    let omitting = updated("").mapping;
    assert!(omitting.contains("attribute_exists"), "{omitting}");
    let keeping = updated(", nulls: keep").mapping;
    assert!(!keeping.contains("attribute_"), "{keeping}");
}

#[test]
fn an_insert_of_several_rows_is_priced_by_its_rows() {
    let catalog = tables_of(&[("c", 1_000, &["id", "kind"])]);
    let (report, warnings) = warned(
        &catalog,
        "-- one (10/s)\nINSERT INTO c (id, kind) VALUES (1, 1);
        -- three (10/s)\nINSERT INTO c (id, kind) VALUES (1, 1), (2, 2), (3, 3);
        -- all (10/s)\nINSERT INTO c SELECT id + 100, kind FROM c WHERE kind = 1;
        -- get (1/s)\nSELECT * FROM c WHERE id = :id;",
        &Limits::default(),
    );
    assert!((units(&report, "three") - 3.0 * units(&report, "one")).abs() < 0.01);
    let many = warnings
        .iter()
        .find(|one| one.contains("many items at once"));
    let many = many.unwrap();
    assert!(many.contains("all") && many.contains("three"), "{many}");
    assert!(!many.contains("one (") && !many.contains("one,"), "{many}");
}

#[test]
fn a_text_that_is_found_without_regard_to_case_is_sorted_so_only_where_the_query_says_so() {
    let (mut catalog, mut limits) = orders_of_sqlite();
    orders(&mut catalog).estimated_rows = Some(1_000_000);
    for sample in limits.observed.columns.values_mut() {
        sample.chars = sample.bytes;
        (sample.rows, sample.present, sample.most, sample.distinct) = (100_000, 100_000, 90_000, 2);
    }
    let read = |select: &str, rest: &str| {
        let sql = format!(
            "-- begins (9/s)\nSELECT {select} FROM orders WHERE kind = :k AND code LIKE :q || '%'{rest};"
        );
        served_within(&catalog, &limits, &sql)
    };
    let why = |report: &Report| {
        let read = &report.reads[0];
        Some(format!(
            "{} {}",
            read.why_not.as_ref()?,
            read.instead.as_ref()?
        ))
    };
    for (select, rest) in [
        ("id", " ORDER BY code, id LIMIT 10"),
        ("id", " ORDER BY code DESC LIMIT 10"),
        ("max(code)", ""),
    ] {
        let (text, report) = read(select, rest);
        let why = why(&report).unwrap_or_default();
        assert!(
            why.contains("sorts by code in a case-sensitive order"),
            "{rest}: {why}\n{text}"
        );
        assert!(why.contains("`ORDER BY lower(column)`"), "{rest}: {why}");
    }
    let (text, report) = read("id", " ORDER BY lower(code), id LIMIT 10");
    assert!(
        text.contains(r#"ORDER BY lower(orders.code), orders."id" LIMIT 10"#),
        "{text} {:?}",
        why(&report)
    );
    let (text, _) = read("id", " ORDER BY lower(code) DESC LIMIT 10");
    assert!(
        text.contains(r#"ORDER BY lower(orders.code) DESC, orders."id" LIMIT 10"#),
        "{text}"
    );
    let (text, _) = read("id", " ORDER BY lower(kind), id LIMIT 10");
    assert!(!text.contains("access_patterns:"), "{text}");
    // Few rows are sorted by the application.
    let mut few = limits.clone();
    for sample in few.observed.columns.values_mut() {
        (sample.most, sample.distinct) = (2, 90_000);
    }
    let sql = "-- begins (9/s)\nSELECT id FROM orders WHERE kind = :k AND code LIKE :q || '%' ORDER BY code, id LIMIT 10;";
    let (text, report) = served_within(&catalog, &few, sql);
    assert!(!text.contains("ORDER BY"), "{text}");
    let notes = notes(&report, "begins");
    assert!(notes.contains("the application sorts"), "{notes}");
}

#[test]
fn a_comparison_under_a_collation_of_its_own_is_not_served() {
    let (catalog, limits) = orders_of_sqlite();
    for condition in [
        "code = 'a' COLLATE NOCASE",
        "code = :c COLLATE NOCASE",
        "code IN (:c COLLATE NOCASE)",
        "code BETWEEN :c AND :d COLLATE NOCASE",
        "(code = :c COLLATE NOCASE OR kind = :k)",
    ] {
        let sql = format!("-- find (9/s)\nSELECT id FROM orders WHERE {condition};");
        let (_, report) = served_within(&catalog, &limits, &sql);
        let why = report.reads[0].why_not.clone().unwrap_or_default();
        assert!(
            why.contains("with another collation than the column's"),
            "{condition}: {why}"
        );
    }
}

#[test]
fn what_a_key_cannot_ask_for_as_the_database_compares_it_is_not_served() {
    let (mut catalog, limits) = orders_of_sqlite();
    let set = DataType::Set {
        values: vec!["a".into(), "b".into()],
    };
    let binary = DataType::Binary { max_bytes: Some(1) };
    for (dbms, declared, data_type, said) in [
        (Dbms::Mysql, "set('a','b')", set, "as a list"),
        (Dbms::Postgres, "bit(3)", binary.clone(), "as whole bytes"),
        (Dbms::Postgres, "bytea", binary, ""),
    ] {
        catalog.dbms = dbms;
        let code = column_of_orders(&mut catalog, "code");
        (code.declared, code.data_type) = (declared.to_owned(), data_type);
        let sql = "-- find (9/s)\nSELECT id FROM orders WHERE code = :c;";
        let (_, report) = served_within(&catalog, &limits, sql);
        let why = report.reads[0].why_not.clone().unwrap_or_default();
        assert!(
            why.contains(said) && why.is_empty() == said.is_empty(),
            "{declared}: {why}"
        );
    }
}

#[test]
fn a_collation_that_keeps_case_apart_is_searched_with_case() {
    let (mut catalog, limits) = orders_of_sqlite();
    catalog.dbms = Dbms::Mysql;
    for (collation, ignores) in [
        ("utf8mb4_0900_ai_ci", true),
        ("utf8mb4_cs_0900_ai_ci", true),
        ("utf8mb4_0900_as_cs", false),
        ("utf8mb4_ja_0900_as_cs_ks", false),
        ("latin1_general_cs", false),
    ] {
        let code = column_of_orders(&mut catalog, "code");
        (code.insensitive, code.collation) = (true, Some(collation.to_owned()));
        let sql = "-- find (9/s)\nSELECT id, code FROM orders WHERE code LIKE :c || '%';";
        let (mapping, _) = served_within(
            &catalog,
            &limits,
            &sql.replace(":c || '%'", "concat(:c, '%')"),
        );
        assert_eq!(mapping.contains("lower"), ignores, "{collation}: {mapping}");
    }
}

#[test]
fn rows_with_null_in_their_key_are_asked_for_by_no_part_of_a_condition() {
    let (mut catalog, limits) = orders_of_sqlite();
    let table = orders(&mut catalog);
    table.primary_key = vec!["kind".to_owned(), "code".to_owned()];
    table.unique_keys.clear();
    column_of_orders(&mut catalog, "code").nullable = true;
    let read = |condition: &str| {
        let sql = format!("-- find (9/s)\nSELECT id FROM orders WHERE kind = :k AND {condition};");
        let (_, report) = served_within(&catalog, &limits, &sql);
        report.reads[0].why_not.clone().unwrap_or_default()
    };
    for condition in [
        "code IS NULL",
        "code || 'x' IS NULL",
        "lower(code) IS NULL",
        "(code = :c OR code IS NULL)",
        "(code IN (:c, :d) OR code IS NULL)",
        "(code IS NULL OR EXISTS (SELECT 1 FROM users WHERE users.id = orders.user_id))",
        "NOT (code IS NOT NULL)",
        "code IS DISTINCT FROM 'x'",
        "(code = 'x') IS NOT TRUE",
        "EXISTS (SELECT 1 FROM users WHERE users.id = orders.user_id AND orders.code IS NULL)",
    ] {
        let why = read(condition);
        assert!(
            why.contains("NULL in the table's key"),
            "{condition}: {why}"
        );
    }
    assert_eq!(read("(placed_at = :c OR placed_at IS NULL)"), "");
    for condition in [
        "code IS NOT NULL",
        "(code = 'x') IS TRUE",
        "NOT code = ' IS '",
    ] {
        assert_eq!(read(condition), "", "{condition}");
    }
}

#[test]
fn a_way_out_is_one_that_there_is() {
    let (mut catalog, mut limits) = orders_of_sqlite();
    for sample in limits.observed.columns.values_mut() {
        sample.bytes += 1;
    }
    let mut read = |dbms: Dbms, select: &str| {
        catalog.dbms = dbms;
        let sql = format!("-- find (9/s)\nSELECT id FROM orders WHERE {select};");
        let (_, report) = served_within(&catalog, &limits, &sql);
        let read = &report.reads[0];
        let why = read.why_not.clone().unwrap_or_default();
        format!("{why}; {}", read.instead.clone().unwrap_or_default())
    };
    for (dbms, condition, reason, way_out) in [
        (
            Dbms::Sqlite,
            "kind LIKE '%' || :q || '%' OR code LIKE '%' || :q || '%'",
            "matches inside texts",
            "OpenSearch",
        ),
        (
            Dbms::Sqlite,
            "user_id = 7 AND (kind LIKE '%paid%' OR code LIKE '%paid%')",
            "matches inside texts",
            "OpenSearch",
        ),
        (
            Dbms::Sqlite,
            "kind LIKE '%' || :q || '/%'",
            "matches inside texts",
            "OpenSearch",
        ),
        (
            Dbms::Sqlite,
            "kind = :k ORDER BY (id - :a) * (id - :a) LIMIT 5",
            "computed from parameters",
            "in the application",
        ),
        (
            Dbms::Sqlite,
            "(id - :a) * (id - :a) < :b",
            "computed from parameters",
            "in the application",
        ),
        (
            Dbms::Sqlite,
            "user_id = :u AND json_extract(code, '$.x') = :theme",
            "which is computed",
            "store the value",
        ),
        (
            Dbms::Postgres,
            "lower(code) LIKE lower(:q) || '%'",
            "the collation C",
            "store the value",
        ),
    ] {
        let said = read(dbms, condition);
        assert!(
            said.contains(reason) && said.contains(way_out),
            "{condition}: {said}"
        );
    }
}

#[test]
fn a_thousand_rows_are_sorted_by_the_application_where_a_key_costs_more() {
    let catalog = tables_of(&[("docs", 40_000, &["id", "owner", "title", "views"])]);
    let sql = "-- top (5/s)\nSELECT id, title, views FROM docs WHERE owner = :o ORDER BY views DESC, id DESC LIMIT 10;
        -- view (300/s)\nUPDATE docs SET views = views + 1 WHERE id = :id;";
    let of = |limits: &Limits| served_within(&catalog, limits, sql);
    let limits = observed(&catalog, ("docs", "owner"), [40_000, 4_000, 900]);
    let (text, report) = of(&limits);
    assert!(
        notes(&report, "top").contains("the application sorts"),
        "{text}"
    );
    assert!(report.sum.all < 550.0, "{report:#?}");
    let limits = observed(&catalog, ("docs", "owner"), [40_000, 4_000, 1_100]);
    let (text, report) = of(&limits);
    assert!(
        !notes(&report, "top").contains("the application sorts"),
        "{text}"
    );
    assert!(report.sum.all > 1_400.0, "{report:#?}");
}

#[test]
fn aggregates_are_computed_from_one_page_where_their_items_cost_more() {
    let catalog = tables_of(&[("orders", 20_000, &["id", "acc", "state", "total"])]);
    let sql = "-- ofAccount (90/s)\nSELECT id, state, total FROM orders WHERE acc = :a ORDER BY id DESC LIMIT 10;
        -- perState (10/s)\nSELECT state, count(*), sum(total) FROM orders WHERE acc = :a GROUP BY state;
        -- place (20/s)\nINSERT INTO orders (id, acc, state, total) VALUES (:id, :a, 3, :t);
        -- settle (19/s)\nUPDATE orders SET state = 4 WHERE id = :id AND acc = :a AND state = 3;";
    for (most, is_kept) in [(1_000, false), (1_001, false), (19_000, true)] {
        let limits = observed(&catalog, ("orders", "acc"), [20_000, 900, most]);
        let (text, _) = served_within(&catalog, &limits, sql);
        assert_eq!(text.contains("ORDERS_BY_"), is_kept, "{most}: {text}");
    }
}

#[test]
fn aggregates_over_more_than_a_thousand_items_have_their_price_beside_a_filter_too() {
    let catalog = tables_of(&[("orders", 20_000, &["id", "acc", "state", "total"])]);
    let sql = "-- ofAccount (90/s)\nSELECT id, state, total FROM orders WHERE acc = :a ORDER BY id DESC LIMIT 10;
        -- open (1/s)\nSELECT count(*), sum(total) FROM orders WHERE acc = :a AND state = :s;
        -- place (6/s)\nINSERT INTO orders (id, acc, state, total) VALUES (:id, :a, :s, :t);";
    for (most, is_kept) in [(1_000, false), (4_000, true)] {
        let limits = observed(&catalog, ("orders", "acc"), [20_000, 900, most]);
        let (text, _) = served_within(&catalog, &limits, sql);
        assert_eq!(text.contains("ORDERS_BY_"), is_kept, "{most}: {text}");
    }
}

#[test]
fn a_read_that_is_not_served_says_how_many_rows_the_application_sorts() {
    let (mut catalog, mut limits) = orders_of_sqlite();
    let name = catalog.find("orders").unwrap().name.clone();
    limits.delimited = [(name.clone(), "kind".to_owned()), (name, "code".to_owned())].into();
    let mut columns = orders(&mut catalog).columns.iter_mut();
    columns
        .find(|column| column.name == "code")
        .unwrap()
        .nullable = true;
    let sql = "-- ofKind (30/s)\nSELECT id, code FROM orders WHERE kind = :k ORDER BY code;";
    orders(&mut catalog).estimated_rows = Some(4_000);
    let (_, report) = served_within(&catalog, &limits, sql);
    assert!(notes(&report, "ofKind").contains("the application sorts"));
    orders(&mut catalog).estimated_rows = Some(20_000);
    let (_, report) = served_within(&catalog, &limits, sql);
    let why = why_not(&report);
    let limit = "`design` lets the application sort at most 1,000 rows, but here the most frequent value may have about 4000";
    assert!(why.contains(limit), "{why}");
}
