//! From a pattern and its parameters' values to requests.

use std::sync::Arc;

use dynafold_dynamodb::{
    Attribute, CallPlan, KeyAttribute, KeyType, Query, Request, max_key_bytes, sort_order,
};
use dynafold_relational::value::{Number, Text, Value};

use super::recover::compared_attribute;
use crate::item::{RenderError, evaluate, text_of, to_attribute};
use crate::model::{
    AccessPattern, FilterExpression, FilterOperand, SortCondition, Template, TemplatePart,
};
use crate::template::{Context, Filter};

/// Why values make no request. Holds no more of them than a key does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// When a value does not pass its filters.
    #[error("the key attribute `{attribute}` cannot be made from the values")]
    Render {
        /// The key attribute.
        attribute: Arc<str>,
        /// Why.
        #[source]
        cause: RenderError,
    },
    /// When a key would be empty, which no item's key is.
    #[error("`{0}` would be the empty string, which DynamoDB does not allow in a key")]
    Empty(Arc<str>),
    /// When a key would have more bytes than DynamoDB takes.
    #[error("`{attribute}` would have {bytes} bytes, and DynamoDB allows {most}")]
    Long {
        /// The key attribute.
        attribute: Arc<str>,
        /// How many bytes it would have.
        bytes: usize,
        /// Most bytes.
        most: usize,
    },
    /// When a value is of another type than its key.
    #[error("`{attribute}` is {wanted}, but would be compared with {given}")]
    Type {
        /// The key attribute.
        attribute: Arc<str>,
        /// The type that the attribute has.
        wanted: &'static str,
        /// What it would be asked for.
        given: &'static str,
    },
    /// When the lower bound of a range comes behind the upper one, which DynamoDB refuses.
    #[error("the range of `{attribute}` is reversed: `{low}` sorts after `{high}`")]
    Reversed {
        /// The key attribute.
        attribute: Arc<str>,
        /// The lower bound, as the pattern writes it.
        low: String,
        /// The upper one.
        high: String,
    },
}

impl PlanError {
    /// How to mend it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Render { cause, .. } => cause.cause.help(),
            Self::Empty(_) => "give the parameter a value",
            Self::Long { .. } => "no item has such a key: give a shorter value",
            Self::Type { .. } => "give a value of the key's type",
            Self::Reversed { .. } => "give the lower one first: exchange the parameters' values",
        }
    }
}

/// Plans one call. `values` are those of the pattern's parameters, in their order.
///
/// # Errors
///
/// [`PlanError`] when the values make no key that an item can have.
pub fn plan(
    pattern: &AccessPattern,
    values: &[Value],
    context: &Context,
) -> Result<CallPlan, PlanError> {
    let shards = match pattern.shards {
        None => vec![None],
        Some(count) => (0..count)
            .map(|shard| Some(Filter::shard_text(shard, count)))
            .collect(),
    };
    let requests = shards.iter().map(|shard| {
        let maker = RequestMaker {
            values,
            context,
            shard: shard.as_deref(),
        };
        maker.request(pattern)
    });
    Ok(CallPlan {
        requests: requests.collect::<Result<_, _>>()?,
        order: pattern.order.iter().map(|key| key.name.clone()).collect(),
        descending: pattern.descending,
        limit: pattern.limit,
        fetch: pattern.fetch.then_some(pattern.consistent),
    })
}

/// Makes the request of one shard.
struct RequestMaker<'v> {
    values: &'v [Value],
    context: &'v Context,
    shard: Option<&'v str>,
}

impl RequestMaker<'_> {
    fn request(&self, pattern: &AccessPattern) -> Result<Request, PlanError> {
        if pattern.is_whole_key() && pattern.filter.is_none() && pattern.shards.is_none() {
            let templates = pattern.templates().enumerate();
            let key = templates.map(|(at, (key, template))| {
                let is_sort = at >= pattern.partition.len();
                Ok((key.name.clone(), self.value(key, template, is_sort)?))
            });
            let key = key.collect::<Result<_, PlanError>>()?;
            let consistent = pattern.consistent;
            return Ok(Request::Get { key, consistent });
        }
        let mut query = Query {
            index: pattern.index.clone(),
            condition: String::new(),
            filter: None,
            names: Vec::new(),
            values: Vec::new(),
            descending: pattern.descending,
            limit: pattern.limit.filter(|_| pattern.filter.is_none()),
            consistent: pattern.consistent,
        };
        for (attribute, template) in &pattern.partition {
            let value = self.value(attribute, template, false)?;
            query.ask(attribute, "=", vec![value]);
        }
        for (attribute, condition) in &pattern.sort {
            let values = condition.templates().into_iter();
            let values: Vec<Attribute> = values
                .map(|template| self.value(attribute, template, true))
                .collect::<Result<_, _>>()?;
            if let (SortCondition::Between(from, until), [low, high]) =
                (condition, values.as_slice())
                && sort_order(Some(low), Some(high)).is_gt()
            {
                return Err(PlanError::Reversed {
                    attribute: attribute.name.clone(),
                    low: from.to_string(),
                    high: until.to_string(),
                });
            }
            query.ask(attribute, condition.operator(), values);
        }
        if let Some(filter) = &pattern.filter {
            query.filter = Some(filter.text.clone());
            for (at, name) in filter.names.iter().enumerate() {
                query.names.push((format!("#f{at}"), name.clone()));
            }
            for (at, operand) in filter.values.iter().enumerate() {
                let value = match operand {
                    FilterOperand::Constant(value) => value.clone(),
                    FilterOperand::Parameter(index) => self.given(*index),
                };
                query.values.push((format!(":f{at}"), value));
            }
            let value = |at: usize| {
                let mut values = query.values.iter();
                let found = values.find(|(name, _)| *name == format!(":f{at}"));
                found.map(|(_, value)| value)
            };
            let mut ranges = filter.ranges.iter();
            if let Some(at) = ranges.find(|at| sort_order(value(**at), value(**at + 1)).is_gt()) {
                let written = |at| written(pattern, filter, at);
                return Err(PlanError::Reversed {
                    attribute: compared_attribute(filter, *at).cloned().unwrap_or_default(),
                    low: written(*at),
                    high: written(*at + 1),
                });
            }
        }
        Ok(Request::Query(query))
    }

    /// A parameter as an attribute holds it.
    fn given(&self, index: usize) -> Attribute {
        let value = self.values.get(index).unwrap_or(&Value::Null);
        to_attribute(value, true)
            .ok()
            .flatten()
            .unwrap_or(Attribute::Null)
    }

    /// The value that a template makes for a key attribute.
    fn value(
        &self,
        key: &KeyAttribute,
        template: &Template,
        is_sort: bool,
    ) -> Result<Attribute, PlanError> {
        let template = self.of_shard(template);
        let made =
            evaluate(&template, self.values, self.context).map_err(|cause| PlanError::Render {
                attribute: key.name.clone(),
                cause,
            })?;
        let refused = |wanted| PlanError::Type {
            attribute: key.name.clone(),
            wanted,
            given: made.kind(),
        };
        let value = match (key.key_type, &made) {
            (KeyType::S, made) => {
                let text = text_of(made).map_err(|_| refused("text"))?;
                Attribute::S(lone_escaped(&template, text))
            }
            (KeyType::N, Value::Number(number)) => Attribute::N(number.clone()),
            (KeyType::N, Value::Text(text)) => {
                Attribute::N(Number::parse(text).map_err(|_| refused("a number"))?)
            }
            (KeyType::B, Value::Bytes(bytes)) => Attribute::B(bytes.clone()),
            (KeyType::N, _) => return Err(refused("a number")),
            (KeyType::B, _) => return Err(refused("binary")),
        };
        let (bytes, most) = (value.size(), max_key_bytes(is_sort));
        let attribute = key.name.clone();
        match bytes {
            0 => Err(PlanError::Empty(attribute)),
            bytes if bytes > most => Err(PlanError::Long {
                attribute,
                bytes,
                most,
            }),
            _ => Ok(value),
        }
    }

    /// A template with the number of the shard in its place.
    fn of_shard(&self, template: &Template) -> Template {
        let mut template = template.clone();
        for part in &mut template.parts {
            if let (TemplatePart::Value(placeholder), Some(shard)) = (&*part, self.shard)
                && placeholder.place.column == AccessPattern::SHARD
            {
                let mut text = Text::new();
                placeholder.push(&mut text, shard);
                *part = TemplatePart::Text(text.into());
            }
        }
        template
    }
}

/// A value of a filter, as the pattern writes it.
fn written(pattern: &AccessPattern, filter: &FilterExpression, at: usize) -> String {
    let parameter = match filter.values.get(at) {
        Some(FilterOperand::Parameter(index)) => pattern.parameters.get(*index),
        _ => None,
    };
    parameter.map_or("a constant".to_owned(), |one| format!(":{}", one.name))
}

/// The text of a key attribute: a template of one value alone is evaluated without its escape, which a pattern's has where
/// the item's key has more than the value.
fn lone_escaped(template: &Template, text: &str) -> Text {
    let mut escaped = Text::new();
    match template.single() {
        Some(only) => only.push(&mut escaped, text),
        None => escaped.push_str(text),
    }
    escaped
}
