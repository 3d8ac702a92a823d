//! What the children of an embed stand in: a set takes no value twice and a map no name twice, and
//! what breaks that rejects the whole parent.

use super::bind::Binder;
use super::keys::family;
use super::scope::On;
use crate::catalog::Family;
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::model::{Gather, Node, Template};
use crate::mapping::yaml::Node as Yaml;

impl Binder<'_> {
    /// Binds `$as` and `$key`. `on` is how the children find their parent.
    pub(super) fn gather(
        &mut self,
        yaml: &Yaml,
        each: Option<&Node>,
        on: Option<&[On]>,
    ) -> Option<Gather> {
        match yaml.get("$as").and_then(Yaml::text) {
            Some("set") => {
                let written = yaml.get("$each").or(yaml.get("$embed"))?;
                match each.and_then(family) {
                    Some(given @ (Family::Boolean | Family::List | Family::Map | Family::Set)) => {
                        self.misfit(written, "a set", given, "say `$as: list`");
                    }
                    _ => {
                        if let (Some(Node::Template(member)), Some(on)) = (each, on) {
                            self.check_members(member, "members of a set", written, yaml, on);
                        }
                    }
                }
                Some(Gather::Set)
            }
            Some("map") => {
                let written = yaml.get("$key")?;
                let Node::Template(key) = self.node(written)? else {
                    return None;
                };
                match key.family() {
                    given @ (Family::Binary | Family::List | Family::Map | Family::Set) => {
                        self.misfit(written, "a member's name", given, "name another column");
                    }
                    _ => {
                        if let Some(on) = on {
                            self.check_members(&key, "names of a map", written, yaml, on);
                        }
                    }
                }
                Some(Gather::Map(key))
            }
            _ => Some(Gather::List),
        }
    }

    fn misfit(&mut self, written: &Yaml, what: &str, given: Family, help: &str) {
        let message = format!("{what} cannot be made of {}", given.name());
        self.diagnostics
            .push(Diagnostic::new(Code::Embed, written.span.clone(), message).with_help(help));
    }

    /// Tells of members that may be NULL, or equal for two children of one parent. What a `$where`
    /// leaves out is not known, so then nothing is told.
    fn check_members(
        &mut self,
        member: &Template,
        what: &str,
        written: &Yaml,
        embed: &Yaml,
        on: &[On],
    ) {
        if embed.get("$where").is_some() {
            return;
        }
        let scope = self.scope;
        let column = |name: &str| scope.columns.iter().find(|column| column.name == name);
        for value in member.mandatory() {
            let place = &value.place;
            let may_be_null = match column(&place.written) {
                Some(column) if place.path.is_empty() => column.nullable,
                _ => false,
            };
            if may_be_null && !value.replaces_null() {
                let message = format!(
                    "`{}` may be NULL, and {what} cannot be: then the parent is rejected",
                    place.written
                );
                self.diagnostics.push(
                    Diagnostic::new(Code::NullableKey, written.span.clone(), message).with_help(
                        "give it a `default(x)`, or leave such children out: $where: … IS NOT NULL",
                    ),
                );
            }
        }
        let names = member.placeholders().map(|value| &value.place.written);
        let names: Vec<String> = names.map(ToString::to_string).collect();
        // Which columns of joined parents differ is not looked into, nor are views.
        let is_known = scope.is_table() && names.iter().all(|name| column(name).is_some());
        let is_one = embed.get("$limit").and_then(Yaml::text) == Some("1");
        if !is_known || is_one {
            return;
        }
        let theirs = on.iter().map(|on| on.theirs.clone());
        let known: Vec<String> = names.into_iter().chain(theirs).collect();
        if scope.table.is_some_and(|table| !table.is_unique(&known)) {
            let message = format!(
                "two children of one parent may have one value here, and {what} differ: then the parent is rejected"
            );
            self.diagnostics.push(
                Diagnostic::new(Code::KeyNotUnique, written.span.clone(), message)
                    .with_help("name the columns that tell the children apart, or say `$as: list`"),
            );
        }
    }
}
