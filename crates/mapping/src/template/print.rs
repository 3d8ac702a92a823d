//! How paths and literals are written in templates.

use std::fmt;
use std::fmt::{Display, Formatter, Write as _};

use super::Literal;

/// A path, with backquotes where a name needs them.
pub struct Path<'a>(pub &'a [String]);

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
