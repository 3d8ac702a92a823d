//! SQL as tokens: where its parameters stand, values put in their place, and what stops it from being read.

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
    /// Where it stands in the text, in bytes, with the colon.
    pub span: Range<usize>,
}

/// A piece of SQL, taken apart into tokens.
#[derive(Debug, Clone, Default)]
pub struct Sql {
    text: String,
    dbms: Option<Dbms>,
    parameters: Vec<SqlParameter>,
    tokens: Vec<TokenWithSpan>,
    offsets: ByteOffsets,
}

impl Sql {
    /// Takes SQL apart by the rules of a database; without one, by those that most databases share.
    ///
    /// # Errors
    ///
    /// [`UnreadableSql`] where a text or a comment does not end.
    pub fn read(text: &str, dbms: Option<Dbms>) -> Result<Self, UnreadableSql> {
        let offsets = ByteOffsets::new(text);
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
                // In SQLite `0x1F` is a number and `X'1F'` is none; the tokenizer makes one token of both.
                Token::HexStringLiteral(_) => {
                    let written = offsets.range(token.span).and_then(|range| text.get(range));
                    if let Some(number) = written.filter(|written| written.starts_with('0')) {
                        token.token = Token::Number(number.to_owned(), false);
                    }
                }
                Token::LBracket => brackets += 1,
                Token::RBracket => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            let Some((name, span)) = parameter(&tokens, &token, brackets > 0) else {
                tokens.push(token);
                continue;
            };
            // In the place of the colon.
            tokens.pop();
            tokens.push(TokenWithSpan {
                token: Token::Placeholder(format!(":{name}")),
                span,
            });
            parameters.extend(offsets.range(span).map(|span| SqlParameter { name, span }));
        }
        Ok(Self {
            text: text.to_owned(),
            dbms,
            parameters,
            tokens,
            offsets,
        })
    }

    /// All uses of parameters, in the order of the text.
    pub fn parameters(&self) -> &[SqlParameter] {
        &self.parameters
    }

    /// The text with its parameters replaced by their values; those for which `value_of` gives `None` stay.
    pub fn fill(&self, value_of: &dyn Fn(&str) -> Option<String>) -> String {
        let mut filled = String::with_capacity(self.text.len());
        let mut from = 0;
        for SqlParameter { name, span } in &self.parameters {
            if let Some(value) = value_of(name) {
                filled.push_str(self.text.get(from..span.start).unwrap_or_default());
                // Behind another minus it would begin a comment.
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

    /// Whether a text of one line ends in a comment. Where YAML has folded several lines into it, the later ones are lost in that
    /// comment.
    pub fn ends_in_comment(&self) -> bool {
        let is_comment = |token: &TokenWithSpan| {
            matches!(
                token.token,
                Token::Whitespace(Whitespace::SingleLineComment { .. })
            )
        };
        !self.text.trim().contains('\n') && self.tokens.last().is_some_and(is_comment)
    }

    /// Whether it seems to name a column of a table that is called so, in any case: the name with a point behind it.
    pub fn names_column_of(&self, table: &str) -> bool {
        let table = table.to_lowercase();
        let is_it = |token: &Token| match token {
            Token::Word(word) => word.value.to_lowercase() == table,
            // SQLite takes a text for a name there, and MySQL a `"…"`, depending on the server's settings.
            Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => {
                text.to_lowercase() == table
            }
            _ => false,
        };
        let mut pairs = self.signs().zip(self.signs().skip(1));
        pairs.any(|(name, next)| *next == Token::Period && is_it(name))
    }

    pub(super) fn dbms(&self) -> Option<Dbms> {
        self.dbms
    }

    pub(super) fn tokens(&self) -> &[TokenWithSpan] {
        &self.tokens
    }

    /// The tokens without white space and comments.
    pub(super) fn signs(&self) -> impl Iterator<Item = &Token> {
        let tokens = self.tokens.iter().map(|token| &token.token);
        tokens.filter(|token| !matches!(token, Token::Whitespace(_)))
    }

    /// The bytes of a part of the text.
    pub(super) fn range(&self, span: Span) -> Range<usize> {
        self.offsets.range(span).unwrap_or(0..self.text.len())
    }

    /// Whether a comment begins here that MySQL or MariaDB executes.
    fn begins_conditional(&self, span: Span) -> bool {
        let start = self.offsets.byte(span.start);
        let text = start.and_then(|at| self.text.get(at..));
        text.is_some_and(|text| text.starts_with("/*!") || text.starts_with("/*M!"))
    }

    /// Uses of parameters that are written as drivers write them, `$1`, `?` or `@name`, under the names that are written there.
    pub fn foreign_parameters(&self) -> Vec<SqlParameter> {
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
        let foreign = || {
            let parameter = self.foreign_parameters().into_iter().next()?;
            Some(UnreadableSql::Parameter(parameter.name))
        };
        self.ambiguity()
            .or_else(foreign)
            .or_else(|| self.lock().map(UnreadableSql::Locks))
    }

    /// What MySQL and MariaDB read otherwise than the parser does, or as their settings say.
    fn ambiguity(&self) -> Option<UnreadableSql> {
        let is_mysql = matches!(self.dbms, Some(Dbms::Mysql | Dbms::Mariadb));
        for TokenWithSpan { token, span } in self.tokens.iter().filter(|_| is_mysql) {
            let (written, instead) = match token {
                // The tokenizer gives what stands in such a comment as if it stood outside.
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
                Token::StringConcat | Token::Overlap => (
                    token.to_string(),
                    "write CONCAT or OR for `||`, and AND for `&&`",
                ),
                _ => continue,
            };
            return Some(UnreadableSql::Ambiguous(written, instead));
        }
        None
    }

    /// The words by which it locks the rows that it reads.
    fn lock(&self) -> Option<String> {
        let tokens: Vec<&Token> = self.signs().collect();
        let says = |place: &[&Token], words: &[&str]| {
            let mut pairs = place.iter().zip(words);
            pairs.all(|(token, word)| is_word(token, word))
        };
        let locks = |lock: &&&[&str]| tokens.windows(lock.len()).any(|place| says(place, lock));
        Some(LOCKS.iter().find(locks)?.join(" "))
    }
}

/// The name and the span of a parameter, if a token ends one: a word right behind a colon.
fn parameter(
    earlier: &[TokenWithSpan],
    token: &TokenWithSpan,
    in_brackets: bool,
) -> Option<(String, Span)> {
    let (colon, before) = earlier.split_last()?;
    let Token::Word(word) = &token.token else {
        return None;
    };
    // `list[1:last]` is a part of a list.
    let is_part = in_brackets && before.last().is_some_and(|last| ends_value(&last.token));
    let is_parameter = colon.token == Token::Colon
        && colon.span.end == token.span.start
        && word.quote_style.is_none()
        && !is_part;
    is_parameter.then(|| {
        let span = Span::new(colon.span.start, token.span.end);
        (word.value.clone(), span)
    })
}

/// Whether a token is this word, in any case, without quotes.
pub(super) fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(own) if own.quote_style.is_none() && own.value.eq_ignore_ascii_case(word))
}

/// Takes one of each two quotes within a name in quotes, which has them twice.
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

/// The text that a literal in these quotes stands for, from what is written between them.
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
            // LIKE takes these for the letters themselves, and needs the backslash for it.
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

/// How deep the parts of a query may be nested.
pub(super) const DEPTH: usize = 128;

/// Parses the statements of a piece of SQL.
pub(super) fn statements(sql: &Sql, dbms: Dbms) -> Result<Vec<Statement>, UnreadableSql> {
    let dialect = dialect(Some(dbms));
    let parser = Parser::new(dialect.as_ref()).with_recursion_limit(DEPTH);
    let mut parser = parser.with_tokens_with_locations(sql.tokens().to_vec());
    let read = parser.parse_statements();
    read.map_err(|error| UnreadableSql::Syntax(error.to_string()))
}

/// Parses an expression; `None` where the parser does not take it.
pub(super) fn expression(text: &str, dbms: Dbms) -> Option<Expr> {
    let sql = Sql::read(text, Some(dbms)).ok()?;
    let dialect = dialect(Some(dbms));
    let mut parser =
        Parser::new(dialect.as_ref()).with_tokens_with_locations(sql.tokens().to_vec());
    parser.parse_expr().ok()
}

/// A text as a literal, in quotes.
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

/// The parser's rules for a database.
pub(super) fn dialect(dbms: Option<Dbms>) -> Box<dyn Dialect> {
    match dbms {
        Some(Dbms::Postgres) => Box::new(PostgreSqlDialect {}),
        Some(Dbms::Mysql | Dbms::Mariadb) => Box::new(MySqlDialect {}),
        Some(Dbms::Sqlite) => Box::new(SQLiteDialect {}),
        None => Box::new(GenericDialect {}),
    }
}

/// Where lines and columns stand in a text, in bytes: the parser counts characters.
#[derive(Debug, Clone, Default)]
struct ByteOffsets {
    /// Of each character, and of the end.
    characters: Vec<usize>,
    /// The number of the character that each line begins with.
    lines: Vec<usize>,
}

impl ByteOffsets {
    fn new(text: &str) -> Self {
        let starts = text.char_indices().map(|(at, _)| at);
        let characters = text.chars().enumerate();
        let later_lines = characters.filter_map(|(at, one)| (one == '\n').then_some(at + 1));
        Self {
            characters: starts.chain([text.len()]).collect(),
            lines: std::iter::once(0).chain(later_lines).collect(),
        }
    }

    /// Lines and columns count from 1.
    fn byte(&self, place: Location) -> Option<usize> {
        let line = usize::try_from(place.line.checked_sub(1)?).ok()?;
        let column = usize::try_from(place.column.checked_sub(1)?).ok()?;
        let character = self.lines.get(line)?.checked_add(column)?;
        self.characters.get(character).copied()
    }

    fn range(&self, span: Span) -> Option<Range<usize>> {
        Some(self.byte(span.start)?..self.byte(span.end)?)
    }
}
