//! A claim rests on what the database enforces at all times, and on nothing that it only declares. Every
//! script here puts rows into real databases that break what is not enforced.

use dynafold::catalog::Catalog;
use dynafold::claim::{Claim, ClaimKind};
use dynafold::design::{Limits, design};
use dynafold::diagnostic::{Code, Diagnostic};
use dynafold::dynamodb::price::{Prices, SHIPPED};
use dynafold::mapping::{Described, Proofs, Raw, Resolution, resolve};
use dynafold::source::connect;

use crate::support::source::Source;
use crate::support::{mysql, postgres, sqlite};

const INDEX: &str = ", indexes: { GSI1: { partition: GP } }";

/// The claims of a kind, for a mapping with these item types.
fn claims(catalog: &Catalog, items: &str, kind: ClaimKind) -> Vec<Claim> {
    proofs(catalog, items).of(kind).cloned().collect()
}

/// A mapping with these item types, held against a catalog.
fn resolved(catalog: &Catalog, items: &str) -> Resolution {
    let text = format!(
        "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK, sort: SK }}{INDEX} }}\nitems:\n{items}\n"
    );
    let (raw, faults) = Raw::read(&text, &|_| None);
    resolve(&raw.expect("a mapping"), faults, catalog, &Described::new())
}

/// What is shown of a mapping with these item types.
fn proofs(catalog: &Catalog, items: &str) -> Proofs {
    let resolution = resolved(catalog, items);
    let proofs = resolution.proofs;
    proofs.unwrap_or_else(|| panic!("{items}: {:?}", resolution.diagnostics))
}

fn is_proved(catalog: &Catalog, items: &str, kind: ClaimKind) -> bool {
    let claims = claims(catalog, items, kind);
    !claims.is_empty() && claims.iter().all(Claim::is_proved)
}

async fn catalog(url: &str) -> Catalog {
    let mut source = connect(url).await.unwrap();
    source.catalog().await.unwrap()
}

/// An item type whose key is `id` or, where that is NULL, nothing; and the index by it.
fn optional(table: &str, column: &str) -> String {
    format!(
        "  T: {{ from: {table}, key: {{ PK: \"T[#{{{column}}}]\", SK: T }}, attributes: {{ GP: \"X{{{column}}}\" }} }}"
    )
}

#[tokio::test]
async fn a_key_of_sqlite_is_never_null_only_where_it_is_the_rowid_or_the_table_is_strict_or_without_rowid()
 {
    // The tables whose names begin with `n` hold two rows with a NULL in their key.
    let database = sqlite::Database::new(
        "CREATE TABLE n1 (id INTEGER PRIMARY KEY DESC); INSERT INTO n1 VALUES (NULL), (NULL);
         CREATE TABLE n2 (id INT PRIMARY KEY); INSERT INTO n2 VALUES (NULL), (NULL);
         CREATE TABLE n3 (id TEXT PRIMARY KEY); INSERT INTO n3 VALUES (NULL), (NULL);
         CREATE TABLE n4 (id TEXT, b INT, PRIMARY KEY (id, b)); INSERT INTO n4 VALUES (NULL, 1), (NULL, 1);
         CREATE TABLE k1 (id INTEGER PRIMARY KEY);
         CREATE TABLE k2 (id INTEGER, PRIMARY KEY (id DESC));
         CREATE TABLE k3 (id TEXT PRIMARY KEY) WITHOUT ROWID;
         CREATE TABLE k4 (id TEXT PRIMARY KEY) STRICT;
         CREATE TABLE k5 (id TEXT PRIMARY KEY NOT NULL);
         CREATE TABLE k6 (id INTEGER PRIMARY KEY DESC) STRICT;",
    )
    .await;
    let catalog = catalog(&database.url()).await;
    for table in &catalog.tables {
        let name = &table.name.name;
        let nullable = name.starts_with('n');
        assert_eq!(table.columns[0].nullable, nullable, "{name}");
        let items = optional(name, "id");
        if name != "n4" {
            let keys = is_proved(&catalog, &items, ClaimKind::KeysDiffer);
            assert_eq!(keys, !nullable, "{name}");
        }
        let indexed = is_proved(&catalog, &items, ClaimKind::AlwaysInIndex);
        assert_eq!(indexed, !nullable, "{name}");
        let required = items.replace("[#{id}]", "#{id}");
        let is_nullable = |found: &Diagnostic| found.code == Code::NullableKey;
        let reported = resolved(&catalog, &required).diagnostics;
        assert_eq!(reported.iter().any(is_nullable), nullable, "{name}");
    }
}

#[tokio::test]
async fn a_foreign_key_proves_no_parent() {
    let script = |product: &str| {
        let tables = "CREATE TABLE parent (id int PRIMARY KEY, code varchar(9) NOT NULL);
            CREATE TABLE child (id int PRIMARY KEY, parent_id int NOT NULL);
            INSERT INTO child VALUES (1, 7), (2, 8);";
        let key =
            "ALTER TABLE child ADD CONSTRAINT c FOREIGN KEY (parent_id) REFERENCES parent (id)";
        match product {
            "sqlite" => "CREATE TABLE parent (id INTEGER PRIMARY KEY, code TEXT NOT NULL);
                CREATE TABLE child (id INTEGER PRIMARY KEY, parent_id INTEGER NOT NULL REFERENCES parent);
                INSERT INTO child VALUES (1, 7), (2, 8);"
                .to_owned(),
            "postgres" => format!("{tables} {key} NOT VALID;"),
            _ => format!("{tables} SET foreign_key_checks = 0; {key};"),
        }
    };
    for source in Source::each(script).await {
        let catalog = catalog(&source.url()).await;
        let child = "from: child, join: { p: parent_id }";
        let own = format!(
            "  C: {{ {child}, key: {{ PK: \"C#{{id}}\", SK: C }}, attributes: {{ GP: \"X{{p.code}}\" }} }}"
        );
        let product = source.product();
        assert!(
            is_proved(&catalog, &own, ClaimKind::KeysDiffer),
            "{product}"
        );
        assert!(
            !is_proved(&catalog, &own, ClaimKind::AlwaysInIndex),
            "{product}"
        );
        // Both children, with their item types, make the key `C`.
        let two = format!(
            "  A: {{ {child}, key: {{ PK: \"C[#{{p.code}}]\", SK: C }} }}\n  B: {{ from: child, key: {{ PK: C, SK: C }} }}"
        );
        let claims = claims(&catalog, &two, ClaimKind::KeysDiffer);
        let pair = claims.iter().find(|claim| claim.of.item_types.len() == 2);
        assert!(!pair.expect("a pair").is_proved(), "{product}");
        source.drop().await;
    }
}

#[tokio::test]
async fn a_join_that_compares_more_loosely_than_the_parents_key_may_give_a_row_twice() {
    let database = sqlite::Database::new(
        "CREATE TABLE text_key (code TEXT PRIMARY KEY) WITHOUT ROWID;
         INSERT INTO text_key VALUES ('7'), ('07');
         CREATE TABLE loose (code TEXT COLLATE NOCASE NOT NULL);
         CREATE UNIQUE INDEX exact ON loose (code COLLATE BINARY);
         INSERT INTO loose VALUES ('de'), ('DE');
         CREATE TABLE child (id INTEGER PRIMARY KEY, n INTEGER, code TEXT);
         INSERT INTO child VALUES (1, 7, 'de')",
    )
    .await;
    let catalog = catalog(&database.url()).await;
    let items = |alias: &str, ours: &str| {
        format!(
            "  C: {{ from: child, join: {{ p: {{ table: {alias}, match: {{ code: {ours} }} }} }}, key: {{ PK: \"C#{{id}}\", SK: C }} }}"
        )
    };
    assert!(!is_proved(
        &catalog,
        &items("text_key", "n"),
        ClaimKind::KeysDiffer
    ));
    assert!(is_proved(
        &catalog,
        &items("text_key", "code"),
        ClaimKind::KeysDiffer
    ));
    assert!(
        !catalog
            .find("loose")
            .unwrap()
            .is_declared_unique(&["code".to_owned()], catalog.dbms)
    );
}

/// An item type with these keys.
fn keyed(from: &str, partition: &str, sort: &str) -> String {
    format!("  T: {{ from: {from}, key: {{ PK: \"{partition}\", SK: \"{sort}\" }} }}")
}

/// Whether it is proved that children have one parent: that their own keys differ behind this join.
fn has_one_parent(catalog: &Catalog, parent: &str, column: &str) -> bool {
    let join =
        format!("from: child, join: {{ p: {{ table: {parent}, match: {{ k: {column} }} }} }}");
    let items = format!("  C: {{ {join}, key: {{ PK: \"C#{{id}}\", SK: C }} }}");
    is_proved(catalog, &items, ClaimKind::KeysDiffer)
}

#[tokio::test]
async fn a_claim_goes_by_all_that_mysql_and_mariadb_can_hold_and_by_the_keys_that_they_enforce() {
    for (product, server) in mysql::servers() {
        let database = mysql::Database::new(&server).await;
        database
            .run(
                "CREATE TABLE times (name varchar(10) COLLATE utf8mb4_bin, t time, PRIMARY KEY (name, t));
                 INSERT INTO times VALUES ('a', '100:00:00'), ('a1', '00:00:00');
                 CREATE TABLE twice (e enum('a','a','b') PRIMARY KEY);
                 INSERT INTO twice VALUES (1), (2);
                 CREATE TABLE once (e enum('a','b') PRIMARY KEY);
                 CREATE TABLE m_1 (id int NOT NULL PRIMARY KEY) ENGINE=MyISAM;
                 CREATE TABLE m_2 LIKE m_1;
                 CREATE TABLE m_all (id int NOT NULL PRIMARY KEY) ENGINE=MERGE UNION=(m_1,m_2);
                 INSERT INTO m_1 VALUES (2); INSERT INTO m_2 VALUES (2);
                 CREATE TABLE in_ascii (k varchar(9) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY);
                 CREATE TABLE in_ucs2 (k varchar(9) CHARACTER SET ucs2 COLLATE ucs2_bin PRIMARY KEY);
                 INSERT INTO in_ucs2 VALUES (x'D800'), (x'D801');
                 CREATE TABLE in_latin1 (k varchar(9) CHARACTER SET latin1 COLLATE latin1_bin PRIMARY KEY);
                 CREATE TABLE sizes (id int PRIMARY KEY, b text, c char(0));",
            )
            .await;
        if product == "mariadb" {
            database
                .run("CREATE TABLE years (y year(2) PRIMARY KEY); INSERT INTO years VALUES (1905), (2005);")
                .await;
        }
        let catalog = catalog(database.url().as_str()).await;
        for (from, key, proved) in [
            ("times", "{name}{t}", false),
            ("times", "{t}{name}", true),
            ("twice", "{e}", false),
            ("once", "{e}", true),
            ("m_all", "M#{id}", false),
            ("m_1", "M#{id}", true),
            ("in_ascii", "{k}", false),
            ("in_ucs2", "{k}", false),
            ("in_latin1", "{k}", true),
            ("years", "Y#{y}", false),
        ] {
            if catalog.find(from).is_none() {
                continue;
            }
            let keys = is_proved(&catalog, &keyed(from, key, "T"), ClaimKind::KeysDiffer);
            assert_eq!(keys, proved, "{product}: {from} {key}");
        }
        let sorted = |sort| {
            is_proved(
                &catalog,
                &keyed("times", "{name}", sort),
                ClaimKind::TextOrder,
            )
        };
        assert!(!sorted("{t}") && sorted("{name}"), "{product}");
        let two = "  A: { from: times, key: { PK: \"{t}\", SK: A } }\n  B: { from: once, key: { PK: \"100:00:00\", SK: A } }";
        let claims = claims(&catalog, two, ClaimKind::KeysDiffer);
        let pair = claims.iter().find(|claim| claim.of.item_types.len() == 2);
        assert!(!pair.expect("a pair").is_proved(), "{product}");
        // Numbers of two bytes that filters put, and a NULL of one: PK 3, SK 3, _type 6, b 3, m 3, c 2.
        let sized = "  T: { from: sizes, nulls: keep, columns: [c], key: { PK: \"{id | pad(1)}\", SK: S }, attributes: { b: \"{b | present(1, 0)}\", m: \"{id | map(1: 1)}\" } }";
        assert_eq!(
            proofs(&catalog, sized).sizes[0].most_bytes,
            Some(20),
            "{product}"
        );
        database.drop().await;
    }
}

#[tokio::test]
async fn a_join_leads_to_one_parent_only_where_it_compares_as_the_parents_key_does() {
    for (product, server) in mysql::servers() {
        let database = mysql::Database::new(&server).await;
        database
            .run(
                "CREATE TABLE bytes (k varbinary(10) PRIMARY KEY); INSERT INTO bytes VALUES ('1'), ('01');
                 CREATE TABLE texts (k varchar(9) COLLATE utf8mb4_bin PRIMARY KEY);
                 CREATE TABLE fixed (k char(45) COLLATE utf8mb4_bin PRIMARY KEY);
                 INSERT INTO fixed VALUES ('::1'), ('0:0:0:0:0:0:0:1');
                 CREATE TABLE numbers (k bigint PRIMARY KEY);
                 CREATE TABLE days (k date PRIMARY KEY); INSERT INTO days VALUES ('2026-01-01');
                 CREATE TABLE listed (k enum('a','a') PRIMARY KEY); INSERT INTO listed VALUES (1), (2);
                 CREATE TABLE child (id int PRIMARY KEY, b bit(16), bytes varbinary(99), n int, day date,
                     name varchar(20) COLLATE utf8mb4_bin, fixed char(45) COLLATE utf8mb4_bin, e enum('a','a'));
                 CREATE TABLE dated (id int, n int, PRIMARY KEY (id, n));
                 INSERT INTO dated VALUES (1, 20260101), (1, 260101);
                 CREATE TABLE dates (id int PRIMARY KEY, k date); INSERT INTO dates VALUES (1, '2026-01-01');",
            )
            .await;
        if product == "mariadb" {
            database.run("ALTER TABLE child ADD i inet6").await;
        }
        let catalog = catalog(database.url().as_str()).await;
        for (parent, column, proved) in [
            ("bytes", "b", false),
            ("bytes", "bytes", true),
            ("texts", "name", true),
            ("fixed", "fixed", true),
            ("fixed", "i", false),
            ("numbers", "n", true),
            ("days", "day", true),
            ("listed", "e", false),
        ] {
            if column != "i" || product == "mariadb" {
                let one = has_one_parent(&catalog, parent, column);
                assert_eq!(one, proved, "{product}: {parent} {column}");
            }
        }
        // A day is equal to several numbers, so that it does not tell which.
        let by_day = "dated, join: { p: { table: dates, match: { id: id, k: n } } }";
        let keys = is_proved(
            &catalog,
            &keyed(by_day, "D#{p.id}", "D"),
            ClaimKind::KeysDiffer,
        );
        assert!(!keys, "{product}");
        database.drop().await;
    }
    let database = postgres::Database::with(
        "CREATE EXTENSION citext; CREATE DOMAIN word AS citext; CREATE DOMAIN name_of AS word;
         CREATE TABLE texts (k varchar(5) PRIMARY KEY); INSERT INTO texts VALUES ('a'), ('a ');
         CREATE TABLE fixed (k char(5) PRIMARY KEY);
         CREATE TABLE words (k citext PRIMARY KEY);
         CREATE TABLE finer (k citext NOT NULL, d name_of NOT NULL);
         CREATE UNIQUE INDEX k_as_text ON finer (k text_ops); CREATE UNIQUE INDEX d_as_text ON finer (d text_ops);
         INSERT INTO finer VALUES ('A', 'A'), ('a', 'a');
         CREATE TABLE alike (k text NOT NULL, d name_of NOT NULL);
         CREATE UNIQUE INDEX k_by_pattern ON alike (k text_pattern_ops); CREATE UNIQUE INDEX d_as_itself ON alike (d);
         CREATE TABLE numbers (k numeric PRIMARY KEY);
         CREATE TABLE child (id int PRIMARY KEY, r char(2), t text, c citext, n int);
         CREATE TABLE days (id int PRIMARY KEY, d date NOT NULL);
         CREATE TABLE parts (id int PRIMARY KEY, hidden text, doc jsonb, whole text);
         CREATE TABLE sizes (id int PRIMARY KEY, n numeric(3, -5) NOT NULL)",
    )
    .await;
    let catalog = catalog(&database.url()).await;
    for (parent, column, proved) in [
        ("texts", "r", false),
        ("texts", "t", true),
        ("fixed", "r", true),
        ("words", "c", true),
        ("numbers", "n", true),
        ("alike", "t", true),
    ] {
        let one = has_one_parent(&catalog, parent, column);
        assert_eq!(one, proved, "{parent} {column}");
    }
    for (table, column, unique) in [
        ("finer", "k", false),
        ("finer", "d", false),
        ("alike", "k", true),
        ("alike", "d", true),
    ] {
        let in_catalog = catalog.find(table).unwrap();
        let found = in_catalog.is_unique(&[column.to_owned()], catalog.dbms);
        assert_eq!(found, unique, "{table} {column}");
    }
    // PK 3, SK 3, _type 6, v 1; and -99900000 behind `n`.
    let sized = "  T: { from: sizes, columns: [], key: { PK: \"{id | pad(1)}\", SK: S }, attributes: { v: \"n{n}\" } }";
    assert_eq!(proofs(&catalog, sized).sizes[0].most_bytes, Some(24));
    // The name of a day has no fixed width; the date of which it is made has.
    let named = "  T: { from: days, columns: [], key: { PK: \"{id | pad(1)}\", SK: S }, attributes: { v: \"{d | format('%A')}\" } }";
    assert_eq!(proofs(&catalog, named).sizes[0].most_bytes, None);
    // A member, what hides a value, and a whole column: PK, v.
    let parts = "  T: { from: parts, columns: [], key: { PK: \"{id | pad(1)}\", SK: S }, attributes: { v: \"{whole}\", p: \"{hidden | redact}\", m: \"{doc.member}\" } }";
    let coverage = proofs(&catalog, parts).coverage;
    assert_eq!((coverage.in_items, coverage.columns), (2, 4));
    assert_eq!(coverage.in_part, ["parts.hidden", "parts.doc"]);
}

#[tokio::test]
async fn text_of_an_encoding_in_which_a_character_has_several_codes_proves_no_key() {
    for (encoding, proved) in [("EUC_JP", false), ("WIN1252", true)] {
        let database = postgres::Database::encoded(encoding).await;
        database
            .run("CREATE TABLE t (k text PRIMARY KEY, n int NOT NULL UNIQUE)")
            .await;
        let catalog = catalog(&database.url()).await;
        for (column, proved) in [("k", proved), ("n", true)] {
            let items = keyed("t", &format!("T#{{{column}}}"), "T");
            let keys = is_proved(&catalog, &items, ClaimKind::KeysDiffer);
            assert_eq!(keys, proved, "{encoding}: {column}");
        }
    }
}

#[tokio::test]
async fn not_null_is_none_where_postgresql_does_not_enforce_it_over_every_row() {
    let database = postgres::Database::with(
        "CREATE TABLE base (id int PRIMARY KEY, n int NOT NULL);
         CREATE TABLE heir () INHERITS (base);
         ALTER TABLE heir ALTER n DROP NOT NULL;
         INSERT INTO heir VALUES (1, NULL);
         CREATE TABLE alone (id int PRIMARY KEY, n int NOT NULL);
         CREATE TABLE parted (id int PRIMARY KEY, n int NOT NULL) PARTITION BY RANGE (id);
         CREATE TABLE parted_all PARTITION OF parted DEFAULT;
         CREATE FOREIGN DATA WRAPPER nowhere;
         CREATE SERVER elsewhere FOREIGN DATA WRAPPER nowhere;
         CREATE FOREIGN TABLE far (id int NOT NULL, n int NOT NULL) SERVER elsewhere;
         CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
         CREATE TABLE texts (ci text COLLATE loose PRIMARY KEY, plain text NOT NULL);
         CREATE UNIQUE INDEX finer ON texts (ci COLLATE \"C\");",
    )
    .await;
    let catalog = catalog(&database.url()).await;
    let column = |table: &str, name: &str| {
        let table = catalog.find(table).unwrap();
        table.column(name).unwrap().clone()
    };
    for (table, nullable) in [
        ("base", true),
        ("heir", true),
        ("alone", false),
        ("parted", false),
        ("far", true),
    ] {
        assert_eq!(column(table, "n").nullable, nullable, "{table}");
    }
    assert!(column("texts", "ci").insensitive && !column("texts", "plain").insensitive);
    assert!(catalog.find("texts").unwrap().unique_keys.is_empty());
}

#[tokio::test]
async fn a_secondary_unique_key_of_mysql_proves_nothing_and_one_of_others_does() {
    let script = |_: &str| {
        "CREATE TABLE t (id int PRIMARY KEY, email varchar(40) NOT NULL UNIQUE)".to_owned()
    };
    for source in Source::each(script).await {
        let catalog = catalog(&source.url()).await;
        let items = "  T: { from: t, key: { PK: \"T#{email}\", SK: T } }";
        let product = source.product();
        let expected = ["sqlite", "postgres"].contains(&product);
        assert_eq!(
            is_proved(&catalog, items, ClaimKind::KeysDiffer),
            expected,
            "{product}"
        );
        let first = claims(&catalog, items, ClaimKind::KeysDiffer).remove(0);
        assert_eq!(first.facts.is_empty(), !expected, "{product}: {first:?}");
        source.drop().await;
    }
}

#[tokio::test]
async fn a_view_or_a_query_of_sqlite_tells_nothing_of_its_values() {
    let database = sqlite::Database::new(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, day DATE NOT NULL);
         INSERT INTO t VALUES (1, 'Ann', '2026-01-01'), (2, 'Ann Lee', 7);
         CREATE VIEW v AS SELECT id, name FROM t",
    )
    .await;
    let catalog = catalog(&database.url()).await;
    let sorted = |from: &str, sort: &str| {
        let items = format!(
            "  T: {{ from: {from}, key: {{ PK: T, SK: \"{sort}\" }}, attributes: {{ GP: \"X{{id}}\" }} }}"
        );
        (
            is_proved(&catalog, &items, ClaimKind::TextOrder),
            is_proved(&catalog, &items, ClaimKind::AlwaysInIndex),
        )
    };
    assert_eq!(sorted("t", "{name}"), (true, true));
    assert_eq!(sorted("v", "{name}"), (false, false));
    assert_eq!(sorted("t", "{day}"), (false, true));
    // Where `id` is NULL there is no item.
    assert_eq!(sorted("v", "{id | pad(3)}"), (true, true));
}

#[tokio::test]
async fn text_order_is_that_of_whole_keys() {
    let database = postgres::Database::with(
        "CREATE TYPE size AS ENUM ('small', 'large'); CREATE TYPE grade AS ENUM ('a', 'b');
         CREATE TABLE t (id int PRIMARY KEY, name text NOT NULL, note text, size size NOT NULL,
             grade grade NOT NULL, at timestamptz(3) NOT NULL, day date NOT NULL, u uuid NOT NULL,
             clock time NOT NULL, ok boolean NOT NULL, doc jsonb NOT NULL)",
    )
    .await;
    let catalog = catalog(&database.url()).await;
    for (sort, expected) in [
        ("{name}", true),
        ("A#{name}", true),
        // "Ann Lee#002" comes before "Ann#001".
        ("{name}#{id | pad(3)}", false),
        ("{name}|{id | pad(3)}", false),
        ("{name}{id | pad(3)}", false),
        ("{id | pad(3)}#{name}", true),
        ("{id | ordered}#{name}", true),
        ("{id | ordered}{name}", true),
        ("{u}{at}{day}#{clock}", true),
        ("{ok}#{name}", true),
        ("{size}", false),
        ("{grade}#{name}", true),
        ("{name}[#{note}]", false),
        ("{day}[#{note}]", true),
        ("[{note}]#{day}", false),
        ("{at | format('%Y-%m-%d')}#{name}", true),
        ("{at | format('%H')}#{name}", false),
        ("{u | replace('-', '')}", true),
        ("{name | binary | base64}", false),
        ("{note | default(x)}", true),
        ("{id | string | default(none)}", false),
        ("{id | string}", false),
        ("{name | upper}", true),
        ("{name | truncate(3)}#{id | pad(3)}", false),
        // What is a number in the document stays one.
        ("{doc.v | pseudonym}#", false),
        ("{name | pseudonym}#", true),
    ] {
        let items = format!("  T: {{ from: t, key: {{ PK: T, SK: \"{sort}\" }} }}");
        let claims = claims(&catalog, &items, ClaimKind::TextOrder);
        assert_eq!(claims[0].is_proved(), expected, "{sort}: {claims:?}");
    }
}

#[tokio::test]
async fn a_proposed_mapping_takes_the_parents_spelling_where_case_makes_no_difference() {
    let script = |product: &str| {
        let (kind, strict) = match product {
            "sqlite" => ("TEXT COLLATE NOCASE", ""),
            "postgres" => ("text", " COLLATE loose"),
            _ => ("varchar(9) COLLATE utf8mb4_general_ci", ""),
        };
        let before = match product {
            "postgres" => {
                "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
            }
            _ => "",
        };
        format!(
            "{before} CREATE TABLE maker (code {kind}{strict} NOT NULL PRIMARY KEY);
             CREATE TABLE city (id int NOT NULL PRIMARY KEY, maker_code {kind}{strict} NOT NULL,
                 FOREIGN KEY (maker_code) REFERENCES maker (code));
             INSERT INTO maker VALUES ('DE'); INSERT INTO city VALUES (1, 'de');"
        )
    };
    for source in Source::each(script).await {
        let catalog = catalog(&source.url()).await;
        let prices = Prices::read(SHIPPED, None).unwrap();
        let text = design(&catalog, &[], &prices, &Limits::default()).mapping;
        let product = source.product();
        assert!(
            text.contains("join:\n      maker: maker_code\n"),
            "{product}: {text}"
        );
        assert!(
            text.contains("PK: \"MAKER#{maker.code}\""),
            "{product}: {text}"
        );
        let (raw, faults) = Raw::read(&text, &|_| None);
        let resolution = resolve(&raw.unwrap(), faults, &catalog, &Described::new());
        assert!(
            resolution.model.is_some(),
            "{product}: {:?}",
            resolution.diagnostics
        );
        // What is proposed is told of nothing; without the join it is.
        let insensitive = |text: &str, patterns: &str| {
            let (raw, faults) = Raw::read(&format!("{text}{patterns}"), &|_| None);
            let resolution = resolve(&raw.unwrap(), faults, &catalog, &Described::new());
            assert!(resolution.model.is_some(), "{:?}", resolution.diagnostics);
            let reported = resolution.diagnostics.into_iter();
            let reported = reported.filter(|one| one.code == Code::InsensitiveKey);
            reported.map(|one| one.help.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(insensitive(&text, ""), [""; 0], "{product}");
        let head = "dynafold: 1\ntable: { name: app, key: { partition: PK, sort: SK } }\nitems:\n";
        let maker = "  C: { from: maker, key: { PK: \"C#{code}\", SK: C } }\n";
        let city = |join: &str, code: &str| {
            format!(
                "{head}{maker}  T: {{ from: city, {join}key: {{ PK: \"C#{{{code}}}\", SK: \"T#{{id | pad(9)}}\" }} }}\n"
            )
        };
        let reported = insensitive(&city("", "maker_code"), "");
        let [help] = reported.as_slice() else {
            panic!("{product}: {reported:?}")
        };
        let mend = "use the parent's spelling: join: { parent: maker_code }, and {parent.code} instead of {maker_code};";
        assert!(help.starts_with(mend), "{product}: {help}");
        let join = "join: { parent: maker_code }, ";
        assert_eq!(
            insensitive(&city(join, "parent.code"), ""),
            [""; 0],
            "{product}"
        );
        let reported = insensitive(&city(join, "maker_code"), "");
        assert!(
            reported[0].contains("{parent.code}"),
            "{product}: {reported:?}"
        );
        assert_eq!(
            insensitive(&city("", "maker_code | upper"), ""),
            [""; 0],
            "{product}"
        );
        // A text key by itself is told of with the SQL that finds it alone.
        let pattern = |key: &str, sql: &str| {
            let pattern =
                format!("  p: {{ items: [C], key: {{ PK: \"C#{{{key}}}\" }}, sql: \"{sql}\" }}\n");
            let text = format!(
                "{head}{}access_patterns:\n{pattern}",
                maker.replace("{code}", &format!("{{{key}}}"))
            );
            insensitive(&text, "").len()
        };
        let plain = "SELECT code FROM maker WHERE code = :code";
        assert_eq!(pattern("code", plain), 1, "{product}");
        assert_eq!(pattern("code | lower", plain), 0, "{product}");
        assert_eq!(
            pattern("code", "SELECT code FROM maker WHERE code > :code"),
            0,
            "{product}"
        );
        source.drop().await;
    }
}

#[tokio::test]
async fn a_join_that_nothing_enforces_to_be_one_row_takes_no_warning_away() {
    for (product, server) in mysql::servers() {
        let database = mysql::Database::new(&server).await;
        database
            .run("CREATE TABLE p (id INT PRIMARY KEY, mrn VARCHAR(20) NOT NULL UNIQUE) COLLATE utf8mb4_general_ci;
         CREATE TABLE d (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, mail VARCHAR(20) NOT NULL,
                         other VARCHAR(20) COLLATE utf8mb4_bin) COLLATE utf8mb4_general_ci;")
            .await;
        let catalog = catalog(database.url().as_str()).await;
        let codes = |on: &str, key: &str| -> Vec<Code> {
            let text = format!(
                "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK }} }}\nitems:\n  \
             D: {{ from: d, join: {{ p: {{ table: p, match: {{ {on} }} }} }}, key: {{ PK: \"{key}\" }}, columns: [id, p.id] }}\n"
            );
            let (raw, faults) = Raw::read(&text, &|_| None);
            let resolution = resolve(
                &raw.expect("a mapping"),
                faults,
                &catalog,
                &Described::new(),
            );
            let codes = resolution.diagnostics.iter().map(|found| found.code);
            codes.collect()
        };
        // By the primary key, by a unique key, and by a unique key whose collation is not the join's.
        for on in ["id: id", "mrn: mail"] {
            assert!(
                codes(on, "D#{name}").contains(&Code::KeyNotUnique),
                "{product}: {on}"
            );
            assert!(
                !codes(on, "D#{id}").contains(&Code::KeyNotUnique),
                "{product}: {on}"
            );
            assert!(
                !codes(on, "D#{id}").contains(&Code::UnprovenJoin),
                "{product}: {on}"
            );
        }
        assert!(
            codes("mrn: other", "D#{name}").contains(&Code::UnprovenJoin),
            "{product}"
        );
    }
}

#[tokio::test]
async fn columns_in_partition_keys_that_the_database_numbers_are_named() {
    let script = |product: &str| {
        let (numbered, plain) = match product {
            "sqlite" => ("INTEGER PRIMARY KEY", "INT PRIMARY KEY"),
            "postgres" => ("serial PRIMARY KEY", "int PRIMARY KEY"),
            _ => ("int AUTO_INCREMENT PRIMARY KEY", "int PRIMARY KEY"),
        };
        let more = match product {
            "postgres" => {
                "CREATE SEQUENCE s; CREATE TABLE sequent (id text PRIMARY KEY DEFAULT 'O-' || nextval('s'), n int NOT NULL,
                    a int GENERATED ALWAYS AS IDENTITY);"
            }
            // A key that is no other name of the rowid.
            "sqlite" => "CREATE TABLE sequent (id INTEGER PRIMARY KEY DESC, n int NOT NULL, a int);",
            _ => "CREATE TABLE sequent (id int PRIMARY KEY, n int NOT NULL, a int);",
        };
        format!(
            "CREATE TABLE counted (id {numbered}, n int NOT NULL); CREATE TABLE given (id {plain}, n int NOT NULL); {more}"
        )
    };
    for source in Source::each(script).await {
        let catalog = catalog(&source.url()).await;
        let product = source.product();
        let text = "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, local_indexes: { LSI1: { sort: { name: n, type: N } } } }
items:
  C: { from: counted, key: { PK: \"C#{id}\", SK: C }, columns: [n] }
  G: { from: given, key: { PK: \"G#{id}\", SK: G }, columns: [n] }
  N: { from: counted, key: { PK: \"N#{n}\", SK: \"N#{id}\" }, columns: [n] }
  S: { from: sequent, key: { PK: \"S#{id}#{a}\", SK: S }, columns: [n], accept: [nullable-key] }
";
        let (raw, faults) = Raw::read(text, &|_| None);
        let resolution = resolve(&raw.unwrap(), faults, &catalog, &Described::new());
        let proofs = resolution.proofs;
        let proofs = proofs.unwrap_or_else(|| panic!("{:#?}", resolution.diagnostics));
        let expected = match product {
            "postgres" => vec!["counted.id", "sequent.a", "sequent.id"],
            _ => vec!["counted.id"],
        };
        assert_eq!(proofs.numbered_keys, expected, "{product}");
        assert!(proofs.indexes[0].local, "{product}");
        source.drop().await;
    }
}
