//! A sound mapping with one line broken: `check` finds the fault, in its place, and nothing else.

use dynafold_mapping::diagnostic::render;
use dynafold_relational::catalog::{Catalog, DataType, Dbms};

use super::{catalog, check_with};

const SOUND: &str = include_str!("sound.yaml");

/// What is written, what stands there instead, the code, and the text of its place.
const BROKEN: &[(&str, &str, &str, &str)] = &[
    // Keys.
    (
        "{user_id | pad(6)}#{service}\", SK: \"SETTING#{",
        "{service}\", SK: \"SETTING#{user_id | pad(3)}#{",
        "",
        "",
    ),
    (
        "SK: \"SETTING#{setting_type}\"",
        "SK: \"SETTING#\"",
        "key-not-unique",
        "\"SETTING#{user_id | pad(6)}#{service}\"",
    ),
    (
        "#{service}\", SK: \"SETTING#{setting_type}\"",
        "\", SK: \"SETTING#{service}#{setting_type}\"",
        "key-unproved",
        "\"SETTING#{service}#{setting_type}\"",
    ),
    (
        "PK: \"USER#{id | pad(6)}\"",
        "PK: \"USER#{email}\"",
        "key-not-unique parameter-form",
        "\"USER#{email}\"",
    ),
    (
        "{ PK: \"SERVICE#{service}\"",
        "{ PK: \"SERVICE#{service | truncate(8)}\"",
        "key-unproved",
        "\"SERVICE#{service | truncate(8)}\"",
    ),
    (
        "PK: \"SUBSCRIBE#{id | pad(6)}\"",
        "PK: \"SUBSCRIBE#{id | shard(9)}\"",
        "key-unproved",
        "\"SUBSCRIBE#{id | shard(9)}\"",
    ),
    (
        "SK: \"SUBSCRIBE#{subscribe_id | pad(6)}\"",
        "SK: \"SUBSCRIBE#{s.title}\"",
        "key-not-unique",
        "\"USER#{user_id | pad(6)}\"",
    ),
    (
        "{ PK: \"SERVICE#{service}\", SK: \"SERVICE#\"",
        "{ PK: \"USER#{service}\", SK: \"USER#\"",
        "same-key extra-items",
        "\"USER#\"",
    ),
    (
        "{ PK: \"SERVICE#{service}\"",
        "{ PK: SERVICES",
        "single-partition key-not-unique",
        "SERVICES",
    ),
    (
        "{ PK: \"SERVICE#{service}\"",
        "{ PK: \"{service}\"",
        "empty-key",
        "\"{service}\"",
    ),
    (
        "PK: \"USER#{id | pad(6)}\", SK: \"USER#\"",
        "PK: \"USER#{id | pad(6)}\", SK: \"GENDER#{gender}\"",
        "nullable-key",
        "\"GENDER#{gender}\"",
    ),
    (
        "PK: \"USER#{id | pad(6)}\", SK: \"USER#\"",
        "PK: \"USER#{id}\", SK: \"USER#{id}\"",
        "unpadded-number parameter-form",
        "\"USER#{id}\"",
    ),
    // Attributes and indexes.
    (
        "GSI1SK: \"SUBSCRIBE#{title}\"",
        "GSI1SK: \"SUBSCRIBE#{id}\"",
        "unpadded-number",
        "\"SUBSCRIBE#{id}\"",
    ),
    (
        "  GSI1PK: \"MAIL#{email}\"",
        "  GSI1PK: \"{email}\"",
        "empty-key",
        "\"{email}\"",
    ),
    (
        "  GSI1PK: \"MAIL#{email}\"",
        "  GSI1PK: \"MAIL#{email}#{email}#{email}\"",
        "long-key",
        "\"MAIL#{email}#{email}#{email}\"",
    ),
    (
        "  GSI1PK: \"MAIL#{email}\"",
        "  GSI1PK: \"{id}\"",
        "key-type",
        "\"{id}\"",
    ),
    (
        "  GSI1PK: \"MAIL#{email}\"",
        "  GSI1PK: MAIL",
        "single-partition never-matches",
        "GSI1",
    ),
    (
        "    GSI1: { partition: GSI1PK, sort: GSI1SK }\n",
        "    GSI1: { partition: GSI1PK, sort: GSI1SK }\n    GSI2: { partition: GSI2PK }\n",
        "empty-index",
        "GSI2",
    ),
    (
        "columns: [email, name, gender]",
        "columns: [email, nmae, gender]",
        "unknown-column",
        "nmae",
    ),
    (
        "columns: [title, ",
        "columns: [title, GSI1PK, ",
        "unknown-column",
        "GSI1PK",
    ),
    (
        "from: services",
        "from: service",
        "unknown-table",
        "service",
    ),
    (
        "join: { s: subscribe_id }",
        "join: { t: subscribe_id }",
        "unknown-alias",
        "s.title",
    ),
    (
        "\"SETTING#{user_id | pad(6)}",
        "\"SETTING#{user_id | pd(6)}",
        "unknown-filter",
        "pd(6)",
    ),
    // Access patterns.
    (
        "begins_with: \"SUBSCRIBE#\" } }\n  userByMail",
        "begins_with: \"SUBS\" } }\n  userByMail",
        "",
        "",
    ),
    (
        "items: [USER, SUBSCRIBE_USER]",
        "items: [USER]",
        "extra-items",
        "user",
    ),
    (
        "{ PK: \"USER#{userId | pad(6)}\" }",
        "{ PK: \"USER#{userId | pad(5)}\" }",
        "never-matches never-matches",
        "USER",
    ),
    (
        "GSI1SK: { begins_with: \"SUBSCRIBE#\" }",
        "GSI1SK: { begins_with: \"SUBSCRIPTION#\" }",
        "never-matches",
        "SUBSCRIBE",
    ),
    (
        "{ GSI1PK: \"MAIL#{email}\" }",
        "{ GSI1PK: \"EMAIL#{email}\" }",
        "never-matches",
        "USER",
    ),
    (
        "{ GSI1PK: \"MAIL#{email}\" }",
        "{ GSI1SK: \"MAIL#{email}\" }",
        "access-pattern",
        "userByMail",
    ),
    // Acceptances.
    (
        "    from: services\n",
        "    from: services\n    accept: [key-unproved]\n",
        "unneeded-acceptance",
        "key-unproved",
    ),
    (
        "    from: services\n",
        "    from: services\n    accept: [unknown-table]\n",
        "wrong-value",
        "unknown-table",
    ),
    (
        "    from: services\n",
        "    from: services\n    accept: [same-kye]\n",
        "wrong-value",
        "same-kye",
    ),
];

/// The catalog of pattern 1 as PostgreSQL has it, where a column holds what its type says.
fn typed() -> Catalog {
    let mut catalog = catalog();
    catalog.dbms = Dbms::Postgres;
    for column in catalog
        .tables
        .iter_mut()
        .flat_map(|table| &mut table.columns)
    {
        if column.name == "setting_type" {
            column.data_type = DataType::Text {
                max_chars: Some(30),
            };
        }
    }
    catalog
}

#[test]
fn the_sound_mapping_is_sound() {
    for catalog in [catalog(), typed()] {
        let (model, diagnostics) = check_with(SOUND, &catalog);
        assert!(
            model.is_some() && diagnostics.is_empty(),
            "{}",
            render("sound.yaml", SOUND, &diagnostics, false)
        );
    }
}

#[test]
fn each_broken_line_is_found_and_nothing_else() {
    let mut wrong = Vec::new();
    for (sound, broken, codes, place) in BROKEN {
        assert_eq!(SOUND.matches(sound).count(), 1, "{sound}");
        let text = SOUND.replace(sound, broken);
        let (_, diagnostics) = check_with(&text, &typed());
        let found: Vec<&str> = diagnostics.iter().map(|d| d.code.as_str()).collect();
        let at = diagnostics.first().map_or("", |d| &text[d.span.clone()]);
        if found.join(" ") != *codes || at != *place {
            let shown = render("broken.yaml", &text, &diagnostics, false);
            wrong.push(format!(
                "{broken}\nwanted {codes:?} at {place:?}, found {found:?} at {at:?}\n{shown}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_accepted_is_no_warning() {
    let broken = SOUND.replace(
        "#{service}\", SK: \"SETTING#{setting_type}\"",
        "\", SK: \"SETTING#{service}#{setting_type}\"",
    );
    let accepted = broken.replace(
        "    from: personal_settings\n",
        "    from: personal_settings\n    accept: [key-unproved]\n",
    );
    let (model, diagnostics) = check_with(&accepted, &typed());
    assert!(
        model.is_some() && diagnostics.is_empty(),
        "{diagnostics:#?}"
    );
}

#[test]
fn advice_on_an_empty_key_of_an_index_keeps_the_row_and_ends_the_warning() {
    let help = |text: &str| {
        let (_, diagnostics) = check_with(text, &typed());
        diagnostics.first().and_then(|d| d.help.clone())
    };
    let empty = SOUND.replace("GSI1PK: \"MAIL#{email}\"\n", "GSI1PK: \"{email}\"\n");
    let advised = "GSI1PK: { $value: \"{email}\", $when: \"email <> ''\" }";
    assert!(help(&empty).is_some_and(|help| help.ends_with(advised)));
    let mended = empty.replace("GSI1PK: \"{email}\"", advised);
    assert_eq!(help(&mended), None);
}

#[test]
fn a_tab_and_a_directive_out_of_place_are_told_in_plain_words() {
    for (sound, broken, message, help) in [
        (
            "    columns: [email, name, gender]",
            "\tcolumns: [email, name, gender]",
            "a tab where YAML allows only spaces",
            "indent with spaces",
        ),
        (
            "    columns: [email, name, gender]",
            "    columns: [email, name, gender]\n    embed: services",
            "has no key `embed`",
            "`$embed` is a directive: under `attributes`, write NAME: { $embed: … }",
        ),
    ] {
        let text = SOUND.replace(sound, broken);
        let (_, diagnostics) = check_with(&text, &typed());
        let found = diagnostics.first().expect("a diagnostic");
        assert!(found.message.contains(message), "{found:?}");
        assert!(
            found.help.as_ref().is_some_and(|h| h.contains(help)),
            "{found:?}"
        );
    }
}
