//! Whether a value can be read back from a key, and what keeps it from that.

use std::sync::Arc;

use super::forms::Use;
use super::meet::Common;

/// A value of the key, and what is known of reading it back.
pub(super) struct Reading<'t> {
    pub(super) each: Use<'t>,
    /// The key attribute that it stands in.
    pub(super) attribute: Arc<str>,
    /// The first letter of the text behind it; `None` at the end of the key attribute.
    pub(super) follows: Option<char>,
    pub(super) alone: bool,
    /// A text that can be read in two ways.
    pub(super) twice: Common,
    pub(super) names: Vec<String>,
}

/// How far a value or a column of a unique key is from being read back, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    None,
    Twice,
    Lost,
    Optional,
    Absent,
}

/// A column's gap, with the number of the value that is to blame for it.
pub(super) type Blamed = (Gap, usize);

impl Reading<'_> {
    pub(super) fn gap(&self) -> Gap {
        if !self.each.placeholder.place.path.is_empty() {
            Gap::Absent
        } else if !self.each.certain {
            Gap::Optional
        } else if self.each.domain.loss.is_some() {
            Gap::Lost
        } else if self.twice != Common::Nothing {
            Gap::Twice
        } else {
            Gap::None
        }
    }

    pub(super) fn written(&self) -> &str {
        &self.each.placeholder.place.written
    }

    /// Why the value can be read back.
    pub(super) fn because(&self) -> String {
        let written = self.written();
        if let Some(width) = self.each.domain.width() {
            return format!("`{written}` always has {width} characters");
        }
        match self.follows {
            _ if self.alone => format!("`{written}` stands alone"),
            None => format!("`{written}` is all that is left at the end"),
            Some(next) if !super::text::letters(&self.each.domain.forms).allows(next) => {
                format!("`{written}` holds no `{next}`")
            }
            Some(_) => format!("`{written}` is all that is left between what is known"),
        }
    }
}
