//! Which literals are numbers of DynamoDB, and what they measure.

use proptest::prelude::*;

use super::*;

#[test]
fn literals_become_canonical_text() {
    for (literal, canonical) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.000", "0"),
        ("+7", "7"),
        ("007", "7"),
        ("1.50", "1.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1e3", "1000"),
        ("1.25E-3", "0.00125"),
        ("-12.50e1", "-125"),
        ("0e99999999999999999999", "0"),
        ("-0.0e-99999999999999999999", "0"),
        ("18446744073709551615", "18446744073709551615"),
    ] {
        assert_eq!(
            Number::parse(literal).map(|n| n.0).as_deref(),
            Ok(canonical),
            "{literal}"
        );
    }
}

#[test]
fn the_edges_of_dynamodb_are_the_edges_here() {
    let nines = "9".repeat(38);
    assert!(Number::parse(&nines).is_ok());
    assert_eq!(
        Number::parse(&format!("{nines}9")),
        Err(NumberError::TooManyDigits)
    );
    assert!(Number::parse(&format!("{nines}000")).is_ok());
    assert!(Number::parse("1E-130").is_ok());
    assert_eq!(Number::parse("1E-131"), Err(NumberError::Magnitude));
    assert!(Number::parse("9.99E+125").is_ok());
    assert_eq!(Number::parse("1E+126"), Err(NumberError::Magnitude));
    assert_eq!(
        Number::parse("1E99999999999999999999"),
        Err(NumberError::Magnitude)
    );
    for wrong in [
        "",
        "-",
        ".",
        "1.2.3",
        "1e",
        "NaN",
        "inf",
        "0x1",
        " 1",
        "--1",
        "x1e99999999999999999999",
    ] {
        assert_eq!(Number::parse(wrong), Err(NumberError::Malformed), "{wrong}");
    }
}

#[test]
fn sizes_are_those_that_dynamodb_counts() {
    // The first block was measured on AWS, the second on DynamoDB Local (docs/adr/0016).
    for (literal, size) in [
        ("0", 1),
        ("-0", 1),
        ("1", 2),
        ("12", 2),
        ("123", 3),
        ("1234", 3),
        ("12345678901234567890123456789012345678", 20),
        ("0042", 2),
        ("100", 2),
        ("1010", 3),
        ("0.0000001", 2),
        ("1E125", 2),
        ("1E-100", 2),
        ("1.5", 3),
        ("15", 2),
        ("1.200", 3),
        ("1.234", 4),
        ("3.14159", 5),
        ("123456", 4),
        ("100.5", 4),
        ("0.15", 2),
        ("-42", 3),
        // Pairs are those of the point, not of the first digit.
        ("120", 3),
        ("1200", 2),
        ("12000", 3),
        ("0.015", 3),
        ("0.0015", 2),
        ("-650", 4),
        // The most there is; without the minus as well.
        ("-12345678901234567890123456789012345678", 21),
        ("123456789012345678901234567890123456780", 21),
        ("-123456789012345678901234567890123456780", 21),
        ("-1.1234567890123456789012345678901234567", 21),
    ] {
        assert_eq!(
            Number::parse(literal).map(|n| n.size()),
            Ok(size),
            "{literal}"
        );
    }
}

#[test]
fn order_is_numeric() {
    let mut numbers: Vec<Number> = ["10", "-3", "9", "0.5", "-20", "0", "9.25"]
        .iter()
        .filter_map(|text| Number::parse(text).ok())
        .collect();
    numbers.sort();
    let texts: Vec<&str> = numbers.iter().map(Number::as_str).collect();
    assert_eq!(texts, ["-20", "-3", "0", "0.5", "9", "9.25", "10"]);
}

proptest! {
    #[test]
    fn the_fast_way_to_read_and_the_whole_one_agree(text in "-?[0-9]{0,25}(\\.[0-9]{0,25})?") {
        // An exponent, even of nothing, is read the whole way.
        prop_assert_eq!(Number::parse(&text), Number::parse(&format!("{text}e0")));
    }

    #[test]
    fn zeros_at_either_end_change_nothing(whole in "0|[1-9][0-9]{0,9}", fraction in "[0-9]{0,9}", zeros in 1..9_usize) {
        let zeros = "0".repeat(zeros);
        let plain = Number::parse(&format!("{whole}.{fraction}1"));
        prop_assert_eq!(Number::parse(&format!("{whole}.{fraction}1{zeros}")), plain.clone());
        prop_assert_eq!(Number::parse(&format!("{zeros}{whole}.{fraction}1")), plain);
    }

    #[test]
    fn numbers_of_few_digits_are_in_the_order_of_what_they_are(
        a in "-?(0|[1-9][0-9]{0,5})(\\.[0-9]{1,6})?",
        b in "-?(0|[1-9][0-9]{0,5})(\\.[0-9]{1,6})?",
    ) {
        let float = |text: &str| text.parse::<f64>().unwrap() + 0.0;
        let order = float(&a).total_cmp(&float(&b));
        let (a, b) = (Number::parse(&a).unwrap(), Number::parse(&b).unwrap());
        prop_assert_eq!(a.cmp(&b), order);
        prop_assert_eq!(b.cmp(&a), order.reverse());
    }
}
