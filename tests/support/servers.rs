//! The servers of `tests/servers`: named by the environment, or started when a test first asks for one, which `tests/run`
//! allows where it runs a part of the tests.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use dynafold_testing::missing::not_tested;

/// What is known of a server: its URL, and what is missing of it. One of the two, or both where another stands in for it.
type Known = (Option<String>, Option<String>);

/// Those that were started here.
static STARTED: Mutex<BTreeMap<&str, Known>> = Mutex::new(BTreeMap::new());

/// The URL of `postgres`, `mariadb` or `dynamodb`.
pub(crate) fn url(name: &'static str) -> String {
    url_if_any(name).unwrap_or_else(|| panic!("{} is not set: run tests/run", variable(name)))
}

/// The URL of a server that there may not be. That it is missing is recorded.
pub(crate) fn url_if_any(name: &'static str) -> Option<String> {
    let variable = variable(name);
    let setting = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let mut known = (setting(&variable), setting(&format!("{variable}_MISSING")));
    if known == (None, None) && std::env::var("DYNAFOLD_TEST_SERVERS").as_deref() == Ok("asked") {
        known = started(name, &variable);
    }
    let (url, missing) = known;
    if let Some(why) = &missing {
        not_tested(called(name), why);
    } else if url.is_none() {
        not_tested(called(name), &format!("{variable} is not set"));
    }
    url
}

fn called(name: &str) -> &str {
    match name {
        "postgres" => "PostgreSQL",
        "mariadb" => "MariaDB",
        "mysql" => "MySQL",
        _ => "DynamoDB Local",
    }
}

fn variable(name: &str) -> String {
    format!("DYNAFOLD_TEST_{}", name.to_uppercase())
}

/// Starts a server unless it runs, once for all tests of this process.
fn started(name: &'static str, variable: &str) -> Known {
    let script = r#"lines=$(tests/servers start "$1"); eval "$lines"; missing=$2_MISSING; echo "${!2:-}"; echo "${!missing:-}""#;
    let start = || {
        let ran = Command::new("bash")
            .args(["-ec", script, "bash", name, variable])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(ran.status.success(), "{name} could not be started");
        let text = String::from_utf8(ran.stdout).unwrap();
        let mut lines = text
            .lines()
            .map(|line| Some(line.to_owned()).filter(|line| !line.is_empty()));
        (lines.next().flatten(), lines.next().flatten())
    };
    // Of a test that failed to start it, the others need not hear.
    let mut all = STARTED
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    all.entry(name).or_insert_with(start).clone()
}
