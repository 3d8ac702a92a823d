//! Reads filter calls and their arguments, and everything in quotes.

use super::parse::{Broken, Parser};
use super::print::ends_bare_word;
use super::{Argument, FilterCall, Literal};

impl Parser<'_> {
    pub(super) fn filter(&mut self) -> Result<FilterCall, Broken> {
        let from = self.at;
        let name = self
            .take_while(|c| c.is_alphanumeric() || c == '_')
            .to_owned();
        if name.is_empty() {
            let span = self.here();
            return Err(self.fault(
                span,
                "a filter's name is missing after `|`",
                "name a filter, `{id | pad(8)}`, or take the `|` away",
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

    fn arguments(&mut self, open: usize, arguments: &mut Vec<Argument>) -> Result<(), Broken> {
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
                Argument::Pair(first, self.literal(open)?)
            } else {
                Argument::Plain(first)
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

    fn literal(&mut self, open: usize) -> Result<Literal, Broken> {
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

    /// Says what is wrong where an argument, `,` or `)` had to come.
    fn not_an_argument(&mut self, open: usize) -> Broken {
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
    pub(super) fn quoted(&mut self, quote: char, what: &str) -> Result<String, Broken> {
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
            format!("close it with `{quote}`; a doubled one stands for itself"),
        ))
    }
}
