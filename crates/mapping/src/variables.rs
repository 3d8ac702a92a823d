//! Environment variables in a mapping: `${VAR}` and `${VAR:-default}`.

use std::collections::BTreeSet;

use super::yaml::{YamlContent, YamlNode};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};

/// Variables, by their names, and what was put in their place.
pub(super) type Substitutions = BTreeSet<(String, String)>;

/// Replaces `${VAR}` and `${VAR:-default}` in every scalar below a node, and notes what it put in.
pub(super) fn substitute(
    node: &mut YamlNode,
    variables: &dyn Fn(&str) -> Option<String>,
    substitutions: &mut Substitutions,
    faults: &Diagnostics,
) {
    let span = node.span.clone();
    match &mut node.content {
        YamlContent::Scalar { text, .. } if text.contains("${") => {
            match expand(text, variables, substitutions) {
                Ok(expanded) => *text = expanded,
                Err(fault) => {
                    faults.push(Diagnostic { span, ..fault });
                    // Something that shows no second fault.
                    "unset".clone_into(text);
                }
            }
        }
        YamlContent::Scalar { .. } => {}
        YamlContent::List(elements) => {
            for element in elements {
                substitute(element, variables, substitutions, faults);
            }
        }
        YamlContent::Map { entries, .. } => {
            for entry in entries {
                substitute(&mut entry.value, variables, substitutions, faults);
            }
        }
    }
}

fn expand(
    text: &str,
    variables: &dyn Fn(&str) -> Option<String>,
    substitutions: &mut Substitutions,
) -> Result<String, Diagnostic> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((inner, after)) = after.split_once('}') else {
            return Err(
                Diagnostic::new(Code::WrongValue, 0..0, "`${` has no closing brace")
                    .with_help("write ${NAME} or ${NAME:-default}"),
            );
        };
        let (name, value) = match inner.split_once(":-") {
            // As in the shell, `:-` takes the default for an empty variable too.
            Some((name, default)) => {
                let value = variables(name).filter(|value| !value.is_empty());
                (name, Some(value.unwrap_or_else(|| default.to_owned())))
            }
            None => (inner, variables(inner)),
        };
        let Some(value) = value else {
            let message = format!("the environment variable `{name}` is not set");
            let help = format!("set it, or give a default: ${{{name}:-…}}");
            return Err(Diagnostic::new(Code::UnsetVariable, 0..0, message).with_help(help));
        };
        out.push_str(&value);
        substitutions.insert((name.to_owned(), value));
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_their_defaults_are_substitutions() {
        let variables = |name: &str| match name {
            "A" => Some("one".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let expanded = |text| expand(text, &variables, &mut Substitutions::new()).ok();
        assert_eq!(expanded("x-${A}-${B:-two}").as_deref(), Some("x-one-two"));
        assert_eq!(expanded("${EMPTY:-d}${EMPTY}").as_deref(), Some("d"));
        assert_eq!(expanded("${B}"), None);
        assert_eq!(expanded("${A"), None);
        let mut substitutions = Substitutions::new();
        expand("${A} ${B:-two} ${A}", &variables, &mut substitutions).unwrap();
        let noted =
            [("A", "one"), ("B", "two")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(substitutions, Substitutions::from(noted));
    }
}
