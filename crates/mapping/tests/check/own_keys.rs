//! Which keys an item type has made, where nothing but the key tells: `--prune` deletes by it, so that a key which no
//! row can make is never its own.

use dynafold_dynamodb::Attribute;
use dynafold_mapping::model::KeyTexts;
use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms};

use super::check_with;
use super::refused::asked;

fn catalog(dbms: Dbms) -> Catalog {
    let mut catalog = asked();
    catalog.dbms = dbms;
    let zoned = |digits, zone| DataType::Timestamp { digits, zone };
    let columns = [
        ("body", DataType::Text { max_chars: None }),
        ("second", zoned(0, false)),
        ("instant", zoned(6, true)),
        ("token", DataType::Uuid),
    ];
    let columns = columns.map(|(name, data_type)| Column {
        nullable: name == "token",
        ..Column::new(name.to_owned(), String::new(), data_type)
    });
    let mut tables = catalog.tables.iter_mut();
    let events = tables.find(|table| table.name.name == "events").unwrap();
    events.columns.extend(columns);
    for column in &mut events.columns {
        let declared = match column.data_type {
            DataType::Integer { .. } => "integer",
            DataType::Text { .. } => "text",
            _ => continue,
        };
        declared.clone_into(&mut column.declared);
    }
    catalog
}

/// The texts of an item type's key.
fn texts(dbms: Dbms, settings: &str, partition: &str, sort: &str) -> Vec<KeyTexts> {
    let text = format!(
        "dynafold: 1
table: {{ name: app, key: {{ partition: PK, sort: SK }}, type_attribute: false{settings} }}
items:
  EVENT:
    from: events
    key: {{ PK: \"{partition}\", SK: \"{sort}\" }}
"
    );
    let (model, diagnostics) = check_with(&text, &catalog(dbms));
    let model = model.unwrap_or_else(|| panic!("{partition} {sort}: {diagnostics:#?}"));
    model.item_types.into_iter().next().unwrap().key_texts
}

/// A key of text: `A#1 B#2`.
fn key(text: &str) -> Vec<Attribute> {
    let values = text.split(' ').map(|value| Attribute::S(value.into()));
    values.collect()
}

fn holds(dbms: Dbms, settings: &str, templates: &str, own: &[&str], others: &[&str]) {
    let (partition, sort) = templates.split_once(", ").unwrap();
    let texts = texts(dbms, settings, partition, sort);
    for text in own {
        let key = key(text);
        let key: Vec<&Attribute> = key.iter().collect();
        assert!(KeyTexts::own(&texts, &key), "{templates}: {text}");
        assert!(KeyTexts::may_own(&texts, &key), "{templates}: {text}");
    }
    for text in others {
        let key = key(text);
        let key: Vec<&Attribute> = key.iter().collect();
        assert!(!KeyTexts::own(&texts, &key), "{templates}: {text}");
    }
}

#[test]
fn a_default_beside_uuids_has_a_pseudonym_of_its_own_form() {
    let texts = texts(
        Dbms::Postgres,
        "",
        "T#{token | default(none) | pseudonym}",
        "T",
    );
    for text in [
        "T#0a000000-0000-4000-8000-00000000000b T",
        "T#jqbkj47fl42pax5ya5scfzkjii T",
    ] {
        let key = key(text);
        let key: Vec<&Attribute> = key.iter().collect();
        assert!(KeyTexts::may_own(&texts, &key), "{text}");
    }
}

#[test]
fn a_text_that_its_escape_does_not_write_is_not_its_own() {
    let escaped = ", key_escape: percent";
    let (own, others) = (
        ["K#a T", "K#100%25 T", "K#a%23b T", "K#%4B T"],
        [
            "K#100% T",
            "K#a%zz T",
            "K#a%41 T",
            "K#a%2 T",
            "K#K T",
            "K#a#b T",
            "K#%25%2 T",
        ],
    );
    for dbms in [Dbms::Postgres, Dbms::Sqlite] {
        holds(dbms, escaped, "K#{body}, T", &own, &others);
    }
    holds(Dbms::Postgres, escaped, "K#{kind}, T", &own, &others);
    holds(
        Dbms::Postgres,
        "",
        "K#{body}, T",
        &["K#100% T", "K#a#b T"],
        &[],
    );
}

#[test]
fn a_text_that_a_filter_makes_of_no_time_is_not_its_own() {
    let zone = ", time_zone: America/New_York";
    for (settings, templates, own, others) in [
        (
            "",
            "D#{day | epoch}, T",
            "D#0 D#1767225600 D#-86400",
            "D#5 D#1767225601 D#999999999999999 D#9999999936000000 D#00 D#-0",
        ),
        (
            "",
            "D#{day | epoch_ms}, T",
            "D#0 D#1767225600000",
            "D#1767225600 D#1767225600001",
        ),
        // Not told from other times of the day.
        (
            "",
            "D#{day | iso}, T",
            "",
            "D#2026-01-01T00:00:00Z D#2026-01-01T00:00:01Z",
        ),
        (
            "",
            "D#{second | epoch_ms}, T",
            "D#1767225601000 D#-1000",
            "D#1767225601001 D#-1",
        ),
        (
            "",
            "D#{second | epoch}, T",
            "D#1767225601 D#-1",
            "D#999999999999999",
        ),
        (
            "",
            "D#{at | epoch_ms}, T",
            "D#1767225601001 D#-1",
            "D#9999999999999999",
        ),
        ("", "D#{instant | epoch_ms}, T", "D#1767225601001 D#-1", ""),
        (
            "",
            "D#{at | iso}, T",
            "D#2026-01-01T00:00:01.123Z",
            "D#2026-01-01T24:00:01.123Z D#2026-02-30T00:00:01.123Z",
        ),
        (
            "",
            "D#{at | date}, T",
            "D#2026-01-01",
            "D#2026-02-30 D#0000-01-01",
        ),
        ("", "D#{day | date}, T", "D#2026-01-01", "D#2026-02-30"),
        // Which times a zone has is not worked out: all are unclear.
        (zone, "D#{day | epoch}, T", "", "D#1767243600 D#1767225600"),
        (zone, "D#{second | iso}, T", "", "D#2026-11-01T05:30:00Z"),
        (zone, "D#{at | date}, T", "", "D#2026-01-01"),
        (
            zone,
            "D#{instant | epoch}, T",
            "D#1767225600",
            "D#999999999999999",
        ),
    ] {
        let all = |list: &'static str| list.split_whitespace().map(|one| format!("{one} T"));
        let (own, others): (Vec<_>, Vec<_>) = (all(own).collect(), all(others).collect());
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        holds(Dbms::Postgres, settings, templates, &own, &others);
    }
}

#[test]
fn the_values_of_one_column_in_a_key_agree() {
    let escaped = ", key_escape: percent";
    for (settings, templates, own, others) in [
        (
            "",
            "S#{id | shard(10)}, P#{id}",
            ["S#6 P#7"].as_slice(),
            "S#0 P#7,S#1 P#7,S#9 P#7",
        ),
        (
            "",
            "S#{id | shard(10)}, P#{id | pad(4)}",
            ["S#6 P#0007"].as_slice(),
            "S#0 P#0007",
        ),
        (
            "",
            "{user_id}#{id | shard(10)}, P#{id}",
            ["5#6 P#7"].as_slice(),
            "6#5 P#7",
        ),
        ("", "A#{id}, B#{id}", ["A#7 B#7"].as_slice(), "A#7 B#8"),
        (
            "",
            "A#{id}, B#{id | pad(4)}",
            ["A#7 B#0007"].as_slice(),
            "A#7 B#0008",
        ),
        ("", "A#{id}#{id}, B", ["A#7#7 B"].as_slice(), "A#7#8 B"),
        (
            "",
            "A#{body}-{body}, B",
            ["A#x-y-x-y B"].as_slice(),
            "A#x-y B,A#x-y-x B",
        ),
        (
            escaped,
            "A#{body}, {body}",
            ["A#%23 #"].as_slice(),
            "A#%23 %23,A#%25 25",
        ),
        (
            "",
            "D#{day}, {day | epoch}#{id}",
            [].as_slice(),
            "D#2026-01-01 1767225600#1,D#2026-01-02 1767225600#1",
        ),
    ] {
        let others: Vec<&str> = others.split(',').collect();
        holds(Dbms::Postgres, settings, templates, own, &others);
    }
}
