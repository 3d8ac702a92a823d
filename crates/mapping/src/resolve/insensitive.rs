//! Keys of text that the database compares without regard to case, accents or blanks at the end: what is equal to it is
//! not equal to DynamoDB.

use dynafold_relational::catalog::{Column, ForeignKey};

use super::patterns::BoundPattern;
use super::{ResolvedItem, ResolvedMapping};
use crate::diagnostic::{Code, Diagnostic};
use crate::model::Placeholder;
use crate::scalar::scalar;
use crate::template::Path;

/// Tells of partition keys that are made from a foreign key between such columns: a child that spells its parent
/// otherwise stands apart from it. Of indexes those count that an access pattern asks.
pub(super) fn check(whole: &ResolvedMapping<'_>, bound: &[BoundPattern]) {
    let table = whole.table;
    let is_asked = |name: &str| {
        let mut patterns = bound.iter().map(|bound| &bound.pattern);
        patterns.any(|pattern| pattern.index.as_deref() == Some(name))
    };
    let queried = table.indexes.iter().filter(|index| is_asked(&index.name));
    let keys = std::iter::once(&table.partition).chain(queried.flat_map(|index| &index.partition));
    for key in keys {
        for item in whole.resolved {
            let template = item.item.template(&key.name);
            for placeholder in template.iter().flat_map(|template| template.placeholders()) {
                let warning = parent_spelling(item, placeholder, whole).map(|help| {
                    let message = format!(
                        "`{{{}}}` is a foreign key that the database compares without regard to case, accents or trailing blanks: if it is spelled differently from its parent's key, the item is not stored with its parent",
                        placeholder.place.written
                    );
                    Diagnostic::new(Code::InsensitiveKey, item.place(&key.name), message).with_help(help)
                });
                whole.diagnostics.extend(warning);
            }
        }
    }
}

/// How a placeholder takes the parent's spelling, where its own may be another.
fn parent_spelling(
    item: &ResolvedItem,
    placeholder: &Placeholder,
    whole: &ResolvedMapping<'_>,
) -> Option<String> {
    let (passes, catalog) = (whole.passes, whole.catalog);
    let place = &placeholder.place;
    if placeholder.has_one_spelling() || !place.path.is_empty() {
        return None;
    }
    let (from, column) = passes.so_far(item.item.pass)?.origin(place.column)?;
    let table = catalog.table(from)?;
    let theirs = |key: &ForeignKey| {
        let parent = catalog.table(&key.references)?;
        parent.column(key.referenced(column)?)
    };
    let own = table.column(column)?;
    let is_loose = |theirs: &Column| {
        let either = Column {
            insensitive: own.insensitive || theirs.insensitive,
            collation: own.collation.clone().or_else(|| theirs.collation.clone()),
            ..own.clone()
        };
        either.has_insensitive_text()
    };
    let mut keys = table.foreign_keys.iter();
    let (key, theirs) =
        keys.find_map(|key| Some((key, theirs(key).filter(|theirs| is_loose(theirs))?)))?;
    let owner = place.written.rsplit_once('.').map(|(owner, _)| owner);
    let ours: Vec<(Option<&str>, &str, &str)> = (key.columns.iter().zip(&key.referenced_columns))
        .map(|(ours, theirs)| (owner, ours.as_str(), theirs.as_str()))
        .collect();
    let name = Path(std::slice::from_ref(&theirs.name));
    if let Some(alias) = passes.joined(item.item.pass, &key.references, &ours) {
        return Some(format!(
            "use the parent's spelling: {{{alias}.{name}}} instead of {{{}}}",
            place.written
        ));
    }
    let mut alias = "parent".to_owned();
    while table.column(&alias).is_some()
        || from.name == alias
        || passes.has_alias(item.item.pass, &alias)
    {
        alias.insert(0, '_');
    }
    let from = |column: &String| {
        scalar(&owner.map_or_else(|| column.clone(), |owner| format!("{owner}.{column}")))
    };
    let columns: Vec<String> = key.columns.iter().map(from).collect();
    let columns = match columns.as_slice() {
        [one] => one.clone(),
        all => format!("[{}]", all.join(", ")),
    };
    Some(format!(
        "use the parent's spelling: join: {{ {alias}: {columns} }}, and {{{alias}.{name}}} instead of {{{}}}; if all rows spell it the same way: accept: [insensitive-key]",
        place.written
    ))
}
