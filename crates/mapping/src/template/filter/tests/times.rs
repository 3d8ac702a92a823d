use super::*;

fn seoul() -> Context {
    let offset = jiff::tz::Offset::constant(9);
    Context {
        time_zone: jiff::tz::TimeZone::fixed(offset),
        ..Context::default()
    }
}

#[test]
fn times_come_out_in_utc_with_their_digits() {
    for (filter, given, result) in [
        (
            "iso",
            "2026-01-31T14:05:00.120Z",
            "\"2026-01-31T14:05:00.120Z\"",
        ),
        (
            "iso",
            "2026-01-31T14:05:00.120",
            "\"2026-01-31T14:05:00.120Z\"",
        ),
        ("iso", "2026-01-31", "\"2026-01-31T00:00:00Z\""),
        ("iso", "14:05:00", "not-a-date"),
        ("iso", "2026-02-30", "not-a-date"),
        ("date", "2026-01-31T14:05:00Z", "2026-01-31"),
        ("epoch", "1969-12-31T23:59:59.100Z", "-1"),
        ("epoch_ms", "1969-12-31T23:59:59.100Z", "-900"),
        ("epoch_ms", "1969-12-31T23:59:59.9999Z", "-1"),
        ("epoch", "2026-01-31", "1769817600"),
        ("epoch", "9999-12-31T23:59:59Z", "253402300799"),
        ("epoch", "0001-01-01T00:00:00Z", "-62135596800"),
        ("epoch_ms", "2026-01-31T14:05:00.1Z", "1769868300100"),
        (
            "plus(7d)",
            "2026-01-31T14:05:00.120Z",
            "2026-02-07T14:05:00.120Z",
        ),
        ("plus(-7d)", "2026-01-03", "2025-12-27"),
        ("plus(1mo)", "2026-01-31", "2026-02-28"),
        ("plus(1y)", "2024-02-29T00:00:00", "2025-02-28T00:00:00"),
        ("plus(90m)", "2026-01-31T23:00:00", "2026-02-01T00:30:00"),
        ("plus(2w)", "2026-01-31", "2026-02-14"),
        ("plus(36h)", "2026-01-31", "plus-date"),
        ("plus(1s)", "14:05:00", "not-a-date"),
        ("plus(1d)", "9999-12-31", "time-range"),
        ("plus(-1s)", "0001-01-01T00:00:00Z", "time-range"),
        ("format(\"%Y/%m\")", "2026-01-31T14:05:00Z", "\"2026/01\""),
        (
            "format(\"%H:%M:%S%.3f\")",
            "2026-01-31T14:05:00.12",
            "\"14:05:00.120\"",
        ),
        ("format(\"%d.%m.%Y\")", "2026-01-31", "\"31.01.2026\""),
        ("format(\"%H\")", "14:05:00", "\"14\""),
        ("format(\"%H\")", "14:05:00+09:00", "\"14\""),
        ("format(\"%H\")", "2026-01-31", "format"),
        (
            "format(\"%s %z\")",
            "2026-01-31T00:00:00Z",
            "\"1769817600 +0000\"",
        ),
        ("format(\"%z\")", "2026-01-31T00:00:00", "format"),
        ("format(\"%Y\")", "9999-12-31T23:59:59Z", "\"9999\""),
    ] {
        assert_eq!(apply(filter, time(given)), result, "{given} | {filter}");
    }
}

#[test]
fn times_without_a_zone_are_read_in_the_tables_zone() {
    for (filter, given, result) in [
        ("iso", "2026-01-31T14:05:00.5", "\"2026-01-31T05:05:00.5Z\""),
        ("iso", "2026-01-31T14:05:00Z", "\"2026-01-31T14:05:00Z\""),
        ("iso", "9999-12-31T23:59:59", "\"9999-12-31T14:59:59Z\""),
        ("iso", "0001-01-01T00:00:00", "time-range"),
        ("iso", "2026-01-31", "\"2026-01-30T15:00:00Z\""),
        ("date", "2026-01-31T08:00:00", "2026-01-30"),
        ("date", "2026-01-31", "2026-01-31"),
        ("epoch", "1970-01-01T09:00:00", "0"),
        ("format(\"%H\")", "2026-01-31T08:00:00", "\"08\""),
    ] {
        let found = show(try_apply(filter, time(given), &seoul()));
        assert_eq!(found, result, "{given} | {filter}");
    }
    let Ok(time_zone) = jiff::tz::TimeZone::posix("EST5EDT,M3.2.0,M11.1.0") else {
        panic!("a POSIX time zone");
    };
    let new_york = Context {
        time_zone,
        ..Context::default()
    };
    for (given, result) in [
        ("2026-07-01T12:00:00", "\"2026-07-01T16:00:00Z\""),
        ("2026-11-01T01:30:00", "\"2026-11-01T05:30:00Z\""),
        ("2026-03-08T02:30:00", "\"2026-03-08T07:30:00Z\""),
    ] {
        assert_eq!(show(try_apply("iso", time(given), &new_york)), result);
    }
}

#[test]
fn texts_are_read_as_the_times_that_their_pattern_says() {
    for (pattern, given, result, kind) in [
        (
            "%Y-%m-%d %H:%M",
            "2019-12-31 14:05",
            "2019-12-31T14:05:00",
            TimeKind::Timestamp,
        ),
        ("%d/%m/%Y", "31/12/2019", "2019-12-31", TimeKind::Date),
        ("%H:%M", "14:05", "14:05:00", TimeKind::TimeOfDay),
        (
            "%Y-%m-%dT%H:%M:%S%:z",
            "2019-12-31T14:05:00+09:00",
            "2019-12-31T05:05:00Z",
            TimeKind::Instant,
        ),
        (
            "%s",
            "1577768700",
            "2019-12-31T05:05:00Z",
            TimeKind::Instant,
        ),
        (
            "%Y-%m-%d %H:%M:%S%.3f",
            "2019-12-31 14:05:00.5",
            "2019-12-31T14:05:00.500",
            TimeKind::Timestamp,
        ),
        (
            "%Y-%m-%d %H:%M:%S%.3f",
            "2019-12-31 14:05:00",
            "2019-12-31T14:05:00.000",
            TimeKind::Timestamp,
        ),
        (
            "%F %T",
            "2019-12-31 14:05:09",
            "2019-12-31T14:05:09",
            TimeKind::Timestamp,
        ),
        (
            "%Y-%m-%d %H:%M",
            "31/12/2019",
            "not-a-time",
            TimeKind::Timestamp,
        ),
        ("%Y-%m-%d", "2019-02-30", "not-a-time", TimeKind::Date),
        (
            "%Y-%m-%d %H:%M:%S%.3f",
            "2019-12-31 14:05:00.0005",
            "not-a-time",
            TimeKind::Timestamp,
        ),
    ] {
        let filter = format!("time(\"{pattern}\")");
        assert_eq!(apply(&filter, text(given)), result, "{given} | {filter}");
        assert!(
            matches!(&filters(&filter).expect(&filter)[..], [Filter::Time(p)] if p.kind() == kind)
        );
    }
}
