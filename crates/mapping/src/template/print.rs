//! Prints a written template back, in the one canonical way.

use std::fmt;
use std::fmt::{Display, Formatter, Write as _};

use super::{Argument, FilterCall, Literal, Segment, Written, WrittenPlaceholder};

impl Display for Written {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.segments.iter().try_for_each(|segment| segment.fmt(f))
    }
}

impl Display for Segment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => text.chars().try_for_each(|c| {
                if matches!(c, '{' | '}' | '[' | ']') {
                    f.write_char(c)?;
                }
                f.write_char(c)
            }),
            Self::Placeholder(placeholder) => placeholder.fmt(f),
            Self::Optional(inner) => {
                f.write_char('[')?;
                inner.iter().try_for_each(|segment| segment.fmt(f))?;
                f.write_char(']')
            }
        }
    }
}

impl Display for WrittenPlaceholder {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}", Path(&self.path))?;
        for filter in &self.filters {
            write!(f, " | {filter}")?;
        }
        f.write_char('}')
    }
}

/// A path, with backquotes where a name needs them.
pub(crate) struct Path<'a>(pub &'a [String]);

impl Display for Path<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if matches!(self.0, [star] if star == "*") {
            return f.write_char('*');
        }
        for (index, name) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_char('.')?;
            }
            if !name.is_empty() && name.chars().all(is_name_char) {
                f.write_str(name)?;
            } else {
                write!(f, "`{}`", name.replace('`', "``"))?;
            }
        }
        Ok(())
    }
}

/// Whether a character may stand in a name without backquotes.
pub(super) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '-')
}

/// Whether a character may not stand in a bare word.
pub(super) fn ends_bare_word(c: char) -> bool {
    matches!(
        c,
        ',' | '(' | ')' | '{' | '}' | '[' | ']' | '|' | '"' | '\'' | '\n' | '\r'
    )
}

impl Display for FilterCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (index, argument) in self.arguments.iter().enumerate() {
            f.write_str(if index == 0 { "(" } else { ", " })?;
            argument.fmt(f)?;
        }
        if self.arguments.is_empty() {
            return Ok(());
        }
        f.write_char(')')
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(literal) => literal.fmt(f),
            Self::Pair(key, value) => write!(f, "{key}: {value}"),
        }
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.quoted {
            return f.write_str(&self.text);
        }
        let quote = if self.text.contains('"') && !self.text.contains('\'') {
            '\''
        } else {
            '"'
        };
        f.write_char(quote)?;
        for c in self.text.chars() {
            if c == quote {
                f.write_char(c)?;
            }
            f.write_char(c)?;
        }
        f.write_char(quote)
    }
}
