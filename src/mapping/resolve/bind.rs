//! Binds templates to columns: paths become indices into the row, filter calls become filters.

use std::ops::Range;
use std::sync::Arc;

use super::pass::PassBuilder;
use super::scope::{Parent, Scope, unknown_column};
use crate::catalog::{Column, DataType, Family};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::item::Attribute;
use crate::mapping::model::{Node, Part, Place, Placeholder, Template};
use crate::mapping::raw::Spanned;
use crate::mapping::template::{self, Filter, FilterError, Segment, WrittenPlaceholder};
use crate::mapping::yaml::{Content, Entry, Node as Yaml};
use crate::value::{Number, NumberError};

/// Binds what one item type says.
pub(super) struct Binder<'a> {
    pub(super) scope: &'a Scope<'a>,
    pub(super) pass: &'a mut PassBuilder,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
}

/// A member of an attribute tree: name, node, and where it was written.
type Member = (Arc<str>, Node, Range<usize>);

impl Binder<'_> {
    /// Binds a value of an attribute tree.
    pub(super) fn node(&mut self, yaml: &Yaml) -> Option<Node> {
        match &yaml.content {
            Content::Scalar { text, plain: true } => match constant(text) {
                Ok(Some(constant)) => Some(Node::Constant(constant)),
                Ok(None) => self.template(yaml, text).map(Node::Template),
                Err(error) => {
                    let message = format!("DynamoDB cannot hold the number `{text}`: {error}");
                    self.diagnostics.push(
                        Diagnostic::new(Code::WrongValue, yaml.span.clone(), message)
                            .with_help("put it in quotes to make it text"),
                    );
                    None
                }
            },
            Content::Scalar { text, .. } => self.template(yaml, text).map(Node::Template),
            Content::List(elements) => {
                let nodes: Vec<Option<Node>> = elements.iter().map(|e| self.node(e)).collect();
                nodes.into_iter().collect::<Option<_>>().map(Node::List)
            }
            // Validation has said what is wrong with it.
            Content::Map { .. } if yaml.is_unquoted_template() => None,
            Content::Map { entries, .. } => {
                let (members, spreads) = self.members(entries);
                Some(Node::Map {
                    members: members
                        .into_iter()
                        .map(|(name, node, _)| (name, node))
                        .collect(),
                    spreads,
                })
            }
        }
    }

    /// Binds the entries of an attribute tree's map.
    pub(super) fn members(&mut self, entries: &[Entry]) -> (Vec<Member>, Vec<Place>) {
        let (mut members, mut spreads) = (Vec::new(), Vec::new());
        for entry in entries {
            if entry.key == "$spread" {
                let lists = entry.value.elements();
                let places = if lists.is_empty() {
                    std::slice::from_ref(&entry.value)
                } else {
                    lists
                };
                spreads.extend(places.iter().filter_map(|place| self.spread(place)));
            } else if !entry.key.starts_with('$')
                && let Some(node) = self.node(&entry.value)
            {
                members.push((entry.key.as_str().into(), node, entry.value.span.clone()));
            }
        }
        (members, spreads)
    }

    fn spread(&mut self, yaml: &Yaml) -> Option<Place> {
        let text = yaml.text()?;
        let Ok(written) = template::parse(&format!("{{{text}}}")) else {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::Template,
                    yaml.span.clone(),
                    "not a column or a member of one",
                )
                .with_help("write it without braces: $spread: settings"),
            );
            return None;
        };
        let [Segment::Placeholder(placeholder)] = written.segments.as_slice() else {
            return None;
        };
        let (place, family) = self.place(&placeholder.path, yaml.span.clone())?;
        if !matches!(family, Family::Document | Family::Map | Family::Any) {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::WrongValue,
                    yaml.span.clone(),
                    format!("`{text}` is {}, which has no members to spread", family.name()),
                )
                .with_help("$spread takes a JSON column, a composite, an hstore, or a member of a JSON column"),
            );
        }
        Some(place)
    }

    fn template(&mut self, yaml: &Yaml, text: &str) -> Option<Template> {
        let at = Anchor::new(yaml, text);
        let written = match template::parse(text) {
            Ok(written) => written,
            Err(errors) => {
                self.diagnostics.extend(errors.into_iter().map(|error| {
                    Diagnostic::new(Code::Template, at.range(&error.span), error.message)
                        .with_help(error.help)
                }));
                return None;
            }
        };
        let parts = self.parts(&written.segments, &at);
        let template = Template { parts: parts? };
        self.check_text(&template, yaml);
        Some(template)
    }

    fn parts(&mut self, segments: &[Segment], at: &Anchor) -> Option<Vec<Part>> {
        let parts: Vec<Option<Part>> = segments
            .iter()
            .map(|segment| match segment {
                Segment::Text(text) => Some(Part::Text(text.clone())),
                Segment::Placeholder(placeholder) => {
                    self.placeholder(placeholder, at).map(Part::Value)
                }
                Segment::Optional(inner) => self.parts(inner, at).map(Part::Optional),
            })
            .collect();
        parts.into_iter().collect()
    }

    fn placeholder(&mut self, written: &WrittenPlaceholder, at: &Anchor) -> Option<Placeholder> {
        let bound = self.place(&written.path, at.range(&written.path_span));
        let mut family = bound.as_ref().map_or(Family::Any, |(_, family)| *family);
        let faults = self.diagnostics.len();
        let mut filters = Vec::new();
        for call in &written.filters {
            let span = at.range(&call.span);
            match Filter::compile(call) {
                Ok(filter) => {
                    match filter.family(family) {
                        Ok(after) => family = after,
                        Err(error) => {
                            self.diagnostics.push(
                                Diagnostic::new(Code::FilterType, span, error.to_string())
                                    .with_help(error.help),
                            );
                            family = Family::Any;
                        }
                    }
                    filters.push(filter);
                }
                Err(error) => {
                    let code = if matches!(error, FilterError::Unknown { .. }) {
                        Code::UnknownFilter
                    } else {
                        Code::FilterArguments
                    };
                    self.diagnostics.push(
                        Diagnostic::new(code, span, error.to_string()).with_help(error.help()),
                    );
                    family = Family::Any;
                }
            }
        }
        if self.diagnostics.len() > faults {
            return None;
        }
        Some(Placeholder {
            place: bound?.0,
            filters,
            family,
        })
    }

    /// Binds a path: a column, `alias.column`, and members below either.
    fn place(&mut self, path: &[String], span: Range<usize>) -> Option<(Place, Family)> {
        let first = path.first()?;
        let written: Arc<str> = path.join(".").into();
        if first == "*" || path.iter().any(|part| part.starts_with('$')) {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::NotYet,
                    span,
                    format!(
                        "`{written}` is part of the language, but not of this version of Dynafold"
                    ),
                )
                .with_help("it is refused rather than ignored"),
            );
            return None;
        }
        let scope = self.scope;
        let (alias, column, members) = match (scope.parent(first), path.get(1)) {
            (Some(parent), Some(name)) => {
                let column = parent.table.column(name).cloned();
                if column.is_none() {
                    let name = Spanned {
                        value: name.clone(),
                        span: span.clone(),
                    };
                    let names = parent
                        .table
                        .columns
                        .iter()
                        .map(|column| column.name.as_str());
                    self.diagnostics
                        .push(unknown_column(&name, &format!("`{first}`"), names));
                }
                (
                    Some(first.as_str()),
                    column?,
                    path.get(2..).unwrap_or_default(),
                )
            }
            _ => (
                None,
                self.base_column(path, span.clone())?,
                path.get(1..).unwrap_or_default(),
            ),
        };
        let mut data_type = Some(&column.data_type);
        for member in members {
            data_type = match data_type {
                Some(DataType::Composite { fields }) => {
                    match fields.iter().find(|f| &f.0 == member) {
                        Some((_, field)) => Some(field),
                        None => {
                            let name = Spanned {
                                value: member.clone(),
                                span: span.clone(),
                            };
                            let names = fields.iter().map(|field| field.0.as_str());
                            self.diagnostics
                                .push(unknown_column(&name, "the composite", names));
                            return None;
                        }
                    }
                }
                Some(
                    DataType::Json | DataType::Hstore | DataType::Range { .. } | DataType::Dynamic,
                )
                | None => None,
                Some(other) => {
                    self.diagnostics.push(
                        Diagnostic::new(
                            Code::UnknownColumn,
                            span,
                            format!("`{written}`: {} has no members", other.family().name()),
                        )
                        .with_help("only JSON columns, composites, hstore and ranges have members"),
                    );
                    return None;
                }
            };
        }
        let family = data_type.map_or(Family::Any, DataType::family);
        let place = Place {
            column: self.pass.column(alias, &column.name, &column.data_type),
            path: members
                .iter()
                .map(|member| member.as_str().into())
                .collect(),
            written,
        };
        Some((place, family))
    }

    pub(super) fn base_column(&mut self, path: &[String], span: Range<usize>) -> Option<Column> {
        let first = path.first()?;
        if let Some(column) = self
            .scope
            .columns
            .iter()
            .find(|column| &column.name == first)
        {
            return Some(column.clone());
        }
        if self.scope.broken.contains(first) && path.len() > 1 {
            return None;
        }
        if !self.scope.known {
            return Some(unknown(first));
        }
        let aliases = self
            .scope
            .joins
            .iter()
            .map(|parent| parent.join.alias.as_str());
        if path.len() > 1 {
            let help = match nearest(first, aliases.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it: join: {{ {first}: foreign_key_column }}"),
            };
            self.diagnostics.push(
                Diagnostic::new(
                    Code::UnknownAlias,
                    span,
                    format!(
                        "`{first}` is neither a column of `{}` nor a joined alias",
                        self.scope.written
                    ),
                )
                .with_help(help),
            );
        } else {
            let name = Spanned {
                value: first.clone(),
                span,
            };
            let names = self.scope.columns.iter().map(|column| column.name.as_str());
            let relation = format!("`{}`", self.scope.written);
            self.diagnostics
                .push(unknown_column(&name, &relation, names));
        }
        None
    }

    /// A composite template takes scalars alone.
    fn check_text(&mut self, template: &Template, yaml: &Yaml) {
        if matches!(template.parts.as_slice(), [Part::Value(_)]) {
            return;
        }
        for placeholder in template.placeholders() {
            let help = match placeholder.family {
                Family::Binary => "say `| hex` or `| base64`",
                Family::List | Family::Map | Family::Set => {
                    "say `| string` to put its JSON text there"
                }
                _ => continue,
            };
            self.diagnostics.push(
                Diagnostic::new(
                    Code::FilterType,
                    yaml.span.clone(),
                    format!(
                        "`{}` is {}, which cannot stand inside text",
                        placeholder.place.written,
                        placeholder.family.name()
                    ),
                )
                .with_help(help),
            );
        }
    }

    /// What tells source rows apart: names and indices into the row.
    pub(super) fn row_key(&mut self) -> Vec<(Arc<str>, usize)> {
        self.indices(&self.scope.key)
            .into_iter()
            .zip(&self.scope.key)
            .map(|(index, name)| (name.as_str().into(), index))
            .collect()
    }

    /// The sets of columns that are unique, as indices into the row.
    pub(super) fn unique_keys(&mut self) -> Vec<Vec<usize>> {
        let scope = self.scope;
        let unique = scope.table.iter().flat_map(|table| &table.unique_keys);
        let mut keys: Vec<&[String]> = unique.map(|key| key.columns.as_slice()).collect();
        keys.insert(0, &scope.key);
        keys.retain(|key| !key.is_empty());
        keys.into_iter().map(|key| self.indices(key)).collect()
    }

    /// What a parent's unique keys tell of the row: where all of these columns are known, so are
    /// those, because the foreign key leads to one parent.
    pub(super) fn determined(&mut self) -> Vec<(Vec<usize>, Vec<usize>)> {
        let scope = self.scope;
        let mut determined = Vec::new();
        for parent in &scope.joins {
            let ours: Vec<String> = parent
                .join
                .on
                .iter()
                .map(|(ours, _)| ours.clone())
                .collect();
            let unique = parent
                .table
                .unique_keys
                .iter()
                .map(|key| key.columns.as_slice());
            let keys = std::iter::once(parent.table.primary_key.as_slice()).chain(unique);
            for key in keys.filter(|key| !key.is_empty()) {
                let alias = Some(parent.join.alias.as_str());
                let theirs = key.iter().map(|name| self.pass.find(alias, name));
                if let Some(theirs) = theirs.collect::<Option<Vec<usize>>>() {
                    determined.push((theirs, self.indices(&ours)));
                }
            }
        }
        determined
    }

    fn indices(&mut self, names: &[String]) -> Vec<usize> {
        let scope = self.scope;
        let columns = names.iter().map(|name| {
            let known = scope.columns.iter().find(|column| &column.name == name);
            known.cloned().unwrap_or_else(|| unknown(name))
        });
        let columns: Vec<Column> = columns.collect();
        columns
            .iter()
            .map(|column| self.pass.column(None, &column.name, &column.data_type))
            .collect()
    }

    /// The columns of the row so far that may hold NULL.
    pub(super) fn nullable(&mut self) -> Vec<usize> {
        let scope = self.scope;
        let base = scope.columns.iter().filter(|column| column.nullable);
        let base = base.map(|column| (None, column));
        let of_parent = |parent: &'_ Parent<'_>| {
            let (alias, optional) = (parent.join.alias.clone(), parent.optional);
            let columns = parent.table.columns.clone().into_iter();
            columns
                .filter(move |column| optional || column.nullable)
                .map(move |column| (alias.clone(), column))
                .collect::<Vec<_>>()
        };
        let mut nullable: Vec<usize> = base
            .filter_map(|(alias, column)| self.pass.find(alias, &column.name))
            .collect();
        for parent in &scope.joins {
            for (alias, column) in of_parent(parent) {
                nullable.extend(self.pass.find(Some(&alias), &column.name));
            }
        }
        nullable
    }
}

/// A column of a query whose columns are not known.
pub(super) fn unknown(name: &str) -> Column {
    Column {
        name: name.to_owned(),
        declared: String::new(),
        data_type: DataType::Dynamic,
        nullable: true,
        default: None,
        generated: None,
        comment: None,
    }
}

/// What a scalar without quotes is: a number or boolean is a constant of its type, anything else is
/// a template. A number that DynamoDB cannot hold is neither: as text it would be another value
/// than the one that was written.
fn constant(text: &str) -> Result<Option<Attribute>, NumberError> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    // `01234` is a code, not a number: its zeros must not go.
    if digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
        return Ok(None);
    }
    match text {
        "true" => Ok(Some(Attribute::Bool(true))),
        "false" => Ok(Some(Attribute::Bool(false))),
        text => match Number::parse(text) {
            Ok(number) => Ok(Some(Attribute::N(number))),
            Err(NumberError::Malformed) => Ok(None),
            Err(error) => Err(error),
        },
    }
}

/// Where a template's text stands in the file, so that a place within the template can be shown.
struct Anchor {
    node: Range<usize>,
    /// Where the text begins, when it stands in the file as it is.
    start: Option<usize>,
}

impl Anchor {
    fn new(yaml: &Yaml, text: &str) -> Self {
        let width = yaml.span.len();
        let start = match yaml.content {
            Content::Scalar { plain: true, .. } if width == text.len() => Some(yaml.span.start),
            // Quotes at both ends and no escapes between them.
            Content::Scalar { plain: false, .. } if width == text.len() + 2 => {
                Some(yaml.span.start + 1)
            }
            _ => None,
        };
        Self {
            node: yaml.span.clone(),
            start,
        }
    }

    fn range(&self, within: &Range<usize>) -> Range<usize> {
        match self.start {
            Some(start) => start + within.start..start + within.end,
            None => self.node.clone(),
        }
    }
}
