//! `accept`: warnings that an item type, an index or an access pattern lives with.

use crate::diagnostic::{Code, Diagnostic, Severity, nearest};
use crate::mapping::raw::{RawAcceptance, Spanned};

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
