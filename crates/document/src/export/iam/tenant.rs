//! Whom partitions belong to: the parameter whose value is a caller's tag, and why there may be none.
//!
//! A tenant binds only where a caller can reach no other's partition: its value stands in the partition
//! key as its tag has it, nothing but text stands beside it, and no other pattern that asks the same
//! table or index reaches in. What was named and does not bind is refused; what would have been
//! inferred is not, and it is said.

use dynafold_mapping::model::{AccessPattern, Model, Placeholder};

use super::leading_keys::{LeadingKeys, keep_values_apart, parameter};
use crate::export::{ExportError, Tenant};

/// The tenant's parameter, if there is one, and what has to be known of it.
pub(super) fn tenant(
    model: &Model,
    wanted: &Tenant,
) -> Result<(Option<String>, Vec<String>), ExportError> {
    let mut known: Vec<&str> = model
        .patterns
        .iter()
        .flat_map(partition_parameters)
        .collect();
    known.sort_unstable();
    known.dedup();
    let none = |why: String| {
        let note = format!("the policy does not restrict callers to a tenant: {why}");
        Ok((None, vec![note]))
    };
    let is_inferred = *wanted == Tenant::Inferred;
    let name = match (wanted, known.as_slice()) {
        (Tenant::Nobody, _) | (Tenant::Inferred, []) => return Ok((None, Vec::new())),
        (Tenant::Inferred, [only]) => *only,
        (Tenant::Inferred, several) => {
            let several = several.join("`, `");
            return none(format!(
                "access patterns find their partitions by `{several}`"
            ));
        }
        (Tenant::Parameter(name), known) if known.contains(&name.as_str()) => name,
        (Tenant::Parameter(name), known) => {
            let (name, known) = (name.clone(), known.iter().map(ToString::to_string));
            let known = known.collect();
            return Err(ExportError::UnknownTenant { name, known });
        }
    };
    let mut notes = Vec::new();
    for pattern in &model.patterns {
        let keys = LeadingKeys::of(pattern, Some(name));
        let of = &pattern.name;
        match why_unbound(model, pattern, &keys, name) {
            Some(reason) if is_inferred => {
                return none(format!("the access pattern `{of}`: {reason}"));
            }
            Some(reason) => {
                return Err(ExportError::Unbound {
                    name: name.to_owned(),
                    pattern: of.to_string(),
                    reason,
                });
            }
            None if is_inferred && !keys.end_with_the_tag() => {
                let more =
                    format!("the access pattern `{of}` does not find its partition only by `{name}`");
                return none(more);
            }
            None if keys.are_bound() => {}
            None => notes.push(format!(
                "the access pattern `{of}` is not restricted to a tenant: every caller can read its partitions"
            )),
        }
    }
    if is_inferred {
        notes.push(format!(
            "every access pattern finds its partition by `{name}`, so the policy restricts a caller to the partition of its tag `{name}`; if partitions do not belong to callers, use the tenant `none`"
        ));
    }
    notes.extend(tag_requirement(model, name));
    Ok((Some(name.to_owned()), notes))
}

/// Why a pattern would let a caller reach the partitions of others.
fn why_unbound(
    model: &Model,
    pattern: &AccessPattern,
    keys: &LeadingKeys,
    name: &str,
) -> Option<String> {
    let lossy = places_of(pattern, name).find(|value| !keep_values_apart(&value.filters));
    if pattern.fetch {
        return Some(
            "its `fetch` reads items by keys that are known only when the index has answered, so no condition can restrict them"
                .to_owned(),
        );
    }
    let reason = match (keys, lossy) {
        (LeadingKeys::Inexpressible, _) => {
            "`dynamodb:LeadingKeys` cannot express its partition key, which is not a single string"
                .to_owned()
        }
        (_, Some(value)) if value.shards().is_some() => {
            format!(
                "its partition key has a shard number made from `{name}`, which other tenants share"
            )
        }
        (_, Some(_)) => {
            format!("a filter in its partition key maps several values of `{name}` to one text")
        }
        (LeadingKeys::Any, None) => "it asks for any partition, so nothing restricts it".to_owned(),
        (LeadingKeys::Shaped(_), None) if keys.run_into_the_tag() => format!(
            "no text separates `{name}` from another value in its partition key: the tenant `a` could read the data of `ab`"
        ),
        (LeadingKeys::Shaped(_), None) if keys.are_bound() => return None,
        (LeadingKeys::Shaped(_), None) if places_of(pattern, name).next().is_some() => {
            format!("`{name}` is in an optional segment of its partition key")
        }
        (LeadingKeys::Shaped(_), None) => return reach_into_tenants(model, pattern, keys, name),
    };
    Some(reason)
}

/// Why a pattern that is not bound would let a caller reach the partitions of tenants.
fn reach_into_tenants(
    model: &Model,
    pattern: &AccessPattern,
    keys: &LeadingKeys,
    name: &str,
) -> Option<String> {
    let (text, is_like) = keys.condition()?;
    if !is_like {
        return None;
    }
    let mut beside = model.patterns.iter().filter(|p| p.index == pattern.index);
    let other = beside.find(|other| {
        let tenants = LeadingKeys::of(other, Some(name));
        tenants.are_bound() && tenants.may_meet(keys)
    })?;
    Some(format!(
        "it asks for `{text}`, which includes every tenant's partition of `{}`",
        other.name
    ))
}

/// What else than the plain value the tag has to hold.
fn tag_requirement(model: &Model, name: &str) -> Option<String> {
    let mut all = model.patterns.iter().flat_map(|p| places_of(p, name));
    all.any(|value| !value.filters.is_empty() || value.escape.is_some())
        .then(|| {
            format!("the tag `{name}` must hold the value as it is in the key, padded or escaped")
        })
}

/// Where a parameter stands in a pattern's partition key.
fn places_of<'m>(pattern: &'m AccessPattern, name: &str) -> impl Iterator<Item = &'m Placeholder> {
    partition_places(pattern).filter(move |value| parameter(pattern, value) == Some(name))
}

/// The parameters by which a pattern finds its partition, if a tag can have their names.
fn partition_parameters(pattern: &AccessPattern) -> impl Iterator<Item = &str> {
    let names = partition_places(pattern).filter_map(|value| parameter(pattern, value));
    names.filter(|name| is_tag(name))
}

fn partition_places(pattern: &AccessPattern) -> impl Iterator<Item = &Placeholder> {
    let templates = pattern.partition.iter();
    templates.flat_map(|(_, template)| template.placeholders())
}

/// Whether a tag can have this key.
fn is_tag(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_.:/=+-@".contains(c))
}
