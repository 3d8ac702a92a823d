//! What tells whether a run reads the same as an earlier one.

use super::mapping::hash;
use crate::catalog::{Catalog, Table};
use crate::mapping::model::Model;
use crate::source::{self, SourceIdentity};

/// What tells which rows and values the user of a source reads. A run resumes, and a plan is worked on, only where it is
/// the same.
pub(super) fn schema(catalog: &Catalog, model: &Model, identity: &SourceIdentity) -> String {
    let tables = source::tables_read(catalog, &model.scans()).into_iter();
    let tables: Vec<Table> = tables.map(Table::as_read).collect();
    let is_restricted = tables.iter().any(|table| table.row_security);
    let user = identity.user.as_ref().filter(|_| is_restricted);
    hash(format!("{tables:?}{user:?}").as_bytes())
}

/// What tells the state of a source, as a plan has it.
pub(super) fn stamped(identity: SourceIdentity, model: &Model) -> SourceIdentity {
    let fickle = model.passes.iter().any(|pass| pass.fickle);
    let stamp = identity.stamp.filter(|_| !fickle);
    SourceIdentity {
        stamp: stamp.map(|stamp| hash(stamp.as_bytes())),
        ..identity
    }
}
