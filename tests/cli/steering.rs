//! What steers a terminal never reaches it: names of tables and columns, comments, values, SQL, file names, and messages of
//! databases and endpoints.

use std::process::Command;

use crate::support::cli::{Ran, command, run};
use crate::support::endpoint::{Endpoint, Step};
use crate::support::sqlite::Database;

/// Sets a title, clears the screen, rings, returns, moves the cursor by a C1 code, turns the direction.
const ODD: &str = "o\u{1b}]0;t\u{7}\u{1b}[2J\u{1b}[31m\r\u{8}\u{7f}\u{9b}2J\u{202e}d\u{2066}d";

#[track_caller]
fn steers_nothing(what: &str, text: &str) {
    let steers = |sign: &char| {
        (sign.is_control() && !matches!(sign, '\n' | '\t'))
            || matches!(sign, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let odd: String = text.chars().filter(steers).collect();
    assert_eq!(odd, "", "{what}:\n{text:?}");
}

/// Runs a command in a folder; nothing of what it prints steers a terminal, but for colours if it is to be coloured.
fn calm(folder: &std::path::Path, arguments: &[&str]) -> Ran {
    let set = |command: &mut Command| {
        command
            .current_dir(folder)
            .env("AWS_REGION", "eu-central-1");
        command
            .env("AWS_ACCESS_KEY_ID", "a")
            .env("AWS_SECRET_ACCESS_KEY", "b");
    };
    let mut plain = command(arguments);
    set(&mut plain);
    let ran = run(&mut plain);
    steers_nothing(&arguments.join(" "), &ran.stdout);
    steers_nothing(&arguments.join(" "), &ran.stderr);
    let colored = [arguments, &["--color", "always", "-v"]].concat();
    let mut command = command(&colored);
    set(&mut command);
    let again = run(&mut command);
    for text in [again.stdout, again.stderr] {
        let mut pieces = text.split("\u{1b}[");
        let mut rest = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (style, text) = piece.split_once('m').unwrap();
            let is_style = style
                .chars()
                .all(|sign| sign.is_ascii_digit() || sign == ';');
            assert!(is_style, "{colored:?}: {style:?}");
            assert_ne!(style, "31", "{colored:?} has a colour that is not ours");
            rest.push_str(text);
        }
        steers_nothing(&colored.join(" "), &rest);
    }
    ran
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_and_values_of_a_database_steer_no_terminal_and_no_page() {
    let script = format!(
        "CREATE TABLE \"t{ODD}\nx\" (id INTEGER PRIMARY KEY, \"c{ODD}\nerror: y\" TEXT DEFAULT '{ODD}', n TEXT);
         CREATE TABLE u (id INTEGER PRIMARY KEY, \"c{ODD}\" TEXT, n TEXT, r INTEGER REFERENCES \"t{ODD}\nx\");
         INSERT INTO \"t{ODD}\nx\" VALUES (1, '{ODD}', '{ODD}');
         INSERT INTO u VALUES (1, '{ODD}', '{ODD}', 1), (2, 'x', 'y', 1);"
    );
    let database = Database::new(&script).await;
    let folder = &database.folder();
    let url = database.url();
    let source = ["--source", url.as_str()];
    let run = |words: &str| {
        let words: Vec<&str> = words.split(' ').chain(source).collect();
        calm(folder, &words).exits(0)
    };
    run("inspect --format mermaid");
    run("inspect --format json");
    let tree = run("inspect");
    assert!(
        !tree.stdout.lines().any(|line| line.starts_with("error: y")),
        "{}",
        tree.stdout
    );
    let proposed = run("init -o -");
    std::fs::write(folder.join("proposed.yaml"), &proposed.stdout).unwrap();
    run("check proposed.yaml --proofs");

    let yaml = |text: String| {
        let json = serde_json::to_string(&text).unwrap();
        json.replace('\u{7f}', "\\u007f")
            .replace('\u{9b}', "\\u009b")
    };
    let key = yaml(format!("c{ODD}\nerror: y"));
    let quoted = yaml(format!("U#{{`c{ODD}`}}"));
    let mapping = format!(
        "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK, sort: SK }} }}\nitems:\n  U:\n    from: u\n    key: {{ PK: {quoted}, SK: \"{{id | pad(10)}}\" }}\n    accept: [key-unproved, key-not-unique]\naccess_patterns:\n  p: {{ key: {{ PK: \"U#{{v}}\" }}, description: {key} }}\n"
    );
    std::fs::write(folder.join("m.yaml"), &mapping).unwrap();
    for words in [
        "check m.yaml --proofs",
        "check m.yaml --proofs --format json",
        "preview m.yaml",
        "preview m.yaml --format json",
        "preview m.yaml --format ndjson",
        "preview m.yaml --format dynamodb-json",
        "preview m.yaml --all",
        "migrate m.yaml --append --target local:t.ddb",
        "verify m.yaml --target local:t.ddb",
        "docs m.yaml --as html --as markdown -o out/ --force",
    ] {
        run(words);
    }
    let target = ["--target", "local:t.ddb"];
    let value = ODD.to_owned();
    for format in ["table", "json", "ndjson"] {
        let asked = [
            "query",
            "m.yaml",
            "p",
            "--param",
            &format!("v={value}"),
            "--format",
            format,
        ];
        let found = calm(folder, &[&asked[..], &target].concat()).exits(0);
        found.prints("u001b");
    }
    for file in std::fs::read_dir(folder.join("out")).unwrap() {
        let path = file.unwrap().path();
        steers_nothing(
            &path.display().to_string(),
            &std::fs::read_to_string(path).unwrap(),
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mapping_and_a_command_line_steer_no_terminal() {
    let database = Database::new("CREATE TABLE u (id INTEGER PRIMARY KEY, n TEXT)").await;
    let (folder, url) = (&database.folder(), database.url());
    let bad = format!(
        "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK, sort: SK }} }}\nitems:\n  U:\n    from: u\n    where: \"nope = '{0}'\"\n    key: {{ PK: \"U#{{{0}}}\", SK: x }}\n    {0}: 1\n",
        "o\u{9b}2J\u{202e}d\u{2066}d"
    );
    let name = format!("m{ODD}.yaml");
    std::fs::write(folder.join(&name), bad).unwrap();
    for format in ["text", "json"] {
        calm(
            folder,
            &["check", &name, "--source", &url, "--format", format],
        )
        .exits(1);
    }
    calm(folder, &["check", &format!("no{ODD}"), "--source", &url]).exits(1);
    calm(
        folder,
        &["check", &name, "--source", &format!("sqlite:no{ODD}")],
    )
    .exits(1);
    calm(folder, &["check", &name, "--source", &format!("no{ODD}:x")]);
    calm(folder, &["check", &name, &format!("--no{ODD}")]).exits(2);
    calm(folder, &[&format!("no{ODD}")]).exits(2);
    calm(folder, &["check", &name, "--format", ODD]).exits(2);
    calm(folder, &["query", &name, ODD, "--target", "local"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_answer_is_read_up_to_a_limit() {
    let database = Database::new(
        "CREATE TABLE u (id INTEGER PRIMARY KEY, n TEXT); INSERT INTO u VALUES (1, 'a')",
    )
    .await;
    let (folder, url) = (&database.folder(), database.url());
    let mapping = "dynafold: 1\ntable: { name: app, key: { partition: PK, sort: SK } }\nitems:\n  U:\n    from: u\n    key: { PK: \"U#{id}\", SK: x }\naccess_patterns:\n  p: { key: { PK: \"U#{v}\" } }\n";
    std::fs::write(folder.join("m.yaml"), mapping).unwrap();
    let table = r#"{"Table":{"TableName":"app","TableStatus":"ACTIVE","KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}],"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"}],"ItemCount":0}}"#;
    for steps in [
        vec![Step::Endless],
        vec![Step::Answer(200, table.to_owned()), Step::Endless],
    ] {
        let has_table = steps.len() == 2;
        let endpoint = Endpoint::start(steps).await;
        let target = ["--target", "dynamodb", "--endpoint-url", &endpoint.url];
        let load = [
            "migrate", "m.yaml", "--yes", "--append", "--fresh", "--source", &url,
        ];
        let ask = ["query", "m.yaml", "p", "--param", "v=1"];
        for arguments in [&load[..], &ask] {
            if has_table && arguments == &ask[..] {
                continue;
            }
            calm(folder, &[arguments, &target].concat())
                .exits(1)
                .says("longer than any of DynamoDB's");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_steers_no_terminal_and_writes_no_line_of_ours() {
    let database = Database::new("CREATE TABLE u (id INTEGER PRIMARY KEY, n TEXT)").await;
    let (folder, url) = (&database.folder(), database.url());
    let mapping = "dynafold: 1\ntable: { name: app, key: { partition: PK, sort: SK } }\nitems:\n  U:\n    from: u\n    key: { PK: \"U#{id}\", SK: x }\naccess_patterns:\n  p: { key: { PK: \"U#{v}\" } }\n";
    std::fs::write(folder.join("m.yaml"), mapping).unwrap();
    let message = format!("{ODD}\nerror: all is lost\n   help: send money");
    let body = serde_json::json!({ "__type": "com.amazonaws.dynamodb.v20120810#ValidationException", "message": message });
    let endpoint = Endpoint::start([Step::Answer(400, body.to_string())]).await;
    let target = ["--target", "dynamodb", "--endpoint-url", &endpoint.url];
    let commands: [&[&str]; 3] = [
        &["migrate", "m.yaml", "--yes", "--source", &url],
        &["verify", "m.yaml", "--source", &url],
        &["query", "m.yaml", "p", "--param", "v=1"],
    ];
    for arguments in commands {
        let ran = calm(folder, &[arguments, &target].concat()).exits(1);
        let errors = ran
            .stderr
            .lines()
            .filter(|line| line.starts_with("error: "));
        assert_eq!(errors.count(), 1, "{}", ran.stderr);
        assert!(!ran.stderr.contains("\n   help: send"), "{}", ran.stderr);
    }
}
