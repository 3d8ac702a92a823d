//! What is wrong with a row.

use std::borrow::Cow;
use std::sync::Arc;

use dynafold_dynamodb::Item;
use dynafold_format::joined;
use dynafold_relational::value::UnfitReason;
use serde::Serialize;

use super::RenderError;
use crate::template::ApplyError;

/// The code of a NULL in a key of the table.
pub const KEY_NULL: &str = "key-null";
/// The code of a row whose item has the key of another row's.
pub const DUPLICATE_KEY: &str = "duplicate-key";

/// A row that became no item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reject {
    /// Stable kebab-case code, or the service's error code.
    pub code: Cow<'static, str>,
    /// What is wrong. Holds no value of the row beyond its key.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The attribute at fault.
    pub attribute: Option<String>,
    /// The item as far as it got.
    #[serde(skip)]
    pub item_so_far: Option<Item>,
}

/// What is wrong with a value, before it is known which row it belongs to.
#[derive(Debug)]
pub(super) struct Fault {
    code: Cow<'static, str>,
    message: String,
    help: Option<String>,
    attribute: Option<String>,
}

impl Fault {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code: Cow::Borrowed(code),
            message: message.into(),
            help: None,
            attribute: None,
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Puts an attribute's name before the path that is there already.
    pub(super) fn at(mut self, name: &str) -> Self {
        self.attribute = Some(match self.attribute {
            None => name.to_owned(),
            Some(inner) => format!("{name}.{inner}"),
        });
        self
    }

    /// Puts an element's position before the path that is there already.
    pub(super) fn at_index(self, at: usize) -> Self {
        self.at(&at.to_string())
    }

    /// The same fault, with another of the same row.
    pub(super) fn and(mut self, other: &Self) -> Self {
        let name = other.attribute.as_deref().unwrap_or_default();
        self.message = format!("{}; and `{name}`: {}", self.message, other.message);
        self
    }

    pub(super) fn is(&self, code: &str) -> bool {
        self.code == code
    }

    /// The same fault after attributes were compressed in vain.
    pub(super) fn still(mut self, compressed: &[Arc<str>], after: &Self) -> Self {
        let names = joined(compressed.iter().map(|name| format!("`{name}`")), " and ");
        self.message = format!(
            "{}; with {names} compressed, {}",
            self.message, after.message
        );
        self
    }

    pub(super) fn of_index(mut self) -> Self {
        self.code = Cow::Owned(format!("index-{}", self.code));
        self
    }

    /// Makes it a reject of the row that the item was to be made from.
    pub(super) fn reject(self, item: Item) -> Reject {
        Reject {
            code: self.code,
            message: self.message,
            help: self.help,
            attribute: self.attribute,
            item_so_far: (!item.attributes.is_empty()).then_some(item),
        }
    }
}

impl From<UnfitReason> for Fault {
    fn from(why: UnfitReason) -> Self {
        ApplyError::Unfit(why).into()
    }
}

impl From<ApplyError> for Fault {
    fn from(error: ApplyError) -> Self {
        Self::new(error.code(), error.to_string()).help(error.help())
    }
}

impl From<RenderError> for Fault {
    fn from(error: RenderError) -> Self {
        let RenderError { place, cause } = error;
        Self::new(cause.code(), format!("`{place}`: {cause}")).help(cause.help())
    }
}
