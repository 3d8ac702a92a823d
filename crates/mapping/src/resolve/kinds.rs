//! Kinds of values: that of an attribute tree's node, and that of a DynamoDB type.

use dynafold_dynamodb::{Attribute, DynamoType};
use dynafold_relational::catalog::Family;

use crate::model::{Gather, Node};

/// The kind of value that a node makes; `None` when only the rows tell.
pub(super) fn family(node: &Node) -> Option<Family> {
    match node {
        Node::Template(template) => match template.family() {
            Family::Any | Family::Document => None,
            family => Some(family),
        },
        Node::Constant(Attribute::N(_)) => Some(Family::Number),
        Node::Constant(Attribute::S(_)) => Some(Family::Text),
        Node::Constant(_) => Some(Family::Boolean),
        Node::Map { .. } => Some(Family::Map),
        Node::List(_) => Some(Family::List),
        Node::When { value, .. } => family(value),
        Node::Typed { wanted, .. } => Some(kind(*wanted)),
        Node::Embed(embed) => Some(match embed.gather {
            Gather::List => Family::List,
            Gather::Set => Family::Set,
            Gather::Map(_) => Family::Map,
        }),
    }
}

/// The kind of value that a DynamoDB type holds.
pub(super) fn kind(wanted: DynamoType) -> Family {
    match wanted {
        DynamoType::S => Family::Text,
        DynamoType::N => Family::Number,
        DynamoType::B => Family::Binary,
        DynamoType::Bool => Family::Boolean,
        DynamoType::Ss | DynamoType::Ns | DynamoType::Bs => Family::Set,
        DynamoType::L => Family::List,
        DynamoType::M => Family::Map,
    }
}
