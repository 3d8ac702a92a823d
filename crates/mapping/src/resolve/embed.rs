//! Binds `$embed`: finds the children, and says what becomes of each.

use dynafold_format::{every, text_if};
use dynafold_relational::catalog::{DataType, Table, TypeFamily};
use dynafold_relational::scan::Embed;

use super::bind::ItemBinder;
use super::join::{column_pairs, our_column};
use super::pass::PassBuilder;
use super::scope::{ColumnPair, ExplodedElement, Scope};
use crate::diagnostic::Code;
use crate::model::{
    AttributeNode, ChildContainer, EmbedNode, Explode, Placeholder, Template, ValuePath,
};
use crate::raw::{RawItem, Spanned, read_joins, read_pairs, spanned};
use crate::template::{self, Segment};
use crate::yaml::YamlNode;

/// Levels of embeds within embeds.
const MAX_DEPTH: usize = 3;

impl ItemBinder<'_> {
    /// Binds a map with `$embed`.
    pub(super) fn embed(&mut self, yaml: &YamlNode) -> Option<EmbedNode> {
        let name = yaml.get("$embed").and_then(spanned)?;
        if self.depth >= MAX_DEPTH {
            let message = format!("embeds can be nested up to {MAX_DEPTH} levels");
            let help = "make the innermost children items of their own";
            self.report(Code::Embed, name.span, message, help);
            return None;
        }
        let mut child = Scope::table(&name, self.scope.catalog, self.scope.diagnostics)?;
        let joins = read_joins(yaml.get("$join"));
        child.join(&joins);
        let on = self.relation(yaml, &name, &child);
        let has_key = self.take_key(&name);
        let mut rows = PassBuilder::new(&child);
        let mut binder = ItemBinder {
            depth: self.depth + 1,
            ..ItemBinder::new(&child, &mut rows)
        };
        let each = match yaml.get("$each") {
            Some(each) => binder.node(each),
            None => {
                if child.columns.iter().any(|column| column.name.is_empty()) {
                    let help = "name the columns that the children have: $each: { … }".to_owned();
                    binder.report_nameless(&name.value, name.span.clone(), help);
                }
                binder.hide(None, child.table, &[], name.span.clone());
                Some(binder.all_columns())
            }
        };
        let container = binder.container(yaml, each.as_ref(), on.as_deref());
        if let Some(condition) = yaml.get("$where").and_then(spanned) {
            binder.take_condition(&condition, "no child is found");
            binder.pass.condition(&condition.value);
        }
        let order = binder.order(yaml);
        binder.pass.scan.key = binder.indices(&child.key);
        self.conditions.extend(binder.conditions);
        self.hidden_columns.extend(binder.hidden_columns);
        let embed = Embed {
            rows: rows.scan,
            on: self.pass.matches(&on?),
            order: order?,
            most: yaml.read("$limit"),
        };
        if !has_key {
            return None;
        }
        Some(EmbedNode {
            column: self.pass.embed(embed),
            each: each?,
            container: container?,
            written: name.value.as_str().into(),
        })
    }

    /// Makes sure that the parents can be told apart.
    fn take_key(&mut self, name: &Spanned<String>) -> bool {
        let key = &self.scope.key;
        if key.is_empty() {
            let message = format!(
                "the rows of `{}` have no key, so it is not known to which of them each row of `{}` belongs",
                self.scope.written, name.value
            );
            let help = match self.scope.table {
                Some(_) => {
                    "give the table a primary key, or read it with `from: { sql: …, key: [column] }`"
                }
                None => "name the columns that identify its rows: from: { sql: …, key: [column] }",
            };
            self.report(Code::Embed, name.span.clone(), message, help);
            return false;
        }
        self.pass.scan.key = self.indices(key);
        true
    }

    /// How a child finds its parent.
    fn relation(
        &mut self,
        yaml: &YamlNode,
        name: &Spanned<String>,
        child: &Scope<'_>,
    ) -> Option<Vec<ColumnPair>> {
        let table = child.table?;
        if let Some(pairs) = yaml.get("$match") {
            return column_pairs(Code::Embed, &read_pairs(Some(pairs)), table, self.scope);
        }
        let mut help =
            "name the columns that match: $match: { child_column: our_column }".to_owned();
        let message = match self.scope.table {
            None => "a query has no foreign keys that could lead to it".to_owned(),
            Some(parent) => {
                let (child, ours) = (&table.name.name, &parent.name.name);
                match references(table, parent).as_slice() {
                    [only] => return Some(only.clone()),
                    [] => {
                        let hides = parent.hidden_columns.is_some();
                        let shown = text_if(hides, " by columns that this user may read");
                        format!("no foreign key of `{child}` leads to `{ours}`{shown}")
                    }
                    several => {
                        help.push_str(&format!("; there are {}", listed(several)));
                        let count = several.len();
                        format!("{count} foreign keys of `{child}` lead to `{ours}`")
                    }
                }
            }
        };
        self.report(Code::Embed, name.span.clone(), message, help);
        None
    }

    /// A map of all columns, for children of which nothing is said.
    fn all_columns(&mut self) -> AttributeNode {
        let columns = self.scope.columns.iter();
        let members = columns.map(|column| {
            let (name, data_type) = (column.name.as_str(), &column.data_type);
            let place = self.pass.column(None, name, data_type);
            let value = Placeholder::of_column(place, name, data_type.family());
            (name.into(), AttributeNode::Template(Template::of(value)))
        });
        AttributeNode::Map {
            members: members.collect(),
            spreads: Vec::new(),
        }
    }

    /// The places by which children are sorted, and whether they descend.
    fn order(&mut self, yaml: &YamlNode) -> Option<Vec<(usize, bool)>> {
        let Some(order) = yaml.get("$order") else {
            return Some(Vec::new());
        };
        let written: Vec<Spanned<String>> = match spanned(order) {
            Some(one) => {
                let parts = one.value.split(',');
                parts.map(|part| one.with(part.trim().to_owned())).collect()
            }
            None => order.elements().iter().filter_map(spanned).collect(),
        };
        every(written.iter().map(|column| self.order_by(column)))
    }

    fn order_by(&mut self, written: &Spanned<String>) -> Option<(usize, bool)> {
        let text = written.value.trim();
        let (name, descends) = match text.rsplit_once(char::is_whitespace) {
            Some((name, word)) if word.eq_ignore_ascii_case("desc") => (name.trim(), true),
            Some((name, word)) if word.eq_ignore_ascii_case("asc") => (name.trim(), false),
            _ => (text, false),
        };
        let found = our_column(&written.with(name.to_owned()), self.scope)?;
        let (owner, data_type) = (found.owner.as_deref(), &found.known?.data_type);
        Some((self.pass.column(owner, &found.column, data_type), descends))
    }
}

/// The foreign keys of a child that lead to a table, by columns of it that the user may read.
fn references(child: &Table, parent: &Table) -> Vec<Vec<ColumnPair>> {
    let keys = child.foreign_keys.iter();
    let is_shown = |name: &String| parent.column(name).is_some();
    let leading = keys
        .filter(|key| key.references == parent.name && key.referenced_columns.iter().all(is_shown));
    let on = |ours: &String, theirs: &String| ColumnPair {
        owner: None,
        ours: theirs.clone(),
        theirs: ours.clone(),
    };
    leading
        .map(|key| {
            let pairs = key.columns.iter().zip(&key.referenced_columns);
            pairs.map(|(ours, theirs)| on(ours, theirs)).collect()
        })
        .collect()
}

fn listed(keys: &[Vec<ColumnPair>]) -> String {
    let pairs = |key: &Vec<ColumnPair>| {
        let pairs = key.iter().map(|on| format!("{}: {}", on.theirs, on.ours));
        format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
    };
    keys.iter().map(pairs).collect::<Vec<_>>().join(" and ")
}

/// Binds `explode`: gives every exploded element its places in the row, and adds it to the scope.
pub(super) fn resolve(
    raw: &RawItem,
    scope: &mut Scope<'_>,
    pass: &mut PassBuilder,
) -> Vec<Explode> {
    let mut explodes = Vec::new();
    for (alias, array) in &raw.explode {
        if scope.is_taken(alias, Code::Explode) {
            scope.broken.push(alias.value.clone());
            continue;
        }
        let mut binder = ItemBinder::new(scope, pass);
        let Some((place, family)) = binder.array(array) else {
            scope.broken.push(alias.value.clone());
            continue;
        };
        let explode = Explode {
            array: place,
            element: pass.slot(),
            index: pass.slot(),
        };
        scope.elements.push(ExplodedElement {
            alias: alias.value.clone(),
            value: explode.element,
            index: explode.index,
            family,
        });
        explodes.push(explode);
    }
    explodes
}

impl ItemBinder<'_> {
    /// The place of an array, and what its elements are.
    fn array(&mut self, written: &Spanned<String>) -> Option<(ValuePath, TypeFamily)> {
        let parsed = template::parse(&format!("{{{}}}", written.value));
        let segments = parsed.map(|parsed| parsed.segments).unwrap_or_default();
        let [Segment::Placeholder(placeholder)] = segments.as_slice() else {
            let message = format!("`{}` is not a column or a member of one", written.value);
            let help = "write it without braces: explode: { line: doc.lines }";
            self.report(Code::Explode, written.span.clone(), message, help);
            return None;
        };
        let (place, family) = self.document(placeholder, written.span.clone())?;
        if !matches!(
            family,
            TypeFamily::List | TypeFamily::Set | TypeFamily::Document | TypeFamily::Any
        ) {
            let message = format!("`{}` is {}, not an array", written.value, family.name());
            let help = "explode takes a JSON column, an array, or a member of either; for JSON in a text column, write column | json";
            self.report(Code::Explode, written.span.clone(), message, help);
            return None;
        }
        let declared = self.scope.base(&place.written);
        let declared = declared.filter(|_| place.path.is_empty());
        let element = match declared.map(|column| &column.data_type) {
            Some(DataType::Array { element }) => element.family(),
            Some(DataType::Set { .. }) => TypeFamily::Text,
            _ => TypeFamily::Any,
        };
        Some((place, element))
    }
}

// What the children of an embed stand in: a set takes no value twice and a map no name twice, and
// what breaks that rejects the whole parent.

impl ItemBinder<'_> {
    /// Binds `$as` and `$key`. `on` is how the children find their parent.
    pub(super) fn container(
        &mut self,
        yaml: &YamlNode,
        each: Option<&AttributeNode>,
        on: Option<&[ColumnPair]>,
    ) -> Option<ChildContainer> {
        match yaml.get("$as").and_then(YamlNode::text) {
            Some("set") => {
                let written = yaml.get("$each").or(yaml.get("$embed"))?;
                match each.and_then(AttributeNode::known_family) {
                    Some(
                        given @ (TypeFamily::Boolean
                        | TypeFamily::List
                        | TypeFamily::Map
                        | TypeFamily::Set),
                    ) => {
                        let what = "a member of a set";
                        self.misfit(written, what, given, "use `$as: list`");
                    }
                    _ => {
                        if let (Some(AttributeNode::Template(member)), Some(on)) = (each, on) {
                            self.check_members(member, "members of a set", written, yaml, on);
                        }
                    }
                }
                Some(ChildContainer::Set)
            }
            Some("map") => {
                let written = yaml.get("$key")?;
                let AttributeNode::Template(key) = self.node(written)? else {
                    return None;
                };
                match key.family() {
                    given @ (TypeFamily::Binary
                    | TypeFamily::List
                    | TypeFamily::Map
                    | TypeFamily::Set) => {
                        self.misfit(written, "a member's name", given, "name another column");
                    }
                    _ => {
                        if let Some(on) = on {
                            self.check_members(&key, "names of a map", written, yaml, on);
                        }
                    }
                }
                Some(ChildContainer::Map(key))
            }
            _ => Some(ChildContainer::List),
        }
    }

    fn misfit(&mut self, written: &YamlNode, what: &str, given: TypeFamily, help: &str) {
        let message = format!("{what} cannot be {}", given.name());
        self.report(Code::Embed, written.span.clone(), message, help);
    }

    /// Tells of members that may be NULL, or equal for two children of one parent. What a `$where`
    /// leaves out is not known, so then nothing is told.
    fn check_members(
        &mut self,
        member: &Template,
        what: &str,
        written: &YamlNode,
        embed: &YamlNode,
        on: &[ColumnPair],
    ) {
        if embed.get("$where").is_some() {
            return;
        }
        let scope = self.scope;
        for value in member.mandatory() {
            let place = &value.place;
            let column = scope.base(&place.written);
            let may_be_null = column.is_some_and(|column| column.nullable);
            if may_be_null && place.path.is_empty() && !value.replaces_null() {
                let message = format!(
                    "`{}` may be NULL, and {what} cannot be: then the parent is rejected",
                    place.written
                );
                let help =
                    "give it a `default(x)`, or leave such children out: $where: … IS NOT NULL";
                self.report(Code::NullableKey, written.span.clone(), message, help);
            }
        }
        let names = member.placeholders().map(|value| &value.place.written);
        let names: Vec<String> = names.map(ToString::to_string).collect();
        // Which columns of joined parents differ is not looked into, nor are views.
        let is_known = scope.is_table() && names.iter().all(|name| scope.base(name).is_some());
        let is_one = embed.read("$limit") == Some(1);
        if !is_known || is_one {
            return;
        }
        let theirs = on.iter().map(|on| on.theirs.clone());
        let known: Vec<String> = names.into_iter().chain(theirs).collect();
        let dbms = scope.catalog.dbms;
        if scope
            .table
            .is_some_and(|table| !table.is_unique(&known, dbms))
        {
            let message = format!(
                "two children of one parent may have the same value here, and {what} must differ: then the parent is rejected"
            );
            let help = "name the columns that identify the children, or use `$as: list`";
            self.report(Code::KeyNotUnique, written.span.clone(), message, help);
        }
    }
}
