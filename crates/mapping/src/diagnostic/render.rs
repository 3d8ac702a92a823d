//! Diagnostics for people (the mapping's lines with carets) and for programs (JSON).
//!
//! Both list them in the order of the file, without a summary. Neither trusts the places that it is
//! given: they are clipped to the text and to whole characters.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::json;

use super::{Diagnostic, Severity};

/// Renders diagnostics with the lines they point at, one after the other with an empty line
/// between. `color` turns on ANSI colours.
///
/// A place of several lines is underlined in its first line alone: the others of an item type do
/// not show what is wrong with it.
pub fn render(path: &str, text: &str, diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let lines = LineStarts::new(text);
    let mut out = String::new();
    for diagnostic in in_order(diagnostics) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&renderer.render(&[group(path, text, &lines, diagnostic)]));
        out.push('\n');
    }
    out
}

/// The same facts as a JSON array. Lines and columns count from 1, columns in characters; an end is
/// the first place behind.
pub fn to_json(path: &str, text: &str, diagnostics: &[Diagnostic]) -> serde_json::Value {
    let lines = LineStarts::new(text);
    let diagnostics = in_order(diagnostics).into_iter().map(|diagnostic| {
        let others = diagnostic.others.iter().map(|other| {
            let [(line, column), (end_line, end_column)] = lines.place(text, &other.span);
            json!({
                "line": line,
                "column": column,
                "end_line": end_line,
                "end_column": end_column,
                "label": other.text,
            })
        });
        let code = diagnostic.code.as_str();
        let [(line, column), (end_line, end_column)] = lines.place(text, &diagnostic.span);
        json!({
            "code": code,
            "severity": diagnostic.severity(),
            "message": diagnostic.message,
            "path": path,
            "line": line,
            "column": column,
            "end_line": end_line,
            "end_column": end_column,
            "label": diagnostic.label,
            "others": others.collect::<Vec<_>>(),
            "help": diagnostic.help,
            "documentation": format!("docs/diagnostics.md#{code}"),
        })
    });
    serde_json::Value::Array(diagnostics.collect())
}

fn in_order(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
    sorted.sort_by_key(|d| (d.span.start, d.span.end, d.severity(), d.code));
    sorted
}

fn group<'d>(
    path: &'d str,
    text: &'d str,
    lines: &LineStarts,
    diagnostic: &'d Diagnostic,
) -> Group<'d> {
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let place = first_line(text, &diagnostic.span);
    let labels = diagnostic.others.iter();
    let others: Vec<(Range<usize>, &str)> = labels
        .map(|other| (first_line(text, &other.span), other.text.as_str()))
        .collect();
    // Only the lines from the first place to the last are handed on, so that the cost of one
    // diagnostic does not grow with the file.
    let places = || others.iter().map(|(place, _)| place);
    let from = places()
        .map(|other| other.start)
        .fold(place.start, usize::min);
    let to = places().map(|other| other.end).fold(place.end, usize::max);
    let (from, to) = (line_start(text, from), line_end(text, to));
    let annotation = |kind: AnnotationKind, place: &Range<usize>, label: &'d str| {
        let annotation = kind.span(place.start - from..place.end - from);
        annotation.label((!label.is_empty()).then_some(label))
    };
    let primary = annotation(AnnotationKind::Primary, &place, &diagnostic.label);
    let secondary = others
        .iter()
        .map(|(place, text)| annotation(AnnotationKind::Context, place, text));
    let snippet = Snippet::source(text.get(from..to).unwrap_or_default())
        .path(path)
        .line_start(lines.line(from))
        .annotation(primary)
        .annotations(secondary);
    let group = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code.as_str())
        .element(snippet);
    match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

/// The place, within the text and without a part of a character.
fn clip(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end.min(text.len()).max(start));
    start..end
}

/// The part of a place in its first line.
pub(super) fn first_line(text: &str, span: &Range<usize>) -> Range<usize> {
    let span = clip(text, span);
    let end = span.end.min(line_end(text, span.start));
    span.start..end.max(span.start)
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |newline| newline + 1)
}

/// The end of a line's text, its line break left out.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let after = text.get(at..).unwrap_or_default();
    let line = after.split('\n').next().unwrap_or_default();
    at + line.strip_suffix('\r').unwrap_or(line).len()
}

/// Where the lines start.
pub(super) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(super) fn new(text: &str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(after).collect())
    }

    /// The line and the column of a place's beginning, and those of its end, from 1.
    pub(super) fn place(&self, text: &str, span: &Range<usize>) -> [(usize, usize); 2] {
        let span = clip(text, span);
        [span.start, span.end].map(|at| self.line_and_column(text, at))
    }

    /// The number of the line that a place stands in, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at)
    }

    fn line_and_column(&self, text: &str, at: usize) -> (usize, usize) {
        let line = self.line(at);
        let start = self.0.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = text.get(start..at).unwrap_or_default();
        (line, before.chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Code;
    use super::*;

    const MAPPING: &str = "\
dynafold: 1
items:
  USER:
    from: users
    key: { PK: \"USER#{uid}\", SK: \"가나#{nmae}\" }
  ACCOUNT:
    from: accounts
    key: { PK: \"USER#{user_id}\", SK: \"ACC#\" }
";

    fn span(of: &str) -> Range<usize> {
        let at = MAPPING.find(of).expect(of);
        at..at + of.len()
    }

    fn diagnostics() -> Vec<Diagnostic> {
        vec![
            Diagnostic::new(
                Code::SameKey,
                span("\"USER#{user_id}\""),
                "USER and ACCOUNT could make the same key",
            )
            .with_label("starts with `USER#`")
            .with_other(span("\"USER#{uid}\""), "and so does this"),
            Diagnostic::new(
                Code::UnknownColumn,
                span("nmae"),
                "`users` has no column `nmae`",
            )
            .with_label("not a column")
            .with_help("did you mean `name`?"),
        ]
    }

    #[test]
    fn people_see_the_lines_in_the_order_of_the_file() {
        insta::assert_snapshot!(render("shop.yaml", MAPPING, &diagnostics(), false), @r#"
        error[unknown-column]: `users` has no column `nmae`
         --> shop.yaml:5:39
          |
        5 |     key: { PK: "USER#{uid}", SK: "가나#{nmae}" }
          |                                         ^^^^ not a column
          |
          = help: did you mean `name`?

        warning[same-key]: USER and ACCOUNT could make the same key
         --> shop.yaml:8:16
          |
        5 |     key: { PK: "USER#{uid}", SK: "가나#{nmae}" }
          |                ------------ and so does this
        ...
        8 |     key: { PK: "USER#{user_id}", SK: "ACC#" }
          |                ^^^^^^^^^^^^^^^^ starts with `USER#`
        "#);
    }

    #[test]
    fn programs_get_the_same_facts() {
        let json = to_json("shop.yaml", MAPPING, &diagnostics());
        let text = serde_json::to_string_pretty(&json).expect("JSON");
        insta::assert_snapshot!(text, @r#"
        [
          {
            "code": "unknown-column",
            "severity": "error",
            "message": "`users` has no column `nmae`",
            "path": "shop.yaml",
            "line": 5,
            "column": 39,
            "end_line": 5,
            "end_column": 43,
            "label": "not a column",
            "others": [],
            "help": "did you mean `name`?",
            "documentation": "docs/diagnostics.md#unknown-column"
          },
          {
            "code": "same-key",
            "severity": "warning",
            "message": "USER and ACCOUNT could make the same key",
            "path": "shop.yaml",
            "line": 8,
            "column": 16,
            "end_line": 8,
            "end_column": 32,
            "label": "starts with `USER#`",
            "others": [
              {
                "line": 5,
                "column": 16,
                "end_line": 5,
                "end_column": 28,
                "label": "and so does this"
              }
            ],
            "help": null,
            "documentation": "docs/diagnostics.md#same-key"
          }
        ]
        "#);
    }

    #[test]
    fn a_place_of_several_lines_shows_its_first() {
        let block = span("USER:\n    from: users\n");
        let diagnostic = Diagnostic::new(Code::MissingKey, block, "`key` is missing");
        insta::assert_snapshot!(render("shop.yaml", MAPPING, &[diagnostic], false), @r"
        error[missing-key]: `key` is missing
         --> shop.yaml:3:3
          |
        3 |   USER:
          |   ^^^^^
        ");
    }

    #[test]
    fn places_outside_the_text_are_clipped() {
        let at = |span: Range<usize>, text: &str| {
            let diagnostic = Diagnostic::new(Code::Yaml, span.clone(), "the file is not YAML")
                .with_other(span, "here");
            let json = to_json("a.yaml", text, std::slice::from_ref(&diagnostic));
            (
                render("a.yaml", text, &[diagnostic], false),
                json[0].clone(),
            )
        };
        for (start, end) in [(0, 0), (3, 3), (4, 4), (99, 200), (1, 2), (5, 1), (4, 99)] {
            for text in ["", "가나\n", "a: b", "\n\n", "a\r\nb\r\n"] {
                let (rendered, json) = at(start..end, text);
                assert!(
                    rendered.contains("--> a.yaml:"),
                    "{start}..{end} {text:?}: {rendered}"
                );
                assert!(json["line"].as_u64() <= json["end_line"].as_u64());
            }
        }
        let (rendered, json) = at(6..7, "가나다\nb");
        assert!(rendered.contains("a.yaml:1:3"), "{rendered}");
        assert_eq!(
            (&json["column"], &json["end_column"]),
            (&json!(3), &json!(4))
        );
    }

    #[test]
    fn colour_is_there_only_when_asked_for() {
        assert!(!render("shop.yaml", MAPPING, &diagnostics(), false).contains('\u{1b}'));
        assert!(render("shop.yaml", MAPPING, &diagnostics(), true).contains('\u{1b}'));
        assert_eq!(render("shop.yaml", MAPPING, &[], true), "");
        assert_eq!(to_json("shop.yaml", MAPPING, &[]), json!([]));
    }
}
