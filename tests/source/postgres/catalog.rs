//! What the catalog and `describe` say.

use std::error::Error as _;

use dynafold::catalog::{DataType, Index, ReferentialAction, TableKind, UniqueKey};
use dynafold::scan::Relation;

use super::{catalog, connect, foreign_key, name, rows, strings, table};
use crate::support::postgres::Database;
use crate::support::types::scan_of;

const KEYS: &str = "
    CREATE SCHEMA crm;
    CREATE TABLE crm.region (country char(2), code text, PRIMARY KEY (code, country));
    CREATE TABLE employee (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        manager_id bigint CONSTRAINT employee_manager REFERENCES employee,
        region_country char(2),
        region_code text,
        email varchar(80) NOT NULL,
        first_name text DEFAULT 'no one',
        full_name text GENERATED ALWAYS AS (first_name || '!') STORED,
        CONSTRAINT employee_email UNIQUE (email),
        CONSTRAINT employee_region
            FOREIGN KEY (region_country, region_code) REFERENCES crm.region (country, code)
    );
    CREATE UNIQUE INDEX employee_names ON employee (first_name, region_code) INCLUDE (email);
    CREATE UNIQUE INDEX employee_boss ON employee (region_code) WHERE manager_id IS NULL;
    CREATE UNIQUE INDEX employee_lower ON employee (lower(email), id);
    CREATE INDEX employee_place ON employee (region_country DESC, region_code);
    COMMENT ON TABLE employee IS 'People''s records';
    COMMENT ON COLUMN employee.email IS 'work';
    CREATE TABLE hen (id int PRIMARY KEY, egg_id int);
    CREATE TABLE egg (id int PRIMARY KEY, hen_id int REFERENCES hen ON DELETE CASCADE);
    ALTER TABLE hen ADD FOREIGN KEY (egg_id) REFERENCES egg ON DELETE SET NULL;
";

#[tokio::test]
async fn a_table_with_a_foreign_part_has_no_snapshot() {
    let database = Database::with(
        "CREATE FOREIGN DATA WRAPPER none; CREATE SERVER far FOREIGN DATA WRAPPER none;
         CREATE TABLE whole (id int) PARTITION BY RANGE (id); CREATE TABLE near PARTITION OF whole DEFAULT;
         CREATE FOREIGN TABLE part PARTITION OF whole FOR VALUES FROM (1) TO (9) SERVER far;
         CREATE TABLE parent (id int); CREATE TABLE child () INHERITS (parent);
         CREATE FOREIGN TABLE heir () INHERITS (child) SERVER far;
         CREATE TABLE plain (id int) PARTITION BY RANGE (id); CREATE TABLE own PARTITION OF plain DEFAULT",
    )
    .await;
    let catalog = catalog(&database).await;
    let live = catalog.tables.iter().filter(|table| table.live);
    let live: Vec<&str> = live.map(|table| table.name.name.as_str()).collect();
    assert_eq!(live, ["child", "heir", "parent", "whole"]);
}

#[tokio::test]
async fn collations_are_in_the_catalog_where_they_do_not_sort_by_bytes() {
    let database = Database::with(
        "CREATE EXTENSION citext;
         CREATE DOMAIN mail AS citext; CREATE DOMAIN own_mail AS mail; CREATE DOMAIN code AS character(4);
         CREATE TABLE t (id int PRIMARY KEY, own text, c text COLLATE \"C\",
            posix varchar(5) COLLATE \"POSIX\", icu text COLLATE \"de-x-icu\", folded citext,
            mail mail, own_mail own_mail, folded_c citext COLLATE \"C\", fixed character(4) COLLATE \"C\", blanks bpchar, code code);
         CREATE VIEW v AS SELECT icu, c FROM t",
    )
    .await;
    let catalog = catalog(&database).await;
    let collation = |of: &str, column: &str| {
        table(&catalog, of)
            .column(column)
            .unwrap()
            .collation
            .clone()
    };
    let of = |column| collation("t", column);
    assert_eq!((of("id"), of("c"), of("posix")), (None, None, None));
    assert_eq!(of("icu").as_deref(), Some("de-x-icu"));
    for column in ["folded", "mail", "own_mail", "folded_c"] {
        assert_eq!(of(column).as_deref(), Some("citext"), "{column}");
    }
    // Blanks at their end are no part of these values.
    for column in ["blanks", "code"] {
        assert_eq!(of(column).as_deref(), Some("bpchar"), "{column}");
    }
    assert_eq!(of("fixed"), None);
    assert_eq!(collation("v", "icu").as_deref(), Some("de-x-icu"));
    assert_eq!(collation("v", "c"), None);
}

/// A session may switch off the trigger that keeps a deferrable key, and an operator class may find no two values equal.
#[tokio::test]
async fn keys_that_may_hold_equal_rows_are_lax() {
    let database = Database::with(
        "CREATE EXTENSION citext;
         CREATE TABLE t (id int PRIMARY KEY DEFERRABLE, a int UNIQUE, b int UNIQUE DEFERRABLE INITIALLY DEFERRED, c citext UNIQUE, d text);
         CREATE FUNCTION never(text, text) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT CASE WHEN $1 <= $2 THEN -1 ELSE 1 END $$;
         CREATE OPERATOR CLASS fine FOR TYPE text USING btree AS
            OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 never(text, text);
         CREATE UNIQUE INDEX t_d_key ON t (d fine);
         CREATE TABLE plain (id int PRIMARY KEY) PARTITION BY RANGE (id);
         CREATE TABLE plain_1 PARTITION OF plain FOR VALUES FROM (0) TO (9);
         CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
         CREATE TABLE parted_1 (id int PRIMARY KEY DEFERRABLE);
         ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES FROM (0) TO (9)",
    )
    .await;
    let catalog = catalog(&database).await;
    let t = table(&catalog, "t");
    assert!(t.lax_primary_key && !table(&catalog, "plain").lax_primary_key);
    assert!(table(&catalog, "parted").lax_primary_key);
    let keys = t.unique_keys.iter();
    let keys: Vec<(&str, bool)> = keys.map(|key| (key.name.as_str(), key.lax)).collect();
    let expected = [
        ("t_a_key", false),
        ("t_b_key", true),
        ("t_c_key", false),
        ("t_d_key", true),
    ];
    assert_eq!(keys, expected);
}

fn index(name: &str, columns: &[&str], condition: Option<&str>) -> Index {
    Index {
        name: name.into(),
        columns: strings(columns),
        unique: name != "employee_place",
        condition: condition.map(str::to_owned),
    }
}

#[tokio::test]
async fn keys_and_foreign_keys_of_every_shape_are_in_the_catalog() {
    let database = Database::with(KEYS).await;
    let catalog = catalog(&database).await;
    assert_eq!(catalog.search_path, ["public"]);
    assert_eq!(catalog.notices, Vec::<String>::new());
    let names: Vec<String> = catalog.tables.iter().map(|t| t.name.to_string()).collect();
    let expected = ["crm.region", "public.egg", "public.employee", "public.hen"];
    assert_eq!(names, expected);

    let employee = table(&catalog, "employee");
    assert_eq!(employee.kind, TableKind::Table);
    assert!(employee.readable);
    assert_eq!(employee.comment.as_deref(), Some("People's records"));
    assert_eq!(employee.primary_key, ["id"]);
    assert_eq!(
        employee.unique_keys,
        [
            UniqueKey {
                name: "employee_email".into(),
                columns: strings(&["email"]),
                ..UniqueKey::default()
            },
            UniqueKey {
                name: "employee_names".into(),
                columns: strings(&["first_name", "region_code"]),
                ..UniqueKey::default()
            },
        ]
    );
    assert_eq!(
        employee.indexes,
        [
            index(
                "employee_boss",
                &["region_code"],
                Some("manager_id IS NULL")
            ),
            index("employee_lower", &["lower(email::text)", "id"], None),
            index("employee_place", &["region_country", "region_code"], None),
        ]
    );
    assert_eq!(
        employee.foreign_keys,
        [
            foreign_key(
                "employee_manager",
                &["manager_id"],
                name("public", "employee"),
                &["id"]
            ),
            foreign_key(
                "employee_region",
                &["region_country", "region_code"],
                name("crm", "region"),
                &["country", "code"]
            ),
        ]
    );
    let region = catalog.table(&name("crm", "region")).expect("region");
    assert_eq!(region.primary_key, ["code", "country"]);
    assert_eq!(
        table(&catalog, "hen").foreign_keys[0].references.name,
        "egg"
    );
    assert_eq!(
        table(&catalog, "egg").foreign_keys[0].references.name,
        "hen"
    );

    let rule = |of| table(&catalog, of).foreign_keys[0].on_delete;
    assert_eq!(
        (rule("egg"), rule("hen"), rule("employee")),
        (
            ReferentialAction::Cascade,
            ReferentialAction::SetNull,
            ReferentialAction::NoAction
        )
    );

    let column = |name| employee.column(name).expect(name);
    assert_eq!(
        column("id").default.as_deref(),
        Some("GENERATED ALWAYS AS IDENTITY")
    );
    assert!(!column("id").nullable);
    assert_eq!(column("email").declared, "character varying(80)");
    assert_eq!(
        column("email").data_type,
        DataType::Text {
            max_chars: Some(80)
        }
    );
    assert_eq!(column("email").comment.as_deref(), Some("work"));
    assert_eq!(
        column("first_name").default.as_deref(),
        Some("'no one'::text")
    );
    assert!(column("first_name").nullable);
    assert_eq!(column("full_name").default, None);
    assert_eq!(
        column("full_name").generated.as_deref(),
        Some("(first_name || '!'::text)")
    );
}

#[tokio::test]
async fn a_user_who_may_only_select_sees_what_is_theirs_and_is_told_of_the_rest() {
    let mut database = Database::with(KEYS).await;
    let reader = database.role("reader").await;
    database
        .run(&format!(
            "CREATE SCHEMA vault; CREATE TABLE vault.gold (id int); CREATE TABLE vault.silver (id int);
             GRANT USAGE ON SCHEMA crm TO {reader};
             GRANT SELECT ON egg TO {reader};
             GRANT SELECT (id, first_name, region_country, region_code) ON employee TO {reader};
             CREATE TABLE policed (id int); ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
             GRANT SELECT ON policed TO {reader}"
        ))
        .await;
    let mut source = connect(&database.url_as(&reader, "secret")).await;
    let catalog = source.catalog().await.expect("a catalog");
    assert_eq!(
        catalog.notices,
        [
            format!(
                "no permission on schema vault: its tables (2) are hidden; ask for GRANT USAGE ON \
                 SCHEMA \"vault\" TO \"{reader}\""
            ),
            format!(
                "public.employee has columns that this user may not read: manager_id, email, full_name; \
                 ask for GRANT SELECT ON \"public\".\"employee\" TO \"{reader}\""
            ),
            format!(
                "row-level security is active on public.policed: rows that its policies hide from \
                 \"{reader}\" are not read"
            ),
        ]
    );
    let readable: Vec<&str> = (catalog.tables.iter())
        .filter(|table| table.readable)
        .map(|table| table.name.name.as_str())
        .collect();
    assert_eq!(readable, ["egg", "employee", "policed"]);
    let employee = table(&catalog, "employee");
    assert_eq!(employee.columns.len(), 4);
    assert_eq!(
        employee.hidden_columns.as_deref().unwrap(),
        ["manager_id", "email", "full_name"]
    );
    assert_eq!(employee.primary_key, ["id"]);
    assert_eq!(employee.unique_keys.len(), 1);
    assert_eq!(employee.foreign_keys.len(), 1);
    assert_eq!(
        rows(source.as_mut(), &scan_of(employee))
            .await
            .expect("rows")
            .len(),
        0
    );
    // What may not be read is described all the same.
    let hen = table(&catalog, "hen");
    assert_eq!(hen.columns.len(), 2);

    let refused = source
        .prepare(&scan_of(hen))
        .await
        .expect_err("no permission");
    assert_eq!(refused.to_string(), "no permission on public.hen");
    assert_eq!(
        refused.help(),
        Some(
            format!(
                "ask for GRANT SELECT ON \"public\".\"hen\" TO \"{reader}\", and for GRANT USAGE \
                 ON SCHEMA \"public\" TO \"{reader}\" if that is missing"
            )
            .as_str()
        )
    );
    let cause = refused.source().expect("a cause").to_string();
    assert!(cause.contains("permission denied for table hen"), "{cause}");
    // The snapshot survives the refusal.
    let egg = Relation::Table(name("public", "egg"));
    assert_eq!(source.count(&egg).await.expect("a count"), 0);
}

#[tokio::test]
async fn a_query_is_described_with_the_declared_digits_of_its_columns() {
    let database = Database::with(
        "CREATE TYPE mood AS ENUM ('sad', 'ok');
         CREATE DOMAIN code AS varchar(10);
         CREATE TABLE t (at timestamp(3), price numeric(10, 2), c char(3), m mood[], k code, r int4range)",
    )
    .await;
    let mut source = connect(&database.url()).await;
    let sql = "SELECT at, s.price, c, m, k, r, 1 + 1 AS two, 'x'::text, t AS whole,
                      now() AS now, ARRAY['ok'::mood] AS moods, NULL AS nothing
               FROM (SELECT * FROM t) AS s JOIN t USING (at, c, m, k, r); ";
    let columns = source.describe(sql).await.expect("columns");
    let seen: Vec<String> = (columns.iter())
        .map(|c| format!("{} {}", c.name, c.declared))
        .collect();
    assert_eq!(
        seen,
        [
            "at timestamp(3) without time zone",
            "price numeric(10,2)",
            "c character(3)",
            "m mood[]",
            "k code",
            "r int4range",
            "two integer",
            "text text",
            "whole t",
            "now timestamp with time zone",
            "moods mood[]",
            "nothing text",
        ]
    );
    let moods = DataType::Array {
        element: Box::new(DataType::Enum {
            values: strings(&["sad", "ok"]),
        }),
    };
    assert_eq!(
        columns[0].data_type,
        DataType::Timestamp {
            digits: 3,
            zone: false
        }
    );
    assert_eq!(
        columns[4].data_type,
        DataType::Text {
            max_chars: Some(10)
        }
    );
    assert_eq!(
        columns[9].data_type,
        DataType::Timestamp {
            digits: 6,
            zone: true
        }
    );
    assert_eq!(columns[3].data_type, moods);
    assert_eq!(columns[10].data_type, moods);
    let DataType::Composite { fields } = &columns[8].data_type else {
        panic!("{:?}", columns[8].data_type);
    };
    assert_eq!(fields.len(), 6);

    let refused = source.describe("SELECT nothing FROM nowhere").await;
    let refused = refused.expect_err("there is no such table");
    assert_eq!(
        refused.to_string(),
        "the database refused the query on the query `SELECT nothing FROM nowhere`"
    );
    // The connection is as good as before.
    assert!(source.describe("SELECT 1").await.is_ok());
    source.begin(&[]).await.expect("a snapshot");
    assert!(source.describe("SELECT nothing").await.is_err());
    assert!(source.describe("SELECT 1").await.is_ok());
}

#[tokio::test]
async fn what_checks_list_and_how_many_values_there_are_is_in_the_catalog() {
    let database = Database::with(
        "CREATE DOMAIN size AS text CHECK (VALUE IN ('S', 'M', 'L'));
         CREATE TABLE t (id integer PRIMARY KEY, state varchar(9) CHECK (state IN ('open', 'it''s')), size size,
            grade integer, kind text, rare text, CHECK (grade IN (1, 2, 3) AND id > 0), CHECK (grade = 1 OR grade = 2));
         INSERT INTO t SELECT n, CASE WHEN n % 9 = 0 THEN 'it''s' ELSE 'open' END, 'S', 1 + n % 2, 'k' || n % 5,
            CASE WHEN n % 250 = 0 THEN 'r' END FROM generate_series(1, 1000) AS n;
         ALTER TABLE t ADD CHECK (kind IN ('a')) NOT VALID;
         CREATE TABLE parted (id integer, kind text) PARTITION BY RANGE (id);
         CREATE TABLE part PARTITION OF parted FOR VALUES FROM (1) TO (9999);
         INSERT INTO parted SELECT id, kind FROM t;
         CREATE TABLE fresh (kind text) WITH (autovacuum_enabled = off);
         INSERT INTO fresh VALUES ('a');
         ANALYZE t; ANALYZE parted;",
    )
    .await;
    let catalog = catalog(&database).await;
    let listed = |name| table(&catalog, "t").column(name).unwrap().listed.clone();
    assert_eq!(listed("state"), ["open", "it's"]);
    assert_eq!(listed("size"), ["S", "M", "L"]);
    // A constraint over two columns tells nothing of one, and one that is not valid nothing of the rows that are there.
    assert_eq!(listed("grade"), ["1", "2"]);
    assert_eq!(listed("kind"), Vec::<String>::new());
    let distinct = |of, name| table(&catalog, of).column(name).unwrap().distinct;
    assert_eq!(distinct("t", "id"), Some(1000), "a share of the rows");
    assert_eq!(distinct("t", "state"), Some(2));
    assert_eq!(distinct("t", "kind"), Some(5));
    assert_eq!(distinct("parted", "kind"), Some(5));
    assert_eq!(distinct("fresh", "kind"), None);
    let nulls = |of, name| table(&catalog, of).column(name).unwrap().nulls;
    assert_eq!(nulls("t", "rare"), Some(996));
    assert_eq!(nulls("parted", "kind"), Some(0));
    assert_eq!(nulls("fresh", "kind"), None);
}
