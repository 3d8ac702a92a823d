use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

mod print;

use print::print;

fn canonical(text: &str) -> String {
    match parse(text) {
        Ok(written) => print(&written),
        Err(errors) => panic!("{text}: {errors:?}"),
    }
}

/// Every fault as `start..end message / help`.
fn faults(text: &str) -> String {
    let errors = parse(text).expect_err(text);
    let lines: Vec<String> = errors
        .iter()
        .map(|e| format!("{:?} {}\n     {}", e.span, e.message, e.help))
        .collect();
    lines.join("\n")
}

#[test]
fn canonical_templates_print_as_they_were_written() {
    for text in [
        "",
        "SUBSCRIBE_USER",
        "USER#{id | pad(3)}",
        "SUBSCRIBE#{s.service}#{s.content_type}#{s.content_origin_id}",
        "{country}[#{region}][#{state}]#@{id}",
        "body={body | present(1, 0)}#like={like_count | pad(8)}",
        "{created_at | plus(-7d) | epoch}",
        "{`Order ID`}{s.`Order ``ID```}",
        "{{{a}}}{{}}[[]]",
        "[{a}[[]]]",
        "{* | shard(20)}",
        "{log.$index | pad(6)}",
        "{a | map(x: 1, \"y, z\": 'say \"yes\"', *: none of them)}",
        "{a | replace(\":\", :)}",
        "{a | default(2026-01-31T14:05:00Z)}",
        "{a | default(\"\")}",
        "{가격 | format(\"%Y-%m-%d %H:%M\")}",
        "{order-id}",
    ] {
        assert_eq!(canonical(text), text);
    }
}

#[test]
fn spacing_and_needless_quotes_of_names_are_made_canonical() {
    assert_eq!(
        canonical("{ id|pad( 8,2 )|upper ( ) }"),
        "{id | pad(8, 2) | upper}"
    );
    assert_eq!(canonical("{`id`}"), "{id}");
    assert_eq!(
        canonical("{a | map(x:  1 ,y : 2)}"),
        "{a | map(x: 1, y: 2)}"
    );
    assert_eq!(
        canonical("{a | default('it''s')}"),
        "{a | default(\"it's\")}"
    );
}

#[test]
fn places_are_bytes_of_the_template() {
    let text = "가#{s.id | pad(3) | upper}";
    let written = parse(text).expect("a template");
    let [_, Segment::Placeholder(placeholder)] = written.segments.as_slice() else {
        panic!("{written:?}");
    };
    assert_eq!(&text[placeholder.span.clone()], "{s.id | pad(3) | upper}");
    assert_eq!(&text[placeholder.path_span.clone()], "s.id");
    let calls: Vec<&str> = placeholder
        .filters
        .iter()
        .map(|call| &text[call.span.clone()])
        .collect();
    assert_eq!(calls, ["pad(3)", "upper"]);
}

#[test]
fn a_backquoted_star_in_a_path_is_a_column() {
    let written = parse("{s.`*`}").expect("a template");
    assert!(matches!(&written.segments[..], [Segment::Placeholder(p)] if p.path == ["s", "*"]));
    assert_eq!(print(&written), "{s.`*`}");
}

#[test]
fn faults_say_what_is_wrong_and_how_to_mend_it() {
    for (text, message) in [
        ("USER#{id", "5..8 the placeholder is not closed"),
        ("USER#{", "5..6 the placeholder is not closed"),
        ("{a {b}", "0..3 the placeholder is not closed"),
        ("a}b", "1..2 `}` closes nothing"),
        ("a]b", "1..2 `]` closes nothing"),
        ("{}", "0..2 the placeholder names no column"),
        ("{ | upper}", "0..3 the placeholder names no column"),
        ("{Order ID}", "7..8 `I` is not expected here"),
        ("{a.}", "3..4 `}` cannot be in a name without backquotes"),
        ("{a/b}", "2..3 `/` is not expected here"),
        ("{/b}", "1..2 `/` cannot be in a name without backquotes"),
        ("{a.*}", "3..4 `*` cannot be part of a path"),
        ("{id(3)}", "3..4 `(` is not expected here"),
        ("{``}", "1..3 the name is empty"),
        ("{`id}", "1..5 a backquoted name is not closed"),
        ("{id | }", "6..7 a filter's name is missing after `|`"),
        ("{id || upper}", "5..6 a filter's name is missing after `|`"),
        (
            "{id | pad(8}",
            "9..11 the filter's arguments are not closed",
        ),
        (
            "{id | pad(8 | upper}",
            "9..12 the filter's arguments are not closed",
        ),
        ("{id | pad(,8)}", "10..11 an argument is missing before `,`"),
        ("{id | pad(8,)}", "12..13 an argument is missing before `)`"),
        (
            "{id | map(a: )}",
            "13..14 an argument is missing before `)`",
        ),
        ("{id | pad(\"8)}", "10..14 a quoted text is not closed"),
        ("{id | pad(\"8\" 9)}", "14..15 `9` is not expected here"),
        (
            "[#x]",
            "0..4 the optional segment holds no placeholder, so nothing decides whether it is left out",
        ),
        ("[#{x}", "0..1 the optional segment is not closed"),
        ("[{a}[{b}]]", "4..5 optional segments do not nest"),
    ] {
        let found = faults(text);
        let first = found.lines().next().unwrap_or_default();
        assert_eq!(first, message, "{text}");
        assert_eq!(found.lines().count(), 2, "{text}: {found}");
    }
}

#[test]
fn all_faults_of_a_template_are_reported_together() {
    insta::assert_snapshot!(faults("[{}#{id | pad(8}#{a b}}"), @r"
    0..1 the optional segment is not closed
         close it with `]`, or write `[[` for a literal bracket
    1..3 the placeholder names no column
         write a column, `{id}`; write `{{` and `}}` for literal braces
    13..15 the filter's arguments are not closed
         close them with `)`; put arguments that hold any of `,(){}[]|` in quotes
    20..21 `b` is not expected here
         separate filters with `|`; put names with special characters in backquotes: {`Order ID` | upper}
    22..23 `}` closes nothing
         write `}}` for a literal brace
    ");
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    assert!(parse(&"[".repeat(99_999).replace("[[", "[a")).is_err());
    assert!(parse(&"{a".repeat(10_000)).is_err());
}

fn literal() -> impl Strategy<Value = Literal> {
    let quoted = "\\PC{0,6}".prop_map(|text| Literal { text, quoted: true });
    let bare = "[a-z0-9*%/-]([a-z0-9 :]{0,5}[a-z0-9])?".prop_map(|text| Literal {
        text,
        quoted: false,
    });
    // A colon at a word's end, or before a space, parts a pair.
    let bare = bare.prop_filter("a pair", |l| !l.text.contains(": "));
    prop_oneof![quoted, bare]
}

fn call() -> impl Strategy<Value = FilterCall> {
    let argument = prop_oneof![
        literal().prop_map(FilterArgument::Plain),
        (literal(), literal()).prop_map(|(key, value)| FilterArgument::Pair(key, value)),
    ];
    ("[a-z_0-9]{1,8}", vec(argument, 0..4)).prop_map(|(name, arguments)| FilterCall {
        name,
        arguments,
        span: 0..0,
    })
}

fn placeholder() -> impl Strategy<Value = Segment> {
    let name = prop_oneof!["[a-z_$][a-z0-9_]{0,5}", "\\PC{1,6}"];
    let path = prop_oneof![4 => vec(name, 1..4), 1 => Just(vec!["*".to_owned()])];
    (path, vec(call(), 0..3)).prop_map(|(path, filters)| {
        Segment::Placeholder(WrittenPlaceholder {
            path,
            path_span: 0..0,
            filters,
            span: 0..0,
        })
    })
}

fn template() -> impl Strategy<Value = WrittenTemplate> {
    // Texts that touch a segment's brackets do not start with one: see `WrittenTemplate`.
    let text = || "[a-z#}{]\\PC{0,6}".prop_map(Segment::Text);
    let inner = (text(), placeholder(), text()).prop_map(|(a, b, c)| vec![a, b, c]);
    let segment = prop_oneof![text(), placeholder(), inner.prop_map(Segment::Optional)];
    vec(segment, 0..6).prop_map(|segments| {
        let mut merged: Vec<Segment> = Vec::new();
        for segment in segments {
            match (merged.last_mut(), segment) {
                (Some(Segment::Text(before)), Segment::Text(text)) => before.push_str(&text),
                (_, segment) => merged.push(segment),
            }
        }
        WrittenTemplate { segments: merged }
    })
}

fn without_places(segments: &mut [Segment]) {
    for segment in segments {
        match segment {
            Segment::Text(_) => {}
            Segment::Optional(inner) => without_places(inner),
            Segment::Placeholder(placeholder) => {
                placeholder.span = 0..0;
                placeholder.path_span = 0..0;
                placeholder
                    .filters
                    .iter_mut()
                    .for_each(|call| call.span = 0..0);
            }
        }
    }
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_as_the_same(written in template()) {
        let text = print(&written);
        let mut read = parse(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e:?}")))?;
        without_places(&mut read.segments);
        prop_assert_eq!(&read, &written, "{}", text);
        prop_assert_eq!(print(&read), text);
    }

    #[test]
    fn no_text_makes_the_reader_panic_and_places_stay_inside(text in "[a`{}\\[\\]|(),:\"'. *가]{0,24}") {
        match parse(&text) {
            Ok(written) => prop_assert_eq!(parse(&print(&written)).map(|w| print(&w)), Ok(print(&written))),
            Err(errors) => for error in errors {
                prop_assert!(text.get(error.span.clone()).is_some(), "{:?} in {}", error, text);
            },
        }
    }
}
