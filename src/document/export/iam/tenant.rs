//! Whom partitions belong to: the parameter whose value is a caller's tag, and why there may be none.
//!
//! A tenant binds only where a caller can reach no other's partition: its value stands in the partition
//! key as its tag has it, nothing but text stands beside it, and no other pattern that asks the same
//! table or index reaches in. What was named and does not bind is refused; what would have been
//! inferred is not, and it is said.

use super::keys::{Keys, keep_apart, parameter, told};
use crate::document::export::{ExportError, Tenant};
use crate::mapping::model::{AccessPattern, Model, Part, Placeholder, Template};
use crate::mapping::template::Filter;

/// The tenant's parameter, if there is one, and what has to be known of it.
pub(super) fn tenant(
    model: &Model,
    wanted: &Tenant,
) -> Result<(Option<String>, Vec<String>), ExportError> {
    match wanted {
        Tenant::Nobody => Ok((None, Vec::new())),
        Tenant::Inferred => Ok(inferred(model)),
        Tenant::Parameter(name) => {
            let notes = named(model, name)?;
            Ok((Some(name.clone()), notes))
        }
    }
}

/// The one parameter by which all patterns find their partition, with the same text before it and
/// nothing behind: then the partition is a tenant's.
fn inferred(model: &Model) -> (Option<String>, Vec<String>) {
    let mut found: Option<(&str, &str)> = None;
    for pattern in &model.patterns {
        let reason = match (alone(pattern), found) {
            (Ok(this), None) => {
                found = Some(this);
                continue;
            }
            (Ok(this), Some(other)) if this == other => continue,
            (Ok(_), Some(_)) => "since it finds its partition otherwise than those before it",
            (Err(reason), _) => reason,
        };
        let by_parameters = model.patterns.iter().any(|p| !finders(p).is_empty());
        let note = format!(
            "the policy binds no caller to a tenant: the access pattern `{}` tells none, {reason}",
            pattern.name
        );
        return (None, by_parameters.then_some(note).into_iter().collect());
    }
    let Some((_, name)) = found else {
        return (None, Vec::new());
    };
    let mut notes = vec![format!(
        "every access pattern finds its partition by `{name}`, so the policy binds a caller to the partition of its tag `{name}`; where the partition is nobody's own, say --tenant none"
    )];
    notes.extend(held(model, name));
    (Some(name.to_owned()), notes)
}

/// What a pattern's partition key begins with, and the parameter that is all the rest of it.
fn alone(pattern: &AccessPattern) -> Result<(&str, &str), &'static str> {
    let template =
        told(pattern).ok_or("since `dynamodb:LeadingKeys` does not tell its partition key")?;
    let (prefix, value) = match template.parts.as_slice() {
        [Part::Text(text), Part::Value(value)] => (text.as_str(), value),
        [Part::Value(value)] => ("", value),
        _ => return Err("since its partition key is not one parameter behind a text"),
    };
    if !keep_apart(&value.filters) {
        return Err("since a filter makes one text of several values in its partition key");
    }
    match parameter(pattern, value).filter(|name| is_tag(name)) {
        Some(name) => Ok((prefix, name)),
        None => Err("since no tag can be called like its parameter"),
    }
}

/// Fails unless the parameter binds; tells what has to be known.
fn named(model: &Model, name: &str) -> Result<Vec<String>, ExportError> {
    let mut known: Vec<String> = model.patterns.iter().flat_map(finders).collect();
    known.sort_unstable();
    known.dedup();
    if !known.iter().any(|known| known == name) {
        let name = name.to_owned();
        return Err(ExportError::UnknownTenant { name, known });
    }
    let unbound = |pattern: &AccessPattern, reason: String| ExportError::Unbound {
        name: name.to_owned(),
        pattern: pattern.name.to_string(),
        reason,
    };
    let mut notes = Vec::new();
    for pattern in &model.patterns {
        let keys = Keys::of(pattern, Some(name));
        if let Some(reason) = fault(model, pattern, &keys, name) {
            return Err(unbound(pattern, reason));
        }
        if !keys.are_bound() {
            notes.push(format!(
                "the access pattern `{}` is not bound to a tenant: its partitions are everybody's",
                pattern.name
            ));
        }
    }
    notes.extend(held(model, name));
    Ok(notes)
}

/// Why a pattern would let a caller reach the partitions of others.
fn fault(model: &Model, pattern: &AccessPattern, keys: &Keys, name: &str) -> Option<String> {
    let lossy = values(pattern, name).find(|value| !keep_apart(&value.filters));
    match (keys, lossy) {
        (Keys::Untold, _) => {
            return Some(
                "`dynamodb:LeadingKeys` does not tell its partition key, which is not one text"
                    .to_owned(),
            );
        }
        (_, Some(value)) if matches!(value.filters.last(), Some(Filter::Shard(_))) => {
            return Some(format!(
                "its partition key has a shard's number made from `{name}`, which others share"
            ));
        }
        (_, Some(_)) => {
            return Some(format!(
                "a filter makes one text of several values of `{name}` in its partition key"
            ));
        }
        (Keys::Any, None) => {
            return Some("it asks for any partition, so that nothing is bound there".to_owned());
        }
        (Keys::Shaped(_), None) => {}
    }
    if keys.run_into_the_tag() {
        return Some(format!(
            "no text stands between `{name}` and another value of its partition key: the tenant `a` would reach what `ab` has"
        ));
    }
    if !keys.are_bound() && values(pattern, name).next().is_some() {
        return Some(format!(
            "`{name}` stands in a part of its partition key that may be left out"
        ));
    }
    let (text, is_like) = keys.condition()?;
    if keys.are_bound() || !is_like {
        return None;
    }
    let same = model.patterns.iter().filter(|p| p.index == pattern.index);
    let tenants = same.map(|other| (other, Keys::of(other, Some(name))));
    let mut tenants = tenants.filter(|(_, tenants)| tenants.are_bound());
    let (other, _) = tenants.find(|(_, tenants)| tenants.may_meet(keys))?;
    Some(format!(
        "it asks for `{text}`, and so reaches every tenant's partition of `{}`",
        other.name
    ))
}

/// What else than the plain value the tag has to hold.
fn held(model: &Model, name: &str) -> Option<String> {
    let mut all = model.patterns.iter().flat_map(|p| values(p, name));
    all.any(|value| !value.filters.is_empty() || value.escape.is_some())
        .then(|| {
            format!(
                "the tag `{name}` has to hold the value as it stands in the key: padded or escaped as there"
            )
        })
}

/// Where a parameter stands in a pattern's partition key.
fn values<'m>(pattern: &'m AccessPattern, name: &str) -> impl Iterator<Item = &'m Placeholder> {
    let templates = pattern.partition.iter().map(|(_, template)| template);
    templates
        .flat_map(Template::placeholders)
        .filter(move |value| parameter(pattern, value) == Some(name))
}

/// The parameters by which a pattern finds its partition.
fn finders(pattern: &AccessPattern) -> Vec<String> {
    let templates = pattern.partition.iter().map(|(_, template)| template);
    let values = templates.flat_map(Template::placeholders);
    let names = values.filter_map(|value| parameter(pattern, value));
    names
        .filter(|name| is_tag(name))
        .map(str::to_owned)
        .collect()
}

/// Whether a tag can have this key.
fn is_tag(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_.:/=+-@".contains(c))
}
