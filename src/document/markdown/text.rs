//! Text in Markdown: whatever it holds, it stands there as it is and breaks no table.

use crate::document::phrases::cost;

/// Text outside of code. Newlines become spaces.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '$' => {
                out.push('\\');
                out.push(sign);
            }
            sign if sign.is_control() => out.push(' '),
            sign => out.push(sign),
        }
    }
    out
}

/// Prose of ours, in which names stand between backticks.
pub(super) fn prose(prose: &str) -> String {
    let parts = prose.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => text(part),
        _ => code(part),
    });
    parts.collect()
}

/// Text as code.
pub(super) fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let plain = |sign: char| sign != '`' && !sign.is_control();
    if text.chars().all(plain) && text.trim() == text && !text.contains("\\|") {
        return format!("`{text}`");
    }
    // A code span cannot hold all of these in a table.
    let mut out = String::from("<code>");
    for sign in text.chars() {
        match sign {
            sign if sign.is_alphanumeric() || " .,:;/=-\"'".contains(sign) => out.push(sign),
            '\n' => out.push_str("<br>"),
            sign if sign.is_control() => out.push(' '),
            sign => out.push_str(&format!("&#{};", u32::from(sign))),
        }
    }
    out.push_str("</code>");
    out
}

/// A price. GitHub would take what stands between two dollar signs for mathematics.
pub(super) fn money(amount: Option<f64>) -> String {
    text(&cost(amount))
}

/// A block of code.
pub(super) fn fenced(out: &mut String, language: &str, text: &str) {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    out.push_str(&format!(
        "{fence}{language}\n{}\n{fence}\n\n",
        text.trim_end()
    ));
}

/// A table. Cells are Markdown already.
pub(super) fn table(out: &mut String, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        out.push('|');
        for cell in cells {
            out.push(' ');
            // Also within code: what escapes it is the table's.
            out.push_str(&cell.replace('|', "\\|"));
            out.push_str(" |");
        }
        out.push('\n');
    };
    line(&mut head.iter().copied());
    line(&mut head.iter().map(|_| "---"));
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
    out.push('\n');
}

/// The anchor that GitHub gives a heading.
pub(super) fn slug(heading: &str) -> String {
    let kept = heading.chars().filter_map(|sign| match sign {
        ' ' => Some('-'),
        '-' | '_' => Some(sign),
        sign if sign.is_alphanumeric() => Some(sign),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stands_as_it_is() {
        assert_eq!(
            text("a|b <i>*x*</i>\n_y_"),
            "a|b &lt;i&gt;\\*x\\*&lt;/i&gt; \\_y\\_"
        );
        assert_eq!(code("USER#{id}"), "`USER#{id}`");
        assert_eq!(code("a`<b>\n"), "<code>a&#96;&#60;b&#62;<br></code>");
        assert_eq!(code("a\\|b"), "<code>a&#92;&#124;b</code>");
        assert_eq!(code(""), "");
        assert_eq!(prose("is `a_b` a_b?"), "is `a_b` a\\_b?");
    }

    #[test]
    fn a_cell_ends_where_it_should() {
        let mut out = String::new();
        table(&mut out, &["x"], [vec![code("{a | pad(3)}")]]);
        assert_eq!(out, "| x |\n| --- |\n| `{a \\| pad(3)}` |\n\n");
    }

    #[test]
    fn a_fence_is_longer_than_those_within() {
        let mut out = String::new();
        fenced(&mut out, "sql", "SELECT '```'");
        assert_eq!(out, "````sql\nSELECT '```'\n````\n\n");
    }

    #[test]
    fn anchors_are_those_of_github() {
        assert_eq!(slug("Item type `ORDER LINE`"), "item-type-order-line");
    }
}
