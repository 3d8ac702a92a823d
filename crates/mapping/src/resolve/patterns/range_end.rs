//! Whether a range of a pattern ends where it seems to: a bound that is only the beginning of a key
//! lies before all keys that begin with it.

use dynafold_dynamodb::KeyAttribute;

use super::align::{KeyRest, KnownAttributes, aligned, writing};
use super::bind::PatternBinder;
use super::operators;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{SortCondition, Template};
use crate::yaml::{YamlEntry, YamlNode};

/// A bound of a range.
struct RangeBound<'a> {
    template: &'a Template,
    node: &'a YamlNode,
    is_upper: bool,
    /// Whether the operator takes in keys that equal the bound.
    takes_in: bool,
}

impl PatternBinder<'_> {
    /// Tells of bounds at which a range takes in other items than its operator, or the query, says.
    pub(super) fn bounds(
        &mut self,
        entry: &YamlEntry,
        condition: &SortCondition,
        key: &KeyAttribute,
    ) {
        for bound in bounds(entry, condition) {
            let warning = self
                .promised()
                .find_map(|make| self.ending(&bound, make, key));
            self.warnings.extend(warning);
        }
    }

    fn ending(
        &self,
        bound: &RangeBound<'_>,
        make: &KnownAttributes,
        key: &KeyAttribute,
    ) -> Option<Diagnostic> {
        let made = make.template(&key.name)?;
        let rest = aligned(bound.template, made).rest?;
        let last = bound.template.placeholders().last()?;
        let parameter = &*last.place.written;
        let query = self.query.as_ref();
        let wanted = query.and_then(|query| query.takes_in(parameter, bound.is_upper));
        let (does, is_judged) = match rest {
            // Days and months of moments equal more than one of these.
            KeyRest::Nothing => {
                let is_exact = writing(&last.filters).is_empty();
                (bound.takes_in, wanted.is_some() && is_exact)
            }
            // Behind a beginning lies every key that begins so: below a lower bound none of them is.
            KeyRest::Begins(_) => (!bound.is_upper, true),
        };
        if wanted.unwrap_or(bound.takes_in) == does || !is_judged {
            return None;
        }
        let sign = match (bound.is_upper, does) {
            (true, true) => "<=",
            (true, false) => "<",
            (false, true) => ">=",
            (false, false) => ">",
        };
        let (returns, opposite) = if does {
            ("returns", "leaves them out")
        } else {
            ("leaves out", "returns them")
        };
        let (why, mend) = match rest {
            KeyRest::Nothing => (format!(", and its SQL {opposite}"), None),
            KeyRest::Begins(text) => {
                let mend = behind(text).map(|next| {
                    let verb = if does { "begin" } else { "end" };
                    format!(
                        "to change that, {verb} the range after them: \"{}{next}\"; ",
                        bound.template
                    )
                });
                (
                    format!(
                        ": the keys of `{}` have more text after it, and so sort later",
                        make.name
                    ),
                    mend,
                )
            }
        };
        let message = format!("the range {returns} items whose value equals `{last}`{why}");
        let help = format!(
            "{}if this is intended, write `{sign} :{parameter}` in `sql`, or accept: [range-end]",
            mend.unwrap_or_default()
        );
        let fault = Diagnostic::new(Code::RangeEnd, bound.node.span.clone(), message);
        Some(fault.with_help(help))
    }
}

/// The bounds of a range.
fn bounds<'a>(entry: &'a YamlEntry, condition: &'a SortCondition) -> Vec<RangeBound<'a>> {
    let (is_upper, takes_in) = match condition {
        SortCondition::Between(..) => (false, true),
        SortCondition::Less(_) => (true, false),
        SortCondition::LessOrEqual(_) => (true, true),
        SortCondition::Greater(_) => (false, false),
        SortCondition::GreaterOrEqual(_) => (false, true),
        SortCondition::Is(_) | SortCondition::BeginsWith(_) => return Vec::new(),
    };
    let nodes = operators(entry).map_or(Vec::new(), |(_, nodes)| nodes);
    let templates = condition.templates().into_iter().zip(nodes);
    let bounds = templates
        .enumerate()
        .map(|(at, (template, node))| RangeBound {
            template,
            node,
            // The second of a `between`.
            is_upper: is_upper || at == 1,
            takes_in,
        });
    bounds.collect()
}

/// A text behind all that begin with another.
fn behind(text: &str) -> Option<char> {
    let first = text.bytes().next().filter(u8::is_ascii_graphic)?;
    let next = char::from(first.checked_add(1)?);
    // Braces and brackets would be read as a template's.
    (next.is_ascii_graphic() && !"{}[]\"".contains(next)).then_some(next)
}
