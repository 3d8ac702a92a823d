//! Terraform's configuration language as `terraform fmt` writes it.
//!
//! Equals signs that stand below one another are aligned; whatever takes several lines stands
//! alone between empty lines.

/// What stands in a file or a block.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Body {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Comment(String),
    Attribute(String, Hcl),
    Block(String, Body),
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Hcl {
    /// A text, in which nothing is put in place of anything.
    Text(String),
    /// An expression, written by us: `aws_dynamodb_table.table.arn`.
    Expression(String),
    /// A whole number.
    Number(u64),
    /// True or false.
    Bool(bool),
    /// A list.
    List(Vec<Hcl>),
    /// An object, in order.
    Object(Vec<(String, Hcl)>),
}

impl From<&str> for Hcl {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Hcl {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Hcl {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

/// An expression.
pub(super) fn expression(text: impl Into<String>) -> Hcl {
    Hcl::Expression(text.into())
}

impl Body {
    /// Adds an attribute.
    pub(super) fn put(mut self, name: &str, value: impl Into<Hcl>) -> Self {
        self.parts
            .push(Part::Attribute(name.to_owned(), value.into()));
        self
    }

    /// Adds an attribute where there is a value.
    pub(super) fn maybe(self, name: &str, value: Option<impl Into<Hcl>>) -> Self {
        match value {
            Some(value) => self.put(name, value),
            None => self,
        }
    }

    /// Adds a block: `resource "aws_sqs_queue" "archive"`.
    pub(super) fn block(mut self, head: impl Into<String>, body: Self) -> Self {
        self.parts.push(Part::Block(head.into(), body));
        self
    }

    /// Adds a comment.
    pub(super) fn comment(mut self, text: &str) -> Self {
        self.parts.push(Part::Comment(text.to_owned()));
        self
    }

    /// The body as a file.
    pub(super) fn document(&self) -> String {
        let mut out = String::new();
        write_body(&mut out, self, 0);
        out
    }
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

impl Part {
    /// Whether it is an attribute on one line.
    fn is_short(&self) -> bool {
        matches!(self, Self::Attribute(_, value) if value.is_short())
    }
}

fn write_body(out: &mut String, body: &Body, depth: usize) {
    let mut before: Option<&Part> = None;
    let mut parts = body.parts.iter().peekable();
    while let Some(part) = parts.peek().copied() {
        let together = match before {
            None | Some(Part::Comment(_)) => true,
            Some(before) => before.is_short() && part.is_short(),
        };
        if !together {
            out.push('\n');
        }
        if part.is_short() {
            let mut run = Vec::new();
            while let Some(Part::Attribute(name, value)) = parts.next_if(|part| part.is_short()) {
                run.push((name.clone(), value));
            }
            write_run(out, &run, depth);
            before = Some(part);
            continue;
        }
        parts.next();
        write_part(out, part, depth);
        before = Some(part);
    }
}

fn write_part(out: &mut String, part: &Part, depth: usize) {
    match part {
        Part::Comment(text) => {
            for line in text.lines() {
                indent(out, depth);
                out.push_str(&format!("# {line}\n"));
            }
        }
        Part::Attribute(name, value) => {
            indent(out, depth);
            out.push_str(&format!("{name} = "));
            write_value(out, value, depth);
            out.push('\n');
        }
        Part::Block(head, body) => {
            indent(out, depth);
            if body.parts.is_empty() {
                out.push_str(&format!("{head} {{}}\n"));
                return;
            }
            out.push_str(&format!("{head} {{\n"));
            write_body(out, body, depth + 1);
            indent(out, depth);
            out.push_str("}\n");
        }
    }
}

/// Writes attributes of one line each, their equals signs below one another.
fn write_run(out: &mut String, run: &[(String, &Hcl)], depth: usize) {
    // Terraform counts what a reader sees as one character.
    let width = run.iter().map(|(name, _)| name.chars().count()).max();
    let width = width.unwrap_or(0);
    for (name, value) in run {
        indent(out, depth);
        let blank = width - name.chars().count();
        out.push_str(&format!("{name}{} = ", " ".repeat(blank)));
        write_value(out, value, depth);
        out.push('\n');
    }
}

impl Hcl {
    /// Whether it stands on one line.
    fn is_short(&self) -> bool {
        match self {
            Self::List(elements) => elements.len() < 2 && elements.iter().all(Self::is_short),
            Self::Object(members) => members.is_empty(),
            _ => true,
        }
    }
}

fn write_value(out: &mut String, value: &Hcl, depth: usize) {
    match value {
        Hcl::Text(text) => out.push_str(&quoted(text)),
        Hcl::Expression(text) => out.push_str(text),
        Hcl::Number(number) => out.push_str(&number.to_string()),
        Hcl::Bool(truth) => out.push_str(&truth.to_string()),
        Hcl::List(elements) if value.is_short() => {
            out.push('[');
            for element in elements {
                write_value(out, element, depth);
            }
            out.push(']');
        }
        Hcl::List(elements) => {
            out.push_str("[\n");
            for element in elements {
                indent(out, depth + 1);
                write_value(out, element, depth + 1);
                out.push_str(",\n");
            }
            indent(out, depth);
            out.push(']');
        }
        Hcl::Object(members) if members.is_empty() => out.push_str("{}"),
        Hcl::Object(members) => {
            out.push_str("{\n");
            let body = Body {
                parts: members
                    .iter()
                    .map(|(name, value)| Part::Attribute(key(name), value.clone()))
                    .collect(),
            };
            write_body(out, &body, depth + 1);
            indent(out, depth);
            out.push('}');
        }
    }
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

/// A text between quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in templateless(text).chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A text of which no part is a template.
fn templateless(text: &str) -> String {
    text.replace("${", "$${").replace("%{", "%%{")
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
        let body = Body::default()
            .comment("What it is.")
            .block(
                r#"resource "a" "b""#,
                Body::default()
                    .put("name", "x")
                    .put("capacity", 5)
                    .put("tags", Hcl::Object(vec![("a".to_owned(), true.into())]))
                    .block("ttl", Body::default().put("enabled", true)),
            )
            .block("data", Body::default());
        let expected = r#"# What it is.
resource "a" "b" {
  name     = "x"
  capacity = 5

  tags = {
    a = true
  }

  ttl {
    enabled = true
  }
}

data {}
"#;
        assert_eq!(body.document(), expected);
    }
}
