//! Attributes as people read them.

use super::{Attribute, write_attribute};
use crate::value::quote;

/// Writes an attribute value as JSON without DynamoDB's types; sets stand as lists, binary as in DynamoDB JSON.
pub fn write_plain(out: &mut String, value: &Attribute) {
    match value {
        Attribute::S(text) => quote(out, text),
        Attribute::N(number) => out.push_str(number.as_str()),
        Attribute::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Attribute::Null => out.push_str("null"),
        Attribute::B(_) | Attribute::Bs(_) => write_attribute(out, value),
        Attribute::L(all) => listed(out, all, write_plain),
        Attribute::Ss(all) => listed(out, all, |out, text| quote(out, text)),
        Attribute::Ns(all) => listed(out, all, |out, number| out.push_str(number.as_str())),
        Attribute::M(members) => {
            let mut separator = '{';
            for (name, value) in members {
                out.push(separator);
                quote(out, name);
                out.push(':');
                write_plain(out, value);
                separator = ',';
            }
            out.push_str(if members.is_empty() { "{}" } else { "}" });
        }
    }
}

fn listed<T>(out: &mut String, all: &[T], each: impl Fn(&mut String, &T)) {
    out.push('[');
    for (at, one) in all.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        each(out, one);
    }
    out.push(']');
}
