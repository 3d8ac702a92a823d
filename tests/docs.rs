//! `docs`: what the definition document holds, in which words, and which files it may write.

mod commands;
mod scale;

use std::path::{Path, PathBuf};

use crate::support::cli::{Ran, command, dynafold, run};
use crate::support::datasets::{Dataset, folder};
use crate::support::postgres;
use crate::support::sqlite::Database;

const MAPPINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/mappings");
const PERSONALIZATION: &str =
    include_str!("../migrations/sqlite/20260101000001_personalization.sql");
const VOTES: &str = include_str!("../migrations/sqlite/20260101000013_votes.sql");

/// A mapping with its source, in a folder of its own.
struct Desk {
    database: Database,
    mapping: PathBuf,
}

impl Desk {
    /// A worked example with the rows of its migration.
    async fn example(name: &str, migration: &str) -> Self {
        let text = std::fs::read_to_string(format!("{MAPPINGS}/{name}.yaml")).unwrap();
        Self::new(&format!("{name}.yaml"), &text, migration).await
    }

    async fn new(name: &str, mapping: &str, script: &str) -> Self {
        let database = Database::new(script).await;
        let file = database.folder().join(name);
        std::fs::write(&file, mapping).unwrap();
        Self {
            database,
            mapping: file,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.database.folder().join(name)
    }

    /// Runs `docs` in the folder, with the source.
    fn docs(&self, arguments: &[&str]) -> Ran {
        let url = self.database.url();
        let mut all = vec!["docs", self.mapping.to_str().unwrap(), "--source", &url];
        all.extend(arguments);
        run(command(&all).current_dir(self.database.folder()))
    }

    /// A document on standard output.
    fn printed(&self, format: &str, arguments: &[&str]) -> String {
        let mut all = vec!["--as", format, "-o", "-"];
        all.extend(arguments);
        self.docs(&all).exits(0).stdout
    }
}

/// A page's text: what a reader sees, its spaces made one.
fn seen(html: &str) -> String {
    let body = html.split("<body>").nth(1).unwrap();
    let body = body.split("<script>").next().unwrap();
    let mut text = String::new();
    for part in body.split('<') {
        let (tag, after) = part.split_once('>').unwrap_or(("", part));
        if !tag.starts_with("wbr") && !tag.starts_with("code") && !tag.starts_with("/code") {
            text.push(' ');
        }
        text.push_str(after);
    }
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the post that pattern 1 is taken from draws in its steps 2 to 6.
const DRAWN: &[&str] = &[
    // Step 2: entities, access patterns, what each is for.
    "What the users of a portal have set, and what they have subscribed to",
    "A subscription of a user",
    "findServices All services",
    "findUserBySubscribeServiceAndContentTypeAndContentOriginId Who has subscribed to one thing",
    "findUserByUserId A user's profile",
    "findServiceByService A service by its short name",
    "findPersonalByUserIdAndService All of a user's settings of one service",
    "findPersonalByUserIdAndServiceAndSettingType One setting",
    "findSubscribeByService What can be subscribed to at a service",
    "findSubscribeByServiceAndContentType What can be subscribed to of one kind of content",
    "findUserBySubscribeService Who has subscribed to anything of a service",
    // Steps 3 and 4: the partition and sort key of each entity.
    "PK partition key GSI1 sort key S USER#{id | pad(3)} users.id",
    "SK sort key GSI1 partition key S USER#",
    "S SERVICE#{service} services.service",
    "S PERSONAL#{service}#{setting_type} personal_settings.service",
    "S SUBSCRIBE#{service}#{content_type}#{content_origin_id} subscribes.service",
    "S SUBSCRIBE#{s.service}#{s.content_type}#{s.content_origin_id} subscribes.service",
    // Step 5: the inverted index, and the one over `data`.
    "GSI1 global secondary index SK S PK S every attribute",
    "GSI2 global secondary index data S SK S every attribute",
    "data GSI2 partition key S SUBSCRIBE_USER",
    // Step 6: which index, which condition, which parameters.
    "GetItem personalization PK = USER#{userId} and SK = USER#",
    "personalization PK = SERVICE#{service}",
    "personalization PK = USER#{userId} and SK begins_with PERSONAL#{service}#",
    "personalization PK = USER#{userId} and SK = PERSONAL#{service}#{settingType}",
    "GSI1 SK = SUBSCRIBE# and PK begins_with SUBSCRIBE#{service}#",
    "GSI1 SK = SUBSCRIBE# and PK begins_with SUBSCRIBE#{service}#{contentType}#",
    "GSI2 data = SUBSCRIBE_USER and SK begins_with SUBSCRIBE#{service}#",
    "GSI1 SK = SERVICE#",
    "GSI1 SK = SUBSCRIBE#{service}#{contentType}#{contentOriginId} and PK begins_with USER#",
    "userId number {userId | pad(3)} users.id INTEGER",
    "settingType text as it is personal_settings.setting_type varchar(30)",
    // Step 6: example data of each entity; the members of a JSON column differ by type.
    "USER#001 USER# jiwoo@example.com F 김지우",
    "SERVICE#startzum SERVICE#",
    "USER#001 PERSONAL#startzum#background #1b2a49 0.85",
    "color S a member, in 2 of 5 example items",
    "coordinates M a member, in 1 of 5 example items",
    "SUBSCRIBE#news#press#001 SUBSCRIBE#",
    "USER#001 SUBSCRIBE#news#press#001 SUBSCRIBE_USER",
];

#[tokio::test]
async fn the_document_of_pattern_1_shows_what_its_post_draws() {
    let desk = Desk::example("personalization", PERSONALIZATION).await;
    let page = seen(&desk.printed("html", &[]));
    for fact in DRAWN {
        assert!(page.contains(fact), "{fact:?} is not in\n{page}");
    }
}

/// What the columns mean stands in their comments, which SQLite does not keep.
const MEANINGS: &[&str] = &[
    "From users Users of the portal",
    "PK partition key GSI1 sort key USER S USER#{id | pad(3)} users.id integer user number",
    "email S {email} users.email character varying(255) e-mail address",
    "gender S {gender} users.gender character varying(10) F or M, if the user has said so",
    "each member of setting personal_settings.setting jsonb what is set; its members depend on the kind",
    "name S {name} services.name character varying(100) name that users see",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_document_of_pattern_1_says_what_its_columns_mean() {
    let script = include_str!("../migrations/postgres/20260101000001_personalization.sql");
    let database = postgres::Database::with(script).await;
    let mapping = format!("{MAPPINGS}/personalization.yaml");
    let url = database.url();
    let docs = [
        "docs", &mapping, "--source", &url, "--as", "html", "-o", "-",
    ];
    let page = seen(&dynafold(&docs).exits(0).stdout);
    let drawn = DRAWN.iter().map(|fact| {
        let fact = fact.replace("INTEGER", "integer");
        fact.replace("varchar", "character varying")
    });
    for fact in drawn.chain(MEANINGS.iter().map(|fact| (*fact).to_owned())) {
        assert!(page.contains(&fact), "{fact:?} is not in\n{page}");
    }
}

#[tokio::test]
async fn a_colleague_finds_a_question_and_its_cost() {
    let desk = Desk::example("personalization", PERSONALIZATION).await;
    let html = desk.printed("html", &[]);
    let table = html.split("<table class=\"patterns\">").nth(1).unwrap();
    let row = table
        .split("<tr ")
        .find(|row| row.contains("find<wbr>Subscribe<wbr>By<wbr>User"));
    let row = seen(&format!("<body><tr {}<script>", row.unwrap()));
    assert!(
        row.contains("A user's subscriptions to one service personalization PK = USER#{userId}"),
        "{row}"
    );
    assert!(row.contains(" 0.5 $0.0625 $32.40 at 200/s"), "{row}");
}

#[tokio::test]
async fn the_markdown_is_as_reviewed() {
    let desk = Desk::example("personalization", PERSONALIZATION).await;
    insta::assert_snapshot!("personalization", desk.printed("markdown", &[]));
    let desk = Desk::example("votes", VOTES).await;
    insta::assert_snapshot!(
        "votes",
        desk.printed("markdown", &["--all", "--limit", "2"])
    );
}

#[tokio::test]
async fn two_runs_give_the_same_bytes() {
    let desk = Desk::example("votes", VOTES).await;
    for arguments in [&[][..], &["--all"]] {
        for format in ["html", "markdown"] {
            let first = desk.printed(format, arguments);
            assert!(first == desk.printed(format, arguments), "{format}");
        }
    }
}

#[tokio::test]
async fn both_forms_are_written_and_written_again() {
    let desk = Desk::example("personalization", PERSONALIZATION).await;
    let ran = desk.docs(&["-o", "out/"]).exits(0);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    let page = std::fs::read(desk.path("out/personalization.html")).unwrap();
    std::fs::write(
        desk.path("out/personalization.md"),
        "<!-- Written by `dynafold docs`\nold",
    )
    .unwrap();
    desk.docs(&["-o", "out"]).exits(0);
    assert!(page == std::fs::read(desk.path("out/personalization.html")).unwrap());
    let markdown = std::fs::read_to_string(desk.path("out/personalization.md")).unwrap();
    assert!(
        markdown.contains("# DynamoDB table `personalization`"),
        "{markdown}"
    );
    let left = std::fs::read_dir(desk.path("out")).unwrap().count();
    assert_eq!(left, 2, "something was left beside them");
}

#[tokio::test]
async fn what_somebody_else_wrote_stays() {
    let desk = Desk::example("personalization", PERSONALIZATION).await;
    let notes = desk.path("personalization.md");
    std::fs::write(&notes, "# My notes on dynafold docs\n").unwrap();
    let ran = desk.docs(&[]).exits(2);
    ran.says("exists already and was not written by `docs`");
    ran.says("--force");
    assert!(
        !desk.path("personalization.html").exists(),
        "one of them was written"
    );
    assert!(
        std::fs::read_to_string(&notes)
            .unwrap()
            .starts_with("# My notes")
    );
    desk.docs(&["--force"]).exits(0);
    assert!(
        std::fs::read_to_string(&notes)
            .unwrap()
            .starts_with("<!-- Written by")
    );
}

#[tokio::test]
async fn what_cannot_be_written_is_told() {
    let desk = Desk::example("personalization", PERSONALIZATION).await;
    desk.docs(&["-o", "-"]).exits(2).says("only one format");
    std::fs::write(desk.path("file"), "").unwrap();
    desk.docs(&["-o", "file"])
        .exits(2)
        .says("is a file, and several files are to be written");
    desk.docs(&["-o", "file/below/"])
        .exits(1)
        .says("file/below");
}

#[tokio::test]
async fn a_region_without_prices_is_told_and_prices_may_be_of_another_than_arns() {
    let desk = Desk::example("personalization", PERSONALIZATION).await;
    let written = |more: &[&str]| {
        let ran = desk.docs(&[&["--as", "markdown", "-o", "-", "--force"], more].concat());
        ran.exits(0).stdout
    };
    let unknown = written(&["--region", "mars-1"]);
    assert!(
        unknown.contains("There are no built-in prices for mars-1, only for"),
        "{unknown}"
    );
    assert!(unknown.contains("no price"), "{unknown}");
    let other = written(&["--region", "mars-1", "--price-region", "eu-central-1"]);
    assert!(
        other.contains("Prices of 2026-09-11 in eu-central-1 (AWS Price List"),
        "{other}"
    );
}

#[tokio::test]
async fn a_mapping_with_faults_writes_nothing() {
    let text = std::fs::read_to_string(format!("{MAPPINGS}/personalization.yaml")).unwrap();
    let text = text.replace("columns: [title]", "columns: [titel]");
    let desk = Desk::new("shop.yaml", &text, PERSONALIZATION).await;
    desk.docs(&[]).exits(1).says("did you mean `title`?");
    assert!(!desk.path("shop.html").exists() && !desk.path("shop.md").exists());
}

#[tokio::test]
async fn a_catalog_is_enough_offline() {
    let desk = Desk::example("personalization", PERSONALIZATION).await;
    let url = desk.database.url();
    let catalog = dynafold(&["inspect", "--source", &url, "--format", "json"]).exits(0);
    let file = desk.path("catalog.json");
    std::fs::write(&file, catalog.stdout).unwrap();
    let (mapping, file) = (desk.mapping.to_str().unwrap(), file.to_str().unwrap());
    let page = |format| {
        let arguments = [
            "docs",
            mapping,
            "--catalog",
            file,
            "--as",
            format,
            "-o",
            "-",
        ];
        dynafold(&arguments).exits(0).stdout
    };
    let markdown = page("markdown");
    assert!(markdown.contains("No rows were read"), "{markdown}");
    assert!(!markdown.contains("jiwoo"), "{markdown}");
    assert!(page("html").contains("SUBSCRIBE#{service}#{content_type}"));
}

#[tokio::test]
async fn no_value_is_shown_where_none_is_wanted() {
    let desk = Desk::example("personalization", PERSONALIZATION).await;
    for format in ["html", "markdown"] {
        let page = desk.printed(format, &["--no-examples", "--all"]);
        for value in ["jiwoo", "USER#001", "press#001", "김지우"] {
            assert!(!page.contains(value), "{value} is in\n{page}");
        }
        assert!(
            page.contains("items, sizes and write units are exact"),
            "{page}"
        );
    }
}

#[tokio::test]
async fn what_rows_hold_stays_text() {
    let mapping = r#"
dynafold: 1
table: { name: notes, key: { partition: PK, sort: SK }, type_attribute: false }
items:
  NOTE:
    from: notes
    where: "body <> '</pre><b>'"
    key: { PK: "N#{id | pad(3)}", SK: "NOTE" }
access_patterns:
  note:
    description: "One <i>note</i> | by `id`"
    items: [NOTE]
    key: { PK: "N#{id | pad(3)}", SK: "NOTE" }
    sql: "SELECT '```', '<b>' FROM notes WHERE id = :id"
"#;
    let script = r#"CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
        INSERT INTO notes VALUES (1, '</script><script>alert(1)</script>"onload="x'), (2, 'a|b `c` \| $d$
        # e'), (3, '</details>')"#;
    let desk = Desk::new("notes.yaml", mapping, script).await;
    let html = desk.printed("html", &[]);
    assert_eq!(html.matches("<script").count(), 1);
    assert_eq!(html.matches("</script").count(), 1);
    assert!(
        html.contains("&lt;/script&gt;&lt;script&gt;alert(1)"),
        "{html}"
    );
    assert!(html.contains("default-src 'none'"));
    for forbidden in ["<i>note", "<b>'", "src=", "@import", "url("] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    let markdown = desk.printed("markdown", &[]);
    let rows = markdown.lines().filter(|line| line.starts_with('|'));
    for row in rows.filter(|row| row.contains("NOTE")) {
        let spans: String = row.split('`').step_by(2).collect();
        assert!(
            !spans.contains("<script") && !spans.contains("</det"),
            "{row}"
        );
    }
    assert_eq!(
        markdown.matches("\n</details>").count(),
        markdown.matches("<details>").count()
    );
    assert!(
        markdown.contains("One &lt;i&gt;note&lt;/i&gt; \\| by \\`id\\`"),
        "{markdown}"
    );
    assert!(markdown.contains("````sql\n"), "{markdown}");
}

#[tokio::test]
async fn answers_are_asked_of_a_table_that_is_named() {
    let desk = Desk::example("personalization", PERSONALIZATION).await;
    let target = format!("local:{}", desk.path("table.ddb").display());
    let url = desk.database.url();
    let mapping = desk.mapping.to_str().unwrap();
    dynafold(&["migrate", mapping, "--source", &url, "--target", &target]).exits(0);
    let markdown = desk.printed("markdown", &["--target", &target]);
    let asked = "answers are from personalization at local:";
    assert!(markdown.contains(asked), "{markdown}");
    assert!(markdown.contains("jiwoo@example.com"), "{markdown}");
    let elsewhere = format!("local:{}", desk.path("none.ddb").display());
    desk.docs(&["--target", &elsewhere])
        .exits(1)
        .says("`dynafold migrate` creates and fills the table");
    assert!(!desk.path("personalization.html").exists());
}

#[tokio::test]
async fn units_of_a_part_of_the_rows_are_lower_bounds() {
    let mapping = r#"
dynafold: 1
table:
  name: team
  key: { partition: PK, sort: SK }
  indexes: { BY_STATE: { partition: state, sort: SK } }
  type_attribute: false
items:
  USER:
    from: users
    key: { PK: "ORG#{org}", SK: "USER#{id | pad(6)}" }
    attributes: { state: { $when: "left_at IS NULL", $value: "ACTIVE" } }
access_patterns:
  usersOfOrganisation:
    items: [USER]
    key: { PK: "ORG#{org}" }
    rate: 10
  user:
    items: [USER]
    key: { PK: "ORG#{org}", SK: "USER#{id | pad(6)}" }
  activeUsers:
    items: [USER]
    index: BY_STATE
    key: { state: "ACTIVE", SK: { between: ["USER#{from}", "USER#{to}$"] } }
"#;
    let script = "CREATE TABLE users (id INTEGER PRIMARY KEY, org INTEGER NOT NULL, left_at TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20400)
        INSERT INTO users SELECT i, i / 20100, NULL FROM n";
    let desk = Desk::new("team.yaml", mapping, script).await;
    for all in [&[][..], &["--all"]] {
        let markdown = desk.printed("markdown", all);
        let row = |name: &str| {
            let begin = format!("| [{name}]");
            let row = markdown.lines().find(|line| line.starts_with(&begin));
            row.unwrap().to_owned()
        };
        let asked = row("usersOfOrganisation");
        assert_eq!(asked.matches("≥ ").count(), 3, "{asked}");
        assert!(!row("user").contains('≥'), "{}", row("user"));
        assert!(markdown.contains("≥ is a lower bound: the example was run on the first 20,000"));
        assert!(!markdown.contains("figures are exact"), "{markdown}");
        assert!(markdown.contains(" --target TARGET\n"), "{markdown}");
        let active = markdown.split("### Pattern activeUsers").nth(1).unwrap();
        assert!(active.contains("A real answer"), "{active}");
        let html = seen(&desk.printed("html", all));
        assert!(html.contains("a million calls; at least $"), "{html}");
    }
    let target = format!("local:{}", desk.path("table.ddb").display());
    let (url, mapping) = (desk.database.url(), desk.mapping.to_str().unwrap());
    dynafold(&["migrate", mapping, "--source", &url, "--target", &target]).exits(0);
    let markdown = desk.printed("markdown", &["--target", &target]);
    let section = markdown.split("### Pattern user\n").nth(1).unwrap();
    assert!(
        section.contains(&format!(" --target {target}\n")),
        "{section}"
    );
    assert!(
        markdown.contains("every USER that is in it has the partition key ACTIVE"),
        "{markdown}"
    );
}

#[tokio::test]
async fn a_loaded_table_tells_what_ranges_and_moments_take() {
    let mapping = r#"
dynafold: 1
table:
  name: team
  key: { partition: PK, sort: SK }
  indexes: { BY_SEEN: { partition: { name: org, type: N }, sort: seen } }
items:
  USER:
    from: users
    key: { PK: "ORG#{org}", SK: "USER#{id | pad(6)}" }
access_patterns:
  someUsers:
    key: { PK: "ORG#{org}", SK: { between: ["USER#{from | pad(6)}", "USER#{to | pad(6)}"] } }
  seenSince:
    index: BY_SEEN
    key: { org: "{org}", seen: { gt: "{since}" } }
    params: { since: "{now | plus(-7d) | iso}" }
"#;
    let script = "CREATE TABLE users (id INTEGER PRIMARY KEY, org INTEGER NOT NULL, seen TEXT, note TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
        INSERT INTO users SELECT i, 1, iif(i > 45, '2026-01-3', '2025-01-3') || (i % 2), hex(zeroblob(500)) FROM n";
    let desk = Desk::new("team.yaml", mapping, script).await;
    let target = format!("local:{}", desk.path("table.ddb").display());
    let (url, mapping) = (desk.database.url(), desk.mapping.to_str().unwrap());
    dynafold(&["migrate", mapping, "--source", &url, "--target", &target]).exits(0);
    // The table holds more than the rows that the examples are made from.
    desk.database.run("DELETE FROM users WHERE id > 1").await;
    let now = "2026-02-01T00:00:00Z";
    let markdown = desk.printed("markdown", &["--target", &target, "--now", now]);
    let part = |name: &str| {
        let begin = format!("### Pattern {name}\n");
        markdown
            .split(&begin)
            .nth(1)
            .unwrap()
            .split("\n### ")
            .next()
            .unwrap()
    };
    let some = part("someUsers");
    assert!(some.contains("--from 1 --to 90"), "{some}");
    assert!(some.contains("12 in the example"), "{some}");
    let since = part("seenSince");
    assert!(since.contains("--since 2026-01-25T00:00:00Z"), "{since}");
    assert!(since.contains("6 in the example"), "{since}");
}

#[tokio::test]
async fn the_document_of_pagila_is_small_and_whole() {
    let Some(folder) = folder() else { return };
    let pagila = Dataset::postgres(&folder, "pagila/pagila.sql.gz").await;
    let mapping = Path::new(MAPPINGS).join("pagila.yaml");
    let (mapping, url) = (mapping.to_str().unwrap(), pagila.url());
    let arguments = [
        "docs", mapping, "--source", &url, "--as", "html", "-o", "-", "--all",
    ];
    let page = dynafold(&arguments).exits(0).stdout;
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let tables = dynafold(&["inspect", "--source", &url, "--format", "json"])
        .exits(0)
        .json();
    let tables = tables["tables"].as_array().unwrap().iter();
    let tables = tables.filter(|table| table["kind"] == "table" || table["kind"] == "partitioned");
    let names: Vec<&str> = tables
        .map(|table| table["name"].as_str().unwrap())
        .collect();
    for name in &names {
        assert!(
            page.contains(&format!("data-fate=\"public.{name}\"")),
            "{name}"
        );
    }
    let answers = page.matches("A real answer").count();
    assert!(answers >= 12, "{answers} patterns have an answer");
}
