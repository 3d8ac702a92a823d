//! Items of the table that the source does not make.

use std::collections::HashSet;
use std::sync::Arc;

use super::worker::name;
use super::{Options, Verify};
use crate::load::{
    Broken, Owners, STRANGER, Stray, TableScan, Unowned, Why, compare, raw, selected,
};
use crate::mapping::model::Model;
use crate::proof::Proof;
use crate::verify::report::{Finding, FindingKind};

/// What was found of them.
#[derive(Debug, Default)]
pub(super) struct Unexpected {
    /// `None` where they were not looked for to the end.
    pub(super) items: Option<u64>,
    pub(super) why_not: Option<String>,
    pub(super) elsewhere: Option<u64>,
    pub(super) lingering: u64,
    pub(super) findings: Vec<Finding>,
}

/// Why they are not looked for.
pub(super) fn excused(
    options: &Options,
    model: &Model,
    owners: &Result<Owners, Unowned>,
) -> Option<String> {
    if options.sample.is_some() {
        return Some("a sample was compared".to_owned());
    }
    match owners {
        Err(unowned) if selected(model).contains(&false) => Some(unowned.to_string()),
        _ => None,
    }
}

/// Scans the table and compares its keys with those that the rows make.
pub(super) async fn look(
    verify: &Verify,
    owners: Option<&Owners>,
    mut keys: Proof,
) -> Result<Unexpected, Why> {
    let model: &Arc<Model> = &verify.model;
    let selected = selected(model);
    // Where only some item types are looked at, it is not asked what others have made.
    let whole = !selected.contains(&false);
    let scan = TableScan {
        target: &verify.target,
        model,
        owners,
        strangers: whole,
        partition: verify.options.partition.clone(),
        cancel: &verify.cancel,
    };
    let spool = scan.read(&mut keys, &selected).await.map_err(why)?;
    let (mut items, mut elsewhere) = (0_u64, 0_u64);
    let mut findings = Vec::new();
    let forgotten = HashSet::new();
    let compared = compare(keys, spool, &forgotten, async |stray: Stray| {
        if stray.item_type == STRANGER && owners.is_some() {
            elsewhere += 1;
        } else {
            items += 1;
            if findings.len() < verify.examples {
                findings.push(finding(model, stray.item_type, stray.json));
            }
        }
        !verify.cancel.is_cancelled()
    });
    let compared = compared.await.map_err(why)?;
    Ok(Unexpected {
        items: Some(items),
        why_not: None,
        elsewhere: owners.filter(|_| whole).map(|_| elsewhere),
        lingering: compared.expired,
        findings,
    })
}

fn finding(model: &Model, item_type: usize, key: String) -> Finding {
    Finding {
        kind: FindingKind::Unexpected,
        item_type: name(model, item_type),
        row: None,
        key: raw(key),
        attributes: Vec::new(),
        made_by: None,
        foreign: None,
    }
}

fn why(broken: Broken) -> Why {
    match broken {
        Broken::Cancelled => Why::Cancelled,
        Broken::Failed(failure) => Why::Failed(failure),
    }
}
