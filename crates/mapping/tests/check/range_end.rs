//! Ranges whose bounds are only the beginning of a key, with what the relational query says of them.

use dynafold_mapping::diagnostic::Code;

use super::refused::{asked, with};
use super::{catalog, check_with};

/// What is said of a range of events, at which text and with which help.
fn reported(condition: &str, sql: Option<&str>) -> Option<(String, String, String)> {
    let sql = sql.map_or(String::new(), |sql| {
        format!("\nsql: \"SELECT id FROM events WHERE user_id = :userId AND {sql}\"")
    });
    let text = with(&format!(
        "items: [EVENT]\nkey: {{ PK: \"USER#{{userId | pad(6)}}\", {condition} }}{sql}"
    ));
    let (model, mut diagnostics) = check_with(&text, &asked());
    // A range that begins or ends nowhere finds users too.
    diagnostics.retain(|diagnostic| diagnostic.code != Code::ExtraItems);
    assert!(model.is_some(), "{condition}: {diagnostics:?}");
    let [diagnostic] = diagnostics.as_slice() else {
        assert!(diagnostics.is_empty(), "{condition}: {diagnostics:?}");
        return None;
    };
    assert_eq!(diagnostic.code, Code::RangeEnd, "{condition}");
    let at = text[diagnostic.span.clone()].to_owned();
    Some((
        at,
        diagnostic.message.clone(),
        diagnostic.help.clone().unwrap(),
    ))
}

/// The end of a range of moments, which is the beginning of keys.
const UNTIL: &str = "SK: { between: [\"EVENT#{from | epoch_ms | pad(13)}\", \"EVENT#{until | epoch_ms | pad(13)}\"] }";

#[test]
fn a_bound_that_keys_go_on_behind_is_told_where_the_query_says_otherwise() {
    let (at, message, help) = reported(UNTIL, None).unwrap();
    assert_eq!(at, "\"EVENT#{until | epoch_ms | pad(13)}\"");
    assert_eq!(
        message,
        "the range leaves out items whose value equals `{until | epoch_ms | pad(13)}`: the keys of `EVENT` have more text after it, and so sort later"
    );
    assert_eq!(
        help,
        "to change that, end the range after them: \"EVENT#{until | epoch_ms | pad(13)}$\"; if this is intended, write `< :until` in `sql`, or accept: [range-end]"
    );
    for sql in [
        "at >= :from AND at <= :until",
        "at BETWEEN :from AND :until",
    ] {
        assert!(reported(UNTIL, Some(sql)).is_some(), "{sql}");
    }
    assert_eq!(reported(UNTIL, Some("at >= :from AND at < :until")), None);
    let (at, ..) = reported(UNTIL, Some("at > :from AND at < :until")).unwrap();
    assert!(at.contains("from"), "{at}");
    let end = UNTIL.replace("pad(13)}\"] }", "pad(13)}$\"] }");
    assert_eq!(reported(&end, None), None);

    let bound = "\"EVENT#{since | epoch_ms | pad(13)}\"";
    let of = |operator: &str, sql| reported(&format!("SK: {{ {operator}: {bound} }}"), sql);
    assert!(of("le", None).is_some() && of("gt", None).is_some());
    assert_eq!((of("lt", None), of("ge", None)), (None, None));
    assert_eq!(of("gt", Some("at >= :since")), None);
    assert!(of("lt", Some("at <= :since")).is_some());
}

#[test]
fn a_whole_key_is_held_against_the_query() {
    let latest = |operator: &str, sql| {
        let text = format!(
            "at: {{ {operator}: \"{{since}}\" }} }}\nindex: LATEST\nparams: {{ since: events.at"
        );
        reported(&text, sql)
    };
    for operator in ["le", "lt", "ge", "gt"] {
        assert_eq!(latest(operator, None), None, "{operator}");
    }
    assert_eq!(latest("ge", Some("at >= :since")), None);
    let (_, message, _) = latest("ge", Some("at > :since")).unwrap();
    assert_eq!(
        message,
        "the range returns items whose value equals `{since}`, and its SQL leaves them out"
    );
}

#[test]
fn item_types_beyond_the_bounds_of_a_range_are_not_found() {
    let reported = |items: &str, range: &str| {
        let text = format!(
            "dynafold: 1
table: {{ name: app, key: {{ partition: PK, sort: SK }} }}
items:
  USER: {{ from: users, key: {{ PK: \"U#{{id}}\", SK: \"USER#\" }} }}
  LARGE: {{ from: users, key: {{ PK: \"U#{{id}}\", SK: \"USER!LARGE#\" }} }}
  VOTE: {{ from: subscribe_users, columns: [], key: {{ PK: \"U#{{user_id}}\", SK: \"USER#VOTE#{{subscribe_id}}\" }} }}
access_patterns:
  p: {{ items: [{items}], key: {{ PK: \"U#{{id}}\", SK: {{ {range} }} }} }}
"
        );
        let (_, mut reported) = check_with(&text, &catalog());
        reported.retain(|one| matches!(one.code, Code::ExtraItems | Code::NeverMatches));
        reported
            .into_iter()
            .map(|one| one.message)
            .collect::<Vec<_>>()
    };
    for (items, range) in [
        ("USER, LARGE", "between: [\"USER!\", \"USER#\"]"),
        ("USER, VOTE", "between: [\"USER#\", \"USER#VOTE#{max}\"]"),
        ("USER, VOTE", "ge: \"USER#\""),
        ("USER, LARGE", "lt: \"USER#VOTE\""),
    ] {
        assert_eq!(reported(items, range), Vec::<String>::new(), "{range}");
    }
    let range = "between: [\"USER!\", \"USER#W\"]";
    assert_eq!(reported("USER, LARGE", range), ["`p` also finds `VOTE`"]);
    let found = reported("USER, VOTE", "le: \"USER#\"");
    let never = "`p` can never find `VOTE`: it asks for SK le USER#, and VOTE has SK = USER#VOTE#{subscribe_id}";
    assert_eq!(found, [never, "`p` also finds `LARGE`"]);
}
