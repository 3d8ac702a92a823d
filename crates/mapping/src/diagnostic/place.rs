//! Places in the text of a mapping: lines, columns, and what of them can be shown.

use std::ops::Range;

/// A place within the text that parts no character.
fn clip(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end.min(text.len()).max(start));
    start..end
}

/// The part of a place that stands in its first line.
pub(super) fn first_line(text: &str, span: &Range<usize>) -> Range<usize> {
    let span = clip(text, span);
    let end = span.end.min(line_end(text, span.start));
    span.start..end.max(span.start)
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |newline| newline + 1)
}

/// The end of a line's text, its line break left out.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let after = text.get(at..).unwrap_or_default();
    let line = after.split('\n').next().unwrap_or_default();
    at + line.strip_suffix('\r').unwrap_or(line).len()
}

/// Where the lines start.
pub(super) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(super) fn new(text: &str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(after).collect())
    }

    /// The line and the column of a place's beginning, and those of its end, from 1.
    pub(super) fn place(&self, text: &str, span: &Range<usize>) -> [(usize, usize); 2] {
        let span = clip(text, span);
        [span.start, span.end].map(|at| self.line_and_column(text, at))
    }

    /// The number of the line that a place stands in, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at)
    }

    fn line_and_column(&self, text: &str, at: usize) -> (usize, usize) {
        let line = self.line(at);
        let start = self.0.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = text.get(start..at).unwrap_or_default();
        (line, before.chars().count() + 1)
    }
}
