//! Expressions taken apart, and their faults.

use super::*;

fn faulty(text: &str) -> String {
    parse(text).unwrap_err().message
}

#[test]
fn names_parameters_and_constants_are_told_apart() {
    let pieces =
        parse("state = :state AND :n > size(note.lines[0]) or NOT begins_with(`odd name`, 'a')");
    let pieces = pieces.unwrap();
    let shown = pieces.iter().map(|piece| match piece {
        ExpressionPiece::Word(word) | ExpressionPiece::Step(word) => word.clone(),
        ExpressionPiece::Name {
            name, is_attribute, ..
        } => format!("{name}/{is_attribute}"),
        ExpressionPiece::Parameter { name, against, .. } => format!(":{name}/{against:?}"),
        ExpressionPiece::Constant(value) => value.type_name().to_owned(),
    });
    assert_eq!(
        shown.collect::<Vec<_>>().join(" "),
        "state/true = :state/Attribute(\"state\") AND :n/Size > size ( note/true . lines/false [0] ) OR NOT \
         begins_with ( odd name/true , S )"
    );
}

#[test]
fn parentheses_that_say_nothing_are_left_out() {
    let shown = |text: &str| {
        let pieces = parse(text).unwrap().into_iter().map(|piece| match piece {
            ExpressionPiece::Word(word) | ExpressionPiece::Step(word) => word,
            ExpressionPiece::Name { name, .. } => name,
            ExpressionPiece::Parameter { name, .. } => format!(":{name}"),
            ExpressionPiece::Constant(value) => value.type_name().to_owned(),
        });
        pieces.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown("(((a = :a)))"), "( a = :a )");
    assert_eq!(shown("((size(a) = :a))"), "( size ( a ) = :a )");
    assert_eq!(shown("(contains(a, :a))"), "( contains ( a , :a ) )");
    let both = "( ( a = :a ) AND ( b = :b ) )";
    assert_eq!(shown(both), both);
    assert_eq!(shown("(a IN (:a, :b))"), "( a IN ( :a , :b ) )");
}

#[test]
fn the_type_of_an_attribute_is_text() {
    let pieces = parse("attribute_type(a, :t)").unwrap();
    let named = |piece: &ExpressionPiece| {
        matches!(
            piece,
            ExpressionPiece::Parameter {
                against: Comparand::Type,
                ..
            }
        )
    };
    assert!(pieces.iter().any(named), "{pieces:?}");
}

#[test]
fn faults_are_told_in_words() {
    assert_eq!(faulty("state"), "a comparison is missing at the end");
    assert_eq!(faulty("a = 'b"), "the quote is not closed");
    assert_eq!(faulty("a = 1 b"), "`b` is not expected here");
    assert_eq!(
        faulty("#a = 1"),
        "write names without `#`: Dynafold replaces all of them"
    );
    assert_eq!(
        faulty("attribute_exists(:a)"),
        "an attribute is expected, not `:a`"
    );
    assert_eq!(faulty("a between 1 or 2"), "`AND` is expected, not `or`");
    assert_eq!(
        faulty("a[1.5] = 1"),
        "a position is expected, not this value"
    );
    let many = format!("a IN ({}0)", "0, ".repeat(100));
    assert_eq!(
        faulty(&many),
        "IN takes at most 100 values, and this one has 101"
    );
    assert_eq!(faulty(""), "an attribute is missing at the end");
}

#[test]
fn what_dynamodb_refuses_is_told() {
    for (text, message) in [
        ("a < true", "`<` takes no value of type BOOL"),
        ("null >= a", "`>=` takes no value of type NULL"),
        (
            "NOT (a BETWEEN false AND true)",
            "`BETWEEN` takes no value of type BOOL",
        ),
        (
            "begins_with(a, 5)",
            "`begins_with` takes no value of type N",
        ),
        (
            "a BETWEEN 9 AND 10 OR a BETWEEN 10 AND 9",
            "the first value of BETWEEN sorts after the second",
        ),
        (
            "a BETWEEN 1 AND '9'",
            "the two values of BETWEEN are of different types",
        ),
        ("a = a", "DynamoDB refuses `=` of an attribute with itself"),
        (
            "a.b[0] <> a.b[0]",
            "DynamoDB refuses `<>` of an attribute with itself",
        ),
        (
            "a IN (:b, a)",
            "DynamoDB refuses `IN` of an attribute with itself",
        ),
        (
            "contains(a, a)",
            "DynamoDB refuses `contains` of an attribute with itself",
        ),
        (
            "attribute_type(a, 'T')",
            "`attribute_type` takes one of S, SS, N, NS, B, BS, BOOL, NULL, L, M",
        ),
        (
            "attribute_type(a, b)",
            "the second argument of `attribute_type` must be a text or a parameter",
        ),
        (
            "attribute_type(a, size(b))",
            "the second argument of `attribute_type` must be a text or a parameter",
        ),
        (
            "begins_with(a, size(b))",
            "`begins_with` takes no value of type N",
        ),
        (
            "attribute_exists(a.b[4294967296])",
            "the highest position is 4294967295",
        ),
    ] {
        assert_eq!(faulty(text), message, "{text}");
    }
    for step in [".a", "[0]"] {
        let path = |steps: usize| format!("size(d{}) > 1", step.repeat(steps));
        assert!(parse(&path(31)).is_ok(), "{step}");
        assert_eq!(
            faulty(&path(32)),
            "a path has at most 32 levels, and this one has 33"
        );
    }
    for text in [
        "a = b AND a = true AND a <> null",
        "a IN (true, null) AND a.b[0] = a.b[1]",
        "size(a) = a AND size(a) = size(a) AND contains(a, 5) AND attribute_type(a, 'BOOL')",
        "a BETWEEN b AND b AND a BETWEEN '10' AND '9'",
        "begins_with(a, b) AND attribute_type(a, :t) AND attribute_exists(a[4294967295])",
    ] {
        assert!(parse(text).is_ok(), "{text}");
    }
}

#[test]
fn what_is_nested_too_deep_is_refused_and_overflows_nothing() {
    let nested = |open: &str, levels: usize, close: &str| {
        format!("{}a = 1{}", open.repeat(levels), close.repeat(levels))
    };
    assert!(parse(&nested("(", 100, ")")).is_ok());
    assert!(parse(&nested("NOT ", 100, "")).is_ok());
    for (open, close) in [
        ("(", ")"),
        ("NOT ", ""),
        ("NOT (", ")"),
        ("(a = 1 OR ", ")"),
    ] {
        let text = nested(open, 20_000, close);
        assert_eq!(
            faulty(&text),
            "the filter nests deeper than 100 levels",
            "{open}"
        );
    }
    assert!(parse(&nested("a = 1 AND ", 20_000, "")).is_ok());
}
