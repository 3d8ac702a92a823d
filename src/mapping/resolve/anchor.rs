//! Where a template's text stands in the file.

use std::ops::Range;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::mapping::raw::Spanned;
use crate::mapping::template::{self, Filter, FilterCall, FilterError, TemplateError, Written};
use crate::mapping::yaml::{Content, Node as Yaml};

/// Where a template's text stands in the file, so that a place within the template can be shown.
pub(super) struct Anchor {
    node: Range<usize>,
    /// Where the text begins, when it stands in the file as it is.
    start: Option<usize>,
}

impl Anchor {
    pub(super) fn new(yaml: &Yaml, text: &str) -> Self {
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

    /// The same for a value of which only the place is known.
    pub(super) fn of(text: &Spanned<String>) -> Self {
        let start = match text.span.len().checked_sub(text.value.len()) {
            Some(0) => Some(text.span.start),
            Some(2) => Some(text.span.start + 1),
            _ => None,
        };
        Self {
            node: text.span.clone(),
            start,
        }
    }

    pub(super) fn range(&self, within: &Range<usize>) -> Range<usize> {
        match self.start {
            Some(start) => start + within.start..start + within.end,
            None => self.node.clone(),
        }
    }

    /// Reads the template; what is wrong with it is told.
    pub(super) fn template(
        &self,
        text: &str,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Written> {
        let mut tell = |error: TemplateError| {
            let span = self.range(&error.span);
            diagnostics.add(Code::Template, span, error.message, error.help);
        };
        let read = template::parse(text);
        read.map_err(|errors| errors.into_iter().for_each(&mut tell))
            .ok()
    }

    /// Compiles one of the template's filters; what is wrong with it is told.
    pub(super) fn filter(
        &self,
        call: &FilterCall,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Filter> {
        let tell = |error: FilterError| {
            let code = match error {
                FilterError::Unknown { .. } => Code::UnknownFilter,
                FilterError::Arguments { .. } => Code::FilterArguments,
            };
            let span = self.range(&call.span);
            diagnostics.add(code, span, error.to_string(), error.help());
        };
        Filter::compile(call).map_err(tell).ok()
    }
}
