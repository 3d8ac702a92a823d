//! What an item type makes of which rows, as texts: where two are equal, the same source gives the same items.

use std::sync::Arc;

use dynafold_dynamodb::{Index, readable};
use dynafold_format::{has_word, joined, text_if};
use dynafold_relational::catalog::Catalog;
use dynafold_relational::scan::{Embed, Join, Match, Relation, Scan, ScanColumn};
use jiff::tz::TimeZone;

use super::DiffSide;
use crate::claim::ClaimKind;
use crate::model::{
    AttributeNode, ChildContainer, Expired, Explode, ItemType, Model, Template, TemplatePart,
    ValuePath,
};
use crate::template::Filter;

/// The part that names the rivals above: where nothing else decides between rows with one key, the order of the item types
/// does.
pub(super) const ABOVE: &str = "item types above it that may make equal keys";

/// An item type of a mapping.
pub(super) struct Made<'m> {
    pub(super) item_type: &'m ItemType,
    /// The mapping that it is of.
    pub(super) side: DiffSide<'m>,
    /// What decides which rows make items, each under its name.
    pub(super) rows: Vec<Part>,
    pub(super) attributes: Vec<Part>,
    /// What else items depend on.
    pub(super) others: Vec<Part>,
    /// The item types that may make its keys: of rows with one key, one is loaded.
    pub(super) rivals: Vec<&'m str>,
}

/// Something that an item type is made of.
pub(super) struct Part {
    pub(super) name: String,
    /// As people write it; `None` where there is nothing to write, or what is always so.
    pub(super) text: Option<String>,
    /// The same with all that it depends on: two that are equal make the same of the same rows.
    pub(super) exact: String,
}

impl<'m> Made<'m> {
    /// `None` for an item type without a pass, which no model has.
    pub(super) fn of(item_type: &'m ItemType, side: DiffSide<'m>) -> Option<Self> {
        let model = side.model;
        let pass = model.passes.get(item_type.pass)?;
        let texts = |exact| NodeTexts {
            scan: &pass.scan,
            explodes: &item_type.explodes,
            exact,
            zone: &model.time_zone,
            catalog: side.catalog,
        };
        let (plain, exact) = (texts(false), texts(true));
        let arrays = |texts: &NodeTexts<'_>| {
            texts.places(&mut item_type.explodes.iter().map(|one| &one.array))
        };
        let spreads = |texts: &NodeTexts<'_>| texts.places(&mut item_type.spreads.iter());
        let part = |name: &str, text: Option<String>, exact: String| Part {
            name: name.to_owned(),
            text,
            exact,
        };
        let some = |text: String| (!text.is_empty()).then_some(text);
        let plainly = |name: &str, text: String| part(name, some(text.clone()), text);
        let from = Some(pass.scan.from.sql().unwrap_or(&pass.name).to_owned());
        let condition = model.condition(item_type);
        let condition_exact = condition.map_or_else(String::new, |sql| exact.sql(sql));
        // A parent that is not unique gives rows several times, to all item types of the pass.
        let many = pass.scan.joins.iter().filter(|join| !join.is_single);
        let aliases: Vec<String> = many.map(|join| join.alias.clone()).collect();
        let expired = match item_type.expired {
            Expired::Load => None,
            Expired::Skip => Some("skip"),
            Expired::Archive => Some("archive"),
        };
        let ttl = model.table.ttl.as_deref().unwrap_or_default();
        // A `$spread` may bring the attribute too.
        let expires = (item_type.node(ttl)).map_or_else(String::new, |node| exact.node(node));
        let expired_exact = expired.map_or_else(String::new, |expired| {
            format!("{expired} by {ttl}: {expires}")
        });
        // Any member of what is spread may be a key.
        let keys = model.table.key_attributes().into_iter();
        let key_texts = keys.map(|key| format!("{}{}", key.name, of_index(&key.name, model)));
        let spread = some(spreads(&exact)).map(|spread| spread + &joined(key_texts, ", "));
        let rivals = rivals(item_type, side);
        let is_query = pass.scan.from.sql().is_some();
        let row_key = |texts: &NodeTexts<'_>| some(texts.row_key(item_type)).filter(|_| is_query);
        let row_key_exact = row_key(&exact).unwrap_or_default();
        Some(Self {
            item_type,
            side,
            rows: vec![
                part("from", from, format!("{:?}", pass.scan.from)),
                part("where", condition.map(str::to_owned), condition_exact),
                // Of rows with one key its order decides which one is loaded, and it tells rows with children apart.
                part("key of the query", row_key(&plain), row_key_exact),
                part("explode", some(arrays(&plain)), arrays(&exact)),
                part("join", some(aliases.join(", ")), exact.multiplying()),
            ],
            attributes: (item_type.attributes.iter())
                .map(|(name, node)| {
                    let exact = exact.node(node) + &of_index(name, model);
                    part(name, Some(plain.node(node)), exact)
                })
                .collect(),
            others: vec![
                part("expired", expired.map(str::to_owned), expired_exact),
                plainly(ABOVE, above(item_type, &rivals, model)),
                part("$spread", some(spreads(&plain)), spread.unwrap_or_default()),
                plainly("nulls", text_if(item_type.keep_nulls, "keep")),
                plainly("oversize", item_type.compress.join(", ")),
            ],
            rivals,
        })
    }

    /// What an attribute is made from.
    pub(super) fn attribute(&self, name: &str) -> Option<&Part> {
        self.attributes.iter().find(|part| part.name == name)
    }

    /// How its key attributes are made.
    pub(super) fn keys(&self) -> Vec<Option<&str>> {
        let names = self.side.model.table.key().map(|key| &key.name);
        let part = |name: &Arc<str>| self.attribute(name).map(|part| part.exact.as_str());
        names.map(part).collect()
    }

    /// Which rows it is made of, and which of them when they have expired.
    pub(super) fn exact_rows(&self) -> Vec<&str> {
        let expired = self.others.iter().filter(|part| part.name == "expired");
        let rows = self.rows.iter().chain(expired);
        rows.map(|part| part.exact.as_str()).collect()
    }
}

/// The other item types that may make keys of an item type.
fn rivals<'m>(item_type: &ItemType, side: DiffSide<'m>) -> Vec<&'m str> {
    let names = side.model.item_types.iter().map(|one| &*one.name);
    let others = names.filter(|name| **name != *item_type.name);
    let is_apart = |name: &&str| {
        let mut claims = side.proofs.of(ClaimKind::KeysDiffer);
        let pair = [*name, &*item_type.name];
        let claim = claims.find(|claim| {
            let both = &claim.of.item_types;
            both.len() == 2 && pair.iter().all(|name| both.iter().any(|one| one == name))
        });
        claim.map_or(
            side.proofs.pairs_not_compared == 0,
            crate::claim::Claim::is_proved,
        )
    };
    others.filter(|name| !is_apart(name)).collect()
}

/// The rivals that stand above an item type in the mapping.
fn above(item_type: &ItemType, rivals: &[&str], model: &Model) -> String {
    let names = model.item_types.iter().map(|one| &*one.name);
    let above = names.take_while(|name| **name != *item_type.name);
    let mut rivals: Vec<&str> = above.filter(|name| rivals.contains(name)).collect();
    rivals.sort_unstable();
    rivals.join(", ")
}

/// What an attribute is to the table's indexes: as a key of one it is of one type, and never empty or NULL. A key of the
/// table is so anyway.
fn of_index(name: &str, model: &Model) -> String {
    let mut keys = model.table.all_indexes().flat_map(Index::key);
    match keys.find(|key| *key.name == *name && !model.table.is_key(name)) {
        Some(key) => format!(" as a key ({})", key.key_type.word()),
        None => String::new(),
    }
}

/// Writes nodes over the rows of a scan.
struct NodeTexts<'s> {
    scan: &'s Scan,
    explodes: &'s [Explode],
    /// Whether all is written that a value depends on.
    exact: bool,
    /// That of times without one.
    zone: &'s TimeZone,
    catalog: &'s Catalog,
}

impl NodeTexts<'_> {
    fn node(&self, node: &AttributeNode) -> String {
        match node {
            AttributeNode::Template(template) => self.template(template),
            AttributeNode::Constant(constant) if self.exact => format!("{constant:?}"),
            AttributeNode::Constant(constant) => readable(constant),
            AttributeNode::Map { members, spreads } => {
                let members = members
                    .iter()
                    .map(|(name, node)| format!("{name}: {}", self.node(node)));
                let spreads = spreads
                    .iter()
                    .map(|place| format!("$spread: {}", self.place(place)));
                format!("{{ {} }}", joined(members.chain(spreads), ", "))
            }
            AttributeNode::List(nodes) => {
                let nodes = nodes.iter().map(|node| self.node(node));
                format!("[{}]", joined(nodes, ", "))
            }
            AttributeNode::When { flag, value } => {
                format!("{} when {}", self.node(value), self.column(*flag))
            }
            AttributeNode::Typed { wanted, value } => {
                format!("{} as {}", self.node(value), wanted.word())
            }
            AttributeNode::Embed(embed) => {
                let Some(ScanColumn::Embed(children)) = self.scan.columns.get(embed.column) else {
                    return embed.written.to_string();
                };
                let rows = NodeTexts {
                    scan: &children.rows,
                    explodes: &[],
                    exact: self.exact,
                    ..*self
                };
                let each = rows.node(&embed.each);
                let container = match &embed.container {
                    ChildContainer::List => String::new(),
                    ChildContainer::Set => " as a set".to_owned(),
                    ChildContainer::Map(key) => format!(" by {}", rows.template(key)),
                };
                let children = if self.exact {
                    self.children(children)
                } else {
                    embed.written.to_string()
                };
                format!("for each of {children}{container}: {each}")
            }
        }
    }

    fn template(&self, template: &Template) -> String {
        if !self.exact {
            return template.to_string();
        }
        self.parts(&template.parts)
    }

    fn parts(&self, parts: &[TemplatePart]) -> String {
        let part = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => format!("{text:?}"),
            TemplatePart::Value(value) => {
                let place = self.place(&value.place);
                let uses_zone = value.filters.iter().any(Filter::uses_time_zone);
                let zone = uses_zone.then_some(self.zone);
                format!(
                    "{{{place} {:?} {:?} {zone:?}}}",
                    value.filters, value.escape
                )
            }
            TemplatePart::Optional(inner) => format!("[{}]", self.parts(inner)),
        };
        parts.iter().map(part).collect()
    }

    fn place(&self, place: &ValuePath) -> String {
        if !self.exact {
            return place.written.to_string();
        }
        let json = if place.is_json { " as JSON" } else { "" };
        format!("{} {:?}{json}", self.column(place.column), place.path)
    }

    /// What stands at a place of the row.
    fn column(&self, at: usize) -> String {
        for explode in self.explodes {
            if explode.element == at {
                return format!("element of {}", self.place(&explode.array));
            }
            if explode.index == at {
                return format!("position in {}", self.place(&explode.array));
            }
        }
        match self.scan.columns.get(at) {
            Some(ScanColumn::Column { join, name, .. }) => format!("{}.{name}", self.owner(*join)),
            Some(ScanColumn::Flag(sql)) => self.sql(sql),
            Some(ScanColumn::Embed(embed)) => self.children(embed),
            Some(ScanColumn::Slot) => "slot".to_owned(),
            None => {
                let condition = at.checked_sub(self.scan.columns.len());
                let condition = condition.and_then(|at| self.scan.conditions.get(at));
                condition.map_or_else(String::new, |sql| self.sql(sql))
            }
        }
    }

    /// The relation of a column: the base, or a parent with the way to it.
    fn owner(&self, join: Option<usize>) -> String {
        let Some(join) = join.and_then(|at| self.scan.joins.get(at)) else {
            return "base".to_owned();
        };
        format!("{:?}({})", join.table, self.matches(&join.on))
    }

    fn matches(&self, on: &[Match]) -> String {
        let on = on.iter().map(|on| {
            let ours = self.owner(on.join);
            format!("{ours}.{} = {}", on.ours, on.theirs)
        });
        joined(on, ", ")
    }

    fn places(&self, places: &mut dyn Iterator<Item = &ValuePath>) -> String {
        joined(places.map(|place| self.place(place)), ", ")
    }

    /// The columns that tell rows apart.
    fn row_key(&self, item_type: &ItemType) -> String {
        let key = item_type.row_key.iter().map(|(name, at)| {
            if self.exact {
                self.column(*at)
            } else {
                name.to_string()
            }
        });
        joined(key, ", ")
    }

    /// SQL of the mapping, with the parents that it is about: under their aliases, or, where a column of theirs that
    /// the base relation lacks may stand without one, under none.
    fn sql(&self, sql: &str) -> String {
        if !self.exact {
            return sql.to_owned();
        }
        // A name with signs in it may be written in more than one way.
        let has = |name: &str| {
            let is_plain = name.chars().all(|it| it.is_alphanumeric() || it == '_');
            !is_plain || has_word(sql, name)
        };
        let table = |name: &_| self.catalog.table(name);
        let base = self.scan.from.table().and_then(table);
        let may_mean = |join: &Join| {
            table(&join.table).is_none_or(|parent| {
                let mut columns = parent.columns.iter().map(|column| column.name.as_str());
                columns.any(|name| base.is_none_or(|base| base.column(name).is_none()) && has(name))
            })
        };
        let joins = self.scan.joins.iter().enumerate();
        let mut parents: Vec<String> = joins
            .filter_map(|(at, join)| {
                let owner = self.owner(Some(at));
                if has(&join.alias) {
                    return Some(format!(" {} is {owner}", join.alias));
                }
                may_mean(join).then(|| format!(" {owner}"))
            })
            .collect();
        parents.sort_unstable();
        format!("{sql:?}{}", parents.concat())
    }

    /// The parents that may give a row several times.
    fn multiplying(&self) -> String {
        let joins = self.scan.joins.iter().enumerate();
        let many = joins.filter(|(_, join)| !join.is_single);
        let mut owners: Vec<String> = many.map(|(at, _)| self.owner(Some(at))).collect();
        owners.sort_unstable();
        owners.join(", ")
    }

    fn children(&self, embed: &Embed) -> String {
        let rows = NodeTexts {
            scan: &embed.rows,
            explodes: &[],
            exact: true,
            ..*self
        };
        let order = embed.order.iter();
        let order = order.map(|(at, descends)| format!("{} {descends}", rows.column(*at)));
        let key = embed.rows.key.iter().map(|at| rows.column(*at));
        let conditions = embed.rows.conditions.iter().map(|sql| rows.sql(sql));
        format!(
            "{:?} on {} by {} key {} where {} with {} most {:?}",
            match &embed.rows.from {
                Relation::Table(name) => name.to_string(),
                Relation::Query(sql) => sql.clone(),
            },
            self.matches(&embed.on),
            joined(order, ", "),
            joined(key, ", "),
            joined(conditions, ", "),
            rows.multiplying(),
            embed.most,
        )
    }
}
