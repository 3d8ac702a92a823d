//! What a pattern says besides its key: the filter, and attributes with the SQL columns that they
//! are called otherwise.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use dynafold_dynamodb::Attribute;
use dynafold_relational::catalog::{DataType, Dbms, TypeFamily};

use super::align::{KnownAttributes, attributes_like};
use super::bind::PatternBinder;
use super::keys::AskedKey;
use crate::diagnostic::{Code, nearest};
use crate::expression::{self, Comparand, ExpressionPiece};
use crate::model::{FilterExpression, FilterOperand, ParameterKind};
use crate::resolve::anchor::TemplateAnchor;

/// Why a column's values, as they stand in items, are never equal to a constant, and what to write.
fn differs(name: &str, data_type: &DataType, value: &Attribute) -> Option<(String, String)> {
    let (is, help) = match (data_type, value) {
        // MySQL keeps what is no member as empty text.
        (DataType::Enum { values }, Attribute::S(text)) if !text.is_empty() => {
            if values.iter().any(|value| **value == **text) {
                return None;
            }
            let help = match nearest(text, values.iter().map(String::as_str)) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("its values are {}", values.join(", ")),
            };
            return Some((format!("`{name}` has no such value"), help));
        }
        (_, Attribute::S(_)) => match data_type.family() {
            TypeFamily::Number => ("a number, and this is text", "write it without quotes"),
            TypeFamily::Boolean => ("true or false, and this is text", "write it without quotes"),
            _ => return None,
        },
        (_, Attribute::N(_)) => match data_type.family() {
            TypeFamily::Text | TypeFamily::Time => {
                ("text, and this is a number", "put it in quotes")
            }
            TypeFamily::Boolean => ("true or false, and this is a number", "write true or false"),
            _ => return None,
        },
        (_, Attribute::Bool(_)) => match data_type.family() {
            TypeFamily::Text | TypeFamily::Time => ("text, and this is not", "put it in quotes"),
            TypeFamily::Number => ("a number, and this is not", "write a number"),
            _ => return None,
        },
        _ => return None,
    };
    Some((format!("`{name}` is {is}"), help.to_owned()))
}

/// Bytes of an expression that DynamoDB takes.
const MOST_BYTES: usize = 4096;

impl PatternBinder<'_> {
    /// The filter expression, with every name and value replaced.
    pub(super) fn filter(&mut self, keys: &AskedKey<'_>) -> Option<FilterExpression> {
        let node = self.raw.filter.as_ref()?;
        let text = node.text()?;
        let anchor = TemplateAnchor::new(&node.span, text);
        let pieces = match expression::parse(text) {
            Ok(pieces) => pieces,
            Err(error) => {
                let at = if error.span.is_empty() {
                    0..text.len()
                } else {
                    error.span
                };
                let help = "write a filter expression of DynamoDB with the attributes' own names, texts in single quotes, and parameters as `:name`: state = :state AND size(note) > 10";
                self.report(Code::Filter, anchor.range(&at), error.message, help);
                return None;
            }
        };
        self.holds(&pieces, node.span.clone());
        let mut filter = FilterExpression {
            text: String::new(),
            names: Vec::new(),
            values: Vec::new(),
            ranges: ranges(&pieces),
        };
        let mut attributes = BTreeSet::new();
        for piece in pieces {
            let mut value = |operand| {
                filter.values.push(operand);
                format!(" :f{}", filter.values.len() - 1)
            };
            let written = match piece {
                ExpressionPiece::Word(word) => {
                    if !filter.text.is_empty() {
                        filter.text.push(' ');
                    }
                    word
                }
                ExpressionPiece::Step(step) => step,
                ExpressionPiece::Name {
                    name,
                    is_attribute,
                    span,
                } => {
                    if is_attribute {
                        let span = anchor.range(&span);
                        if attributes.insert(name.clone()) {
                            self.filtered(&name, span.clone(), keys);
                            self.is_answerable(&name, &span, keys);
                        }
                        filter.text.push(' ');
                    }
                    let name: Arc<str> = name.into();
                    let at = filter.names.iter().position(|other| *other == name);
                    let at = at.unwrap_or(filter.names.len());
                    if at == filter.names.len() {
                        filter.names.push(name);
                    }
                    format!("#f{at}")
                }
                ExpressionPiece::Parameter {
                    name,
                    against,
                    is_ordered,
                } => {
                    let (at, kind) = self.compared(&name, &against);
                    if is_ordered && kind == Some(ParameterKind::Boolean) {
                        let message = format!(
                            "`:{name}` is true or false, and DynamoDB does not compare these by order"
                        );
                        let help = "compare it with `=` or `<>`";
                        self.report(Code::Filter, node.span.clone(), message, help);
                    }
                    value(FilterOperand::Parameter(at))
                }
                ExpressionPiece::Constant(constant) => value(FilterOperand::Constant(constant)),
            };
            filter.text.push_str(&written);
        }
        filter.text = std::mem::take(&mut filter.text).trim().into();
        if filter.text.len() > MOST_BYTES {
            let message = format!(
                "the filter has {} bytes after its names and values are replaced, and DynamoDB accepts {MOST_BYTES}",
                filter.text.len()
            );
            let help = "filter a part of it in the application";
            self.report(Code::Filter, anchor.range(&(0..text.len())), message, help);
        }
        Some(filter)
    }

    /// Tells of a filter that no item passes, because an attribute never has the constant that it is to be equal to.
    fn holds(&mut self, pieces: &[ExpressionPiece], span: Range<usize>) {
        use ExpressionPiece::{Constant, Name, Word};
        let is_word =
            |piece: &ExpressionPiece, word: &str| matches!(piece, Word(own) if own == word);
        // Only what must hold of every item is judged.
        if pieces.iter().any(|p| is_word(p, "OR") || is_word(p, "NOT")) {
            return;
        }
        let why = (0..pieces.len()).find_map(|at| match pieces.get(at..)? {
            [Name { name, .. }, sign, Constant(value), ..]
            | [Constant(value), sign, Name { name, .. }, ..]
                if is_word(sign, "=") =>
            {
                self.never(name, value)
            }
            [Name { name, .. }, sign, list @ ..] if is_word(sign, "IN") => {
                let list = list.iter().take_while(|piece| !is_word(piece, ")"));
                let values = list.filter(|piece| !matches!(piece, Word(_)));
                let never = values.map(|piece| match piece {
                    Constant(value) => self.never(name, value),
                    _ => None,
                });
                never.collect::<Option<Vec<_>>>()?.into_iter().next()
            }
            _ => None,
        });
        if let Some((why, help)) = why {
            let message = format!("the filter never holds, so no item is returned: {why}");
            self.report(Code::NeverMatches, span, message, help);
        }
    }

    /// Why an attribute is never equal to a constant in any item that is promised, and what to write, by the types of
    /// the columns.
    fn never(&self, name: &str, value: &Attribute) -> Option<(String, String)> {
        // SQLite keeps any value in any column.
        if self.context.catalog?.dbms == Dbms::Sqlite {
            return None;
        }
        let reasons = self.promised().filter(|make| make.may_have(name));
        let reasons = reasons.map(|make| {
            let column = make.template(name)?.single()?.plain_column()?;
            differs(name, make.types.get(column)?.as_ref()?, value)
        });
        reasons.collect::<Option<Vec<_>>>()?.into_iter().next()
    }

    /// DynamoDB takes no attribute of the key that is asked in a filter.
    fn filtered(&mut self, name: &str, span: Range<usize>, keys: &AskedKey<'_>) {
        if keys.has(name) {
            let message = format!(
                "`{name}` is a key attribute of {}, which a filter cannot use",
                keys.called()
            );
            let help = format!("ask for it in the key condition, under `key`: {name}: …");
            self.report(Code::Filter, span, message, help);
        }
    }

    /// Whether items have an attribute, and what is asked holds it.
    fn is_answerable(&mut self, name: &str, span: &Range<usize>, keys: &AskedKey<'_>) {
        let context = self.context;
        let makes = || self.promised();
        let is_faulty = self.raw.items.iter().any(|item| {
            let mut makes = context.makes.iter();
            makes.all(|make| *make.name != *item.value)
        });
        if context.is_complete && !is_faulty && makes().all(|make| !make.may_have(name)) {
            let message = format!("no returned item has an attribute `{name}`");
            let help = attributes_like(name, makes());
            self.report(Code::UnknownAttribute, span.clone(), message, help);
        } else if !keys.holds(name, context.table) {
            let what = keys.called();
            let message = format!("`{name}` is not projected into {what}");
            let help = format!("project it: add `{name}` to `project` of {what}, or ask the table");
            self.report(Code::NotProjected, span.clone(), message, help);
        }
    }

    /// Attributes with the SQL columns that they are called otherwise.
    pub(super) fn answer(&mut self, keys: &AskedKey<'_>) -> Vec<(String, String)> {
        for (attribute, _) in &self.raw.answer {
            let mut parts = attribute.value.split('.');
            let first = parts.next().unwrap_or_default();
            // `PARCEL.no` is the attribute of one item type alone.
            let is_item = self.raw.items.iter().any(|item| item.value == first);
            let name = parts.next().filter(|_| is_item).unwrap_or(first);
            self.is_answerable(name, &attribute.span, keys);
        }
        let pairs = self.raw.answer.iter();
        pairs
            .map(|(attribute, column)| (attribute.value.clone(), column.value.clone()))
            .collect()
    }

    /// A parameter of a filter, which is of the type that it is held against.
    fn compared(&mut self, name: &str, against: &Comparand) -> (usize, Option<ParameterKind>) {
        let at = self.parameters.named(name);
        let kind = match against {
            Comparand::Size => Some(ParameterKind::Number),
            Comparand::Type => Some(ParameterKind::Text),
            Comparand::Unknown => None,
            Comparand::Attribute(attribute) => {
                // Item types that do not come back may have another attribute of that name.
                self.promised().find_map(|make| kind_in(make, attribute))
            }
        };
        match kind {
            Some(kind) => self.parameters.set_column_kind(at, kind),
            // Text would be compared with numbers, and never be equal.
            None if self.context.catalog.is_none() => {
                self.parameters.note(at, |draft| draft.is_unsure = true);
            }
            None => {}
        }
        (at, kind)
    }
}

/// The values with which a BETWEEN begins that ends with a value too.
fn ranges(pieces: &[ExpressionPiece]) -> Vec<usize> {
    let is_value = |piece: &ExpressionPiece| {
        matches!(
            piece,
            ExpressionPiece::Parameter { .. } | ExpressionPiece::Constant(_)
        )
    };
    let mut values = 0;
    let mut found = Vec::new();
    for at in 0..pieces.len() {
        if let Some([ExpressionPiece::Word(word), low, _, high, ..]) = pieces.get(at..)
            && word == "BETWEEN"
            && is_value(low)
            && is_value(high)
        {
            found.push(values);
        }
        values += usize::from(pieces.get(at).is_some_and(is_value));
    }
    found
}

/// How the values of an attribute are read, where that is known.
fn kind_in(make: &KnownAttributes, attribute: &str) -> Option<ParameterKind> {
    let Some(only) = make.template(attribute)?.single() else {
        // Text around a value makes text of it.
        return Some(ParameterKind::Text);
    };
    match only.family {
        _ if only.filters.is_empty() => make.kind(only),
        TypeFamily::Number => Some(ParameterKind::Number),
        TypeFamily::Boolean => Some(ParameterKind::Boolean),
        TypeFamily::Text | TypeFamily::Time => Some(ParameterKind::Text),
        _ => None,
    }
}
