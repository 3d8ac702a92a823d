//! Comparisons of keys.

use super::super::scope::made_locator;
use super::*;

#[tokio::test]
async fn keys_that_rows_make_and_the_table_lacks_are_counted_by_whether_they_may_have_expired() {
    let ahead = Timestamp::now().as_second() + 1_000;
    let in_table = IN_TABLE;
    let mut keys = Proof::new(ProofOptions::default());
    for (key, locator) in [
        (1, made_locator(7, None)),
        (1, in_table),
        (2, made_locator(7, None)),
        (3, made_locator(7, Some(ahead - 2_000))),
        (4, made_locator(7, Some(ahead))),
        // The second reading of its chunk has no such row.
        (5, made_locator(6, None)),
        (6, made_locator(6, Some(ahead))),
        (7, made_locator(6, None)),
        (7, made_locator(7, None)),
    ] {
        keys.push(key, locator).unwrap();
    }
    let forgotten = HashSet::from([6]);
    let spool = ItemSpool::new().unwrap();
    let compared = compare(keys, spool, &forgotten, async |_| Ok(true)).await;
    let expected = ComparedKeys {
        overwritten: 0,
        absent: 3,
        lapsed: 1,
    };
    assert!(
        matches!(compared, Ok(found) if found == expected),
        "{compared:?}"
    );
}

#[tokio::test]
async fn an_item_that_only_a_forgotten_reading_made_is_given_and_not_deleted() {
    let mut keys = Proof::new(ProofOptions::default());
    let mut spool = ItemSpool::new().unwrap();
    for (key, attempts) in [(1, vec![6]), (2, vec![]), (3, vec![7]), (4, vec![6, 7])] {
        for attempt in attempts {
            keys.push(key, made_locator(attempt, None)).unwrap();
        }
        let stray = StrayItem {
            json: format!("{key}"),
            ..StrayItem::default()
        };
        let place = spool.push(&stray).unwrap();
        keys.push(key, IN_TABLE | place).unwrap();
    }
    let (forgotten, mut given) = (HashSet::from([6]), Vec::new());
    let compared = compare(keys, spool, &forgotten, async |stray| {
        let (mut left, all) = (RemainingStale::default(), Prune { filtered: true });
        let deletes = left.asked_for(&all, &stray, &|_| false);
        given.push((stray.json, deletes));
        Ok(true)
    });
    compared.await.unwrap();
    assert_eq!(given, [("1".to_owned(), false), ("2".to_owned(), true)]);
}

#[test]
fn an_item_that_a_row_rejected_without_a_key_may_have_made_is_counted_with_that_reason() {
    for (unclear, spared, counts) in [
        (true, false, (0, 1)),
        (true, true, (1, 0)),
        (false, true, (1, 0)),
    ] {
        let stray = StrayItem {
            unclear,
            spared,
            ..StrayItem::default()
        };
        let mut left = RemainingStale::default();
        assert!(!left.asked_for(&Prune::default(), &stray, &|_| false));
        assert_eq!((left.may_be_rejected, left.unclear), counts);
    }
}
