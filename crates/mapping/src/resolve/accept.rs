//! `accept`: warnings that an item type, an index or an access pattern lives with.

use dynafold_relational::catalog::Dbms;
use dynafold_sql::Sql;

use super::ResolvedMapping;
use super::anchor::TemplateAnchor;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity, did_you_mean};
use crate::raw::{RawAcceptance, Spanned};

/// Takes what is accepted out of the diagnostics. What names no warning is a fault, and what there
/// is no warning for is a risk of its own: it would hide one to come. `unreported` are warnings that
/// only more rows bring.
pub(super) fn take(
    acceptances: &[RawAcceptance],
    unreported: &[Diagnostic],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut accepted: Vec<Diagnostic> = Vec::new();
    let found = Diagnostics::default();
    for acceptance in acceptances {
        for written in &acceptance.codes {
            let code = match code(&written.value) {
                Ok(code) => code,
                Err((message, help)) => {
                    found.add(Code::WrongValue, written.span.clone(), message, help);
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
            ) || unreported.iter().any(within);
            if accepted.len() == before && !is_elsewhere {
                let message = format!("there is no warning `{}` here to accept", written.value);
                let help = "remove it: it would hide such a warning in the future";
                let span = written.span.clone();
                found.add(Code::UnneededAcceptance, span, message, help);
            }
        }
    }
    // What is not known may hold the risk: nothing is called unneeded then.
    let unsure = diagnostics.iter().chain(&accepted).any(|diagnostic| {
        diagnostic.severity() == Severity::Error || diagnostic.code == Code::Unchecked
    });
    let mut found = found.take();
    found.retain(|diagnostic| !unsure || diagnostic.severity() == Severity::Error);
    diagnostics.extend(found);
    accepted.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.code));
    accepted
}

/// The warning of a name, or what is wrong with it and how to mend it.
fn code(name: &str) -> Result<Code, (String, String)> {
    let is_warning = |code: &&Code| code.severity() == Severity::Warning;
    match Code::ALL.iter().find(|code| code.as_str() == name) {
        Some(Code::UnneededAcceptance) => Err((
            "this warning cannot be accepted".to_owned(),
            "remove from `accept` the code that is not needed".to_owned(),
        )),
        Some(code) if is_warning(&code) => Ok(*code),
        Some(_) => Err((
            format!("`{name}` is an error and cannot be accepted"),
            "only warnings can be accepted; fix the error".to_owned(),
        )),
        None => {
            let warnings = Code::ALL.iter().filter(is_warning);
            let names: Vec<&str> = warnings.map(|code| code.as_str()).collect();
            let help = did_you_mean(name, names.iter().copied())
                .unwrap_or_else(|| format!("the warnings are {}", names.join(", ")));
            Err((format!("there is no warning `{name}`"), help))
        }
    }
}

/// Reports parameters in `where`, `$when` and `from: { sql }`, to which nothing gives a value: SQLite and MySQL take some
/// of them for NULL, and leave out every row.
pub(super) fn check(whole: &ResolvedMapping<'_>) {
    let dbms = whole.catalog.dbms;
    for sql in whole.raw.queries() {
        whole.diagnostics.extend(faults(sql, dbms));
    }
    for written in whole.resolved.iter().flat_map(|item| &item.conditions) {
        for condition in &written.value.conditions {
            let faults = faults(&written.with(condition.clone()), dbms);
            whole.diagnostics.extend(faults);
        }
    }
}

fn faults(written: &Spanned<String>, dbms: Dbms) -> Vec<Diagnostic> {
    // What cannot be taken apart the database refuses.
    let Ok(sql) = Sql::read(&written.value, Some(dbms)) else {
        return Vec::new();
    };
    let anchor = TemplateAnchor::of(written);
    let own = sql
        .parameters()
        .iter()
        .map(|one| (format!(":{}", one.name), &one.span));
    let foreign = sql.foreign_parameters();
    let all = own.chain(foreign.iter().map(|one| (one.name.clone(), &one.span)));
    let fault = |(name, span)| {
        let message = format!("`{name}` is a parameter, and nothing gives it a value");
        Diagnostic::new(Code::Sql, anchor.range(span), message)
            .with_help("write the value itself; parameters are for `access_patterns`")
    };
    all.map(fault).collect()
}
