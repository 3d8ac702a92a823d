//! The rows of an item type as far as a query's result gives them.

use std::sync::Arc;

use dynafold_mapping::model::ValuePath;
use dynafold_relational::catalog::DataType;
use dynafold_relational::value::{Text, Value};

use super::coerce::coerce;
use super::columns::AttributeColumns;
use super::places::{carried_in, is_same, places_of, table_column};

/// A place of a row, with the column of the query that stands for it.
#[derive(Debug, Clone)]
struct RowSlot {
    place: ValuePath,
    from: usize,
    /// The type of the place, where it is known.
    data_type: Option<DataType>,
}

/// All places of an item type's rows for which the query has a column; whole columns first.
#[derive(Debug, Clone, Default)]
pub(super) struct RowSlots {
    all: Vec<RowSlot>,
    width: usize,
}

impl RowSlots {
    pub(super) fn new(names: &AttributeColumns<'_>) -> Self {
        let (item, pass) = (names.item, names.pass);
        let mut slots = Self {
            all: Vec::new(),
            width: pass.scan.columns.len() + pass.scan.conditions.len(),
        };
        let mut carried = Vec::new();
        for (name, node) in &item.attributes {
            carried_in(name, node, &mut carried);
        }
        let places = places_of(item);
        let is_own = |wanted: &str| {
            let mut columns = places.iter().filter_map(|place| table_column(pass, place));
            columns.any(|(join, name, _)| join.is_none() && name == wanted)
        };
        for place in &places {
            let attributes = carried.iter().filter(|(_, other)| is_same(other, place));
            let attributes: Vec<&str> = attributes.map(|(path, _)| path.as_str()).collect();
            // An attribute that is a column and nothing else says what that column is called.
            let named = attributes.iter().find_map(|path| names.named_column(path));
            let found = || match slots.find(place) {
                Some(_) => None,
                None => names.of_place(place, &attributes, &is_own),
            };
            let from = named.or_else(found);
            if let Some(from) = from.filter(|from| !names.is_converted(*from)) {
                slots.all.push(RowSlot {
                    place: place.clone(),
                    from,
                    data_type: table_column(pass, place).map(|(.., data_type)| data_type.clone()),
                });
            }
        }
        slots
    }

    /// The places, each with the column of the query that stands for it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&ValuePath, usize)> {
        self.all.iter().map(|slot| (&slot.place, slot.from))
    }

    /// The column of the query that stands for a place.
    pub(super) fn find(&self, place: &ValuePath) -> Option<usize> {
        let exact = self.all.iter().find(|slot| is_same(&slot.place, place));
        let found = exact.map(|slot| slot.from);
        found.or_else(|| self.column(place.column))
    }

    /// The column of the query that stands for a column of the row.
    pub(super) fn column(&self, column: usize) -> Option<usize> {
        let is_it = |place: &ValuePath| place.column == column && place.path.is_empty();
        let slot = self.all.iter().find(|slot| is_it(&slot.place));
        slot.map(|slot| slot.from)
    }

    /// A row of the item type's pass, as far as the query gives it, with values as the pass's columns give them.
    pub(super) fn row(&self, given: &[Value]) -> Vec<Value> {
        self.fill(given, coerce)
    }

    /// The same with values as the query gives them: in SQLite a column of numbers may hold text.
    pub(super) fn row_as_given(&self, given: &[Value]) -> Vec<Value> {
        self.fill(given, |value, _| value)
    }

    fn fill(&self, given: &[Value], read: fn(Value, &DataType) -> Value) -> Vec<Value> {
        let mut row = vec![Value::Null; self.width];
        for slot in &self.all {
            let value = given.get(slot.from).cloned().unwrap_or(Value::Null);
            let value = match &slot.data_type {
                Some(data_type) => read(value, data_type),
                None => value,
            };
            if let Some(place) = row.get_mut(slot.place.column) {
                put(place, &slot.place.path, value);
            }
        }
        row
    }
}

/// Puts a value at a path within a document.
fn put(place: &mut Value, path: &[Arc<str>], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *place = value;
        return;
    };
    if !matches!(place, Value::Map(_)) {
        *place = Value::Map(Vec::new());
    }
    let Value::Map(members) = place else { return };
    let at = members.iter().position(|(name, _)| *name == **first);
    let at = at.unwrap_or_else(|| {
        members.push((Text::from(&**first), Value::Null));
        members.len() - 1
    });
    if let Some((_, member)) = members.get_mut(at) {
        put(member, rest, value);
    }
}

#[cfg(test)]
mod tests {
    use dynafold_testing::model::{number, text};

    use super::*;

    #[test]
    fn members_are_put_into_one_document_and_replace_what_is_none() {
        let path = |members: &[&str]| -> Vec<Arc<str>> {
            members.iter().map(|member| Arc::from(*member)).collect()
        };
        let mut place = Value::Null;
        put(&mut place, &path(&["a", "b"]), number(1));
        put(&mut place, &path(&["a", "c"]), number(2));
        put(&mut place, &path(&["a", "b"]), number(3));
        put(&mut place, &path(&["d"]), text("x"));
        let inner = vec![("b".into(), number(3)), ("c".into(), number(2))];
        let all = vec![("a".into(), Value::Map(inner)), ("d".into(), text("x"))];
        assert_eq!(place, Value::Map(all));
        put(&mut place, &[], text("whole"));
        assert_eq!(place, text("whole"));
    }

    #[test]
    fn a_row_has_what_the_query_gives_and_null_elsewhere() {
        let slot = |column, path: &[&str], from, data_type| RowSlot {
            place: ValuePath {
                path: path.iter().map(|member| Arc::from(*member)).collect(),
                ..ValuePath::of_column(column, "x")
            },
            from,
            data_type,
        };
        let slots = RowSlots {
            all: vec![
                slot(0, &[], 1, None),
                slot(2, &["a"], 0, None),
                slot(3, &[], 9, None),
            ],
            width: 4,
        };
        let member = Value::Map(vec![("a".into(), text("given first"))]);
        assert_eq!(
            slots.row(&[text("given first"), number(7)]),
            [number(7), Value::Null, member, Value::Null]
        );
        assert_eq!((slots.column(0), slots.column(2)), (Some(1), None));
        let whole = ValuePath::of_column(0, "x");
        let within = slot(0, &["b"], 0, None).place;
        assert_eq!(
            (slots.find(&whole), slots.find(&within)),
            (Some(1), Some(1))
        );
    }
}
