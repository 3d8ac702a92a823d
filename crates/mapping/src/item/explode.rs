//! Goes through the elements of a row's arrays, of which each makes an item.

use std::sync::Arc;
use std::vec::IntoIter;

use dynafold_dynamodb::{Attribute, Item};
use dynafold_relational::value::{Number, Value};

use super::fault::{Fault, Reject};
use super::fold::{Folder, find};
use super::{evaluate, text_of, to_set};
use crate::model::{ChildContainer, EmbedNode, Explode, Template};

/// The elements of one row, innermost fastest. A row without arrays to explode is one element.
#[derive(Debug)]
pub struct Elements<'m> {
    explodes: &'m [Explode],
    /// What is left of each array that is open, and the position of the next element.
    open: Vec<(IntoIter<Value>, u64)>,
    begun: bool,
}

impl<'m> Elements<'m> {
    /// Starts on a row of an item type with these arrays.
    #[must_use]
    pub fn new(explodes: &'m [Explode]) -> Self {
        Self {
            explodes,
            open: Vec::new(),
            begun: false,
        }
    }

    /// Puts the next element, with its position, into its places of the row. `false` after the last.
    ///
    /// # Errors
    ///
    /// [`Reject`] where something else than an array stands; the elements after it are still to come.
    pub fn next(&mut self, row: &mut [Value]) -> Result<bool, Box<Reject>> {
        let first = !std::mem::replace(&mut self.begun, true);
        if self.explodes.is_empty() {
            return Ok(first);
        }
        if first {
            self.enter(row)?;
        }
        loop {
            let depth = self.open.len();
            let Some((elements, position)) = self.open.last_mut() else {
                return Ok(false);
            };
            let Some(element) = elements.next() else {
                self.open.pop();
                continue;
            };
            let index = Number::from(*position);
            *position += 1;
            if let Some(explode) = self.explodes.get(depth - 1) {
                put(row, explode.element, element);
                put(row, explode.index, Value::Number(index));
            }
            if depth == self.explodes.len() {
                return Ok(true);
            }
            self.enter(row)?;
        }
    }

    /// Opens the next array within the elements that are in the row.
    fn enter(&mut self, row: &[Value]) -> Result<(), Box<Reject>> {
        let Some(explode) = self.explodes.get(self.open.len()) else {
            return Ok(());
        };
        let elements = match &*find(&explode.array, row) {
            Value::Null => Vec::new(),
            Value::List(elements) | Value::Set(elements) => elements.clone(),
            Value::Unfit(unfit) => return Err(Box::new(reject(unfit.why.into(), explode))),
            other => {
                let message = format!(
                    "`explode` found {} in `{}` and needs an array",
                    other.kind(),
                    explode.array.written
                );
                let fault = Fault::new("explode-not-an-array", message)
                    .help("leave such rows out with `where`");
                return Err(Box::new(reject(fault, explode)));
            }
        };
        self.open.push((elements.into_iter(), 0));
        Ok(())
    }
}

fn reject(fault: Fault, explode: &Explode) -> Reject {
    fault.at(&explode.array.written).reject(Item::default())
}

fn put(row: &mut [Value], at: usize, value: Value) {
    if let Some(place) = row.get_mut(at) {
        *place = value;
    }
}

// Gathers children inside their parent's item, and holds values to the types they are given.

impl Folder {
    /// Gathers what becomes of a row's children.
    pub(super) fn embed(
        &self,
        embed: &EmbedNode,
        row: &[Value],
        keep_null: bool,
    ) -> Result<Option<Attribute>, Fault> {
        let children = match row.get(embed.column) {
            Some(Value::List(children)) => children.as_slice(),
            Some(Value::Unfit(unfit)) => return Err(unfit.why.into()),
            _ => &[],
        };
        let rows = children
            .iter()
            .enumerate()
            .filter_map(|(at, child)| match child {
                Value::List(row) => Some((at, row.as_slice())),
                _ => None,
            });
        if let ChildContainer::Map(name) = &embed.gather {
            let mut members: Vec<(Arc<str>, Attribute)> = Vec::with_capacity(children.len());
            for (at, row) in rows {
                let name = self
                    .member_name(name, row)
                    .map_err(|f| f.at(&at.to_string()))?;
                if members.iter().any(|(other, _)| *other == name) {
                    return Err(member_twice(embed).at(&name));
                }
                let made = self
                    .node(&embed.each, row, keep_null)
                    .map_err(|f| f.at(&name))?;
                if let Some(made) = made {
                    members.push((name, made));
                }
            }
            return Ok(Some(Attribute::M(members)));
        }
        // What is absent in a list is NULL, because the position tells.
        let mut elements = Vec::with_capacity(children.len());
        for (at, row) in rows {
            let made = self
                .node(&embed.each, row, keep_null)
                .map_err(|f| f.at(&at.to_string()))?;
            elements.push(made.unwrap_or(Attribute::Null));
        }
        match embed.gather {
            ChildContainer::Set if elements.is_empty() => Ok(None),
            ChildContainer::Set => Ok(Some(to_set(&elements)?)),
            _ => Ok(Some(Attribute::L(elements))),
        }
    }

    fn member_name(&self, name: &Template, row: &[Value]) -> Result<Arc<str>, Fault> {
        let value = evaluate(name, row, &self.context)?;
        if value.is_null() {
            return Err(Fault::new("embed-key", "the `$key` of a child is NULL")
                .help("leave such children out with `$where`, or use `| default(x)`"));
        }
        Ok(text_of(&value)?.into())
    }
}

fn member_twice(embed: &EmbedNode) -> Fault {
    Fault::new(
        "embed-key",
        format!("two children from `{}` have one `$key`", embed.written),
    )
    .help("make the `$key` template different for each, or use a list")
}
