//! SQL as words and signs: where its parameters stand, and values in their place.

use std::ops::Range;

use dynafold_relational::catalog::Dbms;
use sqlparser::ast::{Expr, Statement};
use sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Whitespace, Word};

use super::UnreadableSql;

/// A use of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlParameter {
    /// Without the colon.
    pub name: String,
    /// Bytes of the text, with the colon.
    pub span: Range<usize>,
}

/// A piece of SQL, taken apart into words.
#[derive(Debug, Clone, Default)]
pub struct Sql {
    text: String,
    dbms: Option<Dbms>,
    parameters: Vec<SqlParameter>,
    tokens: Vec<TokenWithSpan>,
    places: ByteOffsets,
}

impl Sql {
    /// Takes SQL apart. Without a product as most of them understand it.
    ///
    /// # Errors
    ///
    /// [`UnreadableSql`] where a text or a comment does not end.
    pub fn read(text: &str, dbms: Option<Dbms>) -> Result<Self, UnreadableSql> {
        let places = ByteOffsets::new(text);
        let dialect = dialect(dbms);
        // Texts stay as they are written: the parser would write them again without their escapes.
        let found = Tokenizer::new(dialect.as_ref(), text)
            .with_unescape(false)
            .tokenize_with_location();
        let found = found.map_err(|error| UnreadableSql::Syntax(error.message))?;
        let mut parameters = Vec::new();
        let mut tokens: Vec<TokenWithSpan> = Vec::with_capacity(found.len());
        let mut brackets = 0_usize;
        for mut token in found {
            match &mut token.token {
                Token::Word(word) if word.quote_style.is_some() => undouble(word),
                // Of `0x1F` and `X'1F'` the first is a number in SQLite, and the parser tells them apart no more.
                Token::HexStringLiteral(_) => {
                    let said = places.range(token.span).and_then(|range| text.get(range));
                    if let Some(number) = said.filter(|said| said.starts_with('0')) {
                        token.token = Token::Number(number.to_owned(), false);
                    }
                }
                Token::LBracket => brackets += 1,
                Token::RBracket => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            let (colon, before) = match tokens.as_slice() {
                [.., before, colon] => (Some(colon), Some(&before.token)),
                [colon] => (Some(colon), None),
                [] => (None, None),
            };
            // `list[1:last]` is a part of a list.
            let is_part = brackets > 0 && before.is_some_and(ends_value);
            let colon = colon.filter(|colon| {
                colon.token == Token::Colon && colon.span.end == token.span.start && !is_part
            });
            let (start, name) = match (colon, &token.token) {
                (Some(colon), Token::Word(word)) if word.quote_style.is_none() => {
                    (colon.span.start, word.value.clone())
                }
                _ => {
                    tokens.push(token);
                    continue;
                }
            };
            let span = Span::new(start, token.span.end);
            tokens.pop();
            tokens.push(TokenWithSpan {
                token: Token::Placeholder(format!(":{name}")),
                span,
            });
            parameters.extend(places.range(span).map(|span| SqlParameter { name, span }));
        }
        Ok(Self {
            text: text.to_owned(),
            dbms,
            parameters,
            tokens,
            places,
        })
    }

    /// All uses of parameters, in the order in which they stand there.
    pub fn parameters(&self) -> &[SqlParameter] {
        &self.parameters
    }

    /// The text with its parameters replaced; those for which there is nothing stay.
    pub fn fill(&self, with: &dyn Fn(&str) -> Option<String>) -> String {
        let mut filled = String::with_capacity(self.text.len());
        let mut from = 0;
        for SqlParameter { name, span } in &self.parameters {
            if let Some(value) = with(name) {
                filled.push_str(self.text.get(from..span.start).unwrap_or_default());
                // Behind a minus that of the number would begin a comment.
                if value.starts_with('-') {
                    filled.push_str(&format!("({value})"));
                } else {
                    filled.push_str(&value);
                }
                from = span.end;
            }
        }
        filled.push_str(self.text.get(from..).unwrap_or_default());
        filled
    }

    /// Whether a text of one line ends in a comment: what YAML folds into that line is not read.
    pub fn ends_in_comment(&self) -> bool {
        let is_comment = |token: &TokenWithSpan| {
            matches!(
                token.token,
                Token::Whitespace(Whitespace::SingleLineComment { .. })
            )
        };
        !self.text.trim().contains('\n') && self.tokens.last().is_some_and(is_comment)
    }

    pub(super) fn dbms(&self) -> Option<Dbms> {
        self.dbms
    }

    pub(super) fn tokens(&self) -> &[TokenWithSpan] {
        &self.tokens
    }

    /// The bytes of a part of the text.
    pub(super) fn range(&self, span: Span) -> Range<usize> {
        self.places.range(span).unwrap_or(0..self.text.len())
    }

    fn begins_conditional(&self, span: Span) -> bool {
        let text = self
            .places
            .byte(span.start)
            .and_then(|at| self.text.get(at..));
        text.is_some_and(|text| text.starts_with("/*!") || text.starts_with("/*M!"))
    }

    /// Parameters as drivers write them, `$1`, `?`, `@name`: as they are written.
    pub fn foreign(&self) -> Vec<SqlParameter> {
        let next = self.tokens.iter().skip(1).map(Some).chain([None]);
        let tokens = self.tokens.iter().zip(next);
        let found = tokens.filter_map(|(TokenWithSpan { token, span }, next)| {
            let (name, end) = match token {
                Token::Placeholder(name) if !name.starts_with(':') => (name.clone(), span.end),
                Token::Colon | Token::AtSign if self.dbms != Some(Dbms::Postgres) => {
                    let name = next.filter(|next| next.span.start == span.end)?;
                    if !matches!(name.token, Token::Word(_) | Token::Number(..)) {
                        return None;
                    }
                    (format!("{token}{}", name.token), name.span.end)
                }
                // `@@name` is a setting of MySQL's.
                Token::Word(word)
                    if word.quote_style.is_none()
                        && word.value.starts_with('@')
                        && !word.value.starts_with("@@") =>
                {
                    (word.value.clone(), span.end)
                }
                _ => return None,
            };
            let span = self.range(Span::new(span.start, end));
            Some(SqlParameter { name, span })
        });
        found.collect()
    }

    /// What stops a text from being read as a query, whatever its grammar.
    pub(super) fn refusal(&self) -> Option<UnreadableSql> {
        let is_mysql = matches!(self.dbms, Some(Dbms::Mysql | Dbms::Mariadb));
        for TokenWithSpan { token, span } in self.tokens.iter().filter(|_| is_mysql) {
            let (said, instead) = match token {
                // What stands in it, the tokenizer gives as if it stood there.
                _ if self.begins_conditional(*span) => ("/*!".to_owned(), "leave it out"),
                Token::Word(word) if word.keyword == Keyword::XOR => {
                    ("XOR".to_owned(), "write it with AND, OR and NOT")
                }
                // A hint may set whatever decides what the query gives.
                Token::Whitespace(Whitespace::MultiLineComment(hint))
                    if hint.starts_with('+') && hint.to_uppercase().contains("SET_VAR") =>
                {
                    ("SET_VAR".to_owned(), "leave it out")
                }
                Token::StringConcat | Token::Overlap => {
                    (token.to_string(), "write CONCAT, OR, AND")
                }
                _ => continue,
            };
            return Some(UnreadableSql::Ambiguous(said, instead));
        }
        if let Some(foreign) = self.foreign().into_iter().next() {
            return Some(UnreadableSql::Parameter(foreign.name));
        }
        let is_word = |token: &&Token| !matches!(token, Token::Whitespace(_));
        let tokens = self.tokens.iter().map(|token| &token.token);
        let tokens: Vec<&Token> = tokens.filter(is_word).collect();
        let says = |place: &[&Token], words: &[&str]| {
            let mut pairs = place.iter().zip(words);
            pairs.all(|(token, word)| matches!(token, Token::Word(own) if own.quote_style.is_none() && own.value.eq_ignore_ascii_case(word)))
        };
        let locks = |lock: &&&[&str]| tokens.windows(lock.len()).any(|place| says(place, lock));
        let lock = LOCKS.iter().find(locks)?;
        Some(UnreadableSql::Locks(lock.join(" ")))
    }
}

/// A name in quotes has its quotes twice where they stand within it.
fn undouble(word: &mut Word) {
    let quote = match word.quote_style {
        Some('[') => ']',
        Some(quote) => quote,
        None => return,
    };
    word.value = word
        .value
        .replace(&format!("{quote}{quote}"), &quote.to_string());
}

/// What stands in a text between these quotes.
pub(super) fn unescaped(text: &str, quote: char, dbms: Option<Dbms>) -> String {
    let has_escapes = dialect(dbms).supports_string_literal_backslash_escape();
    let mut found = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != quote && (letter != '\\' || !has_escapes) {
            found.push(letter);
            continue;
        }
        let next = letters.next();
        let letter = match next {
            _ if letter == quote => quote,
            Some('0') => '\0',
            Some('b') => '\u{8}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('Z') => '\u{1a}',
            // Of a pattern they are the letters themselves.
            Some(sign @ ('%' | '_')) => {
                found.push('\\');
                sign
            }
            Some(other) => other,
            None => letter,
        };
        found.push(letter);
    }
    found
}

/// The statements of a piece of SQL.
pub(super) fn statements(sql: &Sql, dbms: Dbms) -> Result<Vec<Statement>, UnreadableSql> {
    let dialect = dialect(Some(dbms));
    let parser = Parser::new(dialect.as_ref()).with_recursion_limit(128);
    let mut parser = parser.with_tokens_with_locations(sql.tokens().to_vec());
    let read = parser.parse_statements();
    read.map_err(|error| UnreadableSql::Syntax(error.to_string()))
}

/// An expression; `None` where the parser does not take it.
pub(super) fn expression(text: &str, dbms: Dbms) -> Option<Expr> {
    let sql = Sql::read(text, Some(dbms)).ok()?;
    let dialect = dialect(Some(dbms));
    let mut parser =
        Parser::new(dialect.as_ref()).with_tokens_with_locations(sql.tokens().to_vec());
    parser.parse_expr().ok()
}

/// A text as SQL takes it: between quotes.
pub fn literal(text: &str, dbms: Dbms) -> String {
    let mut text = text.replace('\'', "''");
    if dialect(Some(dbms)).supports_string_literal_backslash_escape() {
        text = text.replace('\\', r"\\");
    }
    format!("'{text}'")
}

/// Whether a number is written in hexadecimal digits.
pub(super) fn is_hexadecimal(number: &str) -> bool {
    number.starts_with("0x")
}

/// Whether a value may end with a token.
fn ends_value(token: &Token) -> bool {
    matches!(
        token,
        Token::Word(_)
            | Token::Number(..)
            | Token::RParen
            | Token::RBracket
            | Token::Placeholder(_)
    )
}

/// How queries lock the rows that they read.
const LOCKS: [&[&str]; 5] = [
    &["FOR", "UPDATE"],
    &["FOR", "NO", "KEY", "UPDATE"],
    &["FOR", "SHARE"],
    &["FOR", "KEY", "SHARE"],
    &["LOCK", "IN", "SHARE", "MODE"],
];

/// How a product writes SQL.
pub(super) fn dialect(dbms: Option<Dbms>) -> Box<dyn Dialect> {
    match dbms {
        Some(Dbms::Postgres) => Box::new(PostgreSqlDialect {}),
        Some(Dbms::Mysql | Dbms::Mariadb) => Box::new(MySqlDialect {}),
        Some(Dbms::Sqlite) => Box::new(SQLiteDialect {}),
        None => Box::new(GenericDialect {}),
    }
}

/// The bytes at which lines and columns stand: the parser counts letters.
#[derive(Debug, Clone, Default)]
struct ByteOffsets {
    /// Of each letter, and of the end.
    letters: Vec<usize>,
    /// The letter that each line begins with.
    lines: Vec<usize>,
}

impl ByteOffsets {
    fn new(text: &str) -> Self {
        let letters = text.char_indices().map(|(at, _)| at);
        let after = text.chars().enumerate();
        let after = after.filter_map(|(at, letter)| (letter == '\n').then_some(at + 1));
        Self {
            letters: letters.chain([text.len()]).collect(),
            lines: std::iter::once(0).chain(after).collect(),
        }
    }

    /// Lines and columns count from 1.
    fn byte(&self, place: Location) -> Option<usize> {
        let line = usize::try_from(place.line.checked_sub(1)?).ok()?;
        let column = usize::try_from(place.column.checked_sub(1)?).ok()?;
        let letter = self.lines.get(line)?.checked_add(column)?;
        self.letters.get(letter).copied()
    }

    fn range(&self, span: Span) -> Option<Range<usize>> {
        Some(self.byte(span.start)?..self.byte(span.end)?)
    }
}
