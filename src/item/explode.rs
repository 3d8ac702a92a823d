//! Goes through the elements of a row's arrays, of which each makes an item.

use std::vec::IntoIter;

use super::Item;
use super::fault::{Fault, Reject};
use super::fold::find;
use crate::mapping::model::Explode;
use crate::value::{Number, Value};

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
            Value::Unfit(unfit) => {
                let fault = Fault::new("unfit-value", unfit.why.to_string()).help(unfit.why.help());
                return Err(Box::new(reject(fault, explode)));
            }
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
