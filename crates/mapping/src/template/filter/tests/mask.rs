use super::*;

#[test]
fn redaction_keeps_type_and_precision_alone() {
    for (given, result) in [
        (text("Ada"), "\"REDACTED\""),
        (number("-7.5"), "0"),
        (Value::Bool(true), "false"),
        (time("2026-01-31T14:05:00.123Z"), "1970-01-01T00:00:00.000Z"),
        (time("2026-01-31T14:05:00"), "1970-01-01T00:00:00"),
        (time("2026-01-31"), "1970-01-01"),
        (time("14:05:00.1+09:00"), "00:00:00.0+00:00"),
        (Value::Bytes(vec![1]), "0x"),
        (Value::List(vec![text("a")]), "[]"),
    ] {
        assert_eq!(apply("redact", given.clone()), result, "{given:?}");
    }
}

#[test]
fn pseudonyms_are_the_same_for_the_same_key_and_value() {
    let with = |key: &[u8], given: Value| {
        let context = Context {
            secret: Secret::new(key),
            ..Context::default()
        };
        show(try_apply("pseudonym", given, &context))
    };
    // Stored staging tables depend on these: they must never change.
    assert_eq!(with(b"key", text("Ada")), "\"sbqkmnzmfbkeskw77h6eqf3fkq\"");
    let uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
    let stand_in = with(b"key", text(uuid));
    assert_eq!(stand_in, "\"5be44ad1-6bc7-85ac-aaab-5ce336239b01\"");
    assert_eq!(with(b"key", text(&uuid.to_uppercase())), stand_in);
    assert_eq!(with(b"key", number("123456")), "605187");
    assert_ne!(with(b"key", text("Ada")), with(b"other", text("Ada")));
    assert_ne!(
        with(b"key", number("123456")),
        with(b"other", number("123456"))
    );
    assert_eq!(with(b"key", number("1.5")), "pseudonym-number");
    assert_eq!(with(b"key", number("1e38")), "pseudonym-number");
    assert_eq!(with(b"key", time("2026-01-31")), "wrong-kind");
    assert_eq!(with(b"", text("Ada")), "no-secret");
    assert_eq!(format!("{:?}", masked()).matches("Secret(…)").count(), 1);
    assert!(!format!("{:?}", masked()).contains("key"));
}

#[test]
fn pseudonyms_of_integers_are_a_permutation_of_those_with_as_many_digits() {
    let secret = Secret::new(b"key").expect("a key");
    for negative in [false, true] {
        for (least, end) in [
            (u128::from(negative), 10),
            (10, 100),
            (100, 1000),
            (1000, 10_000),
        ] {
            let mut seen: Vec<u128> = (least..end)
                .map(|n| apply::permute(&secret, n, negative))
                .collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(least..end), "{least} {negative}");
        }
    }
}

#[test]
fn a_secret_is_known_again_by_its_check() {
    let check = |key: &[u8]| Secret::new(key).expect("a key").check();
    assert_eq!(check(b"key").len(), 8);
    assert_eq!(check(b"key"), check(b"key"));
    assert_ne!(check(b"key"), check(b"kez"));
}
