//! Binds `$value` with `$when` and `$type`.

use dynafold_dynamodb::{Attribute, DynamoType};
use dynafold_relational::catalog::Family;

use super::bind::Binder;
use super::kinds::{family, kind};
use crate::diagnostic::Code;
use crate::model::{Node, Part};
use crate::raw::{Spanned, spanned, word};
use crate::template::Filter;
use crate::yaml::Node as Yaml;

impl Binder<'_> {
    /// Binds a map with `$value`.
    pub(super) fn directed(&mut self, yaml: &Yaml) -> Option<Node> {
        let value = self.node(yaml.get("$value")?);
        let condition = yaml.get("$when").and_then(spanned);
        let flag = condition.map(|condition| {
            let flag = self.pass.flag(&condition.value);
            self.take_condition(&condition, "the attribute is never there");
            flag
        });
        let mut node = value?;
        if let Some(written) = yaml.get("$type")
            && let Some(Spanned { value: wanted, .. }) = word(DynamoType::WORDS, written)
        {
            let given = family(&node);
            convert(&mut node, wanted);
            let made = family(&node);
            node = Node::Typed {
                wanted,
                value: Box::new(node),
            };
            if !may_be(wanted, given, made) {
                let given = given.map_or("another value", Family::name);
                let message = format!("the value is {given}, which never is of this type");
                let help = "convert it with a filter, or take `$type` away";
                self.tell(Code::WrongValue, written.span.clone(), message, help);
            }
        }
        Some(match flag {
            Some(flag) => Node::When {
                flag,
                value: Box::new(node),
            },
            None => node,
        })
    }
}

/// Whether a value that was of one kind, and of another after its conversion, may be of a type.
fn may_be(wanted: DynamoType, given: Option<Family>, made: Option<Family>) -> bool {
    use Family::{Binary, Number, Text, Time};
    let is_member = match wanted {
        DynamoType::Ss => !matches!(given, Some(Number | Binary)),
        DynamoType::Ns => !matches!(given, Some(Text | Time | Binary)),
        DynamoType::Bs => !matches!(given, Some(Text | Time | Number)),
        _ => true,
    };
    let is_of_kind = match made {
        Some(Time) => wanted == DynamoType::S,
        Some(made) => made == kind(wanted),
        None => true,
    };
    is_member && is_of_kind
}

/// Has a single value go through the filter that makes the type, where it is another.
fn convert(node: &mut Node, wanted: DynamoType) {
    let template = match node {
        Node::Template(template) => template,
        Node::Constant(Attribute::N(number)) if wanted == DynamoType::S => {
            *node = Node::Constant(Attribute::S(number.as_str().into()));
            return;
        }
        _ => return,
    };
    let [Part::Value(value)] = template.parts.as_mut_slice() else {
        return;
    };
    let filter = match (wanted, value.family) {
        (wanted, family) if kind(wanted) == family => return,
        (DynamoType::S, Family::Time) => return,
        (DynamoType::S, _) => Filter::String,
        (DynamoType::N, _) => Filter::Number,
        (DynamoType::B, _) => Filter::Binary,
        (DynamoType::Bool, _) => Filter::Bool,
        (DynamoType::Ss | DynamoType::Ns | DynamoType::Bs, _) => Filter::Set,
        (DynamoType::L | DynamoType::M, Family::Text) => Filter::Json,
        (DynamoType::L | DynamoType::M, _) => return,
    };
    if let Ok(family) = filter.family(value.family) {
        value.filters.push(filter);
        value.family = family;
    }
}
