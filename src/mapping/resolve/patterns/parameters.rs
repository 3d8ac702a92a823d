//! The parameters of a pattern, and what is known of how each is read.

use std::sync::Arc;

use crate::mapping::model::{Parameter, ParameterKind, Template};
use crate::mapping::template::Filter;

/// The parameters of a pattern, in the order in which they are first named.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    drafts: Vec<Draft>,
}

#[derive(Debug)]
struct Draft {
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
    is_unsure: bool,
}

impl Parameters {
    /// The index of a parameter, which is new if it is not known yet.
    pub(super) fn named(&mut self, name: &str) -> usize {
        if let Some(at) = self.find(name) {
            return at;
        }
        self.drafts.push(Draft {
            name: name.to_owned(),
            column: None,
            filters: None,
            key: None,
            is_verbatim: false,
            from_clock: None,
            is_unsure: false,
        });
        self.drafts.len() - 1
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.drafts.iter().position(|draft| draft.name == name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.drafts.iter().map(|draft| draft.name.as_str())
    }

    fn draft(&mut self, at: usize) -> Option<&mut Draft> {
        self.drafts.get_mut(at)
    }

    /// Says which column's values a parameter has.
    pub(super) fn is_of_column(&mut self, at: usize, kind: ParameterKind) {
        if let Some(draft) = self.draft(at) {
            draft.column.get_or_insert(kind);
        }
    }

    /// Says which filters a parameter goes through.
    pub(super) fn goes_through(&mut self, at: usize, filters: &[Filter]) {
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
        if let Some(draft) = self.draft(at) {
            draft.filters.get_or_insert(kind);
        }
    }

    /// Says that a parameter alone is a key attribute that is no text.
    pub(super) fn is_key(&mut self, at: usize, kind: ParameterKind) {
        if let Some(draft) = self.draft(at) {
            draft.key.get_or_insert(kind);
        }
    }

    /// Says that a parameter is text as it is.
    pub(super) fn is_verbatim(&mut self, at: usize) {
        if let Some(draft) = self.draft(at) {
            draft.is_verbatim = true;
        }
    }

    /// Says that nothing tells a parameter's type.
    pub(super) fn is_unsure(&mut self, at: usize) {
        if let Some(draft) = self.draft(at) {
            draft.is_unsure = true;
        }
    }

    /// Says what a parameter is without the caller's word.
    pub(super) fn is_counted(&mut self, at: usize, template: Template) {
        if let Some(draft) = self.draft(at) {
            draft.from_clock = Some(template);
        }
    }

    pub(super) fn kind(&self, at: usize) -> ParameterKind {
        self.drafts.get(at).map_or(ParameterKind::Text, Draft::kind)
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

impl Draft {
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
