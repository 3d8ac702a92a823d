//! Evaluates a compiled template on a row. This is the hottest path of a load: values are borrowed until they must change.

use std::borrow::Cow;

use dynafold_relational::value::{Text, Value};

use crate::model::{Placeholder, Template, TemplatePart};
use crate::template::{ApplyError, Context, canonical};

/// Why a template gives no value for a row. It names the place of the value and holds no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{place}` gives no value")]
pub struct RenderError {
    /// The value's place, with the filter that it does not pass, as the template writes them.
    pub place: String,
    /// What is wrong with the value.
    #[source]
    pub cause: ApplyError,
}

/// The canonical text of a scalar, as it stands inside a composite template: numbers as DynamoDB
/// answers them, `true` or `false`, times in ISO 8601.
///
/// # Errors
///
/// [`ApplyError`] for what has no text of its own, and for unfit values.
pub fn text_of(value: &Value) -> Result<&str, ApplyError> {
    canonical(value).ok_or_else(|| match value {
        Value::Unfit(unfit) => ApplyError::Unfit(unfit.why),
        other => ApplyError::NoText {
            given: other.kind(),
        },
    })
}

/// Evaluates a template.
///
/// A template of exactly one value keeps the value's type; any other gives text. A NULL in it gives
/// NULL, except in an optional segment: from the first one with a NULL on, optional segments are
/// left out, and what stands between and after them stays.
///
/// # Errors
///
/// [`RenderError`] when a value does not pass a filter, or cannot stand inside text.
pub fn evaluate(
    template: &Template,
    row: &[Value],
    context: &Context,
) -> Result<Value, RenderError> {
    if let [TemplatePart::Value(placeholder)] = template.parts.as_slice() {
        return value_of(placeholder, row, context).map(Cow::into_owned);
    }
    let mut text = Text::new();
    let mut open = true;
    for part in &template.parts {
        match part {
            TemplatePart::Optional(inner) => {
                if open {
                    let before = text.len();
                    open = push_all(&mut text, inner, row, context)?;
                    if !open {
                        text.truncate(before);
                    }
                }
            }
            part => {
                if !push(&mut text, part, row, context)? {
                    return Ok(Value::Null);
                }
            }
        }
    }
    Ok(Value::Text(text))
}

/// Appends all parts; `false` as soon as one of them is NULL.
fn push_all(
    text: &mut Text,
    parts: &[TemplatePart],
    row: &[Value],
    context: &Context,
) -> Result<bool, RenderError> {
    for part in parts {
        if !push(text, part, row, context)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn push(
    text: &mut Text,
    part: &TemplatePart,
    row: &[Value],
    context: &Context,
) -> Result<bool, RenderError> {
    match part {
        TemplatePart::Text(literal) => text.push_str(literal),
        TemplatePart::Value(placeholder) => {
            let value = value_of(placeholder, row, context)?;
            if value.is_null() {
                return Ok(false);
            }
            let written =
                text_of(&value).map_err(|cause| refused(cause, &placeholder.place.written))?;
            placeholder.push(text, written);
        }
        TemplatePart::Optional(inner) => return push_all(text, inner, row, context),
    }
    Ok(true)
}

/// The value at a placeholder's place, through its filters.
fn value_of<'r>(
    placeholder: &'r Placeholder,
    row: &'r [Value],
    context: &Context,
) -> Result<Cow<'r, Value>, RenderError> {
    let written = &placeholder.place.written;
    let found = placeholder.place.find(row);
    let found = found.map_err(|unfit| refused(ApplyError::Unfit(unfit.why), written))?;
    let mut value = Cow::Borrowed(found);
    for filter in &placeholder.filters {
        value = filter
            .apply_to(value, context)
            .map_err(|cause| refused(cause, &format!("{written} | {}", filter.name())))?;
    }
    Ok(value)
}

fn refused(cause: ApplyError, at: &str) -> RenderError {
    RenderError {
        place: at.to_owned(),
        cause,
    }
}

#[cfg(test)]
mod tests;
