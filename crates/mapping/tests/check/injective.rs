//! Where `check` says that keys are apart, no two rows with different unique keys make one key; and where
//! it says that text order is value order, the keys of two rows sort as their values do: over templates,
//! column types and values that were made to break it, of the row itself, of a joined parent that may be
//! missing, and of an array's elements. Whatever is claimed, each key that a row makes is known as one of its item type's.

mod plan;
mod rows;
mod values;

use dynafold_dynamodb::Attribute;
use dynafold_mapping::claim::ClaimKind;
use dynafold_mapping::guarantee::{GuaranteeKind, KeptBy};
use dynafold_mapping::item::{ExplodedElements, Folder, evaluate};
use dynafold_mapping::model::{AttributeNode, Model, Template, TemplatePart};
use dynafold_mapping::template::{Context, Secret};
use dynafold_mapping::{Described, Proofs, Raw, resolve};
use dynafold_relational::catalog::Dbms;
use dynafold_relational::scan::ScanColumn;
use dynafold_relational::value::{Value, compare};
use dynafold_testing::cases::part_of;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use plan::{Plan, Third, plan};

/// What was claimed of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Claimed {
    keys: bool,
    /// Of more values than one.
    order: Option<bool>,
    /// Whether an example shows that the keys are not apart.
    broken: bool,
    /// Whether the key takes the place of a unique key.
    guaranteed: bool,
}

/// The values of a template, a segment that is left out as NULL, each as its filters give it.
fn tuple(template: &Template, row: &[Value], context: &Context) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    let mut left_out = false;
    for part in &template.parts {
        let (inner, optional) = match part {
            TemplatePart::Optional(inner) => (inner.clone(), true),
            part => (vec![part.clone()], false),
        };
        let mut own = Vec::new();
        for part in inner {
            if let TemplatePart::Value(mut placeholder) = part {
                placeholder.escape = None;
                let parts = vec![TemplatePart::Value(placeholder)];
                own.push(evaluate(&Template { parts }, row, context).ok()?);
            }
        }
        left_out |= optional && own.contains(&Value::Null);
        if left_out && optional {
            own.fill(Value::Null);
        }
        values.extend(own);
    }
    Some(values)
}

fn holds(plan: &Plan) -> Result<Option<Claimed>, String> {
    let mapping = plan.mapping();
    let (Some(raw), faults) = Raw::read(&mapping, &|_| None) else {
        return Ok(None);
    };
    let resolution = resolve(&raw, faults, &plan.catalog(), &Described::new());
    let (Some(model), Some(proofs)) = (resolution.model, resolution.proofs) else {
        return Ok(None);
    };
    let proof = proofs.of(ClaimKind::KeysDiffer).next().unwrap();
    let order = proofs.of(ClaimKind::TextOrder).next();
    let item = &model.item_types[0];
    let mut attributes = item.attributes.iter();
    let sort = attributes.find_map(|(name, node)| match node {
        AttributeNode::Template(template) if **name == *"SK" => Some(template),
        _ => None,
    });
    let sort = sort.filter(|template| template.placeholders().count() > 0);
    let claimed = Claimed {
        keys: proof.is_proved(),
        order: order
            .filter(|_| sort.is_some())
            .map(dynafold_mapping::claim::Claim::is_proved),
        broken: !proof.is_proved() && proof.example.is_some(),
        guaranteed: kept(&proofs).next().is_some(),
    };
    let context = Context {
        now: jiff::Timestamp::UNIX_EPOCH,
        time_zone: model.time_zone.clone(),
        secret: Secret::new(b"key"),
    };
    let folder = Folder::new(&model, context.clone());
    let mut made: Vec<(String, Vec<Value>)> = Vec::new();
    let mut sorted: Vec<(String, Vec<Value>)> = Vec::new();
    for columns in kept(&proofs) {
        replaces(plan, columns, &model, &folder).map_err(|wrong| format!("{mapping}\n{wrong}"))?;
    }
    // Where nothing is claimed, a few show that their keys are known.
    let is_claimed = claimed.keys || claimed.order == Some(true);
    let most = if is_claimed { usize::MAX } else { 8 };
    for row in plan.rows().into_iter().take(most) {
        let mut row = row.asked(&model);
        let mut elements = ExplodedElements::new(&item.explodes);
        while elements.advance(&mut row).unwrap() {
            let Ok(folded) = folder.fold(0, &row) else {
                continue;
            };
            let key = folder.key(&folded.item);
            if let Some((partition, sort)) = &key {
                let values = [Some(partition), sort.as_ref()];
                for (texts, value) in item.key_texts.iter().zip(values.into_iter().flatten()) {
                    // In SQLite text may stand in a column of numbers.
                    if !texts.may_be(value) || plan.dbms != Dbms::Sqlite && !texts.can_be(value) {
                        return Err(format!("{mapping}\n{row:?}\nnot its own: {value:?}"));
                    }
                }
            }
            if let (Some(true), Some(sort)) = (claimed.order, sort)
                && let Some((_, Some(Attribute::S(text)))) = &key
                && let Some(values) = tuple(sort, &row, &context)
            {
                for (other, theirs) in &sorted {
                    let mut pairs = values.iter().zip(theirs).map(|(a, b)| compare(a, b));
                    let by_value = pairs.find(|order| order.is_ne());
                    let by_text = text.as_bytes().cmp(other.as_bytes());
                    if by_text.is_ne() && by_value.is_some_and(|by_value| by_value != by_text) {
                        return Err(format!(
                            "{mapping}\n{order:#?}\n{values:?}: {text}\n{theirs:?}: {other}"
                        ));
                    }
                }
                sorted.push((text.to_string(), values));
            }
            if !claimed.keys {
                continue;
            }
            let key = format!("{key:?}");
            if let Some((_, other)) = made.iter().find(|(other, _)| *other == key) {
                return Err(format!(
                    "{mapping}\n{proof:#?}\n{row:?}\n{other:?}\nboth make {key}"
                ));
            }
            made.push((key, row.clone()));
        }
    }
    Ok(Some(claimed))
}

/// The columns of the table that an item key is said to keep unique.
fn kept(proofs: &Proofs) -> impl Iterator<Item = &[String]> {
    let all = proofs.guarantees.guarantees.iter();
    let is_unique = |kind| matches!(kind, GuaranteeKind::PrimaryKey | GuaranteeKind::Unique);
    let kept = all.filter(move |one| is_unique(one.kind) && one.kept_by == KeptBy::Key);
    kept.map(|one| one.columns.as_slice())
}

/// Whether rows have one key where they are equal in these columns, and only there.
fn replaces(plan: &Plan, columns: &[String], model: &Model, folder: &Folder) -> Result<(), String> {
    let scan = &model.passes[0].scan;
    let held = |at: usize| {
        let column = scan.columns.get(at);
        matches!(column, Some(ScanColumn::Column { join: None, name, .. }) if columns.contains(name))
    };
    let key = |row: &[Value]| {
        let folded = folder.fold(0, row).ok()?;
        folder.key(&folded.item).map(|key| format!("{key:?}"))
    };
    let rows: Vec<Vec<Value>> = plan.rows().iter().map(|row| row.asked(model)).collect();
    for (at, row) in rows.iter().enumerate() {
        let Some(own) = key(row) else {
            continue;
        };
        for other in &rows[at + 1..] {
            let mixed: Vec<Value> = row
                .iter()
                .zip(other)
                .enumerate()
                .map(|(at, (own, other))| if held(at) { own } else { other })
                .cloned()
                .collect();
            let same = key(&mixed).is_none_or(|key| key == own);
            let is_equal = mixed == *other;
            if !same || !is_equal && key(other).as_ref() == Some(&own) {
                return Err(format!("{columns:?}\n{row:?}\n{other:?}\n{own}"));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: part_of(2_500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keys_that_are_proved_apart_are_apart_and_in_the_order_that_is_claimed(plan in plan()) {
        if let Err(wrong) = holds(&plan) {
            return Err(TestCaseError::fail(wrong));
        }
    }
}

/// The property says little if nothing is ever proved.
#[test]
fn enough_cases_of_every_shape_are_proved_and_enough_are_not() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut counts = [[0_u32; 4]; 3];
    let mut orders = [0_u32; 2];
    let mut guaranteed = 0_u32;
    let draws = part_of(2_000);
    for _ in 0..draws {
        let plan = plan().new_tree(&mut runner).unwrap().current();
        let claimed = holds(&plan).unwrap();
        guaranteed += u32::from(claimed.is_some_and(|claimed| claimed.guaranteed));
        let at = match claimed {
            None => 0,
            Some(Claimed { keys: true, .. }) => 1,
            Some(Claimed { broken: false, .. }) => 2,
            Some(Claimed { broken: true, .. }) => 3,
        };
        if let Some(order) = claimed.and_then(|claimed| claimed.order) {
            orders[usize::from(order)] += 1;
        }
        let shape = match plan.third {
            Third::Own => 0,
            Third::Joined => 1,
            Third::Exploded => 2,
        };
        counts[shape][at] += 1;
    }
    let enough = |shape: &[u32; 4]| shape[1..].iter().all(|count| *count > draws / 100);
    assert!(counts.iter().all(enough), "{counts:?}");
    assert!(
        orders.iter().all(|count| *count > draws / 100),
        "{orders:?}"
    );
    assert!(guaranteed > draws / 100, "{guaranteed} of {draws}");
}
