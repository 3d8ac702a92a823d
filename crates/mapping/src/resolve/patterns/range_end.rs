//! Whether a range of a pattern ends where it seems to: a bound that is only the beginning of a key
//! lies before all keys that begin with it.

use dynafold_dynamodb::KeyAttribute;

use super::align::{KeyRest, KnownAttributes, aligned, writing};
use super::bind::PatternBinder;
use super::operators;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{RangeBound, SortCondition};
use crate::yaml::{YamlEntry, YamlNode};

impl PatternBinder<'_> {
    /// Tells of bounds at which a range takes in other items than its operator, or the query, says.
    pub(super) fn bounds(
        &mut self,
        entry: &YamlEntry,
        condition: &SortCondition,
        key: &KeyAttribute,
    ) {
        let nodes = operators(entry).map_or(Vec::new(), |(_, nodes)| nodes);
        for (bound, node) in condition.bounds().into_iter().zip(nodes) {
            let mut promised = self.promised();
            let warning = promised.find_map(|make| self.ending(bound, node, make, key));
            self.warnings.extend(warning);
        }
    }

    fn ending(
        &self,
        bound: RangeBound<'_>,
        node: &YamlNode,
        make: &KnownAttributes,
        key: &KeyAttribute,
    ) -> Option<Diagnostic> {
        let RangeBound {
            template,
            is_upper,
            takes_in,
        } = bound;
        let made = make.template(&key.name)?;
        let rest = aligned(template, made).rest?;
        let last = template.placeholders().last()?;
        let parameter = &*last.place.written;
        let query = self.query.as_ref();
        let wanted = query.and_then(|query| query.takes_in(parameter, is_upper));
        let (does, is_judged) = match rest {
            // Days and months of moments equal more than one of these.
            KeyRest::Nothing => {
                let is_exact = writing(&last.filters).is_empty();
                (takes_in, wanted.is_some() && is_exact)
            }
            // Behind a beginning lies every key that begins so: below a lower bound none of them is.
            KeyRest::Begins(_) => (!is_upper, true),
        };
        if wanted.unwrap_or(takes_in) == does || !is_judged {
            return None;
        }
        let sign = match (is_upper, does) {
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
                    format!("to change that, {verb} the range after them: \"{template}{next}\"; ")
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
        let fault = Diagnostic::new(Code::RangeEnd, node.span.clone(), message);
        Some(fault.with_help(help))
    }
}

/// A text behind all that begin with another.
fn behind(text: &str) -> Option<char> {
    let first = text.bytes().next().filter(u8::is_ascii_graphic)?;
    let next = char::from(first.checked_add(1)?);
    // Braces and brackets would be read as a template's.
    (next.is_ascii_graphic() && !"{}[]\"".contains(next)).then_some(next)
}
