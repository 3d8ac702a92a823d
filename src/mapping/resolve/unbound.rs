//! Parameters in the SQL of item types, to which nothing gives a value: SQLite and MySQL take some of them for NULL, and
//! leave out every row.

use super::anchor::Anchor;
use super::item::Resolved;
use crate::catalog::Dbms;
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::raw::{Raw, Spanned};
use crate::sql::Sql;

/// Tells of parameters in `where`, `$when` and `from: { sql }`.
pub(super) fn check(
    raw: &Raw,
    resolved: &[Resolved],
    dbms: Dbms,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for sql in raw.queries() {
        diagnostics.extend(faults(sql, dbms));
    }
    for item in resolved {
        for condition in item.condition.iter().chain(&item.flags) {
            diagnostics.extend(faults(condition, dbms));
        }
        for embedded in &item.conditions {
            for value in &embedded.value.conditions {
                let (value, span) = (value.clone(), embedded.span.clone());
                diagnostics.extend(faults(&Spanned { value, span }, dbms));
            }
        }
    }
}

fn faults(written: &Spanned<String>, dbms: Dbms) -> Vec<Diagnostic> {
    // What cannot be taken apart the database refuses.
    let Ok(sql) = Sql::read(&written.value, Some(dbms)) else {
        return Vec::new();
    };
    let anchor = Anchor::of(written);
    let own = sql
        .parameters()
        .iter()
        .map(|one| (format!(":{}", one.name), &one.span));
    let foreign = sql.foreign();
    let all = own.chain(foreign.iter().map(|one| (one.name.clone(), &one.span)));
    let fault = |(name, span)| {
        let message = format!("`{name}` is a parameter, and nothing gives it a value");
        Diagnostic::new(Code::Sql, anchor.range(span), message)
            .with_help("write the value in its place; parameters are for `access_patterns`")
    };
    all.map(fault).collect()
}
