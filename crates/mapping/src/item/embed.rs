//! Builds embedded children inside their parent's item.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use dynafold_dynamodb::Attribute;
use dynafold_relational::value::Value;

use super::fault::Fault;
use super::fold::Folder;
use super::sink::{Part, Sink, Values};
use super::{evaluate, text_of, to_set};
use crate::model::{ChildContainer, EmbedNode, Template};

impl Folder {
    /// Builds a row's embedded children: a list, a set or a map.
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
            ChildContainer::List => self.child_list(sink, embed, rows, keep_null).map(Some),
            // A set needs values, not JSON: its members must have one type and differ.
            ChildContainer::Set => match self.child_list(&mut Values, embed, rows, keep_null)? {
                Attribute::L(elements) if !elements.is_empty() => {
                    Ok(Some(sink.attribute(Cow::Owned(to_set(&elements)?))))
                }
                _ => Ok(None),
            },
            ChildContainer::Map(name) => {
                let map = self.child_map(sink, embed, name, rows, keep_null);
                map.map(Some)
            }
        }
    }

    fn child_list<'r, S: Sink>(
        &self,
        sink: &mut S,
        embed: &EmbedNode,
        rows: impl Iterator<Item = (usize, &'r [Value])>,
        keep_null: bool,
    ) -> Result<S::Made, Fault> {
        let mut list = sink.list();
        for (at, row) in rows {
            let added = sink.element(&mut list, |sink| {
                self.node(sink, &embed.each, row, keep_null)
            });
            added.map_err(|fault| fault.at_index(at))?;
        }
        Ok(sink.end_list(list))
    }

    /// `name`: the template of the members' names.
    fn child_map<'r, S: Sink>(
        &self,
        sink: &mut S,
        embed: &EmbedNode,
        name: &Template,
        rows: impl Iterator<Item = (usize, &'r [Value])>,
        keep_null: bool,
    ) -> Result<S::Made, Fault> {
        let mut names: HashSet<Arc<str>> = HashSet::new();
        let mut map = sink.map();
        for (at, row) in rows {
            let name = self
                .member_name(name, row)
                .map_err(|fault| fault.at_index(at))?;
            if names.contains(&name) {
                return Err(member_twice(embed).at(&name));
            }
            let added = sink.member(&mut map, &name, |sink| {
                let value = self.node(sink, &embed.each, row, keep_null)?;
                // A child without a value is absent, and leaves its name to another.
                if value.is_some() {
                    names.insert(name.clone());
                }
                Ok(value)
            });
            added.map_err(|fault| fault.at(&name))?;
        }
        Ok(sink.end_map(map))
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
        format!("two children from `{}` have the same `$key`", embed.written),
    )
    .help("make the `$key` template different for each, or use a list")
}
