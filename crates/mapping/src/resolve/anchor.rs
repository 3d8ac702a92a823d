//! Where a template's text stands in the file.

use std::ops::Range;

use crate::diagnostic::{Code, Diagnostics};
use crate::raw::Spanned;
use crate::template::{self, Filter, FilterCall, FilterError, TemplateError, WrittenTemplate};

/// Where a template's text stands in the file, so that a place within the template can be shown.
pub(super) struct TemplateAnchor {
    node: Range<usize>,
    /// Where the text begins, when it stands in the file as it is.
    start: Option<usize>,
}

impl TemplateAnchor {
    pub(super) fn new(span: &Range<usize>, text: &str) -> Self {
        let start = match span.len().checked_sub(text.len()) {
            Some(0) => Some(span.start),
            // Quotes at both ends and no escapes between them.
            Some(2) => Some(span.start + 1),
            _ => None,
        };
        let node = span.clone();
        Self { node, start }
    }

    pub(super) fn of(text: &Spanned<String>) -> Self {
        Self::new(&text.span, &text.value)
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
        diagnostics: &Diagnostics,
    ) -> Option<WrittenTemplate> {
        let mut report = |error: TemplateError| {
            let span = self.range(&error.span);
            diagnostics.add(Code::Template, span, error.message, error.help);
        };
        let read = template::parse(text);
        read.map_err(|errors| errors.into_iter().for_each(&mut report))
            .ok()
    }

    /// Compiles one of the template's filters; what is wrong with it is told.
    pub(super) fn filter(&self, call: &FilterCall, diagnostics: &Diagnostics) -> Option<Filter> {
        let report = |error: FilterError| {
            let code = match error {
                FilterError::Unknown { .. } => Code::UnknownFilter,
                FilterError::Arguments { .. } => Code::FilterArguments,
            };
            let span = self.range(&call.span);
            diagnostics.add(code, span, error.to_string(), error.help());
        };
        Filter::compile(call).map_err(report).ok()
    }
}
