//! Terraform's configuration language, piece by piece, and as `terraform fmt` writes it.

use std::fmt::Display;

use dynafold_relational::value::quote;

/// An attribute, on a line of its own. A tab stands before its equals sign until it is aligned.
pub(super) fn attribute(name: &str, value: impl Display) -> String {
    format!("{name}\t= {value}\n")
}

/// An attribute where there is a value.
pub(super) fn maybe(name: &str, value: Option<impl Display>) -> String {
    value.map_or_else(String::new, |value| attribute(name, value))
}

/// A block: `resource "aws_sqs_queue" "archive"`.
pub(super) fn block(head: &str, body: &str) -> String {
    format!("{head} {{\n{body}}}\n")
}

/// A list, on one line where it has one element.
pub(super) fn list(elements: &[String]) -> String {
    match elements {
        [] | [_] => format!("[{}]", elements.concat()),
        several => format!("[\n{},\n]", several.join(",\n")),
    }
}

/// An object of texts.
pub(super) fn object(members: &[(String, String)]) -> String {
    let members = members
        .iter()
        .map(|(name, text)| attribute(&key(name), quoted(text)));
    format!("{{\n{}}}", members.collect::<String>())
}

/// Lines as `terraform fmt` has them: indented, equals signs that stand below one another aligned, and
/// whatever takes several lines alone between empty lines.
pub(super) fn formatted(lines: &str) -> String {
    let opens = |line: &str| line.ends_with(['{', '[']);
    let closes = |line: &str| line.starts_with(['}', ']']);
    let is_comment = |line: &str| line.starts_with('#');
    let is_short = |line: &str| !opens(line) && !closes(line) && !is_comment(line);
    let lines: Vec<&str> = lines.lines().collect();
    let mut out = String::new();
    let (mut depth, mut before) = (0_usize, "{");
    for run in lines.chunk_by(|one, next| is_short(one) && is_short(next)) {
        let names = run.iter().filter_map(|line| line.split_once('\t'));
        // Terraform counts what a reader sees as one character.
        let width = names
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0);
        for (at, &line) in run.iter().enumerate() {
            depth = depth.saturating_sub(usize::from(closes(line)));
            if at == 0 && !closes(line) && !opens(before) && !is_comment(before) {
                out.push('\n');
            }
            let indent = 2 * depth;
            out.push_str(&match line.split_once('\t') {
                Some((name, value)) => format!("{:indent$}{name:width$} {value}\n", ""),
                None => format!("{:indent$}{line}\n", ""),
            });
            depth += usize::from(opens(line));
            before = line;
        }
    }
    out
}

/// A key of an object: a word, or a text.
fn key(name: &str) -> String {
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_word && !["null", "true", "false", "for", "if"].contains(&name) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A text between quotes, in which nothing is put in place of anything.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::new();
    // JSON's escapes are those of this language too.
    quote(&mut out, &text.replace("${", "$${").replace("%{", "%%{"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_never_a_template() {
        for (text, written) in [
            ("plain", r#""plain""#),
            (r#"a "b" \c"#, r#""a \"b\" \\c""#),
            ("${var.x} %{if x}", r#""$${var.x} %%{if x}""#),
            ("$ { $$ 5%", r#""$ { $$ 5%""#),
            ("a\nb\t\u{1}", r#""a\nb\t\u0001""#),
            ("안녕 {{resolve:x}}", r#""안녕 {{resolve:x}}""#),
        ] {
            assert_eq!(quoted(text), written);
        }
        assert_eq!(key("Name"), "Name");
        assert_eq!(key("cost-center"), r#""cost-center""#);
        assert_eq!(key("for"), r#""for""#);
        assert_eq!(key("a:${b}"), r#""a:$${b}""#);
    }

    #[test]
    fn attributes_are_aligned_and_blocks_stand_alone() {
        let tags = object(&[("a".to_owned(), "= {".to_owned())]);
        let lines = [
            "# What it is.\n".to_owned(),
            block(
                r#"resource "a" "b""#,
                &[
                    attribute("name", quoted("x")),
                    attribute("capacity", 5),
                    attribute("tags", tags),
                    block("ttl", &attribute("enabled", true)),
                ]
                .concat(),
            ),
            block(
                "data",
                &attribute("left", list(&["a".to_owned(), "b".to_owned()])),
            ),
        ];
        let expected = r#"# What it is.
resource "a" "b" {
  name     = "x"
  capacity = 5

  tags = {
    a = "= {"
  }

  ttl {
    enabled = true
  }
}

data {
  left = [
    a,
    b,
  ]
}
"#;
        assert_eq!(formatted(&lines.concat()), expected);
    }
}
