//! What an item measures, with the engines as judges: they take an item of 409,600 bytes by our count, refuse one more,
//! and charge as many units as we say.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dynafold::dynamodb::{Attribute, MAX_ITEM_BYTES, write_attribute, write_item};
use dynafold::item::{Folded, Folder};
use dynafold::mapping::model::Model;
use dynafold::mapping::template::Context;
use dynafold::target::{Batch, BatchEntry, ErrorClass, Target, TargetSpec, connect};
use dynafold::value::{Number, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::dynamodb_local;
use crate::support::values::values;
use dynafold_testing::model::{item_type, model, pass, text};

/// Attributes besides the key and the padding.
const ATTRIBUTES: usize = 3;
/// Where the padding stands in the row.
const PADDING: usize = ATTRIBUTES + 1;

/// A row of three values.
fn rows() -> impl Strategy<Value = Vec<Value>> {
    vec(values(), ATTRIBUTES)
}

fn sizes() -> Model {
    let attributes = [
        ("PK", "{0}"),
        ("SK", "-"),
        ("a", "{1}"),
        ("이름", "{2}"),
        ("c.d", "{3}"),
        ("p", "{4}"),
    ];
    let mut model = model(
        vec![pass("rows", PADDING + 1, &[0])],
        vec![item_type("ROW", 0, &attributes)],
    );
    model.item_types[0].keep_nulls = true;
    model
}

/// A key of one length that no other item has: what replaces an item is charged for the larger one.
fn unused_key() -> Value {
    static USED: AtomicU32 = AtomicU32::new(0);
    text(&format!("{:08}", USED.fetch_add(1, Ordering::Relaxed)))
}

/// The row padded until its item has this many bytes.
fn padded(folder: &Folder, row: &[Value], size: usize) -> Vec<Value> {
    let mut whole = vec![unused_key()];
    whole.extend_from_slice(row);
    whole.push(text(""));
    let empty = folder.fold(0, &whole).unwrap_or_else(|e| panic!("{e:?}"));
    whole[PADDING] = text(&"x".repeat(size - empty.size));
    whole
}

fn prepared(folded: &Folded) -> Batch {
    let entry = BatchEntry {
        size: folded.size,
        fingerprint: folded.fingerprint,
        ..BatchEntry::default()
    };
    let mut batch = Batch::new();
    batch.push(entry, |out| write_item(out, &folded.item));
    batch
}

/// The same item with more bytes in its padding, or fewer.
fn resized(batch: &Batch, by: isize) -> Batch {
    let mut entry = batch.entries()[0];
    let mut json = batch.json(0).to_owned();
    let padding = json.rfind(&"x".repeat(100)).unwrap();
    match usize::try_from(by) {
        Ok(more) => json.insert_str(padding, &"x".repeat(more)),
        Err(_) => json.replace_range(padding..padding + by.unsigned_abs(), ""),
    }
    entry.size = entry.size.checked_add_signed(by).unwrap();
    let mut resized = Batch::new();
    resized.push(entry, |out| out.push_str(&json));
    resized
}

/// The bytes that the embedded engine counts less than DynamoDB does (docs/adr/0016).
fn uncounted(value: &Attribute) -> isize {
    match value {
        Attribute::N(number) => uncounted_of(number),
        Attribute::Ns(numbers) => numbers.iter().map(uncounted_of).sum(),
        Attribute::L(elements) => elements.iter().map(uncounted).sum(),
        Attribute::M(members) => members.iter().map(|(_, member)| uncounted(member)).sum(),
        _ => 0,
    }
}

/// It pairs digits from the first and the last one that is no zero.
fn uncounted_of(number: &Number) -> isize {
    let (whole, fraction) = number.parts();
    let (whole, fraction) = match (whole, fraction) {
        ("0", fraction) => ("", fraction.trim_start_matches('0')),
        (whole, "") => (whole.trim_end_matches('0'), ""),
        both => both,
    };
    let theirs = 1 + whole.len().div_ceil(2) + fraction.len().div_ceil(2);
    let theirs = theirs + usize::from(number.is_negative());
    number.size().cast_signed() - theirs.cast_signed()
}

/// An engine with a table of its own.
struct Engine {
    name: &'static str,
    target: Arc<dyn Target>,
    model: Model,
}

impl Engine {
    async fn all() -> Vec<Self> {
        let stamp = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let url = dynamodb_local::endpoint();
        let specs = [
            ("embedded", TargetSpec::Local { file: None }),
            (
                "DynamoDB Local",
                TargetSpec::parse("dynamodb", Some(&url), None, None).unwrap(),
            ),
        ];
        let mut engines = Vec::new();
        for (name, spec) in specs {
            let target = connect(&spec).await.unwrap();
            let mut model = sizes();
            model.table.name = format!("sizes-{stamp}");
            target.create(&model.table).await.unwrap();
            engines.push(Self {
                name,
                target,
                model,
            });
        }
        engines
    }

    /// How much larger than DynamoDB's limits an item may be here.
    fn grace(&self, folded: &Folded) -> isize {
        let attributes = folded.item.attributes.iter();
        match self.name {
            "embedded" => attributes.map(|(_, value)| uncounted(value)).sum(),
            _ => 0,
        }
    }

    /// The units that the engine charges for a batch of one item; `None` where it refuses it as invalid.
    async fn write(&self, batch: &Batch) -> Option<f64> {
        match self.target.write(&self.model.table, batch).await {
            Ok(written) => {
                assert_eq!(written.unprocessed, Vec::<usize>::new());
                Some(written.consumed.unwrap().total)
            }
            Err(error) => {
                assert_eq!(error.class, ErrorClass::Invalid, "{}: {error:?}", self.name);
                None
            }
        }
    }

    async fn drop(self) {
        if self.name != "embedded" {
            dynamodb_local::delete_table(&self.model.table.name).await;
        }
    }
}

/// Runs a fact on rows at random, with both engines.
fn hold(cases: u32, fact: &impl AsyncFn(&Engine, &Folder, &[Value])) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let engines = runtime.block_on(Engine::all());
    let folder = Folder::new(&sizes(), Context::default());
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let result = runner.run(&rows(), |row| {
        for engine in &engines {
            runtime.block_on(fact(engine, &folder, &row));
        }
        Ok(())
    });
    for engine in engines {
        runtime.block_on(engine.drop());
    }
    result.unwrap();
}

/// What is in a row, for a message.
fn shown(folded: &Folded) -> String {
    let mut shown = String::new();
    for (name, value) in folded.item.attributes.iter().filter(|a| &*a.0 != "p") {
        shown.push_str(&format!("\n{name} ({} bytes): ", value.size()));
        write_attribute(&mut shown, value);
    }
    shown
}

#[test]
fn an_item_of_400_kb_by_our_count_is_taken_and_one_byte_more_is_refused() {
    hold(24, &async |engine, folder, row| {
        let mut row = padded(folder, row, MAX_ITEM_BYTES);
        let folded = folder.fold(0, &row).unwrap();
        assert_eq!(folded.size, MAX_ITEM_BYTES);
        let batch = resized(&prepared(&folded), engine.grace(&folded));
        let (name, shown) = (engine.name, shown(&folded));
        assert!(engine.write(&batch).await.is_some(), "{name}: {shown}");
        let more = resized(&batch, 1);
        assert!(engine.write(&more).await.is_none(), "{name}: {shown}");
        let Value::Text(padding) = &mut row[PADDING] else {
            panic!("no padding");
        };
        padding.push('x');
        assert_eq!(folder.fold(0, &row).unwrap_err().code, "item-too-large");
    });
}

#[test]
fn the_units_of_an_item_are_those_that_the_engines_charge_on_either_side_of_a_kb() {
    hold(32, &async |engine, folder, row| {
        let least = padded(folder, row, MAX_ITEM_BYTES);
        let Value::Text(padding) = &least[PADDING] else {
            panic!("no padding");
        };
        let least = MAX_ITEM_BYTES - padding.len() + 200;
        let kb = least.next_multiple_of(1024);
        for size in [kb - 1, kb, kb + 1] {
            let folded = folder.fold(0, &padded(folder, row, size)).unwrap();
            assert_eq!(folded.units, u64::try_from(size.div_ceil(1024)).unwrap());
            let batch = resized(&prepared(&folded), engine.grace(&folded));
            let charged = engine.write(&batch).await.unwrap();
            let (name, shown) = (engine.name, shown(&folded));
            assert_eq!(
                format!("{charged}"),
                folded.units.to_string(),
                "{name}, {size} bytes: {shown}"
            );
        }
    });
}
