//! Goes through the elements of a row's arrays, of which each makes an item.

use std::borrow::Cow;
use std::sync::Arc;
use std::vec::IntoIter;

use dynafold_dynamodb::{Attribute, Item};
use dynafold_relational::value::{Number, Value};

use super::fault::{Fault, Reject};
use super::fold::{Folder, find};
use super::sink::{Part, Sink, Values};
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
    pub(super) fn embed<S: Sink>(
        &self,
        sink: &mut S,
        embed: &EmbedNode,
        row: &[Value],
        keep_null: bool,
    ) -> Part<S> {
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
        match &embed.container {
            ChildContainer::List => self.children(sink, embed, rows, keep_null).map(Some),
            // That the members are of one kind, and differ, is decided on values.
            ChildContainer::Set => match self.children(&mut Values, embed, rows, keep_null)? {
                Attribute::L(elements) if !elements.is_empty() => {
                    Ok(Some(sink.attribute(Cow::Owned(to_set(&elements)?))))
                }
                _ => Ok(None),
            },
            ChildContainer::Map(name) => {
                let mut names: Vec<Arc<str>> = Vec::with_capacity(children.len());
                let mut map = sink.map();
                for (at, row) in rows {
                    let name = self
                        .member_name(name, row)
                        .map_err(|f| f.at(&at.to_string()))?;
                    if names.contains(&name) {
                        return Err(member_twice(embed).at(&name));
                    }
                    let made = sink.member(&mut map, &name, |sink| {
                        let made = self.node(sink, &embed.each, row, keep_null)?;
                        if made.is_some() {
                            names.push(name.clone());
                        }
                        Ok(made)
                    });
                    made.map_err(|f| f.at(&name))?;
                }
                Ok(Some(sink.end_map(map)))
            }
        }
    }

    fn children<'r, S: Sink>(
        &self,
        sink: &mut S,
        embed: &EmbedNode,
        rows: impl Iterator<Item = (usize, &'r [Value])>,
        keep_null: bool,
    ) -> Result<S::Made, Fault> {
        let mut list = sink.list();
        for (at, row) in rows {
            let made = sink.element(&mut list, |sink| {
                self.node(sink, &embed.each, row, keep_null)
            });
            made.map_err(|f| f.at(&at.to_string()))?;
        }
        Ok(sink.end_list(list))
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
