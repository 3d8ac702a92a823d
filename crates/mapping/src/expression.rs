//! Filter expressions of access patterns: DynamoDB's language, with attribute names and values as
//! they are.
//!
//! `state = :state AND (size(note) > 10 OR attribute_not_exists(ends))`. Names need no `#`, since
//! all of them are replaced; `` `odd name` `` stands in backquotes. Values are parameters, `:state`,
//! or constants: `'text'`, a number, `true`, `false`, `null`.

use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

use dynafold_dynamodb::{Attribute, sort_order};
use dynafold_relational::value::Number;

#[cfg(test)]
mod tests;

/// A piece of an expression, in the order of the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExpressionPiece {
    /// An operator, a parenthesis, a function.
    Word(String),
    /// An attribute's name, or a member's within it.
    Name {
        /// The name.
        name: String,
        /// Whether it is the attribute itself.
        is_attribute: bool,
        /// Bytes of the text.
        span: Range<usize>,
    },
    /// The position in a list, or the point before a member: without space around it.
    Step(String),
    /// A value that the caller gives.
    Parameter {
        /// Its name.
        name: String,
        /// What it is held against.
        against: Comparand,
        /// Whether it is compared by order.
        is_ordered: bool,
    },
    /// A value that stands there.
    Constant(Attribute),
}

impl ExpressionPiece {
    fn is_one_of(&self, words: &[&str]) -> bool {
        matches!(self, Self::Word(own) if words.contains(&own.as_str()))
    }
}

/// What a value is held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Comparand {
    Attribute(String),
    /// The size of one, which is a number.
    Size,
    /// The type of one, which is text.
    Type,
    /// A member of a document, or another value.
    Unknown,
}

/// A fault in an expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExpressionError {
    /// Bytes of the text.
    pub(super) span: Range<usize>,
    /// What is wrong, one line.
    pub(super) message: String,
}

/// Takes an expression apart.
pub(super) fn parse(text: &str) -> Result<Vec<ExpressionPiece>, ExpressionError> {
    let mut parser = ExpressionParser {
        tokens: tokens(text)?.into_iter().peekable(),
        end: text.len(),
        pieces: Vec::new(),
        against: Comparand::Unknown,
        level: 0,
    };
    parser.either()?;
    match parser.tokens.next() {
        None => Ok(parser.pieces),
        Some((token, span)) => Err(fault(
            span,
            format!("{} is not expected here", token.shown()),
        )),
    }
}

fn fault(span: Range<usize>, message: impl Into<String>) -> ExpressionError {
    ExpressionError {
        span,
        message: message.into(),
    }
}

struct ExpressionParser {
    tokens: Peekable<IntoIter<(Token, Range<usize>)>>,
    end: usize,
    pieces: Vec<ExpressionPiece>,
    /// The other side of the comparison that is being read.
    against: Comparand,
    /// How many parentheses and negations stand around what is read.
    level: usize,
}

/// How deep an expression may be nested: DynamoDB takes 300 operators and 4 KB (limits.md), and people fewer.
const MAX_LEVELS: usize = 100;
/// Levels of a path that DynamoDB takes: names and positions.
const MOST_LEVELS: usize = 32;
/// Values that DynamoDB takes in one IN.
const MOST_IN: usize = 100;

/// The operators that compare by order.
const ORDERED: [&str; 5] = ["<", "<=", ">", ">=", "BETWEEN"];
/// What `attribute_type` takes.
const TYPES: [&str; 10] = ["S", "SS", "N", "NS", "B", "BS", "BOOL", "NULL", "L", "M"];

const FUNCTIONS: [(&str, usize); 5] = [
    ("attribute_exists", 1),
    ("attribute_not_exists", 1),
    ("attribute_type", 2),
    ("begins_with", 2),
    ("contains", 2),
];

impl ExpressionParser {
    fn next_is(&mut self, wanted: impl Fn(&Token) -> bool) -> bool {
        self.tokens.peek().is_some_and(|(token, _)| wanted(token))
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.next_is(|token| token.is_word(word));
        if found {
            self.tokens.next();
            self.pieces.push(ExpressionPiece::Word(word.to_owned()));
        }
        found
    }

    fn take_sign(&mut self, wanted: &[&str]) -> bool {
        let Some((Token::Sign(sign), _)) = self.tokens.peek() else {
            return false;
        };
        let found = wanted.contains(sign);
        if found {
            self.pieces.push(ExpressionPiece::Word((*sign).to_owned()));
            self.tokens.next();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), ExpressionError> {
        if self.take_sign(&[sign]) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{sign}`")))
    }

    /// Where the next token begins.
    fn here(&mut self) -> usize {
        let next = self.tokens.peek();
        next.map_or(self.end, |(_, span)| span.start)
    }

    fn unexpected(&mut self, wanted: &str) -> ExpressionError {
        match self.tokens.peek() {
            Some((token, span)) => fault(
                span.clone(),
                format!("{wanted} is expected, not {}", token.shown()),
            ),
            None => fault(
                self.end..self.end,
                format!("{wanted} is missing at the end"),
            ),
        }
    }

    fn either(&mut self) -> Result<(), ExpressionError> {
        self.both()?;
        while self.take_word("OR") {
            self.both()?;
        }
        Ok(())
    }

    fn both(&mut self) -> Result<(), ExpressionError> {
        self.one()?;
        while self.take_word("AND") {
            self.one()?;
        }
        Ok(())
    }

    fn one(&mut self) -> Result<(), ExpressionError> {
        if self.level > MAX_LEVELS {
            let from = self.here();
            return Err(fault(
                from..from,
                format!("the filter nests deeper than {MAX_LEVELS} levels"),
            ));
        }
        self.level += 1;
        let read = self.negated();
        self.level -= 1;
        read
    }

    fn negated(&mut self) -> Result<(), ExpressionError> {
        if self.take_word("NOT") {
            return self.one();
        }
        if self.take_sign(&["("]) {
            let open = self.pieces.len();
            self.either()?;
            self.expect(")")?;
            self.simplify(open);
            return Ok(());
        }
        self.against = Comparand::Unknown;
        let (begin, from) = (self.here(), self.pieces.len());
        self.comparison()?;
        let own = self.pieces.get_mut(from..).unwrap_or_default();
        let by_order = own.iter().any(|piece| piece.is_one_of(&ORDERED));
        for piece in &mut *own {
            if let ExpressionPiece::Parameter {
                against,
                is_ordered,
                ..
            } = piece
            {
                *is_ordered = by_order;
                // A value may stand before what it is held against.
                if *against == Comparand::Unknown {
                    against.clone_from(&self.against);
                }
            }
        }
        match refused(own) {
            Some(message) => Err(fault(begin..begin, message)),
            None => Ok(()),
        }
    }

    /// Takes away the parentheses behind which a place is, if all within them is in parentheses too:
    /// DynamoDB refuses such as redundant.
    fn simplify(&mut self, open: usize) {
        let is = |piece: &ExpressionPiece, sign: &str| matches!(piece, ExpressionPiece::Word(word) if word == sign);
        let within = self.pieces.get(open..self.pieces.len() - 1);
        let mut depth = 0_usize;
        let ends = within.unwrap_or_default().iter().map(|piece| {
            depth += usize::from(is(piece, "("));
            depth -= usize::from(is(piece, ")"));
            depth
        });
        let first = ends.enumerate().find(|(_, depth)| *depth == 0);
        // Within a comparison nothing is in parentheses from the first piece on.
        if first.is_some_and(|(at, _)| at > 0 && open + at + 2 == self.pieces.len()) {
            self.pieces.pop();
            self.pieces.remove(open);
        }
    }

    fn comparison(&mut self) -> Result<(), ExpressionError> {
        for (name, arguments) in FUNCTIONS {
            if self.take_word(name) {
                self.expect("(")?;
                self.path()?;
                if name == "attribute_type" {
                    self.against = Comparand::Type;
                }
                if arguments == 2 {
                    self.expect(",")?;
                    self.operand()?;
                }
                return self.expect(")");
            }
        }
        self.operand()?;
        if self.take_word("BETWEEN") {
            self.operand()?;
            if !self.take_word("AND") {
                return Err(self.unexpected("`AND`"));
            }
            return self.operand();
        }
        if self.take_word("IN") {
            let from = self.here();
            self.expect("(")?;
            self.operand()?;
            let mut count = 1;
            while self.take_sign(&[","]) {
                self.operand()?;
                count += 1;
            }
            if count > MOST_IN {
                let message =
                    format!("IN takes at most {MOST_IN} values, and this one has {count}");
                return Err(fault(from..self.here(), message));
            }
            return self.expect(")");
        }
        if self.take_sign(&["=", "<>", "<=", ">=", "<", ">"]) {
            return self.operand();
        }
        Err(self.unexpected("a comparison"))
    }

    fn operand(&mut self) -> Result<(), ExpressionError> {
        match self.tokens.peek().cloned() {
            Some((Token::Parameter(name), _)) => {
                self.tokens.next();
                let against = self.against.clone();
                self.pieces.push(ExpressionPiece::Parameter {
                    name,
                    against,
                    is_ordered: false,
                });
                Ok(())
            }
            Some((Token::Constant(value), _)) => {
                self.tokens.next();
                self.pieces.push(ExpressionPiece::Constant(value));
                Ok(())
            }
            Some((token, _)) if token.is_word("size") => {
                self.take_word("size");
                self.expect("(")?;
                self.path()?;
                self.against = Comparand::Size;
                self.expect(")")
            }
            _ => self.path(),
        }
    }

    fn path(&mut self) -> Result<(), ExpressionError> {
        let (from, first) = (self.here(), self.pieces.len());
        self.steps()?;
        let own = self.pieces.get(first..).unwrap_or_default();
        let is_dot =
            |piece: &&ExpressionPiece| matches!(piece, ExpressionPiece::Step(step) if step == ".");
        // A name and the dot before it are one level.
        let levels = own.len() - own.iter().filter(is_dot).count();
        if levels > MOST_LEVELS {
            let message =
                format!("a path has at most {MOST_LEVELS} levels, and this one has {levels}");
            return Err(fault(from..self.here(), message));
        }
        Ok(())
    }

    fn steps(&mut self) -> Result<(), ExpressionError> {
        self.name(true)?;
        loop {
            let Some((Token::Sign(sign), _)) = self.tokens.peek() else {
                return Ok(());
            };
            match *sign {
                "." => {
                    self.tokens.next();
                    self.pieces.push(ExpressionPiece::Step(".".to_owned()));
                    self.name(false)?;
                }
                "[" => {
                    self.tokens.next();
                    match self.tokens.peek().cloned() {
                        Some((Token::Constant(Attribute::N(number)), span))
                            if number
                                .to_string()
                                .bytes()
                                .all(|digit| digit.is_ascii_digit()) =>
                        {
                            if number.to_string().parse::<u32>().is_err() {
                                let message = format!("the highest position is {}", u32::MAX);
                                return Err(fault(span, message));
                            }
                            self.tokens.next();
                            self.pieces
                                .push(ExpressionPiece::Step(format!("[{number}]")));
                        }
                        _ => return Err(self.unexpected("a position")),
                    }
                    if !self.next_is(|token| *token == Token::Sign("]")) {
                        return Err(self.unexpected("`]`"));
                    }
                    self.tokens.next();
                }
                _ => return Ok(()),
            }
            self.against = Comparand::Unknown;
        }
    }

    fn name(&mut self, is_attribute: bool) -> Result<(), ExpressionError> {
        let Some((Token::Name(name, _), span)) = self.tokens.peek().cloned() else {
            return Err(self.unexpected("an attribute"));
        };
        self.tokens.next();
        if is_attribute {
            self.against = Comparand::Attribute(name.clone());
        }
        self.pieces.push(ExpressionPiece::Name {
            name,
            is_attribute,
            span,
        });
        Ok(())
    }
}

/// Why DynamoDB refuses a comparison that is well written.
fn refused(pieces: &[ExpressionPiece]) -> Option<String> {
    let infix = ["=", "<>", "IN"];
    let operator = pieces
        .iter()
        .position(|piece| piece.is_one_of(&ORDERED) || piece.is_one_of(&infix));
    let (before, name, rest) = match operator {
        Some(at) => (pieces.get(..at)?, pieces.get(at)?, pieces.get(at + 1..)?),
        None => (pieces.get(..0)?, pieces.first()?, pieces.get(1..)?),
    };
    let ExpressionPiece::Word(name) = name else {
        return None;
    };
    let list = match rest {
        // Those of a function or of IN; a size has its own.
        [first, within @ .., last] if first.is_one_of(&["("]) && last.is_one_of(&[")"]) => within,
        other => other,
    };
    let operands = list.split(|piece| piece.is_one_of(&[",", "AND"]));
    let operands: Vec<_> = operands.collect();
    let (first, others) = if operator.is_some() {
        (before, operands.as_slice())
    } else {
        let (first, others) = operands.split_first()?;
        (*first, others)
    };
    let path = path_text(first);
    if path.is_some() && others.iter().any(|other| path_text(other) == path) {
        return Some(format!(
            "DynamoDB refuses `{name}` of an attribute with itself"
        ));
    }
    let second = others.first().copied().unwrap_or_default();
    let is_value = matches!(
        second,
        [ExpressionPiece::Constant(_) | ExpressionPiece::Parameter { .. }]
    );
    match name.as_str() {
        "attribute_type" if !is_value => {
            return Some(
                "the second argument of `attribute_type` must be a text or a parameter".to_owned(),
            );
        }
        "begins_with"
            if second
                .first()
                .is_some_and(|piece| piece.is_one_of(&["size"])) =>
        {
            return Some("`begins_with` takes no value of type N".to_owned());
        }
        _ => {}
    }
    let constants = std::iter::once(&first).chain(others);
    let constants: Vec<&Attribute> = constants
        .filter_map(|operand| match operand {
            [ExpressionPiece::Constant(value)] => Some(value),
            _ => None,
        })
        .collect();
    let has_order = |value: &Attribute| match value {
        Attribute::S(_) | Attribute::B(_) => true,
        Attribute::N(_) => name != "begins_with",
        _ => false,
    };
    let is_ordered = ORDERED.contains(&name.as_str());
    if (is_ordered || name == "begins_with")
        && let Some(odd) = constants.iter().find(|value| !has_order(value))
    {
        return Some(format!(
            "`{name}` takes no value of type {}",
            odd.type_name()
        ));
    }
    match (name.as_str(), constants.as_slice()) {
        ("attribute_type", [Attribute::S(kind)]) if TYPES.contains(&&**kind) => None,
        ("attribute_type", [_]) => Some(format!(
            "`attribute_type` takes one of {}",
            TYPES.join(", ")
        )),
        ("BETWEEN", [low, high]) if low.type_name() != high.type_name() => {
            Some("the two values of BETWEEN are of different types".to_owned())
        }
        ("BETWEEN", [low, high]) if sort_order(Some(low), Some(high)).is_gt() => {
            Some("the first value of BETWEEN sorts after the second".to_owned())
        }
        _ => None,
    }
}

/// An operand that is a path, as text.
fn path_text(operand: &[ExpressionPiece]) -> Option<String> {
    let words = operand.iter().map(|piece| match piece {
        ExpressionPiece::Name { name, .. } | ExpressionPiece::Step(name) => Some(name.as_str()),
        _ => None,
    });
    words.collect()
}

/// A word or a sign of an expression.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String, bool),
    Parameter(String),
    Constant(Attribute),
    Sign(&'static str),
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Self::Name(name, _) => format!("`{name}`"),
            Self::Parameter(name) => format!("`:{name}`"),
            Self::Constant(_) => "this value".to_owned(),
            Self::Sign(sign) => format!("`{sign}`"),
        }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Name(name, false) if name.eq_ignore_ascii_case(word))
    }
}

const SIGNS: [&str; 13] = [
    "<>", "<=", ">=", "=", "<", ">", "(", ")", ",", ".", "[", "]", "#",
];

/// Takes a text apart.
fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(sign) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let quoted = |quote: char| {
            let inner = rest.get(1..).unwrap_or_default();
            let length = inner.find(quote);
            let length = length.ok_or_else(|| fault(at..text.len(), "the quote is not closed"))?;
            Ok((inner.get(..length).unwrap_or_default(), length + 2))
        };
        let (token, length) = match sign {
            sign if sign.is_whitespace() => {
                at += sign.len_utf8();
                continue;
            }
            '\'' => {
                let (inner, length) = quoted('\'')?;
                (Token::Constant(Attribute::S(inner.into())), length)
            }
            '`' => {
                let (inner, length) = quoted('`')?;
                (Token::Name(inner.to_owned(), true), length)
            }
            ':' => {
                let name = word(rest.get(1..).unwrap_or_default());
                if name.is_empty() {
                    return Err(fault(at..at + 1, "`:` begins a parameter: `:name`"));
                }
                (Token::Parameter(name.to_owned()), name.len() + 1)
            }
            '0'..='9' | '-' => {
                let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
                let length = rest.find(|c| !inner(c)).unwrap_or(rest.len());
                let written = rest.get(..length).unwrap_or_default();
                let number = Number::parse(written)
                    .map_err(|error| fault(at..at + length, format!("`{written}`: {error}")))?;
                (Token::Constant(Attribute::N(number)), length)
            }
            sign if sign == '_' || sign.is_alphabetic() => {
                let name = word(rest);
                let token = match name {
                    "true" => Token::Constant(Attribute::Bool(true)),
                    "false" => Token::Constant(Attribute::Bool(false)),
                    "null" => Token::Constant(Attribute::Null),
                    name => Token::Name(name.to_owned(), false),
                };
                (token, name.len())
            }
            sign => match SIGNS.iter().find(|known| rest.starts_with(**known)) {
                Some(&"#") => {
                    return Err(fault(
                        at..at + 1,
                        "write names without `#`: Dynafold replaces all of them",
                    ));
                }
                Some(known) => (Token::Sign(known), known.len()),
                None => {
                    let span = at..at + sign.len_utf8();
                    return Err(match sign {
                        '"' => fault(span, "write texts in single quotes: 'text'".to_owned()),
                        sign => fault(span, format!("`{sign}` is not expected here")),
                    });
                }
            },
        };
        tokens.push((token, at..at + length));
        at += length;
    }
    Ok(tokens)
}

/// The name that a text begins with.
fn word(text: &str) -> &str {
    let inner = |c: char| c == '_' || c.is_alphanumeric();
    let length = text.find(|c| !inner(c)).unwrap_or(text.len());
    text.get(..length).unwrap_or_default()
}
