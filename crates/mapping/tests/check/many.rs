//! Many item types, and large templates: the work of the proofs is bounded, and what was not proved is said.

use std::time::{Duration, Instant};

use dynafold_mapping::claim::{Claim, ClaimKind, ClaimVerdict};
use dynafold_mapping::diagnostic::{Code, render};
use dynafold_mapping::{Described, Proofs, Raw, Resolution, resolve};
use dynafold_relational::catalog::{Catalog, Dbms};
use dynafold_testing::cases::part_of;
use dynafold_testing::spent;

/// So many tables like the first of the example's.
fn tables(count: usize) -> Catalog {
    let mut catalog = super::catalog();
    let model = catalog.tables.swap_remove(0);
    let named = |number: usize| {
        let mut table = model.clone();
        table.name.name = format!("t{number}");
        table.primary_key = vec!["user_id".to_owned()];
        table.foreign_keys.clear();
        table.columns[1].nullable = true;
        table
    };
    catalog.tables = (0..count).map(named).collect();
    catalog
}

/// An item type for each table, whose key is written by `key`.
fn mapping(count: usize, key: &dyn Fn(usize) -> String, patterns: &str) -> String {
    let head = "dynafold: 1\ntable: { name: app, key: { partition: PK, sort: SK } }\nitems:\n";
    let items =
        (0..count).map(|at| format!("  T{at}:\n    from: t{at}\n    key: {{ {} }}\n", key(at)));
    format!("{head}{}{patterns}", items.collect::<String>())
}

fn checked(text: &str, catalog: &Catalog) -> (Resolution, Duration) {
    let (begun, clock) = (spent(), Instant::now());
    let (raw, faults) = Raw::read(text, &|_| None);
    let resolution = resolve(&raw.unwrap(), faults, catalog, &Described::new());
    let took = spent().zip(begun);
    let took = took.and_then(|(end, begun)| end.checked_sub(begun));
    (resolution, took.unwrap_or_else(|| clock.elapsed()))
}

fn proofs(resolution: &Resolution) -> &Proofs {
    let proofs = resolution.proofs.as_ref();
    proofs.unwrap_or_else(|| panic!("{:?}", &resolution.diagnostics[..1]))
}

/// How the keys of many item types are written, and whether all pairs are apart by their beginnings, or none.
type Form = (&'static str, fn(usize) -> String, bool);
const FORMS: [Form; 5] = [
    (
        "each begins with its own text",
        |at| format!(r#"PK: "T{at}#{{user_id}}", SK: "T{at}#""#),
        true,
    ),
    (
        "one sort key of its own each",
        |at| format!(r#"PK: "TENANT#{{user_id}}", SK: "T{at}#{{user_id}}""#),
        true,
    ),
    (
        "all begin alike",
        |_| r#"PK: "T#{user_id}", SK: "T#{user_id}""#.to_owned(),
        false,
    ),
    (
        "none begins with a text",
        |_| r#"PK: "{service}", SK: "{setting_type}""#.to_owned(),
        false,
    ),
    (
        "each ends with its own text",
        |at| format!(r#"PK: "{{user_id}}#T{at}", SK: "{{user_id}}#T{at}#""#),
        false,
    ),
];

#[test]
fn many_item_types_are_proved_in_bounded_time_and_few_words() {
    let count = usize::try_from(part_of(3_000)).unwrap();
    let all_pairs = count * (count - 1) / 2;
    let catalog = tables(count);
    for (what, key, is_apart) in FORMS {
        let by_beginning = if is_apart { all_pairs } else { 0 };
        let (_, short) = checked(&mapping(count / 4, &key, ""), &catalog);
        let text = mapping(count, &key, "");
        let (resolution, mut long) = checked(&text, &catalog);
        // Four times as many; that each is compared with each would take sixteen times as long.
        let most = short.max(Duration::from_millis(500)) * 10;
        if long >= most {
            // A busy machine can double a measurement, seldom twice.
            long = checked(&text, &catalog).1;
        }
        assert!(
            long < most,
            "{what}: {long:?} for four times what took {short:?}"
        );
        let proofs = proofs(&resolution);
        assert_eq!(proofs.pairs_by_beginning, by_beginning, "{what}");
        let of_pairs = |claim: &&Claim| claim.of.item_types.len() == 2;
        let pairs = proofs.of(ClaimKind::KeysDiffer).filter(of_pairs).count();
        assert_eq!(
            by_beginning + pairs + proofs.pairs_not_compared,
            all_pairs,
            "{what}"
        );
        assert!(pairs <= 20_000, "{what}: {pairs} claims");
        let model = resolution.model.as_ref().unwrap();
        let of_pairs = proofs.of(ClaimKind::KeysDiffer).filter(of_pairs);
        let unproved = of_pairs.filter(|claim| !claim.is_proved()).count();
        assert_eq!(
            model.unproved_pairs.as_ref().map(Vec::len),
            (proofs.pairs_not_compared == 0).then_some(unproved),
            "{what}"
        );
        assert_eq!(proofs.keys_differ(), is_apart, "{what}");
        let not_compared = |claim: &&Claim| claim.of.item_types.is_empty();
        let mut not_compared = proofs.of(ClaimKind::KeysDiffer).filter(not_compared);
        let said = not_compared
            .next()
            .map(|claim| (claim.verdict, claim.because.clone()));
        if proofs.pairs_not_compared == 0 {
            assert_eq!(said, None, "{what}");
        } else {
            let (verdict, because) = said.unwrap();
            assert_eq!(verdict, ClaimVerdict::NotProved);
            assert!(
                because.starts_with(&format!(
                    "{} pairs of item types",
                    proofs.pairs_not_compared
                )),
                "{because}"
            );
        }
        let reported = resolution.diagnostics.len();
        assert!(reported <= 5 * count, "{what}: {reported} diagnostics");
        assert!(
            render("t.yaml", &text, &resolution.diagnostics, false).len() < 1_000 * reported.max(1)
        );
    }
}

#[test]
fn templates_of_hundreds_of_optional_segments_are_not_proved_and_cost_little() {
    let segments: String = (0..400).map(|_| "[#{service}]").collect();
    let key = |at: usize| match at {
        0 => format!(r#"PK: "{segments}", SK: "{{setting_type}}""#),
        1 => format!(r#"PK: "{segments}x", SK: "{{setting_type}}""#),
        _ => r##"PK: "#{service}", SK: "{setting_type}""##.to_owned(),
    };
    let patterns = "access_patterns:\n  p: { key: { PK: \"#{v}\" } }\n";
    let (resolution, took) = checked(&mapping(3, &key, patterns), &tables(3));
    assert!(took < Duration::from_secs(20), "{took:?}");
    let proofs = proofs(&resolution);
    let of = |names: &[&str]| -> ClaimVerdict {
        let mut claims = proofs.of(ClaimKind::KeysDiffer);
        claims
            .find(|claim| claim.of.item_types == names)
            .unwrap()
            .verdict
    };
    for names in [
        &["T0"][..],
        &["T1"],
        &["T0", "T1"],
        &["T0", "T2"],
        &["T1", "T2"],
    ] {
        assert_eq!(of(names), ClaimVerdict::NotProved, "{names:?}");
    }
    let found = proofs.of(ClaimKind::PatternFinds).next().unwrap();
    assert_eq!(found.of.item_types, ["T0", "T1", "T2"]);
    assert!(!found.is_proved(), "{found:?}");
    let unknown = resolution
        .diagnostics
        .iter()
        .filter(|reported| reported.code == Code::KeyUnproved);
    let unknown: Vec<&str> = unknown.map(|reported| reported.message.as_str()).collect();
    assert!(
        unknown.iter().any(|message| message
            .starts_with("it is not known whether `T1` makes the same key as `T0`")),
        "{unknown:?}"
    );
}

#[test]
fn of_a_server_with_many_databases_only_those_that_the_mapping_reads_are_counted() {
    let mut catalog = tables(3);
    for (table, schema) in catalog.tables.iter_mut().zip(["shop", "shop", "stranger"]) {
        table.name.schema = schema.to_owned();
    }
    catalog.search_path = vec!["shop".to_owned()];
    let key = |_| r#"PK: "T#{user_id}", SK: T"#.to_owned();
    for (dbms, unused) in [
        (Dbms::Mariadb, &["t1"][..]),
        (Dbms::Mysql, &["t1"]),
        (Dbms::Postgres, &["t1", "stranger.t2"]),
    ] {
        catalog.dbms = dbms;
        let (resolution, _) = checked(&mapping(1, &key, ""), &catalog);
        assert_eq!(
            proofs(&resolution).coverage.unused_tables,
            unused,
            "{dbms:?}"
        );
    }
}
