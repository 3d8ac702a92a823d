//! `design`: what it proposes goes through check, migrate, verify and verify --patterns untouched.

use dynafold::design::Report;
use serde_json::Value;

use crate::patterns::EXAMPLES;
use crate::support::cli::dynafold;
use crate::support::datasets::{Dataset, folder};
use crate::support::postgres;
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
        let file = folder.path().join("workload.sql").display().to_string();
        if let Some(workload) = workload {
            std::fs::write(&file, workload).unwrap();
        }
        Self::in_folder(source, folder, workload.map(|_| &*file), code)
    }

    /// Proposes a table for the workload of a file.
    fn of(source: &str, workload: &str, code: i32) -> Self {
        Self::in_folder(source, tempfile::tempdir().unwrap(), Some(workload), code)
    }

    fn in_folder(
        source: &str,
        folder: tempfile::TempDir,
        workload: Option<&str>,
        code: i32,
    ) -> Self {
        let mapping = folder.path().join("design.yaml").display().to_string();
        let mut arguments = vec!["design", "--source", source, "-o", &mapping];
        if let Some(workload) = workload {
            arguments.extend(["--workload", workload]);
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

    /// What a mapping made by hand costs, and the proposal, under the workload of the former.
    fn compared(&self, by_hand: &str) -> Value {
        let own = self.path("design.yaml");
        let workload = ["--workload", by_hand, "--format", "json"];
        let compare = [
            "design",
            "--source",
            &self.source,
            "--compare",
            by_hand,
            &own,
        ];
        dynafold(&[&compare[..], &workload].concat())
            .exits(0)
            .json()
    }

    /// The reads that are not served, by name.
    fn not_served(&self) -> Vec<&str> {
        let reads = self.report["reads"].as_array().unwrap().iter();
        let not = reads.filter(|read| read["served"].is_null());
        not.map(|read| read["name"].as_str().unwrap()).collect()
    }

    /// What is to be decided, as people read it.
    fn warnings(&self) -> Vec<String> {
        let report: Report = serde_json::from_value(self.report.clone()).unwrap();
        report.warnings.iter().map(ToString::to_string).collect()
    }

    /// The proposal is checked, loaded, verified, and its patterns are asked. `code`: how the last command ends. Gives what
    /// it printed.
    fn holds(&self, code: i32) -> Value {
        let (mapping, state) = (self.path("design.yaml"), self.path("state"));
        let target = format!("local:{}", self.path("table.db"));
        let source = ["--source", &self.source];
        let checked = dynafold(&[&["check", &mapping][..], &source].concat()).exits(0);
        assert!(
            !checked.stderr.contains("other-order"),
            "{}",
            checked.stderr
        );
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
    for (name, dump, most) in [
        ("pagila", "pagila/pagila.sql.gz", 2),
        ("northwind", "northwind/northwind-pg.sql.gz", 4),
    ] {
        let workload = std::fs::read_to_string(folder.join(format!("queries/{name}.sql"))).unwrap();
        let database = Dataset::postgres(&folder, dump).await;
        let proposal = Proposal::new(&database.url(), Some(&workload), 0);
        let reads = proposal.report["reads"].as_array().unwrap();
        assert_eq!(reads.len(), 8);
        for read in reads {
            assert_eq!(read["served"]["requests"], 1, "{read:#}");
        }
        assert!(proposal.report["indexes"].as_array().unwrap().len() <= most);
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
        // No film has another original language: there would be nothing to find.
        let left = serde_json::json!([
            "film_of_language_by_original_language_id: original_language_id is NULL in all rows of film",
            "inventory_of_store: a row of store has about 2,291 rows of inventory, too many for a list",
            "payment_of_staff: a row of staff has about 8,025 rows of payment, too many for a list",
            "rental_of_staff: a row of staff has about 8,022 rows of rental, too many for a list",
        ]);
        assert_eq!(proposal.report["not_guessed"], left);
        let asked = proposal.holds(0);
        assert_eq!(verdicts(&asked).len(), 36, "{asked:#}");
        mysql.drop().await;
    }
    for (dump, left, served) in [
        ("pagila/pagila.sql.gz", 4, 34),
        ("northwind/northwind-pg.sql.gz", 4, 23),
    ] {
        let database = Dataset::postgres(&folder, dump).await;
        let proposal = Proposal::new(&database.url(), None, 0);
        let not_guessed = proposal.report["not_guessed"].as_array().unwrap();
        assert_eq!(not_guessed.len(), left, "{not_guessed:#?}");
        let asked = proposal.holds(0);
        assert_eq!(verdicts(&asked).len(), served, "{asked:#}");
        database.drop().await;
    }
    let sqlite = Dataset::sqlite(&folder, "northwind/northwind.sqlite");
    let proposal = Proposal::new(&sqlite.url(), None, 0);
    let asked = proposal.holds(0);
    assert_eq!(verdicts(&asked).len(), 22, "{asked:#}");
}

/// Of tables without rows everything is guessed, so that there is a proposal.
#[tokio::test]
async fn where_no_table_has_rows_all_reads_are_guessed() {
    let rows = "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a);";
    let source = Database::new(rows).await;
    let proposal = Proposal::new(&source.url(), None, 0);
    assert_eq!(proposal.report["reads"].as_array().unwrap().len(), 3);
    source.run("INSERT INTO a VALUES (1)").await;
    let proposal = Proposal::new(&source.url(), None, 0);
    assert_eq!(proposal.report["reads"].as_array().unwrap().len(), 1);
    proposal.holds(0);
}

/// A parent by its unique number with its children, figures, shards.
const SHAPES: &str = "
    CREATE TABLE users (id INTEGER NOT NULL PRIMARY KEY, nickname VARCHAR(20) NOT NULL, city VARCHAR(20) NOT NULL);
    CREATE TABLE parcels (id INTEGER NOT NULL PRIMARY KEY, tracking_no VARCHAR(20) NOT NULL UNIQUE, status VARCHAR(10) NOT NULL);
    CREATE TABLE events (parcel_id INTEGER NOT NULL REFERENCES parcels, seq INTEGER NOT NULL, kind VARCHAR(10) NOT NULL, PRIMARY KEY (parcel_id, seq));
    CREATE TABLE comments (id INTEGER NOT NULL PRIMARY KEY, from_id INTEGER NOT NULL REFERENCES users, to_id INTEGER NOT NULL REFERENCES users,
      stars INTEGER NOT NULL);
    CREATE TABLE votes (id INTEGER NOT NULL PRIMARY KEY, candidate VARCHAR(10) NOT NULL, at TIMESTAMP NOT NULL);
    INSERT INTO users WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) SELECT i, 'nick' || i, 'c' || i % 3 FROM n;
    INSERT INTO parcels WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i, 'T' || i, 's' || i % 3 FROM n;
    INSERT INTO events WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120) SELECT 1 + i % 40, i, 'k' || i % 4 FROM n;
    INSERT INTO comments WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700) SELECT i, 1 + i * 7 % 20, 1 + i % 5, i % 6 FROM n;
    INSERT INTO votes WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i, 'c' || i % 2,
      strftime('%Y-%m-%d %H:%M:%S', '2026-01-01', '+' || (i * 7) || ' minutes') FROM n;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn figures_shards_and_other_unique_keys_are_served_and_hold() {
    let source = Database::new(SHAPES).await;
    let workload = "
        -- track (900/s) by another key than the row's
        SELECT p.id, p.tracking_no, p.status, e.seq, e.kind FROM parcels p LEFT JOIN events e ON e.parcel_id = p.id WHERE p.tracking_no = :no ORDER BY e.seq;
        -- about (60/s)
        SELECT c.id, c.stars, f.nickname FROM comments c JOIN users f ON f.id = c.from_id WHERE c.to_id = :u ORDER BY c.id DESC LIMIT 20;
        -- rating (500/s) over many
        SELECT AVG(stars) AS mean, COUNT(*) AS number FROM comments WHERE to_id = :u;
        -- board (5/s) all groups, the largest first
        SELECT to_id, COUNT(*) AS number, SUM(stars) AS stars FROM comments WHERE stars > 0 GROUP BY to_id ORDER BY number DESC, to_id LIMIT 3;
        -- cities (1/s)
        SELECT DISTINCT city FROM users;
        -- votesOf (50/s) more votes than a partition takes
        SELECT id, at FROM votes WHERE candidate = :c AND at >= :a AND at < :b ORDER BY at;
        -- vote (20000/s)
        INSERT INTO votes (id, candidate, at) VALUES (:id, :c, :at);
        -- comment (20/s)
        INSERT INTO comments (id, from_id, to_id, stars) VALUES (:id, :f, :t, :s);";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let mapping = proposal.mapping();
    let requests = |name: &str| {
        let mut reads = proposal.report["reads"].as_array().unwrap().iter();
        let read = reads.find(|read| read["name"] == name).unwrap();
        read["served"]["requests"].as_u64().unwrap()
    };
    for name in ["about", "board", "cities", "rating", "track"] {
        assert_eq!(requests(name), 1, "{name}: {mapping}");
    }
    assert!(requests("votesOf") > 10, "{mapping}");
    assert!(mapping.contains("{* | shard("), "{mapping}");
    assert!(mapping.contains("GROUP BY"), "{mapping}");
    let asked = proposal.holds(0);
    assert_eq!(verdicts(&asked).len(), 6, "{asked:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worked_examples_are_served_for_no_more_than_by_hand() {
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
    let mut dearer: Vec<String> = Vec::new();
    for (name, migration, _) in EXAMPLES {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/");
        let by_hand = format!("{root}{name}.yaml");
        let source = Source::on_sqlite(migration).await;
        let expected: Vec<&str> = not
            .iter()
            .filter(|(of, _)| of == name)
            .map(|(_, read)| *read)
            .collect();
        let code = if expected.is_empty() { 0 } else { 3 };
        let proposal = Proposal::of(&source.url(), &by_hand, code);
        assert_eq!(proposal.not_served(), expected, "{name}");
        proposal.holds(0);
        // Its SQL is PostgreSQL's.
        if *name == "game" {
            continue;
        }
        let priced = proposal.compared(&by_hand);
        let cost =
            |at: usize, read: usize| priced[at]["reads"][read]["served"]["usd_month"].as_f64();
        let reads = 0..priced[0]["reads"].as_array().unwrap().len();
        // What both serve.
        let both: Vec<(f64, f64)> = reads
            .filter_map(|read| cost(0, read).zip(cost(1, read)))
            .collect();
        let sum = |all: &[(f64, f64)], first: bool| -> f64 {
            all.iter()
                .map(|(hand, own)| if first { *hand } else { *own })
                .sum()
        };
        let writes = |at: usize| priced[at]["usd_writes"].as_f64().unwrap();
        let (hand, own) = (sum(&both, true) + writes(0), sum(&both, false) + writes(1));
        if own > hand * 1.000_001 {
            dearer.push(format!("{name}: {own:.2} instead of {hand:.2}"));
        }
    }
    assert!(dearer.len() <= 3, "{dearer:#?}");
}

/// A workload that was written to be hard.
struct Hard {
    name: &'static str,
    rows: &'static str,
    workload: &'static str,
    /// The reads that no Query serves.
    not: &'static [&'static str],
    /// Indexes that an expert does with.
    indexes: usize,
    /// The kinds of traps, each with a statement that is concerned.
    traps: &'static [(&'static str, &'static str)],
}

/// Weighted reads and writes, look-alikes, NULL in keys, case, hierarchies, and the traps that a report must name.
const HARD: [Hard; 3] = [
    Hard {
        name: "auction",
        rows: include_str!("design/auction.sql"),
        workload: include_str!("design/auction-workload.sql"),
        not: &[],
        indexes: 3,
        traps: &[
            ("counter", "countBid (items.nb_of_bids, 25/s)"),
            ("all in one partition", "browseCategories"),
            ("index on a column that changes often", "countBid"),
            ("unique", "users(nickname)"),
        ],
    },
    Hard {
        name: "misleading",
        rows: include_str!("design/misleading.sql"),
        workload: include_str!("design/misleading-workload.sql"),
        not: &["byYear", "either", "recentlyViewed", "wide"],
        indexes: 4,
        traps: &[
            ("counter under contention", "view (documents.view_count"),
            ("large columns", "body of documents"),
            ("OFFSET", "page"),
            ("case", "signIn (email)"),
            ("NULL in keys", "handle (handle)"),
            ("audit columns", "documents.updated_by"),
        ],
    },
    Hard {
        name: "traps",
        rows: include_str!("design/traps.sql"),
        workload: include_str!("design/traps-workload.sql"),
        not: &["everything", "textSearch"],
        indexes: 5,
        traps: &[
            ("counter under contention", "count (counters.value, 2500/s)"),
            ("few distinct values", "activeMembers (is_active)"),
            ("skewed values", "drafts (status: "),
            ("large columns", "body of articles"),
            ("unbounded list", "notifications"),
            ("many items at once", "purge"),
            ("TTL", "notifications.expires_at (purge)"),
            (
                "soft delete",
                "articles.deleted_at (without a condition on it: ",
            ),
            ("OFFSET", "articlesPage"),
            ("case", "memberByEmail (email)"),
            ("unique", "members(email)"),
            ("numbers as text", "legacyOrder (legacy_id)"),
            ("NULL in keys", "referred (referrer_id)"),
            ("no declared reference", "members.referrer_id"),
            ("reference by a join alone", "parts.shelf to drawers"),
            ("audit columns", "members.created_by"),
            ("personal data in keys", "memberByEmail (email)"),
            ("personal data in copies", "article (email)"),
            ("guessed rates", "1 of "),
        ],
    },
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hard_workloads_are_served_or_a_true_reason_is_given() {
    for Hard {
        name,
        rows,
        workload,
        not,
        indexes,
        traps,
    } in HARD
    {
        let source = Database::new(rows).await;
        let code = if not.is_empty() { 0 } else { 3 };
        let proposal = Proposal::new(&source.url(), Some(workload), code);
        assert_eq!(proposal.not_served(), not, "{name}");
        // One request each, but for a key that is spread over shards, and for what is then read by its key.
        for read in proposal.report["reads"].as_array().unwrap() {
            let requests = &read["served"]["requests"];
            let is_spread = read["name"] == "hitsOfSite" && *requests == 4;
            let by_key = read["served"]["fetches"].as_u64().unwrap_or(0).min(1);
            let is_one = requests.is_null() || *requests == 1 + by_key;
            assert!(is_one || is_spread, "{name}: {read:#}");
        }
        let made = proposal.report["indexes"].as_array().unwrap();
        assert!(made.len() <= indexes, "{name}: {made:#?}");
        let warnings = proposal.warnings();
        for (kind, concerned) in traps {
            let is_named =
                |line: &String| line.starts_with(&format!("{kind}: ")) && line.contains(concerned);
            assert!(
                warnings.iter().any(is_named),
                "{name}: {kind}, {concerned}: {warnings:#?}"
            );
        }
        // Each statement stands in the report once.
        let all = ["reads", "writes"]
            .iter()
            .flat_map(|kind| proposal.report[kind].as_array().unwrap());
        let mut names: Vec<&str> = all.map(|one| one["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        let lines = workload.lines().filter_map(|line| line.strip_prefix("-- "));
        let mut said: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
        said.sort_unstable();
        assert_eq!(names, said, "{name}");
        let asked = proposal.holds(0);
        assert!(
            verdicts(&asked)
                .iter()
                .all(|(_, verdict)| ["proved", "agrees"].contains(verdict)),
            "{asked:#}"
        );
        let mut statements: Vec<&str> = workload.split_inclusive(";\n").collect();
        statements.reverse();
        let again = Proposal::new(&source.url(), Some(&statements.concat()), code);
        assert_eq!(again.mapping(), proposal.mapping(), "{name}");
    }
}

#[tokio::test]
async fn pins_are_kept_or_refused_with_the_reason() {
    let source = Database::new(FORUM).await;
    let reads = "-- get (400/s)\nSELECT * FROM posts WHERE id = 1;";
    let free = Proposal::new(&source.url(), Some(reads), 0).mapping();
    assert!(free.contains("key: { PK: \"POSTS#{id}\""), "{free}");
    let pinned = format!("-- keep: posts beside members\n{reads}");
    let proposal = Proposal::new(&source.url(), Some(&pinned), 0);
    let kept = proposal.mapping();
    assert!(
        kept.contains("key: { PK: \"MEMBERS#{member_id}\""),
        "{kept}"
    );
    proposal.holds(0);
    for (pin, why) in [
        (
            "members beside posts",
            "no foreign key refers to the parent's key",
        ),
        (
            "posts beside nothing",
            "the schema does not have both tables",
        ),
        ("posts members", "write `-- keep: CHILD beside PARENT`"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("w.sql").display().to_string();
        std::fs::write(&file, format!("-- keep: {pin}\n{reads}")).unwrap();
        let url = source.url();
        let reported =
            dynafold(&["design", "--source", &url, "--workload", &file, "-o", "-"]).exits(2);
        reported.says(why);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_expire_where_the_workload_asks_for_it_and_nowhere_else() {
    let source = Database::new(
        "CREATE TABLE users (id INTEGER NOT NULL PRIMARY KEY, ttl INTEGER NOT NULL);
         CREATE TABLE sessions (id INTEGER NOT NULL PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, token VARCHAR(9) NOT NULL,
           expires_at TIMESTAMP, ended INTEGER, body TEXT NOT NULL);
         INSERT INTO users VALUES (1, 5), (2, 6);
         INSERT INTO sessions VALUES (1, 1, 'a', '2040-01-02 03:04:05', 5, 'x'), (2, 1, 'b', NULL, NULL, 'y'), (3, 2, 'c', '2020-01-01 00:00:00', 7, 'z');",
    )
    .await;
    let reads = "
        -- byToken (50/s)
        SELECT * FROM sessions WHERE token = :token AND expires_at > :now;
        -- ofUser (5/s)
        SELECT u.id, u.ttl, s.id AS sid, s.token FROM users u LEFT JOIN sessions s ON s.user_id = u.id WHERE u.id = :u;
        -- number (5/s)
        SELECT user_id, COUNT(*) AS number FROM sessions GROUP BY user_id ORDER BY number DESC LIMIT 2;
        -- purge (0.01/s)
        DELETE FROM sessions WHERE expires_at < :now;";
    let free = Proposal::new(&source.url(), Some(reads), 0);
    assert!(!free.mapping().contains("ttl:"), "{}", free.mapping());
    let named = free.warnings().join("\n");
    assert!(
        named.contains("TTL: sessions.expires_at (purge)"),
        "{named}"
    );
    let asked = format!("-- expires: sessions by expires_at\n{reads}");
    let proposal = Proposal::new(&source.url(), Some(&asked), 0);
    let mapping = proposal.mapping();
    // A column is called `ttl` already.
    assert!(mapping.contains("  ttl: _ttl\n"), "{mapping}");
    let time = "_ttl: \"{expires_at | epoch}\"";
    assert_eq!(mapping.matches(time).count(), 1, "{mapping}");
    let named = proposal.warnings().join("\n");
    assert!(!named.contains("TTL: "), "{named}");
    let words = "expires: sessions by expires_at (without a condition on it: ";
    assert!(named.contains(words), "{named}");
    // What is counted in items of its own is not counted down.
    let is_kept = mapping.contains("GROUP BY");
    let words = "(counts and sums still include expired items";
    assert_eq!(named.contains(words), is_kept, "{named}");
    proposal.holds(0);
    let asked = format!("-- expires: sessions by ended\n{reads}");
    let proposal = Proposal::new(&source.url(), Some(&asked), 0);
    assert!(proposal.mapping().contains("_ttl: \"{ended}\""));
    proposal.holds(0);
    for (said, why) in [
        ("visits by at", "the schema does not have that table"),
        ("sessions by ends", "the table does not have that column"),
        (
            "sessions by token",
            "it holds neither times nor whole numbers",
        ),
        (
            "sessions by ended\n-- expires: sessions by expires_at",
            "two `expires` lines name it",
        ),
        ("sessions", "write `-- expires: TABLE by COLUMN`"),
    ] {
        let file = proposal.path("wrong.sql");
        std::fs::write(&file, format!("-- expires: {said}\n{reads}")).unwrap();
        let url = source.url();
        let reported =
            dynafold(&["design", "--source", &url, "--workload", &file, "-o", "-"]).exits(2);
        reported.says(why);
    }
    // A mapping that is there keeps its items as they are.
    let (file, old) = (proposal.path("wrong.sql"), proposal.path("design.yaml"));
    std::fs::write(&file, format!("-- expires: sessions by ended\n{reads}")).unwrap();
    let url = source.url();
    let update = ["--workload", &file, "--update", &old, "-o", "-"];
    let reported = dynafold(&[&["design", "--source", &url][..], &update].concat()).exits(2);
    reported.says("set `ttl` in the mapping");
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
        -- page (1/s)
        SELECT id FROM posts WHERE member_id = 1 ORDER BY id LIMIT 10 OFFSET 20;
        -- either (1/s)
        SELECT id FROM posts WHERE member_id = 1 OR state = 'open';
        -- tree (1/s)
        WITH RECURSIVE t AS (SELECT 1) SELECT * FROM t;
        -- new (5/s)
        INSERT INTO posts VALUES (:id, :member, :state, :at, :body);";
    let proposal = Proposal::new(&source.url(), Some(workload), 3);
    assert_eq!(proposal.not_served(), ["either", "search", "tree"]);
    let of = |name: &str| {
        let mut reads = proposal.report["reads"].as_array().unwrap().iter();
        reads.find(|read| read["name"] == name).unwrap()
    };
    for (name, way) in [
        ("search", "OpenSearch"),
        ("either", "one Query for each part"),
        ("tree", "path"),
    ] {
        let instead = of(name)["instead"].as_str().unwrap();
        assert!(instead.contains(way), "{name}: {instead}");
    }
    let notes = of("page")["served"]["notes"].to_string();
    assert!(notes.contains("LastEvaluatedKey"), "{notes}");
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
        -- clash (10/s) a column named like the key of an index
        SELECT id FROM c WHERE GSI1PK = 'k';
        -- same (10/s) two columns of one name
        SELECT c.id, p.id, p.name FROM c LEFT JOIN p ON p.id = c.p_id WHERE c.id = 3;
        -- deep (10/s) children and their children
        SELECT p.id, p.name, c.id AS child, c.at, l.n FROM p LEFT JOIN c ON c.p_id = p.id LEFT JOIN l ON l.c_id = c.id WHERE p.id = 2;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let asked = proposal.holds(0);
    assert_eq!(verdicts(&asked).len(), 11, "{asked:#}");
    let mapping = proposal.mapping();
    assert!(mapping.contains("key_escape: percent"), "{mapping}");
    assert!(mapping.contains("items: [P, C, L]"), "{mapping}");
    // A range that is strict and does not end, and what is not the same everywhere, is not served in silence.
    let refused = "-- nulls (1/s)\nSELECT id FROM c WHERE g = 1 ORDER BY nick NULLS LAST;
        -- lower (1/s)\nSELECT id FROM c WHERE lower(nick) = 'ab';
        -- like (1/s)\nSELECT id FROM c WHERE nick LIKE 'a%';
        -- b (1/s)\nSELECT id FROM c WHERE g = 1 AND (at, id) < ('2026-01-02', 7);";
    let proposal = Proposal::new(&source.url(), Some(refused), 3);
    assert_eq!(proposal.not_served(), ["b", "nulls"]);
}

/// Too many rows for an application to sort: NULL, the empty text and what is below `!` in a range and an order.
const ORDERED: &str = "
    CREATE TABLE t (id INTEGER PRIMARY KEY, g INTEGER NOT NULL, name TEXT, sku TEXT NOT NULL, qty INTEGER, v);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
    INSERT INTO t SELECT i, 1, CASE i % 8 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN ' lead' WHEN 3 THEN '!bang'
      WHEN 4 THEN '\"q\"' WHEN 5 THEN 'bob' WHEN 6 THEN 'zed' ELSE '~' END,
      'sku' || (i % 7), CASE WHEN i % 5 = 0 THEN NULL ELSE i END, i * 1.5 FROM n;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ranges_and_orders_have_null_and_short_texts_where_the_database_has_them() {
    let source = Database::new(ORDERED).await;
    for read in [
        "SELECT id, name FROM t WHERE g = 1 AND name < 'm' ORDER BY name",
        "SELECT id, name FROM t WHERE g = 1 AND name > 'm' ORDER BY name DESC",
        "SELECT id, name FROM t WHERE g = 1 AND name BETWEEN '' AND 'm'",
        "SELECT id, name FROM t WHERE g = 1 ORDER BY name",
        "SELECT id, name FROM t WHERE g = 1 ORDER BY name, id",
        "SELECT id, sku, qty FROM t WHERE g = 1 ORDER BY sku, qty DESC",
        "SELECT id FROM t WHERE g = 1 ORDER BY name DESC",
    ] {
        let workload = format!("-- read (5/s)\n{read};");
        let proposal = Proposal::new(&source.url(), Some(&workload), 0);
        assert!(proposal.mapping().contains("GSI1"), "{read}");
        proposal.holds(0);
    }
    let refused = "-- sorted (5/s)\nSELECT id, v FROM t WHERE g = 1 ORDER BY v;
        -- from (5/s)\nSELECT id, v FROM t WHERE g = 1 AND v > 5;";
    let proposal = Proposal::new(&source.url(), Some(refused), 3);
    assert_eq!(proposal.not_served(), ["from", "sorted"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_are_compared_as_each_database_compares_them() {
    let rows = |product: &str| {
        let bytes = match product {
            "postgres" => "COLLATE \"C\"",
            "sqlite" => "",
            _ => "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        };
        format!(
            "CREATE TABLE t (id int PRIMARY KEY, g int NOT NULL, name varchar(20) {bytes}, ch char(5) {bytes} NOT NULL, w varchar(20) NOT NULL DEFAULT 'm');
            INSERT INTO t (id, g, name, ch) VALUES (1, 1, 'bob', 'ab'), (2, 1, NULL, 'b'), (3, 1, ' lead', 'ab'), (4, 1, 'zz', 'c'),
              (5, 1, 'a_b', 'd'), (6, 1, 'axb', 'd'), (7, 1, 'a%b', 'd'), (8, 1, '', 'd');
            UPDATE t SET w = 'a ' WHERE id = 1; UPDATE t SET w = 'a' WHERE id = 2;"
        )
    };
    let workload = "
        -- above (5/s)
        SELECT id, name FROM t WHERE g = 1 AND name > 'm' ORDER BY name;
        -- below (5/s)
        SELECT id, name FROM t WHERE g = 1 AND name < 'm' ORDER BY name;
        -- char (5/s)
        SELECT id, ch FROM t WHERE ch = 'ab';
        -- meant (5/s)
        SELECT id, ch FROM t WHERE g = :g AND ch = 'ab';
        -- like (5/s)
        SELECT id, name FROM t WHERE g = 1 AND name LIKE 'a%';
        -- sorted (5/s)
        SELECT id, w FROM t WHERE g = 1 ORDER BY w, id;";
    for source in Source::each(rows).await {
        let proposal = Proposal::new(&source.url(), Some(workload), 0);
        proposal.holds(0);
        if source.product() == "postgres" {
            let other = postgres::Database::with(
                "CREATE COLLATION nd (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
                 CREATE TABLE t (id int PRIMARY KEY, n text COLLATE nd NOT NULL); INSERT INTO t VALUES (1, 'a');",
            )
            .await;
            Proposal::new(
                &other.url(),
                Some("-- one (5/s)\nSELECT id, n FROM t WHERE id = :id;"),
                0,
            )
            .holds(0);
        }
        // SQLite's LIKE takes the case of ASCII letters alone for equal.
        let letters = format!(
            "{}INSERT INTO t (id, g, name, ch) VALUES (9, 1, 'É', 'd');",
            rows(source.product())
        );
        if source.product() == "sqlite" {
            let other = Database::new(&letters).await;
            let proposal = Proposal::new(&other.url(), Some(workload), 3);
            assert_eq!(proposal.not_served(), ["like"]);
        }
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_which_the_user_may_read_some_columns_is_designed_without_the_others() {
    let mut database = postgres::Database::with(
        "CREATE TABLE t (id int PRIMARY KEY, g int NOT NULL, n text NOT NULL, secret text);
        INSERT INTO t VALUES (1, 1, 'a', 's'), (2, 1, 'b', 's');",
    )
    .await;
    let reader = database.role("reader").await;
    let grant = format!("GRANT SELECT (id, g, n) ON t TO {reader}");
    database.run(&grant).await;
    let url = database.url_as(&reader, "secret");
    let workload = "
        -- counted (5/s)
        SELECT id, n FROM t WHERE g = :g AND n = 'a' ORDER BY id;
        -- whole (5/s)
        SELECT * FROM t WHERE id = :id;";
    let proposal = Proposal::new(&url, Some(workload), 3);
    assert_eq!(proposal.not_served(), ["whole"]);
    proposal.holds(0);
    Proposal::new(&url, None, 0).holds(0);
}

#[tokio::test]
async fn a_delimiter_in_the_data_leaves_the_order_of_texts_alone() {
    let rows = "
        CREATE TABLE c (id INTEGER PRIMARY KEY, name TEXT NOT NULL, region TEXT NOT NULL);
        CREATE TABLE o (id INTEGER PRIMARY KEY, cid INTEGER NOT NULL REFERENCES c, city TEXT NOT NULL);
        INSERT INTO c VALUES (1, 'Ann', 'a#b');
        INSERT INTO o VALUES (1, 1, 'Oslo'), (2, 1, 'Bonn'), (3, 1, 'Rome'), (4, 1, 'a#b');";
    let source = Database::new(rows).await;
    let collection = "-- whole (5/s)
        SELECT c.name, o.id AS oid, o.city FROM c JOIN o ON o.cid = c.id WHERE c.id = 1 ORDER BY o.city, o.id;";
    let proposal = Proposal::new(&source.url(), Some(collection), 0);
    assert!(!proposal.mapping().contains("key_escape"));
    proposal.holds(0);
}

/// Too many names for an application to sort, of signs around those that keys escape, and tags that hold the delimiter.
const DELIMITED: &str = "
    CREATE TABLE users (id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL, name TEXT NOT NULL, town TEXT NOT NULL);
    CREATE TABLE tags (id INTEGER PRIMARY KEY, tag TEXT NOT NULL, tenant_id INTEGER NOT NULL);
    CREATE TABLE codes (a TEXT NOT NULL, b TEXT NOT NULL, PRIMARY KEY (a, b));
    INSERT INTO tags VALUES (1, 'a#b', 1), (2, 'a#TENANT_ID#1', 2), (3, 'a', 1);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1300)
    INSERT INTO users SELECT i, 1,
      CASE i % 12 WHEN 0 THEN '' WHEN 1 THEN ' a' WHEN 2 THEN '#a' WHEN 3 THEN '$a' WHEN 4 THEN '%a' WHEN 5 THEN '\"a' WHEN 6 THEN '&a'
        WHEN 7 THEN 'Ann' WHEN 8 THEN 'Ann Lee' WHEN 9 THEN '_x' WHEN 10 THEN 'zed' ELSE 'É' END
        || CASE i % 5 WHEN 0 THEN '%' WHEN 1 THEN '.1' ELSE '' END,
      CASE i % 4 WHEN 0 THEN 'U#1' WHEN 1 THEN 'U' WHEN 2 THEN '' ELSE 'U$' END FROM n;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_are_escaped_only_where_keys_need_it_and_sort_there_too() {
    let workload = "
        -- byTag (5/s)
        SELECT id, tag FROM tags WHERE tag = :g AND tenant_id = :t;
        -- users (10/s)
        SELECT id, name FROM users WHERE tenant_id = :t ORDER BY name, id;
        -- byTown (10/s)
        SELECT id, name, town FROM users WHERE tenant_id = :t ORDER BY town, name, id LIMIT 1250;";
    let codes = "INSERT INTO codes VALUES ('x#y', 'z'), ('x', 'y#z');";
    for (rows, is_escaped) in [("", false), (codes, true)] {
        let source = Database::new(&format!("{DELIMITED}{rows}")).await;
        let proposal = Proposal::new(&source.url(), Some(workload), 0);
        let mapping = proposal.mapping();
        let is_bare = mapping.contains("\"{town}\\u0001{name}\\u0001{id | pad(20)}\"");
        assert_eq!(mapping.contains("key_escape"), is_escaped, "{mapping}");
        assert!(is_bare || !is_escaped, "{mapping}");
        for (name, verdict) in verdicts(&proposal.holds(0)) {
            let is_good = ["proved", "agrees"].contains(&verdict);
            assert!(is_good, "{name} {verdict}: {mapping}");
        }
    }
}

#[tokio::test]
async fn where_keys_are_escaped_numbers_sort_beside_a_table_whose_name_has_a_digit() {
    let source = Database::new(
        "CREATE TABLE shop (id INTEGER PRIMARY KEY, code TEXT NOT NULL, town TEXT NOT NULL, UNIQUE (code, town));
         CREATE TABLE order2 (id INTEGER PRIMARY KEY, shop_id INTEGER NOT NULL REFERENCES shop (id), what TEXT);
         INSERT INTO shop VALUES (1, 'a#b', 'x'), (2, 'c', 'y');
         WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 26)
         INSERT INTO order2 SELECT i, i % 2 + 1, 'x' FROM r;",
    )
    .await;
    let workload = "-- code (1/s)\nSELECT * FROM shop WHERE code = 'c' AND town = 'y';
        -- newest (10/s)\nSELECT id, what FROM order2 WHERE shop_id = 1 ORDER BY id DESC LIMIT 3;
        -- shop (1/s)\nSELECT * FROM shop WHERE id = 1;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    assert!(
        proposal.mapping().contains("ORDERTWO#"),
        "{}",
        proposal.mapping()
    );
    proposal.holds(0);
}

#[tokio::test]
async fn no_range_is_asked_of_a_column_with_texts_among_its_numbers() {
    let source = Database::new(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, n INTEGER, at DATETIME);
         WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 60)
         INSERT INTO t SELECT i, i % 5, CASE WHEN i % 6 = 0 THEN '' ELSE i END,
           CASE WHEN i % 6 = 0 THEN 20200000 + i ELSE date('2020-01-01', '+' || i || ' days') END FROM r;",
    )
    .await;
    let workload = "-- all (100/s)\nSELECT id, k FROM t WHERE k = :k ORDER BY id;
        -- at (1/s)\nSELECT id, at FROM t WHERE k = :k AND at < :x;
        -- number (1/s)\nSELECT id, n FROM t WHERE k = :k AND n >= :x;
        -- ten (1/s)\nSELECT id, n FROM t WHERE k = :k AND n > 10;";
    let proposal = Proposal::new(&source.url(), Some(workload), 3);
    assert!(proposal.not_served().contains(&"at"));
    assert!(proposal.not_served().contains(&"number"));
    proposal.holds(0);
}

#[tokio::test]
async fn whole_numbers_that_may_be_negative_have_exact_sums() {
    let source = Database::new(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT NOT NULL, days INTEGER NOT NULL);
        WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 900)
        INSERT INTO t SELECT i, 'k' || (i % 5), i % 9 - 4 FROM r;",
    )
    .await;
    let workload = "-- total (6/s)\nSELECT sum(days) AS total FROM t WHERE k = :k;
        -- first (6/s)\nSELECT id, days FROM t WHERE k = :k ORDER BY days, id LIMIT 20;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    proposal.holds(0);
}

/// Columns of SQLite whose values are not of their type (`epoch`, `late`, `long`, `flag`, `raw`, `amount`), or times whose items do not compare as the
/// texts do (`spelt`, `zoned`, `millis`, `clock`); and such as do.
const STORED: &str = "
    CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, epoch TIMESTAMP NOT NULL, spelt DATETIME NOT NULL,
      zoned TIMESTAMPTZ NOT NULL, millis TIMESTAMPTZ NOT NULL, clock TIME NOT NULL, flag BOOLEAN NOT NULL, raw BLOB NOT NULL,
      amount NUMERIC NOT NULL, at DATETIME, dated DATETIME NOT NULL, born DATE NOT NULL, exact TIMESTAMPTZ(3) NOT NULL,
      done BOOLEAN NOT NULL, price NUMERIC NOT NULL, late DATETIME NOT NULL, long DATE NOT NULL);
    WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 60)
    INSERT INTO t SELECT i, i % 5, i * 10, strftime(CASE i % 2 WHEN 0 THEN '%Y-%m-%d %H:%M:%S' ELSE '%Y-%m-%dT%H:%M:%S' END, i, 'unixepoch'),
      CASE i % 2 WHEN 0 THEN '2024-01-01T10:00:00+01:00' ELSE '2024-01-01T10:00:00Z' END,
      '2024-01-01T10:00:00' || printf('.%03dZ', i), CASE i % 2 WHEN 0 THEN '10:00' ELSE '10:00:00' END,
      CASE i % 2 WHEN 0 THEN 'TRUE' ELSE 'false' END, i, CASE i % 6 WHEN 0 THEN x'01' ELSE i END,
      datetime('2024-01-01', '+' || i || ' hours'), date('2024-01-01', '+' || i || ' days'), date('2024-01-01', '+' || i || ' days'),
      '2024-01-01T10:00:00' || printf('.%03dZ', i), i % 2, i / 2.0,
      '2024-01-01 24:00:00', '2024-01-0112' FROM r;
    UPDATE t SET at = NULL WHERE id = 7;";

#[tokio::test]
async fn no_value_of_sqlite_is_compared_that_is_not_of_its_type_or_not_of_one_form() {
    let source = Database::new(STORED).await;
    let not = [
        "amount", "clock", "epoch", "flag", "late", "long", "millis", "raw", "spelt", "zoned",
    ];
    let served = ["at", "born", "dated", "done", "exact", "price"];
    let read =
        |column: &&str| format!("-- {column} (1/s)\nSELECT id FROM t WHERE {column} = :x;\n");
    let workload: String = not.iter().chain(&served).map(read).collect();
    let due = "-- due (1/s)\nSELECT id FROM t WHERE k = :k AND epoch <= :x;
        -- since (1/s)\nSELECT id, dated FROM t WHERE k = :k AND dated >= :x ORDER BY dated, id;";
    let workload = format!("{workload}{due}");
    let proposal = Proposal::new(&source.url(), Some(&workload), 3);
    let mut expected = not.to_vec();
    expected.insert(2, "due");
    assert_eq!(proposal.not_served(), expected, "{:#}", proposal.report);
    let reads = proposal.report["reads"].to_string();
    assert!(
        reads.contains("which holds values that are not of its type, times"),
        "{reads}"
    );
    proposal.holds(0);
    // From the schema alone nobody knows.
    let catalog = dynafold(&["inspect", "--source", &source.url(), "--format", "json"]).exits(0);
    let (schema, file) = (proposal.path("catalog.json"), proposal.path("workload.sql"));
    std::fs::write(&schema, catalog.stdout).unwrap();
    let alone = ["design", "--catalog", &schema, "--workload", &file];
    let reported = dynafold(&[&alone[..], &["-o", "-"]].concat());
    reported.says("values not looked at: SQLite stores values of any type");
}

#[tokio::test]
async fn a_column_of_sqlite_is_served_where_all_its_values_are_of_one_kind_and_no_blobs() {
    let source = Database::new(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, code, num ANY, mixed, raw, token TEXT);
         WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 300)
         INSERT INTO t SELECT i, 'k' || (i % 50), i % 40, iif(i % 2, i % 30, 'x' || (i % 30)),
             CAST('x' || (i % 50) AS BLOB), CAST('t' || i AS BLOB) FROM r;",
    )
    .await;
    let read =
        |column: &&str| format!("-- {column} (1/s)\nSELECT id FROM t WHERE {column} = :x;\n");
    let columns = ["code", "mixed", "num", "raw", "token"];
    let workload: String = columns.iter().map(read).collect();
    let proposal = Proposal::new(&source.url(), Some(&workload), 3);
    assert_eq!(
        proposal.not_served(),
        ["mixed", "raw", "token"],
        "{:#}",
        proposal.report
    );
    proposal.holds(0);
}

#[tokio::test]
async fn indexes_name_no_more_attributes_than_a_table_may() {
    let columns = |each: &dyn Fn(u32) -> String| (1..=40).map(each).collect::<Vec<_>>().join(", ");
    let source = Database::new(&format!(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, {});
         WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 300)
         INSERT INTO t SELECT i, {} FROM r;",
        columns(&|at| format!("c{at} INTEGER")),
        columns(&|at| format!("i * {at} % 100")),
    ))
    .await;
    let reads = (1..=8).map(|read| {
        let asked: Vec<String> = (1..15)
            .map(|at| format!("c{}", (read * 5 + at) % 40 + 1))
            .collect();
        format!(
            "-- q{read} (100/s)\nSELECT id, {} FROM t WHERE c{read} = :a ORDER BY id;\n",
            asked.join(", ")
        )
    });
    let workload =
        reads.collect::<String>() + "-- u (500/s)\nUPDATE t SET c40 = :x WHERE id = :id;";
    let proposal = Proposal::new(&source.url(), Some(&workload), 0);
    proposal.holds(0);
}

#[tokio::test]
async fn a_column_that_is_not_there_is_named_and_the_other_statements_are_served() {
    let source = Database::new(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER); INSERT INTO t VALUES (1, 2);",
    )
    .await;
    let workload = "-- good (1/s)\nSELECT * FROM t WHERE a = :a;
        -- equal (1/s)\nSELECT id FROM t WHERE gone = :g;
        -- null (1/s)\nSELECT id FROM t WHERE a = :a AND gone IS NULL;
        -- selected (1/s)\nSELECT gone FROM t WHERE a = :a;
        -- set (1/s)\nUPDATE t SET gone = :g WHERE id = :id;
        -- table (1/s)\nSELECT * FROM lost WHERE a = :a;";
    let proposal = Proposal::new(&source.url(), Some(workload), 3);
    assert_eq!(
        proposal.not_served(),
        ["equal", "null", "selected", "set", "table"]
    );
    let reads = proposal.report["reads"].to_string();
    assert!(
        reads.contains("reads `lost`, which the schema does not have"),
        "{reads}"
    );
    assert!(reads.contains("sets the column `gone`"), "{reads}");
    assert_eq!(
        reads.matches("names the column `gone`").count(),
        3,
        "{reads}"
    );
    proposal.holds(0);
}

#[tokio::test]
async fn what_is_compared_by_its_bytes_costs_what_it_reads() {
    let mut units = Vec::new();
    for collation in ["", "COLLATE NOCASE"] {
        let source = Database::new(&format!(
            "CREATE TABLE acc (id INTEGER PRIMARY KEY, org TEXT {collation}, note TEXT);
             WITH RECURSIVE r (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < 1999)
             INSERT INTO acc SELECT i, 'o' || (i % 10), printf('%.250c', 'x') FROM r; ANALYZE;"
        ))
        .await;
        let workload = "-- q (100/s)\nSELECT id, org, note FROM acc WHERE org = :o ORDER BY id;";
        let proposal = Proposal::new(&source.url(), Some(workload), 0);
        let served = &proposal.report["reads"][0]["served"];
        units.push(served["units"].as_f64().unwrap());
    }
    assert!(units[0] > 5.0, "{units:?}");
    assert!((units[0] - units[1]).abs() < f64::EPSILON, "{units:?}");
}

#[tokio::test]
async fn a_range_of_texts_is_not_asked_of_a_key_in_which_a_delimiter_stands_behind_the_text() {
    let source = Database::new(
        "CREATE TABLE p (id INTEGER PRIMARY KEY, k INTEGER, name TEXT, u INTEGER, title TEXT);
         INSERT INTO p VALUES (1, 1, 'Ann', 1, 'x'), (2, 1, 'Ann Lee', 2, 'y'), (3, 1, 'Bob', 1, 'z'), (4, 1, 'Bob!', 7, 'z');
         WITH RECURSIVE r (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM r WHERE i < 3000)
         INSERT INTO p SELECT i, i % 20 + 3, 'N' || (i % 50), i % 30, 't' FROM r; ANALYZE;",
    )
    .await;
    let workload = "-- eq (100/s)\nSELECT id, title FROM p WHERE k = :k AND name = :n AND u = :u ORDER BY title, id;
        -- lt (1/s)\nSELECT id, name FROM p WHERE k = :k AND name < :x;
        -- begins (1/s)\nSELECT id, name FROM p WHERE k = :k AND name >= :x LIMIT 2;";
    Proposal::new(&source.url(), Some(workload), 0).holds(0);
}

#[tokio::test]
async fn an_access_pattern_over_other_tables_serves_no_statement_of_its_name() {
    let source = Database::new("CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY, n INTEGER);").await;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name).display().to_string();
        std::fs::write(&path, text).unwrap();
        path
    };
    let mapping = "dynafold: 1
table: { name: cmp, key: { partition: PK, sort: SK } }
items:
  A: { from: a, key: { PK: 'A#{id}', SK: A } }
  B: { from: b, key: { PK: 'B#{id}', SK: B } }
access_patterns:
  one: { items: [A], key: { PK: 'A#{id}', SK: A }, sql: 'SELECT * FROM a WHERE id = :id' }
  two: { items: [B], key: { PK: 'B#{id}', SK: B }, sql: 'SELECT * FROM b WHERE id = :id' }
";
    let mapping = file("cmp.yaml", mapping);
    let workload = "-- one (1/s)\nSELECT * FROM b WHERE n = :n;\n-- two (1/s)\nSELECT * FROM b WHERE id = :id;\n-- out (1/s)\nDELETE FROM elsewhere WHERE id = :id;";
    let workload = file("w.sql", workload);
    let url = source.url();
    let compare = [
        "design",
        "--source",
        &url,
        "--workload",
        &workload,
        "--compare",
        &mapping,
    ];
    let compared = dynafold(&[&compare[..], &["--format", "json"]].concat())
        .exits(0)
        .json();
    let reads = compared[0]["reads"].as_array().unwrap();
    let served: Vec<bool> = reads.iter().map(|read| !read["served"].is_null()).collect();
    assert_eq!(served, [false, true], "{compared:#}");
    let reported = dynafold(&compare).exits(0);
    reported.prints("\nout is not priced: it writes elsewhere, which the schema does not have\n");
    reported.prints("is taken to answer it: `verify --patterns` compares the answers");
}

#[tokio::test]
async fn a_read_that_would_pay_for_what_others_need_in_an_index_does_not() {
    let source = Database::new(
        "CREATE TABLE par (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
         CREATE TABLE kid (id INTEGER PRIMARY KEY, pid INTEGER NOT NULL REFERENCES par (id), st TEXT NOT NULL, at TEXT NOT NULL, note TEXT);
         WITH RECURSIVE r (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < 2999)
         INSERT INTO kid SELECT i, i % 100, 's' || (i % 3), date('2020-01-01', '+' || (i * 7 % 900) || ' days'), printf('%.250c', 'x') FROM r;
         INSERT INTO par SELECT DISTINCT pid, 'n' || pid FROM kid; ANALYZE;",
    )
    .await;
    let workload = "-- busy (1000/s)\nSELECT id, st FROM kid WHERE pid = :p AND st = :s;
        -- wide (1/s)\nSELECT * FROM kid WHERE pid = :p AND at BETWEEN :a AND :b;
        -- one (10/s)\nSELECT k.*, p.name AS pname FROM kid k JOIN par p ON p.id = k.pid WHERE k.id = :id;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let cost = proposal.report["sum"]["all"].as_f64().unwrap();
    assert!(cost < 200.0, "{cost}");
    proposal.holds(0);
}

#[tokio::test]
async fn a_sum_and_a_mean_of_one_column_are_one_figure() {
    let source = Database::new(
        "CREATE TABLE acc (id INTEGER PRIMARY KEY, org TEXT, n INTEGER);
         WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 6000)
         INSERT INTO acc SELECT i, 'o' || (i % 4), i FROM r;",
    )
    .await;
    let workload =
        "-- f (100/s)\nSELECT org, count(*), sum(n), avg(n) FROM acc WHERE org = :o GROUP BY org;";
    Proposal::new(&source.url(), Some(workload), 0).holds(0);
}

#[tokio::test]
async fn a_value_may_be_frequent_where_most_rows_have_one_to_themselves() {
    let source = Database::new(
        "CREATE TABLE note (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, body TEXT);
         WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 1000)
         INSERT INTO note SELECT i, max(i, 300), 'x' FROM r;",
    )
    .await;
    let workload = "-- ofOwner (5/s)\nSELECT id, body FROM note WHERE owner = :o;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let warnings = proposal.report["warnings"].to_string();
    assert!(warnings.contains("ofOwner (up to 300 items"), "{warnings}");
}

/// Tables, statements over them, those that no Query serves, and what is noted of the others.
const JOINS: [(&str, &str, &[&str], &[&str]); 28] = [
    // What texts begin with, without case: as the column says it, and as the parameter does.
    (
        "CREATE TABLE p (id INTEGER PRIMARY KEY, last TEXT NOT NULL, first TEXT NOT NULL);
         INSERT INTO p VALUES (1, 'Smith', 'Ann'), (2, 'SMITH', 'anna'), (3, 'smith', 'ANNE'), (4, 'Smith', 'Bob'), (5, 'Jones', 'Ann'), (6, 'smithson', 'Al');",
        "-- both (5/s)\nSELECT id FROM p WHERE lower(last) = lower(:last) AND lower(first) LIKE lower(:first) || '%';
         -- whole (5/s)\nSELECT id FROM p WHERE lower(last) = lower(:last) AND LOWER(first) LIKE LOWER(:first || '%');
         -- column (5/s)\nSELECT id FROM p WHERE lower(last) LIKE :last || '%';
         -- sorted (5/s)\nSELECT id, last FROM p WHERE lower(last) LIKE lower(:last) || '%' ORDER BY id LIMIT 2;
         -- upper (5/s)\nSELECT id FROM p WHERE upper(last) LIKE upper(:last) || '%';
         -- named (5/s)\nSELECT id, last FROM p WHERE lower(last) = lower(:last) ORDER BY last, id;
         -- typed (5/s)\nSELECT id FROM p WHERE last = lower(:last);
         -- half (5/s)\nSELECT id FROM p WHERE upper(last) LIKE :last || '%';
         -- within (5/s)\nSELECT id FROM p WHERE lower(last) LIKE '%' || lower(:last) || '%';",
        &["half", "within"],
        &["last is in lower case in the key", "matches inside texts: `lower(last) LIKE '%' || lower(:last) || '%'`"],
    ),
    // A query within a comparison has columns of its own.
    (
        "CREATE TABLE i (id INTEGER PRIMARY KEY, seller INTEGER NOT NULL, top INTEGER NOT NULL);
         CREATE TABLE b (id INTEGER PRIMARY KEY, item INTEGER NOT NULL REFERENCES i, bid INTEGER NOT NULL, who INTEGER NOT NULL);
         INSERT INTO i VALUES (1, 1, 9), (2, 1, 5), (3, 2, 7); INSERT INTO b VALUES (1, 1, 9, 4), (2, 1, 3, 5), (3, 2, 6, 4), (4, 3, 7, 5);",
        "-- leads (5/s)\nSELECT id FROM i WHERE (SELECT b.who FROM b WHERE b.item = i.id ORDER BY b.bid DESC LIMIT 1) = :u;
         -- led (5/s)\nSELECT id FROM i WHERE :u = (SELECT b.who FROM b WHERE b.item = i.id ORDER BY b.bid DESC LIMIT 1);
         -- top (5/s)\nSELECT id FROM i WHERE seller = :s AND top = (SELECT max(b.bid) FROM b WHERE b.item = i.id);",
        &["leads", "led"],
        &[
            "ORDER BY b.bid DESC LIMIT 1) = :u`, which depends on other rows",
            "depends on other rows: a program that changes those rows must write this item again",
        ],
    ),
    // The page behind a row; and what is neither.
    (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, g INTEGER NOT NULL, at TEXT NOT NULL, state TEXT);
         INSERT INTO t VALUES (1, 1, '2026-01-01', 'open'), (2, 1, '2026-01-01', 'spam'), (3, 1, '2026-01-02', NULL), (4, 1, '2026-01-03', 'new'), (5, 2, '2026-01-03', 'closed');",
        "-- tuple (5/s)\nSELECT id, at FROM t WHERE g = :g AND (at, id) < (:at, :id) ORDER BY at DESC, id DESC LIMIT 2;
         -- spelt (5/s)\nSELECT id, at FROM t WHERE g = :g AND (at < :at OR (at = :at AND id < :id)) ORDER BY at DESC, id DESC LIMIT 2;
         -- neither (5/s)\nSELECT id FROM t WHERE g = :g AND NOT (state = 'closed' OR state = 'spam') ORDER BY id;
         -- unsorted (5/s)\nSELECT id FROM t WHERE g = :g AND (at, id) < (:at, :id);",
        &["spelt", "tuple", "unsorted"],
        &[
            "asks for the rows after a given one (keyset pagination): `(at, id) < (:at, :id)`",
            "asks for the rows after a given one (keyset pagination): `(at < :at OR (at = :at AND id < :id))`",
            "asks for `(at, id) < (:at, :id)`, which is computed",
        ],
    ),
    // Sums that no item keeps.
    (
        "CREATE TABLE s (id INTEGER PRIMARY KEY, g INTEGER NOT NULL, amount NUMERIC(10,2) NOT NULL);
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) INSERT INTO s SELECT i, i % 2, i / 10.0 FROM n;",
        "-- total (5/s)\nSELECT g, sum(amount) AS amount FROM s WHERE g = :g GROUP BY g;",
        &["total"],
        &["asks for aggregates that no item keeps: the sum of `amount` depends on the order of the rows (floating point), so it cannot be kept up to date in an item"],
    ),
    // A second equality in ON: of another tenant's customer nothing is copied, and an inner join leaves its row out.
    (
        "CREATE TABLE c (id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, name TEXT NOT NULL);
         CREATE TABLE o (id INTEGER PRIMARY KEY, cid INTEGER NOT NULL REFERENCES c, tenant INTEGER NOT NULL, status TEXT NOT NULL);
         INSERT INTO c VALUES (1, 7, 'Ann'), (2, 8, 'Bob');
         INSERT INTO o VALUES (1, 1, 7, 'open'), (2, 1, 8, 'open'), (3, 2, 8, 'open');",
        "-- inner (5/s)\nSELECT o.id, c.name FROM o JOIN c ON c.id = o.cid AND c.tenant = o.tenant WHERE o.id = 2;
         -- outer (5/s)\nSELECT o.id, c.name FROM o LEFT JOIN c ON c.id = o.cid AND c.tenant = o.tenant WHERE o.tenant = 8 ORDER BY o.id;
         -- where (5/s)\nSELECT o.status, c.name FROM o LEFT JOIN c ON c.id = o.cid WHERE c.tenant = o.tenant AND o.status = 'open';
         -- unit (5/s)\nSELECT o.id, c.name FROM o LEFT JOIN (c JOIN o p ON p.id = c.id) ON c.id = o.cid WHERE o.id = 2;",
        &["unit", "where"],
        &[],
    ),
    // USING, where another table has the column too.
    (
        "CREATE TABLE c (id INTEGER PRIMARY KEY, x INTEGER NOT NULL);
         CREATE TABLE p (id INTEGER PRIMARY KEY, x INTEGER NOT NULL UNIQUE, cid INTEGER NOT NULL REFERENCES c);
         CREATE TABLE o (no INTEGER PRIMARY KEY, x INTEGER NOT NULL REFERENCES p (x));
         INSERT INTO c VALUES (1, 5); INSERT INTO p VALUES (1, 6, 1); INSERT INTO o VALUES (1, 6);",
        "-- using (5/s)\nSELECT o.no, p.id, c.x AS cx FROM o JOIN p USING (x) JOIN c ON c.id = p.cid WHERE o.no = 1;",
        &["using"],
        &[],
    ),
    // A parent that a row may be without.
    (
        "CREATE TABLE c (id INTEGER PRIMARY KEY, n TEXT NOT NULL);
         CREATE TABLE o (id INTEGER PRIMARY KEY, cid INTEGER REFERENCES c, seq INTEGER);
         CREATE TABLE l (oid INTEGER NOT NULL REFERENCES o, no INTEGER NOT NULL, PRIMARY KEY (oid, no));
         INSERT INTO c VALUES (1, 'Ann'); INSERT INTO o VALUES (1, 1, 5), (2, NULL, 6); INSERT INTO l VALUES (1, 1), (2, 1);",
        "-- order (5/s)\nSELECT o.seq, c.n, l.no FROM o JOIN l ON l.oid = o.id JOIN c ON c.id = o.cid WHERE o.id = 2;",
        &[],
        &[
            "the answer also has rows of o that have no row in c",
            "the answer also has rows of l that have no row in o; its SQL does not return them",
        ],
    ),
    // No foreign key: what the join says is one.
    (
        "CREATE TABLE o (id INTEGER PRIMARY KEY, status TEXT NOT NULL);
         CREATE TABLE l (oid INTEGER NOT NULL, no INTEGER NOT NULL, sku TEXT NOT NULL, PRIMARY KEY (oid, no));
         INSERT INTO o VALUES (1, 'open'); INSERT INTO l VALUES (1, 1, 'x');",
        "-- inner (5/s)\nSELECT o.status, l.no, l.sku FROM o JOIN l ON l.oid = o.id WHERE o.id = 1;
         -- outer (5/s)\nSELECT o.status, l.no, l.sku FROM o LEFT JOIN l ON l.oid = o.id WHERE o.id = 1;",
        &[],
        &["the answer also has rows of l that have no row in o"],
    ),
    // Rows whose parent is missing, by a foreign key and by a join: the children alone are asked, and no collection.
    (
        "CREATE TABLE usr (id INTEGER PRIMARY KEY, name TEXT);
         CREATE TABLE post (id INTEGER PRIMARY KEY, usr_id INTEGER REFERENCES usr, title TEXT);
         CREATE TABLE note (id INTEGER PRIMARY KEY, usr INTEGER NOT NULL, body TEXT NOT NULL);
         INSERT INTO usr VALUES (1, 'Ann'), (2, 'Bob');
         INSERT INTO post VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 3, 'c'), (4, 2, 'd'); INSERT INTO note VALUES (1, 1, 'x'), (2, 3, 'y');",
        "-- posts (10/s)\nSELECT post.*, u2.* FROM post JOIN usr u2 ON u2.id = post.usr_id WHERE post.usr_id = 5;
         -- whole (5/s)\nSELECT u.name, p.id, p.title FROM usr u LEFT JOIN post p ON p.usr_id = u.id WHERE u.id = 5;
         -- notes (5/s)\nSELECT u.name, n.id, n.body FROM usr u LEFT JOIN note n ON n.usr = u.id WHERE u.id = 5;",
        &["notes", "whole"],
        &[
            "some rows of post refer to a usr that is missing",
            "some rows of note refer to a usr that is missing",
        ],
    ),
    // A document that is null makes no attribute: that the parent is there is asked by its key.
    (
        "CREATE TABLE p (id INTEGER PRIMARY KEY, s JSON NOT NULL);
         CREATE TABLE c (id INTEGER PRIMARY KEY, pid INTEGER REFERENCES p, v TEXT NOT NULL);
         INSERT INTO p VALUES (1, 'null'), (2, '{\"a\":1}'); INSERT INTO c VALUES (1, 1, 'x'), (2, 2, 'y'), (3, NULL, 'z');",
        "-- withParent (5/s)\nSELECT a.id, a.v, j.s FROM c a JOIN p j ON j.id = a.pid WHERE a.id = :id;",
        &[],
        &[],
    ),
    // A number in lower case is no text of a key.
    (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, n DECIMAL(5,2) NOT NULL); INSERT INTO t VALUES (1, 1.5), (2, 2);",
        "-- folded (5/s)\nSELECT id FROM t WHERE lower(n) = :n;",
        &["folded"],
        &["but the column is DECIMAL(5,2), not text"],
    ),
    // A row without a key makes no item.
    (
        "CREATE TABLE settings (scope TEXT NOT NULL, scope_id INTEGER, name TEXT NOT NULL, value TEXT, PRIMARY KEY (scope, scope_id, name));
         INSERT INTO settings VALUES ('global', NULL, 'a', 'x'), ('tenant', 1, 'a', 'y');",
        "-- global (5/s)\nSELECT name, value FROM settings WHERE scope = :scope AND scope_id IS NULL;",
        &["global"],
        &[],
    ),
    // One thing or another: of one column beside a key it is a filter.
    (
        "CREATE TABLE price (id INTEGER PRIMARY KEY, product INTEGER NOT NULL, cents INTEGER NOT NULL, since TEXT NOT NULL, until TEXT, state TEXT NOT NULL, was TEXT);
         INSERT INTO price VALUES (1, 1, 100, '2024-01-01', '2024-03-01', 'new', NULL), (2, 1, 110, '2024-03-01', '2024-09-01', 'sale', 'new'),
           (3, 1, 120, '2024-09-01', NULL, 'new', 'sale'), (4, 2, 10, '2024-01-01', NULL, 'new', NULL), (5, 2, 130, '2023-01-01', '2024-01-01', 'old', 'new');",
        "-- asOf (5/s)\nSELECT id, cents FROM price WHERE product = :p AND since <= :at AND (until IS NULL OR until > :at) ORDER BY since DESC LIMIT 1;
         -- bands (5/s)\nSELECT id FROM price WHERE product = :p AND (cents < :low OR cents >= :high OR cents = 110);
         -- between (5/s)\nSELECT id FROM price WHERE product = :p AND (until IS NULL OR until BETWEEN :low AND :high);
         -- raised (5/s)\nSELECT id FROM price WHERE product = :p AND (state = :a OR state = upper('old'));
         -- others (5/s)\nSELECT id FROM price WHERE product = :p AND NOT (state = :a OR state = :b);
         -- listed (5/s)\nSELECT id FROM price WHERE product = :p AND (state IN (:a, :b) OR state = 'old');
         -- twice (5/s)\nSELECT id FROM price WHERE product = :p AND (state = :a OR was = :a);
         -- part (5/s)\nSELECT id FROM price WHERE product = :p AND (state = :a OR state = :b AND cents > 100);
         -- keyless (5/s)\nSELECT id FROM price WHERE state = :a OR until > :at;",
        &["keyless", "part", "raised", "twice"],
        &[],
    ),
    // The parent's key by the child's column, and a parent without children.
    (
        "CREATE TABLE c (id INTEGER PRIMARY KEY, n TEXT NOT NULL);
         CREATE TABLE o (id INTEGER PRIMARY KEY, cid INTEGER NOT NULL REFERENCES c, note TEXT);
         INSERT INTO c VALUES (1, 'Ann'), (2, 'Bob'); INSERT INTO o VALUES (1, 1, 'x');",
        "-- orders (5/s)\nSELECT c.n, o.note FROM o JOIN c ON c.id = o.cid WHERE o.cid = 1;",
        &[],
        &["the answer also has rows of c that have no row in o"],
    ),
    // The parent's key beside the reference to it, where the parent is not there.
    (
        "CREATE TABLE o (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL);
         CREATE TABLE tg (oid INTEGER NOT NULL REFERENCES o, tag TEXT NOT NULL, PRIMARY KEY (oid, tag));
         INSERT INTO o VALUES (1, 5); INSERT INTO tg VALUES (1, 'a'), (2, 'b'), (9, 'a');",
        "-- tags (5/s)\nSELECT tg.oid, tg.tag, o.seq, o.id FROM tg LEFT JOIN o ON o.id = tg.oid WHERE tg.tag = 'a';",
        &[],
        &[],
    ),
    // The parent's key that a filter needs has no other output's name.
    (
        "CREATE TABLE c (id INTEGER PRIMARY KEY, n INTEGER);
         CREATE TABLE o (id INTEGER PRIMARY KEY, cid INTEGER REFERENCES c);
         CREATE TABLE tg (oid INTEGER NOT NULL REFERENCES o, tag TEXT NOT NULL, PRIMARY KEY (oid, tag));
         INSERT INTO c VALUES (7, 1), (8, 2); INSERT INTO o VALUES (1, 7), (2, 8); INSERT INTO tg VALUES (1, 'a'), (2, 'a');",
        "-- tags (5/s)\nSELECT c.n, o.id FROM tg LEFT JOIN o ON o.id = tg.oid JOIN c ON c.id = o.cid WHERE tg.tag = 'a';",
        &[],
        &[],
    ),
    // Names with blanks, points, and words of SQL.
    (
        "CREATE TABLE \"Order Headers\" (id INTEGER PRIMARY KEY, city TEXT NOT NULL);
         CREATE TABLE \"Order Details\" (id INTEGER PRIMARY KEY, \"Order ID\" INTEGER REFERENCES \"Order Headers\",
           \"unit.price\" INTEGER NOT NULL, sku TEXT NOT NULL);
         CREATE TABLE \"order\" (id INTEGER PRIMARY KEY, did INTEGER NOT NULL REFERENCES \"Order Details\", status TEXT NOT NULL, note TEXT);
         INSERT INTO \"Order Headers\" VALUES (1, 'x'); INSERT INTO \"Order Details\" VALUES (1, 1, 5, 'a');
         INSERT INTO \"order\" VALUES (1, 1, 'open', 'x'), (2, 1, 'done', NULL);",
        "-- ranged (5/s)\nSELECT id FROM \"Order Details\" WHERE sku = 'a' AND \"unit.price\" > 3;
         -- inner (5/s)\nSELECT d.id, h.id AS hid FROM \"Order Details\" d JOIN \"Order Headers\" h ON h.id = d.\"Order ID\" WHERE d.sku = 'a';
         -- noted (5/s)\nSELECT status FROM \"order\" WHERE note IS NOT NULL;
         -- cheap (5/s)\nSELECT o.id FROM \"order\" o JOIN \"Order Details\" d ON d.id = o.did WHERE d.\"unit.price\" IS NOT NULL;
         -- open (5/s)\nSELECT status FROM \"order\" WHERE status = 'open';",
        &[],
        &[],
    ),
    // A line break in a literal.
    (
        "CREATE TABLE o (id INTEGER PRIMARY KEY, cid INTEGER NOT NULL, note TEXT);
         INSERT INTO o VALUES (1, 1, 'a\nb'), (2, 1, 'a b');",
        "-- lines (5/s)\nSELECT id FROM o WHERE cid = :cid AND note = 'a\nb';",
        &[],
        &[],
    ),
    // Children that hold a copy of another row of the parent's table.
    (
        "CREATE TABLE u (id INTEGER PRIMARY KEY, nick TEXT NOT NULL);
         CREATE TABLE c (id INTEGER PRIMARY KEY, by_id INTEGER NOT NULL REFERENCES u, to_id INTEGER NOT NULL REFERENCES u, body TEXT NOT NULL);
         INSERT INTO u VALUES (1, 'ann'), (2, 'bob'), (3, 'eve');
         INSERT INTO c VALUES (1, 2, 1, 'x'), (2, 3, 1, 'y'), (3, 1, 2, 'z');",
        "-- profile (50/s)\nSELECT u.nick, c.id AS cid, c.body FROM u LEFT JOIN c ON c.to_id = u.id WHERE u.id = :u;
         -- about (50/s)\nSELECT c.id, c.body, f.nick FROM c JOIN u f ON f.id = c.by_id WHERE c.to_id = :u;",
        &[],
        &[],
    ),
    // A parent alone, by a key of the collection that has its children too.
    (
        "CREATE TABLE c (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
         CREATE TABLE o (id INTEGER PRIMARY KEY, c_id INTEGER NOT NULL REFERENCES c, total INTEGER NOT NULL);
         INSERT INTO c VALUES (1, 'e1', 'ann'), (2, 'e2', 'bob'); INSERT INTO o VALUES (1, 1, 5), (2, 1, 6), (3, 2, 5);",
        "-- withOrders (50/s, strong)\nSELECT c.id, c.name, o.id AS oid, o.total FROM c LEFT JOIN o ON o.c_id = c.id WHERE c.email = :e;
         -- byEmail (2000/s)\nSELECT id, name FROM c WHERE email = :e ORDER BY name LIMIT 2;",
        &[],
        &[],
    ),
    // A filter on a number, where another table has a text of that name.
    (
        "CREATE TABLE a (id INTEGER PRIMARY KEY, n VARCHAR(9));
         CREATE TABLE b (id INTEGER PRIMARY KEY, g INTEGER NOT NULL, n INTEGER NOT NULL);
         INSERT INTO a VALUES (1, '5'); INSERT INTO b VALUES (1, 1, 5), (2, 1, 6), (3, 2, 5);",
        "-- ranged (50/s)\nSELECT id FROM b WHERE g = :g AND id < :i;
         -- filtered (1/s)\nSELECT id, n FROM b WHERE g = :g AND n = :n;",
        &[],
        &[],
    ),
    // No figure is kept of rows that have no value: the application groups them.
    (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT, n INTEGER NOT NULL);
         INSERT INTO t VALUES (1, NULL, 1), (2, 'x', 2), (3, NULL, 2);",
        "-- notes (9/s)\nSELECT DISTINCT note, n FROM t WHERE note IS NULL;
         -- counts (9/s)\nSELECT note, count(*) AS number FROM t WHERE note IS NULL GROUP BY note;",
        &[],
        &[],
    ),
    // What is not the same at any time.
    (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, g INTEGER NOT NULL, due TEXT NOT NULL);
         INSERT INTO t VALUES (1, 1, '2020-01-01'), (2, 1, 'unknown'), (3, 2, '2040-01-01');",
        "-- day (5/s)\nSELECT id, due FROM t WHERE g = :g AND due <> date();
         -- year (5/s)\nSELECT id, due FROM t WHERE g = :g AND due NOT IN (strftime('%Y'), 'x');
         -- lottery (5/s)\nSELECT id, due FROM t WHERE g = :g AND id <> random();
         -- lots (5/s)\nSELECT id, due FROM t WHERE g = :g AND id > random();
         -- range (5/s)\nSELECT id, due FROM t WHERE g = :g AND id BETWEEN random() AND 5;
         -- since (5/s)\nSELECT id, due FROM t WHERE g = :g AND due > date('now', '-1 day');
         -- known (5/s)\nSELECT id, due FROM t WHERE g = :g AND due <> 'unknown';",
        &["day", "lots", "lottery", "range", "year"],
        &["the application computes `date('now', '-1 day')`"],
    ),
    // What is the same in every row.
    (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, g INTEGER NOT NULL, b TEXT NOT NULL);
         CREATE TABLE u (id INTEGER PRIMARY KEY, tid INTEGER NOT NULL REFERENCES t, n TEXT NOT NULL);
         INSERT INTO t VALUES (1, 1, 'z'), (2, 1, 'a'); INSERT INTO u VALUES (1, 1, 'x');",
        "-- kind (5/s)\nSELECT id, 'x' AS kind, 5 FROM t WHERE g = 1;
         -- there (5/s)\nSELECT 1 FROM t WHERE id = :id;
         -- whole (5/s)\nSELECT t.b, u.id AS uid, u.n, NULL AS nothing FROM t LEFT JOIN u ON u.tid = t.id WHERE t.id = :id;",
        &[],
        &[
            "its SQL omits constants and parameters, which the application adds: `kind` ('x'), 5",
            "which the application adds: `nothing` (NULL)",
        ],
    ),
    // Columns that a join holds equal are answered once, and that is said: the name of one is no other's.
    (
        "CREATE TABLE c (id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL);
         CREATE TABLE o (id INTEGER PRIMARY KEY, cid INTEGER NOT NULL REFERENCES c, pri INTEGER NOT NULL);
         INSERT INTO c VALUES (4, 2); INSERT INTO o VALUES (19, 4, 9);",
        "-- both (5/s)\nSELECT o.cid, c.id, c.tenant FROM o JOIN c ON c.id = o.cid WHERE o.pri = :pri;",
        &[],
        &["the answer omits columns that always equal another one: `id` (equal to `cid`)"],
    ),
    // The same of the key of a join, in a collection.
    (
        "CREATE TABLE o (id INTEGER PRIMARY KEY, qty INTEGER);
         CREATE TABLE l (oid INTEGER NOT NULL REFERENCES o, no INTEGER NOT NULL, sku TEXT NOT NULL, PRIMARY KEY (oid, no));
         INSERT INTO o VALUES (1, 4); INSERT INTO l VALUES (1, 1, 'a'), (1, 2, 'b');",
        "-- line (5/s)\nSELECT o.id, o.qty, l.oid, l.no, l.sku FROM o JOIN l ON l.oid = o.id WHERE o.id = :id AND l.sku = :sku;",
        &[],
        &["the answer omits columns that always equal another one: `oid` (equal to `id`)"],
    ),
    // What a collection sorts by is not selected, and rows are equal in it.
    (
        "CREATE TABLE c (id INTEGER PRIMARY KEY, n TEXT NOT NULL);
         CREATE TABLE o (id INTEGER PRIMARY KEY, cid INTEGER NOT NULL REFERENCES c, total INTEGER NOT NULL, pri INTEGER NOT NULL);
         CREATE INDEX oc ON o (cid, pri DESC);
         INSERT INTO c VALUES (3, 'x'); INSERT INTO o VALUES (7, 3, 9, 1), (20, 3, 9, 2), (21, 3, 9, 3), (22, 3, 10, 1);",
        "-- ties (5/s)\nSELECT c.id, c.n, o.id AS o_id, o.pri FROM c LEFT JOIN o ON o.cid = c.id WHERE c.id = :id ORDER BY o.total;",
        &[],
        &["its SQL also selects what it sorts by: total"],
    ),
    // The attribute `c_id` is the parent's of the other join.
    (
        "CREATE TABLE c (id INTEGER PRIMARY KEY, n TEXT NOT NULL);
         CREATE TABLE o (id INTEGER PRIMARY KEY, cid INTEGER NOT NULL REFERENCES c, cid2 INTEGER REFERENCES c, pri INTEGER NOT NULL);
         INSERT INTO c VALUES (4, 'nn'), (5, 'mm'); INSERT INTO o VALUES (19, 4, 5, 9);",
        "-- billed (5/s)\nSELECT o.*, c.* FROM o JOIN c ON c.id = o.cid WHERE o.pri = :pri;
         -- shipped (5/s)\nSELECT o.id, o.cid2, c.id, c.n FROM o LEFT JOIN c ON c.id = o.cid2 WHERE o.pri = :pri;",
        &[],
        &["the answer omits columns that always equal another one: `c_id` (equal to `cid`)"],
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn joins_and_conditions_are_answered_exactly_or_not_served() {
    for (rows, workload, not, notes) in JOINS {
        let source = Database::new(rows).await;
        let code = if not.is_empty() { 0 } else { 3 };
        let proposal = Proposal::new(&source.url(), Some(workload), code);
        assert_eq!(proposal.not_served(), not, "{:#}", proposal.report);
        let reads = proposal.report["reads"].to_string();
        for note in notes {
            assert!(reads.contains(note), "{note}: {reads}");
        }
        if workload.matches("-- ").count() == not.len() {
            continue;
        }
        let asked = proposal.holds(0);
        let verdicts = verdicts(&asked);
        let is_good = |verdict: &str| ["proved", "agrees"].contains(&verdict);
        assert!(
            verdicts.iter().all(|(_, verdict)| is_good(verdict)),
            "{asked:#}\n{}",
            proposal.mapping()
        );
    }
}

/// Articles that are counted all the time, and whose text hardly anybody needs.
const ARTICLES: &str = "
    CREATE TABLE members (id INTEGER NOT NULL PRIMARY KEY, nick VARCHAR(20) NOT NULL);
    CREATE TABLE articles (id INTEGER NOT NULL PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES members, slug VARCHAR(20) NOT NULL UNIQUE,
      title VARCHAR(20) NOT NULL, body TEXT, views INTEGER NOT NULL);
    INSERT INTO members VALUES (1, 'ann'), (2, 'bob'), (3, 'eve');
    INSERT INTO articles WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      SELECT i, 1 + i % 4, 's' || i, 't' || i % 7, CASE WHEN i % 9 THEN replace(hex(zeroblob(1500)), '0', 'x') END, i * 3 FROM n;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_columns_stand_apart_where_that_saves_and_all_costs_are_those_of_compare() {
    let source = Database::new(ARTICLES).await;
    let workload = "
        -- whole (50/s) both items, and without an author none
        SELECT a.*, m.nick FROM articles a JOIN members m ON m.id = a.author_id WHERE a.id = :id;
        -- bySlug (90/s) the text alone
        SELECT a.id, a.title, a.body FROM articles a WHERE a.slug = :slug;
        -- text (5/s)
        SELECT body FROM articles WHERE id = :id;
        -- titled (50/s) both items, which the application holds against the rest
        SELECT * FROM articles WHERE id = :id AND title = :title AND views > 3;
        -- own (50/s) both items, each by the filter
        SELECT * FROM articles WHERE id = :id AND author_id = :author;
        -- seen (5/s) the text, by what is updated all the time
        SELECT body FROM articles WHERE id = :id AND (views < :low OR views > :high);
        -- title (50/s)
        SELECT title, views FROM articles WHERE id = :id;
        -- ofAuthor (50/s) the most viewed
        SELECT id, title, views FROM articles WHERE author_id = :a ORDER BY views DESC LIMIT 5;
        -- number (9/s)
        SELECT title, COUNT(*) AS number FROM articles GROUP BY title;
        -- search (1/s)
        SELECT id, body FROM articles WHERE body LIKE '%' || :w || '%';
        -- view (900/s)
        UPDATE articles SET views = views + 1 WHERE id = :id;
        -- edit (3/s)
        UPDATE articles SET body = :b WHERE id = :id;
        -- rename (3/s)
        UPDATE articles SET title = :t WHERE id = :id;
        -- publish (2/s)
        INSERT INTO articles (id, author_id, slug, title, body, views) VALUES (:id, :a, :s, :t, :b, 0);";
    let proposal = Proposal::new(&source.url(), Some(workload), 3);
    assert_eq!(proposal.not_served(), ["search"]);
    let mapping = proposal.mapping();
    assert!(mapping.contains("omit: [body]"), "{mapping}");
    let reads = proposal.report["reads"].as_array().unwrap();
    let both = serde_json::json!(["ARTICLES", "ARTICLES_BODY"]);
    for name in ["whole", "titled", "own", "seen"] {
        let read = reads.iter().find(|read| read["name"] == name).unwrap();
        assert_eq!(read["served"]["items"], both, "{name}");
    }
    assert!(
        mapping.contains("columns: [author_id, body, id"),
        "{mapping}"
    );
    let titled = "the application drops the row unless `title = :title AND views > 3`";
    assert!(proposal.report.to_string().contains(titled), "{mapping}");
    let warnings = proposal.warnings().join("\n");
    assert!(
        warnings.contains("large columns: body of articles (ARTICLES_BODY)"),
        "{warnings}"
    );
    let asked = proposal.holds(0);
    let verdicts = verdicts(&asked);
    assert_eq!(verdicts.len(), 9, "{asked:#}");
    let is_good = |verdict: &str| ["proved", "agrees"].contains(&verdict);
    assert!(
        verdicts.iter().all(|(_, verdict)| is_good(verdict)),
        "{asked:#}"
    );
    // What the report says is what any mapping of the same words costs, figures included.
    let mapping = proposal.path("design.yaml");
    let workload = proposal.path("workload.sql");
    let compare = [
        "design",
        "--source",
        &proposal.source,
        "--compare",
        &mapping,
    ];
    let priced = dynafold(&[&compare[..], &["--workload", &workload, "--format", "json"]].concat());
    let priced = priced.exits(0).json();
    assert_eq!(priced[0]["usd_month"], proposal.report["sum"]["all"]);
    for write in proposal.report["writes"].as_array().unwrap() {
        let mut all = priced[0]["writes"].as_array().unwrap().iter();
        let same = all.find(|one| one["name"] == write["name"]).unwrap();
        assert_eq!(same["units"], write["units"], "{write:#}");
    }
    // A view writes one item of 1 KB and its entry, an edit the text alone.
    let units = |name: &str| {
        let mut all = priced[0]["writes"].as_array().unwrap().iter();
        all.find(|one| one["name"] == name).unwrap()["units"]
            .as_f64()
            .unwrap()
    };
    assert!(units("view") <= 3.0 && units("rename") > 2.0, "{priced:#}");
}

/// Lists and unique keys that want the large columns of rows whose counters change all the time find both items of a row.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_items_of_a_row_are_found_by_one_key_of_an_index() {
    let source = Database::new(ARTICLES).await;
    let workload = "
        -- get (100/s)
        SELECT id, title, views FROM articles WHERE id = :id;
        -- view (100/s)
        UPDATE articles SET views = views + 1 WHERE id = :id;
        -- bySlug (1/s)
        SELECT * FROM articles WHERE slug = :slug;
        -- ofAuthor (1/s)
        SELECT * FROM articles WHERE author_id = :a ORDER BY id LIMIT 4;
        -- withText (1/s) a filter by what one of the items has
        SELECT id, views, body FROM articles WHERE author_id = :a AND body IS NOT NULL ORDER BY id LIMIT 4;
        -- titled (1/s)
        SELECT * FROM articles WHERE author_id = :a AND title <> :t ORDER BY id LIMIT 3;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let mapping = proposal.mapping();
    assert!(mapping.contains("omit: [body]"), "{mapping}");
    let reads = proposal.report["reads"].as_array().unwrap();
    let both = serde_json::json!(["ARTICLES", "ARTICLES_BODY"]);
    for name in ["bySlug", "ofAuthor"] {
        let read = reads.iter().find(|read| read["name"] == name).unwrap();
        assert_eq!(read["served"]["items"], both, "{name}: {mapping}");
    }
    assert!(mapping.contains("limit: 8"), "{mapping}");
    for (name, verdict) in verdicts(&proposal.holds(0)) {
        assert!(
            ["proved", "agrees"].contains(&verdict),
            "{name} {verdict}: {mapping}"
        );
    }
    // An update that wants them in one item says what that does.
    let (more, old) = (proposal.path("more.sql"), proposal.path("design.yaml"));
    let read = "-- whole (1/s)\nSELECT id, views, body FROM articles WHERE slug = :slug;";
    std::fs::write(&more, read).unwrap();
    let update = ["design", "--source", &proposal.source, "--workload", &more];
    let reported = dynafold(&[&update[..], &["--update", &old, "-o", "-"]].concat()).exits(0);
    let apart = "ARTICLES.body, so far only in ARTICLES_BODY: from now on each update of ARTICLES writes it too";
    reported.says(apart);
}

/// Pages that are asked for by a unique key, beside a counter, have both items of a row under that key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_items_of_a_row_stand_under_the_unique_key_by_which_they_are_asked() {
    let source = Database::new(ARTICLES).await;
    let workload = "
        -- page (200/s)
        SELECT * FROM articles WHERE slug = :slug;
        -- byAuthor (20/s) a filter on both items
        SELECT * FROM articles WHERE slug = :slug AND author_id = :a;
        -- head (100/s) without the text
        SELECT title, views FROM articles WHERE slug = :slug;
        -- ofAuthor (20/s)
        SELECT id, slug, title FROM articles WHERE author_id = :a ORDER BY id;
        -- view (100/s)
        UPDATE articles SET views = views + 1 WHERE id = :id;
        -- edit (1/s)
        UPDATE articles SET body = :b WHERE id = :id;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let mapping = proposal.mapping();
    for key in ["ARTICLES#", "ARTICLES#ARTICLES_BODY#"] {
        let key = format!("key: {{ PK: \"SLUG#{{slug}}\", SK: \"{key}\" }}");
        assert!(mapping.contains(&key), "{key}: {mapping}");
    }
    let reads = proposal.report["reads"].as_array().unwrap();
    for name in ["page", "byAuthor"] {
        let read = reads.iter().find(|read| read["name"] == name).unwrap();
        let both = serde_json::json!(["ARTICLES", "ARTICLES_BODY"]);
        assert_eq!(read["served"]["items"], both, "{mapping}");
        assert_eq!(read["served"]["requests"], 1, "{mapping}");
    }
    for (name, verdict) in verdicts(&proposal.holds(0)) {
        let is_good = ["proved", "agrees"].contains(&verdict);
        assert!(is_good, "{name} {verdict}: {mapping}");
    }
    // An update leaves both where they are.
    let (more, old) = (proposal.path("more.sql"), proposal.path("design.yaml"));
    let read = "-- titled (1/s)\nSELECT id, title FROM articles WHERE title = :t;";
    std::fs::write(&more, read).unwrap();
    let update = ["design", "--source", &proposal.source, "--workload", &more];
    let reported = dynafold(&[&update[..], &["--update", &old, "-o", "-"]].concat()).exits(0);
    reported.prints("SK: \"ARTICLES#ARTICLES_BODY#\"");
}

/// Where what changes all the time is listed by another key, the items of a row have that key, and are found by an index.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_items_of_a_row_are_found_by_its_key_where_they_have_other_keys_in_the_table() {
    let source = Database::new(ARTICLES).await;
    let workload = "
        -- page (10/s)
        SELECT * FROM articles WHERE id = :id;
        -- ofAuthor (300/s)
        SELECT id, title, views FROM articles WHERE author_id = :a ORDER BY id;
        -- view (200/s)
        UPDATE articles SET views = views + 1 WHERE id = :id;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let mapping = proposal.mapping();
    let reads = proposal.report["reads"].as_array().unwrap();
    let page = reads.iter().find(|read| read["name"] == "page").unwrap();
    let both = serde_json::json!(["ARTICLES", "ARTICLES_BODY"]);
    assert_eq!(page["served"]["items"], both, "{mapping}");
    assert_eq!(page["served"]["fetches"], 1, "{mapping}");
    for (name, verdict) in verdicts(&proposal.holds(0)) {
        let is_good = ["proved", "agrees"].contains(&verdict);
        assert!(is_good, "{name} {verdict}: {mapping}");
    }
}

/// Documents, and a key that has the delimiter of keys in it.
const DOCUMENTS: &str = "
    CREATE TABLE docs (id INTEGER NOT NULL PRIMARY KEY, owner INTEGER, slug VARCHAR(40) UNIQUE, state VARCHAR(10), title VARCHAR(40) NOT NULL,
      body TEXT, views INTEGER NOT NULL);
    CREATE TABLE notes (a VARCHAR(10) NOT NULL, b VARCHAR(10) NOT NULL, PRIMARY KEY (a, b));
    INSERT INTO notes VALUES ('a#', 'c'), ('b', 'd');
    INSERT INTO docs WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      SELECT i, nullif(i % 21, 0), 's#' || i, CASE i % 4 WHEN 1 THEN 'Open' WHEN 2 THEN 'Shut' WHEN 3 THEN 'New' END, 't' || i % 40,
        nullif(hex(zeroblob(1500)) || i, hex(zeroblob(1500)) || (i / 9 * 9)), i % 60 FROM n;";

/// Where keys are escaped, a constant stands in a filter instead of the key: that needs it in both items of a row.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_in_the_place_of_escaped_constants_find_whole_rows() {
    let source = Database::new(DOCUMENTS).await;
    let workload = "
        -- get (100/s)
        SELECT id, title FROM docs WHERE id = :id;
        -- view (100/s)
        UPDATE docs SET views = views + 1 WHERE id = :id;
        -- bySlug (1/s)
        SELECT * FROM docs WHERE slug = :slug;
        -- slugOfOwner (1/s)
        SELECT * FROM docs WHERE slug = :slug AND owner = :o;
        -- ofOwner (1/s)
        SELECT * FROM docs WHERE owner = :o;
        -- opened (1/s)
        SELECT * FROM docs WHERE owner = :o AND state = 'Open';
        -- shut (1/s)
        SELECT id, views, body FROM docs WHERE owner = :o AND state = 'Shut' ORDER BY id LIMIT 4;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let mapping = proposal.mapping();
    assert!(mapping.contains("key_escape: percent"), "{mapping}");
    assert!(mapping.contains("omit: [body]"), "{mapping}");
    for (name, verdict) in verdicts(&proposal.holds(0)) {
        let is_good = ["proved", "agrees"].contains(&verdict);
        assert!(is_good, "{name} {verdict}: {mapping}");
    }
}

/// Couriers whose position changes all the time.
const COURIERS: &str = "
    CREATE TABLE couriers (id INTEGER NOT NULL PRIMARY KEY, phone VARCHAR(20) NOT NULL UNIQUE, zone VARCHAR(9) NOT NULL, name VARCHAR(20) NOT NULL,
      seen VARCHAR(30) NOT NULL);
    INSERT INTO couriers WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
      SELECT i, '+49' || i, 'z' || (i % 6), 'n' || i, '52.5,' || i FROM n;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_all_the_time_is_read_by_two_requests_in_a_row() {
    let source = Database::new(COURIERS).await;
    let workload = "
        -- byPhone (2/s) one, whole
        SELECT * FROM couriers WHERE phone = :phone;
        -- ofZone (0.1/s) more than 100, in the order of an index, and a filter on what it holds
        SELECT id, seen, name FROM couriers WHERE zone = :zone AND name <> 'n6' ORDER BY name;
        -- names (300/s) of what hardly changes
        SELECT id, name FROM couriers WHERE zone = :zone ORDER BY name LIMIT 5;
        -- get (900/s)
        SELECT * FROM couriers WHERE id = :id;
        -- move (1000/s)
        UPDATE couriers SET seen = :seen WHERE id = :id;
        -- rename (0.1/s)
        UPDATE couriers SET name = :name WHERE id = :id;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let mapping = proposal.mapping();
    let served = |name: &str| {
        let mut reads = proposal.report["reads"].as_array().unwrap().iter();
        reads.find(|read| read["name"] == name).unwrap()["served"].clone()
    };
    let requests = |name: &str| {
        let served = served(name);
        ["requests", "fetches"].map(|of| served[of].as_u64().unwrap())
    };
    assert_eq!(requests("byPhone"), [2, 1], "{mapping}");
    assert_eq!(requests("ofZone"), [3, 2], "{mapping}");
    assert_eq!(requests("names"), [1, 0], "{mapping}");
    assert_eq!(requests("get"), [1, 0], "{mapping}");
    // A position writes the item, and no index.
    let writes = proposal.report["writes"].as_array().unwrap();
    let moves = writes.iter().find(|write| write["name"] == "move").unwrap();
    assert_eq!(moves["units"], 1.0, "{mapping}");
    // Half a unit in the index, and half of one for the item.
    assert_eq!(served("byPhone")["units"], 1.0);
    let asked = proposal.holds(0);
    let verdicts = verdicts(&asked);
    assert_eq!(verdicts.len(), 4, "{asked:#}");
    let is_good = |verdict: &str| ["proved", "agrees"].contains(&verdict);
    assert!(
        verdicts.iter().all(|(_, verdict)| is_good(verdict)),
        "{asked:#}"
    );
    // What the index does not hold is compared too.
    source.run("UPDATE couriers SET seen = 'lost'").await;
    let (mapping, target) = (proposal.path("design.yaml"), proposal.path("table.db"));
    let target = format!("local:{target}");
    let arguments = ["verify", &mapping, "--source", &proposal.source];
    let patterns = ["--target", &target, "--patterns", "--pattern", "byPhone"];
    let differs = dynafold(&[&arguments[..], &patterns].concat()).exits(3);
    differs.prints("seen");
    let explained = ["design", "--source", &proposal.source, "--workload"];
    let workload = proposal.path("workload.sql");
    let explained = [&explained[..], &[&workload, "--explain", "ofZone"]].concat();
    let reported = dynafold(&explained).exits(0).stdout;
    assert!(reported.contains("2 × BatchGetItem"), "{reported}");
    assert!(reported.contains("two requests in a row"), "{reported}");
}

/// Shops whose stock changes all the time, and their orders, of which some have no shop.
const STOCKS: &str = "
    CREATE TABLE shops (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL, stock INTEGER NOT NULL);
    CREATE TABLE orders (id INTEGER NOT NULL PRIMARY KEY, shop_id INTEGER REFERENCES shops, note VARCHAR(20) NOT NULL);
    INSERT INTO shops WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i, 'n' || i, i * 7 FROM n;
    INSERT INTO orders WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
      SELECT i, CASE WHEN i % 9 = 0 THEN NULL WHEN i % 10 = 0 THEN 99 ELSE 1 + i % 40 END, 'o' || i FROM n;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parents_that_change_all_the_time_are_read_by_second_requests() {
    let source = Database::new(STOCKS).await;
    let workload = "
        -- book (200/s)
        UPDATE shops SET stock = stock - 1 WHERE id = :id;
        -- seen (10/s) with its shop, if it has one
        SELECT o.id, o.note, s.name, s.stock FROM orders o LEFT JOIN shops s ON s.id = o.shop_id WHERE o.id = :id;
        -- sold (5/s) only those with a shop
        SELECT o.*, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.shop_id = :shop ORDER BY o.id DESC LIMIT 6;
        -- noted (5/s)
        SELECT o.id, s.stock FROM orders o JOIN shops s ON s.id = o.shop_id WHERE o.note = :note;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let mapping = proposal.mapping();
    let writes = proposal.report["writes"].as_array().unwrap();
    assert_eq!(writes[0]["units"], 1.0, "{mapping}");
    let reads = proposal.report["reads"].as_array().unwrap();
    for read in reads {
        assert_eq!(read["served"]["fetches"], 1, "{read:#}");
    }
    for second in ["noted_shops", "seen_shops", "sold_shops"] {
        assert!(mapping.contains(&format!("  {second}:\n")), "{mapping}");
    }
    let asked = proposal.holds(0);
    let verdicts = verdicts(&asked);
    assert_eq!(verdicts.len(), 6, "{asked:#}");
    let is_good = |verdict: &str| ["proved", "agrees"].contains(&verdict);
    let all_good = verdicts.iter().all(|(_, verdict)| is_good(verdict));
    assert!(all_good, "{asked:#}");
    // What it costs is compared with both requests.
    let compare = ["design", "--source", &proposal.source, "--format", "json"];
    let files = [proposal.path("workload.sql"), proposal.path("design.yaml")];
    let compared = [
        &compare[..],
        &["--workload", &files[0], "--compare", &files[1]],
    ]
    .concat();
    let compared = dynafold(&compared).exits(0).json();
    let served = &compared[0]["reads"][0]["served"];
    assert_eq!(served["fetches"], 1, "{compared:#}");
    let cost = &compared[0]["usd_month"];
    // The mapping serves the workload already.
    let old = proposal.path("design.yaml");
    let workload = proposal.path("workload.sql");
    let update = [
        "design",
        "--source",
        &proposal.source,
        "--workload",
        &workload,
    ];
    let reported = dynafold(&[&update[..], &["--update", &old, "-o", "-"]].concat()).exits(0);
    assert_eq!(reported.stdout, mapping);
    reported.says("the table, by key");
    let new = proposal.path("updated.yaml");
    let written = ["--update", &old, "-o", &new, "--format", "json"];
    let reported = dynafold(&[&update[..], &written].concat()).exits(0).json();
    assert_eq!(reported["after"]["usd_month"], *cost, "{reported:#}");
    let of_reads = reported["after"]["reads"].as_array().unwrap();
    assert_eq!(of_reads.len(), 3, "{reported:#}");
}

/// A state that few rows are in, beside a parameter.
#[tokio::test]
async fn a_constant_beside_a_parameter_is_a_condition_of_the_index_where_that_is_cheaper() {
    let source = Database::new(
        "CREATE TABLE visits (id INTEGER PRIMARY KEY, clinic INTEGER NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL);
         INSERT INTO visits WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
           SELECT i, i % 3, i * 7, CASE WHEN i % 100 = 0 THEN 'arrived' WHEN i % 3 THEN 'done' ELSE 'booked' END FROM n;",
    )
    .await;
    let workload = |condition: &str| {
        format!(
            "-- waiting (50/s)\nSELECT id, at FROM visits WHERE clinic = :c AND {condition} ORDER BY at;
             -- visit (50/s)\nSELECT * FROM visits WHERE id = :id;
             -- book (30/s)\nINSERT INTO visits (id, clinic, at, state) VALUES (:id, :c, :at, 'booked');"
        )
    };
    let one = Proposal::new(&source.url(), Some(&workload("state = 'arrived'")), 0);
    let mapping = one.mapping();
    assert!(mapping.contains("state = 'arrived'"), "{mapping}");
    assert_eq!(
        one.report["reads"][1]["served"]["found"], 10.0,
        "{:#}",
        one.report
    );
    assert!(
        !one.report.to_string().contains("skewed values"),
        "{:#}",
        one.report
    );
    one.holds(0);
    let same = Proposal::new(&source.url(), Some(&workload("state IN ('arrived')")), 0);
    assert_eq!(one.report["sum"], same.report["sum"]);
    // A condition that no statement says is counted, too.
    let edited = mapping.replacen("state = 'arrived'", "state IN ('arrived')", 1);
    std::fs::write(one.path("edited.yaml"), edited).unwrap();
    let compared = one.compared(&one.path("edited.yaml"));
    assert_eq!(compared[0]["sum"], compared[1]["sum"], "{compared:#}");
}

/// An index projects by name: what it holds for one item type is written in it for another one too.
#[tokio::test]
async fn item_types_share_an_index_that_leaves_their_updates_alone() {
    let source = Database::new(
        "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, x INTEGER NOT NULL UNIQUE, y INTEGER NOT NULL UNIQUE, seen TEXT NOT NULL);
         CREATE TABLE u (id INTEGER NOT NULL PRIMARY KEY, z INTEGER NOT NULL UNIQUE, seen TEXT NOT NULL);
         INSERT INTO t VALUES (1, 2, 3, 'a'), (2, 3, 4, 'b'); INSERT INTO u VALUES (1, 2, 'a'), (2, 3, 'b');",
    )
    .await;
    for (one, other) in [("x", "y"), ("y", "x")] {
        let workload = format!(
            "-- first (500/s)\nSELECT id, seen FROM t WHERE {one} = :v;
             -- second (500/s)\nSELECT id FROM t WHERE {other} = :v;
             -- third (500/s)\nSELECT id FROM u WHERE z = :v;
             -- oneOfT (900/s)\nSELECT * FROM t WHERE id = :id;
             -- oneOfU (900/s)\nSELECT * FROM u WHERE id = :id;
             -- tick (300/s)\nUPDATE u SET seen = :seen WHERE id = :id;"
        );
        let proposal = Proposal::new(&source.url(), Some(&workload), 0);
        let mapping = proposal.mapping();
        assert_eq!(
            proposal.report["indexes"].as_array().unwrap().len(),
            2,
            "{mapping}"
        );
        assert_eq!(proposal.report["writes"][0]["units"], 1.0, "{mapping}");
        proposal.holds(0);
    }
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
    let reported = run(&["--workload", &workload, "--explain", "get"])
        .exits(0)
        .stdout;
    assert!(reported.contains("GetItem on the table"), "{reported}");
    assert!(!reported.contains("a month on demand"), "{reported}");
    assert_eq!(std::fs::read_to_string(&mapping).unwrap(), "mine");
    let refused = run(&["--workload", &workload, "--explain", "gte"])
        .exits(2)
        .stderr;
    assert!(refused.contains("`get`"), "{refused}");
}

/// A child of two parents, one of which may be missing.
const JOBS: &str = "
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE jobs (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES people, worker INTEGER NOT NULL REFERENCES people, kind TEXT NOT NULL, state TEXT NOT NULL);
INSERT INTO people VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cy');
INSERT INTO jobs VALUES (1, 1, 2, 'a', 'open'), (2, NULL, 2, 'b', 'open'), (3, 1, 3, 'a', 'open'), (4, 2, 1, 'b', 'done'), (5, 3, 1, 'a', 'done'), (6, 3, 2, 'a', 'done');
";

/// Of three jobs that are equal under the order the database may answer any two.
#[tokio::test]
async fn a_limit_between_equal_rows_is_announced_before_verify_finds_it() {
    let source = Database::new(JOBS).await;
    let workload = "-- ties (1/s)
        SELECT id, kind FROM jobs WHERE state = :s ORDER BY kind DESC LIMIT 2;
        -- whole (1/s)
        SELECT id, kind FROM jobs WHERE state = :s ORDER BY kind DESC, id DESC LIMIT 2;
        -- kinds (1/s)
        SELECT DISTINCT kind FROM jobs WHERE state = :s ORDER BY kind LIMIT 2;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let asked = proposal.holds(3);
    let verdicts = verdicts(&asked);
    for (name, verdict) in verdicts {
        let reads = proposal.report["reads"].as_array().unwrap().iter();
        let mut read = reads.filter(|read| read["name"] == name);
        let notes = read.next().unwrap()["served"]["notes"].to_string();
        let is_announced = notes.contains("rows may tie in the ORDER BY");
        assert_eq!(is_announced, name == "ties", "{name}: {notes}");
        assert_eq!(verdict == "not_proved", name == "ties", "{name}: {asked:#}");
    }
}

/// What each index holds of a parent is that of the statement's own join.
#[tokio::test]
async fn columns_of_two_parents_of_one_table_are_each_in_the_index_that_answers_them() {
    let source = Database::new(JOBS).await;
    let workload = "-- byKind (1/s)
        SELECT j.id, p.name AS worker_name FROM jobs j JOIN people p ON p.id = j.worker WHERE j.kind = :k;
        -- byState (1/s)
        SELECT j.id, p.name AS boss_name FROM jobs j LEFT JOIN people p ON p.id = j.boss WHERE j.state = :s;
        -- get (99/s)
        SELECT * FROM jobs WHERE id = :id;";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    assert_eq!(proposal.report["indexes"].as_array().unwrap().len(), 2);
    proposal.holds(0);
}

#[tokio::test]
async fn a_byte_order_mark_and_line_ends_of_windows_are_read_and_kept() {
    let source = Database::new(JOBS).await;
    let of_windows = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let workload = "-- get (1/s)\nSELECT * FROM people\n WHERE id = :id;\n";
    let plain = Proposal::new(&source.url(), Some(workload), 0);
    let proposal = Proposal::new(&source.url(), Some(&of_windows(workload)), 0);
    assert_eq!(proposal.mapping(), plain.mapping());
    // Without the comments in front, the mark stands before the first key.
    let mapping = plain.mapping();
    let mapping = mapping.split_at(mapping.find("dynafold: 1").unwrap()).1;
    let further = "-- byKind (1/s)\nSELECT id FROM jobs WHERE kind = :k;\n";
    let updated = |mapping: &str, workload: &str| {
        let [old, new, wanted] = ["old.yaml", "new.yaml", "w.sql"].map(|name| plain.path(name));
        std::fs::write(&old, mapping).unwrap();
        std::fs::write(&wanted, workload).unwrap();
        let update = [
            "design",
            "--source",
            &plain.source,
            "--workload",
            &wanted,
            "--update",
            &old,
        ];
        dynafold(&[&update[..], &["-o", &new, "--force"]].concat()).exits(0);
        std::fs::read_to_string(&new).unwrap()
    };
    let wanted = updated(mapping, further);
    assert!(wanted.contains("byKind:"), "{wanted}");
    let found = updated(&of_windows(mapping), &of_windows(further));
    assert_eq!(found, of_windows(&wanted));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frequent_read_of_one_row_gets_the_key_and_a_rare_list_is_sorted() {
    // A third of the likes are those of one post.
    let source = Database::new(
        "CREATE TABLE likes (post INTEGER NOT NULL, usr INTEGER NOT NULL, at DATETIME NOT NULL, PRIMARY KEY (post, usr));
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
           INSERT INTO likes SELECT CASE WHEN i % 3 = 0 THEN 1 ELSE 2 + i % 900 END, i, datetime('2026-01-01', '+' || i || ' minutes') FROM n;",
    )
    .await;
    let workload = "
        -- likers (15/s)
        SELECT usr, at FROM likes WHERE post = :post ORDER BY at DESC LIMIT 20;
        -- likedByMe (400/s)
        SELECT at FROM likes WHERE post = :post AND usr = :usr;
        -- like (50/s)
        INSERT INTO likes (post, usr, at) VALUES (:post, :usr, :at);";
    let proposal = Proposal::new(&source.url(), Some(workload), 0);
    let reads = proposal.report["reads"].as_array().unwrap();
    let read = reads.iter().find(|read| read["name"] == "likedByMe");
    let served = &read.unwrap()["served"];
    assert_eq!(served["request"], "GetItem", "{}", proposal.mapping());
    assert_eq!(served["index"], Value::Null, "{}", proposal.mapping());
}
