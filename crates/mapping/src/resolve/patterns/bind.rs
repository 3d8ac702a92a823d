//! Binds the templates of one pattern: placeholders become parameters.

use std::ops::Range;
use std::sync::Arc;

use dynafold_dynamodb::{KeyAttribute, KeyType};
use dynafold_format::every;
use dynafold_relational::catalog::TypeFamily;
use dynafold_relational::value::Number;
use dynafold_sql::{Sql, SqlQuery};

use super::super::anchor::TemplateAnchor;
use super::super::bind::looks_like;
use super::align::{Aligned, AskedValue, KnownAttributes, aligned, escape};
use super::keys::AskedKey;
use super::{PatternContext, condition, family, operators};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::model::{
    AccessPattern, Parameter, ParameterKind, ParameterOrigin, Placeholder, SortCondition, Template,
    TemplatePart,
};
use crate::raw::RawPattern;
use crate::template::{Escape, Filter, Segment, WrittenPlaceholder};
use crate::yaml::{YamlEntry, YamlNode};

/// Binds what one pattern says.
pub(super) struct PatternBinder<'a> {
    pub(super) raw: &'a RawPattern,
    pub(super) context: &'a PatternContext<'a>,
    /// The relational query, as far as it can be read.
    pub(super) query: Option<SqlQuery>,
    /// The uses of parameters in it.
    pub(super) in_sql: Vec<String>,
    pub(super) parameters: Parameters,
    /// Where values of parameters come from, as the mapping says it.
    pub(super) origins: Vec<(Arc<str>, ParameterOrigin)>,
    pub(super) shards: Option<u32>,
    /// Values beside those of the items' keys.
    pub(super) pairs: Vec<AskedValue>,
    /// What is told only of patterns without faults.
    pub(super) warnings: Diagnostics,
    /// Texts that look like parameters, which is told of patterns with faults too.
    pub(super) lookalikes: Vec<Diagnostic>,
    /// Templates that are to be held against their keys when the parameters are all known.
    pub(super) uses: Vec<KeyTemplate>,
}

impl<'a> PatternBinder<'a> {
    pub(super) fn new(raw: &'a RawPattern, context: &'a PatternContext<'a>) -> Self {
        let dbms = context.catalog.map(|catalog| catalog.dbms);
        let written = raw.sql.as_ref().map(|sql| sql.value.as_str());
        let sql = written.and_then(|sql| Sql::read(sql, dbms).ok());
        let in_sql = sql
            .iter()
            .flat_map(Sql::parameters)
            .map(|parameter| parameter.name.clone());
        Self {
            raw,
            context,
            in_sql: in_sql.collect(),
            query: written.and_then(|sql| SqlQuery::read(sql, dbms).ok()),
            parameters: Parameters::default(),
            origins: Vec::new(),
            shards: None,
            pairs: Vec::new(),
            warnings: Diagnostics::default(),
            lookalikes: Vec::new(),
            uses: Vec::new(),
        }
    }

    /// Holds the templates against their keys, when the parameters are all known.
    pub(super) fn finish(&mut self) {
        for each in std::mem::take(&mut self.uses) {
            self.fit(&each);
        }
    }

    /// The item types that the pattern promises; all of them where it promises none.
    pub(super) fn promised(&self) -> impl Iterator<Item = &'a KnownAttributes> + Clone + use<'a> {
        let (raw, context) = (self.raw, self.context);
        let makes = context.makes.iter();
        makes.filter(move |make| raw.items.is_empty() || raw.promises(&make.name))
    }

    pub(super) fn report(
        &mut self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.context.diagnostics.add(code, span, message, help);
    }

    /// Binds what is asked of one attribute; `key` where it is one.
    pub(super) fn entry(
        &mut self,
        entry: &YamlEntry,
        key: Option<&KeyAttribute>,
        in_partition: bool,
    ) -> Option<SortCondition> {
        let (operator, nodes) = operators(entry)?;
        let is_open = operator == "begins_with";
        let templates = nodes.into_iter();
        let templates = templates.map(|node| self.template(node, key, in_partition, is_open));
        condition(operator, every(templates)?)
    }

    fn template(
        &mut self,
        node: &YamlNode,
        key: Option<&KeyAttribute>,
        in_partition: bool,
        is_open: bool,
    ) -> Option<Template> {
        let text = node.text()?;
        let anchor = TemplateAnchor::new(&node.span, text);
        let written = anchor.template(text, self.context.diagnostics)?;
        if let Some(seen) = written.lookalike(&|name| self.is_known(name)) {
            self.lookalikes
                .push(looks_like(&seen, "parameter", node.span.clone()));
        }
        let faults = self.context.diagnostics.count();
        let mut parts = Vec::new();
        let mut places = Vec::new();
        for segment in &written.segments {
            match segment {
                Segment::Text(text) => parts.push(TemplatePart::Text(text.clone())),
                Segment::Optional(_) => self.report(
                    Code::AccessPattern,
                    node.span.clone(),
                    "a key condition has no optional segments",
                    "write a second pattern, with another name, for keys that have the segment",
                ),
                Segment::Placeholder(placeholder) => {
                    places.push(anchor.range(&placeholder.span));
                    let bound = self.placeholder(placeholder, &anchor, node, in_partition);
                    parts.push(TemplatePart::Value(bound));
                }
            }
        }
        if self.context.diagnostics.count() > faults {
            return None;
        }
        let mut template = Template { parts };
        let key = key?;
        self.align(&template, key, &places, is_open);
        self.escape(&mut template, key, node);
        self.check_key_template(&template, key, node);
        self.uses.push(KeyTemplate {
            template: template.clone(),
            key: key.clone(),
            span: node.span.clone(),
            places,
        });
        (self.context.diagnostics.count() == faults).then_some(template)
    }

    /// Whether a name is a parameter of the SQL, or a column in the items' keys.
    fn is_known(&self, name: &str) -> bool {
        let makes = self.context.makes.iter();
        let templates = makes.flat_map(|make| make.attributes.iter().map(|(_, made)| made));
        let mut places = templates.flatten().flat_map(Template::placeholders);
        self.in_sql.iter().any(|parameter| parameter == name)
            || places.any(|placeholder| &*placeholder.place.written == name)
    }

    fn placeholder(
        &mut self,
        written: &WrittenPlaceholder,
        anchor: &TemplateAnchor,
        node: &YamlNode,
        in_partition: bool,
    ) -> Placeholder {
        let faults = self.context.diagnostics.count();
        let filters = written.filters.iter();
        let filters: Vec<Filter> = filters
            .filter_map(|call| anchor.filter(call, self.context.diagnostics))
            .collect();
        let is_all = written.path.first().is_some_and(|name| name == "*");
        let column = if is_all {
            let all = match filters.as_slice() {
                [Filter::Shard(count)] => Some(*count),
                _ => None,
            };
            if self.context.diagnostics.count() == faults
                && (all.is_none() || !in_partition || self.shards.is_some())
            {
                let help = if self.shards.is_some() {
                    "use it once: only one attribute of a partition key can have shards"
                } else {
                    "write it as {* | shard(n)}, and only in the partition key"
                };
                let message = "`*` stands for every shard of a partition key";
                self.report(Code::AccessPattern, node.span.clone(), message, help);
            }
            self.shards = self.shards.or(all);
            AccessPattern::SHARD
        } else {
            let at = self.parameters.named(&written.path.join("."));
            self.parameters.set_filters(at, &filters);
            at
        };
        Placeholder {
            filters,
            ..Placeholder::of_column(column, written.written_path(), TypeFamily::Any)
        }
    }

    /// Holds a template against those of the items' keys.
    fn align(
        &mut self,
        template: &Template,
        key: &KeyAttribute,
        places: &[Range<usize>],
        is_open: bool,
    ) {
        let makes = self.context.makes;
        for make in makes {
            let is_promised = self.raw.promises(&make.name);
            let Some(made) = make.template(&key.name) else {
                continue;
            };
            let Aligned { pairs, .. } = aligned(template, made);
            let all = template.placeholders().count();
            if !is_promised && (!self.raw.items.is_empty() || pairs.len() < all) {
                continue;
            }
            for (at, asked, made) in pairs {
                let pair = AskedValue {
                    item: make.name.clone(),
                    span: places.get(at).cloned().unwrap_or_default(),
                    asked: asked.clone(),
                    made: made.clone(),
                    is_open: is_open && is_last(template, at, all),
                };
                if self.sharded(&pair) {
                    continue;
                }
                if asked.place.column != AccessPattern::SHARD {
                    if pair.agrees() && !pair.is_open {
                        if let Some(kind) = make.kind(made) {
                            self.parameters.set_column_kind(asked.place.column, kind);
                        }
                    } else if pair.is_verbatim() || pair.is_open {
                        let at = asked.place.column;
                        self.parameters.note(at, |draft| draft.is_verbatim = true);
                    }
                }
                self.pairs.push(pair);
            }
        }
    }

    /// Whether a pair is of shards; tells of those that are not the item's.
    fn sharded(&mut self, pair: &AskedValue) -> bool {
        let is_all = pair.asked.place.column == AccessPattern::SHARD;
        let (asked, made) = (pair.asked.shards(), pair.made.shards());
        let (message, help) = match (asked, made) {
            (Some(asked), Some(made)) if asked != made => (
                format!(
                    "`{}` has {made} shards, and the pattern asks for {asked}",
                    pair.item
                ),
                format!("use shard({made}): items in other shards would not be found"),
            ),
            (Some(_), None) if is_all => (
                format!(
                    "the keys of `{}` are not sharded here: they have `{}`",
                    pair.item, pair.made
                ),
                "ask for the value itself, or shard the item's key: {column | shard(n)}".to_owned(),
            ),
            _ => return is_all,
        };
        self.report(Code::Shards, pair.span.clone(), message, help);
        true
    }

    /// Values are escaped as in the item's key.
    fn escape(&mut self, template: &mut Template, key: &KeyAttribute, node: &YamlNode) {
        let all = template.placeholders().count();
        let is_asked = |make: &&KnownAttributes| match self.raw.items.as_slice() {
            [] => make
                .template(&key.name)
                .is_some_and(|made| aligned(template, made).pairs.len() == all),
            _ => self.raw.promises(&make.name),
        };
        let makes = self.context.makes.iter().filter(is_asked);
        let escapes =
            makes.filter_map(|make| Some((&make.name, escape(make.template(&key.name)?))));
        let escapes: Vec<(&Arc<str>, Option<Arc<Escape>>)> = escapes.collect();
        let Some((first, escape)) = escapes.first() else {
            return;
        };
        if let Some((other, _)) = escapes.iter().find(|(_, other)| other != escape)
            && all > 0
        {
            let message = format!(
                "`{first}` and `{other}` escape values differently in `{}`",
                key.name
            );
            let help = format!(
                "values are escaped as in the keys of `{first}`; make a pattern of its own for `{other}`"
            );
            self.warnings
                .add(Code::ParameterForm, node.span.clone(), message, help);
        }
        for placeholder in template.placeholders_mut() {
            placeholder.escape.clone_from(escape);
        }
    }
}

/// Whether a template ends with this placeholder.
fn is_last(template: &Template, at: usize, all: usize) -> bool {
    at + 1 == all && matches!(template.parts.last(), Some(TemplatePart::Value(_)))
}

// The parameters of a pattern, and what is known of how each is read.

/// The parameters of a pattern, in the order in which they are first named.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    drafts: Vec<PatternDraft>,
}

#[derive(Debug, Default)]
pub(super) struct PatternDraft {
    name: String,
    /// What the column says that it stands for.
    column: Option<ParameterKind>,
    /// What its filters take.
    filters: Option<ParameterKind>,
    /// What the type of the key says.
    key: Option<ParameterKind>,
    /// Whether it is text as it is, whatever the column holds.
    is_verbatim: bool,
    from_clock: Option<Template>,
    /// Whether it may be of any type.
    pub(super) is_unsure: bool,
}

impl Parameters {
    /// The index of a parameter, which is new if it is not known yet.
    pub(super) fn named(&mut self, name: &str) -> usize {
        if let Some(at) = self.find(name) {
            return at;
        }
        self.drafts.push(PatternDraft {
            name: name.to_owned(),
            ..PatternDraft::default()
        });
        self.drafts.len() - 1
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.drafts.iter().position(|draft| draft.name == name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.drafts.iter().map(|draft| draft.name.as_str())
    }

    /// Notes what is known of a parameter.
    pub(super) fn note(&mut self, at: usize, note: impl FnOnce(&mut PatternDraft)) {
        self.drafts.get_mut(at).map(note);
    }

    /// Says which column's values a parameter has.
    pub(super) fn set_column_kind(&mut self, at: usize, kind: ParameterKind) {
        self.note(at, |draft| _ = draft.column.get_or_insert(kind));
    }

    /// Says which filters a parameter goes through.
    pub(super) fn set_filters(&mut self, at: usize, filters: &[Filter]) {
        let kind = match filters.first() {
            Some(Filter::Pad { .. } | Filter::Desc { .. } | Filter::Ordered) => {
                ParameterKind::Number
            }
            Some(
                Filter::Iso
                | Filter::Date
                | Filter::Epoch
                | Filter::EpochMs
                | Filter::Format(_)
                | Filter::Plus(_),
            ) => ParameterKind::Time(None),
            Some(Filter::Hex) => ParameterKind::Hex,
            Some(Filter::Base64) => ParameterKind::Binary,
            _ => return,
        };
        self.note(at, |draft| _ = draft.filters.get_or_insert(kind));
    }

    /// Says what a parameter is without the caller's word.
    pub(super) fn set_clock(&mut self, at: usize, template: Template) {
        self.note(at, |draft| {
            if template.family() == TypeFamily::Number {
                draft.column.get_or_insert(ParameterKind::Number);
            }
            draft.from_clock = Some(template);
        });
    }

    pub(super) fn kind(&self, at: usize) -> ParameterKind {
        self.drafts
            .get(at)
            .map_or(ParameterKind::Text, PatternDraft::kind)
    }

    pub(super) fn finish(&self) -> Vec<Parameter> {
        let each = self.drafts.iter().map(|draft| Parameter {
            name: Arc::from(draft.name.as_str()),
            kind: draft.kind(),
            from_clock: draft.from_clock.clone(),
            needs_schema: draft.is_unsure && draft.known().is_none(),
        });
        each.collect()
    }
}

impl PatternDraft {
    fn kind(&self) -> ParameterKind {
        self.known().unwrap_or(ParameterKind::Text)
    }

    fn known(&self) -> Option<ParameterKind> {
        match self.filters {
            // The column knows its fractional digits too.
            Some(ParameterKind::Time(None)) => self.column.or(self.filters),
            Some(kind) => Some(kind),
            None if self.is_verbatim => Some(ParameterKind::Text),
            None => self.column.or(self.key),
        }
    }
}

// Whether templates make what their keys hold, and what else DynamoDB would refuse.

/// A template with its key and its places.
pub(super) struct KeyTemplate {
    pub(super) template: Template,
    pub(super) key: KeyAttribute,
    pub(super) span: Range<usize>,
    pub(super) places: Vec<Range<usize>>,
}

impl PatternBinder<'_> {
    /// A key that is no text is one parameter or one constant.
    pub(super) fn check_key_template(
        &mut self,
        template: &Template,
        key: &KeyAttribute,
        node: &YamlNode,
    ) {
        let (called, kind) = match key.key_type {
            KeyType::S => return,
            KeyType::N => ("a number", ParameterKind::Number),
            KeyType::B => ("binary", ParameterKind::Binary),
        };
        match template.parts.as_slice() {
            [TemplatePart::Text(text)]
                if kind == ParameterKind::Number && Number::parse(text).is_ok() => {}
            [TemplatePart::Value(placeholder)] if placeholder.filters.is_empty() => {
                let at = placeholder.place.column;
                (self.parameters).note(at, |draft| _ = draft.key.get_or_insert(kind));
            }
            [TemplatePart::Value(_)] => {}
            _ => {
                let message = format!("`{}` is {called}, and this is text", key.name);
                let help = "write one parameter with nothing around it: \"{parameter}\"";
                self.report(Code::KeyType, node.span.clone(), message, help);
            }
        }
    }

    /// Whether filters take the values of their parameters, and give the type of the key.
    pub(super) fn fit(&mut self, each: &KeyTemplate) {
        for (placeholder, place) in each.template.placeholders().zip(&each.places) {
            if placeholder.place.column == AccessPattern::SHARD {
                continue;
            }
            let faults = self.context.diagnostics.count();
            let mut given = family(self.parameters.kind(placeholder.place.column));
            for filter in &placeholder.filters {
                match filter.family(given) {
                    Ok(family) => given = family,
                    Err(error) => {
                        let message = error.to_string();
                        self.report(Code::FilterType, place.clone(), message, error.help);
                        given = TypeFamily::Any;
                    }
                }
            }
            let is_number = matches!(given, TypeFamily::Number | TypeFamily::Any);
            let is_filtered = !placeholder.filters.is_empty();
            let is_alone = each.template.parts.len() == 1;
            if each.key.key_type == KeyType::N
                && !is_number
                && is_filtered
                && is_alone
                && self.context.diagnostics.count() == faults
            {
                let (name, given) = (&each.key.name, given.name());
                let message = format!("`{name}` is a number, and this is {given}");
                let help = "remove the filters, or make it a number: `| epoch`, `| number`";
                self.report(Code::KeyType, each.span.clone(), message, help);
            }
        }
    }

    /// What is said besides keys and parameters.
    pub(super) fn settings(&mut self, keys: &AskedKey<'_>) {
        if let Some(said) = &self.raw.consistent
            && said.value
            && let Some(index) = keys.index
            && self.context.table.indexes.contains(index)
        {
            let message = format!(
                "`{}` is a global index, which has no consistent reads",
                index.name
            );
            let help = "remove `consistent`, or use the table or a local index";
            self.report(Code::AccessPattern, said.span.clone(), message, help);
        }
        if let Some(said) = self.raw.fetch.as_ref().filter(|said| said.value)
            && keys.index.is_none()
        {
            let message =
                "`fetch` reads the items that an index finds, and the table is asked here";
            let help = "remove `fetch`: the table's items are whole";
            self.report(Code::AccessPattern, said.span.clone(), message, help);
        }
        if let Some(limit) = &self.raw.limit
            && i32::try_from(limit.value).is_err()
        {
            let message = "the limit is higher than DynamoDB allows";
            let help = "leave it out: without a limit all items are returned";
            self.report(Code::WrongValue, limit.span.clone(), message, help);
        }
    }
}
