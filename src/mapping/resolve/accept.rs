//! `accept`: warnings that an item type, an index or an access pattern lives with.

use super::super::raw::{Raw, RawAcceptance, Spanned};
use super::anchor::Anchor;
use super::item::Resolved;
use crate::catalog::Dbms;
use crate::diagnostic::{Code, Diagnostic, Severity, nearest};
use crate::sql::Sql;

/// Takes what is accepted out of the diagnostics. What names no warning is a fault, and what there
/// is no warning for is a risk of its own: it would hide one to come. `untold` are warnings that
/// only more rows bring.
pub(super) fn take(
    acceptances: &[RawAcceptance],
    untold: &[Diagnostic],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut accepted: Vec<Diagnostic> = Vec::new();
    let mut found = Vec::new();
    for acceptance in acceptances {
        for written in &acceptance.codes {
            let code = match code(written) {
                Ok(code) => code,
                Err(fault) => {
                    found.push(*fault);
                    continue;
                }
            };
            let within = |diagnostic: &Diagnostic| {
                diagnostic.code == code && acceptance.within.contains(&diagnostic.span.start)
            };
            let before = accepted.len();
            let (taken, left) = diagnostics.drain(..).partition(|d| within(d));
            *diagnostics = left;
            accepted.extend::<Vec<Diagnostic>>(taken);
            // What the source alone tells is not known here, and another database that the mapping is
            // used with may sort text otherwise, or have more rows.
            let is_elsewhere = matches!(
                code,
                Code::UnprovedAnswer | Code::TextOrder | Code::RefusedValues
            ) || untold.iter().any(within);
            if accepted.len() == before && !is_elsewhere {
                found.push(unneeded(written));
            }
        }
    }
    // What is not known may hold the risk: nothing is called unneeded then.
    let unsure = diagnostics.iter().chain(&accepted).any(|diagnostic| {
        diagnostic.severity() == Severity::Error || diagnostic.code == Code::Unchecked
    });
    found.retain(|diagnostic| !unsure || diagnostic.severity() == Severity::Error);
    diagnostics.extend(found);
    accepted.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.code));
    accepted
}

fn code(written: &Spanned<String>) -> Result<Code, Box<Diagnostic>> {
    let known = Code::ALL.iter().find(|code| code.as_str() == written.value);
    let fault = |message: String, help: String| {
        let fault = Diagnostic::new(Code::WrongValue, written.span.clone(), message);
        Box::new(fault.with_help(help))
    };
    match known {
        Some(Code::UnneededAcceptance) => Err(fault(
            "an acceptance cannot be accepted".to_owned(),
            "take what is not needed away".to_owned(),
        )),
        Some(code) if code.severity() == Severity::Warning => Ok(*code),
        Some(code) => Err(fault(
            format!("`{}` is an error, which cannot be accepted", code.as_str()),
            "only warnings can; mend it".to_owned(),
        )),
        None => {
            let warnings = Code::ALL.iter();
            let warnings = warnings.filter(|code| code.severity() == Severity::Warning);
            let names: Vec<&str> = warnings.map(|code| code.as_str()).collect();
            let help = match nearest(&written.value, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the warnings are {}", names.join(", ")),
            };
            Err(fault(
                format!("there is no warning `{}`", written.value),
                help,
            ))
        }
    }
}

fn unneeded(written: &Spanned<String>) -> Diagnostic {
    Diagnostic::new(
        Code::UnneededAcceptance,
        written.span.clone(),
        format!("there is no warning `{}` here to accept", written.value),
    )
    .with_help("take it away: it would hide one to come")
}

// Parameters in the SQL of item types, to which nothing gives a value: SQLite and MySQL take some of them for NULL, and
// leave out every row.

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
