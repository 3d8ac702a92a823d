//! Binds `explode`: arrays of which each element makes an item.

use super::bind::Binder;
use super::scope::{Element, Scope};
use crate::catalog::{Catalog, DataType, Family};
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::model::{Explode, Place};
use crate::mapping::raw::{RawItem, Spanned};
use crate::mapping::template::{self, Segment};

use super::pass::PassBuilder;

/// Gives every exploded element its places in the row, and adds it to the scope.
pub(super) fn resolve<'a>(
    raw: &RawItem,
    scope: &mut Scope<'a>,
    pass: &mut PassBuilder,
    catalog: &'a Catalog,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Explode> {
    let mut explodes = Vec::new();
    for (alias, array) in &raw.explode {
        if scope.has(&alias.value) {
            let message = format!(
                "the alias `{}` is a name of `{}` already",
                alias.value, scope.written
            );
            diagnostics.push(
                Diagnostic::new(Code::Explode, alias.span.clone(), message)
                    .with_help("choose another alias"),
            );
            scope.broken.push(alias.value.clone());
            continue;
        }
        let mut binder = Binder::new(scope, pass, catalog, diagnostics);
        let Some((place, family)) = binder.array(array) else {
            scope.broken.push(alias.value.clone());
            continue;
        };
        let explode = Explode {
            array: place,
            element: pass.slot(),
            index: pass.slot(),
        };
        scope.elements.push(Element {
            alias: alias.value.clone(),
            value: explode.element,
            index: explode.index,
            family,
        });
        explodes.push(explode);
    }
    explodes
}

impl Binder<'_> {
    /// The place of an array, and what its elements are.
    fn array(&mut self, written: &Spanned<String>) -> Option<(Place, Family)> {
        let parsed = template::parse(&format!("{{{}}}", written.value));
        let segments = parsed.map(|parsed| parsed.segments).unwrap_or_default();
        let fault = |message: String| Diagnostic::new(Code::Explode, written.span.clone(), message);
        let [Segment::Placeholder(placeholder)] = segments.as_slice() else {
            self.diagnostics.push(
                fault(format!(
                    "`{}` is not a column or a member of one",
                    written.value
                ))
                .with_help("write it without braces: explode: { line: doc.lines }"),
            );
            return None;
        };
        let (place, family) = self.document(placeholder, written.span.clone())?;
        if !matches!(
            family,
            Family::List | Family::Set | Family::Document | Family::Any
        ) {
            self.diagnostics.push(
                fault(format!(
                    "`{}` is {}, not an array",
                    written.value,
                    family.name()
                ))
                .with_help("explode takes a JSON column, an array, or a member of either; of JSON that is kept in text say column | json"),
            );
            return None;
        }
        let columns = self.scope.columns.iter();
        let mut declared =
            columns.filter(|column| place.path.is_empty() && *column.name == *place.written);
        let element = match declared.next().map(|column| &column.data_type) {
            Some(DataType::Array { element }) => element.family(),
            Some(DataType::Set { .. }) => Family::Text,
            _ => Family::Any,
        };
        Some((place, element))
    }
}
