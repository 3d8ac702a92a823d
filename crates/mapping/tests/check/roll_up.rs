//! What may be summed on a schedule, and what a roll-up's function is told.

use dynafold_mapping::model::RollUp;

use super::{catalog, check_with};

/// A vote of a user for a service, and the service's total.
struct Votes<'t> {
    table: &'t str,
    vote: &'t str,
    total: &'t str,
    roll_up: &'t str,
}

const VOTES: Votes<'static> = Votes {
    table: "type_attribute: false",
    vote: "PK: \"{service}.{id | shard(20)}\", SK: \"VOTE#{id | pad(8)}\"",
    total: "PK: \"{service}\", SK: TOTAL",
    roll_up: "of: VOTE, count: votes, schedule: rate(5 minutes)",
};

impl Votes<'_> {
    /// The roll-up, or what is wrong.
    fn check(&self) -> Result<RollUp, Vec<String>> {
        let Self {
            table,
            vote,
            total,
            roll_up,
        } = self;
        let text = format!(
            "dynafold: 1
table: {{ name: votes, key: {{ partition: PK, sort: SK }}, {table} }}
items:
  TOTAL:
    from: services
    key: {{ {total} }}
    attributes: {{ votes: 0, sum: \"{{name}}\" }}
    roll_up: {{ {roll_up} }}
  VOTE:
    from: subscribes
    key: {{ {vote} }}
    attributes: {{ votes: \"{{id}}\", sum: \"{{id}}\" }}
"
        );
        let (model, diagnostics) = check_with(&text, &catalog());
        let errors: Vec<String> = diagnostics
            .iter()
            .filter(|one| one.code.as_str() == "roll-up")
            .map(|one| format!("{}: {}", &text[one.span.clone()], one.message))
            .collect();
        match model {
            Some(model) => Ok(model.roll_ups.into_iter().next().unwrap()),
            None => Err(errors),
        }
    }
}

#[test]
fn a_total_is_found_by_the_key_of_its_shards() {
    let found = VOTES.check().unwrap();
    let marks = [&*found.mark, &*found.of_mark, &*found.total_mark];
    assert_eq!(
        (marks, found.mark_is_prefix),
        (["SK", "VOTE#", "TOTAL"], true)
    );
    assert_eq!((&*found.attribute, found.counts_items), ("votes", true));
    // Keys are cut by characters, not bytes.
    for (vote, total, cut, around) in [
        ("{service}.{id | shard(20)}", "{service}", [0, 3], ["", ""]),
        (
            "é#{service}·{id | shard(9)}!",
            "T#{service}#",
            [2, 3],
            ["T#", "#"],
        ),
        (
            "{id | shard(200)}#{service | upper}",
            "{service | upper}",
            [4, 0],
            ["", ""],
        ),
        ("V{id | shard(3)}", "ALL", [2, 0], ["ALL", ""]),
        (
            "{service}#{service}.{id | shard(3)}",
            "{service}#{service}",
            [0, 2],
            ["", ""],
        ),
    ] {
        let vote = format!("PK: \"{vote}\", SK: VOTE");
        let total = format!("PK: \"{total}\", SK: TOTAL");
        let found = Votes {
            vote: &vote,
            total: &total,
            roll_up: "of: VOTE, sum: votes, schedule: cron(0 * * * ? *)",
            ..VOTES
        };
        let found = found.check().unwrap();
        let own = [found.around[0].as_str(), found.around[1].as_str()];
        assert_eq!((found.cut, own), (cut, around), "{vote}");
        // The whole sort key is one text.
        assert!(!found.mark_is_prefix && !found.counts_items);
    }
}

#[test]
fn the_type_attribute_tells_items_apart_where_there_is_one() {
    let found = Votes {
        table: "type_attribute: kind",
        vote: "PK: \"{service}.{id | shard(20)}\", SK: \"{id | pad(8)}\"",
        ..VOTES
    };
    let found = found.check().unwrap();
    let marks = [&*found.mark, &*found.of_mark, &*found.total_mark];
    assert_eq!(
        (marks, found.mark_is_prefix),
        (["kind", "VOTE", "TOTAL"], false)
    );
}

#[test]
fn what_cannot_be_summed_is_refused() {
    let faults = |votes: Votes<'_>| votes.check().unwrap_err().join("; ");
    let keys = |vote: &str, total: &str| {
        let votes = Votes {
            vote,
            total,
            ..VOTES
        };
        votes.check().unwrap_err().join("; ")
    };
    let roll_up = |roll_up| faults(Votes { roll_up, ..VOTES });
    assert_eq!(
        keys("PK: \"{service}.{id | pad(8)}\", SK: VOTE", VOTES.total),
        "VOTE: the key of `VOTE`, `{service}.{id | pad(8)}`, has no shard at one of its ends"
    );
    for total in [
        "{service | upper}",
        "{service}#{service}",
        "{service}[#{name}]",
        "ALL",
    ] {
        assert_eq!(
            keys(VOTES.vote, &format!("PK: \"{total}\", SK: TOTAL")),
            format!(
                "VOTE: the key of `TOTAL`, `{total}`, is not that of `VOTE`, `{{service}}.{{id | shard(20)}}`, without its shard"
            ),
        );
    }
    assert_eq!(
        keys(VOTES.vote, "PK: \"{service}\", SK: \"TOTAL#{name}\""),
        "VOTE: the sort key of `TOTAL` is not one text, so there may be several items for one sum"
    );
    let alike = "VOTE: the function cannot tell the items of `VOTE` and `TOTAL` from others";
    for vote in ["{id | pad(8)}", "T{id | pad(8)}", "TOTAL{id}"] {
        let vote = format!("PK: \"{{service}}.{{id | shard(20)}}\", SK: \"{vote}\"");
        assert_eq!(keys(&vote, VOTES.total), alike, "{vote}");
    }
    assert_eq!(
        faults(Votes {
            table: "key_escape: percent",
            ..VOTES
        }),
        "VOTE: the key of `TOTAL`, `{service}`, is not that of `VOTE`, `{service}.{id | shard(20)}`, without its shard"
    );
    let both = "a roll-up has either a `count` or a `sum`";
    for (written, wrong) in [
        (
            "of: VOTE, schedule: rate(1 day)",
            format!("{{ of: VOTE, schedule: rate(1 day) }}: {both}"),
        ),
        (
            "of: VOTE, count: a, sum: b, schedule: rate(1 day)",
            format!("{{ of: VOTE, count: a, sum: b, schedule: rate(1 day) }}: {both}"),
        ),
        (
            "of: TOTAL, count: votes, schedule: rate(1 day)",
            "TOTAL: there is no other item type `TOTAL`".to_owned(),
        ),
        (
            "of: VOTE, count: vote, schedule: rate(1 day)",
            "vote: `TOTAL` has no attribute `vote`".to_owned(),
        ),
        (
            "of: VOTE, sum: nme, schedule: rate(1 day)",
            "nme: `TOTAL` has no attribute `nme`".to_owned(),
        ),
        (
            "of: VOTE, count: sum, schedule: rate(1 day)",
            "sum: `sum` of `TOTAL` is text, not a number".to_owned(),
        ),
        (
            "of: VOTE, count: PK, schedule: rate(1 day)",
            "PK: `PK` is a key attribute, which no function can change".to_owned(),
        ),
        (
            "of: VOTE, count: votes, schedule: rate(5 minute)",
            "rate(5 minute): `rate(5 minute)` is not a schedule of Amazon EventBridge".to_owned(),
        ),
        (
            "of: VOTE, count: votes, schedule: rate(0 minutes)",
            "rate(0 minutes): `rate(0 minutes)` is not a schedule of Amazon EventBridge".to_owned(),
        ),
        (
            "of: VOTE, count: votes, schedule: hourly",
            "hourly: `hourly` is not a schedule of Amazon EventBridge".to_owned(),
        ),
    ] {
        assert_eq!(roll_up(written), wrong);
    }
}
