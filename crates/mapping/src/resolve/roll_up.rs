//! Roll-ups: what is summed on a schedule, held against the keys of the item types that are summed and that hold the sums.
//!
//! The function that sums sees keys, not columns: it cuts the shard off the text of a partition key, and has the key of the
//! total. So both keys must be one template but for the shard and fixed text at their ends.

use std::ops::Range;
use std::sync::Arc;

use dynafold_relational::catalog::TypeFamily;

use super::outline::type_attribute;
use super::table::is_schedule;
use super::{ResolvedItem, ResolvedMapping, life};
use crate::diagnostic::{Code, did_you_mean};
use crate::model::{AttributeNode, RollUp, Template, TemplatePart};
use crate::raw::RawRollUp;
use crate::template::Filter;

/// The roll-ups of all item types.
pub(super) fn check(whole: &ResolvedMapping<'_>) -> Vec<RollUp> {
    let raw = whole.raw.items.iter();
    let written = raw.filter_map(|raw| Some((&raw.name.value, raw.roll_up.as_ref()?)));
    let found = written.filter_map(|(name, raw)| {
        let mut resolved = whole.resolved.iter();
        let total = resolved.find(|item| *item.item.name == **name)?;
        WrittenRollUp { whole, raw, total }.check()
    });
    found.collect()
}

struct WrittenRollUp<'a> {
    whole: &'a ResolvedMapping<'a>,
    raw: &'a RawRollUp,
    total: &'a ResolvedItem,
}

/// How the function tells the items of both types from all others.
struct Marks {
    /// The type attribute, or the sort key.
    attribute: Arc<str>,
    /// Its value in what is summed, or what that value begins with.
    of: String,
    of_is_prefix: bool,
    /// Its value in the total.
    total: String,
}

impl WrittenRollUp<'_> {
    /// `None` where there is a fault.
    fn check(&self) -> Option<RollUp> {
        let of = self.of()?;
        let (attribute, counts_items) = self.attribute(of)?;
        let schedule = self.schedule()?;
        let (cut, around) = self.keys(of)?;
        let marks = self.marks(of)?;
        Some(RollUp {
            total: self.total.item.name.clone(),
            of: of.item.name.clone(),
            attribute,
            counts_items,
            schedule,
            mark: marks.attribute,
            of_mark: marks.of,
            mark_is_prefix: marks.of_is_prefix,
            total_mark: marks.total,
            cut,
            around,
        })
    }

    /// The item type that is summed.
    fn of(&self) -> Option<&ResolvedItem> {
        let of = &self.raw.of;
        let mut resolved = self.whole.resolved.iter();
        if let Some(found) = resolved.find(|item| *item.item.name == *of.value)
            && found.item.name != self.total.item.name
        {
            return Some(found);
        }
        let others = self.whole.raw.written.iter().map(String::as_str);
        let mut others = others.filter(|name| **name != *self.total.item.name);
        // A faulty item type has its own diagnostics.
        if others.clone().all(|name| name != of.value) {
            let message = format!("there is no other item type `{}`", of.value);
            let help = did_you_mean(&of.value, &mut others)
                .unwrap_or_else(|| "name the item type whose items are summed".to_owned());
            self.report(&of.span, message, help);
        }
        None
    }

    /// The attribute that holds the sum, and whether it is a number of items.
    fn attribute(&self, of: &ResolvedItem) -> Option<(Arc<str>, bool)> {
        let (name, counts) = match (&self.raw.count, &self.raw.sum) {
            (Some(name), None) => (name, true),
            (None, Some(name)) => (name, false),
            _ => {
                let message = "a roll-up has either a `count` or a `sum`";
                let help = "count: votes writes the number of items into `votes`; sum: votes sums their `votes`";
                self.report(&self.raw.span, message, help);
                return None;
            }
        };
        let mut items = vec![(
            self.total,
            "name a number attribute that the totals have, such as `votes: 0`: the load writes its first value, and the function changes it",
        )];
        if !counts {
            items.push((of, "name an attribute that both have, or use `count`"));
        }
        for (item, help) in items {
            let node = item.item.node(&name.value);
            let message = match node.map(AttributeNode::known_family) {
                Some(_) if life::is_key(&name.value, self.whole.table) => {
                    format!(
                        "`{}` is a key attribute, which no function can change",
                        name.value
                    )
                }
                Some(None | Some(TypeFamily::Number)) => continue,
                Some(Some(family)) => format!(
                    "`{}` of `{}` is {}, not a number",
                    name.value,
                    item.item.name,
                    family.name()
                ),
                None => format!("`{}` has no attribute `{}`", item.item.name, name.value),
            };
            self.report(&name.span, message, help);
            return None;
        }
        Some((name.value.as_str().into(), counts))
    }

    fn schedule(&self) -> Option<String> {
        let schedule = &self.raw.schedule;
        if is_schedule(&schedule.value) {
            return Some(schedule.value.clone());
        }
        let message = format!(
            "`{}` is not a schedule of Amazon EventBridge",
            schedule.value
        );
        let help = "write rate(5 minutes), or six fields in UTC: cron(0 * * * ? *)";
        self.report(&schedule.span, message, help);
        None
    }

    /// What the partition key of what is summed has beyond that of its total, and the text that stands in its place.
    fn keys(&self, of: &ResolvedItem) -> Option<([usize; 2], [String; 2])> {
        let partition = &self.whole.table.partition.name;
        let key = |item: &ResolvedItem| item.item.template(partition).cloned();
        let (theirs, own) = (key(of)?, key(self.total)?);
        let (their_ends, their_core) = ends(&theirs);
        let (own_ends, own_core) = ends(&own);
        let shards = |ends: &[Vec<KeyEnd>; 2]| {
            let all = ends.iter().flatten();
            all.filter(|end| end.is_shard).count()
        };
        let message = if shards(&their_ends) != 1 {
            format!(
                "the key of `{}`, `{theirs}`, has no shard at one of its ends",
                of.item.name
            )
        } else if shards(&own_ends) > 0 || !are_alike(their_core, own_core) {
            format!(
                "the key of `{}`, `{own}`, is not that of `{}`, `{theirs}`, without its shard",
                self.total.item.name, of.item.name
            )
        } else {
            let width = |ends: &[KeyEnd]| ends.iter().map(|end| end.width).sum::<usize>();
            let text = |ends: &[KeyEnd]| ends.iter().map(|end| end.text.as_str()).collect();
            return Some((
                their_ends.each_ref().map(|ends| width(ends)),
                own_ends.each_ref().map(|ends| text(ends)),
            ));
        };
        let help = "write the total's key like that of what is summed, without the shard: PK: \"{candidate}\" for PK: \"{candidate}.{voter_id | shard(20)}\"";
        self.report(&self.raw.of.span, message, help);
        None
    }

    fn marks(&self, of: &ResolvedItem) -> Option<Marks> {
        let fixed = self.sort_key(self.total);
        if self.whole.table.sort.is_some() && !fixed.is_some_and(|(_, is_all)| is_all) {
            let message = format!(
                "the sort key of `{}` is not one text, so there may be several items for one sum",
                self.total.item.name
            );
            let help = "give it a sort key without columns, such as SK: TOTAL";
            self.report(&self.raw.of.span, message, help);
            return None;
        }
        if let Some(attribute) = type_attribute(self.whole.raw) {
            return Some(Marks {
                attribute,
                of: of.item.name.to_string(),
                of_is_prefix: false,
                total: self.total.item.name.to_string(),
            });
        }
        let sort = self.whole.table.sort.as_ref();
        let marks = sort.zip(fixed).zip(self.sort_key(of));
        let marks = marks.filter(|((_, (total, _)), (begin, _))| {
            let resolved = self.whole.resolved.iter();
            let mut others = resolved.map(|item| (item, self.sort_key(item).unwrap_or_default()));
            let own = [(of, begin), (self.total, total)];
            !begin.is_empty()
                && others.all(|(item, (text, _))| {
                    let mut own = own
                        .iter()
                        .filter(|(own, _)| own.item.name != item.item.name);
                    own.all(|(_, own)| !own.starts_with(&*text) && !text.starts_with(**own))
                })
        });
        if marks.is_none() {
            let message = format!(
                "the function cannot tell the items of `{}` and `{}` from others",
                of.item.name, self.total.item.name
            );
            let help = "give the table a `type_attribute`, or begin the sort key of each item type with a text of its own";
            self.report(&self.raw.of.span, message, help);
        }
        let ((sort, (total, _)), (begin, is_all)) = marks?;
        Some(Marks {
            attribute: sort.name.clone(),
            of: begin.to_owned(),
            of_is_prefix: !is_all,
            total: total.to_owned(),
        })
    }

    /// What the sort key of an item type begins with, and whether that is all of it.
    fn sort_key<'i>(&self, item: &'i ResolvedItem) -> Option<(&'i str, bool)> {
        let sort = self.whole.table.sort.as_ref()?;
        Some(item.item.template(&sort.name)?.prefix())
    }

    fn report(&self, at: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        let diagnostics = self.whole.diagnostics;
        diagnostics.add(Code::RollUp, at.clone(), message, help);
    }
}

/// A part of a key that is no more than text or a shard.
struct KeyEnd {
    is_shard: bool,
    /// Characters.
    width: usize,
    /// The text; none of a shard.
    text: String,
}

impl KeyEnd {
    fn of(part: &TemplatePart) -> Option<Self> {
        match part {
            TemplatePart::Text(text) => Some(Self {
                is_shard: false,
                width: text.chars().count(),
                text: text.clone(),
            }),
            TemplatePart::Value(value) => {
                let escape = value.escape.as_ref();
                let is_plain =
                    escape.is_none_or(|escape| ('0'..='9').all(|digit| !escape.has(digit)));
                // Escaped digits are longer.
                let shards = value.shards().filter(|_| is_plain)?;
                Some(Self {
                    is_shard: true,
                    width: Filter::shard_text(0, shards).len(),
                    text: String::new(),
                })
            }
            TemplatePart::Optional(_) => None,
        }
    }
}

/// The texts and shards with which a template begins and ends, and what stands between.
fn ends(template: &Template) -> ([Vec<KeyEnd>; 2], &[TemplatePart]) {
    let parts = template.parts.as_slice();
    let first: Vec<KeyEnd> = parts.iter().map_while(KeyEnd::of).collect();
    let rest = parts.get(first.len()..).unwrap_or_default();
    let mut last: Vec<KeyEnd> = rest.iter().rev().map_while(KeyEnd::of).collect();
    last.reverse();
    let core = rest.get(..rest.len() - last.len()).unwrap_or_default();
    ([first, last], core)
}

/// Whether parts of two templates make one text of equal values, whatever their columns are called.
fn are_alike(own: &[TemplatePart], others: &[TemplatePart]) -> bool {
    let mut pairs = own.iter().zip(others);
    own.len() == others.len()
        && pairs.all(|pair| match pair {
            (TemplatePart::Text(one), TemplatePart::Text(other)) => one == other,
            (TemplatePart::Value(one), TemplatePart::Value(other)) => {
                (&one.filters, &one.escape) == (&other.filters, &other.escape)
            }
            (TemplatePart::Optional(one), TemplatePart::Optional(other)) => are_alike(one, other),
            _ => false,
        })
}
