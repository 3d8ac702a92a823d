//! Tables and their settings: made, found again, and compared.

use std::sync::Arc;

use dynafold::dynamodb::{Billing, KeyType, Settings, Table};
use dynafold::target::{ErrorClass, Target, compare};

use super::super::sample::{every_setting, full, key, table};
use super::write_all;

pub(super) async fn a_table_is_found_again_as_it_was_made(
    target: Arc<dyn Target>,
    multi_attribute: bool,
) {
    let table = table(multi_attribute);
    assert_eq!(target.describe(&table.name).await.unwrap(), None);
    target.create(&table).await.unwrap();
    let found = target.describe(&table.name).await.unwrap().unwrap();
    assert_eq!(found.status, "ACTIVE");
    assert_eq!(compare(&table, &found), []);
    assert_eq!(found.item_count, Some(0));
    assert!(found.ttl_known);
    let mut expected = table.clone();
    expected.indexes.sort_by(|a, b| a.name.cmp(&b.name));
    let mut found = found.table;
    found.indexes.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(found, expected);
}

pub(super) async fn a_table_that_is_there_is_not_made_twice(
    target: Arc<dyn Target>,
    multi_attribute: bool,
) {
    let table = table(multi_attribute);
    let bare = Table {
        ttl: None,
        ..table.clone()
    };
    target.create(&bare).await.unwrap().unwrap();
    // An empty one may be our own.
    assert_eq!(target.create(&table).await.unwrap(), None);
    let found = target.describe(&table.name).await.unwrap().unwrap();
    assert_eq!(compare(&table, &found), []);
    // One with items keeps its TTL.
    write_all(&*target, &table, &[full(1)]).await;
    let later = Table {
        ttl: Some("later".to_owned()),
        ..table.clone()
    };
    assert_eq!(target.create(&later).await.unwrap(), None);
    let found = target.describe(&table.name).await.unwrap().unwrap();
    assert_eq!(found.table.ttl, table.ttl);
    let other = Table {
        partition: key("other", KeyType::N),
        ..table
    };
    let error = target.create(&other).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Fatal);
    assert_eq!(error.code, "ResourceInUseException");
    assert!(
        error
            .message
            .contains("the table's key is PK (S), SK (S), the mapping says other (N), SK (S)"),
        "{error}"
    );
}

pub(super) async fn two_may_make_one_table_at_once(target: Arc<dyn Target>, multi_attribute: bool) {
    let table = table(multi_attribute);
    let (one, two) = tokio::join!(target.create(&table), target.create(&table));
    assert_ne!(one.unwrap().is_some(), two.unwrap().is_some());
    let found = target.describe(&table.name).await.unwrap().unwrap();
    assert_eq!(compare(&table, &found), []);
}

pub(super) async fn differences_from_the_mapping_are_named(
    target: Arc<dyn Target>,
    multi_attribute: bool,
) {
    let mut table = table(multi_attribute);
    target.create(&table).await.unwrap();
    let found = target.describe(&table.name).await.unwrap().unwrap();
    table.partition.key_type = KeyType::N;
    table.indexes[0].name = String::from("GSI9");
    table.local_indexes[0].sort[0].key_type = KeyType::S;
    table.ttl = Some("later".to_owned());
    let texts: Vec<String> = compare(&table, &found)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        texts,
        [
            "the table's key is PK (S), SK (S), the mapping says PK (N), SK (S)",
            "the table has no index GSI9",
            "the mapping does not have the table's index GSI1, which stays",
            "the key of index by_total is total (N), the mapping says total (S)",
            "the TTL attribute is expires, the mapping says later",
        ]
    );
}

pub(super) async fn provisioned_capacity_is_kept(target: Arc<dyn Target>, multi_attribute: bool) {
    use dynafold::dynamodb::Throughput;
    let mut table = table(multi_attribute);
    table.billing = Billing::Provisioned(Throughput { read: 5, write: 7 });
    table.indexes[1].throughput = Some(Throughput { read: 2, write: 3 });
    target.create(&table).await.unwrap();
    let found = target.describe(&table.name).await.unwrap().unwrap();
    assert_eq!(compare(&table, &found), []);
    assert_eq!(found.table.billing, table.billing);
}

pub(super) async fn no_setting_is_told_to_be_set_that_is_not(
    target: Arc<dyn Target>,
    embedded: bool,
) {
    use dynafold::dynamodb::{Autoscale, StreamView};
    let mut table = table(embedded);
    table.settings = Settings {
        replicas: vec!["eu-west-1".to_owned()],
        autoscale: Some(Autoscale {
            min: None,
            max: 100,
            target: 70,
        }),
        ..every_setting()
    };
    let texts = |differences: Vec<dynafold::target::Difference>| -> Vec<String> {
        assert!(
            !differences
                .iter()
                .any(dynafold::target::Difference::is_breaking)
        );
        differences.iter().map(ToString::to_string).collect()
    };
    let unset = texts(target.create(&table).await.unwrap().unwrap());
    let refuses = |operation: &str| format!("(the endpoint answers {operation})");
    let replicas = refuses("ValidationException");
    let recovery = refuses(if embedded {
        "UnsupportedOperation"
    } else {
        "UnknownOperationException"
    });
    let mut expected = vec![
        "`warm_throughput` is none, the mapping says 13000 reads and 5000 writes a second"
            .to_owned(),
        format!("`replicas` is none {replicas}, the mapping says eu-west-1"),
        format!("`point_in_time_recovery` is not known here {recovery}, the mapping says true"),
    ];
    if !embedded {
        expected.insert(
            0,
            "`class` is standard, the mapping says infrequent-access".to_owned(),
        );
        expected.push(format!(
            "`tags` is not known here {recovery}, the mapping says team=shop"
        ));
    }
    expected.push("`autoscale` is left to your infrastructure, the mapping says up to 100 units at 70 percent".to_owned());
    assert_eq!(unset, expected);
    table.settings.stream = Some(StreamView::KeysOnly);
    table.settings.deletion_protection = Some(false);
    let differs = texts(target.compare_settings(&table).await);
    assert_eq!(
        differs.get(..2).unwrap(),
        [
            "`stream` is new-and-old-images, the mapping says keys-only",
            "`deletion_protection` is true, the mapping says false",
        ]
    );
    table.settings = Settings::default();
    assert_eq!(texts(target.compare_settings(&table).await), [""; 0]);
}
