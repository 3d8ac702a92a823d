//! The embedded engine: its files, and its bulk path against the ordinary one.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use dynafold::dynamodb::{Item, Table, write_item};
use dynafold::target::{
    Action, Batch, BatchLimit, Batcher, ErrorClass, ScanRequest, Target, TargetError, TargetSpec,
    connect,
};
use dynoxide::Database;
use serde_json::{Value, json};

use super::sample::{batch, delete, entry, full, item, number, put, table, text};

async fn open(file: &Path) -> Result<Arc<dyn Target>, TargetError> {
    let file = Some(file.to_owned());
    connect(&TargetSpec::Local { file }).await
}

async fn refused(file: &Path) -> TargetError {
    let error = match open(file).await {
        Ok(target) => target.create(&table(true)).await.unwrap_err(),
        Err(error) => error,
    };
    assert_eq!(
        (error.class, error.code.as_str()),
        (ErrorClass::Fatal, "File")
    );
    error
}

#[tokio::test]
async fn places_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let target = open(&file).await.unwrap();
    assert_eq!(target.place(), format!("local:{}", file.display()));
    assert!(!target.is_billed());
    let memory = connect(&TargetSpec::Local { file: None }).await.unwrap();
    assert_eq!(memory.place(), "local (memory)");
}

#[tokio::test]
async fn looking_does_not_make_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let target = open(&file).await.unwrap();
    let table = table(true);
    assert_eq!(target.describe(&table.name).await.unwrap(), None);
    let error = target
        .scan(&table, &ScanRequest::all(), None)
        .await
        .unwrap_err();
    assert_eq!(error.code, "ResourceNotFoundException");
    target.finish().await.unwrap();
    assert!(!file.exists());
    target.create(&table).await.unwrap();
    assert!(file.exists());
    assert!(target.describe(&table.name).await.unwrap().is_some());
}

#[tokio::test]
async fn what_is_no_file_of_the_engine_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let error = refused(folder.path()).await;
    assert!(error.message.ends_with("is a folder"), "{error}");

    let error = refused(&folder.path().join("no/t.db")).await;
    assert!(error.message.starts_with("there is no folder"), "{error}");

    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "not a database, but long enough to look like one: ".repeat(100),
    )
    .unwrap();
    let error = refused(&text).await;
    assert!(error.message.ends_with("is not a database file"), "{error}");

    let shop = folder.path().join("shop.db");
    rusqlite::Connection::open(&shop)
        .unwrap()
        .execute_batch("create table customer (id integer primary key)")
        .unwrap();
    let before = std::fs::read(&shop).unwrap();
    let error = refused(&shop).await;
    assert!(
        error
            .message
            .ends_with("is a SQLite database, but not one that holds DynamoDB tables"),
        "{error}"
    );
    assert_eq!(std::fs::read(&shop).unwrap(), before);

    #[cfg(target_os = "linux")]
    {
        let error = refused(Path::new("/proc/t.db")).await;
        assert!(
            error.message.ends_with("cannot be opened for writing"),
            "{error}"
        );
        assert!(error.help.unwrap().contains("permissions"));
    }
}

/// A process that is killed before the file has its write-ahead log leaves a journal, which the next one rolls back.
#[tokio::test]
async fn a_file_with_a_killed_process_s_journal_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let (file, killed) = (folder.path().join("t.ddb"), folder.path().join("k.ddb"));
    let table = table(true);
    let target = open(&file).await.unwrap();
    target.create(&table).await.unwrap();
    drop(target);
    let writer = rusqlite::Connection::open(&file).unwrap();
    let begin = "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; CREATE TABLE more AS \
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i, hex(randomblob(100)) FROM n";
    writer.execute_batch(begin).unwrap();
    for end in ["", "-journal"] {
        let of = |file: &Path| format!("{}{end}", file.display());
        std::fs::copy(of(&file), of(&killed)).unwrap();
    }
    let target = open(&killed).await.unwrap();
    assert!(target.describe(&table.name).await.unwrap().is_some());
}

/// What is in a file under the engine's names.
fn tables(file: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(file).unwrap();
    let mut query = connection
        .prepare("SELECT table_name FROM _tables UNION ALL SELECT name FROM sqlite_master WHERE name LIKE '%::gsi::GSI1' OR name = 'orders' ORDER BY 1")
        .unwrap();
    let names = query.query_map([], |row| row.get(0)).unwrap();
    names.map(Result::unwrap).collect()
}

#[tokio::test]
async fn a_table_is_created_and_deleted_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.ddb");
    let table = Table {
        name: "orders".to_owned(),
        ..table(true)
    };
    let target = open(&file).await.unwrap();
    target.create(&table).await.unwrap();
    target.delete_table(&table.name, None).await.unwrap();
    assert_eq!(tables(&file), Vec::<String>::new());
    assert_eq!(target.describe(&table.name).await.unwrap(), None);
    // What ends the creation behind its first steps, as a kill would.
    let other = rusqlite::Connection::open(&file).unwrap();
    let taken = "CREATE TABLE \"orders::gsi::GSI1\" (x)";
    other.execute_batch(taken).unwrap();
    target.create(&table).await.unwrap_err();
    assert_eq!(tables(&file), ["orders::gsi::GSI1"]);
    assert_eq!(target.describe(&table.name).await.unwrap(), None);
    let gone = "DROP TABLE \"orders::gsi::GSI1\"";
    other.execute_batch(gone).unwrap();
    target.create(&table).await.unwrap();
    target.write(&table, &batch(&[full(1)])).await.unwrap();
    // And what ends the deletion: a view is not deleted as a table is.
    let kept = "DROP TABLE \"orders\"; CREATE VIEW \"orders\" AS SELECT 1";
    other.execute_batch(kept).unwrap();
    target.delete_table(&table.name, None).await.unwrap_err();
    assert_eq!(tables(&file), ["orders", "orders", "orders::gsi::GSI1"]);
}

#[tokio::test]
async fn of_two_that_create_one_table_both_go_on_and_one_has_made_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.ddb");
    let (one, two) = (open(&file).await.unwrap(), open(&file).await.unwrap());
    let table = table(true);
    // Both have opened the file, and wait for its lock: without it they would find the table missing at one time by chance.
    one.create(&table).await.unwrap();
    one.delete_table(&table.name, None).await.unwrap();
    two.describe(&table.name).await.unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("begin immediate").unwrap();
    let free = async {
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        other.execute_batch("rollback").unwrap();
    };
    let (one, two, ()) = tokio::join!(one.create(&table), two.create(&table), free);
    assert_ne!(one.unwrap().is_some(), two.unwrap().is_some());
}

#[tokio::test]
async fn two_may_use_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let (one, two) = (open(&file).await.unwrap(), open(&file).await.unwrap());
    let table = table(true);
    one.create(&table).await.unwrap();
    let writes = (0..10).map(|n| {
        let target = if n % 2 == 0 { &one } else { &two };
        let items: Vec<Item> = (n * 25..n * 25 + 25).map(full).collect();
        let table = &table;
        async move { target.write(table, &batch(&items)).await.unwrap() }
    });
    futures_util::future::join_all(writes).await;
    assert_eq!(
        two.scan(&table, &ScanRequest::all(), None)
            .await
            .unwrap()
            .items
            .len(),
        250
    );
}

/// A copy of the file has the same table with the same id.
#[cfg(unix)]
#[tokio::test]
async fn a_file_that_is_replaced_or_removed_is_an_error_and_a_copy_in_its_place_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (file, copy) = (folder.path().join("t.db"), folder.path().join("copy.db"));
    let table = table(true);
    let target = open(&file).await.unwrap();
    target.create(&table).await.unwrap();
    target.start(&table, true).await.unwrap();
    target.finish().await.unwrap();
    std::fs::copy(&file, &copy).unwrap();
    target.start(&table, true).await.unwrap();
    target.write(&table, &batch(&[full(1)])).await.unwrap();
    std::fs::rename(&copy, &file).unwrap();
    let before = std::fs::read(&file).unwrap();
    let write = target.write(&table, &batch(&[full(2)])).await;
    let finish = target.finish().await;
    let scan = target.scan(&table, &ScanRequest::all(), None).await;
    let describe = target.describe(&table.name).await;
    for error in [
        write.unwrap_err(),
        finish.unwrap_err(),
        scan.unwrap_err(),
        describe.unwrap_err(),
    ] {
        assert_eq!(error.class, ErrorClass::Fatal, "{error:?}");
        assert!(
            error
                .message
                .ends_with("was removed or replaced during the run"),
            "{error}"
        );
    }
    assert_eq!(std::fs::read(&file).unwrap(), before);
    std::fs::remove_file(&file).unwrap();
    for error in [
        target.finish().await.unwrap_err(),
        target.describe(&table.name).await.unwrap_err(),
    ] {
        assert!(error.message.ends_with("during the run"), "{error}");
    }
    assert!(!file.exists());
}

#[tokio::test]
async fn a_file_that_another_process_holds_is_a_passing_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let table = table(true);
    let (ordinary, bulk) = (open(&file).await.unwrap(), open(&file).await.unwrap());
    ordinary.create(&table).await.unwrap();
    // Opened before the lock: opening waits longer for it.
    bulk.describe(&table.name).await.unwrap();
    bulk.start(&table, true).await.unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("begin immediate").unwrap();
    let batch = batch(&[full(1)]);
    let (one, two) = tokio::join!(ordinary.write(&table, &batch), bulk.write(&table, &batch));
    for error in [one.unwrap_err(), two.unwrap_err()] {
        assert_eq!(error.class, ErrorClass::Transient, "{error:?}");
        assert_eq!(error.code, "File");
        assert!(
            error.message.ends_with("is locked by another process"),
            "{error}"
        );
    }
    other.execute_batch("rollback").unwrap();
    ordinary.write(&table, &batch).await.unwrap();
}

async fn load(target: &dyn Target, table: &Table, items: &[Item], bulk: bool) {
    target.start(table, bulk).await.unwrap();
    let mut limit = target.batch_limit();
    assert_eq!(limit.items > 25, bulk);
    // Several batches in bulk, too.
    limit.items = limit.items.min(250);
    let mut batcher = Batcher::new(limit);
    let mut all: Vec<_> = items
        .iter()
        .filter_map(|item| {
            let entry = entry(Action::Put, item);
            batcher.push(entry, |out| write_item(out, item))
        })
        .collect();
    all.extend(batcher.finish());
    for batch in &all {
        let written = target.write(table, batch).await.unwrap();
        assert_eq!(written.unprocessed, Vec::<usize>::new());
    }
    target.finish().await.unwrap();
}

/// Everything that the engine tells about a table and its indexes.
fn contents(file: &Path, table: &Table) -> BTreeMap<String, Value> {
    let database = Database::new(file.to_str().unwrap()).unwrap();
    let mut contents = BTreeMap::new();
    let name = json!({"TableName": table.name});
    let mut described = serde_json::to_value(
        database
            .describe_table(serde_json::from_value(name.clone()).unwrap())
            .unwrap(),
    )
    .unwrap();
    for volatile in ["CreationDateTime", "TableId"] {
        described["Table"].as_object_mut().unwrap().remove(volatile);
    }
    // The summary of the billing holds the time of its last change.
    described["Table"]["BillingModeSummary"] = Value::Null;
    contents.insert("description".to_owned(), described);
    contents.insert(
        "ttl".to_owned(),
        serde_json::to_value(
            database
                .describe_time_to_live(serde_json::from_value(name).unwrap())
                .unwrap(),
        )
        .unwrap(),
    );
    let indexes = table.indexes.iter().chain(&table.local_indexes);
    let names = std::iter::once(None).chain(indexes.map(|index| Some(index.name.clone())));
    for index in names {
        let mut items = Vec::new();
        let mut from = Value::Null;
        loop {
            let request = json!({
                "TableName": table.name, "IndexName": index, "ExclusiveStartKey": from,
            });
            let page = database
                .scan(serde_json::from_value(request).unwrap())
                .unwrap();
            let page = serde_json::to_value(page).unwrap();
            items.extend(page["Items"].as_array().unwrap().iter().cloned());
            from = page["LastEvaluatedKey"].clone();
            if from.is_null() {
                break;
            }
        }
        // In the order in which the engine gives them: that too must be the same.
        contents.insert(format!("items of {index:?}"), Value::Array(items));
    }
    contents
}

#[tokio::test]
async fn a_bulk_load_leaves_what_an_ordinary_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(true);
    let items: Vec<Item> = (0..600)
        .map(|n| match n % 3 {
            0 => full(n),
            // Sparse: in no index, or in the local one alone.
            1 => item([
                ("PK", text(&format!("U#{}", n % 50))),
                ("SK", text(&format!("{n}"))),
            ]),
            _ => item([
                ("PK", text(&format!("U#{}", n % 50))),
                ("SK", text(&format!("{n}"))),
                ("total", number(&format!("{n}.25"))),
                ("GSI2PK", dynafold::dynamodb::Attribute::B(vec![7])),
            ]),
        })
        .collect();
    let keys = items.iter().map(|item| {
        (
            item.get("PK").unwrap().clone(),
            item.get("SK").unwrap().clone(),
        )
    });
    let before: Vec<Item> = (0_u32..)
        .zip(keys)
        .map(|(n, (partition, sort))| {
            let other = full((n * 7 + 1) % 600);
            let mut attributes = other.attributes;
            attributes.retain(|(name, _)| !["PK", "SK"].contains(&&**name));
            attributes.insert(0, ("SK".into(), sort));
            attributes.insert(0, ("PK".into(), partition));
            Item { attributes }
        })
        .collect();
    let mut found = Vec::new();
    for bulk in [false, true] {
        let file = folder.path().join(format!("{bulk}.db"));
        let target = open(&file).await.unwrap();
        target.create(&table).await.unwrap();
        // What is there before goes from some indexes into others, and is overwritten.
        load(&*target, &table, &before, bulk).await;
        load(&*target, &table, &items, bulk).await;
        assert_eq!(target.batch_limit(), BatchLimit::BATCH_WRITE);
        let described = target.describe(&table.name).await.unwrap().unwrap();
        assert_eq!(described.item_count, Some(600));
        drop(target);
        // What finish() left is the whole of it: the file alone, without its log.
        let copy = folder.path().join(format!("copy-{bulk}.db"));
        std::fs::copy(&file, &copy).unwrap();
        found.push(contents(&copy, &table));
    }
    let counts: Vec<usize> = found[0]
        .values()
        .filter_map(|value| value.as_array().map(Vec::len))
        .collect();
    // The table, the local index, the two global ones.
    assert_eq!(counts, [600, 200, 200, 400]);
    assert_eq!(found[0], found[1]);
}

#[tokio::test]
async fn a_bulk_batch_with_a_bad_item_is_refused_whole() {
    let table = table(true);
    let target = connect(&TargetSpec::Local { file: None }).await.unwrap();
    target.create(&table).await.unwrap();
    target.start(&table, true).await.unwrap();
    assert!(target.batch_limit().items > 25);
    let with = |name: &str, value| item([("PK", text("P")), ("SK", text("bad")), (name, value)]);
    for bad in [
        with("filler", text(&"x".repeat(409_600))),
        with("GSI1PK", number("1")),
        with("total", text("not a number")),
        item([("PK", text("P")), ("SK", number("1"))]),
        item([("PK", text("P"))]),
        item([("PK", text(&"k".repeat(2049))), ("SK", text("bad"))]),
    ] {
        let items = [full(1), bad];
        let error = target.write(&table, &batch(&items)).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Invalid, "{error:?}");
        assert_eq!(error.code, "ValidationException");
    }
    let mut broken = Batch::new();
    broken.push(entry(Action::Put, &full(1)), |out| {
        out.push_str("{\"PK\":{\"N\":\"geheim\"}}");
    });
    let error = target.write(&table, &broken).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Invalid, "{error:?}");
    assert!(!error.message.contains("geheim"), "{error}");
    assert_eq!(
        target
            .scan(&table, &ScanRequest::all(), None)
            .await
            .unwrap()
            .items,
        []
    );
}

#[tokio::test]
async fn deletes_go_with_puts_in_bulk_too() {
    let target = connect(&TargetSpec::Local { file: None }).await.unwrap();
    let table = table(true);
    target.create(&table).await.unwrap();
    target.start(&table, true).await.unwrap();
    let items: Vec<Item> = (0..60).map(full).collect();
    target.write(&table, &batch(&items)).await.unwrap();
    let mut mixed = Batch::new();
    items[..50].iter().for_each(|item| delete(&mut mixed, item));
    put(&mut mixed, &full(60));
    let written = target.write(&table, &mixed).await.unwrap();
    assert_eq!(written.unprocessed, Vec::<usize>::new());
    target.finish().await.unwrap();
    let left = target
        .scan(&table, &ScanRequest::all(), None)
        .await
        .unwrap();
    assert_eq!(left.items.len(), 11);
}
