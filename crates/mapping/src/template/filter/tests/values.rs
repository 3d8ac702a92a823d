use dynafold_relational::value::UnfitReason;

use super::*;

#[test]
fn pad_refuses_what_it_would_have_to_bend() {
    for (filter, given, result) in [
        ("pad(8)", "31", "\"00000031\""),
        ("pad(8)", "9", "\"00000009\""),
        ("pad(8)", "0", "\"00000000\""),
        ("pad(8)", "12345678", "\"12345678\""),
        ("pad(8)", "123456789", "pad-overflow"),
        ("pad(8)", "-1", "pad-negative"),
        ("pad(8)", "12.5", "pad-fraction"),
        ("pad(6, 2)", "12.5", "\"000012.50\""),
        ("pad(6, 2)", "12", "\"000012.00\""),
        ("pad(6, 2)", "0.05", "\"000000.05\""),
        ("pad(6, 2)", "0.005", "pad-fraction"),
        ("pad(6, 2)", "1234567", "pad-overflow"),
        ("desc(3)", "0", "\"999\""),
        ("desc(3)", "31", "\"968\""),
        ("desc(3)", "1000", "desc-overflow"),
        ("desc(3)", "-1", "desc-negative"),
        ("desc(3)", "1.5", "desc-fraction"),
    ] {
        assert_eq!(apply(filter, number(given)), result, "{given} | {filter}");
    }
    assert_eq!(apply("pad(8)", text("31")), "wrong-kind");
    assert_eq!(apply("number | pad(8)", text("31")), "\"00000031\"");
}

#[test]
fn nine_sorts_after_thirty_one_without_pad_and_before_it_with() {
    let key = |filter, given| apply(filter, number(given));
    assert!(key("string", "9") > key("string", "31"));
    assert!(key("pad(8)", "9") < key("pad(8)", "31"));
    assert!(key("desc(8)", "9") > key("desc(8)", "31"));
}

#[test]
fn ordered_numbers_look_as_documented() {
    for (given, result) in [
        ("12.5", "p501125."),
        ("-12.5", "n498874~"),
        ("0", "o"),
        ("1e125", "p6251."),
        ("1e-130", "p3701."),
        ("-1e125", "n3748~"),
        ("100", "p5021."),
        ("0.05", "p4985."),
        ("10.01", "p5011001."),
    ] {
        assert_eq!(
            apply("ordered", number(given)),
            format!("\"{result}\""),
            "{given}"
        );
    }
}

#[test]
fn text_filters_know_characters() {
    for (filter, given, result) in [
        ("upper", "straße", "\"STRASSE\""),
        ("lower", "ÀB", "\"àb\""),
        ("trim", "  a b\t", "\"a b\""),
        ("truncate(2)", "가나다", "\"가나\""),
        ("truncate(9)", "가나다", "\"가나다\""),
        ("replace(/, -)", "a/b/c", "\"a-b-c\""),
        ("replace(\"/\", \"\")", "a/b", "\"ab\""),
    ] {
        assert_eq!(apply(filter, text(given)), result, "{given} | {filter}");
    }
    assert_eq!(apply("upper", number("1")), "wrong-kind");
}

#[test]
fn null_passes_through_all_filters_but_default_and_present() {
    for entry in Filter::NAMES {
        let example = entry.example.trim_matches(['{', '}']);
        let calls = example.split_once(" | ").map_or("", |(_, calls)| calls);
        let expected = match entry.name {
            "default" => "\"none\"",
            "present" => "0",
            _ => "NULL",
        };
        assert_eq!(apply(calls, Value::Null), expected, "{}", entry.name);
    }
    assert_eq!(apply("present(1, 0)", text("")), "1");
    assert_eq!(apply("default(none)", text("x")), "\"x\"");
}

#[test]
fn unfit_values_are_refused_with_their_reason_unless_a_filter_mends_them() {
    let nan = || Value::unfit("NaN", UnfitReason::NotFinite);
    let two = || Value::unfit("2", UnfitReason::NotABoolean);
    let zero_date = || Value::unfit("0000-00-00", UnfitReason::ZeroDate);
    assert_eq!(apply("string", nan()), "\"NaN\"");
    assert_eq!(apply("number", nan()), "unfit-value");
    assert_eq!(apply("pad(3)", nan()), "unfit-value");
    assert_eq!(apply("redact", nan()), "unfit-value");
    assert_eq!(apply("number", two()), "2");
    assert_eq!(apply("bool", two()), "unfit-value");
    assert_eq!(apply("default(1970-01-01) | epoch", zero_date()), "0");
    assert_eq!(apply("present(1, 0)", zero_date()), "1");
    assert_eq!(
        apply("json", Value::unfit("{", UnfitReason::NotJson)),
        "unfit-value"
    );
    assert_eq!(
        apply("binary", Value::unfit("a\u{fffd}", UnfitReason::NotUtf8)),
        "unfit-value"
    );
    let Err(error) = try_apply("pad(3)", nan(), &Context::default()) else {
        panic!("refused");
    };
    assert_eq!(error.to_string(), UnfitReason::NotFinite.to_string());
    assert_eq!(error.help(), UnfitReason::NotFinite.help());
}

#[test]
fn map_compares_canonical_texts() {
    let filter = "map(1: one, true: T, 2026-01-31: D, a: 7)";
    assert_eq!(apply(filter, number("1.0")), "\"one\"");
    assert_eq!(apply(filter, Value::Bool(true)), "\"T\"");
    assert_eq!(apply(filter, time("2026-01-31")), "\"D\"");
    assert_eq!(apply(filter, text("a")), "7");
    assert_eq!(apply(filter, text("A")), "unmapped");
    assert_eq!(apply(filter, Value::List(Vec::new())), "wrong-kind");
    assert_eq!(apply("map(a: x, *: z)", text("b")), "\"z\"");
    assert_eq!(apply("map(a: x, \"*\": z)", text("b")), "unmapped");
}

#[test]
fn shards_are_those_that_any_crc32_gives() {
    // zlib.crc32(b"voter-1") % 20 and so on, as Python computes them.
    for (given, shards, shard) in [
        (text("123456789"), 20, "02"),
        (text("voter-1"), 20, "13"),
        (number("42"), 20, "08"),
        (text("42"), 20, "08"),
        (text("가"), 101, "024"),
        (Value::Bool(true), 10, "7"),
        (text("x"), 1, "0"),
    ] {
        let filter = format!("shard({shards})");
        assert_eq!(
            apply(&filter, given.clone()),
            format!("\"{shard}\""),
            "{given:?}"
        );
    }
}

#[test]
fn bytes_become_text() {
    let uuid = (0..16).collect::<Vec<u8>>();
    let of = |bytes: &[u8]| Value::Bytes(bytes.to_vec());
    assert_eq!(apply("hex", of(&[0, 0xde, 0xad])), "\"00dead\"");
    assert_eq!(apply("base64", of(b"a?>")), "\"YT8+\"");
    assert_eq!(
        apply("uuid", of(&uuid)),
        "\"00010203-0405-0607-0809-0a0b0c0d0e0f\""
    );
    // UUID_TO_BIN('04050607-0203-0001-0809-0a0b0c0d0e0f', 1) is 0x000102…0f.
    assert_eq!(
        apply("uuid(swap)", of(&uuid)),
        "\"04050607-0203-0001-0809-0a0b0c0d0e0f\""
    );
    assert_eq!(apply("uuid", of(&[1])), "not-a-uuid");
    assert_eq!(
        apply("uuid", text("00010203-0405-0607-0809-0A0B0C0D0E0F")),
        "\"00010203-0405-0607-0809-0a0b0c0d0e0f\""
    );
    assert_eq!(
        apply("uuid", text("000102030405060708090A0B0C0D0E0F")),
        "\"00010203-0405-0607-0809-0a0b0c0d0e0f\""
    );
    assert_eq!(apply("uuid", text("00010203")), "not-a-uuid");
}

#[test]
fn conversions_convert_or_refuse() {
    let list = |members: Vec<Value>| Value::List(members);
    for (filter, given, result) in [
        ("string", number("1.50"), "\"1.5\""),
        ("string", Value::Bool(true), "\"true\""),
        ("string", time("2026-01-31"), "\"2026-01-31\""),
        (
            "string",
            list(vec![number("1"), Value::Null]),
            "\"[1,null]\"",
        ),
        ("string", Value::Bytes(vec![1]), "wrong-kind"),
        ("number", text("1e3"), "1000"),
        ("number", text(" 1"), "not-a-number"),
        ("number", Value::Bool(true), "1"),
        ("number", time("2026-01-31"), "wrong-kind"),
        ("bool", text("Yes"), "true"),
        ("bool", text("F"), "false"),
        ("bool", number("0"), "false"),
        ("bool", number("2"), "not-a-boolean"),
        ("bool", text("on"), "not-a-boolean"),
        ("binary", text("가"), "0xeab080"),
        ("json", text("{\"a\":[1.0]}"), "{\"a\":[1]}"),
        ("json", text("{"), "not-json"),
        ("json", list(vec![]), "[]"),
        ("set", list(vec![text("b"), text("a")]), "[\"b\",\"a\"]"),
        ("set", text("a"), "[\"a\"]"),
        ("set", list(vec![text("b"), Value::Null]), "set-null"),
        ("set", list(vec![Value::Bool(true)]), "set-member"),
        ("set", Value::Map(vec![]), "set-member"),
    ] {
        assert_eq!(apply(filter, given.clone()), result, "{given:?} | {filter}");
    }
}

#[test]
fn no_message_holds_a_value_of_the_row() {
    for (filter, given) in [
        ("pad(2)", number("987654")),
        ("number", text("s3cret")),
        ("bool", text("s3cret")),
        ("json", text("s3cret")),
        ("uuid", text("s3cret")),
        ("time(\"%F\")", text("s3cret")),
        ("map(a: b)", text("s3cret")),
        ("epoch", text("s3cret")),
        ("json", Value::unfit("s3cret", UnfitReason::NotJson)),
    ] {
        let error = try_apply(filter, given, &Context::default()).expect_err(filter);
        let shown = format!("{error} {error:?} {}", error.help());
        assert!(
            !shown.contains("s3cret") && !shown.contains("987654"),
            "{shown}"
        );
    }
}

#[test]
fn json_that_dynamodb_cannot_hold_is_not_called_malformed() {
    let error = try_apply("json", text(r#"{"a":1,"a":2}"#), &Context::default());
    let error = error.expect_err("a member twice").to_string();
    assert_eq!(
        error,
        "the text cannot be read as JSON: an object names a member twice"
    );
}
