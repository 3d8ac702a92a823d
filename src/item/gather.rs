//! Gathers children inside their parent's item, and holds values to the types they are given.

use std::sync::Arc;

use super::fault::Fault;
use super::fold::{Folder, not_converted};
use super::{Attribute, evaluate, text_of, to_set};
use crate::mapping::model::{DynamoType, EmbedNode, Gather, Template};
use crate::value::{Unfit, Value};

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
            Some(Value::Unfit(unfit)) => return Err(unfit_value(unfit)),
            _ => &[],
        };
        let rows = children
            .iter()
            .enumerate()
            .filter_map(|(at, child)| match child {
                Value::List(row) => Some((at, row.as_slice())),
                _ => None,
            });
        if let Gather::Map(name) = &embed.gather {
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
            Gather::Set if elements.is_empty() => Ok(None),
            Gather::Set => to_set(&elements)
                .map(Some)
                .map_err(|error| not_converted(&error)),
            _ => Ok(Some(Attribute::L(elements))),
        }
    }

    fn member_name(&self, name: &Template, row: &[Value]) -> Result<Arc<str>, Fault> {
        let value = evaluate(name, row, &self.context)?;
        let text =
            match &value {
                Value::Null => None,
                value => Some(text_of(value).map_err(|error| {
                    Fault::new(error.code(), error.to_string()).help(error.help())
                })?),
            };
        text.map(Into::into).ok_or_else(|| {
            Fault::new("embed-key", "the `$key` of a child is NULL")
                .help("leave such children out with `$where`, or say `| default(x)`")
        })
    }
}

fn unfit_value(unfit: &Unfit) -> Fault {
    Fault::new("unfit-value", unfit.why.to_string()).help(unfit.why.help())
}

fn member_twice(embed: &EmbedNode) -> Fault {
    Fault::new(
        "embed-key",
        format!("two children from `{}` have one `$key`", embed.written),
    )
    .help("make the `$key` template tell them apart, or gather them in a list")
}

/// Whether an attribute has the type that `$type` asks for.
pub(super) fn typed(wanted: DynamoType, made: Option<&Attribute>) -> Result<(), Fault> {
    let (fits, name) = match (wanted, made) {
        (_, None | Some(Attribute::Null)) => return Ok(()),
        (DynamoType::S, Some(made)) => (matches!(made, Attribute::S(_)), "S"),
        (DynamoType::N, Some(made)) => (matches!(made, Attribute::N(_)), "N"),
        (DynamoType::B, Some(made)) => (matches!(made, Attribute::B(_)), "B"),
        (DynamoType::Bool, Some(made)) => (matches!(made, Attribute::Bool(_)), "BOOL"),
        (DynamoType::Ss, Some(made)) => (matches!(made, Attribute::Ss(_)), "SS"),
        (DynamoType::Ns, Some(made)) => (matches!(made, Attribute::Ns(_)), "NS"),
        (DynamoType::Bs, Some(made)) => (matches!(made, Attribute::Bs(_)), "BS"),
        (DynamoType::L, Some(made)) => (matches!(made, Attribute::L(_)), "L"),
        (DynamoType::M, Some(made)) => (matches!(made, Attribute::M(_)), "M"),
    };
    if fits {
        return Ok(());
    }
    Err(
        Fault::new("wrong-type", format!("the value is not of the type {name}"))
            .help("convert it with a filter, or take `$type` away"),
    )
}
