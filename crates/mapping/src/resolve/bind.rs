//! Binds templates to columns: paths become indices into the row, filter calls become filters.

use std::ops::Range;
use std::sync::Arc;

use dynafold_dynamodb::Attribute;
use dynafold_format::counted;
use dynafold_relational::catalog::{Catalog, DataType, Family};
use dynafold_relational::scan::{Scan, ScanColumn};
use dynafold_relational::value::{Number, NumberError};

use super::anchor::Anchor;
use super::pass::PassBuilder;
use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::model::{Node, Part, Place, Placeholder, Template};
use crate::raw::Spanned;
use crate::template::{self, Filter, Lookalike, Segment, Trial, WrittenPlaceholder};
use crate::yaml::{Content, Entry, Node as Yaml};

/// Binds what one item type says.
pub(super) struct Binder<'a> {
    pub(super) scope: &'a Scope<'a>,
    pub(super) pass: &'a mut PassBuilder,
    pub(super) catalog: &'a Catalog,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
    /// The conditions, each as a scan of its own, for the source to look at.
    pub(super) conditions: Vec<Spanned<Scan>>,
    /// Embeds around what is bound.
    pub(super) depth: usize,
}

/// A member of an attribute tree: name, node, and where it was written.
type Member = (Arc<str>, Node, Range<usize>);

impl<'a> Binder<'a> {
    pub(super) fn new(
        scope: &'a Scope<'a>,
        pass: &'a mut PassBuilder,
        catalog: &'a Catalog,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Self {
            scope,
            pass,
            catalog,
            diagnostics,
            conditions: Vec::new(),
            depth: 0,
        }
    }
}

impl Binder<'_> {
    pub(super) fn tell(
        &mut self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.diagnostics.add(code, span, message, help);
    }

    /// Binds a value of an attribute tree.
    pub(super) fn node(&mut self, yaml: &Yaml) -> Option<Node> {
        match &yaml.content {
            Content::Scalar { text, plain: true } => match constant(text) {
                Ok(Some(constant)) => Some(Node::Constant(constant)),
                Ok(None) => self.template(yaml, text).map(Node::Template),
                Err(error) => {
                    let message = format!("DynamoDB cannot hold the number `{text}`: {error}");
                    let help = "put it in quotes to make it text";
                    self.tell(Code::WrongValue, yaml.span.clone(), message, help);
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
            Content::Map { .. } if yaml.get("$embed").is_some() => {
                let embed = self.embed(yaml)?;
                Some(Node::Embed(Box::new(embed)))
            }
            Content::Map { .. } if yaml.get("$value").is_some() => self.directed(yaml),
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
                self.check_constant(entry);
                members.push((entry.key.as_str().into(), node, entry.value.span.clone()));
            }
        }
        (members, spreads)
    }

    fn spread(&mut self, yaml: &Yaml) -> Option<Place> {
        let text = yaml.text()?;
        let Ok(written) = template::parse(&format!("{{{text}}}")) else {
            let message = "not a column or a member of one";
            let help = "write it without braces: $spread: settings";
            self.tell(Code::Template, yaml.span.clone(), message, help);
            return None;
        };
        let [Segment::Placeholder(placeholder)] = written.segments.as_slice() else {
            return None;
        };
        let (place, family) = self.document(placeholder, yaml.span.clone())?;
        if !matches!(family, Family::Document | Family::Map | Family::Any) {
            let message = format!(
                "`{text}` is {}, which has no members to spread",
                family.name()
            );
            let help = "$spread takes a JSON column, a composite, an hstore, or a member of a JSON column; of JSON that is kept in text say $spread: column | json";
            self.tell(Code::WrongValue, yaml.span.clone(), message, help);
        }
        Some(place)
    }

    /// The place of a document, for which `json` may stand as the one filter.
    pub(super) fn document(
        &mut self,
        written: &WrittenPlaceholder,
        span: Range<usize>,
    ) -> Option<(Place, Family)> {
        let is_json = match written.filters.as_slice() {
            [] => false,
            [call] if matches!(Filter::compile(call), Ok(Filter::Json)) => true,
            _ => {
                let message = "no other filter than `json` may stand here";
                let help = "take the others away; a template goes through filters";
                self.tell(Code::FilterArguments, span, message, help);
                return None;
            }
        };
        let (place, family) = self.place(&written.path, span)?;
        let family = match family {
            Family::Text if is_json => Family::Document,
            family => family,
        };
        Some((Place { is_json, ..place }, family))
    }

    fn template(&mut self, yaml: &Yaml, text: &str) -> Option<Template> {
        let at = Anchor::new(&yaml.span, text);
        let written = at.template(text, self.diagnostics)?;
        if let Some(seen) = written.lookalike(&|name| self.is_column(name)) {
            self.diagnostics
                .push(looks_like(&seen, "column", yaml.span.clone()));
        }
        let parts = written.parts(&mut |placeholder| self.placeholder(placeholder, &at));
        let template = Template { parts: parts? };
        self.check_text(&template, yaml);
        Some(template)
    }

    /// Whether a template may name a column so.
    fn is_column(&self, name: &str) -> bool {
        match name.split_once('.') {
            None => self.scope.base(name).is_some(),
            Some((alias, name)) => {
                let parent = self.scope.parent(alias);
                parent.is_some_and(|parent| parent.table.column(name).is_some())
            }
        }
    }

    /// Tells of an attribute whose value is the bare name of a column. Attributes that tell types apart may well
    /// hold such a word.
    fn check_constant(&mut self, entry: &Entry) {
        let Some(name) = entry.value.text() else {
            return;
        };
        let is_type = entry.key.ends_with("type");
        if !is_type && name.to_lowercase() == name && self.is_column(name) {
            let (text, mend) = (name.to_owned(), format!("{{{name}}}"));
            let seen = Lookalike { text, mend };
            self.diagnostics
                .push(looks_like(&seen, "column", entry.value.span.clone()));
        }
    }

    fn placeholder(&mut self, written: &WrittenPlaceholder, at: &Anchor) -> Option<Placeholder> {
        let bound = self.place(&written.path, at.range(&written.path_span));
        let mut family = bound.as_ref().map_or(Family::Any, |(_, family)| *family);
        let mut trial = bound.as_ref().and_then(|(place, _)| self.trial(place));
        let mut faulty = false;
        let mut filters = Vec::new();
        for call in &written.filters {
            let span = at.range(&call.span);
            let filter = at.filter(call, self.diagnostics);
            let passed = filter.and_then(|filter| match filter.family(family) {
                Ok(after) => Some((filter, after)),
                Err(error) => {
                    let message = error.to_string();
                    self.tell(Code::FilterType, span.clone(), message, error.help);
                    None
                }
            });
            let Some((filter, after)) = passed else {
                faulty = true;
                family = Family::Any;
                trial = None;
                continue;
            };
            let refused = trial.get_or_insert_default().through(&filter, family);
            for (code, message, help) in refused {
                faulty |= code.severity() == Severity::Error;
                self.tell(code, span.clone(), message, help);
            }
            family = after;
            filters.push(filter);
        }
        if faulty {
            return None;
        }
        Some(Placeholder {
            place: bound?.0,
            filters,
            family,
            escape: None,
        })
    }

    /// What the catalog tells of the values at a place.
    fn trial(&self, place: &Place) -> Option<Trial> {
        let (column, alias) = self.pass.places().nth(place.column)?;
        let ScanColumn::Column {
            name, data_type, ..
        } = column
        else {
            return None;
        };
        if !place.path.is_empty() {
            return None;
        }
        let trial = Trial::of(&place.written, data_type, self.catalog.dbms);
        let table = match alias {
            Some(alias) => self.scope.parent(alias).map(|parent| parent.table),
            None => self.scope.table,
        };
        let is_whole = matches!(
            data_type,
            DataType::Integer { .. } | DataType::Decimal { scale: Some(0), .. }
        );
        let known = table.and_then(|table| Some((table, table.estimated_rows?)));
        Some(match known {
            Some((table, rows)) if is_whole && table.is_distinct(name) => {
                let called = self.catalog.display_name(&table.name);
                let about = counted(rows, "row");
                let because = format!("`{called}` has about {about}, each with another `{name}`");
                trial.counting(rows, because)
            }
            _ => trial,
        })
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
            let message = format!(
                "`{}` is {}, which cannot stand inside text",
                placeholder.place.written,
                placeholder.family.name()
            );
            self.tell(Code::FilterType, yaml.span.clone(), message, help);
        }
    }
}

/// Text that looks like the placeholder of a column, or of a parameter.
pub(super) fn looks_like(seen: &Lookalike, what: &str, span: Range<usize>) -> Diagnostic {
    let Lookalike { text, mend } = seen;
    let message = format!("`{text}` is text here, which every item holds as it stands");
    let help = format!(
        "write `{mend}` for the value of the {what}; if the text is meant: accept: [looks-like-a-placeholder]"
    );
    Diagnostic::new(Code::LooksLikeAPlaceholder, span, message).with_help(help)
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
