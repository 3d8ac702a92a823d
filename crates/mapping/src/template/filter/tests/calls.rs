use dynafold_relational::catalog::TypeFamily;

use super::*;

#[test]
fn constants_have_the_type_that_they_are_written_as() {
    for (written, shown) in [
        ("0", "0"),
        ("-1.50", "-1.5"),
        ("true", "true"),
        ("2026-01-31", "2026-01-31"),
        ("2026-01-31T00:00:00Z", "2026-01-31T00:00:00Z"),
        ("\"0\"", "\"0\""),
        ("007", "\"007\""),
        ("+7", "\"+7\""),
        ("1e3", "\"1e3\""),
        ("2026-02-30", "\"2026-02-30\""),
        ("not given", "\"not given\""),
        ("-", "\"-\""),
        (".5", "\".5\""),
    ] {
        assert_eq!(
            apply(&format!("default({written})"), Value::Null),
            shown,
            "{written}"
        );
    }
}

#[test]
fn wrong_calls_say_what_the_filter_takes() {
    let fault = |text| match filters(text) {
        Ok(filters) => format!("{filters:?}"),
        Err(error) => format!("{error}: {}", error.help()),
    };
    let faults = [
        "padd(8)",
        "sha256",
        "pad",
        "pad(x)",
        "pad(0)",
        "pad(39)",
        "pad(1, 2, 3)",
        "upper(1)",
        "plus(7)",
        "plus(7 days)",
        "plus(9999999y)",
        "map(a:x)",
        "map(a)",
        "map(*: x)",
        "map(a: x, a: y)",
        "shard(0)",
        "uuid(mysql)",
        "default(a: b)",
        "format(x)",
        "format(\"%!\")",
        "time(\"%c\")",
        "time(\"%M\")",
        "replace(\"\", x)",
    ];
    let faults: Vec<String> = faults.into_iter().map(fault).collect();
    insta::assert_snapshot!(faults.join("\n"), @r#"
    there is no filter `padd`: did you mean `pad`?
    there is no filter `sha256`: did you mean `pseudonym`?
    `pad` needs arguments: write pad(n) or pad(n, scale), as in `{id | pad(8)}`
    `pad` takes whole numbers from 1 to 38, but `x` is not one: write pad(n) or pad(n, scale), as in `{id | pad(8)}`
    `pad` takes whole numbers from 1 to 38, but `0` is not one: write pad(n) or pad(n, scale), as in `{id | pad(8)}`
    `pad` takes whole numbers from 1 to 38, but `39` is not one: write pad(n) or pad(n, scale), as in `{id | pad(8)}`
    `pad` does not take 3 arguments: write pad(n) or pad(n, scale), as in `{id | pad(8)}`
    `upper` needs no arguments, and gets 1: write upper, as in `{code | upper}`
    `plus` takes a period such as 7d, 12h or 1mo, but `7` is not one: write plus(7d), as in `{created_at | plus(7d) | epoch}`
    `plus` takes a period such as 7d, 12h or 1mo, but `7 days` is not one: write plus(7d), as in `{created_at | plus(7d) | epoch}`
    `plus` cannot add as much as 9999999y: write plus(7d), as in `{created_at | plus(7d) | epoch}`
    `map` needs a space after the colon in `a:x`: write map(a: x, *: z), as in `{state | map(active: A, closed: C, *: X)}`
    `map` takes pairs, but `a` is not one: write map(a: x, *: z), as in `{state | map(active: A, closed: C, *: X)}`
    `map` names no value: write map(a: x, *: z), as in `{state | map(active: A, closed: C, *: X)}`
    `map` has `a` twice: write map(a: x, *: z), as in `{state | map(active: A, closed: C, *: X)}`
    `shard` takes whole numbers from 1 to 1000000, but `0` is not one: write shard(n), as in `{voter_id | shard(20)}`
    `uuid` has no byte order `mysql`: write uuid or uuid(swap), as in `{id | uuid}`
    `default` takes no pairs such as `a: …`: write default(x), as in `{region | default(none)}`
    `format` takes a strftime pattern, but `x` is not one: write format("…"), as in `{created_at | format("%Y-%m")}`
    `format` takes a strftime pattern, but `%!` is not one: strftime formatting failed: found unrecognized specifier directive `!`: write format("…"), as in `{created_at | format("%Y-%m")}`
    `time` cannot read times by `%c`; a part of it is for writing only: write time("…"), as in `{logged | time("%Y-%m-%d %H:%M")}`
    `time` cannot tell a date or a time of day from `%M`: write time("…"), as in `{logged | time("%Y-%m-%d %H:%M")}`
    `replace` cannot replace empty text: write replace(a, b), as in `{path | replace(/, -)}`
    "#);
}

#[test]
fn families_are_checked_before_any_row_is_read() {
    use TypeFamily::{Any, Binary, Boolean, Document, List, Map, Number, Set, Text, Time};
    let all = [
        Number, Text, Boolean, Time, Binary, Document, List, Map, Set, Any,
    ];
    let mut lines = String::new();
    for entry in Filter::NAMES {
        let calls = entry.example.trim_matches(['{', '}']);
        let calls = calls.split_once(" | ").map_or("", |(_, calls)| calls);
        let first = filters(calls).expect(calls).remove(0);
        let taken: Vec<String> = all
            .iter()
            .filter_map(|family| {
                first
                    .family(*family)
                    .ok()
                    .map(|out| format!("{family:?}>{out:?}"))
            })
            .collect();
        lines.push_str(&format!("{}: {}\n", entry.name, taken.join(" ")));
    }
    insta::assert_snapshot!(lines, @r"
    pad: Number>Text Document>Text Any>Text
    ordered: Number>Text Document>Text Any>Text
    desc: Number>Text Document>Text Any>Text
    iso: Time>Text Any>Text
    date: Time>Time Any>Time
    epoch: Time>Number Any>Number
    epoch_ms: Time>Number Any>Number
    format: Time>Text Any>Text
    time: Text>Time Document>Time Any>Time
    plus: Time>Time Any>Time
    upper: Text>Text Document>Text Any>Text
    lower: Text>Text Document>Text Any>Text
    trim: Text>Text Document>Text Any>Text
    truncate: Text>Text Document>Text Any>Text
    replace: Text>Text Document>Text Any>Text
    default: Text>Text Document>Document Any>Any
    present: Number>Number Text>Number Boolean>Number Time>Number Binary>Number Document>Number List>Number Map>Number Set>Number Any>Number
    map: Number>Text Text>Text Boolean>Text Time>Text Document>Text Any>Text
    shard: Number>Text Text>Text Boolean>Text Time>Text Document>Text Any>Text
    hex: Binary>Text Any>Text
    base64: Binary>Text Any>Text
    uuid: Text>Text Binary>Text Document>Text Any>Text
    string: Number>Text Text>Text Boolean>Text Time>Text Document>Text List>Text Map>Text Set>Text Any>Text
    number: Number>Number Text>Number Boolean>Number Document>Number Any>Number
    bool: Number>Boolean Text>Boolean Boolean>Boolean Document>Boolean Any>Boolean
    binary: Text>Binary Binary>Binary Document>Binary Any>Binary
    json: Number>Document Text>Document Boolean>Document Document>Document List>Document Map>Document Any>Document
    set: Number>Set Text>Set Time>Set Binary>Set Document>Set List>Set Set>Set Any>Set
    redact: Number>Number Text>Text Boolean>Boolean Time>Time Binary>Binary Document>Document List>List Map>Map Set>Set Any>Any
    pseudonym: Number>Number Text>Text Document>Any Any>Any
    ");
}

#[test]
fn type_faults_say_how_to_mend_them() {
    use TypeFamily::{Binary, Boolean, Document, List, Map, Number, Text, Time};
    let fault = |text: &str, family: TypeFamily| {
        let filter = filters(text).expect(text).remove(0);
        let error = filter.family(family).expect_err(text);
        format!("{error}: {}", error.help)
    };
    let faults = [
        fault("pad(8)", Text),
        fault("pad(8, 2)", Boolean),
        fault("pad(8)", Time),
        fault("ordered", Map),
        fault("epoch", Text),
        fault("iso", Document),
        fault("upper", Number),
        fault("number", Time),
        fault("string", Binary),
        fault("shard(20)", Binary),
        fault("shard(20)", List),
        fault("map(a: b)", Map),
        fault("hex", Text),
        fault("pseudonym", Time),
        fault("default(0)", Text),
        fault("default(none)", Number),
        fault("default(never)", Time),
        fault("default(0)", Boolean),
    ];
    insta::assert_snapshot!(faults.join("\n"), @r#"
    `pad` needs a non-negative number, and gets text: read it as a number first: `| number | pad(8)`
    `pad` needs a non-negative number, and gets a boolean: make it a number first: `| number | pad(8, 2)`
    `pad` needs a non-negative number, and gets a time: turn the time into a number first: `| epoch | pad(10)` or `| epoch_ms | pad(13)`; or leave the filter out: the text of a time already sorts by time
    `ordered` needs a number, and gets a map: `ordered` is for a number, as in `{balance | ordered}`
    `epoch` needs a date or timestamp, and gets text: read it as a time first: `| time("%Y-%m-%d") | epoch`
    `iso` needs a date or timestamp, and gets a JSON document: read it as a time first: `| time("%Y-%m-%d") | iso`
    `upper` needs text, and gets a number: make it text first: `| string | upper`
    `number` needs text, a boolean or a number, and gets a time: turn it into a number: `| epoch` gives seconds, `| epoch_ms` milliseconds
    `string` needs any value but binary, and gets binary: make it text first: `| hex`, `| base64` or `| uuid`
    `shard` needs a scalar, and gets binary: make it text first: `| hex`, `| base64` or `| uuid`
    `shard` needs a scalar, and gets a list: make it text first: `| string | shard(20)`
    `map` needs a scalar, and gets a map: make it text first: `| string | map(…)`
    `hex` needs binary, and gets text: `hex` is for binary, as in `{digest | hex}`
    `pseudonym` needs text, or a whole number, and gets a time: use `redact` for it
    `default` replaces NULL by a number, but the values are text: write it in quotes, `default("0")`, to make it text
    `default` replaces NULL by text, but the values are a number: give a number, `default(0)`, or make text of it first: `| string | default(…)`
    `default` replaces NULL by text, but the values are a time: give a time in full, without quotes: `default(1970-01-01)` for a date, `default(1970-01-01T00:00:00Z)` for a timestamp; or make text of it first: `| string | default(…)`
    `default` replaces NULL by a number, but the values are a boolean: give `default(true)` or `default(false)`, or make text of it first: `| string | default(…)`
    "#);
}

#[test]
fn every_example_of_the_table_compiles_to_the_filter_of_that_name() {
    for entry in Filter::NAMES {
        let calls = entry.example.trim_matches(['{', '}']);
        let calls = calls.split_once(" | ").map_or("", |(_, calls)| calls);
        let compiled = filters(calls).expect(calls);
        assert!(
            compiled.iter().any(|f| f.name() == entry.name),
            "{}",
            entry.name
        );
    }
}
