//! A pattern's templates beside those of the items' keys: which column a parameter stands for, how
//! it is to be written, and whether the shards are the same.

use std::ops::Range;
use std::sync::Arc;

use dynafold_relational::catalog::{DataType, TableName};

use crate::diagnostic::did_you_mean;
use crate::model::{AttributeNode, ParameterKind, Placeholder, Template, TemplatePart};
use crate::resolve::ResolvedItem;
use crate::resolve::pass::Passes;
use crate::template::{Escape, Filter};

/// What an item type makes of its attributes, as far as it is known.
#[derive(Debug)]
pub(in crate::resolve) struct KnownAttributes {
    pub(in crate::resolve) name: Arc<str>,
    /// The attributes, with the template of those that have one.
    pub(in crate::resolve) attributes: Vec<(Arc<str>, Option<Template>)>,
    /// Whether documents may give it others.
    pub(in crate::resolve) is_open: bool,
    /// The types of the row's columns, where they are known.
    pub(in crate::resolve) types: Vec<Option<DataType>>,
    /// Columns of tables, with the attributes that an answer has them from: those that are the column or are called like
    /// it, and only where there is none of these, all that are made from it, such as a key with the column in its text.
    pub(in crate::resolve) carried: Vec<(TableName, String, Vec<Arc<str>>)>,
}

impl KnownAttributes {
    /// What a resolved item type makes.
    pub(in crate::resolve) fn of(item: &ResolvedItem, passes: &Passes) -> Self {
        let attributes = item.item.attributes.iter();
        let columns = item.facts.columns.iter();
        let template = |name: &Arc<str>| item.item.template(name).cloned();
        let scan = passes.so_far(item.item.pass);
        let columns_read = 0..scan.map_or(0, |scan| scan.columns.len());
        let carried = columns_read.filter_map(|at| {
            let (table, column) = scan?.origin(at)?;
            let takes = |node: &AttributeNode| node.places().iter().any(|place| place.column == at);
            let is_it = |(name, node): &&(Arc<str>, AttributeNode)| {
                **name == *column || node.carried().is_some_and(|own| own.path.is_empty())
            };
            let all = item.item.attributes.iter();
            let made: Vec<_> = all.filter(|(_, node)| takes(node)).collect();
            let own: Vec<_> = made.iter().copied().filter(is_it).collect();
            let holding = if own.is_empty() { made } else { own };
            let holding: Vec<Arc<str>> = holding.iter().map(|(name, _)| name.clone()).collect();
            (!holding.is_empty()).then(|| (table.clone(), column.to_owned(), holding))
        });
        Self {
            carried: carried.collect(),
            name: item.item.name.clone(),
            attributes: attributes
                .map(|(name, _)| (name.clone(), template(name)))
                .collect(),
            is_open: !item.item.spreads.is_empty(),
            types: columns.map(|column| column.data_type.clone()).collect(),
        }
    }

    pub(super) fn template(&self, attribute: &str) -> Option<&Template> {
        let mut attributes = self.attributes.iter();
        let (_, template) = attributes.find(|(name, _)| **name == *attribute)?;
        template.as_ref()
    }

    pub(super) fn may_have(&self, attribute: &str) -> bool {
        self.is_open || self.attributes.iter().any(|(name, _)| **name == *attribute)
    }

    /// How a value at a place is read, where its column's type tells.
    pub(super) fn kind(&self, placeholder: &Placeholder) -> Option<ParameterKind> {
        if !placeholder.place.path.is_empty() {
            return None;
        }
        kind_of(self.types.get(placeholder.place.column)?.as_ref()?)
    }
}

/// What to write for an attribute that no item has.
pub(super) fn attributes_like<'m>(
    wrong: &str,
    makes: impl Iterator<Item = &'m KnownAttributes>,
) -> String {
    let known = makes.flat_map(|make| make.attributes.iter().map(|(name, _)| &**name));
    did_you_mean(wrong, known)
        .unwrap_or_else(|| "use the attribute's name in the items; `preview` shows them".to_owned())
}

/// How values of a type are read.
pub fn kind_of(data_type: &DataType) -> Option<ParameterKind> {
    Some(match data_type {
        DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Float { .. } => {
            ParameterKind::Number
        }
        DataType::Boolean => ParameterKind::Boolean,
        DataType::Text { .. }
        | DataType::Enum { .. }
        | DataType::Uuid
        | DataType::Interval
        | DataType::Printed => ParameterKind::Text,
        DataType::Date | DataType::Timestamp { .. } | DataType::Time { .. } => {
            ParameterKind::Time(data_type.time())
        }
        DataType::Binary { .. } => ParameterKind::Binary,
        _ => return None,
    })
}

/// A value that a pattern asks for, beside the one that an item's key has there.
#[derive(Debug)]
pub(in crate::resolve) struct AskedValue {
    pub(in crate::resolve) item: Arc<str>,
    /// Where it is written.
    pub(super) span: Range<usize>,
    pub(super) asked: Placeholder,
    pub(super) made: Placeholder,
    /// Whether the value may be the beginning of a longer one.
    pub(super) is_open: bool,
}

/// A pattern's template beside an item's, as far as the texts in them agree.
#[derive(Debug, Default)]
pub struct Aligned<'t> {
    /// The pattern's placeholders by their numbers, each with the item's at the same place.
    pub pairs: Vec<(usize, &'t Placeholder, &'t Placeholder)>,
    /// What the item's template has behind the pattern's; `None` where it does not begin with that.
    pub(super) rest: Option<KeyRest<'t>>,
}

impl Aligned<'_> {
    /// Whether the item's text is the pattern's, whatever its values are; with `is_open` whether it begins with it.
    pub fn is_whole(&self, is_open: bool) -> bool {
        match &self.rest {
            Some(KeyRest::Nothing) => true,
            Some(KeyRest::Begins(_)) => is_open,
            None => false,
        }
    }
}

/// What there is in a key behind a bound.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeyRest<'t> {
    Nothing,
    /// Something that begins with this text, as far as that is known.
    Begins(&'t str),
}

/// Walks over both templates at once, to the end of the pattern's or to where they differ.
pub fn aligned<'t>(asked: &'t Template, made: &'t Template) -> Aligned<'t> {
    let mut found = Aligned::default();
    let (asked, made) = (asked.flat(), made.flat());
    let (mut asked, mut made) = (asked.into_iter().peekable(), made.into_iter().peekable());
    let (mut left, mut right) = ("", "");
    loop {
        let common = left.len().min(right.len());
        match (left.get(..common), right.get(..common)) {
            (Some(a), Some(b)) if a == b => {}
            _ => return found,
        }
        left = left.get(common..).unwrap_or_default();
        right = right.get(common..).unwrap_or_default();
        if let ("", Some(TemplatePart::Text(text))) = (left, asked.peek()) {
            left = text;
            asked.next();
        } else if let ("", Some(TemplatePart::Text(text))) = (right, made.peek()) {
            right = text;
            made.next();
        } else {
            match (left, right, asked.next(), made.next()) {
                ("", "", Some(TemplatePart::Value(a)), Some(TemplatePart::Value(b))) => {
                    found.pairs.push((found.pairs.len(), a, b));
                }
                ("", right, None, next) => {
                    let is_over = right.is_empty() && next.is_none();
                    let rest = if is_over {
                        KeyRest::Nothing
                    } else {
                        KeyRest::Begins(right)
                    };
                    found.rest = Some(rest);
                    return found;
                }
                _ => return found,
            }
        }
    }
}

/// The escape of an item's template.
pub(super) fn escape(template: &Template) -> Option<Arc<Escape>> {
    template
        .placeholders()
        .find_map(|placeholder| placeholder.escape.clone())
}

/// The filters that say how a value is written; `default` and `string` change nothing of it.
pub fn writing(filters: &[Filter]) -> Vec<&Filter> {
    let kept = filters.iter();
    kept.filter(|filter| !matches!(filter, Filter::Default(_) | Filter::String))
        .collect()
}

impl AskedValue {
    /// Whether the value is taken as it is where the key holds it written otherwise.
    pub(super) fn is_verbatim(&self) -> bool {
        let filters = |placeholder: &Placeholder| writing(&placeholder.filters).is_empty();
        filters(&self.asked) && !filters(&self.made)
    }

    /// Whether the pattern writes the value as the key does.
    pub(super) fn agrees(&self) -> bool {
        writing(&self.asked.filters) == writing(&self.made.filters)
    }

    /// The pattern's value, written as the key writes it.
    pub(super) fn mended(&self) -> String {
        let filters = writing(&self.made.filters).into_iter().cloned();
        Placeholder {
            filters: filters.collect(),
            ..self.asked.clone()
        }
        .to_string()
    }
}
