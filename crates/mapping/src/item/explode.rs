//! Goes through the elements of a row's arrays, of which each makes an item.

use std::vec::IntoIter;

use dynafold_dynamodb::Item;
use dynafold_relational::value::{Number, Value};

use super::fault::{Fault, Reject};
use super::fold::find;
use crate::model::Explode;

/// The elements of one row, innermost fastest. A row without arrays to explode is one element.
#[derive(Debug)]
pub struct ExplodedElements<'m> {
    explodes: &'m [Explode],
    /// One iterator per nested array, with the position of its next element.
    stack: Vec<(IntoIter<Value>, u64)>,
    begun: bool,
}

impl<'m> ExplodedElements<'m> {
    /// Starts on a row of an item type with these arrays.
    pub fn new(explodes: &'m [Explode]) -> Self {
        Self {
            explodes,
            stack: Vec::new(),
            begun: false,
        }
    }

    /// Writes the next element and its position into the row. Returns `false` after the last.
    ///
    /// # Errors
    ///
    /// [`Reject`] if a value is not an array. Call again for the remaining elements.
    pub fn advance(&mut self, row: &mut [Value]) -> Result<bool, Box<Reject>> {
        let first = !std::mem::replace(&mut self.begun, true);
        if self.explodes.is_empty() {
            return Ok(first);
        }
        if first {
            self.push_array(row)?;
        }
        loop {
            let depth = self.stack.len();
            let Some((elements, position)) = self.stack.last_mut() else {
                return Ok(false);
            };
            let Some(element) = elements.next() else {
                self.stack.pop();
                continue;
            };
            let index = Number::from(*position);
            *position += 1;
            if let Some(explode) = self.explodes.get(depth - 1) {
                set(row, explode.element, element);
                set(row, explode.index, Value::Number(index));
            }
            if depth == self.explodes.len() {
                return Ok(true);
            }
            self.push_array(row)?;
        }
    }

    /// Starts the next nested array.
    fn push_array(&mut self, row: &[Value]) -> Result<(), Box<Reject>> {
        let Some(explode) = self.explodes.get(self.stack.len()) else {
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
        self.stack.push((elements.into_iter(), 0));
        Ok(())
    }
}

fn reject(fault: Fault, explode: &Explode) -> Reject {
    fault.at(&explode.array.written).reject(Item::default())
}

fn set(row: &mut [Value], at: usize, value: Value) {
    if let Some(place) = row.get_mut(at) {
        *place = value;
    }
}
