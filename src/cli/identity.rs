//! What tells whether a run reads the same as an earlier one.

use super::mapping::hash;
use crate::catalog::{Catalog, Table};
use crate::mapping::model::Model;
use crate::source::{self, SourceIdentity};

/// What tells which rows and values the user of a source reads. A run resumes, and a plan is worked on, only where it is
/// the same.
pub(super) fn schema(catalog: &Catalog, model: &Model, identity: &SourceIdentity) -> String {
    let scans = model.scans();
    let tables = source::tables_read(catalog, &scans).into_iter();
    let tables: Vec<Table> = tables.map(Table::as_read).collect();
    // Which function a name in SQL means.
    let has_sql = scans.iter().any(|scan| scan.has_foreign_sql());
    let path = has_sql.then_some(&catalog.search_path);
    // SQL may read restricted tables that it does not name.
    let is_restricted = !model.row_security().is_empty();
    let user = identity.user.as_ref().filter(|_| is_restricted);
    hash(format!("{tables:?}{path:?}{user:?}").as_bytes())
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
