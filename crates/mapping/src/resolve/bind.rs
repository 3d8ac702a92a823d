//! Binds templates to columns: the names in them become places in the row, filter calls become filters.

use std::ops::Range;
use std::sync::Arc;

use dynafold_dynamodb::{Attribute, DynamoType};
use dynafold_format::{counted, every};
use dynafold_relational::catalog::{Column, DataType, Table, TypeFamily};
use dynafold_relational::scan::{Scan, ScanColumn};
use dynafold_relational::value::{Number, NumberError};

use super::anchor::TemplateAnchor;
use super::pass::PassBuilder;
use super::scope::{ExplodedElement, Scope, unknown_column};
use super::table::check_attribute_name;
use crate::diagnostic::{Code, Diagnostic, Severity, nearest};
use crate::model::{AttributeNode, Placeholder, Template, TemplatePart, ValuePath, family_of};
use crate::raw::{Spanned, spanned, word};
use crate::template::{self, Filter, FilterTrial, Lookalike, Segment, WrittenPlaceholder};
use crate::yaml::{YamlContent, YamlEntry, YamlNode};

/// Binds what one item type says.
pub(super) struct ItemBinder<'a> {
    pub(super) scope: &'a Scope<'a>,
    pub(super) pass: &'a mut PassBuilder,
    /// The conditions, each as a scan of its own, for the source to look at.
    pub(super) conditions: Vec<Spanned<Scan>>,
    /// For each table of which `*` leaves out columns that the user may not read: which, in words.
    pub(super) hidden_columns: Vec<String>,
    /// Embeds around what is bound.
    pub(super) depth: usize,
}

/// A member of an attribute tree: name, node, and where it was written.
type Member = (Arc<str>, AttributeNode, Range<usize>);

impl<'a> ItemBinder<'a> {
    pub(super) fn new(scope: &'a Scope<'a>, pass: &'a mut PassBuilder) -> Self {
        Self {
            scope,
            pass,
            conditions: Vec::new(),
            hidden_columns: Vec::new(),
            depth: 0,
        }
    }
}

impl ItemBinder<'_> {
    pub(super) fn report(
        &mut self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.scope.diagnostics.add(code, span, message, help);
    }

    /// Tells of a column of a relation that can be no attribute, because it has no name.
    pub(super) fn report_nameless(&mut self, of: &str, span: Range<usize>, help: String) {
        let message = format!("`{of}` has a column without a name, which no attribute can have");
        self.report(Code::Name, span, message, help);
    }

    /// Binds a value of an attribute tree.
    pub(super) fn node(&mut self, yaml: &YamlNode) -> Option<AttributeNode> {
        match &yaml.content {
            YamlContent::Scalar { text, plain: true } => match constant(text) {
                Ok(Some(constant)) => Some(AttributeNode::Constant(constant)),
                Ok(None) => self.template(yaml, text).map(AttributeNode::Template),
                Err(error) => {
                    let message = format!("DynamoDB cannot hold the number `{text}`: {error}");
                    let help = "put it in quotes to make it text";
                    self.report(Code::WrongValue, yaml.span.clone(), message, help);
                    None
                }
            },
            YamlContent::Scalar { text, .. } => {
                self.template(yaml, text).map(AttributeNode::Template)
            }
            YamlContent::List(elements) => {
                let nodes = every(elements.iter().map(|element| self.node(element)));
                nodes.map(AttributeNode::List)
            }
            // Validation has said what is wrong with it.
            YamlContent::Map { .. } if yaml.is_unquoted_template() => None,
            YamlContent::Map { .. } if yaml.get("$embed").is_some() => {
                let embed = self.embed(yaml)?;
                Some(AttributeNode::Embed(Box::new(embed)))
            }
            YamlContent::Map { .. } if yaml.get("$value").is_some() => self.directed(yaml),
            YamlContent::Map { entries, .. } => {
                let (members, spreads) = self.members(entries);
                Some(AttributeNode::Map {
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
    pub(super) fn members(&mut self, entries: &[YamlEntry]) -> (Vec<Member>, Vec<ValuePath>) {
        let (mut members, mut spreads) = (Vec::new(), Vec::new());
        for entry in entries {
            if entry.key == "$spread" {
                let elements = entry.value.elements();
                let spread_values = if elements.is_empty() {
                    std::slice::from_ref(&entry.value)
                } else {
                    elements
                };
                spreads.extend(spread_values.iter().filter_map(|place| self.spread(place)));
            } else if !entry.key.starts_with('$')
                && let Some(node) = self.node(&entry.value)
            {
                self.warn_about_column_name(entry);
                check_attribute_name(&entry.key, &entry.key_span, self.scope.diagnostics);
                members.push((entry.key.as_str().into(), node, entry.value.span.clone()));
            }
        }
        (members, spreads)
    }

    fn spread(&mut self, yaml: &YamlNode) -> Option<ValuePath> {
        let text = yaml.text()?;
        let Ok(written) = template::parse(&format!("{{{text}}}")) else {
            let message = "not a column or a member of one";
            let help = "write it without braces: $spread: settings";
            self.report(Code::Template, yaml.span.clone(), message, help);
            return None;
        };
        let [Segment::Placeholder(placeholder)] = written.segments.as_slice() else {
            return None;
        };
        let (place, family) = self.document(placeholder, yaml.span.clone())?;
        if !matches!(
            family,
            TypeFamily::Document | TypeFamily::Map | TypeFamily::Any
        ) {
            let message = format!(
                "`{text}` is {}, which has no members to spread",
                family.name()
            );
            let help = "$spread takes a JSON column, a composite, an hstore, or a member of a JSON column; for JSON in a text column, write $spread: column | json";
            self.report(Code::WrongValue, yaml.span.clone(), message, help);
        }
        Some(place)
    }

    /// The place of a document, for which `json` may stand as the one filter.
    pub(super) fn document(
        &mut self,
        written: &WrittenPlaceholder,
        span: Range<usize>,
    ) -> Option<(ValuePath, TypeFamily)> {
        let is_json = match written.filters.as_slice() {
            [] => false,
            [call] if matches!(Filter::compile(call), Ok(Filter::Json)) => true,
            _ => {
                let message = "only the filter `json` is allowed here";
                let help = "remove the others; only templates have filters";
                self.report(Code::FilterArguments, span, message, help);
                return None;
            }
        };
        let (place, family) = self.place(&written.path, span)?;
        let family = match family {
            TypeFamily::Text if is_json => TypeFamily::Document,
            family => family,
        };
        Some((ValuePath { is_json, ..place }, family))
    }

    fn template(&mut self, yaml: &YamlNode, text: &str) -> Option<Template> {
        let at = TemplateAnchor::new(&yaml.span, text);
        let written = at.template(text, self.scope.diagnostics)?;
        if let Some(seen) = written.lookalike(&|name| self.is_column(name)) {
            self.scope
                .diagnostics
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

    /// Warns if a constant is the name of a column. Skips type attributes, which often hold such a word.
    fn warn_about_column_name(&mut self, entry: &YamlEntry) {
        let Some(name) = entry.value.text() else {
            return;
        };
        let is_type = entry.key.ends_with("type");
        if !is_type && name.to_lowercase() == name && self.is_column(name) {
            let (text, mend) = (name.to_owned(), format!("{{{name}}}"));
            let seen = Lookalike { text, mend };
            self.scope
                .diagnostics
                .push(looks_like(&seen, "column", entry.value.span.clone()));
        }
    }

    fn placeholder(
        &mut self,
        written: &WrittenPlaceholder,
        at: &TemplateAnchor,
    ) -> Option<Placeholder> {
        let bound = self.place(&written.path, at.range(&written.path_span));
        let mut family = bound
            .as_ref()
            .map_or(TypeFamily::Any, |(_, family)| *family);
        let mut trial = bound
            .as_ref()
            .and_then(|(place, _)| self.filter_trial(place));
        let mut faulty = false;
        let mut filters = Vec::new();
        for call in &written.filters {
            let span = at.range(&call.span);
            let filter = at.filter(call, self.scope.diagnostics);
            let passed = filter.and_then(|filter| match filter.family(family) {
                Ok(after) => Some((filter, after)),
                Err(error) => {
                    let message = error.to_string();
                    self.report(Code::FilterType, span.clone(), message, error.help);
                    None
                }
            });
            let Some((filter, after)) = passed else {
                faulty = true;
                family = TypeFamily::Any;
                trial = None;
                continue;
            };
            let refused = trial.get_or_insert_default().through(&filter, family);
            for (code, message, help) in refused {
                faulty |= code.severity() == Severity::Error;
                self.report(code, span.clone(), message, help);
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
    fn filter_trial(&self, place: &ValuePath) -> Option<FilterTrial> {
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
        let dbms = self.scope.catalog.dbms;
        let trial = FilterTrial::of(&place.written, data_type, dbms);
        let table = match alias {
            Some(alias) => self.scope.parent(alias).map(|parent| parent.table),
            None => self.scope.table,
        };
        let is_whole = matches!(
            data_type,
            DataType::Integer { .. } | DataType::Decimal { scale: Some(0), .. }
        );
        let is_distinct = |table: &&Table| {
            let not_null = table.column(name).is_some_and(|column| !column.nullable);
            is_whole && not_null && table.is_unique(&[name.to_owned()], dbms)
        };
        let table = table.filter(is_distinct);
        let Some((table, rows)) = table.and_then(|table| Some((table, table.estimated_rows?)))
        else {
            return Some(trial);
        };
        let called = self.scope.catalog.display_name(&table.name);
        let about = counted(rows, "row");
        let because = format!("`{called}` has about {about}, each with a different `{name}`");
        Some(trial.counting(rows, because))
    }

    /// A composite template takes scalars alone.
    fn check_text(&mut self, template: &Template, yaml: &YamlNode) {
        if matches!(template.parts.as_slice(), [TemplatePart::Value(_)]) {
            return;
        }
        for placeholder in template.placeholders() {
            let help = match placeholder.family {
                TypeFamily::Binary => "use `| hex` or `| base64`",
                TypeFamily::List | TypeFamily::Map | TypeFamily::Set => {
                    "use `| string` to write its JSON text"
                }
                _ => continue,
            };
            let message = format!(
                "`{}` is {}, which cannot be part of a text",
                placeholder.place.written,
                placeholder.family.name()
            );
            self.report(Code::FilterType, yaml.span.clone(), message, help);
        }
    }
}

/// Text that looks like the placeholder of a column, or of a parameter.
pub(super) fn looks_like(seen: &Lookalike, what: &str, span: Range<usize>) -> Diagnostic {
    let Lookalike { text, mend } = seen;
    let message = format!("`{text}` is literal text here, the same in every item");
    let help = format!(
        "write `{mend}` to use the value of the {what}; if you mean the text: accept: [looks-like-a-placeholder]"
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

// `$value` with `$when` and `$type`.

impl ItemBinder<'_> {
    /// Binds a map with `$value`.
    pub(super) fn directed(&mut self, yaml: &YamlNode) -> Option<AttributeNode> {
        let value = self.node(yaml.get("$value")?);
        let condition = yaml.get("$when").and_then(spanned);
        let flag = condition.map(|condition| {
            let flag = self.pass.flag(&condition.value);
            self.take_condition(&condition, "no item has the attribute");
            flag
        });
        let mut node = value?;
        if let Some(written) = yaml.get("$type")
            && let Some(Spanned { value: wanted, .. }) = word(DynamoType::WORDS, written)
        {
            let given = node.known_family();
            convert(&mut node, wanted);
            let made = node.known_family();
            node = AttributeNode::Typed {
                wanted,
                value: Box::new(node),
            };
            if !may_have_type(wanted, given, made) {
                let given = given.map_or("another value", TypeFamily::name);
                let message = format!("the value is {given}, which is never of this type");
                let help = "convert it with a filter, or remove `$type`";
                self.report(Code::WrongValue, written.span.clone(), message, help);
            }
        }
        Some(match flag {
            Some(flag) => AttributeNode::When {
                flag,
                value: Box::new(node),
            },
            None => node,
        })
    }
}

/// Whether a value of family `given`, converted to `made`, can have the type `wanted`.
fn may_have_type(wanted: DynamoType, given: Option<TypeFamily>, made: Option<TypeFamily>) -> bool {
    use TypeFamily::{Binary, Number, Text, Time};
    let is_member = match wanted {
        DynamoType::Ss => !matches!(given, Some(Number | Binary)),
        DynamoType::Ns => !matches!(given, Some(Text | Time | Binary)),
        DynamoType::Bs => !matches!(given, Some(Text | Time | Number)),
        _ => true,
    };
    let is_of_kind = match made {
        Some(Time) => wanted == DynamoType::S,
        Some(made) => made == family_of(wanted),
        None => true,
    };
    is_member && is_of_kind
}

/// Adds the filter that converts a single value to the wanted type.
fn convert(node: &mut AttributeNode, wanted: DynamoType) {
    let template = match node {
        AttributeNode::Template(template) => template,
        AttributeNode::Constant(Attribute::N(number)) if wanted == DynamoType::S => {
            *node = AttributeNode::Constant(Attribute::S(number.as_str().into()));
            return;
        }
        _ => return,
    };
    let [TemplatePart::Value(value)] = template.parts.as_mut_slice() else {
        return;
    };
    let filter = match (wanted, value.family) {
        (wanted, family) if family_of(wanted) == family => return,
        (DynamoType::S, TypeFamily::Time) => return,
        (DynamoType::S, _) => Filter::String,
        (DynamoType::N, _) => Filter::Number,
        (DynamoType::B, _) => Filter::Binary,
        (DynamoType::Bool, _) => Filter::Bool,
        (DynamoType::Ss | DynamoType::Ns | DynamoType::Bs, _) => Filter::Set,
        (DynamoType::L | DynamoType::M, TypeFamily::Text) => Filter::Json,
        (DynamoType::L | DynamoType::M, _) => return,
    };
    if let Ok(family) = filter.family(value.family) {
        value.filters.push(filter);
        value.family = family;
    }
}

// Paths: the names in a template become places in the row.

impl ItemBinder<'_> {
    /// Binds a path: a column, `alias.column`, and members below either.
    pub(super) fn place(
        &mut self,
        path: &[String],
        span: Range<usize>,
    ) -> Option<(ValuePath, TypeFamily)> {
        let first = path.first()?;
        let written: Arc<str> = path.join(".").into();
        if let Some(element) = self.scope.element(first) {
            return self.element_place(element, path, written, span);
        }
        if path.iter().any(|part| part == "$index") {
            let message = format!("`{first}` is not the element of an exploded array");
            let help = format!("declare it: explode: {{ {first}: array_column }}");
            self.report(Code::UnknownAlias, span, message, help);
            return None;
        }
        if first == "*" {
            let message = "`*` is not a value of the row";
            let help = "in an item's key, name the value that picks the shard: {id | shard(20)}";
            self.report(Code::Template, span, message, help);
            return None;
        }
        let scope = self.scope;
        let (alias, column, members) = match (scope.parent(first), path.get(1)) {
            (Some(parent), Some(name)) => {
                let Some(column) = parent.table.column(name).cloned() else {
                    self.scope.diagnostics.push(parent.lacks(name, span));
                    return None;
                };
                let members = path.get(2..).unwrap_or_default();
                (Some(first.as_str()), column, members)
            }
            _ => (
                None,
                self.base_column(path, span.clone())?,
                path.get(1..).unwrap_or_default(),
            ),
        };
        let family = self.member_family(&column, members, &written, span)?;
        let column = self.pass.column(alias, &column.name, &column.data_type);
        Some((member(column, members, written), family))
    }

    /// What a member of a column is; `None` where there is no such member.
    fn member_family(
        &mut self,
        column: &Column,
        members: &[String],
        written: &str,
        span: Range<usize>,
    ) -> Option<TypeFamily> {
        let mut data_type = Some(&column.data_type);
        for member in members {
            data_type = match data_type {
                Some(DataType::Composite { fields }) => {
                    match fields.iter().find(|f| &f.0 == member) {
                        Some((_, field)) => Some(field),
                        None => {
                            let names = fields.iter().map(|field| field.0.as_str());
                            let fault = unknown_column(member, span, "the composite", names);
                            self.scope.diagnostics.push(fault);
                            return None;
                        }
                    }
                }
                Some(
                    DataType::Json | DataType::Hstore | DataType::Range { .. } | DataType::Dynamic,
                )
                | None => None,
                Some(other) => {
                    let message = format!("`{written}`: {} has no members", other.family().name());
                    let help = "only JSON columns, composites, hstore and ranges have members";
                    self.report(Code::UnknownColumn, span, message, help);
                    return None;
                }
            };
        }
        Some(data_type.map_or(TypeFamily::Any, DataType::family))
    }

    /// Binds an exploded element, its position, or a member of it.
    fn element_place(
        &mut self,
        element: &ExplodedElement,
        path: &[String],
        written: Arc<str>,
        span: Range<usize>,
    ) -> Option<(ValuePath, TypeFamily)> {
        let is_index = path.get(1).is_some_and(|part| part == "$index");
        let (column, family, members) = if is_index {
            (element.index, TypeFamily::Number, path.get(2..))
        } else {
            (element.value, element.family, path.get(1..))
        };
        let members = members.unwrap_or_default();
        let may_have = matches!(
            family,
            TypeFamily::Any | TypeFamily::Document | TypeFamily::Map
        );
        if !members.is_empty() && !may_have {
            let message = format!("`{written}`: {} has no members", family.name());
            let help = "only JSON columns, composites, hstore and ranges have members";
            self.report(Code::UnknownColumn, span, message, help);
            return None;
        }
        let family = if members.is_empty() {
            family
        } else {
            TypeFamily::Any
        };
        Some((member(column, members, written), family))
    }

    pub(super) fn base_column(&mut self, path: &[String], span: Range<usize>) -> Option<Column> {
        let first = path.first()?;
        if let Some(column) = self.scope.base(first) {
            return Some(column.clone());
        }
        if self.scope.broken.contains(first) && path.len() > 1 {
            return None;
        }
        if !self.scope.known {
            return Some(unknown(first));
        }
        let aliases = self.scope.joins.iter().map(|parent| parent.alias.as_str());
        if path.len() > 1 {
            let declare = format!("declare it: join: {{ {first}: foreign_key_column }}");
            let help = match nearest(first, aliases.clone()) {
                Some(near) => format!("did you mean `{near}`? Otherwise, {declare}"),
                None => declare,
            };
            let message = format!(
                "`{first}` is neither a column of `{}` nor a joined alias",
                self.scope.written
            );
            self.report(Code::UnknownAlias, span, message, help);
        } else {
            self.scope.diagnostics.push(self.scope.lacks(first, span));
        }
        None
    }
}

/// The place of a column, or of a member of it.
fn member(column: usize, path: &[String], written: Arc<str>) -> ValuePath {
    ValuePath {
        path: path.iter().map(|name| name.as_str().into()).collect(),
        ..ValuePath::of_column(column, written)
    }
}

/// A column of a query whose columns are not known.
pub(super) fn unknown(name: &str) -> Column {
    Column::new(name.to_owned(), String::new(), DataType::Dynamic)
}
