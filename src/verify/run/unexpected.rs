//! Items of the table that the source does not make.

use std::collections::HashSet;
use std::sync::Arc;

use super::worker::name;
use super::{Options, Verify};
use crate::load::{
    Broken, Owners, STRANGER, Stale, Stray, TableScan, Unowned, Why, compare, raw, selected,
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
        now: verify.context.now.as_second(),
        cancel: &verify.cancel,
    };
    let spool = scan.read(&mut keys, &selected).await.map_err(why)?;
    let (mut items, mut elsewhere, mut lingering) = (0_u64, 0_u64, 0_u64);
    let mut findings = Vec::new();
    let forgotten = HashSet::new();
    let compared = compare(keys, spool, &forgotten, async |stray: Stray| {
        if stray.item_type == STRANGER && owners.is_some() {
            elsewhere += 1;
        } else if stray.stale == Stale::Expired && stray.past {
            lingering += 1;
        } else {
            items += 1;
            if findings.len() < verify.examples {
                findings.push(finding(verify, stray));
            }
        }
        !verify.cancel.is_cancelled()
    });
    compared.await.map_err(why)?;
    Ok(Unexpected {
        items: Some(items),
        why_not: None,
        elsewhere: owners.filter(|_| whole).map(|_| elsewhere),
        lingering,
        findings,
    })
}

fn finding(verify: &Verify, stray: Stray) -> Finding {
    let item_type = name(&verify.model, stray.item_type);
    let (kind, stale) = match item_type {
        None => (FindingKind::Unexpected, None),
        Some(_) => (
            FindingKind::Stale,
            Some(stale(stray.stale, &verify.options)),
        ),
    };
    Finding {
        kind,
        item_type,
        row: None,
        key: raw(stray.json),
        attributes: Vec::new(),
        stale,
        made_by: None,
        foreign: None,
    }
}

/// What has become of a stale item's row, as far as a reading of the rows that make items tells.
fn stale(stale: Stale, options: &Options) -> &'static str {
    match stale {
        Stale::Gone | Stale::Filtered if !options.row_security.is_empty() => {
            "no row that row security lets this reader see makes it"
        }
        Stale::Gone | Stale::Filtered => "no row makes it",
        Stale::Rejected => "its row makes no item",
        Stale::Expired => "its row has expired, and its TTL is not over",
    }
}

fn why(broken: Broken) -> Why {
    match broken {
        Broken::Cancelled => Why::Cancelled,
        Broken::Failed(failure) => Why::Failed(failure),
    }
}
