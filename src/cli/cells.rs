//! Values as they stand in a table for people: cut, wrapped, and measured in columns.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::format::one_line;
use crate::dynamodb::{Attribute, readable};

/// Lines that a key takes at most.
const KEY_LINES: usize = 4;

/// An attribute as people read it: text as it is, documents as JSON.
pub(super) fn shown(value: Option<&Attribute>) -> String {
    value.map_or_else(String::new, |value| one_line(&readable(value)))
}

/// Cuts a text to a number of columns.
pub(super) fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for sign in text.chars() {
        used += sign.width().unwrap_or(0);
        if used > columns {
            break;
        }
        out.push(sign);
    }
    out.push('…');
    out
}

/// Breaks a key into lines: its end tells keys apart as often as its beginning.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for sign in text.chars() {
        let wide = sign.width().unwrap_or(0);
        if used + wide > columns {
            if lines.len() == KEY_LINES {
                if let Some(last) = lines.last_mut() {
                    last.pop();
                    last.push('…');
                }
                break;
            }
            lines.push(String::new());
            used = 0;
        }
        used += wide;
        if let Some(line) = lines.last_mut() {
            line.push(sign);
        }
    }
    lines
}

pub(super) fn pad(text: &mut String, columns: usize) {
    let missing = columns.saturating_sub(text.width());
    text.extend(std::iter::repeat_n(' ', missing));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_invisible_signs_are_measured() {
        assert_eq!(fit("김지우", 6), "김지우");
        assert_eq!(fit("김지우", 5), "김지…");
        assert_eq!(fit("abc", 2), "a…");
        assert_eq!(wrapped("abcdefg", 3), ["abc", "def", "g"]);
        assert_eq!(wrapped(&"x".repeat(20), 4).len(), KEY_LINES);
        assert!(wrapped(&"x".repeat(20), 4)[3].ends_with('…'));
    }
}
