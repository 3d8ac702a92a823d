//! `design`: what it proposes goes through check, migrate, verify and verify --patterns untouched.

use dynafold::mapping::yaml::parse;
use serde_json::Value;

use crate::patterns::EXAMPLES;
use crate::support::cli::dynafold;
use crate::support::datasets::{Dataset, folder};
use crate::support::source::Source;
use crate::support::sqlite::Database;

/// A proposal with a folder of its own.
struct Proposal {
    folder: tempfile::TempDir,
    source: String,
    /// The report of the design.
    report: Value,
}

impl Proposal {
    /// Proposes a table, with a workload or without one. `code`: how `design` ends.
    fn new(source: &str, workload: Option<&str>, code: i32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (mapping, file) = (path("design.yaml"), path("workload.sql"));
        let mut arguments = vec!["design", "--source", source, "-o", &mapping];
        if let Some(workload) = workload {
            std::fs::write(&file, workload).unwrap();
            arguments.extend(["--workload", &file]);
        }
        arguments.extend(["--format", "json"]);
        let report = dynafold(&arguments).exits(code).json();
        Self {
            source: source.to_owned(),
            folder,
            report,
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn mapping(&self) -> String {
        std::fs::read_to_string(self.path("design.yaml")).unwrap()
    }

    /// The reads that are not served, by name.
    fn not_served(&self) -> Vec<&str> {
        let reads = self.report["reads"].as_array().unwrap().iter();
        let not = reads.filter(|read| read["served"].is_null());
        not.map(|read| read["name"].as_str().unwrap()).collect()
    }

    /// The proposal is checked, loaded, verified, and its patterns are asked. `code`: how the last command ends. Gives what
    /// it printed.
    fn holds(&self, code: i32) -> Value {
        let (mapping, state) = (self.path("design.yaml"), self.path("state"));
        let target = format!("local:{}", self.path("table.db"));
        let source = ["--source", &self.source];
        dynafold(&[&["check", &mapping][..], &source].concat()).exits(0);
        let load = ["--target", &target, "--state", &state];
        dynafold(&[&["migrate", &mapping][..], &source, &load].concat()).exits(0);
        let target = ["--target", &target, "--format", "json"];
        let verified = dynafold(&[&["verify", &mapping][..], &source, &target].concat());
        assert_eq!(verified.exits(0).json()["outcome"]["state"], "equal");
        let asked = [&["verify", &mapping, "--patterns"][..], &source, &target].concat();
        dynafold(&asked).exits(code).json()
    }
}

/// Each pattern's verdict, by name.
fn verdicts(report: &Value) -> Vec<(&str, &str)> {
    let claims = report["claims"].as_array().unwrap().iter();
    let answers = claims.filter(|claim| claim["claim"] == "pattern_answers");
    answers
        .map(|claim| {
            let name = claim["of"]["pattern"].as_str().unwrap();
            (name, claim["verdict"].as_str().unwrap())
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queries_of_pagila_and_northwind_are_served_by_one_request_each() {
    let Some(folder) = folder() else { return };
    for (name, dump, indexes) in [
        ("pagila", "pagila/pagila.sql.gz", 1),
        ("northwind", "northwind/northwind-pg.sql.gz", 3),
    ] {
        let workload = std::fs::read_to_string(folder.join(format!("queries/{name}.sql"))).unwrap();
        let database = Dataset::postgres(&folder, dump).await;
        let proposal = Proposal::new(&database.url(), Some(&workload), 0);
        let reads = proposal.report["reads"].as_array().unwrap();
        assert_eq!(reads.len(), 8);
        for read in reads {
            assert_eq!(read["served"]["requests"], 1, "{read:#}");
        }
        assert_eq!(
            proposal.report["indexes"].as_array().unwrap().len(),
            indexes
        );
        let asked = proposal.holds(0);
        assert_eq!(verdicts(&asked).len(), 8, "{asked:#}");
        // The order of the statements does not matter.
        let mut statements: Vec<&str> = workload.split_inclusive(";\n").collect();
        statements.reverse();
        let again = Proposal::new(&database.url(), Some(&statements.concat()), 0);
        assert_eq!(again.mapping(), proposal.mapping());
        database.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_workload_keys_and_foreign_keys_are_served() {
    let Some(folder) = folder() else { return };
    let sqlite = Dataset::sqlite(&folder, "chinook/Chinook_Sqlite.sqlite");
    let proposal = Proposal::new(&sqlite.url(), None, 0);
    let asked = proposal.holds(0);
    assert_eq!(verdicts(&asked).len(), 22, "{asked:#}");
    let files = [
        "sakila-mysql/01-sakila-schema.sql.gz",
        "sakila-mysql/02-sakila-data.sql.gz",
    ];
    for mysql in Dataset::mysql(&folder, &files, "sakila", "").await {
        let proposal = Proposal::new(&mysql.url(), None, 0);
        // All films have no other original language, so that there is nothing to compare.
        let asked = proposal.holds(3);
        let verdicts = verdicts(&asked);
        let not: Vec<&(&str, &str)> = verdicts
            .iter()
            .filter(|(_, verdict)| !["proved", "agrees"].contains(verdict))
            .collect();
        let original = "film_of_language_by_original_language_id";
        assert_eq!(not, [&(original, "not_proved")]);
        mysql.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_access_patterns_of_the_worked_examples_are_served_or_a_reason_is_given() {
    // What no Query over the tables' rows gives.
    let not = [
        ("devices", "listErrorsOfDay"),
        ("game", "getUser"),
        ("game", "listLogs"),
        ("messages", "listMessagesOfUserSince"),
        ("orders", "listShipmentsOfOrder"),
        ("orders-tables", "listShipmentsOfOrder"),
        ("products", "getProduct"),
        ("reviews", "listReviewsOfProduct"),
        ("votes", "getTotalOfCandidate"),
    ];
    for (name, migration, _) in EXAMPLES {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/");
        let text = std::fs::read_to_string(format!("{root}{name}.yaml")).unwrap();
        let mapping = parse(&text).unwrap();
        let patterns = mapping.get("access_patterns").unwrap();
        let mut workload = String::new();
        for pattern in patterns.entries() {
            let said = |key: &str| pattern.value.get(key).and_then(|node| node.text());
            let Some(sql) = said("sql") else { continue };
            let rate = said("rate").unwrap_or("1");
            workload.push_str(&format!("-- {} ({rate}/s)\n{sql};\n", pattern.key));
        }
        let source = Source::on_sqlite(migration).await;
        let expected: Vec<&str> = not
            .iter()
            .filter(|(of, _)| of == name)
            .map(|(_, read)| *read)
            .collect();
        let code = if expected.is_empty() { 0 } else { 3 };
        let proposal = Proposal::new(&source.url(), Some(&workload), code);
        assert_eq!(proposal.not_served(), expected, "{name}");
        proposal.holds(0);
    }
}

const FORUM: &str = "
    CREATE TABLE members (id INTEGER NOT NULL PRIMARY KEY, mail TEXT NOT NULL UNIQUE, level INTEGER NOT NULL);
    CREATE TABLE posts (id INTEGER NOT NULL PRIMARY KEY, member_id INTEGER NOT NULL REFERENCES members, state TEXT NOT NULL,
      at TEXT NOT NULL, body TEXT NOT NULL);
    INSERT INTO members VALUES (1, 'ada@a', 3), (2, 'ben@a', -1);
    INSERT INTO posts VALUES (1, 1, 'open', '2026-01-01', 'x'), (2, 1, 'shut', '2026-01-02', 'y'), (3, 2, 'open', '2026-01-03', 'z');";

#[tokio::test]
async fn what_no_query_serves_is_listed_with_the_way_out() {
    let source = Database::new(FORUM).await;
    let workload = "
        -- get (10/s, strong) a post
        SELECT * FROM posts WHERE id = 1;
        -- search (1/s)
        SELECT id FROM posts WHERE body LIKE '%x%';
        -- total (1/s)
        SELECT count(*) FROM posts WHERE member_id = 1;
        -- page (1/s)
        SELECT id FROM posts WHERE member_id = 1 ORDER BY id LIMIT 10 OFFSET 20;
        -- either (1/s)
        SELECT id FROM posts WHERE member_id = 1 OR state = 'open';
        -- tree (1/s)
        WITH RECURSIVE t AS (SELECT 1) SELECT * FROM t;
        -- new (5/s)
        INSERT INTO posts VALUES (:id, :member, :state, :at, :body);";
    let proposal = Proposal::new(&source.url(), Some(workload), 3);
    assert_eq!(
        proposal.not_served(),
        ["either", "page", "search", "total", "tree"]
    );
    let of = |name: &str| {
        let mut reads = proposal.report["reads"].as_array().unwrap().iter();
        reads.find(|read| read["name"] == name).unwrap()
    };
    for (name, way) in [
        ("search", "OpenSearch"),
        ("total", "counter item"),
        ("page", "LastEvaluatedKey"),
        ("either", "one Query for each part"),
        ("tree", "path"),
    ] {
        let instead = of(name)["instead"].as_str().unwrap();
        assert!(instead.contains(way), "{name}: {instead}");
    }
    assert_eq!(of("get")["served"]["consistent"], true);
    assert_eq!(proposal.report["writes"][0]["name"], "new");
    assert!(proposal.mapping().contains("# Not served by a Query:"));
    proposal.holds(0);
}

const TRAPS: &str = "
    CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE c (id INTEGER PRIMARY KEY, g INTEGER NOT NULL, p_id INTEGER REFERENCES p, at DATE NOT NULL, nick TEXT, GSI1PK TEXT);
    CREATE TABLE l (c_id INTEGER NOT NULL REFERENCES c, n INTEGER NOT NULL, a TEXT NOT NULL, b TEXT NOT NULL, PRIMARY KEY (c_id, n));
    CREATE TABLE m (id INTEGER PRIMARY KEY, g INTEGER NOT NULL);
    INSERT INTO m VALUES (-11, 1), (-2, 1), (3, 1);
    INSERT INTO p VALUES (1, 'b'), (2, NULL);
    INSERT INTO c VALUES (1, 1, NULL, '2026-01-01', ' x', 'k'), (2, 1, 1, '2026-01-02', NULL, NULL), (3, 1, 2, '2026-01-02', 'Ab', 'k'),
      (4, 1, 2, '2026-01-02', 'A', 'l');
    INSERT INTO l VALUES (2, 1, 'x#y', 'z'), (2, 2, 'x', 'y#z'), (3, 1, 'Ann', 'b'), (3, 2, 'Ann Lee', 'a');";

#[tokio::test]
async fn traps_of_sql_are_served_as_the_database_answers() {
    let source = Database::new(TRAPS).await;
    let workload = "
        -- inner (10/s) an inner join over a foreign key that may be NULL
        SELECT c.id, p.name FROM c JOIN p ON p.id = c.p_id WHERE c.g = 1 ORDER BY c.id;
        -- above (10/s) a strict bound of the last key column
        SELECT id FROM c WHERE g = 1 AND id > 1 ORDER BY id;
        -- below (10/s)
        SELECT id FROM c WHERE g = 1 AND id < 3;
        -- minus (10/s) negative numbers in a key
        SELECT id FROM m WHERE g = 1 ORDER BY id;
        -- newest (10/s) equal dates come in the order of the key
        SELECT id, at FROM c WHERE g = 1 ORDER BY at DESC LIMIT 2;
        -- nicks (10/s) NULL, blanks and one text that begins another
        SELECT id, nick FROM c WHERE g = 1 ORDER BY nick;
        -- names (10/s) two texts
        SELECT c_id, n, a, b FROM l WHERE c_id = 3 ORDER BY a, b;
        -- both (10/s) the delimiter in values
        SELECT c_id, n FROM l WHERE a = 'x' AND b = 'y#z';
        -- lower (10/s)
        SELECT id FROM c WHERE lower(nick) = lower('AB');
        -- clash (10/s) a column named like the key of an index
        SELECT id FROM c WHERE GSI1PK = 'k';
        -- same (10/s) two columns of one name
        SELECT c.id, p.id, p.name FROM c LEFT JOIN p ON p.id = c.p_id WHERE c.id = 3;
        -- deep (10/s) children and their children
        SELECT p.id, p.name, c.id AS child, c.at, l.n FROM p LEFT JOIN c ON c.p_id = p.id LEFT JOIN l ON l.c_id = c.id WHERE p.id = 2;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let asked = proposal.holds(0);
    assert_eq!(verdicts(&asked).len(), 12, "{asked:#}");
    let mapping = proposal.mapping();
    assert!(mapping.contains("key_escape: percent"), "{mapping}");
    assert!(mapping.contains("items: [P, C, L]"), "{mapping}");
    // A range that is strict and does not end, and what is not the same everywhere, is not served in silence.
    let refused = "-- nulls (1/s)\nSELECT id FROM c WHERE g = 1 ORDER BY nick NULLS LAST;
        -- b (1/s)\nSELECT id FROM c WHERE g = 1 AND (at, id) < ('2026-01-02', 7);";
    let proposal = Proposal::new(&source.url(), Some(refused), 3);
    assert_eq!(proposal.not_served(), ["b", "nulls"]);
}

#[tokio::test]
async fn where_indexes_are_short_the_busiest_reads_are_served() {
    let source = Database::new(FORUM).await;
    let workload = "
        -- get (400/s)
        SELECT * FROM posts WHERE id = 1;
        -- author (10/s)
        SELECT id FROM posts WHERE member_id = 1 ORDER BY id;
        -- state (1/s)
        SELECT id FROM posts WHERE state = 'open' ORDER BY at;
        -- edit (50/s)
        UPDATE posts SET state = :state WHERE id = :id;";
    let folder = source.folder();
    let file = folder.join("workload.sql").display().to_string();
    std::fs::write(&file, workload).unwrap();
    let mapping = folder.join("design.yaml").display().to_string();
    for (indexes, served) in [("0", vec!["get"]), ("1", vec!["author", "get"])] {
        let url = source.url();
        let mut all = vec!["design", "--source", &url, "--workload", &file];
        all.extend([
            "-o",
            &mapping,
            "--force",
            "--max-indexes",
            indexes,
            "--format",
            "json",
        ]);
        let report = dynafold(&all).exits(3).json();
        let reads = report["reads"].as_array().unwrap().iter();
        let found = reads.filter(|read| !read["served"].is_null());
        let found: Vec<&str> = found.map(|read| read["name"].as_str().unwrap()).collect();
        assert_eq!(found, served, "{indexes}");
    }
}

#[tokio::test]
async fn a_file_that_is_there_stays_and_a_workload_that_is_none_is_refused() {
    let source = Database::new(FORUM).await;
    let folder = source.folder();
    let path = |name: &str| folder.join(name).display().to_string();
    let (mapping, workload, url) = (path("design.yaml"), path("w.sql"), source.url());
    let run = |further: &[&str]| {
        let mut all = vec!["design", "--source", &url, "-o", &mapping];
        all.extend(further);
        dynafold(&all)
    };
    std::fs::write(&mapping, "mine").unwrap();
    let refused = run(&[]).exits(2).stderr;
    assert!(refused.contains("--force"), "{refused}");
    assert_eq!(std::fs::read_to_string(&mapping).unwrap(), "mine");
    std::fs::write(&workload, "-- A (often) it\nSELECT 1;").unwrap();
    let refused = run(&["--force", "--workload", &workload]).exits(2).stderr;
    assert!(
        refused.contains("line 1: `(often)` is not a rate"),
        "{refused}"
    );
    let refused = run(&["--force", "--workload", &path("none.sql")])
        .exits(2)
        .stderr;
    assert!(refused.contains("cannot read the workload"), "{refused}");
    std::fs::write(&workload, "-- get (1/s)\nSELECT * FROM posts WHERE id = 1;").unwrap();
    let told = run(&["--workload", &workload, "--explain", "get"])
        .exits(0)
        .stdout;
    assert!(told.contains("GetItem on the table"), "{told}");
    assert_eq!(std::fs::read_to_string(&mapping).unwrap(), "mine");
    let refused = run(&["--workload", &workload, "--explain", "gte"])
        .exits(2)
        .stderr;
    assert!(refused.contains("`get`"), "{refused}");
}
