//! Compiled templates as people write them.

use std::fmt::{Display, Formatter, Result, Write as _};

use super::{Part, Placeholder, Template};

impl Display for Template {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.parts.iter().try_for_each(|part| part.fmt(f))
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Value(placeholder) => placeholder.fmt(f),
            Self::Optional(inner) => {
                f.write_char('[')?;
                inner.iter().try_for_each(|part| part.fmt(f))?;
                f.write_char(']')
            }
        }
    }
}

impl Display for Placeholder {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{{{}", self.place.written)?;
        for filter in &self.filters {
            write!(f, " | {}", filter.written())?;
        }
        f.write_char('}')
    }
}
