//! Applies a filter to a value.

use std::borrow::Cow;

use super::{ApplyError, Context, Filter, bytes, convert, digits, mask, ordered, text, time};
use crate::value::{Number, Time, Unfit, UnfitReason, Value};

impl Filter {
    /// Applies the filter.
    ///
    /// # Errors
    ///
    /// [`ApplyError`] when the value does not pass; the row is to be rejected.
    pub fn apply(&self, value: Value, context: &Context) -> Result<Value, ApplyError> {
        self.apply_to(Cow::Owned(value), context)
            .map(Cow::into_owned)
    }

    /// As [`Filter::apply`], without a copy where the value is borrowed and passes unchanged.
    ///
    /// # Errors
    ///
    /// As [`Filter::apply`].
    pub fn apply_to<'v>(
        &'v self,
        value: Cow<'v, Value>,
        context: &Context,
    ) -> Result<Cow<'v, Value>, ApplyError> {
        match (self, value.as_ref()) {
            (Self::Default(x), Value::Null | Value::Unfit(_)) => return Ok(Cow::Borrowed(x)),
            (Self::Default(_), _) => return Ok(value),
            (Self::Present { no, .. }, Value::Null) => return Ok(Cow::Borrowed(no)),
            (Self::Present { yes, .. }, _) => return Ok(Cow::Borrowed(yes)),
            (_, Value::Null) => return Ok(value),
            (_, Value::Unfit(unfit)) => return self.mend_unfit(unfit).map(Cow::Owned),
            (Self::Map { codes, other }, given) => {
                let canonical = text::canonical(given).ok_or_else(|| self.refuse(given))?;
                let code = codes.iter().find(|(key, _)| key == canonical);
                return code
                    .map(|(_, code)| code)
                    .or(other.as_ref())
                    .map(Cow::Borrowed)
                    .ok_or(ApplyError::Unmapped);
            }
            (Self::String, Value::Text(_))
            | (Self::Number, Value::Number(_))
            | (Self::Bool, Value::Bool(_))
            | (Self::Binary, Value::Bytes(_))
            | (Self::Set, Value::Set(_)) => return Ok(value),
            _ => {}
        }
        let given = value.as_ref();
        let made = match self {
            Self::Pad { digits, scale } => {
                Value::Text(digits::pad(self.number(given)?, *digits, *scale)?)
            }
            Self::Desc { digits } => Value::Text(digits::desc(self.number(given)?, *digits)?),
            Self::Ordered => Value::Text(ordered::encode(self.number(given)?).into()),
            Self::Iso => Value::Text(time::iso(self.time(given)?, context)?.into()),
            Self::Date => Value::Time(time::date(self.time(given)?, context)?),
            Self::Epoch => Value::Number(time::epoch(self.time(given)?, context)?),
            Self::EpochMs => Value::Number(time::epoch_ms(self.time(given)?, context)?),
            Self::Format(pattern) => Value::Text(pattern.format(self.time(given)?)?.into()),
            Self::Time(pattern) => Value::Time(pattern.parse(self.text(given)?)?),
            Self::Plus(period) => Value::Time(period.add_to(self.time(given)?)?),
            Self::Upper => Value::Text(self.text(given)?.to_uppercase().into()),
            Self::Lower => Value::Text(self.text(given)?.to_lowercase().into()),
            Self::Trim => Value::Text(self.text(given)?.trim().into()),
            Self::Truncate(length) => {
                Value::Text(text::truncate(self.text(given)?, *length).into())
            }
            Self::Replace { from, to } => Value::Text(self.text(given)?.replace(from, to).into()),
            Self::Shard(shards) => {
                let canonical = text::canonical(given).ok_or_else(|| self.refuse(given))?;
                Value::Text(text::shard(canonical, *shards).into())
            }
            Self::Hex => Value::Text(bytes::hex(self.bytes(given)?).into()),
            Self::Base64 => Value::Text(bytes::base64(self.bytes(given)?).into()),
            Self::Uuid { swap } => Value::Text(match given {
                Value::Text(text) => bytes::uuid_from_text(text)?.into(),
                other => bytes::uuid_from_bytes(self.bytes(other)?, *swap)?.into(),
            }),
            Self::String => convert::string(given).ok_or_else(|| self.refuse(given))?,
            Self::Number => match given {
                Value::Bool(truth) => Value::Number(Number::from(i64::from(*truth))),
                other => convert::number(self.text(other)?)?,
            },
            Self::Bool => match given {
                Value::Number(number) => convert::truth(number.as_str())?,
                other => convert::truth(self.text(other)?)?,
            },
            Self::Binary => Value::Bytes(self.text(given)?.as_bytes().to_vec()),
            Self::Json => match given {
                Value::Text(text) => convert::document(text)?,
                Value::Number(_) | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
                    return Ok(value);
                }
                other => return Err(self.refuse(other)),
            },
            Self::Set => convert::set(value.into_owned())?,
            Self::Redact => mask::redact(given),
            Self::Pseudonym => match given {
                Value::Text(text) => mask::pseudonym_of_text(text, context)?,
                Value::Number(number) => mask::pseudonym_of_number(number, context)?,
                other => return Err(self.refuse(other)),
            },
            // Answered above, whatever the value.
            Self::Default(_) | Self::Present { .. } | Self::Map { .. } => return Ok(value),
        };
        Ok(Cow::Owned(made))
    }

    /// What the conversions make of a value that does not fit its column's type.
    fn mend_unfit(&self, unfit: &Unfit) -> Result<Value, ApplyError> {
        let refused = |_| ApplyError::Unfit(unfit.why);
        if unfit.why == UnfitReason::NotUtf8 {
            // The text at hand has lost what was no text.
            return Err(ApplyError::Unfit(unfit.why));
        }
        match self {
            Self::String => Ok(Value::Text(unfit.text.as_str().into())),
            Self::Number => convert::number(&unfit.text).map_err(refused),
            Self::Bool => convert::truth(&unfit.text).map_err(refused),
            Self::Binary => Ok(Value::Bytes(unfit.text.as_bytes().to_vec())),
            Self::Json => convert::document(&unfit.text).map_err(refused),
            _ => Err(ApplyError::Unfit(unfit.why)),
        }
    }

    fn refuse(&self, value: &Value) -> ApplyError {
        ApplyError::Kind {
            filter: self.name(),
            takes: Self::entry(self.name()).map_or("other values", |entry| entry.takes),
            given: value.kind(),
        }
    }

    fn number<'v>(&self, value: &'v Value) -> Result<&'v Number, ApplyError> {
        match value {
            Value::Number(number) => Ok(number),
            other => Err(self.refuse(other)),
        }
    }

    fn time<'v>(&self, value: &'v Value) -> Result<&'v Time, ApplyError> {
        match value {
            Value::Time(time) => Ok(time),
            other => Err(self.refuse(other)),
        }
    }

    fn text<'v>(&self, value: &'v Value) -> Result<&'v str, ApplyError> {
        match value {
            Value::Text(text) => Ok(text),
            other => Err(self.refuse(other)),
        }
    }

    fn bytes<'v>(&self, value: &'v Value) -> Result<&'v [u8], ApplyError> {
        match value {
            Value::Bytes(bytes) => Ok(bytes),
            other => Err(self.refuse(other)),
        }
    }
}
