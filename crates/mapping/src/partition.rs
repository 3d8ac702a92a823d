//! What values of the table's partition key stand for, as far as the mapping tells without a schema: the other shards
//! that may belong to them, the item types that never have them, and those that have them beside others.

use dynafold_dynamodb::Attribute;
use dynafold_format::each_once;
use serde::Serialize;

use crate::model::{AttributeNode, KeyTexts, Template, TemplatePart};
use crate::resolve::{Outline, OutlinedItemType};
use crate::template::Filter;

/// What values of the partition key stand for.
#[derive(Debug, Clone, Default)]
pub struct PartitionScope {
    /// The item types that are spread over shards of which a value may be one, and whose other shards are not all named.
    pub shards: Vec<OtherShards>,
    /// The item types whose partition key never has one of the values.
    pub elsewhere: Vec<ElsewhereItemType>,
    /// The item types that may have one of the values, and whose partition key is made of several columns: items that
    /// share one of them with the named partition lie in others.
    pub beside: Vec<ElsewhereItemType>,
    /// The values that no item type makes.
    pub unmade: Vec<Attribute>,
}

/// The shards of an item type besides those that are named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OtherShards {
    /// The item type's name.
    pub item_type: String,
    /// The template of its partition key.
    pub partition: String,
    /// The values of the partition key; `None` where the named one does not tell them.
    pub values: Option<Vec<String>>,
}

/// An item type whose items lie in other partitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ElsewhereItemType {
    /// The item type's name.
    pub item_type: String,
    /// The template of its partition key.
    pub partition: String,
    /// Columns of which the named value is made, and the attributes in which the item type has a column of that name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub carries: Vec<CarriedColumn>,
    /// Whether it may have such a column in attributes that only the schema names, and there is none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_schema: bool,
}

/// A column, and the attributes that are made from one of its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CarriedColumn {
    /// The column's name.
    pub column: String,
    /// The names of the attributes that are made from it.
    pub attributes: Vec<String>,
}

impl Outline {
    /// What values of the table's partition key stand for.
    pub fn partition_scope(&self, values: &[Attribute]) -> PartitionScope {
        let key = &self.table.partition.name;
        let of_key = |item_type: &OutlinedItemType| {
            let mut all = item_type.attributes.iter();
            let found = all.find(|(name, _)| name == key);
            found.and_then(|(_, template)| template.clone())
        };
        let item_types = self.item_types.iter();
        let keyed = item_types.filter_map(|item_type| Some((item_type, of_key(item_type)?)));
        let may_have = |template: &Template, value: &Attribute| fits(&template.parts, value);
        let (within, elsewhere): (Vec<_>, Vec<_>) =
            keyed.partition(|(_, template)| values.iter().any(|value| may_have(template, value)));
        let erased = columns(within.iter().map(|(_, template)| template));
        let is_unmade = |value: &&Attribute| {
            let mut templates = within.iter().map(|(_, template)| template);
            !templates.any(|template| may_have(template, value))
        };
        let sharded = within.iter().filter(|(_, template)| has_shards(template));
        let shards = sharded.map(|(item_type, template)| OtherShards {
            item_type: item_type.name.to_string(),
            partition: template.to_string(),
            values: unnamed_shards(template, values),
        });
        let shards = shards.filter(|one| one.values.as_ref().is_none_or(|all| !all.is_empty()));
        let found =
            |(item_type, template): &(&OutlinedItemType, Template), carries, needs_schema| {
                ElsewhereItemType {
                    item_type: item_type.name.to_string(),
                    partition: template.to_string(),
                    carries,
                    needs_schema,
                }
            };
        let several = within.iter().filter(|(_, template)| {
            let mut places = places(template);
            let first = places.next();
            places.any(|place| Some(place) != first)
        });
        PartitionScope {
            shards: shards.collect(),
            unmade: values.iter().filter(is_unmade).cloned().collect(),
            beside: several.map(|one| found(one, Vec::new(), false)).collect(),
            elsewhere: elsewhere
                .iter()
                .map(|one| {
                    let needs_schema = one.0.is_open && !erased.is_empty();
                    found(one, carried(one.0, &erased), needs_schema)
                })
                .collect(),
        }
    }
}

fn has_shards(template: &Template) -> bool {
    let is_shard = |filter: &Filter| matches!(filter, Filter::Shard(_));
    let mut placeholders = template.placeholders();
    placeholders.any(|placeholder| placeholder.filters.iter().any(is_shard))
}

/// The shards of a template that are not named. `None` where some value does not tell its other shards.
fn unnamed_shards(template: &Template, values: &[Attribute]) -> Option<Vec<String>> {
    let named: Vec<String> = values
        .iter()
        .filter(|value| fits(&template.parts, value))
        .filter_map(|value| match value {
            Attribute::S(text) => Some(text.to_string()),
            _ => None,
        })
        .collect();
    let mut others: Vec<String> = Vec::new();
    for text in &named {
        let found = other_shards(template, text)?;
        let is_new = |shard: &String| !named.contains(shard) && !others.contains(shard);
        let found: Vec<String> = found.into_iter().filter(is_new).collect();
        others.extend(found);
    }
    Some(others)
}

/// Whether parts of a template can make a value, whatever their columns hold.
fn fits(parts: &[TemplatePart], value: &Attribute) -> bool {
    let parts = parts.to_vec();
    KeyTexts::of(&AttributeNode::Template(Template { parts })).may_be(value)
}

fn fit_text(parts: &[TemplatePart], text: &str) -> bool {
    match parts {
        [] => text.is_empty(),
        parts => fits(parts, &Attribute::S(text.into())),
    }
}

/// The values that a template makes with other shards than that of a value; none where the value has no shard. `None` where
/// nothing but the shard tells its values apart, or it is not certain which digits are the shard.
fn other_shards(template: &Template, value: &str) -> Option<Vec<String>> {
    let parts = &template.parts;
    let mut sharded = parts.iter().enumerate().filter_map(|(at, part)| {
        let value = part.value()?;
        let escape = value.escape.as_ref();
        let plain = escape.is_none_or(|escape| ('0'..='9').all(|digit| !escape.has(digit)));
        Some((at, value.shards()?)).filter(|_| plain)
    });
    let (at, shards) = sharded.next().filter(|_| sharded.next().is_none())?;
    let (before, after) = (parts.get(..at)?, parts.get(at + 1..)?);
    if template.mandatory().count() < 2 {
        return None;
    }
    let width = Filter::shard_text(0, shards).len();
    let mut readings = value.char_indices().filter_map(|(from, _)| {
        let digits = value.get(from..from + width)?;
        let (head, tail) = (value.get(..from)?, value.get(from + width..)?);
        let is_shard = digits.bytes().all(|byte| byte.is_ascii_digit())
            && digits.parse::<u32>().is_ok_and(|shard| shard < shards);
        (is_shard && fit_text(before, head) && fit_text(after, tail))
            .then_some((head, digits, tail))
    });
    let Some((head, own, tail)) = readings.next() else {
        return Some(Vec::new());
    };
    if readings.next().is_some() {
        return None;
    }
    let all = (0..shards).map(|shard| Filter::shard_text(shard, shards));
    let others = all.filter(|shard| shard != own);
    Some(others.map(|shard| format!("{head}{shard}{tail}")).collect())
}

/// What a template takes its values from, but for those that choose a shard.
fn places(template: &Template) -> impl Iterator<Item = &str> {
    let placeholders = template.placeholders();
    placeholders
        .filter(|placeholder| placeholder.shards().is_none())
        .map(|placeholder| &*placeholder.place.written)
}

/// The columns that templates take, but for those that choose a shard.
fn columns<'t>(templates: impl Iterator<Item = &'t Template>) -> Vec<String> {
    each_once(templates.flat_map(places).map(column).map(str::to_owned))
}

/// The column's own name, without the alias before it.
fn column(written: &str) -> &str {
    written.rsplit('.').next().unwrap_or(written)
}

fn carried(item_type: &OutlinedItemType, columns: &[String]) -> Vec<CarriedColumn> {
    let carried = columns.iter().map(|wanted| CarriedColumn {
        column: wanted.clone(),
        attributes: (item_type.places.iter())
            .filter(|(_, places)| places.iter().any(|written| column(written) == wanted))
            .map(|(name, _)| name.to_string())
            .collect(),
    });
    carried.filter(|one| !one.attributes.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Raw, outline};

    fn scope(partition: &str, value: &str) -> PartitionScope {
        let text = format!(
            "dynafold: 1
table: {{ name: app, key: {{ partition: PK, sort: SK }} }}
items:
  EVENT:
    from: events
    key: {{ PK: \"{partition}\", SK: \"-\" }}
  BILL:
    from: bills
    key: {{ PK: \"BILL#{{id}}\", SK: \"OF#{{b.tenant}}\" }}
"
        );
        let (raw, faults) = Raw::read(&text, &|_| None);
        let outline = outline(&raw.unwrap(), faults);
        assert!(outline.diagnostics.is_empty(), "{:?}", outline.diagnostics);
        let values = value.split(' ').map(|value| Attribute::S(value.into()));
        outline.partition_scope(&values.collect::<Vec<_>>())
    }

    /// The shards that are not named; `?` where they cannot be told.
    fn shards(partition: &str, value: &str) -> Vec<String> {
        let found = scope(partition, value).shards.into_iter();
        let values = |one: OtherShards| one.values.unwrap_or_else(|| vec!["?".to_owned()]);
        found.flat_map(values).collect()
    }

    #[test]
    fn all_shards_of_a_partition_belong_to_it() {
        let events = "T#{tenant}#{id | shard(3)}";
        assert_eq!(shards(events, "T#7#1"), ["T#7#0", "T#7#2"]);
        assert_eq!(shards(events, "T#a#b#2"), ["T#a#b#0", "T#a#b#1"]);
        // As many digits as the template writes.
        let many = shards("T#{tenant}#{id | shard(12)}", "T#7#03");
        assert_eq!(
            (many.len(), many[0].as_str(), many[10].as_str()),
            (11, "T#7#00", "T#7#11")
        );
        assert_eq!(shards("{id | shard(2)}.{tenant}", "1.x"), ["0.x"]);
        assert_eq!(shards(events, "T#7#1 T#7#0"), ["T#7#2"]);
        assert_eq!(shards(events, "T#7#1 T#7#0 T#7#2"), [""; 0]);
    }

    #[test]
    fn what_may_be_no_shard_brings_no_others() {
        let events = "T#{tenant}#{id | shard(3)}";
        for value in ["T#7", "T#7#3", "T#7#", "T#7#1#x", "t#7#1", "BILL#1"] {
            assert_eq!(shards(events, value), [""; 0], "{value}");
        }
        // Nothing but the shard: every tenant's.
        assert_eq!(shards("T#{id | shard(3)}", "T#1"), ["?"]);
        // Which digit is the shard is not certain.
        let between = "T#{tenant}#{id | shard(3)}#{kind}";
        assert_eq!(shards(between, "T#1#2#1#2"), ["?"]);
        for hidden in [
            "T#{tenant}[#{id | shard(3)}]",
            "T#{tenant}#{id | shard(3) | string}",
        ] {
            assert_eq!(shards(hidden, "T#7#1"), ["?"], "{hidden}");
        }
        assert_eq!(shards(between, "T#a#2#b"), ["T#a#0#b", "T#a#1#b"]);
    }

    #[test]
    fn item_types_that_lie_elsewhere_are_named_with_what_they_carry() {
        let found = scope("T#{tenant}", "T#7");
        assert_eq!(found.unmade, []);
        let [bill] = &found.elsewhere[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (bill.item_type.as_str(), bill.partition.as_str()),
            ("BILL", "BILL#{id}")
        );
        let [tenant] = &bill.carries[..] else {
            panic!("{bill:?}")
        };
        assert_eq!(
            (tenant.column.as_str(), tenant.attributes[0].as_str()),
            ("tenant", "SK")
        );
        // A value that nothing makes.
        assert_eq!(scope("T#{tenant}", "t#7").unmade.len(), 1);
    }

    /// Whatever an attribute is made as.
    #[test]
    fn attributes_that_hold_a_column_deep_within_are_named() {
        let text = "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK } }
items:
  TENANT: { from: tenants, key: { PK: \"T#{tenant}\", SK: T } }
  ORDER:
    from: orders
    key: { PK: \"O#{id}\", SK: O }
    columns: [total, t.tenant]
    attributes:
      map: { of: { t: \"{tenant}\" } }
      list: [\"{id}\", \"{tenant | string}\"]
      when: { $when: paid, $value: { in: \"{tenant}\" } }
      embed: { $embed: lines, $each: { t: \"{tenant}\" } }
      keys: { $embed: lines, $as: map, $key: \"{tenant}\", $each: \"{id}\" }
      all: { $embed: lines }
      members: { $spread: doc.tenant }
      none: { $embed: lines, $match: { tenant: tenant }, $where: tenant > 1, $each: \"{id}\" }
";
        let (raw, faults) = Raw::read(text, &|_| None);
        let outline = outline(&raw.unwrap(), faults);
        let found = outline.partition_scope(&[Attribute::S("T#7".into())]);
        let [order] = &found.elsewhere[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            order.carries[0].attributes,
            ["map", "list", "when", "embed", "keys", "members", "tenant"]
        );
        // Of `all` only the schema knows the members.
        assert!(order.needs_schema);
    }

    #[test]
    fn an_item_type_whose_key_is_made_of_several_columns_may_have_more_elsewhere() {
        let beside = |partition: &str, value: &str| {
            let found = scope(partition, value).beside.into_iter();
            found.map(|one| one.partition).collect::<Vec<_>>()
        };
        for partition in [
            "EV#{tenant}#{month}",
            "EV#{tenant}[#{month}]",
            "EV#{tenant}#{e.tenant}",
        ] {
            assert_eq!(beside(partition, "EV#7#2024-01"), [partition]);
        }
        for partition in [
            "EV#{tenant}",
            "EV#{tenant}#{tenant}",
            "EV#{tenant}#{id | shard(4)}",
        ] {
            assert_eq!(beside(partition, "EV#7#2"), [""; 0], "{partition}");
        }
        assert_eq!(beside("EV#{tenant}#{month}", "BILL#7"), [""; 0]);
    }
}
