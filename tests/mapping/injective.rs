//! Where `check` says that keys are apart, no two rows with different unique keys make one key:
//! over templates, column types and values that were made to break it, of the row itself, of a
//! joined parent, and of an array's elements.

mod plan;
mod rows;
mod values;

use dynafold::item::{Elements, Folder};
use dynafold::mapping::template::{Context, Secret};
use dynafold::mapping::{Described, Raw, Verdict, resolve};
use dynafold::value::Value;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use plan::{Plan, Third, plan};

fn holds(plan: &Plan) -> Result<Option<Verdict>, String> {
    let text = plan.mapping();
    let (Some(raw), faults) = Raw::read(&text, &|_| None) else {
        return Ok(None);
    };
    let resolution = resolve(&raw, faults, &plan.catalog(), &Described::new());
    let (Some(model), Some(proofs)) = (resolution.model, resolution.proofs) else {
        return Ok(None);
    };
    let proof = &proofs.keys[0];
    if proof.verdict != Verdict::Proved {
        return Ok(Some(proof.verdict));
    }
    let context = Context {
        now: jiff::Timestamp::UNIX_EPOCH,
        time_zone: model.time_zone.clone(),
        secret: Secret::new(b"key"),
    };
    let folder = Folder::new(&model, context);
    let mut made: Vec<(String, Vec<Value>)> = Vec::new();
    for row in plan.rows() {
        let mut row = row.asked(&model);
        let mut elements = Elements::new(&model.item_types[0].explodes);
        while elements.next(&mut row).unwrap() {
            let Ok(folded) = folder.fold(0, &row) else {
                continue;
            };
            let key = format!("{:?}", folder.key(&folded.item));
            if let Some((_, other)) = made.iter().find(|(other, _)| *other == key) {
                return Err(format!(
                    "{text}\n{proof:#?}\n{row:?}\n{other:?}\nboth make {key}"
                ));
            }
            made.push((key, row.clone()));
        }
    }
    Ok(Some(Verdict::Proved))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keys_that_are_proved_apart_are_apart(plan in plan()) {
        if let Err(wrong) = holds(&plan) {
            return Err(TestCaseError::fail(wrong));
        }
    }
}

/// The property says little if nothing is ever proved.
#[test]
fn enough_cases_of_every_shape_are_proved_and_enough_are_not() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut counts = [[0; 4]; 3];
    for _ in 0..4_000 {
        let plan = plan().new_tree(&mut runner).unwrap().current();
        let at = match holds(&plan).unwrap() {
            None => 0,
            Some(Verdict::Proved) => 1,
            Some(Verdict::Unproved) => 2,
            Some(Verdict::Refuted) => 3,
        };
        let shape = match plan.third {
            Third::Own => 0,
            Third::Joined => 1,
            Third::Exploded => 2,
        };
        counts[shape][at] += 1;
    }
    let enough = |shape: &[i32; 4]| shape[1..].iter().all(|count| *count > 40);
    assert!(counts.iter().all(enough), "{counts:?}");
}
