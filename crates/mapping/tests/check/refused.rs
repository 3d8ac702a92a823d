//! Access patterns that a table cannot serve: each is refused, at its place, with the mend, and
//! nothing else is said.

use dynafold_mapping::diagnostic::render;
use dynafold_mapping::yaml::parse;
use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, Table, TableKind, TableName};

use super::{catalog, check_with};

const ASKED: &str = include_str!("asked.yaml");
const REFUSED: &str = include_str!("refused.yaml");

/// The catalog of pattern 1 as PostgreSQL has it, with a table of events.
pub(super) fn asked() -> Catalog {
    let mut catalog = catalog();
    catalog.dbms = Dbms::Postgres;
    let text = || DataType::Text {
        max_chars: Some(20),
    };
    let number = || DataType::Integer {
        bits: 32,
        unsigned: true,
    };
    let columns = [
        ("id", number()),
        ("user_id", number()),
        ("kind", text()),
        ("state", text()),
        ("day", DataType::Date),
        (
            "at",
            DataType::Timestamp {
                digits: 3,
                zone: false,
            },
        ),
        (
            "amount",
            DataType::Decimal {
                precision: Some(10),
                scale: Some(2),
            },
        ),
        ("note", text()),
        ("code", text()),
    ];
    let columns = columns.into_iter().map(|(name, data_type)| Column {
        nullable: false,
        ..Column::new(name.to_owned(), String::new(), data_type)
    });
    let name = TableName {
        schema: catalog.tables[0].name.schema.clone(),
        name: "events".to_owned(),
    };
    catalog.tables.push(Table {
        columns: columns.collect(),
        primary_key: vec!["id".to_owned()],
        ..Table::new(name, TableKind::Table)
    });
    catalog
}

/// The mapping with one access pattern.
pub(super) fn with(pattern: &str) -> String {
    let lines = pattern.lines().map(|line| format!("    {line}\n"));
    format!("{ASKED}{}", lines.collect::<String>())
}

#[test]
fn each_wrong_access_pattern_is_refused_at_its_place_and_nothing_else_is_said() {
    let catalog = asked();
    let file = parse(REFUSED).unwrap();
    let cases = file.elements();
    assert!(cases.len() >= 30, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let said = |key: &str| case.get(key).unwrap().text().unwrap();
        let text = with(said("pattern"));
        let (_, diagnostics) = check_with(&text, &catalog);
        let codes: Vec<&str> = diagnostics.iter().map(|d| d.code.as_str()).collect();
        let named = |code: &str| diagnostics.iter().find(|d| d.code.as_str() == code);
        let first = named(said("code").split(' ').next().unwrap());
        let at = first.map_or("", |d| &text[d.span.clone()]);
        let help = first.and_then(|d| d.help.as_deref()).unwrap_or_default();
        let mut wanted: Vec<&str> = said("code").split(' ').collect();
        let mut found = codes.clone();
        wanted.sort_unstable();
        found.sort_unstable();
        if found != wanted || at != said("at") || !help.contains(said("help")) {
            let shown = render("refused.yaml", &text, &diagnostics, false);
            wrong.push(format!("{}: {codes:?} at {at:?}\n{shown}", said("why")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn what_the_table_can_serve_is_not_refused() {
    let catalog = asked();
    for pattern in [
        "items: [USER]\nkey: { PK: \"USER#{userId | pad(6)}\", SK: \"USER#\" }\nconsistent: true",
        "items: [EVENT]\nindex: LATEST\nkey: { PK: \"USER#{userId | pad(6)}\", at: { ge: \"{since}\" } }\nconsistent: true",
        "items: [EVENT]\nindex: MULTI\nkey: { kind: \"{kind}\", state: open, day: \"{day}\", at: { between: [\"{from}\", \"{until}\"] } }",
        "items: [EVENT]\nindex: BY_AMOUNT\nkey: { kind: \"{kind}\", amount: { ge: 10 } }\norder: desc\nlimit: 5",
        "items: [EVENT]\nindex: BY_DAY\nkey: { day: \"{day}\" }\nfilter: \"state IN (:state, 'open') AND attribute_exists(state)\"",
        "items: [EVENT]\nkey: { PK: \"USER#{userId | pad(6)}\", SK: { begins_with: \"EVENT#{year}\" } }",
        "items: [EVENT]\nindex: LATEST\nkey: { PK: \"USER#{userId | pad(6)}\" }\norder: desc\nlimit: 5\n\
         sql: SELECT e.id, e.at FROM events e JOIN users u ON u.id = e.user_id WHERE u.id = :userId ORDER BY e.user_id, e.at DESC LIMIT 5",
        "items: [EVENT]\nindex: LATEST\nkey: { PK: \"USER#{userId | pad(6)}\" }\nsql: SELECT id, at FROM events WHERE user_id = :userId ORDER BY date(at) DESC",
        "items: [EVENT]\nindex: BY_DAY\nkey: { day: \"{day}\" }\nsql: SELECT e.id, user_id, state, day FROM events e WHERE day = :day",
        "items: [EVENT]\nindex: BY_DAY\nkey: { day: \"{day}\" }\nfetch: true\nsql: SELECT id, user_id, state, day, note AS remark FROM events WHERE day = :day\nanswer: { note: remark }",
        "items: [VOTE]\nkey: { PK: \"SUB#{subscribe | pad(6)}.{* | shard(20)}\" }",
        "items: [EVENT]\nkey: { PK: \"USER#{userId | pad(6)}\", SK: { between: [\"EVENT#{since | epoch_ms | pad(13)}\", \"EVENT#9\"] } }\n\
         params: { since: \"{now | plus(-7d)}\" }\nsql: \"SELECT 1 FROM events WHERE user_id = :userId AND at >= :since\"",
    ] {
        let text = with(pattern);
        let (model, diagnostics) = check_with(&text, &catalog);
        assert!(
            model.is_some() && diagnostics.is_empty(),
            "{}",
            render("asked.yaml", &text, &diagnostics, false)
        );
    }
}

#[test]
fn a_name_that_an_index_projects_and_no_item_has_is_a_fault() {
    let text =
        with("key: { PK: a, SK: b }").replace("project: [state]", "project: [state, amuont]");
    let (model, diagnostics) = check_with(&text, &asked());
    assert!(model.is_none());
    let reported: Vec<_> = diagnostics
        .iter()
        .filter(|d| d.code.as_str() == "unknown-attribute")
        .collect();
    let [reported] = reported.as_slice() else {
        panic!("{diagnostics:?}");
    };
    assert_eq!(&text[reported.span.clone()], "amuont");
    assert_eq!(reported.help.as_deref(), Some("did you mean `amount`?"));
}

#[test]
fn a_parameter_in_the_sql_of_an_item_type_is_a_fault() {
    for (dbms, item, parameter) in [
        (
            Dbms::Sqlite,
            "from: events, where: state = :state",
            ":state",
        ),
        (
            Dbms::Sqlite,
            "from: events, where: \"state = 'a:b' AND kind = @kind\"",
            "@kind",
        ),
        (Dbms::Mysql, "from: events, where: id > ?", "?"),
        (
            Dbms::Postgres,
            "from: events, attributes: { x: { $value: a, $when: id > $1 } }",
            "$1",
        ),
        (
            Dbms::Postgres,
            "from: { sql: \"SELECT * FROM events WHERE state = :state\", key: [id] }",
            ":state",
        ),
    ] {
        let text = with("key: { PK: a, SK: b }").replace(
            "access_patterns:",
            &format!("  MORE: {{ {item}, key: {{ PK: \"M#{{id}}\", SK: m }}, columns: [] }}\naccess_patterns:"),
        );
        let mut catalog = asked();
        catalog.dbms = dbms;
        let (model, diagnostics) = check_with(&text, &catalog);
        let reported: Vec<_> = diagnostics
            .iter()
            .filter(|d| d.code.as_str() == "sql")
            .collect();
        let [reported] = reported.as_slice() else {
            panic!("{item}: {diagnostics:?}");
        };
        assert!(model.is_none());
        assert_eq!(
            reported.message,
            format!("`{parameter}` is a parameter, and nothing gives it a value")
        );
        assert_eq!(&text[reported.span.clone()], parameter, "{item}");
    }
    // A part of a list is none, nor is what stands in a text.
    let text = with("key: { PK: a, SK: b }").replace(
        "  EVENT:\n    from: events\n",
        "  EVENT:\n    from: events\n    where: \"state = ':a' AND (ARRAY[1,2,3])[1:id] IS NOT NULL AND kind::text <> 'b'\"\n",
    );
    let (_, diagnostics) = check_with(&text, &asked());
    assert!(
        diagnostics.iter().all(|d| d.code.as_str() != "sql"),
        "{diagnostics:?}"
    );
}

#[test]
fn item_types_that_escape_otherwise_are_told_of() {
    let mapping = |sort: &str| {
        format!(
            "dynafold: 1
table: {{ name: portal, key: {{ partition: PK, sort: SK }}, key_escape: percent }}
items:
  EVENT: {{ from: events, key: {{ PK: \"U\", SK: \"{{kind}}#{{id | pad(9)}}\" }}, accept: [single-partition, long-key] }}
  NOTE: {{ from: events, key: {{ PK: \"U\", SK: \"{{kind}}#{sort}{{id | pad(9)}}\" }}, accept: [single-partition, long-key] }}
access_patterns:
  p: {{ items: [EVENT, NOTE], key: {{ PK: U, SK: {{ begins_with: \"{{kind}}#\" }} }} }}
"
        )
    };
    let (_, diagnostics) = check_with(&mapping("@"), &asked());
    let reported = diagnostics
        .iter()
        .find(|d| d.code.as_str() == "parameter-form");
    let message = reported.map(|d| d.message.as_str());
    assert_eq!(
        message,
        Some("`EVENT` and `NOTE` escape values differently in `SK`")
    );
    let (_, diagnostics) = check_with(&mapping(""), &asked());
    assert!(
        diagnostics
            .iter()
            .all(|d| d.code.as_str() != "parameter-form")
    );
}
