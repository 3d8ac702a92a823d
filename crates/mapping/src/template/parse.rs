//! Reads a template's text. Goes on after a fault, so that one reading reports all of them, up to `MOST_FAULTS`.

use std::ops::Range;

use super::print::{ends_bare_word, is_name_char};
use super::{
    FilterArgument, FilterCall, Literal, Segment, TemplateError, WrittenPlaceholder,
    WrittenTemplate,
};

/// Most faults of one template that are reported.
const MOST_FAULTS: usize = 20;

/// Reads a template.
///
/// # Errors
///
/// The faults that were found, in the order of the text; of very many only the first.
pub fn parse(text: &str) -> Result<WrittenTemplate, Vec<TemplateError>> {
    let mut parser = TemplateParser {
        text,
        at: 0,
        errors: Vec::new(),
    };
    let segments = parser.segments(None);
    if parser.errors.is_empty() {
        Ok(WrittenTemplate { segments })
    } else {
        parser.errors.sort_by_key(|error| error.span.start);
        Err(parser.errors)
    }
}

struct TemplateParser<'t> {
    text: &'t str,
    at: usize,
    errors: Vec<TemplateError>,
}

/// A fault that ends the placeholder it stands in.
struct BrokenPlaceholder;

impl TemplateParser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &str {
        let from = self.at;
        let length = self
            .rest()
            .find(|c| !wanted(c))
            .unwrap_or(self.rest().len());
        self.at += length;
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        self.take_while(char::is_whitespace);
    }

    fn fault(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> BrokenPlaceholder {
        if self.errors.len() < MOST_FAULTS {
            self.errors.push(TemplateError {
                span,
                message: message.into(),
                help: help.into(),
            });
        }
        BrokenPlaceholder
    }

    /// The span of the next character; at the end of the text an empty one.
    fn here(&self) -> Range<usize> {
        self.at..self.at + self.peek().map_or(0, char::len_utf8)
    }

    /// Reads to the end, or inside an optional segment (opened at `open`) past its `]`.
    fn segments(&mut self, open: Option<usize>) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut text = String::new();
        let mut nested = 0_usize;
        while let Some(c) = self.peek() {
            let from = self.at;
            self.at += c.len_utf8();
            // After a wrongly nested segment `]]` closes both: one fault is enough.
            let closes_both = c == ']' && nested > 0;
            if matches!(c, '{' | '}' | '[' | ']') && self.peek() == Some(c) && !closes_both {
                self.at += 1;
                text.push(c);
                continue;
            }
            let segment = match c {
                '{' => self.placeholder(from).map(Segment::Placeholder),
                '[' if open.is_some() => {
                    nested += 1;
                    self.fault(
                        from..self.at,
                        "optional segments do not nest",
                        "put them one after the other, `[#{a}][#{b}]`: each is left out with the ones \
                         before it; write `[[` for a literal bracket",
                    );
                    None
                }
                '[' => Some(self.optional(from)),
                ']' if nested > 0 => {
                    nested -= 1;
                    None
                }
                ']' if open.is_some() => {
                    flush(&mut text, &mut segments);
                    return segments;
                }
                '}' | ']' => {
                    let what = if c == '}' { "brace" } else { "bracket" };
                    let help = format!("write `{c}{c}` for a literal {what}");
                    self.fault(from..self.at, format!("`{c}` closes nothing"), help);
                    None
                }
                other => {
                    text.push(other);
                    continue;
                }
            };
            flush(&mut text, &mut segments);
            segments.extend(segment);
        }
        if let Some(open) = open {
            self.fault(
                open..open + 1,
                "the optional segment is not closed",
                "close it with `]`, or write `[[` for a literal bracket",
            );
        }
        flush(&mut text, &mut segments);
        segments
    }

    /// Reads an optional segment whose `[` stood at `from`.
    fn optional(&mut self, from: usize) -> Segment {
        let faults = self.errors.len();
        let inner = self.segments(Some(from));
        let has_value = |segment: &Segment| !matches!(segment, Segment::Text(_));
        if self.errors.len() == faults && !inner.iter().any(has_value) {
            self.fault(
                from..self.at,
                "the optional segment holds no placeholder, so nothing decides whether it is left out",
                "put a placeholder into it, or write `[[` and `]]` for literal brackets",
            );
        }
        Segment::Optional(inner)
    }

    /// Reads a placeholder whose `{` stood at `from`; after a fault goes on past its `}`.
    fn placeholder(&mut self, from: usize) -> Option<WrittenPlaceholder> {
        if let Ok(read) = self.try_placeholder(from) {
            return Some(read);
        }
        let length = self.rest().find(['{', '}']);
        match length {
            Some(length) => {
                self.at += length;
                self.take("}");
            }
            None => self.at = self.text.len(),
        }
        None
    }

    fn try_placeholder(&mut self, from: usize) -> Result<WrittenPlaceholder, BrokenPlaceholder> {
        self.skip_space();
        let path_from = self.at;
        let path = self.path(from)?;
        let path_span = path_from..self.at;
        let mut filters = Vec::new();
        loop {
            self.skip_space();
            if self.take("}") {
                break;
            }
            if !self.take("|") {
                return Err(self.unexpected(from));
            }
            self.skip_space();
            filters.push(self.filter()?);
        }
        Ok(WrittenPlaceholder {
            path,
            path_span,
            filters,
            span: from..self.at,
        })
    }

    /// The fault where `|` or `}` had to come.
    fn unexpected(&mut self, from: usize) -> BrokenPlaceholder {
        match self.peek() {
            None | Some('{') => self.fault(
                from..self.at,
                "the placeholder is not closed",
                "close it with `}`, or write `{{` for a literal brace",
            ),
            Some(c) => {
                let help = if c == '(' {
                    "only filters take arguments: `{column | filter(…)}`"
                } else {
                    "separate filters with `|`; put names with special characters in backquotes: {`Order ID` | upper}"
                };
                self.fault(self.here(), format!("`{c}` is not expected here"), help)
            }
        }
    }

    fn path(&mut self, from: usize) -> Result<Vec<String>, BrokenPlaceholder> {
        if self.take("*") {
            return Ok(vec!["*".to_owned()]);
        }
        let mut path = vec![self.name(from)?];
        while self.take(".") {
            path.push(self.name(from)?);
        }
        Ok(path)
    }

    fn name(&mut self, from: usize) -> Result<String, BrokenPlaceholder> {
        if self.peek() == Some('`') {
            return self.quoted('`', "a backquoted name").and_then(|name| {
                if name.is_empty() {
                    let span = self.at.saturating_sub(2)..self.at;
                    return Err(self.fault(span, "the name is empty", "write a column's name"));
                }
                Ok(name)
            });
        }
        let name = self.take_while(is_name_char);
        if !name.is_empty() {
            return Ok(name.to_owned());
        }
        let before = self.text.get(from + 1..self.at).unwrap_or_default().trim();
        Err(match self.peek() {
            Some('}' | '|') if before.is_empty() => self.fault(
                from..self.here().end,
                "the placeholder names no column",
                "write a column, `{id}`; write `{{` and `}}` for literal braces",
            ),
            None | Some('{') => self.unexpected(from),
            Some('*') => self.fault(
                self.here(),
                "`*` cannot be part of a path",
                "name one column; put a column that is called `*` in backquotes",
            ),
            Some(c) => self.fault(
                self.here(),
                format!("`{c}` cannot be in a name without backquotes"),
                "put such names in backquotes: {`Order ID`}, {s.`Order ID`}",
            ),
        })
    }

    fn filter(&mut self) -> Result<FilterCall, BrokenPlaceholder> {
        let from = self.at;
        let name = self
            .take_while(|c| c.is_alphanumeric() || c == '_')
            .to_owned();
        if name.is_empty() {
            let span = self.here();
            return Err(self.fault(
                span,
                "a filter's name is missing after `|`",
                "name a filter, `{id | pad(8)}`, or remove the `|`",
            ));
        }
        let end = self.at;
        self.skip_space();
        let mut arguments = Vec::new();
        if self.peek() == Some('(') {
            let open = self.at;
            self.at += 1;
            self.arguments(open, &mut arguments)?;
        } else {
            self.at = end;
        }
        Ok(FilterCall {
            name,
            arguments,
            span: from..self.at,
        })
    }

    fn arguments(
        &mut self,
        open: usize,
        arguments: &mut Vec<FilterArgument>,
    ) -> Result<(), BrokenPlaceholder> {
        self.skip_space();
        if self.take(")") {
            return Ok(());
        }
        loop {
            self.skip_space();
            let first = self.literal(open)?;
            self.skip_space();
            arguments.push(if self.take(":") {
                self.skip_space();
                FilterArgument::Pair(first, self.literal(open)?)
            } else {
                FilterArgument::Plain(first)
            });
            self.skip_space();
            if self.take(")") {
                return Ok(());
            }
            if !self.take(",") {
                return Err(self.not_an_argument(open));
            }
        }
    }

    fn literal(&mut self, open: usize) -> Result<Literal, BrokenPlaceholder> {
        if let Some(quote @ ('"' | '\'')) = self.peek() {
            return self
                .quoted(quote, "a quoted text")
                .map(|text| Literal { text, quoted: true });
        }
        // A colon belongs to the word unless a space or a quote follows: `14:05`, but `a: x`.
        let from = self.at;
        let rest = self.rest();
        let end = rest
            .char_indices()
            .find(|&(at, c)| {
                let after = rest.get(at + 1..).unwrap_or_default();
                let ends_key = after.is_empty()
                    || after.starts_with(|next: char| next.is_whitespace() || ends_bare_word(next));
                ends_bare_word(c) || (c == ':' && at > 0 && ends_key)
            })
            .map_or(rest.len(), |(at, _)| at);
        let text = rest.get(..end).unwrap_or_default().trim_end().to_owned();
        if text.is_empty() {
            return Err(self.not_an_argument(open));
        }
        self.at = from + text.len();
        Ok(Literal {
            text,
            quoted: false,
        })
    }

    /// The fault where an argument, `,` or `)` had to come.
    fn not_an_argument(&mut self, open: usize) -> BrokenPlaceholder {
        match self.peek() {
            None | Some('}' | '|' | '{' | '\n' | '\r') => self.fault(
                open..self.at,
                "the filter's arguments are not closed",
                "close them with `)`; put arguments that hold any of `,(){}[]|` in quotes",
            ),
            Some(c @ (',' | ')')) => self.fault(
                self.here(),
                format!("an argument is missing before `{c}`"),
                "write one, or `\"\"` for empty text",
            ),
            Some(c) => self.fault(
                self.here(),
                format!("`{c}` is not expected here"),
                "separate arguments by commas, and put those that hold any of `,(){}[]|` in quotes",
            ),
        }
    }

    /// Reads what stands between two `quote`s; a doubled one within is a literal one.
    fn quoted(&mut self, quote: char, what: &str) -> Result<String, BrokenPlaceholder> {
        let from = self.at;
        self.at += quote.len_utf8();
        let mut text = String::new();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            if c != quote {
                text.push(c);
            } else if self.peek() == Some(quote) {
                self.at += quote.len_utf8();
                text.push(quote);
            } else {
                return Ok(text);
            }
        }
        self.at = self.text.len();
        Err(self.fault(
            from..self.text.len(),
            format!("{what} is not closed"),
            format!("close it with `{quote}`; write it twice to use it inside"),
        ))
    }
}

/// Makes a segment of the text that was gathered.
fn flush(text: &mut String, segments: &mut Vec<Segment>) {
    if !text.is_empty() {
        segments.push(Segment::Text(std::mem::take(text)));
    }
}
