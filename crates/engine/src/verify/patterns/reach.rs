//! Whether every call of a pattern that finds an item was asked. The pattern's templates say by which values an item
//! is found; the keys of all items of the table say which values there are.

use std::collections::HashMap;
use std::sync::Arc;

use dynafold_dynamodb::{Attribute, CallPlan, Item, Request, Table};
use dynafold_mapping::model::{AccessPattern, ParameterKind, Placeholder, Template, TemplatePart};
use dynafold_mapping::template::Filter;
use dynafold_target::{ScanRequest, Target, TargetError};

/// The calls of a pattern that were asked, by their keys.
pub(super) struct AskedKeys {
    keys: Vec<KeyPart>,
    /// By the values of the partition key: what the calls asked of the sort key.
    asked: HashMap<String, Vec<Vec<Attribute>>>,
    partitions: usize,
    /// Items that another call would find.
    pub(super) missed: u64,
}

/// A key attribute that takes values of parameters, or is of the partition key.
struct KeyPart {
    name: Arc<str>,
    /// How the text of every item that the pattern may find begins.
    begins: String,
    /// Whether a call finds all that begins with its value.
    is_prefix: bool,
    /// Its place among the values of a request.
    place: usize,
}

impl AskedKeys {
    /// Of a pattern that finds each item by one call alone.
    ///
    /// # Errors
    ///
    /// Why an item may be found by several calls.
    pub(super) fn of(pattern: &AccessPattern) -> Result<Self, String> {
        let mut keys = Vec::new();
        let mut place = 0;
        for (key, operator, templates) in pattern.conditions() {
            let is_prefix = operator == "begins_with";
            match templates.as_slice() {
                [template] if is_prefix || operator == "=" => {
                    readable(pattern, &key.name, template, is_prefix)?;
                    keys.push(KeyPart {
                        name: key.name.clone(),
                        begins: template.prefix().0.to_owned(),
                        is_prefix,
                        place,
                    });
                }
                // One that takes no parameters is in every call the same.
                all if all.iter().all(|one| one.placeholders().next().is_none()) => {}
                _ => {
                    return Err(format!(
                        "`{}` is asked for a range, and the number of ranges is unlimited",
                        key.name
                    ));
                }
            }
            place += templates.len();
        }
        for (at, parameter) in pattern.parameters.iter().enumerate() {
            let own = pattern.placeholders();
            let mut own = own.filter(|one| one.place.column == at).peekable();
            if own.peek().is_none() {
                return Err(format!("`{}` is not in the key condition", parameter.name));
            }
            if own.all(|one| one.filters.iter().any(|by| matches!(by, Filter::Shard(_)))) {
                return Err(format!(
                    "`{}` is only in a shard, which many values share",
                    parameter.name
                ));
            }
        }
        Ok(Self {
            keys,
            asked: HashMap::new(),
            partitions: pattern.partition.len(),
            missed: 0,
        })
    }

    /// Says that a call was asked.
    pub(super) fn ask(&mut self, plan: &CallPlan) {
        for request in &plan.requests {
            let values: Vec<Attribute> = match request {
                Request::Get { key, .. } => key.iter().map(|(_, value)| value.clone()).collect(),
                Request::Query(query) => {
                    let values = query.values.iter();
                    values.map(|(_, value)| value.clone()).collect()
                }
            };
            let partition = values.get(..self.partitions).unwrap_or_default();
            self.asked
                .entry(format!("{partition:?}"))
                .or_default()
                .push(values);
        }
    }

    fn see(&mut self, item: &Item) {
        let mut values = Vec::new();
        for key in &self.keys {
            let Some(value) = item.get(&key.name) else {
                return;
            };
            if let Attribute::S(text) = value
                && !text.starts_with(&key.begins)
            {
                return;
            }
            values.push(value);
        }
        let partition = values.get(..self.partitions).unwrap_or_default();
        let asked = self.asked.get(&format!("{partition:?}"));
        let finds = |call: &Vec<Attribute>| {
            let mut pairs = self.keys.iter().zip(&values);
            pairs.all(|(key, value)| match (call.get(key.place), value) {
                (Some(Attribute::S(asked)), Attribute::S(text)) if key.is_prefix => {
                    text.starts_with(asked.as_str())
                }
                (asked, value) => asked.is_some_and(|asked| asked.same(value)),
            })
        };
        self.missed += u64::from(!asked.is_some_and(|calls| calls.iter().any(finds)));
    }
}

/// Shows every item of the table to those patterns: its keys are read, once.
pub(super) async fn survey(
    table: &Table,
    target: &dyn Target,
    reaches: &mut [&mut AskedKeys],
) -> Result<(), TargetError> {
    let mut wanted = ScanRequest::keys(table);
    for key in reaches.iter().flat_map(|reach| &reach.keys) {
        let attributes = wanted.attributes.as_mut();
        if let Some(attributes) = attributes.filter(|known| !known.contains(&key.name)) {
            attributes.push(key.name.clone());
        }
    }
    let mut from = None;
    loop {
        let page = target.scan(table, &wanted, from).await?;
        for item in &page.items {
            for reach in reaches.iter_mut() {
                reach.see(item);
            }
        }
        from = page.next;
        if from.is_none() {
            return Ok(());
        }
    }
}

/// Whether no text that a template makes, or with `is_open` one that begins with it, is made by two lists of values:
/// one text at most whose end nothing shows, and between numbers what stands in none.
fn readable(
    pattern: &AccessPattern,
    name: &str,
    template: &Template,
    is_open: bool,
) -> Result<(), String> {
    let several = |why: &str| {
        Err(format!(
            "several values may find an item by its `{name}`: {why}"
        ))
    };
    let mut texts = 0;
    for (at, part) in template.parts.iter().enumerate() {
        let one = match part {
            TemplatePart::Text(_) => continue,
            TemplatePart::Optional(_) => return several("it has optional segments"),
            TemplatePart::Value(one) => one,
        };
        let is_number = is_number(pattern, one);
        match one.filters.as_slice() {
            [] | [Filter::Shard(_)] => {}
            [Filter::Pad { .. }] if is_number => {}
            _ => return several("its filters map several values to one text"),
        }
        if !is_number {
            // A text behind it might begin in it.
            if texts > 0 {
                return several(&may_hold(template));
            }
            texts += usize::from(!is_ended(one, template.parts.get(at + 1)));
        }
        if texts > 0 && is_open {
            return match template.parts.get(at + 1) {
                Some(TemplatePart::Text(end)) if !is_number => several(&format!(
                    "a text may itself contain `{end}`, so that a longer value finds it too"
                )),
                _ => {
                    several("it asks for the beginning of a text, so a shorter value finds it too")
                }
            };
        }
        let is_apart = |edge: Option<char>| {
            edge.is_some_and(|edge| !edge.is_ascii_alphanumeric() && !"+-.".contains(edge))
        };
        let begins = match at.checked_sub(1).and_then(|at| template.parts.get(at)) {
            None => true,
            Some(TemplatePart::Text(text)) => is_apart(text.chars().next_back()),
            Some(_) => false,
        };
        let ends = match template.parts.get(at + 1) {
            None => !is_open,
            Some(TemplatePart::Text(text)) => is_apart(text.chars().next()),
            Some(_) => false,
        };
        if is_number && !(begins && ends) {
            return several("no text ends its numbers");
        }
    }
    Ok(())
}

/// Whether the text behind a value shows where the value ends, because `key_escape` leaves none of it in values.
fn is_ended(one: &Placeholder, behind: Option<&TemplatePart>) -> bool {
    let (Some(escape), Some(TemplatePart::Text(text))) = (&one.escape, behind) else {
        return false;
    };
    // What is escaped is written with these.
    let is_written = |letter: char| letter == '%' || letter.is_ascii_hexdigit();
    let first = text.chars().next();
    first.is_some_and(|first| escape.has(first) && !is_written(first))
}

/// That a text value may contain what stands before or behind it in a template.
fn may_hold(template: &Template) -> String {
    let texts = template.parts.iter().filter_map(|part| match part {
        TemplatePart::Text(text) => Some(text.as_str()),
        _ => None,
    });
    // The first one stands before all values.
    let between = texts.skip(1).find(|text| !text.is_empty()).unwrap_or("#");
    format!(
        "a text may itself contain `{between}`, so that two different pairs of values can make one key"
    )
}

fn is_number(pattern: &AccessPattern, one: &Placeholder) -> bool {
    let parameter = pattern.parameters.get(one.place.column);
    one.place.column == AccessPattern::SHARD
        || parameter.is_some_and(|parameter| parameter.kind == ParameterKind::Number)
}
