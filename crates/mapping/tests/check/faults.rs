//! A case for every diagnostic code: the least mapping that shows it, and nothing else.

use dynafold_mapping::diagnostic::{Code, Severity};
use dynafold_mapping::template::{Context, Filter};
use dynafold_mapping::{Described, Raw, resolve};
use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, Table, TableKind};
use dynafold_relational::value::Value;

use super::{catalog, check_with};

/// A whole mapping with one item type, into which the cases put their lines.
fn mapping(table: &str, item: &str, rest: &str) -> String {
    let table = if table.is_empty() {
        "name: portal, key: { partition: PK, sort: SK }"
    } else {
        table
    };
    let item = if item.is_empty() {
        "from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" }"
    } else {
        item
    };
    format!("dynafold: 1\ntable: {{ {table} }}\nitems:\n  USER: {{ {item} }}\n{rest}")
}

fn table(text: &str) -> String {
    mapping(text, "", "")
}

fn item(text: &str) -> String {
    mapping("", text, "")
}

/// Each code with mappings that show it, and the text that its place underlines.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn cases() -> Vec<(Code, String, &'static str)> {
    const KEY: &str = "key: { PK: \"USER#{id}\", SK: \"USER#\" }";
    let plain = |text: &str| format!("name: portal, key: {{ partition: PK, sort: SK }}, {text}");
    let user = |text: &str| item(&format!("from: users, {KEY}, {text}"));
    vec![
        (Code::Yaml, "dynafold: [1".to_owned(), ""),
        (Code::Yaml, String::new(), ""),
        (Code::UnknownKey, user("colums: [id]"), "colums"),
        (Code::DuplicateKey, user("nulls: keep, nulls: omit"), "nulls"),
        (Code::DuplicateKey, mapping("name: portal, key: { partition: PK, sort: PK }", "from: users, key: { PK: \"USER#{id}\" }", ""), "PK"),
        (Code::DuplicateKey, table(&plain("indexes: { GSI: { partition: email, project: [name, name] } }")), "name"),
        (Code::MissingKey, "dynafold: 1\nitems: {}".to_owned(), "dynafold"),
        (Code::MissingKey, item("from: users, key: { PK: \"USER#{id}\" }"), "USER"),
        (Code::MissingKey, "dynafold: 1\ntable: { name: portal, key: { partition: PK } }\nitems: {}".to_owned(), ""),
        (Code::WrongShape, user("omit: name"), "name"),
        (Code::WrongShape, user("attributes: [a]"), "[a]"),
        (Code::WrongValue, user("nulls: maybe"), "maybe"),
        (Code::WrongValue, "dynafold: 2\ntable: { name: portal, key: { partition: PK } }\nitems: { U: { from: users, key: { PK: \"{id}#\" } } }".to_owned(), "2"),
        (Code::WrongValue, table("name: portal, key: { partition: PK, sort: SK }, time_zone: Mars/Base"), "Mars/Base"),
        (Code::WrongValue, table("name: portal, key: { partition: PK, sort: SK }, indexes: { GSI: { partition: email, project: [] } }"), "[]"),
        (Code::WrongValue, user("columns: [], attributes: { $spread: name }"), "name"),
        (Code::Template, item("from: users, key: { PK: \"USER#{* | shard(4)}\", SK: \"USER#\" }"), "*"),
        (Code::WrongValue, user("write_rate: 0"), "0"),
        (Code::WrongValue, user("expired: skip"), "skip"),
        (Code::WrongValue, mapping(&plain("ttl: ends"), &format!("from: users, {KEY}, expired: archive"), ""), "archive"),
        (Code::WrongValue, table(&plain("replicas: [Frankfurt]")), "Frankfurt"),
        (Code::WrongValue, table(&plain("stream: keys-only, replicas: [eu-west-1]")), "keys-only"),
        (Code::WrongValue, table(&plain("stream: NEW_IMAGE")), "NEW_IMAGE"),
        (Code::WrongValue, table(&plain("billing: { read: 10, write: 20, autoscale: { max: 100, target: 95 } }")), "{ max: 100, target: 95 }"),
        (Code::WrongValue, table(&plain("billing: { read: 10, write: 20, autoscale: { max: 10, target: 70 } }")), "{ max: 10, target: 70 }"),
        (Code::WrongValue, table(&plain("billing: { read: 10, write: 20, autoscale: { min: 11, max: 100, target: 70 } }")), "{ min: 11, max: 100, target: 70 }"),
        (Code::DuplicateKey, table(&plain("replicas: [eu-west-1, eu-west-1]")), "eu-west-1"),
        (Code::WrongValue, user("write_rate: many"), "many"),
        (Code::UnsetVariable, table("name: \"${NOT_SET}\", key: { partition: PK, sort: SK }"), "\"${NOT_SET}\""),
        (Code::Template, item("from: users, key: { PK: \"USER#{id\", SK: \"USER#\" }"), "{id"),
        (Code::UnquotedTemplate, user("columns: [], attributes: { n: {name} }"), "{name}"),
        (Code::UnknownFilter, user("columns: [], attributes: { n: \"{name | uper}\" }"), "uper"),
        (Code::FilterArguments, user("columns: [], attributes: { n: \"{id | pad(x)}\" }"), "pad(x)"),
        (Code::FilterType, user("columns: [], attributes: { n: \"{name | pad(3)}\" }"), "pad(3)"),
        (Code::FilterType, user("columns: [], attributes: { n: \"{name | time('%Y-%m-%d') | plus(1h)}\" }"), "plus(1h)"),
        (Code::FilterType, user("columns: [], attributes: { n: \"{id | default(-1) | pad(3)}\" }"), "pad(3)"),
        (Code::FilterArguments, user("columns: [], attributes: { n: \"{id | map(a: x, *: y)}\" }"), "map(a: x, *: y)"),
        (Code::WrongValue, user("columns: [], attributes: { n: { $value: \"n{id}\", $type: N } }"), "N"),
        (Code::WrongValue, user("columns: [], attributes: { n: { $value: \"{name}\", $type: NS } }"), "NS"),
        (Code::UnknownTable, item("from: user, key: { PK: \"USER#\", SK: \"USER#\" }"), "user"),
        (Code::UnreadableTable, item("from: services, key: { PK: \"S#{service}\", SK: \"S#\" }"), "services"),
        (Code::UnknownColumn, user("columns: [nme]"), "nme"),
        (Code::UnknownColumn, user("columns: [], attributes: { n: \"{id.member}\" }"), "id.member"),
        (Code::UnknownAlias, user("columns: [], attributes: { n: \"{s.title}\" }"), "s.title"),
        (Code::Join, user("join: { s: name }"), "name"),
        (Code::Join, user("join: { s: { table: subscribes, match: { id: name } } }"), "name"),
        (Code::Join, user("join: { s: { table: subscribe_users, match: { user_id: id } } }"), "s"),
        (Code::UnprovenJoin, user("join: { s: { table: subscribes, match: { id: name } } }"), "name"),
        (Code::UnprovenJoin, user("attributes: { x: { $embed: subscribe_users, $match: { user_id: gender } } }"), "gender"),
        (Code::UnknownAlias, user("columns: [], attributes: { x: \"{t.$index}\" }"), "t.$index"),
        (Code::Directive, user("attributes: { x: { $when: \"id > 1\" } }"), "$when"),
        (Code::Directive, user("attributes: { x: { $value: \"{id}\" } }"), "$value"),
        (Code::Directive, user("attributes: { x: { $embed: subscribe_users, $as: map } }"), "$as"),
        (Code::Directive, user("attributes: { $embed: subscribe_users }"), "$embed"),
        (Code::Embed, user("attributes: { x: { $embed: services } }"), "services"),
        (Code::Embed, user("attributes: { x: { $embed: subscribes, $match: { service: id } } }"), "id"),
        (Code::Embed, user("attributes: { x: { $embed: subscribe_users, $each: { s: \"{subscribe_id}\" }, $as: set } }"), "{ s: \"{subscribe_id}\" }"),
        (Code::Explode, user("explode: { t: id }"), "id"),
        (Code::AttributeClash, user("attributes: { name: x }"), "x"),
        (Code::KeyType, item("from: users, key: { PK: \"{id}\", SK: \"USER#\" }"), "\"{id}\""),
        (Code::KeyType, mapping(
                "name: portal, key: { partition: PK, sort: SK }, indexes: { GSI1: { partition: { name: email, type: S } }, GSI2: { partition: { name: email, type: N } } }",
                "",
                "",
            ), "email"),
        (Code::TtlType, mapping("name: portal, key: { partition: PK, sort: SK }, ttl: name", "", ""), "USER"),
        (Code::TtlType, mapping(&plain("ttl: ends"), &format!("from: users, {KEY}, attributes: {{ ends: {{ $value: \"{{name | time('%Y-%m-%d') | epoch_ms}}\", $when: \"id > 3\" }} }}"), ""), "{ $value: \"{name | time('%Y-%m-%d') | epoch_ms}\", $when: \"id > 3\" }"),
        (Code::UnknownAttribute, mapping(&plain("ttl: emial"), &format!("from: users, {KEY}, columns: [email]"), ""), "emial"),
        (Code::Compress, user("oversize: { compress: [SK] }"), "SK"),
        (Code::Compress, user("oversize: { compress: [nme] }"), "nme"),
        (Code::Compress, user("oversize: { compress: [id] }"), "id"),
        (Code::Compress, user("oversize: { compress: [name, name] }"), "name"),
        (Code::Name, table(&plain("tags: { \"aws:team\": shop }")), "\"aws:team\""),
        (Code::Name, table("name: a b, key: { partition: PK, sort: SK }"), "a b"),
        (Code::Name, table(&plain("type_attribute: \"\"")), "\"\""),
        (Code::Name, user("attributes: { \"\": x }"), "\"\""),
        (Code::Name, user("attributes: { x: { \"\": x } }"), "\"\""),
        (Code::Name, user("attributes: { x: { $embed: subscribe_users } }"), "subscribe_users"),
        (Code::Name, item("from: services, key: { PK: \"S#{service}\", SK: \"S#\" }"), "USER"),
        (Code::Limit, mapping("name: portal, key: { partition: PK }, local_indexes: { LSI: { sort: name } }", "from: users, key: { PK: \"U#{id}\" }", ""), "LSI"),
        (Code::Limit, table(&plain("warm_throughput: { read: 12000, write: 3999 }")), "{ read: 12000, write: 3999 }"),
        (Code::Limit, table(&plain("billing: { read: 5, write: 5 }, warm_throughput: { read: 4, write: 5 }")), "{ read: 4, write: 5 }"),
        (Code::UnprovenJoin, user("join: { s: { table: services, match: { name: name } } }"), "s"),
        (Code::PrintedType, item("from: services, key: { PK: \"S#{service}\", SK: \"S#\" }"), "USER"),
        (Code::InvisibleColumn, item("from: services, key: { PK: \"S#{service}\", SK: \"S#\" }"), "USER"),
        (Code::HiddenColumns, item("from: services, key: { PK: \"S#{service}\", SK: \"S#\" }"), "USER"),
        (Code::HiddenRows, item("from: services, key: { PK: \"S#{service}\", SK: \"S#\" }"), "USER"),
        (Code::LooksLikeAPlaceholder, user("attributes: { mail: \"{{email}}\" }"), "\"{{email}}\""),
        (Code::LooksLikeAPlaceholder, user("attributes: { mail: email }"), "email"),
        (Code::LooksLikeAPlaceholder, user("attributes: { mail: [{ to: \"${email}\" }] }"), "\"${email}\""),
        (Code::NullableKey, item("from: users, key: { PK: \"U#{id | pad(3)}#{gender}\", SK: \"U#\" }"), "\"U#{id | pad(3)}#{gender}\""),
        (Code::RefusedValues, item("from: users, key: { PK: \"U#{id | pad(3)}\", SK: \"U#\" }"), "pad(3)"),
        (Code::NullableKey, item("from: subscribe_users, key: { PK: \"U#{user_id}\", SK: \"S#{subscribe_id | pad(9)}\" }, attributes: { x: { $embed: users, $match: { id: user_id }, $each: 1, $as: map, $key: \"{gender}\" } }"), "\"{gender}\""),
        (Code::KeyNotUnique, user("attributes: { x: { $embed: personal_settings, $each: \"{setting_type}\", $as: set } }"), "\"{setting_type}\""),
        (Code::KeyNotUnique, user("attributes: { x: { $embed: personal_settings, $each: 1, $as: map, $key: \"{service}\" } }"), "\"{service}\""),
        (Code::SinglePartition, mapping("name: portal, key: { partition: PK, sort: SK }, indexes: { GSI: { partition: SK } }", "", ""), "GSI"),
        (Code::SinglePartition, mapping("name: portal, key: { partition: PK, sort: SK }, indexes: { GSI: { partition: open } }", &format!("from: users, {KEY}, attributes: {{ open: {{ $value: OPEN, $when: \"id > 3\" }} }}"), ""), "GSI"),
        (Code::SameKey, mapping("", "", "  OTHER: { from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" } }"), "\"USER#\""),
        (Code::KeyNotUnique, item("from: users, key: { PK: \"U#{name}\", SK: \"U#\" }"), "\"U#{name}\""),
        // Values that run into each other.
        (Code::KeyUnproved, item("from: personal_settings, key: { PK: \"U#{user_id}\", SK: \"S#{service}{setting_type}\" }"), "\"S#{service}{setting_type}\""),
        (Code::KeyUnproved, item("from: services, key: { PK: \"S#{service | lower}\", SK: \"S#\" }"), "\"S#{service | lower}\""),
        (Code::KeyUnproved, item("from: personal_settings, key: { PK: \"U#{user_id}\", SK: \"S#{service}#{setting_type}\" }"), "\"S#{service}#{setting_type}\""),
        (Code::EmptyKey, item("from: users, key: { PK: \"{email}\", SK: \"{id | pad(3)}\" }"), "\"{email}\""),
        (Code::LongKey, item("from: users, key: { PK: \"U#{id}\", SK: \"U#{email}#{name}\" }"), "\"U#{email}#{name}\""),
        (Code::UnpaddedNumber, item("from: users, key: { PK: \"U#{id}\", SK: \"U#{id}\" }"), "\"U#{id}\""),
        (Code::UnorderedTime, item("from: users, key: { PK: \"U#{id}\", SK: \"{name | time('%Y-%m-%d') | format('%d.%m.%Y')}\" }"), "\"{name | time('%Y-%m-%d') | format('%d.%m.%Y')}\""),
        (Code::UnneededAcceptance, user("accept: [single-partition]"), "single-partition"),
        (Code::EscapedOrder, mapping(&plain("key_escape: percent"), "from: users, key: { PK: \"USER#{id}\", SK: \"V1#{id | pad(9)}\" }", ""), "\"V1#{id | pad(9)}\""),
        (Code::FewValues, item("from: users, key: { PK: \"{gender | present(M, X)}\", SK: \"{id | pad(9)}\" }, write_rate: 2001"), "\"{gender | present(M, X)}\""),
        (Code::ShardCount, item("from: users, key: { PK: \"USERS#{id | shard(2)}\", SK: \"{id | pad(9)}\" }, write_rate: 2001"), "\"USERS#{id | shard(2)}\""),
        (Code::EmptyIndex, table("name: portal, key: { partition: PK, sort: SK }, indexes: { GSI: { partition: data } }"), "GSI"),
        (Code::EmptyIndex, table("name: portal, key: { partition: PK, sort: SK }, local_indexes: { LSI: { sort: data } }"), "LSI"),
        (Code::NeverMatches, user("where: gender = NULL"), "gender = NULL"),
        (Code::NeverMatches, user("where: \"'name' IS NULL\""), "\"'name' IS NULL\""),
        (Code::NeverMatches, user("where: \"'name' = 'Ann'\""), "\"'name' = 'Ann'\""),
        (Code::Yaml, mapping("", "", "  access_patterns: { user: { key: { PK: \"USER#{id}\" } } }"), "access_patterns"),
        (Code::NeverMatches, user("where: id > 3 AND (name IS NULL)"), "id > 3 AND (name IS NULL)"),
        (Code::NeverMatches, user("attributes: { x: { $value: 1, $when: gender <> NULL } }"), "gender <> NULL"),
        (Code::NeverMatches, user("attributes: { x: { $embed: subscribe_users, $where: user_id IS NULL } }"), "user_id IS NULL"),
        (Code::Unchecked, item("from: { sql: SELECT 1 AS id, key: [id] }, key: { PK: \"U#{id}\", SK: \"U#\" }, columns: []"), "SELECT 1 AS id"),
    ]
}

/// The same for access patterns.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn pattern_cases() -> Vec<(Code, String, &'static str)> {
    let asked = |item: &str, pattern: &str| {
        let item = format!("from: users, key: {{ {item} }}, accept: [key-unproved, empty-key]");
        mapping(
            "",
            &item,
            &format!("access_patterns: {{ p: {{ {pattern} }} }}"),
        )
    };
    let p = |pattern: &str| {
        mapping(
            "",
            "",
            &format!("access_patterns: {{ p: {{ {pattern} }} }}"),
        )
    };
    let login = "  LOGIN: { from: users, key: { PK: \"USER#{id}\", SK: LOGIN }, columns: [] }\n\
                 access_patterns: { p: { items: [USER], key: { PK: \"USER#{id}\" } } }";
    let keys = "name: portal, key: { partition: PK, sort: SK }, \
                indexes: { GSI: { partition: SK, sort: PK, project: keys, accept: [single-partition] } }";
    let held = "access_patterns: { p: { index: GSI, key: { SK: USER# }, filter: name = :name } }";
    let shards = asked(
        "PK: \"USER#{id | shard(9)}\", SK: \"{email}\"",
        "key: { PK: \"USER#{* | shard(8)}\" }",
    );
    let padded = mapping(
        "",
        "from: users, key: { PK: \"USER#{id | pad(9)}\", SK: \"USER#\" }",
        "access_patterns: { p: { items: [USER], key: { PK: \"USER#{id}\" } } }",
    );
    let user = "key: { PK: \"USER#{id}\" }";
    vec![
        (
            Code::HotReads,
            p("key: { PK: USER#1 }, consistent: true, rate: 3001"),
            "p",
        ),
        (
            Code::ExpiredItems,
            mapping(
                "name: portal, key: { partition: PK, sort: SK }, ttl: ends",
                "from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" }, attributes: { ends: 4102444800 }",
                "access_patterns: { p: { key: { PK: \"USER#{id}\" } } }",
            ),
            "p",
        ),
        (
            Code::TextOrder,
            p("key: { PK: USER#1 }, sql: SELECT id FROM users ORDER BY email COLLATE NOCASE"),
            "email COLLATE NOCASE",
        ),
        (
            Code::OtherOrder,
            p("key: { PK: USER#1 }, limit: 17, sql: SELECT id FROM users LIMIT 18"),
            "17",
        ),
        (
            Code::InsensitiveKey,
            mapping(
                "",
                "from: users, key: { PK: \"U#{name}\", SK: \"U#{id | pad(9)}\" }",
                "access_patterns: { p: { items: [USER], key: { PK: \"U#{naming}\" }, sql: \"SELECT id FROM users WHERE name = :naming\" } }",
            ),
            "{naming}",
        ),
        (
            Code::RangeEnd,
            mapping(
                "",
                "from: users, key: { PK: USERS, SK: \"{name}#{id}\" }, accept: [single-partition, key-unproved, unpadded-number]",
                "access_patterns: { p: { key: { PK: USERS, SK: { le: \"{name}\" } } } }",
            ),
            "\"{name}\"",
        ),
        (
            Code::UnusedParameter,
            p("key: { PK: \"USER#{userId}\" }, sql: SELECT id FROM users WHERE id = ':userId'"),
            "SELECT id FROM users WHERE id = ':userId'",
        ),
        (
            Code::UnusedParameter,
            p("key: { PK: \"USER#{userId}\" }, sql: SELECT id FROM users"),
            "SELECT id FROM users",
        ),
        (Code::UnknownIndex, p("index: GSI1, key: { PK: a }"), "GSI1"),
        (Code::AccessPattern, p("key: { SK: a }"), "p"),
        (
            Code::AccessPattern,
            p("key: { PK: \"{* | pad(4)}\" }"),
            "\"{* | pad(4)}\"",
        ),
        (
            Code::AccessPattern,
            p("key: { PK: a, SK: \"{* | shard(4)}\" }"),
            "\"{* | shard(4)}\"",
        ),
        (
            Code::AccessPattern,
            p("key: { PK: { lt: a } }"),
            "{ lt: a }",
        ),
        (
            Code::AccessPattern,
            p("items: [USR], key: { PK: a }"),
            "USR",
        ),
        (Code::ExtraItems, mapping("", "", login), "p"),
        (
            Code::NeverMatches,
            p("items: [USER], key: { PK: \"USR#{id}\" }"),
            "USER",
        ),
        (Code::Shards, shards, "{* | shard(8)}"),
        (
            Code::RollUp,
            item(
                "from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" }, roll_up: { of: USR, count: id, schedule: rate(1 hour) }",
            ),
            "USR",
        ),
        (
            Code::Parameter,
            p(&format!("{user}, params: {{ ID: users.id }}")),
            "ID",
        ),
        (Code::Filter, p(&format!("{user}, filter: name")), "name"),
        (
            Code::UnknownAttribute,
            p(&format!("{user}, filter: nme = :name")),
            "nme",
        ),
        (Code::NotProjected, mapping(keys, "", held), "name"),
        (Code::ParameterForm, padded, "{id}"),
    ]
}

/// Codes that only a connection shows; tests of the commands cover them.
const ONLINE: &[Code] = &[Code::Sql, Code::UnprovedAnswer];

/// The catalog of pattern 1, with what a case needs of it changed.
fn catalog_for(code: Code) -> Catalog {
    let mut catalog = catalog();
    let services = catalog
        .tables
        .iter_mut()
        .find(|t| t.name.name == "services")
        .unwrap();
    services.readable = code != Code::UnreadableTable;
    if matches!(code, Code::LongKey | Code::Join | Code::Embed) {
        catalog.dbms = Dbms::Postgres;
        return catalog;
    }
    if code == Code::Name {
        let tables = catalog.tables.iter_mut();
        let nameless = tables.filter(|t| ["services", "subscribe_users"].contains(&&*t.name.name));
        for table in nameless {
            let text = DataType::Text { max_chars: None };
            let column = Column::new(String::new(), "text".to_owned(), text);
            table.columns.push(column);
        }
        return catalog;
    }
    if code == Code::UnprovenJoin {
        services.kind = TableKind::View;
        services.primary_key.clear();
    }
    if code == Code::InsensitiveKey {
        let mut tables = catalog.tables.iter_mut();
        let users = tables.find(|t| t.name.name == "users").unwrap();
        let mut columns = users.columns.iter_mut();
        let name = columns.find(|c| c.name == "name").unwrap();
        (name.insensitive, name.collation) = (true, Some("NOCASE".to_owned()));
        return catalog;
    }
    if code == Code::RefusedValues {
        let mut tables = catalog.tables.iter_mut();
        let users = tables.find(|t| t.name.name == "users").unwrap();
        users.estimated_rows = Some(60_000);
        return catalog;
    }
    if code == Code::PrintedType {
        services.columns[1].data_type = DataType::Printed;
    }
    services.hidden_columns = (code == Code::HiddenColumns).then(|| vec!["secret".to_owned()]);
    services.row_security = code == Code::HiddenRows;
    services.columns[1].invisible = code == Code::InvisibleColumn;
    catalog
}

#[test]
fn every_code_has_a_case_that_shows_it_and_nothing_else() {
    let mut wrong = Vec::new();
    for (code, text, place) in cases().into_iter().chain(pattern_cases()) {
        let (model, diagnostics) = check_with(&text, &catalog_for(code));
        let codes: Vec<&str> = diagnostics.iter().map(|d| d.code.as_str()).collect();
        let places: Vec<&str> = diagnostics.iter().map(|d| &text[d.span.clone()]).collect();
        let is_error = code.severity() == Severity::Error;
        if codes != [code.as_str()] || places != [place] || model.is_none() != is_error {
            wrong.push(format!(
                "{}: {codes:?} at {places:?}, wanted {place:?}\n{text}",
                code.as_str()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_no_set_can_hold_is_called_a_member() {
    let each = "$each: { s: \"{subscribe_id}\" }, $as: set";
    let text = item(&format!(
        "from: users, key: {{ PK: \"USER#{{id}}\", SK: \"USER#\" }}, attributes: {{ x: {{ $embed: subscribe_users, {each} }} }}"
    ));
    let (_, told) = check_with(&text, &catalog());
    let messages: Vec<&str> = told.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(messages, ["a member of a set cannot be a map"]);
}

#[test]
fn columns_that_the_user_may_not_read_are_told_wherever_a_star_takes_all() {
    let mut catalog = catalog();
    let hide = |catalog: &mut Catalog, table: &str, names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        table_mut(catalog, table).hidden_columns = Some(names);
    };
    hide(&mut catalog, "subscribes", &["price", "note"]);
    hide(&mut catalog, "subscribe_users", &[]);
    let key = "from: subscribe_users, key: { PK: \"U#{user_id}\", SK: \"S#{subscribe_id}\" }, join: { s: subscribe_id }";
    let parent = "subscribes has columns that this user may not read: price, note";
    let own =
        "subscribe_users has columns that this user may not read (the server does not name them)";
    let note = "subscribes has columns that this user may not read: note";
    let embed =
        "x: { $embed: subscribe_users, $match: { user_id: user_id, subscribe_id: subscribe_id } }";
    let embed = format!("columns: [], attributes: {{ {embed} }}");
    for (text, expected) in [
        ("nulls: omit", vec![own]),
        (
            "columns: [\"*\", s.*], omit: [s.price, s.service]",
            vec![own, note],
        ),
        ("columns: [s.*]", vec![parent]),
        ("columns: [s.*], omit: [s.price, s.note]", vec![]),
        (embed.as_str(), vec![own]),
        ("columns: [user_id, s.title]", vec![]),
    ] {
        let (model, diagnostics) = check_with(&item(&format!("{key}, {text}")), &catalog);
        let reported = diagnostics.iter().filter(|d| d.code == Code::HiddenColumns);
        let reported: Vec<String> = reported.map(|d| d.message.clone()).collect();
        let whole = |has: &&str| format!("the table {has}; no item has them");
        let messages: Vec<String> = expected.iter().map(whole).collect();
        assert_eq!(reported, messages, "{text}: {diagnostics:?}");
        let model = model.unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
        let hidden: Vec<&str> = model.hidden_columns().into_iter().collect();
        assert_eq!(hidden, expected, "{text}");
    }
    let (_, reported) = check_with(&item(&format!("{key}, columns: [s.price]")), &catalog);
    let unknown = reported
        .iter()
        .find(|d| d.code == Code::UnknownColumn)
        .unwrap();
    assert_eq!(
        unknown.message,
        "`s` has no column `price` that this user may read"
    );
    let help = unknown.help.as_ref().unwrap();
    let grant = "; or ask for GRANT SELECT ON main.subscribes";
    assert!(help.ends_with(grant), "{help}");
}

#[test]
fn a_column_whose_name_the_server_may_hide_can_be_omitted() {
    let key = "from: subscribe_users, key: { PK: \"U#{user_id}\", SK: \"S#{subscribe_id}\" }";
    // Whether there is a model, and whether the name is told.
    let omitted = |dbms, hidden: Option<&str>, omit: &str| {
        let mut catalog = catalog();
        catalog.dbms = dbms;
        let hidden = hidden.map(|name| vec![name.to_owned()]);
        table_mut(&mut catalog, "subscribes").hidden_columns = hidden;
        let more = format!("join: {{ s: subscribe_id }}, columns: [user_id, s.*], omit: [{omit}]");
        let (model, reported) = check_with(&item(&format!("{key}, {more}")), &catalog);
        let lacks = format!("has no column `{omit}`");
        let is_reported = reported.iter().any(|one| one.message.contains(&lacks));
        (model.is_some(), is_reported)
    };
    let (hidden, mysql) = (Some("note"), Dbms::Mysql);
    assert_eq!(omitted(mysql, hidden, "s.note"), (true, false));
    assert_eq!(omitted(mysql, hidden, "s.secret"), (true, false));
    // That may be `s.title`, which is in the items.
    assert_eq!(omitted(mysql, hidden, "s.titel"), (true, true));
    assert_eq!(omitted(mysql, None, "s.secret"), (false, true));
    assert_eq!(omitted(Dbms::Postgres, hidden, "s.secret"), (false, true));
}

#[test]
fn nothing_is_joined_or_embedded_along_a_column_that_the_user_may_not_read() {
    let mut catalog = catalog();
    let users = table_mut(&mut catalog, "users");
    users.columns.retain(|column| column.name != "id");
    users.hidden_columns = Some(vec!["id".to_owned()]);
    users.primary_key = vec!["email".to_owned()];
    let key = "from: subscribe_users, key: { PK: \"U#{user_id}\", SK: \"S#{subscribe_id}\" }";
    let lacks = "`users` has no column `id` that this user may read";
    let by_key = format!("{key}, columns: [], join: {{ u: user_id }}");
    let by_pair =
        format!("{key}, columns: [], join: {{ u: {{ table: users, match: {{ id: user_id }} }} }}");
    for text in [by_key, by_pair] {
        let (model, reported) = check_with(&item(&text), &catalog);
        let reported = reported
            .iter()
            .filter(|one| one.code == Code::UnknownColumn);
        let reported: Vec<&str> = reported.map(|one| &*one.message).collect();
        assert_eq!(reported, [lacks], "{text}");
        assert!(model.is_none());
    }
    let embed = "from: users, columns: [], key: { PK: \"U#{name}\", SK: \"U\" }, attributes: { x: { $embed: subscribe_users } }";
    let (model, reported) = check_with(&item(embed), &catalog);
    let reported: Vec<&str> = reported.iter().map(|one| &*one.message).collect();
    let none =
        "no foreign key of `subscribe_users` leads to `users` by columns that this user may read";
    assert!(model.is_none() && reported.contains(&none), "{reported:?}");
}

#[test]
fn row_security_is_told_of_every_table_that_an_item_is_made_of() {
    let key = "from: subscribe_users, key: { PK: \"U#{user_id}\", SK: \"S#{subscribe_id}\" }";
    for (more, reported) in [
        ("columns: []", false),
        ("join: { s: subscribe_id }, columns: [s.title]", true),
        (
            "attributes: { x: { $embed: subscribes, $match: { id: subscribe_id } } }",
            true,
        ),
        ("where: user_id IN (SELECT id FROM subscribes)", true),
        (
            "where: abs(user_id) > 5 AND CAST(user_id AS text) > ''",
            false,
        ),
        ("where: recent(user_id) AND abs(user_id) > 5", true),
        (
            "join: { s: subscribe_id }, columns: [s.title], accept: [hidden-rows]",
            false,
        ),
    ] {
        let found = told_with(
            Code::HiddenRows,
            &item(&format!("{key}, {more}")),
            &|catalog| table_mut(catalog, "subscribes").row_security = true,
        );
        let message = "row security may hide rows of subscribes from this user, and items are made without them";
        let expected = if reported { vec![message] } else { Vec::new() };
        assert_eq!(found, expected, "{more}");
    }
    let own_function = |catalog: &mut Catalog| catalog.own_functions = vec!["abs".to_owned()];
    let own_operator = |catalog: &mut Catalog| catalog.own_operators = true;
    let changes: [&dyn Fn(&mut Catalog); 2] = [&own_function, &own_operator];
    for own in changes {
        let text = item(&format!("{key}, columns: [], where: abs(user_id) > 5"));
        let found = told_with(Code::HiddenRows, &text, &|catalog| {
            table_mut(catalog, "subscribes").row_security = true;
            own(catalog);
        });
        assert_eq!(found.len(), 1);
    }
}

#[test]
fn columns_that_the_user_may_not_read_count_as_not_in_items() {
    let mut catalog = catalog();
    table_mut(&mut catalog, "users").hidden_columns = Some(vec!["secret".to_owned()]);
    let (raw, faults) = Raw::read(&item(""), &|_| None);
    let resolution = resolve(&raw.unwrap(), faults, &catalog, &Described::new());
    let coverage = resolution.proofs.unwrap().coverage;
    assert_eq!((coverage.in_items, coverage.columns), (4, 5));
    assert_eq!(coverage.in_no_item, ["users.secret"]);
    assert!(coverage.hiding_names.is_empty());
}

#[test]
fn columns_whose_names_the_server_hides_are_said_not_to_be_counted() {
    let hiding = |dbms, names: &[&str]| {
        let mut catalog = catalog();
        catalog.dbms = dbms;
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        table_mut(&mut catalog, "users").hidden_columns = Some(names);
        let (raw, faults) = Raw::read(&item(""), &|_| None);
        let resolution = resolve(&raw.unwrap(), faults, &catalog, &Described::new());
        resolution.proofs.unwrap().coverage.hiding_names
    };
    assert_eq!(hiding(Dbms::Mysql, &[]), ["users"]);
    assert_eq!(hiding(Dbms::Mariadb, &["secret"]), ["users"]);
    assert!(hiding(Dbms::Postgres, &["secret"]).is_empty());
    let mut catalog = catalog();
    table_mut(&mut catalog, "users").may_hide_invisible = true;
    let (raw, faults) = Raw::read(&item(""), &|_| None);
    let proofs = resolve(&raw.unwrap(), faults, &catalog, &Described::new()).proofs;
    assert_eq!(proofs.unwrap().coverage.hiding_names, ["users"]);
}

/// SQLite takes such a column.
#[test]
fn a_column_without_a_name_is_told_in_words_and_can_be_left_out() {
    let catalog = catalog_for(Code::Name);
    let text = "from: services, key: { PK: \"S#{service}\", SK: \"S#\" }";
    let (_, reported) = check_with(&item(text), &catalog);
    let reported: Vec<_> = reported
        .iter()
        .map(|d| (&*d.message, d.help.as_deref()))
        .collect();
    let message = "`services` has a column without a name, which no attribute can have";
    assert_eq!(reported, [(message, Some("leave it out: omit: [\"\"]"))]);
    let (model, reported) = check_with(&item(&format!("{text}, omit: [\"\"]")), &catalog);
    assert!(model.is_some() && reported.is_empty(), "{reported:?}");
}

/// The codes of a mapping of users, of whom there are about so many.
fn codes_of(rows: Option<u64>, text: &str) -> Vec<String> {
    let mut catalog = catalog();
    let mut tables = catalog.tables.iter_mut();
    let users = tables.find(|t| t.name.name == "users").unwrap();
    users.estimated_rows = rows;
    let (_, diagnostics) = check_with(text, &catalog);
    let reported = diagnostics.iter();
    reported
        .map(|d| format!("{}: {}", d.code.as_str(), d.message))
        .collect()
}

#[test]
fn one_partition_key_value_is_a_risk_by_its_rows_and_writes() {
    let with = |more: &str| {
        item(&format!(
            "from: users, key: {{ PK: USERS, SK: \"{{id | pad(9)}}\" }}{more}"
        ))
    };
    let reported = |rows, more| codes_of(rows, &with(more));
    let all = "single-partition: every USER has the same partition key value".to_owned();
    assert_eq!(
        reported(None, ""),
        std::slice::from_ref(&all),
        "how many is not known"
    );
    assert_eq!(
        reported(Some(0), ""),
        [all],
        "0 may be a table that nobody counted"
    );
    let many = "single-partition: every USER (about 60,000 rows) has the same partition key value";
    assert_eq!(reported(Some(60_000), ""), [many]);
    assert_eq!(reported(Some(6), ""), Vec::<String>::new());
    assert_eq!(reported(Some(6), ", write_rate: 20"), Vec::<String>::new());
    let busy = "single-partition: every USER (about 6 rows) has the same partition key value";
    assert_eq!(reported(Some(6), ", write_rate: 2000"), [busy]);
    // Who accepts it for the database with many rows is not told to take that away where there are few.
    assert_eq!(
        reported(Some(6), ", accept: [single-partition]"),
        Vec::<String>::new()
    );
    assert_eq!(
        reported(Some(60_000), ", accept: [single-partition]"),
        Vec::<String>::new()
    );
}

/// `redact` gives all values the same mask, which is not empty.
#[test]
fn a_redacted_partition_key_has_one_value() {
    let reported = |rows, key: &str| {
        let text = item(&format!(
            "from: users, key: {{ PK: \"{key}\", SK: \"{{id | pad(9)}}\" }}"
        ));
        codes_of(Some(rows), &text)
    };
    for key in ["S#{name | redact}", "{name | redact}"] {
        let all =
            "single-partition: every USER (about 60,000 rows) has the same partition key value";
        assert_eq!(reported(60_000, key), [all], "{key}");
        assert_eq!(reported(6, key), Vec::<String>::new(), "{key}");
    }
    assert_eq!(
        reported(60_000, "S#{name | redact}#{id}"),
        Vec::<String>::new()
    );
}

/// Its help makes the same value of the rows that it leaves.
#[test]
fn the_help_of_empty_key_keeps_filters() {
    let text = mapping(
        "name: portal, key: { partition: PK, sort: SK }, indexes: { BY_N: { partition: N } }",
        "from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" }, attributes: { N: \"{name | lower}\" }",
        "",
    );
    let (_, diagnostics) = check_with(&text, &catalog());
    let reported = diagnostics.iter().find(|d| d.code == Code::EmptyKey);
    let help = reported.and_then(|d| d.help.clone());
    let help = help.unwrap_or_else(|| panic!("{diagnostics:?}"));
    assert!(help.contains("$value: \"{name | lower}\""), "{help}");
}

/// SQLite keeps text in a column of numbers, and not in the rowid.
#[test]
fn pseudonyms_of_a_rowid_differ() {
    let text = item("from: users, key: { PK: \"USER#{id | pseudonym}\", SK: \"USER#\" }");
    for rowid in [true, false] {
        let mut catalog = catalog();
        catalog.dbms = Dbms::Sqlite;
        let id = table_mut(&mut catalog, "users").column_mut("id").unwrap();
        id.rowid = rowid;
        let reported = format!("{:?}", check_with(&text, &catalog).1);
        let reason = "SQLite keeps text in such a column too, and `pseudonym` treats UUIDs";
        assert_eq!(reported.contains(reason), !rowid, "{reported}");
    }
}

/// Also where no key has the parent's own column.
#[test]
fn a_foreign_key_in_a_key_leads_to_the_column_that_the_database_numbers() {
    let mut catalog = catalog();
    table_mut(&mut catalog, "users")
        .column_mut("id")
        .unwrap()
        .rowid = true;
    let text = item(
        "from: subscribe_users, key: { PK: \"USER#{user_id}\", SK: \"S#{subscribe_id | pad(9)}\" }",
    );
    let (raw, faults) = Raw::read(&text, &|_| None);
    let resolution = resolve(&raw.unwrap(), faults, &catalog, &Described::new());
    let proofs = resolution.proofs.unwrap();
    assert_eq!(proofs.numbered_keys, ["users.id"]);
}

#[test]
fn a_projected_name_is_neither_empty_nor_too_long() {
    for name in [String::new(), "x".repeat(256)] {
        let indexes = format!("indexes: {{ GSI: {{ partition: email, project: ['{name}'] }} }}");
        let table = table(&format!(
            "name: portal, key: {{ partition: PK, sort: SK }}, {indexes}"
        ));
        let codes = codes_of(None, &table);
        assert!(codes[0].starts_with("name: "), "{codes:?}");
    }
}

#[test]
fn members_that_differ_by_the_childs_key_are_no_risk() {
    for gathered in [
        "$as: set, $each: \"{service}#{setting_type}\"",
        "$as: map, $each: 1, $key: \"{service}#{setting_type}\"",
        "$as: set, $each: \"{service}\", $where: \"setting_type = 'alert'\"",
        "$as: set, $each: \"{service}\", $limit: 1, $order: service",
        "$as: list, $each: \"{service}\"",
    ] {
        let text = item(&format!(
            "from: users, key: {{ PK: \"U#{{id}}\", SK: \"U#\" }}, attributes: {{ x: {{ $embed: personal_settings, {gathered} }} }}"
        ));
        assert_eq!(codes_of(None, &text), Vec::<String>::new(), "{gathered}");
    }
}

#[test]
fn small_item_types_under_one_value_count_together() {
    let two = mapping(
        "",
        "from: users, key: { PK: ALL, SK: \"U#{id | pad(9)}\" }",
        "  OTHER: { from: users, key: { PK: ALL, SK: \"O#{id | pad(9)}\" } }",
    );
    assert_eq!(codes_of(Some(400), &two), Vec::<String>::new());
    let reported = codes_of(Some(600), &two);
    assert_eq!(reported.len(), 2, "{reported:?}");
}

#[test]
fn a_ttl_column_that_is_too_narrow_for_seconds_is_told() {
    let mut catalog = catalog();
    let users = catalog.tables.iter_mut().find(|t| t.name.name == "users");
    let users = users.unwrap();
    let column = users
        .columns
        .iter_mut()
        .find(|c| c.name == "gender")
        .unwrap();
    let text = mapping(
        "name: portal, key: { partition: PK, sort: SK }, ttl: gender",
        "from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" }, columns: [gender]",
        "",
    );
    column.data_type = DataType::Integer {
        bits: 16,
        unsigned: false,
    };
    let (_, diagnostics) = check_with(&text, &catalog);
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert_eq!(diagnostics[0].code, Code::TtlType);
    let users = catalog.tables.iter_mut().find(|t| t.name.name == "users");
    let mut columns = users.unwrap().columns.iter_mut();
    columns.find(|c| c.name == "gender").unwrap().data_type = DataType::Integer {
        bits: 32,
        unsigned: false,
    };
    let (model, diagnostics) = check_with(&text, &catalog);
    assert!(model.is_some() && diagnostics.is_empty(), "{diagnostics:?}");
}

#[test]
fn a_key_that_may_hold_equal_rows_says_nothing_of_their_number_or_their_difference() {
    let text = item(
        "from: users, key: { PK: \"U#{id | pad(3)}\", SK: \"U#\" }, attributes: { x: { $embed: personal_settings, $each: \"{setting_type}\", $as: map, $key: \"{service}#{setting_type}\" } }",
    );
    let codes = |lax: &[&str]| {
        let mut catalog = catalog();
        for table in &mut catalog.tables {
            table.lax_primary_key = lax.contains(&table.name.name.as_str());
            let is_users = table.name.name == "users";
            table.estimated_rows = is_users.then_some(60_000);
        }
        let (_, diagnostics) = check_with(&text, &catalog);
        let codes = diagnostics.iter().map(|d| d.code);
        let codes = codes.filter(|code| [Code::RefusedValues, Code::KeyNotUnique].contains(code));
        codes.collect::<Vec<Code>>()
    };
    assert_eq!(codes(&[]), [Code::RefusedValues]);
    assert_eq!(codes(&["users"]), []);
    let both = codes(&["users", "personal_settings"]);
    assert_eq!(both, [Code::KeyNotUnique]);
}

#[test]
fn a_key_of_few_values_is_told_by_checks_and_by_statistics() {
    let reported = |rows: u64, more: &str, change: &dyn Fn(&mut Column)| -> Vec<String> {
        let mut catalog = catalog();
        let mut tables = catalog.tables.iter_mut();
        let users = tables.find(|table| table.name.name == "users").unwrap();
        users.estimated_rows = Some(rows);
        let gender = users.column_mut("gender").unwrap();
        gender.nulls = Some(0);
        change(gender);
        let text = mapping(
            "name: portal, key: { partition: PK, sort: SK }, indexes: { BY_GENDER: { partition: gender, sort: SK } }",
            &format!("from: users, key: {{ PK: \"USER#{{id}}\", SK: \"USER#\" }}{more}"),
            "",
        );
        let (model, diagnostics) = check_with(&text, &catalog);
        assert!(model.is_some(), "{diagnostics:?}");
        let few = diagnostics.iter().filter(|d| d.code == Code::FewValues);
        few.map(|d| d.message.clone()).collect()
    };
    let with = |values: u64| move |column: &mut Column| column.distinct = Some(values);
    assert_eq!(
        reported(60_000, "", &with(3)),
        [
            "the partition key of `BY_GENDER` has about 3 values by the database's statistics for about 60,000 rows of USER"
        ]
    );
    // Values that take what a whole table takes hold nothing back, however many rows each has.
    assert_eq!(reported(60_000, "", &with(39)).len(), 1);
    assert!(reported(60_000, "", &with(40)).is_empty());
    assert_eq!(
        reported(60_000, ", write_rate: 50000", &with(40)),
        [
            "the partition key of `BY_GENDER` has about 40 values by the database's statistics for 50,000 writes a second of USER"
        ]
    );
    // Few rows of each value are no risk, and of what is not known nothing is said.
    assert!(reported(3_000, "", &with(3)).is_empty());
    assert!(reported(60_000, "", &|_| {}).is_empty());
    let listed = |column: &mut Column| column.list(vec!["F".to_owned(), "M".to_owned()]);
    assert_eq!(
        reported(60_000, "", &listed),
        ["the partition key of `BY_GENDER` has 2 values for about 60,000 rows of USER"]
    );
    let boolean = |column: &mut Column| column.data_type = DataType::Boolean;
    // (A boolean is no key of DynamoDB: it stands in one as text.)
    let as_text = ", columns: [], attributes: { gender: \"{gender | string}\" }";
    assert_eq!(reported(60_000, as_text, &boolean).len(), 1);
    // How many of the rows are in a sparse index is not known.
    let sparse =
        ", columns: [], attributes: { gender: { $value: \"{gender}\", $when: \"id < 9\" } }";
    assert!(reported(60_000, sparse, &listed).is_empty());
    // Rows with NULL are not in the index.
    let nulls = |values: u64, nulls: Option<u64>| {
        move |column: &mut Column| {
            column.distinct = Some(values);
            column.nulls = nulls;
        }
    };
    assert!(reported(60_000, "", &nulls(3, Some(59_977))).is_empty());
    assert_eq!(
        reported(60_000, "", &nulls(3, Some(20_000))),
        [
            "the partition key of `BY_GENDER` has about 3 values by the database's statistics for about 40,000 rows of USER"
        ]
    );
    let writes = ", write_rate: 50000";
    assert_eq!(
        reported(60_000, writes, &nulls(3, Some(54_000))),
        [
            "the partition key of `BY_GENDER` has about 3 values by the database's statistics for 5,000 writes a second of USER"
        ]
    );
    // A `where` leaves other rows out, and may leave out just those.
    let filtered = format!(", where: gender IS NOT NULL{writes}");
    assert_eq!(
        reported(60_000, &filtered, &nulls(3, Some(54_000))),
        [
            "the partition key of `BY_GENDER` has about 3 values by the database's statistics for 50,000 writes a second of USER"
        ]
    );
    // Of NULLs that nobody has counted nothing is known.
    assert!(reported(60_000, "", &nulls(3, None)).is_empty());
    assert_eq!(reported(60_000, writes, &nulls(3, None)).len(), 1);
    let unknown = |column: &mut Column| {
        listed(column);
        column.nulls = None;
    };
    assert!(reported(60_000, "", &unknown).is_empty());
    // What takes the place of NULL is in the index.
    let defaulted = ", columns: [], attributes: { gender: \"{gender | default(x)}\" }";
    assert_eq!(
        reported(60_000, defaulted, &unknown),
        ["the partition key of `BY_GENDER` has 3 values for about 60,000 rows of USER"]
    );
    let optional = ", columns: [], attributes: { gender: \"G[#{gender}]\" }";
    assert_eq!(
        reported(60_000, optional, &unknown),
        ["the partition key of `BY_GENDER` has 3 values for about 60,000 rows of USER"]
    );
}

#[test]
fn a_key_of_few_values_is_told_though_rows_are_not_counted_and_for_all_item_types_under_it() {
    let reported = |items: &str| -> Vec<String> {
        let text = mapping(
            "",
            "from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" }",
            items,
        );
        let reported = codes_of(None, &text).into_iter();
        reported
            .filter_map(|reported| Some(reported.strip_prefix("few-values: ")?.to_owned()))
            .collect()
    };
    let by_sex = |name: &str, more: &str| {
        format!(
            "  {name}: {{ from: users, key: {{ PK: \"{{gender | present(M, X)}}\", SK: \"{name}#{{id | pad(9)}}\" }}{more} }}"
        )
    };
    assert_eq!(
        reported(&by_sex("A", "")),
        ["the partition key has 2 values for an unknown number of rows of A"]
    );
    // One row of each value is no risk.
    let mut catalog = catalog();
    let mut tables = catalog.tables.iter_mut();
    let services = tables.find(|table| table.name.name == "services").unwrap();
    let service = services.column_mut("service").unwrap();
    service.list(vec!["news".to_owned(), "finance".to_owned()]);
    let text = item("from: services, key: { PK: \"S#{service}\", SK: \"S#\" }");
    let (_, diagnostics) = check_with(&text, &catalog);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    // But for a filter that makes one value of many.
    let text =
        item("from: services, key: { PK: \"S#{service | truncate(2)}\", SK: \"S#{service}\" }");
    let (_, diagnostics) = check_with(&text, &catalog);
    let codes: Vec<Code> = diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, [Code::FewValues]);
    let rate = ", write_rate: 1500";
    let both = format!("{}\n{}", by_sex("A", rate), by_sex("B", rate));
    assert_eq!(
        reported(&both),
        ["the partition key has 2 values for 3,000 writes a second of A, B"]
    );
}

#[test]
fn reads_are_held_against_the_values_that_a_partition_key_can_have() {
    let text = |key: &str, asked: &str, more: &str| {
        let item = format!(
            "from: personal_settings, key: {{ PK: \"{key}\", SK: \"{{user_id | pad(9)}}#{{setting_type}}\" }}, accept: [key-unproved, empty-key, key-not-unique, single-partition]"
        );
        let pattern = format!("access_patterns: {{ p: {{ key: {{ PK: \"{asked}\" }}, {more} }} }}");
        mapping("", &item, &pattern)
    };
    let heat = |text: &str, services: Option<u64>| -> Vec<String> {
        let mut catalog = catalog();
        let mut tables = catalog.tables.iter_mut();
        let table = tables.find(|table| table.name.name == "services");
        table.unwrap().estimated_rows = services;
        let (_, diagnostics) = check_with(text, &catalog);
        let heat = diagnostics.into_iter().filter(|d| d.code == Code::HotReads);
        heat.map(|d| {
            let is_even = d.help.is_some_and(|help| help.contains("equally often"));
            assert_eq!(is_even, !d.message.contains("one partition key value"));
            d.message
        })
        .collect()
    };
    let by_service = |more: &str| text("S#{service}", "S#{service}", more);
    assert_eq!(
        heat(&by_service("consistent: true, rate: 20000"), Some(3)),
        [
            "20,000 strongly consistent requests a second over a partition key with about 3 values by the database's statistics take at least 6,667 read units a second for each; one partition takes 3,000"
        ]
    );
    assert!(heat(&by_service("consistent: true, rate: 9000"), Some(3)).is_empty());
    assert!(heat(&by_service("rate: 18000"), Some(3)).is_empty());
    assert_eq!(heat(&by_service("rate: 18001"), Some(3)).len(), 1);
    // How many there are is not known.
    assert!(heat(&by_service("rate: 1000000"), None).is_empty());
    assert!(heat(&by_service("consistent: true"), Some(3)).is_empty());
    // A request of all shards reads each of them.
    let shards = text(
        "ALL#{user_id | shard(9)}",
        "ALL#{* | shard(9)}",
        "rate: 6001",
    );
    assert_eq!(heat(&shards, None).len(), 1);
    // So it does where the key has other values too: each of these gets its part of the requests, in every shard.
    let shards_of_each = |rate: u32| {
        text(
            "S#{service}.{user_id | shard(20)}",
            "S#{service}.{* | shard(20)}",
            &format!("rate: {rate}"),
        )
    };
    assert_eq!(
        heat(&shards_of_each(20_000), Some(3)),
        [
            "20,000 eventually consistent requests a second over a partition key with about 3 values by the database's statistics take at least 3,333 read units a second for each; one partition takes 3,000"
        ]
    );
    assert!(heat(&shards_of_each(18_000), Some(3)).is_empty());
    // One shard of a value takes its part alone.
    let one_shard = text(
        "S#{service}.{user_id | shard(20)}",
        "S#{service}.{user | shard(20)}",
        "rate: 20000",
    );
    assert!(heat(&one_shard, Some(3)).is_empty());
    // Two patterns that ask the same values are added up.
    let more = "consistent: true, rate: 6000";
    let two = format!(
        "{}, q: {{ key: {{ PK: \"S#{{name}}\" }}, rate: 8000 }} }}",
        by_service(more).strip_suffix(" }").unwrap()
    );
    assert_eq!(
        heat(&two, Some(3)),
        [
            "`p`, `q` together: 14,000 requests a second over a partition key with about 3 values by the database's statistics take at least 3,333 read units a second for each; one partition takes 3,000"
        ]
    );
    // Two item types under the values of one column are not found under twice as many.
    let together = by_service("rate: 20000").replace(
        "access_patterns:",
        "  SERVICE: { from: services, key: { PK: \"S#{service}\", SK: SERVICE } }\naccess_patterns:",
    );
    assert_eq!(
        heat(&together, Some(3)),
        [
            "20,000 eventually consistent requests a second over a partition key with about 3 values by the database's statistics take at least 3,333 read units a second for each; one partition takes 3,000"
        ]
    );
}

/// What is said of the shards of users.
fn shard_warnings(key: &str, rate: u32, rest: &str) -> Vec<String> {
    let text = mapping(
        "",
        &format!(
            "from: users, key: {{ PK: \"{key}\", SK: \"{{id | pad(9)}}\" }}, write_rate: {rate}"
        ),
        rest,
    );
    let reported = codes_of(None, &text).into_iter();
    reported
        .filter_map(|reported| Some(reported.strip_prefix("shard-count: ")?.to_owned()))
        .collect()
}

#[test]
fn shards_are_held_against_the_writes() {
    let reported = |shards: u32, rate: u32| {
        shard_warnings(&format!("USERS#{{id | shard({shards})}}"), rate, "")
    };
    assert_eq!(
        reported(2, 5_000),
        [
            "5,000 writes a second over 2 shards: 2,500 for each on average, and about 2,542 for the busiest; one partition accepts 1,000"
        ]
    );
    // As many as writes / 1,000 are too few: a hash does not fill shards equally.
    assert_eq!(
        reported(5, 5_000),
        [
            "5,000 writes a second over 5 shards: 1,000 for each on average, and about 1,051 for the busiest; one partition accepts 1,000"
        ]
    );
    assert_eq!(
        reported(20, 2_000),
        [
            "2,000 writes a second need 3 shards, but the key has 20: to read all of them takes 20 requests"
        ]
    );
    for (shards, rate) in [(6, 5_000), (6, 2_000), (1, 1_000), (2, 10)] {
        assert!(reported(shards, rate).is_empty(), "{shards} {rate}");
    }
    let unrated =
        item("from: users, key: { PK: \"USERS#{id | shard(200)}\", SK: \"{id | pad(9)}\" }");
    assert!(codes_of(None, &unrated).is_empty());
    // Two values of the rest of the key share the writes; a column of two values fills two shards.
    let both = "{gender | present(M, X)}#{id | shard(3)}";
    assert!(shard_warnings(both, 4_000, "").is_empty());
    assert_eq!(
        shard_warnings(both, 6_000, ""),
        [
            "6,000 writes a second over 2 values with 3 shards each: 1,000 for each on average, and about 1,038 for the busiest; one partition accepts 1,000"
        ]
    );
    assert_eq!(
        shard_warnings("U#{gender | present(M, X) | shard(9)}", 3_000, ""),
        [
            "3,000 writes a second over 9 shards, of which the column can fill 2: 1,500 for each on average, and about 1,532 for the busiest; one partition accepts 1,000"
        ]
    );
    // How many values the rest has is not known, so all writes may go to one of them, or to many.
    assert!(shard_warnings("{name}#{id | shard(2)}", 90_000, "").is_empty());
}

#[test]
fn more_shards_than_needed_are_told_with_what_reading_them_costs() {
    let reported = |pattern: &str| {
        let patterns = format!("access_patterns: {{ p: {{ {pattern} }} }}");
        shard_warnings("USERS#{id | shard(20)}", 2_000, &patterns)
    };
    let all = "key: { PK: \"USERS#{* | shard(20)}\" }";
    assert_eq!(
        reported(&format!("{all}, rate: 50")),
        [
            "2,000 writes a second need 3 shards, but the key has 20: `p` takes at least 500 read units a second instead of 75"
        ]
    );
    assert_eq!(
        reported(&format!("{all}, consistent: true")),
        [
            "2,000 writes a second need 3 shards, but the key has 20: `p` takes at least 20 read units a request instead of 3"
        ]
    );
    // What is asked by its shard alone costs no more with many.
    assert!(reported("key: { PK: \"USERS#{id | shard(20)}\" }").is_empty());
}

/// The shard of a number, by the filter itself.
fn shard_of(id: u32, shards: u32) -> usize {
    let context = Context {
        now: jiff::Timestamp::UNIX_EPOCH,
        time_zone: jiff::tz::TimeZone::UTC,
        secret: None,
    };
    let shard = Filter::Shard(shards).apply(Value::Text(id.to_string().into()), &context);
    match shard {
        Ok(Value::Text(shard)) => shard.parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

/// The number of shards that a warning names, held against a second of writes to random users, by the filter itself.
#[test]
fn the_shards_that_a_warning_names_take_the_writes_and_a_thousand_each_does_not() {
    for rate in [2_000_u32, 5_000, 20_000] {
        let key = |shards: u32| format!("USERS#{{id | shard({shards})}}");
        let text = item(&format!(
            "from: users, key: {{ PK: \"{}\", SK: \"{{id | pad(9)}}\" }}, write_rate: {rate}",
            key(1)
        ));
        let (_, diagnostics) = check_with(&text, &catalog());
        let reported = diagnostics.iter().find(|d| d.code == Code::ShardCount);
        let help = reported.and_then(|d| d.help.clone()).unwrap();
        let named: u32 = help.split(['(', ')']).nth(1).unwrap().parse().unwrap();
        let fullest = |shards: u32| {
            let seconds = (0..10).map(|second: u32| {
                let mut writes = vec![0_u32; usize::try_from(shards).unwrap()];
                for write in 0..rate {
                    // A multiplicative generator: users of whom nobody writes twice.
                    let user = (second * 50_000 + write).wrapping_mul(2_654_435_761);
                    writes[shard_of(user, shards)] += 1;
                }
                writes.into_iter().max().unwrap_or(0)
            });
            seconds.map(f64::from).sum::<f64>() / 10.0
        };
        assert!(
            fullest(named) <= 1_000.0,
            "{rate}: {} of {named}",
            fullest(named)
        );
        let fewer = rate.div_ceil(1_000);
        if fewer < named {
            assert!(fullest(fewer) > 1_000.0, "{rate}: {}", fullest(fewer));
        }
    }
}

/// What is said with a code, in a catalog with some changes.
fn told_with(code: Code, text: &str, change: &dyn Fn(&mut Catalog)) -> Vec<String> {
    let mut catalog = catalog();
    change(&mut catalog);
    let (_, diagnostics) = check_with(text, &catalog);
    let reported = diagnostics.into_iter().filter(|d| d.code == code);
    reported.map(|d| d.message).collect()
}

fn table_mut<'c>(catalog: &'c mut Catalog, name: &str) -> &'c mut Table {
    let mut tables = catalog.tables.iter_mut();
    tables.find(|table| table.name.name == name).unwrap()
}

/// Settings under the key of their service, with what stands behind it.
fn settings_by(partition: &str, more: &str) -> String {
    format!(
        "from: personal_settings, key: {{ PK: \"{partition}\", SK: \"{{user_id | pad(9)}}#{{service}}#{{setting_type}}\" }}, accept: [key-unproved]{more}"
    )
}

#[test]
fn a_key_of_few_values_is_told_beside_the_parent_in_one_item_collection() {
    let parent = "  SERVICE: { from: services, key: { PK: \"S#{service}\", SK: \"!\" } }\n";
    let reported = |more: &str, parent: &str| {
        let text = mapping("", &settings_by("S#{service}", more), parent);
        told_with(Code::FewValues, &text, &|catalog| {
            table_mut(catalog, "services").estimated_rows = Some(3);
            table_mut(catalog, "personal_settings").estimated_rows = Some(60_000);
        })
    };
    let few = "the partition key has about 3 values by the database's statistics for";
    assert_eq!(
        reported("", ""),
        [format!("{few} about 60,000 rows of USER")]
    );
    assert_eq!(
        reported("", parent),
        [format!("{few} about 60,003 rows of USER, SERVICE")]
    );
    assert_eq!(
        reported(", write_rate: 20000", parent),
        [format!("{few} 20,000 writes a second of USER, SERVICE")]
    );
    // The rows of a table tell nothing of a key that is its own: there will be more.
    let own = mapping(
        "",
        "from: services, key: { PK: \"S#{service}\", SK: A }, write_rate: 20000",
        parent,
    );
    let few = told_with(Code::FewValues, &own, &|catalog| {
        table_mut(catalog, "services").estimated_rows = Some(3);
    });
    assert!(few.is_empty(), "{few:?}");
}

#[test]
fn a_key_of_the_joined_parents_column_is_a_key_of_few_values() {
    let patterns = "access_patterns: { p: { items: [USER], key: { PK: \"S#{service}\" }, consistent: true, rate: 20000 } }";
    for (column, join) in [("s.service", ", join: { s: service }"), ("service", "")] {
        let text = mapping(
            "",
            &settings_by(
                &format!("S#{{{column}}}"),
                &format!(", write_rate: 20000{join}"),
            ),
            patterns,
        );
        let change = |catalog: &mut Catalog| {
            table_mut(catalog, "services").estimated_rows = Some(3);
        };
        let reported = |code| told_with(code, &text, &change);
        assert_eq!(
            reported(Code::FewValues),
            [
                "the partition key has about 3 values by the database's statistics for 20,000 writes a second of USER"
            ],
            "{column}"
        );
        assert_eq!(reported(Code::HotReads).len(), 1, "{column}");
    }
}

#[test]
fn columns_of_one_parent_have_no_more_values_than_it_has_rows() {
    for (column, asked) in [
        ("{s.service}#{s.name}", "{service}#{name}"),
        ("{service}#{s.name}", "{service}#{name}"),
        ("{service}#{service | lower}", "{service}#{name | lower}"),
    ] {
        let patterns = format!(
            "access_patterns: {{ p: {{ items: [USER], key: {{ PK: \"S#{asked}\" }}, consistent: true, rate: 20000 }} }}"
        );
        let more = ", write_rate: 20000, join: { s: service }";
        let text = mapping("", &settings_by(&format!("S#{column}"), more), &patterns);
        let reported = |code| {
            told_with(code, &text, &|catalog| {
                let services = table_mut(catalog, "services");
                services.estimated_rows = Some(3);
                for column in &mut services.columns {
                    column.distinct = Some(3);
                }
            })
        };
        assert_eq!(
            reported(Code::FewValues),
            [
                "the partition key has about 3 values by the database's statistics for 20,000 writes a second of USER"
            ],
            "{column}"
        );
        assert_eq!(reported(Code::HotReads).len(), 1, "{column}");
    }
    let subscribers = "from: subscribe_users, join: { s: subscribe_id }, key: { PK: \"S#{s.service}#{s.content_type}#{s.content_origin_id}\", SK: \"{user_id | pad(9)}\" }, accept: [key-unproved], write_rate: 20000";
    let few = |other: &str| {
        let text = mapping("", subscribers, other);
        told_with(Code::FewValues, &text, &|catalog| {
            table_mut(catalog, "services").estimated_rows = Some(3);
            let subscribes = table_mut(catalog, "subscribes");
            subscribes.estimated_rows = Some(3);
            for column in &mut subscribes.columns {
                column.distinct = Some(2);
            }
        })
    };
    let of = |names: &str| {
        format!(
            "the partition key has about 3 values by the database's statistics for 20,000 writes a second of {names}"
        )
    };
    assert_eq!(few(""), [of("USER")]);
    let parent = "  SUBSCRIBE: { from: subscribes, key: { PK: \"S#{service}#{content_type}#{content_origin_id}\", SK: \"!\" }, accept: [key-unproved] }";
    assert_eq!(few(parent), [of("USER, SUBSCRIBE")]);
    // A parent for each row has as many values as there will be rows.
    let one = item(
        "from: users, join: { o: { table: users, match: { id: id } } }, key: { PK: \"{o.name}#{o.email}\", SK: A }, accept: [key-unproved, key-not-unique, empty-key], write_rate: 20000",
    );
    let reported = told_with(Code::FewValues, &one, &|catalog| {
        table_mut(catalog, "users").estimated_rows = Some(3);
    });
    assert!(reported.is_empty(), "{reported:?}");
}

#[test]
fn a_default_adds_a_value_to_a_column_that_may_be_null_alone() {
    let parent = "  SERVICE: { from: services, key: { PK: \"S#{service}\", SK: \"!\" } }\n";
    let reported = |is_nullable: bool, parent: &str| {
        let text = mapping(
            "",
            &settings_by("S#{service | default(none)}", ", write_rate: 20000"),
            parent,
        );
        told_with(Code::FewValues, &text, &|catalog| {
            table_mut(catalog, "services").estimated_rows = Some(3);
            let settings = table_mut(catalog, "personal_settings");
            settings.primary_key = vec!["user_id".to_owned()];
            settings.column_mut("service").unwrap().nullable = is_nullable;
        })
    };
    let few = |values: u64, names: &str| {
        format!(
            "the partition key has about {values} values by the database's statistics for 20,000 writes a second of {names}"
        )
    };
    assert_eq!(reported(false, ""), [few(3, "USER")]);
    assert_eq!(reported(false, parent), [few(3, "USER, SERVICE")]);
    assert_eq!(reported(true, ""), [few(4, "USER")]);
    assert_eq!(reported(true, parent), [few(4, "USER, SERVICE")]);
}

#[test]
fn what_is_fetched_is_read_of_the_tables_own_key() {
    let heat = |key: &str, asked: &str| {
        let text = mapping(
            "name: portal, key: { partition: PK, sort: SK }, indexes: { MAIL: { partition: email, project: keys } }",
            &format!(
                "from: users, key: {{ PK: \"{key}\", SK: \"{{id | pad(9)}}\" }}, columns: [email], accept: [single-partition, empty-key]"
            ),
            &format!("access_patterns: {{ {asked} }}"),
        );
        told_with(Code::HotReads, &text, &|_| {})
    };
    let by_mail =
        |more: &str| format!("p: {{ index: MAIL, key: {{ email: \"{{mail}}\" }}{more} }}");
    let fetched = by_mail(", fetch: true, rate: 20000");
    assert_eq!(
        heat("USERS", &fetched),
        [
            "20,000 eventually consistent fetches a second for one partition key value take at least 10,000 read units a second; one partition takes 3,000"
        ]
    );
    assert!(heat("USERS", &by_mail(", rate: 20000")).is_empty());
    assert!(heat("U#{id}", &fetched).is_empty());
    // Each request finds an item in one of the shards.
    assert_eq!(heat("U#{id | shard(3)}", &fetched).len(), 1);
    assert!(heat("U#{id | shard(4)}", &fetched).is_empty());
    // They are added to what asks the table.
    let half = by_mail(", fetch: true, rate: 4000");
    assert_eq!(
        heat(
            "USERS",
            &format!("{half}, q: {{ key: {{ PK: USERS }}, rate: 4000 }}")
        ),
        [
            "`p`, `q` together: 8,000 requests a second for one partition key value take at least 4,000 read units a second; one partition takes 3,000"
        ]
    );
}

#[test]
fn a_key_that_two_rows_may_have_is_mended_by_the_columns_that_it_leaves_out() {
    for (key, mend) in [
        (
            "{user_id | pad(9)}#{service}",
            "put `setting_type` into the key; ",
        ),
        (
            "{user_id | pad(9)}",
            "put `service` and `setting_type` into the key; ",
        ),
    ] {
        let text = item(&format!(
            "from: personal_settings, key: {{ PK: \"S#{key}\", SK: A }}"
        ));
        let (_, diagnostics) = check_with(&text, &catalog());
        let mut reported = diagnostics.iter();
        let reported = reported.find(|found| found.code == Code::KeyNotUnique);
        let help = reported.and_then(|found| found.help.as_deref()).unwrap();
        assert!(help.contains(mend), "{help}");
    }
}

#[test]
fn what_a_where_says_is_not_null_may_be_in_a_key() {
    let reported = |condition: &str| {
        let text = item(&format!(
            "from: users, where: \"{condition}\", key: {{ PK: \"U#{{id}}#{{gender}}\", SK: \"U#\" }}"
        ));
        told_with(Code::NullableKey, &text, &|_| ()).len()
    };
    assert_eq!(reported("id > 1 AND gender IS NOT NULL"), 0);
    assert_eq!(reported("users.gender IS NOT NULL"), 0);
    assert_eq!(reported("other.gender IS NOT NULL"), 1);
    assert_eq!(reported("id > 1 OR gender IS NOT NULL"), 1);
    assert_eq!(reported("gender IS NULL"), 1);
    assert_eq!(reported("name IS NOT NULL"), 1);
}

#[test]
fn a_misspelled_sort_key_is_one_fault() {
    let text = mapping(
        "name: portal, key: { partition: PK, srot: SK }, indexes: { GSI1: { partition: A, srot: B } }",
        "from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" }, attributes: { A: \"A#{id}\", B: \"B#{id}\" }",
        "access_patterns:\n  p: { key: { PK: \"USER#{id}\", SK: \"USER#\" } }\n  q: { index: GSI1, key: { A: \"A#{id}\", B: \"B#{b}\" } }\n",
    );
    let (model, diagnostics) = check_with(&text, &catalog());
    let errors = diagnostics.iter().map(|found| found.code);
    let errors: Vec<Code> = errors
        .filter(|code| code.severity() == Severity::Error)
        .collect();
    assert_eq!(errors, [Code::UnknownKey; 2], "{diagnostics:#?}");
    assert!(model.is_none());
}

#[test]
fn a_key_by_another_name_is_one_fault_and_hides_no_other() {
    let table = |text: &str| {
        mapping(
            text,
            "from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" }, attributes: { A: \"A#{id}\", B: \"B#{id}\", C: \"{nme}\" }",
            "",
        )
    };
    for (text, misspelled) in [
        ("name: portal, key: { partitoin: PK, sort: SK }", 1),
        ("name: portal, key: { partition: PK, range: SK }", 1),
        (
            "name: portal, key: { hash: PK, range: SK }, indexes: { GSI1: { pk: A, sk: B } }",
            4,
        ),
        ("name: portal, keys: { partition: PK, sort: SK }", 1),
        ("nmae: portal, key: { partition: PK, sort: SK }", 1),
    ] {
        let (model, diagnostics) = check_with(&table(text), &catalog());
        let errors = diagnostics.iter().map(|found| found.code);
        let errors: Vec<Code> = errors
            .filter(|code| code.severity() == Severity::Error)
            .collect();
        let mut expected = vec![Code::UnknownKey; misspelled];
        expected.push(Code::UnknownColumn);
        assert_eq!(errors, expected, "{diagnostics:#?}");
        assert!(model.is_none());
    }
}

#[test]
fn a_joined_text_stands_for_the_foreign_key_that_it_is_equal_to() {
    let text = item(
        "from: personal_settings, join: { s: service }, key: { PK: \"S#{s.service}\", SK: \"{user_id | pad(9)}#{setting_type}\" }",
    );
    let reported = |change: &dyn Fn(&mut Catalog)| told_with(Code::KeyNotUnique, &text, change);
    assert_eq!(reported(&|_| {}), Vec::<String>::new());
    // Without case, texts that differ are equal to the join.
    let folded = reported(&|catalog| {
        let settings = table_mut(catalog, "personal_settings");
        let service = settings.column_mut("service").unwrap();
        (service.insensitive, service.collation) = (true, Some("NOCASE".to_owned()));
    });
    assert_eq!(folded.len(), 1);
}

#[test]
fn shards_of_columns_with_different_names_are_added_up() {
    let reported = |other: &str| {
        let text = mapping(
            "",
            "from: users, key: { PK: \"V#{id | shard(3)}\", SK: \"A{id | pad(9)}\" }, write_rate: 2500",
            &format!(
                "  B: {{ from: personal_settings, key: {{ PK: \"{other}\", SK: \"B{{user_id | pad(9)}}{{service}}#{{setting_type}}\" }}, accept: [key-unproved], write_rate: 2500 }}"
            ),
        );
        told_with(Code::ShardCount, &text, &|_| {})
    };
    let both = [
        "5,000 writes a second over 3 shards: 1,667 for each on average, and about 1,716 for the busiest; one partition accepts 1,000",
    ];
    assert_eq!(reported("V#{user_id | shard(3)}"), both);
    assert_eq!(reported("V#{setting_type | shard(3)}"), both);
    assert!(reported("W#{user_id | shard(3)}").is_empty());
}

#[test]
fn many_values_of_an_enum_hold_nothing_back_and_a_where_leaves_an_unknown_number_of_rows() {
    let by_gender = |more: &str| {
        item(&format!(
            "from: users, key: {{ PK: \"G#{{gender | default(x)}}\", SK: \"{{id | pad(9)}}\" }}{more}"
        ))
    };
    let reported = |values: usize, rows: u64, more: &str| {
        told_with(Code::FewValues, &by_gender(more), &|catalog| {
            let users = table_mut(catalog, "users");
            users.estimated_rows = Some(rows);
            let labels = (0..values).map(|label| format!("g{label}"));
            users.column_mut("gender").unwrap().list(labels.collect());
        })
    };
    assert_eq!(reported(38, 60_000, "").len(), 1);
    assert!(reported(39, 60_000, "").is_empty());
    let filtered = ", where: id <= 10";
    assert_eq!(
        reported(2, 60_000, filtered),
        ["the partition key has 3 values for some of about 60,000 rows of USER"]
    );
    assert!(reported(2, 3_000, filtered).is_empty());
    // Which of the values that statistics count a `where` leaves is not known.
    let by_statistics = |more: &str| {
        told_with(Code::FewValues, &by_gender(more), &|catalog| {
            let users = table_mut(catalog, "users");
            users.estimated_rows = Some(60_000);
            users.column_mut("gender").unwrap().distinct = Some(2);
        })
    };
    assert_eq!(by_statistics("").len(), 1);
    assert!(by_statistics(filtered).is_empty());
    let single = |rows: u64| {
        let text = item("from: users, key: { PK: ALL, SK: \"{id | pad(9)}\" }, where: id <= 10");
        told_with(Code::SinglePartition, &text, &|catalog| {
            table_mut(catalog, "users").estimated_rows = Some(rows);
        })
    };
    assert_eq!(
        single(60_000),
        [
            "every USER whose row meets `where` (of about 60,000 rows) has the same partition key value"
        ]
    );
    assert!(single(900).is_empty());
}

#[test]
fn a_key_is_not_empty_where_a_check_or_an_enum_has_no_empty_text() {
    let labels = |labels: &[&str]| labels.iter().map(|it| (*it).to_owned()).collect();
    let is_reported = |key: &str, dbms: Dbms, listed: &[&str], names: &[&str]| {
        let text = item(&format!(
            "from: users, key: {{ PK: \"{key}\", SK: \"{{id | pad(9)}}\" }}, accept: [nullable-key, key-unproved]"
        ));
        let reported = told_with(Code::EmptyKey, &text, &|catalog| {
            catalog.dbms = dbms;
            let gender = table_mut(catalog, "users").column_mut("gender").unwrap();
            gender.listed = labels(listed);
            if !names.is_empty() {
                gender.data_type = DataType::Enum {
                    values: labels(names),
                };
            }
        });
        !reported.is_empty()
    };
    let (sqlite, pg, my) = (Dbms::Sqlite, Dbms::Postgres, Dbms::Mysql);
    assert!(is_reported("{gender}", sqlite, &[], &[]));
    assert!(!is_reported("{gender}", sqlite, &["F", "M"], &[]));
    assert!(!is_reported("{gender | lower}", sqlite, &["F", "M"], &[]));
    assert!(is_reported("{gender}", sqlite, &["F", ""], &[]));
    assert!(is_reported("[{gender}]", sqlite, &["F", "M"], &[]));
    assert!(!is_reported("{gender}", pg, &[], &["F", "M"]));
    assert!(is_reported("{gender}", pg, &[], &["F", ""]));
    // Without strict mode, MySQL writes '' for what is no label.
    assert!(is_reported("{gender}", my, &[], &["F", "M"]));
}

#[test]
fn the_help_of_hot_keys_fits_them() {
    let help = |code, text: &str| {
        let (_, diagnostics) = check_with(text, &catalog());
        let reported = diagnostics.into_iter().find(|d| d.code == code);
        reported.and_then(|d| d.help).unwrap()
    };
    let few = item(
        "from: users, key: { PK: \"{gender | present(M, X)}\", SK: \"{id | pad(9)}\" }, write_rate: 2001",
    );
    assert!(!help(Code::FewValues, &few).contains("$when"));
    let few = mapping(
        "name: portal, key: { partition: PK, sort: SK }, indexes: { SEX: { partition: sex, sort: SK } }",
        "from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" }, attributes: { sex: \"{gender | present(M, X)}\" }",
        "",
    );
    assert!(help(Code::FewValues, &few).contains("$when"));
    let single = item("from: users, key: { PK: USERS, SK: \"{id | pad(9)}\" }, write_rate: 20000");
    let reported = help(Code::SinglePartition, &single);
    assert!(reported.contains("`shard(22)`"), "{reported}");
    // What is more than a partition takes is never rounded to what it takes.
    let hot = mapping(
        "",
        "",
        "access_patterns: { p: { key: { PK: USER#1 }, consistent: true, rate: 3000.2 } }",
    );
    let reported = told_with(Code::HotReads, &hot, &|_| {});
    assert!(
        reported[0].contains("at least 3,001 read units"),
        "{reported:?}"
    );
}

#[test]
fn a_filter_or_a_key_over_the_expiry_time_leaves_out_what_has_expired() {
    let codes = |pattern: &str| -> Vec<Code> {
        let text = mapping(
            "name: portal, key: { partition: PK, sort: SK }, ttl: ends",
            "from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" }, attributes: { ends: 4102444800 }",
            &format!(
                "  OTHER: {{ from: users, key: {{ PK: \"USER#{{id}}\", SK: \"OTHER#\" }} }}\naccess_patterns: {{ p: {{ {pattern} }} }}"
            ),
        );
        let (_, diagnostics) = check_with(&text, &catalog());
        diagnostics.iter().map(|d| d.code).collect()
    };
    let all = "key: { PK: \"USER#{id}\" }";
    assert_eq!(codes(all), [Code::ExpiredItems]);
    let filtered = format!(
        "{all}, filter: \"ends >= :time OR attribute_not_exists(ends)\", params: {{ time: \"{{now | epoch}}\" }}"
    );
    assert_eq!(codes(&filtered), []);
    for (filter, leaves_out) in [
        ("NOT ends < :time", true),
        ("ends BETWEEN :time AND 4102444800 AND id <> 3", true),
        (
            "(ends > :time OR NOT attribute_exists(ends)) AND id = 3",
            true,
        ),
        ("NOT (ends <= :time OR id = 3)", true),
        ("NOT (ends <= :time AND id = 3)", false),
        ("ends >= :time OR id = 3", false),
        ("attribute_exists(ends) AND id <> :time", false),
        ("ends <> :time", false),
        ("id = :time", false),
        (":time <= ends", true),
        // What has expired, and nothing else.
        ("ends < :time", false),
        (":time > ends", false),
        ("NOT ends >= :time", false),
        ("ends = :time", false),
        ("ends BETWEEN 0 AND :time", false),
        ("NOT ends BETWEEN :time AND 4102444800", false),
        // A time that was, and one of which nothing is known.
        ("ends > 5", false),
        ("ends > :other", false),
    ] {
        let reported = codes(&format!(
            "{all}, filter: \"{filter}\"{}",
            if filter.contains(":time") {
                ", params: { time: \"{now | epoch}\" }"
            } else {
                ""
            }
        ));
        assert_eq!(reported.is_empty(), leaves_out, "{filter}: {reported:?}");
    }
    for (clock, leaves_out) in [
        ("plus(7d) | epoch", true),
        ("plus(-7d) | epoch", false),
        ("epoch_ms", false),
    ] {
        let reported = codes(&format!(
            "{all}, filter: \"ends > :time\", params: {{ time: \"{{now | {clock}}}\" }}"
        ));
        assert_eq!(reported.is_empty(), leaves_out, "{clock}: {reported:?}");
    }
    assert_eq!(codes("key: { PK: \"USER#{id}\", SK: \"OTHER#\" }"), []);
    for (asked, leaves_out) in [
        ("ge: \"{time}\"", true),
        ("between: [\"{time}\", 4102444800]", true),
        ("lt: \"{time}\"", false),
        ("ge: \"{other}\"", false),
        ("ge: 5", false),
    ] {
        let clock = if asked.contains("{time}") {
            ", params: { time: \"{now | epoch}\" }"
        } else {
            ""
        };
        let text = mapping(
            "name: portal, key: { partition: PK, sort: SK }, ttl: ends, indexes: { ENDS: { partition: name, sort: { name: ends, type: N } } }",
            "from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" }, attributes: { ends: \"{id}\" }",
            &format!(
                "access_patterns: {{ p: {{ index: ENDS, key: {{ name: \"{{name}}\", ends: {{ {asked} }} }}{clock} }} }}"
            ),
        );
        let reported = codes_of(None, &text);
        let is_reported = reported
            .iter()
            .any(|reported| reported.starts_with("expired-items"));
        assert_eq!(is_reported, !leaves_out, "{asked}: {reported:?}");
    }
}

#[test]
fn a_pattern_whose_caller_gives_the_whole_key_may_find_every_item_type() {
    let codes = |asked: &str| -> Vec<String> {
        let text = mapping(
            "name: portal, key: { partition: PK, sort: SK }, ttl: ends",
            "from: users, key: { PK: \"USER#{gender | present(M, X)}\", SK: \"{id | pad(9)}\" }, attributes: { ends: 4102444800 }",
            &format!("access_patterns: {{ p: {{ {asked}, consistent: true, rate: 6001 }} }}"),
        );
        let reported = codes_of(None, &text).into_iter();
        let codes = reported.filter_map(|reported| Some(reported.split_once(": ")?.0.to_owned()));
        codes
            .filter(|code| code == "hot-reads" || code == "expired-items")
            .collect()
    };
    let both = ["hot-reads", "expired-items"];
    assert_eq!(codes("key: { PK: \"USER#{sex}\" }"), both);
    assert_eq!(codes("key: { PK: \"{pk}\" }"), both);
    assert_eq!(codes("items: [USER], key: { PK: \"{pk}\" }"), both);
}

#[test]
fn the_filter_that_is_named_keeps_items_that_never_expire() {
    let named = |ends: &str, other: &str| -> String {
        let text = mapping(
            "name: portal, key: { partition: PK, sort: SK }, ttl: ends",
            &format!(
                "from: users, key: {{ PK: \"USER#{{id}}\", SK: \"USER#\" }}, attributes: {{ ends: {ends} }}"
            ),
            &format!("{other}access_patterns: {{ p: {{ key: {{ PK: \"USER#{{id}}\" }} }} }}"),
        );
        let (_, diagnostics) = check_with(&text, &catalog());
        let reported = diagnostics.iter().find(|d| d.code == Code::ExpiredItems);
        let help = reported.and_then(|d| d.help.clone()).unwrap();
        assert!(help.contains("never use such an item as a lock"), "{help}");
        help.split('"').nth(1).unwrap().to_owned()
    };
    let other = "  OTHER: { from: users, key: { PK: \"USER#{id}\", SK: \"OTHER#\" } }\n";
    let all_have_it = "ends >= :time";
    let some_lack_it = "ends >= :time OR attribute_not_exists(ends)";
    for (ends, other, filter) in [
        ("4102444800", "", all_have_it),
        ("\"{id}\"", "", all_have_it),
        ("4102444800", other, some_lack_it),
        ("\"{gender | number}\"", "", some_lack_it),
        (
            "{ $value: 4102444800, $when: \"id > 3\" }",
            "",
            some_lack_it,
        ),
    ] {
        assert_eq!(named(ends, other), filter, "{ends} {other}");
    }
}

#[test]
fn the_help_of_expired_items_can_be_followed() {
    let reported = |table: &str, attributes: &str, pattern: &str| {
        let text = mapping(
            &format!("name: portal, key: {{ partition: PK, sort: SK }}, ttl: ends{table}"),
            &format!(
                "from: users, key: {{ PK: \"USER#{{id}}\", SK: \"USER#\" }}, {attributes}, accept: [empty-key]"
            ),
            &format!("access_patterns: {{ p: {{ {pattern} }} }}"),
        );
        let (_, diagnostics) = check_with(&text, &catalog());
        diagnostics
    };
    let help = |table: &str, attributes: &str, pattern: &str| {
        let diagnostics = reported(table, attributes, pattern);
        let mut expired = diagnostics.iter();
        let expired = expired.find(|d| d.code == Code::ExpiredItems);
        let help = expired.and_then(|d| d.help.clone());
        help.unwrap_or_else(|| panic!("{diagnostics:?}"))
    };
    let ends = "attributes: { ends: 4102444800 }";
    let index = |more: &str| format!(", indexes: {{ BY_NAME: {{ partition: name, {more} }} }}");
    let by = "index: BY_NAME, key: { name: \"{name}\" }";
    let ordered = index("sort: { name: ends, type: N }");
    let named = help(&ordered, ends, by);
    assert!(
        named.contains("key: { ends: { ge: \"{time}\" } }"),
        "{named}"
    );
    let keys = index("sort: SK, project: keys");
    for fetch in ["", ", fetch: true"] {
        let named = help(&keys, ends, &format!("{by}{fetch}"));
        assert!(
            named.starts_with("project `ends` into `BY_NAME`, and leave"),
            "{named}"
        );
    }
    let filtered = "key: { PK: \"USER#{id}\" }, filter: \"name = :a OR name = :b\"";
    let named = help("", ends, filtered);
    let both = "filter: \"(name = :a OR name = :b) AND (ends >= :time)\"";
    assert!(named.contains(both), "{named}");
    // A parameter of the pattern, or of its SQL, keeps its meaning.
    for taken in [
        "filter: \"id < :time\"",
        "sql: \"SELECT id FROM users WHERE id = :id AND id < :time\", params: { time: \"{now | epoch}\" }",
    ] {
        let named = help(
            "",
            ends,
            &format!("key: {{ PK: \"USER#{{id}}\" }}, {taken}"),
        );
        assert!(
            named.contains("ends >= :time2") && named.contains("params: { time2: \""),
            "{named}"
        );
    }
    let quoted = r#"key: { PK: "USER#{id}" }, filter: "'a\"b' = name""#;
    let named = help("", ends, quoted);
    let written = r#"filter: "('a\"b' = name) AND (ends >= :time)" and"#;
    assert!(named.contains(written), "{named}");
    // A key has one condition on an attribute.
    let asked = format!(
        "{}, ends: {{ lt: \"{{before}}\" }} }}",
        by.trim_end_matches(" }")
    );
    let named = help(&ordered, ends, &asked);
    let begins =
        "leave them out: let its condition on the key `ends` begin at `{time}`, and params: {";
    assert!(named.starts_with(begins), "{named}");
    let settings = "from: personal_settings, key: { PK: \"USER#{user_id}\", SK: \"{service}#{setting_type}\" }, columns: [], attributes: { $spread: setting }, accept: [key-unproved]";
    let text = mapping(
        "name: portal, key: { partition: PK, sort: SK }, ttl: ends",
        settings,
        "access_patterns: { p: { key: { PK: \"USER#{id}\" } } }",
    );
    assert_eq!(told_with(Code::ExpiredItems, &text, &|_| {}).len(), 1);
    // What the index does not hold is said once.
    let twice = format!(
        "{by}, filter: \"ends >= :time OR attribute_not_exists(ends)\", params: {{ time: \"{{now | epoch}}\" }}"
    );
    let diagnostics = reported(&keys, ends, &twice);
    let codes = diagnostics.iter().map(|d| d.code);
    let missing = codes.filter(|code| *code == Code::NotProjected);
    assert_eq!(missing.count(), 1, "{diagnostics:?}");
}

#[test]
fn no_code_is_without_a_case() {
    let cases: Vec<_> = cases().into_iter().chain(pattern_cases()).collect();
    for code in Code::ALL {
        let has_case = cases.iter().any(|(other, _, _)| other == code);
        assert!(has_case || ONLINE.contains(code), "{}", code.as_str());
    }
}
